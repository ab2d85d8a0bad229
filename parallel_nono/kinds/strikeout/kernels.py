"""Crossing out `take` adjacent free cells: Grundy values of runs, and games judged by them.

A run of n free cells becomes two runs of i and n - take - i cells, so

    value[n] = the least number that is not value[i] ^ value[n - take - i] for any i

and a strip is worth the xor of its runs (Sprague, Grundy). Value n needs all before it: n / 2 pairs each. What makes
the pairs cheap is to hold the values a second time, reversed: both halves of a pair then lie at places that only grow.
"""

from __future__ import annotations

import numpy as np

from ...kernels import kernel
from ...kernels.arrays import ConstUInt8s, Int64s, UInt8s, UInt16s, UInt64s, UInt64Table
from ...kernels.bits import FULL, U0, U1, U6, U63, U

FREE = 79  # ord("O")

SAMPLE = U(1 << 15)
"""Pairs that are looked at one by one. Beyond, they only sort out what is certainly not the least number."""

PARTS = U(16)
"""Places of a long run from which the sample is taken."""

BLOCK = U(64)
"""Words (of 64 pairs) between two looks whether a number was found."""

MAX_BITS = 16
SEEN = np.uint8(1)


@kernel(inline=True)
def _mark(values, reversed_values, shift, start, stop, seen):
    for i in range(start, stop):
        seen[values[i] ^ reversed_values[shift + i]] = SEEN


@kernel(inner=True)
def _xor_planes(planes, reversed_planes, pairs, n_bits, shift, n_words):
    """Bit b of the xor of every pair, 64 pairs to a word."""
    skip, low = shift >> U6, shift & U63
    for bit in range(n_bits):
        for word in range(U0, n_words):
            moved = reversed_planes[bit, word + skip] >> low
            moved |= (reversed_planes[bit, word + skip + U1] << U1) << (U63 - low)
            pairs[bit, word] = planes[bit, word] ^ moved


@kernel(inner=True)
def _occurs(pairs, n_bits, n_pairs, number, equal):
    """True when `number` is the xor of one of the pairs. `equal` is room for BLOCK words."""
    n_words = n_pairs >> U6
    start = U0
    while start < n_words:
        n = min(BLOCK, n_words - start)
        for word in range(U0, n):
            equal[word] = FULL
        for bit in range(n_bits):
            flip = U0 if (number >> bit) & 1 else FULL
            for word in range(U0, n):
                equal[word] &= pairs[bit, start + word] ^ flip
        found = U0
        for word in range(U0, n):
            found |= equal[word]
        if found:
            return True
        start += n
    rest = FULL >> (U63 - (n_pairs & U63)) >> U1  # the pairs of the last word
    for bit in range(n_bits):
        flip = U0 if (number >> bit) & 1 else FULL
        rest &= pairs[bit, n_words] ^ flip
    return rest != U0


