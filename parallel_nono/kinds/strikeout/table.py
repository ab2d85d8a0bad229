"""Grundy values of runs for one K: computed once in a process, grown when a longer run comes, kept for the next game.

The games are octal games (take exactly K adjacent cells; K = 2 is Dawson's Kayles, .07). Some are known to be periodic,
for most nobody knows. That a period goes on for ever is proved from finitely many values:

    If value[n] == value[n + p] for all n from f to 2 f + p + K - 1, then for all n from f on.

    By induction for n >= 2 f + p + K: a move in the run n + p leaves a and b with a + b = n + p - K and b the longer,
    so b >= (2 f + 2 p) / 2 = f + p, and value[b] == value[b - p] as b - p is at least f and less than n. So a move in
    the run n leaves a and b - p, worth the same. The other way round a move in n leaves a and b with b >= f + p / 2,
    and one in n + p leaves a and b + p. Equal sets of options have equal least numbers that are not in them.

    (Guy, Smith: The G-values of various games, Proc. Cambridge Phil. Soc. 52 (1956) 514-526, for octal games at large.)

So a table stops to grow once it holds the values up to 2 f + 2 p + K - 1 and they agree.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from .search import Watch

if TYPE_CHECKING:
    from .checker import Certificate

FIRST_ROOM = 256
"""Values that a table has at least. It doubles, and is looked at for a period whenever it is full."""

PLANES_FROM = 1 << 16
"""Room from which the bits of the values are held apart too; no run below has more pairs than the kernel's SAMPLE."""

STEP_PAIRS = 1 << 26
"""Pairs of values between two looks at the clock: some hundredths of a second."""

WAIT_S = 0.02
"""Seconds between two looks at the clock while another thread computes."""

MAX_TABLES, MAX_BYTES = 256, 1 << 28
"""Tables, and bytes of all of them; those not used for longest are forgotten first."""


class Table:
    """The values of one K.

    values  uint16, of all runs shorter than their number.
    first, period  values[n] == values[n + period] for all n from `first` on; period 0: not proved so far.
    proved_by  the number of values that proved it.
    """

    def __init__(self, take: int) -> None:
        self.take = take
        self.n = 0
        self.first = self.period = self.proved_by = 0
        self._lock = Lock()
        self._values = self._reversed = np.zeros(0, np.uint16)
        self._planes = self._reversed_planes = self._pairs = np.zeros((16, 0), np.uint64)
        self._make_room(FIRST_ROOM)

    @property
    def values(self) -> np.ndarray:
        return self._values[: self.n]

    @property
    def n_bytes(self) -> int:
        arrays = (self._values, self._reversed, self._planes, self._reversed_planes, self._pairs)
        return sum(array.nbytes for array in arrays)

    def knows(self, length: int) -> bool:
        """True when the value of a run of that length can be told."""
        return length < self.n or self.period > 0

    def period_for(self, length: int) -> int:
        """The period, if it is proved by values that a run of that length asks for anyway; else 0.

        The same whatever other games were solved before.
        """
        asked = max(FIRST_ROOM, length + 1)
        return self.period if self.period and self.proved_by <= asked else 0

    def grow(self, length: int, watch: Watch) -> None:
        """Compute the values up to that of `length`. Errors: Late; what was computed is kept."""
        length = max(length, FIRST_ROOM - 1)
        while not self.knows(length):
            while not self._lock.acquire(timeout=WAIT_S):  # another thread is at it
                watch.look()
            try:
                if not self.knows(length):
                    watch.look()
                    self._step(length)
            finally:
                self._lock.release()

    def _step(self, length: int) -> None:
        """Some more values."""
        from .kernels import grow

        if self.n == len(self._values):
            self._make_room(2 * self.n)
        n_more = max(0, self.n - self.take)  # values after which pairs are at most twice as many
        step = min(max(1024, n_more), 1 + STEP_PAIRS // (n_more // 2 + 256))
        stop = min(length + 1, len(self._values), self.n + step)
        rooms = self._planes, self._reversed_planes, self._pairs, np.zeros(1 << 16, np.uint8), np.zeros(64, np.uint64)
        reached = grow(self.take, self.n, stop, self._values, self._reversed, *rooms)
        if reached < stop:
            raise OverflowError(f"K = {self.take}: the value of a run of {reached:,} cells has no room in 15 bits")
        self.n = stop
        if stop == len(self._values):
            self._find_period()

    def _make_room(self, room: int) -> None:
        """Arrays for so many values, with those known so far."""
        values, backwards = np.zeros((2, room), np.uint16)
        values[: self.n] = self._values
        backwards[room - self.n :] = self._values[::-1]
        if room >= PLANES_FROM:
            words = room // 64 + 2
            self._planes, self._reversed_planes = (_planes(array, words) for array in (values, backwards))
            self._pairs = np.zeros((16, words), np.uint64)
        self._values, self._reversed = values, backwards

    def _find_period(self) -> None:
        """See whether the values prove a period."""
        from .kernels import shortest_period

        tail = self.n // 2
        period = int(shortest_period(self._values[tail:], np.zeros(self.n - tail + 1, np.int64)))
        differ = np.flatnonzero(self._values[:-period] != self._values[period:])
        first = int(differ[-1]) + 1 if len(differ) else 0
        if 2 * first + 2 * period + self.take <= self.n:
            self.first, self.proved_by = first, self.n
            self.period = period  # last: who sees it may be another thread


def _planes(values: np.ndarray, words: int) -> np.ndarray:
    """uint64[16, words]: bit n of row b is bit b of value n."""
    planes = np.zeros((16, 8 * words), np.uint8)
    bits = np.unpackbits(values.view(np.uint8).reshape(-1, 2), axis=1, bitorder="little")
    packed = np.packbits(bits, axis=0, bitorder="little").T
    planes[:, : packed.shape[1]] = packed
    return planes.view(np.uint64)


FOR_EVER = Watch(float("inf"), np.zeros(1, np.int64))

_tables: OrderedDict[int, Table] = OrderedDict()
_tables_lock = Lock()


def table_of(take: int) -> Table:
    """The table of one K in this process; a new one has no values."""
    with _tables_lock:
        table = _tables.pop(take, None) or Table(take)
        _tables[take] = table
        n_bytes = sum(other.n_bytes for other in _tables.values())
        while len(_tables) > 1 and (n_bytes > MAX_BYTES or len(_tables) > MAX_TABLES):
            n_bytes -= _tables.popitem(last=False)[1].n_bytes
        return table


def certificate(take: int, longest: int) -> Certificate:
    """The values of runs up to `longest`, for whoever wants to see that they are right."""
    from .checker import Certificate

    table = table_of(take)
    table.grow(longest, FOR_EVER)
    return Certificate(table.values, table.first, table.period)
