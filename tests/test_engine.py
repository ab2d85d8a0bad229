"""The work, the feed and the local engine: every puzzle has one row, whatever happens to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import faults
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.attempt import Limits, schema
from parallel_nono.engine import ENGINES, engine
from parallel_nono.engine.feed import Feed, Piece
from parallel_nono.engine.rows import _exact, _labels
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.status_line import new_status_line
from parallel_nono.engine.work import Chunk, Place, RejectedPuzzle, Work, attempt
from parallel_nono.kinds import KINDS, bare, kind, null
from parallel_nono.puzzle import BLACK_AND_WHITE
from parallel_nono.puzzleset import has_text, palettes_column, plain_palette

HERE = Place("local", "here", "0")


def rows_of(
    pieces: Iterable[Piece], workers: int = 2, limits: Limits | None = None, of: Any = faults.KIND, name: str = "local"
) -> list[dict[str, Any]]:
    """All rows that an engine makes of these pieces."""
    work = Work(of, limits or Limits(seconds=5), run="test")
    batches = engine(name)(work, Feed(iter(pieces), workers), Session(Pool(workers)))
    return [row for batch in batches for row in batch.to_pylist()]


def words(text: str, source: str = "s") -> Piece:
    return source, text.encode()


def keys(rows: list[dict[str, Any]]) -> Counter[tuple[str, int]]:
    return Counter((row["source"], row["index"]) for row in rows)


def attempted(text: str, seconds: float = 5.0, **more: Any) -> Any:
    return attempt(Work(faults.KIND, Limits(seconds)), Chunk([("s", text.encode())], **more), new_status_line(), HERE)


# Work.


def test_rows_have_the_schema_of_the_one_row_type() -> None:
    done = attempted("1 2 nonsense raise")
    for rows in done.rows:
        rows.validate(full=True)
        assert rows.schema.equals(schema())


def test_what_cannot_be_read_is_a_row_in_its_place_with_the_message() -> None:
    rows = {row["index"]: row for row in rows_of([words("1 nonsense 3")])}
    assert [rows[i]["outcome"] for i in (1, 2, 3)] == ["unique", "invalid", "unique"]
    assert rows[2]["error"] == "s:2: expected a known word, found `nonsense`"
    assert rows[2]["stage"] == "read"


def test_a_fault_of_the_solver_costs_one_puzzle() -> None:
    rows = {row["index"]: row for row in rows_of([words("1 raise 3")])}
    assert [rows[i]["outcome"] for i in (1, 2, 3)] == ["unique", "crashed", "unique"]
    assert "IndexError: out of range" in rows[2]["error"]


def test_a_fault_of_a_parser_costs_one_text() -> None:
    rows = rows_of([("fine", b"1"), ("bad", b"\xff"), ("good", b"2")])
    assert {row["source"]: row["outcome"] for row in rows} == {"fine": "unique", "bad": "crashed", "good": "unique"}


def test_a_rejected_solution_stops_the_run_and_hands_over_the_puzzle() -> None:
    with pytest.raises(RejectedPuzzle, match="wrong on purpose") as caught:
        rows_of([words("1 2 wrong 3")])
    assert caught.value.puzzle.column("name").to_pylist() == ["wrong"]


@pytest.mark.slow
def test_a_hard_puzzle_does_not_hold_up_its_neighbours_and_gets_its_full_time_later() -> None:
    done = attempted("1 slow:1.5 2")
    assert [row["name"] for rows in done.rows for row in rows.to_pylist()] == ["1", "2"]
    assert [part.column("name").to_pylist() for part in done.hard] == [["slow:1.5"]]
    rows = {row["name"]: row for row in rows_of([words("1 slow:1.5 2")])}
    assert rows["slow:1.5"]["outcome"] == "unique"
    assert rows["slow:1.5"]["solve_s"] >= 1.5


def test_a_puzzle_beyond_its_time_is_a_timeout() -> None:
    rows = {row["name"]: row for row in rows_of([words("1 endless 2")], limits=Limits(seconds=0.3))}
    assert rows["endless"]["outcome"] == "timeout"
    assert rows["2"]["outcome"] == "unique"


@pytest.mark.slow
def test_what_takes_too_long_comes_back_unfinished() -> None:
    done = attempted(" ".join(["slow:0.05"] * 100))
    assert done.rest is not None
    assert sum(rows.num_rows for rows in done.rows) + done.rest.num_rows == 100


def test_a_page_that_says_stop_ends_the_attempt_and_loses_nothing() -> None:
    page = new_status_line()
    timer = threading.Timer(0.2, lambda: page.__setitem__(0, 1))
    timer.start()
    done = attempt(Work(faults.KIND, Limits(60)), Chunk([("s", b"1 endless 2")]), page, HERE)
    assert done.aborted
    assert done.rest is not None
    assert sum(rows.num_rows for rows in done.rows) + done.rest.num_rows == 3


def test_solutions_are_left_out_when_nobody_wants_them() -> None:
    work = Work(null.KIND, Limits(), store_solutions=False)
    done = attempt(work, Chunk([("s", b"5\n6")]), new_status_line(), HERE)
    assert done.rows[0].column("solution").to_pylist() == ["", ""]


# Kinds.


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_its_name(name: str) -> None:
    assert bare(name).name == name


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"expected a kind of nonogram, .*null, found 'sudoku'"):
        kind("sudoku")


@given(st.lists(st.integers(0, 10**15 - 1), max_size=30))
def test_the_null_kind_doubles_numbers_and_its_checker_agrees(numbers: list[int]) -> None:
    text = "\n".join(map(str, numbers)).encode()
    done = attempt(Work(null.KIND), Chunk([("s", text)]), new_status_line(), HERE)
    rows = [row for batch in done.rows for row in batch.to_pylist()]
    assert [(int(row["name"]), int(row["solution"])) for row in rows] == [(n, 2 * n) for n in numbers]


def test_the_null_kind_rejects_a_wrong_solution() -> None:
    chunk = null.read([("s", b"4\n5")])
    solved = null.solve(chunk, Limits(), new_status_line())
    solved.solutions[1] += 1
    assert null.check(chunk, solved.solutions) == [(1, "expected 10, found 11")]


# Feed.


def pieces_strategy() -> st.SearchStrategy[list[Piece]]:
    text = st.lists(st.integers(0, 99), min_size=1, max_size=40).map(lambda ns: " ".join(map(str, ns)).encode())
    return st.lists(st.tuples(text, st.booleans()), max_size=12).map(
        lambda items: [
            faults.read([(f"s{n}", data)]) if packed else (f"s{n}", data) for n, (data, packed) in enumerate(items)
        ]
    )


@pytest.mark.slow
@given(pieces_strategy(), st.integers(1, 5))
def test_every_puzzle_has_one_row_for_any_mix_of_pieces_and_any_number_of_workers(
    pieces: list[Piece], workers: int
) -> None:
    wanted = Counter(
        (row["source"], row["index"])
        for piece in pieces
        for row in (piece if isinstance(piece, pa.RecordBatch) else faults.read([piece])).to_pylist()
    )
    assert keys(rows_of(pieces, workers)) == wanted


def test_sources_are_read_only_as_far_as_needed() -> None:
    asked = 0

    def endless() -> Iterator[Piece]:
        nonlocal asked
        while True:
            asked += 1
            yield f"s{asked}", b"1 2 3"

    batches = engine("local")(Work(faults.KIND), Feed(endless(), 2), Session(Pool(2)))
    seen = 0
    for batch in batches:
        seen += batch.num_rows
        if seen > 1000:
            break
    batches.close()  # type: ignore[attr-defined]
    assert asked < 60_000


def test_an_error_of_the_source_reaches_the_run() -> None:
    def failing() -> Iterator[Piece]:
        yield "s", b"1"
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        rows_of(failing())


def test_the_remaining_work_is_unknown_at_first_and_nothing_in_the_end() -> None:
    work, feed = Work(faults.KIND), Feed(iter([words("1 2 3")]), 1)
    assert feed.remaining() is None
    chunk = feed.take()
    assert chunk is not None
    feed.finish(chunk, attempt(work, chunk, new_status_line(), HERE))
    assert feed.take() is None
    assert feed.remaining() == (0.0, 0.0, 0.0)
    assert feed.finished


# The local engine.


def test_more_workers_than_cores_work() -> None:
    assert len(rows_of([words("1 2 3", f"s{n}") for n in range(50)], workers=16)) == 150


def test_closing_the_iterator_ends_all_threads() -> None:
    before = threading.active_count()
    batches = engine("local")(
        Work(faults.KIND, Limits(60)), Feed(iter([words("1 endless", f"{n}") for n in range(9)])), Session(Pool(3))
    )
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_stop_keeps_what_was_finished() -> None:
    session = Session(Pool(2))
    feed = Feed(iter([words("1"), words("endless", "t"), words("2", "u")]), 2)
    got = []
    for batch in engine("local")(Work(faults.KIND, Limits(600)), feed, session):
        got += batch.column("name").to_pylist()
        if len(got) == 2:
            session.stop.asked.set()
    assert sorted(got) == ["1", "2"]


def test_the_engines_of_the_table_can_be_imported_and_an_unknown_one_is_refused() -> None:
    assert all(callable(engine(name)) for name in ENGINES)
    with pytest.raises(ValueError, match="expected an engine of"):
        engine("spark")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local", "auto"])
def test_small_runs_never_import_ray(name: str) -> None:
    code = f"""
