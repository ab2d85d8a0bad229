"""Every kind of puzzle on the same engine: how a kind is found, told its options, fed, resumed and shown."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_cli import Ended
from test_cli import pnono as run_here

from parallel_nono.attempt import Limits
from parallel_nono.engine.inputs import WHOLE_BYTES, Inputs
from parallel_nono.engine.work import Work
from parallel_nono.kinds import FACTS, KINDS, Kind, bare, kind, kind_of, texts, unread
from parallel_nono.puzzleset import SCHEMA

GAMES = "6 2\nOOOOOO\n5 2\nOXOXO\n4 1\nOOZO\n"
SOLUTIONS = [
    {"winner": 1, "grundy": 3, "move": 3, "period": 34, "period_from": 53},
    {"winner": 2, "grundy": 0, "move": None},
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pnono(*words: object, code: int = 0, text: str = "") -> Ended:
    ended = run_here(*words, text=text)
    assert ended.code == code, ended.err
    assert "Traceback" not in ended.err
    return ended


def said(done: Ended) -> str:
    """Standard error, without the word that compilers are at work."""
    return "".join(line for line in done.err.splitlines(True) if "compiling the solver" not in line)


def rows_of(out: Path) -> list[dict[str, Any]]:
    rows = pq.read_table(out / "rows").to_pylist()
    return sorted(rows, key=lambda row: (row["source"], row["index"]))


def fed(paths: list[object], of: str = "strikeout") -> tuple[list[tuple[str, int, str]], Inputs]:
    """(source, index, error) of everything that a run would be fed, in order."""
    inputs = Inputs([str(path) for path in paths], Work(kind(of), Limits()))
    found = []
    for piece in inputs:
        chunk = piece if isinstance(piece, pa.RecordBatch) else kind(of).read([piece])
        columns = (chunk.column(name).to_pylist() for name in ("source", "index", "error"))
        found += list(zip(*columns, strict=True))
    return found, inputs


# The contract.


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_can_be_sent_to_a_worker(name: str) -> None:
    again = pickle.loads(pickle.dumps(bare(name)))
    assert again.name == name


def test_a_kind_that_was_told_options_can_be_sent_to_a_worker() -> None:
    again = pickle.loads(pickle.dumps(kind("strikeout", {"solver": "multiset", "cut": "no"})))
    assert again.solve.keywords == {"solvers": ("multiset",), "cut": False}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solvr": "grundy"}, "strikeout: expected one of solver, cut, found 'solvr'"),
        ({"solver": "greedy"}, "solver: expected one of grundy, bitmask, sorted, multiset; or all"),
        ({"cut": "maybe"}, "cut: expected yes or no, found 'maybe'"),
    ],
)
def test_an_option_that_there_is_not_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind("strikeout", options)
    with pytest.raises(ValueError, match="null: expected no option, found 'solver'"):
        kind("null", {"solver": "grundy"})


@pytest.mark.parametrize(
    ("paths", "name"),
    [
        (["a.strikeout", "b/C.STRIKEOUT.gz"], "strikeout"),
        (["a.strikeout", "b.non"], "nonogram"),
        (["a.strikeout", "folder"], "nonogram"),
        (["a.txt"], "nonogram"),
        ([], "nonogram"),
    ],
)
def test_the_endings_of_all_files_tell_the_kind_or_none_does(paths: list[str], name: str) -> None:
    assert kind_of(paths) == name


def test_no_two_kinds_claim_an_ending() -> None:
    endings = [ending for endings in KINDS.values() for ending in endings]
    assert len(endings) == len(set(endings))


def test_a_source_that_cannot_be_had_is_a_row_of_facts() -> None:
    chunk = unread("dir/gone.strikeout", "why")
    assert chunk.schema.names == list(FACTS)
    assert [chunk.schema.field(name).type for name in FACTS] == [SCHEMA.field(name).type for name in FACTS]
    assert chunk.to_pylist()[0] | {"name": "gone", "index": 1, "error": "why"} == chunk.to_pylist()[0]


@pytest.mark.parametrize("name", ["strikeout", "null"])
def test_a_chunk_has_the_facts_with_their_types(name: str) -> None:
    for content in (b"", b"1 1 O\n7\n", b"nonsense"):
        chunk = kind(name).read([("s", content)])
        chunk.validate(full=True)
        assert [chunk.schema.field(column).type for column in FACTS] == [SCHEMA.field(c).type for c in FACTS]
    assert kind(name).read([]).num_rows == 0


# What a run is fed.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Games under several names, beside files that are none."""
    games = tmp_path / "games"
    (games / "deep").mkdir(parents=True)
    (games / "a.strikeout").write_text(GAMES)
    (games / "b.strikeout.gz").write_bytes(gzip.compress(GAMES.encode()))
    (games / "deep/c.txt").write_text("# games\n" + GAMES)
    (games / "d.txt").write_text("2 2\n1\n1\n1\n1\n")
    (games / "e.nin").write_text("2 2\n1\n1\n1\n1\n")
    (games / "README.md").write_text("# Games\n")
    (games / "f.bin").write_bytes(bytes(range(256)))
    (games / "g.gz").write_bytes(b"\x1f\x8b damaged")
    return games


