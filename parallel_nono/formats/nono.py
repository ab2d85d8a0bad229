"""Columns-first text: `W H`, W column clues, H row clues (`.nono`). One black-white puzzle.

Two relatives are read where the format is named: W, columns, H, rows; and W, columns, then rows to the end. An empty
line is `0`, or blank where the lines then come to the right number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .blocks import written
from .text import (
    Lines,
    black_clues,
    clue_lines,
    from_first_full,
    make,
    number,
    numbered,
    only_black,
    only_one,
    sizes,
    wrong,
)

TITLE = "columns-first text"
START = re.compile(r"\s*+([0-9]{1,6})[ \t]++([0-9]{1,6})[ \t]*+\n[0-9?, \t\n]*+\Z")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None:
        return False
    lines = text[found.end(2) :].split("\n")[1:]
    wanted = int(found[1]) + int(found[2])
    return sum(not line.isspace() for line in lines if line) == wanted or wanted <= len(lines) <= wanted + 1


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "a puzzle")
    place, line = lines[0]
    words = [number(word, source, place, "the width and the height") for word in line.split()]
    if len(words) == 2:
        width, height = words
        sizes(height, width, source, place)
        chosen = clue_lines(lines[1:], height + width, source, f"column and row ({width} + {height})")
        columns, rows = chosen[:width], chosen[width:]
    elif len(words) == 1:
        columns, rows = _without_height(lines, words[0], source)
    else:
        raise wrong(source, place, "the width and the height", line)
    yield make(black_clues(rows, source), black_clues(columns, source), source)


def _without_height(lines: Lines, width: int, source: str) -> tuple[Lines, Lines]:
    """Columns and rows of a file that begins with the width alone."""
    sizes(1, width, source, lines[0][0])
    full = [line for line in lines[1:] if line[1]]
    columns, rows = full[:width], full[width:]
    if not rows:
        raise wrong(source, lines[0][0], f"{width} column clues, then row clues", f"{len(full)} lines")
    if rows[0][1] == str(len(rows) - 1):
        rows = rows[1:]  # the height in a line of its own
    return columns, rows


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
)
