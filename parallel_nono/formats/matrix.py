"""A picture in characters, one a cell, all rows of one length: `0101`, `.#.#`, ` X X`, `_x_x`. One puzzle.

The clues are those of the picture. `0`, `.`, `_` and `-` are background, all other characters are inks; blanks and
commas between cells mean nothing. Only where none of these four stands anywhere, blanks are background, and may be cut
off at line ends. `.nnv` files have the picture between lines `b-` and `eb-`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import BLACK_AND_WHITE, Colour, InvalidPuzzle, Puzzle, letter
from . import Format, Parsed
from .shades import distinct
from .text import MAX_INKS, Lines, from_first_full, only_one, only_picture, shown, sizes, stem, wrong

TITLE = "a picture in characters"
BACKGROUND = "0._-"
BLACK = "1#xX"
LOOKS = tuple(
    re.compile(rf"(?:[ \t]*+\n)*+(?:[{cells}]++[ \t]*+(?:\n++|\Z))++\Z")
    for cells in ("01", ".#", ".X", "_x", "01 ", " X", "01,")
)
LETTERS = re.compile(r"[.#a-zA-Z\s]++\Z")
MARKED = re.compile(r"\s*+b-[^\n]*+\n[x_\n]++eb-")


def sniff(text: str) -> bool:
    if MARKED.match(text):
        return True
    start = text[: 1 << 16]
    if len(text) > len(start):
        start = start.rpartition("\n")[0]
    lines = [line.strip() for line in start.split("\n") if line.strip()]
    if len(lines) < 2 or len(lines[0]) < 2 or len(set(start) - set(" \t\n,")) < 2:
        return False
    lettered = "." in start and LETTERS.match(start) and len({*map(len, lines)}) == 1
    return bool(lettered) or any(look.match(start) for look in LOOKS)


def parse(text: str, source: str) -> Parsed:
    lines = [(place, line.rstrip()) for place, line in enumerate(text.split("\n"), start=1)]
    marks = [at for at, (_, line) in enumerate(lines) if line in ("b-", "eb-")]
    if len(marks) == 2:
        lines = lines[marks[0] + 1 : marks[1]]
    if any(char in line for _, line in lines for char in BACKGROUND):
        lines = [(place, re.sub("[ \t,]", "", line)) for place, line in lines if line]
    while lines and not lines[-1][1]:
        lines.pop()
    yield _puzzle(from_first_full(lines, source, TITLE), source)


def _puzzle(lines: Lines, source: str) -> Puzzle:
    wide = max(len(line) for _, line in lines)
    sizes(len(lines), wide, source, lines[0][0])
    ragged = next(((place, line) for place, line in lines if len(line) != wide), None)
    if ragged and not any(" " in line or not line for _, line in lines):
        raise wrong(source, ragged[0], f"rows of one length, {wide} cells", f"{len(ragged[1])} cells")
    unseen = next(((number, char) for number, line in lines for char in line if not char.isprintable()), None)
    if unseen:
        raise wrong(source, unseen[0], "characters that can be seen", f"U+{ord(unseen[1]):04X}")
    chars = sorted({char for _, line in lines for char in line} - set(BACKGROUND + " "))
    if len(chars) > MAX_INKS:
        raise wrong(source, 0, f"at most {MAX_INKS:,} colours", f"{len(chars)}")
    if len(chars) < 2 and set(chars) <= set(BLACK):
        palette = BLACK_AND_WHITE
    else:
        palette = (BLACK_AND_WHITE[0], *(Colour(char, char, distinct(c)) for c, char in enumerate(chars, start=1)))
    place = {char: c for c, char in enumerate(chars, start=1)}
    grid = [[place.get(char, 0) for char in line.ljust(wide)] for _, line in lines]
    return Puzzle.of_grid(grid, palette, name=stem(source), source=source)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_one(puzzles, TITLE)
    goal = only_picture(puzzle, TITLE)
    if puzzle.n_colours > 53:
        raise InvalidPuzzle(f"{TITLE} carries at most 52 colours, found {puzzle.n_colours - 1} in {shown(puzzle.name)}")
    chars = "01" if puzzle.palette == BLACK_AND_WHITE else [".", *(letter(c, 3) for c in range(1, puzzle.n_colours))]
    return "".join("".join(chars[cell] for cell in row) + "\n" for row in goal)


FORMAT = Format(
    "matrix",
    "A picture in characters, one a cell: `0110`, `.##.`, letters for colours; the clues are those of the picture",
    (".01", ".01.txt", ".nnv", ".matrix"),
    sniff,
    parse,
    write,
    colours=True,
    picture=True,
)
