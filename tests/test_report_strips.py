"""The strips of a report's page: with a timeline what each worker did; without a sound one, what the rows know."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import tracemalloc
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import START, after, row
from test_report_pages import CONTRAST, HOSTILE, browser, in_browser, opened

from parallel_nono import RunOptions, generate, run, write
from parallel_nono.attempt import schema
from parallel_nono.engine.timeline import Timeline, place_of
from parallel_nono.report import trace
from parallel_nono.report.html import page, strips
from parallel_nono.report.html.pack import steps
from parallel_nono.report.html.strips import ACTIVITIES, BINS, Strips, strips_of
from parallel_nono.report.parquet import Writer, sessions
from parallel_nono.report.query import open_rows, run_report
from parallel_nono.report.wording import duration
from parallel_nono.spans import NAMES, Span

__all__ = ["browser", "opened"]  # fixtures

STARTED = START.isoformat()
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
GROUPS = {
    "solving": {"solve", "lines", "merge"},
    "SAT solver": {"prove"},
    "reading": {"open", "read"},
    "rows": {"check", "rows", "write", "count"},
    "waiting": {"wait", "queue", "share", "give"},
}


def folder(out: Path, rows: list[dict[str, Any]], session: dict[str, Any] | None = None) -> Path:
    """Results of a run that was started once."""
    with Writer(out, {"inputs": ["folder"], "seconds": 1.0}, {"run": out.name}, "here") as writer:
        writer.session = {"started": STARTED, "engine": "local", "why": "asked for", "workers": 2, **(session or {})}
        writer.write(pa.RecordBatch.from_pylist(rows, schema()))
    return out


def told(path: Path, spans: dict[str, list[Span]], started: str = STARTED) -> Path:
    """A timeline as a run would have written it."""
    with Timeline(path, started) as timeline:
        for worker, mine in spans.items():
            timeline.add("here", worker, mine)
    return path


def span(name: str, began: float, ended: float) -> Span:
    return Span(name, after(began).timestamp(), ended - began, 0.0, 1)


def strips_in(out: Path, inside: bool = False) -> Strips:
    rows = open_rows(out)
    return strips_of(out, run_report(out, rows=rows), rows, inside)


ROWS = [row(worker="1.0", started=after(1), solve_s=2.0), row(worker="1.1", started=after(2), solve_s=1.0)]
SPANS = {
    "1.0": [span("wait", 0, 1), span("solve", 1, 3), span("prove", 1.5, 2.5), span("rows", 3, 4)],
    "1.1": [span("read", 0, 2), span("solve", 2, 3), span("queue", 2, 2.5)],
    "writer": [span("write", 3.5, 4)],
}


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    told(tmp_path / "trace.json", SPANS)
    return folder(tmp_path / "run", ROWS, {"timeline": "../trace.json"})


def test_every_span_is_shown_as_one_thing() -> None:
    assert {each.name: set(each.spans) for each in ACTIVITIES} == GROUPS
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(NAMES)


def test_strips_are_what_the_timeline_says(traced: Path) -> None:
    found = strips_in(traced)
    assert [each["name"] for each in found.rows] == ["worker 1.0", "worker 1.1", "writer"]
    assert [each["n"] for each in found.rows] == ["1", "1", ""]
    assert found.heads == tuple(GROUPS)
    assert found.rows[0]["seconds"] == ["1 s", "1 s", "", "1 s", "1 s"]
    assert found.rows[1]["seconds"] == ["500 ms", "", "2 s", "", "500 ms"]
    assert [each["busy"] for each in found.rows] == ["75.0 %", "62.5 %", "12.5 %"]
    assert (found.end, found.note) == ("4 s", "")
    # Worker 1.0: eight times half a second, from the bottom up, each drawn over what stands higher.
    order = [each.key for each in ACTIVITIES]
    did = ["waiting", "waiting", "solving", "proving", "proving", "solving", "writing", "writing"]
    for key, path in found.rows[0]["paths"]:
        boxes = {int(at): float(high) for at, high in re.findall(r"M(\d+) 1v-([\d.e-]+)h1V1z", path)}
        for place in range(BINS):
            shares = dict.fromkeys(order, 0.0)
            for eighth, name in enumerate(did):
                begins, ends = eighth * BINS / 8, (eighth + 1) * BINS / 8
                shares[name] += max(0.0, min(place + 1, ends) - max(place, begins))
            top = sum(shares[each] for each in order[: order.index(key) + 1]) if shares[key] else 0.0
            assert boxes.get(place, 0.0) == pytest.approx(top, abs=2e-3), (key, place)


def test_a_step_of_which_three_things_have_a_share_is_drawn_in_order() -> None:
    shares = np.zeros((len(ACTIVITIES), BINS))
    shares[:, 7] = 0.25, 0.0, 0.5, 0.0, 0.125
    drawn = dict(strips._paths(shares))
    assert list(drawn) == ["waiting", "writing", "reading", "proving", "solving"]  # what covers more, first
    assert drawn["solving"] == steps([0] * 7 + [0.25])
    assert drawn["reading"] == steps([0] * 7 + [0.75])
    assert drawn["waiting"] == steps([0] * 7 + [0.875])
    assert drawn["proving"] == drawn["writing"] == ""


@given(st.lists(st.tuples(st.floats(0, 90), st.floats(0, 30)), max_size=30))
def test_what_spans_cover_is_what_each_covers(spans: list[tuple[float, float]]) -> None:
    edges = np.linspace(-5, 130, 50)
    begins = np.array([begin for begin, _ in spans])
    ends = np.array([begin + took for begin, took in spans])
    plain = [
        sum(max(0.0, min(b, end) - max(a, begin)) for begin, end in zip(begins, ends, strict=True))
        for a, b in itertools.pairwise(edges)
    ]
    np.testing.assert_allclose(strips._covered(begins, ends, edges), plain, atol=1e-9)


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty easy puzzles, six for the SAT solver."""
    made = tmp_path_factory.mktemp("collection")
    for seed in range(40):
        write([generate("blobs", 15, 15, seed)], made / f"easy{seed}.non")
    for seed in range(6):
        write([generate("domino", 15, 15, seed)], made / f"hard{seed}.non")
    return made


