"""Parts are known by name and digest: what is damaged is named and solved again, a stray is named and not counted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rows import folder_of, renamed, rewritten, row

from parallel_nono.attempt import schema
from parallel_nono.cli import main
from parallel_nono.report.parquet import Writer, batches, mend, read_facts
from parallel_nono.report.parts import NAME, damaged, digest_of, parts, strays

HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"


def pnono(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three parts, two puzzles each, in the folder that all paths are relative to."""
    folder = tmp_path_factory.mktemp("sample")
    before = Path.cwd()
    os.chdir(folder)
    try:
        Path("in").mkdir()
        for n in range(3):
            for twice in "ab":
                Path(f"in/{n}{twice}.non").write_text(HOOK)
            assert pnono("run", "in", "--out", "run", "--quiet", "--engine", "local", "--resume") == 0
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def run(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(sample, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Path("run")


def sources(out: Path) -> Counter[str]:
    return Counter(name for batch in batches(out, ["source"]) for name in batch.column("source").to_pylist())


EVERY = {f"in/{n}{twice}.non": 1 for n in range(3) for twice in "ab"}


# Damage.


def truncated(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:-100])


def empty(part: Path) -> None:
    part.write_bytes(b"")


def zeroed(part: Path) -> None:
    part.write_bytes(bytes(part.stat().st_size))


def a_page_corrupted(part: Path) -> None:
    """A page of the column `solution`, which the report does not read."""
    column = pq.read_metadata(part).row_group(0)
    (chunk,) = (column.column(n) for n in range(column.num_columns) if column.column(n).path_in_schema == "solution")
    data = bytearray(part.read_bytes())
    data[chunk.dictionary_page_offset or chunk.data_page_offset + chunk.total_compressed_size - 1] ^= 255
    part.write_bytes(data)


def without_digests(part: Path) -> None:
    rewritten(part, pq.read_table(part, partitioning=None).drop_columns(["digest"]))


def a_column_of_another_type(part: Path) -> None:
    table = pq.read_table(part, partitioning=None)
    texts = table.column("index").cast(pa.string())
    rewritten(part, table.set_column(table.column_names.index("index"), "index", texts))


def with_metadata(**changed: str | None) -> Callable[[Path], None]:
    def change(part: Path) -> None:
        table = pq.read_table(part, partitioning=None)
        metadata = {**table.schema.metadata, **{f"pnono.{key}".encode(): value for key, value in changed.items()}}
        rewritten(part, table.replace_schema_metadata({k: v for k, v in metadata.items() if v is not None}))

    return change


def foreign(part: Path) -> None:
    rewritten(part, pa.table({"a": [1, 2]}))


def a_folder(part: Path) -> None:
    part.unlink()
    part.mkdir()


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "truncated": (truncated, "found a damaged file"),
    "empty": (empty, "found a damaged file"),
    "zeroed": (zeroed, "found a damaged file"),
    "a corrupted page": (a_page_corrupted, "its bytes are not what they were"),
    "no digests": (without_digests, "found one without the column `digest`"),
    "a type": (a_column_of_another_type, "expected `index` as int32, found string"),
    "a version to come": (with_metadata(schema="99"), "found version 99"),
    "no metadata": (with_metadata(run=None), "without the facts of one"),
    "odd metadata": (with_metadata(session='{"seconds": "long"}'), '"seconds": expected a number'),
    "another run": (with_metadata(run='{"run": "other", "options": {}}'), "expected a part of the run run"),
    "foreign": (foreign, "without the facts of one"),
    "a folder": (a_folder, "found a folder"),
}
READING = (
    ("report", "run"),
    ("report", "run", "--rows", "csv"),
    ("report", "run", "--html", "page.html"),
    ("compare", "run", "run"),
    ("compact", "run"),
)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_part_is_named_and_its_puzzles_are_solved_again(
    run: Path, capsys: pytest.CaptureFixture[str], damage: str, place: int
) -> None:
    change, message = DAMAGE[damage]
    part = list(parts(run))[place]
    change(part)
    for words in READING[place:]:
        assert pnono(*words) == 3, words
        assert message in capsys.readouterr().err, words
    assert pnono("run", "in", "--out", "run", "--quiet", "--engine", "local", "--resume") == 0
    told = capsys.readouterr().err
    assert message in told
    assert "solved again" in told
    assert sources(run) == EVERY
    assert len(list((run / "aside").iterdir())) == 1, "it is kept"
    assert pnono("report", "run") == 0


