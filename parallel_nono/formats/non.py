"""`.non`, Steve Simpson's format with its children; colours, goals, facts; bundles with `====` lines between puzzles.

`width 4`, `height 3`, then sections `rows` and `columns` with a clue a line, in any order; unknown words are facts of
the puzzle. Colours: `color a #ff0000` and `2a,1b`, or nonny's `color red FF0000 #` and `red 2 blue 1`. An empty line is
`0`; blank lines are clues only if a section has exactly as many lines as it needs with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..puzzle import BLACK_AND_WHITE, Clue, Colour, Grid, InvalidPuzzle, Palette, Puzzle
from . import Format, Packed, Parsed
from .common.shades import distinct, shade
from .common.text import (  # fmt: skip
    Lines,
    black_clue,
    clue_lines,
    coloured_clue,
    goal_of_cells,
    labelled,
    make,
    number,
    numbered,
    says_empty,
    shown,
    sizes,
    stem,
    wrong,
)

if TYPE_CHECKING:
    import pyarrow as pa

TITLE = "Simpson's .non"
SIZES = re.compile(r"^(?:(?:width|height|rows|columns)[ \t]+[0-9]+[ \t]*$|rows[ \t]*$|columns[ \t]*$)", re.MULTILINE)
SIZED = re.compile(r"^(?:width|height)[ \t]+\S", re.MULTILINE)
TOKEN = re.compile(r"([0-9]+|\?)(\D?)")
DIVIDER = re.compile(r"={4,}\Z")
ENTITY = re.compile(r"&[#A-Za-z0-9]+;")
CELLS = re.compile(r"[0-9a-zA-Z. ]+")
NOTED = re.compile(r'# ([a-z][a-z_-]*) (".*")\Z')
"""A fact as a comment."""

KEY = re.compile(r"[a-z][a-z_-]*\Z")
FACTS = ("catalogue", "title", "by", "author", "copyright", "license", "source", "description")
"""Facts that programs know. Others are written as comments, and read back: some readers refuse what they don't know."""

OWN = ("width", "height", "rows", "columns", "color", "colour", "goal", "saved", "title")
LEAST = len("width 1\nheight 1\nrows\n1\ncolumns\n1\n")
"""Characters of the shortest puzzle."""

INKS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def sniff(text: str) -> bool:
    found = SIZES.findall(text)
    return len({line.rstrip() for line in found}) >= 3 or (len(found) >= 2 and SIZED.search(text) is not None)


def parse(text: str, source: str) -> Parsed:
    chunks: list[Lines] = [[]]
    for line in numbered(text):
        if DIVIDER.match(line[1]):
            chunks.append([])
        else:
            chunks[-1].append(line)
    chunks = [chunk for chunk in chunks if any(line and not line.startswith("#") for _, line in chunk)]
    if not chunks:
        raise wrong(source, 0, "a puzzle", "none in the file")
    for index, chunk in enumerate(chunks, start=1):
        name = labelled(source, "", index, len(chunks) == 1)
        try:
            yield _puzzle(chunk, source, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=error.name or name, index=index)


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.parse import non
    from .common.quick import pack

    return pack(non, texts, LEAST, facts=True, said=_with_entities)


@dataclass(slots=True)
class _Inks:
    """The colours of a puzzle as they turn up, by letter or by name."""

    colours: list[Colour] = field(default_factory=lambda: [BLACK_AND_WHITE[0]])
    places: dict[str, int] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)

    def place(self, sign: str) -> int:
        if sign not in self.places:
            self.places[sign] = len(self.colours)
            rgb = 0 if sign == "1" else distinct(len(self.colours))
            title = BLACK_AND_WHITE[1].name if sign == "1" else sign
            self.colours.append(Colour(title, BLACK_AND_WHITE[1].char if sign == "1" else sign[:1], rgb))
        return self.places[sign]


