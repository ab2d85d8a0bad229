"""The library of machine code: the same as Numba's, refused where it is not sound, made where it is missing."""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from console import pnono

from parallel_nono.kernels import kernel_functions, native
from parallel_nono.kernels.board import OPEN_CELL
from parallel_nono.kernels.build import ORDER
from parallel_nono.kernels.cache import SEAL_BYTES, seal_of
from parallel_nono.kernels.clues import Clues
from parallel_nono.kernels.native import PARTS, Late, file_name, loaded, prepare, sound
from parallel_nono.puzzle import Puzzle
from parallel_nono.puzzleset import clues_of, set_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "parallel_nono"
HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"

library_only = pytest.mark.skipif(loaded().mode == native.NUMBA, reason="needs the library (Linux, and a linker)")


# The list of kernels.


def test_every_kernel_that_python_calls_is_in_a_part() -> None:
    """Modules that declare one, but for those that are for other machines."""
    declare = re.compile(r"^@(kernel|function_value\(.*\))\n", re.MULTILINE)
    found = {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for path in PACKAGE.rglob("*.py")
        if declare.search(path.read_text(encoding="utf-8"))
    }
    assert found - {"kernels.browser"} == {module for modules in PARTS.values() for module in modules}


def test_every_part_has_its_turn() -> None:
    assert sorted(ORDER) == sorted(PARTS)


def test_every_kernel_says_what_it_takes() -> None:
    code = """
from importlib import import_module
from parallel_nono.kernels import kernel_functions
from parallel_nono.kernels.native import PARTS
from parallel_nono.kernels.signatures import numba_type, parameters_of
for modules in PARTS.values():
    for module in modules:
        import_module(f"parallel_nono.{module}")
    for each in kernel_functions(modules):
        if each.call is None:
            list(map(numba_type, parameters_of(each.function).values()))
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PNONO_KERNELS": ""})


# What it is given.


def arguments() -> list[Any]:
    """Right ones of `known_planes`."""
    from parallel_nono.kernels.known import known_planes

    clues = clues_of(set_of([Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1])]))
    known = np.full(9, OPEN_CELL, np.uint16)
    need = known_planes(0, clues, known, np.zeros(0, np.uint64))
    return [0, clues, known, np.zeros(need, np.uint64)]


def unaligned() -> np.ndarray:
    return np.zeros(9 * 2 + 1, np.uint8)[1:].view(np.uint16)


WRONG: list[tuple[int, Callable[[Any], Any], type[Exception], str]] = [
    (0, lambda _: 1.5, TypeError, "integer"),
    (0, lambda _: "1", TypeError, "integer"),
    (0, lambda _: 1 << 63, OverflowError, "int"),
    (1, list, TypeError, r"clues: expected a tuple of 7, found \["),
    (1, lambda clues: clues[:6], TypeError, "clues: expected a tuple of 7"),
    (
        1,
        lambda clues: clues._replace(heights=[3]),
        TypeError,
        r"clues.heights: expected a contiguous array, 1-d, int32",
    ),
    (1, lambda clues: clues._replace(lengths=clues.lengths.astype(np.int64)), TypeError, "clues.lengths: expected"),
    (2, lambda known: known.tolist(), TypeError, "known: expected a contiguous array, 1-d, uint16, writeable, found"),
    (2, lambda known: known.astype(np.int16), TypeError, "known: expected"),
    (2, lambda known: known.astype(">u2"), TypeError, "known: expected"),
    (2, lambda known: known.reshape(3, 3), TypeError, "known: expected"),
    (2, lambda known: np.repeat(known, 2)[::2], TypeError, "known: expected"),
    (2, lambda _: unaligned(), TypeError, "known: expected"),
    (2, lambda _: None, TypeError, "known: expected"),
    (3, lambda words: words.tobytes(), TypeError, "words: expected"),
    (3, lambda words: np.frombuffer(words.tobytes(), np.uint64), TypeError, "words: expected"),
]


@library_only
@pytest.mark.parametrize(("place", "spoil", "error", "message"), WRONG)
def test_what_a_kernel_does_not_take_is_refused(
    place: int, spoil: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    from parallel_nono.kernels.known import known_planes

    given = arguments()
    assert known_planes(*given) == len(given[3])
    given[place] = spoil(given[place])
    with pytest.raises(error, match=message):
        known_planes(*given)


@library_only
def test_the_number_of_arguments_is_checked() -> None:
    from parallel_nono.kernels.known import known_planes

    with pytest.raises(TypeError, match=r"kernels\.known\.known_planes: expected 4 arguments, found 3"):
        known_planes(*arguments()[:3])


@library_only
def test_what_is_like_an_array_or_a_number_will_do() -> None:
    from parallel_nono.kernels.known import known_planes

    class Own(np.ndarray):
        """A class of somebody's."""

    place, clues, known, words = arguments()
    longs = np.zeros(len(words), np.ulonglong)  # C has two names for it
    for number in (np.int8(0), np.uint64(0), True, place):
        assert known_planes(bool(number) and 0, tuple(clues), known.view(Own), longs) == len(words)
    assert known_planes(np.int32(0), Clues(*(each.copy() for each in clues)), known, words) == len(words)
    assert (longs == words).all()


