"""Files of puzzles: one format a file, one table, one contract.

A format is a module that ends in `FORMAT = Format(...)` and is listed in `MODULES` below; nothing else has to know it.
Containers (.gz, .zip, .tar.*), encodings and line ends are dealt with (`files`) before a format sees its text: it gets
a str whose lines end in "\\n". A binary format (pictures, ROFL) gets the bytes as they are, and writes bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..puzzle import InvalidPuzzle, Palette, Puzzle

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

EMPTY_LINE = re.compile(
    r"^[ \t]*+(?:[\u2010-\u2014\u2212-]|\[[ \t]*+0?[ \t]*+\]|\([ \t]*+0?[ \t]*+\)|\"\"|'')[ \t]*+$", re.MULTILINE
)
"""A line that is a sign for an empty line of cells and no number."""

Parsed = Iterator[Puzzle | InvalidPuzzle]

Content = str | bytes
"""What a file holds: text, or the bytes of a binary format."""


def encoded(content: Content) -> bytes:
    """The bytes of a file."""
    return content if isinstance(content, bytes) else content.encode()


class Packed(NamedTuple):
    """Puzzles read at once from several texts, in order.

    owners   int32[puzzles], ascending: the text that each came from. A text that is no owner was not understood.
    heights, widths  int32[puzzles]
    counts   int32[lines], blocks of each line, all puzzles after one another, rows first in each.
    lengths  int32[blocks];  colours  uint16[blocks], None: black and white.
    titles   the own name of each, "" where it has none; None: the texts have no names.
    labels   what tells it apart in its text, "": nothing; None: its number does.
    facts    (int64[puzzles] ends, uint8 UTF-8): metadata as sets keep them (`puzzleset.SCHEMA`); None: there are none.
    goals    (int64[puzzles] ends, uint16 cells row by row), without a cell where there is none; None: there are none.
    palettes  None: all are black and white.
    """

    owners: np.ndarray
    heights: np.ndarray
    widths: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray
    colours: np.ndarray | None = None
    titles: list[str] | None = None
    labels: list[str] | None = None
    facts: tuple[np.ndarray, np.ndarray] | None = None
    goals: tuple[np.ndarray, np.ndarray] | None = None
    palettes: list[Palette] | None = None


@dataclass(frozen=True, slots=True)
class Format:
    """What the rest of the house needs of a file format.

    name        short and stable, for `--format` and `pnono formats`.
    title       one sentence for people.
    extensions  with the dot, the usual one first; used only when the content does not decide.
    sniff       text -> True when the text can be this format and hardly anything else, broken or not. Called in the
                order of the table; must be cheap. It may be given the beginning of a text only.
    parse       (text, source) -> puzzles in file order. A broken puzzle is *yielded* as InvalidPuzzle, so that the
                others survive; a file that can't be cut into puzzles raises InvalidPuzzle. Messages read
                `SOURCE:LINE: expected ..., found ...` (without `:LINE` where a line means nothing). Puzzles of a
                format without names are named by `text.stem`.
    write       puzzles -> text, or None if the format is read only. Errors: InvalidPuzzle naming what it cannot
                carry (colours, several puzzles). It never sees a blot unless `blots` is True.
    pack        bytes without CR, NUL and Ctrl-Z -> the same puzzles as `parse` gives of their text (tests hold them
                against each other) as flat arrays, for formats read by the ten thousand. It takes nothing that is not
                UTF-8, or that neither `sniff` nor `begins` would take; a text with anything unusual in it is left to
                `parse`.
    first       characters one of which such a text begins with, blanks apart; "": any. Of a binary format the byte
                with which its files begin, as a character.
    picture     a file keeps the picture in place of the clues: only puzzles with a goal can be written.
    binary      `sniff` and `parse` get bytes in place of text, and `write` gives bytes. Binary formats look at a file
                before all others; what they `sniff` is not decoded.
    lookalikes  formats whose texts may look the same: where neither the user nor the ending of a name chose the
                format, all readings are compared, and what remains open is a warning.
    begins      text -> True when it begins with a whole puzzle of the format, whatever follows: for texts whose name
                ends like the format, and for lookalikes.
    unique      a file stands for the one solution: a puzzle with several or none is only written if somebody insists.
    cut         what the line begins with that opens a new puzzle, so that a long text can be read piece by piece;
                "": a new puzzle on each line; None: the text is read at once.
    write_sets  sets with all their columns and without errors -> the text that `write` makes of their puzzles, without
                an object for each block: for huge puzzles.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    sniff: Callable[[Any], bool]
    parse: Callable[[Any, str], Parsed]
    write: Callable[[Iterable[Puzzle]], Any] | None = None
    pack: Callable[[Sequence[bytes]], Packed] | None = None
    colours: bool = False
    several: bool = False
    blots: bool = False
    picture: bool = False
    binary: bool = False
    unique: bool = False
    first: str = ""
    lookalikes: tuple[str, ...] = ()
    begins: Callable[[Any], bool] | None = None
    cut: str | None = None
    write_sets: Callable[[Iterable[pa.RecordBatch]], str] | None = None

    def __post_init__(self) -> None:
        if self.write and not self.blots:
            object.__setattr__(self, "write", partial(_write_without_blots, self.name, self.write))


