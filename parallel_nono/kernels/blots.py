"""Lines with blots, blocks of unknown length: of any length and any palette.

Block after block from the left: where it may start is a set of bits, and so is where it may end. A plain block ends
`length - 1` cells behind its start if nothing blocks it; a blot ends anywhere from its start on, as far as its colour
is possible without a hole. Such a walk through cells one after another, like the one through the background of a gap,
is the carry of an addition. The same from the right on reversed planes; what both agree on remains.
"""

from __future__ import annotations

import numpy as np

from . import kernel
from .bits import U0, U1, U63, U, reverse_bits
from .windows import RIGHT, from_left, from_right, reverse_run, slots_of_colours, smear_up, smeared_up


@kernel(inline=True)
def walk(seeds, free):
    """Which cells a walk reaches from `seeds` upwards through cells of `free` only; words."""
    first = seeds & free
    return free & (((free + first) ^ free) | first)


@kernel(inner=True)
def solve_line_word(words, numbers, line, work):
    """solve_line_blots for a line of up to 64 cells: every set is one word.

    Kept of a block from the left are the cells where it may end, or of a plain one those where it may start.
    """
    lengths, colours, first, k, n, planes = line.lengths, line.colours, line.first, line.k, line.n, line.planes
    turn = U(64 - n)
    white = words[U(planes)]
    kept, gaps = U(work.starts), U(work.starts + k)
    behind, before = U1, np.int64(0)
    gap = walk(behind, white)
    words[gaps] = gap
    for j in range(k):
        length, colour = U(lengths[U(first + j)]), np.int64(colours[U(first + j)])
        plane, starts = words[U(planes + colour)], gap << U1
        if colour != before:
            starts |= behind
            numbers[U(work.slot + colour)] = 0
        before = colour
        if length == U0:
            ends = walk(starts, plane)
            words[kept + U(j)] = ends
        else:
            ends = (starts << (length - U1)) & ~smeared_up(~plane, length)
            words[kept + U(j)] = starts
        behind = ends << U1
        gap = walk(behind, white)
        words[gaps + U(j + 1)] = gap
    rev_white = reverse_bits(white) >> turn
    behind, before = U1, np.int64(0)
    gap = walk(behind, rev_white)
    may_white, cells, slots = words[gaps + U(k)] & (reverse_bits(gap) >> turn), U0, np.int64(1)
    for i in range(k):
        j = k - 1 - i
        length, colour = U(lengths[U(first + j)]), np.int64(colours[U(first + j)])
        plane, starts = reverse_bits(words[U(planes + colour)]) >> turn, gap << U1
        if colour != before:
            starts |= behind
        before = colour
        slot = numbers[U(work.slot + colour)]
        if slot == 0:
            slot = slots
            slots += 1
            numbers[U(work.slot + colour)] = slot
            words[U(work.out + slot * work.stride)] = U0
        if length == U0:
            ends = walk(starts, plane)
            cells = words[kept + U(j)] & (reverse_bits(ends) >> turn)
        else:
            ends = (starts << (length - U1)) & ~smeared_up(~plane, length)
            cells = smeared_up(words[kept + U(j)] & (reverse_bits(ends) >> turn), length)
        words[U(work.out + slot * work.stride)] |= cells
        behind = ends << U1
        gap = walk(behind, rev_white)
        may_white |= words[gaps + U(j)] & (reverse_bits(gap) >> turn)
    words[U(work.out)] = may_white
    return cells != U0


@kernel(inner=True)
def walk_up(words, seeds, free, target, size):
    """`walk` for runs of `size` words; the result goes to `target`."""
    carry = U0
    for word in range(size):
        here = words[U(free + word)]
        first = words[U(seeds + word)] & here
        total = here + first
        over = total < here
        total += carry
        over |= total < carry
        carry = U1 if over else U0
        words[U(target + word)] = here & ((total ^ here) | first)


