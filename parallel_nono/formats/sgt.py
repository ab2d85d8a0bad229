"""Game ids of Pattern from Simon Tatham's collection: `WxH:1.1/1//...`, column clues first; one or many in a file.

`5:...` is 5x5. A line may begin with a label and a tab (`seed TAB id`); lines with `#` first are comments. Cells given
after a comma are left aside with a warning. `WxH#seed` holds no puzzle: only the game itself can make it from a seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..puzzle import Clue, InvalidPuzzle, Puzzle
from . import Format, Packed, Parsed
from .common.text import black_clue, labelled, lengths, make, number, numbered, only_black, sizes, wrong

TITLE = "a Pattern game id"
LINE = r"(?:([^\t\n]*)\t)?[ ]*([0-9]+)(?:x([0-9]+))?(?::([0-9?./]*)(,[a-zA-Z]*)?|(#[^\n]*))[ \t]*$"
START = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*" + LINE, re.MULTILINE)
GIVEN = re.compile(r",[a-zA-Z]*$")


def sniff(text: str) -> bool:
    return START.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    lines = [(place, line) for place, line in numbered(text) if line and not line.startswith("#")]
    if not lines:
        raise wrong(source, 0, "game ids such as `3x2:1/1/1/2/1`", "no line with one")
    for index, (place, line) in enumerate(lines, start=1):
        label, _, id_ = line.rpartition("\t")
        name = labelled(source, label, index, len(lines) == 1)
        try:
            if "\t" in label:
                raise wrong(source, place, "a label, a tab and a game id", line)
            yield puzzle_of(id_.strip(), source, place, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def puzzle_of(id_: str, source: str, place: int, name: str, index: int) -> Puzzle:
    """The puzzle of a game id, which stands in line `place` of its file."""
    size, colon, text = id_.partition(":")
    if not colon and "#" in id_:
        raise wrong(source, place, "a descriptive id `WxH:clues` (a seed only tells the game how to make one)", id_)
    if not colon:
        raise wrong(source, place, "a game id such as `3x2:1/1/1/2/1`", id_)
    first, x, second = size.partition("x")
    width = number(first, source, place, "a size such as `5x4`")
    height = number(second, source, place, "a size such as `5x4`") if x else width
    sizes(height, width, source, place)
    warnings = []
    if GIVEN.search(text):
        text = GIVEN.sub("", text)
        warnings.append("the given cells after the comma are left aside")
    parts = text.split("/")
    if len(parts) != width + height:
        raise wrong(source, place, f"{width} column and {height} row clues", f"{len(parts)} clues")
    clues: list[Clue] = [black_clue(part.split(".") if part else [], source, place) for part in parts]
    return make(clues[width:], clues[:width], source, name=name, index=index, warnings=warnings)


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.parse import sgt
    from .common.quick import pack

    return pack(sgt, texts, len("1:/\n"), labels=True, said=str.lstrip)


def write(puzzles: Iterable[Puzzle]) -> str:
    return "".join(game_id(puzzle, TITLE) + "\n" for puzzle in puzzles)


def game_id(puzzle: Puzzle, title: str) -> str:
    """`WxH:` and the clues, columns first. Errors: InvalidPuzzle for colours, in the name of the format `title`."""
    only_black(puzzle, title)
    clues = "/".join([lengths(clue, ".", "") for clue in (*puzzle.columns, *puzzle.rows)])
    return f"{puzzle.width}x{puzzle.height}:{clues}"


FORMAT = Format(
    "sgt",
    "Game ids of Simon Tatham's Pattern, one a line: `WxH:` column clues, row clues; black-white",
    (".sgt",),
    sniff,
    parse,
    write,
    pack,
    several=True,
    cut="",
)
