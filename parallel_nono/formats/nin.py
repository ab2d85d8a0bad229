"""`.nin`, Jakub Wilk's format: `W H`, then H lines of row clues and W lines of column clues. Black-white puzzles.

An empty line is `0`; blank lines are clues only if there are exactly H + W lines with them. Files that were put
together are read one puzzle after another; only one is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from ..puzzle import Puzzle
from . import Format, Packed, Parsed
from .common.text import (
    Lines,
    begins_with,
    black_clues,
    first_fit,
    fits,
    from_first_full,
    lengths,
    make,
    next_clues,
    next_full,
    numbered,
    one_by_one,
    only_black,
    only_one,
    sizes,
    two_sizes,
    wrong,
)

TITLE = "Jakub Wilk's .nin"
MK = re.compile(r"^[ \t]*#+[ \t]*$", re.MULTILINE)
"""The divider of another format with such a head."""

START = re.compile(r"\s*([0-9]{1,6})[ \t]+([0-9]{1,6})[ \t]*\n[0-9 \t,?]*(\n|\Z)")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None or ("#" in text and MK.search(text)):
        return False
    wanted = int(found[1]) + int(found[2])
    lines = text.count("\n", found.start(2)) - text.endswith("\n")
    if lines == wanted or len(text[found.end(2) :].split("\n")) >= wanted == _full(text[found.end(2) :]):
        return True
    return lines > wanted and first_fit(text, parse, 2)


def _full(text: str) -> int:
    return sum(not line.isspace() for line in text.split("\n") if line)


def parse(text: str, source: str) -> Parsed:
    lines = numbered(text)
    from_first_full(lines, source, "a puzzle")
    yield from one_by_one(lines, source, partial(_read, source=source))


def _read(lines: Lines, start: int, source: str) -> tuple[Puzzle, int]:
    """The puzzle that begins at a line, and where it ends."""
    place, _ = lines[start]
    width, height = two_sizes(lines[start], source, "the width and the height")
    sizes(height, width, source, place)
    wanted = f"row and column ({height} + {width})"
    chosen, end = next_clues(lines, start + 1, height + width, source, wanted)
    clues = black_clues(chosen, source)
    rows, columns = clues[:height], clues[height:]
    at = next_full(lines, end)
    warnings = []
    if at < len(lines) and not fits(rows, columns):
        raise wrong(source, lines[at][0], f"the end after {height} + {width} clues", lines[at][1])
    again = [line.split() for _, line in lines[at : at + height]]
    if at < len(lines) and again == [line.split() for _, line in chosen[:height]]:
        # Some old files go on with copies of their clues.
        n_more = sum(bool(line) for _, line in lines[at:])
        warnings.append(f"line {lines[at][0]}: {n_more} more lines, a copy of the clues, are left aside")
        end = len(lines)
    return make(rows, columns, source, warnings=warnings), end


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.parse import nin
    from .common.quick import pack

    return pack(nin, texts)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    lines = [f"{puzzle.width} {puzzle.height}", *(lengths(clue) for clue in (*puzzle.rows, *puzzle.columns))]
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "nin",
    "Jakub Wilk's nonogram: `W H`, row clues, column clues; one black-white puzzle",
    (".nin",),
    sniff,
    parse,
    write,
    pack,
    blots=True,
    first="0123456789",
    lookalikes=("nono", "dataset"),
    begins=begins_with(START, parse),
)
