"""The report as text, Markdown, CSV and JSON: the figures are those that plain Python finds in the rows."""

from __future__ import annotations

import csv
import io
import json
import math
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rows import after, folder_of, rewritten, row

from parallel_nono.attempt import OUTCOMES, STAGES
from parallel_nono.cli import main
from parallel_nono.report.parquet import OutputError
from parallel_nono.report.query import SIZES, WHERE_TIME_GOES, run_report, size_class
from parallel_nono.report.rating import rate
from parallel_nono.report.summary import Summary
from parallel_nono.report.tables import Column, as_csv, as_markdown, print_tables, tables

TIMES = st.sampled_from([0.0, 1e-6, 0.001, 0.25, 2.0])
ROWS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["cat", "dog"]),
        "source": st.sampled_from(["a/1.non", "a/2.non", "b/c/3.non", "4.non"]),
        "outcome": st.sampled_from([str(outcome) for outcome in OUTCOMES]),
        "stage": st.sampled_from([*STAGES, ""]),
        "height": st.sampled_from([5, 10, 11, 30, 300]),
        "width": st.sampled_from([5, 15, 201]),
        "n_colours": st.integers(2, 4),
        "n_rounds": st.integers(0, 500),
        "n_probes": st.integers(0, 500),
        "n_conflicts": st.integers(0, 500),
        "solve_s": TIMES,
        "sat_s": TIMES,
        "cpu_s": TIMES,
        "check_s": TIMES,
        "worker": st.sampled_from(["1.0", "1.1", "1.10", ""]),
        "error": st.sampled_from(["", "", "", "a:1: expected this, found that"]),
        "warnings": st.sampled_from(["", "", "doubtful"]),
    }
)


def nearest_rank(times: list[float], share: float) -> float:
    """The least time such that this share of all is no longer."""
    return sorted(times)[max(0, math.ceil(share * len(times)) - 1)] if times else 0.0


def median(times: list[float]) -> float:
    return statistics.median(times) if times else 0.0


def work(each: dict[str, Any]) -> float:
    """Without the time in which the worker had no core."""
    return each["cpu_s"] + each["sat_s"] if each["cpu_s"] else each["solve_s"]


@settings(max_examples=12)
@given(st.lists(ROWS, max_size=25))
def test_every_figure_is_the_one_that_plain_python_finds(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]]
) -> None:
    rows = [row(index=number, started=after(number), **each) for number, each in enumerate(values)]
    out = folder_of(tmp_path_factory.mktemp("run") / "run", rows)
    report = run_report(out, top=7)
    tried = [each for each in rows if each["outcome"] != "invalid"]
    times = [each["solve_s"] for each in tried]
    assert report.n_rows == len(rows)
    assert {(d["outcome"], d["stage"]): d["n"] for d in report.decided} == Counter(
        (each["outcome"], each["stage"]) for each in rows
    )
    assert [d["outcome"] for d in report.decided] == sorted(
        (d["outcome"] for d in report.decided), key=[str(outcome) for outcome in OUTCOMES].index
    )
    found = report.times
    assert found["n"] == len(times)
    assert found["average_s"] == pytest.approx(sum(times) / max(len(times), 1))
    assert found["sum_s"] == pytest.approx(sum(times))
    assert found["max_s"] == pytest.approx(max(times, default=0.0))
    assert found["median_s"] == pytest.approx(median(times))
    assert found["p90_s"] == pytest.approx(nearest_rank(times, 0.9))
    assert found["p99_s"] == pytest.approx(nearest_rank(times, 0.99))
    for name in WHERE_TIME_GOES:
        assert report.spent[name] == pytest.approx(sum(each[name] for each in rows))
    heaviest = sorted(tried, key=lambda each: (-work(each), each["source"], each["index"]))[:7]
    assert [h["work_s"] for h in report.heaviest] == pytest.approx([work(each) for each in heaviest])
    assert [(h["source"], h["index"]) for h in report.heaviest] == [
        (each["source"], each["index"]) for each in heaviest
    ]
    assert report.n_failures == sum(bool(each["error"]) for each in rows)
    assert report.n_warnings == sum(bool(each["warnings"]) for each in rows)
    colours = {group["key"]: group for group in report.groups["colours"]}
    assert {key: group["n"] for key, group in colours.items()} == Counter(str(each["n_colours"]) for each in tried)
    for key, group in colours.items():
        of_it = [each for each in tried if str(each["n_colours"]) == key]
        assert group["n_unique"] == sum(each["outcome"] == "unique" for each in of_it)
        assert group["median_s"] == pytest.approx(median([each["solve_s"] for each in of_it]))
    longer = Counter(
        size_class(next((most for most in SIZES if most >= max(each["height"], each["width"])), 0)) for each in tried
    )
    assert {group["key"]: group["n"] for group in report.groups["size"]} == longer
    rated = [rate(each["stage"], each["outcome"], each) for each in rows]
    assert {(r["rating"], r["technique"]): r["n"] for r in report.ratings} == Counter(
        (min(9, int(rating.points)), rating.technique.name) for rating in rated if rating
    )
    assert {(w["worker"], w["n"]) for w in report.workers} == set(
        Counter(each["worker"] for each in tried if each["worker"]).items()
    )
    assert [w["worker"] for w in report.workers] == [
        w for w in ("1.0", "1.1", "1.10") if any(t["worker"] == w for t in tried)
    ]
    json.dumps(report.as_dict(), allow_nan=False)


