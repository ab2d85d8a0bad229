"""The rules of the puzzle in the plainest Python: what every other check is held against."""

from __future__ import annotations

from collections.abc import Sequence

from ..puzzle import Clue, Puzzle, letter


def check(puzzle: Puzzle, grid: Sequence[Sequence[int]]) -> str | None:
    """None if `grid` (colour indices, row by row) obeys the clues of `puzzle`, else what is wrong first.

    Rows are looked at before columns; the message names the line, what its clue expects and what the grid shows.
    """
    if len(grid) != puzzle.height:
        return f"expected {puzzle.height} rows, found {len(grid)}"
    for number, row in enumerate(grid, start=1):
        if len(row) != puzzle.width:
            return f"row {number}: expected {puzzle.width} cells, found {len(row)}"
    for number, (clue, row) in enumerate(zip(puzzle.rows, grid, strict=True), start=1):
        for place, cell in enumerate(row, start=1):
            if not 0 <= cell < puzzle.n_colours:
                return f"row {number}, cell {place}: expected a colour from 0 to {puzzle.n_colours - 1}, found {cell}"
        if not _obeys(_shown(row), clue):
            return _difference(f"row {number}", puzzle, clue, row)
    for number, clue in enumerate(puzzle.columns, start=1):
        column = [row[number - 1] for row in grid]
        if not _obeys(_shown(column), clue):
            return _difference(f"column {number}", puzzle, clue, column)
    return None


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
