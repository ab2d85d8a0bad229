"""Lines of any length and any palette: every block is looked at only inside its window.

The leftmost and the rightmost arrangement give each block a window of starts. Between its neighbours' leftmost ends
everything is known to be crossable, so a block costs a constant number of operations a word of its *window*, whatever
the length of the line and of the block; a block that cannot move costs next to nothing. The pass from the right is
the pass from the left on reversed planes. Every word has its place in one scratch run:

    words    reversed planes, a slot for each colour of the line (slot 0 is the background), `stride` words each
             planes that come out, in the same slots
             arenas STARTS, GAPS from the left; STRATS, SPAG from the right: for each block its window and a guard word
    numbers  per block: planes and gaps seen from the left and from the right, windows, places in the arenas
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernel
from .bits import FULL, U0, U1, U63, U64, U, leading_zeros, reverse_bits
from .board import copy_words, full_word
from .sizes import SEGMENT

RIGHT, LEFT = np.int64(1), np.int64(-1)
"""The step from one block to the next in a pass; typed numbers, so that each pass is compiled once."""


class Desk(NamedTuple):
    """Where the scratch of one line lies.

    reversed, out, stride      words: slot s of the reversed planes is at reversed + s * stride.
    starts, gaps, strats, spag words: the arenas.
    plane, enalp               numbers: for each block where its plane (its reversed plane) begins in words.
    apart, trapa               numbers: 1 where a block needs a gap to the one before it (after it), else 0.
    window, place              numbers: starts that a block has, and its place in the arenas.
    slot                       numbers: the slot of each colour.
    """

    reversed: int
    out: int
    stride: int
    starts: int
    gaps: int
    strats: int
    spag: int
    plane: int
    enalp: int
    apart: int
    trapa: int
    window: int
    wodniw: int
    place: int
    ecalp: int
    slot: int


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
def leftmost(words, numbers, background, n, lengths, first, step, k, plane, apart, at):
    """Move every block as far left as the cells allow.

    numbers[at:]  lower bounds of the starts on entry, the leftmost starts on return: a start only grows while the
                  cells lose colours, so the bounds of an earlier visit save most of the work.
    first, step   block j has length lengths[first + step * j].
    Returns       False when there is no arrangement.
    """
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
def sweep(
    words, numbers, background, lengths, first, step, start, stop, plane, apart, at, window, place, starts, gaps
):  # fmt: skip
    """Which starts and gap cells agree with everything before them.

    start, stop  the blocks; for `start` the piece of `starts` of the block before is there.
    For block j with leftmost start s: bit i of its piece of `starts` is set when it can start at s + i; bit i of its
    piece of `gaps` when cell s - 1 + i can be background with only background between it and block j - 1.
    """
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
def slots_of_colours(words, numbers, colours, first, k, n, planes, size, desk):
    """Give each colour of a line a slot, fill in the reversed planes and the tables of its k blocks (at least one).

    Arguments as of settle_windows. Returns the number of slots.
    """
    for j in range(k):
        numbers[U(desk.slot + colours[U(first + j)])] = 0
    slots = 1
    reverse_run(words, planes, desk.reversed, n)
    for j in range(k):
        colour = np.int64(colours[U(first + j)])
        if numbers[U(desk.slot + colour)] == 0:
            numbers[U(desk.slot + colour)] = slots
            reverse_run(words, planes + colour * size, desk.reversed + slots * desk.stride, n)
            slots += 1
        numbers[U(desk.plane + j)] = planes + colour * size
        numbers[U(desk.enalp + k - 1 - j)] = desk.reversed + numbers[U(desk.slot + colour)] * desk.stride
        apart = 1 if j > 0 and np.int64(colours[U(first + j - 1)]) == colour else 0
        numbers[U(desk.apart + j)] = apart
        if j > 0:
            numbers[U(desk.trapa + k - j)] = apart
    numbers[U(desk.trapa)] = 0
    return slots


@kernel(inner=True)
def settle_windows(words, numbers, lengths, colours, first, k, n, planes, size, desk, at, ta):
    """Keep what some arrangement of the blocks uses.

    first, k    the blocks: lengths[first : first + k] and their colours.
    n           cells;  size  words of a plane.
    planes      where the planes of the line begin in words: colour c at planes + c * size.
    at, ta      numbers: k lower bounds each of the leftmost starts, from the left and from the right; 0 if unknown.
    Returns     False when there is no arrangement; else the planes that remain stand in the slots of desk.out; colours
                that the clue lacks have no slot, and no cell may take them.
    """
    out, stride = desk.out, desk.stride
    if k == 0:
        for word in range(size):
            if words[U(planes + word)] != full_word(n, word):
                return False
            words[U(out + word)] = words[U(planes + word)]
        return True
    slots = slots_of_colours(words, numbers, colours, first, k, n, planes, size, desk)
    if not leftmost(words, numbers, planes, n, lengths, first, RIGHT, k, desk.plane, desk.apart, at):
        return False
    if not leftmost(words, numbers, desk.reversed, n, lengths, first + k - 1, LEFT, k, desk.enalp, desk.trapa, ta):
        return False
    arena, row = 0, 0
    for j in range(k):
        window = n - numbers[U(ta + k - 1 - j)] - lengths[U(first + j)] - numbers[U(at + j)] + 1
        numbers[U(desk.window + j)], numbers[U(desk.wodniw + k - 1 - j)] = window, window
        numbers[U(desk.place + j)], numbers[U(desk.ecalp + k - 1 - j)] = arena, arena
        arena += ((window + 63) >> 6) + 1
        row = max(row, ((window + 63) >> 6) + 1)
    for i in range(slots * stride):
        words[U(out + i)] = U0
    if arena > desk.gaps - desk.starts:
        settle_segments(words, numbers, lengths, colours, first, k, n, planes, desk, at, ta, row)
        return True
    sweep_right(words, numbers, lengths, first, np.int64(0), k, planes, desk, at)
    sweep_left(words, numbers, lengths, first, k, np.int64(0), k, desk, ta)
    for j in range(k):
        join_block(words, numbers, lengths, colours, first, k, n, j, desk, at)
    return True


@kernel(inner=True)
def sweep_right(words, numbers, lengths, first, start, stop, planes, desk, at):
    """The sweep from the left over blocks start to stop - 1."""
    sweep(
        words, numbers, planes, lengths, first, RIGHT, start, stop, desk.plane, desk.apart, at, desk.window, desk.place,
        desk.starts, desk.gaps,
    )  # fmt: skip


@kernel(inner=True)
def sweep_left(words, numbers, lengths, first, k, start, stop, desk, ta):
    """The sweep from the right over blocks start to stop - 1, counted from the right."""
    sweep(
        words, numbers, desk.reversed, lengths, first + k - 1, LEFT, start, stop, desk.enalp, desk.trapa, ta,
        desk.wodniw, desk.ecalp, desk.strats, desk.spag,
    )  # fmt: skip


@kernel(inner=True)
def settle_segments(words, numbers, lengths, colours, first, k, n, planes, desk, at, ta, row):
    """The sweeps of settle_windows, and what they agree on, where the arenas can't hold the windows of all blocks.

    The sweep from the left keeps of each SEGMENT blocks only the starts of the last one. From these it is made again,
    segment by segment from the right, along with the other sweep, which runs on to the block before the segment: its
    gap cells are asked for by the first block. Half as much work again, and room for k / SEGMENT + 4 * SEGMENT windows
    in place of 4 * k.

    row  words of the largest window and its guard.
    """
    side = (SEGMENT + 1) * row
    kept = desk.starts
    starts = kept + (k + SEGMENT - 1) // SEGMENT * row
    part = Desk(
        desk.reversed,
        desk.out,
        desk.stride,
        starts,
        starts + side,
        starts + 2 * side,
        starts + 3 * side,
        desk.plane,
        desk.enalp,
        desk.apart,
        desk.trapa,
        desk.window,
        desk.wodniw,
        desk.place,
        desk.ecalp,
        desk.slot,
    )
    segment, last = np.int64(0), (k - 1) // SEGMENT
    while segment < last:
        a = segment * SEGMENT
        place_segment(numbers, a, a + SEGMENT, k, row, part)
        sweep_right(words, numbers, lengths, first, a, a + SEGMENT, planes, part, at)
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
            copy_words(words, part.strats, part.strats + SEGMENT * row, row)
            copy_words(words, part.spag, part.spag + SEGMENT * row, row)
        sweep_right(words, numbers, lengths, first, a, b, planes, part, at)
        stop = k - max(a - 1, 0)
        sweep_left(words, numbers, lengths, first, k, end, stop, part, ta)
        end = stop
        for j in range(a, b):
            join_block(words, numbers, lengths, colours, first, k, n, j, part, at)
        segment -= 1


@kernel(inner=True)
def place_segment(numbers, a, b, k, row, desk):
    """Places in the arenas for blocks a to b - 1, and for the one before them."""
    for j in range(max(a - 1, 0), b):
        numbers[U(desk.place + j)] = numbers[U(desk.ecalp + k - 1 - j)] = (j - a + 1) * row


@kernel(inner=True)
def join_block(words, numbers, lengths, colours, first, k, n, j, desk, at):
    """What block j covers, and the gap before it, where left and right agree."""
    start, length, window = numbers[U(at + j)], np.int64(lengths[U(first + j)]), numbers[U(desk.window + j)]
    here, last = numbers[U(desk.place + j)], start + window - 1
    ink = desk.out + numbers[U(desk.slot + colours[U(first + j)])] * desk.stride
    if length >= window:  # its leftmost and rightmost places overlap or touch
        set_bits(words, ink, start, last + length - 1)
    else:
        starts, strats = desk.starts + here, desk.strats + here
        size = (window + 63) >> 6
        low = U((size << 6) - window)
        if size == 1:
            bits = words[U(starts)] & (reverse_bits(words[U(strats)]) >> low)
            or_bits(words, ink, start, smeared_up(bits, U(length)) & (FULL >> low))
        else:
            for word in range(size):
                bits = reverse_bits(words[U(strats + size - 1 - word)]) >> low
                if low != U0 and word + 1 < size:
                    bits |= reverse_bits(words[U(strats + size - 2 - word)]) << (U64 - low)
                words[U(starts + word)] &= bits
            smear_up(words, starts, size, length)
            words[U(starts + size - 1)] &= FULL >> low
            for word in range(size):
                or_bits(words, ink, start + (word << 6), words[U(starts + word)])
        set_bits(words, ink, last, last + length - 1)
    gap = desk.out
    if j == 0:
        if last > 0:
            set_bits(words, gap, 0, last - 1)
    else:
        before = numbers[U(at + j - 1)] + lengths[U(first + j - 1)]
        far = before + numbers[U(desk.window + j - 1)] - 1  # where the gap begins in the rightmost arrangement
        if before < start:
            set_bits(words, gap, before, start - 1)
        if far < last:
            set_bits(words, gap, far, last - 1)
        # Cells from `start` to far - 1: background when both sides say so.
        left, right = desk.gaps + here, desk.spag + numbers[U(desk.place + j - 1)]
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
