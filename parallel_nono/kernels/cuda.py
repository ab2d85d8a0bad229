"""Settling and merging on a CUDA device: the line kernels of windows and blots once more, from their own source.

A line has little that could be done at once: a block waits for the one before it, and most windows are one word. But a
round has thousands of lines, so a thread takes a line, and the next one a grid further on. What a thread works in is
too much for local memory and lies in global memory, a stretch for each thread.

The state of a puzzle is as in board and never leaves the device between rounds. Merging is two steps in place, rows AND
columns, then columns AND rows: narrowing twice by the same is narrowing once.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import cuda
from numba.core.dispatcher import Dispatcher

from . import blots, board, windows
from .bits import U0, U1, U32, U
from .sizes import BLOCK_TABLES
from .windows import Desk

NO_ARRANGEMENT, OPEN_LINE, KNOWN_LINE = 0, 1, 2
"""What becomes of a line that is settled."""


@cuda.jit(device=True)
def reverse_bits(word):
    """See bits; by halves, as the hardware does it and the simulator of Numba has it."""
    low, high = np.uint32(word), np.uint32(word >> U32)
    return (U(cuda.brev(low)) << U32) | U(cuda.brev(high))


@cuda.jit(device=True)
def leading_zeros(word):
    """See bits."""
    high = np.uint32(word >> U32)
    if high:
        return U(cuda.clz(high))
    return U32 + U(cuda.clz(np.uint32(word)))


@cuda.jit(device=True)
def lesser(one, other):
    """min, which Numba 0.68 does not compile for the device."""
    return one if one < other else other


@cuda.jit(device=True)
def greater(one, other):
    """max."""
    return one if one > other else other


def _for_device(*modules: ModuleType) -> dict[str, Any]:
    """The names of these modules, their kernels made for the device from the same source."""
    names: dict[str, Any] = {}
    for module in modules:
        names |= vars(module)
    for name, value in list(names.items()):
        if isinstance(value, Dispatcher):
            names[name] = cuda.jit(device=True)(FunctionType(value.py_func.__code__, names, name))
    names |= {"reverse_bits": reverse_bits, "leading_zeros": leading_zeros, "min": lesser, "max": greater}
    return names


_DEVICE = _for_device(board, windows, blots)
settle_windows, settle_blots, full_word_there = (
    _DEVICE[name] for name in ("settle_windows", "settle_blots", "full_word")
)


@cuda.jit(device=True)
def desk_at(words_from, words_to, numbers_from, k, size, n_colours, max_blocks):
    """The desk of a line with k blocks and planes of `size` words in these words and numbers."""
    colours, stride, each = lesser(n_colours, k + 1), size + 1, max_blocks + 1
    arenas = words_from + 2 * colours * stride + 2
    length = (words_to - arenas) >> 2
    return Desk(
        words_from,
        words_from + colours * stride,
        stride,
        arenas,
        arenas + length,
        arenas + 2 * length,
        arenas + 3 * length,
        numbers_from,
        numbers_from + each,
        numbers_from + 2 * each,
        numbers_from + 3 * each,
        numbers_from + 4 * each,
        numbers_from + 5 * each,
        numbers_from + 6 * each,
        numbers_from + 7 * each,
        numbers_from + BLOCK_TABLES * each,
    )


@cuda.jit(device=True)
def narrow(words, numbers, colours, first, k, n, planes, size, n_colours, desk):
    """Let the planes of a line that was just settled become what remains of it.

    Returns  OPEN_LINE or KNOWN_LINE, and whether a plane lost anything.
    """
    lost, open_cells = False, U0
    for word in range(size):
        once, twice = U0, U0
        for colour in range(n_colours):
            mine = words[U(planes + colour * size + word)]
            if mine == U0:  # a colour that the clue lacks has no slot; nor is it possible anywhere
                continue
            slot = np.int64(0)
            if colour > 0:
                slot = numbers[U(desk.slot + colour)] if k else np.int64(-1)
            stays = U0
            if slot >= 0:
                stays = words[U(desk.out + slot * desk.stride + word)] & mine
            if stays != mine:
                words[U(planes + colour * size + word)] = stays
                lost = True
            twice |= once & stays
            once |= stays
        open_cells |= twice & full_word_there(n, word)
    return (OPEN_LINE if open_cells else KNOWN_LINE), lost


@cuda.jit
def settle_lines(
    jobs, hidden, height, width, n_colours, words, numbers, blocks, lengths, colours, desks, desk_words, tables,
    desk_numbers, max_blocks, states, lost,
):  # fmt: skip
    """Settle lines against the last merge; each narrows its own planes, in its own view only.

    jobs     int32, the lines.
    hidden   uint8[lines], 1 for a line with a blot.
    words    uint64: the state, and from `desks` on `desk_words` for each thread.
    numbers  int64: two bounds a block, kept from round to round; from `tables` on `desk_numbers` for each thread.
    blocks, lengths, colours  int32, of this one puzzle, as in puzzleset.Clues.
    states   uint8[lines], NO_ARRANGEMENT, OPEN_LINE or KNOWN_LINE;  lost  int32[1], 1 if any line lost anything.
    """
    thread = cuda.grid(1)
    words_from, numbers_from = desks + thread * desk_words, tables + thread * desk_numbers
    n_blocks = np.int64(blocks[U(height + width)])
    row_words, column_words = (width + 63) >> 6, (height + 63) >> 6
    for place in range(thread, len(jobs), cuda.gridsize(1)):
        line = np.int64(jobs[place])
        n, size, planes = width, row_words, line * n_colours * row_words
        if line >= height:
            n, size = height, column_words
            planes = (height * row_words + (line - height) * column_words) * n_colours
        first = np.int64(blocks[U(line)])
        k = np.int64(blocks[U(line + 1)]) - first
        desk = desk_at(words_from, words_from + desk_words, numbers_from, k, size, n_colours, max_blocks)
        for colour in range(n_colours):
            numbers[U(desk.slot + colour)] = -1
        if hidden[line]:
            fits = settle_blots(words, numbers, lengths, colours, first, k, n, planes, size, desk)
        else:
            fits = settle_windows(
                words, numbers, lengths, colours, first, k, n, planes, size, desk, first, n_blocks + first
            )
        if not fits:
            states[line] = NO_ARRANGEMENT
            continue
        state, narrowed = narrow(words, numbers, colours, first, k, n, planes, size, n_colours, desk)
        states[line] = state
        if narrowed:
            lost[0] = 1


@cuda.jit
def merge_view(words, height, width, n_colours, side, dead):
    """Each plane of the rows (side 0) or of the columns (side 1) AND what the other view says of the same cells.

    Threads beside each other have the same 64 cells of lines beside each other, so that they read the same words of
    the other view at the same time.
    dead  int32[2]; dead[side] becomes the least line with a cell that may take no colour, if it is less.
    """
    row_words, column_words = (width + 63) >> 6, (height + 63) >> 6
    rows, columns = np.int64(0), height * n_colours * row_words
    n_lines, n_cells, size, other = height, width, row_words, column_words
    mine, crossing = rows, columns
    if side:
        n_lines, n_cells, size, other = width, height, column_words, row_words
        mine, crossing = columns, rows
    for place in range(cuda.grid(1), n_lines * size, cuda.gridsize(1)):
        line, word = place % n_lines, place // n_lines
        strip, shift = line >> 6, U(line & 63)
        some = U0
        for colour in range(n_colours):
            at = U(mine + (line * n_colours + colour) * size + word)
            here = words[at]
            if here == U0:
                continue
            there = U0
            for cell in range(lesser(n_cells - (word << 6), 64)):
                plane = crossing + (((word << 6) + cell) * n_colours + colour) * other + strip
                there |= ((words[U(plane)] >> shift) & U1) << U(cell)
            if here & ~there:
                words[at] = here & there
            some |= here & there
        if some != full_word_there(n_cells, word):
            cuda.atomic.min(dead, side, line)
