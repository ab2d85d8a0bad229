"""Tables of clues with zeros in them: clues padded to one length, or runs spelt out in 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...puzzle import Block, Clue
from .text import fits, run_lengths

AS_RUNS = "clues of 0 and 1 are read as runs"
AS_PADDING = "zeros beside other numbers are read as padding of clues"

Numbers = list[list[int]]


def zeros_read(sides: Sequence[Sequence[Any]], are_clues: bool = False) -> tuple[list[list[Any]], str]:
    """The lines of both sides, rows first, with zeros taken for what they mean, and a warning or "".

    sides      lines as lists of numbers. If a line is anything else, or zeros mean nothing, all stay as they are.
    are_clues  True where the file calls them clues: runs are taken only if they can't be padded clues.

    `[[1, 1], [0, 1]]` is 1 1 and 1, or a run of two cells and then one cell. Padding needs lines of one length, with
    all zeros at the beginnings or all at the ends. Of two possible readings the one is taken whose sums and lengths
    fit. Where both fit, they are runs if rows and columns are one picture, else clues, and the warning says so.
    """
    lists = [list(side) for side in sides]
    if not any(type(line) is list and 0 in line and len(line) > 1 for side in lists for line in side):
        return lists, ""
    if not all(type(line) is list and all(type(n) is int and n >= 0 for n in line) for s in lists for line in s):
        return lists, ""
    sparse = [_unpadded(side) for side in lists]
    clues = [side for side in sparse if side is not None]
    runs: list[Numbers] = []
    if all(n < 2 for side in lists for line in side for n in line):
        runs = [[run_lengths("".join(map(str, line))) for line in side] for side in lists]
    if len(clues) < 2:
        return (runs, AS_RUNS) if runs else (lists, "")
    if not runs:
        return clues, AS_PADDING
    clues_fit, runs_fit = (fits(*map(_blocks, reading)) for reading in (clues, runs))
    if runs_fit and not clues_fit:
        return runs, AS_RUNS
    if runs_fit and not are_clues and _is_picture(*lists):
        return runs, AS_RUNS
    return clues, AS_PADDING + (" (they could also be runs of 0 and 1)" if runs_fit else "")


def _unpadded(side: Numbers) -> Numbers | None:
    """The clues of a side without zeros; None if they are no padding to one length."""
    mixed = [line for line in side if len(line) > 1 and 0 in line]
    if mixed and len(set(map(len, side))) > 1:
        return None
    for at_beginning in (True, False):
        short = [_stripped(line, at_beginning) for line in side]
        if not any(0 in line for line in short):
            return short
    return None


def _stripped(line: list[int], at_beginning: bool) -> list[int]:
    """A line without the zeros at its beginning, or at its end."""
    full = [place for place, n in enumerate(line) if n]
    if not full:
        return []
    return line[full[0] :] if at_beginning else line[: full[-1] + 1]


def _is_picture(rows: Numbers, columns: Numbers) -> bool:
    """True where lines spell out every cell, and rows and columns show the same."""
    one_length = len({len(column) for column in columns}) == 1
    return one_length and list(map(tuple, rows)) == list(zip(*columns, strict=True))


def _blocks(side: Numbers) -> list[Clue]:
    return [tuple(map(Block, line)) for line in side]
