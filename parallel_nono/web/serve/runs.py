"""Folders of results below one root: which there are, and how far one is that grows."""

from __future__ import annotations

import json
from pathlib import Path
from time import time
from typing import Any

from ...report.parquet import OutputError, parts, read_facts
from ...report.progress import LIVE_FILE
from ...report.summary import COLUMNS, Summary

MOST_LISTED = 200
FRESH_S = 5.0
"""How old the word of a run that says what it is at may be."""

QUIET_S = 120.0
"""A run that leaves no trace for so long is not under way any more."""


def run_named(root: Path, name: str) -> Path | None:
    """The folder of that name right below the root; None if there is none, or if it leads elsewhere."""
    if not name or name.startswith(".") or "/" in name or "\\" in name or "\0" in name:
        return None
    path = root / name
    if not path.is_dir() or path.resolve().parent != root.resolve():
        return None
    return path


def listed(root: Path) -> list[dict[str, Any]]:
    """The newest runs first: name, started, workers, rows, running."""
    found = []
    for path in root.iterdir() if root.is_dir() else ():
        if run_named(root, path.name) is None or not ((path / "run.json").exists() or (path / "rows").is_dir()):
            continue
        try:
            facts = read_facts(path)
        except OutputError:  # of another version, or damaged: it is no run that we can show
            continue
        found.append((str(facts.get("started", "")), path))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return [
        {"name": path.name, "started": started, "rows": n_rows(path), "running": is_running(path)}
        for started, path in found[:MOST_LISTED]
    ]


def n_rows(run: Path) -> int:
    """Rows in closed parts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    total = 0
    for part in parts(run):
        try:
            total += pq.read_metadata(part).num_rows
        except (OSError, pa.ArrowException):  # a damaged part: the report says so
            continue
    return total


def is_running(run: Path) -> bool:
    """Whether somebody writes rows there, as far as the files tell."""
    scratch = run / ".tmp"
    if not scratch.is_dir():
        return False
    newest = max(path.stat().st_mtime for path in (scratch, run / "rows", run / "run.json") if path.exists())
    return said(run) is not None or time() - newest < QUIET_S


def said(run: Path) -> dict[str, Any] | None:
    """What the run itself says it is at (`pnono run --live`), if that is fresh."""
    try:
        word: dict[str, Any] = json.loads((run / LIVE_FILE).read_bytes())
        return word if abs(time() - float(word["at"])) < FRESH_S else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Follower:
    """One run, looked at again and again; each part is read once."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._seen: set[str] = set()
        self._summary = Summary(read_facts(run).get("noun", "puzzle"))

    def state(self) -> dict[str, Any]:
        """Counts so far; from the run itself where it tells them, else from closed parts. Errors: OutputError."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        running = is_running(self._run)  # before the parts: the last one is read before we say that it is over
        for part in parts(self._run):
            if part.name in self._seen:
                continue
            try:
                table = pq.read_table(part, columns=COLUMNS, partitioning=None)
            except (OSError, pa.ArrowException) as error:
                raise OutputError(f"{part}: can't be read: {error}") from error
            self._seen.add(part.name)
            for batch in table.to_batches():
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
