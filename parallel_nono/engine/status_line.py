"""What a worker tells its watcher: one 64-byte line of int64 in shared memory, read and written without a lock."""

from __future__ import annotations

import numpy as np

ABORT, PLACE, COUNT, SINCE_MS, LEASE, RECALLED, STATUS_WORDS = 0, 1, 2, 3, 4, 5, 8
"""ABORT: 0, or what the worker shall do (below). RECALLED: leases up to this number that were not begun are not wanted
any more."""
STOP, STOP_FOR_GOOD, HAND_BACK = 1, 2, -1
"""Values of ABORT: stop this chunk at once; this and all that follow; end the puzzle in hand and give back the others
of this chunk. Kernels know what is more than 0 from what is less."""

READING, IDLE = -1, -2
"""Values of PLACE while the texts of a chunk are read, and between chunks."""


def new_status_line() -> np.ndarray:
    """A status line of a worker that nobody watches."""
    status = np.zeros(STATUS_WORDS, np.int64)
    status[PLACE] = IDLE
    return status
