"""`pnono serve`: who may ask, how the work is shared out, what the jobs give, and the page in a real browser."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import lives, title
from rows import folder_of, row

from parallel_nono import solve
from parallel_nono.attempt import Outcome
from parallel_nono.files.reading import read
from parallel_nono.formats import FORMATS
from parallel_nono.puzzle import InvalidPuzzle, Puzzle
from parallel_nono.web.serve import dispatch as dispatch_module
from parallel_nono.web.serve import jobs
from parallel_nono.web.serve.app import Server, application
from parallel_nono.web.serve.dispatch import Bounds, Busy, Dispatcher
from parallel_nono.web.serve.guard import HEADERS, LOOPBACK
from parallel_nono.web.serve.patience import A_CLIENT, SILENT_S, configuration, patient

httpx = pytest.importorskip("httpx", reason="needs httpx (pip install -e '.[test]')")

SAMPLES = Path(__file__).with_name("samples")
HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"
CROSSED = "width 2\nheight 2\n\nrows\n1\n1\n\ncolumns\n1\n1\n"
TOKEN = "a long enough token"
CHROMIUM = shutil.which("chromium")


# Who may ask.


class Asker:
    """Asks an application without any process behind it, so for what needs none."""

    def __init__(self, runs: Path, *, token: str = "", name: str = "localhost", **more: Any) -> None:
        self._app = application(Server(runs, token, () if token else LOOPBACK, **more))
        self._address = f"http://{name}:8888"
        self._cookies = httpx.Cookies()

    def request(self, method: str, path: str, **more: Any) -> Any:
        async def asked() -> Any:
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=self._address, cookies=self._cookies) as asker:
                response = await asker.request(method, path, **more)
                self._cookies = asker.cookies
                return response

        return asyncio.run(asked())

    def get(self, path: str, **more: Any) -> Any:
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> Any:
        return self.request("POST", path, **more)


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "", "[::1", "[evil]", "evil@127.0.0.1"),
        *("evil.example@localhost", "user:password@localhost", "localhost:1:80", "localhost:", "localhost:a"),
        *("localhost/", "localhost#", "localhost?", "localhost\\", " localhost", "[localhost]", "localhost:123456"),
        *("[::1]x", "[::1]:1:2", "localhost,evil.example", "a" * 5000),
    ],
)
def test_a_name_that_only_points_here_is_refused(tmp_path: Path, host: str) -> None:
    response = Asker(tmp_path).get("/api/runs", headers={"host": host})
    assert response.status_code == 421
    assert "not called" in response.json()["error"]


@pytest.mark.parametrize("host", ["localhost", "localhost:8888", "127.0.0.1:1", "[::1]:8888"])
def test_the_names_of_this_machine_will_do(tmp_path: Path, host: str) -> None:
    assert Asker(tmp_path).get("/api/runs", headers={"host": host}).json() == {"runs": []}


@pytest.mark.parametrize("path", ["/api/solve", "/api/export", "/api/login"])
@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"origin": "ftp://localhost:8888"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_page_of_somebody_else_may_not_ask(tmp_path: Path, path: str, headers: dict[str, str]) -> None:
    assert Asker(tmp_path).post(path, content=HOOK, headers=headers).status_code == 403


def test_without_the_token_there_is_the_page_and_nothing_else(tmp_path: Path) -> None:
    asker = Asker(tmp_path, token=TOKEN, name="nonograms.example")
    assert asker.get("/").status_code == 200
    assert asker.get("/assets/app.js").status_code == 200
    for method, path in (
        ("GET", "/api/about"),
        ("GET", "/api/runs"),
        ("GET", "/api/runs/x/live"),
        ("GET", "/runs/x/report"),
        ("POST", "/api/solve"),
        ("POST", "/api/export"),
        ("GET", "/assets/../api/about"),
        ("GET", "//api/about"),
        ("GET", "/api/login/../about"),
    ):
        assert asker.request(method, path, content=b"x" * (method == "POST")).status_code in (401, 404), path
    for wrong in ("", "x", TOKEN + "x", "é"):
        bearer = {"authorization": f"Bearer {wrong}".encode()}
        assert asker.get("/api/about", headers=bearer).status_code == 401
        assert asker.get("/api/about", headers={"cookie": f"pnono={wrong}".encode()}).status_code == 401


def test_the_token_opens_and_its_cookie_does_not_give_it_away(tmp_path: Path) -> None:
    asker = Asker(tmp_path, token=TOKEN, name="nonograms.example")
    assert asker.get("/api/about", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert asker.post("/api/login", json={"token": "something else"}).status_code == 401
    assert asker.post("/api/login", json={"token": 5}).status_code == 401
    response = asker.post("/api/login", json={"token": TOKEN})
    assert response.status_code == 200
    cookie = response.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    assert TOKEN not in cookie
    assert asker.get("/api/about").status_code == 200


def test_every_solution_forbids_scripts_that_are_not_ours(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    for path in ("/", "/assets/style.css", "/api/about", "/api/runs", "/nothing", "/api/runs/x/live"):
        response = asker.get(path)
        assert {name: response.headers[name] for name in HEADERS} == HEADERS, path
    assert "unsafe" not in HEADERS["Content-Security-Policy"]
    page = asker.get("/").text
    assert "<script>" not in page
    assert "style=" not in page
    assert " on" + "click" not in page


def test_bodies_are_bounded(tmp_path: Path) -> None:
    asker = Asker(tmp_path, bytes_in=1000)
    assert asker.post("/api/solve", content=b"x" * 1001).status_code == 413

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b"x" * 100

    assert asker.post("/api/solve", content=pieces()).status_code == 413  # no length was promised
    assert asker.post("/api/solve", content=b"").status_code == 400
    for query in ("number=x", "image={", f"image={'[' * 20_000}"):
        assert asker.post(f"/api/solve?{query}", content=b"x").status_code == 400
    for body in (b"[]", b"{", b"[" * 900, b"\xff"):
        assert asker.post("/api/export", content=body).status_code == 400


@pytest.mark.parametrize("name", ["..", ".", "%2e%2e", "a%2Fb", "..%2Fsecret", "%00", ".hidden", "none", "outside"])
def test_runs_are_right_below_the_root(tmp_path: Path, name: str) -> None:
    root = tmp_path / "runs"
    for run in (root / "fine", root / ".hidden", tmp_path / "secret"):
        (run / "rows").mkdir(parents=True)
        (run / "run.json").write_text(json.dumps({"started": "2026", "options": {}}))
    (root / "outside").symlink_to(tmp_path / "secret")
    asker = Asker(root)
    assert [run["name"] for run in asker.get("/api/runs").json()["runs"]] == ["fine"]
    assert asker.get(f"/api/runs/{name}/live").status_code == 404
    assert asker.get(f"/runs/{name}/report").status_code == 404


def test_what_no_system_takes_for_a_name_is_no_run(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    for name in ("a" * 5000, "%ff", "%ed%a0%80", "a%00b"):
        for path in (f"/runs/{name}/report", f"/api/runs/{name}/live", f"/assets/{name}"):
            assert asker.get(path).status_code == 404, path


HALF = rb'{"puzzle": "\ud800", "to": "\ud800", "show": "\udfff", "token": "\ud800"}'


def test_half_a_character_is_refused_everywhere(tmp_path: Path) -> None:
    asker = Asker(tmp_path)
    for body in (HALF, rb'{"\ud800": 1}', rb'{"a": [{"b": "\udfff"}]}'):
        assert asker.post("/api/export", content=body).status_code == 400
        assert Asker(tmp_path, token=TOKEN).post("/api/login", content=body).status_code == 400
    assert asker.post('/api/solve?image={"size":"%5Cud800"}', content=HOOK).status_code == 400


@pytest.mark.parametrize("entry", ["rows", "run.json", "rows/part-x-00000.parquet"])
def test_a_run_that_leads_elsewhere_is_shown_as_refused(tmp_path: Path, entry: str) -> None:
    root = tmp_path / "runs"
    folder_of(root / "linked", [row()])
    folder_of(root / "sound", [row()])
    link = root / "linked" / entry
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.symlink_to(next((root / "sound" / entry.split("/")[0]).parent.glob(entry.split("/")[0])))
    asker = Asker(root)
    runs = {run["name"]: run for run in asker.get("/api/runs").json()["runs"]}
    assert runs["sound"]["rows"] == 1
    if entry != "rows/part-x-00000.parquet":
        assert "found a link" in runs["linked"]["refused"]
    assert asker.get("/api/runs/linked/live").status_code in (200, 404)
    events = events_of("report", b"", run=str(root / "linked"))
    if entry != "run.json":  # the parts tell the facts
        assert "found a link" in one(events, "error")["message"]


def test_one_client_can_not_ask_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parallel_nono.web.serve.guard.A_CLIENT", 3)
    app = application(Server(tmp_path))

    async def asked() -> list[int]:
        hold, codes = asyncio.Event(), []

        async def body() -> AsyncIterator[bytes]:
            await hold.wait()
            yield b"x"

        async def post(asker: Any) -> None:
            codes.append((await asker.post("/api/export", content=body())).status_code)

        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as asker:
            tasks = [asyncio.create_task(post(asker)) for _ in range(3)]
            await asyncio.sleep(0.1)
            codes.append((await asker.get("/api/runs")).status_code)
            hold.set()
            await asyncio.gather(*tasks)
            codes.append((await asker.get("/api/runs")).status_code)
        return codes

    assert asyncio.run(asked()) == [429, 400, 400, 400, 200]


# How the work is shared out.


class Fake:
    """A process that does nothing for `seconds`."""

    seconds = 0.0
    pace = 0.0
    started: list[Fake] = []  # noqa: RUF012 - emptied by the fixture

    def __init__(self) -> None:
        self.alive, self.header, self.sent = True, None, 0
        Fake.started.append(self)

    @classmethod
    async def start(cls) -> Fake:
        return cls()

    async def ask(self, header: dict[str, Any], body: bytes) -> None:
        self.header, self.sent = header, 0

    async def event(self) -> dict[str, Any]:
        self.sent += 1
        await asyncio.sleep(Fake.seconds)
        return {"type": "work", "of": self.header} if self.sent == 1 else {"type": "end"}

    def mib(self) -> float:
        return Fake.pace

    async def kill(self) -> None:
        self.alive = False


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Fake]]:
    """Processes without a process; ticks are short."""
    monkeypatch.setattr(dispatch_module, "Process", Fake)
    monkeypatch.setattr(dispatch_module, "TICK_S", 0.01)
    monkeypatch.setattr(dispatch_module, "GRACE_S", 0.0)
    Fake.seconds, Fake.pace = 0.0, 0.0
    Fake.started.clear()
    yield Fake.started
    Fake.started.clear()


async def done(dispatcher: Dispatcher, who: str, log: list[str], label: str = "") -> None:
    async with dispatcher.job(who, {"job": label}) as events:
        async for event in events:
            if event["type"] == "started":
                log.append(label or who)


def test_who_has_the_fewest_at_work_is_next(fakes: list[Fake]) -> None:
    async def busy() -> list[str]:
        dispatcher, log = Dispatcher(Bounds(workers=2, a_client=9)), []
        Fake.seconds = 0.02
        jobs = [asyncio.create_task(done(dispatcher, "greedy", log)) for _ in range(4)]
        await asyncio.sleep(0.005)
        jobs += [asyncio.create_task(done(dispatcher, who, log)) for who in ("late", "later")]
        await asyncio.gather(*jobs)
        return log

    log = asyncio.run(busy())
    assert sorted(log[:3]) == ["greedy", "late", "later"], "one client takes all the others' places"
    assert log.count("greedy") == 4
    assert len(fakes) == 2, "more processes than allowed, or none used twice"


def test_no_client_takes_all_processes(fakes: list[Fake]) -> None:
    async def busy() -> None:
        dispatcher, log = Dispatcher(Bounds(workers=3, a_client=9)), []
        Fake.seconds = 30.0
        jobs = [asyncio.create_task(done(dispatcher, "greedy", log)) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert log == ["greedy"] * 2
        jobs.append(asyncio.create_task(done(dispatcher, "other", log)))
        await asyncio.sleep(0.05)
        assert log[2:] == ["other"]
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)

    asyncio.run(busy())
    assert not any(fake.alive for fake in fakes), "a process goes on although nobody listens"


def test_there_is_an_end_to_waiting_in_line(fakes: list[Fake]) -> None:
    async def busy() -> None:
        dispatcher = Dispatcher(Bounds(workers=1, a_client=2, in_line=3))
        Fake.seconds = 30.0
        async with dispatcher.job("a", {}), dispatcher.job("a", {}) as second:
            assert (await anext(second))["type"] == "queued"
            with pytest.raises(Busy, match="you have 2 jobs") as mine:
                await dispatcher.job("a", {}).__aenter__()
            assert mine.value.mine
            async with dispatcher.job("b", {}):
                with pytest.raises(Busy, match="busy") as theirs:
                    await dispatcher.job("c", {}).__aenter__()
                assert not theirs.value.mine
        async with dispatcher.job("c", {}) as events:  # all gave their places back, also those that never began
            assert (await anext(events))["type"] == "started"

    asyncio.run(busy())


@pytest.mark.parametrize(("seconds", "mib", "why"), [(0.05, 0, "0.05 seconds"), (60, 5000, "2048 MiB")])
def test_what_goes_beyond_its_bounds_is_killed(fakes: list[Fake], seconds: float, mib: float, why: str) -> None:
    async def busy() -> list[dict[str, Any]]:
        Fake.seconds, Fake.pace = 30.0, mib
        async with Dispatcher(Bounds(seconds=seconds)).job("a", {}) as events:
            return [event async for event in events if event["type"] != "tick"]

    began = time.monotonic()
    *_, last = asyncio.run(busy())
    assert last == {"type": "error", "message": f"stopped: it took more than {why}"}
    assert time.monotonic() - began < 2
    assert [fake.alive for fake in fakes] == [False]


# What the jobs give.


def events_of(job: str, body: bytes | str, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    usual = {"seconds": 20.0, "cells": 10_000, "memory_mib": 1000}
    jobs.events(job, usual | options, body if isinstance(body, bytes) else body.encode(), found.append)
    return json.loads(json.dumps(found, default=lambda data: data.decode("latin-1")))


def one(events: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (event,) = (event for event in events if event["type"] == kind)
    return event


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.*")), ids=lambda path: path.name)
def test_a_sample_of_any_format_is_solved_as_the_library_does(path: Path) -> None:
    events = events_of("solve", path.read_bytes(), name=path.name)
    if path.suffix in (".png", ".bmp", ".gif", ".pbm", ".ppm"):
        assert one(events, "verdict")["outcome"] in ("unique", "multiple")
        return
    puzzle = next(read(path, errors="yield"))
    if isinstance(puzzle, InvalidPuzzle):
        assert one(events, "error")["message"].partition(":")[2] == str(puzzle).partition(":")[2]
        return
    shown, verdict = one(events, "puzzle"), one(events, "verdict")
    assert (
        Puzzle(
            tuple(tuple(map(tuple, clue)) for clue in shown["rows"]),
            tuple(tuple(map(tuple, clue)) for clue in shown["columns"]),
            puzzle.palette,
        ).digest
        == puzzle.digest
    )
    result = solve(puzzle)
    assert verdict["outcome"] == result.outcome
    assert verdict["counts"] == result.counts
    assert verdict["solutions"] == [jobs.flat(solution) for solution in result.solutions]
    told = {at: to for event in events if event["type"] == "steps" for step in event["steps"]
            for at, to in zip(step["at"], step["to"], strict=True)}  # fmt: skip
    if result.outcome == Outcome.UNIQUE:
        assert all(verdict["solutions"][0][at] == to for at, to in told.items())


@pytest.mark.parametrize(
    ("body", "options", "message"),
    [
        (b"", {}, "puzzle: expected a puzzle, found an empty file"),
        (b"what is this", {"name": "x.txt"}, "x.txt:1: expected a known format"),
        (HOOK.encode(), {"format": "nix"}, "expected a format among"),
        (HOOK.encode(), {"number": 2}, "puzzle: expected a puzzle number from 1 to 1, found 2"),
        (HOOK.encode(), {"cells": 8}, "expected at most 8 cells on this server, found 3 x 3"),
        (b"\x89PNG\r\n\x1a\nbroken", {}, "expected a picture"),
        (SAMPLES.joinpath("glass.png").read_bytes(), {"image": {"size": 10**9}}, "size: expected a number"),
        (SAMPLES.joinpath("glass.png").read_bytes(), {"image": {"colours": "x"}}, "colours: expected a number"),
        (b"PAR1" + b"x" * 50, {}, "puzzle"),
    ],
)
def test_what_is_wrong_is_one_sentence(body: bytes, options: dict[str, Any], message: str) -> None:
    assert message in one(events_of("solve", body, **options), "error")["message"]


def test_a_fault_of_ours_is_told_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setitem(jobs.JOBS, "solve", broken)
    assert events_of("solve", HOOK) == [
        {"type": "error", "message": "internal error: ZeroDivisionError: division by zero"}
    ]


WRITABLE = [form.name for form in FORMATS if form.write is not None and form.name not in jobs.PICTURES]


@pytest.mark.parametrize("to", WRITABLE)
def test_what_is_saved_is_read_back_as_the_same_puzzle(to: str) -> None:
    events = events_of("solve", HOOK)
    puzzle, verdict = one(events, "puzzle"), one(events, "verdict")
    options = {"to": to, "solutions": verdict["solutions"], "outcome": verdict["outcome"]}
    content = one(events_of("export", puzzle["text"], **options), "content")
    saved = next(read(content["data"].encode("latin-1"), to))
    assert saved.digest == next(read(HOOK.encode())).digest
    assert content["name"].startswith("puzzle.")


@pytest.mark.parametrize(("to", "begins"), [("png", "\x89PNG"), ("svg", "<svg"), ("pdf", "%PDF"), ("gif", "GIF8")])
@pytest.mark.parametrize("show", ["solution", "puzzle"])
def test_pictures_are_saved(to: str, begins: str, show: str) -> None:
    events = events_of("solve", CROSSED)
    options = {"to": to, "show": show, "solutions": one(events, "verdict")["solutions"], "outcome": "multiple"}
    content = one(events_of("export", one(events, "puzzle")["text"], **options), "content")
    assert begins in content["data"][:200]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (HOOK, {"to": "png", "solutions": [[1] * 9]}, "solution: row 1"),
        (HOOK, {"to": "png", "solutions": [[1] * 8]}, "solution: expected 9 numbers"),
        (HOOK, {"to": "png", "solutions": ["x" * 9]}, "solution: expected 9 numbers"),
        (HOOK, {"to": "nix"}, "expected a format among"),
        (HOOK, {"to": "taai", "solutions": []}, ""),
        (CROSSED, {"to": "rofl", "solutions": [[1, 0, 0, 1]], "outcome": "multiple"}, "rofl"),
    ],
)
def test_what_can_not_be_saved_is_refused_in_a_sentence(text: str, options: dict[str, Any], message: str) -> None:
    puzzle = one(events_of("solve", text), "puzzle")
    events = events_of("export", puzzle["text"], **options)
    if message:
        assert message in one(events, "error")["message"]
    else:
        assert one(events, "content")


# The real thing: processes, streams, a browser.


class Serving:
    """A server in a thread of this process."""

    def __init__(self, runs: Path, token: str = "", silent_s: float = SILENT_S) -> None:
        import uvicorn

        self.runs = runs
        listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        bounds = Bounds(workers=2, seconds=20.0, a_client=3)
        app = application(Server(runs, token, bounds=bounds, bytes_in=1 << 20))
        config = configuration(app)
        config.http = patient(silent_s)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    serving = Serving(tmp_path_factory.mktemp("runs"))
    yield serving
    serving.close()
    deadline = time.monotonic() + 5
    while workers() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not workers(), "a process outlives its server"


def workers() -> list[psutil.Process]:
    """The processes of the server in this process, and their SAT solvers (not those of other tests)."""
    found = []
    for child in psutil.Process().children():
        try:
            if "serve.worker" in title(child):
                found += [child, *child.children(recursive=True)]
        except psutil.Error:
            continue  # it ended meanwhile
    return [child for child in found if lives(child)]


def stubborn(side: int = 60, seed: int = 11) -> str:
    """A puzzle of dense noise that nobody decides in a minute."""
    import numpy as np

    grid = np.random.default_rng(seed).integers(0, 2, (side, side))
    puzzle = Puzzle.of_grid(grid.tolist())
    return json.dumps({"rows": [[b.length for b in c] for c in puzzle.rows],
                       "columns": [[b.length for b in c] for c in puzzle.columns]})  # fmt: skip


def test_events_come_as_a_stream_while_the_work_goes_on(serving: Serving) -> None:
    with httpx.stream("POST", f"{serving.address}/api/solve", content=HOOK, timeout=240) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        kinds = [json.loads(line[6:])["type"] for line in response.iter_lines() if line.startswith("data: ")]
    kinds = [kind for kind in kinds if kind not in ("tick", "compiling")]
    assert kinds[:2] == ["started", "puzzle"]
    assert set(kinds[2:]) == {"steps", "verdict"}


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has not closed it."""
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def test_silent_connections_keep_nobody_out(serving: Serving) -> None:
    address = ("127.0.0.1", int(serving.address.rsplit(":", 1)[1]))
    silent = [socket.create_connection(address) for _ in range(210)]
    try:
        for connection in silent[::2]:
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        assert httpx.get(f"{serving.address}/api/runs", timeout=20).status_code == 200
        assert sum(map(is_open, silent)) <= A_CLIENT
    finally:
        for connection in silent:
            connection.close()


