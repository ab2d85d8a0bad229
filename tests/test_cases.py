"""A collection of complaints about other programs, with right solutions: one test for each row."""

from __future__ import annotations

import pytest
from cases import Row, judge, parameters
from conftest import SHARED

from parallel_nono.files import reading

CASES = SHARED / "cases"
MOST = 1000
"""Solutions that the collection counts."""


@pytest.mark.parametrize("row", list(parameters(CASES)))
def test_a_case_is_read_and_decided_right(row: Row) -> None:
    judge(CASES / "files" / row["file"], row, MOST)


@pytest.mark.skipif(not CASES.is_dir(), reason="needs the folder ../shared beside the checkout")
def test_one_puzzle_has_one_digest_in_all_formats() -> None:
    found = sorted((CASES / "files/rosetta").iterdir())
    assert len(found) >= 39
    assert len({p.digest for path in found for p in reading.read(path)}) == 1
    twice = list(reading.read(CASES / "files/C04_zero_vs_empty.json"))
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
    (puzzle,) = reading.read(CASES / "files" / file)
    assert any(warning in text for text in puzzle.warnings)


@pytest.mark.skipif(not CASES.is_dir(), reason="needs the folder ../shared beside the checkout")
def test_facts_come_out_unchanged() -> None:
    (puzzle,) = reading.read(CASES / "files/C57_metadata.non")
    assert puzzle.name == 'Fish & chips, "large"'
    assert dict(puzzle.metadata)["copyright"] == "© 2025 A. Nobody"
    assert dict(puzzle.metadata)["license"] == "CC-BY-3.0"
