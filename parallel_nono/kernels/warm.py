"""Machine code of everything, made now: for images and nodes, whose later starts then compile nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from . import kernel_functions
from .cache import folder_of
from .native import LIBRARY, NUMBA, PACKAGED, PARTS, file_name, loaded

LOOK_S = 0.1
"""Seconds between two looks at how far the builder is."""


class NotWarm(RuntimeError):
    """Something could not be made; the message says what, and why."""


class Progress(NamedTuple):
    """How far it is: parts, or kernels, that are ready, of how many; and what is at hand."""

    done: int
    total: int
    what: str


def warm_up() -> Iterator[Progress]:
    """Make what is missing. Errors: NotWarm; MissingExtra."""
    native = loaded()
    if native.mode == LIBRARY:
        yield Progress(len(PARTS), len(PARTS), "")
    elif native.mode == NUMBA:
        yield from _by_numba()
    else:
        builder = native.begin()
        while not builder.ended:
            yield Progress(builder.n_ready, len(PARTS), builder.now)
            time.sleep(LOOK_S)
        yield Progress(builder.n_ready, len(PARTS), "")
        if builder.failed:
            part, why = next(iter(builder.failed.items()))
            raise NotWarm(f"{part or 'the library'}: {why}")


def _by_numba() -> Iterator[Progress]:
    from .signatures import numba_type, parameters_of

    if folder_of("kernels") is None:
        raise NotWarm("no folder is here in which machine code could be kept: see XDG_CACHE_HOME")
    for modules in PARTS.values():
        for module in modules:
            import_module(f"parallel_nono.{module}")  # which compiles its function values
    waiting = [each for modules in PARTS.values() for each in kernel_functions(modules) if each.call is None]
    for place, each in enumerate(waiting):
        yield Progress(place, len(waiting), f"compiling {each.function.__name__}")
        each.numba().compile(tuple(map(numba_type, parameters_of(each.function).values())))
    yield Progress(len(waiting), len(waiting), "")


def where() -> str:
    """Where the machine code of this process is from, in a sentence without its end."""
    native = loaded()
    if native.mode == NUMBA:
        return f"compiled by Numba, kept in {folder_of('kernels') or 'no folder'}"
    if native.folder is None:
        return f"the library for {native.level} that comes with the package, {PACKAGED}"
    there = sum((native.folder / file_name(part, native.level)).exists() for part in PARTS)
    parts = "" if there == len(PARTS) else f", {there} of {len(PARTS)} parts; the others are made when they are needed"
    return f"the library for {native.level} in {native.folder}{parts}"
