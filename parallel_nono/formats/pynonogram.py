"""pyNonogram's `.non`: `key:value` lines, `rows:2,1 0 1` with blanks between clues. One black-white puzzle.

The program knows some keys only, so that other facts are written behind a `#`. Lines with `#` first are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .text import black_clue, goal_of_cells, lengths, make, number, numbered, only_black, only_one, sizes, stem, wrong

TITLE = "pyNonogram's .non"
KEYS = ("width", "height", "rows", "columns")
OWN = (*KEYS, "solution", "title")
FACTS = ("title", "author", "date", "picture", "difficulty")
START = re.compile(r"^(width|height|rows|columns):", re.MULTILINE)
KEY = re.compile(r"[a-z][a-z_-]*\Z")


def sniff(text: str) -> bool:
    return len(set(START.findall(text))) >= 2


def parse(text: str, source: str) -> Parsed:
    values: dict[str, tuple[int, str]] = {}
    for place, line in numbered(text):
        key, colon, value = line.partition(":")
        if colon and not line.startswith("#"):
            if key.strip().lower() in values:
                raise wrong(source, place, "each key once", line)
            values[key.strip().lower()] = (place, value.strip())
        elif line and not line.startswith("#"):
            raise wrong(source, place, "lines such as `rows:2,1 0 1`", line)
    missing = [key for key in KEYS if key not in values]
    if missing:
        raise wrong(source, 0, "`width:`, `height:`, `rows:` and `columns:`", f"no {missing[0]}")
    width, height = (number(values[key][1], source, values[key][0], f"a {key}") for key in ("width", "height"))
    sizes(height, width, source, values["width"][0])
    sides = []
    for key, wanted in (("rows", height), ("columns", width)):
        place, value = values[key]
        words = value.split()
        if len(words) != wanted:
            raise wrong(source, place, f"{wanted} clues", f"{len(words)}")
        sides.append([black_clue(word.split(","), source, place) for word in words])
    goal = None
    if values.get("solution", (0, ""))[1]:
        goal = goal_of_cells(values["solution"][1], {"0": 0, "1": 1}, height, width, source, values["solution"][0])
    facts = [(key, value) for key, (_, value) in values.items() if key not in (*KEYS, "solution")]
    name = dict(facts).get("title") or stem(source)
    yield make(sides[0], sides[1], source, name=name, metadata=facts, goal=goal)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    facts = [("title", puzzle.name)] if puzzle.name else []
    facts += [(key, value) for key, value in puzzle.metadata if KEY.match(key) and key not in OWN]
    lines = [f"{'' if key in FACTS else '# '}{key}:{' '.join(value.split())}" for key, value in facts]
    lines += [f"width:{puzzle.width}", f"height:{puzzle.height}"]
    for key, clues in (("rows", puzzle.rows), ("columns", puzzle.columns)):
        lines.append(f"{key}:{' '.join(lengths(clue, ',') for clue in clues)}")
    if puzzle.goal is not None:
        lines.append("solution:" + "".join("01"[cell] for row in puzzle.goal for cell in row))
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "pynonogram",
    "pyNonogram's key:value lines: `width:4`, `rows:2,1 0 1`, goals and facts; one black-white puzzle",
    (".pynonogram.non",),
    sniff,
    parse,
    write,
    blots=True,
)
