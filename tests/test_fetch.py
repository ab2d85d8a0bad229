"""`pnono fetch` against a server of our own on the loopback: never faster than agreed, never twice, never elsewhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs

import pytest

import parallel_nono
from parallel_nono.cli import main
from parallel_nono.files import fetch as fetching
from parallel_nono.files.fetch import SITES, Folder, Record, Unreachable, fetch, is_address
from parallel_nono.files.writing import content_of
from parallel_nono.puzzle import Puzzle

TINY = Puzzle.of_grid([[1, 0, 1, 1, 0], [0] * 5, [1, 1, 1, 0, 0]], name="Tiny & small")
XML = content_of([TINY], "webpbn").encode()
SCRIPT = f"<script>{content_of([TINY], 'nonograms')}</script>"
PAGE = f"<html><head><title>Nonogram «Crêpe»</title></head>{SCRIPT}</html>".encode()


@dataclass
class Answer:
    body: bytes = XML
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    announced: int | None = None


@dataclass
class Asked:
    """One question that the server got: when, what, with which form and headers."""

    at: float
    path: str
    form: dict[str, str]
    agent: str


class Server:
    """A site on the loopback; `answer` maps (path, form, times this was asked) to an answer."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answer: Callable[[str, dict[str, str], int], Answer] = lambda path, form, turn: Answer()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                form = {key: values[0] for key, values in parse_qs(self.rfile.read(size).decode()).items()}
                turn = sum((a.path, a.form) == (self.path, form) for a in outer.asked)
                outer.asked.append(Asked(time.monotonic(), self.path, form, self.headers["User-Agent"]))
                answer = outer.answer(self.path, form, turn)
                self.send_response(answer.status)
                for key, value in answer.headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", str(answer.announced or len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            do_POST = do_GET

            def log_message(self, format: str, *args: object) -> None:
                return

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def numbers(self) -> list[int]:
        return [int(asked.form.get("id") or asked.path.rsplit("/", 1)[1]) for asked in self.asked]


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


def get(
    server: Server, path: Path, numbers: list[int], site: str = "webpbn", pause_s: float = 0.0, **more: object
) -> list[tuple[Record, bool]]:
    folder = Folder(path, SITES[site], server.url)
    options = {"back_off_s": 0.01, **more}
    return list(fetch(SITES[site], numbers, folder, base_url=server.url, pause_s=pause_s, **options))  # type: ignore[arg-type]


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (path / "manifest.jsonl").read_text().splitlines()]


# What is asked, and what is kept.


def test_webpbn_is_asked_for_its_export_and_the_file_is_a_puzzle(server: Server, tmp_path: Path) -> None:
    ((record, asked),) = get(server, tmp_path, [65])
    assert asked
    assert [(a.path, a.form["id"], a.form["fmt"], a.form["go"]) for a in server.asked] == [
        ("/export.cgi", "65", "xml", "1")
    ]
    assert "parallel_nono" in server.asked[0].agent
    assert (record.number, record.status, record.file) == (65, "fetched", "webpbn-000065.xml")
    assert (tmp_path / record.file).read_bytes() == XML
    assert [puzzle.digest for puzzle in parallel_nono.read(tmp_path)] == [TINY.digest]
    assert record.note == "Tiny & small, 5 x 3, 2 colours"


def test_nonograms_is_asked_for_the_colour_page_only_after_the_black_one(server: Server, tmp_path: Path) -> None:
    def answer(path: str, form: dict[str, str], turn: int) -> Answer:
        if path == "/nonograms2/i/7":
            return Answer(PAGE)
        return Answer(PAGE) if path.endswith("/8") else Answer(b"<html>nothing here</html>", 404)

    server.answer = answer
    found = get(server, tmp_path, [7, 8, 9], "nonograms")
    assert [asked.path for asked in server.asked] == [
        "/nonograms/i/7", "/nonograms2/i/7", "/nonograms/i/8", "/nonograms/i/9", "/nonograms2/i/9",
    ]  # fmt: skip
    assert [record.status for record, _ in found] == ["fetched", "fetched", "missing"]
    (first, second) = parallel_nono.read(tmp_path)
    assert (first.digest, first.name) == (second.digest, "Crêpe") == (TINY.digest, "Crêpe")


