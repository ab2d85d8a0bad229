"""Solutions as text: rows joined by `/`, one character a cell (`puzzle.letter`), all puzzles of a set in one buffer."""

from __future__ import annotations

import numpy as np

from ..puzzle import LETTERS, letter
from . import kernel
from .arrays import ConstInt32s, ConstInt64s, ConstUInt8s, ConstUInt16s, Int32s, UInt8s
from .clues import sealed

OPEN = "?"
"""A cell without a colour of the palette."""

_NARROW = np.frombuffer(("." + LETTERS[1:]).encode(), np.uint8)
"""Characters of the palettes of up to 53 colours (black and white apart): one byte each."""

_DOT, _HASH, _OPEN, _SLASH = (ord(c) for c in ".#?/")


@kernel
def _write(
    heights: ConstInt32s,
    widths: ConstInt32s,
    n_colours: ConstInt32s,
    cells: ConstUInt16s,
    cell_starts: ConstInt64s,
    alphabet: ConstUInt8s,
    offsets: Int32s,
    text: UInt8s,
):
    """Fill `text` for the puzzles that have room in it; those whose characters are wider are left out."""
    for puzzle in range(len(heights)):
        limit = np.int64(n_colours[puzzle])
        at = np.int64(offsets[puzzle])
        if offsets[puzzle + 1] == at or limit > len(alphabet):
            continue
        cell = cell_starts[puzzle]
        width = np.int64(widths[puzzle])
        black_white = limit == 2
        for row in range(heights[puzzle]):
            if row:
                text[at] = _SLASH
                at += 1
            for place in range(width):
                colour = np.int64(cells[cell + place])
                if colour >= limit:
                    text[at + place] = _OPEN
                elif black_white:
                    text[at + place] = _HASH if colour else _DOT
                else:
                    text[at + place] = alphabet[colour]
            cell += width
            at += width


def text_of(cells: np.ndarray, height: int, width: int, n_colours: int) -> str:
    """One solution as text, plainly. cells: height * width colour indices, row by row."""
    rows = (cells[row * width : (row + 1) * width].tolist() for row in range(height))
    return "/".join("".join(letter(c, n_colours) if c < n_colours else OPEN for c in row) for row in rows)


def texts_of_set(
    heights: np.ndarray,
    widths: np.ndarray,
    n_colours: np.ndarray,
    cells: np.ndarray,
    cell_starts: np.ndarray,
    wanted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The solutions of a set as UTF-8 text, "" for puzzles that are not wanted.

    heights, widths, n_colours  int32[puzzles].
    cells        uint16, colour indices row by row; a colour outside the palette is written `?`.
    cell_starts  int64[puzzles + 1], where the cells of each puzzle begin.
    wanted       bool[puzzles].
    Returns      uint8 text and int32[puzzles + 1] offsets: what `pa.StringArray.from_buffers` takes.
    Errors       ValueError if the text exceeds 2 GiB; a set is meant to be a chunk.
    """
    sizes = np.where(wanted, np.maximum(heights.astype(np.int64) * (widths.astype(np.int64) + 1) - 1, 0), 0)
    wide: dict[int, bytes] = {}
    for puzzle in np.flatnonzero((n_colours > len(_NARROW)) & (sizes > 0)).tolist():
        grid = cells[cell_starts[puzzle] : cell_starts[puzzle + 1]]
        plain = text_of(grid, int(heights[puzzle]), int(widths[puzzle]), int(n_colours[puzzle]))
        wide[puzzle] = plain.encode()
        sizes[puzzle] = len(wide[puzzle])
    ends = np.cumsum(sizes)
    if len(ends) and ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"expected at most 2 GiB of solutions in one set, found {ends[-1]} bytes")
    offsets = np.zeros(len(sizes) + 1, np.int32)
    offsets[1:] = ends
    text = np.empty(offsets[-1], np.uint8)
    _write(
        sealed(heights, np.int32),
        sealed(widths, np.int32),
        sealed(n_colours, np.int32),
        sealed(cells, np.uint16),
        sealed(cell_starts, np.int64),
        _NARROW,
        offsets,
        text,
    )
    for puzzle, encoded in wide.items():
        text[offsets[puzzle] : offsets[puzzle + 1]] = np.frombuffer(encoded, np.uint8)
    return text, offsets
