"""Run by test_bounds.py in a process where every index is checked: puzzles of every family, in work arrays made new for
each of them, so that nothing is hidden by room left over from a larger one."""

from __future__ import annotations

import random
import sys

import numpy as np

from parallel_nono.attempt import Limits
from parallel_nono.puzzle import Puzzle
from parallel_nono.puzzleset import plain_palette, set_of
from parallel_nono.solver import pipeline

ROUNDS = Limits(plan=("line",), order="rounds")


def random_puzzle(rng: random.Random, height: int, width: int, n_colours: int) -> Puzzle:
    """The clues of a random picture; of two different ones now and then, which contradict each other."""
    density = rng.choice([0.1, 0.3, 0.5, 0.8, 0.97, 1.0])

    def picture() -> Puzzle:
        rows = [
            [rng.randrange(1, n_colours) if rng.random() < density else 0 for _ in range(width)] for _ in range(height)
        ]
        return Puzzle.of_grid(rows, plain_palette(n_colours))

    puzzle = picture()
    if rng.random() < 0.2:
        return Puzzle(puzzle.rows, picture().columns, puzzle.palette)
    return puzzle


def solve_in_new_room(puzzle: Puzzle, limits: Limits) -> None:
    pipeline._rooms.words, pipeline._rooms.numbers = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    pipeline.solve_set(set_of([puzzle]), limits)


def main() -> None:
    rng = random.Random(int(sys.argv[1]))
    for narrow in (64, 0):  # 0: short lines take the kernels of long ones
        pipeline.NARROW = narrow
        for _ in range(60):
            puzzle = random_puzzle(rng, rng.randint(1, 9), rng.randint(1, 9), rng.choice([2, 2, 3, 4, 6]))
            for limits in (Limits(), Limits(count=300, solutions=5), ROUNDS):
                solve_in_new_room(puzzle, limits)
    pipeline.NARROW = 64
    sides = [1, 3, 30, 63, 64, 65, 100, 128, 129, 150, 192, 193, 300]
    for _ in range(30):
        puzzle = random_puzzle(rng, rng.choice(sides), rng.choice(sides), rng.choice([2, 2, 3, 5]))
        for limits in (Limits(seconds=0.1), ROUNDS):
            solve_in_new_room(puzzle, limits)
    print("done")


if __name__ == "__main__":
    main()
