"""Clauses, and what their variables say of cells: what every encoding makes, and the one writer of DIMACS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

NUMBERS_AT_ONCE = 1 << 20
"""Literals turned into text at a time."""


@dataclass(frozen=True, slots=True)
class Formula:
    """Clauses that say what a puzzle says, or what is left of it to say.

    clauses      int32 literals, a 0 behind each clause.
    literals     int32[cells, colours], the literal of `cell has colour`, cells row by row; TRUE or -TRUE (see
                 kernels.encode) where that is known, or no variable says it.
    """

    clauses: np.ndarray
    n_variables: int
    literals: np.ndarray

    @property
    def n_clauses(self) -> int:
        return int(np.count_nonzero(self.clauses == 0))

    @property
    def n_literals(self) -> int:
        return len(self.clauses) - self.n_clauses

    def dimacs(self) -> Iterator[bytes]:
        """The parts of a DIMACS file, comments apart."""
        from ..kernels.encode import dimacs

        yield f"p cnf {self.n_variables} {self.n_clauses}\n".encode()
        text = np.empty(12 * min(NUMBERS_AT_ONCE, len(self.clauses)), np.uint8)
        for first in range(0, len(self.clauses), NUMBERS_AT_ONCE):
            part = self.clauses[first : first + NUMBERS_AT_ONCE]
            yield text[: dimacs(part, len(part), text)].tobytes()
