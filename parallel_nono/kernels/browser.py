"""The solver as a browser calls it: one puzzle at a time, asked for and answered on one run of numbers, the
*workspace*.

This module is compiled for WebAssembly only (web.wasm), where no function asks anything of its host: there is no clock,
so a long search returns after so many visits to lines and goes on when it is called again. The host gives the room: it
writes the puzzle, calls `measure`, finds room for what that asks for, calls `begin`, then `go_on` while it is SPENT.
Arrays are made of addresses in every function anew: without reference counts none can return one.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from . import kernel
from .bits import U0, U1, U
from .board import (
    CALL,
    COUNTS,
    FOUND,
    LEVEL,
    N_COUNTS,
    NO_END,
    SPENT,
    board_of,
    forget_visits,
    tables_of,
    write_cells,
)
from .clues import Clues
from .colour import propagate_colour, solve_line_colour
from .deadline import STOP
from .fit import FITS, misfits
from .layout import COLOUR_OUT, LEVELS, NARROW
from .narrow import propagate_narrow, solve_line_narrow
from .probe import probe
from .search import search
from .solve import Asked, Outputs, solve
from .survey import COLOUR_FAMILY, NARROW_FAMILY, WIDE_FAMILY, room
from .wide import propagate_wide, remaining, solve_line
from .workspace import FIELDS, PLACE

HEIGHT, WIDTH, COLOURS_OF_PALETTE = PLACE["height"], PLACE["width"], PLACE["n_colours"]
NO_LINE, LINES_OF_PUZZLE, BLOCKS_OF_PUZZLE = (PLACE["no_line"], PLACE["n_lines"], PLACE["n_blocks"])
BLOCKS, LENGTHS, COLOURS = PLACE["blocks"], PLACE["lengths"], PLACE["colours"]
WORDS, NUMBERS, CELLS, VIEW, SUMS = (PLACE[name] for name in ("words", "numbers", "cells", "view", "sums"))
LEVELS_ASKED, STAGES, WANTED = PLACE["levels"], PLACE["stages"], PLACE["wanted"]
MAX_PROBES, MAX_VISITS, MORE = (PLACE["max_probes"], PLACE["max_visits"], PLACE["more"])
FAMILY_FOUND, SCRATCH_WORDS, N_WORDS, N_NUMBERS = (
    PLACE[name] for name in ("family", "scratch", "n_words", "n_numbers")
)
VERDICT, NEEDED, BLOTTED = PLACE["verdict"], PLACE["needed"], PLACE["blotted"]
STATUS, STAGE, FOUND_SOLUTIONS, LINED, LEFT = (PLACE[name] for name in ("status", "stage", "found", "lined", "left"))
START, COUNTS_OUT, TIMES, ORDER, NEVER = (PLACE[name] for name in ("start", "counts", "times", "order", "never"))

FAMILY = 2
"""Where numbers, beside deadline.STOP, say which propagation the puzzle takes."""

MAX_STACK_WORDS = 1 << 24
"""Words (128 MiB) that the first levels of the search may take together."""


@intrinsic
def array_at(typing_context, address, shape, dtype):
    """The array of that shape, a tuple, that begins at an address."""
    array = types.Array(dtype.dtype, len(shape), "C")

    def code(context, builder, signature, arguments):
        lengths = cgutils.unpack_tuple(builder, arguments[1])
        size = context.get_abi_sizeof(context.get_data_type(array.dtype))
        strides = [context.get_constant(types.intp, size)]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        made = context.make_array(array)(context, builder)
        data = builder.inttoptr(arguments[0], context.get_data_type(array.dtype).as_pointer())
        populate_array(made, data=data, shape=lengths, strides=strides, itemsize=size, meminfo=None)
        return made._getvalue()

    return array(types.int64, shape, dtype), code


@kernel(inline=True)
def clues_at(workspace, blocks, lengths, colours):
    """The clues of the puzzle."""
    return Clues(
        workspace[HEIGHT : HEIGHT + 1],
        workspace[WIDTH : WIDTH + 1],
        workspace[COLOURS_OF_PALETTE : COLOURS_OF_PALETTE + 1],
        workspace[NO_LINE : NO_LINE + 2],
        blocks,
        lengths,
        colours,
    )


@kernel(inner=True)
def propagate(words, numbers, board, base):
    """The propagation of the puzzle's family (board.PROPAGATE)."""
    if numbers[FAMILY] == NARROW_FAMILY:
        return propagate_narrow(words, numbers, board, base)
    if numbers[FAMILY] == COLOUR_FAMILY:
        return propagate_colour(words, numbers, board, base)
    return propagate_wide(words, numbers, board, base)


