"""The batch run as a call: every puzzle tried, a row for each in a folder of results.

`tasks_of` understands the options; a task is one solver and one folder. `Task.run` is the run itself: inputs and feed,
an engine of the mode, a writer, a summary. Who shows it and who stops it is the caller's matter.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..attempt import Limits, Outcome
from ..engine.session import Following, Pool, Session, Stop
from .options import Device, InvalidOption, Mode, Order, RowFormat, RunOptions, check_mode
from .solvers import Solver, chosen_kind, chosen_plan, solvers_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ..engine.feed import Feed
    from ..kinds import Kind
    from ..report.live import Seen
    from ..report.parquet import Writer
    from ..report.run import Run
    from ..report.summary import Summary

Notice = Callable[[str], None]

READING_S = 0.5
"""So long the end of a run waits for whoever reads: standard input may stay silent for ever."""


class RunProgress(NamedTuple):
    """How far a run is.

    summary  of the rows so far.
    left     about how many puzzles and how many wall seconds are still to do; None where nobody knows.
    workers  what each is doing; only with the option `live`.

    >>> from parallel_nono import RunProgress
    >>> def show(progress: RunProgress) -> None:
    ...     print(progress.summary.n_rows, "puzzles")
    """

    summary: Summary
    left: tuple[float, float] | None
    workers: list[Seen]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run found.

    out       the folder of its results.
    summary   counts and times of its rows, those of earlier sessions too.
    stopped   it was stopped before its end; the same options with `resume` go on.
    ours      False: another program solved.

    >>> import tempfile
    >>> from parallel_nono import RunOptions, run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = run(RunOptions("datasets/icon.non", out=f"{folder}/first"))
    >>> found.outcomes, found.stopped
    ({'unique': 1}, False)
    """

    out: Path
    summary: Summary
    stopped: bool
    ours: bool

    @property
    def outcomes(self) -> dict[str, int]:
        """Rows of each outcome that occurs, in the order of the closed list."""
        return self.summary.outcomes()

    @property
    def n_rows(self) -> int:
        return self.summary.n_rows

    @property
    def n_crashed(self) -> int:
        """Rows that are a fault of ours."""
        return self.outcomes.get(Outcome.CRASHED, 0) if self.ours else 0

    @property
    def is_unread(self) -> bool:
        """True when not one puzzle could be read."""
        return self.outcomes.get(Outcome.INVALID, 0) == self.n_rows

    def open(self) -> Run:
        """The results."""
        from ..report.run import Run

        return Run(self.out)


def run(
    options: RunOptions,
    *,
    progress: Callable[[RunProgress], object] | None = None,
    stop: Stop | None = None,
    notice: Notice | None = None,
) -> RunSummary:
    """Try every puzzle and write a row for each, whatever happens to it; see `RunOptions`.

    progress  is called several times a second.
    stop      `stop.asked.set()`, by any thread, ends the run in order; what is done is kept.
    notice    gets sentences about what is unusual (a damaged part put aside, files that no part of a run are).
    Errors    InvalidOption; EngineError where the engine or a program can't work; OutputError where results can't be
              written; RejectedSolution, our bug, with the puzzle in the folder (`path`).

    >>> import tempfile
    >>> from parallel_nono import RunOptions, run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = run(RunOptions("datasets/icon.non", out=f"{folder}/first"))
    >>> found.n_rows
    1
    """
    tasks = tasks_of(options)
    if len(tasks) > 1:
        raise InvalidOption("solver", f"expected one solver, found {len(tasks)}; `run_each` runs several in turn")
    return tasks[0].run(progress, stop, notice)


def run_each(
    options: RunOptions,
    *,
    progress: Callable[[RunProgress], object] | None = None,
    stop: Stop | None = None,
    notice: Notice | None = None,
) -> Iterator[RunSummary]:
    """Like `run` for every solver in turn, each with a folder of its own if they are several.

    >>> import tempfile
    >>> from parallel_nono import RunOptions, run_each
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = RunOptions("datasets/icon.non", solver=("default", "lines-only"), out=folder)
    ...     [found.out.name for found in run_each(options)]
    ['default', 'lines-only']
    """
    for task in tasks_of(options):
        found = task.run(progress, stop, notice)
        yield found
        if found.stopped:
            return


