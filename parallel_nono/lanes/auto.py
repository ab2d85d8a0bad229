"""Which puzzles of a run are worth lines mode; light, as every run asks."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from ..attempt import Limits
    from ..engine.timeline import Timeline
    from ..engine.work import Work
    from ..kernels.clues import Clues
    from ..solver.pipeline import Lines
    from ..solver.results import Propagated
    from .coordinator import Coordinator

BREAK_EVEN_CELLS = 2_000_000
"""Puzzles of fewer cells are quicker on one thread (scripts/bench/README.md)."""


class WhenWorthIt:
    """Lines mode for the puzzles of a run that are large enough; its threads start with the first of them.

    Where a run moves on to other processes it stays behind: there puzzles are solved as always.
    """

    def __init__(self, n_workers: int, least: int = BREAK_EVEN_CELLS, timeline: Timeline | None = None) -> None:
        self._n_workers, self._least, self._timeline = n_workers, least, timeline
        self._process = os.getpid()
        self._lanes: Coordinator | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return _nobody, ()

    def takes(self, height: int, width: int) -> bool:
        """True for the puzzles that are worth it."""
        return self._n_workers > 1 and height * width >= self._least

    def propagate(self, clues: Clues, place: int, scratch: int, limits: Limits, stop: np.ndarray) -> Propagated:
        """See `pipeline.Lines`."""
        with self._lock:
            if self._lanes is None:
                from .coordinator import Coordinator
                from .ready import compile_all
                from .shifts import Shifts
                from .team import Threads

                compile_all()  # before any puzzle's time begins
                shifts = None if self._timeline is None else Shifts(self._timeline, self._n_workers)
                self._lanes = Coordinator(Threads(self._n_workers), shifts=shifts)
        return self._lanes.propagate(clues, place, scratch, limits, stop)

    def close(self, seconds: float) -> bool:
        """End the threads, if there are any; True if they ended in time."""
        return self._lanes is None or self._lanes.close(seconds)


def _nobody() -> None:
    """Who propagates lines in other processes."""


def with_lines(work: Work, lines: Lines, alone: bool = False) -> Work:
    """The same work, the stage `line` done by somebody else. alone: see `Kind`."""
    solve: Any = work.kind.solve  # nonograms' takes `lines`
    return replace(work, kind=replace(work.kind, solve=partial(solve, lines=lines), alone=alone))
