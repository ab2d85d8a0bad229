"""The line kernels against arrangements written out one by one, and against each other on long lines."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import parallel_nono
from parallel_nono.kernels import cache
from parallel_nono.kernels.layout import COLOUR_OUT
from parallel_nono.kernels.line import solve_line_planes
from parallel_nono.kernels.replay import solve_colour, solve_narrow, solve_three_words, solve_two_words
from parallel_nono.puzzle import Block, Clue, runs
from parallel_nono.solver.line import solve_line

Sets = tuple[frozenset[int], ...]


def packed(allowed: Sets, n_colours: int) -> np.ndarray:
    """uint64[colours, words]: bit i of plane c is set when cell i may take colour c."""
    planes = np.zeros((n_colours, (len(allowed) + 63) // 64), np.uint64)
    for i, colours in enumerate(allowed):
        for colour in colours:
            planes[colour, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    return planes


def unpacked(planes: np.ndarray, n: int) -> Sets:
    return tuple(frozenset(c for c in range(len(planes)) if int(planes[c, i >> 6]) >> (i & 63) & 1) for i in range(n))


def fits(clue: Clue, n: int) -> bool:
    gaps = sum(a.colour == b.colour for a, b in pairwise(clue))
    return sum(length for length, _ in clue) + gaps <= n


def arrays(clue: Clue) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([length for length, _ in clue], np.int32)
    colours = np.array([colour for _, colour in clue], np.uint16)
    lengths.flags.writeable = colours.flags.writeable = False
    return lengths, colours


def without_absent_colours(clue: Clue, allowed: Sets) -> Sets:
    """As planes begin: no cell may take a colour that the clue lacks."""
    present = {0, *(colour for _, colour in clue)}
    return tuple(cell & present for cell in allowed)


def by_narrow(clue: Clue, allowed: Sets) -> Sets | None:
    planes = packed(allowed, 2)
    white, black = solve_narrow(arrays(clue)[0], len(allowed), planes[0, 0], planes[1, 0], np.zeros(128, np.uint64))
    return unpacked(np.array([[white], [black]], np.uint64), len(allowed)) if white | black else None


def by_words(clue: Clue, allowed: Sets) -> Sets | None:
    planes = packed(allowed, 2)
    size = planes.shape[1]
    words = np.zeros(4096, np.uint64)
    words[: planes.size] = planes.ravel()
    call = {2: solve_two_words, 3: solve_three_words}[size]
    if not call(arrays(clue)[0], len(allowed), words, 0, 64):
        return None
    return unpacked(words[64 : 64 + 2 * size].reshape(2, size), len(allowed))


def by_colour(clue: Clue, allowed: Sets, n_colours: int) -> Sets | None:
    planes = packed(without_absent_colours(clue, allowed), n_colours)
    words = np.zeros(n_colours + COLOUR_OUT + n_colours, np.uint64)
    words[:n_colours] = planes[:, 0]
    if not solve_colour(*arrays(clue), len(allowed), words, 0, n_colours):
        return None
    out = np.zeros_like(planes)
    for colour in {0, *(colour for _, colour in clue)}:
        out[colour, 0] = words[n_colours + COLOUR_OUT + colour]
    return unpacked(out, len(allowed))


def by_windows(clue: Clue, allowed: Sets, n_colours: int) -> Sets | None:
    planes = packed(without_absent_colours(clue, allowed), n_colours)
    out = solve_line_planes(planes, len(allowed), *arrays(clue))
    return None if out is None else unpacked(out, len(allowed))


def plain(clue: Clue, allowed: Sets) -> Sets | None:
    """Exactly what some arrangement uses, by which beginnings and which endings can be laid: O(blocks * cells *
    length)."""
    n, k = len(allowed), len(clue)

    def reachable(clue: Clue, allowed: Sets) -> list[list[bool]]:
        """[j][i]: the first j blocks can be laid into the first i cells, the last of them ending before cell i."""
        table = [[False] * (n + 1) for _ in range(k + 1)]
        for j in range(k + 1):
            for i in range(n + 1):
                if i == 0:
                    table[j][i] = j == 0
                    continue
                table[j][i] = table[j][i - 1] and 0 in allowed[i - 1]
                if j and not table[j][i]:
                    length, colour = clue[j - 1]
                    start = i - length
                    gap = j > 1 and clue[j - 2].colour == colour
                    if start >= gap and all(colour in cell for cell in allowed[start:i]):
                        table[j][i] = table[j - 1][start - gap] and (not gap or 0 in allowed[start - 1])
        return table

    left = reachable(clue, allowed)
    right = [row[::-1] for row in reachable(clue[::-1], allowed[::-1])][::-1]
    if not left[k][n]:
        return None
    used: list[set[int]] = [set() for _ in range(n)]
    for i in range(n):
        if 0 in allowed[i] and any(left[j][i] and right[j][i + 1] for j in range(k + 1)):
            used[i].add(0)
    for j, (length, colour) in enumerate(clue):
        before = j > 0 and clue[j - 1].colour == colour
        behind = j + 1 < k and clue[j + 1].colour == colour
        for start in range(n - length + 1):
            end = start + length
            if (
                all(colour in cell for cell in allowed[start:end])
                and start >= before
                and end + behind <= n
                and (not before or 0 in allowed[start - 1])
                and (not behind or 0 in allowed[end])
                and left[j][start - before]
                and right[j + 1][end + behind]
            ):
                for i in range(start, end):
                    used[i].add(colour)
    return tuple(map(frozenset, used))


@st.composite
def long_lines(draw: st.DrawFn, low: int, high: int, max_colours: int = 2, max_length: int = 1000):  # type: ignore[no-untyped-def]
    """(clue, allowed, colours): a line laid out first, some of its cells known, now and then one of them wrong."""
    n = draw(st.integers(low, high))
    n_colours = draw(st.integers(2, max_colours))
    rng = draw(st.randoms(use_true_random=False))
    density = draw(st.sampled_from([0.1, 0.4, 0.7, 0.95]))
    longest = draw(st.sampled_from([1, 3, 20, 150]))
    cells: list[int] = []
    while len(cells) < n:
        colour = rng.randrange(1, n_colours) if rng.random() < density else 0
        cells += [colour] * rng.randint(1, min(longest, max_length))
    cells = cells[:n]
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]))
    everything = frozenset(range(n_colours))
    allowed = [frozenset({c}) if rng.random() < share else everything for c in cells]
    if draw(st.integers(0, 3)) == 0:
        allowed[rng.randrange(n)] = frozenset({rng.randrange(n_colours)})
    clue = runs(cells)
    if any(length > max_length for length, _ in clue):
        clue = tuple(Block(min(length, max_length), colour) for length, colour in clue)
    return clue, tuple(allowed), n_colours


@given(strategies.lines())
def test_every_kernel_keeps_exactly_what_some_layout_uses(line: tuple[Clue, Sets, int]) -> None:
    clue, allowed, n_colours = line
    expected = oracles.solved_line(clue, allowed)
    assert plain(clue, allowed) == expected
    assert by_windows(clue, allowed, n_colours) == expected
    if fits(clue, len(allowed)):
        assert by_colour(clue, allowed, n_colours) == expected
        if n_colours == 2:
            assert by_narrow(clue, allowed) == expected


@given(long_lines(1, 64, max_colours=4))
def test_kernels_for_one_word_agree_with_the_plain_programme_up_to_64_cells(line: tuple[Clue, Sets, int]) -> None:
    clue, allowed, n_colours = line
    expected = plain(clue, allowed)
    assert by_windows(clue, allowed, n_colours) == expected
    assert by_colour(clue, allowed, n_colours) == expected
    if n_colours == 2:
        assert by_narrow(clue, allowed) == expected


@given(long_lines(65, 192, max_length=64))
def test_unrolled_kernels_agree_with_the_plain_programme(line: tuple[Clue, Sets, int]) -> None:
    clue, allowed, _ = line
    expected = plain(clue, allowed)
    assert by_words(clue, allowed) == expected
    assert by_windows(clue, allowed, 2) == expected


@pytest.mark.slow
@given(long_lines(60, 400, max_colours=5))
def test_windows_agree_with_the_plain_programme_on_long_lines(line: tuple[Clue, Sets, int]) -> None:
    clue, allowed, n_colours = line
    assert by_windows(clue, allowed, n_colours) == plain(clue, allowed)


def test_a_block_of_64_cells_fills_a_word() -> None:
    everything = (frozenset({0, 1}),) * 64
    full = (frozenset({1}),) * 64
    assert by_narrow((Block(64),), everything) == full
    assert by_colour((Block(64),), everything, 2) == full
    assert by_narrow((Block(64),), (frozenset({0}), *everything[1:])) is None
    assert by_words((Block(64),), (*everything, frozenset({0}))) == (*full, frozenset({0}))


def test_settling_a_line_of_200_000_cells_keeps_what_the_slack_decides() -> None:
    n, clue = 200_000, tuple(Block(1990) for _ in range(100))
    slack = n - (100 * 1990 + 99)
    result = solve_line(clue, [3] * n, 2)
    assert result is not None
    assert all(cell == 2 for start in range(0, 100 * 1991, 1991) for cell in result[start + slack : start + 1990])
    assert result.count(2) == 100 * (1990 - slack)


@pytest.mark.parametrize(
    ("clue", "cells", "n_colours"),
    [((Block(1),), [], 2), ((Block(-1),), [3], 2), ((Block(1, 2),), [3], 2)],
)
def test_a_line_that_is_none_is_refused(clue: Clue, cells: list[int], n_colours: int) -> None:
    with pytest.raises(ValueError, match="expected"):
        solve_line(clue, cells, n_colours)


def run_python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints."""
    process = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return process.stdout.strip()


