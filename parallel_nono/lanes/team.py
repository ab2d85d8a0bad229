"""The workers of one node in lines mode: they look into a directory of arenas and serve whichever has jobs.

Workers are threads, or processes that Ray starts, watches and kills. Both run `work`; nothing else passes between them
and whoever hands out but the directory and the arenas: a worker is told of a new puzzle by a number that changes.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Protocol

import numpy as np
import psutil

from ..engine import ABANDONED, EngineError
from ..engine.timing import peak_mib, peak_mib_of
from .arena import Arena, WorkArrays, mapped

SLOTS = 8
"""Puzzles at a time."""

# The directory: int64; END, then for each slot the number of its puzzle (0: none) and its file.
END, FIRST = 0, 8
DIRECTORY = FIRST + 2 * SLOTS

READY_S = 60.0
"""So long the first puzzle waits for workers that are being started."""

AT_A_TIME = 4
"""Jobs of one puzzle before a worker looks at the others."""

NAP_S, LONG_NAP_S = 50e-6, 2e-3
NAPS, WATCH_S = 400, 0.5
"""Short naps before a worker that has nothing to do sleeps longer; how often it asks if its driver lives."""

REST_S = 0.05
"""While there is no puzzle at all a worker in another process sleeps so long; a thread is woken."""


def work(
    directory: np.ndarray,
    number: int,
    arena_of: Callable[[int, int], Arena],
    is_alone: Callable[[], bool],
    rest: Callable[[], object] = lambda: time.sleep(REST_S),
) -> int:
    """Serve the arenas in the directory until it says END or `is_alone`; the number of jobs done.

    arena_of  (number of a puzzle, its file) -> its arena. Errors: OSError, once the puzzle is done.
    rest      waits while there is no puzzle, a while at least.
    """
    work_arrays: dict[int, tuple[int, WorkArrays]] = {}
    n_jobs = naps = 0
    looked = time.monotonic()
    while not directory[END]:
        done = 0
        for slot in range(SLOTS):
            puzzle, file = directory[FIRST + 2 * slot : FIRST + 2 * slot + 2].tolist()
            known = work_arrays.get(slot)
            if known is not None and known[0] != puzzle:
                del work_arrays[slot], known
                known = None
            if not puzzle:
                continue
            if known is None:
                try:
                    known = puzzle, WorkArrays(arena_of(puzzle, file), number)
                except (OSError, KeyError):  # done while we looked
                    continue
                work_arrays[slot] = known
            done += known[1].serve(AT_A_TIME)
            del known
        n_jobs += done
        naps = 0 if done else naps + 1
        if naps:
            if naps > NAPS and not directory[FIRST::2].any():
                work_arrays.clear()
                rest()
            else:
                time.sleep(NAP_S if naps < NAPS else LONG_NAP_S)
            if time.monotonic() - looked > WATCH_S:
                looked = time.monotonic()
                if is_alone():
                    break
    return n_jobs


class Team(Protocol):
    """The workers of one node.

    shared  they are processes, so arenas must be shared.
    """

    shared: bool
    n_workers: int

    def show(self, slot: int, puzzle: int, arena: Arena) -> None:
        """Have the workers serve it."""

    def hide(self, slot: int, puzzle: int) -> None:
        """It is done."""

    def lost(self) -> list[int]:
        """Numbers of the workers that died since they were asked for last; `replace` them. Errors: what Ray says of a
        worker that can't begin."""

    def replace(self, number: int) -> None:
        """A new worker in the place of a dead one."""

    def kill(self, number: int) -> bool:
        """End a worker that does not come back from its job; False where that can't be done."""

    def peak_mib(self) -> float:
        """The most memory that one of the processes used so far; 0 where it is not told."""

    def close(self, seconds: float) -> bool:
        """Let them end, in so many seconds; True if they did."""


class Threads:
    """Workers that are threads of this process: they do not die, and can't be killed."""

    shared = False

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._directory = np.zeros(DIRECTORY, np.int64)
        self._arenas: dict[int, Arena] = {}
        self._news = Event()
        self._threads = [Thread(target=self._work, args=(n,), daemon=True) for n in range(n_workers)]
        for thread in self._threads:
            thread.start()

    def _work(self, number: int) -> None:
        work(self._directory, number, lambda puzzle, _: self._arenas[puzzle], lambda: False, self._news.wait)

    def show(self, slot: int, puzzle: int, arena: Arena) -> None:
        self._arenas[puzzle] = arena
        _write(self._directory, slot, puzzle, -1)
        self._news.set()

    def hide(self, slot: int, puzzle: int) -> None:
        _write(self._directory, slot, 0, -1)
        self._arenas.pop(puzzle, None)
        if not self._arenas:
            self._news.clear()

    def lost(self) -> list[int]:
        return []

    def replace(self, number: int) -> None:
        raise AssertionError(f"thread {number} can't die")

    def kill(self, number: int) -> bool:
        return False

    def peak_mib(self) -> float:
        return peak_mib()

    def close(self, seconds: float) -> bool:
        self._directory[END] = 1
        self._news.set()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)


