"""Propagation for lines of any length, any palette, with and without blots: each line by the kernel that suits it."""

from __future__ import annotations

import numpy as np

from . import function_value, kernel
from .bits import U0, U1, U, lowest_bit
from .blots import solve_line_blots
from .board import (
    CALL,
    CONTRADICTION,
    HIDDEN,
    LATE,
    N_LINES,
    N_ROUNDS,
    OPEN,
    PROPAGATE,
    SEEN,
    WITNESS,
    blocks_of,
    line_at,
    tables_of,
)
from .deadline import is_late
from .layout import BLOCK_TABLES, DIRTY
from .narrow import solve_line_narrow
from .windows import Line, line_work, solve_line_windows
from .words import solve_line_2, solve_line_3

# Tables, in `numbers` behind the notes about cells: board.CALL and SEEN, then for each block of the puzzle the lower
# bounds of its start from the left and from the right, then those of windows.LineWork.


@kernel(inline=True)
def blocks_in(board):
    """The blocks of the whole puzzle."""
    lines = board.height + board.width
    return np.int64(board.block_starts[U(board.line + lines)]) - np.int64(board.block_starts[U(board.line)])


@kernel(inline=True)
def bounds_of(board):
    """Where the bounds of blocks begin in numbers: from the left for each block of the puzzle, then from the right."""
    return tables_of(board) + SEEN + 2 * (board.height + board.width)


@kernel(inner=True)
def work_of(board, k, size):
    """The work of one line with k blocks and planes of `size` words."""
    blocks = blocks_in(board)
    behind = board.stack - 2 - board.line_words
    return line_work(
        board.scratch, min(board.n_colours, k + 1), size, behind, bounds_of(board) + 2 * blocks, blocks + 1
    )


@kernel(inner=True)
def solve_line(words, numbers, board, base, line):
    """Solve one line of the state at words[base:]; what remains stands in the scratch words.

    Returns  where the planes of the line begin, their words, the number of blocks; where the remaining planes begin and
             the words from one to the next (see `remaining`); False if there is no arrangement.
    """
    planes, size, _ = line_at(board, base, line)
    k, out, stride, fits = solve_planes(words, numbers, board, line, planes, size, True)
    return planes, size, k, out, stride, fits


@kernel(inner=True)
def solve_planes(words, numbers, board, line, planes, size, remember):
    """Solve one line whose planes, each of `size` words, begin at words[planes:].

    remember  keep the bounds of its blocks for the next visit of the same call; False: begin anew, in the same few
              numbers for all lines.
    Returns   the number of blocks; then as solve_line.
    """
    n = board.width if line < board.height else board.height
    first, k = blocks_of(board, line)
    lines = board.height + board.width
    tables = tables_of(board)
    longest = numbers[U(tables + SEEN + lines + line)]
    if longest == HIDDEN:
        work = work_of(board, k, size)
        fits = solve_line_blots(words, numbers, Line(board.lengths, board.colours, first, k, n, planes, size), work)
        return k, work.out, work.stride, fits
    if board.n_colours == 2 and size <= 3 and longest <= 64:
        out = U(board.scratch)
        start, stop, at = U(first), U(first + k), U(planes)
        if size == 1:
            white, black = solve_line_narrow(board.lengths, start, stop, U(n), words[at], words[at + U1], words)
            words[out], words[out + U1] = white, black
            fits = white | black != U0
        elif size == 2:
            fits = solve_line_2(board.lengths, start, stop, U(n), words, at, out)
        else:
            fits = solve_line_3(board.lengths, start, stop, U(n), words, at, out)
        return k, np.int64(out), size, fits
    work = work_of(board, k, size)
    blocks = blocks_in(board)
    bounds = bounds_of(board)
    seen = U(tables + SEEN + line)
    if remember:
        bounds += first - np.int64(board.block_starts[U(board.line)])
    if not remember or numbers[seen] != numbers[U(tables + CALL)]:
        numbers[seen] = numbers[U(tables + CALL)]
        for j in range(k):
            numbers[U(bounds + j)] = 0
            numbers[U(bounds + blocks + j)] = 0
    fits = solve_line_windows(
        words, numbers, Line(board.lengths, board.colours, first, k, n, planes, size), work, bounds, bounds + blocks
    )
    return k, work.out, work.stride, fits


