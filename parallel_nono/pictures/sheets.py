"""What is drawn: a puzzle with its cells as an array, from a solution, from a row of a run, or decided here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..attempt import OUTCOMES, Limits, Outcome, Result
from ..puzzle import Grid, Puzzle, letter

OPEN = -1
"""What an array of cells holds for one that is not known."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A puzzle and what stands in its grid.

    cells  int16 or int32 [height, width], colour indices or OPEN; None: nothing, it is to be filled in.
    other  a second solution, whose differences are marked: such a cell shows both colours.
    """

    puzzle: Puzzle
    cells: np.ndarray | None = None
    other: np.ndarray | None = None

    @property
    def title(self) -> str:
        """For messages."""
        return self.puzzle.name or f"{self.puzzle.source} #{self.puzzle.index}"

    @property
    def n_differing(self) -> int:
        """Cells in which the two solutions differ."""
        return 0 if self.cells is None or self.other is None else int((self.cells != self.other).sum())


def array_of(grid: Grid) -> np.ndarray:
    """A grid of a `Puzzle` or a `Result` as an array of cells."""
    return np.array(grid, np.int32)


def sheet_of_result(puzzle: Puzzle, result: Result) -> Sheet:
    """The first solution, the second one marked where it differs; without a solution what is known."""
    grids = [array_of(grid) for grid in (result.solutions or (result.partial,))[:2]]
    return Sheet(puzzle, *grids)


def sheet_of_texts(puzzle: Puzzle, solution: str, second_solution: str) -> Sheet:
    """The solutions as a row of a run holds them; "" if there is none."""
    letters = np.array([ord(letter(colour, puzzle.n_colours)) for colour in range(puzzle.n_colours)], np.uint32)
    order = np.argsort(letters)
    colours = np.zeros(1 << 7, np.int16)
    plain = np.flatnonzero(letters < len(colours))
    colours[letters[plain]] = plain

    def cells(text: str) -> np.ndarray | None:
        if not text:
            return None
        if text.isascii():
            signs = np.frombuffer(f"{text}/".encode("ascii"), np.uint8).reshape(puzzle.height, -1)
            return colours[signs[:, : puzzle.width]]
        codes = np.frombuffer(text.replace("/", "").encode("utf-32-le"), np.uint32)
        return order[np.searchsorted(letters[order], codes)].astype(np.int32).reshape(puzzle.height, puzzle.width)

    return Sheet(puzzle, cells(solution), cells(second_solution))


def decided(puzzle: Puzzle, limits: Limits) -> tuple[Sheet, Outcome]:
    """Solve a puzzle, without an object for each cell: `sheet_of_result` for grids of any size.

    Errors  AssertionError if the checker rejects a solution: our bug.
    """
    from ..checker.fast import check_set
    from ..kernels.board import OPEN_CELL
    from ..puzzleset import clues_of, set_of
    from ..solver import solve_set

    batch = set_of([puzzle])
    results = solve_set(batch, limits)
    n_solutions = min(int(results.n_solutions[0]), 2)
    for place in range(n_solutions):
        wrong = check_set(clues_of(batch), results.cells[place], results.cell_starts, np.array([True]))
        if wrong[0] >= 0:
            raise AssertionError(f"{puzzle.source}: solution {place + 1} is wrong in line {wrong[0] + 1}")
    grids = results.cells[: max(n_solutions, 1)].reshape(-1, puzzle.height, puzzle.width)
    if puzzle.n_colours < 1 << 15:
        grids = grids.view(np.int16)  # an open cell is then OPEN, and nothing is copied
    else:
        grids = grids.astype(np.int32)
        grids[grids == OPEN_CELL] = OPEN
    return Sheet(puzzle, *grids), OUTCOMES[results.outcome[0]]
