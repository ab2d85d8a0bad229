"""What may lie where puzzles are expected: every command, every odd path, every way to pack and to name a file."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote_to_bytes

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from console import pnono as process
from PIL import Image
from test_cli import Ended, pnono

from parallel_nono import read, solve
from parallel_nono.cli.exits import Code
from parallel_nono.files import packing
from parallel_nono.files.containers import Skipped, sources
from parallel_nono.files.paths import exact, readable
from parallel_nono.files.reading import LONGEST_NUMBERS, read_bytes
from parallel_nono.files.writing import content_of
from parallel_nono.pictures.scan import Scan, Wish, scans
from parallel_nono.puzzle import BLOT, SURROGATE, Block, Colour, InvalidPuzzle, Puzzle

HOOK = "width 3\nheight 3\nrows\n2\n1\n3\ncolumns\n3\n1,1\n1\n"
HOOK_SOLUTION = "##./#../###"
BOUND_S = 60.0
"""Far more than any of this takes, far less than for ever."""

posix = pytest.mark.skipif(os.name != "posix", reason="names are not bytes there")

COMMANDS: dict[str, Callable[[str, Path], tuple[object, ...]]] = {
    "run": lambda path, out: ("run", path, "--out", out / "run", "--engine", "local", "-q"),
    "solve": lambda path, out: ("solve", path, "--picture", f"{out}/solved/", "--solutions-to", out / "solutions.txt"),
    "lint": lambda path, out: ("lint", path, "--no-solve"),
    "check": lambda path, out: ("check", path),
    "convert": lambda path, out: ("convert", path, f"{out}/single/", "--to", "json"),
    "draw": lambda path, out: ("draw", path, f"{out}/drawn/", "--show", "puzzle"),
    "pack": lambda path, out: ("pack", path, out / "set.parquet"),
    "unpack": lambda path, out: ("unpack", path, f"{out}/unpacked/", "--to", "json"),
    "cnf": lambda path, out: ("cnf", path, "--out", out / "puzzle.cnf"),
    "watch": lambda path, out: ("watch", path),
    "from-image": lambda path, out: ("from-image", path, "--out", f"{out}/made/", "--to", "json"),
}
"""Every command that takes paths of puzzles or pictures, with all that it could write."""


class Alarm(Exception):
    """It waits for somebody."""


@pytest.fixture(autouse=True)
def bound() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, BOUND_S)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def pipe(place: Path) -> str:
    os.mkfifo(place / "pipe.non")
    return str(place / "pipe.non")


def unix_socket(place: Path) -> str:
    path = os.path.relpath(place / "s.non")  # a short one: such addresses have few characters
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(path)
    return path


def loop(place: Path) -> str:
    (place / "loop").symlink_to("loop")
    return str(place / "loop")


def nowhere(place: Path) -> str:
    (place / "nowhere.non").symlink_to(place / "gone")
    return str(place / "nowhere.non")


def empty(place: Path) -> str:
    (place / "empty").mkdir()
    return str(place / "empty")


def only_pipes(place: Path) -> str:
    (place / "pipes").mkdir()
    pipe(place / "pipes")
    return str(place / "pipes")


NOTHING: dict[str, tuple[Callable[[Path], str], str]] = {
    "missing": (lambda place: str(place / "missing.non"), "found nothing of that name"),
    "too long": (lambda place: str(place / ("x" * 300)), "found nothing of that name"),
    "not UTF-8": (lambda place: os.fsdecode(os.fsencode(place) + b"/\xe9.non"), "\\xe9.non: expected a file"),
    "escapes": (lambda place: f"{place}/a\n\x1b]0;b\x07", "found nothing of that name"),
    "pattern": (lambda place: f"{place}/*.non", "found none"),
    "dangling link": (nowhere, "found a link that leads nowhere"),
    "circle of links": (loop, "found a link that leads nowhere"),
    "empty folder": (empty, "found an empty folder"),
    "pipe": (pipe, "a pipe"),
    "folder of pipes": (only_pipes, "found none in 1 file"),
    "pattern of pipes": (lambda place: f"{Path(pipe(place)).parent}/*.non", "a pipe"),
    "socket": (unix_socket, "a socket"),
    "null device": (lambda place: "/dev/null", "a device"),
    "endless device": (lambda place: "/dev/zero", "a device"),
}
"""Paths that lead to no puzzle, and what is said of them."""


def one_sentence(ended: Ended) -> str:
    assert "Traceback" not in ended.err
    (line,) = ended.err.splitlines()
    assert line.startswith("pnono: ")
    assert line.isprintable()
    return line


@pytest.mark.slow
@posix
@pytest.mark.parametrize("kind", NOTHING)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_leads_to_nothing_is_a_usage_error_that_leaves_nothing(
    command: str, kind: str, tmp_path: Path
) -> None:
    make, said = NOTHING[kind]
    out = tmp_path / "out"
    (tmp_path / "in").mkdir()
    out.mkdir()
    path = make(tmp_path / "in")
    ended = pnono(*COMMANDS[command](path, out))
    assert said in one_sentence(ended)
    assert ended.code == Code.USAGE
    assert not list(out.iterdir())


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    ended = pnono("solve", tmp_path / "closed")
    assert (ended.code, "can't be read" in ended.err) == (Code.INVALID, True)


def name_of(data: bytes) -> str:
    return os.fsdecode(data)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("command", COMMANDS)
def test_names_that_are_no_utf_8_work_and_are_told_from_those_that_look_so(command: str, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / name_of(b"out\xff")
    folder.mkdir()
    out.mkdir()
    names = (b"caf\xe9", b"caf\\xe9", b"new\nline\x1b[31m")
    ending = {"from-image": ".png", "unpack": ".parquet"}.get(command, ".non")
    assert pnono("pack", hook_at(tmp_path), tmp_path / "hook.parquet").code == Code.FINE
    for name in names:
        path = folder / name_of(name + ending.encode())
        if command == "from-image":
            Image.fromarray(np.where(np.eye(5), 0, 255).astype(np.uint8)).save(path, "PNG")
        else:
            path.write_bytes((tmp_path / "hook.parquet").read_bytes() if command == "unpack" else HOOK.encode())
    single = name_of(names[0] + ending.encode())
    several = command not in ("cnf", "watch")
    ended = pnono(*COMMANDS[command](str(folder if several else folder / single), out))
    assert "internal" not in ended.err
    assert "Traceback" not in ended.err
    assert ended.code in (Code.FINE, Code.NO), ended.err  # `check`: there is no goal
    assert not SURROGATE.search(ended.out + ended.err)


def hook_at(folder: Path) -> Path:
    path = folder / "hook.non"
    path.write_text(HOOK)
    return path


def rows_of(out: Path) -> list[dict[str, object]]:
    columns = ["name", "source", "source_bytes", "index", "outcome", "solution", "error"]
    parts = sorted((out / "rows").glob("*.parquet"))
    return [row for part in parts for row in pq.ParquetFile(part.open("rb")).read(columns).to_pylist()]


@posix
def test_a_run_over_odd_names_is_whole_and_goes_on(tmp_path: Path) -> None:
    out = tmp_path / name_of(b"\xfcber")
    names = [b"caf\xe9.non", b"caf\\xe9.non", b"plain.non", "caf\u00e9.non".encode()]
    paths = [tmp_path / name_of(name) for name in names]
    for path in paths[:2]:
        path.write_text(HOOK)
    options = ("--out", out, "--engine", "local", "-q")
    paths[2].write_text(HOOK)
    paths[3].write_text(HOOK)
    assert pnono("run", *paths, *options).code == Code.FINE
    rows = rows_of(out)
    assert [row["solution"] for row in rows] == [HOOK_SOLUTION] * 4
    assert {str(row["source"]).rsplit("/", 1)[1] for row in rows} == {
        "caf\\xe9.non", "caf\\x5cxe9.non", "plain.non", "caf\u00e9.non"
    }  # fmt: skip
    found = {unquote_to_bytes(str(row["source_bytes"] or row["source"])) for row in rows}
    assert found == {os.fsencode(path) for path in paths}
    assert pnono("run", *paths, *options, "--resume", "--pictures").code == Code.FINE
    assert len(rows_of(out)) == 4
    assert len(list((out / "pictures").iterdir())) == 4


@posix
@pytest.mark.parametrize(
    "name", [b"plain", "caf\u00e9".encode(), b"\xe9", b"\\xe9", b"\\x5cxe9", b"a\\b", b"\xc3\xa9\xe9", b"\\xe9\xe9\\x"]
)
def test_a_readable_name_is_text_and_gives_the_bytes_back(name: bytes) -> None:
    text = readable(os.fsdecode(name))
    assert text.encode()  # no surrogates
    assert unquote_to_bytes(exact(text) or text) == name
    assert bool(exact(text)) == (text.encode() != name)


def test_readable_names_that_differ_are_of_files_that_differ() -> None:
    parts = [b"\xe9", b"\\xe9", b"\\x5c", b"xe9", b"\\", "\u00e9".encode()]
    names = {one + other + last for one in parts for other in parts for last in parts}
    assert len({readable(os.fsdecode(name)) for name in names}) == len(names)


@pytest.mark.slow
@posix
def test_an_ascii_locale_changes_no_name_in_the_rows(tmp_path: Path) -> None:
    (tmp_path / "caf\u00e9.non").write_text(HOOK)
    (tmp_path / name_of(b"\xe9.non")).write_text(HOOK)
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    process("run", ".", "--out", "../run", "--engine", "local", cwd=tmp_path, **ascii_only)
    rows = rows_of(tmp_path.parent / "run")
    assert {row["source"] for row in rows} == {"./caf\u00e9.non", "./\\xe9.non"}
    assert {row["name"] for row in rows} == {"caf\u00e9", "\\xe9"}


@posix
def test_a_tar_of_odd_names_is_read(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in (b"caf\xe9.non", b"plain.non"):
            info = tarfile.TarInfo(os.fsdecode(name))
            info.size = len(HOOK)
            archive.addfile(info, io.BytesIO(HOOK.encode()))
    assert [source.name.rsplit("/", 1)[1] for source in sources([tmp_path / "a.tar"])] == ["caf\\xe9.non", "plain.non"]
    assert pnono("lint", tmp_path / "a.tar", "--no-solve").code == Code.FINE


def test_half_characters_in_titles_are_escaped_wherever_they_stand(tmp_path: Path) -> None:
    half = "a\ud800b"
    puzzle = {"rows": [[1]], "columns": [[1]], "name": half, "metadata": {half: half}, half: half}
    coloured = {**puzzle, "palette": [{"name": half, "char": "\ud800", "rgb": "#ffffff"}, {"name": "k", "rgb": "#f00"}]}
    path = tmp_path / "half.json"
    path.write_text(json.dumps([puzzle, coloured, {"rows": half}]))
    first, second, broken = read(path, errors="yield")
    assert first.name == second.name == "a\\ud800b"
    assert len(second.palette[0].char) == 1
    assert isinstance(broken, InvalidPuzzle)
    assert not SURROGATE.search(f"{first!r}{second!r}{broken}")
    for command in ("run", "solve", "lint", "convert", "pack", "draw"):
        (out := tmp_path / command).mkdir()
        ended = pnono(*COMMANDS[command](str(path), out))
        assert ended.code in (Code.INVALID, Code.FINE), ended.err
        assert "internal" not in ended.err


def test_a_puzzle_that_is_made_of_halves_is_sound() -> None:
    palette = (Colour("\ud800", ".", 0xFFFFFF), Colour("ink", "\udfff", 0))
    puzzle = Puzzle(((),), ((),), palette, "\udce9", "s\udce9", metadata=(("\ud800", "v"),), warnings=("\ud801",))
    assert not SURROGATE.search(repr(puzzle))
    assert (puzzle.palette[1].char, puzzle.name) == ("#", "\\udce9")


# What is passed by, and what is read in a special way.


@posix
def test_pipes_and_backup_copies_among_puzzles_are_skipped_with_a_word(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    hook_at(folder)
    for name in ("hook.non~", "hook.non.bak", "#hook.non#", "hook.non.orig"):
        (folder / name).write_text(HOOK)
    pipe(folder)
    met: list[Skipped] = []
    assert [Path(source.name).name for source in sources([folder], met.append)] == ["hook.non"]
    assert sorted({name.why for name in met}) == ["a backup copy", "a pipe"]
    ended = pnono("solve", folder)
    assert ended.code == Code.FINE
    assert ended.err.count("skipped: a backup copy") == 4
    assert ended.err.count("skipped: a pipe") == 1
    ended = pnono("run", f"{folder}/*", "--out", tmp_path / "run", "--engine", "local")
    assert "pipe.non (a pipe)" in ended.out
    assert "skipped      5 files" in ended.out
    assert len(rows_of(tmp_path / "run")) == 1
    assert pnono("solve", folder / "hook.non~").code == Code.FINE  # whoever names it means it
    assert pnono("run", folder / "pipe.non", folder / "hook.non", "--out", tmp_path / "b", "-q").code == Code.FINE


@posix
def test_a_file_that_became_a_pipe_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = hook_at(tmp_path)
    (source,) = sources([path])
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(InvalidPuzzle, match="expected an ordinary file, found a pipe"):
        source.load()


@pytest.mark.slow
@posix
def test_a_pipe_that_is_open_is_read(tmp_path: Path) -> None:
    words = ["bash", "-c", f'{sys.executable} -m parallel_nono lint --no-solve <(echo "{HOOK}")']
    done = subprocess.run(words, capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert done.returncode == 0
    assert "1 puzzle: 0 errors" in done.stdout


@pytest.mark.slow
@posix
@pytest.mark.parametrize("words", [("run", "-", "--out", "out"), ("line", "1", "-"), ("from-image", "-")])
def test_a_closed_standard_input_is_said(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    command = f"{sys.executable} -m parallel_nono {' '.join(words)} <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert done.returncode == Code.INVALID
    assert "standard input" in done.stdout + done.stderr
    assert "closed" in done.stdout + done.stderr


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": zstd,
}


@pytest.mark.parametrize("ending", PACKERS)
def test_packed_files_are_read_and_damaged_ones_are_said(ending: str, tmp_path: Path) -> None:
    packed = PACKERS[ending](HOOK.encode())
    (tmp_path / f"hook.non{ending}").write_bytes(packed)
    (tmp_path / f"unnamed{ending}").write_bytes(packed)
    first, second = read(tmp_path)
    assert (first.name, second.name) == ("hook", "unnamed")
    assert solve(first).outcome == "unique"
    (tmp_path / f"hook.non{ending}").write_bytes(packed[:-9])
    with pytest.raises(InvalidPuzzle, match="found a damaged file"):
        list(read(tmp_path / f"hook.non{ending}"))
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.add(hook_at(tmp_path), "hook.non")
    (tmp_path / f"a.tar{ending}").write_bytes(PACKERS[ending](tar.getvalue()))
    assert [puzzle.digest for puzzle in read(tmp_path / f"a.tar{ending}")] == [first.digest]


# Bounds of reading.


@pytest.mark.parametrize("ending", [*PACKERS, ".zip", ".tar.gz"])
def test_what_unpacks_without_end_is_refused_before_it_fills_the_memory(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "RATIO_FROM", 1 << 20)
    bomb = b"1" * (8 << 20)
    path = tmp_path / f"bomb{ending}"
    if ending == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("bomb.non", bomb)
            archive.writestr("hook.non", HOOK)
    elif ending == ".tar.gz":
        with tarfile.open(path, "w:gz") as tar:
            info = tarfile.TarInfo("bomb.non")
            info.size = len(bomb)
            tar.addfile(info, io.BytesIO(bomb))
    else:
        path.write_bytes(PACKERS[ending](bomb))
    first, *others = read(path, errors="yield")
    assert "expected at most 200 bytes for each packed one, found" in str(first)
    hooks = [next(read(HOOK.encode())).digest] if ending == ".zip" else []
    assert [other.digest for other in others] == hooks


class Slow(io.RawIOBase):
    """A stream that gives a byte at a time, and takes its time on a clock of its own."""

    now = 0.0

    def read(self, size: int = -1) -> bytes:
        self.now += 1.0
        return b"1"


def test_reading_has_its_share_of_time_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int, float]] = []
    slow = Slow()
    monkeypatch.setattr(packing, "monotonic", lambda: slow.now)
    monkeypatch.setattr(packing.Share, "told", lambda *said: told.append(said))
    monkeypatch.setattr(packing.Share, "seconds", packing.Share.seconds)
    for seconds, share in ((0.01, 10.0), (2.0, 20.0)):
        packing.Share.of(seconds)
        with pytest.raises(InvalidPuzzle, match=re.escape(f"x: expected a file that is read within {share:g} s")):
            packing.read_all(slow, "x", 1 << 20)
    assert told[:2] == [("x", 4, 4.0), ("x", 8, 8.0)]


@pytest.mark.parametrize("sign", [b"1", b"1 ", b"1,", b"0\t"])
def test_a_line_of_numbers_longer_than_any_clue_is_refused_at_once(sign: bytes) -> None:
    row = read_bytes(b"\n\n" + sign * (LONGEST_NUMBERS + 1), "long.txt")
    assert str(row.column("error")[0]).startswith(
        "long.txt:3: expected a clue or a row of at most 200,000 cells, found"
    )


@pytest.mark.slow
def test_the_longest_row_of_cells_is_no_such_line() -> None:
    longest = 200_000
    text = f"width {longest}\nheight 1\nrows\n{','.join(['1'] * (longest // 2))}\ncolumns\n" + "1\n0\n" * (longest // 2)
    row = read_bytes(text.encode(), "long.non")
    assert (str(row.column("error")[0]), row.column("width")[0].as_py()) == ("", longest)


# JSON lines and links.


def test_each_line_of_json_lines_is_a_puzzle_or_an_error_of_its_own(tmp_path: Path) -> None:
    good = '{"rows": [[1]], "columns": [[1]]}'
    titled = '{"name": "dot", "rows": [[1]], "columns": [[1]]}'
    lines = [good, "", '{"rows": [[1]], "name": "x"', titled, '{"rows": [["x"]], "columns": [[1]]}']
    for name in ("set.jsonl", "set.ndjson", "set.jsonl.gz"):
        path = tmp_path / name
        data = "\n".join(lines).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        first, broken, named, wrong = read(path, errors="yield")
        assert (first.name, first.index, first.source) == ("set#1", 1, str(path))
        assert (named.name, named.index) == ("dot", 3)
        assert (broken.index, wrong.index) == (2, 4)
        assert str(broken).startswith(f"{path}:3: expected JSON, found a mistake")
        assert str(wrong).startswith(f"{path}:5: row 1: expected")
    (tmp_path / "rows.jsonl").write_text('{"run": "x", "outcome": "unique"}\n' * 3)
    assert {Path(item.source).name for item in read(tmp_path, errors="yield") if isinstance(item, Puzzle)} == {
        "set.jsonl", "set.ndjson", "set.jsonl.gz"
    }  # fmt: skip


LINK = str(content_of([next(read(HOOK.encode()))], "puzzlink")).strip()


@pytest.mark.parametrize(
    "shape",
    ["{}", "<{}>", "({})", "[a puzzle]({})", "{}.", "{},", '"{}"', "Look: {}!", "`{}`", "see <{}>, please", "**{}**"],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_links_are_read_as_chats_leave_them(shape: str, escaped: bool) -> None:
    head, _, tail = LINK.partition("?")
    mangled = shape.format(head + "?" + tail.replace("/", "%2F") if escaped else LINK)
    plain, found = (read_bytes(text.encode(), "-") for text in (LINK, mangled))
    assert [str(error) for error in found.column("error")] == [""]
    assert found.column("digest") == plain.column("digest")


@pytest.mark.parametrize("behind", ["", ".", "...", ").", ">"])
def test_full_stops_that_are_clues_of_a_link_stay(behind: str) -> None:
    blots = Puzzle(rows=((Block(BLOT),),), columns=((Block(BLOT),),))
    link = str(content_of([blots], "puzzlink")).strip()
    assert link.endswith("/1/1/..")
    (back,) = read((link + behind).encode())
    assert back.digest == blots.digest


def test_two_links_in_a_line_are_not_one() -> None:
    assert str(read_bytes(f"{LINK} {LINK}".encode(), "-").column("error")[0])


# Pictures.


def grey16(turn: int = 0, clear: int | None = None) -> bytes:
    """Ink 20000 on paper 60000, five wide and four high as it is to be seen, and stored as EXIF orientation `turn`."""
    cells = np.array([[1, 0, 1, 0, 1], [1, 1, 0, 1, 0], [0, 0, 1, 1, 1], [1, 0, 0, 0, 1]])
    stored = {0: cells, 3: cells[::-1, ::-1], 6: np.rot90(cells), 8: np.rot90(cells, -1)}[turn]
    values = np.where(stored == 1, 20000, 60000).astype(np.uint16)
    image, file = Image.fromarray(values), io.BytesIO()
    exif = Image.Exif()
    if turn:
        exif[0x0112] = turn
    image.save(file, "PNG", exif=exif)
    return file.getvalue()


def frames(kind: str) -> bytes:
    file = io.BytesIO()
    first, *others = (Image.fromarray(np.where(np.eye(5, k=k), 0, 255).astype(np.uint8)) for k in range(3))
    first.save(file, kind, save_all=True, append_images=others, duration=100)
    return file.getvalue()


def declared(shade: int) -> bytes:
    """A picture of two colours in which the first is declared transparent, and no pixel has it."""
    image, file = Image.new("P", (5, 5), 1), io.BytesIO()
    image.putpalette([0, 0, 0, 200, 30, 30, 30, 30, 200])
    image.putpixel((1, 2), 2)
    image.save(file, "PNG", transparency=shade)
    return file.getvalue()


def two_greys(paper: int) -> bytes:
    image, file = Image.fromarray(np.where(np.eye(6, 5), 60, paper).astype(np.uint8)), io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


PICTURES = {
    **{f"16 bits, orientation {turn}": grey16(turn) for turn in (0, 3, 6, 8)},
    **{f"frames of {kind}": frames(kind) for kind in ("GIF", "PNG")},
    "pictures behind one another": two_greys(255) + two_greys(230),
    **{f"paper {paper}": two_greys(paper) for paper in (255, 250, 234, 205, 190, 120)},
    "transparency that does not occur": declared(0),
    "transparency that occurs": declared(1),
}


@pytest.mark.parametrize("name", PICTURES)
def test_run_and_from_image_read_the_same_picture(name: str) -> None:
    data = PICTURES[name]
    ending = "gif" if data.startswith(b"GIF") else "png"
    as_puzzles = list(read(data, ending))
    made = list(scans(data, "-", Wish()))
    assert [one.puzzle.digest for one in made if isinstance(one, Scan)] == [puzzle.digest for puzzle in as_puzzles]
    assert [one.puzzle.goal for one in made if isinstance(one, Scan)] == [puzzle.goal for puzzle in as_puzzles]


@pytest.mark.parametrize("turn", [0, 3, 6, 8])
def test_sixteen_bits_and_orientations_are_read_as_they_are_seen(turn: int) -> None:
    (puzzle,) = read(grey16(turn), "png")
    assert puzzle.goal == ((1, 0, 1, 0, 1), (1, 1, 0, 1, 0), (0, 0, 1, 1, 1), (1, 0, 0, 0, 1))


def test_every_frame_is_a_puzzle_for_from_image_too(tmp_path: Path) -> None:
    (tmp_path / "film.gif").write_bytes(frames("GIF"))
    ended = pnono("from-image", tmp_path / "film.gif", "--aim", "none", "--out", tmp_path / "film.json")
    assert "3 puzzles" in ended.out
    assert len(list(read(tmp_path / "film.json"))) == 3
