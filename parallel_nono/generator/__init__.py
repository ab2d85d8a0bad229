"""Puzzles from seeds: the same bytes on every machine and version.

`generate` makes one puzzle, `generate_set` a packed set without an object per puzzle, `generate_huge` a set of one
without an object per block; `manifest.write_manifest` whole files.
A kind of picture is one function and one line in `GENERATORS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..puzzle import BLACK_AND_WHITE, InvalidPuzzle, Puzzle, palette_of
from . import black_white, colour, special
from .fields import random_of

if TYPE_CHECKING:
    import pyarrow as pa

LICENCE = "MIT"


@dataclass(frozen=True, slots=True)
class Generator:
    """A kind of puzzle that can be made from a seed.

    title    one sentence for people.
    make     (stream, height, width, **options) -> grid of colour indices, or (rows, columns) of clues.
    options  whole numbers with their defaults; `inks` is the size of the palette without the background.
    many     (stream, count, height, width, **options) -> uint8[count, height, width], black and white.
    """

    title: str
    make: Callable[..., Any]
    options: dict[str, int] = field(default_factory=dict)
    many: Callable[..., Any] | None = None


GENERATORS: dict[str, Generator] = {
    "noise": Generator(
        "Independent cells, `density` percent ink.", black_white.noise, {"density": 50}, black_white.noise_set
    ),
    "blobs": Generator(
        "Smoothed noise, like most pictures of puzzle sites.",
        black_white.blobs,
        {"density": 50, "radius": 0},
        black_white.blobs_set,
    ),
    "icons": Generator("One symmetric figure.", black_white.icons, {"density": 45, "symmetry": 0}),
    "glyphs": Generator("Shapes like letters, `size` cells high.", black_white.glyphs, {"size": 0}),
    "mazes": Generator("The walls of a maze.", black_white.mazes, {"corridor": 1}),
    "contours": Generator("Contour lines of a landscape.", black_white.contours, {"steps": 4, "thick": 2}),
    "dither": Generator("Ordered dithering, often ambiguous.", black_white.dither),
    "regions": Generator("Coloured regions around points.", colour.regions, {"inks": 4, "cells": 0}),
    "patches": Generator("Soft patches of all colours.", colour.patches, {"inks": 4, "radius": 0}),
    "coloured_blobs": Generator("Blobs in inks on a background.", colour.coloured_blobs, {"inks": 4, "density": 55}),
    "stripes": Generator("Wavy stripes of all colours.", colour.stripes, {"inks": 4}),
    "sprites": Generator("A symmetric figure with an outline.", colour.sprites, {"inks": 4, "density": 55}),
    "terraces": Generator("A landscape coloured by height.", colour.terraces, {"inks": 4}),
    "confetti": Generator("Single cells of random inks.", colour.confetti, {"inks": 4, "density": 50}),
    "gaps": Generator("Patches cut by empty rows and columns.", colour.gaps, {"inks": 3}),
    "rainbow": Generator("As many inks as asked, one cell each in turn.", colour.rainbow, {"inks": 37}),
    "domino": Generator("n-Dom, height and width 2n + 1.", special.domino),
    "empty": Generator("No ink at all.", special.empty),
    "full": Generator("Ink everywhere.", special.full),
    "one_cell": Generator("One cell of ink.", special.one_cell),
    "checkerboard": Generator("Ink in every other cell.", special.checkerboard),
    "combs": Generator("Rows with the longest clue of ones.", special.combs),
    "permutation": Generator("Every clue a single 1.", special.permutation),
    "mismatch": Generator("Rows and columns sum to different numbers.", special.mismatch),
    "too_long": Generator("A clue longer than its row.", special.too_long),
    "contradiction": Generator("Clues that contradict each other within lines.", special.contradiction),
    "impasse": Generator("No solution, but lines alone do not show it.", special.impasse),
    "shuffled": Generator("A picture with its columns in another order.", special.shuffled),
}


def generate(kind: str, height: int, width: int, seed: int = 0, **options: int) -> Puzzle:
    """One puzzle: the same arguments give the same puzzle on every machine and version.

    seed     0 to 2**32 - 1.
    options  as the kind has them in `GENERATORS`; what is not given has its default.
    Errors   InvalidPuzzle if the kind, an option or the size is unknown to it.

    >>> from parallel_nono import generate
    >>> puzzle = generate("blobs", 3, 5, seed=7, density=60)
    >>> puzzle.name, puzzle.goal
    ('blobs 3x5 7', ((0, 0, 0, 0, 0), (1, 1, 1, 0, 1), (1, 1, 1, 1, 1)))
    """
    generator, options = _chosen(kind, height, width, seed, options)
    made = generator.make(random_of(kind, height, width, seed), height, width, **options)
    if isinstance(made, tuple):
        puzzle = Puzzle(*made)
    else:
        puzzle = Puzzle.of_grid(made.tolist(), palette_of(options.get("inks", 1) + 1))
    name, facts = _facts(kind, height, width, seed, options)
    return replace(puzzle, name=name, metadata=facts)


def generate_set(
    kind: str, count: int, height: int, width: int, seed: int = 0, first_index: int = 1, **options: int
) -> pa.RecordBatch:
    """A packed set of `count` black-white puzzles of one size, without an object for each.

    The whole set is one stream of random numbers: its first puzzle has the clues of `generate` with the same
    arguments, and a longer set begins with a shorter one. A million puzzles are made as sets with seeds of their own.
    first_index  the index of the first puzzle; the others follow.
    Errors       InvalidPuzzle as `generate`, and for a kind without a way to draw many at once.
    """
    from ..puzzleset import SetBuilder
    from .many import lines_of

    generator, options = _chosen(kind, height, width, seed, options)
    if generator.many is None:
        able = ", ".join(name for name, other in GENERATORS.items() if other.many)
        raise InvalidPuzzle(f"expected a kind that draws whole sets ({able}), found {kind}")
    cells = generator.many(random_of(kind, height, width, seed), count, height, width, **options)
    counts, lengths, _ = lines_of(cells)
    names = [f"{kind} {height}x{width} {seed}.{place}" for place in range(count)]
    builder = SetBuilder()
    builder.add_black_white([height] * count, [width] * count, counts, lengths, names, f"generate:{kind}", first_index)
    return builder.finish()


def generate_huge(kind: str, height: int, width: int, seed: int = 0, index: int = 1, **options: int) -> pa.RecordBatch:
    """The puzzle of `generate` as a packed set of one, of any size: without its goal, and without an object for each
    block.

    Errors  InvalidPuzzle as `generate`, and if it has more cells than the solver takes.
    """
    from ..formats.common.text import MAX_CELLS
    from ..puzzleset import SetBuilder, set_of
    from .many import lines_of

    if height * width > MAX_CELLS:
        raise InvalidPuzzle(f"{kind}: expected at most {MAX_CELLS:,} cells, found {height:,} x {width:,}")
    generator, options = _chosen(kind, height, width, seed, options)
    made = generator.make(random_of(kind, height, width, seed), height, width, **options)
    name, facts = _facts(kind, height, width, seed, options)
    if isinstance(made, tuple):
        rows, columns = made
        return set_of([Puzzle(rows, columns, name=name, source=kind, index=index, metadata=facts)])
    builder = SetBuilder()
    counts, lengths, colours = lines_of(np.asarray(made)[None])
    builder.add_black_white([height], [width], counts, lengths, [name], kind, index)
    builder.metadata[-1] = json.dumps(dict(facts), ensure_ascii=False)
    palette = palette_of(options.get("inks", 1) + 1)
    if palette != BLACK_AND_WHITE:
        builder.set_colours(palette, colours)
    return builder.finish()


def _facts(
    kind: str, height: int, width: int, seed: int, options: dict[str, int]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Name and metadata of a puzzle."""
    facts = {"generator": kind, "seed": seed, **options, "license": LICENCE}
    return f"{kind} {height}x{width} {seed}", tuple((key, str(value)) for key, value in facts.items())


