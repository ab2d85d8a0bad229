"""What several commands share: reading puzzles, the plan, colours or not, and waiting that Ctrl-C can end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..batch.options import Device, InvalidOption, Order, table
from ..pictures.door import say
from . import debug
from .exits import Code, Failure

if TYPE_CHECKING:
    from ..attempt import Plan
    from ..files.containers import Claims, Skipped, Source
    from ..formats import Format
    from ..kinds import Kind
    from ..puzzle import InvalidPuzzle, Puzzle


class When(StrEnum):
    """When to use colours."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


Colours = Annotated[When, typer.Option("--colour", "--color", help="Colours in the terminal; auto respects NO_COLOR.")]


HELP = {each.name: each.about.help for each in table()}
OrderName = Annotated[Order, typer.Option("--order", help=HELP["order"])]
DeviceName = Annotated[Device, typer.Option("--device", help=HELP["device"])]
FormatName = Annotated[
    str, typer.Option("--format", metavar="NAME", help="Format of the input (see `pnono formats`); else recognised.")
]
KindName = Annotated[str, typer.Option("--kind", metavar="NAME", help=HELP["kind"])]
KindOptions = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=HELP["set"])]
CpuSeconds = Annotated[float, typer.Option(min=0.0, help=HELP["cpu_seconds"])]
Memory = Annotated[int, typer.Option(min=16, metavar="MIB", help=HELP["memory"])]
Number = Annotated[int, typer.Option(min=0, help="Only this puzzle of its file, from 1; 0 takes all.")]


def parse_plan(name: str) -> Plan:
    """The plan that `--plan` names."""
    from ..solver.plans import InvalidPlan, load_plan

    try:
        return load_plan(name)
    except InvalidPlan as error:
        raise Failure(Code.USAGE, f"--plan: {error}") from error


def known_kind(name: str, paths: Sequence[str], options: Sequence[str]) -> Kind:
    """The kind that `--kind` or the endings of files name, told what `--set` says."""
    from ..batch.options import InvalidOption
    from ..batch.solvers import chosen_kind

    try:
        return chosen_kind(name, paths, options)
    except InvalidOption as error:
        raise failure_of(error) from error


def settings(options: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` of every `--set`."""
    from ..batch.options import InvalidOption
    from ..batch.solvers import settings_of

    try:
        return settings_of(options)
    except InvalidOption as error:
        raise failure_of(error) from error


def failure_of(error: InvalidOption) -> Failure:
    """A mistake in options as the command line says it."""
    from ..batch.options import spelt

    return Failure(Code.USAGE, ": ".join([*filter(None, [", ".join(map(spelt, error.options))]), error.message]))


def known_format(name: str, option: str) -> Format:
    """The format that an option names."""
    from ..formats import format_named
    from ..puzzle import InvalidPuzzle

    try:
        return format_named(name)
    except InvalidPuzzle as error:
        raise Failure(Code.USAGE, f"{option}: {error}") from error


def check_paths(paths: Sequence[str], claims: Claims | None = None, nouns: str = "puzzles") -> None:
    """See `files.presence.check`. Errors: Failure."""
    from ..files.presence import NothingThere, check

    try:
        check(paths, claims, nouns)
    except NothingThere as error:
        raise Failure(Code.USAGE, str(error)) from error


def files(paths: Sequence[str]) -> Iterator[Source]:
    """The files under PATHS, those that are passed by for what they are named. Errors: Failure as `check_paths`."""
    from ..files import packing
    from ..files.containers import sources

    check_paths(paths)
    packing.Share.told = say_reading
    yield from sources(paths, say_skipped)


def say_skipped(name: Skipped) -> None:
    """One line for a file that is passed by for what it is, none for one that just holds no puzzles."""
    if name.why:
        complain(f"{name}: skipped: {name.why}")


def say_reading(name: str, n_bytes: int, seconds: float) -> None:
    """One line for a file that takes long to read."""
    complain(f"reading {name}: {n_bytes >> 20:,} MiB in {seconds:.0f} s")


def puzzles(
    source: str, format_name: str = "", number: int = 0, seconds: float | None = None
) -> Iterator[Puzzle | InvalidPuzzle]:
    """The puzzles of a file, a folder, an archive or `-`, broken ones in their places; only the `number`th if not 0.

    seconds  that a puzzle may take, of which reading has its share; None: as usual.
    Errors   Failure, at once, if there is nothing to read; later for a number that there isn't.
    """
    from ..files import packing

    if format_name:
        known_format(format_name, "--format")
    check_paths([source])
    if seconds is not None:
        packing.Share.of(seconds)
    packing.Share.told = say_reading
    return _puzzles(source, format_name, number)


def _puzzles(source: str, format_name: str, number: int) -> Iterator[Puzzle | InvalidPuzzle]:
    from ..files.reading import read

    last = 0
    for puzzle in read(source, format_name or None, errors="yield", skipped=say_skipped):
        last = puzzle.index
        if number in (0, last) or not last:  # 0: what can't be read at all
            yield puzzle
        if number == last or not last:
            return
    if number:
        raise Failure(Code.USAGE, f"{source}: expected a puzzle number from 1 to {last}, found {number}")


def standard_input() -> Any:
    """Errors: Failure if whoever started us has closed it."""
    if sys.stdin is None:
        raise Failure(Code.INVALID, "-: expected standard input, found it closed")
    return sys.stdin


def coloured(when: When) -> bool:
    """Whether standard output gets colours: https://no-color.org and a terminal that has them."""
    if when is When.AUTO:
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return when is When.ALWAYS


def width() -> int:
    """Characters to a line of the terminal; 0, without a limit, where the output is not one."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def counted(n: int, noun: str, plural: str = "s") -> str:
    """`1 puzzle`, `2 puzzles`."""
    return f"{n:,} {noun}{'' if n == 1 else plural}"


def complain(message: object) -> None:
    """One line on stderr, in order with what stands on stdout."""
    sys.stdout.flush()
    say(f"pnono: {message}", file=sys.stderr, flush=True)


def say_if_compiling(elsewhere: str | None = None) -> None:
    """Explain the seconds that the first puzzle of its kind on a machine takes, when they begin; and what was amiss
    with the compiled code of earlier starts.

    elsewhere  other processes compile, so it is said at once if this kernel (`Kind.compiled`) never was here.
    """
    from ..kernels import is_compiled, when_compiling
    from ..kernels.cache import drop_damaged, when_told

    def say_so() -> None:
        complain("compiling the solver: some seconds, only this first time")

    when_told(complain)
    if debug.wanted:
        from ..kernels.warm import where

        complain(f"machine code: {where()}")
    if elsewhere is None:
        when_compiling(say_so)
        return
    drop_damaged()  # each of the other processes would find it, and none of them could say so
    if not is_compiled(elsewhere):
        say_so()
