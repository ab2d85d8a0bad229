"""The rules once more, in plain Python and apart from the solver: solutions as text against the grid and the words."""

from __future__ import annotations

import json
import unicodedata
from functools import lru_cache
from threading import Lock

from .words import text_of

_lock = Lock()


def load_plainly(path: str, accents: str, marks: str) -> frozenset[str]:
    """The words of a list, read once a process; see `words.load_words` for the options."""
    with _lock:
        return _load(path, accents, marks)


@lru_cache(maxsize=4)
def _load(path: str, accents: str, marks: str) -> frozenset[str]:
    return plain_words(text_of(path), accents, marks)


def plain_words(text: str, accents: str, marks: str) -> frozenset[str]:
    """The words of a text, one a line."""
    words = (plain_word(line, accents, marks) for line in text.split("\n"))
    return frozenset(word for word in words if len(word) > 1)


def plain_word(line: str, accents: str, marks: str) -> str:
    """A line as a word, or "" if the options leave it out."""
    word = line.strip().lower()
    if word.isascii() and word.isalpha():
        return word
    word = unicodedata.normalize("NFC", word)
    if accents == "strip":
        bare = [c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn"]
        word = unicodedata.normalize("NFC", "".join(bare))
    if marks == "strip":
        word = "".join(c for c in word if not (c in "'’ʼ`´" or unicodedata.category(c)[0] in ("P", "Z")))
    for c in word:
        if c == "ʼ" or unicodedata.category(c)[0] != "L":
            return ""
        if accents == "skip" and "LATIN" in unicodedata.name(c, "").split(" ")[0] and not "a" <= c <= "z":
            return ""
    return word


def broken_rule(cells: tuple[tuple[int, ...], ...], given: dict[int, str], solution: str, words: frozenset[str]) -> str:
    """What is wrong with a solution as its row has it, `{"grid": "PRIME#...", "key": {...}}`; "" if nothing is."""
    found = json.loads(solution)
    rows = found["grid"].split("/")
    if [len(row) for row in rows] != [len(row) for row in cells]:
        return "it has another size"
    key: dict[int, str] = {}
    for row, numbers in zip(rows, cells, strict=True):
        for letter, number in zip(row, numbers, strict=True):
            if (letter == "#") != (number == 0):
                return f"a block is no block, or the other way round, in {row}"
            if number and key.setdefault(number, letter) != letter:
                return f"{number} is both {key[number]} and {letter}"
    if len(set(key.values())) < len(key):
        return "two numbers share a letter"
    if found["key"] != {str(number): letter for number, letter in key.items()}:
        return "its key is not that of its grid"
    for number, letter in given.items():
        if key[number].lower() != letter:
            return f"{number} is {key[number]}, though {letter} was given"
    lines = (*rows, *map("".join, zip(*rows, strict=True)))
    placed = [word.lower() for line in lines for word in line.split("#") if len(word) > 1]
    strange = [word for word in placed if word not in words]
    if strange:
        return f"{strange[0]} is no word"
    twice = {word for word in placed if placed.count(word) > 1}
    return f"{min(twice)} stands there twice" if twice else ""
