"""Bugs that were found: a small file for each in regressions/, and a table of what is right.

A new one is a file there and a few lines in regressions.toml.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parallel_nono.attempt import OUTCOMES, Limits
from parallel_nono.kinds import kind
from parallel_nono.puzzleset import puzzle_at
from parallel_nono.solver import solve_set

FOLDER = Path(__file__).parent / "regressions"
TABLE = FOLDER / "regressions.toml"
BUGS: list[dict[str, Any]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))["bug"]
WIDEST = 100
"""Cells of a puzzle whose only solution stands in the table."""


def found_in(bug: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a file as the table has them, read and decided as a run does it."""
    name = bug["file"]
    batch = kind("nonogram").read([(name, (FOLDER / name).read_bytes())])
    results = solve_set(batch, Limits(count=int(bug.get("count", 0))))
    rows: list[dict[str, Any]] = []
    for place in range(batch.num_rows):
        if error := batch.column("error")[place].as_py():
            rows.append({"error": error})
            continue
        puzzle, outcome = puzzle_at(batch, place), OUTCOMES[results.outcome[place]]
        row = {"size": f"{puzzle.height}x{puzzle.width}", "digest": puzzle.digest, "outcome": outcome.value}
        cells = results.cells[0, results.cell_starts[place] : results.cell_starts[place + 1]]
        if outcome == "unique" and len(cells) < WIDEST:
            lines = np.array([".", "#"])[cells].reshape(puzzle.height, puzzle.width)
            row["solution"] = "/".join("".join(line) for line in lines)
        if "count" in bug:
            row["n_solutions"] = int(results.n_solutions[place])
        facts = {"witness": results.witness[place], "warning": "; ".join(puzzle.warnings)}
        rows.append(row | {name: fact for name, fact in facts.items() if fact})
    return rows


@pytest.mark.parametrize("bug", BUGS, ids=[bug["file"] for bug in BUGS])
def test_a_bug_that_was_found_does_not_come_back(bug: dict[str, Any]) -> None:
    found = found_in(bug)
    for row, right in zip(found, bug["rows"], strict=False):
        for name in ("error", "warning"):  # how they begin is enough
            if name in row and name in right:
                row[name] = row[name][: len(right[name])]
    assert found == bug["rows"], bug["was"]


def test_every_file_has_its_lines_in_the_table() -> None:
    names = [bug["file"] for bug in BUGS]
    assert len(names) > 25
    assert sorted(names) == sorted(path.name for path in FOLDER.iterdir() if path != TABLE)
