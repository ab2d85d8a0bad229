"""Surroundings that go wrong, one after the other: what `pnono` then does, and what it should do.

    python scripts/attack.py [--only WORD] [--large] [--python PATH]...

Each attack is a function that returns what happened as a few words and figures, or raises AssertionError with what
should have been. A table is printed at the end; the exit code is 1 if some attack did not end as expected. What this
system does not allow (cgroups, mounts, namespaces, `faketime`) is `skipped` and says why.

    --large         also those that write gigabytes or take minutes: a folder of 100,000 files, a file of 500 MB
    --python PATH   run the attack `pythons` with that interpreter, in which pnono is installed
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"
SOLUTION = "##./#../###"
N = 300
"""Puzzles of a usual run."""


class Skipped(Exception):
    """This system does not allow it."""


Attack = Callable[[Path], str]
ATTACKS: list[Attack] = []
LARGE: list[Attack] = []


def attack(function: Attack) -> Attack:
    ATTACKS.append(function)
    return function


def large(function: Attack) -> Attack:
    LARGE.append(function)
    return function


# What the attacks share.


def pnono(
    folder: Path,
    *words: object,
    prefix: Sequence[str] = (),
    before: Callable[[], None] | None = None,
    seconds: float = 300.0,
    text: str | None = None,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """`pnono` of this tree. Errors: AssertionError if it hangs, or shows a traceback."""
    process = started(folder, *words, prefix=prefix, before=before, **variables)
    try:
        out, err = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        for child in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        process.kill()
        raise AssertionError(f"still running after {seconds:g} s: {process.communicate()[1][-300:]}") from None
    assert "Traceback" not in err, err[-2000:]
    return subprocess.CompletedProcess(list(map(str, words)), process.returncode, out, err)


def started(
    folder: Path,
    *words: object,
    prefix: Sequence[str] = (),
    before: Callable[[], None] | None = None,
    **variables: str,
) -> subprocess.Popen[str]:
    def begin() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if before is not None:
            before()

    return subprocess.Popen(
        [*prefix, sys.executable, "-P", "-m", "parallel_nono", *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=begin,
    )


def outcomes(out: Path) -> dict[str, int]:
    """How many rows of each outcome."""
    found: dict[str, int] = {}
    for part in out.glob("rows/*.parquet"):
        for value in pq.read_table(part, columns=["outcome"])["outcome"].to_pylist():
            found[value] = found.get(value, 0) + 1
    return found


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Its last line on standard error."""
    return (done.stderr.strip().splitlines() or ["nothing"])[-1][:160]


def some(folder: Path, n: int = N, side: int = 12, name: str = "set.sgt") -> Path:
    """A file of n puzzles that lines, probes and search decide in milliseconds."""
    size = ("--count", n, "--height", side, "--width", side, "--set", "density=55")
    done = pnono(folder, "generate", "noise", name, *size)
    assert done.returncode == 0, done.stderr
    return folder / name


def stubborn(folder: Path) -> Path:
    """A puzzle that takes every stage minutes."""
    pnono(folder, "generate", "domino", "hard.non", "--height", 63, "--width", 63)
    return folder / "hard.non"


def limited(**limits: int) -> Callable[[], None]:
    """What sets resource limits: AS=bytes, NOFILE=number, ..."""

    def begin() -> None:
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))

    return begin


def resumed(folder: Path, *words: object, expected: int, **variables: str) -> None:
    """The same run goes on and is complete."""
    done = pnono(folder, *words, "--resume", **variables)
    assert done.returncode == 0, f"resume: {done.returncode}, {said(done)}"
    total = sum(outcomes(folder / "out").values())
    assert total == expected, f"resume: {total} rows of {expected}"


# Attacks.