def _puzzle(lines: Lines, source: str, name: str, index: int) -> Puzzle:
    """One puzzle of Simpson's grammar."""
    facts: list[tuple[str, str]] = []
    sized: dict[str, int] = {}
    sections: dict[str, Lines] = {}
    inks = _Inks()
    goal: tuple[int, str] | None = None
    at = 0
    while at < len(lines):
        place, line = lines[at]
        at += 1
        noted = NOTED.match(line)
        if noted and noted[1] not in OWN:
            facts.append((noted[1], _unquoted(noted[2])))
        if not line or line.startswith("#"):
            continue
        word, value = ([*line.split(None, 1), ""])[:2]
        key = word.lower()
        if key in ("rows", "columns", "row", "column", "cols") and not value:
            key = "rows" if key.startswith("r") else "columns"
            if key in sections:
                raise wrong(source, place, f"one section `{key}`", "a second one")
            section = sections[key] = []
            while at < len(lines) and not _ends_section(lines[at][1], inks):
                if not lines[at][1].startswith("#"):
                    section.append(lines[at])
                at += 1
        elif key in ("width", "columns", "height", "rows") and value:
            sized["width" if key in ("width", "columns") else "height"] = number(value, source, place, f"a {key}")
        elif key in ("color", "colour"):
            _declare(inks, value, source, place)
        elif key == "goal":
            cells = _unquoted(value)
            if not value.startswith('"'):
                while at < len(lines) and _goes_on(lines[at][1]):
                    cells += lines[at][1]
                    at += 1
            goal = goal or (place, "".join(cells.split()))
        elif key == "title":
            name = _unquoted(value) or name
            facts.append((key, _unquoted(value)))
        elif not word[0].isalpha():
            raise wrong(source, place, "a word such as `title` or `rows` before its value, or clues behind it", line)
        elif key != "saved":
            facts.append((key if KEY.match(key) else word, _unquoted(value)))
    if len(sized) < 2:
        missing = " and ".join(key for key in ("width", "height") if key not in sized)
        raise InvalidPuzzle(f"{source}: expected `width` and `height`, found no {missing}", name=name)
    height, width = sized["height"], sized["width"]
    try:
        sizes(height, width, source)
        sides: list[list[Clue]] = []
        warnings: list[str] = []
        text = "\n".join(line for section in sections.values() for _, line in section)
        coloured = len(inks.colours) > 1 or re.search(r"[0-9?][A-Za-z]", text) is not None
        for key, wanted in (("rows", height), ("columns", width)):
            if key not in sections:
                raise InvalidPuzzle(f"{source}: expected a section `{key}`, found none")
            chosen = clue_lines(sections[key], wanted, source, key.removesuffix("s"))
            sides.append([_clue(line, place, inks, source, coloured, warnings) for place, line in chosen])
        inked = inks.colours
        palette = tuple(inked) if coloured and len(inked) > 1 else BLACK_AND_WHITE
        grid = None if goal is None else _goal(goal, palette, inks, height, width, source)
        return make(
            sides[0],
            sides[1],
            source,
            palette=palette,
            name=name,
            index=index,
            metadata=facts,
            goal=grid,
            warnings=warnings,
        )
    except InvalidPuzzle as error:
        raise InvalidPuzzle(str(error), name=name) from None


def _ends_section(line: str, inks: _Inks) -> bool:
    """True at the word that opens what follows a section; a clue may begin with the name of a colour."""
    return line[:1].isalpha() and line.split()[0] not in inks.declared


def _goes_on(line: str) -> bool:
    """True for a further line of a goal without quotes: characters of cells, one of them 0, 1 or a dot."""
    return bool(CELLS.fullmatch(line)) and any(cell in line for cell in "01.")


def _declare(inks: _Inks, value: str, source: str, place: int) -> None:
    """`a #ff0000`, or `red FF0000 #`."""
    words = value.split()
    rgb = shade(words[1]) if len(words) > 1 else None
    if rgb is None:
        raise wrong(source, place, "a colour such as `color a #ff0000`", f"color {value}")
    sign = words[0]
    if sign in ("0", "."):
        inks.colours[0] = Colour(BLACK_AND_WHITE[0].name, BLACK_AND_WHITE[0].char, rgb)
        return
    if sign in inks.places:
        raise wrong(source, place, "each colour once", f"color {value}")
    inks.places[sign] = len(inks.colours)
    inks.declared.add(sign)
    inks.colours.append(Colour(sign, words[2][:1] if len(words) > 2 else sign[:1], rgb))


def _clue(text: str, place: int, inks: _Inks, source: str, coloured: bool, warnings: list[str]) -> Clue:
    words = text.replace(",", " ").split()
    if not coloured:
        return black_clue([_number_only(word) for word in words], source, place)
    if says_empty(words):
        return ()
    parts = []
    current = ""
    for word in words:
        if word in inks.declared:
            current = word
            continue
        found = TOKEN.match(word)
        if not found:
            raise wrong(source, place, "lengths such as `2a` or `2`", word)
        sign = found[2]
        if not sign.isalnum() and sign not in inks.places:
            sign = ""
        if not sign and not current:
            note = "a number without a colour among others with one: taken as black"
            if note not in warnings:
                warnings.append(note)
        parts.append((found[1], inks.place(sign or current or "1")))
    return coloured_clue(parts, source, place, text)


def _number_only(word: str) -> str:
    """A number without what follows it: readers pass over characters that they don't know."""
    found = re.match(r"([0-9]+)[^0-9?]*\Z", word)
    return found[1] if found else word


