"""`--cpu-seconds`: a limit by CPU time wherever a puzzle is worked on, and CPU time told as it was spent."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from console import pnono
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.attempt import OUTCOMES, Limits, Outcome, Plan
from parallel_nono.batch.options import InvalidOption, RunOptions
from parallel_nono.files.writing import write
from parallel_nono.generator import generate
from parallel_nono.kernels import deadline
from parallel_nono.kinds.numcross.search import ORDERS, solve_grid
from parallel_nono.kinds.numcross.words import load_words
from parallel_nono.kinds.strikeout.search import Watch
from parallel_nono.lanes.coordinator import Coordinator
from parallel_nono.lanes.team import Threads
from parallel_nono.puzzle import BLOT, Block, Grid, Puzzle
from parallel_nono.puzzleset import plain_palette, set_of
from parallel_nono.solver import prover, sat, solve, solve_set
from parallel_nono.solver.several import OutOfTime, solutions

SLACK_S = 0.3
"""What may be done between two looks at the clock, on a slow machine."""

RUNNING = np.zeros(1, np.int64)
WITHOUT_END = 10**15
SEARCH = Plan(("line", "probe", "search"))
AT_ONCE = Plan(("line", "sat"))


def permutations(n: int, block: Block) -> Puzzle:
    """A block in each line: n! solutions."""
    return Puzzle(((block,),) * n, ((block,),) * n, plain_palette(block.colour + 1))


@pytest.fixture
def stubborn() -> Puzzle:
    """A puzzle that takes every stage minutes."""
    return generate("domino", 63, 63, 0)


# The clocks.


def clocks(steps: list[tuple[int, float]]) -> Iterator[tuple[int, int]]:
    """(wall, CPU) nanoseconds after steps of so many, of which the thread had a core for a share."""
    wall, cpu = 10**9, 5 * 10**6
    for step, share in steps:
        wall, cpu = wall + step, cpu + int(step * share)
        yield wall, cpu


@given(
    st.integers(1, 2000),
    st.integers(0, 2000),
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 1)), max_size=30),
)
def test_it_is_late_as_soon_as_a_limit_is_reached_and_not_before(
    limit: int, cpu_limit: int, steps: list[tuple[int, float]]
) -> None:
    """The kernel's own source with clocks that we turn."""
    now = SimpleNamespace(wall=10**9, cpu=5 * 10**6)
    names: dict[str, Any] = {
        "nanoseconds": lambda: now.wall,
        "coarse_nanoseconds": lambda: now.wall,
        "cpu_nanoseconds": lambda: now.cpu,
        "load_int64": lambda _: 0,
        "kernel": lambda **_: lambda function: function,
    }
    source = inspect.getsource(deadline).replace("from . import kernel\n", "")
    exec(source[: source.index("from .bits")] + source[source.index("\n", source.index("from .bits")) :], names)
    numbers = np.zeros(8, np.int64)
    names["set_ends"](numbers, limit, cpu_limit)
    began = now.wall, now.cpu
    for now.wall, now.cpu in clocks(steps):
        over = now.wall - began[0] > limit or 0 < cpu_limit <= now.cpu - began[1]
        at_the_end = now.wall - began[0] == limit  # then it may say so or not
        assert names["is_past"](numbers) == over or at_the_end
        if over:
            return


def test_both_ways_to_set_the_limits_are_the_same() -> None:
    for limit, cpu_limit in ((10**9, 0), (10**9, 10**7), (10**7, 10**7)):
        numbers = np.zeros(8, np.int64)
        deadline.set_limits(numbers, limit, cpu_limit)
        wall, cpu = time.monotonic_ns(), time.thread_time_ns()
        assert 0 <= wall + limit - numbers[deadline.WALL_END] < 10**9
        assert numbers[deadline.DEADLINE] - numbers[deadline.WALL_END] == min(cpu_limit or limit, limit) - limit
        assert (0 < cpu + cpu_limit - numbers[deadline.CPU_END] < 10**9) if cpu_limit else not numbers[deadline.CPU_END]


# Every stage.

