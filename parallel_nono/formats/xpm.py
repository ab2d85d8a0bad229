"""XPM, pictures as C source: `"W H COLOURS CHARS"`, a line for each colour, a line for each row, all in quotes.

Many pictures a file; only one is written. Only strings count, extensions (`XPMEXT`) are passed by. `None` is
transparent. Colours are `#rrggbb` or names, after `c` (or `g`, `g4`, `m` where there is no `c`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ..puzzle import InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common import picture
from .common.shades import shade
from .common.text import labelled, number, only_one, wrong

TITLE = "an XPM picture"
START = re.compile(r"\s*(?:/\*\s*XPM\s*\*/|static\s+(?:const\s+)?char\s*\*)")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
KEYS = ("c", "g", "g4", "m", "s")
CHARS = " .+@#$%&*=-;>,')!~{]^/(_:<[}|1234567890abcdefghijklmnopqrstuvwxyz"


def sniff(text: str) -> bool:
    return START.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    strings = _strings(COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text))
    head = next(strings, None)
    if head is None:
        raise wrong(source, 0, 'strings in quotes such as "W H COLOURS CHARS"', "none")
    index = 0
    while head:
        index += 1
        try:
            draft = _read(head, strings, source)
            head = _behind(strings)
            alone = index == 1 and head is None
            yield picture.puzzle_of(draft.pixels, source, index, alone, draft.declared)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=labelled(source, "", index, index == 1), index=index)
            return


class _Draft(NamedTuple):
    """A picture: its pixels, and the shade of a colour that is declared transparent."""

    pixels: picture.Pixels
    declared: int | None


def _strings(text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of each string."""
    place = end = 0
    for found in STRING.finditer(text):
        place += text.count("\n", end, found.start())
        end = found.start()
        yield place + 1, found[1]


def _behind(strings: Iterator[tuple[int, str]]) -> tuple[int, str] | None:
    """The first string behind a picture and its extensions."""
    extension = False
    for place, line in strings:
        extension = line != "XPMENDEXT" and (extension or line.startswith("XPMEXT"))
        if not extension and line != "XPMENDEXT":
            return place, line
    return None


def _read(first: tuple[int, str], strings: Iterator[tuple[int, str]], source: str) -> _Draft:
    """The picture whose first string is `first`; the others are taken from `strings`."""
    place, head = first
    sizes = [number(word, source, place, "`W H COLOURS CHARS`") for word in head.split()[:4]]
    if len(sizes) < 4 or not 1 <= sizes[3] <= 4:
        raise wrong(source, place, "`W H COLOURS CHARS`, up to 4 characters a pixel", head)
    width, height, n_shades, n_chars = sizes
    picture.check_size(height, width, source)
    if n_shades > picture.MAX_INKS + 2:
        raise wrong(source, place, f"at most {picture.MAX_INKS} colours ({picture.ELSEWHERE})", n_shades)
    body = list(islice(strings, n_shades + height))
    if len(body) < n_shades + height:
        raise wrong(source, place, f"{n_shades} colours and {height} rows", f"{len(body)} strings")
    shades = {line[:n_chars]: _shade(line[n_chars:], source, place) for place, line in body[:n_shades]}
    pixels = []
    for place, line in body[n_shades:]:
        words = [line[at : at + n_chars] for at in range(0, width * n_chars, n_chars)]
        unknown = next((word for word in words if word not in shades), None)
        if unknown is not None or len(line) != width * n_chars:
            hope = f"{width} pixels of {n_chars} characters that stand for colours"
            raise wrong(source, place, hope, f"{unknown or line}")
        pixels.append([shades[word] for word in words])
    declared = picture.WHITE if picture.TRANSPARENT in shades.values() else None
    return _Draft(pixels, declared)


def _shade(text: str, source: str, place: int) -> int:
    """The shade of what follows the characters of a colour: ` c #ff0000 m black`."""
    values: dict[str, str] = {}
    key = ""
    for word in text.split():
        if word in KEYS and key != word:
            key = word
        elif key:
            values[key] = f"{values.get(key, '')} {word}".strip()
    value = next((values[key] for key in KEYS if key in values), "")
    if value.lower() == "none":
        return picture.TRANSPARENT
    rgb = shade(value)
    if rgb is None:
        raise wrong(source, place, "a colour such as `c #ff0000`, `c red` or `c None`", text.strip())
    return rgb


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_one(puzzles, TITLE)
    goal, transparent = picture.drawable(puzzle, TITLE, transparency=True, declares=True)
    lines = [f"{puzzle.width} {puzzle.height} {puzzle.n_colours} 1"]
    for place, colour in enumerate(puzzle.palette):
        lines.append(f"{CHARS[place]} c {'None' if transparent and place == 0 else f'#{colour.rgb:06X}'}")
    lines += ["".join(CHARS[cell] for cell in row) for row in goal]
    body = ",\n".join(f'"{line}"' for line in lines)
    return f"/* XPM */\nstatic char *puzzle[] = {{\n{body}\n}};\n"


FORMAT = Format(
    "xpm",
    "XPM pictures, one pixel a cell: the picture, not the clues",
    (".xpm",),
    sniff,
    parse,
    write,
    colours=True,
    picture=True,
    first="/s",
)
