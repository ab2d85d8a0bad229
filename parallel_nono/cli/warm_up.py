"""`pnono warm-up`: compile now what later starts would have to."""

from __future__ import annotations

import sys

from ..pictures.door import console, say
from .common import complain
from .exits import Code, Failure


def warm_up() -> None:
    """Compile the solver now, so that later starts need not: for images and new nodes.

    A package for Linux on x86-64 or arm64 has its machine code with it, and there is nothing to do. From a checkout, or
    on an older processor, the code is made when it is first needed; this makes all of it, on all cores, and keeps it
    under $XDG_CACHE_HOME/pnono (~/.cache/pnono).

    \b
    pnono warm-up

    \b
    Exit codes: 0 all is ready; 69 something is missing to make it.
    """
    from ..kernels.cache import when_told
    from ..kernels.warm import NotWarm, where

    when_told(complain)
    try:
        _show()
    except NotWarm as error:
        raise Failure(Code.UNAVAILABLE, str(error)) from error
    say(f"ready: {where()}")


def _show() -> None:
    """A bar in a terminal, else a line for each part that is ready."""
    from ..kernels.warm import warm_up as steps

    if not sys.stderr.isatty():
        before = -1
        for done, total, _ in steps():
            if 0 <= before < done:
                say(f"pnono: {done} of {total} are ready", file=sys.stderr, flush=True)
            before = done
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=console(sys.stderr), transient=True) as bar:
        task = bar.add_task("", total=None)
        for done, total, what in steps():
            bar.update(task, completed=done, total=total, description=what)