def _chosen(kind: str, height: int, width: int, seed: int, options: dict[str, int]) -> tuple[Generator, dict[str, int]]:
    """The generator and all its options. Errors: InvalidPuzzle."""
    generator = GENERATORS.get(kind)
    if generator is None:
        raise InvalidPuzzle(f"expected a kind of puzzle ({', '.join(GENERATORS)}), found {kind}")
    if height < 1 or width < 1:
        raise InvalidPuzzle(f"{kind}: expected height and width from 1, found {height} and {width}")
    if not 0 <= seed < 1 << 32:
        raise InvalidPuzzle(f"{kind}: expected a seed from 0 to {(1 << 32) - 1}, found {seed}")
    for name, value in options.items():
        if name not in generator.options:
            known = ", ".join(generator.options) or "none"
            raise InvalidPuzzle(f"{kind}: expected options among {known}, found {name}")
        least, most = (1, 65_000) if name in _FROM_ONE else (0, 65_000)
        if name == "density":
            most = 100
        if not least <= value <= most:
            raise InvalidPuzzle(f"{kind}: expected {name} from {least} to {most}, found {value}")
    return generator, {**generator.options, **options}


_FROM_ONE = {"inks", "steps", "corridor", "thick"}


__all__ = ["GENERATORS", "Generator", "generate", "generate_huge", "generate_set"]
