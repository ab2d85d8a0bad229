"""Number crosswords from seeds: a lattice of words, its letters dealt out as numbers, and a proof of the one solution.

Every other row and column holds words, blocks between them break these into lengths that the list has. The words are
found by the search that solves puzzles, with cells in place of numbers. Where a grid has several solutions, letters are
given one by one until it has one. All budgets are counts, so the same arguments give the same bytes everywhere.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.random import RandomState

from ...attempt import Limits, Outcome
from ...generator.fields import below, pick, random_of
from .formats import check_size, text_of
from .search import Cells, Search, numbers_of, runs_of
from .words import Words

NUMBERS = ("order", "random")
LONGEST_WORD = 11
MAX_SAMPLE = 1500
"""Words tried for a run of the grid: enough to find some, few enough to be quick; other grids get other words."""

FILL_NODES, PROOF_NODES = 200, 2000
TRIES = 200
ENDLESS = 1e9
"""Seconds: only counts may decide."""


def generated(height: int, width: int, seed: int, words: Words, numbers: str) -> str:
    """A puzzle with exactly one solution as text.

    numbers  `order`: dealt out as the letters appear, from 1; `random`: in any order.
    Errors   ValueError for sizes that have no lattice, and where no words fit.
    """
    if min(height, width) < 3:
        raise ValueError(f"expected height and width from 3, found {height} and {width}")
    check_size(height, width, "a number crossword")
    random = random_of("numcross", height, width, seed)
    for _ in range(TRIES):
        letters = filled(lattice(random, height, width, words), words, random)
        if letters:
            cells, key = dealt(letters, numbers, random)
            return text_of(cells, hints(cells, key, words), f"numcross {height}x{width} {seed}")
    raise ValueError(f"expected words for a grid of {height} x {width}, found none in {TRIES} tries")


def lattice(random: RandomState, height: int, width: int, words: Words) -> np.ndarray:
    """bool[height, width], True for cells with letters; mostly the same after half a turn where both sides are odd."""
    open_cells = np.ones((height, width), bool)
    open_cells[1::2, 1::2] = False
    symmetric = height % 2 and width % 2
    for view in (open_cells, open_cells.T):
        lines, length = view.shape
        for line in range(0, lines, 2):
            cuts = _cuts(random, length, words, bool(symmetric) and 2 * line == lines - 1)
            view[line, cuts] = False
            if symmetric:
                view[lines - 1 - line, [length - 1 - cut for cut in cuts]] = False
            if symmetric and 2 * line >= lines - 1:
                break
    return open_cells


def _cuts(random: RandomState, length: int, words: Words, symmetric: bool) -> list[int]:
    """Odd places of blocks that break a line into words of lengths that the list has; none where there are no such.

    symmetric  the same places from both ends, if that can be.
    """
    for turn in range(100):
        cuts, start = [], 0
        while length - start > 3:
            cut = start + 2 * pick(random, 1, LONGEST_WORD // 2) + 1
            if cut >= length:
                break
            cuts.append(cut)
            start = cut + 1
        if symmetric and turn < 50:
            cuts = sorted({*cuts, *(length - 1 - cut for cut in cuts)})
        ends = [-1, *cuts, length]
        sizes = [end - begin - 1 for begin, end in pairwise(ends)]
        if all(size in words.tables and 2 < size <= LONGEST_WORD for size in sizes):
            return cuts
    return []


def filled(open_cells: np.ndarray, words: Words, random: RandomState) -> list[str]:
    """Rows of letters, `#` for a block, all runs being words and no word there twice; [] if there is no such."""
    height, width = open_cells.shape
    places = np.where(open_cells, np.arange(1, height * width + 1).reshape(height, width), 0)
    cells = tuple(map(tuple, places.tolist()))
    runs = runs_of(cells)
    if any(len(run.numbers) not in words.tables for run in runs):
        return []
    samples = [_sample(random, len(words.tables[len(run.numbers)])) for run in runs]
    search = Search(runs, numbers_of(cells), {}, words, samples)
    found = search.run("fewest", Limits(ENDLESS, solutions=1), np.zeros(1, np.int64), FILL_NODES)
    if not found.keys:
        return []
    key = found.keys[0]
    placed = ["".join(key[place] for place in run.numbers) for run in runs]
    if len(set(placed)) < len(placed):
        return []
    return ["".join(key[place] if place else "#" for place in row) for row in cells]


def _sample(random: RandomState, n: int) -> np.ndarray:
    """int32, at most MAX_SAMPLE different ordinals below n, in any order."""
    if n <= MAX_SAMPLE:
        return random.permutation(n).astype(np.int32)
    return random.permutation(np.unique(below(random, n, MAX_SAMPLE))).astype(np.int32)


def dealt(letters: list[str], numbers: str, random: RandomState) -> tuple[Cells, dict[int, str]]:
    """The grid with numbers for letters, and the key."""
    different = list(dict.fromkeys("".join(letters).replace("#", "")))
    order = random.permutation(len(different)).tolist() if numbers == "random" else range(len(different))
    number = {"#": 0} | {letter: place + 1 for letter, place in zip(different, order, strict=True)}
    cells = tuple(tuple(number[letter] for letter in row) for row in letters)
    return cells, {number[letter]: letter for letter in different}


def hints(cells: Cells, key: dict[int, str], words: Words) -> dict[int, str]:
    """Letters to give so that the key is the only solution, none where it is so already."""
    given: dict[int, str] = {}
    often = Counter(number for row in cells for number in row if number)
    runs = runs_of(cells)
    while True:
        search = Search(runs, numbers_of(cells), given, words)
        found = search.run("fewest", Limits(ENDLESS), np.zeros(1, np.int64), PROOF_NODES)
        if found.outcome is Outcome.UNIQUE:
            return given
        other = next((solution for solution in found.keys if solution != key), {})
        open_numbers = [number for number in key if number not in given and other.get(number) != key[number]]
        best = max(open_numbers, key=lambda number: (often[number], -number))
        given[best] = key[best]
