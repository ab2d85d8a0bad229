"""Blank lines among clues, in formats that tell no sizes: decoration, or empty lines of cells?

Sums can't tell, for an empty line adds nothing to them. What tells is whether rows and columns still agree: the lines
are solved until none learns anything, and a reading in which some line has no layout left is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from ...puzzle import Clue
from .text import Lines, fits

if TYPE_CHECKING:
    import numpy as np

MAX_PROPAGATED = 250_000
"""Cells of a grid whose lines are solved; of a larger one only sums and lengths are looked at."""

Side = list[Clue]


def without_gaps(
    rows: Lines, columns: Lines, clues: Callable[[Lines], Side], n_colours: int = 2
) -> tuple[Side, Side, list[str]]:
    """(rows, columns, warnings) of two lists of clues as text, in which blank texts stand for blank lines.

    clues      the clues of lines, blank ones included: they are empty clues.
    n_colours  of the palette.
    Blank lines are decoration where rows and columns agree without them; else those between clues are empty lines
    where that agrees, or all of them.
    """
    if all(text for side in (rows, columns) for _, text in side):
        return clues(rows), clues(columns), []
    choices = list(product(_readings(rows), _readings(columns)))
    read = [(clues(a), clues(b)) for a, b in choices]
    agreeing = [at for at, sides in enumerate(read) if all(sides) and agree(*sides, n_colours)]
    chosen = agreeing[0] if agreeing else 0
    inner = [_inner_blanks(side) for side in (rows, columns)]
    place = next((place for blanks in inner for place, _ in blanks), 0)
    where = f"line {place}: " if place else ""
    warnings = []
    if chosen:
        said = "a blank line among the clues is read as an empty line: without it rows and columns don't agree"
        warnings.append(where + said)
    elif any(inner):
        said = "a blank line among the clues is left aside, an empty line of cells would be `0`"
        kept = (
            any(b in side for b in blanks) for at in agreeing for blanks, side in zip(inner, choices[at], strict=True)
        )
        warnings.append(where + said + (" (rows and columns agree with an empty line there too)" if any(kept) else ""))
    return *read[chosen], warnings


def _readings(side: Lines) -> list[Lines]:
    """The lines of a side: without blank ones, with those between others, with all."""
    full = [line for line in side if line[1]]
    if len(full) in (0, len(side)):
        return [side]
    first = side.index(full[0])
    last = len(side) - 1 - side[::-1].index(full[-1])
    found = [full, side[first : last + 1], side]
    return [reading for at, reading in enumerate(found) if reading not in found[:at]]


def _inner_blanks(side: Lines) -> Lines:
    """The blank lines between others."""
    full = [at for at, (_, text) in enumerate(side) if text]
    return [line for line in side[full[0] : full[-1]] if not line[1]] if full else []


def agree(rows: Sequence[Clue], columns: Sequence[Clue], n_colours: int) -> bool:
    """False where solving lines shows that no grid has these rows and columns."""
    import numpy as np

    height, width = len(rows), len(columns)
    if n_colours == 2 and not fits(rows, columns):
        return False
    if height * width > MAX_PROPAGATED:
        return True
    possible = np.ones((n_colours, height, width), bool)
    waiting = {(side, place) for side, n in ((0, height), (1, width)) for place in range(n)}
    while waiting:
        side, place = waiting.pop()
        cells = possible[:, :, place] if side else possible[:, place, :]
        solved = _solved(cells, (columns if side else rows)[place])
        if solved is None:
            return False
        waiting |= {(1 - side, cell) for cell in np.flatnonzero((solved != cells).any(axis=0)).tolist()}
        cells[:] = solved
    return True


def _solved(cells: np.ndarray, clue: Clue) -> np.ndarray | None:
    """bool[colours, cells], what some layout of the clue uses of `cells`; None if it has none."""
    import numpy as np

    from ...kernels.line import solve_line_planes

    n_colours, n = cells.shape
    used = {0, *(colour for _, colour in clue)}
    bits = np.zeros((n_colours, (n + 63) // 64 * 64), np.uint8)
    bits[sorted(used), :n] = cells[sorted(used)]
    lengths = np.array([min(length, n + 1) for length, _ in clue], np.int32)
    colours = np.array([colour for _, colour in clue], np.uint16)
    planes = solve_line_planes(np.packbits(bits, axis=1, bitorder="little").view(np.uint64), n, lengths, colours)
    if planes is None:
        return None
    return np.unpackbits(planes.view(np.uint8), axis=1, count=n, bitorder="little").astype(bool)
