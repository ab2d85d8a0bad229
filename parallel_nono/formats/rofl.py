"""ROFL, the "ROFL Omitting Format Language" of Izaron: a picture file that omits the picture and keeps its clues.

    4 bytes  52 4F 46 4C, "ROFL"
    3 bytes  width, height, number n of colours
    3 n      red, green, blue of each colour; white, the background, is none of them
    then for each row and each column
    1 byte   number of groups, and for each group
    2 bytes  cells, colour (from 1)

Puzzles may follow one another; only one is written. The article that made the format up leaves the order within lines
open; this is the one of the same author's `.pzl`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..puzzle import BLACK_AND_WHITE, Block, Clue, Colour, InvalidPuzzle, Puzzle, letter
from . import Format, Parsed
from .common.shades import title_of
from .common.text import labelled, make, only_one, stem, wrong

TITLE = "ROFL"
MAGIC = b"ROFL"
MOST = 255


def sniff(data: bytes) -> bool:
    return data.startswith(MAGIC)


class Bytes:
    """The bytes of a file one after another."""

    def __init__(self, data: bytes, source: str) -> None:
        self.data, self.source = data, source
        self.at = 0

    def take(self, n: int, hope: str) -> bytes:
        part = self.data[self.at : self.at + n]
        if len(part) < n:
            raise wrong(self.source, 0, hope, f"the end after {len(self.data)} bytes")
        self.at += n
        return part


def one_by_one(data: bytes, source: str, read: Callable[[Bytes, str, int], Puzzle], magic: bytes) -> Parsed:
    """Puzzles one after another, each with the same first bytes, as `read` (rest, name, index) reads them."""
    rest = Bytes(data, source)
    index = 0
    while not index or rest.at < len(data):
        index += 1
        start = rest.at
        try:
            puzzle = read(rest, labelled(source, "", index, False), index)
            if rest.at < len(data) and not data.startswith(magic, rest.at):
                hope = f"the end or another `{magic.decode()}` behind {puzzle.height} rows and {puzzle.width} columns"
                raise wrong(source, 0, hope, f"{len(data) - rest.at} more bytes, from byte {rest.at + 1:,} on")
            alone = index == 1 and rest.at == len(data)
            yield replace(puzzle, name=stem(source)) if alone else puzzle
        except InvalidPuzzle as error:
            place = f" (in the puzzle from byte {start + 1:,} on)" if index > 1 else ""
            yield InvalidPuzzle(f"{error}{place}", name=labelled(source, "", index, index == 1), index=index)
            return


def parse(data: bytes, source: str) -> Parsed:
    return one_by_one(data, source, _read, MAGIC)


def _read(rest: Bytes, name: str, index: int) -> Puzzle:
    """The puzzle that comes next."""
    source = rest.source
    magic = rest.take(4, "ROFL, a width, a height and colours")
    if magic != MAGIC:
        raise wrong(source, 0, "a file that begins with `ROFL`", magic.hex(" "))
    width, height, n_inks = rest.take(3, "a width, a height and the number of colours")
    if not width or not height:
        raise wrong(source, 0, "a width and a height from 1", f"{width} wide and {height} high")
    palette = [BLACK_AND_WHITE[0]]
    for ink in range(1, n_inks + 1):
        rgb = int.from_bytes(rest.take(3, f"{n_inks} colours"))
        palette.append(Colour(title_of(rgb), letter(ink, n_inks + 1), rgb))
    rows = [_clue(rest, n_inks, f"row {row}") for row in range(1, height + 1)]
    columns = [_clue(rest, n_inks, f"column {column}") for column in range(1, width + 1)]
    black = not n_inks or [colour.rgb for colour in palette[1:]] == [0]
    whole = BLACK_AND_WHITE if black else tuple(palette)
    return make(rows, columns, source, palette=whole, name=name, index=index)


def _clue(rest: Bytes, n_inks: int, line: str) -> Clue:
    (n_groups,) = rest.take(1, f"the number of groups of {line}")
    data = rest.take(2 * n_groups, f"{n_groups} groups of {line}")
    clue = [Block(*pair) for pair in zip(data[::2], data[1::2], strict=True)]
    for length, colour in clue:
        if not length or not 1 <= colour <= n_inks:
            hope = f"groups of {line} with cells from 1 and colours from 1 to {n_inks}"
            raise wrong(rest.source, 0, hope, f"{length} of {colour}")
    return tuple(clue)


def write(puzzles: Iterable[Puzzle]) -> bytes:
    puzzle = only_one(puzzles, TITLE)
    n_inks = puzzle.n_colours - 1
    clues = (*puzzle.rows, *puzzle.columns)
    longest = max((max(len(clue), *(block.length for block in clue)) for clue in clues if clue), default=0)
    if max(puzzle.width, puzzle.height, n_inks, longest) > MOST:
        raise InvalidPuzzle(
            f"{TITLE} carries at most {MOST} rows, columns, colours and cells of a group, found {puzzle.width} x "
            f"{puzzle.height} with {n_inks} colours and groups up to {longest} in {puzzle.name!r}"
        )
    out = bytearray(MAGIC)
    out += bytes((puzzle.width, puzzle.height, n_inks))
    for colour in puzzle.palette[1:]:
        out += colour.rgb.to_bytes(3)
    for clue in clues:
        out.append(len(clue))
        for block in clue:
            out += bytes(block)
    return bytes(out)


FORMAT = Format(
    "rofl",
    "ROFL (Izaron): a binary file with the clues of a picture, up to 255 x 255; one puzzle",
    (".rofl",),
    sniff,
    parse,
    write,
    colours=True,
    binary=True,
    unique=True,
    first="R",
)
