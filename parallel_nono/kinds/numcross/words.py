"""Word lists as kernels read them: for each length a table of letter codes, and the words of each shape in it.

A list is any text with one word a line. Case does not count. Words that cannot be words of a grid as the options have
it are left out; nothing in a list is an error but a list without words.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np

from ...files.containers import Source
from ...formats.common.decode import decode
from ...puzzle import InvalidPuzzle

ACCENTS = ("skip", "strip", "keep")
MARKS = ("skip", "strip")
MAX_LETTERS = 255
LONGEST = 250
"""Letters of a word; longer ones fit no grid."""

BREAK, MARK, BAD = -1, -2, -3
APOSTROPHES = "'’ʼ`´"


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """A word list.

    alphabet  the letters by code, small ones.
    letters   uint8, the codes of all words of all lengths, one after another.
    tables    for each length uint8[words, length], sorted, no word twice: views of `letters`.
    starts    for each length where its table begins in `letters`.
    shapes    for each length int32[words], the ordinals of its words, those of one shape together, each sorted.
    ranges    for each length and shape where its words stand in `shapes`; a shape is for each letter the place of the
              first one like it, as bytes.
    left_out  lines that were not used: no words, or words that the options leave out.
    """

    alphabet: str
    letters: np.ndarray
    tables: dict[int, np.ndarray]
    starts: dict[int, int]
    shapes: dict[int, np.ndarray]
    ranges: dict[int, dict[bytes, tuple[int, int]]]
    left_out: int

    def __len__(self) -> int:
        return sum(len(table) for table in self.tables.values())

    def of_shape(self, numbers: tuple[int, ...]) -> np.ndarray:
        """int32, the ordinals of the words whose letters repeat as these numbers do."""
        length = len(numbers)
        shape = bytes(numbers.index(number) for number in numbers)
        start, end = self.ranges.get(length, {}).get(shape, (0, 0))
        return self.shapes[length][start:end] if end else np.zeros(0, np.int32)


_lock = Lock()


def load_words(path: str, accents: str, marks: str) -> Words:
    """The list in a file, plain or gzipped; read once a process. Errors: ValueError in the words of a user.

    accents  Latin letters with accents and the like: `skip` leaves their words out, `strip` takes the accents off,
             `keep` has them as letters of their own. Letters of other scripts always stand as they are.
    marks    apostrophes, hyphens, dots and blanks inside words: `skip` leaves these words out, `strip` joins them.
    """
    with _lock:
        return _load(path, accents, marks)


@lru_cache(maxsize=4)
def _load(path: str, accents: str, marks: str) -> Words:
    return words_of(text_of(path), path, accents, marks)


def text_of(path: str) -> str:
    """The text of a word list. Errors: ValueError."""
    if os.path.isdir(path):
        raise ValueError(f"expected a word list, found the folder {path}")
    try:
        size = os.path.getsize(path) if os.path.exists(path) else 0
        return decode(Source(path, size, path).load(), path)[0]
    except InvalidPuzzle as error:
        raise ValueError(f"expected a word list: {error}") from None


def words_of(text: str, path: str, accents: str = "skip", marks: str = "skip") -> Words:
    """The words of a text. Errors: ValueError if there are none, or with too many letters."""
    text = "\n".join([line.strip() for line in unicodedata.normalize("NFC", text.lower()).split("\n")])
    if accents == "strip":
        text = unicodedata.normalize("NFD", text)
        text = text.translate({ord(c): None for c in set(text) if unicodedata.category(c) == "Mn"})
        text = unicodedata.normalize("NFC", text)
    points = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    codes = _meaning(points, accents)[points]
    if marks == "strip":
        codes = codes[codes != MARK]
    breaks = np.flatnonzero(codes == BREAK)
    begins, ends = np.concatenate(([0], breaks + 1)), np.concatenate((breaks, [len(codes)]))
    lengths = ends - begins
    wrong = np.concatenate(([0], np.cumsum(codes < BREAK)))
    good = (lengths >= 2) & (lengths <= LONGEST) & (wrong[ends] == wrong[begins])
    rows = {
        int(length): codes[begins[good & (lengths == length)][:, None] + np.arange(length)]
        for length in np.unique(lengths[good])
    }
    if not rows:
        raise ValueError(f"expected words of two or more letters, one a line, found none in {path}")
    return _tables(rows, path, int(np.count_nonzero((lengths > 0) & ~good)))


def _meaning(points: np.ndarray, accents: str) -> np.ndarray:
    """For each code point that occurs: itself if it is a letter, else BREAK, MARK or BAD."""
    meaning = np.full(int(points.max(initial=0)) + 1, BAD, np.int32)
    for point in np.flatnonzero(np.bincount(points)).tolist():
        char = chr(point)
        category = unicodedata.category(char)
        if char == "\n":
            meaning[point] = BREAK
        elif char in APOSTROPHES or category[0] in "PZ":
            meaning[point] = MARK
        elif category[0] == "L" and not (accents == "skip" and is_accented(char)):
            meaning[point] = point
    return meaning


def is_accented(char: str) -> bool:
    """True for Latin letters beyond a to z."""
    return not char.isascii() and unicodedata.name(char, "").startswith("LATIN")


def _tables(rows: dict[int, np.ndarray], path: str, left_out: int) -> Words:
    used = np.unique(np.concatenate([np.unique(table) for table in rows.values()]))
    if len(used) > MAX_LETTERS:
        raise ValueError(f"expected words of at most {MAX_LETTERS} different letters, found {len(used)} in {path}")
    code = np.zeros(int(used[-1]) + 1, np.uint8)
    code[used] = np.arange(len(used))
    tables = {length: _rows_of(np.unique(_texts_of(code[table]))) for length, table in rows.items()}
    tables[1] = np.arange(len(used), dtype=np.uint8)[:, None]  # a cell that is in no word takes any letter
    letters = np.concatenate([table.ravel() for table in tables.values()])
    starts, shapes, ranges, at = {}, {}, {}, 0
    for length, table in tables.items():
        starts[length] = at
        tables[length] = letters[at : at + table.size].reshape(table.shape)
        at += table.size
        shapes[length], ranges[length] = _by_shape(table)
    del tables[1]
    return Words("".join(map(chr, used)), letters, tables, starts, shapes, ranges, left_out)


def _by_shape(table: np.ndarray) -> tuple[np.ndarray, dict[bytes, tuple[int, int]]]:
    """The words of each shape of one length: see Words."""
    first = np.empty(table.shape, np.uint8)
    for place in range(table.shape[1]):
        first[:, place] = np.argmax(table[:, : place + 1] == table[:, place : place + 1], axis=1)
    texts = _texts_of(first)
    order = np.argsort(texts, kind="stable")
    found, counts = np.unique(texts[order], return_counts=True)
    ends = np.cumsum(counts)
    spans = zip((ends - counts).tolist(), ends.tolist(), strict=True)
    shapes = {row.tobytes(): span for row, span in zip(_rows_of(found), spans, strict=True)}
    return order.astype(np.int32), shapes


def _texts_of(rows: np.ndarray) -> np.ndarray:
    """Rows of uint8 below 255 as byte strings, which NumPy sorts far faster; 1 is added, as NUL would end them."""
    return np.ascontiguousarray(rows + np.uint8(1)).view(f"S{rows.shape[1]}").ravel()


def _rows_of(texts: np.ndarray) -> np.ndarray:
    """The rows again."""
    return texts.view(np.uint8).reshape(len(texts), -1) - np.uint8(1)
