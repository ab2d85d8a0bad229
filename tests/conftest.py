"""Shared fixtures. `../shared` holds benchmark puzzles and right solutions that are not ours to ship."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The first compiled call takes seconds, so no example has a deadline. What decides if a change may land tries the same
# examples every time; a run by hand tries new ones.
settings.register_profile("pnono", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("pnono")

# A shell has what it starts in the background ignore Ctrl-C, and children inherit that: those that tests interrupt
# would not hear it. With a handler of ours, children have the default.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup
    signal.signal(signal.SIGHUP, lambda *_: None)

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of puzzles and truths beside the checkout; a test that needs it is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared beside the checkout (benchmark puzzles that are not ours to ship)")
    return SHARED
