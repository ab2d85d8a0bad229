"""The stage `sat`: what the stages before left open as a formula, to a solver that learns from its conflicts.

UNSAT is the proof that there is no solution, or no other one than those found. Components of the formula that share no
variable are counted apart when solutions are counted, and their numbers multiplied.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from ..attempt import Limits
from ..kernels.clues import Clues
from .formula import Formula
from .prover import Question, prove

if TYPE_CHECKING:
    from ..kernels.encode import Encoding

ROUNDS = 20
"""Of belief propagation, at most."""

FEW_CELLS = 50
"""With so few open cells the solver is faster than the hints."""

MAX_BELIEFS = 1 << 24
"""Messages that hints may take (128 MiB); larger puzzles go without."""

BYTES_A_NUMBER = 24
"""Memory that a solver takes for each number of a formula, about, learnt clauses apart."""


_compiled = threading.Lock(), threading.Event()


def compile_first(clues: Clues, place: int, scratch: int, words: np.ndarray) -> None:
    """Compile the kernels of this stage, or fetch them, with the first puzzle at hand: no puzzle pays for it."""
    lock, done = _compiled
    with lock:
        if not done.is_set():
            problem = problem_of(clues, place, scratch, words, Limits(), few=-1)
            if isinstance(problem, Problem):
                components(problem)
                b"".join(problem.formula.dimacs())
                done.set()


@dataclass(slots=True)
class Decision:
    """What the stage found out.

    solutions    uint16[n, cells], at most as many as asked to keep.
    found      the number of solutions; exact where `exhausted`.
    ending     see prover.Proof.
    conflicts  of the solvers;  cpu_s  CPU seconds of all their processes.
    model      bool[variables of cells], the first solution as the first part has it.
    """

    solutions: np.ndarray
    found: int
    exhausted: bool
    ending: str
    conflicts: int = 0
    cpu_s: float = 0.0
    model: np.ndarray | None = None


@dataclass(slots=True)
class Problem:
    """A formula of one puzzle, and what a solver is told of its variables.

    role        uint8[variables of cells], see kernels.encode.Encoding.
    phases      int8[variables], 1 or -1: which value to try first; all 0: none is told.
    impossible  some block has no place: there is no solution.
    """

    formula: Formula
    role: np.ndarray
    phases: np.ndarray
    impossible: bool = False


def problem_of(
    clues: Clues,
    place: int,
    scratch: int,
    words: np.ndarray,
    limits: Limits,
    known: np.ndarray | None = None,
    few: int = FEW_CELLS,
) -> Problem | int:
    """The formula of puzzle `place`, whose planes are the state ROOT in words (see kernels.board).

    known    a solution (uint16[cells]), if there is one: the solver looks there first.
    few      with so many open cells no hints are made.
    Returns  the MiB that a solver would need, about, if that is more than it may take.
    """
    made = encoded(clues, place, scratch, words, (limits.memory_mib << 20) // BYTES_A_NUMBER)
    if isinstance(made, int):
        return made * BYTES_A_NUMBER >> 20
    encoding, possible = made
    n_cells, variables, size = encoding.sizes.tolist()
    n_colours = max(int(clues.n_colours[place]), 2)
    literals = encoding.cells.reshape(-1, n_colours)
    phases = np.zeros(variables, np.int8)
    if possible and known is not None:
        _lean_to(known, literals, phases)
    elif possible and limits.plan.hints and n_cells > few and literals.size <= MAX_BELIEFS:
        _believe(clues, place, scratch, words, encoding, phases)
    formula = Formula(encoding.flat[:size], variables, literals)
    return Problem(formula, encoding.role[:n_cells].copy(), phases, not possible)


def encoded(clues: Clues, place: int, scratch: int, words: np.ndarray, most: int) -> tuple[Encoding, bool] | int:
    """What kernels.encode makes of puzzle `place`, whose planes are the state ROOT in words.

    Returns  the encoding, and False if a block has no place (it then means nothing); or how many numbers it has, at
             least, if that is more than `most`.
    """
    from ..kernels.encode import EncodeWork, Encoding, encode

    height, width, n_colours = int(clues.heights[place]), int(clues.widths[place]), max(int(clues.n_colours[place]), 2)
    lines = clues.block_starts[clues.line_starts[place] : clues.line_starts[place + 1] + 1]
    cells, longest = height * width, max(height, width)
    table = int(np.diff(lines).max(initial=0)) * (longest + 2)
    if max(cells * n_colours, 2 * table) > most:
        return max(cells * n_colours, 2 * table)
    work = EncodeWork(
        np.zeros(table, np.uint8),
        np.zeros(table, np.uint8),
        np.zeros(4 * (longest + 2), np.uint8),
        np.zeros(longest + 2, np.int32),
        np.zeros(2 * table, np.int32),
    )
    size, variables = min(64 * cells, most), 8 * cells
    while True:
        encoding = Encoding(
            np.empty(size, np.int32),
            np.empty(cells * n_colours, np.int32),
            np.empty(cells * n_colours, np.uint8),
            np.empty(variables, np.int32),
            np.empty(int(lines[-1] - lines[0]) + 1, np.int32),
            np.zeros(3, np.int64),
        )
        possible = bool(encode(place, clues, scratch, words, work, encoding))
        _, n_variables, n_numbers = encoding.sizes.tolist()
        if n_numbers > most:
            return int(n_numbers)
        if n_numbers <= size and n_variables <= variables:
            return encoding, possible
        size, variables = max(n_numbers + 4, size), max(n_variables, variables)


def _believe(clues: Clues, place: int, scratch: int, words: np.ndarray, encoding: Encoding, phases: np.ndarray) -> None:
    from ..kernels.belief import Room, believe

    rows, columns = int(clues.heights[place]), int(clues.widths[place])
    n, n_numbers, longest = np.repeat([columns, rows], [rows, columns]), len(encoding.cells), max(rows, columns)
    n_colours = n_numbers // (rows * columns)
    lines = clues.block_starts[clues.line_starts[place] : clues.line_starts[place + 1] + 1]
    sums = np.concatenate([[0], np.cumsum(clues.lengths[lines[0] : lines[-1]], dtype=np.int64)])
    filled = sums[lines[1:] - lines[0]] - sums[lines[:-1] - lines[0]]
    starts = int((np.diff(lines) * (n - filled + 1)).max(initial=0))
    room = Room(
        np.empty((2, n_numbers)),
        np.empty(n_colours * longest),
        np.empty(n_colours * (longest + 1)),
        np.empty(starts),
        np.empty(starts),
    )
    phases[:] = 1
    believe(place, clues, scratch, words, encoding, room, ROUNDS, phases)


def _lean_to(known: np.ndarray, literals: np.ndarray, phases: np.ndarray) -> None:
    """Phases of the variables of cells as a solution has them, the others 1."""
    from ..kernels.encode import TRUE

    phases[:] = 1
    cell, colour = np.nonzero((literals > 0) & (literals < TRUE))
    phases[literals[cell, colour] - 1] = np.where(known[cell] == colour, 1, -1)


def decide(
    problem: Problem,
    limits: Limits,
    wanted: int,
    keep: int,
    seconds: float,
    stopped: Callable[[], bool],
    cpu_seconds: float = inf,
) -> Decision:
    """Find solutions of a problem: as many as `wanted`, of which at most `keep` are given; see prover.prove.

    A formula of several parts is asked for two solutions first, as ever: then the verdict stands, and whatever part the
    counting ends in, the others have a solution.
    Errors: RuntimeError if the solver contradicts itself.
    """
    until = monotonic() + seconds
    if problem.impossible:
        return Decision(_grids(problem, [], [], 0), 0, True, "exhausted")
    whole = [(problem.role, problem.formula.clauses)]
    parts = components(problem) if wanted > 2 else whole
    if len(parts) == 1:
        return _count(problem, limits, whole, wanted, keep, until, cpu_seconds, stopped)
    two = _count(problem, limits, whole, 2, 2, until, cpu_seconds, stopped)
    if two.ending != "enough":
        return two
    counted = _count(problem, limits, parts, wanted, keep, until, cpu_seconds - two.cpu_s, stopped, two.model)
    counted.conflicts += two.conflicts
    counted.cpu_s += two.cpu_s
    if counted.exhausted and counted.found < 2:
        raise RuntimeError(f"the SAT solver contradicts itself: two solutions together, {counted.found} by parts")
    if counted.found < 2:  # the time ran out before
        counted.found, counted.solutions = 2, two.solutions
    return counted


def _count(
    problem: Problem,
    limits: Limits,
    parts: list[tuple[np.ndarray, np.ndarray]],
    wanted: int,
    keep: int,
    until: float,
    cpu_seconds: float,
    stopped: Callable[[], bool],
    model: np.ndarray | None = None,
) -> Decision:
    """The product of the numbers of models of the parts, which share no variable.

    model  of all parts together, where one is known: a part that there is no time for has that one at least.
    """
    decision = Decision(_grids(problem, [], [], 0), 1, True, "exhausted")
    models: list[np.ndarray] = []
    for role, flat in parts:
        more = -(-wanted // decision.found)
        questions = _questions(problem, role, flat, limits)
        left_s, cpu_left_s = until - monotonic(), cpu_seconds - decision.cpu_s
        proof = prove(questions, more, left_s, limits.memory_mib, stopped, min(keep, more), cpu_left_s)
        decision.conflicts += proof.conflicts
        decision.cpu_s += proof.cpu_s
        found = np.array(proof.models, bool).reshape(-1, len(role))
        n_found = proof.n_found
        if proof.ending == "exhausted" and not n_found:
            decision.exhausted, decision.ending = True, "exhausted"
        elif proof.ending != "exhausted":
            decision.exhausted, decision.ending = False, proof.ending
            if not n_found and model is not None:
                found, n_found = model[np.newaxis], 1
        decision.found *= n_found
        models.append(found)
        if not decision.found:
            return decision
        if proof.ending not in ("exhausted", "enough"):
            models += [model[np.newaxis] for _ in parts[len(models) :]] if model is not None else []
            break
    if decision.found >= wanted and not decision.exhausted:
        decision.ending = "enough"
    decision.exhausted &= decision.found <= wanted
    decision.model = models[0][0]
    decision.solutions = _grids(problem, [role for role, _ in parts], models, min(keep, decision.found))
    decision.found = min(decision.found, wanted)
    return decision


def components(problem: Problem) -> list[tuple[np.ndarray, np.ndarray]]:
    """(roles, clauses) of the parts of a formula that share no variable; what belongs to others has the role NEVER."""
    from ..kernels.encode import NEVER, join_variables

    parents = np.arange(problem.formula.n_variables + 1, dtype=np.int32)
    join_variables(problem.formula.clauses, parents)
    of_cells = parents[1 : len(problem.role) + 1]
    roots = np.unique(of_cells)
    if len(roots) < 2:
        return [(problem.role, problem.formula.clauses)]
    ends = np.flatnonzero(problem.formula.clauses == 0)
    sizes = np.diff(ends, prepend=-1)
    of_clauses = parents[np.abs(problem.formula.clauses[ends - sizes + 1])]
    of_clauses[~np.isin(of_clauses, roots)] = roots[0]  # blocks that no open cell depends on
    of_numbers = np.repeat(of_clauses, sizes)
    return [
        (np.where(of_cells == root, problem.role, NEVER).astype(np.uint8), problem.formula.clauses[of_numbers == root])
        for root in roots
    ]


def _questions(problem: Problem, role: np.ndarray, flat: np.ndarray, limits: Limits) -> list[Question]:
    """The same formula for each solver of the plan; see attempt.Plan.solvers."""
    questions = []
    for entry in limits.plan.solvers:
        name, *extras = entry.split(":")
        phases = np.zeros_like(problem.phases) if "free" in extras else problem.phases
        seeds = [int(extra) for extra in extras if extra.isdecimal()]
        cells, shuffled = np.arange(1, len(role) + 1, dtype=np.int32), flat
        if seeds:
            order = np.random.default_rng(seeds[0]).permutation(problem.formula.n_variables).astype(np.int32)
            renamed = np.concatenate([[0], order + 1]).astype(np.int32)
            shuffled, cells = np.sign(flat) * renamed[np.abs(flat)], renamed[cells]
            turned = np.empty_like(phases)
            turned[order] = phases
            phases = turned
        questions.append(
            Question(name, b"".join(replace(problem.formula, clauses=shuffled).dimacs()), phases, cells, role)
        )
    return questions


def _grids(problem: Problem, roles: list[np.ndarray], models: list[np.ndarray], keep: int) -> np.ndarray:
    """The first `keep` solutions as colour indices: every combination of the models of the parts."""
    from ..kernels.encode import NEVER, TRUE

    literals = problem.formula.literals
    grids = np.zeros((keep, len(literals)), np.uint16)
    for number in range(keep):
        values, rest = np.zeros(len(problem.role) + 1, bool), number
        for role, found in zip(roles, models, strict=True):
            rest, place = divmod(rest, len(found))
            mine = np.ones(len(role), bool) if len(roles) == 1 else role != NEVER
            values[1:][mine] = found[place][mine]
        held = np.abs(literals) < TRUE
        true = literals == TRUE
        true[held] = values[np.abs(literals[held])] == (literals[held] > 0)
        grids[number] = true.argmax(axis=1)
    return grids
