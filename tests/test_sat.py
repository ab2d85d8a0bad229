"""The stage `sat`: formulas, hints, and the processes that decide them."""

from __future__ import annotations

import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import oracles
import psutil
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from processes import title

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Outcome, Plan, Result
from parallel_nono.generator import generate
from parallel_nono.kernels import belief
from parallel_nono.kernels.bits import FULL
from parallel_nono.kernels.board import COUNTS, N_CONFLICTS
from parallel_nono.kernels.layout import ROOT
from parallel_nono.puzzle import Block, Clue, Puzzle
from parallel_nono.puzzleset import clues_of, plain_palette, set_of
from parallel_nono.solver import plans, prover, sat, solve, solve_set
from parallel_nono.solver.formula import Formula
from parallel_nono.solver.plans import load_plan, names

AT_ONCE = Plan(("line", "sat"))
"""Everything that lines leave goes to the solver."""

EVERY_SOLUTION = Limits(solutions=2000, count=2000, plan=AT_ONCE)
SOME = Puzzle.of_grid(((1, 0), (0, 1)))
"""The smallest puzzle that lines leave open."""


def switches(n: int) -> Puzzle:
    """n parts that share nothing, each with two solutions: a colour that only its own two rows and columns have."""
    sides = tuple((Block(1, colour),) for colour in range(1, n + 1) for _ in range(2))
    return Puzzle(sides, sides, plain_palette(n + 1))


@pytest.fixture
def stubborn() -> Puzzle:
    """A puzzle that takes every stage minutes."""
    return generate("domino", 63, 63, 0)


@given(strategies.puzzles(most=4, max_colours=4))
def test_models_of_the_formula_are_the_solutions(puzzle: Puzzle) -> None:
    grids = oracles.grids_by_trying_all(puzzle)
    result = solve(puzzle, EVERY_SOLUTION)
    assert (result.n_solutions, result.exhausted) == (len(grids), True)
    assert set(result.solutions) == set(grids)


@given(st.data())
def test_models_with_unknown_lengths_are_the_solutions(data: st.DataObject) -> None:
    puzzle = data.draw(strategies.puzzles(most=4, max_colours=3))
    hidden = [[data.draw(strategies.blotted_clues(clue)) for clue in side] for side in (puzzle.rows, puzzle.columns)]
    puzzle = Puzzle(tuple(hidden[0]), tuple(hidden[1]), puzzle.palette)
    grids = oracles.grids_by_trying_all(puzzle)
    result = solve(puzzle, EVERY_SOLUTION)
    assert (result.n_solutions, result.exhausted) == (len(grids), True)
    assert set(result.solutions) == set(grids)


def noise() -> Iterator[Puzzle]:
    """Puzzles of which every stage decides some."""
    for seed in range(20):
        yield generate("noise", 15, 17, seed, density=45)
        yield generate("confetti", 12, 12, seed, density=60, inks=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "plan",
    [
        AT_ONCE,
        Plan(("line", "sat"), hints=False),
        Plan(("line", "sat"), encoding="plain", hints=False),
        Plan(("line", "probe", "sat"), probes=20),
        Plan(visits=1),
        Plan(("line", "sat"), solvers=("cadical153", "cadical195:free", "glucose4:7")),
        *map(load_plan, sorted(set(names()) - {"fast", "lines-only"})),
    ],
    ids=str,
)
def test_every_plan_has_the_same_verdict(plan: Plan) -> None:
    puzzles = list(noise())
    expected = solve_set(set_of(puzzles), Limits(plan=load_plan("search")))
    found = solve_set(set_of(puzzles), Limits(plan=plan))
    assert np.array_equal(found.outcome, expected.outcome)
    assert np.array_equal(found.n_solutions, expected.n_solutions)
    if plan.stages == ("line", "sat"):
        assert "sat" in {STAGES[stage] for stage in found.stage}


def test_counts_of_parts_that_share_nothing_are_multiplied() -> None:
    exact = Limits(solutions=70, count=1000, plan=AT_ONCE)
    result = solve(switches(6), exact)
    assert (result.outcome, result.n_solutions, result.exhausted) == (Outcome.MULTIPLE, 64, True)
    assert len(set(result.solutions)) == 64
    result = solve(switches(40), exact)
    assert (result.n_solutions, result.exhausted, len(set(result.solutions))) == (1000, False, 70)


