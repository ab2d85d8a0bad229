"""Hard puzzles: verdicts, proofs and times of sets that lines and probes leave open.

    python scripts/bench/hard.py                              the sets that we make: rand25, rand30, domino
    python scripts/bench/hard.py rand25 --plan search         one of them, by another plan
    python scripts/bench/hard.py --data DATA                  published ones too, every set of the table below
    python scripts/bench/hard.py --data DATA survey knotty    some of them
    python scripts/bench/hard.py --data DATA survey --yardstick FOLDER   prototypes beside it, in turns

DATA is a folder of published puzzles, laid out as in `wolter_survey/`, `tournaments/`, `hard/`, `survey_colour/`; what
is not there is left out. Seconds are wall seconds of the solver, reading and checking apart, one puzzle at a time,
every solution checked; a variant is one of the eight turns and mirrors of a puzzle.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from parallel_nono.attempt import Limits, Outcome, Result
from parallel_nono.files.reading import read
from parallel_nono.generator import generate
from parallel_nono.puzzle import Puzzle
from parallel_nono.puzzleset import plain_palette
from parallel_nono.solver import solve
from parallel_nono.solver.plans import load_plan

EASY_S = 0.05
"""Puzzles that take less are only counted."""


def files(folder: Path, pattern: str) -> Iterator[Puzzle]:
    """The puzzles of all files that match, by name."""
    for path in sorted(folder.glob(pattern)):
        for puzzle in read(path):
            if isinstance(puzzle, Puzzle):
                yield puzzle


def every(puzzles: Iterator[Puzzle], first: int, step: int) -> list[Puzzle]:
    return list(puzzles)[first::step]


def noise(side: int, n: int) -> list[Puzzle]:
    """Random pictures at 50 %, seeded."""
    chance = random.Random(side)
    palette = plain_palette(2)
    return [
        Puzzle.of_grid([[int(chance.random() < 0.5) for _ in range(side)] for _ in range(side)], palette)
        for _ in range(n)
    ]


def variants(puzzles: Iterator[Puzzle]) -> list[Puzzle]:
    """The eight turns and mirrors of each."""
    found = []
    for puzzle in puzzles:
        for _ in range(4):
            found += [puzzle, puzzle.mirrored()]
            puzzle = puzzle.transposed().mirrored()
    return found


SETS: dict[str, tuple[float, Callable[[Path], list[Puzzle]]]] = {
    "survey": (60, lambda data: list(files(data, "wolter_survey/sample-simpson/webpbn-*.non"))),
    "knotty": (60, lambda data: variants(files(data, "wolter_survey/sample-simpson/knotty.non"))),
    "faase": (120, lambda data: variants(files(data, "wolter_survey/sample-simpson/faase.non"))),
    "meow": (300, lambda data: variants(files(data, "wolter_survey/sample-simpson/meow.non"))),
    "turned": (
        60,
        lambda data: [
            v
            for n in ("02712", "09892", "10088", "12548", "18297", "22336")
            for v in variants(files(data, f"wolter_survey/sample-simpson/webpbn-{n}.non"))
        ],
    ),
    "taai": (60, lambda data: every(files(data, "tournaments/question/taai2011.txt.gz"), 0, 1)),
    "taai10": (60, lambda data: every(files(data, "tournaments/question/taai2011.txt.gz"), 5, 10)),
    "icga": (60, lambda data: every(files(data, "tournaments/question/icga2016.txt.gz"), 0, 1)),
    "rand25": (60, lambda data: noise(25, 1000)),
    "rand30": (60, lambda data: noise(30, 1000)),
    "colour": (60, lambda data: list(files(data, "survey_colour/*.g"))),
    "domino": (120, lambda data: [generate("domino", side, side, 0) for side in (19, 25, 35)]),
    "hard": (60, lambda data: list(files(data, "hard/*.nin"))),
}


def run(name: str, puzzles: list[Puzzle], limits: Limits) -> None:
    """Solve a set and print its line, and one for each puzzle that took long."""
    results: list[tuple[Puzzle, Result]] = []
    for puzzle in puzzles:
        result = solve(puzzle, limits)
        results.append((puzzle, result))
        if result.seconds["solve_s"] >= EASY_S and len(puzzles) < 300:
            print(f"    {label(puzzle):28s} {facts(result)}", flush=True)
    times = [result.seconds["solve_s"] for _, result in results]
    undecided = sum(result.outcome in (Outcome.TIMEOUT, Outcome.STALLED) for _, result in results)
    counts = {key: sum(result.counts[f"n_{key}"] for _, result in results) for key in ("lines", "probes", "conflicts")}
    sat = sum(result.stage == "sat" for _, result in results)
    print(
        f"{name}: {len(times)} puzzles, {undecided} undecided; total {sum(times):.2f} s, median {median(times):.4f}, "
        f"max {max(times):.3f}; {sat} by SAT; {counts['lines']:,} visits, {counts['probes']:,} probes, "
        f"{counts['conflicts']:,} conflicts",
        flush=True,
    )


def label(puzzle: Puzzle) -> str:
    return f"{Path(puzzle.source).stem or puzzle.name} {puzzle.height}x{puzzle.width}"


def facts(result: Result) -> str:
    seconds = {name[:-2]: value for name, value in result.seconds.items() if name != "check_s"}
    return f"{result.outcome:13s} {result.stage:6s} {result.counts['n_conflicts']:>8,} conflicts  " + "  ".join(
        f"{name} {value:.3f}" for name, value in seconds.items() if value >= 0.0005
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("published"), help="folder of published puzzles")
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    parser.add_argument("--plan", default="default")
    parser.add_argument("--seconds", type=float, default=0.0, help="for one puzzle, instead of the set's own limit")
    parser.add_argument("--yardstick", type=Path, help="folder of the prototypes; they run after ours")
    options = parser.parse_args()
    plan = load_plan(options.plan)
    solve(generate("domino", 21, 21, 0), Limits(plan=plan, seconds=60))  # compiles, and starts the solver's process
    for name in options.sets or SETS:
        seconds, make = SETS[name]
        puzzles = make(options.data)
        if puzzles:
            run(name, puzzles, Limits(seconds=options.seconds or seconds, plan=plan))
    if options.yardstick:
        for arguments in (["survey"], ["taai", "100"], ["rand", "50"]):
            print("prototype:", flush=True)
            subprocess.run([sys.executable, str(options.yardstick / "sat" / "hard.py"), *arguments], check=False)


if __name__ == "__main__":
    main()
