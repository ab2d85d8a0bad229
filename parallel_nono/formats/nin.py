"""`.nin`, Jakub Wilk's format: `W H`, then H lines of row clues and W lines of column clues. One black-white puzzle.

An empty line is `0`; blank lines are clues only if there are exactly H + W lines with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..puzzle import Puzzle
from . import Format, Packed, Parsed
from .text import (
    black_clues,
    clue_lines,
    from_first_full,
    lengths,
    make,
    numbered,
    only_black,
    only_one,
    sizes,
    two_sizes,
    wrong,
)

TITLE = "Jakub Wilk's .nin"
START = re.compile(r"\s*([0-9]{1,6})[ \t]+([0-9]{1,6})[ \t]*\n[0-9 \t,?]*(\n|\Z)")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None or "#" in text:
        return False
    wanted = int(found[1]) + int(found[2])
    lines = text.count("\n", found.start(2)) - text.endswith("\n")
    return lines == wanted or len(text[found.end(2) :].split("\n")) >= wanted == _full(text[found.end(2) :])


def _full(text: str) -> int:
    return sum(not line.isspace() for line in text.split("\n") if line)


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "a puzzle")
    width, height = two_sizes(lines[0], source, "the width and the height")
    sizes(height, width, source, lines[0][0])
    full = [line for line in lines[1:] if line[1]]
    warnings = []
    if len(full) > height + width:
        # Some old files go on with a copy of their clues. What is left aside must not be what is wanted.
        clues = black_clues(full[: height + width], source)
        sums = [sum(block.length for clue in side for block in clue) for side in (clues[:height], clues[height:])]
        if sums[0] != sums[1]:
            raise wrong(source, full[height + width][0], f"the end after {height} + {width} clues", "more lines")
        warnings.append(f"{len(full) - height - width} lines after the last clue are left aside")
    else:
        wanted = f"row and column ({height} + {width})"
        clues = black_clues(clue_lines(lines[1:], height + width, source, wanted), source)
    yield make(clues[:height], clues[height:], source, warnings=warnings)


def pack(texts: Sequence[str]) -> Packed:
    from ..kernels import parse as kernels

    owners, heights, widths, _, counts, blocks = kernels.read_texts(kernels.nin, texts)
    return Packed(owners, heights, widths, counts, blocks, None)


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
    rivals=("nono", "dataset"),
)
