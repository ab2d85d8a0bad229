"""The sets of the TAAI and Computer Olympiad tournaments: `$1`, column clues, row clues, then `$2` and so on.

Numbers are parted by tabs; an empty line is an empty line of text (or `0`). No sizes are given: there are as many
columns as rows, unless only another split has equal sums and clues that fit. A text with tabs but without any `$` is
one such puzzle.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from ..puzzle import Clue, InvalidPuzzle, Puzzle
from . import Format, Packed, Parsed
from .common.text import (
    Lines,
    black_clue,
    from_first_full,
    labelled,
    lengths,
    make,
    numbered,
    only_black,
    says_empty,
    shown,
    wrong,
)

TITLE = "A TAAI set"
BARE = re.compile(r"[1-9][0-9]*(?:\t+[1-9][0-9]*)*(?:\n+[1-9][0-9]*(?:\t+[1-9][0-9]*)*)+\s*\Z")
PICTURE = re.compile(r"\$[^\n]*\n[01](?:\t[01])+\n[01]\t")


def sniff(text: str) -> bool:
    if text.lstrip()[:1] == "$":
        return re.match(r"\s*\$[^\n]{0,80}\n[0-9 \t?]*(\n|\Z)", text) is not None
    return "\t" in text and BARE.match(text) is not None


def parse(text: str, source: str) -> Parsed:
    lines = numbered(text)
    starts = [place for place, (_, line) in enumerate(lines) if line.startswith("$")]
    before = [line for line in lines[: starts[0] if starts else 0] if line[1]]
    if before:
        raise wrong(source, before[0][0], "a line such as `$1`", before[0][1])
    warnings: tuple[str, ...] = ()
    if not starts:
        lines = from_first_full(lines, source, "a line such as `$1`")
        starts, lines = [0], [(0, "$"), *lines]
        warnings = ("no `$` line: read as one puzzle, columns first",)
    if PICTURE.search(text) and _are_pictures([line for _, line in lines if line and not line.startswith("$")]):
        raise wrong(source, lines[starts[0]][0], "clues", "pictures of 0 and 1: a file of solutions")
    for index, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), start=1):
        label = lines[start][1][1:].strip()
        name = labelled(source, label, index, len(starts) == 1)
        try:
            clues, n_columns, doubt = _split(lines[start + 1 : end], source, lines[start][0])
            told = (*warnings, doubt) if doubt else warnings
            yield make(clues[n_columns:], clues[:n_columns], source, name=name, index=index, warnings=told)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _are_pictures(lines: list[str]) -> bool:
    """True for rows of 0 and 1, all of one length."""
    return len({line.count("\t") for line in lines}) == 1 and all(line.strip("01 \t") == "" for line in lines)


def _split(lines: Lines, source: str, place: int) -> tuple[list[Clue], int, str]:
    """The clues, columns first, the number of columns, and a warning or "".

    Blank lines at the end are clues where sums and lengths agree with them, unless empty lines are written `0` here.
    """
    clues = [black_clue(line.split(), source, number) for number, line in lines]
    blank = 0  # lines without anything at the end: clues, or the end of the file
    while blank < len(lines) and not lines[-1 - blank][1]:
        blank += 1
    sums = [0, *accumulate(sum(block.length for block in clue) for clue in clues)]
    squares = [n for n in range(len(clues) - blank, len(clues) + 1) if n and n % 2 == 0]
    has_zeros = any(says_empty(line.split()) for _, line in lines)
    if not has_zeros:
        squares.reverse()
    equal = [n for n in squares if 2 * sums[n // 2] == sums[n]]
    fit = [n for n in equal if _fits(clues[:n], n // 2)]
    fitting = fit[0] if fit else 0
    doubt = (
        f"blank lines at the end: it could also be {fit[1] // 2} wide and high"
        if len(fit) > 1 and not has_zeros
        else ""
    )
    chosen = fitting or (equal[0] if equal else 0)
    if not fitting:
        _no_more(lines, clues, source)
    if not chosen:
        found = [
            (clues[:n], split)
            for n in range(max(len(clues) - blank, len(clues) - 1), len(clues) + 1)
            for split in range(1, n)
            if 2 * sums[split] == sums[n] and _fits(clues[:n], split)
        ]
        if len(found) == 1:
            return *found[0], ""
        chosen = squares[0] if squares else 0  # a square that has no solution is still a puzzle
    if chosen:
        return clues[:chosen], chosen // 2, doubt
    hope = "as many column as row clues, or sums that show where the rows begin"
    raise InvalidPuzzle(f"{source}:{place}: expected {hope}, found {shown(f'{len(clues) - blank} lines')}")


def _no_more(lines: Lines, clues: list[Clue], source: str) -> None:
    """Errors: InvalidPuzzle where a blank line parts a whole puzzle that fits from what follows it."""
    last = len(lines)
    while last and not lines[last - 1][1]:
        last -= 1
    n = next((n for n in _squares(clues) if n < last and not lines[n][1]), 0)
    if n:
        place, text = next(line for line in lines[n:] if line[1])
        raise wrong(source, place, f"the end after {n // 2} column and {n // 2} row clues", text)


def _squares(clues: list[Clue]) -> list[int]:
    """The numbers n such that the first n clues fit as a square."""
    sizes = [sum(block.length for block in clue) for clue in clues]
    sums = [0, *accumulate(sizes)]
    room = [0, *accumulate((size + max(len(c) - 1, 0) for size, c in zip(sizes, clues, strict=True)), max)]
    return [n for n in range(2, len(clues) + 1, 2) if 2 * sums[n // 2] == sums[n] and room[n] <= n // 2]


def _fits(clues: list[Clue], n_columns: int) -> bool:
    """Equal sums, and no clue longer than its line."""
    n_rows = len(clues) - n_columns
    sums = [sum(block.length for block in clue) for clue in clues]
    room = (sums[i] + max(len(clue) - 1, 0) <= (n_rows if i < n_columns else n_columns) for i, clue in enumerate(clues))
    return sum(sums[:n_columns]) == sum(sums[n_columns:]) and all(room)


def pack(texts: Sequence[bytes]) -> Packed:
    from ..kernels.parse import taai
    from .common.quick import pack

    return pack(taai, texts, len("$\n1\n1"), labels=True)


def write(puzzles: Iterable[Puzzle]) -> str:
    lines = []
    for index, puzzle in enumerate(puzzles, start=1):
        only_black(puzzle, TITLE)
        if puzzle.height != puzzle.width:
            raise InvalidPuzzle(
                f"{TITLE} carries square puzzles only, found {puzzle.width} wide and {puzzle.height} high "
                f"in {puzzle.name!r}"
            )
        lines += [f"${index}", *(lengths(clue, "\t", "0") for clue in (*puzzle.columns, *puzzle.rows))]
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "taai",
    "TAAI tournament sets: `$1`, column clues, row clues, ...; square black-white puzzles",
    (".taai",),
    sniff,
    parse,
    write,
    pack,
    several=True,
    first="$0123456789",
    cut="$",
)
