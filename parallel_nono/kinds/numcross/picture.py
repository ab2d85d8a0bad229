"""A picture of a number crossword as numbers: the lines of its grid, then the digits in each cell.

A digit is told by the ink in each of its rows, as contests did it in 2010, and by where in the row the ink lies. These
sums do not change when a digit is drawn a fraction of a pixel further right, so grey edges of digits do no harm; and
the rows of a number of two digits are the sums of theirs. Templates are digits drawn in the font of the picture where
it is at hand, else the digits of its own first row where that reads 1, 2, 3, ... 10, else its digits named after those
of a similar font. What is not near one template and far from all others is an error that names the cell.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...extras import MissingExtra, needed
from ...formats.common.text import wrong
from ...puzzle import InvalidPuzzle
from .formats import Crossword, check_size, made

if TYPE_CHECKING:
    from PIL import ImageFont

FORMATS = {"BMP": b"BM", "PNG": b"\x89PNG", "GIF": b"GIF8", "JPEG": b"\xff\xd8\xff"}
MAX_PIXELS = 50_000_000

INK = 0.25
"""Darkness from which a pixel counts: paper is 0, black 1."""

LINE = 0.15
"""The same for the lines of the grid, which are grey sometimes."""

MIN_CELL = 10
"""Pixels of a cell's side."""

SAME = 0.01
"""Distance up to which two digits of a picture are taken for one; see `distances`."""

SAME_FONT, MOSTLY = 0.05, 0.9
"""Distance to the digits of a font that most digits of the picture have, this share of them, if it is their font."""

NEAR, APART, MARGIN = 0.12, 1.5, 0.006
"""A number is at most NEAR its templates, and any other number at least APART times as far and MARGIN farther."""

FONT_NEAR, FONT_APART = 0.25, 1.4
"""The same for a digit of the picture and those of a font, which need not be the picture's."""

NEAR_SOME = 0.03
"""In place of NEAR where some of the ten digits have no template, so that nothing holds them apart from the others."""

WIDE = 0.65
"""Width to height from which ink may be two digits that touch."""

DOUBTFUL = -1
"""The name of a digit of the picture that may be several digits of a font."""

Templates = list[tuple[int, np.ndarray]]
"""Names and profiles of digits, see `profile`; a name may stand there more than once."""


def is_picture(data: bytes) -> bool:
    return data.startswith(tuple(FORMATS.values()))


def read_picture(data: bytes, source: str, size: tuple[int, int] | None = None, font: str = "") -> Crossword:
    """The puzzle that a picture shows.

    size    rows and columns of a picture without lines, which it fills to its edges; None: the lines are looked for.
    font    a TrueType file with the digits of the picture; "": fonts at hand.
    Errors  InvalidPuzzle if it is damaged, if no grid is found, or naming a cell that can't be told.
    """
    dark = darkness(data, source)
    rows, columns = even_edges(dark.shape, size) if size else edges(dark, source)
    check_size(len(rows), len(columns), source)
    cells = [[_Cell(dark[top:bottom, left:right]) for left, right in columns] for top, bottom in rows]
    numbers = _Reader(cells, source, font).numbers()
    warning = ""
    if {cell.filled for row in cells for cell in row if cell.block} == {False, True}:
        warning = "some blocks are black and some are white: white cells without a number are read as blocks"
    return made(numbers, {}, source, warning=warning)


def darkness(data: bytes, source: str) -> np.ndarray:
    """float32[height, width], 0 for paper to 1 for black. Errors: InvalidPuzzle."""
    import warnings

    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the size is checked here
            image = Image.open(io.BytesIO(data), formats=list(FORMATS))
        if image.width * image.height > MAX_PIXELS:
            raise wrong(source, 0, f"a picture of at most {MAX_PIXELS:,} pixels", f"{image.width} x {image.height}")
        paper = Image.new("RGBA", image.size, "white")
        grey = np.asarray(Image.alpha_composite(paper, image.convert("RGBA")).convert("L"))
    except InvalidPuzzle:
        raise
    except Exception as error:  # whatever Pillow raises for damaged data: many kinds, and none of its own
        raise InvalidPuzzle(f"{source}: expected a picture, found a damaged one ({error})") from None
    light = np.bincount(grey.ravel(), minlength=256)
    level = max(128 + int(np.argmax(light[128:])), 1)  # the paper: the most frequent of the light shades
    return np.clip((level - grey.astype(np.float32)) / level, 0, 1)


