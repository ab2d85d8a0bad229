"""Lines of any length and any palette: every block is looked at only inside its window.

The leftmost and the rightmost arrangement give each block a window of starts. Between its neighbours' leftmost ends
everything is known to be crossable, so a block costs a constant number of operations a word of its *window*, whatever
the length of the line and of the block; a block that cannot move costs next to nothing. The pass from the right is
the pass from the left on reversed planes. Every word has its place in one scratch run:

    words    reversed planes, a slot for each colour of the line (slot 0 is the background), `stride` words each
             planes that come out, in the same slots
             arenas: starts and gaps from the left, the same from the right: for each block its window and a guard word
    numbers  per block: planes and gaps seen from the left and from the right, windows, places in the arenas
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernel
from .bits import FULL, U0, U1, U63, U64, U, leading_zeros, reverse_bits
from .board import copy_words, full_word
from .layout import BLOCK_TABLES, SEGMENT

RIGHT, LEFT = np.int64(1), np.int64(-1)
"""The step from one block to the next in a pass; typed numbers, so that each pass is compiled once."""


class Line(NamedTuple):
    """One line as the kernels for long lines take it.

    lengths, colours  of the blocks of the set;  first, k  those of this line: lengths[first : first + k].
    n         cells;  size  words of a plane.
    planes    where its planes begin in words: colour c at planes + c * size.
    """

    lengths: np.ndarray
    colours: np.ndarray
    first: int
    k: int
    n: int
    planes: int
    size: int


class Side(NamedTuple):
    """What a pass from one side reads and writes; see LineWork for the places.

    background  words: where the plane of the background begins, as seen from this side.
    first, step block j from this side has length lengths[first + step * j].
    bounds      numbers: lower bounds of the leftmost starts before `leftmost`, then these starts.
    """

    background: int
    first: int
    step: int
    bounds: int
    plane: int
    apart: int
    window: int
    place: int
    starts: int
    gaps: int


class LineWork(NamedTuple):
    """Where the scratch of one line lies; `rev_` stands for the pass from the right, on the line in reverse.

    reversed, out, stride      words: slot s of the reversed planes is at reversed + s * stride.
    starts, gaps, rev_starts, rev_gaps  words: the arenas.
    plane, rev_plane           numbers: for each block where its plane (its reversed plane) begins in words.
    apart, rev_apart           numbers: 1 where a block needs a gap to the one before it (after it), else 0.
    window, rev_window         numbers: starts that a block has.
    place, rev_place           numbers: its place in the arenas.
    slot                       numbers: the slot of each colour.
    """

    reversed: int
    out: int
    stride: int
    starts: int
    gaps: int
    rev_starts: int
    rev_gaps: int
    plane: int
    rev_plane: int
    apart: int
    rev_apart: int
    window: int
    rev_window: int
    place: int
    rev_place: int
    slot: int


@kernel(inline=True)
def line_work(first, slots, size, behind, table, each):
    """The work of a line with planes of `size` words in `slots` colours.

    first, behind  the scratch words to take;  table, each  its tables in numbers, `each` apart.
    """
    stride = size + 1
    arenas = first + 2 * slots * stride + 2
    return with_arenas(first, slots, stride, arenas, (behind - arenas) >> 2, table, each)


@kernel(inline=True)
def with_arenas(first, slots, stride, arenas, length, table, each):
    """The same with four arenas of `length` words from `arenas` on."""
    return LineWork(
        first,
        first + slots * stride,
        stride,
        arenas,
        arenas + length,
        arenas + 2 * length,
        arenas + 3 * length,
        table,
        table + each,
        table + 2 * each,
        table + 3 * each,
        table + 4 * each,
        table + 5 * each,
        table + 6 * each,
        table + 7 * each,
        table + BLOCK_TABLES * each,
    )


@kernel(inline=True)
def from_left(line, work, bounds):
    """The pass from the left."""
    return Side(
        line.planes, line.first, RIGHT, bounds, work.plane, work.apart, work.window, work.place, work.starts, work.gaps
    )


@kernel(inline=True)
def from_right(line, work, bounds):
    """The pass from the right."""
    return Side(
        work.reversed,
        line.first + line.k - 1,
        LEFT,
        bounds,
        work.rev_plane,
        work.rev_apart,
        work.rev_window,
        work.rev_place,
        work.rev_starts,
        work.rev_gaps,
    )


@kernel(inline=True)
def word_at(words, run, bit):
    """64 bits of a run of words from bit `bit` (at least 0) on; the word behind the last one is read too."""
    word, shift = U(run + (bit >> 6)), U(bit & 63)
    return (words[word] >> shift) | ((words[word + U1] << U1) << (U63 - shift))


@kernel(inline=True)
def last_without(words, run, high, low):
    """The last bit from `low` to `high` that is 0, or low - 1."""
    if high < low:
        return low - 1
    word, bottom = high >> 6, low >> 6
    off = ~words[U(run + word)] << (U63 - U(high & 63))
    if off:
        bit = high - np.int64(leading_zeros(off))
        return bit if bit >= low else low - 1
    word -= 1
    while word >= bottom:
        off = ~words[U(run + word)]
        if off:
            bit = (word << 6) + 63 - np.int64(leading_zeros(off))
            return bit if bit >= low else low - 1
        word -= 1
    return low - 1


@kernel(inline=True)
def set_bits(words, run, low, high):
    """Set the bits from low to high, both included."""
    first, last = low >> 6, high >> 6
    low_mask, high_mask = FULL << U(low & 63), FULL >> (U63 - U(high & 63))
    if first == last:
        words[U(run + first)] |= low_mask & high_mask
    else:
        words[U(run + first)] |= low_mask
        for word in range(first + 1, last):
            words[U(run + word)] = FULL
        words[U(run + last)] |= high_mask


@kernel(inline=True)
def or_bits(words, run, bit, bits):
    """Or a word into a run from `bit` on; the word behind the last one may be touched with 0."""
    word, shift = U(run + (bit >> 6)), U(bit & 63)
    words[word] |= bits << shift
    words[word + U1] |= (bits >> U1) >> (U63 - shift)


@kernel(inner=True)
def leftmost(words, numbers, line, side):
    """Move every block as far left as the cells allow, as seen from that side.

    numbers[side.bounds:]  lower bounds of the starts on entry, the leftmost starts on return: a start only grows while
                           the cells lose colours, so the bounds of an earlier visit save most of the work.
    Returns                False when there is no arrangement.
    """
    background, first, step = side.background, side.first, side.step
    plane, apart, at = side.plane, side.apart, side.bounds
    lengths, n, k = line.lengths, line.n, line.k
    j = 0
    while True:
        if j == k:
            last = lengths[U(first + step * (k - 1))]
            end = numbers[U(at + k - 1)] + last
            uncovered = last_without(words, background, n - 1, end)
            if uncovered < end:
                return True
            j = k - 1
            numbers[U(at + j)] = uncovered - last + 1
        length = lengths[U(first + step * j)]
        end, start = 0, 0
        if j > 0:
            end = numbers[U(at + j - 1)] + lengths[U(first + step * (j - 1))]
            start = end + numbers[U(apart + j)]
        start = max(start, numbers[U(at + j)])
        run = numbers[U(plane + j)]
        lonely = j == k - 1 or numbers[U(apart + j + 1)] != 0  # no other block may begin right behind it
        while True:
            if start + length > n:
                return False
            blocked = last_without(words, run, start + length - 1, start)
            if blocked >= start:
                start = blocked + 1
                continue
            behind = start + length
            if lonely and behind < n and (words[U(background + (behind >> 6))] >> U(behind & 63)) & U1 == U0:
                start += 1
                continue
            break
        numbers[U(at + j)] = start
        uncovered = last_without(words, background, start - 1, end)
        if uncovered < end:
            j += 1
        elif j == 0:
            return False
        else:  # a cell before this block that is not background: some earlier block has to come up to it
            j -= 1
            numbers[U(at + j)] = uncovered - lengths[U(first + step * j)] + 1


@kernel(inline=True)
def smeared_up(bits, length):
    """A word or'ed with itself shifted up by 1 .. length - 1, by doubling."""
    have = U1
    while have + have <= length:
        bits |= bits << have
        have += have
    return bits | (bits << (length - have))


