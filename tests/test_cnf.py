"""Puzzles as clauses: the plain encoding against its rules spelled out, DIMACS files, solutions of solvers."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from oracles import solutions
from pysat.solvers import Solver
from strategies import blotted_puzzles, puzzles, puzzles_of_grids
from test_cli import CROSSED, HOOK, pnono

from parallel_nono.attempt import Limits, Plan
from parallel_nono.checker import check
from parallel_nono.files.reading import read_many
from parallel_nono.generator import generate
from parallel_nono.kernels.encode import TRUE
from parallel_nono.kernels.plain_cnf import N_KINDS, RULE_1, RULE_2, RULE_3, RULE_5, VARIABLES
from parallel_nono.puzzle import Block, Grid, InvalidPuzzle, Puzzle, letter
from parallel_nono.puzzleset import clues_of, set_of
from parallel_nono.solver import formula as formula_module
from parallel_nono.solver import plain_cnf, solve_set
from parallel_nono.solver.dimacs import (
    SATISFIABLE,
    UNKNOWN,
    UNSATISFIABLE,
    Explained,
    InvalidOutput,
    dimacs,
    grid_of,
    order_formula,
    plain_formula,
    read_output,
)
from parallel_nono.solver.plain_cnf import TooLarge, plain_counts, plain_problem
from parallel_nono.solver.sat import Decision, Problem, decide

Literal = tuple[bool, tuple]  # (positive, what the variable says)

HOOK_PUZZLE = Puzzle.of_grid(((1, 1, 0), (1, 0, 0), (1, 1, 1)), name="hook", source="hook.non")
CROSSED_PUZZLE = Puzzle(((Block(1),),) * 2, ((Block(1),),) * 2, name="crossed", source="crossed.non")


def spelled_out(puzzle: Puzzle) -> tuple[dict[tuple, int], Counter[frozenset[Literal]]]:
    """The variables in their order, and the clauses of the five rules, written down as slowly as they read."""
    inks = range(1, puzzle.n_colours)
    cells = [("cell", r, c, i) for r in range(puzzle.height) for c in range(puzzle.width) for i in inks]
    starts: list[tuple] = []
    clauses: list[list[Literal]] = []
    lines = [(clue, [(r, c) for c in range(puzzle.width)]) for r, clue in enumerate(puzzle.rows)]
    lines += [(clue, [(r, c) for r in range(puzzle.height)]) for c, clue in enumerate(puzzle.columns)]
    for line, (clue, places) in enumerate(lines):
        gaps = [one.colour == other.colour for one, other in pairwise(clue)]
        spare = len(places) - sum(block.length for block in clue) - sum(gaps)
        blocks = []
        for j, block in enumerate(clue):
            first = sum(b.length for b in clue[:j]) + sum(gaps[:j])
            blocks.append([("start", line, j, s) for s in range(first, first + spare + 1)])
            starts += blocks[-1]
            clauses.append([(True, start) for start in blocks[-1]])
            clauses += [[(False, one), (False, other)] for one, other in combinations(blocks[-1], 2)]
            clauses += [
                [(False, start), (True, ("cell", *places[c], block.colour))]
                for start in blocks[-1]
                for c in range(start[3], start[3] + block.length)
            ]
        for (one, mine), (other, theirs) in combinations(zip(clue, blocks, strict=True), 2):
            apart = one.length + (one.colour == other.colour)
            clauses += [[(False, a), (False, b)] for a in mine for b in theirs if b[3] < a[3] + apart]
        for c, place in enumerate(places):
            for ink in inks:
                covers = [
                    (True, start)
                    for block, mine in zip(clue, blocks, strict=True)
                    if block.colour == ink
                    for start in mine
                    if start[3] <= c < start[3] + block.length
                ]
                clauses.append([(False, ("cell", *place, ink)), *covers])
                if not clue:
                    clauses.append([(False, ("cell", *place, ink))])
    numbers = {name: number for number, name in enumerate(cells + starts, start=1)}
    return numbers, Counter(map(frozenset, clauses))


def as_lists(clauses: np.ndarray) -> Iterator[list[int]]:
    clause: list[int] = []
    for literal in clauses.tolist():
        if literal == 0:
            yield clause
            clause = []
        else:
            clause.append(literal)
    assert not clause


def models(formula: Explained) -> Iterator[list[int]]:
    """Every solution as a solver finds them, each excluded by all of its cells."""
    with Solver(name="minisat22", bootstrap_with=as_lists(formula.clauses)) as solver:
        while solver.solve():
            model = solver.get_model()
            yield model + list(range(len(model) + 1, formula.n_variables + 1))
            cells = set(np.abs(formula.cells).ravel().tolist()) - {TRUE}
            solver.add_clause([-model[v - 1] for v in cells])


def values_of(formula: Explained, model: list[int]) -> np.ndarray:
    return read_output([f"v {' '.join(map(str, model))} 0"], "test", formula.n_variables).values


@hypothesis_settings(max_examples=40)
@given(puzzles(most=5, max_colours=4))
def test_the_clauses_are_those_of_the_five_rules(puzzle: Puzzle) -> None:
    numbers, expected = spelled_out(puzzle)
    formula = plain_formula(puzzle)
    names = {number: name for name, number in numbers.items()}
    found = Counter(frozenset((lit > 0, names[abs(lit)]) for lit in clause) for clause in as_lists(formula.clauses))
    assert found == expected
    assert formula.n_variables == len(numbers)
    assert sum(formula.kinds.values()) == formula.n_clauses == expected.total()


@hypothesis_settings(max_examples=60)
@given(puzzles(most=4, max_colours=4), st.sampled_from([plain_formula, order_formula]), st.booleans())
def test_the_formula_has_the_solutions_of_the_puzzle_and_no_others(
    puzzle: Puzzle, encoded: Callable[..., Explained], lines: bool
) -> None:
    known = solve_set(set_of([puzzle]), Limits(plan=Plan(("line",)))).cells[0] if lines else None
    formula = encoded(puzzle, known)
    found = [grid_of(formula, values_of(formula, model), "test") for model in models(formula)]
    assert sorted(found) == sorted(solutions(puzzle))


@hypothesis_settings(max_examples=60)
@given(st.one_of(puzzles_of_grids(most=3, max_colours=3), blotted_puzzles(most=3, max_colours=3)))
def test_solutions_excluded_one_by_one_are_all_solutions(puzzle: Puzzle) -> None:
    formula = order_formula(puzzle) if puzzle.has_blots else plain_formula(puzzle)
    found: list[Grid] = []
    while (model := next(models(formula), None)) is not None:
        found.append(grid_of(formula, values_of(formula, model), "test"))
        formula = formula.excluding(found[-1])
    assert sorted(found) == sorted(solutions(puzzle))


def decided(puzzle: Puzzle, wanted: int, known: np.ndarray | None = None, **more: Any) -> Decision:
    problem = plain_problem(clues_of(set_of([puzzle])), 0, Limits(), known)
    assert isinstance(problem, Problem)
    return decide(problem, Limits(), wanted, wanted, **{"seconds": 60, "stopped": lambda: False, **more})


def grids_in(decision: Decision, puzzle: Puzzle) -> list[Grid]:
    shape = (puzzle.height, puzzle.width)
    return sorted(tuple(map(tuple, cells.reshape(shape).tolist())) for cells in decision.solutions)


@hypothesis_settings(max_examples=50)
@given(puzzles(most=4, max_colours=3), st.booleans())
def test_the_solver_finds_every_solution(puzzle: Puzzle, lines: bool) -> None:
    known = solve_set(set_of([puzzle]), Limits(plan=Plan(("line",)))).cells[0] if lines else None
    decision = decided(puzzle, 1000, known)
    assert grids_in(decision, puzzle) == sorted(solutions(puzzle))
    assert decision.exhausted


def test_sizes_are_those_that_were_published(shared: Path) -> None:
    with (shared / "truth/sat_counts.csv").open() as file:
        truth = {row["webpbn_id"]: row for row in csv.DictReader(file)}
    paths = sorted((shared / "data/wolter_survey/sample-simpson").glob("webpbn-*.non"))
    clues = clues_of(read_many([(path.name, path.read_bytes()) for path in paths]))
    assert len(paths) == len(truth) == 28
    for place, path in enumerate(paths):
        row, counts = truth[path.stem.removeprefix("webpbn-")], plain_counts(clues, place)
        assert counts[VARIABLES] == int(row["log_vars"]), path.stem
        assert counts[:N_KINDS].sum() == int(row["log_clauses"]), path.stem
        rules = [int(row[name]) for name in ("rule1", "rule2", "rule3_all", "rule5")]
        assert counts[[RULE_1, RULE_2, RULE_3, RULE_5]].tolist() == rules, path.stem
        assert plain_cnf.plain_formula(clues, place)[0].n_clauses == int(row["log_clauses"]), path.stem


def test_a_clue_that_does_not_fit_has_no_solution() -> None:
    puzzle = Puzzle(((Block(3),),), ((), ()))
    assert [] in as_lists(plain_formula(puzzle).clauses)
    decision = decided(puzzle, 2)
    assert (decision.found, decision.exhausted) == (0, True)


def test_a_huge_formula_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    block = (Block(1),)
    puzzle = Puzzle((block,), ((),) * 19_999 + (block,))
    with pytest.raises(TooLarge, match="plain encoding of at most 268,435,456 literals"):
        plain_formula(puzzle)
    monkeypatch.setattr("parallel_nono.solver.dimacs.MAX_LITERALS", 1000)
    with pytest.raises(TooLarge, match="order encoding of at most 1,000 literals"):
        order_formula(puzzle)


def test_what_needs_too_much_memory_is_not_built() -> None:
    clues = clues_of(set_of([generate("noise", 40, 40)]))
    need = plain_problem(clues, 0, Limits(memory_mib=4))
    assert isinstance(need, int)
    assert 4 < need < 100


def test_the_solver_stops_when_it_is_told() -> None:
    puzzle = generate("domino", 37, 37)
    late = decided(puzzle, 2, seconds=0.2)
    assert (late.ending, late.exhausted) == ("late", False)
    assert decided(puzzle, 2, stopped=lambda: True).ending == "stopped"


# DIMACS


@given(puzzles(most=5, max_colours=4), st.integers(1, 50))
def test_a_dimacs_file_holds_the_clauses(puzzle: Puzzle, at_once: int) -> None:
    formula = plain_formula(puzzle)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formula_module, "NUMBERS_AT_ONCE", at_once)
        text = b"".join(dimacs(formula, "title")).decode()
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith("c")]
    assert lines[len(comments)] == f"p cnf {formula.n_variables} {formula.n_clauses}"
    clauses = [[int(word) for word in line.split()] for line in lines[len(comments) + 1 :]]
    assert [[*clause, 0] for clause in as_lists(formula.clauses)] == clauses


@given(puzzles_of_grids(most=5, max_colours=4))
def test_the_comments_tell_what_every_variable_means(puzzle: Puzzle) -> None:
    numbers, _ = spelled_out(puzzle)
    formula = plain_formula(puzzle)
    told = re.findall(
        r"^(row|column) (\d+), block (\d+) .*: (\d+) to (\d+), cell (\d+) to (\d+)$",
        "\n".join(formula.comments),
        re.MULTILINE,
    )
    found = {}
    for side, *rest in told:
        line, block, first, last, start, end = map(int, rest)
        for variable in range(first, last + 1):
            place = ("start", line - 1 + puzzle.height * (side == "column"), block - 1, start - 1 + variable - first)
            found[place] = variable
        assert last - first == end - start
    assert found == {name: number for name, number in numbers.items() if name[0] == "start"}
    for name, number in numbers.items():
        if name[0] == "cell":
            assert formula.cells[name[1:]] == number


@given(puzzles_of_grids(most=5, max_colours=4))
def test_the_comments_of_the_order_encoding_are_true_of_the_solution(puzzle: Puzzle) -> None:
    formula = order_formula(puzzle)
    text = "\n".join(formula.comments)
    values = values_of(formula, next(models(formula)))
    grid = grid_of(formula, values, "test")
    told: set[int] = set()
    for row, cells in re.findall(r"^row (\d+): (.*)$", text, re.MULTILINE):
        for cell in cells.split(", "):
            column, *colours = cell.split()
            shown = letter(grid[int(row) - 1][int(column) - 1], puzzle.n_colours)
            for literal, _, colour in (word.partition(":") for word in colours):
                told.add(abs(int(literal)))
                assert (values[abs(int(literal))] * int(literal) > 0) == (colour == shown)
    lines = {f"row {r}": row for r, row in enumerate(grid, start=1)}
    lines |= {f"column {c}": column for c, column in enumerate(zip(*grid, strict=True), start=1)}
    for line, block, places in re.findall(r"^(\w+ \d+), block (\d+) \(\w+\): (.*)$", text, re.MULTILINE):
        for variable, cell in (map(int, word.split(":")) for word in places.split()):
            told.add(variable)
            start = sum(map(len, shown_runs(lines[line])[: 2 * int(block) - 1]))
            assert (values[variable] > 0) == (start < cell)
    assert told == set(range(1, formula.n_variables + 1))


def shown_runs(cells: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The runs of a line by turns: background (it may be none), ink, background, ..."""
    parts: list[tuple[int, ...]] = [()]
    for cell in cells:
        if cell and (len(parts) % 2 or parts[-1][-1] != cell):
            parts += [()] if len(parts) % 2 else [(), ()]
        elif not cell and len(parts) % 2 == 0:
            parts.append(())
        parts[-1] += (cell,)
    return parts


