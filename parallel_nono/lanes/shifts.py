"""What the workers of lines mode did when, for the timeline of a run: told by the logs of the phases, not by them.

Every job leaves a row in the log of its phase anyhow (kernels.lanes.Lanes.log), of actors too, as they share the
memory and the clock. So a timeline costs whoever solves lines nothing. A log comes when its phase is over, and other
puzzles have phases meanwhile; what was between two jobs of a worker is known once no earlier job can come.
"""

from __future__ import annotations

import platform
import time
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.lanes import MERGE, SOLVE
from ..spans import Span

if TYPE_CHECKING:
    from ..engine.timeline import Timeline
    from .rounds import Phase

JOBS = {SOLVE: "lines", MERGE: "merge"}
"""What the spans of jobs are called."""

PAUSE_NS = 100_000
"""Jobs of one sort of a worker that follow each other sooner are one span."""

WORKER, FROM, TO, CPU, WHAT = range(5)


class Shifts:
    """The spans of `n_workers` workers of this node, and of the coordinator, which does small phases by itself."""

    def __init__(self, timeline: Timeline, n_workers: int) -> None:
        self._timeline, self._n_workers = timeline, n_workers
        self._host = platform.node()
        began = time.monotonic_ns()
        self._offset = time.time() - began * 1e-9
        self._untold = np.empty((0, 5), np.int64)
        self._logs: list[np.ndarray] = []
        self._free = [began] * n_workers

    def note(self, phase: Phase) -> None:
        """A phase that is over."""
        self._logs.append(np.column_stack((phase.jobs, np.full(len(phase.jobs), phase.what))))

    def tell(self, until: int, last: bool = False) -> None:
        """Write down what began before `until` (monotonic nanoseconds): no log that is still to come has such a job.

        last  those who have no job then wait until then.
        """
        jobs = np.concatenate([self._untold, *self._logs])
        self._logs.clear()
        ready = jobs[:, FROM] < until
        self._untold, jobs = jobs[~ready], jobs[ready]
        for worker in range(self._n_workers + 1):
            mine = jobs[jobs[:, WORKER] == worker]
            spans = self._spans(worker, mine[np.argsort(mine[:, FROM])])
            if last and worker < self._n_workers and self._free[worker] < until:
                spans.append(self._span("wait", self._free[worker], until))
            name = f"lines {worker}" if worker < self._n_workers else "coordinator"
            if spans:
                self._timeline.add(self._host, name, spans)

    def _spans(self, worker: int, jobs: np.ndarray) -> list[Span]:
        """These jobs, those close together as one, and what is between them; the coordinator does not wait."""
        if not len(jobs):
            return []
        apart = (jobs[1:, FROM] - jobs[:-1, TO] >= PAUSE_NS) | (jobs[1:, WHAT] != jobs[:-1, WHAT])
        firsts = np.concatenate([[0], np.flatnonzero(apart) + 1])
        lasts = np.concatenate([firsts[1:], [len(jobs)]]) - 1
        columns = jobs[firsts, WHAT], jobs[firsts, FROM], jobs[lasts, TO], np.add.reduceat(jobs[:, CPU], firsts)
        spans = []
        for what, began, ended, cpu in zip(*(column.tolist() for column in columns), strict=True):
            if worker < self._n_workers:
                spans.append(self._span("wait", self._free[worker], began))
                self._free[worker] = ended
            spans.append(self._span(JOBS[what], began, ended, cpu))
        return spans

    def _span(self, name: str, began: int, ended: int, cpu: int = 0) -> Span:
        return Span(name, self._offset + began * 1e-9, max(0, ended - began) * 1e-9, cpu * 1e-9, 0)
