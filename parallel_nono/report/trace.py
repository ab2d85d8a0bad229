"""The timeline of a run, read back: what each worker did when (`engine.timeline` writes it).

It is read a block of lines at a time into columns of numbers. Whatever the file turns out to be, what comes of it is
these or one sentence: the name of the file stands in the results, and may lead anywhere.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..engine.folder import Folder, OutputError
from ..engine.timeline import HEAD
from ..pictures.door import printable
from ..spans import NAMES

MAX_BYTES, BLOCK, MAX_WORKERS = 512 << 20, 64 << 10, 100_000
"""A larger file is not read: four million spans. A line of ours has 140 bytes; only a name could make it longer."""

MOST_US = 1e15
"""Thirty years: no run has a later span."""

ORDER = tuple(NAMES)
END = b"\n]\n"

Worker = tuple[str, str]
"""A host and a worker on it."""


class Spans(NamedTuple):
    """Those of one worker: place of the name in `ORDER`; from when to when, in seconds of the wall clock."""

    names: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


class TraceError(Exception):
    """No timeline of this start of the run; one sentence says why."""


def place_in(out: Path, told: str, inside: bool) -> Path:
    """The file that a session of the results in `out` names, see `engine.timeline.place_of`.

    inside   only files in the folder of results will do. Errors: TraceError.
    """
    folder = Path(os.path.realpath(out))
    path = Path(os.path.normpath(folder / told))
    if inside and path.parent != folder:
        raise TraceError(f"the timeline {told} is not in the folder of results; `pnono report` shows it")
    return path


def read(path: Path, started: str) -> dict[Worker, Spans]:
    """The spans of every worker. started: when that start of the run began, which the file must be of.

    Errors   TraceError.
    """
    try:
        with Folder(path.parent) as folder, folder.reader(path.name) as file:
            return _spans(file, path, started)
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise TraceError(f"{path}: the timeline can't be read: {said}") from error
    except OutputError as error:
        raise TraceError(str(error)) from error


def _spans(file: IO[bytes], path: Path, started: str) -> dict[Worker, Spans]:
    size = file.seek(0, os.SEEK_END)
    if size > MAX_BYTES:
        raise TraceError(f"{path}: expected a timeline of at most {MAX_BYTES >> 20} MiB, found {size >> 20:,} MiB")
    file.seek(max(0, size - len(END)))
    whole = file.read() == END
    file.seek(0)
    told = _event(file.readline(BLOCK)) if file.read(2) == b"[\n" else {}
    if told.get("name") != HEAD or not isinstance(told.get("args"), dict):
        raise TraceError(f"{path}: expected a timeline of `pnono run --timeline`, found something else")
    if told["args"].get("started") != started:
        raise TraceError(f"{path}: expected the timeline of the start at {started}, found that of another")
    if not whole:
        raise TraceError(f"{path}: expected a whole timeline, found one that was cut off, or is still being written")
    try:
        return _gathered(_events(file, size - len(END)), datetime.fromisoformat(started).timestamp())
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise TraceError(
            f"{path}: expected lines as pnono writes them, found others: {type(error).__name__}"
        ) from error


def _events(file: IO[bytes], end: int) -> Iterator[dict[str, Any]]:
    """Those of the lines from here to the place `end`. Errors: as of `_gathered`."""
    left = b""
    while block := file.read(max(0, min(BLOCK, end - file.tell()))):
        lines, _, left = (left + block).rpartition(b"\n")
        if len(left) > BLOCK:
            raise ValueError("a long line")
        yield from json.loads(b"[" + lines.rstrip(b",") + b"]")
    yield from json.loads(b"[" + left + b"]")


def _gathered(events: Iterator[dict[str, Any]], began: float) -> dict[Worker, Spans]:
    """The spans of all events. Errors: almost anything, where a line is none of ours."""
    hosts: dict[int, str] = {}
    found: dict[Worker, array[float]] = {}
    threads: dict[tuple[int, int], array[float]] = {}
    places = {name: place for place, name in enumerate(ORDER)}
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].extend((places[event["name"]], event["ts"], event["dur"]))
        elif event["name"] == "process_name":
            hosts[event["pid"]] = printable(event["args"]["name"])
        elif event["name"] == "thread_name":
            worker = hosts[event["pid"]], printable(event["args"]["name"])
            threads[event["pid"], event["tid"]] = found.setdefault(worker, array("d"))
        if max(len(threads), len(hosts)) > MAX_WORKERS:
            raise ValueError("too many workers")
    return {worker: _columns(numbers, began) for worker, numbers in found.items() if numbers}


def _columns(numbers: array[float], began: float) -> Spans:
    names, at, took = np.frombuffer(numbers, np.float64).reshape(-1, 3).T
    if not ((np.abs(at) < MOST_US).all() and (took >= 0).all() and (took < MOST_US).all()):  # nor is a NaN
        raise ValueError("times")
    begins = began + at * 1e-6
    return Spans(names.astype(np.int8), begins, begins + took * 1e-6)


def _event(line: bytes) -> dict[str, Any]:
    """An object; an empty one if it is none."""
    try:
        found = json.loads(line.rstrip(b",\n"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
