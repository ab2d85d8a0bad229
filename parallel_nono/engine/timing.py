"""What tells whether a timing can be trusted, and what makes it so: a core of one's own, a calibration, and gauges.

A core is claimed by a lock on a file that all runs of a user on this machine share, so that two of them never bind
their workers to the same one; the system takes the lock back when its holder dies.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING

import numpy as np
import psutil

from . import EngineError

if TYPE_CHECKING:
    import pyarrow as pa

    from .work import Place, Work

HAS_GAUGES = sys.platform == "linux"
CLAIM_S = 10.0
"""A worker waits so long for a core: the one before it may be about to end."""

CALIBRATION = (("blobs", 128, 20), ("noise", 8, 20))
"""Generator, number and size of the puzzles that are the calibration; seeds from 0. Never changed: old figures would
lose their meaning."""

PASSES = 8

GAUGE_S = 1.0
"""Gauges of a process that several workers share are read once in so many seconds."""


# Gauges.


_max_mib = 0.0


def recent_peak_mib() -> float:
    """The most memory that this process used since `fresh_peak`, or since it began."""
    if HAS_GAUGES and (mib := peak_mib_of("self")):  # ru_maxrss would count the process we came from
        return mib
    if sys.platform == "win32":
        return float(psutil.Process().memory_info().peak_wset / 2**20)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def peak_mib_of(process: int | str) -> float:
    """The most memory that a process used, by its number; 0 where the system does not tell, or it is gone."""
    try:
        with open(f"/proc/{process}/status", "rb", buffering=0) as file:
            text = file.read(4096)
    except OSError:
        return 0.0
    at = text.find(b"VmHWM:")
    return int(text[at + 6 : text.index(b"kB", at)]) / 2**10 if at >= 0 else 0.0


def peak_mib() -> float:
    """The most memory that this process ever used."""
    global _max_mib
    _max_mib = max(_max_mib, recent_peak_mib())
    return _max_mib


class _Gauges:
    """What the gauges of memory showed when they were read last."""

    read_at, peak, recent = float("-inf"), 0.0, 0.0


def memory_mib(now: bool) -> tuple[float, float]:
    """`peak_mib` and `recent_peak_mib`, as of the last `GAUGE_S` seconds: asking the system takes as long as a puzzle.

    now  True: as of now.
    """
    if now or monotonic() - _Gauges.read_at > GAUGE_S:
        _Gauges.recent = recent_peak_mib()
        _Gauges.peak, _Gauges.read_at = max(peak_mib(), _Gauges.recent), monotonic()
    return _Gauges.peak, _Gauges.recent


def fresh_peak() -> None:
    """Let `recent_peak_mib` begin anew, where the system can.

    Only for processes of our own making: whoever waits for this one learns the peak since the last call.
    """
    peak_mib()
    with suppress(OSError), open("/proc/self/clear_refs", "wb", buffering=0) as file:  # another system, or a sandbox
        file.write(b"5")


def preemptions() -> int:
    """How often this thread had to leave its core for another one; 0 where the system does not tell."""
    if not HAS_GAUGES:
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def load() -> float:
    """Threads that wanted a core of this host, averaged over a minute; 0 where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def stolen_s() -> float:
    """Seconds in which others ran on the cores of this virtual machine, of all cores; 0 if it does not tell."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


# A core of one's own.


def pinnable() -> list[int]:
    """The cores that we may run on: one of every pair that shares its units first, then their twins.

    Errors: EngineError where the system can't bind a thread to a core.
    """
    if not hasattr(os, "sched_getaffinity"):
        raise EngineError("--pin: expected a system that can bind threads to cores (Linux), found another")
    cores = sorted(os.sched_getaffinity(0))
    return sorted(cores, key=lambda core: (_rank_among_twins(core), core))


def _rank_among_twins(core: int) -> int:
    """0 for the first of the cores that share their units with this one."""
    try:
        text = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text()
        first = [int(part.split("-")[0]) for part in text.strip().split(",")]
    except (OSError, ValueError):  # not told: all are alike
        return 0
    last = int(text.strip().rpartition("-")[2]) if "-" in text else first[-1]
    twins = range(first[0], last + 1) if "-" in text else first
    return list(twins).index(core) if core in twins else 0


def claim_core() -> tuple[int, IO[bytes]]:
    """Bind this thread, and those it starts, to a core that no other worker of ours has.

    Returns  the core, and a file whose closing gives it back.
    Errors   EngineError if all cores stay taken for `CLAIM_S` seconds.
    """
    import fcntl

    folder, cores = _folder_of_locks(), pinnable()
    deadline = monotonic() + CLAIM_S
    while True:
        for core in cores:
            file = open(folder / str(core), "wb")  # noqa: SIM115 - it is what holds the core
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                continue
            os.sched_setaffinity(0, {core})
            return core, file
        if monotonic() > deadline:
            raise EngineError(f"--pin: expected a free core for every worker, found all {len(cores)} of them taken")
        sleep(0.05)


def _folder_of_locks() -> Path:
    folder = Path(tempfile.gettempdir()) / f"pnono-cores-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if facts.st_uid != os.getuid() or folder.is_symlink():
        raise EngineError(f"--pin: expected {folder} to belong to you, found it belongs to another user")
    return folder


# The calibration.

_calibrating = Lock()


def calibration_s() -> float:
    """Seconds that this thread needs for the calibration: the least of `PASSES`, so that neighbours count little.

    The same puzzles, solved in the same steps by the same version; on another machine in another time. Workers of one
    process take turns, as a queue for the interpreter is none of the machine's properties.
    """
    from ..attempt import Limits
    from ..solver import solve_set

    abort, limits = np.zeros(1, np.int64), Limits()
    with _calibrating:
        sets = calibration_sets()
        return min(sum(float(solve_set(one, limits, abort).solve_s.sum()) for one in sets) for _ in range(PASSES))


@cache
def calibration_sets() -> list[pa.RecordBatch]:
    from ..generator import generate_set

    return [generate_set(generator, count, size, size, seed=0) for generator, count, size in CALIBRATION]


def readied(work: Work, place: Place) -> tuple[Place, IO[bytes] | None]:
    """A worker's place once it has what `work` asks for: a core, a measured calibration.

    Returns  the place, and what to close when the worker ends. Errors: EngineError.
    """
    core, file = claim_core() if work.pin else (-1, None)
    return replace(place, core=core, calibration_s=calibration_s() if work.calibrate else 0.0), file
