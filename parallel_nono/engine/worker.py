"""The other end of the cluster: what runs in a worker process, and how chunks and rows travel."""

from __future__ import annotations

import gc
import mmap
import os
import platform
from dataclasses import replace
from threading import Thread
from time import sleep, time
from typing import IO, Any

import numpy as np
import pyarrow as pa

from .. import __version__
from ..files.containers import Source
from ..spans import recording
from . import EngineError, hostinfo, timing
from .parts import written
from .status_line import ABORT, LEASE, RECALLED, STATUS_WORDS, STOP_FOR_GOOD, new_status_line
from .work import Chunk, Place, RejectedPuzzle, Work, attempt, joined

VERSIONS = {"pnono": __version__, "python": ".".join(platform.python_version_tuple()[:2])}
"""What driver and workers must agree on."""

SMALL = pa.ipc.IpcWriteOptions(compression="lz4")
"""Rows shrink to 40 % in 5 ms a lease of 8,192, and with them the shared memory that they pass through."""


class Worker:
    """What runs in the other process, which `actor` has prepared."""

    def __init__(self, work: Work, number: int, page_path: str) -> None:
        self._work = work
        self._status, self.shares_page = shared_status_line(page_path)
        self._place = Place("ray", platform.node(), f"{os.getpid()}.{number}", alone=True)
        self._core: IO[bytes] | None = None
        pa.set_cpu_count(1)
        gc.freeze()
        Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()

    def hello(self) -> dict[str, Any]:
        """Who answers: host, Ray's node, versions, and whether the driver can see our status line."""
        import ray

        node = ray.get_runtime_context().get_node_id()
        machine, trouble = hostinfo.here(), ""  # asked before the one core that is then left
        if self._work.pin and self._core is None:
            try:
                core, self._core = timing.claim_core()
                self._place = replace(self._place, core=core)
            except EngineError as error:
                trouble = str(error)
        known = {"host": platform.node(), "node": node, "versions": VERSIONS, "shares_page": self.shares_page}
        return {**known, "machine": machine, "trouble": trouble}

    def lease(
        self,
        number: int,
        careful: bool,
        weight: int,
        made: tuple[float, float],
        texts: bytes,
        batch: bytes,
        sources: list[Source],
    ) -> Any:
        """Attempt a chunk. Returns rows, hard puzzles and the rest as Arrow streams, who did it, its spans as tuples,
        and the figures of `Done`; (title, why, puzzle) of a rejected solution; or None if the driver asked for the
        chunk back.

        made     when the chunk was cut: by the monotonic clock of the driver's host, and by the wall clock.
        sources  files that this worker reads itself.
        """
        if number <= self._status[RECALLED]:
            return None
        chunk = Chunk(unpacked_texts(texts), joined(unpacked(batch)), weight, careful, sources=sources)
        # The host's own clock, which nobody sets, means nothing on another host.
        chunk.made = made[0] if self.shares_page else chunk.made - max(0.0, time() - made[1])
        if self._status[ABORT] != STOP_FOR_GOOD:
            self._status[ABORT] = 0  # it meant the one before
        self._status[LEASE] = number
        if self._work.calibrate and not self._place.calibration_s:
            self._place = replace(self._place, calibration_s=timing.calibration_s())
        try:
            with recording(self._work.timed) as spans:
                done = attempt(self._work, chunk, self._status, self._place)
        except RejectedPuzzle as error:
            return error.title, error.why, packed([error.puzzle])
        rest = [] if done.rest is None else [done.rest]
        if self._work.parts is not None:
            done.rows = written(self._work.parts, done.rows)
        figures = done.weight, done.seconds, done.aborted, done.solve_s, done.over_s
        told = [tuple(span) for span in spans]
        return packed(done.rows), packed(done.hard), packed(rest), self._place.worker, told, *figures

    def recall(self, number: int) -> None:
        """Called beside a lease: those up to this number that have not begun come back as they are."""
        self._status[RECALLED] = number

    def stop(self, how: int) -> None:
        """Called beside a lease. how: a value of ABORT (`status_line`)."""
        self._status[ABORT] = how


def _end_with(parent: int) -> None:
    """End this process when Ray's own on this host has ended: Ray would, some of the time, take a minute to."""
    while os.getppid() == parent:
        sleep(1.0)
    os._exit(1)


def shared_status_line(path: str) -> tuple[np.ndarray, bool]:
    """The status line that the driver made, if this is its host; else one of our own."""
    try:
        with open(path, "r+b") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 8 * STATUS_WORDS), np.int64), True
    except OSError:
        return new_status_line(), False


def packed(batches: list[pa.RecordBatch]) -> bytes:
    """Batches of one schema as an Arrow stream; b"" for none."""
    if not batches:
        return b""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=SMALL) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return bytes(sink.getvalue())


def unpacked(data: bytes) -> list[pa.RecordBatch]:
    """What `packed` packed."""
    return list(pa.ipc.open_stream(data)) if data else []


def packed_texts(texts: list[tuple[str, bytes]]) -> bytes:
    if not texts:
        return b""
    names, datas = zip(*texts, strict=True)
    arrays = [pa.array(names, pa.string()), pa.array(datas, pa.large_binary())]
    return packed([pa.RecordBatch.from_arrays(arrays, ["source", "data"])])


def unpacked_texts(data: bytes) -> list[tuple[str, bytes]]:
    batches = unpacked(data)
    return list(zip(*(column.to_pylist() for column in batches[0].columns), strict=True)) if batches else []
