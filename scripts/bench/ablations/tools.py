"""What all ablations share: puzzles as plain arrays, alternating clocks, and the rows of the table."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from parallel_nono.files.reading import read_bytes, read_many
from parallel_nono.generator import generate
from parallel_nono.puzzle import Puzzle, runs
from parallel_nono.puzzleset import puzzles_of

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
"""Puzzles that are not ours to ship; sets of them are left out where the folder is absent."""

MIN_GAIN = 1.05
"""Ratios of times nearer to one than this are noise."""


class Row(NamedTuple):
    """One line of the table.

    sizes    what it was measured on.
    without, with_  counts that no machine changes, as text.
    ratio    time without / time with, both taken in turns.
    """

    sizes: str
    without: str
    with_: str
    ratio: float

    def cells(self) -> tuple[str, str, str, str, str]:
        return self.sizes, self.without, self.with_, f"{self.ratio:.2f}", judged(self.ratio)


def judged(ratio: float) -> str:
    """What a ratio of times says of a trick."""
    return "pays" if ratio >= MIN_GAIN else "costs" if ratio <= 1 / MIN_GAIN else "no difference"


def alternate(calls: dict[str, Callable[[], Any]], rounds: int = 5, min_s: float = 0.01) -> dict[str, float]:
    """The smallest CPU seconds of each call, taken in turns so that a busy machine disturbs all alike.

    Each is called once before (it may have to compile), and as often in a row as `min_s` takes.
    """
    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = max(1, round(min_s / max(timed(call), 1e-6)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(repeats[name]):
                call()
            best[name] = min(best[name], (time.process_time() - start) / repeats[name])
    return best


def timed(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


class Clues(NamedTuple):
    """One black-white puzzle: blocks of line l (rows first) are lengths[first[l]:first[l + 1]]."""

    name: str
    height: int
    width: int
    first: np.ndarray
    lengths: np.ndarray


def clues_of(puzzle: Puzzle) -> Clues:
    sides = (*puzzle.rows, *puzzle.columns)
    first = np.zeros(len(sides) + 1, np.int64)
    np.cumsum([len(clue) for clue in sides], out=first[1:])
    lengths = np.array([block.length for clue in sides for block in clue], np.int32)
    lengths.flags.writeable = False
    return Clues(puzzle.name or puzzle.source, puzzle.height, puzzle.width, first, lengths)


def made(kind: str, n: int, count: int, **options: int) -> list[Clues]:
    """Puzzles of our own, n x n."""
    return [clues_of(generate(kind, n, n, seed, **options)) for seed in range(1, count + 1)]


def survey(most: int = 64) -> list[Clues]:
    """The black-white puzzles of Jan Wolter's survey with no line over `most` cells; none where they are absent."""
    paths = sorted((DATA / "wolter_survey/sample-simpson").glob("webpbn-*.non"))
    if not paths:
        return []
    puzzles = puzzles_of(read_many([(path.name, path.read_bytes()) for path in paths]))
    return [clues_of(p) for p in puzzles if isinstance(p, Puzzle) and max(p.height, p.width) <= most]


def tournament(step: int) -> list[Puzzle]:
    """Every so many-th puzzle of TAAI 2011 (25x25); none where they are absent."""
    path = DATA / "tournaments/question/taai2011.txt.gz"
    if not path.is_file():
        return []
    batch = read_bytes(gzip.decompress(path.read_bytes()), "taai2011")
    return [p for p in puzzles_of(batch.take(list(range(0, batch.num_rows, step)))) if isinstance(p, Puzzle)]


class Lines(NamedTuple):
    """Single lines in the middle of being solved.

    cells    uint8[lines, n]: bit 0 the cell may be background, bit 1 it may be inked.
    first, count  int64[lines], the blocks of each in lengths.
    """

    n: int
    cells: np.ndarray
    first: np.ndarray
    count: np.ndarray
    lengths: np.ndarray

    @property
    def max_blocks(self) -> int:
        return int(self.count.max(initial=0))


def half_solved(n: int, count: int, image: bool) -> Lines:
    """Random lines, every other one untouched, the rest with 30 % of their cells known.

    image  runs as pictures have them, about n / 16 cells on average; else noise at half density.
    """
    rng = np.random.RandomState(n + image)
    cells, first, counts, lengths = np.full((count, n), 3, np.uint8), [], [], []
    for i in range(count):
        bits = rng.random_sample(n) < 0.5
        if image:
            bits = np.repeat(bits, rng.randint(1, max(2, n // 8), n))[:n]
        first.append(len(lengths))
        clue = [block.length for block in runs(bits.astype(int).tolist())]
        counts.append(len(clue))
        lengths += clue
        if i % 2:
            seen = rng.random_sample(n) < 0.3
            cells[i, seen] = 1 << bits[seen].astype(np.uint8)
    return Lines(n, cells, np.array(first), np.array(counts), np.array(lengths, np.int32))


def number(value: float) -> str:
    """A count as people read it."""
    return f"{value:,.0f}"