def test_the_manifest_tells_whose_the_puzzles_are_and_what_became_of_each(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: {
        "1": Answer(), "2": Answer(b"Puzzle 2 does not exist\n"), "3": Answer(XML[:-30]),
    }[form["id"]]  # fmt: skip
    get(server, tmp_path / "new/folder", [1, 2, 3])
    head, *records = lines(tmp_path / "new/folder")
    assert head["site"] == "webpbn"
    assert "author" in str(head["rights"])
    assert [(r["number"], r["status"], r["file"]) for r in records] == [
        (1, "fetched", "webpbn-000001.xml"), (2, "missing", ""), (3, "invalid", "webpbn-000003.xml"),
    ]  # fmt: skip
    assert records[1]["note"] == "Puzzle 2 does not exist"
    assert "expected well-formed XML" in str(records[2]["note"])
    assert (tmp_path / "new/folder/.gitignore").read_text().endswith("\nwebpbn-*\nmanifest.jsonl\n")
    assert not list((tmp_path / "new/folder").glob(".*.part"))


# Going on.


def test_nothing_is_asked_twice(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: (
        Answer(b"Puzzle has not been published\n") if form["id"] == "2" else Answer()
    )
    get(server, tmp_path, [1, 2, 3])
    found = get(server, tmp_path, [1, 2, 3, 4])
    assert server.numbers() == [1, 2, 3, 4]
    assert [(record.status, asked) for record, asked in found] == [
        ("fetched", False), ("missing", False), ("fetched", False), ("fetched", True),
    ]  # fmt: skip
    get(server, tmp_path, [1, 2], again=True)
    assert server.numbers() == [1, 2, 3, 4, 2]


def test_a_file_that_went_away_or_was_cut_is_asked_for_again(server: Server, tmp_path: Path) -> None:
    get(server, tmp_path, [1, 2, 3])
    (tmp_path / "webpbn-000001.xml").unlink()
    (tmp_path / "webpbn-000002.xml").write_bytes(XML[:10])
    get(server, tmp_path, [1, 2, 3])
    assert server.numbers() == [1, 2, 3, 1, 2]


def test_a_line_that_was_cut_off_is_forgotten(server: Server, tmp_path: Path) -> None:
    get(server, tmp_path, [1, 2])
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_bytes(manifest.read_bytes()[:-20])
    get(server, tmp_path, [1, 2])
    assert server.numbers() == [1, 2, 2]
    assert [line.get("number") for line in lines(tmp_path)] == [None, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"site": "nonograms"}\n', ":1: expected puzzles of webpbn in this folder, found `nonograms`"),
        ("hello\n", ":1: expected a line that `pnono fetch` wrote, found `hello`"),
        ('{"site": "webpbn"}\n{"number": 1}\n', ":2: expected a line that `pnono fetch` wrote"),
    ],
)
def test_a_manifest_of_something_else_is_left_alone(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "manifest.jsonl").write_text(text)
    with pytest.raises(parallel_nono.InvalidPuzzle, match=message):
        Folder(tmp_path, SITES["webpbn"], "")
    assert (tmp_path / "manifest.jsonl").read_text() == text


# Politeness.


