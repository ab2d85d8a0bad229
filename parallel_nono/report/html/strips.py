"""Who worked when: for each worker a strip, as long as the run, with what it did.

The rows say when a worker was in the solver. A timeline (`pnono run --timeline`) says what it did all the time, and of
threads that have no rows. It is asked where there is one: for each start of the run by itself, as each has its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...pictures.door import printable
from ...spans import NAMES, WITHIN
from ..query import UNTRIED, Report, dicts
from ..tables import Column
from ..trace import ORDER, Spans, TraceError, Worker, place_in, read
from ..wording import duration
from .pack import steps

BINS, STRIPS = 300, 256
LEAST = 2e-3
"""Shares of a step that are not drawn."""


class Activity(NamedTuple):
    """What a strip shows: the class of its colour, its name, the spans that it is made of, and what that means."""

    key: str
    name: str
    spans: tuple[str, ...]
    means: str


ACTIVITIES = (
    Activity("solving", "solving", ("solve", "lines", "merge"), "lines, probing, search; merging in lines mode"),
    Activity("proving", "SAT solver", ("prove",), "waiting for its answer: its process has the core"),
    Activity("reading", "reading", ("open", "read"), "opening files, understanding texts"),
    Activity("writing", "rows", ("check", "rows", "write", "count"), "checking, making and writing rows"),
    Activity("waiting", "waiting", ("wait", "queue", "share", "give"), "for work, for others, for room"),
)
"""From the bottom of a strip up; in a `solve`, what is `WITHIN` it counts as itself."""

SOLVING = 0


class Strips(NamedTuple):
    """The section of a page.

    rows        a worker each: name, n, seconds (as many as `heads`), busy, and paths, what covers more first. In lines
                mode all who solve lines have the rows in common, and a strip each.
    activities  the legend; () where only the time in the solver is known.
    end, note   the length of the strips; what is to be said about them.
    """

    rows: list[dict[str, Any]]
    activities: tuple[Activity, ...]
    heads: tuple[str, ...]
    end: str
    note: str


class _Times(NamedTuple):
    """Of one worker, for each of ACTIVITIES: seconds; shares of each of `BINS` equal spans of time."""

    seconds: np.ndarray
    shares: np.ndarray


def strips_of(out: Path, report: Report, connection: Any, inside: bool) -> Strips:
    """Strips for the workers of a run, the first `STRIPS`. inside: see `page`."""
    traces, note = _traces(out, report, inside)
    listed: dict[Worker, dict[str, Any]] = {(w["host"], w["worker"]): w for w in report.workers}
    without_rows = {worker for trace in traces for worker in trace} - listed.keys()
    workers = [*listed, *sorted(without_rows, key=lambda each: (each[0], len(each[1]), each[1]))]
    if len(workers) > STRIPS:
        note += f" The first {STRIPS} of {len(workers):,}."
    began, ended = _extent(report, connection, traces)
    edges = np.linspace(began, max(ended, began + 1e-6), BINS + 1)
    shown = workers[:STRIPS]
    times = _by_rows(shown, connection, edges, traces)
    for trace in traces:
        for worker in trace.keys() & times.keys():
            _add(times[worker], trace[worker], edges)
    hosts = {host for host, _ in workers}
    seconds, share, count = Column("", "seconds"), Column("", "share"), Column("", "count")
    rows = []
    for worker in shown:
        (host, name), row, spent = worker, listed.get(worker), times[worker]
        busy = spent.seconds[:-1].sum() / (edges[-1] - edges[0])
        told = spent.seconds.tolist() if traces else [spent.seconds[SOLVING], row["other_s"] if row else None]
        rows.append(
            {
                "name": f"{host}/{name}" if len(hosts) > 1 else f"worker {name}" if row else name,
                "n": count.show(row and row["n"]),
                "seconds": ["" if traces and not each else seconds.show(each) for each in told],
                "busy": share.show(min(1.0, busy)) if spent.seconds.any() or not traces else "",
                "paths": _paths(spent.shares) if traces else [("", steps(spent.shares[SOLVING]))],
            }
        )
    heads = tuple(each.name for each in ACTIVITIES) if traces else ("solving", "reading, checking")
    return Strips(rows, ACTIVITIES if traces else (), heads, duration(ended - began), note)


def _traces(out: Path, report: Report, inside: bool) -> tuple[list[dict[Worker, Spans]], str]:
    """The timelines of all starts that have one, and a sentence for each that can't be used."""
    traces, said, n_without = [], [], 0
    for session in report.sessions:
        if "timeline" not in session:
            n_without += 1
            continue
        try:
            trace = read(place_in(out, session["timeline"], inside), session.get("started", ""))
            traces += [trace] if trace else []
        except TraceError as error:
            said.append(str(error))
    if n_without and (traces or said):
        said.append(f"{n_without} of {len(report.sessions)} starts of the run wrote no timeline")
    if not said:
        return traces, ""
    only = (
        "Of the other starts only the time in the solver is known" if traces else "Only the time in the solver is known"
    )
    return traces, printable(f" {only}: {'; '.join(said)}.")


