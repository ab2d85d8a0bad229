"""Shades, as 0xRRGGBB: how light they are, what can be read on them, and one for open cells."""

from __future__ import annotations

from ..puzzle import Palette

OPEN_SHADES = (0xFF8C00, 0xFF00FF, 0x00C8FF, 0x7CFC00)
"""Shades for open cells: orange, or the first that no colour of the palette comes near."""

NEAR = 90
"""Two shades closer than this (Euclidean, 0-441) are taken for one another."""

EQUAL_CONTRAST = 0.179
"""The luminance at which black and white have the same contrast."""


def channels(shade: int) -> tuple[int, int, int]:
    """Red, green, blue, 0-255."""
    return shade >> 16, shade >> 8 & 255, shade & 255


def shade_of(red: int, green: int, blue: int) -> int:
    """The shade of three channels, 0-255."""
    return red << 16 | green << 8 | blue


def luminance(shade: int) -> float:
    """Relative luminance as WCAG 2 defines it, 0-1."""

    def linear(channel: int) -> float:
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = map(linear, channels(shade))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def text_on(shade: int) -> int:
    """Black or white, whichever can be read on this shade."""
    return 0x000000 if luminance(shade) > EQUAL_CONTRAST else 0xFFFFFF


def blend(one: int, other: int, part: float) -> int:
    """The shade `part` of the way from one to the other."""
    return shade_of(*(round(a + (b - a) * part) for a, b in zip(channels(one), channels(other), strict=True)))


def distance(one: int, other: int) -> float:
    """Euclidean, 0-441."""
    return sum((a - b) ** 2 for a, b in zip(channels(one), channels(other), strict=True)) ** 0.5


def open_shade(palette: Palette, *taken: int) -> int:
    """The shade for open cells: one that stands out from the palette, and from what is taken."""
    shades = [*(colour.rgb for colour in palette), *taken]
    return max(
        OPEN_SHADES, key=lambda shade: (min(NEAR, *(distance(shade, ink) for ink in shades)), -OPEN_SHADES.index(shade))
    )
