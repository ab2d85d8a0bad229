"""The solving of one puzzle step by step, for people to watch: which line, which probe taught which cells.

The order is that of rounds (every line against the last merge, see kernels.rounds), so rounds and visits are those of
`Limits(order="rounds")`. It is plain code around the line kernel: thousands of times slower than solving.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..kernels.line import solve_line_planes
from ..puzzle import Grid, Puzzle

MAX_VISITS = 50_000
"""Visits to lines that all probes together may cost; what is open then stays so."""


By = Literal["line", "probe", "solution", "contradiction"]


@dataclass(frozen=True, slots=True)
class Step:
    """What was learnt at once.

    by       `line`: solving a line; `probe`: trying the colours of one cell, and what they agree on; `solution`: told
             by a search; `contradiction`: the line has no arrangement, or the probed cell no colour.
    round    rounds so far, from 1.
    line     the line that was solved, rows first, then columns, from 0; else -1, also for what is plain at the start:
             cells whose row and column have no ink in common.
    cell     (row, column) of the probe; else None.
    rows, columns, colours  int64[k], the cells that became known, in reading order. There may be none: a colour that a
             cell lost is learnt too.
    """

    by: By
    round: int
    line: int
    cell: tuple[int, int] | None
    rows: np.ndarray
    columns: np.ndarray
    colours: np.ndarray


def trace(puzzle: Puzzle, solution: Grid | None = None, probing: bool = True) -> Iterator[Step]:
    """The steps of solving a puzzle: lines in rounds; where these stall probes, each followed by lines; the solution.

    solution   the only solution where it is known (`solve`): the last step gives its cells that are still open.
    probing  whether to probe, up to MAX_VISITS.
    A contradiction is the last step.
    """
    solving = Solving(puzzle)
    start = solving.step("line", np.ones((puzzle.height, puzzle.width), bool))
    if len(start.rows):
        yield start
    yield from solving.lines(np.ones(puzzle.height + puzzle.width, bool))
    while probing and not solving.failed and solving.open_cells().any():
        step = solving.probe()
        if step is None:
            break
        yield step
        if not solving.failed:
            solving.round += 1
            yield from solving.lines(solving.lines_of(step))
    if solution is not None and not solving.failed and solving.open_cells().any():
        yield solving.told(solution)


class Solving:
    """The state: allowed[c, row, column] is True while the cell may take colour c."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.height, self.width, self.n_colours = puzzle.height, puzzle.width, puzzle.n_colours
        clues = (*puzzle.rows, *puzzle.columns)
        self.lengths = [np.array([block.length for block in clue], np.int32) for clue in clues]
        self.colours = [np.array([block.colour for block in clue], np.uint16) for clue in clues]
        self.allowed = np.ones((self.n_colours, self.height, self.width), bool)
        if self.n_colours > 2:  # as kernels.board.open_planes begins
            for line, colours in enumerate(self.colours):
                absent = np.setdiff1d(np.arange(1, self.n_colours), colours)
                self.view(self.allowed, line)[absent] = False
        self.round, self.visits, self.failed = 1, 0, False

    def view(self, allowed: np.ndarray, line: int) -> np.ndarray:
        """bool[colours, cells] of a line."""
        return allowed[:, line] if line < self.height else allowed[:, :, line - self.height]

    def solved(self, allowed: np.ndarray, line: int) -> np.ndarray | None:
        """What some arrangement of the line uses, bool[colours, cells]; None if it has no arrangement."""
        cells = self.view(allowed, line)
        n = cells.shape[1]
        bits = np.zeros((self.n_colours, (n + 63) // 64 * 64), np.uint8)
        bits[:, :n] = cells
        planes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
        left = solve_line_planes(planes, n, self.lengths[line], self.colours[line])
        self.visits += 1
        return None if left is None else np.unpackbits(left.view(np.uint8), axis=1, count=n, bitorder="little") != 0

    def open_cells(self) -> np.ndarray:
        """bool[rows, columns]"""
        return self.allowed.sum(0) > 1

    def step(self, by: By, was_open: np.ndarray, **more: object) -> Step:
        """What is known now of the cells that were open."""
        rows, columns = np.nonzero((self.allowed.sum(0) == 1) & was_open)
        colours = self.allowed[:, rows, columns].argmax(0)
        facts = {"line": -1, "cell": None} | more
        return Step(by, self.round, rows=rows, columns=columns, colours=colours, **facts)  # type: ignore[arg-type]

    def contradiction(self, **more: object) -> Step:
        self.failed = True
        return self.step("contradiction", self.open_cells(), **more)

    def lines(self, waiting: np.ndarray) -> Generator[Step]:
        """Rounds over the waiting lines until one changes nothing, as kernels.rounds.propagate_rounds goes."""
        first = self.round
        while True:
            base = self.allowed.copy()
            for line in np.flatnonzero(waiting).tolist():
                kept = self.solved(base, line)
                if kept is None:
                    yield self.contradiction(line=line)
                    return
                waiting[line] = (kept.sum(0) > 1).any()
                cells = self.view(self.allowed, line)
                if (cells & ~kept).any():
                    was_open = self.open_cells()
                    cells &= kept
                    yield self.step("line", was_open, line=line)
            empty = np.flatnonzero((self.allowed.sum(0) == 0).any(1))
            if len(empty):
                yield self.contradiction(line=int(empty[0]))
                return
            if not waiting.any() or (self.round > first and np.array_equal(base, self.allowed)):
                return
            self.round += 1

    def lines_of(self, step: Step) -> np.ndarray:
        """The lines through the cells of a step, bool[lines]; through its probe too."""
        through = np.zeros(self.height + self.width, bool)
        through[step.rows] = through[self.height + step.columns] = True
        if step.cell is not None:
            through[step.cell[0]] = through[self.height + step.cell[1]] = True
        return through

    def probe(self) -> Step | None:
        """Probe open cells, those with the most known neighbours first, until one teaches something; None if none."""
        known = np.pad(self.allowed.sum(0) == 1, 1, constant_values=True).astype(np.int8)
        neighbours = known[:-2, 1:-1] + known[2:, 1:-1] + known[1:-1, :-2] + known[1:-1, 2:]
        rows, columns = np.nonzero(self.open_cells())
        order = np.argsort(-neighbours[rows, columns], kind="stable")
        for row, column in zip(rows[order].tolist(), columns[order].tolist(), strict=True):
            union = np.zeros_like(self.allowed)
            for colour in np.flatnonzero(self.allowed[:, row, column]).tolist():
                trial = self.allowed.copy()
                trial[:, row, column] = False
                trial[colour, row, column] = True
                if self.propagated(trial, row, column):
                    union |= trial
                if self.visits > MAX_VISITS:
                    return None
            if not union[:, row, column].any():
                return self.contradiction(cell=(row, column))
            if (self.allowed & ~union).any():
                was_open = self.open_cells()
                self.allowed &= union
                return self.step("probe", was_open, cell=(row, column))
        return None

    def propagated(self, allowed: np.ndarray, row: int, column: int) -> bool:
        """Solve lines after a change of one cell until none learns, in place; False on a contradiction."""
        waiting = {row: None, self.height + column: None}  # ordered, and each line once
        while waiting:
            line = next(iter(waiting))
            del waiting[line]
            kept = self.solved(allowed, line)
            if kept is None:
                return False
            cells = self.view(allowed, line)
            changed = np.flatnonzero((cells & ~kept).any(0)).tolist()
            cells &= kept
            waiting |= dict.fromkeys(place + self.height if line < self.height else place for place in changed)
        return True

    def told(self, solution: Grid) -> Step:
        """The step that gives the open cells of the solution."""
        was_open = self.open_cells()
        self.allowed = np.arange(self.n_colours)[:, None, None] == np.array(solution)
        return self.step("solution", was_open)
