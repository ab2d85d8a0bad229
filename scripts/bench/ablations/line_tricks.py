"""Tricks inside one line: sums, differences, stamps, layout of the memory, memory at all; then words of bits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from dp import CLEARED, HITS, LOOKED, N_COUNTED, STATES, WRITTEN, bottom_up, replay, room_for, top_down
from tools import Lines, Row, alternate, half_solved, number

from parallel_nono.puzzle import Block
from parallel_nono.solver.line import solve_line

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lines import desk_for, replay_narrow, replay_windows, replay_words

SIZES = ((15, 400), (25, 400), (50, 200), (100, 100), (300, 30), (1000, 6))
"""Cells of a line, and how many lines."""

TRICKS: dict[str, tuple[dict[str, bool], tuple[tuple[int, str], ...]]] = {
    "prefix sums": ({"prefix": False}, ((LOOKED, "looked at"),)),
    "difference array": ({"differences": False}, ((WRITTEN, "written"),)),
    "stamped memory": ({"stamp": False}, ((CLEARED, "cleared"), (STATES, "states"))),
    "memory [group][cell]": ({"group_first": False}, ((STATES, "states"), (HITS, "hits"))),
}
"""The switch that takes a trick away, and what to count."""


@cache
def sets() -> dict[str, Lines]:
    return {f"{kind} {n}": half_solved(n, count, kind == "image") for n, count in SIZES for kind in ("noise", "image")}


class Bench:
    """One compiled variant."""

    def __init__(self, settle: Any) -> None:
        self.run = replay(settle)

    def __call__(self, lines: Lines, keep: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(counts, results) of all lines; results only where they are to be kept."""
        counted = np.zeros(N_COUNTED, np.int64)
        results = np.zeros(lines.cells.shape if keep else (len(lines.cells), 0), np.uint8)
        room = kept_room(lines.n, lines.max_blocks)
        self.run(lines.cells, lines.n, lines.lengths, lines.first, lines.count, room, counted, results)
        return counted, results


kept_room = cache(room_for)
"""One room for each size, so that making it is not measured."""


@cache
def variant(counting: bool, **without: bool) -> Bench:
    return Bench(top_down(counting=counting, **without))


@cache
def sweep(counting: bool) -> Bench:
    return Bench(bottom_up(counting=counting))


def trick(name: str) -> Iterator[Row]:
    """Rows for one of TRICKS, all else as in the articles' tuned programme."""
    switch, counts = TRICKS[name]
    for title, lines in sets().items():
        off, on = variant(True, **switch)(lines, keep=True), variant(True)(lines, keep=True)
        assert np.array_equal(off[1], on[1]), f"{name} changes the solutions on {title}"
        times = alternate({"off": lambda: variant(False, **switch)(lines), "on": lambda: variant(False)(lines)})
        texts = [
            ", ".join(f"{number(counted[c] / len(lines.first))} {w}" for c, w in counts) for counted, _ in (off, on)
        ]
        yield Row(title, *texts, times["off"] / times["on"])


def memory_or_sweep() -> Iterator[Row]:
    """The memory itself against going through all states from the end."""
    for title, lines in sets().items():
        on, off = variant(True)(lines, keep=True), sweep(True)(lines, keep=True)
        assert np.array_equal(off[1], on[1]), f"bottom-up differs on {title}"
        times = alternate({"off": lambda: sweep(False)(lines), "on": lambda: variant(False)(lines)})
        texts = [f"{number(counted[STATES] / len(lines.first))} states" for counted, _ in (off, on)]
        yield Row(title, *texts, times["off"] / times["on"])


def assert_right(lines: Lines, results: np.ndarray) -> None:
    """Some of the results against the product."""
    for line in range(0, len(results), 1 + len(results) // 5):
        lengths = lines.lengths[lines.first[line] : lines.first[line] + lines.count[line]]
        settled = solve_line(tuple(Block(length) for length in lengths.tolist()), lines.cells[line].tolist(), 2)
        assert settled == results[line].tolist(), f"line {line} of {lines.n} cells is settled otherwise"


def words(lines: Lines) -> np.ndarray:
    """The planes of each line as words: background first."""
    size = (lines.n + 63) // 64
    bits = np.zeros((len(lines.cells), 2, 64 * size), np.uint8)
    for colour in range(2):
        bits[:, colour, : lines.n] = lines.cells >> colour & 1
    return np.packbits(bits, axis=2, bitorder="little").view(np.uint64).reshape(len(lines.cells), 2 * size)


def bits() -> Iterator[Row]:
    """The programme with every trick, and with none, against the kernel on words of bits."""
    plain = {"prefix": False, "differences": False, "stamp": False}
    room, numbers = np.zeros(1 << 20, np.uint64), np.zeros(1 << 18, np.int64)
    for title, lines in sets().items():
        assert_right(lines, variant(False)(lines, keep=True)[1])
        states, size = words(lines), (lines.n + 63) // 64
        lengths, colours = lines.lengths.copy(), np.ones(len(lines.lengths), np.uint16)
        lengths.flags.writeable = colours.flags.writeable = False
        desk, _ = desk_for(lines.n, lines.max_blocks)

        def kernel() -> Any:
            if lines.n <= 64:
                return replay_narrow(states, lines.first, lines.count, lengths, lines.n, room)
            if size <= 3:
                return replay_words(states, lines.first, lines.count, lengths, lines.n, size, room)
            return replay_windows(
                states, lines.first, lines.count, lengths, colours, lines.n, size, desk, room, numbers
            )

        times = alternate(
            {
                "none": lambda: variant(False, **plain)(lines),
                "all": lambda: variant(False)(lines),
                "sweep": lambda: sweep(False)(lines),
                "bits": kernel,
            }
        )
        each = {name: seconds / len(lines.first) * 1e9 for name, seconds in times.items()}
        yield Row(
            title,
            f"no trick {number(each['none'])}, all {number(each['all'])}, no memory {number(each['sweep'])} ns",
            f"bits {number(each['bits'])} ns",
            min(each["none"], each["all"], each["sweep"]) / each["bits"],
        )
