"""`.g`, Petr and Mirek Olsak's grid: comment, `#d` colours, `:` row clues, `:` column clues, `:`. Colours.

Many puzzles a file, each with all three lines `:`; only one is written. Only the first column counts for `#d`, `#t` and
`:`. A blank line between two `:` lines is an empty clue. In a colour line `a:x  word  comment` the character before the
colon is the suffix of numbers, the one behind it (which may be a blank) that of pictures; `0` is the background and `1`
the colour of numbers without a suffix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..puzzle import BLACK_AND_WHITE, Clue, Colour, InvalidPuzzle, Palette, Puzzle, letter
from . import Format, Packed, Parsed
from .common.shades import shade
from .common.text import Lines, coloured_clue, labelled, lengths, make, only_one, says_empty, shown, sizes, used, wrong

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
    ends = [place for place, line in enumerate(lines) if line[:1] == ":"]
    _refuse_triddlers(lines, ends, source)
    n_puzzles = max(1, -(-len(ends) // 3))
    for index in range(1, n_puzzles + 1):
        start = ends[3 * index - 4] + 1 if index > 1 else 0
        name = labelled(source, "", index, n_puzzles == 1)
        try:
            yield _puzzle(lines, start, ends[3 * index - 3 :], source, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _refuse_triddlers(lines: list[str], ends: list[int], source: str) -> None:
    """Errors: InvalidPuzzle for `#t` in a head, and for clues behind the third `:`."""
    heads = zip([0, *(end + 1 for end in ends[2::3])], [*ends[::3], len(lines)], strict=False)
    for start, end in heads:
        for place in range(start, end):
            if lines[place][:2].lower() == "#t":
                what = "triddlers (`#t`, triangular cells) are not supported, only rows and columns"
                raise InvalidPuzzle(f"{source}:{place + 1}: {what}")
            if start and end < len(lines) and TOKEN.match(lines[place].strip()):
                raise InvalidPuzzle(f"{source}:{place + 1}: triddlers (more than two sides) are not supported")


def _puzzle(lines: list[str], start: int, ends: list[int], source: str, name: str, index: int) -> Puzzle:
    """The puzzle whose head begins at `start`; ends: the lines with `:` from its first on."""
    head = list(enumerate(lines[: ends[0] if ends else None], start=1))[start:]
    if not ends:
        raise wrong(source, 0, "a line that starts with `:` before the row clues", "none")
    warnings: list[str] = []
    suffixes, palette = _colours(head, source, warnings)
    if len(ends) < 2:
        raise wrong(source, ends[0] + 1, "a second line that starts with `:` before the column clues", "none")
    last = ends[2] if len(ends) > 2 else len(lines)
    while len(ends) == 2 and last > ends[1] + 1 and not lines[last - 1].strip():
        last -= 1  # the end of the file, not empty clues
    sizes(ends[1] - ends[0] - 1, last - ends[1] - 1, source, ends[0] + 1)
    rows, columns = (
        [_clue(lines[place], source, place + 1, suffixes) for place in range(start + 1, end)]
        for start, end in ((ends[0], ends[1]), (ends[1], last))
    )
    palette, rows, columns, _ = used(palette, rows, columns, None)
    return make(rows, columns, source, palette=palette, name=name, index=index, warnings=warnings)


def _colours(head: Lines, source: str, warnings: list[str]) -> tuple[dict[str, int], tuple[Colour, ...]]:
    """Colour index by suffix ("" for none), and the palette, from the lines before the first `:`."""
    start = next((at for at, (_, line) in enumerate(head) if line[:2].lower() == "#d"), None)
    if start is None:
        return {"": 1}, BLACK_AND_WHITE
    suffixes: dict[str, int] = {}
    palette = [BLACK_AND_WHITE[0]]
    warned = {"0"}
    for place, line in head[start + 1 :]:
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


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.parse import olsak
    from .common.quick import pack

    return pack(olsak, texts, declared=_declared)


def _declared(lines: str, _: str) -> Palette | None:
    """The colours of the lines behind `#d`."""
    warnings: list[str] = []
    try:
        palette = _colours(list(enumerate(["#d", *lines.split("\n")], start=1)), "", warnings)[1]
    except InvalidPuzzle:
        return None
    return None if warnings else palette


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
    pack,
    colours=True,
    blots=True,
)
