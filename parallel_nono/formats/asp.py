"""`.lp`, facts for answer set programming (clingo): `row_hint(Row, Place, Length).` and `col_hint(...)`, all from 1.

`#const w = 4.` and `#const h = 3.` give the sizes; without them, and said in a warning, the last line with a block is
the last line. `%` begins a comment. A line without a fact is empty. One black-white puzzle. Nothing is run: only such
facts are read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from ..puzzle import Block, Clue, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.text import length_of, make, number, numbered, only_black, only_one, shown, sizes, wrong

TITLE = "Clingo facts"
START = re.compile(r"^[ \t]*+(?:row|col)_hint\(", re.MULTILINE)
STATEMENT = re.compile(
    r"\s*+(?:#const\s++([a-z]\w*+)\s*+=\s*+([^.\s]++)"
    r"|(row|col)_hint\(\s*+([^,()\s]++)\s*+,\s*+([^,()\s]++)\s*+,\s*+([^,()\s]++)\s*+\))\s*+\."
)
SIDES = {"row": "h", "col": "w"}


def sniff(text: str) -> bool:
    return START.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    sized: dict[str, int] = {}
    aside: list[str] = []
    facts: dict[str, defaultdict[int, dict[int, Block]]] = {side: defaultdict(dict) for side in SIDES}
    for place, line in numbered(text):
        line = line.partition("%")[0].rstrip()
        at = 0
        while at < len(line):
            found = STATEMENT.match(line, at)
            if not found:
                raise wrong(source, place, "facts such as `row_hint(1, 1, 3).`", line[at:].strip())
            at = found.end()
            name, value, side, *words = found.groups()
            if name:
                if name in sized:
                    raise wrong(source, place, f"`{name}` once, as a file holds one puzzle", found[0].strip())
                if name not in SIDES.values():
                    aside.append(f"line {place}: {shown(f'#const {name}')} is not known: left aside")
                else:
                    sized[name] = number(value, source, place, "a size such as `#const w = 4.`")
                continue
            number_of_line, order = (number(word, source, place, "a number from 1") for word in words[:2])
            length = length_of(words[2], source, place)
            blocks = facts[side][number_of_line]
            if not number_of_line or not order or not length or order in blocks:
                raise wrong(source, place, "numbers from 1, each block once", found[0].strip())
            blocks[order] = Block(length)
    height, width = (sized.get(size, max(facts[side], default=0)) for side, size in SIDES.items())
    sizes(height, width, source)
    guessed = (
        ""
        if len(sized) == 2
        else f"no `#const w` and `h`: {width} wide and {height} high by the last lines with a fact"
    )
    rows, columns = _clues(facts["row"], height, "row", source), _clues(facts["col"], width, "column", source)
    yield make(rows, columns, source, warnings=[*aside, guessed] if guessed else aside)


def _clues(facts: dict[int, dict[int, Block]], n: int, kind: str, source: str) -> list[Clue]:
    beyond = max(facts, default=0)
    if beyond > n:
        raise InvalidPuzzle(f"{source}: expected {kind}s from 1 to {n}, found {kind} {beyond}")
    return [tuple(block for _, block in sorted(facts.get(place, {}).items())) for place in range(1, n + 1)]


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    lines = [f"#const w = {puzzle.width}.", f"#const h = {puzzle.height}."]
    for side, clues in (("row", puzzle.rows), ("col", puzzle.columns)):
        for place, clue in enumerate(clues, start=1):
            lines += [f"{side}_hint({place}, {order}, {b.length})." for order, b in enumerate(clue, start=1)]
    return "\n".join(lines) + "\n"


FORMAT = Format(
    "asp",
    "Facts for clingo (.lp): `row_hint(Row, Place, Length).`, `col_hint(...)`; one black-white puzzle",
    (".asp.lp", ".lp"),
    sniff,
    parse,
    write,
)