def test_the_report_and_the_summary_agree(tmp_path: Path) -> None:
    rows = [row(index=n, solve_s=n / 7, outcome="multiple" if n % 3 else "unique") for n in range(40)]
    out = folder_of(tmp_path / "run", rows)
    report, summary = run_report(out, top=10), Summary.of(out)
    assert (report.times["average_s"], report.times["median_s"], report.times["max_s"]) == pytest.approx(
        summary.times()
    )
    assert [each["index"] for each in report.heaviest] == [each["index"] for each in summary.heaviest]


def test_folders_or_files_and_too_many_of_them_are_one_row(tmp_path: Path) -> None:
    rows = [row(source=f"f{n:02}/a.non", solve_s=n / 100) for n in range(1, 31)]
    groups = run_report(folder_of(tmp_path / "many", rows)).groups["folder"]
    assert [group["key"] for group in groups] == [*(f"f{n}" for n in range(30, 10, -1)), "others"]
    assert groups[-1]["n"] == 10
    rows = [row(source=f"f/{n}.non") for n in range(3)]
    groups = run_report(folder_of(tmp_path / "few", rows)).groups["file"]
    assert [group["key"] for group in groups] == ["f/0.non", "f/1.non", "f/2.non"]


def test_a_run_without_rows_has_a_report(tmp_path: Path) -> None:
    out = folder_of(tmp_path / "run", [])
    report = run_report(out)
    assert (report.n_rows, report.times["n"], report.heaviest, report.workers) == (0, 0, [], [])
    assert [table.key for table in tables(report)] == ["facts"]


def test_rows_of_before_new_columns_came_are_read(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    out = folder_of(tmp_path / "run", [row(solve_s=0.5)])
    part = next((out / "rows").rglob("*.parquet"))
    table = pq.read_table(part, partitioning=None)
    rewritten(part, table.drop_columns(["repeats", "median_s", "solver"]))
    assert run_report(out).times["max_s"] == 0.5


def test_a_folder_whose_name_is_a_pattern_is_that_folder(tmp_path: Path) -> None:
    folder_of(tmp_path / "run1", [row()] * 3)
    assert run_report(folder_of(tmp_path / "run[1]*", [row()])).n_rows == 1


def test_what_is_no_folder_of_results_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="expected a folder of results"):
        run_report(tmp_path)


def test_a_part_that_is_cut_short_is_one_clear_message(tmp_path: Path) -> None:
    out = folder_of(tmp_path / "run", [row()] * 100)
    part = next((out / "rows").rglob("*.parquet"))
    part.with_name("part-here-00009.parquet").write_bytes(part.read_bytes()[:-100])
    with pytest.raises(OutputError, match=r"expected a part of a run, found a damaged file") as caught:
        run_report(out)
    assert "\n" not in str(caught.value)


