"""`pnono watch`: the grid filling in, step by step."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ..engine.waiting import patiently
from ..pictures.door import say, show
from .common import (
    Colours,
    FormatName,
    When,
    coloured,
    complain,
    counted,
    parse_plan,
    puzzles,
    say_if_compiling,
)
from .exits import Code
from .showing import Showing, sentence

if TYPE_CHECKING:
    from ..attempt import Limits
    from ..puzzle import Puzzle


class Every(StrEnum):
    """What is shown at once."""

    LINE = "line"
    ROUND = "round"


def watch(
    source: Annotated[str, typer.Argument(metavar="FILE", help="File of puzzles, or - for standard input.")],
    number: Annotated[int, typer.Option(min=0, help="Which puzzle of its file, from 1; 0: the first.")] = 0,
    every: Annotated[Every, typer.Option(help="A step is a line, or a round of lines.")] = Every.LINE,
    speed: Annotated[float, typer.Option(min=0.1, max=1000.0, help="Steps a second at the start.")] = 8.0,
    paused: Annotated[bool, typer.Option("--paused", help="Start paused.")] = False,
    plan: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Stages to run: the name of a plan, or a TOML file.")
    ] = "default",
    seconds: Annotated[float, typer.Option(min=0.0, help="Time to find the solution.")] = 60.0,
    clues: Annotated[bool, typer.Option(help="Show the clues, if there is room.")] = True,
    colour: Colours = When.AUTO,
    format_name: FormatName = "",
) -> None:
    """Watch a puzzle being solved: line by line in rounds, as people do; where lines stall, by probing cells.

    Keys: space plays and pauses; right and left (or n and b) go one step forward and back; + and - change the speed;
    r: by line, by round; z: larger, smaller, with clues; arrows up and down and h, l move a grid that does not fit;
    Home and End; q or Ctrl-C ends it. What only a search can tell comes last, at once. Over a pipe each step is a line
    of text, and the grid comes at the end.

    \b
    pnono watch hook.non
    pnono watch set.xml --number 3 --every round --speed 2
    pnono watch hook.non | less

    \b
    Exit codes: 0 it was shown; 3 the file can't be read.
    """
    from ..attempt import Limits
    from ..puzzle import InvalidPuzzle

    puzzle = next(puzzles(source, format_name, number, seconds))
    if isinstance(puzzle, InvalidPuzzle):
        complain(puzzle)
        raise typer.Exit(Code.INVALID)
    limits = Limits(seconds, plan=parse_plan(plan))
    by_round = every is Every.ROUND
    if _is_interactive(source):
        from .screen import Watcher

        screen = Watcher(puzzle, limits, by_round, speed, paused, clues, coloured(colour))
        screen.run()
        if screen.failure is not None:
            raise screen.failure
        if screen.result is not None:
            say(f"{_title(puzzle)}: {sentence(screen.result)}")
    else:
        say_if_compiling()
        _lines(puzzle, limits, by_round, coloured(colour), clues)


def _is_interactive(source: str) -> bool:
    """Whether there is a screen to show it on, and keys to hear."""
    has_keys = sys.stdin is not None and sys.stdin.isatty()
    return sys.stdout.isatty() and has_keys and source != "-" and os.environ.get("TERM") != "dumb"


def _title(puzzle: Puzzle) -> str:
    from ..pictures.door import printable

    return printable(puzzle.name or f"{puzzle.source} #{puzzle.index}")


def _lines(puzzle: Puzzle, limits: Limits, by_round: bool, paint: bool, clues: bool) -> None:
    """Each step as a line of text, then the grid and the verdict."""
    from ..pictures.film import described
    from ..pictures.terminal import colour_picture, text_picture

    showing = Showing(puzzle, limits)
    say(f"{_title(puzzle)}: {puzzle.height} x {puzzle.width}, {puzzle.n_colours} colours", flush=True)
    film = showing.film

    def tell() -> None:
        while taken := film.forward(by_round):
            show(described(puzzle, taken, counted), flush=True)

    try:
        patiently(film.wait)
        tell()
        result = patiently(showing.wait)
        showing.told()
        tell()
    finally:
        showing.stop()
    picture = colour_picture if paint else text_picture
    show(picture(puzzle, film.cells.tolist(), width=0, clues=clues))
    say(sentence(result))
