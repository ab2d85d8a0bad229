"""Puzzles as persons look at them: solved as a set, their solutions as grids, looked at by the checker of sets.

A single puzzle is a set of one. What a call costs beside the kernels: scripts/bench/calls.py.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..attempt import OUTCOMES, STAGES, Limits, Outcome, Result, late_result
from ..checker import RejectedSolution, check
from ..checker.fast import check_set
from ..kernels.board import (
    CONTRADICTION,
    N_BRANCHES,
    N_CONFLICTS,
    N_DEPTH,
    N_LINES,
    N_PROBES,
    N_ROUNDS,
    OPEN_CELL,
)
from ..kernels.board import COUNTS as FIRST
from ..kernels.clues import Clues
from ..kernels.solve import LINE_NS, PROBE_NS, SAT_NS, SEARCH_NS
from ..puzzle import Grid, Puzzle, line_name
from .pipeline import OUTCOME_OF, Lines, Results, solve_clues

COUNTS = ("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts", "n_open_lines", "n_open")
UNIQUE = Outcome.UNIQUE
OUTCOMES_OF = [[OUTCOMES[code] for code in row] for row in OUTCOME_OF.tolist()]

BYTE = 256
"""Colours below this fit a byte."""

BLACK = np.ones(1, np.uint16).tobytes()
"""The colour of a black block."""

_counted = itemgetter(*(place - FIRST for place in (N_ROUNDS, N_LINES, N_PROBES, N_BRANCHES, N_DEPTH, N_CONFLICTS)))


ASKED = Limits()
"""Of whoever gives none."""


def solve(puzzle: Puzzle, limits: Limits | None = None) -> Result:
    """Decide one puzzle: whether it has no solution, one, or several, and which. Every solution is checked.

    limits   None: a minute, and uniqueness is asked.
    Returns  a Result: the outcome, up to `Limits.solutions` solutions, what is known of the others, and what it took.
    Errors   ValueError for a plan that does not exist; RejectedSolution if the checker rejects a solution, which is
             our bug: no verdict counts then.

    Any number of threads may call it at once. For puzzles by the thousand see `solve_many`.

    >>> from parallel_nono import Limits, Puzzle, solve
    >>> hook = Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1])
    >>> result = solve(hook, Limits(seconds=10))
    >>> result.outcome, result.stage
    (<Outcome.UNIQUE: 'unique'>, 'line')
    >>> result.solutions[0]
    ((1, 1, 0), (1, 0, 0), (1, 1, 1))
    """
    return solve_one(puzzle, ASKED if limits is None else limits)


def solve_one(puzzle: Puzzle, limits: Limits, abort: np.ndarray | None = None, lines: Lines | None = None) -> Result:
    """`solve` that can be stopped, or helped; abort, lines as of `solve_set`."""
    clues = clues_of_puzzles([puzzle])
    results = solve_clues(clues, limits, abort, lines, known=True)
    return next(results_of(clues, results, limits, lambda _: puzzle))


def clues_of_puzzles(puzzles: Sequence[Puzzle]) -> Clues:
    """What `puzzleset.clues_of` gives of a set of these puzzles, without Arrow, which takes longer than a puzzle."""
    sides = [side for puzzle in puzzles for side in (puzzle.rows, puzzle.columns)]
    clues = list(chain.from_iterable(sides))
    lengths = [block[0] for clue in clues for block in clue]
    n, sizes = len(puzzles), list(map(len, sides))
    n_colours = [len(puzzle.palette) for puzzle in puzzles]
    line_starts = list(accumulate(sizes, initial=0))[::2]
    block_starts = accumulate(map(len, clues), initial=0)
    numbers = [*sizes[::2], *sizes[1::2], *n_colours, *line_starts, *block_starts, *lengths]
    every = _packed("i", numbers, np.int32)
    if max(n_colours) <= 2:
        colours = np.frombuffer(BLACK * len(lengths), np.uint16)
    else:
        colours = _packed("H", [block[1] for clue in clues for block in clue], np.uint16)
    at, blocks = 4 * n + 1, 4 * n + len(clues) + 2
    heights, widths, palettes = every[:n], every[n : 2 * n], every[2 * n : 3 * n]
    return Clues(heights, widths, palettes, every[3 * n : at], every[at:blocks], every[blocks:], colours)


def _packed(kind: str, numbers: Sequence[int], dtype: type[np.generic]) -> np.ndarray:
    """Numbers as a read-only array, in half the time that NumPy takes. Errors: OverflowError."""
    try:
        return np.frombuffer(struct.pack(f"{len(numbers)}{kind}", *numbers), dtype)
    except struct.error as error:
        raise OverflowError(f"expected numbers that fit {np.dtype(dtype)}: {error}") from None


def results_of(
    clues: Clues, results: Results, limits: Limits, puzzle_of: Callable[[int], Puzzle], late: bool = False
) -> Iterator[Result]:
    """The results of a set one by one, after the checker's look at all of their solutions.

    results    solved with `known`.
    puzzle_of  the puzzle in a place of the set;  late  it is not made before somebody looks at it.
    Errors     RejectedSolution, before the first of them.
    """
    began = time.perf_counter()
    kept = _kept(results, limits)
    _check(clues, results, kept, puzzle_of)
    check_s = (time.perf_counter() - began) / len(kept)
    out, ends = results.out, results.cell_starts.tolist()
    columns = (clues.widths, out.status, out.stage, out.found, out.lined, out.left, out.counts, out.times)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for place, (solutions, row) in enumerate(zip(kept, rows, strict=True)):
        width, status, stage, found, lined, left, counts, times = row
        outcome = OUTCOMES_OF[status][min(found, 2)]
        known = None
        if outcome is not UNIQUE or not len(solutions):
            cells = results.known if found and outcome is not UNIQUE else results.cells[0]
            known = cells[ends[place] : ends[place + 1]].copy()
        yield late_result(
            _Late(solutions.copy(), known, width, partial(puzzle_of, place) if late else None).field,
            outcome=outcome,
            stage=STAGES[stage],
            n_solutions=found,
            exhausted=status == CONTRADICTION,
            witness="" if outcome is UNIQUE else results.witness_of(place),
            counts=dict(zip(COUNTS, (*_counted(counts), max(lined, 0), max(left, 0)), strict=True)),
            seconds=_seconds(times, check_s),
            **({} if late else {"puzzle": puzzle_of(place)}),
        )


class _Late(NamedTuple):
    """What a Result makes of it when it is looked at: grids that are no arrays, which take as long as solving.

    solutions  uint16[k, cells];  known  uint16[cells], None where it is the first solution;  puzzle  None where it is
               there already.
    """

    solutions: np.ndarray
    known: np.ndarray | None
    width: int
    puzzle: Callable[[], Puzzle] | None

    def field(self, result: Result, name: str) -> Any:
        """What a field of a Result is."""
        if name == "puzzle" and self.puzzle is not None:
            return self.puzzle()
        if name == "solutions":
            return tuple(_grid(cells, self.width) for cells in self.solutions)
        return result.solutions[0] if self.known is None else _grid(self.known, self.width)


def _grid(cells: np.ndarray, width: int) -> Grid:
    """Rows of colour indices, -1 where nothing is known. Python has bytes as numbers in half the time of others."""
    most = cells.max()
    if most == OPEN_CELL:
        numbers: Iterable[int] = np.where(cells == OPEN_CELL, -1, cells.astype(np.int64)).tolist()
    else:
        numbers = cells.astype(np.uint8).tobytes() if most < BYTE else cells.tolist()
    return tuple(zip(*[iter(numbers)] * width, strict=True))  # each row takes the next `width` of them


def _seconds(times: Sequence[int], check_s: float) -> dict[str, float]:
    """Nanoseconds of the stages as `Result.seconds`."""
    return {
        "line_s": times[LINE_NS] * 1e-9,
        "probe_s": times[PROBE_NS] * 1e-9,
        "search_s": times[SEARCH_NS] * 1e-9,
        "sat_s": times[SAT_NS] * 1e-9,
        "solve_s": sum(times) * 1e-9,
        "check_s": check_s,
    }


def _kept(results: Results, limits: Limits) -> list[np.ndarray]:
    """uint16[k, cells] of each puzzle: the solutions to be shown."""
    cells, starts, most = results.cells, results.cell_starts.tolist(), min(limits.solutions, 2)
    return [
        results.solutions[place][: limits.solutions]
        if place in results.solutions
        else cells[: min(found, most), starts[place] : starts[place + 1]]
        for place, found in enumerate(results.n_solutions.tolist())
    ]


def _check(clues: Clues, results: Results, kept: Sequence[np.ndarray], puzzle_of: Callable[[int], Puzzle]) -> None:
    """Errors: RejectedSolution for a solution that breaks a clue, or is there twice."""
    found, starts, cells = results.n_solutions, results.cell_starts, results.cells
    first = check_set(clues, cells[0], starts, found.astype(np.bool_)).tolist()
    most = max(map(len, kept))
    second = check_set(clues, cells[1], starts, found > 1).tolist() if most > 1 else first
    for place, grids in enumerate(kept):
        if len(grids) <= 1 and first[place] < 0:
            continue
        wrong: list[int] = [first[place], second[place]]
        if len(grids) > len(wrong):
            wrong = [_wrong_line(clues.of(place), grid) for grid in grids]
        seen: set[bytes] = set()
        for number, (grid, line) in enumerate(zip(grids, wrong, strict=False), start=1):
            if line >= 0 or grid.tobytes() in seen:
                raise RejectedSolution(_rejected(puzzle_of(place), number, grid, line))
            seen.add(grid.tobytes())


def _wrong_line(clues: Clues, grid: np.ndarray) -> int:
    """The first line that a grid gets wrong of one puzzle, or -1."""
    return int(check_set(clues, grid, np.array([0, len(grid)]), np.ones(1, np.bool_))[0])


def _rejected(puzzle: Puzzle, number: int, cells: np.ndarray, line: int) -> str:
    """What is wrong, in the words of the plain checker if it agrees."""
    complaint = "it was found before"
    if line >= 0:
        plain = check(puzzle, _grid(cells, puzzle.width))
        complaint = plain.complaint or f"it breaks the clue of {line_name(line, puzzle.height)}"
    return f"{puzzle.source or puzzle.name or 'puzzle'}: solution {number} is wrong: {complaint}"
