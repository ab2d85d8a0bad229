"""Ray: every worker is a process of its own, here or on other machines, so that a crash costs one worker only.

The driver thread hands out leases: chunks of about `LEASE_S` seconds, two to a worker, so that none waits for a
message. A lease is a transaction: its rows are accepted whole, or it is run again. Ray restarts and retries nothing;
who died over which puzzle is read from the status that each worker shares with the driver on the same host.

A worker that dies leaves its slice to be run again carefully, one puzzle at a time. A puzzle that is caught alone
gets a strike; two strikes are `crashed`. A puzzle that stays beyond its time and does not hear the stop is killed
with its worker: `timeout`. What else the worker held is handed out again, and nobody is blamed.
"""

from __future__ import annotations

import contextlib
import platform
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic, time
from typing import Any

import numpy as np
import pyarrow as pa

from ..puzzleset import has_text
from ..spans import Span
from . import ABANDONED, EngineError
from .actor import Worker
from .environment import connect, disconnect, first_line, new_folder, sweep, watch_head
from .feed import Feed, chunk_of, singles
from .local import Output, collect, drain, put
from .rows import crashed_rows, crashed_source, overrun_rows
from .session import Session
from .status import WorkerStatus, status_of
from .status_line import (
    ABORT,
    COUNT,
    HAND_BACK,
    IDLE,
    LEASE,
    PLACE,
    READING,
    RECALLED,
    SINCE_MS,
    STOP,
    STOP_FOR_GOOD,
    new_status_line,
)
from .work import SHARE_S, SOFT_S, Chunk, Done, Place, RejectedPuzzle, Work, has_errors, joined, loaded
from .worker import VERSIONS, packed, packed_texts, shared_status_line, unpacked

WINDOW = 2
"""Leases that a worker has at a time: one in hand, one waiting."""

MANY = 16
"""From so many leases on it pays to ask for all that are ready at once."""

TICK_S = 0.25
MAX_SLICE_S = 10.0
"""A slice is meant to last 50 ms; after so long it is stopped and run again carefully."""

GRACE_S = 5.0
"""Seconds beyond its limit that a puzzle, or a worker told to stop, is waited for before it is killed."""

FIRST_LEASE_S = 60.0
"""More patience for the first lease of a worker: it loads, or compiles, the kernels."""

MAX_READING_S = 300.0
STRIKES = 2
STORE_BYTES, STORE_BYTES_A_WORKER = 80 << 20, 16 << 20
"""Shared memory for rows on their way: Ray's least, or what the leases of all workers may need."""


@dataclass(slots=True)
class Lease:
    """A chunk in the hands of an actor. shared_out: it was told to hand back, so that others can help."""

    number: int
    chunk: Chunk
    since: float
    shared_out: bool = False


@dataclass(slots=True)
class Actor:
    """A worker as the driver sees it. status: None on another host. leases: in the order given, by their refs."""

    number: int
    handle: Any
    status: np.ndarray | None
    file: Path
    hello: Any
    node: str = ""
    host: str = ""
    ready: bool = False
    dead: bool = False
    n_done: int = 0
    n_rows: int = 0
    told: float = 0.0
    overran: bool = False
    leases: dict[Any, Lease] = field(default_factory=dict)


