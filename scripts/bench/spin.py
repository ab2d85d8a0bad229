"""A puzzle kind that only burns time: every puzzle is a number of microseconds. For measuring what the engine costs."""

from __future__ import annotations

from time import perf_counter, process_time, thread_time
from typing import Any

import numba
import numpy as np
import pyarrow as pa

from parallel_nono.attempt import OUTCOMES, STAGES, Limits
from parallel_nono.kinds import Kind, Solved


@numba.njit(nogil=True, cache=True)
def spin(rounds: int, state: int) -> int:
    for _ in range(rounds):
        state = (state * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF
        state ^= state >> 17
    return state


def rounds_of(seconds: float) -> int:
    """Rounds of `spin` that take this long on a quiet core: measured, best of some."""
    spin(10, 1)
    best = float("inf")
    for _ in range(20):
        began = thread_time()
        spin(1_000_000, 1)
        best = min(best, thread_time() - began)
    return int(seconds / best * 1_000_000)


def batches(n: int, rounds: int, size: int = 4096):  # type: ignore[no-untyped-def]
    """`n` puzzles of the same weight, as batches."""
    for start in range(0, n, size):
        count = min(size, n - start)
        index = np.arange(start + 1, start + count + 1, dtype=np.int32)
        digest = np.char.zfill(index.astype("S32"), 32)
        one, empty = pa.array(np.ones(count, np.int32)), pa.repeat(pa.scalar(""), count)
        yield pa.RecordBatch.from_arrays(
            [
                pa.repeat(pa.scalar("spin"), count),
                pa.repeat(pa.scalar("spin"), count),
                pa.array(index),
                pa.array(digest).cast(pa.string()),
                *(one, one, one, empty, empty, empty),
                pa.array(np.full(count, rounds)),
            ],
            [
                *("name", "source", "index", "digest", "height", "width", "n_colours"),
                *("metadata", "warnings", "error", "rounds"),
            ],
        )


def read(texts: list[tuple[str, bytes]]) -> pa.RecordBatch:
    raise NotImplementedError("made by `batches` only")


def title(chunk: pa.RecordBatch, place: int) -> str:
    return "spin"


def solve(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
    """One jitted call for the whole chunk; `line_s` is its CPU time, `search_s` all of the process so far."""
    rounds = chunk.column("rounds").to_numpy()
    n = len(rounds)
    began, cpu = perf_counter(), thread_time()
    solution = spin(int(rounds.sum()), 1)
    cpu, wall = thread_time() - cpu, perf_counter() - began
    columns = {
        "outcome": np.full(n, OUTCOMES.index("unique"), np.int8),
        "stage": np.full(n, STAGES.index("line"), np.int8),
        "line_s": np.full(n, cpu / n),
        "search_s": np.full(n, process_time()),
        "solve_s": np.full(n, wall / n),
    }
    return Solved(columns, solution, bool(abort[0]))


def check(chunk: pa.RecordBatch, solutions: Any) -> list[tuple[int, str]]:
    return []


KIND = Kind("spin", read, title, solve, check)
