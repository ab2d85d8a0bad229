"""The plain five-rule encoding (`kernels.plain_cnf`) of a puzzle.

It is there to compare with: published figures are about these clauses.
"""

from __future__ import annotations

import numpy as np

from ..attempt import Limits
from ..kernels.board import OPEN_CELL
from ..kernels.clues import Clues
from ..kernels.encode import ONLY_TRUE, TRUE
from ..kernels.plain_cnf import LITERALS, N_COUNTS, N_KINDS, VARIABLES, count_clauses, write_clauses
from ..puzzle import InvalidPuzzle, line_name
from .formula import Formula
from .sat import BYTES_A_NUMBER, Problem

MAX_LITERALS = 1 << 28
"""A larger formula is refused before anything is allocated; an array of so many takes 1 GiB."""


class TooLarge(InvalidPuzzle):
    """The formula would have more literals than MAX_LITERALS."""


def plain_counts(clues: Clues, place: int) -> np.ndarray:
    """The size of the formula of one puzzle of a set, in closed form.

    Returns  int64[N_COUNTS]: clauses by kind, variables, literals (see kernels.plain_cnf).
    Errors   TooLarge; InvalidPuzzle if a block has no known length.
    """
    first, last = clues.block_starts[clues.line_starts[place]], clues.block_starts[clues.line_starts[place + 1]]
    blots = np.flatnonzero(clues.lengths[first:last] < 1)
    if len(blots):
        line = int(np.searchsorted(clues.block_starts, first + blots[0], "right")) - 1 - int(clues.line_starts[place])
        name = line_name(line, int(clues.heights[place]))
        raise InvalidPuzzle(f"{name}: expected blocks of known length for the plain encoding, found `?`")
    counts = np.zeros(N_COUNTS, np.int64)
    if not count_clauses(place, clues, MAX_LITERALS, counts):
        raise TooLarge(f"expected a plain encoding of at most {MAX_LITERALS:,} literals, found more than that")
    return counts


def plain_formula(clues: Clues, place: int, known: np.ndarray | None = None) -> tuple[Formula, np.ndarray]:
    """The formula of one puzzle of a set; the first cells * inks of its variables are those of cells.

    known   uint16[cells], colour indices row by row, OPEN_CELL where nothing is; it becomes clauses of one literal, and
            changes no number of a variable.
    Returns the formula: the background of a coloured cell, which is what no ink is, has no variable; and its
            `plain_counts`, without what was known.
    Errors  as `plain_counts`.
    """
    counts = plain_counts(clues, place)
    cells, inks = int(clues.heights[place]) * int(clues.widths[place]), int(clues.n_colours[place]) - 1
    units = np.zeros(0, np.int32) if known is None else _units(known, inks)
    size = _numbers(counts)
    flat = np.empty(size + len(units), np.int32)
    written = write_clauses(place, clues, flat)
    assert written == size, f"{written} numbers written, {size} counted"
    flat[size:] = units
    literals = np.empty((cells, inks + 1), np.int32)
    literals[:, 1:] = np.arange(1, cells * inks + 1).reshape(cells, inks)
    literals[:, 0] = -literals[:, 1] if inks == 1 else -TRUE
    return Formula(flat, int(counts[VARIABLES]), literals), counts


def _numbers(counts: np.ndarray) -> int:
    """The size of the array of clauses: literals, and a 0 behind each clause."""
    return int(counts[LITERALS] + counts[:N_KINDS].sum())


def _units(known: np.ndarray, inks: int) -> np.ndarray:
    """Clauses of one literal (int32, a 0 behind each): `inks` of them for each known cell."""
    cells = np.flatnonzero(known != OPEN_CELL)
    colours = np.arange(1, inks + 1)
    signs = np.where(known[cells, None] == colours, 1, -1)
    units = np.zeros((signs.size, 2), np.int32)
    units[:, 0] = (signs * (cells[:, None] * inks + colours)).ravel()
    return units.ravel()


def plain_problem(clues: Clues, place: int, limits: Limits, known: np.ndarray | None = None) -> Problem | int:
    """The formula of one puzzle of a set for `sat.decide`, without hints.

    known    as for `plain_formula`.
    Returns  the MiB that a solver would need, about, if that is more than it may take.
    Errors   InvalidPuzzle if a block has no known length.
    """
    try:
        need = _numbers(plain_counts(clues, place)) * BYTES_A_NUMBER >> 20
    except TooLarge:
        return MAX_LITERALS * BYTES_A_NUMBER >> 20
    if need > limits.memory_mib:
        return need
    formula, _ = plain_formula(clues, place, known)
    # A solution is excluded by its inked cells: all solutions have equally many of each ink.
    role = np.full(formula.literals[:, 1:].size, ONLY_TRUE, np.uint8)
    phases = np.zeros(formula.n_variables, np.int8)
    return Problem(formula, role, phases)