def test_a_name_can_not_break_out_of_its_comment() -> None:
    text = b"".join(dimacs(plain_formula(HOOK_PUZZLE), "hook\np cnf 1 1\r1 0")).decode()
    assert text.startswith("c hook p cnf 1 1 1 0\n")


# What solvers say

HOOK_VALUES = "1 2 -3 4 -5 -6 7 8 9"


@pytest.mark.parametrize(
    "text",
    [
        f"c a solver\ns SATISFIABLE\nv {HOOK_VALUES} 0\n",
        "c a solver\n\ns SATISFIABLE\nv 1 2 -3 4\nv -5 -6 7 8 9\nv 10 -11 0\n",
        f"v {HOOK_VALUES} 0\ns SATISFIABLE\nc after\n",
        f"SAT\n{HOOK_VALUES} 0\n",
        f"SATISFIABLE\r\nv {HOOK_VALUES} 0\r\n",
        f"{HOOK_VALUES} 0",
        f"|  Number of variables:  21 |\n=====\nrestarts              : 1\nSATISFIABLE\n{HOOK_VALUES} 0\n",
    ],
)
def test_what_solvers_print_is_understood(text: str) -> None:
    formula = plain_formula(HOOK_PUZZLE)
    output = read_output(text.splitlines(), "test", formula.n_variables)
    assert output.verdict == SATISFIABLE
    assert grid_of(formula, output.values, "test") == HOOK_PUZZLE.goal


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("s UNSATISFIABLE", UNSATISFIABLE),
        ("UNSAT", UNSATISFIABLE),
        ("UNSATISFIABLE", UNSATISFIABLE),
        ("s UNKNOWN", UNKNOWN),
        ("INDET", UNKNOWN),
    ],
)
def test_verdicts_without_an_solution_are_understood(text: str, verdict: str) -> None:
    assert read_output([text], "test", 21).verdict == verdict


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "test: expected `s SATISFIABLE`, `SAT` or the like, found no verdict"),
        ("s SATISFIABLE\n", "test: expected values, as `v 1 -2 0` or in the line after SAT, found none"),
        ("s SATISFIABLE\ns UNSATISFIABLE\n", "test:2: expected one verdict, found satisfiable and UNSATISFIABLE"),
        ("v 1 two 0\n", "test:1: expected a verdict, `v` or literals, found `two`"),
        ("s PERHAPS\n", "test:1: expected a verdict, `v` or literals, found `s`"),
        ("v 1 22 0\n", "test:1: expected variables from 1 to 21, found 22: is it about another formula?"),
        ("v -99999999999999 0", "test:1: expected variables from 1 to 21, found -99999999999999: is it about"),
        ("v 1 0\nv -1 0\n", "test:2: expected one value for variable 1, found both"),
        ("v ١ 0", "test:1: expected a verdict, `v` or literals, found `١`"),
    ],
)
def test_what_is_no_output_is_refused_by_line(text: str, message: str) -> None:
    with pytest.raises(InvalidOutput) as error:
        read_output(text.splitlines(), "test", 21)
    assert str(error.value).startswith(message)


