"""What the picture formats share: from shades of pixels to a puzzle, one pixel a cell, and back.

The picture is the goal; its clues are made from it exactly. Transparent cells are the background if there are any, else
white ones, else those of a colour that is declared transparent, else those of the colour in the corner at the top left.
Nothing is rounded, shrunk or reduced here: a picture with more colours or cells than a puzzle should have is refused.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import gcd
from typing import TYPE_CHECKING

from ...puzzle import BLACK_AND_WHITE, Clue, Colour, Grid, InvalidPuzzle, Palette, Puzzle, letter
from .. import Format, Parsed
from .shades import title_of
from .text import clues_of_goal, labelled, make, only_one, only_picture, wrong

if TYPE_CHECKING:
    from PIL import Image

MAX_SIDE = 150
"""Cells of a side: more were never meant as one pixel a cell."""

MAX_INKS = 30
"""Colours besides the background: more are a photograph."""

FEWEST = 5
"""Cells that a side must have left for a picture to count as enlarged."""

WHITE, TRANSPARENT = 0xFFFFFF, -1
NEAR_WHITE = 90
"""How far (Euclidean, 0-441) paper may be from white."""

OPAQUE_FROM = 128
ELSEWHERE = "`pnono from-image` reduces it"

Pixels = Sequence[Sequence[int]]
"""Rows of 0xRRGGBB or TRANSPARENT."""


def check_size(height: int, width: int, source: str) -> None:
    """Errors: InvalidPuzzle for a picture that is empty or too large."""
    if not 1 <= min(height, width) <= max(height, width) <= MAX_SIDE:
        raise _too_large(source, f"{width} x {height}")


def _too_large(source: str, found: str) -> InvalidPuzzle:
    hope = f"a picture of 1 x 1 to {MAX_SIDE} x {MAX_SIDE} pixels, one a cell ({ELSEWHERE})"
    return wrong(source, 0, hope, found)


def puzzle_of(pixels: Pixels, source: str, index: int = 1, alone: bool = True, declared: int | None = None) -> Puzzle:
    """The puzzle of a picture.

    declared  the shade of a colour that the file declares transparent, whether it occurs or not.
    Errors    InvalidPuzzle for too many colours.
    """
    shades = {shade for row in pixels for shade in row}
    back = background(pixels, shades, declared)
    inks = sorted(shades - {back}, key=_luminance)  # from the darkest on
    if len(inks) > MAX_INKS:
        raise wrong(source, 0, f"at most {MAX_INKS} colours besides the background ({ELSEWHERE})", len(inks))
    places = {back: 0, **{shade: place for place, shade in enumerate(inks, start=1)}}
    goal = tuple(tuple([places[shade] for shade in row]) for row in pixels)
    rows, columns = clues_of_goal(goal)
    warnings = enlarged(rows, columns)
    if back in shades and back not in (WHITE, TRANSPARENT) and not _is_paper(back):
        warnings.append(f"no cell is white or transparent: {title_of(back)}, the colour of the corner, is background")
    return make(
        rows,
        columns,
        source,
        palette=_palette(back, inks, WHITE if declared is None else declared),
        name=labelled(source, "", index, alone),
        index=index,
        goal=goal,
        warnings=warnings,
    )


def background(pixels: Pixels, shades: set[int], declared: int | None = None) -> int:
    """The shade of the background, which need not occur: a picture in one colour that is not white is all ink.

    Where nothing is white, nor declared transparent, the shade nearest to white is paper if it is near enough.
    """
    if TRANSPARENT in shades:
        return TRANSPARENT
    if WHITE in shades or (declared is None and len(shades) == 1):
        return WHITE
    if declared is not None:
        return TRANSPARENT
    lightest = min(shades, key=_from_white)
    return lightest if _is_paper(lightest) else pixels[0][0]


def _is_paper(shade: int) -> bool:
    """Whether a shade is as good as white."""
    return _from_white(shade) < NEAR_WHITE**2


def _from_white(shade: int) -> int:
    """The square of how far a shade is from white."""
    return sum((255 - channel) ** 2 for channel in (shade >> 16, shade >> 8 & 255, shade & 255))


def _luminance(shade: int) -> tuple[int, int]:
    return 299 * (shade >> 16) + 587 * (shade >> 8 & 255) + 114 * (shade & 255), shade


def _palette(back: int, inks: list[int], declared: int) -> Palette:
    """Colours with names and letters; a transparent background has a shade that no ink has."""
    if back == TRANSPARENT:
        back = next(shade for shade in (declared, WHITE, 0xC0C0C0, *range(MAX_INKS + 1)) if shade not in inks)
    if back == WHITE and inks in ([], [0]):
        return BLACK_AND_WHITE
    return tuple(
        Colour(title_of(shade), letter(place, len(inks) + 1), shade) for place, shade in enumerate((back, *inks))
    )


def enlarged(rows: Sequence[Clue], columns: Sequence[Clue]) -> list[str]:
    """A warning if the picture is made of squares of k x k cells, by the largest such k, and not too few of them."""
    most = gcd(len(rows), len(columns), *(block.length for clue in (*rows, *columns) for block in clue))
    for times in range(min(most, len(rows) // FEWEST, len(columns) // FEWEST), 1, -1):
        if most % times == 0 and all(_repeats(side, times) for side in (rows, columns)):
            return [f"the picture seems enlarged {times} times: `pnono from-image` makes it smaller"]
    return []


def _repeats(clues: Sequence[Clue], times: int) -> bool:
    return all(clue == clues[place - place % times] for place, clue in enumerate(clues))


# Files that Pillow reads and writes.


def file_format(kind: str, first: str, start: bytes) -> Format:
    """The format of picture files of a kind that Pillow knows.

    first, start  the first byte as a character, and a pattern for how they begin.
    """
    name = kind.lower()
    return Format(
        name,
        f"{kind} pictures, one pixel a cell: the picture, not the clues",
        (f".{name}",),
        lambda data: re.match(start, data, re.DOTALL) is not None,
        partial(parse, kind=kind),
        partial(write, kind=kind),
        colours=True,
        binary=True,
        picture=True,
        first=first,
    )


def parse(data: bytes, source: str, kind: str) -> Parsed:
    """The puzzles of a picture file of the kind "PNG", "GIF" or "BMP": one, or of an animation one for each frame.

    Pictures that follow one another in a file are read like frames. Errors: InvalidPuzzle if one is damaged, too large
    (its header tells, no room is made before) or too colourful; what follows a picture and is none is an error too.
    """
    found = _drawings(data, source, kind)
    index = 1
    waiting = next(found, None)
    while waiting:
        problem = following = None
        try:
            following = next(found, None)
        except InvalidPuzzle as error:
            problem = error
        alone = index == 1 and following is None and problem is None
        try:
            yield puzzle_of(waiting[0], source, index, alone, waiting[1])
        except InvalidPuzzle as error:
            yield placed(error, source, index, alone)
        index += 1
        if problem:
            yield placed(problem, source, index, alone=False)
        waiting = following


def placed(error: InvalidPuzzle, source: str, index: int, alone: bool) -> InvalidPuzzle:
    """An error with the number of the picture that it is about."""
    text = str(error) if alone else str(error).replace(f"{source}:", f"{source}: picture {index}:", 1)
    return InvalidPuzzle(text, name=labelled(source, "", index, alone), index=index)


def _drawings(data: bytes, source: str, kind: str) -> Iterator[tuple[Pixels, int | None]]:
    """(pixels, shade that is declared transparent) of each frame of each picture of a file. Errors: InvalidPuzzle."""
    for one in pictures_of(data, source, kind):
        yield from _frames(one, source, kind)


def pictures_of(data: bytes, source: str, kind: str) -> Iterator[bytes]:
    """The pictures that follow one another in a file. Errors: InvalidPuzzle for what follows one and is none."""
    from . import picture_ends

    start, magic = 0, {"PNG": picture_ends.PNG, "GIF": b"GIF8", "BMP": b"BM"}[kind]
    while not start or start < len(data):
        end = picture_ends.ENDS[kind](data, start)
        yield data[start:end] if start or end < len(data) else data
        start = end
        if data[start:].strip(b"\0\r\n\t ") == b"":
            return  # nothing, or what fills up the file
        if not data.startswith(magic, start):
            hope = f"the end of the file or another {kind} picture behind the picture"
            raise wrong(source, 0, hope, f"{len(data) - start} more bytes, from byte {start + 1:,} on")


def _frames(data: bytes, source: str, kind: str) -> Iterator[tuple[Pixels, int | None]]:
    """The frames of one picture as `_drawings` gives them."""
    import warnings

    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the size is checked here
            image = Image.open(io.BytesIO(data), formats=[kind])
        check_size(image.height, image.width, source)
        yield _pixels(upright(image)), declared_shade(image)
        while goes_on(image):
            yield _pixels(upright(image)), declared_shade(image)
    except InvalidPuzzle:
        raise
    except Image.DecompressionBombError:
        raise _too_large(source, "far more") from None
    except UnidentifiedImageError:
        raise InvalidPuzzle(f"{source}: expected a {kind} picture, found a damaged one or something else") from None
    except Exception as error:  # Pillow raises many kinds for damaged data, and none of its own
        raise InvalidPuzzle(f"{source}: expected a {kind} picture, found a damaged one ({error})") from None


def goes_on(image: Image.Image) -> bool:
    """Turn to the next frame of an animation, if there is one."""
    try:
        image.seek(image.tell() + 1)
    except EOFError:
        return False
    return True


def upright(image: Image.Image) -> Image.Image:
    """The picture that a file shows, as RGBA: turned as it says, 16 bits of grey as 8."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(_eight_bits(image)).convert("RGBA")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey of 16 bits, which Pillow would clip to 8, with what it declares transparent."""
    from PIL import Image

    if not image.mode.startswith("I"):
        return image
    import numpy as np

    grey = np.asarray(image)
    found = Image.fromarray((grey >> 8).astype(np.uint8))
    clear = image.info.get("transparency")
    if isinstance(clear, int):
        found.putalpha(Image.fromarray(np.where(grey == clear, 0, 255).astype(np.uint8)))
    found.info["exif"] = image.getexif().tobytes()
    return found


