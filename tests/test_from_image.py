"""Pictures as puzzles: what a scan takes from a picture, what a repair changes; and `pnono from-image`."""

from __future__ import annotations

import io
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import is_line_solvable, n_solutions
from PIL import Image, ImageDraw, ImageFilter
from strategies import grids, puzzles_of_grids
from test_cli import pnono
from test_pictures_files import shades_of

from parallel_nono import read, solve
from parallel_nono.cli.exits import Code
from parallel_nono.formats.common.picture import TRANSPARENT
from parallel_nono.pictures.lattice import Look
from parallel_nono.pictures.raster import png
from parallel_nono.pictures.repair import changed, repair, set_of_grids
from parallel_nono.pictures.scan import NEAR, Wish, enlarged, opened, otsu, scan
from parallel_nono.pictures.shades import distance
from parallel_nono.pictures.sheets import Sheet, array_of
from parallel_nono.puzzle import BLACK_AND_WHITE, Colour, InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import set_of

WHITE, BLACK, RED, BLUE, GREEN = 0xFFFFFF, 0x000000, 0xDC1E28, 0x1E5AC8, 0x14A03C
PALETTE = tuple(Colour(f"ink {n}", chr(97 + n), n * 0x123456) for n in range(6))


def file_of(pixels: np.ndarray, kind: str = "PNG", **more: object) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(file, kind, **more)
    return file.getvalue()


def drawing(size: tuple[int, int] = (400, 300)) -> Image.Image:
    """Flat areas of red, blue and green on white."""
    image = Image.new("RGB", (400, 300), "white")
    draw = ImageDraw.Draw(image)
    draw.ellipse((60, 40, 260, 260), fill=f"#{RED:06x}")
    draw.rectangle((200, 100, 360, 220), fill=f"#{BLUE:06x}")
    draw.polygon([(300, 20), (380, 20), (340, 90)], fill=f"#{GREEN:06x}")
    return image.resize(size)


def photo(kind: str = "JPEG") -> bytes:
    file = io.BytesIO()
    drawing().filter(ImageFilter.GaussianBlur(2)).save(file, kind)
    return file.getvalue()


def shades(puzzle: Puzzle) -> list[list[int]]:
    return [[puzzle.palette[cell].rgb for cell in row] for row in puzzle.goal or ()]


# Scanning


PALE = Puzzle.of_grid([[1]], (Colour("white", ".", 0xFFFFFF), Colour("pale", "p", 0xFFFFA6)))


@given(puzzles_of_grids(most=9), st.integers(1, 4))
@settings(max_examples=60)
@example(PALE, 1)
def test_a_picture_of_pixels_comes_back_also_when_it_was_enlarged(puzzle: Puzzle, times: int) -> None:
    data = png(Sheet(puzzle, array_of(puzzle.goal or ())), Look(clues=False, lines=False), times)
    wanted = [[puzzle.palette[cell].rgb for cell in row] for row in puzzle.goal or ()]
    inks = {shade for row in wanted for shade in row}
    pale = min(inks, key=lambda ink: distance(ink, WHITE))
    if WHITE not in inks and distance(pale, WHITE) < NEAR:
        wanted = [[WHITE if shade == pale else shade for shade in row] for row in wanted]  # paper that is nearly white
    found = np.array(shades(scan(data, "a.png", Wish()).puzzle))
    smaller = np.array(wanted).shape[0] // found.shape[0]  # the picture itself may look enlarged
    assert found.repeat(smaller, 0).repeat(smaller, 1).tolist() == wanted


@given(grids(most=8, colours=3), st.integers(2, 5))
def test_enlarging_is_found_out(grid: tuple[tuple[int, ...], ...], times: int) -> None:
    small = np.array(grid)[:, :, None] * np.ones(4, int)
    large = small.repeat(times, 0).repeat(times, 1)
    assert enlarged(large) == times * enlarged(small)


