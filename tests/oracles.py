"""Right solutions from slow and plain code, to hold everything clever against. Nothing here imports a kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from parallel_nono.puzzle import BLOT, Block, Clue, Grid, Puzzle, runs

Line = tuple[int, ...]
Sets = tuple[frozenset[int], ...]
"""For each cell of a line the colours that it may still take."""


def sized(clue: Clue, n_cells: int) -> Iterator[Clue]:
    """Every clue without blots that a clue may stand for in a line of so many cells."""
    if not clue:
        yield ()
        return
    (length, colour), rest = clue[0], clue[1:]
    room = n_cells - sum(max(block.length, 1) for block in rest)
    for known in (length,) if length != BLOT else range(1, room + 1):
        for others in sized(rest, n_cells - known):
            yield (Block(known, colour), *others)


@lru_cache(1 << 16)
def arrangements(clue: Clue, n_cells: int) -> tuple[Line, ...]:
    """All ways to lay the blocks of a clue into a line, leftmost first; blocks of one colour keep a gap.

    With blots: of all sizes they may have.
    """
    if not clue:
        return ((0,) * n_cells,)
    if any(block.length == BLOT for block in clue):
        return tuple(arrangement for plain in sized(clue, n_cells) for arrangement in arrangements(plain, n_cells))
    (length, colour), rest = clue[0], clue[1:]
    gap = 1 if rest and rest[0].colour == colour else 0
    found = []
    for start in range(n_cells - length + 1):
        head = (0,) * start + (colour,) * length
        if rest and len(head) + gap <= n_cells:
            found += [head + (0,) * gap + tail for tail in arrangements(rest, n_cells - len(head) - gap)]
        elif not rest:
            found.append(head + (0,) * (n_cells - len(head)))
    return tuple(found)


@lru_cache(1 << 16)
def solved_line(clue: Clue, allowed: Sets) -> Sets | None:
    """Of what a line may take, exactly what some arrangement uses; None if no arrangement is left."""
    fitting = [
        arrangement
        for arrangement in arrangements(clue, len(allowed))
        if all(cell in colours for cell, colours in zip(arrangement, allowed, strict=True))
    ]
    return tuple(frozenset(cells) for cells in zip(*fitting, strict=True)) if fitting else None


def solved_grid(puzzle: Puzzle) -> list[Sets] | None:
    """What lines alone know of a puzzle: the colours each cell may take, row by row; None on a contradiction."""
    everything = frozenset(range(puzzle.n_colours))
    grid = [(everything,) * puzzle.width for _ in puzzle.rows]
    while True:
        before = list(grid)
        for clues in (puzzle.rows, puzzle.columns):
            lines = [solved_line(clue, line) for clue, line in zip(clues, grid, strict=True)]
            if None in lines:
                return None
            grid = list(zip(*lines, strict=True))  # type: ignore[arg-type]  # turned: the other lines are next
        if grid == before:
            return grid


def is_line_solvable(puzzle: Puzzle) -> bool:
    """Whether lines alone leave one colour in every cell."""
    grid = solved_grid(puzzle)
    return grid is not None and all(len(colours) == 1 for line in grid for colours in line)


def grids_by_trying_all(puzzle: Puzzle) -> list[Grid]:
    """Every solution of a tiny puzzle: every combination of row arrangements whose columns show the column clues."""
    rows = [arrangements(clue, puzzle.width) for clue in puzzle.rows]
    columns = [set(sized(clue, puzzle.height)) for clue in puzzle.columns]
    return [
        grid
        for grid in product(*rows)
        if all(runs(line) in clues for line, clues in zip(zip(*grid, strict=True), columns, strict=True))
    ]


def solutions(puzzle: Puzzle) -> Iterator[Grid]:
    """Every solution of a small puzzle, in lexicographic order of row arrangements.

    Row by row; a row is dropped when some column above and in it begins no arrangement of its clue.
    """
    beginnings = [
        {arrangement[:n] for arrangement in arrangements(clue, puzzle.height) for n in range(puzzle.height + 1)}
        for clue in puzzle.columns
    ]

    def below(above: Grid) -> Iterator[Grid]:
        if len(above) == puzzle.height:
            yield above
            return
        for row in arrangements(puzzle.rows[len(above)], puzzle.width):
            grid = (*above, row)
            if all(column in known for column, known in zip(zip(*grid, strict=True), beginnings, strict=True)):
                yield from below(grid)

    if all(beginnings):
        yield from below(())


def n_solutions(puzzle: Puzzle) -> int:
    """The exact number of solutions of a small puzzle."""
    return sum(1 for _ in solutions(puzzle))


def clue_sets(height: int, width: int, n_colours: int = 2) -> Counter[tuple[tuple[Clue, ...], tuple[Clue, ...]]]:
    """How many pictures of a size show each set of clues (rows, columns): all n_colours ** cells pictures are drawn."""
    lines = {line: runs(line) for n in (height, width) for line in product(range(n_colours), repeat=n)}
    counts: Counter[tuple[tuple[Clue, ...], tuple[Clue, ...]]] = Counter()
    for grid in product(product(range(n_colours), repeat=width), repeat=height):
        columns = zip(*grid, strict=True)
        counts[tuple(lines[row] for row in grid), tuple(lines[column] for column in columns)] += 1
    return counts


def texts(grid: Sequence[Sequence[int]], n_colours: int = 2) -> str:
    """A grid as the solution column writes it."""
    letters = ".#" if n_colours == 2 else ".abcdefghijklmnopqrstuvwxyz"
    return "/".join("".join(letters[cell] for cell in row) for row in grid)


def colour_sums(clues: Sequence[Clue], blot: int = 1) -> Counter[int]:
    """How many cells of each ink the clues of one side ask for, where every blot has `blot` cells."""
    sums: Counter[int] = Counter()
    for clue in clues:
        for length, colour in clue:
            sums[colour] += blot if length == BLOT else length
    return sums


def sums_agree(puzzle: Puzzle) -> bool:
    """Whether rows and columns can hold equally many cells of every ink, as far as sums tell."""
    huge = puzzle.height * puzzle.width
    (min_rows, max_rows), (min_columns, max_columns) = (
        (colour_sums(clues, 1), colour_sums(clues, huge)) for clues in (puzzle.rows, puzzle.columns)
    )
    return all(
        min_rows[ink] <= max_columns[ink] and min_columns[ink] <= max_rows[ink] for ink in range(1, puzzle.n_colours)
    )