def declared_shade(image: Image.Image) -> int | None:
    """The shade of the one transparent colour of an indexed picture, if it declares one."""
    place = image.info.get("transparency")
    table = image.getpalette("RGB") if image.mode == "P" else None
    if not isinstance(place, int) or not table or len(table) < 3 * place + 3:
        return None
    red, green, blue = table[3 * place : 3 * place + 3]
    return red << 16 | green << 8 | blue


def _pixels(image: Image.Image) -> Pixels:
    data, stride = image.tobytes(), 4 * image.width
    return [
        [
            data[at] << 16 | data[at + 1] << 8 | data[at + 2] if data[at + 3] >= OPAQUE_FROM else TRANSPARENT
            for at in range(start, start + stride, 4)
        ]
        for start in range(0, len(data), stride)
    ]


def write(puzzles: Iterable[Puzzle], kind: str) -> bytes:
    """A picture file of the kind "PNG", "GIF" or "BMP". Errors: InvalidPuzzle naming what it can't carry."""
    from PIL import Image

    puzzle = only_one(puzzles, f"a {kind} picture")
    goal, transparent = drawable(puzzle, f"a {kind} picture", kind != "BMP", declares=kind == "PNG")
    image = Image.frombytes("P", (puzzle.width, puzzle.height), b"".join(map(bytes, goal)))
    image.putpalette([part for colour in puzzle.palette for part in colour.rgb.to_bytes(3)])
    out = io.BytesIO()
    image.save(out, kind, **({"transparency": 0} if transparent else {}))
    return out.getvalue()


