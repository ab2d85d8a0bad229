"""What a worker of the server does: solve a puzzle step by step, write it in another format, make the page of a run.

A job is a function of (options, body, emit). `emit` takes events, dicts that become JSON; any thread may call it.
Options come from outside and are not trusted. Errors: InvalidPuzzle with a sentence for the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from ...attempt import Limits, Outcome, Result
from ...formats.common.text import shown
from ...puzzle import Grid, InvalidPuzzle, Puzzle

if TYPE_CHECKING:
    from ...formats import Format
    from ...pictures.scan import Wish
    from ...pictures.sheets import Sheet
    from ...solver.trace import Step

Emit = Callable[[dict[str, Any]], None]
Options = Mapping[str, Any]

MAX_LISTED = 500
"""Titles of a file with several puzzles that are sent."""

STEPS_S = 10.0
"""Seconds that the steps of one solving may take; they are shown as far as they came."""

MAX_STEPS = 20_000
EVENT_S = 0.05
"""Steps are sent together, an event about so often."""

PICTURES = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf", "gif": "image/gif"}
MAX_FRAMES = 500
IMAGES = ("png", "gif", "bmp", "netpbm")
"""Formats that are pictures, whatever else they may hold."""


def solve(options: Options, body: bytes, emit: Emit) -> None:
    """Events: `file`, `puzzle`, then `steps` and one `verdict` as they come.

    options  name, number (of the puzzle in its file, from 1), format, seconds, cells (most of a grid), memory_mib,
             image: {size, colours, threshold, dither, trim}.
    """
    puzzle, notes = read(options, body, emit)
    if puzzle.height * puzzle.width > options["cells"]:
        found = f"{puzzle.height:,} x {puzzle.width:,}"
        raise InvalidPuzzle(f"expected at most {options['cells']:,} cells on this server, found {found}")
    emit(described(puzzle) | {"notes": notes})
    limits = Limits(seconds=float(options["seconds"]), memory_mib=int(options["memory_mib"]))
    failures: list[BaseException] = []

    def decide() -> None:
        from ...solver import solve as decide

        try:
            emit(verdict_event(decide(puzzle, limits)))
        except BaseException as error:  # it is raised again below, in the thread that asked
            failures.append(error)

    thread = Thread(target=decide)
    thread.start()
    try:
        send_steps(puzzle, min(STEPS_S, limits.seconds), emit)
    finally:
        thread.join()
    if failures:
        raise failures[0]


def read(options: Options, body: bytes, emit: Emit) -> tuple[Puzzle, list[str]]:
    """The puzzle that is asked for, and what was done to make it of a picture; tells what else the file holds."""
    from ...files.containers import Source
    from ...files.packed import read_packed
    from ...files.paths import PARQUET_MAGIC
    from ...files.reading import PHOTOS, read_sources
    from ...formats import recognise_bytes
    from ...puzzleset import SCHEMA, puzzle_at

    name = str(options.get("name") or "puzzle")
    form = recognise_bytes(body)
    if (form is not None and form.name in IMAGES) or body.startswith(tuple(magic for magic, _ in PHOTOS)):
        from ...pictures.scan import scan

        made = scan(body, name, wish_of(options.get("image") or {}))
        return made.puzzle, made.notes
    if body[:4] == PARQUET_MAGIC:
        batches = list(read_packed(body, tuple(SCHEMA.names), name))
    else:
        batches = [read_sources([Source(name, len(body), data=body)], options.get("format") or None)]
    titles = [title for batch in batches for title in batch.column("name").to_pylist()]
    number = int(options.get("number") or 1)
    if len(titles) > 1:
        emit({"type": "file", "n": len(titles), "titles": titles[:MAX_LISTED], "number": number})
    if not 1 <= number <= len(titles):
        raise InvalidPuzzle(f"{name}: expected a puzzle number from 1 to {len(titles)}, found {number}")
    place = number - 1
    for batch in batches:
        if place < batch.num_rows:
            break
        place -= batch.num_rows
    error = batch.column("error")[place].as_py()
    if error:
        raise InvalidPuzzle(error)
    return puzzle_at(batch, place), []


def wish_of(image: Options) -> Wish:
    """How a picture is to be made a puzzle. Errors: InvalidPuzzle."""
    from ...pictures.scan import LARGEST_SIDE, Wish

    def within(key: str, least: int, most: int, usual: int) -> int:
        value = image.get(key, usual)
        if not isinstance(value, int) or not least <= value <= most:
            raise InvalidPuzzle(f"{key}: expected a number from {least} to {most}, found {shown(value)}")
        return value

    return Wish(
        size=within("size", 0, LARGEST_SIDE, 0),
        colours=within("colours", 0, 31, 0),
        threshold=within("threshold", -1, 256, -1),
        dither=bool(image.get("dither")),
        trim=bool(image.get("trim")),
    )


def described(puzzle: Puzzle) -> dict[str, Any]:
    """The event that tells the page what to draw; `text` is the puzzle as exports want it back."""
    from ...files.writing import content_of

    return {
        "type": "puzzle",
        "title": puzzle.name,
        "source": puzzle.source,
        "height": puzzle.height,
        "width": puzzle.width,
        "rows": puzzle.rows,
        "columns": puzzle.columns,
        "palette": [f"#{colour.rgb:06x}" for colour in puzzle.palette],
        "names": [colour.name for colour in puzzle.palette],
        "metadata": puzzle.metadata,
        "warnings": puzzle.warnings,
        "text": content_of([puzzle], "json"),
    }


def verdict_event(result: Result) -> dict[str, Any]:
    """All that is known at the end."""
    from ...report.rating import rate

    return {
        "type": "verdict",
        "outcome": result.outcome,
        "stage": result.stage,
        "n_solutions": result.n_solutions,
        "exhausted": result.exhausted,
        "witness": result.witness,
        "solutions": [flat(solution) for solution in result.solutions],
        "partial": flat(result.partial),
        "counts": result.counts,
        "seconds": result.seconds,
        "rating": str(rated) if (rated := rate(result.stage, result.outcome, result.counts)) else "",
    }


def flat(grid: Grid) -> list[int]:
    """Colour indices row by row, -1 for an open cell."""
    return [cell for row in grid for cell in row]


def send_steps(puzzle: Puzzle, seconds: float, emit: Emit) -> None:
    """The steps of solving by lines and probes, several to an event; the last event says whether they were cut off."""
    from ...solver.trace import trace

    began = sent = monotonic()
    kept: list[dict[str, Any]] = []
    cut = False
    for number, step in enumerate(trace(puzzle)):
        kept.append(step_event(step, puzzle.width))
        now = monotonic()
        if now - sent > EVENT_S:
            emit({"type": "steps", "steps": kept})
            kept, sent = [], now
        if now - began > seconds or number >= MAX_STEPS:
            cut = True
            break
    emit({"type": "steps", "steps": kept, "last": True, "cut": cut})


def step_event(step: Step, width: int) -> dict[str, Any]:
    """A step in plain numbers; cells are counted row by row from 0."""
    return {
        "by": step.by,
        "round": step.round,
        "line": step.line,
        "cell": None if step.cell is None else step.cell[0] * width + step.cell[1],
        "at": (step.rows * width + step.columns).tolist(),
        "to": step.colours.tolist(),
    }


def export(options: Options, body: bytes, emit: Emit) -> None:
    """The event `content` {name, media, data}, where data is bytes.

    body     a puzzle as the event `puzzle` gave it.
    options  to: a format or one of PICTURES;  show: `puzzle`, `solution`, or `steps` (gif);  solutions: those of the
             event `verdict`;  outcome: that of the verdict.
    """
    from ...files.reading import read_bytes
    from ...puzzleset import puzzle_at

    batch = read_bytes(body, "puzzle", "json")
    error = batch.column("error")[0].as_py()
    if error:
        raise InvalidPuzzle(error)
    puzzle = puzzle_at(batch, 0)
    solutions = [grid_of(puzzle, cells) for cells in list(options.get("solutions") or [])[:2]]
    kind = str(options.get("to"))
    if kind in PICTURES:
        media, data = PICTURES[kind], picture(puzzle, solutions, kind, str(options.get("show")))
    else:
        media, data = "application/octet-stream", converted(puzzle, solutions, kind, str(options.get("outcome")))
    emit({"type": "content", "name": f"{file_stem(puzzle)}.{ending_of(kind)}", "media": media, "data": data})


def grid_of(puzzle: Puzzle, cells: object) -> Grid:
    """A solution that the page sent back, as `flat` made it. Errors: InvalidPuzzle if it is none of this puzzle."""
    from ...checker import check

    n, width = puzzle.height * puzzle.width, puzzle.width
    if not isinstance(cells, list) or len(cells) != n or not all(isinstance(cell, int) for cell in cells):
        raise InvalidPuzzle(f"solution: expected {n} numbers of colours, found {shown(cells)}")
    grid = tuple(tuple(cells[start : start + width]) for start in range(0, n, width))
    verdict = check(puzzle, grid)
    if not verdict:
        raise InvalidPuzzle(f"solution: {verdict.complaint}")
    return grid


def picture(puzzle: Puzzle, solutions: list[Grid], kind: str, show: str) -> bytes:
    """A picture of the empty puzzle, of the solutions (differences marked), or of the solving."""
    from ...pictures.lattice import Look

    if kind == "gif":
        from ...pictures.frames import frames, gif, thinned
        from ...solver.trace import trace

        steps = trace(puzzle, solutions[0] if len(solutions) == 1 else None)
        return gif(puzzle, thinned(list(frames(puzzle, steps, "round")), MAX_FRAMES), Look())
    sheet = sheet_of(puzzle, solutions if show == "solution" else [])
    if kind == "pdf":
        from ...pictures.pdf import check_size, pdf

        check_size(puzzle)
        return pdf([sheet], [], Look(), "a4", 0, puzzle.name).data
    if kind == "svg":
        from ...pictures.svg import svg

        return svg(sheet, Look())
    from ...pictures.raster import png

    return png(sheet, Look())


def sheet_of(puzzle: Puzzle, solutions: list[Grid]) -> Sheet:
    """The puzzle with its solutions, or empty."""
    from ...pictures.sheets import Sheet, array_of

    return Sheet(puzzle, *map(array_of, solutions))


def converted(puzzle: Puzzle, solutions: list[Grid], name: str, outcome: str) -> bytes:
    """The puzzle in another format. Errors: InvalidPuzzle naming what the format can't carry."""
    from ...files.writing import content_of
    from ...formats import encoded, format_named

    form: Format = format_named(name)
    if form.unique and outcome != Outcome.UNIQUE:
        raise InvalidPuzzle(f"{form.name} stands for the one solution of a puzzle, found {shown(outcome)}")
    if form.picture and puzzle.goal is None and solutions:
        puzzle = replace(puzzle, goal=solutions[0])
    return encoded(content_of([puzzle], name))


