"""One puzzle by lines alone on a CUDA device: rounds as in kernels.rounds, its planes on the device all the while."""

from __future__ import annotations

import math
import threading
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.core.errors import NumbaPerformanceWarning

from ..kernels import cuda as kernels
from ..kernels import layout
from ..kernels.board import CONTRADICTION, LATE, OPEN
from ..kernels.clues import Clues
from ..kernels.layout import plane_words

LINE_THREADS, MERGE_THREADS = 32, 128
"""Threads of a block. A line is a long piece of work and there are few of them: small blocks fill all processors."""

MAX_THREADS = 1 << 16
MERGE_BLOCKS = 1 << 14

SHARE = 0.9
"""Of the free memory of the device that the threads may work in."""

_one_at_a_time = threading.Lock()


class Propagated(NamedTuple):
    """What lines alone say of a puzzle.

    planes    uint64[state_words], both views, as in kernels.board; they mean nothing after a contradiction.
    verdict   board.OPEN, CONTRADICTION or LATE.
    witness   the line that a contradiction shows in, rows first, from 0; else -1.
    n_rounds, n_lines  as kernels.rounds has them, and so are verdict and witness.
    lines_s, merge_s  wall seconds.
    """

    planes: np.ndarray
    verdict: int
    witness: int
    n_rounds: int
    n_lines: int
    lines_s: float
    merge_s: float


def unavailable() -> str:
    """Why there is no device to work on, as a sentence without its full stop; "" if there is one."""
    if cuda.is_available():
        return ""
    try:
        cuda.current_context()
    except Exception as error:  # of many classes, none of them of one module in all versions
        said = [line.strip() for line in str(error).splitlines()]
        reason = next((line for line in said if line and not line.endswith(":")), type(error).__name__)
        return f"no CUDA device here: {reason.rstrip('.')}"
    return "no CUDA device here: the NVVM library of the CUDA toolkit is missing"


def propagate(clues: Clues, p: int = 0, seconds: float = math.inf, stop: np.ndarray | None = None) -> Propagated:
    """Rounds over puzzle p of a set, until one of them changes nothing or every line is known.

    clues    kernels.fit.misfits has nothing to say of this puzzle.
    seconds, stop  looked at between rounds; `stop` is int64[1], and another thread stores 1 there.
    Errors   MemoryError with the bytes needed and free.
    """
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)  # the last rounds have few lines
        return _Propagation(clues, p).run(seconds, stop)


