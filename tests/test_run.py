"""`pnono run` and `pnono report` from end to end, as a user calls them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from console import pnono

from parallel_nono.cli import main
from parallel_nono.kernels import is_compiled
from parallel_nono.kinds import null
from parallel_nono.report.parquet import batches

PUZZLES = {
    "unique.nin": "3 2\n3\n1 1\n2\n1\n2\n",
    "two.nin": "2 2\n1\n1\n1\n1\n",
    "none.nin": "2 1\n1\n1\n1\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One puzzle with one solution, one with two, one with none, one file that can't be read, one that is passed by."""
    puzzles = tmp_path / "puzzles"
    puzzles.mkdir()
    for name, text in PUZZLES.items():
        (puzzles / name).write_text(text)
    (puzzles / "broken.nin").write_text("2 2\n1\nx\n1\n1\n")
    (puzzles / "README.md").write_text("nothing to see")
    return puzzles


def rows_of(out: Path) -> dict[str, dict[str, Any]]:
    rows = pq.read_table(out / "rows").to_pylist()
    return {Path(row["source"]).name: row for row in rows}


@pytest.mark.slow
def test_every_file_has_its_row_and_the_summary_says_so(folder: Path, tmp_path: Path) -> None:
    done = pnono("run", folder, "--out", "out", cwd=tmp_path)
    rows = rows_of(tmp_path / "out")
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "unique.nin": "unique",
        "two.nin": "multiple",
        "none.nin": "contradiction",
        "broken.nin": "invalid",
    }
    assert rows["unique.nin"]["solution"] == "###/#.#"
    assert {rows["two.nin"]["solution"], rows["two.nin"]["second_solution"]} == {"#./.#", ".#/#."}
    assert "broken.nin:3" in rows["broken.nin"]["error"]
    assert "out  4 puzzles in" in done.stdout
    for text in ("unique", "multiple", "contradiction", "invalid", "1 file:", "README.md", "out/rows/*.parquet"):
        assert text in done.stdout
    assert pnono("report", "out", cwd=tmp_path).stdout.startswith(done.stdout)


@pytest.mark.slow
def test_the_summary_shows_the_first_messages_and_no_control_characters(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"bad{number}.nin").write_text("2 1\n1\n\x1b[31mx\n1\n")
    done = pnono("run", ".", "--out", "out", cwd=tmp_path, code=3)
    assert "\x1b" not in done.stdout
    assert "bad0.nin:3: " in done.stdout
    assert "bad4.nin:3: " in done.stdout
    assert "bad5.nin" not in done.stdout.partition("invalid      7 puzzles:")[2]
    assert "and 2 more in the column `error`" in done.stdout


