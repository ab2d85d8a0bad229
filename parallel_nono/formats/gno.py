"""`.gno`, Gnonograms: sections `[Dimensions]`, `[Row clues]`, `[Column clues]`, `[Solution]`. One black-white puzzle.

Clues have commas, an empty line is `0`; in the solution 1 is empty and 2 filled. Clues or solution may be missing, not
both. `[Description]` and `[License]` are facts; a section that is not known is left aside with a warning. A `?` among
the clues comes of a broken generator: it is read as a blot, and said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Grid, Puzzle
from . import Format, Parsed
from .common.text import (
    Lines,
    black_clues,
    clue_lines,
    clues_of_goal,
    lengths,
    make,
    number,
    numbered,
    only_black,
    only_one,
    says_empty,
    sizes,
    stem,
    wrong,
)

TITLE = "Gnonograms' .gno"
START = re.compile(r"^\[Dimensions\]", re.MULTILINE | re.IGNORECASE)
HEAD = re.compile(r"\[([^\]\n]*+)\]\Z")
FACTS = ("title", "author", "date", "score")
KNOWN = ("description", "license", "dimensions", "row clues", "column clues", "solution")
GAME = ("state",)
"""Where newer versions keep what a player has done."""

CELLS = {"1": 0, "2": 1}


def sniff(text: str) -> bool:
    return START.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    sections: dict[str, Lines] = {}
    places: dict[str, int] = {}
    section: Lines | None = None
    for place, line in numbered(text):
        head = HEAD.match(line)
        if head and not says_empty(line.split()):
            title = head[1].strip().lower()
            if title in sections:
                raise wrong(source, place, "each section once, as a file holds one puzzle", line)
            places[title] = place
            section = sections[title] = []
        elif section is not None:
            section.append((place, line))
        elif line and not line.startswith("#"):
            raise wrong(source, place, "a section such as `[Dimensions]`", line)
    full = [line for line in sections.get("dimensions", []) if line[1]]
    if len(full) != 2:
        raise wrong(source, 0, "a section [Dimensions] with the rows, then the columns", f"{len(full)} lines")
    height, width = (number(line, source, place, "the number of rows, then of columns") for place, line in full)
    sizes(height, width, source, full[0][0])
    goal = _goal(sections.get("solution", []), height, width, source)
    sides = []
    for at, (kind, wanted) in enumerate((("row", height), ("column", width))):
        lines = sections.get(f"{kind} clues", [])
        if any(line for _, line in lines):
            sides.append(black_clues(clue_lines(lines, wanted, source, kind), source))
        elif goal is not None:
            sides.append(list(clues_of_goal(goal)[at]))
        else:
            raise wrong(source, 0, f"a section [{kind.title()} clues] or a [Solution]", "neither")
    facts = dict(zip(FACTS, (line for _, line in sections.get("description", [])), strict=False))
    facts["license"] = next((line for _, line in sections.get("license", []) if line), "")
    facts = {key: value for key, value in facts.items() if value}
    blots = any(block.is_blot for side in sides for clue in side for block in clue)
    warnings = ["`?` among the clues is read as a block of unknown length"] if blots else []
    warnings += [
        f"line {place}: a section [{section}] is not known: left aside"
        for section, place in places.items()
        if section not in (*KNOWN, *GAME)
    ]
    name = facts.get("title", "")
    yield make(sides[0], sides[1], source, name=name, metadata=tuple(facts.items()), goal=goal, warnings=warnings)


def _goal(lines: Lines, height: int, width: int, source: str) -> Grid | None:
    full = [(place, line.split()) for place, line in lines if line]
    if not full:
        return None
    for place, words in full:
        if len(words) != width or not CELLS.keys() >= set(words):
            raise wrong(source, place, f"{width} cells, 1 empty and 2 filled", " ".join(words))
    if len(full) != height:
        raise wrong(source, full[0][0], f"{height} rows in [Solution]", f"{len(full)}")
    return tuple(tuple(CELLS[word] for word in words) for _, words in full)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    facts = dict(puzzle.metadata) | {"title": puzzle.name or stem(puzzle.source)}
    facts.setdefault("author", facts.get("by", ""))
    lines = ["[Description]", *(_plain(facts.get(key, "")) for key in FACTS)]
    lines += ["[License]", _plain(facts.get("license", ""))]
    lines += ["[Dimensions]", str(puzzle.height), str(puzzle.width)]
    for kind, clues in (("Row", puzzle.rows), ("Column", puzzle.columns)):
        lines += [f"[{kind} clues]", *(lengths(clue, ",") for clue in clues)]
    if puzzle.goal is not None:
        lines += ["[Solution]", *(" ".join("12"[cell] for cell in row) for row in puzzle.goal)]
    return "\n".join(lines) + "\n"


def _plain(value: str) -> str:
    """A fact on one line that is no head of a section."""
    value = " ".join(value.split())
    return value.strip("[]") if HEAD.match(value) else value


FORMAT = Format(
    "gno",
    "Gnonograms: sections [Dimensions], [Row clues], [Column clues], [Solution]; facts; one black-white puzzle",
    (".gno",),
    sniff,
    parse,
    write,
    blots=True,
    first="[",
)
