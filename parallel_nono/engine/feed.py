"""The stream of puzzles, cut into chunks for whoever asks; and the account of what is still out.

Workers of all engines take from one feed. Sources are read only as far as needed, so memory does not grow with the
number of puzzles; they are read beside the workers, so that nobody waits for a file that somebody else opens. What
comes back unfinished is handed out again. As soon as the end is in sight, the largest puzzles go first; puzzles that
turned out to be hard go out while there are still easy ones to keep the others busy.

A chunk is cut by the pace of those before it, spikes apart: a single puzzle for the SAT solver says nothing of its
neighbours. Near the end chunks get smaller, so that all workers end together, but not so small that their rows cost
more than their puzzles.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Condition, Thread
from time import monotonic
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from ..files.containers import Source
from ..spans import Span, recording, span
from .work import LEASE_S, Chunk, Done

Piece: TypeAlias = "tuple[str, bytes] | Source | pa.RecordBatch"
"""A text with its source, a file that workers read themselves, or puzzles already packed."""

MAX_WEIGHT = 8192
FIRST_WEIGHT = 16
MAX_BYTES = 1 << 24
FORGET = 0.98
"""A chunk counts so much less for the estimate of what is left with every later one."""

AHEAD_WEIGHT, AHEAD_BYTES = 2 * MAX_WEIGHT, 1 << 25
"""How far the feed reads ahead: enough to see the end coming."""

FADE = 0.5
"""What a chunk says of the pace counts so much less with every later one."""

LEAST_S = 0.005
"""Seconds of work that the chunks of the end should hold at least: the rows of a chunk cost a fifth of it."""

FILL_S, PATIENCE_S = 0.01, 0.25
"""So long a chunk waits to be filled; so long anybody waits for anything to be read."""


TEXT_BYTES, BATCH_CELLS = 512, 1024
"""A puzzle weighs one more for so much of text, or so many cells: large ones take longer."""

SOURCE_BYTES = 500
"""Memory of the mere name of a file."""


def weight_of(piece: Piece) -> int:
    """About how many puzzles of usual size there are in a piece."""
    if isinstance(piece, pa.RecordBatch):
        return int(weights_of(piece).sum())
    if isinstance(piece, Source):
        return 1 + piece.size // TEXT_BYTES if piece.rows is None else piece.rows.stop - piece.rows.start
    return 1 + len(piece[1]) // TEXT_BYTES


def weights_of(batch: pa.RecordBatch) -> np.ndarray:
    """int64[rows]: the weight of each puzzle."""
    heights, widths = (batch.column(name).to_numpy().astype(np.int64) for name in ("height", "width"))
    return 1 + heights * widths // BATCH_CELLS


def chunk_of(batch: pa.RecordBatch, **more: Any) -> Chunk:
    """A chunk of puzzles with its weight."""
    return Chunk(batch=batch, weight=weight_of(batch), **more)


def singles(batch: pa.RecordBatch, **more: Any) -> list[Chunk]:
    """A chunk for every puzzle, to be tried by itself."""
    return [Chunk(batch=batch.slice(place, 1), careful=True, **more) for place in range(batch.num_rows)]


def _fitting(weights: np.ndarray, wish: float) -> int:
    """How many of the first together weigh at most `wish`; at least one."""
    return max(1, int(np.searchsorted(np.cumsum(weights), wish, "right")))


def _bytes_of(piece: Piece) -> int:
    if isinstance(piece, pa.RecordBatch):
        return int(piece.nbytes)
    return SOURCE_BYTES if isinstance(piece, Source) else len(piece[1])


class Remaining(NamedTuple):
    """About how much is left: puzzles; seconds of one worker; of these, seconds that the solver itself needs."""

    puzzles: float
    seconds: float
    solve_s: float


class Feed:
    """Chunks of a stream of pieces; every method may be called by any thread.

    pieces   the puzzles; read by a thread that comes when more is needed. What it raises reaches a taker.
    workers  how many will take: near the end the chunks get smaller, so that all end together.
    unread   says about how much weight `pieces` has not given out yet; None where nobody knows.
    timed    is told what the reader did when.
    """

    def __init__(
        self,
        pieces: Iterator[Piece],
        workers: int = 1,
        unread: Callable[[], float | None] | None = None,
        lease_s: float = LEASE_S,
        timed: Callable[[list[Span]], object] | None = None,
    ) -> None:
        self._timed = timed
        self._pieces, self._workers, self._unread, self._lease_s = pieces, workers, unread, lease_s
        self._changed = Condition()
        self._ahead: deque[Piece] = deque()
        self._ahead_weight = self._ahead_bytes = 0
        self._again: deque[Chunk] = deque()
        self._hard: deque[Chunk] = deque()
        self._exhausted = self._ordered = self._reading = self._closed = False
        self._wanted = 0
        self._trouble: BaseException | None = None
        self._out = self._out_weight = self._out_hard = 0
        self.pace: float | None = None
        """Seconds of work for a unit of weight, in the last chunks, without spikes: what the next chunk is cut by."""
        self._paced_s = self._paced_weight = 0.0
        self._busy_s = self._busy_weight = self._busy_rows = self._solve_s = 0.0
        self.n_chunks = 0
        self.hard_seconds, self.hard_done = 0.0, 0
        self.solved_s = 0.0
        """Seconds of the solver so far."""

    def take(self) -> Chunk | None:
        """The next chunk: about `lease_s` seconds of work. None: nothing now; ask `finished`, or `wait`.

        Errors   what reading raised, once.
        """
        with self._changed:
            self._await_reader()
            if self._trouble is not None:
                trouble, self._trouble = self._trouble, None
                raise trouble
            chunk = self._next()
            if chunk is not None:
                self._out += 1
                self._out_hard += chunk.careful
                self._out_weight += chunk.weight
            return chunk

    def finish(self, chunk: Chunk, done: Done, *others: Chunk) -> None:
        """A chunk came back: learn its pace, keep what is left of it, and `others`."""
        with self._changed:
            self._settle(chunk)
            self._again.extend(others)
            self.solved_s += done.solve_s
            # The first chunks may have waited for compilers.
            if (self.n_chunks >= self._workers or self._exhausted) and not chunk.careful:
                n_rows = sum(batch.num_rows for batch in (*done.rows, *done.hard))
                self._busy_s = FORGET * self._busy_s + done.seconds
                self._solve_s = FORGET * self._solve_s + done.solve_s
                self._busy_weight = FORGET * self._busy_weight + done.weight
                self._busy_rows = FORGET * self._busy_rows + n_rows
            if chunk.careful and done.weight:
                self.hard_seconds += done.seconds
                self.hard_done += 1
            elif done.weight:
                self._paced_s = FADE * self._paced_s + max(done.seconds - done.over_s, 0.0)
                self._paced_weight = FADE * self._paced_weight + done.weight
                self.pace = self._paced_s / self._paced_weight
                self.n_chunks += 1
            for part in done.hard:
                self._hard += singles(part, made=chunk.made)
            if done.rest is not None:
                more = {"careful": chunk.careful, "deaths": chunk.deaths, "made": chunk.made}
                self._again.append(chunk_of(done.rest, **more, shared=done.aborted))

    def give_back(self, chunk: Chunk) -> None:
        """A chunk was lost with its worker: it is handed out again."""
        self.drop(chunk, chunk)

    def drop(self, chunk: Chunk, *instead: Chunk) -> None:
        """A chunk is done with (its rows were made by someone else), but for `instead`."""
        with self._changed:
            self._settle(chunk)
            self._again.extend(instead)

    def close(self, seconds: float) -> bool:
        """Read no more; False if the reader still waits for what it reads after so many seconds."""
        with self._changed:
            self._closed = True
            return self._changed.wait_for(lambda: not self._reading, seconds)

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
    def dry(self) -> bool:
        """Nothing is left to hand out, but not everything came back."""
        with self._changed:
            return self._exhausted and not (self._ahead or self._again or self._hard) and self._out > 0

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
            each = 1 / self._busy_weight
            hard_s = len(self._hard) * (self.hard_seconds / self.hard_done if self.hard_done else 2.0)
            return Remaining(
                weight * self._busy_rows * each + len(self._hard),
                hard_s + weight * self._busy_s * each,
                hard_s + weight * self._solve_s * each,
            )

    def _settle(self, chunk: Chunk) -> None:
        self._out -= 1
        self._out_hard -= chunk.careful
        self._out_weight -= chunk.weight
        self._changed.notify_all()

    def _next(self) -> Chunk | None:
        # Hard puzzles take long, so they are begun early, by at most half of the workers; nor must they pile up.
        if len(self._hard) > 4 * self._workers or (self._hard and self._out_hard < self._workers // 2):
            return self._hard.popleft()
        if self._again:
            return self._again.popleft() if self._again[0].careful else self._cut_again()
        if self._ahead:
            if self._exhausted and not self._ordered and self._workers > 1 and self.n_chunks >= self._workers:
                self._largest_first()  # not at once: the first results should not wait for the largest puzzles
            return self._cut()
        return self._hard.popleft() if self._hard else None

    def _await_reader(self) -> None:
        """Until there is something to hand out, and about enough of it for a chunk; the lock is held."""
        began = monotonic()
        while True:
            self._begin_reading()
            if self._again or self._hard or not self._reading:
                return
            self._wanted = self._wish()
            waited = monotonic() - began
            if self._ahead_weight >= self._wanted or waited >= (FILL_S if self._ahead else PATIENCE_S):
                return
            self._changed.wait(FILL_S)

    def _begin_reading(self) -> None:
        if not (self._reading or self._exhausted or self._closed or self._full(0.5)):
            self._reading = True
            Thread(target=self._read_on, name="pnono-feed", daemon=True).start()

    def _full(self, share: float = 1.0) -> bool:
        return self._ahead_weight >= share * AHEAD_WEIGHT or self._ahead_bytes >= share * AHEAD_BYTES

    def _read_on(self) -> None:
        """Read on until there is enough; runs in a thread of its own, never in two at once."""
        trouble: BaseException | None = None
        try:
            with recording(self._timed is not None) as spans, span("open"):
                while self._read():
                    pass
            if self._timed is not None:
                self._timed(spans)
        except BaseException as error:  # whatever it is, a taker must hear of it: this thread has no one else to tell
            trouble = error
        with self._changed:
            self._trouble = trouble
            self._exhausted |= trouble is not None
            self._reading = False
            self._changed.notify_all()

    def _read(self) -> bool:
        """Read one piece; False if that was enough for now, or the last."""
        piece = next(self._pieces, None)
        weight, size = (0, 0) if piece is None else (weight_of(piece), _bytes_of(piece))
        with self._changed:
            self._exhausted = piece is None
            if piece is not None and weight:
                self._ahead.append(piece)
                self._ahead_weight += weight
                self._ahead_bytes += size
            if self._ahead_weight >= self._wanted:
                self._changed.notify_all()
            return not (self._exhausted or self._closed or self._full())

    def _largest_first(self) -> None:
        """Order what is left by weight, so that nothing large is begun last; what weighs the same stays in order."""
        self._ordered = True
        sized: list[tuple[int, Piece]] = []
        for piece in self._ahead:
            largest = weight_of(piece)
            if isinstance(piece, pa.RecordBatch):
                weights = weights_of(piece)
                largest = int(weights.max())
                if largest > weights.min():
                    piece = piece.take(pa.array(np.argsort(-weights, kind="stable")))
            sized.append((largest, piece))
        self._ahead = deque(piece for _, piece in sorted(sized, key=lambda pair: -pair[0]))

    def _wish(self) -> int:
        """The weight that the next chunk should have."""
        wish = FIRST_WEIGHT if self.pace is None else self._lease_s / max(self.pace, 1e-9)
        if self._exhausted and self._workers > 1:
            left = self._ahead_weight + sum(chunk.weight for chunk in self._again)
            least = 1 if self.pace is None else LEAST_S / max(self.pace, 1e-9)
            wish = min(wish, max(math.ceil(left / (2 * self._workers)), least))
        return int(min(MAX_WEIGHT, max(1, wish)))

    def _cut_again(self) -> Chunk:
        """A chunk, or the front of one, of those that came back."""
        chunk, wish = self._again[0], self._wish()
        if chunk.shared:  # and smaller each time, as it may come back without anything done
            wish = min(wish, math.ceil(chunk.weight / (2 * self._workers)))
        if chunk.batch is None or chunk.weight <= wish or chunk.batch.num_rows == 1:
            return self._again.popleft()
        n = _fitting(weights_of(chunk.batch), wish)
        more = {"deaths": chunk.deaths, "made": chunk.made, "shared": chunk.shared}
        self._again[0] = chunk_of(chunk.batch.slice(n), **more)
        return chunk_of(chunk.batch.slice(0, n), **more)

    def _cut(self) -> Chunk:
        """A chunk from the front of what was read: puzzles of one batch or one file, or texts, of the wanted weight."""
        wish, now = self._wish(), monotonic()
        piece = self._ahead[0]
        if isinstance(piece, pa.RecordBatch):
            n = _fitting(weights_of(piece), wish)
            part = self._split(piece.slice(0, n), piece.slice(n) if n < piece.num_rows else None)
            return chunk_of(part, made=now)
        if isinstance(piece, Source) and piece.rows is not None:
            rows, middle = piece.rows, min(piece.rows.stop, piece.rows.start + wish)
            rest = replace(piece, rows=replace(rows, start=middle)) if middle < rows.stop else None
            part = self._split(replace(piece, rows=replace(rows, stop=middle)), rest)
            return Chunk(sources=[part], weight=weight_of(part), made=now)
        chunk, size, same = Chunk(weight=0, made=now), 0, type(piece)
        while self._ahead and isinstance(piece := self._ahead[0], same) and getattr(piece, "rows", None) is None:
            weight = weight_of(piece)
            if chunk.weight and (chunk.weight + weight > wish or size + _bytes_of(piece) > MAX_BYTES):
                break
            self._split(piece, None)
            if isinstance(piece, Source):
                chunk.sources.append(piece)
            else:
                chunk.texts.append(piece)
            chunk.weight += weight
            size += _bytes_of(piece)
        return chunk

    def _split(self, part: Any, rest: Piece | None) -> Any:
        """Take `part` from the front of what was read, and leave `rest` there."""
        whole = self._ahead.popleft()
        self._ahead_weight -= weight_of(whole)
        self._ahead_bytes -= _bytes_of(whole)
        if rest is not None:
            self._ahead.appendleft(rest)
            self._ahead_weight += weight_of(rest)
            self._ahead_bytes += _bytes_of(rest)
        return part
