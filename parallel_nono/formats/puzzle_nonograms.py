"""Pages of puzzle-nonograms.com: `var task = '1.1/2/...'`, column clues first, then row clues.

`puzzleWidth` tells how many of the clues are columns; without it the puzzle is square. Nothing of the page is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..puzzle import Clue, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.text import black_clue, labelled, lengths, make, number, only_black, shown, sizes, wrong

TITLE = "puzzle-nonograms.com"
TASK = re.compile(r"""\btask\s*[=:]\s*['"]([0-9./?][^'"\n]*)""")
ANY_TASK = re.compile(r"""\b(?:var\s+)?task\s*[=:]\s*['"]""")
WIDTH = re.compile(r"\bpuzzleWidth\s*[=:]\s*['\"]?(\d+)")
OTHER = re.compile(r"""\b(?!task\b)(\w++)\s*+[=:]\s*+['"][0-9.?]*+/[0-9./?]*+['"]""")


def sniff(text: str) -> bool:
    return "task" in text and ANY_TASK.search(text) is not None and ("<" in text or "var " in text)


def parse(text: str, source: str) -> Parsed:
    tasks = list(TASK.finditer(text))
    if not tasks:
        found = ANY_TASK.search(text)
        place = text.count("\n", 0, found.start()) + 1 if found else 0
        rest = text[found.start() : found.start() + 100] if found else "none in the page"
        raise wrong(source, place, "clues `var task = '1.1/2/...'`", rest)
    others = list(OTHER.finditer(text))
    widths = list(WIDTH.finditer(text))
    stands_behind = len(widths) == len(tasks) and widths[0].start() > tasks[0].start()
    place, end = 1, 0
    for index, task in enumerate(tasks, start=1):
        name = labelled(source, "", index, len(tasks) == 1)
        after = tasks[index].start() if index < len(tasks) else len(text)
        aside = [
            f"line {text.count(chr(10), 0, found.start()) + 1}: {shown(found[0])} is not `task`: left aside"
            for found in others
            if end <= found.start() < (after if index == len(tasks) else task.start())
        ]
        first, last = (task.end(), after) if stands_behind else (end, task.start())
        width = next((found[1] for found in reversed(widths) if first <= found.start() < last), "")
        place += text.count("\n", end, task.start())
        end = task.start()
        try:
            yield _puzzle(task[1], width, source, place, name, index, aside)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _puzzle(task: str, wide: str, source: str, place: int, name: str, index: int, aside: list[str]) -> Puzzle:
    parts = task.split("/")
    width = number(wide, source, place, "a width") if wide else len(parts) // 2
    height = len(parts) - width
    if not wide and height != width:
        raise wrong(source, place, "a `puzzleWidth`, or as many row as column clues", f"{len(parts)} clues")
    if height < 1:
        raise wrong(source, place, f"{width} column clues, then row clues", f"{len(parts)} clues")
    sizes(height, width, source, place)
    clues: list[Clue] = [black_clue(part.split(".") if part else [], source, place) for part in parts]
    warnings = aside if wide else [*aside, "no puzzleWidth in the page: read as a square puzzle, columns first"]
    return make(clues[width:], clues[:width], source, name=name, index=index, warnings=warnings)


def write(puzzles: Iterable[Puzzle]) -> str:
    return "".join(_script(puzzle) for puzzle in puzzles)


def _script(puzzle: Puzzle) -> str:
    only_black(puzzle, TITLE)
    task = "/".join(lengths(clue, ".", "") for clue in (*puzzle.columns, *puzzle.rows))
    return (
        f"<script>\nvar puzzleWidth = {puzzle.width};\nvar puzzleHeight = {puzzle.height};\n"
        f"var task = '{task}';\n</script>\n"
    )


FORMAT = Format(
    "puzzle-nonograms",
    "Pages of puzzle-nonograms.com, `var task = '...'`; black-white",
    (".task.html",),
    sniff,
    parse,
    write,
    several=True,
    blots=True,
)
