"""Deciding puzzles: stages, and the pipeline that runs a plan of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..attempt import Limits, Result

if TYPE_CHECKING:
    from ..puzzle import Puzzle
    from .pipeline import solve_set

__all__ = ["solve", "solve_set"]


def solve(puzzle: Puzzle, limits: Limits | None = None) -> Result:
    """Decide one puzzle: a set of one through the same path as a million. Every solution is checked.

    Errors  AssertionError if the checker rejects a solution: that is our bug, and no verdict counts then.
    """
    from .single import solve_one

    return solve_one(puzzle, Limits() if limits is None else limits)


def __getattr__(name: str) -> Any:
    if name == "solve_set":
        from .pipeline import solve_set

        return solve_set
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