@attack
def closed_descriptors(folder: Path) -> str:
    """Standard input, output, error closed, alone and together, for the usual commands."""
    (folder / "hook.non").write_text(HOOK)
    tried = 0
    for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):

        def close(closed: tuple[int, ...] = closed) -> None:
            for number in closed:
                os.close(number)

        for words in (("solve", "hook.non"), ("run", "hook.non", "--out", f"o{tried}"), ("--version",), ("lint", "-")):
            done = pnono(folder, *words, before=close, seconds=60)
            tried += 1
            allowed = (0, 1, 2, 3, 74) if 0 in closed or 1 in closed else (0, 1, 2, 3)
            assert done.returncode in allowed, f"{words} without {closed}: {done.returncode}, {said(done)}"
            if words[0] == "run":
                assert done.returncode in (0, 74), f"{words} without {closed}: {done.returncode}, {said(done)}"
                if done.returncode == 0:
                    assert outcomes(folder / str(words[-1])) == {"unique": 1}
    return f"{tried} commands"


@attack
def little_address_space(folder: Path) -> str:
    """From far too little to enough: a sentence and a code, or all rows; never a crashed row and 0."""
    some(folder)
    told = []
    for mib in (400, 700, 1000, 1500, 2500, 4000):
        shutil.rmtree(folder / "out", ignore_errors=True)
        words = ("run", "set.sgt", "--engine", "local", "--out", "out", "-q")
        done = pnono(folder, *words, before=limited(AS=mib << 20), seconds=200)
        found = outcomes(folder / "out")
        told.append(f"{mib} MiB: {done.returncode}")
        if done.returncode == 0:
            assert sum(found.values()) == N, f"{mib} MiB: {found}"
            assert "crashed" not in found, f"{mib} MiB: {found}"
        else:
            assert done.stderr.strip(), f"{mib} MiB: {done.returncode} and nothing said"
    return ", ".join(told)


@attack
def few_open_files(folder: Path) -> str:
    some(folder)
    told = []
    for most in (8, 16, 24, 64):
        shutil.rmtree(folder / "out", ignore_errors=True)
        done = pnono(folder, "run", "set.sgt", "--out", "out", "-q", before=limited(NOFILE=most), seconds=120)
        found = outcomes(folder / "out")
        told.append(f"{most}: {done.returncode}")
        if done.returncode == 0:
            assert sum(found.values()) == N
            assert "crashed" not in found, f"{most} files: {found}"
        else:
            assert done.stderr.strip(), f"{most} files: {done.returncode} and nothing said"
    return ", ".join(told)


@attack
def small_files_only(folder: Path) -> str:
    """A limit on the size of files, also for compiled code: 74 and a sentence, or all rows."""
    some(folder)
    told = []
    for size in (1 << 10, 16 << 10, 256 << 10, 4 << 20):
        shutil.rmtree(folder / "out", ignore_errors=True)
        variables = {"NUMBA_CACHE_DIR": str(folder / f"cache-{size}")} if size == 16 << 10 else {}
        words = ("run", "set.sgt", "--engine", "local", "--out", "out", "-q")
        done = pnono(folder, *words, before=limited(FSIZE=size), **variables)
        found = outcomes(folder / "out")
        told.append(f"{size >> 10} KiB: {done.returncode}")
        assert done.returncode in (0, 74), f"{size} bytes: {done.returncode}, {said(done)}"
        assert "crashed" not in found, f"{size} bytes: {found}"
        resumed(folder, *words, expected=N)
    return ", ".join(told)


@attack
def few_processes(folder: Path) -> str:
    """No process may be started: what needs the SAT solver says why."""
    if os.getuid() == 0:
        raise Skipped("the limit on processes does not hold for root")
    stubborn(folder)
    done = pnono(folder, "run", "hard.non", "--seconds", "5", "--out", "out", before=limited(NPROC=1))
    return f"{done.returncode}: {said(done)}"


UNSHARE = ("unshare", "--mount", "--fork", "sh", "-c")


def in_mounts(folder: Path, script: str, seconds: float = 200.0) -> subprocess.CompletedProcess[str]:
    """A shell script that may mount. Errors: Skipped."""
    if subprocess.run([*UNSHARE, "mount -t tmpfs none /mnt"], capture_output=True, check=False).returncode:
        raise Skipped("needs the right to make mounts (root)")
    command = script.replace("PNONO", f"{sys.executable} -P -m parallel_nono")
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*UNSHARE, command], cwd=folder, env=variables, capture_output=True, text=True, timeout=seconds, check=False
    )


