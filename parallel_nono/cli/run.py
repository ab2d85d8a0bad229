"""`pnono run`: try every puzzle, write one row for each."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self, TextIO

import typer

from ..attempt import Outcome
from ..pictures.door import rendered, say
from .common import (
    Device,
    DeviceName,
    KindName,
    KindOptions,
    Memory,
    Order,
    OrderName,
    check_mode,
    check_paths,
    complain,
    counted,
    known_kind,
    parse_plan,
    say_if_compiling,
)
from .draw import draw_run
from .exits import Code, Failure
from .solvers import Contender, contenders

if TYPE_CHECKING:
    import pyarrow as pa

    from ..attempt import Limits
    from ..engine.feed import Feed
    from ..engine.inputs import Inputs
    from ..engine.session import Session
    from ..kinds import Kind
    from ..report.parquet import Writer
    from ..report.progress import Progress
    from ..report.summary import Summary


class EngineName(StrEnum):
    """Where to run."""

    AUTO = "auto"
    LOCAL = "local"
    RAY = "ray"


class Mode(StrEnum):
    """What workers share out."""

    AUTO = "auto"
    PUZZLES = "puzzles"
    LINES = "lines"


class RowFormat(StrEnum):
    """Parquet is always written; the others are one file more."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


def run(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATHS...", help="Files, folders, archives, globs, s3://... and the like, -.")
    ],
    workers: Annotated[int, typer.Option(min=1, max=4096, help="Puzzles at a time; may exceed the cores.")] = 1,
    engine: Annotated[EngineName, typer.Option(help="local: threads; ray: processes; auto: Ray if it pays.")] = (
        EngineName.AUTO
    ),
    mode: Annotated[
        Mode, typer.Option(help="puzzles: one to each worker; lines: those of one puzzle to all; auto: as it pays.")
    ] = Mode.AUTO,
    device: DeviceName = Device.CPU,
    order: OrderName = Order.SWEEP,
    address: Annotated[
        str, typer.Option(metavar="HOST:PORT|auto", help="Use the Ray cluster there; auto: the one of this machine.")
    ] = "",
    insecure: Annotated[bool, typer.Option("--insecure", help="Use it even without token authentication.")] = False,
    shared_data: Annotated[
        bool, typer.Option("--shared-data", help="Workers open PATHS themselves; else their bytes are sent.")
    ] = False,
    kind: KindName = "",
    option: KindOptions = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the results, else runs/NAME.")] = None,
    name: Annotated[str, typer.Option(help="Name of the run; made of the time and PATHS if not given.")] = "",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in DIR, with the same options; begin it if it is new.")
    ] = False,
    row_format: Annotated[
        RowFormat, typer.Option("--format", help="Besides Parquet, write DIR/rows.csv or DIR/rows.jsonl at the end.")
    ] = RowFormat.PARQUET,
    plan: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Stages to run: a plan by its name, or a TOML file.")
    ] = "default",
    solver: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Solve with this plan or program (configs/solvers) instead; several: in turn, each into DIR/NAME.",
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.001, help="Time for one puzzle.")] = 60.0,
    memory: Memory = 4096,
    solutions: Annotated[
        int, typer.Option(min=1, help="Stop at this many solutions; 1 does not ask if it is unique.")
    ] = 2,
    count: Annotated[int, typer.Option(min=0, metavar="CAP", help="Count the solutions, up to CAP.")] = 0,
    store_solutions: Annotated[bool, typer.Option(help="Keep the first two solutions in the rows.")] = True,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="At the end, draw every solution into DIR/pictures/*.png.")
    ] = False,
    repeat: Annotated[int, typer.Option(min=1, max=1000, help="Solve every puzzle so often; see `median_s`.")] = 1,
    pin: Annotated[bool, typer.Option("--pin", help="Bind every worker to a core of its own.")] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Run a calibration on every worker; --pin and --repeat do so too.")
    ] = False,
    worker_parts: Annotated[
        bool,
        typer.Option("--worker-parts", help="Workers of Ray write their rows into DIR, which all hosts must share."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Also show what each worker is at, here and in `pnono serve`.")
    ] = False,
) -> None:
    """Try every puzzle in PATHS and write one row for each, whatever happens to it.

    Puzzles that are invalid, out of time or ambiguous are rows like all others. While it runs it shows how far it
    is; at the end what was found. Interrupted (Ctrl-C, SIGTERM, SIGHUP) it keeps what is done, and --resume goes on;
    what lay in a damaged part is solved again.

    \b
    pnono run --workers 8 datasets/
    pnono run puzzles.zip extra/*.non --seconds 10 --out runs/first
    pnono run puzzles.zip extra/*.non --seconds 10 --out runs/first --resume
    pnono run set.parquet --engine ray --workers 16 --format csv
    pnono run huge.parquet --mode lines --workers 8
    pnono run s3://bucket/sets/ --shared-data --engine ray --address auto --workers 64 --out runs/first
    pnono run games.strikeout --set solver=sorted
    pnono run set.parquet --workers 2 --repeat 5 --pin
    pnono run set.parquet --solver default --solver picross-solver --out runs/rivals

    \b
    The results are DIR/rows/*.parquet (pyarrow, DuckDB, Polars, pandas read them all at once), DIR/run.json.
    Exit codes: 0 every puzzle has its row; 3 not one of them could be read;
    69 the engine or a program of --solver can't work here;
    70 a puzzle crashed, the checker rejected a solution, or --repeat found another verdict (our bug; the puzzle is
    in DIR);
    74 results can't be written, or another run is writing there;
    129 SIGHUP (the terminal went away); 130 Ctrl-C; 143 SIGTERM.
    """
    from ..attempt import Limits
    from ..files.containers import readable

    if resume and not (out or name):
        raise Failure(Code.USAGE, "--resume: expected --out DIR or --name NAME of the run to go on with")
    if device is Device.CUDA:
        order = Order.ROUNDS  # the only one that it knows
    limits = Limits(seconds, solutions, count, parse_plan(plan), order=order.value, memory_mib=memory)
    check_mode(mode is Mode.LINES, device, order)
    of_kind = known_kind(kind, paths, option or [])
    if mode is Mode.LINES and of_kind.name != "nonogram":
        raise Failure(Code.USAGE, f"--mode lines: expected nonograms, found the kind {of_kind.name}")
    if pin or repeat > 1:
        mode = _for_timing(mode, workers if pin and not address else 0)
    if pictures:
        _check_pictures(of_kind.name, paths, store_solutions)
    name = readable(name or (out.name if out else _name(paths)))
    out = out or Path("runs") / name
    stdout = sys.stdout  # as long as Ray is up, sys.stdout is a log file
    tried = contenders(solver or [], plan, of_kind, limits)
    if mode is Mode.LINES and any(contender.definition for contender in tried):
        raise Failure(Code.USAGE, "--mode lines: expected one of our plans, found a program of --solver")
    if len(tried) > 1 and "-" in paths:
        raise Failure(Code.USAGE, "--solver: expected files, which each solver reads again, found standard input")
    check_paths(paths, of_kind.claims)
    failed = Code.FINE
    for contender in tried:
        several = len(tried) > 1
        folder = out / contender.name if several else out
        code, summary = _record(
            Options(
                paths=paths,
                kind=contender.kind,
                settings=option or [],
                workers=workers,
                engine=engine.value,
                address=address,
                insecure=insecure,
                out=folder,
                name=f"{name}-{contender.name}" if several else name,
                resume=resume and folder.exists(),
                limits=contender.limits,
                store_solutions=store_solutions,
                quiet=quiet,
                contender=contender,
                repeat=repeat,
                pin=pin,
                calibrate=calibrate or pin or repeat > 1,
                live=live,
                mode=Mode.PUZZLES.value if contender.definition else mode.value,
                device=device.value,
                worker_parts=worker_parts,
                shared_data=shared_data,
            )
        )
        if row_format is not RowFormat.PARQUET and not code:
            _export(folder, row_format.value)
        if pictures and not code:
            draw_run(folder, paths, limits)
        if not quiet:
            show(folder, summary, stdout)
        if code:
            complain(f"interrupted; go on with: {_hint(out)}")
            raise typer.Exit(code)
        failed = failed or _judged(summary, paths, folder, ours=not contender.definition)
    if len(tried) > 1 and not quiet:
        first, *others = (shlex.quote(str(out / contender.name)) for contender in tried)
        say("", *(f"  pnono compare {first} {other}" for other in others), file=stdout, flush=True)
    if failed:
        raise typer.Exit(failed)


