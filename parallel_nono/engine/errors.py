"""How an engine says that it can't go on."""

from __future__ import annotations


class EngineError(Exception):
    """The engine can't work here; the message says why and what to do.

    >>> from parallel_nono import EngineError, RunOptions, run
    >>> try:
    ...     run(RunOptions("datasets/", engine="ray", address="127.0.0.1:9"))
    ... except EngineError as error:
    ...     print(str(error).partition(":9")[0])
    --address 127.0.0.1
    """


ABANDONED: list[str] = []
"""Why this process had better end at once: Ray's library waits a minute for a cluster that is gone, then kills us."""
