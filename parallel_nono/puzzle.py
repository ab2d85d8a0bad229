"""The puzzle: clues for rows and columns, a palette, a name. Nothing here knows how it is solved.

Colours are indices into the palette; 0 is the background, so black and white is a palette of two.
"""

from __future__ import annotations

import hashlib
import operator
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from os import PathLike
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, Unpack

if TYPE_CHECKING:
    from PIL.Image import Image

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

    >>> from parallel_nono import InvalidPuzzle, Puzzle
    >>> try:
    ...     Puzzle.of_text("2 2\\n1\\nx\\n1\\n1\\n", "nin")
    ... except InvalidPuzzle as error:
    ...     print(error)
    -:3: expected block lengths up to 200,000, found `x`
    """

    def __init__(self, message: str, *, name: str = "", index: int = 0) -> None:
        super().__init__(sound(message))
        self.name = sound(name)
        self.index = index


BLOT = 0
"""The length of a block whose length the clue hides: any run of its colour will do, of one cell or more."""


class Block(NamedTuple):
    """A run that a line must show: `length` cells (at least 1, or BLOT) of palette colour `colour` (at least 1).

    >>> from parallel_nono import BLOT, Block
    >>> Block(3).text, Block(BLOT, colour=2).text
    ('3', '?')
    """

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
    """One colour of a palette: a name, one character for text pictures, and 0xRRGGBB.

    >>> from parallel_nono import BLACK_AND_WHITE, Colour, Puzzle
    >>> red = Colour("red", "r", 0xD62728)
    >>> Puzzle.of_clues(rows=[2], columns=[1, 1], palette=(BLACK_AND_WHITE[0], red)).palette[1].name
    'red'
    """

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


SHADES = (
    ("black", 0x000000),
    ("red", 0xD62728),
    ("blue", 0x1F5FD6),
    ("green", 0x2CA02C),
    ("yellow", 0xF2C80F),
    ("orange", 0xFF7F0E),
    ("purple", 0x8E44AD),
    ("brown", 0x8C564B),
    ("pink", 0xFF7FBF),
    ("cyan", 0x17BECF),
    ("grey", 0x7F7F7F),
    ("lime", 0xA6D854),
)
"""Inks for puzzles that bring none."""


OPEN_SIGN = "?"
"""A cell of a grid as text whose colour is not known."""


def grid_text(grid: Iterable[Iterable[int]], n_colours: int) -> str:
    """A grid in one line: rows joined by `/`, one `letter` a cell, `?` for what is no colour of the palette (-1)."""
    return "/".join("".join(letter(c, n_colours) if 0 <= c < n_colours else OPEN_SIGN for c in row) for row in grid)


def palette_of(n_colours: int) -> Palette:
    """White and `n_colours` - 1 inks: twelve with names, the others numbered, their shades spread by a hash."""
    if n_colours <= 2:
        return BLACK_AND_WHITE
    inks = []
    for colour in range(1, n_colours):
        if colour <= len(SHADES):
            name, rgb = SHADES[colour - 1]
        else:
            name, rgb = f"ink{colour}", colour * 2654435761 % 0xF00000
        inks.append(Colour(name, letter(colour, n_colours), rgb))
    return (BLACK_AND_WHITE[0], *inks)


LooseBlock = int | str | tuple[int | str, int]
"""A block as `Puzzle.of_clues` takes it: a length, or a length and a colour; "?" is the length of a blot."""

LooseClue = LooseBlock | Sequence[LooseBlock]
"""A clue as `Puzzle.of_clues` takes it: a list of blocks; one block by itself; 0 or [] for an empty line."""


class MoreFields(TypedDict, total=False):
    """The fields of a `Puzzle` that say nothing of its clues."""

    name: str
    source: str
    index: int
    metadata: tuple[tuple[str, str], ...]
    goal: Grid | None
    warnings: tuple[str, ...]


class _Packed:
    """Has room for the clues as arrays: made by whoever first solves the puzzle, and no part of it."""

    __slots__ = ("_clues",)


@dataclass(frozen=True, slots=True, repr=False)
class Puzzle(_Packed):
    """A nonogram. Made of tuples, so it can be hashed, compared and read in a debugger.

    rows, columns  clues, top to bottom and left to right; their numbers are the height and the width.
    palette        colours by index, background first.
    index          place in its file, from 1.
    metadata       (key, value) pairs as the file has them: author, licence, id, ...
    goal           the grid that the file claims as its solution; it proves nothing.
    warnings       what the reader had to guess.
    Errors         InvalidPuzzle if a block has a negative length or a colour outside the palette,
                   or if the goal has another size.

    Made by `Puzzle.of_clues`, `of_text`, `of_picture` and `of_grid`, or read from files (`read`). A notebook shows it
    as a picture.

    >>> from parallel_nono import Puzzle
    >>> hook = Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1], name="hook")
    >>> hook
    Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1], name='hook')
    >>> hook.height, hook.width, hook.columns[1]
    (3, 3, (Block(length=1, colour=1), Block(length=1, colour=1)))
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

    def __repr__(self) -> str:
        """A call of `of_clues` that makes the puzzle again."""
        parts = [
            f"{side}=[{', '.join(map(_loose, clues))}]"
            for side, clues in (("rows", self.rows), ("columns", self.columns))
        ]
        for known in fields(self)[2:]:
            value = getattr(self, known.name)
            if value != known.default:
                parts.append(f"{known.name}={value!r}")
        return f"Puzzle.of_clues({', '.join(parts)})"

    @classmethod
    def of_clues(
        cls,
        rows: Iterable[LooseClue],
        columns: Iterable[LooseClue],
        palette: Palette | None = None,
        **more: Unpack[MoreFields],
    ) -> Puzzle:
        """The puzzle with these clues.

        rows, columns  one clue for each line, top to bottom and left to right: the lengths of its blocks; 0 or [] for
                       an empty line, a bare number for a single block, "?" for a block of unknown length. In colour,
                       a block is `(length, colour)`, colours counted from 1.
        palette        None: black and white, or as many inks as the clues use.
        more           further fields: name, goal, metadata, ...
        Errors         InvalidPuzzle naming the line, what was expected, and what was found.

        >>> from parallel_nono import Puzzle
        >>> Puzzle.of_clues(rows=[[1, 1], 0, "?"], columns=[[1, 1], [], [1, 1]]).rows[1]
        ()
        >>> Puzzle.of_clues(rows=[[(2, 1), (1, 2)]], columns=[1, 1, [(1, 2)]]).n_colours
        3
        >>> Puzzle.of_clues(rows=[[2, "x"]], columns=[1, 1])
        Traceback (most recent call last):
        ...
        parallel_nono.puzzle.InvalidPuzzle: row 1: expected a length from 1, "?" or (length, colour), found 'x'
        """
        made = tuple(
            tuple(_clue(clue, f"{side} {number}") for number, clue in enumerate(clues, start=1))
            for side, clues in (("row", rows), ("column", columns))
        )
        if palette is None:
            palette = palette_of(1 + max((block.colour for side in made for clue in side for block in clue), default=1))
        return cls(made[0], made[1], palette, **more)

    @classmethod
    def of_grid(
        cls, grid: Sequence[Sequence[int]], palette: Palette = BLACK_AND_WHITE, **more: Unpack[MoreFields]
    ) -> Puzzle:
        """The puzzle whose clues are the runs of a grid; the grid is its goal.

        grid    [height][width] colour indices, 0 for the background: lists, tuples or an array.
        more    further fields: name, metadata, ...
        Errors  InvalidPuzzle if rows differ in length, or a colour is not in the palette.

        >>> from parallel_nono import Puzzle
        >>> Puzzle.of_grid([[1, 1, 0], [0, 0, 0]])
        Puzzle.of_clues(rows=[2, 0], columns=[1, 1, 0], goal=((1, 1, 0), (0, 0, 0)))
        """
        goal = tuple(tuple(int(cell) for cell in row) for row in grid)
        for number, row in enumerate(goal, start=1):
            if len(row) != len(goal[0]):
                raise InvalidPuzzle(f"row {number}: expected {len(goal[0])} cells as in row 1, found {len(row)}")
        rows = tuple(runs(row) for row in goal)
        columns = tuple(runs(column) for column in zip(*goal, strict=True))
        more["goal"] = goal
        return cls(rows, columns, palette, **more)

    @classmethod
    def of_text(cls, text: str | bytes, format: str | None = None) -> Puzzle:
        """The one puzzle of a text, in any of the formats that `read` knows.

        text    as a file holds it; bytes for a format that is no text.
        format  a name as `pnono formats` lists them; None: recognised by the content.
        Errors  InvalidPuzzle if there is no puzzle, a broken one, or more than one.

        >>> from parallel_nono import Puzzle
        >>> Puzzle.of_text("width 2\\nheight 2\\nrows\\n2\\n1\\ncolumns\\n2\\n1\\n", "non")
        Puzzle.of_clues(rows=[2, 1], columns=[2, 1])
        """
        from .files.reading import puzzle_of_text

        return puzzle_of_text(text, format)

    @classmethod
    def of_picture(
        cls,
        picture: str | PathLike[str] | bytes | Image,
        *,
        width: int = 0,
        height: int = 0,
        size: int = 0,
        colours: int = 0,
        method: Literal["k-means", "median-cut"] = "k-means",
        threshold: int = -1,
        dither: bool = False,
        background: int | None = None,
        trim: bool = False,
    ) -> Puzzle:
        """The puzzle of a picture; the picture, as cells, is its goal. `pnono from-image` does the same.

        picture        the path of a file, its bytes, or an image of Pillow's. Of an animation the first picture.
        width, height  cells; 0: in proportion to the other. Both 0: `size` cells for the longer side; without that the
                       picture as it is, one pixel a cell, or 30 cells if it has more than 150.
        colours        2 to 31, the background included; 2 is black and white; 0: as they are if few, else 2.
        method         how the colours are chosen.
        threshold      0 to 255: what is darker is black; -1: where light and dark part best.
        dither         spread what the colours miss over the neighbours.
        background     0xRRGGBB: the colour nearest to it; None: transparent pixels, else white ones, else the corner.
        trim           cut off a margin of one colour.
        Errors         InvalidPuzzle if it is no picture, or too large; OSError if the file can't be read.

        >>> from PIL import Image
        >>> from parallel_nono import Puzzle
        >>> image = Image.new("1", (3, 2), "white")
        >>> image.putpixel((1, 0), 0)
        >>> Puzzle.of_picture(image).rows
        ((Block(length=1, colour=1),), ())
        """
        from .pictures.scan import Wish, puzzle_of_picture

        wish = Wish(width, height, size, colours, method, threshold, dither, background, trim)
        return puzzle_of_picture(picture, wish)

    def _repr_svg_(self) -> str | None:
        from .report.notebook import svg_of_puzzle

        return svg_of_puzzle(self)

    def _repr_html_(self) -> str:
        from .report.notebook import html_of_puzzle

        return html_of_puzzle(self)

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


