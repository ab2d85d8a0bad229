"""`.cwc`, the colour sister of `.cwd`: height, width, number of colours, then four blocks parted by a blank line.

The blocks are row lengths, row colours (1 and up), column lengths, column colours. An empty line is a blank line, so
blocks are counted, not parted, unless no line is blank but those between blocks (`0` is an empty line then). The file
holds no shades. Files that were put together are read one puzzle after another; only one is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate

from ..puzzle import BLACK_AND_WHITE, Clue, Colour, Puzzle, letter
from . import Format, Parsed
from .common.shades import distinct
from .common.text import (
    MAX_INKS,
    NUMBERS_ALONE,
    Lines,
    balanced,
    begins_with,
    coloured_clue,
    first_fit,
    from_first_full,
    lengths,
    make,
    n_first_full,
    next_clues,
    next_full,
    number,
    numbered,
    one_by_one,
    only_one,
    says_empty,
    sizes,
    wrong,
)

TITLE = "a .cwc file"
START = re.compile(r"\s*+([0-9]{1,6})[ \t]*+\n[ \t]*+([0-9]{1,6})[ \t]*+\n[ \t]*+([0-9]{1,6})[ \t]*+\n")


def sniff(text: str) -> bool:
    found = START.match(text)
    if found is None:
        return False
    height, width, _ = map(int, found.groups())
    wanted = 2 * (height + width)
    lines = [line.strip() for line in text[found.end(3) :].split("\n")[1:]]
    if NUMBERS_ALONE.match(text, found.end()):
        between = (height, 2 * height + 1, 2 * height + width + 2)
        parted = not any(lines[place] for place in between if place < len(lines))
        if sum(map(bool, lines)) == wanted or (wanted <= len(lines) <= wanted + 5 and parted):
            return True
    return len(lines) > wanted and first_fit(text, parse, 2)


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "the height, the width, the number of colours and the clues")
    yield from one_by_one(lines, source, partial(_read, source=source))


def _read(lines: Lines, start: int, source: str) -> tuple[Puzzle, int]:
    """The puzzle that begins at a line, and where it ends."""
    head = lines[start : start + 3]
    place = head[0][0]
    if len(head) < 3:
        hope = "the height, the width, the number of colours and the clues"
        raise wrong(source, place, hope, f"{len(head)} lines")
    hope = "the height, the width, then the number of colours"
    height, width, n_inks = (number(line, source, place, hope) for place, line in head)
    sizes(height, width, source, place)
    if not 1 <= n_inks <= MAX_INKS:
        raise wrong(source, head[2][0], f"1 to {MAX_INKS:,} colours", n_inks)
    wanted = (height, height, width, width)
    if n_first_full(lines, start + 3, sum(wanted)) == sum(wanted):
        full, end = next_clues(lines, start + 3, sum(wanted), source, "")
        blocks = [full[last - n : last] for n, last in zip(wanted, accumulate(wanted), strict=True)]
    else:
        blocks, end = _blocks(lines, start + 3, wanted, source)
    rows, columns = (
        [_clue(*pair, n_inks, source) for pair in zip(blocks[at], blocks[at + 1], strict=True)] for at in (0, 2)
    )
    at = next_full(lines, end)
    if at < len(lines) and not balanced(rows, columns):
        raise wrong(source, lines[at][0], f"the end after {height} row and {width} column clues", lines[at][1])
    return make(rows, columns, source, palette=_palette(n_inks)), end


def _blocks(lines: Lines, start: int, wanted: Sequence[int], source: str) -> tuple[list[Lines], int]:
    """(blocks of so many lines, where they end); a blank line between them, others are empty clues."""
    blocks = []
    for n in wanted:
        block = lines[start : start + n]
        blocks.append(block + [(lines[-1][0], "")] * (n - len(block)))  # blank lines at the end may be cut off
        start = min(start + n, len(lines))
        if len(blocks) < len(wanted) and start < len(lines):
            if lines[start][1]:
                raise wrong(source, lines[start][0], f"a blank line after {n} lines", lines[start][1])
            start += 1
    return blocks, start


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
    begins=begins_with(START, parse),
)
