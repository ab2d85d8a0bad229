"""What more workers bring: on a real collection, measured; and at how many the driver is the limit, by a simulation.

    python scripts/bench/scaling.py collection PATHS... [--workers 1 2 8] [--seconds S] [--against PYTHON]
        the same puzzles as files and packed, in turns: seconds without the start of the process, CPU of everything
    python scripts/bench/scaling.py costs [--seconds S] > costs.json     what a lease and a row cost, here and now
    python scripts/bench/scaling.py check costs.json [--seconds S]       the model against runs with 1, 2 and 4 workers
    python scripts/bench/scaling.py simulate costs.json                  1 to 4096 workers, puzzles of 10 us to 1 s

The model: a driver that serves one lease after the other, workers with two leases each (one in hand, one waiting), and
the way between them. Costs are CPU seconds, so that they depend little on what else the machine does.

    service of a lease at the driver   call + rows * (row + down)
    a lease at its worker              rows * (puzzle + worker_row) + worker_call

where `row` is what a row costs that travels (unpacking, summary, Parquet) or, if workers write their rows, what its
thin remains cost (`thin`); and `down` is what a packed puzzle costs on its way to the worker, nothing if workers read
the puzzles themselves.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import ray_overhead
import spin

from parallel_nono.attempt import Limits
from parallel_nono.engine import engine
from parallel_nono.engine.feed import MAX_WEIGHT, Feed
from parallel_nono.engine.parts import LEASE_S as PARTS_LEASE_S
from parallel_nono.engine.parts import MIN_ROWS, written
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.status_line import new_status_line
from parallel_nono.engine.work import LEASE_S, Chunk, Place, Work, attempt
from parallel_nono.engine.worker import packed, unpacked
from parallel_nono.generator import generate_set
from parallel_nono.kinds import kind
from parallel_nono.report.parquet import Writer, sessions
from parallel_nono.report.summary import Summary

WINDOW = 2
WAY_S = 0.5e-3
"""One message; half of an actor call that waits for its reply."""


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU seconds.

    idle         of the driver for a second, whatever comes.
    call         of the driver for a lease, whatever is in it;  row, thin, down  for a row or a puzzle of it.
    adopt        of the driver for a part that a worker wrote.
    worker_call  of the worker for a lease beside the puzzles;  worker_row  for a row of it.
    daemons      of Ray's own processes, for a second.
    """

    idle: float
    call: float
    row: float
    thin: float
    down: float
    adopt: float
    worker_call: float
    worker_row: float
    daemons: float


def line(sizes: list[int], times: list[float]) -> tuple[float, float]:
    """Offset and slope of the straight line through these points, the relative error of each counting the same."""
    design = np.stack([np.ones(len(sizes)), np.array(sizes, float)], axis=1) / np.array(times)[:, None]
    offset, slope = np.linalg.lstsq(design, np.ones(len(sizes)), rcond=None)[0]
    return float(offset), float(slope)


def cpu_of(function: Callable[[], Any], min_s: float = 0.3) -> float:
    """CPU seconds of a call, over at least so many seconds."""
    function()
    began, n = time.process_time(), 0
    while time.process_time() - began < min_s:
        function()
        n += 1
    return (time.process_time() - began) / n