# The grid.

Span = tuple[int, int]
"""First pixel and the one after the last."""


def even_edges(shape: tuple[int, ...], size: tuple[int, int]) -> tuple[list[Span], list[Span]]:
    """Cells of equal size that fill the picture, without a pixel at each edge, where lines may be."""
    spans = []
    for pixels, cells in zip(shape, size, strict=True):
        ends = np.linspace(0, pixels, cells + 1).round().astype(int).tolist()
        spans.append([(start + 1, max(end - 1, start + 1)) for start, end in pairwise(ends)])
    return spans[0], spans[1]


def edges(dark: np.ndarray, source: str) -> tuple[list[Span], list[Span]]:
    """Insides of the rows and of the columns between the lines. Errors: InvalidPuzzle if there are no regular lines."""
    spans = []
    for name, view in (("across", dark), ("down", dark.T)):
        lengths = longest_runs(view > LINE)
        found = None
        for share in (0.9, 0.5):
            found = found or lattice(np.flatnonzero(lengths >= max(share * lengths.max(), MIN_CELL)))
        if not found:
            hope = f"lines {name} at equal distances, or `--set size=ROWSxCOLUMNS`"
            raise wrong(source, 0, hope, "none")
        spans.append(found)
    return spans[0], spans[1]


def longest_runs(marked: np.ndarray) -> np.ndarray:
    """For each row of a bool array its longest run of True."""
    best = np.zeros(len(marked), np.int32)
    run = np.zeros(len(marked), np.int32)
    for column in marked.T:
        run = (run + 1) * column
        np.maximum(best, run, out=best)
    return best


def lattice(marked: np.ndarray) -> list[Span]:
    """What lies between the lines at these pixels, equally far apart; [] if they are not.

    A band wider than a line is a row of blocks with a line at each edge; lines inside of it are put in.
    """
    if not len(marked):
        return []
    breaks = np.flatnonzero(np.diff(marked) > 1)
    firsts, lasts = marked[[0, *(breaks + 1)]], marked[[*breaks, -1]]
    widths = lasts - firsts + 1
    thin = int(np.median(widths[widths <= 2 * widths.min() + 2]))
    lines: list[Span] = []
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        wide = last - first + 1 > max(3 * thin, MIN_CELL)
        lines += [(first, first + thin), (last + 1 - thin, last + 1)] if wide else [(first, last + 1)]
    middles = np.array([(start + end) / 2 for start, end in lines])
    gaps = np.diff(middles)
    if not len(gaps) or gaps.min() < MIN_CELL:
        return []
    pitch = gaps[gaps < 1.4 * gaps.min()].mean()
    steps = np.rint(gaps / pitch).astype(int)
    pitch = (middles[-1] - middles[0]) / steps.sum()
    if np.abs(gaps - steps * pitch).max() > max(2.0, 0.08 * pitch):
        return []
    spans = []
    for (_, start), (end, _), step in zip(lines[:-1], lines[1:], steps.tolist(), strict=True):
        inner = [start + (end - start) * place / step for place in range(step + 1)]
        spans += [(round(a), round(b)) for a, b in pairwise(inner)]
    return spans


# What is in a cell.


class _Cell:
    """The inside of a cell: a block, or the ink of a number cut to where it is.

    filled  whether the cell as a whole is darker than paper.
    """

    def __init__(self, inside: np.ndarray) -> None:
        inside = _without_rim(inside)
        ground = float(np.median(inside)) if inside.size else 0.0
        self.filled = ground > LINE
        ink = np.clip((inside - ground) / max(1 - ground, 0.1), 0, 1)
        seen = ink > INK
        self.block = ground > 0.6 or not seen.any()
        if not self.block:
            rows, columns = np.flatnonzero(seen.any(1)), np.flatnonzero(seen.any(0))
            # one pixel more on each side, for the grey of its edges
            top, left = max(rows[0] - 1, 0), max(columns[0] - 1, 0)
            ink = ink[top : rows[-1] + 2, left : columns[-1] + 2]
            self.height, self.width = int(rows[-1] - rows[0] + 1), int(columns[-1] - columns[0] + 1)
            self.ink = ink


