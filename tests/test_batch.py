"""The batch run as a call, and the one table of its options that the command line and the configuration show too."""

from __future__ import annotations

import ast
import json
import threading
import tomllib
from collections import Counter
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import faults
import pyarrow.parquet as pq
import pytest
from console import pnono

import parallel_nono
from parallel_nono import kinds
from parallel_nono.batch.options import InvalidOption, Option, RunOptions, spelt, table
from parallel_nono.batch.run import RunProgress, run, run_each, tasks_of
from parallel_nono.cli import command
from parallel_nono.engine import EngineError, auto
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.folder import OutputError
from parallel_nono.engine.session import Session, Stop
from parallel_nono.engine.work import RejectedPuzzle
from parallel_nono.files.packed import write_packed
from parallel_nono.generator import generate_set
from parallel_nono.kinds import null
from parallel_nono.report.parquet import sessions
from parallel_nono.report.run import Run

ROOT = Path(__file__).resolve().parents[1]
TIMES = ("_s", "_mib", "started", "clock_us", "chunk", "load", "preempted", "run", "worker")
HOOK, TWO, BROKEN = "3 3\n2\n1\n3\n3\n1 1\n1\n", "2 2\n1\n1\n1\n1\n", "2 2\n1\nx\n1\n1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("hook", HOOK), ("two", TWO), ("broken", BROKEN)):
        (tmp_path / f"{name}.nin").write_text(text)
    return tmp_path


