"""pyNonogram's `.non`: `key:value` lines, `rows:2,1 0 1` with blanks between clues. Black-white puzzles.

The program knows some keys only, so that other facts are written behind a `#`. Lines with `#` first are passed over.
After all four keys have been given, one of them a second time begins another puzzle, and what stands between belongs to
it; only one puzzle is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.text import (
    black_clue,
    goal_of_cells,
    labelled,
    lengths,
    make,
    number,
    numbered,
    only_black,
    only_one,
    sizes,
    wrong,
)

TITLE = "pyNonogram's .non"
KEYS = ("width", "height", "rows", "columns")
OWN = (*KEYS, "solution", "title")
FACTS = ("title", "author", "date", "picture", "difficulty")
START = re.compile(r"^(width|height|rows|columns):", re.MULTILINE)
KEY = re.compile(r"[a-z][a-z_-]*\Z")


Values = dict[str, tuple[int, str]]
"""(line, text) by key."""


def sniff(text: str) -> bool:
    return len(set(START.findall(text))) >= 2


def parse(text: str, source: str) -> Parsed:
    groups = _groups(text, source)
    for index, values in enumerate(groups, start=1):
        name = labelled(source, "", index, len(groups) == 1)
        try:
            yield _puzzle(values, source, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _groups(text: str, source: str) -> list[Values]:
    """What the file says of each puzzle. Errors: InvalidPuzzle for a key twice before the puzzle is whole."""
    groups: list[Values] = [{}]
    waiting: Values = {}  # facts behind a whole puzzle
    for place, line in numbered(text):
        key, colon, value = line.partition(":")
        key = key.strip().lower()
        if not line or line.startswith("#"):
            continue
        if not colon:
            raise wrong(source, place, "lines such as `rows:2,1 0 1`", line)
        whole = all(needed in groups[-1] for needed in KEYS)
        if key in groups[-1] and key in KEYS and not whole:
            raise wrong(source, place, "each key once", line)
        if whole and key in KEYS:
            groups.append(waiting)
            waiting = {}
        (waiting if whole and key not in (*KEYS, "solution") else groups[-1])[key] = (place, value.strip())
    groups[-1] = waiting | groups[-1]
    return groups


def _puzzle(values: Values, source: str, title: str, index: int) -> Puzzle:
    missing = [key for key in KEYS if key not in values]
    if missing:
        place = min(place for place, _ in values.values()) if index > 1 else 0
        raise wrong(source, place, "`width:`, `height:`, `rows:` and `columns:`", f"no {missing[0]}")
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
    name = dict(facts).get("title") or title
    return make(sides[0], sides[1], source, name=name, index=index, metadata=facts, goal=goal)


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
