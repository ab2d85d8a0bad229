"""The puzzle: clues for rows and columns, a palette, a name. Nothing here knows how it is solved.

Colours are indices into the palette; 0 is the background, so black and white is a palette of two.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

Grid = tuple[tuple[int, ...], ...]
"""Colour indices, row by row."""


SURROGATE = re.compile("[\ud800-\udfff]")


def sound(text: str) -> str:
    """`text` with each lone surrogate, which no file and no terminal takes, as `\\ud800`."""
    if text.isascii() or not SURROGATE.search(text):
        return text
    return text.encode("utf-8", "backslashreplace").decode()


class InvalidPuzzle(ValueError):
    """The text can't be turned into a puzzle. The message says where, what was expected, what was found.

    `name` and `index` (from 1) tell which puzzle of a file it was, where that is known.
    """

    def __init__(self, message: str, *, name: str = "", index: int = 0) -> None:
        super().__init__(sound(message))
        self.name = sound(name)
        self.index = index


BLOT = 0
"""The length of a block whose length the clue hides: any run of its colour will do, of one cell or more."""


class Block(NamedTuple):
    """A run that a line must show: `length` cells (at least 1, or BLOT) of palette colour `colour` (at least 1)."""

    length: int
    colour: int = 1

    @property
    def is_blot(self) -> bool:
        return self.length == BLOT

    @property
    def text(self) -> str:
        """The length as clues show it: `3`, or `?` for a blot."""
        return "?" if self.length == BLOT else str(self.length)


Clue = tuple[Block, ...]
"""The blocks of one line in reading order; an empty line is an empty clue."""


class Colour(NamedTuple):
    """One colour of a palette: a name, one character for text pictures, and 0xRRGGBB."""

    name: str
    char: str
    rgb: int


Palette = tuple[Colour, ...]

BLACK_AND_WHITE: Palette = (Colour("white", ".", 0xFFFFFF), Colour("black", "#", 0x000000))

LETTERS = "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(colour: int, n_colours: int) -> str:
    """The character of a colour in a solution written as text.

    Background `.`; the one ink of a black-white puzzle `#`; inks of a colour puzzle `a`-`z`, `A`-`Z`, then
    the characters from U+0100 on, so that any palette can be written with one character a cell.
    """
    if colour == 0:
        return "."
    if n_colours == 2:
        return "#"
    return LETTERS[colour] if colour < len(LETTERS) else chr(0x100 + colour - len(LETTERS))


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A nonogram. Made of tuples, so it can be hashed, compared and read in a debugger.

    rows, columns  clues, top to bottom and left to right; their numbers are the height and the width.
    palette        colours by index, background first.
    index          place in its file, from 1.
    metadata       (key, value) pairs as the file has them: author, licence, id, ...
    goal           the grid that the file claims as its solution; it proves nothing.
    warnings       what the reader had to guess.
    Errors         InvalidPuzzle if a block has a negative length or a colour outside the palette,
                   or if the goal has another size.
    """

    rows: tuple[Clue, ...]
    columns: tuple[Clue, ...]
    palette: Palette = BLACK_AND_WHITE
    name: str = ""
    source: str = ""
    index: int = 1
    metadata: tuple[tuple[str, str], ...] = ()
    goal: Grid | None = None
    warnings: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        self._make_sound()
        if not self.rows or not self.columns:
            raise InvalidPuzzle(f"expected at least one row and one column, found {self.height} and {self.width}")
        inks = len(self.palette) - 1
        for kind, clues in (("row", self.rows), ("column", self.columns)):
            for number, clue in enumerate(clues, start=1):
                for length, colour in clue:
                    if length < BLOT:
                        raise InvalidPuzzle(f"{kind} {number}: expected block lengths from 1, found {length}")
                    if not 1 <= colour <= inks:
                        raise InvalidPuzzle(f"{kind} {number}: expected a colour from 1 to {inks}, found {colour}")
        if self.goal is not None and (
            len(self.goal) != self.height or any(len(row) != self.width for row in self.goal)
        ):
            raise InvalidPuzzle(f"expected a goal of {self.height} rows of {self.width} cells, found another size")

    def _make_sound(self) -> None:
        """Texts as files and terminals take them: a title may come out of an escape that is half a character."""
        colours = () if self.palette is BLACK_AND_WHITE else self.palette
        told = "".join(
            [self.name, self.source, *(text for pair in self.metadata for text in pair), *self.warnings]
            + [text for colour in colours for text in colour[:2]]
        )
        if told.isascii() or not SURROGATE.search(told):
            return
        changed = {
            "name": sound(self.name),
            "source": sound(self.source),
            "metadata": tuple((sound(key), sound(value)) for key, value in self.metadata),
            "warnings": tuple(map(sound, self.warnings)),
            "palette": tuple(
                Colour(sound(name), letter(place, self.n_colours) if SURROGATE.search(char) else char, rgb)
                for place, (name, char, rgb) in enumerate(self.palette)
            ),
        }
        for field_name, value in changed.items():
            object.__setattr__(self, field_name, value)

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return len(self.columns)

    @property
    def n_colours(self) -> int:
        """Colours of the palette, the background included: 2 for black and white."""
        return len(self.palette)

    @property
    def has_blots(self) -> bool:
        """True if some block hides its length."""
        return any(block.length == BLOT for clue in (*self.rows, *self.columns) for block in clue)

    @property
    def digest(self) -> str:
        """32 hex digits, the same for the same clues whatever the format, the names and the shades."""
        return hashlib.blake2b(canonical_bytes(self.rows, self.columns), digest_size=16).hexdigest()

    @classmethod
    def of_grid(cls, grid: Sequence[Sequence[int]], palette: Palette = BLACK_AND_WHITE, **more: object) -> Puzzle:
        """The puzzle whose clues are the runs of `grid`; the grid is its goal. `more` are further fields."""
        goal = tuple(tuple(int(cell) for cell in row) for row in grid)
        rows = tuple(runs(row) for row in goal)
        columns = tuple(runs(column) for column in zip(*goal, strict=True))
        return cls(rows, columns, palette, goal=goal, **more)  # type: ignore[arg-type]

    def transposed(self) -> Puzzle:
        """Rows and columns exchanged; its solutions are the transposed solutions."""
        goal = None if self.goal is None else tuple(zip(*self.goal, strict=True))
        return replace(self, rows=self.columns, columns=self.rows, goal=goal)

    def mirrored(self) -> Puzzle:
        """Left and right exchanged."""
        return replace(
            self,
            rows=tuple(clue[::-1] for clue in self.rows),
            columns=self.columns[::-1],
            goal=None if self.goal is None else tuple(row[::-1] for row in self.goal),
        )

    def recoloured(self, order: Sequence[int]) -> Puzzle:
        """Colour c becomes colour order[c]; `order` is a permutation of the palette with order[0] == 0."""
        if sorted(order) != list(range(self.n_colours)) or order[0] != 0:
            raise ValueError(f"expected a permutation of 0..{self.n_colours - 1} that keeps 0, found {list(order)}")
        palette = list(self.palette)
        for old, new in enumerate(order):
            palette[new] = self.palette[old]

        def turned(clues: tuple[Clue, ...]) -> tuple[Clue, ...]:
            return tuple(tuple(Block(b.length, order[b.colour]) for b in clue) for clue in clues)

        return replace(
            self,
            rows=turned(self.rows),
            columns=turned(self.columns),
            palette=tuple(palette),
            goal=None if self.goal is None else tuple(tuple(order[c] for c in row) for row in self.goal),
        )


