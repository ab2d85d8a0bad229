"""Seeded noise and its smoothing in integers only, so that every machine and version makes the same pictures.

`RandomState` is used on purpose: NumPy promises that its streams never change. No floating point decides a cell.
"""

from __future__ import annotations

import zlib

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


def levels(field: np.ndarray, n: int) -> np.ndarray:
    """A field cut into the numbers 0 to n - 1 at equal steps between its least and greatest value."""
    low, high = int(field.min()), int(field.max())
    return (field - low) * n // (high - low + 1)


def default_radius(height: int, width: int) -> int:
    """A radius that gives a picture of this size a handful of shapes a side."""
    return max(1, min(height, width) // 12)
