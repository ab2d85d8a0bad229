"""What a pool of workers is told, and what it reports while it works: the one is frozen, the other fills up."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .status import WorkerStatus
    from .timeline import Timeline

LOOKS = 5


@dataclass(frozen=True, slots=True)
class Pool:
    """The workers that are asked for.

    workers   how many at a time; may exceed the cores.
    address   of a running Ray cluster; "" for one of our own.
    insecure  True: a cluster without token authentication will do.
    device    of lines mode: "cpu" or "cuda".
    """

    workers: int = 1
    address: str = ""
    insecure: bool = False
    device: str = "cpu"

    @property
    def work_share(self) -> float:
        """The share of its workers' seconds that is work: those of more workers than cores overlap."""
        return min(1.0, (os.cpu_count() or 1) / self.workers)


@dataclass(slots=True)
class Stop:
    """How a run is ended before its time, by any thread.

    asked     set: hand out nothing more, and tell the kernels to return.
    hurry     set: do not wait for an orderly end.
    ended     False once a run is over of which some worker is still there: then only ending the process stops it.

    >>> from parallel_nono import Stop
    >>> stop = Stop()  # for `run(options, stop=stop)` in another thread
    >>> stop.asked.set()
    """

    asked: Event = field(default_factory=Event)
    hurry: Event = field(default_factory=Event)
    ended: bool = True


class Following(Event):
    """An event that counts as set while another one is: it may be set by itself, and leaves the other as it is."""

    def __init__(self, other: Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """As of an event; the other one is looked at `LOOKS` times a second."""
        deadline = None if timeout is None else monotonic() + timeout
        while not self.is_set():
            left = 1 / LOOKS if deadline is None else min(1 / LOOKS, deadline - monotonic())
            if left <= 0:
                return False
            super().wait(left)
        return True


@dataclass(slots=True)
class Session:
    """A pool at work: how the run and its engine talk, and what becomes of it.

    pool      what was asked for.
    stop      ends it, before its time or when all is done.
    engine, why   filled in by the engine: which one did the work, and for what reason.
    hosts     what is known of the machines that work, by name (`hostinfo.here`).
    watches   an engine adds what tells what its workers are doing; see `status`.
    estimate  what `auto` looked at last: seconds of work for one core that it took to be left, and those done by then.
    timeline  where they write what they did when; None: nobody asked.
    """

    pool: Pool = Pool()
    stop: Stop = field(default_factory=Stop)
    engine: str = ""
    why: str = ""
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    watches: list[Callable[[], list[WorkerStatus]]] = field(default_factory=list)
    estimate: tuple[float, float] | None = None
    timeline: Timeline | None = None

    def status(self) -> list[WorkerStatus]:
        """What each worker is doing; may be asked by any thread at any time."""
        return [each for watch in self.watches for each in watch()]
