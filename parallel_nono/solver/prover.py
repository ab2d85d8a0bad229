"""Formulas to processes that decide them: a hard deadline and a memory watch, whatever a SAT solver does.

The threads of a process share a pool of them, one for each core that they may run on: a thread that asks gives its core
to the process that answers. One that is late, too large or no longer needed is killed; the next question starts
another.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import struct
import subprocess
import sys
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, ClassVar

import numpy as np

PROGRAM = Path(__file__).with_name("cadical.py")

TICK_S, WATCH_S = 0.02, 0.1
"""How often a question looks whether it should end: at first, and once it has taken long. As often as the latter its
processes are weighed."""

GRACE_S, MIN_GRACE_S, GRACE_SHARE = 0.4, 0.05, 0.1
"""A solver that has not looked at the clock so long after its time was up, or after a share of a short time, is
killed."""

START_S = 30.0
"""So long a process has to be ready for its first question."""


class ProverDied(RuntimeError):
    """A solver's process ended by itself: a fault of the solver, or the system took its memory."""


@dataclass(frozen=True, slots=True)
class Question:
    """A formula, and what is asked of it.

    solver   its name in python-sat.
    text     DIMACS.
    phases   int8 by variable - 1: 1 or -1, where to look first; zeros: no matter.
    cells    int32, the variables that make a solution;  roles  uint8, theirs: see kernels.encode.
    """

    solver: str
    text: bytes
    phases: np.ndarray
    cells: np.ndarray
    roles: np.ndarray


@dataclass(slots=True)
class Proof:
    """What came of it.

    models     bool[cells], values of `Question.cells`, of the first solutions: as many as were to be kept.
    n_found    solutions.
    ending     `exhausted` (there are no others), `enough` (as many as wanted), `late`, `memory`, or `stopped`.
    conflicts  of the solver that decided, or else of the one that found most; where it was killed, those that it had
               told of.
    """

    models: list[np.ndarray] = field(default_factory=list)
    ending: str = "late"
    conflicts: int = 0
    n_found: int = 0


ENDINGS = {b"E": "exhausted", b"W": "enough", b"L": "late"}


@dataclass(slots=True, eq=False)
class Wire:
    """What comes back from a process: (this wire, letter, content) is put into `frames`; the letter b"" at its end."""

    frames: SimpleQueue[tuple[Wire, bytes, Any]]
    n_cells: int = 0
    busy: bool = False
    ready: threading.Event = field(default_factory=threading.Event)

    def read(self, pipe: Any) -> None:
        """Runs in a thread of its own until the process is gone."""
        letter = b"?"
        while letter:
            letter, content = pipe.read(1), None
            if letter == b"R":
                self.ready.set()
                continue
            if letter == b"A":
                content = np.frombuffer(pipe.read(self.n_cells), np.bool_)
            elif letter == b"C":
                content = pipe.read(8)
            elif letter == b"E":
                content = pipe.read(9)
                self.busy = False
            self.frames.put((self, letter, content))
        self.ready.set()  # for what follows: that there is nobody
        pipe.close()


@cache
def _command() -> list[str]:
    """Python without its start-up files, which take longer than the program; it is told where python-sat is."""
    found = (importlib.util.find_spec(name) for name in ("pysat", "pysolvers"))
    folders = {str(Path(spec.origin).parent) for spec in found if spec is not None and spec.origin is not None}
    folders = {folder.removesuffix(f"{os.sep}pysat") for folder in folders}
    return [sys.executable, "-I", "-S", str(PROGRAM), *sorted(folders)]


class Prover:
    """One process."""

    living: ClassVar[weakref.WeakSet[Prover]] = weakref.WeakSet()

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            _command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us to hear
        )
        self.living.add(self)
        self._scale: Any = None
        self.wire = Wire(SimpleQueue())
        threading.Thread(target=self.wire.read, args=(self._process.stdout,), daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: Question, wanted: int, until: float, frames: SimpleQueue[Any]) -> None:
        """Hand over a question, to be answered before `until` by the monotonic clock; the answer goes to `frames`."""
        self.wire.n_cells, self.wire.frames, self.wire.busy = len(question.roles), frames, True
        header = {
            "solver": question.solver,
            "variables": len(question.phases),
            "cells": len(question.roles),
            "wanted": wanted,
            "until": until,
            "text": len(question.text),
        }
        pipe: Any = self._process.stdin
        try:
            pipe.write(json.dumps(header).encode() + b"\n" + question.text)
            pipe.write(question.phases.tobytes() + question.cells.tobytes() + question.roles.tobytes())
            pipe.flush()
        except OSError:
            frames.put((self.wire, b"", None))

    def mib(self) -> float:
        """Memory that the process holds."""
        import psutil

        try:
            if self._scale is None:
                self._scale = psutil.Process(self._process.pid)
            return float(self._scale.memory_info().rss) / 2**20
        except psutil.Error:
            return 0.0

    def kill(self) -> None:
        """End the process, whatever it is at; not from a fork of the process that it belongs to."""
        if os.getpid() != self._owner:
            return
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):  # what it had not read is lost with it
            self._process.stdin.close()  # type: ignore[union-attr]

    def __del__(self) -> None:
        self.kill()


def _kill_all() -> None:
    for prover in list(Prover.living):
        prover.kill()


atexit.register(_kill_all)


