"""The rating: its bands, its order, the same figures in Python and in SQL, and how it agrees with published times."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rows import folder_of, row

from parallel_nono.attempt import OUTCOMES, STAGES
from parallel_nono.report.query import dicts, open_rows
from parallel_nono.report.rating import RATED, TECHNIQUES, rate

COUNTS = ("n_rounds", "n_probes", "n_branches", "n_conflicts")


def counts(**given: int) -> dict[str, int]:
    return {**dict.fromkeys(COUNTS, 0), **given}


@pytest.mark.parametrize(
    ("stage", "given", "points", "said"),
    [
        ("line", {"n_rounds": 1}, 1.0, "1.0 of 10, lines alone"),
        ("line", {"n_rounds": 10}, 2.5, "2.5 of 10, lines alone"),
        ("line", {"n_rounds": 100}, 4.0, "4.0 of 10, lines alone"),
        ("line", {"n_rounds": 10**6}, 4.0, "4.0 of 10, lines alone"),
        ("read", {}, 1.0, "1.0 of 10, lines alone"),
        ("probe", {"n_probes": 1}, 4.0, "4.0 of 10, one trial at a time"),
        ("probe", {"n_probes": 10, "n_conflicts": 10**6}, 5.0, "5.0 of 10, one trial at a time"),
        ("search", {"n_branches": 1}, 7.0, "7.0 of 10, trials within trials"),
        ("search", {"n_branches": 40, "n_conflicts": 60}, 8.2, "8.2 of 10, trials within trials"),
        ("sat", {"n_conflicts": 10**5}, 10.0, "10.0 of 10, trials within trials"),
    ],
)
def test_the_bands_begin_and_end_as_documented(stage: str, given: dict[str, int], points: float, said: str) -> None:
    rating = rate(stage, "unique", counts(**given))
    assert rating is not None
    assert (rating.points, str(rating)) == (points, said)


def test_only_what_has_an_solution_is_rated() -> None:
    assert rate("external", "unique", counts(n_rounds=5)) is None
    for outcome in map(str, OUTCOMES):
        assert (rate("line", outcome, counts(n_rounds=5)) is not None) == (outcome in RATED)


def test_bands_follow_each_other_and_every_stage_that_decides_nonograms_has_one() -> None:
    starts = sorted(technique.start for technique in TECHNIQUES)
    assert [later - earlier for earlier, later in pairwise([*starts, 10.0])] == [3.0] * len(TECHNIQUES)
    assert {stage for technique in TECHNIQUES for stage in technique.stages} == set(STAGES) - {"table", "external"}


@given(st.sampled_from(STAGES), st.sampled_from(COUNTS), st.lists(st.integers(0, 10**9), min_size=4, max_size=4))
def test_more_of_anything_is_never_easier(stage: str, name: str, numbers: list[int]) -> None:
    before = dict(zip(COUNTS, numbers, strict=True))
    assume(stage not in ("table", "external"))
    first, second = rate(stage, "unique", before), rate(stage, "unique", {**before, name: 2 * before[name] + 1})
    assert first is not None
    assert second is not None
    assert 1.0 <= first.points <= second.points <= 10.0
    assert round(first.points, 1) == first.points


row_values = st.fixed_dictionaries(
    {
        "stage": st.sampled_from(STAGES),
        "outcome": st.sampled_from([str(outcome) for outcome in OUTCOMES]),
        **{name: st.one_of(st.integers(0, 200), st.integers(0, 10**12)) for name in COUNTS},
    }
)


@settings(max_examples=8)
@given(st.lists(row_values, min_size=1, max_size=300))
def test_the_rating_in_sql_is_that_in_python(
    tmp_path_factory: pytest.TempPathFactory, values: list[dict[str, Any]]
) -> None:
    rows = [row(index=number, **each) for number, each in enumerate(values)]
    connection = open_rows(folder_of(tmp_path_factory.mktemp("run") / "run", rows))
    found = dicts(connection, "select rating, technique from attempts order by index")
    for each, result in zip(values, found, strict=True):
        rating = rate(each["stage"], each["outcome"], each)
        expected = {"rating": rating and rating.points, "technique": rating and rating.technique.name}
        assert result == expected


def test_other_kinds_have_no_rating(tmp_path: Path) -> None:
    connection = open_rows(folder_of(tmp_path / "run", [row(kind="strikeout", stage="table")]))
    assert dicts(connection, "select rating, technique from attempts") == [{"rating": None, "technique": None}]


# Against what others published; only where their puzzles are at hand.

SURVEY = Path(__file__).resolve().parents[2] / "shared/data"
SOLVERS = ("pbnsolve (FastNonogramSolver)", "nonogrid, SAT (FastNonogramSolver)", "nonogrid, backtracking re-run")


@pytest.mark.slow
@pytest.mark.skipif(not SURVEY.is_dir(), reason="needs the puzzles of the survey beside the project, not ours to ship")
def test_the_order_of_the_rating_is_that_of_published_times(tmp_path: Path) -> None:
    from parallel_nono.cli import main
    from parallel_nono.report.compare import published

    folders = [str(SURVEY / "wolter_survey/sample-simpson"), str(SURVEY / "survey_colour")]
    with pytest.raises(SystemExit) as ended:
        main(["run", *folders, "--seconds", "1", "--engine", "local", "--quiet", "--out", str(tmp_path / "run")])
    assert not ended.value.code
    found = {row["solver"]: row for row in published(tmp_path / "run").solvers}
    for solver in SOLVERS:
        assert found[solver]["n"] >= 30
        assert found[solver]["with_rating"] > 0.85, solver
