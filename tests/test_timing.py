"""Timings that can be trusted: repetitions that must agree, cores of one's own, a calibration, and gauges that tell."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from parallel_nono.attempt import OF_THE_RUN, OUTCOMES, Limits
from parallel_nono.engine import EngineError, engine, timing
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.status_line import new_status_line
from parallel_nono.engine.work import Chunk, Place, RejectedPuzzle, Work, attempt
from parallel_nono.kinds import Kind, Solved, kind
from parallel_nono.kinds.null import KIND
from parallel_nono.report.parquet import batches, hosts

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's gauges")
TEXT = "\n".join(map(str, range(10)))
HERE = Place("local", "host", "1.0")


def tried(work: Work, text: str = TEXT, place: Place = HERE, **chunk: Any) -> list[dict[str, Any]]:
    done = attempt(work, Chunk([("s", text.encode())], **chunk), new_status_line(), place)
    return [row for rows in done.rows for row in rows.to_pylist()]


class Fickle:
    """The null kind, whose n-th call of `solve` is `change`d."""

    def __init__(self, change: Any) -> None:
        self._change = change
        self.calls: list[int] = []

    def kind(self) -> Kind:
        return replace(KIND, name="fickle", solve=self.solve)

    def solve(self, chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
        solved = KIND.solve(chunk, limits, abort)
        self.calls.append(chunk.num_rows)
        self._change(len(self.calls), solved.columns, chunk)
        return solved


# Repetitions.


def test_every_puzzle_is_solved_so_often_and_the_times_are_summed_up() -> None:
    def change(call: int, columns: dict[str, Any], chunk: pa.RecordBatch) -> None:
        columns["solve_s"] = np.full(chunk.num_rows, (0.5, 0.125, 0.25, 2.0, 1.0)[call - 1])

    fickle = Fickle(change)
    rows = tried(Work(fickle.kind(), repeat=5))
    assert fickle.calls == [10] * 5
    for row in rows:
        assert (row["repeats"], row["solve_s"]) == (5, 0.5)
        assert (row["median_s"], row["min_s"], row["spread_s"]) == (0.5, 0.125, 1.875)


def test_what_was_solved_once_has_no_spread() -> None:
    for row in tried(Work(KIND)):
        assert (row["repeats"], row["median_s"], row["min_s"], row["spread_s"]) == (1, 0, 0, 0)


def test_a_verdict_that_changes_is_our_bug_and_hands_over_the_puzzle() -> None:
    def change(call: int, columns: dict[str, Any], chunk: pa.RecordBatch) -> None:
        if call == 3:
            columns["outcome"] = np.array(columns["outcome"])
            columns["outcome"][7] = OUTCOMES.index("multiple")

    with pytest.raises(RejectedPuzzle, match="unique the first time, multiple when it was repeated") as caught:
        tried(Work(Fickle(change).kind(), repeat=3))
    assert caught.value.puzzle.to_pylist()[0]["index"] == 8


def test_a_wrong_solution_of_a_repetition_is_seen_too() -> None:
    work = Work(replace(KIND, check=lambda chunk, solutions: [(0, "no")] if next(calls) > 2 else []), repeat=4)
    calls = iter(range(1, 10))
    with pytest.raises(RejectedPuzzle, match="the checker rejects"):
        tried(work)


def test_time_out_is_no_verdict_and_what_timed_out_is_not_repeated() -> None:
    timeout = OUTCOMES.index("timeout")

    def change(call: int, columns: dict[str, Any], chunk: pa.RecordBatch) -> None:
        columns["outcome"] = np.array(columns["outcome"])
        if call == 1:
            columns["outcome"][[2, 3]] = timeout
        else:
            columns["outcome"][0] = timeout

    fickle = Fickle(change)
    rows = tried(Work(fickle.kind(), Limits(seconds=1.0), repeat=3))
    assert fickle.calls == [10, 8, 8]
    assert [row["repeats"] for row in rows] == [3, 3, 1, 1, *[3] * 6]
    assert [row["outcome"] for row in rows] == ["unique", "unique", "timeout", "timeout", *["unique"] * 6]


def test_a_stop_ends_repetitions_too() -> None:
    page = new_status_line()

    def change(call: int, columns: dict[str, Any], chunk: pa.RecordBatch) -> None:
        page[0] = call == 2

    fickle = Fickle(change)
    chunk = Chunk([("s", TEXT.encode())])

    def solve(batch: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
        solved = fickle.solve(batch, limits, abort)
        return replace(solved, aborted=bool(abort[0]))

    done = attempt(Work(replace(KIND, solve=solve), repeat=1000), chunk, page, HERE)
    assert fickle.calls == [10, 10]
    assert done.aborted
    assert done.rest is not None
    assert done.rest.num_rows == 10


def run(tmp_path: Path, *options: str, code: int = 0) -> str:
    (tmp_path / "in.sgt").write_text("3x3:3/1.1/1/2/1/3\n2x2:1/1/1/1\n")
    ended = subprocess.run(
        [sys.executable, "-m", "parallel_nono", "run", "in.sgt", "--out", "out", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.slow
@linux
def test_a_run_for_timing_repeats_pins_and_calibrates(tmp_path: Path) -> None:
    run(tmp_path, "--repeat", "3", "--pin")
    (batch,) = batches(tmp_path / "out")
    rows = batch.to_pylist()
    assert [row["outcome"] for row in rows] == ["unique", "multiple"]
    for row in rows:
        assert row["repeats"] == 3
        assert 0 < row["min_s"] <= row["median_s"] <= row["min_s"] + row["spread_s"] + 1e-9
        assert row["core"] in os.sched_getaffinity(0)
        assert 1e-4 < row["calibration_s"] < 1
    (name,) = hosts(tmp_path / "out")
    facts = hosts(tmp_path / "out")[name]
    assert {"cpu", "cores", "memory_mib", "system", "versions"} <= facts.keys()
    assert name == rows[0]["host"]


@pytest.mark.slow
def test_more_pinned_workers_than_cores_and_lines_mode_are_refused(tmp_path: Path) -> None:
    assert "--pin: expected at most" in run(tmp_path, "--pin", "--workers", "4096", code=2)
    assert "expected --mode puzzles" in run(tmp_path, "--repeat", "2", "--mode", "lines", code=2)


# Cores.


@linux
def test_every_worker_gets_a_core_of_its_own_and_gives_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "CLAIM_S", 0.2)
    cores = timing.pinnable()
    assert sorted(cores) == sorted(os.sched_getaffinity(0))
    seen, errors, files = [], [], []
    enough = threading.Barrier(len(cores) + 1)

    def work() -> None:
        core, file = timing.claim_core()
        files.append(file)
        seen.append((core, os.sched_getaffinity(0)))
        enough.wait(30)

    threads = [threading.Thread(target=work) for _ in cores]
    for thread in threads:
        thread.start()
    enough.wait(30)

    def too_many() -> None:
        with pytest.raises(EngineError) as caught:
            timing.claim_core()
        errors.append(str(caught.value))

    one_more = threading.Thread(target=too_many)
    one_more.start()
    one_more.join()
    for thread in threads:
        thread.join()
    assert sorted(core for core, _ in seen) == sorted(cores)
    assert all(bound == {core} for core, bound in seen)
    assert "expected a free core" in errors[0]
    for file in files:
        file.close()
    again = threading.Thread(target=lambda: timing.claim_core()[1].close())
    again.start()
    again.join()
    assert os.sched_getaffinity(0) == set(cores)


HOLDER = """
import sys
from parallel_nono.engine import timing
core, file = timing.claim_core()
print(core, flush=True)
sys.stdin.read()
"""


@linux
def test_a_core_is_taken_by_another_run_and_free_when_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        taken = int(holder.stdout.readline())
        mine = []
        thread = threading.Thread(target=lambda: mine.append(timing.claim_core()))
        thread.start()
        thread.join()
        core, file = mine[0]
        assert core != taken
        file.close()
        holder.kill()
    first = []
    thread = threading.Thread(target=lambda: first.append(timing.claim_core()))
    thread.start()
    thread.join()
    assert first[0][0] == taken
    first[0][1].close()


# The calibration.


def test_the_calibration_is_the_same_work_every_time_and_quick() -> None:
    from parallel_nono.solver import solve_set

    sets = timing.calibration_sets()
    counts = [int(solve_set(one, Limits(), np.zeros(1, np.int64)).n_lines.sum()) for one in sets]
    assert counts == [int(solve_set(one, Limits(), np.zeros(1, np.int64)).n_lines.sum()) for one in sets]
    assert [one.num_rows for one in sets] == [128, 8]
    assert len(set(sets[0].column("digest").to_pylist())) == 128
    timing.calibration_s()
    began = time.thread_time()
    seconds = timing.calibration_s()
    assert time.thread_time() - began < 0.25  # 20 ms on an idle machine
    assert 1e-4 < seconds < 0.1


def test_rows_say_what_the_worker_measured_and_nothing_where_nobody_asked(tmp_path: Path) -> None:
    rows = tried(Work(KIND), place=replace(HERE, core=3, calibration_s=0.25))
    assert {(row["core"], row["calibration_s"]) for row in rows} == {(3, 0.25)}
    assert {(row["core"], row["calibration_s"]) for row in tried(Work(KIND))} == {(-1, 0)}


# Gauges.


def slow(seconds: float, busy: bool) -> Kind:
    """The null kind, taking its time, with the core or without."""

    def solve(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
        began, cpu = time.perf_counter(), time.thread_time()
        if busy:
            while time.thread_time() - cpu < seconds:
                pass
        else:
            time.sleep(seconds)
        solved = KIND.solve(chunk, limits, abort)
        each = (time.perf_counter() - began) / chunk.num_rows
        return replace(solved, columns={**solved.columns, "solve_s": np.full(chunk.num_rows, each)})

    return replace(KIND, solve=solve)


def test_processor_time_tells_work_from_waiting() -> None:
    worked, slept = tried(Work(slow(0.2, True))), tried(Work(slow(0.2, False)))
    assert sum(row["cpu_s"] for row in worked) == pytest.approx(0.2, rel=0.1)
    assert sum(row["cpu_s"] for row in slept) < 0.05
    for row in (*worked, *slept):
        assert row["cpu_s"] <= row["solve_s"] <= row["chunk_s"]
        assert row["chunk_cpu_s"] <= row["chunk_s"] * 1.01 + 1e-4
    assert worked[0]["chunk_cpu_s"] >= 0.2
    assert slept[0]["chunk_s"] >= 0.2


def test_both_clocks_tell_when_each_puzzle_was_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    before, clock = time.time(), time.monotonic()
    rows = tried(Work(slow(0.05, False)))
    after = time.monotonic()
    ticks = [row["clock_us"] / 1e6 for row in rows]
    assert clock <= ticks[0]
    assert ticks == sorted(ticks)
    assert ticks[-1] <= after
    assert before - 1 < rows[0]["started"].timestamp() < time.time() + 1
    assert np.ptp([row["started"].timestamp() - tick for row, tick in zip(rows, ticks, strict=True)]) < 1e-3
    # A wall clock that somebody sets back changes neither the durations nor the other clock.
    monkeypatch.setattr("parallel_nono.engine.work.time", lambda: before - 3600)
    moved = tried(Work(slow(0.05, False)))
    assert moved[0]["started"].timestamp() == pytest.approx(before - 3600, abs=1e-3)
    assert moved[0]["clock_us"] / 1e6 > after - 1e-6
    assert all(0 <= row["queue_s"] < 1 and 0 < row["solve_s"] < 1 for row in moved)


def test_chunks_have_numbers_of_their_own() -> None:
    first, second = tried(Work(KIND)), tried(Work(KIND))
    assert len({row["chunk"] for row in first}) == len({row["chunk"] for row in second}) == 1
    assert first[0]["chunk"] < second[0]["chunk"]


def test_waiting_in_the_queue_is_told() -> None:
    assert 2 <= tried(Work(KIND), made=time.monotonic() - 2)[0]["queue_s"] < 4


@pytest.mark.slow
@linux
def test_the_peak_of_a_chunk_is_its_own_where_nobody_shares_the_process() -> None:
    code = """
