"""Solve at once with threads; bring up Ray beside them when what is left is worth it, and hand over."""

from __future__ import annotations

from collections.abc import Iterator
from queue import Queue
from time import monotonic

import pyarrow as pa

from . import local
from .feed import Feed
from .local import Output, Threads, collect, drain
from .session import Session
from .work import Work

WORTH_S, WORTH_A_WORKER_S = 10.0, 1.0
"""Seconds of one core that must be left for Ray to pay: its start, and that of every worker."""

LOOK_S = 0.5


def run(work: Work, feed: Feed, session: Session) -> Iterator[pa.RecordBatch]:
    """Rows in order of finishing; closing the iterator cancels the rest."""
    if work.pin:  # a thread and the process that is to follow it can't both have the core
        session.why = "workers are bound to cores"
        yield from local.run(work, feed, session)
        return
    session.engine = "local"
    worth = WORTH_S + WORTH_A_WORKER_S * session.pool.workers
    session.why = "one worker" if session.pool.workers == 1 else f"less than {worth:.0f} s of work for one core"
    output: Output = Queue(2 * session.pool.workers + 2)
    threads = Threads(work, feed, session, output)
    cluster: Cluster | None = None
    looked = monotonic()

    def alive() -> bool:
        if threads.watched() or cluster is None:
            return threads.alive
        return cluster.alive and (cluster.is_ready or not feed.finished)  # a Ray that comes too late is not waited for

    try:
        for rows in collect(output, alive, session.stop.asked):
            if cluster is None and monotonic() - looked > LOOK_S:
                looked = monotonic()
                why = _reason(feed, session, worth)
                if why:
                    from .cluster import Cluster

                    session.why = f"{why}; Ray was still starting"
                    cluster = Cluster(work, feed, session, output, on_ready=threads.retire, why=why, optional=True)
            yield rows
        threads.close(1.5)
        if cluster is not None:
            cluster.close(1.5 if cluster.is_ready else 0.0)
        yield from drain(output)
    finally:
        threads.close(1.5)
        if cluster is not None:
            cluster.close(1.5 if cluster.is_ready else 0.0)


def _reason(feed: Feed, session: Session, worth: float) -> str:
    """Why Ray should come, or "" while it should not."""
    if session.pool.address:
        return f"the cluster at {session.pool.address} was asked for"
    if session.pool.workers == 1 or feed.n_chunks < 2 * session.pool.workers + 2:
        return ""
    left = feed.remaining()
    if left is None:
        return ""
    seconds = left.solve_s * session.pool.work_share
    session.estimate = seconds, feed.solved_s * session.pool.work_share
    return f"about {seconds:.0f} s of work for one core were left" if seconds > worth else ""