@kernel(inner=True)
def sweep(words, numbers, lengths, side, start, stop):
    """Which starts and gap cells agree with everything before them.

    start, stop  the blocks; for `start` the piece of `starts` of the block before is there.
    For block j with leftmost start s: bit i of its piece of `starts` is set when it can start at s + i; bit i of its
    piece of `gaps` when cell s - 1 + i can be background with only background between it and block j - 1.
    """
    background, first, step = side.background, side.first, side.step
    plane, apart, at, window, place = side.plane, side.apart, side.bounds, side.window, side.place
    starts, gaps = side.starts, side.gaps
    for j in range(start, stop):
        n = numbers[U(window + j)]
        here = numbers[U(place + j)]
        if n == 1:
            words[U(starts + here)], words[U(gaps + here)] = U1, U1
            words[U(starts + here + 1)], words[U(gaps + here + 1)] = U0, U0
            continue
        length, begin, run = np.int64(lengths[U(first + step * j)]), numbers[U(at + j)], numbers[U(plane + j)]
        # Seeds of the gap: first cells behind block j - 1; they flow right through background by the carry.
        distance, before, size_before, touching = 0, 0, 0, False
        if j > 0:
            distance = begin - 1 - numbers[U(at + j - 1)] - lengths[U(first + step * (j - 1))]
            before = starts + numbers[U(place + j - 1)]
            size_before = numbers[U(window + j - 1)]
            touching = numbers[U(apart + j)] == 0
        if n <= 64:  # most windows: all in one word
            mask = FULL >> U(64 - n)
            free = ~word_at(words, run, begin + length - 1) & mask
            if free == U0:
                free = mask
            elif length >= n:
                free = (free & (U0 - free)) - U1
            else:
                free = ~smeared_up(free, U(length)) & mask
            gap = mask
            if j > 0:
                seeds = U1
                if distance < 0:  # the blocks touch in the leftmost arrangement
                    seeds = words[U(before)] << U1
                elif distance < size_before:
                    seeds |= word_at(words, before, distance)
                white = word_at(words, background, begin - 1) & mask
                seeds &= white
                gap = white & (((white + seeds) ^ white) | seeds)
                words[U(gaps + here)] = gap
                if touching and distance + 1 < size_before:
                    gap |= word_at(words, before, distance + 1)
                free &= gap
            else:
                words[U(gaps + here)] = gap
            words[U(starts + here)] = free
            words[U(starts + here + 1)], words[U(gaps + here + 1)] = U0, U0
            continue
        size = (n + 63) >> 6
        last_mask = FULL >> U((size << 6) - n)
        # Bit i of `bad`: a start at s + i is blocked. Only cells behind the leftmost arrangement's can block.
        bad = starts + here
        hit = False
        for word in range(size):
            blocked = ~word_at(words, run, begin + length - 1 + (word << 6))
            if word == size - 1:
                blocked &= last_mask
            words[U(bad + word)] = blocked
            hit |= blocked != U0
        if hit and length >= n:
            over = False
            for word in range(size):
                blocked = words[U(bad + word)]
                if over:
                    words[U(bad + word)] = FULL
                elif blocked:
                    over = True
                    words[U(bad + word)] = ~((blocked & (U0 - blocked)) - U1)
        elif hit:
            smear_up(words, bad, size, length)
        carry = U0
        for word in range(size):
            free = ~words[U(bad + word)]
            if j == 0:  # the rightmost arrangement has only background before the first block
                words[U(gaps + here + word)] = FULL
                words[U(bad + word)] = free
                continue
            shift = distance + (word << 6)
            seeds = U0
            if shift < 0:  # the blocks touch in the leftmost arrangement
                seeds = words[U(before)] << U1
            elif shift < size_before:
                seeds = word_at(words, before, shift)
            if word == 0 and distance >= 0:
                seeds |= U1
            white = word_at(words, background, begin - 1 + (word << 6))
            seeds &= white
            total = white + seeds
            over = total < white
            total += carry
            over |= total < carry
            carry = U1 if over else U0
            gap = white & ((total ^ white) | seeds)
            words[U(gaps + here + word)] = gap
            if touching and shift + 1 < size_before:
                gap |= word_at(words, before, shift + 1)
            words[U(bad + word)] = gap & free
        words[U(starts + here + size - 1)] &= last_mask
        words[U(gaps + here + size - 1)] &= last_mask
        words[U(starts + here + size)], words[U(gaps + here + size)] = U0, U0


