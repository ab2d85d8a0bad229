"""Rosetta Code's letters: a line of row clues, a line of column clues, `A` for 1 to `Z` for 26; many puzzles a file.

`AAA ACA F` is 1 1 1, 1 3 1, 6. Puzzles are parted by blank lines. An empty line of cells can't be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from ..puzzle import Block, Clue, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.text import labelled, make, numbered, only_black, shown, wrong

TITLE = "Rosetta Code's letters"
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PAIRS = re.compile(r"\s*+(?:[A-Z][A-Z ]*+\n[A-Z][A-Z ]*+(?:\n[ \t]*+)++)++\Z")


def sniff(text: str) -> bool:
    if not PAIRS.match(text[: 1 << 16].rstrip("\n") + "\n"):
        return False
    rows, columns = text.strip().split("\n")[:2]
    return _sum(rows) == _sum(columns)


def _sum(line: str) -> int:
    return sum(ALPHABET.index(char) + 1 for char in line if char != " ")


def parse(text: str, source: str) -> Parsed:
    pairs = [list(group) for full, group in groupby(numbered(text), lambda line: line[1] != "") if full]
    if not pairs:
        raise wrong(source, 0, "two lines of letters", "an empty file")
    for index, lines in enumerate(pairs, start=1):
        name = labelled(source, "", index, len(pairs) == 1)
        try:
            if len(lines) != 2:
                hope = "a line of row clues and a line of column clues, then a blank line"
                raise wrong(source, lines[min(len(lines) - 1, 2)][0], hope, f"{len(lines)} lines")
            rows, columns = ([_clue(word, source, place) for word in line.split()] for place, line in lines)
            yield make(rows, columns, source, name=name, index=index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _clue(word: str, source: str, place: int) -> Clue:
    if word.strip(ALPHABET):
        raise wrong(source, place, "letters from A (1) to Z (26)", word)
    return tuple(Block(ALPHABET.index(char) + 1) for char in word)


def write(puzzles: Iterable[Puzzle]) -> str:
    texts = []
    for puzzle in puzzles:
        only_black(puzzle, TITLE)
        clues = (*puzzle.rows, *puzzle.columns)
        if not all(clues):
            raise InvalidPuzzle(f"{TITLE} carry no empty lines, found one in {shown(puzzle.name)}")
        longest = max(block.length for clue in clues for block in clue)
        if longest > len(ALPHABET):
            raise InvalidPuzzle(f"{TITLE} carry lengths up to 26, found {longest} in {shown(puzzle.name)}")
        texts.append(
            "".join(
                " ".join("".join(ALPHABET[block.length - 1] for block in clue) for clue in side) + "\n"
                for side in (puzzle.rows, puzzle.columns)
            )
        )
    return "\n".join(texts)


FORMAT = Format(
    "rosetta",
    "Rosetta Code's letters: a line of row clues, one of column clues, A is 1; many black-white puzzles",
    (".letters", ".letters.txt"),
    sniff,
    parse,
    write,
    several=True,
    first="ABCDEFGHIJKLMNOPQRSTUVWXYZ",
)
