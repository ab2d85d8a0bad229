"""Every figure that a user sees, computed a second time from the rows of real runs, by plain Python.

The rows of tests elsewhere are made by hand; these were written by `pnono run`: ordinary and repeated, by threads, by
Ray, in lines mode, and by a program from outside. Nothing here is taken from `report` but what is tested.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from conftest import SHARED
from console import pnono
from test_report_pages import unpacked

from parallel_nono.attempt import OUTCOMES, STAGES
from parallel_nono.cli import main

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "a": ("icon.non", "glyph.mk", "sprite.g", "colours.json", "regions.toml", "terraces.non"),
    "b": ("careless.json", "noise-25x25.taai", "degenerate.json"),
}
FEW = ("in/a/icon.non", "in/a/glyph.mk", "in/b/none.nin", "in/b/many.nin", "in/b/broken.nin")
WAYS: dict[str, tuple[str, ...]] = {
    "ordinary": ("--workers", "2"),
    "again": (),
    "counted": ("--count", "300", "--seconds", "5", "--plan", "search"),
    "repeated": ("--repeat", "3"),
    "lines": ("--mode", "lines", "--workers", "2"),
    "unfinished": ("--plan", "lines-only"),
    "external": ("--solver", "picross-solver"),
    "ray": ("--engine", "ray", "--workers", "2"),
}
NO_TIME = "invalid"
Rows = list[dict[str, Any]]
Cells = dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a run, made when it is asked for first."""
    home = tmp_path_factory.mktemp("figures")
    for folder, names in FILES.items():
        (home / "in" / folder).mkdir(parents=True)
        for name in names:
            shutil.copy(ROOT / "datasets" / name, home / "in" / folder)
    (home / "in/b/broken.nin").write_text("2 2\n1\nx\n1\n1\n")
    (home / "in/b/none.nin").write_text("2 2\n2\n1\n1\n1\n")
    (home / "in/b/many.nin").write_text("6 6\n" + "1\n" * 12)

    def made(way: str) -> Path:
        out = home / way
        if not out.exists():
            inputs = FEW if way == "external" else ("in",)
            pnono("run", *inputs, "--out", way, "--quiet", *WAYS[way], cwd=home)
        return out

    return made


@pytest.fixture(
    params=[
        *(way for way in WAYS if way not in ("again", "ray")),
        pytest.param("ray", marks=[pytest.mark.ray, pytest.mark.slow]),
    ]
)
def out(request: pytest.FixtureRequest, run_of: Callable[[str], Path]) -> Path:
    return run_of(request.param)


Said = Callable[..., str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    """What a command prints, in this process and on a wide screen; its exit code must be `code`."""
    monkeypatch.setenv("COLUMNS", "400")

    def of(*words: object, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, words)))
        assert ended.value.code == code
        return capsys.readouterr().out

    return of


def rows_of(out: Path) -> Rows:
    rows: Rows = [row for part in sorted((out / "rows").glob("*.parquet")) for row in pq.read_table(part).to_pylist()]
    return rows


