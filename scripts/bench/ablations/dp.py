"""The line programme of the articles, (group, cell) by memory, with its tricks as switches that the compiler removes.

win(g, i): can the blocks from g on be laid into the cells from i on? A block at i, or background at i; whatever leads
to a win marks its cells. As the articles write it, but with a stack of its own instead of recursion: for a compiled
function with this many arrays a call costs more than a state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

OPTIONS = {"nogil": True, "error_model": "numpy"}

LOOKED, WRITTEN, STATES, HITS, CLEARED, N_COUNTED = 0, 1, 2, 3, 4, 5
"""Cells or sums looked at; cells or differences written; states computed; states found in the memory; cells of the
memory set to zero."""

OPENED, BLOCK, BLANK, LOST, WON = 1, 2, 4, 8, 16
"""Of a state: its successors wait on the stack; a block fits here; background fits here; the result."""


class Room(NamedTuple):
    """Room for the longest line: `hours` and `states` are the memory, `hour` is its present time."""

    states: np.ndarray
    hours: np.ndarray
    hour: np.ndarray
    stack: np.ndarray
    blocked: np.ndarray
    marks: np.ndarray
    out: np.ndarray


def room_for(n: int, blocks: int) -> Room:
    size = (blocks + 1) * (n + 2)
    return Room(
        np.zeros(size, np.uint8),
        np.zeros(size, np.int32),
        np.zeros(1, np.int32),
        np.zeros(3 * size + 8, np.int32),
        np.zeros((2, n + 1), np.int32),
        np.zeros((2, n + 2), np.int32),
        np.zeros(n, np.uint8),
    )


def top_down(
    *,
    prefix: bool = True,
    differences: bool = True,
    stamp: bool = True,
    group_first: bool = True,
    counting: bool = False,
) -> Any:
    """The programme with memory, as settle(cells, n, lengths, first, k, room, counted) -> bool; the result in room.out.

    prefix       whether a block fits is told from sums of blocked cells; else by looking at its cells.
    differences  what a win marks is noted at its two ends and added up at last; else cell by cell.
    stamp        the memory holds the hour of each state; else it is zeroed for each line.
    group_first  the memory is [group][cell]; else [cell][group].
    """

    @njit(**OPTIONS)
    def fits(colour, start, stop, cells, room, counted):
        if prefix:
            if counting:
                counted[LOOKED] += 2
            return room.blocked[colour, stop] == room.blocked[colour, start]
        for i in range(start, stop):
            if counting:
                counted[LOOKED] += 1
            if (cells[i] >> colour) & 1 == 0:
                return False
        return True

    @njit(**OPTIONS)
    def mark(colour, start, stop, room, counted):
        if differences:
            if counting:
                counted[WRITTEN] += 2
            room.marks[colour, start] += 1
            room.marks[colour, stop] -= 1
            return
        for i in range(start, stop):
            if counting:
                counted[WRITTEN] += 1
            room.out[i] |= 1 << colour

    @njit(**OPTIONS)
    def place(g, i, n, k):
        return g * (n + 2) + i if group_first else i * (k + 1) + g

    @njit(**OPTIONS)
    def known(g, i, n, k, room):
        at = place(g, i, n, k)
        if stamp and room.hours[at] != room.hour[0]:
            return 0
        return room.states[at]

    @njit(**OPTIONS)
    def settle(cells, n, lengths, first, k, room, counted):
        if stamp:
            room.hour[0] += 1
        else:
            size = (k + 1) * (n + 2)
            for at in range(size):
                room.states[at] = 0
            if counting:
                counted[CLEARED] += size
        if prefix:
            for colour in range(2):
                for i in range(n):
                    room.blocked[colour, i + 1] = room.blocked[colour, i] + 1 - ((cells[i] >> colour) & 1)
            if counting:
                counted[LOOKED] += 2 * n
        for i in range(n):
            room.out[i] = 0
        if differences:
            for i in range(n + 1):
                room.marks[0, i] = room.marks[1, i] = 0
        top = 0
        room.stack[0] = 0
        while top >= 0:
            g, i = room.stack[top] // (n + 2), room.stack[top] % (n + 2)
            at = place(g, i, n, k)
            state = known(g, i, n, k, room)
            if state >= LOST:
                top -= 1
                continue
            length = lengths[first + g] if g < k else 0
            if state == 0:  # seen for the first time
                if counting:
                    counted[STATES] += 1
                if stamp:
                    room.hours[at] = room.hour[0]
                if i >= n:
                    room.states[at] = WON if g == k else LOST
                    top -= 1
                    continue
                state = OPENED
                after = i + length
                gap = after + (g + 1 < k)
                if (
                    g < k
                    and after <= n
                    and fits(1, i, after, cells, room, counted)
                    and (gap == after or after == n or fits(0, after, gap, cells, room, counted))
                ):
                    state |= BLOCK
                    if known(g + 1, gap, n, k, room) == 0:
                        top += 1
                        room.stack[top] = (g + 1) * (n + 2) + gap
                    elif counting:
                        counted[HITS] += 1
                if fits(0, i, i + 1, cells, room, counted):
                    state |= BLANK
                    if known(g, i + 1, n, k, room) == 0:
                        top += 1
                        room.stack[top] = g * (n + 2) + i + 1
                    elif counting:
                        counted[HITS] += 1
                room.states[at] = state
                continue
            won = False
            if state & BLOCK:
                after = i + length
                gap = after + (g + 1 < k)
                if known(g + 1, gap, n, k, room) == WON:
                    won = True
                    mark(1, i, after, room, counted)
                    if gap > after and after < n:
                        mark(0, after, after + 1, room, counted)
            if state & BLANK and known(g, i + 1, n, k, room) == WON:
                won = True
                mark(0, i, i + 1, room, counted)
            room.states[at] = WON if won else LOST
            top -= 1
        if known(0, 0, n, k, room) != WON:
            return False
        if differences:
            for colour in range(2):
                depth = 0
                for i in range(n):
                    depth += room.marks[colour, i]
                    if depth:
                        room.out[i] |= 1 << colour
        return True

    return settle


def bottom_up(*, counting: bool = False) -> Any:
    """The same solutions without memory: every state from the last cell to the first, then those reached from the
    first.

    Sums and differences as above; there is nothing to stamp.
    """

    @njit(**OPTIONS)
    def settle(cells, n, lengths, first, k, room, counted):
        blocked, marks, states = room.blocked, room.marks, room.states
        for colour in range(2):
            for i in range(n):
                blocked[colour, i + 1] = blocked[colour, i] + 1 - ((cells[i] >> colour) & 1)
        for i in range(n + 1):
            marks[0, i] = marks[1, i] = 0
        row = n + 2
        for g in range(k, -1, -1):
            here = g * row
            length = lengths[first + g] if g < k else 0
            states[here + n] = g == k
            states[here + n + 1] = 0  # a gap behind the last cell
            for i in range(n - 1, -1, -1):
                won = states[here + i + 1] != 0 and cells[i] & 1 != 0
                after = i + length
                if g < k and after <= n and blocked[1, after] == blocked[1, i]:
                    gap = after + (g + 1 < k)
                    won |= states[here + row + gap] != 0 and (gap == after or after == n or cells[after] & 1 != 0)
                states[here + i] = won
        if counting:
            counted[STATES] += (k + 1) * n
            counted[LOOKED] += 2 * n + 3 * (k + 1) * n
        if not states[0]:
            return False
        states[0] = 2  # reached
        for g in range(k + 1):
            here = g * row
            length = lengths[first + g] if g < k else 0
            for i in range(n):
                if states[here + i] != 2:
                    continue
                if states[here + i + 1] != 0 and cells[i] & 1 != 0:
                    states[here + i + 1] = 2
                    marks[0, i] += 1
                    marks[0, i + 1] -= 1
                after = i + length
                if g < k and after <= n and blocked[1, after] == blocked[1, i]:
                    gap = after + (g + 1 < k)
                    if states[here + row + gap] and (gap == after or after == n or cells[after] & 1 != 0):
                        states[here + row + gap] = 2
                        marks[1, i] += 1
                        marks[1, after] -= 1
                        if gap > after and after < n:
                            marks[0, after] += 1
                            marks[0, gap] -= 1
        for i in range(n):
            room.out[i] = 0
        for colour in range(2):
            depth = 0
            for i in range(n):
                depth += marks[colour, i]
                if depth:
                    room.out[i] |= 1 << colour
        return True

    return settle


def replay(settle: Any) -> Any:
    """run(lines.cells, n, lengths, first, count, room, counted, results) -> lines that have an arrangement."""

    @njit(**OPTIONS)
    def run(cells, n, lengths, first, count, room, counted, results):
        alive = 0
        for line in range(len(first)):
            if settle(cells[line], n, lengths, first[line], count[line], room, counted):
                alive += 1
                for i in range(results.shape[1]):
                    results[line, i] = room.out[i]
        return alive

    return run
