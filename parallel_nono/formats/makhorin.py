"""Andrew Makhorin's text (GLPK), also a webpbn export: row clues, `&`, column clues, `&`. One black-white puzzle.

Lines with `*` first are comments; an empty line is `0`; no sizes are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .blocks import puzzle_of, written
from .text import Lines, numbered, only_black, only_one, wrong

TITLE = "Makhorin's text"
START = re.compile(r"(?:\s++|[0-9?]++|\*[^\n]*+\n)*+&[ \t]*+(?:\n|\Z)")


def sniff(text: str) -> bool:
    return START.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    sides: list[Lines] = [[]]
    blanks = []
    for place, line in numbered(text):
        if line == "&":
            sides.append([])
        elif line and not line.startswith("*"):
            if len(sides) > 2:
                raise wrong(source, place, "the end after the second `&`", line)
            sides[-1].append((place, line))
        elif not line:
            blanks.append(place)
    if len(sides) < 2:
        raise wrong(source, 0, "a line `&` between rows and columns", "none")
    yield puzzle_of(sides[:2], source, blanks)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    rows, columns = written(puzzle, " ")
    name = " ".join(puzzle.name.split())
    return "\n".join([f"* {name}".strip(), *rows, "&", *columns, "&"]) + "\n"


FORMAT = Format(
    "makhorin",
    "Makhorin's text (GLPK): row clues, `&`, column clues, `&`; `*` comments; one black-white puzzle",
    (".makhorin", ".makhorin.txt"),
    sniff,
    parse,
    write,
    blots=True,
    first="*0123456789?&",
)