def facts_of(out: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """run.json, and what the sessions said."""
    metadata = [pq.read_metadata(part).metadata for part in sorted((out / "rows").glob("*.parquet"))]
    sessions = {said["started"]: said for said in (json.loads(m[b"pnono.session"]) for m in metadata)}
    return json.loads((out / "run.json").read_text()), list(sessions.values())


# The second computation.


def rank(values: list[float], share: float) -> float:
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def times(rows: Rows) -> tuple[float, ...]:
    """median, 90th and 99th percentile, maximum, sum."""
    t = [row["solve_s"] for row in rows]
    return (statistics.median(t), rank(t, 0.9), rank(t, 0.99), max(t), sum(t))


def work(row: dict[str, Any]) -> float:
    return row["cpu_s"] + row["sat_s"] if row["cpu_s"] > 0 else row["solve_s"]


def points(row: dict[str, Any]) -> tuple[float, str] | None:
    """The rating as docs/rating.md defines it."""
    scale = {
        "line": (1, 100, row["n_rounds"], "lines"),
        "read": (1, 100, row["n_rounds"], "lines"),
        "probe": (4, 1000, row["n_probes"], "trials"),
        "search": (7, 100_000, row["n_branches"] + row["n_conflicts"], "search"),
        "sat": (7, 100_000, row["n_branches"] + row["n_conflicts"], "search"),
    }
    if row["outcome"] not in ("unique", "solved", "multiple") or row["stage"] not in scale:
        return None
    start, most, count, technique = scale[row["stage"]]
    exact = start + 3 * min(1.0, math.log10(max(count, 1)) / math.log10(most))
    return math.floor(exact * 10 + 1e-6) / 10, technique


def title(row: dict[str, Any]) -> str:
    file = row["source"].rsplit("/", 1)[-1]
    place, stem = f"{file} #{row['index']}", file.split(".")[0]
    return place if row["name"] in ("", stem, f"{stem}#{row['index']}") else f"{row['name']}  ({place})"


def size_class(row: dict[str, Any]) -> str:
    ends = [0, 10, 15, 20, 25, 30, 50, 100, 200]
    side = max(row["height"], row["width"])
    for below, most in pairwise(ends):
        if side <= most:
            return f"{below + 1} to {most}" if below else f"up to {most}"
    return "more than 200"


def grouped(rows: Rows, key: Callable[[dict[str, Any]], str], by_sum: bool) -> list[tuple[Any, ...]]:
    groups: dict[str, Rows] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    found = [
        (name, len(of_it), sum(row["outcome"] == "unique" for row in of_it) / len(of_it), *times(of_it))
        for name, of_it in groups.items()
    ]
    number = re.compile(r"\d+")
    return sorted(
        found, key=lambda g: (-g[-1],) if by_sum else (g[0].startswith("more"), int(number.findall(g[0])[-1]))
    )


def tables(rows: Rows, top: int) -> Cells:
    """Every table of a report but the facts, as tuples in the order of its columns."""
    tried = [row for row in rows if row["outcome"] != NO_TIME]
    t = [row["solve_s"] for row in tried]
    of_outcome, of_both = Counter(r["outcome"] for r in rows), Counter((r["outcome"], r["stage"]) for r in rows)
    stages = [stage for stage in (*STAGES, "") if any(row["stage"] == stage for row in rows)]
    spent = {
        "reading": "read_s", "packing": "pack_s", "line": "line_s", "probe": "probe_s", "search": "search_s",
        "sat": "sat_s", "checking": "check_s",
    }  # fmt: skip
    sums = {name: sum(row[column] for row in rows) for name, column in spent.items()}
    heavy = sorted(tried, key=lambda row: (-work(row), row["source"], row["index"]))[:top]
    rated = Counter((min(9, int(p[0])), p[1]) for p in map(points, rows) if p)
    began = min(row["started"] for row in tried)
    workers = defaultdict(list)
    for row in tried:
        workers[row["host"], row["worker"]].append(row)

    def since(row: dict[str, Any]) -> float:
        return (row["started"] - began).total_seconds()

    spans = {
        worker: (min(map(since, of_it)), max(since(row) + row["solve_s"] for row in of_it))
        for worker, of_it in workers.items()
    }
    return {
        "outcomes": [
            (o, of_outcome[o], of_outcome[o] / len(rows), *(of_both.get((o, stage)) for stage in stages))
            for o in map(str, OUTCOMES)
            if of_outcome[o]
        ],
        "times": [(len(t), sum(t) / len(t), *times(tried))],
        "spent": [(name, s, s / sum(sums.values())) for name, s in sums.items() if s],
        "heaviest": [
            (
                work(row), title(row), f"{row['width']}x{row['height']}", row["n_colours"],
                row["outcome"], row["stage"], (points(row) or (None,))[0],
            )
            for row in heavy
        ],
        "by-folder": grouped(tried, lambda row: row["source"].rpartition("/")[0], by_sum=True),
        "by-size": grouped(tried, size_class, by_sum=False),
        "by-colours": grouped(tried, lambda row: str(row["n_colours"]), by_sum=False),
        "ratings": [
            (f"{whole}.0 to {'10.0' if whole == 9 else f'{whole}.9'}", technique, n, n / sum(rated.values()))
            for (whole, technique), n in sorted(rated.items())
        ],
        "workers": [
            (
                host, worker, len(of_it), sum(r["solve_s"] for r in of_it),
                sum(r["read_s"] + r["check_s"] for r in of_it), *spans[host, worker],
                min(1.0, sum(r["solve_s"] for r in of_it) / max(spans[host, worker][1] - spans[host, worker][0], 1e-9)),
            )
            for (host, worker), of_it in sorted(workers.items(), key=lambda w: (w[0][0], len(w[0][1]), w[0][1]))
        ],
        "failures": [
            (row["outcome"], row["source"], row["index"], row["error"])
            for row in sorted(rows, key=lambda row: (row["source"], row["index"]))
            if row["error"]
        ],
    }  # fmt: skip


# Reading what is shown.

UNITS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def meant(text: Any) -> Any:
    """The number that a shown text stands for, or the text."""
    if not isinstance(text, str):
        return text
    text = text.strip()
    if found := re.fullmatch(r"([\d.e+-]+) (us|µs|ms|s)", text):
        return float(found[1]) * UNITS[found[2]]
    if found := re.fullmatch(r"(\d+) min (\d+) s", text):
        return 60 * int(found[1]) + int(found[2])
    if found := re.fullmatch(r"([\d.]+) %", text):
        return float(found[1]) / 100
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def agree(shown: Any, expected: Any, rel: float, absolute: float) -> bool:
    shown, expected = meant(shown), meant(expected)
    if isinstance(expected, int | float) and isinstance(shown, int | float):
        return bool(shown == pytest.approx(expected, rel=rel, abs=absolute))
    return " ".join(str(shown).split()) == " ".join(str(expected).split())


def same(shown: list[Any], expected: list[Any], rel: float = 1e-5, absolute: float = 1e-9) -> None:
    """Cells one by one; what has no value is shown as nothing."""
    shown = [cell for cell in shown if cell not in ("", None)]
    expected = [cell for cell in expected if cell not in ("", None)]
    assert len(shown) == len(expected), (shown, expected)
    wrong = [(s, e) for s, e in zip(shown, expected, strict=True) if not agree(s, e, rel, absolute)]
    assert not wrong


SHOWN = {"rel": 0.006, "absolute": 0.0006}
"""Three digits; of a share a tenth of a percent."""


def of_csv(text: str) -> dict[str, list[list[str]]]:
    lines = list(csv.DictReader(io.StringIO(text)))
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        found[line["table"]][line["row"]].append(line["value"])
    return {table: list(rows.values()) for table, rows in found.items()}


def of_markdown(text: str) -> dict[str, list[list[str]]]:
    """Tables by their headings."""
    found: dict[str, list[list[str]]] = {}
    for section in text.split("\n## ")[1:]:
        lines = [line for line in section.splitlines() if line.startswith("| ")][1:]
        cells = [re.split(r"(?<!\\)\| ?", line.strip()[1:]) for line in lines]
        found[section.splitlines()[0]] = [[re.sub(r"\\(.)", r"\1", c).strip() for c in row] for row in cells]
    return found


class Tables(HTMLParser):
    """Cells of every table of a page by the id of its section."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[str]]] = {}
        self._section, self._inside, self._cell = "", False, False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self._section = dict(attrs).get("id") or ""
        elif tag == "tbody":
            self._inside = True
        elif tag == "tr" and self._inside:
            self.found.setdefault(self._section, []).append([])
        elif tag in ("td", "th") and self._inside:
            self._cell = True
            self.found[self._section][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "tbody":
            self._inside = False
        elif tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.found[self._section][-1][-1] += data


def of_text(text: str) -> list[list[str]]:
    """Words of every line, cut where two blanks are."""
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()]


def in_text(lines: list[list[str]], rows: list[tuple[Any, ...]]) -> None:
    """Each of these rows stands in some line, in this order."""
    place = 0
    for row in rows:
        flat = [part for cell in row if cell not in ("", None) for part in re.split(r"\s{2,}", str(cell))]
        for at in range(place, len(lines)):
            line = lines[at]
            if len(line) == len(flat) and all(agree(s, e, **SHOWN) for s, e in zip(line, flat, strict=True)):
                place = at + 1
                break
        else:
            pytest.fail(f"{flat} is not shown")


# Reports.


@pytest.mark.slow
def test_the_rows_are_those_of_a_run_and_worth_a_report(run_of: Callable[[str], Path]) -> None:
    rows = rows_of(run_of("ordinary"))
    assert {row["outcome"] for row in rows} >= {"unique", "multiple", "contradiction", "invalid"}
    assert {row["stage"] for row in rows} >= {"read", "line", "search"}
    assert {row["repeats"] for row in rows} == {1}
    assert {row["median_s"] for row in rows} == {0.0}
    assert {row["repeats"] for row in rows_of(run_of("repeated"))} == {1, 3}  # what can't be read has no second time
    lines = [row for row in rows_of(run_of("lines")) if row["outcome"] != NO_TIME and row["stage"] != "read"]
    assert {(row["mode"], row["engine"], row["worker"]) for row in lines} == {("lines", "local", "2 threads")}
    external = [row for row in rows_of(run_of("external")) if row["outcome"] != NO_TIME]
    assert {row["solver"].split()[0] for row in external} == {"picross-solver"}


@pytest.mark.slow
def test_a_report_as_csv_and_json(out: Path, said: Said) -> None:
    top = 7
    rows, (facts, sessions) = rows_of(out), facts_of(out)
    expected = tables(rows, top)
    shown = of_csv(said("report", out, "--format", "csv", "--top", top))
    assert shown.keys() - {"facts"} == {key for key, value in expected.items() if value}
    for key, values in expected.items():
        assert len(shown.get(key, [])) == len(values), key
        for row, value in zip(shown.get(key, []), values, strict=True):
            same(row, list(value), rel=2e-5, absolute=2e-6)
    told = dict(shown["facts"])
    assert told["run"] == facts["run"]
    assert meant(told["wall time"]) == pytest.approx(sum(said["seconds"] for said in sessions), rel=0.006)
    n_warnings = sum(bool(row["warnings"]) for row in rows)
    assert told.get("warnings", "0") == str(n_warnings)
    assert told["engine"].startswith(f"{sessions[-1]['engine']}, workers: {sessions[-1]['workers']}; ")
    assert (told["mode"], told["order"], told["device"]) == tuple(sessions[-1][k] for k in ("mode", "order", "device"))
    options = facts["options"]
    assert told.get("counted up to", "0") == str(options["count"])
    assert told.get("solved each") == (f"{options['repeat']} times" if "repeat" in options else None)
    report = json.loads(said("report", out, "--format", "json", "--top", top))
    assert report["n_rows"] == len(rows)
    assert report["n_failures"] == len(expected["failures"])
    assert report["n_warnings"] == n_warnings
    assert {(d["outcome"], d["stage"]): d["n"] for d in report["decided"]} == Counter(
        (row["outcome"], row["stage"]) for row in rows
    )
    same([report["times"][k] for k in ("n", "average_s", "median_s", "p90_s", "p99_s", "max_s", "sum_s")],
         list(expected["times"][0]))  # fmt: skip
    assert report["seconds"] == pytest.approx(sum(said["seconds"] for said in sessions), abs=1e-3)
    for heavy, value in zip(report["heaviest"], expected["heaviest"], strict=True):
        same([heavy["work_s"], heavy["n_colours"], heavy["outcome"], heavy["stage"]], [value[0], *value[3:6]])


@pytest.mark.slow
def test_a_report_as_markdown_text_and_page(out: Path, tmp_path: Path, said: Said) -> None:
    rows, (_, sessions) = rows_of(out), facts_of(out)
    expected = tables(rows, 10)
    shown = of_markdown(said("report", out, "--format", "md"))
    headings = {
        "outcomes": "Outcomes by stage", "times": "Time to solve", "spent": "Where the time went",
        "heaviest": "Heaviest", "by-folder": "By folder", "by-size": "By size", "by-colours": "By colours",
        "ratings": "Difficulty", "workers": "Workers", "failures": "Failures",
    }  # fmt: skip
    for key, values in expected.items():
        assert len(shown.get(headings[key], [])) == len(values)
        for row, value in zip(shown.get(headings[key], []), values, strict=True):
            same(row, list(value), **SHOWN)
    text = said("report", out)
    summary_and_report(text, rows, sessions, expected)
    said("report", out, "--html", tmp_path / "page.html")
    page_of(tmp_path / "page.html", rows, sessions, expected)


def summary_and_report(text: str, rows: Rows, sessions: list[dict[str, Any]], expected: Cells) -> None:
    lines = of_text(text)
    head = next(line for line in text.splitlines() if " puzzles in " in line)
    n, seconds, rate = re.search(r"([\d,]+) puzzles in (.*?)  \(([\d,]+) puzzles/s\)", head).groups()  # type: ignore[union-attr]
    wall = sum(said["seconds"] for said in sessions)
    assert meant(n) == len(rows)
    assert meant(seconds) == pytest.approx(wall, rel=0.006)
    assert meant(rate) == pytest.approx(len(rows) / wall, rel=0.01, abs=0.6)
    average, median, most, total = re.search(  # type: ignore[union-attr]
        r"average (.*), median (.*), maximum (.*), sum (.*)", text
    ).groups()
    of_all = expected["times"][0]
    same([average, median, most, total], [of_all[1], of_all[2], of_all[5], of_all[6]], **SHOWN)
    in_text(lines, expected["outcomes"])
    colours = [f" {row[3]}c" if row[3] > 2 else "" for row in expected["heaviest"]]
    in_text(lines, [(v[0], v[1], f"{v[2]}{c}", *v[4:6]) for v, c in zip(expected["heaviest"], colours, strict=True)])
    for key in ("times", "spent", "by-folder", "by-size", "by-colours", "ratings", "workers"):
        in_text(lines, expected[key])
    if n_warnings := sum(bool(row["warnings"]) for row in rows):
        assert re.search(rf"warnings +{n_warnings:,} puzzle", text)
    assert re.search(rf"engine +{sessions[-1]['engine']}, {sessions[-1]['workers']} worker", text)


def page_of(path: Path, rows: Rows, sessions: list[dict[str, Any]], expected: Cells) -> None:
    text = path.read_text()
    shown = Tables(text).found
    for key, values in expected.items():
        if key == "workers":
            values = [(re.sub("^", "worker ", v[1]), *v[2:5], None) for v in values]
        for row, value in zip(shown.get(key, []), values, strict=True):
            same(row[: len(value)] if key != "workers" else row[:5], list(value), **SHOWN)  # the strip is the second
    header, columns = unpacked(re.search(r'id="data"[^>]*>([A-Za-z0-9+/=\s]+)<', text)[1])  # type: ignore[index]
    longest = sorted(rows, key=lambda row: (-row["solve_s"], row["source"], row["index"]))
    assert header["n"] == len(rows)
    assert header["names"] == [row["name"] for row in longest]
    for name in ("solve_s", "height", "width", "n_colours", "index", "n_rounds", "n_lines", "n_probes", "n_conflicts"):
        assert columns[name].tolist() == pytest.approx([row[name] for row in longest], rel=1e-6), name
    assert [header["outcomes"][code] for code in columns["outcome"]] == [row["outcome"] for row in longest]
    tried = [row for row in rows if row["outcome"] != NO_TIME]
    bins = Counter(
        (math.floor(4 * math.log10(max(row["solve_s"], 1e-7)) + 1e-9), row["outcome"]) for row in tried
    )  # four to a decade
    assert {(b["bin"], b["outcome"]): b["n"] for b in header["histogram"]} == bins
    decided = sorted(r["solve_s"] for r in rows if r["outcome"] in ("unique", "multiple", "contradiction", "solved"))
    for within, n in header["cactus"]:
        assert within == pytest.approx(max(decided[n - 1], 1e-7), rel=1e-6)
    assert header["cactus"][-1][1] == len(decided)
    spent = {name: seconds for name, seconds, _ in expected["spent"]}
    assert dict(header["spent"]) == pytest.approx({name: spent.get(name, 0.0) for name, _ in header["spent"]}, rel=1e-5)
    of_all = expected["times"][0]
    half, most = re.search(r"Half of all took (.*?) or less, 99 % took (.*?) or less", text).groups()  # type: ignore[union-attr]
    same([half, most], [of_all[2], of_all[4]], **SHOWN)
    n, of = re.search(r"([\d,]+) of ([\d,]+) are decided in the end", text).groups()  # type: ignore[union-attr]
    assert (meant(n), meant(of)) == (len(decided), len(tried))
    on, share = re.search(r"Most went on (\w+): ([\d.]+ %)", text).groups()  # type: ignore[union-attr]
    max_spent = max(expected["spent"], key=lambda row: row[1])
    same([on, share], [max_spent[0], max_spent[2]], **SHOWN)
    wall = sum(said["seconds"] for said in sessions)
    n, took, rate = re.search(r"([\d,]+) puzzles in (.*?), ([\d,]+) a second", text).groups()  # type: ignore[union-attr]
    same([n, took, rate], [len(rows), wall, len(rows) / wall], rel=0.01, absolute=0.6)


# Two runs.


def pairs_of(a: Rows, b: Rows) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """By place: both runs were given the same files."""
    there = {(row["source"], row["index"]): row for row in b}
    for row in a:
        yield row, there[row["source"], row["index"]]


def typical(row: dict[str, Any]) -> float:
    return row["median_s"] if row["repeats"] > 1 else row["solve_s"]


PAIRS = [
    ("ordinary", "again"),
    ("ordinary", "repeated"),
    ("repeated", "lines"),
    ("ordinary", "unfinished"),
    ("ordinary", "counted"),
    pytest.param("ordinary", "ray", marks=[pytest.mark.ray, pytest.mark.slow]),
]


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_a_comparison(a: str, b: str, run_of: Callable[[str], Path], tmp_path: Path, said: Said) -> None:
    one, other = run_of(a), run_of(b)
    pairs = list(pairs_of(rows_of(one), rows_of(other)))
    changed = [(x, y) for x, y in pairs if x["outcome"] != y["outcome"]]
    words = ("compare", one, other, "--least", 0)
    code = 1 if changed else 0
    found = json.loads(said(*words, "--format", "json", code=code))
    assert (found["n"], found["only_a"], found["only_b"], found["n_changes"]) == (len(pairs), 0, 0, len(changed))
    assert found["n_contrary"] == 0
    timed = [
        (x, y, typical(y) / typical(x))
        for x, y in pairs
        if NO_TIME not in (x["outcome"], y["outcome"]) and typical(x) > 0 and typical(y) > 0
    ]
    assert len(timed) == sum(x["stage"] != "read" for x, _ in pairs)  # ordinary runs have times
    ratios = [ratio for _, _, ratio in timed]
    expected = (
        len(timed), sum(r < 1 for r in ratios) / len(ratios), statistics.median(ratios),
        statistics.geometric_mean(ratios), sum(typical(x) for x, _, _ in timed), sum(typical(y) for _, y, _ in timed),
    )  # fmt: skip
    expected = (*expected, expected[5] / expected[4])
    told = found["times"]
    same([told["n"], told["n_faster"] / told["n"], told["median"], told["geometric_mean"], told["sum_a"], told["sum_b"],
          told["sum_b"] / told["sum_a"]], list(expected))  # fmt: skip
    counts = {
        name: (
            sum(x[name] for x, _ in pairs),
            sum(y[name] for _, y in pairs),
            sum(x[name] != y[name] for x, y in pairs),
        )
        for name in ("n_rounds", "n_lines", "n_probes", "n_branches", "n_conflicts")
    }
    assert {c["name"]: (c["sum_a"], c["sum_b"], c["n_differ"]) for c in found["counts"]} == counts
    slow = sorted(timed, key=lambda p: -p[2])[:10]
    assert [row["ratio"] for row in found["worst"]] == pytest.approx([r for _, _, r in slow], rel=1e-5)
    csv_tables = of_csv(said(*words, "--format", "csv", code=code))
    same(csv_tables["summary"][0], list(expected))
    for row in csv_tables["counts"]:
        sums = counts[row[0]]
        same(row, [row[0], sums[0], sums[1], sums[1] / sums[0] if sums[0] else None, sums[2]])
    assert len(csv_tables.get("changes", [])) == min(200, len(changed))
    text = said(*words, code=code)
    in_text(of_text(text), [expected])
    assert f"{len(pairs):,} puzzles in both\n{len(changed):,} verdict" in text
    if len(changed) > 60:
        assert re.findall(r"and ([\d,]+) more", text) == [f"{len(changed) - 60:,}"]
    said(*words, "--html", tmp_path / "page.html", code=code)
    page = (tmp_path / "page.html").read_text()
    same(Tables(page).found["summary"][0], list(expected), **SHOWN)
    n, of, sum_a, sum_b = re.search(  # type: ignore[union-attr]
        r"B is quicker: ([\d,]+) of ([\d,]+) pairs. All together took (.*?) in A and (.*?) in B", page
    ).groups()
    same([n, of, sum_a, sum_b], [sum(r < 1 for r in ratios), len(ratios), *expected[4:6]], **SHOWN)
    header, columns = unpacked(re.search(r'id="data"[^>]*>([A-Za-z0-9+/=\s]+)<', page)[1])  # type: ignore[index]
    assert header["n"] == len(timed)
    assert sorted(columns["solve_s_a"].tolist()) == pytest.approx(sorted(typical(x) for x, _, _ in timed), rel=1e-6)


@pytest.mark.slow
def test_verdicts_and_counts_are_the_same_whoever_works(run_of: Callable[[str], Path]) -> None:
    """Alone or side by side, repeated or not: what a row says of a puzzle, and not of the time."""
    said = [
        {
            (row["source"], row["index"]): [row[name] for name in ("outcome", "stage", "n_solutions", "n_branches")]
            for row in rows_of(run_of(way))
        }
        for way in ("ordinary", "again", "repeated")
    ]
    assert said[0] == said[1] == said[2]


@pytest.mark.slow
def test_runs_with_nothing_in_common_are_no_comparison(run_of: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "one.nin").write_text("3 1\n3\n1\n1\n1\n")
    pnono("run", "one.nin", "--out", "other", "--quiet", cwd=tmp_path)
    for words in ((), ("--html", "page.html"), ("--format", "json")):
        done = pnono("compare", run_of("ordinary"), "other", *words, cwd=tmp_path, code=3)
        assert "none in common" in done.stderr
        assert not done.stdout


# Published times.


def mid_ranks(values: list[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) - 1) / 2 for v in values]


def spearman(x: list[float], y: list[float]) -> float:
    return statistics.correlation(mid_ranks(x), mid_ranks(y))


UNDECIDED = ("timeout", "stalled", "crashed", "invalid")


@pytest.mark.slow
def test_a_run_beside_published_times(tmp_path: Path) -> None:
    folder = SHARED / "data" / "wolter_survey"
    if not folder.is_dir():
        pytest.skip("needs the folder ../shared beside the checkout (the survey's puzzles are not ours to ship)")
    pnono("run", folder, "--out", "run", "--quiet", "--seconds", 1, cwd=tmp_path)
    rows: dict[str, dict[str, Any]] = {}
    for row in sorted(rows_of(tmp_path / "run"), key=lambda row: (row["outcome"] in UNDECIDED, row["solve_s"])):
        if row["digest"]:
            rows.setdefault(row["digest"], row)  # of several rows of a puzzle the quickest that decided it
    numbers = {
        f"webpbn {int(found[1])}": row
        for row in rows.values()
        if (found := re.search(r"pbn[-_ ]?(?:color-)?0*(\d+)[^/]*$", row["source"].lower()))
    }
    with (ROOT / "parallel_nono/report/published.csv").open(encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    beside = [
        (each, row)
        for each in told
        if (row := rows.get(each["digest"]) if each["digest"] else numbers.get(each["puzzle"])) is not None
    ]
    found = json.loads(pnono("compare", "run", "--published", "--format", "json", cwd=tmp_path).stdout)
    assert {p["puzzle"] for p in found["puzzles"]} == {each["puzzle"] for each, _ in beside}
    for puzzle in found["puzzles"]:
        of_it = [(each, row) for each, row in beside if each["puzzle"] == puzzle["puzzle"]]
        assert puzzle["ours_s"] == pytest.approx(of_it[0][1]["solve_s"], rel=1e-5)
        assert puzzle["ours_s"] > 0
        assert puzzle["n"] == len(of_it)
        assert puzzle["median_s"] == pytest.approx(statistics.median(float(e["seconds"]) for e, _ in of_it))
        exact = [float(e["seconds"]) for e, _ in of_it if e["relation"] != ">"]
        assert puzzle["best_s"] == pytest.approx(min(exact or [float(e["seconds"]) for e, _ in of_it]))
    for solver in found["solvers"]:
        of_it = [(each, row) for each, row in beside if each["solver"] == solver["solver"]]
        assert solver["n"] == len(of_it)
        exact = [
            float(e["seconds"]) / max(row["solve_s"], 1e-9)
            for e, row in of_it
            if e["relation"] == "=" and row["outcome"] not in UNDECIDED
        ]
        assert (solver["ratio"] is None) == (not exact)
        if exact:
            assert solver["ratio"] == pytest.approx(statistics.geometric_mean(exact), rel=1e-4)
            assert solver["ratio"] < 1e8
        assert solver["n_quicker"] == sum(
            float(e["seconds"]) > r["solve_s"] and e["relation"] != "<" and r["outcome"] not in UNDECIDED
            for e, r in of_it
        )
        if solver["with_time"] is not None:
            theirs = [1e12 if e["relation"] == ">" else float(e["seconds"]) for e, _ in of_it]
            ours = [1e12 if r["outcome"] in UNDECIDED else r["solve_s"] for _, r in of_it]
            assert solver["with_time"] == pytest.approx(spearman(theirs, ours), abs=1e-6)
