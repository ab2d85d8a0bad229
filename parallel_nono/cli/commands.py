"""The commands by name, and the line of each in `pnono --help`.

A start imports the module of the one command that it is about, and help imports none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from copy import copy
from functools import partial
from importlib import import_module
from typing import Any

import typer

from .config import COMMON

LINES = {
    "run": "Try every puzzle in PATHS and write one row for each, whatever happens to it.",
    "report": "Report what a run found: outcomes, times, the heaviest puzzles, folders, sizes, difficulty, workers.",
    "compare": "Compare two runs puzzle by puzzle: verdicts that changed, counts, times.",
    "compact": (
        "Merge the many parts of a run into a few files: one for each host, or more if they would be very large."
    ),
    "solve": "Solve the puzzles of FILE and show them: the picture, the verdict, what it took.",
    "line": "Solve one line: print every cell that all arrangements of the clue agree on, or `Impossible`.",
    "check": "Check a solution against the clues, by code that knows nothing of the solver.",
    "convert": "Write the puzzles of IN in another format.",
    "pack": "Pack puzzles of any formats into one set, a Parquet file that `pnono run` reads without parsing.",
    "unpack": "Write the puzzles of a packed set as text: into one file, or one file each into a folder.",
    "generate": "Make puzzles from seeds: the same command gives the same bytes on every machine.",
    "formats": "List the file formats, what each can carry, and the endings by which it is known.",
    "draw": "Draw the puzzles of IN: PNG, SVG, PDF to print, or the steps as an animated GIF.",
    "from-image": "Make puzzles from pictures, and say at once whether they are good ones.",
    "lint": "Look at puzzles as a publisher does, and say what is wrong, doubtful or unusual.",
    "cnf": "Write a puzzle as clauses for a SAT solver (DIMACS), or read back what the solver answered.",
    "fetch": "Get puzzles of a web site by their numbers and keep them as files that `pnono run` reads.",
    "serve": (
        "Serve a page for the browser: solve a puzzle of any format, or a picture, step by step; save it; look at runs."
    ),
    "watch": "Watch a puzzle being solved: line by line in rounds, as people do; where lines stall, by probing cells.",
    "warm-up": "Compile the solver now, so that later starts need not: for images and new nodes.",
    "web": "Make the page that solves puzzles in the browser.",
}
"""The first sentence of every command, in the order in which help lists them; `tests/test_cli.py` compares them."""

SHARED = {"pack": "packs", "unpack": "packs"}
"""Modules of commands that have none of their own name."""


class Commands(Mapping[str, Any]):
    """The commands of LINES as typer has them, each made when it is asked for."""

    def __init__(self) -> None:
        self._common: list[Any] = []
        self._made: dict[str, Any] = {}

    def share(self, options: list[Any]) -> None:
        """Allow the common ones among the options of the program after the name of a command too."""
        self._common = [copy(option) for option in options if option.name in COMMON]
        for option in self._common:
            option.expose_value = False

    def __getitem__(self, name: str) -> Any:
        if name not in LINES:
            raise KeyError(name)
        if name not in self._made:
            one = _made(name)
            for each in (one, *getattr(one, "commands", {}).values()):
                each.params += self._common
                _refuse_endless(each)
            self._made[name] = one
        return self._made[name]

    def __contains__(self, name: object) -> bool:  # without importing it
        return name in LINES

    def __iter__(self) -> Iterator[str]:
        return iter(LINES)

    def __len__(self) -> int:
        return len(LINES)


def _refuse_endless(command: Any) -> None:
    """Have no option of a command take `inf` or `nan`, which are numbers to Python and pass every bound."""

    def finite(convert: Any, value: Any, parameter: Any, context: Any) -> Any:
        number = convert(value, parameter, context)
        if isinstance(number, float) and not math.isfinite(number):
            parameter.type.fail(f"{value!r} is not a finite number.", parameter, context)
        return number

    for each in command.params:
        if each.type.name in ("float", "float range"):
            each.type.convert = partial(finite, each.type.convert)


def _made(name: str) -> Any:
    """The command of a module, or the group of commands that it holds as a `Typer`."""
    word = name.replace("-", "_")
    found = getattr(import_module(f".{SHARED.get(word, word)}", __package__), word)
    if isinstance(found, typer.Typer):
        return typer.main.get_command(found)
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    alone.command()(found)
    return typer.main.get_command(alone)
