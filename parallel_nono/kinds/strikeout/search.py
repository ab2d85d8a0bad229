"""Who wins, by looking at positions: three ways, each as slow as its idea.

`bitmask` lists every position of the strip as a word; `sorted` and `multiset` remember positions by the lengths of
their runs, which is all that counts, and differ in how they hold these lengths.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from time import monotonic, thread_time
from typing import Any, NamedTuple

import numpy as np

from ...attempt import Limits

MAX_WORDS = 1 << 22
"""Positions that `bitmask` lists: nine bytes each."""

MAX_REMEMBERED = 1 << 20
"""Positions that `sorted` and `multiset` remember: some hundred bytes each."""

MAX_CELLS = 1 << 13
"""Cells of a strip for `sorted` and `multiset`: a position takes as long as it has runs."""

LOOK = 1 << 6
"""Positions between two looks at the clock."""


class Refused(Exception):
    """The game is beyond this way of solving; the message says why."""


class Late(Exception):
    """The time is up, or somebody said stop."""


class Verdict(NamedTuple):
    """What a solver says of a game.

    winner    1, who moves first, or 2.
    grundy    -1 where the solver does not know.
    move      the leftmost winning first move: the first of the cells to cross, from 0; -1 if there is none.
    n_states  positions looked at; for Grundy values, how many were needed.
    period, period_from  of the Grundy values, where it is proved; else 0.
    """

    winner: int
    grundy: int
    move: int
    n_states: int
    period: int = 0
    period_from: int = 0


@dataclass(frozen=True, slots=True)
class Watch:
    """When to give up: `monotonic()` after `deadline`, `thread_time()` after `cpu_end`, or as soon as `abort[0]` is not
    zero."""

    deadline: float
    abort: np.ndarray
    cpu_end: float = inf

    @classmethod
    def of(cls, limits: Limits, abort: np.ndarray) -> Watch:
        """What is allowed from now on."""
        cpu_end = thread_time() + limits.cpu_seconds if limits.cpu_seconds else inf
        return cls(monotonic() + limits.seconds, abort, cpu_end)

    def look(self) -> None:
        """Errors: Late."""
        if self.late():
            raise Late

    def late(self) -> bool:
        return (
            bool(self.abort[0]) or monotonic() > self.deadline or (self.cpu_end < inf and thread_time() > self.cpu_end)
        )


def runs_of(strip: str) -> list[tuple[int, int]]:
    """(start, length) of the runs of free cells."""
    runs, at = [], 0
    for piece in strip.split("X"):
        if piece:
            runs.append((at, len(piece)))
        at += len(piece) + 1
    return runs


# Positions as words.


def bitmask(strip: str, take: int, watch: Watch) -> Verdict:
    """All positions that can come up, as words in ascending order, judged from the last to the first.

    Bit i of a word is set when a move has crossed cell i, so every move makes a word greater. Errors: Refused, Late.
    """
    from .kernels import judge_words

    counts = _word_counts(strip, take)
    words = np.zeros(counts[-1], np.uint64)
    block = np.uint64((1 << min(take, 64)) - 1)
    for end, (before, n) in enumerate(pairwise(counts), start=1):
        if n > before:  # the last `take` of the first `end` cells may be crossed together, after any of the first words
            words[before:n] = words[: n - before] | (block << np.uint64(end - take))
    free = np.uint64(sum(1 << place for place, cell in enumerate(strip) if cell == "O"))
    wins = np.zeros(len(words), np.uint8)
    for stop in range(len(words), 0, -MAX_WORDS // 256):
        watch.look()
        move = judge_words(words, wins, free, block, len(strip) - take, max(0, stop - MAX_WORDS // 256), stop)
    return Verdict(1 if wins[0] else 2, -1, int(move), len(words))


def _word_counts(strip: str, take: int) -> list[int]:
    """How many positions there are of the first 0, 1, 2, ... cells: a cell is left, or crossed with those before it."""
    if len(strip) > 64:
        raise Refused(f"expected a strip of at most 64 cells for words of 64 bits, found {len(strip):,}")
    counts, free = [1], 0
    for end, cell in enumerate(strip, start=1):
        free = free + 1 if cell == "O" else 0
        counts.append(counts[-1] + (counts[end - take] if free >= take else 0))
    if counts[-1] > MAX_WORDS:
        raise Refused(f"expected at most {MAX_WORDS:,} positions, found {counts[-1]:,}")
    return counts


# Positions as lengths of runs.

State = Any


@dataclass(frozen=True, slots=True)
class Container:
    """A way to hold the lengths of runs.

    of        lengths -> state; equal for equal lengths, and hashable.
    lengths   state -> the different lengths in it, ascending.
    replaced  (state, one of its lengths, what it becomes) -> state.
    """

    of: Callable[[Iterable[int]], Hashable]
    lengths: Callable[[State], Iterable[int]]
    replaced: Callable[[State, int, tuple[int, ...]], Hashable]


def _replaced_in_list(state: tuple[int, ...], length: int, pieces: tuple[int, ...]) -> tuple[int, ...]:
    lengths = list(state)
    lengths.remove(length)
    for piece in pieces:
        insort(lengths, piece)
    return tuple(lengths)


def _replaced_in_multiset(
    state: frozenset[tuple[int, int]], length: int, pieces: tuple[int, ...]
) -> frozenset[tuple[int, int]]:
    counts = dict(state)
    counts[length] -= 1
    for piece in pieces:
        counts[piece] = counts.get(piece, 0) + 1
    return frozenset((length, n) for length, n in counts.items() if n)


LIST = Container(lambda lengths: tuple(sorted(lengths)), lambda state: sorted(set(state)), _replaced_in_list)
MULTISET = Container(
    lambda lengths: frozenset(Counter(lengths).items()),
    lambda state: sorted(length for length, _ in state),
    _replaced_in_multiset,
)


def remembered(container: Container, strip: str, take: int, cut: bool, watch: Watch) -> Verdict:
    """Positions by the lengths of their runs, each judged once.

    cut     stop looking at a position when one of its moves leads to a lost one.
    Errors  Refused, Late.
    """
    if len(strip) > MAX_CELLS:
        raise Refused(f"expected a strip of at most {MAX_CELLS:,} cells, found {len(strip):,}")
    runs = runs_of(strip)
    known: dict[Hashable, bool] = {container.of(()): False}
    first = container.of(length for _, length in runs if length >= take)
    wins = _judge(first, container, take, cut, known, watch)
    n_states = len(known) - 1  # without the empty position
    if not wins:
        return Verdict(2, -1, -1, n_states)
    winning = (
        start + place
        for start, length in runs
        for place in range(length - take + 1)
        if not _judge(
            container.replaced(first, length, _pieces(length, place, take)), container, take, True, known, watch
        )
    )
    return Verdict(1, -1, next(winning), n_states)


def _pieces(length: int, place: int, take: int) -> tuple[int, ...]:
    """What a run becomes: two runs, of which those without a move are dropped."""
    return tuple(piece for piece in (place, length - take - place) if piece >= take)


def _judge(
    first: Hashable, container: Container, take: int, cut: bool, known: dict[Hashable, bool], watch: Watch
) -> bool:
    """True when who moves in `first` wins; everything looked at is added to `known`."""
    if first in known:
        return known[first]

    def moves(state: Hashable) -> Iterator[Hashable]:
        for length in container.lengths(state):
            for place in range((length - take) // 2 + 1):  # the other half mirrors it
                yield container.replaced(state, length, _pieces(length, place, take))

    path = [(first, moves(first), False)]  # (position, moves not looked at yet, one of the others wins)
    n_turns = 0
    while path:
        n_turns += 1
        if not n_turns % LOOK:
            watch.look()
        state, left, wins = path.pop()
        deeper = None
        for following in left:
            if following not in known:
                deeper = following
                break
            if not known[following]:
                wins = True
                if cut:
                    break
        if deeper is not None:
            path += [(state, left, wins), (deeper, moves(deeper), False)]
            continue
        known[state] = wins
        if path and not wins:  # the move that led here wins
            before, left, _ = path.pop()
            path.append((before, iter(()) if cut else left, True))
        if len(known) > MAX_REMEMBERED:
            raise Refused(f"expected at most {MAX_REMEMBERED:,} positions, found more")
    return known[first]