def _judged(summary: Summary, paths: list[str], out: Path, ours: bool) -> Code:
    """The exit code of a run that was not interrupted; says why it is not 0.

    ours  False: a program of somebody else solved, and if it crashes, that is what was to be found out.
    """
    outcomes = summary.outcomes()
    if ours and (n := outcomes.get(Outcome.CRASHED, 0)):
        crashed = counted(n, summary.noun)
        complain(f"{crashed} crashed: a fault of pnono; please report it with the column `error` of {out / 'rows'}")
        return Code.BUG
    if outcomes.get(Outcome.INVALID, 0) == summary.n_rows:
        if not summary.n_rows:
            complain(f"no {summary.noun}s in {' '.join(paths)}")
        return Code.INVALID
    return Code.FINE


def _for_timing(mode: Mode, pinned: int) -> Mode:
    """The mode of a run whose times are to be compared: puzzles, each by one worker. Errors: Failure."""
    from ..engine import EngineError
    from ..engine.timing import pinnable

    if mode is Mode.LINES:
        raise Failure(Code.USAGE, "--pin, --repeat: expected --mode puzzles, in which one worker solves a puzzle")
    try:
        if pinned > (cores := len(pinnable())):
            raise Failure(Code.USAGE, f"--pin: expected at most {cores} workers, a core for each, found {pinned}")
    except EngineError as error:
        raise Failure(Code.USAGE, str(error)) from error
    return Mode.PUZZLES


