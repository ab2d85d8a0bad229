"""parallel_nono: the batch solver for nonograms.

The library's face; the command line uses nothing else that a library user could not:

    from parallel_nono import Limits, check, read, solve
    for puzzle in read("puzzle.non"):
        print(solve(puzzle, Limits(seconds=10)).outcome)

Names are imported when they are first used, so that `import parallel_nono` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .attempt import Attempt, Limits, Outcome, Result
    from .checker import check
    from .files.reading import read
    from .puzzle import Block, Clue, Colour, InvalidPuzzle, Palette, Puzzle
    from .solver import solve

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
    "check": "checker",
    "read": "files.reading",
    "solve": "solver",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
