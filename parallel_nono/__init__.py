"""parallel_nono: the batch solver for nonograms.

The library's face; the command line uses nothing else that a library user could not:

    from parallel_nono import Limits, check, read, solve
    for puzzle in read("puzzle.non"):
        print(solve(puzzle, Limits(seconds=10)).outcome)

Names are imported when they are first used, so that `import parallel_nono` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Block": "puzzle",
    "Clue": "puzzle",
    "Colour": "puzzle",
    "InvalidPuzzle": "puzzle",
    "Palette": "puzzle",
    "Puzzle": "puzzle",
    "Attempt": "attempt",
    "Limits": "attempt",
    "Outcome": "attempt",
    "Result": "attempt",
    "check": "check",
    "read": "formats.files",
    "solve": "solve",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
