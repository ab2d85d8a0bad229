"""picross-solver's own text: `GRID name`, `ROWS`, `[ 2 1 ]` a line, `COLUMNS`, `[ 1 ]` a line; many puzzles a file.

An empty line is `[ ]` or `[ 0 ]`; `#` begins a comment. A line that means nothing is taken for a misspelt `GRID`: it
opens a broken puzzle, up to the next `GRID`, and the puzzle before it may be whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Clue, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.blocks import written
from .common.text import black_clue, labelled, make, numbered, only_black, stem, wrong

TITLE = "picross-solver's text"
START = re.compile(r"(?:\s++|#[^\n]*+\n)*+GRID(?:[ \t][^\n]*+)?\n(?:\s++|#[^\n]*+\n)*+(?:ROWS|COLUMNS|GRID|\Z)")
SIDES = ("ROWS", "COLUMNS")


def sniff(text: str) -> bool:
    return START.match(text) is not None


class _Draft:
    """A puzzle as it stands in the file, or what is wrong with it."""

    def __init__(self, name: str, place: int) -> None:
        self.name, self.place = name, place
        self.sides: dict[str, list[Clue]] = {}
        self.side: list[Clue] | None = None
        self.problem: InvalidPuzzle | None = None
        self.has_more = False  # sections or clues behind the problem

    def take(self, line: str, place: int, source: str) -> None:
        """A section or a clue. Errors: InvalidPuzzle."""
        if line in SIDES and line not in self.sides:
            self.side = self.sides[line] = []
        elif line not in SIDES and self.side is not None and line.endswith("]"):
            self.side.append(black_clue(line[1:-1].split(), source, place))
        else:
            raise wrong(source, place, "ROWS and COLUMNS once each, clues such as `[ 2 1 ]`", line)


def parse(text: str, source: str) -> Parsed:
    drafts: list[_Draft] = []
    for place, line in numbered(text):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        word, name = ([*line.split(None, 1), ""])[:2]
        if word == "GRID":
            drafts.append(_Draft(name, place))
        elif drafts and (line in SIDES or line.startswith("[")):
            try:
                if drafts[-1].problem:
                    drafts[-1].has_more = True
                else:
                    drafts[-1].take(line, place, source)
            except InvalidPuzzle as problem:
                drafts[-1].problem = problem
        elif not drafts or not drafts[-1].problem or drafts[-1].has_more:
            drafts.append(_Draft("", place))
            drafts[-1].problem = wrong(
                source, place, "`GRID name`, `ROWS`, `COLUMNS` or a clue such as `[ 2 1 ]`", line
            )
    if not drafts:
        raise wrong(source, 0, "a puzzle that begins with `GRID name`", "none")
    for index, draft in enumerate(drafts, start=1):
        name = draft.name or labelled(source, "", index, len(drafts) == 1)
        try:
            if draft.problem:
                raise draft.problem
            for side in SIDES:
                if not draft.sides.get(side):
                    raise wrong(source, draft.place, f"a section {side} with clues", "none")
            yield make(draft.sides["ROWS"], draft.sides["COLUMNS"], source, name=name, index=index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def write(puzzles: Iterable[Puzzle]) -> str:
    texts = []
    for puzzle in puzzles:
        rows, columns = written(only_black(puzzle, TITLE), " ", "")
        name = " ".join((puzzle.name or stem(puzzle.source)).replace("#", " ").split())
        sides = ("\n".join(f"[ {clue} ]" if clue else "[ ]" for clue in side) for side in (rows, columns))
        texts.append("GRID {}\nROWS\n{}\nCOLUMNS\n{}\n".format(name, *sides))
    return "\n".join(texts)


FORMAT = Format(
    "picross",
    "picross-solver's own text: `GRID name`, `ROWS`, `[ 2 1 ]`, `COLUMNS`; many black-white puzzles",
    (".picross", ".picross.txt"),
    sniff,
    parse,
    write,
    several=True,
    blots=True,
    first="G#",
    cut="GRID",
)
