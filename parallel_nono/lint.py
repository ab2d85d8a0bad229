"""What a publisher wants to know of a puzzle before it is printed: what is wrong, what is doubtful, what is unusual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

from .attempt import OUTCOMES, STAGES, Limits, Outcome
from .checker import check
from .puzzle import Clue, InvalidPuzzle, Puzzle

if TYPE_CHECKING:
    import pyarrow as pa

    from .kernels.clues import Clues

FEW_INKS = 10
MAX_NAMED = 8

MAX_COMPARED = 40
"""Colours that are held against each other; a palette of more is many anyway."""

ALIKE = 10.0
"""CIEDE2000: patches nearer than this are mistaken for each other in cells apart. For comparison: maroon and brown are
10.4 apart, white and silver 14.1; two shades side by side are told apart from about 2 on."""

EYES = {"": "", "protan": "machado", "deutan": "machado", "tritan": "brettel"}
"""Kinds of colour blindness by the names of coloraide, with the models. Machado, Oliveira, Fernandes: A
Physiologically-based Model for Simulation of Color Vision Deficiency, IEEE TVCG 15 (2009) 1291-1298; for tritan, of
which that has no data, Brettel, Vienot, Mollon: Computerized simulation of color appearance for dichromats, JOSA A 14
(1997) 2647-2655. The distance is CIEDE2000: Sharma, Wu, Dalal, Color Research and Application 30 (2005) 21-30."""

BLACK_ON_WHITE = (0x000000, 0xFFFFFF)
"""Shades that nobody mistakes for each other: most puzzles have no others, and importing coloraide takes 60 ms."""

BLINDNESS = {"": "", "protan": "protanopia", "deutan": "deuteranopia", "tritan": "tritanopia"}


class Grade(StrEnum):
    """How bad it is, the worst last."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Note(NamedTuple):
    """One thing to say about a puzzle.

    code  short and stable, for programs.
    text  for people.
    """

    grade: Grade
    code: str
    text: str


class Finding(NamedTuple):
    """All notes of one puzzle, the worst first.

    number  its place in its source, from 1.
    """

    name: str
    source: str
    number: int
    notes: list[Note]


CODES = {
    "unread": "the text is not a puzzle",
    "reading": "the reader had to guess",
    "fit": "a clue is longer than its line",
    "sums": "rows and columns hold different numbers of cells of a colour",
    "contradiction": "there is no solution",
    "multiple": "there is more than one solution",
    "goal": "the goal of the file breaks the clues, or is not the only solution",
    "undecided": "out of time",
    "duplicate": "the same puzzle was there before, perhaps turned, mirrored or in other colours",
    "alike": "two colours are hard to tell apart",
    "unused": "a colour of the palette is in no clue",
    "guess": "lines alone do not find the solution",
    "side": "a side is not divisible by 5",
    "instant": "lines are known at once",
    "inks": "there are many colours",
}
"""Every code with what it stands for."""


def notes_of(puzzle: Puzzle) -> list[Note]:
    """What can be said without solving, the worst first."""
    found = [*_misfits(puzzle), *_colours(puzzle), *_unorthodox(puzzle)]
    return sorted(found, key=lambda note: -list(Grade).index(note.grade))


def _misfits(puzzle: Puzzle) -> Iterator[Note]:
    """Lines and sums that no solving can mend; with blots what is certain of them."""
    for kind, number, clue, cells in _lines(puzzle):
        if _least(clue) > cells:
            text = f"{kind} {number}: the clue needs {_least(clue)} cells, the line has {cells}"
            yield Note(Grade.ERROR, "fit", text)
    inks = range(1, puzzle.n_colours)
    sides = [_sums(puzzle.rows), _sums(puzzle.columns)]
    for ink in inks:
        (least, exact), (other, other_exact) = (side.get(ink, (0, True)) for side in sides)
        if (least != other and exact and other_exact) or (exact and other > least) or (other_exact and least > other):
            rows, columns = (
                f"{'' if sure else 'at least '}{sum_}" for sum_, sure in ((least, exact), (other, other_exact))
            )
            text = f"colour {_name(puzzle, ink)}: the rows hold {rows} cells, the columns {columns}"
            yield Note(Grade.ERROR, "sums", text)


