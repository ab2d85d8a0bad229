"""`.jap`, the binary files of QNonograms; black-white, read only.

3 bytes  "TLS"
4 bytes  a checksum, by a rule that nobody wrote down: not checked
1 byte   flags: 80 a goal follows the clues, 40 something nobody reads
2 bytes  width, height
then for each column and each row the number of blocks and their lengths, a byte each; then the goal, a byte a cell

Puzzles may follow one another.
"""

from __future__ import annotations

from ..puzzle import Block, Clue, Puzzle
from . import Format, Parsed
from .common.text import make, wrong
from .rofl import Bytes, one_by_one

MAGIC = b"TLS"
WITH_GOAL, UNKNOWN = 0x80, 0x40


def sniff(data: bytes) -> bool:
    return data.startswith(MAGIC) and len(data) > 10 and not data[7] & ~(WITH_GOAL | UNKNOWN)


def parse(data: bytes, source: str) -> Parsed:
    return one_by_one(data, source, _read, MAGIC)


def _read(rest: Bytes, name: str, index: int) -> Puzzle:
    """The puzzle that comes next."""
    source = rest.source
    magic = rest.take(7, "TLS, a checksum, flags, a width and a height")[:3]
    if magic != MAGIC:
        raise wrong(source, 0, "a file that begins with `TLS`", magic.hex(" "))
    flags, width, height = rest.take(3, "flags, a width and a height")
    if flags & UNKNOWN:
        raise wrong(source, 0, "flags 00 or 80", f"{flags:02x}, whose meaning is not known")
    if not width or not height:
        raise wrong(source, 0, "a width and a height from 1", f"{width} wide and {height} high")
    columns = [_clue(rest, f"column {column}") for column in range(1, width + 1)]
    rows = [_clue(rest, f"row {row}") for row in range(1, height + 1)]
    goal = None
    if flags & WITH_GOAL:
        cells = rest.take(width * height, f"a goal of {width * height} cells")
        goal = tuple(tuple([int(cell > 0) for cell in cells[at : at + width]]) for at in range(0, len(cells), width))
    return make(rows, columns, source, name=name, index=index, goal=goal)


def _clue(rest: Bytes, line: str) -> Clue:
    (n_blocks,) = rest.take(1, f"the number of blocks of {line}")
    lengths = rest.take(n_blocks, f"{n_blocks} lengths of {line}")
    if lengths == b"\0":
        return ()
    if 0 in lengths:
        raise wrong(rest.source, 0, f"lengths of {line} from 1", " ".join(map(str, lengths)))
    return tuple(map(Block, lengths))


FORMAT = Format(
    "jap", "QNonograms' binary `.jap`; black-white, one puzzle", (".jap",), sniff, parse, binary=True, first="T"
)