def test_a_damaged_part_of_before_is_noticed_too(run: Path) -> None:
    """Its name has no digest."""
    for part in parts(run):
        match = NAME.fullmatch(part.name)
        assert match
        part.rename(part.with_name(f"part-{match['host']}-{match['number']}.parquet"))
    assert sources(run) == EVERY
    a_page_corrupted(list(parts(run))[1])
    assert len(damaged(run)) == 1
    assert len(mend(run)) == 1
    assert sources(run).total() == 4


def test_when_every_part_is_damaged_the_run_goes_on_from_its_facts(run: Path) -> None:
    for part in parts(run):
        empty(part)
    assert pnono("report", "run") == 3
    assert pnono("run", "in", "--out", "run", "--quiet", "--engine", "local", "--resume") == 0
    assert sources(run) == EVERY


# What is no part.


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["part-copy.parquet", "part-x-abc.parquet", "rows.parquet", ".DS_Store", "part-x-00009.parquet"]
)
def test_what_is_no_part_is_named_and_not_counted(run: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    part = next(parts(run))
    shutil.copy(part, part.with_name(name))
    for words in READING:
        assert pnono(*words) == 0
        assert f"run/rows/{name}: " in capsys.readouterr().err
    assert sources(run) == EVERY
    assert (run / "aside" / name).read_bytes(), "compaction keeps it"
    assert strays(run) == []


def test_a_copy_under_the_name_of_a_part_is_not_counted(run: Path) -> None:
    first = next(parts(run))
    match = NAME.fullmatch(first.name)
    assert match
    shutil.copy(first, first.with_name(f"part-z-00007-{match['digest']}.parquet"))
    assert sources(run) == EVERY
    assert "a copy of" in strays(run)[0]


@pytest.mark.parametrize("compacted", [False, True])
def test_the_name_of_a_part_has_the_digest_of_its_bytes_and_its_pages_have_checksums(
    run: Path, compacted: bool
) -> None:
    if compacted:
        assert pnono("compact", "run") == 0
    for part in parts(run):
        match = NAME.fullmatch(part.name)
        with part.open("rb") as file:
            assert match is not None
            assert match["digest"] == digest_of(file)
        a_page_corrupted(part)
        with pytest.raises(OSError, match="CRC"):
            pq.read_table(renamed(part), partitioning=None, page_checksum_verification=True)


# Killed in between.

KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from rows import row
import pyarrow as pa
from parallel_nono.attempt import schema
from parallel_nono.engine.folder import Folder
from parallel_nono.report.parquet import Writer

move, seen = Folder.move, []
def killed(self, name, to, new_name):
    if to.path.name == "rows":
        seen.append(new_name)
    if sys.argv[3] == "before" and len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    move(self, name, to, new_name)
    if sys.argv[3] == "after" and len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
Folder.move = killed
with Writer(Path(sys.argv[1]), {}, {"run": "r"}, "h") as writer:
    for n in range(3):
        writer.write(pa.RecordBatch.from_pylist([row(source=f"s{n}", index=i) for i in range(5)], schema()))
        writer.flush()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize(("when", "n"), [("before", 5), ("after", 10)])
def test_a_run_that_is_killed_around_the_rename_loses_at_most_the_part_at_hand_and_doubles_none(
    tmp_path: Path, when: str, n: int
) -> None:
    out = tmp_path / "out"
    words = [sys.executable, "-c", KILLED, str(out), str(Path(__file__).parent), when]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    assert damaged(out) == {}
    assert strays(out) == []
    assert sources(out).total() == n
    with Writer(out, {}, {"run": "r"}, "h", resume=True) as writer:
        writer.write(next(batches(folder_of(tmp_path / "more", [row(source="late")]))))
    assert sources(out).total() == n + 1
    assert not (out / ".tmp").exists()


# Facts of a foreign run.

ODD: list[tuple[str, Any]] = [
    ("run", 5),
    ("run", None),
    ("noun", ["puzzle"]),
    ("noun", "a:b"),
    ("noun", "[/x]"),
    ("options", []),
    ("options", "text"),
    ("versions", {"pnono": 1}),
    ("memory_mib", "much"),
    ("hosts", []),
    ("options.seconds", "long"),
    ("options.cpu_seconds", "long"),
    ("options.repeat", 1.5),
    ("options.inputs", "in"),
    ("options.plan", {"stages": 5}),
    ("session.seconds", "long"),
    ("session.seconds", float("nan")),
    ("session.seconds", float("inf")),
    ("session.seconds", -1),
    ("session.workers", "two"),
    ("session.skipped", 3),
    ("session.skipped", [3]),
    ("session.n_skipped", True),
    ("session", []),
]


@pytest.mark.slow
@pytest.mark.parametrize(("fact", "value"), ODD, ids=lambda value: str(value))
def test_a_fact_of_another_type_is_one_clear_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fact: str, value: Any
) -> None:
    out = folder_of(tmp_path / "run", [row()])
    first, _, second = fact.partition(".")
    key = b"pnono.session" if first == "session" else b"pnono.hosts" if first == "hosts" else b"pnono.run"
    part = next(parts(out))
    table = pq.read_table(part, partitioning=None)
    facts = json.loads(table.schema.metadata.get(key, b"{}"))
    if fact in ("session", "hosts"):
        facts = value
    else:
        (facts[first] if second and first != "session" else facts)[second or first] = value
    rewritten(part, table.replace_schema_metadata({**table.schema.metadata, key: json.dumps(facts)}))
    for words in (("report", out), ("report", out, "--format", "csv"), ("compact", out), ("compare", out, out)):
        assert pnono(*words) == 3
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert "expected" in told
        assert "found" in told
        assert (second or first) in told
    shutil.rmtree(out / "rows")
    if key == b"pnono.run":
        (out / "run.json").write_text(json.dumps(facts))
        assert pnono("report", out) == 3
        assert "run.json" in capsys.readouterr().err


