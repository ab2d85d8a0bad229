"""How far a run is, on standard error: a bar in a terminal, else a plain line now and then, or nothing."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from .summary import STYLES, Summary, duration

if TYPE_CHECKING:
    from rich.console import Group

LINE_S = 5.0
"""Seconds between plain lines."""

RATE_S = 10.0
"""The rate shown is that of about so many last seconds."""


class Progress:
    """A context to call `show` in, as often as you like."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._began = self._said = monotonic()
        self._live: Any = None
        self._marks: list[tuple[float, int]] = []
        self._first_rows: int | None = None
        self._left: tuple[float, float] | None = None
        self._summary = Summary()

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False)
            self._live = Live(
                get_renderable=self._screen,
                console=console,
                transient=True,
                refresh_per_second=5,
                redirect_stdout=False,
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, summary: Summary, left: tuple[float, float] | None) -> None:
        """left: about how many puzzles and how many wall seconds are still to do; None where nobody knows."""
        self._summary, self._left = summary, left
        now = monotonic()
        if self._first_rows is None:
            self._first_rows = summary.n_rows
        if not self._marks or now - self._marks[-1][0] >= 0.5:
            self._marks.append((now, summary.n_rows))
            while len(self._marks) > 2 and now - self._marks[0][0] > RATE_S:
                self._marks.pop(0)
        if not self._quiet and self._live is None and now - self._said >= LINE_S:
            self._said = now
            print(f"pnono: {self._line()}", file=sys.stderr, flush=True)

    def _rate(self) -> float:
        if not self._marks:
            return 0.0
        since, rows = self._marks[0]
        return (self._summary.n_rows - rows) / max(monotonic() - since, 1e-3) if len(self._marks) > 1 else 0.0

    def _line(self) -> str:
        outcomes = ", ".join(f"{n:,} {outcome}" for outcome, n in self._summary.outcomes().items())
        left = f"; about {duration(self._left[1])} left" if self._left else ""
        if not outcomes:
            return f"no {self._summary.noun} is finished after {duration(monotonic() - self._began)}"
        return f"{self._summary.n_rows:,} {self._summary.noun}s ({outcomes}), {self._rate():,.0f}/s{left}"

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
        line = Table.grid(padding=(0, 2, 0, 0), expand=False)
        line.add_row(
            ProgressBar(total=total if known else None, completed=done, width=28, pulse=not known),
            Text(percent),
            Text(f"{done:,} {self._summary.noun}s"),
            Text(f"{self._rate():,.0f}/s"),
            Text(left, "dim"),
        )
        outcomes = Text()
        for outcome, n in self._summary.outcomes().items():
            outcomes.append(f"{n:,} {outcome}   ", STYLES.get(outcome, ""))
        return Group(line, outcomes)