@given(puzzles_of_grids(most=4, max_colours=4), st.data())
def test_an_assignment_in_part_names_a_cell(puzzle: Puzzle, data: st.DataObject) -> None:
    formula = plain_formula(puzzle)
    values = values_of(formula, next(models(formula)))
    whole = grid_of(formula, values, "test")
    forgotten = data.draw(st.integers(1, puzzle.height * puzzle.width * (puzzle.n_colours - 1)))
    values[forgotten] = 0
    row, column = map(int, np.argwhere(formula.cells == forgotten)[0][:2])
    if whole[row][column] and formula.cells[row, column, whole[row][column]] != forgotten:
        assert grid_of(formula, values, "test") == whole  # the cell has another ink, so nothing is missing
    else:
        with pytest.raises(InvalidOutput, match=rf"row {row + 1}, column {column + 1} \(variable {forgotten}\)"):
            grid_of(formula, values, "test")


def test_two_inks_in_a_cell_are_named() -> None:
    formula = plain_formula(generate("confetti", 3, 3, 1))
    with pytest.raises(InvalidOutput, match="expected one ink a cell, found two in row 1, column 1"):
        grid_of(formula, np.ones(formula.n_variables + 1, np.int8), "test")


# pnono cnf


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hook.non").write_text(HOOK)
    (tmp_path / "crossed.non").write_text(CROSSED)
    return tmp_path


