"""Packed sets elsewhere and in several files: nothing is lost, nothing half-done is seen."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import puzzles

from parallel_nono.cli.generate import generate
from parallel_nono.files.packed import read_packed, shard_paths, write_packed
from parallel_nono.files.remote import located
from parallel_nono.generator import generate_set
from parallel_nono.puzzle import InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import SCHEMA, set_of

SET = generate_set("blobs", 300, 6, 6)


def digests(paths: list[str]) -> Counter[tuple[str, int]]:
    return Counter(
        (row["digest"], row["index"])
        for path in paths
        for batch in read_packed(path)
        for row in batch.select(["digest", "index"]).to_pylist()
    )


@pytest.fixture
def memory() -> Iterator[Any]:
    """fsspec's file system in memory: one that is no folder of this machine."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    yield system
    for path in system.find("/"):
        system.rm(path)


@pytest.mark.parametrize("where", ["path", "file", "memory"])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_set_is_the_same_wherever_it_lies(tmp_path: Path, where: str, shards: int, memory: Any) -> None:
    out = {
        "path": str(tmp_path / "a.parquet"),
        "file": f"file://{tmp_path}/a.parquet",
        "memory": "memory://bucket/a.parquet",
    }[where]
    assert write_packed(out, [SET, SET.slice(0, 7)], shards=shards) == 307
    paths = shard_paths(out, shards)
    assert digests(paths) == digests_of([SET, SET.slice(0, 7)])
    if where == "memory":
        assert len(memory.find("/bucket")) == shards
    else:
        assert len(list(tmp_path.iterdir())) == shards


def digests_of(batches: list[pa.RecordBatch]) -> Counter[tuple[str, int]]:
    return Counter(
        (row["digest"], row["index"]) for batch in batches for row in batch.select(["digest", "index"]).to_pylist()
    )


def test_shards_are_of_equal_size_and_keep_the_order_of_their_puzzles(tmp_path: Path) -> None:
    write_packed(tmp_path / "a.parquet", [SET] * 10, shards=4)
    paths = sorted(tmp_path.iterdir())
    assert [path.name for path in paths] == [f"a-0000{n}-of-00004.parquet" for n in range(4)]
    sizes = [pq.read_metadata(path).num_rows for path in paths]
    assert sum(sizes) == 3000
    assert max(sizes) - min(sizes) <= 128
    small = SET.slice(0, 50)
    write_packed(tmp_path / "b.parquet", [small], shards=4)
    (first, *others) = [next(read_packed(path), None) for path in shard_paths(tmp_path / "b.parquet", 4)]
    assert first is not None
    assert first.column("index").to_pylist() == list(range(1, 51))
    assert all(other is None or other.num_rows == 0 for other in others)


