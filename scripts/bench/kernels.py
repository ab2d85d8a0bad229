"""Kernels on whole puzzles: propagation alone, and decisions; figures for the diary (README.md here).

    python scripts/bench/kernels.py                                  sets of our own, blobs20 ... noise25
    python scripts/bench/kernels.py noise25                          one set
    python scripts/bench/kernels.py --yardstick FOLDER image20       beside the prototypes, on a set of theirs

All times are CPU times of one thread. `propagate` is lines to the fixpoint; `decide` stops at two solutions. Ours are
called once a chunk, as a run does it, with all that surrounds the kernels in solve_set; prototypes, where there are
any, once a puzzle from Python (about 3 us of their figure).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from parallel_nono.attempt import OUTCOMES, Limits
from parallel_nono.generator import generate_set
from parallel_nono.kernels.board import N_LINES
from parallel_nono.kernels.narrow import propagate_narrow
from parallel_nono.kernels.replay import propagate_all
from parallel_nono.puzzleset import SetBuilder, clues_of
from parallel_nono.solver.pipeline import solve_set

OURS = {
    "blobs20": ("blobs", 20, 500),
    "blobs50": ("blobs", 50, 200),
    "blobs64": ("blobs", 64, 100),
    "noise20": ("noise", 20, 500),
    "noise25": ("noise", 25, 200),
}
"""Kind of picture, side, number of puzzles."""
THEIRS = ("image20", "image50", "image64", "rand20", "rand25")
ROUNDS = 7
CHUNK = 2000


def set_of_clues(puzzles: list[tuple[list[list[int]], list[list[int]]]]) -> pa.RecordBatch:
    """A puzzle set of (rows, columns) given as lists of lengths."""
    builder = SetBuilder()
    for rows, columns in puzzles:
        clues = [*rows, *columns]
        builder.add_black_white(
            [len(rows)],
            [len(columns)],
            np.array([len(clue) for clue in clues], np.int32),
            np.array([length for clue in clues for length in clue], np.int32),
            [""],
            "bench",
        )
    return builder.finish()


def cpu(call, rounds: int = ROUNDS) -> float:  # type: ignore[no-untyped-def]
    """The median CPU seconds of a call."""
    call()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def measure_set(name: str, batch: pa.RecordBatch, yard: Any = None, puzzles: Any = None) -> None:
    """Print a line for propagation and one for decisions; `yard`, `puzzles`: the prototypes, and the same puzzles."""
    packed = [yard.pack(rows, columns) for rows, columns in puzzles] if yard else []
    clues, n = clues_of(batch), batch.num_rows
    words, numbers, left = np.zeros(1 << 16, np.uint64), np.zeros(1 << 16, np.int64), np.zeros(n, np.int64)

    def ours() -> None:
        propagate_all(propagate_narrow, clues, words, numbers, left)

    pairs = [(cpu(ours) / n, yard.propagate_only(packed) if yard else 0.0) for _ in range(5)]
    mine = statistics.median(a for a, _ in pairs)
    numbers[N_LINES] = 0
    ours()
    print(
        f"{name:8s} propagate  ours {mine * 1e6:7.2f} us  visits {numbers[N_LINES] / n:.1f} a puzzle{beside(pairs)}",
        flush=True,
    )

    # As a run does it: chunks of some thousand puzzles, so the fixed cost of a call is spread over as many.
    copies = max(1, CHUNK // n)
    batch = pa.Table.from_batches([batch] * copies).combine_chunks().to_batches()[0]
    results = solve_set(batch, Limits())
    pairs = []
    for _ in range(5):
        theirs = 0.0
        for puzzle in packed:
            start = time.process_time()
            yard.decide(*puzzle)
            theirs += (time.process_time() - start) / n
        pairs.append((cpu(lambda: solve_set(batch, Limits()), 3) / (n * copies), theirs))
    mine, median = statistics.median(a for a, _ in pairs) * 1e3, float(np.median(results.solve_s)) * 1e3
    outcomes = dict(Counter(str(OUTCOMES[code]) for code in results.outcome))
    print(
        f"{name:8s} decide     ours mean {mine:.4f} median {median:.4f} ms  visits {results.n_lines.mean():.0f}, "
        f"probes {results.n_probes.mean():.0f}, branches {results.n_branches.mean():.2f} a puzzle  {outcomes}"
        f"{beside(pairs)}",
        flush=True,
    )


def beside(pairs: list[tuple[float, float]]) -> str:
    """What the prototypes took in the same turns, and how much longer that is; nothing where there are none."""
    theirs = statistics.median(b for _, b in pairs)
    return (
        f"  prototype {theirs * 1e6:.2f} us, speed {statistics.median(b / a for a, b in pairs):.2f}" if theirs else ""
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yardstick", type=Path, help="folder of the prototypes")
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join((*OURS, *THEIRS)))
    options = parser.parse_args()
    if options.yardstick is None:
        for name in options.sets or OURS:
            kind, side, count = OURS[name]
            measure_set(name, generate_set(kind, count, side, side, seed=1))
        return
    sys.path.insert(0, str(options.yardstick.resolve()))
    sys.argv = sys.argv[:1]
    import yard

    yard.decide(*yard.pack([[1]], [[1]]))
    yard.LCG_A.solve(*yard.pack([[1]], [[1]]), 10)
    yard.LCG_B.solve(*yard.pack([[1]], [[1]]), 10)
    for name in options.sets or THEIRS:
        puzzles = yard.SETS[name]()
        measure_set(name, set_of_clues(puzzles), yard, puzzles)


if __name__ == "__main__":
    main()