@pytest.mark.slow
def test_a_header_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    serving = Serving(tmp_path, silent_s=0.3)
    try:
        assert httpx.get(f"{serving.address}/api/runs", timeout=20).status_code == 200
        address = ("127.0.0.1", int(serving.address.rsplit(":", 1)[1]))
        request = b"GET /api/runs HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for begin in (b"", b"GET / HTTP/1.1\r\nHost: loc", request, request + b"GET / HT"):
            with socket.create_connection(address) as connection:
                connection.sendall(begin)
                connection.settimeout(20)
                with contextlib.suppress(ConnectionError):
                    while connection.recv(1000):
                        pass
    finally:
        serving.close()


@pytest.mark.slow
def test_a_solve_ends_at_once_when_who_asked_goes_away(serving: Serving) -> None:
    known = {process.pid for process in workers()}  # one waits for work since the test before
    assert known
    with httpx.stream("POST", f"{serving.address}/api/solve", content=stubborn(), timeout=240) as response:
        lines = response.iter_lines()  # kept: without it the stream is closed
        assert any('"steps"' in line for line in lines)
        time.sleep(2.0)  # the SAT solver may have its process by now
        at_work = workers()
        assert {process.pid for process in at_work} >= known
    deadline = time.monotonic() + 8.0  # at once, on a machine that has nothing else to do
    while any(lives(process) for process in at_work):
        assert time.monotonic() < deadline, "it goes on although nobody listens"
        time.sleep(0.02)
    assert httpx.post(f"{serving.address}/api/solve", content=HOOK, timeout=240).status_code == 200


