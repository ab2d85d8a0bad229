"""PBM, PGM and PPM pictures, plain (P1, P2, P3) and raw (P4, P5, P6), one pixel a cell; one or many in a file.

In a bitmap 1 is black and 0 the background, whatever it shows. Grey and colour pictures are judged like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..puzzle import BLACK_AND_WHITE, Grid, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common import picture
from .common.text import clues_of_goal, labelled, make, only_picture, wrong

TITLE = "a PBM or PPM picture"
SKIP = rb"(?:\s|#[^\n\r]*[\n\r])+"
BITMAP = re.compile(rb"P([14])" + SKIP + rb"(\d{1,9})" + SKIP + rb"(\d{1,9})")
SHADES = re.compile(rb"P([2356])" + SKIP + rb"(\d{1,9})" + SKIP + rb"(\d{1,9})" + SKIP + rb"(\d{1,5})")
START = re.compile(rb"P[1-6]" + SKIP + rb"\d{1,9}" + SKIP + rb"\d{1,9}\s")
COMMENT = re.compile(rb"#[^\n\r]*")
BLANKS = re.compile(rb"\s*")
PLAIN = b"123"

MAX_CELLS = 1 << 24
"""Of a bitmap: eight bytes are made of each of its bits."""


def sniff(data: bytes) -> bool:
    return START.match(data) is not None


def parse(data: bytes, source: str) -> Parsed:
    at, index = 0, 0
    while at < len(data):
        index += 1
        alone = index == 1
        found = BITMAP.match(data, at) or SHADES.match(data, at)
        if not found:
            head = data[at : at + 20].decode("latin-1")
            raise wrong(source, 0, f"the head of picture {index} at byte {at + 1:,}, such as `P1 WIDTH HEIGHT`", head)
        width, height = int(found[2]), int(found[3])
        if found[1] in b"14":
            goal, at = _bits(data, found.end(), width, height, found[1] in PLAIN, source)
            at = _end(data, at)
            yield _bitmap(goal, source, index, alone and at == len(data))
        else:
            picture.check_size(height, width, source)
            pixels, at = _shades(data, found, source)
            at = _end(data, at)
            yield picture.puzzle_of(pixels, source, index, alone and at == len(data))


def _end(data: bytes, at: int) -> int:
    """Where the next picture begins."""
    found = BLANKS.match(data, at)
    assert found is not None
    return found.end()


def _bitmap(goal: Grid, source: str, index: int, alone: bool) -> Puzzle:
    name = labelled(source, "", index, alone)
    rows, columns = clues_of_goal(goal)
    return make(rows, columns, source, name=name, index=index, goal=goal, warnings=picture.enlarged(rows, columns))


def _bits(data: bytes, at: int, width: int, height: int, plain: bool, source: str) -> tuple[Grid, int]:
    """(cells, where they end) of a bitmap. Errors: InvalidPuzzle before room is made for what is not there."""
    if min(width, height) < 1 or width * height > MAX_CELLS:
        hope = f"a bitmap of 1 to {MAX_CELLS:,} pixels"
        raise wrong(source, 0, hope, f"{width} x {height}")
    if plain:
        bits, at = _plain_bits(data, at, width * height, source)
        return tuple(tuple(bits[start : start + width]) for start in range(0, len(bits), width)), at
    at += 1
    stride = (width + 7) // 8
    raster = data[at : at + stride * height]
    if len(raster) < stride * height:
        raise wrong(source, 0, f"{stride * height} bytes of {height} rows", f"{len(raster)} bytes")
    rows = (int.from_bytes(raster[row : row + stride]) for row in range(0, len(raster), stride))
    return tuple(tuple(map(int, f"{row:0{8 * stride}b}"[:width])) for row in rows), at + len(raster)


def _plain_bits(data: bytes, at: int, wanted: int, source: str) -> tuple[list[int], int]:
    bits: list[int] = []
    while len(bits) < wanted and at < len(data):
        comment = COMMENT.search(data, at)
        end = comment.start() if comment else len(data)
        start, at = at, (comment.end() if comment else end)
        for place in range(start, end):
            char = data[place]
            if char in b"01":
                bits.append(char - 48)
                if len(bits) == wanted:
                    return bits, place + 1
            elif char not in b" \t\r\n\v\f":
                line = data.count(b"\n", 0, place) + 1
                raise wrong(source, line, "0 and 1", data[place : place + 20].decode("latin-1"))
    raise wrong(source, 0, f"{wanted} pixels, 0 or 1", f"{len(bits)} pixels")


def _shades(data: bytes, found: re.Match[bytes], source: str) -> tuple[picture.Pixels, int]:
    """(pixels, where they end) of a grey or a colour picture."""
    width, height, most = int(found[2]), int(found[3]), int(found[4])
    if not 1 <= most < 1 << 16:
        raise wrong(source, 0, "a largest value from 1 to 65535", most)
    n_parts = 1 if found[1] in b"25" else 3
    wanted = width * height * n_parts
    values: Sequence[int]
    if found[1] in PLAIN:
        values, at = _numbers(data, found.end(), wanted, source)
    else:
        at, size = found.end() + 1, 1 if most < 256 else 2
        raster = data[at : at + size * wanted]
        values = [int.from_bytes(raster[i : i + 2]) for i in range(0, len(raster), 2)] if size == 2 else raster
        if len(raster) < size * wanted:
            raise wrong(source, 0, f"{size * wanted} bytes of pixels", f"{len(raster)} bytes")
        at += len(raster)
    if max(values) > most:
        raise wrong(source, 0, f"values up to {most}", max(values))
    parts = [(2 * 255 * value + most) // (2 * most) for value in values] if most != 255 else values
    if n_parts == 1:
        shades = [part * 0x010101 for part in parts]
    else:
        shades = [parts[i] << 16 | parts[i + 1] << 8 | parts[i + 2] for i in range(0, wanted, 3)]
    return [shades[start : start + width] for start in range(0, len(shades), width)], at


def _numbers(data: bytes, at: int, wanted: int, source: str) -> tuple[list[int], int]:
    """(numbers, where they end) of plain pixels."""
    values: list[int] = []
    number = re.compile(rb"(?:\s|#[^\n\r]*)*(\d{1,5})(?=\s|#|$)")
    while len(values) < wanted:
        found = number.match(data, at)
        if not found:
            line = data.count(b"\n", 0, at) + 1
            raise wrong(source, line, f"{wanted} numbers", f"{len(values)} and {data[at : at + 20].decode('latin-1')}")
        values.append(int(found[1]))
        at = found.end()
    return values, at


def write(puzzles: Iterable[Puzzle]) -> bytes:
    """Raw pictures: a bitmap for black and white, else a PPM."""
    return b"".join(_bitmap_bytes(p) if p.palette == BLACK_AND_WHITE else _pixel_bytes(p) for p in puzzles)


def _bitmap_bytes(puzzle: Puzzle) -> bytes:
    goal = only_picture(puzzle, TITLE)
    if puzzle.width * puzzle.height > MAX_CELLS:
        size = f"{puzzle.width} x {puzzle.height}"
        raise InvalidPuzzle(f"{TITLE} carries at most {MAX_CELLS:,} cells, found {size} in {puzzle.name!r}")
    pad, stride = -puzzle.width % 8, (puzzle.width + 7) // 8
    rows = (int("".join(map(str, row)) + "0" * pad, 2).to_bytes(stride) for row in goal)
    return b"P4\n%d %d\n" % (puzzle.width, puzzle.height) + b"".join(rows)


def _pixel_bytes(puzzle: Puzzle) -> bytes:
    goal, _ = picture.drawable(puzzle, TITLE, transparency=False, declares=False)
    shades = [colour.rgb.to_bytes(3) for colour in puzzle.palette]
    cells = b"".join(shades[cell] for row in goal for cell in row)
    return b"P6\n%d %d\n255\n" % (puzzle.width, puzzle.height) + cells


FORMAT = Format(
    "netpbm",
    "PBM, PGM and PPM pictures, plain and raw, one pixel a cell: the picture, not the clues",
    (".pbm", ".pgm", ".ppm", ".pnm"),
    sniff,
    parse,
    write,
    colours=True,
    picture=True,
    several=True,
    binary=True,
    first="P",
)
