"""`pnono compare`: two runs side by side, or a run beside published times."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..pictures.door import say
from .exits import Code, Failure
from .report import Format, Html, ReportFormat, print_as, print_text, results_at_hand, write_page


def compare(
    run: Annotated[Path, typer.Argument(metavar="RUN_A", help="Folder of the results before.")],
    other: Annotated[Path | None, typer.Argument(metavar="[RUN_B]", help="Folder of the results after.")] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Compare with the published times of other solvers instead of RUN_B.")
    ] = False,
    html: Html = None,
    form: Format = ReportFormat.TEXT,
    least: Annotated[
        float,
        typer.Option(min=0.0, metavar="SECONDS", help="List only puzzles that took at least this long in A or B."),
    ] = 0.001,
) -> None:
    """Compare two runs puzzle by puzzle: verdicts that changed, counts, times.

    Puzzles are paired by their clues, so files may have moved. Counts are the same on every machine and show what a
    change did; times show how fast that is here. Ratios are B / A: below 1, B is faster.

    \b
    pnono compare runs/before runs/after
    pnono compare runs/before runs/after --html compared.html
    pnono compare runs/survey --published

    \b
    Exit codes: 0 every verdict is the same; 1 some verdict changed;
    3 a folder holds no results, or damaged ones, or the runs have no puzzle in common.
    """
    if published == (other is not None):
        raise Failure(Code.USAGE, "compare: expected two runs, or one and --published")
    with results_at_hand(run, *([other] if other else [])):
        if other is None:
            _published(run, html, form)
        else:
            _compare(run, other, html, form, least)


def _published(run: Path, html: Path | None, form: ReportFormat) -> None:
    from ..report.compare import beside_published, published, tables_of_published

    connection = beside_published(run)
    found = published(run, connection)
    if not found.puzzles:
        raise Failure(Code.INVALID, f"{run}: expected puzzles with published times (webpbn.com's survey), found none")
    if html:
        from ..report.html.compared import published_page

        write_page(html, published_page(found, connection), run)
    elif form is ReportFormat.TEXT:
        print_text(tables_of_published(found))
    else:
        print_as(form, f"{run} beside published times", tables_of_published(found), found.as_dict())


def _compare(a: Path, b: Path, html: Path | None, form: ReportFormat, min_s: float) -> None:
    from ..report.compare import compare as side_by_side
    from ..report.compare import pairs, tables
    from .common import counted

    connection = pairs(a, b)
    found = side_by_side(a, b, min_s, connection)
    if not found.n:
        rows = " and ".join(counted(n, "row") for n in (found.only_a, found.only_b))
        raise Failure(Code.INVALID, f"{a} and {b}: expected runs of the same puzzles, found {rows} and none in common")
    if html:
        from ..report.html.compared import compared_page

        write_page(html, compared_page(found, connection), a, b)
    elif form is ReportFormat.TEXT:
        say(f"A: {a}")
        say(f"B: {b}")
        alone = ", ".join(f"{n:,} only in {run}" for run, n in (("A", found.only_a), ("B", found.only_b)) if n)
        contrary = f", {found.n_contrary:,} contrary to before" if found.n_contrary else ""
        say(f"{counted(found.n, 'puzzle')} in both{f'; {alone}' if alone else ''}")
        say(f"{counted(found.n_changes, 'verdict')} changed{contrary}")
        print_text(tables(found))
    else:
        print_as(form, f"{a} and {b}", tables(found), found.as_dict())
    if found.n_changes:
        raise typer.Exit(Code.NO)
