"""The words that digests are taken of, for a whole puzzle set at once."""

from __future__ import annotations

import numpy as np

from . import kernel
from .arrays import Int64s, UInt32s
from .clues import Clues


def canonical_words(clues: Clues) -> tuple[np.ndarray, np.ndarray]:
    """What `puzzle.canonical_bytes` defines, for all puzzles of a set.

    Returns  little-endian uint32 words of all puzzles after one another, and int64[puzzles + 1] starts: puzzle p
             has words[starts[p] : starts[p + 1]]. A puzzle of height 0 (a row with an error) has none.
    """
    heights, n_colours, colours = clues.heights, clues.n_colours, clues.colours
    n = len(heights)
    starts = np.zeros(n + 1, np.int64)
    if n == 0:
        return np.zeros(0, "<u4"), starts
    n_lines = np.diff(clues.line_starts).astype(np.int64)
    n_blocks = np.diff(clues.block_starts[clues.line_starts]).astype(np.int64)
    np.cumsum(np.where(heights > 0, 2 + n_lines + 2 * n_blocks, 0), out=starts[1:])
    words = np.empty(starts[-1], np.uint32)
    inks = max(int(n_colours.max()), int(colours.max()) + 1 if len(colours) else 0, 2)
    ranks, used_by = np.zeros(inks, np.uint32), np.full(inks, -1, np.int64)
    _canonical_words(clues.sealed(), starts, ranks, used_by, words)
    return words.astype("<u4", copy=False), starts


@kernel
def _canonical_words(clues: Clues, starts: Int64s, ranks: UInt32s, used_by: Int64s, words: UInt32s):
    """Fill `words`. ranks[c] is the number of colour c by first use while used_by[c] is the puzzle at hand."""
    heights, blocks, lengths, colours = clues.heights, clues.block_starts, clues.lengths, clues.colours
    for p in range(len(heights)):
        if heights[p] <= 0:
            continue
        at = starts[p]
        words[at] = heights[p]
        words[at + 1] = clues.widths[p]
        at += 2
        n_ranks = 0
        for line in range(clues.line_starts[p], clues.line_starts[p + 1]):
            words[at] = blocks[line + 1] - blocks[line]
            at += 1
            for block in range(blocks[line], blocks[line + 1]):
                colour = colours[block]
                if used_by[colour] != p:
                    used_by[colour] = p
                    n_ranks += 1
                    ranks[colour] = n_ranks
                words[at] = lengths[block]
                words[at + 1] = ranks[colour]
                at += 2
