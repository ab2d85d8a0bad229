"""The kind to copy: every line of a text is a puzzle, a whole number, and its one solution is the number doubled.

Complete and small: chunks in, columns out, no Python object per puzzle except where text is cut into lines.
"""

from __future__ import annotations

import hashlib
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..attempt import OUTCOMES, STAGES, Limits, Outcome
from . import FACTS, Kind, Solved, facts_of

NUMBER = "number"


def read(texts: list[tuple[str, bytes]]) -> pa.RecordBatch:
    """One puzzle a line; a line that is no number is a row with its error."""
    rows = []
    for source, data in texts:
        for index, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
            word = line.strip()
            fine = word.isdecimal() and len(word) <= 15
            error = "" if fine else f"{source}:{index}: expected a whole number of at most 15 digits, found `{word}`"
            digest = hashlib.blake2b(word.encode(), digest_size=16).hexdigest() if fine else ""
            rows.append((word, source, index, digest, 1, 1, 2, "", "", error, int(word) if fine else 0))
    columns = [*facts_of([row[:-1] for row in rows]), pa.array([row[-1] for row in rows], pa.int64())]
    return pa.RecordBatch.from_arrays(columns, [*FACTS, NUMBER])


def title(chunk: pa.RecordBatch, place: int) -> str:
    """Where the line stands."""
    return f"{chunk.column('source')[place]}:{chunk.column('index')[place]}"


def solve(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
    """Double every number."""
    began = perf_counter()
    doubled = chunk.column(NUMBER).to_numpy() * 2
    n = len(doubled)
    columns = {
        "outcome": np.full(n, OUTCOMES.index(Outcome.UNIQUE), np.int8),
        "stage": np.full(n, STAGES.index("line"), np.int8),
        "n_solutions": np.ones(n, np.int64),
        "exhausted": np.ones(n, bool),
        "solution": pc.cast(pa.array(doubled), pa.string()),
    }
    columns["solve_s"] = np.full(n, (perf_counter() - began) / max(n, 1))
    return Solved(columns, doubled, bool(abort[0]))


def check(chunk: pa.RecordBatch, solutions: Any) -> list[tuple[int, str]]:
    """The difference of solution and number must be the number."""
    numbers = chunk.column(NUMBER).to_numpy()
    wrong = np.flatnonzero(solutions - numbers != numbers)
    return [
        (place, f"expected {numbers[place] + numbers[place]}, found {solutions[place]}") for place in wrong.tolist()
    ]


KIND = Kind("null", read, title, solve, check)
