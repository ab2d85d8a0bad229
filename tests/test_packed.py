"""Packed puzzle sets: nothing is lost on the way, and no unsound row of a strange file reaches a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import puzzles

from parallel_nono.files.packed import checked, count_packed, is_packed, read_packed, write_packed
from parallel_nono.kernels.canonical import canonical_words
from parallel_nono.puzzle import InvalidPuzzle, Puzzle, canonical_bytes
from parallel_nono.puzzleset import RUN_COLUMNS, SCHEMA, clues_of, digests, plain_palette, puzzle_at, puzzles_of, set_of

TINY = Puzzle.of_grid([[1, 1, 0, 1], [0] * 4, [1, 0, 0, 0]], name="Tiny", source="x", metadata=(("by", "nobody"),))
COLOUR = Puzzle.of_grid([[1, 2], [0, 3]], plain_palette(4), name="Colour", source="x", index=2, warnings=("one",))
BROKEN = InvalidPuzzle("x:3: expected, found", name="Broken", index=3)
BATCH = set_of([TINY, COLOUR, BROKEN], "x")


def columns(path: Path) -> pa.RecordBatch:
    (batch,) = read_packed(path, SCHEMA.names)
    return batch


def test_what_is_packed_comes_back_whole(tmp_path: Path) -> None:
    assert write_packed(tmp_path / "a.parquet", [BATCH, BATCH.slice(1, 2), BATCH.slice(3)]) == 5
    batch = columns(tmp_path / "a.parquet")
    assert batch.schema.equals(SCHEMA, check_metadata=True)
    found = list(puzzles_of(batch))
    assert found[:2] == [TINY, COLOUR]
    assert str(found[2]) == str(found[4]) == str(BROKEN)
    assert found[3] == COLOUR
    assert count_packed(str(tmp_path / "a.parquet")) == 5


@given(st.lists(puzzles(most=4), min_size=1, max_size=6))
@settings(max_examples=30)
def test_clues_and_digests_are_the_same_after_packing(
    tmp_path_factory: pytest.TempPathFactory, found: list[Puzzle]
) -> None:
    path = tmp_path_factory.mktemp("packed") / "a.parquet"
    write_packed(path, [set_of(found, "x")])
    (batch,) = read_packed(path)
    assert batch.schema.names == list(RUN_COLUMNS)
    assert batch.column("digest").to_pylist() == [puzzle.digest for puzzle in found] == digests(clues_of(batch))
    assert [(p.rows, p.columns) for p in puzzles_of(batch) if isinstance(p, Puzzle)] == [
        (p.rows, p.columns) for p in found
    ]


@given(st.lists(st.one_of(puzzles(most=4), st.just(BROKEN)), max_size=5), st.integers(0, 2))
@settings(max_examples=60)
def test_the_canonical_words_are_those_of_the_slow_definition(found: list[Puzzle | InvalidPuzzle], start: int) -> None:
    batch = set_of(found, "x").slice(start)
    words, starts = canonical_words(clues_of(batch))
    assert words.dtype == np.dtype("<u4")
    pieces = [words[a:b].tobytes() for a, b in pairwise(starts)]
    assert pieces == [canonical_bytes(p.rows, p.columns) if isinstance(p, Puzzle) else b"" for p in found[start:]]


def test_the_digest_takes_1337_colours() -> None:
    cells = [1336 - c for c in range(1336)] + [0] * 4
    puzzle = Puzzle.of_grid([cells[i : i + 20] for i in range(0, 1340, 20)], plain_palette(1337))
    assert set_of([COLOUR, puzzle, TINY]).column("digest").to_pylist() == [COLOUR.digest, puzzle.digest, TINY.digest]


def test_row_groups_are_small_and_read_one_by_one(tmp_path: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        for i in range(7):
            yield set_of([replace(TINY, index=3 * i + k + 1) for k in range(3)], "x")

    path = tmp_path / "a.parquet"
    assert write_packed(path, batches(), row_group=5) == 21
    groups = pq.ParquetFile(path).metadata
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [5, 5, 5, 5, 1]
    found = list(read_packed(path))
    assert [batch.num_rows for batch in found] == [5, 5, 5, 5, 1]
    assert [i for batch in found for i in batch.column("index").to_pylist()] == list(range(1, 22))
    assert [batch.column("index").to_pylist() for batch in read_packed(path, groups=[4, 0])] == [[21], [1, 2, 3, 4, 5]]


def test_an_empty_set_is_a_set(tmp_path: Path) -> None:
    assert write_packed(tmp_path / "a.parquet", []) == 0
    assert is_packed(str(tmp_path / "a.parquet"))
    assert [batch.num_rows for batch in read_packed(tmp_path / "a.parquet")] in ([], [0])


def test_a_failed_write_leaves_nothing_behind_and_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_packed(path, [BATCH])
    before = path.read_bytes()

    def failing() -> Iterator[pa.RecordBatch]:
        yield BATCH
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_packed(path, failing())
    assert os.listdir(tmp_path) == ["a.parquet"]
    assert path.read_bytes() == before


def refusal(path: Path) -> str:
    with pytest.raises(InvalidPuzzle) as error:
        list(read_packed(path))
    return str(error.value)


def test_other_files_are_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("4 3\n")
    assert "found another kind of file" in refusal(path)
    path.write_bytes(b"PAR1" + bytes(40))
    assert "damaged Parquet file" in refusal(path)
    pq.write_table(pa.table({"a": [1]}), path)
    assert "a Parquet file of something else" in refusal(path)
    assert not is_packed(str(path))
    table = pa.Table.from_batches([BATCH])
    pq.write_table(table.replace_schema_metadata({"pnono.puzzleset": "99"}), path)
    assert "expected version 1 of packed puzzle sets, found '99'" in refusal(path)
    pq.write_table(table.drop_columns(["colours"]), path)
    assert "expected a column `colours`, found none" in refusal(path)
    pq.write_table(table.set_column(4, pa.field("height", pa.string()), [["1", "2", "0"]]), path)
    assert "expected `height` as int32, found string" in refusal(path)
    nulls = table.set_column(4, pa.field("height", pa.int32()), pa.array([1, None, 0], pa.int32()))
    pq.write_table(nulls, path)
    assert "expected `height` without nulls" in refusal(path)
    assert "can't" in refusal(tmp_path / "none.parquet") or "damaged" in refusal(tmp_path / "none.parquet")


def test_a_file_cut_or_spoilt_anywhere_never_raises_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_packed(path, [set_of([TINY] * 50, "x")])
    whole = path.read_bytes()
    for place in range(0, len(whole), max(len(whole) // 60, 1)):
        for data in (whole[:place], whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]):
            path.write_bytes(data)
            try:
                for batch in read_packed(path):
                    list(puzzles_of(batch))
            except InvalidPuzzle:
                continue


def changed(column: str, edit: Callable[[list[Any]], None]) -> pa.RecordBatch:
    """BATCH with the values of one column edited as Python objects."""
    values = BATCH.column(column).to_pylist()
    edit(values)
    place = SCHEMA.get_field_index(column)
    return BATCH.set_column(place, SCHEMA.field(column), pa.array(values, SCHEMA.field(column).type))


def put(row: int, value: object, *path: int) -> Callable[[list[Any]], None]:
    def edit(values: list[Any]) -> None:
        at = values
        for place in (row, *path)[:-1]:
            at = at[place]
        at[(row, *path)[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("column", "edit", "row"),
    [
        ("height", put(0, 4), 0),
        ("height", put(0, -3), 0),
        ("height", put(0, 2**31 - 1), 0),
        ("width", put(1, 0), 1),
        ("width", put(1, 1), 1),
        ("n_colours", put(0, 1), 0),
        ("n_colours", put(1, 2), 1),
        ("n_colours", put(1, 70_000), 1),
        ("lengths", put(0, -5, 0, 0), 0),
        ("lengths", put(1, 200_001, 0, 0), 1),
        ("colours", put(0, 2, 0, 0), 0),
        ("colours", put(1, 0, 0, 1), 1),
        ("colours", put(1, 4, 0, 1), 1),
        ("error", put(0, "a row with an error and with clues"), 0),
        ("error", put(2, ""), 2),
        ("palette", put(1, None), 1),
        ("palette", put(1, [{"name": "a", "char": "a", "rgb": None}] * 4), 1),
        ("palette", put(0, [{"name": "a", "char": "a", "rgb": 0}] * 4), 0),
        ("metadata", put(0, "{"), 0),
        ("metadata", put(0, "[1]"), 0),
        ("metadata", put(0, '{"a": 1}'), 0),
        ("goal", put(0, [0] * 11), 0),
        ("goal", put(1, [9] * 4), 1),
    ],
)
def test_an_unsound_row_becomes_an_error_and_the_others_stay(
    column: str, edit: Callable[[list[Any]], None], row: int
) -> None:
    batch = checked(changed(column, edit), "file")
    assert batch.schema.names == SCHEMA.names
    for place, error in enumerate(batch.column("error").to_pylist()):
        if place == row:
            assert error.startswith("file: row")
            assert batch.column("height")[place].as_py() == batch.column("width")[place].as_py() == 0
        elif place < 2:
            assert puzzle_at(batch, place) == (TINY, COLOUR)[place]
    assert checked(batch, "file") is not None
    assert len(digests(clues_of(batch))) == 3


@pytest.mark.parametrize("edit", [put(0, [], 0), put(1, [[1]]), put(2, [[1]])])
def test_clues_and_colours_of_different_shape_are_refused(edit: Callable[[list[Any]], None]) -> None:
    with pytest.raises(InvalidPuzzle, match="same shape"):
        checked(changed("colours", edit), "file")


def test_a_sound_set_is_not_copied() -> None:
    batch = checked(BATCH, "file")
    assert batch.column("lengths").buffers()[1].address == BATCH.column("lengths").buffers()[1].address


def test_a_row_group_that_claims_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from parallel_nono.files import packed

    write_packed(tmp_path / "a.parquet", [BATCH])
    monkeypatch.setattr(packed, "MAX_GROUP_BYTES", 100)
    assert "expected row groups of at most" in refusal(tmp_path / "a.parquet")
