"""`pnono watch` and `pnono run --live`: what people see while it goes on."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from strategies import puzzles
from test_cli import pnono

from parallel_nono import solve
from parallel_nono.attempt import Limits, Outcome
from parallel_nono.batch.options import RunOptions
from parallel_nono.batch.run import run as run_batch
from parallel_nono.cli.common import counted
from parallel_nono.cli.exits import Code
from parallel_nono.cli.showing import Showing
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.local import run
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.status import WorkerStatus, status_of
from parallel_nono.engine.status_line import COUNT, IDLE, PLACE, READING, SINCE_MS, new_status_line
from parallel_nono.engine.work import Chunk, Work
from parallel_nono.generator import generate
from parallel_nono.kinds import kind
from parallel_nono.pictures.film import Film, described
from parallel_nono.pictures.frames import frames
from parallel_nono.pictures.sheets import OPEN
from parallel_nono.puzzle import Block, Puzzle
from parallel_nono.puzzleset import set_of
from parallel_nono.report.live import LIVE_FILE, Live, Rate
from parallel_nono.report.progress import Progress
from parallel_nono.report.summary import Summary
from parallel_nono.solver.trace import trace

HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"
HOOK_PUZZLE = Puzzle.of_grid(((1, 1, 0), (1, 0, 0), (1, 1, 1)), name="hook")

# Walking through the steps.


@given(puzzles(most=6))
@settings(max_examples=15)
def test_walking_on_shows_the_frames_and_walking_back_undoes_them(puzzle: Puzzle) -> None:
    film = Film(puzzle)
    film.wait()
    for every in ("line", "round"):
        expected = [frame.cells for frame in frames(puzzle, trace(puzzle), every)]  # type: ignore[arg-type]
        shown = [film.cells.copy()]
        while film.forward(every == "round"):
            if not np.array_equal(shown[-1], film.cells):  # a step may tell no cell
                shown.append(film.cells.copy())
        distinct = [cells for place, cells in enumerate(expected) if not place or (cells != expected[place - 1]).any()]
        assert len(shown) == len(distinct)
        assert all(map(np.array_equal, shown, distinct))
        assert film.at_end
        for cells in shown[::-1][1:]:
            while film.back(every == "round") and not np.array_equal(film.cells, cells):
                assert film.place
            assert np.array_equal(film.cells, cells)
        while film.back():
            pass
        assert (film.place, (film.cells == OPEN).all()) == (0, True)


def test_every_step_is_told_in_words() -> None:
    crossed = Puzzle.of_grid(((1, 0), (0, 1)))
    knot = Puzzle.of_grid(((0, 1, 1, 0), (1, 0, 0, 1), (1, 1, 0, 1), (0, 1, 1, 0)))
    full = (Block(3),)
    impossible = Puzzle((full, (Block(1), Block(1)), full), (full,) * 3)
    for puzzle in (HOOK_PUZZLE, crossed, knot, impossible):
        film = Film(puzzle)
        film.wait()
        words = []
        while taken := film.forward():
            words.append(described(puzzle, taken, counted))
        assert len(words) == len(film.steps)
        if puzzle is HOOK_PUZZLE:
            assert words[0] == "round 1, row 1: 1 cell"
        if puzzle is impossible:
            assert words[-1].startswith("contradiction in ")


def test_what_only_a_search_can_tell_comes_last() -> None:
    puzzle = Puzzle.of_grid((np.random.default_rng(132).random((10, 10)) < 0.6).astype(int).tolist())
    assert (solve(puzzle).outcome, solve(puzzle).stage) == (Outcome.UNIQUE, "probe")
    showing = Showing(puzzle, Limits(plan=("line", "search")))  # type: ignore[arg-type]
    showing.told()  # too early: it is asked again and again
    showing.film.wait()
    result = showing.wait()
    showing.told()
    showing.told()
    while taken := showing.film.forward():
        last = taken[-1]
    assert last.by == "solution"
    assert described(puzzle, [last], counted).startswith("the rest, by search: ")
    assert showing.film.cells.tolist() == [list(row) for row in result.solutions[0]]


# The command.


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    path = tmp_path / "hook.non"
    path.write_text(HOOK)
    return path


STEPS = """\
hook: 3 x 3, 2 colours
round 1, row 1: 1 cell
round 1, row 3: 3 cells
round 1, column 1: 2 cells
round 1, column 2: 1 cell
round 2, row 1: 1 cell
round 2, row 2: 1 cell
    1
  3 1 1
