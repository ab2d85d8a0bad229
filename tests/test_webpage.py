"""The static page: its parsers against those of the command line, and the page itself in Chromium."""

from __future__ import annotations

import random
import re
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mutations import mutated
from nodejs import as_task, node, page_or_skip
from test_cli import pnono

from parallel_nono.formats import format_named, recognise
from parallel_nono.generator import generate
from parallel_nono.kernels import toolchain
from parallel_nono.puzzle import InvalidPuzzle, Puzzle
from parallel_nono.web import wasm

SAMPLES = Path(__file__).parent / "samples"
FORMATS = ("json", "sgt", "non", "nin", "olsak")
TEXTS = (
    *("tiny.non", "colour.non", "nonny.non", "bundle.nonpack", "tiny.nin", "tiny.json", "colour.json"),
    *("tiny.g", "colour.g", "tiny.sgt"),
)

SIGNS_AND_ZEROS = (
    '{"rows":[[1,1],[0,1],[1,1]],"columns":[[1,1],[0,1],[1,1]]}',
    '{"rowHints":[[1,1],[0,1],[1,1]],"colHints":[[0,3],[0,1],[1,1]]}',
    '{"rows":[[0,0,0],[0,1,1],[0,1,1]],"cols":[[0,0,0],[0,1,1],[0,1,1]]}',
    '{"rows":[[1,1],[1,0]],"cols":[[1,0],[1,1]]}',
    '{"rows":[[1,1,0,1],[0],[1]],"cols":[[1,0,1],[1],[0,0,0],[1]]}',
    '{"rows":[[2],null],"columns":[[1],["-"]]}',
    '{"rows":[["-"],[""],"[]",[1]],"columns":[[1],[0,0]]}',
    "2 2\n1\n-\n1\n[]\n",
    "width 2\nheight 2\nrows\n1\n\u2013\ncolumns\n1\n[ 0 ]\n",
    "width 2\nheight 2\n3 4\nrows\n1\n0\ncolumns\n1\n0\n",
    ": a\n1\n-\n: b\n1\n[]\n:\n",
    "2x2:1/-/1/[]\n",
)
"""Signs of empty lines, and zeros that are padding or cells."""


def by_python(text: str, form: str) -> list[Any] | str:
    """What the command line's parser gives, messages as the page words them; a text that is no file: its message."""

    def said(error: InvalidPuzzle) -> str:
        message = re.sub(r"^x:(\d+): ", r"line \1: ", str(error))
        return re.sub(r"^(x: )?(puzzle \d+: )?", "", message).replace("400,000,000", "4,000,000")

    try:
        return [
            said(puzzle) if isinstance(puzzle, InvalidPuzzle) else as_task(puzzle)
            for puzzle in format_named(form).parse(text, "x")
        ]
    except InvalidPuzzle as error:
        return said(error)


def by_page(solution: dict[str, Any]) -> list[Any] | str:
    if "puzzles" not in solution:
        return str(solution["error"])
    keys = ("height", "width", "rows", "columns", "palette")
    return [puzzle.get("error") or {key: puzzle[key] for key in keys} for puzzle in solution["puzzles"]]


def the_first(found: list[Any] | str) -> Any:
    """The page reads one puzzle of a text; what is wrong with that one is all that it says."""
    return found[0] if isinstance(found, list) and isinstance(found[0], str) else found


@pytest.mark.slow
def test_samples_and_broken_texts_are_read_alike() -> None:
    rng = random.Random(3)
    texts = [(SAMPLES / name).read_text(encoding="utf-8") for name in TEXTS]
    texts += [mutated(text.encode(), rng).decode("latin-1") for text in texts for _ in range(60)]
    texts = [text for text in texts if not re.search(r"[\0-\x08\x0b-\x1f\x7f-\xff]", text)]
    texts += SIGNS_AND_ZEROS
    compared = dict.fromkeys(FORMATS, 0)
    for text, solution in zip(texts, node({"do": "parse", "text": text} for text in texts), strict=True):
        found = recognise(text)
        if found is None or found.name not in FORMATS or solution.get("format", found.name) != found.name:
            continue
        expected, got = by_python(text, found.name), by_page(solution)
        if found.name == "json" and isinstance(expected, str):
            assert isinstance(got, str)  # what is wrong about JSON every parser words in its own way
            continue
        if "goal" in str(expected) or "clues under two names" in str(got):
            continue  # the page leaves goals aside, and puzzles that are nothing else
        if found.name == "json":
            expected, got = ([str(item).split("found")[0] for item in side] for side in (expected, got))
        expected, got = the_first(expected), the_first(got)
        if isinstance(expected, str) and str(got).startswith("expected a puzzle as "):
            continue  # the page takes less for a puzzle with mistakes
        if "not supported" in str(expected) and isinstance(got, str):
            continue  # it looks for that later, and may meet another mistake before
        assert got == expected, text
        compared[found.name] += 1
    assert min(compared.values()) >= 5
    assert sum(compared.values()) > 150


