"""Grids to kernels and letters back: what is asked of one crossword, and how its search ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import monotonic_ns
from typing import NamedTuple

import numpy as np

from ...attempt import Limits, Outcome
from ...kernels import deadline
from .words import Words, words_of

ORDERS = ("fewest", "length", "shape", "dynamic")
NO_END = 1 << 62

Cells = tuple[tuple[int, ...], ...]
"""Rows of numbers, 0 for a block."""


class Run(NamedTuple):
    """Two or more cells in a row or column between blocks; `row` and `column` from 1."""

    row: int
    column: int
    down: bool
    numbers: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"row {self.row}, column {self.column} {'down' if self.down else 'across'}"


def runs_of(cells: Cells) -> list[Run]:
    """All words of a grid, across row by row, then down column by column."""
    found = []
    for down, lines in ((False, cells), (True, tuple(zip(*cells, strict=True)))):
        for line, numbers in enumerate(lines, start=1):
            for start, run in spans(numbers):
                if len(run) > 1:
                    row, column = (start, line) if down else (line, start)
                    found.append(Run(row, column, down, run))
    return found


def numbers_of(cells: Cells) -> list[int]:
    """The different numbers of a grid, sorted."""
    return sorted({number for row in cells for number in row if number})


def spans(line: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(place from 1, numbers) of all that stands between blocks."""
    start = 0
    for end, number in enumerate((*line, 0)):
        if not number:
            if end > start:
                yield start + 1, tuple(line[start:end])
            start = end + 1


@dataclass(slots=True)
class Found:
    """What became of one crossword.

    keys     the first solutions, at most two: the letter of every number.
    known    letters that are known without guessing.
    witness  why there is no solution, where a look at the grid shows it.
    """

    outcome: Outcome
    stage: str
    keys: list[dict[int, str]] = field(default_factory=list)
    known: dict[int, str] = field(default_factory=dict)
    witness: str = ""
    n_solutions: int = 0
    exhausted: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    line_s: float = 0.0
    search_s: float = 0.0
    aborted: bool = False


def solve_grid(
    cells: Cells, given: dict[int, str], words: Words, order: str, limits: Limits, abort: np.ndarray
) -> Found:
    """Letters for the numbers such that all runs are words; see `kernels.numcross` for how.

    given  letters of numbers, small ones.
    order  `fewest`: masks, and the run with the fewest candidates next. The others are plain depth first searches:
           longest runs first (`length`), fewest words of the same shape first (`shape`), fewest words that still fit
           first (`dynamic`).
    """
    runs = runs_of(cells)
    names = numbers_of(cells)
    witness = _contradiction(runs, names, given, words)
    if witness:
        return Found(Outcome.CONTRADICTION, "read", witness=witness, exhausted=True)
    return Search(runs, names, given, words).run(order, limits, abort)


@cache
def compile_search(order: str) -> None:
    """Compile what this order needs, or fetch it from disk, so that no puzzle's time has it in it."""
    solve_grid(((1, 2),), {}, words_of("ab", "two letters"), order, Limits(), np.zeros(1, np.int64))


def _contradiction(runs: list[Run], names: list[int], given: dict[int, str], words: Words) -> str:
    """Why no letters can do, as far as one look shows it; else ""."""
    if len(names) > len(words.alphabet):
        return f"{len(names)} numbers, but the words have {len(words.alphabet)} letters"
    if len(set(given.values())) < len(given):
        return "two numbers are given the same letter"
    strange = next((letter for letter in given.values() if letter not in words.alphabet), "")
    if strange:
        return f"the given letter {strange} is in no word"
    seen: dict[tuple[int, ...], Run] = {}
    for run in runs:
        if run.numbers in seen:
            return f"{seen[run.numbers].name} and {run.name}: the same numbers, so the same word twice"
        seen[run.numbers] = run
        if not len(words.of_shape(run.numbers)):
            return f"{run.name}: no word of its length and shape"
    return ""


