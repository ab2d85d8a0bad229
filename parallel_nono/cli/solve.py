"""`pnono solve`: the solution of a puzzle as a picture, and what can be said about it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..batch.options import Device, Order, check_mode, check_seconds
from ..engine.waiting import patiently
from ..pictures.door import say_json, show
from .common import (
    Colours,
    CpuSeconds,
    DeviceName,
    FormatName,
    KindName,
    KindOptions,
    Memory,
    Number,
    OrderName,
    When,
    check_paths,
    coloured,
    complain,
    counted,
    known_kind,
    parse_plan,
    puzzles,
    say_if_compiling,
    width,
)
from .exits import Code, Failure, code_of, writing

if TYPE_CHECKING:
    from ..attempt import Limits, Result
    from ..puzzle import Grid, Puzzle
    from ..solver.pipeline import Lines
    from .draw import Album


class SolveMode(StrEnum):
    """What several workers do."""

    RACE = "race"
    LINES = "lines"


class LinesEngine(StrEnum):
    """What workers of lines mode are."""

    LOCAL = "local"
    RAY = "ray"


COUNTS = {"round": "s", "line": "s", "probe": "s", "branch": "es", "conflict": "s"}

DECIDED_BY = {
    "read": "sums and lengths alone decide it",
    "line": "lines alone decide it",
    "probe": "probing decides it",
    "search": "the search decides it",
    "sat": "the SAT solver decides it",
}


def solve(
    source: Annotated[str, typer.Argument(metavar="FILE", help="File of puzzles, or - for standard input.")],
    solutions: Annotated[
        int, typer.Option(min=1, help="Stop at this many solutions; 1 does not ask if it is unique.")
    ] = 2,
    count: Annotated[int, typer.Option(min=0, metavar="CAP", help="Count the solutions, up to CAP.")] = 0,
    plan: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Stages to run: the name of a plan, or a TOML file.")
    ] = "default",
    seconds: Annotated[float, typer.Option(min=0.0, help="Time for one puzzle.")] = 60.0,
    cpu_seconds: CpuSeconds = 0.0,
    memory: Memory = 4096,
    workers: Annotated[
        int, typer.Option(min=1, metavar="N", help="Solvers that race for a hard puzzle; see also --mode.")
    ] = 1,
    mode: Annotated[
        SolveMode, typer.Option(help="lines: the workers share the lines of one huge puzzle.")
    ] = SolveMode.RACE,
    engine: Annotated[LinesEngine, typer.Option(help="With --mode lines: threads, or Ray actors.")] = LinesEngine.LOCAL,
    device: DeviceName = Device.CPU,
    order: OrderName = Order.SWEEP,
    number: Number = 0,
    format_name: FormatName = "",
    clues: Annotated[bool, typer.Option(help="Show the clues beside the picture, if there is room.")] = True,
    colour: Colours = When.AUTO,
    picture: Annotated[
        str, typer.Option(metavar="OUT", help="Also draw the solutions: OUT.png, .svg or .pdf, or a folder of PNG.")
    ] = "",
    solutions_to: Annotated[
        str, typer.Option(metavar="OUT", help="Also write the solutions into a file, one a line, rows joined by `/`.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line instead of pictures.")] = False,
    kind: KindName = "",
    option: KindOptions = None,
) -> None:
    """Solve the puzzles of FILE and show them: the picture, the verdict, what it took.

    The picture has true colours in a terminal, and letters elsewhere or with NO_COLOR. Open cells are orange, or `?`.
    If there are several solutions, the cells in which they differ are marked: `[]` in colours, `*` in letters.

    \b
    pnono solve hook.non
    pnono solve set.xml --number 3 --solutions 5
    pnono solve hard.non --plan lines-only --seconds 10
    pnono solve vague.non --solutions 1000 --solutions-to solutions.txt
    pnono solve stubborn.non --seconds 3600 --workers 8
    pnono solve huge.non --mode lines --workers 8
    pnono solve hook.non --picture hook.png
    pnono solve games.strikeout --number 2 --set solver=all
    cat hook.non | pnono solve - --json

    \b
    Exit codes: 0 one solution, or any with --solutions 1; 1 several solutions or none;
    3 the file can't be read; 4 undecided; 74 a file can't be written. Of several puzzles the highest counts.
    """
    from ..attempt import Limits
    from ..puzzle import InvalidPuzzle
    from ..solver.plans import racing
    from ..solver.single import solve_one

    check_mode(mode is SolveMode.LINES, device, order)
    check_seconds(seconds, cpu_seconds)
    raced = racing(parse_plan(plan), workers)
    limits = Limits(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        solutions=solutions,
        count=count,
        plan=raced,
        order=order.value,
        memory_mib=memory,
    )
    of_kind = known_kind(kind, [source], option or [])
    check_paths([source], of_kind.claims)
    if not of_kind.puzzle_sets:
        if picture or format_name:
            raise Failure(Code.USAGE, f"--picture, --format: expected nonograms, found the kind {of_kind.name}")
        from .kinds import solve_kind

        raise typer.Exit(solve_kind(of_kind, source, limits, number, json))
    album = _album(picture) if picture else None
    file = SolutionFile(solutions_to) if solutions_to else None
    say_if_compiling()
    lanes = _lanes(engine, device, workers) if mode is SolveMode.LINES else None
    code = Code.FINE
    for place, puzzle in enumerate(puzzles(source, format_name, number, seconds)):
        if isinstance(puzzle, InvalidPuzzle):
            complain(puzzle)
            code = max(code, Code.INVALID)
            continue
        result = patiently(solve_one, puzzle, limits, None, lanes)
        code = max(code, code_of(result.outcome))
        if json:
            say_json(_json(puzzle, result))
        else:
            show("\n" * bool(place) + "\n".join(_lines(puzzle, result, limits, coloured(colour), clues)))
        if album:
            album.add_result(puzzle, result)
        if file:
            file.add(puzzle, result)
        sys.stdout.flush()
    if album:
        album.finish(quiet=True)
    if file:
        file.finish()
    if code:
        raise typer.Exit(code)


def _album(out: str) -> Album:
    from .draw import Album

    return Album.of_solutions(out)


def _lanes(engine: LinesEngine, device: Device, workers: int) -> Lines:
    """Whoever propagates lines with --mode lines, until the process ends. Errors: Failure."""
    import atexit

    from ..engine import EngineError
    from ..engine.session import Pool, Session
    from ..lanes.run import lines_of

    try:
        lanes = lines_of(Session(Pool(workers)), engine.value, device.value)
    except EngineError as error:
        raise Failure(Code.UNAVAILABLE, str(error)) from error
    atexit.register(lanes.close, 2.0)
    return lanes


class SolutionFile:
    """Solutions as lines of a file; above those of each puzzle a line `# title: number`. Errors: Failure."""

    def __init__(self, path: str) -> None:
        self._path = path
        with writing(path):
            self._file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - closed by `finish`

    def add(self, puzzle: Puzzle, result: Result) -> None:
        """The solutions of one puzzle."""
        from ..pictures.door import printable
        from ..puzzle import grid_text

        number = f"exactly {result.n_solutions}" if result.exhausted else f"at least {result.n_solutions}"
        title = printable(puzzle.name or f"{puzzle.source} #{puzzle.index}")
        with writing(self._path):
            self._file.write(f"# {title}: {number}\n")
            self._file.writelines(grid_text(solution, puzzle.n_colours) + "\n" for solution in result.solutions)
            self._file.flush()

    def finish(self) -> None:
        """All is written."""
        with writing(self._path):
            self._file.close()


def _lines(puzzle: Puzzle, result: Result, limits: Limits, paint: bool, clues: bool) -> list[str]:
    """Title, pictures, legend, verdict, facts."""
    from ..pictures.door import printable
    from ..pictures.terminal import colour_picture, differences, legend, text_picture
    from ..report.rating import rate
    from ..report.wording import duration

    picture = colour_picture if paint else text_picture
    lines = [printable(puzzle.name or f"{puzzle.source} #{puzzle.index}")]
    grids = result.solutions or (result.partial,)
    marks = set().union(*(differences(grids[0], grid) for grid in grids[1:]))
    for place, grid in enumerate(grids, start=1):
        if len(grids) > 1:
            lines.append(f"solution {place}:")
        lines.append(picture(puzzle, grid, width=width(), clues=clues, marks=marks))
    if len(grids) > 2:
        lines.append(f"common to these {len(grids):,}:")
        lines.append(picture(puzzle, common(grids), width=width(), clues=clues, marks=set()))
    if legend(puzzle):
        lines.append(legend(puzzle, colour=paint))
    rating = rate(result.stage, result.outcome, result.counts) if result.outcome != "multiple" else None
    counts = ", ".join(counted(result.counts[f"n_{noun}{ending}"], noun, ending) for noun, ending in COUNTS.items())
    return [
        *lines,
        verdict(result, len(marks)),
        f"{puzzle.height} x {puzzle.width}, {puzzle.n_colours} colours; stage {result.stage}; "
        f"{duration(result.seconds['solve_s'])}",
        counts,
        *([f"difficulty {rating}"] if rating else []),
        *(f"warning: {printable(warning)}" for warning in puzzle.warnings),
    ]


def common(grids: Sequence[Grid]) -> Grid:
    """What all grids agree on, -1 elsewhere."""
    first, *others = grids
    return tuple(
        tuple(cell if all(o[r][c] == cell for o in others) else -1 for c, cell in enumerate(row))
        for r, row in enumerate(first)
    )


def verdict(result: Result, n_differing: int) -> str:
    """The outcome as a sentence."""
    from ..attempt import Outcome
    from ..report.wording import duration

    how = DECIDED_BY[result.stage]
    many = f"{result.n_solutions:,}"
    n_open = counted(len(result.open_cells), "cell")
    match result.outcome:
        case Outcome.UNIQUE:
            return f"Unique: this is the only solution; {how}."
        case Outcome.SOLVED:
            return f"Solved: this solution obeys the clues; whether it is the only one was not asked; {how}."
        case Outcome.MULTIPLE:
            number = f"exactly {many}" if result.exhausted else f"at least {many}"
            cut = f" ({result.witness})" if result.witness else ""
            return f"Ambiguous: {number} solutions{cut}; those shown differ in {n_differing:,} cells."
        case Outcome.CONTRADICTION:
            return f"Contradiction: no solution obeys the clues: {result.witness or how}."
        case Outcome.STALLED:
            why = f" ({result.witness})" if result.witness else ""
            return f"Stalled: the plan ends with {n_open} open{why}; that proves nothing."
        case _:
            return f"Timeout: {n_open} open after {duration(result.seconds['solve_s'])}; that proves nothing."


def _json(puzzle: Puzzle, result: Result) -> dict[str, Any]:
    """The columns of a run that mean something here, and all solutions that were kept."""
    from ..puzzle import grid_text
    from ..report.rating import rate

    rating = rate(result.stage, result.outcome, result.counts)
    n = puzzle.n_colours
    solutions = [grid_text(grid, n) for grid in result.solutions]
    columns = {
        **{
            name: getattr(puzzle, name)
            for name in ("name", "source", "index", "digest", "height", "width", "n_colours")
        },
        **{name: getattr(result, name) for name in ("outcome", "stage", "witness", "n_solutions", "exhausted")},
        **result.counts,
        **result.seconds,
        "rating": rating.points if rating else None,
        "technique": rating.technique.name if rating else "",
        "solution": solutions[0] if solutions else "",
        "solutions": solutions,
        "partial": grid_text(result.partial, n),
        "common": grid_text(common(result.solutions), n) if solutions else "",
        "warnings": "; ".join(puzzle.warnings),
    }
    return columns