@pytest.mark.slow
def test_line_kernels_count_no_references(tmp_path: Path) -> None:
    code = """
from parallel_nono.kernels.narrow import propagate_narrow
from parallel_nono.kernels.colour import propagate_colour
from parallel_nono.kernels.wide import propagate_wide
for function in (propagate_narrow, propagate_colour, propagate_wide):
    code = function.inspect_llvm()
    assert "define" in code
    print(code.count("NRT_incref") + code.count("NRT_decref"))
"""
    settings = {"NUMBA_CACHE_DIR": str(tmp_path), "PNONO_KERNELS": "numba", "NUMBA_OPT": "0"}
    assert run_python(code, **settings).split() == ["0", "0", "0"]


def test_the_cache_folder_changes_with_every_kernel_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("x = 1")
    second.write_text("y = 2")
    monkeypatch.setattr(cache, "SOURCES", [first, second])
    before = cache.sources_hash.__wrapped__()
    second.write_text("y = 3")
    assert cache.sources_hash.__wrapped__() != before


def test_the_cache_folder_changes_with_settings_that_change_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_OPT", raising=False)
    before = cache.settings_hash()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "7")
    assert cache.settings_hash() == before
    monkeypatch.setenv("NUMBA_OPT", "0")
    assert cache.settings_hash() != before


