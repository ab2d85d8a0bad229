"""The planes of a puzzle of which some cells are known, without solving anything."""

from __future__ import annotations

import numpy as np

from . import kernel
from .arrays import UInt16s, UInt64s
from .board import KEEP, board_of, open_planes, set_cell
from .clues import Clues
from .layout import ROOT


@kernel
def known_planes(place: int, clues: Clues, known: UInt16s, words: UInt64s):
    """Fill the state ROOT of puzzle `place` of a set (see clues) in words, without scratch words.

    known    uint16[cells], colour indices row by row, OPEN_CELL where nothing is; a colour beyond the palette likewise.
    words    uint64; nothing is written where it is too short.
    Returns  the words that it takes.
    """
    board = board_of(place, clues, np.int64(0))
    base = board.stack + ROOT * board.state_words
    need = base + board.state_words
    if need > len(words):
        return need
    open_planes(words, base, board)
    for row in range(board.height):
        for column in range(board.width):
            colour = np.int64(known[row * board.width + column])
            if colour < board.n_colours:
                set_cell(words, base, board, row, column, colour, KEEP)
    return need
