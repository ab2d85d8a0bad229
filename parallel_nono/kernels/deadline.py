"""When a kernel gives up: a wall clock, a CPU clock, or another thread that says stop.

A thread has used no more CPU time than wall time. So loops compare the wall clock, which costs 2 ns, with the first
moment at which either limit can be reached; only there is the CPU clock asked, which costs 300 ns, and how much of its
limit is left says when to look again.
"""

from __future__ import annotations

import time

import numpy as np

from . import kernel
from .bits import coarse_nanoseconds, cpu_nanoseconds, load_int64, nanoseconds

DEADLINE, STOP, WALL_END, CPU_END = 0, 1, 3, 4
"""Places in `numbers`: when to look at the other clocks, by the monotonic one; the address of an int64 that another
thread sets to stop this one: more than 0 at once, less than 0 before the next puzzle; the ends by the monotonic clock
and by the CPU clock of this thread, the latter 0 for none. All clocks in nanoseconds."""


@kernel(inner=True)
def set_ends(numbers, limit, cpu_limit):
    """Set what `is_past` looks at: both limits in nanoseconds from now, the second 0 for none. Returns now."""
    now = nanoseconds()
    numbers[WALL_END] = numbers[DEADLINE] = now + limit
    numbers[CPU_END] = 0
    if cpu_limit:
        numbers[CPU_END] = cpu_nanoseconds() + cpu_limit
        numbers[DEADLINE] = now + min(limit, cpu_limit)
    return now


def set_limits(numbers: np.ndarray, limit: int, cpu_limit: int) -> None:
    """`set_ends` for those who call a kernel that has no such call: the same clocks."""
    now = time.monotonic_ns()
    numbers[WALL_END] = now + limit
    numbers[DEADLINE] = now + min(limit, cpu_limit or limit)
    numbers[CPU_END] = time.thread_time_ns() + cpu_limit if cpu_limit else 0


@kernel(inner=True)
def no_time_left(numbers):
    """True when a limit is reached; else DEADLINE is the next moment at which one can be."""
    now = nanoseconds()
    if not numbers[CPU_END] or now >= numbers[WALL_END]:
        return True
    left = numbers[CPU_END] - cpu_nanoseconds()
    numbers[DEADLINE] = min(numbers[WALL_END], now + left)
    return left <= 0


@kernel(inline=True)
def is_past(numbers):
    """True when the time is up."""
    return coarse_nanoseconds() > numbers[DEADLINE] and no_time_left(numbers)


@kernel(inline=True)
def is_late(numbers):
    """True when the time is up or another thread wants an end."""
    return load_int64(numbers[STOP]) > 0 or is_past(numbers)
