"""Collections of complaints about other programs, with right solutions (`expected.csv`), and how a row of one is
judged.

They are not ours to ship; tests of them are skipped where they are not at hand.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Outcome
from parallel_nono.files import reading
from parallel_nono.puzzle import Grid, Puzzle
from parallel_nono.puzzleset import plain_palette, puzzle_at
from parallel_nono.solver import solve_set

OURS = {
    "pynonogram-non": "pynonogram", "nonpack": "non", "olsak-g": "olsak", "pbn-xml": "webpbn", "sgt-id": "sgt",
    "sgt-save": "sgtsave", "toml": "nonogrid", "ini": "pynogram", "pzl-bw": "pzl", "bosch-lp": "bosch", "asp-lp": "asp",
    "picross-native": "picross", "spoj-jcross": "jcross", "freenono-xml": "freenono", "01-matrix": "matrix",
    "pbm": "netpbm", "nonograms.org": "nonograms",
}  # fmt: skip
"""Their names of formats that are not ours."""

Row = dict[str, str]


@cache
def rows_of(folder: Path) -> list[Row]:
    with (folder / "expected.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def parameters(folder: Path) -> Iterator[object]:
    """A test parameter for each row, or a skipped one."""
    if not folder.is_dir():
        reason = "needs the folder ../shared beside the checkout (a collection of cases that is not ours to ship)"
        yield pytest.param({}, marks=pytest.mark.skip(reason=reason), id="none")
        return
    for row in rows_of(folder):
        yield pytest.param(row, id=f"{row['file']}#{row['puzzle']}")


@cache
def batch_of(path: Path) -> pa.RecordBatch:
    return reading.read_bytes(path.read_bytes(), path.name)


def is_clear(error: str, file: str) -> bool:
    """True for a message that names the file and says what is wrong with it."""
    return error.startswith(file) and (("expected " in error and "found " in error) or "not supported" in error)


def as_drawn(solution: Grid) -> list[str]:
    """A solution in letters, colours numbered by first use."""
    names: dict[int, str] = {0: "."}
    return ["".join(names.setdefault(colour, chr(96 + len(names))) for colour in line) for line in solution]


def as_written(solution: str) -> list[str]:
    names = {".": "."}
    return ["".join(names.setdefault(char, chr(96 + len(names))) for char in line) for line in solution.split("/")]


def obeys(puzzle: Puzzle, solution: str) -> bool:
    """True if the clues are those of the picture, whatever letters it uses for the colours."""
    place = {char: c for c, char in enumerate([".", *sorted(set(solution) - {"/", "."})])}
    grid = [[place[char] for char in line] for line in solution.split("/")]
    return Puzzle.of_grid(grid, plain_palette(max(len(place), 2))).digest == puzzle.digest


def judge(path: Path, row: Row, most: int) -> None:
    """Errors: AssertionError, unless the puzzle of a row is read and decided right; `most` solutions are counted."""
    batch, place = batch_of(path), int(row["puzzle"]) - 1
    if path.stat().st_size:
        form = reading.content_and_format(path.read_bytes(), path.name, None)[2]
        assert form.name == OURS.get(row["format"], row["format"])
    error = batch.column("error")[place].as_py()
    if row["verdict"] == "error":
        assert is_clear(error, path.name)
        line = re.fullmatch(r".*: line (\d+)", row["note"])
        assert not line or error.startswith(f"{path.name}:{line[1]}:")
        return
    assert error == ""
    results = solve_set(batch.slice(place, 1), Limits(seconds=60, count=most))
    outcome, stage = OUTCOMES[results.outcome[0]], STAGES[results.stage[0]]
    assert outcome == (Outcome.CONTRADICTION if row["verdict"] == "none" else row["verdict"])
    assert results.n_solutions[0] == int(row["solutions"])
    if row["line_solvable"] in ("yes", "no") and outcome == Outcome.UNIQUE:
        assert (stage == "line") == (row["line_solvable"] == "yes")
    if row["note"].startswith(("sum_mismatch", "clue_too_long")):
        assert stage == "read"  # said before any search
    puzzle = puzzle_at(batch, place)
    shown = [solution for solution in row["solution"].split(" ; ") if solution and "(" not in solution]
    if outcome == Outcome.UNIQUE:
        (only,) = shown
        cells = results.cells[0, results.cell_starts[0] : results.cell_starts[1]]
        grid = tuple(map(tuple, cells.reshape(puzzle.height, puzzle.width).tolist()))
        assert as_drawn(grid) == as_written(only)
    elif not puzzle.has_blots:
        assert all(obeys(puzzle, solution) for solution in shown)