@pytest.mark.slow
def test_a_reader_that_goes_away_is_not_a_failure_of_the_run(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "parallel_nono", "run", str(folder), "--out", "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=120) in (0, 141)
    assert len(rows_of(tmp_path / "out")) == 4


@pytest.mark.slow
def test_any_number_of_workers_gives_the_same_rows(folder: Path, tmp_path: Path) -> None:
    kept = (
        "outcome",
        "stage",
        "digest",
        "solution",
        "second_solution",
        "n_solutions",
        "n_lines",
        "n_probes",
        "n_branches",
    )
    found = []
    for workers in (1, 8):
        pnono("run", folder, "--out", f"out{workers}", "--workers", workers, "-q", cwd=tmp_path)
        found.append({n: [row[c] for c in kept] for n, row in rows_of(tmp_path / f"out{workers}").items()})
    assert found[0] == found[1]


@pytest.mark.slow
def test_quiet_says_nothing(folder: Path, tmp_path: Path) -> None:
    done = pnono("run", folder, "--out", "out", "--quiet", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.slow
def test_results_go_to_a_new_folder_under_runs_when_none_is_named(folder: Path, tmp_path: Path) -> None:
    done = pnono("run", folder, cwd=tmp_path)
    (out,) = (tmp_path / "runs").iterdir()
    assert out.name.endswith("-puzzles")
    assert f"runs/{out.name}/rows/*.parquet" in done.stdout


@pytest.mark.slow
def test_limits_and_plans_reach_the_solver(folder: Path, tmp_path: Path) -> None:
    pnono("run", folder, "--out", "lines", "--plan", "lines-only", "--no-store-solutions", "-q", cwd=tmp_path)
    rows = rows_of(tmp_path / "lines")
    assert rows["two.nin"]["outcome"] == "stalled"
    assert rows["two.nin"]["n_open"] == 4
    assert rows["unique.nin"]["solution"] == ""
    pnono("run", folder, "--out", "any", "--solutions", "1", "-q", cwd=tmp_path)
    assert rows_of(tmp_path / "any")["two.nin"]["outcome"] == "solved"
    options = json.loads((tmp_path / "lines" / "run.json").read_text())["options"]
    assert options["plan"]["stages"] == ["line"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_other_formats_are_one_more_file(folder: Path, tmp_path: Path, form: str) -> None:
    pnono("run", folder, "--out", "out", "--format", form, "-q", cwd=tmp_path)
    lines = (tmp_path / "out" / f"rows.{form}").read_text().splitlines()
    assert len(lines) == 4 + (form == "csv")


@pytest.mark.slow
def test_resuming_a_finished_run_does_nothing_and_says_the_same(folder: Path, tmp_path: Path) -> None:
    pnono("run", folder, "--out", "out", cwd=tmp_path)
    pnono("run", folder, "--out", "out", "--resume", cwd=tmp_path)
    assert pq.read_table(tmp_path / "out" / "rows").num_rows == 4
    (folder / "more.nin").write_text(PUZZLES["unique.nin"])
    pnono("run", folder, "--out", "out", "--resume", "-q", cwd=tmp_path)
    assert pq.read_table(tmp_path / "out" / "rows").num_rows == 5


@pytest.mark.slow
def test_what_cannot_go_on_is_one_line_and_a_code(folder: Path, tmp_path: Path) -> None:
    pnono("run", folder, "--out", "out", "-q", cwd=tmp_path)
    for words, code, message in (
        (("--out", "out"), 2, "expected a new or empty folder"),
        (("--out", "out", "--resume", "--seconds", "5"), 2, "seconds was 60.0, is 5.0"),
        (("--resume",), 2, "expected --out DIR or --name NAME"),
        (("--out", "new", "--plan", "magic"), 2, "found `magic`"),
        (("--out", "out/run.json"), 74, "can't write results"),
        (("--out", "n", "--engine", "ray", "--address", "ray://x:1"), 69, "expected HOST:PORT"),
    ):
        done = pnono("run", folder, *words, cwd=tmp_path, code=code)
        assert message in done.stderr.splitlines()[-1]
    assert "expected a folder of results" in pnono("report", "puzzles", cwd=tmp_path, code=3).stderr


@pytest.mark.slow
def test_a_run_in_which_nothing_can_be_read_has_a_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "broken.nin").write_text("2 2\n1\n")
    pnono("run", "broken.nin", "--out", "a", "-q", cwd=tmp_path, code=3)
    (tmp_path / "empty").mkdir()
    for path, told in (("not-there.nin", "found nothing of that name"), ("empty", "found an empty folder")):
        done = pnono("run", path, "--out", "b", cwd=tmp_path, code=2)
        assert told in done.stderr
        assert not (tmp_path / "b").exists()


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_the_hint_goes_on(tmp_path: Path) -> None:
    # 60 by 60 noise: some seconds each, or a timeout, so the run is long.
    import random

    rng = random.Random(5)
    for number in range(60):
        grid = [[rng.random() < 0.5 for _ in range(60)] for _ in range(60)]
        lines = [*grid, *zip(*grid, strict=True)]
        clues = [
            " ".join(str(len(run)) for run in "".join(".#"[c] for c in line).replace(".", " ").split())
            for line in lines
        ]
        (tmp_path / f"{number:02}.nin").write_text("60 60\n" + "\n".join(clue or "0" for clue in clues) + "\n")
    (tmp_path / "0.nin").write_text(PUZZLES["unique.nin"])
    words = ["run", ".", "--seconds", "30", "--workers", "2", "--engine", "local", "--out", "out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "parallel_nono", *words],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(12 if is_compiled() else 60)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "go on with: pnono run . --seconds 30" in errors
    assert "--out out --resume" in errors
    assert "0.nin" in rows_of(tmp_path / "out")
    assert not (tmp_path / "out" / ".tmp").exists()
    assert "results" in output


def test_a_run_that_waits_for_standard_input_hears_ctrl_c(tmp_path: Path) -> None:
    """Whoever reads is in a call that nothing ends: the process goes all the same, and says how to go on."""
    source, sink = os.pipe()
    with open(source, "rb") as silent, open(sink, "wb", buffering=0) as begun:
        words = [sys.executable, "-m", "parallel_nono", "run", "-", "--workers", "2", "--out", "out"]
        process = subprocess.Popen(words, cwd=tmp_path, stdin=silent, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        begun.write(b"width 2\n")
        deadline = time.monotonic() + 60
        while not (tmp_path / "out" / "run.json").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.decode().strip() == "pnono: interrupted; go on with --resume"


LYING = """
import sys
from dataclasses import replace
from parallel_nono.cli import main
from parallel_nono.kinds import nonogram

def solve(chunk, limits, abort):
    solved = nonogram.solve(chunk, limits, abort)
    solved.solutions.cells[0, 0] ^= 1  # what a solver with a fault might do
    return solved

nonogram.KIND = replace(nonogram.KIND, solve=solve)
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_rejected_solution_stops_the_run_as_our_bug_and_keeps_the_puzzle(folder: Path, tmp_path: Path) -> None:
    words = ["run", str(folder / "unique.nin"), "--out", "out"]
    done = subprocess.run(
        [sys.executable, "-c", LYING, *words], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert done.returncode == 70
    assert "the checker rejects a solution of the solver: solution 1 breaks the clue of row 1" in done.stderr
    assert "out/rejected-1.parquet" in done.stderr
    pnono("run", "out/rejected-1.parquet", "--out", "again", "-q", cwd=tmp_path)
    assert pq.read_table(tmp_path / "again" / "rows").column("outcome").to_pylist() == ["unique"]


# What is our failure is no success.


def breaking(monkeypatch: pytest.MonkeyPatch, places: set[str]) -> None:
    """The kind `null`, whose solver is at fault with these numbers."""
    solve = null.solve

    def solve_or_fail(chunk: pa.RecordBatch, limits: Any, abort: Any) -> Any:
        if places & set(chunk.column("name").to_pylist()):
            raise RuntimeError("broken on purpose")
        return solve(chunk, limits, abort)

    monkeypatch.setattr(null, "KIND", replace(null.KIND, solve=solve_or_fail))


@pytest.mark.parametrize(
    ("text", "broken", "code"),
    [
        ("1\n2\n3", set(), 0),
        ("1\n2\n3", {"2"}, 70),
        ("1\n2", {"1", "2"}, 70),
        ("none", set(), 3),
        ("none\n1", {"1"}, 70),
    ],
)
def test_a_run_with_crashed_rows_is_no_success(
    text: str, broken: set[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "in.txt").write_text(text)
    breaking(monkeypatch, broken)
    with pytest.raises(SystemExit) as ended:
        main(["run", str(tmp_path / "in.txt"), "--kind", "null", "--out", str(tmp_path / "out"), "--format", "csv"])
    assert ended.value.code == code
    said = capsys.readouterr()
    assert ("crashed" in said.err) == (code == 70)
    rows = [row for batch in batches(tmp_path / "out") for row in batch.to_pylist()]
    assert sorted(row["outcome"] for row in rows) == sorted(
        "invalid" if word == "none" else "crashed" if word in broken else "unique" for word in text.split()
    )
    assert (tmp_path / "out/rows.csv").exists()  # nothing else is left out for it