# As text.

NASTY = "<script>alert(1)</script> | `x` *b* [l](u) &amp; \x1b[31m"


def run_with_failures(tmp_path: Path) -> Path:
    rows = [
        row(
            name=NASTY,
            source="puzzles/a.non",
            index=n,
            solve_s=n / 1000,
            n_rounds=n,
            started=after(n),
            worker=f"1.{n % 2}",
        )
        for n in range(1, 20)
    ]
    rows.append(
        row(outcome="invalid", stage="read", source="b.non", error=f"b.non:1: expected a clue, found `{NASTY}`")
    )
    return folder_of(tmp_path / "run", rows)


def test_the_text_fits_80_columns_and_has_no_control_characters(tmp_path: Path) -> None:
    file = io.StringIO()
    print_tables(Console(file=file, width=80, highlight=False), tables(run_report(run_with_failures(tmp_path))))
    text = file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text
    assert "Where the time went" not in text  # nobody measured it
    assert "1.0 to 1.9  lines" in text


def test_markdown_shows_marks_and_html_as_they_are(tmp_path: Path) -> None:
    text = as_markdown("a *run*", tables(run_report(run_with_failures(tmp_path))))
    assert text.startswith("# a \\*run\\*\n")
    assert "<script>" not in text
    assert "\\<script\\>" in text
    for block in text.split("\n## ")[1:]:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        widths = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in lines}
        assert len(widths) == 1, block


def test_csv_is_one_value_a_line(tmp_path: Path) -> None:
    found = tables(run_report(run_with_failures(tmp_path)))
    lines = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert list(lines[0]) == ["table", "row", "column", "value"]
    values = {(line["table"], line["row"], line["column"]): line["value"] for line in lines}
    assert values["times", "1", "maximum"] == str(run_report(tmp_path / "run").times["max_s"])
    assert values["outcomes", "1", "puzzles"] == "19"
    assert NASTY in values["failures", "1", "message"]


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("text", "a", "a"),
        ("count", 1234, "1,234"),
        ("seconds", 0.0015, "1.5 ms"),
        ("share", 0.5, "50.0 %"),
        ("points", 10.0, "10.0"),
        ("ratio", 0.123456, "0.123"),
        ("ratio", 12345.0, "12,300"),
        ("correlation", -0.5, "-0.50"),
        ("count", None, ""),
    ],
)
def test_values_are_shown_as_people_read_them(kind: str, value: Any, shown: str) -> None:
    assert Column("name", kind).show(value) == shown


# The command.


def pnono(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert ended.value.code == code
    printed = capsys.readouterr()
    return printed.out if not code else printed.err


@pytest.mark.slow
def test_the_command_prints_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(run_with_failures(tmp_path))
    text = pnono(capsys, "report", out, "--top", "3")
    assert "heaviest" in text
    assert "Difficulty" in text
    assert text.count(" 5x5 ") == 3
    found = json.loads(pnono(capsys, "report", out, "--format", "json", "--top", "3"))
    assert (found["n_rows"], len(found["heaviest"]), found["heaviest"][0]["rating"]) == (20, 3, 2.9)
    assert pnono(capsys, "report", out, "--format", "md").startswith("# run\n")
    assert pnono(capsys, "report", out, "--format", "csv").startswith(
        "table,row,column,value\noutcomes,1,outcome,unique\n"
    )


def test_the_command_writes_all_rows_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run_with_failures(tmp_path)
    pnono(capsys, "report", str(out), "--rows", "jsonl")
    assert len((out / "rows.jsonl").read_text().splitlines()) == 20


def test_a_page_that_cannot_be_written_is_one_clear_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(run_with_failures(tmp_path))
    message = pnono(capsys, "report", out, "--html", str(tmp_path / "none" / "page.html"), code=74)
    assert message.count("\n") == 1
    assert "can't be written" in message
    assert "expected a folder of results" in pnono(capsys, "report", str(tmp_path), code=3)
