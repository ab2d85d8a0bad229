"""Formulas to processes that decide them: a hard deadline and a memory watch, whatever a SAT solver does.

Every thread that asks keeps its processes for the next question. One that is late, too large or no longer needed is
killed; the next question starts another.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    conflicts  of the solver that decided; 0 where it was killed.
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
                packed = pipe.read((self.n_cells + 7) // 8)
                content = np.unpackbits(np.frombuffer(packed, np.uint8), count=self.n_cells).astype(bool)
            elif letter == b"E":
                content = pipe.read(9)
                self.busy = False
            self.frames.put((self, letter, content))
        self.ready.set()  # for what follows: that there is nobody
        pipe.close()


class Prover:
    """One process."""

    living: ClassVar[weakref.WeakSet[Prover]] = weakref.WeakSet()

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM)],
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
        """End the process, whatever it is at."""
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


class _Idle(threading.local):
    """The processes of one thread that wait for a question."""

    def __init__(self) -> None:
        self.provers: list[Prover] = []


_idle = _Idle()


def start(n: int) -> None:
    """Have n processes ready for the next question of this thread, so that it does not pay for their start."""
    _idle.provers = [prover for prover in _idle.provers if prover.alive]
    while len(_idle.provers) < n:
        _idle.provers.append(Prover())
    for prover in _idle.provers:
        prover.wire.ready.wait(START_S)


def _prover() -> Prover:
    while _idle.provers:
        prover = _idle.provers.pop()
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
                    return Proof(best.models, ending, n_found=best.n_found)
            try:
                wire, letter, content = frames.get(timeout=tick)
            except Empty:
                continue
            if letter == b"A":
                proof = proofs[wire]
                proof.n_found += 1
                if keep is None or len(proof.models) < keep:
                    proof.models.append(content)
            elif letter == b"E":
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
                _idle.provers.append(prover)


def _most(proofs: dict[Wire, Proof]) -> Proof:
    return max(proofs.values(), key=lambda proof: proof.n_found)
