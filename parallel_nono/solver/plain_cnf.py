"""The plain five-rule encoding (`kernels.plain_cnf`) of a puzzle.

It is there to compare with: published figures are about these clauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..attempt import Limits
from ..kernels.board import OPEN_CELL
from ..kernels.encode import ONLY_TRUE, TRUE, dimacs
from ..kernels.plain_cnf import LITERALS, N_COUNTS, N_KINDS, VARIABLES, count_clauses, write_clauses
from ..puzzle import InvalidPuzzle, line_name
from ..puzzleset import Clues
from .sat import BYTES_A_NUMBER, Problem

MAX_LITERALS = 1 << 28
"""A larger formula is refused before anything is allocated; an array of so many takes 1 GiB."""

NUMBERS_AT_ONCE = 1 << 20
"""Literals turned into text at a time."""


class TooLarge(InvalidPuzzle):
    """The formula would have more literals than MAX_LITERALS."""


class PlainFormula(NamedTuple):
    """The formula of one puzzle.

    flat         int32 literals, a 0 behind each clause.
    literals     int32[cells, colours], the literal of `cell has colour`; TRUE or -TRUE where there is none: the
                 background of a coloured cell is what no ink is.
    n_variables  of which the first cells * inks are those of cells.
    counts       int64[N_COUNTS], see kernels.plain_cnf; without what was known.
    """

    flat: np.ndarray
    literals: np.ndarray
    n_variables: int
    counts: np.ndarray


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


def plain_formula(clues: Clues, place: int, known: np.ndarray | None = None) -> PlainFormula:
    """The formula of one puzzle of a set.

    known   uint16[cells], colour indices row by row, OPEN_CELL where nothing is; it becomes clauses of one literal, and
            changes no number of a variable.
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
    return PlainFormula(flat, literals, int(counts[VARIABLES]), counts)


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
    formula = plain_formula(clues, place, known)
    # A solution is excluded by its inked cells: all solutions have equally many of each ink.
    role = np.full(formula.literals[:, 1:].size, ONLY_TRUE, np.uint8)
    phases = np.zeros(formula.n_variables, np.int8)
    return Problem(formula.flat, formula.literals, role, formula.n_variables, phases)


def dimacs_parts(flat: np.ndarray, n_variables: int) -> Iterator[bytes]:
    """A formula as the parts of a DIMACS file, comments apart."""
    yield f"p cnf {n_variables} {np.count_nonzero(flat == 0)}\n".encode()
    text = np.empty(12 * min(NUMBERS_AT_ONCE, len(flat)), np.uint8)
    for first in range(0, len(flat), NUMBERS_AT_ONCE):
        part = flat[first : first + NUMBERS_AT_ONCE]
        yield text[: dimacs(part, len(part), text)].tobytes()