class Search:
    """One grid as arrays.

    candidates  for each run the ordinals of the words to try, in this order; then the numbers stand for plain cells,
                which may share letters. None: the words of the run's shape.
    """

    def __init__(
        self,
        runs: list[Run],
        names: Sequence[int],
        given: dict[int, str],
        words: Words,
        candidates: list[np.ndarray] | None = None,
    ) -> None:
        place = {name: at for at, name in enumerate(names)}
        spelt = [tuple(place[number] for number in run.numbers) for run in runs]
        spelt += [(at,) for at in sorted(set(range(len(names))).difference(*spelt))]  # cells in no word
        self.names, self.words, self.spelt, self.distinct = names, words, spelt, candidates is None
        self.mask_words = (len(words.alphabet) + 63) // 64
        self.given = {place[number]: words.alphabet.index(letter) for number, letter in given.items()}
        of_run = candidates or []
        self.candidates = of_run + [words.of_shape(numbers) for numbers in spelt[len(of_run) :]]

    def run(self, order: str, limits: Limits, abort: np.ndarray, max_nodes: int = NO_END) -> Found:
        from . import kernels as kernels

        numbers = np.zeros(kernels.N_NUMBERS, np.int64)
        began = monotonic_ns()
        deadline.set_limits(numbers, limits.wall_ns, limits.cpu_ns)
        numbers[deadline.STOP] = abort.ctypes.data
        numbers[kernels.SETTLED_NS] = began
        known = np.full(len(self.names), -1, np.int16)
        solutions = np.full((2, len(self.names)), -1, np.int16)
        crossword = self.crossword()
        if order == "fewest":
            deep = "search" in limits.plan.stages
            status = kernels.search(crossword, self.room(), numbers, known, solutions, deep, limits.wanted, max_nodes)
        else:
            trail, n_given = self.trail()
            status = kernels.search_plainly(
                crossword, trail, numbers, self.order(order), solutions, n_given, limits.wanted
            )
        ended, settled = monotonic_ns(), int(numbers[kernels.SETTLED_NS])
        found = int(numbers[kernels.FOUND])
        outcome, exhausted = self.outcome(status, found)
        guessed = bool(numbers[kernels.N_BRANCHES]) or (order != "fewest")
        return Found(
            outcome,
            "search" if guessed else "line",
            [self.key(letters) for letters in solutions[: min(found, 2)]],
            self.key(known) if order == "fewest" else {},
            n_solutions=found,
            exhausted=exhausted,
            counts={
                "n_rounds": int(numbers[kernels.N_ROUNDS]),
                "n_lines": int(numbers[kernels.N_LINES]),
                "n_probes": int(numbers[kernels.N_PROBES]),
                "n_branches": int(numbers[kernels.N_BRANCHES]),
                "n_depth": int(numbers[kernels.N_DEPTH]),
                "n_conflicts": int(numbers[kernels.N_CONFLICTS]),
            },
            line_s=(settled - began) / 1e9,
            search_s=(ended - settled) / 1e9,
            aborted=bool(abort[0]),
        )

    @staticmethod
    def outcome(status: int, found: int) -> tuple[Outcome, bool]:
        """How it ended, and whether `found` is the exact number of solutions."""
        from ...kernels.board import CONTRADICTION, OPEN, SOLVED

        if status == CONTRADICTION:
            return (Outcome.CONTRADICTION, Outcome.UNIQUE, Outcome.MULTIPLE)[min(found, 2)], True
        if status == SOLVED:
            return (Outcome.SOLVED if found < 2 else Outcome.MULTIPLE), False
        if found > 1:
            return Outcome.MULTIPLE, False
        return (Outcome.STALLED if status == OPEN else Outcome.TIMEOUT), False

    def key(self, letters: np.ndarray) -> dict[int, str]:
        """The letter of every number that has one."""
        pairs = zip(self.names, letters.tolist(), strict=True)
        return {name: self.words.alphabet[letter] for name, letter in pairs if letter >= 0}

    def crossword(self) -> object:
        from .kernels import Crossword

        words, n = self.words, len(self.names)
        pairs = [[(number, run.index(number)) for number in dict.fromkeys(run)] for run in self.spelt]
        holders: list[list[int]] = [[] for _ in range(n)]
        for run, of_run in enumerate(pairs):
            for number, _ in of_run:
                holders[number].append(run)
        flat = [pair for of_run in pairs for pair in of_run]
        lengths = [len(run) for run in self.spelt]
        return Crossword(
            int(self.distinct),
            self.mask_words,
            _ends([len(of_run) for of_run in pairs], np.int32),
            np.array([number for number, _ in flat], np.int32),
            np.array([at for _, at in flat], np.int32),
            np.array([number for run in self.spelt for number in run], np.int32),
            _ends(lengths, np.int32),
            np.array(lengths, np.int32),
            np.array([words.starts[length] for length in lengths], np.int64),
            np.array([len(words.shapes[length]) for length in lengths], np.int32),
            words.letters,
            _ends([len(found) for found in self.candidates], np.int64),
            np.concatenate(self.candidates),
            np.array([run for of_number in holders for run in of_number], np.int32),
            _ends([len(of_number) for of_number in holders], np.int32),
        )

    def room(self) -> object:
        from .kernels import Room

        n, runs, mask_words = len(self.names), len(self.spelt), self.mask_words
        masks = np.zeros((n + 1, n * mask_words), np.uint64)
        for letter in range(len(self.words.alphabet)):
            masks[0, letter // 64 :: mask_words] |= np.uint64(1 << letter % 64)
        for number, letter in self.given.items():
            masks[0, number * mask_words : (number + 1) * mask_words] = 0
            masks[0, number * mask_words + letter // 64] = np.uint64(1 << letter % 64)
        sizes = np.zeros((n + 1, runs), np.int32)
        sizes[0] = [len(found) for found in self.candidates]
        longest = max(len(run) for run in self.spelt)
        return Room(
            masks,
            sizes,
            np.zeros(runs, np.uint8),
            np.zeros(longest * mask_words, np.uint64),
            np.zeros(2 * n, np.int32),
            np.zeros(n + 1, np.int32),
            np.zeros(n + 1, np.int32),
        )

    def trail(self) -> tuple[object, int]:
        """Nothing tried yet but the letters given, and how many these are."""
        from .kernels import Trail

        n, runs = len(self.names), len(self.spelt)
        letter_of, number_of = np.full(n, -1, np.int16), np.full(len(self.words.alphabet), -1, np.int16)
        bound = np.zeros(n, np.int32)
        for at, (number, letter) in enumerate(self.given.items()):
            letter_of[number], number_of[letter], bound[at] = letter, number, number
        bound_at, run, word = (np.zeros(runs + 1, np.int32) for _ in range(3))
        return Trail(letter_of, number_of, bound, bound_at, run, word, np.zeros(runs, np.uint8)), len(self.given)

    def order(self, order: str) -> np.ndarray:
        """int32, the runs in a fixed order; empty for `dynamic`. Ties stay as they stand: across, then down."""
        if order == "dynamic":
            return np.zeros(0, np.int32)
        keys = [-len(run) for run in self.spelt] if order == "length" else [len(found) for found in self.candidates]
        return np.argsort(keys, kind="stable").astype(np.int32)


def _ends(sizes: Sequence[int], kind: type) -> np.ndarray:
    """Where each of these begins, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(kind)
