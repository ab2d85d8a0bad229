"""The solving of a puzzle as pictures: an animated GIF, or one PNG for each step."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ..puzzle import InvalidPuzzle, Puzzle
from ..solver.trace import Step
from .lattice import Look
from .raster import GIF_COLOURS, canvas_of, fitted, image_of, painted, png_of
from .sheets import OPEN

Every = Literal["round", "line", "cell"]

TICK_MS = 10
"""A GIF counts time in hundredths of a second."""


class Frame(NamedTuple):
    """What is known at one moment.

    cells  int32[height, width], colour indices or OPEN.
    line   the line that was just settled, rows first, then columns, from 0; -1 if it was none, or several.
    """

    cells: np.ndarray
    line: int = -1


def frames(puzzle: Puzzle, steps: Iterable[Step], every: Every) -> Iterator[Frame]:
    """Moments of a solving: the empty grid, then one after each round, each line or each cell that became known.

    A probe and the solution of a search are moments of their own (by cell: of their cells).
    """
    cells = np.full((puzzle.height, puzzle.width), OPEN, np.int32)
    yield Frame(cells.copy())
    pending: Step | None = None  # the last step of a round that is still going on
    for step in steps:
        if pending is not None and (step.by != "line" or step.round != pending.round):
            yield Frame(cells.copy())
            pending = None
        if not len(step.rows):
            continue
        if every == "cell":
            for row, column, colour in zip(step.rows, step.columns, step.colours, strict=True):
                cells[row, column] = colour
                yield Frame(cells.copy(), step.line)
            continue
        cells[step.rows, step.columns] = step.colours
        if every == "round" and step.by == "line":
            pending = step
        else:
            yield Frame(cells.copy(), step.line)
    if pending is not None:
        yield Frame(cells.copy())


def thinned(moments: Sequence[Frame], most: int) -> Sequence[Frame]:
    """At most `most` of them, evenly spread, the first and the last among them."""
    if len(moments) <= most:
        return moments
    return [moments[place] for place in np.linspace(0, len(moments) - 1, most).round().astype(int).tolist()]


def gif(
    puzzle: Puzzle, moments: Sequence[Frame], look: Look, scale: int = 0, delay: float = 0.2, hold: float = 2.0
) -> bytes:
    """An animated GIF that repeats for ever. The same arguments give the same bytes.

    delay, hold  seconds that a frame, and the last one, stay.
    Errors       InvalidPuzzle if the puzzle has more colours than a GIF holds, or is too large (`raster.fitted`).
    """
    canvas = canvas_of(puzzle, *fitted(puzzle, look, scale))
    if canvas.pixels.dtype != np.uint8:
        raise InvalidPuzzle(
            f"{puzzle.source or puzzle.name}: expected at most {GIF_COLOURS} shades for a GIF, found "
            f"{len(canvas.palette)}: PNG will do"
        )
    images = (image_of(canvas, painted(canvas, cells, line=line)) for cells, line in moments)
    durations = [_ticks(delay)] * (len(moments) - 1) + [_ticks(hold)]
    file = io.BytesIO()
    next(images).save(
        file, "GIF", save_all=True, append_images=images, duration=durations, loop=0, disposal=1, optimize=False
    )
    return file.getvalue()


def _ticks(seconds: float) -> int:
    """Milliseconds, in whole ticks; at least one, as zero means `as fast as you can`."""
    return max(TICK_MS, round(seconds * 1000 / TICK_MS) * TICK_MS)


def pngs(puzzle: Puzzle, moments: Iterable[Frame], look: Look, scale: int = 0) -> Iterator[bytes]:
    """One PNG file for each moment. Errors: InvalidPuzzle (`raster.fitted`)."""
    canvas = canvas_of(puzzle, *fitted(puzzle, look, scale))
    for cells, line in moments:
        yield png_of(canvas, painted(canvas, cells, line=line))
