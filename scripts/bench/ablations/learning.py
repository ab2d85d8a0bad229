"""A jitted search that learns, with the line solver as its propagator, against CaDiCaL on the order encoding.

The search is the prototype `lcg.py` of ../shared/yardstick (`lcgp.py`: the same, black first); without that folder
there are no rows. Black-white, up to 64 cells a side. Both give a proof or two solutions, or are cut off.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import sat
from tools import DATA, Row, clues_of, number, tournament

from parallel_nono.attempt import Limits, Plan
from parallel_nono.files.reading import read
from parallel_nono.generator import generate
from parallel_nono.puzzle import Puzzle
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import solve_set

YARDSTICK = DATA.parent / "yardstick"
CUT_OFF = 100_000
"""Conflicts of the prototype; it makes 20,000 to 60,000 a second."""

VERDICTS = ("none", "unique", "multiple")


@cache
def prototype(name: str) -> Any:
    """The solver of a module of the yardstick, compiled."""
    sys.path.insert(0, str(YARDSTICK))
    try:
        solver = __import__(name).L()
    finally:
        sys.path.remove(str(YARDSTICK))
    learn(solver, generate("noise", 5, 5, 1))
    return solver


def learn(solver: Any, puzzle: Puzzle) -> sat.Run:
    clues = clues_of(puzzle)
    body = np.append(clues.lengths, 0).astype(np.uint16)
    start = time.process_time()
    found = solver.solve(body, clues.first, clues.height, clues.width, CUT_OFF)
    seconds = time.process_time() - start
    return sat.Run(VERDICTS[found] if found >= 0 else "open", int(solver.st[0]), seconds)


def cadical(puzzle: Puzzle) -> sat.Run:
    """Lines, probes, order encoding with phases, CaDiCaL: all that it takes."""
    problem, seconds = sat.variant(sat.hinted, "line", "probe")(puzzle)
    run = sat.decide(problem)
    return run._replace(seconds=run.seconds + seconds)


@cache
def sets() -> dict[str, list[Puzzle]]:
    found = {
        "noise 25": [generate("noise", 25, 25, seed) for seed in range(1, 41)],
        "noise 30": [generate("noise", 30, 30, seed) for seed in range(1, 21)],
        "blobs 50, 35 %": [generate("blobs", 50, 50, seed, density=35, radius=1) for seed in range(1, 4)],
        **{f"n-Dom {n}": [generate("domino", n, n)] for n in (15, 19, 25)},
    }
    found["TAAI 2011, every 25th"] = tournament(25)
    paths = sorted((DATA / "wolter_survey/sample-simpson").glob("*.non"))
    for path in paths:
        puzzle = next(iter(read(path)))
        left = solve_set(set_of([puzzle]), Limits(plan=Plan(("line", "probe")))).n_open[0]
        if left and max(puzzle.height, puzzle.width) <= 64:
            found[f"{path.stem}, {puzzle.height}x{puzzle.width}"] = [puzzle]
    return {title: puzzles for title, puzzles in found.items() if puzzles}


def learning(name: str) -> Iterator[Row]:
    """Rows for one prototype; ratios above 1: the prototype is faster. Times of runs cut off count as they are."""
    if not YARDSTICK.is_dir():
        return
    solver = prototype(name)
    cadical(generate("domino", 15, 15))  # compiles what the hints need, too
    for title, puzzles in sets().items():
        runs = [(cadical(puzzle), learn(solver, puzzle)) for puzzle in puzzles]
        for puzzle, (one, other) in zip(puzzles, runs, strict=True):
            assert "open" in (one.verdict, other.verdict) or one.verdict == other.verdict, puzzle.name
        texts, seconds = [], []
        for side in range(2):
            mine = [pair[side] for pair in runs]
            n_open = sum(run.verdict == "open" for run in mine)
            seconds.append(sum(run.seconds for run in mine))
            each = f"{number(sum(run.conflicts for run in mine) / len(mine))} conflicts"
            worst = f"{seconds[-1] / len(mine) * 1e3:.3g} ms, worst {max(run.seconds for run in mine) * 1e3:.3g}"
            texts.append(f"{each}, {worst}" + (f", {n_open} cut off" if n_open else ""))
        yield Row(f"{title} ({len(puzzles)})", *texts, seconds[0] / seconds[1])
