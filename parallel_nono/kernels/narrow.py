"""Black-white lines of up to 64 cells: one word a plane, a constant number of operations a block.

Every set of cells is a word. Runs of cells are crossed by the carry of one addition, a block is fitted by doubling,
and the pass from the right is the pass from the left on reversed words.
"""

from __future__ import annotations

import numpy as np

from . import function_value, kernel
from .bits import FULL, U0, U1, U2, U4, U8, U16, U63, U64, U, count_bits, leading_zeros, lowest_bit, reverse_bits
from .board import CONTRADICTION, N_LINES, N_ROUNDS, OPEN, PROPAGATE, WITNESS
from .layout import DIRTY

# Places in the scratch words: tables of doublings from the left, from the right, of block ends by doubling level,
# the ends of each block, the gap cells reached behind each block.
FIT, REV_FIT, ENDS, END, GAP = U(0), U(8), U(16), U(32), U(64)


@kernel(inline=True)
def solve_line_narrow(lengths, start, stop, n, white, black, scratch):
    """Keep what some arrangement of the blocks uses.

    lengths[start:stop]  the blocks; together with their gaps they fit `n` cells.
    n               cells, 1 to 64.
    white, black    the two planes.
    scratch         uint64, at least 128 words of any contents.
    Returns         the two planes, both 0 when there is no arrangement.
    Source          the arrangement rule of Batenburg and Kosters (Pattern Recognition 42, 2009); bit-parallel as here:
                    prefix and suffix feasibility as words.
    """
    turn = U64 - n
    if white & black == U0:  # nothing is open: compare the runs, each cut off by the carry out of it
        rest = black
        j = start
        while j < stop:
            above = rest & (rest + (rest & (U0 - rest)))
            if count_bits(rest ^ above) != U(lengths[j]):
                return U0, U0
            rest = above
            j += U1
        return (white, black) if rest == U0 and white | black == FULL >> turn else (U0, U0)
    full = FULL >> turn
    if start == stop:
        return (full, U0) if white == full else (U0, U0)
    if white & black == full:  # nothing is known, as at every first visit: a block covers what it cannot move off
        room = n + U1
        j = start
        while j < stop:
            room -= U(lengths[j]) + U1
            j += U1
        must, first = U0, room
        j = start
        while j < stop:
            length = U(lengths[j])
            if length > room:
                must |= (FULL >> (U64 - (length - room))) << first
            first += length + U1
            j += U1
        return (full, full) if must == U0 else (full & ~must, full if room else must)
    if lengths[start] == 64:  # a shift by 64 is undefined
        return (U0, FULL) if black == FULL else (U0, U0)
    rev_black, rev_white = reverse_bits(black) >> turn, reverse_bits(white) >> turn
    # FIT[m]: cells where 2**m black cells can begin.
    fit, rev_fit = black, rev_black
    scratch[FIT], scratch[REV_FIT] = fit, rev_fit
    fit &= fit >> U1
    rev_fit &= rev_fit >> U1
    scratch[FIT + U(1)], scratch[REV_FIT + U(1)] = fit, rev_fit
    fit &= fit >> U2
    rev_fit &= rev_fit >> U2
    scratch[FIT + U(2)], scratch[REV_FIT + U(2)] = fit, rev_fit
    fit &= fit >> U4
    rev_fit &= rev_fit >> U4
    scratch[FIT + U(3)], scratch[REV_FIT + U(3)] = fit, rev_fit
    fit &= fit >> U8
    rev_fit &= rev_fit >> U8
    scratch[FIT + U(4)], scratch[REV_FIT + U(4)] = fit, rev_fit
    fit &= fit >> U16
    rev_fit &= rev_fit >> U16
    scratch[FIT + U(5)], scratch[REV_FIT + U(5)] = fit, rev_fit
    scratch[ENDS + U(0)] = U0
    scratch[ENDS + U(1)] = U0
    scratch[ENDS + U(2)] = U0
    scratch[ENDS + U(3)] = U0
    scratch[ENDS + U(4)] = U0
    scratch[ENDS + U(5)] = U0
    # From the left: `starts` are the cells where the next block may begin.
    carry = white + U1
    starts = white ^ carry
    first_gap = white & ~carry
    j = start
    while j < stop:
        length = U(lengths[j])
        level = U63 - leading_zeros(length)
        fits = scratch[FIT + level]
        here = starts & (fits & (fits >> (length - (U1 << level))))
        scratch[END + (j - start)] = here << (length - U1)
        seeds = (here << length) & white
        gap = white & (((white + seeds) ^ white) | seeds)
        scratch[GAP + (j - start)] = gap
        starts = gap << U1
        j += U1
    # From the right, joined with the left on the way.
    carry = rev_white + U1
    starts = rev_white ^ carry
    gap = rev_white & ~carry
    followed = U1 << (n - U1)  # the last block may end at the border
    may_white = U0
    while j > start:
        j -= U1
        length = U(lengths[j])
        level = U63 - leading_zeros(length)
        step = length - (U1 << level)
        right = reverse_bits(gap) >> turn
        followed |= right >> U1
        ends = scratch[END + (j - start)] & followed
        followed = U0
        may_white |= scratch[GAP + (j - start)] & right
        scratch[ENDS + level] |= ends | (ends >> step)
        fits = scratch[REV_FIT + level]
        seeds = ((starts & (fits & (fits >> step))) << length) & rev_white
        gap = rev_white & (((rev_white + seeds) ^ rev_white) | seeds)
        starts = gap << U1
    may_white |= first_gap & (reverse_bits(gap) >> turn)
    # Smear the ends over the blocks, all blocks in one cascade.
    may_black = scratch[ENDS + U(5)]
    may_black |= (may_black >> U16) | scratch[ENDS + U(4)]
    may_black |= (may_black >> U8) | scratch[ENDS + U(3)]
    may_black |= (may_black >> U4) | scratch[ENDS + U(2)]
    may_black |= (may_black >> U2) | scratch[ENDS + U(1)]
    may_black |= (may_black >> U1) | scratch[ENDS + U(0)]
    return may_white, may_black


