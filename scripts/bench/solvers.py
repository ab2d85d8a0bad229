"""Solvers against each other on the same puzzles, under the same limits: a table for the diary.

    python scripts/bench/solvers.py PATHS... [--solver default picross-solver ...] [--seconds 10] [--out DIR]

For each solver: outcomes, processor seconds, and how these compare with ours on the puzzles that both decide. Programs
pay for their start with each puzzle, so a column says what they need for a puzzle of 3 x 3. Processor time is less
disturbed by other work on the machine than wall time. Results that are in DIR already are not made again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from parallel_nono.solver.external import names

DECIDED = ("unique", "multiple", "contradiction", "solved")
SHOWN = ("unique", "multiple", "contradiction", "solved", "stalled", "timeout", "crashed", "wrong")


def rows_of(out: Path) -> dict[tuple[str, int], dict[str, Any]]:
    columns = ["source", "index", "digest", "outcome", "cpu_s", "solve_s", "solver", "error", "solution"]
    return {(row["source"], row["index"]): row for row in pq.read_table(out / "rows", columns=columns).to_pylist()}


def seconds(row: dict[str, Any]) -> float:
    """Processor time; for ours the time of the solver if that is more, as a SAT solver has a process of its own."""
    mine = str(row["solver"]).startswith("pnono")
    return max(float(row["cpu_s"]), float(row["solve_s"]) if mine else 0.0, 1e-7)


def contradicts(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Whether a verdict contradicts ours. A solution that was not shown to be unique agrees with unique and
    multiple."""
    allowed = {"unique": ("unique", "solved"), "multiple": ("multiple", "solved"), "contradiction": ("contradiction",)}
    if theirs["outcome"] == "wrong":
        return True
    return theirs["outcome"] in DECIDED and theirs["outcome"] not in allowed.get(ours["outcome"], DECIDED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--solver", nargs="*", default=names(), help="baselines of the default plan")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    out = options.out or Path(tempfile.mkdtemp(prefix="pnono-solvers-"))
    solvers = ["default", *options.solver]
    command = [sys.executable, "-m", "parallel_nono", "run", *options.paths, "--out", str(out), "--quiet"]
    command += ["--seconds", str(options.seconds), "--workers", str(options.workers), "--engine", "local"]
    if not (out / "default").exists():
        subprocess.run(command + [word for solver in solvers for word in ("--solver", solver)], check=True)
    ours = rows_of(out / "default")
    print(f"{len(ours)} puzzles, {options.seconds:g} s each\n")
    print(
        "| solver | "
        + " | ".join(SHOWN)
        + " | contradicts us | CPU a puzzle, median | of it the start | against ours |"
    )
    print("|---" * (len(SHOWN) + 5) + "|")
    for solver in solvers:
        folder = out / Path(solver).stem
        rows = rows_of(folder)
        start = json.loads((folder / "run.json").read_text()).get("solver", {}).get("start_cpu_s", 0.0)
        counts = Counter(row["outcome"] for row in rows.values())
        both = [key for key in rows if rows[key]["outcome"] in DECIDED and ours[key]["outcome"] in DECIDED]
        bad = sum(contradicts(ours[key], rows[key]) for key in rows)
        cells = [
            next(iter(rows.values()))["solver"],
            *(str(counts[outcome] or "") for outcome in SHOWN),
            str(bad or ""),
        ]
        if both:
            median = statistics.median(seconds(rows[key]) for key in both)
            ratio = statistics.geometric_mean(seconds(rows[key]) / seconds(ours[key]) for key in both)
            cells += [f"{median * 1e3:.3g} ms", f"{start * 1e3:.3g} ms" if start else "", f"{ratio:,.0f} x"]
        else:
            cells += ["", "", ""]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
