"""Results as a product: old runs stay readable, compaction loses nothing when it is killed, one writer at a time."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rewritten

from parallel_nono.attempt import COLUMNS, SCHEMA_VERSION, schema
from parallel_nono.engine import engine
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.session import Session
from parallel_nono.engine.work import Work
from parallel_nono.kinds import kind
from parallel_nono.report import compact as compaction
from parallel_nono.report.compact import Content, compact, needs_compaction, upkeep
from parallel_nono.report.parquet import (
    Keys,
    OutputError,
    Writer,
    batches,
    hosts,
    parts,
    read_facts,
    sessions,
)
from parallel_nono.report.parts import FIRST, is_current, written_as
from parallel_nono.report.summary import Summary

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"
OLD_RUN = GOLDEN / "run-1"
"""A run of schema version 1 as its first release wrote it, stopped and resumed once."""


def some_rows(n: int, source: str, host: str = "") -> pa.RecordBatch:
    """Rows of `n` numbers and one that is none, from a machine of that name."""
    text = "\n".join(map(str, range(n))) + "\nnone"
    work = Work(kind("null"), run="test")
    table = pa.Table.from_batches(engine("local")(work, Feed(iter([(source, text.encode())])), Session()))
    if host:
        names = pa.array([host] * table.num_rows).dictionary_encode()
        table = table.set_column(COLUMNS.index("host"), schema().field("host"), names)
    return table.unify_dictionaries().combine_chunks().to_batches()[0]


def write(out: Path, pieces: list[pa.RecordBatch], resume: bool = False, run: str = "test") -> None:
    """A run with a part for each piece."""
    with Writer(out, {"seconds": 1}, {"run": run}, "driver", resume) as writer:
        writer.session = {"started": f"2026-01-0{1 + resume}", "engine": "local", "why": "", "workers": 1}
        for rows in pieces:
            writer.hosts |= {name: {"cpu": f"of {name}"} for name in set(rows.column("host").to_pylist())}
            writer.write(rows)
            writer.flush()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Nine parts, rows of three machines, started twice."""
    out = tmp_path / "run"
    pieces = [some_rows(20, f"s{n}", f"node-{n % 3}") for n in range(9)]
    write(out, pieces[:5])
    write(out, pieces[5:], resume=True)
    return out


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [row for batch in batches(out) for row in batch.to_pylist()]


def by_host(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["host"], []).append(row)
    return found


# Old runs.


def test_an_old_run_has_the_columns_of_today() -> None:
    rows = rows_of(OLD_RUN)
    assert len(rows) == 24
    assert all(tuple(row) == COLUMNS for row in rows)
    assert Counter(row["outcome"] for row in rows) == {"unique": 11, "multiple": 11, "contradiction": 1, "invalid": 1}
    assert all(row["calibration_s"] == row["clock_us"] == 0 and row["solver"] == "" for row in rows)
    assert sum(row["n_lines"] for row in rows) == 11769
    assert len({(row["source"], row["index"]) for row in rows}) == 24
    assert {row["solution"][:10] for row in rows if row["name"] == "sprites 12x12 5"} == {"...aaaaaa."}


def test_a_part_has_at_least_the_columns_of_the_first_release() -> None:
    there = pq.read_schema(next(parts(OLD_RUN))).names
    assert [written_as(name, there) for name in FIRST] == there
    assert set(FIRST) <= set(COLUMNS)


def test_facts_sessions_keys_and_summary_of_an_old_run_are_read() -> None:
    assert read_facts(OLD_RUN)["run"] == "golden"
    assert [session["engine"] for session in sessions(OLD_RUN)] == ["local", "local"]
    assert len(Keys(OLD_RUN)) == 24
    summary = Summary.of(OLD_RUN)
    assert summary.outcomes() == {"unique": 11, "multiple": 11, "contradiction": 1, "invalid": 1}


def pnono(*arguments: str, cwd: Path, code: int = 0) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "parallel_nono", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.slow
def test_an_old_run_goes_on_without_doing_anything_twice_and_gets_the_columns_of_today(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN, tmp_path / "golden")
    out = tmp_path / "golden/run-1"
    before = rows_of(out)
    (tmp_path / "golden/in/more.nin").write_text("2 2\n2\n1\n2\n1\n")
    pnono("run", "in/", "--out", "run-1", "--resume", "--workers", "2", cwd=tmp_path / "golden")
    rows = rows_of(out)
    assert [row for row in rows if row["source"] != "in/more.nin"] == before
    assert [row["outcome"] for row in rows if row["source"] == "in/more.nin"] == ["unique"]
    assert all(is_current(out, part) for part in parts(out))
    assert len(sessions(out)) == 3
    pnono("report", "run-1", cwd=tmp_path / "golden")