def solve_file(path: Path) -> str:
    """What a SAT solver would print about a DIMACS file."""
    clauses = [line for line in path.read_text().splitlines() if line[0] not in "cp"]
    with Solver(name="minisat22", bootstrap_with=[list(map(int, line.split()[:-1])) for line in clauses]) as solver:
        if not solver.solve():
            return "s UNSATISFIABLE\n"
        return f"s SATISFIABLE\nv {' '.join(map(str, solver.get_model()))} 0\n"


def encodings() -> list[list[str]]:
    return [["--encoding", name, *lines] for name in ("plain", "order") for lines in ([], ["--lines"])]


@pytest.mark.slow
@pytest.mark.parametrize("options", encodings(), ids=" ".join)
def test_solutions_of_a_solver_are_read_back_until_there_are_none(folder: Path, options: list[str]) -> None:
    known: list[str] = []
    for turn in range(3):
        ended = pnono("cnf", "crossed.non", "--out", "c.cnf", *known, *options)
        assert ended.code == 0
        (folder / f"{turn}.out").write_text(solve_file(folder / "c.cnf"))
        ended = pnono("cnf", "crossed.non", "--solution", f"{turn}.out", *known, *options)
        if turn == 2:
            assert (ended.code, ended.out) == (
                1,
                "crossed: no solution but the 2 solutions excluded, says the solver\n",
            )
            return
        assert ended.code == 0
        assert ended.out.endswith("right: every line shows its clue\n")
        again = pnono("cnf", "crossed.non", "--solution", f"{turn}.out", "--exclude", f"{turn}.out", *options)
        assert (again.code, again.out.splitlines()[-1]) == (1, "crossed: wrong: it is one of those excluded")
        known += ["--exclude", f"{turn}.out"]


