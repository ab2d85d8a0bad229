"""Puzzles by lines alone on a CUDA device, in rounds as in kernels.rounds: a huge one, or many ordinary ones at once.

`propagate` shares out the lines of one puzzle, whose planes stay on the device all the while. `propagate_set` gives
each puzzle of a set to one block of threads, and a launch is all rounds of as many puzzles as there is memory for.
"""

from __future__ import annotations

import math
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import cuda
from numba.core.errors import NumbaPerformanceWarning

from ..kernels import cuda as kernels
from ..kernels import layout
from ..kernels.board import CONTRADICTION, LATE, OPEN, SPENT
from ..kernels.clues import Clues
from ..kernels.fit import FITS
from ..kernels.layout import NARROW, plane_words
from ..kernels.survey import WIDE_FAMILY, room, survey
from .results import NO_PUZZLE

if TYPE_CHECKING:
    import pyarrow as pa

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


class PropagatedSet(NamedTuple):
    """What lines alone say of the puzzles of a set; arrays have a place for each.

    planes     uint64, the states of all, as in kernels.board; those of puzzle p are planes[starts[p] : starts[p + 1]],
               and mean nothing unless its verdict is OPEN.
    starts     int64[puzzles + 1].
    verdict    int8: board.OPEN (also when every cell is known); CONTRADICTION, also where the clues do not fit; SPENT:
               the device has too little memory for it; results.NO_PUZZLE: a row without lines.
    witness    int64, the line that a contradiction shows in, rows first, from 0; else -1, also where rows and columns
               hold different numbers of cells of a colour.
    n_rounds, n_lines  int64, as kernels.rounds has them, and so are verdict and witness.
    n_solved   int64, the lines that were solved: those of n_lines in which something had changed, and after a
               contradiction also others of the last round.
    n_launches  more than one where not all have room at once.
    pack_s, transfer_s, kernel_s  wall seconds: on this side; to the device and back; there.
    """

    planes: np.ndarray
    starts: np.ndarray
    verdict: np.ndarray
    witness: np.ndarray
    n_rounds: np.ndarray
    n_lines: np.ndarray
    n_solved: np.ndarray
    n_launches: int
    pack_s: float
    transfer_s: float
    kernel_s: float


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


def propagate_set(batch: pa.RecordBatch, threads: int = LINE_THREADS) -> PropagatedSet:
    """Rounds over every puzzle of a set (or of a slice of one), each until one of them changes nothing or every line is
    known. Nothing stops it on the way: it is for puzzles of ordinary size.

    threads  of a block, which take the lines of its puzzle in turn; 256 at most, as each has up to 255 registers.
    """
    from ..puzzleset import clues_of

    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaPerformanceWarning)  # small sets have few blocks
        return _Batches(clues_of(batch), threads).run()


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


class _Work(NamedTuple):
    """The memory that the blocks of a launch work in: n_blocks of them, then as kernels.Batch has it."""

    n_blocks: int
    thread_words: int
    block_numbers: int
    thread_numbers: int
    max_lines: int
    max_bounds: int
    max_blocks: int


