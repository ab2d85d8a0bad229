"""What keen, ish and syro share: row clues, a blank line, column clues, no sizes and no colours.

Files that were put together with blank lines between are read one puzzle after another where sums and lengths of each
pair of blocks fit; only one puzzle is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, groupby, islice

from ...puzzle import Clue, InvalidPuzzle, Puzzle
from .. import Parsed
from .text import DIVIDER, Lines, black_clues, fits, labelled, lengths, make, numbered, shown

NUMBERS = re.compile(r"(?:[0-9?, \t\n]++|#[^\n]*+|^(?:={3,}|-{3,})[ \t]*+$)*+\Z", re.MULTILINE)
PADDED = re.compile(r"\b0[0-9]")

Pair = list[Lines]
"""The lines of the rows and those of the columns."""


def pairs_of_blocks(text: str, source: str, opened: Callable[[Lines, str], Lines] | None = None) -> list[Pair]:
    """The lines of both blocks of each puzzle without comments (`#` to the end of the line) and blank lines.

    A line of nothing but a comment parts blocks only where no blank line does. Several pairs are puzzles if rows and
    columns of each fit; opened: what makes usual clues of a block. Errors: InvalidPuzzle.
    """
    lines = [(place, line.partition("#")[0].rstrip(), line[:1] == "#") for place, line in numbered(text)]
    found: list[Lines] = []
    for whole in ([line for line in lines if not line[2]], lines):
        groups = groupby(whole, lambda line: line[1] != "" and not (line[1][0] in "=-" and DIVIDER.match(line[1])))
        found = [[(place, line) for place, line, _ in group] for full, group in groups if full]
        pairs = [found[at : at + 2] for at in range(0, len(found), 2)]
        if len(found) == 2 or (pairs and len(found) % 2 == 0 and all(_fit(pair, source, opened) for pair in pairs)):
            return pairs
    hope = "two blocks of clues with one blank line between them (an empty line is `0`)"
    if len(found) > 2:
        place = found[2][0][0]
        raise InvalidPuzzle(f"{source}:{place}: expected the end after {hope}, found {shown(found[2][0][1])}")
    raise InvalidPuzzle(f"{source}: expected {hope}, found {len(found)}")


def _fit(pair: Pair, source: str, opened: Callable[[Lines, str], Lines] | None) -> bool:
    try:
        rows, columns = (black_clues(opened(side, source) if opened else side, source) for side in pair)
    except InvalidPuzzle:
        return False
    return fits(rows, columns)


def are_blocks(text: str, opened: Callable[[Lines, str], Lines] | None = None) -> bool:
    """True for a text of numbers and comments that `pairs_of_blocks` can part and that is no picture of 0 and 1."""
    if not NUMBERS.match(text):
        return False
    try:
        pairs = pairs_of_blocks(text, "", opened)
    except InvalidPuzzle:
        return False
    if PADDED.search(text) and any(PADDED.search(line) for pair in pairs for block in pair for _, line in block):
        return False
    return not all(map(_is_picture, chain(*pairs))) or all(_fit(pair, "", opened) for pair in pairs)


def begins(text: str, opened: Callable[[Lines, str], Lines] | None = None) -> bool:
    """Whether a text begins with two blocks of clues that fit, whatever follows them."""
    lines = [(place, line.partition("#")[0].rstrip()) for place, line in numbered(text)]
    groups = (list(group) for full, group in groupby(lines, lambda line: line[1] != "") if full)
    pair = list(islice(groups, 2))
    return len(pair) == 2 and _fit(pair, "", opened)


def _is_picture(lines: Lines) -> bool:
    """Whether lines could be rows of a picture in 0 and 1."""
    return all(line.strip("01") == "" and len(line) == len(lines[0][1]) > 1 for _, line in lines)


def parse_blocks(text: str, source: str, opened: Callable[[Lines, str], Lines] | None = None) -> Parsed:
    """The puzzle of each pair of blocks."""
    pairs = pairs_of_blocks(text, source, opened)
    for index, pair in enumerate(pairs, start=1):
        sides = [opened(side, source) if opened else side for side in pair]
        yield puzzle_of(sides, source, name=labelled(source, "", index, len(pairs) == 1), index=index)


def puzzle_of(blocks: Sequence[Lines], source: str, *, name: str = "", index: int = 1) -> Puzzle:
    """The puzzle of both blocks."""
    rows, columns = (black_clues(block, source) for block in blocks)
    return make(rows, columns, source, name=name, index=index)


def written(puzzle: Puzzle, gap: str, empty: str = "0") -> tuple[list[str], list[str]]:
    """Row and column clues as text."""

    def side(clues: Sequence[Clue]) -> list[str]:
        return [lengths(clue, gap, empty) for clue in clues]

    return side(puzzle.rows), side(puzzle.columns)
