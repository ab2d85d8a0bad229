"""Workers that write their rows themselves: every row is there exactly once, whoever dies, whatever is not shared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import title

from parallel_nono.attempt import Limits
from parallel_nono.engine import parts as worker_parts
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.parts import MIN_ROWS, PART_KEY, Parts, written
from parallel_nono.engine.status_line import new_status_line
from parallel_nono.engine.work import Chunk, Place, Work, attempt
from parallel_nono.kinds import kind
from parallel_nono.report.parquet import Writer, batches, hosts, parts, sessions
from parallel_nono.report.summary import Summary

N = 3 * MIN_ROWS


@pytest.fixture(scope="module")
def rows() -> list[pa.RecordBatch]:
    """The rows of some leases of the kind that doubles numbers, some of which can't be read."""
    work = Work(kind("null"), Limits(), "test")
    found = []
    for lease in range(2):
        text = "\n".join(str(n) if n % 50 else "x" for n in range(N)).encode()
        done = attempt(work, Chunk([(f"lease{lease}", text)]), new_status_line(), Place("ray", f"host{lease}", "w"))
        found.append(pa.Table.from_batches(done.rows).combine_chunks().to_batches()[0])
    return found


def writer(out: Path, **more: Any) -> Writer:
    return Writer(out, {"a": 1}, {"run": "test"}, "driver", **more)


def keys(out: Path) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for batch in batches(out, ["source", "index"]):
        found.update(zip(batch.column("source").to_pylist(), batch.column("index").to_pylist(), strict=True))
    return found


def whole(rows: pa.RecordBatch) -> list[dict[str, Any]]:
    return rows.to_pylist()


