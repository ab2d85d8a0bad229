"""Two runs side by side, and a run beside published times: pairs and figures as plain Python finds them."""

from __future__ import annotations

import csv
import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import folder_of, row
from test_report_tables import pnono

from parallel_nono.cli import main
from parallel_nono.report import compare as module
from parallel_nono.report.compare import COUNTS, OPEN, SHOWN, compare, published, tables

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "digest": st.sampled_from(["", "a" * 32, "b" * 32, "c" * 32]),
            "source": st.sampled_from(["x.non", "y.non"]),
            "index": st.integers(1, 4),
            "outcome": st.sampled_from(["unique", "multiple", "solved", "timeout", "invalid"]),
            "solve_s": st.sampled_from([0.0, 0.0001, 0.5, 2.0]),
            "n_lines": st.integers(0, 3),
            "n_conflicts": st.integers(0, 3),
        }
    ),
    max_size=12,
    unique_by=lambda each: (each["source"], each["index"]),
)


def pairs_by_hand(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Pairs of equal digest: first those of one place, then the rest of each digest in the order of their places."""

    def puzzle(each: dict[str, Any]) -> str:
        return each["digest"] or f"{each['source']}#{each['index']}"

    def place(each: dict[str, Any]) -> tuple[str, str, int]:
        return puzzle(each), each["source"], each["index"]

    found = [(one, other) for one in a for other in b if place(one) == place(other)]
    rest_a = [one for one in sorted(a, key=place) if not any(one is pair[0] for pair in found)]
    rest_b = [other for other in sorted(b, key=place) if not any(other is pair[1] for pair in found)]
    for name in {puzzle(each) for each in rest_a}:
        same = [[each for each in rest if puzzle(each) == name] for rest in (rest_a, rest_b)]
        found += zip(*same, strict=False)
    return found


@pytest.mark.slow
@settings(max_examples=15)
@given(ROWS, ROWS)
def test_every_figure_is_the_one_that_plain_python_finds(
    tmp_path_factory: pytest.TempPathFactory, a: list[dict[str, Any]], b: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    one = folder_of(folder / "a", [row(**each) for each in a])
    other = folder_of(folder / "b", [row(**each) for each in b])
    found, pairs = compare(one, other, min_s=1.0), pairs_by_hand(a, b)
    assert (found.n, found.only_a, found.only_b) == (len(pairs), len(a) - len(pairs), len(b) - len(pairs))
    changed = [(x["outcome"], y["outcome"]) for x, y in pairs if x["outcome"] != y["outcome"]]
    assert sorted((c["outcome_a"], c["outcome_b"]) for c in found.changes) == sorted(changed)
    contrary = [{x, y} == {"unique", "multiple"} for x, y in changed]
    assert (found.n_changes, found.n_contrary) == (len(changed), sum(contrary))
    assert [c["contrary"] for c in found.changes] == sorted(contrary, reverse=True)
    for count in found.counts:
        name = count["name"]
        values = [(row(**x)[name], row(**y)[name]) for x, y in pairs]
        expected = sum(x for x, _ in values), sum(y for _, y in values), sum(x != y for x, y in values)
        assert (count["sum_a"], count["sum_b"], count["n_differ"]) == expected
    assert [count["name"] for count in found.counts] == list(COUNTS)
    timed = [
        (x, y) for x, y in pairs if x["solve_s"] and y["solve_s"] and "invalid" not in (x["outcome"], y["outcome"])
    ]
    ratios = [y["solve_s"] / x["solve_s"] for x, y in timed]
    assert found.times["n"] == len(ratios)
    if ratios:
        assert found.times["median"] == pytest.approx(statistics.median(ratios), rel=1e-5)
        assert found.times["geometric_mean"] == pytest.approx(statistics.geometric_mean(ratios), rel=1e-5)
        assert found.times["n_faster"] == sum(ratio < 0.9999 for ratio in ratios)
    long = [y["solve_s"] / x["solve_s"] for x, y in timed if max(x["solve_s"], y["solve_s"]) >= found.min_s]
    assert [each["ratio"] for each in found.worst] == pytest.approx(sorted(long, reverse=True)[:SHOWN], rel=1e-5)
    assert [each["ratio"] for each in found.best] == pytest.approx(sorted(long)[:SHOWN], rel=1e-5)
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_run_beside_itself_has_no_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(folder_of(tmp_path / "run", [row(index=n, digest="e" * 32) for n in range(5)]))
    text = pnono(capsys, "compare", out, out)
    assert "5 puzzles in both\n0 verdicts changed\n" in text
    assert "Verdicts that changed" not in text


def test_a_changed_verdict_comes_first_and_is_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(index=n, digest=f"{n:032}", outcome="timeout" if n == 2 else "unique") for n in range(9)]
    a = folder_of(tmp_path / "a", rows)
    b = folder_of(
        tmp_path / "b", [{**each, "outcome": "multiple" if each["index"] in (2, 7) else "unique"} for each in rows]
    )
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(a), str(b)])
    assert ended.value.code == 1
    text = capsys.readouterr().out
    assert "2 verdicts changed, 1 contrary to before" in text
    lines = text[text.index("Verdicts that changed") :].splitlines()
    assert lines[2].split()[-5:] == ["unique", "line", "multiple", "line", "contrary!"]
    assert lines[3].split()[-4:] == ["timeout", "line", "multiple", "line"]
    assert text.index("Verdicts that changed") < text.index("Time, B / A") < text.index("Counts")


def test_repeated_puzzles_are_compared_by_their_median(tmp_path: Path) -> None:
    a = folder_of(tmp_path / "a", [row(solve_s=1.0)])
    b = folder_of(tmp_path / "b", [row(solve_s=9.0, repeats=3, median_s=2.0)])
    assert compare(a, b).times["median"] == 2.0


def test_outcomes_that_tell_nothing_contradict_nothing() -> None:
    assert set(OPEN) == {"timeout", "stalled", "crashed", "invalid"}


def test_the_command_wants_two_runs_or_one_and_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(folder_of(tmp_path / "run", [row()]))
    for words in ([out], [out, out, "--published"]):
        assert "expected two runs, or one and --published" in pnono(capsys, "compare", *words, code=2)
    assert "expected a folder of results" in pnono(capsys, "compare", out, str(tmp_path), code=3)
    assert "expected puzzles with published times" in pnono(capsys, "compare", out, "--published", code=3)


@pytest.mark.parametrize("form", ["md", "csv", "json"])
def test_the_comparison_in_other_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    a = folder_of(tmp_path / "a", [row(name="<b>", index=n, digest=f"{n:032}") for n in range(3)])
    text = pnono(capsys, "compare", str(a), str(a), "--format", form)
    if form == "json":
        assert json.loads(text)["n"] == 3
    else:
        assert "n_lines" in text.replace("\\", "")
        assert form == "csv" or "<b>" not in text


# Published times.

TIMES = Path(module.__file__).parent / "published.csv"


def test_every_published_time_has_its_source_and_is_a_figure() -> None:
    rows = list(csv.DictReader(TIMES.open(encoding="utf-8")))
    assert list(rows[0]) == ["puzzle", "digest", "solver", "relation", "seconds", "source"]
    assert len(rows) > 1000
    keys = [(each["puzzle"], each["solver"], each["source"]) for each in rows]
    assert len(set(keys)) > 0.97 * len(keys)
    of_puzzle: dict[str, str] = {}
    for each in rows:
        assert each["source"]
        assert each["relation"] in "=<>"
        assert 0 < float(each["seconds"]) < 1e6
        assert len(each["digest"]) in (0, 32)
        assert of_puzzle.setdefault(each["puzzle"], each["digest"]) == each["digest"]


def published_of(puzzle: str) -> list[dict[str, str]]:
    return [each for each in csv.DictReader(TIMES.open(encoding="utf-8")) if each["puzzle"] == puzzle]


def rank_correlation(x: list[float], y: list[float]) -> float:
    """Spearman's: the correlation of the ranks, equal values sharing the mean of theirs."""

    def ranks(values: list[float]) -> list[float]:
        return [sum(v < value for v in values) + (values.count(value) + 1) / 2 for value in values]

    return statistics.correlation(ranks(x), ranks(y))


@pytest.mark.slow
def test_a_run_beside_published_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["webpbn 1", "webpbn 6", "webpbn 16", "webpbn 2040", "webpbn 6574", "webpbn 8098"]
    digests = {name: published_of(name)[0]["digest"] for name in names}
    rows = [
        row(name=name, digest=digests[name], source=f"{n}.non", solve_s=10.0**-n, n_rounds=n + 2)
        for n, name in enumerate(names)
    ]
    # A copy that took longer does not count; a puzzle whose clues we never had is known by its number.
    rows.append(row(digest=digests[names[0]], source="copy.non", solve_s=50.0))
    rows.append(row(name="13480", source="folder/webpbn-13480.non", solve_s=1000.0, outcome="timeout"))
    out = folder_of(tmp_path / "run", rows)
    found = published(out)
    assert {each["puzzle"] for each in found.puzzles} == {*names, "webpbn 13480"}
    by_name = {each["puzzle"]: each for each in found.puzzles}
    times = [each for each in published_of("webpbn 6574") if each["relation"] != ">"]
    assert by_name["webpbn 6574"]["best_s"] == min(float(each["seconds"]) for each in times)
    assert by_name["webpbn 1"]["ours_s"] == 1.0
    assert set(found.sources) == {each["source"] for name in by_name for each in published_of(name)}
    for solver in found.solvers:
        theirs = [each for name in by_name for each in published_of(name) if each["solver"] == solver["solver"]]
        assert solver["n"] == len(theirs)
        seconds = [math.inf if each["relation"] == ">" else float(each["seconds"]) for each in theirs]
        ours = [by_name[each["puzzle"]]["ours_s"] for each in theirs]
        if len(theirs) >= module.MIN_COMMON and len(set(seconds)) > 1:
            assert solver["with_time"] == pytest.approx(rank_correlation(seconds, ours)), solver
        timed = [
            float(each["seconds"]) / by_name[each["puzzle"]]["ours_s"]
            for each in theirs
            if each["relation"] == "=" and each["puzzle"] != "webpbn 13480"
        ]
        assert solver["ratio"] == (pytest.approx(statistics.geometric_mean(timed), rel=1e-5) if timed else None)
    text = pnono(capsys, "compare", str(out), "--published")
    assert "webpbn 13480" in text
    assert "rho rating" in text
    assert json.loads(pnono(capsys, "compare", str(out), "--published", "--format", "json"))["puzzles"]


def test_tables_of_a_comparison_without_pairs(tmp_path: Path) -> None:
    a = folder_of(tmp_path / "a", [])
    assert [table.key for table in tables(compare(a, a))] == ["counts"]
