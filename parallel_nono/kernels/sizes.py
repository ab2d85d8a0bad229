"""How much room the work arrays of a puzzle need (see board); plain numpy, so that asking compiles nothing."""

from __future__ import annotations

import numpy as np

BLOCK_TABLES = 8
"""Tables with a number for each block that the desk of windows.Desk keeps."""

SEGMENT = 128
"""Blocks of a line that windows.settle_segments looks at at a time."""

MAX_ARENA_WORDS = 1 << 18
"""Above this (2 MiB) a line gets no more room than for one segment of its blocks and what is kept of the others."""

COLOUR_OUT = 128
"""Where the planes that come out stand in the scratch words of a coloured line of up to 64 cells."""


def colour_scratch(n_colours: int) -> int:
    """Scratch words of a narrow coloured puzzle."""
    return COLOUR_OUT + n_colours


def line_scratch(n_colours: int, blocks: np.ndarray, slack: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Scratch words that each line takes: two runs for each of its colours, four arenas, some words to read beyond.

    n_colours  of the palette, background included;  blocks, slack (cells that no block fills), words  of the lines.
    """
    colours = np.minimum(n_colours, blocks + 1)
    windows = (np.maximum(slack, 0) + 64) // 64 + 1
    arenas = 4 * blocks * windows
    segmented = (blocks // SEGMENT + 1 + 4 * (SEGMENT + 1)) * windows
    by_windows = 2 * colours * (words + 1) + np.minimum(arenas, np.maximum(segmented, MAX_ARENA_WORDS)) + 8
    return np.maximum(by_windows, 64 + 6 * (blocks + 1))  # settle_3 takes 63 words and six a block


def blot_scratch(n_colours: int, blocks: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Scratch words that each line takes if it has a blot (see blots.settle_blots); arguments as of line_scratch."""
    colours = np.minimum(n_colours, blocks + 1)
    return 2 * colours * (words + 1) + (4 * blocks + 5) * words + 8


def table_numbers(n_colours: np.ndarray | int, lines: np.ndarray, blocks: np.ndarray | int) -> np.ndarray:
    """Numbers that the tables of puzzles take (see board.tables_of)."""
    return 2 + 2 * lines + 2 * blocks + BLOCK_TABLES * (blocks + 1) + n_colours


def filled_cells(lengths: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """int64[lines], the cells that the blocks of each line fill; its blocks are lengths[blocks[i] : blocks[i + 1]]."""
    sums = np.zeros(len(blocks) - 1, np.int64)
    some = np.flatnonzero(np.diff(blocks))
    if len(some):
        sums[some] = np.add.reduceat(lengths[: blocks[-1]], blocks[some], dtype=np.int64)
    return sums
