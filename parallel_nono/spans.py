"""What a thread does when: named spans of time, recorded where somebody asked for them and at no cost elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time, time
from types import TracebackType
from typing import NamedTuple

NAMES = {
    "open": "reading files ahead of the workers",
    "wait": "nothing to do: others have all that is left, files are being opened, or lines mode is between phases",
    "read": "understanding texts, unpacking sets",
    "solve": "lines, probing and search",
    "queue": "waiting for a process of the SAT solver, or for its start",
    "prove": "waiting for the SAT solver's answer: its process has the core",
    "share": "waiting for the workers of lines mode, who have the puzzle",
    "lines": "solving lines of a puzzle that all share",
    "merge": "bringing together what its rows and columns know",
    "check": "holding solutions against the clues",
    "rows": "making rows",
    "give": "waiting for room to hand over rows",
    "write": "writing rows to disk",
    "count": "adding rows to the summary",
}
"""What a span may be called, and what that means. Those `WITHIN` lie within a `solve`."""

WITHIN = ("queue", "prove", "share")


class Span(NamedTuple):
    """Seconds: when it began, by the wall clock; how long it took; of this, CPU time of the thread. n puzzles; 0: it is
    not about puzzles."""

    name: str
    began: float
    seconds: float
    cpu_s: float
    n: int


class _Mine(threading.local):
    """The spans that this thread records; None: nobody asked."""

    spans: list[Span] | None = None


_mine = _Mine()


@contextmanager
def recording(wanted: bool = True) -> Iterator[list[Span]]:
    """Record what this thread does meanwhile, if it is wanted; whoever looks at the list may empty it."""
    spans: list[Span] = []
    before, _mine.spans = _mine.spans, spans if wanted else None
    try:
        yield spans
    finally:
        _mine.spans = before


class span:
    """`with span("solve", n):` records that, if this thread records."""

    __slots__ = ("_began", "_cpu", "_n", "_name", "_tick")

    def __init__(self, name: str, n: int = 0) -> None:
        self._name, self._n = name, n

    def __enter__(self) -> None:
        if _mine.spans is not None:
            self._began, self._tick, self._cpu = time(), perf_counter(), thread_time()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if _mine.spans is not None:
            cpu_s = thread_time() - self._cpu
            _mine.spans.append(Span(self._name, self._began, perf_counter() - self._tick, cpu_s, self._n))
