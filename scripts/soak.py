"""Runs that are broken on purpose, again and again: every puzzle must have one row, with the verdict it has in peace.

    python scripts/soak.py [--minutes M] [--seed N] [--workers W] [--puzzles P]

Each round makes a file of puzzles (tests/faults.py: most are solved after some milliseconds, some kill their worker,
hang, run for ever or can't be read) and runs it, mostly with Ray, now and then with threads. Meanwhile processes of Ray
(workers; in some rounds the raylet or the head) are killed or stopped and continued at random times, the wall clock of
driver and workers jumps in every other round, and up to three times the run is broken off (SIGKILL, SIGTERM, SIGINT or
SIGHUP to the driver) once some part of its rows is closed, and resumed. Parts are closed every second, so that a resume
goes on from work that is partly there. It ends with 1 at the first row that is missing, twice there or different.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PATH = f"{TESTS}:{ROOT}"
"""Where the runs import from: this tree, wherever another one may be installed."""

KINDS = {  # a word of tests/faults.py: its outcome, and how often it comes
    "number": ("unique", 20),
    "slow:": ("unique", 80),
    "kill": ("crashed", 0.15),
    "segfault": ("crashed", 0.05),
    "raise": ("crashed", 0.2),
    "endless": ("timeout", 0.1),
    "hang": ("timeout", 0.03),
    "nonsense": ("invalid", 0.5),
}

JUMPS = """
import time
real, began = time.time, time.monotonic()
time.time = lambda: real() + (0, 86400, -3600, -10**9)[int(2 * (time.monotonic() - began)) % 4]
"""


def puzzles(rng: random.Random, n: int, kinds: dict[str, tuple[str, float]]) -> list[tuple[str, str]]:
    """(word, outcome) of n puzzles."""
    made = []
    for word in rng.choices(list(kinds), [share for _, share in kinds.values()], k=n):
        outcome = KINDS[word][0]
        if word == "number":
            word = str(rng.randrange(10**6))
        made.append((f"slow:{rng.uniform(0.001, 0.02):.5f}" if word == "slow:" else word, outcome))
    return made


SAFE = {word: share for word, share in KINDS.items() if word not in ("kill", "segfault", "hang")}
"""What threads survive: with them a puzzle that kills its worker kills the run."""

BREAKS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
ORDERLY = {0, 69, *(128 + number for number in BREAKS)}
"""Exit codes of a run that is to be resumed. 69: the head or the raylet was killed."""

ENDED = (0, 70)
"""Exit codes of a run that came to its end; 70: with puzzles that are crashed."""

VICTIMS = {"worker": "ray::Worker", "agent": "Agent", "raylet": "raylet/raylet", "gcs": "gcs_server"}


def rows(out: Path) -> list[dict[str, Any]]:
    return [row for part in out.glob("rows/*.parquet") for row in pq.read_table(part).to_pylist()]


def closed_parts(out: Path) -> int:
    return len(list(out.glob("rows/*.parquet")))


def default_signals() -> None:
    """A shell may have had us ignore Ctrl-C, as it does in the background."""
    for number in BREAKS[1:]:
        signal.signal(number, signal.SIG_DFL)


def victims(driver: subprocess.Popen[bytes], name: str) -> list[psutil.Process]:
    """Processes of the run that are of this kind."""
    found = []
    for process in psutil.Process(driver.pid).children(recursive=True):
        with suppress(psutil.Error):
            if VICTIMS[name] in " ".join(process.cmdline()[:1]):
                found.append(process)
    return found


def torment(
    driver: subprocess.Popen[bytes], rng: random.Random, out: Path, harm: list[str], last: bool
) -> Counter[str]:
    """Kill and stop what belongs to a run until it ends, or is broken off itself.

    harm  kinds of VICTIMS.  last  let the run come to its end.
    """
    done: Counter[str] = Counter()
    wanted, began = closed_parts(out) + rng.randrange(1, 6), time.monotonic()
    while driver.poll() is None:
        time.sleep(rng.uniform(0.5, 4))
        if time.monotonic() - began > 900:
            raise SystemExit(f"hangs: {out}")
        try:
            if not last and closed_parts(out) >= wanted:
                number = rng.choice(BREAKS)
                driver.send_signal(number)
                done[f"driver {number.name}"] += 1
                driver.wait(60)
                return done
            found = victims(driver, name := rng.choice(harm)) if harm else []
            if found and rng.random() < (0.5 if name == "worker" else 0.1):
                process = rng.choice(found)
                if name == "worker" and rng.random() < 0.3:
                    process.send_signal(signal.SIGSTOP)
                    time.sleep(rng.uniform(0.1, 3))
                    process.send_signal(signal.SIGCONT)
                    done["workers stopped"] += 1
                else:
                    process.kill()
                    done[f"{name} killed"] += 1
        except psutil.NoSuchProcess:  # it ended by itself meanwhile
            continue
    return done


def one_round(seed: int, n: int, workers: int, folder: Path) -> dict[str, Any]:
    """Errors: SystemExit with what is wrong."""
    rng = random.Random(seed)
    engine = "local" if seed % 5 == 0 else "ray"
    wanted = puzzles(rng, n, SAFE if engine == "local" else KINDS)
    harm = {"local": [], "ray": ["worker", "agent", "raylet", "gcs"] if seed % 3 == 0 else ["worker"]}[engine]
    (folder / "puzzles.faults").write_text("\n".join(word for word, _ in wanted))
    environment = {**os.environ, "PYTHONPATH": PATH}
    if seed % 2:
        (folder / "clock").mkdir(exist_ok=True)
        (folder / "clock/sitecustomize.py").write_text(JUMPS)
        environment["PYTHONPATH"] = f"{folder / 'clock'}:{PATH}"
    out = folder / f"out-{seed}"
    command = [
        sys.executable,
        str(TESTS / "faults_cli.py"),
        "run",
        "puzzles.faults",
        "--kind",
        "faults",
        "-q",
        "--resume",
    ]
    command += ["--engine", engine, "--workers", str(workers), "--seconds", "2", "--out", str(out)]
    began, done, resumed_from = time.monotonic(), Counter[str](), []
    breaks_left = rng.randrange(1, 4)
    while True:
        driver = subprocess.Popen(command, cwd=folder, env=environment, preexec_fn=default_signals)
        done += torment(driver, rng, out, harm, last=breaks_left == 0)
        if breaks_left == 0 and driver.returncode in ENDED:
            break
        if driver.returncode not in ORDERLY | {-signal.SIGKILL, *ENDED}:
            raise SystemExit(f"seed {seed}: exit code {driver.returncode} after {dict(done)}; see {out}")
        breaks_left = max(0, breaks_left - 1)
        harm = harm[:1]  # so that it comes to an end
        resumed_from.append(len(rows(out)))
    found: dict[int, list[str]] = {}
    for row in rows(out):
        found.setdefault(row["index"], []).append(row["outcome"])
    wrong = [
        f"puzzle {index} ({word}): expected {outcome}, found {found.get(index)}"
        for index, (word, outcome) in enumerate(wanted, start=1)
        if found.get(index) != [outcome]
    ]
    # Who loses two workers over one puzzle must take it for the cause.
    blamed = [
        index for index, (_, outcome) in enumerate(wanted, start=1) if found.get(index) == ["crashed"] != [outcome]
    ]
    if len(blamed) <= done["worker killed"] // 2:
        wrong = [line for line in wrong if "found ['crashed']" not in line]
    if wrong or len(found) != n:
        told = f"seed {seed}: {len(found)} puzzles of {n} after {dict(done)}; see {out}"
        raise SystemExit("\n".join([told, *wrong[:20]]))
    told = Counter(outcomes[0] for outcomes in found.values())
    shutil.rmtree(out)
    return {
        "seed": seed,
        "engine": engine,
        "rows": n,
        "resumed_from": resumed_from,
        **done,
        "seconds": round(time.monotonic() - began, 1),
        **told,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--puzzles", type=int, default=3000)
    options = parser.parse_args()
    until, total = time.monotonic() + 60 * options.minutes, Counter[str]()
    folder = Path(tempfile.mkdtemp(prefix="pnono-soak-"))
    try:
        for seed in range(options.seed, sys.maxsize):
            told = one_round(seed, options.puzzles, options.workers, folder)
            print(json.dumps(told), flush=True)
            numbers = {name: value for name, value in told.items() if isinstance(value, int | float)}
            resumes = told["resumed_from"]
            total.update(numbers | {"rounds": 1, "resumes": len(resumes), "of partial work": sum(map(bool, resumes))})
            del total["seed"]
            if time.monotonic() > until:
                break
    except SystemExit as ending:
        raise SystemExit(f"{ending}\nkept: {folder}") from None
    shutil.rmtree(folder, ignore_errors=True)
    print(f"all well: {dict(total)}")


if __name__ == "__main__":
    main()