from dataclasses import replace
import numpy as np
import test_timing as t
from parallel_nono.engine.work import Work
from parallel_nono.kinds.null import KIND

def solve(chunk, limits, abort):
    np.ones(chunk.column("height").to_pylist()[0] and 25_000_000 * big[0])
    return KIND.solve(chunk, limits, abort)

big = [0]
work = Work(replace(KIND, solve=solve))
alone = replace(t.HERE, alone=True)
small = t.tried(work, place=alone)[0]
big[0] = 1
large = t.tried(work, place=alone)[0]
big[0] = 0
after = t.tried(work, place=alone)[0]
shared = t.tried(work, place=t.HERE)[0]
print(*(row[name] for row in (small, large, after) for name in ("chunk_mib", "peak_mib")))
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    )
    small, small_peak, large, large_peak, after, after_peak = map(float, ended.stdout.split())
    assert 150 < large - small < 250
    assert abs(after - small) < 30
    assert small_peak == pytest.approx(small, abs=10)
    assert large_peak == after_peak == pytest.approx(large, abs=1)


@pytest.mark.slow
@linux
def test_losing_the_core_is_counted() -> None:
    core = min(os.sched_getaffinity(0))
    burn = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint(flush=True)\nwhile True: pass"
    rows = []

    def bound() -> None:
        os.sched_setaffinity(0, {core})
        rows.extend(tried(Work(slow(0.3, True))))

    with subprocess.Popen([sys.executable, "-c", burn, str(core)], stdout=subprocess.PIPE) as rival:
        assert rival.stdout is not None
        rival.stdout.readline()
        thread = threading.Thread(target=bound)
        thread.start()
        thread.join()
        rival.kill()
    assert rows[0]["preempted"] >= 3
    assert rows[0]["chunk_cpu_s"] < 0.9 * rows[0]["chunk_s"]


