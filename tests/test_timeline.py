"""The timeline of a run: every second of a worker has a name, and the figures are those of the rows."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow.parquet as pq
import pytest

import parallel_nono
from parallel_nono import InvalidOption, OutputError, RunOptions, generate, run, run_each, write
from parallel_nono.kernels.lanes import MERGE, SOLVE
from parallel_nono.lanes.rounds import Phase
from parallel_nono.lanes.shifts import JOBS, Shifts
from parallel_nono.spans import NAMES, Span, recording, span


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty easy puzzles, eight for the SAT solver, one that is broken."""
    folder = tmp_path_factory.mktemp("collection")
    for seed in range(60):
        write([generate("blobs", 15, 15, seed)], folder / f"easy{seed}.non")
    for seed in range(8):
        write([generate("domino", 15, 15, seed)], folder / f"hard{seed}.non")
    (folder / "broken.non").write_text("width 2\nheight 1\nrows\n9 9 9\ncolumns\n1\n")
    return folder


def spans_of(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The complete events of a trace by the names of their workers."""
    events = json.loads(path.read_text())
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    found = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            found[names[event["pid"], event["tid"]]].append(event)
    return found


def test_a_timeline_agrees_with_the_rows(collection: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    found = run(RunOptions((str(collection),), workers=2, out=tmp_path / "out", timeline=path))
    rows = pq.read_table(tmp_path / "out" / "rows").to_pylist()
    assert len(rows) == 69 == found.n_rows
    spans = spans_of(path)
    assert {row["worker"] for row in rows if row["outcome"] != "invalid"} <= spans.keys()
    assert {event["name"] for events in spans.values() for event in events} <= NAMES.keys()
    solved = [row for row in rows if row["outcome"] != "invalid"]
    assert sum(row["stage"] == "sat" for row in solved) == 8
    for worker in {row["worker"] for row in solved}:
        mine = [row for row in solved if row["worker"] == worker]
        events = spans[worker]
        counted, seconds = Counter[str](), Counter[str]()
        for event in events:
            counted[event["name"]] += event["args"].get("puzzles", 0)
            seconds[event["name"]] += event["dur"] / 1e6
        # More where a puzzle was tried a second time, or handed back before it was begun.
        assert counted["solve"] >= counted["check"] == counted["rows"] >= len(mine)
        assert seconds["solve"] >= 0.99 * sum(row["solve_s"] for row in mine)
        assert seconds["solve"] >= seconds["prove"] + seconds["queue"]
        assert counted["prove"] >= sum(row["sat_s"] > 0 for row in mine)
        outer = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["name"] not in ("queue", "prove"))
        assert all(end <= after + 2000 for (_, end), (after, _) in pairwise(outer))
    assert sum(event["args"].get("puzzles", 0) for event in spans["writer"] if event["name"] == "write") == 69
    assert [event["name"] for event in spans["reader"]].count("open") >= 1


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.ray)])
def test_in_lines_mode_every_second_of_those_who_solve_lines_is_told(tmp_path: Path, engine: str) -> None:
    folder, path = tmp_path / "huge", tmp_path / "trace.json"
    folder.mkdir()
    for seed in range(3):
        write([generate("noise", 600, 600, seed, density=80)], folder / f"{seed}.non")
    options = RunOptions((str(folder),), workers=2, out=tmp_path / "out", timeline=path, mode="lines", engine=engine)
    run(options)
    rows, spans = pq.read_table(tmp_path / "out" / "rows").to_pylist(), spans_of(path)
    assert [row["mode"] for row in rows] == ["lines"] * 3
    whole = []
    for worker in ("lines 0", "lines 1"):
        mine = sorted(spans[worker], key=lambda event: float(event["ts"]))
        assert {"lines", "wait"} <= {event["name"] for event in mine} <= {"lines", "merge", "wait"}
        assert all(a["ts"] + a["dur"] <= b["ts"] + 1 for a, b in pairwise(mine))
        from_s, to_s = mine[0]["ts"] / 1e6, (mine[-1]["ts"] + mine[-1]["dur"]) / 1e6
        whole.append(to_s - from_s)
        # What is not told are pauses of less than 0.1 ms.
        assert 0.9 * whole[-1] <= sum(event["dur"] for event in mine) / 1e6 <= whole[-1] + 1e-3
    assert abs(whole[0] - whole[1]) < 0.01 * whole[0]
    drivers = [event for events in spans.values() for event in events if event["name"] in ("solve", "share")]
    assert min(whole) >= max(event["dur"] for event in drivers) / 1e6  # they are there as long as any puzzle is shared
    assert sum(event["name"] == "share" for event in drivers) == 3
    # A row's CPU time is that of the thread that saw it through and that of the jobs, wherever they were done.
    workers = ["lines 0", "lines 1", "coordinator"]
    jobs_s = sum(event["args"]["cpu_us"] for worker in workers for event in spans[worker]) / 1e6
    assert {"lines", "merge"} <= {event["name"] for worker in workers for event in spans[worker]}
    solved_s = sum(event["args"]["cpu_us"] for event in drivers if event["name"] == "solve") / 1e6
    rows_s = sum(row["cpu_s"] for row in rows)
    assert 0 < jobs_s <= rows_s
    assert jobs_s + solved_s == pytest.approx(rows_s, rel=0.1)


def test_between_two_jobs_of_line_work_there_is_only_waiting() -> None:
    """Against a plain replay: whatever a worker is not at, when the logs of several puzzles come in any order."""
    random = np.random.default_rng(1)
    second, told = 1_000_000_000, defaultdict[str, list[Span]](list)
    timeline = SimpleNamespace(add=lambda host, worker, spans: told[worker].extend(spans))
    shifts = Shifts(cast(Any, timeline), 2)
    began = shifts._free[0]
    jobs = []
    for worker in (0, 1, 2):
        at = began
        for _ in range(300):
            at += int(random.choice([1000, second]))
            jobs.append([worker, at, at := at + int(random.integers(1, second)), 5])
    jobs.sort(key=lambda job: job[1])
    for at in range(0, len(jobs), 60):  # three phases at a time, noted in turns; they end before the next three begin
        until = jobs[at][1]
        shifts.tell(until)
        late = [job for job in jobs[at : at + 60] if job[2] >= until]
        for number in (2, 0, 1):
            shifts.note(Phase(1, 1, SOLVE if number else MERGE, np.array(late[number::3], np.int64).reshape(-1, 4)))
    end = max(job[2] for job in jobs)
    shifts.tell(end + 1, last=True)
    assert told.keys() == {"lines 0", "lines 1", "coordinator"}
    for number, name in enumerate(told):
        mine = [job for job in jobs if job[0] == [0, 1, 2][["lines 0", "lines 1", "coordinator"].index(name)]]
        busy = sum(span.seconds for span in told[name] if span.name != "wait")
        gaps = sum(b[1] - a[2] for a, b in pairwise(mine)) / second
        assert busy == pytest.approx(sum(job[2] - job[1] for job in mine) / second, abs=1e-2)
        assert sum(span.cpu_s for span in told[name]) == pytest.approx(5e-9 * len(mine))
        if name == "coordinator":
            assert all(span.name != "wait" for span in told[name])
        else:
            waited = gaps + (mine[0][1] - began + end - mine[-1][2]) / second
            assert sum(s.seconds for s in told[name] if s.name == "wait") == pytest.approx(waited, abs=1e-2), number
            assert all(b.began >= a.began + a.seconds - 1e-6 for a, b in pairwise(told[name]))


def test_a_timeline_changes_no_row_and_can_lie_among_the_results(collection: Path, tmp_path: Path) -> None:
    columns = ["name", "outcome", "stage", "n_lines", "n_probes", "n_branches", "solution"]
    tables = []
    for number, timeline in enumerate((None, tmp_path / "out1" / "trace.json")):
        out = tmp_path / f"out{number}"
        run(RunOptions((str(collection),), out=out, workers=2, timeline=timeline))
        tables.append(sorted(map(str, pq.read_table(out / "rows", columns=columns).to_pylist())))
    assert tables[0] == tables[1]
    again = run(RunOptions((str(collection),), out=tmp_path / "out1", resume=True, timeline=tmp_path / "again.json"))
    assert again.n_rows == 69
    assert "solve" not in {event["name"] for events in spans_of(tmp_path / "again.json").values() for event in events}


def test_where_a_timeline_can_not_be_written_it_is_said(collection: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="timeline: expected a file in a folder that is there, found"):
        run(RunOptions((str(collection),), out=tmp_path / "a", timeline=tmp_path / "none" / "t.json"))
    with pytest.raises(OutputError, match="the timeline can't be written: Is a directory"):
        run(RunOptions((str(collection),), out=tmp_path / "b", timeline=tmp_path))
    if Path("/dev/full").exists():
        told: list[str] = []
        full = RunOptions((str(collection),), out=tmp_path / "d", timeline=Path("/dev/full"))
        assert run(full, notice=told.append).n_rows == 69  # the rows are all there
        assert told == ["/dev/full: the timeline can't be written: No space left on device"]
    two = RunOptions((str(collection),), solver=("default", "lines-only"), timeline=tmp_path / "t.json")
    with pytest.raises(InvalidOption, match="timeline: expected one solver, found 2"):
        list(run_each(two))


@pytest.mark.parametrize("timed", [False, True])
def test_a_worker_of_another_process_tells_its_spans_with_its_rows(timed: bool, tmp_path: Path) -> None:
    """What `engine.worker.Worker` sends back, by the words of a cluster; in a process of its own, as it is meant."""
    code = f"""
from parallel_nono.engine.worker import Worker, packed, unpacked
from parallel_nono.engine.work import Work
from parallel_nono.generator import generate_set
from parallel_nono.kinds import kind
worker = Worker(Work(kind("nonogram"), timed={timed}), 3, "/nowhere")
batch = generate_set("blobs", 20, 10, 10, seed=1)
rows, hard, rest, name, spans, *figures = worker.lease(1, False, 20, (0.0, 0.0), b"", packed([batch]), [])
assert sum(part.num_rows for part in unpacked(rows)) == 20 and name.endswith(".3") and len(figures) == 5
print(sorted({{span[0] for span in spans}}), sum(span[4] for span in spans if span[0] == "solve"))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout == ("['check', 'rows', 'solve'] 20\n" if timed else "[] 0\n"), ended.stderr


def test_nothing_is_recorded_where_nobody_asked() -> None:
    with span("solve", 1):
        pass
    with recording(False) as none, span("solve", 1):
        pass
    with recording() as some, span("solve", 3):
        pass
    assert not none
    assert [(one.name, one.n) for one in some] == [("solve", 3)]
    assert isinstance(some[0], Span)


def test_spans_have_names_that_are_explained() -> None:
    used = set()
    for path in Path(parallel_nono.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "span":
                (name, *_) = node.args
                assert isinstance(name, ast.Constant)
                used.add(name.value)
    assert used | set(JOBS.values()) == NAMES.keys()
    text = (Path(parallel_nono.__file__).parents[1] / "docs/engines.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\| `(\w+)` \| (.+) \|$", text) == list(NAMES.items())