def _goal(goal: tuple[int, str], palette: Sequence[Colour], inks: _Inks, height: int, width: int, source: str) -> Grid:
    place, cells = goal
    if palette == BLACK_AND_WHITE:
        chars = {cell: 0 if cell in "0.-" else 1 for cell in cells}
    else:
        chars = {colour.char: c for c, colour in reversed(list(enumerate(palette))) if c}
        chars |= {sign: c for sign, c in inks.places.items() if len(sign) == 1}
        chars |= {"0": 0, ".": 0}
    return goal_of_cells(cells, chars, height, width, source, place)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value.startswith('"'):
        end = value.rfind('"')
        value = value[1:end] if end > 0 else value[1:]
        value = re.sub(r"\\(.)", r"\1", value)
    return _with_entities(value)


def _with_entities(text: str) -> str:
    """A text with what entities stand for."""
    if ENTITY.search(text):
        from html import unescape

        text = unescape(text)
    return text


def write(puzzles: Iterable[Puzzle]) -> str:
    texts = []
    for puzzle in puzzles:
        signs = _signs(puzzle.palette, puzzle.name)
        marks = [""] * 2 if puzzle.palette == BLACK_AND_WHITE else signs
        sides = (
            (",".join(f"{block.text}{marks[block.colour]}" for block in clue) or "0" for clue in clues)
            for clues in (puzzle.rows, puzzle.columns)
        )
        goal = None if puzzle.goal is None else "".join(signs[cell] for row in puzzle.goal for cell in row)
        texts.append(_text(puzzle.name or stem(puzzle.source), puzzle.metadata, puzzle.palette, signs, sides, goal))
    return "====\n".join(texts)


def write_sets(batches: Iterable[pa.RecordBatch]) -> str:
    """`write` for sets with all their columns and without errors; no object is made for a block."""
    return "====\n".join(_text_at(batch, place) for batch in batches for place in range(batch.num_rows))


def _text_at(batch: pa.RecordBatch, place: int) -> str:
    import numpy as np

    from ..puzzleset import clues_of, facts_at

    clues = clues_of(batch.slice(place, 1))
    name, source, metadata, palette = facts_at(batch, place)
    signs = _signs(palette, name)
    marks = None if palette == BLACK_AND_WHITE else signs

    def clue(line: int) -> str:
        here = slice(clues.block_starts[line], clues.block_starts[line + 1])
        lengths = [str(length) if length else "?" for length in clues.lengths[here].tolist()]
        if marks:
            lengths = [text + marks[c] for text, c in zip(lengths, clues.colours[here].tolist(), strict=True)]
        return ",".join(lengths) or "0"

    first, last = int(clues.line_starts[0]), int(clues.line_starts[1])
    middle = first + int(clues.heights[0])
    goal = batch.column("goal")[place]
    cells = None
    if goal.is_valid:
        codes = np.array([ord(sign) for sign in signs], np.uint8)
        cells = codes[goal.values.to_numpy(zero_copy_only=True)].tobytes().decode()
    sides = (map(clue, range(start, stop)) for start, stop in ((first, middle), (middle, last)))
    return _text(name or stem(source), metadata, palette, signs, sides, cells)


def _signs(palette: Palette, name: str) -> list[str]:
    """The sign of each colour. Errors: InvalidPuzzle if there are more than letters."""
    if palette == BLACK_AND_WHITE:
        return ["0", "1"]
    if len(palette) - 1 > len(INKS):
        raise InvalidPuzzle(f"{TITLE} carries at most {len(INKS)} colours, found {len(palette) - 1} in {shown(name)}")
    return ["0", *INKS[: len(palette) - 1]]


def _text(
    title: str,
    metadata: Iterable[tuple[str, str]],
    palette: Palette,
    signs: Sequence[str],
    sides: Iterable[Iterable[str]],
    goal: str | None,
) -> str:
    """A puzzle as text; sides: the clues of the rows and of the columns."""
    clues = [list(side) for side in sides]
    lines = [f"title {_quoted(title)}"]
    lines += [
        f"{'' if key in FACTS else '# '}{key} {_quoted(text)}"
        for key, text in metadata
        if KEY.match(key) and key not in OWN
    ]
    lines += [f"width {len(clues[1])}", f"height {len(clues[0])}"]
    if palette != BLACK_AND_WHITE:
        if palette[0].rgb != BLACK_AND_WHITE[0].rgb:
            lines.append(f"color 0 #{palette[0].rgb:06x}")
        lines += [f"color {signs[c]} #{colour.rgb:06x}" for c, colour in enumerate(palette) if c]
    for key, side in zip(("rows", "columns"), clues, strict=True):
        lines += ["", key, *side]
    if goal is not None:
        lines += ["", f'goal "{goal}"']
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    value = " ".join(value.split()).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{value}"'


FORMAT = Format(
    "non",
    "Simpson's .non with colours, goals and facts, bundles with `====`",
    (".non", ".nonpack"),
    sniff,
    parse,
    write,
    pack,
    colours=True,
    several=True,
    blots=True,
    cut="====",
    write_sets=write_sets,
)
