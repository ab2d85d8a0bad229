"""`.lp`, Robert Bosch's text: `number_of_rows: 3`, then `row_1`, the number of its blocks, their sizes, and so on.

The words between differ from program to program (`number_of_clusters:`, `number_of_tiles:`, `size(s):`, `width(s):`)
and mean nothing. One black-white puzzle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Clue, Puzzle
from . import Format, Parsed
from .common.text import Words, black_clue, lengths, make, only_black, only_one, sizes, wrong

TITLE = "Bosch's .lp"
START = re.compile(r"\s*+number_of_(?:rows|columns)\s*+:")


def sniff(text: str) -> bool:
    return START.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    words = Words(text, source)
    wanted = {"number_of_rows:": 0, "number_of_columns:": 0}
    for _ in wanted:
        word = words.next("`number_of_rows:` and `number_of_columns:`")
        if word not in wanted:
            raise wrong(source, words.line, "`number_of_rows:` and `number_of_columns:`", word)
        wanted[word] = words.number(f"the number behind `{word}`")
    height, width = wanted.values()
    sizes(height, width, source)
    clues: dict[str, Clue] = {}
    for word in words:
        kind, _, place = word.partition("_")
        most = {"row": height, "column": width}.get(kind)
        if most is None or not place.isascii() or not place.isdigit() or len(place) > 9 or not 1 <= int(place) <= most:
            raise wrong(source, words.line, f"`row_1` to `row_{height}` or `column_1` to `column_{width}`", word)
        line = f"{kind}_{int(place)}"
        if line in clues:
            raise wrong(source, words.line, "each line once", word)
        words.next(f"`number_of_clusters:` of {line}")
        n_blocks = words.number(f"the number of blocks of {line}")
        words.next(f"`size(s):` of {line}")
        found = [words.next(f"{n_blocks} sizes of {line}") for _ in range(n_blocks)]
        clues[line] = black_clue(found, source, words.line)
    missing = [
        line for kind, n in (("row", height), ("column", width)) for line in _names(kind, n) if line not in clues
    ]
    if missing:
        raise wrong(source, 0, f"{height} rows and {width} columns", f"no {missing[0]}")
    yield make(
        [clues[line] for line in _names("row", height)], [clues[line] for line in _names("column", width)], source
    )


def _names(kind: str, n: int) -> Iterable[str]:
    return (f"{kind}_{place}" for place in range(1, n + 1))


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    lines = [f"number_of_rows: {puzzle.height}", f"number_of_columns: {puzzle.width}"]
    for kind, clues in (("row", puzzle.rows), ("column", puzzle.columns)):
        for line, clue in zip(_names(kind, len(clues)), clues, strict=True):
            lines += ["", line, f"number_of_clusters: {len(clue)}", f"size(s): {lengths(clue, empty='')}".strip()]
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "bosch",
    "Robert Bosch's .lp: `number_of_rows: 3`, `row_1`, the number of its blocks, their sizes; one black-white puzzle",
    (".bosch.lp", ".lp"),
    sniff,
    parse,
    write,
    first="n",
)
