"""One line by itself, of any length and palette, with and without blots: for people, contests and tests."""

from __future__ import annotations

import numpy as np

from . import kernel
from .blots import settle_blots
from .clues import sealed
from .sizes import BLOCK_TABLES, blot_scratch, line_scratch
from .windows import Desk, settle_windows


@kernel
def settle_kernel(words, numbers, lengths, colours, k, n, size, desk, at, blotted):
    """windows.settle_windows for a line whose planes begin at words[0]; bounds at numbers[at:], all 0.

    blotted  blots.settle_blots instead.
    """
    if blotted:
        return settle_blots(words, numbers, lengths, colours, 0, k, n, 0, size, desk)
    return settle_windows(words, numbers, lengths, colours, 0, k, n, 0, size, desk, at, at + k)


def settle_planes(planes: np.ndarray, n: int, lengths: np.ndarray, colours: np.ndarray) -> np.ndarray | None:
    """Keep what some arrangement of the blocks uses.

    planes    uint64[colours, words], bit i of planes[c]: cell i may take colour c; n cells.
    lengths   int32[k], 0 for a blot;  colours  uint16[k].
    Returns   planes like those given, or None when there is no arrangement.
    """
    n_colours, size = planes.shape
    k = len(lengths)
    gaps = int(np.count_nonzero(colours[1:] == colours[:-1]))
    slack = n - int(np.maximum(lengths, 1).sum(dtype=np.int64)) - gaps
    if slack < 0:
        return None
    blotted = not lengths.all()
    if blotted:
        scratch = int(blot_scratch(n_colours, np.array(k), np.array(size)))
    else:
        scratch = int(line_scratch(n_colours, np.array(k), np.array(slack), np.array(size)))
    first = planes.size + 2
    words = np.zeros(first + scratch, np.uint64)
    words[: planes.size] = planes.ravel()
    slots, stride, each = min(n_colours, k + 1), size + 1, k + 1
    arenas = first + 2 * slots * stride
    length = (first + scratch - arenas) // 4
    desk = Desk(
        first,
        first + slots * stride,
        stride,
        *(arenas + i * length for i in range(4)),
        *(2 * k + i * each for i in range(BLOCK_TABLES)),
        2 * k + BLOCK_TABLES * each,
    )
    numbers = np.zeros(desk.slot + n_colours, np.int64)
    if not settle_kernel(words, numbers, sealed(lengths), sealed(colours), k, n, size, desk, 0, blotted):
        return None
    remaining = np.zeros_like(planes)
    for colour in {0, *colours.tolist()}:
        slot = desk.out + (int(numbers[desk.slot + colour]) if colour else 0) * stride
        remaining[colour] = words[slot : slot + size]
    return remaining