@pytest.mark.parametrize("name", TEXTS)
def test_what_the_page_writes_is_the_puzzle_again(name: str) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    (written,) = node([{"do": "write", "text": text}])
    form = recognise(text)
    assert form is not None
    first = next(iter(form.parse(text, name)))
    again = next(iter(format_named("non").parse(written, "again.non")))
    assert isinstance(first, Puzzle)
    assert isinstance(again, Puzzle)
    assert again.digest == first.digest
    assert [colour.rgb for colour in again.palette] == [colour.rgb for colour in first.palette]


def test_command_writes_a_page_that_needs_nothing_else(tmp_path: Path) -> None:
    page_or_skip()
    out = tmp_path / "site"
    ended = pnono("web", "build", out, "--debug")
    assert ended.code == 0, ended.err
    assert re.search(r"11 files in .*site, [0-9,]+ bytes; the solver: [0-9,]+\n", ended.out)
    html = (out / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:src|href)="([^"#]+)"', html))
    assert named <= {path.name for path in out.iterdir()}
    assert not re.search(r"(https?:)?//", html)  # nothing from elsewhere
    assert not re.search(r"<script>|\son\w+=|style=", html)  # nothing that its policy forbids


def test_command_without_a_linker_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wasm, "kept", lambda: None)
    monkeypatch.setattr("parallel_nono.web.build.kept", lambda: None)
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    ended = pnono("web", "build", tmp_path / "site")
    assert ended.code == 69
    assert "no linker for WebAssembly is here: install" in ended.err
    assert not (tmp_path / "site").exists()


