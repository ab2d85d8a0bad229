"""The solvers on chunks: what each says of every game, and how long it took."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ...attempt import Limits
from .search import LIST, MULTISET, Late, Refused, Verdict, Watch, bitmask, remembered
from .table import Table, table_of

LATE = "out of time"

SEARCHES: dict[str, Callable[[str, int, bool, Watch], Verdict]] = {
    "bitmask": lambda strip, take, cut, watch: bitmask(strip, take, watch),
    "sorted": lambda strip, take, cut, watch: remembered(LIST, strip, take, cut, watch),
    "multiset": lambda strip, take, cut, watch: remembered(MULTISET, strip, take, cut, watch),
}


class Trial(NamedTuple):
    """What a solver made of a game; `why` there is no verdict."""

    solver: str
    verdict: Verdict | None
    seconds: float
    why: str = ""


def by_positions(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray, solver: str, cut: bool) -> list[Trial]:
    """Games one by one, each position by position."""
    trials = []
    for strip, take in zip(*(chunk.column(column).to_pylist() for column in ("strip", "take")), strict=True):
        began = perf_counter()
        verdict, why = None, ""
        try:
            verdict = SEARCHES[solver](strip, take, cut, Watch.of(limits, abort))
        except Refused as error:
            why = str(error)
        except Late:
            why = LATE
        trials.append(Trial(solver, verdict, perf_counter() - began, why))
    return trials


def by_values(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> list[Trial]:
    """Games by the Grundy values of their runs, all games of one K at a time.

    The time in which a table grows is that of the game with the longest run.
    """
    from .kernels import judge, longest_runs

    strips, starts = _letters(chunk.column("strip"))
    takes = chunk.column("take").to_numpy()
    n = len(takes)
    longest, grundy, moves = np.zeros((3, n), np.int64)
    longest_runs(strips, starts, longest)
    trials = [Trial("grundy", Verdict(2, 0, -1, 0), 0.0)] * n  # right where nobody can move
    movable = np.flatnonzero(longest >= takes)
    for game in movable.tolist():
        trials[game] = Trial("grundy", None, 0.0, LATE)
    order = movable[np.argsort(takes[movable], kind="stable")]
    for games in np.split(order, np.flatnonzero(np.diff(takes[order])) + 1):
        if not len(games) or abort[0]:
            break
        began = perf_counter()
        table = table_of(int(takes[games[0]]))
        hardest = games[np.argmax(longest[games])]
        try:
            table.grow(int(longest[hardest]), Watch.of(limits, abort))
        except Late:  # there may be values enough for the others
            for game in games.tolist():
                trials[game] = Trial("grundy", None, perf_counter() - began, LATE)
        grown = perf_counter()
        known = games if table.knows(int(longest[hardest])) else games[longest[games] < table.n]
        judge(strips, starts, known, table.take, table.values, table.first, table.period, grundy, moves)
        share = (perf_counter() - grown) / max(len(known), 1)
        for game in known.tolist():
            seconds = share + (grown - began) * (game == hardest)
            verdict = _verdict(table, int(longest[game]), int(grundy[game]), int(moves[game]))
            trials[game] = Trial("grundy", verdict, seconds)
    return trials


def _verdict(table: Table, longest: int, grundy: int, move: int) -> Verdict:
    winner = 1 if grundy else 2
    period = table.period_for(longest)
    if not period:
        return Verdict(winner, grundy, move, longest + 1)
    return Verdict(winner, grundy, move, min(longest + 1, table.proved_by), period, table.first)


def _letters(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """uint8, the letters of all texts of a column, and int64[n + 1], where each text begins."""
    _, offsets, data = column.buffers()
    starts = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    return np.frombuffer(data or b"", np.uint8), starts
