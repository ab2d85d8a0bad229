"""`.g`, Petr and Mirek Olsak's grid: comment, `#d` colours, `:` row clues, `:` column clues, `:`. One puzzle, colours.

Only the first column counts for `#d`, `#t` and `:`. A blank line between two `:` lines is an empty clue. In a colour
line `a:x  word  comment` the character before the colon is the suffix of numbers, the one behind it (which may be a
blank) that of pictures; `0` is the background and `1` the colour of numbers without a suffix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import BLACK_AND_WHITE, Clue, Colour, InvalidPuzzle, Puzzle, letter
from . import Format, Parsed
from .shades import shade
from .text import coloured_clue, lengths, make, only_one, says_empty, shown, sizes, stem, used, wrong

TITLE = "Olsak's .g"
COLOUR = re.compile(r"[ \t]*([^\s:]|:(?=:)):(.)[ \t]*(\S+)[ \t]*(.*)\Z")
TOKEN = re.compile(r"([0-9]+|\?)([^\s0-9,?]?)")


def sniff(text: str) -> bool:
    if ":" not in text:
        return False
    lines = text.split("\n")
    starts = [place for place, line in enumerate(lines) if line[:1] == ":"]
    if len(starts) < 2:
        return any(line[:2] in ("#d", "#D", "#t", "#T") for line in lines) and bool(starts)
    return not any(line.strip(" \t")[:1].isalpha() for line in lines[starts[0] + 1 : starts[1]])


def parse(text: str, source: str) -> Parsed:
    lines = [line.rstrip() if line[:1] == ":" else line.rstrip("\n") for line in text.split("\n")]
    first = next((place for place, line in enumerate(lines) if line[:1] == ":"), None)
    head = lines[:first]
    for place, line in enumerate(head, start=1):
        if line[:2].lower() == "#t":
            raise InvalidPuzzle(
                f"{source}:{place}: triddlers (`#t`, triangular cells) are not supported, only rows and columns"
            )
    if first is None:
        raise wrong(source, 0, "a line that starts with `:` before the row clues", "none")
    warnings: list[str] = []
    suffixes, palette = _colours(head, source, warnings)
    ends = [place for place, line in enumerate(lines) if line[:1] == ":"]
    if len(ends) < 2:
        raise wrong(source, ends[0] + 1, "a second line that starts with `:` before the column clues", "none")
    if len(ends) > 3 and any(TOKEN.match(line.strip()) for line in lines[ends[2] + 1 : ends[3]]):
        raise InvalidPuzzle(f"{source}:{ends[2] + 1}: triddlers (more than two sides) are not supported")
    last = ends[2] if len(ends) > 2 else len(lines)
    while len(ends) == 2 and last > ends[1] + 1 and not lines[last - 1].strip():
        last -= 1  # the end of the file, not empty clues
    sizes(ends[1] - ends[0] - 1, last - ends[1] - 1, source, ends[0] + 1)
    rows, columns = (
        [_clue(lines[place], source, place + 1, suffixes) for place in range(start + 1, end)]
        for start, end in ((ends[0], ends[1]), (ends[1], last))
    )
    palette, rows, columns, _ = used(palette, rows, columns, None)
    yield make(rows, columns, source, palette=palette, name=stem(source), warnings=warnings)


def _colours(head: list[str], source: str, warnings: list[str]) -> tuple[dict[str, int], tuple[Colour, ...]]:
    """Colour index by suffix ("" for none), and the palette, from the lines before the first `:`."""
    start = next((place for place, line in enumerate(head) if line[:2].lower() == "#d"), None)
    if start is None:
        return {"": 1}, BLACK_AND_WHITE
    suffixes: dict[str, int] = {}
    palette = [BLACK_AND_WHITE[0]]
    warned = {"0"}
    for place, line in enumerate(head[start + 1 :], start=start + 2):
        if not line.strip():
            continue
        found = COLOUR.match(line)
        if not found:
            raise wrong(source, place, "a colour such as `a:#  #ff0000  red`", line.strip())
        suffix, char, word, comment = found.groups()
        if "/" in word or "\\" in word or suffix in "/\\":
            raise InvalidPuzzle(f"{source}:{place}: triangles (cells of two colours) are not supported")
        rgb = shade(word)
        name = comment.split()[0] if word.startswith("#") and comment.split() else word
        if rgb is None:
            warnings.append(
                f"line {place}: the colour {shown(word)} is not known: shown as {'white' if suffix == '0' else 'black'}"
            )
        if suffix == "0":
            palette[0] = Colour(name, char.strip() or ".", 0xFFFFFF if rgb is None else rgb)
            continue
        if suffix in suffixes or suffix in warned or (suffix.isdigit() and suffix not in "16"):
            raise wrong(source, place, "another character before each colon, no digit but 0 and 1", line.strip())
        suffixes["" if suffix == "1" else suffix] = len(palette)
        palette.append(Colour(name, char.strip() or suffix, 0 if rgb is None else rgb))
    if len(palette) == 1:
        return {"": 1}, BLACK_AND_WHITE
    return suffixes, tuple(palette)


def _clue(line: str, source: str, place: int, suffixes: dict[str, int]) -> Clue:
    parts = []
    at = 0
    line = line.replace(",", " ").strip()
    if says_empty(line.split()):
        return ()
    while at < len(line):
        found = TOKEN.match(line, at)
        if not found:
            raise wrong(source, place, "numbers with the suffix of a colour", line)
        at = found.end()
        while at < len(line) and line[at] in " \t":
            at += 1
        suffix = found[2]
        if suffix not in suffixes:
            if suffix in "/\\" and suffix:
                raise InvalidPuzzle(f"{source}:{place}: triangles (cells of two colours) are not supported")
            hope = f"a colour among {', '.join(s for s in suffixes if s) or 'none'} behind each number"
            raise wrong(source, place, hope, found[0])
        parts.append((found[1], suffixes[suffix]))
    return coloured_clue(parts, source, place, line)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_one(puzzles, TITLE)
    lines = ["  " + " ".join(puzzle.name.split())]
    if puzzle.palette == BLACK_AND_WHITE:
        sides = [[lengths(clue, empty="") for clue in clues] for clues in (puzzle.rows, puzzle.columns)]
    else:
        signs = ["0", *(letter(c, 3) for c in range(1, puzzle.n_colours))]
        lines.append("#d")
        for sign, colour in zip(signs, puzzle.palette, strict=True):
            title = " ".join(colour.name.split())
            lines.append(f"   {sign}:{'.' if sign == '0' else sign}  #{colour.rgb:06x}  {title}")
        sides = [
            [" ".join(f"{b.text}{signs[b.colour]}" for b in clue) for clue in clues]
            for clues in (puzzle.rows, puzzle.columns)
        ]
    return "\n".join([*lines, ": rows", *sides[0], ": columns", *sides[1], ": end"]) + "\n"


FORMAT = Format(
    "olsak",
    "Petr and Mirek Olsak's grid (.g): colours after `#d`, `:` row clues, `:` column clues; one puzzle",
    (".g",),
    sniff,
    parse,
    write,
    colours=True,
    blots=True,
)
