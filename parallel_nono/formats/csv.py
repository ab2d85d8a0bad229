"""CSV for bulk work, one puzzle a row: `id,title,width,height,rows,columns`, `/` between clues, blanks between numbers.

The first line names the fields, in any order; `rows` and `columns` are needed, all else may be missing. Such a line
further on, of files that were put together, names the fields of what follows it. Commas, semicolons or tabs part them.
`colours` holds inks as `a:#0000ff b:#ff0000`, numbers then end in a letter; `goal` holds rows of `.` and letters (`#`
without colours) with `/` between them. Other fields are facts of the puzzle. An empty line is `0` or nothing between
slashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..puzzle import BLACK_AND_WHITE, Clue, Colour, Grid, InvalidPuzzle, Palette, Puzzle
from . import Format, Parsed
from .common.shades import shade
from .common.text import black_clue, coloured_clue, labelled, letters, make, number, says_empty, sizes, wrong

TITLE = "CSV"
NEEDED = {"rows", "columns"}
ALIASES = {"cols": "columns", "name": "title", "colors": "colours", "solution": "goal"}
OWN = ("title", "width", "height", "rows", "columns", "colours", "goal")
KEY = re.compile(r"[a-z][a-z0-9_ -]*\Z")
MARKS = ",;\t"
DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\b\d{1,4}[.-]\d\d?[.-]\d{1,4}\b", re.IGNORECASE
)
COLOUR = re.compile(r"([A-Za-z]+):(#[0-9A-Fa-f]{6})\Z")
TOKEN = re.compile(r"([0-9]+|\?)([A-Za-z]+)\Z")
LONGEST_FIELD = 1 << 28


def sniff(text: str) -> bool:
    head = text.lstrip().partition("\n")[0][:2000]
    return len(re.split("[,;\t]", head)) > 1 and set(_fields(head)) >= NEEDED


def _fields(head: str) -> list[str]:
    return _names(word.strip().strip('"') for word in re.split("[,;\t]", head))


def _names(words: Iterable[str]) -> list[str]:
    names = (word.strip().lower() for word in words)
    return [ALIASES.get(name, name) for name in names]


def parse(text: str, source: str) -> Parsed:
    import csv

    lines = text.split("\n")
    start = next((place for place, line in enumerate(lines) if line.strip()), 0)
    fields = _fields(lines[start])
    if not set(fields) >= NEEDED:
        raise wrong(source, start + 1, "a first line with the fields `rows` and `columns`", lines[start].strip())
    mark = max(MARKS, key=lines[start].count)
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader(lines[start + 1 :], delimiter=mark, strict=True)
    index = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InvalidPuzzle(
                f"{source}:{start + 1 + reader.line_num}: expected CSV, found a mistake: {error}"
            ) from None
        if row is None:
            break
        if not any(field.strip() for field in row):
            continue
        names = _names(row)
        if set(names) >= NEEDED:
            fields = names
            continue
        index += 1
        place = start + 1 + reader.line_num
        facts = {key: value.strip() for key, value in zip(fields, row, strict=False) if key}
        name = facts.get("title") or labelled(source, facts.get("id", ""), index, False)
        try:
            if len(row) < len(fields) - fields[::-1].count(""):
                raise wrong(source, place, f"{len(fields)} fields parted by `{mark}`", f"{len(row)}")
            yield _puzzle(facts, source, place, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)
    if not index:
        raise wrong(source, 0, "a puzzle in each line after the first", "no further line")


def _puzzle(facts: dict[str, str], source: str, place: int, name: str, index: int) -> Puzzle:
    inks, palette = _palette(facts.get("colours", ""), source, place)
    sides: list[list[Clue]] = []
    for side, size in (("rows", "height"), ("columns", "width")):
        value = facts.get(side, "")
        if DATE.search(value):
            raise wrong(source, place, f"clues in `{side}`", f"a date, as a spreadsheet makes it of 1/1: {value}")
        parts = value.split("/")
        wanted = facts.get(size)
        if wanted and number(wanted, source, place, f"a {size}") != len(parts):
            raise wrong(source, place, f"{wanted} clues in `{side}`", f"{len(parts)}")
        sizes(1, len(parts), source, place)
        sides.append([_clue(part, inks, source, place) for part in parts])
    goal = _goal(facts.get("goal", ""), inks, source, place)
    more = [(key, value) for key, value in facts.items() if key not in OWN and value]
    rows, columns = sides
    return make(rows, columns, source, palette=palette, name=name, index=index, metadata=more, goal=goal)


def _palette(value: str, source: str, place: int) -> tuple[dict[str, int], Palette]:
    """(colour index by letter, palette)."""
    if not value:
        return {}, BLACK_AND_WHITE
    palette = [BLACK_AND_WHITE[0]]
    inks: dict[str, int] = {}
    for word in value.split():
        found = COLOUR.match(word)
        rgb = shade(found[2]) if found else None
        if not found or rgb is None or found[1] in inks:
            raise wrong(source, place, "colours such as `a:#0000ff b:#ff0000`", word)
        inks[found[1]] = len(palette)
        palette.append(Colour(found[1], found[1][0], rgb))
    return inks, tuple(palette)


def _clue(text: str, inks: dict[str, int], source: str, place: int) -> Clue:
    words = text.split()
    if not inks or not words or says_empty(words):
        return black_clue(words, source, place)
    parts = []
    for word in words:
        found = TOKEN.match(word)
        colour = inks.get(found[2]) if found else None
        if not found or colour is None:
            raise wrong(source, place, f"lengths with one of the letters {', '.join(inks)}", word)
        parts.append((found[1], colour))
    return coloured_clue(parts, source, place, text)


def _goal(value: str, inks: dict[str, int], source: str, place: int) -> Grid | None:
    if not value:
        return None
    cells = {".": 0, "0": 0} | (inks or {"#": 1, "1": 1})
    unknown = next((cell for cell in value if cell not in cells and cell != "/"), None)
    if unknown is not None:
        raise wrong(source, place, f"a goal of the characters {' '.join(cells)}", unknown)
    return tuple(tuple(cells[cell] for cell in row) for row in value.split("/"))


def write(puzzles: Iterable[Puzzle]) -> str:
    import csv
    import io

    found = list(puzzles)
    colours = any(puzzle.palette != BLACK_AND_WHITE for puzzle in found)
    goals = any(puzzle.goal is not None and puzzle.n_colours <= 53 for puzzle in found)
    keys = dict.fromkeys(key for puzzle in found for key, _ in puzzle.metadata if KEY.match(key))
    facts = [key for key in keys if key not in (*OWN, *ALIASES, "id")]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["id", "title", "width", "height", "rows", "columns", *["colours"] * colours, *["goal"] * goals]
    writer.writerow([*head, *facts])
    for index, puzzle in enumerate(found, start=1):
        plain = puzzle.palette == BLACK_AND_WHITE
        signs = ["", ""] if plain else letters(puzzle.n_colours)
        said = dict(puzzle.metadata)
        row = [
            " ".join(said.get("id", str(index)).split()),
            " ".join(puzzle.name.split()),
            str(puzzle.width),
            str(puzzle.height),
        ]
        row += ["/".join(" ".join(_written(clue, signs)) or "0" for clue in s) for s in (puzzle.rows, puzzle.columns)]
        if colours:
            inks = zip(signs[1:], puzzle.palette[1:], strict=True)
            row.append("" if plain else " ".join(f"{sign}:#{colour.rgb:06x}" for sign, colour in inks))
        if goals:
            row.append("/".join(_cells(puzzle, signs)))
        writer.writerow([*row, *(" ".join(said.get(key, "").split()) for key in facts)])
    return out.getvalue()


def _written(clue: Clue, signs: list[str]) -> Iterator[str]:
    return (f"{block.text}{signs[block.colour]}" for block in clue)


def _cells(puzzle: Puzzle, signs: list[str]) -> Iterator[str]:
    if puzzle.goal is None or puzzle.n_colours > 53:
        return
    chars = ".#" if puzzle.palette == BLACK_AND_WHITE else [".", *signs[1:]]
    for row in puzzle.goal:
        yield "".join(chars[cell] for cell in row)


FORMAT = Format(
    "csv",
    "CSV, one puzzle a row: id, title, width, height, rows, columns; `/` between clues; colours and goals",
    (".csv", ".tsv"),
    sniff,
    parse,
    write,
    colours=True,
    several=True,
    blots=True,
)