# The page in Chromium.


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, says nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    folder = page_or_skip()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the Python package playwright")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not path:
        pytest.skip("needs Chromium (Debian and Ubuntu: apt install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Page:
    """A page of the browser, and what it complained of on its console."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.faults.append(said.text))
        self.page.goto(address)

    def solve(self, text: str) -> str:
        """Paste a puzzle, press the button, wait for the verdict."""
        self.page.fill("#text", text)
        self.page.click("#go")
        return self.verdict()

    def verdict(self) -> str:
        self.page.wait_for_selector("#facts:not([hidden])", timeout=60_000)
        return str(self.page.inner_text("#status"))

    def fact(self, name: str) -> str:
        return str(self.page.inner_text(f"#facts tr:has(th:text-is('{name}')) td"))

    def drawn(self) -> list[str]:
        """The grid that is shown, in letters."""
        if not self.page.evaluate("document.getElementById('letters').open"):
            self.page.click("#letters summary")
            self.page.wait_for_selector("#drawn:not(:empty)")
        return str(self.page.inner_text("#drawn")).split("\n")

    def shades(self) -> set[tuple[int, ...]]:
        """Red, green and blue of what is on the canvas."""
        pixels = self.page.evaluate(
            "() => { const c = document.getElementById('grid');"
            "const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
            "return [...new Set(new Uint32Array(data.buffer))]; }"
        )
        return {tuple(pixel.to_bytes(4, "little")[:3]) for pixel in pixels}


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Page]:
    shown = Page(chromium, address)
    yield shown
    shown.context.close()
    assert shown.faults == []


HOOK = "width 3\nheight 3\nrows\n2\n1\n3\ncolumns\n3\n1,1\n1\n"
CROSSED = "2 2\n1\n1\n1\n1\n"


def hard() -> str:
    """A puzzle that takes minutes."""
    puzzle = generate("domino", 27, 27)
    clues = [".".join(str(block.length) for block in clue) for clue in (*puzzle.columns, *puzzle.rows)]
    return f"27x27:{'/'.join(clues)}"


def test_a_pasted_puzzle_is_solved(page: Page) -> None:
    assert page.solve(HOOK) == "Unique: this is the only solution; lines alone decide it."
    assert page.drawn() == ["##.", "#..", "###"]
    assert (page.fact("Verdict"), page.fact("Decided by"), page.fact("Rounds")) == ("unique", "line", "2")
    assert {(0, 0, 0), (255, 255, 255)} <= page.shades()


def test_colours_of_a_grid_file_are_true(page: Page) -> None:
    assert page.solve((SAMPLES / "colour.g").read_text(encoding="utf-8")).startswith("Unique")
    assert page.drawn()[0] == "a.bb."
    assert {(0, 0, 255), (255, 0, 0), (255, 255, 255)} <= page.shades()
    assert "red" in page.page.inner_text("#legend")


def test_two_solutions_are_shown_with_their_differences(page: Page) -> None:
    assert page.solve(CROSSED) == "Ambiguous: at least 2 solutions; the first two differ in 4 cells."
    assert [button.inner_text() for button in page.page.query_selector_all("#views button")] == [
        *("Differences", "Solution 1", "Solution 2", "In common"),
    ]
    assert page.drawn() == ["#*.*", ".*#*"]
    page.page.click("#views button:text-is('Solution 2')")
    assert page.drawn() == [".#", "#."]
    page.page.click("#views button:text-is('In common')")
    assert page.drawn() == ["??", "??"]


def test_more_solutions_when_asked(page: Page) -> None:
    page.page.fill("#solutions", "10")
    assert page.solve("3 3\n1\n1\n1\n1\n1\n1\n").startswith("Ambiguous: exactly 6 solutions")
    assert page.page.locator("#views button").count() == 8
    page.page.fill("#solutions", "20")
    assert page.solve("4 4\n1\n1\n1\n1\n1\n1\n1\n1\n").startswith("Ambiguous: at least 20 solutions")
    assert page.page.locator("#views option").count() == 22
    page.page.select_option("#views select", "20")
    assert set(page.drawn()) == {"#...", ".#..", "..#.", "...#"}


def test_no_solution_says_why(page: Page) -> None:
    found = page.solve("3 1\n4\n1\n1\n1\n")
    assert found == "Contradiction: no solution obeys the clues: row 1: the clue needs 4 cells, the line has 3."


def test_errors_stand_on_the_page_as_text(page: Page) -> None:
    for text, message in (
        ("", "expected a puzzle, found nothing"),
        ("<img src=x onerror=alert(1)>", "found `<img src=x onerror=alert(1)>`"),
        ("3 3\n1\n1\n1 x\n1\n1\n1\n", "line 4: expected block lengths up to 200,000, found `x`"),
        ("width 999999\nheight 999999\nrows\n1\ncolumns\n1\n", "expected a width and a height from 1 to 200,000"),
    ):
        page.page.fill("#text", text)
        page.page.click("#go")
        assert message in page.page.inner_text("#problem")
        assert not page.page.is_visible("#result")
    assert page.page.query_selector("#problem img") is None
    assert page.solve(HOOK).startswith("Unique")
    assert not page.page.is_visible("#problem")


def test_names_are_text(page: Page) -> None:
    name = "<b onclick=alert(1)>bold</b>"
    page.solve(f'title "{name}"\n{HOOK}')
    assert page.page.inner_text("#title") == name
    assert page.page.query_selector("#title b") is None


def test_stop_ends_a_long_search_at_once(page: Page) -> None:
    page.page.fill("#text", hard())
    page.page.click("#go")
    page.page.wait_for_selector("#progress:text-matches('Search: .*conflict')")
    assert page.page.locator("#views").inner_text() == ""
    page.page.keyboard.press("Escape")
    assert page.page.inner_text("#status") == "Stopped: that proves nothing."
    assert page.page.is_disabled("#stop")
    assert not page.page.is_visible("#facts")
    assert page.solve(HOOK).startswith("Unique")  # and the next one has a worker of its own


def test_seconds_end_a_long_search(page: Page) -> None:
    page.page.fill("#seconds", "1")
    assert page.solve(hard()).startswith("Timeout")
    assert page.fact("Verdict") == "timeout"


@pytest.mark.parametrize("text", [HOOK, "3x3:3/1.1/1/2/1/3"])
def test_a_link_holds_the_puzzle(chromium: Any, address: str, text: str) -> None:
    shown = Page(chromium, f"{address}?s={quote(text)}&solutions=3")
    assert shown.verdict().startswith("Unique")
    assert shown.page.input_value("#solutions") == "3"
    shown.page.click("#share")
    shown.page.wait_for_selector("#shared:not(:empty)")
    link = shown.page.url
    assert "?s=" in link
    assert len(link) < len(address) + 120
    again = Page(chromium, link)
    assert again.verdict().startswith("Unique")
    assert again.drawn() == ["##.", "#..", "###"]
    for page in (shown, again):
        page.context.close()
        assert page.faults == []


def test_a_long_puzzle_stays_behind_the_hash_and_damage_is_told(chromium: Any, address: str) -> None:
    shown = Page(chromium, address)
    puzzle = generate("noise", 90, 90, 1)
    clues = [".".join(str(block.length) for block in clue) for clue in (*puzzle.columns, *puzzle.rows)]
    shown.page.fill("#text", f"90x90:{'/'.join(clues)}")
    shown.page.click("#share")
    shown.page.wait_for_selector("#shared:not(:empty)")
    assert "#s=" in shown.page.url
    shown.context.close()
    broken = Page(chromium, f"{address}?s=~AAAA")
    broken.page.wait_for_selector("#problem:not([hidden])")
    assert "found a damaged one" in broken.page.inner_text("#problem")
    broken.context.close()


def test_the_puzzles_of_a_file_can_be_chosen(page: Page) -> None:
    page.page.set_input_files("#file", SAMPLES / "bundle.nonpack")
    assert page.verdict().startswith("Unique")
    assert page.page.inner_text("#title") == "First"
    page.page.select_option("#which", "1")
    assert "expected 4 lines of row clues" in page.page.inner_text("#problem")
    page.page.select_option("#which", "2")
    assert page.verdict().startswith("Unique")
    assert page.page.inner_text("#title") == "Last"


def test_a_dropped_file_is_solved(page: Page) -> None:
    transfer = page.page.evaluate_handle(
        "text => { const t = new DataTransfer(); t.items.add(new File([text], 'a.nin')); return t; }", CROSSED
    )
    page.page.dispatch_event("body", "drop", {"dataTransfer": transfer})
    assert page.verdict().startswith("Ambiguous")


def test_examples_and_the_keyboard(page: Page) -> None:
    for example, start in (
        ("umbrella", "Unique"),
        ("crossed", "Ambiguous"),
        ("contrary", "Contradiction"),
        ("search", "Unique"),
    ):
        page.page.select_option("#example", example)
        assert page.verdict().startswith(start)
    page.page.fill("#text", HOOK)
    page.page.keyboard.press("Control+Enter")
    assert "lines alone" in page.verdict()


def test_the_page_works_from_disk(chromium: Any) -> None:
    shown = Page(chromium, (page_or_skip() / "index.html").as_uri())
    assert shown.solve(CROSSED).startswith("Ambiguous")
    shown.context.close()
    assert shown.faults == []


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light"), (360, "dark")])
def test_phones_and_dark_rooms(chromium: Any, address: str, width: int, scheme: str) -> None:
    shown = Page(chromium, address, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert shown.solve(HOOK).startswith("Unique")
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    contrast = shown.page.evaluate(
        """() => {
          const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((channel) => channel / 255)
            .map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4))
            .reduce((sum, x, at) => sum + x * [0.2126, 0.7152, 0.0722][at], 0);
          const ground = light(getComputedStyle(document.getElementById("result")).backgroundColor);
          return [..."h1,h2,#status,label,td,th,.soft".split(",")].map((tag) => {
            const text = light(getComputedStyle(document.querySelector(tag)).color);
            return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
          });
        }"""
    )
    assert min(contrast) >= 4.5
    unnamed = shown.page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea')].filter((e) => e.checkVisibility()"
        " && !(e.labels?.length || e.ariaLabel || e.textContent.trim())).length"
    )
    assert unnamed == 0
    shown.context.close()


@pytest.mark.slow
def test_a_missing_module_is_told(chromium: Any, address: str) -> None:
    shown = Page(chromium, "about:blank")
    shown.page.route("**/pnono.wasm", lambda route: route.fulfill(status=404))
    shown.page.goto(address)
    shown.page.fill("#text", HOOK)
    shown.page.click("#go")
    shown.page.wait_for_selector("#problem:not([hidden])")
    assert "pnono.wasm can't be loaded: 404" in shown.page.inner_text("#problem")
    shown.context.close()
