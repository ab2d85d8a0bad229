"""From a chunk of puzzles to rows: the one place where a failure becomes a row.

A chunk is solved in slices. Each slice is a promise about time: a puzzle gets only `SOFT_S` seconds there, so that one
hard puzzle does not hold up its neighbours; those that want more come back as `hard` and are tried alone later.
Before each slice its place is written to the page, so that whoever watches can tell which puzzle brought us down.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from time import monotonic, perf_counter, thread_time, time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import __version__
from ..attempt import COLUMNS, OUTCOMES, STAGES, Limits, Outcome, schema
from ..kinds import FACTS, Kind, Solved

SOFT_S = 1.0
"""Seconds for one puzzle while others wait behind it in the same chunk."""

LEASE_S = 0.4
"""Seconds of work that a chunk should hold; what is left after twice that goes back. With Ray and 2 workers at 1 ms a
puzzle, 0.2 s cost 7.7 % beside the kernel and 0.4 s 4.1 % (scripts/bench/README.md)."""

FIRST_SLICE, SLICE_S = 64, LEASE_S

SCHEMA = schema()
TIMEOUT = OUTCOMES.index(Outcome.TIMEOUT)
_DICTIONARIES = {
    "outcome": pa.array([str(o) for o in OUTCOMES], pa.string()),
    "stage": pa.array([*STAGES, ""], pa.string()),  # "": brought down, nobody knows where
}
MOST_CONSTANT = 8192
_SECONDS = ("pack_s", "line_s", "probe_s", "search_s", "sat_s", "solve_s")

# The page: what a worker tells its watcher, one 64-byte line of int64.
ABORT, PLACE, COUNT, SINCE_MS, LEASE, PAGE = 0, 1, 2, 3, 4, 8
READING, IDLE = -1, -2
"""Values of PLACE while the texts of a chunk are read, and between chunks."""


class RejectedAnswer(Exception):
    """The checker does not accept an answer of the solver: our bug, never a row. `puzzle` is a chunk of one."""

    def __init__(self, title: str, why: str, puzzle: pa.RecordBatch) -> None:
        super().__init__(title, why, puzzle)
        self.title, self.why, self.puzzle = title, why, puzzle

    def __str__(self) -> str:
        return f"{self.title}: the checker rejects an answer of the solver: {self.why}"


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with every chunk."""

    kind: Kind
    limits: Limits = field(default_factory=Limits)
    run: str = ""
    store_answers: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is done: columns of the rows."""

    engine: str
    host: str
    worker: str


@dataclass(slots=True)
class Chunk:
    """Texts still to be read, or puzzles (`batch`).

    weight   about how many puzzles; see `feed.weight_of`.
    careful  one puzzle at a time with its full time, so that a crash is blamed on the right one.
    deaths   workers lost while they had this chunk.
    strikes  workers lost to the one puzzle of this chunk.
    made     when it was cut, `time.monotonic()`.
    """

    texts: list[tuple[str, bytes]] = field(default_factory=list)
    batch: pa.RecordBatch | None = None
    weight: int = 1
    careful: bool = False
    deaths: int = 0
    strikes: int = 0
    made: float = field(default_factory=monotonic)


@dataclass(slots=True)
class Done:
    """What became of a chunk.

    rows      batches of the schema of `Attempt`.
    hard      puzzles that need more than `SOFT_S` seconds.
    rest      what was not started, because time was up or the page said stop.
    weight    how much of the chunk's weight the rows and `hard` stand for.
    seconds   wall seconds spent.
    solve_s   seconds that the solver says it needed: without reading, and without waiting for compilers.
    """

    rows: list[pa.RecordBatch]
    hard: list[pa.RecordBatch]
    rest: pa.RecordBatch | None
    weight: float
    seconds: float
    aborted: bool = False
    solve_s: float = 0.0


def new_page() -> np.ndarray:
    """A page of a worker that nobody watches."""
    page = np.zeros(PAGE, np.int64)
    page[PLACE] = IDLE
    return page


def attempt(work: Work, chunk: Chunk, page: np.ndarray, place: Place) -> Done:
    """Read, solve and check a chunk. Errors: RejectedAnswer; nothing else that a puzzle can cause."""
    began, queue_s = perf_counter(), max(0.0, monotonic() - chunk.made)
    done = Done([], [], None, 0.0, 0.0)
    batch, read_s = chunk.batch, 0.0
    if batch is None:
        _tell(page, READING, 0)
        batch = joined(_read(work, chunk.texts, place, done.rows))
        read_s = (perf_counter() - began) / max(batch.num_rows if batch else 0, 1)
        if batch is None:
            done.weight, done.seconds = chunk.weight, read_s
            return done
    total = max(batch.num_rows, 1)
    facts = {"read_s": read_s, "queue_s": queue_s}
    if has_errors(batch):
        broken = pc.not_equal(batch.column("error"), "")
        done.rows.append(_invalid_rows(work, batch.filter(broken), facts, place))
        batch = batch.filter(pc.invert(broken))
    at, size = 0, FIRST_SLICE
    patient = chunk.careful or batch.num_rows == 1 or work.limits.seconds <= 1.5 * SOFT_S
    limits = work.limits if patient else replace(work.limits, seconds=SOFT_S)
    while at < batch.num_rows and not done.aborted:
        part = batch.slice(at, 1 if chunk.careful else size)
        _tell(page, at, part.num_rows)
        tick = perf_counter()
        try:
            rows = _slice(work, part, limits, patient, page, facts, place, done)
        except RejectedAnswer:
            raise
        except Exception as error:  # a fault of our own code: it must cost one puzzle, not the run
            if part.num_rows > 1:
                done.hard.append(part)
            else:
                done.rows.append(crashed_rows(work, part, f"{type(error).__name__}: {error}", place, facts))
        else:
            if rows is None:
                done.aborted = True
                break
            if rows.num_rows:
                done.rows.append(rows)
        at += part.num_rows
        size = int(min(8 * size, max(1.0, part.num_rows * SLICE_S / max(perf_counter() - tick, 1e-6))))
        if perf_counter() - began > 2 * LEASE_S:
            break
    if at < batch.num_rows:
        done.rest = batch.slice(at)
    _tell(page, IDLE, 0)
    left = done.rest.num_rows if done.rest is not None else 0
    done.weight = chunk.weight * (1 - left / total)
    done.seconds = perf_counter() - began
    return done


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


def _tell(page: np.ndarray, at: int, count: int) -> None:
    page[COUNT] = count
    page[SINCE_MS] = int(monotonic() * 1000)
    page[PLACE] = at


def _slice(
    work: Work,
    part: pa.RecordBatch,
    limits: Limits,
    patient: bool,
    page: np.ndarray,
    facts: dict[str, float],
    place: Place,
    done: Done,
) -> pa.RecordBatch | None:
    """Rows of one slice, or None when the page said stop. Puzzles out of soft time go to `done.hard`."""
    started, cpu = time(), thread_time()
    solved = work.kind.solve(part, limits, page[ABORT : ABORT + 1])
    if solved.aborted:
        return None
    tick = perf_counter()
    rejected = work.kind.check(part, solved.answers)
    if rejected:
        bad, why = rejected[0]
        raise RejectedAnswer(work.kind.title(part, bad), why, part.slice(bad, 1))
    n = part.num_rows
    cpu, check_s = thread_time() - cpu, (perf_counter() - tick) / n
    rows = _rows(work, part, solved, {**facts, "check_s": check_s}, place, started, cpu)
    done.solve_s += float(np.sum(solved.columns["solve_s"]))
    if not patient:
        late = solved.columns["outcome"] == TIMEOUT
        if late.any():
            done.hard.append(part.filter(pa.array(late)))
            rows = rows.filter(pa.array(~late))
    return rows


def _rows(
    work: Work,
    part: pa.RecordBatch,
    solved: Solved,
    facts: dict[str, float],
    place: Place,
    started: float,
    cpu: float,
) -> pa.RecordBatch:
    """Columns of a slice as rows. The thread's time is shared out as the wall time of the puzzles was."""
    n = part.num_rows
    solve_s = np.asarray(solved.columns["solve_s"], np.float64)
    ends = np.cumsum(solve_s)
    columns: dict[str, Any] = {name: part.column(name) for name in FACTS}
    columns |= solved.columns
    for name in _SECONDS:
        if name in columns:
            columns[name] = np.asarray(columns[name], np.float32)
    columns |= {name: np.full(n, value, np.float32) for name, value in facts.items()}
    columns["cpu_s"] = (cpu * solve_s / ends[-1] if ends[-1] > 0 else np.full(n, cpu / n)).astype(np.float32)
    columns["started"] = ((started + ends - solve_s) * 1e6).astype(np.int64)
    if not work.store_answers:
        columns["answer"] = columns["second_answer"] = ""
    return _batch(work, columns, n, place)


