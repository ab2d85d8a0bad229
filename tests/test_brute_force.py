"""A slice of `scripts/brute_force.py`: the solver against brute force on small puzzles and on all small pictures."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.puzzle import Puzzle


def _script() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "scripts" / "brute_force.py"
    spec = importlib.util.spec_from_file_location("brute_force", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


brute_force = _script()


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 3000, 500))
def test_random_small_puzzles_are_decided_and_counted_as_by_brute_force(first: int) -> None:
    assert brute_force.compare_random(first, first + 500, seed=20) == []


@given(st.lists(strategies.puzzles(most=5, max_colours=4), min_size=1, max_size=5))
def test_drawn_puzzles_are_decided_and_counted_as_by_brute_force(puzzles: list[Puzzle]) -> None:
    assert list(brute_force.differences(puzzles)) == []


@pytest.mark.parametrize("frame", brute_force.FRAMES)
def test_empty_lines_around_a_puzzle_change_neither_verdict_nor_count(frame: tuple[int, int]) -> None:
    puzzles = [brute_force.random_puzzle(21, number) for number in range(300)]
    assert list(brute_force.differences(puzzles, *frame)) == []


@pytest.mark.slow
@pytest.mark.parametrize("size", brute_force.PICTURES)
def test_all_pictures_of_a_size_are_counted_as_published(size: tuple[int, int, int]) -> None:
    counts, differences = brute_force.compare_pictures(*size)
    assert differences == []
    assert brute_force.PICTURES[size] in (None, counts)


def test_random_puzzles_are_unique_ambiguous_contradictory_black_white_and_coloured() -> None:
    puzzles = [brute_force.random_puzzle(20, number) for number in range(2000)]
    solutions = [min(2, brute_force.oracles.n_solutions(puzzle)) for puzzle in puzzles]
    assert min(solutions.count(n) for n in (0, 1, 2)) > 100
    assert min(sum(p.n_colours == n for p in puzzles) for n in (2, 3, 4, 9)) > 100
    assert {(p.height, p.width) for p in puzzles} == {(h, w) for h in range(1, 6) for w in range(1, 6)}


@pytest.mark.parametrize("blots", [False, True])
def test_every_plan_says_the_same_as_brute_force(blots: bool) -> None:
    assert brute_force.compare_plans(0, 400, seed=22, blots=blots) == []
