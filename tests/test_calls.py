"""Calls of the library: what one asks of the kernels, many puzzles at once, many threads; no test asserts a time."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from parallel_nono import (
    InvalidPuzzle,
    Limits,
    Outcome,
    Plan,
    Puzzle,
    RejectedSolution,
    Result,
    check,
    generate,
    read,
    solve,
    solve_many,
)
from parallel_nono.kernels import layout, survey
from parallel_nono.puzzleset import clues_of, plain_palette, puzzles_of, set_of
from parallel_nono.solver import many, pipeline, single
from parallel_nono.solver.plans import load_plan
from parallel_nono.solver.results import Results
from parallel_nono.solver.single import clues_of_puzzle

SEVERAL = (
    Limits(),
    Limits(solutions=1),
    Limits(solutions=5),
    Limits(count=30),
    Limits(plan=Plan(("line",))),
    Limits(plan=Plan(("line",)), order="rounds"),
    Limits(plan=Plan(("line", "search")), solutions=4),
    Limits(plan=Plan(("line", "probe"))),
    Limits(plan=load_plan("fast")),
)
ANY_PUZZLE = st.one_of(strategies.puzzles(most=6, max_colours=4), strategies.blotted_puzzles(most=4))


def told(result: Result) -> tuple[Any, ...]:
    """All that a result says but its times."""
    return tuple(getattr(result, name) for name in Result.__slots__ if name != "seconds")


def ones(n: int) -> Puzzle:
    """One black cell in every row and column: n! solutions."""
    return Puzzle.of_clues(rows=[1] * n, columns=[1] * n)


def some() -> list[Puzzle]:
    """Of every family and every outcome."""
    found = [generate("blobs", side, side + 1, seed) for side in (1, 4, 9, 20) for seed in range(5)]
    found += [generate("regions", 8, 8, seed, inks=3) for seed in range(4)]
    found += [generate("noise", 3, 70, 1, density=60), ones(3), Puzzle.of_clues(rows=[3], columns=[1, 1])]
    found += [Puzzle.of_clues(rows=["?", [1, "?"]], columns=[1, 1, 2]), Puzzle.of_clues(rows=[1, 0], columns=[0, 0, 1])]
    return found


# What a call asks of the kernels.


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of puzzles that the solving kernel is called with, from now on."""
    solve(ones(3))  # the stages behind `line` are there
    asked: list[int] = []
    kernel = pipeline.solve_kernel

    def counted(*arguments: Any) -> int:
        asked.append(len(arguments[3]))
        return int(kernel(*arguments))

    monkeypatch.setattr(pipeline, "solve_kernel", counted)
    return asked


@pytest.mark.parametrize(
    ("puzzle", "outcome"),
    [
        (Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1]), "unique"),
        (ones(3), "multiple"),
        (Puzzle.of_clues(rows=[1, [1, 1], 1], columns=[1, 2, 1]), "contradiction"),
        (generate("noise", 9, 70, 3, density=70), "unique"),
    ],
)
def test_a_puzzle_takes_one_call_of_the_kernel(puzzle: Puzzle, outcome: str, calls: list[int]) -> None:
    assert solve(puzzle).outcome == outcome
    assert calls == [1]


def test_a_puzzle_without_hope_takes_none(calls: list[int]) -> None:
    assert solve(Puzzle.of_clues(rows=[3], columns=[1, 1])).witness == "row 1: the clue needs 3 cells, the line has 2"
    assert calls == []


def test_a_chunk_takes_one_call_of_the_kernel_for_each_family(calls: list[int]) -> None:
    puzzles = [ones(2), generate("regions", 5, 5, 1), generate("noise", 2, 70), ones(3)]
    assert len(list(solve_many(puzzles))) == 4
    assert calls == [2, 1, 1]


def test_chunks_grow_and_are_full_of_cells(calls: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "FIRST", 2)
    monkeypatch.setattr(many, "MOST", 8)
    assert len(list(solve_many([ones(2)] * 25))) == 25
    assert calls == [2, 4, 8, 8, 3]
    calls.clear()
    monkeypatch.setattr(many, "MAX_CELLS", 8)
    assert len(list(solve_many(set_of([ones(2), ones(1), ones(3), ones(2), ones(2)])))) == 5
    assert calls == [2, 1, 2]


