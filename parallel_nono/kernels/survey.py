"""What is asked of puzzles before any is solved: do their clues fit, of which family are they, how much room do they
take."""

from __future__ import annotations

import numpy as np

from . import kernel, layout
from .arrays import Bools, Int64s, Int64Table
from .bits import U
from .clues import Clues
from .fit import FITS, misfits

NARROW_FAMILY, COLOUR_FAMILY, WIDE_FAMILY, MISFIT = 0, 1, 2, 3
"""What shares a propagation; behind them those that need none."""


@kernel(inner=True)
def _gather(clues, narrow, verdict, blotted, order, at, family):
    """Append the puzzles of one family to order[:at]; how many there are then."""
    for p in range(len(verdict)):
        if clues.heights[p] <= 0:
            continue
        found = COLOUR_FAMILY if clues.n_colours[p] > 2 else NARROW_FAMILY
        if blotted[p] or max(clues.heights[p], clues.widths[p]) > narrow:
            found = WIDE_FAMILY
        if verdict[p] != FITS:
            found = MISFIT
        if found == family:
            order[at] = p
            at += 1
    return at


@kernel
def survey(
    clues: Clues,
    narrow: int,
    sums: Int64Table,
    verdict: Int64s,
    numbers: Int64Table,
    blotted: Bools,
    order: Int64s,
    starts: Int64s,
):
    """Look for what does not fit (fit.misfits), and sort the puzzles by family.

    narrow   lines of up to so many cells are narrow.
    order    int64[puzzles]: those of the families in turn, then those that do not fit; rows without lines nowhere.
    starts   int64[puzzles + 1]: where the cells of each puzzle begin.
    Returns  where each family ends in `order`, and where the misfits do.
    """
    misfits(clues, sums, verdict, numbers, blotted)
    starts[0] = 0
    for p in range(len(verdict)):
        starts[p + 1] = starts[p] + np.int64(clues.heights[p]) * np.int64(clues.widths[p])
    first = _gather(clues, narrow, verdict, blotted, order, np.int64(0), np.int64(NARROW_FAMILY))
    second = _gather(clues, narrow, verdict, blotted, order, first, np.int64(COLOUR_FAMILY))
    third = _gather(clues, narrow, verdict, blotted, order, second, np.int64(WIDE_FAMILY))
    return first, second, third, _gather(clues, narrow, verdict, blotted, order, third, np.int64(MISFIT))


@kernel(inner=True)
def _wide_scratch(clues, p):
    """Scratch words for the longest windows among all lines of a puzzle."""
    height, width = np.int64(clues.heights[p]), np.int64(clues.widths[p])
    n_colours, line = np.int64(clues.n_colours[p]), np.int64(clues.line_starts[p])
    plain, blots, hides = np.int64(0), np.int64(0), False
    for place in range(height + width):
        n = width if place < height else height
        first, behind = np.int64(clues.block_starts[U(line + place)]), np.int64(clues.block_starts[U(line + place + 1)])
        filled = np.int64(0)
        for j in range(first, behind):
            length = np.int64(clues.lengths[U(j)])
            filled += length
            hides |= length == 0
        size, k = layout.plane_words(n), behind - first
        plain = max(plain, np.int64(layout.line_scratch(n_colours, k, n - filled, size)))
        blots = max(blots, np.int64(layout.blot_scratch(n_colours, k, size)))
    return (max(plain, blots) if hides else plain) + layout.plane_words(height) + layout.plane_words(width)


@kernel
def room(clues: Clues, order: Int64s, family: int, levels: int, max_stack: int):
    """Room that the largest of the puzzles `order` needs, all of one family: scratch words, words, numbers.

    levels, max_stack  see layout.levels_of.
    """
    scratch = np.int64(0)
    for turn in range(len(order)):
        p = order[turn]
        if family == WIDE_FAMILY:
            scratch = max(scratch, _wide_scratch(clues, p))
        elif family == COLOUR_FAMILY:
            scratch = max(scratch, np.int64(layout.colour_scratch(np.int64(clues.n_colours[p]))))
    n_words, n_numbers = np.int64(0), np.int64(0)
    for turn in range(len(order)):
        p = order[turn]
        height, width = np.int64(clues.heights[p]), np.int64(clues.widths[p])
        planes, lines = max(np.int64(clues.n_colours[p]), np.int64(2)), np.int64(clues.line_starts[p])
        places = layout.places_of(height, width, planes)
        n_levels = np.int64(layout.levels_of(height * width, places.state_words, levels, max_stack))
        n_words = max(n_words, np.int64(layout.work_words(places, scratch, n_levels)))
        tables = np.int64(places.tables)
        if family == WIDE_FAMILY:
            behind = np.int64(clues.block_starts[U(lines + height + width)])
            blocks = behind - np.int64(clues.block_starts[U(lines)])
            tables += np.int64(layout.table_numbers(planes, height + width, blocks))
        elif family == COLOUR_FAMILY:
            tables += np.int64(layout.table_numbers(np.int64(0), height + width, np.int64(0)))
        n_numbers = max(n_numbers, tables)
    return scratch, n_words, n_numbers
