"""`.dzn`, MiniZinc data of hakank's nonogram models, or-tools' Python data of the same names. Black-white puzzles.

`row_rules` and `col_rules` are tables padded with 0 on the left: `array2d(1..rows, 1..row_rule_len, [...])`,
`[| ... | ... |]` or lists of lists. The instances of the MiniZinc challenge say `rows` and `cols` and spell clues as
runs, `1, 1, 1, 0, 1` for 3 1, padded with -1. A name that is given a second time belongs to another puzzle; only one is
written. Nothing is run: only numbers are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..puzzle import Block, Clue, InvalidPuzzle, Puzzle
from . import Format, Parsed
from .common.text import black_clue, labelled, make, number, only_black, only_one, run_lengths, wrong
from .common.zeros import AS_RUNS, zeros_read

TITLE = "MiniZinc data"
NAME = re.compile(r"^[ \t]*+(rows|cols|(?:row|col)_rule_len|(?:row|col)_rules|\w++)[ \t]*+=(?!=)", re.MULTILINE)
START = re.compile(
    r"^[ \t]*+(?:(?:row|col)_rules[ \t]*+=\s*+(?:array2d\b|\[)|(?:rows|cols)[ \t]*+=\s*+\[[ \t\n]*+\|)", re.MULTILINE
)
COMMENT = re.compile(r"[%#][^\n]*+")
PADDING = ("0", "-1")
RUNS = ("0", "1", "-1")
TABLES = (("row_rules", "col_rules"), ("rows", "cols"))


Values = dict[str, tuple[int, str]]
"""(line, text) by name."""


def sniff(text: str) -> bool:
    return START.search(text) is not None


def parse(text: str, source: str) -> Parsed:
    text = COMMENT.sub("", text)
    found = list(NAME.finditer(text))
    ends = [*(name.start() for name in found[1:]), len(text)]
    groups: list[Values] = [{}]
    place = before = 0
    for known, end in zip(found, ends, strict=False):
        if known[1] in groups[-1]:
            groups.append({})
        place += text.count("\n", before, known.start(1))
        before = known.start(1)
        groups[-1][known[1]] = (place + 1, text[known.end() : end])
    for index, values in enumerate(groups, start=1):
        name = labelled(source, "", index, len(groups) == 1)
        try:
            yield _puzzle(values, source, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)


def _puzzle(values: Values, source: str, title: str, index: int) -> Puzzle:
    names = next((names for names in TABLES if all("[" in values.get(name, (0, ""))[1] for name in names)), None)
    if names is None:
        hope = "`row_rules` and `col_rules`, or `rows` and `cols`, as tables"
        place = next(iter(values.values()), (0, ""))[0] if index > 1 else 0
        raise wrong(source, place, hope, ", ".join(list(values)[:8]) or "none")
    as_runs = names == TABLES[1]
    tables = []
    for name in names:
        place, value = values[name]
        table = _table(value, _one(values, name.replace("rules", "rule_len"), source, place), source, place)
        wanted = None if as_runs else _one(values, f"{name[:3]}s", source, place)
        if wanted is not None and wanted != len(table):
            raise wrong(source, place, f"{wanted} lines in `{name}`", f"{len(table)}")
        tables.append((place, table))
    as_runs = as_runs and all(word in RUNS for _, table in tables for line in table for word in line)
    doubt = ""
    if as_runs and not any("-1" in line for _, table in tables for line in table):
        _, doubt = zeros_read([[list(map(int, line)) for line in table] for _, table in tables])
        as_runs = doubt == AS_RUNS
    rows, columns = ([_clue(line, as_runs, source, place) for line in table] for place, table in tables)
    return make(rows, columns, source, name=title, index=index, warnings=[doubt] if doubt else [])


def _one(values: Values, name: str, source: str, place: int) -> int | None:
    """The number that a name stands for; None where it is no plain number."""
    word = values.get(name, (0, ""))[1].strip(" \t\n;,")
    return number(word, source, place) if word.isascii() and word.isdigit() else None


def _table(value: str, wide: int | None, source: str, place: int) -> list[list[str]]:
    """The lines of a table as words."""
    inside = value[value.index("[") + 1 : value.rfind("]")] if "]" in value else ""
    if "[" in inside:
        lines = [part.partition("[")[2] for part in inside.split("]") if "[" in part]
    elif "|" in inside:
        lines = inside.split("|")[1:]
        lines = lines[:-1] if lines and not lines[-1].strip() else lines
    else:
        words = inside.replace(",", " ").split()
        if not wide or len(words) % wide:
            raise wrong(
                source, place, "a table of lines of `row_rule_len`, `col_rule_len` numbers", f"{len(words)} numbers"
            )
        return [words[at : at + wide] for at in range(0, len(words), wide)]
    return [line.replace(",", " ").split() for line in lines]


def _clue(words: Sequence[str], as_runs: bool, source: str, place: int) -> Clue:
    if as_runs:
        return tuple(map(Block, run_lengths("".join(word for word in words if word != "-1"))))
    return black_clue([word for word in words if word not in PADDING], source, place)


def write(puzzles: Iterable[Puzzle]) -> str:
    puzzle = only_black(only_one(puzzles, TITLE), TITLE)
    lines = []
    for kind, clues in (("row", puzzle.rows), ("col", puzzle.columns)):
        wide = max(1, *map(len, clues))
        table = [",".join(["0"] * (wide - len(clue)) + [str(b.length) for b in clue]) for clue in clues]
        lines += [f"{kind}s = {len(clues)};", f"{kind}_rule_len = {wide};"]
        lines += [
            f"{kind}_rules = array2d(1..{kind}s, 1..{kind}_rule_len,",
            f"   [{(',' + chr(10) + '    ').join(table)}]);",
            "",
        ]
    return "\n".join(lines[:-1]) + "\n"


FORMAT = Format(
    "dzn",
    "MiniZinc data: `row_rules` and `col_rules` as tables; or-tools' lists and the challenge's runs are read too",
    (".dzn",),
    sniff,
    parse,
    write,
)
