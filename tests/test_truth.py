"""Right values computed by others, for puzzles that are not ours to ship; skipped where they are not at hand."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Outcome
from parallel_nono.checker.fast import check_set
from parallel_nono.files import reading
from parallel_nono.files.reading import read_bytes, read_many
from parallel_nono.puzzle import Puzzle
from parallel_nono.puzzleset import clues_of
from parallel_nono.solver import solve, solve_set
from parallel_nono.solver.plans import load_plan
from parallel_nono.solver.results import CODE, Results

WITHIN = 10.0
"""Seconds in which the stages at hand decide what they can."""


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def read_folder(folder: Path, pattern: str) -> pa.RecordBatch:
    return read_many([(path.name, path.read_bytes()) for path in sorted(folder.glob(pattern))])


def outcomes(results: Results) -> list[Outcome]:
    return [OUTCOMES[code] for code in results.outcome]


@pytest.fixture(scope="module")
def survey(shared: Path) -> tuple[list[str], pa.RecordBatch]:
    paths = sorted((shared / "data/wolter_survey/sample-simpson").glob("*.non"))
    return [path.stem for path in paths], read_many([(path.name, path.read_bytes()) for path in paths])


@pytest.mark.parametrize("order", ["sweep", "rounds"])
def test_fixpoints_of_the_survey(shared: Path, survey: tuple[list[str], pa.RecordBatch], order: str) -> None:
    truth = {row["puzzle"]: row for row in table(shared / "truth/fixpoints_survey.csv")}
    names, batch = survey
    results = solve_set(batch, Limits(plan=("line",), order=order))
    assert sorted(names) == sorted(truth)
    for place, name in enumerate(names):
        row = truth[name]
        cells = results.cells[0, results.cell_starts[place] : results.cell_starts[place + 1]]
        assert results.n_open[place] == int(row["unknown_cells"]), name
        assert np.count_nonzero(cells == 1) == int(row["black_cells"]), name
        assert (results.outcome[place] == CODE[Outcome.UNIQUE]) == (row["line_solvable"] == "1"), name
        if order == "rounds":
            found = (results.n_rounds[place], results.n_lines[place])
            assert found == (int(row["rounds"]), int(row["line_calls_rounds"])), name


def consensus_puzzles(shared: Path) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(key in consensus.json, its puzzle) for what is at hand in the formats that are read."""
    keys = json.loads((shared / "truth/consensus.json").read_text()).keys()
    suffixes = {".nin", ".g", ".mk", ".non", ".txt", ".toml", ".xml"}
    for path in sorted((shared / "data").rglob("*")):
        key = path.stem
        if key.startswith("webpbn-") and key[7:].isdecimal():
            key = f"pbn{int(key[7:])}"  # the same puzzle under its number
        if key in keys and path.suffix in suffixes and "outputs" not in path.parts:
            batch = read_bytes(path.read_bytes(), path.name)
            if batch.num_rows == 1 and not batch.column("error")[0].as_py():
                yield key, batch
    data = gzip.decompress((shared / "data/tournaments/question/taai2011.txt.gz").read_bytes())
    tournament = read_bytes(data, "taai2011")
    for key in sorted(keys):
        if key[0] == "t" and key[1:].isdecimal():
            yield key, tournament.slice(int(key[1:]) - 1, 1)


@pytest.mark.slow
def test_consensus_of_independent_solvers(shared: Path) -> None:
    consensus = json.loads((shared / "truth/consensus.json").read_text())
    seen = decided = 0
    for key, batch in consensus_puzzles(shared):
        outcome = OUTCOMES[solve_set(batch, Limits(seconds=WITHIN)).outcome[0]]
        seen += 1
        if outcome != Outcome.TIMEOUT:
            decided += 1
            assert outcome == consensus[key]["status"], key
    assert seen >= 330
    assert decided >= 0.97 * seen


def test_game_ids_are_unique_and_line_solvable(shared: Path) -> None:
    for path in sorted((shared / "data/sgt_pattern").glob("*.txt")):
        batch = read_bytes(path.read_bytes(), path.name)
        results = solve_set(batch, Limits())
        assert set(outcomes(results)) == {Outcome.UNIQUE}, path.name
        assert {STAGES[code] for code in results.stage} == {"line"}, path.name


