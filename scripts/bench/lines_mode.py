"""Lines mode: sizes by workers, against one thread and against a plain pool of threads; where the time of a phase goes.

    python scripts/bench/lines_mode.py sweep [--sizes 20,50,...] [--workers 1,2,4,8] [--ray] [--repeat 3]
    python scripts/bench/lines_mode.py article [--puzzles 300]
    python scripts/bench/lines_mode.py huge [--size 20000] [--workers 2]

Every figure is of one run of this script. Wall seconds mean little where the machine has other work, so CPU seconds of
all workers stand beside them: `ideal` is what the wall would be if every worker had a core of its own: the longest
worker of each phase, taken as its jobs' CPU time shared out evenly, and what is done between phases.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from parallel_nono.attempt import Limits
from parallel_nono.engine.session import Pool, Session
from parallel_nono.generator import generate_huge, generate_set
from parallel_nono.kernels.lanes import MAX_JOBS
from parallel_nono.kernels.layout import FIRST_LEVELS
from parallel_nono.kernels.survey import WIDE_FAMILY, room
from parallel_nono.lanes import run as lanes_run
from parallel_nono.lanes.arena import Arena, WorkArrays
from parallel_nono.lanes.compiling import compile_lanes
from parallel_nono.lanes.coordinator import Coordinator
from parallel_nono.lanes.rounds import Rounds
from parallel_nono.lanes.team import Threads
from parallel_nono.puzzleset import clues_of
from parallel_nono.solver import solve_set
from parallel_nono.solver.pipeline import MAX_STACK_WORDS

ONLY_LINES = Limits(plan=("line",), seconds=600)
DENSITY = ((60, 72), (120, 76), (250, 80), (600, 85), (1500, 88), (3000, 90), (7000, 92), (15_000, 94), (1 << 30, 95))
"""Percent of ink at which noise up to a size is solved by lines."""


def puzzle_of(size: int) -> pa.RecordBatch:
    return generate_huge("noise", size, size, seed=1, density=next(d for most, d in DENSITY if size <= most))


def scratch_of(batch: pa.RecordBatch) -> int:
    return room(clues_of(batch), np.array([0]), WIDE_FAMILY, FIRST_LEVELS, MAX_STACK_WORDS)[0]


def best(times: list[tuple[float, ...]]) -> tuple[float, ...]:
    """The least of each figure."""
    return tuple(min(figures) for figures in zip(*times, strict=True))


def local(batch: pa.RecordBatch) -> tuple[float, float]:
    """Wall and CPU seconds of the stage `line` on one thread."""
    cpu = time.thread_time()
    results = solve_set(batch, ONLY_LINES)
    cpu = time.thread_time() - cpu
    return float(results.line_s[0]), cpu


class Figures:
    """Of one puzzle by a coordinator: wall, CPU of all workers in jobs, and the parts of `Spent` in seconds."""

    def __init__(self, batch: pa.RecordBatch, coordinator: Coordinator, n_workers: int, processes: list[Any]) -> None:
        before = cpu_of(processes)
        results = solve_set(batch, ONLY_LINES, lines=coordinator)
        self.cpu = cpu_of(processes) - before
        spent = coordinator.spent.pop(max(coordinator.spent))
        self.wall = float(results.line_s[0])
        self.rounds, self.visits, self.n_open = (
            int(results.n_rounds[0]),
            int(results.n_lines[0]),
            int(results.n_open[0]),
        )
        self.solve_lines, self.merge, self.busy = spent.lines * 1e-9, spent.merge * 1e-9, spent.busy * 1e-9
        self.solving, self.merging, self.between = spent.solving * 1e-9, spent.merging * 1e-9, spent.between * 1e-9
        self.tiles, self.jobs, self.setup = spent.tiles, spent.jobs, spent.setup * 1e-9
        self.n_workers = n_workers

    @property
    def idle(self) -> float:
        """Seconds of workers that were at nothing while a phase was on."""
        return max(0.0, (self.solving + self.merging) * self.n_workers - self.busy)


def cpu_of(processes: list[Any]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def plain_threads(batch: pa.RecordBatch, n_workers: int) -> tuple[float]:
    """Wall seconds of the same phases by a pool of threads that is given a task for each worker and phase."""
    clues = clues_of(batch)
    began = time.perf_counter()
    arena = Arena.of(clues, 0, scratch_of(batch), n_workers + 1, False)
    work_arrays = [WorkArrays(arena, n) for n in range(n_workers + 1)]
    rounds = Rounds(arena, work_arrays[-1])
    height, width = arena.shape.height, arena.shape.width
    rounds.begin()
    with ThreadPoolExecutor(n_workers) as pool:
        side = idle = 0
        while idle < 2:
            n = rounds.plan(*((0, height), (height, height + width))[side], False)
            side ^= 1
            idle = 0 if n else idle + 1
            if not n:
                continue
            rounds.n_round += 1
            rounds.solve_lines()
            list(pool.map(lambda arrays: arrays.serve(MAX_JOBS), work_arrays[:-1]))
            assert rounds.done()
            if rounds.merge():
                list(pool.map(lambda arrays: arrays.serve(MAX_JOBS), work_arrays[:-1]))
                assert rounds.done()
    return (time.perf_counter() - began,)


def sweep(sizes: list[int], workers: list[int], with_ray: bool, repeat: int) -> None:
    heads = "visits rounds | local wall    cpu | workers   wall  ideal  setup  solve  merge between   idle  jobs | "
    print(f"size    {heads}wall: local/lines  pool/lines | local wall/ideal")
    for engine in ("local", "ray") if with_ray else ("local",):
        for n_workers in workers:
            began = time.perf_counter()
            lanes = lanes_run.coordinator(Session(Pool(n_workers)), engine)
            processes = [psutil.Process()] + (psutil.Process().children(recursive=True) if engine == "ray" else [])
            ready = None
            for size in sizes:
                batch = puzzle_of(size)
                tries = max(repeat, min(50, 100_000 // size**2 + 1))
                found = [Figures(batch, lanes, n_workers, processes) for _ in range(tries)]
                if ready is None:
                    ready = time.perf_counter() - began
                    print(f"{engine}, {n_workers} workers: the first puzzle is done after {ready:.2f} s")
                alone = best([local(batch) for _ in range(tries)])
                pool = best([plain_threads(batch, n_workers) for _ in range(min(tries, 5))])[0]
                at = min(found, key=lambda f: f.wall)
                fewest = min(found, key=lambda f: f.solve_lines + f.merge)
                ideal = (fewest.solve_lines + fewest.merge) / n_workers + min(f.between + f.setup for f in found)
                print(
                    f"{size:6} {at.visits:8} {at.rounds:6} | {ms(alone[0])} {ms(alone[1])} | {engine:5} {n_workers} "
                    f"{ms(at.wall)} {ms(ideal)} {ms(at.setup)} {ms(at.solve_lines)} {ms(at.merge)} {ms(at.between)} "
                    f"{ms(at.idle)} {at.jobs:5} | "
                    f"{alone[0] / at.wall:5.2f} {pool / at.wall:5.2f} | {alone[0] / ideal:5.2f}"
                    + (f"  ({at.n_open} cells open)" if at.n_open else ""),
                    flush=True,
                )
            lanes.close(5.0)


def ms(seconds: float) -> str:
    return f"{seconds * 1e3:8.2f}"


def article(n_puzzles: int) -> None:
    """Rows and columns of every round in two threads: the average of ordinary puzzles, and a large one."""
    batch = generate_set("blobs", n_puzzles, 25, 25, seed=3)
    hardest = puzzle_of(250)
    for name, puzzles in (
        ("ordinary 25x25", [batch.slice(p, 1) for p in range(n_puzzles)]),
        ("one 250x250", [hardest]),
    ):
        figures: dict[str, list[float]] = {}
        for _ in range(3):
            for way, run in (
                ("one thread", one_thread),
                ("two new threads a round", new_threads),
                ("two that stay", stay),
            ):
                took = [run(puzzle) for puzzle in puzzles]
                figures.setdefault(way, []).append(statistics.mean(took))
        first = min(figures["one thread"])
        for way, means in figures.items():
            print(f"{name:16} {way:24} average {min(means) * 1e3:8.3f} ms, {min(means) / first:6.2f} times one thread")


def in_phases(batch: pa.RecordBatch, serve: Callable[[list[WorkArrays]], object]) -> float:
    """Seconds of the rounds of a puzzle, rows and columns at once, each phase done by `serve`."""
    clues = clues_of(batch)
    arena = Arena.of(clues, 0, scratch_of(batch), 3, False)
    work_arrays = [WorkArrays(arena, n) for n in range(2)]
    rounds = Rounds(arena, WorkArrays(arena, 2))
    rounds.begin()
    began = time.perf_counter()
    changed = True
    while not rounds.is_known() and (changed or rounds.n_round < 2):
        rounds.plan(0, arena.shape.n_lines, True)
        rounds.n_round += 1
        halve(rounds)
        rounds.solve_lines()
        serve(work_arrays)
        assert rounds.done()
        changed = rounds.merge()
        if changed:
            work_arrays[0].serve(MAX_JOBS)
            assert rounds.done()
    return time.perf_counter() - began


def halve(rounds: Rounds) -> None:
    """Two jobs: the rows and the columns."""
    lanes = rounds.arena.lanes
    n = int(lanes.bounds[rounds.n_jobs])
    middle = int(np.searchsorted(lanes.jobs[:n], rounds.arena.shape.height))
    lanes.bounds[:3] = 0, middle, n
    rounds.n_jobs = 2


def one_thread(batch: pa.RecordBatch) -> float:
    return in_phases(batch, lambda work_arrays: work_arrays[0].serve(MAX_JOBS))


def new_threads(batch: pa.RecordBatch) -> float:
    def serve(work_arrays: list[WorkArrays]) -> None:
        threads = [Thread(target=arrays.serve, args=(1,)) for arrays in work_arrays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work_arrays[0].serve(MAX_JOBS)

    return in_phases(batch, serve)


def stay(batch: pa.RecordBatch) -> float:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda n: n, range(2)))
        return in_phases(batch, lambda work_arrays: list(pool.map(lambda arrays: arrays.serve(1), work_arrays)))


def huge(size: int, n_workers: int) -> None:
    """Generated, solved and checked: seconds and peak memory of each step of this process."""
    from parallel_nono.kinds import kind

    def note(step: str, began: float) -> None:
        peak = int(
            next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmHWM")).split()[1]
        )
        print(f"{step:12} {time.perf_counter() - began:7.1f} s, peak {peak / 2**20:5.2f} GiB", flush=True)

    began = time.perf_counter()
    batch = puzzle_of(size)
    note("generated", began)
    began = time.perf_counter()
    coordinator = Coordinator(Threads(n_workers))
    results = solve_set(batch, ONLY_LINES, lines=coordinator)
    note("solved", began)
    began = time.perf_counter()
    rejected = kind("nonogram").check(batch, results)
    note("checked", began)
    print(f"{results.n_rounds[0]} rounds, {results.n_lines[0]} visits, {results.n_open[0]} cells open, "
          f"{coordinator.spent}, rejected: {rejected}")  # fmt: skip


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    of_sweep = parts.add_parser("sweep")
    of_sweep.add_argument("--sizes", type=numbers, default=numbers("20,50,100,200,500,1000,2000,5000,10000"))
    of_sweep.add_argument("--workers", type=numbers, default=numbers("1,2,4,8"))
    of_sweep.add_argument("--ray", action="store_true")
    of_sweep.add_argument("--repeat", type=int, default=3)
    of_article = parts.add_parser("article")
    of_article.add_argument("--puzzles", type=int, default=300)
    of_huge = parts.add_parser("huge")
    of_huge.add_argument("--size", type=int, default=20_000)
    of_huge.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    compile_lanes()
    if given.part == "sweep":
        sweep(given.sizes, given.workers, given.ray, given.repeat)
    elif given.part == "article":
        article(given.puzzles)
    else:
        huge(given.size, given.workers)


if __name__ == "__main__":
    main()