@kernel
def measure(address):
    """Say whether the clues fit at all (fit.misfits), which family the puzzle is of, and how much room it takes.

    Reads    the puzzle, its addresses, `sums` and `levels`.
    Writes   verdict, needed, there; family, scratch, n_words, n_numbers.
    """
    place = np.int64(np.uint32(address))
    workspace = array_at(place, (len(FIELDS),), np.int64)
    blocks = array_at(workspace[BLOCKS], (workspace[LINES_OF_PUZZLE] + 1,), np.int32)
    lengths = array_at(workspace[LENGTHS], (workspace[BLOCKS_OF_PUZZLE],), np.int32)
    colours = array_at(workspace[COLOURS], (workspace[BLOCKS_OF_PUZZLE],), np.uint16)
    clues = clues_at(workspace, blocks, lengths, colours)
    sums = array_at(workspace[SUMS], (2, max(workspace[COLOURS_OF_PALETTE], np.int64(2))), np.int64)
    misfits(
        clues,
        sums,
        workspace[VERDICT : VERDICT + 1],
        array_at(place + 8 * NEEDED, (1, 2), np.int64),
        workspace[BLOTTED : BLOTTED + 1],
    )
    if workspace[VERDICT] > FITS:
        return  # a clue is too long for its line
    family = np.int64(COLOUR_FAMILY if workspace[COLOURS_OF_PALETTE] > 2 else NARROW_FAMILY)
    if workspace[BLOTTED] or max(workspace[HEIGHT], workspace[WIDTH]) > NARROW:
        family = np.int64(WIDE_FAMILY)
    workspace[ORDER] = 0
    order = workspace[ORDER : ORDER + 1]
    scratch, n_words, n_numbers = room(clues, order, family, workspace[LEVELS_ASKED], MAX_STACK_WORDS)
    workspace[FAMILY_FOUND], workspace[SCRATCH_WORDS] = family, scratch
    workspace[N_WORDS], workspace[N_NUMBERS] = n_words, n_numbers


@kernel
def begin(address):
    """Take the puzzle through the stages of `stages` (see solve.solve); the search makes `max_visits` at most.

    Reads    what `measure` has read and written, words, numbers, cells, and what is asked.
    Writes   status, stage, found, lined, left, counts; solutions, or what is known, to cells.
    """
    place = np.int64(np.uint32(address))
    workspace = array_at(place, (len(FIELDS),), np.int64)
    blocks = array_at(workspace[BLOCKS], (workspace[LINES_OF_PUZZLE] + 1,), np.int32)
    lengths = array_at(workspace[LENGTHS], (workspace[BLOCKS_OF_PUZZLE],), np.int32)
    colours = array_at(workspace[COLOURS], (workspace[BLOCKS_OF_PUZZLE],), np.uint16)
    clues = clues_at(workspace, blocks, lengths, colours)
    words = array_at(workspace[WORDS], (workspace[N_WORDS],), np.uint64)
    numbers = array_at(workspace[NUMBERS], (workspace[N_NUMBERS],), np.int64)
    n = workspace[HEIGHT] * workspace[WIDTH]
    cells = array_at(workspace[CELLS], (np.int64(2), n), np.uint16)
    more = array_at(workspace[CELLS] + 4 * n, (workspace[MORE], n), np.uint16)
    workspace[NO_LINE], workspace[ORDER], workspace[START], workspace[NEVER] = 0, 0, 0, 0
    numbers[STOP] = place + 8 * NEVER
    numbers[FAMILY] = workspace[FAMILY_FOUND]
    out = Outputs(
        workspace[STATUS : STATUS + 1],
        workspace[STAGE : STAGE + 1],
        workspace[FOUND_SOLUTIONS : FOUND_SOLUTIONS + 1],
        workspace[LINED : LINED + 1],
        workspace[LEFT : LEFT + 1],
        array_at(place + 8 * COUNTS_OUT, (1, N_COUNTS), np.int64),
        array_at(place + 8 * TIMES, (1, 5), np.int64),
        workspace[START : START + 2],
        cells,
        more,
        array_at(place, (np.int64(0),), np.uint16),
    )
    asked = Asked(
        workspace[STAGES], workspace[WANTED], NO_END, np.int64(0), workspace[MAX_PROBES], workspace[MAX_VISITS]
    )
    solve(
        search,
        probe,
        propagate,
        workspace[ORDER : ORDER + 1],
        clues,
        workspace[SCRATCH_WORDS],
        words,
        numbers,
        out,
        asked,
    )


@kernel
def go_on(address):
    """Go on with a search that is SPENT, for `max_visits` more; reads and writes as `begin` does."""
    place = np.int64(np.uint32(address))
    workspace = array_at(place, (len(FIELDS),), np.int64)
    words = array_at(workspace[WORDS], (workspace[N_WORDS],), np.uint64)
    numbers = array_at(workspace[NUMBERS], (workspace[N_NUMBERS],), np.int64)
    n = workspace[HEIGHT] * workspace[WIDTH]
    cells = array_at(workspace[CELLS], (np.int64(2), n), np.uint16)
    more = array_at(workspace[CELLS] + 4 * n, (workspace[MORE], n), np.uint16)
    blocks = array_at(workspace[BLOCKS], (workspace[LINES_OF_PUZZLE] + 1,), np.int32)
    lengths = array_at(workspace[LENGTHS], (workspace[BLOCKS_OF_PUZZLE],), np.int32)
    colours = array_at(workspace[COLOURS], (workspace[BLOCKS_OF_PUZZLE],), np.uint16)
    clues = clues_at(workspace, blocks, lengths, colours)
    board = board_of(0, clues, workspace[SCRATCH_WORDS])
    workspace[STATUS] = search(
        probe, propagate, words, numbers, board, workspace[WANTED], workspace[MAX_VISITS], cells, np.int64(0), more
    )
    workspace[FOUND_SOLUTIONS] = numbers[FOUND]
    for i in range(N_COUNTS):
        workspace[COUNTS_OUT + i] = numbers[COUNTS + i]


