"""A picture file of any size and any colours as a puzzle: trimmed, shrunk, reduced to few colours.

What is one pixel a cell already stays as it is, by the same rules as reading it as a puzzle (formats.picture).
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..formats.common.picture import (
    MAX_SIDE,
    OPAQUE_FROM,
    TRANSPARENT,
    WHITE,
    declared_shade,
    goes_on,
    pictures_of,
    placed,
    puzzle_of,
    upright,
)
from ..puzzle import InvalidPuzzle, Puzzle
from .shades import NEAR, channels, distance

if TYPE_CHECKING:
    from PIL.Image import Image

FILES = ("PNG", "GIF", "BMP", "PPM", "JPEG", "WEBP")
"""Names of Pillow for what can be read; PPM stands for PBM and PGM too."""

ENDINGS = (".png", ".gif", ".bmp", ".pbm", ".pgm", ".ppm", ".jpg", ".jpeg", ".webp")

ANIMATED = {"PNG": b"\x89PNG\r\n\x1a\n", "GIF": b"GIF8", "BMP": b"BM"}
"""Kinds that `formats.picture` reads, and how they begin: all pictures that such a file holds are puzzles."""

MAX_PIXELS = 100_000_000
LARGEST_SIDE = 1000
"""Cells of a side, if somebody asks for so many."""

USUAL_SIDE = 30
"""Cells of the longer side of a picture that is no puzzle yet, where nobody says how many."""

FEW_SHADES = 12
"""A picture with no more shades keeps them, where nobody says how many."""

KMEANS_STEPS = 20

WEIGHTS = np.array([1 << 16, 1 << 8, 1])
"""Of red, green and blue in a shade."""

Method = Literal["k-means", "median-cut"]


@dataclass(frozen=True, slots=True)
class Wish:
    """How a picture becomes cells.

    width, height  cells; 0: in proportion to the other. Both 0: `size` cells for the longer side, or as it is.
    colours     of the puzzle, the background included; 2 is black and white; 0: as they are if few, else 2.
    method      how the colours are chosen from those of the pixels: k-means, begun with those that cover the picture
                best; or median cut, which minds large areas more than small ones.
    threshold   of black and white, 0-255: what is darker is black; -1: where light and dark part best (Otsu).
    dither      spread what the colours miss over the neighbours (Floyd, Steinberg) instead of taking the nearest.
    background  a shade: the colour nearest to it; TRANSPARENT: transparent pixels alone; None: see formats.picture.
    trim        cut off the margin that is all of one colour.
    """

    width: int = 0
    height: int = 0
    size: int = 0
    colours: int = 0
    method: Method = "k-means"
    threshold: int = -1
    dither: bool = False
    background: int | None = None
    trim: bool = False


class Scan(NamedTuple):
    """A puzzle, its goal the picture.

    costs  float[height, width, colours]: how far the picture is from each colour of the palette at each cell.
    notes  what was done to the picture, for people.
    """

    puzzle: Puzzle
    costs: np.ndarray
    notes: list[str]


def scans(data: bytes, source: str, wish: Wish) -> Iterator[Scan | InvalidPuzzle]:
    """The puzzles of a picture file: one, or of an animation, and of pictures behind one another, one for each.

    A picture that is damaged, has more than MAX_PIXELS, or would be too large a puzzle is an InvalidPuzzle among them.
    """
    found = opened(data, source)
    index = 1
    waiting = _next(found)
    while waiting is not None:
        following = None if isinstance(waiting, InvalidPuzzle) else _next(found)
        alone = index == 1 and following is None
        try:
            if isinstance(waiting, InvalidPuzzle):
                raise waiting
            yield _scan(waiting, source, wish, index, alone)
        except InvalidPuzzle as error:
            yield placed(error, source, index, alone)
        index += 1
        waiting = following


def scan(data: bytes, source: str, wish: Wish) -> Scan:
    """The puzzle of a picture file, of several pictures the first. Errors: InvalidPuzzle."""
    found = scans(data, source, wish)
    first = next(found)
    if isinstance(first, InvalidPuzzle):
        raise first
    return first._replace(notes=[*first.notes, "the first of several"]) if next(found, None) else first


def puzzle_of_picture(picture: str | os.PathLike[str] | bytes | Image, wish: Wish) -> Puzzle:
    """The puzzle of a file, of its bytes or of an image. Errors: OSError; InvalidPuzzle."""
    if isinstance(picture, bytes):
        return scan(picture, "-", wish).puzzle
    if isinstance(picture, str | os.PathLike):
        with open(picture, "rb") as file:
            return scan(file.read(), os.fsdecode(picture), wish).puzzle
    return _scan(Opened(upright(picture), declared_shade(picture)), "", wish, 1, True).puzzle


def _next(found: Iterator[Opened]) -> Opened | InvalidPuzzle | None:
    try:
        return next(found, None)
    except InvalidPuzzle as error:
        return error


def _scan(opened: Opened, source: str, wish: Wish, index: int, alone: bool) -> Scan:
    """Errors: InvalidPuzzle if it would be too large a puzzle."""
    image, of_file = opened
    pixels = np.asarray(image)
    notes = [f"{image.width} x {image.height} pixels"]
    if not alone:
        notes.append(f"picture {index}")
    if wish.trim:
        pixels = _trimmed(pixels)
        if pixels.shape[:2] != (image.height, image.width):
            notes.append(f"trimmed to {pixels.shape[1]} x {pixels.shape[0]}")
    times = enlarged(pixels)
    if times > 1:
        pixels = pixels[::times, ::times]
        notes.append(f"each cell {times} x {times}")
    visible = _shades(pixels)[pixels[:, :, 3] >= OPAQUE_FROM]
    height, width = _size(pixels.shape[0], pixels.shape[1], wish, source)
    if (height, width) != pixels.shape[:2]:
        pixels = _resized(pixels, height, width)
        notes.append(f"resized to {width} x {height}")
    clear = pixels[:, :, 3] < OPAQUE_FROM
    colours = pixels[:, :, :3].astype(np.float64)
    colours[clear] = 255.0
    n_shades = len(np.unique(visible))
    few = n_shades <= FEW_SHADES and wish.threshold < 0
    wanted = wish.colours or (n_shades + 1 if few else 2)
    if wanted == 2 and (n_shades > 2 or wish.threshold >= 0):
        notes.append(f"{n_shades:,} shades made black and white")
        shades, declared = _black_white(colours, clear, wish)
    else:
        shades, declared = _coloured(pixels, clear, visible, wanted, wish, of_file, source)
    puzzle = puzzle_of(shades.tolist(), source, index, alone, declared)
    palette = np.array([channels(colour.rgb) for colour in puzzle.palette], np.float64)
    costs = ((colours[:, :, None] - palette) ** 2).sum(3)
    return Scan(puzzle, costs, notes)


class Opened(NamedTuple):
    """A picture, upright, as RGBA; and the shade that it declares transparent."""

    image: Image
    declared: int | None


def opened(data: bytes, source: str) -> Iterator[Opened]:
    """All pictures of a file. Errors: InvalidPuzzle if it holds none, or one that is damaged or too large."""
    kind = next((kind for kind, magic in ANIMATED.items() if data.startswith(magic)), "")
    for one in pictures_of(data, source, kind) if kind else (data,):
        yield from _opened(one, source, bool(kind) or data.startswith(b"RIFF"))


def _opened(data: bytes, source: str, frames: bool) -> Iterator[Opened]:
    import warnings

    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the size is checked here
            file = Image.open(io.BytesIO(data), formats=FILES)
        if file.width * file.height > MAX_PIXELS:
            raise Image.DecompressionBombError(f"{file.width:,} x {file.height:,}")
        yield Opened(upright(file), declared_shade(file))
        while frames and goes_on(file):
            yield Opened(upright(file), declared_shade(file))
    except Image.DecompressionBombError as error:
        raise InvalidPuzzle(f"{source}: expected a picture of at most {MAX_PIXELS:,} pixels, found {error}") from None
    except UnidentifiedImageError:
        found = "an empty file" if not data else "something else"
        raise InvalidPuzzle(f"{source}: expected a picture ({', '.join(FILES)}), found {found}") from None
    except Exception as error:  # Pillow raises many kinds for damaged data, and none of its own
        raise InvalidPuzzle(f"{source}: expected a picture, found a damaged one ({error})") from None


def enlarged(pixels: np.ndarray) -> int:
    """How many times a picture [height, width, 4] is enlarged: all is made of squares of so many pixels."""
    steps = set(pixels.shape[:2])
    for axis in (0, 1):
        changes = np.diff(pixels, axis=axis).any((1 - axis, 2))
        steps |= set((np.flatnonzero(changes) + 1).tolist())
    return int(np.gcd.reduce(list(steps)))


def _trimmed(pixels: np.ndarray) -> np.ndarray:
    """Without the rows and columns at the border that are all of the colour of the corner at the top left."""
    differs = (pixels != pixels[0, 0]).any(2)
    if not differs.any():
        return pixels
    rows, columns = np.flatnonzero(differs.any(1)), np.flatnonzero(differs.any(0))
    return pixels[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _size(height: int, width: int, wish: Wish, source: str) -> tuple[int, int]:
    """Rows and columns of cells. Errors: InvalidPuzzle if there are too many."""
    size = wish.size or (USUAL_SIDE if max(height, width) > MAX_SIDE else max(height, width))
    if wish.height or wish.width:
        rows = wish.height or int(height * wish.width / width + 0.5)
        columns = wish.width or int(width * wish.height / height + 0.5)
    else:
        rows, columns = (int(side * size / max(height, width) + 0.5) for side in (height, width))
    rows, columns = max(rows, 1), max(columns, 1)
    if max(rows, columns) > LARGEST_SIDE:
        hope = f"at most {LARGEST_SIDE:,} x {LARGEST_SIDE:,} cells"
        raise InvalidPuzzle(f"{source}: expected {hope}, found {columns:,} x {rows:,}")
    return rows, columns


def _resized(pixels: np.ndarray, height: int, width: int) -> np.ndarray:
    """Each cell the mean of the pixels that it covers, transparent ones weighing nothing."""
    from PIL import Image

    return np.asarray(Image.fromarray(pixels).resize((width, height), Image.Resampling.BOX))


def _shades(pixels: np.ndarray) -> np.ndarray:
    """0xRRGGBB of each pixel, int64[height, width]."""
    return pixels[:, :, :3].astype(np.int64) @ WEIGHTS


def _black_white(colours: np.ndarray, clear: np.ndarray, wish: Wish) -> tuple[np.ndarray, int | None]:
    """Shades 0 and WHITE by how light the cells are, and the declared background."""
    from PIL import Image

    light = Image.fromarray(colours.astype(np.uint8)).convert("L")
    if wish.dither:
        white = np.asarray(light.convert("1"))
    else:
        grey = np.asarray(light)
        white = grey >= (otsu(grey[~clear]) if wish.threshold < 0 else wish.threshold)
    shades = np.where(white | clear, WHITE, 0)
    if wish.background is not None and wish.background != TRANSPARENT and distance(wish.background, 0) < NEAR:
        return np.where(shades == 0, TRANSPARENT, shades), 0
    return shades, None


def otsu(grey: np.ndarray) -> int:
    """The threshold (dark is below it) that parts grey values best: the variance between both sides is largest.

    Source  N. Otsu: A Threshold Selection Method from Gray-Level Histograms, IEEE Trans. SMC 9 (1979) 62-66.
    """
    counts = np.bincount(grey.ravel(), minlength=256).astype(np.float64)
    below, sums = np.cumsum(counts), np.cumsum(counts * np.arange(256))
    above = below[-1] - below
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    between = np.nan_to_num(between)
    best = np.flatnonzero(between == between.max())
    return round(float(best.mean())) + 1  # in the middle of a gap


def _coloured(
    pixels: np.ndarray,
    clear: np.ndarray,
    sample: np.ndarray,
    wanted: int,
    wish: Wish,
    of_file: int | None,
    source: str,
) -> tuple[np.ndarray, int | None]:
    """(shades of the cells, the declared background): at most `wanted` shades, the background as formats.picture wants.

    of_file  the shade that the file declares transparent, whether it occurs or not.
    sample  shades of the visible pixels, before they were shrunk to cells, to choose colours from.
    Errors  InvalidPuzzle if transparent pixels were wished for and there is none.
    """
    by_alpha = bool(clear.any()) and wish.background in (None, TRANSPARENT)
    shades = _shades(pixels)
    if clear.any() and not by_alpha:
        shades[clear] = WHITE
    visible = ~clear if by_alpha else np.ones_like(clear)
    if len(np.unique(shades[visible])) > wanted - by_alpha:
        shades = _reduced(shades, sample, wanted - by_alpha, wish)
    if by_alpha:
        return np.where(clear, TRANSPARENT, shades), of_file
    if wish.background is None and of_file is not None:
        return shades, of_file
    if wish.background == TRANSPARENT:
        raise InvalidPuzzle(f"{source}: expected transparent pixels, which are to be the background, found none")
    found = np.unique(shades).tolist()
    wished = WHITE if wish.background is None else wish.background
    back = min(found, key=lambda shade: distance(shade, wished))
    if wish.background is None:
        if distance(back, WHITE) >= NEAR:
            back = int(shades[0, 0])
        elif WHITE not in found:  # a paper that is not quite white
            return np.where(shades == back, WHITE, shades), None
        if back == WHITE or len(found) == 1:
            return shades, None
    return np.where(shades == back, TRANSPARENT, shades), back


def _reduced(shades: np.ndarray, sample: np.ndarray, most: int, wish: Wish) -> np.ndarray:
    """The shades of cells reduced to at most `most`, which are chosen from the sample."""
    from PIL import Image

    def image(of: np.ndarray) -> Image.Image:
        return Image.fromarray(_parts(of).astype(np.uint8))

    first, steps = (
        (Image.Quantize.MAXCOVERAGE, KMEANS_STEPS) if wish.method == "k-means" else (Image.Quantize.MEDIANCUT, 0)
    )
    strip = image(sample[None, :]).quantize(max(most, 1), first, kmeans=steps, dither=Image.Dither.NONE)
    table = np.array(strip.getpalette("RGB"), np.int64).reshape(-1, 3)[np.unique(np.asarray(strip))]
    if wish.dither:
        holder = Image.new("P", (1, 1))
        holder.putpalette(table.astype(np.uint8).tobytes())
        places = np.asarray(image(shades).quantize(palette=holder, dither=Image.Dither.FLOYDSTEINBERG))
        places = np.minimum(places, len(table) - 1)
    else:
        places = ((_parts(shades)[:, :, None] - table) ** 2).sum(3).argmin(2)
    return (table @ WEIGHTS)[places]


def _parts(shades: np.ndarray) -> np.ndarray:
    """Red, green and blue of shades, along a last axis."""
    return np.stack([shades >> 16, shades >> 8 & 255, shades & 255], -1)