def rows_and_puzzles(n: int) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Rows of solved noise of 15x15, with solutions, and the puzzles as they travel."""
    batch = generate_set("noise", n, 15, 15, 1, density=60)
    work, found, rest = Work(kind("nonogram"), Limits(plan=("line",)), "bench"), [], batch
    while rest is not None:
        done = attempt(work, Chunk(batch=rest), new_status_line(), Place("ray", "host", "worker"))
        found += done.rows
        rest = done.rest
    return pa.Table.from_batches(found).combine_chunks().to_batches()[0], batch


def costs(seconds: float) -> Costs:
    rows, puzzles = rows_and_puzzles(MAX_WEIGHT)
    sizes = [256, 1024, 4096, MAX_WEIGHT]
    full, thin, down = [], [], []
    with tempfile.TemporaryDirectory() as folder, Writer(Path(folder, "out"), {}, {"run": "bench"}, "bench") as out:
        invitation = out.invite()
        for n in sizes:
            wire = packed([rows.slice(0, n)])

            def accept(wire: bytes = wire) -> None:
                for batch in unpacked(wire):
                    out.write(batch)
                    Summary().add(batch)

            full.append(cpu_of(accept))
            down.append(cpu_of(lambda n=n: packed([puzzles.slice(0, n)])))
            if n >= MIN_ROWS:
                (small,) = written(invitation, [rows.slice(0, n)])
                thin_wire = packed([small])

                def accept_thin(wire: bytes = thin_wire) -> None:
                    for batch in unpacked(wire):
                        Summary().add(batch)

                thin.append(cpu_of(accept_thin))
        written_parts = [written(invitation, [rows.slice(0, MIN_ROWS)])[0] for _ in range(50)]
        began = time.process_time()
        for part in written_parts:
            out.write(part)
        adopt = (time.process_time() - began) / len(written_parts)
    row, thin_row, down_row = line(sizes, full)[1], line(sizes[1:], thin)[1], line(sizes, down)[1]
    # The same puzzles in small leases and in large ones: what differs is the number of leases.
    small, large = (run(2, 1000, seconds, lease_s) for lease_s in (0.02, LEASE_S))
    driver = [[found["wall"], found["leases"]] for found in (small, large)]
    idle, call = np.linalg.solve(driver, [found["driver"] - row * found["rows"] for found in (small, large)])
    worker = [[found["rows"], found["leases"]] for found in (small, large)]
    worker_row, worker_call = np.linalg.solve(worker, [found["workers"] - found["kernel"] for found in (small, large)])
    print(json.dumps({"small": small, "large": large}))
    return Costs(
        idle=max(0.0, float(idle)),
        call=float(call),
        row=row,
        thin=thin_row,
        down=down_row,
        adopt=adopt,
        worker_call=max(0.0, float(worker_call)),
        worker_row=max(0.0, float(worker_row)),
        daemons=(small["daemons"] + large["daemons"]) / (small["wall"] + large["wall"]),
    )


def run(workers: int, microseconds: int, seconds: float, lease_s: float = LEASE_S) -> dict[str, float]:
    """CPU seconds of a run of puzzles that spin, from a fifth to nine tenths of its rows, and what was done."""
    n, rounds = int(workers * seconds / (microseconds * 1e-6)), spin.rounds_of(microseconds * 1e-6)
    session, done, leases = Session(Pool(workers)), 0, 0
    start: dict[str, float] = {}
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    kernel = began = 0.0
    n_start = 0
    with tempfile.TemporaryDirectory() as folder, Writer(Path(folder, "out"), {}, {"run": "bench"}, "bench") as out:
        summary, end, wall = Summary(), {}, 0.0
        work, feed = Work(spin.KIND, Limits()), Feed(spin.batches(n, rounds), workers, None, lease_s)
        with closing(engine("ray")(work, feed, session)) as batches:  # type: ignore[type-var]
            for rows in batches:
                out.write(rows)
                if rows.num_rows:
                    summary.add(rows)
                    done += rows.num_rows
                if not rows.num_rows or done < n // 5 or end:
                    continue
                worker, cpu = rows.column("worker")[0].as_py(), rows.column("search_s")[0].as_py()
                if not start:
                    start, began, n_start = ray_overhead.cpu_of_the_rest(), time.perf_counter(), done
                if worker in first:
                    kernel += float(rows.column("line_s").to_numpy().sum(dtype=float))
                    leases += 1
                last[worker] = cpu
                first.setdefault(worker, cpu)
                if done > 0.9 * n:
                    end, wall = ray_overhead.cpu_of_the_rest(), time.perf_counter() - began
    return {
        **{part: end[part] - start[part] for part in end},
        "workers": sum(last[worker] - first[worker] for worker in last),
        "kernel": kernel,
        "leases": leases,
        "rows": done - n_start,
        "wall": wall,
    }


def service(costs: Costs, rows: int, parts: bool, shared: bool) -> float:
    """Seconds of the driver for a lease."""
    if parts and rows >= MIN_ROWS:
        return costs.call + costs.adopt + rows * (costs.thin + (0.0 if shared else costs.down))
    return costs.call + rows * (costs.row + (0.0 if shared else costs.down))


def rows_of(puzzle_s: float, parts: bool) -> int:
    return max(1, min(MAX_WEIGHT, round((PARTS_LEASE_S if parts else LEASE_S) / puzzle_s)))


def simulate(costs: Costs, workers: int, puzzle_s: float, parts: bool, shared: bool, turns: int = 12) -> float:
    """Efficiency: the part of the workers' time that is spent on puzzles, once everything is under way."""
    n = rows_of(puzzle_s, parts)
    work_s, serve_s = n * (puzzle_s + costs.worker_row) + costs.worker_call, service(costs, n, parts, shared)
    chance = np.random.default_rng(1)
    waiting = np.full(workers, WINDOW - 1)  # leases that wait at a worker, beside the one in hand
    busy = np.ones(workers, bool)
    # Events: a worker ends a lease (it goes to the driver), or a new lease reaches a worker.
    events = [(float(chance.random() * work_s), worker, True) for worker in range(workers)]
    heapq.heapify(events)
    free_at, end_at, done_late, late_from = 0.0, 0.0, 0, turns // 3 * workers
    n_done, began = 0, 0.0
    while n_done < turns * workers:
        now, worker, ended = heapq.heappop(events)
        if ended:
            n_done += 1
            if n_done == late_from:
                began = now
            done_late += n_done > late_from
            end_at = now
            free_at = max(free_at, now + WAY_S) + serve_s / (1 - costs.idle)
            heapq.heappush(events, (free_at + WAY_S, worker, False))
            if waiting[worker]:
                waiting[worker] -= 1
                heapq.heappush(events, (now + work_s, worker, True))
            else:
                busy[worker] = False
        elif busy[worker]:
            waiting[worker] += 1
        else:
            busy[worker] = True
            heapq.heappush(events, (now + work_s, worker, True))
    return float(min(1.0, done_late * n * puzzle_s / ((end_at - began) * workers)))


