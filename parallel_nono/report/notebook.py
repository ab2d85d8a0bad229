"""What a notebook shows of a puzzle and of a result: a picture, and a caption below it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ..pictures.door import printable
from ..pictures.lattice import Look, lattice_of
from ..pictures.sheets import Sheet, sheet_of_result
from ..pictures.svg import CELL, svg
from .rating import rate
from .wording import duration

if TYPE_CHECKING:
    from ..attempt import Result
    from ..puzzle import Puzzle

MAX_SIDE = 640
"""Pixels of the longer side; a picture that is larger with the usual cells gets smaller ones."""

MIN_CELL = 4
"""Pixels of a cell at least."""

MAX_DRAWN = 60_000
"""Boxes of a picture: more would make the notebook slow to open. A larger puzzle is a caption only."""


def svg_of_puzzle(puzzle: Puzzle) -> str | None:
    """The clues around an empty grid; None if it is too large."""
    return _svg(Sheet(puzzle))


def svg_of_result(result: Result) -> str | None:
    """The solution, marked where a second one differs; without a solution what is known. None if it is too large."""
    return _svg(sheet_of_result(result.puzzle, result))


def html_of_puzzle(puzzle: Puzzle) -> str:
    """The picture and a line with name and size."""
    return _figure(svg_of_puzzle(puzzle), _facts(puzzle))


def html_of_result(result: Result) -> str:
    """The picture and a line with outcome, number of solutions, stage, difficulty and time."""
    number = f"{'' if result.exhausted else 'at least '}{result.n_solutions:,} solutions"
    rating = rate(result.stage, result.outcome, result.counts) if result.outcome != "multiple" else None
    facts = [
        str(result.outcome),
        *([number] if result.outcome == "multiple" else []),
        *([f"{len(result.open_cells):,} cells open"] if result.open_cells and not result.solutions else []),
        f"stage {result.stage}",
        *([f"difficulty {rating}"] if rating else []),
        duration(result.seconds.get("solve_s", 0.0)),
        *([result.witness] if result.witness else []),
    ]
    return _figure(svg_of_result(result), f"{_facts(result.puzzle)}: {', '.join(facts)}")


def _facts(puzzle: Puzzle) -> str:
    colours = "" if puzzle.n_colours == 2 else f", {puzzle.n_colours} colours"
    size = f"{puzzle.height} x {puzzle.width}{colours}"
    title = puzzle.name or puzzle.source
    return f"{title}, {size}" if title else size


def _figure(picture: str | None, caption: str) -> str:
    return f"<figure>{picture or ''}<figcaption>{escape(printable(caption))}</figcaption></figure>"


def _svg(sheet: Sheet) -> str | None:
    lattice = lattice_of(sheet.puzzle, True)
    longer = max(lattice.width, lattice.height)
    if lattice.width * lattice.height > MAX_DRAWN:
        return None
    return svg(sheet, Look(), max(MIN_CELL, min(CELL, MAX_SIDE // longer))).decode()
