"""FreeNono's XML: `<Nonogram>` elements, rows of `x` (ink) and `_` in `<line>`; many black-white pictures a file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Grid, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .safexml import Events, escaped
from .text import clues_of_goal, labelled, make, number, only_black, only_picture, wrong

TITLE = "FreeNono's XML"
START = re.compile(r"<(?:FreeNono|Nonograms)\b", re.IGNORECASE)
FACTS = ("author", "desc", "difficulty", "id")
CELLS = {"x": 1, "X": 1, "_": 0}


def sniff(text: str) -> bool:
    return START.search(text[:4000]) is not None


class _Draft:
    """A `<Nonogram>` as it stands in the file."""

    def __init__(self, place: int, attributes: dict[str, str]) -> None:
        self.place, self.attributes = place, attributes
        self.lines: list[tuple[int, str]] = []


def parse(text: str, source: str) -> Parsed:
    drafts: list[_Draft] = []
    whole: list[_Draft] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "nonogram":
            drafts.append(_Draft(events.place, attributes))

    def end(name: str, text: str) -> None:
        if name == "nonogram":
            whole.append(drafts[-1])
        elif name == "line" and drafts:
            drafts[-1].lines.append((events.place, "".join(text.split())))

    events = Events(source, start, end)
    index = 0
    for problem in events.feed(text):
        for draft in whole:
            index += 1
            title = draft.attributes.get("name", "")
            name = title or labelled(source, draft.attributes.get("id", ""), index, False)
            try:
                yield _puzzle(draft, source, name, index)
            except InvalidPuzzle as error:
                yield InvalidPuzzle(str(error), name=name, index=index)
        whole.clear()
        if problem:
            raise problem
    if not index:
        raise wrong(source, 0, "a <Nonogram>", "none in the file")


def _puzzle(draft: _Draft, source: str, name: str, index: int) -> Puzzle:
    goal = _picture(draft, source)
    facts = [(key, draft.attributes[key]) for key in FACTS if draft.attributes.get(key)]
    return make(*clues_of_goal(goal), source, name=name, index=index, metadata=facts, goal=goal)


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
