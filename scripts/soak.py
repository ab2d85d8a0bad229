"""Runs that are broken on purpose, again and again: every puzzle must have one row, with the verdict it has in peace.

    python scripts/soak.py [--minutes M] [--seed N] [--workers W] [--puzzles P]

Each round makes a file of puzzles (tests/faults.py: most are solved after some milliseconds, some kill their worker,
hang, run for ever or can't be read) and runs it with Ray, while workers are killed at random times, the wall clock of
driver and workers jumps in every other round, and once or twice the driver is killed and the run resumed. It ends with
1 at the first row that is missing, twice there or different.
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
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

TESTS = Path(__file__).resolve().parents[1] / "tests"

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


def puzzles(rng: random.Random, n: int) -> list[tuple[str, str]]:
    """(word, outcome) of n puzzles."""
    made = []
    for word in rng.choices(list(KINDS), [share for _, share in KINDS.values()], k=n):
        outcome = KINDS[word][0]
        if word == "number":
            word = str(rng.randrange(10**6))
        made.append((f"slow:{rng.uniform(0.001, 0.02):.5f}" if word == "slow:" else word, outcome))
    return made


def rows(out: Path) -> list[dict[str, Any]]:
    return [row for part in out.glob("rows/*.parquet") for row in pq.read_table(part).to_pylist()]


def kill_some(driver: subprocess.Popen[bytes], rng: random.Random, driver_too: bool) -> Counter[str]:
    """Kill workers now and then until the driver ends, or is killed itself."""
    killed: Counter[str] = Counter()
    deadline = time.monotonic() + rng.uniform(8, 20) if driver_too else float("inf")
    while driver.poll() is None:
        time.sleep(rng.uniform(0.5, 4))
        if time.monotonic() > deadline:
            driver.kill()
            driver.wait()
            killed["driver"] += 1
            return killed
        try:
            below = psutil.Process(driver.pid).children(recursive=True)
            workers = [process for process in below if "ray::Worker" in " ".join(process.cmdline()[:1])]
            if workers and rng.random() < 0.5:
                rng.choice(workers).send_signal(signal.SIGKILL)
                killed["workers"] += 1
        except psutil.NoSuchProcess:  # it ended by itself meanwhile
            continue
    return killed


def one_round(seed: int, n: int, workers: int, folder: Path) -> dict[str, Any]:
    """Errors: SystemExit with what is wrong."""
    rng = random.Random(seed)
    wanted = puzzles(rng, n)
    (folder / "puzzles.faults").write_text("\n".join(word for word, _ in wanted))
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    if seed % 2:
        (folder / "clock").mkdir(exist_ok=True)
        (folder / "clock/sitecustomize.py").write_text(JUMPS)
        environment["PYTHONPATH"] = f"{folder / 'clock'}:{TESTS}"
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
    command += ["--engine", "ray", "--workers", str(workers), "--seconds", "2", "--out", str(out)]
    began, killed, code = time.monotonic(), Counter[str](), None
    for times_left in reversed(range(rng.randrange(3) + 1)):
        driver = subprocess.Popen(command, cwd=folder, env=environment)
        killed += kill_some(driver, rng, times_left > 0)
        code = driver.returncode
        if code != -signal.SIGKILL:
            break
    found: dict[int, list[str]] = {}
    for row in rows(out):
        found.setdefault(row["index"], []).append(row["outcome"])
    wrong = [
        f"puzzle {index} ({word}): expected {outcome}, found {found.get(index)}"
        for index, (word, outcome) in enumerate(wanted, start=1)
        if found.get(index) != [outcome]
    ]
    if code or wrong or len(found) != n:
        raise SystemExit(f"seed {seed}: exit code {code}, {len(found)} puzzles of {n}\n" + "\n".join(wrong[:20]))
    told = Counter(outcomes[0] for outcomes in found.values())
    shutil.rmtree(out)
    return {
        "seed": seed,
        "rows": n,
        **killed,
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
            total.update({name: value for name, value in told.items() if name != "seed"} | {"rounds": 1})
            if time.monotonic() > until:
                break
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"all well: {dict(total)}")


if __name__ == "__main__":
    main()
