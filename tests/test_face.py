"""The library's face: its names, their types, their help, and every example in their docstrings."""

from __future__ import annotations

import ast
import doctest
import inspect
import io
import pydoc
import re
import subprocess
import sys
from itertools import islice
from pathlib import Path

import oracles
import pytest
import strategies
from hypothesis import given, settings
from PIL import Image

import parallel_nono
from parallel_nono import (
    Block,
    Colour,
    InvalidPuzzle,
    Limits,
    OutOfTime,
    Plan,
    Puzzle,
    SolutionCount,
    Unfinished,
    check,
    count,
    generate,
    read,
    solutions,
    solve,
    write,
)
from parallel_nono.solver import several

ROOT = Path(parallel_nono.__file__).parent
PUBLIC = [name for name in parallel_nono.__all__ if not name.startswith("__")]
PLAIN_VALUES = {"BLACK_AND_WHITE", "BLOT", "Clue", "Grid", "Palette"}
"""Public names that can't have a docstring of their own."""

DOCUMENTED = [name for name in PUBLIC if name not in PLAIN_VALUES]

HOOK = Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1], name="hook")
HOOK_GRID = ((1, 1, 0), (1, 0, 0), (1, 1, 1))


def python(program: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def ones(n: int) -> Puzzle:
    """Every clue is 1: n! solutions."""
    return Puzzle.of_clues(rows=[1] * n, columns=[1] * n)


# Names.


def test_the_names_are_the_same_wherever_they_are_listed() -> None:
    tree = ast.parse(Path(parallel_nono.__file__).read_text(encoding="utf-8"))
    typed = [
        (alias.name, node.module)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    ]
    assert dict(typed) == parallel_nono._HOMES
    assert len(typed) == len(PUBLIC)
    assert [name for name in dir(parallel_nono) if not name.startswith("_")] == sorted(PUBLIC)


def test_importing_the_library_imports_nothing_heavy() -> None:
    program = "import sys, parallel_nono as p; dir(p); print(*[m for m in sys.modules if m.startswith(p.__name__)])"
    assert python(program).split() == ["parallel_nono"]
    assert python("import sys\nfrom parallel_nono import Puzzle, check\nprint('numpy' in sys.modules)") == "False\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "first", ["solver.pipeline", "checker.fast", "generator.manifest", "files.reading", "batch", "cli"]
)
def test_the_names_mean_the_same_whatever_was_imported_first(first: str) -> None:
    program = f"import parallel_nono.{first}\nfrom parallel_nono import *\n"
    assert python(program + "print(*map(callable, (solve, check, read, generate)))") == "True True True True\n"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'solv'"):
        parallel_nono.solv  # noqa: B018


# Help.


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_has_an_example_and_it_is_right(name: str) -> None:
    thing = getattr(parallel_nono, name)
    found = doctest.DocTestFinder().find(thing, name, globs={})
    assert any(test.examples for test in found), f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    told: list[str] = []
    for test in found:
        runner.run(test, out=told.append)
    assert not runner.failures, "".join(told)


def test_the_example_of_the_package_is_right() -> None:
    assert doctest.testmod(parallel_nono).failed == 0


@pytest.mark.parametrize("name", DOCUMENTED)
def test_help_shows_the_real_thing(name: str) -> None:
    thing = getattr(parallel_nono, name)
    text = pydoc.plain(pydoc.render_doc(thing))
    assert thing.__doc__.split("\n")[0] in text
    if inspect.isfunction(thing):
        assert all(parameter in text for parameter in inspect.signature(thing).parameters)
        assert "args" not in inspect.signature(thing).parameters
        assert all(p.annotation is not p.empty for p in inspect.signature(thing).parameters.values())


def test_help_of_the_package_lists_its_functions() -> None:
    text = pydoc.plain(pydoc.render_doc(parallel_nono))
    assert all(f"{name}(" in text for name in ("solve", "solutions", "count", "check", "read", "write", "generate"))


def test_type_checkers_are_told_that_the_package_is_typed() -> None:
    assert (ROOT / "py.typed").exists()
    assert "include parallel_nono/py.typed\n" in (ROOT.parent / "MANIFEST.in").read_text(encoding="utf-8")


# Puzzles.


