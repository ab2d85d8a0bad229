"""Huge puzzles: made, written, read, packed and drawn without an object for each block or cell."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from strategies import blotted_puzzles, puzzles
from test_cli import pnono

from parallel_nono.attempt import OUTCOMES, Limits
from parallel_nono.cli import generate as generating
from parallel_nono.files.packed import read_packed
from parallel_nono.files.reading import read
from parallel_nono.formats import format_named
from parallel_nono.generator import GENERATORS, fields, generate, generate_huge
from parallel_nono.generator.fields import brightest, brightest_smooth, random_of, smooth
from parallel_nono.pictures.lattice import Look
from parallel_nono.pictures.raster import canvas_of, painted, png, png_of
from parallel_nono.pictures.sheets import OPEN, Sheet, sheet_of_texts
from parallel_nono.puzzle import InvalidPuzzle, Puzzle, letter
from parallel_nono.puzzleset import SCHEMA, plain_palette, puzzles_of, set_of
from parallel_nono.solver import solve_set


@given(
    st.integers(1, 40), st.integers(1, 40), st.integers(1, 5), st.integers(0, 100), st.sampled_from((1, 37, 400, 5000))
)
def test_blobs_made_strip_by_strip_are_the_same(height: int, width: int, radius: int, percent: int, most: int) -> None:
    whole = brightest(smooth(random_of("x", height, width, 1), 1, height, width, radius), percent)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fields, "_STRIP", most)
        strips = brightest_smooth(random_of("x", height, width, 1), height, width, radius, percent)
    assert np.array_equal(whole, strips)


@pytest.mark.parametrize("kind", GENERATORS)
def test_huge_puzzles_are_those_of_generate_without_goals(kind: str) -> None:
    height, width = (9, 9) if kind in ("domino", "permutation") else (9, 12)
    try:
        single = generate(kind, height, width, 3)
    except InvalidPuzzle as error:
        with pytest.raises(InvalidPuzzle, match=str(error)[:20]):
            generate_huge(kind, height, width, 3)
        return
    (huge,) = puzzles_of(generate_huge(kind, height, width, 3))
    assert isinstance(huge, Puzzle)
    assert (huge.rows, huge.columns, huge.palette) == (single.rows, single.columns, single.palette)
    assert (huge.name, huge.metadata, huge.goal, huge.source) == (single.name, single.metadata, None, kind)


def test_more_cells_than_are_solved_are_refused() -> None:
    with pytest.raises(InvalidPuzzle, match="at most 400,000,000 cells, found 20,001 x 20,000"):
        generate_huge("noise", 20_001, 20_000)


def test_sets_of_more_colours_than_letters_are_refused() -> None:
    puzzle = Puzzle(((),), ((),), plain_palette(54))
    form = format_named("non")
    for write, found in ((form.write, [puzzle]), (form.write_sets, [set_of([puzzle])])):
        assert write is not None
        with pytest.raises(InvalidPuzzle, match="carries at most 52 colours, found 53"):
            write(found)


@pytest.mark.slow
@given(st.lists(st.one_of(puzzles(), blotted_puzzles()), min_size=1, max_size=4))
def test_sets_are_written_as_their_puzzles(found: list[Puzzle]) -> None:
    form = format_named("non")
    assert form.write is not None
    assert form.write_sets is not None
    text = form.write(found)
    assert form.write_sets([set_of(found)]) == text
    assert form.write_sets([set_of([puzzle]) for puzzle in found]) == text
    table = set_of([generate("empty", 2, 2), *found])  # a slice, whose clues begin somewhere in their buffers
    assert form.write_sets([table.slice(1)]) == text


def test_generate_and_unpack_take_the_short_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("generate", "blobs", "--height", 30, "--width", 70, "--count", 2, "--set", "density=70")
    assert pnono(*command, tmp_path / "small.non").code == 0
    assert pnono(*command, tmp_path / "small.parquet").err.strip() in ("", f"2 puzzles in {tmp_path}/small.parquet")
    monkeypatch.setattr(generating, "MAX_DRAWN", 1000)
    for name in ("huge.non", "huge.parquet"):
        assert pnono(*command, tmp_path / name).code == 0
    assert pnono("unpack", tmp_path / "huge.parquet", tmp_path / "again.non").code == 0
    small, huge, again = (list(read(tmp_path / f"{name}.non")) for name in ("small", "huge", "again"))
    assert [puzzle.digest for puzzle in small] == [puzzle.digest for puzzle in huge]
    assert [puzzle.metadata for puzzle in small] == [puzzle.metadata for puzzle in huge]
    assert [puzzle.goal for puzzle in huge] == [None, None]
    assert (tmp_path / "again.non").read_text() == (tmp_path / "huge.non").read_text()
    assert [puzzle.index for puzzle in again] == [1, 2]
    goals = [
        batch.column("goal").null_count
        for name in ("small.parquet", "huge.parquet")
        for batch in read_packed(str(tmp_path / name), SCHEMA.names)
    ]
    assert goals == [0, 2]
    refused = pnono(*command, tmp_path / "huge.sgt")
    assert refused.code == 2
    assert refused.err.count("\n") == 1
    assert "expected one .non file or a packed set (.parquet) for puzzles of more than 1,000 cells" in refused.err
    assert pnono(*command, tmp_path / "wrong.parquet", "--set", "depth=1").code == 2
    assert not (tmp_path / "wrong.parquet").exists()


def test_unreadable_rows_are_named_and_the_others_written(tmp_path: Path) -> None:
    text = "width 2\nheight 1\nrows\n2\ncolumns\n1\n1\n====\nwidth 2\nheight 1\nrows\nx\ncolumns\n1\n1\n"
    (tmp_path / "two.non").write_text(text)
    assert pnono("pack", tmp_path / "two.non", tmp_path / "two.parquet").code == 3
    unpacked = pnono("unpack", tmp_path / "two.parquet", "-", "--to", "non")
    assert unpacked.code == 3
    assert unpacked.out.count("width 2") == 1
    assert unpacked.err.count("expected") == 1


@given(
    st.integers(1, 9), st.integers(1, 9), st.sampled_from((2, 3, 9, 254, 255, 300)), st.integers(0, 99), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_bare_pictures_show_what_the_canvas_shows(
    height: int, width: int, n: int, seed: int, holes: bool, two: bool
) -> None:
    random = np.random.default_rng(seed)
    cells = random.integers(0, n, (height, width)).astype(np.int16)
    if holes:
        cells[random.random(cells.shape) < 0.3] = OPEN
    other = np.where(random.random(cells.shape) < 0.2, (cells + 1) % n, cells) if two else None
    puzzle = Puzzle(((),) * height, ((),) * width, plain_palette(n))
    look = Look(False, False)
    bare, canvas = png(Sheet(puzzle, cells, other), look, 1), canvas_of(puzzle, look, 1)
    seen, expected = (pixels_of(data) for data in (bare, png_of(canvas, painted(canvas, cells, other))))
    assert np.array_equal(seen, expected)


def pixels_of(data: bytes) -> np.ndarray:
    """uint8[height, width, 3]."""
    return np.asarray(Image.open(pa.BufferReader(data)).convert("RGB"))


@pytest.mark.parametrize("n_colours", [2, 5, 90])
def test_solutions_as_text_become_their_cells(n_colours: int) -> None:
    random = np.random.default_rng(n_colours)
    cells = random.integers(0, n_colours, (6, 7))
    text = "/".join("".join(letter(c, n_colours) for c in row) for row in cells.tolist())
    sheet = sheet_of_texts(Puzzle(((),) * 6, ((),) * 7, plain_palette(n_colours)), text, "")
    assert sheet.cells is not None
    assert sheet.cells.tolist() == cells.tolist()
    assert sheet.other is None


@pytest.mark.slow
def test_a_made_puzzle_is_solved_from_its_text(tmp_path: Path) -> None:
    """Above the size from which generators go by strips, clues by chunks, and texts through the compiled reader."""
    command = ("generate", "blobs", tmp_path / "made.non", "--height", 1800, "--width", 2400, "--set", "density=80")
    assert pnono(*command).code == 0
    (puzzle,) = puzzles_of(set_of(read(tmp_path / "made.non")))
    assert isinstance(puzzle, Puzzle)
    batch = generate_huge("blobs", 1800, 2400, 1, density=80)
    assert batch.column("digest")[0].as_py() == puzzle.digest
    results = solve_set(batch, Limits(plan=("line",)))  # type: ignore[arg-type]
    assert str(OUTCOMES[results.outcome[0]]) in ("unique", "stalled")
    assert results.n_open[0] < 100


MEASURED = """
import sys
from parallel_nono.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) >> 10)
"""


@pytest.mark.slow
def test_huge_puzzles_take_little_memory(tmp_path: Path) -> None:
    """4000 x 4000: the field of the picture alone would take 128 MiB a copy, the cells as objects as much."""
    packed, text = str(tmp_path / "made.parquet"), str(tmp_path / "made.non")
    options = ("--height", "4000", "--width", "4000", "--set", "density=75", "--set", "radius=25")
    commands = (
        ("generate", "blobs", packed, *options),
        ("unpack", packed, text),
        ("pack", text, str(tmp_path / "again.parquet")),
    )
    for command in commands:
        done = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=True)
        assert int(done.stdout.split()[-1]) < 500, command  # a compiler that has to run first takes some of it
    (one,), (other,) = (read_packed(str(tmp_path / name), SCHEMA.names) for name in ("made.parquet", "again.parquet"))
    assert one.column("digest") == other.column("digest")