def test_the_size_is_shown(folder: Path) -> None:
    ended = pnono("cnf", "hook.non")
    assert ended.out.splitlines()[0] == "hook: plain, 21 variables, 50 clauses, 98 literals"
    assert sum(int(line.split()[0]) for line in ended.out.splitlines()[1:]) == 50


def test_the_formula_goes_to_standard_output(folder: Path) -> None:
    pnono("cnf", "hook.non", "--out", "hook.cnf")
    assert pnono("cnf", "hook.non", "--out", "-").out == (folder / "hook.cnf").read_text()


def test_the_log_has_the_lines_of_apsnono(folder: Path) -> None:
    ended = pnono("cnf", "hook.non", "--log")
    assert re.fullmatch(
        r"======== hook\.non ========\nStart read data\.\n7 lines were read\nSolver started\.\n"
        r"vars = 21 Clauses = 50\nSATISFIABLE\npnono finished\.\n"
        r"real    0m\d\.\d{3}s\nuser    0m\d\.\d{3}s\nsys    0m\d\.\d{3}s\n",
        ended.out,
    )
    (folder / "none.non").write_text("width 1\nheight 1\nrows\n1\ncolumns\n0\n")
    ended = pnono("cnf", "none.non", "--log")
    assert (ended.code, "UNSATISFIABLE" in ended.out) == (1, True)
    pnono("generate", "noise", "noise.non", "--height", 50, "--width", 50)
    ended = pnono("cnf", "noise.non", "--log", "--seconds", 0.01)
    assert (ended.code, "UNKNOWN" in ended.out) == (4, True)