LINES, RACE = Plan(("line",)), Plan(("line", "sat"), solvers=("cadical153", "cadical195"))
STAGES: dict[str, tuple[Callable[[], Puzzle], Limits]] = {
    "narrow": (lambda: permutations(20, Block(1)), Limits(count=WITHOUT_END, plan=SEARCH, cpu_seconds=0.1)),
    "wide": (lambda: permutations(70, Block(1)), Limits(count=WITHOUT_END, plan=SEARCH, cpu_seconds=0.1)),
    "colour": (lambda: permutations(20, Block(1, 2)), Limits(count=WITHOUT_END, plan=SEARCH, cpu_seconds=0.1)),
    "blots": (lambda: permutations(20, Block(BLOT)), Limits(count=WITHOUT_END, plan=SEARCH, cpu_seconds=0.1)),
    "probes": (
        lambda: generate("noise", 200, 200, 0, density=60),
        Limits(plan=Plan(("line", "probe"), probes=0), cpu_seconds=0.1),
    ),
    "lines": (lambda: generate("noise", 900, 900, 0, density=60), Limits(plan=LINES, cpu_seconds=0.02)),
    "rounds": (
        lambda: generate("noise", 900, 900, 0, density=60),
        Limits(plan=LINES, order="rounds", cpu_seconds=0.05),
    ),
    "sat": (lambda: generate("domino", 63, 63, 0), Limits(plan=AT_ONCE, cpu_seconds=1.5)),
    "race": (lambda: generate("domino", 63, 63, 0), Limits(plan=RACE, cpu_seconds=1.5)),
}
"""Puzzles that take longer, with a limit of CPU time."""


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_ends_by_its_cpu_time(stage: str) -> None:
    make, limits = STAGES[stage]
    batch, limits = set_of([make()]), replace(limits, seconds=600.0)
    solve_set(batch, replace(limits, seconds=0.05))  # what must be compiled is compiled
    began = time.thread_time()
    results = solve_set(batch, limits)
    spent = time.thread_time() - began + float(results.sat_cpu_s[0])
    assert results.outcome[0] in (OUTCOMES.index(Outcome.TIMEOUT), OUTCOMES.index(Outcome.MULTIPLE))
    assert not results.exhausted[0]
    assert limits.cpu_seconds <= spent < limits.cpu_seconds + SLACK_S * (1 + (stage == "race"))


@pytest.mark.slow
def test_who_waits_for_a_core_loses_nothing_by_it() -> None:
    """Four threads on one core: the clock on the wall goes four times as fast as theirs, which counts."""
    code = """
import os, sys, threading, time
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import numpy as np
from parallel_nono.attempt import Limits, Plan
from parallel_nono.puzzle import Block, Puzzle
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import solve_set
n, spent = 20, []
batch = set_of([Puzzle(((Block(1),),) * n, ((Block(1),),) * n)])
limits = Limits(seconds=600, count=10**15, plan=Plan(("line", "probe", "search")), cpu_seconds=0.4)
solve_set(batch, Limits(seconds=0.01, plan=limits.plan))
def work():
    cpu, wall = time.thread_time(), time.monotonic()
    solve_set(batch, limits)
    spent.append((time.thread_time() - cpu, time.monotonic() - wall))
threads = [threading.Thread(target=work) for _ in range(4)]
for each in threads: each.start()
for each in threads: each.join()
print(*(f"{cpu} {wall}" for cpu, wall in spent))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    figures = np.array(done.stdout.split(), float).reshape(4, 2)
    assert (figures[:, 0] >= 0.39).all()
    assert (figures[:, 0] < 0.4 + SLACK_S).all()
    assert figures[:, 1].max() > 2.5 * 0.4


def test_a_wall_that_comes_first_ends_it_too() -> None:
    make, limits = STAGES["narrow"]
    began = time.thread_time()
    result = solve(make(), replace(limits, seconds=0.05, cpu_seconds=20.0))
    assert not result.exhausted
    assert time.thread_time() - began < 0.05 + SLACK_S


def test_solutions_one_by_one_share_the_cpu_time() -> None:
    puzzle = replace(permutations(9, Block(1)), name="permutations")
    found: list[Grid] = []
    with pytest.raises(OutOfTime, match=r"permutations: [0-9,]+ solutions, and perhaps more: 0\.2 s of CPU time are"):
        found.extend(solutions(puzzle, Limits(600.0, plan=SEARCH, cpu_seconds=0.2)))
    assert 2 <= len(found) < 362_880
    with pytest.raises(OutOfTime, match=r"more: 0\.2 s are over"):
        list(solutions(puzzle, Limits(0.2, plan=SEARCH, cpu_seconds=100.0)))


# The processes of the SAT solver.


def question_of(puzzle: Puzzle) -> prover.Question:
    found: list[prover.Question] = []
    with pytest.MonkeyPatch.context() as patch:

        def kept(problem: sat.Problem, limits: Limits, *_: Any) -> sat.Decision:
            found.extend(sat._questions(problem, problem.role, problem.formula.clauses, limits))
            return sat.Decision(np.zeros((0, puzzle.height * puzzle.width), np.uint16), 0, False, "late")

        patch.setattr(sat, "decide", kept)
        solve(puzzle, Limits(plan=AT_ONCE))
    return found[0]


def test_a_question_ends_by_the_cpu_time_of_its_process(stubborn: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks itself, and comes back; nobody has to kill it."""
    monkeypatch.setattr(prover, "MIN_GRACE_S", 60.0)
    monkeypatch.setattr(prover, "GRACE_S", 60.0)
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    question = question_of(stubborn)
    for cpu_s in (0.2, 0.7):
        proof = prover.prove([question], 2, 600.0, 4096, lambda: False, cpu_seconds=cpu_s)
        assert proof.ending == "late"
        assert cpu_s <= proof.cpu_s < cpu_s + 5  # so many conflicts without a look at the clock
    assert len(prover._pool.idle) == 1


