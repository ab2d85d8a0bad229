"""Files in which one name is misspelt, or blanks are added: what any reader must make of them.

A misspelt tag, attribute, key, section or keyword gives the same puzzles, or somewhere a word that names it: in an
error, in a warning, or as a fact of the puzzle. It never gives other puzzles in silence. Blanks, tabs, byte order
marks and line ends of other systems mean nothing, or are an error.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from parallel_nono.files import reading
from parallel_nono.formats import Format, encoded
from parallel_nono.puzzle import BLACK_AND_WHITE, InvalidPuzzle, Puzzle, palette_of

SAMPLES = Path(__file__).parent / "samples"

NAME = re.compile(r"(?<![\w#&.])[A-Za-z_][A-Za-z_-]*[A-Za-z_](?![\w])")
"""What could be a name: a word of letters that is no part of a number, a shade or an entity."""

DATA = {
    "freenono": re.compile(r"(?<=<line>)[^<]*"),
    "matrix": re.compile(r".+"),
    "penpa": re.compile(r"p=\S*"),
    "puzzlink": re.compile(r"(?<=/\d/)\S*|(?<=/)\d+/\d+/\S*"),
    "rosetta": re.compile(r"[A-Z ]+"),
}  # fmt: skip
"""What is no name though it is made of letters: the clues themselves."""

COLUMNS = ["digest", "error", "warnings", "metadata", "name", "height", "width", "goal", "palette"]


class Mutant(NamedTuple):
    """A changed file.

    what   what was changed, for messages.
    names  the misspelt name and the right one; none where only blanks were added.
    """

    what: str
    names: tuple[str, ...]
    data: bytes


def misspelt(data: bytes, form: Format) -> Iterator[Mutant]:
    """Each word of a text with a letter more: each place by itself, then all places of one word."""
    if form.binary:
        return
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    taken = [found.span() for pattern in (DATA.get(form.name),) if pattern for found in pattern.finditer(text)]
    found = [m for m in NAME.finditer(text) if not any(a <= m.start() < b for a, b in taken)]
    for match in found:
        word = match[0]
        wrong = longer(word)
        line = text.count("\n", 0, match.start()) + 1
        changed = text[: match.start()] + wrong + text[match.end() :]
        yield Mutant(f"line {line}: {wrong}", (wrong, word), changed.encode())
    for word in sorted({match[0] for match in found}):
        places = [match.span() for match in found if match[0] == word]
        if len(places) > 1:
            changed, end = "", 0
            for a, b in places:
                changed += text[end:a] + longer(word)
                end = b
            yield Mutant(f"every {longer(word)}", (longer(word), word), (changed + text[end:]).encode())


def longer(word: str) -> str:
    return word + ("X" if word.isupper() else "x")


def padded(data: bytes, form: Format) -> Iterator[Mutant]:
    """Blanks, tabs, marks and line ends that people and programs add to a text."""
    if form.binary:
        return
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    lines = text.split("\n")
    changes = {
        "blanks at line ends": "\n".join(line + "  " for line in lines),
        "tabs at line ends": "\n".join(line + "\t" for line in lines),
        "blanks at line beginnings": "\n".join("  " + line if line else line for line in lines),
        "two blanks for one": re.sub(r"(?<=\S) (?=\S)", "  ", text),
        "tabs for blanks": re.sub(r"(?<=\S) (?=\S)", "\t", text),
        "no-break spaces for blanks": re.sub(r"(?<=\S) (?=\S)", "\u00a0", text),
        "blank lines before": "\n\n" + text,
        "blank lines behind": text + "\n\n",
        "no line end behind": text.rstrip("\n"),
        "CRLF": text.replace("\n", "\r\n"),
        "CR": text.replace("\n", "\r"),
        "byte order mark": "\ufeff" + text,
        "line separators": text.replace("\n", "\u2028"),
    }
    for what, changed in changes.items():
        yield Mutant(what, (), changed.encode())
    yield Mutant("UTF-16", (), text.encode("utf-16"))


def rows_of(data: bytes, source: str, forced: str | None) -> list[dict[str, object]]:
    found: pa.RecordBatch = reading.read_bytes(data, source, forced)
    return found.select(COLUMNS).to_pylist()


def told(rows: list[dict[str, object]]) -> str:
    """All that a set says in words."""
    words = []
    for row in rows:
        words += [str(row["error"]), str(row["warnings"]), str(row["metadata"]), str(row["name"])]
    return "\n".join(words)


class Misread(AssertionError):
    """Another puzzle, and no word about it."""


def judge(mutant: Mutant, before: list[dict[str, object]], after: list[dict[str, object]]) -> None:
    """Errors: Misread, unless the puzzles are the same or what was changed is named.

    before, after  rows of the whole file and of the changed one.
    """
    said = told(after).lower()
    if any(name.lower() in said for name in mutant.names[:1]):
        return
    if {_without_places(row["error"]) for row in after} - {_without_places(row["error"]) for row in before}:
        return
    digests, old = ([row["digest"] for row in rows] for rows in (after, before))
    if digests != old:
        warned = "\n".join(str(row["warnings"]) for row in after).lower()
        if mutant.names and mutant.names[1].lower() in warned:
            return
        made = [row for row in after if row["digest"] and row["digest"] not in old]
        if made and not mutant.names and all(row["warnings"] for row in made):
            return
        shapes = [(row["width"], row["height"], row["warnings"]) for row in made]
        raise Misread(f"{mutant.what}: {len(old)} puzzles became {len(digests)}, new are {shapes}")
    for row, whole in zip(after, before, strict=True):
        if row["error"] or row["warnings"] != whole["warnings"]:
            continue
        for key in ("goal", "palette"):
            shown, right = (_shades(r[key]) for r in (row, whole))
            if shown != right:
                raise Misread(f"{mutant.what}: another {key} without a word")
        facts, right_facts = (json.loads(str(r["metadata"]) or "{}") for r in (row, whole))
        if mutant.names and len(facts) < len(right_facts):
            raise Misread(f"{mutant.what}: facts lost without a word: {right_facts.keys() - facts.keys()}")


def _without_places(error: object) -> str:
    return re.sub(r"[0-9]+", "", str(error))


def _shades(value: object) -> object:
    """A goal as it is; the shades of a palette, of which none is black and white."""
    if value is None:
        return [0xFFFFFF, 0]
    return [c["rgb"] for c in value] if isinstance(value, list) and value and isinstance(value[0], dict) else value


# At random, for scripts that go on for hours.


def check_random_misspelt(rng: random.Random, form: Format) -> bytes:
    """Read a random file in which one name, or a few, are misspelt. Errors: Misread, the file as its second part."""
    return _check_random(rng, form, misspelt)


def check_random_padded(rng: random.Random, form: Format) -> bytes:
    """Read a random file to which blanks are added. Errors: Misread, the file as its second part."""
    return _check_random(rng, form, padded)


Change = Callable[[bytes, Format], Iterator[Mutant]]


def _check_random(rng: random.Random, form: Format, change: Change) -> bytes:
    data = random_file(rng, form)
    name = f"x{form.extensions[0]}"
    mutants = list(change(data, form))
    if not mutants:
        return data
    mutant = rng.choice(mutants)
    for forced in (None, form.name):
        try:
            judge(mutant, rows_of(data, name, forced), rows_of(mutant.data, name, forced))
        except Misread as error:
            raise Misread(str(error), mutant.data) from None
    return mutant.data


def random_file(rng: random.Random, form: Format) -> bytes:
    """A sample of a format, or what its writer makes of one or two random puzzles."""
    own = samples_of(form.name)
    for _ in range(20 if form.write and (not own or rng.random() < 0.8) else 0):
        assert form.write is not None
        try:
            n = rng.choice([1, 1, 2]) if form.several else 1
            return encoded(form.write([random_puzzle(rng, form) for _ in range(n)]))
        except InvalidPuzzle:
            continue  # a picture that this format can't carry
    return rng.choice(own)


@cache
def samples_of(name: str) -> list[bytes]:
    whole = [(path.name, path.read_bytes()) for path in sorted(SAMPLES.iterdir())]
    return [data for file, data in whole if reading.content_and_format(data, file, None)[2].name == name]


def random_puzzle(rng: random.Random, form: Format) -> Puzzle:
    """A small picture as a puzzle with a name and facts, perhaps with colours, perhaps without its goal."""
    height, width = rng.randrange(1, 8), rng.randrange(1, 8)
    if form.name == "taai":
        width = height
    inks = rng.choice([1, 1, 2, 3]) if form.colours else 1
    grid = [[rng.choice([0, *range(1, inks + 1)]) for _ in range(width)] for _ in range(height)]
    palette = BLACK_AND_WHITE if inks == 1 else palette_of(inks + 1)
    facts = (("author", "Somebody"), ("seed", "one"), ("copyright", "none"))
    grid[0][0] = grid[0][0] or inks
    puzzle = Puzzle.of_grid(grid, palette, name=rng.choice(["A name", "rows", "x"]), metadata=facts)
    return puzzle if form.picture or rng.random() < 0.6 else replace(puzzle, goal=None)