@library_only
def test_another_function_value_is_refused() -> None:
    prepare("solve", "narrow", "search")
    solve, narrow = loaded().modules["solve"], loaded().modules["narrow"]
    kernel = getattr(solve, "kernels.solve.solve")
    propagate = getattr(narrow, "kernels.narrow.propagate_narrow")
    with pytest.raises(ValueError, match="PyCapsule"):
        kernel(propagate, propagate, propagate, *range(7))
    with pytest.raises(ValueError, match="PyCapsule"):
        kernel(7, propagate, propagate, *range(7))


@library_only
def test_what_kernels_return() -> None:
    """Numbers of each kind, a truth value, a tuple, nothing."""
    from parallel_nono.kernels.encode import join_variables
    from parallel_nono.kernels.replay import solve_narrow, solve_two_words

    lengths = np.array([3], np.int32)
    full = np.uint64((1 << 5) - 1)
    found = solve_narrow(lengths, 5, full, full, np.zeros(128, np.uint64))
    assert found == (0b11011, 0b11111)
    top = np.uint64((1 << 64) - 1)
    assert solve_narrow(np.zeros(0, np.int32), 64, top, top, np.zeros(128, np.uint64)) == (2**64 - 1, 0)
    words = np.zeros(4096, np.uint64)
    words[:4] = top
    assert solve_two_words(np.array([60, 60], np.int32), 128, words, 0, 64) is True
    assert solve_two_words(np.array([60, 60, 7], np.int32), 128, words, 0, 64) is False
    assert join_variables(np.zeros(0, np.int32), np.zeros(1, np.int32)) is None


# The same by both ways.


TRUTHS = ("rand25", "survey_colour", "sgt_pattern", "nonny", "jwilk")
"""Folders of ../shared/data with puzzles whose verdicts are known (test_truth)."""

SAME = (
    *("outcome", "stage", "n_solutions", "exhausted", "n_open_lines", "n_open", "n_rounds", "n_lines", "n_probes"),
    *("n_branches", "n_depth", "n_conflicts", "solution", "second_solution", "witness", "digest"),
)
"""Columns that do not depend on the clock."""


@library_only
@pytest.mark.slow
def test_every_verdict_and_count_is_that_of_numba(shared: Path, tmp_path: Path) -> None:
    prepare(*PARTS)
    folders = [ROOT / "datasets", *(shared / "data" / name for name in TRUTHS)]
    for way in ("numba", "library"):
        pnono("run", *folders, "-q", "--seconds", 2, "--out", way, cwd=tmp_path, PNONO_KERNELS=way)
    numba, library = (
        {(row["source"], row["index"]): row for row in pq.read_table(tmp_path / way / "rows").to_pylist()}
        for way in ("numba", "library")
    )
    assert numba.keys() == library.keys()
    decided = [key for key in numba if "timeout" not in (numba[key]["outcome"], library[key]["outcome"])]
    assert len(decided) > 6400
    assert len(decided) >= len(numba) - 5
    for key in decided:
        assert [library[key][column] for column in SAME] == [numba[key][column] for column in SAME], key