@pytest.mark.slow
def test_a_solver_that_does_not_look_is_killed_by_its_cpu_time(
    stubborn: Puzzle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deaf = tmp_path / "cadical.py"
    deaf.write_text(
        prover.PROGRAM.read_text().replace("SLICE, SLICE_S, MIN_SLICE = 20_000", "SLICE, SLICE_S, MIN_SLICE = 10**9")
    )
    monkeypatch.setattr(prover, "PROGRAM", deaf)
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    prover._command.cache_clear()
    try:
        proof = prover.prove([question_of(stubborn)], 2, 600.0, 4096, lambda: False, cpu_seconds=2.0)
    finally:
        prover._command.cache_clear()
    assert proof.ending == "late"
    assert 2.0 <= proof.cpu_s < 2.0 + 4 * SLACK_S
    assert not prover._pool.idle


def test_a_solver_that_sleeps_uses_no_cpu_time(stubborn: Puzzle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "_pool", prover._Pool())
    question = question_of(stubborn)
    prover.prove([question], 2, 0.05, 4096, lambda: False)
    with prover.reserved(1):
        (process,) = prover._mine.provers or []
        os.kill(process._process.pid, signal.SIGSTOP)
        proof = prover.prove([question], 2, 0.5, 4096, lambda: False, cpu_seconds=0.3)
    assert proof.ending == "late"
    assert proof.cpu_s < 0.1


@pytest.mark.slow
def test_the_rows_tell_what_the_solvers_used(tmp_path: Path) -> None:
    """Counted a second time: by the system, of a process that has started them and has seen them end."""
    folder = tmp_path / "in"
    folder.mkdir()
    for seed in range(3):
        write([generate("noise", 25, 25, seed, density=45)], folder / f"{seed}.non")
    code = """
import resource, runpy, sys
sys.argv = ["pnono", "run", "in", "--plan", "plan.toml", "--workers", "1", "--engine", "local", "--out", "out"]
try:
    runpy.run_module("parallel_nono", run_name="__main__")
except SystemExit as error:
    pass
from parallel_nono.solver import prover
n = len(prover.Prover.living)
prover._kill_all()
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print("\\nspent", n, usage.ru_utime + usage.ru_stime)
"""
    (tmp_path / "plan.toml").write_text('stages = ["line", "sat"]\n')
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    n, spent = done.stdout.split("spent", 1)[1].split()
    rows = pq.read_table(tmp_path / "out/rows").to_pylist()
    told = sum(row["sat_cpu_s"] for row in rows)
    assert {row["stage"] for row in rows} == {"sat"}
    assert all(0 < row["sat_cpu_s"] <= row["sat_s"] * 1.05 + 0.01 for row in rows)
    assert told <= float(spent) + 0.02
    assert float(spent) - told < 0.5 * (int(n) + 1)  # their start, and whatever else is asked of the system


# Other kinds and programs, lines mode.


def test_a_number_crossword_ends_by_its_cpu_time() -> None:
    words = load_words(str(Path(__file__).parent / "words/english.txt"), "skip", "skip")
    cells = tuple(tuple(row) for row in np.diag(range(1, 21)).tolist())
    for order in ORDERS:
        solve_grid(cells, {}, words, order, Limits(seconds=0.01, count=WITHOUT_END), RUNNING)
        began = time.thread_time()
        found = solve_grid(cells, {}, words, order, Limits(600.0, count=WITHOUT_END, cpu_seconds=0.1), RUNNING)
        assert not found.exhausted
        assert 0.09 <= time.thread_time() - began < 0.1 + SLACK_S


def test_a_game_ends_by_its_cpu_time() -> None:
    began = time.thread_time()
    watch = Watch.of(Limits(600.0, cpu_seconds=0.05), RUNNING)
    while not watch.late():
        assert time.thread_time() - began < 1
    assert time.thread_time() - began >= 0.05
    watch = Watch.of(Limits(600.0, cpu_seconds=0.05), RUNNING)
    time.sleep(0.1)
    assert not watch.late()
    assert not Watch.of(Limits(600.0), RUNNING).late()


@pytest.mark.slow
def test_a_program_and_its_children_end_by_their_cpu_time(tmp_path: Path) -> None:
    spin = "import time\\nwhile time.process_time() < {}: pass"
    program = f"""
import subprocess, sys, time
subprocess.run([sys.executable, "-c", "{spin.format(0.4)}"])
subprocess.Popen([sys.executable, "-c", "{spin.format(100)}"])
time.sleep(100)
"""
    (tmp_path / "spins.toml").write_text(
        f'command = ["{{python}}", "-c", {json.dumps(program)}]\nrow = "[.#]+"\n', encoding="utf-8"
    )
    from parallel_nono.solver import external

    definition = external.load_program(str(tmp_path / "spins.toml"))
    puzzle = Puzzle.of_grid(((1, 0), (0, 1)))
    ended = external.ask(definition, external.text_for(definition, puzzle), 100.0, 1000, cpu_seconds=1.0)
    assert ended.ending == "late"
    assert ended.seconds < 50
    quick = external.ask(definition, external.text_for(definition, puzzle), 0.5, 1000)
    assert quick.ending == "late"


@pytest.mark.slow
def test_lines_mode_counts_the_cpu_time_of_all_workers() -> None:
    puzzle = generate("noise", 900, 900, 0, density=60)
    coordinator = Coordinator(Threads(2))
    try:
        whole = solve_set(set_of([puzzle]), Limits(plan=("line",)), lines=coordinator)
        spent = whole.shared[0].cpu_s
        part = solve_set(set_of([puzzle]), Limits(plan=("line",), cpu_seconds=spent / 4), lines=coordinator)
    finally:
        coordinator.close(5.0)
    assert OUTCOMES[whole.outcome[0]] == Outcome.STALLED
    assert OUTCOMES[part.outcome[0]] == Outcome.TIMEOUT
    assert spent / 4 < part.shared[0].cpu_s < spent


# Runs.


def test_limits_without_end_end_nothing() -> None:
    for seconds in (1e300, float("inf")):
        limits = Limits(seconds, cpu_seconds=seconds)
        assert solve(Puzzle.of_grid(((1, 1), (0, 1))), limits).outcome == Outcome.UNIQUE
        assert solve(generate("domino", 15, 15, 0), replace(limits, plan=AT_ONCE)).outcome == Outcome.UNIQUE
    for wrong in ({"seconds": float("nan")}, {"cpu_seconds": float("nan")}, {"seconds": -1.0}, {"cpu_seconds": -0.1}):
        with pytest.raises(ValueError, match="expected seconds and cpu_seconds from 0 on"):
            Limits(**wrong)


def test_a_limit_that_can_not_be_reached_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"cpu_seconds: expected at most the 60 s of --seconds, .* found 61"):
        RunOptions("in", cpu_seconds=61)
    with pytest.raises(InvalidOption):
        RunOptions("in", cpu_seconds=-1)
    write([Puzzle.of_grid(((1, 0), (0, 1)))], tmp_path / "two.non")
    for words in (("run", "two.non", "--out", "out"), ("solve", "two.non")):
        done = pnono(*words, "--cpu-seconds", 9, "--seconds", 8, cwd=tmp_path, code=2)
        assert "--cpu-seconds: expected at most the 8 s of --seconds" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_run_says_what_it_allowed_and_keeps_to_it(engine: str, tmp_path: Path, stubborn: Puzzle) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write([stubborn], folder / "stubborn.non")
    write([Puzzle.of_grid(((1, 1), (0, 1)))], folder / "easy.non")
    words = ("run", folder, "--engine", engine, "--workers", 2, "--seconds", 600, "--out", "out", "--cpu-seconds")
    pnono(*words, 2, cwd=tmp_path)
    rows = {row["name"] or Path(row["source"]).stem: row for row in pq.read_table(tmp_path / "out/rows").to_pylist()}
    assert rows["easy"]["outcome"] == "unique"
    (late,) = (row for row in rows.values() if row["outcome"] == "timeout")
    assert 1.9 <= late["cpu_s"] + late["sat_cpu_s"] < 2 + 2 * SLACK_S
    facts = json.loads((tmp_path / "out/run.json").read_text())
    assert (facts["options"]["seconds"], facts["options"]["cpu_seconds"]) == (600, 2)
    assert "| CPU time for one | 2 s |" in pnono("report", "out", "--format", "md", cwd=tmp_path).stdout
    again = pnono(*words[:-1], "--resume", cwd=tmp_path, code=2)
    assert again.stderr == "pnono: out: a run is resumed with the options it had: cpu_seconds was 2.0, is not given\n"
    again = pnono(*words, 3, "--resume", cwd=tmp_path, code=2)
    assert again.stderr == "pnono: out: a run is resumed with the options it had: cpu_seconds was 2.0, is 3.0\n"