@kernel(inner=True)
def smear_up(words, run, size, length):
    """Or a run of `size` words with itself shifted up by 1 .. length - 1, by doubling."""
    have = 1
    while have < length:
        shift = min(have, length - have)
        far, near = shift >> 6, U(shift & 63)
        word = size - 1
        while word >= far:
            bits = words[U(run + word - far)] << near
            if word > far:
                bits |= (words[U(run + word - far - 1)] >> U1) >> (U63 - near)
            words[U(run + word)] |= bits
            word -= 1
        have += shift


@kernel(inner=True)
def reverse_run(words, source, target, n):
    """Write the run of n bits at `source` in reverse to `target`, a 0 word behind it."""
    size = (n + 63) >> 6
    low = U((size << 6) - n)
    for word in range(size):
        bits = reverse_bits(words[U(source + size - 1 - word)]) >> low
        if low != U0 and word + 1 < size:
            bits |= reverse_bits(words[U(source + size - 2 - word)]) << (U64 - low)
        words[U(target + word)] = bits
    words[U(target + size)] = U0


@kernel(inner=True)
def slots_of_colours(words, numbers, line, work):
    """Give each colour of a line a slot, fill in the reversed planes and the tables of its blocks (at least one).

    Returns the number of slots.
    """
    colours, first, k, n, planes, size = line.colours, line.first, line.k, line.n, line.planes, line.size
    for j in range(k):
        numbers[U(work.slot + colours[U(first + j)])] = 0
    slots = 1
    reverse_run(words, planes, work.reversed, n)
    for j in range(k):
        colour = np.int64(colours[U(first + j)])
        if numbers[U(work.slot + colour)] == 0:
            numbers[U(work.slot + colour)] = slots
            reverse_run(words, planes + colour * size, work.reversed + slots * work.stride, n)
            slots += 1
        numbers[U(work.plane + j)] = planes + colour * size
        numbers[U(work.rev_plane + k - 1 - j)] = work.reversed + numbers[U(work.slot + colour)] * work.stride
        apart = 1 if j > 0 and np.int64(colours[U(first + j - 1)]) == colour else 0
        numbers[U(work.apart + j)] = apart
        if j > 0:
            numbers[U(work.rev_apart + k - j)] = apart
    numbers[U(work.rev_apart)] = 0
    return slots


