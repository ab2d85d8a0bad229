"""Number crosswords: which letters each number may still be, as masks; words that the masks leave; and the search.

A *run* is a word of the grid. It keeps its candidates, words of its length and shape, as a sparse set: those that
still fit come first, and a level of the search remembers how many they are, so that nothing is copied or put back.
With `distinct` no two numbers share a letter; without it a number is a plain cell, and the search fills a grid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels import kernel
from ...kernels.arrays import Int16s, Int16Table, Int32s, Int32Table, Int64s, UInt8s, UInt64s, UInt64Table
from ...kernels.bits import U0, U1, U6, U63, U, count_bits, load_int64, lowest_bit, nanoseconds
from ...kernels.board import CONTRADICTION, LATE, OPEN, SOLVED, SPENT
from ...kernels.deadline import STOP, is_past

# Places in `numbers`, after those of kernels.deadline; the counts are those of `Attempt`.
N_ROUNDS, N_LINES, N_PROBES, N_BRANCHES, N_DEPTH, N_CONFLICTS = 5, 6, 7, 8, 9, 10
FOUND, SETTLED_NS, N_NUMBERS = 11, 12, 13

CLOCK_EVERY = 4096
"""Words between two looks at the clock."""


class Crossword(NamedTuple):
    """A grid as kernels see it.

    distinct    1: numbers have different letters.
    mask_words  uint64 words of a mask: letters / 64, rounded up.
    starts      int32[runs + 1]: the different numbers of run r are numbers[starts[r] : starts[r + 1]] (int32), and
                they stand first at `places` (int32) of its word.
    spelt       int32: all numbers of all runs, letter by letter; those of run r begin at spelt_at[r] (int32).
    lengths     int32[runs], letters of each run.
    texts       int64[runs], where the words of this length begin in `letters` (uint8), one after another.
    counts      int32[runs], how many words of this length there are.
    heaps       int64[runs + 1], where the candidates of each run begin in `candidates` (int32, ordinals of words).
    crossing    int32, the runs that hold number n: crossing[crossing_at[n] : crossing_at[n + 1]].
    """

    distinct: int
    mask_words: int
    starts: Int32s
    numbers: Int32s
    places: Int32s
    spelt: Int32s
    spelt_at: Int32s
    lengths: Int32s
    texts: Int64s
    counts: Int32s
    letters: UInt8s
    heaps: Int64s
    candidates: Int32s
    crossing: Int32s
    crossing_at: Int32s


class Room(NamedTuple):
    """Where a search works; one level more than there are numbers.

    masks    uint64[levels, numbers * mask_words];  sizes  int32[levels, runs], candidates that still fit.
    waiting  uint8[runs], the runs to look at.
    union    uint64[longest run * mask_words];  settled  int32[numbers], numbers whose letter was just found.
    run, word  int32[levels], what was tried at each level.
    """

    masks: UInt64Table
    sizes: Int32Table
    waiting: UInt8s
    union: UInt64s
    settled: Int32s
    run: Int32s
    word: Int32s


@kernel(inner=True)
def out_of_time(numbers):
    """True when the time is up or another thread said stop, whether at once or not."""
    return load_int64(numbers[STOP]) != 0 or is_past(numbers)


@kernel(inner=True)
def wake(crossword, room, number):
    """Have every run that holds the number looked at again."""
    for at in range(crossword.crossing_at[number], crossword.crossing_at[number + 1]):
        room.waiting[crossword.crossing[at]] = 1


@kernel(inner=True)
def mask_size(crossword, room, level, number):
    """How many letters the number may still be."""
    size = U0
    for w in range(crossword.mask_words):
        size += count_bits(room.masks[level, number * crossword.mask_words + w])
    return size


@kernel(inner=True)
def spread(crossword, room, level, n_settled):
    """Take the letters of the first `n_settled` numbers in room.settled from all others. False: none left for one."""
    words = crossword.mask_words
    n_numbers = len(crossword.crossing_at) - 1
    while n_settled:
        n_settled -= 1
        number = room.settled[n_settled]
        for other in range(n_numbers):
            if other == number:
                continue
            hit = False
            for w in range(words):
                common = room.masks[level, number * words + w] & room.masks[level, other * words + w]
                if common != U0:
                    hit = True
                    room.masks[level, other * words + w] ^= common
            if hit:
                size = mask_size(crossword, room, level, other)
                if size == U0:
                    return False
                wake(crossword, room, other)
                if size == U1:
                    room.settled[n_settled] = other
                    n_settled += 1
    return True


@kernel(inner=True)
def settle(crossword, room, numbers, level, run):
    """Drop candidates of a run that the masks forbid, and from the masks what no candidate has. False: none left."""
    words, length, text = crossword.mask_words, crossword.lengths[run], crossword.texts[run]
    first, last = crossword.starts[run], crossword.starts[run + 1]
    for at in range((last - first) * words):
        room.union[at] = U0
    heap, size, place = crossword.heaps[run], room.sizes[level, run], 0
    numbers[N_LINES] += 1
    numbers[N_PROBES] += size
    while place < size:
        word = crossword.candidates[heap + place]
        at = text + np.int64(word) * length
        fits = True
        for j in range(first, last):
            letter = U(crossword.letters[at + crossword.places[j]])
            mask = room.masks[level, crossword.numbers[j] * words + np.int64(letter >> U6)]
            if (mask >> (letter & U63)) & U1 == U0:
                fits = False
                break
        if fits:
            for j in range(first, last):
                letter = U(crossword.letters[at + crossword.places[j]])
                room.union[(j - first) * words + np.int64(letter >> U6)] |= U1 << (letter & U63)
            place += 1
        else:
            size -= 1
            crossword.candidates[heap + place] = crossword.candidates[heap + size]
            crossword.candidates[heap + size] = word
    room.sizes[level, run] = size
    if size == 0:
        return False
    n_settled = 0
    for j in range(first, last):
        number = crossword.numbers[j]
        changed = False
        for w in range(words):
            mask = room.masks[level, number * words + w]
            both = mask & room.union[(j - first) * words + w]
            if both != mask:
                changed = True
                room.masks[level, number * words + w] = both
        if changed:
            wake(crossword, room, number)
            if crossword.distinct and mask_size(crossword, room, level, number) == U1:
                room.settled[n_settled] = number
                n_settled += 1
    room.waiting[run] = 0
    return spread(crossword, room, level, n_settled)


@kernel(inner=True)
def propagate(crossword, room, numbers, level):
    """Settle the waiting runs until none learns. Returns OPEN, CONTRADICTION (then none waits) or LATE."""
    again = True
    while again:
        again = False
        numbers[N_ROUNDS] += 1
        for run in range(len(room.waiting)):
            if room.waiting[run]:
                again = True
                if out_of_time(numbers):
                    return LATE
                if not settle(crossword, room, numbers, level, run):
                    room.waiting[:] = 0
                    return CONTRADICTION
    return OPEN


@kernel(inner=True)
def choose(room, level):
    """The run with the fewest candidates, at least two; -1: every run has its word."""
    best, fewest = -1, np.int64(1) << 40
    for run in range(len(room.waiting)):
        size = room.sizes[level, run]
        if 1 < size < fewest:
            best, fewest = run, size
    return best


@kernel(inner=True)
def put_word(crossword, room, level, run, word):
    """Make the word the only candidate of a run that has it. False: contradiction."""
    words, first = crossword.mask_words, crossword.starts[run]
    at = crossword.texts[run] + np.int64(word) * crossword.lengths[run]
    n_settled = 0
    for j in range(first, crossword.starts[run + 1]):
        number = crossword.numbers[j]
        if mask_size(crossword, room, level, number) == U1:
            continue
        letter = U(crossword.letters[at + crossword.places[j]])
        for w in range(words):
            room.masks[level, number * words + w] = U0
        room.masks[level, number * words + np.int64(letter >> U6)] = U1 << (letter & U63)
        wake(crossword, room, number)
        if crossword.distinct:
            room.settled[n_settled] = number
            n_settled += 1
    return spread(crossword, room, level, n_settled)


@kernel(inner=True)
def drop_word(crossword, room, level, run, word):
    """Take a word from the candidates of a run, which had several."""
    heap, size = crossword.heaps[run], room.sizes[level, run] - 1
    for place in range(heap, heap + size):
        if crossword.candidates[place] == word:
            crossword.candidates[place] = crossword.candidates[heap + size]
            crossword.candidates[heap + size] = word
            break
    room.sizes[level, run] = size
    room.waiting[run] = 1


@kernel(inner=True)
def write_letters(crossword, room, level, letters):
    """The letter of each number as its code, -1 where several are left. letters: int16[numbers]."""
    words = crossword.mask_words
    for number in range(len(letters)):
        letters[number] = -1
        if mask_size(crossword, room, level, number) == U1:
            for w in range(words):
                mask = room.masks[level, number * words + w]
                if mask != U0:
                    letters[number] = 64 * w + np.int64(lowest_bit(mask))


@kernel
def search(
    crossword: Crossword,
    room: Room,
    numbers: Int64s,
    known: Int16s,
    solutions: Int16Table,
    deep: bool,
    wanted: int,
    max_nodes: int,
):
    """Settle all runs; then depth first: a word for the run with the fewest candidates, or that word never.

    room        level 0 of masks and sizes is the start.
    known       int16[numbers], what is known without guessing.
    solutions     int16[2, numbers], the first two solutions.
    deep        False: no guesses.
    wanted      stop at this many solutions.  max_nodes  guesses at most.
    Returns     OPEN (deep is False), SOLVED (enough were found), CONTRADICTION (all is searched: numbers[FOUND] is
                exact), LATE, or SPENT.
    """
    n_numbers, n_runs = len(known), len(room.waiting)
    level = 0
    n_settled = 0
    if crossword.distinct:
        for number in range(n_numbers):
            if mask_size(crossword, room, level, number) == U1:
                room.settled[n_settled] = number
                n_settled += 1
    room.waiting[:] = 1
    verdict = CONTRADICTION
    if spread(crossword, room, level, n_settled):
        verdict = propagate(crossword, room, numbers, level)
    write_letters(crossword, room, level, known)
    numbers[SETTLED_NS] = nanoseconds()
    if verdict == OPEN and not deep and choose(room, level) >= 0:
        return OPEN
    while True:
        if verdict == LATE:
            return LATE
        if verdict == CONTRADICTION:
            numbers[N_CONFLICTS] += 1
        else:
            run = choose(room, level)
            if run >= 0:
                if numbers[N_BRANCHES] >= max_nodes:
                    return SPENT
                numbers[N_BRANCHES] += 1
                for at in range(n_numbers * crossword.mask_words):
                    room.masks[level + 1, at] = room.masks[level, at]
                for at in range(n_runs):
                    room.sizes[level + 1, at] = room.sizes[level, at]
                room.run[level] = run
                room.word[level] = crossword.candidates[crossword.heaps[run]]
                level += 1
                numbers[N_DEPTH] = max(numbers[N_DEPTH], level)
                verdict = CONTRADICTION
                if put_word(crossword, room, level, run, room.word[level - 1]):
                    verdict = propagate(crossword, room, numbers, level)
                else:
                    room.waiting[:] = 0
                continue
            if numbers[FOUND] < len(solutions):
                write_letters(crossword, room, level, solutions[numbers[FOUND]])
            numbers[FOUND] += 1
            if numbers[FOUND] >= wanted and level > 0:
                return SOLVED
        level -= 1
        if level < 0:
            return CONTRADICTION
        drop_word(crossword, room, level, room.run[level], room.word[level])
        verdict = propagate(crossword, room, numbers, level)


# The ways of 2010, for comparison: no masks, every word of the right length is tried against the letters so far.


class Trail(NamedTuple):
    """What a plain search remembers.

    letter_of  int16[numbers] and number_of  int16[letters], -1 while open.
    bound      int32[numbers], numbers in the order in which they got their letters; bound_at  int32[runs + 1], how
               many there were when each depth began.
    run        int32[runs + 1], the run of each depth;  word  int32[runs + 1], its next word.
    taken      uint8[runs], runs that have their word.
    """

    letter_of: Int16s
    number_of: Int16s
    bound: Int32s
    bound_at: Int32s
    run: Int32s
    word: Int32s
    taken: UInt8s


@kernel(inner=True)
def unbind(trail, n_bound, down_to):
    """Forget the letters that were found after the first `down_to`."""
    while n_bound > down_to:
        n_bound -= 1
        number = trail.bound[n_bound]
        trail.number_of[trail.letter_of[number]] = -1
        trail.letter_of[number] = -1
    return n_bound


@kernel(inner=True)
def bind(crossword, trail, n_bound, run, word):
    """Put a word into a run. Returns how many numbers have letters then, or -1 if it does not fit."""
    before, length = n_bound, crossword.lengths[run]
    at, spelt = crossword.texts[run] + np.int64(word) * length, crossword.spelt_at[run]
    for place in range(length):
        number, letter = crossword.spelt[spelt + place], np.int16(crossword.letters[at + place])
        if trail.letter_of[number] < 0 and trail.number_of[letter] < 0:
            trail.letter_of[number], trail.number_of[letter] = letter, number
            trail.bound[n_bound] = number
            n_bound += 1
        elif trail.letter_of[number] != letter:
            unbind(trail, n_bound, before)
            return -1
    return n_bound


@kernel(inner=True)
def fewest_words(crossword, trail, numbers, n_bound):
    """The run without a word that has the fewest words that fit; -1 when time is up."""
    best, fewest = -1, np.int64(1) << 40
    for run in range(len(trail.taken)):
        if trail.taken[run]:
            continue
        if out_of_time(numbers):
            return -1
        fitting = 0
        for word in range(crossword.counts[run]):
            bound = bind(crossword, trail, n_bound, run, word)
            if bound >= 0:
                unbind(trail, bound, n_bound)
                fitting += 1
        numbers[N_PROBES] += crossword.counts[run]
        if fitting < fewest:
            best, fewest = run, fitting
            if not fitting:
                break
    return best


@kernel
def search_plainly(
    crossword: Crossword, trail: Trail, numbers: Int64s, order: Int32s, solutions: Int16Table, n_bound: int, wanted: int
):
    """Depth first over the runs in a fixed order, or by fewest words that fit where `order` is empty.

    n_bound  letters given, already in `trail`. numbers[N_BRANCHES] counts nodes, the solutions' leaves included.
    Returns  SOLVED, CONTRADICTION (all is searched) or LATE; see `search`.
    """
    n_runs = len(trail.taken)
    depth, entering = 0, True
    while True:
        if entering:
            numbers[N_BRANCHES] += 1
            trail.bound_at[depth] = n_bound
            trail.word[depth] = 0
            if depth == n_runs:
                if numbers[FOUND] < len(solutions):
                    for number in range(len(trail.letter_of)):
                        solutions[numbers[FOUND], number] = trail.letter_of[number]
                numbers[FOUND] += 1
                if numbers[FOUND] >= wanted:
                    return SOLVED
                depth -= 1
            else:
                run = order[depth] if len(order) else fewest_words(crossword, trail, numbers, n_bound)
                if run < 0:
                    return LATE
                trail.run[depth] = run
                trail.taken[run] = 1
            entering = False
        if depth < 0:
            return CONTRADICTION
        n_bound = unbind(trail, n_bound, trail.bound_at[depth])
        run, word, bound = trail.run[depth], trail.word[depth], -1
        while word < crossword.counts[run] and bound < 0:
            if word % CLOCK_EVERY == 0 and out_of_time(numbers):
                return LATE
            numbers[N_PROBES] += 1
            bound = bind(crossword, trail, n_bound, run, word)
            word += 1
        trail.word[depth] = word
        if bound >= 0:
            n_bound = bound
            depth += 1
            numbers[N_DEPTH] = max(numbers[N_DEPTH], depth)
            entering = True
        else:
            numbers[N_CONFLICTS] += 1
            trail.taken[run] = 0
            depth -= 1
