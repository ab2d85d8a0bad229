"""The pages of reports, in a real browser from disk: sorting, searching, keys, dark, phone, hostile names."""

from __future__ import annotations

import base64
import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from rows import after, folder_of, row
from test_report_tables import pnono

from parallel_nono.attempt import schema
from parallel_nono.puzzle import letter
from parallel_nono.report.html import BINS, page, policy
from parallel_nono.report.html.pack import KINDS, pack, pictures, steps

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")


# Without a browser.


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a page reads from its data."""
    data = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    columns = {
        name: np.frombuffer(data, np.dtype(KINDS[kind]).newbyteorder("<"), n, start)
        for name, kind, start, n in header["columns"]
    }
    assert all(start % 8 == 0 for _, _, start, _ in header["columns"])
    return header, columns


def test_what_is_packed_is_unpacked() -> None:
    columns = {
        "a": np.array([1, 2, 255], np.uint8),
        "b": np.array([-1.5], np.float64),
        "none": np.zeros(0, np.uint32),
        "c": np.array([-7, 7], np.int32),
        "d": np.array([np.nan, 0.25], np.float32),
    }
    header, found = unpacked(pack({"names": ["é\ud800", "</script>"], "n": 3}, columns))
    assert (header["names"][1], header["n"]) == ("</script>", 3)
    assert [name for name, *_ in header["columns"]] == list(columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(found[name], column)


@pytest.mark.parametrize(
    ("height", "width", "n_colours", "side"), [(3, 5, 2, 64), (1, 1, 3, 64), (9, 4, 60, 64), (7, 10, 2, 4)]
)
def test_pictures_hold_every_cell_or_every_second(height: int, width: int, n_colours: int, side: int) -> None:
    grid = np.random.default_rng(1).integers(0, n_colours, (height, width))
    text = "/".join("".join(letter(int(cell), n_colours) for cell in line) for line in grid)
    starts, data, n = pictures(
        [(text, height, width, n_colours), ("", 3, 3, 2), (text[1:], height, width, 2)], side, 10**6
    )
    assert (n, starts[1], starts[-1]) == (1, len(data), len(data))
    step = -(-max(height, width) // side)
    small = grid[::step, ::step]
    cells = np.unpackbits(data)[: small.size] if n_colours == 2 else data
    np.testing.assert_array_equal(cells.reshape(small.shape), small)


def test_pictures_stop_at_their_share() -> None:
    starts, data, n = pictures([("##/##", 2, 2, 2)] * 10, 64, 3)
    assert (len(data), n, starts.tolist()) == (3, 3, [0, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3])


def test_strips_show_who_worked_when(tmp_path: Path) -> None:
    rows = [
        row(worker="1.0", started=after(0), solve_s=1.0),
        row(worker="1.0", started=after(3), solve_s=1.0),
        row(worker="1.1", started=after(1), solve_s=2.0),
    ]
    text = page(folder_of(tmp_path / "run", rows))
    paths = re.findall(r'aria-label="worker (\S+): in the solver ([\d.]+) %[^"]*"><path d="([^"]*)"', text)
    assert [(name, share) for name, share, _ in paths] == [("1.0", "50.0"), ("1.1", "50.0")]
    quarter = BINS // 4
    for (_, _, path), busy in zip(paths, ([1, 0, 0, 1], [0, 1, 1, 0]), strict=True):
        assert path == steps(float(busy[place // quarter]) for place in range(BINS))


def test_the_policy_lets_nothing_in_but_its_own() -> None:
    assert "unsafe" not in policy()
    assert "default-src 'none'" in policy()
    assert policy().count("'sha256-") == 6


def test_the_page_of_a_run_without_rows(tmp_path: Path) -> None:
    text = page(folder_of(tmp_path / "run", []))
    assert "0 puzzles" in text


# In a browser.

HOSTILE = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>{{ 7 * 7 }}"


def some_rows() -> list[dict[str, Any]]:
    """Puzzles of all outcomes, colours and sizes, hostile where a puzzle can be."""
    rows = [
        row(name=HOSTILE, source=f"{HOSTILE}/x.non", solution="#.#/.#./###", height=3, width=3, solve_s=5.0),
        row(
            name="colours",
            solution="ab./..b",
            height=2,
            width=3,
            n_colours=3,
            solve_s=4.0,
            outcome="multiple",
            stage="sat",
        ),
        row(name="", source="big.non", solution="/".join(["#." * 50] * 100), height=100, width=100, solve_s=3.0),
        row(name="late", outcome="timeout", stage="sat", solve_s=2.0, worker=HOSTILE),
        row(
            name="broken",
            outcome="invalid",
            stage="read",
            height=0,
            width=0,
            error=f"b:1: found {HOSTILE}",
            solve_s=0.0,
        ),
        row(name="no", outcome="contradiction", stage="line", solve_s=1e-6),
    ]
    rows += [
        row(
            name=f"puzzle {n}",
            index=n,
            n_rounds=n,
            n_probes=n % 7,
            n_lines=(n * 37) % 101,
            solve_s=n / 1e5,
            started=after(n / 50),
        )
        for n in range(1, 301)
    ]
    return rows


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def report_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    path = folder / "report.html"
    path.write_text(page(folder_of(folder / HOSTILE.replace("/", "|"), some_rows())), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a file; at the end nothing may have been said in the console, and nothing been asked of the network."""
    contexts, said = [], []

    def open_page(path: Path, width: int = 1200, height: int = 900, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("request", lambda request: request.url.startswith(("file:", "data:")) or said.append(request.url))
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert not said


def names(tab: Any) -> list[str]:
    return [text.strip() for text in tab.locator("#rows .open").all_inner_texts()]


def shows(tab: Any, how_many: str) -> None:
    """Wait until the table says that it shows so many puzzles."""
    tab.locator("#shown", has_text=re.compile(f"^{how_many}")).wait_for()


@in_browser
def test_hostile_names_are_only_text(opened: Callable[..., Any], report_page: Path) -> None:
    tab = opened(report_page)
    assert names(tab)[:4] == [HOSTILE, "colours", "big.non #1", "late"]
    tab.get_by_role("button", name="window.pwned").first.click()
    assert tab.locator("dialog h2").inner_text() == HOSTILE
    assert HOSTILE in tab.locator("dialog dl").inner_text()
    tab.keyboard.press("Escape")
    assert HOSTILE in tab.locator("#failures").inner_text()
    assert HOSTILE in tab.locator("#workers").inner_text()
    assert tab.evaluate("window.pwned") is None
    assert tab.locator("img").count() == 0


@in_browser
def test_the_policy_stops_a_script_that_came_in(browser: Any, report_page: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.html"
    changed.write_text(report_page.read_text().replace("</main>", "<script>window.pwned = 3</script></main>"))
    tab = browser.new_page()
    refused: list[str] = []
    tab.on("console", lambda message: refused.append(message.text))
    tab.goto(changed.as_uri())
    tab.wait_for_selector("html[data-ready]")
    assert tab.evaluate("window.pwned") is None
    assert len(refused) == 1
    tab.close()


@in_browser
def test_headings_sort(opened: Callable[..., Any], report_page: Path) -> None:
    tab = opened(report_page)
    rows = some_rows()
    time_head = tab.locator("#rows th", has=tab.get_by_role("button", name="time", exact=True))
    assert time_head.get_attribute("aria-sort") == "descending"
    time_head.get_by_role("button").click()
    assert time_head.get_attribute("aria-sort") == "ascending"
    assert names(tab)[:3] == ["broken", "no", "puzzle 1"]
    tab.get_by_role("button", name="lines", exact=True).click()
    assert time_head.get_attribute("aria-sort") is None
    most = sorted((each for each in rows), key=lambda each: (-each["n_lines"], -each["solve_s"]))
    assert names(tab)[:5] == [each["name"] for each in most[:5]]
    tab.get_by_role("button", name="puzzle", exact=True).first.click()
    ordered = [name for name in names(tab) if name.startswith("puzzle")]
    assert ordered[:3] == ["puzzle 1", "puzzle 2", "puzzle 3"]
    tab.get_by_role("button", name="size", exact=True).click()
    assert names(tab)[0] == "broken"


@in_browser
def test_searching_and_filters(opened: Callable[..., Any], report_page: Path) -> None:
    tab = opened(report_page)
    shown = tab.locator("#shown")
    assert shown.inner_text() == "306 puzzles"
    tab.get_by_label("Search").fill("PUZZLE 30")
    shows(tab, "4 of")
    assert names(tab) == ["puzzle 300", "puzzle 230", "puzzle 130", "puzzle 30"]
    tab.get_by_label("Search").fill("found pwned")  # in a message
    shows(tab, "1 of")
    assert names(tab) == ["broken"]
    tab.get_by_label("Search").fill("")
    tab.locator("#outcome").select_option("timeout")
    shows(tab, "1 of 306")
    assert names(tab) == ["late"]
    tab.locator("#stage").select_option("line")
    assert shown.inner_text() == "0 of 306 puzzles"
    assert shown.get_attribute("role") == "status"


@in_browser
def test_keys_alone_suffice(opened: Callable[..., Any], report_page: Path) -> None:
    tab = opened(report_page)
    for _ in range(60):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.id") == "window":
            break
    tab.keyboard.press("ArrowDown")
    focused = "document.activeElement.innerText"
    assert tab.evaluate(focused) == HOSTILE
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate(focused) == "colours"
    tab.keyboard.press("Enter")
    assert tab.locator("dialog h2").inner_text() == "colours"
    tab.keyboard.press("Escape")
    assert not tab.locator("dialog").is_visible()
    assert tab.evaluate(focused) == "colours"
    tab.keyboard.press("End")
    assert tab.evaluate(focused) == "broken"
    assert tab.evaluate("document.activeElement.closest('tr').ariaRowIndex") == "307"
    tab.keyboard.press("PageUp")
    place = int(tab.evaluate("document.activeElement.closest('tr').ariaRowIndex"))
    assert 270 < place < 307
    assert tab.locator("#rows tbody tr").count() < 60
    assert tab.evaluate("document.getElementById('rows').ariaRowCount") == "307"


@in_browser
def test_pictures_are_the_solutions(opened: Callable[..., Any], report_page: Path) -> None:
    tab = opened(report_page)
    pixels = """(row) => {
        const canvas = document.querySelectorAll("#rows tbody tr:not(.space)")[row].querySelector("canvas");
        if (!canvas) return null;
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const at = (x, y) => [...data.slice(4 * (y * canvas.width + x))].slice(0, 3).join();
        const { width, height } = canvas;
        return [width, height, at(1, 1), at(width / 2, 1), at(width - 1, height - 1)];
    }"""
    black, white = "0,0,0", "255,255,255"
    assert tab.evaluate(pixels, 0) == [48, 48, black, white, black]
    width, height, first, second, last = tab.evaluate(pixels, 1)
    assert (width, height) == (48, 32)
    assert first != second
    assert second == last != white
    assert tab.evaluate(pixels, 2)[:2] == [50, 50]  # of a hundred cells to a side every second
    assert tab.evaluate(pixels, 3) is None


CONTRAST = """(selector) => {
    const light = (rgb) => {
        const [r, g, b] = rgb.match(/[\\d.]+/g).slice(0, 3).map((value) => {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (!/, 0\\)$/.test(colour)) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    return [...document.querySelectorAll(selector)].map((element) => {
        const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
    });
}"""


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_have_contrast(
    opened: Callable[..., Any], report_page: Path, scheme: str
) -> None:
    tab = opened(report_page, scheme=scheme)
    theme = "document.documentElement.dataset.theme"
    assert tab.evaluate(theme) == scheme
    ratios = tab.evaluate(CONTRAST, "h1, h2, p, a, th, td, button, label, figcaption, select, .place")
    assert len(ratios) > 200
    assert min(ratios) >= 4.5
    button = tab.get_by_role("button", name="Dark")
    assert button.get_attribute("aria-pressed") == str(scheme == "dark").lower()
    button.click()
    assert tab.evaluate(theme) != scheme
    tab.reload()
    tab.wait_for_selector("html[data-ready]")
    assert tab.evaluate(theme) != scheme  # kept


@in_browser
def test_a_phone_shows_all_without_scrolling_sideways(opened: Callable[..., Any], report_page: Path) -> None:
    tab = opened(report_page, 360, 700)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    for head in ("puzzle", "outcome", "time", "rating"):
        assert tab.locator("#rows th", has_text=head).first.is_visible()
    assert not tab.locator("#rows th", has_text="probes").is_visible()
    tab.get_by_role("button", name="colours", exact=True).last.click()
    assert tab.locator("dialog").bounding_box()["width"] <= 360


@pytest.mark.slow
@in_browser
def test_every_plot_is_drawn_and_described(opened: Callable[..., Any], report_page: Path) -> None:
    tab = opened(report_page)
    plots = tab.locator(".plot")
    assert plots.count() == 5
    for place in range(5):
        plot = plots.nth(place)
        plot.scroll_into_view_if_needed()
        plot.locator("canvas").wait_for()
        inked = plot.evaluate(
            """(element) => {
                const canvas = element.querySelector("canvas");
                const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                return data.filter((value, at) => at % 4 === 3 && value > 0).length;
            }"""
        )
        assert inked > 1000
        for reference in ("aria-labelledby", "aria-describedby"):
            assert tab.locator(f"#{plot.get_attribute(reference)}").inner_text()


@pytest.mark.slow
@in_browser
def test_pages_of_comparisons(opened: Callable[..., Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        row(index=n, name=HOSTILE, digest=f"{n:032}", solve_s=(n + 1) / 1000, outcome="unique" if n else "timeout")
        for n in range(20)
    ]
    rows.append(row(name="Dancer", digest="c0fc954046e8bb97105d447921b66837"))  # webpbn 1
    a = folder_of(tmp_path / "a", rows)
    b = folder_of(tmp_path / "b", [{**each, "solve_s": each["solve_s"] / 2, "outcome": "unique"} for each in rows])
    pnono(capsys, "compare", str(a), str(b), "--html", str(tmp_path / "pairs.html"), code=1)
    tab = opened(tmp_path / "pairs.html")
    assert "Verdicts that changed: 1" in tab.locator("main").inner_text()
    assert HOSTILE in tab.locator("#changes").inner_text()
    tab.locator("#pairs canvas").wait_for()
    tab.locator("#ratios canvas").wait_for()
    pnono(capsys, "compare", str(a), "--published", "--html", str(tmp_path / "published.html"))
    tab = opened(tmp_path / "published.html", 360, 700)
    tab.locator("#published canvas").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert "webpbn 1" in tab.locator("#by-puzzle").inner_text()


def many_rows(n: int) -> pa.RecordBatch:
    """Rows that differ in name, place, time and solution."""
    numbers = np.arange(n)
    one = pa.RecordBatch.from_pylist([row(height=20, width=20)], schema())
    batch = one.take(pa.array(np.zeros(n, np.int64)))
    random = np.random.default_rng(3)
    bits = random.integers(0, 2, (n, 20, 21)).astype(np.uint8)
    letters = np.where(bits, np.uint8(ord("#")), np.uint8(ord(".")))
    letters[:, :, 20] = ord("/")
    texts = letters.reshape(n, 420)[:, :419].copy().view("S419").ravel()
    columns = {
        "name": pa.array([f"puzzle {number}" for number in numbers]),
        "index": pa.array(numbers.astype(np.int32)),
        "solve_s": pa.array(random.lognormal(-9, 2, n).astype(np.float32)),
        "n_lines": pa.array(random.integers(40, 4000, n)),
        "solution": pa.array(texts.astype("U")),
    }
    for name, column in columns.items():
        batch = batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), column)
    return batch


@in_browser
@pytest.mark.slow
def test_a_hundred_thousand_rows_stay_usable(opened: Callable[..., Any], tmp_path: Path) -> None:
    from parallel_nono.report.parquet import Writer

    with Writer(tmp_path / "run", {}, {"run": "many"}, "here") as writer:
        writer.write(many_rows(100_000))
    began = perf_counter()
    text = page(tmp_path / "run")
    made = perf_counter() - began
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    began = perf_counter()
    tab = opened(tmp_path / "page.html")
    usable = perf_counter() - began
    took = {}
    for name, script in {
        "sort by name": "document.querySelectorAll('#rows thead button')[0].click()",
        "sort by lines": "document.querySelectorAll('#rows thead button')[7].click()",
        "to the end": "document.getElementById('window').scrollTop = 1e9",
    }.items():
        took[name] = tab.evaluate(
            f"() => {{ const began = performance.now(); {script}; return performance.now() - began; }}"
        )
    tab.locator("#rows tbody tr[aria-rowindex='100001']").wait_for()
    tab.get_by_label("Search").fill("puzzle 99999")
    shows(tab, "1 of 100,000")
    assert names(tab) == ["puzzle 99999"]
    assert tab.locator("#rows tbody canvas").count() == 1
    assert len(text) < 20e6
    print(f"made in {made:.1f} s, {len(text) / 1e6:.1f} MB, usable after {usable:.1f} s; ms: {took}")
