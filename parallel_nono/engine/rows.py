"""Rows of the results from what is known of a chunk: solved, invalid, crashed, or out of time."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import __version__
from ..attempt import COLUMNS, OUTCOMES, STAGES, Outcome, schema
from ..files.containers import exact
from ..kinds import FACTS, Solved
from . import timing

if TYPE_CHECKING:
    from .work import Place, Watch, Work

SCHEMA = schema()
_DICTIONARIES = {
    "outcome": pa.array([str(o) for o in OUTCOMES], pa.string()),
    "stage": pa.array([*STAGES, ""], pa.string()),  # "": brought down, nobody knows where
}
MAX_CONSTANT = 8192
_SECONDS = ("pack_s", "line_s", "probe_s", "search_s", "sat_s", "sat_cpu_s", "solve_s")


def solved_rows(
    work: Work, part: pa.RecordBatch, solved: Solved, facts: dict[str, float], place: Place, watch: Watch
) -> pa.RecordBatch:
    """Columns of a slice as rows.

    The thread had a core for the same share of each puzzle's time as of the slice's, but for when it waited for others.
    """
    n = part.num_rows
    solve_s = np.asarray(solved.columns["solve_s"], np.float64)
    ends = np.cumsum(solve_s)
    columns: dict[str, Any] = {name: part.column(name) for name in FACTS}
    columns |= solved.columns
    for name in _SECONDS:
        if name in columns:
            columns[name] = np.asarray(columns[name], np.float32)
    columns |= {name: np.full(n, value, np.float32) for name, value in facts.items()}
    waited_s = np.minimum(columns.pop("waited_s", 0.0), solve_s)
    others_cpu_s = columns.pop("others_cpu_s", 0.0)
    own_s = watch.chunk_s - float(np.sum(np.broadcast_to(waited_s, n)))
    if "cpu_s" not in columns:
        share = min(1.0, watch.chunk_cpu_s / max(own_s, watch.chunk_cpu_s, 1e-9))
        columns["cpu_s"] = (solve_s - waited_s) * share + others_cpu_s
    columns["cpu_s"] = columns["cpu_s"].astype(np.float32)
    columns["started"] = ((watch.started + ends - solve_s) * 1e6).astype(np.int64)
    columns["clock_us"] = ((watch.clock + ends - solve_s) * 1e6).astype(np.int64)
    columns |= watch.columns(n)
    columns |= _of_teams(columns.pop("team", []), columns.pop("others_mib", None), others_cpu_s, columns, place)
    if not work.store_solutions:
        columns["solution"] = columns["second_solution"] = ""
    return _batch(work, columns, n, place)


def _of_teams(
    teams: list[str], mib: np.ndarray | None, cpu_s: Any, columns: dict[str, Any], place: Place
) -> dict[str, Any]:
    """Columns of a slice in which some puzzles were shared by several workers."""
    if mib is None:
        return {}
    n = len(teams)
    peak, recent = timing.memory_mib(now=True)
    return {
        "mode": pa.array(["lines" if team else "puzzles" for team in teams], pa.string()),
        "worker": pa.array([team or place.worker for team in teams], pa.string()),
        "chunk_cpu_s": columns["chunk_cpu_s"] + np.full(n, np.sum(cpu_s), np.float32),
        "peak_mib": np.maximum(mib, peak).astype(np.float32),
        "chunk_mib": np.maximum(mib, recent).astype(np.float32),
    }


def _batch(work: Work, columns: dict[str, Any], n: int, place: Place) -> pa.RecordBatch:
    """A record batch of `Attempt`: given columns as they are, one value for all as a constant, the others zero."""
    peak, recent = timing.memory_mib(now=place.alone)
    columns = {
        "run": work.run,
        "source_bytes": _exact(columns["source"]),
        "kind": work.kind.name,
        "solver": work.solver,
        "engine": place.engine,
        "mode": "puzzles",
        "host": place.host,
        "worker": place.worker,
        "version": __version__,
        "repeats": 1,
        "peak_mib": peak,
        "chunk_mib": recent,
        "core": place.core,
        "calibration_s": place.calibration_s,
        **columns,
    }
    return pa.RecordBatch.from_arrays(
        [_column(name, SCHEMA.field(name).type, columns.get(name), n) for name in COLUMNS], schema=SCHEMA
    )


def _exact(sources: pa.Array) -> pa.Array | str:
    """The column `source_bytes`; one text for all where no name needs one, as almost always."""
    _, offsets, text = sources.buffers()
    begin, end = (
        int(np.frombuffer(offsets, np.int32)[place]) for place in (sources.offset, sources.offset + len(sources))
    )
    if text is None or b"\\x" not in bytes(memoryview(text)[begin:end]):
        return ""
    return pa.array([exact(name) for name in sources.to_pylist()], pa.string())


def _labels(texts: pa.StringArray) -> pa.DictionaryArray:
    """Each different text once; as dictionary_encode, which loads pyarrow.compute."""
    places: dict[str, int] = {}
    found = [places.setdefault(text, len(places)) for text in texts.to_pylist()]
    return pa.DictionaryArray.from_arrays(pa.array(found, pa.int32()), pa.array(list(places), pa.string()))


def _column(name: str, kind: pa.DataType, value: Any, n: int) -> pa.Array:
    if name in _DICTIONARIES:
        return pa.DictionaryArray.from_arrays(pa.array(np.asarray(value, np.int32)), _DICTIONARIES[name])
    if isinstance(value, pa.Array):
        if pa.types.is_dictionary(kind):
            return _labels(value)
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
    n = MAX_CONSTANT
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([value or ""], pa.string()))
    if value is None:
        value = "" if kind == pa.string() else False if kind == pa.bool_() else 0
    return pa.repeat(pa.scalar(value, kind), n)


def invalid_rows(work: Work, part: pa.RecordBatch, facts: dict[str, float], place: Place) -> pa.RecordBatch:
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
    columns["clock_us"] = np.full(n, monotonic() * 1e6, np.int64)
    return _batch(work, columns | facts, n, place)
