"""A folder of results may come from anywhere: nothing below it leads outside, makes us wait, or ends in a traceback."""

from __future__ import annotations

import ast
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import parallel_nono
from parallel_nono.cli import main
from parallel_nono.engine.folder import Folder, OutputError
from parallel_nono.report.live import LIVE_FILE
from parallel_nono.report.parquet import LOCK, SCRATCH
from parallel_nono.report.parts import FACTS, parts

PACKAGE = Path(parallel_nono.__file__).parent
HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"
SECRET = "the only copy"


@contextmanager
def in_time(seconds: int = 30) -> Iterator[None]:
    """What waits for a pipe is interrupted."""

    def late(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pnono(*words: object) -> int:
    with in_time(), pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return int(ended.value.code or 0)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two parts, and one more puzzle among its inputs, in the folder that all paths are relative to."""
    folder = tmp_path_factory.mktemp("sample")
    before = Path.cwd()
    os.chdir(folder)
    try:
        Path("in").mkdir()
        for n in range(3):
            Path(f"in/{n}.non").write_text(HOOK)
            if n < 2:
                assert pnono("run", "in", "--out", "run", "--quiet", "--engine", "local", "--resume") == 0
    finally:
        os.chdir(before)
    assert len(list(parts(folder / "run"))) == 2
    return folder


COMMANDS: dict[str, tuple[tuple[str, ...], set[int]]] = {
    "report": (("report", "run"), {0, 3}),
    "csv": (("report", "run", "--rows", "csv", "--format", "json"), {0, 3, 74}),
    "jsonl": (("report", "run", "--rows", "jsonl", "--format", "md"), {0, 3, 74}),
    "html": (("report", "run", "--html", "page.html"), {0, 3}),
    "page": (("report", "run", "--html", "run/page.html"), {0, 3, 74}),
    "compare": (("compare", "run", "run", "--html", "run/page.html"), {0, 3, 74}),
    "compact": (("compact", "run"), {0, 3, 74}),
    "resume": (
        (*("run", "in", "--out", "run", "--resume", "--engine", "local", "--live"), *("--pictures", "--format", "csv")),
        {0, 2, 74},
    ),
}
"""Every command that reads or writes a folder of results, and the exit codes that its help promises."""

ENTRIES = {
    FACTS: "report resume",
    LOCK: "compact resume",
    SCRATCH: "report compact resume",
    LIVE_FILE: "resume",
    f".{LIVE_FILE}": "resume",
    "rows.csv": "csv resume",
    ".rows.csv": "csv",
    "rows.jsonl": "jsonl",
    ".rows.jsonl": "jsonl",
    "rows": "report compact resume",
    "rows/PART": "report compact resume",
    "page.html": "page compare",
    "pictures": "resume",
    "pictures/0-0001.png": "resume",
    "aside": "compact resume",
}
"""What may lie in a folder of results, now or before, and the commands that have to do with it."""


def link_to_file(entry: Path, victim: Path) -> None:
    entry.symlink_to(victim / "file")


def link_to_folder(entry: Path, victim: Path) -> None:
    entry.symlink_to(victim)


def dangling_link(entry: Path, victim: Path) -> None:
    entry.symlink_to(victim / "new")


def hard_link(entry: Path, victim: Path) -> None:
    entry.hardlink_to(victim / "file")


def pipe(entry: Path, _: Path) -> None:
    os.mkfifo(entry)


def folder(entry: Path, _: Path) -> None:
    entry.mkdir()


KINDS: tuple[Callable[[Path, Path], None], ...] = (
    link_to_file,
    link_to_folder,
    dangling_link,
    hard_link,
    pipe,
    folder,
)


def cases() -> Iterator[tuple[str, Callable[[Path, Path], None], str]]:
    """Every entry in every kind with what has to do with it; two of them with everything else too."""
    for entry, commands in ENTRIES.items():
        for kind in KINDS:
            yield from ((entry, kind, command) for command in commands.split())
    for entry in (LOCK, "rows/PART"):
        yield from ((entry, link_to_file, command) for command in COMMANDS if command not in ENTRIES[entry].split())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_follows_a_link_or_waits_for_a_pipe_below_a_folder_of_results(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    words, codes = COMMANDS[command]
    for n, (entry, kind, _) in enumerate(case for case in cases() if case[2] == command):
        shutil.copytree(sample, tmp_path / str(n), symlinks=True)
        monkeypatch.chdir(tmp_path / str(n))
        victim = Path("victim").absolute()
        victim.mkdir()
        (victim / "file").write_text(SECRET)
        place = Path("run") / entry.replace("PART", next(parts(Path("run"))).name)
        place.parent.mkdir(exist_ok=True)
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        kind(place, victim)
        code = pnono(*words)
        case = f"{entry} as {kind.__name__}: {capsys.readouterr().err}"
        assert code in codes, case
        assert [path.name for path in victim.iterdir()] == ["file"], case
        assert (victim / "file").read_text() == SECRET, case


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
@pytest.mark.parametrize("kind", KINDS[:3] + KINDS[4:5], ids=lambda kind: kind.__name__)
def test_what_is_refused_is_named(sample: Path, tmp_path: Path, kind: Callable[[Path, Path], None]) -> None:
    kind(tmp_path / "odd", tmp_path)
    found = "pipe" if kind is pipe else "link"
    with Folder(tmp_path) as results:
        for act in (results.reader, results.lockable, results.sub, results.content, results.remove_tree):
            with in_time(), pytest.raises(OutputError, match=rf"odd: expected a (file|folder), found a {found}"):
                act("odd")
        with pytest.raises(OutputError, match=f"found a {found}"), results.replacing("odd"):
            pass
        with pytest.raises((OutputError, FileExistsError)):
            results.writer("odd")
        assert results.names() == ["odd"]


def test_a_new_file_never_opens_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")
    with Folder(tmp_path) as results:
        with pytest.raises(FileExistsError):
            results.writer("file")
        with pytest.raises(ZeroDivisionError), results.replacing("file") as file:
            file.write(bytes([1 // 0]))
        assert (tmp_path / "file").read_text() == "before"
        assert results.names() == ["file"]
        seen = set()
        for n in range(2):
            with results.replacing("file") as file:
                file.write(str(n).encode())
                seen |= set(results.names())
        assert (tmp_path / "file").read_text() == "1"
        assert len(seen) == 3, "a temporary name is never the same twice"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "a\0b"])
def test_a_name_is_one_entry(tmp_path: Path, name: str) -> None:
    with Folder(tmp_path) as results, pytest.raises(ValueError, match="expected the name of an entry"):
        results.reader(name)


# The source.

DOOR = "engine/folder.py"
OURS = {
    "open": "opens a file by its path",
    "read_text": "likewise",
    "read_bytes": "likewise",
    "write_text": "likewise",
    "write_bytes": "likewise",
    "unlink": "removes by a path",
    "rename": "likewise",
    "replace": "likewise",
    "rmtree": "likewise",
    "mkdir": "makes by a path",
    "touch": "likewise",
    "glob": "lists by a path",
    "rglob": "likewise",
    "ParquetFile": "only on what is open",
    "read_schema": "by a path",
    "read_metadata": "by a path",
    "read_table": "by a path",
}
ALLOWED = {
    ("report/compare.py", "open"): "published.csv, which is in the package",
    ("report/html/__init__.py", "read_text"): "assets of the package",
    ("report/compact.py", "rename"): "renameat2, with handles",
    ("report/parquet.py", "mkdir"): "the folder itself, which its user names",
    ("report/parts.py", "ParquetFile"): "of files that are open",
    ("engine/parts.py", "replace"): "of a text",
    ("web/serve/runs.py", "replace"): "of a text",
}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rsplit(".", 1)[-1]
            yield name, node


def about_results() -> list[Path]:
    """The modules that work in folders of results."""
    found = [*(PACKAGE / "report").rglob("*.py"), PACKAGE / "engine/parts.py", PACKAGE / "web/serve/runs.py"]
    return sorted(found)


@pytest.mark.parametrize("path", about_results(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nobody_works_in_a_folder_of_results_but_through_the_handle(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    for name, call in calls(path):
        if name in OURS and (place, name) not in ALLOWED and not _of_text(call):
            raise AssertionError(f"{place}:{call.lineno}: {ast.unparse(call)[:80]}: {OURS[name]}; see engine/folder.py")


def _of_text(call: ast.Call) -> bool:
    """`text.replace(a, b)`: a path's has one argument."""
    return ast.unparse(call.func).endswith(".replace") and len(call.args) == 2
