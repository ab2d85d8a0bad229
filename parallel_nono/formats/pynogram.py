"""pynogram's INI: `[clues]` with `rows` and `columns` on indented lines, `[colors]` with `a = (blue) *`. One puzzle.

Clues are parted by commas and line ends, `#` and `;` begin comments; an empty line is `0`. A blank line is decoration
unless rows and columns only agree with an empty line there. Numbers without a colour's name are black.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Puzzle
from . import Format, Parsed
from .common.suffixed import entries, puzzle_of, without_comment, written
from .common.text import Lines, letters, only_one, says_empty, shown, wrong

TITLE = "pynogram's INI"
SECTION = re.compile(r"^\[clues\]", re.MULTILINE)
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
    told: list[str] = []
    for place, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line[0] in "#;":
            if not line and side is not None:
                side.append((place, ""))
            continue
        head = re.match(r"\[([^\]]*)\]\s*(?:[#;].*)?\Z", line)
        if head and not says_empty(line.split()):
            section, side = head[1].strip().lower(), None
            if section not in ("clues", "colors"):
                told.append(f"line {place}: a section {shown(line)} is not known: left aside")
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
            if name not in ("rows", "columns"):
                told.append(f"line {place}: {shown(name)} is not known: left aside")
            line = key[2]
            if not line:
                continue
        elif side is None:
            raise wrong(source, place, "`rows =` or `columns =`", line)
        side.append((place, line))
    for name in ("rows", "columns"):
        if name not in sides:
            raise wrong(source, 0, f"`{name} =` in a section [clues]", ", ".join(sides) or "none")
    rows, columns = (entries(_without_end(sides[name])) for name in ("rows", "columns"))
    yield puzzle_of(rows, columns, _chars(colours), source, told)


def _without_end(side: Lines) -> Lines:
    """The lines up to the last one that is not blank: what follows parts it from the next key."""
    full = [at for at, (_, line) in enumerate(side) if line]
    return side[: full[-1] + 1] if full else []


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
