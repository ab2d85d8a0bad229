"""Deciding puzzles: stages, and the pipeline that runs a plan of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .many import solve_many
    from .pipeline import solve_set
    from .several import count, solutions
    from .single import solve

__all__ = ["count", "solutions", "solve", "solve_many", "solve_set"]

_LATE = {"count": "several", "solutions": "several", "solve": "single", "solve_many": "many", "solve_set": "pipeline"}
"""Names and the modules that they come from when they are first used."""


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(f".{_LATE[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
