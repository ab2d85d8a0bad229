"""Line solving and merging on a CUDA device: the line kernels of windows and blots once more, from their own source.

A line has little that could be done at once: a block waits for the one before it, and most windows are one word. But a
round has thousands of lines, so a thread takes a line, and the next one a grid further on. What a thread works in is
too much for local memory and lies in global memory, a stretch for each thread.

The state of a puzzle is as in board and never leaves the device between rounds. Merging is two steps in place, rows AND
columns, then columns AND rows: narrowing twice by the same is narrowing once.

A batch of ordinary puzzles goes another way: each puzzle is one block's, whose threads take its lines in turn, and all
rounds are one launch (`propagate_each`).
"""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.core.dispatcher import Dispatcher

from . import blots, board, use_numba, windows
from .bits import U0, U1, U32, U
from .board import CONTRADICTION, NO_NOTES, OPEN
from .clues import Clues
from .layout import line_at, plane_words
from .windows import Line

use_numba()

NO_ARRANGEMENT, OPEN_LINE, KNOWN_LINE = 0, 1, 2
"""What becomes of a line that is solved."""

QUIET_LINE, NEWLY_KNOWN = 3, 4
"""In a batch also: open, but nothing in it changed since it was solved; known since this round."""

VERDICT, WITNESS, ROUNDS, VISITS, SOLVED, SAID = 0, 1, 2, 3, 4, 5
"""Places of what is said of a puzzle of a batch, and how many there are."""


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
board_there, line_there, blocks_there = (_DEVICE[name] for name in ("board_of", "line_at", "blocks_of"))


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


@cuda.jit(device=True)
def solve_and_narrow(words, numbers, line, n_colours, work, hidden, bounds, rev_bounds):
    """Solve one line and let its planes become what remains of it.

    hidden              not 0 for a line with a blot.
    bounds, rev_bounds  see windows.solve_line_windows.
    Returns             NO_ARRANGEMENT, OPEN_LINE or KNOWN_LINE, and whether a plane lost anything.
    """
    for colour in range(n_colours):
        numbers[U(work.slot + colour)] = -1
    if hidden:
        fits = solve_line_blots(words, numbers, line, work)
    else:
        fits = solve_line_windows(words, numbers, line, work, bounds, rev_bounds)
    if not fits:
        return NO_ARRANGEMENT, False
    return narrow(words, numbers, line, n_colours, work)


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
        state, narrowed = solve_and_narrow(
            words, numbers, line, task.n_colours, work, task.hidden[number], first, n_blocks + first
        )
        states[number] = state
        if narrowed:
            lost[0] = 1


@cuda.jit(device=True)
def merge_word(words, mine, size, crossing, other, n_colours, n_cells, place, word):
    """One word of each plane of a line AND what the other view says of the same cells.

    mine, size       where the planes of the line begin, the words of each.
    crossing, other  where the other view begins, the words of each plane there.
    n_cells, place   of the line; which one of its view it is.
    Returns          whether a plane lost anything, whether a cell may take no colour any more.
    """
    strip, shift = crossing + (place >> 6), U(place & 63)
    some, lost = U0, False
    for colour in range(n_colours):
        at = U(mine + colour * size + word)
        here = words[at]
        if here == U0:
            continue
        there = U0
        for cell in range(lesser(n_cells - (word << 6), 64)):
            plane = strip + (((word << 6) + cell) * n_colours + colour) * other
            there |= ((words[U(plane)] >> shift) & U1) << U(cell)
        if here & ~there:
            words[at] = here & there
            lost = True
        some |= here & there
    return lost, some != full_word_there(n_cells, word)


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
        planes = mine + line * n_colours * size
        _, is_dead = merge_word(words, planes, size, crossing, other, n_colours, n_cells, line, word)
        if is_dead:
            cuda.atomic.min(dead, side, line)


class Batch(NamedTuple):
    """Puzzles on the device, and the memory that blocks of threads work in, each at one puzzle at a time.

    order    int32[puzzles], their places in clues.
    planes   int64[puzzles], where in words their states begin, as in board.
    clues    of a set that holds them, numbers int32;  hidden  int32[lines], 1 for a line with a blot.
    words    where in words the work of the first thread begins, `thread_words` each.
    numbers of a block, `block_numbers` of them:
             the least line that failed, or the number of lines; then the states of up to `max_lines` lines; then
             `max_bounds` bounds of blocks, kept from round to round; then the tables of its threads, `thread_numbers`
             each, for lines of up to `max_blocks` blocks.
    """

    order: Any
    planes: Any
    clues: Clues
    hidden: Any
    words: int
    thread_words: int
    block_numbers: int
    thread_numbers: int
    max_lines: int
    max_bounds: int
    max_blocks: int


@cuda.jit(device=True)
def extent(board):
    """The first block of a puzzle, and how many it has."""
    start, _ = blocks_there(board, np.int64(0))
    last, k = blocks_there(board, board.height + board.width - 1)
    return start, last + k - start


@cuda.jit(device=True)
def open_line(words, numbers, board, base, line, bounds):
    """The planes of one line at first, and bounds of its blocks that say nothing yet.

    As board.open_planes has them, but for colours that its own clue lacks: these go when it is first solved.
    """
    planes, size, n = line_there(board, base, line)
    for colour in range(board.n_colours):
        for word in range(size):
            is_open = colour == 0 or board.n_colours == 2
            words[U(planes + colour * size + word)] = full_word_there(n, word) if is_open else U0
    first, k = blocks_there(board, line)
    start, n_blocks = extent(board)
    for j in range(first - start, first - start + k):
        numbers[U(bounds + j)] = 0
        numbers[U(bounds + n_blocks + j)] = 0
    if board.n_colours == 2:
        return
    crossing = board.height if line < board.height else np.int64(0)
    for cell in range(n):
        at, count = blocks_there(board, crossing + cell)
        for j in range(at, at + count):
            words[U(planes + np.int64(board.colours[U(j)]) * size + (cell >> 6))] |= U1 << U(cell & 63)


