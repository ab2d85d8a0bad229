"""What an engine costs beside the kernel, in CPU time: (CPU of all processes) / (CPU inside the kernel) - 1.

    python scripts/bench/ray_overhead.py [--engine ray|local] [--workers N...] [--seconds S] [--us 1000 200 50]

Puzzles that spin for a known time go through the engine into Parquet, as in a run. Counted between 20 and 90 % of
the rows: driver and Ray's own processes by /proc (10 ms ticks), workers by their own clocks from slice to slice.
CPU time, not wall time: the figure hardly depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

import psutil
import spin

from parallel_nono.attempt import Limits
from parallel_nono.engine import engine
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.work import Work
from parallel_nono.report.parquet import Writer
from parallel_nono.report.summary import Summary

TARGETS = {1000: 0.06, 200: 0.12, 50: 0.15}


def cpu_of_the_rest() -> dict[str, float]:
    """CPU seconds so far of the driver, and of its children other than workers (those tell themselves)."""
    me = psutil.Process()
    own = me.cpu_times()
    daemons = 0.0
    for child in me.children(recursive=True):
        try:
            times, name = child.cpu_times(), " ".join(child.cmdline()[:1])
        except psutil.Error:
            continue
        if "ray::Worker" not in name:
            daemons += times.user + times.system
    return {"driver": own.user + own.system, "daemons": daemons}


def measure(name: str, workers: int, microseconds: int, seconds: float) -> dict[str, object]:
    rounds = spin.rounds_of(microseconds * 1e-6)
    n = int(workers * seconds / (microseconds * 1e-6))
    out = Path(tempfile.mkdtemp(prefix="pnono-bench-"))
    session, summary = Session(Pool(workers)), Summary()
    first: dict[str, float] = {}  # CPU of each worker's process at the end of the first slice that counts
    last: dict[str, float] = {}
    kernel = wall = began = 0.0
    n_first = n_last = 0
    start: dict[str, float] = {}
    end: dict[str, float] = {}
    with Writer(out / "run", {}, {"run": "bench"}, "bench") as writer:
        feed = Feed(spin.batches(n, rounds), workers)
        for rows in engine(name)(Work(spin.KIND, Limits()), feed, session):
            writer.write(rows)
            if rows.num_rows:
                summary.add(rows)
            if not rows.num_rows or summary.n_rows < n // 5 or end:
                continue
            worker, cpu = rows.column("worker")[0].as_py(), rows.column("search_s")[0].as_py()
            if not start:
                start, began, n_first = cpu_of_the_rest(), time.perf_counter(), summary.n_rows
            if worker in first:
                kernel += float(rows.column("line_s").to_numpy().sum(dtype=float))
            last[worker] = cpu
            first.setdefault(worker, cpu)
            if summary.n_rows > 0.9 * n:
                end, wall, n_last = cpu_of_the_rest(), time.perf_counter() - began, summary.n_rows
    shutil.rmtree(out)
    used = {part: end[part] - start[part] for part in end}
    used["workers"] = sum(last[worker] - first[worker] for worker in last)
    if session.engine == "local":  # one process: its threads are in the driver's time
        used["workers"] = 0.0
    return {
        "engine": session.engine,
        "workers": workers,
        "us": microseconds,
        "target": TARGETS.get(microseconds),
        "overhead": round(sum(used.values()) / kernel - 1, 4),
        **{f"{part}_s": round(value, 2) for part, value in used.items()},
        "kernel_s": round(kernel, 2),
        "wall_s": round(wall, 2),
        "puzzles": n_last - n_first,
        "driver_us_per_puzzle": round(1e6 * used["driver"] / (n_last - n_first), 1),
        "driver_mib": round(psutil.Process().memory_info().rss / 2**20),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="ray")
    parser.add_argument("--workers", type=int, nargs="*", default=[2], help="several: also the efficiency to the first")
    parser.add_argument("--seconds", type=float, default=15.0, help="kernel seconds of each worker")
    parser.add_argument("--us", type=int, nargs="*", default=list(TARGETS))
    options = parser.parse_args()
    for microseconds in options.us:
        costs = []
        for workers in options.workers:
            found = measure(options.engine, workers, microseconds, options.seconds)
            print(json.dumps(found), flush=True)
            costs.append(1 + float(found["overhead"]))  # type: ignore[arg-type]
        for workers, cost in zip(options.workers[1:], costs[1:], strict=True):
            ratio = costs[0] / cost
            print(f"{microseconds} us: efficiency of {workers} workers to {options.workers[0]} by CPU time {ratio:.3f}")


if __name__ == "__main__":
    main()
