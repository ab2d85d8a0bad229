"""Pictures of pixels: puzzles and grids as PNG, and frames for an animated GIF. Whole arrays, no object for a cell.

A picture is an array of palette indices and its palette, so a grid of 10,000 x 10,000 takes one byte a pixel.
"""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..puzzle import InvalidPuzzle, Puzzle
from .lattice import (
    ACTIVE,
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
    text_height,
)
from .shades import blend, channels, open_shade, text_on
from .sheets import OPEN, Sheet

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 1 << 29
"""Pixels of a picture: half a GiB of them as indices."""

FITTED_PIXELS = 1600
"""About the longer side of a picture whose scale nobody gave."""

USUAL_SCALE, READABLE_SCALE, LINED_SCALE, SPLIT_SCALE = 24, 12, 4, 6
"""Pixels to a cell: at most, if nobody gave a scale; where clue numbers can be read; where there is room for lines;
where a cell that differs can show both colours."""

LEVELS = 6
"""Shades of a clue number, from its ground to full ink."""

GIF_COLOURS = 256

EXTRA = (PAPER, MARGIN, CORNER, THIN, BOLD, MARK, ACTIVE)
"""Shades of what is no cell; in a palette they follow the colours of the puzzle."""


class Canvas(NamedTuple):
    """A picture whose cells and lines are still to be painted (`painted`).

    pixels   uint8, uint16 or uint32 [h, w], indices of the palette; paper, margins and clue numbers.
    palette  uint8[k, 3]: the colours of the puzzle, then those of EXTRA, the shade of open cells, and what clue numbers
             are made of.
    n_colours  of the puzzle.
    scale    pixels to a cell.
    top, left  where the grid begins, in pixels.
    rules    for the rows and for the columns of pixels, int8: 1 a thin line, 2 a bold one; None: there are no lines.
    """

    pixels: np.ndarray
    palette: np.ndarray
    n_colours: int
    scale: int
    top: int
    left: int
    rules: tuple[np.ndarray, np.ndarray] | None

    def place_of(self, shade: int) -> int:
        """Of one of EXTRA in the palette."""
        return self.n_colours + EXTRA.index(shade)


