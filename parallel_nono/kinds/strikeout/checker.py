"""The crossing-out game once more: what a solver says of a game is accepted only if it can be shown here.

Who wins is shown by values of positions: the winning move is played on the strip, and what is left must be worth 0;
where nobody is said to win by the first move, the strip itself must be worth 0. The solver hands over the values of
single runs as a certificate, and each of them is held against its definition, by other code than made it: it must be
the least number that no move leads to. Values that are right up to n make value n right, so this is a proof.

Its work grows with the square of the longest run, so it is done once for every K, and up to MAX_PROVED cells: behind
that, those values are held against their definition that the game at hand needs, and SPOTS others, spread evenly. That
is no proof; a certificate with one wrong value in a hundred passes with a probability of 7 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ...kernels import kernel
from ...kernels.arrays import ConstUInt16s, UInt8s

MAX_PROVED = 1 << 17
"""Values that are proved one after another: a second or two for one K."""

SPOTS = 256
"""Longer runs whose values are looked at besides."""


class Certificate(NamedTuple):
    """Values of runs: values[n] of n cells; and values[n] == values[n + period] from `first` on, if period is not 0."""

    values: np.ndarray
    first: int
    period: int


class Proved:
    """What this module has itself seen to be right of the values for one K."""

    def __init__(self, take: int) -> None:
        self._take = take
        self._values = np.zeros(0, np.uint16)
        self._spots: set[int] = set()
        self._lock = Lock()

    def wrong(self, certificate: Certificate, lengths: set[int]) -> str:
        """What is wrong with a certificate for runs of these lengths, or ""."""
        with self._lock:
            values, first, period = certificate
            n = len(values) if period else min(len(values), max(lengths, default=-1) + 1)
            if period and (period < 0 or first < 0 or 2 * first + 2 * period + self._take > n):
                return f"expected enough values to prove a period of {period} from {first} on, found {n}"
            if period and (values[first : n - period] != values[first + period :]).any():
                return f"expected values of period {period} from {first} on, found others"
            if not period and n <= max(lengths, default=-1):
                return f"expected the values of runs of up to {max(lengths)} cells, found {n}"
            return self._wrong_values(values, n, lengths)

    def _wrong_values(self, values: np.ndarray, n: int, lengths: set[int]) -> str:
        known, sure = len(self._values), min(n, MAX_PROVED)
        if not np.array_equal(self._values[:n], values[: min(n, known)]):
            return "expected the values that were proved before, found others"
        seen = np.zeros(1 << 16, np.uint8)
        if sure > known:
            place = first_wrong(values, self._take, known, sure, seen)
            if place >= 0:
                return f"expected the least number that no move leads to for {place} cells, found {values[place]}"
            self._values = values[:sure].copy()
        further = {length for length in lengths if MAX_PROVED <= length < n}
        if further:
            further |= set(np.linspace(MAX_PROVED, max(further), SPOTS, dtype=np.int64).tolist())
        for place in sorted(further - self._spots):
            if first_wrong(values, self._take, place, place + 1, seen) >= 0:
                return f"expected the least number that no move leads to for {place} cells, found {values[place]}"
            self._spots.add(place)
        return ""


MAX_PROVED = 256
"""Numbers K that are remembered; then all are forgotten."""

_proved: dict[int, Proved] = {}


def _proved_for(take: int) -> Proved:
    if len(_proved) > MAX_PROVED:
        _proved.clear()
    return _proved.setdefault(take, Proved(take))


class Claim(NamedTuple):
    """What a solver says of a game.

    winner  1, who moves first, or 2.
    grundy  the value of the strip; -1: nothing is said about it.
    move    the first of the cells that the winning move crosses, from 0; -1: there is none.
    """

    strip: str
    take: int
    winner: int
    grundy: int
    move: int


def faults(claims: Sequence[Claim], certificate: Callable[[int, int], Certificate]) -> list[tuple[int, str]]:
    """The places of claims that are wrong, and why.

    certificate  given K and the longest run, the values of all runs up to it.
    """
    found = []
    positions: dict[int, tuple[list[int], list[int]]] = {}  # place -> runs at first, and when the move was made
    needed: dict[int, dict[int, int]] = {}  # K -> runs of all games, and one game that each occurs in
    for place, claim in enumerate(claims):
        why, left = _played(claim)
        if why:
            found.append((place, why))
            continue
        runs, rest = _runs(claim.strip, claim.take), _runs(left, claim.take)
        positions[place] = runs, rest
        lengths = needed.setdefault(claim.take, {})
        for run in (*runs, *rest):
            lengths[run] = place
    certificates = {}
    for take, lengths in needed.items():
        if not lengths:
            continue
        longest = max(lengths)
        certificates[take] = certificate(take, longest)
        wrong = _proved_for(take).wrong(certificates[take], set(lengths))
        if wrong:
            found.append((lengths[longest], wrong))
            return found
    for place, (runs, rest) in positions.items():
        claim = claims[place]
        worth, left_over = (_worth(certificates[claim.take], lengths) if lengths else 0 for lengths in (runs, rest))
        if claim.grundy not in (-1, worth):
            found.append((place, f"expected Grundy value {worth}, found {claim.grundy}"))
        elif left_over:
            what = f"what is left by the move to cell {claim.move + 1}" if claim.winner == 1 else "the strip"
            found.append((place, f"expected {what} to be worth 0, found {left_over}"))
    return found


def _played(claim: Claim) -> tuple[str, str]:
    """What is wrong with a claim by itself, or "", and the strip when its move was made."""
    strip, take, winner, _, move = claim
    if winner not in (1, 2) or (winner == 1) != (move >= 0):
        return f"expected winner 1 with a move or winner 2 without, found {winner} and {move + 1}", ""
    if winner == 2:
        return "", strip
    crossed = strip[move : move + take]
    if len(crossed) < take or "X" in crossed:
        return f"expected {take:,} free cells from cell {move + 1} on, found {crossed[:80]}", ""
    return "", strip[:move] + "X" * take + strip[move + take :]


def _runs(strip: str, take: int) -> list[int]:
    """The lengths of the runs that somebody can move in."""
    return [len(run) for run in strip.split("X") if len(run) >= take]


def _worth(certificate: Certificate, runs: list[int]) -> int:
    """The values of runs put together."""
    values, first, period = certificate
    total = 0
    for run in runs:
        total ^= int(values[run if run < len(values) else first + (run - first) % period])
    return total


@kernel
def first_wrong(values: ConstUInt16s, take: int, start: int, stop: int, seen: UInt8s) -> int:
    """The first run from `start` to `stop` - 1 whose value is not the least number that no move leads to; else -1.

    values  uint16, of all shorter runs too.
    seen    uint8[1 << 16], all 0, and so again on return.
    """
    for n in range(start, stop):
        top: Any = 0
        for left in range((n - take) // 2 + 1):
            led_to = np.int64(values[left] ^ values[n - take - left])
            seen[led_to] = 1
            top = max(top, led_to)
        wrong = seen[values[n]] == 1
        for number in range(values[n]):
            wrong |= seen[number] == 0
        for number in range(top + 1):
            seen[number] = 0
        if wrong:
            return n
    return -1
