"""`pnono check`: a solution against the rules, and notes on how orthodox a puzzle is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..pictures.door import say
from .common import FormatName, Number, complain, puzzles, standard_input
from .exits import Code, Failure

if TYPE_CHECKING:
    from ..puzzle import Grid, Puzzle


def check(
    puzzle: Annotated[str, typer.Argument(help="File of the puzzle, or - for standard input.")],
    solution: Annotated[
        str | None,
        typer.Argument(
            help="The solution: a file of rows, - for standard input, or rows joined by `/`; else the goal."
        ),
    ] = None,
    number: Number = 0,
    format_name: FormatName = "",
) -> None:
    """Check a solution against the clues, by code that knows nothing of the solver.

    A wrong solution is named by its first wrong line. Without SOLUTION the goals in the file are checked.

    Cells: `.` background; `#` filled, or in colour `a` for the first ink, `b` for the second, and so on.

    Notes are what `pnono lint` would say of the puzzle without solving it: sides not divisible by 5, lines known at
    once, colours that look alike, and so on. They do not change the exit code.

    \b
    pnono check hook.non "##./#../###"
    pnono check set.xml --number 3 solution.txt
    pnono solve hook.non --json | jq -r .solution | pnono check hook.non -

    \b
    Exit codes: 0 right; 1 wrong, or there is no goal; 3 the puzzle or the solution can't be read.
    """
    from ..checker import Verdict
    from ..checker import check as obeys
    from ..lint import notes_of
    from ..puzzle import InvalidPuzzle

    found = list(puzzles(puzzle, format_name, number))
    if solution is not None and len(found) > 1:
        raise Failure(Code.USAGE, f"{puzzle}: expected one puzzle, found {len(found)}: choose with --number")
    code = Code.FINE
    for one in found:
        if isinstance(one, InvalidPuzzle):
            complain(one)
            code = Code.INVALID
            continue
        grid = one.goal if solution is None else _grid(solution, one)
        verdict = Verdict("no solution is given, and the file has no goal") if grid is None else obeys(one, grid)
        say(f"{one.name or one.source}: {verdict}")
        for note in notes_of(one):
            say(f"{note.grade}: {note.text}")
        code = max(code, Code.FINE if verdict else Code.NO)
    if code:
        raise typer.Exit(code)


def _grid(solution: str, puzzle: Puzzle) -> Grid:
    """Rows of letters as colour indices. Errors: Failure naming the row and the cell."""
    from ..puzzle import letter

    place = (
        "standard input"
        if solution == "-"
        else solution
        if "/" not in solution or Path(solution).is_file()
        else "solution"
    )
    if solution == "-":
        text = standard_input().read()
    elif Path(solution).is_file():
        text = Path(solution).read_text(encoding="utf-8", errors="replace")
    elif set(solution) <= {"/", *(letter(colour, puzzle.n_colours) for colour in range(puzzle.n_colours))}:
        text = solution
    else:
        raise Failure(Code.INVALID, f"{solution}: expected a file, or rows of letters joined by `/`, found neither")
    signs = {letter(colour, puzzle.n_colours): colour for colour in range(puzzle.n_colours)}
    rows = []
    for number, row in enumerate(text.strip().replace("/", "\n").split(), start=1):
        wrong = next((char for char in row if char not in signs), None)
        if wrong is not None:
            raise Failure(Code.INVALID, f"{place}: row {number}: expected {' '.join(signs)}, found `{wrong}`")
        rows.append(tuple(signs[char] for char in row))
    return tuple(rows)
