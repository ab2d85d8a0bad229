"""Notes for publishers: each has a puzzle that earns it, and one that does not."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import colour_sums, n_solutions
from strategies import puzzles
from test_cli import pnono

from parallel_nono.attempt import Limits
from parallel_nono.cli.exits import Code
from parallel_nono.lint import CODES, WAYS, Finding, Grade, Lint, alike, notes_of, turned
from parallel_nono.puzzle import BLACK_AND_WHITE, BLOT, Block, Colour, InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import clues_of, digests, set_of

ONES = (Block(1),)
RGB = (
    BLACK_AND_WHITE[0],
    Colour("red", "r", 0xFF0000),
    Colour("green", "g", 0x008000),
    Colour("blue", "b", 0x0000FF),
)
GOOD = Puzzle.of_grid(
    ((0, 0, 1, 0, 0), (1, 1, 0, 1, 0), (0, 0, 1, 1, 0), (0, 0, 1, 0, 1), (1, 0, 0, 1, 0)), name="good", source="g"
)
CROSSED = Puzzle((ONES, ONES), (ONES, ONES), source="c")


def texts(puzzle: Puzzle, code: str) -> list[str]:
    return [note.text for note in notes_of(puzzle) if note.code == code]


def looked_at(*puzzles: Puzzle | InvalidPuzzle, limits: Limits | None = None) -> list[Finding]:
    return list(Lint(limits or Limits()).look(set_of(puzzles)))


def codes(puzzle: Puzzle, limits: Limits | None = None) -> set[str]:
    (finding,) = looked_at(puzzle, limits=limits)
    return {note.code for note in finding.notes}


def test_what_is_unorthodox_is_named() -> None:
    puzzle = Puzzle((ONES, (), (Block(3), Block(1))), (ONES,) * 5)
    assert [note.text for note in notes_of(puzzle) if note.grade is Grade.NOTE] == [
        "the height 3 is not divisible by 5",
        "instant lines, empty or full: row 2, row 3",
    ]
    assert notes_of(Puzzle((ONES,) * 5, (ONES,) * 5)) == []


def test_many_lines_are_not_listed_all() -> None:
    assert texts(Puzzle(((Block(10),),) * 10, ((Block(10),),) * 10), "instant")[0].endswith("row 8 and 12 more")


def test_many_inks_are_many() -> None:
    palette = (BLACK_AND_WHITE[0], *(Colour(f"ink {n}", "i", n * 1_000_000) for n in range(1, 13)))
    clue = tuple(Block(1, ink) for ink in range(1, 13))
    puzzle = Puzzle((clue,), tuple((block,) for block in clue), palette)
    assert texts(puzzle, "inks") == ["12 inks are many"]


def test_sums_that_disagree_name_the_colour_and_both_numbers() -> None:
    rows = ((Block(2, 1), Block(1, 3)), (Block(1, 3),))
    columns = ((Block(1, 1),), (Block(1, 3),), (Block(1, 3),))
    assert texts(Puzzle(rows, columns, RGB), "sums") == ["colour red: the rows hold 2 cells, the columns 1"]


@given(puzzles(most=5, max_colours=4))
def test_sums_are_named_exactly_when_they_disagree(puzzle: Puzzle) -> None:
    rows, columns = colour_sums(puzzle.rows), colour_sums(puzzle.columns)
    wrong = [ink for ink in range(1, puzzle.n_colours) if rows[ink] != columns[ink]]
    assert texts(puzzle, "sums") == [
        f"colour {puzzle.palette[ink].name}: the rows hold {rows[ink]} cells, the columns {columns[ink]}"
        for ink in wrong
    ]


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        (((Block(BLOT),), ()), (ONES, ONES), []),
        (((Block(BLOT), Block(BLOT), Block(1)),), (ONES, (), ONES, (), ()), ["at least 3 cells, the columns 2"]),
        (((Block(1),),), ((Block(BLOT),), (Block(BLOT),)), ["hold 1 cells, the columns at least 2"]),
        (((Block(BLOT),),), ((Block(BLOT),), (Block(BLOT),)), []),
    ],
)
def test_sums_with_blots_are_named_when_they_surely_disagree(
    rows: tuple[tuple[Block, ...], ...], columns: tuple[tuple[Block, ...], ...], expected: list[str]
) -> None:
    found = texts(Puzzle(rows, columns), "sums")
    assert len(found) == len(expected)
    assert all(part in text for part, text in zip(expected, found, strict=True))


def test_lines_that_cannot_fit_are_named_all() -> None:
    puzzle = Puzzle(((Block(2), Block(2)), ONES, (Block(BLOT), Block(4))), (ONES,) * 4)
    assert texts(puzzle, "fit") == [
        "row 1: the clue needs 5 cells, the line has 4",
        "row 3: the clue needs 6 cells, the line has 4",
    ]
    apart = Puzzle(((Block(2, 1), Block(2, 2)),), ((Block(1, 1),), (Block(1, 1),), (Block(1, 2),), (Block(1, 2),)), RGB)
    assert texts(apart, "fit") == [], "blocks of two colours need no gap"


def test_unused_colours_are_named() -> None:
    puzzle = Puzzle((((Block(1, 2)),),), ((Block(1, 2),),), RGB)
    assert texts(puzzle, "unused") == ["no clue has red, blue"]
    assert texts(Puzzle(((),), ((),)), "unused") == [], "black and white is no choice of colours"


@pytest.mark.parametrize(
    ("one", "other", "eyes"),
    [
        (0xFF0000, 0xFA0505, {"", "protan", "deutan", "tritan"}),
        (0xFF0000, 0x0000FF, set()),
        (0xFFFFFF, 0x000000, set()),
        (0x808080, 0x8A8A8A, {"", "protan", "deutan", "tritan"}),
        (0x008000, 0xA52A2A, {"deutan"}),  # green and brown
        (0x0000FF, 0x008000, {"tritan"}),
        (0xFFC0CB, 0xC0C0C0, {"protan", "deutan"}),  # pink and silver
    ],
)
def test_shades_look_alike_to_some_eyes(one: int, other: int, eyes: set[str]) -> None:
    assert set(alike(one, other)) == eyes


def test_the_distance_of_shades_is_ciede2000() -> None:
    """Two pairs of the test data of Sharma, Wu, Dalal."""
    from coloraide import Color

    for first, second, expected in (
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ):
        one, other = Color("lab-d65", first), Color("lab-d65", second)
        assert one.delta_e(other, method="2000") == pytest.approx(expected, abs=1e-4)


def test_colours_that_look_alike_are_a_warning_and_those_for_the_colour_blind_a_note() -> None:
    palette = (*RGB, Colour("brown", "n", 0xA52A2A), Colour("crimson red", "c", 0xF80808))
    clue = tuple(Block(1, ink) for ink in (1, 2, 4, 5))
    notes = [
        note for note in notes_of(Puzzle((clue,), tuple((block,) for block in clue), palette)) if note.code == "alike"
    ]
    assert [note.grade for note in notes] == [Grade.WARNING, Grade.NOTE]
    assert "red and crimson red (" in notes[0].text
    assert "green and brown (deuteranopia " in notes[1].text
    assert "blue" not in notes[0].text + notes[1].text, "no clue has it"


# With solving


def test_a_good_puzzle_has_no_notes() -> None:
    assert looked_at(GOOD) == [Finding("good", "g", 1, [])]


def test_solutions_and_goals_are_judged() -> None:
    assert codes(CROSSED) == {"multiple", "side"}
    assert {"multiple", "goal"} <= codes(replace(CROSSED, goal=((1, 0), (0, 1))))
    assert "goal" in codes(replace(GOOD, goal=((0,) * 5,) * 5))
    assert "multiple" not in codes(replace(GOOD, goal=((0,) * 5,) * 5))
    stuck = Puzzle(((Block(1), Block(1)), (Block(2),), ()), (ONES,) * 4)
    assert "guess" in codes(stuck)
    clash = Puzzle(((Block(1), Block(1)), (Block(1), Block(1)), ()), (ONES, (Block(2),), ONES))
    assert "contradiction" in codes(clash)
    assert "undecided" in codes(stuck, Limits(plan=("line",)))  # type: ignore[arg-type]


@given(puzzles(most=4, max_colours=3))
@settings(max_examples=40)
def test_the_verdict_is_that_of_counting(puzzle: Puzzle) -> None:
    found, count = codes(puzzle), n_solutions(puzzle)
    assert ("multiple" in found) == (count > 1)
    assert bool(found & {"contradiction", "fit", "sums"}) == (count == 0)
    assert ("goal" in found) == (count > 1 and puzzle.goal is not None)


def test_a_puzzle_that_cannot_be_read_is_a_finding_too() -> None:
    bad, good = looked_at(InvalidPuzzle("x:1: expected sense, found none", name="x", index=1), replace(GOOD, index=2))
    assert [note.code for note in bad.notes] == ["unread"]
    assert good.notes == []


def test_without_limits_nothing_is_solved() -> None:
    (finding,) = Lint(None).look(set_of([CROSSED]))
    assert {note.code for note in finding.notes} == {"side"}


def test_the_worst_comes_first_and_every_code_is_known() -> None:
    (finding,) = looked_at(replace(CROSSED, goal=((1, 1), (1, 1)), warnings=("guessed",)))
    grades = [note.grade for note in finding.notes]
    assert grades == sorted(grades, key=[Grade.ERROR, Grade.WARNING, Grade.NOTE].index)
    assert {note.code for note in finding.notes} <= set(CODES)
    assert "reading" in {note.code for note in finding.notes}


# Duplicates


def ways_to_turn(puzzle: Puzzle) -> dict[tuple[bool, bool, bool], Puzzle]:
    """The eight positions by the plain methods of a puzzle."""

    def upside_down(one: Puzzle) -> Puzzle:
        return one.transposed().mirrored().transposed()

    found = {}
    for transposed in (False, True):
        for flipped in (False, True):
            for mirrored in (False, True):
                one = puzzle.transposed() if transposed else puzzle
                one = upside_down(one) if flipped else one
                found[transposed, flipped, mirrored] = one.mirrored() if mirrored else one
    return found


@pytest.mark.slow
@given(st.lists(puzzles(most=5, max_colours=4), min_size=1, max_size=4))
def test_turning_whole_sets_is_turning_each_puzzle(some: list[Puzzle]) -> None:
    batch = set_of([some[0], *some])
    for clues in (clues_of(batch), clues_of(batch.slice(1))):
        kept = some if len(clues.heights) == len(some) else [some[0], *some]
        for turns in WAYS.values():
            assert digests(turned(clues, *turns)) == [ways_to_turn(puzzle)[turns].digest for puzzle in kept]


def test_duplicates_are_found_however_they_were_turned() -> None:
    for way, turns in WAYS.items():
        first, second = looked_at(GOOD, replace(ways_to_turn(GOOD)[turns], index=2))
        assert "duplicate" not in {note.code for note in first.notes}
        (note,) = (note for note in second.notes if note.code == "duplicate")
        inverse = {"turned to the left": "turned to the right", "turned to the right": "turned to the left"}
        assert note.text == f"the clues are those of g #1{', ' * bool(way)}{inverse.get(way, way)}"


def test_duplicates_in_other_colours_are_found() -> None:
    puzzle = Puzzle.of_grid(((1, 2, 2, 0), (0, 3, 3, 3)), RGB, source="p")
    for order in permutations((1, 2, 3)):
        other = replace(puzzle.recoloured((0, *order)), index=2)
        assert looked_at(puzzle, other)[1].notes[0].text == "the clues are those of p #1", "shades moved with the inks"
        shuffled = replace(other, palette=puzzle.palette)
        same = order == (1, 2, 3)
        assert looked_at(puzzle, shuffled)[1].notes[0].text.endswith("#1" if same else "in other colours")


def test_puzzles_of_several_sets_are_compared() -> None:
    linter = Lint(Limits())
    list(linter.look(set_of([GOOD])))
    (finding,) = linter.look(set_of([replace(GOOD, source="h")]))
    assert [note.text for note in finding.notes] == ["the clues are those of g #1"]


# pnono lint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.non").write_text("width 2\nheight 2\nrows\n1\n1\ncolumns\n1\n1\n")
    (tmp_path / "b.nin").write_text("1 1\n1\n1\n")
    return tmp_path


def test_lint_prints_notes_and_a_sum(folder: Path) -> None:
    ended = pnono("lint", folder)
    assert ended.code == Code.NO
    assert ended.out.splitlines()[0] == f"{folder}/a.non #1 (a): error: there are several solutions"
    assert ended.out.splitlines()[-1] == "2 puzzles: 1 error, 0 warnings, 5 notes"
    assert pnono("lint", folder / "b.nin").code == Code.FINE
    assert pnono("lint", folder, "--no-solve").code == Code.FINE
    shown = pnono("lint", folder, "--grade", "error").out.splitlines()
    assert len(shown) == 2


def test_lint_writes_json_and_csv(folder: Path) -> None:
    notes = [json.loads(line) for line in pnono("lint", folder, "--format", "json").out.splitlines()]
    rows = list(csv.DictReader(io.StringIO(pnono("lint", folder, "--format", "csv").out)))
    assert [{**note, "index": str(note["index"])} for note in notes] == rows
    assert len(rows) == 6
    assert rows[0] == {
        "source": f"{folder}/a.non",
        "index": "1",
        "name": "a",
        "grade": "error",
        "code": "multiple",
        "text": "there are several solutions",
    }


def test_lint_goes_on_after_what_it_cannot_read(folder: Path) -> None:
    (folder / "0.non").write_text("width 2\nheight 2\nrows\n1\nx\ncolumns\n1\n1\n")
    ended = pnono("lint", folder, "--format", "csv")
    assert ended.code == Code.INVALID
    assert [row["code"] for row in csv.DictReader(io.StringIO(ended.out))][:2] == ["unread", "multiple"]
    assert pnono("lint", folder / "missing.non").code == Code.USAGE


def test_lint_and_check_say_the_same(folder: Path) -> None:
    notes = [line.split(": ", 1)[1] for line in pnono("lint", folder / "b.nin").out.splitlines()[:-1]]
    assert pnono("check", folder / "b.nin", "#").out.splitlines()[1:] == notes
    assert len(notes) == 3


def test_lint_reads_packed_sets_with_their_palettes_and_goals(folder: Path) -> None:
    (folder / "c.json").write_text(
        json.dumps({"rows": [[1], [1]], "columns": [[1], [1]], "goal": [[1, 0], [0, 1]], "title": "c"})
    )
    assert pnono("pack", folder / "c.json", folder / "c.parquet").code == Code.FINE
    plain, packed = (pnono("lint", folder / name, "--format", "csv").out for name in ("c.json", "c.parquet"))
    assert plain == packed
    assert "the goal is one of several solutions" in plain