def exhausted_at(number: int, asked: list[int]) -> Any:
    """`prove`, but question `number` is said to have no solution."""
    original = sat.prove

    def prove(questions: list[prover.Question], wanted: int, *rest: Any) -> prover.Proof:
        asked.append(wanted)
        return prover.Proof([], "exhausted", 3) if len(asked) == number else original(questions, wanted, *rest)

    return prove


def test_parts_are_counted_once_two_solutions_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(sat, "prove", exhausted_at(0, asked))
    assert solve(switches(5), Limits(count=1000, plan=AT_ONCE)).n_solutions == 32
    assert asked == [2, 1000, 500, 250, 125, 63]  # what the parts before have is not asked for again


def test_an_impossible_formula_leaves_no_solution_whatever_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(sat, "prove", exhausted_at(1, asked))
    result = solve(switches(5), Limits(count=1000, plan=AT_ONCE))
    assert (result.outcome, result.n_solutions, result.exhausted) == (Outcome.CONTRADICTION, 0, True)
    assert asked == [2]


def test_a_solver_that_contradicts_itself_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "prove", exhausted_at(3, []))
    with pytest.raises(RuntimeError, match="contradicts itself"):
        solve(switches(5), Limits(count=1000, plan=AT_ONCE))


@pytest.mark.parametrize("turn", ["transposed", "mirrored"])
def test_turned_puzzles_have_the_same_verdict(turn: str) -> None:
    puzzles = list(noise())
    turned = [getattr(puzzle, turn)() for puzzle in puzzles]
    one, other = (solve_set(set_of(these), Limits(count=20, plan=AT_ONCE)) for these in (puzzles, turned))
    assert np.array_equal(one.outcome, other.outcome)
    assert np.array_equal(one.n_solutions, other.n_solutions)


@pytest.mark.slow
def test_a_late_solver_is_ended_and_leaves_no_process_at_work(stubborn: Puzzle) -> None:
    began = time.monotonic()
    result = solve(stubborn, Limits(seconds=1.0))
    assert (result.outcome, result.stage) == (Outcome.TIMEOUT, "sat")
    assert time.monotonic() - began < 2.0 + 1.0  # the second is the promise, the rest for a busy machine
    time.sleep(0.5)
    children = psutil.Process().children(recursive=True)
    assert not [child for child in children if child.cpu_percent(0.2) > 50]


