"""Pictures of number crosswords: drawn here in many ways, and read back cell by cell."""

from __future__ import annotations

import io
import random
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import reportlab
from PIL import Image, ImageDraw, ImageFont

from parallel_nono.kinds.numcross import KIND, read
from parallel_nono.kinds.numcross.picture import darkness, distances, edges, profile, read_picture
from parallel_nono.puzzle import InvalidPuzzle

Cells = tuple[tuple[int, ...], ...]
REPORTLAB = Path(reportlab.__file__).parent / "fonts"


def vera(name: str) -> Callable[[int], ImageFont.FreeTypeFont]:
    return lambda size: ImageFont.truetype(str(REPORTLAB / name), size)


FONTS: dict[str, Callable[[int], ImageFont.FreeTypeFont]] = {
    "aileron": ImageFont.load_default,  # type: ignore[dict-item]
    "vera": vera("Vera.ttf"),
    "vera bold": vera("VeraBd.ttf"),
}
STRANGE = {"slanted": vera("VeraIt.ttf"), "slanted bold": vera("VeraBI.ttf")}


def numbers(seed: int, height: int = 8, width: int = 11, most: int = 26, counted: bool = False) -> Cells:
    """Any numbers, a quarter blocks; with `counted` the first row is 1 2 3 4 5 # 6 7 8 9 10."""
    stream = random.Random(seed)
    rows = [[stream.choice((0, *[stream.randint(1, most)] * 3)) for _ in range(width)] for _ in range(height)]
    if counted:
        rows[0] = [1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 10]
    return tuple(map(tuple, rows))


def drawn(
    cells: Cells,
    cell: float,
    font: Callable[[int], ImageFont.FreeTypeFont],
    *,
    black: bool = True,
    smooth: bool = True,
    line: int = 1,
    margin: int = 0,
    shade: int = 0,
    share: float = 0.5,
) -> Image.Image:
    """A grid of cells of `cell` pixels; blocks black or white; digits with grey edges or without."""
    height, width = len(cells), len(cells[0])
    size = (round(width * cell) + line + 2 * margin, round(height * cell) + line + 2 * margin)
    image = Image.new("L", size, 255)
    canvas = ImageDraw.Draw(image)
    canvas.fontmode = "L" if smooth else "1"
    letters = font(max(8, round(cell * share)))
    for r, row in enumerate(cells):
        for c, number in enumerate(row):
            left, top = margin + round(c * cell), margin + round(r * cell)
            right, bottom = margin + round((c + 1) * cell), margin + round((r + 1) * cell)
            if not number and black:
                canvas.rectangle([left, top, right, bottom], fill=0)
            elif number:
                middle = ((left + right + 1) / 2, (top + bottom + 1) / 2)
                canvas.text(middle, str(number), font=letters, fill=0, anchor="mm")
            canvas.rectangle([left, top, right + line - 1, bottom + line - 1], outline=shade, width=line)
    return image


def saved(image: Image.Image, kind: str = "BMP") -> bytes:
    file = io.BytesIO()
    image.save(file, kind)
    return file.getvalue()


def seen(image: Image.Image, kind: str = "BMP", **options: object) -> Cells:
    return read_picture(saved(image, kind), "picture", **options).cells  # type: ignore[arg-type]


def tried(image: Image.Image) -> tuple[Cells, str]:
    """What is read, or the error."""
    try:
        return seen(image), ""
    except InvalidPuzzle as error:
        return (), str(error)