@pytest.mark.slow
@given(st.lists(st.integers(0, 40), max_size=6), st.integers(1, 16), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_no_puzzle_is_lost_or_doubled_for_any_batches_row_groups_and_shards(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], row_group: int, shards: int
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    given_out = [SET.slice(place, size) for place, size in enumerate(sizes)]
    write_packed(folder / "a.parquet", given_out, row_group=row_group, shards=shards)
    paths = shard_paths(folder / "a.parquet", shards)
    assert digests(paths) == digests_of(given_out)
    for path in paths:
        metadata = pq.read_metadata(path)
        assert all(metadata.row_group(n).num_rows <= row_group for n in range(metadata.num_row_groups))


@given(st.lists(puzzles(most=4), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_all_columns_survive_the_way_to_another_file_system(found: list[Puzzle]) -> None:
    pytest.importorskip("fsspec")
    batch = set_of(found, "x")
    write_packed("memory://way/a.parquet", [batch])
    (back,) = read_packed("memory://way/a.parquet", SCHEMA.names)
    assert back.equals(batch)


class Interrupted(Exception):
    pass


def interrupted() -> Iterator[pa.RecordBatch]:
    yield SET
    raise Interrupted


@pytest.mark.parametrize("where", ["path", "memory"])
def test_nothing_is_left_of_a_set_that_was_not_finished(tmp_path: Path, where: str, memory: Any) -> None:
    out = str(tmp_path / "a.parquet") if where == "path" else "memory://broken/a.parquet"
    with pytest.raises(Interrupted):
        write_packed(out, interrupted(), row_group=10, shards=2)
    assert not list(tmp_path.iterdir())
    assert not memory.find("/broken")


def test_a_set_that_is_written_again_stays_readable_until_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "a.parquet"
    write_packed(out, [SET])

    def looking() -> Iterator[pa.RecordBatch]:
        yield SET.slice(0, 5)
        assert digests([str(out)]) == digests_of([SET])

    write_packed(out, looking(), row_group=2)
    assert digests([str(out)]) == digests_of([SET.slice(0, 5)])


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write_packed(tmp_path / "none/a.parquet", [SET])
    with pytest.raises(OSError, match="No such file"):
        write_packed(f"file://{tmp_path}/none/a.parquet", [SET])


def test_addresses_that_nobody_knows_are_refused_by_name() -> None:
    with pytest.raises(InvalidPuzzle, match="s4://bucket/x: expected an address"):
        located("s4://bucket/x")


# The commands.


def pnono(*arguments: str, cwd: Path, code: int = 0) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "parallel_nono", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.slow
def test_pack_shares_out_and_a_run_over_the_shards_finds_every_puzzle(tmp_path: Path) -> None:
    said = pnono("generate", "blobs", "all.parquet", "--bulk", "--count", "500", "--height", "7", cwd=tmp_path)
    assert "500 puzzles in all.parquet" in said
    (tmp_path / "sets").mkdir()
    said = pnono("pack", "all.parquet", f"file://{tmp_path}/sets/some.parquet", "--shards", "3", cwd=tmp_path)
    assert f"500 puzzles in 3 files, file://{tmp_path}/sets/some-00000-of-00003.parquet the first" in said
    pnono("run", f"file://{tmp_path}/sets", "--out", "out", "--workers", "2", cwd=tmp_path)
    rows = pq.read_table(tmp_path / "out/rows")
    assert sorted(rows["index"].to_pylist()) == list(range(1, 501))
    assert pnono("unpack", f"file://{tmp_path}/sets", "-", "--to", "sgt", cwd=tmp_path).count("\n") == 500


def test_bulk_is_the_same_for_the_same_seed_and_goes_on_where_a_shorter_one_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parallel_nono.files.packed.ROW_GROUP", 16)
    for name, count in (("a", 42), ("b", 42), ("c", 41)):
        generate("noise", str(tmp_path / f"{name}.parquet"), 5, 5, 1, count, bulk=True, manifest=None)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    long, short = (digests([str(tmp_path / f"{name}.parquet")]) for name in "ac")
    assert long > short
    assert sorted(index for _, index in long) == list(range(1, 43))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["pack", "in.sgt", "s4://bucket/a.parquet"], "expected a file, or an address", 2),
        (["pack", "in.parquet", "in.parquet"], "expected OUT to be another file than IN", 2),
        (["pack", "in.sgt", "file:///nosuch/folder/a.parquet"], "can't be written", 74),
        (["pack", "in.sgt", "."], "expected an ordinary file", 74),
        (["generate", "blobs", "a.sgt", "--bulk"], "--bulk: expected a packed set (.parquet)", 2),
        (["generate", "sprites", "a.parquet", "--bulk"], "expected a kind that draws whole sets", 2),
    ],
)
def test_what_cannot_be_done_is_one_line_and_a_code(tmp_path: Path, arguments: list[str], said: str, code: int) -> None:
    (tmp_path / "in.sgt").write_text("3x3:3/1.1/1/2/1/3\n")
    write_packed(tmp_path / "in.parquet", [SET])
    told = pnono(*arguments, cwd=tmp_path, code=code)
    assert said in told
    assert told.count("\n") == 1
    assert digests([str(tmp_path / "in.parquet")]) == digests_of([SET])
