"""Deciding puzzles: stages, and the pipeline that runs a plan of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..attempt import Limits, Result

if TYPE_CHECKING:
    from ..puzzle import Puzzle
    from .pipeline import solve_set
    from .several import count, solutions

__all__ = ["count", "solutions", "solve", "solve_set"]

_LATE = {"count": "several", "solutions": "several", "solve_set": "pipeline"}
"""Names and the modules that they come from when they are first used."""


def solve(puzzle: Puzzle, limits: Limits | None = None) -> Result:
    """Decide one puzzle: whether it has no solution, one, or several, and which. Every solution is checked.

    limits   None: a minute, and uniqueness is asked.
    Returns  a Result: the outcome, up to `Limits.solutions` solutions, what is known of the others, and what it took.
    Errors   ValueError for a plan that does not exist; RejectedSolution if the checker rejects a solution, which is
             our bug: no verdict counts then.

    >>> from parallel_nono import Limits, Puzzle, solve
    >>> hook = Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1])
    >>> result = solve(hook, Limits(seconds=10))
    >>> result.outcome, result.stage
    (<Outcome.UNIQUE: 'unique'>, 'line')
    >>> result.solutions[0]
    ((1, 1, 0), (1, 0, 0), (1, 1, 1))
    """
    from .single import solve_one

    return solve_one(puzzle, Limits() if limits is None else limits)


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f".{_LATE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
