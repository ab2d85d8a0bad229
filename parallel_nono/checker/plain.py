"""The rules of the puzzle in the plainest Python: what every other check is held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..puzzle import Clue, Puzzle, letter


class RejectedSolution(AssertionError):
    """The checker does not accept a solution of the solver: a bug of ours, and no verdict counts.

    >>> from parallel_nono import RejectedSolution
    >>> issubclass(RejectedSolution, AssertionError)
    True
    """


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker says of a grid: true if it is right.

    complaint  what is wrong first: the line, what its clue expects, what the grid shows; "" if the grid is right.
    line       the wrong line, rows first, then columns, from 0; -1 if the grid is right or has too few or many rows.

    >>> from parallel_nono import Puzzle, check
    >>> verdict = check(Puzzle.of_clues(rows=[1, 0], columns=[0, 1]), [[1, 0], [0, 0]])
    >>> bool(verdict), verdict.line
    (False, 2)
    >>> print(verdict)
    wrong: column 1: expected 0, found 1
    """

    complaint: str = ""
    line: int = -1

    def __bool__(self) -> bool:
        return not self.complaint

    def __str__(self) -> str:
        return f"wrong: {self.complaint}" if self.complaint else "right: every line shows its clue"


def check(puzzle: Puzzle, grid: Sequence[Sequence[int]]) -> Verdict:
    """Whether a grid shows every clue of a puzzle, by code that knows nothing of the solver.

    grid     [height][width] colour indices, row by row, 0 for the background.
    Returns  a Verdict, true if the grid is right; rows are looked at before columns.
    Errors   none: a grid of another size, open cells and unknown colours are wrong grids.

    >>> from parallel_nono import Puzzle, check
    >>> hook = Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1])
    >>> print(check(hook, [[1, 1, 0], [1, 0, 0], [1, 1, 1]]))
    right: every line shows its clue
    >>> if not check(hook, [[1, 1, 0], [0, 0, 1], [1, 1, 1]]):
    ...     print("wrong")
    wrong
    """
    if len(grid) != puzzle.height:
        return Verdict(f"expected {puzzle.height} rows, found {len(grid)}")
    for line, row in enumerate(grid):
        if len(row) != puzzle.width:
            return Verdict(f"row {line + 1}: expected {puzzle.width} cells, found {len(row)}", line)
    for line, (clue, row) in enumerate(zip(puzzle.rows, grid, strict=True)):
        for place, cell in enumerate(row, start=1):
            if not 0 <= cell < puzzle.n_colours:
                hope = f"a colour from 0 to {puzzle.n_colours - 1}"
                return Verdict(f"row {line + 1}, cell {place}: expected {hope}, found {cell}", line)
        if not _obeys(_shown(row), clue):
            return Verdict(_difference(f"row {line + 1}", puzzle, clue, row), line)
    for place, clue in enumerate(puzzle.columns):
        column = [row[place] for row in grid]
        if not _obeys(_shown(column), clue):
            return Verdict(_difference(f"column {place + 1}", puzzle, clue, column), puzzle.height + place)
    return Verdict()


def _obeys(runs: Sequence[tuple[int, int]], clue: Clue) -> bool:
    """Run for block the same colour and, unless the clue hides it (0), the same length."""
    return [colour for _, colour in runs] == [colour for _, colour in clue] and all(
        wanted in (0, length) for (length, _), (wanted, _) in zip(runs, clue, strict=True)
    )


def _shown(line: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of inks in a line as (length, colour)."""
    found: list[tuple[int, int]] = []
    before = 0
    for cell in line:
        if cell != 0:
            if cell == before:
                found[-1] = (found[-1][0] + 1, cell)
            else:
                found.append((1, cell))
        before = cell
    return found


def _difference(line: str, puzzle: Puzzle, clue: Clue, cells: Sequence[int]) -> str:
    def text(blocks: Sequence[tuple[int, int]]) -> str:
        if puzzle.n_colours == 2:
            return " ".join(f"{length or '?'}" for length, _ in blocks) or "0"
        return " ".join(f"{length or '?'}{letter(colour, puzzle.n_colours)}" for length, colour in blocks) or "0"

    return f"{line}: expected {text(clue)}, found {text(_shown(cells))}"