def test_a_folder_gives_the_games_and_passes_the_others_by(folder: Path) -> None:
    found, inputs = fed([folder])
    names = [Path(source).name for source, _, _ in found]
    assert names == ["a.strikeout"] * 3 + ["b.strikeout.gz"] * 3 + ["c.txt"] * 3
    assert [index for _, index, _ in found] == [1, 2, 3] * 3
    assert sorted(Path(name).name for name in inputs.skipped) == ["README.md", "d.txt", "e.nin", "f.bin", "g.gz"]


def test_a_folder_of_nonograms_still_gives_nonograms(folder: Path) -> None:
    found, _ = fed([folder], "nonogram")
    assert [Path(source).name for source, _, _ in found] == ["d.txt", "e.nin"]


def archives() -> list[tuple[str, bytes]]:
    members = {"x/a.strikeout": GAMES, "notes.md": "# none", "b.txt": GAMES}
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with tarfile.open(fileobj=tarred, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content.encode()))
    return [("games.zip", zipped.getvalue()), ("games.tar.gz", tarred.getvalue())]


@pytest.mark.parametrize(("name", "data"), archives())
def test_an_archive_gives_the_games_in_it(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    found, inputs = fed([tmp_path / name])
    assert {source.removeprefix(f"{tmp_path / name}/") for source, _, _ in found} == {"x/a.strikeout", "b.txt"}
    assert len(found) == 6
    assert inputs.n_skipped == 1


def test_what_cannot_be_read_is_a_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "set.parquet")
    (tmp_path / "damaged.strikeout.gz").write_bytes(gzip.compress(GAMES.encode())[:-20])
    (tmp_path / "empty.strikeout").touch()
    paths = [tmp_path / name for name in ("set.parquet", "damaged.strikeout.gz", "empty.strikeout", "gone.strikeout")]
    found, _ = fed(paths)
    assert [(source, index) for source, index, _ in found] == [(str(path), 1) for path in paths]
    for (_, _, error), hope in zip(found, ("text", "gzip data", "a line `N K`", "a file or a folder"), strict=True):
        assert f"expected {hope}" in error


def test_a_file_of_any_size_is_fed_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "PIECE", 1 << 14)
    path = tmp_path / "many.strikeout"
    path.write_text(GAMES * 20_000)
    assert path.stat().st_size > WHOLE_BYTES
    inputs = Inputs([str(path)], Work(kind("strikeout"), Limits()))
    pieces = iter(inputs)
    first = next(pieces)
    assert isinstance(first, pa.RecordBatch)
    assert first.num_rows < 60_000 / 4
    chunks = [first, *pieces]
    indexes = [index for chunk in chunks for index in chunk.column("index").to_pylist()]
    assert indexes == list(range(1, 60_001))
    last = chunks[-1].column("error").to_pylist()[-1]
    assert last == f"{path}:120000:3: expected `O` for a free cell or `X` for a crossed one, found `Z`"


def test_a_long_file_that_holds_nothing_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "long.strikeout"
    path.write_text("# nothing\n" * (WHOLE_BYTES // 10 + 1))
    assert fed([path])[0] == [(str(path), 1, f"{path}: expected a puzzle, found none")]


def test_a_kind_without_pieces_is_given_long_files_whole(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_text("7\n" * WHOLE_BYTES)
    (piece,) = Inputs([str(path)], Work(kind("null"), Limits()))
    assert piece == (str(path), path.read_bytes())


# The commands.


def test_a_run_of_games_writes_rows_and_speaks_of_games(folder: Path, tmp_path: Path) -> None:
    done = pnono("run", "--kind", "strikeout", folder, "--out", "out", "--format", "jsonl")
    rows = rows_of(tmp_path / "out")
    assert [row["outcome"] for row in rows] == ["solved", "solved", "invalid"] * 3
    assert [json.loads(row["solution"]) for row in rows if row["solution"]] == SOLUTIONS * 3
    assert {row["kind"] for row in rows} == {"strikeout"}
    assert {row["stage"] for row in rows} == {"table", "read"}
    assert "out  9 games in" in done.out
    assert "invalid      3 games:" in done.out
    assert pnono("report", "out").out.startswith(done.out)
    assert len((tmp_path / "out/rows.jsonl").read_text().splitlines()) == 9


def test_a_resumed_run_has_every_game_once_and_the_same_options(tmp_path: Path) -> None:
    path = tmp_path / "games.strikeout"
    pnono("generate", "strikeout", path, "--count", 30, "--width", 12)
    whole = path.read_text()
    path.write_text("".join(whole.splitlines(True)[:20]))
    run = ("run", "games.strikeout", "--out", "out", "--set", "solver=sorted", "-q")
    pnono(*run)
    assert len(rows_of(tmp_path / "out")) == 10
    path.write_text(whole)
    pnono(*run, "--resume")
    rows = rows_of(tmp_path / "out")
    assert [row["index"] for row in rows] == list(range(1, 31))
    assert {row["stage"] for row in rows} == {"search"}
    refused = pnono("run", "games.strikeout", "--out", "out", "-q", "--resume", code=2)
    assert "set was ['solver=sorted'], is not given" in refused.err


def test_games_from_standard_input(tmp_path: Path) -> None:
    pnono("run", "--kind", "strikeout", "-", "--out", "out", "-q", text=GAMES)
    assert [row["outcome"] for row in rows_of(tmp_path / "out")] == ["solved", "solved", "invalid"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "chess"), "--kind: expected a kind of nonogram, strikeout"),
        (("--kind", "strikeout", "--set", "solver"), "--set: expected NAME=VALUE, found `solver`"),
        (("--kind", "strikeout", "--set", "solver=no"), "--set: solver: expected one of grundy"),
        (("--set", "solver=no"), "--set: nonogram: expected no option, found 'solver'"),
    ],
)
@pytest.mark.parametrize("command", ["run", "solve"])
def test_a_kind_or_an_option_that_there_is_not_is_refused(
    tmp_path: Path, command: str, words: tuple[str, ...], message: str
) -> None:
    assert message in pnono(command, *words, "x.non", code=2).err
    assert not (tmp_path / "runs").exists()


