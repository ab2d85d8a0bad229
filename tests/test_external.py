"""Solvers from outside: what they say is read, bounded and checked, whatever they do."""

from __future__ import annotations

import importlib.util
import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow.parquet as pq
import pytest
from console import pnono
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import grids_by_trying_all
from strategies import puzzles

from parallel_nono.attempt import Limits, Outcome
from parallel_nono.checker.plain import check
from parallel_nono.files.reading import read
from parallel_nono.kinds.external import judged
from parallel_nono.puzzle import Block, Puzzle
from parallel_nono.solver import external
from parallel_nono.solver.external import CLAIMS, Ended, InvalidProgram, Program, Said, understood

ROOT = Path(__file__).resolve().parent.parent

HOOK = ((1, 1, 0), (1, 0, 0), (1, 1, 1))
CROSSED = ((1, 0), (0, 1)), ((0, 1), (1, 0))

ACTOR = r"""
import json, os, subprocess, sys, time
puzzle = json.load(sys.stdin)
act = puzzle["name"]
if len(puzzle["rows"]) == 3 and act != "broken":
    print("##.\n#..\n###")
else:
    one, two = "#.\n.#", ".#\n#."
    shown = {
        "one": one, "two": one + "\n\n" + two, "twice": one + "\n" + one, "wrong": "##\n..", "long": "#..\n..#",
        "short": "#.", "open": "#?\n??", "cell": "#x\nx#", "none": "verdict none", "gives up": "verdict stalled",
        "says unique": "verdict unique\n" + one, "says unique, two": "verdict unique\n" + one + "\n" + two,
        "says none, one": "verdict none\n" + one, "says several": "verdict several\n" + one,
        "says one": "verdict unique",
        "token": "#." if "RAY_AUTH_TOKEN" in os.environ else one, "code 7": "", "nothing": "what now?",
    }
    print(shown.get(act, ""), flush=True)
    if act == "raise":
        raise SystemExit("no idea about this one")
    if act == "code 7":
        sys.exit(7)
    if act == "signal":
        os.kill(os.getpid(), 9)
    if act == "eat":
        eaten = []
        while True:
            eaten.append(b"\1" * 10_000_000)
    if act == "flood":
        while True:
            print("#" * 1_000_000)
    if act == "sleep":
        time.sleep(600)
    if act == "children":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)  # left behind by an actor"])
        subprocess.run([sys.executable, "-c", "import time; time.sleep(600)  # left behind by an actor"],
                       start_new_session=True)
    if act == "leaves":
        print(one, flush=True)
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)  # left behind by an actor"])
"""

SAYS = {
    "unique": "^verdict unique$",
    "multiple": "^verdict several$",
    "contradiction": "^verdict none$",
    "stalled": "^verdict stalled$",
}

OUTCOMES = {
    "one": ("solved", ""),
    "two": ("multiple", ""),
    "twice": ("solved", ""),
    "wrong": ("wrong", "solution rejected: row 1: expected 1, found 2"),
    "long": ("wrong", "solution rejected: row 1: expected 2 cells, found 3"),
    "short": ("crashed", "actor: expected 2 rows for each solution, found 1 in all"),
    "open": ("stalled", ""),
    "cell": ("crashed", "actor: expected cells in `#x`, found 'x'"),
    "none": ("contradiction", ""),
    "gives up": ("stalled", ""),
    "says unique": ("unique", ""),
    "says unique, two": ("wrong", "says that there is one solution, and shows two that are right"),
    "says none, one": ("wrong", "says that there is no solution, and shows one that is right"),
    "says several": ("solved", ""),
    "says one": ("wrong", "says `unique`, and shows no solution"),
    "token": ("solved", ""),
    "code 7": ("timeout", ""),
    "nothing": ("crashed", "actor showed neither a solution nor a verdict: what now?"),
    "raise": ("crashed", "actor ended with exit code 1: no idea about this one"),
    "signal": ("crashed", "actor ended with signal 9"),
    "eat": ("stalled", ""),
    "flood": ("crashed", "actor wrote more than it may"),
    "sleep": ("timeout", ""),
    "children": ("timeout", ""),
    "leaves": ("solved", ""),
}


