"""How often `auto` was right: jobs of six kinds, each with every choice that one could have made instead.

    python scripts/bench/auto.py [--scale X] [--turns N] [--workers N] [--only JOB ...] [--folder DIR]

A run is a fresh `pnono run` process whose kernels are compiled; seconds are the wall's, of the whole process, the least
of the turns; a choice that takes three times as long as the best is given up. Regret is what `auto` took over the best
of all. It was right where that is at most a tenth, or 0.3 s; where it did the same as the best one (the engine, and how
many puzzles had their lines shared out), the rest is the machine's, and it was right too. CPU seconds stand beside,
without those of Ray's own processes. Why it chose so, and what it took to be left, are what the run says of itself.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parallel_nono.files.packed import write_packed
from parallel_nono.generator import generate, generate_huge, generate_set
from parallel_nono.puzzleset import set_of
from parallel_nono.report.parquet import sessions

CHOICES = {
    "local": ["--engine", "local"],
    "ray": ["--engine", "ray"],
    "lines": ["--mode", "lines"],
    "puzzles": ["--mode", "puzzles"],
    "auto": [],
}
SHARE, SECONDS = 0.1, 0.3
"""A choice is right within this share of the best, or so many seconds of it."""

HOPELESS, LEAST_S = 3.0, 10.0
"""A choice that takes so many times as long as the best is given up, but no run before so many seconds."""


def easy(n: int) -> Iterator[pa.RecordBatch]:
    """Pictures of 20x20, nearly all decided by lines."""
    for at in range(0, n, 4096):
        yield generate_set("blobs", min(4096, n - at), 20, 20, seed=at)


def hard(n: int) -> Iterator[pa.RecordBatch]:
    """Twenty easy ones to each that the SAT solver gets."""
    yield from easy(20 * n)
    yield set_of([generate("domino", 21, 21, seed) for seed in range(n)])


def huge(n: int, side: int, density: int) -> Iterator[pa.RecordBatch]:
    """Noise that lines decide in many rounds."""
    for seed in range(n):
        yield generate_huge("noise", side, side, seed=seed, density=density)


@dataclass(frozen=True)
class Job:
    """What is solved, by how many workers (0: as many as asked for)."""

    name: str
    puzzles: Callable[[float], Iterator[pa.RecordBatch]]
    workers: int = 0


JOBS = (
    Job("small", lambda scale: easy(int(300 * scale))),
    Job("easy", lambda scale: easy(int(100_000 * scale))),
    Job("hard", lambda scale: hard(int(80 * scale))),
    Job("one huge", lambda scale: huge(1, int(3000 * scale**0.5), 90)),
    Job("few big", lambda scale: huge(4, int(1000 * scale**0.5), 82)),
    Job("one worker", lambda scale: easy(int(30_000 * scale)), 1),
)


@dataclass
class Found:
    """A job with one choice: the least seconds of its runs, and what the run of these says of itself."""

    wall_s: float = float("inf")
    cpu_s: float = 0.0
    session: dict[str, Any] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    n_lines: int = 0
    """Puzzles whose lines were shared out."""

    @property
    def did(self) -> tuple[str, int]:
        """What work came to be done by whom."""
        return self.session.get("engine", ""), self.n_lines


def measure(path: Path, workers: int, choice: list[str], limit_s: float) -> Found | None:
    """One run in a process of its own; None if it took longer than that."""
    with tempfile.TemporaryDirectory(prefix="pnono-bench-") as folder:
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "parallel_nono", "run", str(path), "--out", str(out), "--quiet"]
        command += ["--workers", str(workers), *choice]
        before, began = os.times(), time.perf_counter()
        process = subprocess.Popen(command)
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # ends in order, Ray too
            process.wait()
            return None
        wall, after = time.perf_counter() - began, os.times()
        if code:
            sys.exit(f"{' '.join(command)}: exit code {code}")
        rows = pq.read_table(out / "rows", columns=["outcome", "mode"])
        counts = rows["outcome"].value_counts().to_pylist()
        return Found(
            wall,
            after.children_user + after.children_system - before.children_user - before.children_system,
            sessions(out)[-1],
            {count["values"]: count["counts"] for count in counts},
            rows["mode"].to_pylist().count("lines"),
        )


def compared(path: Path, workers: int, turns: int) -> dict[str, Found]:
    """Every choice, the best of its turns. Errors: AssertionError if they do not agree on the puzzles."""
    found = {name: Found() for name in CHOICES}
    for turn in range(turns):
        for name, choice in CHOICES.items():
            limit_s = max(LEAST_S, HOPELESS * min(each.wall_s for each in found.values()))
            if turn and (found[name].wall_s == float("inf") or found[name].wall_s > limit_s):
                continue
            once = measure(path, workers, choice, min(limit_s, 300.0))
            if once is not None and once.wall_s < found[name].wall_s:
                found[name] = once
    done = [each.outcomes for each in found.values() if each.outcomes]
    assert all(outcomes == done[0] for outcomes in done), found
    return found


def row_of(name: str, found: dict[str, Found]) -> tuple[str, bool]:
    """A line of the table, and whether `auto` was right."""
    auto, best = found["auto"], min(found, key=lambda choice: found[choice].wall_s)
    regret = auto.wall_s - found[best].wall_s
    is_right = (
        "yes" if regret <= max(SECONDS, SHARE * found[best].wall_s) else "same" if auto.did == found[best].did else ""
    )
    session = auto.session
    chose = session.get("engine", "") + (f", {auto.n_lines} in lines mode" if auto.n_lines else "")
    estimate = f"{session['estimated_s']:.1f}, {session['needed_s']:.1f}" if "estimated_s" in session else ""
    cells = [name]
    cells += [f"{each.wall_s:.2f} ({each.cpu_s:.1f})" if each.outcomes else "given up" for each in found.values()]
    cells += [best, f"{regret:.2f}", is_right or "**no**", f"{chose}: {session.get('why', '')}", estimate]
    return f"| {' | '.join(cells)} |", bool(is_right)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes of all jobs")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=[job.name for job in JOBS], default=[job.name for job in JOBS])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / f"pnono-bench-{os.getuid()}")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    heads = ["job", *CHOICES, "best", "regret", "right", "auto: why", "estimated, needed"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    n_right = 0
    for job in JOBS:
        if job.name in options.only:
            path = options.folder / f"auto-{job.name.replace(' ', '-')}-{options.scale:g}.parquet"
            if not path.exists():
                write_packed(path, job.puzzles(options.scale))
            row, right = row_of(job.name, compared(path, job.workers or options.workers, options.turns))
            n_right += right
            print(row, flush=True)
    print(f"\n`auto` was right in {n_right} of {len(options.only)}.")


if __name__ == "__main__":
    main()