def test_too_many_jobs_of_one_client_are_refused(serving: Serving) -> None:
    stubborn_text = stubborn()

    async def greedy() -> list[int]:
        async with httpx.AsyncClient(timeout=240) as asker:

            async def begun(stack: list[Any]) -> int:
                request = asker.build_request("POST", f"{serving.address}/api/solve", content=stubborn_text)
                response = await asker.send(request, stream=True)
                stack.append(response)
                return response.status_code

            open_ones: list[Any] = []
            codes = [await begun(open_ones) for _ in range(4)]
            for response in open_ones:
                await response.aclose()
            return codes

    assert asyncio.run(greedy()) == [200, 200, 200, 429]


def run_of(runs: Path, name: str, **options: Any) -> Path:
    """A small run with every outcome that there is to see, and a name that would be markup."""
    texts = {"hook.non": HOOK, "crossed.non": CROSSED, "broken.non": "width 3\nheight x\nrows\n1\n"}
    evil = 'title "<script>alert(1)</script><b>"\n' + HOOK
    folder = runs.parent / f"{runs.name}-inputs"
    folder.mkdir(exist_ok=True)
    for file, text in {**texts, "evil.non": evil}.items():
        (folder / file).write_text(text)
    words = [sys.executable, "-m", "parallel_nono", "run", str(folder), "--out", str(runs / name), "-q"]
    subprocess.run(words, check=True, timeout=240)
    return runs / name


