"""What a CUDA device brings: lines mode of huge puzzles, and batches of ordinary ones; against one thread of the CPU.

    python scripts/bench/device.py lines [--sizes 1000,2000,5000,10000,20000] [--cpu-up-to 5000] [--repeat 3]
    python scripts/bench/device.py batch [--sizes 20] [--puzzles 10000] [--kinds blobs,noise] [--threads 32,64,128]

Puzzles come from the generator. What the device says is held against the CPU, cell by cell, and what it knows in full
against the clues; the last column says `yes`, or how many puzzles differ, and then the script ends with 1. Wall
seconds, the least of several runs, each after one that has everything compiled. Ends with 69 where there is no device;
under Numba's simulator (NUMBA_ENABLE_CUDASIM=1) tiny sizes show that all parts work, and no times.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
from lines_mode import puzzle_of

from parallel_nono.attempt import Limits
from parallel_nono.checker.fast import check_set
from parallel_nono.cli.exits import Code
from parallel_nono.generator import generate_set
from parallel_nono.kernels.board import CONTRADICTION, OPEN, OPEN_CELL
from parallel_nono.kernels.clues import Clues
from parallel_nono.kernels.solve import read_out
from parallel_nono.puzzleset import clues_of
from parallel_nono.solver.cuda import Propagated, PropagatedSet, propagate, propagate_set, unavailable
from parallel_nono.solver.pipeline import solve_set
from parallel_nono.solver.results import Results

DENSITY = {"noise": 60}
"""Percent of ink of the pictures of batches; of other kinds what the generator has by itself."""

LIMITS = Limits(plan=("line",), seconds=3600)


def cells_of(clues: Clues, planes: np.ndarray, starts: np.ndarray, is_open: np.ndarray) -> np.ndarray:
    """The grids of a set, one after the other; OPEN_CELL everywhere in those that are not `is_open`."""
    sizes = clues.heights.astype(np.int64) * clues.widths
    cells, ends = np.full(int(sizes.sum()), OPEN_CELL, np.uint16), np.cumsum(sizes)
    for p in np.flatnonzero(is_open).tolist():
        read_out(clues.of(p), planes[starts[p] : starts[p + 1]], cells, int(ends[p] - sizes[p]))
    return cells


def differing(clues: Clues, cells: np.ndarray, refuted: np.ndarray, here: Results | None) -> int:
    """Puzzles of which the device says what neither the CPU says nor the clues allow; here  None: only the clues."""
    sizes = clues.heights.astype(np.int64) * clues.widths
    starts = np.concatenate([[0], np.cumsum(sizes)])
    known = np.logical_and.reduceat(cells != OPEN_CELL, starts[:-1]) & ~refuted
    wrong = check_set(clues, cells, starts, known) >= 0
    if here is not None:
        there_is_none = np.array([witness != "" for witness in here.witness])
        differs = np.logical_or.reduceat(cells != here.cells[0], starts[:-1])
        wrong |= (refuted != there_is_none) | (differs & ~refuted)
    return int(wrong.sum())


def alone(batch: pa.RecordBatch, repeat: int) -> tuple[float, Results]:
    """The least wall seconds of lines alone on one thread, and what it found."""
    found = []
    for _ in range(repeat):
        began = time.perf_counter()
        results = solve_set(batch, LIMITS)
        found.append((time.perf_counter() - began, results))
    return min(found, key=lambda pair: pair[0])


def verdict_of(n: int, cpu: bool) -> str:
    return f"{n} differ" if n else "yes" if cpu else "clues only"


def lines(sizes: list[int], cpu_up_to: int, repeat: int) -> int:
    """A huge puzzle at a time, its lines shared out; how many differ."""
    smallest = puzzle_of(min(sizes))
    propagate(clues_of(smallest))  # compiled
    alone(smallest, 1)
    print("| cells | rounds | visits | open | lines s | merge s | the rest s | CPU s | CPU / device | right |")
    print("|" + "---|" * 10)
    n_different = 0
    for size in sizes:
        batch = puzzle_of(size)
        clues = clues_of(batch)
        runs: list[tuple[float, Propagated]] = []
        for _ in range(repeat):
            began = time.perf_counter()
            found = propagate(clues)
            runs.append((time.perf_counter() - began, found))
        seconds, there = min(runs, key=lambda pair: pair[0])
        starts = np.array([0, len(there.planes)])
        cells = cells_of(clues, there.planes, starts, np.array([there.verdict == OPEN]))
        cpu_s, here = alone(batch, 1) if size <= cpu_up_to else (0.0, None)
        n_different += (n := differing(clues, cells, np.array([there.verdict == CONTRADICTION]), here))
        beside = f"{cpu_s:.3f} | {cpu_s / seconds:.2f}" if here else "- | -"
        rest = seconds - there.lines_s - there.merge_s
        print(
            f"| {size:,} x {size:,} | {there.n_rounds} | {there.n_lines:,} | {(cells == OPEN_CELL).sum():,} | "
            f"{there.lines_s:.3f} | {there.merge_s:.3f} | {rest:.3f} | {beside} | {verdict_of(n, here is not None)} |",
            flush=True,
        )
    return n_different


def batch(sizes: list[int], n_puzzles: int, kinds: list[str], threads: list[int], repeat: int) -> int:
    """Sets of ordinary puzzles, each puzzle by one block; how many differ."""
    print(
        "| puzzles | threads | launches | rounds | solved of visits | pack ms | transfer ms | kernel ms | "
        "us a puzzle | CPU us | CPU / device | right |"
    )
    print("|" + "---|" * 12)
    n_different = 0
    for kind in kinds:
        for size in sizes:
            options = {"density": DENSITY[kind]} if kind in DENSITY else {}
            puzzles = generate_set(kind, n_puzzles, size, size, seed=1, **options)
            clues = clues_of(puzzles)
            alone(puzzles.slice(0, 1), 1)
            cpu_s, here = alone(puzzles, repeat)
            for n_threads in threads:
                propagate_set(puzzles.slice(0, 1), n_threads)  # compiled
                runs: list[tuple[float, PropagatedSet]] = []
                for _ in range(repeat):
                    began = time.perf_counter()
                    found = propagate_set(puzzles, n_threads)
                    runs.append((time.perf_counter() - began, found))
                seconds, there = min(runs, key=lambda pair: pair[0])
                cells = cells_of(clues, there.planes, there.starts, there.verdict == OPEN)
                n_different += (n := differing(clues, cells, there.verdict == CONTRADICTION, here))
                milliseconds = (there.pack_s, there.transfer_s, there.kernel_s)
                print(
                    f"| {n_puzzles:,} {kind} {size} x {size} | {n_threads} | {there.n_launches} | "
                    f"{there.n_rounds.mean():.1f} | {there.n_solved.sum() / there.n_lines.sum():.0%} | "
                    + " | ".join(f"{part * 1e3:.2f}" for part in milliseconds)
                    + f" | {seconds / n_puzzles * 1e6:.2f} | {cpu_s / n_puzzles * 1e6:.2f} | {cpu_s / seconds:.2f} | "
                    f"{verdict_of(n, True)} |",
                    flush=True,
                )
    return n_different


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    of_lines = parts.add_parser("lines")
    of_lines.add_argument("--sizes", type=numbers, default=numbers("1000,2000,5000,10000,20000"))
    of_lines.add_argument("--cpu-up-to", type=int, default=5000, help="larger ones are held against their clues only")
    of_batch = parts.add_parser("batch")
    of_batch.add_argument("--sizes", type=numbers, default=[20])
    of_batch.add_argument("--puzzles", type=int, default=10_000)
    of_batch.add_argument("--kinds", type=lambda text: text.split(","), default=["blobs", "noise"])
    of_batch.add_argument("--threads", type=numbers, default=[32, 64, 128], help="of a block")
    for part in (of_lines, of_batch):
        part.add_argument("--repeat", type=int, default=3)
    given: Any = parser.parse_args()
    if why := unavailable():
        print(f"device.py: {why}", file=sys.stderr)
        raise SystemExit(Code.UNAVAILABLE)
    if given.part == "lines":
        n_different = lines(given.sizes, given.cpu_up_to, given.repeat)
    else:
        n_different = batch(given.sizes, given.puzzles, given.kinds, given.threads, given.repeat)
    raise SystemExit(Code.NO if n_different else Code.FINE)


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # of the simulator, where words wrap around with a warning
    main()
