"""Rounds over one puzzle shared by many threads or processes: jobs of lines, then jobs of tiles.

The planes of the puzzle lie in memory that all of them see. In a round every waiting line is solved against the last
merge, and then the tiles (64 x 64 cells) in which a line lost something are merged: the view by rows AND the view by
columns, cell by cell. While lines are solved each writes its own planes in its own view only, and while tiles are
merged each tile is one worker's, so nothing depends on the order of the jobs or on who does them.

Jobs are pulled: the ticket holds the number of the phase, how many jobs it has, and the next one; whoever adds one to
it gets that job. A job may be done twice, after its first worker died in the midst of it: line solving and merging only
narrow, and what tells of a change (the mark of a tile, the waiting of a line) is always written before the change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernel, layout
from .arrays import (
    ConstInt32s,
    ConstUInt32s,
    ConstUInt64s,
    Float32s,
    Int32s,
    Int64s,
    Int64Table,
    UInt8s,
    UInt32s,
    UInt64s,
)
from .bits import (
    U0,
    U,
    cpu_nanoseconds,
    fence,
    fetch_add_int64,
    load_int64,
    lowest_bit,
    nanoseconds,
    store_int64,
)
from .board import CALL, NO_NOTES, blocks_of, board_of, forget_visits, full_word, line_at, open_planes, tables_of
from .clues import Clues
from .layout import plane_words
from .wide import remaining, solve_planes

MAX_JOBS = 4096

# The control block: int64, eight to a cache line.
TICKET, WHAT, HALT = 0, 8, 9
"""The ticket; what the jobs of this phase are; another value than 0: leave them undone."""
BUSY = 64
"""From here on eight numbers a worker: 1 while it has a job or may take one; jobs done; lines solved; tiles merged."""

NOTHING, SOLVE, MERGE = 0, 1, 2

# States of a line.
NEW, OPEN_LINE, KNOWN_LINE, DEAD_LINE = 0, 1, 2, 3

STRIPS = 8
"""Rows of tiles in a job of a merge: the words of a column that lie in one cache line."""

# The ticket: the next job, how many there are, the number of the phase.
NEXT_BITS, PHASE_SHIFT = 20, 40
NEXT_MASK = (1 << NEXT_BITS) - 1


class Lanes(NamedTuple):
    """What is shared of one puzzle.

    planes   uint64[state_words], see board.
    states   uint8[lines], how the last solving of each line ended.
    waiting  uint8[lines], 1 where a merge took something from the line.
    tiles    uint8[strips * tiles of a strip], 1 where a line lost something in this round.
    jobs     int32[lines], the lines of this round;  bounds  int32[MAX_JOBS + 1], the first of each job.
    done     int64[MAX_JOBS], 1 where a job is done;  found  int64[MAX_JOBS], the first dead cell of a merge, or -1.
    log      int64[MAX_JOBS, 4], who did it, from when to when (monotonic nanoseconds), CPU nanoseconds.
    control  int64, see above.
    """

    planes: UInt64s
    states: UInt8s
    waiting: UInt8s
    tiles: UInt8s
    jobs: Int32s
    bounds: Int32s
    done: Int64s
    found: Int64s
    log: Int64Table
    control: Int64s


@kernel(inline=True)
def address_of(numbers, place):
    """Where an int64 lies."""
    return np.int64(numbers.ctypes.data) + np.int64(place) * np.int64(8)


@kernel(inner=True)
def lane_board(clues, scratch_words):
    """The board of the only puzzle, without room for probes: planes of one line stand where the stack would begin."""
    return board_of(0, clues, scratch_words, NO_NOTES)


@kernel
def begin(clues: Clues, lanes: Lanes):
    """Everything is possible, every line waits."""
    board = lane_board(clues, 0)
    open_planes(lanes.planes, 0, board)
    for line in range(board.height + board.width):
        lanes.states[line], lanes.waiting[line] = NEW, 1
    for tile in range(len(lanes.tiles)):
        lanes.tiles[tile] = 0


@kernel
def introduce(clues: Clues, scratch_words: int, numbers: Int64s):
    """A worker that has not seen this puzzle yet prepares its own numbers."""
    board = lane_board(clues, scratch_words)
    forget_visits(numbers, board)
    numbers[U(tables_of(board) + CALL)] = 1


@kernel(inner=True)
def solve_lane(words, numbers, board, lanes, line, remember):
    """Solve one line against the last merge and narrow its own planes, in its own view."""
    source, size, n = line_at(board, 0, line)
    mine = board.stack
    for i in range(board.n_colours * size):
        words[U(mine + i)] = lanes.planes[U(source + i)]
    k, out, stride, fits = solve_planes(words, numbers, board, line, mine, size, remember)
    if not fits:
        lanes.states[line] = DEAD_LINE
        return
    is_row = line < board.height
    index = line if is_row else line - board.height
    strip, step = (index >> 6) * board.row_words if is_row else index >> 6, 1 if is_row else board.row_words
    first, _ = blocks_of(board, line)
    state = KNOWN_LINE
    for word in range(size):
        once, twice, lost = words[U(out + word)], U0, words[U(mine + word)] & ~words[U(out + word)]
        if board.n_colours == 2:
            stays = words[U(out + stride + word)] if k else U0
            lost |= words[U(mine + size + word)] & ~stays
            twice = once & stays
        else:
            for j in range(first, first + k):
                stays = words[U(out + remaining(numbers, board, k, np.int64(board.colours[U(j)])) * stride + word)]
                lost |= words[U(mine + np.int64(board.colours[U(j)]) * size + word)] & ~stays
                again = False
                for i in range(first, j):
                    again |= board.colours[U(i)] == board.colours[U(j)]
                if not again:
                    twice |= once & stays
                    once |= stays
        if twice & full_word(n, word) != U0:
            state = OPEN_LINE
        if lost == U0:
            continue
        tile = U(strip + word * step)
        if lanes.tiles[tile] == 0:
            lanes.tiles[tile] = 1
            fence()
        lanes.planes[U(source + word)] &= words[U(out + word)]
        if board.n_colours == 2:
            lanes.planes[U(source + size + word)] &= words[U(out + stride + word)] if k else U0
        else:
            for j in range(first, first + k):
                colour = np.int64(board.colours[U(j)])
                lanes.planes[U(source + colour * size + word)] &= words[
                    U(out + remaining(numbers, board, k, colour) * stride + word)
                ]
    lanes.states[line] = state


@kernel(inner=True)
def transpose(words, at):
    """The 64 x 64 bits of words[at : at + 64], transposed in place (H. S. Warren, Hacker's Delight, 7-3)."""
    apart, mask = 32, U(0xFFFFFFFF)
    while apart:
        shift = U(apart)
        for block in range(at, at + 64, 2 * apart):
            for i in range(block, block + apart):
                swap = ((words[U(i)] >> shift) ^ words[U(i + apart)]) & mask
                words[U(i)] ^= swap << shift
                words[U(i + apart)] ^= swap
        apart >>= 1
        mask ^= mask << U(apart)


@kernel(inner=True)
def merge_tile(words, board, lanes, strip, column):
    """Merge one tile in both views; the first dead cell (row * width + column), or -1.

    words[0:128] are work for two runs of 64 words.
    """
    rows, columns = min(board.height - (strip << 6), 64), min(board.width - (column << 6), 64)
    row_step, column_step = board.n_colours * board.row_words, board.n_colours * board.column_words
    row_first = (strip << 6) * row_step + column
    column_first = board.height * row_step + (column << 6) * column_step + strip
    for colour in range(board.n_colours):
        down, across = row_first + colour * board.row_words, column_first + colour * board.column_words
        for i in range(64):
            words[U(i)] = lanes.planes[U(across + i * column_step)] if i < columns else U0
        transpose(words, np.int64(0))
        of_rows = of_columns = U0  # what each view has that the other one lost
        for i in range(rows):
            mine = lanes.planes[U(down + i * row_step)]
            both = mine & words[U(i)]
            of_rows |= mine ^ both
            of_columns |= words[U(i)] ^ both
            words[U(64 + i)] = both
            if both != mine:
                lanes.waiting[U((strip << 6) + i)] = 1
        if of_rows != U0:
            fence()
            for i in range(rows):
                lanes.planes[U(down + i * row_step)] = words[U(64 + i)]
        if of_columns != U0:
            for i in range(rows, 64):
                words[U(64 + i)] = U0
            transpose(words, np.int64(64))
            for i in range(columns):
                if words[U(64 + i)] != lanes.planes[U(across + i * column_step)]:
                    lanes.waiting[U(board.height + (column << 6) + i)] = 1
            fence()
            for i in range(columns):
                lanes.planes[U(across + i * column_step)] = words[U(64 + i)]
    for i in range(rows):
        some = U0
        for colour in range(board.n_colours):
            some |= lanes.planes[U(row_first + i * row_step + colour * board.row_words)]
        dead = full_word(board.width, column) & ~some
        if dead != U0:
            return ((strip << 6) + i) * board.width + (column << 6) + np.int64(lowest_bit(dead))
    return np.int64(-1)


@kernel(inner=True)
def merge_job(words, board, lanes, job):
    """Merge the marked tiles of some rows of tiles; how many."""
    merged = 0
    last = min((job + 1) * STRIPS, board.column_words)
    for column in range(board.row_words):
        for strip in range(job * STRIPS, last):
            tile = U(strip * board.row_words + column)
            if lanes.tiles[tile] == 0:
                continue
            dead = merge_tile(words, board, lanes, strip, column)
            if dead >= 0 and (lanes.found[job] < 0 or dead < lanes.found[job]):
                lanes.found[job] = dead
            fence()
            lanes.tiles[tile] = 0
            merged += 1
    return merged


@kernel
def serve(
    clues: Clues,
    scratch_words: int,
    lanes: Lanes,
    words: UInt64s,
    numbers: Int64s,
    worker: int,
    most: int,
    remember: bool,
):
    """Take jobs of this puzzle until there is none, or `most` are done; how many.

    clues     of this one puzzle; the rest as in Lanes and board.
    worker    whose work arrays these are, and its place in the control block.
    remember  keep bounds between visits (see wide.solve_planes).
    """
    control = lanes.control
    served = 0
    mine = BUSY + 8 * worker
    while served < most:
        ticket = load_int64(address_of(control, TICKET))
        if ticket & NEXT_MASK >= (ticket >> NEXT_BITS) & NEXT_MASK:
            break
        store_int64(address_of(control, mine), 1)
        ticket = fetch_add_int64(address_of(control, TICKET), 1)
        job = ticket & NEXT_MASK
        if job >= (ticket >> NEXT_BITS) & NEXT_MASK:
            break
        if lanes.done[job] != 0:
            continue
        board = lane_board(clues, scratch_words)
        cpu = cpu_nanoseconds()
        lanes.log[job, 0], lanes.log[job, 1] = worker, nanoseconds()
        if control[WHAT] == SOLVE:
            for i in range(lanes.bounds[job], lanes.bounds[job + 1]):
                if load_int64(address_of(control, HALT)) != 0:
                    break
                line = np.int64(lanes.jobs[i])
                lanes.waiting[line] = 0
                solve_lane(words, numbers, board, lanes, line, remember)
                control[mine + 2] += 1
        elif load_int64(address_of(control, HALT)) == 0:
            control[mine + 3] += merge_job(words, board, lanes, job)
        lanes.log[job, 2], lanes.log[job, 3] = nanoseconds(), cpu_nanoseconds() - cpu
        control[mine + 1] += 1
        served += 1
        store_int64(address_of(lanes.done, job), 1)
    store_int64(address_of(control, mine), 0)
    return served


@kernel
def publish(lanes: Lanes, what: int, n_jobs: int):
    """Hand out the jobs 0 to n_jobs - 1, whose bounds are written."""
    control = lanes.control
    for job in range(n_jobs):
        lanes.done[job] = 0
        lanes.found[job] = -1
    control[WHAT] = what
    phase = (load_int64(address_of(control, TICKET)) >> PHASE_SHIFT) + 1
    store_int64(address_of(control, TICKET), phase << PHASE_SHIFT | n_jobs << NEXT_BITS)


@kernel
def withdraw(lanes: Lanes, n_jobs: int):
    """Hand out no more jobs of this phase. Whoever is not busy after this has none, and gets none."""
    phase = load_int64(address_of(lanes.control, TICKET)) >> PHASE_SHIFT
    store_int64(address_of(lanes.control, TICKET), phase << PHASE_SHIFT | n_jobs << NEXT_BITS | n_jobs)


@kernel
def publish_again(lanes: Lanes, n_jobs: int):
    """Hand out once more the jobs of this phase that are not done. They were withdrawn, and no worker has one.

    Jobs keep their numbers; those that are done are passed over.
    """
    phase = (load_int64(address_of(lanes.control, TICKET)) >> PHASE_SHIFT) + 1
    store_int64(address_of(lanes.control, TICKET), phase << PHASE_SHIFT | n_jobs << NEXT_BITS)


@kernel
def jobs_done(lanes: Lanes, n_jobs: int):
    """How many of them are done."""
    n = 0
    for job in range(n_jobs):
        n += load_int64(address_of(lanes.done, job)) != 0
    return n


@kernel
def plan_lines(first: int, last: int, weights: Float32s, lanes: Lanes, every: int, target: float):
    """Cut the lines of the next phase, among lines first to last - 1, into jobs of about `target` of `weights`.

    weights  float32[lines].
    every    1: every line that was not solved with all its cells known (the published way); 0: those of them that
             lost something since.
    Returns  the number of lines, of jobs, and their weight.
    """
    n, n_jobs = 0, 0
    total = held = np.float64(0.0)
    for line in range(first, last):
        if lanes.states[line] != KNOWN_LINE and (every or lanes.waiting[line] != 0):
            total += weights[line]
    target = max(target, total / np.float64(MAX_JOBS - 2))
    for line in range(first, last):
        if lanes.states[line] == KNOWN_LINE or (not every and lanes.waiting[line] == 0):
            continue
        if held == 0.0 or (held + weights[line] > target and n_jobs < MAX_JOBS):
            lanes.bounds[n_jobs] = n
            n_jobs += 1
            held = np.float64(0.0)
        held += weights[line]
        lanes.jobs[n] = line
        n += 1
    lanes.bounds[n_jobs] = n
    return n, n_jobs, total


@kernel
def count_marks(lanes: Lanes):
    """Tiles in which a line lost something."""
    n = 0
    for tile in range(len(lanes.tiles)):
        n += np.int64(lanes.tiles[tile])
    return n


@kernel
def changed_words(
    height: int,
    width: int,
    n_colours: int,
    lines: ConstInt32s,
    planes: UInt64s,
    before: UInt64s,
    places: UInt32s,
    words: UInt64s,
):
    """Where the planes of these lines differ from `before`, and what stands there now.

    places, words  as long as needed, or empty: then they are only counted.
    Returns        how many words differ.
    """
    n = 0
    for i in range(len(lines)):
        first, size, _ = layout.line_at(height, width, n_colours, np.int64(lines[i]))
        for at in range(first, first + n_colours * size):
            if planes[U(at)] != before[U(at)]:
                if len(places):
                    places[n], words[n] = np.uint32(at), planes[U(at)]
                n += 1
    return n


@kernel
def apply_words(height: int, width: int, n_colours: int, lanes: Lanes, places: ConstUInt32s, words: ConstUInt64s):
    """Take over words of planes from another node, and mark their tiles."""
    row_words, column_words = plane_words(width), plane_words(height)
    columns = height * n_colours * row_words
    for i in range(len(places)):
        at = np.int64(places[i])
        if at < columns:
            tile = (at // (n_colours * row_words) >> 6) * row_words + at % row_words
        else:
            rest = at - columns
            tile = rest % column_words * row_words + (rest // (n_colours * column_words) >> 6)
        lanes.tiles[U(tile)] = 1
        lanes.planes[U(at)] = words[i]
