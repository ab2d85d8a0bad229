"""Where things lie in the work arrays of a puzzle, and how much room they take: said once, as plain arithmetic.

NumPy asks for whole sets, kernels ask compiled (CUDA and WebAssembly too), shared memory is cut by it. One thread
solves in two arrays, kept as few as this because every array costs seven registers a call:

    words    uint64   SCRATCH  of the narrow line kernel
                      DIRTY    waiting lines as bits; after propagation the lines that were visited
                      + line_words   `touched`: the lines that decided the outcome of a probe
                      + line_words   `reach`: for each cell the lines that decided its last probe
                      scratch        of the other line kernels, as much as the largest puzzle of a call needs
                      stack          states: UNION, TRIAL, BEFORE, ROOT, then one a level of the search
    numbers  int64    board.CONTROLS, COUNTS, CHOICE, then
                      LINES    for each line, when it changed last
                      + lines  three numbers a cell about its last probe, see board.note_of
                      tables   of the other line kernels, see wide
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import arithmetic

SCRATCH, DIRTY = 0, 128
"""Places in words."""

LINES = 24
"""Place in numbers, behind those that have names of their own."""

UNION, TRIAL, BEFORE, ROOT, LEVELS = 0, 1, 2, 3, 4
"""States of the stack, in multiples of state_words: the union of a cell's outcomes, one outcome, a state as it was
before a change, what lines and probes left, and from LEVELS on one state for each level of the search."""

FIRST_LEVELS = 64
"""Levels of search that there is room for at first; what goes deeper starts again with eight times as many."""

MAX_REACH_WORDS = 1 << 24
"""Above this a board notes no reaches (128 MiB)."""

NARROW = 64
"""Lines up to this length fit one word; a puzzle with no longer line is narrow."""

BLOCK_TABLES = 8
"""Tables with a number for each block that the work of a line keeps (windows.LineWork)."""

SEGMENT = 128
"""Blocks of a line that windows.solve_segments looks at at a time."""

MAX_ARENA_WORDS = 1 << 18
"""Above this (2 MiB) a line gets no more room than for one segment of its blocks and what is kept of the others."""

COLOUR_OUT = 128
"""Where the planes that come out stand in the scratch words of a coloured line of up to 64 cells."""


class Places(NamedTuple):
    """What follows from the size of a puzzle; numbers, or arrays of them.

    row_words     words of one plane of a row;  column_words  likewise.
    line_words    of a set of lines as bits: the rows' words, then the columns'.
    state_words   of a whole run of planes, both views.
    reach_words   of the reach of each cell's probe; 0 where there is no room to note any.
    lane_scratch  where the scratch words begin of a worker that does nothing but solve lines.
    scratch       where those of everybody else begin, behind the reaches.
    tables        where the tables of long and coloured lines begin in numbers.
    """

    row_words: Any
    column_words: Any
    line_words: Any
    state_words: Any
    reach_words: Any
    lane_scratch: Any
    scratch: Any
    tables: Any


@arithmetic
def places_of(height: Any, width: Any, n_colours: Any) -> Any:
    """The Places of puzzles of these sizes and so many colours, the background included and two at least.

    One function, and no other called: each that kernels ask takes its time to compile.
    """
    row_words, column_words = (width + 63) >> 6, (height + 63) >> 6
    line_words, cells = row_words + column_words, height * width
    reach_words = line_words * (cells * line_words <= MAX_REACH_WORDS)
    lane_scratch = DIRTY + 2 * line_words
    return Places(
        row_words,
        column_words,
        line_words,
        (height * row_words + width * column_words) * n_colours,
        reach_words,
        lane_scratch,
        lane_scratch + cells * reach_words,
        LINES + height + width + 3 * cells,
    )


@arithmetic
def plane_words(cells: Any) -> Any:
    """Words of one plane of a line of so many cells."""
    return (cells + 63) >> 6


@arithmetic
def line_at(height: Any, width: Any, n_colours: Any, line: Any) -> Any:
    """Of one line of a state: where its planes begin, the words of each, its cells. Numbers only."""
    row_words, column_words = (width + 63) >> 6, (height + 63) >> 6
    if line < height:
        return line * n_colours * row_words, row_words, width
    return (height * row_words + (line - height) * column_words) * n_colours, column_words, height


@arithmetic
def levels_of(cells: Any, state: Any, levels: Any, max_stack: Any) -> Any:
    """Levels of the search that get room, where `levels` are asked; FIRST_LEVELS take `max_stack` words at most."""
    most = np.maximum(max_stack // state, 1) * levels // FIRST_LEVELS + 1
    return np.maximum(np.minimum(np.minimum(cells + 2, levels), most), 1)


@arithmetic
def first_level_at(places: Any, scratch: Any) -> Any:
    """Where the state begins that puzzles are propagated in, behind so many scratch words."""
    return places.scratch + scratch + LEVELS * places.state_words


@arithmetic
def work_words(places: Any, scratch: Any, n_levels: Any) -> Any:
    """Length of words."""
    return first_level_at(places, scratch) + n_levels * places.state_words + 2


# Scratch words of the line kernels.


@arithmetic
def colour_scratch(n_colours: Any) -> Any:
    """Scratch words of a narrow coloured puzzle."""
    return COLOUR_OUT + n_colours


@arithmetic
def line_scratch(n_colours: Any, blocks: Any, slack: Any, words: Any) -> Any:
    """Scratch words that each line takes: two runs for each of its colours, four arenas, some words to read beyond.

    n_colours  of the palette, background included;  blocks, slack (cells that no block fills), words  of the lines.
    """
    colours = np.minimum(n_colours, blocks + 1)
    windows = (np.maximum(slack, 0) + 64) // 64 + 1
    arenas = 4 * blocks * windows
    segmented = (blocks // SEGMENT + 1 + 4 * (SEGMENT + 1)) * windows
    by_windows = 2 * colours * (words + 1) + np.minimum(arenas, np.maximum(segmented, MAX_ARENA_WORDS)) + 8
    return np.maximum(by_windows, 64 + 6 * (blocks + 1))  # solve_line_3 takes 63 words and six a block


@arithmetic
def blot_scratch(n_colours: Any, blocks: Any, words: Any) -> Any:
    """Scratch words that each line takes if it has a blot (blots.solve_line_blots); arguments as of line_scratch."""
    colours = np.minimum(n_colours, blocks + 1)
    return 2 * colours * (words + 1) + (4 * blocks + 5) * words + 8


# In numbers.


@arithmetic
def table_numbers(n_colours: Any, lines: Any, blocks: Any) -> Any:
    """Numbers that the tables of a puzzle take: a few facts, two a line, two bounds a block, the work of a line."""
    return 2 + 2 * lines + 2 * blocks + line_numbers(n_colours, blocks)


@arithmetic
def line_numbers(n_colours: Any, blocks: Any) -> Any:
    """Numbers that the work of a line of up to so many blocks takes (windows.LineWork)."""
    return BLOCK_TABLES * (blocks + 1) + n_colours


def filled_cells(lengths: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """int64[lines], the cells that the blocks of each line fill; its blocks are lengths[blocks[i] : blocks[i + 1]]."""
    sums = np.zeros(len(blocks) - 1, np.int64)
    some = np.flatnonzero(np.diff(blocks))
    if len(some):
        sums[some] = np.add.reduceat(lengths[: blocks[-1]], blocks[some], dtype=np.int64)
    return sums
