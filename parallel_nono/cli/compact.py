"""`pnono compact`: few files instead of many parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..pictures.door import say
from .common import counted


def compact(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of results, as `pnono run` made them.")],
) -> None:
    """Merge the many parts of a run into a few files: one for each host, or more if they would be very large.

    The rows stay as they are: the new files are read back and compared with the parts, by number and by a digest over
    every value, before they take their place. Killed at any moment, it leaves either the parts or the files, whole.
    Rows of an older version get today's columns. A run that ends with more than 32 parts does this by itself.

    \b
    pnono compact runs/first

    \b
    Exit codes: 0 compacted, or nothing to do; 3 no results, or damaged ones; 74 the folder can't be written, or a run
    is writing there.
    """
    from ..report.compact import compact as compacted
    from .report import results_at_hand

    for run in runs:
        with results_at_hand(run):
            done = compacted(run)
        parts = counted(done.n_before, "part")
        if not done.changed:
            say(f"{run}: {parts} with {counted(done.n_rows, 'row')}: nothing to do")
        else:
            sizes = f"{done.bytes_before / 2**20:.1f} MiB became {done.bytes_after / 2**20:.1f} MiB"
            say(f"{run}: {parts} with {counted(done.n_rows, 'row')} are now {counted(done.n_after, 'file')}; {sizes}")
