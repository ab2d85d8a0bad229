"""`pnono line`: one line by itself, as contests ask it."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from ..pictures.door import say
from ..puzzle import BLOT, Block, Clue
from .common import say_if_compiling, standard_input
from .exits import Code, Failure

IMPOSSIBLE = "Impossible"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def line(
    clue: Annotated[
        str, typer.Argument(metavar="CLUE", help='The blocks, like "3 2 ?"; in colour "2a 3b"; "" for an empty line.')
    ],
    cells: Annotated[
        str, typer.Argument(metavar="CELLS", help="What is known, a number of unknown cells, or - for standard input.")
    ],
) -> None:
    """Solve one line: print every cell that all arrangements of the clue agree on, or `Impossible`.

    Black and white: `X` (or `#`) is filled, `.` (or `_`) empty, `?` unknown.

    In colour `?` may be any colour, `.` is the background, a letter is an ink, and a set is in brackets: `[.ab]`.

    In the clue `?` stands for a block of unknown length.

    \b
    pnono line "3 2 5" "???????????????"     ??????????XX???
    pnono line "3 2 5" 12                    XXX.XX.XXXXX
    pnono line "1 1" "??"                    Impossible
    pnono line "2a 3b" 5                     aabbb
    pnono line "2a 3b" 6                     [.a]a?bb[.b]
    pnono line "?" "?X?X?"                   ?XXX?

    \b
    Exit codes: 0 at least one arrangement fits; 1 impossible.
    """
    if cells == "-":
        cells = standard_input().read().strip()
    blocks, coloured = _clue(clue)
    coloured = coloured or (not blocks and re.search(r"[a-wyz\[]", cells) is not None)
    n_colours, allowed = _cells(cells, coloured, max((block.colour for block in blocks), default=1))
    say_if_compiling()
    from ..solver.line import solve_line

    solved = solve_line(blocks, allowed, n_colours)
    if solved is None:
        say(IMPOSSIBLE)
        raise typer.Exit(Code.NO)
    texts = {cell: _cell_text(cell, coloured, n_colours) for cell in set(solved)}
    say("".join(map(texts.__getitem__, solved)))


def _clue(text: str) -> tuple[Clue, bool]:
    """The blocks, and whether they name colours. `0` is an empty line, as in puzzle files."""
    words = text.replace(",", " ").split()
    matches = [re.fullmatch(r"(\?|[0-9]{1,9})([a-z]?)", word) for word in words]
    if None in matches:
        bad = words[matches.index(None)]
        raise Failure(Code.USAGE, f"clue: expected lengths like `3`, `3a` or `?`, found `{bad}`")
    found = [(match[1], match[2]) for match in matches if match]
    blocks = [
        Block(BLOT if length == "?" else int(length), LETTERS.index(ink or "a") + 1)
        for length, ink in found
        if length.strip("0")
    ]
    coloured = {bool(ink) for _, ink in found}
    if len(coloured) > 1:
        raise Failure(Code.USAGE, f"clue: expected a colour at every length or at none, found `{text}`")
    if len(found) > 1 and len(blocks) < len(found):
        raise Failure(Code.USAGE, f"clue: expected lengths from 1, found `{text}`")
    return tuple(blocks), coloured == {True}


def _cells(text: str, coloured: bool, most: int) -> tuple[int, list[int]]:
    """The number of colours, and for each cell the set of its colours as bits; `most` is the last ink of the clue."""
    if text.isascii() and text.isdecimal():
        text = "?" * int(text)
    if not text:
        raise Failure(Code.USAGE, "cells: expected at least one, found none")
    if not coloured:
        signs = {"?": 3, ".": 1, "_": 1, "X": 2, "x": 2, "#": 2}
        wrong = next((place for place, cell in enumerate(text) if cell not in signs), None)
        if wrong is not None:
            raise Failure(Code.USAGE, f"cell {wrong + 1}: expected X, . or ?, found `{text[wrong]}`")
        return 2, [signs[cell] for cell in text]
    sets = [_inks(cell, place) for place, cell in enumerate(re.findall(r"\[[^\]]*\]|.", text, re.DOTALL), start=1)]
    n_colours = max(most + 1, *(bits.bit_length() for bits in sets))
    return n_colours, [bits or (1 << n_colours) - 1 for bits in sets]


def _inks(cell: str, place: int) -> int:
    """A cell in colour, `.`, `a` or `[.ab]`, as bits; 0 for `?`."""
    inks = cell[1:-1] if len(cell) > 1 else cell.strip("?")
    if (len(cell) > 1 and not inks) or any(ink != "." and ink not in LETTERS for ink in inks):
        raise Failure(Code.USAGE, f"cell {place}: expected ?, ., a letter or a set like [.ab], found `{cell}`")
    return sum(1 << (0 if ink == "." else LETTERS.index(ink) + 1) for ink in set(inks))


def _cell_text(bits: int, coloured: bool, n_colours: int) -> str:
    signs = "." + (LETTERS if coloured else "X")
    if bits == (1 << n_colours) - 1:
        return "?"
    inks = "".join(signs[colour] for colour in range(n_colours) if bits >> colour & 1)
    return inks if len(inks) == 1 else f"[{inks}]"