class _Propagation:
    """A puzzle on the device, and the memory that its threads work in."""

    def __init__(self, clues: Clues, p: int) -> None:
        self.height, self.width = int(clues.heights[p]), int(clues.widths[p])
        self.n_colours = max(int(clues.n_colours[p]), 2)
        first, last = int(clues.line_starts[p]), int(clues.line_starts[p + 1])
        blocks = clues.block_starts[first : last + 1].astype(np.int64)
        lengths, colours = (column[blocks[0] : blocks[-1]] for column in (clues.lengths, clues.colours))
        blocks -= blocks[0]
        counts, n = np.diff(blocks), np.repeat([self.width, self.height], [self.height, self.width])
        size = layout.plane_words(n)
        hidden = np.zeros(len(n), np.uint8)
        hidden[np.repeat(np.arange(len(n)), counts)[lengths == 0]] = 1
        filled = layout.filled_cells(lengths, blocks)
        need = np.where(
            hidden == 1,
            layout.blot_scratch(self.n_colours, counts, size),
            layout.line_scratch(self.n_colours, counts, n - filled, size),
        )
        planes = self.opened(blocks, colours)
        self.state_words, self.thread_words = len(planes), int(need.max())
        self.bounds, max_blocks = 2 * int(blocks[-1]), int(counts.max())
        self.thread_numbers = int(layout.line_numbers(self.n_colours, max_blocks))
        self.threads = self.room(len(n))
        self.words = cuda.device_array(self.state_words + self.threads * self.thread_words, np.uint64)
        self.words[: self.state_words].copy_to_device(planes)
        self.numbers = cuda.device_array(self.bounds + self.threads * self.thread_numbers, np.int64)
        if self.bounds:
            self.numbers[: self.bounds].copy_to_device(np.zeros(self.bounds, np.int64))
        self.task = kernels.Task(
            self.height,
            self.width,
            self.n_colours,
            max_blocks,
            self.state_words,
            self.thread_words,
            self.bounds,
            self.thread_numbers,
            cuda.to_device(hidden),
            cuda.to_device(blocks.astype(np.int32)),
            cuda.to_device(np.append(lengths, 0).astype(np.int32)),  # an array of nothing can't be there
            cuda.to_device(np.append(colours, 0).astype(np.int32)),
        )
        self.states = cuda.to_device(np.full(len(n), kernels.OPEN_LINE, np.uint8))

    def room(self, n_lines: int) -> int:
        """How many threads have room to work, whole blocks of them. Errors: MemoryError."""
        each = 8 * (self.thread_words + self.thread_numbers)
        fixed = 8 * self.state_words + 12 * self.bounds  # planes; bounds, lengths and colours of the blocks
        free = cuda.current_context().get_memory_info()[0]
        threads = min(-(-n_lines // LINE_THREADS) * LINE_THREADS, MAX_THREADS)
        if fixed + threads * each > SHARE * free:
            threads = int((SHARE * free - fixed) / each) // LINE_THREADS * LINE_THREADS
        if threads <= 0:
            need = (fixed + LINE_THREADS * each) / SHARE
            raise MemoryError(f"needs {need / 2**30:.1f} GiB of device memory, {free / 2**30:.1f} GiB are free")
        return threads

    def opened(self, blocks: np.ndarray, colours: np.ndarray) -> np.ndarray:
        """The planes at first, see board.open_planes: a colour of row and column may be where they cross."""
        lines = np.repeat(np.arange(self.height + self.width), np.diff(blocks))
        has = np.zeros((self.n_colours, self.height + self.width), bool)
        has[colours, lines] = True
        has[0] = True
        if self.n_colours == 2:
            has[1] = True
        rows, columns = has[:, : self.height], has[:, self.height :]
        return np.concatenate([_view(rows, columns), _view(columns, rows)])

    def run(self, seconds: float, stop: np.ndarray | None) -> Propagated:
        deadline = time.monotonic() + seconds
        jobs = np.arange(self.height + self.width, dtype=np.int32)
        n_rounds = n_lines = 0
        verdict, witness = OPEN, -1
        lines_s = merge_s = 0.0
        while True:
            if time.monotonic() > deadline or (stop is not None and stop[0]):
                verdict = LATE
                break
            n_rounds += 1
            began = time.perf_counter()
            states, lost = self.solve_lines(jobs)
            lines_s += time.perf_counter() - began
            none = jobs[states[jobs] == kernels.NO_ARRANGEMENT]
            if len(none):
                n_lines += int(np.searchsorted(jobs, none[0])) + 1
                verdict, witness = CONTRADICTION, int(none[0])
                break
            n_lines += len(jobs)
            began = time.perf_counter()
            dead = self.merge()
            merge_s += time.perf_counter() - began
            if dead >= 0:
                verdict, witness = CONTRADICTION, dead
                break
            jobs = jobs[states[jobs] != kernels.KNOWN_LINE]
            if not len(jobs) or (not lost and n_rounds > 1):
                break
        planes = self.words[: self.state_words].copy_to_host()
        return Propagated(planes, verdict, witness, n_rounds, n_lines, lines_s, merge_s)

    def solve_lines(self, jobs: np.ndarray) -> tuple[np.ndarray, bool]:
        """Solve these lines; the states of all lines, and whether any lost something."""
        lost = cuda.to_device(np.zeros(1, np.int32))
        threads = min(self.threads, -(-len(jobs) // LINE_THREADS) * LINE_THREADS)
        kernels.solve_lines[threads // LINE_THREADS, LINE_THREADS](
            cuda.to_device(jobs), self.task, self.words, self.numbers, self.states, lost
        )
        return self.states.copy_to_host(), bool(lost.copy_to_host()[0])

    def merge(self) -> int:
        """Both views become the same; the first row with a cell that may take no colour any more, or -1."""
        none = self.height + self.width
        dead = cuda.to_device(np.full(2, none, np.int32))
        for side, words in enumerate((self.height * plane_words(self.width), self.width * plane_words(self.height))):
            blocks = min(-(-words // MERGE_THREADS), MERGE_BLOCKS)
            kernels.merge_view[blocks, MERGE_THREADS](
                self.words, self.height, self.width, self.n_colours, side, dead
            )  # fmt: skip
        found = int(dead.copy_to_host()[0])
        return found if found < none else -1


def _view(lines: np.ndarray, crossing: np.ndarray) -> np.ndarray:
    """Planes of one view; bool[colours, lines], bool[colours, cells]: whether the clue of a line has a colour."""
    n_colours, n = crossing.shape
    bits = np.zeros((n_colours, plane_words(n) * 8), np.uint8)
    bits[:, : (n + 7) // 8] = np.packbits(crossing, axis=1, bitorder="little")
    planes: Any = np.where(lines.T[:, :, None], bits.view(np.uint64)[None], np.uint64(0))
    return planes.reshape(-1)