def drawable(puzzle: Puzzle, title: str, transparency: bool, declares: bool) -> tuple[Grid, bool]:
    """(goal, whether the background has to be transparent) of a puzzle such that reading the picture gives it back.

    transparency  whether the format has it.
    declares      whether it can call a colour transparent that does not occur.
    Errors        InvalidPuzzle if there is no goal, if it is too large or too colourful, if two colours look the same,
                  or if nothing would tell the background.
    """
    goal = only_picture(puzzle, title)
    if max(puzzle.height, puzzle.width) > MAX_SIDE or puzzle.n_colours > MAX_INKS + 1:
        found = f"{puzzle.width} x {puzzle.height} with {puzzle.n_colours - 1}"
        raise InvalidPuzzle(
            f"{title} carries at most {MAX_SIDE} x {MAX_SIDE} cells and {MAX_INKS} inks, found {found} in "
            f"{puzzle.name!r} (`pnono draw` has no such limit)"
        )
    shades = [colour.rgb for colour in puzzle.palette]
    if len(set(shades[1:])) < len(shades) - 1:
        raise InvalidPuzzle(f"{title} tells colours by their shades, found two inks of the same in {puzzle.name!r}")
    pixels = [[shades[cell] for cell in row] for row in goal]
    cells = {cell for row in goal for cell in row}
    seen = {shades[cell] for cell in cells}
    if background(pixels, seen) == shades[0] and shades[0] not in shades[1:]:
        return goal, False
    if not transparency or (0 not in cells and (WHITE in seen or not declares)):
        raise InvalidPuzzle(f"{title} can't tell the background of {puzzle.name!r} from its inks")
    return goal, True