def _clue(clue: LooseClue, where: str) -> Clue:
    """Errors: InvalidPuzzle."""
    if isinstance(clue, Block):
        return (clue,)
    if isinstance(clue, str) or not isinstance(clue, Iterable):
        return () if clue == 0 else (_block(clue, where),)
    blocks: list[LooseBlock] = list(clue)
    return () if blocks == [0] else tuple(_block(block, where) for block in blocks)


def _block(block: LooseBlock, where: str) -> Block:
    """Errors: InvalidPuzzle."""
    if isinstance(block, Block):
        return block
    try:
        length, colour = (block, 1) if isinstance(block, str) or not isinstance(block, Iterable) else block
        if length == "?":
            return Block(BLOT, operator.index(colour))
        if isinstance(length, str) or length < 1:
            raise ValueError
        return Block(operator.index(length), operator.index(colour))
    except (TypeError, ValueError):
        hope = 'a length from 1, "?" or (length, colour)'
        raise InvalidPuzzle(f"{where}: expected {hope}, found {block!r}") from None


def _loose(clue: Clue) -> str:
    """A clue as `Puzzle.of_clues` takes it, as short as can be."""

    def text(block: Block) -> str:
        length = '"?"' if block.is_blot else str(block.length)
        return length if block.colour == 1 else f"({length}, {block.colour})"

    if not clue:
        return "0"
    one = len(clue) == 1 and clue[0].colour == 1
    return text(clue[0]) if one else f"[{', '.join(map(text, clue))}]"


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
