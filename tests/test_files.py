"""Files: folders, archives, encodings, caps; what can't be read is a row, and takes nothing else with it."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import pickle
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import parallel_nono
from parallel_nono.files import containers, reading
from parallel_nono.files.containers import Source, sources
from parallel_nono.files.packed import write_packed
from parallel_nono.files.writing import content_of
from parallel_nono.puzzle import InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import set_of

TINY = Puzzle.of_grid([[1, 1, 0, 1], [0] * 4, [1, 0, 0, 0]])
OTHER = Puzzle.of_grid([[1, 0], [1, 1]])
NIN, MK = content_of([TINY], "nin"), content_of([OTHER], "mk")
NON = content_of([TINY], "non").replace("title", "by", 1)


def digests(path: str | Path | bytes) -> list[str]:
    """Digest, or message of the error, of each puzzle under a path."""
    return [str(p) if isinstance(p, InvalidPuzzle) else p.digest for p in reading.read(path, errors="yield")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder such as people have: puzzles, notes, pictures, sources, something hidden."""
    for name, text in {
        "b.nin": NIN,
        "a/2.mk": MK,
        "a/10.mk": MK,
        "a/broken.nin": "3 3\n1\n",
        "a/notes.txt": "Puzzles by nobody.\n1 2 3\n",
        "README.md": "# Puzzles\n\nwidth 3\nheight 3\nrows\n",
        "README": NON,
        "LICENSE": "MIT\n",
        "tool.py": "print(1)\n",
        "times.csv": "puzzle,seconds\na,1\n",
        "text.txt": NON,
        "noextension": NON,
        "data.json": '{"rows": [{"id": 1}], "total": 1}',
        ".hidden.nin": NIN,
        ".git/x.nin": NIN,
        "__pycache__/x.nin": NIN,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    return tmp_path


def test_a_folder_is_walked_by_name_and_foreign_files_are_noted(folder: Path) -> None:
    skipped: list[str] = []
    found = [source.name.removeprefix(f"{folder}/") for source in sources([folder], skipped.append)]
    assert found == ["a/10.mk", "a/2.mk", "a/broken.nin", "b.nin", "noextension", "text.txt"]
    assert sorted(name.removeprefix(f"{folder}/") for name in skipped) == [
        "LICENSE", "README", "README.md", "a/notes.txt", "data.json", "picture.png", "times.csv", "tool.py",
    ]  # fmt: skip


def test_a_broken_file_takes_no_other_with_it(folder: Path) -> None:
    found = digests(folder)
    assert found.count(TINY.digest) == 3
    assert found.count(OTHER.digest) == 2
    assert [text for text in found if "broken.nin" in text and ":2: expected 6 lines" in text]
    assert len(found) == 6


@pytest.mark.parametrize("name", ["README.md", "LICENSE", "picture.png", "times.csv", "data.json", "a/notes.txt"])
def test_a_file_that_is_named_is_never_skipped(folder: Path, name: str) -> None:
    (found,) = digests(folder / name)
    assert found.startswith(f"{folder}/{name}")
    assert "expected" in found


def test_what_is_not_there_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.nin").write_text(NIN)
    (tmp_path / "gone.nin").symlink_to(tmp_path / "nowhere")
    assert "expected a file or a folder, found nothing" in digests(tmp_path / "b.nin")[0]
    assert "expected files that fit this pattern, found none" in digests(f"{tmp_path}/*.xyz")[0]
    first, second = digests(tmp_path)
    assert first == TINY.digest
    assert "gone.nin: can't be read: No such file" in second
    with pytest.raises(InvalidPuzzle):
        list(reading.read(tmp_path / "b.nin"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a user without all rights")
def test_a_file_without_permission_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.nin").write_text(NIN)
    (tmp_path / "a.nin").chmod(0)
    assert "can't be read" in digests(tmp_path / "a.nin")[0]


def test_a_file_that_vanishes_between_listing_and_reading_is_a_row(tmp_path: Path) -> None:
    for name in ("a.nin", "b.nin"):
        (tmp_path / name).write_text(NIN)
    found = list(sources([tmp_path]))
    (tmp_path / "a.nin").unlink()
    batch = reading.read_sources(found)
    assert batch.column("digest").to_pylist() == ["", TINY.digest]
    assert "No such file" in batch.column("error")[0].as_py()


def test_paths_are_taken_in_the_order_given(folder: Path) -> None:
    given = [folder / "b.nin", folder / "a/2.mk", str(folder / "b.nin")]
    assert [p.digest for p in reading.read(given)] == [TINY.digest, OTHER.digest, TINY.digest]


def test_standard_input_is_a_minus(tmp_path: Path) -> None:
    code = "import parallel_nono\nprint([p.digest for p in parallel_nono.read('-')])"
    archive = zip_of({"a.nin": NIN.encode(), "b.mk": MK.encode()})
    for data, wanted in ((NIN.encode(), [TINY.digest]), (archive, [TINY.digest, OTHER.digest])):
        out = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True).stdout
        assert out.decode().strip() == str(wanted)


# Encodings and line ends.

TITLED = content_of([TINY], "non").replace('title "', 'title "Crêpe façon Øst ')


@pytest.mark.parametrize(
    ("data", "warned"),
    [
        (TITLED.encode(), False),
        (b"\xef\xbb\xbf" + TITLED.encode(), False),
        (TITLED.encode("utf-16"), False),
        (b"\xfe\xff" + TITLED.encode("utf-16-be"), False),
        (TITLED.encode("utf-16-le"), False),
        (TITLED.encode("utf-16-be"), False),
        (TITLED.encode("latin-1"), True),
        (TITLED.replace("\n", "\r\n").encode(), False),
        (TITLED.replace("\n", "\r").encode(), False),
        (TITLED.replace("\n", " \t\r\n").encode() + b"\r\n \r\n", False),
        (gzip.compress(TITLED.encode()), False),
        (gzip.compress(TITLED[:40].encode()) + gzip.compress(TITLED[40:].encode()), False),
    ],
)
def test_encodings_and_line_ends_change_nothing(data: bytes, warned: bool) -> None:
    (puzzle,) = reading.read(data)
    assert puzzle.digest == TINY.digest
    assert puzzle.name.startswith("Crêpe façon Øst")
    assert bool(puzzle.warnings) == warned


def test_an_encoding_declared_in_xml_is_used() -> None:
    text = content_of([TINY], "webpbn").replace("UTF-8", "ISO-8859-5").replace("<puzzle ", "<title>Ёж</title><puzzle ")
    (puzzle,) = reading.read(text.encode("iso-8859-5"))
    assert dict(puzzle.metadata)["title"] == "Ёж" or puzzle.name == "Ёж"
    (puzzle,) = reading.read(text.replace("ISO-8859-5", "no-such-code").encode())
    assert puzzle.digest == TINY.digest


def test_cr_never_sticks_to_a_clue() -> None:
    for line_end in ("\r\n", "\r"):
        for text in (
            NIN,
            MK,
            content_of([TINY], "sgt"),
            content_of([OTHER], "taai"),
            content_of([TINY], "olsak"),
        ):
            assert digests(text.replace("\n", line_end).encode()) == digests(text.encode())


@pytest.mark.parametrize("data", [b"", b" \n\t\n", b"\0\1\2\3" * 9, b"\x89PNG\r\n\x1a\n\0\0", b"PAR1xxxx", b"hello\n"])
def test_what_is_no_text_of_a_puzzle_is_one_row(data: bytes) -> None:
    batch = reading.read_bytes(data, "folder/x.bin")
    assert batch.num_rows == 1
    assert batch.column("error")[0].as_py().startswith("folder/x.bin")
    assert "expected" in batch.column("error")[0].as_py()
    assert batch.column("name")[0].as_py() == "x"


# Archives.


def zip_of(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def tar_of(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link.nin")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return out.getvalue()


MEMBERS = {
    "set/a.nin": NIN.encode(),
    "set/b.mk.gz": gzip.compress(MK.encode()),
    "set/broken.nin": b"1 1\n",
    "README.md": b"# width 3\n",
    "x.txt": NON.encode(),
    "../../up.nin": NIN.encode(),
}


@pytest.mark.parametrize("name", ["s.zip", "s.tar", "s.tgz", "s.tar.gz", "s.tar.bz2", "s.tar.xz", "named.otherwise"])
def test_members_of_an_archive_are_files_of_their_own(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    modes = {"s.tar": "w", "s.tar.bz2": "w:bz2", "s.tar.xz": "w:xz"}
    zipped = name in ("s.zip", "named.otherwise")
    path.write_bytes(zip_of(MEMBERS) if zipped else tar_of(MEMBERS, modes.get(name, "w:gz")))
    skipped: list[str] = []
    batch = reading.read_sources(sources([path], skipped.append))
    assert batch.column("source").to_pylist() == [
        f"{path}/{member}" for member in ("set/a.nin", "set/b.mk.gz", "set/broken.nin", "x.txt", "../../up.nin")
    ]
    assert batch.column("digest").to_pylist() == [TINY.digest, OTHER.digest, "", TINY.digest, TINY.digest]
    assert skipped == [f"{path}/README.md"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]
    if name != "named.otherwise":
        assert len(digests(tmp_path)) == 5


def test_an_archive_without_puzzles_or_within_an_archive_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zip_of({"README.md": b"x"}))
    (tmp_path / "b.zip").write_bytes(zip_of({"in.zip": zip_of({"a.nin": NIN.encode()})}))
    assert "found none in 1 files" in digests(tmp_path / "a.zip")[0]
    assert "an archive within an archive" in digests(tmp_path / "b.zip")[0]


@pytest.mark.parametrize("cut", [4, 30, 100, -30])
@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz", "a.tar", "a.nin.gz", "a.tar.bz2"])
def test_damaged_archives_are_rows_not_tracebacks(tmp_path: Path, name: str, cut: int) -> None:
    whole = {
        "a.zip": lambda: zip_of(MEMBERS),
        "a.tar.gz": lambda: tar_of(MEMBERS),
        "a.tar": lambda: tar_of(MEMBERS, "w"),
        "a.nin.gz": lambda: gzip.compress(bytes(range(256)) * 2),
        "a.tar.bz2": lambda: bz2.compress(tar_of(MEMBERS, "w")),
    }[name]()
    (tmp_path / name).write_bytes(whole[:cut])
    found = digests(tmp_path / name)
    assert found
    assert any(name in text and ("damaged" in text or "found none" in text) for text in found) or name == "a.tar"
    spoilt = bytearray(whole)
    spoilt[len(spoilt) // 2] ^= 0xFF
    (tmp_path / name).write_bytes(spoilt)
    assert digests(tmp_path / name)


def test_caps_hold_against_files_that_unpack_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MAX_BYTES", 1 << 20)
    bomb = b"1" * (3 << 20)
    (tmp_path / "a.nin.gz").write_bytes(gzip.compress(bomb))
    (tmp_path / "b.zip").write_bytes(zip_of({"bomb.nin": bomb, "good.nin": NIN.encode()}))
    (tmp_path / "c.tar.gz").write_bytes(tar_of({"good.nin": NIN.encode(), "bomb.nin": bomb}))
    (tmp_path / "d.nin").write_bytes(bomb)
    found = digests(tmp_path)
    assert sum("expected at most 1 MiB" in text for text in found) == 4
    assert found.count(TINY.digest) == 2
    monkeypatch.setattr(containers, "MAX_MEMBERS", 2)
    (tmp_path / "e.zip").write_bytes(zip_of({f"{i}.nin": NIN.encode() for i in range(5)}))
    found = digests(tmp_path / "e.zip")
    assert found[:2] == [TINY.digest] * 2
    assert len(found) == 3
    assert "expected at most 2 files" in found[2]


@pytest.mark.parametrize("text", ["999999999 1\n", "200000 2000\n1\n", "1 200001\n1\n"])
def test_a_header_of_any_size_allocates_nothing(text: str) -> None:
    import tracemalloc

    reading.read_bytes(b"1 1\n1\n1\n", "x.nin")
    tracemalloc.start()
    try:
        for name in ("x.nin", "x.mk", "x.pzl"):
            assert reading.read_bytes(text.encode(), name).column("error")[0].as_py()
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


# Sets of many files, long files, packed files.


@pytest.mark.slow
def test_many_files_make_one_set_in_their_order() -> None:
    items = []
    for i in range(400):
        kind = i % 5
        text = [NIN, MK, "3 3\n1\n", NIN.replace("2 1", "1 2"), content_of([OTHER, OTHER], "taai")][kind]
        items.append((f"{i}.{('nin', 'mk', 'nin', 'nin', 'taai')[kind]}", text.encode()))
    items += [(f"n{i}.nin", NIN.encode()) for i in range(3000)]  # enough for the compiled reader
    items.insert(2000, ("broken.nin", b"4 3\n2 1\n"))
    batch = reading.read_many(items)
    one_by_one = [row for item in items for row in reading.read_bytes(item[1], item[0]).to_pylist()]
    assert batch.to_pylist() == one_by_one


@pytest.mark.parametrize("name", ["taai", "sgt", "non"])
def test_a_long_file_is_read_in_pieces_with_the_same_rows(name: str) -> None:
    puzzles = [Puzzle.of_grid([[(i >> k) & 1 for k in range(3)], [1, 0, 1], [i & 1, 0, 1]]) for i in range(300)]
    text = content_of(puzzles, name)
    for spoil in (False, True):
        if spoil:
            lines = text.split("\n")
            middle = next(i for i in range(len(lines) // 2, len(lines)) if lines[i][:1].isdigit())
            lines[middle] = "x x"
            text = "\n".join(lines)
        whole = reading.read_bytes(text.encode(), f"long.{name}")
        pieces = list(reading.batches(Source(f"long.{name}", data=text.encode()), about=1000))
        assert len(pieces) > 3
        assert [row for piece in pieces for row in piece.to_pylist()] == whole.to_pylist()
        assert any(whole.column("error").to_pylist()) == spoil


def test_a_packed_file_is_a_source_of_batches(tmp_path: Path) -> None:
    write_packed(tmp_path / "set.parquet", [set_of([TINY, OTHER], "x")])
    (tmp_path / "run.parquet").write_bytes(b"PAR1 of something else")
    (tmp_path / "set.zip").write_bytes(zip_of({"in/set.parquet": (tmp_path / "set.parquet").read_bytes()}))
    skipped: list[str] = []
    found = list(sources([tmp_path], skipped.append))
    assert [source.packed for source in found] == [True, True]
    assert skipped == [f"{tmp_path}/run.parquet"]
    for source in found:
        (batch,) = reading.batches(source)
        assert batch.column("digest").to_pylist() == [TINY.digest, OTHER.digest]
    assert digests(tmp_path / "set.parquet") == [TINY.digest, OTHER.digest]
    (broken,) = reading.batches(next(sources([tmp_path / "run.parquet"])))
    assert "damaged Parquet" in broken.column("error")[0].as_py()


def test_a_source_can_be_sent_to_another_process(tmp_path: Path) -> None:
    (tmp_path / "a.nin").write_text(NIN)
    (source,) = sources([tmp_path])
    assert pickle.loads(pickle.dumps(source)).load() == NIN.encode()


def test_a_folder_of_many_files_is_not_listed_ahead(tmp_path: Path) -> None:
    for i in range(50):
        (tmp_path / f"{i:02}").mkdir()
        (tmp_path / f"{i:02}/a.nin").write_text(NIN)
    found = sources([tmp_path])
    next(found)
    for i in range(1, 50):
        (tmp_path / f"{i:02}/a.nin").unlink()
    assert list(found) == []


# The library's face.


def test_read_raises_at_the_first_broken_puzzle_or_gives_it_out() -> None:
    text = content_of([TINY, OTHER], "sgt").replace("\n", "\n2x2:9\n", 1).encode()
    found = parallel_nono.read(text)
    assert next(found).digest == TINY.digest
    with pytest.raises(InvalidPuzzle, match=r"-:2: expected 2 column and 2 row clues, found `1 clues`") as error:
        next(found)
    assert error.value.index == 2
    kinds = [type(p) for p in parallel_nono.read(text, errors="yield")]
    assert kinds == [Puzzle, InvalidPuzzle, Puzzle]


def test_names_and_messages_hold_nothing_that_moves_a_terminal() -> None:
    (puzzle,) = parallel_nono.read(NON.replace("by ", "title \x1b[2J").encode())
    assert "\x1b" not in puzzle.name
    (error,) = parallel_nono.read(b"2 1\n\x1b]0;x\x07\n1\n0\n", "nin", errors="yield")
    assert "\x1b" not in str(error)
    assert "]0;x" in str(error)


def test_the_format_can_be_forced() -> None:
    (puzzle,) = parallel_nono.read(b"2 1\n1\n1\n0\n", format="nin")
    assert (puzzle.height, puzzle.width) == (1, 2)
    with pytest.raises(InvalidPuzzle, match="expected a format among"):
        list(parallel_nono.read(b"", format="nonsense"))


def test_importing_the_room_loads_no_parser_and_no_arrow() -> None:
    code = (
        "import sys, parallel_nono.formats\n"
        "heavy = ['pyarrow', 'numpy', 'numba', 'tomllib', 'xml', 'json', 'parallel_nono.formats.webpbn']\n"
        "assert not [name for name in heavy if name in sys.modules], sys.modules.keys()\n"
        "assert parallel_nono.formats.FORMATS\n"
        "assert not [name for name in heavy[:-1] if name in sys.modules], sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
