"""What a process of our own does first, so that it starts and ends fast."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

UNWANTED = ("pandas", "colorama")


class _Without:
    """What is unwanted is not found, though it may be there."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname in UNWANTED and not (fullname == "colorama" and "ray" in sys.modules):  # Ray can't do without
            raise ModuleNotFoundError(f"this process does without {fullname}", name=fullname)
        return None


def _open_standard_streams() -> None:
    """Where whoever started us closed a standard descriptor, the next file opened would get its number, and with it
    what is meant for a terminal; and Python has None for a stream. Closed ones lead nowhere: writing standard output is
    an error, and what is said on standard error is lost. Who reads standard input finds None, and says so."""
    for number, how in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDWR)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, how)  # the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - for as long as we live
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def prepare() -> None:
    """Only for processes that are ours alone: the command line and the workers of a cluster.

    pyarrow imports pandas where it finds it, which takes longer than most runs, and Numba imports colorama, which ends
    every process with an escape sequence on the terminal; nothing here has a use for either. And imports make so many
    objects that looking for garbage among them takes a tenth of the start; at the end, when Python would look again,
    they are taken for good, which saves another tenth.
    """
    _open_standard_streams()
    gc.set_threshold(100_000, 20, 50)
    atexit.register(gc.freeze)
    sys.meta_path.insert(0, _Without())