def rows_of(out: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(out / "rows").to_pylist()
    return rows


def plain(value: Any) -> Any:
    """As TOML and click have it."""
    value = str(value) if isinstance(value, StrEnum | Path) else value
    return list(value) if isinstance(value, tuple) else value


# The table and its views.


def test_the_command_line_is_a_view_of_the_table() -> None:
    shown = {p.name: p for p in command().commands["run"].params if p.name not in ("config", "debug", "quiet")}
    assert list(shown) == [each.name for each in table()]
    for each in table():
        parameter = shown[each.name]
        if each.name == "paths":
            assert parameter.required
            continue
        assert parameter.opts[0] == spelt(each.name)
        assert plain(parameter.default) == (None if each.kind is tuple else plain(each.default)), each.name
        assert parameter.help == each.about.help
        assert parameter.is_flag == (each.kind is bool)
        assert parameter.multiple == (each.kind is tuple)
        kind = parameter if hasattr(parameter, "min") else parameter.type  # typer keeps it here or there
        least, most = getattr(kind, "min", None), getattr(kind, "max", None)
        assert (least, most) == (each.about.least, each.about.most), each.name
    chosen = command().commands["run"].get_help(command().make_context("run", ["--help"], resilient_parsing=True))
    for each in table():
        if issubclass(each.kind, StrEnum):
            assert f"<{'|'.join(each.kind)}>" in chosen


def test_the_configuration_file_is_a_view_of_the_table() -> None:
    text = (ROOT / "configs/run.toml").read_text(encoding="utf-8")
    (section,) = tomllib.loads(text).values()
    assert section.pop("quiet") is False  # the command line's alone
    none = [each.name for each in table() if each.default is None]
    assert none == ["out", "timeline"]
    assert all(f"\n# {name} = " in text for name in none)  # TOML has no word for none
    wanted = {spelt(each.name)[2:]: plain(each.default) for each in table() if each.name not in ("paths", *none)}
    assert section == wanted


def test_the_table_has_every_field() -> None:
    assert [each.name for each in table()] == [each.name for each in fields(RunOptions)]
    assert all(each.about.help.endswith(".") or each.name == "paths" for each in table())


OTHER: dict[str, Any] = {
    "paths": "two.nin", "workers": 2, "engine": "local", "mode": "puzzles", "device": "cuda", "order": "rounds",
    "address": "127.0.0.1:9", "insecure": True, "shared_data": True, "kind": "null", "set": "solver=sorted",
    "out": "elsewhere", "name": "other", "resume": True, "format": "csv", "plan": "lines-only",
    "solver": "picross-solver", "seconds": 7, "cpu_seconds": 5, "memory": 77, "solutions": 9, "count": 99,
    "store_solutions": False,
    "pictures": True, "repeat": 3, "pin": True, "calibrate": True, "worker_parts": True, "live": True,
    "timeline": "trace.json",
}  # fmt: skip
WITH: dict[str, dict[str, Any]] = {
    "device": {"mode": "lines"}, "order": {"mode": "lines"}, "set": {"kind": "strikeout"}, "resume": {"name": "x"},
}  # fmt: skip


@pytest.mark.parametrize("each", table(), ids=lambda each: each.name)
def test_what_is_said_to_decide_rows_is_what_a_resumed_run_must_have_again(each: Option, folder: Path) -> None:
    plainly = {"paths": "hook.nin", **WITH.get(each.name, {})}
    if each.name == "solver":
        pytest.importorskip("picross_solver")
    before, after = (
        tasks_of(RunOptions(**words))[0].deciding() for words in (plainly, {**plainly, each.name: OTHER[each.name]})
    )
    # A GPU knows one order only, and so decides it.
    assert (before != after) == (each.about.decides or each.name == "device")


def test_other_values_are_other_for_every_option() -> None:
    assert OTHER.keys() == {each.name for each in table()}
    changed = RunOptions(**OTHER)
    assert all(getattr(changed, each.name) != each.default for each in table())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"paths": ()}, "paths: expected at least one, found none"),
        ({"paths": 3}, "paths: expected texts, found 3"),
        ({"set": [3]}, "set: expected texts, found 3"),
        ({"workers": 0}, "workers: expected a whole number from 1 to 4096, found 0"),
        ({"workers": 4097}, "workers: expected a whole number from 1 to 4096, found 4097"),
        ({"workers": 1.5}, "workers: expected a whole number, found 1.5"),
        ({"workers": True}, "workers: expected a whole number, found True"),
        ({"workers": None}, "workers: expected a whole number, found None"),
        ({"seconds": float("nan")}, "seconds: expected a number from 0.001 on, found nan"),
        ({"seconds": "7"}, "seconds: expected a number, found '7'"),
        ({"engine": "dask"}, "engine: expected one of auto, local, ray, found 'dask'"),
        ({"out": 3}, "out: expected a path, found 3"),
        ({"pin": 1}, "pin: expected True or False, found 1"),
        ({"name": b"x"}, "name: expected a text, found b'x'"),
    ],
)
def test_what_is_no_option_is_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        RunOptions(**{"paths": "x", **words})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"resume": True}, "resume: expected --out DIR or --name NAME of the run to go on with"),
        ({"device": "cuda"}, "device cuda: expected --mode lines"),
        ({"order": "rounds"}, "order rounds: expected --mode lines"),
        ({"mode": "lines", "kind": "null"}, "mode lines: expected nonograms, found the kind null"),
        ({"mode": "lines", "repeat": 2}, "pin, repeat: expected --mode puzzles"),
        ({"pictures": True, "kind": "null"}, "pictures: expected nonograms, found the kind null"),
        ({"pictures": True, "paths": "-"}, "pictures: expected files, which are read again, found standard input"),
        ({"pictures": True, "store_solutions": False}, "pictures: expected --store-solutions"),
        ({"plan": "none-such"}, "plan: "),
        ({"kind": "sudoku"}, "kind: expected a kind of nonogram"),
        ({"kind": "strikeout", "set": {"colour": "red"}}, "set: strikeout: expected one of"),
        ({"set": ["colour"]}, "set: expected NAME=VALUE, found `colour`"),
        ({"solver": ["default", "default"]}, "solver: expected each solver once, found `default` twice"),
        ({"solver": ["default", "search"], "paths": "-"}, "solver: expected files, which each solver reads again"),
        ({"solver": "none-such"}, "solver: expected a TOML file or one of"),
        ({"solver": "search", "plan": "lines-only"}, "solver: expected either --solver or --plan, found both"),
        ({"paths": "none-such.nin"}, "none-such.nin: expected a file or a folder, found"),
    ],
)
def test_options_that_make_no_sense_together_are_refused_before_anything_is_written(
    words: dict[str, Any], message: str, folder: Path
) -> None:
    before = set(folder.rglob("*"))
    with pytest.raises(InvalidOption) as caught:
        run(RunOptions(**{"paths": "hook.nin", **words}))
    assert str(caught.value).startswith(message)
    assert set(folder.rglob("*")) == before


