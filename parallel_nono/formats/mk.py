"""`.mk`, Olsak's simple format: `H W`, row clues, a line `#`, column clues. Black-white puzzles; only one is written.

An empty line is `0` or blank. Files that were put together are read one puzzle after another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from ..puzzle import Puzzle
from . import Format, Packed, Parsed
from .common.text import (
    Lines,
    black_clues,
    clue_lines,
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

TITLE = "Olsak's .mk"
START = re.compile(r"\s*[0-9]+[ \t]+[0-9]+[ \t]*\n")
DIVIDER = re.compile(r"^[ \t]*#+[ \t]*$", re.MULTILINE)


def sniff(text: str) -> bool:
    return START.match(text) is not None and DIVIDER.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "a puzzle")
    yield from one_by_one(lines, source, partial(_read, source=source))


def _read(lines: Lines, start: int, source: str) -> tuple[Puzzle, int]:
    """The puzzle that begins at a line, and where it ends."""
    height, width = two_sizes(lines[start], source, "the height and the width")
    sizes(height, width, source, lines[start][0])
    divider = _divider(lines, start)
    if divider == len(lines):
        raise wrong(source, lines[start][0], "one line `#` between rows and columns", "0 of them")
    rows = clue_lines(lines[start + 1 : divider], height, source, "row")
    last = _divider(lines, divider + 1)  # a `#` at the end, or that of another puzzle
    columns, n_read = next_clues(lines[divider + 1 : last], 0, width, source, "column")
    end = divider + 1 + n_read
    at = next_full(lines, end)
    row_clues, column_clues = black_clues(rows, source), black_clues(columns, source)
    if at == last < len(lines):
        end = last + 1
    elif at < len(lines) and not fits(row_clues, column_clues):
        raise wrong(source, lines[at][0], f"the end after {width} column clues", lines[at][1])
    return make(row_clues, column_clues, source), end


def _divider(lines: Lines, start: int) -> int:
    """The first line from `start` on that begins with `#`; the end if there is none."""
    while start < len(lines) and not lines[start][1].startswith("#"):
        start += 1
    return start


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.parse import mk
    from .common.quick import pack

    return pack(mk, texts)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    rows, columns = ([lengths(clue) for clue in clues] for clues in (puzzle.rows, puzzle.columns))
    return "\n".join([f"{puzzle.height} {puzzle.width}", *rows, "#", *columns]) + "\n"


FORMAT = Format(
    "mk",
    "Olsak's simple grid: `H W`, row clues, `#`, column clues; one black-white puzzle",
    (".mk",),
    sniff,
    parse,
    write,
    pack,
    blots=True,
    first="0123456789",
)
