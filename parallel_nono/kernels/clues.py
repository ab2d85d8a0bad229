"""The clues of a puzzle set as every kernel takes them: seven arrays in one, named once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arrays import ConstInt32s, ConstUInt16s


class Clues(NamedTuple):
    """The clues of a whole set; views of the Arrow buffers, not copies.

    heights, widths, n_colours  int32[puzzles]
    line_starts   int32[puzzles + 1]; line_starts[p] is the first line of puzzle p, rows first, then columns.
    block_starts  int32[lines + 1]; block_starts[l] is the first block of line l.
    lengths       int32[blocks], 0 for a blot;  colours  uint16[blocks], 1 and up.
    """

    heights: ConstInt32s
    widths: ConstInt32s
    n_colours: ConstInt32s
    line_starts: ConstInt32s
    block_starts: ConstInt32s
    lengths: ConstInt32s
    colours: ConstUInt16s

    def sealed(self) -> Clues:
        """The same clues, read-only."""
        return Clues(*map(sealed, self))

    def of(self, place: int) -> Clues:
        """Those of one puzzle as a set of one: its own facts, and the blocks of the whole set."""
        one = slice(place, place + 1)
        starts = self.line_starts[place : place + 2]
        return Clues(self.heights[one], self.widths[one], self.n_colours[one], starts, *self[4:])


def sealed(array: np.ndarray, kind: Any = None) -> np.ndarray:
    """A read-only view, of type `kind`: Arrow's buffers are read-only, and one type of argument is one compilation."""
    view: np.ndarray = np.ascontiguousarray(array, kind)
    if view.flags.writeable:
        view = view.view()
        view.flags.writeable = False
    return view