@given(strategies.puzzles(most=6, max_colours=4))
def test_known_cells_are_those_of_lines_and_probes(puzzle: Puzzle) -> None:
    """Beside whatever solutions were found: `partial` is what a plan without search leaves, or the one solution."""
    for stages in (("line", "probe", "search"), ("line", "search"), ("line", "probe", "search", "sat")):
        result = solve(puzzle, Limits(plan=Plan(stages), solutions=3))
        without = Plan(tuple(stage for stage in stages if stage in ("line", "probe")))
        known = solve(puzzle, Limits(plan=without)).partial
        assert result.partial == (result.solutions[0] if result.outcome == Outcome.UNIQUE else known)


@given(strategies.puzzles(most=4))
def test_what_is_called_known_is_so_in_every_solution(puzzle: Puzzle) -> None:
    every = oracles.grids_by_trying_all(puzzle)
    partial = solve(puzzle).partial
    assert all(
        cell in (-1, other)
        for grid in every
        for row, same in zip(partial, grid, strict=True)
        for cell, other in zip(row, same, strict=True)
    )


def test_the_room_of_a_set_is_that_of_its_largest_puzzle() -> None:
    puzzles = [generate("noise", height, width, 1, density=60) for height, width in ((3, 70), (90, 2), (66, 66))]
    clues = clues_of(set_of(puzzles))
    asked = (survey.WIDE_FAMILY, layout.FIRST_LEVELS, pipeline.MAX_STACK_WORDS)
    alone = [survey.room(clues, np.array([place]), *asked) for place in range(3)]
    together = survey.room(clues, np.arange(3), *asked)
    assert all(most >= max(each) for most, each in zip(together, zip(*alone, strict=True), strict=True))
    assert together[2] == max(numbers for _, _, numbers in alone)


def test_a_survey_sorts_by_family_and_leaves_out_what_is_no_puzzle() -> None:
    puzzles = [generate("noise", 2, 70), InvalidPuzzle("broken"), ones(2), Puzzle.of_clues(rows=[3], columns=[1, 1])]
    puzzles += [generate("regions", 5, 5), Puzzle.of_clues(rows=["?"], columns=[1]), ones(3)]
    batch = set_of(puzzles)
    clues, n = clues_of(batch), batch.num_rows
    verdict, numbers, blotted = np.zeros(n, np.int64), np.zeros((n, 2), np.int64), np.zeros(n, np.bool_)
    order, starts = np.full(n, -1), np.zeros(n + 1, np.int64)
    sums = np.zeros((2, int(clues.n_colours.max()) + 1), np.int64)
    ends = survey.survey(clues, layout.NARROW, sums, verdict, numbers, blotted, order, starts)
    assert ends == (2, 3, 5, 6)
    assert order.tolist() == [2, 6, 4, 0, 5, 3, -1]
    assert np.diff(starts).tolist() == [140, 0, 4, 2, 25, 1, 9]


# A Result makes what it shows when it is looked at.


def test_a_result_is_the_same_before_and_after_a_look() -> None:
    one, other = (replace(solve(ones(3)), seconds={}) for _ in range(2))
    assert one == other
    fresh = solve(ones(3))
    for twin in (pickle.loads(pickle.dumps(fresh)), copy.copy(fresh), copy.deepcopy(fresh), replace(fresh)):
        assert twin == fresh
    assert repr(pickle.loads(pickle.dumps(solve(ones(2))))).startswith("Result(outcome=<Outcome.MULTIPLE: 'multiple'>")
    assert fresh.solutions is fresh.solutions
    unique = solve(ones(1))
    assert unique.partial is unique.solutions[0]


