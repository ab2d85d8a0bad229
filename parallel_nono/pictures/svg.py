"""Pictures as SVG: the cells of one colour are one path, made of their runs; clue numbers are text."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

import numpy as np

from ..puzzle import InvalidPuzzle, Puzzle
from .door import printable
from .lattice import (
    BOLD,
    BOLD_EVERY,
    CORNER,
    MARGIN,
    MARK,
    PAPER,
    THIN,
    Look,
    clue_boxes,
    lattice_of,
    runs_of,
    text_height,
)
from .shades import open_shade, text_on
from .sheets import OPEN, Sheet

CELL = 20
"""Units to a cell."""

MAX_RUNS = 1_000_000
"""Runs of cells and clue numbers of a picture; what has more belongs into a PNG."""


def svg(sheet: Sheet, look: Look, scale: int = 0) -> bytes:
    """An SVG file; the same arguments give the same bytes.

    scale   pixels to a cell, where nobody else says how large the picture is shown; 0: CELL.
    Errors  InvalidPuzzle (`check_size`).
    """
    puzzle, cells, other = sheet.puzzle, sheet.cells, sheet.other
    check_size(puzzle, look)
    lattice = lattice_of(puzzle, look.clues)
    scale = scale or CELL
    width, height = lattice.width * CELL, lattice.height * CELL
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{lattice.width * scale}" height="{lattice.height * scale}" '
        f'viewBox="-1 -1 {width + 2} {height + 2}" font-family="Helvetica, Arial, sans-serif">',
        f"<title>{escape(printable(puzzle.name or puzzle.source))}</title>",
        f'<path fill="{_hex(PAPER)}" d="M{lattice.left * CELL} {lattice.top * CELL}H{width}V{height}'
        f'H{lattice.left * CELL}z"/>',
        *(_clues(puzzle) if look.clues else ()),
        f'<g transform="translate({lattice.left * CELL} {lattice.top * CELL})">',
        *(() if cells is None else _cells(puzzle, cells)),
        *(() if cells is None or other is None else _marks(puzzle, cells, other)),
        "</g>",
        *(_lines(puzzle, look) if look.lines else ()),
        "</svg>\n",
    ]
    return "\n".join(parts).encode()


def check_size(puzzle: Puzzle, look: Look) -> None:
    """Errors: InvalidPuzzle if there would be more than MAX_RUNS things to draw."""
    lattice = lattice_of(puzzle, look.clues)
    if lattice.width * lattice.height > MAX_RUNS:  # each cell may be a run of its own
        raise InvalidPuzzle(
            f"{puzzle.source or puzzle.name}: expected a picture of at most {MAX_RUNS:,} cells for SVG, found "
            f"{lattice.width:,} x {lattice.height:,}: PNG will do"
        )


def _hex(shade: int) -> str:
    return f"#{shade:06x}"


def _shade(puzzle: Puzzle, colour: int) -> str:
    return _hex(open_shade(puzzle.palette, MARK) if colour == OPEN else puzzle.palette[colour].rgb)


def _cells(puzzle: Puzzle, cells: np.ndarray) -> Iterator[str]:
    """One path for each colour."""
    rows, columns, lengths, colours = runs_of(cells)
    for colour in np.unique(colours).tolist():
        one = colours == colour
        places = zip(rows[one].tolist(), columns[one].tolist(), lengths[one].tolist(), strict=True)
        path = "".join(f"M{c * CELL} {r * CELL}h{n * CELL}v{CELL}h-{n * CELL}z" for r, c, n in places)
        yield f'<path fill="{_shade(puzzle, colour)}" shape-rendering="crispEdges" d="{path}"/>'


def _marks(puzzle: Puzzle, cells: np.ndarray, other: np.ndarray) -> Iterator[str]:
    """A cell that differs: the colour of the second grid below its diagonal, and a frame."""
    rows, columns = np.nonzero(cells != other)
    for r, c in zip(rows.tolist(), columns.tolist(), strict=True):
        x, y = c * CELL, r * CELL
        yield f'<path fill="{_shade(puzzle, int(other[r, c]))}" d="M{x + CELL} {y}v{CELL}h-{CELL}z"/>'
        yield (
            f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{CELL - 3}" height="{CELL - 3}" fill="none" '
            f'stroke="{_hex(MARK)}" stroke-width="2"/>'
        )


def _clues(puzzle: Puzzle) -> Iterator[str]:
    lattice = lattice_of(puzzle, True)
    left, top, right, bottom = (side * CELL for side in (lattice.left, lattice.top, lattice.width, lattice.height))
    yield f'<path fill="{_hex(MARGIN)}" d="M0 {top}H{left}V0H{right}V{top}H{left}V{bottom}H0z"/>'
    yield f'<path fill="{_hex(CORNER)}" d="M0 0H{left}V{top}H0z"/>'
    size = round(text_height(puzzle) * CELL, 2)
    yield f'<g font-size="{size}" text-anchor="middle">'
    for row, column, _, block in clue_boxes(puzzle):
        x, y = column * CELL, row * CELL
        fill = ""
        if puzzle.n_colours > 2:
            ground = puzzle.palette[block.colour].rgb
            yield f'<path fill="{_hex(ground)}" d="M{x} {y}h{CELL}v{CELL}h-{CELL}z"/>'
            fill = f' fill="{_hex(text_on(ground))}"'
        yield f'<text x="{x + CELL / 2}" y="{y + CELL / 2 + size * 0.36:.2f}"{fill}>{block.text}</text>'
    yield "</g>"


def _lines(puzzle: Puzzle, look: Look) -> Iterator[str]:
    """Thin lines between the cells, bold ones each five and at the border, through the margins of the clues."""
    lattice = lattice_of(puzzle, look.clues)
    left, top, right, bottom = (side * CELL for side in (lattice.left, lattice.top, lattice.width, lattice.height))
    for bold in (False, True):
        rows = (f"M0 {top + i * CELL}H{right}" for i in _edges(puzzle.height, bold))
        columns = (f"M{left + i * CELL} 0V{bottom}" for i in _edges(puzzle.width, bold))
        yield (
            f'<path fill="none" stroke="{_hex(BOLD if bold else THIN)}" stroke-width="{2 if bold else 1}" '
            f'd="{"".join((*rows, *columns))}"/>'
        )


def _edges(cells: int, bold: bool) -> list[int]:
    return [i for i in range(cells + 1) if (i % BOLD_EVERY == 0 or i == cells) == bold]
