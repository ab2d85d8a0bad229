"""`.cwc`, the colour sister of `.cwd`: height, width, number of colours, then four blocks parted by a blank line.

The blocks are row lengths, row colours (1 and up), column lengths, column colours. An empty line is a blank line, so
blocks are counted, not parted, unless no line is blank but those between blocks (`0` is an empty line then). The file
holds no shades. One puzzle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import BLACK_AND_WHITE, Clue, Colour, Puzzle, letter
from . import Format, Parsed
from .shades import distinct
from .text import (
    MAX_INKS,
    Lines,
    coloured_clue,
    from_first_full,
    lengths,
    make,
    number,
    numbered,
    only_one,
    says_empty,
    sizes,
    wrong,
)

TITLE = "a .cwc file"
START = re.compile(r"\s*+([0-9]{1,6})[ \t]*+\n[ \t]*+([0-9]{1,6})[ \t]*+\n[ \t]*+([0-9]{1,6})[ \t]*+\n[0-9?, \t\n]*+\Z")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None:
        return False
    height, width, _ = map(int, found.groups())
    wanted = 2 * (height + width)
    lines = text[found.end(3) :].split("\n")[1:]
    return sum(not line.isspace() for line in lines if line) == wanted or wanted <= len(lines) <= wanted + 5


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "the height, the width, the number of colours and the clues")
    if len(lines) < 3:
        raise wrong(source, 0, "the height, the width, the number of colours and the clues", f"{len(lines)} lines")
    hope = "the height, the width, then the number of colours"
    height, width, n_inks = (number(line, source, place, hope) for place, line in lines[:3])
    sizes(height, width, source, lines[0][0])
    if not 1 <= n_inks <= MAX_INKS:
        raise wrong(source, lines[2][0], f"1 to {MAX_INKS:,} colours", n_inks)
    wanted = (height, height, width, width)
    rest = lines[3:]
    full = [line for line in rest if line[1]]
    blocks: list[Lines] = []
    if len(full) == sum(wanted):
        for n in wanted:
            blocks.append(full[:n])
            full = full[n:]
    else:
        rest += [(len(lines), "")] * (sum(wanted) + 3 - len(rest))  # blank lines at the end may be cut off
        for n in wanted:
            blocks.append(rest[:n])
            if rest[n:] and rest[n][1]:
                raise wrong(source, rest[n][0], f"a blank line after {n} lines", rest[n][1])
            rest = rest[n + 1 :]
        if any(line for _, line in rest):
            raise wrong(source, 0, f"four blocks of {height}, {height}, {width} and {width} lines", "more lines")
    rows, columns = (
        [_clue(*pair, n_inks, source) for pair in zip(blocks[at], blocks[at + 1], strict=True)] for at in (0, 2)
    )
    yield make(rows, columns, source, palette=_palette(n_inks))


def _palette(n_inks: int) -> tuple[Colour, ...]:
    if n_inks == 1:
        return BLACK_AND_WHITE
    inks = (Colour(f"colour {c}", letter(c, n_inks + 1), distinct(c)) for c in range(1, n_inks + 1))
    return (BLACK_AND_WHITE[0], *inks)


def _clue(long: tuple[int, str], ink: tuple[int, str], n_inks: int, source: str) -> Clue:
    words, inks = (line.replace(",", " ").split() for _, line in (long, ink))
    if says_empty(words) and (not inks or says_empty(inks)):
        return ()
    if len(words) != len(inks):
        raise wrong(source, ink[0], f"{len(words)} colours, as many as lengths in line {long[0]}", ink[1])
    colours = [number(sign, source, ink[0], f"colours from 1 to {n_inks}") for sign in inks]
    if colours and not 1 <= min(colours) <= max(colours) <= n_inks:
        raise wrong(source, ink[0], f"colours from 1 to {n_inks}", ink[1])
    return coloured_clue(list(zip(words, colours, strict=True)), source, long[0], long[1])


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_one(puzzles, TITLE)
    parts = [f"{puzzle.height}\n{puzzle.width}\n{puzzle.n_colours - 1}"]
    blocks = []
    for clues in (puzzle.rows, puzzle.columns):
        blocks.append("\n".join(lengths(clue, empty="") for clue in clues))
        blocks.append("\n".join(" ".join(str(b.colour) for b in clue) for clue in clues))
    return "\n".join([*parts, "\n\n".join(blocks)]) + "\n"


FORMAT = Format(
    "cwc",
    "Colour sister of .cwd: height, width, number of colours, then lengths and colours of rows, of columns; one puzzle",
    (".cwc",),
    sniff,
    parse,
    write,
    colours=True,
    blots=True,
    first="0123456789",
)
