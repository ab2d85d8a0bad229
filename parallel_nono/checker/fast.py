"""The rules for whole puzzle sets, jitted; written apart from the solver's kernels and sharing no code with them."""

from __future__ import annotations

import numpy as np

from ..kernels import kernel
from ..kernels.arrays import ConstBools, ConstInt64s, ConstUInt16s, Int32s, UInt64s
from ..kernels.clues import Clues, sealed

WORD = 64
"""Cells of a line that fit into a word."""


@kernel(inner=True)
def _fits(cells, first, step, count, n_colours, lengths, colours, block, end):
    """Whether cells first, first + step, ... (`count` of them) show exactly the blocks from `block` up to `end`.

    A length of 0 is hidden: any run will do.
    No branch depends on a cell: in noise a branch per run would be mispredicted once a run.
    """
    if block == end:
        inks = 0
        for place in range(count):
            inks += cells[first + place * step] != 0
        return inks == 0
    last = end - 1
    before, run = np.int64(0), np.int64(0)
    bad = False
    for place in range(count):
        cell = np.int64(cells[first + place * step])
        same = cell == before
        ends = (not same) & (before != 0)
        at = min(block, last)
        bad |= cell >= n_colours
        other = (lengths[at] != run) & (lengths[at] != 0)
        bad |= ends & ((block > last) | other | (colours[at] != before))
        block += np.int64(ends)
        run = run * np.int64(same) + 1
        before = cell
    if before == 0:
        return block == end and not bad
    return block == last and lengths[last] in (run, 0) and colours[last] == before and not bad


@kernel(inline=True)
def _word_fits(word, lengths, colours, block, end):
    """`_fits` for a line of at most 64 black and white cells, as bits: the run at the lowest bit set, then the next."""
    none, one = np.uint64(0), np.uint64(1)
    bad = False
    for at in range(block, end):
        last = np.int64(lengths[at]) - 1  # cell of the run; of a blot -1
        low = word & (~word + one)
        carried = word + low  # the run is gone, the bit behind it is set
        behind = carried & ~word
        if last >= WORD:
            return False
        if last >= 0:
            bad |= behind != (low << np.uint64(last)) << one
        bad |= (low == none) | (colours[at] != 1)
        word &= carried
    return word == none and not bad


@kernel(inline=True)
def _black_white_fits(cells, start, height, width, lengths, colours, blocks, line, columns):
    """Whether all lines of a grid of at most 64x64 cells fit. columns: uint64[64], to work in."""
    one = np.uint64(1)
    for column in range(width):
        columns[column] = np.uint64(0)
    most = np.uint16(0)
    for row in range(height):
        word, bit = np.uint64(0), one << np.uint64(row)
        for column in range(width):
            cell = cells[start + row * width + column]
            most = max(most, cell)
            word |= np.uint64(cell) << np.uint64(column)
            columns[column] |= np.uint64(cell) * bit
        if not _word_fits(word, lengths, colours, blocks[line + row], blocks[line + row + 1]):
            return False
    for column in range(width):
        place = line + height + column
        if not _word_fits(columns[column], lengths, colours, blocks[place], blocks[place + 1]):
            return False
    return most <= 1


@kernel
def _check(
    clues: Clues,
    cells: ConstUInt16s,
    cell_starts: ConstInt64s,
    wanted: ConstBools,
    columns: UInt64s,
    wrong: Int32s,
):
    lines, blocks = clues.line_starts, clues.block_starts
    for puzzle in range(len(clues.heights)):
        wrong[puzzle] = -1
        if not wanted[puzzle]:
            continue
        height = np.int64(clues.heights[puzzle])
        width = np.int64(clues.widths[puzzle])
        line = np.int64(lines[puzzle])
        start = cell_starts[puzzle]
        if lines[puzzle + 1] - line != height + width or cell_starts[puzzle + 1] - start != height * width:
            wrong[puzzle] = 0  # another size: already the first line is not there
            continue
        small = clues.n_colours[puzzle] == 2 and max(height, width) <= WORD
        if small and _black_white_fits(
            cells, start, height, width, clues.lengths, clues.colours, blocks, line, columns
        ):
            continue  # else the way for all puzzles says which line is wrong
        for place in range(height + width):
            is_row = place < height
            first = start + (place * width if is_row else place - height)
            step, count = (1, width) if is_row else (width, height)
            begin = np.int64(blocks[line + place])
            end = np.int64(blocks[line + place + 1])
            if not _fits(cells, first, step, count, clues.n_colours[puzzle], clues.lengths, clues.colours, begin, end):
                wrong[puzzle] = place
                break


def check_set(clues: Clues, cells: np.ndarray, cell_starts: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For every puzzle of a set the first line (rows first, from 0) that its cells get wrong, or -1.

    clues        sealed.
    cells        uint16, colour indices row by row, all puzzles after one another; an open or unknown colour is wrong.
    cell_starts  int64[puzzles + 1], where the cells of each puzzle begin.
    wanted       bool[puzzles], the puzzles to look at; the others get -1.
    Returns      int32[puzzles].
    """
    wrong = np.empty(len(clues.heights), np.int32)
    solutions, starts, asked = sealed(cells, np.uint16), sealed(cell_starts, np.int64), sealed(wanted, np.bool_)
    _check(clues, solutions, starts, asked, np.empty(WORD, np.uint64), wrong)
    return wrong
