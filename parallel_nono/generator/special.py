"""Puzzles at the edges: the domino family, degenerate ones, and clues as a careless publisher prints them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import RandomState

from ..puzzle import Block, Clue, InvalidPuzzle, Puzzle
from . import black_white
from .fields import Grid, below, pick

Clues = tuple[tuple[Clue, ...], tuple[Clue, ...]]


def _clues(lengths: Sequence[Sequence[int]]) -> tuple[Clue, ...]:
    return tuple(tuple(Block(length) for length in line) for line in lengths)


def domino(random: RandomState, height: int, width: int) -> Clues:
    """The n-Dom puzzle, a chain of n dominoes: unique, and twice as hard for a search with each further one.

    Height and width are 2n + 1; nothing is random.
    """
    n = (height - 1) // 2
    if height != width or height != 2 * n + 1 or n < 2:
        raise InvalidPuzzle(f"domino: expected height and width equal, odd and at least 5, found {height} and {width}")
    rows = [[3], [1], *[[3, 1], [1]] * (n - 1), [1]]
    columns = [[1], *[[1], [1, 3]] * (n - 1), [1], [3]]
    return _clues(rows), _clues(columns)


def empty(random: RandomState, height: int, width: int) -> Grid:
    """No ink at all."""
    return np.zeros((height, width), np.uint8)


def full(random: RandomState, height: int, width: int) -> Grid:
    """Ink everywhere."""
    return np.ones((height, width), np.uint8)


def one_cell(random: RandomState, height: int, width: int) -> Grid:
    """One cell of ink."""
    grid = np.zeros((height, width), np.uint8)
    grid[pick(random, 0, height - 1), pick(random, 0, width - 1)] = 1
    return grid


def checkerboard(random: RandomState, height: int, width: int) -> Grid:
    """Ink in every other cell, the top left one too: two solutions when both sides are even."""
    y, x = np.ogrid[:height, :width]
    return ((y + x + 1) % 2).astype(np.uint8)


def combs(random: RandomState, height: int, width: int) -> Grid:
    """Every other row has the longest clue there is: only ones."""
    grid = np.zeros((height, width), np.uint8)
    grid[::2, ::2] = 1
    return grid


def permutation(random: RandomState, height: int, width: int) -> Clues:
    """Every clue a single 1: as many solutions as permutations."""
    if height != width:
        raise InvalidPuzzle(f"permutation: expected height and width equal, found {height} and {width}")
    return _clues([[1]] * height), _clues([[1]] * width)


def mismatch(random: RandomState, height: int, width: int) -> Clues:
    """A picture with one block of a row printed wrong: rows and columns do not sum to the same."""
    rows, columns = _of_blobs(random, height, width)
    broken = list(rows)
    row = pick(random, 0, height - 1)
    clue = rows[row]
    if sum(block.length + 1 for block in clue) - 1 < width and clue:  # it still fits its row
        broken[row] = (Block(clue[0].length + 1), *clue[1:])
    elif clue:
        broken[row] = clue[1:]
    else:
        broken[row] = (Block(1),)
    return tuple(broken), columns


def too_long(random: RandomState, height: int, width: int) -> Clues:
    """The first row asks for more cells than it has; the sums are equal."""
    if height < 2:
        raise InvalidPuzzle(f"too_long: expected a height of at least 2, found {height}")
    return _clues([[width, 1], *[[]] * (height - 1)]), _clues([[2], *[[1]] * (width - 1)])


def contradiction(random: RandomState, height: int, width: int) -> Clues:
    """Sums and lengths fit, yet the full first row crosses an empty last column."""
    if height < 2 or width < 2:
        raise InvalidPuzzle(f"contradiction: expected height and width from 2, found {height} and {width}")
    return _clues([[width], *[[]] * (height - 1)]), _clues([[2], *[[1]] * (width - 2), []])


def impasse(random: RandomState, height: int, width: int) -> Clues:
    """No solution, though no line alone tells anything of 4 x 4 cells; the lines around them are empty."""
    if height < 4 or width < 4:
        raise InvalidPuzzle(f"impasse: expected height and width from 4, found {height} and {width}")
    rows, columns = [[1], [2], [2], [1]], [[1, 1], [1], [1], [2]]
    return _clues(rows + [[]] * (height - 4)), _clues(columns + [[]] * (width - 4))


def shuffled(random: RandomState, height: int, width: int) -> Clues:
    """A picture with its columns printed in another order: the sums fit, a solution hardly ever."""
    rows, columns = _of_blobs(random, height, width)
    order = np.argsort(below(random, 1 << 30, width), kind="stable")
    return rows, tuple(columns[place] for place in order.tolist())


def _of_blobs(random: RandomState, height: int, width: int) -> Clues:
    grid = black_white.blobs(random, height, width, density=50, radius=0)
    puzzle = Puzzle.of_grid(grid.tolist())
    return puzzle.rows, puzzle.columns