@kernel(inline=True)
def remaining(numbers, board, k, colour):
    """The slot of a colour among the remaining planes of a line that was just solved, or -1: it has none."""
    if colour == 0:
        return 0
    if board.n_colours == 2:
        return 1 if k else -1
    blocks = blocks_in(board)
    return numbers[U(bounds_of(board) + 2 * blocks + BLOCK_TABLES * (blocks + 1) + colour)]


@kernel(inner=True)
def take_over(words, board, base, line, planes, size, colour, place, waiting):
    """Let one plane of a line become what remains of it, at words[place:] (-1: nothing), in both views.

    waiting  where the waiting crossing lines stand as bits; those that lose a cell are added.
    """
    is_row = line < board.height
    crossing_words = board.column_words if is_row else board.row_words
    crossing = base + board.height * board.n_colours * board.row_words if is_row else base
    index = line if is_row else line - board.height
    bit = ~(U1 << U(index & 63))
    crossing += colour * crossing_words + (index >> 6)
    step = board.n_colours * crossing_words
    for word in range(size):
        mine = U(planes + colour * size + word)
        stays = words[U(place + word)] if place >= 0 else U0
        lost = words[mine] & ~stays
        if lost != U0:
            words[mine] = stays
            words[U(waiting + word)] |= lost
            first = crossing + (word << 6) * step
            while lost:
                words[U(first + np.int64(lowest_bit(lost)) * step)] &= bit
                lost &= lost - U1


@kernel(inner=True)
def visit_line(words, numbers, board, base, line):
    """Solve one line and carry over what it lost; False if it has no arrangement."""
    planes, size, k, out, stride, fits = solve_line(words, numbers, board, base, line)
    if not fits:
        return False
    waiting = DIRTY + board.column_words if line < board.height else DIRTY
    take_over(words, board, base, line, planes, size, 0, out, waiting)
    if board.n_colours == 2:
        take_over(words, board, base, line, planes, size, 1, out + stride if k else -1, waiting)
        return True
    # Planes of colours that the clue lacks are empty from the start (board.open_planes).
    first = np.int64(board.block_starts[U(board.line + line)])
    for j in range(first, first + k):
        colour = np.int64(board.colours[U(j)])
        place = out + remaining(numbers, board, k, colour) * stride
        take_over(words, board, base, line, planes, size, colour, place, waiting)
    return True


@function_value(PROPAGATE)
def propagate_wide(words, numbers, board, base):
    """Solve waiting lines until none learns; the planes of the state at words[base:] change in place.

    words[DIRTY:]  the waiting rows, then the waiting columns, as bits; on return without contradiction the lines that
                   were visited.
    Returns        OPEN, LATE, or CONTRADICTION: the planes then mean nothing and numbers[WITNESS] is the line.
    """
    tables = U(tables_of(board))
    numbers[tables + U(CALL)] += 1
    visited = board.stack - 2 - board.line_words
    for word in range(board.line_words):
        words[U(visited + word)] = U0
    found = True
    while found:
        found = False
        for word in range(board.line_words):
            is_row = word < board.column_words
            first = word << 6 if is_row else board.height + ((word - board.column_words) << 6)
            while words[U(DIRTY + word)]:
                bit = lowest_bit(words[U(DIRTY + word)])
                if not found:
                    found = True
                    numbers[N_ROUNDS] += 1
                words[U(DIRTY + word)] &= ~(U1 << bit)
                words[U(visited + word)] |= U1 << bit
                numbers[N_LINES] += 1
                if numbers[N_LINES] & 7 == 0 and is_late(numbers):  # of all calls together: most of a search are short
                    return LATE
                line = first + np.int64(bit)
                if not visit_line(words, numbers, board, base, line):
                    numbers[WITNESS] = line
                    return CONTRADICTION
    for word in range(board.line_words):
        words[U(DIRTY + word)] = words[U(visited + word)]
    return OPEN
