"""What each worker is at, for people to watch; asked for only while somebody does."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .status_line import COUNT, IDLE, PLACE, READING, SINCE_MS
from .work import Chunk, Work, has_errors


class WorkerStatus(NamedTuple):
    """One worker.

    worker  as the rows of the run call it.
    what    the puzzle, or the first of several; what is read; "" where it waits.
    size    `HEIGHTxWIDTH` of that puzzle, "" where it is not known.
    seconds how long it is at it already; None where it waits.
    done    rows so far.
    """

    worker: str
    what: str
    size: str
    seconds: float | None
    done: int


def status_of(work: Work, worker: str, chunk: Chunk | None, status: np.ndarray, done: int) -> WorkerStatus:
    """What its status says of a worker that has this chunk in hand."""
    at, count = int(status[PLACE]), int(status[COUNT])
    if chunk is None or at == IDLE:
        return WorkerStatus(worker, "", "", None, done)
    seconds = max(0.0, monotonic() - int(status[SINCE_MS]) / 1000)
    batch = chunk.tried
    if (
        batch is None and chunk.batch is not None and not has_errors(chunk.batch)
    ):  # in a process that we can't look into
        batch = chunk.batch
    if batch is None or at == READING:
        names = [*(name for name, _ in chunk.texts), *(source.name for source in chunk.sources)]
        what = _several(names[0], len(names), "file") if names else f"{work.kind.noun}s"
        return WorkerStatus(worker, f"reading {what}" if at == READING else what, "", seconds, done)
    return WorkerStatus(worker, *_told(work, batch.slice(at, max(count, 1))), seconds, done)


def _told(work: Work, part: pa.RecordBatch) -> tuple[str, str]:
    """(what, size) of the puzzles of a slice."""
    if not part.num_rows:
        return "", ""
    height, width = (part.column(name)[0].as_py() for name in ("height", "width"))
    return _several(work.kind.title(part, 0), part.num_rows, work.kind.noun), f"{height}x{width}"


def _several(first: str, n: int, noun: str) -> str:
    return first if n == 1 else f"{first} and {n - 1:,} more {noun}{'s' if n > 2 else ''}"
