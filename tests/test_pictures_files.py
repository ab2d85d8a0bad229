"""Pictures in files: what stands in their pixels, paths and pages; and `pnono draw`."""

from __future__ import annotations

import base64
import io
import re
import xml.etree.ElementTree as ElementTree
import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from strategies import puzzles_of_grids
from test_cli import pnono

from parallel_nono import solve
from parallel_nono.attempt import Limits
from parallel_nono.cli.exits import Code
from parallel_nono.pictures.lattice import (
    ACTIVE,
    BOLD,
    CORNER,
    MARGIN,
    MARK,
    PAPER,
    THIN,
    Look,
    clue_boxes,
    lattice_of,
    runs_of,
)
from parallel_nono.pictures.pdf import COMFORTABLE, MM, pdf
from parallel_nono.pictures.raster import MAX_PIXELS, canvas_of, fitted, image_of, painted, png
from parallel_nono.pictures.shades import OPEN_SHADES, channels, shade_of
from parallel_nono.pictures.sheets import OPEN, Sheet, array_of, decided, sheet_of_result, sheet_of_texts
from parallel_nono.pictures.svg import CELL, svg
from parallel_nono.puzzle import BLACK_AND_WHITE, BLOT, Block, Colour, InvalidPuzzle, Puzzle, letter

STUCK = Puzzle(
    ((Block(1), Block(1)), (Block(2),), ()), ((Block(1),), (Block(1),), (Block(1),), (Block(1),)), name="stuck"
)
CROSSED = Puzzle(((Block(1),), (Block(1),)), ((Block(1),), (Block(1),)), name="crossed")
PALETTE = (*BLACK_AND_WHITE, Colour("red", "r", 0xFF0000), Colour("blue", "b", 0x0000FF))
FLAG = Puzzle.of_grid(((1, 1, 2), (1, 2, 2), (0, 0, 3)), PALETTE, name="flag <&> \x1b[2J")
STRIPES = Puzzle.of_grid([[(r + c) % 2 for c in range(12)] for r in range(11)], name="stripes")
PLAIN = Look(clues=False, lines=False)


def shades_of(data: bytes) -> np.ndarray:
    """0xRRGGBB of each pixel of a file that Pillow reads."""
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    return pixels[:, :, 0] << 16 | pixels[:, :, 1] << 8 | pixels[:, :, 2]


def goal_of(puzzle: Puzzle) -> np.ndarray:
    assert puzzle.goal is not None
    return array_of(puzzle.goal)


# Cells


@given(puzzles_of_grids(most=7), st.integers(1, 9))
def test_a_plain_picture_has_scale_times_the_cells_and_their_shades(puzzle: Puzzle, scale: int) -> None:
    found = shades_of(png(Sheet(puzzle, goal_of(puzzle)), PLAIN, scale))
    wanted = [[puzzle.palette[cell].rgb for cell in row for _ in range(scale)] for row in puzzle.goal or ()]
    assert found.tolist() == [row for row in wanted for _ in range(scale)]


