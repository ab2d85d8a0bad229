"""Where things stand in a picture: a lattice of square boxes, clues above and left of the grid; and runs of cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..puzzle import Block, Puzzle

BOLD_EVERY = 5

# Shades of what is no cell.
PAPER, MARGIN, CORNER, THIN, BOLD, MARK, ACTIVE = 0xFFFFFF, 0xF4F4F4, 0xD7D7D7, 0xB4B4B4, 0x5A5A5A, 0xFF00FF, 0xFFE680


@dataclass(frozen=True, slots=True)
class Look:
    """How a puzzle is drawn.

    clues  above and left of the grid.
    lines  between the cells, a bold one each five.
    """

    clues: bool = True
    lines: bool = True


class Lattice(NamedTuple):
    """Boxes of a picture: `left` columns of row clues, `top` rows of column clues, then the grid."""

    left: int
    top: int
    width: int
    height: int


def lattice_of(puzzle: Puzzle, clues: bool) -> Lattice:
    """The boxes that a puzzle needs."""
    left = max(map(len, puzzle.rows)) if clues else 0
    top = max(map(len, puzzle.columns)) if clues else 0
    return Lattice(left, top, left + puzzle.width, top + puzzle.height)


def clue_boxes(puzzle: Puzzle) -> Iterator[tuple[int, int, int, Block]]:
    """(row, column, line, block) of each clue number in boxes of the lattice; they lean on the grid.

    line  rows first, then columns, from 0.
    """
    lattice = lattice_of(puzzle, True)
    for line, clue in enumerate(puzzle.rows):
        for place, block in enumerate(reversed(clue), start=1):
            yield lattice.top + line, lattice.left - place, line, block
    for line, clue in enumerate(puzzle.columns):
        for place, block in enumerate(reversed(clue), start=1):
            yield lattice.top - place, lattice.left + line, puzzle.height + line, block


def text_height(puzzle: Puzzle) -> float:
    """Of clue numbers, in boxes, so that the longest fits its box."""
    longest = max((len(block.text) for clue in (*puzzle.rows, *puzzle.columns) for block in clue), default=1)
    return min(0.66, 1.3 / longest)


def runs_of(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(rows, first columns, lengths, values) of the maximal runs of equal cells of each row, in reading order."""
    height, width = cells.shape
    begins = np.ones((height, width), bool)
    begins[:, 1:] = cells[:, 1:] != cells[:, :-1]
    starts = np.flatnonzero(begins)
    lengths = np.diff(np.append(starts, cells.size))
    return starts // width, starts % width, lengths, cells.ravel()[starts]
