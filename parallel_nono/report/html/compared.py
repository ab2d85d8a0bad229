"""Pages for two runs side by side, and for a run beside published times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..compare import Comparison, Published, tables, tables_of_published
from ..query import dicts
from ..tables import Column
from . import coded, render
from .pack import pack

MAX_PAIRS = 100_000
"""Points of a plot: pairs with a changed verdict, then those with the longest times."""


def compared_page(found: Comparison, connection: Any) -> str:
    """The page of a comparison. connection: what `compare.pairs` gave."""
    rows = connection.sql(f"""
        select name, source, index, outcome_a, outcome_b, solve_s_a, solve_s_b, n_lines_a, n_lines_b from pairs
        where timed order by outcome_a <> outcome_b desc, greatest(solve_s_a, solve_s_b) desc, source, index
        limit {MAX_PAIRS}""").to_arrow_table()
    columns = {name: rows.column(name).to_numpy().astype(np.float32) for name in ("solve_s_a", "solve_s_b")}
    columns |= {name: rows.column(name).to_numpy().astype(np.float64) for name in ("n_lines_a", "n_lines_b")}
    columns["index"] = rows.column("index").to_numpy().astype(np.int32)
    outcomes, columns["outcome_a"] = coded(rows.column("outcome_a"), [], np.uint8)
    outcomes, columns["outcome_b"] = coded(rows.column("outcome_b"), outcomes, np.uint8)
    _, columns["outcome_a"] = coded(rows.column("outcome_a"), outcomes, np.uint8)
    sources, columns["source"] = coded(rows.column("source"), [], np.int32)
    ratios = dicts(
        connection, "select floor(4 * log2(ratio))::int as bin, count(*) as n from pairs where timed group by 1"
    )
    header = {
        "kind": "pairs",
        "n": rows.num_rows,
        "names": rows.column("name").to_pylist(),
        "sources": sources,
        "outcomes": outcomes,
        "ratios": [[row["bin"], row["n"]] for row in ratios],
    }
    shown, times, seconds = tables(found), found.times, Column("", "seconds").show
    says = "No pair of times."
    if times["n"]:
        says = f"Below the diagonal B is quicker: {times['n_faster']:,} of {times['n']:,} pairs."
        says += f" All together took {seconds(times['sum_a'])} in A and {seconds(times['sum_b'])} in B."
    middle = f"Median {times['median']:.3g}, geometric mean {times['geometric_mean']:.3g}." if times["n"] else ""
    return render(
        "compare.html",
        "compare.js",
        title=f"{Path(found.a).name} and {Path(found.b).name} - pnono compare",
        heading="Two runs side by side",
        subtitle=f"A: {found.a}; B: {found.b}",
        sections=_sections(shown),
        up="",
        verdict=_verdict(found),
        bad=bool(found.n_changes),
        plots=[
            {"id": "pairs", "title": "Time in A and in B", "says": says},
            {"id": "ratios", "title": "Ratio B / A", "says": middle},
        ],
        wide=[],
        tables=shown,
        data=pack(header, columns),
    )


def _verdict(found: Comparison) -> str:
    said = f"{found.n:,} puzzles are in both runs"
    alone = [f"{n:,} only in {run}" for run, n in (("A", found.only_a), ("B", found.only_b)) if n]
    said += f" ({', '.join(alone)})." if alone else "."
    if not found.n_changes:
        return f"{said} No verdict changed."
    contrary = f", {found.n_contrary:,} of them contrary to before" if found.n_contrary else ""
    return f"{said} Verdicts that changed: {found.n_changes:,}{contrary}."


def published_page(found: Published, connection: Any) -> str:
    """The page of a run beside published times. connection: what `compare.beside_published` gave."""
    times = dicts(connection, "select puzzle, solver, relation, seconds from beside order by puzzle, solver, seconds")
    places = {row["puzzle"]: place for place, row in enumerate(reversed(found.puzzles))}
    header = {
        "kind": "published",
        "puzzles": [[r["puzzle"], r["name"], r["ours_s"], r["outcome"], r["rating"]] for r in reversed(found.puzzles)],
        "times": [[places[t["puzzle"]], t["seconds"], t["solver"], t["relation"]] for t in times],
    }
    shown = tables_of_published(found)
    n_best = sum(r["ours_s"] < r["best_s"] and r["best_relation"] == "=" for r in found.puzzles)
    says = (
        f"A column for each of {len(found.puzzles)} puzzles, by our time; up is slower. Hollow: a bound, not a time. "
        f"Published are {len(times):,} times; for {n_best} of the puzzles none of them is as short as ours."
    )
    return render(
        "compare.html",
        "compare.js",
        title=f"{Path(found.run).name} beside published times - pnono compare",
        heading="Beside published times",
        subtitle=f"{found.run}; {len(found.puzzles)} puzzles, {len(found.solvers)} solvers",
        sections=_sections(shown),
        up="",
        verdict="Published times come from other machines and years; the order of puzzles tells more than the ratio.",
        bad=False,
        plots=[],
        wide=[{"id": "published", "title": "Time by puzzle", "says": says}],
        tables=shown,
        data=pack(header, {}),
    )


def _sections(shown: list[Any]) -> list[tuple[str, str]]:
    return [("plots", "Plots"), *((table.key, table.title) for table in shown)]