@pytest.fixture(scope="module")
def finished(serving: Serving) -> Path:
    return run_of(serving.runs, "finished")


@pytest.mark.slow
def test_a_finished_run_is_listed_and_reported(serving: Serving, finished: Path) -> None:
    (run,) = (run for run in httpx.get(f"{serving.address}/api/runs").json()["runs"] if run["name"] == "finished")
    assert (run["rows"], run["running"]) == (4, False)
    page = httpx.get(f"{serving.address}/runs/finished/report", timeout=240)
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    policy = page.headers["content-security-policy"]
    assert "sha256-" in policy
    assert "'unsafe-inline'" not in policy.partition("style-src")[0]
    with httpx.stream("GET", f"{serving.address}/api/runs/finished/live", timeout=60) as response:
        states = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
    assert len(states) == 1
    assert (states[0]["rows"], states[0]["running"]) == (4, False)
    assert states[0]["outcomes"] == {"unique": 2, "multiple": 1, "invalid": 1}


# In Chromium.


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright (pip install -e '.[test]')")
    if CHROMIUM is None:
        pytest.skip("needs Chromium (Debian: apt install chromium)")
    with api.sync_playwright() as engine:
        found = engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, serving: Serving) -> Iterator[Any]:
    """The page; what the browser complains of is a failure."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.goto(serving.address)
    page.locator("#to option").nth(5).wait_for(state="attached")
    yield page
    context.close()
    assert [text for text in complaints if "status of 4" not in text] == []


def status_of(page: Any, words: str) -> None:
    page.locator("#status", has_text=words).wait_for()


def light(page: Any, row: int, column: int) -> int:
    """How light a cell of HOOK is drawn, 0-255; the line that was settled last is tinted."""
    return page.evaluate(
        """async ([row, column]) => {
            const canvas = document.getElementById("grid");
            const style = [parseInt(canvas.style.width), parseInt(canvas.style.height)];
            const size = Math.round((style[1] - 1) / 5);  // three cells and two lines of clues
            const ratio = canvas.width / style[0];
            const x = (style[0] - 1 - (3 - column) * size + size / 4) * ratio;
            const y = ((2 + row) * size + size / 4) * ratio;
            const [r, g, b] = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
            return Math.round((r + g + b) / 3);
        }""",
        [row, column],
    )


def test_a_pasted_puzzle_is_solved_step_by_step(page: Any) -> None:
    page.fill("#text", HOOK)
    page.press("#text", "Tab")
    page.click("#go")
    status_of(page, "Unique: this is the only solution.")
    page.locator("#stop:disabled").wait_for()
    page.click("#last")
    assert "Step 6 of 6: round 2, row 2: 1 cell" in page.inner_text("#step")
    drawn = [[light(page, row, column) for column in range(3)] for row in range(3)]
    assert [[shade < 80 for shade in row] for row in drawn] == [[1, 1, 0], [1, 0, 0], [1, 1, 1]], drawn
    page.click("#first")
    assert "Step 0 of 6" in page.inner_text("#step")
    assert 80 < light(page, 0, 0) < 250
    page.focus(".board")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert "Step 1 of 6: round 1, row 1: 1 cell" in page.inner_text("#step")
    page.select_option("#every", "round")
    page.click("#next")
    assert "round 1: 4 lines, 7 cells" in page.inner_text("#step")
    facts = page.inner_text("#verdict")
    assert "lines" in facts
    assert "of 10" in facts


def test_an_ambiguous_puzzle_shows_both_solutions(page: Any) -> None:
    page.fill("#text", CROSSED)
    page.click("#go")
    status_of(page, "Ambiguous")
    page.click("#views button:has-text('Both solutions')")
    assert "they differ in 4 cells" in page.inner_text("#step")
    page.click("#views button:has-text('Second')")
    assert page.inner_text("#step") == "The second solution."


def test_a_dropped_picture_becomes_a_puzzle(page: Any) -> None:
    data = list(SAMPLES.joinpath("glass.png").read_bytes())
    page.evaluate(
        """(bytes) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(bytes)], "glass.png"));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }""",
        data,
    )
    page.locator("#notes li", has_text="pixels").first.wait_for()
    page.locator("#facts").wait_for()
    assert page.inner_text("#chosen").startswith("glass.png")
    page.click("summary")
    page.fill("#size", "3")
    page.click("#go")
    page.locator("#notes li", has_text="resized to").wait_for()


@pytest.mark.slow
def test_a_stubborn_puzzle_is_stopped_at_once(page: Any) -> None:
    page.fill("#text", stubborn())
    page.click("#go")
    status_of(page, "solving for")
    assert page.is_disabled("#stop") is False
    began = time.monotonic()
    page.click("#stop")
    status_of(page, "Stopped after")
    assert time.monotonic() - began < 2
    page.fill("#text", HOOK)
    page.click("#go")
    status_of(page, "Unique")


def test_errors_are_shown_and_nothing_in_a_puzzle_is_markup(page: Any) -> None:
    page.click("#go")
    assert "found nothing" in page.inner_text("#problem")
    page.fill("#text", "<img src=x onerror=alert(1)>")
    page.click("#go")
    page.locator("#problem", has_text="expected a known format").wait_for()
    assert "<img src=x" in page.inner_text("#problem")
    page.fill("#text", 'title "<img src=x onerror=alert(1)>"\n' + HOOK)
    page.click("#go")
    status_of(page, "Unique")
    assert page.inner_text("#title") == "<img src=x onerror=alert(1)>"
    assert page.locator("#result img").count() == 0
    assert page.locator("#problem").is_hidden()


@pytest.mark.slow
def test_files_and_pictures_are_saved(page: Any, tmp_path: Path) -> None:
    page.fill("#text", f'title "hook"\n{HOOK}')
    page.click("#go")
    status_of(page, "Unique")
    for to in ("nin", "png"):
        page.select_option("#to", to)
        with page.expect_download() as download:
            page.click("#export button")
        assert download.value.suggested_filename == f"hook.{to}"
        path = tmp_path / f"hook.{to}"
        download.value.save_as(path)
        assert path.stat().st_size
    assert next(read(tmp_path / "hook.nin")).digest == next(read(HOOK.encode())).digest
    from PIL import Image

    assert Image.open(io.BytesIO((tmp_path / "hook.png").read_bytes())).width > 50


@pytest.mark.slow
def test_runs_are_listed_with_their_reports(page: Any, serving: Serving, finished: Path) -> None:
    page.click("#to-runs")
    row = page.locator("#runs-rows tr", has_text="finished")
    row.wait_for()
    assert "4" in row.inner_text()
    row.locator("a").click()
    page.wait_for_url("**/runs/finished/report")
    assert "finished" in page.title()
    page.locator("canvas, svg, table").first.wait_for()


@pytest.mark.slow
def test_a_run_that_goes_on_is_followed(page: Any, serving: Serving, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"stubborn{number}.json").write_text(stubborn(seed=number))
    words = [*(sys.executable, "-m", "parallel_nono", "run", str(tmp_path), "--out", str(serving.runs / "long")),
             *("--workers", "2", "--engine", "local", "--live", "--quiet")]  # fmt: skip
    run = subprocess.Popen(words, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 120
        while not (serving.runs / "long" / "live.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        page.click("#to-runs")
        page.click("button[aria-label='follow long']")
        page.locator("#live-workers td", has_text="stubborn").first.wait_for()
        page.locator("#live-workers td", has_text="60x60").first.wait_for()
        assert re.match(r"Running: [01] puzzle", page.inner_text("#live-status"))
    finally:
        run.send_signal(signal.SIGINT)
        run.wait(30)
    page.locator("#live-status", has_text="Ended").wait_for()
    assert not (serving.runs / "long" / "live.json").exists()


@pytest.mark.slow
def test_the_page_asks_for_the_token_or_takes_it_from_its_address(browser: Any, tmp_path: Path) -> None:
    serving = Serving(tmp_path, TOKEN)
    try:
        context = browser.new_context()
        page = context.new_page()
        page.goto(serving.address)
        page.fill("#token", "what was it")
        page.click("#login button")
        page.locator("#problem", has_text="this is not the token").wait_for()
        assert page.locator("#page-solve").is_hidden()
        page.fill("#token", TOKEN)
        page.click("#login button")
        page.locator("#page-solve").wait_for()
        assert page.locator("#problem").is_hidden()
        assert context.cookies()[0]["httpOnly"]
        context.clear_cookies()
        page.goto("about:blank")
        page.goto(f"{serving.address}/#token={TOKEN}")
        page.locator("#page-solve").wait_for()
        assert page.url == f"{serving.address}/", "the token stays in the address"
        context.close()
    finally:
        serving.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_and_can_be_read(browser: Any, serving: Serving, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = context.new_page()
    page.goto(serving.address)
    page.locator("#to option").nth(5).wait_for(state="attached")
    page.select_option("#example", "umbrella")
    status_of(page, "Unique")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 20
    assert min(contrasts, key=lambda pair: pair[1])[1] >= 4.5, sorted(contrasts, key=lambda pair: pair[1])[:3]
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select, textarea")].filter((element) =>
            element.offsetParent && !element.labels?.length && !element.ariaLabel && !element.textContent.trim())
            .map((element) => element.id)"""
    )
    assert unnamed == []
    context.close()


