"""The plain five-rule encoding of a puzzle: a variable for each ink of a cell and for each place of a block.

Variables, in this order, from 1:

    cell     (row * width + column) * inks + ink      the cell has the ink; ink 0 is colour 1
    start    for each line, rows first, for each block, for each of its places from left to right

All blocks of a line have as many places as the line has cells to spare, and one. The rules, for each line:

    1  a block is in one of its places
    2  and in no two of them
    3  no two blocks (neighbours or not) are in places that overlap, touch with one ink, or are in the wrong order
    4  a cell that has an ink is covered by a block of that ink in some place
    5  a block in a place gives its ink to the cells that it covers

An empty line says once more that its cells have no ink. That no cell has two inks follows from rules 3 and 4; to say it
in so many clauses spares a solver no conflicts.

Source  apsnono ("nonograms by SAT"), whose counts of variables and clauses these are; colour is our own.
"""

from __future__ import annotations

import numpy as np

from . import kernel
from .arrays import Int32s, Int64s
from .clues import Clues

RULE_1, RULE_2, RULE_3, RULE_4, RULE_5, EMPTY_LINES, VARIABLES, LITERALS = range(8)
"""Places in the counts: clauses of each kind, then variables and literals of the whole."""

N_KINDS, N_COUNTS = 6, 8


@kernel(inline=True)
def places_of(n, first, last, lengths, colours):
    """The number of places of each block in a line of n cells; 0 if the blocks do not fit."""
    need, before = np.int64(0), np.int64(0)
    for j in range(first, last):
        colour = np.int64(colours[j])
        need += np.int64(lengths[j]) + (colour == before)
        before = colour
    return max(n - need + 1, 0)


@kernel
def count_clauses(place: int, clues: Clues, most: int, counts: Int64s):
    """Count clauses, variables and literals of one puzzle in closed form, without building anything.

    place   of the puzzle in its set.
    counts  int64[N_COUNTS], filled; zeros between clauses are no literals.
    Returns False as soon as there are more than `most` literals: the counts then mean nothing.
    """
    height, width, inks = (
        np.int64(clues.heights[place]),
        np.int64(clues.widths[place]),
        np.int64(clues.n_colours[place]) - 1,
    )
    blocks, lengths, colours = clues.block_starts, clues.lengths, clues.colours
    first_line = clues.line_starts[place]
    cells = height * width * inks
    counts[:] = 0
    counts[VARIABLES] = cells
    counts[RULE_4] = 2 * cells
    for line in range(height + width):
        n = width if line < height else height
        first, last = np.int64(blocks[first_line + line]), np.int64(blocks[first_line + line + 1])
        if first == last:
            counts[EMPTY_LINES] += n * inks
        p = places_of(n, first, last, lengths, colours)
        counts[VARIABLES] += (last - first) * p
        for j in range(first, last):
            counts[RULE_1] += 1
            counts[RULE_2] += p * (p - 1) // 2
            counts[RULE_5] += p * np.int64(lengths[j])
            between = np.int64(0)  # cells that the blocks between j and i need, and their gaps
            for i in range(j + 1, last):
                between += colours[i] == colours[i - 1]
                # Block i must lie this much further left in its places than j in its own before they conflict.
                apart = between - (colours[i] == colours[j])
                if apart >= p - 1:
                    break
                counts[RULE_3] += (p - 1 - apart) * (p - apart) // 2
                between += np.int64(lengths[i])
        starts = counts[VARIABLES] - cells
        twos = counts[RULE_2] + counts[RULE_3] + counts[RULE_5]
        counts[LITERALS] = starts + 2 * twos + counts[RULE_4] + counts[RULE_5] + counts[EMPTY_LINES]
        if counts[LITERALS] > most:
            return False
    return True


@kernel(inline=True)
def put_two(clauses, at, one, other):
    """Append a clause of two literals; returns the place behind it."""
    clauses[at], clauses[at + 1], clauses[at + 2] = one, other, 0
    return at + 3


@kernel
def write_clauses(place: int, clues: Clues, clauses: Int32s):
    """Write the clauses of one puzzle, a 0 behind each.

    clauses  int32, as many as the literals and the clauses that `count_clauses` has counted.
    Returns  the numbers written.
    """
    height, width, inks = (
        np.int64(clues.heights[place]),
        np.int64(clues.widths[place]),
        np.int64(clues.n_colours[place]) - 1,
    )
    blocks, lengths, colours = clues.block_starts, clues.lengths, clues.colours
    first_line = clues.line_starts[place]
    at = 0
    start = 1 + height * width * inks
    for line in range(height + width):
        is_row = line < height
        n = width if is_row else height
        cell = 1 + (line * width if is_row else line - height) * inks  # ink 0 of cell 0
        step = inks if is_row else width * inks
        first, last = np.int64(blocks[first_line + line]), np.int64(blocks[first_line + line + 1])
        p = places_of(n, first, last, lengths, colours)
        earliest = np.int64(0)
        for j in range(first, last):
            mine, length, ink = start + (j - first) * p, np.int64(lengths[j]), np.int64(colours[j]) - 1
            if j > first:
                earliest += np.int64(lengths[j - 1]) + (colours[j] == colours[j - 1])
            for a in range(p):
                clauses[at + a] = mine + a
            clauses[at + p] = 0
            at += p + 1
            for a in range(p):
                for b in range(a + 1, p):
                    at = put_two(clauses, at, -(mine + a), -(mine + b))
            between = np.int64(0)
            for i in range(j + 1, last):
                between += colours[i] == colours[i - 1]
                apart = between - (colours[i] == colours[j])
                if apart >= p - 1:
                    break
                theirs = start + (i - first) * p
                for a in range(apart + 1, p):
                    for b in range(a - apart):
                        at = put_two(clauses, at, -(mine + a), -(theirs + b))
                between += np.int64(lengths[i])
            for a in range(p):
                for covered in range(earliest + a, earliest + a + length):
                    at = put_two(clauses, at, cell + covered * step + ink, -(mine + a))
        for covered in range(n):
            for ink in range(inks):
                clauses[at] = -(cell + covered * step + ink)
                at += 1
                earliest = np.int64(0)
                for j in range(first, last):
                    if j > first:
                        earliest += np.int64(lengths[j - 1]) + (colours[j] == colours[j - 1])
                    if earliest > covered:
                        break
                    if np.int64(colours[j]) - 1 == ink:
                        mine = start + (j - first) * p
                        for a in range(
                            max(covered - np.int64(lengths[j]) + 1 - earliest, 0), min(covered - earliest + 1, p)
                        ):
                            clauses[at] = mine + a
                            at += 1
                clauses[at] = 0
                at += 1
                if first == last:
                    clauses[at], clauses[at + 1] = -(cell + covered * step + ink), 0
                    at += 2
        start += (last - first) * p
    return at
