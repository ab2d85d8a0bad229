"""Waiting for compiled code in a way that Ctrl-C can end."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread
from typing import Any


def patiently(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that stays in compiled code for long, such that Ctrl-C ends the wait at once."""
    outcome: list[Any] = []

    def call() -> None:
        try:
            outcome.append((function(*arguments), None))
        except BaseException as error:  # it is raised again below, in the thread that asked
            outcome.append((None, error))

    thread = Thread(target=call, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1 if os.name == "nt" else None)  # elsewhere a signal ends the wait
    result, error = outcome[0]
    if error is not None:
        raise error
    return result
