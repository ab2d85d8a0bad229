"""The fewest cells of a picture to change, such that its puzzle has one answer only, or is solved by lines alone.

Why few candidates are enough: let G be a picture and A another answer of its puzzle, and let R and C be the rows and
columns in which they differ. Changing cells outside R and C changes A with G, and both still show the same clues; so
every change that helps touches a row of R or a column of C, and where A differs in independent parts, those of each
part. The same holds for the lines with open cells where lines
stall: what is known of them stays a fixed point. Each failed set of changes therefore tells where the next one has to
be, and sets tried in order of size prove that fewer do not help.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from ..attempt import OUTCOMES, Limits, Outcome, Plan
from ..puzzleset import SetBuilder
from ..solve import solve_set
from ..solve.pipeline import OPEN_CELL, Results

Aim = Literal["unique", "lines"]

GREEDY_FACTOR = 4
"""Pictures that the greedy way may try, in multiples of those of the exact one."""

SECONDS = 1.0
"""For one picture; what takes longer counts as not unique, and nothing is proved then."""

MOST_CELLS = 1 << 22
"""Cells of pictures solved in one call."""

UNIQUE, MULTIPLE = OUTCOMES.index(Outcome.UNIQUE), OUTCOMES.index(Outcome.MULTIPLE)


class Change(NamedTuple):
    """One cell, from 0, and its new colour."""

    row: int
    column: int
    colour: int


@dataclass(frozen=True, slots=True)
class Repair:
    """What was found.

    changes  the cells to change, in reading order; None: nothing was found.
    least    so many changes are needed: it is proved that fewer do not help. 0: nothing is proved.
    n_tried  pictures that were solved on the way.
    """

    changes: tuple[Change, ...] | None
    least: int
    n_tried: int

    @property
    def is_minimal(self) -> bool:
        return self.changes is not None and len(self.changes) == self.least


def repair(
    cells: np.ndarray, n_colours: int, aim: Aim = "unique", costs: np.ndarray | None = None, most_tries: int = 50_000
) -> Repair:
    """Look for the fewest changes; of several such sets the cheapest.

    cells       int[height, width], colour indices of a finished picture.
    n_colours   of the palette, the background included.
    aim         `unique`: one answer only; `lines`: lines alone find it.
    costs       float[height, width, n_colours]: how little each cell is of each colour; None: all are the same.
    most_tries  pictures that the search in order of size may solve; after that it goes on greedily.
    """
    return _Repair(cells, n_colours, aim, costs, most_tries).run()


def changed(cells: np.ndarray, changes: Sequence[Change]) -> np.ndarray:
    """A copy with these changes made."""
    cells = cells.copy()
    for row, column, colour in changes:
        cells[row, column] = colour
    return cells


def set_of_grids(grids: np.ndarray, n_colours: int) -> pa.RecordBatch:
    """The puzzles of many pictures of one size, int[count, height, width], without an object for any of them."""
    count, height, width = grids.shape
    # Background at both ends of each line, so that every run has a beginning and an end inside.
    lines = np.zeros((count, height + width, max(height, width) + 2), np.uint16)
    lines[:, :height, 1 : width + 1] = grids
    lines[:, height:, 1 : height + 1] = grids.transpose(0, 2, 1)
    edges = lines[:, :, 1:] != lines[:, :, :-1]
    begins, ends = edges & (lines[:, :, 1:] != 0), edges & (lines[:, :, :-1] != 0)
    starts = np.flatnonzero(begins)
    lengths = (np.flatnonzero(ends) - starts).astype(np.int32)
    builder = SetBuilder()
    names = [""] * count
    builder.add_black_white([height] * count, [width] * count, begins.sum(2, np.int32).ravel(), lengths, names, "")
    builder.n_colours = [n_colours] * count
    builder.colours = [lines[:, :, 1:][begins]]
    return builder.finish()


Set = tuple[int, ...]
"""Changes as sorted codes, cell * n_colours + new colour."""

Region = tuple[np.ndarray, np.ndarray]
"""Rows and columns, of which some cell has to change."""


class _Repair:
    def __init__(self, cells: np.ndarray, n_colours: int, aim: Aim, costs: np.ndarray | None, most_tries: int) -> None:
        self.cells, self.n_colours, self.aim, self.most_tries = cells.astype(np.uint16), n_colours, aim, most_tries
        self.height, self.width = cells.shape
        if costs is None:
            costs = np.ones((*cells.shape, n_colours))
        flat = costs.reshape(-1, n_colours)
        self.prices = flat - np.take_along_axis(flat, cells.reshape(-1, 1).astype(np.int64), 1)
        self.everywhere = np.arange(self.height), np.arange(self.width)
        self.n_tried, self.proved = 0, True
        stages = ("line",) if aim == "lines" else ("line", "probe", "search")
        self.limits = Limits(SECONDS, plan=Plan(stages))

    def run(self) -> Repair:
        failed, good = self.judge([()])
        if good:
            return Repair((), 0, self.n_tried)
        size = 1
        while True:
            candidates = self.extended(failed)
            if self.n_tried + len(candidates) > self.most_tries:
                return self.greedily(size)
            failed, good = self.judge(candidates)
            if good:
                return self.found(min(good, key=self.price), size)
            if not failed:  # every cell was changed: there is no such picture
                return Repair(None, size, self.n_tried)
            size += 1

    def found(self, changes: Set, least: int) -> Repair:
        places = [divmod(code, self.n_colours) for code in changes]
        return Repair(
            tuple(Change(cell // self.width, cell % self.width, colour) for cell, colour in places),
            least if self.proved else 0,
            self.n_tried,
        )

    def price(self, changes: Set) -> float:
        return float(sum(self.prices.ravel()[list(changes)]))

    def extended(self, failed: dict[Set, Region]) -> list[Set]:
        """Every set with one more change in the region of the failed one."""
        flat = self.cells.ravel()
        sets: set[Set] = set()
        for changes, (rows, columns) in failed.items():
            taken = {code // self.n_colours for code in changes}
            part = np.zeros(self.cells.shape, bool)
            part[rows] = part[:, columns] = True
            for cell in np.flatnonzero(part).tolist():
                if cell not in taken:
                    first = cell * self.n_colours
                    sets.update(
                        tuple(sorted((*changes, first + colour)))
                        for colour in range(self.n_colours)
                        if colour != flat[cell]
                    )
            if len(sets) > self.most_tries:
                break  # too many anyway
        return sorted(sets)

    def solved(self, sets: Sequence[Set], limits: Limits) -> Iterator[tuple[Sequence[Set], np.ndarray, Results]]:
        """The sets in batches, with their pictures and what became of these."""
        size = max(1, MOST_CELLS // self.cells.size)
        for first in range(0, len(sets), size):
            batch = sets[first : first + size]
            grids = np.repeat(self.cells.reshape(1, -1), len(batch), 0)
            for place, changes in enumerate(batch):
                for code in changes:
                    grids[place, code // self.n_colours] = code % self.n_colours
            self.n_tried += len(batch)
            puzzles = set_of_grids(grids.reshape(-1, self.height, self.width), self.n_colours)
            yield batch, grids, solve_set(puzzles, limits)

    def judge(self, sets: Sequence[Set]) -> tuple[dict[Set, Region], list[Set]]:
        """(those that fail, each with the region that must change too; those that are good)."""
        failed: dict[Set, Region] = {}
        good: list[Set] = []
        for batch, grids, results in self.solved(sets, self.limits):
            known = results.cells.reshape(2, len(batch), -1)
            for place, changes in enumerate(batch):
                outcome = results.outcome[place]
                if outcome == UNIQUE:
                    good.append(changes)
                elif self.aim == "lines":
                    failed[changes] = self.region(known[0, place] == OPEN_CELL)
                elif outcome == MULTIPLE:
                    differ = known[:, place] != grids[place]
                    regions = [self.region(one) for one in differ if one.any()]
                    failed[changes] = min(regions, key=self.size)
                else:  # out of time
                    self.proved = False
                    failed[changes] = self.everywhere
        return failed, good

    def region(self, differs: np.ndarray) -> Region:
        """The rows and columns of the cells that differ; of the independent parts of these those of the smallest one.

        Cells that share no line, not even through others, are apart: each part alone makes another answer.
        """
        left = differs.reshape(self.height, self.width).copy()
        best = self.everywhere
        while left.any():
            columns = np.nonzero(left)[1][:1]
            n_lines = 0
            while n_lines != (n_lines := len(columns)):
                rows = np.flatnonzero(left[:, columns].any(1))
                columns = np.flatnonzero(left[rows].any(0))
            best = min(best, (rows, columns), key=self.size)
            left[rows] = False
        return best

    def size(self, region: Region) -> int:
        """Its cells."""
        rows, columns = region
        return len(rows) * self.width + len(columns) * (self.height - len(rows))

    def greedily(self, least: int) -> Repair:
        """One change after another, each the one that leaves fewest cells open; then those that were not needed go."""
        most = self.n_tried + GREEDY_FACTOR * self.most_tries
        stages = ("line",) if self.aim == "lines" else ("line", "probe")
        limits = Limits(SECONDS, plan=Plan(stages))
        changes: Set = ()
        failed, good = self.judge([changes])
        while not good:
            sets = self.extended(failed)
            if not sets or self.n_tried + len(sets) > most:
                return Repair(None, least if self.proved else 0, self.n_tried)
            scored = [
                (int(n_open), self.price(one), one)
                for batch, _, results in self.solved(sets, limits)
                for n_open, one in zip(results.n_open, batch, strict=True)
            ]
            changes = min(scored)[2]
            failed, good = self.judge([changes])
        return self.found(self.without_needless(changes), least)

    def without_needless(self, changes: Set) -> Set:
        """Leave out changes, dear ones first, as long as the rest does it."""
        for code in sorted(changes, key=lambda code: -self.price((code,))):
            rest = tuple(one for one in changes if one != code)
            if self.judge([rest])[1]:
                changes = rest
        return changes
