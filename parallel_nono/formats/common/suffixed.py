"""What nonogrid's TOML and pynogram's INI share: the text of clues, `2a 1b, 3` or one a line, and of colours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...puzzle import BLACK_AND_WHITE, Clue, Colour, Puzzle, letter
from .gaps import without_gaps
from .shades import shade
from .text import Lines, coloured_clue, make, says_empty, sizes, used, wrong

COLOUR = re.compile(r"\s*([^\s=0-9]\S*?)\s*=\s*\((.*?)\)\s*(\S?)\s*\Z")
TOKEN = re.compile(r"([0-9]+|\?)(\D\S*)?\Z")
DEFAULT = "black"
LONGEST_COLOUR = 200


def without_comment(line: str) -> str:
    """A line of clues up to `#` or `;`."""
    return re.split("[#;]", line, maxsplit=1)[0].strip()


def entries(lines: Lines) -> Lines:
    """Clues as text, one an item: parted by commas and line ends, quotes taken off; "" for a blank line.

    Nothing between commas is nothing, for a line may end with one; nothing between quotes is an empty line.
    """
    found = []
    for place, line in lines:
        if not line.strip():
            found.append((place, ""))
        for part in without_comment(line).split(","):
            clue = part.strip()
            quoted = clue[:1] in ("'", '"') and clue.strip("'\" \t") == ""
            clue = "0" if quoted else clue.strip("'\"").strip()
            if clue:
                found.append((place, clue))
    return found


def puzzle_of(rows: Lines, columns: Lines, colours: Lines, source: str, told: Sequence[str] = ()) -> Puzzle:
    """The puzzle of two lists of clues and a list of colours such as `a = (blue) *`; `told` are warnings."""
    suffixes: dict[str, int] = {}
    palette = [BLACK_AND_WHITE[0]]
    for place, line in colours:
        found = COLOUR.match(line) if len(line) <= LONGEST_COLOUR else None
        if not found:
            raise wrong(source, place, "a colour such as `a = (blue) *`", line)
        suffix, words, char = found.groups()
        rgb = shade(words)
        if rgb is None:
            raise wrong(source, place, "a colour name, `r, g, b` or `rrggbb` in brackets", words)
        if suffix in suffixes:
            raise wrong(source, place, "each colour once", suffix)
        suffixes[suffix] = len(palette)
        palette.append(Colour(suffix, char or letter(len(palette), 3), rgb))
    default = suffixes.get(DEFAULT, len(palette))
    if default == len(palette):
        palette.append(Colour(DEFAULT, BLACK_AND_WHITE[1].char, 0))
    sizes(len(rows), len(columns), source)
    row_clues, column_clues, warnings = without_gaps(
        rows,
        columns,
        lambda side: [_clue(words, source, place, suffixes, default) for place, words in side],
        len(palette),
    )
    whole, row_clues, column_clues, _ = used(tuple(palette), row_clues, column_clues, None)
    if [colour.rgb for colour in whole] == [0xFFFFFF, 0]:
        whole = BLACK_AND_WHITE
    return make(row_clues, column_clues, source, palette=whole, warnings=[*told, *warnings])


def _clue(text: str, source: str, place: int, suffixes: dict[str, int], default: int) -> Clue:
    words = text.split()
    if says_empty(words):
        return ()
    parts = []
    for word in words:
        found = TOKEN.match(word)
        if not found:
            raise wrong(source, place, "lengths such as `3` or `3a`", word)
        suffix = found[2] or ""
        colour = suffixes.get(suffix, suffixes.get(suffix.lower())) if suffix else default
        if colour is None:
            raise wrong(source, place, f"a colour among {', '.join(suffixes) or 'none'}", suffix)
        parts.append((found[1], colour))
    return coloured_clue(parts, source, place, text)


def written(puzzle: Puzzle, suffixes: list[str]) -> tuple[list[str], list[str], list[str]]:
    """(colour lines, row clues, column clues) as text."""
    plain = puzzle.palette == BLACK_AND_WHITE
    sides = [
        [" ".join(f"{b.text}{'' if plain else suffixes[b.colour]}" for b in clue) or "0" for clue in clues]
        for clues in (puzzle.rows, puzzle.columns)
    ]
    signs: Iterable[tuple[int, Colour]] = () if plain else list(enumerate(puzzle.palette))[1:]
    colours = [f"{suffixes[c]} = ({colour.rgb:06X}) {letter(c, 3)}" for c, colour in signs]
    return colours, sides[0], sides[1]
