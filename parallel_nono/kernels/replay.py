"""Line kernels and propagation by themselves, for tests and benchmarks: as the library has them.

Lines are recorded from real propagation and replayed: the planes that a visit found, and the blocks of the line.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from . import kernel
from .arrays import ConstInt32s, ConstUInt16s, Int64s, UInt64s, UInt64Table
from .bits import U0, U1, U, lowest_bit
from .board import PROPAGATE, all_waiting, board_of, forget_visits, open_cells, open_planes
from .clues import Clues
from .colour import solve_line_colour
from .layout import DIRTY
from .narrow import solve_line_narrow
from .wide import visit_line
from .windows import Line, line_work, solve_line_windows
from .words import solve_line_2, solve_line_3


@kernel
def propagate_all(propagate: Annotated[Any, PROPAGATE], clues: Clues, words: UInt64s, numbers: Int64s, left: Int64s):
    """Propagate every puzzle of a black-white set of at most 64 cells a side; left[p]: open cells, -1 contradiction."""
    for p in range(len(clues.heights)):
        board = board_of(p, clues, 0)
        open_planes(words, board.stack, board)
        all_waiting(words, board)
        left[p] = open_cells(words, board.stack, board) if propagate(words, numbers, board, board.stack) == 0 else -1


@kernel
def record(
    clues: Clues, words: UInt64s, numbers: Int64s, scratch: int, states: UInt64Table, firsts: Int64s, counts: Int64s
):
    """Propagate every puzzle by sweeps and note each visit: the planes before it and the blocks of the line."""
    visits = 0
    for p in range(len(clues.heights)):
        board = board_of(p, clues, scratch)
        forget_visits(numbers, board)
        open_planes(words, board.stack, board)
        all_waiting(words, board)
        busy = True
        while busy:
            busy = False
            for word in range(2):
                while words[U(DIRTY + word)]:
                    busy = True
                    i = np.int64(lowest_bit(words[U(DIRTY + word)]))
                    words[U(DIRTY + word)] &= words[U(DIRTY + word)] - U1
                    line = i + word * board.height
                    if visits < len(firsts):
                        for c in range(board.n_colours):
                            states[visits, c] = words[U(board.stack + line * board.n_colours + c)]
                        firsts[visits] = clues.block_starts[board.line + line]
                        counts[visits] = clues.block_starts[board.line + line + 1] - firsts[visits]
                        visits += 1
                    numbers[U(24 + board.height + board.width + 3 * board.height * board.width)] += 1
                    if not visit_line(words, numbers, board, board.stack, line):
                        busy = False
                        words[DIRTY], words[DIRTY + 1] = U0, U0
    return visits


@kernel
def replay_narrow(states: UInt64Table, firsts: Int64s, counts: Int64s, lengths: ConstInt32s, n: int, words: UInt64s):
    """Lines of up to 64 cells; a number made of all that remains."""
    total = U0
    for i in range(len(firsts)):
        start = U(firsts[i])
        white, black = solve_line_narrow(lengths, start, start + U(counts[i]), U(n), states[i, 0], states[i, 1], words)
        total ^= white ^ black
    return total


@kernel
def replay_colour(
    states: UInt64Table,
    firsts: Int64s,
    counts: Int64s,
    lengths: ConstInt32s,
    colours: ConstUInt16s,
    n: int,
    n_colours: int,
    words: UInt64s,
):
    """The same in colour; how many have an arrangement."""
    total = 0
    for i in range(len(firsts)):
        for c in range(n_colours):
            words[c] = states[i, c]
        start = U(firsts[i])
        total += solve_line_colour(lengths, colours, start, start + U(counts[i]), U(n), words, U0, U(n_colours))
    return total


@kernel
def replay_words(
    states: UInt64Table,
    firsts: Int64s,
    counts: Int64s,
    lengths: ConstInt32s,
    n: int,
    size: int,
    words: UInt64s,
):
    """Lines of two words and of three; how many have an arrangement."""
    total = 0
    for i in range(len(firsts)):
        for w in range(2 * size):
            words[w] = states[i, w]
        start = U(firsts[i])
        stop = start + U(counts[i])
        if size == 2:
            total += solve_line_2(lengths, start, stop, U(n), words, U0, U(16))
        else:
            total += solve_line_3(lengths, start, stop, U(n), words, U0, U(16))
    return total


@kernel
def replay_windows(
    states: UInt64Table,
    firsts: Int64s,
    counts: Int64s,
    lengths: ConstInt32s,
    colours: ConstUInt16s,
    n: int,
    size: int,
    most: int,
    words: UInt64s,
    numbers: Int64s,
):
    """Lines of any length, black-white; how many have an arrangement."""
    total = 0
    for i in range(len(firsts)):
        for w in range(2 * size):
            words[w] = states[i, w]
        k = np.int64(counts[i])
        for j in range(2 * k):
            numbers[j] = 0
        line = Line(lengths, colours, np.int64(firsts[i]), k, n, np.int64(0), size)
        work = line_work(2 * size + 2, np.int64(2), size, len(words), 2 * most, most + 1)
        total += solve_line_windows(words, numbers, line, work, np.int64(0), k)
    return total


@kernel
def solve_narrow(lengths: ConstInt32s, n: int, white: np.uint64, black: np.uint64, words: UInt64s):
    """narrow.solve_line_narrow."""
    return solve_line_narrow(lengths, U(0), U(len(lengths)), U(n), white, black, words)


@kernel
def solve_colour(lengths: ConstInt32s, colours: ConstUInt16s, n: int, words: UInt64s, planes: int, scratch: int):
    """colour.solve_line_colour."""
    return solve_line_colour(lengths, colours, U(0), U(len(lengths)), U(n), words, U(planes), U(scratch))


@kernel
def solve_two_words(lengths: ConstInt32s, n: int, words: UInt64s, planes: int, scratch: int):
    """words.solve_line_2."""
    return solve_line_2(lengths, U(0), U(len(lengths)), U(n), words, U(planes), U(scratch))


@kernel
def solve_three_words(lengths: ConstInt32s, n: int, words: UInt64s, planes: int, scratch: int):
    """words.solve_line_3."""
    return solve_line_3(lengths, U(0), U(len(lengths)), U(n), words, U(planes), U(scratch))
