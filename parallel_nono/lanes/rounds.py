"""One puzzle in lines mode on one node: cut a phase into jobs, hand them out, see when they are done.

A phase is a list of jobs that the workers of the arena pull (see kernels.lanes): waiting lines to solve, or tiles to
merge in which lines lost something. Grid, rounds and visits depend on the puzzle alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..kernels.lanes import (
    BUSY,
    DEAD_LINE,
    HALT,
    KNOWN_LINE,
    MAX_JOBS,
    MERGE,
    NOTHING,
    SOLVE,
    apply_words,
    begin,
    changed_words,
    count_marks,
    jobs_done,
    plan_lines,
    publish,
    publish_again,
    withdraw,
)
from ..kernels.layout import filled_cells
from .arena import Arena, WorkArrays

SHARE = 8
"""Jobs of a phase for each worker, so that they end together though no job is as long as was thought."""

MIN_JOB_NS, MAX_JOB_NS = 50_000.0, 20_000_000.0
INLINE_NS = 200_000.0
"""A phase of less work is done by whoever hands it out: the others would hear of it too late."""

TILE_NS = 150.0
"""About what merging a tile takes with two colours, at first; then what was measured."""

FORGET = 0.5

NAP_S, MAX_NAP_S = 50e-6, 2e-3


class Delta(NamedTuple):
    """Words of planes that changed: their places, ascending, and what they are now."""

    places: np.ndarray
    words: np.ndarray

    @property
    def n_bytes(self) -> int:
        return int(self.places.nbytes + self.words.nbytes)


@dataclass
class Spent:
    """Where the time of a puzzle went, in nanoseconds: CPU of all workers in jobs, and the clock from phase to phase.

    solve, merge          CPU, in jobs.  busy  the clock, in jobs, all workers together.
    solving, merging      from handing out to the last one done.
    setup                  from the arrival of the puzzle to the first phase.
    between                none of these: planning, and waiting for each other.
    jobs, tiles, bytes     how many; bytes to and from other nodes.
    """

    lines: int = 0
    merge: int = 0
    busy: int = 0
    solving: int = 0
    merging: int = 0
    setup: int = 0
    between: int = 0
    jobs: int = 0
    tiles: int = 0
    bytes: int = 0


@dataclass
class Phase:
    """One phase that is over: what, of which round, the jobs as in kernels.lanes.Lanes.log."""

    puzzle: int
    n_round: int
    what: int
    jobs: np.ndarray


class Rounds:
    """The phases of one puzzle on this node.

    arrays    the work arrays of whoever hands out, for small phases.
    note      is called with every phase that is over.
    """

    def __init__(
        self, arena: Arena, arrays: WorkArrays, number: int = 0, note: Callable[[Phase], None] | None = None
    ) -> None:
        self.arena, self.arrays, self.number = arena, arrays, number
        self.spent = Spent()
        self._note_phase = note
        self.n_round = 0
        self.n_jobs = 0
        self.what = NOTHING
        self._lanes = arena.lanes
        self._weights = weights_of(arena)
        self._rate, self._tile_ns = 1.0, TILE_NS * arena.shape.planes / 2
        self._weight = 0.0
        self._small = False
        self._n_tiles = 0
        self._before: np.ndarray | None = None
        self._has_lost = self._is_withdrawn = False
        self._ends = 0.0
        self._published = 0

    @property
    def n_workers(self) -> int:
        """Without whoever hands out."""
        return self.arena.shape.n_workers - 1

    def begin(self) -> None:
        """Everything is possible, every line waits."""
        begin(self.arena.clues, self._lanes)

    def plan(self, first: int, last: int, every: bool) -> int:
        """Cut the next phase into jobs: of lines first to last - 1 those that wait, or `every` one that is not known.

        Returns  how many lines there are.
        """
        expected = self._weight if self.n_round else float(self._weights.sum())
        n, jobs, weight = plan_lines(first, last, self._weights, self._lanes, int(every), self._target(expected))
        self.n_jobs, self._weight = int(jobs), float(weight)
        self._small = self._weight * self._rate < INLINE_NS
        return int(n)

    def is_known(self) -> bool:
        """Every line was solved with all its cells known."""
        return bool((self._lanes.states == KNOWN_LINE).all())

    def _target(self, weight: float) -> float:
        """The weight that a job of a phase of this weight should have."""
        wish = weight * self._rate / (SHARE * max(self.n_workers, 1))
        return min(max(wish, MIN_JOB_NS), MAX_JOB_NS) / self._rate

    def lines(self, n: int) -> np.ndarray:
        """The n lines of this round, a copy."""
        return self._lanes.jobs[:n].copy()

    def take(self, lines: np.ndarray) -> None:
        """Solve these lines in this round, instead of what `plan` found."""
        lanes = self._lanes
        lanes.jobs[: len(lines)] = lines
        weights = self._weights[lines]
        self._weight = float(weights.sum())
        target = max(self._target(self._weight), self._weight / (MAX_JOBS - 2))
        job = np.minimum((np.cumsum(weights, dtype=np.float64) - weights) // target, MAX_JOBS - 1)
        starts = np.flatnonzero(np.diff(job, prepend=-1.0))
        self.n_jobs = len(starts)
        lanes.bounds[: self.n_jobs] = starts
        lanes.bounds[self.n_jobs] = len(lines)
        self._small = self._weight * self._rate < INLINE_NS

    def solve_lines(self) -> None:
        """Hand out the jobs of this round."""
        self._publish(SOLVE, self._weight * self._rate)

    def _publish(self, what: int, expected_ns: float) -> None:
        self.what, self._published = what, time.monotonic_ns()
        publish(self._lanes, what, self.n_jobs)
        self._ends = time.monotonic() + expected_ns * 1e-9 / max(self.n_workers, 1)

    def merge(self) -> bool:
        """Hand out the marked tiles; False if there is none, so that this round changed nothing."""
        self._n_tiles = int(count_marks(self._lanes))
        if not self._n_tiles:
            return False
        self.n_jobs = self.arena.shape.merge_jobs
        self._small = self._n_tiles * self._tile_ns < INLINE_NS
        self._publish(MERGE, self._n_tiles * self._tile_ns)
        self.spent.tiles += self._n_tiles
        return True

    def done(self) -> bool:
        """True when all jobs are done; the times of the phase are then noted. Lost jobs are handed out again."""
        if self._has_lost:
            self._recover()
        if self._small:
            self.arrays.serve(MAX_JOBS)
        # NumPy's look is the cheaper one; the kernel's orders what follows behind it.
        if not self._lanes.done[: self.n_jobs].all() or jobs_done(self._lanes, self.n_jobs) < self.n_jobs:
            return False
        self._note()
        return True

    def noted_until(self) -> int:
        """No job that is still to be noted began earlier, by `time.monotonic_ns()`."""
        return time.monotonic_ns() if self.what == NOTHING else self._published

    def nap(self) -> float:
        """Seconds after which it is worth to look again: a part of what the phase should still take."""
        left = self._ends - time.monotonic()
        return min(max(left / 8, NAP_S), MAX_NAP_S)

    def bury(self, worker: int) -> None:
        """This worker is dead, whatever it was at."""
        self._lanes.control[BUSY + 8 * worker] = 0
        self._has_lost = True

    def _recover(self) -> None:
        """Take back what is not handed out, wait for those who have a job, then hand out what is not done."""
        if self.what == NOTHING:
            self._has_lost = False
        elif not self._is_withdrawn:
            withdraw(self._lanes, self.n_jobs)
            self._is_withdrawn = True
        elif not self.busy():
            self._has_lost = self._is_withdrawn = False
            publish_again(self._lanes, self.n_jobs)

    def _note(self) -> None:
        log = self._lanes.log[: self.n_jobs]
        cpu = int(log[:, 3].sum())
        self.spent.jobs += self.n_jobs
        self.spent.busy += int((log[:, 2] - log[:, 1]).sum())
        if self.what == SOLVE:
            self.spent.lines += cpu
            if self._weight:
                rate = max(cpu / self._weight, 1e-3)
                self._rate += (rate - self._rate) * (FORGET if self.n_round > 1 else 1.0)
        else:
            self.spent.merge += cpu
            self._tile_ns += (cpu / self._n_tiles - self._tile_ns) * FORGET
        if self._note_phase is not None:
            self._note_phase(Phase(self.number, self.n_round, self.what, log.copy()))
        self.what = NOTHING
        self._is_withdrawn = False

    def halt(self) -> None:
        """What is not begun is left undone."""
        self._lanes.control[HALT] = 1

    def busy(self) -> list[int]:
        """The workers that have a job, or may be taking one."""
        return [n for n in range(self.n_workers) if self._lanes.control[BUSY + 8 * n]]

    def dead_among(self, lines: np.ndarray) -> int:
        """The place, among these lines, of the first one without an arrangement; or -1."""
        dead = np.flatnonzero(self._lanes.states[lines] == DEAD_LINE)
        return int(dead[0]) if len(dead) else -1

    def dead_cell(self) -> int:
        """The first cell (row * width + column) that no colour is left to, after a merge; or -1."""
        found = self._lanes.found[: self.arena.shape.merge_jobs]
        found = found[found >= 0]
        return int(found.min()) if len(found) else -1

    # What other nodes need.

    def follow(self) -> None:
        """From here on remember the planes as they were after the last merge, so that changes can be told."""
        self._before = self._lanes.planes.copy()

    def changes(self, lines: np.ndarray) -> tuple[Delta, np.ndarray]:
        """What these lines lost in this round, and their states."""
        lanes, shape = self._lanes, self.arena.shape
        assert self._before is not None
        size = shape.height, shape.width, shape.planes
        n = int(changed_words(*size, lines, lanes.planes, self._before, _NOWHERE, _NONE))
        places, words = np.empty(n, np.uint32), np.empty(n, np.uint64)
        changed_words(*size, lines, lanes.planes, self._before, places, words)
        return Delta(places, words), lanes.states[lines]

    def shares(self, lines: np.ndarray, workers: list[int]) -> list[np.ndarray]:
        """These lines cut into runs of weights as `workers` are."""
        weights = np.cumsum(self._weights[lines], dtype=np.float64)
        cuts = np.cumsum(workers)[:-1] / sum(workers) * (weights[-1] if len(lines) else 0.0)
        return np.split(lines, np.searchsorted(weights, cuts))

    def apply(self, delta: Delta, states: np.ndarray, lines: np.ndarray) -> None:
        """What another node solved in this round."""
        shape, lanes = self.arena.shape, self._lanes
        apply_words(shape.height, shape.width, shape.planes, lanes, delta.places, delta.words)
        lanes.states[lines], lanes.waiting[lines] = states, 0
        self.spent.bytes += delta.n_bytes + lines.nbytes + states.nbytes

    def merged(self) -> None:
        """All nodes hold the same planes now."""
        if self._before is not None:
            np.copyto(self._before, self._lanes.planes)


_NOWHERE, _NONE = np.empty(0, np.uint32), np.empty(0, np.uint64)


def weights_of(arena: Arena) -> np.ndarray:
    """float32[lines], about how the times to solve them compare, in nanoseconds or so."""
    shape, clues = arena.shape, arena.clues
    first = int(clues.line_starts[0])
    blocks = clues.block_starts[first : first + shape.n_lines + 1]
    cells = np.repeat([shape.width, shape.height], [shape.height, shape.width])
    counts = np.diff(blocks)
    slack = np.maximum(cells - filled_cells(clues.lengths, blocks) - counts, 0)
    wide = (slack >> 6) + 3.0
    return np.asarray(30.0 + 3.0 * counts * np.where(cells > 192, wide, 1.0 + (cells >> 6)), np.float32)
