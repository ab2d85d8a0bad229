"""Coloured lines of up to 64 cells: the narrow kernel with a plane for each colour.

Blocks of different colours may touch, so a block starts behind a gap or, after another colour, right at an end.
"""

from __future__ import annotations

import numpy as np

from . import function_value, kernel
from .bits import FULL, U0, U1, U64, U, lowest_bit, reverse_bits
from .board import CONTRADICTION, LATE, N_LINES, N_ROUNDS, OPEN, PROPAGATE, WITNESS
from .deadline import is_late
from .layout import COLOUR_OUT, DIRTY

# Places in the scratch words behind Board.scratch: the ends of each block, the gap cells reached behind it, then the
# planes that come out, one for each colour of the palette.
END, GAP = 0, 64


@kernel(inline=True)
def block_starts(plane, length):
    """The cells where a block of `length` can begin, as a word like `plane`.

    Doubling: after each round a set bit vouches for `have` open cells in a row.
    """
    have = U1
    while have + have <= length:
        plane &= plane >> have
        have += have
    return plane & (plane >> (length - have))


@kernel(inline=True)
def block_cells(ends, length):
    """The cells of blocks of `length` that end at `ends`."""
    have = U1
    while have + have <= length:
        ends |= ends >> have
        have += have
    return ends | (ends >> (length - have))


@kernel(inner=True)
def solve_line_colour(lengths, colours, start, stop, n, words, planes, scratch):
    """Keep what some arrangement of the blocks uses.

    lengths[start:stop]  the blocks, colours alike; together with their gaps they fit `n` cells.
    n          cells, 1 to 64.
    planes     where the planes of the line begin in words, one word each.
    Returns    False when there is no arrangement; else words[scratch + COLOUR_OUT + c] is the plane of colour c for the
               background and the colours of the clue; no cell may take another one.
    """
    turn = U64 - n
    white = words[planes]
    out = scratch + U(COLOUR_OUT)
    words[out] = U0
    if start == stop:
        words[out] = white
        return white == FULL >> turn
    if lengths[start] == 64:  # a shift by 64 is undefined
        plane = words[planes + U(colours[start])]
        words[out + U(colours[start])] = plane
        return plane == FULL
    # From the left: `starts` are the cells where the next block may begin, `behind` those right behind the last one.
    carry = white + U1
    starts = white ^ carry
    first_gap = white & ~carry
    behind, before = U0, U0
    for j in range(start, stop):
        length, colour = U(lengths[j]), U(colours[j])
        words[out + colour] = U0
        if colour != before:
            starts |= behind
        before = colour
        here = starts & block_starts(words[planes + colour], length)
        words[scratch + U(END) + (j - start)] = here << (length - U1)
        behind = here << length
        seeds = behind & white
        gap = white & (((white + seeds) ^ white) | seeds)
        words[scratch + U(GAP) + (j - start)] = gap
        starts = gap << U1
    # From the right on reversed words, joined with the left on the way.
    rev_white = reverse_bits(white) >> turn
    carry = rev_white + U1
    starts = rev_white ^ carry
    gap = rev_white & ~carry
    may_white, behind, before, ends = U0, U0, U0, U0
    j = stop
    while j > start:
        j -= U1
        length, colour = U(lengths[j]), U(colours[j])
        if colour != before:
            starts |= behind
        before = colour
        ends = words[scratch + U(END) + (j - start)] & (reverse_bits(starts) >> turn)
        may_white |= words[scratch + U(GAP) + (j - start)] & (reverse_bits(gap) >> turn)
        words[out + colour] |= block_cells(ends, length)
        behind = (starts & block_starts(reverse_bits(words[planes + colour]) >> turn, length)) << length
        seeds = behind & rev_white
        gap = rev_white & (((rev_white + seeds) ^ rev_white) | seeds)
        starts = gap << U1
    words[out] = may_white | (first_gap & (reverse_bits(gap) >> turn))
    return ends != U0


@kernel(inline=True)
def take_over(words, mine, stays, crossing, step, bit):
    """Let the plane at words[mine] become `stays`; clear `bit` of the crossing lines' planes. Returns what it lost."""
    lost = words[mine] & ~stays
    if lost != U0:
        words[mine] = stays
        rest = lost
        while rest:
            words[crossing + lowest_bit(rest) * step] &= ~bit
            rest &= rest - U1
    return lost


@kernel(inner=True)
def solve_waiting(words, numbers, board, waiting, n, line, mine, crossing):
    """Solve the lines of one side that wait, as bits; their first planes begin at mine, the other side's at crossing.

    Returns  the crossing lines that now wait, and False if some line has no arrangement (numbers[WITNESS] is which).
    """
    waits = U0
    n_colours = U(board.n_colours)
    first_line = U(board.line) + line
    scratch = U(board.scratch)
    while waiting:
        i = lowest_bit(waiting)
        waiting &= waiting - U1
        start, stop = U(board.block_starts[first_line + i]), U(board.block_starts[first_line + i + U1])
        planes = mine + i * n_colours
        numbers[N_LINES] += 1
        if not solve_line_colour(board.lengths, board.colours, start, stop, n, words, planes, scratch):
            numbers[WITNESS] = np.int64(line + i)
            return waits, False
        bit = U1 << i
        out = scratch + U(COLOUR_OUT)
        waits |= take_over(words, planes, words[out], crossing, n_colours, bit)
        for j in range(start, stop):
            c = U(board.colours[j])
            waits |= take_over(words, planes + c, words[out + c], crossing + c, n_colours, bit)
    return waits, True


@function_value(PROPAGATE)
def propagate_colour(words, numbers, board, base):
    """Solve waiting lines until none learns; the planes of the state at words[base:] change in place.

    words[DIRTY], words[DIRTY + 1]  the waiting rows and columns as bits; on return without contradiction the lines
                                    that were visited.
    Returns      OPEN, LATE, or CONTRADICTION: the planes then mean nothing and numbers[WITNESS] is the line.
    """
    height, width = U(board.height), U(board.width)
    rows, columns = U(base), U(base) + height * U(board.n_colours)
    waiting_rows, waiting_columns = words[DIRTY], words[DIRTY + 1]
    seen_rows, seen_columns = U0, U0
    while waiting_rows | waiting_columns:
        numbers[N_ROUNDS] += 1
        if numbers[N_ROUNDS] & 15 == 0 and is_late(numbers):
            return LATE
        seen_rows |= waiting_rows
        waits, fits = solve_waiting(words, numbers, board, waiting_rows, width, U0, rows, columns)
        if not fits:
            return CONTRADICTION
        waiting_rows = U0
        waiting_columns |= waits
        seen_columns |= waiting_columns
        waits, fits = solve_waiting(words, numbers, board, waiting_columns, height, height, columns, rows)
        if not fits:
            return CONTRADICTION
        waiting_columns = U0
        waiting_rows = waits
    words[DIRTY], words[DIRTY + 1] = seen_rows, seen_columns
    return OPEN
