"""The command line, as a user meets it: what it prints, how it ends, what it says of bad input."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, NamedTuple

import pytest
from hypothesis import given, settings
from oracles import solved_line
from strategies import lines
from typer.core import TyperGroup

import parallel_nono.cli
from parallel_nono import cli
from parallel_nono.attempt import OUTCOMES, Plan
from parallel_nono.cli.commands import LINES
from parallel_nono.cli.exits import MEANINGS, Code, Failure, code_of, writing
from parallel_nono.solver.plans import CHOICES, ENTRY, InvalidPlan, load_plan, racing
from parallel_nono.solver.plans import names as plan_names

ROOT = Path(parallel_nono.__file__).parent.parent

HOOK = "width 3\nheight 3\nrows\n2\n1\n3\ncolumns\n3\n1,1\n1\n"
HOOK_SOLUTION = "##./#../###"
CROSSED = "width 2\nheight 2\nrows\n1\n1\ncolumns\n1\n1\n"
NOTHING = "width 1\nheight 1\nrows\n1\ncolumns\n0\n"
STUCK = "width 4\nheight 3\nrows\n1,1\n2\n0\ncolumns\n1\n1\n1\n1\n"


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def pnono(*arguments: object, text: str | bytes = "", out: IO[str] | None = None) -> Ended:
    """Run a command in this process; its output is no terminal unless `out` is one."""
    stdin = io.TextIOWrapper(io.BytesIO(text.encode() if isinstance(text, str) else text), encoding="utf-8")
    stdout, stderr = out or io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", stdin)
        patch.setattr(sys, "stdout", stdout)
        patch.setattr(sys, "stderr", stderr)
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
    stdout.flush()
    written = stdout.buffer.getvalue().decode() if isinstance(stdout.buffer, io.BytesIO) else ""
    return Ended(int(ended.value.code or 0), written, stderr.getvalue())


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a few puzzles."""
    for name, text in (("hook.non", HOOK), ("crossed.non", CROSSED), ("nothing.non", NOTHING), ("stuck.non", STUCK)):
        (tmp_path / name).write_text(text)
    return tmp_path


# pnono line