def _extent(report: Report, connection: Any, traces: list[dict[Worker, Spans]]) -> tuple[float, float]:
    """When the first of all began and the last ended, by the wall clock."""
    first = _first(connection)
    windows = list(map(_window, traces))
    windows += [(first, first + worker["last_s"]) for worker in report.workers]
    return min((begin for begin, _ in windows), default=0.0), max((end for _, end in windows), default=0.0)


def _window(trace: dict[Worker, Spans]) -> tuple[float, float]:
    """When its first span began and its last one ended."""
    return min(float(s.begins.min()) for s in trace.values()), max(float(s.ends.max()) for s in trace.values())


def _first(connection: Any) -> float:
    (found,) = dicts(connection, f"select min(started_us) / 1e6 as first from attempts where {_PLACED}")
    return float(found["first"] or 0.0)


def _by_rows(
    workers: list[Worker], connection: Any, edges: np.ndarray, traces: list[dict[Worker, Spans]]
) -> dict[Worker, _Times]:
    """Time in the solver as the rows have it, but for those of starts with a timeline."""
    n = len(ACTIVITIES)
    times = {worker: _Times(np.zeros(n), np.zeros((n, BINS))) for worker in workers}
    left = _PLACED
    for begin, end in map(_window, traces):
        left += f" and started_us not between {int(1e6 * begin)} and {int(1e6 * end)}"
    for row in dicts(connection, f"select host, worker, sum(solve_s) as s from attempts where {left} group by all"):
        if (row["host"], row["worker"]) in times:
            times[row["host"], row["worker"]].seconds[SOLVING] = row["s"]
    span = (edges[-1] - edges[0]) / BINS
    for row in dicts(connection, _BUSY.format(left=left), float(span), float(edges[0])):
        if (row["host"], row["worker"]) in times:
            times[row["host"], row["worker"]].shares[SOLVING, row["bin"]] += row["busy_s"] / span
    return times


_PLACED = f"outcome <> '{UNTRIED}' and worker <> ''"
_BUSY = f"""
    with placed as (
        select host, worker, started_us / 1e6 - $2 as begins, begins + solve_s as ends from attempts where {{left}}
    ), spread as (
        select host, worker, begins, ends, $1 as span,
            unnest(range(floor(begins / $1)::bigint, least(floor(ends / $1)::bigint, {BINS} - 1) + 1)) as bin
        from placed
    )
    select host, worker, bin, sum(least(ends, (bin + 1) * span) - greatest(begins, bin * span)) as busy_s
    from spread where bin >= 0 and bin < {BINS} group by all"""


def _add(times: _Times, spans: Spans, edges: np.ndarray) -> None:
    """What a worker did, to what is known of it already."""
    begins, ends = spans.begins - edges[0], spans.ends - edges[0]  # small numbers: their sums lose nothing
    for name in NAMES:
        mine = spans.names == ORDER.index(name)
        seconds = (ends[mine] - begins[mine]).sum()
        shares = _covered(begins[mine], ends[mine], edges - edges[0]) / (edges[1] - edges[0])
        place = next(place for place, each in enumerate(ACTIVITIES) if name in each.spans)
        times.seconds[place] += seconds
        times.shares[place] += shares
        if name in WITHIN:
            times.seconds[SOLVING] -= seconds
            times.shares[SOLVING] -= shares
    np.maximum(times.seconds, 0, out=times.seconds)
    np.maximum(times.shares, 0, out=times.shares)


def _covered(begins: np.ndarray, ends: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How much of the time between one edge and the next is covered by spans, overlaps counted twice."""

    def passed(moments: np.ndarray) -> np.ndarray:
        """For each edge, the sum of the time since all moments before it."""
        moments = np.sort(moments)
        n = np.searchsorted(moments, edges)
        return n * edges - np.concatenate([[0.0], np.cumsum(moments)])[n]

    return np.diff(passed(begins) - passed(ends))


def _paths(shares: np.ndarray) -> list[tuple[str, str]]:
    """The shares on top of each other: each is drawn from the bottom, so those on top come first."""
    tops = np.where(shares > LEAST, np.cumsum(shares, axis=0), 0.0)
    drawn = zip(ACTIVITIES, tops.tolist(), strict=True)
    return [(activity.key, steps(values)) for activity, values in reversed(list(drawn))]
