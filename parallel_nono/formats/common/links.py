"""Puzzles in the addresses of web pages, one a line: what `puzzlink` and `penpa` share.

A line may begin with a label and a tab; lines with `#` first are comments. A `.url` file, the shortcut of a desktop,
holds its address after `URL=`. What chats and letters make of an address is undone: `<...>`, brackets and quotes around
it, a full stop behind it, `%2F`. Nothing is ever fetched: the address itself is the puzzle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from urllib.parse import unquote

from ...puzzle import InvalidPuzzle
from .. import Parsed
from .text import labelled, numbered, wrong

SHORTCUT = "[InternetShortcut]"
MAX_HEAD = 8000
ADDRESS = re.compile(r"https?://[^\s<>\"`]+", re.IGNORECASE)
BEHIND = ".,;:!?)]}>*'\u2019\u201d\u00bb"
"""Signs that end a sentence or close a bracket, and never an address with a puzzle."""

ESCAPED = re.compile(r"(?:[!-$&-~]|%[2-7][0-9A-Fa-f])*%[2-7][0-9A-Fa-f](?:[!-$&-~]|%[2-7][0-9A-Fa-f])*")
"""Signs of ASCII, some of them as `%2F`."""

PENPA = ("#m=edit", "#m=solve", "?m=edit", "?m=solve")


def addresses(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, label, address) of every line with something in it, comments apart."""
    shortcut = text.lstrip().startswith(SHORTCUT)
    for place, line in numbered(text):
        if not line or line.startswith("#") or (shortcut and not line.startswith("URL=")):
            continue
        label, _, address = line.rpartition("\t")
        if "\t" in label:  # not one address: let its reader say what is wrong
            label, address = "", line
        yield place, label.strip(), mended(address.strip().removeprefix("URL="))


def mended(address: str) -> str:
    """An address as it was before somebody wrote it into a sentence; what holds none or several stays as it is."""
    found = ADDRESS.findall(address)
    if len(found) != 1 or "\t" in address:
        return address
    plain = found[0].rstrip(BEHIND)
    plain = found[0] if plain.endswith("=") else plain  # nothing but signs: no end of a sentence
    if "/" in plain.rpartition("?")[2]:  # there full stops may be clues: its reader sees what is too many
        behind = found[0][len(plain) :]
        plain += behind[: len(behind) - len(behind.lstrip("."))]
    return unquote(plain, errors="strict") if ESCAPED.fullmatch(plain) else plain


def first(text: str) -> str:
    """The first address of a text, or ""; only the beginning of the text is looked at."""
    head = text[:MAX_HEAD]
    return next(addresses(head), (0, "", ""))[2] if "/" in head else ""


def parse(text: str, source: str) -> Parsed:
    lines = list(addresses(text))
    if not lines:
        raise wrong(source, 0, "addresses such as https://puzz.link/p?nonogram/...", "no line with one")
    for index, (place, label, address) in enumerate(lines, start=1):
        name = labelled("address" if "://" in source else source, label, index, len(lines) == 1)
        reader = import_module(
            ".penpa" if any(sign in address for sign in PENPA) else ".puzzlink", "parallel_nono.formats"
        )
        try:
            yield reader.puzzle_of(address, source, place, name, index)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=name, index=index)