@attack
def small_shared_memory(folder: Path) -> str:
    """/dev/shm of 16 MiB, as containers have: Ray works all the same, or it is one sentence and 69."""
    some(folder)
    script = "mount -t tmpfs -o size=16m none /dev/shm && PNONO run set.sgt --engine ray --workers 2 --out out -q"
    done = in_mounts(folder, script)
    found = outcomes(folder / "out")
    assert done.returncode in (0, 69), f"{done.returncode}: {said(done)}"
    assert done.returncode or sum(found.values()) == N, found
    return f"{done.returncode}, {sum(found.values())} rows; {said(done)}"


@attack
def remounted_read_only(folder: Path) -> str:
    """The disk of the results becomes read-only in the middle: 74, what was done is kept, and it is gone on with."""
    stubborn(folder)
    some(folder)
    script = """
mkdir disk && mount -t tmpfs -o size=64m none disk || exit 99
PNONO run set.sgt hard.non --seconds 20 --engine local --workers 2 --out disk/out -q & run=$!
sleep 6; n=0
until mount -o remount,ro disk 2>/dev/null; do
    n=$((n + 1)); [ $n -lt 1000 ] || { kill $run; exit 98; }; sleep 0.01
done
wait $run; echo "first $?"
mount -o remount,rw disk
PNONO run set.sgt hard.non --seconds 2 --engine local --workers 2 --out disk/new -q; echo "second $?"
ls disk/out/rows
"""
    done = in_mounts(folder, script)
    if done.returncode == 98:
        raise Skipped("the system does not make a disk read-only while a file on it is open for writing")
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-300:]}"
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert "first 74" in done.stdout, done.stdout + done.stderr[-300:]
    assert "second 0" in done.stdout, done.stdout
    return f"74: {done.stderr.strip().splitlines()[0][:120]}"


@attack
def little_memory_in_a_cgroup(folder: Path) -> str:
    """A control group of 600 MiB: a puzzle that wants more costs itself, or the run ends and is gone on with."""
    base = Path("/sys/fs/cgroup/memory")
    group = base / f"pnono-attack-{os.getpid()}"
    if not (base / "memory.limit_in_bytes").exists():
        raise Skipped("needs control groups of version 1, and root")
    try:
        group.mkdir()
    except OSError as error:
        raise Skipped(f"control groups can't be made here: {error.strerror}") from error
    try:
        (group / "memory.limit_in_bytes").write_text(str(600 << 20))

        def enter() -> None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

        some(folder)
        words = ("run", "set.sgt", "--engine", "local", "--out", "out", "-q")
        done = pnono(folder, *words, before=enter)
        found = outcomes(folder / "out")
        assert done.returncode == 0, f"{done.returncode}: {said(done)}"
        assert sum(found.values()) == N
        assert "crashed" not in found, found
        peak = int((group / "memory.max_usage_in_bytes").read_text()) >> 20
        return f"0, {N} rows, peak {peak} MiB"
    finally:
        with suppress(OSError):
            group.rmdir()


