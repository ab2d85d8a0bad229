"""Single lines: nanoseconds a visit.

    python scripts/bench/lines.py
    python scripts/bench/lines.py --yardstick FOLDER     beside prototypes and a plain dynamic programme, same states

Up to 64 cells the states are recorded from real propagation of puzzles at density 0.5 and replayed; longer lines are
random lines at density 0.5 of which 30 % of the cells are known. CPU times of one thread, medians of nine replays.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from parallel_nono.kernels.bits import U0, U1, U
from parallel_nono.kernels.layout import line_scratch
from parallel_nono.kernels.replay import record, replay_colour, replay_narrow, replay_windows, replay_words
from parallel_nono.puzzle import Puzzle, runs
from parallel_nono.puzzleset import clues_of, plain_palette, set_of

ROUNDS = 9


def nanoseconds(call: Any, visits: int) -> float:
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times) / visits * 1e9


def frozen(*arrays: np.ndarray) -> None:
    for array in arrays:
        array.flags.writeable = False


def recorded(n: int, n_colours: int, puzzles: int) -> tuple[Any, ...]:
    """(states, firsts, counts, clues) of the visits to the lines of random puzzles."""
    rng = np.random.RandomState(n)
    grids = [(rng.random_sample((n, n)) < 0.5) * rng.randint(1, n_colours, (n, n)) for _ in range(puzzles)]
    clues = clues_of(set_of([Puzzle.of_grid(grid, plain_palette(n_colours)) for grid in grids]))
    most = 60 * puzzles * n
    states, firsts, counts = np.zeros((most, n_colours), np.uint64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    words, numbers = np.zeros(1 << 18, np.uint64), np.zeros(1 << 18, np.int64)
    visits = record(clues, words, numbers, 1 << 16, states, firsts, counts)
    return states[:visits], firsts[:visits], counts[:visits], clues


def partly_known(n: int, lines: int) -> tuple[Any, ...]:
    """(states, firsts, counts, lengths) of random black-white lines with 30 % of their cells known."""
    rng = np.random.RandomState(n)
    size = (n + 63) // 64
    states, firsts, counts, lengths = np.zeros((lines, 2 * size), np.uint64), [], [], []
    for i in range(lines):
        cells = (rng.random_sample(n) < 0.5).astype(int)
        known = rng.random_sample(n) < 0.3
        firsts.append(len(lengths))
        clue = [length for length, _ in runs(cells.tolist())]
        counts.append(len(clue))
        lengths += clue
        for colour in (0, 1):
            bits = np.zeros(64 * size, np.uint8)
            bits[:n] = ~known | (cells == colour)
            states[i, colour * size : (colour + 1) * size] = np.packbits(bits, bitorder="little").view(np.uint64)
    return states, np.array(firsts), np.array(counts), np.array(lengths, np.int32)


def words_for(n: int, k: int) -> int:
    """The words that lines of up to k blocks take, their planes before them."""
    size = (n + 63) // 64
    return 2 * size + 2 + int(line_scratch(2, k, n, size))


class Prototypes:
    """The prototypes' kernels on the states that ours are given: each method is nanoseconds a visit."""

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(folder.resolve()))
        import big2
        import col64
        import small
        import wfix
        from numba import njit

        @njit(_nrt=False)
        def narrow(states, firsts, counts, lengths, n, full, scratch):  # type: ignore[no-untyped-def]
            total = U0
            for i in range(len(firsts)):
                black, white = full & ~states[i, 0], full & ~states[i, 1]
                a, b = small.line64t(lengths, U(firsts[i]), U(counts[i]), U(n), black, white, scratch)
                total ^= a ^ b
            return total

        @njit(_nrt=False)
        def colour(states, firsts, counts, lengths, colours, n, n_colours, flat, scratch):  # type: ignore[no-untyped-def]
            total = 0
            for i in range(len(firsts)):
                for c in range(n_colours):
                    flat[c] = states[i, c]
                total += col64.col64_call(
                    lengths, colours, U(firsts[i]), U(counts[i]), U(n), n_colours - 1, flat, U0, scratch
                )
            return total

        @njit(_nrt=False)
        def plain(states, firsts, counts, lengths, colours, n, n_colours, cell, run, pre, suf, out, dif):  # type: ignore[no-untyped-def]
            total = 0
            for i in range(len(firsts)):
                for x in range(n):
                    cell[x] = U0
                    for c in range(n_colours):
                        size = (n + 63) >> 6
                        cell[x] |= ((states[i, c * size + (x >> 6)] >> U(x & 63)) & U1) << U(c)
                total += col64.col_dp(lengths, colours, U(firsts[i]), counts[i], n, cell, run, pre, suf, out, dif)
            return total

        self._narrow, self._colour, self._plain, self._wfix, self._big2 = narrow, colour, plain, wfix, big2

    def narrow(self, states: Any, firsts: Any, counts: Any, lengths: Any, n: int, words: Any) -> float:
        short, full = lengths.astype(np.uint16), U((1 << n) - 1)
        return nanoseconds(lambda: self._narrow(states, firsts, counts, short, n, full, words), len(firsts))

    def plain(self, states: Any, firsts: Any, counts: Any, lengths: Any, colours: Any, n: int) -> float:
        short, table = lengths.astype(np.uint16), (int(counts.max()) + 1) * (n + 1)
        room = (
            np.zeros(n, np.uint64),
            np.zeros(2 * (n + 1), np.int64),
            np.zeros(table, np.uint8),
            np.zeros(table, np.uint8),
            np.zeros(n, np.uint64),
            np.zeros(n + 1, np.int64),
        )
        return nanoseconds(lambda: self._plain(states, firsts, counts, short, colours, n, 2, *room), len(firsts))

    def colour(self, states: Any, firsts: Any, counts: Any, lengths: Any, colours: Any, n: int, words: Any) -> float:
        flat = np.zeros(64, np.uint64)
        return nanoseconds(
            lambda: self._colour(states, firsts, counts, lengths, colours, n, 5, flat, words), len(firsts)
        )

    def words(self, states: Any, firsts: Any, counts: Any, lengths: Any, n: int, words: Any) -> float:
        size = (n + 63) // 64
        short, out = lengths.astype(np.uint16), np.zeros(16, np.uint64)
        call = {2: self._wfix.line2, 3: self._wfix.line3}[size]
        known = [[U((1 << min(64, n - 64 * (w % size))) - 1) & ~row[w] for w in range(2 * size)] for row in states]

        def every() -> None:
            for i in range(len(firsts)):
                call(short, U(firsts[i]), U(counts[i]), U(n), *known[i], words, out)

        return nanoseconds(every, len(firsts))

    def windows(self, states: Any, firsts: Any, counts: Any, lengths: Any, n: int) -> float:
        size, k = (n + 63) // 64, int(counts.max())
        a, iw, arenas, _ = self._big2.make_scratch(n, k)
        longs = np.append(lengths.astype(np.int64), 0)
        turned = longs.copy()
        for i in range(len(firsts)):
            turned[firsts[i] : firsts[i] + counts[i]] = longs[firsts[i] : firsts[i] + counts[i]][::-1]
        bounds, bounds_turned = np.zeros(len(longs), np.int64), np.zeros(len(longs), np.int64)
        guard = size + 3
        masks = np.full(size, 0xFFFFFFFFFFFFFFFF, np.uint64)
        masks[-1] = U((1 << (n - 64 * (size - 1))) - 1) if n % 64 else masks[-1]

        def every() -> None:
            bounds[:] = 0
            bounds_turned[:] = 0
            for i in range(len(firsts)):
                a[:size], a[guard : guard + size] = masks & ~states[i, :size], masks & ~states[i, size:]
                a[size:guard], a[guard + size : 2 * guard] = 0, 0
                first, count = U(firsts[i]), int(counts[i])
                self._big2.line_big(a, longs, turned, bounds, bounds_turned, first, iw, n, count, size, arenas)

        return nanoseconds(every, len(firsts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yardstick", type=Path, help="folder of the prototypes")
    folder = parser.parse_args().yardstick
    yard = Prototypes(folder) if folder else None
    words, numbers = np.zeros(1 << 22, np.uint64), np.zeros(1 << 20, np.int64)
    for n in (10, 25, 30, 64):
        states, firsts, counts, clues = recorded(n, 2, 40)
        ours = nanoseconds(lambda: replay_narrow(states, firsts, counts, clues.lengths, n, words), len(firsts))
        note = ""
        if yard:
            theirs = yard.narrow(states, firsts, counts, clues.lengths, n, words)
            plain = yard.plain(states, firsts, counts, clues.lengths, clues.colours, n)
            note = f"  prototype {theirs:8.1f}  plain {plain:9.0f} ({plain / ours:.0f}x)"
        print(f"black-white n={n:4d}  ours {ours:8.1f} ns{note}", flush=True)
    for n in (25, 64):
        states, firsts, counts, clues = recorded(n, 5, 20)
        ours = nanoseconds(
            lambda: replay_colour(states, firsts, counts, clues.lengths, clues.colours, n, 5, words), len(firsts)
        )
        note = ""
        if yard:
            theirs = yard.colour(states, firsts, counts, clues.lengths, clues.colours, n, words)
            note = f"  prototype {theirs:8.1f}"
        print(f"4 inks      n={n:4d}  ours {ours:8.1f} ns{note}", flush=True)
    for n, lines in ((100, 400), (150, 300), (1000, 60), (5000, 12)):
        states, firsts, counts, lengths = partly_known(n, lines)
        size, k = (n + 63) // 64, int(counts.max())
        frozen(lengths)
        note = ""
        if size <= 3:
            ours = nanoseconds(lambda: replay_words(states, firsts, counts, lengths, n, size, words), lines)
            if yard:
                theirs = yard.words(states, firsts, counts, lengths, n, words)
                note = f"  prototype {theirs:8.0f} (with a Python call a line)"
        else:
            colours = np.ones(len(lengths), np.uint16)
            frozen(colours)
            need = words_for(n, k)
            assert need < len(words)
            ours = nanoseconds(
                lambda: replay_windows(states, firsts, counts, lengths, colours, n, size, k, words, numbers), lines
            )
            if yard:
                note = f"  prototype {yard.windows(states, firsts, counts, lengths, n):8.0f} (bounds cold)"
        print(f"black-white n={n:4d}  ours {ours:8.0f} ns{note}", flush=True)


if __name__ == "__main__":
    main()
