"""Pictures in colours: each function draws one grid of colour indices, 0 the background, up to `inks`."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState

from . import black_white
from .fields import Grid, below, default_radius, levels, pick, smooth


def regions(random: RandomState, height: int, width: int, *, inks: int, cells: int) -> Grid:
    """Each cell takes the colour of the nearest of some points; `cells` points, 0: one for each 40 cells."""
    n_points = cells or max(inks + 1, height * width // 40)
    points_y, points_x = below(random, height, n_points), below(random, width, n_points)
    colours = np.concatenate([np.arange(min(inks + 1, n_points)), below(random, inks + 1, max(0, n_points - inks - 1))])
    nearest = np.full((height, width), np.iinfo(np.int64).max)
    grid = np.zeros((height, width), np.int64)
    y, x = np.ogrid[:height, :width]
    for point_y, point_x, colour in zip(points_y, points_x, colours, strict=True):
        distance = (y - point_y) ** 2 + (x - point_x) ** 2
        closer = distance < nearest
        nearest[closer] = distance[closer]
        grid[closer] = colour
    return grid


def patches(random: RandomState, height: int, width: int, *, inks: int, radius: int) -> Grid:
    """Each ink and the background has a soft landscape of its own; the highest is seen."""
    fields = smooth(random, inks + 1, height, width, radius or default_radius(height, width))
    return np.argmax(fields, axis=0)


def coloured_blobs(random: RandomState, height: int, width: int, *, inks: int, density: int) -> Grid:
    """Blobs on a background, `density` percent of the cells, each part in the ink that is strongest there."""
    shape = black_white.blobs(random, height, width, density=density, radius=0)
    return shape * (1 + patches(random, height, width, inks=inks - 1, radius=0))


def stripes(random: RandomState, height: int, width: int, *, inks: int) -> Grid:
    """Slanted, slightly wavy stripes of all colours in turn."""
    slant_y, slant_x = pick(random, -3, 3), pick(random, 1, 3)
    period = pick(random, 2, 4) * max(abs(slant_y), slant_x)
    wave = levels(smooth(random, 1, height, width, max(1, min(height, width) // 6))[0], 3 * period)
    y, x = np.ogrid[:height, :width]
    return (y * slant_y + x * slant_x + wave) // period % (inks + 1)


def sprites(random: RandomState, height: int, width: int, *, inks: int, density: int) -> Grid:
    """A symmetric figure with an outline in the first ink, filled in bands of the others."""
    shape = black_white.icons(random, height, width, density=density, symmetry=1)
    field = smooth(random, 1, height, width, max(1, min(height, width) // 8))[0]
    bands = levels(field + field[:, ::-1], max(1, inks - 1)) + min(2, inks)
    padded = np.pad(shape, 1)
    inside = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return np.where(inside == 1, bands, 1) * shape


def terraces(random: RandomState, height: int, width: int, *, inks: int) -> Grid:
    """A landscape coloured by height; the lowest step is the background."""
    return levels(smooth(random, 1, height, width, max(1, min(height, width) // 6))[0], inks + 1)


def confetti(random: RandomState, height: int, width: int, *, inks: int, density: int) -> Grid:
    """Cells of random inks at a density, whatever their neighbours are."""
    ink = 1 + below(random, inks, (height, width))
    return ink * black_white.noise(random, height, width, density=density)


def gaps(random: RandomState, height: int, width: int, *, inks: int) -> Grid:
    """Patches of colour cut by empty rows and columns: every third is blank."""
    grid = patches(random, height, width, inks=inks, radius=1)
    grid[::3] = 0
    grid[:, ::3] = 0
    return grid


def rainbow(random: RandomState, height: int, width: int, *, inks: int) -> Grid:
    """All inks in turn in reading order, one cell each: as many colours as the palette has."""
    return 1 + np.arange(height * width).reshape(height, width) % inks
