"""The clues of many pictures of one size at once, or of one huge picture."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_MAX_CELLS = 1 << 22  # looked at at once: keeps the temporary arrays at some tens of MiB


def lines_of(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The blocks of pictures as `SetBuilder` takes them.

    cells    [count, height, width], colour indices.
    Returns  int32 blocks of each line, rows first in each picture; int32 lengths and uint16 colours of all blocks.
    """
    counts, lengths, colours = [], [], []
    for lines in _lines(cells):
        # A blank cell at both ends of each line, so that every run has a beginning and an end inside.
        padded = np.zeros((len(lines), lines.shape[1] + 2), lines.dtype)
        padded[:, 1:-1] = lines
        here, before = padded[:, 1:], padded[:, :-1]
        changes = here != before
        begins = changes & (here != 0)
        starts = np.flatnonzero(begins)
        counts.append(begins.sum(1, dtype=np.int32))
        lengths.append((np.flatnonzero(changes & (before != 0)) - starts).astype(np.int32))
        colours.append(here[begins].astype(np.uint16))
    return _joined(counts, np.int32), _joined(lengths, np.int32), _joined(colours, np.uint16)


def _lines(cells: np.ndarray) -> Iterator[np.ndarray]:
    """All lines in order, [lines, cells] at a time: of small pictures several at once, of a huge one a strip."""
    count, height, width = cells.shape
    n_lines, room = height + width, max(height, width)
    several = _MAX_CELLS // (n_lines * room)
    for first in range(0, count, max(several, 1)):
        if several:
            part = cells[first : first + several]
            lines = np.zeros((len(part), n_lines, room), cells.dtype)
            lines[:, :height, :width] = part
            lines[:, height:, :height] = part.transpose(0, 2, 1)
            yield lines.reshape(-1, room)
            continue
        for view in (cells[first], cells[first].T):
            step = max(1, _MAX_CELLS // view.shape[1])
            for start in range(0, len(view), step):
                yield view[start : start + step]


def _joined(pieces: list[np.ndarray], kind: type) -> np.ndarray:
    return np.concatenate(pieces) if pieces else np.zeros(0, kind)
