"""In this process: every worker is a thread, and the kernels release the GIL. Ray is never imported."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Full, Queue
from threading import Event, Thread
from time import monotonic
from typing import Any

import pyarrow as pa

from .feed import Feed
from .status import Post, post_of
from .timing import settled
from .work import ABORT, COUNT, PLACE, SCHEMA, SHARE_S, SINCE_MS, Chunk, Place, Work, attempt, new_page

Output = Queue[pa.RecordBatch | BaseException]

TICK_S = 0.25
NOTHING = pa.RecordBatch.from_pylist([], schema=SCHEMA)


@dataclass(slots=True)
class Crew:
    """Who works, and how the run and its engine talk while they do.

    workers   how many at a time; may exceed the cores.
    address   of a running Ray cluster; "" for one of our own.
    insecure  True: a cluster without token authentication will do.
    stop      set by anyone: hand out nothing more and tell the kernels to return.
    hurry     set by whoever can't wait for an orderly end.
    device    of lines mode: "cpu" or "cuda".
    place     what the rows say of where they were made, beside host and worker.
    engine, why   filled in by the engine: which one did the work, and for what reason.
    hosts     what is known of the machines that work, by name (`facts.here`).
    gone      False when some worker was still there after the end; then only ending the process stops it.
    posts     an engine adds what tells what its workers are at; see `told`.
    """

    workers: int = 1
    address: str = ""
    insecure: bool = False
    device: str = "cpu"
    place: str = "local"
    stop: Event = field(default_factory=Event)
    hurry: Event = field(default_factory=Event)
    engine: str = ""
    why: str = ""
    gone: bool = True
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    posts: list[Callable[[], list[Post]]] = field(default_factory=list)

    def told(self) -> list[Post]:
        """What each worker is at; may be asked by any thread at any time."""
        return [post for tell in self.posts for post in tell()]


class Threads:
    """`workers` threads that take from a feed and put rows into `output` until it is finished or they are stopped."""

    def __init__(self, work: Work, feed: Feed, crew: Crew, output: Output) -> None:
        self._work, self._feed, self._crew, self._output = work, feed, crew, output
        self._retire = Event()
        self._pages = [new_page() for _ in range(crew.workers)]
        self._held: list[Chunk | None] = [None] * crew.workers
        self._n_rows = [0] * crew.workers
        crew.posts.append(self._posts)
        # Daemons: a kernel that does not hear the stop must not keep the process alive.
        self._threads = [Thread(target=self._serve, args=(n,), daemon=True) for n in range(crew.workers)]
        for thread in self._threads:
            thread.start()

    def retire(self) -> None:
        """End after the chunks in hand."""
        self._retire.set()

    @property
    def alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def _posts(self) -> list[Post]:
        facts = zip(self._threads, self._held, self._pages, self._n_rows, strict=False)
        return [
            post_of(self._work, _name(number), chunk, page, done)
            for number, (thread, chunk, page, done) in enumerate(facts)
            if thread.is_alive()
        ]

    def close(self, seconds: float) -> None:
        """Tell the kernels to return and wait for the threads, at most so many seconds."""
        self._crew.stop.set()
        for page in self._pages:
            page[ABORT] = 1
        deadline = monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - monotonic()))
        self._crew.gone &= not self.alive

    def _share_out(self) -> None:
        """Nothing is left for us: whoever has had the same several puzzles in hand for long gives them back."""
        if self._feed.dry:
            for page in self._pages:
                if page[COUNT] > 1 and page[PLACE] >= 0 and monotonic() - page[SINCE_MS] / 1000 > SHARE_S:
                    page[ABORT] = 1

    def _serve(self, number: int) -> None:
        page, place = self._pages[number], Place(self._crew.place, platform.node(), _name(number))
        core = None
        try:
            place, core = settled(self._work, place)
            while not (self._crew.stop.is_set() or self._retire.is_set()):
                chunk = self._feed.take()
                if chunk is None:
                    if self._feed.finished:
                        return
                    self._share_out()
                    self._feed.wait(SHARE_S / 2)
                    continue
                self._held[number] = chunk
                done = attempt(self._work, chunk, page, place)
                self._held[number] = None
                for rows in done.rows:
                    put(self._output, rows, self._crew.stop)
                    self._n_rows[number] += rows.num_rows
                self._feed.finish(chunk, done)
                if not self._crew.stop.is_set():
                    page[ABORT] = 0
        except BaseException as error:  # whatever it is, the run must hear of it: this thread has no one else to tell
            put(self._output, error, self._crew.stop)
        finally:
            if core is not None:
                core.close()
            with suppress(Full):  # wakes who waits for rows, to see that this was the last thread
                self._output.put_nowait(NOTHING)


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


def run(work: Work, feed: Feed, crew: Crew) -> Iterator[pa.RecordBatch]:
    """Rows in order of finishing; closing the iterator cancels the rest."""
    crew.engine = "local"
    crew.why = crew.why or ("one worker" if crew.workers == 1 else "asked for")
    output: Output = Queue(2 * crew.workers + 2)
    threads = Threads(work, feed, crew, output)
    try:
        yield from collect(output, lambda: threads.alive, crew.stop)
        threads.close(1.5)
        yield from drain(output)
    finally:
        threads.close(1.5)
