"""Files of generated puzzles from a manifest (TOML): a list of files, each with its format and what is in it.

    [[file]]
    name = "pictures.sgt"
    format = "sgt"
    puzzles = [
        { kind = "blobs", height = 20, width = 20, seeds = "1-100, 250", density = 45 },
    ]

Keys of an entry that are not `kind`, `height`, `width` or `seeds` are options of its kind. Nothing else decides a
byte of the files, so a manifest is as good as they are.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..files.writing import content_of
from ..formats import Content, encoded
from ..puzzle import InvalidPuzzle, Puzzle
from . import generate


def write_manifest(manifest: Path, out: Path) -> list[Path]:
    """Make all files of a manifest in the folder `out` (made if need be) and return their paths in order.

    Errors: InvalidPuzzle with file and entry if the manifest asks for something unknown; nothing is written then
    of the file it is about. OSError if a file can't be read or written.
    """
    written = []
    for name, content in texts_of(manifest):
        out.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(encoded(content))
        written.append(out / name)
    return written


def texts_of(manifest: Path) -> Iterator[tuple[str, Content]]:
    """(file name, content) of each file of a manifest, in order. Errors: as `write_manifest`."""
    for name, form, puzzles, where in _files(manifest):
        try:
            yield name, content_of(puzzles, form)
        except InvalidPuzzle as error:
            raise InvalidPuzzle(f"{where}: {error}") from error


def puzzles_of_files(manifest: Path) -> Iterator[tuple[str, list[Puzzle]]]:
    """(file name, puzzles) of each file of a manifest, in order. Errors: as `write_manifest`."""
    for name, _, puzzles, _ in _files(manifest):
        yield name, puzzles


def _files(manifest: Path) -> Iterator[tuple[str, str, list[Puzzle], str]]:
    """(file name, format, puzzles, where it stands in the manifest) of each file."""
    try:
        content = tomllib.loads(manifest.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidPuzzle(f"{manifest}: expected a TOML file, found: {error}") from error
    tables = content.get("file")
    if not isinstance(tables, list) or set(content) != {"file"}:
        raise InvalidPuzzle(f"{manifest}: expected only [[file]] tables, found {', '.join(content) or 'nothing'}")
    seen: set[str] = set()
    for number, table in enumerate(tables, start=1):
        where = f"{manifest}: file {number}"
        name, form = _text(table, "name", where), _text(table, "format", where)
        if name in seen or name in (".", "..") or any(c in name for c in "/\\\0:"):
            raise InvalidPuzzle(f"{where}: expected a file name of its own without a folder, found {name!r}")
        seen.add(name)
        where = f"{where} ({name})"
        puzzles = _puzzles(table, where)
        yield name, form, [replace(puzzle, source=name, index=i) for i, puzzle in enumerate(puzzles, start=1)], where


def _text(table: Any, key: str, where: str) -> str:
    value = table.get(key) if isinstance(table, dict) else None
    if not isinstance(value, str) or not value:
        raise InvalidPuzzle(f"{where}: expected a text for `{key}`, found {value!r}")
    return value


def _puzzles(table: dict[str, Any], where: str) -> Iterator[Puzzle]:
    unknown = set(table) - {"name", "format", "puzzles"}
    entries = table.get("puzzles")
    if unknown or not isinstance(entries, list) or not entries:
        found = ", ".join(sorted(unknown)) or repr(entries)
        raise InvalidPuzzle(f"{where}: expected name, format and a list `puzzles`, found {found}")
    for number, entry in enumerate(entries, start=1):
        place = f"{where}, entry {number}"
        kind = _text(entry, "kind", place)
        numbers = {key: value for key, value in entry.items() if key not in ("kind", "seeds")}
        for key, value in numbers.items():
            if not isinstance(value, int) or isinstance(value, bool):
                raise InvalidPuzzle(f"{place}: expected a whole number for `{key}`, found {value!r}")
        if not {"height", "width"} <= set(numbers):
            raise InvalidPuzzle(f"{place}: expected `height` and `width`, found {', '.join(numbers) or 'neither'}")
        for seed in _seeds(entry.get("seeds", "0"), place):
            try:
                yield generate(kind, numbers["height"], numbers["width"], seed, **_options(numbers))
            except InvalidPuzzle as error:
                raise InvalidPuzzle(f"{place}: {error}") from error


def _options(numbers: dict[str, int]) -> dict[str, int]:
    return {key: value for key, value in numbers.items() if key not in ("height", "width")}


def _seeds(text: Any, where: str) -> Iterator[int]:
    """`1-4, 9` is 1, 2, 3, 4, 9. Errors: InvalidPuzzle."""
    if isinstance(text, int) and not isinstance(text, bool):
        text = str(text)
    for part in text.split(",") if isinstance(text, str) else [""]:
        first, dash, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() if dash else not last)):
            raise InvalidPuzzle(f"{where}: expected seeds like `1-100, 250`, found {text!r}")
        yield from range(int(first), int(last if dash else first) + 1)
