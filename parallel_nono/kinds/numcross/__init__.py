"""Number crosswords (codewords, nankuro): every number is a letter, and every run of two or more cells is a word.

Rows: `solution` and `second_solution` are JSON objects, `grid` with rows joined by `/` and `#` for a block, and `key`:

    {"grid": "PRIME#DOUGH/RUN#RAY#PEA/...", "key": {"1": "P", "2": "R", ...}}

`n_colours` is how many numbers there are; `n_lines` counts visits to runs, `n_probes` words tried, `n_branches` nodes
of the search, `n_conflicts` dead ends, `n_open` cells that are open without guessing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import perm
from os.path import abspath
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ...attempt import OUTCOMES, STAGES, Limits, Outcome
from ...puzzle import InvalidPuzzle
from .. import Kind, Solved, texts, unread, usual_title
from . import formats
from .search import ORDERS, Cells, Found, compile_search, solve_grid
from .words import ACCENTS, MARKS, load_words

if TYPE_CHECKING:
    from ...files.containers import Source

OPTIONS = {
    "words": "the word list: a file with one word a line, plain or gzipped (needed)",
    "accents": "words with accented Latin letters: skip (leave out), strip (without accents), keep",
    "marks": "words with apostrophes, hyphens, dots or blanks: skip (leave out), strip (joined)",
    "order": "of the search: fewest (candidates left), or as of old length, shape or dynamic",
    "size": "ROWSxCOLUMNS of a picture whose cells can't be found",
    "font": "a TrueType file: the font of the digits of a picture, where its first row does not tell",
}
COUNTS = ("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts")
MAKES = {"words": "", "accents": "skip", "marks": "skip", "numbers": "order"}
PROMISED = {Outcome.UNIQUE: 1, Outcome.SOLVED: 1, Outcome.MULTIPLE: 2}


@dataclass(frozen=True, slots=True)
class Settings:
    """What `--set` says; see OPTIONS."""

    words: str = ""
    accents: str = "skip"
    marks: str = "skip"
    order: str = "fewest"
    size: tuple[int, int] | None = None
    font: str = ""


def read(sources: list[tuple[str, bytes]], settings: Settings = Settings()) -> pa.RecordBatch:
    """Text grids, JSON, ipuz, jpz and pictures, whatever the files are."""
    return formats.chunk_of((source, item) for source, data in sources for item in _items(data, source, settings))


def _items(data: bytes, source: str, settings: Settings) -> Iterator[formats.Crossword | InvalidPuzzle]:
    from .picture import is_picture, read_picture

    n = 0
    try:
        if is_picture(data):
            yield read_picture(data, source, settings.size, settings.font)
            return
        for item in formats.parsed(data, source):
            n += 1
            yield item
    except InvalidPuzzle as error:
        n += 1
        yield InvalidPuzzle(str(error), name=error.name or formats.name_of(source, n), index=n)
    if not n:
        yield InvalidPuzzle(f"{source}: expected a puzzle, found none", name=formats.name_of(source, 1), index=1)


def batches(source: Source, settings: Settings = Settings()) -> Iterator[pa.RecordBatch]:
    """Long texts piece by piece, from title to title; other files at once."""
    try:
        data = source.load()
    except InvalidPuzzle as error:
        yield unread(source.name, str(error))
        return
    if formats.BEGINS.search(data[: texts.PIECE].decode("latin-1")):
        yield from texts.batches(replace(source, data=data), formats.text_chunk, formats.BEGINS)
    else:
        yield read([(source.name, data)], settings)


def claims(name: str, head: Callable[[], bytes]) -> bool:
    """Which files of a folder or an archive are number crosswords."""
    from ...formats import unpacked_name

    name = unpacked_name(name)
    if name.endswith((".numcross", ".bmp", ".png")):
        return True
    return name.endswith(formats.SNIFFED) and formats.sniff(head())


def solve(chunk: pa.RecordBatch, limits: Limits, abort: np.ndarray, settings: Settings = Settings()) -> Solved:
    """Every puzzle of a chunk; see `search.solve_grid`. Errors: ValueError without a word list."""
    words = load_words(settings.words, settings.accents, settings.marks)
    compile_search(settings.order)
    n = chunk.num_rows
    columns: dict[str, Any] = {
        name: np.zeros(n, np.int64) for name in ("n_solutions", "n_open_lines", "n_open", *COUNTS)
    }
    columns |= {name: np.zeros(n) for name in ("pack_s", "line_s", "search_s", "solve_s")}
    columns |= {name: np.zeros(n, np.int8) for name in ("outcome", "stage")}
    columns["exhausted"] = np.zeros(n, bool)
    witnesses, solutions = [""] * n, [["", ""] for _ in range(n)]
    promised: list[tuple[Outcome, list[str]]] = []
    for place in range(n):
        began = perf_counter()
        cells, given = formats.puzzle_at(chunk, place)
        found = solve_grid(cells, given, words, settings.order, limits, abort)
        if abort[0]:
            break
        for solution, key in enumerate(found.keys):
            solutions[place][solution] = solution_text(cells, key)
        witnesses[place] = found.witness
        promised.append((found.outcome, solutions[place]))
        _fill(columns, place, cells, found)
        columns["solve_s"][place] = perf_counter() - began
    columns["pack_s"] = columns["solve_s"] - columns["line_s"] - columns["search_s"]
    for name, column in (("solution", 0), ("second_solution", 1)):
        columns[name] = pa.array([pair[column] for pair in solutions], pa.string())
    columns["witness"] = pa.array(witnesses, pa.string())
    finished = np.arange(n) < len(promised)
    return Solved(columns, promised, not finished.all(), finished)


def _fill(columns: dict[str, Any], place: int, cells: Cells, found: Found) -> None:
    for name in COUNTS:
        columns[name][place] = found.counts.get(name, 0)
    columns["outcome"][place] = OUTCOMES.index(found.outcome)
    columns["stage"][place] = STAGES.index(found.stage)
    columns["n_solutions"][place] = found.n_solutions
    columns["exhausted"][place] = found.exhausted
    columns["line_s"][place], columns["search_s"][place] = found.line_s, found.search_s
    if found.outcome is not Outcome.CONTRADICTION:
        n_open = sum(number > 0 and number not in found.known for row in cells for number in row)
        columns["n_open"][place] = columns["n_open_lines"][place] = n_open


def solution_text(cells: Cells, key: Mapping[int, str]) -> str:
    """The filled grid and the key, as the columns `solution` and `second_solution` have them."""
    capital = {number: letter.upper() if len(letter.upper()) == 1 else letter for number, letter in key.items()}
    rows = ("".join(capital[number] if number else "#" for number in row) for row in cells)
    return json.dumps({"grid": "/".join(rows), "key": capital}, ensure_ascii=False)


def check(chunk: pa.RecordBatch, solutions: Any, settings: Settings = Settings()) -> list[tuple[int, str]]:
    """Every solution by the rules in plain Python; promised solutions must be there, and two must differ."""
    from .rules import broken_rule, load_plainly

    words = load_plainly(settings.words, settings.accents, settings.marks)
    rejected = []
    for place, (outcome, both) in enumerate(solutions):
        cells, given = formats.puzzle_at(chunk, place)
        found = [text for text in both if text]
        if len(found) < PROMISED.get(outcome, 0):
            rejected.append((place, f"{PROMISED[outcome]} solutions promised, {len(found)} given"))
        if len(set(found)) < len(found):
            rejected.append((place, "the two solutions are the same"))
        for number, text in enumerate(found, start=1):
            why = broken_rule(cells, given, text, words)
            if why:
                rejected.append((place, f"solution {number}: {why}"))
    return rejected


def show(chunk: pa.RecordBatch, row: Mapping[str, Any], settings: Settings = Settings()) -> list[str]:
    """The verdict, the filled grids with their keys, and what it took."""
    verdict = {"unique": "Unique: this is the only solution.", "multiple": "Ambiguous: at least 2 solutions."}
    verdict |= {"solved": "A solution; whether it is the only one was not asked.", "contradiction": "No solution"}
    lines = [usual_title(chunk, 0)]
    if not row["solution"]:
        lines += [" ".join(f"{number or '#':>2}" for number in numbers) for numbers in formats.puzzle_at(chunk, 0)[0]]
    for name in ("solution", "second_solution"):
        if row[name]:
            solution = json.loads(row[name])
            lines += [" ".join(letters) for letters in solution["grid"].split("/")]
            lines.append(" ".join(f"{number}={letter}" for number, letter in solution["key"].items()))
    lines.append(verdict.get(row["outcome"], f"Undecided: {row['n_open']:,} cells are open"))
    if row["outcome"] == "contradiction":
        lines[-1] += f": {row['witness']}." if row["witness"] else "."
    letters = len(load_words(settings.words, settings.accents, settings.marks).alphabet)
    lines.append(f"{row['n_colours']} numbers for {letters} letters: {perm(letters, row['n_colours']):,} keys in all")
    counts = (counted(row[name], noun) for name, noun in (("n_branches", "node"), ("n_probes", "word")))
    return [*lines, f"{' and '.join(counts)} tried"]


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def make(height: int, width: int, seed: int, options: Mapping[str, str]) -> str:
    """A puzzle with one solution, as text; see `generate`."""
    from .generate import NUMBERS, generated

    chosen = {**MAKES, **options}
    accents, marks, numbers = _choices(chosen, accents=ACCENTS, marks=MARKS, numbers=NUMBERS)
    return generated(height, width, seed, load_words(_word_list(chosen), accents, marks), numbers)


def configure(options: dict[str, str]) -> Kind:
    """The kind with a word list, which is read here once, so that a missing one is told before any work."""
    accents, marks, order = _choices(
        {"accents": "skip", "marks": "skip", "order": "fewest", **options}, accents=ACCENTS, marks=MARKS, order=ORDERS
    )
    size = None
    if options.get("size"):
        found = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3})", options["size"])
        if not found:
            raise ValueError(f"size: expected ROWSxCOLUMNS such as 11x11, found {options['size']!r}")
        size = int(found[1]), int(found[2])
    font = ""
    if options.get("font"):
        from .picture import load_font

        font = abspath(options["font"])
        load_font(font, 20)
    path = _word_list(options)
    load_words(path, accents, marks)
    settings = Settings(path, accents, marks, order, size, font)
    return replace(
        KIND,
        read=partial(read, settings=settings),
        batches=partial(batches, settings=settings),
        solve=partial(solve, settings=settings),
        check=partial(check, settings=settings),
        show=partial(show, settings=settings),
    )


def _word_list(options: Mapping[str, str]) -> str:
    if not options.get("words"):
        raise ValueError("expected a word list, `--set words=FILE` (one word a line, .gz too), found none")
    return abspath(options["words"])


def _choices(options: Mapping[str, str], **known: tuple[str, ...]) -> list[str]:
    """The values of options that are a choice. Errors: ValueError."""
    for name, values in known.items():
        if options[name] not in values:
            raise ValueError(f"{name}: expected {', '.join(values)}, found {options[name]!r}")
    return [options[name] for name in known]


KIND = Kind(
    "numcross",
    read,
    usual_title,
    solve,
    check,
    batches=batches,
    claims=claims,
    options=OPTIONS,
    configure=configure,
    compiled="numcross.search",
    show=show,
    make=make,
    makes=MAKES,
    noun="crossword",
)
