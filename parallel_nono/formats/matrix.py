"""A picture in characters, one a cell, all rows of one length: `0101`, `.#.#`, ` X X`, `_x_x`. Many puzzles.

The clues are those of the picture. `0`, `.`, `_` and `-` are background, all other characters are inks; blanks and
commas between cells mean nothing, and blank lines part pictures, unless they stand between all rows. Lines such as
`====` and `----` part pictures too, where these characters are no cells. Only where none of the four stands anywhere,
blanks are background, and may be cut off at line ends: a blank line is an empty row then, which is said. `.nnv` files
have each picture between lines `b-` and `eb-`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from ..puzzle import BLACK_AND_WHITE, Colour, InvalidPuzzle, Puzzle, letter
from . import Format, Parsed
from .common.shades import distinct
from .common.text import (
    DIVIDER,
    MAX_INKS,
    Lines,
    from_first_full,
    labelled,
    only_one,
    only_picture,
    shown,
    sizes,
    wrong,
)

TITLE = "a picture in characters"
BACKGROUND = "0._-"
BLACK = "1#xX"
LOOKS = tuple(
    re.compile(rf"(?:[ \t]*+\n)*+(?:[{cells}]++[ \t]*+(?:\n++|\Z))++\Z")
    for cells in ("01", ".#", ".X", "_x", "01 ", " X", "01,")
)
GAPS = re.compile(r"[ \t,]+")
DIVIDERS = re.compile(r"={3}|-{3}")
LETTERS = re.compile(r"[.#a-zA-Z\s]++\Z")
MARKED = re.compile(r"\s*+b-[^\n]*+\n[x_\n]++eb-")


def sniff(text: str) -> bool:
    if MARKED.match(text):
        return True
    start = text[: 1 << 16]
    if len(text) > len(start):
        start = start.rpartition("\n")[0]
    if DIVIDERS.search(start):
        start = "\n".join(line for line in start.split("\n") if not DIVIDER.match(line.strip()))
    lines = [line.strip() for line in start.split("\n") if line.strip()]
    if len(lines) < 2 or len(lines[0]) < 2 or len(set(start) - set(" \t\n,")) < 2:
        return False
    lettered = "." in start and LETTERS.match(start) and _even(start)
    return bool(lettered) or any(look.match(start) for look in LOOKS)


def _even(text: str) -> bool:
    """Whether the rows of each picture have one length."""
    groups = groupby((line.strip() for line in text.split("\n")), bool)
    return all(len({*map(len, group)}) == 1 for full, group in groups if full)


def parse(text: str, source: str) -> Parsed:
    lines = [(place, line.rstrip()) for place, line in enumerate(text.split("\n"), start=1)]
    pictures, warnings = _pictures(lines, source)
    alone = len(pictures) == 1
    for index, picture in enumerate(pictures, start=1):
        name = labelled(source, "", index, alone)
        try:
            yield _puzzle(picture, source, name, index, warnings)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _pictures(lines: Lines, source: str) -> tuple[list[Lines], list[str]]:
    """(the rows of each picture, warnings)."""
    marks = [at for at, (_, line) in enumerate(lines) if line in ("b-", "eb-")]
    if marks and [lines[at][1] for at in marks] == ["b-", "eb-"] * (len(marks) // 2):
        inside = list(zip(marks[::2], marks[1::2], strict=True))
        outside = [lines[a + 1 : b] for a, b in zip([-1, *marks[1::2]], [*marks[::2], len(lines)], strict=True)]
        left = next((place for part in outside for place, line in part if line.strip()), 0)
        said = [f"line {left}: what stands outside `b-` and `eb-` is left aside"] if left else []
        return [_marked(lines[a + 1 : b], source) for a, b in inside], said
    return _parted(lines, source)


def _marked(lines: Lines, source: str) -> Lines:
    """The rows between two marks."""
    mark = next(((place, line) for place, line in lines if line.endswith("b-")), None)
    if mark:
        raise wrong(source, mark[0], "`b-` and `eb-` on lines of their own", mark[1])
    return from_first_full(_without_gaps(lines, source), source, TITLE)


def _without_gaps(lines: Lines, source: str) -> Lines:
    """Rows without blanks and commas between cells. Errors: InvalidPuzzle where only some rows have them."""
    if not any(GAPS.search(line) for _, line in lines):
        return lines
    found = [(place, GAPS.sub("", line)) for place, line in lines]
    gaps = [GAPS.search(line.strip(" \t,")) is not None for _, line in lines]
    first = next((gap for gap, (_, line) in zip(gaps, lines, strict=True) if line), False)
    odd = next((row for gap, row in zip(gaps, lines, strict=True) if gap != first and row[1]), None)
    if odd:
        hope = "a row with blanks between cells, as those before" if first else "a row without blanks between cells"
        raise wrong(source, odd[0], hope, odd[1])
    return found


def _parted(lines: Lines, source: str) -> tuple[list[Lines], list[str]]:
    """(the rows of each picture, warnings) of what dividers and blank lines part."""
    lines = _without_dividers(lines)
    if any(char in line for _, line in lines for char in BACKGROUND):
        lines = _without_gaps(lines, source)
        found = [list(group) for full, group in groupby(lines, lambda line: line[1] != "") if full]
        if len(found) > 1 and all(len(group) == 1 for group in found) and len({len(g[0][1]) for g in found}) == 1:
            said = f"line {found[0][0][0] + 1}: blank lines between all rows are left aside"
            return [[row for group in found for row in group]], [said]
        return found or [from_first_full(lines, source, TITLE)], []
    while lines and not lines[-1][1]:
        lines.pop()
    lines = from_first_full(lines, source, TITLE)
    blank = next((place for place, line in lines if not line), 0)
    told = [f"line {blank}: a blank line is read as an empty row of the picture"] if blank else []
    if all(line[:1] in ("", " ") for _, line in lines):
        told.append("every row begins with a blank: read as an empty column of the picture")
    return [lines], told


def _without_dividers(lines: Lines) -> Lines:
    """Lines such as `----` made blank, where others have another background and no cell of that character."""
    if not any(line[:3] in ("===", "---") for _, line in lines):
        return lines
    cells = {char for _, line in lines if not DIVIDER.match(line.strip()) for char in line}
    signs = [sign for sign in "=-" if sign not in cells and cells & {*"0._ "}]
    return [(place, "" if line[:1] in signs and DIVIDER.match(line) else line) for place, line in lines]


def _puzzle(lines: Lines, source: str, name: str, index: int, warnings: list[str]) -> Puzzle:
    wide = max(len(line) for _, line in lines)
    sizes(len(lines), wide, source, lines[0][0])
    if not any(" " in line or not line for _, line in lines):
        first = len(lines[0][1])
        ragged = next(((place, line) for place, line in lines if len(line) != first), None)
        if ragged:
            raise wrong(source, ragged[0], f"rows of one length, {first} cells", f"{len(ragged[1])} cells")
    for number, line in lines:
        if not line.isprintable():
            unseen = next(char for char in line if not char.isprintable())
            raise wrong(source, number, "characters that can be seen", f"U+{ord(unseen):04X}")
    chars = sorted({char for _, line in lines for char in line} - set(BACKGROUND + " "))
    if len(chars) > MAX_INKS:
        raise wrong(source, 0, f"at most {MAX_INKS:,} colours", f"{len(chars)}")
    if len(chars) < 2 and set(chars) <= set(BLACK):
        palette = BLACK_AND_WHITE
    else:
        palette = (BLACK_AND_WHITE[0], *(Colour(char, char, distinct(c)) for c, char in enumerate(chars, start=1)))
    place = {char: c for c, char in enumerate(chars, start=1)}
    grid = [[place.get(char, 0) for char in line.ljust(wide)] for _, line in lines]
    puzzle = Puzzle.of_grid(grid, palette, name=name, source=source, index=index)
    return replace(puzzle, warnings=tuple(warnings)) if warnings else puzzle


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
