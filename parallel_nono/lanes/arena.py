"""The memory of one puzzle in lines mode: its clues and planes, and the jobs of a round, seen by all of its workers.

An arena is one run of bytes: an array of this process for threads, or an anonymous file that processes map. The file
has no name, only a number among the open files of its maker, under which workers of the same user find it; so the
system itself frees it when the last of them is gone, however they end. Where an array lies follows from the sizes of
the puzzle, which stand in the first bytes. Nothing in it is ever unpickled.
"""

from __future__ import annotations

import mmap
import os
import sys
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..kernels import layout
from ..kernels.clues import Clues
from ..kernels.lanes import BUSY, MAX_JOBS, NEXT_BITS, NEXT_MASK, STRIPS, TICKET, Lanes, introduce, serve
from ..kernels.layout import DIRTY

HEADER = 8
"""Numbers in front: the fields of Shape."""

MAX_REMEMBERED = 1 << 24
"""Puzzles of more blocks keep no bounds between visits: two numbers a block and worker."""


@lru_cache(maxsize=256)
def _places(height: int, width: int, planes: int) -> layout.Places:
    """`layout.places_of`, asked for in every phase."""
    places: layout.Places = layout.places_of(height, width, planes)
    return places


class Shape(NamedTuple):
    """What the places in an arena follow from.

    n_blocks   of the clues.  scratch  words, see board.  n_workers  that may serve it.
    remember   1: workers keep the bounds of blocks between visits.
    holds      1: the clues lie in the arena; 0: they are arrays of this process.
    """

    height: int
    width: int
    n_colours: int
    n_blocks: int
    scratch: int
    n_workers: int
    remember: int
    holds: int

    @property
    def planes(self) -> int:
        """Colours that planes are kept of."""
        return max(self.n_colours, 2)

    @property
    def places(self) -> layout.Places:
        return _places(self.height, self.width, self.planes)

    @property
    def n_lines(self) -> int:
        return self.height + self.width

    @property
    def merge_jobs(self) -> int:
        return -(-int(self.places.column_words) // STRIPS)

    def arrays(self) -> dict[str, tuple[tuple[int, ...], Any]]:
        """Name, shape and type of every array, in their order."""
        lines, jobs, places = self.n_lines, MAX_JOBS, self.places
        blocks, offsets = (self.n_blocks, lines + 1) if self.holds else (0, 0)
        return {
            "heights": ((1,), np.int32),
            "widths": ((1,), np.int32),
            "n_colours": ((1,), np.int32),
            "line_starts": ((2,), np.int32),
            "block_starts": ((offsets,), np.int32),
            "lengths": ((blocks,), np.int32),
            "colours": ((blocks,), np.uint16),
            "planes": ((places.state_words,), np.uint64),
            "states": ((lines,), np.uint8),
            "waiting": ((lines,), np.uint8),
            "tiles": ((places.row_words * places.column_words,), np.uint8),
            "jobs": ((lines,), np.int32),
            "bounds": ((jobs + 1,), np.int32),
            "done": ((jobs,), np.int64),
            "found": ((jobs,), np.int64),
            "log": ((jobs, 4), np.int64),
            "control": ((BUSY + 8 * self.n_workers,), np.int64),
        }

    @property
    def n_bytes(self) -> int:
        """Bytes of the whole arena."""
        return 8 * HEADER + sum(_size(shape, kind) for shape, kind in self.arrays().values())

    @property
    def own_bytes(self) -> int:
        """About what each worker touches of its own: scratch words, and the tables of lines and blocks."""
        blocks = 2 * self.n_blocks if self.remember else 0
        return 8 * (DIRTY + self.scratch + 2 * self.n_lines + blocks) + (8 << 10)


def _size(shape: tuple[int, ...], kind: Any) -> int:
    """Bytes of an array, to the next cache line."""
    return -(-prod(shape) * np.dtype(kind).itemsize // 64) * 64


@dataclass
class Arena:
    """One puzzle in memory that its workers share.

    buffer  the bytes.  handle  the number of the anonymous file that they are, or -1.
    given   the clues, where the arena does not hold them.
    """

    shape: Shape
    buffer: np.ndarray
    handle: int = -1
    given: Clues | None = None

    @classmethod
    def of(cls, clues: Clues, place: int, scratch: int, n_workers: int, shared: bool) -> Arena:
        """A new arena with puzzle `place` of a set.

        shared  make it of a file that other processes can map. Errors: OSError if there is no room for it.
        """
        shape = shape_of(clues, place, scratch, n_workers, shared)
        one = clues.of(place)
        if not shared:
            return cls(shape, np.zeros(shape.n_bytes, np.uint8), given=one)
        handle = os.memfd_create("pnono-arena")
        try:
            os.posix_fallocate(handle, 0, shape.n_bytes)  # or a store to it later could end this process
            buffer = np.frombuffer(mmap.mmap(handle, shape.n_bytes), np.uint8)
        except OSError:
            os.close(handle)
            raise
        buffer[: 8 * HEADER].view(np.int64)[: len(shape)] = shape
        arena = cls(shape, buffer, handle)
        arrays = arena.arrays
        for name in ("heights", "widths", "n_colours"):
            arrays[name][:] = getattr(one, name)
        arrays["line_starts"][:] = 0, shape.n_lines
        starts = one.block_starts[one.line_starts[0] : one.line_starts[1] + 1]
        first, last = int(starts[0]), int(starts[-1])
        np.subtract(starts, first, out=arrays["block_starts"])
        arrays["lengths"][:] = clues.lengths[first:last]
        arrays["colours"][:] = clues.colours[first:last]
        return arena

    @classmethod
    def at(cls, process: int, handle: int) -> Arena:
        """The arena that another process of this user made. Errors: OSError."""
        buffer = np.frombuffer(mapped(process, handle), np.uint8)
        return cls(Shape(*buffer[: 8 * HEADER].view(np.int64)[: len(Shape._fields)].tolist()), buffer)

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """Views of the buffer by name."""
        place, found = 8 * HEADER, {}
        for name, (shape, kind) in self.shape.arrays().items():
            n = prod(shape) * np.dtype(kind).itemsize
            found[name] = self.buffer[place : place + n].view(kind).reshape(shape)
            place += _size(shape, kind)
        return found

    @cached_property
    def clues(self) -> Clues:
        """The puzzle as kernels read it."""
        return (self.given or Clues(*(self.arrays[name] for name in Clues._fields))).sealed()

    @cached_property
    def lanes(self) -> Lanes:
        """What changes while it is solved."""
        return Lanes(*(self.arrays[name] for name in Lanes._fields))

    def close(self) -> None:
        """No other process will find it any more; memory is freed with the last view."""
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def shape_of(clues: Clues, place: int, scratch: int, n_workers: int, shared: bool) -> Shape:
    """The shape of the arena that `Arena.of` would make."""
    blocks = int(clues.block_starts[clues.line_starts[place + 1]] - clues.block_starts[clues.line_starts[place]])
    size = int(clues.heights[place]), int(clues.widths[place]), int(clues.n_colours[place])
    return Shape(*size, blocks, scratch, n_workers, int(blocks <= MAX_REMEMBERED), int(shared))


def can_share() -> bool:
    """True where processes can map each other's anonymous files."""
    return sys.platform == "linux"


def mapped(process: int, handle: int) -> mmap.mmap:
    """The whole of an anonymous file of another process of this user. Errors: OSError."""
    file = os.open(f"/proc/{process}/fd/{handle}", os.O_RDWR)
    try:
        return mmap.mmap(file, 0)
    finally:
        os.close(file)


class WorkArrays:
    """The work arrays of one worker for one arena; pages that are never touched cost nothing."""

    def __init__(self, arena: Arena, worker: int) -> None:
        self.arena, self.worker = arena, worker
        shape = arena.shape
        places = shape.places
        longest = max(places.row_words, places.column_words)
        self.words = np.zeros(places.lane_scratch + shape.scratch + shape.planes * longest + 2, np.uint64)
        tables = layout.table_numbers(shape.planes, shape.n_lines, shape.n_blocks)
        self.numbers = np.zeros(places.tables + tables, np.int64)
        self._control = arena.lanes.control
        introduce(arena.clues, shape.scratch, self.numbers)

    def serve(self, most: int) -> int:
        """Do at most so many jobs; how many there were."""
        ticket = int(self._control[TICKET])  # asking the kernel costs more than a look
        if ticket & NEXT_MASK >= (ticket >> NEXT_BITS) & NEXT_MASK:
            return 0
        shape = self.arena.shape
        return int(
            serve(
                self.arena.clues, shape.scratch, self.arena.lanes, self.words, self.numbers, self.worker, most,
                bool(shape.remember),
            )
        )  # fmt: skip
