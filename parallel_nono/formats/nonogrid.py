"""nonogrid's TOML: `[clues]` with `rows` and `columns` as long strings, `[colors]` with a list `defs`. One puzzle.

Clues are parted by commas and line ends; an empty line is `0`. Numbers without a colour's name are black.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import InvalidPuzzle, Puzzle
from . import Format, Parsed
from .suffixed import entries, puzzle_of, written
from .text import Lines, letters, only_one, shown, wrong

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
    defs = colours.get("defs", [])
    if not isinstance(defs, list) or not all(isinstance(line, str) for line in defs):
        raise wrong(source, 0, "`defs` as a list of strings such as 'a = (blue) *'", defs)
    yield puzzle_of(
        _side(clues, "rows", source), _side(clues, "columns", source), [(0, line) for line in defs], source
    )  # fmt: skip


def _side(clues: dict[str, object], key: str, source: str) -> Lines:
    value = clues.get(key)
    if isinstance(value, list):
        value = "\n".join(" ".join(map(str, line)) or "0" if isinstance(line, list) else str(line) for line in value)
    if not isinstance(value, str):
        raise InvalidPuzzle(f"{source}: expected `{key}` in [clues] as a string, found {shown(value)}")
    return entries([(0, line) for line in value.split("\n")])


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
