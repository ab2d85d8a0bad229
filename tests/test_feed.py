"""How the feed deals out puzzles: by weight, the largest first, the hard ones early; and files read by workers."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import faults
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.attempt import Limits, Plan
from parallel_nono.engine import auto, engine
from parallel_nono.engine.feed import LEAST_S, MAX_WEIGHT, Feed, chunk_of, weight_of, weights_of
from parallel_nono.engine.inputs import Inputs
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.status_line import ABORT, HAND_BACK, STOP, new_status_line
from parallel_nono.engine.work import Chunk, Done, Place, Work, attempt, loaded
from parallel_nono.files.containers import RowRange, Source, sources
from parallel_nono.files.remote import is_remote, located
from parallel_nono.kinds import Solved, kind
from parallel_nono.puzzle import InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import pipeline
from parallel_nono.spans import Span


def sized(sides: list[int], source: str = "s") -> pa.RecordBatch:
    """Puzzles with these heights and widths, named after their places."""
    batch = faults.read([(source, " ".join(map(str, range(len(sides)))).encode())])
    for name in ("height", "width"):
        place = batch.schema.get_field_index(name)
        batch = batch.set_column(place, name, pa.array(sides, pa.int32()))
    return batch


def names(chunk: Chunk) -> list[str]:
    return [] if chunk.batch is None else chunk.batch.column("name").to_pylist()


def read_all(feed: Feed) -> None:
    with feed._changed:
        feed._begin_reading()
        assert feed._changed.wait_for(lambda: not feed._reading, 10)


def done_with(chunk: Chunk, seconds: float = 0.1, **more: Any) -> Done:
    return Done([], more.pop("hard", []), more.pop("rest", None), chunk.weight, seconds, **more)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=60), st.integers(1, 6))
def test_every_puzzle_is_dealt_out_once_and_the_account_is_even(sides: list[int], workers: int) -> None:
    batch = sized(sides)
    feed, seen = Feed(iter([batch, ("t", b"x" * 3000)]), workers), Counter[str]()
    while (chunk := feed.take()) is not None:
        seen.update(names(chunk))
        if chunk.batch is not None:
            assert chunk.weight == weight_of(chunk.batch) == int(weights_of(chunk.batch).sum())
            assert chunk.weight <= MAX_WEIGHT or chunk.batch.num_rows == 1
        feed.finish(chunk, done_with(chunk))
    assert seen == Counter({str(n): 1 for n in range(len(sides))})
    assert feed.finished
    assert feed._ahead_weight == feed._out_weight == feed._out == 0


@pytest.mark.slow
@given(st.lists(st.integers(1, 300), min_size=2, max_size=60))
def test_with_several_workers_the_largest_go_first_and_with_one_in_order(sides: list[int]) -> None:
    for workers in (1, 4):
        feed, order = Feed(iter([sized(sides[:1], "a"), sized(sides, "b")]), workers), []
        feed.n_chunks = workers  # the first chunks of all are in order anyway
        read_all(feed)  # and so are those that are cut before the end is in sight
        while (chunk := feed.take()) is not None:
            assert chunk.batch is not None
            order += [int(n) for n in weights_of(chunk.batch)]
            feed.finish(chunk, done_with(chunk))
        both = [int(weights_of(sized([n]))[0]) for n in (sides[0], *sides)]
        assert order == (both if workers == 1 else order)
        if workers > 1:  # by files, in each the largest first
            cut = len(sides) if order[: len(sides)] == sorted(both[1:], reverse=True) else 1
            assert order[:cut] == sorted(order[:cut], reverse=True)
            assert order[cut:] == sorted(order[cut:], reverse=True)


def test_hard_puzzles_are_begun_while_there_are_easy_ones_but_not_by_everyone() -> None:
    feed = Feed(iter([sized([5] * 4000)]), 4)
    first = feed.take()
    assert first is not None
    assert first.batch is not None
    hard = first.batch.slice(0, 5)
    feed.finish(first, done_with(first, hard=[hard]))
    taken = [feed.take() for _ in range(4)]
    assert [chunk.careful for chunk in taken if chunk] == [True, True, False, False]


def test_large_puzzles_weigh_more_and_the_rest_is_estimated_in_puzzles() -> None:
    feed = Feed(iter([sized([100] * 1000)]), 1)
    chunk = feed.take()
    assert chunk is not None
    assert chunk.batch is not None
    n = chunk.batch.num_rows
    assert n == 1, "16 units of weight"
    rows = attempt(Work(faults.KIND, Limits(5)), chunk, new_status_line(), Place("local", "here", "0")).rows
    feed.finish(chunk, Done(rows, [], None, chunk.weight, 0.1))
    left = feed.remaining()
    assert left is not None
    assert left.puzzles == pytest.approx(1000 - n)
    assert left.seconds == pytest.approx(0.1 * (1000 - n))


@pytest.mark.slow
def test_nobody_waits_for_many_slow_puzzles_in_one_slice() -> None:
    """16 puzzles of 0.9 s, dealt out together as nobody could know: others take their share of them."""
    began = time.monotonic()
    texts = [("s", " ".join(["1"] * 300).encode()), ("t", " ".join(["slow:0.9"] * 14).encode())]
    batches = engine("local")(Work(faults.KIND, Limits(5)), Feed(iter(texts), 7), Session(Pool(7)))
    found = Counter(row["outcome"] for batch in batches for row in batch.to_pylist())
    assert found == {"unique": 314}
    assert time.monotonic() - began < 9, "one worker alone needs 12.6 s"


def test_a_chunk_that_came_back_is_cut_for_all() -> None:
    feed = Feed(iter([sized([5] * 64)]), 4)
    whole = []
    while (chunk := feed.take()) is not None:
        whole.append(chunk)
    assert feed.dry
    for chunk in whole:
        assert chunk.batch is not None
        feed.finish(chunk, Done([], [], chunk.batch, 0.0, 1.0, True))
    assert not feed.dry
    sizes = []
    while (chunk := feed.take()) is not None:
        assert chunk.batch is not None
        sizes.append(chunk.batch.num_rows)
    assert sum(sizes) == 64
    assert max(sizes) <= 8


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 2**32))
def test_whatever_comes_back_unfinished_every_puzzle_is_done_once(sizes: list[int], workers: int, seed: int) -> None:
    """Chunks end in every way: done, cut short, handed back, hard, lost."""
    chance, names_done, held = random.Random(seed), Counter[str](), list[Chunk]()
    pieces = [sized([5] * 40 * n, f"s{place}") for place, n in enumerate(sizes)]
    feed, began = Feed(iter(pieces), workers), time.monotonic()
    while not feed.finished:
        while len(held) < workers and (chunk := feed.take()) is not None:
            held.append(chunk)
        if not held:  # the end came into sight with nothing before it, or the reader has not been given a core yet
            assert time.monotonic() < began + 60
            continue
        chunk = held.pop(chance.randrange(len(held)))
        assert chunk.batch is not None
        n, end = chunk.batch.num_rows, chance.random()
        n_done = n if chunk.careful or end < 0.4 else chance.randint(0, n)
        n_hard = chance.randint(0, n_done) if end > 0.9 and not chunk.careful else 0
        if end < 0.1:
            feed.give_back(chunk)
            continue
        rest = chunk.batch.slice(n_done) if n_done < n else None
        hard = [chunk.batch.slice(n_done - n_hard, n_hard)] if n_hard else []
        names_done.update(f"{row['source']} {row['name']}" for row in chunk.batch.slice(0, n_done - n_hard).to_pylist())
        weight = chunk.weight * n_done / n
        feed.finish(chunk, Done([], hard, rest, weight, 0.01 * weight, chance.random() < 0.5, over_s=0.005 * weight))
    assert names_done == Counter(f"s{place} {number}" for place, n in enumerate(sizes) for number in range(40 * n))
    assert feed._ahead_weight == feed._out_weight == feed._out == 0


def test_one_hard_puzzle_does_not_cut_all_that_follow_into_ones() -> None:
    """The pace is that of a chunk without its spikes: after one puzzle of a second chunks are as large as before."""
    for over_s in (0.0, 0.95):
        feed, sizes = Feed(iter([sized([5] * 16_000)]), 2), []
        seconds = iter([0.016 + over_s])
        while (chunk := feed.take()) is not None:
            sizes.append(chunk.weight)
            feed.finish(chunk, done_with(chunk, next(seconds, 0.001 * chunk.weight), over_s=over_s))
            over_s = 0.0
        assert max(sizes[1:3]) > 300
        assert len(sizes) < 60


def test_the_last_chunks_hold_work_enough_for_their_rows() -> None:
    feed, seconds = Feed(iter([sized([5] * 3000)]), 8), []
    while (chunk := feed.take()) is not None:
        seconds.append(0.0001 * chunk.weight)
        feed.finish(chunk, done_with(chunk, seconds[-1]))
    assert len(seconds) < 45
    assert min(seconds[1:-1]) >= 0.9 * LEAST_S


def test_a_file_that_is_slow_to_open_holds_up_nobody_who_has_work() -> None:
    """What is read already is handed out while the reader waits; what it raises reaches a taker."""
    opened = threading.Event()

    def pieces() -> Iterator[pa.RecordBatch]:
        yield sized([5] * 20, "a")
        opened.wait(10)
        yield sized([5] * 20, "b")
        raise OSError("gone, on purpose")

    feed = Feed(pieces(), 2)
    first = feed.take()
    assert first is not None
    feed.finish(first, done_with(first))
    second = feed.take()  # the four that the first chunk left
    assert second is not None
    assert feed.take() is None
    assert not feed.finished
    assert not feed.dry
    opened.set()
    read_all(feed)
    with pytest.raises(OSError, match="on purpose"):
        feed.take()


@pytest.mark.slow
def test_a_kind_that_loses_all_when_it_is_stopped_comes_to_an_end() -> None:
    """What it is asked to hand back comes back smaller each time, until a puzzle is alone and nobody asks."""

    def solve(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray) -> Solved:
        solved = faults.solve(chunk, limits, abort)
        return Solved({}, None, True) if abort[0] else solved

    text = " ".join(["1"] * 200 + ["slow:0.4"] * 8)
    session = Session(Pool(2))
    late = threading.Timer(60, session.stop.asked.set)
    late.start()
    work = Work(replace(faults.KIND, solve=solve), Limits(5))
    batches = engine("local")(work, Feed(iter([("s", text.encode())]), 2), session)
    rows = [row for batch in batches for row in batch.to_pylist()]
    late.cancel()
    assert len(rows) == 208
    assert {row["outcome"] for row in rows} == {"unique"}


@pytest.mark.parametrize("piece", [None, 7, pa.RecordBatch.from_pydict({"x": [1]})], ids=["end", "number", "no set"])
def test_what_is_no_piece_is_an_error_and_leaves_nobody_waiting(piece: Any) -> None:
    feed = Feed(iter([sized([5] * 3), *([] if piece is None else [piece])]), 2)
    read_all(feed)
    if piece is None:
        assert feed.take() is not None
    else:
        with pytest.raises((TypeError, KeyError)):
            feed.take()
    assert feed.close(1.0)


def test_whoever_is_told_of_the_reader_may_fail() -> None:
    def told(spans: list[Span]) -> None:
        raise OSError(f"no room for {len(spans)}, on purpose")

    feed = Feed(iter([sized([5] * 3)]), 2, timed=told)
    read_all(feed)
    with pytest.raises(OSError, match="no room for 1, on purpose"):
        feed.take()


def test_a_chunk_told_to_hand_back_keeps_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six puzzles for the SAT solver: while the second is at work the status line asks for the others."""
    status, hard = new_status_line(), pipeline._Run.hard
    asked: list[int] = []

    def asking(run: pipeline._Run, p: int, *rest: Any) -> None:
        asked.append(int(p))
        if len(asked) == 2:
            status[ABORT] = HAND_BACK
        hard(run, p, *rest)

    monkeypatch.setattr(pipeline._Run, "hard", asking)
    puzzles = [replace(Puzzle.of_grid(((1, 0), (0, 1))), name=f"p{n}") for n in range(6)]
    work = Work(kind("nonogram"), Limits(plan=Plan(("line", "sat"))))
    done = attempt(work, chunk_of(set_of(puzzles)), status, Place("local", "here", "0"))
    rows = [row for batch in done.rows for row in batch.to_pylist()]
    assert [(row["name"], row["outcome"]) for row in rows] == [("p0", "multiple"), ("p1", "multiple")]
    assert done.aborted
    assert done.rest is not None
    assert done.rest.column("name").to_pylist() == ["p2", "p3", "p4", "p5"]
    assert done.weight == pytest.approx(2)
    status[ABORT] = STOP  # at once: nothing is begun
    done = attempt(work, chunk_of(set_of(puzzles)), status, Place("local", "here", "0"))
    assert not done.rows
    assert done.rest is not None
    assert done.rest.num_rows == 6


