"""Jobs in line, fair between clients, in processes that can be killed at any moment.

No client can starve another: each has a few jobs in line at most and never all the processes (where there are several),
and whoever has the fewest jobs at work is next. A job ends with whoever asked: leaving the block kills its process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import psutil

from .worker import LENGTH

TICK_S = 0.5
"""How often a job is looked at: its memory, its time, whether somebody still listens."""

GRACE_S = 5.0
"""Seconds beyond its time after which a job is killed."""

COMPILING_S = 180.0
"""More patience where kernels are compiled."""

LISTENING = {"type": "tick"}
"""An event that says nothing; whoever is gone is noticed when it is sent."""


class Busy(Exception):
    """No room now. `mine`: it is the client's own jobs that fill it."""

    def __init__(self, message: str, mine: bool) -> None:
        super().__init__(message)
        self.mine = mine


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one server gives.

    workers   processes at a time.
    in_line   jobs of all clients together, those at work included.
    a_client  jobs of one client, those at work included.
    seconds   of one job.
    memory_mib  of one job, its SAT solver included.
    """

    workers: int = 2
    in_line: int = 40
    a_client: int = 4
    seconds: float = 60.0
    memory_mib: int = 2048


class Process:
    """One worker."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> Process:
        """A new one; its first event says that it is ready."""
        return cls(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "parallel_nono.web.serve.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the server to hear
            )
        )

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, header: dict[str, Any], body: bytes) -> None:
        """Hand over a job. A process that is gone is noticed when it is listened to."""
        text = json.dumps(header).encode()
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(ConnectionError):
            pipe.write(LENGTH.pack(len(text)) + text + LENGTH.pack(len(body)) + body)
            await pipe.drain()

    async def event(self) -> dict[str, Any]:
        """The next event. Errors: asyncio.IncompleteReadError when the process is gone."""
        event: dict[str, Any] = json.loads(await self._frame())
        if event.pop("bytes", False):
            event["data"] = await self._frame()
        return event

    async def _frame(self) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        return await pipe.readexactly(LENGTH.unpack(await pipe.readexactly(LENGTH.size))[0])

    def mib(self) -> float:
        """Memory that it and its SAT solver hold."""
        with contextlib.suppress(psutil.Error):
            own = psutil.Process(self.pid)
            return float(sum(one.memory_info().rss for one in (own, *own.children(recursive=True)))) / 2**20
        return 0.0

    async def kill(self) -> None:
        """End it, and what it started, whatever they are at."""
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            own = psutil.Process(self.pid)
            own.send_signal(signal.SIGSTOP)  # so that it starts nothing while we look
            for child in own.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    child.kill()
            self._process.kill()
        await self._process.wait()


@dataclass(slots=True, eq=False)
class Place:
    """A job's place in line."""

    client: str
    called: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Dispatcher:
    """Hands out processes; for one event loop."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._waiting: list[Place] = []
        self._at_work: Counter[str] = Counter()
        self._served: Counter[str] = Counter()  # the number of the last call of each client
        self._n_called = 0
        self._idle: list[Process] = []
        self._all: set[Process] = set()

    async def open(self) -> None:
        """Start one process, so that the first job need not wait for it."""
        self._idle.append(await self._started())

    async def close(self) -> None:
        """End all processes."""
        for process in list(self._all):
            await process.kill()
        self._all.clear()
        self._idle.clear()

    @asynccontextmanager
    async def job(
        self, client: str, header: dict[str, Any], body: bytes = b""
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Its events; leaving the block before they end kills it. Errors: Busy at once, if there is no room.

        Events besides those of the job: `queued` {ahead}, `started`, `tick`, and `error` where it is beyond its bounds.
        """
        place = self._enter(client)
        events = self._events(place, header, body)
        try:
            yield events
        finally:
            await events.aclose()
            self._leave(place)

    def _enter(self, client: str) -> Place:
        mine = self._jobs_of(client)
        if mine >= self.bounds.a_client:
            raise Busy(f"you have {mine} jobs here already: wait for one to end, or stop it", mine=True)
        if self._at_work.total() + len(self._waiting) >= self.bounds.in_line:
            raise Busy("the server is busy: try again in a minute", mine=False)
        place = Place(client)
        self._waiting.append(place)
        self._call()
        return place

    def _jobs_of(self, client: str) -> int:
        return self._at_work[client] + sum(place.client == client for place in self._waiting)

    def _leave(self, place: Place) -> None:
        if place in self._waiting:
            self._waiting.remove(place)
        else:
            self._at_work[place.client] -= 1
        if not self._jobs_of(place.client):
            del self._at_work[place.client], self._served[place.client]
        self._call()

    def _call(self) -> None:
        """Call the next in line, as long as there is room: whoever has the fewest at work, then who waits longest."""
        share = max(1, self.bounds.workers - 1)
        while self._at_work.total() < self.bounds.workers:
            free = [place for place in self._waiting if self._at_work[place.client] < share]
            if not free:
                return
            place = min(free, key=lambda place: (self._at_work[place.client], self._served[place.client]))
            self._waiting.remove(place)
            self._at_work[place.client] += 1
            self._n_called += 1
            self._served[place.client] = self._n_called
            place.called.set_result(None)

    async def _events(self, place: Place, header: dict[str, Any], body: bytes) -> AsyncGenerator[dict[str, Any]]:
        while not place.called.done():
            yield {"type": "queued", "ahead": self._waiting.index(place)}
            await asyncio.wait([place.called], timeout=TICK_S)
        yield {"type": "started"}
        process = await self._hired()
        done = False
        try:
            await process.ask(header, body)
            async with aclosing(self._watched(process)) as events:
                async for event in events:
                    if event["type"] == "end":
                        done = True
                        return
                    yield event
        finally:
            if done and process.mib() < self.bounds.memory_mib / 2:  # else it would have too little left for the next
                self._idle.append(process)
            else:
                self._all.discard(process)
                await process.kill()

    async def _watched(self, process: Process) -> AsyncGenerator[dict[str, Any]]:
        """The events of a process, until it is killed for its time or its memory; ticks between."""
        looked = monotonic()
        until = looked + self.bounds.seconds + GRACE_S
        coming = asyncio.ensure_future(process.event())
        try:
            while True:
                await asyncio.wait([coming], timeout=TICK_S)
                if coming.done():
                    event = coming.result()
                    if event["type"] == "ready":
                        until = monotonic() + self.bounds.seconds + GRACE_S
                    else:
                        until += COMPILING_S * (event["type"] == "compiling")
                        yield event
                    coming = asyncio.ensure_future(process.event())
                if monotonic() - looked >= TICK_S:
                    complaint = await self._complaint(process, until)
                    if complaint:
                        yield {"type": "error", "message": f"stopped: it took more than {complaint}"}
                        return
                    looked = monotonic()
                    yield LISTENING
        except asyncio.IncompleteReadError:
            yield {"type": "error", "message": "the process that did this ended by itself; perhaps memory ran out"}
        finally:
            coming.cancel()

    async def _complaint(self, process: Process, until: float) -> str:
        """What it took too much of; "" if nothing."""
        if monotonic() > until:
            return f"{self.bounds.seconds:g} seconds"
        is_large = await asyncio.to_thread(process.mib) > self.bounds.memory_mib
        return f"{self.bounds.memory_mib} MiB" if is_large else ""

    async def _hired(self) -> Process:
        while self._idle:
            process = self._idle.pop()
            if process.alive:
                return process
            self._all.discard(process)
        return await self._started()

    async def _started(self) -> Process:
        process = await Process.start()
        self._all.add(process)
        return process
