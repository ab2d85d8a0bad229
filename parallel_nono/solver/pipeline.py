"""A puzzle set through a plan of stages: columns in, columns out, no Python object per puzzle.

Puzzles are grouped into families that share a propagation (black-white or colour; no line over 64 cells, or longer
ones and blots); each family goes through one jitted call. What that call could not finish for lack of room is solved
again by itself with more.

A set of one takes the same path, so what is done once a set is kept to a few calls of kernels (scripts/bench/calls.py).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from math import inf
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..attempt import Limits
from ..kernels import layout
from ..kernels.board import (
    CONTRADICTION,
    COUNTS,
    FULL_STACK,
    HARD,
    LATE,
    N_CONFLICTS,
    N_COUNTS,
    N_LINES,
    N_ROUNDS,
    NO_END,
    OPEN,
    OPEN_CELL,
    SOLVED,
    SPENT,
)
from ..kernels.clues import Clues
from ..kernels.deadline import CPU_END, STOP
from ..kernels.layout import FIRST_LEVELS, NARROW
from ..kernels.solve import (
    LINE,
    LINE_BIT,
    LINE_NS,
    PACK_NS,
    PROBE,
    SAT,
    SAT_BIT,
    SAT_NS,
    SEARCH,
    SOLVED_BIT,
    Asked,
    Outputs,
    no_probe,
    no_search,
    read_out,
)
from ..kernels.solve import solve as solve_kernel
from ..kernels.survey import COLOUR_FAMILY, NARROW_FAMILY, WIDE_FAMILY, room, survey
from ..puzzle import line_name
from ..spans import span
from .results import NO_PUZZLE, Propagated, Results

if TYPE_CHECKING:
    import pyarrow as pa

STAGES: dict[str, int] = {"line": LINE, "probe": PROBE, "search": SEARCH, "sat": SAT}
"""The stages that a plan may name, with their bits in the jitted call; later ones presuppose `line`."""

MAX_STACK_WORDS = 1 << 27
"""Words (1 GiB) of the first levels together; huge puzzles begin with fewer of them."""

TWICE = 2
"""Times the limit that finding solutions again may take: it takes as long as it took, on a machine that may be
busier."""

MAX_KEPT = 10_000
"""Solutions kept of one puzzle, whatever Limits.solutions says."""

NOTHING = np.zeros(0, np.uint16)
NO_ROOM = np.zeros((0, 0), np.uint16)
"""For what is not asked for."""

NEVER = np.zeros(1, np.int64)
"""Nobody stores a 1 here: for those whom nobody can stop."""
NEVER_AT = NEVER.ctypes.data


class Lines(Protocol):
    """Somebody who propagates lines instead of the kernels of this thread: many workers, or another device."""

    def takes(self, height: int, width: int) -> bool:
        """True for the puzzles that it wants."""

    def propagate(self, clues: Clues, place: int, scratch: int, limits: Limits, stop: np.ndarray) -> Propagated:
        """Solve lines of puzzle `place` until none learns. scratch: words, see kernels.survey.room."""


class _Rooms(threading.local):
    """The work arrays of one thread, grown as needed; pages that are never touched cost nothing."""

    def __init__(self) -> None:
        self.words = np.zeros(0, np.uint64)
        self.numbers = np.zeros(0, np.int64)

    def of(self, n_words: int, n_numbers: int) -> tuple[np.ndarray, np.ndarray]:
        if len(self.words) < n_words:
            self.words = np.zeros(n_words, np.uint64)
        if len(self.numbers) < n_numbers:
            self.numbers = np.zeros(n_numbers, np.int64)
        return self.words, self.numbers

    def trim(self) -> None:
        """Give back what only a puzzle of rare depth or size needed."""
        if len(self.words) > 2 * MAX_STACK_WORDS:
            self.words = np.zeros(0, np.uint64)


_rooms = _Rooms()


class _Deep:
    """The function values of probing and search, compiled or fetched from disk when a puzzle needs them."""

    def __init__(self) -> None:
        self.loaded, self.search, self.probe = False, no_search, no_probe
        self.lock = threading.Lock()

    def load(self) -> None:
        with self.lock:
            if not self.loaded:
                from ..kernels.probe import probe
                from ..kernels.search import search

                self.search, self.probe, self.loaded = search, probe, True


_deep = _Deep()


@cache
def propagation_of(family: int, order: str = "sweep") -> Any:
    """The compiled propagation of a family; its module is imported, and so compiled, when a puzzle needs it."""
    if order == "rounds":
        from ..kernels.rounds import propagate_rounds

        return propagate_rounds
    if family == WIDE_FAMILY:
        from ..kernels.wide import propagate_wide

        return propagate_wide
    if family == COLOUR_FAMILY:
        from ..kernels.colour import propagate_colour

        return propagate_colour
    from ..kernels.narrow import propagate_narrow

    return propagate_narrow


@cache
def stage_bits(names: tuple[str, ...]) -> int:
    """The stages of a plan as bits. Errors: ValueError naming an unknown or misplaced stage."""
    places = [list(STAGES).index(name) if name in STAGES else -1 for name in names]
    if not names or names[0] != "line" or -1 in places or places != sorted(set(places)):
        raise ValueError(f"expected a plan like {', '.join(STAGES)} that begins with line, found {', '.join(names)}")
    return sum(1 << STAGES[name] for name in names)


def check_limits(limits: Limits, lines: Lines | None = None) -> int:
    """The stages that are asked for, as bits. Errors: ValueError for a plan or an order that can't be."""
    bits = stage_bits(tuple(limits.plan.stages))
    if limits.order not in ("sweep", "rounds") or (limits.order == "rounds" and bits != LINE_BIT and lines is None):
        raise ValueError(f"expected order sweep, or rounds with plan line only or lines mode, found {limits.order}")
    return bits


