"""Rows a second from end to end: read, solve, check, row, Parquet, all included; one worker unless told otherwise.

    python scripts/bench/endtoend.py [--puzzles N] [--workers N] [--folder DIR]

Line-solvable 20x20 pictures in one packed set, in TAAI text, as game ids, and as single .nin files (a quarter of them).
Each input is run by a fresh `pnono run` process whose kernels are compiled; seconds are those of the whole process
(wall and CPU), rows/s are those of the summary (from the first read to the last part on disk). The best of three runs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from parallel_nono.attempt import OUTCOMES, Limits
from parallel_nono.files.packed import write_packed
from parallel_nono.files.writing import content_of
from parallel_nono.generator import generate_set
from parallel_nono.puzzleset import puzzles_of, set_of
from parallel_nono.report.parquet import sessions
from parallel_nono.solver import solve_set

TARGETS = {"packed": 20_000, "taai": 8_000, "sgt": 8_000, "nin": 8_000}


def line_solvable(n: int) -> list:
    """`n` 20x20 pictures that lines alone decide."""
    chosen, seed = [], 0
    while len(chosen) < n:
        batch = generate_set("blobs", 4096, 20, 20, seed=seed)
        results = solve_set(batch, Limits(plan=("line",)))
        unique = results.outcome == OUTCOMES.index("unique")
        chosen += [puzzle for puzzle, fine in zip(puzzles_of(batch), unique.tolist(), strict=True) if fine]
        seed += 1
    return chosen[:n]


def inputs(folder: Path, n: int) -> dict[str, Path]:
    """Write the inputs if they are not there."""
    paths = {
        "packed": folder / f"packed-{n}.parquet",
        "taai": folder / f"taai-{n}.txt",
        "sgt": folder / f"ids-{n}.sgt",
        "nin": folder / f"nin-{n // 4}",
    }
    if not all(path.exists() for path in paths.values()):
        puzzles = line_solvable(n)
        write_packed(paths["packed"], (set_of(puzzles[at : at + 4096]) for at in range(0, n, 4096)))
        paths["taai"].write_text(content_of(puzzles, "taai"))
        paths["sgt"].write_text(content_of(puzzles, "sgt"))
        paths["nin"].mkdir(exist_ok=True)
        for number, puzzle in enumerate(puzzles[: n // 4]):
            (paths["nin"] / f"{number:06}.nin").write_text(content_of([puzzle], "nin"))
    return paths


def measure(path: Path, workers: int, engine: str) -> dict[str, float]:
    """One run in a process of its own."""
    out = Path(tempfile.mkdtemp(prefix="pnono-bench-"))
    command = [sys.executable, "-m", "parallel_nono", "run", str(path), "--out", str(out / "run"), "--quiet"]
    command += ["--workers", str(workers), "--engine", engine]
    began = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    rows = pq.read_table(out / "run" / "rows", columns=["solve_s", "read_s", "check_s"])
    seconds = sum(session["seconds"] for session in sessions(out / "run"))
    shutil.rmtree(out)
    return {
        "rows": rows.num_rows,
        "rows_per_s": rows.num_rows / seconds,
        "seconds": seconds,
        "wall_s": wall,
        "cpu_s": used.ru_utime + used.ru_stime,
        **{f"sum_{name}": sum(rows.column(name).to_pylist()) for name in rows.column_names},
        "peak_mib": used.ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--puzzles", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--engine", default="local")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / f"pnono-bench-{os.getuid()}")
    parser.add_argument("--only", choices=TARGETS)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    for name, path in inputs(options.folder, options.puzzles).items():
        if options.only in (None, name):
            best = max(
                (measure(path, options.workers, options.engine) for _ in range(options.runs)),
                key=lambda found: found["rows_per_s"],
            )
            best = {key: round(value, 3) for key, value in best.items()}
            print(json.dumps({"input": name, "target": TARGETS[name], **best}), flush=True)


if __name__ == "__main__":
    main()