def quoted(value: Any) -> str:
    """A value as TOML; JSON is the same for texts, numbers and lists."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {quoted(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def definition(path: Path, **keys: Any) -> Path:
    path.write_text("".join(f"{key} = {quoted(value)}\n" for key, value in keys.items()))
    return path


@pytest.fixture
def actor(tmp_path: Path) -> Path:
    """The definition of a program that does what the name of the puzzle says."""
    command = ["{python}", "-c", ACTOR]
    return definition(tmp_path / "actor.toml", command=command, row="[.#?x]+", says=SAYS, exits={"timeout": [7]})


def stage(folder: Path, names: list[str]) -> Path:
    """A file of puzzles with these names, each 2 x 2 with two solutions."""
    folder.mkdir(exist_ok=True)
    texts = [f'title "{name}"\nwidth 2\nheight 2\nrows\n1\n1\ncolumns\n1\n1\n' for name in names]
    (folder / "stage.non").write_text("====\n".join(texts))
    return folder


def rows_of(out: Path) -> list[dict[str, Any]]:
    return sorted(pq.read_table(out / "rows").to_pylist(), key=lambda row: (row["source"], row["index"]))


def left_behind() -> list[psutil.Process]:
    found = psutil.process_iter(["cmdline", "status"])  # read at once: a process may end at any moment
    marked = [process for process in found if "left behind by an actor" in " ".join(process.info["cmdline"] or [])]
    return [process for process in marked if process.info["status"] != psutil.STATUS_ZOMBIE]


# What a program can do, in runs


@pytest.mark.slow
def test_whatever_a_program_does_is_a_row_and_its_chunk_mates_are_solved(actor: Path, tmp_path: Path) -> None:
    folder = stage(tmp_path / "in", list(OUTCOMES))
    limits = ("--seconds", 1.5, "--memory", 100, "--workers", 2)
    done = pnono("run", folder, "--solver", actor, *limits, "--out", "out", cwd=tmp_path, RAY_AUTH_TOKEN="secret")
    rows = rows_of(tmp_path / "out")
    assert {row["name"]: (row["outcome"], row["error"]) for row in rows} == OUTCOMES
    assert {(row["solver"], row["engine"]) for row in rows} == {("actor", "local")}
    assert "external" in done.stdout
    by_name = {row["name"]: row for row in rows}
    assert by_name["two"]["solution"] == "#./.#"
    assert by_name["two"]["second_solution"] == ".#/#."
    assert by_name["says several"]["warnings"] == "says that there are several solutions, and shows one"
    assert by_name["eat"]["witness"] == "actor took more than 100 MiB"
    assert by_name["eat"]["peak_mib"] > 100
    for name in ("sleep", "children"):
        assert 1.5 <= by_name[name]["solve_s"] < 5
        assert by_name[name]["cpu_s"] < 1
    assert not left_behind()
    for row in rows:
        if row["outcome"] in ("unique", "solved", "multiple"):
            assert row["solution"] in ("#./.#", ".#/#.")
            assert row["n_solutions"] == 1 + (row["outcome"] == "multiple")
        elif row["outcome"] not in ("wrong",):
            assert (row["solution"], row["n_solutions"]) == ("", 0)
    assert json.loads((tmp_path / "out/run.json").read_text())["solver"]["name"] == "actor"


@pytest.mark.ray
@pytest.mark.slow
def test_programs_run_in_the_workers_of_ray_as_well(actor: Path, tmp_path: Path) -> None:
    names = ["one", "wrong", "sleep", "none", "signal", "children"]
    folder = stage(tmp_path / "in", names)
    words = ("--solver", actor, "--seconds", 1.2, "--engine", "ray", "--workers", 2, "--timeline", "trace.json")
    pnono("run", folder, *words, "--out", "out", cwd=tmp_path)
    rows = rows_of(tmp_path / "out")
    assert {row["name"]: (row["outcome"], row["error"]) for row in rows} == {name: OUTCOMES[name] for name in names}
    assert {row["engine"] for row in rows} == {"ray"}
    assert not left_behind()
    events = json.loads((tmp_path / "trace.json").read_text())
    names_of = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    for worker in {row["worker"] for row in rows}:
        mine = [event for event in events if event["name"] == "solve" and names_of[event["tid"]] == worker]
        solved = [row for row in rows if row["worker"] == worker]
        assert sum(event["args"]["puzzles"] for event in mine) >= len(solved)
        assert sum(event["dur"] for event in mine) / 1e6 >= 0.99 * sum(row["solve_s"] for row in solved)


@pytest.mark.slow
def test_several_solvers_have_a_folder_each_and_resume(actor: Path, tmp_path: Path) -> None:
    folder = stage(tmp_path / "in", ["one", "two", "none"])
    words = ("run", folder, "--solver", "default", "--solver", "lines-only", "--solver", actor, "--out", "out")
    done = pnono(*words, cwd=tmp_path)
    assert done.stdout.endswith(
        "\n\n  pnono compare out/default out/lines-only\n  pnono compare out/default out/actor\n"
    )
    pnono("compare", "out/default", "out/actor", cwd=tmp_path, code=1)
    outcomes = {path.name: [row["outcome"] for row in rows_of(path)] for path in (tmp_path / "out").iterdir()}
    assert outcomes == {
        "default": ["multiple"] * 3,
        "lines-only": ["stalled"] * 3,
        "actor": ["solved", "multiple", "contradiction"],
    }
    assert {row["solver"] for row in rows_of(tmp_path / "out/lines-only")} == {"pnono lines-only"}
    names = {row["run"] for path in (tmp_path / "out").iterdir() for row in rows_of(path)}
    assert names == {"out-default", "out-lines-only", "out-actor"}
    stage(tmp_path / "in", ["one", "two", "none", "wrong"])
    pnono(*words, "--resume", cwd=tmp_path)
    assert [row["outcome"] for row in rows_of(tmp_path / "out/actor")][3:] == ["wrong"]
    actor.write_text(actor.read_text().replace("verdict none", "verdict non"))
    refused = pnono(*words, "--resume", cwd=tmp_path, code=2)
    assert "a run is resumed with the options it had: solver" in refused.stderr


@pytest.mark.slow
def test_ctrl_c_ends_a_run_and_its_program(actor: Path, tmp_path: Path) -> None:
    folder = stage(tmp_path / "in", ["one", "children", "one"])
    words = [sys.executable, "-m", "parallel_nono", "run", folder, "--solver", actor, "--out", "out", "--seconds", "60"]
    process = subprocess.Popen([*map(str, words)], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(left_behind()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"go on with" in errors
    assert time.monotonic() - began < 5
    assert not left_behind()


@pytest.mark.slow
def test_a_definition_among_the_puzzles_is_data(actor: Path, tmp_path: Path) -> None:
    """Only what the command line names is ever started."""
    folder = stage(tmp_path / "in", ["one"])
    trap = "import pathlib; pathlib.Path('sprung').touch()"
    definition(folder / "picross-solver.toml", command=["{python}", "-c", trap])
    definition(folder / "default.toml", command=["{python}", "-c", trap])
    (folder / "solvers").mkdir()
    definition(folder / "solvers/default.toml", command=["{python}", "-c", trap])
    pnono("run", ".", "--out", tmp_path / "out", cwd=folder)
    pnono("run", ".", "--solver", "default", "--out", tmp_path / "out2", cwd=folder)
    assert not list(tmp_path.rglob("sprung"))
    outcomes = {row["name"]: row["outcome"] for row in rows_of(tmp_path / "out")}
    assert outcomes["one"] == "multiple"


# What is refused before a run


@pytest.mark.slow
def test_a_program_that_is_not_there_is_said_before_the_run(tmp_path: Path) -> None:
    folder = stage(tmp_path / "in", ["one"])
    missing = definition(tmp_path / "missing.toml", command=["no-such-program"], install="apt install it")
    done = pnono("run", folder, "--solver", missing, "--out", "out", cwd=tmp_path, code=69)
    assert done.stderr == (
        "pnono: --solver: `no-such-program` can't be started: No such file or directory; to get it: apt install it\n"
    )
    liar = definition(tmp_path / "liar.toml", command=["{python}", "-c", r"print('...\n...\n...')"])
    done = pnono("run", folder, "--solver", liar, "--out", "out", cwd=tmp_path, code=69)
    assert "liar fails on a puzzle of 3 x 3: row 1: expected 2, found 0" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--solver", "nobody"), "--solver: expected a TOML file or one of clingo, "),
        (("--solver", "no/such.toml"), "--solver: no/such.toml: can't be read: No such file or directory"),
        (("--solver", "default", "--solver", "default"), "expected each solver once, found `default` twice"),
        (("--solver", "default", "--plan", "search"), "expected either --solver or --plan, found both"),
        (("--solver", "default", "--kind", "strikeout"), "expected nonograms, found the kind strikeout"),
    ],
)
def test_a_wrong_choice_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = pnono("run", stage(tmp_path / "in", ["one"]), *words, cwd=tmp_path, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "command: expected a list of words, found None"),
        ('command = "rm -rf /"', "command: expected a list of words, found 'rm -rf /'"),
        ("command = []", "command: expected a list of words, found []"),
        ('command = ["x"]\nshell = true', "expected the keys command, about, "),
        ('command = ["x"]\ninput = "file"', "command: expected a list of words, `{file}` in one of them"),
        ('command = ["x"]\ninput = "socket"', "input: expected stdin or file, found 'socket'"),
        ('command = ["x"]\nformat = "docx"', "format: expected one of "),
        ('command = ["x"]\nformat = "jap"', "format: expected one of "),
        ('command = ["x"]\nrow = "["', "row: expected a regular expression, found '['"),
        ('command = ["x"]\nstep = 0', "step: expected a whole number from 1 on, found 0"),
        ('command = ["x"]\ncolours = 1', "colours: expected true or false, found 1"),
        ('command = ["x"]\n[cells]\nx = "!"', "cells: expected a table of"),
        ('command = ["x"]\n[says]\nmaybe = "x"', "says: expected regular expressions for some of unique, "),
        ('command = ["x"]\n[says]\nunique = "("', "says: expected regular expressions for some of unique, "),
        ('command = ["x"]\n[exits]\nunique = ["0"]', "exits: expected lists of exit codes for some of unique, "),
        ('command = ["x"]\n[environment]\nA = 1', "environment: expected a table of texts"),
        ("command = [", "expected TOML, found something else"),
    ],
)
def test_a_wrong_definition_is_refused_by_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(InvalidProgram, match=re.escape(f"{path}: {message}")):
        external.load_program(path)


# Reading what programs say


def ended(output: str, errors: str = "", code: int = 0) -> Ended:
    return Ended("exited", code, output, errors, 0.0, 0.0, 0.0)


def test_cells_of_two_characters_and_other_signs_are_read() -> None:
    program = Program("x", ("x",), row=r"\|(.*)\|", step=2, cells=(("██", "#"), ("  ", "."), ("??", "?")))
    said = understood(program, ended("|████  |\n|██    |\n|██████|\nbye\n"), Puzzle.of_grid(HOOK))
    assert said == Said("", [HOOK])
    program = Program("x", ("x",), row=r"[-x ]+", drop=" ", cells=(("x", "#"), ("-", ".")))
    assert understood(program, ended("x x -\nx - -\nx x x\n"), Puzzle.of_grid(HOOK)).grids == [HOOK]


def test_inks_are_letters_and_claims_stand_on_either_stream() -> None:
    puzzle = Puzzle.of_grid(((1, 2), (0, 1)), (*external.TRIAL.palette, external.TRIAL.palette[1]._replace(char="x")))
    program = Program("x", ("x",), colours=True, row="[RB_]+", cells=(("R", "a"), ("B", "b"), ("_", ".")))
    program = replace(program, says=(("unique", "^only one"),))
    assert understood(program, ended("RB\n_R\n", "only one\n"), puzzle) == Said("unique", [((1, 2), (0, 1))])


def test_what_a_program_cannot_do_is_not_put_to_it(tmp_path: Path) -> None:
    from parallel_nono.kinds import kind
    from parallel_nono.kinds.external import with_program
    from parallel_nono.puzzleset import set_of

    colour = Puzzle.of_grid(((1, 2),), (*external.TRIAL.palette, external.TRIAL.palette[1]._replace(char="x")))
    blot = Puzzle(((Block(0, 1),),), ((Block(1, 1),),))
    program = Program("painter", ("no-such-program",))
    solved = with_program(kind("nonogram"), program).solve(set_of([colour, blot]), Limits(), np.zeros(1, np.int64))
    assert solved.columns["witness"].to_pylist() == [
        "painter does black and white only",
        "painter does no blotted clues",
    ]
    assert list(solved.columns["outcome"]) == [list(Outcome).index(Outcome.STALLED)] * 2
    solved = with_program(kind("nonogram"), replace(program, colours=True, format="sgt")).solve(
        set_of([colour]), Limits(), np.zeros(1, np.int64)
    )
    assert "sgt" in solved.columns["witness"][0].as_py() or "colour" in solved.columns["witness"][0].as_py()


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(puzzles(most=3), st.data())
def test_no_solution_counts_unless_it_obeys_the_clues(puzzle: Puzzle, data: st.DataObject) -> None:
    right = grids_by_trying_all(puzzle)
    cells = st.integers(-1, puzzle.n_colours - 1)
    row = st.tuples(*[cells] * puzzle.width)
    anything = st.tuples(*[row] * puzzle.height)
    shown = data.draw(st.lists(st.sampled_from(right) | anything if right else anything, max_size=3))
    claim = data.draw(st.sampled_from(("", *CLAIMS)))
    finding = judged(puzzle, Said(claim, shown))
    complete = {grid for grid in shown if all(-1 not in line for line in grid)}
    assert all(check(puzzle, solution) for solution in finding.solutions)
    if complete - set(right):
        assert finding.outcome == Outcome.WRONG
        assert finding.error.startswith("solution rejected: ")
    if finding.outcome in (Outcome.UNIQUE, Outcome.SOLVED):
        assert complete == set(finding.solutions)
        assert len(complete) == 1
    if finding.outcome == Outcome.MULTIPLE:
        assert len(set(finding.solutions)) == 2
        assert len(right) > 1
    if finding.outcome == Outcome.CONTRADICTION:
        assert claim == "contradiction"
    assert (finding.error != "") == (finding.outcome == Outcome.WRONG)


# The definitions that come with the package


@pytest.mark.parametrize("name", external.names())
def test_every_shipped_definition_is_understood(name: str) -> None:
    program = external.load_program(name)
    assert program.about.endswith(".")
    assert program.install
    assert program.version
    assert (ROOT / "configs/solvers" / f"{name}.toml").is_file()
    script = next((program.command[at + 1] for at, word in enumerate(program.command[:-1]) if word == "-c"), "")
    if script:
        compile(script, name, "exec")


def test_the_solvers_are_to_be_seen_in_configs() -> None:
    assert sorted(path.stem for path in (ROOT / "configs/solvers").glob("*.toml")) == external.names()


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("picross_solver"), reason="needs picross-solver (pip)")
def test_picross_solver_agrees_with_us(tmp_path: Path) -> None:
    pnono(
        "generate",
        "noise",
        "noise.sgt",
        "--count",
        12,
        "--height",
        7,
        "--width",
        8,
        "--set",
        "density=60",
        cwd=tmp_path,
    )
    (tmp_path / "none.nin").write_text("2 1\n1\n1\n1\n")
    (tmp_path / "empty.nin").write_text("3 2\n0\n1 1\n1\n0\n1\n")
    words = (
        "run",
        "noise.sgt",
        "none.nin",
        "empty.nin",
        "--solver",
        "picross-solver",
        "--solver",
        "default",
        "--out",
        "out",
    )
    pnono(*words, "--workers", 2, cwd=tmp_path)
    theirs, ours = rows_of(tmp_path / "out/picross-solver"), rows_of(tmp_path / "out/default")
    assert len(theirs) == len(ours) == 14
    all_puzzles = {
        (p.source, p.index): p for name in ("noise.sgt", "none.nin", "empty.nin") for p in read(tmp_path / name)
    }
    by_name = {(Path(source).name, index): puzzle for (source, index), puzzle in all_puzzles.items()}
    for row, our_row in zip(theirs, ours, strict=True):
        assert row["solver"].startswith("picross-solver 1.")
        assert row["digest"] == our_row["digest"]
        if our_row["outcome"] == "contradiction":
            assert row["outcome"] == "contradiction"
            continue
        assert row["outcome"] == "solved", row["error"]
        puzzle = by_name[Path(row["source"]).name, row["index"]]
        grid = [[".#".index(cell) for cell in line] for line in row["solution"].split("/")]
        assert check(puzzle, grid)
        if our_row["outcome"] == "unique":
            assert row["solution"] == our_row["solution"]
