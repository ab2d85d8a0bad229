"""Does every clue fit its line, do rows and columns hold as many cells of every colour? Asked before any solving."""

from __future__ import annotations

import numpy as np

from . import kernel
from .bits import U

FITS = -1


@kernel
def misfits(heights, widths, lines, blocks, lengths, colours, sums, verdict, numbers):
    """Look for what no solving can mend; arrays as in puzzleset.Clues.

    sums     int64[colours or more], any contents.
    verdict  int64[puzzles]: FITS; the line (rows first, from 0) whose clue is too long; or -1 - c for the colour c of
             which rows and columns hold different numbers of cells.
    numbers  int64[puzzles, 2]: cells needed and there; or cells of the rows and of the columns.
    """
    for p in range(len(heights)):
        height, width = np.int64(heights[p]), np.int64(widths[p])
        verdict[p] = FITS
        most = np.int64(0)
        for line in range(lines[p], lines[p + 1]):
            need, before = np.int64(0), np.int64(0)
            for j in range(blocks[line], blocks[line + 1]):
                colour = np.int64(colours[U(j)])
                need += np.int64(lengths[U(j)]) + (colour == before)
                before = colour
                most = max(most, colour)
            is_row = line - lines[p] < height
            room = width if is_row else height
            if need > room:
                verdict[p], numbers[p, 0], numbers[p, 1] = line - lines[p], need, room
                break
        if verdict[p] != FITS:
            continue
        for colour in range(most + 1):
            sums[colour] = 0
        between = blocks[lines[p] + height]
        for j in range(blocks[lines[p]], between):
            sums[U(colours[U(j)])] += lengths[U(j)]
        for j in range(between, blocks[lines[p + 1]]):
            sums[U(colours[U(j)])] -= lengths[U(j)]
        for colour in range(1, most + 1):
            if sums[colour] != 0:
                total = np.int64(0)
                for j in range(blocks[lines[p]], between):
                    if np.int64(colours[U(j)]) == colour:
                        total += lengths[U(j)]
                verdict[p], numbers[p, 0], numbers[p, 1] = -1 - colour, total, total - sums[colour]
                break
