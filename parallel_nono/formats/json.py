"""JSON: clues for rows and columns under the usual names; one puzzle, a list of them, or `{"puzzles": [...]}`.

Read: numbers, numbers as text, `"2 1"` for a whole clue, `0`, `[]`, `[0]`, `""` and `"-"` for an empty line, `"?"` and
`null` in the place of a number for a blot, clues padded with 0 to one length, clues spelt as runs of 0 and 1, a goal as
rows, as text or flat. `null` in the place of a whole clue says that it is not given; no clue can say that: an error.
Plain values under other names are facts. Lists and objects under names that are not known are left aside and told.

Written, and read back without loss: one object a puzzle,

    {"name": "...", "rows": [[2, 1], []], "columns": [[1], [1], [1]], "goal": ["##.#", ...],
     "palette": [{"name": "white", "char": ".", "rgb": "#ffffff"}, ...], "metadata": {"author": "..."}}

Without a palette the puzzle is black on white. With one (background first) a block is `[length, colour]`, the colour
an index into the palette; `"3b"`, a length and the character of a colour, is read too. A goal has one character a
cell where the characters of the palette are all different, else lists of colour indices.

Data sets `{"count": 1, "data": {"ID": {"problem": "H W ...", "solution": "H W ...", "source": "..."}}}` are read too. A
problem is a text as in `formats.dataset`; a solution is height and width, then rows of `x` and `-` with blanks between.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..puzzle import BLACK_AND_WHITE, BLOT, Block, Clue, Colour, Grid, InvalidPuzzle, Palette, Puzzle, letter
from . import Format, Packed, Parsed, dataset
from .common import json_lines
from .common.shades import shade
from .common.text import (
    BLOT_TEXT,
    CONTROL,
    MAX_LINE,
    clues_of_goal,
    labelled,
    make,
    numbered,
    says_empty,
    shown,
    sizes,
    wrong,
)
from .common.zeros import zeros_read

TITLE = "JSON"
PAIRS = (
    ("rows", "columns"),
    ("rows", "cols"),
    ("row", "column"),
    ("row", "col"),
    ("ver", "hor"),  # `ver` is the strip down the left side: the row clues
    ("rowHints", "colHints"),
    ("rowHints", "columnHints"),
    ("rowsHints", "columnsHints"),
    ("row_hints", "col_hints"),
    ("row_hints", "column_hints"),
    ("rowClues", "colClues"),
    ("rowClues", "columnClues"),
    ("row_clues", "col_clues"),
    ("row_clues", "column_clues"),
)
GOALS = ("goal", "solution", "picture")
GOAL = re.compile(r'"(?:goal|solution|picture)"\s*:\s*(?:\[\s*(?:\[\s*[0-9]|"[.#0-9x_ -]+")|"[.#01/]+")')
OWN = {key for pair in PAIRS for key in pair} | {*GOALS, "name", "title", "palette", "metadata", "warnings", "content"}
SIZES = (
    ("height", "rows", "row", "num_rows", "n_rows", "nrows", "numRows", "nRows", "rowCount", "row_count"),
    ("width", "columns", "cols", "column", "col", "num_cols", "n_cols", "ncols", "num_columns", "n_columns", "numCols",
     "nCols", "numColumns", "colCount", "columnCount", "col_count", "column_count"),
)  # fmt: skip
"""Names under which numbers of rows and of columns are told."""

NAMES = {"name", "title", "content"}
COLOUR_KEYS = ("name", "char", "rgb")
TOKEN = re.compile(r"\s*([0-9]+|\?)\s*(\S*)\s*\Z")
LONGEST_BLOCK = 60
LEAST = len('{"rows":[[]],"cols":[[]]}')
"""Characters of the shortest puzzle."""
KEY = re.compile(r'"(\w{2,12})"\s*:')


def sniff(text: str) -> bool:
    keys = set(KEY.findall(text, 0, 1 << 20))
    return (
        any(row in keys and column in keys for row, column in PAIRS)
        or ("puzzles" in keys and bool(keys & OWN))
        or {"data", "problem"} <= keys
        or (any(key in keys for key in GOALS) and GOAL.search(text) is not None)
    )


def parse(text: str, source: str) -> Parsed:
    import json

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        several = isinstance(error, json.JSONDecodeError) and "\n" in text.strip()
        if not several or not json_lines.is_lines(text, source):
            raise json_lines.mistake(error, source) from None
        yield from json_lines.parse(text, source, parse)
        return
    if _is_data_set(data):
        yield from _data_set(data["data"], source)
        return
    if isinstance(data, dict) and isinstance(data.get("puzzles"), list):
        data = data["puzzles"]
    items = data if isinstance(data, list) else [data]
    if not items:
        raise wrong(source, 0, "a puzzle", "an empty list")
    for index, item in enumerate(items, start=1):
        name = labelled(source, "", index, len(items) == 1)
        if isinstance(item, dict):
            title = item.get("name", item.get("title"))
            name = title if isinstance(title, str) and title else name
        place = source if len(items) == 1 else f"{source}: puzzle {index}"
        try:
            if not isinstance(item, dict):
                raise wrong(place, 0, 'an object such as {"rows": [[1]], "columns": [[1]]}', item)
            yield _puzzle(item, source, place, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _is_data_set(data: Any) -> bool:
    """True for problems by their names, each with a text."""
    found = data.get("data") if isinstance(data, dict) else None
    return (
        isinstance(found, dict)
        and bool(found)
        and all(isinstance(item, dict) for item in found.values())
        and any("problem" in item for item in found.values())
    )


def _data_set(items: dict[str, dict[str, Any]], source: str) -> Parsed:
    for index, (label, item) in enumerate(items.items(), start=1):
        name = CONTROL.sub(" ", label) if label.strip() else labelled(source, "", index, False)
        place = f"{source}: puzzle {index}"
        try:
            problem, solution = item.get("problem"), item.get("solution")
            if not isinstance(problem, str):
                raise wrong(place, 0, "a `problem` as text", ", ".join(item) or "none")
            if solution is not None and not isinstance(solution, str):
                raise wrong(place, 0, "a `solution` as text", solution)
            rows, columns = dataset.clues_of(numbered(problem), place)
            goal = dataset.goal_of(solution, len(rows), len(columns), place) if solution else None
            own = ("problem", "solution")
            plain = {key: str(value) for key, value in item.items() if isinstance(value, str | int | float)}
            facts = [(key, value) for key, value in plain.items() if key not in own and value]
            unread = (key for key, value in item.items() if isinstance(value, list | dict))
            warnings = [f"{shown(key)} is not read: left aside" for key in unread]
            puzzle = make(rows, columns, place, name=name, index=index, metadata=facts, goal=goal, warnings=warnings)
            yield replace(puzzle, source=source)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _puzzle(item: dict[str, Any], source: str, place: str, name: str, index: int) -> Puzzle:
    palette, chars = _palette(item.get("palette"), place)
    pair = next((pair for pair in PAIRS if all(isinstance(item.get(key), list | str) for key in pair)), None)
    goal_key = next((key for key in GOALS if item.get(key) is not None), "")
    given = item.get(goal_key)
    warnings = _left_aside(item, {*(pair or ()), goal_key})
    if pair:
        sides = [_lines(item[key]) for key in pair]
        told = next((True for key in pair if re.search("hint|clue", key, re.IGNORECASE)), False)
        sides, doubt = zeros_read(sides, told)
        warnings += [doubt] if doubt else []
        warnings += _sizes_told(item, [len(side) for side in sides])
        sizes(len(sides[0]), len(sides[1]), place)
        inks = _Inks(palette, chars)
        rows, columns = (
            [_clue(line, f"{place}: {kind} {number}", inks) for number, line in enumerate(side, start=1)]
            for kind, side in zip(("row", "column"), sides, strict=True)
        )
        palette = tuple(inks.palette)
        goal = None if given is None else _goal(given, palette, chars, len(rows), len(columns), place)
    elif given is not None:
        goal = _goal(given, palette, chars, 0, 0, place)
        rows, columns = (list(side) for side in clues_of_goal(goal))
    else:
        keys = ", ".join(str(key) for key in list(item)[:8]) or "none"
        raise wrong(place, 0, "clues under two names such as `rows` and `columns`", keys)
    puzzle = make(
        rows, columns, place, palette=palette, name=name, index=index, metadata=_facts(item), goal=goal,
        warnings=(*_said(item), *warnings),
    )  # fmt: skip
    return replace(puzzle, source=source)


def _said(item: dict[str, Any]) -> tuple[str, ...]:
    said = item.get("warnings", ())
    return tuple(text for text in said if isinstance(text, str)) if isinstance(said, list) else ()


def _left_aside(item: dict[str, Any], read: set[str]) -> list[str]:
    """A warning for each list or object under a name that nobody reads, texts of puzzles included."""
    known = {*read, "palette", "metadata", "warnings"}
    unread = [
        key
        for key, value in item.items()
        if key not in known and (isinstance(value, list | dict) or (isinstance(value, str) and key in OWN - NAMES))
    ]
    warnings = [f"{shown(key)} is not read: left aside" for key in unread]
    palette = item.get("palette")
    colours = [colour for colour in palette if isinstance(colour, dict)] if isinstance(palette, list) else []
    keys = {key for colour in colours for key in colour} - {*COLOUR_KEYS}
    warnings += [f"{shown(key)} of a colour is not known: left aside" for key in sorted(keys)]
    metadata = item.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        warnings.append("`metadata` is no object: left aside")
    return warnings


def _sizes_told(item: dict[str, Any], found: Sequence[int]) -> list[str]:
    """A warning where an object tells another number of rows or columns than it has clues."""
    warnings = []
    for names, kind, n in zip(SIZES, ("row", "column"), found, strict=True):
        for name in names:
            said = item.get(name)
            if type(said) is int and said != n:
                warnings.append(f"{shown(name)} is {said}, but there are {n} {kind} clues")
    return warnings


def _facts(item: dict[str, Any]) -> list[tuple[str, str]]:
    """Plain values that are not ours, then `metadata`; what is not plain there as JSON."""
    import json

    facts = {}
    metadata = item.get("metadata")
    for group in (item, metadata if isinstance(metadata, dict) else {}):
        for key, value in group.items():
            if (group is not item or key not in OWN) and isinstance(value, str | int | float):
                facts[key] = str(value)
            elif group is not item and isinstance(value, list | dict):
                facts[key] = json.dumps(value, ensure_ascii=False)
    return list(facts.items())


def _palette(given: object, place: str) -> tuple[Palette, dict[str, int]]:
    """The palette, and colour indices by character and by name."""
    if given is None:
        return BLACK_AND_WHITE, {}
    if not isinstance(given, list) or len(given) < 2 or len(given) > 65_536:
        raise wrong(place, 0, "a palette of 2 to 65,536 colours, the background first", given)
    palette = []
    for c, colour in enumerate(given):
        if isinstance(colour, str):
            colour = {"rgb": colour, "name": colour}
        rgb = shade(str(colour.get("rgb", ""))) if isinstance(colour, dict) else None
        if rgb is None:
            raise wrong(place, 0, 'colours such as {"name": "red", "char": "r", "rgb": "#ff0000"}', colour)
        char = colour.get("char")
        char = char if isinstance(char, str) and len(char) == 1 else letter(c, len(given))
        palette.append(Colour(str(colour.get("name", f"colour {c}")), char, rgb))
    places: dict[str, int] = {}
    for key in ("char", "name"):
        for c, entry in enumerate(palette):
            places.setdefault(getattr(entry, key), c)
    return tuple(palette), places


class _Inks:
    """The palette, growing by suffixes that no palette declares."""

    def __init__(self, palette: Palette, places: dict[str, int]) -> None:
        self.palette = list(palette)
        self.places = places
        self.fixed = bool(places)
        if not places:
            places.update({"#": 1, "black": 1})

    def place(self, sign: str, place: str) -> int:
        if sign not in self.places:
            if self.fixed or len(sign) != 1:
                raise wrong(place, 0, "a colour of the palette", sign)
            self.places[sign] = len(self.palette)
            self.palette.append(Colour(sign, sign, (len(self.palette) * 2654435761) % 0xE00000))
        return self.places[sign]


def _lines(side: object) -> list[Any]:
    """The clues of a side; one text is cut at line ends, `/` or `;`."""
    if isinstance(side, str):
        return [part.strip() for part in re.split(r"[\n/;]", side.strip())]
    assert isinstance(side, list)
    return side


def _clue(line: Any, place: str, inks: _Inks) -> Clue:
    if type(line) is list:  # most are lists of lengths
        lengths: list[Block] = []
        for length in line:
            if type(length) is not int or not 0 < length <= MAX_LINE:
                break
            lengths.append(Block(length))
        else:
            return tuple(lengths)
    if line is None:
        said = "a line whose clue is not given is not supported"
        raise InvalidPuzzle(f"{place}: expected a clue such as [2, 1], found `null`: {said}")
    if line == "" or (type(line) is int and line == 0):
        return ()
    if isinstance(line, str):
        line = line.replace(",", " ").split()
    elif type(line) is int:
        line = [line]
    if not isinstance(line, list):
        raise wrong(place, 0, "a clue such as [2, 1]", line)
    if line and all(isinstance(word, str) for word in line) and (line == [""] or says_empty(line)):
        return ()
    clue: list[Block] = []
    for block in line:
        length, colour = _block(block, place, inks)
        if length == 0:
            if len(line) > 1:
                raise wrong(place, 0, "`0` alone or lengths from 1", line)
            return ()
        clue.append(Block(BLOT if length is None else length, colour))
    return tuple(clue)


def _block(block: Any, place: str, inks: _Inks) -> tuple[int | None, int]:
    """(length, colour); the length is None for a blot."""
    colour: Any = 1
    if isinstance(block, list) and len(block) == 2:
        block, colour = block
        if isinstance(colour, str):
            colour = inks.place(colour, place)
        if type(colour) is not int or not 1 <= colour < len(inks.palette):
            raise wrong(place, 0, f"a colour from 1 to {len(inks.palette) - 1}", colour)
    if block is None or block == BLOT_TEXT:
        return None, colour
    if isinstance(block, str):
        found = TOKEN.match(block) if len(block) <= LONGEST_BLOCK else None
        if not found or len(found[1]) > 9:
            raise wrong(place, 0, "a number", block)
        if found[2]:
            colour = inks.place(found[2], place)
            if colour == 0:
                raise wrong(place, 0, "a colour that is not the background", block)
        if found[1] == BLOT_TEXT:
            return None, colour
        block = int(found[1])
    if type(block) is not int or not 0 <= block <= MAX_LINE:
        raise wrong(place, 0, f"block lengths from 0 to {MAX_LINE:,}", block)
    return block, colour


def _goal(given: Any, palette: Palette, chars: dict[str, int], height: int, width: int, place: str) -> Grid:
    """Rows of numbers, rows of text, one text, or a flat list (if the size is known)."""
    rows = given
    if isinstance(given, str):
        rows = given.strip().replace("/", "\n").split("\n")
    if not isinstance(rows, list) or not rows:
        raise wrong(place, 0, "a goal of rows", given)
    if not all(isinstance(row, list) or (isinstance(row, str) and len(row) > 1) for row in rows) and width > 1:
        rows = [rows[start : start + width] for start in range(0, len(rows), width)]
    elif len(rows) == 1 and isinstance(rows[0], str) and height > 1 and len(rows[0]) == height * width:
        rows = [rows[0][start : start + width] for start in range(0, len(rows[0]), width)]
    grid = tuple(tuple(_cell(cell, palette, chars, place) for cell in _cells(row, place)) for row in rows)
    if not grid[0] or any(len(row) != len(grid[0]) for row in grid):
        raise wrong(place, 0, "a goal with rows of one length", f"{len(grid)} rows")
    if height and (len(grid), len(grid[0])) != (height, width):
        raise wrong(place, 0, f"a goal {width} wide and {height} high", f"{len(grid[0])} wide and {len(grid)} high")
    return grid


def _cells(row: Any, place: str) -> Iterator[Any]:
    if not isinstance(row, list | str):
        raise wrong(place, 0, "a goal of rows", row)
    return iter(row)


def _cell(cell: Any, palette: Palette, chars: dict[str, int], place: str) -> int:
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, str):
        if cell in chars:
            return chars[cell]
        if cell in ("0", ".", " ", "-", "_"):
            return 0
        if len(palette) == 2 and cell in ("1", "#", "x", "X"):
            return 1
    if type(cell) is int and 0 <= cell < len(palette):
        return cell
    raise wrong(place, 0, f"cells of the goal from 0 to {len(palette) - 1}", cell)


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.json import json
    from .common.quick import pack

    return pack(json, texts, LEAST, facts=True)


def write(puzzles: Iterable[Puzzle]) -> str:
    import json

    items = [_item(puzzle, json.dumps) for puzzle in puzzles]
    if len(items) == 1:
        return items[0] + "\n"
    return '{"puzzles": [\n' + ",\n".join(items) + "\n]}\n"


def _item(puzzle: Puzzle, dumps: Any) -> str:
    plain = puzzle.palette == BLACK_AND_WHITE
    parts: dict[str, Any] = {"name": puzzle.name}
    if not plain:
        parts["palette"] = [{"name": c.name, "char": c.char, "rgb": f"#{c.rgb:06x}"} for c in puzzle.palette]
    for key, clues in (("rows", puzzle.rows), ("columns", puzzle.columns)):
        parts[key] = [[_length(b) if plain else [_length(b), b.colour] for b in clue] for clue in clues]
    if puzzle.goal is not None:
        chars = [colour.char for colour in puzzle.palette]
        apart = len({*chars, *(c.name for c in puzzle.palette)}) == 2 * len(chars) and all(len(c) == 1 for c in chars)
        text = apart and puzzle.width > 1
        parts["goal"] = [("".join(chars[c] for c in row) if text else list(row)) for row in puzzle.goal]
    if puzzle.metadata:
        parts["metadata"] = dict(puzzle.metadata)
    if puzzle.warnings:
        parts["warnings"] = list(puzzle.warnings)
    return dumps(parts, ensure_ascii=False)


def _length(block: Block) -> int | None:
    return None if block.is_blot else block.length


FORMAT = Format(
    "json",
    'JSON, JSON lines: `rows` and `columns` (and other names), one object, a list, or {"puzzles": [...]}; colours',
    (".json", *json_lines.ENDINGS),
    sniff,
    parse,
    write,
    pack,
    colours=True,
    several=True,
    blots=True,
    first="{[",
)