def test_rows_that_a_worker_wrote_are_those_that_would_have_travelled(
    tmp_path: Path, rows: list[pa.RecordBatch]
) -> None:
    with writer(tmp_path / "far") as far, writer(tmp_path / "near") as near:
        invitation = far.invite()
        for batch in rows:
            (thin,) = written(invitation, [batch.slice(0, N // 2), batch.slice(N // 2)])
            assert thin.nbytes < batch.nbytes
            far.write(thin)
            near.write(batch)
        assert len(list(parts(tmp_path / "far"))) == 2
        far.session["engine"] = "ray"
        far.hosts["host0"] = {"cores": 2}
    assert far.n_rows == near.n_rows == 2 * N
    together = [pa.Table.from_batches(batches(tmp_path / name)).to_pylist() for name in ("far", "near")]
    assert together[0] == together[1]
    session = sessions(tmp_path / "far")[0]
    assert (session["engine"], session["worker_parts"]) == ("ray", 2)
    assert hosts(tmp_path / "far") == {"host0": {"cores": 2}}
    first = pq.read_schema(next(parts(tmp_path / "far"))).metadata
    assert first[b"pnono.run"] == pq.read_schema(next(parts(tmp_path / "near"))).metadata[b"pnono.run"]
    assert PART_KEY not in first


def test_the_summary_needs_no_more_than_travels(tmp_path: Path, rows: list[pa.RecordBatch]) -> None:
    thin_summary, full_summary = Summary(), Summary()
    with writer(tmp_path / "out") as out:
        for batch in rows:
            (thin,) = written(out.invite(), [batch])
            thin_summary.add(thin)
            full_summary.add(batch)
    for facts in ("n_rows", "n_warnings", "n_errors", "decided", "heaviest", "errors"):
        assert getattr(thin_summary, facts) == getattr(full_summary, facts), facts
    assert thin_summary.times() == full_summary.times()


def test_files_of_lost_leases_are_never_read_and_are_swept(tmp_path: Path, rows: list[pa.RecordBatch]) -> None:
    """A worker died, or was cut off, after it had written; its lease was run again by another one."""
    out = tmp_path / "out"
    with writer(out) as first:
        invitation = first.invite()
        written(invitation, [rows[0]])
        (again,) = written(invitation, [rows[0]])
        first.write(again)
        assert len(list((out / ".tmp").glob("lease-*"))) == 1
        assert set(keys(out).values()) == {1}
    assert not (out / ".tmp").exists()
    with writer(out, resume=True) as second:
        (late,) = written(second.invite(), [rows[1]])
        assert written(invitation, [rows[1]]) == [rows[1]], "an invitation of the first start is void"
        second.write(late)
    assert len(keys(out)) == 2 * N
    assert set(keys(out).values()) == {1}


def test_few_rows_travel(tmp_path: Path, rows: list[pa.RecordBatch]) -> None:
    with writer(tmp_path / "out") as out:
        few = rows[0].slice(0, MIN_ROWS - 1)
        assert written(out.invite(), [few]) == [few]
        assert written(out.invite(), []) == []


def test_rows_travel_where_the_folder_is_not_shared_or_full(
    tmp_path: Path, rows: list[pa.RecordBatch], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = Parts(str(tmp_path / "elsewhere"), "token")
    assert written(missing, [rows[0]]) == [rows[0]]
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/token").write_text("of another run")
    assert written(missing, [rows[0]]) == [rows[0]]

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with writer(tmp_path / "out") as out:
        invitation = out.invite()
        monkeypatch.setattr(worker_parts.pq, "write_table", full)
        assert written(invitation, [rows[0]]) == [rows[0]]
        monkeypatch.undo()
        assert not list((tmp_path / "out/.tmp").glob("lease-*"))


def test_leases_are_longer_when_workers_write(tmp_path: Path) -> None:
    work = Work(kind("null"), parts=Parts(str(tmp_path), ""))
    assert work.lease_s == worker_parts.LEASE_S > 5 * Work(kind("null")).lease_s
    chunks = []
    for lease_s in (0.4, 1.6):
        feed = Feed(iter([("s", b"1")] * 60_000), 2, None, lease_s)
        feed.pace = 1e-3
        chunk = feed.take()
        assert chunk is not None
        chunks.append(chunk.weight)
    assert chunks[1] == pytest.approx(4 * chunks[0], rel=0.01)


# With real processes

PUZZLES = 12_000


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Noise of 15x15: some hundred microseconds each, some of them hard; solved undisturbed in `still`."""
    folder = tmp_path_factory.mktemp("puzzles")
    size = ("--height", "15", "--width", "15", "--set", "density=45")
    pnono("generate", "noise", folder / "in.sgt", "--count", PUZZLES, *size)
    pnono("run", folder / "in.sgt", "--out", folder / "still", "--workers", 2, "--engine", "local")
    return folder


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "parallel_nono", *map(str, words)]


def pnono(*words: object) -> None:
    subprocess.run(command(*words), check=True, timeout=300, stdout=subprocess.DEVNULL)


def verdicts(out: Path) -> dict[tuple[str, int], tuple[str, str]]:
    table = pq.read_table(out / "rows", columns=["source", "index", "outcome", "digest"]).to_pylist()
    assert len(table) == PUZZLES
    return {(row["source"], row["index"]): (row["outcome"], row["digest"]) for row in table}


def wait_for(what: Any, seconds: float = 90.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.mark.ray
@pytest.mark.slow
def test_killed_workers_and_a_killed_driver_lose_and_double_nothing(puzzles: Path) -> None:
    out = puzzles / "out"
    words = ("run", puzzles / "in.sgt", "--out", out, "--engine", "ray", "--workers", 2, "--worker-parts", "--quiet")
    driver = subprocess.Popen(command(*words), start_new_session=True)

    def workers() -> list[psutil.Process]:
        children = psutil.Process(driver.pid).children(recursive=True)
        return [child for child in children if "ray::Worker" in title(child, 1)]

    try:
        wait_for(lambda: list(out.glob("rows/*.parquet")) or driver.poll() is not None)
        victims = workers()
        assert victims
        victims[0].send_signal(signal.SIGKILL)
        before = len(list(parts(out)))
        wait_for(lambda: len(list(parts(out))) > before or driver.poll() is not None)
    finally:
        family = psutil.Process(driver.pid).children(recursive=True) if driver.poll() is None else []
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        for process in family:
            if process.is_running():
                process.kill()
    assert set(keys(out).values()) == {1}, "also while the files of lost leases lie about"
    pnono(*words, "--resume")
    assert set(keys(out).values()) == {1}
    assert verdicts(out) == verdicts(puzzles / "still")
    assert any(session.get("worker_parts") for session in sessions(out))
    assert not (out / ".tmp").exists()
    assert np.unique([path.name for path in parts(out)]).size == len(list(parts(out)))
    assert os.listdir(out / "rows") == [path.name for path in out.glob("rows/part-*.parquet")]
