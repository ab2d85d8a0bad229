"""Run with NUMBA_ENABLE_CUDASIM=1 by test_cuda: the device kernels under Numba's simulator against those of the CPU.

Prints `ok` and how many lines and puzzles were compared, or fails.
"""

import warnings

import numpy as np
import pytest
from numba import cuda

from parallel_nono.attempt import Limits
from parallel_nono.generator import generate
from parallel_nono.kernels import layout
from parallel_nono.kernels.board import CONTRADICTION, OPEN, OPEN_CELL
from parallel_nono.kernels.clues import Clues
from parallel_nono.kernels.cuda import NO_ARRANGEMENT, OPEN_LINE
from parallel_nono.kernels.line import solve_line_planes
from parallel_nono.puzzle import BLOT, Block, Puzzle
from parallel_nono.puzzleset import clues_of, plain_palette, set_of
from parallel_nono.solver.cuda import _Propagation, propagate, unavailable
from parallel_nono.solver.pipeline import solve_set


def random_lines(random: np.random.Generator, count: int, n: int, n_colours: int, blots: bool) -> tuple[Puzzle, list]:
    """A puzzle whose rows are unrelated lines, and an arrangement of each that its clue is taken of."""
    density, stay = random.uniform(0.2, 0.9, count), random.uniform(0, 0.95, count)
    grid = np.zeros((count, n), int)
    for row in range(count):
        for cell in range(n):
            keep = cell and random.random() < stay[row]
            ink = int(random.random() < density[row]) * int(random.integers(1, n_colours))
            grid[row, cell] = grid[row, cell - 1] if keep else ink
    puzzle = Puzzle.of_grid(grid.tolist(), plain_palette(n_colours))
    rows = [
        tuple(Block(BLOT if blots and random.random() < 0.4 else b.length, b.colour) for b in row)
        for row in puzzle.rows
    ]
    return Puzzle(tuple(rows), puzzle.columns, puzzle.palette), grid.tolist()


def compare_lines(seed: int, count: int, n: int, n_colours: int, blots: bool) -> int:
    """Solve many lines in states of their own on both; every third one may have been made impossible."""
    random = np.random.default_rng(seed)
    puzzle, arrangements = random_lines(random, count, n, n_colours, blots)
    clues = clues_of(set_of([puzzle]))
    assert layout.MAX_ARENA_WORDS or np.diff(clues.block_starts[: count + 1]).max() > 140
    there = _Propagation(clues, 0)
    size = (n + 63) // 64
    planes = there.words[: there.state_words].copy_to_host()
    rows = planes[: count * n_colours * size].reshape(count, n_colours, size)
    for row in range(count):
        for cell in np.flatnonzero(random.random(n) < random.random()).tolist():
            keep = arrangements[row][cell] if row % 3 else int(random.integers(0, n_colours))
            for colour in range(n_colours):
                if colour != keep and (n_colours == 2 or random.random() < 0.7):
                    rows[row, colour, cell >> 6] &= ~np.uint64(1 << (cell & 63))
    there.words[: there.state_words].copy_to_device(planes)
    states, _ = there.solve_lines(np.arange(count, dtype=np.int32))
    after = there.words[: there.state_words].copy_to_host()[: rows.size].reshape(rows.shape)
    for row in range(count):
        bounds = slice(int(clues.block_starts[row]), int(clues.block_starts[row + 1]))
        expected = solve_line_planes(rows[row].copy(), n, clues.lengths[bounds], clues.colours[bounds])
        assert (states[row] == NO_ARRANGEMENT) == (expected is None), (seed, row)
        if expected is not None:
            assert np.array_equal(after[row], expected & rows[row]), (seed, row)
            twice = np.zeros(size, np.uint64)
            for one in range(n_colours):
                for other in range(one):
                    twice |= expected[one] & expected[other]
            assert (states[row] == OPEN_LINE) == bool(twice.any()), (seed, row)
    return count


