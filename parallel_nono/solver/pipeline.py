"""A puzzle set through a plan of stages: columns in, columns out, no Python object per puzzle.

Puzzles are grouped into families that share a propagation (black-white or colour; no line over 64 cells, or longer
ones and blots); each family goes through one jitted call. What that call could not finish for lack of room is solved
again by itself with more.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..attempt import OUTCOMES, Limits, Outcome, Plan
from ..kernels import layout
from ..kernels.board import (
    CONTRADICTION,
    COUNTS,
    FULL_STACK,
    HARD,
    LATE,
    N_BRANCHES,
    N_CONFLICTS,
    N_COUNTS,
    N_DEPTH,
    N_LINES,
    N_PROBES,
    N_ROUNDS,
    NO_END,
    OPEN,
    OPEN_CELL,
    SOLVED,
    SPENT,
    STOP,
    WITNESS,
)
from ..kernels.clues import Clues
from ..kernels.fit import FITS, misfits
from ..kernels.layout import FIRST_LEVELS, NARROW
from ..kernels.solve import (
    LINE,
    LINE_BIT,
    LINE_NS,
    PACK_NS,
    PROBE,
    PROBE_NS,
    SAT,
    SAT_BIT,
    SAT_NS,
    SEARCH,
    SEARCH_NS,
    SOLVED_BIT,
    Asked,
    Outputs,
    no_probe,
    no_search,
    read_out,
)
from ..kernels.solve import solve as solve_kernel
from ..puzzle import line_name
from ..spans import span

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

CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}


@dataclass(slots=True)
class Propagated:
    """What lines alone make of one puzzle.

    status   OPEN (also when every cell is known), CONTRADICTION, LATE, or SPENT: there was no room.
    planes   uint64, its state (kernels.board); empty unless OPEN or LATE.
    seconds  wall, as `pack_s` and `line_s`.
    cpu_s    of all who worked for it, in those of `line_s`.
    mib      most memory that one of their processes used.
    team     who they are.
    """

    status: int
    planes: np.ndarray
    n_rounds: int = 0
    n_lines: int = 0
    witness: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)
    cpu_s: float = 0.0
    mib: float = 0.0
    team: str = ""


@dataclass(slots=True)
class Results:
    """What became of each puzzle of a set, as columns of length n.

    outcome, stage  int8, places in attempt.OUTCOMES and attempt.STAGES.
    n_solutions       int64, exact where `exhausted`.
    n_open_lines    int64, cells that lines alone left open;  n_open  int64, cells that lines and probes left open.
    witness         why there is no solution, where lines alone show it; else "".
    *_s             float64, wall seconds.
    cell_starts     int64[n + 1];  cells  uint16[2, cell_starts[-1]]: first and second solution of each puzzle as colour
                    indices row by row; without a solution cells[0] is what is known, OPEN_CELL where nothing is.
    solutions         all kept solutions, uint16[k, cells], of the puzzles that have more than two.
    shared          of the puzzles whose lines somebody else propagated (`Lines`), what they said; without the planes.
    aborted         another thread asked for an end.
    finished        bool, puzzles that were done by then; of the others (outcome INVALID) nothing is known.
    """

    outcome: np.ndarray
    stage: np.ndarray
    n_solutions: np.ndarray
    exhausted: np.ndarray
    n_open_lines: np.ndarray
    n_open: np.ndarray
    n_rounds: np.ndarray
    n_lines: np.ndarray
    n_probes: np.ndarray
    n_branches: np.ndarray
    n_depth: np.ndarray
    n_conflicts: np.ndarray
    pack_s: np.ndarray
    line_s: np.ndarray
    probe_s: np.ndarray
    search_s: np.ndarray
    sat_s: np.ndarray
    solve_s: np.ndarray
    witness: list[str]
    cell_starts: np.ndarray
    cells: np.ndarray
    finished: np.ndarray
    solutions: dict[int, np.ndarray] = field(default_factory=dict)
    shared: dict[int, Propagated] = field(default_factory=dict)
    aborted: bool = False


class Lines(Protocol):
    """Somebody who propagates lines instead of the kernels of this thread: many workers, or another device."""

    def takes(self, height: int, width: int) -> bool:
        """True for the puzzles that it wants."""

    def propagate(self, clues: Clues, place: int, scratch: int, limits: Limits, stop: np.ndarray) -> Propagated:
        """Solve lines of puzzle `place` until none learns. scratch: words, see `_Run.wide_scratch`."""


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


def propagation_of(colour: bool, wide: bool, order: str = "sweep") -> Any:
    """The compiled propagation of a family; its module is imported, and so compiled, when a puzzle needs it."""
    if order == "rounds":
        from ..kernels.rounds import propagate_rounds

        return propagate_rounds
    if wide:
        from ..kernels.wide import propagate_wide

        return propagate_wide
    if colour:
        from ..kernels.colour import propagate_colour

        return propagate_colour
    from ..kernels.narrow import propagate_narrow

    return propagate_narrow


def stage_bits(plan: Plan) -> int:
    """The stages of a plan as bits. Errors: ValueError naming an unknown or misplaced stage."""
    names = plan.stages
    places = [list(STAGES).index(name) if name in STAGES else -1 for name in names]
    if not names or names[0] != "line" or -1 in places or places != sorted(set(places)):
        raise ValueError(f"expected a plan like {', '.join(STAGES)} that begins with line, found {', '.join(names)}")
    return sum(1 << STAGES[name] for name in names)


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


def solve_clues(clues: Clues, limits: Limits, abort: np.ndarray | None = None, lines: Lines | None = None) -> Results:
    """`solve_set` for clues that are no Arrow batch."""
    bits = stage_bits(limits.plan)
    if limits.order not in ("sweep", "rounds") or (limits.order == "rounds" and bits != LINE_BIT and lines is None):
        raise ValueError(f"expected order sweep, or rounds with plan line only or lines mode, found {limits.order}")
    n = len(clues.heights)
    heights, widths = clues.heights.astype(np.int64), clues.widths.astype(np.int64)
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(heights * widths, out=starts[1:])
    out = Outputs(
        status=np.zeros(n, np.int8),
        stage=np.zeros(n, np.int8),
        found=np.zeros(n, np.int64),
        lined=np.zeros(n, np.int64),
        left=np.zeros(n, np.int64),
        counts=np.zeros((n, N_COUNTS), np.int64),
        times=np.zeros((n, 5), np.int64),
        starts=starts,
        cells=np.zeros((2, starts[-1]), np.uint16),
        more=np.zeros((0, 0), np.uint16),
    )
    witness = [""] * n
    run = _Run(clues, out, limits, bits, np.zeros(1, np.int64) if abort is None else abort, witness)
    verdict, numbers = run.misfits()
    for p in np.flatnonzero(verdict != FITS):
        witness[p] = _misfit(int(verdict[p]), int(numbers[p, 0]), int(numbers[p, 1]), int(heights[p]))
        out.status[p] = CONTRADICTION
        out.cells[0, starts[p] : starts[p + 1]] = OPEN_CELL
    valid = heights > 0
    ready = valid & (verdict == FITS)
    run.finished = ~ready
    colour, wide = clues.n_colours > 2, run.blotted | (np.maximum(heights, widths) > NARROW)
    if lines is not None:
        for p in np.flatnonzero(ready):
            if not run.aborted and lines.takes(int(heights[p]), int(widths[p])):
                ready[p] = False
                run.by_lines(lines, int(p), bool(colour[p]))
    for is_wide in (False, True):
        for is_colour in (False, True):
            order = np.flatnonzero(ready & (colour == is_colour) & (wide == is_wide))
            if len(order) and not run.aborted:
                run.family(order, is_colour, is_wide)
    dead = out.counts[:, WITNESS - COUNTS]
    for p in np.flatnonzero(ready & (out.status == CONTRADICTION) & (out.stage == LINE) & (out.found == 0)):
        witness[p] = no_arrangement(int(dead[p]), int(heights[p]))
    return run.results(valid)


def no_arrangement(line: int, height: int) -> str:
    """The witness of a contradiction: this line, counted from 0, rows first."""
    return f"{line_name(line, height)}: no arrangement agrees with the crossing lines"


def _misfit(verdict: int, first: int, second: int, height: int) -> str:
    if verdict >= 0:
        return f"{line_name(verdict, height)}: the clue needs {first} cells, the line has {second}"
    rows, columns = (f"at least {-count}" if count < 0 else str(count) for count in (first, second))
    return f"colour {-1 - verdict}: the rows hold {rows} cells, the columns {columns}"


class _Run:
    """One call of solve_set: the set, what is known so far, and what was asked."""

    def __init__(
        self, clues: Clues, out: Outputs, limits: Limits, bits: int, stop: np.ndarray, witness: list[str]
    ) -> None:
        self.clues, self.out, self.limits, self.bits, self.stop = clues, out, limits, bits, stop
        self.witness = witness
        self.aborted = False
        self.blotted = np.zeros(len(clues.heights), bool)
        self.finished = np.ones(len(clues.heights), bool)
        self.solutions: dict[int, np.ndarray] = {}
        self.solved: dict[int, Propagated] = {}
        self.shared: dict[int, Propagated] = {}

    def misfits(self) -> tuple[np.ndarray, np.ndarray]:
        """See kernels.fit.misfits: verdict, numbers."""
        clues, n = self.clues, len(self.clues.heights)
        verdict, numbers = np.empty(n, np.int64), np.zeros((n, 2), np.int64)
        sums = np.zeros((2, int(clues.n_colours.max(initial=0)) + 1), np.int64)
        misfits(clues, sums, verdict, numbers, self.blotted)
        return verdict, numbers

    def by_lines(self, lines: Lines, p: int, colour: bool) -> None:
        """Solve one puzzle whose lines somebody else propagates; what they leave open is for the other stages."""
        clues, out = self.clues, self.out
        solved = lines.propagate(clues, p, self.wide_scratch(np.array([p])), self.limits, self.stop)
        self.shared[p] = replace(solved, planes=solved.planes[:0])
        cells = slice(out.starts[p], out.starts[p + 1])
        out.stage[p], out.status[p], self.witness[p] = LINE, solved.status, solved.witness
        n_open = 0
        if len(solved.planes):
            n_open = read_out(clues.of(p), solved.planes, out.cells[0], cells.start)
        elif solved.status != CONTRADICTION:
            out.cells[0, cells] = OPEN_CELL
        if solved.status == LATE and self.stop[0] > 0:
            self.aborted = True
            return
        self.finished[p] = True
        if solved.status == OPEN and n_open == 0:
            out.status[p], out.found[p] = CONTRADICTION, 1  # lines only drop what no solution has
        elif solved.status == OPEN and self.bits != LINE_BIT:
            self.solved[p], self.finished[p] = solved, False
            spent = solved.seconds[0] + solved.seconds[1]
            limits = self.limits
            self.limits = replace(limits, seconds=max(limits.seconds - spent, 0.001), order="sweep")
            self.family(np.array([p]), colour, wide=True)
            self.limits = limits
        out.lined[p] = n_open
        if out.stage[p] == LINE:
            out.left[p] = n_open
        for place, n in ((N_ROUNDS, solved.n_rounds), (N_LINES, solved.n_lines)):
            out.counts[p, place - COUNTS] += n
        for place, seconds in zip((PACK_NS, LINE_NS), solved.seconds, strict=True):
            out.times[p, place] += int(seconds * 1e9)

    def family(self, order: np.ndarray, colour: bool, wide: bool) -> None:
        """Solve the puzzles `order`, all of one family."""
        wanted = self.limits.wanted
        self.propagate, self.colour = propagation_of(colour, wide, self.limits.order), colour
        self.wide = wide or self.limits.order == "rounds"  # rounds solve every line by windows
        if order[0] in self.solved:
            _deep.load()
        if not _deep.loaded and self.bits != LINE_BIT:
            # Most puzzles need no more than lines: probing and search are compiled when the first one does.
            bits, self.bits = self.bits, LINE_BIT
            self.call(order, FIRST_LEVELS, wanted)
            self.bits = bits
            order = order[self.out.status[order] == OPEN]
            self.finished[order] = False
            if not len(order) or self.aborted:
                return
            _deep.load()
        self.call(order, FIRST_LEVELS, wanted)
        deep = order[self.out.status[order] == FULL_STACK]
        self.finished[deep] = False
        for p in deep:
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
        limits, self.limits = self.limits, replace(self.limits, seconds=TWICE * self.limits.seconds + 1)
        self.alone(p, FIRST_LEVELS, keep, more)
        self.limits = limits
        kept = min(keep, int(out.found[p]))
        out.status[p], out.stage[p], out.found[p], out.lined[p], out.left[p] = known
        out.counts[p], out.times[p] = counts, times
        if not self.aborted:
            self.solutions[int(p)] = np.concatenate([out.cells[:, cells], more])[:kept]
        self.finished[p] = not self.aborted

    def alone(self, p: int, levels: int, wanted: int, more: np.ndarray | None = None) -> None:
        """Solve one puzzle by itself, with more and more levels of search until they are enough."""
        while not self.aborted:
            self.call(np.array([p]), levels, wanted, more)
            _rooms.trim()
            if self.out.status[p] != FULL_STACK:
                return
            levels *= 8

    def call(self, order: np.ndarray, levels: int, wanted: int, more: np.ndarray | None = None) -> None:
        clues, out = self.clues, self.out
        scratch, n_words, n_numbers = self.sizes(order, levels)
        try:
            words, numbers = _rooms.of(n_words, n_numbers)
        except MemoryError:
            if len(order) > 1:
                for p in order:
                    self.alone(p, levels, wanted, more)
            else:
                out.status[order], out.stage[order], self.finished[order] = SPENT, LINE, True
                self.witness[order[0]] = f"needs {(n_words + n_numbers) * 8 / 2**30:.1f} GiB of memory to work in"
            return
        numbers[STOP] = self.stop.ctypes.data
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
            min(int(self.limits.seconds * 1e9), no_end),
            plan.probes or no_end,
            (plan.visits or no_end) if self.bits & SAT_BIT else no_end,
        )
        if more is not None:
            out = out._replace(more=more)
        while len(order) and not self.aborted:
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
            self.finished[order[:done]] = out.status[order[:done]] != FULL_STACK
            if done and out.status[order[done - 1]] == HARD:
                self.hard(order[done - 1], scratch, words, wanted)
                self.finished[order[done - 1]] = not self.aborted
            else:
                self.aborted |= done < len(order)
            order = order[done:]

    def hard(self, p: int, scratch: int, words: np.ndarray, wanted: int) -> None:
        """What the kernel left open of a puzzle, to the SAT solver; its planes are in words (see kernels.solve)."""
        from . import prover, sat

        out, limits = self.out, self.limits
        sat.compile_first(self.clues, int(p), scratch, words)
        out.stage[p] = SAT
        with ExitStack() as stack:
            with span("queue"):
                ready = stack.enter_context(prover.reserved(len(limits.plan.solvers), lambda: bool(self.stop[0] > 0)))
            if ready:
                self.by_sat(p, scratch, words, wanted)
            else:
                out.status[p], self.aborted = LATE, True

    def by_sat(self, p: int, scratch: int, words: np.ndarray, wanted: int) -> None:
        """See `hard`: the processes of the SAT solver are ready."""
        from . import sat

        out, limits = self.out, self.limits
        began, spent = perf_counter_ns(), int(out.times[p].sum())
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
            self.witness[p] = f"the SAT solver needs about {problem} MiB, more than the {limits.memory_mib} it may take"
            return
        left = limits.seconds - (spent + perf_counter_ns() - began) * 1e-9
        if left <= 0:
            out.status[p], out.times[p, SAT_NS] = LATE, perf_counter_ns() - began
            return
        with span("prove", 1):
            decision = sat.decide(problem, limits, wanted, max(keep, 2), left, lambda: bool(self.stop[0] > 0))
        if len(decision.solutions) >= min(int(out.found[p]), 2):  # else those of the search are more
            for place, solution in enumerate(decision.solutions[:2]):
                out.cells[place, cells] = solution
        if keep > 2 and len(decision.solutions) > 2:
            self.solutions[int(p)] = decision.solutions[:keep]
        out.found[p] = max(int(out.found[p]), decision.found)
        out.counts[p, N_CONFLICTS - COUNTS] += decision.conflicts
        out.status[p] = {"exhausted": CONTRADICTION, "enough": SOLVED, "memory": SPENT}.get(decision.ending, LATE)
        if decision.ending == "memory":
            self.witness[p] = f"the SAT solver took more than {limits.memory_mib} MiB"
        self.aborted |= decision.ending == "stopped"
        out.times[p, SAT_NS] = perf_counter_ns() - began

    def sizes(self, order: np.ndarray, levels: int) -> tuple[int, int, int]:
        """Scratch words, words and numbers that the largest of these puzzles needs (see kernels.board)."""
        clues = self.clues
        heights, widths = clues.heights[order].astype(np.int64), clues.widths[order].astype(np.int64)
        planes = np.maximum(clues.n_colours[order].astype(np.int64), 2)
        places = layout.places_of(heights, widths, planes)
        numbers = places.tables
        scratch = 0
        if self.wide:
            scratch = self.wide_scratch(order)
            blocks = clues.block_starts[clues.line_starts[order + 1]] - clues.block_starts[clues.line_starts[order]]
            numbers = numbers + layout.table_numbers(planes, heights + widths, blocks.astype(np.int64))
        elif self.colour:
            scratch = layout.colour_scratch(int(planes.max()))
            numbers = numbers + layout.table_numbers(0, heights + widths, 0)
        n_levels = layout.levels_of(heights * widths, places.state_words, levels, MAX_STACK_WORDS)
        words = layout.work_words(places, scratch, n_levels)
        return scratch, int(words.max()), int(numbers.max())

    def wide_scratch(self, order: np.ndarray) -> int:
        """Scratch words for the longest windows among all lines of these puzzles."""
        clues, most = self.clues, 0
        for p in order:
            height, width = int(clues.heights[p]), int(clues.widths[p])
            blocks = clues.block_starts[clues.line_starts[p] : clues.line_starts[p + 1] + 1].astype(np.int64)
            cells = layout.filled_cells(clues.lengths, blocks)
            n = np.repeat([width, height], [height, width])
            size = layout.plane_words(n)
            need = layout.line_scratch(int(clues.n_colours[p]), np.diff(blocks), n - cells, size)
            if not clues.lengths[blocks[0] : blocks[-1]].all():
                need = np.maximum(need, layout.blot_scratch(int(clues.n_colours[p]), np.diff(blocks), size))
            most = max(most, int(need.max()) + layout.places_of(height, width, 2).line_words)
        return most

    def results(self, valid: np.ndarray) -> Results:
        out, n = self.out, len(valid)
        found, status = out.found, out.status
        exhausted = valid & (status == CONTRADICTION)
        outcome = np.full(n, CODE[Outcome.STALLED], np.int8)
        outcome[status == LATE] = CODE[Outcome.TIMEOUT]
        outcome[found >= 2] = CODE[Outcome.MULTIPLE]
        outcome[(status == SOLVED) & (found == 1)] = CODE[Outcome.SOLVED]
        outcome[exhausted & (found == 1)] = CODE[Outcome.UNIQUE]
        outcome[exhausted & (found == 0)] = CODE[Outcome.CONTRADICTION]
        found[~self.finished] = 0
        outcome[~(valid & self.finished)] = CODE[Outcome.INVALID]
        for p in np.flatnonzero((status == LATE) & (found >= 2)):
            self.witness[p] = "the time ran out while solutions were counted"
        seconds = out.times * 1e-9

        def count(place: int) -> np.ndarray:
            return out.counts[:, place - COUNTS]

        return Results(
            outcome=outcome,
            stage=out.stage,
            n_solutions=found,
            exhausted=exhausted,
            n_open_lines=np.maximum(out.lined, 0),
            n_open=np.maximum(out.left, 0),
            n_rounds=count(N_ROUNDS),
            n_lines=count(N_LINES),
            n_probes=count(N_PROBES),
            n_branches=count(N_BRANCHES),
            n_depth=count(N_DEPTH),
            n_conflicts=count(N_CONFLICTS),
            pack_s=seconds[:, PACK_NS],
            line_s=seconds[:, LINE_NS],
            probe_s=seconds[:, PROBE_NS],
            search_s=seconds[:, SEARCH_NS],
            sat_s=seconds[:, SAT_NS],
            solve_s=seconds.sum(axis=1),
            witness=self.witness,
            cell_starts=out.starts,
            cells=out.cells,
            finished=self.finished,
            solutions=self.solutions,
            shared=self.shared,
            aborted=self.aborted,
        )
