"""What no machine changes: verdicts, visits, rounds, probes and branches of some hundred puzzles of every family.

    python scripts/bench/counts.py > before; ...; python scripts/bench/counts.py > after; diff before after

A change that is meant to change names or speed only leaves every line of it as it is. Takes about a minute.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from parallel_nono.attempt import Limits, Plan
from parallel_nono.checker.plain import check
from parallel_nono.generator import generate
from parallel_nono.puzzle import BLOT, Block, Puzzle
from parallel_nono.puzzleset import set_of
from parallel_nono.solver.dimacs import dimacs, order_formula, plain_formula
from parallel_nono.solver.pipeline import solve_set

SETS = (
    # family, kind, puzzles, height, width
    ("narrow", "noise", 60, 15, 20),
    ("narrow", "blobs", 60, 30, 40),
    ("narrow", "contradiction", 20, 12, 12),
    ("colour", "regions", 40, 20, 25),
    ("colour", "confetti", 30, 12, 12),
    ("words", "blobs", 12, 90, 130),
    ("words", "noise", 12, 8, 150),
    ("windows", "blobs", 6, 100, 260),
    ("windows", "stripes", 8, 30, 90),
    ("blots", "blobs", 30, 12, 15),
    ("blots", "regions", 20, 12, 12),
    ("blots", "blobs", 4, 70, 80),
)

COLUMNS = ("outcome", "stage", "n_solutions", "n_open_lines", "n_open", "n_rounds", "n_lines", "n_probes", "n_branches",
           "n_depth", "n_conflicts")  # fmt: skip


def hidden(puzzle: Puzzle, seed: int) -> Puzzle:
    """The puzzle with a fifth of its blocks turned into blots."""
    random = np.random.default_rng(seed)

    def some(clue: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(Block(BLOT, colour) if random.random() < 0.2 else Block(n, colour) for n, colour in clue)

    return replace(puzzle, rows=tuple(map(some, puzzle.rows)), columns=tuple(map(some, puzzle.columns)), goal=None)


def sets() -> Iterator[tuple[str, list[Puzzle]]]:
    """Name and puzzles of every set."""
    for number, (family, kind, count, height, width) in enumerate(SETS):
        puzzles = [generate(kind, height, width, seed=1000 * number + seed) for seed in range(count)]
        if family == "blots":
            puzzles = [hidden(puzzle, seed) for seed, puzzle in enumerate(puzzles)]
        yield f"{family} {kind} {height}x{width}", puzzles


def main() -> None:
    full = Limits(seconds=60.0, plan=Plan(stages=("line", "probe", "search"), probes=2000))
    lines = Limits(seconds=60.0, plan=Plan(stages=("line",)))
    ways = (
        ("lines", lines),
        ("rounds", replace(lines, order="rounds")),
        ("search", full),
        ("sat", Limits(seconds=600.0, plan=Plan(stages=("line", "sat"), solvers=("cadical153",)))),
    )
    for name, puzzles in sets():
        batch = set_of(puzzles)
        for way, limits in ways:
            if way == "search" and batch.num_rows < 5:
                continue
            if way == "sat" and "noise" in name:
                continue
            results = solve_set(batch, limits)
            for place in range(batch.num_rows):
                counts = [int(getattr(results, column)[place]) for column in COLUMNS]
                cells = results.cells[:, results.cell_starts[place] : results.cell_starts[place + 1]]
                digest = hashlib.blake2b(cells.tobytes(), digest_size=6).hexdigest()
                print(name, place, way, *counts, digest, results.witness[place])
                if results.n_solutions[place]:
                    puzzle = puzzles[place]
                    grid = cells[0].reshape(puzzle.height, puzzle.width).tolist()
                    assert check(puzzle, tuple(map(tuple, grid)))
        for puzzle in puzzles[:3]:
            for make in (order_formula, plain_formula):
                if make is plain_formula and (puzzle.has_blots or puzzle.height * puzzle.width > 1500):
                    continue
                text = b"".join(dimacs(make(puzzle), "a puzzle"))
                print(name, make.__name__, len(text), hashlib.blake2b(text, digest_size=6).hexdigest())


if __name__ == "__main__":
    main()
