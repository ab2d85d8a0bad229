"""Text of Games::Nonogram (Perl), webpbn's `ish`: as keen, with commas and `#` comments. One black-white puzzle."""

from __future__ import annotations

from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .common.blocks import are_blocks, begins, parse_blocks, written
from .common.text import only_black, only_one

TITLE = "Games::Nonogram's text"


def sniff(text: str) -> bool:
    return ("#" in text or "," in text) and are_blocks(text)


def parse(text: str, source: str) -> Parsed:
    yield from parse_blocks(text, source)


def write(puzzles: Iterable[Puzzle]) -> str:
    rows, columns = written(only_black(only_one(puzzles, TITLE), TITLE), ",")
    return "\n".join(["# rows", *rows, "", "# columns", *columns]) + "\n"


FORMAT = Format(
    "ish",
    "Games::Nonogram (Perl): clues with commas, `#` comments, a blank line between rows and columns; one puzzle",
    (".ish", ".ish.txt"),
    sniff,
    parse,
    write,
    blots=True,
    first="#0123456789?",
    lookalikes=("nin", "nono", "cwd"),
    begins=begins,
)