def fitted(puzzle: Puzzle, look: Look, scale: int = 0) -> tuple[Look, int]:
    """The look and the pixels to a cell that a picture will have; without a scale one that fits a screen.

    Clues and lines that would have no room are left out. Errors: InvalidPuzzle if there are more than MAX_PIXELS.
    """
    asked = scale
    if not scale:
        lattice = lattice_of(puzzle, look.clues)
        scale = min(USUAL_SCALE, max(1, FITTED_PIXELS // max(lattice.width, lattice.height)))
        if look.clues and scale < READABLE_SCALE:
            scale = min(READABLE_SCALE - 1, max(1, FITTED_PIXELS // max(puzzle.width, puzzle.height)))
    look = Look(look.clues and scale >= READABLE_SCALE, look.lines and scale >= LINED_SCALE)
    lattice = lattice_of(puzzle, look.clues)
    if lattice.width * lattice.height * scale * scale > MAX_PIXELS:
        hint = "a smaller scale" if asked > 1 else "a smaller puzzle"
        raise InvalidPuzzle(
            f"{puzzle.source or puzzle.name}: expected a picture of at most {MAX_PIXELS:,} pixels, found "
            f"{lattice.width * scale:,} x {lattice.height * scale:,}: {hint} will do"
        )
    return look, scale


def canvas_of(puzzle: Puzzle, look: Look, scale: int) -> Canvas:
    """Paper, margins and clues of a picture (see `fitted` for look and scale)."""
    n, lattice = puzzle.n_colours, lattice_of(puzzle, look.clues)
    inks = [colour.rgb for colour in puzzle.palette]
    shades = [*inks, *EXTRA, open_shade(puzzle.palette, MARK)]
    grounds = inks[1:] if n > 2 else [MARGIN]
    levels = LEVELS if len(shades) + len(grounds) * LEVELS <= GIF_COLOURS else 2
    first = len(shades)
    if look.clues:
        for ground in grounds:
            shades += [blend(ground, text_on(ground), level / (levels - 1)) for level in range(levels)]
    kind = np.uint8 if len(shades) <= 1 << 8 else np.uint16 if len(shades) <= 1 << 16 else np.uint32
    top, left, end = lattice.top * scale, lattice.left * scale, int(look.lines)
    pixels = np.empty((lattice.height * scale + end, lattice.width * scale + end), kind)
    rules = (_rules(puzzle.height, scale, top), _rules(puzzle.width, scale, left)) if look.lines else None
    canvas = Canvas(pixels, np.array([channels(shade) for shade in shades], np.uint8), n, scale, top, left, rules)
    pixels[top:, left:] = canvas.place_of(PAPER)
    pixels[:top] = pixels[:, :left] = canvas.place_of(MARGIN)
    pixels[:top, :left] = canvas.place_of(CORNER)
    if look.clues:
        height = text_height(puzzle) * scale
        for row, column, _, block in clue_boxes(puzzle):
            ink = _number(block.text, scale, height, levels)
            box = ink + (first + (block.colour - 1) * levels)
            if n == 2:
                box[ink == 0] = canvas.place_of(MARGIN)  # the margin of a line can then be lit as one
            pixels[row * scale : (row + 1) * scale, column * scale : (column + 1) * scale] = box
    return canvas


def _rules(cells: int, scale: int, first: int) -> np.ndarray:
    """int8, for each row (or column) of pixels: 1 for a thin line between cells, 2 for a bold one."""
    rules = np.zeros(first + cells * scale + 1, np.int8)
    edges = np.arange(cells + 1)
    rules[first + edges * scale] = 1
    bold = first + edges[(edges % BOLD_EVERY == 0) | (edges == cells)] * scale
    rules[bold] = rules[np.maximum(bold - 1, 0)] = 2
    return rules


@cache
def _number(text: str, size: int, height: float, levels: int) -> np.ndarray:
    """uint32[size, size]: a clue number in the middle of its box; 0 is the ground, levels - 1 full ink."""
    from PIL import Image, ImageDraw, ImageFont

    box = Image.new("L", (size, size))
    font = ImageFont.load_default(height)
    ImageDraw.Draw(box).text((size / 2 + 0.5, size / 2 + 0.5), text, 255, font, anchor="mm")
    return (np.asarray(box, np.uint32) * (levels - 1) + 127) // 255


def painted(canvas: Canvas, cells: np.ndarray | None, other: np.ndarray | None = None, line: int = -1) -> np.ndarray:
    """The pixels of a picture.

    cells  int[height, width], colour indices or OPEN; None: paper.
    other  a second grid: a cell in which it differs shows both, the first above its diagonal, in a frame.
    line   a line whose margin is lit, rows first, then columns, from 0; -1: none.
    """
    pixels, scale, top, left = canvas.pixels.copy(), canvas.scale, canvas.top, canvas.left
    grid = pixels[top:, left:]
    if cells is not None:
        height, width = cells.shape
        inks = _inks(canvas, cells)
        grid[: height * scale, : width * scale] = inks if scale == 1 else inks.repeat(scale, 0).repeat(scale, 1)
        if other is not None:
            _mark(canvas, grid, cells != other, _inks(canvas, other))
        if line >= 0:
            place = (line if line < height else line - height) * scale
            margin = pixels[top:, :left] if line < height else pixels[:top, left:].T
            margin = margin[place : place + scale]
            margin[margin == canvas.place_of(MARGIN)] = canvas.place_of(ACTIVE)
    if canvas.rules is not None:
        rows, columns = canvas.rules
        for strength, shade in ((1, THIN), (2, BOLD)):
            pixels[rows == strength] = canvas.place_of(shade)
            pixels[:, columns == strength] = canvas.place_of(shade)
    return pixels


def _inks(canvas: Canvas, cells: np.ndarray) -> np.ndarray:
    """The palette indices of cells."""
    inks = cells.astype(canvas.pixels.dtype)
    inks[cells == OPEN] = canvas.n_colours + len(EXTRA)
    return inks


def _mark(canvas: Canvas, grid: np.ndarray, differs: np.ndarray, inks: np.ndarray) -> None:
    """Paint the cells that differ: the colour of the second grid below the diagonal, and a frame."""
    scale = canvas.scale
    rows, columns = np.nonzero(differs)
    y, x = np.indices((scale, scale))
    frame = np.minimum.reduce([y - 1, x - 1, scale - 1 - y, scale - 1 - x]) < max(1, scale // 10)
    below = (x + y >= scale) & ~frame
    if scale < SPLIT_SCALE:
        frame[:], below[:] = True, False
    for shape, ink in ((below, inks[rows, columns, None]), (frame, canvas.place_of(MARK))):
        grid[rows[:, None] * scale + y[shape], columns[:, None] * scale + x[shape]] = ink


def png(sheet: Sheet, look: Look, scale: int = 0) -> bytes:
    """A PNG file; the same arguments give the same bytes. Errors: InvalidPuzzle (`fitted`)."""
    look, scale = fitted(sheet.puzzle, look, scale)
    if scale == 1 and sheet.cells is not None and sheet.puzzle.n_colours < GIF_COLOURS - 1:
        return _bare(sheet.puzzle, sheet.cells, sheet.other)
    canvas = canvas_of(sheet.puzzle, look, scale)
    return png_of(canvas, painted(canvas, sheet.cells, sheet.other))


def _bare(puzzle: Puzzle, cells: np.ndarray, other: np.ndarray | None) -> bytes:
    """A PNG file of one pixel a cell, with no more bits to a pixel than its shades need: for huge puzzles."""
    from PIL import Image

    pixels = cells.astype(np.uint8)
    inks = [colour.rgb for colour in puzzle.palette]
    marks = [(cells == OPEN, open_shade(puzzle.palette, MARK))]
    if other is not None:
        marks.append((cells != other, MARK))
    for where, shade in marks:
        if where.any():
            pixels[where] = len(inks)
            inks.append(shade)
    image = Image.frombuffer("P", cells.shape[::-1], pixels, "raw", "P", 0, 1)  # the array itself, not a copy
    image.putpalette([channel for shade in inks for channel in channels(shade)])
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def png_of(canvas: Canvas, pixels: np.ndarray) -> bytes:
    """Painted pixels as a PNG file, with a palette where 256 colours are enough."""
    file = io.BytesIO()
    image_of(canvas, pixels).save(file, "PNG")
    return file.getvalue()


def image_of(canvas: Canvas, pixels: np.ndarray) -> Image:
    """The picture as Pillow has it."""
    from PIL import Image

    if pixels.dtype != np.uint8:
        return Image.fromarray(canvas.palette[pixels])
    image = Image.fromarray(pixels).convert("L")
    image.putpalette(canvas.palette.tobytes())
    return image
