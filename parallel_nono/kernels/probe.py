"""Probing: try each colour of a cell, drop what contradicts, keep what the others agree on; any size and palette."""

from __future__ import annotations

import numpy as np

from . import function_value, kernel
from .bits import FULL, U0, U1, U63, U, count_bits, lowest_bit
from .board import (
    BEST,
    COLOUR,
    COLUMN,
    DROP,
    EPOCH,
    KEEP,
    LATE,
    N_CONFLICTS,
    N_PROBES,
    N_SKIPPED,
    OPEN,
    PROBE,
    PROBED,
    ROW,
    SCORE,
    SOLVED,
    copy_words,
    full_word,
    note_of,
    open_cells,
    open_word,
    set_cell,
)
from .deadline import is_late
from .layout import BEFORE, DIRTY, LINES, TRIAL, UNION


@kernel(inline=True)
def cell_waits(words, board, row, column):
    """The row and the column of one cell wait, no other line."""
    for word in range(board.line_words):
        words[U(DIRTY + word)] = U0
    words[U(DIRTY + (row >> 6))] = U1 << U(row & 63)
    words[U(DIRTY + board.column_words + (column >> 6))] = U1 << U(column & 63)


@kernel(inner=True)
def note_changes(words, numbers, board, before, after):
    """Give the lines in which two states differ the present time."""
    now = numbers[EPOCH]
    at = 0
    for line in range(board.height + board.width):
        n = board.n_colours * (board.row_words if line < board.height else board.column_words)
        differs = U0
        for i in range(at, at + n):
            differs |= words[U(before + i)] ^ words[U(after + i)]
        if differs != U0:
            numbers[U(LINES + line)] = now
        at += n


@kernel(inline=True)
def is_stale(words, numbers, board, cell):
    """True when a line that decided the last probe of the cell has changed since."""
    since = numbers[U(note_of(board, cell, PROBED))]
    if since < 0:
        return True
    if board.reach_words == 0:
        return numbers[EPOCH] > since
    reach = DIRTY + 2 * board.line_words + cell * board.reach_words
    for word in range(board.reach_words):
        lines = words[U(reach + word)]
        first = word << 6 if word < board.column_words else board.height + ((word - board.column_words) << 6)
        while lines:
            if numbers[U(LINES + first) + lowest_bit(lines)] > since:
                return True
            lines &= lines - U1
    return False


@kernel(inline=True)
def frontier(planes, base, board, row, word):
    """Cells of one word of a row that lie at the border or beside a known cell: the likeliest to decide much."""
    if row == 0 or row == board.height - 1:
        return FULL
    last = (board.width - 1) >> 6
    known = full_word(board.width, word) & ~open_word(planes, base, board, row, word)
    beside = (known << U1) | (known >> U1)
    if word == 0:
        beside |= U1
    else:
        beside |= ~open_word(planes, base, board, row, word - 1) >> U63
    if word == last:
        beside |= U1 << U((board.width - 1) & 63)
    else:
        beside |= ~open_word(planes, base, board, row, word + 1) << U63
    above, below = open_word(planes, base, board, row - 1, word), open_word(planes, base, board, row + 1, word)
    return beside | ~(above & below)


@kernel(inline=True)
def may_take(planes, base, board, row, column, colour):
    """True while the cell may take the colour."""
    place = base + (row * board.n_colours + colour) * board.row_words + (column >> 6)
    return (planes[U(place)] >> U(column & 63)) & U1 != U0


