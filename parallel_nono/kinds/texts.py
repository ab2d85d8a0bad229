"""What kinds with many puzzles in one text share: long files read a piece at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from ..puzzle import InvalidPuzzle
from . import unread

if TYPE_CHECKING:
    from ..files.containers import Source

PIECE = 1 << 20
"""Characters that are read at once."""

Parse = Callable[[str, str, int, int, str], pa.RecordBatch]
"""(text, source, lines before it, puzzles before it, warning) -> chunk."""


def batches(source: Source, parse: Parse, begins: re.Pattern[str], about: int = 0) -> Iterator[pa.RecordBatch]:
    """The puzzles of one text, piece by piece, numbered as in the whole.

    begins  matches at the beginning of every line that opens a puzzle, and at no other (`re.MULTILINE`).
    about   characters of a piece, else PIECE.
    """
    from ..formats.common.decode import decode

    try:
        text, warning = decode(source.load(), source.name)
    except InvalidPuzzle as error:
        yield unread(source.name, str(error))
        return
    lines = puzzles = start = 0
    while start < len(text):
        found = begins.search(text, start + (about or PIECE))
        end = found.start() if found else len(text)
        chunk = parse(text[start:end], source.name, lines, puzzles, warning)
        if chunk.num_rows:
            yield chunk
        puzzles += chunk.num_rows
        lines += text.count("\n", start, end)
        start = end
    if not puzzles:
        yield unread(source.name, f"{source.name}: expected a puzzle, found none")
