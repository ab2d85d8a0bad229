"""What a call of the library costs beside the kernel that it asks; figures for the diary (README.md here).

    python scripts/bench/calls.py                    this tree
    python scripts/bench/calls.py --before FOLDER    beside another tree (a checkout of an older commit), in turns
    python scripts/bench/calls.py first many         only the figures that begin so

Each figure is the least of some turns, in microseconds; beside another tree, two processes take them one after the
other, and the ratio is the median of theirs. `first` is a call of `solve` for a puzzle that lines decide, `again` one
for the same object, whose clues are packed then, and `looked at` that with a look at the grid; `kernel` is what
`Result.seconds` says. `part` are those of one call for 20x20. `many` are 2,000 blobs of 20x20, a puzzle: `set` is the
packed set by solve_set and the checker, as a run does it, without its rows.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from copy import copy
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import parallel_nono
from parallel_nono import Limits, Puzzle, generate, solve
from parallel_nono.kinds.nonogram import check
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import solve_set

PICTURES: dict[str, tuple[str, int, dict[str, int]]] = {
    "5x5": ("blobs", 5, {}),
    "10x10": ("blobs", 10, {}),
    "20x20": ("blobs", 20, {}),
    "20x20 noise": ("noise", 20, {"density": 72}),
    "20x20, 3 inks": ("coloured_blobs", 20, {"inks": 3}),
    "30x30, 4 inks": ("coloured_blobs", 30, {"inks": 4}),
    "60x60": ("noise", 60, {"density": 74}),
    "80x80": ("noise", 80, {"density": 76}),
}
"""Kind, side and options of the first picture that lines decide."""

PARTS = ("clues packed", "solved", "checked, made a Result")
MANY = ("set", "solve one by one", "solve_many of puzzles", "solve_many of a set")
FIGURES = (
    *(f"{what} {name}" for name in PICTURES for what in ("first", "again", "looked at", "kernel")),
    *(f"part {part}" for part in PARTS),
    *(f"many {way}" for way in MANY),
)

TURNS, LOOP_S, N_MANY = 9, 0.05, 2000


@cache
def easy(name: str) -> Puzzle:
    """A picture that lines decide."""
    kind, side, options = PICTURES[name]
    for seed in range(1000):
        puzzle = generate(kind, side, side, seed, **options)
        result = solve(puzzle)
        if (result.outcome, result.stage) == ("unique", "line"):
            return puzzle
    raise ValueError(f"no picture of {name} that lines decide")


@cache
def blobs() -> tuple[list[Puzzle], Any]:
    """Puzzles one by one, and as a set."""
    puzzles = [generate("blobs", 20, 20, seed) for seed in range(N_MANY)]
    return puzzles, set_of(puzzles)


def part(name: str) -> Callable[[], object]:
    """Of one call of `solve`."""
    from parallel_nono.solver.pipeline import solve_clues
    from parallel_nono.solver.single import clues_of_puzzles, results_of

    puzzle, limits = easy("20x20"), Limits()
    clues = clues_of_puzzles([puzzle])
    results = solve_clues(clues, limits, known=True)
    calls: tuple[Callable[[], object], ...] = (
        lambda: clues_of_puzzles([puzzle]),
        lambda: solve_clues(clues, limits, known=True),
        lambda: next(results_of(clues, results, limits, lambda _: puzzle)),
    )
    return calls[PARTS.index(name)]


def way(name: str) -> Callable[[], object]:
    """To decide many."""
    puzzles, packed = blobs()
    many = getattr(parallel_nono, "solve_many", None)
    calls: tuple[Callable[[], object], ...] = (
        lambda: check(packed, solve_set(packed, Limits())),
        lambda: [solve(puzzle) for puzzle in puzzles],
        lambda: list(many(puzzles)),
        lambda: list(many(packed)),
    )
    return calls[MANY.index(name)]


def seconds(call: Callable[[], object]) -> float:
    """Of one call: the least of a few loops."""
    began = perf_counter()
    call()
    n = max(1, int(LOOP_S / 10 / (perf_counter() - began)))
    best, end = float("inf"), perf_counter() + LOOP_S
    while perf_counter() < end:
        began = perf_counter()
        for _ in range(n):
            call()
        best = min(best, (perf_counter() - began) / n)
    return best


def first(puzzle: Puzzle) -> float:
    """Seconds of a call for an object that nobody has solved."""
    best = float("inf")
    for _ in range(10):
        puzzles = [copy(puzzle) for _ in range(max(3, 20_000 // puzzle.height**2))]
        began = perf_counter()
        for each in puzzles:
            solve(each)
        best = min(best, (perf_counter() - began) / len(puzzles))
    return best


def figure(name: str) -> float:
    """Microseconds."""
    what, _, which = name.partition(" ")
    if what == "part":
        return seconds(part(which)) * 1e6
    if what == "many":
        return seconds(way(which)) / N_MANY * 1e6
    puzzle = easy(which.removeprefix("at "))
    if what == "first":
        return first(puzzle) * 1e6
    if what == "kernel":
        return min(solve(puzzle).seconds["solve_s"] for _ in range(50)) * 1e6
    return seconds((lambda: solve(puzzle).solutions[0]) if what == "looked" else (lambda: solve(puzzle))) * 1e6


def answer() -> None:
    """Each figure that is asked for; `-` where this tree has no such thing."""
    for line in sys.stdin:
        try:
            print(figure(line.rstrip("\n")), flush=True)
        except (ImportError, TypeError):
            print("-", flush=True)


class Tree:
    """A process whose package is that of a folder; None: this one's."""

    def __init__(self, folder: Path | None) -> None:
        environment = dict(os.environ) if folder is None else {**os.environ, "PYTHONPATH": str(folder.resolve())}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--answer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def ask(self, name: str) -> float | None:
        """One turn."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        found = self.process.stdout.readline().strip()
        return None if found == "-" else float(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", default=[""])
    parser.add_argument("--before", type=Path)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        answer()
        return
    trees = [Tree(options.before), Tree(None)] if options.before else [Tree(None)]
    for name in (name for name in FIGURES if name.startswith(tuple(options.figures))):
        turns = [[tree.ask(name) for tree in trees] for _ in range(options.turns)]
        least = [min(values) if None not in values else None for values in zip(*turns, strict=True)]
        text = " ".join("         -" if value is None else f"{value:10.1f}" for value in least)
        if len(least) > 1 and None not in least:
            text += f"  {statistics.median(before / after for before, after in turns):6.2f}"
        print(f"{name:32s} {text}", flush=True)


if __name__ == "__main__":
    main()