def _write_without_blots(name: str, write: Callable[[Iterable[Puzzle]], str], puzzles: Iterable[Puzzle]) -> str:
    """`write`, for a format that has no sign for a blot. Errors: InvalidPuzzle that names it."""

    def plain() -> Iterator[Puzzle]:
        for puzzle in puzzles:
            if puzzle.has_blots:
                raise InvalidPuzzle(f"{name} carries no blotted clues (`?`), found some in {puzzle.name!r}")
            yield puzzle

    return write(plain())


MODULES = {
    "png": (".png",),
    "gif": (".gif",),
    "bmp": (".bmp",),
    "netpbm": (".pbm", ".pgm", ".ppm", ".pnm"),
    "rofl": (".rofl",),
    "jap": (".jap",),
    "xpm": (".xpm",),
    "webpbn": (".xml", ".pbn"),
    "freenono": (".nonogram", ".freenono.xml"),
    "nonograms_org": (".js", ".html", ".htm"),
    "puzzle_nonograms": (".task.html",),
    "pzprv3": (".pzprv3",),
    "puzzlink": (".url",),
    "penpa": (".penpa.url", ".penpa"),
    "sgtsave": (".sav",),
    "sgriddler": (".sgriddler", ".griddler"),
    "json": (".json", ".jsonl", ".ndjson"),
    "nonogrid": (".toml",),
    "pynogram": (".ini",),
    "gno": (".gno",),
    "bosch": (".bosch.lp", ".lp"),
    "asp": (".asp.lp", ".lp"),
    "dzn": (".dzn",),
    "picross": (".picross", ".picross.txt"),
    "csv": (".csv", ".tsv"),
    "taai": (".taai",),
    "sgt": (".sgt",),
    "pynonogram": (".pynonogram.non",),
    "non": (".non", ".nonpack"),
    "faase": (".faase", ".faase.txt"),
    "makhorin": (".makhorin", ".makhorin.txt"),
    "jcross": (".jcross", ".jcross.txt"),
    "pzl": (".pzl",),
    "mk": (".mk",),
    "nin": (".nin",),
    "nono": (".nono",),
    "dataset": (".dataset", ".dataset.txt"),
    "cwc": (".cwc",),
    "cwd": (".cwd",),
    "syro": (".syro", ".syro.txt"),
    "ish": (".ish", ".ish.txt"),
    "keen": (".keen", ".keen.txt"),
    "matrix": (".01", ".01.txt", ".nnv", ".matrix"),
    "rosetta": (".letters", ".letters.txt"),
    "olsak": (".g",),
}
"""The table: modules in the order in which they look at an unknown text, the surest first, and the endings of their
formats (`Format.extensions`). A file that is named after its format is read without the modules of all others."""

