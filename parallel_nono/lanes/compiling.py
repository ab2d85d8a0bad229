"""The kernels of lines mode, compiled before any puzzle's time begins."""

from __future__ import annotations

from ..puzzle import Block, Puzzle
from ..puzzleset import clues_of, set_of
from .arena import Arena, WorkArrays


def compile_lanes() -> None:
    """Have the kernels of lines mode compiled, or fetched from disk, once and here: not by all workers at a time."""
    clues = clues_of(set_of([Puzzle(((Block(1, 1),),), ((Block(1, 1),),))]))
    WorkArrays(Arena.of(clues, 0, 64, 1, False), 0).serve(1)
