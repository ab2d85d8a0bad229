"""Columns-first text: `W H`, W column clues, H row clues (`.nono`). Black-white puzzles; only one is written.

Two relatives are read where the format is named: W, columns, H, rows; and W, columns, then rows to the end. An empty
line is `0`, or blank where the lines then come to the right number. Files of the first kind that were put together are
read one puzzle after another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from ..puzzle import Clue, Puzzle
from . import Format, Parsed
from .common.blocks import written
from .common.text import (
    NUMBERS_ALONE,
    Lines,
    begins_with,
    black_clues,
    first_fit,
    fits,
    from_first_full,
    make,
    next_clues,
    next_full,
    number,
    numbered,
    one_by_one,
    only_black,
    only_one,
    sizes,
    two_sizes,
    wrong,
)

TITLE = "columns-first text"
START = re.compile(r"\s*+([0-9]{1,6})[ \t]++([0-9]{1,6})[ \t]*+\n")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None:
        return False
    lines = text[found.end(2) :].split("\n")[1:]
    wanted = int(found[1]) + int(found[2])
    if NUMBERS_ALONE.match(text, found.end()) and (
        sum(not line.isspace() for line in lines if line) == wanted or wanted <= len(lines) <= wanted + 1
    ):
        return True
    return len(lines) > wanted and first_fit(text, parse, 2)


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "a puzzle")
    place, line = lines[0]
    words = [number(word, source, place, "the width and the height") for word in line.split()]
    if len(words) == 1:
        yield _without_height(lines, words[0], source)
    elif len(words) == 2:
        yield from one_by_one(lines, source, partial(_read, source=source))
    else:
        raise wrong(source, place, "the width and the height", line)


def _read(lines: Lines, start: int, source: str) -> tuple[Puzzle, int]:
    """The puzzle that begins at a line, and where it ends."""
    width, height = two_sizes(lines[start], source, "the width and the height")
    sizes(height, width, source, lines[start][0])
    wanted = f"column and row ({width} + {height})"
    chosen, end = next_clues(lines, start + 1, height + width, source, wanted)
    clues = black_clues(chosen, source)
    columns, rows = clues[:width], clues[width:]
    at = next_full(lines, end)
    if at < len(lines) and not fits(rows, columns):
        raise wrong(source, lines[at][0], f"the end after {width} + {height} clues", lines[at][1])
    return make(rows, columns, source), end


def _without_height(lines: Lines, width: int, source: str) -> Puzzle:
    """The puzzle of a file that begins with the width alone."""
    sizes(1, width, source, lines[0][0])
    full = [line for line in lines[1:] if line[1]]
    columns, rows = full[:width], full[width:]
    if not rows:
        raise wrong(source, lines[0][0], f"{width} column clues, then row clues", f"{len(full)} lines")
    if rows[0][1] == str(len(rows) - 1):
        rows = rows[1:]  # the height in a line of its own
    column_clues, row_clues = black_clues(columns, source), black_clues(rows, source)
    _no_more(rows, row_clues, column_clues, source)
    return make(row_clues, column_clues, source)


def _no_more(lines: Lines, rows: Sequence[Clue], columns: Sequence[Clue], source: str) -> None:
    """Errors: InvalidPuzzle where rows go on after all cells of the columns are there: that is another puzzle."""
    if any(block.is_blot for clue in (*rows, *columns) for block in clue):
        return
    left = sum(block.length for clue in columns for block in clue)
    height = int(lines[0][1]) if lines[0][1].isdigit() and len(lines[0][1]) < 7 else 0
    sized = rows[1 : height + 1]
    if 0 < height < len(lines) - 1 and sum(block.length for clue in sized for block in clue) == left:
        raise wrong(source, lines[height + 1][0], f"the end after {height} row clues", lines[height + 1][1])
    for (place, text), clue in zip(lines, rows, strict=True):
        left -= sum(block.length for block in clue)
        if left < 0:
            raise wrong(source, place, "the end after rows with as many cells as the columns", text)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    rows, columns = written(puzzle, " ")
    return "\n".join([f"{puzzle.width} {puzzle.height}", *columns, *rows]) + "\n"


FORMAT = Format(
    "nono",
    "Columns-first text: `W H`, column clues, row clues; one black-white puzzle",
    (".nono",),
    sniff,
    parse,
    write,
    blots=True,
    first="0123456789",
    begins=begins_with(START, parse),
)