@kernel(inner=True)
def solve_line_windows(words, numbers, line, work, bounds, rev_bounds):
    """Keep what some arrangement of the blocks uses.

    bounds, rev_bounds  numbers: k lower bounds each of the leftmost starts, from the left and from the right; 0 if
                        unknown.
    Returns     False when there is no arrangement; else the planes that remain stand in the slots of work.out; colours
                that the clue lacks have no slot, and no cell may take them.
    """
    out, stride, k, n = work.out, work.stride, line.k, line.n
    if k == 0:
        for word in range(line.size):
            if words[U(line.planes + word)] != full_word(n, word):
                return False
            words[U(out + word)] = words[U(line.planes + word)]
        return True
    slots = slots_of_colours(words, numbers, line, work)
    if not leftmost(words, numbers, line, from_left(line, work, bounds)):
        return False
    if not leftmost(words, numbers, line, from_right(line, work, rev_bounds)):
        return False
    arena, row = 0, 0
    for j in range(k):
        start, rev_start = numbers[U(bounds + j)], numbers[U(rev_bounds + k - 1 - j)]
        window = n - rev_start - line.lengths[U(line.first + j)] - start + 1
        numbers[U(work.window + j)], numbers[U(work.rev_window + k - 1 - j)] = window, window
        numbers[U(work.place + j)], numbers[U(work.rev_place + k - 1 - j)] = arena, arena
        arena += ((window + 63) >> 6) + 1
        row = max(row, ((window + 63) >> 6) + 1)
    for i in range(slots * stride):
        words[U(out + i)] = U0
    if arena > work.gaps - work.starts:
        solve_segments(words, numbers, line, work, bounds, rev_bounds, row)
        return True
    sweep(words, numbers, line.lengths, from_left(line, work, bounds), np.int64(0), k)
    sweep(words, numbers, line.lengths, from_right(line, work, rev_bounds), np.int64(0), k)
    for j in range(k):
        join_block(words, numbers, line, work, bounds, j)
    return True


