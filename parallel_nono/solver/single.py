"""One puzzle as a person looks at it: a set of one, its solutions as grids, checked by the plain checker."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..attempt import OUTCOMES, STAGES, Limits, Outcome, Result
from ..checker import RejectedSolution, Verdict, check
from ..kernels.board import OPEN_CELL
from ..kernels.clues import Clues
from ..puzzle import Grid, Puzzle
from .pipeline import Lines, Results, solve_clues

COUNTS = ("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts", "n_open_lines", "n_open")
SECONDS = ("line_s", "probe_s", "search_s", "sat_s", "solve_s")


def solve_one(puzzle: Puzzle, limits: Limits, abort: np.ndarray | None = None, lines: Lines | None = None) -> Result:
    """See `parallel_nono.solve`; abort, lines as of `solve_set`."""
    results = solve_clues(clues_of_puzzle(puzzle), limits, abort, lines)
    shape = (puzzle.height, puzzle.width)
    outcome, n_solutions = OUTCOMES[results.outcome[0]], int(results.n_solutions[0])
    kept = results.solutions.get(0, results.cells[: min(n_solutions, 2)])[: limits.solutions]
    solutions = tuple(_grid(cells, shape) for cells in kept)
    began = time.perf_counter()
    seen: set[Grid] = set()
    for number, solution in enumerate(solutions, start=1):
        verdict = check(puzzle, solution)
        if verdict and solution in seen:
            verdict = Verdict("it was found before")
        if not verdict:
            title = puzzle.source or puzzle.name or "puzzle"
            raise RejectedSolution(f"{title}: solution {number} is wrong: {verdict.complaint}")
        seen.add(solution)
    seconds = {name: float(getattr(results, name)[0]) for name in SECONDS}
    seconds["check_s"] = time.perf_counter() - began
    return Result(
        outcome=outcome,
        stage=STAGES[results.stage[0]],
        solutions=solutions,
        n_solutions=n_solutions,
        exhausted=bool(results.exhausted[0]),
        partial=solutions[0] if outcome == Outcome.UNIQUE else _known(puzzle, results, limits, abort),
        witness=results.witness[0],
        counts={name: int(getattr(results, name)[0]) for name in COUNTS},
        seconds=seconds,
        puzzle=puzzle,
    )


def clues_of_puzzle(puzzle: Puzzle) -> Clues:
    """What `puzzleset.clues_of` gives of a set of one puzzle, without Arrow, which takes longer than the puzzle."""
    clues = (*puzzle.rows, *puzzle.columns)
    blocks = [block for clue in clues for block in clue]
    return Clues(
        heights=np.array([puzzle.height], np.int32),
        widths=np.array([puzzle.width], np.int32),
        n_colours=np.array([puzzle.n_colours], np.int32),
        line_starts=np.array([0, len(clues)], np.int32),
        block_starts=np.cumsum([0, *map(len, clues)], dtype=np.int32),
        lengths=np.array([length for length, _ in blocks], np.int32),
        colours=np.array([colour for _, colour in blocks], np.uint16),
    ).sealed()


def _known(puzzle: Puzzle, results: Results, limits: Limits, abort: np.ndarray | None) -> Grid:
    """What lines and probes know of a puzzle without one solution; asked for again where a solution lies over it."""
    shape = (puzzle.height, puzzle.width)
    if results.n_solutions[0] == 0:
        return _grid(results.cells[0], shape)
    plan = replace(limits.plan, stages=tuple(name for name in limits.plan.stages if name in ("line", "probe")))
    again = solve_clues(clues_of_puzzle(puzzle), replace(limits, count=0, plan=plan), abort)
    return _grid(again.cells[0], shape)


def _grid(cells: np.ndarray, shape: tuple[int, int]) -> Grid:
    known = np.where(cells == OPEN_CELL, -1, cells.astype(np.int64)).reshape(shape)
    return tuple(map(tuple, known.tolist()))