class _Pool:
    """Processes that wait for a question, by the cores that they may run on; and how many are out with somebody."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._idle: defaultdict[frozenset[int], list[Prover]] = defaultdict(list)
        self._n_out: defaultdict[frozenset[int], int] = defaultdict(int)

    def take(self, n: int, cores: frozenset[int], stopped: Callable[[], bool]) -> list[Prover]:
        """n processes, as soon as no more than one a core would be out; more where nobody has any.

        Returns  none if it is stopped before.
        """
        with self._changed:
            while self._n_out[cores] and self._n_out[cores] + n > len(cores):
                if stopped():
                    return []
                self._changed.wait(WATCH_S)
            self._n_out[cores] += n
            taken: list[Prover] = []
            while self._idle[cores] and len(taken) < n:
                prover = self._idle[cores].pop()
                if prover.alive:
                    taken.append(prover)
        try:
            while len(taken) < n:
                taken.append(Prover())
        except BaseException:
            self.give(taken, n, cores)
            raise
        return taken

    def give(self, provers: list[Prover], n: int, cores: frozenset[int]) -> None:
        """What is left of n processes comes back; no more are kept than there are cores."""
        with self._changed:
            self._n_out[cores] -= n
            room = max(0, len(cores) - len(self._idle[cores]))
            self._idle[cores] += provers[:room]
            self._changed.notify_all()
        for prover in provers[room:]:
            prover.kill()

    @property
    def idle(self) -> list[Prover]:
        """Those that wait."""
        with self._changed:
            return [prover for provers in self._idle.values() for prover in provers]


_pool = _Pool()


def _forked() -> None:
    """A fork has the pipes of its parent's processes, and must not talk to them."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _cores() -> frozenset[int]:
    """The cores that this thread, and so the processes that it starts, may run on."""
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(0))
    return frozenset(range(os.cpu_count() or 1))


class _Reserved(threading.local):
    """The processes that this thread has at hand for its next questions; None outside of `reserved`."""

    def __init__(self) -> None:
        self.provers: list[Prover] | None = None


_mine = _Reserved()


@contextlib.contextmanager
def reserved(n: int, stopped: Callable[[], bool] = lambda: False) -> Iterator[bool]:
    """Have n processes ready for the questions that this thread puts meanwhile: no question pays for their start, or
    for waiting until others have theirs back. Yields False if it was stopped before that.
    """
    if _mine.provers is not None:  # by whoever called us
        yield True
        return
    cores = _cores()
    taken = _pool.take(n, cores, stopped)
    if not taken:
        yield False
        return
    _mine.provers = taken
    try:
        for prover in taken:
            prover.wire.ready.wait(START_S)
        yield True
    finally:
        left, _mine.provers = _mine.provers, None
        _pool.give([prover for prover in left if prover.alive], n, cores)


def _prover() -> Prover:
    assert _mine.provers is not None
    while _mine.provers:
        prover = _mine.provers.pop()
        if prover.alive:
            return prover
    return Prover()


def prove(
    questions: Sequence[Question],
    wanted: int,
    seconds: float,
    memory_mib: int,
    stopped: Callable[[], bool],
    keep: int | None = None,
) -> Proof:
    """Put the same question in several ways at once; the first to be decided counts, the others are killed.

    wanted   solutions to stop at.
    seconds  wall time for all of it; returns soon after, at most GRACE_S later.
    stopped  called now and then: True ends it.
    keep     so many models are kept; None: all.
    Errors   ProverDied if all processes ended by themselves.
    """
    if _mine.provers is None:
        with reserved(len(questions), stopped) as ready:
            return prove(questions, wanted, seconds, memory_mib, stopped, keep) if ready else Proof(ending="stopped")
    frames: SimpleQueue[tuple[Wire, bytes, Any]] = SimpleQueue()
    began = looked = weighed = monotonic()
    tick, until = TICK_S, began + seconds
    grace = min(GRACE_S, MIN_GRACE_S + GRACE_SHARE * seconds)
    provers = [_prover() for _ in questions]
    proofs = {prover.wire: Proof() for prover in provers}
    done: set[Wire] = set()
    gone: set[Wire] = set()
    for prover, question in zip(provers, questions, strict=True):
        prover.ask(question, wanted, until, frames)
    try:
        while True:
            now = monotonic()
            if now - looked >= tick:  # also while solutions stream in
                looked = now
                tick = min(max((now - began) / 10, TICK_S), WATCH_S, max(until + grace - now, TICK_S / 4))
                ending = "stopped" if stopped() else "late" if now > until + grace else ""
                if not ending and now - weighed > WATCH_S:
                    weighed = now
                    ending = "memory" if sum(p.mib() for p in provers if p.wire.busy) > memory_mib else ""
                if ending:
                    best = _most(proofs)
                    return Proof(best.models, ending, best.conflicts, best.n_found)
            try:
                wire, letter, content = frames.get(timeout=tick)
            except Empty:
                continue
            if letter == b"A":
                proof = proofs[wire]
                proof.n_found += 1
                if keep is None or len(proof.models) < keep:
                    proof.models.append(content)
            elif letter == b"C" and len(content) == 8:
                proofs[wire].conflicts = struct.unpack("<q", content)[0]
            elif letter == b"E" and len(content) == 9:
                proof = proofs[wire]
                done.add(wire)
                proof.ending, proof.conflicts = ENDINGS[content[:1]], struct.unpack("<q", content[1:])[0]
                if proof.ending != "late":
                    return proof
            else:
                gone.add(wire)
                if len(gone) == len(provers):
                    raise ProverDied("the process of the SAT solver ended by itself; perhaps memory ran out")
            if not proofs.keys() - gone - done:
                return _most(proofs)
    finally:
        for prover in provers:
            if prover.wire.busy or prover.wire in gone:
                prover.kill()
            else:
                _mine.provers.append(prover)


def _most(proofs: dict[Wire, Proof]) -> Proof:
    return max(proofs.values(), key=lambda proof: (proof.n_found, proof.conflicts))