def _colours(puzzle: Puzzle) -> Iterator[Note]:
    used = {0, *(block.colour for clue in (*puzzle.rows, *puzzle.columns) for block in clue)}
    unused = [_name(puzzle, ink) for ink in range(1, puzzle.n_colours) if ink not in used]
    if unused and puzzle.n_colours > 2:
        yield Note(Grade.WARNING, "unused", f"no clue has {_listed(unused)}")
    pairs: dict[bool, list[str]] = {True: [], False: []}
    for one, other in combinations(sorted(used)[:MAX_COMPARED], 2):
        near = alike(*sorted((puzzle.palette[one].rgb, puzzle.palette[other].rgb)))
        if near:
            how = ", ".join(f"{BLINDNESS[eye]} {distance:.1f}".strip() for eye, distance in near.items())
            pairs["" in near].append(f"{_name(puzzle, one)} and {_name(puzzle, other)} ({how})")
    if pairs[True]:
        yield Note(Grade.WARNING, "alike", f"hard to tell apart, with their CIEDE2000: {_listed(pairs[True])}")
    if pairs[False]:
        text = f"hard to tell apart for the colour-blind, with their CIEDE2000: {_listed(pairs[False])}"
        yield Note(Grade.NOTE, "alike", text)


@cache
def alike(one: int, other: int) -> dict[str, float]:
    """The eyes of EYES to which two shades look alike, with their distance; the darker one first."""
    if (one, other) == BLACK_ON_WHITE:
        return {}
    from coloraide import Color

    found = {}
    for eye, model in EYES.items():
        shades = [Color(f"#{shade:06x}") for shade in (one, other)]
        if eye:
            shades = [shade.filter(eye, method=model).clip("srgb") for shade in shades]
        distance = shades[0].delta_e(shades[1], method="2000")
        if distance < ALIKE:
            found[eye] = distance
    return found


def _unorthodox(puzzle: Puzzle) -> Iterator[Note]:
    """What puzzle makers like otherwise; it changes nothing."""
    for side, cells in (("height", puzzle.height), ("width", puzzle.width)):
        if cells % 5:
            yield Note(Grade.NOTE, "side", f"the {side} {cells} is not divisible by 5")
    known = [f"{kind} {number}" for kind, number, clue, cells in _lines(puzzle) if not clue or _least(clue) == cells]
    if known:
        what = "line" if len(known) == 1 else "lines"
        yield Note(Grade.NOTE, "instant", f"instant {what}, empty or full: {_listed(known)}")
    if puzzle.n_colours - 1 > FEW_INKS:
        yield Note(Grade.NOTE, "inks", f"{puzzle.n_colours - 1} inks are many")


def _lines(puzzle: Puzzle) -> Iterator[tuple[str, int, Clue, int]]:
    """(`row` or `column`, number from 1, clue, cells) of each line."""
    for kind, clues, cells in (("row", puzzle.rows, puzzle.width), ("column", puzzle.columns, puzzle.height)):
        for number, clue in enumerate(clues, start=1):
            yield kind, number, clue, cells


def _least(clue: Clue) -> int:
    """Cells that the blocks need with their gaps; a blot one or more."""
    gaps = sum(one.colour == other.colour for one, other in pairwise(clue))
    return sum(max(block.length, 1) for block in clue) + gaps


def _sums(clues: Sequence[Clue]) -> dict[int, tuple[int, bool]]:
    """Cells of each ink that the clues of one side ask for at least, and whether it is just so many."""
    sums: dict[int, tuple[int, bool]] = {}
    for clue in clues:
        for block in clue:
            least, exact = sums.get(block.colour, (0, True))
            sums[block.colour] = least + max(block.length, 1), exact and not block.is_blot
    return sums


def _name(puzzle: Puzzle, colour: int) -> str:
    ink = puzzle.palette[colour]
    return ink.name or f"#{ink.rgb:06x}"