@given(strategies.puzzles(most=5, max_colours=4))
def test_the_repr_of_a_puzzle_makes_it_again(puzzle: Puzzle) -> None:
    assert eval(repr(puzzle), {"Puzzle": Puzzle, "Colour": Colour}) == puzzle


def test_clues_are_lists_of_lengths_pairs_and_question_marks() -> None:
    puzzle = Puzzle.of_clues(
        rows=[0, [], [0], 2, [1, 1], "?", [1, "?"], Block(3)], columns=[[(2, 1), ("?", 2)], Block(1, 2)]
    )
    assert puzzle.rows == (
        *[()] * 3,
        (Block(2),),
        (Block(1), Block(1)),
        (Block(0),),
        (Block(1), Block(0)),
        (Block(3),),
    )
    assert puzzle.columns == ((Block(2, 1), Block(0, 2)), (Block(1, 2),))
    assert [colour.name for colour in puzzle.palette] == ["white", "black", "red"]


@pytest.mark.parametrize(
    ("clue", "found"),
    [([2, 0], "0"), (-1, "-1"), ("x", "'x'"), ([None], "None"), ([(1, 2, 3)], r"\(1, 2, 3\)"), (2.5, "2.5")],
)
def test_a_clue_that_is_none_is_named_with_its_line(clue: object, found: str) -> None:
    with pytest.raises(InvalidPuzzle, match=f'^column 2: expected a length from 1, "\\?" or .*, found {found}$'):
        Puzzle.of_clues(rows=[1, 1], columns=[1, clue])  # type: ignore[list-item]


def test_rows_of_a_grid_are_equally_long() -> None:
    with pytest.raises(InvalidPuzzle, match="row 2: expected 2 cells as in row 1, found 1"):
        Puzzle.of_grid([[1, 0], [1]])


def test_a_text_is_one_puzzle() -> None:
    assert Puzzle.of_text("3 3\n2\n1\n3\n3\n1 1\n1\n", "nin") == Puzzle.of_clues(HOOK.rows, HOOK.columns)
    with pytest.raises(InvalidPuzzle, match="expected one puzzle, found several"):
        Puzzle.of_text("3x3:2/1/3/3/1.1/1\n3x3:2/1/3/3/1.1/1\n")
    with pytest.raises(InvalidPuzzle, match="expected a known format"):
        Puzzle.of_text("what is this")


def test_a_picture_is_a_path_bytes_or_an_image(tmp_path: Path) -> None:
    image = Image.new("RGB", (3, 3), "white")
    for row, cells in enumerate(HOOK_GRID):
        for column, cell in enumerate(cells):
            if cell:
                image.putpixel((column, row), (0, 0, 0))
    file = tmp_path / "hook.png"
    image.save(file)
    data = io.BytesIO()
    image.save(data, "GIF")
    made = [Puzzle.of_picture(picture) for picture in (image, file, str(file), data.getvalue())]
    assert {(puzzle.rows, puzzle.goal) for puzzle in made} == {(HOOK.rows, HOOK_GRID)}
    assert made[1].name == "hook"
    assert Puzzle.of_picture(image, size=2).width == 2
    with pytest.raises(InvalidPuzzle, match="expected a picture"):
        Puzzle.of_picture(b"what is this")


# Files.


@pytest.mark.parametrize("name", ["a.non", "a.json", "a.parquet", "a.sgt"])
def test_what_is_written_can_be_read(name: str, tmp_path: Path) -> None:
    puzzles = [generate("blobs", 5, 7, seed) for seed in range(2)]
    write(puzzles, tmp_path / name)
    assert [puzzle.digest for puzzle in read(tmp_path / name)] == [puzzle.digest for puzzle in puzzles]
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a", "a.xyz", "a.non.gz"])
def test_a_name_that_says_no_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidPuzzle, match="expected a name that ends like a format that can be written"):
        write(HOOK, tmp_path / name)
    if name == "a":
        write(HOOK, tmp_path / name, "non")
        assert [puzzle.digest for puzzle in read(tmp_path / name)] == [HOOK.digest]


def test_errors_of_reading_are_raised_or_given_out_in_their_place() -> None:
    data = b"3x3:2/1/3/3/1.1/1\n3x3:2/1/3\n3x3:2/1/3/3/1.1/1\n"
    assert [isinstance(item, Puzzle) for item in read(data, errors="yield")] == [True, False, True]
    with pytest.raises(InvalidPuzzle):
        list(read(data))


