"""What keen, ish and syro share: row clues, a blank line, column clues, no sizes and no colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from ..puzzle import Clue, InvalidPuzzle, Puzzle
from .text import Lines, black_clues, lengths, make, numbered

NUMBERS = re.compile(r"(?:[0-9?, \t\n]++|#[^\n]*+)*+\Z")


def two_blocks(text: str, source: str) -> list[Lines]:
    """The lines of both blocks without comments (`#` to the end of the line) and blank lines.

    A line of nothing but a comment parts blocks only where no blank line does. Errors: InvalidPuzzle.
    """
    lines = [(place, line.partition("#")[0].rstrip(), line[:1] == "#") for place, line in numbered(text)]
    found: list[Lines] = []
    for whole in ([line for line in lines if not line[2]], lines):
        groups = groupby(whole, lambda line: line[1] != "")
        found = [[(place, line) for place, line, _ in group] for full, group in groups if full]
        if len(found) == 2:
            return found
    raise InvalidPuzzle(
        f"{source}: expected two blocks of clues with one blank line between them (an empty line is `0`), "
        f"found {len(found)}"
    )


def are_two_blocks(text: str) -> bool:
    """True for a text of numbers and comments that `two_blocks` can part."""
    if not NUMBERS.match(text):
        return False
    try:
        return bool(two_blocks(text, ""))
    except InvalidPuzzle:
        return False


def puzzle_of(blocks: Sequence[Lines], source: str) -> Puzzle:
    """The puzzle of both blocks."""
    rows, columns = (black_clues(block, source) for block in blocks)
    return make(rows, columns, source)


def written(puzzle: Puzzle, gap: str, empty: str = "0") -> tuple[list[str], list[str]]:
    """Row and column clues as text."""

    def side(clues: Sequence[Clue]) -> list[str]:
        return [lengths(clue, gap, empty) for clue in clues]

    return side(puzzle.rows), side(puzzle.columns)