def compare_puzzle(puzzle: Puzzle) -> bool:
    """Grid, rounds, visits and witness of a whole propagation; True if it shows that there is no solution."""
    batch = set_of([puzzle])
    clues: Clues = clues_of(batch)
    here = solve_set(batch, Limits(plan=("line",), order="rounds"))  # type: ignore[arg-type]
    there = propagate(clues)
    assert there.n_rounds == here.n_rounds[0], puzzle.name
    assert there.n_lines == here.n_lines[0], puzzle.name
    named = here.witness[0].partition(":")[0]
    assert (there.verdict == CONTRADICTION) == bool(named), puzzle.name
    if named:
        kind, number = named.split()
        assert there.witness == int(number) - 1 + (puzzle.height if kind == "column" else 0), puzzle.name
        return True
    assert (there.verdict, there.witness) == (OPEN, -1)
    size, n_colours = (puzzle.width + 63) // 64, puzzle.n_colours
    rows = there.planes[: puzzle.height * n_colours * size].reshape(puzzle.height, n_colours, size)
    bits = np.unpackbits(rows.view(np.uint8), axis=2, count=puzzle.width, bitorder="little")
    grid = np.where(bits.sum(1) == 1, bits.argmax(1), OPEN_CELL)
    assert np.array_equal(grid.ravel(), here.cells[0]), puzzle.name
    other = (puzzle.height + 63) // 64
    columns = there.planes[rows.size :].reshape(puzzle.width, n_colours, other)
    turned = np.unpackbits(columns.view(np.uint8), axis=2, count=puzzle.height, bitorder="little")
    assert np.array_equal(turned.transpose(2, 1, 0), bits), puzzle.name  # both views are one
    return False


def main() -> None:
    assert unavailable() == ""
    assert cuda.is_available()
    lines = 0
    plain = ((1200, 12, 2), (300, 40, 2), (60, 150, 2), (500, 14, 4), (60, 100, 3))
    blotted = ((250, 12, 2), (40, 80, 2), (150, 12, 3))
    for seed, (count, n, n_colours) in enumerate((*plain, *blotted)):
        lines += compare_lines(seed, count, n, n_colours, seed >= len(plain))
    layout.MAX_ARENA_WORDS = 0  # from here on long lines are solved segment by segment
    lines += compare_lines(8, 9, 900, 2, False)
    puzzles = [
        generate("blobs", 15, 20, 1),
        generate("noise", 9, 70, 2, density=70),
        generate("regions", 12, 15, 3),
        generate("confetti", 8, 9, 4),
        generate("blobs", 66, 70, 5, density=70),
        generate("contradiction", 6, 6, 1),
        generate("impasse", 6, 6, 1),
        generate("empty", 3, 5, 1),
        generate("full", 1, 1, 1),
    ]
    random = np.random.default_rng(7)
    while len(puzzles) < 40:  # clues of small random pictures, two rows exchanged: most have no solution
        n_colours = 2 + len(puzzles) % 2
        made = Puzzle.of_grid(random.integers(0, n_colours, (5, 6)).tolist(), plain_palette(n_colours))
        rows = (made.rows[1], made.rows[0], *made.rows[2:])
        puzzles.append(Puzzle(rows, made.columns, made.palette, name=f"exchanged {len(puzzles)}"))
    crowded = generate("blobs", 50, 40, 2, density=60)
    for free in (1 << 10, 1 << 16):  # too little, and enough for a few threads that take several lines each
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(cuda.current_context()), "get_memory_info", lambda _, free=free: (free, free))
            if free == 1 << 10:
                with pytest.raises(MemoryError, match=r"needs 0.0 GiB of device memory, 0.0 GiB are free"):
                    compare_puzzle(crowded)
            else:
                assert _Propagation(clues_of(set_of([crowded])), 0).threads == 32
                assert not compare_puzzle(crowded)
    refuted = sum(compare_puzzle(puzzle) for puzzle in puzzles)
    assert 5 < refuted < 35
    print(f"ok {lines} lines {len(puzzles)} puzzles")


if __name__ == "__main__":
    np.seterr(over="ignore")  # in plain Python words wrap around with a warning
    warnings.simplefilter("ignore", RuntimeWarning)
    main()
