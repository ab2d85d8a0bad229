"""Andrew Makhorin's text (GLPK), also a webpbn export: row clues, `&`, column clues, `&`. One black-white puzzle.

Lines with `*` first are comments; an empty line is `0`; no sizes are given. A blank line is decoration unless rows and
columns only agree with an empty line there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .common.blocks import written
from .common.text import Lines, numbered, only_black, only_one, wrong
from .faase import make_of

TITLE = "Makhorin's text"
START = re.compile(r"(?:\s++|[0-9?]++|\*[^\n]*+\n)*+&[ \t]*+(?:\n|\Z)")


def sniff(text: str) -> bool:
    return START.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    sides: list[Lines] = [[]]
    for place, line in numbered(text):
        if line == "&":
            sides.append([])
        elif line and not line.startswith("*"):
            if len(sides) > 2:
                raise wrong(source, place, "the end after the second `&`", line)
            sides[-1].append((place, line))
        elif not line:
            sides[-1].append((place, ""))
    if len(sides) < 2:
        raise wrong(source, 0, "a line `&` between rows and columns", "none")
    while len(sides) == 2 and sides[1] and not sides[1][-1][1]:
        sides[1].pop()  # the end of the file
    yield make_of(sides[0], sides[1], source)


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