@cuda.jit(device=True)
def solve_line_of(batch, words, numbers, board, base, line, bounds):
    """Solve one line of the puzzle of this block, see solve_and_narrow; bounds  of its blocks, in numbers."""
    thread = cuda.grid(1)
    words_from = batch.words + thread * batch.thread_words
    table = bounds + batch.max_bounds + np.int64(cuda.threadIdx.x) * batch.thread_numbers
    planes, size, n = line_there(board, base, line)
    first, k = blocks_there(board, line)
    start, n_blocks = extent(board)
    slots, mine = lesser(board.n_colours, k + 1), bounds + first - start
    work = line_work(words_from, slots, size, words_from + batch.thread_words, table, batch.max_blocks + 1)
    whole = Line(board.lengths, board.colours, first, k, n, planes, size)
    hidden = batch.hidden[U(board.line + line)]
    return solve_and_narrow(words, numbers, whole, board.n_colours, work, hidden, mine, mine + n_blocks)


@cuda.jit(device=True)
def merge_line(words, board, base, line):
    """One line of a puzzle AND what the other view says of it, see merge_word."""
    planes, size, n = line_there(board, base, line)
    crossing, other, place = base, board.row_words, line - board.height
    if line < board.height:
        crossing, other, place = base + board.height * board.n_colours * size, board.column_words, line
    lost, dead = False, False
    for word in range(size):
        lost_here, dead_here = merge_word(words, planes, size, crossing, other, board.n_colours, n, place, word)
        lost |= lost_here
        dead |= dead_here
    return lost, dead


@cuda.jit
def propagate_each(batch, words, numbers, said):
    """Propagate every puzzle of a batch, one a block at a time, in the rounds of rounds.propagate_rounds.

    A line in which nothing changed since it was solved is counted as a visit there, and not solved again here. All
    threads of a block leave a loop that holds a barrier in the same turn: what they go by is the same for all, and
    stays so until all have seen it.

    words, numbers  uint64, int64, see Batch.
    said            int64[puzzles, SAID]: verdict, witness or -1, rounds, visits, and lines that were solved; anything.
    """
    thread, threads = np.int64(cuda.threadIdx.x), np.int64(cuda.blockDim.x)
    failed = np.int64(cuda.blockIdx.x) * batch.block_numbers
    states = failed + 1
    bounds = states + batch.max_lines
    for turn in range(cuda.blockIdx.x, len(batch.order), cuda.gridDim.x):
        board = board_there(np.int64(batch.order[turn]), batch.clues, np.int64(0), NO_NOTES)
        base, n_lines = np.int64(batch.planes[turn]), board.height + board.width
        if thread == 0:
            numbers[U(failed)] = n_lines
            said[turn, VISITS], said[turn, SOLVED] = 0, 0
        for line in range(thread, n_lines, threads):
            open_line(words, numbers, board, base, line, bounds)
            numbers[U(states + line)] = OPEN_LINE
        rounds, visits, solved = np.int64(0), np.int64(0), np.int64(0)
        while True:
            cuda.syncthreads()
            rounds += 1
            lost, alive = False, False
            for line in range(thread, n_lines, threads):
                state = numbers[U(states + line)]
                if state == NEWLY_KNOWN:
                    state = KNOWN_LINE
                    numbers[U(states + line)] = state
                if state == KNOWN_LINE:
                    continue
                visits += 1
                if state == OPEN_LINE:
                    solved += 1
                    state, narrowed = solve_line_of(batch, words, numbers, board, base, line, bounds)
                    lost |= narrowed
                    if state == NO_ARRANGEMENT:
                        cuda.atomic.min(numbers, failed, line)
                    state = NEWLY_KNOWN if state == KNOWN_LINE else QUIET_LINE
                    numbers[U(states + line)] = state
                alive |= state == QUIET_LINE
            any_lost = cuda.syncthreads_or(np.int32(lost))
            witness = numbers[U(failed)]
            any_alive = cuda.syncthreads_or(np.int32(alive))
            if witness < n_lines:  # lines behind it count as not visited
                for line in range(thread, n_lines, threads):
                    if line > witness and numbers[U(states + line)] != KNOWN_LINE:
                        visits -= 1
                break
            if any_lost:
                for line in range(thread, board.height, threads):
                    changed, dead = merge_line(words, board, base, line)
                    if changed and numbers[U(states + line)] == QUIET_LINE:
                        numbers[U(states + line)] = OPEN_LINE
                    if dead:
                        cuda.atomic.min(numbers, failed, line)
                cuda.syncthreads()
                witness = numbers[U(failed)]
                if witness < n_lines:
                    break
                for line in range(board.height + thread, n_lines, threads):
                    changed, _ = merge_line(words, board, base, line)
                    if changed and numbers[U(states + line)] == QUIET_LINE:
                        numbers[U(states + line)] = OPEN_LINE
            if not any_alive or (not any_lost and rounds > 1):
                break
        cuda.atomic.add(said, (turn, VISITS), visits)
        cuda.atomic.add(said, (turn, SOLVED), solved)
        if thread == 0:
            said[turn, VERDICT] = CONTRADICTION if witness < n_lines else OPEN
            said[turn, WITNESS] = witness if witness < n_lines else -1
            said[turn, ROUNDS] = rounds
        cuda.syncthreads()
