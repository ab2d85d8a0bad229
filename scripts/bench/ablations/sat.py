"""What a SAT solver (CaDiCaL 1.5.3 of python-sat) makes of a puzzle, by encoding and by what was found out before.

Every run asks for a solution and then for another one, so that it ends with a proof or with two solutions. Conflicts
are the same on every machine; seconds are CPU seconds with loading, lines and probes included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from pysat.solvers import Solver
from tools import DATA, Row, number

from parallel_nono.attempt import Limits, Plan
from parallel_nono.files.reading import read
from parallel_nono.generator import generate
from parallel_nono.kernels.known import known_planes
from parallel_nono.puzzle import Puzzle
from parallel_nono.puzzleset import clues_of, set_of
from parallel_nono.solver import solve_set
from parallel_nono.solver.plain_cnf import plain_problem
from parallel_nono.solver.sat import Problem, problem_of

MAX_CONFLICTS = 400_000
LIMITS = Limits(memory_mib=1 << 20)
TURNS, LONG_S = 4, 3.0
"""Turns at most, the best of which counts; a set that takes longer gets one."""


class Run(NamedTuple):
    """verdict: `unique`, `multiple`, `none`, or `open` after MAX_CONFLICTS."""

    verdict: str
    conflicts: int
    seconds: float


def known_after(puzzle: Puzzle, stages: tuple[str, ...]) -> tuple[np.ndarray | None, float]:
    """What these stages find out, as uint16[cells] with 65535 for an open cell, and their CPU seconds."""
    if not stages:
        return None, 0.0
    start = time.process_time()
    results = solve_set(set_of([puzzle]), Limits(plan=Plan(stages)))
    seconds = time.process_time() - start
    single = results.n_solutions[0] < 2
    return (results.cells[0] if single else None), seconds


def order(puzzle: Puzzle, known: np.ndarray | None, hints: bool = False) -> Problem:
    """The lean order encoding."""
    clues = clues_of(set_of([puzzle]))
    said = np.full(puzzle.height * puzzle.width, 65535, np.uint16) if known is None else known
    words = np.zeros(known_planes(0, clues, said, np.zeros(0, np.uint64)), np.uint64)
    known_planes(0, clues, said, words)
    problem = problem_of(clues, 0, 0, words, Limits(plan=Plan(hints=hints), memory_mib=1 << 20))
    assert isinstance(problem, Problem)
    return problem


def hinted(puzzle: Puzzle, known: np.ndarray | None) -> Problem:
    """The same with phases from belief propagation."""
    return order(puzzle, known, hints=True)


def five_rules(puzzle: Puzzle, known: np.ndarray | None) -> Problem:
    """The plain five-rule encoding; what is known comes as clauses of one literal."""
    problem = plain_problem(clues_of(set_of([puzzle])), 0, LIMITS, known)
    assert isinstance(problem, Problem)
    return problem


def neighbours(puzzle: Puzzle, known: np.ndarray | None) -> Problem:
    """The plain encoding with rule 3 for neighbouring blocks only."""
    problem = five_rules(puzzle, known)
    block = np.zeros(problem.formula.n_variables + 1, np.int64)  # of each start variable; 0 for cells
    variable, number = len(problem.role) + 1, 1
    for clues, n in ((puzzle.rows, puzzle.width), (puzzle.columns, puzzle.height)):
        for clue in clues:
            places = n - sum(b.length for b in clue) - sum(a.colour == b.colour for a, b in pairwise(clue)) + 1
            for _ in clue:
                block[variable : variable + places] = number
                variable, number = variable + places, number + 1
    ends = np.flatnonzero(problem.formula.clauses == 0)
    firsts = np.concatenate([[0], ends[:-1] + 1])
    two = np.flatnonzero(ends - firsts == 2)
    one, other = (block[np.abs(problem.formula.clauses[firsts[two] + i])] for i in (0, 1))
    drop = two[(one > 0) & (other > one + 1)]
    keep = np.ones(len(problem.formula.clauses), bool)
    for i in range(3):
        keep[firsts[drop] + i] = False
    problem.formula = replace(problem.formula, clauses=problem.formula.clauses[keep])
    return problem


def decide(problem: Problem, guided: bool = True, all_cells: bool = False) -> Run:
    """A solution, then another.

    guided     the second is looked for near the first.
    all_cells  the first is excluded by all its cells, not only by those with ink.
    """
    start = time.process_time()
    if problem.impossible:
        return Run("none", 0, 0.0)
    with Solver(name="cadical153") as solver:
        numbers, bounds = problem.formula.clauses.tolist(), [-1, *np.flatnonzero(problem.formula.clauses == 0).tolist()]
        for before, end in pairwise(bounds):
            solver.add_clause(numbers[before + 1 : end])
        if problem.phases.any():
            solver.set_phases((problem.phases * np.arange(1, problem.formula.n_variables + 1)).tolist())
        verdict = "none"
        for found in ("unique", "multiple"):
            solver.conf_budget(MAX_CONFLICTS)
            found_one = solver.solve_limited()
            if found_one is None:
                verdict = "open"
            if not found_one:
                break
            verdict = found
            values = solver.get_model()
            model = np.array(values[: len(problem.role)], np.int64)
            solver.add_clause((-model if all_cells else -model[(problem.role != 0) | (model > 0)]).tolist())
            if guided:
                solver.set_phases(values)
        conflicts = solver.accum_stats()["conflicts"]
    return Run(verdict, conflicts, time.process_time() - start)


@cache
def sets(turned: bool = False) -> dict[str, list[Puzzle]]:
    """Puzzles that lines alone do not decide; `turned`: hard ones from the survey in four orientations each."""
    found = {
        "noise 25": [generate("noise", 25, 25, seed) for seed in range(1, 9)],
        "noise 30": [generate("noise", 30, 30, seed) for seed in range(1, 7)],
        "blobs 50, 35 %": [generate("blobs", 50, 50, seed, density=35, radius=1) for seed in range(1, 4)],
        "n-Dom 15 and 19": [generate("domino", n, n) for n in (15, 19)],
    }
    folder = DATA / "wolter_survey/sample-simpson"
    if folder.is_dir():
        for name, number_ in (("Lion", 2712), ("Forever", 6574), ("Nature", 9892)):
            one = next(iter(read(folder / f"webpbn-{number_:05}.non")))
            sides = (one, one.transposed())
            found[name] = [turn for side in sides for turn in (side, side.mirrored())] if turned else [one]
    return found


Variant = Callable[[Puzzle], tuple[Problem, float]]


def variant(encode: Callable[..., Problem], *stages: str) -> Variant:
    """An encoding of what is left after some stages."""

    def build(puzzle: Puzzle) -> tuple[Problem, float]:
        known, seconds = known_after(puzzle, stages)
        start = time.process_time()
        problem = encode(puzzle, known)
        return problem, seconds + time.process_time() - start

    return build


def compare(
    off: Variant,
    on: Variant,
    *,
    turned: bool = True,
    off_how: dict[str, bool] | None = None,
    on_how: dict[str, bool] | None = None,
) -> Iterator[Row]:
    """Two ways, on every set: clauses, conflicts, time; puzzle by puzzle in turns, small sets several times."""
    sides = ((off, off_how or {}), (on, on_how or {}))
    for build, how in sides:
        decide(build(generate("noise", 8, 8, 3))[0], **how)  # whatever has to be compiled
    for title, puzzles in sets(turned).items():
        best = [float("inf")] * 2
        for _ in range(TURNS):
            seconds, texts = _turn(puzzles, sides)
            best = [min(pair) for pair in zip(best, seconds, strict=True)]
            if sum(seconds) > LONG_S:
                break
        yield Row(title, *texts, best[0] / best[1])


def _turn(puzzles: list[Puzzle], sides: tuple[tuple[Variant, dict[str, bool]], ...]) -> tuple[list[float], list[str]]:
    """CPU seconds and counts of both sides."""
    conflicts, clauses, seconds, n_open = [0, 0], [0, 0], [0.0, 0.0], [0, 0]
    for puzzle in puzzles:
        verdicts = []
        for side, (build, how) in enumerate(sides):
            problem, before = build(puzzle)
            run = decide(problem, **how)
            conflicts[side] += run.conflicts
            clauses[side] += int(np.count_nonzero(problem.formula.clauses == 0))
            seconds[side] += before + run.seconds
            n_open[side] += run.verdict == "open"
            verdicts.append(run.verdict)
        assert "open" in verdicts or verdicts[0] == verdicts[1], f"verdicts of {puzzle.name} differ: {verdicts}"
    texts = [
        f"{number(conflicts[side] / len(puzzles))} conflicts, {number(clauses[side] / len(puzzles))} clauses"
        + (f", {n_open[side]} undecided" if n_open[side] else "")
        for side in range(2)
    ]
    return seconds, texts
