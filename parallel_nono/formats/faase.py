"""Frans Faase's text, webpbn's export of that name: `rows`, clues, `columns`, clues. One black-white puzzle.

NonoGeek's `ROWS:` and `COLUMNS:` are read too, and an `end`. An empty line is `0`; no sizes are given. A blank line is
decoration unless rows and columns only agree with an empty line there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .common.blocks import written
from .common.gaps import without_gaps
from .common.text import Lines, black_clues, make, numbered, only_black, only_one, wrong

TITLE = "Frans Faase's text"
START = re.compile(r"\s*+(?:rows|columns)[ \t]*+:?[ \t]*+\n[0-9?, \t\n]*+(?:rows|columns)\b", re.IGNORECASE)
WORDS = {"rows": "rows", "rows:": "rows", "columns": "columns", "columns:": "columns", "end": "end", "end.": "end"}


def sniff(text: str) -> bool:
    return START.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    sides: dict[str, Lines] = {}
    side: Lines | None = None
    ended = False
    for place, line in numbered(text):
        word = WORDS.get(line.lower())
        if ended and line:
            raise wrong(source, place, "the end behind `end`", line)
        if word == "end":
            ended = True
        elif word:
            if word in sides:
                raise wrong(source, place, "rows and columns once each", line)
            side = sides[word] = []
        elif line:
            if side is None:
                raise wrong(source, place, "`rows` or `columns`", line)
            side.append((place, line))
        elif side is not None:
            side.append((place, ""))
    for word in ("rows", "columns"):
        if word not in sides:
            raise wrong(source, 0, f"a line `{word}`", "none")
    last = sides[list(sides)[-1]]
    while last and not last[-1][1]:
        last.pop()  # the end of the file
    yield make_of(sides["rows"], sides["columns"], source)


def make_of(rows: Lines, columns: Lines, source: str) -> Puzzle:
    """The puzzle of two sides with the blank lines that they have."""
    row_clues, column_clues, warnings = without_gaps(rows, columns, lambda side: black_clues(side, source))
    return make(row_clues, column_clues, source, warnings=warnings)


def write(puzzles: Iterable[Puzzle]) -> str:
    rows, columns = written(only_black(only_one(puzzles, TITLE), TITLE), " ")
    return "\n".join(["rows", *rows, "columns", *columns]) + "\n"


FORMAT = Format(
    "faase",
    "Frans Faase's text, NonoGeek's: `rows`, clues, `columns`, clues; one black-white puzzle",
    (".faase", ".faase.txt"),
    sniff,
    parse,
    write,
    blots=True,
    first="rcRC",
)
