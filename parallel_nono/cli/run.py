"""`pnono run`: try every puzzle, write one row for each."""

from __future__ import annotations

import inspect
import os
import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self, TextIO

import typer

from ..batch.options import Option, RunOptions, spelt, table
from ..pictures.door import rendered, say
from .common import complain, counted, say_if_compiling
from .exits import Code, Failure

if TYPE_CHECKING:
    from ..batch.run import RunProgress, RunSummary, Task
    from ..engine.session import Stop
    from ..report.summary import Summary


def run(**chosen: Any) -> None:
    """Try every puzzle in PATHS and write one row for each, whatever happens to it.

    Puzzles that are invalid, out of time or ambiguous are rows like any other. It shows its progress, and at the end
    a summary. Interrupted (Ctrl-C, SIGTERM, SIGHUP), it keeps what is done, and --resume continues; the puzzles of a
    damaged part are solved again.

    \b
    pnono run --workers 8 datasets/
    pnono run puzzles.zip extra/*.non --seconds 10 --out runs/first
    pnono run puzzles.zip extra/*.non --seconds 10 --out runs/first --resume
    pnono run set.parquet --engine ray --workers 16 --format csv
    pnono run huge.parquet --mode lines --workers 8
    pnono run s3://bucket/sets/ --shared-data --engine ray --address auto --workers 64 --out runs/first
    pnono run games.strikeout --set solver=sorted
    pnono run set.parquet --workers 2 --repeat 5 --pin
    pnono run set.parquet --solver default --solver picross-solver --out runs/baselines

    \b
    The results are DIR/rows/*.parquet (pyarrow, DuckDB, Polars, pandas read them all at once), DIR/run.json.
    Exit codes: 0 every puzzle has its row; 3 not one of them could be read;
    69 the engine or a program of --solver can't work here;
    70 a puzzle crashed, the checker rejected a solution, or --repeat found another verdict (our bug; the puzzle is
    in DIR);
    74 results can't be written, or another run is writing there;
    129 SIGHUP (the terminal went away); 130 Ctrl-C; 143 SIGTERM.
    """
    from ..batch.run import tasks_of
    from ..engine import EngineError

    quiet = chosen.pop("quiet")
    options = RunOptions(**{name: value for name, value in chosen.items() if value is not None})
    stdout = sys.stdout  # as long as Ray is up, sys.stdout is a log file
    try:
        tasks = tasks_of(options)
    except EngineError as error:
        raise Failure(Code.UNAVAILABLE, str(error)) from error
    failed = Code.FINE
    for task in tasks:
        code, found = _tried(task, quiet)
        if not quiet:
            show(found.out, found.summary, stdout)
        if code:
            out = options.out or Path("runs") / (options.name or found.out.name)
            complain(f"interrupted; go on with: {_hint(out)}")
            raise typer.Exit(code)
        failed = failed or _judged(found, options.paths)
    if len(tasks) > 1 and not quiet:
        first, *others = (shlex.quote(str(task.out)) for task in tasks)
        say("", *(f"  pnono compare {first} {other}" for other in others), file=stdout, flush=True)
    if failed:
        raise typer.Exit(failed)


QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")]
"""The one option that is the command line's alone."""


def parameters() -> list[inspect.Parameter]:
    """The parameters of `run`: those of the table, and `quiet`."""
    found = [_parameter(option) for option in table()]
    quiet = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=QUIET)
    return [*found[:-1], quiet, found[-1]]


def _parameter(option: Option) -> inspect.Parameter:
    """An option as typer wants it."""
    about, kind, default = option.about, option.kind, option.default
    keyword: dict[str, Any] = {"help": about.help, "metavar": about.metavar or None}
    if option.name == "paths":
        where = typer.Argument(**keyword)
        return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[list[str], where])
    if about.least is not None:
        keyword["min"] = about.least if kind is float else int(about.least)
    if about.most is not None:
        keyword["max"] = int(about.most)
    name = spelt(option.name)
    names = (f"{name}/--no-{name[2:]}",) if about.off else (name, *([f"-{about.short}"] if about.short else []))
    hints: dict[type, Any] = {tuple: list[str] | None, Path: Path | None}
    hint = hints.get(kind, kind)
    default = None if kind is tuple else default
    annotation: Any = Annotated[hint, typer.Option(*names, **keyword)]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


