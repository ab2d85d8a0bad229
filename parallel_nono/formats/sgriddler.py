"""`.sgriddler` of jsimlo.sk: `MK Version 3.0`, `W H`, board, column clues, row clues. Black-white puzzles, each
with its own first line; only one is written.

Clues are read from the board outwards: right to left and bottom to top. An empty line is an empty line, so lines are
counted. The board (`#` box, `.` space, `?` open) is a player's; clues that are missing are taken from a finished one.
A number below 0 is crossed out. A palette behind the sizes means colours, which are not supported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..puzzle import Clue, Grid, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.text import (
    Lines,
    black_clue,
    clues_of_goal,
    from_first_full,
    labelled,
    lengths,
    make,
    number,
    numbered,
    only_black,
    only_one,
    sizes,
    wrong,
)

TITLE = "SGriddler's .sgriddler"
START = "MK Version"


def sniff(text: str) -> bool:
    return text.lstrip().startswith(START)


def parse(text: str, source: str) -> Parsed:
    lines = from_first_full(numbered(text), source, f"`{START} 3.0`")
    if not lines[0][1].startswith(START):
        raise wrong(source, lines[0][0], f"`{START} 3.0`", lines[0][1])
    starts = [at for at, (_, line) in enumerate(lines) if line.startswith(START)]
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), start=1):
        name = labelled(source, "", index, len(starts) == 1)
        try:
            yield _puzzle(lines[start:end], source, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _puzzle(lines: Lines, source: str, name: str, index: int) -> Puzzle:
    at = next((at for at, (_, line) in enumerate(lines) if at and line), None)
    if at is None:
        raise wrong(source, lines[-1][0], "the width and the height", "the end")
    place, line = lines[at]
    words = line.split()
    if len(words) > 2 and words[2].startswith("#"):
        raise InvalidPuzzle(f"{source}:{place}: colours (a palette behind the sizes) are not supported in {TITLE}")
    if len(words) != 2:
        raise wrong(source, place, "the width and the height", line)
    width, height = (number(word, source, place, "the width and the height") for word in words)
    sizes(height, width, source, place)
    board = _part(lines, at + 1, height, source)
    columns = _part(lines, at + 2 + height, width, source)
    rows = _part(lines, at + 3 + height + width, height, source)
    another = next((line for line in lines[at + 1 :] if START in line[1]), None)  # a comment may stand at the end
    if another:
        raise wrong(source, another[0], f"`{START}` at the beginning of a line", another[1])
    if not any(line for _, line in (*columns, *rows)) and not any("?" in line for _, line in board):
        columns, rows = [], []  # a finished board, then the end of the file
    picture = None if len(columns) == width and len(rows) == height else _picture(board, height, width, source)
    row_clues, column_clues = ([_clue(line, source) for line in side] for side in (rows, columns))
    if picture:
        shown_rows, shown_columns = clues_of_goal(picture)
        if (columns and column_clues != list(shown_columns)) or (rows and row_clues != list(shown_rows)):
            hope = "the clues of the finished board, or clues of all columns and rows"
            raise wrong(source, (columns or rows)[0][0], hope, (columns or rows)[0][1])
        row_clues, column_clues = list(shown_rows), list(shown_columns)
    return make(row_clues, column_clues, source, name=name, index=index)


def _part(lines: Lines, start: int, n: int, source: str) -> Lines:
    """`n` lines after a blank one; fewer where the file ends. Blank lines at the end may be cut off."""
    if lines[start : start + 1] and lines[start][1]:
        raise wrong(source, lines[start][0], "a blank line", lines[start][1])
    part = lines[start + 1 : start + 1 + n]
    return part + [(lines[-1][0], "")] * (n - len(part)) if part else part


def _picture(board: Lines, height: int, width: int, source: str) -> Grid:
    """A finished board. Errors: InvalidPuzzle if cells are open: there are no clues then."""
    grid = []
    for place, line in board:
        cells = "".join(line.split())
        if len(cells) != width or cells.strip("#."):
            raise wrong(source, place, f"clues, or a finished board of {width} cells `#` and `.` a line", line)
        grid.append(tuple(int(cell == "#") for cell in cells))
    if len(grid) != height:
        raise wrong(source, 0, f"a board of {height} lines", f"{len(grid)}")
    return tuple(grid)


def _clue(line: tuple[int, str], source: str) -> Clue:
    place, text = line
    words = [word[1:] if word[:1] == "-" else word for word in text.split()]
    return black_clue(words, source, place)[::-1]


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    board = [" ?" * puzzle.width] * puzzle.height
    return "\n".join(
        [f"{START} 3.0", "", f"{puzzle.width} {puzzle.height}", "", *board, "", *_side(puzzle.columns), "",
         *_side(puzzle.rows)]
    ) + "\n"  # fmt: skip


def _side(clues: Sequence[Clue]) -> list[str]:
    return [f" {lengths(clue[::-1], empty='')}".rstrip() for clue in clues]


FORMAT = Format(
    "sgriddler",
    "SGriddler: `MK Version 3.0`, `W H`, board, column clues, row clues, both reversed; one black-white puzzle",
    (".sgriddler", ".griddler"),
    sniff,
    parse,
    write,
    first="M",
)
