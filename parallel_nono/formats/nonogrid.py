"""nonogrid's TOML: `[clues]` with `rows` and `columns` as long strings, `[colors]` with a list `defs`. One puzzle.

Clues are parted by commas and line ends; an empty line is `0`. A blank line is decoration unless rows and columns only
agree with an empty line there. Numbers without a colour's name are black.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.suffixed import entries, puzzle_of, written
from .common.text import Lines, letters, only_one, shown, wrong

TITLE = "nonogrid's TOML"
SECTION = re.compile(r"^[ \t]*\[clues\]", re.MULTILINE)
QUOTES = re.compile(r"^[ \t]*(?:(?:rows|columns)\s*=\s*(?:\"|'{3}|\[)|defs\s*=)", re.MULTILINE)


def sniff(text: str) -> bool:
    return SECTION.search(text) is not None and QUOTES.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    import tomllib

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidPuzzle(f"{source}: expected TOML, found a mistake: {error}") from None
    except RecursionError:
        raise InvalidPuzzle(f"{source}: expected TOML, found brackets within brackets without end") from None
    except ValueError as error:  # dates and numbers beyond what Python takes
        raise InvalidPuzzle(f"{source}: expected TOML, found a mistake: {error}") from None
    clues, colours = data.get("clues"), data.get("colors", {})
    if not isinstance(clues, dict) or not isinstance(colours, dict):
        raise wrong(source, 0, "sections [clues] and [colors]", ", ".join(data) or "none")
    told = [
        f"{shown(name)} is not known: left aside"
        for keys, known in ((data, ("clues", "colors")), (clues, ("rows", "columns")), (colours, ("defs",)))
        for name in keys
        if name not in known
    ]
    defs = colours.get("defs", [])
    if not isinstance(defs, list) or not all(isinstance(line, str) for line in defs):
        raise wrong(source, 0, "`defs` as a list of strings such as 'a = (blue) *'", defs)
    yield puzzle_of(
        _side(text, clues, "rows", source),
        _side(text, clues, "columns", source),
        [(0, line) for line in defs],
        source,
        told,
    )


def _side(text: str, clues: dict[str, object], key: str, source: str) -> Lines:
    """The clues of one side: a long string, or a list with one item for each line."""
    value = clues.get(key)
    if isinstance(value, list):
        items = (" ".join(map(str, line)) if isinstance(line, list) else str(line).strip() for line in value)
        return [(0, item or "0") for item in items]
    if not isinstance(value, str):
        raise InvalidPuzzle(f"{source}: expected `{key}` in [clues] as a string, found {shown(value)}")
    first = _first_line(text, key)
    lines = [(first + at if first else 0, line) for at, line in enumerate(value.split("\n"))]
    if lines and not lines[-1][1].strip():
        lines.pop()  # what stands before the quotes that end the string
    return entries(lines)


def _first_line(text: str, key: str) -> int:
    """The number of the line where a long string begins, 0 where it is none."""
    found = re.search(rf"^[ \t]*{key}[ \t]*=[ \t]*(?:\"{{3}}|'{{3}})(\n?)", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 + len(found[1]) if found else 0


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_one(puzzles, TITLE)
    colours, rows, columns = written(puzzle, letters(puzzle.n_colours))
    lines = [f"# {' '.join(puzzle.name.split())}"] if puzzle.name else []
    if colours:
        lines += ["[colors]", "defs = [", *(f"    '{colour}'," for colour in colours), "]", ""]
    lines.append("[clues]")
    for key, side in (("columns", columns), ("rows", rows)):
        lines += [f'{key} = """', *(f"    {clue}" for clue in side), '"""']
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "nonogrid",
    "nonogrid's TOML: [clues] with rows and columns as strings, [colors] with defs; one puzzle",
    (".toml",),
    sniff,
    parse,
    write,
    colours=True,
    blots=True,
)
