"""Pages to look at: one HTML file each, that opens from disk and needs no network.

The data stand in the page as base64, and its scripts put them there as text and pixels only: whatever a puzzle calls
itself, it is never taken for HTML. On top of that the policy of the page lets no other script run than its own.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...attempt import OUTCOMES, STAGES
from ...extras import needed
from ..parts import dataset
from ..query import UNTRIED, Report, dicts, open_rows, run_report, view
from ..tables import SPENT, Column, tables
from ..wording import duration
from .pack import KINDS, pack, pictures
from .strips import BINS, strips_of

MAX_ROWS = 200_000
"""Rows in the table of a page: the heaviest. Beyond that a browser is no longer quick."""

PICTURE_SIDE, PICTURE_BYTES = 64, 6_000_000
CACTUS_POINTS, BINS_A_DECADE = 1000, 4
DECIDED = ("unique", "multiple", "contradiction", "solved")
SCRIPTS = ("theme.js", "echarts.common.min.js", "common.js")


def page(out: Path, up: str = "", inside: bool = False) -> str:
    """The page of a folder of results, finished or under way.

    up      address of a page with all runs, for a link; "" for none.
    inside  only files in the folder are read: no timeline that lies elsewhere.
    Errors  OutputError if `out` holds no results.
    """
    connection = open_rows(out)
    report = run_report(out, rows=connection)
    found = {table.key: table for table in tables(report)}
    data, n_shown, n_pictures = _data(out, report, connection)
    strips = strips_of(out, report, connection, inside)
    first = [found.pop(key) for key in ("outcomes", "times") if key in found]
    last = [found.pop(key) for key in ("failures", "facts") if key in found]
    found.pop("workers", None)
    rate = f", {report.n_rows / report.seconds:,.0f} a second" if report.seconds and report.n_rows else ""
    return render(
        "report.html",
        "report.js",
        title=f"{report.facts.get('run', '')} - pnono report",
        heading=report.facts.get("run", ""),
        subtitle=f"{report.n_rows:,} {report.noun}s in {duration(report.seconds)}{rate}",
        sections=[("plots", "Plots"), ("puzzles", f"All {report.noun}s")]
        + [(table.key, table.title) for table in found.values()]
        + ([("workers", "Who worked when")] if strips.rows else [])
        + [(table.key, table.title) for table in last],
        up=up,
        noun=report.noun,
        limits=_limits(report, n_shown, n_pictures),
        plots=_plots(report),
        first=first,
        middle=list(found.values()),
        last=last,
        strips=strips,
        bins=BINS,
        data=data,
    )


def _limits(report: Report, n_shown: int, n_pictures: int) -> str:
    """A sentence about what was left out to keep the page quick."""
    said = ""
    if n_shown < report.n_rows:
        said += f" The table has the {n_shown:,} heaviest of {report.n_rows:,}."
    if n_pictures and n_pictures < n_shown:
        said += f" {n_pictures:,} have a picture: those with a solution, the heaviest first."
    return said


def _plots(report: Report) -> list[dict[str, str]]:
    """Name, title and a sentence for each plot; the sentence says what one would read off."""
    times, decided = report.times, sum(r["n"] for r in report.decided if r["outcome"] in DECIDED)
    half, most = duration(times["median_s"]), duration(times["max_s"])
    spent = max(report.spent.items(), key=lambda item: item[1])
    share = spent[1] / sum(report.spent.values()) if spent[1] else 0
    found = [
        (
            "histogram",
            "Time to solve",
            f"Half of all took {half} or less, 99 % took {duration(times['p99_s'])} or less.",
        ),
        (
            "scatter",
            "Time against size",
            f"Both scales are logarithmic. The longest time is {most}. Ctrl and wheel zoom.",
        ),
        ("cactus", "Decided within", f"{decided:,} of {times['n']:,} are decided in the end."),
        ("spent", "Where the time went", f"Most went on {SPENT[spent[0]]}: {Column('', 'share').show(share)}."),
    ]
    if report.ratings:
        hardest = max(r["rating"] for r in report.ratings)
        says = f"Of 10; from counts alone, the same on every machine. The hardest are at {hardest} or above."
        found.append(("difficulty", "Difficulty", says))
    return [dict(zip(("id", "title", "says"), each, strict=True)) for each in found]


NUMBERS = {
    **dict.fromkeys(("index", "height", "width", "n_colours"), "i4"),
    **dict.fromkeys(("solve_s", "rating"), "f4"),
    **dict.fromkeys(("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts"), "f8"),
}
"""Columns of the table of a page that are numbers, and how they travel (`pack.KINDS`)."""


def _data(out: Path, report: Report, connection: Any) -> tuple[str, int, int]:
    """The packed data of a page, the number of its rows, and of their pictures."""
    connection.register("rows", dataset(out))
    rows = connection.sql(
        f"""select {", ".join(NUMBERS)}, name, source, outcome, stage, error,
                case when kind = 'nonogram' then solution else '' end as solution
            from ({view("solution")})
            order by solve_s desc, source, index limit {MAX_ROWS}"""
    ).to_arrow_table()
    connection.unregister("rows")
    columns = {name: rows.column(name).to_numpy().astype(KINDS[kind]) for name, kind in NUMBERS.items()}
    outcomes, stages = [str(outcome) for outcome in OUTCOMES], [*STAGES, ""]
    sources, columns["source"] = coded(rows.column("source"), [], np.int32)
    outcomes, columns["outcome"] = coded(rows.column("outcome"), outcomes, np.uint8)
    stages, columns["stage"] = coded(rows.column("stage"), stages, np.uint8)
    cells = zip(
        (text for batch in rows.column("solution").chunks for text in batch.to_pylist()),
        *(columns[name].tolist() for name in ("height", "width", "n_colours")),
        strict=True,
    )
    columns["picture_at"], columns["pictures"], n_pictures = pictures(cells, PICTURE_SIDE, PICTURE_BYTES)
    header = {
        "n": rows.num_rows,
        "noun": report.noun,
        "names": rows.column("name").to_pylist(),
        "messages": {row: text for row, text in enumerate(rows.column("error").to_pylist()) if text},
        "sources": sources,
        "outcomes": outcomes,
        "stages": stages,
        "picture_side": PICTURE_SIDE,
        "bins_a_decade": BINS_A_DECADE,
        "histogram": dicts(connection, _HISTOGRAM),
        "cactus": [list(each.values()) for each in dicts(connection, _CACTUS)],
        "ratings": report.ratings,
        "spent": [[SPENT[name], seconds] for name, seconds in report.spent.items()],
    }
    return pack(header, columns), rows.num_rows, n_pictures


def coded(column: Any, known: list[str], kind: type) -> tuple[list[str], np.ndarray]:
    """The different texts of a column, `known` ones first, and for every row the place of its text among them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [*known, *(text for text in pc.unique(column).to_pylist() if text not in known)]
    return texts, pc.index_in(column, pa.array(texts, pa.string())).to_numpy().astype(kind)