def test_every_jitted_source_counts_for_the_cache_folder() -> None:
    package = Path(parallel_nono.__file__).parent
    jitted = {
        path for path in package.rglob("*.py") if "@kernel" in path.read_text() and "import kernel" in path.read_text()
    }
    assert jitted <= set(cache.SOURCES)


@pytest.mark.slow
def test_kernels_work_where_nothing_can_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    nowhere = {name: str(blocked / "x") for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TMPDIR")}
    code = """
import tempfile
tempfile.tempdir = "/proc/nowhere"
from parallel_nono import kernels
from parallel_nono.puzzle import Block
from parallel_nono.kernels.bits import count_bits, U
@kernels.kernel
def bits(word): return count_bits(word)
print(kernels.folder_of("kernels"), kernels.folder_of("native"), bits(U(7)))
"""
    assert run_python(code, **nowhere) == "None None 3"


def test_a_cache_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    open_to_all = tmp_path / "shared"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    code = "from parallel_nono import kernels; print(kernels.folder_of('kernels'), kernels.folder_of('native'))"
    assert str(open_to_all) not in run_python(code, NUMBA_CACHE_DIR=str(open_to_all))


def test_the_unrolled_kernels_are_what_their_generator_writes() -> None:
    script = Path(__file__).resolve().parents[1] / "scripts" / "make_words.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0