run.__signature__ = inspect.Signature(parameters())  # type: ignore[attr-defined]
run.__annotations__ = {each.name: each.annotation for each in parameters()}


def _tried(task: Task, quiet: bool) -> tuple[int, RunSummary]:
    """(0 or the exit code of the signal that ended it, what was found). Errors: Failure."""
    from ..engine import EngineError
    from ..engine.session import Stop
    from ..engine.work import RejectedPuzzle
    from ..report.parquet import OutputError

    if not quiet:
        say_if_compiling(elsewhere=task.kind.compiled if task.options.engine == "ray" else None)
    stop = Stop()
    try:
        with Signals(stop) as signals, Display(quiet) as display:
            found = task.run(display.show, stop, display.notice)
    except RejectedPuzzle as error:
        raise Failure(Code.BUG, f"{error}; please report it with {error.path}, which holds the puzzle") from error
    except OutputError as error:
        raise Failure(Code.UNWRITABLE if error.writing else Code.USAGE, str(error)) from error
    except EngineError as error:
        raise Failure(Code.UNAVAILABLE, str(error)) from error
    return signals.code, found


class Display(ExitStack):
    """The progress of a run on standard error, from the first rows until something else is to be said there."""

    def __init__(self, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet
        self._show: Callable[..., None] | None = None

    def show(self, progress: RunProgress) -> None:
        if self._show is None:
            from ..report.progress import Progress

            self._show = self.enter_context(Progress(self._quiet)).show
        self._show(*progress)

    def notice(self, text: str) -> None:
        """One line."""
        self.close()
        self._show = None
        complain(text)


def _judged(found: RunSummary, paths: tuple[str, ...]) -> Code:
    """The exit code of a run that was not interrupted; says why it is not 0."""
    if found.n_crashed:
        crashed, rows = counted(found.n_crashed, found.summary.noun), found.out / "rows"
        complain(f"{crashed} crashed: a fault of pnono; please report it with the column `error` of {rows}")
        return Code.BUG
    if found.is_unread:
        if not found.n_rows:
            complain(f"no {found.summary.noun}s in {' '.join(paths)}")
        return Code.INVALID
    return Code.FINE


def show(out: Path, summary: Summary, file: TextIO) -> None:
    """Print the summary of the results in `out`."""
    from ..pictures.door import console as opened
    from ..report.parquet import read_facts, sessions
    from ..report.summary import render

    console = opened(file)
    with console.capture() as text:  # rich would end the process with a code of its own if the reader goes away
        render(console, summary, sessions(out), read_facts(out), out)
    rendered(text.get(), file)


def _hint(out: Path) -> str:
    """The command that goes on with this run."""
    words = ["pnono", *sys.argv[1:]]
    if not any(word.split("=")[0] in ("--out", "--name") for word in words):
        words += ["--out", str(out)]
    return shlex.join([word for word in words if word != "--resume"] + ["--resume"])


class Signals:
    """Ctrl-C, SIGTERM and SIGHUP end a run in order; a second one hurries, a third one ends everything at once.

    code  0, or the exit code that the first signal asks for.
    """

    def __init__(self, stop: Stop) -> None:
        self.code = 0
        self._stop = stop
        self._n = 0
        self._screens: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._screens = [place for place in (1, 2) if os.isatty(place)]
        numbers = [signal.SIGINT, signal.SIGTERM]
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # else it is `nohup`
            numbers.append(signal.SIGHUP)
        for number in numbers:
            self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        if self.code and not self._stop.ended:
            # What was done is on disk; a worker that does not hear the stop must not keep us.
            complain("interrupted; go on with --resume")
            self._end()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, _: object) -> None:
        self._n += 1
        self.code = self.code or 128 + number
        self._stop.asked.set()
        if self.code == Code.HUNG_UP:
            for place in self._screens:  # writing to a terminal that is gone is an error
                os.dup2(os.open(os.devnull, os.O_WRONLY), place)
        if self._n == 2:
            self._stop.hurry.set()
        elif self._n > 2:
            self._end()

    def _end(self) -> NoReturn:
        leave(self.code)


def leave(code: int) -> NoReturn:
    """End this process now, and leave no process that it started behind."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            child.kill()
    os._exit(code)
