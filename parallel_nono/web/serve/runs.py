"""Folders of results below one root: which there are, and how far one is that grows."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any

from ...engine.folder import Folder, OutputError
from ...report import parts as parquet
from ...report.live import LIVE_FILE
from ...report.parquet import SCRATCH, run_facts
from ...report.summary import COLUMNS, Summary

MAX_LISTED = 200
FRESH_S = 5.0
"""How old the word of a run that says what it is at may be."""

QUIET_S = 120.0
"""A run that leaves no trace for so long is not under way any more."""


def run_named(root: Path, name: str) -> Path | None:
    """The folder of that name right below the root; None if there is none, or if it leads elsewhere."""
    if not name or name.startswith(".") or "/" in name or "\\" in name or "\0" in name:
        return None
    path = root / name
    try:
        return path if path.is_dir() and path.resolve().parent == root.resolve() else None
    except (OSError, ValueError):  # no name that the system takes
        return None


def listed(root: Path) -> list[dict[str, Any]]:
    """The newest runs first: name, started, rows, running; of one that can't be shown `refused`, a sentence."""
    found = [
        state(path)
        for path in (root.iterdir() if root.is_dir() else ())
        if run_named(root, path.name) is not None and is_run(path)
    ]
    found.sort(key=lambda run: run["started"], reverse=True)
    return found[:MAX_LISTED]


def is_run(path: Path) -> bool:
    """Whether it looks like a folder of results."""
    with suppress(OSError), Folder(path) as folder:
        return bool(folder.kind(parquet.FACTS) or folder.kind("rows"))
    return False


def state(path: Path) -> dict[str, Any]:
    """A run in the list."""
    run = {"name": path.name, "started": "", "rows": 0, "running": False}
    try:
        try:
            facts = parquet.written_facts(path)
        except OSError:
            facts = run_facts(path)
        return run | {"started": facts.get("started", ""), "rows": n_rows(path), "running": is_running(path)}
    except (OutputError, OSError) as error:
        return run | {"refused": str(error)}


def n_rows(run: Path) -> int:
    """Rows in closed parts."""
    total = 0
    for part in parquet.parts(run):
        with suppress(OutputError, OSError):  # a damaged part: the report says so
            total += parquet.n_rows(run, part)
    return total


def is_running(run: Path) -> bool:
    """Whether somebody writes rows there, as far as the files tell."""
    with suppress(OSError), Folder(run) as folder:
        if folder.kind(SCRATCH) != "folder":
            return False
        newest = max(folder.stat(name).st_mtime for name in (SCRATCH, "rows", parquet.FACTS) if folder.kind(name))
        return said(run) is not None or time() - newest < QUIET_S
    return False


def said(run: Path) -> dict[str, Any] | None:
    """What the run itself says it is at (`pnono run --live`), if that is fresh."""
    with suppress(OSError, OutputError, ValueError, KeyError, TypeError, RecursionError), Folder(run) as folder:
        word: dict[str, Any] = json.loads(folder.content(LIVE_FILE))
        return word if abs(time() - float(word["at"])) < FRESH_S else None
    return None


class Follower:
    """One run, looked at again and again; each part is read once."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._seen: set[str] = set()
        self._summary = Summary(run_facts(run).get("noun", "puzzle"))

    def state(self) -> dict[str, Any]:
        """Counts so far; from the run itself where it tells them, else from closed parts. Errors: OutputError."""
        running = is_running(self._run)  # before the parts: the last one is read before we say that it is over
        for part in parquet.parts(self._run):
            if part.name in self._seen:
                continue
            try:
                rows = list(parquet.read_part(self._run, part, COLUMNS))
            except OSError as error:
                raise OutputError(f"{part}: can't be read: {error}") from error
            self._seen.add(part.name)
            for batch in rows:
                self._summary.add(batch)
        average, median, most = self._summary.times()
        state = {
            "type": "state",
            "noun": self._summary.noun,
            "rows": self._summary.n_rows,
            "outcomes": self._summary.outcomes(),
            "average_s": average,
            "median_s": median,
            "maximum_s": most,
            "heaviest": self._summary.heaviest,
            "running": running,
        }
        return state | (said(self._run) or {}) | {"running": running}
