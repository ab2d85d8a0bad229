"""A collection of complaints about other programs, with right answers: one test for each row.

The cases are not ours to ship; they are skipped where they are not at hand.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import cache

import pyarrow as pa
import pytest
from conftest import SHARED

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Outcome
from parallel_nono.formats import files
from parallel_nono.puzzle import Grid, Puzzle
from parallel_nono.puzzleset import plain_palette, puzzle_at
from parallel_nono.solve import solve_set

CASES = SHARED / "cases"
OURS = {
    "pynonogram-non": "pynonogram", "nonpack": "non", "olsak-g": "olsak", "pbn-xml": "webpbn", "sgt-id": "sgt",
    "sgt-save": "sgtsave", "toml": "nonogrid", "ini": "pynogram", "pzl-bw": "pzl", "bosch-lp": "bosch", "asp-lp": "asp",
    "picross-native": "picross", "spoj-jcross": "jcross", "freenono-xml": "freenono", "01-matrix": "matrix",
    "pbm": "netpbm", "nonograms.org": "nonograms",
}  # fmt: skip
"""Their names of formats that are not ours."""

MOST = 1000
"""Answers that the collection counts."""

Row = dict[str, str]


def rows() -> Iterator[object]:
    if not CASES.is_dir():
        reason = "needs the folder ../shared beside the checkout (a collection of cases that is not ours to ship)"
        yield pytest.param({}, marks=pytest.mark.skip(reason=reason), id="none")
        return
    with (CASES / "expected.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield pytest.param(row, id=f"{row['file']}#{row['puzzle']}")


@cache
def batch_of(file: str) -> pa.RecordBatch:
    return files.read_bytes((CASES / "files" / file).read_bytes(), file)


def as_drawn(answer: Grid) -> list[str]:
    """An answer in letters, colours numbered by first use."""
    names: dict[int, str] = {0: "."}
    return ["".join(names.setdefault(colour, chr(96 + len(names))) for colour in line) for line in answer]


def as_written(answer: str) -> list[str]:
    names = {".": "."}
    return ["".join(names.setdefault(char, chr(96 + len(names))) for char in line) for line in answer.split("/")]


def obeys(puzzle: Puzzle, answer: str) -> bool:
    """True if the clues are those of the picture, whatever letters it uses for the colours."""
    place = {char: c for c, char in enumerate([".", *sorted(set(answer) - {"/", "."})])}
    grid = [[place[char] for char in line] for line in answer.split("/")]
    return Puzzle.of_grid(grid, plain_palette(max(len(place), 2))).digest == puzzle.digest


@pytest.mark.parametrize("row", list(rows()))
def test_a_case_is_read_and_decided_right(row: Row) -> None:
    batch, place = batch_of(row["file"]), int(row["puzzle"]) - 1
    content = (CASES / "files" / row["file"]).read_bytes()
    error = batch.column("error")[place].as_py()
    if content:
        form = files.content_and_format(content, row["file"], None)[2]
        assert form.name == OURS.get(row["format"], row["format"])
    if row["verdict"] == "error":
        assert error.startswith(row["file"])
        assert ("expected " in error and "found " in error) or "not supported" in error
        return
    assert error == ""
    results = solve_set(batch.slice(place, 1), Limits(seconds=60, count=MOST))
    outcome, stage = OUTCOMES[results.outcome[0]], STAGES[results.stage[0]]
    assert outcome == (Outcome.CONTRADICTION if row["verdict"] == "none" else row["verdict"])
    assert results.n_answers[0] == int(row["solutions"])
    if row["line_solvable"] in ("yes", "no") and outcome == Outcome.UNIQUE:
        assert (stage == "line") == (row["line_solvable"] == "yes")
    if row["note"].startswith(("sum_mismatch", "clue_too_long")):
        assert stage == "read"  # said before any search
    puzzle = puzzle_at(batch, place)
    shown = [answer for answer in row["solution"].split(" ; ") if answer and "(" not in answer]
    if outcome == Outcome.UNIQUE:
        (only,) = shown
        cells = results.cells[0, results.cell_starts[0] : results.cell_starts[1]]
        grid = tuple(map(tuple, cells.reshape(puzzle.height, puzzle.width).tolist()))
        assert as_drawn(grid) == as_written(only)
    elif not puzzle.has_blots:
        assert all(obeys(puzzle, answer) for answer in shown)


@pytest.mark.skipif(not CASES.is_dir(), reason="needs the folder ../shared beside the checkout")
def test_one_puzzle_has_one_digest_in_all_formats() -> None:
    found = sorted((CASES / "files/rosetta").iterdir())
    assert len(found) >= 39
    assert len({p.digest for path in found for p in files.read(path)}) == 1
    twice = list(files.read(CASES / "files/C04_zero_vs_empty.json"))
    assert twice[0].digest == twice[1].digest


@pytest.mark.skipif(not CASES.is_dir(), reason="needs the folder ../shared beside the checkout")
@pytest.mark.parametrize(
    ("file", "warning"),
    [
        ("C25_goal_wrong_cell.non", "the goal breaks the clue of row 2"),
        ("C48_latin1.non", "not UTF-8: read as Windows-1252"),
    ],
)
def test_what_is_doubtful_is_a_warning(file: str, warning: str) -> None:
    (puzzle,) = files.read(CASES / "files" / file)
    assert any(warning in text for text in puzzle.warnings)


@pytest.mark.skipif(not CASES.is_dir(), reason="needs the folder ../shared beside the checkout")
def test_facts_come_out_unchanged() -> None:
    (puzzle,) = files.read(CASES / "files/C57_metadata.non")
    assert puzzle.name == 'Fish & chips, "large"'
    assert dict(puzzle.metadata)["copyright"] == "© 2025 A. Nobody"
    assert dict(puzzle.metadata)["license"] == "CC-BY-3.0"