import sys
from parallel_nono.engine import engine
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.rows import _exact, _labels
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.work import Work
from parallel_nono.kinds import kind
session = Session(Pool(4))
n = sum(b.num_rows for b in engine({name!r})(Work(kind("null")), Feed(iter([("s", b"1\\n2\\n3")]), 4), session))
assert n == 3, n
assert "ray" not in sys.modules
assert session.engine == "local" and session.why, session
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.slow
def test_a_stopped_run_leaves_within_seconds_even_if_a_worker_hears_nothing(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import faults
from parallel_nono.attempt import Limits
from parallel_nono.cli.run import Signals
from parallel_nono.engine import engine
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.rows import _exact, _labels
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.work import Work
session = Session(Pool(2))
with Signals(session.stop):
    print("up", flush=True)
    for _ in engine("local")(Work(faults.KIND, Limits(600)), Feed(iter([("s", b"hang"), ("t", b"hang")]), 2), session):
        pass
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    process.stdout.close()


# Nonograms through the work: every solution is checked.


def checked(change: Any) -> list[tuple[int, str]]:
    """What the checker says of a unique, a multiple and an impossible puzzle after `change(results)`."""
    from parallel_nono.kinds import nonogram
    from parallel_nono.puzzle import Block, Puzzle
    from parallel_nono.puzzleset import set_of

    one, none = (Block(1),), ()
    puzzles = [Puzzle((one, none), (one, none)), Puzzle((one, one), (one, one)), Puzzle((one,), (none,))]
    chunk = set_of(puzzles, "s")
    solved = nonogram.solve(chunk, Limits(), new_status_line()[:1])
    assert nonogram.check(chunk, solved.solutions) == []
    change(solved.solutions)
    return nonogram.check(chunk, solved.solutions)


def test_a_wrong_solution_is_rejected_with_its_line() -> None:
    def change(results: Any) -> None:
        results.cells[0, 1] = 1

    assert checked(change) == [(0, "solution 1 breaks the clue of row 1")]


def test_a_wrong_second_solution_is_rejected() -> None:
    def change(results: Any) -> None:
        results.cells[1, 4:8] = 1

    assert checked(change) == [(1, "solution 2 breaks the clue of row 1")]


def test_two_solutions_that_are_the_same_are_rejected() -> None:
    def change(results: Any) -> None:
        results.cells[1, 4:8] = results.cells[0, 4:8]

    assert checked(change) == [(1, "the two solutions are the same")]


def test_an_outcome_that_promises_solutions_must_have_them() -> None:
    def change(results: Any) -> None:
        results.n_solutions[:] = 0

    assert checked(change) == [(0, "1 solutions promised, 0 given"), (1, "2 solutions promised, 0 given")]


@given(st.lists(st.text("ab\\é", max_size=3), max_size=12), st.data())
def test_what_is_done_without_functions_of_arrow_is_what_they_do(texts: list[str], data: st.DataObject) -> None:
    """pyarrow.compute takes longer to import than most runs."""
    begin = data.draw(st.integers(0, len(texts)))
    column = pa.array(texts, pa.string()).slice(begin, data.draw(st.integers(0, len(texts) - begin)))
    assert has_text(column).tolist() == pc.not_equal(column, "").to_pylist()
    assert _labels(column).to_pylist() == column.to_pylist()
    assert _labels(column).dictionary.to_pylist() == pc.unique(column).to_pylist()
    assert isinstance(_exact(column), pa.Array) == any("\\x" in text for text in column.to_pylist())
    palettes = [plain_palette(2 + len(text)) for text in texts]
    wanted = [None if palette == BLACK_AND_WHITE else [each._asdict() for each in palette] for palette in palettes]
    assert palettes_column(palettes).to_pylist() == wanted