@dataclass(frozen=True, slots=True)
class Task:
    """One run: the options, and what they mean.

    out, name  of this run; mode: with what the other options imply.
    """

    options: RunOptions
    kind: Kind
    solver: Solver
    out: Path
    name: str
    mode: Mode
    resume: bool

    @property
    def limits(self) -> Limits:
        return self.solver.limits

    def deciding(self) -> dict[str, Any]:
        """What decides the rows, as run.json has it; a run is resumed with the same."""
        from ..files.containers import readable

        options = self.options
        found: dict[str, Any] = {
            "kind": self.kind.name,
            "inputs": [readable(path) for path in options.paths],
            "seconds": self.limits.seconds,
            "solutions": self.limits.solutions,
            "count": self.limits.count,
            "plan": asdict(self.limits.plan),
            "memory_mib": self.limits.memory_mib,
            "store_solutions": options.store_solutions,
        }
        # What is as it always was is left out, so that runs of before there was a choice go on.
        if options.set:
            found["set"] = sorted(options.set)
        if self.solver.definition:
            found["solver"] = self.solver.definition
        if options.repeat > 1:
            found["repeat"] = options.repeat
        if self.limits.cpu_seconds:
            found["cpu_seconds"] = self.limits.cpu_seconds
        if self.limits.order != Order.SWEEP:
            found["order"] = self.limits.order
        return found

    def run(
        self,
        progress: Callable[[RunProgress], object] | None = None,
        stop: Stop | None = None,
        notice: Notice | None = None,
    ) -> RunSummary:
        """See `run`."""
        from ..engine.hostinfo import commit, here
        from ..engine.timeline import Timeline, place_of
        from ..engine.work import RejectedPuzzle
        from ..kernels.native import waits
        from ..report.compact import upkeep
        from ..report.parquet import OutputError, Writer, export, mend
        from ..report.parts import strays

        options, out, said = self.options, self.out, notice or (lambda text: None)
        stop = stop or Stop()
        started, machine = datetime.now(UTC).isoformat(), here()
        facts = {"run": self.name, "started": started, **machine, "commit": commit(), "noun": self.kind.noun}
        if self.solver.facts:
            facts["solver"] = self.solver.facts
        pool = Pool(options.workers, options.address, options.insecure, options.device)
        # Engines end a run that is done as they end one that is stopped; what the caller asked for stays apart.
        session = Session(pool, Stop(Following(stop.asked), stop.hurry), hosts={platform.node(): machine})
        if self.resume:
            for sentence in (*mend(out), *strays(out)):
                said(sentence)
            upkeep(out)
        with Writer(out, self.deciding(), facts, platform.node(), self.resume) as writer:
            writer.session |= {"started": started, "workers": options.workers, "mode": str(self.mode)}
            writer.session |= {"order": self.limits.order, "device": str(options.device)}
            writer.hosts, waited = session.hosts, waits.seconds
            writer.compiling = lambda: (waits.seconds - waited) / options.workers
            try:
                with ExitStack() as stack:
                    if options.timeline is not None:
                        session.timeline = stack.enter_context(Timeline(options.timeline, started))
                        writer.session["timeline"] = place_of(options.timeline, out)
                    summary, finished = self._rows_to(writer, session, progress)
                if session.timeline is not None and session.timeline.trouble:
                    said(session.timeline.trouble)
            except RejectedPuzzle as error:
                error.path = writer.reject(error.puzzle)
                raise
            finally:
                stop.ended &= session.stop.ended
        if finished:
            try:
                upkeep(out)
            except OutputError as error:  # the rows are all there
                said(str(error))
            if options.format is not RowFormat.PARQUET:
                export(out, options.format)
            if options.pictures:
                from .pictures import draw_run

                draw_run(out, options.paths, self.limits, said, stop.asked)
        return RunSummary(out, summary, not finished, ours=not self.solver.definition)

    def _rows_to(
        self, writer: Writer, session: Session, progress: Callable[[RunProgress], object] | None
    ) -> tuple[Summary, bool]:
        """Rows to disk, to the summary and to who watches; False: there would have been more."""
        from ..engine.feed import Feed
        from ..engine.inputs import Inputs
        from ..engine.work import Work
        from ..report.live import Live
        from ..report.parquet import Keys
        from ..report.summary import Summary
        from ..spans import recording, span
        from .modes import rows

        options = self.options
        work = Work(
            self.kind,
            self.limits,
            writer.facts["run"],
            options.store_solutions,
            solver=self.solver.label,
            repeat=options.repeat,
            pin=options.pin,
            calibrate=options.calibrate or options.pin or options.repeat > 1,
            parts=writer.invite() if options.worker_parts else None,
            timed=options.timeline is not None,
        )
        inputs = Inputs(options.paths, work, Keys(self.out) if self.resume else None, options.shared_data)
        timeline = session.timeline
        told = None if timeline is None else partial(timeline.add, platform.node(), "reader")
        feed = Feed(iter(inputs), options.workers, inputs.unread, work.lease_s, told)
        summary = Summary.of(self.out) if self.resume else Summary(self.kind.noun)
        with ExitStack() as stack:
            stack.callback(_end_reading, feed, session)
            batches: Iterator[pa.RecordBatch] = stack.enter_context(
                closing(rows(options.engine, self.mode, work, feed, session))  # type: ignore[type-var]
            )
            live = stack.enter_context(Live(session.status, self.out)) if options.live else None
            for batch in batches:
                writer.session |= {"engine": session.engine, "why": session.why}
                writer.session |= {"skipped": inputs.skipped, "n_skipped": inputs.n_skipped}
                with recording(timeline is not None) as spans:
                    with span("write", batch.num_rows):
                        writer.write(batch)
                    with span("count", batch.num_rows):
                        summary.add(batch)
                if timeline is not None and batch.num_rows:
                    timeline.add(platform.node(), "writer", spans)
                if progress or live:
                    left = _left(feed, options.workers)
                    seen = live.look(summary, left) if live else []
                    if progress:
                        progress(RunProgress(summary, left, seen))
        if session.estimate is not None and feed.finished:
            left_s, done_s = session.estimate
            needed_s = feed.solved_s * session.pool.work_share - done_s
            writer.session |= {"estimated_s": round(left_s, 3), "needed_s": round(needed_s, 3)}
        return summary, feed.finished