@kernel
def look(address):
    """Write the grid as the search has it, at its deepest level, to `view`; OPEN_CELL where it is open."""
    place = np.int64(np.uint32(address))
    workspace = array_at(place, (len(FIELDS),), np.int64)
    words = array_at(workspace[WORDS], (workspace[N_WORDS],), np.uint64)
    numbers = array_at(workspace[NUMBERS], (workspace[N_NUMBERS],), np.int64)
    blocks = array_at(workspace[BLOCKS], (workspace[LINES_OF_PUZZLE] + 1,), np.int32)
    lengths = array_at(workspace[LENGTHS], (workspace[BLOCKS_OF_PUZZLE],), np.int32)
    colours = array_at(workspace[COLOURS], (workspace[BLOCKS_OF_PUZZLE],), np.uint16)
    clues = clues_at(workspace, blocks, lengths, colours)
    board = board_of(0, clues, workspace[SCRATCH_WORDS])
    view = array_at(workspace[VIEW], (workspace[HEIGHT] * workspace[WIDTH],), np.uint16)
    depth = numbers[LEVEL] if workspace[STATUS] == SPENT else np.int64(0)
    write_cells(words, board.stack + (LEVELS + depth) * board.state_words, board, view, np.int64(0))


@kernel
def line(address):
    """Solve the first row by itself, by the line kernel of the puzzle's family.

    Reads    `view`: for each cell the colours that it may take, as bits (colour 0 is bit 0), up to 16 colours.
    Writes   the same, as far as some arrangement uses it, to `view`; status: 0 if there is no arrangement, else 1.
    """
    place = np.int64(np.uint32(address))
    workspace = array_at(place, (len(FIELDS),), np.int64)
    words = array_at(workspace[WORDS], (workspace[N_WORDS],), np.uint64)
    numbers = array_at(workspace[NUMBERS], (workspace[N_NUMBERS],), np.int64)
    blocks = array_at(workspace[BLOCKS], (workspace[LINES_OF_PUZZLE] + 1,), np.int32)
    lengths = array_at(workspace[LENGTHS], (workspace[BLOCKS_OF_PUZZLE],), np.int32)
    colours = array_at(workspace[COLOURS], (workspace[BLOCKS_OF_PUZZLE],), np.uint16)
    clues = clues_at(workspace, blocks, lengths, colours)
    board = board_of(0, clues, workspace[SCRATCH_WORDS])
    n, size = board.width, board.row_words
    view = array_at(workspace[VIEW], (n,), np.uint16)
    base = board.stack + LEVELS * board.state_words
    if workspace[SCRATCH_WORDS]:
        forget_visits(numbers, board)
        numbers[U(tables_of(board) + CALL)] = 1
    for colour in range(board.n_colours):
        plane = base + colour * size
        for word in range(size):
            words[U(plane + word)] = U0
        for cell in range(n):
            if (np.int64(view[U(cell)]) >> colour) & 1:
                words[U(plane + (cell >> 6))] |= U1 << U(cell & 63)
    start, stop = np.int64(board.block_starts[0]), np.int64(board.block_starts[1])
    out, stride = board.scratch, size
    if workspace[FAMILY_FOUND] == NARROW_FAMILY:
        white, black = solve_line_narrow(
            board.lengths, U(start), U(stop), U(n), words[U(base)], words[U(base + 1)], words
        )
        fits = white | black != U0
        words[U(base)], words[U(base + 1)] = white, black
        out = base
    elif workspace[FAMILY_FOUND] == COLOUR_FAMILY:
        fits = solve_line_colour(
            board.lengths, board.colours, U(start), U(stop), U(n), words, U(base), U(board.scratch)
        )
        out = board.scratch + COLOUR_OUT
    else:
        _, _, _, out, stride, fits = solve_line(words, numbers, board, base, np.int64(0))
    workspace[STATUS] = 1 if fits else 0
    for cell in range(n):
        view[U(cell)] = 0
    for colour in range(board.n_colours):
        slot = np.int64(colour)
        if colour > 0 and workspace[FAMILY_FOUND] != NARROW_FAMILY:
            slot = np.int64(-1)
            for j in range(start, stop):
                if np.int64(board.colours[U(j)]) == colour:
                    slot = np.int64(colour)
            if slot > 0 and workspace[FAMILY_FOUND] == WIDE_FAMILY:
                slot = np.int64(remaining(numbers, board, stop - start, colour))
        if slot >= 0:
            for cell in range(n):
                bits = words[U(out + slot * stride + (cell >> 6))]
                view[U(cell)] |= np.uint16(((bits >> U(cell & 63)) & U1) << U(colour))
