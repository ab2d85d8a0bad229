"""`.cwd`, QNonograms: height and width on a line each, row clues, a blank line, column clues. One black-white puzzle.

An empty line is `0`. Where a blank line could also be an empty clue, the numbers of the header decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import InvalidPuzzle, Puzzle
from . import Format, Parsed
from .text import (
    black_clues,
    clue_lines,
    from_first_full,
    lengths,
    make,
    number,
    numbered,
    only_black,
    only_one,
    sizes,
    wrong,
)

TITLE = "QNonograms' .cwd"
START = re.compile(r"\s*([0-9]{1,6})[ \t]*\n[ \t]*([0-9]{1,6})[ \t]*\n")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None or text[found.end() :].strip(" \t\n0123456789,?"):
        return False
    lines = [line.strip() for line in text[found.end() :].split("\n")]
    height, width = int(found[1]), int(found[2])
    if len(lines) < height + width:
        return False
    return len([line for line in lines if line]) == height + width or (len(lines) > height and not lines[height])


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "the height, the width and the clues")
    if len(lines) < 2:
        raise wrong(source, 0, "the height, the width and the clues", lines[0][1])
    height, width = (number(line, source, place, "the height, then the width") for place, line in lines[:2])
    sizes(height, width, source, lines[0][0])
    rest = lines[2:]
    full = [line for line in rest if line[1]]
    if len(full) == height + width:
        rows, columns = full[:height], full[height:]
    elif len(rest) > height and not rest[height][1]:
        rows, columns = rest[:height], clue_lines(rest[height + 1 :], width, source, "column")
    else:
        raise InvalidPuzzle(
            f"{source}: expected {height} lines of row clues, a blank line and {width} lines of column clues, "
            f"found {len(full)} lines with clues"
        )
    yield make(black_clues(rows, source), black_clues(columns, source), source)


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
    rivals=("keen",),
)
