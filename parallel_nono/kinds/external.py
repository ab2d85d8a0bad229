"""A nonogram solver from outside in the place of ours: the same chunks and rows, and our checker behind it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..attempt import OUTCOMES, STAGES, Limits, Outcome
from ..checker.plain import check
from ..puzzle import Grid, InvalidPuzzle, Puzzle, grid_text
from ..puzzleset import puzzle_at
from ..solver.external import OPEN, Ended, Program, ProgramFailed, Said, ask, text_for, understood
from . import Kind, Solved

STAGE = STAGES.index("external")


class Finding(NamedTuple):
    """What the row of one puzzle says of it."""

    outcome: Outcome
    solutions: tuple[Grid, ...] = ()
    exhausted: bool = False
    witness: str = ""
    warnings: str = ""
    error: str = ""


def with_program(kind: Kind, program: Program) -> Kind:
    """The kind `nonogram`, solved by a program. A slice is one puzzle, as each is a process of its own."""
    return replace(kind, solve=partial(solve, program), check=_checked, alone=True, compiled="", takes_lines=False)


def solve(program: Program, chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
    """One puzzle after the other. A solution that breaks the rules is an outcome of its own, `wrong`."""
    n = chunk.num_rows
    findings = []
    seconds = {name: np.zeros(n) for name in ("pack_s", "solve_s", "cpu_s", "peak_mib")}
    for place in range(n):
        finding, ended, pack_s = _one(program, puzzle_at(chunk, place), limits, abort)
        if ended and ended.ending == "stopped":
            return Solved({}, aborted=True)
        findings.append(finding)
        seconds["pack_s"][place] = pack_s
        if ended:
            for name, value in (("solve_s", ended.seconds), ("cpu_s", ended.cpu_s), ("peak_mib", ended.peak_mib)):
                seconds[name][place] = value
    n_colours = chunk.column("n_colours").to_pylist()
    solutions = [
        [grid_text(grid, colours) for grid in finding.solutions]
        for finding, colours in zip(findings, n_colours, strict=True)
    ]
    told = chunk.column("warnings").to_pylist()
    columns: dict[str, Any] = {
        "outcome": np.array([OUTCOMES.index(f.outcome) for f in findings], np.int8),
        "stage": np.full(n, STAGE, np.int8),
        "n_solutions": np.array([len(f.solutions) for f in findings], np.int64),
        "exhausted": np.array([f.exhausted for f in findings], bool),
        "witness": pa.array([f.witness for f in findings], pa.string()),
        "warnings": pa.array(["; ".join(filter(None, [w, f.warnings])) for w, f in zip(told, findings, strict=True)]),
        "error": pa.array([f.error for f in findings], pa.string()),
        "solution": pa.array([(*a, "")[0] for a in solutions], pa.string()),
        "second_solution": pa.array([(*a, "", "")[1] for a in solutions], pa.string()),
    }
    return Solved(columns | seconds)


def _checked(chunk: pa.RecordBatch, solutions: Any) -> list[tuple[int, str]]:
    """None is rejected any more: `solve` has put every solution before the checker."""
    return []


def _one(program: Program, puzzle: Puzzle, limits: Limits, abort: np.ndarray) -> tuple[Finding, Ended | None, float]:
    """What the program makes of a puzzle, how it ended (None: it was not asked), and seconds to write the puzzle."""
    began = perf_counter()
    try:
        text = text_for(program, puzzle)
    except InvalidPuzzle as error:
        return Finding(Outcome.STALLED, witness=str(error)), None, perf_counter() - began
    pack_s = perf_counter() - began
    try:
        cpu_s = limits.cpu_seconds or inf
        ended = ask(program, text, limits.seconds, limits.memory_mib, lambda: bool(abort[0]), cpu_s)
    except ProgramFailed as error:
        return Finding(Outcome.CRASHED, error=str(error)), None, pack_s
    if ended.ending == "late":
        return Finding(Outcome.TIMEOUT), ended, pack_s
    if ended.ending == "memory":
        witness = f"{program.name} took more than {limits.memory_mib} MiB"
        return Finding(Outcome.STALLED, witness=witness), ended, pack_s
    if ended.ending == "output":
        return Finding(Outcome.CRASHED, error=f"{program.name} wrote more than it may"), ended, pack_s
    if ended.ending == "stopped":
        return Finding(Outcome.TIMEOUT), ended, pack_s
    try:
        said = understood(program, ended, puzzle)
    except ProgramFailed as error:
        return Finding(Outcome.CRASHED, error=str(error)), ended, pack_s
    return judged(puzzle, said), ended, pack_s


def judged(puzzle: Puzzle, said: Said) -> Finding:
    """The outcome of a puzzle: solutions count once the checker accepts them, claims only where solutions bear them
    out.

    That there is no solution, or no other one, is the program's word.
    """
    complete = [grid for grid in dict.fromkeys(said.grids) if all(OPEN not in row for row in grid)]
    for grid in complete:
        verdict = check(puzzle, grid)
        if not verdict:
            return Finding(Outcome.WRONG, error=f"solution rejected: {verdict.complaint}")
    solutions = tuple(complete[:2])
    if said.claim == "contradiction":
        if solutions:
            return Finding(
                Outcome.WRONG, solutions, error="says that there is no solution, and shows one that is right"
            )
        return Finding(Outcome.CONTRADICTION, exhausted=True)
    if not solutions:
        if said.claim in ("unique", "multiple", "solved"):
            return Finding(Outcome.WRONG, error=f"says `{said.claim}`, and shows no solution")
        return Finding(Outcome.TIMEOUT if said.claim == "timeout" else Outcome.STALLED)
    if said.claim == "unique":
        if len(solutions) == 2:
            return Finding(
                Outcome.WRONG, solutions, error="says that there is one solution, and shows two that are right"
            )
        return Finding(Outcome.UNIQUE, solutions, exhausted=True)
    if len(solutions) == 2:
        return Finding(Outcome.MULTIPLE, solutions)
    warnings = "says that there are several solutions, and shows one" if said.claim == "multiple" else ""
    return Finding(Outcome.SOLVED, solutions, warnings=warnings)