def test_what_is_kept_with_a_puzzle_is_no_part_of_it() -> None:
    puzzle, other = ones(3), ones(3)
    said = solve(puzzle)
    assert clues_of_puzzle(puzzle) is clues_of_puzzle(puzzle)
    assert (puzzle, hash(puzzle), repr(puzzle)) == (other, hash(other), repr(other))
    assert pickle.dumps(puzzle) == pickle.dumps(other)
    for twin in (pickle.loads(pickle.dumps(puzzle)), copy.copy(puzzle), replace(puzzle, name="other")):
        assert not hasattr(twin, "_clues")
        assert told(solve(twin))[:-1] == told(said)[:-1]
    turned = replace(puzzle, rows=puzzle.rows[:2])
    assert solve(turned).outcome == "contradiction"


def test_what_a_result_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'Result' object has no attribute 'solution'"):
        solve(ones(1)).solution  # noqa: B018
    with pytest.raises(AttributeError):
        object.__new__(Result).puzzle  # noqa: B018


@pytest.mark.parametrize("n_colours", [2, 255, 256, 257, 300])
def test_palettes_of_any_size_are_grids_of_whole_numbers(n_colours: int) -> None:
    grid = ((*range(1, n_colours), 0), (0,) * n_colours)
    result = solve(Puzzle.of_grid(grid, plain_palette(n_colours)))
    assert result.solutions == (grid,)
    assert {type(cell) for row in result.solutions[0] for cell in row} == {int}


@given(ANY_PUZZLE, st.sampled_from(SEVERAL))
def test_every_solution_is_accepted_by_the_plain_checker(puzzle: Puzzle, limits: Limits) -> None:
    result = solve(puzzle, limits)
    assert all(check(puzzle, grid) for grid in result.solutions)
    assert len(set(result.solutions)) == len(result.solutions) <= limits.solutions


