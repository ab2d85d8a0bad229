"""The kernels of workers of lines mode, compiled before any puzzle's time begins."""

from __future__ import annotations

import pyarrow as pa

from ..puzzle import Block, Puzzle
from ..puzzleset import clues_of, set_of
from .arena import Arena, WorkArrays


def compile_lanes() -> None:
    """Have the kernels of workers compiled, or fetched from disk, once and here: not by all workers at a time."""
    WorkArrays(Arena.of(clues_of(one_cell()), 0, 64, 1, False), 0).serve(1)


def one_cell() -> pa.RecordBatch:
    """A set of the smallest puzzle there is."""
    return set_of([Puzzle(((Block(1, 1),),), ((Block(1, 1),),))])
