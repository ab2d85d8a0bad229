"""What a run found, on one screen. Made from rows as they pass, or from the parts of a finished run: the same text.

Memory: four bytes a row (the solve times, for the median), and ten rows.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..attempt import OUTCOMES, STAGES, Outcome
from ..pictures.door import printable
from ..puzzleset import has_text
from .wording import duration as duration
from .wording import title_of

if TYPE_CHECKING:
    from rich.console import Console

HEAVIEST = 10
SHOWN = ["name", "source", "index", "height", "width", "n_colours", "outcome", "stage", "solve_s", "work_s"]
MEASURED = ["solve_s", "cpu_s", "sat_s"]
COLUMNS = [*SHOWN[:-2], *MEASURED, "warnings", "error"]

STYLES = {
    "unique": "green",
    "multiple": "yellow",
    "contradiction": "magenta",
    "solved": "green",
    "stalled": "cyan",
    "timeout": "red",
    "invalid": "red",
    "crashed": "bold red",
    "wrong": "bold red",
}


ERRORS_SHOWN = 5

COMPILING_S = 0.1
"""Seconds of compiling that are worth a word."""


class Summary:
    """Counts and times of the rows given to `add`, in any order.

    noun  what one puzzle is called.
    top   how many of the heaviest are kept.
    """

    def __init__(self, noun: str = "puzzle", top: int = HEAVIEST) -> None:
        self.noun, self._top = noun, top
        self.decided: Counter[tuple[str, str]] = Counter()
        self.n_rows = self.n_warnings = self.n_errors = 0
        self._times: list[np.ndarray] = []
        self._heaviest: list[dict[str, Any]] = []
        self.errors: list[tuple[str, int, str]] = []
        """Source, index and message of the first rows that have one."""

    @classmethod
    def of(cls, out: Path, top: int = HEAVIEST) -> Summary:
        """The summary of a folder of results, a part at a time."""
        from .parquet import batches, read_facts

        summary = cls(read_facts(out).get("noun", "puzzle"), top)
        for batch in batches(out, COLUMNS):
            summary.add(batch)
        return summary

    def add(self, rows: pa.RecordBatch) -> None:
        """Count a batch of rows."""
        if not rows.num_rows:
            return
        self.n_rows += rows.num_rows
        self.n_warnings += int(np.count_nonzero(has_text(rows.column("warnings"))))
        outcomes, stages = rows.column("outcome"), rows.column("stage")
        width = len(stages.dictionary)
        pairs = np.bincount(outcomes.indices.to_numpy() * width + stages.indices.to_numpy())
        for pair in np.flatnonzero(pairs).tolist():
            key = outcomes.dictionary[pair // width].as_py(), stages.dictionary[pair % width].as_py()
            self.decided[key] += int(pairs[pair])
        untried = [place for place, each in enumerate(outcomes.dictionary.to_pylist()) if each == Outcome.INVALID]
        tried = ~np.isin(outcomes.indices.to_numpy(), untried)
        times = rows.column("solve_s").to_numpy()
        self._times.append(times[tried])
        self._keep_heaviest(rows, tried)
        self._keep_errors(rows)

    def _keep_errors(self, rows: pa.RecordBatch) -> None:
        failed = has_text(rows.column("error"))
        if failed.any():
            told = rows.select(["source", "index", "error"]).filter(pa.array(failed))
            self.n_errors += told.num_rows
            self.errors = sorted([*self.errors, *map(tuple, map(dict.values, told.to_pylist()))])[:ERRORS_SHOWN]

    def outcomes(self) -> dict[str, int]:
        """Rows of each outcome that occurs, in the order of the closed list."""
        counts = Counter[str]()
        for (outcome, _), n in self.decided.items():
            counts[outcome] += n
        return {str(o): counts[o] for o in OUTCOMES if counts[o]}

    def times(self) -> tuple[float, float, float]:
        """Average, median and maximum of the solve times in seconds; 0 of none."""
        times = np.concatenate(self._times) if self._times else np.zeros(0, np.float32)
        self._times = [times]
        if not len(times):
            return 0.0, 0.0, 0.0
        middle = [(len(times) - 1) // 2, len(times) // 2]  # of an even number two
        median = np.partition(times, middle)[middle].mean(dtype=np.float64)
        return float(times.mean(dtype=np.float64)), float(median), float(times.max())

    def total_seconds(self) -> float:
        """Solve times of all puzzles together."""
        return sum(float(times.sum(dtype=np.float64)) for times in self._times)

    @property
    def heaviest(self) -> list[dict[str, Any]]:
        """The rows that took the most work (`work_s`), most first; equal ones by source and index."""
        return list(self._heaviest)

    def _keep_heaviest(self, rows: pa.RecordBatch, tried: np.ndarray) -> None:
        times = work_of(*(rows.column(name).to_numpy() for name in MEASURED))
        least = self._heaviest[-1]["work_s"] if len(self._heaviest) == self._top else -1.0
        places = np.flatnonzero(tried & (times >= least))
        if len(places) > self._top:
            border = np.partition(times[places], -self._top)[-self._top]
            places = places[times[places] >= border][: 100 * self._top]
        if len(places):
            shown = rows.select(SHOWN[:-1])
            found = [row for place in places.tolist() for row in shown.slice(place, 1).to_pylist()]
            self._heaviest += (row | {"work_s": work} for row, work in zip(found, times[places].tolist(), strict=True))
            self._heaviest.sort(key=lambda row: (-row["work_s"], row["source"], row["index"]))
            del self._heaviest[self._top :]


def work_of(solve_s: np.ndarray, cpu_s: np.ndarray, sat_s: np.ndarray) -> np.ndarray:
    """float64[rows], `query.WORK`: the seconds of a time that were work, not waiting for a core."""
    return np.where(cpu_s > 0, cpu_s.astype(np.float64) + sat_s, solve_s)


def render(
    console: Console, summary: Summary, sessions: list[dict[str, Any]], facts: dict[str, Any], out: Path
) -> None:
    """Print a summary: 80 columns suffice; without colours when `console` is no terminal or NO_COLOR is set.

    sessions  what each start of the run said last (`parquet.sessions`): seconds, engine, why, skipped.
    facts     the run facts; only the name is shown.
    """
    from rich.table import Table
    from rich.text import Text

    seconds = sum(session.get("seconds", 0.0) for session in sessions)
    compiling = sum(session.get("compiling_s", 0.0) for session in sessions)
    rate = f"{summary.n_rows / (seconds - compiling):,.0f} {summary.noun}s/s" if seconds > compiling else ""
    compiled = f"{duration(compiling)} of it compiling" if compiling >= COMPILING_S else ""
    rate = f"  ({', '.join(filter(None, (compiled, rate)))})" if rate and summary.n_rows else ""
    console.print()
    found = f"  {_plural(summary.n_rows, summary.noun)} in {duration(seconds)}{rate}"
    console.print(Text.assemble((printable(facts.get("run", "")), "bold"), found))
    console.print()
    if summary.n_rows:
        console.print(_outcome_table(summary))
        console.print()
        average, median, longest = summary.times()
        console.print(
            f"  solve time   average {duration(average)}, median {duration(median)}, "
            f"maximum {duration(longest)}, sum {duration(summary.total_seconds())}",
            highlight=False,
        )
        console.print()
    if summary.heaviest:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        table.add_column("  heaviest", justify="right", no_wrap=True)
        table.add_column(summary.noun, overflow="ellipsis", no_wrap=True, max_width=max(16, console.width - 48))
        table.add_column("size", justify="right", no_wrap=True)
        table.add_column("outcome", no_wrap=True)
        table.add_column("stage", no_wrap=True)
        for row in summary.heaviest:
            colours = f" {row['n_colours']}c" if row["n_colours"] > 2 else ""
            outcome = Text(printable(row["outcome"]), STYLES.get(row["outcome"], ""))
            size = f"{row['width']}x{row['height']}{colours}" if row["width"] else ""
            table.add_row(
                duration(row["work_s"]), Text(printable(title_of(row))), size, outcome, Text(printable(row["stage"]))
            )
        console.print(table)
        console.print()
    for line in _notes(summary, sessions):
        console.print(Text(f"  {printable(line)}"), soft_wrap=True)
    console.print(Text(f"  results      {printable(str(out / 'rows'))}/*.parquet"), soft_wrap=True)


def _outcome_table(summary: Summary) -> Any:
    """Outcomes down, stages across, only those that occur."""
    from rich.table import Table
    from rich.text import Text

    stages = [s for s in (*STAGES, "") if any(stage == s for _, stage in summary.decided)]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("  outcome")
    table.add_column(f"{summary.noun}s", justify="right")
    table.add_column("", justify="right")
    for stage in stages:
        table.add_column(Text(printable(stage) or "-"), justify="right")
    for outcome, n in summary.outcomes().items():
        cells = (summary.decided[outcome, stage] for stage in stages)
        table.add_row(
            Text(f"  {outcome}", STYLES.get(outcome, "")),
            f"{n:,}",
            _percent(n, summary.n_rows),
            *(f"{n:,}" if n else "" for n in cells),
        )
    return table


def _percent(n: int, of: int) -> str:
    if n == of:
        return "100 %"
    percent = 100 * n / of
    return "< 0.1 %" if percent < 0.1 else f"{min(percent, 99.9):.1f} %"


def _notes(summary: Summary, sessions: list[dict[str, Any]]) -> list[str]:
    """Lines on the engine, on what was skipped, and on warnings."""
    lines = []
    if sessions:
        last = sessions[-1]
        workers = _plural(last.get("workers", 1), "worker")
        lines.append(f"engine       {last.get('engine', '')}, {workers}: {last.get('why', '')}")
    skipped = [text for session in sessions for text in session.get("skipped", [])]
    if skipped:
        n_skipped = sum(session.get("n_skipped", 0) for session in sessions)
        lines.append(f"skipped      {_plural(n_skipped, 'file')}:")
        lines += [f"             {text}" for text in skipped[:5]]
        lines += [f"             and {n_skipped - 5:,} more"] if n_skipped > 5 else []
    if summary.n_warnings:
        lines.append(f"warnings     {_plural(summary.n_warnings, summary.noun)}: see the column `warnings`")
    invalid = summary.outcomes().get("invalid", 0)
    if invalid:
        lines.append(f"invalid      {_plural(invalid, summary.noun)}:")
    if summary.errors:
        lines += [
            f"             {message if message.startswith(source) else f'{source} #{index}: {message}'}"
            for source, index, message in summary.errors
        ]
        if summary.n_errors > len(summary.errors):
            lines.append(f"             and {summary.n_errors - len(summary.errors):,} more in the column `error`")
    if len(sessions) > 1:
        lines.append(f"resumed      {_plural(len(sessions) - 1, 'time')}")
    return lines


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")
