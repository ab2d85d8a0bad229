"""Structures for ranges: `may all these cells take the colour` and `let all these cells take it`, by line length.

Asked as the line programme asks: every block of a clue at every place it has. All structures give the same solutions;
sums a colour are the generalised prefix sums of the articles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from tools import Row, alternate, number

OPTIONS = {"nogil": True, "error_model": "numpy"}
COLOURS = 4
SIZES = ((15, 4), (30, 4), (30, 8), (100, 10), (1000, 30), (10_000, 300), (200_000, 1000))
"""Cells of a line, and cells of a block."""

MAX_QUESTIONS = 20_000


@njit(**OPTIONS)
def ask_cells(masks, starts, length, colours, room, steps):
    """Look at every cell."""
    yes = 0
    for q in range(len(starts)):
        every = -1
        for i in range(starts[q], starts[q] + length):
            every &= masks[i]
            steps[0] += 1
        yes += (every >> colours[q]) & 1
    return yes


@njit(**OPTIONS)
def ask_sums(masks, starts, length, colours, room, steps):
    """Sums of blocked cells for each colour."""
    n = len(masks)
    for colour in range(COLOURS):
        total = 0
        for i in range(n):
            total += 1 - ((masks[i] >> colour) & 1)
            room[colour * (n + 1) + i + 1] = total
        room[colour * (n + 1)] = 0
    steps[0] += COLOURS * n + 2 * len(starts)
    yes = 0
    for q in range(len(starts)):
        at = colours[q] * (n + 1) + starts[q]
        yes += room[at + length] == room[at]
    return yes


@njit(**OPTIONS)
def ask_sparse(masks, starts, length, colours, room, steps):
    """Sparse table: AND of every range whose length is a power of two; a question overlaps two of them."""
    n = len(masks)
    room[:n] = masks
    level, size = 0, 1
    while 2 * size <= n:
        for i in range(n - 2 * size + 1):
            room[(level + 1) * n + i] = room[level * n + i] & room[level * n + i + size]
        steps[0] += n - 2 * size + 1
        level, size = level + 1, 2 * size
    level, size = 0, 1
    while 2 * size <= length:
        level, size = level + 1, 2 * size
    yes = 0
    for q in range(len(starts)):
        both = room[level * n + starts[q]] & room[level * n + starts[q] + length - size]
        yes += (both >> colours[q]) & 1
    steps[0] += 2 * len(starts)
    return yes


@njit(**OPTIONS)
def ask_roots(masks, starts, length, colours, room, steps):
    """Square-root decomposition: AND of every bucket, cells at the ends."""
    n = len(masks)
    size = max(1, int(np.sqrt(n)))
    for b in range(n // size + 1):
        room[b] = -1
    for i in range(n):
        room[i // size] &= masks[i]
    steps[0] += n
    yes = 0
    for q in range(len(starts)):
        every, i, stop = -1, starts[q], starts[q] + length
        while i < stop:
            steps[0] += 1
            if i % size == 0 and i + size <= stop:
                every &= room[i // size]
                i += size
            else:
                every &= masks[i]
                i += 1
        yes += (every >> colours[q]) & 1
    return yes


@njit(**OPTIONS)
def ask_tree(masks, starts, length, colours, room, steps):
    """Segment tree."""
    n = len(masks)
    room[n : 2 * n] = masks
    for i in range(n - 1, 0, -1):
        room[i] = room[2 * i] & room[2 * i + 1]
    steps[0] += n
    yes = 0
    for q in range(len(starts)):
        every, low, high = -1, starts[q] + n, starts[q] + length + n
        while low < high:
            steps[0] += 1
            if low & 1:
                every &= room[low]
                low += 1
            if high & 1:
                high -= 1
                every &= room[high]
            low, high = low >> 1, high >> 1
        yes += (every >> colours[q]) & 1
    return yes


@njit(**OPTIONS)
def set_cells(masks, starts, length, colours, room, steps):
    """Every cell of every range."""
    for q in range(len(starts)):
        for i in range(starts[q], starts[q] + length):
            masks[i] |= 1 << colours[q]
            steps[0] += 1
    return 0


@njit(**OPTIONS)
def set_differences(masks, starts, length, colours, room, steps):
    """Two ends of every range, added up at last."""
    n = len(masks)
    room[: COLOURS * (n + 1)] = 0
    for q in range(len(starts)):
        at = colours[q] * (n + 1) + starts[q]
        room[at] += 1
        room[at + length] -= 1
    for colour in range(COLOURS):
        depth = 0
        for i in range(n):
            depth += room[colour * (n + 1) + i]
            if depth:
                masks[i] |= 1 << colour
    steps[0] += 2 * len(starts) + 2 * COLOURS * n
    return 0


@njit(**OPTIONS)
def set_roots(masks, starts, length, colours, room, steps):
    """Square-root decomposition with a pending mark for each bucket."""
    n = len(masks)
    size = max(1, int(np.sqrt(n)))
    room[: n // size + 1] = 0
    for q in range(len(starts)):
        i, stop = starts[q], starts[q] + length
        while i < stop:
            steps[0] += 1
            if i % size == 0 and i + size <= stop:
                room[i // size] |= 1 << colours[q]
                i += size
            else:
                masks[i] |= 1 << colours[q]
                i += 1
    for i in range(n):
        masks[i] |= room[i // size]
    steps[0] += n
    return 0


@njit(**OPTIONS)
def set_tree(masks, starts, length, colours, room, steps):
    """Segment tree with pending marks, pushed down once at the end."""
    n = len(masks)
    room[: 2 * n] = 0
    for q in range(len(starts)):
        low, high = starts[q] + n, starts[q] + length + n
        while low < high:
            steps[0] += 1
            if low & 1:
                room[low] |= 1 << colours[q]
                low += 1
            if high & 1:
                high -= 1
                room[high] |= 1 << colours[q]
            low, high = low >> 1, high >> 1
    for i in range(2, 2 * n):
        room[i] |= room[i >> 1]
    for i in range(n):
        masks[i] |= room[n + i]
    steps[0] += 3 * n
    return 0


ASKING = {"cells": ask_cells, "sums": ask_sums, "sparse table": ask_sparse, "roots": ask_roots, "tree": ask_tree}
SETTING = {"cells": set_cells, "differences": set_differences, "roots": set_roots, "tree": set_tree}


def many(call: Any) -> Any:
    """A structure used many times over, so that a call from Python weighs nothing."""

    @njit(**OPTIONS)
    def run(masks, own, starts, length, colours, room, steps, times):
        solutions = 0
        for _ in range(times):
            own[:] = masks
            solutions += call(own, starts, length, colours, room, steps)
        return solutions

    return run


def ranges(structures: dict[str, Any]) -> Iterator[Row]:
    """Every structure against looking at every cell."""
    compiled = {name: many(call) for name, call in structures.items()}
    for n, length in SIZES:
        rng = np.random.RandomState(n)
        count = min(MAX_QUESTIONS, (n - length) * max(1, n // (2 * length)))
        starts = rng.randint(0, n - length + 1, count)
        colours = rng.randint(0, COLOURS, count)
        masks = np.where(rng.random_sample(n) < 0.1, rng.randint(0, 1 << COLOURS, n), (1 << COLOURS) - 1)
        room = np.zeros(max(COLOURS * (n + 1), n * (int(np.log2(n)) + 2)), np.int64)
        own, times = masks.copy(), max(1, 100_000 // (count * length))

        def run(name: str, times: int) -> tuple[int, int, bytes]:
            steps = np.zeros(1, np.int64)
            solutions = compiled[name](masks, own, starts, length, colours, room, steps, times)
            return int(steps[0]), int(solutions), own.tobytes() if times == 1 else b""

        once = {name: run(name, 1) for name in structures}
        assert len({result[1:] for result in once.values()}) == 1, f"the structures differ at {n} cells"
        seconds = alternate({name: lambda name=name: run(name, times) for name in structures})
        for name in list(structures)[1:]:
            yield Row(
                f"{name}, {n:,} cells, blocks of {length}, {count:,} times",
                f"{number(once['cells'][0])} steps",
                f"{number(once[name][0])} steps",
                seconds["cells"] / seconds[name],
            )
