"""webpbn's export `syro`: as ish, but each clue ends with `0`; a lone `0` is an empty line. One black-white puzzle."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ..puzzle import Puzzle
from . import Format, Parsed
from .common.blocks import are_blocks, begins, pairs_of_blocks, parse_blocks, written
from .common.text import Lines, only_black, only_one, wrong

TITLE = "syro's text"


def sniff(text: str) -> bool:
    if not are_blocks(text, _open):
        return False
    lines = [line for pair in pairs_of_blocks(text, "", _open) for block in pair for _, line in block]
    return all(_closed(line) for line in lines) and any(line != "0" for line in lines)


def _closed(line: str) -> bool:
    return line.replace(",", " ").split()[-1:] == ["0"]


def parse(text: str, source: str) -> Parsed:
    yield from parse_blocks(text, source, _open)


def _open(lines: Lines, source: str) -> Lines:
    """Clues without their last `0`."""
    for place, line in lines:
        if not _closed(line):
            raise wrong(source, place, "a clue that ends with `0`", line)
    return [(place, line[:-1]) for place, line in lines]


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    rows, columns = ([f"{clue} 0".strip() for clue in side] for side in written(puzzle, " ", ""))
    return "\n".join(["# rows", *rows, "", "# columns", *columns]) + "\n"


FORMAT = Format(
    "syro",
    "webpbn's export syro: clues that end with `0`, a blank line between rows and columns; one black-white puzzle",
    (".syro", ".syro.txt"),
    sniff,
    parse,
    write,
    first="#0123456789?",
    lookalikes=("nin", "nono", "cwd"),
    begins=partial(begins, opened=_open),
)
