"""One try at one puzzle: what was asked (Limits), how it can end (Outcome), and the row that is kept (Attempt).

The fields of `Attempt` are the columns of the results; the Parquet schema is derived from them and from nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

from .puzzle import Grid, Puzzle

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 2
"""Raised by one whenever a column is renamed, removed or changes its meaning; new columns do not raise it."""

FORMERLY = {
    "min_s": "least_s",
    "n_solutions": "n_answers",
    "second_solution": "second_answer",
    "solution": "answer",
}
"""Columns that version 1 of the schema had under another name."""


class Outcome(StrEnum):
    """How an attempt ends. A closed list; the order is the code that kernels use, so append only.

    >>> from parallel_nono import Outcome, Puzzle, solve
    >>> solve(Puzzle.of_clues(rows=[1], columns=[0, 0])).outcome == Outcome.CONTRADICTION == "contradiction"
    True
    """

    UNIQUE = "unique"  # exactly one solution, proved
    MULTIPLE = "multiple"  # at least two solutions, both shown
    CONTRADICTION = "contradiction"  # no solution, proved
    SOLVED = "solved"  # a solution; uniqueness was not asked
    STALLED = "stalled"  # the plan is exhausted, cells are open
    TIMEOUT = "timeout"  # the time for one puzzle ran out
    INVALID = "invalid"  # the text is not a puzzle
    CRASHED = "crashed"  # it brought its worker down twice
    WRONG = "wrong"  # an external solver shows a solution that breaks the rules, or contradicts itself


OUTCOMES = tuple(Outcome)

STAGES = ("read", "line", "probe", "search", "sat", "table", "external")
"""Names of the stages that can decide, by code; `read` stands for sums and lengths that cannot fit, `table` for values
that are computed once and looked up for every game, `external` for another program."""


MOST_NS = 1 << 62
"""Longer than any puzzle takes: a century and a half, and the clock may be added to it."""

MAX_COUNTED = (1 << 63) - 1
"""Solutions that can be counted: what a column of int64 holds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which stages run, and how far each goes before the next one takes over.

    stages    names in order, `line` first; each starts with what those before it left open.
    probes    at most so many in the stage `probe`; 0: until no probe teaches anything.
    visits    to lines, at most so many in the search, where `sat` follows; 0: until it is through. For each solution
              that it finds after the first it may make a thousand more.
    encoding  of the stage `sat`: `order` (lean) or `plain` (the five rules of the textbook).
    hints     the SAT solver is told which way belief propagation leans.
    solvers   of python-sat; several race side by side, and the first proof counts. `NAME:SEED` shuffles the variables
              first, `NAME:free` goes without hints.

    >>> from parallel_nono import Limits, Plan, Puzzle, solve
    >>> lines_only = Plan(stages=("line",))
    >>> solve(Puzzle.of_clues(rows=[1, 1], columns=[1, 1]), Limits(plan=lines_only)).outcome
    <Outcome.STALLED: 'stalled'>
    """

    stages: tuple[str, ...] = ("line", "probe", "search", "sat")
    probes: int = 1000
    visits: int = 50_000
    encoding: str = "order"
    hints: bool = True
    solvers: tuple[str, ...] = ("cadical153",)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is asked of one puzzle.

    seconds   wall seconds for one puzzle, all stages together.
    cpu_seconds  CPU seconds of all that work for it, SAT solvers too; they depend less on who else uses the machine.
              0: only `seconds` counts.
    solutions   stop at this many solutions: 1 asks for any solution, 2 for uniqueness.
    count     if not 0, go on counting solutions up to this cap (only the first two are kept).
    plan      the stages; a tuple of their names is taken as such a plan.
    memory_mib  most memory of a SAT solver; what needs more is `stalled`.
    order     how lines are propagated: `sweep`, waiting lines only, or `rounds`, all rows and all columns against the
              last merge (the order of published counts; for plans of lines only). Both reach the same cells.
    Errors    ValueError for times that are negative or no numbers.

    >>> from parallel_nono import Limits, Puzzle, solve
    >>> solve(Puzzle.of_clues(rows=[1, 1], columns=[1, 1]), Limits(seconds=10, solutions=1)).outcome
    <Outcome.SOLVED: 'solved'>
    """

    seconds: float = 60.0
    solutions: int = 2
    count: int = 0
    plan: Plan = Plan()
    order: str = "sweep"
    memory_mib: int = 4096
    cpu_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.plan, Plan):
            object.__setattr__(self, "plan", Plan(tuple(self.plan)))
        if not (self.seconds >= 0 and self.cpu_seconds >= 0):  # nor is a NaN
            raise ValueError(f"expected seconds and cpu_seconds from 0 on, found {self.seconds} and {self.cpu_seconds}")

    @property
    def wall_ns(self) -> int:
        """Wall nanoseconds for one puzzle, at most MOST_NS."""
        return int(min(self.seconds * 1e9, MOST_NS))

    @property
    def cpu_ns(self) -> int:
        """CPU nanoseconds for one puzzle, at most MOST_NS; 0 for no such limit."""
        return max(1, int(min(self.cpu_seconds * 1e9, MOST_NS))) if self.cpu_seconds else 0

    @property
    def soonest_s(self) -> float:
        """Wall seconds after which one thread can reach a limit."""
        return min(self.seconds, self.cpu_seconds or self.seconds)

    def left_after(self, seconds: float, cpu_s: float) -> Limits:
        """What is left of them for a puzzle that has taken so many seconds, by the clock and of CPU time."""
        cpu_left_s = max(self.cpu_seconds - cpu_s, 1e-3) if self.cpu_seconds else 0.0
        return replace(self, seconds=max(self.seconds - seconds, 1e-3), cpu_seconds=cpu_left_s)

    @property
    def wanted(self) -> int:
        """The search stops when it has this many solutions; never more than a column can hold."""
        return min(max(self.solutions, self.count), MAX_COUNTED)


