"""A puzzle kind that misbehaves on command, for tests of the engines. Reached by import only, never from outside.

A puzzle is a line: `7` is solved (solution 14); others are words:

    kill segfault exit     the process dies
    kill-once:PATH         dies the first time (PATH is made), is solved the second
    hang                   hears nothing: sleeps for an hour
    endless                runs until told to stop
    slow:SECONDS           takes so long, or `timeout` when the limit is less
    eat:MEBIBYTES          takes so much memory, holds it for ten seconds, is solved
    raise                  a fault of the solver
    wrong                  a solution that the checker rejects
    broken                 can't be read
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from parallel_nono.attempt import OUTCOMES, STAGES, Limits
from parallel_nono.kinds import Kind, Solved

WORDS = ("kill", "segfault", "exit", "hang", "endless", "raise", "wrong")


def read(texts: list[tuple[str, bytes]]) -> pa.RecordBatch:
    rows: list[dict[str, Any]] = []
    for source, data in texts:
        if data.startswith(b"die while reading"):
            os.kill(os.getpid(), signal.SIGKILL)
        for index, word in enumerate(data.decode().split(), start=1):
            known = word.isdecimal() or word.startswith(("slow:", "kill-once:", "eat:")) or word in WORDS
            rows.append(
                {
                    "name": word,
                    "source": source,
                    "index": index,
                    "digest": hashlib.blake2b(word.encode(), digest_size=16).hexdigest(),
                    "height": 1,
                    "width": 1,
                    "n_colours": 2,
                    "metadata": "",
                    "warnings": "",
                    "error": "" if known else f"{source}:{index}: expected a known word, found `{word}`",
                }
            )
    kinds = {name: pa.int32() for name in ("index", "height", "width", "n_colours")}
    names = ("name", "source", "index", "digest", "height", "width", "n_colours", "metadata", "warnings", "error")
    schema = pa.schema([pa.field(name, kinds.get(name, pa.string()), nullable=False) for name in names])
    return pa.RecordBatch.from_pylist(rows, schema)


def title(chunk: pa.RecordBatch, place: int) -> str:
    return str(chunk.column("name")[place])


def solve(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
    """Word by word; told to hand back (less than 0), it ends the one in hand."""
    words = chunk.column("name").to_pylist()
    n, n_done = len(words), 0
    outcomes, solutions, times = ["invalid"] * n, [""] * n, [0.0] * n
    for place, word in enumerate(words):
        if abort[0]:
            break
        began = time.perf_counter()
        outcomes[place] = _one(word, limits, abort)
        if outcomes[place] == "unique":
            solutions[place] = str(2 * int(word)) if word.isdecimal() else word
        times[place] = time.perf_counter() - began
        if abort[0] > 0:
            break
        n_done += 1
    columns = {
        "outcome": np.array([OUTCOMES.index(o) for o in outcomes], np.int8),
        "stage": np.full(n, STAGES.index("line"), np.int8),
        "n_solutions": np.array([o == "unique" for o in outcomes], np.int64),
        "exhausted": np.array([o == "unique" for o in outcomes]),
        "solve_s": np.array(times),
        "solution": pa.array(solutions, pa.string()),
    }
    return Solved(columns, solutions, n_done < n, np.arange(n) < n_done)


def _one(word: str, limits: Limits, abort: np.ndarray) -> str:
    if word == "kill" or (word.startswith("kill-once:") and not Path(word[10:]).exists()):
        if word != "kill":
            Path(word[10:]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    if word == "segfault":
        ctypes.string_at(0)
    if word == "exit":
        os._exit(3)
    if word == "hang":
        time.sleep(3600)
    if word.startswith("eat:"):
        held = np.ones(int(word[4:]) << 17)  # written to, so that it is really taken
        time.sleep(10 * held[-1])
    if word == "raise":
        raise IndexError("out of range, on purpose")
    if word == "endless" or word.startswith("slow:"):
        wanted = float(word[5:] if word != "endless" else "inf")
        end = time.monotonic() + min(limits.seconds, wanted)
        while time.monotonic() < end and not abort[0] > 0:
            time.sleep(0.005)
        return "unique" if wanted <= limits.seconds else "timeout"
    return "unique"


def check(chunk: pa.RecordBatch, solutions: Any) -> list[tuple[int, str]]:
    return [(place, "wrong on purpose") for place, solution in enumerate(solutions) if solution == "wrong"]


KIND = Kind("faults", read, title, solve, check)