CONTRASTS = """() => {
    const part = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const found = numbers(getComputedStyle(element).backgroundColor);
            if (found.length < 4 || found[3] > 0) return found;
        }
        return [255, 255, 255];
    };
    return [...document.querySelectorAll("p, h1, h2, h3, li, td, th, caption, label, button:enabled, a, textarea")]
        .filter((element) => element.offsetParent && element.textContent.trim())
        .map((element) => {
            const [one, other] = [light(numbers(getComputedStyle(element).color)), light(ground(element))];
            return [element.textContent.slice(0, 20), (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
        });
}"""


# The command.


@pytest.mark.slow
def test_the_command_says_where_it_is_and_ends_in_order(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "parallel_nono", "serve", "--port", "0", "--host", "0.0.0.0"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    server = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert server.stdout is not None
        address, _, token = server.stdout.readline().strip().partition("/#token=")
        port = address.rpartition(":")[2]
        assert len(token) >= 32
        deadline = time.monotonic() + 60
        while True:
            try:
                assert httpx.get(f"http://127.0.0.1:{port}/api/about").status_code == 401
                break
            except httpx.ConnectError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        bearer = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"http://127.0.0.1:{port}/api/about", headers=bearer).status_code == 200
        solved = httpx.post(f"http://127.0.0.1:{port}/api/solve", content=HOOK, headers=bearer, timeout=240)
        assert '"outcome":"unique"' in solved.text
        children = psutil.Process(server.pid).children(recursive=True)
        assert children
    finally:
        server.send_signal(signal.SIGINT)
        _, complaints = server.communicate(timeout=20)
    assert server.returncode == 0
    assert complaints == "pnono: Ctrl-C ends it\n"
    assert not any(lives(child) for child in children)
    assert os.listdir(tmp_path) == [], "what users send reaches the disk"


@pytest.mark.slow
def test_nothing_outlives_a_server_that_was_killed(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "parallel_nono", "serve", "--port", "0"]
    server = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        transport = httpx.HTTPTransport(retries=5)
        with (
            httpx.Client(transport=transport, timeout=240) as asker,
            asker.stream("POST", f"{address}api/solve", content=stubborn()) as response,
        ):
            lines = response.iter_lines()
            assert any('"puzzle"' in line for line in lines)
            time.sleep(1.0)
            children = psutil.Process(server.pid).children(recursive=True)
            server.kill()
            server.wait()
    finally:
        server.kill()
    assert children
    deadline = time.monotonic() + 10
    while any(lives(child) for child in children):
        assert time.monotonic() < deadline, "a worker goes on for nobody"
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--token", "short"), 2, "--token: expected 8 characters or more, found 5"),
        (("--host", "192.0.2.1"), 69, "192.0.2.1:8888: can't listen there"),
    ],
)
def test_what_can_not_be_served_is_one_line(words: tuple[str, ...], code: int, message: str) -> None:
    command = [sys.executable, "-m", "parallel_nono", "serve", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == code
    assert done.stderr.startswith(f"pnono: {message}")
    assert done.stderr.count("\n") == 1
