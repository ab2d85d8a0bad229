"""Pages of nonograms.org and nonograms.ru, or the one line that matters: `var d=[[...],...];`.

The array holds the picture, not the clues, and scrambled. With f(x) = x0 % x3 + x1 % x3 - x2 % x3 it is

    d[1], d[2], d[3]   f gives the width, the height, the number n of colours
    d[4]               p, what colours are shifted by
    d[5] ...           n colours: red x0 - p1, green x1 - p0, blue x2 - p3
    d[5 + n]           s: (s0 % s3)^2 + 2 (s1 % s3) + s2 % s3 is the number of runs
    d[6 + n]           q, what runs are shifted by
    d[7 + n] ...       runs: first column y0 - q0, length y1 - q1, colour y2 - q2, row y3 - q3, all counted from 1

It is read as numbers between brackets; nothing of the page is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from itertools import groupby
from math import isqrt
from typing import Any

from ..puzzle import BLACK_AND_WHITE, Colour, InvalidPuzzle, Puzzle, letter
from . import Format, Parsed
from .common.shades import title_of
from .common.text import clues_of_goal, labelled, make, only_picture, shown, wrong

TITLE = "nonograms.org"
ARRAY = re.compile(r"\bvar\s+d\s*=\s*(\[\s*\[)")
OTHER = re.compile(r"\b(\w++[ \t]++)?+\w++\s*+=\s*+\[\s*+\[\s*+-?\d")
END = re.compile(r"\]\s*\]")
NUMBERS = re.compile(r"[\[\]\s,\d-]*")
HEADING = re.compile(r"<title[^>]*>([^<]{1,500})</title>", re.IGNORECASE)
QUOTED = re.compile(r"«(.+)»")
CANONICAL = re.compile(r"/nonograms2?/i/(\d{1,9})\b")

MAX_CELLS = 250_000
"""Of a picture: its size is two numbers of the array, and room for the cells is made before they are known."""


def sniff(text: str) -> bool:
    return "var" in text and ARRAY.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    starts = list(ARRAY.finditer(text))
    if not starts:
        raise wrong(source, 0, "an array `var d=[[...],...];`", "none in the page")
    others = [found for found in OTHER.finditer(text) if not ARRAY.match(text, found.start())]
    place, end = 1, 0
    for index, start in enumerate(starts, start=1):
        page = text[end : start.start()]
        behind = len(text) if index == len(starts) else start.start()
        aside = [_left_aside(text, found) for found in others if end <= found.start() < behind]
        place += page.count("\n")
        end = start.start()
        name = _title(page) or labelled(source, "", index, len(starts) == 1)
        try:
            yield _puzzle(_array(text, start.start(1), source, place), page, source, place, name, index, aside)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _left_aside(text: str, found: re.Match[str]) -> str:
    return (
        f"line {text.count(chr(10), 0, found.start()) + 1}: the array {shown(found[0])} is none of a puzzle: left aside"
    )


def _title(page: str) -> str:
    """The name in guillemets of the heading of a page, or ""."""
    import html

    heading = HEADING.search(page)
    quoted = QUOTED.search(html.unescape(heading[1])) if heading else None
    return " ".join(quoted[1].split()) if quoted else ""


def _array(text: str, start: int, source: str, place: int) -> list[list[int]]:
    import json

    end = END.search(text, start)
    array: Any = None
    if end and NUMBERS.fullmatch(text, start, end.end()):
        with suppress(ValueError, RecursionError):
            array = json.loads(text[start : end.end()])
    if not isinstance(array, list) or not all(isinstance(x, list) and all(type(n) is int for n in x) for x in array):
        raise wrong(source, place, "an array `[[...],...]` of numbers", text[start : start + 100])
    return array


class _Items:
    """The items of the array by number, with errors that say which is wrong."""

    def __init__(self, array: list[list[int]], source: str, place: int) -> None:
        self.array, self.source, self.place = array, source, place

    def wrong(self, item: int, hope: str) -> InvalidPuzzle:
        found = self.array[item] if item < len(self.array) else f"the end after {len(self.array)} items"
        return wrong(self.source, self.place, f"{hope} in item {item} of the array", found)

    def four(self, item: int, hope: str, divided: bool = False) -> list[int]:
        """Four numbers; the remainders of the first three by the fourth if `divided`."""
        if item >= len(self.array) or len(self.array[item]) < 4:
            raise self.wrong(item, f"four numbers, {hope},")
        numbers = self.array[item][:4]
        if not divided:
            return numbers
        if numbers[3] < 1:
            raise self.wrong(item, f"a divisor from 1 for {hope}")
        return [n % numbers[3] for n in numbers[:3]]

    def size(self, item: int, hope: str) -> int:
        a, b, c = self.four(item, hope, divided=True)
        return a + b - c


def _puzzle(
    array: list[list[int]], page: str, source: str, place: int, name: str, index: int, aside: list[str]
) -> Puzzle:
    items = _Items(array, source, place)
    width, height, n_inks = items.size(1, "the width"), items.size(2, "the height"), items.size(3, "the colours")
    if min(width, height) < 1 or width * height > MAX_CELLS:
        hope = f"a width and a height from 1 and at most {MAX_CELLS:,} cells"
        raise wrong(source, place, hope, f"{width} wide and {height} high")
    if not 1 <= n_inks < len(array):
        raise wrong(source, place, "colours, at least one", n_inks)
    shift = items.four(4, "the shift of colours")
    palette = [BLACK_AND_WHITE[0]]
    for ink in range(1, n_inks + 1):
        red, green, blue, _ = items.four(4 + ink, "a colour")
        rgb = (red - shift[1], green - shift[0], blue - shift[3])
        if not all(0 <= part < 256 for part in rgb):
            raise items.wrong(4 + ink, "red, green and blue from 0 to 255")
        shade = rgb[0] << 16 | rgb[1] << 8 | rgb[2]
        palette.append(Colour(title_of(shade), letter(ink, n_inks + 1), shade))
    a, b, c = items.four(5 + n_inks, "the number of runs", divided=True)
    n_runs = a * a + 2 * b + c
    origin = items.four(6 + n_inks, "the shift of runs")
    first = 7 + n_inks
    if len(array) < first + n_runs:
        raise wrong(source, place, f"{n_runs} runs from item {first} of the array on", f"{len(array) - first} runs")
    grid = [[0] * width for _ in range(height)]
    for item in range(first, first + n_runs):
        column, length, ink, row = (y - q for y, q in zip(items.four(item, "a run"), origin, strict=True))
        if not (1 <= row <= height and 1 <= ink <= n_inks and column >= 1 and 1 <= length <= width - column + 1):
            raise items.wrong(item, f"a run within {width} columns, {height} rows and {n_inks} colours")
        grid[row - 1][column - 1 : column - 1 + length] = [ink] * length
    goal = tuple(map(tuple, grid))
    number = CANONICAL.search(page)
    return make(
        *clues_of_goal(goal),
        source,
        palette=BLACK_AND_WHITE if n_inks == 1 and palette[1].rgb == 0 else tuple(palette),
        name=name,
        index=index,
        metadata=[("id", number[1])] if number else [],
        goal=goal,
        warnings=[*aside, *(["more numbers follow the runs: left aside"] if len(array) > first + n_runs else [])],
    )


def write(puzzles: Iterable[Puzzle]) -> str:
    """One array a line; the remainders and shifts are ours, the site draws them by lot."""
    return "".join(_line(puzzle) for puzzle in puzzles)


def _line(puzzle: Puzzle) -> str:
    goal = only_picture(puzzle, TITLE)
    if puzzle.width * puzzle.height > MAX_CELLS:
        size = f"{puzzle.width} x {puzzle.height}"
        raise InvalidPuzzle(f"{TITLE} carries at most {MAX_CELLS:,} cells, found {shown(size)} in {puzzle.name!r}")
    array: list[list[int]] = [[7], *(_size(n) for n in (puzzle.width, puzzle.height, puzzle.n_colours - 1))]
    shift = [11, 23, 5, 31]
    array.append(shift)
    for colour in puzzle.palette[1:]:
        red, green, blue = colour.rgb >> 16, colour.rgb >> 8 & 255, colour.rgb & 255
        dark = red * 299 + green * 587 + blue * 114 < 128_000  # the site writes its numbers in white on such
        array.append([red + shift[1], green + shift[0], blue + shift[3], red + shift[2] + dark])
    runs = []
    for row, cells in enumerate(goal, start=1):
        column = 1
        for ink, cell_run in groupby(cells):
            length = sum(1 for _ in cell_run)
            if ink:
                runs.append([column, length, ink, row])
            column += length
    array.append(_count(len(runs)))
    origin = [13, 29, 3, 41]
    array.append(origin)
    array += [[y + q for y, q in zip(run, origin, strict=True)] for run in runs]
    return f"var d={str(array).replace(' ', '')};\n"


def _size(n: int) -> list[int]:
    """Four numbers that stand for `n`."""
    divisor = max(997, n + 6)
    return [3 * divisor + n + 5, 2 * divisor + 4, 5 * divisor + 9, divisor]


def _count(n: int) -> list[int]:
    """Four numbers that stand for `n` runs."""
    root = isqrt(n)
    divisor = max(1009, root + 1)
    half, odd = divmod(n - root * root, 2)
    return [2 * divisor + root, 4 * divisor + half, divisor + odd, divisor]


FORMAT = Format(
    "nonograms",
    "Pages of nonograms.org and nonograms.ru, or their line `var d=[[...],...];` alone; the picture, not the clues",
    (".js", ".html", ".htm"),
    sniff,
    parse,
    write,
    colours=True,
    picture=True,
    several=True,
)
