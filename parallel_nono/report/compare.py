"""Two runs side by side, or a run beside the published times of other solvers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from .query import UNTRIED, dicts, open_rows
from .tables import Table, columns, picked
from .wording import title_of

SHOWN, CHANGES_SHOWN = 10, 200
COUNTS = ("n_rounds", "n_lines", "n_probes", "n_branches", "n_conflicts")
OPEN = ("timeout", "stalled", "crashed", "invalid")
"""Outcomes that tell nothing of a puzzle: to get there or away from there is no disagreement."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Plain values only; A is the run before, B the run after, ratios are B / A.

    n          pairs; only_a and only_b: rows without a partner.
    changes    the first of the pairs with different outcomes, disagreements first; n_changes of them all.
    n_contrary changes between outcomes that can't both be true.
    counts     name, sum_a, sum_b, n_differ (pairs in which it differs).
    times      of the pairs that both took a time: n, median, geometric_mean, n_faster (B took less), sum_a, sum_b.
    min_s    the lists have pairs only in which one took as long.
    worst, best  the pairs with the greatest and the least ratio.
    """

    a: str
    b: str
    n: int
    only_a: int
    only_b: int
    changes: list[dict[str, Any]]
    n_changes: int
    n_contrary: int
    counts: list[dict[str, Any]]
    times: dict[str, Any]
    min_s: float
    worst: list[dict[str, Any]]
    best: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def pairs(a: Path, b: Path) -> Any:
    """A DuckDB connection with the tables `a`, `b` and `pairs`: rows of equal digest.

    What has one digest several times is paired by source, index and solver where these are equal, the rest in their
    order. Rows without a digest, which nobody could read, are paired by source and index. The time of a puzzle that was
    repeated is the median.
    Errors: OutputError if a folder holds no results.
    """
    connection = open_rows(a, "a")
    open_rows(b, "b", connection)
    for run in ("a", "b"):
        connection.execute(
            f"""create or replace table {run} as select *, row_number() over () as row,
                    if(digest = '', source || '#' || index, digest) as puzzle,
                    row_number() over (partition by puzzle, source, index, solver order by started_us) as again
                from {run}"""
        )
    connection.execute("""
        create table pairs_of_rows as
        select a.row as row_a, b.row as row_b from a join b using (puzzle, source, index, solver, again)""")
    for run in ("a", "b"):
        connection.execute(f"""
            create table rest_{run} as
            select puzzle, row, row_number() over (partition by puzzle order by source, index, solver, again) as again
            from {run} where row not in (select row_{run} from pairs_of_rows)""")
    connection.execute("""
        insert into pairs_of_rows
        select rest_a.row, rest_b.row from rest_a join rest_b using (puzzle, again)""")
    both = ("outcome", "stage", "rating", *COUNTS)
    connection.execute(f"""
        create table pairs as
        select b.name, b.source, b.index, b.height, b.width, b.n_colours,
            {", ".join(f"a.{name} as {name}_a, b.{name} as {name}_b" for name in both)},
            a.typical_s as solve_s_a, b.typical_s as solve_s_b, solve_s_b / solve_s_a as ratio,
            solve_s_a > 0 and solve_s_b > 0 and '{UNTRIED}' not in (a.outcome, b.outcome) as timed
        from pairs_of_rows join a on a.row = row_a join b on b.row = row_b""")
    return connection


def compare(a: Path, b: Path, min_s: float = 0.001, connection: Any = None) -> Comparison:
    """Run B beside run A. connection: what `pairs` gave, if it is at hand. Errors: OutputError."""
    connection = connection or pairs(a, b)

    def ask(question: str, *values: Any) -> list[dict[str, Any]]:
        return dicts(connection, question, *values)

    sizes = ask("""select count(*) as n, (select count(*) from a) - n as only_a, (select count(*) from b) - n as only_b,
                       count(*) filter (outcome_a <> outcome_b) as n_changes from pairs""")[0]
    contrary = f"outcome_a <> outcome_b and outcome_a not in {OPEN} and outcome_b not in {OPEN}"
    contrary += " and not (outcome_a in ('unique', 'multiple') and outcome_b = 'solved')"
    contrary += " and not (outcome_b in ('unique', 'multiple') and outcome_a = 'solved')"
    if not ask("select 1 from pairs where timed and greatest(solve_s_a, solve_s_b) >= ? limit 1", min_s):
        min_s = 0.0
    extremes = """select name, source, index, height, width, n_colours, outcome_b as outcome, stage_b as stage,
                       solve_s_a, solve_s_b, n_lines_a, n_lines_b, ratio
                   from pairs where timed and greatest(solve_s_a, solve_s_b) >= ?"""
    return Comparison(
        str(a),
        str(b),
        sizes["n"],
        sizes["only_a"],
        sizes["only_b"],
        ask(
            f"""select name, source, index, height, width, n_colours, outcome_a, stage_a, outcome_b, stage_b,
                    {contrary} as contrary
                from pairs where outcome_a <> outcome_b
                order by contrary desc, outcome_a, outcome_b, source, index limit ?""",
            CHANGES_SHOWN,
        ),
        sizes["n_changes"],
        ask(f"select count(*) as n from pairs where {contrary}")[0]["n"],
        [
            {"name": name}
            | ask(f"""select coalesce(sum({name}_a), 0)::bigint as sum_a, coalesce(sum({name}_b), 0)::bigint as sum_b,
                          count(*) filter ({name}_a <> {name}_b) as n_differ from pairs""")[0]
            for name in COUNTS
        ],
        ask("""select count(*) as n, median(ratio) as median, exp(avg(ln(ratio))) as geometric_mean,
                   count(*) filter (ratio < 1) as n_faster, coalesce(sum(solve_s_a), 0.0) as sum_a,
                   coalesce(sum(solve_s_b), 0.0) as sum_b from pairs where timed""")[0],
        min_s,
        ask(f"{extremes} order by ratio desc, source, index limit {SHOWN}", min_s),
        ask(f"{extremes} order by ratio, source, index limit {SHOWN}", min_s),
    )


def tables(found: Comparison, noun: str = "puzzle") -> list[Table]:
    """A comparison as tables, changed verdicts first."""
    changes = [{**row, "title": title_of(row), "contrary": "contrary!" * row["contrary"]} for row in found.changes]
    times = found.times
    ratios = {"faster": times["n_faster"] / times["n"], "sums": times["sum_b"] / times["sum_a"]} if times["n"] else {}
    counts = [{**row, "ratio": row["sum_b"] / row["sum_a"] if row["sum_a"] else None} for row in found.counts]
    note = f"of those that took {found.min_s:g} s or more" if found.min_s else ""
    shown = [
        Table(
            "changes",
            "Verdicts that changed",
            columns(noun, "A", "by", "B", "by", ""),
            picked(changes, "title outcome_a stage_a outcome_b stage_b contrary"),
            n_rows=found.n_changes,
        ),
        Table(
            "summary",
            "Time, B / A",
            columns(f"{noun}s:count", "faster:share", "median:ratio", "geometric mean:ratio")
            + columns("sum A:seconds", "sum B:seconds", "sums:ratio"),
            picked([{**times, **ratios}] if ratios else [], "n faster median geometric_mean sum_a sum_b sums"),
        ),
        Table(
            "counts",
            "Counts, the same on every machine",
            columns("count", "A:count", "B:count", "B / A:ratio", f"{noun}s that differ:count"),
            picked(counts, "name sum_a sum_b ratio n_differ"),
        ),
        _extremes("worst", "Slower than before: the greatest B / A", found.worst, noun, note),
        _extremes("best", "Quicker than before: the least B / A", found.best, noun, note),
    ]
    return [table for table in shown if table.rows]


def _extremes(key: str, title: str, rows: list[dict[str, Any]], noun: str, note: str) -> Table:
    heads = columns(noun, "outcome", "stage", "A:seconds", "B:seconds", "B / A:ratio", "lines A:count", "lines B:count")
    titled = ({**row, "title": title_of(row)} for row in rows)
    values = picked(titled, "title outcome stage solve_s_a solve_s_b ratio n_lines_a n_lines_b")
    return Table(key, title, heads, values, note)


# Published times.


@dataclass(frozen=True, slots=True)
class Published:
    """Plain values only; ratios are published time / ours.

    solvers  solver, n (puzzles in common), ratio (geometric mean, of times that are no bounds), n_quicker (ours is
             quicker), n_slower, and the rank correlations (Spearman) of its times with our time and with our rating.
    puzzles  puzzle, name, ours_s, rating, outcome, best_s (`best_relation` is < for a bound), best (its solver),
             median_s, n (times published).
    sources  where the figures come from.
    """

    run: str
    solvers: list[dict[str, Any]]
    puzzles: list[dict[str, Any]]
    sources: list[str]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


MIN_COMMON = 5
"""A rank correlation of fewer puzzles says nothing."""


def beside_published(run: Path) -> Any:
    """A DuckDB connection with the table `beside`: a row for every published time of a puzzle of the run.

    Puzzles are known by their digest, or, where nobody gave us the clues, by the number of webpbn.com in the file name.
    Of a puzzle that the run has several times the quickest that decided it counts. Errors: OutputError.
    """
    from pyarrow import csv

    connection = open_rows(run)
    with files(__package__).joinpath("published.csv").open("rb") as file:
        connection.register("published", csv.read_csv(file))
    connection.execute(rf"""
        create table beside as
        with ours as (
            select *, 'webpbn ' || regexp_extract(lower(source), 'pbn[-_ ]?(?:color-)?0*(\d+)[^/]*$', 1) as number
            from attempts where kind = 'nonogram' and outcome <> 'invalid'
        ), matched as (
            select p.puzzle, p.solver, p.relation, p.seconds, p.source as told_by, o.name, o.outcome, o.rating,
                o.typical_s as ours_s, o.outcome not in {OPEN} as decided
            from published p join ours o
                on (p.digest <> '' and p.digest = o.digest) or (p.digest = '' and p.puzzle = o.number)
        )
        select * from matched
        qualify row_number() over (partition by puzzle, solver, told_by order by decided desc, ours_s) = 1""")
    return connection


def published(run: Path, connection: Any = None) -> Published:
    """A run beside published times. connection: what `beside_published` gave, if at hand. Errors: OutputError."""
    connection = connection or beside_published(run)
    solvers = dicts(
        connection,
        f"""
        with ranked as (
            select *, {_rank("if(relation = '>', 1e12, seconds)")} as r_theirs,
                {_rank("if(decided, ours_s, 1e12)")} as r_ours
            from beside
        ), rated as (
            select solver, {_rank("if(relation = '>', 1e12, seconds)")} as r_theirs, {_rank("rating")} as r_rating
            from beside where rating is not null
        ), by_rating as (
            select solver, if(count(*) >= {MIN_COMMON}, corr(r_theirs, r_rating), null) as with_rating
            from rated group by solver
        )
        select solver, count(*) as n,
            exp(avg(ln(seconds / greatest(ours_s, 1e-9))) filter (where relation = '=' and decided)) as ratio,
            count(*) filter (seconds > ours_s and relation <> '<' and decided) as n_quicker,
            count(*) filter (seconds < ours_s and relation <> '>') as n_slower,
            if(n >= {MIN_COMMON}, corr(r_theirs, r_ours), null) as with_time, any_value(with_rating) as with_rating
        from ranked left join by_rating using (solver) group by solver order by n desc, solver""",
    )
    for row in solvers:
        for name in ("with_time", "with_rating"):
            if row[name] is not None and row[name] != row[name]:  # all ranks equal: there is no correlation
                row[name] = None
    puzzles = dicts(
        connection,
        """
        select puzzle, any_value(name) as name, min(ours_s) as ours_s, any_value(rating) as rating,
            any_value(outcome) as outcome, coalesce(min(seconds) filter (relation <> '>'), min(seconds)) as best_s,
            coalesce(arg_min(solver, seconds) filter (relation <> '>'), arg_min(solver, seconds)) as best,
            coalesce(arg_min(relation, seconds) filter (relation <> '>'), '>') as best_relation,
            median(seconds) as median_s, count(*) as n
        from beside group by puzzle order by ours_s desc, puzzle""",
    )
    sources = dicts(connection, "select distinct told_by from beside order by told_by")
    return Published(str(run), solvers, puzzles, [row["told_by"] for row in sources])


def _rank(value: str) -> str:
    """The rank among the puzzles of a solver; equal ones share the mean of theirs."""
    return (
        f"rank() over (partition by solver order by {value}) + (count(*) over (partition by solver, {value}) - 1) / 2"
    )


def tables_of_published(found: Published) -> list[Table]:
    """A run beside published times as tables."""
    puzzles = [
        {**row, "open": ">" if row["outcome"] in OPEN else "", "bound": row["best_relation"].strip("=")}
        for row in found.puzzles
    ]
    by_solver = Table(
        "solvers",
        "By solver",
        columns("solver", "puzzles:count", "quicker:count", "slower:count", "ratio:ratio")
        + columns("rho time:correlation", "rho rating:correlation"),
        picked(found.solvers, "solver n n_quicker n_slower ratio with_time with_rating"),
        "how often we are quicker; their time / ours (geometric mean, machines of their time); rank correlations",
    )
    by_puzzle = Table(
        "by-puzzle",
        "By puzzle",
        columns("puzzle", "rating:points", "", "ours:seconds", "", "best:seconds", "by", "median:seconds"),
        picked(puzzles, "puzzle rating open ours_s bound best_s best median_s"),
        "best and median of the times published, bounds among them",
    )
    sources = Table("sources", "Sources of the published times", columns("source"), [(s,) for s in found.sources])
    return [table for table in (by_solver, by_puzzle, sources) if table.rows]