@kernel
def grow(
    take: int,
    start: int,
    stop: int,
    values: UInt16s,
    reversed_values: UInt16s,
    planes: UInt64Table,
    reversed_planes: UInt64Table,
    pairs: UInt64Table,
    seen: UInt8s,
    equal: UInt64s,
):
    """Values of the runs from `start` to `stop` - 1.

    values  uint16[room], those before `start` known; reversed_values the same from the end: [room - 1 - n].
    planes  uint64[MAX_BITS, words]: bit n of row b is bit b of value n; reversed_planes likewise; pairs is room for
            as many. Only needed where a run has more than SAMPLE pairs; else they have no words.
    seen    uint8[1 << MAX_BITS], all 0, and so again on return.
    equal   uint64[BLOCK].
    Returns the first run without a value: `stop`, or less if a value has no room in MAX_BITS.
    """
    end = U(len(values) - 1)
    with_planes = planes.shape[1] > 0
    n_bits = 1
    for n in range(start):
        while values[n] >> n_bits:
            n_bits += 1
    for n in range(start, stop):
        least = 0
        if n >= take:
            shift, n_pairs = end - U(n - take), U((n - take) // 2 + 1)
            if n_pairs <= SAMPLE:
                _mark(values, reversed_values, shift, U0, n_pairs, seen)
                while seen[least]:
                    least += 1
            else:
                step, n_each = n_pairs // PARTS, SAMPLE // PARTS
                for part in range(U0, PARTS):
                    _mark(values, reversed_values, shift, part * step, part * step + n_each, seen)
                _xor_planes(planes, reversed_planes, pairs, n_bits, shift, (n_pairs + U63) >> U6)
                while not least >> n_bits and (seen[least] or _occurs(pairs, n_bits, n_pairs, least, equal)):
                    least += 1
            for number in range(1 << n_bits):
                seen[number] = 0
            while least >> n_bits:
                n_bits += 1
            if n_bits > MAX_BITS - 1:
                return n
        place, mirrored = U(n), end - U(n)
        values[place] = reversed_values[mirrored] = least
        if with_planes:
            for bit in range(n_bits):
                one = U((least >> bit) & 1)
                planes[bit, place >> U6] |= one << (place & U63)
                reversed_planes[bit, mirrored >> U6] |= one << (mirrored & U63)
    return stop


@kernel
def shortest_period(values: UInt16s, borders: Int64s):
    """The shortest p with values[n] == values[n + p] wherever both are there; their number if there is no shorter one.

    borders  int64[len(values) + 1], room: the longest border of every beginning (Knuth, Morris, Pratt).
    """
    borders[0] = border = -1
    for n in range(len(values)):
        while border >= 0 and values[border] != values[n]:
            border = borders[border]
        border += 1
        borders[n + 1] = border
    return len(values) - border


@kernel
def longest_runs(strips: ConstUInt8s, starts: Int64s, longest: Int64s):
    """The longest run of free cells of each strip. strips: uint8 letters, one after the other; starts: int64[n + 1]."""
    for game in range(len(longest)):
        most = run = 0
        for at in range(starts[game], starts[game + 1]):
            run = run + 1 if strips[at] == FREE else 0
            most = max(most, run)
        longest[game] = most


@kernel(inline=True)
def _value(values, first, period, n):
    return values[n] if n < len(values) else values[first + (n - first) % period]


@kernel
def judge(
    strips: UInt8s,
    starts: Int64s,
    games: Int64s,
    take: int,
    values: UInt16s,
    first: int,
    period: int,
    grundy: Int64s,
    moves: Int64s,
):
    """Grundy values of games, and the leftmost move to a position of value 0, from 0; -1 where there is none.

    games          int64, those to judge; all of them have the same `take`.
    values         the values of all runs there are, unless they have a `period` from `first` on.
    grundy, moves  int64 of all games; those of `games` are set.
    """
    for game in games:
        end = starts[game + 1]
        total = run = 0
        for at in range(starts[game], end + 1):
            if at < end and strips[at] == FREE:
                run += 1
            else:
                total ^= np.int64(_value(values, first, period, run))
                run = 0
        grundy[game] = total
        moves[game] = -1
        if total:
            moves[game] = _winning_move(strips, starts[game], end, take, values, first, period, total)


@kernel(inner=True)
def _winning_move(strips, start, end, take, values, first, period, total):
    run = 0
    for at in range(start, end + 1):
        if at < end and strips[at] == FREE:
            run += 1
            continue
        wanted = total ^ np.int64(_value(values, first, period, run))
        for left in range(run - take + 1):
            right = run - take - left
            if _value(values, first, period, left) ^ _value(values, first, period, right) == wanted:
                return at - run + left - start
        run = 0
    return -1


@kernel
def judge_words(words: UInt64s, wins: UInt8s, free: np.uint64, block: np.uint64, last: int, start: int, stop: int):
    """Who wins the positions `start` to `stop` - 1 of a list, those behind them judged already.

    words  uint64, ascending: the cells that moves have crossed. wins: uint8, set to 1 where the mover wins.
    free   the free cells of the strip; block: the cells that a move crosses, at the low end; last: its last place.
    Returns the leftmost winning move of position `start`, from 0; -1 if there is none.
    """
    move = -1
    for place in range(stop - 1, start - 1, -1):
        word = words[place]
        move = -1
        for cell in range(last + 1):
            crossed = block << U(cell)
            if crossed & free != crossed or crossed & word:
                continue
            wanted = word | crossed
            low, high = place + 1, len(words)
            while low < high:
                middle = (low + high) // 2
                if words[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if not wins[low]:
                wins[place] = 1
                move = cell
                break
    return move
