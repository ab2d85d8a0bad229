"""Games as text: a line `N K`, then N letters, `O` for a free cell and `X` for a crossed one; many games to a text.

    # comments and blank lines may stand anywhere
    6 2
    OOOOOO
    11 3 OXOOOxooOOO

Small letters do as well; the strip may follow its header on the same line and may be wrapped. A line that begins with
a digit or a sign is a header, so that a broken game costs no other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from ...formats.common.text import labelled, shown
from ...puzzle import InvalidPuzzle
from .. import FACTS, facts_of, texts

if TYPE_CHECKING:
    from ...files.containers import Source

HEADER = re.compile(r"^[ \t]*[-+0-9]", re.MULTILINE)
NUMBERS = re.compile(r"[ \t]*(\S+)[ \t]+(\S+)[ \t]*")
STRIP = re.compile(r"[OXox]+\Z")
GAME = re.compile(r"\s*(#.*\n\s*)*\d+[ \t]+\d+\s+[OXox]+(\s|\Z)")
HOPE = "a line `N K` such as `6 2`: the cells of a strip and how many a move crosses"
LETTERS = "`O` for a free cell or `X` for a crossed one"

Lines = list[tuple[int, str]]
"""(number from 1, text) of the lines of a file."""


def read(items: list[tuple[str, bytes]]) -> pa.RecordBatch:
    """The games of all texts, in order; a broken one, or a text without any, is a row with its error."""
    from ...formats.common.decode import decode

    rows = []
    for source, data in items:
        try:
            text, warning = decode(data, source)
        except InvalidPuzzle as error:
            rows.append(_broken(source, 1, str(error)))
            continue
        found = list(_rows(text, source, 0, 0, warning))
        rows += found or [_broken(source, 1, f"{source}: expected {HOPE}, found an empty file")]
    return _chunk(rows)


def batches(source: Source) -> Iterator[pa.RecordBatch]:
    """The games of a long text, piece by piece."""
    return texts.batches(source, lambda *piece: _chunk(list(_rows(*piece))), HEADER)


def holds_games(text: str) -> bool:
    """Whether a text begins with a game."""
    return GAME.match(text) is not None


Row = tuple[str, str, int, str, int, int, int, str, str, str, int, str]
"""FACTS, K and the strip in capitals."""


def _chunk(rows: list[Row]) -> pa.RecordBatch:
    facts = facts_of([row[: len(FACTS)] for row in rows])
    take, strip = (
        pa.array([row[place] for row in rows], kind) for place, kind in ((-2, pa.int32()), (-1, pa.string()))
    )
    return pa.RecordBatch.from_arrays([*facts, take, strip], [*FACTS, "take", "strip"])


def _rows(text: str, source: str, lines: int, games: int, warning: str) -> Iterator[Row]:
    """The games of a piece of a text that has so many lines and games before it."""
    for index, block in enumerate(_blocks(text, lines), start=games + 1):
        try:
            take, strip = _game(block, source)
        except InvalidPuzzle as error:
            yield _broken(source, index, str(error))
            continue
        name = labelled(source, "", index, False)
        digest = hashlib.blake2b(f"{take} {strip}".encode(), digest_size=16).hexdigest()
        yield name, source, index, digest, 1, len(strip), 2, "", warning, "", take, strip


def _broken(source: str, index: int, error: str) -> Row:
    return labelled(source, "", index, False), source, index, "", 0, 0, 0, "", "", error, 1, ""


def _blocks(text: str, lines: int) -> Iterator[Lines]:
    """The lines of each game, its header first; what stands before the first header is a game of its own."""
    block: Lines = []
    for number, line in enumerate(text.split("\n"), start=lines + 1):
        if not line or line.isspace() or line.lstrip().startswith("#"):
            continue
        if HEADER.match(line) and block:
            yield block
            block = []
        block.append((number, line))
    if block:
        yield block


def _game(block: Lines, source: str) -> tuple[int, str]:
    """(K, strip) of the lines of a game. Errors: InvalidPuzzle."""
    number, header = block[0]
    numbers = NUMBERS.match(header)
    if not HEADER.match(header) or numbers is None:
        start = len(header) - len(header.lstrip())
        raise _wrong(source, number, start, HOPE, header.strip())
    size = _number(numbers, 1, 0, "a number of cells N", source, number)
    take = _number(numbers, 2, 1, "a number of cells K", source, number)
    pieces = []
    length = end = 0
    for place, (number, line) in enumerate(block):
        at = 0 if place else numbers.end()
        for word in line[at:].split():
            start = line.index(word, at)
            at = start + len(word)
            if not STRIP.match(word):
                odd = next(i for i, letter in enumerate(word) if letter not in "OXox")
                raise _wrong(source, number, start + odd, LETTERS, word[odd])
            if length + len(word) > size:
                raise _wrong(source, number, start + size - length, f"the end of a strip of {size} cells", word)
            length += len(word)
            pieces.append(word)
        end = len(line.rstrip())
    if length < size:
        raise _wrong(source, number, end, f"{size} cells", f"{length}")
    return take, "".join(pieces).upper()


def _number(found: re.Match[str], group: int, least: int, hope: str, source: str, line: int) -> int:
    word = found[group]
    digits = word.removeprefix("+")
    if digits.isascii() and digits.isdecimal() and len(digits) <= 9 and int(digits) >= least:
        return int(digits)
    raise _wrong(source, line, found.start(group), f"{hope} from {least} to 999,999,999", word)


def _wrong(source: str, line: int, at: int, hope: str, found: str) -> InvalidPuzzle:
    return InvalidPuzzle(f"{source}:{line}:{at + 1}: expected {hope}, found {shown(found)}")