@attack
def host_without_a_name(folder: Path) -> str:
    """The host's name can't be resolved: threads and Ray work all the same."""
    some(folder)
    if subprocess.run(["unshare", "--uts", "hostname", "x"], capture_output=True, check=False).returncode:
        raise Skipped("needs the right to rename a host (root)")
    told = []
    for engine in ("local", "ray"):
        script = f"hostname nobody-knows-me.invalid && exec {sys.executable} -P -m parallel_nono"
        words = f"run set.sgt --engine {engine} --workers 2 --out out-{engine} -q"
        done = subprocess.run(
            ["unshare", "--uts", "sh", "-c", f"{script} {words}"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        n = sum(outcomes(folder / f"out-{engine}").values())
        assert (done.returncode, n) == (0, N), f"{engine}: {done.returncode}, {n} rows, {said(done)}"
        told.append(f"{engine} {n} rows")
    return ", ".join(told)


@attack
def clock_400_days_ahead(folder: Path) -> str:
    """Runs, resume and report with a wall clock that is 400 days ahead, then right again."""
    if shutil.which("faketime") is None:
        raise Skipped("needs `faketime`")
    some(folder)
    later = ("faketime", "-f", "+400d")
    done = pnono(folder, "run", "set.sgt", "--engine", "local", "--out", "out", "-q", prefix=later)
    assert done.returncode == 0, said(done)
    resumed(folder, "run", "set.sgt", "--engine", "local", "--out", "out", "-q", expected=N)
    report = pnono(folder, "report", "out", prefix=later)
    assert report.returncode == 0, said(report)
    return f"{N} rows, resume and report"


@attack
def stopped_and_continued(folder: Path) -> str:
    """SIGSTOP for ten seconds, then SIGCONT: times may be longer, verdicts are the same."""
    stubborn(folder)
    some(folder, 3000, 15)
    words = (
        "run",
        "set.sgt",
        "hard.non",
        "--seconds",
        "8",
        "--engine",
        "local",
        "--workers",
        "2",
        "--out",
        "out",
        "-q",
    )
    process = started(folder, *words)
    time.sleep(5)
    process.send_signal(signal.SIGSTOP)
    time.sleep(10)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=120)
    found = outcomes(folder / "out")
    assert process.returncode == 0, err
    assert sum(found.values()) == 3001, found
    assert "crashed" not in found, found
    return f"0, {found}"


@attack
def hung_up(folder: Path) -> str:
    """SIGHUP in the middle: 129, nothing left behind, and it is gone on with."""
    stubborn(folder)
    some(folder)
    words = ("run", "set.sgt", "hard.non", "--seconds", "6", "--engine", "local", "--out", "out", "-q")
    process = started(folder, *words)
    time.sleep(5)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 129, f"{process.returncode}: {err}"
    assert not (folder / "out/.tmp").exists()
    resumed(folder, *words, expected=N + 1)
    return "129, resume complete"


@attack
def broken_settings_of_numba(folder: Path) -> str:
    """Variables that Numba reads, with a value that means nothing: the solution, and one line; no traceback. Each has
    a cache of its own and compiles for seconds, so it is a dozen of them, others each time."""
    (folder / "hook.non").write_text(HOOK)
    from numba.core import config

    source = Path(config.__file__).read_text(encoding="utf-8")
    names = sorted({word for word in source.replace('"', " ").replace("'", " ").split() if word.startswith("NUMBA_")})
    names = [name for name in names if name.replace("_", "").isalnum() and not name.startswith("NUMBA_CUDA")]
    wrong = []
    usual = str(folder / "cache")
    chosen = random.sample(sorted({*names} - {"NUMBA_CACHE_DIR"}), 12)
    for name in chosen:
        done = pnono(folder, "solve", "hook.non", NUMBA_CACHE_DIR=usual, **{name: "nonsense"})
        if done.returncode or "Unique" not in done.stdout:
            wrong.append(f"{name}: {done.returncode}, {said(done)}")
    assert not wrong, "; ".join(wrong)
    return ", ".join(chosen)


@attack
def ray_killed_after_parts_were_closed(folder: Path) -> str:
    """Three minutes of the soak, whose breaks wait for closed parts."""
    command = [sys.executable, str(ROOT / "scripts/soak.py"), "--minutes", "3", "--workers", "2", "--puzzles", "1500"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr[-600:]
    return done.stdout.strip().splitlines()[-1]


@large
def folder_of_100_000_files(folder: Path) -> str:
    (folder / "many").mkdir()
    rng = random.Random(1)
    for number in range(100_000):
        cells = [[rng.random() < 0.5 for _ in range(3)] for _ in range(3)]
        lines = [*cells, *zip(*cells, strict=True)]
        clues = [
            " ".join(str(len(run)) for run in "".join(".#"[c] for c in line).split(".") if run) or "0" for line in lines
        ]
        (folder / f"many/{number:06}.nin").write_text("3 3\n" + "\n".join(clues) + "\n")
    began = time.monotonic()
    done = pnono(folder, "run", "many", "--engine", "local", "--out", "out", "-q", seconds=1200)
    found = outcomes(folder / "out")
    assert done.returncode == 0, said(done)
    assert sum(found.values()) == 100_000, found
    assert set(found) == {"unique", "multiple"}, found
    return f"{time.monotonic() - began:.0f} s, {found}"


@large
def valid_file_of_500_mb(folder: Path) -> str:
    """One text of puzzles, valid to the end."""
    one = some(folder, 2000, 25, "part.sgt").read_bytes()
    times = 500_000_000 // len(one) + 1
    with (folder / "big.sgt").open("wb") as file:
        for _ in range(times):
            file.write(one)
    began = time.monotonic()
    words = ("run", "big.sgt", "--engine", "local", "--workers", "2", "--seconds", "1", "--out", "out", "-q")
    process = started(folder, *words, "--plan", "lines-only")
    peak = 0
    while process.poll() is None and time.monotonic() - began < 1800:
        with suppress(psutil.Error):
            peak = max(peak, psutil.Process(process.pid).memory_info().rss)
        time.sleep(0.5)
    _, err = process.communicate(timeout=60)
    n = sum(outcomes(folder / "out").values())
    size = (folder / "big.sgt").stat().st_size / 1e6
    assert process.returncode in (0, 3), f"{process.returncode}: {err[-300:]}"
    if n == 1:  # files are read up to 512 MiB
        return f"{size:.0f} MB refused: {pq.read_table(next((folder / 'out/rows').glob('*')))['error'][0]}"
    assert n == 2000 * times, f"{n} rows of {2000 * times}"
    return f"{size:.0f} MB, {n:,} rows in {time.monotonic() - began:.0f} s, peak {peak >> 20} MiB"


def pythons(paths: list[str]) -> Attack:
    def run(folder: Path) -> str:
        (folder / "hook.non").write_text(HOOK)
        told = []
        for path in paths:
            code = "import sys; from parallel_nono.cli import entry; entry()"
            for words in (
                ("solve", "hook.non"),
                ("run", "hook.non", "--engine", "ray", "--out", f"out{len(told)}", "-q"),
            ):
                done = subprocess.run(
                    [path, "-P", "-c", code, *words],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=False,
                )
                assert done.returncode == 0, f"{path}: {done.returncode}, {done.stderr[-300:]}"
            row = pq.read_table(folder / f"out{len(told)}/rows").to_pylist()[0]
            assert (row["outcome"], row["solution"]) == ("unique", SOLUTION), row
            version = subprocess.run([path, "-V"], capture_output=True, text=True, check=True).stdout.strip()
            told.append(f"{version}: solve, run with Ray")
        return "; ".join(told)

    run.__name__ = "pythons"
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="attacks whose names hold this word")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--python", action="append", default=[], help="another interpreter with pnono")
    options = parser.parse_args()
    attacks = [*ATTACKS, *(LARGE if options.large else []), *([pythons(options.python)] if options.python else [])]
    results: list[dict[str, Any]] = []
    for one in attacks:
        if options.only not in one.__name__:
            continue
        folder, began = Path(tempfile.mkdtemp(prefix="pnono-attack-")), time.monotonic()
        try:
            verdict, told = "as expected", one(folder)
        except Skipped as why:
            verdict, told = "skipped", str(why)
        except (AssertionError, subprocess.TimeoutExpired) as error:
            verdict, told = "NOT AS EXPECTED", str(error)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        seconds = round(time.monotonic() - began, 1)
        results.append({"attack": one.__name__, "verdict": verdict, "seconds": seconds, "told": told})
        print(json.dumps(results[-1]), flush=True)
    width = max((len(result["attack"]) for result in results), default=0)
    for result in results:
        told = " ".join(str(result["told"]).split())[:200]
        print(f"{result['attack']:{width}}  {result['verdict']:15}  {result['seconds']:7} s  {told}")
    sys.exit(any(result["verdict"] == "NOT AS EXPECTED" for result in results))


if __name__ == "__main__":
    main()