@kernel(inline=True)
def probe_cell(propagate, words, numbers, board, base, row, column):
    """Try each colour of one open cell: drop what contradicts, keep what the others agree on.

    Returns OPEN, CONTRADICTION (no colour is left), or LATE.
    """
    size = board.state_words
    union, trial, before = board.stack + UNION * size, board.stack + TRIAL * size, board.stack + BEFORE * size
    line_words = board.line_words
    touched = DIRTY + line_words
    cell = row * board.width + column
    survivors, least, most, favourite = 0, 0, 0, 0
    learned = False
    left = 0
    for colour in range(board.n_colours):
        if may_take(words, base, board, row, column, colour):
            left += 1
    for word in range(line_words):
        words[U(touched + word)] = U0
    for turn in range(1, board.n_colours + 1):
        colour = turn if turn < board.n_colours else 0  # inks first
        if not may_take(words, base, board, row, column, colour):
            continue
        if left == 1 and survivors == 0:
            break  # the others contradicted, so the base has this one's outcome already
        place = trial if survivors else union
        copy_words(words, base, place, size)
        set_cell(words, place, board, row, column, colour, KEEP)
        cell_waits(words, board, row, column)
        numbers[N_PROBES] += 1
        verdict = propagate(words, numbers, board, place)
        if verdict == OPEN:
            gained = 0
            for i in range(board.height * board.n_colours * board.row_words):
                gained += np.int64(count_bits(words[U(base + i)] ^ words[U(place + i)]))
            for word in range(line_words):
                words[U(touched + word)] |= words[U(DIRTY + word)]
            if survivors == 0:
                least, most, favourite = gained, gained, colour
            else:
                for i in range(size):
                    words[U(union + i)] |= words[U(trial + i)]
                if gained > most:
                    most, favourite = gained, colour
                least = min(least, gained)
            survivors += 1
            continue
        if verdict == LATE:
            return LATE
        numbers[N_CONFLICTS] += 1
        left -= 1
        copy_words(words, base, before, size)
        if left == 1 and survivors == 1 and not learned:
            copy_words(words, union, base, size)
        else:
            set_cell(words, base, board, row, column, colour, DROP)
            cell_waits(words, board, row, column)
            verdict = propagate(words, numbers, board, base)
            if verdict != OPEN:
                return verdict
        numbers[EPOCH] += 1
        note_changes(words, numbers, board, before, base)
        learned = True
    if left == 1 and learned:
        return OPEN
    # What all outcomes agree on.
    agreed = U0
    for i in range(size):
        agreed |= words[U(base + i)] & ~words[U(union + i)]
    numbers[U(note_of(board, cell, SCORE))] = least * most + least + most
    numbers[U(note_of(board, cell, BEST))] = favourite
    for word in range(board.reach_words):
        words[U(touched + (cell + 1) * board.reach_words + word)] = words[U(touched + word)]
    if agreed == U0:
        numbers[U(note_of(board, cell, PROBED))] = np.int64(-1) if learned else numbers[EPOCH]
        return OPEN
    copy_words(words, base, before, size)
    intersect(words, board, base, union)
    verdict = propagate(words, numbers, board, base)
    if verdict != OPEN:
        return verdict
    numbers[U(note_of(board, cell, PROBED))] = -1
    numbers[EPOCH] += 1
    note_changes(words, numbers, board, before, base)
    return OPEN


@kernel(inner=True)
def intersect(words, board, base, other):
    """words[base] &= words[other]; the lines that lose something wait."""
    for word in range(board.line_words):
        words[U(DIRTY + word)] = U0
    at = 0
    for line in range(board.height + board.width):
        is_row = line < board.height
        n = board.n_colours * (board.row_words if is_row else board.column_words)
        lost = U0
        for i in range(at, at + n):
            lost |= words[U(base + i)] & ~words[U(other + i)]
            words[U(base + i)] &= words[U(other + i)]
        if lost != U0:
            bit = line if is_row else line - board.height + (board.column_words << 6)
            words[U(DIRTY + (bit >> 6))] |= U1 << U(bit & 63)
        at += n


@kernel(inner=True)
def choose(words, numbers, board, base):
    """Put the open cell that decides most, and its colour that decides most, into numbers[ROW] and so on."""
    highest = -2
    for r in range(board.height):
        for word in range(board.row_words):
            waiting = open_word(words, base, board, r, word)
            while waiting:
                c = (word << 6) + np.int64(lowest_bit(waiting))
                waiting &= waiting - U1
                cell = r * board.width + c
                score = numbers[U(note_of(board, cell, SCORE))] if numbers[U(note_of(board, cell, PROBED))] >= 0 else -1
                if score > highest:
                    colour = numbers[U(note_of(board, cell, BEST))]
                    if score < 0 or not may_take(words, base, board, r, c, colour):
                        colour = board.n_colours - 1
                        while not may_take(words, base, board, r, c, colour):
                            colour -= 1
                    highest = score
                    numbers[ROW], numbers[COLUMN], numbers[COLOUR] = r, c, colour


@function_value(PROBE)
def probe(propagate, words, numbers, board, base, most, thorough):
    """Probe the open cells: the frontier first, then all of them.

    most      probes at most; what is known by then stands.
    thorough  CLOSURE: go on until no probe teaches anything; ONE_ROUND: the frontier once, enough to choose a branch.
    Returns  SOLVED, CONTRADICTION, LATE, or OPEN with the best branch at numbers[ROW], [COLUMN], [COLOUR].
    """
    last = numbers[N_PROBES] + most
    everywhere = False
    steps = 0
    while True:
        learnt = numbers[EPOCH]
        for r in range(board.height):
            for word in range(board.row_words):
                done = U0
                while numbers[N_PROBES] < last:
                    waiting = open_word(words, base, board, r, word) & ~done
                    if not everywhere:
                        waiting &= frontier(words, base, board, r, word)
                    if waiting == U0:
                        break
                    bit = lowest_bit(waiting)
                    done |= U1 << bit
                    c = (word << 6) + np.int64(bit)
                    if not is_stale(words, numbers, board, r * board.width + c):
                        numbers[N_SKIPPED] += 1
                        continue
                    steps += 1
                    if steps & 31 == 0 and is_late(numbers):
                        return LATE
                    verdict = probe_cell(propagate, words, numbers, board, base, r, c)
                    if verdict != OPEN:
                        return verdict
        if open_cells(words, base, board) == 0:
            return SOLVED
        if numbers[N_PROBES] >= last:
            break
        if not thorough:
            break
        if numbers[EPOCH] == learnt:
            if everywhere:
                break
            everywhere = True
    choose(words, numbers, board, base)
    return OPEN