def test_results_of_a_version_to_come_are_refused(tmp_path: Path) -> None:
    shutil.copytree(OLD_RUN, tmp_path / "run")
    for part in parts(tmp_path / "run"):
        table = pq.read_table(part)
        newer = {**table.schema.metadata, b"pnono.schema": str(SCHEMA_VERSION + 1).encode()}
        pq.write_table(table.replace_schema_metadata(newer), part)
    with pytest.raises(OutputError, match=f"found version {SCHEMA_VERSION + 1}"):
        read_facts(tmp_path / "run")
    assert "found version" in pnono("compact", "run", cwd=tmp_path, code=3)


# Compaction.


@pytest.mark.slow
def test_compaction_makes_a_file_for_every_host_and_keeps_every_row_in_its_order(run: Path) -> None:
    before, told = by_host(rows_of(run)), (sessions(run), read_facts(run))
    done = compact(run)
    assert (done.n_before, done.n_after, done.n_rows) == (9, 3, 189)
    assert by_host(rows_of(run)) == before
    assert [sorted(set(pq.read_table(part)["host"].to_pylist())) for part in parts(run)] == [
        ["node-0"],
        ["node-1"],
        ["node-2"],
    ]
    assert (sessions(run), read_facts(run)) == told
    assert hosts(run) == {f"node-{n}": {"cpu": f"of node-{n}"} for n in range(3)}
    assert {path.name for path in run.iterdir()} == {"rows", "run.json"}
    again = compact(run)
    assert not again.changed
    assert (again.n_before, again.n_after) == (3, 3)


@pytest.mark.slow
def test_a_compacted_run_goes_on_and_is_compacted_again(run: Path) -> None:
    compact(run)
    write(run, [some_rows(20, "late", "node-1"), some_rows(20, "later", "node-3")], resume=True)
    assert len(list(parts(run))) == 5
    assert needs_compaction(run)
    assert compact(run).n_after == 4
    assert len(rows_of(run)) == 189 + 42
    assert set(hosts(run)) == {"node-0", "node-1", "node-2", "node-3"}


@pytest.mark.slow
def test_large_files_are_closed_and_left_alone(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "FILE_ROWS", 30)
    monkeypatch.setattr(compaction, "ROW_GROUP", 10)
    before = by_host(rows_of(run))
    assert compact(run).n_after == 6
    assert by_host(rows_of(run)) == before
    assert not compact(run).changed


@pytest.mark.slow
def test_rows_that_wait_are_bounded(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "WAITING_BYTES", 0)
    before = by_host(rows_of(run))
    compact(run)
    assert by_host(rows_of(run)) == before
    assert [pq.read_metadata(part).num_row_groups for part in parts(run)] == [3, 3, 3]


def test_a_run_without_rows_stays_readable(tmp_path: Path) -> None:
    write(tmp_path / "run", [])
    assert not compact(tmp_path / "run").changed
    (part,) = parts(tmp_path / "run")
    rewritten(part, pq.read_table(part).drop_columns(["calibration_s"]))
    assert compact(tmp_path / "run").changed
    assert rows_of(tmp_path / "run") == []
    assert read_facts(tmp_path / "run")["run"] == "test"


