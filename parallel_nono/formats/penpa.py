"""Addresses of Penpa and Penpa+: `...#m=edit&p=DATA`, one or many in a file.

DATA is base64 of raw deflate of lines of text. The first says `square,NX,NY,...`, the second the space around the board
[top, bottom, left, right], the fourth, JSON with two-letter keys, what the setter wrote. Penpa has no puzzle types: a
nonogram is numbers in the space above and left of the board, read from the board outwards up to the first gap.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterable
from typing import Any

from ..puzzle import Clue, InvalidPuzzle, Puzzle
from . import Format
from .common import links
from .common.text import black_clue, make, number, only_black, sizes, wrong

TITLE = "Penpa"
DATA = re.compile(r"[#?&]p=([^&\s]*)")
SHORT = re.compile(r'"(?:[^"\\]|\\.)*"|z[0-9A-Z_]')
SHAPES = ("square", "sudoku", "kakuro")
BORDER = 2
"""Cells around everything that can't be used."""

MAX_TEXT = 16 << 20
CELL_SIZE = 38

MODE = '{z9:zA,zG:["1","2","1"],zQ:{zM:zN,zS:["",4],zN:["1",1]},zA:{zM:zS,zS:["",2],zN:["1",2]}}'
LAYER = (
    "{zR:{z_:[]},zU:{z_:[]},z8:{z_:[]},zS:{},zN:%s,z1:{},zY:{},zF:{},z2:{},zT:[],z3:[],zD:[],z0:[],z5:[],zL:{},zE:{},"
    "zW:{},zC:{},z4:{},z6:[],z7:[]}"
)
LAST = '["Surface","Number Normal"]', "{}", '"x"', '"x"', "[3,1,4]", MODE, '"x"', "0", ""
"""What Penpa+ 3.1 writes for a drawing without anything special: settings, the two layers, the end."""


def sniff(text: str) -> bool:
    address = links.first(text)
    return any(sign in address for sign in links.PENPA) and DATA.search(address) is not None


def puzzle_of(address: str, source: str, place: int, name: str, index: int) -> Puzzle:
    """The puzzle of one address. Errors: InvalidPuzzle."""
    lines = _unpacked(address, source, place).split("\n")
    head = lines[0].split(",")
    if len(lines) < 4 or head[0] not in SHAPES or len(head) < 3:
        raise wrong(source, place, "Penpa data of a square board", lines[0])
    space, numbers = _json(lines[1], source, place), _json(lines[3], source, place)
    if not _is_space(space):
        raise wrong(source, place, "the space around the board [top, bottom, left, right]", lines[1])
    top, bottom, left, right = space
    width = number(head[1], source, place, "a width") - left - right
    height = number(head[2], source, place, "a height") - top - bottom
    sizes(height, width, source, place)
    numbers = numbers.get("zN") if isinstance(numbers, dict) else None
    if not isinstance(numbers, dict):
        raise wrong(source, place, "numbers `zN` in the layer of the setter", lines[3])
    wide = left + width + right + 2 * BORDER
    high = top + height + bottom + 2 * BORDER
    words: dict[tuple[int, int], str] = {}  # by row and column of the board: negative ones lie in the space
    for key, value in numbers.items():
        if not (key.isascii() and key.isdigit() and len(key) < 12) or int(key) >= wide * high:
            continue  # at a corner or an edge of a cell
        row, column = divmod(int(key), wide)
        words[row - BORDER - top, column - BORDER - left] = str(value[0]) if isinstance(value, list) and value else ""
    columns = [_clue([words.get((-step, c), "") for step in range(1, top + 1)], source, place) for c in range(width)]
    rows = [_clue([words.get((r, -step), "") for step in range(1, left + 1)], source, place) for r in range(height)]
    if not any(words.get((r, c)) for r, c in words if (r < 0) != (c < 0)):
        raise wrong(source, place, "numbers in the space above and left of the board", "none")
    facts = [
        (key, text.partition(":")[2].replace("%2C", ",").strip())
        for key, text in zip(("title", "author"), head[15:17], strict=False)
    ]
    facts = [(key, value) for key, value in facts if value]
    return make(rows, columns, source, name=dict(facts).get("title") or name, index=index, metadata=facts)


