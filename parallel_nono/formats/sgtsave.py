"""Saves of Simon Tatham's Pattern: lines `KEY     :LENGTH:VALUE`, id in `PARAMS` and `DESC`. Black-white puzzles.

Each begins with `SAVEFILE`; only one is written.

Moves are a player's and left aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import InvalidPuzzle, Puzzle
from . import Format, Parsed, sgt
from .common.text import Lines, labelled, numbered, only_one, shown, wrong

TITLE = "A save of Pattern"
LINE = re.compile(r"([A-Z]{1,8})[ ]*+:([0-9]{1,9}):(.*)\Z")
GAME = "Pattern"


def sniff(text: str) -> bool:
    return text.lstrip().startswith("SAVEFILE:")


def parse(text: str, source: str) -> Parsed:
    saves: list[Lines] = [[]]
    for place, line in numbered(text):
        if line.startswith("SAVEFILE") and saves[-1]:
            saves.append([])
        if line:
            saves[-1].append((place, line))
    for index, lines in enumerate(saves, start=1):
        name = labelled(source, "", index, len(saves) == 1)
        try:
            yield _puzzle(lines, source, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _puzzle(lines: Lines, source: str, name: str, index: int) -> Puzzle:
    facts: dict[str, tuple[int, str]] = {}
    for place, line in lines:
        found = LINE.match(line)
        if "SAVEFILE:" in line[1:]:
            raise wrong(source, place, "`SAVEFILE:` at the beginning of a line", line)
        if found:
            facts.setdefault(found[1], (place, found[3]))
        else:
            raise wrong(source, place, "lines such as `DESC    :3:1/1`", line)
    game = facts.get("GAME", (0, "none"))
    if game[1] != GAME:
        raise InvalidPuzzle(f"{source}:{game[0]}: expected a save of {GAME}, found one of {shown(game[1])}")
    for key in ("PARAMS", "DESC"):
        if key not in facts:
            raise wrong(source, 0, f"a line `{key}`", "none")
    place, clues = facts["DESC"]
    return sgt.puzzle_of(f"{facts['PARAMS'][1]}:{clues}", source, place, name, index)


def write(puzzles: Iterable[Puzzle]) -> str:
    size, _, clues = sgt.game_id(only_one(puzzles, TITLE), TITLE).partition(":")
    facts = {
        "SAVEFILE": "Simon Tatham's Portable Puzzle Collection",
        "VERSION": "1",
        "GAME": GAME,
        "PARAMS": size,
        "CPARAMS": size,
        "DESC": clues,
        "NSTATES": "1",
        "STATEPOS": "1",
    }
    return "".join(f"{key:<8}:{len(value)}:{value}\n" for key, value in facts.items())


FORMAT = Format(
    "sgtsave",
    "Saves of Simon Tatham's Pattern: `SAVEFILE:41:...`; one black-white puzzle",
    (".sav",),
    sniff,
    parse,
    write,
    first="S",
)