@pytest.mark.slow
def test_a_run_with_many_parts_compacts_itself(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upkeep(run)
    assert len(list(parts(run))) == 9
    monkeypatch.setattr(compaction, "PARTS", 8)
    upkeep(run)
    assert len(list(parts(run))) == 3


STOPS = ("writing", "checking", "exchanging", "between two renames", "sweeping")
STOPPED = """
import os, shutil, signal, sys
from pathlib import Path
from parallel_nono.report import compact as module

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

where = sys.argv[2]
if where == "writing":
    close, n = module.Files._close, []
    module.Files._close = lambda self, host: (close(self, host), n.append(host), len(n) == 2 and die())
elif where == "checking":
    module.Content.digests = die
elif where == "exchanging":
    module._exchange = die
elif where == "between two renames":
    module._exchanged = lambda *_: False
    move = module.Folder.move
    module.Folder.move = lambda self, name, to, new: (move(self, name, to, new), new == "replaced" and die())
elif where == "sweeping":
    module.folder_to_disk = lambda folder: folder.path.name == "run" and die()
module.compact(Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize(
    ("where", "then"), [*((where, "compact") for where in STOPS), *((where, "resume") for where in STOPS[::3])]
)
def test_compaction_may_be_killed_at_any_moment(run: Path, where: str, then: str) -> None:
    before = by_host(rows_of(run))
    ended = subprocess.run([sys.executable, "-c", STOPPED, str(run), where], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert by_host(rows_of(run)) == before
    assert len(Keys(run)) == 189
    assert read_facts(run)["run"] == "test"
    if then == "compact":
        compact(run)
    else:
        write(run, [], resume=True)
    assert by_host(rows_of(run)) == before
    assert {path.name for path in run.iterdir()} == {"rows", "run.json"}


@pytest.mark.slow
def test_where_folders_cannot_change_places_in_one_step_two_do(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_exchanged", lambda *_: False)
    before = by_host(rows_of(run))
    compact(run)
    assert by_host(rows_of(run)) == before
    assert {path.name for path in run.iterdir()} == {"rows", "run.json"}


def spoiled(change: Callable[[pa.Table], pa.Table]) -> Any:
    """A writer that changes what it is given once."""

    class Spoiler(pq.ParquetWriter):  # type: ignore[misc]
        def write_table(self, table: pa.Table, *more: Any, **others: Any) -> None:
            super().write_table(change(table), *more, **others)

    return Spoiler


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", ["a row is lost", "a row is doubled", "a number is changed", "two rows change places"]
)
def test_what_does_not_read_back_as_it_was_is_not_taken(run: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    def change(table: pa.Table) -> pa.Table:
        if fault == "a row is lost":
            return table.slice(1)
        if fault == "a row is doubled":
            return pa.concat_tables([table, table.slice(0, 1)])
        if fault == "two rows change places":
            return table.take([1, 0, *range(2, table.num_rows)])
        times = table["solve_s"].to_pylist()
        return table.set_column(
            table.column_names.index("solve_s"), table.schema.field("solve_s"), pa.array([9, *times[1:]], pa.float32())
        )

    before = rows_of(run)
    monkeypatch.setattr(pq, "ParquetWriter", spoiled(change))
    with pytest.raises(OutputError, match="does not read back as it was"):
        compact(run)
    assert rows_of(run) == before
    assert {path.name for path in run.iterdir()} == {"rows", "run.json"}


@pytest.mark.slow
def test_a_damaged_part_stops_compaction_and_stays_as_it_is(run: Path) -> None:
    *_, part = parts(run)
    data = part.read_bytes()
    part.write_bytes(data[: len(data) // 2])
    assert "can't be compacted" in pnono("compact", str(run), cwd=run, code=3)
    assert len(list(parts(run))) == 9
    assert part.stat().st_size == len(data) // 2


@given(st.lists(st.integers(0, 21), max_size=4))
@settings(max_examples=20)
def test_the_digest_does_not_depend_on_how_rows_are_cut(cuts: list[int]) -> None:
    rows = CUT_ROWS
    whole, pieces = Content(), Content()
    whole.add("h", rows)
    edges = [0, *sorted(cuts), rows.num_rows]
    for start, stop in pairwise(edges):
        pieces.add("h", rows.slice(start, stop - start))
    assert whole.digests() == pieces.digests()


CUT_ROWS = some_rows(20, "cut")


@pytest.mark.parametrize("column", COLUMNS)
def test_the_digest_sees_a_change_in_any_column(column: str) -> None:
    table = pa.Table.from_batches([CUT_ROWS])
    field = schema().field(column)
    values = table[column].to_pylist()
    if isinstance(values[3], str):
        values[3] += "x"
    elif isinstance(values[3], bool):
        values[3] = not values[3]
    elif isinstance(values[3], int | float):
        values[3] += 1
    else:
        values[3] = values[4].replace(year=1999)
    place = COLUMNS.index(column)
    changed = table.set_column(place, field, pa.array(values, field.type)).combine_chunks().to_batches()[0]
    one, other = Content(), Content()
    one.add("h", CUT_ROWS)
    other.add("h", changed)
    assert one.digests() != other.digests()


# One writer at a time.


def test_nobody_else_writes_while_a_run_is_under_way(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with Writer(out, {}, {"run": "test"}, "h") as writer:
        writer.write(some_rows(5, "s"))
        writer.flush()
        with pytest.raises(OutputError, match="another pnono is writing there"):
            compact(out)
        with pytest.raises(OutputError, match="another pnono is writing there"):
            Writer(out, {}, {"run": "test"}, "h", resume=True)
        assert "another pnono" in pnono("compact", "run", cwd=tmp_path, code=74)
    assert len(rows_of(out)) == 6
    assert not compact(out).changed


HOLDING = """
import sys
from pathlib import Path
from parallel_nono.report.parquet import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_the_lock_of_a_killed_writer_holds_nobody_up(run: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(OutputError, match="another pnono"):
            compact(run)
        holder.kill()
    assert (run / ".lock").exists()
    assert compact(run).n_after == 3
    assert not (run / ".lock").exists()


# What others read.


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["pyarrow", "duckdb", "polars", "pandas", "spark"])
def test_every_reader_reads_parts_and_compacted_files_of_several_runs_at_once(tmp_path: Path, reader: str) -> None:
    for number, name in enumerate(("20261130", "second")):
        write(
            tmp_path / "runs" / name,
            [some_rows(20, "a", "node-1"), some_rows(20, "b", "node-2"), some_rows(9, "c", "node-1")],
            run=name,
        )
        if number:
            compact(tmp_path / "runs" / name)
    pattern = str(tmp_path / "runs/*/rows/*.parquet")
    found = READERS[reader](pattern)
    assert found == {"node-1": 2 * 31, "node-2": 2 * 21}


def _pyarrow(pattern: str) -> dict[str, int]:
    import pyarrow.dataset as ds

    files = [str(path) for path in Path(pattern[: pattern.index("/*")]).glob("*/rows/*.parquet")]
    counts = ds.dataset(files).to_table(["host", "clock_us", "started"])["host"].value_counts()
    return {item["values"]: item["counts"] for item in counts.to_pylist()}


def _duckdb(pattern: str) -> dict[str, int]:
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.sql(f"select host, count(*), max(clock_us), max(index) from '{pattern}' group by host").fetchall()
    return {host: n for host, n, _, _ in rows}


def _polars(pattern: str) -> dict[str, int]:
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(pattern, columns=["host", "clock_us", "index", "started"])
    return dict(frame.group_by(polars.col("host").cast(str)).len().iter_rows())


def _pandas(pattern: str) -> dict[str, int]:
    pandas = pytest.importorskip("pandas")
    paths = Path(pattern[: pattern.index("/*")]).glob("*/rows")
    frame = pandas.concat([pandas.read_parquet(path) for path in paths])
    return {str(host): int(n) for host, n in frame["host"].astype(str).value_counts().items()}


def _spark(pattern: str) -> dict[str, int]:
    """As Spark lists a folder of several runs: all files below it but those whose names begin with a dot or `_`."""
    counts = Counter[str]()
    for path in sorted(Path(pattern[: pattern.index("/*")]).rglob("*")):
        names = path.relative_to(pattern[: pattern.index("/*")]).parts
        if path.is_file() and path.suffix == ".parquet" and not any(name.startswith((".", "_")) for name in names):
            assert "=" not in str(path)  # no folder that looks like a partition, so no column is made of it
            counts.update(pq.read_table(path, partitioning=None)["host"].to_pylist())
    return dict(counts)


READERS = {"pyarrow": _pyarrow, "duckdb": _duckdb, "polars": _polars, "pandas": _pandas, "spark": _spark}


@pytest.mark.slow
def test_rows_have_the_one_schema_and_its_version(run: Path) -> None:
    for _ in range(2):
        for part in parts(run):
            found = pq.read_schema(part)
            assert found.equals(schema())
            assert found.metadata[b"pnono.schema"] == str(SCHEMA_VERSION).encode()
        compact(run)


def test_parts_name_new_hosts_once(run: Path) -> None:
    told = [json.loads(pq.read_schema(part).metadata.get(b"pnono.hosts", b"{}")) for part in parts(run)]
    assert [sorted(names) for names in told[:5]] == [["node-0"], ["node-1"], ["node-2"], [], []]
    assert hosts(run) == {f"node-{n}": {"cpu": f"of node-{n}"} for n in range(3)}


# The documents.


def documented(heading: str) -> Iterator[tuple[str, str]]:
    """(name, type) of the rows of the table under a heading of docs/schema.md."""
    text = (ROOT / "docs/schema.md").read_text(encoding="utf-8")
    section = re.split(r"(?m)^## ", text.partition(f"## {heading}\n")[2])[0]
    return iter(re.findall(r"(?m)^\| `(\w+)` \| ([^|]+) \|", section))


def test_every_column_is_documented_in_order_with_its_type() -> None:
    names = {
        "string": "text",
        "dictionary<values=string, indices=int32, ordered=0>": "label",
        "timestamp[us, tz=UTC]": "timestamp",
        "float": "float32",
    }
    columns = [(field.name, names.get(str(field.type), str(field.type))) for field in schema()]
    assert list(documented("Columns")) == columns


def test_the_version_that_is_documented_is_the_one_that_is_written() -> None:
    text = (ROOT / "docs/schema.md").read_text(encoding="utf-8")
    assert f"Version {SCHEMA_VERSION}." in text


def test_the_queries_of_the_documents_run(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))]
    queries = [query for text in texts for query in re.findall(r"(?s)```sql\n(.*?)```", text)]
    assert len(queries) >= 5
    (run.parent / "runs").mkdir()
    run.rename(run.parent / "runs/first")
    monkeypatch.chdir(run.parent)
    for query in queries:
        duckdb.sql(query).fetchall()


def test_null_is_nowhere() -> None:
    assert pc.sum(pa.array([column.null_count for column in CUT_ROWS.columns])).as_py() == 0
    assert not any(field.nullable for field in schema())
