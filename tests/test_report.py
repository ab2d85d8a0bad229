"""Rows on disk and on the screen: what is closed stays readable, and the summary can be made again from it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rows import rewritten

from parallel_nono.attempt import COLUMNS, SCHEMA_VERSION, schema
from parallel_nono.engine import engine
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.hostinfo import machine, versions
from parallel_nono.engine.session import Session
from parallel_nono.engine.work import Work
from parallel_nono.kinds import kind
from parallel_nono.report import parquet
from parallel_nono.report.parquet import Keys, OutputError, Writer, batches, export, parts, read_facts, sessions
from parallel_nono.report.summary import HEAVIEST, Summary, render
from parallel_nono.report.wording import duration


def some_rows(n: int = 100, source: str = "s") -> Iterator[pa.RecordBatch]:
    """Rows of `n` numbers and one that is none."""
    text = "\n".join(map(str, range(n))) + "\nnone"
    return engine("local")(Work(kind("null"), run="test"), Feed(iter([(source, text.encode())])), Session())


def written(out: Path, n: int = 100, options: dict[str, Any] | None = None, **more: Any) -> Writer:
    with Writer(out, options or {"seconds": 1}, {"run": "test"}, "host", **more) as writer:
        writer.session = {"started": "2026-01-01", "engine": "local", "why": "one worker", "workers": 1}
        for rows in some_rows(n):
            writer.write(rows)
    return writer


def with_columns(rows: pa.RecordBatch, **columns: list[float]) -> pa.RecordBatch:
    """The same rows with other seconds."""
    for name, values in columns.items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, pa.array(values, pa.float32()))
    return rows


def text_of(out: Path, summary: Summary, **more: Any) -> str:
    file = io.StringIO()
    render(Console(file=file, width=80, highlight=False, **more), summary, sessions(out), read_facts(out), out)
    return file.getvalue()


# Parts.


@pytest.mark.parametrize("reader", ["pyarrow", "duckdb", "polars", "pandas"])
def test_every_reader_reads_the_rows(tmp_path: Path, reader: str) -> None:
    out = tmp_path / "run"
    written(out)
    written(out, resume=True)
    folder = out / "rows"
    if reader == "pyarrow":
        table = pq.read_table(folder)
        found = table.num_rows, table.column("outcome").to_pylist().count("invalid"), table.column_names
    elif reader == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        rows = duckdb.sql(f"select * from '{folder}/*.parquet'")
        invalid = duckdb.sql(f"select count(*) from '{folder}/*.parquet' where outcome = 'invalid'").fetchall()[0]
        found = len(rows.fetchall()), invalid[0], rows.columns
    elif reader == "polars":
        polars = pytest.importorskip("polars")
        frame = polars.read_parquet(folder / "*.parquet")
        found = frame.height, (frame["outcome"].cast(str) == "invalid").sum(), frame.columns
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_parquet(folder)
        found = len(frame), int((frame["outcome"] == "invalid").sum()), list(frame.columns)
    assert found == (202, 2, list(COLUMNS))


def test_parts_carry_the_run_facts_and_so_does_the_file_beside_them(tmp_path: Path) -> None:
    with Writer(
        tmp_path / "run", {"plan": ["line"]}, {"run": "r", **machine(), "versions": versions()}, "h/o st"
    ) as writer:
        writer.write(next(iter(some_rows())))
    part = next(parts(tmp_path / "run"))
    assert re.fullmatch(r"part-h-o-st-00000-[0-9a-f]{16}\.parquet", part.name)
    metadata = pq.read_schema(part).metadata
    assert metadata[b"pnono.schema"] == str(SCHEMA_VERSION).encode()
    facts = json.loads(metadata[b"pnono.run"])
    assert facts == json.loads((tmp_path / "run" / "run.json").read_text())
    assert facts["options"] == {"plan": ["line"]}
    assert {"cpu", "cores", "memory_mib", "versions", "system"} <= facts.keys()


def test_a_part_is_closed_when_it_has_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "PART_ROWS", 10)
    with Writer(tmp_path / "run", {}, {}, "h") as writer:
        for _ in range(5):
            for rows in some_rows(10):
                writer.write(rows)
        assert len(list(parts(tmp_path / "run"))) >= 5
        assert not list((tmp_path / "run" / ".tmp").iterdir())


def test_a_part_is_closed_when_its_time_is_over_even_if_no_more_rows_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Writer(tmp_path / "run", {}, {}, "h") as writer:
        writer.write(pa.RecordBatch.from_pylist([], schema()))
        for rows in some_rows(10):
            writer.write(rows)
        assert not list(parts(tmp_path / "run"))
        monkeypatch.setattr(parquet, "PART_S", 0.0)
        writer.write(pa.RecordBatch.from_pylist([], schema()))
        assert len(list(parts(tmp_path / "run"))) == 1


def test_a_run_without_rows_leaves_a_readable_part(tmp_path: Path) -> None:
    with Writer(tmp_path / "run", {}, {}, "h"):
        pass
    assert pq.read_table(tmp_path / "run" / "rows").num_rows == 0


def test_a_folder_with_files_is_refused_unless_it_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(OutputError, match="expected a new or empty folder"):
        Writer(tmp_path, {}, {}, "h")
    with pytest.raises(OutputError, match="expected a folder of results"):
        Writer(tmp_path, {}, {}, "h", resume=True)


def test_a_run_is_resumed_with_its_own_options_only(tmp_path: Path) -> None:
    written(tmp_path / "run", options={"seconds": 1, "plan": ["line"]})
    with pytest.raises(OutputError, match=r"seconds was 1, is 2"):
        written(tmp_path / "run", options={"seconds": 2, "plan": ["line"]}, resume=True)


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    written(tmp_path / "run")
    part = next(parts(tmp_path / "run"))
    table = pq.read_table(part)
    rewritten(part, table.replace_schema_metadata({**table.schema.metadata, b"pnono.schema": b"999"}))
    with pytest.raises(OutputError, match="found version 999"):
        read_facts(tmp_path / "run")


LIMITED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import test_report as t
from parallel_nono.report import parquet
t.written(Path(sys.argv[1]) / "run", 10)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    t.written(Path(sys.argv[1]) / "run", 2000, resume=True)
except parquet.OutputError as error:
    assert error.writing
    print(error)
else:
    sys.exit("nothing was raised")
"""


