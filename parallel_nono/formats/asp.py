"""`.lp`, facts for answer set programming (clingo): `row_hint(Row, Place, Length).` and `col_hint(...)`, all from 1.

`#const w = 4.` and `#const h = 3.` give the sizes; without them the last line with a block is the last line. `%` begins
a comment. A line without a fact is empty. One black-white puzzle. Nothing is run: only such facts are read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from ..puzzle import Block, Clue, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .text import length_of, make, number, numbered, only_black, only_one, sizes, wrong

TITLE = "Clingo facts"
START = re.compile(r"^[ \t]*+(?:row|col)_hint\(", re.MULTILINE)
FACT = re.compile(r"(row|col)_hint\(\s*+([^,()\s]*+)\s*+,\s*+([^,()\s]*+)\s*+,\s*+([^,()\s]*+)\s*+\)")
CONSTANT = re.compile(r"#const\s++([a-z]\w*+)\s*+=\s*+([^.\s]*+)")
SIDES = {"row": "h", "col": "w"}


def sniff(text: str) -> bool:
    return START.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    sized: dict[str, int] = {}
    facts: dict[str, defaultdict[int, dict[int, Block]]] = {side: defaultdict(dict) for side in SIDES}
    for place, line in numbered(text):
        line = line.partition("%")[0]
        for part in filter(None, (part.strip() for part in line.split(")." if "hint" in line else "."))):
            if part.startswith("#const"):
                found = CONSTANT.match(part)
                if found and found[1] in SIDES.values():
                    sized[found[1]] = number(found[2], source, place, "a size such as `#const w = 4.`")
                continue
            fact = FACT.match(part if part.endswith(")") else part + ")")
            if not fact:
                raise wrong(source, place, "facts such as `row_hint(1, 1, 3).`", part)
            at, order = (number(word, source, place, "a number from 1") for word in fact.groups()[1:3])
            length = length_of(fact[4], source, place)
            blocks = facts[fact[1]][at]
            if not at or not order or not length or order in blocks:
                raise wrong(source, place, "numbers from 1, each block once", part + ")")
            blocks[order] = Block(length)
    height, width = (sized.get(size, max(facts[side], default=0)) for side, size in SIDES.items())
    sizes(height, width, source)
    yield make(_clues(facts["row"], height, "row", source), _clues(facts["col"], width, "column", source), source)


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