@pytest.mark.parametrize("place", [0, 1, 3])
@pytest.mark.parametrize("twice", [False, True])
def test_a_wrong_solution_among_several_is_our_bug(place: int, twice: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever it is: one that breaks a clue, or one that is there twice."""

    def spoilt(*arguments: Any, **more: Any) -> Results:
        results = pipeline.solve_clues(*arguments, **more)
        for cells in (results.cells, *results.solutions.values()):
            if place < len(cells):
                cells[place] = cells[(place + 1) % 2] if twice else np.roll(cells[place], 1) | np.uint16(1)
        return results

    monkeypatch.setattr(single, "solve_clues", spoilt)
    limits = Limits(solutions=5 if place > 1 else 2)
    with pytest.raises(
        RejectedSolution, match="it was found before" if twice else "is wrong: (row|column) 1: expected 1"
    ):
        solve(ones(3), limits)


def test_a_length_that_no_kernel_takes_is_an_error() -> None:
    with pytest.raises(OverflowError, match="expected numbers that fit int32"):
        solve(Puzzle.of_clues(rows=[1 << 40], columns=[1]))


# Many puzzles.


@settings(max_examples=40)
@given(st.lists(ANY_PUZZLE, max_size=6), st.sampled_from(SEVERAL))
def test_many_are_solved_as_one_by_one(puzzles: list[Puzzle], limits: Limits) -> None:
    expected = [told(solve(puzzle, limits)) for puzzle in puzzles]
    assert [told(result) for result in solve_many(puzzles, limits)] == expected
    assert [told(result) for result in solve_many(iter(puzzles), limits)] == expected
    found = list(solve_many(set_of(puzzles), limits))
    assert [told(result) for result in found] == [told(solve(puzzle, limits)) for puzzle in puzzles_of(set_of(puzzles))]  # type: ignore[arg-type]


@settings(max_examples=20)
@given(st.lists(strategies.puzzles(most=4), max_size=4))
def test_many_are_decided_as_by_trying_all(puzzles: list[Puzzle]) -> None:
    for puzzle, result in zip(puzzles, solve_many(puzzles, Limits(solutions=20)), strict=True):
        every = oracles.grids_by_trying_all(puzzle)
        assert result.outcome == ("contradiction", "unique", "multiple")[min(len(every), 2)]
        assert set(result.solutions) <= set(every)
        assert len(result.solutions) == min(len(every), 20)


def test_a_slice_of_a_set_is_many_puzzles_too() -> None:
    puzzles = some()
    batch = set_of(puzzles)
    found = list(solve_many(batch.slice(3, 12)))
    assert [result.puzzle.digest for result in found] == [puzzle.digest for puzzle in puzzles[3:15]]
    assert [told(result)[:-1] for result in found] == [told(solve(puzzle))[:-1] for puzzle in puzzles[3:15]]


def test_puzzles_are_asked_for_as_results_are_taken() -> None:
    asked: list[int] = []

    def endless() -> Iterator[Puzzle]:
        while True:
            asked.append(len(asked))
            yield ones(2)

    results = solve_many(endless())
    assert asked == []
    assert len(list(islice(results, 5))) == 5
    assert len(asked) == many.FIRST
    assert len(list(islice(results, many.FIRST))) == many.FIRST
    assert len(asked) == 3 * many.FIRST


def test_no_puzzles_have_no_results() -> None:
    assert list(solve_many([])) == list(solve_many(set_of([]))) == []


def test_a_broken_puzzle_is_named_after_the_results_before_it() -> None:
    data = b"3x3:2/1/3/3/1.1/1\n3x3:2/1/3\n3x3:2/1/3/3/1.1/1\n"
    for puzzles in (read(data, errors="yield"), set_of(read(data, errors="yield"))):
        results = solve_many(puzzles)  # type: ignore[arg-type]
        assert next(results).outcome == "unique"
        with pytest.raises(InvalidPuzzle, match=r"^puzzle 2: .*expected"):
            next(results)
    results = solve_many(read(data))
    assert next(results).outcome == "unique"
    with pytest.raises(InvalidPuzzle, match=r"^-:2"):
        next(results)


@pytest.mark.parametrize("thing", ["3x3:2/1/3/3/1.1/1", None, ((1,), (1,))])
def test_what_is_no_puzzle_is_named_with_its_place(thing: object) -> None:
    results = solve_many([ones(1), thing])  # type: ignore[list-item]
    assert next(results).outcome == "unique"
    with pytest.raises(TypeError, match=rf"^puzzle 2: expected a Puzzle, found {type(thing).__name__}$"):
        next(results)


def test_wrong_limits_are_an_error_at_once() -> None:
    for limits in (Limits(plan=Plan(("probe",))), Limits(order="sideways"), Limits(order="rounds")):
        with pytest.raises(ValueError, match="expected"):
            solve_many([], limits)
        with pytest.raises(ValueError, match="expected"):
            solve(ones(1), limits)


def test_each_puzzle_has_the_whole_time() -> None:
    """Some that take all of it are out of time one by one, and what lies between them is decided."""
    hard = Limits(seconds=0.2, plan=Plan(("line", "search")), count=1 << 60)
    puzzles = [puzzle for _ in range(3) for puzzle in (ones(12), ones(1))]
    found = list(solve_many(puzzles, hard))
    assert [str(result.outcome) for result in found] == ["multiple", "unique"] * 3
    assert [result.exhausted for result in found] == [False, True] * 3
    assert {result.witness for result in found[::2]} == {"the time ran out while solutions were counted"}


# Threads.


def test_any_number_of_threads_may_solve_at_once() -> None:
    puzzles = some()
    expected = [told(solve(puzzle)) for puzzle in puzzles]
    with ThreadPoolExecutor(8) as pool:
        turns = [pool.submit(lambda: [told(solve(puzzle)) for puzzle in puzzles]) for _ in range(16)]
        turns += [pool.submit(lambda: [told(result) for result in solve_many(puzzles)]) for _ in range(8)]
        assert all(turn.result() == expected for turn in turns)


def test_executors_of_asyncio_may_solve_at_once() -> None:
    puzzles = some()

    async def all_of_them() -> list[Result]:
        return await asyncio.gather(*(asyncio.to_thread(solve, puzzle) for puzzle in puzzles * 5))

    assert list(map(told, asyncio.run(all_of_them()))) == [told(solve(puzzle)) for puzzle in puzzles] * 5


def test_one_iterator_may_be_taken_from_by_threads_in_turn() -> None:
    puzzles = some() * 3
    results = solve_many(puzzles)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        found = [(one, other)[turn % 2].submit(next, results).result() for turn in range(len(puzzles))]
    assert list(map(told, found)) == [told(solve(puzzle)) for puzzle in puzzles]
