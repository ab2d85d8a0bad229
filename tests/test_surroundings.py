"""What lies around a run may be broken: compiled code on disk, settings of Numba. Puzzles never pay for it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import console
import pyarrow.parquet as pq
import pytest
from conftest import SHARED

from parallel_nono.kernels import cache

HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"
"""The only answer: ##./#../###"""


def pnono(*words: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Without the library (test_native has its own mishaps)."""
    return console.pnono(*words, cwd=cwd, PNONO_KERNELS="numba", **environment)


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    (tmp_path / "hook.non").write_text(HOOK)
    return tmp_path


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of compiled code, just made."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "hook.non").write_text(HOOK)
    pnono("solve", "hook.non", cwd=folder, NUMBA_CACHE_DIR=str(folder / "cache"))
    return folder / "cache"


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def nonsense(path: Path) -> None:
    path.write_bytes(b"this is no compiled code")


def one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def foreign(path: Path) -> None:
    """Sound, but of another kernel."""
    other = next(p for p in sorted(path.parent.glob(f"*{path.suffix}")) if p.read_bytes() != path.read_bytes())
    shutil.copyfile(other, path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE = (emptied, truncated, zeroed, nonsense, one_bit, foreign, a_folder)


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "suffix"), [(emptied, ".nbi"), (foreign, ".nbc"), (a_folder, ".nbi")])
def test_damaged_compiled_code_is_compiled_again_and_said(
    damage: Callable[[Path], None], suffix: str, compiled: Path, hook: Path
) -> None:
    folder = hook / "cache"
    shutil.copytree(compiled, folder)
    found = sorted(folder.glob(f"kernels-*/*/survey.*{suffix}"))
    assert found
    for path in found:
        damage(path)
    out = pnono("run", "hook.non", "--out", "out", cwd=hook, NUMBA_CACHE_DIR=str(folder))
    assert "damaged compiled code: compiling again" in out.stderr
    (row,) = pq.read_table(hook / "out/rows").to_pylist()
    assert (row["outcome"], row["solution"]) == ("unique", "##./#../###")
    assert (
        "damaged" not in pnono("solve", "hook.non", cwd=hook, NUMBA_CACHE_DIR=str(folder)).stderr
    )  # it is whole again


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_driver_finds_damage_before_its_workers_do(
    damage: Callable[[Path], None], suffix: str, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(compiled, tmp_path / "cache")
    (folder,) = (tmp_path / "cache").glob("kernels-*")
    monkeypatch.setattr(cache, "folder_of", lambda what: folder)
    assert cache.drop_damaged() == 0
    indexes = sorted(folder.glob("*/*.nbi"))
    damage(next(folder.glob(f"*/fit.*{suffix}")))
    assert cache.drop_damaged() == 1
    assert len(indexes) - len(list(folder.glob("*/*.nbi"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"), [("NUMBA_DISABLE_JIT", "1"), ("NUMBA_NUM_THREADS", "0"), ("NUMBA_OPT", "9")]
)
def test_settings_of_numba_that_we_cannot_work_with_are_ignored_and_said(name: str, value: str, hook: Path) -> None:
    out = pnono("run", "hook.non", "--out", "out", cwd=hook, **{name: value})
    assert pq.read_table(hook / "out/rows")["solution"].to_pylist() == ["##./#../###"]
    solved = pnono("solve", "hook.non", cwd=hook, **{name: value})
    assert "Unique" in solved.stdout
    for each in (out, solved):
        (line,) = [line for line in each.stderr.splitlines() if name in line]
        assert line.startswith(f"pnono: {name}")
        assert line.endswith("ignored") or "is ignored: " in line


@pytest.mark.parametrize("value", ["abc", "0", "-3", "²", "", "1e9"])
def test_a_number_of_threads_that_numba_ends_at_is_taken_away(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(cache, "_listeners", [told.append])
    monkeypatch.setenv("NUMBA_NUM_THREADS", value)
    cache._mend_settings()
    assert "NUMBA_NUM_THREADS" not in os.environ
    assert told == [f"NUMBA_NUM_THREADS: expected a number above 0, found `{value}`: it is ignored"]


def test_a_number_of_threads_that_is_one_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    cache._mend_settings()
    assert os.environ["NUMBA_NUM_THREADS"] == "3"


@pytest.mark.slow
@pytest.mark.parametrize("case", ["C60", "C61"])
def test_the_collected_cases(case: str, compiled: Path, shared: Path, tmp_path: Path) -> None:
    """C60: index and code emptied; C61: without compilation."""
    if not (shared / "cases2").is_dir():
        pytest.skip("needs ../shared/cases2 (a collection of cases that is not ours to ship)")
    shutil.copytree(compiled, tmp_path / "cache")
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    if case == "C60":
        for path in (tmp_path / "cache").glob("*/*/*.nb?"):
            emptied(path)
    else:
        environment["NUMBA_DISABLE_JIT"] = "1"
    file = SHARED / f"cases2/files/{case}_hook.non"
    pnono("run", file, "--out", "out", cwd=tmp_path, **environment)
    (row,) = pq.read_table(tmp_path / "out/rows").to_pylist()
    assert (row["outcome"], row["n_solutions"], row["solution"]) == ("unique", 1, "##./#../###")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_a_link_in_the_place_of_the_cache_below_the_temporary_folder_is_not_followed(tmp_path: Path) -> None:
    """Its name can be guessed, and everybody may write there."""
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "dangling").symlink_to(tmp_path / "made")
    assert not cache._usable(tmp_path / "link", is_ours=True)
    assert not cache._usable(tmp_path / "dangling", is_ours=True)
    assert not (tmp_path / "made").exists()
    assert cache._usable(tmp_path / "link", is_ours=False)  # a cache of one's own may be a link
    assert cache._usable(tmp_path / "new", is_ours=True)


# Standard streams


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX descriptors")
@pytest.mark.parametrize(
    ("closed", "words", "code", "told"),
    [
        ((0,), ("solve", "-"), 3, "pnono: -: expected puzzles on standard input, found it closed"),
        ((0,), ("run", "-", "--out", "out"), 3, ""),
        ((1,), ("solve", "hook.non"), 74, "pnono: standard output: can't be written: "),
        ((1,), ("--version",), 74, "pnono: standard output: can't be written: "),
        ((2,), ("run", "hook.non", "--out", "out"), 0, ""),
        ((0, 1, 2), ("run", "hook.non", "--out", "out"), 74, ""),
    ],
)
def test_closed_standard_streams_are_a_sentence_and_never_a_file(
    closed: tuple[int, ...], words: tuple[str, ...], code: int, told: str, hook: Path
) -> None:
    def begin() -> None:
        for number in closed:
            os.close(number)

    done = subprocess.run(
        [sys.executable, "-m", "parallel_nono", *words],
        cwd=hook,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=begin,
    )
    assert done.returncode == code
    assert done.stderr.startswith(told)
    assert "Traceback" not in done.stderr
    if "hook.non" in words and "run" in words:
        assert pq.read_table(hook / "out/rows")["solution"].to_pylist() == ["##./#../###"]


# Signals


def in_background() -> None:
    """As a shell starts what ends with `&`: nobody there hears Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A puzzle that takes every stage minutes."""
    pnono("generate", "domino", "hard.non", "--height", 63, "--width", 63, cwd=tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_run_in_the_background_ends_in_order(number: signal.Signals, code: int, endless: Path) -> None:
    words = ["run", "hard.non", "--seconds", "600", "--engine", "local", "--live", "--out", "out"]
    with background(endless, *words) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "63x63, for" in line:
                break
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert "go on with: pnono" in errors
    assert not (endless / "out/.tmp").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(
    "words",
    [("solve", "hard.non", "--seconds", "600"), ("serve", "--port", "0"), ("watch", "hard.non", "--seconds", "600")],
    ids=lambda words: words[0],
)
def test_commands_in_the_background_end_on_sigterm(words: tuple[str, ...], endless: Path) -> None:
    with background(endless, *words) as process:
        time.sleep(6)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode in (-signal.SIGTERM, 143)  # both are 143 to a shell


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs terminals")
def test_a_run_whose_terminal_goes_away_ends_in_order(endless: Path) -> None:
    import pty

    words = ["run", "hard.non", "--seconds", "600", "--engine", "local", "--live", "--out", "out"]
    child, screen = pty.fork()
    if child == 0:
        os.chdir(endless)
        os.execv(sys.executable, [sys.executable, "-m", "parallel_nono", *words])
    shown = b""
    while b"63x63" not in shown:  # its bar
        shown += os.read(screen, 4096)
    os.close(screen)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 129
    assert not (endless / "out/.tmp").exists()
    assert not (endless / "out/live.json").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_a_run_under_nohup_stays_when_the_terminal_goes_away(hook: Path) -> None:
    with background(hook, "run", "-", "--engine", "local", "--out", "out", nohup=True) as process:
        time.sleep(4)
        process.send_signal(signal.SIGHUP)
        process.communicate(HOOK, timeout=60)
    assert process.returncode == 0


def background(folder: Path, *words: str, nohup: bool = False) -> subprocess.Popen[str]:
    def begin() -> None:
        in_background()
        if nohup:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

    return subprocess.Popen(
        [sys.executable, "-m", "parallel_nono", *words],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=begin,
    )
