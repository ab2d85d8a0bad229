"""Puzzles to print: PDF pages, several puzzles on each where these stay readable, and their solutions behind."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..extras import needed
from ..puzzle import InvalidPuzzle, Puzzle
from .door import printable
from .lattice import (
    BOLD,
    BOLD_EVERY,
    CORNER,
    MARGIN,
    MARK,
    THIN,
    Look,
    clue_boxes,
    lattice_of,
    runs_of,
    text_height,
)
from .shades import channels, open_shade, text_on
from .sheets import OPEN, Sheet

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

MM = 72 / 25.4
"""Points to a millimetre; all sizes below are in points."""

PAPERS = {"a4": (210 * MM, 297 * MM), "a3": (297 * MM, 420 * MM), "letter": (612.0, 792.0)}
"""Width and height, upright."""

BORDER, GAP, TITLE = 12 * MM, 8 * MM, 6 * MM
"""Around the page; between puzzles; the line above each."""

WIDEST_CELL = 9 * MM

COMFORTABLE, COMFORTABLE_SOLUTION = 5 * MM, 2 * MM
"""Cells at least this wide where nobody says how many puzzles a page holds."""

MAX_ON_PAGE = (6, 4, 3, 2)
MAX_SOLUTIONS_ON_PAGE = (20, 12, 9, 6, 4, 2)

MAX_CELLS = 250_000
"""Of one puzzle: 500 x 500, cells of a third of a millimetre on A4."""


class Book(NamedTuple):
    """A PDF file, the number of its pages, and the width of its smallest cell with clues in millimetres (0: none)."""

    data: bytes
    n_pages: int
    smallest_mm: float


class _Page(NamedTuple):
    """Sheets on a page of width x height points in `across` columns; `cell` is the width of a cell of each."""

    sheets: Sequence[Sheet]
    look: Look
    width: float
    height: float
    across: int
    cells: list[float]


def pdf(
    sheets: Sequence[Sheet],
    solutions: Sequence[Sheet] = (),
    look: Look | None = None,
    paper: str = "a4",
    per_page: int = 0,
    title: str = "",
) -> Book:
    """Puzzles, then solutions in small without clues. The same arguments give the same bytes: no date, no random id.

    paper     of PAPERS; each page is upright or not, as its puzzles become larger.
    per_page  puzzles on a page; 0: as many as stay comfortable to fill in.
    Errors    InvalidPuzzle if a puzzle has more than MAX_CELLS cells.
    """
    needed("reportlab")
    from reportlab.pdfgen.canvas import Canvas

    for sheet in (*sheets, *solutions):
        check_size(sheet.puzzle)
    look = look or Look()
    pages = [
        *_pages(sheets, look, PAPERS[paper], (per_page,) if per_page else MAX_ON_PAGE, COMFORTABLE),
        *_pages(solutions, Look(clues=False), PAPERS[paper], MAX_SOLUTIONS_ON_PAGE, COMFORTABLE_SOLUTION),
    ]
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=PAPERS[paper], invariant=1)
    canvas.setTitle(printable(title))
    canvas.setCreator("parallel_nono")
    for page in pages:
        canvas.setPageSize((page.width, page.height))
        _draw_page(canvas, page)
        canvas.showPage()
    canvas.save()
    with_clues = [min(page.cells) / MM for page in pages if page.look.clues]
    return Book(file.getvalue(), len(pages), min(with_clues, default=0.0))


def check_size(puzzle: Puzzle) -> None:
    """Errors: InvalidPuzzle if a puzzle is too large for paper."""
    if puzzle.height * puzzle.width > MAX_CELLS:
        raise InvalidPuzzle(
            f"{puzzle.source or puzzle.name}: expected at most {MAX_CELLS:,} cells to print, found "
            f"{puzzle.height:,} x {puzzle.width:,}"
        )


def _pages(
    sheets: Sequence[Sheet], look: Look, paper: tuple[float, float], sizes: tuple[int, ...], comfortable: float
) -> Iterator[_Page]:
    """The sheets on pages, as many on each as are comfortable; just so many if `sizes` names one number."""
    place = 0
    while place < len(sheets):
        for size in (*sizes, 1):
            page = _best(sheets[place : place + size], look, paper)
            if len(sizes) == 1 or min(page.cells) >= comfortable or len(page.sheets) == 1:
                break
        yield page
        place += len(page.sheets)


def _best(sheets: Sequence[Sheet], look: Look, paper: tuple[float, float]) -> _Page:
    """The page, upright or not, and the number of columns that make the smallest cell largest."""
    best: _Page | None = None
    for width, height in (paper, paper[::-1]):
        for across in range(1, len(sheets) + 1):
            room = _room(width, height, across, len(sheets))
            cells = []
            for sheet in sheets:
                lattice = lattice_of(sheet.puzzle, look.clues)
                cells.append(min(WIDEST_CELL, room[0] / lattice.width, room[1] / lattice.height))
            page = _Page(sheets, look, width, height, across, cells)
            if min(room) > 0 and (best is None or min(cells) > min(best.cells)):
                best = page
    if best is None:
        raise InvalidPuzzle(f"expected fewer puzzles on a page, found {len(sheets)}")
    return best


def _room(width: float, height: float, across: int, n: int) -> tuple[float, float]:
    """Width and height for the boxes of one puzzle."""
    down = -(-n // across)
    return (
        (width - 2 * BORDER - (across - 1) * GAP) / across,
        (height - 2 * BORDER - (down - 1) * GAP) / down - TITLE,
    )


def _draw_page(canvas: Canvas, page: _Page) -> None:
    wide, high = _room(page.width, page.height, page.across, len(page.sheets))
    for place, sheet, cell in zip(count(), page.sheets, page.cells, strict=False):
        down, right = divmod(place, page.across)
        left = BORDER + right * (wide + GAP)
        top = page.height - BORDER - down * (high + TITLE + GAP)
        canvas.setFillColorRGB(0, 0, 0)
        canvas.setFont("Helvetica-Bold", 10)
        canvas.drawString(left, top - 10, _caption(canvas, sheet.puzzle, wide))
        _Pen(canvas, sheet.puzzle, cell, left, top - TITLE).draw(sheet, page.look)


def _caption(canvas: Canvas, puzzle: Puzzle, width: float) -> str:
    """Name and size, cut to the room there is; what the fonts of every PDF reader lack is `?`."""
    size = f"  ({puzzle.height} x {puzzle.width})"
    name = printable(puzzle.name or f"{puzzle.source} #{puzzle.index}").encode("cp1252", "replace").decode("cp1252")
    while name and canvas.stringWidth(name + size, "Helvetica-Bold", 10) > width:
        name = name[:-1]
    return name + size


class _Pen:
    """Draws one puzzle in boxes of `cell` points, the upper left corner at (left, top)."""

    def __init__(self, canvas: Canvas, puzzle: Puzzle, cell: float, left: float, top: float) -> None:
        self.canvas, self.puzzle, self.cell, self.left, self.top = canvas, puzzle, cell, left, top

    def draw(self, sheet: Sheet, look: Look) -> None:
        lattice = lattice_of(self.puzzle, look.clues)
        if look.clues:
            self.fill(MARGIN, [(0, lattice.top, lattice.left, self.puzzle.height)])
            self.fill(MARGIN, [(lattice.left, 0, self.puzzle.width, lattice.top)])
            self.fill(CORNER, [(0, 0, lattice.left, lattice.top)])
            self.clues()
        if sheet.cells is not None:
            self.cells(sheet.cells, sheet.other, lattice.left, lattice.top)
        if look.lines:
            self.lines(lattice.left, lattice.top)

    def x(self, column: float) -> float:
        return self.left + column * self.cell

    def y(self, row: float) -> float:
        return self.top - row * self.cell

    def fill(self, shade: int, boxes: Sequence[tuple[float, float, float, float]]) -> None:
        """Rectangles in boxes of the lattice: (column, row, columns, rows)."""
        path = self.canvas.beginPath()
        for column, row, columns, rows in boxes:
            path.rect(self.x(column), self.y(row + rows), columns * self.cell, rows * self.cell)
        self.canvas.setFillColorRGB(*_parts(shade))
        self.canvas.drawPath(path, stroke=0, fill=1)

    def clues(self) -> None:
        size = text_height(self.puzzle) * self.cell
        for row, column, _, block in clue_boxes(self.puzzle):
            ground = MARGIN
            if self.puzzle.n_colours > 2:
                ground = self.puzzle.palette[block.colour].rgb
                self.fill(ground, [(column, row, 1, 1)])
            self.canvas.setFillColorRGB(*_parts(text_on(ground)))
            self.canvas.setFont("Helvetica", size)
            self.canvas.drawCentredString(self.x(column + 0.5), self.y(row + 0.5) - size * 0.36, block.text)

    def cells(self, cells: np.ndarray, other: np.ndarray | None, left: int, top: int) -> None:
        rows, columns, lengths, colours = runs_of(cells)
        for colour in np.unique(colours).tolist():
            if colour != 0 or self.puzzle.palette[0].rgb != 0xFFFFFF:  # white is the paper
                one = colours == colour
                places = zip(columns[one].tolist(), rows[one].tolist(), lengths[one].tolist(), strict=True)
                self.fill(self.shade(colour), [(left + c, top + r, n, 1) for c, r, n in places])
        if other is None:
            return
        for r, c in zip(*(place.tolist() for place in np.nonzero(cells != other)), strict=True):
            x, y = self.x(left + c), self.y(top + r + 1)
            path = self.canvas.beginPath()
            path.moveTo(x, y)
            path.lineTo(x + self.cell, y)
            path.lineTo(x + self.cell, y + self.cell)
            path.close()
            self.canvas.setFillColorRGB(*_parts(self.shade(int(other[r, c]))))
            self.canvas.drawPath(path, stroke=0, fill=1)
            self.canvas.setStrokeColorRGB(*_parts(MARK))
            self.canvas.setLineWidth(self.cell / 10)
            self.canvas.rect(x + self.cell / 12, y + self.cell / 12, self.cell * 5 / 6, self.cell * 5 / 6)

    def shade(self, colour: int) -> int:
        return open_shade(self.puzzle.palette, MARK) if colour == OPEN else self.puzzle.palette[colour].rgb

    def lines(self, left: int, top: int) -> None:
        """Thin lines between the cells, bold ones each five and at the border, through the margins of the clues."""
        height, width = self.puzzle.height, self.puzzle.width
        self.canvas.setLineCap(2)
        for bold in (False, True):
            rows = [i for i in range(height + 1) if (i % BOLD_EVERY == 0 or i == height) == bold]
            columns = [i for i in range(width + 1) if (i % BOLD_EVERY == 0 or i == width) == bold]
            self.canvas.setStrokeColorRGB(*_parts(BOLD if bold else THIN))
            self.canvas.setLineWidth(min(1.2, self.cell / 8) if bold else min(0.5, self.cell / 16))
            self.canvas.lines([(self.x(0), self.y(top + i), self.x(left + width), self.y(top + i)) for i in rows])
            self.canvas.lines([(self.x(left + i), self.y(0), self.x(left + i), self.y(top + height)) for i in columns])


def _parts(shade: int) -> tuple[float, ...]:
    """Red, green, blue, 0-1."""
    return tuple(channel / 255 for channel in channels(shade))
