"""What the batch engine needs of a puzzle kind: five members. The engine never looks into a puzzle.

A kind is a module that ends in `KIND = Kind(...)` and is listed in `KINDS` below; `null.py` is the one to copy.
Kinds share the row, not the mathematics. All of them work on whole chunks: a chunk is an Arrow record batch whose
columns FACTS the engine copies into the rows, and whose other columns only its kind understands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from ..attempt import Limits

KINDS = ("nonogram", "null")

FACTS = ("name", "source", "index", "digest", "height", "width", "n_colours", "metadata", "warnings", "error")
"""Columns that every chunk has, with the types they have in `puzzleset.SCHEMA`; a puzzle that could not be read has
its message in `error` and is never given to `solve`."""


@dataclass(slots=True)
class Solved:
    """What became of a chunk, as columns of length n.

    columns  by names of `Attempt`: numpy or Arrow arrays. `outcome` and `stage` are codes (int8 indices into
             `attempt.OUTCOMES` and `attempt.STAGES`); what is left out is 0 or "". `answer` and `second_answer`
             belong here too.
    answers  whatever `check` needs; private to the kind.
    aborted  True when the solver was told to stop: then nothing here means anything.
    """

    columns: dict[str, Any]
    answers: Any = field(default=None)
    aborted: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """The five members.

    name   short and stable; it is a column of the rows.
    read   [(source, bytes), ...] -> chunk, in order; a puzzle that can't be read is a row with its `error`.
    title  (chunk, place) -> what a person calls the puzzle.
    solve  (chunk, limits, abort) -> Solved. `abort` is int64[1]: as soon as another thread stores a nonzero value,
           solve returns within milliseconds.
    check  (chunk, Solved.answers) -> [(place, why), ...], the answers that break the rules. Written apart from solve.
    """

    name: str
    read: Callable[[list[tuple[str, bytes]]], pa.RecordBatch]
    title: Callable[[pa.RecordBatch, int], str]
    solve: Callable[[pa.RecordBatch, Limits, np.ndarray], Solved]
    check: Callable[[pa.RecordBatch, Any], list[tuple[int, str]]]


def kind(name: str) -> Kind:
    """The kind of that name. Errors: ValueError naming those there are."""
    if name not in KINDS:
        raise ValueError(f"expected a kind of {', '.join(KINDS)}, found {name!r}")
    found: Kind = import_module(f".{name}", __name__).KIND
    return found