def test_gauges_of_the_host_are_numbers() -> None:
    assert timing.stolen_s() >= 0
    assert timing.load() >= 0
    assert 20 < timing.recent_peak_mib() <= timing.peak_mib()


def test_columns_of_the_run_are_columns() -> None:
    from parallel_nono.attempt import COLUMNS

    assert set(OF_THE_RUN) <= set(COLUMNS)
    assert not set(OF_THE_RUN) & {"name", "outcome", "solve_s", "solution", "error"}


@linux
def test_pinned_threads_of_an_engine_are_on_different_cores() -> None:
    n = min(2, len(os.sched_getaffinity(0)))
    pieces = iter([(f"s{place}", TEXT.encode()) for place in range(40)])
    work = Work(slow(0.02, False), pin=True)
    rows = [
        row
        for batch in engine("auto")(work, Feed(pieces, n), Session(Pool(n)))
        for row in batch.select(["worker", "core"]).to_pylist()
    ]
    cores = {row["worker"]: row["core"] for row in rows}
    assert len(rows) == 400
    assert len(set(cores.values())) == len(cores) == n


def test_the_kinds_that_need_no_calibration_get_one_too() -> None:
    rows = engine("local")(Work(kind("null"), calibrate=True), Feed(iter([("s", TEXT.encode())])), Session())
    assert all(row["calibration_s"] > 0 for batch in rows for row in batch.to_pylist())