def _write(directory: np.ndarray, slot: int, puzzle: int, file: int) -> None:
    """The file first: who sees the puzzle must find it."""
    directory[FIRST + 2 * slot + 1] = file
    directory[FIRST + 2 * slot] = puzzle


class Lane:
    """A worker of lines mode in a process of its own; an actor class once `ray.remote` has wrapped it."""

    def __init__(self, process: int, handle: int, number: int) -> None:
        from ..start import prepare

        prepare()
        self._process, self._number = process, number
        self._directory = np.frombuffer(mapped(process, handle), np.int64)

    def ready(self) -> int:
        """The number of this process, once it has what it works with; before that its time is nobody's."""
        from .compiling import compile_lanes

        compile_lanes()
        return os.getpid()

    def serve(self) -> int:
        """Until the driver says END or is gone."""
        maker = psutil.Process(self._process)
        return work(
            self._directory,
            self._number,
            lambda _, file: Arena.at(self._process, file),
            lambda: not maker.is_running() or maker.status() == psutil.STATUS_ZOMBIE,
        )


@dataclass(slots=True)
class _Actor:
    """process: its number, 0 while it is not known."""

    handle: Any
    ready: Any
    answer: Any
    process: int = 0


@dataclass
class Actors:
    """Workers that are Ray actors on this node; those that die are replaced.

    ray      the module, connected.  n_workers  how many.  node  Ray's name of this node.
    """

    ray: Any
    n_workers: int
    node: str
    shared: bool = True
    n_lost: int = 0
    _actors: dict[int, _Actor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._handle = os.memfd_create("pnono-directory")
        os.posix_fallocate(self._handle, 0, 8 * DIRECTORY)
        self._directory = np.frombuffer(mmap.mmap(self._handle, 8 * DIRECTORY), np.int64)
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(self.node, soft=False)
        self._lane = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, scheduling_strategy=here)(Lane)
        for number in range(self.n_workers):
            self._hire(number)

    def _hire(self, number: int) -> None:
        handle = self._lane.remote(os.getpid(), self._handle, number)
        self._actors[number] = _Actor(handle, handle.ready.remote(), handle.serve.remote())

    def await_ready(self, seconds: float) -> None:
        """Wait until all can begin, at most so long: who comes later helps later. Errors: EngineError if one can't."""
        waited = [actor.ready for actor in self._actors.values()]
        self.ray.wait(waited, num_returns=len(waited), timeout=seconds)
        try:
            self._meet()
        except self.ray.exceptions.RayTaskError as error:
            raise EngineError(f"lines mode: a worker can't begin: {error.cause or error}") from error

    def _meet(self) -> None:
        """Learn the processes of those who are ready."""
        unknown = {actor.ready: actor for actor in self._actors.values() if not actor.process}
        ready, _ = self.ray.wait(list(unknown), num_returns=len(unknown), timeout=0) if unknown else ([], [])
        for answer in ready:
            with contextlib.suppress(self.ray.exceptions.RayActorError):  # dead already: `lost` tells
                unknown[answer].process = self.ray.get(answer)

    def show(self, slot: int, puzzle: int, arena: Arena) -> None:
        _write(self._directory, slot, puzzle, arena.handle)

    def hide(self, slot: int, puzzle: int) -> None:
        _write(self._directory, slot, 0, -1)

    def lost(self) -> list[int]:
        answers = {actor.answer: number for number, actor in self._actors.items()}
        ready, _ = self.ray.wait(list(answers), num_returns=len(answers), timeout=0)
        dead = []
        for answer in ready:
            number = answers[answer]
            try:
                self.ray.get(answer)
            except self.ray.exceptions.RayTaskError:
                raise  # it could not begin: the next one would not either
            except self.ray.exceptions.RayError:
                dead.append(number)
                self.n_lost += 1
        return dead

    def replace(self, number: int) -> None:
        self._hire(number)

    def kill(self, number: int) -> bool:
        with contextlib.suppress(self.ray.exceptions.RayError, ValueError):
            self.ray.kill(self._actors[number].handle)
        return True

    def peak_mib(self) -> float:
        self._meet()
        return max((peak_mib_of(actor.process) for actor in self._actors.values() if actor.process), default=0.0)

    def close(self, seconds: float) -> bool:
        self._directory[END] = 1
        answers = [actor.answer for actor in self._actors.values()]
        if answers and self.ray.is_initialized() and not ABANDONED:
            with contextlib.suppress(self.ray.exceptions.RayError):
                self.ray.wait(answers, num_returns=len(answers), timeout=seconds)
            for number in self._actors:
                self.kill(number)
        self._actors.clear()
        os.close(self._handle)
        return True
