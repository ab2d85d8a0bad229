"""The counts of some puzzles are those of the table: a solver that goes another way is noticed, and looked at.

Where the change is meant, `python scripts/golden_counts.py --write` writes the table anew.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


def _script() -> ModuleType:
    path = Path(__file__).resolve().parents[1] / "scripts" / "golden_counts.py"
    spec = importlib.util.spec_from_file_location("golden_counts", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


golden = _script()


def test_counts_are_those_of_the_table() -> None:
    rows = golden.table()
    assert len(rows) > 40
    changed = list(golden.differences(rows, [golden.counted(row) for row in rows]))
    if changed:
        lines = "\n".join(changed)
        pytest.fail(f"counts have changed; if that is meant: scripts/golden_counts.py --write\n{lines}", pytrace=False)


def test_the_table_has_every_way_to_an_end() -> None:
    rows = golden.table()
    assert {row["stage"] for row in rows} == {"read", "line", "probe", "search", "sat"}
    assert {row["outcome"] for row in rows} == {"unique", "multiple", "contradiction", "stalled"}
    asked = {word.partition("=")[0] for row in rows for word in row["asked"].split()}
    assert asked == {"plan", "count", "solutions", "order", "lines", "hints", "blots"}
    ways = {(row["outcome"], row["stage"]) for row in rows}
    assert {("contradiction", stage) for stage in ("read", "line", "probe")} <= ways
    assert {("unique", stage) for stage in ("line", "probe", "search", "sat")} <= ways
    assert all(any(int(row[name]) for row in rows) for name in golden.COUNTS)


def test_a_change_is_a_line_that_names_the_puzzle_and_both_values() -> None:
    row = golden.table()[0]
    (line,) = golden.differences([row], [{**row, "n_lines": "7"}])
    assert golden.title(row) in line
    assert line.split()[-4:] == ["n_lines", row["n_lines"], "->", "7"]
