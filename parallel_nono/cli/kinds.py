"""What the commands do for puzzles of other kinds than nonograms: with a kind's contract alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine.waiting import patiently
from ..pictures.door import put, say, say_json
from .common import complain, counted, say_if_compiling, say_skipped, settings
from .exits import Code, Failure, code_of, writing

if TYPE_CHECKING:
    import pyarrow as pa

    from ..attempt import Limits
    from ..engine.work import Work
    from ..kinds import Kind


def solve_kind(kind: Kind, source: str, limits: Limits, number: int, as_json: bool) -> Code:
    """Show what becomes of the puzzles of a source, or of its `number`th; the highest exit code."""
    from ..attempt import OF_THE_RUN
    from ..engine.work import RejectedPuzzle, Work

    say_if_compiling()
    work = Work(kind, limits)
    code, last, shown = Code.FINE, 0, 0
    for puzzle in _puzzles(work, source):
        last = puzzle.column("index")[0].as_py()
        if number not in (0, last):
            continue
        try:
            row = patiently(_row, work, puzzle)
        except RejectedPuzzle as error:
            raise Failure(Code.BUG, f"{error}; please report it with the puzzle") from error
        code = max(code, code_of(row["outcome"]))
        if as_json:
            facts = {name: value for name, value in row.items() if name not in OF_THE_RUN}
            say_json(facts)
        elif row["outcome"] in ("invalid", "crashed"):
            complain(row["error"])
        else:
            if shown:
                say("")
            for line in _lines(kind, puzzle, row):
                say(line)
            shown += 1
        sys.stdout.flush()
        if number:
            return code
    if number:
        raise Failure(Code.USAGE, f"{source}: expected a {kind.noun} number from 1 to {last}, found {number}")
    return code


def _puzzles(work: Work, source: str) -> Iterator[pa.RecordBatch]:
    """Chunks of one puzzle."""
    from ..engine.inputs import Inputs

    for piece in Inputs([source], work, told=say_skipped):
        chunk: pa.RecordBatch = work.kind.read([piece]) if isinstance(piece, tuple) else piece
        yield from (chunk.slice(place, 1) for place in range(chunk.num_rows))


def _row(work: Work, puzzle: pa.RecordBatch) -> dict[str, Any]:
    import platform

    from ..engine.status_line import new_status_line
    from ..engine.work import Chunk, Place, attempt

    done = attempt(work, Chunk(batch=puzzle, careful=True), new_status_line(), Place("local", platform.node(), "0"))
    row: dict[str, Any] = done.rows[0].to_pylist()[0]
    return row


def _lines(kind: Kind, puzzle: pa.RecordBatch, row: dict[str, Any]) -> list[str]:
    from ..report.wording import duration

    if kind.show:
        lines = kind.show(puzzle, row)
    else:
        lines = [
            kind.title(puzzle, 0),
            f"{row['outcome'].capitalize()}: {row['solution'] or row['error'] or 'no solution'}",
        ]
    warnings = [f"warning: {row['warnings']}"] if row["warnings"] else []
    return [*lines, f"stage {row['stage']}; {duration(row['solve_s'])}", *warnings]


def generate_kind(name: str, out: str, seeds: Sequence[int], height: int, width: int, options: Sequence[str]) -> None:
    """Write puzzles of a kind, one after the other, into a file or to standard output."""
    from ..kinds import bare

    kind = bare(name)
    if kind.make is None:
        raise Failure(Code.USAGE, f"{name}: expected a kind with a generator, found none")
    chosen = {**kind.makes, **settings(options)}
    for option in chosen.keys() - kind.makes.keys():
        known = ", ".join(kind.makes) or "none"
        raise Failure(Code.USAGE, f"--set: {name}: expected options among {known}, found {option!r}")
    try:
        texts = [kind.make(height, width, seed, chosen) for seed in seeds]
    except ValueError as error:
        raise Failure(Code.USAGE, f"{name}: {error}") from error
    if out == "-":
        put("".join(texts))
        return
    with writing(out), Path(out).open("w", encoding="utf-8") as file:
        file.writelines(texts)
    say(f"{counted(len(seeds), kind.noun)} in {out}")
