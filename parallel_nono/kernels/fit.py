"""Does every clue fit its line, do rows and columns hold as many cells of every colour? Asked before any solving."""

from __future__ import annotations

import numpy as np

from . import kernel
from .bits import U

FITS = -1

IN_ROWS, IN_COLUMNS = 1, 2
"""Where blots of a colour are, as bits."""


@kernel(inner=True)
def misfits(clues, sums, verdict, numbers, blotted):
    """Look for what no solving can mend.

    A blot (length 0) takes one cell or more, so with blots of a colour a side may hold more cells of it than we count.

    sums     int64[2, colours or more], any contents.
    verdict  int64[puzzles]: FITS; the line (rows first, from 0) whose clue is too long; or -1 - c for the colour c of
             which rows and columns hold different numbers of cells.
    numbers  int64[puzzles, 2]: cells needed and there; or cells of the rows and of the columns, where negative `at
             least` so many.
    blotted  bool[puzzles]: True where some block is a blot; it may stay False where a clue is too long.
    """
    lines, blocks, lengths, colours = clues.line_starts, clues.block_starts, clues.lengths, clues.colours
    for p in range(len(clues.heights)):
        height, width = np.int64(clues.heights[p]), np.int64(clues.widths[p])
        verdict[p] = FITS
        most = np.int64(0)
        hidden = np.int64(0)
        for line in range(lines[p], lines[p + 1]):
            need, before = np.int64(0), np.int64(0)
            for j in range(blocks[line], blocks[line + 1]):
                colour, length = np.int64(colours[U(j)]), np.int64(lengths[U(j)])
                blot = np.int64(length == 0)
                hidden += blot
                need += length + blot + (colour == before)
                before = colour
                most = max(most, colour)
            is_row = line - lines[p] < height
            room = width if is_row else height
            if need > room:
                verdict[p], numbers[p, 0], numbers[p, 1] = line - lines[p], need, room
                break
        hides = hidden > 0
        blotted[p] = hides
        if verdict[p] != FITS:
            continue
        for colour in range(most + 1):
            sums[0, colour] = sums[1, colour] = 0
        first, between, last = blocks[lines[p]], blocks[lines[p] + height], blocks[lines[p + 1]]
        for j in range(first, between):
            sums[0, U(colours[U(j)])] += lengths[U(j)]
        for j in range(between, last):
            sums[0, U(colours[U(j)])] -= lengths[U(j)]
        if hides:
            for j in range(first, last):
                if lengths[U(j)] == 0:
                    sums[0, U(colours[U(j)])] += 1 if j < between else -1
                    sums[1, U(colours[U(j)])] |= IN_ROWS if j < between else IN_COLUMNS
        for colour in range(1, most + 1):
            more, blots = sums[0, colour], sums[1, colour]
            if (more > 0 and not blots & IN_COLUMNS) or (more < 0 and not blots & IN_ROWS):
                total = np.int64(0)
                for j in range(first, between):
                    if np.int64(colours[U(j)]) == colour:
                        total += max(np.int64(lengths[U(j)]), np.int64(1))
                verdict[p] = -1 - colour
                numbers[p, 0] = -total if blots & IN_ROWS else total
                numbers[p, 1] = more - total if blots & IN_COLUMNS else total - more
                break
