"""The fewest cells of a picture to change, such that its puzzle has one solution only, or is solved by lines alone.

Why few candidates are enough: let G be a picture and A another solution of its puzzle, and let R and C be the rows and
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
from ..kernels.board import OPEN_CELL
from ..puzzleset import SetBuilder
from ..solver import solve_set
from ..solver.results import Results

Aim = Literal["unique", "lines"]

GREEDY_FACTOR = 4
"""Pictures that the greedy way may try, in multiples of those of the exact one."""

SECONDS = 1.0
"""For one picture; what takes longer counts as not unique, and nothing is proved then."""

LINES, PROBES = (Limits(SECONDS, plan=Plan(stages)) for stages in (("line",), ("line", "probe")))

MAX_OPEN = 250
"""Cells that lines leave open: with more it costs too much to ask thousands of times for a second solution."""

MAX_PROBED = 2_000_000
"""Candidates times cells up to which probes tell how good they are, which is slow; else lines."""

AT_ONCE = 16
"""Changes that the greedy way may make in one step."""

MAX_CELLS = 1 << 22
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
    cells: np.ndarray, n_colours: int, aim: Aim = "unique", costs: np.ndarray | None = None, max_tries: int = 50_000
) -> Repair:
    """Look for the fewest changes; of several such sets the cheapest.

    cells       int[height, width], colour indices of a finished picture.
    n_colours   of the palette, the background included.
    aim         `unique`: one solution only; `lines`: lines alone find it.
    costs       float[height, width, n_colours]: how little each cell is of each colour; None: all are the same.
    max_tries  pictures that the search in order of size may solve; after that it goes on greedily.
    """
    return _Repair(cells, n_colours, aim, costs, max_tries).run()


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

Failed = dict[Set, list[Region]]
"""Sets that do not help, with the regions in each of which more has to change; the smallest first."""


class _Repair:
    def __init__(self, cells: np.ndarray, n_colours: int, aim: Aim, costs: np.ndarray | None, max_tries: int) -> None:
        self.cells, self.n_colours, self.aim, self.max_tries = cells.astype(np.uint16), n_colours, aim, max_tries
        self.height, self.width = cells.shape
        if costs is None:
            costs = np.ones((*cells.shape, n_colours))
        flat = costs.reshape(-1, n_colours)
        self.prices = flat - np.take_along_axis(flat, cells.reshape(-1, 1).astype(np.int64), 1)
        self.everywhere = np.arange(self.height), np.arange(self.width)
        self.n_tried, self.proved = 0, True
        self.limits = LINES if aim == "lines" else Limits(SECONDS, plan=Plan(("line", "probe", "search")))

    def run(self) -> Repair:
        failed, good = self.judge([()])
        if good:
            return Repair((), 0, self.n_tried)
        if self.stalled(())[0] > MAX_OPEN:
            return self.greedily(1)
        size = 1
        while True:
            candidates = self.extended(failed)
            if self.n_tried + len(candidates) > self.max_tries:
                return self.greedily(size)
            failed, good = self.judge(candidates, failed)
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

    def extended(self, failed: Failed) -> list[Set]:
        """Every set with one more change in the region of the failed one."""
        flat = self.cells.ravel()
        sets: set[Set] = set()
        for changes, regions in failed.items():
            taken = {code // self.n_colours for code in changes}
            rows, columns = regions[0]
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
            if len(sets) > self.max_tries:
                break  # too many anyway
        return sorted(sets)

    def solved(self, sets: Sequence[Set], limits: Limits) -> Iterator[tuple[Sequence[Set], np.ndarray, Results]]:
        """The sets in batches, with their pictures and what became of these."""
        size = max(1, MAX_CELLS // self.cells.size)
        for first in range(0, len(sets), size):
            batch = sets[first : first + size]
            grids = np.repeat(self.cells.reshape(1, -1), len(batch), 0)
            for place, changes in enumerate(batch):
                for code in changes:
                    grids[place, code // self.n_colours] = code % self.n_colours
            self.n_tried += len(batch)
            puzzles = set_of_grids(grids.reshape(-1, self.height, self.width), self.n_colours)
            yield batch, grids, solve_set(puzzles, limits)

    def judge(self, sets: Sequence[Set], before: Failed | None = None) -> tuple[Failed, list[Set]]:
        """(those that fail, those that are good).

        before  what is known of the sets with one change less: their regions that this change does not touch are left.
        """
        failed: Failed = {}
        good: list[Set] = []
        for batch, grids, results in self.solved(sets, self.limits):
            known = results.cells.reshape(2, len(batch), -1)
            for place, changes in enumerate(batch):
                outcome, regions = results.outcome[place], self.untouched(changes, before or {})
                if outcome == UNIQUE:
                    good.append(changes)
                    continue
                if self.aim == "lines":
                    regions += self.regions(known[0, place] == OPEN_CELL)
                elif outcome == MULTIPLE:
                    regions += [region for one in known[:, place] != grids[place] for region in self.regions(one)]
                else:  # out of time
                    self.proved = False
                failed[changes] = sorted(regions, key=self.size) or [self.everywhere]
        return failed, good

    def untouched(self, changes: Set, before: Failed) -> list[Region]:
        """The regions of the sets with one change less that hold nothing of this change."""
        regions = []
        for code in changes:
            row, column = divmod(code // self.n_colours, self.width)
            for rows, columns in before.get(tuple(one for one in changes if one != code), ()):
                if row not in rows and column not in columns:
                    regions.append((rows, columns))
        return regions

    def regions(self, differs: np.ndarray) -> list[Region]:
        """The rows and columns of the cells that differ, one region for each independent part of them.

        Cells that share no line, not even through others, are apart: each part alone makes another solution.
        """
        left = differs.reshape(self.height, self.width).copy()
        found = []
        while left.any():
            columns = np.nonzero(left)[1][:1]
            n_lines = 0
            while n_lines != (n_lines := len(columns)):
                rows = np.flatnonzero(left[:, columns].any(1))
                columns = np.flatnonzero(left[rows].any(0))
            found.append((rows, columns))
            left[rows] = False
        return found

    def size(self, region: Region) -> int:
        """Its cells."""
        rows, columns = region
        return len(rows) * self.width + len(columns) * (self.height - len(rows))

    def greedily(self, least: int) -> Repair:
        """Again and again the changes that leave fewest cells open; those that were needless go then."""
        most = self.n_tried + GREEDY_FACTOR * self.max_tries
        changes: Set = ()
        while True:
            n_open, failed = self.stalled(changes)
            limits = LINES
            if n_open <= MAX_OPEN:
                failed, good = self.judge([changes])
                if good:
                    return self.found(self.without_needless(changes), least)
            sets = self.extended(failed)
            if n_open <= MAX_OPEN and self.aim == "unique" and len(sets) * self.cells.size <= MAX_PROBED:
                limits = PROBES
                (n_open,) = self.open_after([changes], limits)
            if not sets or self.n_tried + len(sets) > most:
                return Repair(None, least if self.proved else 0, self.n_tried)
            opens = self.open_after(sets, limits)
            best = sorted(zip(opens, map(self.price, sets), sets, strict=True))[:AT_ONCE]
            left, _, changes = best[0]
            for would_leave, _, other in best[1:]:  # those that help elsewhere too need no new look at all cells
                more = tuple(sorted({*changes, *other}))
                if len({code // self.n_colours for code in more}) == len(more) > len(changes):
                    (leaves,) = self.open_after([more], limits)
                    if 2 * (left - leaves) > n_open - would_leave > 0:
                        left, changes = leaves, more

    def stalled(self, changes: Set) -> tuple[int, Failed]:
        """(cells that lines leave open, the regions that must change): as `judge`, without any search."""
        ((_, _, results),) = self.solved([changes], LINES)
        regions = sorted(self.regions(results.cells[0] == OPEN_CELL), key=self.size)
        return int(results.n_open[0]), {changes: regions or [self.everywhere]}

    def open_after(self, sets: Sequence[Set], limits: Limits) -> list[int]:
        """For each set the cells that are open then."""
        return [n for _, _, results in self.solved(sets, limits) for n in results.n_open.tolist()]

    def without_needless(self, changes: Set) -> Set:
        """Leave out changes, dear ones first, as long as the rest does it; what was needed once is not tried again."""
        for code in sorted(changes, key=lambda code: -self.price((code,))):
            rest = tuple(one for one in changes if one != code)
            if self.stalled(rest)[0] <= MAX_OPEN and self.judge([rest])[1]:
                changes = rest
        return changes
