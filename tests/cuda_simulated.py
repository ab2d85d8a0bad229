"""Run with NUMBA_ENABLE_CUDASIM=1 by test_cuda: the device kernels under Numba's simulator against those of the CPU.

Prints `ok` and how many lines, puzzles and puzzles in batches were compared, or fails.
"""

import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest
from numba import cuda

from parallel_nono.attempt import Limits
from parallel_nono.generator import generate
from parallel_nono.kernels import cuda as kernels
from parallel_nono.kernels import layout
from parallel_nono.kernels.board import CONTRADICTION, OPEN, OPEN_CELL, SPENT
from parallel_nono.kernels.clues import Clues
from parallel_nono.kernels.cuda import NO_ARRANGEMENT, OPEN_LINE
from parallel_nono.kernels.line import solve_line_planes
from parallel_nono.puzzle import BLOT, Block, InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import clues_of, plain_palette, puzzles_of, set_of
from parallel_nono.solver import cuda as solver
from parallel_nono.solver.cuda import _Propagation, propagate, propagate_set, unavailable
from parallel_nono.solver.pipeline import solve_set
from parallel_nono.solver.results import NO_PUZZLE


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
    rows = with_blots(random, puzzle.rows) if blots else puzzle.rows
    return Puzzle(rows, puzzle.columns, puzzle.palette), grid.tolist()


def with_blots(random: np.random.Generator, clues: tuple) -> tuple:
    """These clues, some lengths of them unknown."""
    return tuple(tuple(Block(BLOT if random.random() < 0.4 else b.length, b.colour) for b in clue) for clue in clues)


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
    assert there.witness == line_named(here.witness[0], puzzle.height), puzzle.name
    if here.witness[0]:
        assert there.verdict == CONTRADICTION, puzzle.name
        return True
    assert there.verdict == OPEN
    grid = grid_of(there.planes, puzzle.height, puzzle.width, puzzle.n_colours)
    assert np.array_equal(grid, here.cells[0]), puzzle.name
    return False


def line_named(witness: str, height: int) -> int:
    """The line that a witness is about, rows first, from 0; -1 if it is about none."""
    kind, _, rest = witness.partition(" ")
    if kind not in ("row", "column"):
        return -1
    return int(rest.partition(":")[0]) - 1 + (height if kind == "column" else 0)


def grid_of(planes: np.ndarray, height: int, width: int, n_colours: int) -> np.ndarray:
    """The cells of a state, row by row; both its views must be one."""
    size, other = (width + 63) // 64, (height + 63) // 64
    n_colours = max(n_colours, 2)
    rows = planes[: height * n_colours * size].reshape(height, n_colours, size)
    bits = np.unpackbits(rows.view(np.uint8), axis=2, count=width, bitorder="little")
    columns = planes[rows.size :].reshape(width, n_colours, other)
    turned = np.unpackbits(columns.view(np.uint8), axis=2, count=height, bitorder="little")
    assert np.array_equal(turned.transpose(2, 1, 0), bits)
    return np.where(bits.sum(1) == 1, bits.argmax(1), OPEN_CELL).ravel()


def compare_set(batch: pa.RecordBatch, threads: int) -> solver.PropagatedSet:
    """A set, each puzzle by one block: verdicts and grids are those of both orders, the rest that of rounds."""
    there = propagate_set(batch, threads)
    here = solve_set(batch, Limits(plan=("line",), order="rounds"))  # type: ignore[arg-type]
    sweep = solve_set(batch, Limits(plan=("line",)))  # type: ignore[arg-type]
    for p, puzzle in enumerate(puzzles_of(batch)):
        planes = there.planes[there.starts[p] : there.starts[p + 1]]
        if isinstance(puzzle, InvalidPuzzle):
            assert (there.verdict[p], len(planes)) == (NO_PUZZLE, 0)
            continue
        if there.verdict[p] == SPENT:
            continue
        counts = there.n_rounds[p], there.n_lines[p], there.witness[p]
        named = line_named(here.witness[p], puzzle.height)
        assert counts == (here.n_rounds[p], here.n_lines[p], named), (p, puzzle.name)
        refuted = there.verdict[p] == CONTRADICTION
        assert refuted == bool(here.witness[p]) == bool(sweep.witness[p]), (p, puzzle.name)
        if not refuted:
            assert there.verdict[p] == OPEN, (p, puzzle.name)
            assert there.n_solved[p] <= there.n_lines[p], (p, puzzle.name)
            grid = grid_of(planes, puzzle.height, puzzle.width, puzzle.n_colours)
            cells = slice(here.cell_starts[p], here.cell_starts[p + 1])
            assert np.array_equal(grid, here.cells[0, cells]), (p, puzzle.name)
            assert np.array_equal(grid, sweep.cells[0, cells]), (p, puzzle.name)
    return there


