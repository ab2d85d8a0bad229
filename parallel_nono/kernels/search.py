"""Depth-first search on copied planes, for any size and palette; the state is copied, so there is no undo trail."""

from __future__ import annotations

import numpy as np

from . import function_value
from .board import (
    CLOSURE,
    COLOUR,
    COLUMN,
    CONTRADICTION,
    DROP,
    EPOCH,
    FOUND,
    FULL_STACK,
    KEEP,
    LATE,
    LEVEL,
    N_BRANCHES,
    N_CONFLICTS,
    N_DEPTH,
    N_LINES,
    NO_END,
    NODES,
    ONE_ROUND,
    OPEN,
    ROW,
    SEARCH,
    SOLVED,
    SPENT,
    copy_words,
    set_cell,
    write_cells,
)
from .layout import BEFORE, LEVELS
from .probe import cell_waits, note_changes

CHEAP_NODES = 24
"""Nodes that get one round of probes at the frontier; what takes more is hard, and closure then prunes more than it
costs (scripts/bench/README.md)."""

VISITS_A_SOLUTION = 1000
"""Visits to lines that every solution after the first earns the search: while it finds solutions, it goes on
counting."""


@function_value(SEARCH)
def search(probe, propagate, words, numbers, board, wanted, max_visits, cells, at, more):
    """Depth-first search on copied planes from level 0, whose best branch is at numbers[ROW] and so on.

    Every node is probed; then one cell splits it into `has this colour` and `has not`. The search begins where
    numbers[FOUND], [LEVEL] and [NODES] stand: at 0, or, after SPENT, where it stopped.
    wanted      stop at this many solutions.
    max_visits  to lines, at most, and VISITS_A_SOLUTION more for every solution after the first, so that up to the
                second solution a search is the same whatever is wanted; looked at before each node.
    cells, at   uint16[2, ...]; the first two solutions go to cells[0, at:] and cells[1, at:].
    more        uint16[n, cells]; the solutions after those, as many as there is room for.
    Returns     SOLVED when `wanted` are found, CONTRADICTION when all is searched (the number is then exact), LATE,
                SPENT: another call goes on, or FULL_STACK: the stack is too small, start again with more.
                numbers[FOUND] is the number of solutions.
    """
    size = board.state_words
    before = board.stack + BEFORE * size
    levels = (len(words) - board.stack) // size - LEVELS
    depth, found, nodes = numbers[LEVEL], numbers[FOUND], numbers[NODES]
    last = numbers[N_LINES] + max_visits
    while True:
        base = board.stack + (LEVELS + depth) * size
        verdict = OPEN
        if nodes > 0:  # level 0 has been probed already
            if numbers[N_LINES] > last + VISITS_A_SOLUTION * max(found - 1, 0):
                numbers[LEVEL], numbers[NODES] = depth, nodes
                return SPENT
            verdict = probe(
                propagate, words, numbers, board, base, NO_END, CLOSURE if nodes > CHEAP_NODES else ONE_ROUND
            )
        nodes += 1
        if verdict == LATE:
            return LATE
        if verdict == SOLVED:
            if found < 2:
                write_cells(words, base, board, cells[found], at)
            elif found - 2 < len(more):
                write_cells(words, base, board, more[found - 2], np.int64(0))
            found += 1
            numbers[FOUND] = found
            if found >= wanted:
                return SOLVED
        elif verdict == CONTRADICTION:
            numbers[N_CONFLICTS] += 1
        else:
            if depth + 1 >= levels:
                return FULL_STACK
            row, column, colour = numbers[ROW], numbers[COLUMN], numbers[COLOUR]
            numbers[N_BRANCHES] += 1
            following = base + size
            copy_words(words, base, before, size)
            copy_words(words, base, following, size)
            set_cell(words, base, board, row, column, colour, DROP)
            cell_waits(words, board, row, column)
            without = propagate(words, numbers, board, base)
            set_cell(words, following, board, row, column, colour, KEEP)
            cell_waits(words, board, row, column)
            having = propagate(words, numbers, board, following)
            if without == LATE or having == LATE:
                return LATE
            numbers[EPOCH] += 1
            if having == OPEN:
                note_changes(words, numbers, board, before, following)
                if without == OPEN:
                    depth += 1
                    numbers[N_DEPTH] = max(numbers[N_DEPTH], depth)
                else:
                    numbers[N_CONFLICTS] += 1
                    copy_words(words, following, base, size)
                continue
            numbers[N_CONFLICTS] += 1
            if without == OPEN:
                note_changes(words, numbers, board, before, base)
                continue
            numbers[N_CONFLICTS] += 1
        # This level is done; the one below holds the other half of its split.
        depth -= 1
        if depth < 0:
            return CONTRADICTION
        numbers[EPOCH] += 1
        note_changes(words, numbers, board, base, base - size)