def _without_rim(inside: np.ndarray) -> np.ndarray:
    """Without the outermost pixels: what a line's grey edge leaves there is no ink."""
    return inside[1:-1, 1:-1] if min(inside.shape) > 4 else inside


def pieces(ink: np.ndarray) -> list[np.ndarray]:
    """What columns without ink part, from left to right."""
    marked = ink.max(0) > INK
    starts = np.flatnonzero(marked & ~np.concatenate(([False], marked[:-1])))
    ends = np.flatnonzero(marked & ~np.concatenate((marked[1:], [False]))) + 1
    cuts = [0, *((end + start) // 2 for end, start in zip(ends[:-1], starts[1:], strict=True)), ink.shape[1]]
    return [ink[:, a:b] for a, b in pairwise(cuts)]


def profile(ink: np.ndarray, rows: int) -> np.ndarray:
    """float[3, rows]: the ink of each row, how far right of the middle of all ink it lies, and how far from it."""
    found = np.zeros((3, rows))
    ink = ink[: rows - 2]
    total = float(ink.sum()) or 1.0
    places = np.arange(ink.shape[1])
    off = (places - float(ink.sum(0) @ places) / total) / (rows / 3)
    found[:, 1 : 1 + len(ink)] = ink.sum(1), ink @ off, ink @ np.abs(off)
    return found


def distances(one: np.ndarray, others: np.ndarray) -> np.ndarray:
    """From one profile to each of others[n, 3, rows]: 0 for equal ones, about 1 for those that share nothing.

    A row up or down does not count.
    """
    moved = np.stack([np.roll(one, shift, axis=1) for shift in (-1, 0, 1)])
    apart = np.abs(moved[:, None] - others[None]).sum((2, 3)).min(0)
    return apart / np.maximum(one[0].sum() + others[:, 0].sum(1), 1.0)


# Which digits they are.


class _Reader:
    """All cells of a picture, and the digits they are held against."""

    def __init__(self, cells: list[list[_Cell]], source: str, font: str) -> None:
        self.cells, self.source, self.font = cells, source, font
        self.written = [cell for row in cells for cell in row if not cell.block]
        if not self.written:
            raise wrong(source, 0, "numbers in the grid", "blocks only")
        self.height = int(np.median([cell.height for cell in self.written]))
        self.rows = self.height + 8
        self.seen: dict[tuple[int, bytes], dict[int, float]] = {}
        self.names: list[int] = []
        self.strange = False
        self.templates = np.zeros((0, 3, self.rows))

    def numbers(self) -> list[list[int]]:
        """The grid. Errors: InvalidPuzzle naming a cell."""
        from_fonts = self.of_fonts()
        known = self.of_font(from_fonts) or self.of_first_row(from_fonts) or self.of_likeness(from_fonts)
        names, templates = zip(*known, strict=True)
        self.names, self.templates = list(names), np.stack(templates)
        self.near = NEAR if set(range(10)) <= set(names) else NEAR_SOME
        return self.check_strange(
            [
                [0 if cell.block else self.number(cell, row, column) for column, cell in enumerate(line, start=1)]
                for row, line in enumerate(self.cells, start=1)
            ]
        )

    def number(self, cell: _Cell, row: int, column: int) -> int:
        ink = cell.ink.shape[1], cell.ink.tobytes()  # equal cells are looked at once
        if ink not in self.seen:
            self.seen[ink] = self.costs(cell)
        costs = sorted((cost, number) for number, cost in self.seen[ink].items())
        hope = f"a number in row {row}, column {column}"
        if not costs or costs[0][0] > self.near:
            raise wrong(self.source, 0, hope, "a cell like none of the digits")
        if costs[0][1] < 0:
            raise wrong(self.source, 0, hope, "digits of a strange font (`--set font=FILE` names it)")
        if len(costs) > 1 and costs[1][0] < APART * costs[0][0] + MARGIN:
            raise wrong(self.source, 0, hope, f"a cell that may be {costs[0][1]} or {costs[1][1]}")
        return costs[0][1]

    def costs(self, cell: _Cell) -> dict[int, float]:
        """How far a cell is from each number of one or two digits."""
        parts = pieces(cell.ink)
        width = cell.ink.shape[1]
        costs: dict[int, float] = {}
        if len(parts) == 1:
            costs = {digit: cost for digit, cost in self.of_digit(cell.ink).items() if digit}
        if len(parts) == 2:
            splits = [(parts[0], parts[1])]
        elif len(parts) == 1 and cell.width > WIDE * cell.height:
            splits = [(cell.ink[:, :cut], cell.ink[:, cut:]) for cut in range(width // 4, width - width // 4 + 1)]
        else:
            splits = []
        for left, right in splits:
            ones = self.of_digit(right)
            for ten, cost in self.of_digit(left).items():
                for one, other in ones.items():
                    number = DOUBTFUL if DOUBTFUL in (ten, one) else 10 * ten + one
                    if ten:
                        costs[number] = min(costs.get(number, np.inf), max(cost, other))
        return costs

    def of_digit(self, ink: np.ndarray) -> dict[int, float]:
        """Each digit and how far this ink is from it."""
        costs: dict[int, float] = {}
        for name, cost in zip(self.names, distances(self.profile(ink), self.templates).tolist(), strict=True):
            costs[name] = min(costs.get(name, np.inf), cost)
        return costs

    def profile(self, ink: np.ndarray) -> np.ndarray:
        return profile(ink, self.rows)

    # Templates.

    def digits(self) -> Iterator[np.ndarray]:
        """Profiles of all that is one digit by its looks."""
        for cell in self.written:
            parts = pieces(cell.ink)
            if len(parts) == 2 or (len(parts) == 1 and cell.width <= cell.height):
                yield from map(self.profile, parts)

    def of_first_row(self, from_fonts: np.ndarray) -> Templates:
        """The digits of a first row that reads 1, 2, 3, ... 10; none if most of them look like other digits.

        Those that look like another digit, and occur once only, are doubtful.
        """
        cells = [cell for cell in self.cells[0] if not cell.block]
        if len(cells) < 10:
            return []
        own = [self.profile(cell.ink) for cell in cells[:9]]
        ten, first = cells[9].ink, own[0][None]
        parts = pieces(ten)
        cuts = [parts[0].shape[1]] if len(parts) == 2 else range(1, ten.shape[1])
        cut = min(cuts, key=lambda cut: float(distances(self.profile(ten[:, :cut]), first)[0]))
        names = (*range(1, 10), 0)
        own.append(self.profile(ten[:, cut:]))
        agreed = [int(distances(one, from_fonts).argmin()) == name for name, one in zip(names, own, strict=True)]
        if 2 * sum(agreed) <= len(own):
            return []
        groups = np.stack([one for one, _ in self.groups])
        often = [self.groups[int(distances(one, groups).argmin())][1] > 1 for one in own]
        return [
            (name if sure or more else DOUBTFUL, one)
            for name, sure, more, one in zip(names, agreed, often, own, strict=True)
        ]

    def of_fonts(self) -> np.ndarray:
        """The ten digits of the font that is nearest to those of the picture."""
        try:
            fonts = font_digits(self.height, self.rows, self.font)
        except MissingExtra as error:
            found = f"expected --set font=FILE or the fonts of reportlab, found neither ({error})"
            raise InvalidPuzzle(f"{self.source}: {found}") from error
        if not fonts:
            raise wrong(self.source, 0, f"digits that are {self.height} pixels high in a font", "no such size")
        return min(fonts, key=lambda digits: sum(float(distances(one, digits).min()) for one, _ in self.groups))

    @cached_property
    def groups(self) -> list[tuple[np.ndarray, int]]:
        """Digits of the picture that differ, and how often each occurs."""
        found = np.zeros((0, 3, self.rows))
        counts: list[int] = []
        for one in self.digits():
            near = distances(one, found)
            if len(found) and near.min() <= SAME:
                counts[int(near.argmin())] += 1
            else:
                found = np.concatenate([found, one[None]])
                counts.append(1)
        return list(zip(found, counts, strict=True))

    @staticmethod
    def nearest(one: np.ndarray, digits: np.ndarray) -> int:
        """The digit that is clearly nearest, else DOUBTFUL."""
        far = distances(one, digits)
        first, second = np.argsort(far)[:2]
        return int(first) if far[first] <= FONT_NEAR and far[second] >= FONT_APART * far[first] + MARGIN else DOUBTFUL

    def of_font(self, from_fonts: np.ndarray) -> Templates:
        """The digits of the picture and those of its font, if that is its font; else none."""
        far = [(one, count, distances(one, from_fonts)) for one, count in self.groups]
        alike = sum(count for _, count, costs in far if costs.min() <= SAME_FONT)
        if alike < MOSTLY * sum(count for _, count, _ in far):
            return []
        own = [(self.nearest(one, from_fonts) if costs.min() <= SAME_FONT else DOUBTFUL, one) for one, _, costs in far]
        return [*own, *enumerate(from_fonts)]

    def of_likeness(self, from_fonts: np.ndarray) -> Templates:
        """The digits of the picture, each named after the digit of a strange font that it is clearly nearest to.

        Digits that differ and would have one name are doubtful, the nearest one too if it is not by far the nearest.
        """
        self.strange = True
        named = [self.nearest(one, from_fonts) for one, _ in self.groups]
        far = [float(distances(one, from_fonts).min()) for one, _ in self.groups]
        for name in set(named):
            first, *others = sorted((cost, place) for place, cost in enumerate(far) if named[place] == name)
            nearest = self.groups[first[1]][0]
            for cost, place in others:
                if float(distances(nearest, self.groups[place][0][None])[0]) > SAME:
                    named[place] = DOUBTFUL
                    if cost < APART * first[0] + MARGIN:
                        named[first[1]] = DOUBTFUL
        return [(name, one) for name, (one, _) in zip(named, self.groups, strict=True)]

    def check_strange(self, numbers: list[list[int]]) -> list[list[int]]:
        """The numbers, which are 1 to the largest, all of them, if the font did not just seem to tell them."""
        found = {number for row in numbers for number in row} - {0}
        missing = set(range(1, max(found) + 1)) - found
        if self.strange and missing:
            hope = f"all numbers from 1 to {max(found)}, as the font is strange (`--set font=FILE` names it)"
            raise wrong(self.source, 0, hope, f"no {min(missing)}")
        return numbers


def load_font(path: str, size: int) -> ImageFont.FreeTypeFont:
    """A font file. Errors: ValueError."""
    from PIL import ImageFont

    try:
        return ImageFont.truetype(path, size)
    except OSError as error:
        raise ValueError(f"font: expected a TrueType file, found {path!r} ({error})") from None


@lru_cache(maxsize=64)
def font_digits(height: int, rows: int, path: str) -> list[np.ndarray]:
    """Profiles of the ten digits of each font at hand, about `height` pixels high, with grey edges and without."""
    found = []
    for size in range(height, 2 * height + 6):
        for font in _fonts(size, path):
            top, bottom = font.getbbox("0123456789")[1::2]
            if abs(bottom - top - height) <= 1:
                for mode in ("L", "1"):
                    found.append(np.stack([profile(_drawn(font, str(digit), mode), rows) for digit in range(10)]))
    return found


def _fonts(size: int, path: str) -> list[Any]:
    """The font at `path`; else Pillow's own, and those that come with ReportLab."""
    from PIL import ImageFont

    if path:
        return [load_font(path, size)]
    folder = Path(str(needed("reportlab").__file__)).parent / "fonts"
    return [ImageFont.load_default(size), *(load_font(str(folder / name), size) for name in ("Vera.ttf", "VeraBd.ttf"))]


def _drawn(font: Any, text: str, mode: str) -> np.ndarray:
    """The ink of a text in a font."""
    from PIL import Image, ImageDraw

    box = font.getbbox(text)
    image = Image.new("L", (box[2] + 12, box[3] + 12), 255)
    canvas = ImageDraw.Draw(image)
    canvas.fontmode = mode
    canvas.text((6, 6), text, font=font, fill=0)
    return _Cell((255 - np.asarray(image, np.float32)) / 255).ink
