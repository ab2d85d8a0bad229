"""The counts of some puzzles as they were: a solver that goes another way shows, however right its answers.

    python scripts/golden_counts.py            prints what has changed; the exit code is then 1
    python scripts/golden_counts.py --write    writes the counts of today into tests/golden/counts.csv

A line of the table is a puzzle of `pnono generate` (kind, size, seed, options), what is asked of it, and what came of
it. A new puzzle is a line with nothing after `asked`; --write fills it in. What may be asked, separated by blanks:

    plan=NAME      a shipped plan instead of `default`
    count=CAP      solutions are counted up to this cap
    solutions=N    instead of 2
    order=rounds   for plan=lines-only: all rows, then all columns
    lines          lines mode: the rows and columns shared by two threads
    hints=no       the SAT solver is told nothing: what it is told comes from floating-point sums
    blots=N        the length of every N-th block is hidden

No clock has a part in them: each puzzle has an hour.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from parallel_nono.attempt import OUTCOMES, STAGES, Limits
from parallel_nono.generator import generate
from parallel_nono.lanes.compiling import compile_lanes
from parallel_nono.lanes.coordinator import Coordinator
from parallel_nono.lanes.team import Threads
from parallel_nono.puzzle import BLOT, Clue, Puzzle
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import solve_set
from parallel_nono.solver.plans import load_plan

TABLE = Path(__file__).resolve().parents[1] / "tests/golden/counts.csv"
PUZZLE = ("kind", "height", "width", "seed", "options", "asked")
COUNTS = (
    "n_solutions", "n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts", "n_open_lines", "n_open"
)  # fmt: skip
FOUND = ("outcome", "stage", *COUNTS)

Row = dict[str, str]


def table() -> list[Row]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def title(row: Row) -> str:
    return " ".join(filter(None, (row["kind"], f"{row['height']}x{row['width']}", row["seed"], row["options"])))


def pairs(text: str) -> dict[str, str]:
    """`a=1 b` as {"a": "1", "b": ""}."""
    return {name: value for name, _, value in (word.partition("=") for word in text.split())}


def hidden(puzzle: Puzzle, every: int) -> Puzzle:
    """The puzzle with the length of every so many-th block hidden, rows first."""
    number = count(1)

    def blotted(clue: Clue) -> Clue:
        return tuple(block._replace(length=BLOT) if next(number) % every == 0 else block for block in clue)

    return replace(
        puzzle, rows=tuple(map(blotted, puzzle.rows)), columns=tuple(map(blotted, puzzle.columns)), goal=None
    )


def counted(row: Row) -> Row:
    """What comes of the puzzle of a row today."""
    asked = pairs(row["asked"])
    options = {name: int(value) for name, value in pairs(row["options"]).items()}
    puzzle = generate(row["kind"], int(row["height"]), int(row["width"]), int(row["seed"]), **options)
    if "blots" in asked:
        puzzle = hidden(puzzle, int(asked.pop("blots")))
    plan = load_plan(asked.pop("plan", "default"))
    if asked.pop("hints", "yes") == "no":
        plan = replace(plan, hints=False)
    in_lines_mode = "lines" in asked
    asked.pop("lines", None)
    limits = Limits(
        3600.0, int(asked.pop("solutions", 2)), int(asked.pop("count", 0)), plan, asked.pop("order", "sweep")
    )
    if asked:
        raise ValueError(f"{title(row)}: expected something that can be asked, found {asked}")
    solve: Callable[..., object] = solve_set
    if in_lines_mode:
        compile_lanes()
        lines = Coordinator(Threads(2))
        solve = partial(solve_set, lines=lines)
    results = solve(set_of([puzzle]), limits)
    if in_lines_mode:
        lines.close(60.0)
    numbers = {name: str(int(getattr(results, name)[0])) for name in COUNTS}
    return {"outcome": OUTCOMES[results.outcome[0]].value, "stage": STAGES[results.stage[0]], **numbers}


def differences(rows: list[Row], today: list[Row]) -> Iterator[str]:
    """A line for each count that is another one."""
    for row, found in zip(rows, today, strict=True):
        for name in FOUND:
            if row[name] != found[name]:
                words = " ".join(filter(None, (title(row), row["asked"])))
                yield f"{words:<50} {name:<12} {row[name]:>12} -> {found[name]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="into the table")
    options = parser.parse_args()
    rows = table()
    today = [counted(row) for row in rows]
    changed = list(differences(rows, today))
    print("\n".join(changed) or "nothing has changed")
    if options.write:
        with TABLE.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, (*PUZZLE, *FOUND), lineterminator="\n")
            writer.writeheader()
            writer.writerows({**row, **found} for row, found in zip(rows, today, strict=True))
    return bool(changed) and not options.write


if __name__ == "__main__":
    sys.exit(main())
