"""Hold the solver against brute force: verdicts, exact counts, solutions, stages and what lines alone know.

    python scripts/brute_force.py                    100,000 random small puzzles and all pictures of some small sizes
    python scripts/brute_force.py -n 5000 --jobs 2   fewer, on two processes
    python scripts/brute_force.py --no-pictures --seed 7
    python scripts/brute_force.py --no-pictures --blots   with some lengths hidden
    python scripts/brute_force.py --no-pictures --plans   by every shipped plan, and by the SAT solver at once

The right solutions come from `tests/oracles.py`, which shares no code with the solver. Every difference is printed with
its puzzle; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np
import oracles

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Plan
from parallel_nono.puzzle import BLOT, Block, Clue, Grid, Puzzle, letter, palette_of
from parallel_nono.puzzleset import set_of
from parallel_nono.solver import solve_set
from parallel_nono.solver.plans import load_plan, names

PLANS = {name: load_plan(name) for name in names()} | {"sat at once": Plan(("line", "sat"))}
FEW = 30  # solutions counted by each plan

CAP = 100_000  # more solutions than any of these puzzles has
CHUNK = 500
OPEN = 65535

FRAMES = ((62, 1), (59, 0), (126, 2))  # empty lines before and after, so that blocks lie where words of 64 cells meet

# height, width, colours: pictures, clue sets, with one solution, of those by lines alone (black-white: as published)
PICTURES = {
    (2, 2, 2): (16, 15, 14, 14),
    (3, 3, 2): (512, 445, 384, 384),
    (4, 4, 2): (65_536, 58_196, 52_362, 51_234),
    (2, 3, 3): None,
    (3, 3, 3): None,
    (3, 2, 4): None,
}


def random_puzzle(seed: int, number: int) -> Puzzle:
    """Small, up to 5 x 5, in 2 to 9 colours: clues of a picture, the same with columns exchanged, or anything."""
    chance = random.Random(f"{seed}/{number}")
    height, width = chance.randint(1, 5), chance.randint(1, 5)
    n_colours = chance.choice((2, 2, 2, 2, 3, 3, 4, 9))
    palette = palette_of(n_colours)
    if chance.random() < 0.1:
        rows = tuple(_random_clue(chance, width, n_colours) for _ in range(height))
        return Puzzle(rows, tuple(_random_clue(chance, height, n_colours) for _ in range(width)), palette)
    density = chance.choice((0.2, 0.4, 0.5, 0.6, 0.8))
    grid = [
        [chance.randrange(1, n_colours) if chance.random() < density else 0 for _ in range(width)]
        for _ in range(height)
    ]
    puzzle = Puzzle.of_grid(grid, palette)
    columns = list(puzzle.columns)
    if chance.random() < 0.4:
        chance.shuffle(columns)
    return Puzzle(puzzle.rows, tuple(columns), palette)


def _random_clue(chance: random.Random, n_cells: int, n_colours: int) -> Clue:
    """A clue that need not fit."""
    n_blocks = chance.randint(0, 1 + n_cells // 2)
    return tuple(Block(chance.randint(1, 2), chance.randrange(1, n_colours)) for _ in range(n_blocks))


def blotted_puzzle(seed: int, number: int) -> Puzzle:
    """The random puzzle of the same number with some of its lengths hidden, at times all."""
    puzzle = random_puzzle(seed, number)
    chance = random.Random(f"{seed}/{number}/blots")
    share = chance.choice((0.1, 0.3, 0.3, 0.6, 1.0))

    def hidden(clues: tuple[Clue, ...]) -> tuple[Clue, ...]:
        return tuple(tuple(b._replace(length=BLOT) if chance.random() < share else b for b in clue) for clue in clues)

    return Puzzle(hidden(puzzle.rows), hidden(puzzle.columns), puzzle.palette)


def text_of(puzzle: Puzzle) -> str:
    def side(clues: tuple[Clue, ...]) -> str:
        return " / ".join(
            " ".join(f"{block.text}{letter(block.colour, puzzle.n_colours)}" for block in clue) or "0" for clue in clues
        )

    size = f"{puzzle.height}x{puzzle.width}, {puzzle.n_colours} colours"
    return f"{size}; rows {side(puzzle.rows)}; columns {side(puzzle.columns)}"


def framed(puzzle: Puzzle, before: int, after: int) -> Puzzle:
    """The puzzle with empty lines around it: the same solutions, but its blocks lie elsewhere in longer lines."""
    head, tail = ((),) * before, ((),) * after
    return Puzzle(head + puzzle.rows + tail, head + puzzle.columns + tail, puzzle.palette)


def differences(puzzles: list[Puzzle], before: int = 0, after: int = 0) -> Iterator[str]:
    """What the solver says otherwise than brute force, one text for each difference.

    The solver is given the puzzles with `before` and `after` empty lines around them, brute force as they are.
    """
    batch = set_of(framed(puzzle, before, after) for puzzle in puzzles)
    full = solve_set(batch, Limits(count=CAP))
    lines = solve_set(batch, Limits(plan=("line",)))
    for place, puzzle in enumerate(puzzles):
        solutions = list(oracles.solutions(puzzle))
        settled = oracles.solved_grid(puzzle)
        cells = slice(full.cell_starts[place], full.cell_starts[place + 1])
        shown = [
            _inside(full.cells[solution, cells], puzzle, before, after) for solution in range(min(2, len(solutions)))
        ]
        known: object = _inside(lines.cells[0, cells], puzzle, before, after)
        if OUTCOMES[lines.outcome[place]] == "contradiction":
            known = "contradiction"
        stage = STAGES[full.stage[place]]
        sums_fit = oracles.sums_agree(puzzle)
        by_lines = sums_fit and (settled is None or all(len(s) == 1 for row in settled for s in row))
        if stage == "read" and not solutions:
            stage = "line" if by_lines else "search"  # sums and lengths came first: as good
        found = {
            "outcome": str(OUTCOMES[full.outcome[place]]),
            "count": (int(full.n_solutions[place]), bool(full.exhausted[place])),
            "solutions shown": [grid in solutions for grid in shown] + [len(set(shown))],
            "decided by lines": stage == "line",
            "known by lines": known,
        }
        expected = {
            "outcome": ("contradiction", "unique", "multiple")[min(2, len(solutions))],
            "count": (len(solutions), True),
            "solutions shown": [True] * len(shown) + [len(shown)],
            "decided by lines": by_lines,
            "known by lines": "contradiction" if settled is None or not sums_fit else _singles(settled),
        }
        for what, right in expected.items():
            if found[what] != right:
                frame = f" within {before} and {after} empty lines" if before or after else ""
                yield f"{text_of(puzzle)}{frame}\n    {what}: expected {right}, found {found[what]}"


def plan_differences(puzzles: list[Puzzle]) -> Iterator[str]:
    """What any plan says otherwise than brute force. A plan that does not prove may be silent, never wrong."""
    batch = set_of(puzzles)
    counts = [sum(1 for _ in oracles.solutions(puzzle)) for puzzle in puzzles]
    for name, plan in PLANS.items():
        found = solve_set(batch, Limits(count=FEW, plan=plan))
        for place, (puzzle, n) in enumerate(zip(puzzles, counts, strict=True)):
            outcome, counted = str(OUTCOMES[found.outcome[place]]), int(found.n_solutions[place])
            right = ("contradiction", "unique", "multiple")[min(2, n)], min(n, FEW)
            silent = outcome == "stalled" and plan.stages[-1] in ("line", "probe")
            if not silent and (outcome, counted) != right:
                yield f"{text_of(puzzle)} by plan {name}\n    expected {right}, found {(outcome, counted)}"


def _inside(cells: np.ndarray, puzzle: Puzzle, before: int, after: int) -> Grid:
    """The grid of the puzzle within its frame, -1 for an open cell; the whole grid if the frame is not empty."""
    whole = cells.astype(np.int64).reshape(puzzle.height + before + after, puzzle.width + before + after)
    whole[whole == OPEN] = -1
    inner = whole[before : before + puzzle.height, before : before + puzzle.width]
    right = np.count_nonzero(inner) == np.count_nonzero(whole)
    return tuple(map(tuple, (inner if right else whole).tolist()))


def _singles(settled: list[oracles.Sets]) -> Grid:
    return tuple(tuple(min(s) if len(s) == 1 else -1 for s in row) for row in settled)


def compare_random(first: int, last: int, seed: int, blots: bool = False) -> list[str]:
    """Differences among the random puzzles of these numbers; one in ten is also moved across words of 64 cells."""
    puzzles = [(blotted_puzzle if blots else random_puzzle)(seed, number) for number in range(first, last)]
    found = list(differences(puzzles))
    for before, after in FRAMES:
        found += differences(puzzles[:: 10 * len(FRAMES)], before, after)
    return found


def compare_plans(first: int, last: int, seed: int, blots: bool = False) -> list[str]:
    """Differences among the random puzzles of these numbers, by every plan."""
    make = blotted_puzzle if blots else random_puzzle
    return list(plan_differences([make(seed, number) for number in range(first, last)]))


def compare_pictures(height: int, width: int, n_colours: int) -> tuple[tuple[int, ...], list[str]]:
    """All pictures of a size: (pictures, clue sets, with one solution, of those by lines alone) and the differences."""
    counts = oracles.clue_sets(height, width, n_colours)
    palette = palette_of(n_colours)
    puzzles = [Puzzle(rows, columns, palette) for rows, columns in counts]
    found = solve_set(set_of(puzzles), Limits(count=CAP))
    wrong = []
    for puzzle, n, outcome, counted in zip(puzzles, counts.values(), found.outcome, found.n_solutions, strict=True):
        if (OUTCOMES[outcome], counted) != ("unique" if n == 1 else "multiple", n):
            wrong.append(f"{text_of(puzzle)}\n    expected {n} solutions, found {OUTCOMES[outcome]} with {counted}")
    unique = found.outcome == OUTCOMES.index("unique")
    by_lines = unique & (found.stage == STAGES.index("line"))
    return (sum(counts.values()), len(counts), int(unique.sum()), int(by_lines.sum())), wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=100_000, metavar="N", help="random puzzles (default 100,000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other puzzles")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--no-pictures", action="store_true", help="leave out all pictures of the small sizes")
    parser.add_argument("--blots", action="store_true", help="random puzzles with some lengths hidden")
    parser.add_argument("--plans", action="store_true", help="compare every plan instead")
    options = parser.parse_args(arguments)
    n_wrong = 0

    def report(found: list[str]) -> None:
        nonlocal n_wrong
        for difference in found:
            print(difference, flush=True)
        n_wrong += len(found)

    if not options.no_pictures:
        for size, published in PICTURES.items():
            counts, wrong = compare_pictures(*size)
            if published and counts != published:
                wrong.append(f"expected {published}, found {counts}")
            report(wrong)
            print("{}x{}, {} colours: {} pictures, {} clue sets, {} unique, {} by lines".format(*size, *counts))
    starts = range(0, options.n, CHUNK)
    ends = [min(first + CHUNK, options.n) for first in starts]
    began = time.monotonic()
    work = partial(compare_plans if options.plans else compare_random, seed=options.seed, blots=options.blots)
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        results = pool.map(work, starts, ends) if options.jobs > 1 else map(work, starts, ends)
        for done, found in zip(ends, results, strict=True):
            report(found)
            if done % (20 * CHUNK) == 0 or done == options.n:
                print(f"{done} random puzzles, {n_wrong} differences, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
