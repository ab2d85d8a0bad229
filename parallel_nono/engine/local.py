"""In this process: every worker is a thread, and the kernels release the GIL. Ray is never imported."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic

import numpy as np
import pyarrow as pa

from ..spans import recording, span
from .feed import Feed
from .rows import SCHEMA
from .session import Session
from .status import WorkerStatus, status_of
from .status_line import ABORT, COUNT, HAND_BACK, PLACE, SINCE_MS, STOP, new_status_line
from .timing import readied
from .work import SHARE_S, Chunk, Place, Work, attempt

Output = Queue[pa.RecordBatch | BaseException]

TICK_S = 0.25
NOTHING = pa.RecordBatch.from_pylist([], schema=SCHEMA)


class Threads:
    """`workers` threads that take from a feed and put rows into `output` until it is finished or they are stopped."""

    def __init__(self, work: Work, feed: Feed, session: Session, output: Output, place: str = "local") -> None:
        self._place = place
        self._work, self._feed, self._session, self._output = work, feed, session, output
        self._retire = Event()
        self._status_lines = [new_status_line() for _ in range(session.pool.workers)]
        self._held: list[Chunk | None] = [None] * session.pool.workers
        self._n_rows = [0] * session.pool.workers
        session.watches.append(self._posts)
        # Daemons: a kernel that does not hear the stop must not keep the process alive.
        self._threads = [Thread(target=self._serve, args=(n,), daemon=True) for n in range(session.pool.workers)]
        for thread in self._threads:
            thread.start()

    def retire(self) -> None:
        """End after the chunks in hand."""
        self._retire.set()

    @property
    def alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def _posts(self) -> list[WorkerStatus]:
        facts = zip(self._threads, self._held, self._status_lines, self._n_rows, strict=False)
        return [
            status_of(self._work, _name(number), chunk, status, done)
            for number, (thread, chunk, status, done) in enumerate(facts)
            if thread.is_alive()
        ]

    def close(self, seconds: float) -> None:
        """Tell the kernels to return and wait for the threads, at most so many seconds."""
        self._session.stop.asked.set()
        for status in self._status_lines:
            status[ABORT] = STOP
        deadline = monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - monotonic()))
        self._session.stop.ended &= not self.alive

    def watched(self) -> bool:
        """Whether any thread lives. Who has had several puzzles in hand for longer than a chunk should take gives back
        those that it has not begun: what it is at is hard, and others may have done with theirs."""
        if len(self._threads) > 1:
            self._hand_back(2 * self._work.lease_s)
        return self.alive

    def _hand_back(self, seconds: float) -> None:
        """Ask it of whoever has had several puzzles in hand for so long."""
        seconds *= self._work.repeat
        for status in self._status_lines:
            if status[COUNT] > 1 and status[PLACE] >= 0 and monotonic() - status[SINCE_MS] / 1000 > seconds:
                status[ABORT] = status[ABORT] or HAND_BACK

    def _serve(self, number: int) -> None:
        status, place = self._status_lines[number], Place(self._place, platform.node(), _name(number))
        core = None
        try:
            place, core = readied(self._work, place)
            while not (self._session.stop.asked.is_set() or self._retire.is_set()):
                with recording(self._session.timeline is not None) as spans:
                    if not self._serve_one(number, status, place):
                        return
                if self._session.timeline is not None:
                    self._session.timeline.add(place.host, place.worker, spans)
        except BaseException as error:  # whatever it is, the run must hear of it: this thread has no one else to tell
            put(self._output, error, self._session.stop.asked)
        finally:
            if core is not None:
                core.close()
            with suppress(Full):  # wakes who waits for rows, to see that this was the last thread
                self._output.put_nowait(NOTHING)

    def _serve_one(self, number: int, status: np.ndarray, place: Place) -> bool:
        """A chunk from the feed to the rows, or a while of waiting for one; False when there will be no more."""
        with span("wait"):
            chunk = self._feed.take()
            if chunk is None:
                if self._feed.finished:
                    return False
                if self._feed.dry:  # nothing is left for us
                    self._hand_back(SHARE_S)
                self._feed.wait(SHARE_S / 2)
                return True
        self._held[number] = chunk
        done = attempt(self._work, chunk, status, place)
        self._held[number] = None
        with span("give"):
            for rows in done.rows:
                put(self._output, rows, self._session.stop.asked)
                self._n_rows[number] += rows.num_rows
        self._feed.finish(chunk, done)
        if not self._session.stop.asked.is_set():
            status[ABORT] = 0
        return True


def _name(number: int) -> str:
    """How the rows call a thread."""
    return f"{os.getpid()}.{number}"


def put(output: Output, item: pa.RecordBatch | BaseException, stop: Event) -> None:
    """Wait for room in `output`, but not once everything is told to stop."""
    while True:
        try:
            output.put(item, timeout=TICK_S)
            return
        except Full:
            if stop.is_set():
                return


def collect(output: Output, alive: Callable[[], bool], stop: Event) -> Iterator[pa.RecordBatch]:
    """What the workers put, until none is alive or `stop` is set; an empty batch now and then as a sign of life.

    Raises what they put in place of rows.
    """
    while not stop.is_set():
        working = alive()
        try:
            item = output.get(timeout=TICK_S if working else 0)
        except Empty:
            if not working:
                return
            item = NOTHING
        if isinstance(item, BaseException):
            raise item
        yield item


def drain(output: Output) -> Iterator[pa.RecordBatch]:
    """What was finished when everything was told to stop."""
    while True:
        try:
            item = output.get_nowait()
        except Empty:
            return
        if isinstance(item, pa.RecordBatch):
            yield item


def run(work: Work, feed: Feed, session: Session, place: str = "local") -> Iterator[pa.RecordBatch]:
    """Rows in order of finishing; closing the iterator cancels the rest. place: what their column `engine` says."""
    session.engine = "local"
    session.why = session.why or ("one worker" if session.pool.workers == 1 else "asked for")
    output: Output = Queue(2 * session.pool.workers + 2)
    threads = Threads(work, feed, session, output, place)
    try:
        yield from collect(output, threads.watched, session.stop.asked)
        threads.close(1.5)
        yield from drain(output)
    finally:
        threads.close(1.5)
