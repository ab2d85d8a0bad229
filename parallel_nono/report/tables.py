"""A report as tables of plain values, and those tables as text, Markdown and CSV; the page shows the same ones."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..attempt import STAGES
from ..pictures.door import printable
from .query import WHERE_TIME_GOES, Report
from .wording import duration, title_of

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Column:
    """kind: a key of `SHOWN`; share is from 0 to 1; of a path that is too long the end is shown."""

    name: str
    kind: str = "text"

    @property
    def right(self) -> bool:
        return self.kind not in ("text", "path")

    def show(self, value: Any) -> str:
        """A value as people read it."""
        return "" if value is None else SHOWN[self.kind](value)


SHOWN: dict[str, Callable[[Any], str]] = {
    "text": str,
    "path": str,
    "count": lambda value: f"{value:,}",
    "seconds": duration,
    "share": lambda value: f"{100 * value:.1f} %",
    "points": lambda value: f"{value:.1f}",
    "ratio": lambda value: f"{value:.3g}" if value < 999.5 else f"{float(f'{value:.3g}'):,.0f}",
    "correlation": lambda value: f"{value:.2f}",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of plain values, as many in each as there are columns.

    n_rows  how many there are in all, where `rows` are only the first of them; 0: these are all.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Any, ...]]
    note: str = ""
    n_rows: int = 0

    def more(self, n_shown: int | None = None) -> str:
        """`and 5 more`, where n_shown rows (None: all of `rows`) are not all; else ""."""
        left = max(self.n_rows, len(self.rows)) - (len(self.rows) if n_shown is None else n_shown)
        return f"and {left:,} more" if left > 0 else ""


def columns(*words: str) -> tuple[Column, ...]:
    """`name` for a column of text, `name:kind` for another."""
    return tuple(Column(name, kind or "text") for name, _, kind in (word.partition(":") for word in words))


def picked(rows: Iterable[dict[str, Any]], keys: str) -> list[tuple[Any, ...]]:
    """These values of every row."""
    return [tuple(row[key] for key in keys.split()) for row in rows]


TIMES = tuple(
    f"{name}:seconds" for name in ("average", "median", "90th percentile", "99th percentile", "maximum", "sum")
)
TIME_KEYS = "average_s median_s p90_s p99_s max_s sum_s"
SPENT = dict(zip(WHERE_TIME_GOES, ("reading", "packing", *STAGES[1:5], "checking"), strict=True))


def tables(report: Report) -> list[Table]:
    """Everything in a report, in the order in which people ask."""
    times = picked([report.times], f"n {TIME_KEYS}") if report.times["n"] else []
    found = [
        _outcomes(report),
        Table("times", "Time to solve", columns(f"{report.noun}s:count", *TIMES), times),
        _spent(report),
        _heaviest(report),
        *(_group(report, key, rows) for key, rows in report.groups.items()),
        _ratings(report),
        _workers(report),
        _failures(report),
        _facts(report),
    ]
    return [table for table in found if table.rows]


def _outcomes(report: Report) -> Table:
    """Outcomes down, stages across, those that occur."""
    n = {(row["outcome"], row["stage"]): row["n"] for row in report.decided}
    stages = [stage for stage in (*STAGES, "") if any(s == stage for _, s in n)]
    rows = []
    for outcome in dict.fromkeys(row["outcome"] for row in report.decided):
        sum_of = sum(count for (o, _), count in n.items() if o == outcome)
        rows.append((outcome, sum_of, sum_of / report.n_rows, *(n.get((outcome, stage)) for stage in stages)))
    heads = columns("outcome", f"{report.noun}s:count", "share:share", *(f"{stage or '-'}:count" for stage in stages))
    return Table("outcomes", "Outcomes by stage", heads, rows)


def _spent(report: Report) -> Table:
    total = sum(report.spent.values())
    rows = [(SPENT[name], seconds, seconds / total) for name, seconds in report.spent.items() if seconds]
    return Table("spent", "Where the time went", columns("on", "sum:seconds", "share:share"), rows)


def _heaviest(report: Report) -> Table:
    heads = columns("work:seconds", report.noun, "size", "colours:count", "outcome", "stage", "rating:points")
    rows = [
        {**row, "title": title_of(row), "size": f"{row['width']}x{row['height']}" if row["width"] else ""}
        for row in report.heaviest
    ]
    return Table(
        "heaviest", "Heaviest", heads, picked(rows, "work_s title size n_colours outcome stage rating"), WORK_NOTE
    )


WORK_NOTE = "time with a core, and in the SAT solver"


def _group(report: Report, key: str, groups: list[dict[str, Any]]) -> Table:
    kind = "path" if key in ("folder", "file") else "text"
    heads = columns(f"{key}:{kind}", f"{report.noun}s:count", "unique:share", *TIMES[1:])
    rows = picked(
        ({**row, "unique": row["n_unique"] / row["n"]} for row in groups),
        "key n unique median_s p90_s p99_s max_s sum_s",
    )
    note = "by the longer side" if key == "size" else "with the background" if key == "colours" else ""
    return Table(f"by-{key}", f"By {key}", heads, rows, note)


def _ratings(report: Report) -> Table:
    total = sum(row["n"] for row in report.ratings)
    rows = [(_band(r["rating"]), r["technique"], r["n"], r["n"] / total) for r in report.ratings]
    heads = columns("rating", "technique", f"{report.noun}s:count", "share:share")
    return Table("ratings", "Difficulty", heads, rows, "1 to 10; from counts alone, the same on every machine")


def _band(points: int) -> str:
    """`4.0 to 4.9`."""
    return f"{points}.0 to {points}.9" if points < 9 else "9.0 to 10.0"


def _workers(report: Report) -> Table:
    heads = columns("host", "worker", f"{report.noun}s:count", "solving:seconds", "reading and checking:seconds")
    heads += columns("from:seconds", "to:seconds", "busy:share")
    rows = [{**w, "busy": min(1.0, w["solve_s"] / max(w["last_s"] - w["first_s"], 1e-9))} for w in report.workers]
    values = picked(rows, "host worker n solve_s other_s first_s last_s busy")
    return Table("workers", "Workers", heads, values, "seconds since the first puzzle")


def _failures(report: Report) -> Table:
    heads = columns("outcome", "source:path", "index:count", "message")
    rows = picked(report.failures, "outcome source index error")
    return Table("failures", "Failures", heads, rows, n_rows=report.n_failures)


def _facts(report: Report) -> Table:
    """What is worth knowing about the run, the machine and the versions, one a row."""
    facts, options = report.facts, report.facts.get("options", {})
    plan = options.get("plan")
    last = report.sessions[-1] if report.sessions else {}
    memory = facts.get("memory_mib")
    rows = {
        "run": facts.get("run"),
        "started": facts.get("started"),
        "wall time": duration(report.seconds),
        "resumed": len(report.sessions) - 1 if len(report.sessions) > 1 else None,
        "engine": f"{last.get('engine', '')}, workers: {last.get('workers', '')}; {last.get('why', '')}"
        if last
        else None,
        "mode": last.get("mode"),
        "order": last.get("order"),
        "device": last.get("device"),
        "inputs": " ".join(map(str, options.get("inputs", ()))),
        "stages": ", ".join(plan["stages"]) if isinstance(plan, dict) and "stages" in plan else None,
        "time for one": duration(options["seconds"]) if "seconds" in options else None,
        "CPU time for one": duration(options["cpu_seconds"]) if "cpu_seconds" in options else None,
        "solutions asked": options.get("solutions"),
        "counted up to": options.get("count"),
        "solved each": f"{options['repeat']} times" if "repeat" in options else None,
        "skipped files": sum(start.get("n_skipped", 0) for start in report.sessions) or None,
        "warnings": report.n_warnings or None,
        "host": facts.get("host"),
        "processor": facts.get("cpu"),
        "cores": facts.get("cores_usable"),
        "memory": f"{memory / 1024:,.1f} GiB" if memory else None,
        "system": facts.get("system"),
        "versions": ", ".join(f"{name} {version}" for name, version in facts.get("versions", {}).items()),
        "commit": facts.get("commit"),
    }
    return Table("facts", "The run", columns("fact", "value"), [(k, v) for k, v in rows.items() if v])


IN_SUMMARY = {"outcomes", "heaviest", "failures", "facts"}
"""What the summary of a run shows anyhow, or what is no news in a terminal."""


def print_tables(console: Console, found: Iterable[Table]) -> None:
    """Tables for a terminal; 80 columns suffice."""
    from rich.padding import Padding
    from rich.table import Table as Drawn
    from rich.text import Text

    for table in found:
        console.print(Text(f"\n  {table.title}", "bold"))
        if table.note:
            console.print(Text(f"  {table.note}", "dim"))
        drawn = Drawn(box=None, padding=(0, 2, 0, 0), header_style="dim")
        heads, rows = _fitted(table, console.width - 2)
        for column, head in zip(table.columns, heads, strict=True):
            drawn.add_column(head, justify="right" if column.right else "left", no_wrap=True)
        for row in rows[:MAX_LINES]:
            drawn.add_row(*map(Text, row))
        console.print(Padding(drawn, (0, 0, 0, 2)))
        if more := table.more(min(len(rows), MAX_LINES)):
            console.print(Text(f"  {more}", "dim"))


def _fitted(table: Table, width: int) -> tuple[list[str], list[list[str]]]:
    """Headings and cells as text; if they need more than `width` characters, the longest texts are cropped."""
    heads = [SHORT.get(column.name, column.name) for column in table.columns]
    rows = [[printable(c.show(value)) for c, value in zip(table.columns, row, strict=True)] for row in table.rows]
    widths = [max(map(len, cells)) + 2 for cells in zip(heads, *rows, strict=True)]
    texts = [place for place, column in enumerate(table.columns) if not column.right and widths[place] > MIN_TEXT + 2]
    while texts and sum(widths) > width:
        widest = max(texts, key=lambda place: widths[place])
        widths[widest] -= 1
        texts = [place for place in texts if widths[place] > MIN_TEXT + 2]
    for row in rows:
        for place, column in enumerate(table.columns):
            room = widths[place] - 2
            if len(row[place]) > room:
                row[place] = "…" + row[place][1 - room :] if column.kind == "path" else row[place][: room - 1] + "…"
    return heads, rows


MAX_LINES = 60
"""Rows of a table in a terminal."""

MIN_TEXT = 12
"""Characters of a text that are never cropped."""

SHORT = {"90th percentile": "90 %", "99th percentile": "99 %", "maximum": "max", "reading and checking": "reading"}


def as_markdown(title: str, found: Iterable[Table]) -> str:
    """A heading and a table of pipes for each."""
    lines = [f"# {_cell(title)}", ""]
    for table in found:
        lines += [f"## {_cell(table.title)}", ""]
        lines += [_cell(table.note), ""] if table.note else []
        lines.append("| " + " | ".join(_cell(column.name) for column in table.columns) + " |")
        lines.append("|" + "|".join("--:" if column.right else "---" for column in table.columns) + "|")
        for row in table.rows:
            cells = (column.show(value) for column, value in zip(table.columns, row, strict=True))
            lines.append("| " + " | ".join(map(_cell, cells)) + " |")
        lines += ["", table.more(), ""] if table.more() else [""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text that Markdown shows as it is: marks escaped, HTML too, on one line."""
    text = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]|<>&#~])", r"\\\1", text)


def as_csv(found: Iterable[Table]) -> str:
    """A line a value: `table,row,column,value`; seconds as seconds, shares from 0 to 1."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("table", "row", "column", "value"))
    for table in found:
        for number, row in enumerate(table.rows, start=1):
            writer.writerows(
                (table.key, number, column.name, value)
                for column, value in zip(table.columns, row, strict=True)
                if value is not None
            )
    return file.getvalue()
