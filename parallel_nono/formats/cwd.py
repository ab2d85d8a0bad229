"""`.cwd`, QNonograms: height and width on a line each, row clues, a blank line, column clues. Black-white puzzles; only
one is written.

An empty line is `0`. Where a blank line could also be an empty clue, the numbers of the header decide. Files that were
put together are read one puzzle after another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from ..puzzle import Puzzle
from . import Format, Parsed
from .common.text import (
    Lines,
    begins_with,
    black_clues,
    first_fit,
    fits,
    from_first_full,
    lengths,
    make,
    n_first_full,
    next_clues,
    next_full,
    number,
    numbered,
    one_by_one,
    only_black,
    only_one,
    sizes,
    wrong,
)

TITLE = "QNonograms' .cwd"
START = re.compile(r"\s*([0-9]{1,6})[ \t]*\n[ \t]*([0-9]{1,6})[ \t]*\n")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None:
        return False
    if text[found.end() :].strip(" \t\n0123456789,?"):
        return first_fit(text, parse, 2)
    lines = [line.strip() for line in text[found.end() :].split("\n")]
    height, width = int(found[1]), int(found[2])
    if len(lines) < height + width:
        return False
    return len([line for line in lines if line]) == height + width or (len(lines) > height and not lines[height])


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "the height, the width and the clues")
    yield from one_by_one(lines, source, partial(_read, source=source))


def _read(lines: Lines, start: int, source: str) -> tuple[Puzzle, int]:
    """The puzzle that begins at a line, and where it ends."""
    place = lines[start][0]
    if start + 1 == len(lines):
        raise wrong(source, place, "the height, the width and the clues", lines[start][1])
    hope = "the height, then the width"
    height, width = (number(line, source, place, hope) for place, line in lines[start : start + 2])
    sizes(height, width, source, place)
    body = start + 2
    middle = body + height
    n_full = n_first_full(lines, body, height + width)
    parted = middle < len(lines) and not lines[middle][1]
    if parted and (n_full != height + width or all(line for _, line in lines[body:middle])):
        rows = lines[body:middle]
        columns, end = next_clues(lines, middle + 1, width, source, "column")
    elif n_full >= height + width:
        chosen, end = next_clues(lines, body, height + width, source, "row and column")
        rows, columns = chosen[:height], chosen[height:]
    else:
        hope = f"{height} lines of row clues, a blank line and {width} lines of column clues"
        raise wrong(source, place, hope, f"{n_full} lines with clues")
    row_clues, column_clues = black_clues(rows, source), black_clues(columns, source)
    at = next_full(lines, end)
    if at < len(lines) and not fits(row_clues, column_clues):
        raise wrong(source, lines[at][0], f"the end after {height} row and {width} column clues", lines[at][1])
    return make(row_clues, column_clues, source), end


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    rows, columns = ([lengths(clue) for clue in clues] for clues in (puzzle.rows, puzzle.columns))
    return "\n".join([str(puzzle.height), str(puzzle.width), *rows, "", *columns]) + "\n"


FORMAT = Format(
    "cwd",
    "QNonograms: height, width, row clues, a blank line, column clues; one black-white puzzle",
    (".cwd",),
    sniff,
    parse,
    write,
    blots=True,
    first="0123456789",
    lookalikes=("keen",),
    begins=begins_with(START, parse),
)
