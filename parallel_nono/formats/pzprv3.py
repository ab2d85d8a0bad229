"""pzprv3, the files of puzz.link and its relatives: `pzprv3/nonogram/H/W/`, then the board as a table.

Above the grid half as many lines as it has, rounded up, hold the clues of the columns; to its left half as many words
as it is wide, rounded up, hold those of the rows. `.` is nothing, `c3` a 3 that somebody crossed out, `-2` a blot.
Lines end with `/` or a line end. What stands in the grid itself is what somebody has played: it is no solution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import BLOT, Block, Clue, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.text import black_clue, labelled, make, number, only_black, shown, sizes, wrong

TITLE = "pzprv3"
START = re.compile(r"^[ \t]*pzprv3(?:\.\d+)?[ \t]*[/\n]", re.MULTILINE)
NOTHING = (".", "")
BLOTS = ("-2", "-", "?")


def sniff(text: str) -> bool:
    return START.match(text.lstrip()) is not None


def parse(text: str, source: str) -> Parsed:
    starts = [found.start() for found in START.finditer(text)]
    if not starts:
        raise wrong(source, 0, "pzprv3/nonogram/HEIGHT/WIDTH/...", text.lstrip()[:60])
    place, before = 1, 0
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True), start=1):
        name = labelled(source, "", index, len(starts) == 1)
        place += text.count("\n", before, start)
        before = start
        try:
            yield _puzzle(text[start:end], source, place, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _puzzle(text: str, source: str, first: int, name: str, index: int) -> Puzzle:
    lines: list[tuple[int, str]] = []
    for place, line in enumerate(text.split("\n"), start=first):
        lines += [(place, part.strip()) for part in line.split("/") if part.strip()]
    words = [words for _, words in lines]
    kind = words[1] if len(words) > 1 else ""
    if kind != "nonogram":
        raise InvalidPuzzle(f"{source}:{first}: expected a nonogram, found another puzzle: {shown(kind)}")
    if len(words) < 4:
        raise wrong(source, first, "pzprv3/nonogram/HEIGHT/WIDTH/...", "/".join(words))
    height, width = (number(word, source, first, "a height and a width") for word in words[2:4])
    sizes(height, width, source, first)
    above, left = (height + 1) // 2, (width + 1) // 2
    table = lines[4 : 4 + above + height]
    behind = lines[4 + above + height :]
    another = next((place for place, line in behind if "pzprv3" in line), 0)
    if another:
        raise wrong(source, another, "another `pzprv3` at the beginning of a line", "it within a line")
    rest = [line for _, line in behind if len(line.split()) == left + width > 1]
    if len(table) < above + height or rest:
        place = next((place for place, line in behind if line in rest), first)
        found = f"{len(table) + len(rest)} lines"
        raise wrong(source, place, f"{above + height} lines of a board {height} high", found)
    cells: list[list[str]] = []
    for place, line in table:
        cells.append(line.split())
        if len(cells[-1]) != left + width:
            raise wrong(source, place, f"{left + width} words of a board {width} wide", f"{len(cells[-1])} words")
    columns = [
        _clue([cells[row][left + column] for row in range(above)], source, table[0][0]) for column in range(width)
    ]
    rows = [_clue(row[:left], source, place) for row, (place, _) in zip(cells[above:], table[above:], strict=True)]
    return make(rows, columns, source, name=name, index=index)


def _clue(words: list[str], source: str, place: int) -> Clue:
    full = [word.removeprefix("c") for word in words if word not in NOTHING]
    return black_clue(["?" if word in BLOTS else word for word in full], source, place)


def write(puzzles: Iterable[Puzzle]) -> str:
    return "".join(_text(puzzle) for puzzle in puzzles)


def _text(puzzle: Puzzle) -> str:
    only_black(puzzle, TITLE)
    above, left = (puzzle.height + 1) // 2, (puzzle.width + 1) // 2
    columns = [_column(clue, above, puzzle) for clue in puzzle.columns]
    lines = [["."] * left + [column[row] for column in columns] for row in range(above)]
    lines += [_column(clue, left, puzzle) + ["."] * puzzle.width for clue in puzzle.rows]
    head = f"pzprv3/nonogram/{puzzle.height}/{puzzle.width}/"
    return head + "".join(" ".join(line) + " /" for line in lines) + "\n"


def _column(clue: Clue, n_slots: int, puzzle: Puzzle) -> list[str]:
    """The words of a clue, as near to the grid as they can be."""
    if len(clue) > n_slots:
        raise InvalidPuzzle(
            f"{TITLE} carries at most {n_slots} numbers a line of this size, found {len(clue)} in {puzzle.name!r}"
        )
    return ["."] * (n_slots - len(clue)) + [_word(block) for block in clue]


def _word(block: Block) -> str:
    return "-2" if block.length == BLOT else str(block.length)


FORMAT = Format(
    "pzprv3",
    "pzprv3, the files of puzz.link and other pages of pzpr; black-white",
    (".pzprv3",),
    sniff,
    parse,
    write,
    several=True,
    blots=True,
    first="p",
    cut="pzprv3",
)
