"""The timeline of a run: what each worker did when, as a trace that ui.perfetto.dev and chrome://tracing open.

The format is the JSON of Chrome's trace viewer ("Trace Event Format"): an array of complete events (`ph` X) with `ts`
and `dur` in microseconds. A process is a host, a thread is a worker; times are those of the hosts' wall clocks, from
this start of the run, which the first event names (`HEAD`). An event is a line: `report.trace` reads one at a time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, Self

from ..files.paths import readable
from ..spans import Span
from .folder import OutputError

HEAD = "pnono"
"""The event that says which start of which run this is, for the report; viewers pass it over."""

WAITING, BRIEF_S = ("wait", "queue", "share", "give"), 1e-4
"""Spans that are left out if they are shorter."""


class Timeline:
    """A file that spans are added to, by any thread, until it is closed; a text of JSON only then.

    started  when this start of the run began, as its session says.
    trouble  why it is not whole; "" if it is: no run ends because nobody can write down how it went.
    Errors   OutputError if it can't be opened.
    """

    def __init__(self, path: Path, started: str) -> None:
        self._path, self._lock = path, Lock()
        self._began = datetime.fromisoformat(started).timestamp()
        self._places: dict[tuple[str, str], tuple[int, int]] = {}
        self._hosts: dict[str, int] = {}
        self._first = True
        self.trouble = ""
        try:
            self._file = path.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise OutputError(self._told(error), writing=True) from error
        self._put({"name": HEAD, "ph": "M", "pid": 1, "tid": 0, "args": {"started": started}})

    def add(self, host: str, worker: str, spans: Iterable[Span]) -> None:
        """What a worker of a host did."""
        with self._lock:
            process, thread = self._place(host, worker)
            for one in spans:
                if one.name in WAITING and one.seconds < BRIEF_S:
                    continue
                times = {"ts": _micros(one.began - self._began), "dur": _micros(one.seconds)}
                said: dict[str, Any] = {"cpu_us": _micros(one.cpu_s)} | ({"puzzles": one.n} if one.n else {})
                self._put({"name": one.name, "ph": "X", **times, "pid": process, "tid": thread, "args": said})

    def _place(self, host: str, worker: str) -> tuple[int, int]:
        """The numbers that stand for a host and a worker; named when they are first met."""
        if (host, worker) not in self._places:
            if host not in self._hosts:
                self._hosts[host] = len(self._hosts) + 1
                self._name("process_name", host, self._hosts[host], 0)
            place = self._places[host, worker] = self._hosts[host], len(self._places) + 1
            self._name("thread_name", worker, *place)
        return self._places[host, worker]

    def _name(self, what: str, name: str, process: int, thread: int) -> None:
        self._put({"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}})

    def _put(self, event: dict[str, Any]) -> None:
        if self._file.closed or self.trouble:
            return  # a worker that did not hear the end
        try:
            self._file.write(("[\n" if self._first else ",\n") + json.dumps(event))
        except OSError as error:
            self.trouble = self._told(error)
        self._first = False

    def _told(self, error: OSError) -> str:
        return f"{self._path}: the timeline can't be written: {error.strerror}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the text."""
        with self._lock:
            try:
                with self._file:
                    self._file.write("\n]\n")
            except OSError as error:
                self.trouble = self.trouble or self._told(error)


def _micros(seconds: float) -> float:
    return round(seconds * 1e6, 1)


def place_of(path: Path, out: Path) -> str:
    """How the results in `out` name a file: from their folder, so that both can be moved together.

    A file on another drive keeps its whole path; one whose name is no UTF-8 is not found again.
    """
    path, out = path.resolve(), out.resolve()
    with suppress(ValueError):
        path = Path(os.path.relpath(path, out))
    return readable(path.as_posix())
