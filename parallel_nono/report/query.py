"""What a run found, in more depth than the summary: questions to the Parquet parts, asked in SQL."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..attempt import OUTCOMES, STAGES
from ..extras import needed
from .parquet import OutputError, read_facts, sessions
from .parts import dataset, first_line
from .rating import POINTS, TECHNIQUE

if TYPE_CHECKING:
    import duckdb

UNTRIED = "invalid"
"""The outcome without an attempt: such rows count, but have no time."""

WHERE_TIME_GOES = ("read_s", "pack_s", "line_s", "probe_s", "search_s", "sat_s", "check_s")
SIZES = (10, 15, 20, 25, 30, 50, 100, 200)
"""Upper ends of the classes of size, by the longer side."""

GROUPS_SHOWN, FAILURES_SHOWN = 20, 200

WORK = "if(cpu_s > 0, cpu_s::double + coalesce(sat_s, 0)::double, solve_s::double)"
"""The part of a time that was work: what passed while the system had given the core to somebody else is left out."""


def view(*more: str) -> str:
    """The rows as the questions here want them, from the relation `rows`; `more` columns of it as they are."""
    columns = [
        *("kind", "name", "source", "index", "digest", "height", "width", "n_colours"),
        *(f"{name}::text as {name}" for name in ("outcome", "stage", "host", "worker")),
        *("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts"),
        *(f"{name}::double as {name}" for name in (*WHERE_TIME_GOES, "solve_s")),
        *("solver::text as solver", "if(repeats > 1, median_s, solve_s)::double as typical_s"),
        f"{WORK} as work_s",
        *("epoch_us(started) as started_us", f"{POINTS} as rating", f"{TECHNIQUE} as technique", "warnings", "error"),
    ]
    return f"select {', '.join([*columns, *more])} from rows"


@dataclass(frozen=True, slots=True)
class Report:
    """Plain values only. Times are seconds, names end in `_s`; rows of groups are dictionaries with equal keys.

    facts, sessions  as in `parquet`.
    seconds    wall time of the run, all its starts together.
    decided    outcome, stage, n.
    times      of all puzzles tried: n, average_s, median_s, p90_s, p99_s, max_s, sum_s.
    spent      seconds by what they were spent on, all puzzles together.
    heaviest   the puzzles that took the most work (`WORK`), as `work_s`.
    groups     by `folder` (`file`, where there is one folder only), `size`, `colours`: n, unique, and times.
    ratings    rating (whole points, of 9 those of 10 too), technique, n.
    failures   the first of the rows that have an error; n_failures of them all.
    workers    host, worker, n, solve_s, other_s (reading, checking), first_s and last_s since the first of all.
    """

    facts: dict[str, Any]
    sessions: list[dict[str, Any]]
    noun: str
    n_rows: int
    seconds: float
    decided: list[dict[str, Any]]
    times: dict[str, Any]
    spent: dict[str, float]
    heaviest: list[dict[str, Any]]
    groups: dict[str, list[dict[str, Any]]]
    ratings: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    n_failures: int
    n_warnings: int
    workers: list[dict[str, Any]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def open_rows(out: Path, name: str = "attempts", to: duckdb.DuckDBPyConnection | None = None) -> Any:
    """A DuckDB connection in which the table `name` holds the rows of a folder of results, without the solutions.

    The parts are read through Arrow: a name with a star is a name there, not a pattern. Nothing else can be reached
    from the connection, neither files nor extensions. Errors: OutputError if `out` holds no results.
    """
    import pyarrow as pa

    duckdb = needed("duckdb")
    read_facts(out)
    connection = to or _connect()
    try:
        connection.register("rows", dataset(out))
        connection.execute(f"create or replace table {name} as {view()}")
        connection.unregister("rows")
        times = " and ".join(f"isfinite({column})" for column in (*WHERE_TIME_GOES, "solve_s", "typical_s"))
        if connection.execute(f"select 1 from {name} where not coalesce({times}, false) limit 1").fetchone():
            raise OutputError(f"{out / 'rows'}: expected times as numbers, found some that are not finite")
    except (OSError, pa.ArrowException, duckdb.Error) as error:
        raise OutputError(f"{out / 'rows'}: expected whole Parquet files, found: {first_line(error)}") from error
    return connection


def _connect() -> Any:
    duckdb = needed("duckdb")
    safe: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "enable_external_access": False,
    }
    connection = duckdb.connect(config=safe)
    connection.execute("set enable_progress_bar = false")
    return connection


def dicts(connection: Any, question: str, *values: Any) -> list[dict[str, Any]]:
    """The result of a question in SQL as a list of dictionaries."""
    result = connection.execute(question, values)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def run_report(out: Path, top: int = 10, rows: Any = None) -> Report:
    """Everything that a report tells of a folder of results. rows: what `open_rows` gave, if it is at hand.

    Errors: OutputError if `out` holds no results.
    """
    rows = rows or open_rows(out)
    facts, starts = read_facts(out), sessions(out)

    def ask(question: str, *values: Any) -> list[dict[str, Any]]:
        return dicts(rows, question, *values)

    counts = ask("""
        select count(*) as n, count(*) filter (error <> '') as n_failures,
            count(*) filter (warnings <> '') as n_warnings
        from attempts""")[0]
    folders = "folder" if len(ask(f"select distinct {FOLDER} as folder from attempts limit 2")) > 1 else "file"
    spent = ask(f"select {', '.join(f'sum({name}) as {name}' for name in WHERE_TIME_GOES)} from attempts")[0]
    return Report(
        facts,
        starts,
        facts.get("noun", "puzzle"),
        counts["n"],
        round(sum(start.get("seconds", 0.0) for start in starts), 3),
        ask(f"""select * from (select outcome, stage, count(*) as n from attempts group by all)
                order by list_position({list(map(str, OUTCOMES))}, outcome),
                    list_position({list(STAGES)}, stage) nulls last"""),
        ask(f"select {_TIMES} from attempts where outcome <> '{UNTRIED}'")[0],
        {name: spent[name] or 0.0 for name in WHERE_TIME_GOES},
        ask(
            f"""select name, source, index, height, width, n_colours, outcome, stage, rating, solve_s, work_s
                from attempts where outcome <> '{UNTRIED}' order by work_s desc, source, index limit ?""",
            top,
        ),
        {
            folders: _group(ask, FOLDER if folders == "folder" else "source"),
            "size": _group(ask, _SIZE, in_order=True),
            "colours": _group(ask, "n_colours", in_order=True),
        },
        ask("""select least(9, floor(rating))::int as rating, technique, count(*) as n from attempts
               where attempts.rating is not null group by all order by all"""),
        ask(
            """select source, index, name, outcome, error from attempts where error <> ''
               order by source, index limit ?""",
            FAILURES_SHOWN,
        ),
        counts["n_failures"],
        counts["n_warnings"],
        ask(_WORKERS),
    )


FOLDER = "case when contains(source, '/') then regexp_replace(source, '/[^/]*$', '') else '.' end"
_TIMES = """count(*) as n, coalesce(avg(solve_s), 0.0) as average_s,
    coalesce(median(solve_s), 0.0) as median_s, coalesce(quantile_disc(solve_s, 0.9), 0.0) as p90_s,
    coalesce(quantile_disc(solve_s, 0.99), 0.0) as p99_s, coalesce(max(solve_s), 0.0) as max_s,
    coalesce(sum(solve_s), 0.0) as sum_s"""
"""The median of an even number is the mean of the two in the middle; percentiles are nearest ranks, so that each is the
time of some puzzle."""

_WORKERS = f"""
    with placed as (select * from attempts where outcome <> '{UNTRIED}' and worker <> '')
    select host, worker, count(*) as n, sum(solve_s) as solve_s, sum(read_s + check_s) as other_s,
        (min(started_us) - (select min(started_us) from placed)) / 1e6 as first_s,
        (max(started_us + 1e6 * solve_s) - (select min(started_us) from placed)) / 1e6 as last_s
    from placed group by host, worker order by host, length(worker), worker"""
_SIZE = f"case {' '.join(f'when greatest(height, width) <= {most} then {most}' for most in SIZES)} else {1 << 31} end"


def _group(ask: Any, by: str, in_order: bool = False) -> list[dict[str, Any]]:
    """Puzzles tried and times by `by`, the longest sums first or in the order of `by`; what is too much is one row."""
    question = f"""
        with ranked as (select {by} as key, row_number() over (order by sum(solve_s) desc, key) as place
                        from attempts where outcome <> '{UNTRIED}' group by key)
        select case when place <= {GROUPS_SHOWN} then key::text end as key,
            count(*) filter (outcome = 'unique') as n_unique, {_TIMES}
        from attempts join ranked on ({by}) = ranked.key where outcome <> '{UNTRIED}' group by 1
        order by min(place) > {GROUPS_SHOWN}, {"min(ranked.key)" if in_order else "min(place)"}"""
    rows: list[dict[str, Any]] = ask(question)
    for row in rows:
        row["key"] = "others" if row["key"] is None else row["key"]
        if by is _SIZE and row["key"] != "others":
            row["key"] = size_class(int(row["key"]))
    return rows


def size_class(most: int) -> str:
    """`11 to 15` for 15, by the longer side."""
    if most not in SIZES:
        return f"more than {SIZES[-1]}"
    place = SIZES.index(most)
    return f"{SIZES[place - 1] + 1} to {most}" if place else f"up to {most}"
