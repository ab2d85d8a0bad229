"""What each worker is doing, looked up now and then, and written into a file for whoever follows the run elsewhere."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, time
from typing import NamedTuple, Self

from ..engine.folder import Folder
from ..engine.status import WorkerStatus
from .parquet import SCRATCH
from .summary import Summary

LIVE_FILE = "live.json"
"""In the folder of results while a run with the option `live` is under way."""

RATE_S = 10.0
"""The rate shown is that of about so many last seconds."""

MARK_S, LOOK_S, FILE_S = 0.5, 1.0, 1.0


class Rate:
    """How fast a count grows, over about the last RATE_S seconds."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def add(self, now: float, count: int) -> None:
        """The count as it is now."""
        if not self._marks or now - self._marks[-1][0] >= MARK_S:
            self._marks.append((now, count))
            while len(self._marks) > 2 and now - self._marks[0][0] > RATE_S:
                self._marks.popleft()

    def at(self, now: float, count: int) -> float:
        """Counts per second."""
        if len(self._marks) < 2:
            return 0.0
        since, before = self._marks[0]
        return (count - before) / max(now - since, 1e-3)


class Seen(NamedTuple):
    """A worker's status and how many rows a second it makes."""

    status: WorkerStatus
    rate: float


class Live:
    """A context to call `look` in, as often as you like.

    told   gives what each worker is doing.
    out    the folder of results, for LIVE_FILE.
    """

    def __init__(self, told: Callable[[], list[WorkerStatus]], out: Path) -> None:
        self._told, self._out = told, out
        self._looked, self._n_looked, self._written = 0.0, -1, 0.0
        self._rate = Rate()
        self._rates: dict[str, Rate] = {}
        self._seen: list[Seen] = []

    def __enter__(self) -> Self:
        with Folder(self._out) as folder:
            folder.expect(LIVE_FILE, "file", writing=True)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError), Folder(self._out) as folder:
            folder.remove(LIVE_FILE)

    def look(self, summary: Summary, left: tuple[float, float] | None) -> list[Seen]:
        """The workers as they were seen a second ago at most; left: see `batch.run.RunProgress`."""
        now = monotonic()
        self._rate.add(now, summary.n_rows)
        if summary.n_rows != self._n_looked or now - self._looked >= LOOK_S:
            self._looked, self._n_looked = now, summary.n_rows
            found = self._told()
            for status in found:
                self._rates.setdefault(status.worker, Rate()).add(now, status.done)
            self._seen = [Seen(status, self._rates[status.worker].at(now, status.done)) for status in found]
            if now - self._written >= FILE_S:
                self._written = now
                self._write(summary, left)
        return self._seen

    def _write(self, summary: Summary, left: tuple[float, float] | None) -> None:
        """For whoever follows the run. A full disk is for the rows to complain about."""
        word = {
            "at": time(),
            "rows": summary.n_rows,
            "outcomes": summary.outcomes(),
            "rate": self._rate.at(monotonic(), summary.n_rows),
            "left": left,
            "workers": [status._asdict() | {"rate": rate} for status, rate in self._seen],
        }
        with suppress(OSError), Folder(self._out) as folder, ExitStack() as stack:
            # Where a run that is killed leaves it, it is swept.
            scratch = stack.enter_context(folder.sub(SCRATCH)) if folder.kind(SCRATCH) else None
            with folder.replacing(LIVE_FILE, scratch, sync=False) as file:
                file.write(json.dumps(word).encode())
