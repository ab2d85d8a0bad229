"""JCROSS, a task of the contest site SPOJ: the number of puzzles, then for each `H W`, row clues and column clues.

A `0` ends every clue, so an empty line is a lone `0`. Only the numbers count, not where lines end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Block, Clue, Puzzle
from . import Format, Parsed
from .common.text import MAX_LINE, Words, labelled, lengths, make, only_black, sizes, wrong

TITLE = "JCROSS"
START = re.compile(r"\s*\d{1,7}[ \t]*\n\s*\d{1,6}[ \t]+\d{1,6}[ \t]*\n((?:[ \t\d]+(?:\n|$)){1,3})")


def sniff(text: str) -> bool:
    """One number, two numbers, then lines that end with 0."""
    found = START.match(text)
    return found is not None and all(line.split()[-1:] == ["0"] for line in found[1].splitlines())


def parse(text: str, source: str) -> Parsed:
    words = Words(text, source)
    n_puzzles = words.number("the number of puzzles")
    for index in range(1, n_puzzles + 1):
        height, width = words.number(f"the height of puzzle {index} of {n_puzzles}"), words.number("the width")
        sizes(height, width, source, words.line)
        rows = [_clue(words, f"row {row} of puzzle {index}") for row in range(1, height + 1)]
        columns = [_clue(words, f"column {column} of puzzle {index}") for column in range(1, width + 1)]
        yield make(rows, columns, source, name=labelled(source, "", index, n_puzzles == 1), index=index)
    rest = next(words.words, None)
    if rest is not None:
        words.at = rest.start()
        raise wrong(source, words.line, f"the end after {n_puzzles} puzzles", rest[0])


def _clue(words: Words, what: str) -> Clue:
    blocks: list[Block] = []
    hope = f"the clue of {what}, ended by 0"
    while length := _number(words, hope):
        if length > MAX_LINE:
            raise wrong(words.source, words.line, f"block lengths up to {MAX_LINE:,}", length)
        blocks.append(Block(length))
    return tuple(blocks)


def _number(words: Words, hope: str) -> int:
    """A number without a zero before it: `01` is the last of one file and the first of another."""
    word = words.next(hope)
    if not (word.isascii() and word.isdigit()) or len(word) > 9 or (word[0] == "0" and len(word) > 1):
        raise wrong(words.source, words.line, hope, word)
    return int(word)


def write(puzzles: Iterable[Puzzle]) -> str:
    found = [only_black(puzzle, TITLE) for puzzle in puzzles]
    lines = [str(len(found))]
    for puzzle in found:
        lines.append(f"{puzzle.height} {puzzle.width}")
        lines += [f"{lengths(clue, empty='')} 0".strip() for clue in (*puzzle.rows, *puzzle.columns)]
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "jcross",
    "SPOJ's JCROSS: the number of puzzles, then for each `H W` and clues that end with 0; black-white",
    (".jcross", ".jcross.txt"),
    sniff,
    parse,
    write,
    several=True,
    first="0123456789",
)
