"""One puzzle as a person looks at it: a set of one, its answers as grids, checked by the plain checker."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..attempt import OUTCOMES, STAGES, Limits, Outcome, Result
from ..checker import check
from ..puzzle import Grid, Puzzle
from ..puzzleset import set_of
from .pipeline import OPEN_CELL, Lines, Results, solve_set

COUNTS = ("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts", "n_open_lines", "n_open")
SECONDS = ("line_s", "probe_s", "search_s", "sat_s", "solve_s")


class RejectedAnswer(AssertionError):
    """The checker does not accept an answer of the solver: our bug, and no verdict counts."""


def solve_one(puzzle: Puzzle, limits: Limits, abort: np.ndarray | None = None, lines: Lines | None = None) -> Result:
    """See `parallel_nono.solve`; abort, lines as of `solve_set`."""
    results = solve_set(set_of([puzzle]), limits, abort, lines)
    shape = (puzzle.height, puzzle.width)
    outcome, n_answers = OUTCOMES[results.outcome[0]], int(results.n_answers[0])
    kept = results.answers.get(0, results.cells[: min(n_answers, 2)])[: limits.answers]
    answers = tuple(_grid(cells, shape) for cells in kept)
    began = time.perf_counter()
    for number, answer in enumerate(answers, start=1):
        complaint = check(puzzle, answer)
        if complaint is None and answer in answers[: number - 1]:
            complaint = "it was found before"
        if complaint is not None:
            raise RejectedAnswer(f"{puzzle.source or puzzle.name or 'puzzle'}: answer {number} is wrong: {complaint}")
    seconds = {name: float(getattr(results, name)[0]) for name in SECONDS}
    seconds["check_s"] = time.perf_counter() - began
    return Result(
        outcome=outcome,
        stage=STAGES[results.stage[0]],
        answers=answers,
        n_answers=n_answers,
        exhausted=bool(results.exhausted[0]),
        partial=answers[0] if outcome == Outcome.UNIQUE else _known(puzzle, results, limits, abort),
        witness=results.witness[0],
        counts={name: int(getattr(results, name)[0]) for name in COUNTS},
        seconds=seconds,
    )


def _known(puzzle: Puzzle, results: Results, limits: Limits, abort: np.ndarray | None) -> Grid:
    """What lines and probes know of a puzzle without one answer; asked for again where an answer lies over it."""
    shape = (puzzle.height, puzzle.width)
    if results.n_answers[0] == 0:
        return _grid(results.cells[0], shape)
    plan = replace(limits.plan, stages=tuple(name for name in limits.plan.stages if name in ("line", "probe")))
    again = solve_set(set_of([puzzle]), replace(limits, count=0, plan=plan), abort)
    return _grid(again.cells[0], shape)


def _grid(cells: np.ndarray, shape: tuple[int, int]) -> Grid:
    known = np.where(cells == OPEN_CELL, -1, cells.astype(np.int64)).reshape(shape)
    return tuple(map(tuple, known.tolist()))