SIZES = [2**k for k in range(13)]
PUZZLES = (10e-6, 100e-6, 1e-3, 10e-3, 100e-3, 1.0)
WAYS = {"rows travel": (False, False), "workers write": (True, False), "and read": (True, True)}


def table(costs: Costs) -> None:
    for name, (parts, shared) in WAYS.items():
        print(f"\n{name}: efficiency in %, and workers up to which it stays above 90 %\n")
        print("| a puzzle takes | rows a lease | driver, a lease | " + " | ".join(map(str, SIZES[::2])) + " | 90 % |")
        print("|---" * (4 + len(SIZES[::2])) + "|")
        for puzzle_s in PUZZLES:
            n = rows_of(puzzle_s, parts)
            found = {workers: simulate(costs, workers, puzzle_s, parts, shared) for workers in SIZES[::2]}
            alone = found[1]
            low, high = 1, 1 << 16
            while high - low > max(1, low // 50):
                middle = (low + high) // 2
                fine = simulate(costs, middle, puzzle_s, parts, shared, 6) >= 0.9 * min(alone, 1.0)
                low, high = (middle, high) if fine else (low, middle)
            served = service(costs, n, parts, shared)
            cells = " | ".join(f"{100 * found[w]:.0f}" for w in SIZES[::2])
            most = f"{low}" if low < 60_000 else "> 60,000"
            print(f"| {puzzle_s * 1e3:g} ms | {n:,} | {served * 1e3:.2f} ms | {cells} | {most} |", flush=True)


def check(costs: Costs, seconds: float) -> None:
    """CPU beside the puzzles, as the model has it and as it is measured."""
    print("| a puzzle takes | workers | model: driver | measured | model: workers | measured |")
    print("|---" * 6 + "|")
    for microseconds in (200, 20_000):
        for workers in (1, 2, 4):
            found = run(workers, microseconds, seconds)
            n = found["rows"] / found["leases"]
            kernel = found["kernel"] / found["leases"]
            driver = (
                costs.call + n * costs.row + costs.idle * found["wall"] / found["leases"]
            ) / kernel  # the bench's puzzles weigh nothing on their way
            worker = (costs.worker_call + n * costs.worker_row) / kernel
            measured = found["driver"] / found["kernel"], found["workers"] / found["kernel"] - 1
            cells = (driver, measured[0], worker, measured[1])
            print(
                f"| {microseconds} us | {workers} | " + " | ".join(f"{100 * cell:.2f} %" for cell in cells) + " |",
                flush=True,
            )


def collection(options: argparse.Namespace) -> None:
    """Runs of a collection in turns; the best of each kind, by the clock and by CPU."""
    trees = {"this": sys.executable} | ({"other": options.against} if options.against else {})
    found: dict[tuple[str, str, int], list[tuple[float, float, int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        packed_set = str(Path(folder, "set.parquet"))
        command = [sys.executable, "-m", "parallel_nono", "pack", *options.files, packed_set]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)  # 3: some are broken
        for turn in range(options.turns):
            for form, paths in (("packed", [packed_set]), ("files", options.files)):
                for workers in options.workers:
                    for tree, python in trees.items():
                        out = Path(folder, f"out-{turn}-{form}-{workers}-{tree}")
                        one = timed_run(python, paths, workers, options.seconds, out)
                        found.setdefault((tree, form, workers), []).append(one)
    print("| tree | form | workers | puzzles | seconds | over 1 | CPU s | of 1 | CPU ms a puzzle |\n|" + "---|" * 9)
    for (tree, form, workers), runs in found.items():
        seconds, cpu = (min(run[place] for run in runs) for place in (0, 1))
        first = found[tree, form, options.workers[0]]
        alone, alone_cpu = (min(run[place] for run in first) for place in (0, 1))
        n = runs[0][2]
        cells = (
            f"{n} | {seconds:.2f} | {alone / seconds:.2f} | {cpu:.2f} | {cpu / alone_cpu:.2f} | {1000 * cpu / n:.2f}"
        )
        print(f"| {tree} | {form} | {workers} | {cells} |")


def timed_run(python: str, paths: list[str], workers: int, seconds: float, out: Path) -> tuple[float, float, int]:
    """Seconds of a run without the start of its process, CPU seconds of it and all that it started, and its rows."""
    command = [python, "-m", "parallel_nono", "run", *paths, "--quiet", "--out", str(out)]
    command += ["--workers", str(workers), "--seconds", str(seconds), "--engine", "local"]
    process = subprocess.Popen(command, cwd=out.parent)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    last = sessions(out)[-1]
    return last["seconds"], used.ru_utime + used.ru_stime, pq.read_table(out / "rows", columns=["name"]).num_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("collection", "costs", "check", "simulate"))
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seconds", type=float, default=8.0, help="of the kernel, each worker and run; or a puzzle")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--against", help="the interpreter of another tree")
    options = parser.parse_args()
    if options.what == "collection":
        options.files = [os.path.abspath(path) for path in options.files]
        collection(options)
        return
    options.file = Path(options.files[0]) if options.files else None
    if options.what == "costs":
        print(json.dumps(asdict(costs(options.seconds))))
        return
    known = Costs(**json.loads(options.file.read_text().splitlines()[-1]))
    if options.what == "check":
        check(known, options.seconds)
    else:
        table(known)


if __name__ == "__main__":
    main()
