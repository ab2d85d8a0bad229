"""Many puzzles by one call: each chunk of them is a set, which the kernels take at once."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..attempt import Limits, Result
from ..puzzle import InvalidPuzzle, Puzzle
from .pipeline import check_limits, solve_clues
from .single import ASKED, clues_of_puzzles, results_of

if TYPE_CHECKING:
    import pyarrow as pa

FIRST, MOST = 16, 1024
"""Puzzles in the first chunk and, after doubling, in the largest: the first results come soon, and the few dozen calls
that a chunk takes beside the kernel are shared by many."""

MAX_CELLS = 1 << 20
"""Cells after which a chunk is full: the room for its solutions is then some megabytes."""


def solve_many(puzzles: Iterable[Puzzle] | pa.RecordBatch, limits: Limits | None = None) -> Iterator[Result]:
    """Decide many puzzles: what `solve` says of each, in their order, up to a thousand in a call of the solver.

    The kernels are called once for a chunk of puzzles, up to a thousand, and their results are given before more
    puzzles are asked for; so any number of puzzles takes little memory.

    puzzles  puzzles one by one, as from `read`; or a packed set (an Arrow record batch, as packed files hold it), whose
             `Result.puzzle` is made when it is looked at.
    limits   of each puzzle, as of `solve`: a hard one gets all of its seconds.
    Yields   a Result for each puzzle.
    Errors   ValueError for a plan that does not exist, at once. InvalidPuzzle for one among the puzzles
             (`read(errors="yield")`) or a broken row of a set, TypeError for what is no puzzle: both name its place,
             after the results of those before it. RejectedSolution as of `solve`.

    >>> from parallel_nono import Puzzle, solve_many
    >>> puzzles = [Puzzle.of_clues(rows=[1] * n, columns=[1] * n) for n in (1, 2)]
    >>> [str(result.outcome) for result in solve_many(puzzles)]
    ['unique', 'multiple']
    """
    limits = ASKED if limits is None else limits
    check_limits(limits)
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(puzzles, arrow.RecordBatch):
        return _of_set(puzzles, limits)
    return _of_puzzles(iter(puzzles), limits)


class _Chunk:
    """How far the chunk at hand is filled."""

    def __init__(self) -> None:
        self.most, self.n, self.cells = FIRST, 0, 0

    def full_with(self, cells: int) -> bool:
        """Count one more puzzle of so many cells; True if it is the last of its chunk."""
        self.n, self.cells = self.n + 1, self.cells + cells
        if self.n < self.most and self.cells < MAX_CELLS:
            return False
        self.most, self.n, self.cells = min(2 * self.most, MOST), 0, 0
        return True


def _of_puzzles(puzzles: Iterator[Puzzle], limits: Limits) -> Iterator[Result]:
    for chunk in _chunks(puzzles):
        clues = clues_of_puzzles(chunk)
        yield from results_of(clues, solve_clues(clues, limits, known=True), limits, chunk.__getitem__)


def _chunks(puzzles: Iterator[Puzzle]) -> Iterator[list[Puzzle]]:
    """Puzzles in chunks; what is wrong with one of them is raised after those before it were given."""
    chunk: list[Puzzle] = []
    filling = _Chunk()
    try:
        for place, puzzle in enumerate(puzzles, start=1):
            _demand_puzzle(puzzle, place)
            chunk.append(puzzle)
            if filling.full_with(puzzle.height * puzzle.width):
                yield chunk
                chunk = []
    except Exception:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


def _demand_puzzle(puzzle: object, place: int) -> None:
    """Errors: InvalidPuzzle, TypeError."""
    if isinstance(puzzle, InvalidPuzzle):
        raise InvalidPuzzle(f"puzzle {place}: {puzzle}", name=puzzle.name, index=puzzle.index)
    if not isinstance(puzzle, Puzzle):
        raise TypeError(f"puzzle {place}: expected a Puzzle, found {type(puzzle).__name__}")


def _of_set(batch: pa.RecordBatch, limits: Limits) -> Iterator[Result]:
    from ..puzzleset import clues_of, puzzle_at

    for start, end in _bounds(batch):
        rows = batch.slice(start, end - start)
        clues = clues_of(rows)
        found = solve_clues(clues, limits, known=True)
        yield from results_of(clues, found, limits, partial(puzzle_at, rows), late=True)


def _bounds(batch: pa.RecordBatch) -> Iterator[tuple[int, int]]:
    """First row of each chunk and the one behind its last. Errors: InvalidPuzzle for a row without lines, when it is
    the next."""
    from ..puzzleset import puzzle_at

    filling, start = _Chunk(), 0
    sizes = zip(*(batch.column(side).to_pylist() for side in ("height", "width")), strict=True)
    for place, (height, width) in enumerate(sizes):
        if height == 0:
            if start < place:
                yield start, place
            try:
                puzzle_at(batch, place)
            except InvalidPuzzle as error:
                _demand_puzzle(error, place + 1)
        if filling.full_with(height * width):
            yield start, place + 1
            start = place + 1
    if start < batch.num_rows:
        yield start, batch.num_rows
