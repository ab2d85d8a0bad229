"""Number crosswords as files: the text grid, JSON, `.ipuz`, `.jpz`, and the chunk that all of them become.

The text grid has a row a line, numbers parted by blanks, `0`, `#` or `.` for a block; before it perhaps `title NAME`,
after it perhaps letters, `5=F 7=L`. A blank line, a title or `[grid]` begins another puzzle; sections under other
headings, solutions for example, are passed over. Lines that begin with `#` or `;` and are no row are comments.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ...files.containers import ZIP_MAGIC
from ...formats.common import json_lines
from ...formats.common.decode import decode
from ...formats.common.text import CONTROL, labelled, shown, wrong
from ...puzzle import InvalidPuzzle
from .. import FACTS, facts_of
from .search import Cells

MAX_SIDE, MAX_CELLS = 200, 10_000
MAX_BYTES = 64 << 20
BLOCKS = {"0", "#", "."}
ROW = re.compile(r"(?:[0-9]+|[#.])(?:[\s,;]+(?:[0-9]+|[#.]))*[\s,;]*\Z")
LETTERS = re.compile(r"(?:given\b)?\s*[0-9]+\s*=\s*\S", re.IGNORECASE)
PAIR = re.compile(r"([0-9]+)\s*=\s*(\S+)")
TITLE = re.compile(r"title\b\s*:?\s*(.*)", re.IGNORECASE)
SNIFFED = (".ipuz", ".jpz", ".xml", ".json", ".txt")
"""Endings of text files that may be ours; their content decides."""

BEGINS = re.compile(r"^title\b", re.MULTILINE | re.IGNORECASE)
"""Where a long text can be cut: at every title."""

SECTION = re.compile(r"\[(\w+)\]")
GRID_HOPE = "a row of numbers such as `1 2 0 3`, 0 for a block"
OWN = ("grid", "words", "given", "key", "solution", "puzzle", "title", "name", "solution_rows", "clues", "dimensions")


@dataclass(frozen=True, slots=True)
class Crossword:
    """One puzzle as read: rows of numbers, and the letters (small ones) that some numbers have."""

    cells: Cells
    given: dict[int, str]
    name: str
    index: int
    metadata: dict[str, str] = field(default_factory=dict)
    warning: str = ""

    @property
    def n_numbers(self) -> int:
        return len({number for row in self.cells for number in row if number})

    def digest(self) -> str:
        """32 hex digits, the same however the numbers are dealt out."""
        place: dict[int, int] = {0: 0}
        for row in self.cells:
            for number in row:
                place.setdefault(number, len(place))
        rows = [[place[number] for number in row] for row in self.cells]
        given = sorted((place[number], letter) for number, letter in self.given.items())
        return hashlib.blake2b(json.dumps([rows, given]).encode(), digest_size=16).hexdigest()


Parsed = Iterator[Crossword | InvalidPuzzle]


def parsed(data: bytes, source: str) -> Parsed:
    """The puzzles of a text file; a broken one stands in its place as an error. Errors: InvalidPuzzle for the file."""
    if data[:4] == ZIP_MAGIC:
        data = unzipped(data, source)
    text, warning = decode(data, source)
    start = text.lstrip()[:5].lower()
    if start[:1] == "<":
        yield _jpz(text, source, warning)
    elif start[:1] == "{" or start == "ipuz(" or re.match(r"\s*\[\s*[\[{]", text):
        yield from _json(text, source, warning)
    else:
        yield from _texts(text, source, warning)


def chunk_of(items: Iterable[tuple[str, Crossword | InvalidPuzzle]]) -> pa.RecordBatch:
    """The chunk of (source, puzzle): FACTS, the numbers row by row, and the letters given."""
    rows: list[tuple[object, ...]] = []
    cells: list[list[int]] = []
    given: list[str] = []
    for source, item in items:
        if isinstance(item, InvalidPuzzle):
            rows.append((item.name, source, item.index, "", 0, 0, 0, "", "", str(item)))
            cells.append([])
            given.append("")
            continue
        metadata = json.dumps(item.metadata, ensure_ascii=False) if item.metadata else ""
        size = len(item.cells), len(item.cells[0])
        rows.append((item.name, source, item.index, item.digest(), *size, item.n_numbers, metadata, item.warning, ""))
        cells.append([number for row in item.cells for number in row])
        given.append(" ".join(f"{number}={letter}" for number, letter in sorted(item.given.items())))
    arrays = [*facts_of(rows), pa.array(cells, pa.list_(pa.int32())), pa.array(given, pa.string())]
    return pa.RecordBatch.from_arrays(arrays, [*FACTS, "cells", "given"])


def puzzle_at(chunk: pa.RecordBatch, place: int) -> tuple[Cells, dict[int, str]]:
    """The numbers and the given letters of one puzzle of a chunk."""
    numbers = chunk.column("cells")[place].as_py()
    width = chunk.column("width")[place].as_py()
    cells = tuple(tuple(numbers[at : at + width]) for at in range(0, len(numbers), width))
    pairs = (pair.split("=") for pair in chunk.column("given")[place].as_py().split())
    return cells, {int(number): letter for number, letter in pairs}


def made(
    rows: list[list[int]],
    given: dict[int, str],
    source: str,
    line: int = 0,
    *,
    name: str = "",
    index: int = 1,
    alone: bool = True,
    metadata: dict[str, str] | None = None,
    warning: str = "",
) -> Crossword:
    """A puzzle. Errors: InvalidPuzzle for a grid that is empty, ragged or too large, and for letters that are none."""
    name = CONTROL.sub(" ", name).strip() or labelled(source, "", index, alone)
    try:
        if not rows or not rows[0]:
            raise wrong(source, line, GRID_HOPE, "an empty grid")
        check_size(len(rows), len(rows[0]), source, line)
        for place, row in enumerate(rows):
            if len(row) != len(rows[0]):
                at = line + place if line else 0
                raise wrong(source, at, f"{len(rows[0])} cells in every row", f"{len(row)} in row {place + 1}")
        numbers = {number for row in rows for number in row}
        if not numbers - {0}:
            raise wrong(source, line, "numbers in the grid", "blocks only")
        strange = next((number for number in given if number not in numbers), None)
        if strange is not None:
            raise wrong(source, line, "letters for numbers of the grid", f"one for {strange}")
    except InvalidPuzzle as error:
        raise InvalidPuzzle(str(error), name=name, index=index) from None
    return Crossword(tuple(map(tuple, rows)), given, name, index, metadata or {}, warning)


def check_size(height: int, width: int, source: str, line: int = 0) -> None:
    """Errors: InvalidPuzzle for a grid beyond the limits; nothing is allocated before."""
    if min(height, width) < 1 or max(height, width) > MAX_SIDE or height * width > MAX_CELLS:
        hope = f"a grid of at most {MAX_SIDE} cells a side and {MAX_CELLS:,} in all"
        raise wrong(source, line, hope, f"{width} wide and {height} high")


def number_of(word: object, source: str, line: int = 0) -> int:
    """A number of the grid, 0 for a block, whatever a file writes for one."""
    if word is None or word in BLOCKS:
        return 0
    text = str(word) if isinstance(word, int) and not isinstance(word, bool) else word
    if not isinstance(text, str) or not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise wrong(source, line, "numbers of at most nine digits", word)
    return int(text)


def letter_of(word: object, source: str, line: int = 0) -> str:
    """One letter, small."""
    text = unicodedata.normalize("NFC", word.strip().lower()) if isinstance(word, str) else ""
    if len(text) != 1 or not text.isalpha():
        raise wrong(source, line, "one letter for a number", word)
    return text


# Text grids.


class _Draft:
    """A text grid on its way."""

    def __init__(self) -> None:
        self.name = ""
        self.line = 0
        self.rows: list[list[int]] = []
        self.given: dict[int, str] = {}
        self.error: InvalidPuzzle | None = None
        self.ended = False

    def __bool__(self) -> bool:
        return bool(self.rows or self.given or self.name or self.error)


def _texts(text: str, source: str, warning: str, lines: int = 0, before: int = 0, alone: bool | None = None) -> Parsed:
    """Puzzles of a text; `lines` and `before` count what stands above it in its file."""
    drafts = list(_drafts(text, source, lines))
    if alone is None:
        alone = len(drafts) == 1
    for index, draft in enumerate(drafts, start=before + 1):
        try:
            if draft.error:
                name = draft.name or labelled(source, "", index, alone)
                raise InvalidPuzzle(str(draft.error), name=name, index=index)
            yield made(
                draft.rows, draft.given, source, draft.line, name=draft.name, index=index, alone=alone, warning=warning
            )
        except InvalidPuzzle as error:
            yield error


def _drafts(text: str, source: str, lines: int) -> Iterator[_Draft]:
    draft, section = _Draft(), "grid"
    for place, line in enumerate(text.split("\n"), start=lines + 1):
        line = line.strip()
        heading, title = SECTION.match(line), TITLE.match(line)
        if heading or title:
            section = heading[1].lower() if heading else "grid"
            if title or (section == "grid" and draft.rows):
                if draft:
                    yield draft
                    draft = _Draft()
                draft.name = title[1] if title else ""
            continue
        if not line:
            draft.ended = bool(draft.rows)
            continue
        if section not in ("grid", "given") or draft.error or _is_comment(line, draft):
            continue
        try:
            if LETTERS.match(line):
                _take_letters(line, draft.given, source, place)
                continue
            if not ROW.match(line):
                raise wrong(source, place, GRID_HOPE, line)
            if draft.ended:
                yield draft
                draft = _Draft()
            draft.line = draft.line or place
            draft.rows.append([number_of(word, source, place) for word in re.split(r"[\s,;]+", line.strip(" \t,;"))])
        except InvalidPuzzle as error:
            draft.error = error
    if draft:
        yield draft


def _is_comment(line: str, draft: _Draft) -> bool:
    if line == "#":  # a row only among rows of one cell
        return not (draft.rows and len(draft.rows[0]) == 1)
    return line[0] == ";" or (line[0] == "#" and not ROW.match(line))


def _take_letters(line: str, given: dict[int, str], source: str, place: int) -> None:
    pairs = re.sub(r"\s*=\s*", "=", re.sub(r"(?i)^given\b\s*:?", "", line)).replace(",", " ").split()
    for pair in pairs:
        found = PAIR.fullmatch(pair)
        if not found:
            raise wrong(source, place, "letters such as `5=F`", pair)
        given[number_of(found[1], source, place)] = letter_of(found[2], source, place)


def text_chunk(text: str, source: str, lines: int, before: int, warning: str) -> pa.RecordBatch:
    """A piece of a long text as a chunk, see `kinds.texts`."""
    return chunk_of((source, item) for item in _texts(text, source, warning, lines, before, alone=False))


def text_of(cells: Cells, given: dict[int, str], name: str) -> str:
    """A puzzle as text."""
    width = max(len(str(number)) for row in cells for number in row)
    rows = [" ".join(f"{number:>{width}}" for number in row) for row in cells]
    letters = [" ".join(f"{number}={letter.upper()}" for number, letter in sorted(given.items()))] if given else []
    return "\n".join([f"title {name}", *rows, *letters, "", ""])


# JSON and ipuz.


def _json(text: str, source: str, warning: str) -> Parsed:
    items = _objects(text, source)
    for index, item in enumerate(items, start=1):
        place = source if len(items) == 1 else f"{source}: puzzle {index}"
        name = ""
        try:
            if not isinstance(item, dict):
                raise wrong(place, 0, 'an object such as {"grid": [[1, 2], [0, 1]]}', item)
            title = item.get("title", item.get("name"))
            name = title if isinstance(title, str) and title.strip() else labelled(source, "", index, len(items) == 1)
            rows, given = _ipuz(item, place) if "puzzle" in item else _plain_json(item, place)
            facts = {key: str(value) for key, value in item.items() if key not in OWN and isinstance(value, str | int)}
            told = "" if "puzzle" in item else _left_aside(item)
            warnings = "; ".join(filter(None, (warning, told)))
            yield made(rows, given, place, name=name, index=index, metadata=facts, warning=warnings)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name or labelled(source, "", index, len(items) == 1), index=index)


def _left_aside(item: dict[str, Any]) -> str:
    """A warning for lists and objects under names that nobody reads."""
    unread = [key for key, value in item.items() if key not in OWN and isinstance(value, list | dict)]
    return "; ".join(f"{shown(key)} is not read: left aside" for key in unread)


def _objects(text: str, source: str) -> list[Any]:
    """The objects of a JSON text: one, a list, a list under `puzzles`, or one a line."""
    text = text.rstrip()
    if text.lstrip()[:5].lower() == "ipuz(":
        text = text.replace(text.lstrip()[:5], "     ", 1).rstrip(";").rstrip().removesuffix(")")
    try:
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            if not error.msg.startswith("Extra data"):
                raise
            try:
                data = [json.loads(line) for line in text.split("\n") if line.strip()]
            except json.JSONDecodeError:
                raise error from None  # not one object a line: the place of what follows the first
    except (ValueError, RecursionError) as error:
        raise json_lines.mistake(error, source) from None
    if isinstance(data, dict) and isinstance(data.get("puzzles"), list):
        data = data["puzzles"]
    items = data if isinstance(data, list) else [data]
    if not items:
        raise wrong(source, 0, "a puzzle", "an empty list")
    return items


def _plain_json(item: dict[str, Any], place: str) -> tuple[list[list[int]], dict[int, str]]:
    rows = _grid(item.get("grid"), place) if item.get("grid") is not None else _words(item.get("words"), place)
    letters = item.get("given") or {}
    if not isinstance(letters, dict):
        raise wrong(place, 0, 'letters such as {"5": "F"}', letters)
    return rows, {number_of(number, place): letter_of(letter, place) for number, letter in letters.items()}


def _grid(grid: object, place: str) -> list[list[int]]:
    if not isinstance(grid, list) or not all(isinstance(row, list) for row in grid):
        raise wrong(place, 0, "a grid: a list of rows", grid)
    check_size(len(grid), max((len(row) for row in grid), default=0), place)
    return [[number_of(cell, place) for cell in row] for row in grid]


def _words(words: object, place: str) -> list[list[int]]:
    """A puzzle without a grid, a list of words as numbers: each in a row of its own, blocks between the rows."""
    if not isinstance(words, list) or not words or not all(isinstance(word, list) and word for word in words):
        raise wrong(place, 0, "`grid`, a list of rows, or `words`, a list of lists of numbers", words)
    width = max(map(len, words))
    check_size(2 * len(words) - 1, width, place)
    rows: list[list[int]] = []
    for word in words:
        numbers = [number_of(number, place) for number in word]
        rows += [[0] * width] if rows else []
        rows.append(numbers + [0] * (width - len(numbers)))
    return rows


def _ipuz(item: dict[str, Any], place: str) -> tuple[list[list[int]], dict[int, str]]:
    """A coded crossword of ipuz.org: numbers as cells, perhaps in objects with the letter that is shown."""
    kinds = item.get("kind", [])
    if not any(
        isinstance(kind, str) and "coded" in kind.lower() for kind in (kinds if isinstance(kinds, list) else [])
    ):
        raise wrong(place, 0, "a coded crossword (`coded` in `kind`)", kinds)
    block = str(item.get("block", "#"))
    given: dict[int, str] = {}

    def number(cell: object) -> int:
        inside = cell.get("cell") if isinstance(cell, dict) else cell
        found = 0 if str(inside) == block else number_of(inside, place)
        if isinstance(cell, dict) and cell.get("value") is not None and found:
            given[found] = letter_of(cell["value"], place)
        return found

    grid = item["puzzle"]
    if not isinstance(grid, list) or not all(isinstance(row, list) for row in grid):
        raise wrong(place, 0, "`puzzle`, a list of rows", grid)
    check_size(len(grid), max((len(row) for row in grid), default=0), place)
    return [[number(cell) for cell in row] for row in grid], given


# jpz.


class _Jpz:
    """Collects the cells of the coded crossword of a Crossword Compiler file."""

    def __init__(self, source: str) -> None:
        from ...formats.common.safexml import Events

        self.source = source
        self.events = Events(source, self.start, self.end)
        self.coded = False
        self.rows: list[list[int]] = []
        self.given: dict[int, str] = {}
        self.facts: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.events.place
        if name == "coded":
            if self.rows:
                raise wrong(self.source, line, "one coded crossword in a file", "a second one")
            self.coded = True
        elif name == "grid" and self.coded and not self.rows:
            width, height = (number_of(attributes.get(side), self.source, line) for side in ("width", "height"))
            check_size(height, width, self.source, line)
            self.rows = [[0] * width for _ in range(height)]
        elif name == "cell" and self.rows:
            self.cell(attributes, line)

    def cell(self, attributes: dict[str, str], line: int) -> None:
        column, row = (number_of(attributes.get(side), self.source, line) for side in "xy")
        if not (1 <= row <= len(self.rows) and 1 <= column <= len(self.rows[0])):
            size = f"{len(self.rows[0])} x {len(self.rows)}"
            raise wrong(self.source, line, f"a cell inside the grid of {size}", f"x={column}, y={row}")
        if attributes.get("type", "letter") != "letter":
            return
        number = number_of(attributes.get("number"), self.source, line)
        if not number:
            raise wrong(self.source, line, "a number in every cell that is no block", f"none at x={column}, y={row}")
        self.rows[row - 1][column - 1] = number
        if attributes.get("hint") == "true":
            letter = attributes.get("solution") or attributes.get("solve-state")
            self.given[number] = letter_of(letter, self.source, line)

    def end(self, name: str, text: str) -> None:
        if name in ("title", "creator", "copyright", "description") and text.strip():
            self.facts.setdefault(name, " ".join(text.split()))


def _jpz(text: str, source: str, warning: str) -> Crossword:
    reader = _Jpz(source)
    for problem in reader.events.feed(text):
        if problem:
            raise problem
    if not reader.rows:
        raise wrong(source, 0, "a coded crossword (<coded> with a <grid>)", "none in the file")
    title = reader.facts.pop("title", "")
    return made(reader.rows, reader.given, source, name=title, metadata=reader.facts, warning=warning)


def unzipped(data: bytes, source: str) -> bytes:
    """The one file in a zipped `.jpz`. Errors: InvalidPuzzle if there is not just one, or it is too long."""
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if len(names) != 1:
                raise wrong(source, 0, "one file in the archive", f"{len(names)}")
            with archive.open(names[0]) as file:
                found = file.read(MAX_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidPuzzle(f"{source}: expected a zip archive, found a damaged one ({error})") from None
    if len(found) > MAX_BYTES:
        raise wrong(source, 0, f"at most {MAX_BYTES >> 20} MiB in the archive", "more")
    return found


def name_of(source: str, index: int) -> str:
    """A name for a puzzle that has none of its own."""
    return labelled(source, "", index, index == 1)


def sniff(head: bytes) -> bool:
    """Whether a file of a folder or an archive is one of ours, judged by its beginning."""
    if head[:4] == ZIP_MAGIC:
        return True
    start = head[:20_000].decode("latin-1").lower()
    if start.lstrip()[:1] in ("<", "{", "["):
        return "coded" in start or '"grid"' in start or '"words"' in start
    return sum(len(line) > 2 and bool(ROW.match(line.strip())) for line in start[:4000].split("\n")) > 1