def ending_of(kind: str) -> str:
    """The ending of a file's name, without the dot."""
    from ...formats import format_named

    return kind if kind in PICTURES else format_named(kind).extensions[0].lstrip(".")


def file_stem(puzzle: Puzzle) -> str:
    """A name for a file: letters, digits, `-` and `_` of the title."""
    name = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in puzzle.name)
    return name.strip("-")[:60] or "puzzle"


def report(options: Options, body: bytes, emit: Emit) -> None:
    """The event `content`: the page of a run, with the policy that lets its own scripts run and nothing else.

    run  the folder of results, as the server found it.
    """
    from ...report.html import page, policy
    from ...report.parquet import OutputError

    try:
        data = page(Path(options["run"]), up="/#runs", inside=True).encode()
    except OutputError as error:
        raise InvalidPuzzle(str(error)) from error
    headers = {"Content-Security-Policy": policy()}
    emit({"type": "content", "name": "", "media": "text/html; charset=utf-8", "headers": headers, "data": data})


def events(job: str, options: Options, body: bytes, emit: Emit) -> None:
    """Do a job; what goes wrong is the event `error`."""
    try:
        JOBS[job](options, body, emit)
    except InvalidPuzzle as error:
        emit({"type": "error", "message": str(error)})
    except MemoryError:
        emit({"type": "error", "message": "this needs more memory than the server gives"})
    except Exception as error:  # a fault of ours: the page must hear of it, and the worker goes on
        emit({"type": "error", "message": f"internal error: {type(error).__name__}: {error}"})


def warm_up() -> None:
    """Load, or compile, what most puzzles need, so that the first user does not wait."""
    from ...files.reading import read_bytes
    from ...puzzleset import puzzles_of
    from ...solver import solve as decide

    text = json.dumps([{"rows": [[1], [1]], "columns": [[1], [1]]}])
    for puzzle in puzzles_of(read_bytes(text.encode(), "warm-up", "json")):
        if isinstance(puzzle, Puzzle):
            decide(puzzle, Limits())


JOBS: dict[str, Callable[[Options, bytes, Emit], None]] = {
    "solve": solve,
    "export": export,
    "report": report,
}
