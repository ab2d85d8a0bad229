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
import subprocess
import sys
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from struct import Struct
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

PIPE_BYTES = 1 << 15
"""A pipe takes so much at once, whether somebody reads or not."""

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
    cpu_s      CPU seconds of all processes that were asked.
    """

    models: list[np.ndarray] = field(default_factory=list)
    ending: str = "late"
    conflicts: int = 0
    n_found: int = 0
    cpu_s: float = 0.0


ENDINGS = {b"E": "exhausted", b"W": "enough", b"L": "late"}


_FRAMES = {b"R": Struct("<d"), b"C": Struct("<qd"), b"E": Struct("<qd")}
"""Numbers that stand in a frame; the last is the CPU seconds of the process."""


@dataclass(slots=True, eq=False)
class Wire:
    """What comes back from a process: (this wire, letter, content) is put into `frames`; the letter b"" at its end.

    cpu_s  CPU seconds of the process, as it told last.
    """

    frames: SimpleQueue[tuple[Wire, bytes, Any]]
    n_cells: int = 0
    busy: bool = False
    cpu_s: float = 0.0
    ready: threading.Event = field(default_factory=threading.Event)

    def read(self, pipe: Any) -> None:
        """Runs in a thread of its own until the process is gone."""
        letter = b"?"
        while letter:
            letter = pipe.read(1)
            content: Any = None
            if letter == b"A":
                content = np.frombuffer(pipe.read(self.n_cells), np.bool_)
            elif letter in _FRAMES:
                frame = _FRAMES[letter]
                text = pipe.read(frame.size)
                if len(text) < frame.size:  # it died while it spoke
                    letter = b""
                else:
                    *content, self.cpu_s = frame.unpack(text)
            if letter == b"R":
                self.ready.set()
                continue
            if letter == b"E":
                content.append(pipe.read(1))
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

    def ask(self, question: Question, wanted: int, until: float, cpu_seconds: float, frames: SimpleQueue[Any]) -> None:
        """Hand over a question, to be answered before `until` by the monotonic clock and in so much CPU time; the
        answer goes to `frames`."""
        self.wire.n_cells, self.wire.frames, self.wire.busy = len(question.roles), frames, True
        header = {
            "solver": question.solver,
            "variables": len(question.phases),
            "cells": len(question.roles),
            "wanted": wanted,
            "until": until,
            "cpu_s": cpu_seconds,
            "text": len(question.text),
        }
        parts = question.text, question.phases.tobytes(), question.cells.tobytes(), question.roles.tobytes()
        text = b"".join((json.dumps(header).encode(), b"\n", *parts))
        if len(text) <= PIPE_BYTES:
            self._send(text, frames)
        else:  # a process that does not get to reading must not hold up whoever watches the clock
            threading.Thread(target=self._send, args=(text, frames), daemon=True).start()

    def _send(self, text: bytes, frames: SimpleQueue[Any]) -> None:
        pipe: Any = self._process.stdin
        try:
            pipe.write(text)
            pipe.flush()
        except (OSError, ValueError):  # it ended, or was ended, before it had read all of it
            frames.put((self.wire, b"", None))

    def mib(self) -> float:
        """Memory that the process holds."""
        return self._read(lambda scale: scale.memory_info().rss / 2**20)

    def cpu_s(self) -> float:
        """CPU seconds of the process since it was started; of one that is at work to the tick of the system."""
        told = self.wire.cpu_s
        return max(told, self._read(lambda scale: sum(scale.cpu_times()[:2]))) if self.wire.busy else told

    def _read(self, gauge: Callable[[Any], float]) -> float:
        """What the system says of the process; 0 if it is gone."""
        import psutil

        try:
            if self._scale is None:
                self._scale = psutil.Process(self._process.pid)
            return float(gauge(self._scale))
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
    prover = Prover()
    prover.wire.ready.wait(START_S)
    return prover


def prove(
    questions: Sequence[Question],
    wanted: int,
    seconds: float,
    memory_mib: int,
    stopped: Callable[[], bool],
    keep: int | None = None,
    cpu_seconds: float = inf,
) -> Proof:
    """Put the same question in several ways at once; the first to be decided counts, the others are killed.

    wanted   solutions to stop at.
    seconds  wall time for all of it; returns soon after, at most GRACE_S later.
    stopped  called now and then: True ends it.
    keep     so many models are kept; None: all.
    cpu_seconds  CPU time for all of it; each question has the same share.
    Errors   ProverDied if all processes ended by themselves.
    """
    if _mine.provers is None:
        with reserved(len(questions), stopped) as ready:
            if not ready:
                return Proof(ending="stopped")
            return prove(questions, wanted, seconds, memory_mib, stopped, keep, cpu_seconds)
    frames: SimpleQueue[tuple[Wire, bytes, Any]] = SimpleQueue()
    provers = [_prover() for _ in questions]
    spent_s = sum(prover.wire.cpu_s for prover in provers)
    bounds = _Bounds(seconds, spent_s, cpu_seconds, memory_mib, stopped)
    gone: set[Wire] = set()
    for prover, question in zip(provers, questions, strict=True):
        prover.ask(question, wanted, bounds.until, cpu_seconds / len(questions), frames)
    try:
        proof = _first(provers, frames, gone, bounds, keep)
        proof.cpu_s = sum(prover.cpu_s() for prover in provers) - spent_s
        return proof
    finally:
        for prover in provers:
            if prover.wire.busy or prover.wire in gone:
                prover.kill()
            else:
                _mine.provers.append(prover)


class _Bounds:
    """What ends a question that nobody has decided.

    until   by the monotonic clock.
    cpu_until  seconds that the processes have used by then since they were started, all together.
    """

    def __init__(
        self, seconds: float, spent_s: float, cpu_seconds: float, memory_mib: int, stopped: Callable[[], bool]
    ) -> None:
        self.began = monotonic()
        self.until, self.cpu_until = self.began + seconds, spent_s + cpu_seconds
        self._memory_mib, self._stopped = memory_mib, stopped
        self._grace = min(GRACE_S, MIN_GRACE_S + GRACE_SHARE * min(seconds, cpu_seconds))
        self._looked = self._weighed = self.began
        self.tick = TICK_S

    def ending(self, provers: list[Prover]) -> str:
        """See Proof.ending; "" while it may go on."""
        now = monotonic()
        if now - self._looked < self.tick:  # also while solutions stream in
            return ""
        self._looked, late_at = now, self.until + self._grace
        self.tick = min(max((now - self.began) / 10, TICK_S), WATCH_S, max(late_at - now, TICK_S / 4))
        if self._stopped():
            return "stopped"
        if now > late_at:
            return "late"
        if now - self._weighed > WATCH_S:
            self._weighed = now
            if sum(prover.mib() for prover in provers if prover.wire.busy) > self._memory_mib:
                return "memory"
            if self.cpu_until < inf and sum(prover.cpu_s() for prover in provers) > self.cpu_until + self._grace:
                return "late"
        return ""


def _first(
    provers: list[Prover],
    frames: SimpleQueue[tuple[Wire, bytes, Any]],
    gone: set[Wire],
    bounds: _Bounds,
    keep: int | None,
) -> Proof:
    """The proof of the process that decides first, or what there is when none does; `gone`: those that died."""
    proofs = {prover.wire: Proof() for prover in provers}
    done: set[Wire] = set()
    while True:
        if ending := bounds.ending(provers):
            best = _most(proofs)
            return Proof(best.models, ending, best.conflicts, best.n_found)
        try:
            wire, letter, content = frames.get(timeout=bounds.tick)
        except Empty:
            continue
        if letter == b"A":
            proof = proofs[wire]
            proof.n_found += 1
            if keep is None or len(proof.models) < keep:
                proof.models.append(content)
        elif letter == b"C":
            proofs[wire].conflicts = content[0]
        elif letter == b"E" and content[1] in ENDINGS:
            proof = proofs[wire]
            done.add(wire)
            proof.conflicts, proof.ending = content[0], ENDINGS[content[1]]
            if proof.ending != "late":
                return proof
        else:
            gone.add(wire)
            if len(gone) == len(provers):
                raise ProverDied("the process of the SAT solver ended by itself; perhaps memory ran out")
        if not proofs.keys() - gone - done:
            return _most(proofs)


def _most(proofs: dict[Wire, Proof]) -> Proof:
    return max(proofs.values(), key=lambda proof: (proof.n_found, proof.conflicts))
