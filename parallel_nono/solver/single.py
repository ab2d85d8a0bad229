"""Puzzles as persons look at them: solved as a set, their solutions as grids, looked at by the checker of sets.

A single puzzle is a set of one. What a call costs beside the kernels: scripts/bench/calls.py.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np

from ..attempt import OUTCOMES, STAGES, Limits, Outcome, Result, late_result
from ..checker import RejectedSolution, check
from ..checker.fast import check_set
from ..kernels.board import (
    CONTRADICTION,
    COUNTS,
    N_BRANCHES,
    N_CONFLICTS,
    N_DEPTH,
    N_LINES,
    N_PROBES,
    N_ROUNDS,
    OPEN_CELL,
)
from ..kernels.clues import Clues
from ..kernels.solve import LINE_NS, PROBE_NS, SAT_NS, SEARCH_NS
from ..puzzle import Grid, Puzzle, line_name
from .pipeline import Lines, solve_clues
from .results import OUTCOME_OF, Results

UNIQUE = Outcome.UNIQUE
OUTCOMES_OF = [[OUTCOMES[code] for code in row] for row in OUTCOME_OF.tolist()]

BYTE = 256
"""Colours below this fit a byte."""

BLACK = np.ones(1, np.uint16).tobytes()
"""The colour of a black block."""

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
    clues = clues_of_puzzle(puzzle)
    results = solve_clues(clues, limits, abort, lines, known=True)
    return next(results_of(clues, results, limits, lambda _: puzzle))


def clues_of_puzzle(puzzle: Puzzle) -> Clues:
    """A set of one. It is kept with the puzzle: who counts solutions, or tries several plans, packs the clues once."""
    found: Clues | None = getattr(puzzle, "_clues", None)
    if found is None:
        found = clues_of_puzzles([puzzle])
        object.__setattr__(puzzle, "_clues", found)
    return found


def clues_of_puzzles(puzzles: Sequence[Puzzle]) -> Clues:
    """What `puzzleset.clues_of` gives of a set of these puzzles, without Arrow, which takes longer than a puzzle."""
    sides = [side for puzzle in puzzles for side in (puzzle.rows, puzzle.columns)]
    clues = list(chain.from_iterable(sides))
    n, sizes = len(puzzles), list(map(len, sides))
    n_colours = [len(puzzle.palette) for puzzle in puzzles]
    if max(n_colours) <= 2:
        lengths = [block[0] for clue in clues for block in clue]
        colours = np.frombuffer(BLACK * len(lengths), np.uint16)
    else:
        flat = list(chain.from_iterable(chain.from_iterable(clues)))
        lengths, colours = flat[::2], _packed("H", flat[1::2], np.uint16)
    line_starts = list(accumulate(sizes, initial=0))[::2]
    block_starts = accumulate(map(len, clues), initial=0)
    numbers = [*sizes[::2], *sizes[1::2], *n_colours, *line_starts, *block_starts, *lengths]
    every = _packed("i", numbers, np.int32)
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
        result = late_result(
            _Late(solutions.copy(), known, width, partial(puzzle_of, place) if late else None).field,
            outcome,
            STAGES[stage],
            found,
            status == CONTRADICTION,
            "" if outcome is UNIQUE else results.witness_of(place),
            _counts(counts, lined, left),
            _seconds(times, check_s, results.proved.get(place, 0.0)),
        )
        if not late:
            object.__setattr__(result, "puzzle", puzzle_of(place))
        yield result


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


def _counts(counts: Sequence[int], lined: int, left: int) -> dict[str, int]:
    """Counts of the kernel as `Result.counts`."""
    return {
        "n_rounds": counts[N_ROUNDS - COUNTS],
        "n_lines": counts[N_LINES - COUNTS],
        "n_probes": counts[N_PROBES - COUNTS],
        "n_branches": counts[N_BRANCHES - COUNTS],
        "n_depth": counts[N_DEPTH - COUNTS],
        "n_conflicts": counts[N_CONFLICTS - COUNTS],
        "n_open_lines": max(lined, 0),
        "n_open": max(left, 0),
    }


def _seconds(times: Sequence[int], check_s: float, sat_cpu_s: float) -> dict[str, float]:
    """Nanoseconds of the stages as `Result.seconds`."""
    return {
        "line_s": times[LINE_NS] * 1e-9,
        "probe_s": times[PROBE_NS] * 1e-9,
        "search_s": times[SEARCH_NS] * 1e-9,
        "sat_s": times[SAT_NS] * 1e-9,
        "sat_cpu_s": sat_cpu_s,
        "solve_s": sum(times) * 1e-9,
        "check_s": check_s,
    }


def _kept(results: Results, limits: Limits) -> list[np.ndarray]:
    """uint16[k, cells] of each puzzle: the solutions to be shown."""
    cells, starts, most = results.cells, results.cell_starts.tolist(), min(limits.solutions, 2)
    kept = [
        cells[: found if found < most else most, starts[place] : starts[place + 1]]
        for place, found in enumerate(results.n_solutions.tolist())
    ]
    for place, solutions in results.solutions.items():
        kept[place] = solutions[: limits.solutions]
    return kept


def _check(clues: Clues, results: Results, kept: Sequence[np.ndarray], puzzle_of: Callable[[int], Puzzle]) -> None:
    """Errors: RejectedSolution for a solution that breaks a clue, or is there twice."""
    found, starts, cells = results.n_solutions, results.cell_starts, results.cells
    first = check_set(clues, cells[0], starts, found.astype(np.bool_)).tolist()
    several = [place for place, solutions in enumerate(kept) if len(solutions) > 1 or first[place] >= 0]
    if not several:
        return
    second = check_set(clues, cells[1], starts, found > 1).tolist()
    for place in several:
        solutions, wrong = kept[place], [first[place], second[place]]
        if len(solutions) > len(wrong):
            wrong = [_wrong_line(clues.of(place), cells) for cells in solutions]
        seen: set[bytes] = set()
        for number, (cells, line) in enumerate(zip(solutions, wrong, strict=False), start=1):
            if line >= 0 or cells.tobytes() in seen:
                raise RejectedSolution(_rejected(puzzle_of(place), number, cells, line))
            seen.add(cells.tobytes())


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
