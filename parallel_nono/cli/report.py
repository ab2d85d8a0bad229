"""`pnono report`: the summary of a run again, from its parts alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .exits import Code, Failure
from .run import RowFormat, show


def report(
    out: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of the results, as `pnono run` printed it.")],
    row_format: Annotated[
        RowFormat, typer.Option("--format", help="Also write RUN/rows.csv or RUN/rows.jsonl.")
    ] = RowFormat.PARQUET,
) -> None:
    """Print the summary of a run again: outcomes, stages, times, the heaviest puzzles.

    Made from the Parquet parts alone, so it works for a run that is under way, was interrupted, or was copied here.

    \b
    pnono report runs/first
    pnono report runs/first --format jsonl
    """
    from ..report.parquet import OutputError, export, read_facts
    from ..report.summary import Summary

    try:
        read_facts(out)
        if row_format is not RowFormat.PARQUET:
            export(out, row_format.value)
    except OutputError as error:
        raise Failure(Code.UNWRITABLE if error.writing else Code.INVALID, str(error)) from error
    show(out, Summary.of(out), sys.stdout)