class _Made:
    """Has room for what makes those fields of a `Result` that are not there before somebody looks at them."""

    __slots__ = ("_make",)


@dataclass(frozen=True, slots=True)
class Result(_Made):
    """The outcome for one puzzle as the library gives it.

    stage      the stage that decided, or the last one tried.
    solutions    complete grids, each accepted by the checker, at most `Limits.solutions`.
    exhausted  True when `n_solutions` is the exact number of solutions.
    partial    the grid as far as it is known without guessing, -1 for an open cell.
    witness    why there is no solution, where lines alone show it; else "".
    counts     n_rounds, n_lines, n_probes, n_branches, n_depth, n_conflicts, n_open_lines, n_open, as in `Attempt`.
    seconds    line_s, probe_s, search_s, sat_s, sat_cpu_s, solve_s, check_s, as in `Attempt`.
    puzzle     what was solved. A notebook shows the result as its picture.

    >>> from parallel_nono import Puzzle, solve
    >>> result = solve(Puzzle.of_clues(rows=[1, 1], columns=[1, 1]))
    >>> result.outcome, result.n_solutions
    (<Outcome.MULTIPLE: 'multiple'>, 2)
    >>> sorted(result.solutions)
    [((0, 1), (1, 0)), ((1, 0), (0, 1))]
    >>> result.open_cells
    ((0, 0), (0, 1), (1, 0), (1, 1))
    """

    outcome: Outcome
    stage: str
    solutions: tuple[Grid, ...]
    n_solutions: int
    exhausted: bool
    partial: Grid
    witness: str
    counts: dict[str, int]
    seconds: dict[str, float]
    puzzle: Puzzle = field(repr=False)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A field that is not there yet."""
            if name not in LATE:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = self._make(self, name)
            object.__setattr__(self, name, value)
            return value

    @property
    def open_cells(self) -> tuple[tuple[int, int], ...]:
        """(row, column) from 0 of the cells that are not known without guessing."""
        return tuple((r, c) for r, row in enumerate(self.partial) for c, cell in enumerate(row) if cell < 0)

    def _repr_svg_(self) -> str | None:
        from .report.notebook import svg_of_result

        return svg_of_result(self)

    def _repr_html_(self) -> str:
        from .report.notebook import html_of_result

        return html_of_result(self)


LATE = frozenset({"solutions", "partial", "puzzle"})
"""Fields of a Result that cost more to make than all others."""


def late_result(
    make: Callable[[Result, str], Any],
    outcome: Outcome,
    stage: str,
    n_solutions: int,
    exhausted: bool,
    witness: str,
    counts: dict[str, int],
    seconds: dict[str, float],
) -> Result:
    """A Result without the fields of LATE; `make` gives them when they are looked at."""
    result = object.__new__(Result)
    put = object.__setattr__
    put(result, "_make", make)
    put(result, "outcome", outcome)
    put(result, "stage", stage)
    put(result, "n_solutions", n_solutions)
    put(result, "exhausted", exhausted)
    put(result, "witness", witness)
    put(result, "counts", counts)
    put(result, "seconds", seconds)
    return result


# Arrow types of the columns, said where the field is said.
Text = Annotated[str, "string"]
Label = Annotated[str, "dictionary"]  # few different values
Count = Annotated[int, "int64"]
Small = Annotated[int, "int32"]
Flag = Annotated[bool, "bool"]
Seconds = Annotated[float, "float32"]
Mebibytes = Annotated[float, "float32"]
Plain = Annotated[float, "float32"]
Moment = Annotated[datetime, "timestamp"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One row of the results. Units stand at the end of the names; counts are machine-independent.

    source: path or address of the file, what is no UTF-8 in it as `\\xe9`; source_bytes: the bytes of that path,
    percent-encoded, where they are others than those of the text (`files.paths.readable`), else "".
    n_colours counts the background; n_open_lines: cells that lines alone left open; n_open: cells that lines and
    probes left open; n_rounds: sweeps over the lines; n_lines: visits to lines; n_probes: trial settings; n_branches:
    guesses of the search; n_depth: most of them at a time; n_conflicts: dead ends of probes, search and SAT solver.
    solution: rows joined by `/`, `.` for background, `#` for black, letters for inks (`puzzle.letter`).
    metadata: a JSON object as the file has it.
    repeats: times that it was solved; then the other columns tell of the first time, and median_s, min_s, spread_s
    (longest less shortest) of all; 0 where it was solved once.
    chunk: puzzles that were solved and timed together, numbered in each process; chunk_s, chunk_cpu_s, preempted (times
    that another process took the core away) and load (of the host, the average of a minute) are of the chunk;
    chunk_mib: most memory of the process since it began with the chunks that it was given in one go.
    mode: `puzzles`, or `lines` where workers shared the lines of the puzzle; then `worker` is the team, cpu_s counts
    all of them, and peak_mib, chunk_mib are of the one that used most. Threads share both, read once a second.
    core: the core that the worker was bound to, -1 for none; calibration_s: see `engine.timing`, 0 if not measured.
    started, clock_us: when it was begun, by the wall clock and by the host's clock that nobody sets.

    >>> from dataclasses import fields
    >>> from parallel_nono import Attempt
    >>> [field.name for field in fields(Attempt)][:3]
    ['run', 'kind', 'name']
    """

    run: Label
    kind: Label
    name: Text
    source: Label
    source_bytes: Label
    index: Small
    digest: Text
    height: Small
    width: Small
    n_colours: Small
    outcome: Label
    stage: Label
    witness: Text
    n_solutions: Count
    exhausted: Flag
    n_open_lines: Count
    n_open: Count
    n_rounds: Count
    n_lines: Count
    n_probes: Count
    n_branches: Count
    n_depth: Count
    n_conflicts: Count
    read_s: Seconds
    pack_s: Seconds
    line_s: Seconds
    probe_s: Seconds
    search_s: Seconds
    sat_s: Seconds
    sat_cpu_s: Seconds
    check_s: Seconds
    solve_s: Seconds
    repeats: Small
    median_s: Seconds
    min_s: Seconds
    spread_s: Seconds
    queue_s: Seconds
    cpu_s: Seconds
    peak_mib: Mebibytes
    chunk: Small
    chunk_s: Seconds
    chunk_cpu_s: Seconds
    chunk_mib: Mebibytes
    preempted: Small
    load: Plain
    core: Small
    calibration_s: Seconds
    solver: Label
    engine: Label
    mode: Label
    host: Label
    worker: Label
    version: Label
    started: Moment
    clock_us: Count
    solution: Text
    second_solution: Text
    metadata: Text
    warnings: Text
    error: Text


COLUMNS = tuple(f.name for f in fields(Attempt))

OF_THE_RUN = (
    *(
        "run",
        "solver",
        "engine",
        "mode",
        "host",
        "worker",
        "version",
        "started",
        "clock_us",
        "queue_s",
        "cpu_s",
        "peak_mib",
    ),
    *("repeats", "median_s", "min_s", "spread_s", "chunk", "chunk_s", "chunk_cpu_s", "chunk_mib", "preempted"),
    *("load", "core", "calibration_s"),
)
"""Columns that say how a puzzle was tried among others, and nothing of a puzzle tried by itself."""


def schema(metadata: dict[str, str] | None = None) -> pa.Schema:
    """The Arrow schema of the results, derived from `Attempt`; `metadata` is added to the version."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(),
        "dictionary": pa.dictionary(pa.int32(), pa.string()),
        "int64": pa.int64(),
        "int32": pa.int32(),
        "bool": pa.bool_(),
        "float32": pa.float32(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }
    hints = get_type_hints(Attempt, include_extras=True)
    columns = [pa.field(name, kinds[get_args(hints[name])[1]], nullable=False) for name in COLUMNS]
    return pa.schema(columns, {"pnono.schema": str(SCHEMA_VERSION), **(metadata or {})})
