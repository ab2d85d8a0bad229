"""Engines move chunks of puzzles to workers and bring rows back. One verb, the same for all of them:

run(work, feed, session) -> iterator of row batches in order of finishing; closing it cancels the rest
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from .errors import ABANDONED as ABANDONED
from .errors import EngineError as EngineError

if TYPE_CHECKING:
    import pyarrow as pa

    from .feed import Feed
    from .session import Session
    from .work import Work

ENGINES = {"auto": "auto", "local": "local", "ray": "cluster"}
"""Names for the command line and the modules whose `run` they are."""


def engine(name: str) -> Callable[[Work, Feed, Session], Iterator[pa.RecordBatch]]:
    """The verb of the engine of that name. Errors: ValueError naming those there are."""
    if name not in ENGINES:
        raise ValueError(f"expected an engine of {', '.join(ENGINES)}, found {name!r}")
    run: Callable[[Work, Feed, Session], Iterator[pa.RecordBatch]] = import_module(f".{ENGINES[name]}", __name__).run
    return run