class Cluster:
    """A thread that brings up Ray, hands out leases until the feed is finished, and takes everything down again.

    on_ready  called once when workers answer.
    optional  True: should Ray not start, say so in `session.why` and leave the work to others.
    """

    def __init__(
        self,
        work: Work,
        feed: Feed,
        session: Session,
        output: Output,
        on_ready: Callable[[], None],
        why: str,
        optional: bool = False,
    ) -> None:
        self._work, self._feed, self._session, self._output = work, feed, session, output
        self._on_ready, self._why, self._optional = on_ready, why, optional
        self._place = Place("ray", platform.node(), "driver")
        self._ray: Any = None
        self._folder = Path()
        self._actors: list[Actor] = []
        self._actor_class: Any = None
        self.is_ready = self._head_gone = False
        """True once workers answered."""
        self._n_leases = 0
        self._n_done = 0
        self._failures = 0
        self.alive = True
        """False once all rows are in `output`."""
        session.watches.append(self._posts)
        self._thread = Thread(target=self._main, name="pnono-cluster", daemon=True)
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Stop, if need be, and wait until Ray is down: at most so many seconds if everything was told to stop."""
        stopping = self._session.stop.asked.is_set()
        self._session.stop.asked.set()
        self._thread.join(seconds if stopping or self._head_gone else 30.0)
        self._session.stop.ended &= not self._thread.is_alive()

    def _posts(self) -> list[WorkerStatus]:
        """By their status_lines; of a worker on another host the lease that it has is all that is known here."""
        found = []
        for actor in list(self._actors):
            if not actor.ready or actor.dead:
                continue
            lease, status = next(iter(list(actor.leases.values())), None), actor.status
            if status is None:
                status = new_status_line()
                if lease is not None:
                    n = lease.chunk.weight if lease.chunk.batch is None else lease.chunk.batch.num_rows
                    status[PLACE], status[COUNT], status[SINCE_MS] = 0, n, lease.since * 1000
            chunk = None if lease is None else lease.chunk
            found.append(status_of(self._work, f"ray.{actor.number}", chunk, status, actor.n_rows))
        return found

    def _main(self) -> None:
        try:
            self._start()
            self._serve()
        except BaseException as error:  # whatever it is, the run must hear of it: this thread has no one else to tell
            self._head_gone |= bool(ABANDONED)  # then there is no Ray to shut down
            if self._optional and not self.is_ready:
                self._session.why = f"{self._why}, but Ray did not start: {error}"
            else:
                put(self._output, error, self._session.stop.asked)
        finally:
            self._end()

    # Up and down.

    def _start(self) -> None:
        sweep()
        self._folder = new_folder()
        address = self._session.pool.address
        store = max(STORE_BYTES, STORE_BYTES_A_WORKER * self._session.pool.workers)
        self._ray = ray = connect(self._session, self._folder, store, self._head_is_gone)
        head = ray.get_runtime_context().gcs_address
        Thread(target=watch_head, args=(head, self._session.stop.asked, self._head_is_gone), daemon=True).start()
        options: dict[str, Any] = {"num_cpus": 1, "max_restarts": 0, "max_task_retries": 0}
        if address:
            # Another host has no status line of ours: there the stop comes as a message beside the lease.
            options |= {"concurrency_groups": {"control": 1}, "scheduling_strategy": "SPREAD"}
        self._actor_class = ray.remote(**options)(Worker)
        self._work_ref = ray.put(self._work)

    def _head_is_gone(self, error: EngineError) -> None:
        self._head_gone = True
        put(self._output, error, self._session.stop.asked)

    def _end(self) -> None:
        ray = self._ray
        if ray is not None and ray.is_initialized() and not self._head_gone:
            self._stop_leases()
            self.alive = False
            for actor in self._actors:
                self._kill(actor)
        self.alive = False
        if ray is not None:
            disconnect(ray)
        if self._folder != Path():
            shutil.rmtree(self._folder, ignore_errors=True)

    def _stop_leases(self) -> None:
        """Tell all workers to stop, and keep what they had done."""
        held = [ref for actor in self._actors for ref in actor.leases if not actor.dead]
        if not held:
            return
        for actor in self._actors:
            self._tell_stop(actor, STOP_FOR_GOOD)
        if self._session.stop.hurry.is_set():
            return
        ready, _ = self._ray.wait(held, num_returns=len(held), timeout=0.8)
        for ref in ready:
            with contextlib.suppress(self._ray.exceptions.RayError):
                answer = self._ray.get(ref)
                for rows in unpacked(answer[0]) if answer is not None and len(answer) > 3 else []:
                    self._output.put(rows)

    def _kill(self, actor: Actor) -> None:
        actor.dead = True
        with contextlib.suppress(self._ray.exceptions.RayError, ValueError):  # it may be gone by itself
            self._ray.kill(actor.handle)

    # The loop.

    def _serve(self) -> None:
        ray, feed, stop = self._ray, self._feed, self._session.stop.asked
        while not stop.is_set() and not feed.finished:
            self._hire()
            self._hand_out()
            refs = [ref for actor in self._actors for ref in actor.leases]
            refs += [actor.hello for actor in self._actors if not actor.ready]
            if not refs:
                feed.wait(TICK_S)
                continue
            ready, _ = ray.wait(refs, num_returns=1, timeout=TICK_S)
            if ready and len(refs) > MANY:
                ready, _ = ray.wait(refs, num_returns=len(refs), timeout=0)
            for actor in list(self._actors):
                for ref in ready:
                    if ref in actor.leases:
                        self._settle(actor, ref)
                    elif ref == actor.hello and not actor.ready:
                        self._greet(actor)
            self._watch()
            self._share_out()

    def _hire(self) -> None:
        """An actor for every place; dead ones are replaced."""
        alive = {actor.number for actor in self._actors if not actor.dead}
        self._actors = [actor for actor in self._actors if not actor.dead or actor.leases]
        for number in range(self._session.pool.workers):
            if number in alive:
                continue
            file = self._folder / f"status-{number}-{secrets.token_hex(4)}"
            file.write_bytes(new_status_line().tobytes())
            handle = self._actor_class.remote()
            hello = handle.hello.remote(self._work_ref, number, str(file))
            self._actors.append(Actor(number, handle, shared_status_line(str(file))[0], file, hello))

    def _greet(self, actor: Actor) -> None:
        errors = self._ray.exceptions
        try:
            facts = self._ray.get(actor.hello)
        except errors.RayError as error:
            self._failures += 1
            self._kill(actor)
            if self._failures > self._session.pool.workers + 2:
                raise EngineError(f"Ray's workers end before they begin: {first_line(error)}") from error
            return
        if facts["versions"] != VERSIONS:
            raise EngineError(f"worker on {facts['host']}: expected {VERSIONS}, found {facts['versions']}")
        if facts["trouble"]:
            raise EngineError(f"worker on {facts['host']}: {facts['trouble']}")
        self._session.hosts[facts["host"]] = facts["machine"]
        if not facts["shares_page"]:
            actor.status = None
        actor.node, actor.host, actor.ready = facts["node"], facts["host"], True
        if not self.is_ready:
            self.is_ready = True
            self._session.engine, self._session.why = "ray", self._why
            self._on_ready()

    def _hand_out(self) -> None:
        from ..kernels import is_compiled

        ready = [actor for actor in self._actors if actor.ready and not actor.dead]
        if not (self._n_done or is_compiled(self._work.kind.compiled)):
            # The kernels are compiled once, not by all workers at the same time.
            ready = [] if any(actor.leases for actor in ready) else ready[:1]
        for depth in range(WINDOW):
            for actor in ready:
                if len(actor.leases) != depth or any(lease.chunk.careful for lease in actor.leases.values()):
                    continue
                if depth and self._feed.only_hard:
                    continue  # a hard puzzle waits for whoever is free first
                chunk = self._feed.take()
                if chunk is None:
                    return
                self._n_leases += 1
                ref = actor.handle.lease.remote(
                    self._n_leases,
                    chunk.careful,
                    chunk.weight,
                    (chunk.made, time() - (monotonic() - chunk.made)),
                    packed_texts(chunk.texts),
                    packed([] if chunk.batch is None else [chunk.batch]),
                    chunk.sources,
                )
                actor.leases[ref] = Lease(self._n_leases, chunk, monotonic())

    def _settle(self, actor: Actor, ref: Any) -> None:
        """A lease came back, or its worker is gone."""
        lease = actor.leases.pop(ref)
        errors = self._ray.exceptions
        try:
            answer = self._ray.get(ref)
        except errors.RayTaskError:  # a fault of ours, not a death
            raise
        except errors.RayError as error:  # its process, its memory, its host, or its rows on their way to us
            self._lost(actor, lease, error)
            return
        actor.told = 0.0
        for following in list(actor.leases.values())[:1]:
            following.since = monotonic()
        if answer is None:  # recalled after all
            self._feed.give_back(lease.chunk)
            return
        actor.n_done += 1
        self._n_done += 1
        if len(answer) == 3:
            title, why, puzzle = answer
            raise RejectedPuzzle(title, why, unpacked(puzzle)[0])
        rows, hard, rest, worker, spans, *figures = answer
        if self._session.timeline is not None:
            self._session.timeline.add(actor.host, worker, map(Span._make, spans))
        done = Done(unpacked(rows), unpacked(hard), joined(unpacked(rest)), *figures)
        for batch in done.rows:
            put(self._output, batch, self._session.stop.asked)
            actor.n_rows += batch.num_rows
        if done.aborted and done.rest is not None and not lease.shared_out and not self._session.stop.asked.is_set():
            # It was stopped because it took too long: from here on one puzzle at a time.
            careful = self._careful(done.rest, actor)
            self._feed.finish(lease.chunk, Done([], done.hard, None, 0.0, done.seconds), *careful)
        else:
            self._feed.finish(lease.chunk, done)

    def _careful(self, batch: pa.RecordBatch, actor: Actor) -> list[Chunk]:
        """Chunks in which every puzzle is tried alone: by itself where the driver can't see the worker's status
        line."""
        if actor.status is not None:
            return [chunk_of(batch, careful=True)]
        return singles(batch, deaths=1)

    # Faults.

    def _lost(self, actor: Actor, lease: Lease, error: Exception) -> None:
        """The worker died while it had this lease: hand it out again, and find out who is to blame."""
        self._kill(actor)
        if not actor.n_done and not actor.overran:
            self._failures += 1
        status = actor.status
        was_waiting = status is not None and (status[LEASE] != lease.number or status[PLACE] == IDLE)
        if was_waiting or self._host_is_gone(actor, error):
            self._feed.give_back(lease.chunk)
            return
        why = f"its worker died {STRIKES} times: {first_line(error)}"
        chunk, at, count = lease.chunk, READING, 0
        if status is not None:
            at, count = int(status[PLACE]), int(status[COUNT])
        if status is not None and at == READING and chunk.batch is None:
            self._lost_reading(chunk, why, actor.overran)
            return
        good, others = self._puzzles_of(chunk)
        if status is None:
            at, count = 0, good.num_rows
            if chunk.deaths == 0 and good.num_rows > 1 and not actor.overran:
                chunk.deaths = 1
                self._feed.give_back(chunk)
                return
        for start, stop in ((0, at), (at + count, good.num_rows)):
            if start < stop:
                others.append(chunk_of(good.slice(start, stop - start)))
        suspects = good.slice(at, count)
        if count > 1:
            others += self._careful(suspects, actor)
        elif actor.overran:
            seconds = monotonic() - lease.since if status is None else monotonic() - status[SINCE_MS] / 1000
            why = f"it did not stop in time and was killed with its worker after {seconds:.3g} s"
            put(self._output, overrun_rows(self._work, suspects, seconds, why, self._place), self._session.stop.asked)
        else:
            strikes = 1 + (chunk.strikes if good.num_rows == 1 else 0)
            if strikes >= STRIKES:
                put(self._output, crashed_rows(self._work, suspects, why, self._place), self._session.stop.asked)
            else:
                others.append(Chunk(batch=suspects, careful=True, strikes=strikes, deaths=chunk.deaths + 1))
        self._feed.drop(chunk, *others)

    def _lost_reading(self, chunk: Chunk, why: str, overran: bool) -> None:
        if len(chunk.texts) + len(chunk.sources) > 1:
            each = [*(Chunk([text]) for text in chunk.texts), *(Chunk(sources=[source]) for source in chunk.sources)]
            self._feed.drop(chunk, *each)
            return
        chunk.strikes += 1
        if chunk.strikes < STRIKES and not overran:
            self._feed.give_back(chunk)
            return
        why = f"while reading: {f'took more than {MAX_READING_S:g} s' if overran else why}"
        name = chunk.texts[0][0] if chunk.texts else chunk.sources[0].name
        put(self._output, crashed_source(self._work, name, why, self._place), self._session.stop.asked)
        self._feed.drop(chunk)

    def _puzzles_of(self, chunk: Chunk) -> tuple[pa.RecordBatch, list[Chunk]]:
        """The puzzles that the worker was solving, and a chunk of those that could not be read, if any."""
        batch, others = chunk.batch, []
        if batch is None:
            texts, batches, unreadable = loaded(self._work.kind, chunk)
            batch = joined(batches) or self._work.kind.read(texts)
            others = [chunk_of(rows) for rows in unreadable]
        if not has_errors(batch):
            return batch, others
        broken = has_text(batch.column("error"))
        return batch.filter(pa.array(~broken)), [*others, chunk_of(batch.filter(pa.array(broken)))]

    def _host_is_gone(self, actor: Actor, error: Exception) -> bool:
        """True when the machine went, and not just the worker: then no puzzle is to blame.

        Ray knows it some seconds late; a lease that was lost before that costs its puzzles one death, no strike.
        """
        if isinstance(error, self._ray.exceptions.NodeDiedError):
            return True
        return not any(node["Alive"] for node in self._ray.nodes() if node["NodeID"] == actor.node)

    def _watch(self) -> None:
        """Stop what takes too long, and kill what does not hear."""
        now = monotonic()
        for actor in self._actors:
            if actor.dead or not actor.leases:
                continue
            lease = next(iter(actor.leases.values()))
            status = actor.status
            count, since, reading = lease.chunk.weight, lease.since, False
            if status is not None:
                if status[LEASE] != lease.number or status[PLACE] == IDLE:
                    continue
                count, since, reading = int(status[COUNT]), status[SINCE_MS] / 1000, status[PLACE] == READING
            alone = lease.chunk.careful or count == 1
            slow = not alone and not reading and now - since > 2 * self._work.lease_s * self._work.repeat
            if slow and status is not None and not actor.told:  # what it is at is hard: others go on with the rest
                status[ABORT] = status[ABORT] or HAND_BACK
                lease.shared_out = True
            most = MAX_READING_S if reading else self._work.limits.seconds + GRACE_S if alone else MAX_SLICE_S
            most += 0.0 if actor.n_done else FIRST_LEASE_S
            if not alone and not reading and not actor.told and now - since > max(most, 2 * SOFT_S):
                actor.told, lease.shared_out = now, False
                self._tell_stop(actor, STOP)
            late = now - actor.told > GRACE_S if actor.told else (alone or reading) and now - since > most
            if late and not actor.overran:
                actor.overran = True
                with contextlib.suppress(self._ray.exceptions.RayError, ValueError):
                    self._ray.kill(actor.handle)  # its lease then comes back as an error

    def _share_out(self) -> None:
        """Near the end, work that is begun or waits at one worker goes to those that have none."""
        if not self._feed.dry or all(actor.leases for actor in self._actors if actor.ready and not actor.dead):
            return
        now = monotonic()
        for actor in self._actors:
            if actor.dead or not actor.leases:
                continue
            (_, lease), *waiting = actor.leases.items()
            if now - lease.since > TICK_S:
                for ref, other in waiting:
                    self._recall(actor, other.number)
                    del actor.leases[ref]
                    self._feed.give_back(other.chunk)
            status, count, since = actor.status, lease.chunk.weight, lease.since + 2 * self._work.lease_s
            if status is not None:
                if status[LEASE] != lease.number or status[PLACE] < 0:
                    continue
                count, since = int(status[COUNT]), status[SINCE_MS] / 1000
            if (
                count > 1
                and not lease.chunk.careful
                and not lease.shared_out
                and now - since > SHARE_S * self._work.repeat
            ):
                lease.shared_out = True
                self._tell_stop(actor, HAND_BACK)

    def _recall(self, actor: Actor, number: int) -> None:
        if actor.status is not None:
            actor.status[RECALLED] = number
        else:
            actor.handle.recall.options(concurrency_group="control").remote(number)

    def _tell_stop(self, actor: Actor, what: int) -> None:
        if actor.status is not None:
            actor.status[ABORT] = what
        elif not actor.dead:
            actor.handle.stop.options(concurrency_group="control").remote(what)


def run(work: Work, feed: Feed, session: Session) -> Iterator[pa.RecordBatch]:
    """Rows in order of finishing; closing the iterator cancels the rest. Errors: EngineError."""
    session.engine = "ray"
    why = f"asked for, at {session.pool.address}" if session.pool.address else "asked for"
    output: Output = Queue(2 * session.pool.workers + 2)
    cluster = Cluster(work, feed, session, output, lambda: None, why)
    try:
        yield from collect(output, lambda: cluster.alive, session.stop.asked)
        cluster.close(2.5)
        yield from drain(output)
    finally:
        cluster.close(2.5)
