"""Long lines with many blocks: in full room and in the room of segments, against a dynamic program."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import solved_line

from parallel_nono.kernels import layout
from parallel_nono.kernels.line import solve_line_planes
from parallel_nono.puzzle import BLOT, Block, Clue
from parallel_nono.solver.line import solve_line


def one_way(clue: Clue, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """bool[k + 1, n + 1] each: block j (from 1) can end right before cell i, all before it being right; cell i - 1 can
    be background with j blocks before it."""
    n = allowed.shape[1]
    ends, gaps = np.zeros((2, len(clue) + 1, n + 1), bool)
    places = np.arange(n + 1)
    ends[0, 0] = True
    last_dark = np.maximum.accumulate(np.concatenate([[0], np.where(allowed[0], 0, places[1:])]))
    for j in range(len(clue) + 1):
        if j:
            length, colour = clue[j - 1]
            dark = np.concatenate([[0], np.cumsum(~allowed[colour])])
            before = gaps[j - 1].copy()
            if j == 1 or clue[j - 2].colour != colour:
                before |= ends[j - 1]
            ends[j, length:] = before[: n + 1 - length] & (dark[length:] == dark[: n + 1 - length])
        last_end = np.maximum.accumulate(np.where(ends[j], places, -1))
        gaps[j, 1:] = (last_end[:-1] >= last_dark[1:]) & (last_end[:-1] >= 0)
    return ends, gaps


def solved_by_table(clue: Clue, allowed: np.ndarray) -> np.ndarray | None:
    """What some arrangement uses, bool[colours, n]; O(k n) steps and as much room."""
    k, n = len(clue), allowed.shape[1]
    ends, gaps = one_way(clue, allowed)
    rev_ends, rev_gaps = one_way(clue[::-1], allowed[:, ::-1])
    if not (ends[k, n] or gaps[k, n]):
        return None
    stays = np.zeros_like(allowed)
    for j in range(k + 1):
        stays[0] |= gaps[j, 1:] & rev_gaps[k - j, ::-1][:-1]
    for j, (length, colour) in enumerate(clue, start=1):
        fits = np.flatnonzero(ends[j, length:] & rev_ends[k + 1 - j, ::-1][: n + 1 - length])
        edges = np.zeros(n + 1, np.int64)
        np.add.at(edges, fits, 1)
        np.add.at(edges, fits + length, -1)
        stays[colour] |= np.cumsum(edges)[:-1] > 0
    return stays


def long_line(random: np.random.Generator, n: int, k: int, n_colours: int, known: float) -> tuple[Clue, np.ndarray]:
    """A clue of k blocks with an arrangement in n cells, of which a part is known, and what is allowed in each cell."""
    colours = random.integers(1, n_colours, k)
    apart = np.concatenate([[False], colours[1:] == colours[:-1]])
    lengths = random.geometric(0.5, k)
    while lengths.sum() + apart.sum() > n:
        lengths = np.maximum(lengths - 1, 1)
        assert k + apart.sum() <= n
    spare = n - int(lengths.sum() + apart.sum())
    before = apart + np.bincount(random.integers(0, k + 1, spare), minlength=k + 1)[:k]
    grid = np.zeros(n, np.int64)
    at = 0
    for gap, length, colour in zip(before.tolist(), lengths.tolist(), colours.tolist(), strict=True):
        grid[at + gap : at + gap + length] = colour
        at += gap + length
    allowed = np.ones((n_colours, n), bool)
    cells = np.flatnonzero(random.random(n) < known)
    allowed[:, cells] = False
    allowed[grid[cells], cells] = True
    clue = tuple(Block(length, colour) for length, colour in zip(lengths.tolist(), colours.tolist(), strict=True))
    return clue, allowed


def by_kernel(clue: Clue, allowed: np.ndarray) -> np.ndarray | None:
    n_colours, n = allowed.shape
    bits = np.zeros((n_colours, (n + 63) // 64 * 64), bool)
    bits[:, :n] = allowed
    planes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    lengths, colours = (np.array([block[i] for block in clue], kind) for i, kind in ((0, np.int32), (1, np.uint16)))
    stays = solve_line_planes(planes, n, lengths, colours)
    return None if stays is None else np.unpackbits(stays.view(np.uint8), axis=1, count=n, bitorder="little") > 0


@pytest.mark.slow
@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("n_colours", [2, 4])
def test_lines_of_hundreds_of_blocks_are_solved_as_by_the_table(
    tight: bool, n_colours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tight:
        monkeypatch.setattr(layout, "MAX_ARENA_WORDS", 0)
    random = np.random.default_rng(n_colours)
    for k in (127, 128, 129, 250, 256, 257, 385, 600):
        for known in (0.0, 0.02, 0.3, 0.8):
            n = int(random.integers(3 * k, 5 * k))
            clue, allowed = long_line(random, n, k, n_colours, known)
            if known == 0.3:  # and a line that is wrong in one cell, which mostly has no arrangement
                allowed[:, n // 2] = ~allowed[:, n // 2]
            expected, found = solved_by_table(clue, allowed), by_kernel(clue, allowed)
            if expected is None or found is None:
                assert expected is found, (k, known)
            else:
                assert np.array_equal(expected, found), (k, known)


def test_segments_take_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above is one of segments only if a line like those there does not fit the room that it leaves."""
    blocks, slack, words = np.array(600), np.array(900), np.array(30)
    wide = layout.line_scratch(2, blocks, slack, words)
    monkeypatch.setattr(layout, "MAX_ARENA_WORDS", 0)
    assert layout.line_scratch(2, blocks, slack, words) < 0.3 * wide


@given(st.data())
def test_the_table_agrees_with_trying_all(data: st.DataObject) -> None:
    n, n_colours = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 3))
    blocks = st.builds(Block, st.integers(1, 3), st.integers(1, n_colours - 1))
    clue = tuple(data.draw(st.lists(blocks, max_size=4)))
    sets = st.frozensets(st.integers(0, n_colours - 1), min_size=1)
    cells = data.draw(st.lists(sets, min_size=n, max_size=n))
    allowed = np.array([[colour in cell for cell in cells] for colour in range(n_colours)])
    expected, found = solved_line(clue, tuple(cells)), solved_by_table(clue, allowed)
    assert (expected is None) == (found is None)
    if expected is not None and found is not None:
        assert [frozenset(np.flatnonzero(found[:, i]).tolist()) for i in range(n)] == list(expected)


def test_contest_lines_are_solved() -> None:
    """IOI 2016: 200,000 cells and 100 blocks; ACM: 400 cells in any number of blocks. Nothing known, then every ink."""
    n, k = 200_000, 100
    clue = tuple(Block(1000) for _ in range(k))
    solved = solve_line(clue, [3] * n, 2)
    assert solved == [3] * n
    ends = (n - 1001 * k + 1) * [1] + (([2] * 1000 + [1]) * k)[:-1]
    assert solve_line(clue, ends, 2) == ends
    assert solve_line((Block(1),) * 200, [3] * 400, 2) == [3] * 400
    assert solve_line((Block(BLOT),) * 200, [3] * 399, 2) == ([2, 1] * 200)[:-1]