@pytest.mark.parametrize(
    ("arguments", "text", "code", "said"),
    [
        (["--solution", "-"], "s UNKNOWN", 4, "undecided, says the solver"),
        (["--solution", "-"], "SAT\n1 2 -3 4 -5 -6 7 8 -9 0", 1, "wrong: row 3: expected 3, found 2"),
        (
            ["--solution", "-"],
            "v 1 0",
            3,
            "standard input: expected a value for every cell, found none for row 1, column 2",
        ),
        (["--solution", "-"], "hello", 3, "standard input:1: expected a verdict"),
        (["--solution", "absent.out"], "", 3, "absent.out: can't be read"),
        (["--exclude", "-"], "SAT\n1 2 -3 4 -5 -6 7 8 -9 0", 3, "found a wrong one: row 3: expected 3, found 2"),
        (["--exclude", "-"], "s UNSATISFIABLE", 3, "expected a solution, found the verdict unsatisfiable"),
        (["--out", "no/such/folder.cnf"], "", 74, "can't be written"),
        (["--out", "a", "--solution", "b"], "", 2, "expected one of --out, --solution and --log"),
        (["--log", "--lines"], "", 2, "expected the plain encoding as it stands"),
        (["--solution", "-", "--exclude", "-"], "", 2, "expected standard input for one file"),
        (["--number", "2"], "", 2, "expected a puzzle number from 1 to 1"),
    ],
)
def test_how_it_ends(folder: Path, arguments: list[str], text: str, code: int, said: str) -> None:
    ended = pnono("cnf", "hook.non", *arguments, text=text)
    assert (ended.code, said in ended.out + ended.err) == (code, True), ended


def test_a_broken_puzzle_is_one_message(folder: Path) -> None:
    (folder / "two.non").write_text(f"{HOOK}====\nwidth 2\nheight x\n")
    ended = pnono("cnf", "two.non")
    assert ended.code == 3
    assert "21 variables" in ended.out
    assert ended.err.count("expected") == 1


def test_unknown_lengths_are_refused() -> None:
    batch = set_of([HOOK_PUZZLE])
    clues = clues_of(batch)
    lengths = clues.lengths.copy()
    lengths[3] = 0
    with pytest.raises(InvalidPuzzle, match="column 1: expected blocks of known length for the plain encoding"):
        plain_counts(clues._replace(lengths=lengths), 0)


def test_the_solution_of_the_solver_obeys_the_clues_of_a_picture() -> None:
    puzzle = generate("coloured_blobs", 15, 15, 3)
    assert check(puzzle, grids_in(decided(puzzle, 1), puzzle)[0])
