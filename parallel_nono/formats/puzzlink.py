"""Addresses of puzz.link, pzv.jp and other pages of pzpr: `https://HOST/p?nonogram/W/H/BODY`, one or many in a file.

The body fills slots: every column has half its cells, rounded up, then every row; within a line from the grid
outwards, so the last number comes first. A hex digit is a number, `-` and two of them a number from 16 on, `.` a blot,
`g` to `z` are 1 to 20 empty slots, which may reach into the next lines. A line without numbers is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import BLOT, Block, Clue, InvalidPuzzle, Puzzle
from . import Format
from .common import links
from .common.text import make, number, only_black, shown, sizes, wrong

TITLE = "a puzz.link address"
HOPE = "an address such as https://puzz.link/p?nonogram/4/3/..."
ADDRESS = re.compile(r"(?:https?://[^\s?#]+\?|[^\s?#]*\?(?=\S*nonogram))?(?:[^\s/&]*&)*([A-Za-z][\w-]*)/(\S*)")
KIND = re.compile(r"(?:https?://[^\s?#]+\?(?:[^\s/&]*&)*[A-Za-z][\w-]*|(?:\S*\?)?nonogram(?:_edit)?)/\S*/")
MAX_NUMBER = 255


def sniff(text: str) -> bool:
    return KIND.match(links.first(text)) is not None


def puzzle_of(address: str, source: str, place: int, name: str, index: int) -> Puzzle:
    """The puzzle of one address. Errors: InvalidPuzzle."""
    found = ADDRESS.fullmatch(address)
    if not found:
        raise wrong(source, place, HOPE, address)
    if found[1].removesuffix("_edit") != "nonogram":
        raise InvalidPuzzle(f"{source}:{place}: expected a nonogram, found another puzzle: {shown(found[1])}")
    parts = found[2].split("/")
    if len(parts) < 2:
        raise wrong(source, place, HOPE, address)
    width, height = (number(part, source, place, "width/height/clues") for part in parts[:2])
    sizes(height, width, source, place)
    lines = _Slots("/".join(parts[2:]).rstrip("/"), source, place)
    columns = [lines.clue((height + 1) // 2) for _ in range(width)]
    rows = [lines.clue((width + 1) // 2) for _ in range(height)]
    if lines.body[lines.at :].strip("ghijklmnopqrstuvwxyz") not in ("", ".", "..."):  # the end of a sentence
        raise wrong(source, place, f"the end after the slots of {width} columns and {height} rows", lines.here())
    return make(rows, columns, source, name=name, index=index)


class _Slots:
    """The slots of a body one after another."""

    def __init__(self, body: str, source: str, place: int) -> None:
        self.body, self.source, self.place = body, source, place
        self.at = 0
        self.empty = 0  # slots still to be skipped

    def here(self) -> str:
        return self.body[self.at :]

    def clue(self, n_slots: int) -> Clue:
        """The numbers of the next `n_slots` slots, in reading order."""
        lengths: list[int] = []
        while n_slots and (self.empty or self.at < len(self.body)):
            if self.empty:
                step = min(self.empty, n_slots)
                self.empty -= step
                n_slots -= step
                continue
            char = self.body[self.at]
            if "g" <= char <= "z":
                self.empty = ord(char) - ord("f")
                self.at += 1
                continue
            lengths.append(self._number(char))
            n_slots -= 1
        if 0 in lengths and len(lengths) > 1:
            raise wrong(self.source, self.place, "`0` alone or lengths from 1", " ".join(map(str, reversed(lengths))))
        return tuple(Block(BLOT if length < 0 else length) for length in reversed(lengths) if length)

    def _number(self, char: str) -> int:
        """The number at this place, -1 for a blot."""
        if char == ".":
            self.at += 1
            return -1
        start, size = (self.at + 1, 2) if char == "-" else (self.at, 1)
        digits = self.body[start : start + size]
        if len(digits) < size or not all(digit in "0123456789abcdef" for digit in digits):
            raise wrong(self.source, self.place, "hex digits, `-` and two of them, `.` or `g` to `z`", self.here())
        self.at = start + size
        return int(digits, 16)


def write(puzzles: Iterable[Puzzle]) -> str:
    return "".join(f"https://puzz.link/p?nonogram/{_path(puzzle)}\n" for puzzle in puzzles)


def _path(puzzle: Puzzle) -> str:
    only_black(puzzle, TITLE)
    body: list[str] = []
    empty = 0
    for clues, cells in ((puzzle.columns, puzzle.height), (puzzle.rows, puzzle.width)):
        n_slots = (cells + 1) // 2
        for clue in clues:
            if len(clue) > n_slots or any(block.length > MAX_NUMBER for block in clue):
                raise InvalidPuzzle(
                    f"{TITLE} carries at most {n_slots} numbers a line of {cells} cells, up to {MAX_NUMBER}, found "
                    f"{shown(' '.join(block.text for block in clue))} in {puzzle.name!r}"
                )
            for block in reversed(clue):
                body.append(_empty(empty) + _digits(block))
                empty = 0
            empty += n_slots - len(clue)
    return f"{puzzle.width}/{puzzle.height}/{''.join(body)}{_empty(empty)}"


def _digits(block: Block) -> str:
    return "." if block.is_blot else f"{block.length:x}" if block.length < 16 else f"-{block.length:02x}"


def _empty(n: int) -> str:
    """`n` empty slots."""
    return "z" * (n // 20) + (chr(ord("f") + n % 20) if n % 20 else "")


FORMAT = Format(
    "puzzlink",
    "Addresses of puzz.link, pzv.jp and other pages of pzpr, one a line; black-white",
    (".url",),
    sniff,
    links.parse,
    write,
    several=True,
    blots=True,
    cut="",
)