@pytest.mark.slow
def test_every_line_of_the_truth_table_comes_out(shared: Path) -> None:
    with (shared / "truth/line_truth.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 35
    for row in rows:
        coloured = row["kind"] == "colour"
        cells = row["line"]
        result = row["result"]
        if coloured:
            masks = [int(word) for word in cells.split()]
            n_colours = max(masks).bit_length()
            cells = "".join(as_set(mask, n_colours) for mask in masks)
            if result != "IMPOSSIBLE":
                result = "".join(as_set(int(word), n_colours) for word in result.split())
        ended = pnono("line", row["clue"], cells)
        assert ended.out.strip() == result.replace("IMPOSSIBLE", "Impossible"), row
        assert ended.code == (Code.NO if result == "IMPOSSIBLE" else Code.FINE)


def as_set(mask: int, n_colours: int) -> str:
    """A cell as `pnono line` writes it in colour."""
    inks = "".join(ink for place, ink in enumerate(".abcdefgh") if mask >> place & 1)
    return "?" if mask == (1 << n_colours) - 1 else inks if len(inks) == 1 else f"[{inks}]"


@settings(max_examples=60)
@given(lines(max_cells=7, max_colours=4))
def test_a_line_keeps_exactly_what_some_layout_uses(line: tuple) -> None:
    clue, allowed, n_colours = line
    letters = ".abc"
    text = "".join(f"[{''.join(letters[c] for c in sorted(cell))}]" for cell in allowed)
    if n_colours == 2 or not all(allowed):
        return
    settled = solved_line(clue, allowed)
    ended = pnono("line", " ".join(f"{b.length}{letters[b.colour]}" for b in clue), text)
    most = max((max(cell) for cell in allowed), default=0)
    most = max(most, *(b.colour for b in clue), 1)
    expected = [as_set(sum(1 << c for c in cell), most + 1) for cell in settled or ()]
    assert ended.out.strip() == ("".join(expected) if settled else "Impossible")


@pytest.mark.parametrize(
    ("arguments", "text", "expected"),
    [
        (("3 2 5", 12), "", "XXX.XX.XXXXX"),
        (("3,2,5", "-"), "????????????\n", "XXX.XX.XXXXX"),
        (("3", "???_?.????"), "", "???...????"),
        (("", 3), "", "..."),
        (("0", 3), "", "..."),
        (("2a 3b", 5), "", "aabbb"),
        (("2a 3b", 6), "", "[.a]a?bb[.b]"),
        (("1a", "[.b][.b]?"), "", "..a"),
    ],
)
def test_a_line_can_be_said_in_several_ways(arguments: tuple, text: str, expected: str) -> None:
    assert pnono("line", *arguments, text=text) == (Code.FINE, f"{expected}\n", "")


@pytest.mark.parametrize(
    ("clue", "cells", "found"),
    [
        ("3 x", "????", "`x`"),
        ("3 ??", "????", "`??`"),
        ("3a 2", "????", "`3a 2`"),
        ("3 0", "????", "`3 0`"),
        ("3", "??z?", "cell 3"),
        ("3a", "??X?", "cell 3"),
        ("3a", "?[]?", "cell 2"),
        ("3a", "?[.", "cell 2"),
        ("3", "", "found none"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(clue: str, cells: str, found: str) -> None:
    ended = pnono("line", clue, cells)
    assert ended.code == Code.USAGE
    assert found in ended.err
    assert ended.err.count("\n") == 1


# pnono solve


def test_the_solution_of_a_puzzle_is_shown_with_its_verdict(files: Path) -> None:
    ended = pnono("solve", files / "hook.non")
    assert ended.code == Code.FINE
    assert ended.out.split("\n")[1:6] == ["    1", "  3 1 1", "2 # # .", "1 # . .", "3 # # #"]
    assert "Unique: this is the only solution; lines alone decide it." in ended.out
    assert "stage line" in ended.out


def test_both_solutions_are_shown_with_their_differences_marked(files: Path) -> None:
    ended = pnono("solve", files / "crossed.non")
    assert ended.code == Code.NO
    pictures = re.findall(r"solution \d:\n.*\n1 (.*)\n1 (.*)\n", ended.out)
    assert set(pictures) == {(".*#*", "#*.*"), ("#*.*", ".*#*")}
    assert re.search(r"Ambiguous: (exactly|at least) 2 solutions; those shown differ in 4 cells", ended.out)


def test_a_contradiction_is_no(files: Path) -> None:
    ended = pnono("solve", files / "nothing.non")
    assert ended.code == Code.NO
    assert "Contradiction: no solution obeys the clues" in ended.out


def test_what_lines_leave_open_is_no_verdict(files: Path) -> None:
    ended = pnono("solve", files / "stuck.non", "--plan", "lines-only")
    assert ended.code == Code.UNDECIDED
    assert "Stalled: the plan ends with 8 cells open" in ended.out
    assert ended.out.count("?") == 8


def test_one_solution_does_not_ask_for_uniqueness(files: Path) -> None:
    ended = pnono("solve", files / "crossed.non", "--solutions", 1)
    assert ended.code == Code.FINE
    assert "Solved: this solution obeys the clues; whether it is the only one was not asked" in ended.out


def test_solutions_are_counted_up_to_a_cap(tmp_path: Path) -> None:
    ones = tmp_path / "ones.non"
    ones.write_text("width 3\nheight 3\nrows\n1\n1\n1\ncolumns\n1\n1\n1\n")
    assert "exactly 6 solutions" in pnono("solve", ones, "--count", 100).out
    assert "at least 4 solutions" in pnono("solve", ones, "--count", 4).out
    assert pnono("solve", ones, "--solutions", 6, "--no-clues").out.count("solution ") >= 6


def test_json_carries_solutions_and_counts(files: Path) -> None:
    ended = pnono("solve", files / "crossed.non", "--json")
    row = json.loads(ended.out)
    assert ended.code == Code.NO
    assert sorted(row["solutions"]) == ["#./.#", ".#/#."]
    assert (row["outcome"], row["height"], row["width"], row["n_solutions"]) == ("multiple", 2, 2, 2)


def test_a_puzzle_comes_through_standard_input() -> None:
    ended = pnono("solve", "-", "--json", text=HOOK)
    assert json.loads(ended.out)["solution"] == HOOK_SOLUTION


@pytest.mark.slow
def test_colours_are_for_terminals_unless_told_otherwise(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    hook = files / "hook.non"
    assert "\x1b[" not in pnono("solve", hook).out
    assert "\x1b[38;2;" in pnono("solve", hook, "--colour", "always").out
    assert "\x1b[38;2;" in in_terminal("solve", hook)
    assert "\x1b[" not in in_terminal("solve", hook, "--colour", "never")
    assert "\x1b[" not in in_terminal("solve", hook, NO_COLOR="1")
    assert "\x1b[" not in in_terminal("solve", hook, TERM="dumb")


@pytest.mark.slow
@pytest.mark.parametrize("module", ["colorama", "pandas"])
def test_what_libraries_would_import_if_it_is_there_is_not_imported(module: str, files: Path) -> None:
    (files / f"{module}.py").write_text("import atexit\natexit.register(print, 'here I am')\n")
    environment = {**os.environ, "PYTHONPATH": str(files)}
    said = [
        subprocess.run([sys.executable, *words], env=environment, capture_output=True, check=True).stdout
        for words in (["-c", f"import {module}"], ["-m", "parallel_nono", "solve", files / "hook.non"])
    ]
    assert [b"here I am" in each for each in said] == [True, False]


def in_terminal(*arguments: object, **environment: str) -> str:
    """What a command writes into a pseudo-terminal of 80 columns."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "parallel_nono", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, cwd=ROOT, env={**os.environ, **environment}) as process:
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 1 << 16)
            except OSError:  # how Linux says that the other end is closed
                break
            if not chunk:
                break
            chunks.append(chunk)
        process.wait()
    os.close(ours)
    return b"".join(chunks).decode()


def test_a_name_in_a_file_cannot_command_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "evil.non"
    file.write_text('title "\x1b[2Jhello"\n' + HOOK)
    ended = pnono("solve", file)
    assert "\x1b" not in ended.out + ended.err


# pnono check


@pytest.mark.parametrize("way", ["argument", "file", "stdin"])
def test_a_right_solution_is_right_however_it_comes(files: Path, way: str) -> None:
    rows = HOOK_SOLUTION.replace("/", "\n")
    (files / "solution.txt").write_text(rows + "\n")
    given_as = {"argument": HOOK_SOLUTION, "file": files / "solution.txt", "stdin": "-"}[way]
    ended = pnono("check", files / "hook.non", given_as, text=rows)
    assert ended.code == Code.FINE
    assert "right: every line shows its clue" in ended.out


def test_a_wrong_solution_is_named_by_its_line(files: Path) -> None:
    ended = pnono("check", files / "hook.non", "##./##./###")
    assert ended.code == Code.NO
    assert "wrong: row 2: expected 1, found 2" in ended.out


@pytest.mark.parametrize(
    ("solution", "message"),
    [("##./#x./###", "expected a file, or rows"), ("no-such-file", "expected a file, or rows")],
)
def test_an_solution_that_is_none_is_refused(files: Path, solution: str, message: str) -> None:
    ended = pnono("check", files / "hook.non", solution)
    assert ended.code == Code.INVALID
    assert message in ended.err


def test_an_solution_of_another_size_is_wrong(files: Path) -> None:
    assert "wrong: expected 3 rows, found 2" in pnono("check", files / "hook.non", "##./#..").out


def test_a_puzzle_without_goal_has_nothing_to_check(files: Path) -> None:
    ended = pnono("check", files / "hook.non")
    assert ended.code == Code.NO
    assert "no goal" in ended.out


def test_what_the_solver_finds_the_checker_accepts(files: Path) -> None:
    solution = json.loads(pnono("solve", files / "hook.non", "--json").out)["solution"]
    assert pnono("check", files / "hook.non", "-", text=solution).code == Code.FINE


# pnono convert, generate, formats, pack, unpack


def test_a_converted_puzzle_is_the_same_puzzle(files: Path) -> None:
    assert pnono("convert", files / "hook.non", files / "hook.nin").code == Code.FINE
    ended = pnono("convert", files / "hook.nin", "-", "--to", "taai")
    assert ended.out.split() == ["$1", "3", "1", "1", "1", "2", "1", "3"]


def test_a_folder_takes_one_file_for_each_puzzle(files: Path) -> None:
    assert pnono("generate", "noise", files / "set.sgt", "--count", 3, "--height", 4, "--width", 4).code == Code.FINE
    assert pnono("convert", files / "set.sgt", f"{files}/out/", "--to", "nin").code == Code.FINE
    assert sorted(path.name for path in (files / "out").iterdir()) == [
        "set-0001.nin",
        "set-0002.nin",
        "set-0003.nin",
    ]


def test_a_format_without_room_for_several_refuses_by_name(files: Path) -> None:
    pnono("generate", "noise", files / "set.sgt", "--count", 3)
    ended = pnono("convert", files / "set.sgt", files / "set.nin")
    assert ended.code == Code.INVALID
    assert "one puzzle a file, found 3" in ended.err
    assert not (files / "set.nin").exists()


def test_a_format_without_colours_refuses_by_name(files: Path) -> None:
    pnono("generate", "patches", files / "colours.non", "--height", 5, "--width", 5)
    ended = pnono("convert", files / "colours.non", files / "colours.nin")
    assert ended.code == Code.INVALID
    assert ".nin" in ended.err
    assert not (files / "colours.nin").exists()


def test_broken_puzzles_are_named_and_the_others_converted(files: Path) -> None:
    (files / "set.sgt").write_text("2x2:1/1/1/1\n2x2:1/1/1\n1x1:1/1\n")
    ended = pnono("convert", files / "set.sgt", "-", "--to", "sgt")
    assert ended.code == Code.INVALID
    assert ended.out.split() == ["2x2:1/1/1/1", "1x1:1/1"]
    assert f"{files}/set.sgt:2: expected" in ended.err


def test_a_file_is_not_converted_into_itself(files: Path) -> None:
    ended = pnono("convert", files / "hook.non", files / "hook.non")
    assert ended.code == Code.USAGE
    assert (files / "hook.non").read_text() == HOOK


def test_a_device_is_written_not_replaced() -> None:
    ended = pnono("convert", "-", "/dev/null", "--to", "nin", text=HOOK)
    assert ended.code == Code.FINE
    assert not Path("/dev/null").is_file()


def test_a_packed_set_gives_its_puzzles_back(files: Path) -> None:
    pnono("generate", "patches", files / "colours.json", "--count", 3, "--height", 5, "--width", 5)
    packed = pnono("pack", files / "colours.json", files / "hook.non", files / "all.parquet")
    assert (packed.code, packed.out) == (Code.FINE, f"4 puzzles in {files}/all.parquet\n")
    again = pnono("pack", files / "all.parquet", files / "again.parquet")
    assert again.code == Code.FINE
    assert pnono("unpack", files / "all.parquet", "-", "--to", "json") == pnono(
        "unpack", files / "again.parquet", "-", "--to", "json"
    )
    unpacked = json.loads(pnono("unpack", files / "again.parquet", "-", "--to", "json").out)
    assert pnono("check", files / "again.parquet", "--number", 1).code == Code.FINE
    assert len(unpacked["puzzles"] if isinstance(unpacked, dict) else unpacked) == 4


def test_an_unreadable_puzzle_is_packed_as_its_error(files: Path) -> None:
    (files / "set.sgt").write_text("1x1:1/1\n2x:1\n")
    (files / "broken.parquet").write_bytes(b"PAR1 and nothing more")
    ended = pnono("pack", files / "set.sgt", files / "broken.parquet", files / "out.parquet")
    assert ended.code == Code.INVALID
    assert "3 puzzles in" in ended.out
    assert "2 of them unreadable" in ended.out
    unpacked = pnono("unpack", files / "out.parquet", "-", "--to", "sgt")
    assert (unpacked.code, unpacked.out) == (Code.INVALID, "1x1:1/1\n")
    assert "set.sgt:2: expected" in unpacked.err


def test_a_set_is_not_packed_into_itself_nor_over_a_device(files: Path) -> None:
    pnono("pack", files / "hook.non", files / "out.parquet")
    before = (files / "out.parquet").read_bytes()
    assert pnono("pack", files / "out.parquet", files / "out.parquet").code == Code.USAGE
    assert (files / "out.parquet").read_bytes() == before
    assert pnono("pack", files / "hook.non", "/dev/null").code == Code.UNWRITABLE
    assert not Path("/dev/null").is_file()


def test_the_manifest_makes_its_files(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.toml"
    manifest.write_text(
        '[[file]]\nname = "a.sgt"\nformat = "sgt"\n'
        'puzzles = [{ kind = "noise", height = 4, width = 4, seeds = "1-3" }]\n'
    )
    ended = pnono("generate", "--manifest", manifest, "--out", tmp_path / "made")
    assert (ended.code, ended.out) == (Code.FINE, f"1 file in {tmp_path}/made\n")
    assert len((tmp_path / "made/a.sgt").read_text().splitlines()) == 3
    manifest.write_text("[[file]]\n")
    assert pnono("generate", "--manifest", manifest).code == Code.USAGE


def test_the_same_seed_makes_the_same_bytes() -> None:
    arguments = ("generate", "blobs", "-", "--to", "sgt", "--count", 3, "--seed", 7, "--set", "density=40")
    once = pnono(*arguments)
    assert once.code == Code.FINE
    assert pnono(*arguments) == once
    assert len(once.out.splitlines()) == 3


def test_without_a_kind_the_kinds_are_listed() -> None:
    ended = pnono("generate")
    assert ended.code == Code.FINE
    assert {"noise", "blobs", "domino"} <= {line.split()[0] for line in ended.out.splitlines()}


@pytest.mark.parametrize("arguments", [("nope",), ("noise", "-", "--set", "a=1"), ("noise", "-", "--set", "density")])
def test_an_unknown_kind_or_option_is_refused(arguments: tuple[str, ...]) -> None:
    ended = pnono("generate", *arguments)
    assert ended.code == Code.USAGE
    assert ended.err.count("\n") == 1


def test_every_format_is_listed() -> None:
    from parallel_nono.formats import FORMATS

    ended = pnono("formats")
    assert ended.code == Code.FINE
    assert {form.name for form in FORMATS} <= {line.split()[0] for line in ended.out.splitlines()}


# many solutions


def test_all_solutions_go_to_a_file_and_what_they_share_is_shown(files: Path) -> None:
    three = files / "three.non"
    three.write_text("width 3\nheight 5\n\nrows\n1\n1\n1\n0\n3\n\ncolumns\n1,1\n1,1\n1,1\n")
    out = files / "solutions.txt"
    ended = pnono("solve", three, "--solutions", "10", "--solutions-to", out)
    assert "common to these" in ended.out
    lines = out.read_text().splitlines()
    assert lines[0] == "# three: exactly 6"
    document = json.loads(pnono("solve", three, "--solutions", "10", "--json").out)
    assert set(lines[1:]) == set(document["solutions"])
    assert len(lines) - 1 == document["n_solutions"] == 6
    assert document["common"] == "???/???/???/.../###"
    for place, cell in enumerate(document["common"]):
        assert {solution[place] for solution in document["solutions"]} == {cell} or cell == "?"


def test_solutions_that_cannot_be_written_are_one_message(files: Path) -> None:
    ended = pnono("solve", files / "stuck.non", "--solutions-to", files / "no" / "such.txt")
    assert ended.code == Code.UNWRITABLE
    assert "such.txt: can't be written: No such file or directory" in ended.err


def test_a_timeout_says_the_time_that_it_took_not_the_limit() -> None:
    from parallel_nono.attempt import Outcome, Result
    from parallel_nono.cli.solve import verdict
    from parallel_nono.puzzle import Puzzle

    puzzle = Puzzle.of_clues(rows=[1, 1], columns=[1, 1])
    seconds = {"solve_s": 0.4826}
    result = Result(Outcome.TIMEOUT, "sat", (), 0, False, ((-1, 0), (0, -1)), "", {}, seconds, puzzle)
    assert verdict(result, 0) == "Timeout: 2 cells open after 483 ms; that proves nothing."


def test_every_outcome_has_its_exit_code() -> None:
    codes = {str(outcome): code_of(outcome).name for outcome in OUTCOMES}
    assert codes == {
        **dict.fromkeys(("unique", "solved"), "FINE"),
        **dict.fromkeys(("multiple", "contradiction"), "NO"),
        **dict.fromkeys(("stalled", "timeout", "wrong"), "UNDECIDED"),
        "invalid": "INVALID",
        "crashed": "BUG",
    }


def test_a_race_of_solvers_has_the_same_verdict(files: Path) -> None:
    plan = files / "at-once.toml"
    plan.write_text("stages = ['line', 'sat']\n")
    alone, race = (
        json.loads(pnono("solve", files / "stuck.non", "--plan", plan, "--workers", n, "--json").out) for n in (1, 3)
    )
    assert (race["outcome"], race["stage"], race["solution"]) == (alone["outcome"], "sat", alone["solution"])


def test_more_workers_are_more_solvers_none_of_them_twice() -> None:
    assert racing(Plan(), 1) == Plan()
    for n in range(1, 12):
        solvers = racing(Plan(), n).solvers
        assert len(set(solvers)) == n
        assert all(ENTRY.fullmatch(name) for name in solvers)


# plans


def test_the_shipped_plans_are_known_by_name() -> None:
    assert plan_names() == ["default", "fast", "lines-only", "portfolio", "prove", "sat-plain", "search"]
    assert load_plan("fast") == Plan(("line", "probe"), probes=0)
    assert load_plan("search") == Plan(("line", "probe", "search"), probes=0, visits=0)
    assert load_plan("sat-plain") == Plan(("line", "sat"), encoding="plain", hints=False)


def test_the_default_plan_is_the_default_of_the_library() -> None:
    from parallel_nono import Limits

    assert load_plan("default") == Limits().plan


def test_a_plan_may_name_every_stage_of_the_pipeline() -> None:
    from parallel_nono.solver.pipeline import STAGES

    assert tuple(STAGES) == CHOICES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stages = ['line', 'guess']", "stages: expected line, then"),
        ("stages = []", "stages: expected line, then"),
        ("stages = 'line'", "stages: expected line, then"),
        ("stages = [1]", "stages: expected line, then"),
        ("stages = ['line', 'line']", "stages: expected line, then"),
        ("stages = ['probe', 'line']", "stages: expected line, then"),
        ("about = 'nothing'", "stages: expected line, then"),
        (
            "stage = ['line']",
            "expected the keys about, stages, probes, visits, encoding, hints, solvers, found `stage`",
        ),
        ("stages = ['line']\nprobes = -1", "probes: expected a whole number from 0 on, found -1"),
        ("stages = ['line']\nprobes = true", "probes: expected a whole number from 0 on, found True"),
        ("stages = ['line']\nvisits = 1.5", "visits: expected a whole number from 0 on, found 1.5"),
        ("stages = ['line']\nencoding = 'thick'", "encoding: expected order or plain, found 'thick'"),
        ("stages = ['line']\nhints = 1", "hints: expected true or false, found 1"),
        ("stages = ['line']\nsolvers = ['minisat']", "solvers: expected a list of cadical153, "),
        ("stages = ['line']\nsolvers = []", "solvers: expected a list of cadical153, "),
        ("stages = [", "expected TOML"),
        ("stages = ['read', 'line']", "stages: expected line, then"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    with pytest.raises(InvalidPlan, match=f"^{re.escape(str(file))}: .*{re.escape(message)}"):
        load_plan(file)
    assert pnono("solve", "-", "--plan", file, text=HOOK).code == Code.USAGE


def test_an_unknown_plan_names_those_there_are() -> None:
    assert (
        "default, fast, lines-only, portfolio, prove, sat-plain, search, found `quick`"
        in pnono("solve", "-", "--plan", "quick", text=HOOK).err
    )


# --config


def test_a_file_gives_defaults_and_the_command_line_wins(files: Path) -> None:
    config = files / "solve.toml"
    config.write_text("[solve]\nplan = 'lines-only'\nclues = false\njson = true\n[run]\nworkers = 3\n")
    stuck = files / "stuck.non"
    assert json.loads(pnono("solve", stuck, "--config", config).out)["outcome"] == "stalled"
    assert json.loads(pnono("--config", config, "solve", stuck).out)["outcome"] == "stalled"
    assert json.loads(pnono("solve", stuck, "--config", config, "--plan", "default").out)["outcome"] == "unique"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[solve]\nsolution = 2",
            "[solve]: unknown key `solution`; known are `clues`, `color`",
        ),
        ("[solv]\nsolutions = 2", "expected sections named `check`"),
        ("solutions = 2", "expected sections named `check`"),
        ("[solve]\nsolutions = 'two'", "[solve]: `solutions`: "),
        ("[solve]\nsolutions = 0", "[solve]: `solutions`: "),
        ("[solve]\nsolutions = [2]", "[solve]: `solutions`: expected one value, found [2]"),
        ("[solve]\njson = 1", "[solve]: `json`: expected true or false, found 1"),
        ("[generate]\nset = 'density=3'", "[generate]: `set`: expected a list, found 'density=3'"),
        ("[solve]\nconfig = 'x'", "[solve]: unknown key `config`"),
        ("[formats]\nx = 1", "[formats]: unknown key `x`; known are none"),
        ("[solve", "expected TOML"),
    ],
)
def test_a_wrong_configuration_is_refused_with_file_and_key(files: Path, text: str, message: str) -> None:
    config = files / "config.toml"
    config.write_text(text)
    for arguments in (("solve", files / "hook.non", "--config", config), ("--config", config, "formats")):
        ended = pnono(*arguments)
        assert ended.code == Code.USAGE
        assert f"{config}: {message}" in ended.err
        assert ended.err.count("\n") == 1


# How commands end


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve",), "Missing argument"),
        (("solve", "x", "--nope"), "No such option"),
        (("sovle",), "No such command 'sovle'"),
        (("solve", "x", "--solutions", "0"), "--solutions"),
        (("--config", "/no/such/file.toml", "formats"), "/no/such/file.toml: can't be read"),
    ],
)
def test_a_wrong_command_line_is_one_line_on_stderr(arguments: tuple[str, ...], message: str) -> None:
    ended = pnono(*arguments)
    assert (ended.code, ended.out) == (Code.USAGE, "")
    assert message in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("command", ["solve", "check"])
def test_a_file_that_is_not_there_is_named(command: str) -> None:
    ended = pnono(command, "no/such/file.non")
    assert ended.code == Code.USAGE
    assert "no/such/file.non: " in ended.err


def test_the_others_are_solved_beside_a_broken_one(files: Path) -> None:
    (files / "hook2.non").write_text("width 3\nheight 3\nrows\n2,x\n1\n3\ncolumns\n3\n1,1\n1\n")
    ended = pnono("solve", files)
    assert ended.code == Code.INVALID
    assert "hook2.non:4: expected" in ended.err
    assert ended.out.count("Unique") == 2


def test_a_full_disk_is_said_and_not_a_fault_of_ours() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = pnono("formats", out=full)
    assert ended.code == Code.UNWRITABLE
    assert "standard output: can't be written: No space left on device" in ended.err


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m parallel_nono formats | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=True)
    assert ended.stderr == ""
    assert int(ended.stdout) in (Code.FINE, Code.PIPE)


def test_a_fault_of_ours_says_so_and_debug_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of a test")

    monkeypatch.setattr("parallel_nono.files.reading.read", broken)
    ended = pnono("solve", "-", text=HOOK)
    assert ended.code == Code.BUG
    assert ended.err == "pnono: internal error: ZeroDivisionError: of a test (the same with --debug shows where)\n"
    assert "Traceback" in pnono("solve", "-", "--debug", text=HOOK).err
    assert "Traceback" in pnono("--debug", "solve", "-", text=HOOK).err


def test_an_interrupt_ends_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("parallel_nono.files.reading.read", interrupted)
    assert pnono("solve", "-", text=HOOK) == (Code.INTERRUPTED, "", "pnono: interrupted\n")


@pytest.mark.slow
def test_ctrl_c_ends_a_long_search_at_once(tmp_path: Path) -> None:
    pnono("generate", "domino", tmp_path / "hard.non", "--height", 63, "--width", 63)
    command = [sys.executable, "-m", "parallel_nono", "solve", str(tmp_path / "hard.non"), "--seconds", "600"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        time.sleep(8)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == Code.INTERRUPTED
    assert err.endswith("pnono: interrupted\n")


def test_writing_tells_a_lost_reader_from_a_full_disk() -> None:
    with pytest.raises(BrokenPipeError), writing("x"):
        raise BrokenPipeError
    with pytest.raises(Failure, match=r"^x: can't be written: "), writing("x"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_every_code_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Code)


# Help and start


COMMANDS = sorted(cli.command().commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_sentences_with_an_example(command: str) -> None:
    ended = pnono(command, "--help")
    assert ended.code == Code.FINE
    assert f"pnono {command}" in ended.out.split("Options:")[0].split("\n", 1)[1]
    for option in cli.command().commands[command].params:
        assert (option.help or "").endswith("."), f"{command}: {option.name}"


def test_help_lists_commands_and_exit_codes() -> None:
    ended = pnono("--help")
    assert ended.code == Code.FINE
    for command in COMMANDS:
        assert f"\n  {command}" in ended.out
    for code, meaning in MEANINGS.items():
        assert f"{code:>5}  {meaning}" in ended.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_the_first_sentence_of_each_command(command: str) -> None:
    assert LINES[command] == cli.command().commands[command].get_short_help_str(1000)


@pytest.mark.parametrize("columns", ["60", "80", "100", "120"])
def test_help_lists_commands_as_typer_would(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    ours = pnono("--help").out
    monkeypatch.setattr(cli.Group, "format_commands", TyperGroup.format_commands)
    assert pnono("--help").out == ours


def test_without_arguments_help_is_shown() -> None:
    ended = pnono()
    assert "Usage: pnono" in ended.out + ended.err


def imported(*arguments: object) -> set[str]:
    """The modules that are there at the end of a command, in a process of its own."""
    code = (
        "import sys\nfrom parallel_nono.cli import entry\n"
        "try: entry()\nexcept SystemExit as ended: assert not ended.code\n"
        "print(*sys.modules)"
    )
    words = [sys.executable, "-c", code, *map(str, arguments)]
    ended = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True)
    return set(ended.stdout.splitlines()[-1].split())


NEVER = {"coloraide", "duckdb", "jinja2", "pandas", "PIL", "pydantic", "ray", "sqlite3", "textual"}
COMPILER = {"numba", "llvmlite"}
ARROW = {"pyarrow"}
FUNCTIONS = {"numpy.ma", "psutil", "pyarrow.compute", "pyarrow.fs", "pyarrow.parquet", "rich"}
ICON = "datasets/icon.non"


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"], ["--version"]])
def test_nothing_heavy_is_imported_for_help(arguments: list[str]) -> None:
    assert imported(*arguments).isdisjoint({"numpy", *NEVER, *COMPILER, *ARROW, *FUNCTIONS})


def test_no_command_is_imported_for_help() -> None:
    found = {name.removeprefix("parallel_nono.cli.") for name in imported("--help")}
    assert found.isdisjoint({"from_image", "packs", "common", *LINES})


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["solve", ICON], {*NEVER, *COMPILER, *FUNCTIONS, *ARROW}),
        (["lint", ICON], {*NEVER, *COMPILER, *FUNCTIONS}),
        (["check", ICON], {*NEVER, *COMPILER, *FUNCTIONS, *ARROW, "numpy"}),
        (["line", "3", "5"], {*NEVER, *COMPILER, *FUNCTIONS, *ARROW}),
        (["run", ICON, "--quiet", "--out", "OUT"], {*NEVER, *COMPILER, "pyarrow.compute", "rich"}),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_a_command_imports_nothing_heavy_that_it_does_not_need(
    arguments: list[str], heavy: set[str], tmp_path: Path
) -> None:
    """Each takes 5 to 100 ms, some of them longer than all the rest; see `scripts/bench/README.md`."""

    def found(turn: str) -> set[str]:
        return imported(*(tmp_path / turn if word == "OUT" else word for word in arguments))

    found("first")  # compiles where nobody has
    assert found("second").isdisjoint(heavy)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_for_every_shell(shell: str) -> None:
    environment = {**os.environ, "_PNONO_COMPLETE": f"source_{shell}"}
    code = "from parallel_nono.cli import main; main([])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert "pnono" in ended.stdout
