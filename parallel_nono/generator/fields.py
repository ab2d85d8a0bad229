"""Seeded noise and its smoothing in integers only, so that every machine and version makes the same pictures.

`RandomState` is used on purpose: NumPy promises that its streams never change. No floating point decides a cell.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
from numpy.random import RandomState

Grid = np.ndarray
"""Colour indices, integers of shape (height, width)."""


def random_of(kind: str, height: int, width: int, seed: int) -> RandomState:
    """The stream of one picture; kind and size are part of its seed, so that neighbours share nothing."""
    return RandomState(np.array([zlib.crc32(kind.encode()), height, width, seed], np.uint32))


def below(random: RandomState, end: int, shape: int | tuple[int, ...] | None = None) -> np.ndarray:
    """Uniform integers from 0 to end - 1, the same on platforms whose C integers differ."""
    return random.randint(0, end, shape, dtype=np.int64)


def pick(random: RandomState, start: int, end: int) -> int:
    """One uniform integer from `start` to `end`, both included."""
    return int(random.randint(start, end + 1, dtype=np.int64))


def box_sum(field: np.ndarray, radius: int) -> np.ndarray:
    """Sums over squares of side 2 * radius + 1 that lie inside the last two axes; these get 2 * radius shorter."""
    side = 2 * radius + 1
    for axis in (-1, -2):
        sums = np.cumsum(np.insert(field, 0, 0, axis), axis)
        ahead = np.take(sums, range(side, sums.shape[axis]), axis)
        field = ahead - np.take(sums, range(sums.shape[axis] - side), axis)
    return field


def smooth(random: RandomState, count: int, height: int, width: int, radius: int) -> np.ndarray:
    """Noise smoothed twice, int64[count, height, width]; it is drawn larger, so that the edges look like the middle."""
    noise = below(random, 1 << 12, (count, height + 4 * radius, width + 4 * radius))
    return box_sum(box_sum(noise, radius), radius)


def brightest(fields: np.ndarray, percent: int) -> np.ndarray:
    """uint8[count, height, width]: 1 where a field is among its `percent` percent of largest cells (ties included)."""
    flat = np.sort(fields.reshape(len(fields), -1), axis=1)
    n_ink = flat.shape[1] * percent // 100
    if n_ink == 0:
        return np.zeros(fields.shape, np.uint8)
    return (fields >= flat[:, -n_ink][:, None, None]).astype(np.uint8)


MAX_AT_ONCE = 1 << 22
"""Cells of a field that are drawn at once; larger ones are made strip by strip."""

_STRIP, _BINS = 1 << 20, 1 << 20


def smooth_strips(random: RandomState, height: int, width: int, radius: int) -> Iterator[np.ndarray]:
    """`smooth` for one picture of any size, int64[rows, width] at a time.

    Two box sums one after another are second differences of double prefix sums. Those of a row are a row; down the
    picture the last 4 * radius + 2 rows of them are kept. Sums may wrap around: the differences do not.
    """
    side = 2 * radius + 1
    rows = max(1, _STRIP // (width + 4 * radius))
    size = 2 * side + rows + 1
    ring = np.zeros((size, width), np.int64)  # row i of the double sums at i % size; rows 0 and 1 are 0
    last, before = 1, 0
    once, twice = np.zeros((2, width), np.int64)
    for start in range(0, height + 4 * radius, rows):
        noise = below(random, 1 << 12, (min(rows, height + 4 * radius - start), width + 4 * radius))
        sums = np.zeros((len(noise), width + 4 * radius + 2), np.int64)
        np.cumsum(np.cumsum(noise, 1), 1, out=sums[:, 2:])
        strip = sums[:, 2 * side :] - 2 * sums[:, side:-side] + sums[:, : -2 * side]
        np.cumsum(strip, 0, out=strip)
        strip += once
        once = strip[-1].copy()
        np.cumsum(strip, 0, out=strip)
        strip += twice
        twice = strip[-1].copy()
        ring[(last + 1 + np.arange(len(strip))) % size] = strip
        last += len(strip)
        y = np.arange(before, last - 2 * side + 1)
        if len(y):
            before += len(y)
            yield ring[(y + 2 * side) % size] - 2 * ring[(y + side) % size] + ring[y % size]


def brightest_smooth(random: RandomState, height: int, width: int, radius: int, percent: int) -> np.ndarray:
    """`brightest` of `smooth` for one picture of any size, uint8[height, width].

    The field is made three times: to find about where the threshold lies, where exactly, and what lies above.
    """
    n_ink = height * width * percent // 100
    grid = np.zeros((height, width), np.uint8)
    if n_ink == 0:
        return grid
    state = random.get_state(legacy=False)

    def strips() -> Iterator[np.ndarray]:
        random.set_state(state)
        return smooth_strips(random, height, width, radius)

    shift = max(0, (((1 << 12) - 1) * (2 * radius + 1) ** 4).bit_length() - (_BINS - 1).bit_length())
    counts = np.zeros(_BINS, np.int64)
    for strip in strips():
        places = (strip >> shift).ravel()
        least = int(places.min())
        found = np.bincount(places - least)
        counts[least : least + len(found)] += found
    above = np.cumsum(counts[::-1])[::-1]  # cells in this bin and in those above
    place = int(np.flatnonzero(above >= n_ink)[-1])
    near = np.concatenate([strip[strip >> shift == place] for strip in strips()])
    threshold = np.sort(near)[int(above[place]) - n_ink]
    start = 0
    for strip in strips():
        grid[start : start + len(strip)] = strip >= threshold
        start += len(strip)
    return grid


def levels(field: np.ndarray, n: int) -> np.ndarray:
    """A field cut into the numbers 0 to n - 1 at equal steps between its least and greatest value."""
    low, high = int(field.min()), int(field.max())
    return (field - low) * n // (high - low + 1)


def default_radius(height: int, width: int) -> int:
    """A radius that gives a picture of this size a handful of shapes a side."""
    return max(1, min(height, width) // 12)