# The run.


def without_times(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [{name: value for name, value in row.items() if not name.endswith(TIMES)} for row in rows]
    return sorted(kept, key=lambda row: (row["source"], row["index"]))


def test_a_call_writes_the_rows_of_the_command_and_says_nothing(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(RunOptions("hook.nin", out="warm"))  # the first time on a machine it compiles
    capfd.readouterr()
    files = [folder / "hook.nin", "two.nin", "broken.nin"]
    found = run(RunOptions(files, workers=2, out="called", count=9))
    assert capfd.readouterr() == ("", "")
    pnono(
        "run", folder / "hook.nin", "two.nin", "broken.nin", "--workers", 2, "--out", "said", "--count", 9, cwd=folder
    )
    called, said = rows_of(folder / "called"), rows_of(folder / "said")
    assert without_times(called) == without_times(said)
    facts = [json.loads((folder / name / "run.json").read_text())["options"] for name in ("called", "said")]
    assert facts[0] == facts[1]
    assert (
        found.outcomes == dict(Counter(row["outcome"] for row in called)) == {"unique": 1, "multiple": 1, "invalid": 1}
    )
    assert (found.n_rows, found.n_crashed, found.is_unread, found.stopped, found.ours) == (3, 0, False, False, True)
    assert found.out == Path("called")


def test_results_are_opened_as_arrow(folder: Path) -> None:
    results = run(RunOptions(["hook.nin", "two.nin"], out="out")).open()
    table = results.rows()
    assert table.to_pylist() == rows_of(folder / "out")
    assert results.rows(["outcome", "n_lines"]).to_pylist() == [
        {"outcome": row["outcome"], "n_lines": row["n_lines"]} for row in table.to_pylist()
    ]
    assert results.dataset().count_rows() == table.num_rows == results.summary().n_rows == 2
    assert results.summary().outcomes() == {"unique": 1, "multiple": 1}
    assert results.name == "out"
    assert results.options["inputs"] == ["hook.nin", "two.nin"]
    assert [session["engine"] for session in results.sessions()] == ["local"]
    with pytest.raises(OutputError, match="expected a folder of results"):
        Run(folder / "none-such")


@pytest.mark.slow
def test_progress_is_told_and_a_stop_is_heard_and_a_resumed_run_has_each_row_once(folder: Path) -> None:
    (folder / "many.nin").write_text(TWO * 100_000)
    stop, told = Stop(), []

    def progress(so_far: RunProgress) -> None:
        told.append((so_far.summary.n_rows, so_far.workers))
        if so_far.summary.n_rows:
            stop.asked.set()

    options = RunOptions("many.nin", workers=2, out="out", live=True)
    found = run(options, progress=progress, stop=stop)
    assert found.stopped
    assert 0 < found.n_rows < 100_000
    assert stop.ended
    assert [n for n, _ in told] == sorted(n for n, _ in told)
    with pytest.raises(OutputError, match="expected a new or empty folder"):
        run(options)
    again = run(RunOptions("many.nin", workers=2, out="out", live=True, resume=True))
    assert (again.stopped, again.n_rows) == (False, 100_000)
    keys = pq.read_table(folder / "out/rows", columns=["index"]).column("index").to_numpy()
    assert len(set(keys.tolist())) == 100_000


def test_what_auto_took_to_be_left_and_what_it_came_to_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    reason = auto._reason

    def looked(feed: Feed, session: Session, worth: float) -> str:
        before = session.estimate
        with feed._changed:  # nobody finishes meanwhile
            done_s = feed.solved_s
            why = reason(feed, session, worth)
        if session.estimate is not before:
            looks.append(done_s)
        return why

    monkeypatch.setattr(auto, "_reason", looked)
    monkeypatch.setattr(auto, "LOOK_S", 0.0)
    monkeypatch.setattr(auto, "WORTH_S", 1e9)  # it looks, and Ray never pays
    batch = generate_set("noise", 8000, 20, 20, seed=1)
    write_packed(tmp_path / "set.parquet", [batch.slice(at, 500) for at in range(0, 8000, 500)], row_group=500)
    found = run(RunOptions((str(tmp_path / "set.parquet"),), out=tmp_path / "out", workers=2))
    told = sessions(found.out)[-1]
    solved = pq.read_table(found.out / "rows", columns=["solve_s"]).column("solve_s").to_numpy().sum(dtype=float)
    assert told["needed_s"] == pytest.approx(solved - looks[-1], rel=0.01, abs=0.002)
    assert 0 <= told["estimated_s"] <= 3 * solved


def test_several_solvers_are_several_runs(folder: Path) -> None:
    options = RunOptions("two.nin", solver=["default", "lines-only"], out="out")
    with pytest.raises(InvalidOption, match="expected one solver, found 2; `run_each` runs several"):
        run(options)
    assert not (folder / "out").exists()
    stop = Stop()
    found = list(run_each(options, stop=stop))
    assert not stop.asked.is_set()  # nobody asked: the first run's end is none of the second's
    assert [one.out for one in found] == [Path("out/default"), Path("out/lines-only")]
    assert [one.outcomes for one in found] == [{"multiple": 1}, {"stalled": 1}]
    assert [rows_of(folder / one.out)[0]["solver"] for one in found] == ["pnono default", "pnono lines-only"]


def test_rows_as_csv_and_pictures_come_with_the_call(folder: Path) -> None:
    run(RunOptions(["hook.nin", "two.nin"], out="out", format="csv", pictures=True))
    assert len((folder / "out/rows.csv").read_text().splitlines()) == 3
    assert sorted(path.name for path in (folder / "out/pictures").iterdir()) == ["hook-0001.png", "two-0001.png"]


def test_a_stop_ends_the_pictures_between_two_puzzles(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "six.json").write_text(json.dumps([{"rows": [[1]], "columns": [[1]]}] * 6))
    stop, drawn = Stop(), []

    def png(*arguments: Any) -> bytes:
        drawn.append(arguments)
        stop.asked.set()
        return b""

    monkeypatch.setattr("parallel_nono.pictures.raster.png", png)
    found = run(RunOptions("six.json", out="out", pictures=True), stop=stop)
    assert (found.n_rows, found.stopped, len(drawn)) == (6, False, 1)


def test_a_rejected_solution_keeps_the_puzzle_and_is_raised(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "x.null").write_text("1 2 3")
    monkeypatch.setattr(null, "KIND", faults.KIND)
    (folder / "x.null").write_text("1 wrong 3")
    with pytest.raises(RejectedPuzzle) as caught:
        run(RunOptions("x.null", kind="null", out="out"))
    assert caught.value.path == Path("out/rejected-1.parquet")
    assert caught.value.path.exists()
    assert kinds.bare("null") is faults.KIND


def test_an_engine_that_cannot_work_is_an_error_of_its_own(folder: Path) -> None:
    with pytest.raises(EngineError):
        run(RunOptions("hook.nin", address="127.0.0.1:9", out="out", engine="ray"))


def test_a_call_may_come_from_any_thread(folder: Path) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run(RunOptions("hook.nin", out="out")).outcomes))
    thread.start()
    thread.join(60)
    assert found == [{"unique": 1}]


# The room.


def test_the_command_only_understands_shows_and_ends() -> None:
    source = (Path(parallel_nono.__file__).parent / "cli/run.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) < 250
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    assert all(len(node.args.args) <= 4 for node in functions)


def test_nobody_asks_a_kind_for_its_name() -> None:
    package = Path(parallel_nono.__file__).parent
    asked = [
        f"{path}:{node.lineno}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        and '"nonogram"' in ast.unparse(node).replace("'", '"')
        and "kind" in ast.unparse(node)
    ]
    assert [place for place in asked if "/formats/" not in place] == []
