"""Lines mode: one huge puzzle, or several, on many workers that pull jobs of lines from a coordinator.

Whoever solves puzzles (a few threads that read, finish, check and write rows) hands the lines of each to the
coordinator and waits. The coordinator is one thread: it carries every puzzle under way from phase to phase (solve,
merge) and hands the jobs of a phase to the workers of this node, through memory that they share. So while one puzzle
is in its merge, or between its rounds, workers are at the jobs of another.

Why the answer is always the same: in a phase each line is solved against the last merge and writes its own planes in
its own view only; the merge begins when all of them are done, and each tile is one job's. What a phase makes of the
planes therefore follows from the planes before it, whoever does which job in whatever order; and which lines the next
one visits follows from what this merge took from them.

Two orders. `sweep`: the waiting rows, merge, the waiting columns, merge, and again: what one thread does in a sweep, as
rows do not depend on each other, so rounds and visits are those of one thread too. `rounds`: all rows and columns that
are not known at once, merge, and again: the order of published counts, which takes half as many phases and half as
many visits more.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread

import numpy as np
import psutil

from ..attempt import Limits
from ..engine import EngineError
from ..kernels.board import CONTRADICTION, LATE, OPEN, SPENT
from ..kernels.clues import Clues
from ..solver.results import Propagated, no_arrangement
from ..spans import span
from .arena import Arena, WorkArrays, shape_of
from .nodes import Remote, Share
from .rounds import Rounds, Spent
from .shifts import Shifts
from .team import SLOTS, Team

AT_A_TIME = 4
"""Puzzles at a time."""

TICK_S = 0.2
GRACE_S = 5.0
"""Seconds that a worker has to come back from its job once everything was told to stop."""

_NOUNS = "threads", "actors"

MAX_DEATHS = 3
"""Workers that may die while a puzzle is under way; with one more it is `crashed`."""

MAX_SPENT = 100
"""Puzzles whose times are kept."""

NO_PLANES = np.empty(0, np.uint64)


@dataclass
class Propagation:
    """A puzzle between its arrival and its fixpoint.

    every     solve every line that is not known, in every round (the published way).
    deadline  `time.monotonic()`.  cpu_limit_s  of all workers together.  stop  int64[1], see `solve_set`.
    """

    number: int
    arena: Arena
    every: bool
    deadline: float
    stop: np.ndarray
    began: float
    cpu_limit_s: float
    landed: Event = field(default_factory=Event)
    rounds: Rounds | None = None
    phases: Iterator[None] | None = None
    slot: int = -1
    halted: float = 0.0
    n_deaths: int = 0
    error: BaseException | None = None
    status: int = LATE
    n_rounds: int = 0
    n_lines: int = 0
    witness: str = ""
    cpu_s: float = 0.0


class Coordinator:
    """The thread that carries puzzles from phase to phase; `pipeline.Lines` for those who solve.

    team     the workers of this node.  remotes  those of other nodes.
    least    cells that a puzzle must have to be taken.
    shifts   hears of every phase of this node.
    """

    def __init__(
        self, team: Team, remotes: list[Remote] | None = None, least: int = 0, shifts: Shifts | None = None
    ) -> None:
        self._team, self._remotes, self._least = team, remotes or [], least
        n_workers = team.n_workers + sum(remote.n_workers for remote in self._remotes)
        self._name = f"{n_workers} {_NOUNS[team.shared]}"
        self._arrivals: SimpleQueue[Propagation | None] = SimpleQueue()
        self._propagations: list[Propagation] = []
        self._n_puzzles = 0
        self._looked = 0.0
        self._shifts = shifts
        self.spent: dict[int, Spent] = {}
        self.failed: BaseException | None = None
        self._thread = Thread(target=self._main, name="pnono-lines", daemon=True)
        self._thread.start()

    # For those who solve.

    def takes(self, height: int, width: int) -> bool:
        """True for the puzzles that are worth it."""
        return height * width >= self._least

    def propagate(self, clues: Clues, place: int, scratch: int, limits: Limits, stop: np.ndarray) -> Propagated:
        """See `pipeline.Lines`. Errors: EngineError if no worker can begin."""
        began = time.monotonic()
        need = _need(clues, place, scratch, self._team)
        free = _free()
        if need > free:
            return Propagated(SPENT, NO_PLANES, witness=_no_room(need, free), team=self._name)
        try:
            arena = Arena.of(clues, place, scratch, self._team.n_workers + 1, self._team.shared)
        except (OSError, MemoryError):
            return Propagated(SPENT, NO_PLANES, witness=_no_room(need, free), team=self._name)
        self._n_puzzles += 1
        every, deadline = limits.order == "rounds", began + limits.seconds
        cpu_limit_s = limits.cpu_seconds or math.inf
        propagation = Propagation(self._n_puzzles, arena, every, deadline, stop, began, cpu_limit_s)
        packed = time.monotonic()
        self._arrivals.put(propagation)
        with span("share", 1):
            while not propagation.landed.wait(TICK_S):
                if self.failed is not None or not self._thread.is_alive():
                    propagation.error = self.failed or EngineError("lines mode: the coordinator is gone")
                    break
        arena.close()
        if propagation.error is not None:
            raise EngineError(f"lines mode: {propagation.error}") from propagation.error
        seconds = packed - began, time.monotonic() - packed
        planes = arena.lanes.planes if propagation.status == OPEN else NO_PLANES
        return Propagated(
            propagation.status,
            planes,
            propagation.n_rounds,
            propagation.n_lines,
            propagation.witness,
            seconds,
            propagation.cpu_s,
            self._team.peak_mib(),
            self._name,
        )

    def close(self, seconds: float) -> bool:
        """End, and let the workers end; False if a thread did not come back from its job."""
        self._arrivals.put(None)
        self._thread.join(seconds)
        for remote in self._remotes:
            remote.close()
        return self._team.close(seconds) and not self._thread.is_alive()

    # The thread.

    def _main(self) -> None:
        try:
            going = True
            while going:
                going = self._step()
            self._tell(last=True)
        except BaseException as error:  # whatever it is, those who wait must hear of it
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """No puzzle will be carried any more; those who wait hear why."""
        self.failed = error
        for propagation in list(self._propagations):
            propagation.error = error
            propagation.landed.set()

    def _step(self) -> bool:
        """One look at everything; False at the end."""
        if not self._admit():
            return False
        moved = False
        now = time.monotonic()
        for propagation in list(self._propagations):
            rounds, phases = propagation.rounds, propagation.phases
            assert rounds is not None
            assert phases is not None
            if not propagation.halted and (self._is_late(propagation, now) or propagation.stop[0]):
                propagation.halted = now
                rounds.halt()
            before = rounds.what, propagation.n_rounds
            try:
                next(phases)
            except StopIteration:
                self._land(propagation)
                moved = True
                continue
            moved |= before != (rounds.what, propagation.n_rounds)
            if propagation.halted and now - propagation.halted > GRACE_S:
                self._give_up(propagation, now)
        if now - self._looked > TICK_S:
            self._looked = now
            self._watch()
            self._tell()
        if not moved:
            time.sleep(
                min((propagation.rounds.nap() for propagation in self._propagations if propagation.rounds), default=0.0)
            )
        return True

    def _admit(self) -> bool:
        """Puzzles that have arrived, as long as there are slots; False at the end."""
        while len(self._propagations) < SLOTS:
            try:
                propagation = self._arrivals.get(block=not self._propagations)
            except Empty:
                return True
            if propagation is None:
                return False
            propagation.slot = min(set(range(SLOTS)) - {other.slot for other in self._propagations})
            arrays = WorkArrays(propagation.arena, self._team.n_workers)
            note = self._shifts.note if self._shifts is not None else None
            propagation.rounds = Rounds(propagation.arena, arrays, propagation.number, note)
            propagation.phases = self._phases(propagation, propagation.rounds)
            self._propagations.append(propagation)
            self._team.show(propagation.slot, propagation.number, propagation.arena)
        return True

    def _is_late(self, propagation: Propagation, now: float) -> bool:
        """True when a limit is reached; CPU time is known of finished phases."""
        if now > propagation.deadline:
            return True
        return propagation.cpu_limit_s < math.inf and self._cpu_s(propagation) > propagation.cpu_limit_s

    def _cpu_s(self, propagation: Propagation) -> float:
        """CPU seconds of all workers in the lines of a puzzle."""
        assert propagation.rounds is not None
        spent = propagation.rounds.spent.lines + propagation.rounds.spent.merge
        return (spent + sum(remote.cpu_ns.get(propagation.number, 0) for remote in self._remotes)) / 1e9

    def _land(self, propagation: Propagation) -> None:
        assert propagation.rounds is not None
        self._propagations.remove(propagation)
        self._team.hide(propagation.slot, propagation.number)
        spent = propagation.rounds.spent
        propagation.cpu_s = self._cpu_s(propagation)
        for remote in self._remotes:
            remote.forget(propagation.number)
        whole = int((time.monotonic() - propagation.began) * 1e9)
        spent.between = whole - spent.setup - spent.solving - spent.merging
        self.spent[propagation.number] = spent
        self.spent.pop(propagation.number - MAX_SPENT, None)
        propagation.rounds = propagation.phases = None  # what they hold can go
        propagation.landed.set()

    def _tell(self, last: bool = False) -> None:
        """Have written down what workers did when, as far as it is known."""
        if self._shifts is not None:
            until = [each.rounds.noted_until() for each in self._propagations if each.rounds is not None]
            self._shifts.tell(min(until, default=time.monotonic_ns()), last)

    def _watch(self) -> None:
        """Replace workers that died; what they had is handed out again."""
        for number in self._team.lost():
            for propagation in list(self._propagations):
                assert propagation.rounds is not None
                propagation.rounds.bury(number)
                propagation.n_deaths += 1
                if propagation.n_deaths > MAX_DEATHS:
                    propagation.error = EngineError(f"{propagation.n_deaths} workers died over it")
                    self._land(propagation)
            self._team.replace(number)

    def _give_up(self, propagation: Propagation, now: float) -> None:
        """A worker does not come back: kill it, or leave the puzzle with it."""
        assert propagation.rounds is not None
        propagation.halted = now
        for number in propagation.rounds.busy():
            if not self._team.kill(number):
                propagation.phases = iter(())  # the thread stays; only ending the process stops it

    def _wait(self, rounds: Rounds) -> Iterator[None]:
        """Until all jobs of this phase are done."""
        while not rounds.done():
            yield

    def _phases(self, propagation: Propagation, rounds: Rounds) -> Iterator[None]:
        """From round to round; goes on whenever there may be something new, and ends with `status` set."""
        remotes = [remote for remote in self._remotes if remote.alive]
        height, width = propagation.arena.shape.height, propagation.arena.shape.width
        rounds.begin()
        if remotes:
            rounds.follow()
            for remote in remotes:
                remote.open(propagation.number, propagation.arena)
        rounds.spent.setup = int((time.monotonic() - propagation.began) * 1e9)
        sides = ((0, height + width),) if propagation.every else ((0, height), (height, height + width))
        n_idle, is_new = 0, True
        for first, last in cycle(sides):
            n = rounds.plan(first, last, propagation.every)
            is_new |= first == 0
            if propagation.every and rounds.is_known():
                break
            if not n and not propagation.every:
                n_idle += 1
                if n_idle == 2:
                    break
                continue
            n_idle = 0
            propagation.n_rounds += is_new
            is_new = False
            rounds.n_round = propagation.n_rounds
            changed = yield from self._phase(propagation, rounds, remotes, n)
            if changed is None:
                return
            if propagation.every and not changed and propagation.n_rounds > 1:
                break
        propagation.status = OPEN

    def _phase(
        self, propagation: Propagation, rounds: Rounds, remotes: list[Remote], n: int
    ) -> Generator[None, None, bool | None]:
        """Solve the n lines that were planned, and merge. True if that changed anything; None if it was the end."""
        height, width = propagation.arena.shape.height, propagation.arena.shape.width
        lines = rounds.lines(n)
        began = time.monotonic_ns()
        if remotes:
            yield from self._solve_everywhere(propagation, rounds, remotes, lines)
        elif n:
            rounds.solve_lines()
            yield from self._wait(rounds)
        rounds.spent.solving += time.monotonic_ns() - began
        if propagation.halted:
            return None
        place = rounds.dead_among(lines)
        if place >= 0:
            propagation.n_lines += place + 1
            propagation.status, propagation.witness = CONTRADICTION, no_arrangement(int(lines[place]), height)
            return None
        propagation.n_lines += n
        began = time.monotonic_ns()
        changed = rounds.merge()
        if changed:
            yield from self._wait(rounds)
            rounds.merged()
        rounds.spent.merging += time.monotonic_ns() - began
        if propagation.halted:
            return None
        dead = rounds.dead_cell() if changed else -1
        if dead >= 0:
            row, column = divmod(dead, width)
            propagation.status = CONTRADICTION
            propagation.witness = f"row {row + 1}, column {column + 1}: the two lines leave no colour to this cell"
            return None
        return changed

    def _solve_everywhere(
        self, propagation: Propagation, rounds: Rounds, remotes: list[Remote], lines: np.ndarray
    ) -> Iterator[None]:
        """Solve the lines of this round here and on other nodes, and bring together what they lost."""
        shares = rounds.shares(lines, [self._team.n_workers, *(remote.n_workers for remote in remotes)])
        for remote, share in zip(remotes, shares[1:], strict=True):
            remote.solve_lines(propagation.number, share)
        rounds.take(shares[0])
        if len(shares[0]):
            rounds.solve_lines()
            yield from self._wait(rounds)
        found: list[Share] = [(shares[0], *rounds.changes(shares[0]))]
        orphans = []
        for remote, share in zip(list(remotes), shares[1:], strict=True):
            while not remote.answered(propagation.number):
                if propagation.halted:
                    return
                yield
            answer = remote.answer(propagation.number)
            if answer is None:
                remotes.remove(remote)
                orphans.append(share)
            else:
                rounds.apply(*answer, share)
                found.append((share, *answer))
        if orphans:  # their node is gone: they are solved here
            lost = np.sort(np.concatenate(orphans))
            rounds.take(lost)
            if len(lost):
                rounds.solve_lines()
                yield from self._wait(rounds)
            found.append((lost, *rounds.changes(lost)))
        for remote in remotes:
            for each in found:
                rounds.spent.bytes += remote.tell(propagation.number, each)


def _need(clues: Clues, place: int, scratch: int, team: Team) -> int:
    """Bytes that the arena and its workers will touch."""
    shape = shape_of(clues, place, scratch, team.n_workers + 1, team.shared)
    return shape.n_bytes + shape.n_workers * shape.own_bytes


def _free() -> int:
    """Bytes of memory that nobody uses, as far as this process may have them."""
    free = int(psutil.virtual_memory().available)
    with contextlib.suppress(OSError, ValueError):
        most = int(Path("/sys/fs/cgroup/memory.max").read_text())
        free = min(free, most - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    return free


def _no_room(need: int, free: int) -> str:
    return f"needs {need / 2**30:.2f} GiB of memory that workers share, {free / 2**30:.2f} GiB are free"
