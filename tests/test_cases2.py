"""A second collection of complaints about other programs, with right solutions: one test for each row."""

from __future__ import annotations

import re

import pytest
from cases import Row, batch_of, is_clear, judge, obeys, parameters, rows_of
from conftest import SHARED

from parallel_nono.puzzleset import puzzle_at

CASES = SHARED / "cases2"
MOST = 50_000
"""Solutions that are counted: more than any puzzle of the collection has."""

OR_AN_ERROR = re.compile(r"or an error|or refuse")


@pytest.mark.parametrize("row", list(parameters(CASES)))
def test_a_case_is_read_and_decided_right(row: Row) -> None:
    path = CASES / "files" / row["file"]
    batch = batch_of(path)
    of_file = [other for other in rows_of(CASES) if other["file"] == row["file"]]
    errors = [error for error in batch.column("error").to_pylist() if error]
    if errors and any(OR_AN_ERROR.search(other["note"]) for other in of_file):
        assert all(is_clear(error, path.name) for error in errors)
        whole = [place for place, error in enumerate(batch.column("error").to_pylist()) if not error]
        solutions = [other["solution"] for other in of_file]
        assert all(any(obeys(puzzle_at(batch, place), solution) for solution in solutions) for place in whole)
        return
    assert batch.num_rows == len(of_file)
    judge(path, row, MOST)
    if "a warning at least" in row["note"]:
        assert batch.column("warnings")[int(row["puzzle"]) - 1].as_py()


@pytest.mark.skipif(not CASES.is_dir(), reason="needs the folder ../shared beside the checkout")
def test_files_without_a_row_are_read() -> None:
    judged = {row["file"] for row in rows_of(CASES)}
    others = [path for path in sorted((CASES / "files").iterdir()) if path.name not in judged]
    assert others
    assert [error for path in others for error in batch_of(path).column("error").to_pylist() if error] == []
