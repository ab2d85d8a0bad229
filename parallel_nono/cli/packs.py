"""`pnono pack` and `pnono unpack`: puzzle sets that a run reads without parsing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import FormatName, complain, counted, known_format, puzzles, say
from .convert import write
from .exits import Code, Failure, writing

if TYPE_CHECKING:
    import pyarrow as pa

    from ..formats.containers import Source


def pack(
    paths: Annotated[list[str], typer.Argument(metavar="IN...", help="Files, folders, archives, globs, or -.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The packed set, a Parquet file.")],
    format_name: FormatName = "",
) -> None:
    """Pack puzzles of any formats into one set, a Parquet file that `pnono run` reads without parsing.

    Clues, palettes, goals, names and metadata are kept. A puzzle that can't be read is kept too, as a row with its
    error: a run over the set shows the same rows as a run over IN.

    \b
    pnono pack datasets/ all.parquet
    pnono run --workers 8 all.parquet

    \b
    Exit codes: 0 packed; 3 packed, but a puzzle can't be read; 74 OUT can't be written.
    """
    from ..formats.packed import write_packed

    if format_name:
        known_format(format_name, "--format")
    if any(os.path.exists(path) and out.exists() and os.path.samefile(path, out) for path in paths):
        raise Failure(Code.USAGE, f"expected OUT to be another file than IN, found {out} twice")
    if out.exists() and not out.is_file():
        raise Failure(Code.UNWRITABLE, f"{out}: expected an ordinary file, found something else")
    errors: list[str] = []
    with writing(out):
        packed = write_packed(out, _batches(paths, format_name, errors))
    say(f"{counted(packed, 'puzzle')} in {out}" + (f", {len(errors):,} of them unreadable" if errors else ""))
    if errors:
        raise typer.Exit(Code.INVALID)


def unpack(
    source: Annotated[str, typer.Argument(metavar="SET", help="A packed set.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="A file, a folder (one file a puzzle), or -.")],
    to: Annotated[
        str, typer.Option(metavar="NAME", help="Format to write (see `pnono formats`); else by the ending of OUT.")
    ] = "",
) -> None:
    """Write the puzzles of a packed set as text: into one file, or one file each into a folder.

    \b
    pnono unpack all.parquet singles/ --to non
    pnono unpack all.parquet - --to sgt

    \b
    Exit codes: 0 all written; 3 a puzzle was packed as unreadable, or the format can't carry it;
    74 OUT can't be written.
    """
    write(puzzles(source), out, to)


def _batches(paths: list[str], format_name: str, errors: list[str]) -> Iterator[pa.RecordBatch]:
    """The sets of all paths with all columns; errors are named as they are met, and kept in `errors`."""
    from ..formats.containers import sources

    for source in sources(paths):
        for batch in sets(source, format_name):
            for message in filter(None, batch.column("error").to_pylist()):
                errors.append(message)
                complain(message)
            yield batch


def sets(source: Source, format_name: str) -> Iterator[pa.RecordBatch]:
    """The puzzle sets of one source with all columns, palettes and goals too."""
    from ..formats.files import batches
    from ..formats.packed import read_packed
    from ..puzzle import InvalidPuzzle
    from ..puzzleset import SCHEMA, set_of

    if not source.packed:
        yield from batches(source, format_name or None)
        return
    where = source.path if source.data is None else source.data
    try:
        yield from read_packed(where, tuple(SCHEMA.names), source.name)
    except InvalidPuzzle as error:
        yield set_of([error], source.name)