def test_a_question_ends_by_the_clock_of_whoever_asked(stubborn: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after so many seconds from when its process came to read it; and between few conflicts near the end."""
    monkeypatch.setattr(prover, "MIN_GRACE_S", 60.0)
    monkeypatch.setattr(prover, "GRACE_S", 60.0)
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    question = sat._questions(*parts_of(stubborn), Limits())[0]
    (process,) = prover._pool.idle
    for seconds in (0.0, 0.01, 0.3):
        began = time.monotonic()
        proof = prover.prove([question], 2, seconds, 4096, lambda: False)
        assert proof.ending == "late"
        assert time.monotonic() - began < 20
    (again,) = prover._pool.idle
    assert again._process.pid == process._process.pid  # it came back by itself and was not killed


def parts_of(puzzle: Puzzle) -> tuple[sat.Problem, np.ndarray, np.ndarray]:
    """The formula of a puzzle of which nothing is known."""
    found: list[sat.Problem] = []

    def kept(problem: sat.Problem, *_: Any) -> sat.Decision:
        found.append(problem)
        return sat.Decision(np.zeros((0, puzzle.height * puzzle.width), np.uint16), 0, False, "late")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sat, "decide", kept)
        solve(puzzle, Limits(plan=AT_ONCE))
    return found[0], found[0].role, found[0].formula.clauses


@pytest.mark.slow
def test_the_first_question_of_a_thread_does_not_pay_for_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    begin = prover.Prover.__init__

    def slowly(self: prover.Prover) -> None:
        time.sleep(3.0)
        begin(self)

    monkeypatch.setattr(prover.Prover, "__init__", slowly)
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    result = solve(SOME, Limits(seconds=2.0, plan=AT_ONCE))
    assert result.outcome == Outcome.MULTIPLE
    assert result.seconds["sat_s"] < 2.0


def test_no_formula_is_decided_once_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its making took all of it."""
    make = sat.problem_of

    def slowly(*words: Any, **named: Any) -> Any:
        time.sleep(0.2)
        return make(*words, **named)

    def decided(*_: Any) -> sat.Decision:
        raise AssertionError("asked though late")

    solve(SOME, Limits(plan=AT_ONCE))  # all is compiled
    monkeypatch.setattr(sat, "problem_of", slowly)
    monkeypatch.setattr(sat, "decide", decided)
    result = solve(SOME, Limits(seconds=0.1, plan=AT_ONCE))
    assert result.outcome == Outcome.TIMEOUT
    assert 0.2 <= result.seconds["sat_s"] < 20


@pytest.mark.slow
def test_a_solver_can_be_stopped(stubborn: Puzzle) -> None:
    abort = np.zeros(1, np.int64)
    threading.Timer(0.7, lambda: abort.__setitem__(0, 1)).start()
    began = time.monotonic()
    results = solve_set(set_of([stubborn, SOME]), Limits(seconds=600, plan=AT_ONCE), abort)
    assert results.aborted
    assert time.monotonic() - began < 10


@pytest.mark.slow
def test_solutions_found_before_the_time_was_up_are_kept() -> None:
    """A solution of a puzzle whose proof takes long: honest about what is known."""
    found = [solve(generate("domino", side, side, 0), Limits(seconds=1.0, plan=AT_ONCE)) for side in (31, 35, 39)]
    late = [result for result in found if result.outcome == Outcome.TIMEOUT]
    assert late
    assert all(len(result.solutions) == result.n_solutions <= 1 for result in late)


def test_the_limit_holds_while_solutions_stream_in() -> None:
    side = tuple((Block(1),) for _ in range(10))
    began = time.monotonic()
    result = solve(Puzzle(side, side), Limits(seconds=1.0, count=10**7, plan=AT_ONCE))
    assert (result.outcome, result.exhausted) == (Outcome.MULTIPLE, False)
    assert 2 < result.n_solutions < 3_628_800
    assert time.monotonic() - began < 2.0 + 1.0


def test_a_late_part_promises_nothing_for_those_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = np.ones(12, bool)
    monkeypatch.setattr(sat, "prove", lambda *_: prover.Proof([model], "late", 1))
    result = solve(switches(3), Limits(count=1000, plan=AT_ONCE))
    assert (result.outcome, result.n_solutions) == (Outcome.TIMEOUT, 0)


def test_a_solver_that_had_to_be_killed_counts_as_it_had_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = tmp_path / "deaf.py"
    deaf.write_text(
        "import struct, sys, time\n"
        "sys.stdout.buffer.write(b'R' + struct.pack('<d', 70.25)); sys.stdout.flush(); sys.stdin.readline()\n"
        "for n in (20_000, 40_000): sys.stdout.buffer.write(b'C' + struct.pack('<qd', n, 70.25 + n / 20_000))\n"
        "sys.stdout.flush(); time.sleep(60)\n"
    )
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    monkeypatch.setattr(prover, "_command", lambda: [sys.executable, str(deaf)])
    results = solve_set(set_of([SOME]), Limits(seconds=0.3, plan=AT_ONCE))
    assert OUTCOMES[results.outcome[0]] == Outcome.TIMEOUT
    assert (results.out.counts[0, N_CONFLICTS - COUNTS], results.sat_cpu_s[0]) == (40_000, 2.0)


def test_a_formula_too_large_is_said_before_it_is_made(stubborn: Puzzle) -> None:
    result = solve(stubborn, Limits(memory_mib=1, plan=AT_ONCE))
    assert result.outcome == Outcome.STALLED
    assert "needs about" in result.witness


@pytest.mark.slow
def test_a_solver_that_grows_too_large_is_ended(stubborn: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "BYTES_A_NUMBER", 1)
    result = solve(stubborn, Limits(seconds=60, memory_mib=20, plan=AT_ONCE))
    assert (result.outcome, result.witness) == (Outcome.STALLED, "the SAT solver took more than 20 MiB")


def solver_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "cadical.py" in title(child)]