_HISTOGRAM = f"""
    select floor({BINS_A_DECADE} * log10(greatest(solve_s, 1e-7)) + 1e-9)::int as bin, outcome, count(*) as n
    from attempts where outcome <> '{UNTRIED}' group by all order by all"""

_CACTUS = f"""
    with placed as (select solve_s, row_number() over (order by solve_s) as n, count(*) over () as of_all
                    from attempts where outcome in {DECIDED})
    select greatest(max(solve_s), 1e-7) as within_s, max(n) as n
    from placed group by (n * {CACTUS_POINTS} - 1) // of_all order by n"""
"""At most so many steps, each at the time of its last puzzle, so that no step is earlier than it was."""


def render(template: str, script: str, **values: Any) -> str:
    """A whole page from a template, with the scripts and the style that all share; text in `values` is escaped."""
    needed("jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("parallel_nono.report.html", "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    own = {name: Markup(_asset(name)) for name in (*SCRIPTS, script, "style.css")}
    return environment.get_template(template).render(
        **values,
        version=__version__,
        policy=policy(),
        outcomes=list(map(str, OUTCOMES)),
        style=own["style.css"],
        theme_script=own["theme.js"],
        echarts=own["echarts.common.min.js"],
        common_script=own["common.js"],
        page_script=own[script],
    )


@lru_cache
def _asset(name: str) -> str:
    return files(__name__).joinpath("assets", name).read_text(encoding="utf-8")


@lru_cache
def policy() -> str:
    """The Content-Security-Policy of every page: its own scripts and style, known by their hashes, and no network."""

    def hashed(*names: str) -> str:
        digests = (hashlib.sha256(_asset(name).encode()).digest() for name in names)
        return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)

    allowed = {
        "default-src": "'none'",
        "script-src": hashed(*SCRIPTS, "report.js", "compare.js"),
        "style-src": hashed("style.css"),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{what} {whence}" for what, whence in allowed.items())
