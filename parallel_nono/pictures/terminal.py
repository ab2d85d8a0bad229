"""A grid with its clues as lines of text: plain letters, or cells in true colours (24-bit ANSI).

A picture never wraps. It takes the first layout that fits into the width given: clues and wide cells; wide cells
alone; narrow cells alone (in colour half blocks, two rows to a line), cut into strips where even these are too wide.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from ..puzzle import Block, Clue, Grid, Puzzle, letter
from .door import printable
from .shades import blend, channels, open_shade, text_on

CLUE_SHADE = 0x303030
"""Ground of the clue numbers of a black-white puzzle, readable on light and dark terminals."""

MAX_NAMES = 40
"""Colours that a legend names."""

RESET = "\x1b[0m"


def text_picture(
    puzzle: Puzzle,
    grid: Sequence[Sequence[int]],
    *,
    width: int = 0,
    clues: bool = True,
    marks: Collection[tuple[int, int]] = (),
) -> str:
    """The grid in letters (`puzzle.letter`), `?` for an open cell (-1), `*` after a marked one.

    width  of the terminal in characters; 0: as wide as need be.
    marks  (row, column) pairs from 0.
    """

    def cell(row: int, column: int, wide: int) -> str:
        colour = grid[row][column]
        char = "?" if colour < 0 else letter(colour, puzzle.n_colours)
        return char if wide == 1 else f"{char}{'*' if (row, column) in marks else ' '}".ljust(wide)

    def number(block: Block | None, wide: int, _: int) -> str:
        return ("" if block is None else _block_text(puzzle, block)).ljust(wide)

    digits = max((len(_block_text(puzzle, b)) for clue in puzzle.columns for b in clue), default=1)
    if clues:
        for wide in sorted({digits + 1, max(digits, 2)}, reverse=True):
            if wide >= 2 and (not width or _clue_width(puzzle) + 1 + wide * puzzle.width <= width):
                return "\n".join(line.rstrip() for line in _with_clues(puzzle, cell, number, wide))
    wide = 2 if marks else 1
    return "\n".join(
        line.rstrip() for line in _strips(puzzle, width // wide or puzzle.width, lambda r, c: cell(r, c, wide))
    )


def colour_picture(
    puzzle: Puzzle,
    grid: Sequence[Sequence[int]],
    *,
    width: int = 80,
    clues: bool = True,
    marks: Collection[tuple[int, int]] = (),
) -> str:
    """The grid in the colours of the palette; open cells in a shade of their own with `?`, marked ones in brackets.

    Two characters make a cell about square. Arguments as for `text_picture`.
    """
    unknown = open_shade(puzzle.palette)
    shades = [colour.rgb for colour in puzzle.palette]

    def shade(row: int, column: int) -> int:
        colour = grid[row][column]
        return unknown if colour < 0 else shades[colour]

    def cell(row: int, column: int, wide: int) -> str:
        sign = "[]" if (row, column) in marks else " ?" if grid[row][column] < 0 else ""
        return _paint(sign.center(wide), shade(row, column))

    def number(block: Block | None, wide: int, place: int) -> str:
        if block is None:
            return " " * wide
        ground = CLUE_SHADE if puzzle.n_colours == 2 else shades[block.colour]
        crowded = place % 2 and digits == wide  # no space between neighbouring numbers
        return _paint(block.text.rjust(wide), _other_shade(ground) if crowded else ground)

    digits = max((len(b.text) for clue in puzzle.columns for b in clue), default=1)
    wide = max(2, digits)
    if clues and (not width or _clue_width(puzzle, coloured=True) + 1 + wide * puzzle.width <= width):
        return "\n".join(map(_merged, _with_clues(puzzle, cell, number, wide, coloured=True)))
    if not width or 2 * puzzle.width <= width or marks:
        return "\n".join(map(_merged, _strips(puzzle, width // 2 or puzzle.width, lambda r, c: cell(r, c, 2))))

    def half_blocks(row: int, column: int) -> str:
        top = f"\x1b[38;2;{_escape(shade(row, column))}"
        if row + 1 == puzzle.height:
            return f"{top}m▀{RESET}"
        return f"{top};48;2;{_escape(shade(row + 1, column))}m▀{RESET}"

    return "\n".join(map(_merged, _strips(puzzle, width, half_blocks, step=2)))


def differences(first: Grid, second: Grid) -> set[tuple[int, int]]:
    """(row, column) from 0 of the cells in which two grids of one size differ."""
    return {
        (r, c)
        for r, (one, other) in enumerate(zip(first, second, strict=True))
        for c, (a, b) in enumerate(zip(one, other, strict=True))
        if a != b
    }


def legend(puzzle: Puzzle, *, colour: bool = False) -> str:
    """The letters of a colour puzzle with the names of their colours: `. white, a red`; "" for black and white."""
    if puzzle.n_colours == 2:
        return ""
    names = []
    for index, ink in enumerate(puzzle.palette[:MAX_NAMES]):
        char = letter(index, puzzle.n_colours)
        sign = _paint(f" {char} ", ink.rgb) if colour else char
        names.append(f"{sign} {printable(ink.name) or f'#{ink.rgb:06x}'}")
    rest = puzzle.n_colours - len(names)
    return ", ".join(names) + (f" and {rest:,} more" if rest else "")


def _with_clues(
    puzzle: Puzzle,
    cell: Callable[[int, int, int], str],
    number: Callable[[Block | None, int, int], str],
    wide: int,
    *,
    coloured: bool = False,
) -> Iterator[str]:
    """Column clues above, row clues at the left, both leaning on the grid."""
    deepest = max(map(len, puzzle.columns))
    left = _clue_width(puzzle, coloured=coloured)
    columns = [(None,) * (deepest - len(clue)) + clue for clue in puzzle.columns]
    for depth in range(deepest):
        numbers = [number(column[depth], wide, place) for place, column in enumerate(columns)]
        yield " " * (left + 1) + "".join(numbers)
    for row, clue in enumerate(puzzle.rows):
        numbers = [number(block, len(_block_text(puzzle, block, coloured)), 0) for block in clue]
        margin = " " * (left - _width(puzzle, clue, coloured))
        yield f"{margin}{' '.join(numbers)} " + "".join(cell(row, column, wide) for column in range(puzzle.width))


def _strips(puzzle: Puzzle, most: int, cell: Callable[[int, int], str], step: int = 1) -> Iterator[str]:
    """The grid without clues, `most` columns at a time; a wide one comes in strips with headings."""
    for first in range(0, puzzle.width, most):
        last = min(first + most, puzzle.width)
        if puzzle.width > most:
            yield f"columns {first + 1}-{last}:"
        for row in range(0, puzzle.height, step):
            yield "".join(cell(row, column) for column in range(first, last))


def _block_text(puzzle: Puzzle, block: Block, coloured: bool = False) -> str:
    """`3`, or with its letter `3a` where the colour is not shown otherwise."""
    if coloured or puzzle.n_colours == 2:
        return block.text
    return f"{block.text}{letter(block.colour, puzzle.n_colours)}"


def _width(puzzle: Puzzle, clue: Clue, coloured: bool) -> int:
    return sum(len(_block_text(puzzle, block, coloured)) + 1 for block in clue) - bool(clue)


def clue_size(puzzle: Puzzle, *, coloured: bool) -> tuple[int, int, int]:
    """(characters before the grid, lines above it, characters a cell) of a picture with clues of any width."""
    digits = max((len(_block_text(puzzle, b, coloured)) for clue in puzzle.columns for b in clue), default=1)
    wide = max(2, digits) if coloured else digits + 1
    return _clue_width(puzzle, coloured=coloured) + 1, max(map(len, puzzle.columns)), wide


def _clue_width(puzzle: Puzzle, *, coloured: bool = False) -> int:
    return max(_width(puzzle, clue, coloured) for clue in puzzle.rows)


def _escape(shade: int) -> str:
    """A shade as the terminal wants it."""
    return ";".join(map(str, channels(shade)))


def _paint(text: str, shade: int) -> str:
    """Text on a ground of this shade, black or white, whichever can be read on it."""
    return f"\x1b[38;2;{_escape(text_on(shade))};48;2;{_escape(shade)}m{text}{RESET}"


def _merged(line: str) -> str:
    """A line of painted pieces, neighbours of the same paint under one code."""
    pieces: list[str] = []
    before = ""
    for piece in line.split(RESET):
        plain, escape, rest = piece.partition("\x1b")
        paint, _, text = rest.partition("m")
        if escape and not plain and paint == before:
            pieces[-1] += text
        else:
            pieces.append(piece)
        before = paint
    return RESET.join(pieces)


def _other_shade(shade: int) -> int:
    """A quarter of the way to white, or to black from a light shade: tells neighbouring numbers apart."""
    return blend(shade, text_on(shade), 0.25)