def line_name(line: int, height: int) -> str:
    """What people call a line that is counted from 0, rows first: `row 3`, or after the last row `column 4`."""
    return f"row {line + 1}" if line < height else f"column {line - height + 1}"


def runs(cells: Iterable[int]) -> Clue:
    """The clue that a finished line shows: its maximal runs of one ink."""
    return tuple(Block(sum(1 for _ in run), colour) for colour, run in groupby(cells) if colour)


def shows(cells: Iterable[int], clue: Clue) -> bool:
    """True if a finished line obeys a clue; a blot is a run of any length."""
    found = runs(cells)
    return len(found) == len(clue) and all(
        run.colour == block.colour and block.length in (BLOT, run.length)
        for run, block in zip(found, clue, strict=True)
    )


def canonical_bytes(rows: Sequence[Clue], columns: Sequence[Clue]) -> bytes:
    """What the digest is taken of: little-endian uint32 height, width, then for each line, rows first,
    the number of blocks and for each block its length (0 for a blot) and its colour, colours numbered by first
    use."""
    words = [len(rows), len(columns)]
    rank: dict[int, int] = {}
    for clue in (*rows, *columns):
        words.append(len(clue))
        for length, colour in clue:
            words += (length, rank.setdefault(colour, len(rank) + 1))
    return struct.pack(f"<{len(words)}I", *words)
