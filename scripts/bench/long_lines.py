"""What single long lines cost: `python scripts/bench/long_lines.py`.

Lines of 10^3 to 10^6 cells with one block, a hundred, and a block for each ten cells and for each four; nothing known
(the widest windows), and half of the cells known. CPU seconds of the kernel alone, best of several; the room that it
works in; and how many times longer a plain dynamic program over blocks and cells takes, in NumPy, where it is bearable.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from parallel_nono.kernels.layout import line_scratch
from parallel_nono.kernels.line import solve_line_planes

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from test_long_lines import long_line, solved_by_table

MAX_TABLE = 10_000_000
"""Blocks times cells of what the plain program is asked to do."""


def best(action: Callable[[], object], seconds: float = 0.5) -> float:
    """The least CPU seconds of one call, of as many as fit into `seconds` (at least one)."""
    least, began = np.inf, time.process_time()
    while time.process_time() - began < seconds:
        before = time.process_time()
        action()
        least = min(least, time.process_time() - before)
    return float(least)


def measure(n: int, k: int, known: float) -> str:
    """One line of the table."""
    clue, allowed = long_line(np.random.default_rng(k), n, k, 2, known)
    bits = np.zeros((2, (n + 63) // 64 * 64), bool)
    bits[:, :n] = allowed
    planes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    lengths, colours = np.array([b.length for b in clue], np.int32), np.ones(k, np.uint16)
    seconds = best(lambda: solve_line_planes(planes, n, lengths, colours))
    slack = n - int(lengths.sum()) - k + 1
    room = int(line_scratch(2, np.array(k), np.array(slack), np.array(planes.shape[1]))) / 2**17
    windows = k * (slack + 64) // 64
    plain = ""
    if n * k <= MAX_TABLE:
        plain = f"{best(lambda: solved_by_table(clue, allowed)) / seconds:6.0f}x"
    return (
        f"{n:>9,} {k:>8,} {known:>6.0%} {seconds * 1000:>11.3f} {seconds * 1e9 / max(windows, 1):>9.2f} "
        f"{room:>10.1f} {plain:>8}"
    )


def main() -> None:
    print("    cells   blocks  known          ms   ns/word  room, MiB    table")
    for n in (1_000, 10_000, 100_000, 1_000_000):
        for k in sorted({1, 100, n // 10, n // 4}):
            if n * k <= 10**10:
                for known in (0.0, 0.5):
                    print(measure(n, k, known), flush=True)


if __name__ == "__main__":
    main()
