"""The clues of many pictures of one size at once."""

from __future__ import annotations

import numpy as np

_MOST_CELLS = 1 << 22  # drawn at once: keeps the temporary arrays at some tens of MiB


def lines_of(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The blocks of black-white pictures as `SetBuilder.add_black_white` takes them.

    cells    uint8[count, height, width] of 0 and 1.
    Returns  int32 blocks of each line, rows first in each picture; int32 lengths of all blocks.
    """
    count, height, width = cells.shape
    n_lines, room = height + width, max(height, width) + 2
    chunk = max(1, _MOST_CELLS // (n_lines * room))
    counts = np.empty((count, n_lines), np.int32)
    lengths = []
    for first in range(0, count, chunk):
        part = cells[first : first + chunk]
        # A blank cell at both ends of each line, so that every run has a beginning and an end inside.
        lines = np.zeros((len(part), n_lines, room), np.int8)
        lines[:, :height, 1 : width + 1] = part
        lines[:, height:, 1 : height + 1] = part.transpose(0, 2, 1)
        change = np.diff(lines, axis=2)
        counts[first : first + chunk] = (change == 1).sum(2)
        lengths.append((np.flatnonzero(change == -1) - np.flatnonzero(change == 1)).astype(np.int32))
    return counts.ravel(), np.concatenate(lengths) if lengths else np.zeros(0, np.int32)
