"""The solver in the browser beside the native one: best of ten solvings of each puzzle, and the ratio.

    python scripts/bench/wasm.py                      puzzles that are made here
    python scripts/bench/wasm.py 6574.non 8098.non    puzzles of files

Columns: milliseconds of the kernels of this machine, of the WebAssembly module in node and in Chromium (left out where
one is missing), each with its ratio to the native time. Same stages, no SAT solver; outcomes and counts must be the
same. Every time is the best of ten in a process that is warm: lines, probes and search, no reading and no drawing.
Browsers blur their clocks, so what takes less than a millisecond there says little.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from parallel_nono.attempt import Limits, Plan
from parallel_nono.files.reading import read
from parallel_nono.generator import generate
from parallel_nono.puzzle import Puzzle
from parallel_nono.solver import solve
from parallel_nono.web import build

TIMES = 10
COUNTS = ("n_lines", "n_probes", "n_conflicts")

TIMER = """(solver, puzzle, times) => {
  const found = Array.from({ length: times }, () => solver.solve(puzzle));
  const s = Math.min(...found.map(({ seconds }) => seconds.solve));
  return { outcome: found[0].outcome, counts: found[0].counts, s };
}"""

IN_NODE = f"""
const [folder, task] = process.argv.slice(1);
const fs = require("node:fs");
const {{ solverOf }} = require(`${{folder}}/solver.js`);
const {{ puzzle, layout, times }} = JSON.parse(fs.readFileSync(task));
const module_ = new WebAssembly.Module(fs.readFileSync(`${{folder}}/pnono.wasm`));
const solver = solverOf(new WebAssembly.Instance(module_, {{}}), layout);
console.log(JSON.stringify(({TIMER})(solver, puzzle, times)));
"""

IN_PAGE = f"""async ([puzzle, times]) => {{
  const instance = await WebAssembly.instantiate(await compiledModule(), {{}});
  return ({TIMER})(solverOf(instance, LAYOUT), puzzle, times);
}}"""

Timed = Callable[[Puzzle], dict[str, Any]]


def as_task(puzzle: Puzzle) -> dict[str, Any]:
    sides = {"rows": puzzle.rows, "columns": puzzle.columns}
    clues = {name: [[list(block) for block in clue] for clue in side] for name, side in sides.items()}
    return {"height": puzzle.height, "width": puzzle.width, "palette": [0] * puzzle.n_colours, **clues}


def native(puzzle: Puzzle) -> dict[str, Any]:
    plan = Plan(("line", "probe", "search"), visits=0)
    results = [solve(puzzle, Limits(600.0, plan=plan)) for _ in range(TIMES)]
    return {
        "outcome": results[0].outcome.value,
        "counts": results[0].counts,
        "s": min(result.seconds["solve_s"] for result in results),
    }


def in_node(folder: Path) -> Timed:
    def timed(puzzle: Puzzle) -> dict[str, Any]:
        task = folder / "task.json"
        task.write_text(json.dumps({"puzzle": as_task(puzzle), "layout": build.layout(), "times": TIMES}))
        command = ["node", "-e", IN_NODE, str(folder), str(task)]
        return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))

    return timed


@contextmanager
def in_chromium(folder: Path) -> Iterator[Timed]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((folder / "index.html").as_uri())
        yield lambda puzzle: page.evaluate(IN_PAGE, [as_task(puzzle), TIMES])
        browser.close()


def puzzles(files: list[str]) -> Iterator[Puzzle]:
    for file in files:
        yield from (puzzle for puzzle in read(file) if isinstance(puzzle, Puzzle))
    if not files:
        yield generate("domino", 15, 15)
        yield generate("noise", 20, 20, 5)
        yield generate("blobs", 60, 60, 1)
        yield generate("blobs", 150, 150, 1)
        yield generate("stripes", 30, 30, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    files = parser.parse_args().files
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = build.write(folder)
        print(f"the module: {sizes[build.MODULE]:,} bytes")
        places: dict[str, Timed] = {"node": in_node(folder)} if shutil.which("node") else {}
        if shutil.which("chromium"):
            with in_chromium(folder) as timed:
                table(files, places | {"chromium": timed})
        else:
            table(files, places)


def table(files: list[str], places: dict[str, Timed]) -> None:
    heads = "".join(f"{place + ' ms':>12} {'ratio':>6}" for place in places)
    counts = f"{'lines':>10} {'probes':>8} {'conflicts':>9}"
    print(f"{'puzzle':<24} {'size':>8} {'outcome':<9} {counts} {'native ms':>10}{heads}")
    for puzzle in puzzles(files):
        truth = native(puzzle)
        n_lines, n_probes, n_conflicts = (truth["counts"][name] for name in COUNTS)
        row = f"{puzzle.name[:24]:<24} {f'{puzzle.width}x{puzzle.height}':>8} {truth['outcome']:<9} {n_lines:>10,} "
        row += f"{n_probes:>8,} {n_conflicts:>9,} {truth['s'] * 1e3:>10.3g}"
        for timed in places.values():
            found = timed(puzzle)
            assert found["outcome"] == truth["outcome"]
            assert all(found["counts"][count] == truth["counts"][count] for count in COUNTS)
            row += f"{found['s'] * 1e3:>12.3g} {found['s'] / truth['s']:>6.2f}"
        print(row, flush=True)


if __name__ == "__main__":
    main()
