"""The crossing-out game: its four solvers side by side, the growth of a table of values, and a batch on two engines.

    python scripts/bench/kinds.py solvers [--rounds 3]
    python scripts/bench/kinds.py values [--take 3] [--cells 10000 30000 100000]
    python scripts/bench/kinds.py batch [--games 5000] [--workers 2]

Times are of CPU; of several rounds the least counts. The solvers are compared within one process, on the same games.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from parallel_nono.attempt import Limits
from parallel_nono.kinds import kind
from parallel_nono.kinds.strikeout import table
from parallel_nono.kinds.strikeout.checker import MAX_PROVED, first_wrong
from parallel_nono.kinds.strikeout.search import Refused
from parallel_nono.kinds.strikeout.table import FOR_EVER, Table
from parallel_nono.kinds.strikeout.trials import SEARCHES

STRIPS = {
    "40 1, all free": ("O" * 40, 1),
    "40 2, all free": ("O" * 40, 2),
    "40 4, all free": ("O" * 40, 4),
    "22 1, all free": ("O" * 22, 1),
}


def cpu(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The least CPU seconds of several calls, and what the last one gave."""
    least, found = float("inf"), None
    for _ in range(rounds):
        began = time.process_time()
        found = call()
        least = min(least, time.process_time() - began)
    return least, found


def by_table(strip: str, take: int) -> int:
    """Positions looked at, with a table that begins empty."""
    table._tables.clear()
    chunk = kind("strikeout").read([("bench", f"{len(strip)} {take} {strip}".encode())])
    (trials,) = kind("strikeout").solve(chunk, Limits(), np.zeros(1, np.int64)).solutions
    return int(trials[0].verdict.n_states)


def solvers(rounds: int) -> None:
    """A line for every game and solver."""
    by_table("OOO", 1)  # compiled, and not counted
    for name, (strip, take) in STRIPS.items():
        seconds, n_states = cpu(lambda: by_table(strip, take), rounds)
        print(f"\n{name}\n  grundy               {seconds * 1e3:10.3f} ms  {n_states:>9,} values, from an empty table")
        times = {}
        for solver in SEARCHES:
            for cut in (True, False) if solver != "bitmask" else (True,):
                label = solver if cut else f"{solver}, no cut"
                try:
                    seconds, verdict = cpu(lambda: SEARCHES[solver](strip, take, cut, FOR_EVER), rounds)
                except Refused as error:
                    print(f"  {label:<20} refused: {error}")
                    continue
                times[label] = seconds
                print(f"  {label:<20} {seconds * 1e3:10.3f} ms  {verdict.n_states:>9,} positions")
        for cut in ("", ", no cut"):
            print(f"  multiset / sorted{cut}: {times['multiset' + cut] / times['sorted' + cut]:.2f}")


def values(take: int, cells: list[int]) -> None:
    """How long the values of runs up to so many cells take, and their proof."""
    Table(take).grow(1000, FOR_EVER)
    made, before = Table(take), 0.0
    for n in sorted(cells):
        seconds, _ = cpu(lambda: made.grow(n, FOR_EVER), 1)
        before += seconds
        line = f"K = {take}, up to {n:,} cells: {before:.2f} s, greatest value {made.values.max()}"
        line += f", period {made.period} from {made.first}" if made.period else ""
        if n < MAX_PROVED:
            seen = np.zeros(1 << 16, np.uint8)
            seconds, wrong = cpu(lambda: first_wrong(made.values, take, 0, made.n, seen), 1)
            line += f"; proved by the checker in {seconds:.2f} s" if wrong < 0 else f"; WRONG at {wrong}"
        print(line, flush=True)


def batch(n_games: int, workers: int) -> None:
    """The same games by threads and by Ray: are the rows the same?"""
    folder = Path(tempfile.mkdtemp(prefix="pnono-bench-"))
    pnono = [sys.executable, "-m", "parallel_nono"]
    games = ["games.strikeout", "--count", str(n_games), "--width", "40"]
    subprocess.run([*pnono, "generate", "strikeout", *games], cwd=folder, check=True)
    same = ["source", "index", "digest", "width", "outcome", "stage", "n_branches", "solution", "error"]
    found = {}
    for engine in ("local", "ray"):
        words = ["run", "games.strikeout", "--engine", engine, "--workers", str(workers), "--out", engine]
        began = time.perf_counter()
        subprocess.run([*pnono, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        rows = pq.read_table(folder / engine / "rows", columns=[*same, "solve_s"]).sort_by("index")
        found[engine] = rows.select(same).to_pylist()
        solve_s = float(rows.column("solve_s").to_numpy().sum(dtype=float))
        print(f"{engine:<6} {rows.num_rows:,} games, {seconds:.1f} s by the clock, solver {solve_s * 1e3:.0f} ms")
    print("equal rows" if found["local"] == found["ray"] else "ROWS DIFFER")
    shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("solvers").add_argument("--rounds", type=int, default=3)
    of_values = commands.add_parser("values")
    of_values.add_argument("--take", type=int, default=3)
    of_values.add_argument("--cells", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    of_batch = commands.add_parser("batch")
    of_batch.add_argument("--games", type=int, default=5000)
    of_batch.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.command == "solvers":
        solvers(given.rounds)
    elif given.command == "values":
        values(given.take, given.cells)
    else:
        batch(given.games, given.workers)


if __name__ == "__main__":
    main()
