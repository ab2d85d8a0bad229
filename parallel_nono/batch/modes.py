"""What workers share out: whole puzzles, the lines of one puzzle, or either, as it pays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..engine import engine

if TYPE_CHECKING:
    import pyarrow as pa

    from ..engine.feed import Feed
    from ..engine.session import Session
    from ..engine.work import Work

MODES = ("auto", "puzzles", "lines")
"""Whole puzzles to each worker; the lines of one puzzle to all of them; or that for puzzles large enough to gain."""


def rows(name: str, mode: str, work: Work, feed: Feed, session: Session) -> Iterator[pa.RecordBatch]:
    """Rows of the engine of that name in that mode, in order of finishing; closing the iterator cancels the rest.

    Errors: ValueError naming what there is; EngineError.
    """
    if mode not in MODES:
        raise ValueError(f"expected a mode of {', '.join(MODES)}, found {mode!r}")
    if mode == "lines":
        from ..lanes import run as lanes

        return lanes.run(work, feed, session, "ray" if name == "ray" or session.pool.address else "local")
    if (
        mode == "auto"
        and name != "ray"
        and not session.pool.address
        and session.pool.workers > 1
        and work.kind.takes_lines
    ):
        return _with_lines(name, work, feed, session)
    return engine(name)(work, feed, session)


def _with_lines(name: str, work: Work, feed: Feed, session: Session) -> Iterator[pa.RecordBatch]:
    """The engine of that name, with lines mode for the puzzles that gain by it."""
    from ..lanes.auto import WhenWorthIt, with_lines

    lanes = WhenWorthIt(session.pool.workers, timeline=session.timeline)
    try:
        yield from engine(name)(with_lines(work, lanes), feed, session)
    finally:
        session.stop.ended &= lanes.close(2.0)
