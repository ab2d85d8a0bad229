"""Blots, blocks of unknown length: model, line kernels, whole puzzles, checkers, files and commands."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import Sets
from test_brute_force import brute_force
from test_check import flat, line_named
from test_cli import pnono
from test_kernels import arrays, packed, unpacked, without_absent_colours

from parallel_nono import Limits, Outcome, solve
from parallel_nono.attempt import OUTCOMES, STAGES
from parallel_nono.checker import check
from parallel_nono.checker.fast import check_set
from parallel_nono.files.packed import read_packed, write_packed
from parallel_nono.files.reading import read_bytes
from parallel_nono.formats import FORMATS, format_named
from parallel_nono.generator import generate
from parallel_nono.kernels.line import solve_line_planes
from parallel_nono.puzzle import BLOT, Block, Clue, InvalidPuzzle, Puzzle, palette_of, runs, shows
from parallel_nono.puzzleset import SCHEMA, clues_of, digests, puzzle_at, set_of
from parallel_nono.solver import solve_set
from parallel_nono.solver.line import solve_line

B = Block(BLOT)
HOOK = Puzzle(((Block(2), B), (B,), (Block(3),)), ((B,), (Block(1), Block(1)), (Block(3),)), name="hook")
TWO_INKS = Puzzle(((Block(BLOT, 1), Block(BLOT, 2)),), ((Block(1, 1),), (Block(1, 2),), (B._replace(colour=2),)),
                  palette_of(3))  # fmt: skip


def hidden(puzzle: Puzzle, share: float, seed: int) -> Puzzle:
    """The puzzle with about this share of its lengths hidden."""
    chance = random.Random(seed)

    def clues(plain: tuple[Clue, ...]) -> tuple[Clue, ...]:
        return tuple(tuple(Block(BLOT, b.colour) if chance.random() < share else b for b in clue) for clue in plain)

    return Puzzle(clues(puzzle.rows), clues(puzzle.columns), puzzle.palette)


# The model.


def test_a_blot_is_a_block_of_length_0_that_shows_as_a_question_mark() -> None:
    assert (B.is_blot, B.text) == (True, "?")
    assert (Block(3).is_blot, Block(3).text) == (False, "3")
    assert HOOK.has_blots
    assert not Puzzle(((Block(1),),), ((Block(1),),)).has_blots
    with pytest.raises(InvalidPuzzle, match="row 1: expected block lengths from 1, found -1"):
        Puzzle(((Block(-1),),), ((B,),))


@given(strategies.lines(max_cells=6, max_colours=3), st.data())
def test_a_line_obeys_a_clue_exactly_when_it_is_a_layout_of_it(
    line: tuple[Clue, Sets, int], data: st.DataObject
) -> None:
    clue, allowed, n_colours = line
    clue = data.draw(strategies.blotted_clues(clue))
    cells = data.draw(st.tuples(*[st.integers(0, n_colours - 1)] * len(allowed)))
    assert shows(cells, clue) == (cells in oracles.arrangements(clue, len(cells)))


def test_digests_tell_blots_from_lengths_and_from_nothing() -> None:
    clues = [(), (B,), (Block(1),), (Block(2),), (B, B), (Block(1), B), (B, Block(1))]
    puzzles = [Puzzle((clue,), ((),) * 4) for clue in clues]
    assert len({puzzle.digest for puzzle in puzzles}) == len(puzzles)


def test_a_puzzle_without_blots_has_the_digest_that_it_always_had() -> None:
    assert Puzzle.of_grid([[1, 1, 0], [0, 0, 1]]).digest == "6208ff3016502f18109707ff7f11c021"


@given(strategies.blotted_puzzles(most=4))
def test_sets_keep_blots_and_their_digests(puzzle: Puzzle) -> None:
    batch = set_of([puzzle])
    assert puzzle_at(batch, 0) == puzzle
    assert digests(clues_of(batch)) == [puzzle.digest]


@settings(max_examples=50)
@given(strategies.blotted_puzzles(most=4, max_colours=3))
def test_turning_mirroring_and_recolouring_a_puzzle_does_so_with_its_solutions(puzzle: Puzzle) -> None:
    solutions = set(oracles.solutions(puzzle))
    order = [0, *range(puzzle.n_colours - 1, 0, -1)]
    assert {tuple(zip(*grid, strict=True)) for grid in oracles.solutions(puzzle.transposed())} == solutions
    assert {tuple(row[::-1] for row in grid) for grid in oracles.solutions(puzzle.mirrored())} == solutions
    recoloured = {tuple(tuple(order[c] for c in row) for row in grid) for grid in solutions}
    assert set(oracles.solutions(puzzle.recoloured(order))) == recoloured


# Lines.


def by_kernel(clue: Clue, allowed: Sets, n_colours: int) -> Sets | None:
    planes = packed(without_absent_colours(clue, allowed), n_colours)
    out = solve_line_planes(planes, len(allowed), *arrays(clue))
    return None if out is None else unpacked(out, len(allowed))


def by_tables(clue: Clue, allowed: Sets) -> Sets | None:
    """Exactly what some arrangement uses, by which beginnings and which endings can be laid, any start with any end."""
    n, k = len(allowed), len(clue)

    def places(j: int) -> list[tuple[int, int]]:
        """(start, end behind it) of every run that could be block j, its neighbours apart."""
        length, colour = clue[j]
        found = []
        for start in range(n):
            end = start
            while end < n and colour in allowed[end]:
                end += 1
                if length in (BLOT, end - start):
                    found.append((start, end))
        return found

    spots = [places(j) for j in range(k)]
    apart = [0, *(int(a.colour == b.colour) for a, b in pairwise(clue)), 0]

    def laid(before: list[bool], j: int) -> list[bool]:
        """From [i]: blocks 0 .. j-1 lie in the first i cells, to the same for one block more."""
        ends = [False] * (n + 1)
        for start, end in spots[j]:
            ends[end] |= start >= apart[j] and before[start - apart[j]] and (not apart[j] or 0 in allowed[start - 1])
        for i in range(1, n + 1):
            ends[i] |= ends[i - 1] and 0 in allowed[i - 1]
        return ends

    def following(behind: list[bool], j: int) -> list[bool]:
        """From [i]: blocks j + 1 .. k lie in the cells from i on, to the same for block j too."""
        starts = [False] * (n + 1)
        for start, end in spots[j]:
            gap = apart[j + 1]
            starts[start] |= end + gap <= n and behind[end + gap] and (not gap or 0 in allowed[end])
        for i in range(n - 1, -1, -1):
            starts[i] |= starts[i + 1] and 0 in allowed[i]
        return starts

    left = [[all(0 in cell for cell in allowed[:i]) for i in range(n + 1)]]
    right = [[all(0 in cell for cell in allowed[i:]) for i in range(n + 1)]]
    for j in range(k):
        left.append(laid(left[j], j))
        right.append(following(right[j], k - 1 - j))
    right.reverse()
    if not left[k][n]:
        return None
    used: list[set[int]] = [set() for _ in range(n)]
    for i in range(n):
        if 0 in allowed[i] and any(left[j][i] and right[j][i + 1] for j in range(k + 1)):
            used[i].add(0)
    for j, (_, colour) in enumerate(clue):
        before, behind = apart[j], apart[j + 1]
        for start, end in spots[j]:
            if (
                start >= before
                and end + behind <= n
                and left[j][start - before]
                and right[j + 1][end + behind]
                and (not before or 0 in allowed[start - 1])
                and (not behind or 0 in allowed[end])
            ):
                for i in range(start, end):
                    used[i].add(colour)
    return tuple(map(frozenset, used))


@given(strategies.blotted_lines())
def test_a_line_keeps_exactly_what_some_layout_of_some_size_uses(line: tuple[Clue, Sets, int]) -> None:
    clue, allowed, n_colours = line
    expected = oracles.solved_line(clue, allowed)
    assert by_tables(clue, allowed) == expected
    assert by_kernel(clue, allowed, n_colours) == expected
    cells = [sum(1 << colour for colour in cell) for cell in allowed]
    settled = solve_line(clue, cells, n_colours)
    assert settled == (expected and [sum(1 << colour for colour in cell) for cell in expected])


@st.composite
def long_lines(draw: st.DrawFn) -> tuple[Clue, Sets, int]:
    """A line of 50 to 140 cells laid out first, some of its cells known, now and then one of them wrong."""
    n, n_colours = draw(st.sampled_from([50, 63, 64, 65, 127, 128, 129, 140])), draw(st.integers(2, 4))
    rng = draw(st.randoms(use_true_random=False))
    density, longest = draw(st.sampled_from([0.1, 0.4, 0.7, 0.95])), draw(st.sampled_from([1, 3, 20, 140]))
    cells: list[int] = []
    while len(cells) < n:
        cells += [rng.randrange(1, n_colours) if rng.random() < density else 0] * rng.randint(1, longest)
    cells = cells[:n]
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    everything = frozenset(range(n_colours))
    allowed = [frozenset({c, rng.randrange(n_colours)}) if rng.random() < share else everything for c in cells]
    if draw(st.integers(0, 3)) == 0:
        allowed[rng.randrange(n)] = frozenset({rng.randrange(n_colours)})
    blots = draw(st.sampled_from([0.2, 0.6, 1.0]))
    clue = tuple(Block(BLOT, block.colour) if rng.random() < blots else block for block in runs(cells))
    return clue, tuple(allowed), n_colours


@pytest.mark.slow
@settings(max_examples=60)
@given(long_lines())
def test_long_lines_agree_with_tables_across_the_bounds_of_words(line: tuple[Clue, Sets, int]) -> None:
    clue, allowed, n_colours = line
    assert by_kernel(clue, allowed, n_colours) == by_tables(clue, allowed)


def test_a_blot_fills_the_cells_between_known_ones() -> None:
    assert solve_line((B,), [3, 2, 3, 2, 3], 2) == [3, 2, 2, 2, 3]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 1000])
def test_one_blot_may_fill_any_part_of_an_open_line_but_not_nothing(n: int) -> None:
    assert solve_line((B,), [3] * n, 2) == ([2] if n == 1 else [3] * n)
    assert solve_line((B,), [1] * n, 2) is None
    assert solve_line((B,), [2] * n, 2) == [2] * n
    assert solve_line((B,) * ((n + 1) // 2), [3] * n, 2) == ([2, 1] * n if n % 2 else [3, 3] * n)[:n]


# Whole puzzles.


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 500])
def test_random_small_puzzles_with_blots_are_decided_and_counted_as_by_brute_force(first: int) -> None:
    assert brute_force.compare_random(first, first + 500, seed=30, blots=True) == []


@given(st.lists(strategies.blotted_puzzles(most=4), min_size=1, max_size=4))
def test_drawn_puzzles_with_blots_are_decided_and_counted_as_by_brute_force(puzzles: list[Puzzle]) -> None:
    assert list(brute_force.differences(puzzles)) == []


@settings(max_examples=50)
@given(strategies.blotted_puzzles(most=3, max_colours=3))
def test_solutions_are_those_of_all_sizes_together(puzzle: Puzzle) -> None:
    result = solve(puzzle, Limits(solutions=1000, count=1000))
    expected = oracles.grids_by_trying_all(puzzle)
    assert sorted(result.solutions) == sorted(expected)
    assert (result.n_solutions, result.exhausted) == (len(expected), True)


@settings(max_examples=50)
@given(strategies.puzzles(most=4), st.data())
def test_hiding_lengths_takes_no_solution_away(puzzle: Puzzle, data: st.DataObject) -> None:
    share = data.draw(st.sampled_from([0.2, 0.5, 1.0]))
    everything = Limits(solutions=10_000, count=10_000)
    blotted = solve(hidden(puzzle, share, 1), everything)
    assert set(solve(puzzle, everything).solutions) <= set(blotted.solutions) or blotted.n_solutions >= 10_000


def test_random_puzzles_with_blots_are_unique_ambiguous_and_contradictory() -> None:
    puzzles = [brute_force.blotted_puzzle(30, number) for number in range(1000)]
    assert sum(puzzle.has_blots for puzzle in puzzles) > 700
    outcomes = solve_set(set_of(puzzles), Limits()).outcome.tolist()
    counted = {outcome: outcomes.count(OUTCOMES.index(outcome)) for outcome in OUTCOMES}
    assert min(counted[outcome] for outcome in (Outcome.UNIQUE, Outcome.MULTIPLE, Outcome.CONTRADICTION)) > 50


@pytest.mark.parametrize(
    ("kind", "height", "width", "options"),
    [
        ("contours", 20, 20, {}),
        ("contours", 70, 25, {}),
        ("blobs", 150, 90, {}),
        ("regions", 20, 70, {"inks": 3}),
        ("regions", 150, 90, {"inks": 4}),
    ],
)
def test_what_lines_know_of_a_larger_picture_with_blots_is_true(
    kind: str, height: int, width: int, options: dict[str, int]
) -> None:
    plain = generate(kind, height, width, 1, **options)
    result = solve(hidden(plain, 0.1, 1), Limits(plan=("line",)))
    cells = [
        (known, cell)
        for row, goal in zip(result.partial, plain.goal or (), strict=True)
        for known, cell in zip(row, goal, strict=True)
    ]
    assert all(known in (-1, cell) for known, cell in cells)
    assert sum(known >= 0 for known, _ in cells) > 0.9 * len(cells)


def test_search_and_sat_count_the_same_solutions() -> None:
    batch = set_of([brute_force.blotted_puzzle(31, number) for number in range(500)])
    by_search, by_sat = (
        solve_set(batch, Limits(count=200, plan=plan)) for plan in (("line", "search"), ("line", "sat"))
    )
    assert np.array_equal(by_search.n_solutions, by_sat.n_solutions)
    assert np.array_equal(by_search.exhausted, by_sat.exhausted)
    assert np.count_nonzero(by_sat.stage == STAGES.index("sat")) > 50


def test_both_orders_of_lines_come_to_the_same_grid() -> None:
    batch = set_of([hidden(generate("contours", 30, 40, seed), 0.3, seed) for seed in range(6)])
    sweep, rounds = (solve_set(batch, Limits(plan=("line",), order=order)) for order in ("sweep", "rounds"))
    assert np.array_equal(sweep.cells[0], rounds.cells[0])
    assert 0 < sweep.n_open.sum() < len(sweep.cells[0])


def test_the_time_for_a_puzzle_with_blots_is_kept() -> None:
    puzzle = hidden(generate("noise", 60, 60, 1, density=50), 0.3, 1)
    result = solve(puzzle, Limits(seconds=0.3, count=10**9, plan=("line", "probe", "search")))
    assert not result.exhausted
    assert 0.25 < result.seconds["solve_s"] < 2


@pytest.mark.parametrize(
    ("rows", "columns", "witness"),
    [
        ([(B, B, B)], [()] * 4, "row 1: the clue needs 5 cells, the line has 4"),
        ([(B, B)], [(Block(1),), (), ()], "colour 1: the rows hold at least 2 cells, the columns 1"),
        ([(Block(1),)], [(B,), (B,), ()], "colour 1: the rows hold 1 cells, the columns at least 2"),
        (
            [(Block(2), B)],
            [(Block(1),), (), (Block(1),), ()],
            "colour 1: the rows hold at least 3 cells, the columns 2",
        ),
    ],
)
def test_sums_that_cannot_agree_are_a_contradiction_read_off_the_clues(
    rows: list[Clue], columns: list[Clue], witness: str
) -> None:
    result = solve(Puzzle(tuple(rows), tuple(columns)))
    assert (result.outcome, result.stage, result.witness) == (Outcome.CONTRADICTION, "read", witness)


def test_a_huge_length_beside_a_blot_is_a_contradiction_and_takes_no_memory() -> None:
    result = solve(Puzzle(((Block(200_000), B),), ((B,),)))
    assert (result.outcome, result.stage) == (Outcome.CONTRADICTION, "read")


# The checkers.


@pytest.mark.slow
@settings(max_examples=200)
@given(strategies.blotted_puzzles(most=4, max_colours=3), st.data())
def test_both_checkers_accept_exactly_the_grids_whose_lines_are_layouts(puzzle: Puzzle, data: st.DataObject) -> None:
    cell = st.integers(0, puzzle.n_colours - 1)
    grid = data.draw(st.tuples(*[st.tuples(*[cell] * puzzle.width)] * puzzle.height))
    solutions = list(oracles.solutions(puzzle)) if puzzle.height * puzzle.width <= 12 else []
    if solutions and data.draw(st.booleans()):
        grid = data.draw(st.sampled_from(solutions))
    lines = [*zip(puzzle.rows, grid, strict=True), *zip(puzzle.columns, zip(*grid, strict=True), strict=True)]
    wrong = [place for place, (clue, line) in enumerate(lines) if line not in oracles.arrangements(clue, len(line))]
    assert line_named(check(puzzle, grid), puzzle) == (wrong[0] if wrong else -1)
    assert check_set(clues_of(set_of([puzzle])), *flat([grid]), np.ones(1, bool)).tolist() == wrong[:1] or [-1]


def test_a_wrong_line_is_named_with_its_blots() -> None:
    assert check(HOOK, ((1, 1, 0), (0, 0, 1), (1, 1, 1))).complaint == "row 1: expected 2 ?, found 2"
    assert check(TWO_INKS, ((1, 1, 2),)).complaint == "column 2: expected 1b, found 1a"


# Files.


def test_a_count_of_0_is_a_blot_in_xml_and_a_lone_one_is_warned_of() -> None:
    lines = "<clues type='rows'><line><count>0</count></line><line><count>1</count><count>0</count></line></clues>\n"
    columns = "<clues type='columns'><line><count>?</count></line><line/><line><count>2</count></line></clues>"
    batch = read_bytes(f"<puzzle>\n{lines}{columns}\n</puzzle>".encode(), "blots.xml")
    puzzle = puzzle_at(batch, 0)
    assert puzzle.rows == ((B,), (Block(1), B))
    assert puzzle.columns == ((B,), (), (Block(2),))
    read = "a lone count of 0 is read as a block of unknown length, though some programs mean an empty line"
    assert puzzle.warnings == (f"line 2: {read}",)


def test_a_goal_may_give_a_blot_any_length() -> None:
    text = format_named("webpbn").write([Puzzle(HOOK.rows, HOOK.columns, goal=((1, 1, 0), (1, 0, 0), (1, 1, 1)))])
    (puzzle,) = format_named("webpbn").parse(text, "x")
    assert "the goal breaks the clue of row 1: expected 2 ?, found 2" in puzzle.warnings


@pytest.mark.parametrize("form", [form for form in FORMATS if form.write], ids=lambda form: form.name)
def test_a_format_carries_blots_or_refuses_them_by_name(form) -> None:  # type: ignore[no-untyped-def]
    assert form.write is not None
    if not form.blots:
        with pytest.raises(InvalidPuzzle, match=rf"{form.name} carries no blotted clues .*, found some in 'hook'"):
            form.write([HOOK])
        return
    written = form.write([HOOK])
    (puzzle,) = form.parse(written, "hook")
    assert puzzle.digest == HOOK.digest


def test_packed_files_keep_blots(tmp_path: Path) -> None:
    write_packed(tmp_path / "a.parquet", [set_of([HOOK, TWO_INKS], "x")])
    (batch,) = read_packed(tmp_path / "a.parquet", SCHEMA.names)
    assert [puzzle_at(batch, place) for place in range(2)] == [HOOK, TWO_INKS]


# Commands.


@pytest.mark.parametrize(
    ("clue", "cells", "settled"),
    [
        ("?", "?X?X?", "?XXX?"),
        ("? ?", "3", "X.X"),
        ("?a ?b", "a??b", "a??b"),
        ("?a 2b", "a??b", "a[.a]bb"),
        ("2a ?a", "4", "aa.a"),
        ("? 1", "X..?", "X..X"),
    ],
)
def test_a_line_is_settled_with_blots(clue: str, cells: str, settled: str) -> None:
    assert pnono("line", clue, cells).out.strip() == settled


@pytest.mark.parametrize(("clue", "found"), [("??", "found `??`"), ("? 0", "found `? 0`"), ("?a ?", "found `?a ?`")])
def test_a_wrong_clue_with_blots_is_refused(clue: str, found: str) -> None:
    ended = pnono("line", clue, "5")
    assert ended.code == 2
    assert found in ended.err


def test_a_puzzle_with_blots_is_shown_solved_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "blots.xml"
    path.write_text(format_named("webpbn").write([TWO_INKS]))
    ended = pnono("solve", path)
    assert ended.code == 0
    assert "?a ?b a b b" in " ".join(ended.out.split())
    assert pnono("check", path, "abb").code == 0
    assert pnono("check", path, "aab").code == 1