def _batch(work: Work, columns: dict[str, Any], n: int, place: Place) -> pa.RecordBatch:
    """A record batch of `Attempt`: given columns as they are, one value for all as a constant, the others zero."""
    columns |= {
        "run": work.run,
        "kind": work.kind.name,
        "engine": place.engine,
        "host": place.host,
        "worker": place.worker,
        "version": __version__,
        "peak_mib": _peak_mib(),
    }
    return pa.RecordBatch.from_arrays(
        [_column(name, SCHEMA.field(name).type, columns.get(name), n) for name in COLUMNS], schema=SCHEMA
    )


def _column(name: str, kind: pa.DataType, value: Any, n: int) -> pa.Array:
    if name in _DICTIONARIES:
        return pa.DictionaryArray.from_arrays(pa.array(np.asarray(value, np.int32)), _DICTIONARIES[name])
    if isinstance(value, pa.Array):
        if pa.types.is_dictionary(kind):
            return value.dictionary_encode()
        return value if value.type == kind else value.cast(kind)
    if isinstance(value, np.ndarray):
        return pa.array(value).view(kind) if pa.types.is_timestamp(kind) else pa.array(value, kind)
    if isinstance(value, float | datetime):
        return pa.repeat(pa.scalar(value, kind), n)
    same = _constant(kind, value)
    return same.slice(0, n) if n <= len(same) else pa.concat_arrays([same] * (n // len(same) + 1)).slice(0, n)


@lru_cache(maxsize=256)
def _constant(kind: pa.DataType, value: str | int | None) -> pa.Array:
    """A column of one value, long enough to cut most others from; made once, as it costs more than the puzzles do."""
    n = MOST_CONSTANT
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([value or ""], pa.string()))
    if value is None:
        value = "" if kind == pa.string() else False if kind == pa.bool_() else 0
    return pa.repeat(pa.scalar(value, kind), n)


def _invalid_rows(work: Work, part: pa.RecordBatch, facts: dict[str, float], place: Place) -> pa.RecordBatch:
    columns = {name: part.column(name) for name in FACTS}
    return _failed(work, columns, part.num_rows, Outcome.INVALID, facts, place)


def crashed_rows(
    work: Work, part: pa.RecordBatch, why: str, place: Place, facts: dict[str, float] | None = None
) -> pa.RecordBatch:
    """Rows for puzzles that brought their worker down."""
    columns = {name: part.column(name) for name in FACTS} | {"error": why}
    return _failed(work, columns, part.num_rows, Outcome.CRASHED, facts or {}, place)


def overrun_rows(work: Work, part: pa.RecordBatch, seconds: float, why: str, place: Place) -> pa.RecordBatch:
    """Rows for puzzles that would not stop by themselves and were stopped with their worker."""
    columns = {name: part.column(name) for name in FACTS} | {"error": why}
    return _failed(work, columns, part.num_rows, Outcome.TIMEOUT, {"solve_s": seconds}, place)


def crashed_source(work: Work, source: str, why: str, place: Place) -> pa.RecordBatch:
    """The row of a text that brought down every worker that read it."""
    sources = pa.array([source], pa.string())
    return _failed(work, {"source": sources, "index": 1, "error": why}, 1, Outcome.CRASHED, {}, place)


def _failed(
    work: Work, columns: dict[str, Any], n: int, outcome: Outcome, facts: dict[str, float], place: Place
) -> pa.RecordBatch:
    columns["outcome"] = np.full(n, OUTCOMES.index(outcome))
    columns["stage"] = np.full(n, STAGES.index("read") if outcome == Outcome.INVALID else len(STAGES))
    columns["started"] = datetime.now(UTC)
    return _batch(work, columns | facts, n, place)


def _peak_mib() -> float:
    """The most memory that this process ever used."""
    if sys.platform == "win32":
        import psutil

        return float(psutil.Process().memory_info().peak_wset / 2**20)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
