"""`pnono lint`: what a publisher wants to know of puzzles before they are printed."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ..engine.waiting import patiently
from ..pictures.door import say, say_json
from .common import counted, files, known_format, say_if_compiling
from .exits import Code
from .packs import sets

if TYPE_CHECKING:
    from ..lint import Finding, Note


class Output(StrEnum):
    """How notes are written: for people; one JSON object a line; CSV with a heading."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


class Least(StrEnum):
    """The mildest notes that are shown."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


COLUMNS = ("source", "index", "name", "grade", "code", "text")


def lint(
    paths: Annotated[list[str], typer.Argument(metavar="PATHS...", help="Files, folders, archives, globs, or -.")],
    output: Annotated[Output, typer.Option("--format", help="For people, JSON Lines, or CSV.")] = Output.TEXT,
    least: Annotated[Least, typer.Option("--grade", help="Lowest grade to show.")] = Least.NOTE,
    solving: Annotated[
        bool, typer.Option("--solve/--no-solve", help="Find out whether there is exactly one solution.")
    ] = True,
    seconds: Annotated[float, typer.Option(min=0.001, help="Time to solve one puzzle.")] = 10.0,
    from_: Annotated[
        str, typer.Option("--from", metavar="NAME", help="Format of the input (see `pnono formats`); else recognised.")
    ] = "",
) -> None:
    """Look at puzzles as a publisher does, and say what is wrong, doubtful or unusual.

    Errors: the text can't be read; a clue is longer than its line; rows and columns disagree on a colour; there is no
    solution, or more than one; the goal in the file breaks the clues, or is one of several solutions.

    Warnings: out of time; the same puzzle came before, also transposed, mirrored, turned or in other colours;
    colours that look alike; colours that no clue has.

    Notes: what the reader had to guess; colours that look alike to the colour-blind; lines alone do not solve it; sides
    not divisible by 5; lines known at once; many colours.

    \b
    pnono lint datasets/
    pnono lint book.xml --grade warning
    pnono lint all.parquet --no-solve --format csv

    \b
    Exit codes: 0 no error; 1 an error; 3 a puzzle can't be read.
    """
    from ..attempt import Limits
    from ..lint import Grade, Lint

    if from_:
        known_format(from_, "--from")
    say_if_compiling()
    shown = list(Grade)[list(Grade).index(Grade(least.value)) :]
    write = _writer(output)
    linter, totals, n_puzzles, unread = Lint(Limits(seconds) if solving else None), Counter[str](), 0, False
    for source in files(paths):
        for batch in sets(source, from_):
            for finding in patiently(lambda batch=batch: list(linter.look(batch))):
                n_puzzles += 1
                totals.update(note.grade for note in finding.notes)
                unread |= any(note.code == "unread" for note in finding.notes)
                for note in finding.notes:
                    if note.grade in shown:
                        write(finding, note)
            sys.stdout.flush()
    if output is Output.TEXT:
        grades = ", ".join(counted(totals[grade], grade) for grade in reversed(Grade))
        say(f"{counted(n_puzzles, 'puzzle')}: {grades}")
    if unread or not n_puzzles:
        raise typer.Exit(Code.INVALID)
    if totals[Grade.ERROR]:
        raise typer.Exit(Code.NO)


def _writer(output: Output) -> Callable[[Finding, Note], None]:
    """What writes one note to standard output."""
    if output is Output.CSV:
        _print_csv(COLUMNS)

    def write(finding: Finding, note: Note) -> None:
        values = (finding.source, finding.number, finding.name, note.grade.value, note.code, note.text)
        if output is Output.JSON:
            say_json(dict(zip(COLUMNS, values, strict=True)))
        elif output is Output.CSV:
            _print_csv(values)
        else:
            name = f" ({finding.name})" if finding.name else ""
            say(f"{finding.source} #{finding.number}{name}: {note.grade}: {note.text}")

    return write


def _print_csv(values: tuple[object, ...]) -> None:
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(values)
    say(row.getvalue())
