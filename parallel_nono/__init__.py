"""parallel_nono: the batch solver for nonograms.

The library's face:

    >>> from parallel_nono import Limits, Puzzle, check, solve
    >>> hook = Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1])
    >>> result = solve(hook, Limits(seconds=10))
    >>> print(result.outcome, bool(check(hook, result.solutions[0])))
    unique True

Make puzzles: `Puzzle.of_clues`, `Puzzle.of_text`, `Puzzle.of_picture`, `generate`; or `read` them from files, which
`write` makes. Decide them: `solve`, `solve_many`, `solutions`, `count`; `check` grids. A notebook shows puzzles and
results as pictures. Decide files of thousands: `run(RunOptions(...))`, whose results `Run` opens.

Names are imported when they are first used, so that `import parallel_nono` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names as in _HOMES, for editors and type checkers
    from .attempt import Attempt as Attempt
    from .attempt import Limits as Limits
    from .attempt import Outcome as Outcome
    from .attempt import Plan as Plan
    from .attempt import Result as Result
    from .batch.options import InvalidOption as InvalidOption
    from .batch.options import RunOptions as RunOptions
    from .batch.run import RunProgress as RunProgress
    from .batch.run import RunSummary as RunSummary
    from .batch.run import run as run
    from .batch.run import run_each as run_each
    from .checker import RejectedSolution as RejectedSolution
    from .checker import Verdict as Verdict
    from .checker import check as check
    from .engine.errors import EngineError as EngineError
    from .engine.folder import OutputError as OutputError
    from .engine.session import Stop as Stop
    from .files.reading import read as read
    from .files.writing import write as write
    from .generator import generate as generate
    from .puzzle import BLACK_AND_WHITE as BLACK_AND_WHITE
    from .puzzle import BLOT as BLOT
    from .puzzle import Block as Block
    from .puzzle import Clue as Clue
    from .puzzle import Colour as Colour
    from .puzzle import Grid as Grid
    from .puzzle import InvalidPuzzle as InvalidPuzzle
    from .puzzle import Palette as Palette
    from .puzzle import Puzzle as Puzzle
    from .report.run import Run as Run
    from .solver.many import solve_many as solve_many
    from .solver.several import OutOfTime as OutOfTime
    from .solver.several import SolutionCount as SolutionCount
    from .solver.several import Unfinished as Unfinished
    from .solver.several import count as count
    from .solver.several import solutions as solutions
    from .solver.single import solve as solve

__version__ = "0.1.0"

_HOMES = {
    "Attempt": "attempt",
    "BLACK_AND_WHITE": "puzzle",
    "BLOT": "puzzle",
    "Block": "puzzle",
    "Clue": "puzzle",
    "Colour": "puzzle",
    "EngineError": "engine.errors",
    "Grid": "puzzle",
    "InvalidOption": "batch.options",
    "InvalidPuzzle": "puzzle",
    "Limits": "attempt",
    "OutOfTime": "solver.several",
    "Outcome": "attempt",
    "OutputError": "engine.folder",
    "Palette": "puzzle",
    "Plan": "attempt",
    "Puzzle": "puzzle",
    "RejectedSolution": "checker",
    "Result": "attempt",
    "Run": "report.run",
    "RunOptions": "batch.options",
    "RunProgress": "batch.run",
    "RunSummary": "batch.run",
    "SolutionCount": "solver.several",
    "Stop": "engine.session",
    "Unfinished": "solver.several",
    "Verdict": "checker",
    "check": "checker",
    "count": "solver.several",
    "generate": "generator",
    "read": "files.reading",
    "run": "batch.run",
    "run_each": "batch.run",
    "solutions": "solver.several",
    "solve": "solver.single",
    "solve_many": "solver.many",
    "write": "files.writing",
}
"""Every public name and the module that it comes from."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
