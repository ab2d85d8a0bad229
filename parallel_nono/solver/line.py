"""One line by itself, as a person asks for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..puzzle import BLOT, Clue


def solve_line(clue: Clue, cells: Sequence[int], n_colours: int) -> list[int] | None:
    """Keep of one line exactly what some arrangement of its blocks uses.

    cells      for each cell the colours it may take, as bits: bit 0 the background, bit c colour c; any palette.
    n_colours  of the palette, the background included.
    Returns    cells like those given, or None when no arrangement agrees with them.
    Errors     ValueError if there is no cell, or a block has a negative length or a colour outside the palette.
    """
    from ..kernels.line import solve_line_planes

    if not cells:
        raise ValueError("expected a line of at least one cell, found none")
    for length, colour in clue:
        if length < BLOT or not 1 <= colour < n_colours:
            raise ValueError(
                f"expected blocks of length 1 and more, or BLOT, in colours 1 to {n_colours - 1}, "
                f"found {length} {colour}"
            )
    n = len(cells)
    bits = np.zeros((n_colours, (n + 63) // 64 * 64), np.uint8)
    sets = np.array(cells, np.int64 if n_colours < 64 else object)
    for colour in range(n_colours):
        bits[colour, :n] = sets >> colour & 1
    planes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    used = {0, *(colour for _, colour in clue)}
    lengths = np.array([min(length, n + 1) for length, _ in clue], np.int32)
    colours = np.array([colour for _, colour in clue], np.uint16)
    planes[[colour for colour in range(n_colours) if colour not in used]] = 0
    remaining = solve_line_planes(planes, n, lengths, colours)
    if remaining is None:
        return None
    known = np.unpackbits(remaining.view(np.uint8), axis=1, count=n, bitorder="little")
    result = np.zeros(n, sets.dtype)
    for colour in sorted(used):
        result |= known[colour].astype(sets.dtype) << colour
    kept: list[int] = result.tolist()
    return kept
