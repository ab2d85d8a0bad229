"""How far a run is, on standard error: a bar in a terminal, else a plain line now and then, or nothing.

With `--live` also what each worker is doing: as a table, or as more plain lines.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from ..files import packing
from ..kernels.native import compiling
from ..pictures.door import console as opened
from ..pictures.door import printable, say
from .live import Rate, Seen
from .summary import STYLES, Summary
from .wording import duration

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from ..engine.status import WorkerStatus

LINE_S = 5.0
"""Seconds between plain lines."""

DRAWN_S, STILL_S = 0.2, 1.0
"""Seconds from one picture in the terminal to the next: while rows come, and while nothing but the clock moves."""

MAX_LINES = 16
"""Workers told of in plain lines at a time."""

AROUND = 6
"""Lines of a terminal that the table of workers leaves to others."""


class Progress:
    """A context to call `show` in, as often as you like."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._began = self._said = monotonic()
        self._drawn, self._n_drawn = 0.0, -1
        self._live: Any = None
        self._rate = Rate()
        self._left: tuple[float, float] | None = None
        self._summary = Summary()
        self._seen: Sequence[Seen] = ()
        self._reading = ""

    def __enter__(self) -> Self:
        if not self._quiet:
            packing.Share.told = self._read
        if not self._quiet and sys.stderr.isatty():
            from rich.live import Live

            console = opened(sys.stderr)
            self._live = Live(
                get_renderable=self._screen,
                console=console,
                transient=True,
                refresh_per_second=1 / STILL_S,
                redirect_stdout=False,
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        packing.Share.told = None
        if self._live is not None:
            self._live.stop()

    def _read(self, name: str, n_bytes: int, seconds: float) -> None:
        """A file takes long to read; meanwhile there may be no rows."""
        self._reading = printable(f"reading {name}: {n_bytes >> 20:,} MiB in {seconds:.0f} s")
        if self._live is None:
            self._said = monotonic()
            say(f"pnono: {self._reading}", file=sys.stderr, flush=True)

    def show(self, summary: Summary, left: tuple[float, float] | None, seen: Sequence[Seen] = ()) -> None:
        """left: about how many puzzles and how many wall seconds are still to do; None where nobody knows."""
        self._summary, self._left, self._seen, self._reading = summary, left, seen, ""
        now = monotonic()
        self._rate.add(now, summary.n_rows)
        if self._live is not None and summary.n_rows != self._n_drawn and now - self._drawn >= DRAWN_S:
            self._drawn, self._n_drawn = now, summary.n_rows
            self._live.refresh()
        if not self._quiet and self._live is None and now - self._said >= LINE_S:
            self._said = now
            say(f"pnono: {self._line()}", *self._lines(), file=sys.stderr, flush=True)

    def _line(self) -> str:
        if now := compiling():
            return f"{self._summary.n_rows:,} {self._summary.noun}s; {now}"
        outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in self._summary.outcomes().items())
        left = f"; about {duration(self._left[1])} left" if self._left else ""
        if not outcomes:
            return f"no {self._summary.noun} is finished after {duration(monotonic() - self._began)}"
        rate = self._rate.at(monotonic(), self._summary.n_rows)
        return f"{self._summary.n_rows:,} {self._summary.noun}s ({outcomes}), {rate:,.0f}/s{left}"

    def _lines(self) -> list[str]:
        """What the workers are at, those first that have been at it longest."""
        lines = [
            f"  {status.worker}: {_at(status)}; {status.done:,} done, {rate:,.0f}/s"
            for status, rate in self._longest(MAX_LINES)
        ]
        rest = len(self._seen) - len(lines)
        return lines + ([f"  and {rest:,} more workers"] if rest else [])

    def _longest(self, most: int) -> Sequence[Seen]:
        """In their order, but if they are too many, those that have been at one thing longest."""
        if len(self._seen) <= most:
            return self._seen
        return sorted(self._seen, key=lambda seen: -(seen.status.seconds or 0.0))[:most]

    def _screen(self) -> Group:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        done = self._summary.n_rows
        known = self._left is not None
        total = done + self._left[0] if self._left else None
        percent = f"{100 * done / total:3.0f} %" if total else "     "
        left = f"{duration(self._left[1])} left" if self._left else f"{duration(monotonic() - self._began)}"
        rate = f"{self._rate.at(monotonic(), done):,.0f}/s"
        if now := compiling():
            rate = left = ""  # whatever could be said of them would be wrong
        line = Table.grid(padding=(0, 2, 0, 0), expand=False)
        line.add_row(
            ProgressBar(total=total if known else None, completed=done, width=28, pulse=not known),
            Text(percent),
            Text(f"{done:,} {self._summary.noun}s"),
            Text(rate),
            Text(left, "dim"),
        )
        outcomes = Text()
        for outcome, n in self._summary.outcomes().items():
            outcomes.append(f"{n:,} {outcome}   ", STYLES.get(outcome, ""))
        more: list[Text | Table] = [Text(what, "dim") for what in (now, self._reading) if what]
        more += [self._workers()] if self._seen else []
        return Group(line, outcomes, *more)

    def _workers(self) -> Table:
        """The table of workers, as many as fit."""
        from rich.table import Table
        from rich.text import Text

        room = max(1, self._live.console.height - AROUND)
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("worker", "at", "size"):
            table.add_column(heading, no_wrap=True, overflow="ellipsis", ratio=1 if heading == "at" else None)
        for heading in ("since", "done", "a second"):
            table.add_column(heading, justify="right", no_wrap=True)
        found = self._longest(room)
        for status, rate in found:
            since = "" if status.seconds is None else duration(status.seconds)
            what = Text(printable(status.what)) if status.what else Text("waits", "dim")
            table.add_row(Text(status.worker), what, status.size, since, f"{status.done:,}", f"{rate:,.0f}")
        if len(found) < len(self._seen):
            table.add_row("", Text(f"and {len(self._seen) - len(found):,} more workers", "dim"))
        return table


def _at(status: WorkerStatus) -> str:
    """What a worker is at, in words."""
    if status.seconds is None:
        return "waits"
    return f"{status.what}, {status.size + ', ' if status.size else ''}for {duration(status.seconds)}"