def solve_set(
    batch: pa.RecordBatch, limits: Limits, abort: np.ndarray | None = None, lines: Lines | None = None
) -> Results:
    """Decide every puzzle of a set within `limits`; rows without lines stay `invalid`.

    abort   int64[1]; another thread stores 1 to have every kernel return within milliseconds, or -1 to have this return
            before it begins another puzzle; what is finished by then is kept.
    lines   does the stage `line` of the puzzles that it takes.
    Errors  ValueError if the plan names a stage that does not exist.
    """
    from ..puzzleset import clues_of

    return solve_clues(clues_of(batch), limits, abort, lines)


def solve_clues(
    clues: Clues, limits: Limits, abort: np.ndarray | None = None, lines: Lines | None = None, known: bool = False
) -> Results:
    """`solve_set` for clues that are no Arrow batch.

    known  ask for `Results.known`.
    """
    bits = check_limits(limits, lines)
    run = _Run(clues, limits, bits, abort, known)
    for family, order in run.families:
        if lines is not None:
            order = run.by_lines(lines, order)
        if len(order) and not run.results.aborted:
            run.family(order, family)
    if run.results.aborted:
        run.give_up()
    return run.results


def _misfit(verdict: int, first: int, second: int, height: int) -> str:
    if verdict >= 0:
        return f"{line_name(verdict, height)}: the clue needs {first} cells, the line has {second}"
    rows, columns = (f"at least {-count}" if count < 0 else str(count) for count in (first, second))
    return f"colour {-1 - verdict}: the rows hold {rows} cells, the columns {columns}"


def _outputs(starts: np.ndarray, known: bool) -> Outputs:
    """Room for what becomes of the puzzles whose cells begin at `starts`."""
    n, n_cells = len(starts) - 1, int(starts[-1])
    status, stage = np.zeros(n, np.int8), np.zeros(n, np.int8)
    found, lined, left = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    counts, times = np.zeros((n, N_COUNTS), np.int64), np.zeros((n, 5), np.int64)
    cells, kept = np.zeros((2, n_cells), np.uint16), np.zeros(n_cells, np.uint16) if known else NOTHING
    return Outputs(status, stage, found, lined, left, counts, times, starts, cells, NO_ROOM, kept)


