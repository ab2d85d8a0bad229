"""One line by itself, of any length and palette, with and without blots: for people, contests and tests."""

from __future__ import annotations

import numpy as np

from . import kernel
from .arrays import ConstInt32s, ConstUInt16s, Int64s, UInt64s
from .blots import solve_line_blots
from .clues import sealed
from .layout import blot_scratch, line_numbers, line_scratch
from .windows import Line, line_work, solve_line_windows

START = np.int64(0)
"""Of blocks, planes and bounds; a typed number, so that kernels are compiled once."""


@kernel
def solve_line_kernel(
    words: UInt64s,
    numbers: Int64s,
    lengths: ConstInt32s,
    colours: ConstUInt16s,
    n: int,
    n_colours: int,
    size: int,
    blotted: bool,
):
    """windows.solve_line_windows for a line whose planes begin at words[0]; bounds at numbers[0:], all 0.

    blotted  blots.solve_line_blots instead.
    Returns  False when there is no arrangement; `out`, `stride` and `slot` of its work (windows.LineWork).
    """
    k = len(lengths)
    line = Line(lengths, colours, START, k, n, START, size)
    work = line_work(n_colours * size + 2, min(n_colours, k + 1), size, len(words), 2 * k, k + 1)
    if blotted:
        fits = solve_line_blots(words, numbers, line, work)
    else:
        fits = solve_line_windows(words, numbers, line, work, START, k)
    return fits, work.out, work.stride, work.slot


def solve_line_planes(planes: np.ndarray, n: int, lengths: np.ndarray, colours: np.ndarray) -> np.ndarray | None:
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
    scratch = blot_scratch(n_colours, k, size) if blotted else line_scratch(n_colours, k, slack, size)
    words = np.zeros(planes.size + 2 + int(scratch), np.uint64)
    words[: planes.size] = planes.ravel()
    numbers = np.zeros(2 * k + line_numbers(n_colours, k), np.int64)
    fits, out, stride, slot = solve_line_kernel(
        words, numbers, sealed(lengths), sealed(colours), n, n_colours, size, blotted
    )
    if not fits:
        return None
    remaining = np.zeros_like(planes)
    for colour in {0, *colours.tolist()}:
        at = out + (int(numbers[slot + colour]) if colour else 0) * stride
        remaining[colour] = words[at : at + size]
    return remaining
