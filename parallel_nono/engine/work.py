"""From a chunk of puzzles to rows: the one place where a failure becomes a row.

A chunk is solved in slices. Each slice is a promise about time: a puzzle gets only `SOFT_S` seconds there, so that one
hard puzzle does not hold up its neighbours; those that want more come back as `hard` and are tried alone later.
Before each slice its place is written to the status, so that whoever watches can tell which puzzle brought us down.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter, thread_time, time
from typing import Any

import numpy as np
import pyarrow as pa

from ..attempt import OUTCOMES, Limits, Outcome
from ..checker import RejectedSolution
from ..files import packing
from ..files.containers import Source
from ..kinds import Kind, Solved, unread
from ..puzzle import InvalidPuzzle
from ..puzzleset import has_text
from ..spans import span
from . import timing
from .parts import LEASE_S as PARTS_LEASE_S
from .parts import Parts
from .rows import crashed_rows, crashed_source, invalid_rows, solved_rows
from .status_line import ABORT, COUNT, IDLE, PLACE, READING, SINCE_MS

SOFT_S = 1.0
"""Seconds for one puzzle while others wait behind it in the same chunk."""

LEASE_S = 0.4
"""Seconds of work that a chunk should hold; what is left after twice that goes back. With Ray and 2 workers at 1 ms a
puzzle, 0.2 s cost 7.7 % beside the kernel and 0.4 s 4.1 % (scripts/bench/README.md)."""

FIRST_SLICE, SLICE_S = 64, LEASE_S

SPIKE_S = 0.05
"""What a puzzle takes beyond that says nothing of its neighbours, which the next chunk is cut by."""

SHARE_S = 0.2
"""A slice of several puzzles that takes longer is shared out, if other workers have none: those not begun go back."""

TIMEOUT, MULTIPLE = OUTCOMES.index(Outcome.TIMEOUT), OUTCOMES.index(Outcome.MULTIPLE)


class RejectedPuzzle(RejectedSolution):
    """A solution that the checker does not accept, or a verdict that a repetition does not confirm: our bug, no row.

    puzzle  a chunk of one.
    path    where a run kept it.
    """

    def __init__(self, title: str, why: str, puzzle: pa.RecordBatch) -> None:
        super().__init__(title, why, puzzle)
        self.title, self.why, self.puzzle = title, why, puzzle
        self.path: Path | None = None

    def __str__(self) -> str:
        return f"{self.title}: {self.why}"


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with every chunk.

    repeat     times that every puzzle is solved; the verdicts must agree.
    pin        every worker is bound to a core of its own.
    calibrate  every worker runs the calibration before it begins.
    parts      where workers of other processes write their rows; None: rows travel to the driver.
    timed      workers of other processes tell what they did when (`spans`).
    """

    kind: Kind
    limits: Limits = field(default_factory=Limits)
    run: str = ""
    store_solutions: bool = True
    solver: str = ""
    repeat: int = 1
    pin: bool = False
    calibrate: bool = False
    parts: Parts | None = None
    timed: bool = False

    @property
    def lease_s(self) -> float:
        """Seconds of work that a chunk should hold."""
        return LEASE_S if self.parts is None else PARTS_LEASE_S


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is done: columns of the rows.

    alone  True where no other worker shares the process, so that its memory is the worker's.
    """

    engine: str
    host: str
    worker: str
    core: int = -1
    calibration_s: float = 0.0
    alone: bool = False


@dataclass(slots=True)
class Chunk:
    """Texts still to be read, files that whoever solves them reads itself (`sources`), or puzzles (`batch`).

    weight   about how many puzzles; see `feed.weight_of`.
    careful  one puzzle at a time with its full time, so that a crash is blamed on the right one.
    deaths   workers lost while they had this chunk.
    strikes  workers lost to the one puzzle of this chunk.
    made     when it was cut, `time.monotonic()`.
    shared   it was handed back, for several to share.
    tried    its puzzles that could be read, as soon as they are: the places on the status are places in it.
    """

    texts: list[tuple[str, bytes]] = field(default_factory=list)
    batch: pa.RecordBatch | None = None
    weight: int = 1
    careful: bool = False
    deaths: int = 0
    strikes: int = 0
    made: float = field(default_factory=monotonic)
    sources: list[Source] = field(default_factory=list)
    shared: bool = False
    tried: pa.RecordBatch | None = None


@dataclass(slots=True)
class Done:
    """What became of a chunk.

    rows      batches of the schema of `Attempt`.
    hard      puzzles that need more than `SOFT_S` seconds.
    rest      what was not started, because time was up or the status said stop.
    weight    how much of the chunk's weight the rows and `hard` stand for.
    seconds   wall seconds spent.
    solve_s   seconds that the solver says it needed: without reading, and without waiting for compilers.
    over_s    of these, seconds of single puzzles beyond `SPIKE_S`.
    """

    rows: list[pa.RecordBatch]
    hard: list[pa.RecordBatch]
    rest: pa.RecordBatch | None
    weight: float
    seconds: float
    aborted: bool = False
    solve_s: float = 0.0
    over_s: float = 0.0


def attempt(work: Work, chunk: Chunk, status: np.ndarray, place: Place) -> Done:
    """Read, solve and check a chunk. Errors: RejectedPuzzle; nothing else that a puzzle can cause."""
    began, queue_s = perf_counter(), max(0.0, monotonic() - chunk.made)
    if place.alone:
        timing.fresh_peak()
    done = Done([], [], None, 0.0, 0.0)
    batch, read_s = chunk.batch, 0.0
    if batch is None:
        _tell(status, READING, 0)
        packing.Share.of(work.limits.seconds)
        with span("read", chunk.weight):
            texts, batches, unreadable = loaded(work.kind, chunk)
            done.rows += (invalid_rows(work, rows, {"queue_s": queue_s}, place) for rows in unreadable)
            batch = joined(batches or _read(work, texts, place, done.rows))
        read_s = (perf_counter() - began) / max(batch.num_rows if batch else 0, 1)
        if batch is None:
            done.weight, done.seconds = chunk.weight, read_s
            return done
    total = max(batch.num_rows, 1)
    facts = {"read_s": read_s, "queue_s": queue_s}
    if has_errors(batch):
        broken = has_text(batch.column("error"))
        done.rows.append(invalid_rows(work, batch.filter(pa.array(broken)), facts, place))
        batch = batch.filter(pa.array(~broken))
    chunk.tried = batch
    at, size, alone = 0, FIRST_SLICE, chunk.careful or work.kind.alone
    patient = alone or batch.num_rows == 1 or work.limits.soonest_s <= 1.5 * SOFT_S
    limits = work.limits if patient else replace(work.limits, seconds=SOFT_S)
    left: list[pa.RecordBatch] = []
    while at < batch.num_rows and not done.aborted:
        part = batch.slice(at, 1 if alone else size)
        _tell(status, at, part.num_rows)
        tick = perf_counter()
        try:
            left = _slice(work, part, limits, patient, status, facts, place, done)
        except RejectedPuzzle:
            raise
        except Exception as error:  # a fault of our own code: it must cost one puzzle, not the run
            if part.num_rows > 1:
                done.hard.append(part)
            else:
                done.rows.append(crashed_rows(work, part, f"{type(error).__name__}: {error}", place, facts))
        at += part.num_rows
        size = int(min(8 * size, max(1.0, part.num_rows * SLICE_S / max(perf_counter() - tick, 1e-6))))
        if perf_counter() - began > 2 * work.lease_s:
            break
    if at < batch.num_rows:
        left.append(batch.slice(at))
    done.rest = joined(left)
    _tell(status, IDLE, 0)
    done.weight = chunk.weight * (1 - sum(part.num_rows for part in left) / total)
    done.seconds = perf_counter() - began
    return done


def loaded(kind: Kind, chunk: Chunk) -> tuple[list[tuple[str, bytes]], list[pa.RecordBatch], list[pa.RecordBatch]]:
    """Texts, or puzzles of packed sets, of a chunk whose files may still have to be read; and rows for those that
    can't be."""
    texts = list(chunk.texts)
    batches: list[pa.RecordBatch] = []
    unreadable: list[pa.RecordBatch] = []
    for source in chunk.sources:
        try:
            if source.packed and kind.batches is not None:
                batches += kind.batches(source)
            else:
                texts.append((source.name, source.load()))
        except (InvalidPuzzle, OSError, pa.ArrowException) as error:
            unreadable.append(unread(source.name, str(error)))
    return texts, batches, unreadable


