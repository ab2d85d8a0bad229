"""`.mk`, Olsak's simple format: `H W`, row clues, a line `#`, column clues. One black-white puzzle.

An empty line is `0` or blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .text import (
    black_clues,
    clue_lines,
    from_first_full,
    lengths,
    make,
    numbered,
    only_black,
    only_one,
    sizes,
    two_sizes,
    wrong,
)

TITLE = "Olsak's .mk"
START = re.compile(r"\s*[0-9]+[ \t]+[0-9]+[ \t]*\n")
DIVIDER = re.compile(r"^[ \t]*#", re.MULTILINE)


def sniff(text: str) -> bool:
    return START.match(text) is not None and DIVIDER.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, "a puzzle")
    height, width = two_sizes(lines[0], source, "the height and the width")
    sizes(height, width, source, lines[0][0])
    dividers = [place for place, (_, line) in enumerate(lines) if line.startswith("#")]
    if len(dividers) not in (1, 2) or (len(dividers) == 2 and any(line for _, line in lines[dividers[1] + 1 :])):
        raise wrong(source, 0, "one line `#` between rows and columns", f"{len(dividers)} of them")
    rows = clue_lines(lines[1 : dividers[0]], height, source, "row")
    columns = clue_lines(lines[dividers[0] + 1 : [*dividers, len(lines)][1]], width, source, "column")
    yield make(black_clues(rows, source), black_clues(columns, source), source)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    rows, columns = ([lengths(clue) for clue in clues] for clues in (puzzle.rows, puzzle.columns))
    return "\n".join([f"{puzzle.height} {puzzle.width}", *rows, "#", *columns]) + "\n"


FORMAT = Format(
    "mk",
    "Olsak's simple grid: `H W`, row clues, `#`, column clues; one black-white puzzle",
    (".mk",),
    sniff,
    parse,
    write,
    blots=True,
    first="0123456789",
)
