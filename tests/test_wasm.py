"""The solver as WebAssembly against the native one: the same kernels, so the same verdicts, grids and counts."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path
from typing import Any

import pytest
from nodejs import as_task, node, page_or_skip

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Outcome, Plan
from parallel_nono.files.reading import read, read_bytes
from parallel_nono.generator import generate
from parallel_nono.kernels import toolchain
from parallel_nono.kernels.workspace import EXPORTS, FAMILIES
from parallel_nono.puzzle import BLACK_AND_WHITE, BLOT, Block, Clue, Colour, Puzzle, runs
from parallel_nono.puzzleset import SetBuilder, puzzles_of
from parallel_nono.solver import solve_set
from parallel_nono.solver.line import solve_line
from parallel_nono.web import wasm

DATASETS = Path(__file__).parents[1] / "datasets"
COUNTS = ("n_rounds", "n_lines", "n_probes", "n_branches", "n_depth", "n_conflicts")
SAME_STAGES = Plan(("line", "probe", "search"), probes=Plan().probes, visits=0)
"""What the page runs: the default plan but for the SAT solver."""


def native(puzzles: list[Puzzle], solutions: int = 2, seconds: float = 60.0) -> list[dict[str, Any]]:
    """Everything that is compared, by the kernels of this machine."""
    builder = SetBuilder()
    for puzzle in puzzles:
        builder.add(puzzle)
    results = solve_set(builder.finish(), Limits(seconds, solutions, plan=SAME_STAGES))
    found = []
    for p in range(len(puzzles)):
        cells = results.cells[:, results.cell_starts[p] : results.cell_starts[p + 1]]
        kept = results.solutions.get(p, cells[: min(int(results.n_solutions[p]), 2)])
        found.append(
            {
                "outcome": OUTCOMES[results.outcome[p]].value,
                "stage": STAGES[results.stage[p]],
                "nSolutions": int(results.n_solutions[p]),
                "exhausted": bool(results.exhausted[p]),
                "witness": results.witness[p],
                "nOpen": int(results.n_open[p]),
                "solutions": kept.tolist(),
                **{name: int(getattr(results, name)[p]) for name in COUNTS},
            }
        )
    return found


def in_wasm(puzzles: list[Puzzle], **options: Any) -> list[dict[str, Any]]:
    """The same of the module in node, and the family that it took each puzzle for, and how often it rested."""
    results = node({"do": "solve", "puzzle": as_task(puzzle), "options": options} for puzzle in puzzles)
    return [result | {name: result["counts"][name] for name in COUNTS} for result in results]


def same(puzzles: list[Puzzle], solutions: int = 2) -> list[dict[str, Any]]:
    """What the module says of puzzles, after it was found to be what the native kernels say."""
    found = in_wasm(puzzles, solutions=solutions)
    for puzzle, result, truth in zip(puzzles, found, native(puzzles, solutions), strict=True):
        assert {key: result[key] for key in truth} == truth, f"{puzzle.source} #{puzzle.index}"
    return found


def of_folder(folder: Path, pattern: str, most: int = 12, cells: int = 40_000) -> list[Puzzle]:
    """The first puzzles of each file of a folder, those that are not too large."""
    found = []
    for path in sorted(folder.glob(pattern)):
        puzzles = (p for p in read(path, errors="yield") if isinstance(p, Puzzle) and p.height * p.width <= cells)
        found += [puzzle for puzzle, _ in zip(puzzles, range(most), strict=False)]
    return found


def test_module_asks_nothing_of_its_host_and_is_small() -> None:
    (said,) = node([{"do": "module"}])
    assert said["imports"] == []
    assert set(EXPORTS) <= set(said["exports"]) <= {*EXPORTS, "memory", "__heap_base"}
    assert (page_or_skip() / "pnono.wasm").stat().st_size < 64 * 1024


@pytest.mark.slow
def test_module_is_the_same_bytes_each_time() -> None:
    assert wasm.module(fresh=True) == (page_or_skip() / "pnono.wasm").read_bytes()


def test_without_a_linker_the_message_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    with pytest.raises(toolchain.NoTool, match=r"no linker for WebAssembly is here: install .*lld.*ziglang"):
        wasm.module(fresh=True)


def test_a_tool_that_fails_is_quoted() -> None:
    with pytest.raises(toolchain.NoTool, match=r"linking failed \(exit code 3\): no such file"):
        toolchain.run(["sh", "-c", "echo no such file >&2; exit 3"], "linking")


def line_tasks(rows: list[tuple[Clue, list[int], int]]) -> list[dict[str, Any]]:
    return [
        {"do": "line", "clue": [list(block) for block in clue], "cells": cells, "nColours": n_colours}
        for clue, cells, n_colours in rows
    ]


def test_published_truth_about_lines(shared: Path) -> None:
    rows, expected = [], []
    for row in csv.DictReader((shared / "truth/line_truth.csv").open(encoding="utf-8")):
        parts = row["clue"].split()
        if row["kind"] == "colour":
            clue = tuple(Block(int(part[:-1]), ord(part[-1]) - 96) for part in parts)
            read_cells = lambda text: [int(cell) for cell in text.split()]  # noqa: E731
            n_colours = 3
        else:
            clue = tuple(Block(int(part)) for part in parts)
            read_cells = lambda text: [{".": 1, "X": 2, "?": 3}[cell] for cell in text]  # noqa: E731
            n_colours = 2
        rows.append((clue, read_cells(row["line"]), n_colours))
        expected.append(None if row["result"] == "IMPOSSIBLE" else read_cells(row["result"]))
    assert len(rows) > 30
    assert node(line_tasks(rows)) == expected


def some_line(rng: random.Random) -> tuple[Clue, list[int], int]:
    """A clue, and cells that it may or may not fit: some of a layout are told, now and then one is wrong."""
    n, n_colours = rng.choice((1, 5, 20, 63, 64, 65, 100, 128, 150, 192, 193, 300)), rng.choice((2, 2, 3, 5))
    cells: list[int] = []
    while len(cells) < n:
        cells += [rng.choice((0, rng.randrange(n_colours)))] * rng.randrange(1, 1 + rng.choice((3, 12, 70)))
    cells = cells[:n]
    clue = tuple(Block(BLOT, c) if rng.random() < 0.03 else Block(length, c) for length, c in runs(cells))
    told = rng.choice((0, 0.2, 0.6))
    every = (1 << n_colours) - 1
    may = [1 << cell if rng.random() < told else every & ~(rng.random() < 0.1 and 1 << 1) | 1 << cell for cell in cells]
    if rng.random() < 0.1:
        place = rng.randrange(n)
        may[place] = 1 << rng.randrange(n_colours)
    return clue, may, n_colours


def test_random_lines_of_every_kind() -> None:
    rng = random.Random(1)
    lines = [some_line(rng) for _ in range(1500)]
    for line, settled in zip(lines, node(line_tasks(lines)), strict=True):
        assert settled == solve_line(*line), line


@pytest.mark.slow
def test_puzzles_of_every_kind_and_family() -> None:
    found = same(of_folder(DATASETS, "*.*[!d]"))
    assert len(found) > 120
    assert {result["family"] for result in found} - {""} == set(FAMILIES)
    assert {result["outcome"] for result in found} == {Outcome.UNIQUE, Outcome.MULTIPLE, Outcome.CONTRADICTION}
    assert {result["stage"] for result in found} == {"read", "line", "probe", "search"}


def test_noise_and_blots() -> None:
    rng = random.Random(2)
    puzzles = []
    for seed in range(60):
        n_colours = rng.choice((2, 2, 3, 4))
        height, width = rng.randrange(1, 14), rng.randrange(1, 14)
        grid = [[rng.randrange(n_colours) if rng.random() < 0.6 else 0 for _ in range(width)] for _ in range(height)]
        inks = tuple(Colour(f"ink {c}", "abc"[c - 1], 0x800000 + c) for c in range(1, n_colours))
        puzzle = Puzzle.of_grid(grid, BLACK_AND_WHITE if n_colours == 2 else (BLACK_AND_WHITE[0], *inks))
        if seed % 2:
            hidden = [[tuple(Block(rng.choice((BLOT, b.length)), b.colour) for b in c) for c in side]
                      for side in (puzzle.rows, puzzle.columns)]  # fmt: skip
            puzzle = Puzzle(tuple(hidden[0]), tuple(hidden[1]), puzzle.palette)
        puzzles.append(puzzle)
    found = same(puzzles, solutions=6)
    assert any(len(result["solutions"]) == 6 for result in found)


def test_every_solution_is_counted_and_kept() -> None:
    ones = ((Block(1),),) * 4
    (result,) = same([Puzzle(ones, ones)], solutions=1000)
    assert (result["nSolutions"], result["exhausted"], len(result["solutions"])) == (24, True, 24)


def test_one_solution_is_solved() -> None:
    ones = ((Block(1),),) * 3
    (result,) = same([Puzzle(ones, ones)], solutions=1)
    assert result["outcome"] == Outcome.SOLVED


def crossings(n: int) -> Puzzle:
    """2n x 2n: along the diagonal n squares of two cells by two, each with two solutions of its own."""
    grid = [[int(r // 2 == c // 2 and (r + c) % 2 == 0) for c in range(2 * n)] for r in range(2 * n)]
    return Puzzle.of_grid(grid)


@pytest.mark.slow
def test_what_goes_deeper_than_there_is_room_starts_again() -> None:
    ones = ((Block(1),),) * 70
    (result,) = same([Puzzle(ones, ones)])
    assert result["n_depth"] >= 64
    (result,) = same([crossings(10)])
    assert result["outcome"] == Outcome.MULTIPLE


def test_time_that_is_up_proves_nothing() -> None:
    (result,) = in_wasm([domino(23)], seconds=0.2)
    assert (result["outcome"], result["exhausted"]) == (Outcome.TIMEOUT, False)
    assert result["nSolutions"] == len(result["solutions"]) < 2
    assert result["nRests"] > 1
    assert result["counts"]["n_conflicts"] > 0


def domino(size: int) -> Puzzle:
    """One solution, and a search that takes several times as long with every second size."""
    return generate("domino", size, size)


def test_the_search_rests_and_goes_on_where_it_was() -> None:
    (result,) = same([domino(15)])
    assert result["nRests"] > 2
    assert result["outcome"] == Outcome.UNIQUE


def test_a_puzzle_that_does_not_fit_into_memory_is_stalled() -> None:
    palette = (*BLACK_AND_WHITE, *(Colour(f"ink {c}", "?", c) for c in range(60_000)))
    (result,) = in_wasm([Puzzle(((Block(1),),) * 300, ((Block(1),),) * 300, palette)])
    assert (result["outcome"], result["stage"]) == (Outcome.STALLED, "read")
    assert "GiB of memory" in result["witness"]


@pytest.mark.slow
def test_tournament_and_survey_puzzles(shared: Path) -> None:
    puzzles = of_folder(shared / "data/wolter_survey/sample-simpson", "*.non")
    puzzles += of_folder(shared / "data/survey_colour", "*.g")
    taai = gzip.decompress((shared / "data/tournaments/question/taai2011.txt.gz").read_bytes())
    puzzles += list(puzzles_of(read_bytes(taai, "taai2011").slice(0, 60)))
    decided = [truth["outcome"] != Outcome.TIMEOUT for truth in native(puzzles, seconds=0.1)]
    found = same([puzzle for puzzle, is_decided in zip(puzzles, decided, strict=True) if is_decided])
    assert len(found) > 60
    assert sum(result["outcome"] == Outcome.UNIQUE for result in found) > 40