# Solutions.


@settings(max_examples=30)
@given(strategies.puzzles(most=4))
def test_solutions_are_those_of_the_oracle_each_once(puzzle: Puzzle) -> None:
    found = list(solutions(puzzle))
    assert len(found) == len(set(found))
    assert set(found) == set(oracles.solutions(puzzle))
    assert count(puzzle) == SolutionCount(len(found), True)


def test_solutions_are_searched_for_as_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def solve_one(puzzle: Puzzle, limits: Limits) -> parallel_nono.Result:
        asked.append(limits.solutions)
        return solve(puzzle, limits)

    monkeypatch.setattr(several, "solve_one", solve_one)
    found = solutions(ones(12))
    assert asked == []
    assert len(set(islice(found, 2))) == 2
    assert asked == [2]
    assert len(set(islice(found, 40))) == 40
    assert asked == [2, 8, 32, 128]


def test_solutions_say_when_the_time_is_over() -> None:
    found: list[parallel_nono.Grid] = []
    with pytest.raises(OutOfTime, match=r"solutions, and perhaps more: 0.2 s are over"):
        found.extend(solutions(ones(40), Limits(seconds=0.2)))
    assert len(found) == len(set(found))


def test_solutions_say_when_the_plan_is_over_and_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unfinished, match="0 solutions, and perhaps more: the plan has nothing more to try"):
        list(solutions(ones(3), Limits(plan=Plan(("line", "probe")))))
    monkeypatch.setattr(several, "MAX_KEPT", 20)
    found = solutions(ones(4))
    assert len(list(islice(found, 20))) == 20
    with pytest.raises(Unfinished, match="no more than 20 can be kept; `count` counts them"):
        next(found)


def test_a_count_is_exact_or_says_that_it_is_not() -> None:
    assert count(ones(6)) == (720, True)
    assert count(ones(6), cap=100) == (100, False)
    assert count(Puzzle.of_clues(rows=[1], columns=[0, 0])) == (0, True)
    assert count(ones(3), limits=Limits(plan=Plan(("line",)))) == (0, False)
    assert not count(ones(30), limits=Limits(seconds=0.2)).exact
    with pytest.raises(ValueError, match="expected a cap from 1, found 0"):
        count(HOOK, cap=0)


# Notebooks.


def test_a_notebook_shows_the_clues_of_a_puzzle() -> None:
    picture = HOOK._repr_svg_()
    assert picture is not None
    assert picture.startswith("<svg ")
    assert re.findall(r"<text [^>]*>(\d+)</text>", picture) == ["2", "1", "3", "3", "1", "1", "1"]
    assert HOOK._repr_html_() == f"<figure>{picture}<figcaption>hook, 3 x 3</figcaption></figure>"


def test_a_notebook_shows_the_solution_and_what_was_found_out() -> None:
    result = solve(HOOK)
    picture = result._repr_svg_()
    assert picture is not None
    assert picture != HOOK._repr_svg_()
    caption = result._repr_html_().partition("<figcaption>")[2]
    assert re.match(r"hook, 3 x 3: unique, stage line, difficulty 1\.\d of 10, lines alone, [\d.]+ .?s</fig", caption)


def test_a_notebook_marks_where_two_solutions_differ_and_what_is_open() -> None:
    several_of_them = solve(ones(3))
    assert "#ff00ff" in str(several_of_them._repr_svg_())
    assert ": multiple, at least 2 solutions, stage search, " in several_of_them._repr_html_()
    stuck = solve(ones(3), Limits(plan=Plan(("line",))))
    assert ": stalled, 9 cells open, stage line, " in stuck._repr_html_()


def test_what_is_too_large_for_a_notebook_is_a_caption() -> None:
    large = Puzzle.of_clues(rows=[0] * 300, columns=[0] * 300)
    assert large._repr_svg_() is None
    assert large._repr_html_() == "<figure><figcaption>300 x 300</figcaption></figure>"


def test_names_are_text_in_a_notebook() -> None:
    html = Puzzle.of_clues(rows=[1], columns=[1], name="<script>alert(1)</script>")._repr_html_()
    assert "<script" not in html


def test_a_verdict_is_true_for_a_right_grid() -> None:
    assert check(HOOK, HOOK_GRID)
    assert not check(HOOK, HOOK_GRID[::-1])
