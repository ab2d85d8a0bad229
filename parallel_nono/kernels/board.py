"""What all kernels agree on: where the planes of a puzzle lie, and the numbers that stand for verdicts and counts.

The state of a puzzle is one run of words, its *planes*: bit i of a plane is set while cell i of that line may still
take that colour; colour 0 is the background. Rows come first, then columns, so every cell is held twice:

    row r, colour c, word w       base + (r * n_colours + c) * row_words + w
    column r, colour c, word w    base + height * n_colours * row_words + (r * n_colours + c) * column_words + w

Bits behind the end of a line are 0. Copying the run is the branch operation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernel, layout
from .arrays import Call, ConstInt32s, ConstUInt16s, Int64s, UInt16Table, UInt64s
from .bits import FULL, U0, U1, U, count_bits, lowest_bit
from .layout import DIRTY, LINES, places_of


class Board(NamedTuple):
    """One puzzle of a set, as kernels see it: sizes, places in the work arrays, and the clues of the whole set.

    n_colours    the background included.
    row_words    words of one plane of a row, ceil(width / 64); column_words likewise.
    line_words   words of a set of lines as bits: the rows' words, then the columns'.
    state_words  words of the whole run of planes.
    reach_words  line_words, or 0 where there is no room to note the reach of every cell's probe.
    scratch      where the scratch words of long or coloured lines begin (see layout).
    stack        where the stack of states begins.
    line         the first line of the puzzle in `block_starts`.
    block_starts  int32; block_starts[line + i] is the first block of line i of this puzzle.
    lengths      int32, the blocks of the set;  colours  uint16, their colours.
    """

    height: int
    width: int
    n_colours: int
    row_words: int
    column_words: int
    line_words: int
    state_words: int
    reach_words: int
    scratch: int
    stack: int
    line: int
    block_starts: ConstInt32s
    lengths: ConstInt32s
    colours: ConstUInt16s


PROPAGATE = Call(int, (UInt64s, Int64s, Board, int))
"""words, numbers, board, base -> OPEN, CONTRADICTION or LATE: solve the waiting lines of the state at words[base:]."""

PROBE = Call(int, (PROPAGATE, UInt64s, Int64s, Board, int, int, int))
"""propagate, words, numbers, board, base, most, thorough -> verdict, see probe.probe."""

N_ROUNDS, N_LINES, N_PROBES, N_BRANCHES, N_CONFLICTS, N_SKIPPED, WITNESS, N_DEPTH = 8, 9, 10, 11, 12, 13, 14, 15
COUNTS, N_COUNTS = 8, 8

ROW, COLUMN, COLOUR, EPOCH, FOUND, LEVEL, NODES = 16, 17, 18, 19, 20, 21, 22
"""The best branch; the number of changes so far: the time of `changed` and `probed`; the solutions found; where the
search stands: its level, and the nodes that it has looked at."""

# What a stage says.
OPEN, SOLVED, CONTRADICTION, LATE, FULL_STACK, SPENT, HARD = 0, 1, 2, 3, 4, 5, 6
"""LATE: the clock or another thread stopped it; FULL_STACK: the search needs more room; SPENT: its budget, or memory,
is gone; HARD: what is left is for the stage `sat`."""

SEARCH = Call(int, (PROBE, PROPAGATE, UInt64s, Int64s, Board, int, int, UInt16Table, int, UInt16Table))
"""probe, propagate, words, numbers, board, wanted, max_visits, cells, at, more -> status, see search.search."""

ONE_ROUND, CLOSURE = np.int64(0), np.int64(1)
"""How thorough probing is: the frontier once; or again and again, then everywhere, until no probe teaches anything."""

NO_END = np.int64(1) << 62
"""More probes or nodes than anybody counts."""

OPEN_CELL = 65535
"""Stands in a grid of colour indices (uint16) for a cell that may take more than one colour."""


NOTES, NO_NOTES = np.int64(1), np.int64(0)
"""Whether probes may be noted; numbers, as for KEEP and DROP."""


@kernel(inline=True)
def board_of(place, clues, scratch_words, notes=NOTES):
    """The board of puzzle `place` of a set (see clues).

    notes  NO_NOTES: without room for the reaches of probes.
    """
    height, width = np.int64(clues.heights[place]), np.int64(clues.widths[place])
    planes = max(np.int64(clues.n_colours[place]), np.int64(2))  # a palette without inks is black-white, clues empty
    places = places_of(height, width, planes)
    scratch = places.scratch if notes else places.lane_scratch
    return Board(
        height,
        width,
        planes,
        places.row_words,
        places.column_words,
        places.line_words,
        places.state_words,
        places.reach_words * notes,
        scratch,
        scratch + scratch_words,
        np.int64(clues.line_starts[place]),
        clues.block_starts,
        clues.lengths,
        clues.colours,
    )


@kernel(inline=True)
def line_at(board, base, line):
    """Of one line of the state at `base`: where its planes begin, the words of each, its cells."""
    planes, size, n = layout.line_at(board.height, board.width, board.n_colours, line)
    return base + planes, size, n


@kernel(inline=True)
def blocks_of(board, line):
    """The first block of a line, and how many it has."""
    first = np.int64(board.block_starts[U(board.line + line)])
    return first, np.int64(board.block_starts[U(board.line + line + 1)]) - first


CALL, SEEN = 0, 1
"""Places in the tables: the number of the present propagation; then for each line the last one that looked at it; then
for each line its longest block, or HIDDEN."""

HIDDEN = np.int64(1) << 32
"""Stands for the longest block of a line with a blot."""


@kernel(inline=True)
def tables_of(board):
    """Where the tables of long and coloured lines begin in numbers."""
    return LINES + board.height + board.width + 3 * board.height * board.width


@kernel(inner=True)
def forget_visits(numbers, board):
    """A new puzzle: no propagation has looked at any line; note their longest blocks."""
    tables, lines = tables_of(board), board.height + board.width
    numbers[U(tables + CALL)] = 0
    for line in range(lines):
        longest = np.int64(0)
        first, k = blocks_of(board, line)
        for j in range(first, first + k):
            length = np.int64(board.lengths[U(j)])
            longest = max(longest, length if length > 0 else HIDDEN)
        numbers[U(tables + SEEN + line)] = 0
        numbers[U(tables + SEEN + lines + line)] = longest


@kernel(inline=True)
def full_word(cells, word):
    """The bits of word `word` of a plane of `cells` cells."""
    left = cells - (word << 6)
    return FULL if left >= 64 else FULL >> U(64 - left)


PROBED, SCORE, BEST = np.int64(0), np.int64(1), np.int64(2)
"""What is noted of the last probe of a cell: when (-1: never, or it taught something), how much it decides, by what."""


@kernel(inline=True)
def note_of(board, cell, what):
    """Where a number about a cell stands."""
    return LINES + board.height + board.width + board.height * board.width * what + cell


@kernel(inner=True)
def forget_probes(numbers, board):
    """A new puzzle: no cell was probed, no line changed."""
    for i in range(LINES, note_of(board, np.int64(0), PROBED)):
        numbers[U(i)] = 0
    for i in range(note_of(board, np.int64(0), PROBED), note_of(board, np.int64(0), SCORE)):
        numbers[U(i)] = -1
    numbers[ROW], numbers[COLUMN], numbers[COLOUR], numbers[EPOCH] = 0, 0, 0, 0


@kernel(inner=True)
def all_waiting(words, board):
    """Every line waits."""
    for word in range(board.column_words):
        words[U(DIRTY + word)] = full_word(board.height, word)
    for word in range(board.row_words):
        words[U(DIRTY + board.column_words + word)] = full_word(board.width, word)


@kernel(inline=True)
def copy_words(words, source, target, n):
    """words[target : target + n] = words[source : source + n]; the two do not overlap."""
    for i in range(n):
        words[U(target + i)] = words[U(source + i)]


@kernel(inner=True)
def open_planes(planes, base, board):
    """Everything is possible that the palettes of row and column allow.

    A colour is possible in a cell when the clues of its row and of its column both hold it. With a palette of two
    all cells may be both, so that rounds and visits are counted as everybody counts them.
    """
    height, width, n_colours = board.height, board.width, board.n_colours
    row_words, column_words = board.row_words, board.column_words
    columns = base + height * n_colours * row_words
    if n_colours == 2:
        for line in range(2 * height):
            for word in range(row_words):
                planes[U(base + line * row_words + word)] = full_word(width, word)
        for line in range(2 * width):
            for word in range(column_words):
                planes[U(columns + line * column_words + word)] = full_word(height, word)
        return
    for i in range(board.state_words):
        planes[U(base + i)] = U0
    # The colours of the column clues make one row of planes; each row takes those that its own clue holds.
    # First the columns' view: background everywhere, ink c in column j at the rows whose clue holds c.
    for line in range(height):
        for word in range(row_words):
            planes[U(base + line * n_colours * row_words + word)] = full_word(width, word)
    for line in range(width):
        for word in range(column_words):
            planes[U(columns + line * n_colours * column_words + word)] = full_word(height, word)
    # Row 0 of the row view serves as the table "ink c occurs in column j" only through the two loops below, which
    # write a bit where a row block and a column block of one colour cross: inks are few in a line, so this is cheap.
    for r in range(height):
        for j in range(board.block_starts[U(board.line + r)], board.block_starts[U(board.line + r + 1)]):
            ink = np.int64(board.colours[U(j)])
            place = base + (r * n_colours + ink) * row_words
            seen = U0
            for word in range(row_words):
                seen |= planes[U(place + word)]
            if seen != U0:
                continue
            for c in range(width):
                plane = columns + (c * n_colours + ink) * column_words
                for k in range(
                    board.block_starts[U(board.line + height + c)], board.block_starts[U(board.line + height + c + 1)]
                ):
                    if np.int64(board.colours[U(k)]) == ink:
                        planes[U(place + (c >> 6))] |= U1 << U(c & 63)
                        planes[U(plane + (r >> 6))] |= U1 << U(r & 63)
                        break


# Constants that are arguments are typed numbers: for a literal Numba compiles the callee again.
KEEP, DROP = np.int64(1), np.int64(0)


@kernel(inline=True)
def set_cell(planes, base, board, row, column, colour, keep):
    """Let the cell keep only `colour` (KEEP) or drop it (DROP), in both views."""
    n_colours, row_words, column_words = board.n_colours, board.row_words, board.column_words
    row_plane = base + row * n_colours * row_words + (column >> 6)
    column_plane = base + (board.height * row_words + column * column_words) * n_colours + (row >> 6)
    row_bit, column_bit = U1 << U(column & 63), U1 << U(row & 63)
    for c in range(n_colours):
        if (c != colour) == (keep != 0):
            planes[U(row_plane + c * row_words)] &= ~row_bit
            planes[U(column_plane + c * column_words)] &= ~column_bit


@kernel(inline=True)
def open_word(planes, base, board, row, word):
    """The cells of one word of a row that may take more than one colour."""
    place = base + row * board.n_colours * board.row_words + word
    once, twice = planes[U(place)], U0
    for _ in range(1, board.n_colours):
        place += board.row_words
        plane = planes[U(place)]
        twice |= once & plane
        once |= plane
    return twice


@kernel(inner=True)
def open_cells(planes, base, board):
    """The number of cells that may still take more than one colour."""
    n = 0
    for r in range(board.height):
        for word in range(board.row_words):
            n += np.int64(count_bits(open_word(planes, base, board, r, word)))
    return n


@kernel(inner=True)
def write_cells(planes, base, board, cells, at):
    """Write the grid as colour indices, row by row, to cells[at:]; OPEN_CELL where more than one is possible."""
    for r in range(board.height):
        for word in range(board.row_words):
            first = at + r * board.width + (word << 6)
            n = min(board.width - (word << 6), 64)
            place = base + r * board.n_colours * board.row_words + word
            for c in range(n):
                cells[U(first + c)] = np.uint16(0)
            for ink in range(1, board.n_colours):
                plane = planes[U(place + ink * board.row_words)]
                if plane != U0:
                    for c in range(n):
                        cells[U(first + c)] |= np.uint16(ink) * np.uint16((plane >> U(c)) & U1)
            unknown = open_word(planes, base, board, r, word)
            while unknown:
                cells[U(first) + lowest_bit(unknown)] = np.uint16(OPEN_CELL)
                unknown &= unknown - U1