def test_questions_keep_their_distance(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: Answer(b"busy", 503) if turn == 0 else Answer()
    get(server, tmp_path, [1, 2], pause_s=0.15)
    times = [asked.at for asked in server.asked]
    assert len(times) == 4
    assert all(later - earlier >= 0.15 for earlier, later in pairwise(times))


def test_a_busy_site_is_asked_later_and_later(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: Answer(b"", 429 if turn % 2 else 500) if turn < 3 else Answer()
    ((record, _),) = get(server, tmp_path, [1], back_off_s=0.1)
    times = [asked.at for asked in server.asked]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert record.status == "fetched"
    assert len(gaps) == 3
    assert all(gap >= wanted for gap, wanted in zip(gaps, (0.1, 0.2, 0.4), strict=True))


def test_the_site_may_say_how_long_to_wait(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: Answer(b"", 503, {"Retry-After": "1"}) if turn == 0 else Answer()
    get(server, tmp_path, [1])
    assert 1.0 <= server.asked[1].at - server.asked[0].at < 5.0
    server.answer = lambda path, form, turn: Answer(b"", 429, {"Retry-After": "86400"})
    with pytest.raises(Unreachable, match="wants us to wait 86400 s"):
        get(server, tmp_path, [2])
    server.answer = lambda path, form, turn: Answer(b"", 429, {"Retry-After": "Fri, 01 Jan 2100 00:00:00 GMT"})
    with pytest.raises(Unreachable, match="wants us to wait"):
        get(server, tmp_path, [2])
    assert len(server.asked) == 4


def test_a_site_that_stays_busy_ends_the_fetch_and_what_is_there_stays(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: Answer(b"", 500) if form["id"] == "2" else Answer()
    with pytest.raises(Unreachable, match=r"answers 500 .* \(3 times\)"):
        get(server, tmp_path, [1, 2, 3], retries=2)
    assert server.numbers() == [1, 2, 2, 2]
    server.answer = lambda path, form, turn: Answer()
    get(server, tmp_path, [1, 2, 3])
    assert server.numbers() == [1, 2, 2, 2, 2, 3]


@pytest.mark.parametrize("status", [401, 403, 418])
def test_a_site_that_refuses_is_not_asked_again(server: Server, tmp_path: Path, status: int) -> None:
    server.answer = lambda path, form, turn: Answer(b"", status)
    with pytest.raises(Unreachable, match=f"the site answers {status}"):
        get(server, tmp_path, [1, 2])
    assert len(server.asked) == 1


def test_a_site_that_is_not_there_is_unreachable(server: Server, tmp_path: Path) -> None:
    server.http.server_close()
    with pytest.raises(Unreachable, match="no answer"):
        get(server, tmp_path, [1], retries=1)


# Nothing else is fetched.


def test_redirects_stay_within_the_site(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: (
        Answer(PAGE) if path == "/moved" else Answer(b"", 301, {"Location": "/moved"})
    )
    ((record, _),) = get(server, tmp_path / "a", [1], "nonograms")
    assert record.status == "fetched"
    for place in ("file:///etc/passwd", "ftp://127.0.0.1/x", "http://localhost:1/x", "data:text/plain,x"):
        server.answer = lambda path, form, turn, place=place: Answer(b"", 302, {"Location": place})
        with pytest.raises(Unreachable, match=r"(?i)redirect"):
            get(server, tmp_path / "b", [1], "nonograms")
    server.answer = lambda path, form, turn: Answer(b"", 302, {"Location": f"/round{turn}"})
    asked = len(server.asked)
    with pytest.raises(Unreachable, match="the site answers 302"):
        get(server, tmp_path / "b", [1], "nonograms")
    assert len(server.asked) - asked < 20


def test_an_answer_without_end_is_cut(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MAX_BYTES", 1 << 16)
    server.answer = lambda path, form, turn: Answer(b"x" * (1 << 18))
    with pytest.raises(Unreachable, match="expected an answer of at most"):
        get(server, tmp_path, [1])
    monkeypatch.setattr(fetching, "MAX_ANSWER_S", -1.0)
    server.answer = lambda path, form, turn: Answer()
    with pytest.raises(Unreachable, match="expected an answer within"):
        get(server, tmp_path, [1])


def test_an_answer_that_was_cut_off_is_asked_for_again(server: Server, tmp_path: Path) -> None:
    server.answer = lambda path, form, turn: Answer(XML[:60], announced=len(XML)) if turn == 0 else Answer()
    ((record, _),) = get(server, tmp_path, [1])
    assert (record.status, record.bytes, len(server.asked)) == ("fetched", len(XML), 2)


def test_only_web_addresses_stand_for_a_site() -> None:
    assert all(map(is_address, ("http://127.0.0.1:80", "https://www.nonograms.ru")))
    assert not any(
        map(is_address, ("file:///etc", "ftp://x.org", "x.org", "https://", "http://x:99999", "http://[", ""))
    )


def test_reading_an_address_as_a_puzzle_opens_no_connection(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.url").write_text(f"{server.url}/p?nonogram/2/1/111\n")
    (puzzle,) = parallel_nono.read(tmp_path / "a.url")
    assert puzzle.width == 2
    assert not server.asked


# The command.


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_the_command_gets_ranges_and_says_what_is_missing(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda path, form, turn: Answer(b"Puzzle 3 does not exist\n") if form["id"] == "3" else Answer()
    options = ("--out", tmp_path / "x", "--base-url", server.url, "--rate", 1000)
    assert command("fetch", "webpbn", "5", "1-4", *options) == 3
    said = capsys.readouterr()
    assert server.numbers() == [5, 1, 2, 3, 4]
    assert "webpbn-000005.xml: Tiny & small, 5 x 3, 2 colours" in said.out
    assert "4 puzzles in" in said.out
    assert "publish none without leave" in said.out
    assert said.err == "pnono: webpbn 3: missing: Puzzle 3 does not exist\n"
    assert command("fetch", "webpbn", "1-2", *options) == 0
    assert len(server.asked) == 5
    assert "2 puzzles in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("somewhere", "1"), "expected a site, webpbn or nonograms, found 'somewhere'"),
        (("webpbn", "x"), "expected numbers and ranges such as 16 and 1-500, found 'x'"),
        (("webpbn", "5-1"), "expected a range from 1 on that ascends"),
        (("webpbn", "0"), "expected a range from 1 on that ascends"),
        (("webpbn", "1-"), "expected numbers and ranges"),
        (("webpbn", "1", "--rate", "2"), "--rate: expected at most 1 question a second, found 2"),
        (("webpbn", "1", "--base-url", "file:///etc"), "--base-url: expected an address such as"),
    ],
)
def test_a_wrong_command_line_asks_nobody(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert command("fetch", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_an_unreachable_site_and_an_unwritable_folder_have_their_codes(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda path, form, turn: Answer(b"", 403)
    options = ("--base-url", server.url, "--out")
    assert command("fetch", "webpbn", "1", *options, tmp_path / "x") == 69
    assert "the same command goes on from here" in capsys.readouterr().err
    (tmp_path / "file").write_text("x")
    assert command("fetch", "webpbn", "1", *options, tmp_path / "file") == 74
    (tmp_path / "x/manifest.jsonl").write_text("?\n")
    assert command("fetch", "webpbn", "1", *options, tmp_path / "x") == 2


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_leaves_a_folder_that_goes_on(server: Server, tmp_path: Path) -> None:
    arguments = ["fetch", "webpbn", "1-50", "--out", str(tmp_path / "x"), "--base-url", server.url, "--rate", "5"]
    with subprocess.Popen(
        [sys.executable, "-m", "parallel_nono", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while len(server.asked) < 3 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert b"the same command goes on from here" in err
    got = [line["number"] for line in lines(tmp_path / "x")[1:]]
    assert got == list(range(1, len(got) + 1))
    assert 2 <= len(got) < 50
    before = len(server.asked)
    get(server, tmp_path / "x", list(range(1, 7)))
    assert server.numbers()[before:] == list(range(len(got) + 1, 7))