def test_blurred_shapes_become_cells_of_their_colours() -> None:
    made = scan(photo(), "photo.jpg", Wish(colours=4, size=20))
    assert (made.puzzle.height, made.puzzle.width) == (15, 20)
    cells = shades(made.puzzle)
    for row, column, shade in ((7, 6, RED), (8, 14, BLUE), (1, 17, GREEN), (13, 18, WHITE)):
        assert distance(cells[row][column], shade) < 40
    assert made.puzzle.palette[0].rgb == WHITE, "paper that is nearly white is the background"
    assert made.costs.shape == (15, 20, 4)
    assert (made.costs.argmin(2) == array_of(made.puzzle.goal or ())).mean() > 0.97
    assert made.notes == ["400 x 300 pixels", "resized to 20 x 15"]


@pytest.mark.parametrize("method", ["k-means", "median-cut"])
@pytest.mark.parametrize("dither", [False, True])
@pytest.mark.parametrize("colours", [2, 3, 5, 9])
def test_there_are_never_more_colours_than_wished(method: str, dither: bool, colours: int) -> None:
    wish = Wish(colours=colours, size=24, method=method, dither=dither)  # type: ignore[arg-type]
    puzzle = scan(photo(), "photo.jpg", wish).puzzle
    assert 2 <= puzzle.n_colours <= colours
    assert len({cell for row in puzzle.goal or () for cell in row}) <= colours


def test_sizes_follow_each_other() -> None:
    def size(**wish: int) -> tuple[int, int]:
        puzzle = scan(photo(), "photo.jpg", Wish(**wish)).puzzle
        return puzzle.width, puzzle.height

    assert size() == (30, 23)
    assert size(size=40) == (40, 30)
    assert size(width=20) == (20, 15)
    assert size(height=30) == (40, 30)
    assert size(width=7, height=9) == (7, 9)
    with pytest.raises(InvalidPuzzle, match="expected at most 1,000 x 1,000 cells, found 2,000 x 1,500"):
        size(width=2000)


def test_dark_is_black_below_the_threshold() -> None:
    ramp = np.arange(256).reshape(8, 32)
    for threshold, black in ((100, 100), (0, 0), (256, 256)):
        puzzle = scan(file_of(ramp), "ramp.png", Wish(threshold=threshold)).puzzle
        assert puzzle.palette == BLACK_AND_WHITE
        assert sum(map(sum, puzzle.goal or ())) == black
    inverse = scan(file_of(ramp), "ramp.png", Wish(threshold=100, background=BLACK)).puzzle
    assert inverse.palette[0].rgb == BLACK
    assert sum(map(sum, inverse.goal or ())) == 156


@given(st.lists(st.integers(0, 255), min_size=2, max_size=40))
def test_otsu_parts_best(values: list[int]) -> None:
    grey = np.array(values)

    def variance_inside(threshold: int) -> float:
        return sum(part.var() * len(part) for part in (grey[grey < threshold], grey[grey >= threshold]) if len(part))

    best = min(variance_inside(threshold) for threshold in range(257))
    if len(set(values)) > 1:
        assert variance_inside(otsu(grey)) == pytest.approx(best, abs=1e-6)


def test_dithered_grey_is_as_light_as_it_was() -> None:
    ramp = np.tile(np.linspace(0, 255, 60), (30, 1))
    black = np.array(scan(file_of(ramp), "ramp.png", Wish(dither=True)).puzzle.goal)
    assert black.mean() == pytest.approx(0.5, abs=0.03)
    assert black[:, :10].mean() > 0.85
    assert black[:, -10:].mean() < 0.15
    assert np.abs(np.diff(black, axis=1)).sum() > 300, "dots, no edge"


def rgba(*rows: str) -> bytes:
    """A small picture: `.` transparent, `w` white, `k` black, `r` red."""
    kinds = {".": (9, 9, 9, 0), "w": (255, 255, 255, 255), "k": (0, 0, 0, 255), "r": (255, 0, 0, 255)}
    return file_of(np.array([[kinds[char] for char in row] for row in rows]))


