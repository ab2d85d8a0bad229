"""The kernel that a run spends its time in: a list of puzzles of one family through the stages of a plan.

A family is what shares a propagation: black-white or colour, narrow (no line over 64 cells) or wide.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from . import function_value, kernel
from .arrays import Int8s, Int64s, Int64Table, UInt16s, UInt16Table, UInt64s
from .bits import load_int64, nanoseconds
from .board import (
    CLOSURE,
    CONTRADICTION,
    COUNTS,
    FOUND,
    FULL_STACK,
    HARD,
    LATE,
    LEVEL,
    N_COUNTS,
    NO_END,
    NODES,
    OPEN,
    OPEN_CELL,
    PROPAGATE,
    SOLVED,
    SPENT,
    WITNESS,
    all_waiting,
    board_of,
    copy_words,
    forget_probes,
    forget_visits,
    open_cells,
    open_planes,
    write_cells,
)
from .board import (
    PROBE as PROBE_TYPE,
)
from .board import (
    SEARCH as SEARCH_TYPE,
)
from .clues import Clues
from .deadline import STOP, set_ends
from .layout import LEVELS, ROOT

LINE, PROBE, SEARCH, SAT = 1, 2, 3, 4
"""Stages; `attempt.STAGES` has their names at 1 to 4."""

SOLVED_BIT, LINE_BIT, PROBE_BIT, SEARCH_BIT, SAT_BIT = 1 << 0, 1 << LINE, 1 << PROBE, 1 << SEARCH, 1 << SAT
"""What is asked for, as bits: the lines are solved, and the state at LEVELS is what they say (then `order` is one
puzzle); lines; probes; search; what is still open is HARD, and for whoever calls."""

# Places in Outputs.times.
PACK_NS, LINE_NS, PROBE_NS, SEARCH_NS, SAT_NS = 0, 1, 2, 3, 4


class Outputs(NamedTuple):
    """What is known of each puzzle of a set afterwards; one entry a puzzle, those not asked for untouched.

    status     int8, OPEN, SOLVED (enough solutions found), CONTRADICTION (all searched: `found` is exact), LATE,
               FULL_STACK, SPENT or HARD (see board).
    stage      int8, the stage that decided, or the last one tried.
    found      int64, solutions found.
    lined      int64, cells open after lines alone;  left  int64, cells open after lines and probes.
    counts     int64[puzzles, N_COUNTS];  times  int64[puzzles, 5], nanoseconds.
    starts     int64[puzzles + 1];  cells  uint16[2, starts[-1]], the first two solutions, or what is known.
    more       uint16[n, cells], room for the solutions after the second; used by every puzzle in turn.
    known      uint16[starts[-1]] or [0]: if there is room, what lines and probes know of what goes on to other stages.
    """

    status: Int8s
    stage: Int8s
    found: Int64s
    lined: Int64s
    left: Int64s
    counts: Int64Table
    times: Int64Table
    starts: Int64s
    cells: UInt16Table
    more: UInt16Table
    known: UInt16s


class Asked(NamedTuple):
    """What is asked of each puzzle, all int64.

    stages      bits, see SOLVED_BIT.
    wanted      solutions to stop at.
    limit, cpu_limit  nanoseconds for one puzzle, by the wall clock and by the CPU clock of this thread; the latter 0
                for none.
    max_probes  in the stage of that name;  max_visits  to lines in the search.
    """

    stages: int
    wanted: int
    limit: int
    cpu_limit: int
    max_probes: int
    max_visits: int


@function_value(PROBE_TYPE)
def no_probe(propagate, words, numbers, board, base, most, thorough):
    """Stands for `probe` where a plan has lines only, so that probing need not be compiled."""
    return OPEN


@function_value(SEARCH_TYPE)
def no_search(probe, propagate, words, numbers, board, wanted, max_visits, cells, at, more):
    """Stands for `search` where a plan has lines only."""
    return OPEN


@kernel
def solve(
    search: Annotated[Any, SEARCH_TYPE],
    probe: Annotated[Any, PROBE_TYPE],
    propagate: Annotated[Any, PROPAGATE],
    order: Int64s,
    clues: Clues,
    scratch_words: int,
    words: UInt64s,
    numbers: Int64s,
    out: Outputs,
    asked: Asked,
):
    """Solve the puzzles `order` of a set; see clues, board (words, numbers), Outputs, Asked.

    search, probe  the function values of those names, or `no_search` and `no_probe` while the plan is lines only.
    propagate      solves lines until none learns (board.PROPAGATE), the one of these puzzles' family.
    scratch_words  of the line kernels of this family, for its largest puzzle.
    Returns        how many puzzles were finished: fewer than asked when another thread said stop, or when the last of
                   them is HARD. Its planes are then the state ROOT.
    """
    stages = asked.stages
    for turn in range(len(order)):
        if load_int64(numbers[STOP]) != 0:
            return turn
        p = order[turn]
        began = set_ends(numbers, asked.limit, asked.cpu_limit)
        for i in range(COUNTS, COUNTS + N_COUNTS):
            numbers[i] = 0
        numbers[WITNESS] = -1
        board = board_of(p, clues, scratch_words)
        if scratch_words:
            forget_visits(numbers, board)
        base = board.stack + LEVELS * board.state_words
        at = out.starts[p]
        packed = nanoseconds()
        stage, status, found = LINE, OPEN, 0
        if not stages & SOLVED_BIT:
            open_planes(words, base, board)
            all_waiting(words, board)
            packed = nanoseconds()
            status = propagate(words, numbers, board, base)
        left = np.int64(-1) if status == CONTRADICTION else open_cells(words, base, board)
        after_lines = left
        if left == 0 and status == OPEN:
            status = SOLVED
        lined = nanoseconds()
        probed = lined
        keeps = len(out.known) > 0
        if status == OPEN and not stages & PROBE_BIT:
            write_cells(words, base, board, out.cells[0], at)
            if keeps:
                write_cells(words, base, board, out.known, at)
        if status == OPEN and stages & (PROBE_BIT | SEARCH_BIT):
            forget_probes(numbers, board)
            stage = PROBE if stages & PROBE_BIT else SEARCH
            most = asked.max_probes if stages & PROBE_BIT else NO_END
            status = probe(propagate, words, numbers, board, base, most, CLOSURE)
            numbers[WITNESS] = -1
            if status != CONTRADICTION:
                left = open_cells(words, base, board)
            if status == OPEN and keeps and stages & PROBE_BIT:
                write_cells(words, base, board, out.known, at)
            probed = nanoseconds()
        searched = probed
        if status == OPEN and stages & SAT_BIT:
            copy_words(words, base, board.stack + ROOT * board.state_words, board.state_words)
        if status == OPEN and stages & SEARCH_BIT:
            stage = SEARCH
            write_cells(words, base, board, out.cells[0], at)
            numbers[FOUND], numbers[LEVEL], numbers[NODES] = 0, 0, 0
            status = search(
                probe, propagate, words, numbers, board, asked.wanted, asked.max_visits, out.cells, at, out.more
            )
            found = numbers[FOUND]
            searched = nanoseconds()
        elif status == SOLVED:
            # Lines and probes only drop what no solution has, so this is the one solution, and all is searched.
            write_cells(words, base, board, out.cells[0], at)
            status, found = CONTRADICTION, 1
        elif status != CONTRADICTION:
            write_cells(words, base, board, out.cells[0], at)
        elif stage != SEARCH:
            out.cells[0, at : at + board.height * board.width] = OPEN_CELL
        if status == LATE and load_int64(numbers[STOP]) > 0:
            return turn
        if stages & SAT_BIT and status in (OPEN, SPENT, FULL_STACK):
            status = HARD
        out.status[p], out.stage[p], out.found[p] = status, stage, found
        out.lined[p], out.left[p] = after_lines, left
        for i in range(N_COUNTS):
            out.counts[p, i] = numbers[COUNTS + i]
        out.times[p, PACK_NS], out.times[p, LINE_NS] = packed - began, lined - packed
        out.times[p, PROBE_NS], out.times[p, SEARCH_NS] = probed - lined, searched - probed
        if status == HARD:
            return turn + 1
    return len(order)


@kernel
def read_out(clues: Clues, planes: UInt64s, cells: UInt16s, at: int):
    """Write the grid of the one puzzle of these clues to cells[at:] (board.write_cells); the number of open cells."""
    board = board_of(0, clues, 0)
    write_cells(planes, 0, board, cells, at)
    return open_cells(planes, 0, board)
