"""Line solving and merging on a CUDA device: the line kernels of windows and blots once more, from their own source.

A line has little that could be done at once: a block waits for the one before it, and most windows are one word. But a
round has thousands of lines, so a thread takes a line, and the next one a grid further on. What a thread works in is
too much for local memory and lies in global memory, a stretch for each thread.

The state of a puzzle is as in board and never leaves the device between rounds. Merging is two steps in place, rows AND
columns, then columns AND rows: narrowing twice by the same is narrowing once.
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.core.dispatcher import Dispatcher

from . import blots, board, use_numba, windows
from .bits import U0, U1, U32, U
from .layout import line_at, plane_words
from .windows import Line

use_numba()

NO_ARRANGEMENT, OPEN_LINE, KNOWN_LINE = 0, 1, 2
"""What becomes of a line that is solved."""


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
solve_line_windows, solve_line_blots, line_work, full_word_there = (
    _DEVICE[name] for name in ("solve_line_windows", "solve_line_blots", "line_work", "full_word")
)


class Task(NamedTuple):
    """What does not change of a puzzle on the device, and the memory that its threads work in.

    hidden     uint8[lines], 1 for a line with a blot;  block_starts, lengths, colours  int32, of this one puzzle.
    words      where in words the work of the first thread begins, `thread_words` each; before it is the state.
    numbers    where in numbers the tables of the first thread begin, `thread_numbers` each; before them are two bounds
               a block, kept from round to round.
    """

    height: int
    width: int
    n_colours: int
    max_blocks: int
    words: int
    thread_words: int
    numbers: int
    thread_numbers: int
    hidden: Any
    block_starts: Any
    lengths: Any
    colours: Any


@cuda.jit(device=True)
def narrow(words, numbers, line, n_colours, work):
    """Let the planes of a line that was just solved become what remains of it.

    Returns  OPEN_LINE or KNOWN_LINE, and whether a plane lost anything.
    """
    planes, size = line.planes, line.size
    lost, open_cells = False, U0
    for word in range(size):
        once, twice = U0, U0
        for colour in range(n_colours):
            mine = words[U(planes + colour * size + word)]
            if mine == U0:  # a colour that the clue lacks has no slot; nor is it possible anywhere
                continue
            slot = np.int64(0)
            if colour > 0:
                slot = numbers[U(work.slot + colour)] if line.k else np.int64(-1)
            stays = U0
            if slot >= 0:
                stays = words[U(work.out + slot * work.stride + word)] & mine
            if stays != mine:
                words[U(planes + colour * size + word)] = stays
                lost = True
            twice |= once & stays
            once |= stays
        open_cells |= twice & full_word_there(line.n, word)
    return (OPEN_LINE if open_cells else KNOWN_LINE), lost


@cuda.jit
def solve_lines(jobs, task, words, numbers, states, lost):
    """Solve lines against the last merge; each narrows its own planes, in its own view only.

    jobs     int32, the lines.
    words    uint64;  numbers  int64, see Task.
    states   uint8[lines], NO_ARRANGEMENT, OPEN_LINE or KNOWN_LINE;  lost  int32[1], 1 if any line lost anything.
    """
    thread = cuda.grid(1)
    words_from = task.words + thread * task.thread_words
    numbers_from = task.numbers + thread * task.thread_numbers
    n_blocks = np.int64(task.block_starts[U(task.height + task.width)])
    for place in range(thread, len(jobs), cuda.gridsize(1)):
        number = np.int64(jobs[place])
        planes, size, n = line_at(task.height, task.width, task.n_colours, number)
        first = np.int64(task.block_starts[U(number)])
        k = np.int64(task.block_starts[U(number + 1)]) - first
        line = Line(task.lengths, task.colours, first, k, n, planes, size)
        slots = lesser(task.n_colours, k + 1)
        work = line_work(words_from, slots, size, words_from + task.thread_words, numbers_from, task.max_blocks + 1)
        for colour in range(task.n_colours):
            numbers[U(work.slot + colour)] = -1
        if task.hidden[number]:
            fits = solve_line_blots(words, numbers, line, work)
        else:
            fits = solve_line_windows(words, numbers, line, work, first, n_blocks + first)
        if not fits:
            states[number] = NO_ARRANGEMENT
            continue
        state, narrowed = narrow(words, numbers, line, task.n_colours, work)
        states[number] = state
        if narrowed:
            lost[0] = 1


@cuda.jit
def merge_view(words, height, width, n_colours, side, dead):
    """Each plane of the rows (side 0) or of the columns (side 1) AND what the other view says of the same cells.

    Threads beside each other have the same 64 cells of lines beside each other, so that they read the same words of
    the other view at the same time.
    dead  int32[2]; dead[side] becomes the least line with a cell that may take no colour, if it is less.
    """
    row_words, column_words = plane_words(width), plane_words(height)
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
