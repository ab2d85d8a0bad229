"""Whether paths lead to anything, asked before anything is begun or written."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from .containers import OPEN_FILES, Claims, Skipped, nothing_at, sources
from .paths import readable
from .remote import is_remote


class NothingThere(ValueError):
    """A path that leads to nothing; the message says what was expected there."""


def check(paths: Sequence[str], claims: Claims | None = None, nouns: str = "puzzles") -> None:
    """What is checked of PATHS before anything is begun or written: that each leads somewhere, and all to something.

    Errors  NothingThere for a path or a pattern that leads to nothing, and for a folder without puzzles; for paths
            that are all pipes, sockets or devices, which are never read.
    """
    kept = False
    passed: list[Skipped] = []
    for path in paths:
        name = readable(path)
        if path == "-" or is_remote(path) or OPEN_FILES.fullmatch(path) or os.path.isfile(path):
            kept = True
        elif os.path.isdir(path):
            met: list[Skipped] = []
            if next(sources([path], met.append, claims), None) is None:
                found = f"none in {len(met):,} file{'s' * (len(met) != 1)}" if met else "an empty folder"
                raise NothingThere(f"{name}: expected a folder with {nouns}, found {found}")
            kept = True
        elif os.path.exists(path):
            next(sources([path], passed.append, claims), None)
        elif "://" in path:
            kept = True
        elif not glob.has_magic(path):
            raise NothingThere(f"{name}: expected a file or a folder, found {nothing_at(path)}")
        elif next(sources([path], passed.append, claims), None) is not None:
            if not glob.glob(path, recursive=True):
                raise NothingThere(f"{name}: expected files that fit this pattern, found none")
            kept = True
    if not kept:
        found = "; ".join(name.told for name in passed[:3]) or "nothing"
        raise NothingThere(f"expected a file or a folder with {nouns}, found {found}")
