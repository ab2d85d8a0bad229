"""The checkers: plain against brute force, fast against plain; solutions as text against the plain alphabet."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product

import numpy as np
import oracles
import pyarrow as pa
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from parallel_nono.checker import Verdict, check
from parallel_nono.checker.fast import check_set
from parallel_nono.kernels.text import text_of, texts_of_set
from parallel_nono.puzzle import BLACK_AND_WHITE, Block, Colour, Grid, Puzzle, letter, runs
from parallel_nono.puzzleset import clues_of, set_of

THREE = (*BLACK_AND_WHITE, Colour("red", "r", 0xFF0000))
CORNER = Puzzle.of_grid([[1, 1, 0], [0, 0, 0], [1, 0, 0]])


@st.composite
def puzzles_with_grids(draw: st.DrawFn) -> tuple[Puzzle, Grid]:
    """A puzzle and a grid of its size: its goal, its goal with a few cells changed, or anything."""
    puzzle = draw(strategies.puzzles())
    cell = st.integers(0, puzzle.n_colours)  # one past the palette, too
    grid = draw(st.lists(st.lists(cell, min_size=puzzle.width, max_size=puzzle.width), min_size=puzzle.height,
                         max_size=puzzle.height))  # fmt: skip
    if puzzle.goal is not None and draw(st.booleans()):
        grid = [list(row) for row in puzzle.goal]
        for _ in range(draw(st.integers(0, 2))):
            grid[draw(st.integers(0, puzzle.height - 1))][draw(st.integers(0, puzzle.width - 1))] = draw(cell)
    return puzzle, tuple(map(tuple, grid))


def line_named(verdict: Verdict, puzzle: Puzzle) -> int:
    """The line a complaint of the plain checker names, rows first, from 0; -1 for none."""
    if verdict:
        return verdict.line
    found = re.match(r"(row|column) (\d+)[,:]", verdict.complaint)
    assert found, verdict
    assert verdict.line == int(found[2]) - 1 + (puzzle.height if found[1] == "column" else 0)
    return verdict.line


def flat(grids: list[Grid]) -> tuple[np.ndarray, np.ndarray]:
    cells = [[c for row in grid for c in row] for grid in grids]
    starts = np.cumsum([0, *map(len, cells)])
    return np.array([c for grid in cells for c in grid], np.uint16), starts


@given(strategies.puzzles(most=3, max_colours=3))
def test_check_accepts_exactly_the_solutions_that_trying_all_finds(puzzle: Puzzle) -> None:
    solutions = set(oracles.grids_by_trying_all(puzzle))
    rows = list(product(range(puzzle.n_colours), repeat=puzzle.width))
    if len(rows) ** puzzle.height > 5000:
        rows = rows[:: len(rows) // 12 + 1]
    for grid in product(rows, repeat=puzzle.height):
        assert bool(check(puzzle, grid)) == (grid in solutions)
    assert all(check(puzzle, grid) for grid in solutions)


@given(strategies.puzzles(most=4, max_colours=4))
def test_the_two_oracles_find_the_same_solutions(puzzle: Puzzle) -> None:
    assert list(oracles.solutions(puzzle)) == oracles.grids_by_trying_all(puzzle)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([[1, 1, 0], [0, 0, 0]], "expected 3 rows, found 2"),
        ([[1, 1, 0], [0, 0], [1, 0, 0]], "row 2: expected 3 cells, found 2"),
        ([[1, 1, 0], [0, 0, 2], [1, 0, 0]], "row 2, cell 3: expected a colour from 0 to 1, found 2"),
        ([[1, 1, 0], [0, -1, 0], [1, 0, 0]], "row 2, cell 2: expected a colour from 0 to 1, found -1"),
        ([[1, 0, 1], [0, 0, 0], [1, 0, 0]], "row 1: expected 2, found 1 1"),
        ([[1, 1, 0], [0, 1, 0], [1, 0, 0]], "row 2: expected 0, found 1"),
        ([[1, 1, 0], [0, 0, 0], [0, 0, 0]], "row 3: expected 1, found 0"),
        ([[0, 1, 1], [0, 0, 0], [1, 0, 0]], "column 1: expected 1 1, found 1"),
        ([[1, 1, 0], [0, 0, 0], [1, 0, 0]], ""),
    ],
)
def test_check_names_the_first_wrong_line_with_what_was_expected_and_found(grid: list[list[int]], message: str) -> None:
    verdict = check(CORNER, grid)
    assert (verdict.complaint, bool(verdict)) == (message, not message)
    assert str(verdict) == (f"wrong: {message}" if message else "right: every line shows its clue")


def test_check_tells_colours_apart() -> None:
    puzzle = Puzzle.of_grid([[1, 2, 2]], THREE)
    assert check(puzzle, [[1, 2, 2]])
    assert check(puzzle, [[1, 1, 2]]).complaint == "row 1: expected 1a 2b, found 2a 1b"
    joined = Puzzle(((Block(1, 1), Block(1, 1)),), ((Block(1, 1),), (Block(1, 1),)), THREE)
    assert check(joined, [[1, 1]]).complaint == "row 1: expected 1a 1a, found 2a"


@settings(max_examples=200)
@given(st.lists(puzzles_with_grids(), min_size=1, max_size=6), st.data())
def test_the_fast_checker_names_the_same_line_as_the_plain_one(pairs: list, data: st.DataObject) -> None:
    batch = set_of(puzzle for puzzle, _ in pairs)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))))
    cells, starts = flat([grid for _, grid in pairs])
    wrong = check_set(clues_of(batch), cells, starts, wanted)
    expected = [
        line_named(check(puzzle, grid), puzzle) if w else -1 for (puzzle, grid), w in zip(pairs, wanted, strict=True)
    ]
    assert wrong.tolist() == expected


@pytest.mark.parametrize("shape", [(64, 64), (63, 64), (64, 65), (1, 64), (64, 1), (2, 63)])
@pytest.mark.parametrize("density", [0.0, 0.5, 0.97, 1.0])
def test_lines_that_just_fit_into_a_word_are_checked_like_others(shape: tuple[int, int], density: float) -> None:
    """Right grids, one cell changed, one clue changed (longer than any word too), a blot for a clue."""
    chance = np.random.default_rng(int(100 * density) + shape[1])
    puzzles, grids = [], []
    for turn in range(12):
        cells = (chance.random(shape) < density).astype(int)
        puzzle = Puzzle.of_grid(cells.tolist())
        line = int(chance.integers(sum(shape)))
        clues = [*puzzle.rows, *puzzle.columns]
        if turn % 4 == 1:
            cells[int(chance.integers(shape[0])), int(chance.integers(shape[1]))] ^= 1
        elif clues[line] and turn % 4 > 1:
            length = (clues[line][0].length + 1, 100_000)[turn % 2] if turn % 4 == 2 else 0
            clues[line] = (Block(length), *clues[line][1:])
            puzzle = Puzzle(tuple(clues[: shape[0]]), tuple(clues[shape[0] :]))
        puzzles.append(puzzle)
        grids.append(tuple(map(tuple, cells.tolist())))
    cells, starts = flat(grids)
    wrong = check_set(clues_of(set_of(puzzles)), cells, starts, np.ones(len(puzzles), bool))
    expected = [line_named(check(puzzle, grid), puzzle) for puzzle, grid in zip(puzzles, grids, strict=True)]
    assert wrong.tolist() == expected
    assert density in (0.0, 1.0) or {number >= 0 for number in expected} == {True, False}


def test_the_fast_checker_refuses_open_cells_and_cells_of_another_number() -> None:
    batch = set_of([CORNER, CORNER, CORNER])
    cells, _ = flat([((1, 1, 0), (0, 65535, 0), (1, 0, 0)), ((1, 1, 0), (0, 0, 0), (1, 0)), CORNER.goal or ()])
    wrong = check_set(clues_of(batch), cells, np.array([0, 9, 17, 26]), np.ones(3, bool))
    assert wrong.tolist() == [1, 0, -1]


def test_the_fast_checker_reads_a_slice_of_a_set() -> None:
    puzzles = [Puzzle.of_grid([[1, 0, 1]]), CORNER, Puzzle.of_grid([[1], [0]])]
    batch = set_of(puzzles).slice(1, 2)
    cells, starts = flat([puzzle.goal for puzzle in puzzles[1:] if puzzle.goal])
    assert check_set(clues_of(batch), cells, starts, np.ones(2, bool)).tolist() == [-1, -1]


def test_the_fast_checker_passes_over_rows_that_are_errors() -> None:
    from parallel_nono.puzzle import InvalidPuzzle

    batch = set_of([InvalidPuzzle("x:1: expected a puzzle, found nothing"), CORNER])
    cells, starts = flat([(), CORNER.goal or ()])
    assert check_set(clues_of(batch), cells, starts, np.array([False, True])).tolist() == [-1, -1]


def test_the_plain_checker_costs_no_numba() -> None:
    code = "import sys, parallel_nono.checker; assert not {'numba', 'numpy', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def palette_of(n_colours: int) -> tuple[Colour, ...]:
    return (BLACK_AND_WHITE[0], *(Colour(f"ink{i}", "x", i) for i in range(1, n_colours)))


@st.composite
def coloured_grids(draw: st.DrawFn) -> tuple[Grid, int]:
    n_colours = draw(st.sampled_from([2, 3, 5, 52, 53, 54, 70, 1338, 3000]))
    height, width = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    cell = st.one_of(st.integers(0, n_colours - 1), st.sampled_from([n_colours, 65535]))
    return draw(st.tuples(*[st.tuples(*[cell] * width)] * height)), n_colours


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(st.tuples(coloured_grids(), st.booleans()), max_size=6))
def test_solutions_as_text_are_letters_joined_by_rows(pairs: list) -> None:
    heights, widths, n_colours = (
        np.array([f(grid, n) for (grid, n), _ in pairs], np.int32)
        for f in (lambda g, n: len(g), lambda g, n: len(g[0]), lambda g, n: n)
    )
    cells, starts = flat([grid for (grid, _), _ in pairs])
    text, offsets = texts_of_set(heights, widths, n_colours, cells, starts, np.array([w for _, w in pairs], bool))
    column = pa.StringArray.from_buffers(len(pairs), pa.py_buffer(offsets), pa.py_buffer(text))
    column.validate(full=True)
    expected = [
        "/".join("".join(letter(c, n) if c < n else "?" for c in row) for row in grid) if wanted else ""
        for (grid, n), wanted in pairs
    ]
    assert column.to_pylist() == expected
    for place, ((grid, n), _) in enumerate(pairs):
        plain = text_of(cells[starts[place] : starts[place + 1]], len(grid), len(grid[0]), n)
        assert plain == "/".join("".join(letter(c, n) if c < n else "?" for c in row) for row in grid)


def test_every_colour_of_a_palette_has_a_letter_of_its_own() -> None:
    for n in (2, 3, 53, 54, 1338):
        letters = [letter(c, n) for c in range(n)]
        assert len(set(letters)) == n
        assert all(len(c) == 1 and c != "/" and c != "?" for c in letters)


def test_the_oracle_of_lines_knows_the_contest_examples() -> None:
    def shown(clue: list[int], cells: str) -> str:
        sets = {"?": frozenset({0, 1}), "X": frozenset({1}), ".": frozenset({0})}
        settled = oracles.solved_line(tuple(map(Block, clue)), tuple(sets[c] for c in cells))
        if settled is None:
            return "Impossible"
        return "".join("?" if len(s) == 2 else ".X"[min(s)] for s in settled)

    assert shown([3, 2, 5], "?" * 12) == "XXX.XX.XXXXX"
    assert shown([3, 2, 5], "?" * 15) == "??????????XX???"
    assert shown([1], "???") == "???"
    assert shown([1], ".") == "Impossible"
    assert shown([], "?X?") == "Impossible"
    assert shown([2], "?.?.?") == "Impossible"
    assert shown([3, 4], "?" * 10) == "??X???XX??"
    assert shown([3], "?X????????") == "?XX?......"
    assert shown([3], "???.?.????") == "???...????"
    assert len(oracles.arrangements(tuple(map(Block, [3, 2, 5])), 15)) == 20
    a, b = Block(1, 1), Block(1, 2)
    assert oracles.arrangements((a, b), 2) == ((1, 2),)
    assert oracles.arrangements((a, a), 2) == ()
    assert oracles.arrangements((Block(2, 1), Block(2, 1)), 5) == ((1, 1, 0, 1, 1),)
    assert len(oracles.arrangements((a, b, a), 4)) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("height", "width", "pictures", "sets", "unique", "line_solvable", "most"),
    [(2, 2, 16, 15, 14, 14, 2), (3, 3, 512, 445, 384, 384, 6), (4, 4, 65_536, 58_196, 52_362, 51_234, 24)],
)
def test_the_oracles_count_all_pictures_of_a_size_as_published(
    height: int, width: int, pictures: int, sets: int, unique: int, line_solvable: int, most: int
) -> None:
    counts = oracles.clue_sets(height, width)
    assert sum(counts.values()) == pictures
    assert len(counts) == sets
    assert max(counts.values()) == most
    singles = [Puzzle(*clues) for clues, n in counts.items() if n == 1]
    assert len(singles) == unique
    assert sum(map(oracles.is_line_solvable, singles)) == line_solvable


@given(strategies.grids(most=8))
def test_runs_of_the_library_are_the_runs_of_the_checker(grid: Grid) -> None:
    from parallel_nono.checker.plain import _shown

    for row in grid:
        assert [tuple(block) for block in runs(row)] == _shown(row)