def test_transparent_pixels_are_the_background_and_white_is_an_ink_then() -> None:
    puzzle = scan(rgba(".w.", "wkw"), "a.png", Wish()).puzzle
    assert [[puzzle.palette[c].name if c else "" for c in row] for row in puzzle.goal or ()] == [
        ["", "white", ""],
        ["white", "black", "white"],
    ]


@pytest.mark.parametrize(("background", "wanted"), [(None, "w"), (RED, "r"), (WHITE, "w"), (BLACK, "k")], ids=str)
def test_the_background_can_be_chosen(background: int | None, wanted: str) -> None:
    puzzle = scan(rgba("wwkr", "rrkw"), "a.png", Wish(background=background)).puzzle
    cells = ["".join("x" if cell else wanted for cell in row) for row in puzzle.goal or ()]
    assert cells == ["".join(char if char == wanted else "x" for char in row) for row in ("wwkr", "rrkw")]


def test_a_background_that_is_not_there_is_missed() -> None:
    with pytest.raises(InvalidPuzzle, match=r"a\.png: expected transparent pixels"):
        scan(rgba("wk", "kw"), "a.png", Wish(background=TRANSPARENT))
    puzzle = scan(rgba(".k", "kw"), "a.png", Wish(background=WHITE)).puzzle
    assert puzzle.goal == ((0, 1), (1, 0)), "what is transparent is white"


def test_a_margin_is_trimmed() -> None:
    made = scan(rgba("wwww", "wkww", "wwrw", "wwww"), "a.png", Wish(trim=True))
    assert shades(made.puzzle) == [[BLACK, WHITE], [WHITE, 0xFF0000]]
    assert "trimmed to 2 x 2" in made.notes
    assert shades(scan(rgba("ww", "ww"), "a.png", Wish(trim=True)).puzzle) == [[WHITE]]


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "JPEG", "PPM", "WEBP"])
def test_every_kind_of_file_is_read(kind: str) -> None:
    puzzle = scan(photo(kind), f"photo.{kind.lower()}", Wish(size=10)).puzzle
    assert (puzzle.width, puzzle.height, puzzle.n_colours) == (10, 8, 2)


def test_sixteen_bits_of_grey_are_eight() -> None:
    ramp = (np.arange(256) * 257).reshape(8, 32).astype(np.uint16)
    file = io.BytesIO()
    Image.fromarray(ramp).save(file, "PNG")
    ((image, _),) = opened(file.getvalue(), "ramp.png")
    assert (np.asarray(image)[:, :, 0].ravel() == np.arange(256)).all()


def test_of_an_animation_the_first_picture_is_taken() -> None:
    file = io.BytesIO()
    first, second = Image.new("L", (2, 2), 255), Image.new("L", (2, 2), 255)
    first.putpixel((0, 1), 0)
    first.save(file, "GIF", save_all=True, append_images=[second])
    made = scan(file.getvalue(), "a.gif", Wish())
    assert made.puzzle.goal == ((0, 0), (1, 0))
    assert "the first of several" in made.notes


@given(st.binary(max_size=60), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"BM", b"\xff\xd8\xff", b"P4 "]))
def test_what_is_no_picture_is_said_to_be_none(data: bytes, start: bytes) -> None:
    with pytest.raises(InvalidPuzzle, match="it: expected a picture"):
        next(opened(start + data, "it"))


