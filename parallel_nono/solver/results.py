"""What a plan of stages made of a set: columns of what the kernels wrote, with outcomes, witnesses and seconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..attempt import OUTCOMES, Outcome
from ..kernels.board import (
    CONTRADICTION,
    COUNTS,
    HARD,
    LATE,
    N_BRANCHES,
    N_CONFLICTS,
    N_DEPTH,
    N_LINES,
    N_PROBES,
    N_ROUNDS,
    SOLVED,
    WITNESS,
)
from ..kernels.clues import Clues
from ..kernels.solve import LINE, LINE_NS, PACK_NS, PROBE_NS, SAT_NS, SEARCH_NS, Outputs
from ..puzzle import line_name

CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}

NO_PUZZLE = HARD + 1
"""Stands among what kernels say for a row without lines."""

OUTCOME_OF = np.full((NO_PUZZLE + 1, 3), CODE[Outcome.STALLED], np.int8)
"""The outcome by what the kernel says and the solutions found: none, one, or more."""
OUTCOME_OF[LATE] = CODE[Outcome.TIMEOUT]
OUTCOME_OF[SOLVED, 1] = CODE[Outcome.SOLVED]
OUTCOME_OF[CONTRADICTION, :2] = CODE[Outcome.CONTRADICTION], CODE[Outcome.UNIQUE]
OUTCOME_OF[:, 2] = CODE[Outcome.MULTIPLE]
OUTCOME_OF[NO_PUZZLE] = CODE[Outcome.INVALID]


@dataclass(slots=True)
class Propagated:
    """What lines alone make of one puzzle.

    status   OPEN (also when every cell is known), CONTRADICTION, LATE, or SPENT: there was no room.
    planes   uint64, its state (kernels.board); empty unless OPEN or LATE.
    seconds  wall, as `pack_s` and `line_s`.
    cpu_s    of all who worked for it, in those of `line_s`.
    mib      most memory that one of their processes used.
    team     who they are.
    """

    status: int
    planes: np.ndarray
    n_rounds: int = 0
    n_lines: int = 0
    witness: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)
    cpu_s: float = 0.0
    mib: float = 0.0
    team: str = ""


def _count(place: int) -> Any:
    return property(lambda results: results.out.counts[:, place - COUNTS])


def _seconds(place: int) -> Any:
    return property(lambda results: results.out.times[:, place] * 1e-9)


class Results:
    """What became of each puzzle of a set, as columns of length n; most are made when they are looked at.

    outcome, stage  int8, places in attempt.OUTCOMES and attempt.STAGES.
    n_solutions       int64, exact where `exhausted`.
    n_open_lines    int64, cells that lines alone left open;  n_open  int64, cells that lines and probes left open.
    witness         why there is no solution, where lines alone show it; else "".
    *_s             float64, wall seconds.
    sat_cpu_s       float64, CPU seconds of the processes of the SAT solver.
    cell_starts     int64[n + 1];  cells  uint16[2, cell_starts[-1]]: first and second solution of each puzzle as colour
                    indices row by row; without a solution cells[0] is what is known, OPEN_CELL where nothing is.
    known           uint16[cell_starts[-1]] where it was asked for: what lines and probes know of the puzzles whose
                    solutions others found.
    solutions         all kept solutions, uint16[k, cells], of the puzzles that have more than two.
    shared          of the puzzles whose lines somebody else propagated (`Lines`), what they said; without the planes.
    aborted         another thread asked for an end.
    finished        bool[n] then, puzzles that were done; of the others (outcome INVALID) nothing is known. None: all.
    proved          what `sat_cpu_s` is made of: by the puzzles that the SAT solver was asked about.
    out, notes      the columns as kernels wrote them; what is to be said of single puzzles, by their places.
    """

    def __init__(self, clues: Clues, out: Outputs) -> None:
        self.clues, self.out = clues, out
        self.stage, self.n_solutions = out.stage, out.found
        self.cell_starts, self.cells, self.known = out.starts, out.cells, out.known
        self.notes: dict[int, str] = {}
        self.solutions: dict[int, np.ndarray] = {}
        self.proved: dict[int, float] = {}
        self.shared: dict[int, Propagated] = {}
        self.aborted = False
        self.finished: np.ndarray | None = None

    @cached_property
    def outcome(self) -> np.ndarray:
        """By what the kernel says, and how many solutions it found."""
        return OUTCOME_OF.take(3 * self.out.status + np.minimum(self.out.found, 2))

    @cached_property
    def exhausted(self) -> np.ndarray:
        """True where `n_solutions` is exact."""
        return self.out.status == CONTRADICTION

    @cached_property
    def witness(self) -> list[str]:
        """`witness_of` each."""
        witness, out = [""] * len(self.stage), self.out
        shown = (out.status == CONTRADICTION) & (out.found == 0) | (out.status == LATE) & (out.found >= 2)
        for p in {*np.flatnonzero(shown).tolist(), *self.notes}:
            witness[p] = self.witness_of(p)
        return witness

    def witness_of(self, p: int) -> str:
        """What is to be said of one puzzle; a contradiction of the stage `line` names the line."""
        out = self.out
        status, found = out.status[p], out.found[p]
        if status == LATE and found >= 2:
            return "the time ran out while solutions were counted"
        if p in self.notes:
            return self.notes[p]
        if status == CONTRADICTION and found == 0 and out.stage[p] == LINE:
            return no_arrangement(int(out.counts[p, WITNESS - COUNTS]), int(self.clues.heights[p]))
        return ""

    @property
    def sat_cpu_s(self) -> np.ndarray:
        seconds = np.zeros(len(self.stage))
        seconds[list(self.proved)] = list(self.proved.values())
        return seconds

    n_open_lines = property(lambda results: np.maximum(results.out.lined, 0))
    n_open = property(lambda results: np.maximum(results.out.left, 0))
    n_rounds, n_lines, n_probes = _count(N_ROUNDS), _count(N_LINES), _count(N_PROBES)
    n_branches, n_depth, n_conflicts = _count(N_BRANCHES), _count(N_DEPTH), _count(N_CONFLICTS)
    pack_s, line_s, probe_s = _seconds(PACK_NS), _seconds(LINE_NS), _seconds(PROBE_NS)
    search_s, sat_s = _seconds(SEARCH_NS), _seconds(SAT_NS)
    solve_s = property(lambda results: (results.out.times * 1e-9).sum(axis=1))


def no_arrangement(line: int, height: int) -> str:
    """The witness of a contradiction: this line, counted from 0, rows first."""
    return f"{line_name(line, height)}: no arrangement agrees with the crossing lines"