@library_only
@pytest.mark.parametrize(
    "modules",
    ["engine.cluster, parallel_nono.engine.worker, parallel_nono.kinds.nonogram", "web.serve.worker", "lanes.team"],
)
def test_workers_need_no_numba(modules: str) -> None:
    """Those of Ray, of the local page, and of lines mode: they solve, check and write text."""
    prepare(*PARTS)
    code = f"""
import sys
import parallel_nono.{modules}
from parallel_nono.checker.fast import check_set
from parallel_nono.generator import generate
from parallel_nono.lanes.compiling import compile_lanes
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import solve_set
from parallel_nono.attempt import Limits
compile_lanes()
solve_set(set_of([generate("noise", 20, 20, seed=1), generate("blobs", 80, 70, seed=1)]), Limits())
assert not {{"numba", "llvmlite"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PNONO_KERNELS": "library"})


# Sound files only.


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a seal, as the library is."""
    path = tmp_path / "own" / "basics-0123456789abcdef-x86-64-v3.so"
    path.parent.mkdir(mode=0o700)
    content = bytes(range(256)) * 8
    path.write_bytes(content + seal_of(path.name, content))
    path.chmod(0o644)
    return path


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


def renamed(path: Path) -> None:
    content = path.read_bytes()[:-SEAL_BYTES]
    path.write_bytes(content + seal_of("colour" + path.name, content))


SPOILT: list[tuple[Callable[[Path], object], str]] = [
    (flipped, "damaged"),
    (renamed, "damaged"),
    (lambda path: path.write_bytes(path.read_bytes()[:-1]), "damaged"),
    (lambda path: path.write_bytes(b""), "damaged"),
    (lambda path: path.chmod(0o646), "others may write it"),
    (lambda path: path.parent.chmod(0o777), "others may write it"),
]