def batch_of(count: int) -> list[Puzzle | InvalidPuzzle]:
    """Puzzles of all sorts and of many sizes, in no order."""
    puzzles: list[Puzzle | InvalidPuzzle] = [
        generate("one_cell", 1, 1),
        generate("empty", 1, 1),
        generate("full", 1, 1),
        generate("empty", 3, 5),
        generate("full", 4, 2),
        Puzzle.of_grid([[0, 0, 0]], plain_palette(1)),
        InvalidPuzzle("expected a puzzle, found none"),
        generate("contradiction", 6, 6),
        generate("impasse", 6, 6),
        generate("mismatch", 5, 5),
        generate("too_long", 5, 5),
        generate("permutation", 5, 5),  # no line says anything
        generate("gaps", 9, 11, 2),
        generate("noise", 2, 130, 3, density=70),
        generate("coloured_blobs", 70, 3, 4),
        generate("rainbow", 4, 9, 5),
    ]
    random = np.random.default_rng(11)
    while len(puzzles) < count:
        height, width = (int(n) for n in random.integers(1, 13, 2))
        n_colours, density = int(random.choice([2, 2, 3, 5])), random.uniform(0.3, 0.95)
        cells = random.integers(1, n_colours, (height, width)) * (random.random((height, width)) < density)
        cells = np.maximum(cells, np.roll(cells, 1, axis=1) * (random.random((height, width)) < 0.5))
        made = Puzzle.of_grid(cells.tolist(), plain_palette(n_colours))
        rows, columns, name = made.rows, made.columns, f"made {len(puzzles)}"
        if len(puzzles) % 4 == 1:
            rows, columns, name = with_blots(random, rows), with_blots(random, columns), f"{name}, blots"
        if len(puzzles) % 5 == 2:
            rows, name = (rows[-1], *rows[1:-1], rows[0])[:height], f"{name}, exchanged"
        puzzles.append(Puzzle(rows, columns, made.palette, name=name))
    return [puzzles[place] for place in random.permutation(count)]


def compare_batches() -> int:
    """Whole sets: more puzzles than blocks, slices, and too little memory for all of them, or for the largest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "MAX_THREADS", 30)
        batch = set_of(batch_of(220))
        there = compare_set(batch, 5)  # six blocks
        assert there.n_launches == 1
        open_ones = there.verdict == OPEN
        assert 20 < (there.verdict == CONTRADICTION).sum() < 110 < open_ones.sum()
        assert there.n_solved[open_ones].sum() < 0.9 * there.n_lines[open_ones].sum()
        part = compare_set(batch.slice(100, 15), 15)  # two blocks
        assert np.array_equal(part.n_solved, there.n_solved[100:115])
        assert compare_set(batch.slice(0, 0), 4).n_launches == 0
        few = set_of([*(generate("blobs", 6, 6, seed) for seed in range(6)), generate("noise", 12, 20)])
        whole = solver._Batches(clues_of(few), 2)
        free = max(whole.work(np.array(pair))[1] for pair in ([1, 2], [3, 4])) / solver.SHARE
        patch.setattr(type(cuda.current_context()), "get_memory_info", lambda _: (free, free))
        there = compare_set(few, 2)
        assert (there.verdict == SPENT).tolist() == 6 * [False] + [True]
        assert there.n_launches == 4
    return batch.num_rows


def main() -> None:
    for names in (vars(kernels), kernels._DEVICE):  # Python puts it there while threads of the simulator look through
        names.setdefault("__warningregistry__", {})
    sys.setswitchinterval(1e-4)  # threads that wait for each other do so by looking all the time
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
    print(f"ok {lines} lines {len(puzzles)} puzzles {compare_batches()} in batches")


if __name__ == "__main__":
    np.seterr(over="ignore")  # in plain Python words wrap around with a warning
    warnings.simplefilter("ignore", RuntimeWarning)
    main()
