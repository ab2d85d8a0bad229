"""parallel_nono: the batch solver for nonograms.

The library's face; the command line uses nothing else that a library user could not:

    from parallel_nono import Limits, check, read, solve
    for puzzle in read("puzzle.non"):
        print(solve(puzzle, Limits(seconds=10)).outcome)

Names are imported when they are first used, so that `import parallel_nono` costs nothing. `solve` and `check` are rooms
of the house as well as functions: the rooms can be called, so the name does the same whoever was imported first.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .attempt import Attempt, Limits, Outcome, Result
    from .check import check
    from .formats.files import read
    from .puzzle import Block, Clue, Colour, InvalidPuzzle, Palette, Puzzle
    from .solve import solve

__version__ = "0.1.0"

__all__ = [
    "Attempt",
    "Block",
    "Clue",
    "Colour",
    "InvalidPuzzle",
    "Limits",
    "Outcome",
    "Palette",
    "Puzzle",
    "Result",
    "__version__",
    "check",
    "read",
    "solve",
]

_HOMES = {
    **dict.fromkeys(("Attempt", "Limits", "Outcome", "Result"), "attempt"),
    **dict.fromkeys(("Block", "Clue", "Colour", "InvalidPuzzle", "Palette", "Puzzle"), "puzzle"),
    "check": "check",
    "read": "formats.files",
    "solve": "solve",
}


class CallableRoom(ModuleType):
    """A module that stands for the function of its own name when it is called."""

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **more)


def _make_callable(module: str) -> None:
    """Called by the rooms `solve` and `check` as they are imported."""
    sys.modules[module].__class__ = CallableRoom


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
