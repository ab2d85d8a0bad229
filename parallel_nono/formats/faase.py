"""Frans Faase's text, webpbn's export of that name: `rows`, clues, `columns`, clues. One black-white puzzle.

NonoGeek's `ROWS:` and `COLUMNS:` are read too, and an `end`. An empty line is `0`; no sizes are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .blocks import puzzle_of, written
from .text import Lines, numbered, only_black, only_one, wrong

TITLE = "Frans Faase's text"
START = re.compile(r"\s*+(?:rows|columns)[ \t]*+:?[ \t]*+\n[0-9?, \t\n]*+(?:rows|columns)\b", re.IGNORECASE)
WORDS = {"rows": "rows", "rows:": "rows", "columns": "columns", "columns:": "columns", "end": "end", "end.": "end"}


def sniff(text: str) -> bool:
    return START.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    sides: dict[str, Lines] = {}
    side: Lines | None = None
    blanks = []
    for place, line in numbered(text):
        word = WORDS.get(line.lower())
        if word == "end":
            break
        if word:
            if word in sides:
                raise wrong(source, place, "rows and columns once each", line)
            side = sides[word] = []
        elif line:
            if side is None:
                raise wrong(source, place, "`rows` or `columns`", line)
            side.append((place, line))
        else:
            blanks.append(place)
    for word in ("rows", "columns"):
        if word not in sides:
            raise wrong(source, 0, f"a line `{word}`", "none")
    yield puzzle_of([sides["rows"], sides["columns"]], source, blanks)


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
