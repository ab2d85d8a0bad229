"""Kernels against the yardstick prototypes, in one run on the same puzzles; figures for the diary (README.md here).

    python scripts/bench/kernels.py ../shared/yardstick              the sets image20 ... rand25
    python scripts/bench/kernels.py ../shared/yardstick rand30       one set

All times are CPU times of one thread. `propagate` is lines to the fixpoint; `decide` stops at two solutions. The
yardstick is called once a puzzle from Python (about 3 us of its figure); ours once a chunk, as a run does it, with
all that surrounds the kernels in solve_set.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa

from parallel_nono.attempt import OUTCOMES, Limits
from parallel_nono.kernels import kernel
from parallel_nono.kernels.board import N_LINES, all_waiting, board_of, open_cells, open_planes
from parallel_nono.kernels.narrow import propagate_narrow
from parallel_nono.puzzleset import SetBuilder, clues_of
from parallel_nono.solver.pipeline import solve_set

SETS = ("image20", "image50", "image64", "rand20", "rand25")
ROUNDS = 7
CHUNK = 2000


@kernel
def propagate_all(propagate, heights, widths, n_colours, lines, blocks, lengths, colours, words, numbers, left):
    """Propagate every puzzle of a black-white set of at most 64 cells a side; left[p]: open cells, -1 contradiction."""
    for p in range(len(heights)):
        board = board_of(p, heights, widths, n_colours, lines, blocks, lengths, colours, 0)
        open_planes(words, board.stack, board)
        all_waiting(words, board)
        left[p] = open_cells(words, board.stack, board) if propagate(words, numbers, board, board.stack) == 0 else -1


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


def compare_set(yard, name: str) -> None:  # type: ignore[no-untyped-def]
    puzzles = yard.SETS[name]()
    packed = [yard.pack(rows, columns) for rows, columns in puzzles]
    batch = set_of_clues(puzzles)
    clues, n = clues_of(batch), batch.num_rows
    for array in (clues.blocks, clues.lengths, clues.colours):
        array.flags.writeable = False
    words, numbers, left = np.zeros(1 << 16, np.uint64), np.zeros(1 << 16, np.int64), np.zeros(n, np.int64)

    def ours() -> None:
        propagate_all(propagate_narrow, *clues, words, numbers, left)

    pairs = [(cpu(ours) / n, yard.propagate_only(packed)) for _ in range(5)]
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    numbers[N_LINES] = 0
    ours()
    print(
        f"{name:8s} propagate  ours {mine * 1e6:7.2f} us  yardstick {theirs * 1e6:7.2f} us  speed "
        f"{statistics.median(b / a for a, b in pairs):5.2f}  visits {numbers[N_LINES] / n:.1f} a puzzle",
        flush=True,
    )

    def decide_ours() -> None:
        nonlocal results
        results = solve_set(batch, Limits())

    # As a run does it: chunks of some thousand puzzles, so the fixed cost of a call is spread over as many.
    copies = max(1, CHUNK // n)
    batch = pa.Table.from_batches([batch] * copies).combine_chunks().to_batches()[0]
    results = solve_set(batch, Limits())
    ratios, means, medians = [], [], []
    for _ in range(5):
        times = []
        for puzzle in packed:
            start = time.process_time()
            yard.decide(*puzzle)
            times.append(time.process_time() - start)
        mean = cpu(decide_ours, 3) / (n * copies)
        ratios.append(statistics.mean(times) / mean)
        means.append((mean, statistics.mean(times)))
        medians.append((float(np.median(results.solve_s)), statistics.median(times)))
    mine, theirs = (statistics.median(column) * 1e3 for column in zip(*means, strict=True))
    my_median, their_median = (statistics.median(column) * 1e3 for column in zip(*medians, strict=True))
    outcomes = dict(Counter(str(OUTCOMES[code]) for code in results.outcome))
    print(
        f"{name:8s} decide     ours mean {mine:.4f} median {my_median:.4f} ms  yardstick {theirs:.4f} "
        f"{their_median:.4f} ms  speed {statistics.median(ratios):5.2f}  visits {results.n_lines.mean():.0f}, "
        f"probes {results.n_probes.mean():.0f}, branches {results.n_branches.mean():.2f} a puzzle  {outcomes}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("yardstick", type=Path, help="folder of the prototypes")
    parser.add_argument("sets", nargs="*", default=SETS)
    options = parser.parse_args()
    sys.path.insert(0, str(options.yardstick.resolve()))
    sys.argv = sys.argv[:1]
    import yard

    yard.decide(*yard.pack([[1]], [[1]]))
    yard.LCG_A.solve(*yard.pack([[1]], [[1]]), 10)
    yard.LCG_B.solve(*yard.pack([[1]], [[1]]), 10)
    for name in options.sets:
        compare_set(yard, name)


if __name__ == "__main__":
    main()