class _Run:
    """One call of solve_clues: the set, what is known so far, and what was asked.

    families  (family, places of its puzzles) of those that fit.
    blotted   bool[puzzles], see kernels.fit.misfits.
    ended     which puzzles were finished, or turned out not to be, in this order.
    """

    def __init__(self, clues: Clues, limits: Limits, bits: int, abort: np.ndarray | None, known: bool) -> None:
        self.clues, self.limits, self.bits = clues, limits, bits
        self.stop = NEVER if abort is None else abort
        self.stop_at = NEVER_AT if abort is None else abort.ctypes.data
        self.solved: dict[int, Propagated] = {}
        self.ended: list[tuple[np.ndarray | int, bool]] = []
        n = len(clues.heights)
        sums = np.zeros((2, max(clues.n_colours.tolist(), default=0) + 1), np.int64)
        verdict, numbers, self.blotted = np.empty(n, np.int64), np.zeros((n, 2), np.int64), np.zeros(n, np.bool_)
        order, starts = np.empty(n, np.int64), np.empty(n + 1, np.int64)
        ends = survey(clues, NARROW, sums, verdict, numbers, self.blotted, order, starts)
        self.out = _outputs(starts, known)
        self.results = Results(clues, self.out)
        bounds = zip((NARROW_FAMILY, COLOUR_FAMILY, WIDE_FAMILY), (0, *ends), ends, strict=False)
        self.families = [(family, order[begin:end]) for family, begin, end in bounds if begin < end]
        if ends[2] < ends[3]:
            self.misfits(order[ends[2] : ends[3]].tolist(), verdict, numbers)
        if ends[3] < n:
            self.out.status[clues.heights == 0] = NO_PUZZLE

    def give_up(self) -> None:
        """Say which puzzles are finished, and nothing of the others."""
        out, finished = self.out, np.ones(len(self.out.status), bool)
        for _, order in self.families:
            finished[order] = False
        for places, how in self.ended:
            finished[places] = how
        finished &= (out.status != FULL_STACK) & (out.status != HARD)
        out.status[~finished], out.found[~finished] = NO_PUZZLE, 0
        self.results.finished = finished

    def misfits(self, places: Iterable[int], verdict: np.ndarray, numbers: np.ndarray) -> None:
        """Say of puzzles whose clues do not fit that there is no solution, and why; see kernels.fit.misfits."""
        out = self.out
        for p in places:
            facts = (int(verdict[p]), int(numbers[p, 0]), int(numbers[p, 1]), int(self.clues.heights[p]))
            self.results.notes[p] = _misfit(*facts)
            out.status[p] = CONTRADICTION
            out.cells[0, out.starts[p] : out.starts[p + 1]] = OPEN_CELL

    def by_lines(self, lines: Lines, order: np.ndarray) -> np.ndarray:
        """Have `lines` propagate the puzzles of `order` that it takes; the others."""
        clues, left = self.clues, []
        for p in order.tolist():
            if self.results.aborted or not lines.takes(int(clues.heights[p]), int(clues.widths[p])):
                left.append(p)
            else:
                self.share(lines, p)
        return np.array(left, np.int64)

    def share(self, lines: Lines, p: int) -> None:
        """Solve one puzzle whose lines somebody else propagates; what they leave open is for the other stages."""
        clues, out, results = self.clues, self.out, self.results
        scratch, _, _ = room(clues, np.array([p]), WIDE_FAMILY, FIRST_LEVELS, MAX_STACK_WORDS)
        solved = lines.propagate(clues, p, scratch, self.limits, self.stop)
        results.shared[p] = replace(solved, planes=solved.planes[:0])
        cells = slice(out.starts[p], out.starts[p + 1])
        out.stage[p], out.status[p], results.notes[p] = LINE, solved.status, solved.witness
        n_open = 0
        if len(solved.planes):
            n_open = read_out(clues.of(p), solved.planes, out.cells[0], cells.start)
        else:
            out.cells[0, cells] = OPEN_CELL
        if solved.status == LATE and self.stop[0] > 0:
            results.aborted = True
            return
        self.ended.append((p, True))
        if solved.status == OPEN and n_open == 0:
            out.status[p], out.found[p] = CONTRADICTION, 1  # lines only drop what no solution has
        elif solved.status == OPEN and self.bits != LINE_BIT:
            self.solved[p] = solved
            self.ended.append((p, False))
            limits = self.limits
            self.limits = replace(limits.left_after(sum(solved.seconds), solved.cpu_s), order="sweep")
            self.family(np.array([p]), WIDE_FAMILY)
            self.limits = limits
        out.lined[p] = n_open
        if out.stage[p] == LINE:
            out.left[p] = n_open
        for place, n in ((N_ROUNDS, solved.n_rounds), (N_LINES, solved.n_lines)):
            out.counts[p, place - COUNTS] += n
        for place, seconds in zip((PACK_NS, LINE_NS), solved.seconds, strict=True):
            out.times[p, place] += int(seconds * 1e9)

    def family(self, order: np.ndarray, family: int) -> None:
        """Solve the puzzles `order`, all of one family."""
        wanted = self.limits.wanted
        self.propagate = propagation_of(family, self.limits.order)
        self.room_of = WIDE_FAMILY if self.limits.order == "rounds" else family  # rounds solve every line by windows
        if int(order[0]) in self.solved:
            _deep.load()
        if not _deep.loaded and self.bits != LINE_BIT:
            # Most puzzles need no more than lines: probing and search are compiled when the first one does.
            bits, self.bits = self.bits, LINE_BIT
            self.call(order, FIRST_LEVELS, wanted)
            self.bits = bits
            order = order[self.out.status[order] == OPEN]
            self.ended.append((order, False))
            if not len(order) or self.results.aborted:
                return
            _deep.load()
        self.call(order, FIRST_LEVELS, wanted)
        if not self.bits & SAT_BIT:  # which takes what has no room
            for p in order[self.out.status[order] == FULL_STACK]:
                self.alone(p, 8 * FIRST_LEVELS, wanted)
        if self.limits.solutions > 2:
            for p in order[(self.out.found[order] > 2) & (self.out.stage[order] != SAT)]:
                self.keep(p)

    def keep(self, p: int) -> None:
        """Find the solutions of one puzzle once more, now with room for all that are to be kept.

        The search is the same and ends with the last of them; what was found out about the puzzle stays as it is.
        """
        out, cells = self.out, slice(self.out.starts[p], self.out.starts[p + 1])
        keep = min(int(out.found[p]), self.limits.solutions, MAX_KEPT)
        more = np.zeros((keep - 2, cells.stop - cells.start), np.uint16)
        known = [column[p].copy() for column in (out.status, out.stage, out.found, out.lined, out.left)]
        counts, times = out.counts[p].copy(), out.times[p].copy()
        limits = self.limits
        more_cpu_s = TWICE * limits.cpu_seconds + 1 if limits.cpu_seconds else 0.0
        self.limits = replace(limits, seconds=TWICE * limits.seconds + 1, cpu_seconds=more_cpu_s)
        self.alone(p, FIRST_LEVELS, keep, more)
        self.limits = limits
        kept = min(keep, int(out.found[p]))
        out.status[p], out.stage[p], out.found[p], out.lined[p], out.left[p] = known
        out.counts[p], out.times[p] = counts, times
        if not self.results.aborted:
            self.results.solutions[int(p)] = np.concatenate([out.cells[:, cells], more])[:kept]
        self.ended.append((p, not self.results.aborted))

    def alone(self, p: int, levels: int, wanted: int, more: np.ndarray | None = None) -> None:
        """Solve one puzzle by itself, with more and more levels of search until they are enough."""
        while not self.results.aborted:
            self.call(np.array([p]), levels, wanted, more)
            _rooms.trim()
            if self.out.status[p] != FULL_STACK:
                return
            levels *= 8

    def call(self, order: np.ndarray, levels: int, wanted: int, more: np.ndarray | None = None) -> None:
        clues, out = self.clues, self.out
        scratch, n_words, n_numbers = room(clues, order, self.room_of, levels, MAX_STACK_WORDS)
        try:
            words, numbers = _rooms.of(n_words, n_numbers)
        except MemoryError:
            if len(order) > 1:
                for p in order:
                    self.alone(p, levels, wanted, more)
            else:
                out.status[order], out.stage[order] = SPENT, LINE
                gibibytes = (n_words + n_numbers) * 8 / 2**30
                self.results.notes[int(order[0])] = f"needs {gibibytes:.1f} GiB of memory to work in"
                self.ended.append((order, True))
            return
        numbers[STOP] = self.stop_at
        bits = self.bits
        if order[0] in self.solved:  # then it is the only one
            p = int(order[0])
            planes = self.solved[p].planes
            n_colours = max(int(clues.n_colours[p]), 2)
            base = layout.first_level_at(
                layout.places_of(int(clues.heights[p]), int(clues.widths[p]), n_colours), scratch
            )
            words[base : base + len(planes)] = planes
            bits |= SOLVED_BIT
        plan, no_end = self.limits.plan, int(NO_END)
        asked = Asked(
            bits,
            wanted,
            self.limits.wall_ns,
            self.limits.cpu_ns,
            plan.probes or no_end,
            (plan.visits or no_end) if self.bits & SAT_BIT else no_end,
        )
        if more is not None:
            out = out._replace(more=more)
        while len(order) and not self.results.aborted:
            done = solve_kernel(
                _deep.search,
                _deep.probe,
                self.propagate,
                order,
                clues,
                scratch,
                words,
                numbers,
                out,
                asked,
            )
            self.ended.append((order[:done], True))
            if done and out.status[order[done - 1]] == HARD:
                self.hard(order[done - 1], scratch, words, wanted, int(numbers[CPU_END]))
                self.ended.append((order[done - 1], not self.results.aborted))
            else:
                self.results.aborted |= done < len(order)
            order = order[done:]

    def told_to_stop(self) -> bool:
        """True when another thread wants an end at once."""
        return bool(self.stop[0] > 0)

    def hard(self, p: int, scratch: int, words: np.ndarray, wanted: int, cpu_end: int) -> None:
        """What the kernel left open of a puzzle, to the SAT solver; its planes are in words (see kernels.solve).

        cpu_end  see kernels.deadline.
        """
        from . import prover, sat

        out, limits = self.out, self.limits
        cpu_left_s = (cpu_end - thread_time_ns()) * 1e-9 if cpu_end else inf
        sat.compile_first(self.clues, int(p), scratch, words)
        out.stage[p] = SAT
        with ExitStack() as stack:
            with span("queue"):
                ready = stack.enter_context(prover.reserved(len(limits.plan.solvers), self.told_to_stop))
            if ready:
                self.by_sat(p, scratch, words, wanted, cpu_left_s)
            else:
                out.status[p], self.results.aborted = LATE, True

    def by_sat(self, p: int, scratch: int, words: np.ndarray, wanted: int, cpu_left_s: float) -> None:
        """See `hard`: the processes of the SAT solver are ready."""
        from . import sat

        out, limits = self.out, self.limits
        began, spent, cpu = perf_counter_ns(), int(out.times[p].sum()), thread_time_ns()
        cells = slice(out.starts[p], out.starts[p + 1])
        known = out.cells[0, cells] if out.found[p] else None
        keep = min(limits.solutions, MAX_KEPT)
        if limits.plan.encoding == "plain" and not self.blotted[p]:
            from .plain_cnf import plain_problem

            problem = plain_problem(self.clues, int(p), limits, out.cells[0, cells] if known is None else None)
        else:
            problem = sat.problem_of(self.clues, int(p), scratch, words, limits, known)
        if isinstance(problem, int):
            out.status[p] = SPENT
            needs = f"the SAT solver needs about {problem} MiB, more than the {limits.memory_mib} it may take"
            self.results.notes[int(p)] = needs
            return
        left = limits.seconds - (spent + perf_counter_ns() - began) * 1e-9
        cpu_left_s -= (thread_time_ns() - cpu) * 1e-9
        if min(left, cpu_left_s) <= 0:
            out.status[p], out.times[p, SAT_NS] = LATE, perf_counter_ns() - began
            return
        with span("prove", 1):
            decision = sat.decide(problem, limits, wanted, max(keep, 2), left, self.told_to_stop, cpu_left_s)
        if len(decision.solutions) >= min(int(out.found[p]), 2):  # else those of the search are more
            for place, solution in enumerate(decision.solutions[:2]):
                out.cells[place, cells] = solution
        if keep > 2 and len(decision.solutions) > 2:
            self.results.solutions[int(p)] = decision.solutions[:keep]
        out.found[p] = max(int(out.found[p]), decision.found)
        out.counts[p, N_CONFLICTS - COUNTS] += decision.conflicts
        self.results.proved[p] = decision.cpu_s
        out.status[p] = {"exhausted": CONTRADICTION, "enough": SOLVED, "memory": SPENT}.get(decision.ending, LATE)
        if decision.ending == "memory":
            self.results.notes[int(p)] = f"the SAT solver took more than {limits.memory_mib} MiB"
        self.results.aborted |= decision.ending == "stopped"
        out.times[p, SAT_NS] = perf_counter_ns() - began
