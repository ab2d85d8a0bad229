"""pynogram's INI: `[clues]` with `rows` and `columns` on indented lines, `[colors]` with `a = (blue) *`. One puzzle.

Clues are parted by commas and line ends, `#` and `;` begin comments, blank lines are decoration: an empty line is `0`.
Numbers without a colour's name are black.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .suffixed import entries, puzzle_of, without_comment, written
from .text import Lines, letters, only_one, wrong

TITLE = "pynogram's INI"
SECTION = re.compile(r"^\[clues\]", re.MULTILINE)
SIDE = re.compile(r"^[ \t]*(?:rows|columns)\s*[=:]", re.MULTILINE)
KEY = re.compile(r"([^\s=:#;]+)\s*[=:]\s*(.*)\Z")


def sniff(text: str) -> bool:
    return (
        SECTION.search(text) is not None
        and re.search(r"^[ \t]*(?:rows|columns)\s*[=:]", text, re.MULTILINE) is not None
    )


def parse(text: str, source: str) -> Parsed:
    sides: dict[str, Lines] = {}
    colours: Lines = []
    section = ""
    side: Lines | None = None
    for place, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        head = re.match(r"\[([^\]]*)\]\s*(?:[#;].*)?\Z", line)
        if head:
            section, side = head[1].strip().lower(), None
            continue
        if section == "colors":
            colours.append((place, line))
            continue
        if section != "clues":
            continue
        key = None if side is not None and raw[:1].isspace() else KEY.match(without_comment(line))
        if key:
            name = key[1].lower()
            if name in sides:
                raise wrong(source, place, "rows and columns once each", line)
            side = sides.setdefault(name, [])
            line = key[2]
        elif side is None:
            raise wrong(source, place, "`rows =` or `columns =`", line)
        side.append((place, line))
    for name in ("rows", "columns"):
        if name not in sides:
            raise wrong(source, 0, f"`{name} =` in a section [clues]", ", ".join(sides) or "none")
    yield puzzle_of(entries(sides["rows"]), entries(sides["columns"]), _chars(colours), source)


def _chars(colours: Lines) -> Lines:
    """Colour lines without their comments: the first `#` or `;` behind the character of the colour."""
    found = []
    for place, line in colours:
        cut = re.match(r"([^=]*=\s*\([^)]*\)\s*[^\s#;]?)", line)
        found.append((place, cut[1] if cut else line))
    return found


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_one(puzzles, TITLE)
    # configparser reads keys in lower case, so colours differ in more than case
    colours, rows, columns = written(puzzle, letters(puzzle.n_colours, "abcdefghijklmnopqrstuvwxyz"))
    lines = [f"# {' '.join(puzzle.name.split())}"] if puzzle.name else []
    if colours:
        lines += ["[colors]", *colours, ""]
    lines.append("[clues]")
    for key, side in (("columns", columns), ("rows", rows)):
        lines += [f"{key} =", *(f"    {clue}" for clue in side), ""]
    return "\n".join(lines)


FORMAT = Format(
    "pynogram",
    "pynogram's INI: [clues] with rows and columns, [colors]; one puzzle",
    (".ini",),
    sniff,
    parse,
    write,
    colours=True,
    blots=True,
)