@pytest.mark.parametrize(("spoil", "why"), SPOILT)
def test_what_is_not_sound_is_not_loaded(
    spoil: Callable[[Path], object], why: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(native, "tell", told.append)
    assert sound(file)
    spoil(file)
    assert not sound(file)
    (sentence,) = told
    assert sentence.startswith(f"{file}: {why}")
    assert sentence.endswith("it is not used")


def test_what_is_not_there_is_no_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "tell", lambda sentence: pytest.fail(sentence))
    assert not sound(tmp_path / "nothing.so")


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs root, to give files away")
def test_what_belongs_to_somebody_else_is_not_loaded(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(native, "tell", told.append)
    os.chown(file, 12345, 12345)
    assert not sound(file)
    assert "others may write it" in told[0]


def test_a_group_of_ones_own_may_write(file: Path) -> None:
    """Where every user has a group, what is installed is often writable for it, sources and all."""
    file.chmod(0o664)
    assert sound(file)


# Levels of processor.

V3 = "fpu sse2 ssse3 sse4_1 sse4_2 popcnt avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"


@pytest.mark.parametrize(
    ("flags", "levels"),
    [
        (V3, ["x86-64-v3"]),
        (f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl", ["x86-64-v3"]),
        (f"{V3} avx512f avx512bw avx512cd avx512dq avx512vl gfni", ["x86-64-v4-gfni", "x86-64-v3"]),
    ],
)
def test_the_level_is_what_the_processor_says(
    flags: str, levels: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = tmp_path / "cpuinfo"
    facts.write_text(f"processor\t: 0\nmodel name\t: Some\nflags\t\t: {flags}\nbugs\t\t: gfni\n\nprocessor\t: 1\n")
    monkeypatch.setattr(native, "CPU_FACTS", facts)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert native.levels_of_processor() == levels


def test_an_older_processor_has_a_level_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = tmp_path / "cpuinfo"
    monkeypatch.setattr(native, "CPU_FACTS", facts)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    seen = set()
    for text in (None, "flags : sse2\n", f"flags : {V3.replace('avx2 ', '')}\n"):
        if text is not None:
            facts.write_text(text)
        (level,) = native.levels_of_processor()
        assert level.startswith("native-")
        seen.add(level)
    assert len(seen) == 3
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert native.levels_of_processor() == ["aarch64"]


# Made where it is missing.


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    (tmp_path / "hook.non").write_text(HOOK)
    return tmp_path


def builders(folder: Path) -> list[int]:
    """Processes that make the library there."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"parallel_nono.kernels.build" in words and any(os.fsencode(folder) in word for word in words):
            found.append(int(path.parent.name))
    return found


def until(what: Callable[[], object], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


@library_only
@pytest.mark.slow
def test_two_first_starts_at_once_and_the_second_one(hook: Path) -> None:
    """Both solve, one builds for both, a later start compiles nothing; compiling is nobody's time."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(hook / "cache"), "PNONO_KERNELS": ""}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-m", "parallel_nono", "run", "hook.non", "--workers", "2", "--out"]
    both = [
        subprocess.Popen([*command, name], cwd=hook, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("one", "two")
    ]
    said = [process.communicate(timeout=300) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    for name, (out, error) in zip(("one", "two"), said, strict=True):
        assert error.count(b"compiling the solver: some seconds, only this first time") == 1
        (part,) = (hook / name / "rows").glob("*.parquet")
        (row,) = pq.read_table(part).to_pylist()
        assert (row["outcome"], row["solution"]) == ("unique", "##./#../###")
        assert row["solve_s"] < 0.5  # compiling takes seconds
        session = json.loads(pq.read_schema(part).metadata[b"pnono.session"])
        assert 0.5 < session["compiling_s"] < session["seconds"]
        shown = re.search(r"1 puzzle in ([\d.]+) s  \(([\d.]+) s of it compiling, ([\d,]+) puzzles/s\)", out.decode())
        assert shown
        whole, compiling, rate = (float(each.replace(",", "")) for each in shown.groups())
        assert whole == pytest.approx(session["seconds"], abs=0.01 * whole)
        assert compiling == pytest.approx(session["compiling_s"], abs=0.01 * compiling)
        assert rate == pytest.approx(1 / (session["seconds"] - session["compiling_s"]), abs=0.5)
    (folder,) = (hook / "cache/pnono").glob("native-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    until(lambda: not builders(folder))  # they end with whoever began them
    n = len(list(folder.glob("*.so")))
    told = pnono("--debug", "solve", "hook.non", cwd=hook, XDG_CACHE_HOME=str(hook / "cache"), PNONO_KERNELS="")
    assert n == len(PARTS) or f"in {folder}, {n} of {len(PARTS)} parts;" in told.stderr
    again = pnono("solve", "hook.non", cwd=hook, XDG_CACHE_HOME=str(hook / "cache"), PNONO_KERNELS="")
    assert again.stderr == ""
    needed = {"basics", "solve", "narrow"}
    assert needed <= {path.name.split("-")[0] for path in folder.glob("*.so")}
    # And one that is damaged is made again.
    spoilt = next(folder.glob("narrow-*.so"))
    flipped(spoilt)
    mended = pnono("solve", "hook.non", cwd=hook, XDG_CACHE_HOME=str(hook / "cache"), PNONO_KERNELS="")
    assert f"{spoilt}: damaged: it is not used" in mended.stderr
    assert "Unique" in mended.stdout
    assert sound(spoilt)


@library_only
@pytest.mark.slow
def test_the_builder_ends_with_whoever_waits(hook: Path) -> None:
    cache = hook / "cache"
    process = subprocess.Popen(
        [sys.executable, "-m", "parallel_nono", "solve", "hook.non"],
        cwd=hook,
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "PNONO_KERNELS": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: builders(cache))
    process.send_signal(signal.SIGKILL)
    process.wait()
    until(lambda: not builders(cache), 20)


@library_only
@pytest.mark.slow
@pytest.mark.parametrize("mishap", ["a linker that fails", "a builder that is killed"])
def test_where_it_cannot_be_made_numba_compiles(mishap: str, hook: Path) -> None:
    cache, tools = hook / "cache", hook / "tools"
    environment = {"XDG_CACHE_HOME": str(cache), "PNONO_KERNELS": "", "NUMBA_CACHE_DIR": os.environ.get("X", "")}
    if mishap == "a linker that fails":
        tools.mkdir()
        (tools / "ld.lld").write_text("#!/bin/sh\necho no room >&2\nexit 3\n")
        (tools / "ld.lld").chmod(0o755)
        environment["PATH"] = f"{tools}:{os.environ['PATH']}"
    process = subprocess.Popen(
        [sys.executable, "-m", "parallel_nono", "solve", "hook.non"],
        cwd=hook,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if mishap == "a builder that is killed":
        for pid in until(lambda: builders(cache)):
            os.kill(pid, signal.SIGKILL)
    out, error = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Unique" in out
    assert "Traceback" not in error
    (line,) = [line for line in error.splitlines() if "Numba compiles in this process" in line]
    assert ("linking failed (exit code 3): no room" if tools.exists() else "compiling ended with exit code") in line


def test_a_part_that_cannot_be_made_breaks_them_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Function values of the one way and kernels of the other do not go together."""
    told: list[str] = []
    monkeypatch.setattr(Late, "broken", False)
    monkeypatch.setattr(native, "tell", told.append)

    class Broken:
        def need(self, part: str) -> Any:
            if part == "solve":
                return type("Module", (), {"kernels.solve.solve": "library"})
            raise ImportError("narrow: no room")

    def solve() -> None: ...

    def propagate_narrow() -> None: ...

    solve.__module__, propagate_narrow.__module__ = "parallel_nono.kernels.solve", "parallel_nono.kernels.narrow"
    monkeypatch.setattr(native, "loaded", Broken)
    one, other = Late(solve, lambda: "numba"), Late(propagate_narrow, lambda: "value")
    assert one.get() == "library"
    assert other.get() == "value"
    assert one.get() == "numba"
    assert told == ["narrow: no room: Numba compiles in this process"]


def test_wishes(hook: Path) -> None:
    odd = pnono("solve", "hook.non", cwd=hook, PNONO_KERNELS="fast")
    assert "PNONO_KERNELS=fast: expected library or numba: it is ignored" in odd.stderr
    assert "Unique" in odd.stdout
    none = pnono("solve", "hook.non", cwd=hook, code=69, PNONO_KERNELS="library", XDG_CACHE_HOME=str(hook / "empty"))
    assert "PNONO_KERNELS=library: expected a library for" in none.stderr


@library_only
@pytest.mark.slow
def test_nobody_waits_for_a_reading_kernel(hook: Path) -> None:
    """Where it is not compiled, `parse` reads."""
    code = """
from parallel_nono.files.reading import read_many
from parallel_nono.kernels import native
text = b"3 3\\n2\\n1\\n3\\n3\\n1 1\\n1\\n"
rows = read_many([(f"{n}.nin", text) for n in range(2000)])
assert native.loaded().mode == native.BUILD and "parse" not in native.loaded().modules
print(rows.num_rows, set(rows.column("error").to_pylist()))
"""
    environment = {**os.environ, "XDG_CACHE_HOME": str(hook / "empty"), "PNONO_KERNELS": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout == "2000 {''}\n", done.stderr


def test_kernels_of_a_part_are_found_once() -> None:
    prepare("basics")
    from parallel_nono.kernels import survey

    names = [each.function.__name__ for each in kernel_functions(PARTS["basics"])]
    assert "survey" in names
    assert len(names) == len(set(names))
    assert survey.survey is not None


@library_only
def test_kernels_call_only_what_is_for_kernels() -> None:
    """What Python calls is a door to the library, which a kernel that Numba has to compile could not pass."""
    found = 0
    for module in (import_module(f"parallel_nono.{name}") for part in PARTS.values() for name in part):
        for function in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(function, ast.FunctionDef) and any(
                "kernel" in ast.unparse(d) for d in function.decorator_list
            ):
                calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
                called = {call.id for call in calls if isinstance(call, ast.Name)} - {a.arg for a in function.args.args}
                assert not [name for name in called if isinstance(vars(module).get(name), Late)], function.name
                found += 1
    assert found > 50


# Wheels.


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it is given to others."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (made,) = folder.glob("*.whl")
    return made


@pytest.mark.slow
def test_a_wheel_needs_no_numba_no_compiler_no_home_and_writes_nothing(wheel: Path, tmp_path: Path) -> None:
    assert re.fullmatch(r"parallel_nono-[\d.]+-cp311-abi3-manylinux_2_17_(x86_64|aarch64)\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        requires = re.findall(r"^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)
        assert [each for each in requires if "numba" in each and "extra" not in each] == []
        libraries = [name for name in archive.namelist() if name.startswith("parallel_nono/native/")]
        assert 1 <= len(libraries) <= 2
        archive.extractall(tmp_path / "site")
    # What else is installed, but for Numba.
    others = next(path for path in map(Path, sys.path) if (path / "numpy").is_dir())
    (tmp_path / "without").mkdir()
    for each in others.iterdir():
        if not re.match(r"numba|llvmlite|parallel_nono|__editable__|__pycache__", each.name):
            (tmp_path / "without" / each.name).symlink_to(each)
    (tmp_path / "hook.non").write_text(HOOK)
    for path in (tmp_path / "site").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path / 'site')!r}, {str(tmp_path / 'without')!r}]; "
        "sys.path[:] = [each for each in sys.path if 'site-packages' not in each]; "
        "from parallel_nono.cli import main; main(sys.argv[1:])"
    )
    for words in (
        ("solve", "hook.non"),
        ("lint", "hook.non"),
        ("line", "1 3", "???????"),
        ("run", "hook.non", "--out", "out", "--workers", "2"),
        ("warm-up",),
    ):
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, *words],
            env={"PATH": "/nonexistent", "PNONO_KERNELS": "library"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert "compiling" not in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        assert done.returncode == 0, (words, done.stderr)
    assert "that comes with the package" in done.stdout
    (row,) = pq.read_table(tmp_path / "out/rows").to_pylist()
    assert (row["outcome"], row["solution"]) == ("unique", "##./#../###")
    assert not [path for path in (tmp_path / "site").rglob("*") if path.suffix in (".nbi", ".nbc")]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("readelf"), reason="needs readelf (binutils)")
def test_the_library_asks_only_for_what_every_process_has(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in [each for each in archive.namelist() if each.startswith("parallel_nono/native/")]:
            path = Path(archive.extract(name, tmp_path))
            assert sound(path) or path.stat().st_mode & 0o22
            said = subprocess.run(
                ["readelf", "-dW", "--dyn-syms", path], capture_output=True, text=True, check=True
            ).stdout
            assert "NEEDED" not in said
            undefined = re.findall(r" UND (\w+)", said)
            assert undefined
            assert not [each for each in undefined if not native_names(each)], undefined
            exported = re.findall(r"FUNC +GLOBAL +DEFAULT +\d+ (\w+)", said)
            assert sorted(exported) == sorted(f"PyInit_pnono_{part}" for part in PARTS)
            assert file_name("all", "x").split("-")[1] == path.name.split("-")[1]


def native_names(symbol: str) -> bool:
    c = "clock_gettime memset memcpy memmove memcmp strlen write read usleep getpid _exit"
    return symbol.startswith(("Py", "_Py_")) or symbol in c.split()