@kernel(inline=True)
def solve_waiting(words, blocks, lengths, waiting, n, first, mine, crossing):
    """Solve the lines of one side that wait, as bits, and carry over to the other side's planes what they lose.

    n, first        cells of a line; line i has the blocks from blocks[first + i] on.
    mine, crossing  where the planes of this side and of the other begin in words.
    Returns         the crossing lines that now wait, the visits, and the line that has no arrangement or -1.
    """
    waits, visits = U0, 0
    while waiting:
        i = lowest_bit(waiting)
        waiting &= waiting - U1
        place = mine + i + i
        white, black = words[place], words[place + U1]
        may_white, may_black = solve_line_narrow(
            lengths, U(blocks[first + i]), U(blocks[first + i + U1]), n, white, black, words
        )
        visits += 1
        if may_white | may_black == U0:
            return waits, visits, np.int64(i)
        no_black = black ^ may_black
        lost = no_black | (white ^ may_white)  # a cell loses one colour at most: it keeps the other
        if lost:
            words[place], words[place + U1] = may_white, may_black
            waits |= lost
            bit = ~(U1 << i)
            while lost:
                j = lowest_bit(lost)
                words[crossing + j + j + ((no_black >> j) & U1)] &= bit
                lost &= lost - U1
    return waits, visits, np.int64(-1)


@function_value(PROPAGATE)
def propagate_narrow(words, numbers, board, base):
    """Solve waiting lines until none learns; the planes of the state at words[base:] change in place.

    words[DIRTY], words[DIRTY + 1]  the waiting rows and columns as bits; on return without contradiction the lines
                                    that were visited.
    Returns      OPEN, or CONTRADICTION: the planes then mean nothing and numbers[WITNESS] is the line.
    """
    height, width, line = U(board.height), U(board.width), U(board.line)
    rows, columns = U(base), U(base) + height + height
    blocks, lengths = board.block_starts, board.lengths
    waiting_rows, waiting_columns = words[DIRTY], words[DIRTY + 1]
    seen_rows, seen_columns = U0, U0
    total, rounds = 0, 0
    verdict = OPEN
    while waiting_rows | waiting_columns:
        rounds += 1
        seen_rows |= waiting_rows
        waits, visits, failed = solve_waiting(words, blocks, lengths, waiting_rows, width, line, rows, columns)
        total += visits
        if failed >= 0:
            numbers[WITNESS] = failed
            verdict = CONTRADICTION
            break
        waiting_columns |= waits
        seen_columns |= waiting_columns
        waiting_rows, visits, failed = solve_waiting(
            words, blocks, lengths, waiting_columns, height, line + height, columns, rows
        )
        total += visits
        if failed >= 0:
            numbers[WITNESS] = board.height + failed
            verdict = CONTRADICTION
            break
        waiting_columns = U0
    numbers[N_LINES] += total
    numbers[N_ROUNDS] += rounds
    words[DIRTY], words[DIRTY + 1] = seen_rows, seen_columns
    return verdict