2 # # .
1 # . .
3 # # #
Unique: this is the only solution; lines alone decide it.
"""


def test_over_a_pipe_every_step_is_a_line(hook: Path) -> None:
    assert pnono("watch", hook).out == STEPS
    rounds = pnono("watch", hook, "--every", "round", "--no-clues").out.splitlines()
    assert rounds[1:3] == ["round 1: 4 lines, 7 cells", "round 2: 2 lines, 2 cells"]
    assert rounds[3:6] == ["##.", "#..", "###"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("nothing.non",), Code.USAGE, "nothing.non: "),
        (("hook.non", "--number", "2"), Code.USAGE, "expected a puzzle number from 1 to 1, found 2"),
        (("hook.non", "--plan", "nix"), Code.USAGE, "--plan: "),
        (("broken.non",), Code.INVALID, "broken.non:2: "),
    ],
)
def test_what_is_wrong_is_one_line(
    hook: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int, message: str
) -> None:
    monkeypatch.chdir(hook.parent)
    Path("broken.non").write_text("width 3\nheight x\n")
    done = pnono("watch", *words)
    assert done.code == code
    assert message in done.err
    assert done.err.count("\n") == 1


# The screen.


def pressed(puzzle: Puzzle, *keys: str, size: tuple[int, int] = (80, 24), **options: bool) -> tuple[list[str], str]:
    """(lines of the screen, title of the look) after these keys, once all steps are there."""
    from parallel_nono.cli.screen import Watcher

    async def play() -> tuple[list[str], str]:
        app = Watcher(puzzle, Limits(20), False, 8.0, True, options.get("clues", True), options.get("paint", True))
        async with app.run_test(size=size) as pilot:
            await asyncio.to_thread(app.showing.film.wait)
            await asyncio.to_thread(app.showing.wait)
            app.tick()
            await pilot.press(*keys)
            await pilot.pause()
            lines = [
                "".join(segment.text for segment in strip).rstrip() for strip in app.screen._compositor.render_strips()
            ]
            return lines, app.board.look or app.board.usual_look(app.board.size)

    return asyncio.run(play())


def test_keys_go_on_back_and_to_the_ends() -> None:
    lines, look = pressed(HOOK_PUZZLE, "right", "right", "left")
    assert look == "clues"
    assert lines[0] == "hook  3 x 3, 2 colours"
    assert lines[-3].startswith("1 of 6: round 1, row 1: 1 cell; 1 of 9 known; paused")
    assert lines[-2] == ""
    lines, _ = pressed(HOOK_PUZZLE, "end")
    assert lines[-3].startswith("6 of 6: ")
    assert lines[-2].startswith("Unique: this is the only solution; lines alone decide it.")
    lines, _ = pressed(HOOK_PUZZLE, "end", "home", "r", "n")
    assert lines[-3].startswith("4 of 6: round 1: 4 lines, 7 cells")
    lines, _ = pressed(HOOK_PUZZLE, "end", paint=False)
    assert lines[3:6] == ["2 # # .", "1 # . .", "3 # # #"]


@pytest.mark.parametrize("playing", [True, False])
def test_a_screen_that_waits_does_nothing(playing: bool) -> None:
    """Paused, or at the end: no timer runs and no line is written."""
    from parallel_nono.cli.screen import Watcher

    async def idle() -> tuple[int, int]:
        app = Watcher(HOOK_PUZZLE, Limits(20), False, 1000.0, not playing, True, True)
        async with app.run_test() as pilot:
            await asyncio.to_thread(app.showing.wait)
            for _ in range(100):
                await pilot.pause(0.05)
                if app.showing.film.at_end or not playing:
                    break
            await pilot.pause(0.2)
            calls = 0

            def counted_call(*_: object) -> None:
                nonlocal calls
                calls += 1

            app.tick = app.say = app.told.update = counted_call  # type: ignore[method-assign]
            assert app.clock is not None
            await pilot.pause(0.5)
            return calls, app.showing.film.place

    calls, place = asyncio.run(idle())
    assert calls == 0
    assert place == (6 if playing else 0)


def test_a_screen_that_waits_hears_of_news() -> None:
    """What the search finds long after lines and probes are through is shown without a key."""
    from parallel_nono.cli.screen import Watcher

    async def late() -> str:
        app = Watcher(Puzzle.of_grid(((1, 0), (0, 1))), Limits(20), False, 1000.0, False, True, True)
        async with app.run_test() as pilot:
            await asyncio.to_thread(app.showing.wait)
            await pilot.pause(0.3)
            result, app.showing.result = app.showing.result, None
            app.say()
            assert "the search goes on" in str(app.ended.content)
            app.showing.result = result
            app.showing.film.heard()
            await pilot.pause(0.3)
            return str(app.ended.content)

    assert "Ambiguous" in asyncio.run(late())


def test_a_large_grid_is_shown_by_half_blocks_and_a_larger_one_is_moved() -> None:
    rows, columns = np.ogrid[:60, :70]
    puzzle = Puzzle.of_grid((((rows // 9 + columns // 9) % 2) | (rows % 9 == 4)).tolist())
    lines, look = pressed(puzzle, size=(100, 40))
    assert look == "half"
    assert "▀" * 70 in lines[1]
    lines, look = pressed(puzzle, "z", "j", "l", size=(60, 24))
    assert look == "clues"
    assert "; from row " in lines[0]
    assert "; from row 1," not in lines[0]
    assert all(len(line) <= 60 for line in lines)


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, *words: object, cwd: Path) -> None:
        self.fd, child = pty.openpty()
        ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "parallel_nono", *map(str, words)],
            cwd=cwd,
            stdin=child,
            stdout=child,
            stderr=child,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),  # Ctrl-C reaches it as from a keyboard
        )
        self.before = termios.tcgetattr(self.fd)
        os.close(child)
        self.seen = b""

    def read_until(self, wanted: bytes, seconds: float = 120.0) -> None:
        deadline = time.monotonic() + seconds
        while wanted not in self.seen:
            assert time.monotonic() < deadline, self.seen[-2000:]
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:  # the other end is closed
                    assert wanted in self.seen, self.seen[-2000:]

    def press(self, keys: bytes) -> None:
        os.write(self.fd, keys)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [b"q", b"\x03"], ids=["q", "ctrl-c"])
def test_the_terminal_is_left_as_it_was(hook: Path, keys: bytes) -> None:
    terminal = Terminal("watch", hook, "--speed", 500, cwd=hook.parent)
    terminal.read_until(b"Unique: this is the only solution")
    assert b"\x1b[?1049h" in terminal.seen
    assert b"48;2;255;255;255" in terminal.seen, "colours are not true"
    terminal.press(keys)
    terminal.read_until(b"\x1b[?1049l")
    terminal.read_until(b"\x1b[?25h")
    assert terminal.process.wait(20) == 0
    assert termios.tcgetattr(terminal.fd)[3] == terminal.before[3]
    terminal.read_until(b"hook: Unique: this is the only solution")
    assert b"Traceback" not in terminal.seen
    os.close(terminal.fd)


# What workers are at.


def test_a_post_says_what_the_page_says() -> None:
    work, batch = Work(kind("nonogram")), set_of([HOOK_PUZZLE] * 3, "set.non")
    page = new_status_line()
    assert status_of(work, "w", None, page, 5) == WorkerStatus("w", "", "", None, 5)
    chunk = Chunk([("a.non", b""), ("b.non", b"")])
    page[PLACE], page[COUNT], page[SINCE_MS] = READING, 0, (time.monotonic() - 2) * 1000
    post = status_of(work, "w", chunk, page, 5)
    assert (post.what, post.size) == ("reading a.non and 1 more file", "")
    assert 1.9 < (post.seconds or 0) < 3
    page[PLACE], page[COUNT] = 1, 1
    assert status_of(work, "w", chunk, page, 5).what == "a.non and 1 more file"
    chunk.tried = batch
    assert status_of(work, "w", chunk, page, 5)[1:3] == (work.kind.title(batch, 1), "3x3")
    page[PLACE], page[COUNT] = 0, 3
    post = status_of(work, "w", Chunk(batch=batch), page, 5)
    assert post.what == f"{work.kind.title(batch, 0)} and 2 more puzzles"
    page[PLACE] = IDLE
    assert status_of(work, "w", chunk, page, 5).seconds is None


def test_threads_tell_what_they_are_at_while_they_are() -> None:
    hard = Puzzle.of_grid(np.random.default_rng(2).integers(0, 2, (60, 60)).tolist(), name="hard")
    session = Session(Pool(2))
    seen: list[WorkerStatus] = []
    for _ in run(Work(kind("nonogram"), Limits(20)), Feed(iter([set_of([hard])]), 2), session):
        seen = seen or [post for post in session.status() if post.size]
        if seen:
            session.stop.asked.set()
    (post,) = seen
    assert (post.size, post.done) == ("60x60", 0)
    assert post.what.startswith("hard (")
    deadline = time.monotonic() + 30
    while session.status():
        assert time.monotonic() < deadline, "they have ended"
        time.sleep(0.05)


def test_the_rate_is_that_of_the_last_seconds() -> None:
    rate = Rate()
    assert rate.at(0.0, 0) == 0.0
    for second in range(100):
        rate.add(float(second), 10 * second if second < 50 else 500)
    assert rate.at(99.0, 500) == 0.0
    for second in range(100, 112):
        rate.add(float(second), 500 + 7 * (second - 99))
    assert rate.at(111.0, 500 + 7 * 12) == pytest.approx(7.0)


STATUSES = [
    WorkerStatus("1.0", "cat (set.non #1)", "20x30", 61.5, 12),
    WorkerStatus("1.1", "", "", None, 3),
    WorkerStatus("1.2", "evil\x1b[2J (set.non #2)", "5x5", 0.001, 3),
]


def test_live_lines_and_the_file_for_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Live(lambda: STATUSES, tmp_path) as live, Progress(False) as progress:
        progress._said = -100.0
        progress.show(Summary(), (10.0, 2.0), live.look(Summary(), (10.0, 2.0)))
        word = json.loads((tmp_path / LIVE_FILE).read_text())
        assert [worker["worker"] for worker in word["workers"]] == ["1.0", "1.1", "1.2"]
        assert word["left"] == [10.0, 2.0]
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:3] == [
        "  1.0: cat (set.non #1), 20x30, for 61.5 s; 12 done, 0/s",
        "  1.1: waits; 3 done, 0/s",
    ]
    assert "\x1b" not in lines[3]
    assert list(tmp_path.iterdir()) == []


def test_nobody_is_asked_where_nobody_watches(hook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(Session, "status", lambda self: asked.append(self) or [])
    for live in (False, True):
        run_batch(RunOptions(hook, out=hook.parent / f"out-{live}", live=live))
        assert bool(asked) == live


@pytest.mark.slow
def test_the_table_of_workers_fits_the_terminal(hook: Path) -> None:
    terminal = Terminal("run", hook, "--live", "--workers", 40, "--out", "out", cwd=hook.parent)
    terminal.read_until(b"results")
    assert terminal.process.wait(20) == 0
    assert pq.read_table(hook.parent / "out" / "rows").num_rows == 1
    os.close(terminal.fd)


@pytest.mark.slow
def test_a_live_run_over_a_pipe_is_lines_and_leaves_no_file(tmp_path: Path) -> None:
    puzzle = generate("domino", 63, 63)  # takes every stage minutes
    text = json.dumps({side: [[b.length for b in clue] for clue in clues]
                       for side, clues in (("rows", puzzle.rows), ("columns", puzzle.columns))})  # fmt: skip
    (tmp_path / "stubborn.json").write_text(text)
    words = [
        sys.executable,
        "-m",
        "parallel_nono",
        "run",
        "stubborn.json",
        "--live",
        "--out",
        "out",
        "--engine",
        "local",
    ]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = ""
    for line in process.stderr:
        if "63x63, for" in line:
            break
    assert "stubborn (stubborn.json #1), 63x63, for " in line
    assert (tmp_path / "out" / LIVE_FILE).exists()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == Code.INTERRUPTED
    assert not (tmp_path / "out" / LIVE_FILE).exists()
