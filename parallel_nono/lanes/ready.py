"""All kernels that lines mode calls, compiled before any puzzle's time begins."""

from __future__ import annotations

from ..attempt import Limits
from ..kernels.native import LIBRARY, loaded
from ..solver.pipeline import solve_set
from .compiling import compile_lanes, one_cell
from .coordinator import Coordinator
from .team import Threads

CLOSE_S = 5.0
"""Seconds that a thread with nothing to do may take to end."""


def compile_all() -> None:
    """Those of workers, of whoever shares out the lines, and of the stages that follow; nothing if the library has them
    all."""
    compile_lanes()
    if loaded().mode == LIBRARY:
        return
    lines = Coordinator(Threads(1))
    try:
        solve_set(one_cell(), Limits(), lines=lines)
    finally:
        lines.close(CLOSE_S)