def test_solving_shows_the_games_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "g.strikeout").write_text(GAMES)
    done = pnono("solve", "g.strikeout", code=3)
    first, second = done.out.split("\n\n")
    assert first.splitlines()[:5] == [
        "g#1 (g.strikeout #1)",
        "OOOOOO",
        "Player 1 wins, for one by crossing cells 3 to 4. Grundy value 3.",
        "OO##OO",
        "The Grundy values for K = 2 have period 34 from runs of 53 cells on (proved).",
    ]
    assert second.splitlines()[:3] == [
        "g#2 (g.strikeout #2)",
        "OXOXO",
        "Player 2 wins: every first move loses. Grundy value 0.",
    ]
    assert said(done).startswith("pnono: g.strikeout:6:3: expected `O`")


def test_solving_one_game_as_json(tmp_path: Path) -> None:
    done = pnono("solve", "--kind", "strikeout", "-", "--number", "2", "--json", text=GAMES)
    row = json.loads(done.out)
    assert (row["index"], row["outcome"], json.loads(row["solution"])) == (2, "solved", SOLUTIONS[1])
    refused = pnono("solve", "--kind", "strikeout", "-", "--number", "9", text=GAMES, code=2)
    assert said(refused) == "pnono: -: expected a game number from 1 to 3, found 9\n"


def test_a_kind_without_pictures_is_shown_in_words(tmp_path: Path) -> None:
    done = pnono("solve", "--kind", "null", "-", text="21\nx\n", code=3)
    assert done.out.splitlines()[:2] == ["-:1", "Unique: 42"]
    assert said(done) == "pnono: -:2: expected a whole number of at most 15 digits, found `x`\n"


def test_generated_games_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    words = ("generate", "strikeout", "--count", "3", "--width", "30", "--seed", "5", "--set", "take=4")
    first, second = (pnono(*words).out for _ in range(2))
    assert first == second
    assert [line for line in first.splitlines() if line.startswith("30 4")] == ["30 4"] * 3
    pnono(*words[:2], "g.strikeout", *words[2:])
    assert (tmp_path / "g.strikeout").read_text() == first
    assert "expected options among take, crossed" in pnono(*words, "--set", "x=1", code=2).err
    assert "expected crossed from 0 to 100" in pnono(*words, "--set", "crossed=101", code=2).err
    assert "expected a kind with a generator" in pnono("generate", "null", code=2).err


@pytest.mark.ray
@pytest.mark.slow
def test_ray_and_threads_give_the_same_rows(tmp_path: Path) -> None:
    pnono("generate", "strikeout", "g.strikeout", "--count", "5000", "--width", "40")
    same = ("source", "index", "digest", "width", "outcome", "stage", "n_branches", "solution", "error")
    found = {}
    for engine in ("ray", "local"):
        words = ("run", "g.strikeout", "--engine", engine, "--workers", "2", "--out", engine, "-q")
        subprocess.run([sys.executable, "-m", "parallel_nono", *words], check=True, timeout=300)
        rows = rows_of(tmp_path / engine)
        assert {row["engine"] for row in rows} == {engine}
        found[engine] = [[row[name] for name in same] for row in rows]
    assert len(found["ray"]) == 5000
    assert found["ray"] == found["local"]


def test_a_kind_stays_a_small_contract() -> None:
    """Five members are asked for; all others have a default."""
    defaults = [name for name, field in Kind.__dataclass_fields__.items() if field.default is not field.default_factory]
    assert len(Kind.__dataclass_fields__) - len(defaults) == 5
