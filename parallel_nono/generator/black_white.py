"""Pictures in black and white: each function draws one grid of 0 and 1 from a stream of random numbers."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState

from .fields import MAX_AT_ONCE, Grid, below, brightest, brightest_smooth, default_radius, levels, pick, smooth


def noise_set(random: RandomState, count: int, height: int, width: int, *, density: int) -> np.ndarray:
    """uint8[count, height, width]; each cell is ink with `density` percent, whatever its neighbours are."""
    return (random.randint(0, 100, (count, height, width), dtype=np.uint8) < density).astype(np.uint8)


def blobs_set(random: RandomState, count: int, height: int, width: int, *, density: int, radius: int) -> np.ndarray:
    """uint8[count, height, width]; smoothed noise of which `density` percent is ink; radius 0 follows the size."""
    return brightest(smooth(random, count, height, width, radius or default_radius(height, width)), density)


def noise(random: RandomState, height: int, width: int, *, density: int) -> Grid:
    return noise_set(random, 1, height, width, density=density)[0]


def blobs(random: RandomState, height: int, width: int, *, density: int, radius: int) -> Grid:
    radius = radius or default_radius(height, width)
    if (height + 4 * radius) * (width + 4 * radius) > MAX_AT_ONCE:
        return brightest_smooth(random, height, width, radius, density)
    return blobs_set(random, 1, height, width, density=density, radius=radius)[0]


def icons(random: RandomState, height: int, width: int, *, density: int, symmetry: int) -> Grid:
    """A symmetric figure. symmetry: 1 left-right, 2 both ways, 3 half a turn, 0 one of them by chance."""
    symmetry = symmetry or pick(random, 1, 3)
    field = smooth(random, 1, height, width, max(1, min(height, width) // 16))[0]
    if symmetry in (1, 2):
        field = field + field[:, ::-1]
    if symmetry == 2:
        field = field + field[::-1]
    if symmetry == 3:
        field = field + field[::-1, ::-1]
    # Farther from the middle less ink, so that a figure stands free.
    y, x = np.ogrid[:height, :width]
    far = (2 * y - height + 1) ** 2 * width**2 + (2 * x - width + 1) ** 2 * height**2
    spread = int(field.max() - field.min())
    field = field - spread * far // (2 * height**2 * width**2)
    return brightest(field[None], density)[0]


# Strokes between the anchors of a letter: 3 columns (x 0..2) and 5 rows (y 0..4).
_STROKES = (
    ((0, 0), (0, 4)),
    ((2, 0), (2, 4)),
    ((1, 0), (1, 4)),
    ((0, 0), (2, 0)),
    ((0, 2), (2, 2)),
    ((0, 4), (2, 4)),
    ((0, 0), (2, 4)),
    ((2, 0), (0, 4)),
    ((0, 2), (1, 0)),
    ((1, 0), (2, 2)),
    ((0, 2), (1, 4)),
    ((1, 4), (2, 2)),
    ((0, 0), (0, 2)),
    ((2, 2), (2, 4)),
)


def glyphs(random: RandomState, height: int, width: int, *, size: int) -> Grid:
    """Shapes like letters of an unknown script in a grid; `size` cells high, 0: one or a few a side."""
    grid = np.zeros((height, width), np.uint8)
    size = size or max(5, min(height, width) // (1 + min(height, width) // 40))
    n_down, n_across = max(1, height // size), max(1, width // max(1, size * 4 // 5))
    for down in range(n_down):
        for across in range(n_across):
            top, bottom = height * down // n_down, height * (down + 1) // n_down
            left, right = width * across // n_across, width * (across + 1) // n_across
            _draw_glyph(random, grid[top:bottom, left:right])
    return grid


def _draw_glyph(random: RandomState, box: np.ndarray) -> None:
    """Three to five strokes, as thick as the box allows, one cell free at the right and the bottom."""
    height, width = box.shape
    thick = max(1, min(height, width) // 6)
    inner_height, inner_width = max(1, height - thick - (height > 3)), max(1, width - thick - (width > 3))
    order = np.argsort(below(random, 1 << 30, len(_STROKES)), kind="stable")
    for stroke in order[: pick(random, 3, 5)].tolist():
        (x0, y0), (x1, y1) = _STROKES[stroke]
        x0, x1 = x0 * (inner_width - 1) // 2, x1 * (inner_width - 1) // 2
        y0, y1 = y0 * (inner_height - 1) // 4, y1 * (inner_height - 1) // 4
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(steps + 1):
            x, y = x0 + (x1 - x0) * step // steps, y0 + (y1 - y0) * step // steps
            box[y : y + thick, x : x + thick] = 1


def mazes(random: RandomState, height: int, width: int, *, corridor: int) -> Grid:
    """The walls of a maze without loops, its corridors `corridor` cells wide, carved from a corner on."""
    step = corridor + 1
    n_down, n_across = max(1, (height - 1) // step), max(1, (width - 1) // step)
    grid = np.zeros((height, width), np.uint8)
    grid[: n_down * step + 1, : n_across * step + 1] = 1
    seen = np.zeros((n_down, n_across), bool)

    def carve(y0: int, x0: int, y1: int, x1: int) -> None:
        (top, bottom), (left, right) = sorted((y0, y1)), sorted((x0, x1))
        grid[top * step + 1 : (bottom + 1) * step, left * step + 1 : (right + 1) * step] = 0

    path = [(0, 0)]
    seen[0, 0] = True
    carve(0, 0, 0, 0)
    while path:
        y, x = path[-1]
        near = [(y - 1, x), (y, x + 1), (y + 1, x), (y, x - 1)]
        near = [(b, a) for b, a in near if 0 <= b < n_down and 0 <= a < n_across and not seen[b, a]]
        if not near:
            path.pop()
            continue
        b, a = near[pick(random, 0, len(near) - 1)]
        seen[b, a] = True
        carve(y, x, b, a)
        path.append((b, a))
    return grid


def contours(random: RandomState, height: int, width: int, *, steps: int, thick: int) -> Grid:
    """Lines between `steps` heights of a landscape, as on a map, `thick` cells wide."""
    field = smooth(random, 1, height + thick, width + thick, max(1, min(height, width) // 7))[0]
    step = levels(field, steps)
    lowest = highest = step[:height, :width]
    for y, x in np.ndindex(thick + 1, thick + 1):
        part = step[y : y + height, x : x + width]
        lowest, highest = np.minimum(lowest, part), np.maximum(highest, part)
    return (lowest != highest).astype(np.uint8)


_BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])


def dither(random: RandomState, height: int, width: int) -> Grid:
    """A soft landscape in ordered dithering, as pixel art has it: often ambiguous."""
    field = levels(smooth(random, 1, height, width, max(2, min(height, width) // 4))[0], 17)
    y, x = np.ogrid[:height, :width]
    return (field > _BAYER[y % 4, x % 4]).astype(np.uint8)
