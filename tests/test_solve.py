"""Deciding puzzles: outcomes, limits, and the things that must not change them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Outcome
from parallel_nono.checker import RejectedSolution, Verdict
from parallel_nono.generator import generate
from parallel_nono.puzzle import Block, InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import clues_of, plain_palette, set_of
from parallel_nono.solver import pipeline, solve, solve_set
from parallel_nono.solver.plans import load_plan
from parallel_nono.solver.results import Results
from parallel_nono.solver.single import clues_of_puzzles

EVERY_SOLUTION = Limits(solutions=2000, count=2000)


def clue(*lengths: int) -> tuple[Block, ...]:
    return tuple(map(Block, lengths))


def ones(n: int) -> Puzzle:
    """One black cell in every row and column: n! solutions."""
    return Puzzle((clue(1),) * n, (clue(1),) * n)


@pytest.fixture
def domino() -> Puzzle:
    """A puzzle that takes the search many seconds."""
    return generate("domino", 63, 63, 0)


@given(strategies.puzzles(most=4, max_colours=3))
def test_outcome_and_count_are_those_of_trying_all_grids(puzzle: Puzzle) -> None:
    grids = oracles.grids_by_trying_all(puzzle)
    result = solve(puzzle, EVERY_SOLUTION)
    expected = {0: Outcome.CONTRADICTION, 1: Outcome.UNIQUE}.get(len(grids), Outcome.MULTIPLE)
    assert (result.outcome, result.n_solutions, result.exhausted) == (expected, len(grids), True)
    assert set(result.solutions) == set(grids)


@given(strategies.puzzles(most=5, max_colours=4))
def test_turning_a_puzzle_turns_its_solutions(puzzle: Puzzle) -> None:
    turned = solve(puzzle.transposed(), EVERY_SOLUTION)
    assert {tuple(zip(*a, strict=True)) for a in turned.solutions} == set(solve(puzzle, EVERY_SOLUTION).solutions)


@given(strategies.puzzles(most=5, max_colours=4))
def test_mirroring_a_puzzle_mirrors_its_solutions(puzzle: Puzzle) -> None:
    mirrored = solve(puzzle.mirrored(), EVERY_SOLUTION)
    assert {tuple(row[::-1] for row in a) for a in mirrored.solutions} == set(solve(puzzle, EVERY_SOLUTION).solutions)


@given(strategies.puzzles(most=5, max_colours=5), st.randoms(use_true_random=False))
def test_recolouring_a_puzzle_recolours_its_solutions(puzzle: Puzzle, random) -> None:  # type: ignore[no-untyped-def]
    inks = list(range(1, puzzle.n_colours))
    random.shuffle(inks)
    order = [0, *inks]
    recoloured = solve(puzzle.recoloured(order), EVERY_SOLUTION)
    expected = {tuple(tuple(order[c] for c in row) for row in a) for a in solve(puzzle, EVERY_SOLUTION).solutions}
    assert set(recoloured.solutions) == expected


@given(strategies.puzzles(most=6, max_colours=4))
def test_lines_alone_know_exactly_the_fixpoint(puzzle: Puzzle) -> None:
    grid = oracles.solved_grid(puzzle)
    for order in ("sweep", "rounds"):
        result = solve(puzzle, Limits(plan=("line",), order=order))
        if grid is None:
            assert result.outcome == Outcome.CONTRADICTION
            continue
        known = tuple(tuple(next(iter(c)) if len(c) == 1 else -1 for c in row) for row in grid)
        assert result.partial == known
        assert result.outcome == (Outcome.STALLED if result.open_cells else Outcome.UNIQUE)


@pytest.mark.slow
@given(st.lists(strategies.puzzles(most=9, max_colours=4), min_size=1, max_size=6))
def test_long_line_kernels_decide_short_puzzles_alike(puzzles: list[Puzzle]) -> None:
    batch = set_of(puzzles)
    narrow = solve_set(batch, Limits(count=50))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "NARROW", 0)
        wide = solve_set(batch, Limits(count=50))
    for column in ("outcome", "n_solutions", "exhausted", "n_open", "cells"):
        assert np.array_equal(getattr(narrow, column), getattr(wide, column)), column


def test_the_same_set_gives_the_same_counts_in_any_number_of_threads() -> None:
    batch = set_of([generate("noise", 20, 20, seed, density=50) for seed in range(30)])
    alone = solve_set(batch, Limits())
    found: list[Results] = []
    threads = [threading.Thread(target=lambda: found.append(solve_set(batch, Limits()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for results in found:
        for column in ("outcome", "n_lines", "n_probes", "n_branches", "n_conflicts", "n_rounds", "cells"):
            assert np.array_equal(getattr(results, column), getattr(alone, column)), column


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_permutations_are_counted_exactly_and_all_of_them_shown(n: int) -> None:
    result = solve(ones(n), Limits(solutions=1000))
    count = len(list(permutations(range(n))))
    assert (result.n_solutions, result.exhausted, len(set(result.solutions))) == (count, True, count)


def test_counting_stops_at_the_cap_and_says_that_it_did() -> None:
    result = solve(ones(7), Limits(count=1000))
    assert (result.outcome, result.n_solutions, result.exhausted) == (Outcome.MULTIPLE, 1000, False)
    assert len(result.solutions) == 2


def test_one_solution_is_enough_when_no_more_is_asked() -> None:
    result = solve(ones(3), Limits(solutions=1))
    assert (result.outcome, len(result.solutions), result.exhausted) == (Outcome.SOLVED, 1, False)


def test_what_lines_decide_is_unique_even_when_only_one_solution_is_asked() -> None:
    result = solve(Puzzle((clue(2),), (clue(1), clue(1))), Limits(solutions=1))
    assert (result.outcome, result.stage) == (Outcome.UNIQUE, "line")


def test_stages_are_named_by_what_decided() -> None:
    assert solve(generate("domino", 5, 5, 0)).stage == "line"
    assert solve(generate("domino", 7, 7, 0)).stage == "probe"
    assert solve(generate("domino", 11, 11, 0)).stage == "search"
    assert solve(generate("domino", 21, 21, 0)).stage == "sat"


def test_plans_end_where_they_say() -> None:
    puzzle = generate("domino", 15, 15, 0)
    lines = solve(puzzle, Limits(plan=("line",)))
    assert (lines.outcome, lines.stage, lines.n_solutions) == (Outcome.STALLED, "line", 0)
    probes = solve(puzzle, Limits(plan=("line", "probe")))
    assert (probes.outcome, probes.stage) == (Outcome.STALLED, "probe")
    assert probes.counts["n_probes"] > 0
    assert solve(puzzle, Limits(plan=("line", "search"))).outcome == Outcome.UNIQUE


@pytest.mark.parametrize("plan", [(), ("probe",), ("search", "line"), ("line", "magic"), ("line", "line")])
def test_a_plan_that_makes_no_sense_is_refused(plan: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="expected a plan"):
        solve(ones(2), Limits(plan=plan))


def test_rounds_are_for_lines_only() -> None:
    with pytest.raises(ValueError, match="expected order"):
        solve(ones(2), Limits(order="rounds"))


def test_the_limit_holds_in_the_middle_of_a_search(domino: Puzzle) -> None:
    result = solve(domino, Limits(seconds=0.3))
    assert result.outcome == Outcome.TIMEOUT
    assert 0.25 < result.seconds["solve_s"] < 3.0


def test_another_thread_can_stop_a_search(domino: Puzzle) -> None:
    abort = np.zeros(1, np.int64)
    timer = threading.Timer(0.3, lambda: abort.__setitem__(0, 1))
    timer.start()
    start = time.monotonic()
    results = solve_set(set_of([domino, ones(2)]), Limits(seconds=600), abort)
    assert results.aborted
    assert time.monotonic() - start < 60


def test_a_search_deeper_than_its_room_starts_again_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = set_of([generate("noise", 25, 25, seed, density=50) for seed in range(12)])
    limits = Limits(plan=load_plan("search"))
    roomy = solve_set(batch, limits)
    monkeypatch.setattr(pipeline, "FIRST_LEVELS", 2)
    tight = solve_set(batch, limits)
    assert np.array_equal(roomy.outcome, tight.outcome)
    assert np.array_equal(roomy.cells, tight.cells)
    assert np.array_equal(roomy.n_branches, tight.n_branches)


@pytest.mark.parametrize(
    ("puzzle", "witness"),
    [
        (Puzzle((clue(1, 1), clue()), (clue(1), clue(1))), "row 1: the clue needs 3 cells, the line has 2"),
        (Puzzle((clue(2), clue(1)), (clue(1), clue(1))), "colour 1: the rows hold 3 cells, the columns 2"),
        (Puzzle((clue(1), clue(1, 1), clue(1)), (clue(1), clue(2), clue(1))), "column 2: no arrangement"),
    ],
)
def test_a_contradiction_names_its_witness(puzzle: Puzzle, witness: str) -> None:
    result = solve(puzzle)
    assert (result.outcome, result.solutions) == (Outcome.CONTRADICTION, ())
    assert result.witness.startswith(witness)


def test_colours_of_equal_totals_but_different_parts_do_not_match() -> None:
    rows = ((Block(1, 1),), (Block(1, 1),))
    columns = ((Block(1, 1),), (Block(1, 2),))
    result = solve(Puzzle(rows, columns, plain_palette(3)))
    assert (result.outcome, result.stage) == (Outcome.CONTRADICTION, "read")


def degenerate() -> Iterator[tuple[Puzzle, Outcome]]:
    yield Puzzle((clue(),), (clue(),)), Outcome.UNIQUE
    yield Puzzle((clue(1),), (clue(1),)), Outcome.UNIQUE
    yield Puzzle((clue(1),), (clue(),)), Outcome.CONTRADICTION
    yield Puzzle((clue(),) * 3, (clue(),) * 80), Outcome.UNIQUE
    yield Puzzle((clue(64),) * 2, (clue(2),) * 64), Outcome.UNIQUE
    yield Puzzle((clue(65),) * 65, (clue(65),) * 65), Outcome.UNIQUE
    yield Puzzle((clue(1),), (clue(1), *[clue()] * 199)), Outcome.UNIQUE
    yield Puzzle((clue(),), (clue(),), plain_palette(1)), Outcome.UNIQUE
    for inks in (40, 64, 65, 70, 1337):
        line = tuple(Block(1, colour) for colour in range(1, inks + 1))
        yield Puzzle((line,), tuple((block,) for block in line), plain_palette(inks + 1)), Outcome.UNIQUE


@pytest.mark.parametrize(("puzzle", "outcome"), list(degenerate()))
def test_degenerate_puzzles_are_ordinary(puzzle: Puzzle, outcome: Outcome) -> None:
    assert solve(puzzle).outcome == outcome


def test_rows_that_are_no_puzzles_stay_invalid_and_disturb_nobody() -> None:
    batch = set_of([ones(2), InvalidPuzzle("x.non:3: expected a number, found `z`"), ones(1)], "x.non")
    results = solve_set(batch, Limits())
    assert [OUTCOMES[code] for code in results.outcome] == [Outcome.MULTIPLE, Outcome.INVALID, Outcome.UNIQUE]
    assert [STAGES[code] for code in results.stage] == ["search", "read", "line"]


def test_a_slice_of_a_set_is_solved_like_its_puzzles() -> None:
    puzzles = [generate("noise", 8, 9, seed, density=50) for seed in range(10)]
    batch = set_of(puzzles)
    part = solve_set(batch.slice(3, 4), Limits(count=9))
    assert part.n_solutions.tolist() == [solve(p, Limits(count=9)).n_solutions for p in puzzles[3:7]]


def test_an_solution_that_the_checker_rejects_is_our_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    from parallel_nono.solver import single

    monkeypatch.setattr(single, "check", lambda puzzle, grid: Verdict("row 1: wrong", 0))
    monkeypatch.setattr(single, "check_set", lambda clues, *_: np.zeros(len(clues.heights), np.int32))
    with pytest.raises(RejectedSolution, match="solution 1 is wrong: row 1: wrong"):
        solve(ones(2))


def test_wide_colour_puzzles_agree_with_their_own_picture() -> None:
    puzzle = generate("regions", 100, 130, 1, inks=6)
    result = solve(puzzle, Limits(seconds=20))
    assert result.outcome in (Outcome.UNIQUE, Outcome.MULTIPLE)
    if result.outcome == Outcome.UNIQUE:
        assert result.solutions == (puzzle.goal,)
    known = [
        (a, b)
        for row, goal in zip(result.partial, puzzle.goal or (), strict=True)
        for a, b in zip(row, goal, strict=True)
    ]
    assert all(a in (-1, b) for a, b in known)


@given(st.one_of(strategies.puzzles(), strategies.blotted_puzzles()))
def test_one_puzzle_has_the_clues_of_a_set_of_one(puzzle: Puzzle) -> None:
    for ours, theirs in zip(clues_of_puzzles([puzzle]), clues_of(set_of([puzzle])), strict=True):
        assert np.array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
        assert ours.flags.writeable == theirs.flags.writeable, "another type of argument is another compilation"
