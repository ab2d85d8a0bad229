"""The puzzle: what its digest depends on, how it turns, what it refuses; the packed set says the same."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import pairwise

import oracles
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.kernels.canonical import canonical_words
from parallel_nono.puzzle import (
    BLACK_AND_WHITE,
    Block,
    Colour,
    InvalidPuzzle,
    Puzzle,
    canonical_bytes,
    grid_text,
    line_name,
    runs,
)
from parallel_nono.puzzleset import clues_of, digests, puzzle_at, puzzles_of, set_of

THREE = (*BLACK_AND_WHITE, Colour("red", "r", 0xFF0000))


@st.composite
def orders(draw: st.DrawFn, n_colours: int) -> list[int]:
    return [0, *draw(st.permutations(range(1, n_colours)))]


@given(strategies.puzzles(), st.data())
def test_digest_does_not_depend_on_names_shades_and_the_order_of_the_palette(
    puzzle: Puzzle, data: st.DataObject
) -> None:
    other = replace(
        puzzle.recoloured(data.draw(orders(puzzle.n_colours))),
        palette=tuple(Colour(f"other {i}", "x", i) for i in range(puzzle.n_colours + 1)),
        name="another name",
        source="elsewhere.non",
        index=7,
        metadata=(("author", "somebody"),),
        goal=None,
        warnings=("guessed",),
    )
    assert other.digest == puzzle.digest


@given(strategies.puzzles(), strategies.puzzles())
def test_digest_differs_when_the_clues_differ(one: Puzzle, other: Puzzle) -> None:
    same = canonical_bytes(one.rows, one.columns) == canonical_bytes(other.rows, other.columns)
    assert (one.digest == other.digest) == same


def test_digest_tells_sizes_lines_and_colours_apart() -> None:
    block = Block(1)
    puzzles = [
        Puzzle(((block,),), ((block,), ())),
        Puzzle(((block,), ()), ((block,),)),
        Puzzle(((block,),), ((), (block,))),
        Puzzle(((Block(2),),), ((block,), (block,))),
        Puzzle(((block, block),), ((block,), (), (block,))),
        Puzzle(((block, Block(1, 2)),), ((block,), (Block(1, 2),)), THREE),
        Puzzle(((block, block),), ((block,), (Block(1, 2),)), THREE),
        Puzzle(((),), ((),)),
        Puzzle(((),), ((), ())),
    ]
    assert len({puzzle.digest for puzzle in puzzles}) == len(puzzles)
    assert all(len(puzzle.digest) == 32 for puzzle in puzzles)


def test_canonical_bytes_number_colours_by_first_use() -> None:
    puzzle = Puzzle(((Block(3, 2), Block(1, 1)), ()), ((Block(1, 1),),), THREE)
    words = (2, 1, 2, 3, 1, 1, 2, 0, 1, 1, 2)
    assert canonical_bytes(puzzle.rows, puzzle.columns) == struct.pack("<11I", *words)


@pytest.mark.slow
@given(st.lists(strategies.puzzles(), max_size=6), st.data())
def test_canonical_words_of_a_set_are_the_canonical_bytes_of_its_puzzles(
    puzzles: list[Puzzle], data: st.DataObject
) -> None:
    rows: list[Puzzle | InvalidPuzzle] = [*puzzles]
    rows.insert(data.draw(st.integers(0, len(rows))), InvalidPuzzle("file:1: expected a number, found x"))
    first = data.draw(st.integers(0, len(rows)))
    batch = set_of(rows)
    for kept, part in ((rows, batch), (rows[first:], batch.slice(first))):
        words, starts = canonical_words(clues_of(part))
        expected = [b"" if isinstance(p, InvalidPuzzle) else canonical_bytes(p.rows, p.columns) for p in kept]
        found = [words[a:b].tobytes() for a, b in pairwise(starts)]
        assert found == expected
        digest = ["" if isinstance(p, InvalidPuzzle) else p.digest for p in kept]
        assert digests(clues_of(part)) == digest == part.column("digest").to_pylist()


@given(st.lists(strategies.puzzles(), max_size=4))
def test_a_set_gives_back_its_puzzles(puzzles: list[Puzzle]) -> None:
    full = [
        replace(puzzle, name=f"n{i}", source="s", index=i, metadata=(("author", "é"), ("id", str(i))), warnings=("w",))
        for i, puzzle in enumerate(puzzles, start=1)
    ]
    assert list(puzzles_of(set_of(full))) == full


def test_an_error_keeps_its_place_in_a_set() -> None:
    puzzle = Puzzle.of_grid([[1]])
    batch = set_of([puzzle, InvalidPuzzle("f:3: expected 1, found 2", name="broken", index=2), puzzle], "f")
    with pytest.raises(InvalidPuzzle, match="f:3: expected 1, found 2"):
        puzzle_at(batch, 1)
    assert [type(p) for p in puzzles_of(batch)] == [Puzzle, InvalidPuzzle, Puzzle]
    assert batch.column("name").to_pylist() == ["", "broken", ""]


@given(strategies.puzzles(most=4, max_colours=4))
def test_turning_a_puzzle_turns_its_solutions(puzzle: Puzzle) -> None:
    turned = {tuple(zip(*grid, strict=True)) for grid in oracles.solutions(puzzle)}
    assert set(oracles.solutions(puzzle.transposed())) == turned
    assert puzzle.transposed().transposed() == puzzle


@given(strategies.puzzles(most=4, max_colours=4))
def test_mirroring_a_puzzle_mirrors_its_solutions(puzzle: Puzzle) -> None:
    mirrored = {tuple(row[::-1] for row in grid) for grid in oracles.solutions(puzzle)}
    assert set(oracles.solutions(puzzle.mirrored())) == mirrored
    assert puzzle.mirrored().mirrored() == puzzle


@pytest.mark.slow
@given(strategies.puzzles(most=4, max_colours=4), st.data())
def test_recolouring_a_puzzle_recolours_its_solutions(puzzle: Puzzle, data: st.DataObject) -> None:
    order = data.draw(orders(puzzle.n_colours))
    recoloured = puzzle.recoloured(order)
    assert set(oracles.solutions(recoloured)) == {
        tuple(tuple(order[c] for c in row) for row in grid) for grid in oracles.solutions(puzzle)
    }
    assert all(recoloured.palette[order[c]] == puzzle.palette[c] for c in range(puzzle.n_colours))


@given(strategies.puzzles_of_grids())
def test_the_clues_of_a_grid_are_its_runs_and_turn_with_it(puzzle: Puzzle) -> None:
    assert puzzle.goal is not None
    for turned in (puzzle.transposed(), puzzle.mirrored(), puzzle.recoloured([0, *range(puzzle.n_colours - 1, 0, -1)])):
        assert turned.goal is not None
        assert turned.rows == tuple(map(runs, turned.goal))
        assert turned.columns == tuple(map(runs, zip(*turned.goal, strict=True)))


def test_a_puzzle_is_hashable() -> None:
    one, other = Puzzle.of_grid([[1, 0]]), Puzzle.of_grid([[1, 0]])
    assert len({one, other}) == 1
    assert (one.height, one.width, one.n_colours) == (1, 2, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Puzzle((), ((),)), "expected at least one row and one column, found 0 and 1"),
        (lambda: Puzzle(((),), ()), "expected at least one row and one column, found 1 and 0"),
        (lambda: Puzzle(((), (Block(-1),)), ((),)), "row 2: expected block lengths from 1, found -1"),
        (lambda: Puzzle(((),), ((Block(-3),),)), "column 1: expected block lengths from 1, found -3"),
        (lambda: Puzzle(((Block(1, 2),),), ((),)), "row 1: expected a colour from 1 to 1, found 2"),
        (lambda: Puzzle(((),), ((), (Block(1, 0),))), "column 2: expected a colour from 1 to 1, found 0"),
        (lambda: Puzzle(((),), ((),), goal=((0, 0),)), "expected a goal of 1 rows of 1 cells, found another size"),
        (lambda: Puzzle(((),), ((),), goal=()), "expected a goal of 1 rows of 1 cells, found another size"),
    ],
)
def test_what_is_no_puzzle_is_refused_with_place_expectation_and_finding(make: object, message: str) -> None:
    with pytest.raises(InvalidPuzzle) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value) == message


@pytest.mark.parametrize("order", [[1, 0, 2], [0, 1], [0, 2, 2], [0, 1, 3]])
def test_recolouring_refuses_what_is_no_permutation_that_keeps_the_background(order: list[int]) -> None:
    with pytest.raises(ValueError, match="expected a permutation"):
        Puzzle.of_grid([[1, 2]], THREE).recoloured(order)


def test_lines_have_the_names_that_people_call_them() -> None:
    assert [line_name(line, 2) for line in range(4)] == ["row 1", "row 2", "column 1", "column 2"]


def test_a_grid_is_one_line_of_text() -> None:
    assert grid_text([[1, 0], [-1, 2]], 2) == "#./??"
    assert grid_text([[0, 2], [1, -1]], 3) == ".b/a?"