def test_a_date_that_is_none_is_one_clear_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder_of(tmp_path / "run", [row()])
    part = next(parts(out))
    table = pq.read_table(part, partitioning=None)
    far = pa.array([2**62], table.schema.field("started").type)
    rewritten(part, table.set_column(table.column_names.index("started"), table.schema.field("started"), far))
    assert pnono("report", out, "--rows", "jsonl") == 3
    assert "expected values that jsonl can hold, found others (date" in capsys.readouterr().err
    assert not list(out.glob(".rows*"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_a_time_that_is_no_number_is_one_clear_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: float | None
) -> None:
    out = folder_of(tmp_path / "run", [row()])
    part = next(parts(out))
    table = pq.read_table(part, partitioning=None)
    times = pa.array([value], pa.float32())
    rewritten(part, table.set_column(table.column_names.index("solve_s"), "solve_s", times))
    for words in (("report", out), ("report", out, "--html", tmp_path / "page.html"), ("compact", out)):
        assert pnono(*words) in ({0, 3} if words[0] == "compact" else {3})
        assert "internal error" not in capsys.readouterr().err


def test_what_pnono_writes_passes_its_own_check(run: Path) -> None:
    assert read_facts(run)["noun"] == "puzzle"


def test_rows_have_the_columns_of_today_whatever_order_and_nullability_a_part_gives_them(run: Path) -> None:
    before = [batch.to_pylist() for batch in batches(run)]
    for part in list(parts(run)):
        table = pq.read_table(part, partitioning=None)
        loose = pa.schema([field.with_nullable(True) for field in reversed(table.schema)], table.schema.metadata)
        rewritten(part, table.select(loose.names).cast(loose))
    after = list(batches(run))
    assert all(batch.schema.equals(schema()) for batch in after)
    assert [batch.to_pylist() for batch in after] == before
    chosen = next(batches(run, ["outcome", "solution", "index"]))
    assert chosen.schema.names == ["outcome", "solution", "index"]
    assert pnono("report", run, "--rows", "csv") == 0
    assert len((run / "rows.csv").read_text().splitlines()) == 1 + sum(map(len, before))