def _check_pictures(kind: str, paths: list[str], store_solutions: bool) -> None:
    """Errors: Failure if there would be nothing to draw, or nothing to draw it from."""
    if kind != "nonogram":
        raise Failure(Code.USAGE, f"--pictures: expected nonograms, found the kind {kind}")
    if "-" in paths:
        raise Failure(Code.USAGE, "--pictures: expected files, which are read again, found standard input")
    if not store_solutions:
        raise Failure(Code.USAGE, "--pictures: expected --store-solutions, found --no-store-solutions")


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, understood."""

    paths: list[str]
    kind: Kind
    settings: list[str]
    workers: int
    engine: str
    address: str
    insecure: bool
    out: Path
    name: str
    resume: bool
    limits: Limits
    store_solutions: bool
    quiet: bool
    contender: Contender | None = None
    live: bool = False
    mode: str = "auto"
    device: str = "cpu"
    repeat: int = 1
    pin: bool = False
    calibrate: bool = False
    worker_parts: bool = False
    shared_data: bool = False

    def of_rows(self) -> dict[str, Any]:
        """Those that decide the rows; a run is resumed with the same."""
        from ..files.containers import readable

        settings: dict[str, Any] = {"set": sorted(self.settings)} if self.settings else {}
        if self.contender and self.contender.definition:
            settings["solver"] = self.contender.definition
        if self.repeat > 1:
            settings["repeat"] = self.repeat
        if self.limits.order != Order.SWEEP:  # runs of before there was a choice have none
            settings["order"] = self.limits.order
        return {
            "kind": self.kind.name,
            **settings,
            "inputs": [readable(path) for path in self.paths],
            "seconds": self.limits.seconds,
            "solutions": self.limits.solutions,
            "count": self.limits.count,
            "plan": asdict(self.limits.plan),
            "memory_mib": self.limits.memory_mib,
            "store_solutions": self.store_solutions,
        }


def _record(options: Options) -> tuple[int, Summary]:
    """The run itself; returns 0, or the exit code of the signal that ended it, and what was found.

    Errors: Failure.
    """
    import platform
    from datetime import UTC, datetime

    from ..batch.modes import rows as made
    from ..engine import EngineError
    from ..engine.feed import Feed
    from ..engine.hostinfo import commit, here
    from ..engine.inputs import Inputs
    from ..engine.session import Pool, Session
    from ..engine.work import RejectedSolution, Work
    from ..report.compact import upkeep
    from ..report.parquet import Keys, OutputError, Writer, mend
    from ..report.parts import strays
    from ..report.progress import Progress
    from ..report.summary import Summary

    if not options.quiet:
        say_if_compiling(elsewhere=options.kind.compiled if options.engine == "ray" else None)
    started = datetime.now(UTC).isoformat()
    facts = {"run": options.name, "started": started, **here(), "commit": commit()}
    facts["noun"] = options.kind.noun
    if options.contender and options.contender.facts:
        facts["solver"] = options.contender.facts
    session = Session(Pool(options.workers, options.address, options.insecure, options.device))
    session.hosts[platform.node()] = here()
    try:
        if options.resume:
            for word in (*mend(options.out), *strays(options.out)):
                complain(word)
            upkeep(options.out)
        with (
            Signals(session) as signals,
            Writer(options.out, options.of_rows(), facts, platform.node(), options.resume) as writer,
        ):
            label = options.contender.label if options.contender else ""
            work = Work(
                options.kind,
                options.limits,
                writer.facts["run"],
                options.store_solutions,
                solver=label,
                repeat=options.repeat,
                pin=options.pin,
                calibrate=options.calibrate,
                parts=writer.invite() if options.worker_parts else None,
            )
            inputs = Inputs(options.paths, work, Keys(options.out) if options.resume else None, options.shared_data)
            feed = Feed(iter(inputs), options.workers, inputs.unread, work.lease_s)
            summary = Summary.of(options.out) if options.resume else Summary(options.kind.noun)
            writer.session |= {"started": started, "workers": options.workers, "mode": options.mode}
            writer.session |= {"order": options.limits.order, "device": options.device}
            writer.hosts = session.hosts
            try:
                progress = Progress(options.quiet, session.status if options.live else None, options.out)
                _write(
                    made(options.engine, options.mode, work, feed, session),
                    feed,
                    session,
                    inputs,
                    writer,
                    summary,
                    progress,
                )
            except RejectedSolution as error:
                path = writer.reject(error.puzzle)
                raise Failure(Code.BUG, f"{error}; please report it with {path}, which holds the puzzle") from error
    except OutputError as error:
        raise Failure(Code.UNWRITABLE if error.writing else Code.USAGE, str(error)) from error
    except EngineError as error:
        raise Failure(Code.UNAVAILABLE, str(error)) from error
    if not signals.code:
        try:
            upkeep(options.out)
        except OutputError as error:  # the rows are all there
            complain(error)
    return signals.code, summary


def _write(
    batches: Iterator[pa.RecordBatch],
    feed: Feed,
    session: Session,
    inputs: Inputs,
    writer: Writer,
    summary: Summary,
    progress: Progress,
) -> None:
    """Rows to disk, to the summary and to the screen, until there are no more."""
    with closing(batches), progress:  # type: ignore[type-var]
        for rows in batches:
            writer.session |= {"engine": session.engine, "why": session.why}
            writer.session |= {"skipped": inputs.skipped, "n_skipped": inputs.n_skipped}
            writer.write(rows)
            if rows.num_rows:
                summary.add(rows)
            left = feed.remaining()
            progress.show(summary, left and (left.puzzles, left.seconds / session.pool.workers))


def _export(out: Path, row_format: str) -> None:
    from ..report.parquet import OutputError, export

    try:
        export(out, row_format)
    except OutputError as error:
        raise Failure(Code.UNWRITABLE, str(error)) from error


def show(out: Path, summary: Summary, file: TextIO) -> None:
    """Print the summary of the results in `out`."""
    from ..pictures.door import console as opened
    from ..report.parquet import read_facts, sessions
    from ..report.summary import render

    console = opened(file)
    with console.capture() as text:  # rich would end the process with a code of its own if the reader goes away
        render(console, summary, sessions(out), read_facts(out), out)
    rendered(text.get(), file)


def _name(paths: list[str]) -> str:
    """The time and the inputs: `20260131-235959-datasets`."""
    words = [re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(path).name.split(".")[0] or "stdin").strip("-") for path in paths]
    return "-".join([time.strftime("%Y%m%d-%H%M%S"), *[word for word in words if word][:3]])


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

    def __init__(self, session: Session) -> None:
        self.code = 0
        self._session = session
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
        if self.code and not self._session.stop.ended:
            # What was done is on disk; a worker that does not hear the stop must not keep us.
            complain("interrupted; go on with --resume")
            self._end()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, _: object) -> None:
        self._n += 1
        self.code = self.code or 128 + number
        self._session.stop.asked.set()
        if self.code == Code.HUNG_UP:
            for place in self._screens:  # writing to a terminal that is gone is an error
                os.dup2(os.open(os.devnull, os.O_WRONLY), place)
        if self._n == 2:
            self._session.stop.hurry.set()
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