@pytest.mark.slow
def test_a_solver_that_dies_is_an_error_and_the_next_question_finds_another(stubborn: Puzzle) -> None:
    def kill() -> None:
        time.sleep(1.0)
        for child in solver_processes():
            os.kill(child.pid, signal.SIGKILL)

    threading.Thread(target=kill).start()
    with pytest.raises(prover.ProverDied, match="ended by itself"):
        solve(stubborn, Limits(seconds=60, plan=AT_ONCE))
    assert solve(SOME, Limits(plan=AT_ONCE)).outcome == Outcome.MULTIPLE


def test_a_solver_that_died_while_idle_is_replaced() -> None:
    assert solve(SOME, Limits(plan=AT_ONCE)).outcome == Outcome.MULTIPLE
    for child in solver_processes():
        child.kill()
        child.wait()
    assert solve(SOME, Limits(plan=AT_ONCE)).outcome == Outcome.MULTIPLE


def test_a_process_is_kept_for_the_next_question() -> None:
    solve(SOME, Limits(plan=AT_ONCE))
    before = {child.pid for child in solver_processes()}
    for _ in range(3):
        solve(SOME, Limits(plan=AT_ONCE))
    assert {child.pid for child in solver_processes()} == before


def test_threads_share_a_process_for_each_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many threads ask, no more are at work than cores, and nobody pays for waiting."""
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    monkeypatch.setattr(prover, "_cores", lambda: frozenset({0, 1}))
    before, most = {child.pid for child in solver_processes()}, 0
    found: list[Result] = []
    threads = [threading.Thread(target=lambda: found.append(solve(SOME, Limits(plan=AT_ONCE)))) for _ in range(12)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        most = max(most, len({child.pid for child in solver_processes()} - before))
        time.sleep(0.01)
    assert [result.outcome for result in found] == 12 * [Outcome.MULTIPLE]
    assert len(prover._pool.idle) == max(most, len({child.pid for child in solver_processes()} - before)) == 2


def test_whoever_waits_for_a_process_hears_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    monkeypatch.setattr(prover, "_cores", lambda: frozenset({0}))
    stop, answers = threading.Event(), []

    def wait() -> None:
        with prover.reserved(1, stop.is_set) as ready:
            answers.append(ready)

    with prover.reserved(1) as ready:
        assert ready
        other = threading.Thread(target=wait)
        other.start()
        time.sleep(0.05)
        assert other.is_alive()
        stop.set()
        other.join(5)
    assert answers == [False]
    with prover.reserved(3) as ready:  # more than there are cores: a race of three, once nobody else has any
        assert ready


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_leaves_the_processes_of_its_parent_alone() -> None:
    solve(SOME, Limits(plan=AT_ONCE))
    before = {child.pid for child in solver_processes()}
    code = (
        "import os, sys; sys.path[:0] = ['tests']\n"
        "from test_sat import AT_ONCE, SOME, Limits, solve, solver_processes\n"
        "solve(SOME, Limits(plan=AT_ONCE)); parents = {one.pid for one in solver_processes()}\n"
        "if not (child := os.fork()):\n"
        "    solve(SOME, Limits(plan=AT_ONCE)); mine = {one.pid for one in solver_processes()}\n"
        "    sys.exit(len(mine) != 1 or bool(mine & parents))\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert solve(SOME, Limits(plan=AT_ONCE)).outcome == 'multiple'\n"
        "assert {one.pid for one in solver_processes()} == parents, parents\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert {child.pid for child in solver_processes()} >= before


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """The programme of the other process, in this one."""
    spec = importlib.util.spec_from_file_location("cadical", prover.PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_ways_to_load_a_formula_load_the_same(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    from pysat.solvers import Solver

    clauses = [[1, -2, 3], [-1], [2, 4], [-3, -4], [10, -11]]
    flat = np.array([number for clause in clauses for number in (*clause, 0)], np.int32)
    text = b"".join(Formula(flat, 11, np.zeros((0, 2), np.int32)).dimacs())
    assert text.decode() == "p cnf 11 5\n" + "".join(" ".join(map(str, (*clause, 0))) + "\n" for clause in clauses)
    models = []
    for read in (program.reader, lambda name: None):
        monkeypatch.setattr(program, "reader", read)
        with Solver(name="cadical153") as solver:
            program.load(solver, "cadical153", text)
            found = set()
            while solver.solve():
                model = solver.get_model()[:4]
                found.add(tuple(model))
                solver.add_clause([-literal for literal in model])
        models.append(found)
    assert models[0] == models[1]
    assert models[0] == {(-1, -2, -3, 4), (-1, 2, 3, -4)}


@given(st.lists(st.integers(-(2**29), 2**29), max_size=50))
def test_dimacs_is_what_python_would_print(numbers: list[int]) -> None:
    flat = np.array([*numbers, 0], np.int32)
    lines = b"".join(Formula(flat, 5, np.zeros((0, 2), np.int32)).dimacs()).decode().split("\n", 1)[1]
    assert lines.replace("\n", " ").split() == [str(number) for number in flat.tolist()]
    assert lines.count("\n") == np.count_nonzero(flat == 0)


def marginals(clue: Clue, n_cells: int, n_colours: int) -> np.ndarray:
    """By writing out all arrangements: the share of them in which a cell has a colour, float64[cells, colours]."""
    shares = np.zeros((n_cells, n_colours))
    arrangements = oracles.arrangements(clue, n_cells)
    for arrangement in arrangements:
        shares[range(n_cells), list(arrangement)] += 1
    return shares / max(len(arrangements), 1)


@pytest.mark.slow
@given(strategies.puzzles_of_grids(most=7, max_colours=4))
def test_the_first_messages_of_rows_are_shares_of_layouts(puzzle: Puzzle) -> None:
    """Before a column has said anything, a row weighs all of its arrangements alike."""
    batch = set_of([puzzle])
    clues = clues_of(batch)
    n_colours = puzzle.n_colours
    state = 2 * max(puzzle.height, puzzle.width) * n_colours * 2
    words = np.full(1000 + (ROOT + 2) * state + puzzle.height * puzzle.width * 2, FULL, np.uint64)
    limits = Limits(plan=AT_ONCE)
    rooms: list[belief.Room] = []
    original = belief.believe

    def keep(*arguments: Any) -> int:
        *rest, room, _, phases = arguments
        rooms.append(room)
        return original(*rest, room, 1, phases)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(belief, "believe", keep)
        sat.problem_of(clues, 0, 0, words, limits, few=-1)
    if not rooms:
        return
    told = rooms[0].messages[0].reshape(puzzle.height, puzzle.width, n_colours)
    for row, clue in enumerate(puzzle.rows):
        if clue:
            expected = np.clip(marginals(clue, puzzle.width, n_colours), belief.LEAST, 1 - belief.LEAST)
            new = (told[row] - belief.DAMPING / n_colours) / (1 - belief.DAMPING)
            assert np.allclose(new, expected, atol=1e-9)


def test_hints_do_not_change_what_is_found_but_where_it_is_looked_for() -> None:
    puzzles = [generate("noise", 25, 25, seed, density=48) for seed in range(8)]
    hinted, free = (solve_set(set_of(puzzles), Limits(plan=Plan(("line", "sat"), hints=h))) for h in (True, False))
    assert np.array_equal(hinted.outcome, free.outcome)
    assert hinted.n_conflicts.sum() != free.n_conflicts.sum()


def test_the_facts_of_a_row_tell_what_each_stage_settled() -> None:
    results = solve_set(set_of(list(noise())), Limits())
    assert (results.n_open_lines >= results.n_open).all()
    by_lines = results.stage == STAGES.index("line")
    assert (results.n_open_lines[by_lines & (results.outcome == OUTCOMES.index(Outcome.UNIQUE))] == 0).all()
    assert (results.n_depth <= results.n_branches).all()
    assert results.n_depth.max() > 0


def test_names_of_solvers_in_plans() -> None:
    fine = ["cadical153", "glucose4:12", "cadical195:free", "cadical153:3:free"]
    assert all(plans.ENTRY.fullmatch(name) for name in fine)
    assert not any(plans.ENTRY.fullmatch(name) for name in ["kissat404", "cadical153:x", "cadical153:free:3", ""])


def test_every_named_solver_can_be_used() -> None:
    for name, seed in itertools.product(plans.SOLVERS, ("", ":5")):
        result = solve(SOME, Limits(plan=Plan(("line", "sat"), solvers=(name + seed,))))
        assert (result.outcome, result.stage) == (Outcome.MULTIPLE, "sat")
