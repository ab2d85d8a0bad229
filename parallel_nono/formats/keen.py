"""Kyle Keen's text, also webpbn's export of that name: row clues, one blank line, column clues. One black-white puzzle.

An empty line is `0`; no sizes are given.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .common.blocks import are_blocks, begins, parse_blocks, written
from .common.text import only_black, only_one

TITLE = "Kyle Keen's text"


def sniff(text: str) -> bool:
    return "#" not in text and "," not in text and are_blocks(text)


def parse(text: str, source: str) -> Parsed:
    yield from parse_blocks(text, source)


def write(puzzles: Iterable[Puzzle]) -> str:
    rows, columns = written(only_black(only_one(puzzles, TITLE), TITLE), " ")
    return "\n".join([*rows, "", *columns]) + "\n"


FORMAT = Format(
    "keen",
    "Kyle Keen's text: row clues, one blank line, column clues; one black-white puzzle",
    (".keen", ".keen.txt"),
    sniff,
    parse,
    write,
    blots=True,
    first="0123456789?",
    lookalikes=("nin", "nono", "cwd"),
    begins=begins,
)