def _listed(words: Sequence[str]) -> str:
    rest = len(words) - MAX_NAMED
    return ", ".join(words[:MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")


class Lint:
    """Looks at puzzles set by set, and remembers what was there before.

    limits  for solving; None: nothing is solved.
    """

    def __init__(self, limits: Limits | None) -> None:
        self.limits = limits
        self.seen: dict[bytes, tuple[str, bytes, int]] = {}
        """For each puzzle up to symmetry, where it was first, and what it was there: its digest, a hash of its inks."""

    def look(self, batch: pa.RecordBatch) -> Iterator[Finding]:
        """The findings about each puzzle of a set, those that could not be read included."""
        from .puzzleset import clues_of, puzzles_of
        from .solver import solve_set

        results = None if self.limits is None else solve_set(batch, self.limits)
        ways = _symmetries(clues_of(batch))
        for place, puzzle in enumerate(puzzles_of(batch)):
            source = batch.column("source")[place].as_py()
            if isinstance(puzzle, InvalidPuzzle):
                notes = [Note(Grade.ERROR, "unread", str(puzzle))]
                yield Finding(puzzle.name, source, puzzle.index, notes)
                continue
            found = notes_of(puzzle)
            found += [Note(Grade.NOTE, "reading", warning) for warning in puzzle.warnings]
            found += self._duplicate(puzzle, {way: names[place] for way, names in ways.items()})
            if puzzle.goal is not None:
                verdict = check(puzzle, puzzle.goal)
                if not verdict:
                    found.append(Note(Grade.ERROR, "goal", f"the goal breaks the clues: {verdict.complaint}"))
            if results is not None:
                outcome, stage = OUTCOMES[results.outcome[place]], STAGES[results.stage[place]]
                known = {note.code for note in found}
                found += _decided(puzzle, outcome, stage, results.witness[place], known)
            found.sort(key=lambda note: -list(Grade).index(note.grade))
            yield Finding(puzzle.name, source, puzzle.index, found)

    def _duplicate(self, puzzle: Puzzle, ways: dict[str, str]) -> Iterator[Note]:
        names = {way: bytes.fromhex(name) for way, name in ways.items()}
        where = f"{puzzle.source} #{puzzle.index}"
        inks = hash(frozenset(_inks(puzzle)))
        first, digest, first_inks = self.seen.setdefault(min(names.values()), (where, names[""], inks))
        if first != where:
            way = next(way for way, name in names.items() if name == digest)
            how = [way] * bool(way) + ["in other colours"] * (inks != first_inks)
            yield Note(Grade.WARNING, "duplicate", ", ".join([f"the clues are those of {first}", *how]))


def _inks(puzzle: Puzzle) -> Iterator[tuple[int, int]]:
    """(shade, cells in the clues of both sides) of each ink in use."""
    sums = [_sums(puzzle.rows), _sums(puzzle.columns)]
    for ink in sums[0].keys() | sums[1].keys():
        yield puzzle.palette[ink].rgb, sum(side.get(ink, (0, True))[0] for side in sums)


def _decided(puzzle: Puzzle, outcome: Outcome, stage: str, witness: str, known: set[str]) -> Iterator[Note]:
    """What solving tells; a contradiction that is explained already is not told twice."""
    match outcome:
        case Outcome.MULTIPLE:
            yield Note(Grade.ERROR, "multiple", "there are several solutions")
            if puzzle.goal is not None and "goal" not in known:
                yield Note(Grade.ERROR, "goal", "the goal is one of several solutions")
        case Outcome.CONTRADICTION:
            if not known & {"fit", "sums"}:
                yield Note(Grade.ERROR, "contradiction", f"there is no solution{witness and f': {witness}'}")
        case Outcome.UNIQUE:
            if stage not in ("read", "line"):
                yield Note(Grade.NOTE, "guess", f"lines alone do not find the solution (stage {stage})")
        case _:
            yield Note(Grade.WARNING, "undecided", f"not decided in time ({outcome})")


WAYS = {
    "": (False, False, False),
    "mirrored left to right": (False, False, True),
    "mirrored top to bottom": (False, True, False),
    "turned by 180 degrees": (False, True, True),
    "transposed": (True, False, False),
    "turned to the left": (True, False, True),
    "turned to the right": (True, True, False),
    "transposed and turned by 180 degrees": (True, True, True),
}
"""The symmetries of a grid as arguments of `turned`, each named by what it undoes."""


def _symmetries(clues: Clues) -> dict[str, list[str]]:
    """The digest of each puzzle of a set in each of WAYS. Digests do not mind which ink is which."""
    from .puzzleset import digests

    return {way: digests(turned(clues, *turns)) for way, turns in WAYS.items()}


def turned(clues: Clues, transposed: bool, upside_down: bool, mirrored: bool) -> Clues:
    """The clues of every puzzle of a set in another position; the order of the three is that of the arguments."""
    import numpy as np

    from .kernels.clues import Clues

    lines = clues.line_starts - clues.line_starts[0]
    blocks = clues.block_starts[clues.line_starts[0] : clues.line_starts[-1] + 1].astype(np.int64)
    heights, widths = (clues.widths, clues.heights) if transposed else (clues.heights, clues.widths)
    owner = np.repeat(np.arange(len(heights)), np.diff(lines))
    # For each line of the turned puzzle the one it comes from.
    place = np.arange(len(owner)) - lines[owner]
    height, width = heights[owner], widths[owner]
    is_row = place < height
    index = np.where(is_row, place, place - height)
    index = np.where(is_row & upside_down, height - 1 - index, index)
    index = np.where(~is_row & mirrored, width - 1 - index, index)
    first = np.where(is_row, width, 0) if transposed else np.where(is_row, 0, height)
    source = lines[owner] + first + index
    backwards = np.where(is_row, mirrored, upside_down)
    # For each block the one it comes from.
    counts = np.diff(blocks)[source]
    ends = np.concatenate([[0], np.cumsum(counts)])
    step = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
    step = np.where(np.repeat(backwards, counts), np.repeat(counts, counts) - 1 - step, step)
    at = np.repeat(blocks[:-1][source], counts) + step
    return Clues(
        heights,
        widths,
        clues.n_colours,
        lines.astype(np.int32),
        ends.astype(np.int32),
        clues.lengths[at],
        clues.colours[at],
    )