@pytest.mark.slow
@pytest.mark.parametrize("counted", [True, False], ids=["own first row", "fonts"])
@pytest.mark.parametrize("size", range(20, 65, 4))
def test_every_cell_is_read_right(size: int, counted: bool) -> None:
    name = list(FONTS)[size // 4 % 3]
    cells = numbers(size, counted=counted)
    image = drawn(cells, size, FONTS[name], black=size % 8 == 0, smooth=counted or size % 12 > 0)
    assert seen(image) == cells


@pytest.mark.slow
@pytest.mark.parametrize("smooth", [True, False], ids=["grey edges", "black and white"])
@pytest.mark.parametrize("name", FONTS)
@pytest.mark.parametrize("size", range(20, 65))
def test_every_cell_is_read_right_at_every_size(size: int, name: str, smooth: bool) -> None:
    """Counted or not, black or not: of the four, each size has others for other fonts."""
    turn = size + list(FONTS).index(name) + 2 * smooth
    counted, black = turn % 2 == 0, turn // 2 % 2 == 0
    cells = numbers(size, counted=counted)
    assert seen(drawn(cells, size, FONTS[name], black=black, smooth=smooth)) == cells


@pytest.mark.parametrize("size", [20.7, 26.5, 43.21])
def test_cells_need_not_be_whole_pixels(size: float) -> None:
    cells = numbers(7, counted=True)
    assert seen(drawn(cells, size, FONTS["vera"])) == cells


@pytest.mark.parametrize("options", [{"line": 3}, {"margin": 40}, {"shade": 170}, {"share": 0.65}, {"share": 0.4}])
def test_lines_margins_shades_and_sizes_of_digits(options: dict[str, int]) -> None:
    cells = numbers(9, counted=False)
    assert seen(drawn(cells, 36, FONTS["aileron"], **options)) == cells  # type: ignore[arg-type]


def test_rows_and_columns_of_blocks_at_the_edges() -> None:
    inner = numbers(3, height=5, width=6)
    blank = (0,) * 8
    cells = (blank, *((0, *row, 0) for row in inner), blank, blank)
    assert seen(drawn(cells, 30, FONTS["vera"])) == cells
    assert seen(drawn(cells, 30, FONTS["vera"], black=False)) == cells


def test_a_strange_font_is_read_by_its_own_first_row_or_by_its_file() -> None:
    for name, file in (("slanted", "VeraIt.ttf"), ("slanted bold", "VeraBI.ttf")):
        counted, other = numbers(4, counted=True), numbers(4)
        assert seen(drawn(counted, 40, STRANGE[name])) == counted
        assert seen(drawn(other, 40, STRANGE[name]), font=str(REPORTLAB / file)) == other


def test_a_strange_font_is_read_where_it_is_near_to_one_at_hand() -> None:
    order = list(range(1, 27)) * 3
    random.Random(2).shuffle(order)
    cells = tuple(tuple(order[at : at + 13]) for at in range(0, 78, 13))
    assert seen(drawn(cells, 40, STRANGE["slanted"])) == cells


@pytest.mark.parametrize("size", [20, 27, 40])
@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_font_is_an_error_or_read_right(size: int, smooth: bool, name: str) -> None:
    cells = numbers(size)
    found, error = tried(drawn(cells, size, STRANGE[name], smooth=smooth))
    assert found == cells or re.search(r"expected a number in row|font is strange", error)


@pytest.mark.parametrize("counted", [True, False])
def test_a_damaged_cell_is_named(counted: bool) -> None:
    cells = numbers(12, counted=counted)
    stream = random.Random(5)
    written = [(r, c) for r in range(8) for c in range(11) if cells[r][c]]
    named = 0
    for row, column in stream.sample(written, 12):
        image = drawn(cells, 32, FONTS["vera"])
        canvas = ImageDraw.Draw(image)
        x, y = column * 32, row * 32
        canvas.line([x + 6, y + 8 + stream.randrange(4), x + 26, y + 22], fill=0, width=3)
        found, error = tried(image)
        named += bool(error)
        # a scratch may leave a number as it is
        assert found == cells or f"expected a number in row {row + 1}, column {column + 1}, found" in error
    assert named >= 10


def test_a_damaged_cell_of_the_first_row_is_no_template() -> None:
    cells = numbers(12, counted=True)
    for name, column in (("slanted", 2), ("slanted bold", 3), ("slanted bold", 9)):
        image = drawn(cells, 32, STRANGE[name])
        ImageDraw.Draw(image).line([column * 32 + 5, 8, column * 32 + 27, 24], fill=0, width=4)
        found, error = tried(image)
        assert not found
        assert "expected a number in row" in error


def test_a_number_of_three_digits_is_an_error() -> None:
    cells = (*numbers(1, height=3, counted=True), (123,) * 11)
    with pytest.raises(InvalidPuzzle, match="row 4, column 1"):
        seen(drawn(cells, 48, FONTS["vera"]))


def test_white_and_black_blocks_in_one_picture_are_a_warning() -> None:
    image = drawn(((1, 2, 0), (3, 0, 4)), 40, FONTS["vera"])
    ImageDraw.Draw(image).rectangle([41, 41, 79, 79], fill=255)
    puzzle = read_picture(saved(image), "picture")
    assert puzzle.cells == ((1, 2, 0), (3, 0, 4))
    assert "white cells without a number" in puzzle.warning


# Files.


def top_down(image: Image.Image) -> bytes:
    """A 24-bit BMP whose rows go from top to bottom: its height is negative."""
    data = bytearray(saved(image.convert("RGB").transpose(Image.Transpose.FLIP_TOP_BOTTOM)))
    data[22:26] = struct.pack("<i", -image.height)
    return bytes(data)


@pytest.mark.parametrize("width", range(1, 9))
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "1"])
def test_bitmaps_of_all_widths_and_depths(width: int, mode: str) -> None:
    pixels = np.random.default_rng(width).choice([0, 255], (5, width)).astype(np.uint8)
    pixels[0, 0] = 255
    image = Image.fromarray(pixels).convert(mode)
    right = (255 - pixels.astype(np.float32)) / 255
    bits = {"RGB": 24, "L": 8, "RGBA": 32, "1": 1}[mode]
    data = saved(image)
    assert struct.unpack_from("<H", data, 28)[0] == bits
    assert np.array_equal(darkness(data, "picture"), right)
    assert np.array_equal(darkness(top_down(image), "picture"), right)