def _unpacked(address: str, source: str, place: int) -> str:
    from urllib.parse import unquote

    found = DATA.search(address)
    packed = unquote(found[1]) if found else ""
    packed = packed.replace("-", "+").replace("_", "/").replace(" ", "+").rstrip("=")
    unpacker = zlib.decompressobj(-15)
    try:
        data = unpacker.decompress(base64.b64decode(packed + "=" * (-len(packed) % 4), validate=True), MAX_TEXT)
        if not unpacker.eof:
            why = "cut off" if len(data) < MAX_TEXT else f"of more than {MAX_TEXT >> 20} MiB"
            raise InvalidPuzzle(f"{source}:{place}: expected a whole Penpa address, found one whose data are {why}")
        return data.decode()
    except (binascii.Error, zlib.error, ValueError) as error:
        if isinstance(error, InvalidPuzzle):
            raise
        raise InvalidPuzzle(
            f"{source}:{place}: expected Penpa data (base64 of deflate), found damaged ones ({error})"
        ) from None


def _json(text: str, source: str, place: int) -> Any:
    """JSON whose keys may be Penpa's two letters without quotes."""

    import json

    def whole(found: re.Match[str]) -> str:
        return found[0] if found[0][0] == '"' else "null" if found[0] == "zO" else f'"{found[0]}"'

    try:
        return json.loads(SHORT.sub(whole, text))
    except (ValueError, RecursionError):
        raise wrong(source, place, "JSON in the Penpa data", text) from None


def _is_space(space: Any) -> bool:
    return isinstance(space, list) and len(space) == 4 and all(type(n) is int and 0 <= n < 100_000 for n in space)


def _clue(outwards: list[str], source: str, place: int) -> Clue:
    """The clue whose words stand in a line, the one at the board first."""
    end = outwards.index("") if "" in outwards else len(outwards)
    return black_clue(outwards[:end][::-1], source, place)


def write(puzzles: Iterable[Puzzle]) -> str:
    return "".join(f"https://swaroopg92.github.io/penpa-edit/#m=edit&p={_data(puzzle)}\n" for puzzle in puzzles)


def _data(puzzle: Puzzle) -> str:
    import json

    only_black(puzzle, TITLE)
    top, left = (max(1, *map(len, side)) for side in (puzzle.columns, puzzle.rows))
    nx, ny = left + puzzle.width, top + puzzle.height
    wide = nx + 2 * BORDER
    corner = (top + BORDER) * wide + left + BORDER  # the first cell of the board
    numbers: dict[str, list[object]] = {}
    for side, along, outwards in ((puzzle.columns, 1, wide), (puzzle.rows, wide, 1)):
        for place, clue in enumerate(side):
            words = [block.text for block in reversed(clue)] or ["0"]
            for step, word in enumerate(words, start=1):
                numbers[str(corner + place * along - step * outwards)] = [word, 1, "1"]
    steps = ([1] * (puzzle.width - 1) + [wide - puzzle.width + 1]) * puzzle.height
    cells = [corner, *steps[:-1]]
    title = puzzle.name.replace(",", "%2C")
    author = dict(puzzle.metadata).get("author", "").replace(",", "%2C")
    middle = _middle(nx, ny)
    lines = (
        f"square,{nx},{ny},{CELL_SIZE},0,1,1,{(nx + 1) * CELL_SIZE},{(ny + 1) * CELL_SIZE},{middle},{middle},0,0,0,0,"
        f"Title: {title},Author: {author},,,OFF,false",
        f"[{top},0,{left},0]",
        MODE,
        LAYER % json.dumps(numbers, separators=(",", ":")),
        LAYER % "{}",
        json.dumps(cells, separators=(",", ":")),
        *LAST,
    )
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress("\n".join(line.replace("\n", " ") for line in lines).encode()) + packer.flush()
    return base64.b64encode(packed).decode()


def _middle(nx: int, ny: int) -> int:
    """Penpa's number of the point in the middle: centres of cells come first, then corners, then two kinds of edges."""
    wide, high = nx + 2 * BORDER, ny + 2 * BORDER
    kind = (1, 2, 3, 0)[nx % 2 + 2 * (ny % 2)]
    return kind * wide * high + (high - 1) // 2 * wide + (wide - 1) // 2


FORMAT = Format(
    "penpa",
    "Addresses of Penpa and Penpa+ with numbers in the margin, one a line; black-white",
    (".penpa.url", ".penpa"),
    sniff,
    links.parse,
    write,
    several=True,
    blots=True,
    cut="",
)