def test_a_damaged_picture_and_a_huge_one_are_refused() -> None:
    whole = photo("PNG")
    with pytest.raises(InvalidPuzzle, match=r"a\.png: expected a picture, found a damaged one"):
        scan(whole[: len(whole) // 2], "a.png", Wish())
    with pytest.raises(InvalidPuzzle, match=r"a\.pbm: expected a picture of at most 100,000,000 pixels, found"):
        scan(b"P4 60000 60000\n", "a.pbm", Wish())


# Repairing


@given(grids(most=6))
@settings(max_examples=60)
def test_sets_made_of_grids_are_those_of_their_puzzles(grid: tuple[tuple[int, ...], ...]) -> None:
    cells = np.array([grid, grid[::-1]])
    made, wanted = set_of_grids(cells, 6), set_of([Puzzle.of_grid(one.tolist(), PALETTE) for one in cells])
    for column in ("height", "width", "n_colours", "digest", "lengths", "colours"):
        assert made.column(column).equals(wanted.column(column)), column


def is_good(cells: np.ndarray, n_colours: int, aim: str) -> bool:
    puzzle = Puzzle.of_grid(cells.tolist(), PALETTE[:n_colours])
    return is_line_solvable(puzzle) if aim == "lines" else n_solutions(puzzle) == 1


def fewest(cells: np.ndarray, n_colours: int, aim: str) -> int:
    """The fewest changes that help, all sets of cells tried."""
    codes = [(at, c) for at in range(cells.size) for c in range(n_colours) if c != cells.flat[at]]
    for size in range(cells.size + 1):
        for some in combinations(codes, size):
            if len({at for at, _ in some}) == size:
                other = cells.copy()
                for at, colour in some:
                    other.flat[at] = colour
                if is_good(other, n_colours, aim):
                    return size
    raise AssertionError("an empty picture is always good")


SWITCH = np.eye(2, dtype=int)
TWO_SWITCHES = np.block([[SWITCH, np.zeros((2, 2), int)], [np.zeros((2, 2), int), SWITCH]])
FAR_SWITCHES = np.zeros((5, 5), int)
FAR_SWITCHES[:2, :2] = FAR_SWITCHES[3:, 3:] = SWITCH


@pytest.mark.parametrize("aim", ["unique", "lines"])
@pytest.mark.parametrize(
    ("cells", "n_colours"),
    [
        (SWITCH, 2),
        (TWO_SWITCHES, 2),
        (FAR_SWITCHES, 2),
        (np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1]]), 3),
        (np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]), 2),
        (np.array([[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]), 2),
        (np.zeros((3, 3), int), 2),
    ],
)
def test_no_fewer_changes_would_do(cells: np.ndarray, n_colours: int, aim: str) -> None:
    found = repair(cells, n_colours, aim)  # type: ignore[arg-type]
    assert found.changes is not None
    assert found.is_minimal
    assert len(found.changes) == found.least == fewest(cells, n_colours, aim)
    assert is_good(changed(cells, found.changes), n_colours, aim)


@given(grids(most=4, colours=3), st.sampled_from(["unique", "lines"]))
@settings(max_examples=40)
def test_a_repaired_picture_is_good_and_differs_in_the_changes(grid: tuple[tuple[int, ...], ...], aim: str) -> None:
    cells = np.array(grid)
    found = repair(cells, 3, aim)  # type: ignore[arg-type]
    assert found.changes is not None
    better = changed(cells, found.changes)
    assert is_good(better, 3, aim)
    assert {tuple(place) for place in np.argwhere(better != cells).tolist()} == {(r, c) for r, c, _ in found.changes}


