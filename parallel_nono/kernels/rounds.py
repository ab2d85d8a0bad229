"""Propagation in rounds: every line against the last merge, then rows and columns merged cell by cell with AND.

Inside a round nothing depends on the order of the lines, so grid, rounds and visits are the same however the lines are
shared out: the order of published counts and of many workers. A line is left out once it has been solved with all its
cells known, never straight after a merge: a contradiction would go unseen.
"""

from __future__ import annotations

import numpy as np

from . import function_value, kernel
from .bits import U0, U1, U, lowest_bit
from .board import (
    CALL,
    CONTRADICTION,
    LATE,
    N_LINES,
    N_ROUNDS,
    OPEN,
    PROPAGATE,
    WITNESS,
    blocks_of,
    copy_words,
    full_word,
    tables_of,
)
from .deadline import is_late
from .layout import DIRTY, UNION
from .wide import remaining, solve_line


@kernel(inner=True)
def solve_and_narrow(words, numbers, board, base, merged, line):
    """Solve one line of the state at `base` and narrow its own planes, in that view only, in the state at `merged`.

    Returns  0 if the line has no arrangement, 1 if it is open, 2 if all its cells are known.
    """
    planes, size, k, out, stride, fits = solve_line(words, numbers, board, base, line)
    if not fits:
        return 0
    n = board.width if line < board.height else board.height
    first, _ = blocks_of(board, line)
    shift = merged - base
    known = 2
    for word in range(size):
        once, twice = words[U(out + word)], U0
        words[U(planes + shift + word)] &= once
        if board.n_colours == 2:
            stays = words[U(out + stride + word)] if k else U0
            words[U(planes + shift + size + word)] &= stays
            twice = once & stays
        else:
            for j in range(first, first + k):
                colour = np.int64(board.colours[U(j)])
                again = False
                for i in range(first, j):
                    again |= np.int64(board.colours[U(i)]) == colour
                if not again:
                    stays = words[U(out + remaining(numbers, board, k, colour) * stride + word)]
                    words[U(planes + shift + colour * size + word)] &= stays
                    twice |= once & stays
                    once |= stays
        if twice & full_word(n, word) != U0:
            known = 1
    return known


@kernel(inner=True)
def merge(words, board, base, merged):
    """Carry what each view of the state at `merged` lost since `base` over to the other view; True if any did."""
    changed = False
    columns = board.height * board.n_colours * board.row_words
    for line in range(board.height + board.width):
        is_row = line < board.height
        size = board.row_words if is_row else board.column_words
        other = board.column_words if is_row else board.row_words
        index = line if is_row else line - board.height
        mine = index * board.n_colours * size + (0 if is_row else columns)
        crossing = merged + (columns if is_row else 0) + (index >> 6)
        bit = ~(U1 << U(index & 63))
        for colour in range(board.n_colours):
            for word in range(size):
                at = mine + colour * size + word
                lost = words[U(base + at)] & ~words[U(merged + at)]
                changed |= lost != U0
                while lost:
                    cell = (word << 6) + np.int64(lowest_bit(lost))
                    words[U(crossing + (cell * board.n_colours + colour) * other)] &= bit
                    lost &= lost - U1
    return changed


@kernel(inner=True)
def dead_row(words, board, base):
    """The first row with a cell that may take no colour any more, or -1."""
    for r in range(board.height):
        for word in range(board.row_words):
            some = U0
            for colour in range(board.n_colours):
                some |= words[U(base + (r * board.n_colours + colour) * board.row_words + word)]
            if some != full_word(board.width, word):
                return r
    return -1


@function_value(PROPAGATE)
def propagate_rounds(words, numbers, board, base):
    """Rounds until one of them changes nothing (the first does not count) or every line is done.

    The state UNION of the stack holds the merge, so this serves plans of lines only. Returns as propagate_wide.
    """
    merged = board.stack + UNION * board.state_words
    tables = U(tables_of(board))
    rounds = 0
    while True:
        rounds += 1
        numbers[N_ROUNDS] += 1
        numbers[tables + U(CALL)] += 1
        copy_words(words, base, merged, board.state_words)
        for word in range(board.line_words):
            is_row = word < board.column_words
            first = word << 6 if is_row else board.height + ((word - board.column_words) << 6)
            waiting = words[U(DIRTY + word)]
            while waiting:
                bit = lowest_bit(waiting)
                waiting &= waiting - U1
                line = first + np.int64(bit)
                numbers[N_LINES] += 1
                if is_late(numbers):
                    return LATE
                state = solve_and_narrow(words, numbers, board, base, merged, line)
                if state == 0:
                    numbers[WITNESS] = line
                    return CONTRADICTION
                if state == 2:
                    words[U(DIRTY + word)] &= ~(U1 << bit)
        changed = merge(words, board, base, merged)
        copy_words(words, merged, base, board.state_words)
        row = dead_row(words, board, base)
        if row >= 0:
            numbers[WITNESS] = row
            return CONTRADICTION
        alive = U0
        for word in range(board.line_words):
            alive |= words[U(DIRTY + word)]
        if alive == U0 or (not changed and rounds > 1):
            return OPEN