# Files that workers read themselves.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A packed set of 700 puzzles in small row groups, a text, one that is broken, and one that can't be read."""
    from parallel_nono.files.packed import write_packed
    from parallel_nono.puzzle import Block, Puzzle
    from parallel_nono.puzzleset import set_of

    one = Puzzle(((Block(1),), ()), ((Block(1),), ()))
    sets = [set_of([one] * 100, f"set{n}") for n in range(7)]
    write_packed(tmp_path / "set.parquet", sets, row_group=150)
    (tmp_path / "one.nin").write_text("2 1\n1\n1\n0\n")
    (tmp_path / "broken.nin").write_text("2 1\n1\nx\n1\n")
    return tmp_path


def found(paths: list[str], shared: bool) -> tuple[Counter[tuple[str, int, str]], int]:
    """Rows of a run without their places, and how many pieces went to workers by name alone."""
    work = Work(kind("nonogram"), Limits(5))
    pieces = list(Inputs(paths, work, shared=shared))
    batches = engine("local")(work, Feed(iter(pieces), 2), Session(Pool(2)))
    rows = [row for batch in batches for row in batch.to_pylist()]
    keys = Counter(
        (row["source"].rsplit("/", 1)[-1], row["index"], row["outcome"] + row["error"][-20:]) for row in rows
    )
    return keys, sum(isinstance(piece, Source) for piece in pieces)


