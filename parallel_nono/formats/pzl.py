"""`.pzl`, the format of Izaron's Nonograms: numbers between white space, line ends mean nothing. Puzzles may
follow one another; only one is written.

Colour: n, n shades `#rrggbb`, then `H W`, then for each row and column the number of its blocks and for each block
`length R G B`. Black-white: `H W`, then the number of blocks and their lengths. The background is white; white may be
an ink as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ..puzzle import BLACK_AND_WHITE, Block, Clue, Colour, InvalidPuzzle, Puzzle, letter, line_name
from . import Format, Parsed
from .common.shades import title_of
from .common.text import (
    MAX_LINE,
    Words,
    balanced,
    begins_with,
    first_fit,
    labelled,
    lengths,
    make,
    only_one,
    shown,
    sizes,
    stem,
    wrong,
)

TITLE = "Izaron's .pzl"
START = re.compile(r"\s*[0-9]{1,5}\s+#[0-9a-fA-F]{6}\b")
LINE = re.compile(r"[^\n]+")
LONGEST_HEADER = re.compile(r"\s*[0-9]{1,6}[ \t]+[0-9]{1,6}[ \t]*\n")


def sniff(text: str) -> bool:
    if START.match(text):
        return True
    found = LONGEST_HEADER.match(text)
    if not found:
        return False
    blocks = 0
    for line in LINE.finditer(text, found.end()):
        words = line[0].split()
        if not words:
            continue
        if not (words[0].isascii() and words[0].isdigit() and int(words[0][:6]) == len(words) - 1):
            return first_fit(text, parse, 2)
        blocks += len(words) - 1
    return blocks > 0


def parse(text: str, source: str) -> Parsed:
    words = Words(text, source)
    index = 0
    while not index or words.goes_on():
        index += 1
        name = labelled(source, "", index, False)
        try:
            puzzle = _puzzle(words, source, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=stem(source) if index == 1 else name, index=index)
            return
        more = words.goes_on()
        if (more or index > 1) and not balanced(puzzle.rows, puzzle.columns):
            hope = f"the end after {puzzle.height} row and {puzzle.width} column clues, whose sums differ"
            rest = words.text[words.at :].split("\n", 1)[0]
            yield InvalidPuzzle(str(wrong(source, words.line, hope, rest)), name=name, index=index)
            return
        yield puzzle if more or index > 1 else replace(puzzle, name=stem(source))


def _puzzle(words: Words, source: str, name: str, index: int) -> Puzzle:
    first = words.number("the number of colours or the height")
    palette = [BLACK_AND_WHITE[0]]
    places: dict[int, int] = {}
    if START.match(words.text, words.at):
        for _ in range(first):
            word = words.next(f"{first} colours such as `#ff0000`")
            if not re.fullmatch(r"#[0-9a-fA-F]{6}", word):
                raise wrong(source, words.line, f"{first} colours such as `#ff0000`", word)
            rgb = int(word[1:], 16)
            if rgb not in places:
                places[rgb] = len(palette)
                palette.append(Colour(title_of(rgb), "", rgb))
        first = words.number("the height")
    width = words.number("the width")
    sizes(first, width, source, words.line)
    clues: list[Clue] = []
    for line in range(first + width):
        side = line_name(line, first)
        n_blocks = words.number(f"the number of blocks of {side}")
        hope, shades = f"{n_blocks} lengths of {side}", f"red, green and blue of a block of {side}"
        clue = _plain_clue(words, n_blocks, places)
        for _ in range(0 if clue else n_blocks):
            length = words.number(hope)
            colour = 1
            if places:
                red, green, blue = words.number(shades), words.number(shades), words.number(shades)
                found = places.get(red << 16 | green << 8 | blue) if max(red, green, blue) < 256 else None
                if found is None:
                    raise wrong(source, words.line, "a colour of the list at the top", f"{red} {green} {blue}")
                colour = found
            clue.append(Block(length, colour))
        if len(clue) == 1 and clue[0].length == 0:
            clue = []
        if any(not 0 < block.length <= MAX_LINE for block in clue):
            raise wrong(source, words.line, f"block lengths of {side} from 1", " ".join(str(b.length) for b in clue))
        clues.append(tuple(clue))
    inks = [Colour(c.name, letter(i, len(palette)), c.rgb) for i, c in enumerate(palette)]
    whole = BLACK_AND_WHITE if len(palette) == 1 or inks[1:] == [BLACK_AND_WHITE[1]] else (palette[0], *inks[1:])
    return make(clues[:first], clues[first:], source, palette=whole, name=name, index=index)


def _plain_clue(words: Words, n_blocks: int, places: dict[int, int]) -> list[Block]:
    """A clue without anything wrong in it, at once; else no word is taken."""
    before = words.at
    found = words.numbers(n_blocks * 4) if places else words.numbers(n_blocks)
    if not found:
        return []
    inks = [1] * n_blocks
    if places:
        shades = zip(found[1::4], found[2::4], found[3::4], strict=True)
        inks = [places.get(r << 16 | g << 8 | b, 0) if max(r, g, b) < 256 else 0 for r, g, b in shades]
        found = found[::4]
    if 0 in inks or 0 in found or max(found) > MAX_LINE:
        words.back_to(before)
        return []
    return list(map(Block, found, inks))


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_one(puzzles, TITLE)
    if puzzle.palette == BLACK_AND_WHITE:
        head = [f"{puzzle.height} {puzzle.width}", ""]
        sides = [[f"{len(clue)} {lengths(clue, empty='')}".strip() for clue in side] for side in _sides(puzzle)]
    else:
        inks = [colour.rgb for colour in puzzle.palette[1:]]
        twice = next((c for c in puzzle.palette[1:] if inks.count(c.rgb) > 1), None)
        if twice:
            raise InvalidPuzzle(
                f"{TITLE} tells colours by their shade, found two inks of #{twice.rgb:06x} ({shown(twice.name)})"
            )
        head = [str(len(inks)), *(f"#{rgb:06x}" for rgb in inks), "", f"{puzzle.height} {puzzle.width}", ""]
        parts = ["", *(f"{rgb >> 16} {rgb >> 8 & 255} {rgb & 255}" for rgb in inks)]
        sides = [
            [" ".join([str(len(clue)), *(f"{b.length} {parts[b.colour]}" for b in clue)]) for clue in side]
            for side in _sides(puzzle)
        ]
    return "\n".join([*head, *sides[0], "", *sides[1]]) + "\n"


def _sides(puzzle: Puzzle) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
    return puzzle.rows, puzzle.columns


FORMAT = Format(
    "pzl",
    "Izaron's Nonograms: colours `#rrggbb`, `H W`, blocks with their shades, or plain numbers; one puzzle",
    (".pzl",),
    sniff,
    parse,
    write,
    colours=True,
    first="0123456789",
    lookalikes=("nin",),
    begins=begins_with(LONGEST_HEADER, parse),
)
