"""`pnono convert`: puzzles from one format to another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..engine.waiting import patiently
from ..pictures.door import put, put_bytes, say
from ..pictures.names import file_name
from .common import complain, counted, known_format, puzzles
from .exits import Code, Failure, writing

if TYPE_CHECKING:
    import pyarrow as pa

    from ..formats import Content, Format
    from ..puzzle import InvalidPuzzle, Puzzle

STDOUT = "-"


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, a folder, an archive, or - for standard input.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="A file, a folder (one file a puzzle), or -.")],
    to: Annotated[
        str, typer.Option(metavar="NAME", help="Format to write (see `pnono formats`); else by the ending of OUT.")
    ] = "",
    from_: Annotated[
        str, typer.Option("--from", metavar="NAME", help="Format of IN; else recognised by its content.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Write ROFL even if a puzzle does not have exactly one solution.")
    ] = False,
) -> None:
    """Write the puzzles of IN in another format.

    A file takes all of them, if its format has room for several; a folder takes one file for each puzzle. What the
    format can't carry (colours, several puzzles) is refused, never dropped. A format that holds the picture gets the
    goal, or the solution if there is exactly one. Broken puzzles are named; the others are written.

    \b
    pnono convert hook.non hook.nin
    pnono convert hook.non hook.png
    pnono convert set.xml singles/ --to non
    pnono convert archive.zip - --to json

    \b
    Exit codes: 0 all written; 3 a puzzle can't be read, or can't be written in that format; 74 OUT can't be written.
    """
    if from_:
        known_format(from_, "--from")
    if os.path.exists(source) and os.path.exists(out) and os.path.samefile(source, out):
        raise Failure(Code.USAGE, f"expected OUT to be another file than IN, found {out} twice")
    write(puzzles(source, from_), out, to, force)


def write(found: Iterator[Puzzle | InvalidPuzzle], out: str, to: str, force: bool = False) -> None:
    """Write puzzles to a file, a folder or standard output; ends the command with its exit code.

    to     the name of a format; "": as `out` ends.
    force  write puzzles without exactly one solution to a format that stands for the solution.
    """
    form = format_to_write(out, to)
    if form.unique or form.picture:
        found = _answered(found, form, force)
    written, refused = _into_folder(found, Path(out), form) if is_folder(out) else _into_file(found, out, form)
    _conclude(written, refused, out, form)


def write_sets(sets: Iterable[pa.RecordBatch], out: str, form: Format) -> None:
    """Write sets to one file in a format that has `write_sets`: no object is made for a block. Ends as `write`.

    sets  with all columns; rows that are errors are named and left out.
    """
    import pyarrow.compute as pc

    assert form.write_sets is not None
    errors: list[str] = []
    n_rows = 0

    def sound() -> Iterator[pa.RecordBatch]:
        nonlocal n_rows
        for batch in sets:
            for message in filter(None, batch.column("error").to_pylist()):
                complain(message)
                errors.append(message)
            n_rows += batch.num_rows
            yield batch.filter(pc.equal(batch.column("error"), ""))

    text = form.write_sets(sound())
    if n_rows > len(errors):
        _put(text, out)
    _conclude(n_rows - len(errors), len(errors), out, form)


def is_folder(out: str) -> bool:
    """Whether each puzzle gets a file of its own."""
    return out.endswith(os.sep) or os.path.isdir(out)


def _conclude(written: int, refused: int, out: str, form: Format) -> None:
    """Say what was written; end the command if something was not. Errors: typer.Exit."""
    if written and out != STDOUT:
        say(f"{counted(written, 'puzzle')} in {out}, format {form.name}")
    if refused:
        raise typer.Exit(Code.INVALID)


def format_to_write(out: str, to: str) -> Format:
    from ..formats import FORMATS, format_of_extension

    form = known_format(to, "--to") if to else format_of_extension(out)
    writable = ", ".join(form.name for form in FORMATS if form.write)
    if form is None:
        raise Failure(Code.USAGE, f"{out}: expected an ending or a --to of {writable} (packed sets: `pnono pack`)")
    if form.write is None:
        raise Failure(Code.USAGE, f"expected a format that can be written ({writable}), found {form.name}")
    return form


def _answered(found: Iterator[Puzzle | InvalidPuzzle], form: Format, force: bool) -> Iterator[Puzzle | InvalidPuzzle]:
    """The puzzles, with their solutions as goals where the format needs them; errors for those without just one."""
    from ..puzzle import InvalidPuzzle
    from ..solver import solve

    for item in found:
        if isinstance(item, InvalidPuzzle) or (force if form.unique else item.goal is not None):
            yield item
            continue
        attempt = patiently(solve, item)
        if attempt.outcome == "unique":
            yield item if item.goal else replace(item, goal=attempt.solutions[0])
        else:
            hint = "; --force writes it" if form.unique else ""
            yield InvalidPuzzle(
                f"{form.name} stands for the one solution of a puzzle, found {item.name!r} ({attempt.outcome}){hint}"
            )


def _into_file(found: Iterator[Puzzle | InvalidPuzzle], out: str, form: Format) -> tuple[int, int]:
    """(puzzles written, puzzles that could not be read)."""
    from ..puzzle import InvalidPuzzle, Puzzle

    assert form.write is not None
    items = list(found)
    broken = [item for item in items if isinstance(item, InvalidPuzzle)]
    whole = [item for item in items if isinstance(item, Puzzle)]
    for error in broken:
        complain(error)
    if not whole:
        return 0, len(broken)
    _put(form.write(whole), out)
    return len(whole), len(broken)


def _put(content: Content, out: str) -> None:
    from ..formats import encoded

    if out == STDOUT:
        put(content) if isinstance(content, str) else put_bytes([content])
    else:
        save(Path(out), encoded(content))


def _into_folder(found: Iterator[Puzzle | InvalidPuzzle], folder: Path, form: Format) -> tuple[int, int]:
    """(puzzles written, puzzles that could not be read or written)."""
    from ..formats import encoded
    from ..puzzle import InvalidPuzzle

    assert form.write is not None
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    taken: set[str] = set()
    refused = 0
    for item in found:
        try:
            if isinstance(item, InvalidPuzzle):
                raise item
            content = encoded(form.write([item]))
        except InvalidPuzzle as error:
            complain(error)
            refused += 1
            continue
        save(folder / file_name(item, form.extensions[0], taken), content)
    return len(taken), refused


def save(path: Path, content: bytes) -> None:
    """See `files.writing.save`. Errors: Failure."""
    from ..files.writing import save as replace_file

    with writing(path):
        replace_file(path, content)