@given(puzzles_of_grids(most=7), st.integers(12, 30), st.booleans())
def test_every_cell_has_its_shade_in_the_middle(puzzle: Puzzle, scale: int, clues: bool) -> None:
    found = shades_of(png(Sheet(puzzle, goal_of(puzzle)), Look(clues), scale))
    lattice = lattice_of(puzzle, clues)
    assert found.shape == (lattice.height * scale + 1, lattice.width * scale + 1)
    grid = found[lattice.top * scale + scale // 2 :: scale, lattice.left * scale + scale // 2 :: scale]
    assert grid.tolist() == [[puzzle.palette[cell].rgb for cell in row] for row in puzzle.goal or ()]


def test_open_cells_are_orange_and_margins_are_grey() -> None:
    cells = np.array([[OPEN] * 4, [OPEN] * 4, [0] * 4])
    found = shades_of(png(Sheet(STUCK, cells), Look(), 20))
    assert (found[30::20, 50::20][:2] == OPEN_SHADES[0]).all()
    assert (found[30::20, 50::20][2] == PAPER).all()
    assert found[10, 10] == CORNER
    assert found[70, 30] == MARGIN


def test_lines_stand_between_cells_and_every_fifth_is_bold() -> None:
    found = shades_of(png(Sheet(STRIPES, None), Look(clues=False), 10))
    edges = {at: BOLD if at // 10 in (0, 5, 10, 12) else THIN for at in range(0, 121, 10)}
    assert [found[15, at] for at in edges] == list(edges.values())
    assert [found[15, at - 1] == BOLD for at in edges if at] == [at // 10 in (5, 10, 12) for at in edges if at]
    assert found[-1, 15] == BOLD, "the border, after 11 rows"
    assert found[15, 15] == PAPER


def test_clue_numbers_are_drawn_where_they_belong() -> None:
    found = shades_of(png(Sheet(FLAG, None), Look(), 24))
    boxes = {(row, column): block for row, column, _, block in clue_boxes(FLAG)}
    lattice = lattice_of(FLAG, True)
    for row in range(lattice.height):
        for column in range(lattice.width):
            box = found[row * 24 + 2 : row * 24 + 22, column * 24 + 2 : column * 24 + 22]
            if (row, column) in boxes:
                ground = PALETTE[boxes[row, column].colour].rgb
                assert box[0, 0] == ground
                assert len(np.unique(box)) > 2, "a number with soft edges"
            else:
                assert len(np.unique(box)) == 1


def test_a_blot_is_drawn_as_a_question_mark() -> None:
    blotted = Puzzle(((Block(BLOT),), (Block(1),)), ((Block(1),), (Block(1),)))
    boxes = {(row, column): block.text for row, column, _, block in clue_boxes(blotted)}
    assert boxes == {(1, 0): "?", (2, 0): "1", (0, 1): "1", (0, 2): "1"}
    found = shades_of(png(Sheet(blotted, None), Look(), 20))
    assert (found[22:38, 2:18] != found[42:58, 2:18]).any()
    assert ">?</text>" in svg(Sheet(blotted, None), Look()).decode()


def test_a_cell_that_differs_shows_both_colours_in_a_frame() -> None:
    first, second = np.array([[1, 0], [0, 1]]), np.array([[0, 0], [0, 1]])
    found = shades_of(png(Sheet(CROSSED, first, second), Look(clues=False), 30))
    assert found[8, 8] == 0x000000
    assert found[23, 23] == 0xFFFFFF
    assert found[2, 15] == MARK
    assert (found[31:59, 2:] != MARK).all()
    tiny = shades_of(png(Sheet(CROSSED, first, second), PLAIN, 2))
    assert (tiny[:2, :2] == MARK).all()
    assert (tiny != MARK).sum() == 12


def test_the_margin_of_a_line_can_be_lit() -> None:
    canvas = canvas_of(STUCK, *fitted(STUCK, Look(), 20))
    cells = np.zeros((3, 4), int)
    for line, inside, outside in ((1, (50, 5), (30, 5)), (3, (5, 45), (5, 65))):
        pixels = canvas.palette[painted(canvas, cells, line=line)]
        assert shade_of(*pixels[inside].tolist()) == ACTIVE
        assert shade_of(*pixels[outside].tolist()) == MARGIN


def test_hundreds_of_colours_are_kept() -> None:
    palette = (BLACK_AND_WHITE[0], *(Colour(f"ink {n}", "i", n * 60000) for n in range(1, 270)))
    puzzle = Puzzle.of_grid([list(range(270))], palette)
    for look in (PLAIN, Look(lines=True)):
        found = shades_of(png(Sheet(puzzle, goal_of(puzzle)), look, 3))
        assert found[1, 1::3].tolist() == [colour.rgb for colour in palette]


def test_a_large_grid_is_drawn_by_whole_arrays() -> None:
    block = (Block(1),)
    puzzle = Puzzle((block,) * 3000, (block,) * 3000)
    look, scale = fitted(puzzle, Look())
    assert (look, scale) == (PLAIN, 1)
    canvas = canvas_of(puzzle, look, scale)
    image = image_of(canvas, painted(canvas, np.eye(3000, dtype=np.int32)))
    assert (image.mode, image.size) == ("P", (3000, 3000))
    assert (np.asarray(image) == np.eye(3000)).all()


def test_a_picture_that_nobody_could_hold_is_refused_before_there_is_room_for_it() -> None:
    block = (Block(1),)
    puzzle = Puzzle((block,) * 20000, (block,) * 20000, source="huge")
    with pytest.raises(InvalidPuzzle, match=rf"huge: expected a picture of at most {MAX_PIXELS:,} pixels, found"):
        png(Sheet(puzzle, None), Look(), 100)
    with pytest.raises(InvalidPuzzle, match="for SVG"):
        svg(Sheet(puzzle, None), Look())
    with pytest.raises(InvalidPuzzle, match="to print"):
        pdf([Sheet(puzzle, None)])


def test_a_scale_that_fits_leaves_out_what_has_no_room() -> None:
    wide = Puzzle.of_grid([[1, 0] * 75])
    assert fitted(FLAG, Look()) == (Look(), 24)
    assert fitted(wide, Look()) == (Look(clues=False), 10)
    assert fitted(FLAG, Look(), 3) == (PLAIN, 3)


@given(puzzles_of_grids(most=8))
def test_runs_put_together_are_the_cells(puzzle: Puzzle) -> None:
    cells = goal_of(puzzle)
    again = np.full_like(cells, -9)
    rows, columns, lengths, values = runs_of(cells)
    for row, column, length, value in zip(rows, columns, lengths, values, strict=True):
        assert (again[row, column : column + length] == -9).all()
        again[row, column : column + length] = value
    assert (again == cells).all()
    assert len(rows) == sum(1 + sum(a != b for a, b in pairwise(row)) for row in cells.tolist())


# SVG


@given(puzzles_of_grids(most=6))
@settings(max_examples=50)
def test_the_paths_of_an_svg_cover_the_cells(puzzle: Puzzle) -> None:
    tree = ElementTree.fromstring(svg(Sheet(puzzle, goal_of(puzzle)), PLAIN))
    found = np.full((puzzle.height, puzzle.width), -1)
    for path in tree.findall(".//{*}g/{*}path"):
        for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)", path.attrib["d"]):
            row, column, length = int(y) // CELL, int(x) // CELL, int(width) // CELL
            assert (found[row, column : column + length] == -1).all()
            found[row, column : column + length] = int(path.attrib["fill"][1:], 16)
    assert found.tolist() == [[puzzle.palette[cell].rgb for cell in row] for row in puzzle.goal or ()]


def test_an_svg_has_every_clue_and_names_that_harm_nobody() -> None:
    tree = ElementTree.fromstring(svg(Sheet(FLAG, None), Look()))
    assert [text.text for text in tree.iterfind(".//{*}text")] == [block.text for *_, block in clue_boxes(FLAG)]
    title = tree.find("{*}title")
    assert title is not None
    assert title.text == "flag <&> �[2J"
    marked = ElementTree.fromstring(svg(Sheet(CROSSED, np.eye(2, dtype=int), np.zeros((2, 2), int)), Look()))
    assert len(marked.findall(".//{*}rect")) == 2


# PDF


def pages_of(data: bytes) -> list[str]:
    """What is drawn on each page, as PDF operators."""
    streams = re.findall(rb"stream\r?\n(.*?)~>\s*endstream", data, re.DOTALL)
    return [zlib.decompress(base64.a85decode(stream)).decode("latin-1") for stream in streams]


def test_a_page_of_a_pdf_has_every_clue_and_the_title() -> None:
    book = pdf([Sheet(FLAG)])
    (page,) = pages_of(book.data)
    texts = re.findall(r"\((.*?)\) Tj", page)
    assert texts[1:] == [block.text for *_, block in clue_boxes(FLAG)]
    assert texts[0].startswith("flag <&> ?[2J  ")
    assert book.n_pages == 1
    assert book.smallest_mm == pytest.approx(9.0)


def test_puzzles_share_pages_as_long_as_they_stay_comfortable() -> None:
    assert pdf([Sheet(FLAG)] * 6).n_pages == 1
    assert pdf([Sheet(FLAG)] * 7).n_pages == 2
    large = Puzzle.of_grid([[(r * c) % 3 % 2 for c in range(30)] for r in range(30)])
    book = pdf([Sheet(large)] * 3)
    assert book.n_pages == 3
    assert pdf([Sheet(large)] * 3, per_page=3).n_pages == 1
    assert pdf([Sheet(large)] * 3, per_page=3).smallest_mm < book.smallest_mm < COMFORTABLE / MM


def test_the_solutions_come_behind_without_clues() -> None:
    book = pdf([Sheet(FLAG)] * 2, [Sheet(FLAG, goal_of(FLAG))] * 2)
    *_, solutions = pages_of(book.data)
    assert book.n_pages == 2
    assert len(re.findall(r"Tj", solutions)) == 2, "titles alone"
    assert "1 0 0 rg" in solutions, "red"


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_sheet_gives_the_same_bytes(kind: str) -> None:
    sheet = Sheet(FLAG, goal_of(FLAG), np.zeros((3, 3), int))
    make = {"png": lambda: png(sheet, Look()), "svg": lambda: svg(sheet, Look()), "pdf": lambda: pdf([sheet]).data}[
        kind
    ]
    assert make() == make()


# Sheets


@given(puzzles_of_grids(most=6))
@settings(max_examples=30)
def test_three_ways_to_the_same_sheet(puzzle: Puzzle) -> None:
    result = solve(puzzle, Limits())
    sheet, outcome = decided(puzzle, Limits())
    texts = [
        "/".join("".join(letter(cell, puzzle.n_colours) for cell in row) for row in solution)
        for solution in result.solutions
    ]
    others = [sheet_of_result(puzzle, result), sheet_of_texts(puzzle, *(*texts, "", "")[:2])]
    assert outcome == result.outcome
    for other in others:
        for one, two in ((sheet.cells, other.cells), (sheet.other, other.other)):
            assert (one is None) == (two is None)
            assert one is None or np.array_equal(one, two)


def test_without_guessing_a_sheet_holds_what_is_known() -> None:
    sheet, outcome = decided(STUCK, Limits(plan=("line",)))  # type: ignore[arg-type]
    assert outcome == "stalled"
    assert sheet.cells is not None
    assert sheet.cells.tolist() == [[OPEN] * 4, [OPEN] * 4, [0] * 4]


# pnono draw, solve --picture, run --pictures

STUCK_TEXT = "width 4\nheight 3\nrows\n1,1\n2\n0\ncolumns\n1\n1\n1\n1\n"
CROSSED_TEXT = "width 2\nheight 2\nrows\n1\n1\ncolumns\n1\n1\n"
HOOK_TEXT = 'width 3\nheight 3\nrows\n2\n1\n3\ncolumns\n3\n1,1\n1\ngoal "110100110"\n'


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in (("stuck", STUCK_TEXT), ("crossed", CROSSED_TEXT), ("hook", HOOK_TEXT)):
        (tmp_path / f"{name}.non").write_text(text)
    (tmp_path / "bad.non").write_text("width 2\nheight 2\nrows\n1\nx\ncolumns\n1\n1\n")
    return tmp_path


def test_draw_shows_what_lines_leave_open_in_orange(files: Path) -> None:
    ended = pnono("draw", files / "stuck.non", files / "stuck.png", "--plan", "lines-only", "--scale", 20)
    assert ended.code == Code.FINE
    assert "stuck: stalled: 8 cells open" in ended.out
    assert (shades_of((files / "stuck.png").read_bytes())[30:70, 50::20] == OPEN_SHADES[0]).any()


def test_draw_marks_where_two_solutions_differ(files: Path) -> None:
    ended = pnono("draw", files / "crossed.non", files / "crossed.png")
    assert "several solutions: the first two differ in 4 cells" in ended.out
    assert (shades_of((files / "crossed.png").read_bytes()) == MARK).any()


def test_draw_marks_where_the_goal_is_wrong(files: Path) -> None:
    ended = pnono("draw", files / "hook.non", files / "goal.png", "--show", "goal", "--scale", 1, "--no-clues")
    assert "1 cell of the goal are wrong" in ended.out
    assert np.argwhere(shades_of((files / "goal.png").read_bytes()) == MARK).tolist() == [[2, 2]]
    ended = pnono("draw", files / "stuck.non", files / "goal.png", "--show", "goal")
    assert ended.code == Code.INVALID
    assert "expected a goal" in ended.err


def test_draw_makes_one_file_for_each_puzzle_of_a_folder_and_goes_on_after_a_bad_one(files: Path) -> None:
    ended = pnono("draw", files, f"{files}/out/", "--to", "svg", "--show", "puzzle")
    assert ended.code == Code.INVALID
    assert "bad.non:" in ended.err
    assert sorted(path.name for path in (files / "out").iterdir()) == [
        "crossed-0001.svg",
        "hook-0001.svg",
        "stuck-0001.svg",
    ]


def test_draw_binds_a_book_with_solutions(files: Path) -> None:
    (files / "bad.non").unlink()
    assert pnono("draw", files, files / "book.pdf", "--solutions").code == Code.FINE
    pages = pages_of((files / "book.pdf").read_bytes())
    assert len(pages) == 2
    assert [len(re.findall(r"\(\w+  \\\(\d x \d\\\)\) Tj", page)) for page in pages] == [3, 3]
    ended = pnono("draw", files / "hook.non", files / "wide.pdf", "--per-page", 100)
    assert ended.code == Code.FINE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hook.non", "hook.bmp"), "expected an ending or a --to of png, svg, pdf, gif, or a folder"),
        (("hook.non", "hook.svg", "--show", "steps"), "expected steps as GIF or PNG"),
        (("hook.non", "hook.gif", "--show", "solution"), "expected steps as GIF or PNG"),
        (("hook.non", "hook.png", "--show", "steps"), "expected a folder for the steps"),
        (("hook.non", "hook.png", "--number", "2"), "expected a puzzle number from 1 to 1"),
    ],
)
def test_draw_says_what_it_expects(
    files: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(files)
    ended = pnono("draw", *arguments)
    assert (ended.code, ended.out) == (Code.USAGE, "")
    assert message in ended.err


def test_several_puzzles_do_not_go_into_one_picture(files: Path) -> None:
    (files / "two.sgt").write_text("2x2:1/1/1/1\n1x1:1/1\n")
    ended = pnono("draw", files / "two.sgt", files / "two.png")
    assert ended.code == Code.USAGE
    assert "choose with --number, or a folder" in ended.err


def test_a_picture_that_cannot_be_written_is_a_message(files: Path) -> None:
    ended = pnono("draw", files / "hook.non", files / "nowhere/hook.png")
    assert ended.code == Code.UNWRITABLE
    assert "can't be written" in ended.err


def test_solve_draws_the_same_picture(files: Path) -> None:
    pnono("draw", files / "crossed.non", files / "one.png")
    assert pnono("solve", files / "crossed.non", "--picture", files / "other.png").code == Code.NO
    assert (files / "one.png").read_bytes() == (files / "other.png").read_bytes()
    assert "found gif" in pnono("solve", files / "crossed.non", "--picture", files / "x.gif").err


@pytest.mark.slow
def test_a_run_draws_the_same_pictures_whoever_solves(files: Path) -> None:
    pictures = []
    for workers in (1, 8):
        out = files / f"run{workers}"
        names = [files / name for name in ("stuck.non", "crossed.non", "hook.non", "bad.non")]
        ended = pnono("run", *names, "--out", out, "--workers", workers, "--engine", "local", "--pictures", "--quiet")
        assert ended.code == Code.FINE
        pictures.append({path.name: path.read_bytes() for path in (out / "pictures").iterdir()})
    assert pictures[0] == pictures[1]
    assert sorted(pictures[0]) == ["crossed-0001.png", "hook-0001.png", "stuck-0001.png"]
    pnono("draw", files / "crossed.non", files / "one.png")
    assert pictures[0]["crossed-0001.png"] == (files / "one.png").read_bytes()


def test_a_run_without_solutions_in_its_rows_has_no_pictures(files: Path) -> None:
    assert pnono("run", files, "--pictures", "--no-store-solutions", "--out", files / "r").code == Code.USAGE
    assert pnono("run", "-", "--pictures", "--out", files / "r").code == Code.USAGE
    assert not (files / "r").exists()


def test_shades_and_channels_undo_each_other() -> None:
    assert shade_of(*channels(0x123456)) == 0x123456