def figures_of(*paths: Path) -> dict[str, dict[str, float]]:
    """Seconds by worker and group, straight from traces."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(GROUPS, 0.0))
    for path in paths:
        events = json.loads(path.read_text())
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        for event in events:
            if event["ph"] == "X":
                mine = found[names[event["pid"], event["tid"]]]
                mine[next(group for group, spans in GROUPS.items() if event["name"] in spans)] += event["dur"] / 1e6
                if event["name"] in ("queue", "prove", "share"):
                    mine["solving"] -= event["dur"] / 1e6
    return found


def in_page(text: str) -> dict[str, list[str]]:
    """Name of each worker of a page, and the cells after its strip: puzzles, seconds, busy."""
    rows = re.findall(r'<tr><th scope="row">([^<]*)</th><td><svg class="strip.*?</svg></td>(.*?)</tr>', text)
    return {name.removeprefix("worker "): re.findall(r"<td[^>]*>([^<]*)</td>", cells) for name, cells in rows}


def test_the_page_of_a_real_run_agrees_with_its_trace(collection: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    run(RunOptions((str(collection),), workers=2, out=tmp_path / "out", timeline=path))
    plain, shown = figures_of(path), in_page(page(tmp_path / "out"))
    assert shown.keys() == plain.keys() >= {"reader", "writer"}
    rows = pq.read_table(tmp_path / "out" / "rows").to_pylist()
    for worker, (n, *seconds, _) in shown.items():
        wanted = [duration(max(0.0, each)) if each > 1e-9 else "" for each in plain[worker].values()]
        assert seconds == wanted
        assert n == (str(sum(row["worker"] == worker for row in rows)) if worker[0].isdigit() else "")
    assert sum(each["SAT solver"] for each in plain.values()) > 0


def test_each_start_of_a_run_has_its_timeline(collection: Path, tmp_path: Path) -> None:
    """Three starts: two with a timeline in a place of its own, one without."""
    out = tmp_path / "out"
    given_ = ["easy1.non", "hard1.non"], ["easy2.non", "hard2.non"], ["easy3.non"]
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    for number, names in enumerate(given_):
        for name in names:
            shutil.copy(collection / name, inputs)
        timeline = (out / "one.json", tmp_path / "two.json", None)[number]
        run(RunOptions((str(inputs),), out=out, resume=number > 0, timeline=timeline))
    assert [each.get("timeline") for each in sessions(out)] == ["one.json", "../two.json", None]
    plain, found = figures_of(out / "one.json", tmp_path / "two.json"), strips_in(out)
    assert "Of the other starts only the time in the solver is known: 1 of 3 starts of the run wrote no timeline." in (
        found.note
    )
    rows = {each["worker"]: each for each in pq.read_table(out / "rows").to_pylist() if each["name"] == "easy3"}
    for each in found.rows:
        name = each["name"].removeprefix("worker ")
        solving = plain[name]["solving"] + (rows[name]["solve_s"] if name in rows else 0.0)
        number, unit = (each["seconds"][0] or "0 s").split()
        assert float(number) * UNITS[unit] == pytest.approx(solving, rel=5e-3, abs=1e-8)
    # Both moved together are found again; the second one lost, its rows tell what they know.
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("out", "two.json"):
        shutil.move(tmp_path / name, moved / name)
    assert strips_in(moved / "out") == found
    (moved / "two.json").unlink()
    left = strips_in(moved / "out")
    assert "two.json: the timeline can't be read: No such file or directory; 1 of 3 starts" in left.note
    assert left.activities
    assert len(left.rows) <= len(found.rows)


def test_a_timeline_is_named_from_the_folder_of_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert place_of(Path("t.json"), Path("runs/a")) == "../../t.json"
    assert place_of(Path("runs/a/t.json"), Path("runs/a")) == "t.json"
    assert (
        place_of(Path(os.fsdecode(b"\xff.json")), Path("a")) == "../\\xff.json"
    )  # as text, or no part could be written
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    told_ = place_of(Path("t.json"), Path("link/a"))
    assert trace.place_in(tmp_path / "link" / "a", told_, inside=False) == tmp_path / "t.json"


def changed(old: bytes, new: bytes) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, 1))

    return change


def huge(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(trace.MAX_BYTES + 1)


def linked(path: Path) -> None:
    path.rename(path.with_name("real.json"))
    path.symlink_to(path.with_name("real.json"))


def piped(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "can't be read: No such file"),
    "folder": (a_folder, "expected a file, found a folder"),
    "pipe": (piped, "expected a file, found a pipe"),
    "link": (linked, "expected a file, found a link"),
    "empty": (lambda path: path.write_bytes(b""), "expected a timeline of `pnono run --timeline`"),
    "bytes": (lambda path: path.write_bytes(bytes(range(256)) * 999), "expected a timeline of"),
    "other program": (
        lambda path: path.write_text('{"traceEvents": [' + "{}," * 99_999 + "{}]}"),
        "expected a timeline",
    ),
    "other list": (lambda path: path.write_text("[\n[1],\n[2]\n]\n"), "expected a timeline of"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-100]), "found one that was cut off, or is still"),
    "huge": (huge, "expected a timeline of at most 512 MiB, found 512 MiB"),
    "another start": (changed(STARTED.encode(), b"2026-01-01T00:00:01+00:00"), "found that of another"),
    "no time": (changed(b'"dur": 1000000.0', b'"dur": NaN'), "found others: ValueError"),
    "endless": (changed(b'"dur": 1000000.0', b'"dur": 1e999'), "found others: ValueError"),
    "backwards": (changed(b'"dur": 1000000.0', b'"dur": -1'), "found others: ValueError"),
    "far away": (changed(b'"ts": 1000000.0', b'"ts": 1e300'), "found others: ValueError"),
    "long number": (changed(b'"ts": 1000000.0', b'"ts": ' + b"9" * 400), "found others: OverflowError"),
    "longer number": (changed(b'"ts": 1000000.0', b'"ts": ' + b"9" * 9000), "found others: ValueError"),
    "text": (changed(b'"ts": 1000000.0', b'"ts": "1"'), "found others: TypeError"),
    "unknown name": (changed(b'"name": "solve"', b'"name": "dream"'), "found others: KeyError"),
    "no name": (changed(b'"name": "solve"', b'"name": []'), "found others: TypeError"),
    "nobody": (changed(b'"tid": 1', b'"tid": 77'), "found others: KeyError"),
    "deep": (changed(b'"ts": 1000000.0', b'"ts": ' + b"[" * 50_000), "found others: "),
    "long line": (changed(b'"name": "1.0"', b'"name": "' + b"x" * 2 * trace.BLOCK + b'"'), "found others: "),
    "list": (changed(b'{"name": "thread_name"', b'[], {"name": "thread_name"'), "found others: "),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_timeline_that_is_none_is_a_sentence_and_the_rows_are_shown(what: str, traced: Path, tmp_path: Path) -> None:
    breaks, why = BROKEN[what]
    breaks(tmp_path / "trace.json")
    without, found = strips_in(folder(tmp_path / "without", ROWS)), strips_in(traced)
    assert without.note == ""
    assert found._replace(note="") == without
    assert found.note.startswith(f" Only the time in the solver is known: {tmp_path / 'trace.json'}: ")
    assert why in found.note
    assert found.note.endswith(".")
    assert found.note.count("\n") == 0
    assert "Only the time in the solver is known" in page(traced)


def test_in_lines_mode_rows_belong_to_all_and_strips_to_each(tmp_path: Path) -> None:
    told(tmp_path / "trace.json", {"7.0": [span("solve", 0, 2), span("share", 0, 1)], "lines 0": [span("lines", 0, 1)]})
    rows = [row(worker="2 threads", started=after(0), solve_s=2.0)]
    found = strips_in(folder(tmp_path / "run", rows, {"timeline": "../trace.json"}))
    shown = {each["name"]: (each["n"], each["seconds"][0], each["seconds"][4], each["busy"]) for each in found.rows}
    assert shown == {
        "worker 2 threads": ("1", "", "", ""),
        "7.0": ("", "1 s", "1 s", "50.0 %"),
        "lines 0": ("", "1 s", "", "50.0 %"),
    }


def test_a_timeline_without_a_span_says_nothing(tmp_path: Path) -> None:
    told(tmp_path / "trace.json", {})
    out = folder(tmp_path / "run", ROWS, {"timeline": "../trace.json"})
    assert strips_in(out) == strips_in(folder(tmp_path / "without", ROWS))


def test_the_server_follows_no_timeline_out_of_a_folder_of_results(traced: Path, tmp_path: Path) -> None:
    for place in ("../trace.json", str(tmp_path / "trace.json"), "rows/../../trace.json"):
        out = folder(tmp_path / "as told" / re.sub(r"\W", "-", place), ROWS, {"timeline": place})
        shutil.copy(tmp_path / "trace.json", out.parent / "trace.json")
        found = strips_in(out, inside=True)
        assert not found.activities
        assert f"the timeline {place} is not in the folder of results; `pnono report` shows it" in found.note
    shutil.move(tmp_path / "trace.json", tmp_path / "within.json")
    out = folder(tmp_path / "whole", ROWS, {"timeline": "trace.json"})
    shutil.move(tmp_path / "within.json", out / "trace.json")
    assert strips_in(out, inside=True) == strips_in(out)
    assert strips_in(out).activities


def test_names_in_a_timeline_are_only_text(tmp_path: Path) -> None:
    told(tmp_path / "trace.json", {**SPANS, HOSTILE: [span("wait", 0, 1)]})
    text = page(folder(tmp_path / "run", ROWS, {"timeline": "../trace.json"}))
    assert HOSTILE not in text
    assert "&lt;script&gt;window.pwned = 1&lt;/script&gt;" in text
    told(tmp_path / "trace.json", {**SPANS, "half \ud800": [span("wait", 0, 1)]})
    assert "half \ufffd" in page(tmp_path / "run")
    rows = open_rows(tmp_path / "run")
    report = replace(run_report(tmp_path / "run", rows=rows), sessions=[{"started": STARTED, "timeline": "\ud800\0"}])
    assert "\ufffd\ufffd: the timeline can't be read" in strips_of(tmp_path / "run", report, rows, False).note
    hostile = page(folder(tmp_path / "other", ROWS, {"timeline": HOSTILE}))
    assert HOSTILE not in hostile
    assert "Only the time in the solver is known" in hostile


def test_a_long_timeline_is_read_in_little_memory(tmp_path: Path) -> None:
    n = 20_000
    spans = [Span("solve" if i % 2 else "rows", START.timestamp() + i, 0.5, 0.1, 7) for i in range(n)]
    path = told(tmp_path / "trace.json", {"1.0": spans})
    assert path.stat().st_size > 100 * n
    tracemalloc.start()
    found = trace.read(path, STARTED)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size
    mine = found["here", "1.0"]
    assert len(mine.names) == n
    assert [trace.ORDER[name] for name in mine.names[:2]] == ["rows", "solve"]
    np.testing.assert_allclose(mine.ends - mine.begins, 0.5, atol=1e-6)


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shades_can_be_told_apart_in_grey_and_on_paper(
    opened: Callable[..., Any], traced: Path, tmp_path: Path, scheme: str
) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(traced), encoding="utf-8")
    tab = opened(path, 360, 800, scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.locator(".strip").first.bounding_box()["x"] + 100 < 360  # seen without scrolling sideways
    assert tab.locator(".legend li").all_inner_texts() == [f"{each.name} {each.means}" for each in ACTIVITIES]
    assert min(tab.evaluate(CONTRAST, ".legend span, .legend b, .strips td, .strips th")) >= 4.5
    fills = """() => {
        const fill = (element) => getComputedStyle(element).fill;
        const keys = [...document.querySelectorAll(".legend svg")];
        const path = (key) => document.querySelector(`.strip path.${key.classList[0]}`);
        return keys.map((key) => [fill(key.querySelector("rect")), fill(path(key))]);
    }"""
    for medium, is_dark in (("screen", scheme == "dark"), ("print", False)):
        tab.emulate_media(media=medium)
        shades = tab.evaluate(fills)
        assert all(legend == drawn for legend, drawn in shades)
        greys = [grey(fill) for fill, _ in shades]
        steps_ = np.diff(greys) if not is_dark else -np.diff(greys)
        assert steps_.min() > 0.1, greys  # a step of a scale from black to white


def grey(colour: str) -> float:
    """How light a colour is to the eye, from 0 to 1 (CIE L*)."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return float(1.16 * (0.2126 * red + 0.7152 * green + 0.0722 * blue) ** (1 / 3) - 0.16)
