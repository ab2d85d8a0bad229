"""The stream of puzzles, cut into chunks for whoever asks; and the account of what is still out.

Workers of all engines take from one feed. Sources are read only as far as needed, so memory does not grow with the
number of puzzles. What comes back unfinished is handed out again.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition
from time import monotonic
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from .work import LEASE_S, Chunk, Done

Piece: TypeAlias = "tuple[str, bytes] | pa.RecordBatch"
"""A text with its source, or puzzles already packed."""

MOST_WEIGHT = 8192
FIRST_WEIGHT = 16
MOST_BYTES = 1 << 24
FORGET = 0.98
"""A chunk counts so much less for the estimate of what is left with every later one."""

AHEAD_WEIGHT, AHEAD_BYTES = 2 * MOST_WEIGHT, 1 << 25
"""How far the feed reads ahead: enough to see the end coming."""


def weight_of(piece: Piece) -> int:
    """About how many puzzles there are in a piece: rows, or half a kilobyte of text each."""
    return piece.num_rows if isinstance(piece, pa.RecordBatch) else 1 + len(piece[1]) // 512


def _bytes_of(piece: Piece) -> int:
    return piece.nbytes if isinstance(piece, pa.RecordBatch) else len(piece[1])


class Remaining(NamedTuple):
    """About how much is left: puzzles; seconds of one worker; of these, seconds that the solver itself needs."""

    puzzles: float
    seconds: float
    solve_s: float


class Feed:
    """Chunks of a stream of pieces; every method may be called by any thread.

    pieces   the puzzles; read by whichever thread needs more, never by two at once. What it raises reaches the taker.
    workers  how many will take: near the end the chunks get smaller, so that all end together.
    unread   says about how much weight `pieces` has not given out yet; None where nobody knows.
    """

    def __init__(
        self, pieces: Iterator[Piece], workers: int = 1, unread: Callable[[], float | None] | None = None
    ) -> None:
        self._pieces, self._workers, self._unread = pieces, workers, unread
        self._changed = Condition()
        self._ahead: deque[Piece] = deque()
        self._ahead_weight = self._ahead_bytes = 0
        self._again: deque[Chunk] = deque()
        self._hard: deque[Chunk] = deque()
        self._exhausted = False
        self._out = 0
        self._out_weight = 0
        self.pace: float | None = None
        """Seconds of work for a unit of weight, in the last chunks: what the next chunk is cut by."""
        self._busy_s = self._busy_weight = self._solve_s = 0.0
        self.n_chunks = 0
        self.hard_seconds, self.hard_done = 0.0, 0

    def take(self) -> Chunk | None:
        """The next chunk: about `LEASE_S` seconds of work. None: nothing now; ask `finished`, or `wait`."""
        with self._changed:
            chunk = self._next()
            if chunk is not None:
                self._out += 1
                self._out_weight += chunk.weight
            return chunk

    def finish(self, chunk: Chunk, done: Done, *more: Chunk) -> None:
        """A chunk came back: learn its pace, keep what is left of it, and `more`."""
        with self._changed:
            self._settle(chunk)
            self._again.extend(more)
            if self.n_chunks >= self._workers or self._exhausted:  # the first ones may have waited for compilers
                self._busy_s = FORGET * self._busy_s + done.seconds * (not chunk.careful)
                self._solve_s = FORGET * self._solve_s + done.solve_s * (not chunk.careful)
                self._busy_weight = FORGET * self._busy_weight + done.weight * (not chunk.careful)
            if chunk.careful and done.weight:
                self.hard_seconds += done.seconds
                self.hard_done += 1
            elif done.weight:
                pace = done.seconds / done.weight
                # Forget slowness at once, believe in it slowly.
                self.pace = pace if self.pace is None or pace < self.pace / 2 else (self.pace + pace) / 2
                self.n_chunks += 1
            for part in done.hard:
                self._hard += (
                    Chunk(batch=part.slice(place, 1), careful=True, made=chunk.made) for place in range(part.num_rows)
                )
            if done.rest is not None:
                n = done.rest.num_rows
                self._again.append(
                    Chunk(batch=done.rest, weight=n, careful=chunk.careful, deaths=chunk.deaths, made=chunk.made)
                )

    def give_back(self, chunk: Chunk) -> None:
        """A chunk was lost with its worker: it is handed out again."""
        self.drop(chunk, chunk)

    def drop(self, chunk: Chunk, *instead: Chunk) -> None:
        """A chunk is done with (its rows were made by someone else), but for `instead`."""
        with self._changed:
            self._settle(chunk)
            self._again.extend(instead)

    def wait(self, seconds: float) -> None:
        """Until something comes back, or the time is over."""
        with self._changed:
            if not (self._again or self._hard):
                self._changed.wait(seconds)

    @property
    def finished(self) -> bool:
        """Everything was handed out and came back."""
        with self._changed:
            return self._exhausted and not (self._ahead or self._again or self._hard or self._out)

    @property
    def only_hard(self) -> bool:
        """Nothing is left to hand out but puzzles that are tried alone."""
        with self._changed:
            return self._exhausted and not (self._ahead or self._again)

    def remaining(self) -> Remaining | None:
        """What is still to do; None while nobody knows."""
        with self._changed:
            if self.pace is None or not self._busy_weight:
                return None
            unread = 0.0 if self._exhausted else None if self._unread is None else self._unread()
            if unread is None:
                return None
            weight = unread + self._ahead_weight + self._out_weight + sum(chunk.weight for chunk in self._again)
            hard_s = len(self._hard) * (self.hard_seconds / self.hard_done if self.hard_done else 2.0)
            return Remaining(
                weight + len(self._hard),
                hard_s + weight * self._busy_s / self._busy_weight,
                hard_s + weight * self._solve_s / self._busy_weight,
            )

    def _settle(self, chunk: Chunk) -> None:
        self._out -= 1
        self._out_weight -= chunk.weight
        self._changed.notify_all()

    def _next(self) -> Chunk | None:
        # Hard puzzles wait while there are easy ones, but not for ever: they must not pile up.
        if len(self._hard) > 4 * self._workers:
            return self._hard.popleft()
        if self._again:
            return self._again.popleft() if self._again[0].careful else self._cut_again()
        self._read_ahead()
        if self._ahead:
            return self._cut()
        return self._hard.popleft() if self._hard else None

    def _read_ahead(self) -> None:
        while not self._exhausted and self._ahead_weight < AHEAD_WEIGHT and self._ahead_bytes < AHEAD_BYTES:
            piece = next(self._pieces, None)
            if piece is None:
                self._exhausted = True
            elif weight_of(piece):
                self._ahead.append(piece)
                self._ahead_weight += weight_of(piece)
                self._ahead_bytes += _bytes_of(piece)

    def _wish(self) -> int:
        """The weight that the next chunk should have."""
        wish = FIRST_WEIGHT if self.pace is None else LEASE_S / max(self.pace, 1e-9)
        if self._exhausted:
            wish = min(wish, math.ceil(self._ahead_weight / (2 * self._workers)))
        return int(min(MOST_WEIGHT, max(1, wish)))

    def _cut_again(self) -> Chunk:
        """A chunk, or the front of one, of those that came back."""
        chunk, wish = self._again[0], self._wish() if self.pace is not None else MOST_WEIGHT
        if self._exhausted and chunk.batch is not None:
            wish = max(1, min(wish, math.ceil(sum(c.weight for c in self._again) / (2 * self._workers))))
        if chunk.batch is None or chunk.batch.num_rows <= wish:
            return self._again.popleft()
        rest = chunk.batch.slice(wish)
        self._again[0] = Chunk(batch=rest, weight=rest.num_rows, deaths=chunk.deaths, made=chunk.made)
        return Chunk(batch=chunk.batch.slice(0, wish), weight=wish, deaths=chunk.deaths, made=chunk.made)

    def _cut(self) -> Chunk:
        """A chunk from the front of what was read: one slice of packed puzzles, or texts up to the wanted weight."""
        wish, now = self._wish(), monotonic()
        piece = self._ahead[0]
        if isinstance(piece, pa.RecordBatch):
            part = piece.slice(0, wish)
            if part.num_rows < piece.num_rows:
                self._ahead[0] = piece.slice(wish)
            else:
                self._ahead.popleft()
            self._account(part)
            return Chunk(batch=part, weight=part.num_rows, made=now)
        texts: list[tuple[str, bytes]] = []
        weight = size = 0
        while self._ahead and not isinstance(piece := self._ahead[0], pa.RecordBatch):
            if texts and (weight + weight_of(piece) > wish or size + len(piece[1]) > MOST_BYTES):
                break
            self._ahead.popleft()
            self._account(piece)
            texts.append(piece)
            weight += weight_of(piece)
            size += len(piece[1])
        return Chunk(texts, weight=weight, made=now)

    def _account(self, piece: Piece) -> None:
        self._ahead_weight -= weight_of(piece)
        self._ahead_bytes -= _bytes_of(piece)
        if not self._ahead:
            self._ahead_bytes = 0
