"""Probing black-white puzzles of up to 64 cells a side to closure: which cell next, what to skip, a cache of lines.

A probe sets one open cell both ways and propagates: a contradiction settles the cell, else what both outcomes agree on
is kept. The closure does not depend on the order; the work does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numba import njit
from propagation import MAX_LINES, fill, open_cells, room, settle_by_programme, settle_by_words
from propagation import run as by_lines
from tools import Clues, Row, alternate, made, number, survey

from parallel_nono.kernels.bits import U0, U1, U, count_bits, lowest_bit

OPTIONS = {"nogil": True, "error_model": "numpy"}

PROBES, VISITS, SKIPPED, HITS, N_COUNTED = 0, 1, 2, 3, 4

ROWS, FRONTIER, NEIGHBOURS, LEARNT = 0, 1, 2, 3
"""Row by row; first cells at the border or beside a known one; those with most known neighbours first; those in the
lines that know most of their cells first."""

SLOTS = 1 << 16


def prober(settle: Any, order: int, skip: bool, cached: bool) -> Any:
    """probe(height, width, first, lengths, arrays, scratch, room, counted) -> open cells, or -1 on a contradiction."""

    @njit(**OPTIONS)
    def settled(planes, line, n, first, lengths, keys, values, hour, scratch, room, counted):
        """One line, from the cache where that holds it."""
        counted[VISITS] += 1
        if not cached:
            return settle(planes, line, n, first, lengths, scratch, room, counted)
        white, black = planes[2 * line], planes[2 * line + 1]
        mixed = (white * U(0x9E3779B97F4A7C15)) ^ (black * U(0xC2B2AE3D27D4EB4F)) ^ (U(line) * U(0x165667B19E3779F9))
        slot = (mixed ^ (mixed >> U(29))) & U(SLOTS - 1)
        key = (hour[0] << U(8)) | U(line)
        if keys[slot, 0] == key and keys[slot, 1] == white and keys[slot, 2] == black:
            counted[HITS] += 1
            return values[slot, 0], values[slot, 1]
        found, inked = settle(planes, line, n, first, lengths, scratch, room, counted)
        keys[slot, 0], keys[slot, 1], keys[slot, 2] = key, white, black
        values[slot, 0], values[slot, 1] = found, inked
        return found, inked

    @njit(**OPTIONS)
    def propagate(height, width, first, lengths, planes, rows, columns, keys, values, hour, scratch, room, counted):
        """Waiting lines until none learns; (contradiction, rows visited, columns visited)."""
        seen_rows, seen_columns = U0, U0
        while rows | columns:
            is_row = rows != U0
            if is_row:
                i = np.int64(lowest_bit(rows))
                rows &= rows - U1
                seen_rows |= U1 << U(i)
                line, n, other = i, width, height
            else:
                i = np.int64(lowest_bit(columns))
                columns &= columns - U1
                seen_columns |= U1 << U(i)
                line, n, other = height + i, height, 0
            white, black = settled(planes, line, n, first, lengths, keys, values, hour, scratch, room, counted)
            if white | black == U0:
                return True, seen_rows, seen_columns
            lost = (planes[2 * line] ^ white) | (planes[2 * line + 1] ^ black)
            planes[2 * line], planes[2 * line + 1] = white, black
            if is_row:
                columns |= lost
            else:
                rows |= lost
            bit = ~(U1 << U(i))
            while lost:
                j = np.int64(lowest_bit(lost))
                lost &= lost - U1
                if (white >> U(j)) & U1 == U0:
                    planes[2 * (other + j)] &= bit
                else:
                    planes[2 * (other + j) + 1] &= bit
        return False, seen_rows, seen_columns

    @njit(**OPTIONS)
    def stamp(before, after, height, width, changed, now):
        """Give the lines in which two states differ the present time."""
        for line in range(height + width):
            if before[2 * line] != after[2 * line] or before[2 * line + 1] != after[2 * line + 1]:
                changed[line] = now

    @njit(**OPTIONS)
    def is_open(planes, r, c):
        return (planes[2 * r] & planes[2 * r + 1]) >> U(c) & U1 != U0

    @njit(**OPTIONS)
    def score(planes, height, width, r, c):
        """How early a cell is to be probed; more is earlier."""
        if order == ROWS:
            return 0
        if order == LEARNT:
            row = width - np.int64(count_bits(planes[2 * r] & planes[2 * r + 1]))
            column = height - np.int64(count_bits(planes[2 * (height + c)] & planes[2 * (height + c) + 1]))
            return row + column
        known = 0
        for turn in range(4):
            y, x = r + (turn == 0) - (turn == 1), c + (turn == 2) - (turn == 3)
            known += y < 0 or x < 0 or y >= height or x >= width or not is_open(planes, y, x)
        return min(known, 1) if order == FRONTIER else known

    @njit(**OPTIONS)
    def probe(height, width, first, lengths, arrays, scratch, room, counted):
        states, touched, probed, changed, places, keys, values, hour = arrays
        base, union, trial, before = states[0], states[1], states[2], states[3]
        size = 2 * (height + width)
        fill(base, height, width)
        hour[0] += U1
        every_row, every_column = base[2 * height], base[0]
        failed, _, _ = propagate(
            height, width, first, lengths, base, every_row, every_column, keys, values, hour, scratch, room, counted
        )
        if failed:
            return -1
        now = 1
        for cell in range(height * width):
            probed[cell] = 0
        for line in range(height + width):
            changed[line] = 1
        learnt = True
        while learnt:
            learnt = False
            highest = 0
            for cell in range(height * width):
                r, c = cell // width, cell % width
                places[cell] = score(base, height, width, r, c) if is_open(base, r, c) else -1
                highest = max(highest, places[cell])
            for level in range(highest, -1, -1):
                for cell in range(height * width):
                    r, c = cell // width, cell % width
                    if places[cell] != level or not is_open(base, r, c):
                        continue
                    if skip and probed[cell]:
                        stale = False
                        rows, columns = touched[cell, 0], touched[cell, 1]
                        while rows:
                            stale |= changed[lowest_bit(rows)] > probed[cell]
                            rows &= rows - U1
                        while columns:
                            stale |= changed[U(height) + lowest_bit(columns)] > probed[cell]
                            columns &= columns - U1
                        if not stale:
                            counted[SKIPPED] += 1
                            continue
                    row_bit, column_bit = U1 << U(c), U1 << U(r)
                    failures, rows, columns = 0, U0, U0
                    for colour in range(2):
                        state = trial if colour else union
                        for i in range(size):
                            state[i] = base[i]
                        state[2 * r + 1 - colour] &= ~row_bit
                        state[2 * (height + c) + 1 - colour] &= ~column_bit
                        counted[PROBES] += 1
                        failed, more_rows, more_columns = propagate(
                            *(height, width, first, lengths, state, column_bit, row_bit),
                            *(keys, values, hour, scratch, room, counted),
                        )
                        rows, columns = rows | more_rows, columns | more_columns
                        failures |= failed << colour
                    if failures == 3:
                        return -1
                    for i in range(size):
                        before[i] = base[i]
                        if failures == 0:
                            base[i] = union[i] | trial[i]
                        else:
                            base[i] = trial[i] if failures == 1 else union[i]
                    now += 1
                    probed[cell] = now
                    touched[cell, 0], touched[cell, 1] = rows, columns
                    grew = False
                    wait_rows, wait_columns = U0, U0
                    for line in range(height + width):
                        lost = (before[2 * line] ^ base[2 * line]) | (before[2 * line + 1] ^ base[2 * line + 1])
                        if lost:
                            grew = True
                            if line < height:
                                wait_rows |= U1 << U(line)
                            else:
                                wait_columns |= U1 << U(line - height)
                    if grew:
                        learnt = True
                        failed, _, _ = propagate(
                            *(height, width, first, lengths, base, wait_rows, wait_columns),
                            *(keys, values, hour, scratch, room, counted),
                        )
                        if failed:
                            return -1
                        now += 1
                        stamp(before, base, height, width, changed, now)
        return open_cells(base, height)

    return probe


@cache
def compiled(order: int, skip: bool, cached: bool, programme: bool) -> Any:
    return prober(settle_by_programme if programme else settle_by_words, order, skip, cached)


@cache
def arrays() -> tuple[np.ndarray, ...]:
    """Room for puzzles of up to 64 x 64, as `prober` unpacks it."""
    states, touched = np.zeros((4, 4 * MAX_LINES), np.uint64), np.zeros((4096, 2), np.uint64)
    probed, changed, places = np.zeros(4096, np.int64), np.zeros(MAX_LINES, np.int64), np.zeros(4096, np.int64)
    keys, values = np.zeros((SLOTS, 3), np.uint64), np.zeros((SLOTS, 2), np.uint64)
    hour = np.zeros(1, np.uint64)  # of the cache: one a puzzle, so that it need not be cleared
    return states, touched, probed, changed, places, keys, values, hour


@cache
def sets() -> dict[str, list[Clues]]:
    found = {
        "noise 20": made("noise", 20, 12),
        "noise 25": made("noise", 25, 8),
        "noise 30": made("noise", 30, 4),
        "blobs 40": made("blobs", 40, 10),
        "n-Dom 15": made("domino", 15, 1),
    }
    hard = [p for p in survey(45) if by_lines("queue", "words", [p])[1] != [0]]
    if hard:
        found[f"survey, the {len(hard)} to 45 cells with cells left"] = hard
    return found


def run(variant: tuple[int, bool, bool, bool], puzzles: list[Clues]) -> tuple[np.ndarray, list[int]]:
    probe, (_, _, scratch, rooms) = compiled(*variant), room()
    counted = np.zeros(N_COUNTED, np.int64)
    left = [probe(p.height, p.width, p.first, p.lengths, arrays(), scratch, rooms, counted) for p in puzzles]
    return counted, left


def compare(
    off: tuple[int, bool, bool, bool], on: tuple[int, bool, bool, bool], more: int = SKIPPED, word: str = ""
) -> Iterator[Row]:
    """Two ways to probe; `more` is a count to tell besides probes and visits."""
    for title, puzzles in sets().items():
        first, second = run(off, puzzles), run(on, puzzles)
        assert first[1] == second[1], f"the closures differ on {title}"
        times = alternate({"off": lambda: run(off, puzzles), "on": lambda: run(on, puzzles)}, rounds=3)
        texts = []
        for counted, _ in (first, second):
            text = f"{number(counted[PROBES] / len(puzzles))} probes, {number(counted[VISITS] / len(puzzles))} visits"
            texts.append(f"{text}, {number(counted[more] / len(puzzles))} {word}" if word else text)
        yield Row(title, *texts, times["off"] / times["on"])


def orders(order: int) -> Iterator[Row]:
    """An order of cells against row by row, probes that can't tell anything new skipped in both."""
    return compare((ROWS, True, False, False), (order, True, False, False))


def skipping() -> Iterator[Row]:
    """Not to repeat a probe none of whose lines has changed."""
    return compare((FRONTIER, False, False, False), (FRONTIER, True, False, False), SKIPPED, "skipped")


def line_cache(programme: bool) -> Iterator[Row]:
    """A table from (line, its planes) to the result, kept for one puzzle."""
    return compare((FRONTIER, True, False, programme), (FRONTIER, True, True, programme), HITS, "from the cache")