def test_of_equally_many_changes_the_cheapest_are_taken() -> None:
    cells = np.eye(2, dtype=int)
    prices = np.zeros((2, 2, 2))
    prices[0, 1, 1], prices[1, 0, 1], prices[0, 0, 0], prices[1, 1, 0] = 4, 1, 3, 2
    (change,) = repair(cells, 2, "unique", prices).changes or ()
    assert change == (1, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("aim", ["unique", "lines"])
def test_what_is_too_much_to_try_is_approached_greedily(aim: str) -> None:
    noise = (np.random.default_rng(6).random((12, 12)) < 0.5).astype(int)
    exact = repair(noise, 2, aim)  # type: ignore[arg-type]
    greedy = repair(noise, 2, aim, max_tries=150)  # type: ignore[arg-type]
    assert exact.is_minimal
    assert greedy.changes is not None
    assert exact.changes is not None
    assert greedy.least <= len(exact.changes) <= len(greedy.changes)
    better = Puzzle.of_grid(changed(noise, greedy.changes).tolist())
    result = solve(better)
    assert result.outcome == "unique"
    assert aim == "unique" or result.stage == "line"


def test_a_picture_that_is_open_almost_everywhere_is_repaired_greedily() -> None:
    noise = (np.random.default_rng(1).random((25, 25)) < 0.5).astype(int)
    found = repair(noise, 2, "lines")
    assert found.changes is not None
    assert found.least == 1 < len(found.changes)
    result = solve(Puzzle.of_grid(changed(noise, found.changes).tolist()))
    assert (result.outcome, result.stage) == ("unique", "line")


def test_nothing_is_promised_when_few_tries_are_allowed() -> None:
    noise = (np.random.default_rng(6).random((12, 12)) < 0.5).astype(int)
    found = repair(noise, 2, "unique", max_tries=1)
    assert found.changes is None
    assert found.least == 1


# pnono from-image


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    crossed = np.full((6, 6), 255)
    crossed[1, 1] = crossed[2, 2] = crossed[4] = 0
    (tmp_path / "crossed.png").write_bytes(file_of(crossed))
    (tmp_path / "photo.jpg").write_bytes(photo())
    return tmp_path


def test_an_ambiguous_picture_gets_a_proposal_which_holds(folder: Path) -> None:
    ended = pnono("from-image", folder / "crossed.png", "--picture", folder / "puzzle.png")
    assert ended.code == Code.NO
    assert "Ambiguous: another solution differs in 4 cells, which are marked." in ended.out
    assert "Proposal: change 1 cell, then there is one solution only; fewer do not help." in ended.out
    assert (shades_of((folder / "puzzle.png").read_bytes()) == 0xFF00FF).any(), "the change is marked"
    for aim, stages in (("unique", ("line", "probe", "search")), ("lines", ("line",))):
        out = folder / f"{aim}.non"
        assert pnono("from-image", folder / "crossed.png", "--aim", aim, "--apply", "--out", out).code == Code.FINE
        (puzzle,) = read(out)
        result = solve(puzzle)
        assert (result.outcome, result.stage in stages) == ("unique", True)
        assert result.solutions[0] == puzzle.goal


def test_without_an_aim_nothing_is_proposed_and_the_picture_stays(folder: Path) -> None:
    ended = pnono("from-image", folder / "crossed.png", "--aim", "none", "--apply", "--out", "-", "--to", "non")
    assert ended.code == Code.NO
    assert "Proposal" not in ended.out + ended.err
    assert "Ambiguous" in ended.err, "standard output is for the puzzle"
    (puzzle,) = read(ended.out.encode())
    assert sum(map(sum, puzzle.goal or ())) == 8


def test_a_folder_becomes_a_pack(folder: Path) -> None:
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "notes.txt").write_text("no picture")
    out = folder / "pack.parquet"
    ended = pnono("from-image", folder, "--size", 20, "--colours", 4, "--apply", "--out", out)
    assert ended.code == Code.INVALID
    assert "broken.png: expected a picture (PNG, " in ended.err
    assert f"2 puzzles in {out}" in ended.out
    puzzles = list(read(out))
    assert [puzzle.name for puzzle in puzzles] == ["crossed", "photo"]
    assert [puzzle.n_colours for puzzle in puzzles] == [2, 4]
    assert [solve(puzzle).outcome for puzzle in puzzles] == ["unique"] * 2


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("missing.png",), Code.USAGE, "missing.png: expected a file or a folder, found nothing of that name"),
        (("notes.txt",), Code.INVALID, "notes.txt: expected a picture (PNG, "),
        (("crossed.png", "--background", "nocolour"), Code.USAGE, "--background: expected a name of a colour"),
        (("crossed.png", "--out", "a.xyz"), Code.USAGE, "expected an ending"),
        (("empty",), Code.USAGE, "empty: expected a folder with pictures, found an empty folder"),
        (("crossed.png", "--colours", "32"), Code.USAGE, "--colours"),
    ],
)
def test_from_image_says_what_it_expects(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: Code, message: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "notes.txt").write_text("no picture")
    (folder / "empty").mkdir()
    ended = pnono("from-image", *arguments)
    assert ended.code == code
    assert message in ended.err
