"""Nonograms: the chunk is a puzzle set, solutions are colour indices, the rules are `check.fast`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..attempt import OUTCOMES, Limits, Outcome
from ..puzzle import line_name
from . import Kind, Solved, usual_title

if TYPE_CHECKING:
    import pyarrow as pa

    from ..files.containers import Source
    from ..solver.pipeline import Lines
    from ..solver.results import Results

COPIED = (
    *("outcome", "stage", "n_solutions", "exhausted", "n_open_lines", "n_open"),
    *("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts"),
    *("pack_s", "line_s", "probe_s", "search_s", "sat_s", "sat_cpu_s", "solve_s"),
)
WITH_SOLUTION = tuple(OUTCOMES.index(o) for o in (Outcome.UNIQUE, Outcome.MULTIPLE, Outcome.SOLVED))
MULTIPLE = OUTCOMES.index(Outcome.MULTIPLE)


def read(texts: list[tuple[str, bytes]]) -> pa.RecordBatch:
    """Puzzles of all texts, whatever their formats, as one set."""
    from ..files.reading import read_many

    return read_many(texts)


def batches(source: Source) -> Iterator[pa.RecordBatch]:
    """The row groups of a packed set, or a long text piece by piece."""
    from ..files import reading

    yield from reading.batches(source)


def solve(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray, lines: Lines | None = None) -> Solved:
    """The whole set by the pipeline; up to two solutions of each puzzle as text. lines: see `solve_set`."""
    import pyarrow as pa

    from ..kernels.text import texts_of_set
    from ..solver import solve_set

    if limits.solutions > 2:  # a row has room for two; the others are only counted
        limits = replace(limits, solutions=2, count=limits.wanted)
    results = solve_set(chunk, limits, abort, lines)
    columns = {name: getattr(results, name) for name in COPIED}
    columns["witness"] = pa.array(results.witness, pa.string())
    columns |= _elsewhere(results)
    heights, widths, n_colours = (
        chunk.column(c).to_numpy(zero_copy_only=True) for c in ("height", "width", "n_colours")
    )
    for place, name in enumerate(("solution", "second_solution")):
        wanted = results.n_solutions > place
        text, offsets = texts_of_set(heights, widths, n_colours, results.cells[place], results.cell_starts, wanted)
        columns[name] = pa.StringArray.from_buffers(len(wanted), pa.py_buffer(offsets), pa.py_buffer(text))
    return Solved(columns, results, results.aborted, results.finished)


def _elsewhere(results: Results) -> dict[str, Any]:
    """What others did of the work: the SAT solver's process, and whoever shared the lines of a puzzle."""
    columns: dict[str, Any] = {"waited_s": results.sat_s}
    if results.shared:
        columns |= {name: np.zeros(len(results.outcome)) for name in ("others_cpu_s", "others_mib")}
        columns["waited_s"] = results.sat_s.copy()
        teams = [""] * len(results.outcome)
        for place, solved in results.shared.items():
            columns["waited_s"][place] += solved.seconds[1]
            columns["others_cpu_s"][place], columns["others_mib"][place] = solved.cpu_s, solved.mib
            teams[place] = solved.team
        columns["team"] = teams
    return columns


def check(chunk: pa.RecordBatch, results: Any) -> list[tuple[int, str]]:
    """Every solution against the clues; an outcome that promises solutions must have them, and two must differ."""
    from ..checker.fast import check_set
    from ..puzzleset import clues_of

    clues = clues_of(chunk)
    rejected = []
    n_solutions = np.minimum(results.n_solutions, 2)
    for place in range(2):
        wrong = check_set(clues, results.cells[place], results.cell_starts, n_solutions > place)
        for puzzle in np.flatnonzero(wrong >= 0).tolist():
            name = line_name(int(wrong[puzzle]), int(clues.heights[puzzle]))
            rejected.append((puzzle, f"solution {place + 1} breaks the clue of {name}"))
    several = results.outcome == MULTIPLE
    promised = np.where(several, 2, np.isin(results.outcome, WITH_SOLUTION))
    for puzzle in np.flatnonzero(n_solutions < promised).tolist():
        rejected.append((puzzle, f"{promised[puzzle]} solutions promised, {n_solutions[puzzle]} given"))
    if several.any():
        same = np.ones(len(several), bool)
        starts = results.cell_starts
        differ = results.cells[0] != results.cells[1]
        filled = starts[:-1] < starts[1:]
        same[filled] = ~np.logical_or.reduceat(differ, starts[:-1][filled])
        rejected += [(puzzle, "the two solutions are the same") for puzzle in np.flatnonzero(several & same).tolist()]
    return rejected


KIND = Kind(
    "nonogram", read, usual_title, solve, check, batches, compiled="solve.solve", takes_lines=True, puzzle_sets=True
)