def _end_reading(feed: Feed, session: Session) -> None:
    session.stop.ended &= feed.close(READING_S)


def _left(feed: Feed, workers: int) -> tuple[float, float] | None:
    left = feed.remaining()
    return (left.puzzles, left.seconds / workers) if left else None


def tasks_of(options: RunOptions) -> list[Task]:
    """What the options ask for, one task a solver; programs are tried. Nothing is written.

    Errors   InvalidOption; EngineError for a program that does not work here.
    """
    from ..files.containers import readable
    from ..files.presence import NothingThere, check

    if options.resume and not (options.out or options.name):
        raise InvalidOption("resume", "expected --out DIR or --name NAME of the run to go on with")
    order = Order.ROUNDS if options.device is Device.CUDA else options.order  # the only one that it knows
    limits = Limits(
        seconds=options.seconds,
        cpu_seconds=options.cpu_seconds,
        solutions=options.solutions,
        count=options.count,
        plan=chosen_plan(options.plan),
        order=str(order),
        memory_mib=options.memory,
    )
    check_mode(options.mode is Mode.LINES, options.device, order)
    kind = chosen_kind(options.kind, options.paths, options.set)
    if options.mode is Mode.LINES and not kind.takes_lines:
        raise InvalidOption("mode lines", f"expected nonograms, found the kind {kind.name}")
    mode = _for_timing(options) if options.pin or options.repeat > 1 else options.mode
    if options.pictures:
        _check_pictures(options, kind)
    name = readable(options.name or (options.out.name if options.out else _name(options.paths)))
    out = options.out or Path("runs") / name
    solvers = solvers_of(options.solver, options.plan, kind, limits)
    if mode is Mode.LINES and any(solver.definition for solver in solvers):
        raise InvalidOption("mode lines", "expected one of our plans, found a program of --solver")
    if options.timeline is not None and not (options.timeline.parent.is_dir() or options.timeline.parent == out):
        raise InvalidOption("timeline", f"expected a file in a folder that is there, found {options.timeline}")
    if len(solvers) > 1 and options.timeline is not None:
        raise InvalidOption("timeline", f"expected one solver, found {len(solvers)}: each would need a file of its own")
    if len(solvers) > 1 and "-" in options.paths:
        raise InvalidOption("solver", "expected files, which each solver reads again, found standard input")
    try:
        check(options.paths, kind.claims)
    except NothingThere as error:
        raise InvalidOption((), str(error)) from error
    several = len(solvers) > 1
    tasks = [
        Task(
            options,
            solver.kind,
            solver,
            out / solver.name if several else out,
            f"{name}-{solver.name}" if several else name,
            Mode.PUZZLES if solver.definition else mode,
            options.resume,
        )
        for solver in solvers
    ]
    return [replace(task, resume=options.resume and task.out.exists()) for task in tasks]


def _for_timing(options: RunOptions) -> Mode:
    """The mode of a run whose times are to be compared: puzzles, each by one worker. Errors: InvalidOption."""
    from ..engine import EngineError
    from ..engine.timing import pinnable

    if options.mode is Mode.LINES:
        raise InvalidOption(("pin", "repeat"), "expected --mode puzzles, in which one worker solves a puzzle")
    pinned = options.workers if options.pin and not options.address else 0
    try:
        if pinned > (cores := len(pinnable())):
            raise InvalidOption("pin", f"expected at most {cores} workers, a core for each, found {pinned}")
    except EngineError as error:
        raise InvalidOption((), str(error)) from error
    return Mode.PUZZLES


def _check_pictures(options: RunOptions, kind: Kind) -> None:
    """Errors: InvalidOption if there would be nothing to draw, or nothing to draw it from."""
    if not kind.puzzle_sets:
        raise InvalidOption("pictures", f"expected nonograms, found the kind {kind.name}")
    if "-" in options.paths:
        raise InvalidOption("pictures", "expected files, which are read again, found standard input")
    if not options.store_solutions:
        raise InvalidOption("pictures", "expected --store-solutions, found --no-store-solutions")


def _name(paths: tuple[str, ...]) -> str:
    """The time and the inputs: `20260131-235959-datasets`."""
    words = [re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(path).name.split(".")[0] or "stdin").strip("-") for path in paths]
    return "-".join([time.strftime("%Y%m%d-%H%M%S"), *[word for word in words if word][:3]])