def _read(work: Work, texts: list[tuple[str, bytes]], place: Place, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The puzzles of all texts; a text that a parser stumbles over is a row."""
    try:
        return [work.kind.read(texts)]
    except Exception as error:  # a fault of a parser: it must cost one text, not the run
        if len(texts) > 1:
            return [batch for text in texts for batch in _read(work, [text], place, rows)]
        rows.append(crashed_source(work, texts[0][0], f"while reading: {type(error).__name__}: {error}", place))
        return []


def has_errors(batch: pa.RecordBatch) -> bool:
    """True when some puzzle of a chunk could not be read: when there is any text at all in `error`."""
    column = batch.column("error")
    offsets = np.frombuffer(column.buffers()[1] or b"\0\0\0\0", np.int32)
    return len(column) > 0 and bool(offsets[column.offset] != offsets[column.offset + len(column)])


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch | None:
    """One batch of several, or None of none."""
    if len(batches) <= 1:
        return batches[0] if batches else None
    table = pa.Table.from_batches(batches).combine_chunks()
    return (table.to_batches() or batches)[0]


def _tell(status: np.ndarray, at: int, count: int) -> None:
    status[COUNT] = count
    status[SINCE_MS] = int(monotonic() * 1000)
    status[PLACE] = at


def _slice(
    work: Work,
    part: pa.RecordBatch,
    limits: Limits,
    patient: bool,
    status: np.ndarray,
    facts: dict[str, float],
    place: Place,
    done: Done,
) -> list[pa.RecordBatch]:
    """Rows of one slice, to `done`; and there to `hard` the puzzles that ran out of soft time.

    Returns  what is left of it where the status line said stop.
    """
    watch = Watch()
    with span("solve", part.num_rows):
        solved = work.kind.solve(part, limits, status[ABORT : ABORT + 1])
    kept = solved.finished if solved.aborted else None
    done.aborted |= solved.aborted
    if solved.aborted and (kept is None or not kept.any()):
        return [part]
    if work.kind.name not in _checked:
        _check(work, part, solved)  # it loads the checker, which is nobody's time
        _checked.add(work.kind.name)
    tick = perf_counter()
    with span("check", part.num_rows):
        _check(work, part, solved)
    watch.stop()
    facts = {**facts, "check_s": (perf_counter() - tick) / part.num_rows}
    solve_s = np.asarray(solved.columns["solve_s"])
    done.solve_s += float(solve_s.sum())
    done.over_s += float(np.maximum(solve_s - SPIKE_S, 0).sum())
    late = unfinished(solved.columns, limits)
    if work.repeat > 1 and (solved.aborted or not _repeat(work, part, limits, status, solved, late)):
        done.aborted = True
        return [part]
    wanted = np.ones(part.num_rows, bool)
    with span("rows", part.num_rows):
        rows = solved_rows(work, part, solved, facts, place, watch)
    if kept is not None:
        wanted &= kept
    if not patient and late.any():
        done.hard.append(part.filter(pa.array(late & wanted)))
        wanted &= ~late
    if not wanted.all():
        rows = rows.filter(pa.array(wanted))
    if rows.num_rows:
        done.rows.append(rows)
    return [] if kept is None or kept.all() else [part.filter(pa.array(~kept))]


def unfinished(columns: dict[str, Any], limits: Limits) -> np.ndarray:
    """bool[rows]: what more time could change: no verdict yet, or solutions that were still being counted."""
    late: np.ndarray = np.asarray(columns["outcome"]) == TIMEOUT
    if limits.wanted > 2 and "n_solutions" in columns:
        several = np.asarray(columns["outcome"]) == MULTIPLE
        late |= several & ~np.asarray(columns["exhausted"]) & (np.asarray(columns["n_solutions"]) < limits.wanted)
    return late


_checked: set[str] = set()
"""Kinds whose checker this process has used."""


class Watch:
    """Clocks and gauges of this thread from its making until `stop`: columns of a chunk."""

    _numbers = count(1)

    def __init__(self) -> None:
        self.chunk = next(self._numbers)
        self.started, self.clock = time(), monotonic()
        self._preemptions, self._cpu, self._began = timing.preemptions(), thread_time(), perf_counter()

    def stop(self) -> None:
        self.chunk_s = perf_counter() - self._began
        self.chunk_cpu_s = thread_time() - self._cpu
        self.preempted = timing.preemptions() - self._preemptions
        self.load = timing.load()

    def columns(self, n: int) -> dict[str, np.ndarray]:
        seconds = {name: np.full(n, getattr(self, name), np.float32) for name in ("chunk_s", "chunk_cpu_s", "load")}
        return seconds | {name: np.full(n, getattr(self, name), np.int32) for name in ("chunk", "preempted")}


def _check(work: Work, part: pa.RecordBatch, solved: Solved) -> None:
    """Errors: RejectedPuzzle for the first solution that breaks the rules."""
    for bad, why in work.kind.check(part, solved.solutions)[:1]:
        raise RejectedPuzzle(
            work.kind.title(part, bad), f"the checker rejects a solution of the solver: {why}", part.slice(bad, 1)
        )


def _repeat(
    work: Work, part: pa.RecordBatch, limits: Limits, status: np.ndarray, solved: Solved, late: np.ndarray
) -> bool:
    """Solve a slice again and add the columns of `--repeat` to `solved`; False when the status line said stop.

    late    bool[rows]: puzzles out of time, which are not tried again.
    Errors  RejectedPuzzle if a verdict is not the one of the first time; a time-out is no verdict.
    """
    again = np.flatnonzero(~late)
    times = np.zeros((work.repeat, part.num_rows), np.float32)
    times[0] = solved.columns["solve_s"]
    times[1:, late] = times[0, late]
    chosen = part.take(pa.array(again)) if late.any() else part
    for turn in range(1, work.repeat if len(again) else 1):
        status[SINCE_MS] = int(monotonic() * 1000)
        other = work.kind.solve(chosen, limits, status[ABORT : ABORT + 1])
        if other.aborted:
            return False
        _check(work, chosen, other)
        first, second = np.asarray(solved.columns["outcome"])[again], np.asarray(other.columns["outcome"])
        changed = (first != second) & (second != TIMEOUT) & (not work.kind.alone)  # another program may waver
        for place in np.flatnonzero(changed)[:1]:
            why = f"{OUTCOMES[first[place]]} the first time, {OUTCOMES[second[place]]} when it was repeated"
            raise RejectedPuzzle(work.kind.title(chosen, place), why, chosen.slice(place, 1))
        times[turn, again] = other.columns["solve_s"]
    solved.columns["repeats"] = np.where(late, 1, work.repeat).astype(np.int32)
    solved.columns["median_s"] = np.where(late, 0, np.median(times, axis=0)).astype(np.float32)
    solved.columns["min_s"] = np.where(late, 0, times.min(axis=0))
    solved.columns["spread_s"] = np.ptp(times, axis=0)
    return True