class _Batches:
    """A set that goes to the device launch by launch.

    fits     bool[puzzles], those that go there.
    lines, blocks, colours, state  int64[puzzles]: lines, blocks, colours, words of the planes.
    """

    def __init__(self, clues: Clues, threads: int) -> None:
        self.began = time.perf_counter()
        self.clues, self.threads = clues, threads
        self.budget = SHARE * cuda.current_context().get_memory_info()[0]
        n = len(clues.heights)
        self.verdict, self.witness = np.full(n, SPENT, np.int8), np.full(n, -1, np.int64)
        self.fits = self.fitting()
        heights, widths = clues.heights.astype(np.int64), clues.widths.astype(np.int64)
        self.colours = np.maximum(clues.n_colours, 2).astype(np.int64)
        self.lines = heights + widths
        self.blocks = np.diff(clues.block_starts[clues.line_starts].astype(np.int64))
        self.state = layout.places_of(heights, widths, self.colours).state_words * self.fits
        self.starts = np.zeros(n + 1, np.int64)
        np.cumsum(self.state, out=self.starts[1:])
        self.planes = np.empty(int(self.starts[-1]), np.uint64)
        self.said = np.zeros((n, kernels.SAID), np.int64)
        self.transfer_s = self.kernel_s = 0.0

    def fitting(self) -> np.ndarray:
        """The puzzles whose clues fit; of the others is said here what there is to say."""
        clues, n = self.clues, len(self.verdict)
        sums = np.zeros((2, max(clues.n_colours.tolist(), default=0) + 1), np.int64)
        found, order, starts = np.full(n, FITS, np.int64), np.empty(n, np.int64), np.empty(n + 1, np.int64)
        survey(clues, NARROW, sums, found, np.zeros((n, 2), np.int64), np.zeros(n, np.bool_), order, starts)
        there, fits = clues.heights > 0, found == FITS
        self.verdict[~fits] = CONTRADICTION
        self.witness[~fits] = np.maximum(found[~fits], -1)
        self.verdict[~there] = NO_PUZZLE
        return there & fits

    def work(self, places: np.ndarray) -> tuple[_Work, int]:
        """How these puzzles are propagated at once, by as many blocks as are of use; bytes of the device in all."""
        inside, lines = slice(places[0], places[-1] + 1), self.clues.line_starts[places[0] : places[-1] + 2]
        most = int(np.diff(self.clues.block_starts[lines[0] : lines[-1] + 1]).max())
        thread_words, _, _ = room(self.clues, places, WIDE_FAMILY, 1, 1)  # of a search there is none
        thread_numbers = int(layout.line_numbers(self.colours[places].max(), most))
        max_lines, max_bounds = int(self.lines[places].max()), 2 * int(self.blocks[places].max())
        block_numbers = 1 + max_lines + max_bounds + self.threads * thread_numbers
        n_blocks = min(len(places), MAX_THREADS // self.threads)
        facts = len(places) + int((4 + 2 * self.lines[inside] + 2 * self.blocks[inside]).sum())
        words = int(self.state[places].sum()) + (1 + kernels.SAID) * len(places)
        words += n_blocks * (self.threads * thread_words + block_numbers)
        work = _Work(n_blocks, thread_words, block_numbers, thread_numbers, max_lines, max_bounds, most)
        return work, 8 * words + 4 * facts

    def run(self) -> PropagatedSet:
        """Launch after launch; what there is no room for is halved."""
        n_launches, waiting = 0, [np.flatnonzero(self.fits)] if self.fits.any() else []
        while waiting:
            places = waiting.pop()
            work, n_bytes = self.work(places)
            if n_bytes <= self.budget:
                self.launch(places, work)
                n_launches += 1
            elif len(places) > 1:
                waiting += [places[len(places) // 2 :], places[: len(places) // 2]]
        said = self.said
        pack_s = time.perf_counter() - self.began - self.transfer_s - self.kernel_s
        return PropagatedSet(
            self.planes,
            self.starts,
            self.verdict,
            self.witness,
            said[:, kernels.ROUNDS],
            said[:, kernels.VISITS],
            said[:, kernels.SOLVED],
            n_launches,
            pack_s,
            self.transfer_s,
            self.kernel_s,
        )

    def launch(self, places: np.ndarray, work: _Work) -> None:
        """Propagate these puzzles. What the device needs to know of them goes there in two arrays."""
        facts = self.facts(places)
        ends = np.cumsum([len(fact) for fact in facts])
        states = self.starts[places] - self.starts[places[0]]
        n_words = int(self.starts[places[-1] + 1] - self.starts[places[0]])
        flat = np.concatenate(facts, dtype=np.int32, casting="same_kind")
        began = time.perf_counter()
        there, states_there = cuda.to_device(flat), cuda.to_device(states)
        order, *clues, hidden = (there[end - len(fact) : end] for end, fact in zip(ends, facts, strict=True))
        words = cuda.device_array(n_words + work.n_blocks * self.threads * work.thread_words, np.uint64)
        numbers = cuda.device_array(work.n_blocks * work.block_numbers, np.int64)
        said = cuda.device_array((len(places), kernels.SAID), np.int64)
        batch = kernels.Batch(order, states_there, Clues(*clues), hidden, n_words, *work[1:])
        launched = time.perf_counter()
        kernels.propagate_each[work.n_blocks, self.threads](batch, words, numbers, said)
        cuda.synchronize()
        done = time.perf_counter()
        words[:n_words].copy_to_host(self.planes[self.starts[places[0]] :][:n_words])
        self.said[places] = said.copy_to_host()
        self.verdict[places] = self.said[places, kernels.VERDICT]
        self.witness[places] = self.said[places, kernels.WITNESS]
        self.kernel_s += done - launched
        self.transfer_s += launched - began + time.perf_counter() - done

    def facts(self, places: np.ndarray) -> list[np.ndarray]:
        """Of kernels.Batch what becomes int32: `order`; `clues`, from the first of these puzzles on; `hidden`."""
        clues, inside = self.clues, slice(places[0], places[-1] + 1)
        lines = clues.line_starts[places[0] : places[-1] + 2]
        blocks = clues.block_starts[lines[0] : lines[-1] + 1]
        lengths, colours = (column[blocks[0] : blocks[-1]] for column in (clues.lengths, clues.colours))
        blocks = blocks - blocks[0]
        hidden = np.zeros(len(blocks) - 1, np.int32)
        hidden[np.searchsorted(blocks, np.flatnonzero(lengths == 0), side="right") - 1] = 1
        return [
            places - places[0],
            clues.heights[inside],
            clues.widths[inside],
            clues.n_colours[inside],
            lines - lines[0],
            blocks,
            np.append(lengths, 0),  # an array of nothing can't be there
            np.append(colours, 0),
            hidden,
        ]
