"""All solutions of a puzzle: one by one, or as a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter, thread_time
from typing import NamedTuple

from ..attempt import MAX_COUNTED, Limits, Outcome
from ..puzzle import Grid, Puzzle
from .pipeline import MAX_KEPT
from .single import solve_one

FIRST, TIMES = 2, 4
"""Solutions that the first search stops at, and how many times more each following one does."""


class Unfinished(RuntimeError):
    """There may be more solutions than were given: the plan had nothing more to try, or there are too many to keep.

    >>> from parallel_nono import Limits, Plan, Puzzle, Unfinished, solutions
    >>> puzzle = Puzzle.of_clues(rows=[1, 1], columns=[1, 1])
    >>> try:
    ...     list(solutions(puzzle, Limits(plan=Plan(("line",)))))
    ... except Unfinished as error:
    ...     print(error)
    puzzle: 0 solutions, and perhaps more: the plan has nothing more to try
    """


class OutOfTime(Unfinished):
    """The time ran out before all solutions were found.

    >>> from parallel_nono import OutOfTime, Unfinished
    >>> issubclass(OutOfTime, Unfinished)
    True
    """


class SolutionCount(NamedTuple):
    """How many solutions a puzzle has: `n` of them, or at least `n` if that is not `exact`.

    >>> from parallel_nono import SolutionCount
    >>> print(SolutionCount(12, True), SolutionCount(1_000, False), sep=", ")
    exactly 12, at least 1,000
    """

    n: int
    exact: bool

    def __str__(self) -> str:
        return f"{'exactly' if self.exact else 'at least'} {self.n:,}"


def solutions(puzzle: Puzzle, limits: Limits | None = None) -> Iterator[Grid]:
    """The solutions of a puzzle one by one, each of them once, until there are no more.

    The first two are searched for when the first is asked for, the others in growing batches, so taking a few is cheap
    though there may be millions.

    limits  seconds and cpu_seconds (of searching, all solutions together), plan and memory; `solutions` and `count` say
            nothing here.
    Yields  grids, [height][width] colour indices, each accepted by the checker.
    Errors  OutOfTime when the time runs out before the end; Unfinished when the plan has nothing more to try, and after
            10,000 solutions, if there are more. What was found by then has been given.

    >>> from itertools import islice
    >>> from parallel_nono import Puzzle, solutions
    >>> puzzle = Puzzle.of_clues(rows=[1] * 5, columns=[1] * 5)
    >>> len(set(solutions(puzzle)))
    120
    >>> next(solutions(Puzzle.of_clues(rows=[2], columns=[1, 1])))
    ((1, 1),)
    """
    limits = Limits() if limits is None else limits
    most, spent_s, cpu_s = FIRST, 0.0, 0.0
    seen: set[Grid] = set()
    while True:
        began, cpu = perf_counter(), thread_time()
        result = solve_one(puzzle, replace(limits.left_after(spent_s, cpu_s), solutions=most, count=0))
        spent_s += perf_counter() - began
        cpu_s += thread_time() - cpu + result.seconds["sat_cpu_s"]
        for grid in result.solutions:
            if grid not in seen:
                seen.add(grid)
                yield grid
        if result.exhausted and len(seen) >= result.n_solutions:
            return
        title = f"{puzzle.name or puzzle.source or 'puzzle'}: {len(seen):,} solutions, and perhaps more"
        if 0 < limits.cpu_seconds <= cpu_s:
            raise OutOfTime(f"{title}: {limits.cpu_seconds:g} s of CPU time are over")
        if spent_s >= limits.seconds or result.outcome == Outcome.TIMEOUT:
            raise OutOfTime(f"{title}: {limits.seconds:g} s are over")
        if len(result.solutions) < most and not result.exhausted:
            raise Unfinished(f"{title}: {result.witness or 'the plan has nothing more to try'}")
        if most == MAX_KEPT:
            raise Unfinished(f"{title}: no more than {MAX_KEPT:,} can be kept; `count` counts them")
        most = min(TIMES * most, MAX_KEPT)


def count(puzzle: Puzzle, cap: int | None = None, limits: Limits | None = None) -> SolutionCount:
    """The number of solutions of a puzzle.

    cap      counting stops here; None: only the time ends it.
    limits   seconds, plan and memory; `solutions` and `count` say nothing here.
    Returns  the number, and whether it is exact. It is a lower bound where the cap was reached, the time ran out, or
             the plan had nothing more to try: `SolutionCount(0, False)` says that nothing is known.
    Errors   ValueError for a cap below 1.

    >>> from parallel_nono import Puzzle, count
    >>> print(count(Puzzle.of_clues(rows=[1] * 5, columns=[1] * 5)))
    exactly 120
    >>> count(Puzzle.of_clues(rows=[1] * 5, columns=[1] * 5), cap=100)
    SolutionCount(n=100, exact=False)
    >>> count(Puzzle.of_clues(rows=[1], columns=[0, 0]))
    SolutionCount(n=0, exact=True)
    """
    if cap is not None and cap < 1:
        raise ValueError(f"expected a cap from 1, found {cap}")
    asked = replace(Limits() if limits is None else limits, solutions=1, count=MAX_COUNTED if cap is None else cap)
    result = solve_one(puzzle, asked)
    return SolutionCount(result.n_solutions, result.exhausted)
