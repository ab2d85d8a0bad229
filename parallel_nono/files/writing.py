"""From puzzles to files: `write` puts them there, `content_of` only makes what the file would hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..formats import PACKINGS, Format, encoded, format_named, format_of_extension
from ..puzzle import InvalidPuzzle, Puzzle

PACKED_SET = ".parquet"
"""How a packed set ends."""


def write(puzzles: Puzzle | Iterable[Puzzle], path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write puzzles into a file, whole or not at all.

    puzzles  one or several; several need a format with room for them.
    path     the file; it is replaced if it exists. `.parquet` is a packed set.
    format   a name as `pnono formats` lists them; None: as the file ends.
    Errors   InvalidPuzzle if no format has that name or ending, or naming what it cannot carry (colours, blots, several
             puzzles, the lack of a goal): nothing is dropped. OSError if the file can't be written.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from parallel_nono import Puzzle, read, write
    >>> hook = Puzzle.of_clues(rows=[2, 1, 3], columns=[3, [1, 1], 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(hook, Path(folder) / "hook.non")
    ...     [again] = read(Path(folder) / "hook.non")
    >>> again.digest == hook.digest
    True
    """
    found = [puzzles] if isinstance(puzzles, Puzzle) else list(puzzles)
    name = os.fspath(path)
    if format is None and name.lower().endswith(PACKED_SET):
        from ..puzzleset import set_of
        from .packed import write_packed

        write_packed(name, [set_of(found)])
        return
    save(Path(name), encoded(content_of(found, format or _format_of(name).name)))


def _format_of(name: str) -> Format:
    """Errors: InvalidPuzzle."""
    form = None if name.lower().endswith(PACKINGS) else format_of_extension(name)
    if form is None or form.write is None:
        raise InvalidPuzzle(f"{name}: expected a name that ends like a format that can be written, or `format`")
    return form


def content_of(puzzles: Sequence[Puzzle], format: str) -> Any:
    """What a file of puzzles in a format holds: a str, or bytes if the format is a binary one.

    Errors: InvalidPuzzle naming what the format cannot carry.
    """
    form = format_named(format)
    if form.write is None:
        raise InvalidPuzzle(f"expected a format that can be written, found {format!r}, which is read only")
    return form.write(puzzles)


def save(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; what is no ordinary file (a pipe, a device) is written as it is."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path = path.resolve()  # a link stays, what it points to is replaced
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
