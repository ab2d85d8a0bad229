"""Processes that may end at any moment, also between two looks at them."""

from __future__ import annotations

import psutil


def title(process: psutil.Process, words: int | None = None) -> str:
    """Its command line, or the first so many words of it; "" once it is gone."""
    try:
        return " ".join(process.cmdline()[:words])
    except psutil.Error:
        return ""


def lives(process: psutil.Process) -> bool:
    """True unless it has ended."""
    try:
        return bool(process.is_running()) and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
