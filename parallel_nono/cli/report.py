"""`pnono report`: what a run found, from its parts alone: as text, Markdown, CSV, JSON or a page to look at."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..pictures.door import put, rendered, say, say_json
from .common import complain
from .exits import Code, Failure, writing
from .run import show

if TYPE_CHECKING:
    from ..report.tables import Table


class ReportFormat(StrEnum):
    """How a report is printed."""

    TEXT = "text"
    MD = "md"
    CSV = "csv"
    JSON = "json"


class RowExport(StrEnum):
    """Formats of the rows besides Parquet."""

    CSV = "csv"
    JSONL = "jsonl"


Run = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the results, as `pnono run` printed it.")]
Format = Annotated[ReportFormat, typer.Option("--format", help="How to print it.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="OUT", help="Write a page: one file for the browser.")]


def report(
    out: Run,
    html: Html = None,
    form: Format = ReportFormat.TEXT,
    top: Annotated[
        int, typer.Option(min=1, max=10_000, metavar="N", help="List this many of the heaviest puzzles.")
    ] = 10,
    rows: Annotated[
        RowExport | None, typer.Option("--rows", help="Also write all rows: RUN/rows.csv or RUN/rows.jsonl.")
    ] = None,
) -> None:
    """Report what a run found: outcomes, times, the heaviest puzzles, folders, sizes, difficulty, workers.

    It reads only the Parquet parts, so it works for a run that is under way, was interrupted, or was copied here. The
    page of --html is one file that opens from disk and needs no network: a sortable, searchable table of all puzzles
    with pictures, plots, and which worker was busy when.

    \b
    pnono report runs/first
    pnono report runs/first --html first.html
    pnono report runs/first --format json --top 100
    pnono report runs/first --rows jsonl

    \b
    Exit codes: 0 reported; 3 no results, or damaged ones (`pnono run --resume` solves their puzzles again);
    74 --html or --rows can't be written.
    """
    with results_at_hand(out):
        from ..report.parquet import export, read_facts

        read_facts(out)
        if rows:
            export(out, rows.value)
        if html:
            from ..report.html import page

            write_page(html, page(out), out)
        else:
            _print(out, form, top)


def write_page(path: Path, text: str, *runs: Path) -> None:
    """Write an HTML page, and say so. runs: in these folders of results no link is followed."""
    from ..engine.folder import Folder

    target = path.absolute()
    run = next((run for run in runs if target.is_relative_to(run.absolute())), None)
    with writing(path):
        if run is None:
            path.write_text(text, encoding="utf-8")
        else:
            *folders, name = target.relative_to(run.absolute()).parts
            with Folder(run) as root, root.at(*folders) if folders else root as folder, folder.replacing(name) as file:
                file.write(text.encode())
    say(f"{path}: {len(text) / 1e6:,.1f} MB")


@contextmanager
def results_at_hand(*runs: Path) -> Iterator[None]:
    """What is wrong with a folder of results ends the command with one line; what is not counted there gets one."""
    from ..report.parquet import OutputError
    from ..report.parts import strays

    try:
        for run in runs:
            for word in strays(run):
                complain(word)
        yield
    except OutputError as error:
        raise Failure(Code.UNWRITABLE if error.writing else Code.INVALID, str(error)) from error


def _print(out: Path, form: ReportFormat, top: int) -> None:
    from ..report.query import run_report
    from ..report.summary import Summary
    from ..report.tables import IN_SUMMARY, tables

    found = run_report(out, top)
    if form is ReportFormat.TEXT:
        show(out, Summary.of(out, top), sys.stdout)
        print_text([table for table in tables(found) if table.key not in IN_SUMMARY])
    else:
        print_as(form, found.facts.get("run", ""), tables(found), found.as_dict())


def print_as(form: ReportFormat, title: str, found: list[Table], plain: dict[str, Any]) -> None:
    """Tables, or for JSON the plain values, in a format for programs or documents."""
    from ..report.tables import as_csv, as_markdown

    if form is ReportFormat.JSON:
        say_json(plain, indent=2)
    else:
        put(as_csv(found) if form is ReportFormat.CSV else as_markdown(title, found))


def print_text(found: list[Table]) -> None:
    """Tables for a terminal."""
    from ..pictures.door import console as opened
    from ..report.tables import print_tables

    console = opened()
    with console.capture() as text:  # rich would end the process with a code of its own if the reader goes away
        print_tables(console, found)
    rendered(text.get())
