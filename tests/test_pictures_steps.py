"""The steps of a solving, and the frames that are made of them."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from oracles import n_solutions, solved_grid
from PIL import Image, ImageSequence
from strategies import puzzles, puzzles_of_grids
from test_cli import pnono
from test_pictures_files import HOOK_TEXT, PALETTE, STUCK, shades_of

from parallel_nono import solve
from parallel_nono.attempt import Limits, Outcome
from parallel_nono.cli.exits import Code
from parallel_nono.pictures.frames import frames, gif, pngs, thinned
from parallel_nono.pictures.lattice import Look
from parallel_nono.pictures.shades import OPEN_SHADES
from parallel_nono.pictures.sheets import OPEN
from parallel_nono.puzzle import BLACK_AND_WHITE, BLOT, Block, Colour, InvalidPuzzle, Puzzle
from parallel_nono.solver.trace import Solving, Step, trace

LINES = Limits(plan=("line",), order="rounds")  # type: ignore[arg-type]
SPIRAL = Puzzle.of_grid(((1, 1, 1, 1, 1), (0, 0, 0, 0, 1), (1, 1, 1, 0, 1), (1, 0, 0, 0, 1), (1, 1, 1, 1, 1)))
FLAG = Puzzle.of_grid(((1, 1, 2), (1, 2, 2), (0, 0, 3)), PALETTE)


def known(puzzle: Puzzle, steps: list[Step]) -> np.ndarray:
    """The cells that the steps told, each once."""
    cells = np.full((puzzle.height, puzzle.width), OPEN)
    for step in steps:
        assert (cells[step.rows, step.columns] == OPEN).all(), "told twice"
        cells[step.rows, step.columns] = step.colours
    return cells


@given(puzzles(most=6))
@settings(max_examples=60)
def test_lines_tell_what_settling_all_lines_leaves(puzzle: Puzzle) -> None:
    steps = list(trace(puzzle, probing=False))
    grid = solved_grid(puzzle)
    assert any(step.by == "contradiction" for step in steps) == (grid is None)
    if grid is not None:
        left = [[next(iter(colours)) if len(colours) == 1 else OPEN for colours in line] for line in grid]
        assert known(puzzle, steps).tolist() == left


@given(puzzles_of_grids(most=9))
@settings(max_examples=60)
def test_rounds_and_visits_are_those_of_the_kernel(puzzle: Puzzle) -> None:
    solving = Solving(puzzle)
    for _ in solving.lines(np.ones(puzzle.height + puzzle.width, bool)):
        pass
    counts = solve(puzzle, LINES).counts
    assert (solving.round, solving.visits) == (counts["n_rounds"], counts["n_lines"])


@given(puzzles(most=5, max_colours=3))
@settings(max_examples=60)
def test_probes_tell_only_what_every_solution_has(puzzle: Puzzle) -> None:
    steps = list(trace(puzzle))
    failed = bool(steps) and steps[-1].by == "contradiction"
    count = n_solutions(puzzle)
    assert not (failed and count)
    if count:
        solution = np.array(solve(puzzle).solutions[0])
        told = known(puzzle, steps)
        assert ((told == solution) | (told == OPEN)).all()


def test_a_probe_solves_what_lines_leave_open() -> None:
    steps = list(trace(STUCK))
    assert [step.by for step in steps if step.by != "line"] == ["probe"]
    assert (known(STUCK, steps) == np.array(solve(STUCK).solutions[0])).all()
    (probe,) = (step for step in steps if step.by == "probe")
    assert probe.cell is not None
    assert probe.line == -1


def test_the_solution_is_the_last_step_and_is_marked_as_such() -> None:
    solution = solve(STUCK).solutions[0]
    *_, last = trace(STUCK, solution, probing=False)
    assert (last.by, last.line, last.cell, len(last.rows)) == ("solution", -1, None, 8)
    assert [step.by for step in trace(SPIRAL, SPIRAL.goal)].count("solution") == 0, "lines tell all of it"


def test_a_contradiction_ends_the_trace() -> None:
    ones = (Block(1),)
    clash = Puzzle((ones, (Block(2),)), (ones, (Block(1), Block(1))))
    *_, last = trace(clash, ((1, 1), (1, 1)))
    assert last.by == "contradiction"


def test_a_cell_that_loses_a_colour_is_a_step_too() -> None:
    palette = (*BLACK_AND_WHITE, Colour("red", "r", 0xFF0000))
    puzzle = Puzzle(((Block(1, 1), Block(1, 2)), ()), ((Block(1, 1),), (Block(1, 2),), ()), palette)
    steps = list(trace(puzzle))
    assert (known(puzzle, steps) == [[1, 2, 0], [0, 0, 0]]).all()


def test_blots_are_traced_like_other_blocks() -> None:
    blotted = Puzzle(((Block(BLOT), Block(BLOT)), (Block(BLOT),)), ((Block(2),), (Block(BLOT),), (Block(1),)))
    assert (known(blotted, list(trace(blotted))) == [[1, 0, 1], [1, 1, 0]]).all()


def test_a_palette_without_inks_is_known_at_once() -> None:
    (step,) = trace(Puzzle(((), ()), ((),), BLACK_AND_WHITE[:1]))
    assert (step.line, len(step.rows)) == (-1, 2)


# Frames


@given(puzzles_of_grids(most=6))
@settings(max_examples=30)
def test_each_frame_knows_more_and_the_last_one_all_that_was_told(puzzle: Puzzle) -> None:
    solution = solve(puzzle)
    told = list(trace(puzzle, solution.solutions[0] if solution.outcome is Outcome.UNIQUE else None))
    for every in ("round", "line", "cell"):
        moments = [frame.cells for frame in frames(puzzle, told, every)]  # type: ignore[arg-type]
        assert (moments[0] == OPEN).all()
        for before, after in pairwise(moments):
            assert (after != before).any()
            assert ((after == before) | (before == OPEN)).all()
        assert (moments[-1] == known(puzzle, told)).all()


def test_there_is_a_frame_for_each_round_line_and_cell() -> None:
    told = list(trace(SPIRAL))
    assert len(list(frames(SPIRAL, told, "cell"))) == 1 + 25
    assert len(list(frames(SPIRAL, told, "line"))) == 1 + sum(len(step.rows) > 0 for step in told)
    rounds = {step.round for step in told if len(step.rows)}
    assert len(list(frames(SPIRAL, told, "round"))) == 1 + len(rounds)


def test_thinning_keeps_the_first_and_the_last() -> None:
    moments = list(frames(SPIRAL, trace(SPIRAL), "cell"))
    few = thinned(moments, 7)
    assert len(few) == 7
    assert few[0] is moments[0]
    assert few[-1] is moments[-1]
    assert thinned(moments, 26) is moments


def test_a_gif_has_a_frame_for_each_moment_and_its_delays() -> None:
    moments = list(frames(SPIRAL, trace(SPIRAL), "cell"))
    data = gif(SPIRAL, moments, Look(), 16, delay=0.25, hold=1.5)
    assert data == gif(SPIRAL, moments, Look(), 16, delay=0.25, hold=1.5)
    image = Image.open(io.BytesIO(data))
    assert image.info["loop"] == 0
    durations = [frame.info["duration"] for frame in ImageSequence.Iterator(image)]
    assert durations == [250] * 25 + [1500]


@pytest.mark.parametrize("puzzle", [SPIRAL, FLAG], ids=["black and white", "colour"])
def test_a_gif_shows_what_the_pngs_show(puzzle: Puzzle) -> None:
    moments = list(frames(puzzle, trace(puzzle), "line"))
    image = Image.open(io.BytesIO(gif(puzzle, moments, Look(), 16)))
    for frame, data in zip(ImageSequence.Iterator(image), pngs(puzzle, moments, Look(), 16), strict=True):
        assert np.array_equal(np.asarray(frame.convert("RGB")), np.asarray(Image.open(io.BytesIO(data)).convert("RGB")))


def test_the_first_frame_is_orange_and_the_last_is_the_solution() -> None:
    moments = list(frames(SPIRAL, trace(SPIRAL), "round"))
    first, *_, last = pngs(SPIRAL, moments, Look(clues=False, lines=False), 1)
    assert (shades_of(first) == OPEN_SHADES[0]).all()
    assert ((shades_of(last) == 0) == np.array(SPIRAL.goal)).all()


def test_more_colours_than_a_gif_holds_are_refused() -> None:
    palette = (BLACK_AND_WHITE[0], *(Colour(f"ink {n}", "i", n) for n in range(1, 260)))
    puzzle = Puzzle.of_grid([list(range(260))], palette)
    with pytest.raises(InvalidPuzzle, match="expected at most 256 shades for a GIF"):
        gif(puzzle, list(frames(puzzle, (), "line")), Look())


def test_draw_animates_a_solving_or_writes_its_steps(tmp_path: Path) -> None:
    (tmp_path / "hook.non").write_text(HOOK_TEXT)
    for every, n in (("round", 3), ("cell", 10)):
        ended = pnono("draw", tmp_path / "hook.non", tmp_path / "hook.gif", "--every", every, "--delay", 0, "--hold", 1)
        assert ended.code == Code.FINE
        image = Image.open(tmp_path / "hook.gif")
        assert image.n_frames == n  # type: ignore[attr-defined]
        assert image.info["duration"] == 10, "a delay of 0 would mean: as fast as you can"
    assert pnono("draw", tmp_path / "hook.non", f"{tmp_path}/steps/", "--show", "steps", "--every", "cell").code == 0
    names = sorted(path.name for path in (tmp_path / "steps").iterdir())
    assert names == [f"hook-0001-step-{step}.png" for step in range(10)]
