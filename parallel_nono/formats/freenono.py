"""FreeNono's XML: `<Nonogram>` elements, rows of `x` (ink) and `_` in `<line>`; many black-white pictures a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..puzzle import Grid, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.safexml import Element, Events, Unknown, escaped
from .common.text import clues_of_goal, labelled, make, number, only_black, only_picture, wrong

TITLE = "FreeNono's XML"
START = re.compile(r"<(?:FreeNono|Nonograms)\b", re.IGNORECASE)
ROOTS = ("freenono", "nonograms", "nonogram")
GRAMMAR = {
    "freenono": Element(frozenset(("nonograms", "nonogram"))),
    "nonograms": Element(frozenset(("nonogram",))),
    "nonogram": Element(frozenset(("line",)), None, strict=True),
    "line": Element(text=True, strict=True),
}
CELLS = {"x": 1, "X": 1, "_": 0}


def sniff(text: str) -> bool:
    return START.search(text[:4000]) is not None


class _Draft:
    """A `<Nonogram>` as it stands in the file, or what is wrong with it."""

    def __init__(self, place: int, attributes: dict[str, str], problem: InvalidPuzzle | None = None) -> None:
        self.place, self.attributes, self.problem = place, attributes, problem
        self.lines: list[tuple[int, str]] = []


class _Reader:
    """Collects drafts from the events of the XML parser."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.whole: list[_Draft] = []
        self.draft: _Draft | None = None
        self.warnings: list[str] = []
        self.events = Events(source, self.start, self.end, GRAMMAR, self.unknown)
        self.is_open = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.is_open and name not in ROOTS:
            raise wrong(self.source, self.events.place, "<FreeNono>, <Nonograms> or <Nonogram>", f"<{name}>")
        self.is_open = True
        if name == "nonogram":
            self.draft = _Draft(self.events.place, attributes)

    def end(self, name: str, text: str) -> None:
        if name == "nonogram" and self.draft:
            self.whole.append(self.draft)
            self.draft = None
        elif name == "line" and self.draft:
            self.draft.lines.append((self.events.place, "".join(text.split())))

    def unknown(self, found: Unknown) -> None:
        """An error in a picture, and where a whole one may be meant; else a warning."""
        if self.draft is not None:
            self.draft.problem = self.draft.problem or found.problem(self.source, GRAMMAR)
        elif found.has_children:
            self.whole.append(_Draft(found.line, {}, found.problem(self.source, GRAMMAR)))
        else:
            self.warnings.append(found.warning())


def parse(text: str, source: str) -> Parsed:
    reader = _Reader(source)
    index = 0
    for problem in reader.events.feed(text):
        for draft in reader.whole:
            index += 1
            title = draft.attributes.get("name", "")
            name = title or labelled(source, draft.attributes.get("id", ""), index, False)
            try:
                yield _puzzle(draft, source, name, index, reader.warnings)
            except InvalidPuzzle as error:
                yield InvalidPuzzle(str(error), name=name, index=index)
        reader.whole.clear()
        if problem:
            raise problem
    if not index:
        raise wrong(source, 0, "a <Nonogram>", "none in the file")


def _puzzle(draft: _Draft, source: str, name: str, index: int, warnings: Sequence[str]) -> Puzzle:
    if draft.problem:
        raise draft.problem
    goal = _picture(draft, source)
    own = ("name", "height", "width")
    facts = [(key, value) for key, value in draft.attributes.items() if value and key not in own]
    return make(*clues_of_goal(goal), source, name=name, index=index, metadata=facts, goal=goal, warnings=warnings)


def _picture(draft: _Draft, source: str) -> Grid:
    if not draft.lines:
        raise wrong(source, draft.place, "rows in <line> elements", "none")
    width = len(draft.lines[0][1])
    for place, line in draft.lines:
        unknown = next((cell for cell in line if cell not in CELLS), None)
        if unknown:
            raise wrong(source, place, "cells `x` and `_`", unknown)
        if len(line) != width:
            raise wrong(source, place, f"rows of one length, {width} cells", f"{len(line)} cells")
    for key, size in (("height", len(draft.lines)), ("width", width)):
        said = draft.attributes.get(key)
        if said is not None and number(said.strip(), source, draft.place, f"a {key}") != size:
            raise wrong(source, draft.place, f"a picture of the {key} {said}", f"{size}")
    return tuple(tuple(CELLS[cell] for cell in line) for _, line in draft.lines)


def write(puzzles: Iterable[Puzzle]) -> str:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<FreeNono>", "<Nonograms>"]
    for index, puzzle in enumerate(puzzles, start=1):
        goal = only_picture(only_black(puzzle, TITLE), TITLE)
        facts = dict(puzzle.metadata)
        values = {
            "author": facts.get("author", facts.get("by", "")),
            "desc": facts.get("desc", ""),
            "difficulty": facts.get("difficulty", "0"),
            "height": str(puzzle.height),
            "id": facts.get("id", str(index)),
            "name": puzzle.name,
            "width": str(puzzle.width),
        }
        lines.append("<Nonogram {}>".format(" ".join(f'{key}="{escaped(value)}"' for key, value in values.items())))
        lines += [f"<line> {' '.join('_x'[cell] for cell in row)} </line>" for row in goal]
        lines.append("</Nonogram>")
    return "\n".join([*lines, "</Nonograms>", "</FreeNono>"]) + "\n"


FORMAT = Format(
    "freenono",
    "FreeNono's XML: pictures with rows of `x` and `_`; many black-white puzzles",
    (".nonogram", ".freenono.xml"),
    sniff,
    parse,
    write,
    several=True,
    picture=True,
    first="<",
)