@pytest.mark.parametrize("where", ["{}", "file://{}", "{}/set.parquet", "file://{}/set.parquet"])
def test_what_workers_read_themselves_gives_the_same_rows(folder: Path, where: str) -> None:
    path = where.format(folder)
    sent, none = found([path], shared=False)
    read, several = found([path], shared=True)
    assert none == 0
    assert several >= 5, "row groups"
    assert read == sent
    assert sum(sent.values()) == 700 + 2 * (not path.endswith("parquet"))


def test_a_memory_of_fsspec_is_a_folder_like_others(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe({f"/sets/{path.name}": path.read_bytes() for path in folder.iterdir()})
    try:
        local, _ = found([str(folder)], shared=False)
        assert found(["memory://sets"], shared=False)[0] == local
        assert found(["memory://sets"], shared=True)[0] == local
        (source,) = sources(["memory://sets/one.nin"])
        assert source.load() == b"2 1\n1\n1\n0\n"
    finally:
        memory.rm("/sets", recursive=True)


def test_what_is_not_there_is_a_row_that_says_so(tmp_path: Path) -> None:
    for address in (f"file://{tmp_path}/none", "file:///etc/shadow/x", "memory://none"):
        (source,) = sources([address])
        with pytest.raises(InvalidPuzzle, match="expected a file or a folder, found nothing of that name"):
            source.load()


def test_only_known_schemes_are_opened() -> None:
    assert not is_remote("https://example.org/a.parquet")
    assert not is_remote("/tmp/a")
    assert not is_remote(b"s3://")
    for address in ("reference://x", "memory://", "memory://x::file:///etc/passwd"):
        with pytest.raises(InvalidPuzzle, match="expected an address"):
            located(address)
    (source,) = sources(["simplecache::s3://bucket/x"])
    with pytest.raises(InvalidPuzzle, match="found another"):
        source.load()


def test_a_file_that_vanished_before_its_worker_came_is_a_row(folder: Path) -> None:
    chunk = Chunk(
        sources=[
            Source("gone.nin", 9, str(folder / "gone.nin")),
            Source("one.nin", 9, str(folder / "one.nin")),
            Source("gone.parquet", 9, str(folder / "gone.parquet"), packed=True, rows=RowRange(0, 0, 9)),
        ]
    )
    texts, batches, unreadable = loaded(kind("nonogram"), chunk)
    assert [name for name, _ in texts] == ["one.nin"]
    assert [batch.column("source").to_pylist() for batch in unreadable] == [["gone.nin"]]
    assert "found a damaged" in batches[0].column("error")[0].as_py()
    done = attempt(
        Work(kind("nonogram"), Limits(5)), Chunk(sources=chunk.sources[:2]), new_status_line(), Place("l", "h", "0")
    )
    outcomes = [row["outcome"] for rows in done.rows for row in rows.to_pylist()]
    assert outcomes == ["invalid", "unique"]


def test_spans_of_a_row_group_are_its_rows(folder: Path) -> None:
    from parallel_nono.files.reading import batches

    path = str(folder / "set.parquet")
    whole = [row for batch in batches(Source(path, path=path, packed=True)) for row in batch.to_pylist()]
    parts = [
        row
        for group in range(5)
        for start in range(0, 150, 37)
        for batch in batches(
            Source(path, path=path, packed=True, rows=RowRange(group, start, start + min(37, 150 - start)))
        )
        for row in batch.to_pylist()
    ]
    assert parts == whole


def test_weights_of_chunks_are_those_of_their_puzzles() -> None:
    assert chunk_of(sized([10, 64])).weight == 1 + 1 + 64 * 64 // 1024


# Auto.


@pytest.mark.ray
@pytest.mark.slow
def test_a_ray_that_comes_too_late_is_not_waited_for(tmp_path: Path) -> None:
    code = """
import time
import faults
from parallel_nono.attempt import Limits, Plan
from parallel_nono.engine import auto
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.work import Work
if __name__ == "__main__":
    auto._reason = lambda *_: "asked for by the test"
    session = Session(Pool(2))
    texts = [(f"s{n}", b"slow:0.1 " * 10) for n in range(2)]
    began = time.monotonic()
    rows = sum(batch.num_rows for batch in auto.run(Work(faults.KIND, Limits(5)), Feed(iter(texts), 2), session))
    print(rows, session.engine, session.why, "|", time.monotonic() - began < 20)
"""
    path = tmp_path / "late.py"
    path.write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    ended = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=90, env=environment)
    assert ended.stdout.split("|") == ["20 local asked for by the test; Ray was still starting ", " True\n"], (
        ended.stderr
    )
    assert auto.LOOK_S < 1
