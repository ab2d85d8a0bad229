"""`pnono pack` and `pnono unpack`: puzzle sets that a run reads without parsing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ..pictures.door import say
from .common import FormatName, check_paths, complain, counted, files, known_format, puzzles
from .convert import format_to_write, is_folder, write, write_sets
from .exits import Code, Failure, writing

if TYPE_CHECKING:
    import pyarrow as pa

    from ..files.containers import Source


def pack(
    paths: Annotated[
        list[str], typer.Argument(metavar="IN...", help="Files, folders, archives, globs, addresses, or -.")
    ],
    out: Annotated[str, typer.Argument(metavar="OUT", help="The packed set, a Parquet file, here or s3://... .")],
    shards: Annotated[
        int, typer.Option(min=1, max=1000, help="Split it into this many files: OUT-00000-of-00004.parquet and so on.")
    ] = 1,
    format_name: FormatName = "",
) -> None:
    """Pack puzzles of any formats into one set, a Parquet file that `pnono run` reads without parsing.

    Clues, palettes, goals, names and metadata are kept. A puzzle that can't be read is kept too, as a row with its
    error: a run over the set shows the same rows as a run over IN. IN and OUT may be addresses that
    pyarrow or fsspec knows (file, s3, gs, abfs, hdfs and others), with the keys found in the environment.

    \b
    pnono pack datasets/ all.parquet
    pnono run --workers 8 all.parquet
    pnono pack texts.zip s3://bucket/sets/all.parquet --shards 16
    pnono run --workers 64 s3://bucket/sets/

    \b
    Exit codes: 0 packed; 3 packed, but a puzzle can't be read; 74 OUT can't be written.
    """
    from ..files.packed import shard_paths, write_packed

    if format_name:
        known_format(format_name, "--format")
    check_paths(paths)
    names = shard_paths(out, shards)
    for file in names:
        _check_out(file, paths)
    errors: list[str] = []
    with writing(out):
        packed = write_packed(out, _batches(paths, format_name, errors), shards=shards)
    where = out if shards == 1 else f"{shards} files, {names[0]} the first"
    say(f"{counted(packed, 'puzzle')} in {where}" + (f", {len(errors):,} of them unreadable" if errors else ""))
    if errors:
        raise typer.Exit(Code.INVALID)


def _check_out(out: str, paths: list[str]) -> None:
    """Errors: Failure where OUT can't be written, or would be read while it is written."""
    from ..files.remote import is_remote, located
    from ..puzzle import InvalidPuzzle

    if is_remote(out):
        try:
            located(out)
        except InvalidPuzzle as error:
            raise Failure(Code.UNWRITABLE, str(error)) from error
        twice = out in paths
    elif "://" in out:
        raise Failure(Code.USAGE, f"expected a file, or an address like s3://BUCKET/NAME, found {out}")
    elif os.path.exists(out):
        if not os.path.isfile(out):
            raise Failure(Code.UNWRITABLE, f"{out}: expected an ordinary file, found something else")
        twice = any(os.path.exists(path) and os.path.samefile(path, out) for path in paths)
    else:
        return
    if twice:
        raise Failure(Code.USAGE, f"expected OUT to be another file than IN, found {out} twice")


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
    form = format_to_write(out, to)
    if form.write_sets is None or is_folder(out):
        write(puzzles(source), out, to)
    else:
        write_sets((batch for found in files([source]) for batch in sets(found, "")), out, form)


def _batches(paths: list[str], format_name: str, errors: list[str]) -> Iterator[pa.RecordBatch]:
    """The sets of all paths with all columns; errors are named as they are met, and kept in `errors`."""
    for source in files(paths):
        for batch in sets(source, format_name):
            for message in filter(None, batch.column("error").to_pylist()):
                errors.append(message)
                complain(message)
            yield batch


def sets(source: Source, format_name: str) -> Iterator[pa.RecordBatch]:
    """The puzzle sets of one source with all columns, palettes and goals too."""
    from ..files.packed import read_packed
    from ..files.reading import batches
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