BINARY = {"png": "\x89", "gif": "G", "bmp": "B", "netpbm": "P", "rofl": "R", "jap": "T"}
"""The modules of binary formats, and what their files begin with (`Format.first`)."""


@cache
def _format(module: str) -> Format:
    form: Format = import_module(f".{module}", __name__).FORMAT
    return form


@cache
def _formats() -> tuple[Format, ...]:
    return tuple(map(_format, MODULES))


def __getattr__(name: str) -> Any:
    """`FORMATS`, the formats of the table; loaded at the first use, so that a start does not pay for them."""
    if name == "FORMATS":
        return _formats()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def format_named(name: str) -> Format:
    """The format called `name`. Errors: InvalidPuzzle that lists the names there are."""
    for module in sorted(MODULES, key=lambda module: module != name):  # most are called like their module
        if (form := _format(module)).name == name:
            return form
    raise InvalidPuzzle(f"expected a format among {', '.join(f.name for f in _formats())}, found {name!r}")


MOST_ENDINGS = 3
"""Full stops of the longest ending, with that of a packing."""

PACKINGS = (".gz", ".xz", ".bz2", ".zst", ".zstd")
"""Endings of single files that are packed."""


def unpacked_name(name: str) -> str:
    """A file name in small letters without the ending that says how it is packed."""
    name = name.lower()
    return next((name.removesuffix(ending) for ending in PACKINGS if name.endswith(ending)), name)


def format_of_extension(source: str) -> Format | None:
    """The format that a file name ends like, compression apart; None if no format has that ending.

    The longest ending wins: `.pynonogram.non` before `.non`.
    """
    name = unpacked_name(source)
    found = [
        (len(ending), module) for module, endings in MODULES.items() for ending in endings if name.endswith(ending)
    ]
    return _format(max(found, key=lambda pair: pair[0])[1]) if found else None


def recognise_bytes(data: bytes) -> Format | None:
    """The binary format that data begin like; None: they are text, or nothing that is known."""
    could = [module for module, first in BINARY.items() if data and chr(data[0]) in first]
    return next((form for form in map(_format, could) if form.sniff(data)), None)


def recognise(text: str, source: str = "") -> Format | None:
    """The format of a text: what its content shows; where several could be, the one that its name ends like.

    A line of nothing but a sign for an empty line, `-` or `[]`, is looked at as the `0` that all formats know. None:
    neither content nor extension tells.
    """
    return _sniffed(text, source) or _sniffed(EMPTY_LINE.sub("0", text), source) or format_of_extension(source)


def could_be(form: Format, text: str) -> bool:
    """Whether a text can be of a format, signs for empty lines looked at as in `recognise`."""
    return form.sniff(text) or form.sniff(EMPTY_LINE.sub("0", text))


@lru_cache(maxsize=1024)
def _named(ending: str) -> tuple[Format, ...]:
    """The formats of a name that goes on like this from its first full stop."""
    return tuple(_format(module) for module, endings in MODULES.items() if ending.endswith(endings))


def only_named(source: str) -> Format | None:
    """The format whose ending a file name has, where no other format has it too."""
    parts = source.rpartition("/")[2].split(".")[1:][-MOST_ENDINGS:]
    return _only_named(".".join(parts)) if parts else None


@lru_cache(maxsize=1024)
def _only_named(endings: str) -> Format | None:
    found = _named(unpacked_name("." + endings))
    return found[0] if len(found) == 1 else None


def _sniffed(text: str, source: str) -> Format | None:
    start = text[:200].lstrip()[:1]
    if not start:
        start = text.lstrip()[:1]

    def eligible(form: Format) -> bool:
        return not form.binary and (not form.first or (start != "" and start in form.first))

    _, dot, ending = unpacked_name(source).rpartition("/")[2].partition(".")
    for form in _named(dot + ending) if dot else ():
        if eligible(form) and (form.sniff(text) or (form.begins and form.begins(text))):
            return form
    for form in _formats():
        if eligible(form) and form.sniff(text):
            return form
    return None