@pytest.mark.parametrize("name", ["taai2011", "icga2016"])
def test_tournament_solutions_obey_the_clues_as_read(shared: Path, name: str) -> None:
    folder = shared / "data/tournaments"
    batch = read_bytes(gzip.decompress((folder / f"question/{name}.txt.gz").read_bytes()), name)
    text = gzip.decompress((folder / f"solution/{name}.txt.gz").read_bytes()).decode()
    cells = np.array(
        [int(c) for block in text.split("$")[1:] for c in "".join(block.split("\n")[1:]) if c in "01"], np.uint16
    )
    starts = np.arange(batch.num_rows + 1, dtype=np.int64) * 625
    wrong = check_set(clues_of(batch), cells, starts, np.ones(batch.num_rows, np.bool_))
    assert batch.num_rows == 1000
    assert np.array_equal(wrong, np.full(1000, -1))


def test_tournament_verdicts_of_another_solver(shared: Path) -> None:
    truth = [row["pbnsolve_1.10_verdict"] for row in table(shared / "data/truth_pbnsolve/taai2011.csv")]
    data = gzip.decompress((shared / "data/tournaments/question/taai2011.txt.gz").read_bytes())
    batch = read_bytes(data, "taai2011").slice(0, 120)
    for place, outcome in enumerate(outcomes(solve_set(batch, Limits(seconds=WITHIN)))):
        if outcome != Outcome.TIMEOUT and truth[place] != "timeout":
            assert outcome == truth[place], place + 1


def test_small_collections_agree_with_another_solver(shared: Path) -> None:
    verdicts = {"unique": Outcome.UNIQUE, "unique logical": Outcome.UNIQUE, "unique trivial": Outcome.UNIQUE}
    verdicts |= {"multiple": Outcome.MULTIPLE, "contradiction": Outcome.CONTRADICTION}
    truth = {row["puzzle"]: row["pbnsolve_1.10_verdict"] for row in table(shared / "data/truth_pbnsolve/small.csv")}
    paths = {name: shared / "data" / name for name in truth if (shared / "data" / name).is_file()}
    batch = read_many([(name, path.read_bytes()) for name, path in paths.items()])
    assert batch.num_rows > 200
    results = solve_set(batch, Limits(seconds=WITHIN))
    sources, errors = batch.column("source").to_pylist(), batch.column("error").to_pylist()
    compared = 0
    for place, name in enumerate(sources):
        expected = verdicts.get(truth[name])
        outcome = OUTCOMES[results.outcome[place]]
        if expected and not errors[place] and sources.count(name) == 1 and outcome != Outcome.TIMEOUT:
            compared += 1
            assert outcome == expected, name
    assert compared > 200


def test_counts_of_solutions_by_another_solver(shared: Path) -> None:
    folder = shared / "data/picross-solver"
    compared = 0
    for row in table(folder / "outputs/validation.csv"):
        if row["Valid"] not in ("OK", "MULT") or not (folder / "inputs" / row["File"]).is_file():
            continue
        found = reading.read(folder / "inputs" / row["File"], errors="yield")
        puzzle = next((p for p in found if isinstance(p, Puzzle) and p.name == row["Grid"]), None)
        if puzzle is not None:
            compared += 1
            result = solve(puzzle, Limits(seconds=60, count=1000))
            assert (result.n_solutions, result.exhausted) == (int(row["Solutions"]), True), row["Grid"]
    assert compared >= 20


def test_probing_to_its_end_leaves_open_what_the_published_closure_leaves(
    shared: Path, survey: tuple[list[str], pa.RecordBatch]
) -> None:
    names, batch = survey
    results = solve_set(batch, Limits(plan=load_plan("fast")))
    rows = {row["puzzle"]: row for row in table(shared / "truth/probing_survey.csv")}
    assert set(rows) == set(names)
    for name, by_lines, after in zip(names, results.n_open_lines.tolist(), results.n_open.tolist(), strict=True):
        cells = int(rows[name]["cells"])
        assert (cells - by_lines, cells - after) == (
            int(rows[name]["solved_by_lines"]),
            int(rows[name]["solved_after_probing"]),
        ), name