@pytest.mark.slow
def test_a_full_disk_is_one_clear_message_and_what_was_written_stays_readable(tmp_path: Path) -> None:
    # A limit on the size of files is the full disk that a test can have without being root.
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "can't write results: File too large" in done.stdout
    assert "stays readable" in done.stdout
    assert pq.read_table(tmp_path / "run" / "rows").num_rows == 11
    assert not (tmp_path / "run" / ".tmp").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_one_clear_message(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="can't write results") as caught:
        Writer(tmp_path / "run", {}, {}, "h")
    assert caught.value.writing
    tmp_path.chmod(0o700)


def test_a_file_in_the_place_of_the_folder_is_one_clear_message(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(OutputError, match="can't write results") as caught:
        Writer(tmp_path / "run", {}, {}, "h")
    assert caught.value.writing


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import test_report as t
from parallel_nono.report import parquet
parquet.PART_ROWS = 50
with parquet.Writer(Path(sys.argv[1]) / "run", {"seconds": 1}, {"run": "test"}, "host") as writer:
    for n in range(1000000):
        for rows in t.some_rows(40, f"s{n}"):
            writer.write(rows)
        if n == 5:
            print("some are there", flush=True)
"""


@pytest.mark.slow
def test_a_killed_run_loses_only_its_open_part_and_is_resumed_without_doing_anything_twice(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path), str(Path(__file__).parent)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"some are there\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    out = tmp_path / "run"
    before = pq.read_table(out / "rows")
    assert before.num_rows >= 200
    keys = Keys(out)
    assert len(keys) == before.num_rows
    with Writer(out, {"seconds": 1}, {"run": "test"}, "host", resume=True) as writer:
        for n in range(8):
            for rows in some_rows(40, f"s{n}"):
                writer.write(keys.without_done(rows))
    after = pq.read_table(out / "rows")
    found = list(zip(after.column("source").to_pylist(), after.column("index").to_pylist(), strict=True))
    assert len(set(found)) == len(found)
    assert {(f"s{n}", index) for n in range(8) for index in range(1, 42)} <= set(found)


# Keys.


@given(
    st.sets(st.tuples(st.sampled_from("abc"), st.integers(1, 5), st.sampled_from(["", "0" * 32, "f" * 32, "0f" * 16])))
)
def test_keys_know_exactly_what_is_done(done: set[tuple[str, int, str]]) -> None:
    def table(rows: list[tuple[str, int, str]]) -> pa.RecordBatch:
        columns = [
            pa.array([row[n] for row in rows], kind) for n, kind in enumerate((pa.string(), pa.int32(), pa.string()))
        ]
        return pa.RecordBatch.from_arrays(columns, ["source", "index", "digest"])

    keys = Keys.__new__(Keys)
    keys.fill([table(sorted(done))])
    every = [(s, i, d) for s in "abcd" for i in range(1, 7) for d in ("", "0" * 32, "f" * 32, "0f" * 16)]
    left = keys.without_done(table(every)).to_pylist()
    assert [tuple(row.values()) for row in left] == [row for row in every if row not in done]
    assert all(keys.knows(s) == any(row[0] == s for row in done) for s in "abcd")


# Other formats.


def test_csv_and_jsonl_hold_the_same_rows(tmp_path: Path) -> None:
    written(tmp_path / "run", 20)
    rows = [row for batch in batches(tmp_path / "run") for row in batch.to_pylist()]
    with export(tmp_path / "run", "csv").open(newline="") as file:
        from_csv = list(csv.DictReader(file))
    with export(tmp_path / "run", "jsonl").open() as lines:
        from_json = [json.loads(line) for line in lines]
    assert (
        [row["solution"] for row in from_csv]
        == [row["solution"] for row in rows]
        == [row["solution"] for row in from_json]
    )
    assert list(from_csv[0]) == list(from_json[0]) == list(COLUMNS)
    assert [row["started"] for row in from_json] == [row["started"].isoformat() for row in rows]
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"rows", "rows.csv", "rows.jsonl", "run.json"}


# The summary.


def test_the_summary_can_be_made_again_from_the_parts_alone(tmp_path: Path) -> None:
    out, summary = tmp_path / "run", Summary()
    with Writer(out, {}, {"run": "test"}, "h") as writer:
        writer.session = {"started": "2026", "engine": "local", "why": "one worker", "workers": 1}
        for n in range(20):
            for rows in some_rows(60, f"s{n}"):
                writer.write(rows)
                summary.add(rows)
    text = text_of(out, summary)
    (out / "run.json").unlink()
    moved = tmp_path / "moved"
    shutil.move(out, moved)
    assert text_of(moved, Summary.of(moved)).replace(str(moved), str(out)) == text


def test_the_summary_counts_what_the_rows_say(tmp_path: Path) -> None:
    out = tmp_path / "run"
    written(out, 100)
    summary = Summary.of(out)
    rows = [row for batch in batches(out) for row in batch.to_pylist()]
    assert summary.n_rows == len(rows) == 101
    assert summary.outcomes() == {"unique": 100, "invalid": 1}
    assert dict(summary.decided) == {("unique", "line"): 100, ("invalid", "read"): 1}
    times = sorted(row["solve_s"] for row in rows if row["outcome"] != "invalid")
    average, median, longest = summary.times()
    assert average == pytest.approx(sum(times) / len(times))
    assert (median, longest) == (statistics.median(times), times[-1])
    heaviest = sorted(
        (r for r in rows if r["outcome"] != "invalid"),
        key=lambda r: (-(r["cpu_s"] + r["sat_s"] if r["cpu_s"] else r["solve_s"]), r["source"], r["index"]),
    )
    assert [row["index"] for row in summary.heaviest] == [row["index"] for row in heaviest[:HEAVIEST]]


def test_the_average_median_and_maximum_are_those_of_the_benchmark_report() -> None:
    rows = next(batch for batch in some_rows(3) if batch.num_rows > 1)
    summary = Summary()
    summary.add(with_columns(rows.slice(0, 3), solve_s=[9.0, 1.0, 2.0]))
    assert summary.times() == (4.0, 2.0, 9.0)
    summary.add(with_columns(rows.slice(0, 1), solve_s=[4.0]))
    assert summary.times() == (4.0, 3.0, 9.0)  # of an even number the mean of the two in the middle


def test_the_heaviest_are_those_that_took_the_most_work_and_not_those_that_waited_for_a_core() -> None:
    rows = next(batch for batch in some_rows(4) if batch.num_rows > 3).slice(0, 4)
    summary = Summary()
    summary.add(
        with_columns(rows, solve_s=[9.0, 1.0, 2.0, 5.0], cpu_s=[0.5, 1.0, 0.2, 0.0], sat_s=[0.0, 0.0, 1.8, 0.0])
    )
    assert [row["solve_s"] for row in summary.heaviest] == [5.0, 2.0, 1.0, 9.0]
    assert [row["work_s"] for row in summary.heaviest] == pytest.approx([5.0, 2.0, 1.0, 0.5])


def test_an_empty_summary_is_rendered_too(tmp_path: Path) -> None:
    with Writer(tmp_path / "run", {}, {"run": "nothing"}, "h"):
        pass
    assert "nothing  0 puzzles" in text_of(tmp_path / "run", Summary())


def test_the_summary_fits_80_columns_and_has_no_colours_where_nobody_sees_them(tmp_path: Path) -> None:
    out = tmp_path / "run"
    written(out)
    text = text_of(out, Summary.of(out))
    assert max(len(line) for line in text.splitlines() if "results" not in line) <= 80
    assert "\x1b" not in text
    coloured = text_of(out, Summary.of(out), force_terminal=True, color_system="truecolor")
    assert "\x1b[" in coloured
    plain = text_of(out, Summary.of(out), force_terminal=True, no_color=True)
    assert "\x1b[3" not in plain


def test_markup_in_names_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    with Writer(tmp_path / "run", {}, {"run": "[red]name[/red]"}, "h") as writer:
        for rows in some_rows(2, "[bold]s"):
            writer.write(rows)
    text = text_of(tmp_path / "run", Summary.of(tmp_path / "run"))
    assert "[red]name[/red]" in text
    assert "[bold]s" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 us"),
        (1.234e-6, "1.23 us"),
        (0.00099949, "999 us"),
        (0.0009999, "1 ms"),
        (0.0123, "12.3 ms"),
        (0.99999, "1 s"),
        (59.94, "59.9 s"),
        (100, "1 min 40 s"),
        (3725, "1 h 02 min"),
    ],
)
def test_durations_have_the_unit_that_suits_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