@kernel(inner=True)
def shift_up(words, source, target, size, shift):
    """Write a run of `size` words, shifted up by `shift` bits, to `target`, which may be the same place."""
    far, near = shift >> 6, U(shift & 63)
    word = size - 1
    while word >= 0:
        bits = U0
        if word >= far:
            bits = words[U(source + word - far)] << near
            if word > far:
                bits |= (words[U(source + word - far - 1)] >> U1) >> (U63 - near)
        words[U(target + word)] = bits
        word -= 1


@kernel(inner=True)
def sweep_blots(words, numbers, line, side, kept, gaps, room):
    """Which places of blocks and which gap cells agree with everything before them.

    side   as in windows.sweep, without its arenas.
    kept   for each block `size` words, the cells where it may end; from the left, for a block that is no blot, those
           where it may start, if nothing behind them blocks it.
    gaps   for j from 0 to k `size` words, the cells that can be background with j blocks before them and only
           background behind the last of these.
    room   three runs of `size` words to work in.
    """
    background, first, step, plane, apart = side.background, side.first, side.step, side.plane, side.apart
    lengths, k, size = line.lengths, line.k, line.size
    starts, blocked, behind = room, room + size, room + 2 * size
    for word in range(size):
        words[U(behind + word)] = U0
    words[U(behind)] = U1
    for j in range(k):
        gap, ends, run = gaps + j * size, kept + j * size, numbers[U(plane + j)]
        length = np.int64(lengths[U(first + step * j)])
        walk_up(words, behind, background, gap, size)
        shift_up(words, gap, starts, size, 1)
        if numbers[U(apart + j)] == 0:
            for word in range(size):
                words[U(starts + word)] |= words[U(behind + word)]
        if length == 0:
            walk_up(words, starts, run, ends, size)
            shift_up(words, ends, behind, size, 1)
            continue
        for word in range(size):
            words[U(blocked + word)] = ~words[U(run + word)]
        smear_up(words, blocked, size, length)
        shift_up(words, starts, ends, size, length - 1)
        for word in range(size):
            words[U(ends + word)] &= ~words[U(blocked + word)]
        shift_up(words, ends, behind, size, 1)
        if step == RIGHT:
            for word in range(size):
                words[U(ends + word)] = words[U(starts + word)]
    walk_up(words, behind, background, gaps + k * size, size)


@kernel(inner=True)
def solve_line_blots(words, numbers, line, work):
    """Keep what some arrangement of the blocks uses, blots (length 0) of any length from 1 on.

    Arguments and result as of windows.solve_line_windows; at least one block. The arenas of `work` are one run here.
    """
    if line.size == 1:
        return solve_line_word(words, numbers, line, work)
    lengths, colours, first, k, n, size = line.lengths, line.colours, line.first, line.k, line.n, line.size
    out, stride = work.out, work.stride
    slots = slots_of_colours(words, numbers, line, work)
    kept = work.starts
    gaps = kept + k * size
    rev_kept = gaps + (k + 1) * size
    rev_gaps = rev_kept + k * size
    room = rev_gaps + (k + 1) * size
    sweep_blots(words, numbers, line, from_left(line, work, np.int64(0)), kept, gaps, room)
    sweep_blots(words, numbers, line, from_right(line, work, np.int64(0)), rev_kept, rev_gaps, room)
    for i in range(slots * stride):
        words[U(out + i)] = U0
    some = U0
    for j in range(k + 1):
        left = gaps + j * size
        reverse_run(words, rev_gaps + (k - j) * size, room, n)
        for word in range(size):
            words[U(out + word)] |= words[U(left + word)] & words[U(room + word)]
        if j == k:
            break
        left = kept + j * size
        reverse_run(words, rev_kept + (k - 1 - j) * size, room, n)
        for word in range(size):
            words[U(left + word)] &= words[U(room + word)]
        length = np.int64(lengths[U(first + j)])
        if length > 0:
            smear_up(words, left, size, length)
        ink = out + numbers[U(work.slot + colours[U(first + j)])] * stride
        some = U0
        for word in range(size):
            words[U(ink + word)] |= words[U(left + word)]
            some |= words[U(left + word)]
    return some != U0
