"""Text of data sets: `H W`, then W column clues, then H row clues. One black-white puzzle.

Height first and columns first: read as Jakub Wilk's `.nin`, which has the width and the rows first, it is the puzzle
transposed, and no sum can tell. So a text whose name doesn't tell either is read as `.nin`, with a warning. In the JSON
of such sets (`formats.json`) the layout is certain. An empty line is `0`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..puzzle import Clue, Grid, Puzzle
from . import Format, Parsed, nin
from .common.blocks import written
from .common.text import (
    Lines,
    black_clues,
    clue_lines,
    from_first_full,
    goal_of_cells,
    make,
    numbered,
    only_black,
    only_one,
    sizes,
    two_sizes,
    wrong,
)

TITLE = "text of data sets"
SIZE = "the height and the width"
CELLS = {"x": 1, "X": 1, "#": 1, "1": 1, "-": 0, ".": 0, "0": 0}


def sniff(text: str) -> bool:
    return nin.sniff(text)


def parse(text: str, source: str) -> Parsed:
    rows, columns = clues_of(numbered(text), source)
    yield make(rows, columns, source)


def clues_of(lines: Lines, source: str) -> tuple[list[Clue], list[Clue]]:
    """(rows, columns) of a text. Errors: InvalidPuzzle."""
    lines = from_first_full(lines, source, "a puzzle")
    height, width = two_sizes(lines[0], source, SIZE)
    sizes(height, width, source, lines[0][0])
    wanted = f"column and row ({width} + {height})"
    clues = black_clues(clue_lines(lines[1:], height + width, source, wanted), source)
    return clues[width:], clues[:width]


def goal_of(text: str, height: int, width: int, source: str) -> Grid:
    """The picture of a solution: height and width, then rows of `x` and `-`. Errors: InvalidPuzzle."""
    lines = from_first_full(numbered(text), source, "a solution")
    found = two_sizes(lines[0], source, f"{SIZE} of the solution")
    if found != (height, width):
        hope = f"a solution {width} wide and {height} high"
        raise wrong(source, 0, hope, f"one {found[1]} wide and {found[0]} high")
    rows = ["".join(line.split()) for _, line in lines[1:] if line]
    return goal_of_cells("".join(rows), CELLS, height, width, source, 0)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    rows, columns = written(puzzle, " ")
    return "\n".join([f"{puzzle.height} {puzzle.width}", *columns, *rows]) + "\n"


FORMAT = Format(
    "dataset",
    "Text of data sets: `H W`, column clues, row clues; one black-white puzzle",
    (".dataset", ".dataset.txt"),
    sniff,
    parse,
    write,
    blots=True,
    first="0123456789",
)