@kernel(inner=True)
def solve_segments(words, numbers, line, work, bounds, rev_bounds, row):
    """The sweeps of solve_line_windows, and what they agree on, where the arenas can't hold the windows of all blocks.

    The sweep from the left keeps of each SEGMENT blocks only the starts of the last one. From these it is made again,
    segment by segment from the right, along with the other sweep, which runs on to the block before the segment: its
    gap cells are asked for by the first block. Half as much work again, and room for k / SEGMENT + 4 * SEGMENT windows
    in place of 4 * k.

    row  words of the largest window and its guard.
    """
    k, kept = line.k, work.starts
    starts = kept + (k + SEGMENT - 1) // SEGMENT * row
    slots = (work.out - work.reversed) // work.stride
    each = work.rev_plane - work.plane
    part = with_arenas(work.reversed, slots, work.stride, starts, (SEGMENT + 1) * row, work.plane, each)
    right, left = from_left(line, part, bounds), from_right(line, part, rev_bounds)
    segment, last = np.int64(0), (k - 1) // SEGMENT
    while segment < last:
        a = segment * SEGMENT
        place_segment(numbers, a, a + SEGMENT, k, row, part)
        sweep(words, numbers, line.lengths, right, a, a + SEGMENT)
        copy_words(words, part.starts + SEGMENT * row, part.starts, row)
        segment += 1
        copy_words(words, part.starts, kept + segment * row, row)
    end = np.int64(0)  # blocks from the right whose sweep is done
    while segment >= 0:
        a, b = segment * SEGMENT, min((segment + 1) * SEGMENT, k)
        place_segment(numbers, a, b, k, row, part)
        if segment > 0:
            copy_words(words, kept + segment * row, part.starts, row)
        if segment < last:
            copy_words(words, part.rev_starts, part.rev_starts + SEGMENT * row, row)
            copy_words(words, part.rev_gaps, part.rev_gaps + SEGMENT * row, row)
        sweep(words, numbers, line.lengths, right, a, b)
        stop = k - max(a - 1, 0)
        sweep(words, numbers, line.lengths, left, end, stop)
        end = stop
        for j in range(a, b):
            join_block(words, numbers, line, part, bounds, j)
        segment -= 1


@kernel(inner=True)
def place_segment(numbers, a, b, k, row, work):
    """Places in the arenas for blocks a to b - 1, and for the one before them."""
    for j in range(max(a - 1, 0), b):
        numbers[U(work.place + j)] = numbers[U(work.rev_place + k - 1 - j)] = (j - a + 1) * row


@kernel(inner=True)
def join_block(words, numbers, line, work, at, j):
    """What block j covers, and the gap before it, where left and right agree; at  its bounds from the left."""
    lengths, colours, first, k, n = line.lengths, line.colours, line.first, line.k, line.n
    start, length, window = numbers[U(at + j)], np.int64(lengths[U(first + j)]), numbers[U(work.window + j)]
    here, last = numbers[U(work.place + j)], start + window - 1
    ink = work.out + numbers[U(work.slot + colours[U(first + j)])] * work.stride
    if length >= window:  # its leftmost and rightmost places overlap or touch
        set_bits(words, ink, start, last + length - 1)
    else:
        starts, rev_starts = work.starts + here, work.rev_starts + here
        size = (window + 63) >> 6
        low = U((size << 6) - window)
        if size == 1:
            bits = words[U(starts)] & (reverse_bits(words[U(rev_starts)]) >> low)
            or_bits(words, ink, start, smeared_up(bits, U(length)) & (FULL >> low))
        else:
            for word in range(size):
                bits = reverse_bits(words[U(rev_starts + size - 1 - word)]) >> low
                if low != U0 and word + 1 < size:
                    bits |= reverse_bits(words[U(rev_starts + size - 2 - word)]) << (U64 - low)
                words[U(starts + word)] &= bits
            smear_up(words, starts, size, length)
            words[U(starts + size - 1)] &= FULL >> low
            for word in range(size):
                or_bits(words, ink, start + (word << 6), words[U(starts + word)])
        set_bits(words, ink, last, last + length - 1)
    gap = work.out
    if j == 0:
        if last > 0:
            set_bits(words, gap, 0, last - 1)
    else:
        before = numbers[U(at + j - 1)] + lengths[U(first + j - 1)]
        far = before + numbers[U(work.window + j - 1)] - 1  # where the gap begins in the rightmost arrangement
        if before < start:
            set_bits(words, gap, before, start - 1)
        if far < last:
            set_bits(words, gap, far, last - 1)
        # Cells from `start` to far - 1: background when both sides say so.
        left, right = work.gaps + here, work.rev_gaps + numbers[U(work.place + j - 1)]
        cell, count = 0, far - start
        while cell < count:
            n_bits = min(count - cell, 64)
            bits = word_at(words, left, cell + 1)
            bits &= reverse_bits(word_at(words, right, count - cell - n_bits + 1)) >> U(64 - n_bits)
            bits &= FULL >> U(64 - n_bits)
            or_bits(words, gap, start + cell, bits)
            cell += n_bits
    if j == k - 1 and start + length < n:
        set_bits(words, gap, start + length, n - 1)