def test_kinds_of_files() -> None:
    cells = numbers(2, counted=True)
    image = drawn(cells, 33, FONTS["vera"])
    clear = Image.new("RGBA", image.size, (0, 0, 0, 0))
    clear.putalpha(Image.fromarray(255 - np.asarray(image)))
    for data in (saved(image), top_down(image), saved(image, "PNG"), saved(image, "GIF"), saved(clear, "PNG")):
        chunk = KIND.read([("a picture", data)])
        assert chunk.column("error").to_pylist() == [""]
        assert chunk.column("cells")[0].as_py() == [number for row in cells for number in row]


def test_a_picture_without_lines_has_its_size_given() -> None:
    cells = numbers(6, counted=True)
    image = drawn(cells, 32, FONTS["aileron"], shade=255, black=False)
    with pytest.raises(InvalidPuzzle, match="expected lines"):
        seen(image)
    assert seen(image, size=(8, 11)) == cells


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"BM" + bytes(60), "expected a picture, found a damaged one"),
        (b"\x89PNG\r\n\x1a\n", "expected a picture, found a damaged one"),
        (saved(Image.new("L", (300, 300), 255), "PNG"), "expected lines across"),
        (saved(Image.new("L", (300, 300), 255), "PNG")[:70], "expected a picture, found a damaged one"),
        (saved(drawn(((0, 0), (0, 0)), 30, FONTS["vera"], black=False)), "expected numbers in the grid"),
        (
            b"BM" + struct.pack("<IHHIIiiHHIIiiII", 99, 0, 0, 54, 40, 9_999, 9_999, 1, 24, *[0] * 6),
            "at most 50,000,000",
        ),
    ],
)
def test_what_is_no_picture_of_a_grid_is_told(data: bytes, message: str) -> None:
    (error,) = read([("a.bmp", data)]).column("error").to_pylist()
    assert error.startswith("a.bmp: ")
    assert message in error


# The tricks.


def test_profiles_do_not_depend_on_fractions_of_a_pixel() -> None:
    """A digit moved by half a pixel, by sharing each pixel's ink with its neighbour, keeps its rows."""
    ink = np.asarray(drawn(((8,),), 40, FONTS["vera"]))[5:35, 5:35].astype(float)
    ink = (255 - ink) / 255
    half = (np.pad(ink, ((0, 0), (0, 1))) + np.pad(ink, ((0, 0), (1, 0)))) / 2
    near = float(distances(profile(half, 40), profile(ink, 40)[None])[0])
    for other in (0, 3, 6, 9):
        image = (255 - np.asarray(drawn(((other,),), 40, FONTS["vera"]))[5:35, 5:35].astype(float)) / 255
        assert near < float(distances(profile(image, 40), profile(ink, 40)[None])[0]) / 2


def test_rows_of_two_digits_are_the_sums_of_theirs() -> None:
    def rows(number: int) -> np.ndarray:
        image = np.asarray(drawn(((number,),), 60, FONTS["vera bold"]))[4:56, 4:56].astype(float)
        return profile((255 - image) / 255, 60)[0]

    assert np.abs(rows(17) - rows(1) - rows(7)).sum() < 0.02 * rows(17).sum()


def test_lines_are_found_where_they_were_drawn() -> None:
    image = drawn(numbers(8), 25, FONTS["vera"], margin=13)
    rows, columns = edges(darkness(saved(image), "picture"), "picture")
    assert rows == [(13 + 25 * r + 1, 13 + 25 * (r + 1)) for r in range(8)]
    assert columns == [(13 + 25 * c + 1, 13 + 25 * (c + 1)) for c in range(11)]
