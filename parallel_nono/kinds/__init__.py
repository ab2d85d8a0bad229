"""What the batch engine needs of a puzzle kind: five members, and some more for a kind that wants them.

A kind is a module that ends in `KIND = Kind(...)` and is listed in `KINDS` below; `null.py` is the one to copy.
Kinds share the row, not the mathematics. All of them work on whole chunks: a chunk is an Arrow record batch whose
columns FACTS the engine copies into the rows, and whose other columns only its kind understands. The engine never
looks into a puzzle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..attempt import Limits
from ..puzzle import sound

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ..files.containers import Claims, Source

KINDS: dict[str, tuple[str, ...]] = {
    "nonogram": (),
    "strikeout": (".strikeout",),
    "numcross": (".numcross", ".ipuz", ".jpz"),
    "null": (),
}
"""The table: names of modules, and the endings of files that are of this kind and of no other."""

FACTS = ("name", "source", "index", "digest", "height", "width", "n_colours", "metadata", "warnings", "error")
"""Columns that every chunk has, with the types they have in `puzzleset.SCHEMA`; a puzzle that could not be read has
its message in `error` and is never given to `solve`."""

NUMBERS = ("index", "height", "width", "n_colours")
"""Those of FACTS that are int32; the others are text."""


@dataclass(slots=True)
class Solved:
    """What became of a chunk, as columns of length n.

    columns  by names of `Attempt`: numpy or Arrow arrays. `outcome` and `stage` are codes (int8 indices into
             `attempt.OUTCOMES` and `attempt.STAGES`); what is left out is 0 or "". `solution` and `second_solution`
             belong here too. Beside these: `waited_s`, the seconds of `solve_s` in which others worked and this thread
             waited; and, where several shared a puzzle, `others_cpu_s`, `others_mib` (see `Attempt.mode`) and `team`, a
             list of what they are called, "" for puzzles of this thread alone.
    solutions  whatever `check` needs; private to the kind.
    aborted  True when the solver was told to stop: then nothing here means anything, but of what is `finished`.
    finished  bool[n], what it had done by then; None: nothing.
    """

    columns: dict[str, Any]
    solutions: Any = field(default=None)
    aborted: bool = False
    finished: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """Five members that every kind has; what follows may be left out.

    name   short and stable; it is a column of the rows.
    read   [(source, bytes), ...] -> chunk, in order; a puzzle that can't be read is a row with its `error`.
    title  (chunk, place) -> what a person calls the puzzle.
    solve  (chunk, limits, abort) -> Solved. `abort` is int64[1]: as soon as another thread stores a number above 0,
           solve returns within milliseconds; for one below 0 before the next puzzle at the latest.
    check  (chunk, Solved.solutions) -> [(place, why), ...], the solutions that break the rules. Written apart from
    solve.

    batches    source -> chunks, for a source of more than `engine.inputs.WHOLE_BYTES` or a packed one: read here, a
               piece at a time. None: a source is read at once, by a worker, whatever its size.
    claims     which files of a folder or an archive are puzzles of this kind; None: what holds nonograms.
    options    what `--set NAME=VALUE` may say, each with a sentence for people.
    configure  {name: value} -> the kind, told these options; called for every run, with {} too. It travels to workers
               by pickle: bind what is small (`functools.partial(solve, words=path)`), and load what is large there.
               Errors: ValueError saying what was expected and what was found.
    compiled   `module.function` in `kernels`: the kernel that is compiled last, "" if none is.
    show       (chunk, row) -> lines for people about the one puzzle of a chunk; `row` has the columns of its attempt.
               None: title, outcome and solution.
    make       (height, width, seed, {name: value}) -> the text of a puzzle, always the same for the same arguments;
               texts after one another are a file that `read` reads. Errors: ValueError. None: there is no generator.
    makes      the options of `make` with their defaults.
    noun       what one puzzle is called.
    alone      `solve` is another program, a process for each puzzle: it is given one at a time.
    takes_lines    `solve` takes `lines=`, workers that share the lines of a puzzle (`solver.pipeline.Lines`).
    puzzle_sets    its chunks are puzzle sets: their puzzles can be drawn, written in any format, solved by any plan,
                   and given to other programs.
    """

    name: str
    read: Callable[[list[tuple[str, bytes]]], pa.RecordBatch]
    title: Callable[[pa.RecordBatch, int], str]
    solve: Callable[[pa.RecordBatch, Limits, np.ndarray], Solved]
    check: Callable[[pa.RecordBatch, Any], list[tuple[int, str]]]
    batches: Callable[[Source], Iterator[pa.RecordBatch]] | None = None
    claims: Claims | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    configure: Callable[[dict[str, str]], Kind] | None = None
    compiled: str = ""
    show: Callable[[pa.RecordBatch, Mapping[str, Any]], list[str]] | None = None
    make: Callable[[int, int, int, Mapping[str, str]], str] | None = None
    makes: Mapping[str, str] = field(default_factory=dict)
    noun: str = "puzzle"
    alone: bool = False
    takes_lines: bool = False
    puzzle_sets: bool = False


def bare(name: str) -> Kind:
    """The kind of that name as its module has it. Errors: ValueError naming those there are."""
    if name not in KINDS:
        raise ValueError(f"expected a kind of {', '.join(KINDS)}, found {name!r}")
    found: Kind = import_module(f".{name}", __name__).KIND
    return found


def kind(name: str, options: Mapping[str, str] | None = None) -> Kind:
    """The kind of that name, told these options. Errors: ValueError naming what there is."""
    found = bare(name)
    for option in options or {}:
        if option not in found.options:
            known = f"one of {', '.join(found.options)}" if found.options else "no option"
            raise ValueError(f"{name}: expected {known}, found {option!r}")
    return found.configure(dict(options or {})) if found.configure else found


def usual_title(chunk: pa.RecordBatch, place: int) -> str:
    """`name (source #index)`, or what there is of it."""
    name, source, index = (chunk.column(column)[place].as_py() for column in ("name", "source", "index"))
    where = f"{source} #{index}"
    return f"{name} ({where})" if name and name != source else where


def kind_of(paths: Sequence[str]) -> str:
    """The kind of files whose endings all belong to one kind; else nonograms."""
    from ..formats import unpacked_name

    for name, endings in KINDS.items():
        if endings and paths and all(unpacked_name(path).endswith(endings) for path in paths):
            return name
    return "nonogram"


def facts_of(rows: Sequence[Sequence[Any]]) -> list[pa.Array]:
    """The columns FACTS of these rows, to which a kind adds its own."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else [()] * len(FACTS)
    return [
        pa.array(column, pa.int32()) if name in NUMBERS else pa.array(map(sound, column), pa.string())
        for name, column in zip(FACTS, columns, strict=True)
    ]


def unread(source: str, error: str) -> pa.RecordBatch:
    """The one row of a source that can't be had at all; a chunk of any kind, as nothing in it is ever solved."""
    import pyarrow as pa

    from ..formats.common.text import stem

    return pa.RecordBatch.from_arrays(facts_of([(stem(source), source, 1, "", 0, 0, 0, "", "", error)]), list(FACTS))
