"""Counting solutions: the number never depends on the cap, the crowd, the workers or the engine; nor does the
verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import oracles
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from console import pnono
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import puzzles

from parallel_nono.attempt import MAX_COUNTED, Limits, Outcome, Plan
from parallel_nono.checker import check
from parallel_nono.engine import engine, work
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.session import Pool, Session
from parallel_nono.kinds import kind
from parallel_nono.puzzle import Block, Puzzle
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import sat, solve_set
from parallel_nono.solver.prover import Proof
from parallel_nono.solver.single import solve_one

SAT_ALONE = Plan(("line", "sat"))
ONE = (Block(1),)


def permutations(n: int, name: str = "") -> Puzzle:
    """One cell in every row and every column: n! solutions."""
    return Puzzle((ONE,) * n, (ONE,) * n, name=name or f"permutations {n}")


def pairs(n: int) -> Puzzle:
    """n squares of two by two along the diagonal, each with two solutions, between full lines: 2**n solutions."""
    size = 3 * n - 1
    grid = [
        [int(r % 3 == 2 or c % 3 == 2 or (r // 3 == c // 3 and r % 3 == c % 3)) for c in range(size)]
        for r in range(size)
    ]
    return Puzzle.of_grid(grid)


def rows_of(set_: pa.RecordBatch, limits: Limits, workers: int, per_chunk: int) -> dict[str, dict[str, Any]]:
    """The rows of a set by name, its puzzles handed to the local engine so many at a time."""
    pieces = (set_.slice(at, per_chunk) for at in range(0, set_.num_rows, per_chunk))
    doing = work.Work(kind("nonogram"), limits)
    batches = engine("local")(doing, Feed(pieces, workers), Session(Pool(workers)))
    return {row["name"]: row for batch in batches for row in batch.to_pylist()}


CROWD = [*(permutations(n) for n in range(2, 9)), *(pairs(n) for n in range(1, 6))]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"count": 10_000}, {"solutions": 10_000}, {"count": 10**30}], ids=str)
@pytest.mark.parametrize(("workers", "per_chunk"), [(1, 100), (2, 100), (2, 1), (2, 3)])
def test_a_count_is_the_same_alone_and_in_a_crowd(
    asked: dict[str, int], workers: int, per_chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = [replace(puzzle, name=f"{place}") for place, puzzle in enumerate(CROWD)]
    limits = Limits(seconds=60, **asked)
    alone = [solve_set(set_of([puzzle]), limits) for puzzle in named]
    monkeypatch.setattr(work, "SOFT_S", 0.001)  # as a puzzle that takes long has it among others
    handed_on: list[int] = []
    of_slice = work._slice

    def watched(*arguments: Any) -> Any:
        rows = of_slice(*arguments)
        handed_on.append(len(arguments[-1].hard))
        return rows

    monkeypatch.setattr(work, "_slice", watched)
    rows = rows_of(set_of(named), limits, workers, per_chunk)
    assert per_chunk == 1 or max(handed_on) > 0  # else nothing was put to the test
    for puzzle, result in zip(named, alone, strict=True):
        row = rows[puzzle.name]
        for column in ("n_solutions", "exhausted"):
            assert row[column] == getattr(result, column)[0], (puzzle.name, column)
        assert row["outcome"] == Outcome.MULTIPLE
        assert row["witness"] == ""


@given(puzzles(most=4), st.integers(0, 40) | st.integers(2**62, 2**70))
@example(permutations(4), 2**63)  # one more than a column can hold
@example(permutations(4), 23)
@example(permutations(4), 24)
@settings(max_examples=60)
def test_a_cap_cuts_the_number_of_solutions_and_changes_nothing_else(puzzle: Puzzle, cap: int) -> None:
    number = oracles.n_solutions(puzzle)
    for plan in (Plan(), SAT_ALONE, Plan(visits=1)):
        result = solve_one(puzzle, Limits(count=cap, plan=plan))
        wanted = max(2, cap)
        assert result.n_solutions == min(number, wanted)
        assert result.exhausted == (number < wanted)
        assert result.outcome == ("contradiction", "unique", "multiple")[min(number, 2)]


@pytest.mark.parametrize("cap", [2**31, 2**63 - 2, 2**63 - 1, 2**63, 2**64, 10**40])
def test_caps_up_to_and_beyond_what_a_column_holds(cap: int) -> None:
    assert Limits(count=cap).wanted == min(cap, MAX_COUNTED)
    for plan in (Plan(), SAT_ALONE):
        result = solve_one(permutations(5), Limits(count=cap, plan=plan))
        assert (result.n_solutions, result.exhausted) == (120, True)


def test_more_solutions_than_a_column_holds_are_that_many_at_least() -> None:
    result = solve_set(set_of([pairs(64)]), Limits(count=10**40, plan=SAT_ALONE))  # 2**64
    assert (int(result.n_solutions[0]), bool(result.exhausted[0])) == (MAX_COUNTED, False)


@pytest.mark.slow
def test_a_higher_cap_never_takes_another_way_to_the_verdict() -> None:
    plain = solve_set(set_of([permutations(8)]), Limits(plan=Plan(visits=60)))
    for cap in (3, 1000, 2**62):
        counted = solve_set(set_of([permutations(8)]), Limits(count=cap, plan=Plan(visits=60)))
        assert counted.outcome[0] == plain.outcome[0]
        assert (counted.cells == plain.cells).all()


def late_after(n: int) -> Callable[..., Proof]:
    """`prove`, but the clock runs out in question n."""
    asked: list[int] = []

    def prove(*arguments: Any) -> Proof:
        asked.append(1)
        return Proof() if len(asked) > n else PROVE(*arguments)

    return prove


PROVE = sat.prove


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_count_that_runs_out_of_time_keeps_the_verdict_and_two_solutions(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle = pairs(4)
    monkeypatch.setattr(sat, "prove", late_after(n))
    result = solve_one(puzzle, Limits(solutions=10, count=10**9, plan=SAT_ALONE))
    assert result.outcome == Outcome.MULTIPLE
    assert (result.n_solutions, result.exhausted) == (max(2, 2 ** (n - 1)), False)
    assert "time ran out" in result.witness
    assert len(set(result.solutions)) == len(result.solutions) == min(result.n_solutions, 10)
    assert all(check(puzzle, solution) for solution in result.solutions)


def test_without_time_for_two_solutions_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "prove", late_after(0))
    assert solve_one(pairs(3), Limits(count=100, plan=SAT_ALONE)).outcome == Outcome.TIMEOUT


def test_keeping_many_solutions_changes_no_figure() -> None:
    puzzle = permutations(6)
    counted, kept = (solve_set(set_of([puzzle]), Limits(**asked)) for asked in ({"count": 500}, {"solutions": 500}))
    assert len(kept.solutions[0]) == 500
    for column in ("outcome", "stage", "n_solutions", "exhausted", "n_lines", "n_probes", "n_branches", "n_conflicts"):
        assert getattr(counted, column) == getattr(kept, column), column


@pytest.mark.slow
def test_a_count_that_is_cut_by_the_clock_says_so(tmp_path: Path) -> None:
    """The one case in which a number depends on the machine: then the row says that it is no whole count."""
    (tmp_path / "in.json").write_text(as_json([permutations(12), permutations(3)]))
    pnono("run", "in.json", "--out", "out", "--count", 10**9, "--seconds", 1, "--plan", "search", cwd=tmp_path)
    many, few = sorted(pq.read_table(tmp_path / "out/rows").to_pylist(), key=lambda row: -row["height"])
    assert (many["outcome"], many["exhausted"]) == ("multiple", False)
    assert many["n_solutions"] > 2
    assert many["witness"] == "the time ran out while solutions were counted"
    assert (few["n_solutions"], few["exhausted"], few["witness"]) == (6, True, "")
    shown = pnono("solve", "in.json", "--number", 1, "--count", 10**9, "--seconds", 1, cwd=tmp_path, code=1).stdout
    assert "solutions (the time ran out while solutions were counted)" in shown


@pytest.mark.ray
@pytest.mark.slow
def test_counts_are_those_of_threads_in_the_workers_of_ray_too(tmp_path: Path) -> None:
    """With the real second that a puzzle has among others: counting 9! takes longer."""
    crowd = [permutations(9, "nine"), *CROWD, permutations(9, "nine again")]
    (tmp_path / "in.json").write_text(as_json(crowd))
    found = []
    for engine_name in ("local", "ray"):
        words = ("--count", 10**6, "--engine", engine_name, "--workers", 2, "--out", engine_name)
        pnono("run", "in.json", *words, cwd=tmp_path)
        rows = pq.read_table(tmp_path / engine_name / "rows").to_pylist()
        found.append({row["index"]: (row["n_solutions"], row["exhausted"], row["outcome"]) for row in rows})
    assert found[0] == found[1]
    assert found[0][1] == found[0][len(crowd)] == (362_880, True, "multiple")


def as_json(crowd: list[Puzzle]) -> str:
    def clues(side: tuple[tuple[Block, ...], ...]) -> list[list[int]]:
        return [[block.length for block in clue] for clue in side]

    return json.dumps([{"rows": clues(puzzle.rows), "columns": clues(puzzle.columns)} for puzzle in crowd])
