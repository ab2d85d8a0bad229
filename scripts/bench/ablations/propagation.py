"""Which line is next: rounds, with and without dead lines; a queue; a queue by what is new.

Black-white puzzles with lines of up to 64 cells. Each order runs twice: with the line programme of the articles and
with the kernel on words.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from dp import bottom_up, room_for
from numba import njit
from tools import Clues, Row, alternate, made, number, survey

from parallel_nono.kernels.bits import FULL, U0, U1, U64, U, count_bits, lowest_bit
from parallel_nono.kernels.narrow import solve_line_narrow

OPTIONS = {"nogil": True, "error_model": "numpy"}
MAX_LINES = 128

VISITS, ROUNDS, LOOKS, N_COUNTED = 0, 1, 2, 3
"""LOOKS: lines looked at to find the next one."""


PROGRAMME = bottom_up()
"""The programme of the articles; of those in `dp` the fastest at these lengths."""


@njit(**OPTIONS)
def settle_by_words(planes, line, n, first, lengths, scratch, room, counted):
    """(white, black) of one line by the kernel on words; both 0 without an arrangement."""
    return solve_line_narrow(
        lengths, U(first[line]), U(first[line + 1]), U(n), planes[2 * line], planes[2 * line + 1], scratch
    )


@njit(**OPTIONS)
def settle_by_programme(planes, line, n, first, lengths, scratch, room, counted):
    """The same by the programme."""
    cells, dp = room
    white, black = planes[2 * line], planes[2 * line + 1]
    for i in range(n):
        cells[i] = np.uint8((white >> U(i)) & U1) | np.uint8(((black >> U(i)) & U1) << U1)
    if not PROGRAMME(cells, n, lengths, first[line], first[line + 1] - first[line], dp, counted):
        return U0, U0
    white, black = U0, U0
    for i in range(n):
        white |= U(dp.out[i] & 1) << U(i)
        black |= U(dp.out[i] >> 1) << U(i)
    return white, black


@njit(**OPTIONS)
def fill(planes, height, width):
    """Nothing is known."""
    for line in range(height + width):
        n = width if line < height else height
        planes[2 * line] = planes[2 * line + 1] = FULL >> U(U64 - U(n))


@njit(**OPTIONS)
def open_cells(planes, height):
    """Cells that may be either."""
    n = 0
    for r in range(height):
        n += np.int64(count_bits(planes[2 * r] & planes[2 * r + 1]))
    return n


def in_rounds(settle: Any, dead: bool) -> Any:
    """Every line against the last merge, then all cells merged, until a round changes nothing."""

    @njit(**OPTIONS)
    def solve(height, width, first, lengths, planes, work, scratch, room, counted):
        fill(planes, height, width)
        lines, before = height + width, counted[ROUNDS]
        done = work[0]
        for line in range(lines):
            done[line] = 0
        while True:
            counted[ROUNDS] += 1
            changed = False
            for line in range(lines):
                if dead and done[line]:
                    continue
                counted[VISITS] += 1
                n = width if line < height else height
                white, black = settle(planes, line, n, first, lengths, scratch, room, counted)
                if white | black == U0:
                    return -1
                changed |= white != planes[2 * line] or black != planes[2 * line + 1]
                planes[2 * line], planes[2 * line + 1] = white, black
                done[line] = white & black == U0
            if not changed and counted[ROUNDS] - before > 1:  # as published: the first has nothing to compare with
                break
            for r in range(height):
                for c in range(width):
                    column = 2 * (height + c)
                    for colour in range(2):
                        if not (planes[2 * r + colour] >> U(c)) & (planes[column + colour] >> U(r)) & U1:
                            planes[2 * r + colour] &= ~(U1 << U(c))
                            planes[column + colour] &= ~(U1 << U(r))
        return open_cells(planes, height)

    return solve


def by_queue(settle: Any, priority: bool) -> Any:
    """Lines that wait, first come first served; or the one that has learnt most cells since it was last settled."""

    @njit(**OPTIONS)
    def solve(height, width, first, lengths, planes, work, scratch, room, counted):
        fill(planes, height, width)
        lines = height + width
        gained, queue = work[0], work[1]
        for line in range(lines):
            gained[line] = 64 if priority else 1  # untouched lines first; -1: does not wait
            queue[line] = line
        head, waiting = 0, lines
        while waiting:
            if priority:
                line, most = -1, -1
                for other in range(lines):
                    if gained[other] > most:
                        line, most = other, gained[other]
                counted[LOOKS] += lines
            else:
                line = queue[head]
                head = (head + 1) % MAX_LINES
            waiting -= 1
            gained[line] = -1
            counted[VISITS] += 1
            is_row = line < height
            n = width if is_row else height
            white, black = settle(planes, line, n, first, lengths, scratch, room, counted)
            if white | black == U0:
                return -1
            lost = (planes[2 * line] ^ white) | (planes[2 * line + 1] ^ black)
            planes[2 * line], planes[2 * line + 1] = white, black
            bit = U1 << U(line if is_row else line - height)
            while lost:
                i = np.int64(lowest_bit(lost))
                lost &= lost - U1
                crossing = height + i if is_row else i
                if (white >> U(i)) & U1 == U0:
                    planes[2 * crossing] &= ~bit
                if (black >> U(i)) & U1 == U0:
                    planes[2 * crossing + 1] &= ~bit
                if gained[crossing] < 0:
                    gained[crossing] = 0
                    if not priority:
                        queue[(head + waiting) % MAX_LINES] = crossing
                    waiting += 1
                gained[crossing] += 1
        return open_cells(planes, height)

    return solve


ORDERS = {
    "rounds": lambda settle: in_rounds(settle, dead=False),
    "rounds, dead lines": lambda settle: in_rounds(settle, dead=True),
    "queue": lambda settle: by_queue(settle, priority=False),
    "priority": lambda settle: by_queue(settle, priority=True),
}
SETTLERS = {"programme": settle_by_programme, "words": settle_by_words}


@cache
def compiled(order: str, settler: str) -> Any:
    return ORDERS[order](SETTLERS[settler])


@cache
def room() -> tuple[Any, ...]:
    work = np.zeros((2, MAX_LINES), np.int64)
    return (
        np.zeros(4 * MAX_LINES, np.uint64),
        work,
        np.zeros(128, np.uint64),
        (np.zeros(64, np.uint8), room_for(64, 33)),
    )


@cache
def sets() -> dict[str, list[Clues]]:
    found = {
        "noise 15": made("noise", 15, 60),
        "noise 25": made("noise", 25, 40),
        "blobs 20": made("blobs", 20, 60),
        "blobs 50": made("blobs", 50, 20),
        "blobs 64": made("blobs", 64, 12),
        "contours 60": made("contours", 60, 12),
    }
    if survey():
        found["survey, to 64 cells"] = survey()
    return found


def run(order: str, settler: str, puzzles: list[Clues]) -> tuple[np.ndarray, list[int]]:
    """Counts over all puzzles, and the open cells of each."""
    solve, (planes, work, scratch, rooms) = compiled(order, settler), room()
    counted = np.zeros(N_COUNTED, np.int64)
    left = [solve(p.height, p.width, p.first, p.lengths, planes, work, scratch, rooms, counted) for p in puzzles]
    return counted, left


def compare(without: str, with_: str) -> Iterator[Row]:
    """One order against another: visits and times, with both ways to settle a line."""
    for title, puzzles in sets().items():
        for settler in SETTLERS:
            off, on = run(without, settler, puzzles), run(with_, settler, puzzles)
            assert off[1] == on[1], f"{without} and {with_} differ on {title}"
            times = alternate(
                {"off": lambda: run(without, settler, puzzles), "on": lambda: run(with_, settler, puzzles)}
            )
            texts = [f"{number(c[VISITS] / len(puzzles))} visits" for c, _ in (off, on)]
            yield Row(f"{title}, by {settler}", *texts, times["off"] / times["on"])
