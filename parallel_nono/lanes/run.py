"""The engine of lines mode: workers for the lines of huge puzzles, and rows as every engine gives them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..engine import EngineError, local
from ..engine.feed import Feed
from ..engine.session import Pool, Session
from ..engine.work import Work
from .arena import can_share
from .auto import with_lines
from .coordinator import AT_A_TIME, Coordinator
from .device import Device
from .nodes import Remote, remotes_of
from .ready import compile_all
from .shifts import Shifts
from .team import READY_S, SLOTS, Actors, Threads

_NOUNS = "threads", "actors"


def coordinator(session: Session, engine: str, least: int = 0) -> Coordinator:
    """A coordinator with `session.pool.workers` workers: threads, or Ray actors (`engine` "ray"). Errors:
    EngineError."""
    if engine != "ray":
        compile_all()
        return Coordinator(Threads(session.pool.workers), least=least, shifts=_shifts(session, session.pool.workers))
    if not can_share():
        raise EngineError("lines mode with Ray needs Linux; --engine local uses threads")
    from ..engine.environment import connect, new_folder, sweep

    sweep()
    folder = new_folder()
    try:
        told: list[Coordinator] = []
        ray = connect(session, folder, 80 << 20, lambda error: told[0].fail(error) if told else None)
        here = ray.get_runtime_context().get_node_id()
        remotes, n_here = (
            remotes_of(ray, here, session.pool.workers) if session.pool.address else ([], session.pool.workers)
        )
        compile_all()
        team = Actors(ray, n_here, here)
        team.await_ready(READY_S)
        told.append(RayCoordinator(folder, ray, team, remotes, least, _shifts(session, n_here)))
        return told[0]
    except BaseException:
        _down(folder)
        raise


def _shifts(session: Session, n_workers: int) -> Shifts | None:
    return None if session.timeline is None else Shifts(session.timeline, n_workers)


class RayCoordinator(Coordinator):
    """A coordinator that takes its Ray down with it."""

    def __init__(
        self, folder: Path, ray: Any, team: Actors, remotes: list[Remote], least: int, shifts: Shifts | None
    ) -> None:
        self._folder, self._ray = folder, ray
        super().__init__(team, remotes, least, shifts)

    def close(self, seconds: float) -> bool:
        ended = super().close(seconds)
        _down(self._folder)
        return ended


def _down(folder: Path) -> None:
    """No Ray, no folder."""
    import ray

    from ..engine.environment import disconnect

    disconnect(ray)
    shutil.rmtree(folder, ignore_errors=True)


def lines_of(session: Session, engine: str, device: str = "cpu") -> Coordinator | Device:
    """Whoever propagates lines in lines mode. device: "cpu" or "cuda". Errors: EngineError."""
    return Device() if device == "cuda" else coordinator(session, engine)


def run(work: Work, feed: Feed, session: Session, engine: str = "local") -> Iterator[pa.RecordBatch]:
    """Rows in order of finishing; closing the iterator cancels the rest.

    engine  "ray": the workers are actors; else threads. Errors: EngineError.
    """
    place = "ray" if engine == "ray" else "local"
    # Threads that each see one puzzle through, and wait for the workers most of the time.
    drivers = replace(session, pool=Pool(min(AT_A_TIME, SLOTS)), engine="", why="")
    lanes = lines_of(session, engine, session.pool.device)
    try:
        session.engine = place
        workers = (
            "a CUDA device" if session.pool.device == "cuda" else f"{session.pool.workers} {_NOUNS[engine == 'ray']}"
        )
        session.why = f"lines mode, {workers}"
        yield from local.run(with_lines(work, lanes, alone=True), feed, drivers, place)
    finally:
        session.stop.ended &= lanes.close(2.0)
