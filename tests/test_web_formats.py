"""Formats of web pages, addresses and pictures, text and binary: samples, round trips, exact bytes, broken input."""

from __future__ import annotations

import base64
import io
import random
import re
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from strategies import puzzles, puzzles_of_grids

import parallel_nono
from parallel_nono import cli
from parallel_nono.files import reading
from parallel_nono.files.containers import sources
from parallel_nono.files.writing import content_of
from parallel_nono.formats import Format, encoded, format_named
from parallel_nono.formats.common.text import clues_of_goal
from parallel_nono.puzzle import BLACK_AND_WHITE, BLOT, Block, Clue, Colour, InvalidPuzzle, Puzzle

SAMPLES = Path(__file__).parent / "samples"
TINY = Puzzle.of_grid([[1, 0, 1, 1, 0], [0] * 5, [1, 1, 1, 0, 0], [1, 0, 0, 1, 0]])
WHITE, BLUE, RED = BLACK_AND_WHITE[0], Colour("blue", "a", 0x0000FF), Colour("red", "b", 0xFF0000)
COLOUR = Puzzle.of_grid([[1, 0, 2, 2, 0], [0] * 5, [1, 1, 2, 0, 0], [2, 0, 0, 1, 0]], (WHITE, BLUE, RED))
DOT = Puzzle.of_grid([[1]])
ERROR = None

EXPECTED: dict[str, tuple[str, list[Puzzle | None]]] = {
    "tiny.png": ("png", [TINY]),
    "colour.png": ("png", [COLOUR]),
    "glass.png": ("png", [COLOUR]),
    "tiny.gif": ("gif", [TINY]),
    "tiny.bmp": ("bmp", [TINY]),
    "tiny.xpm": ("xpm", [TINY]),
    "colour.xpm": ("xpm", [COLOUR]),
    "tiny.pbm": ("netpbm", [TINY]),
    "pair.pbm": ("netpbm", [TINY, TINY.transposed()]),
    "colour.ppm": ("netpbm", [COLOUR]),
    "tiny.rofl": ("rofl", [TINY]),
    "colour.rofl": ("rofl", [COLOUR]),
    "tiny.jap": ("jap", [TINY]),
    "tiny.js": ("nonograms", [TINY]),
    "colour.page.html": ("nonograms", [COLOUR]),
    "tiny.task.html": ("puzzle-nonograms", [TINY]),
    "tiny.pzprv3": ("pzprv3", [TINY]),
    "tiny.url": ("puzzlink", [TINY]),
    "tiny.penpa.url": ("penpa", [TINY]),
    "links.txt": ("puzzlink", [TINY, TINY, ERROR, TINY]),
    "pair.jcross": ("jcross", [TINY, DOT]),
}
FORMS = [format_named(name) for name in dict.fromkeys(name for name, _ in EXPECTED.values())]
WRITERS = [form for form in FORMS if form.write]


def read(data: bytes | str, name: str = "", source: str = "file") -> list[Puzzle | InvalidPuzzle]:
    """What a file gives, errors in their places; the format found by content if none is named."""
    form = format_named(name) if name else None
    data = data.encode() if isinstance(data, str) else data
    content, warning, form = reading.content_and_format(data, source, form)
    return list(reading._parsed(form, content, source, warning))


def one(data: bytes | str, name: str = "") -> Puzzle:
    (puzzle,) = read(data, name)
    assert isinstance(puzzle, Puzzle), puzzle
    return puzzle


def error_of(data: bytes | str, name: str = "") -> str:
    """The message for a file with one broken puzzle, or one that is broken as a whole."""
    try:
        (error,) = read(data, name)
    except InvalidPuzzle as problem:
        error = problem
    assert isinstance(error, InvalidPuzzle), error
    return str(error)


def lines_of(puzzle: Puzzle) -> list[tuple[Clue, int]]:
    """(clue, cells) of every line."""
    return [(clue, puzzle.width) for clue in puzzle.rows] + [(clue, puzzle.height) for clue in puzzle.columns]


def rows_of(*rows: str) -> list[Clue]:
    return [tuple(Block(BLOT if word == "?" else int(word)) for word in row.split()) for row in rows]


# Samples and round trips.


@pytest.mark.parametrize("file", EXPECTED)
def test_a_sample_is_recognised_by_its_content_and_read(file: str) -> None:
    name, wanted = EXPECTED[file]
    data = (SAMPLES / file).read_bytes()
    assert reading.content_and_format(data, "x", None)[2].name == name
    found = read(data)
    assert [item.digest if isinstance(item, Puzzle) else ERROR for item in found] == [
        puzzle and puzzle.digest for puzzle in wanted
    ]
    for item, puzzle in zip(found, wanted, strict=True):
        if puzzle is not None and format_named(name).picture:
            assert isinstance(item, Puzzle)
            assert item.goal is not None


def test_every_format_here_has_a_sample_that_its_ending_fits() -> None:
    assert all(path in {file.name for file in SAMPLES.iterdir()} for path in EXPECTED)
    for form in FORMS:
        assert any(name == form.name and file.endswith(form.extensions) for file, (name, _) in EXPECTED.items())


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITERS, ids=lambda form: form.name)
@given(puzzle=puzzles(most=9))
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back_or_refused_by_name(form: Format, puzzle: Puzzle) -> None:
    assert form.write is not None
    try:
        data = encoded(form.write([puzzle]))
    except InvalidPuzzle as error:
        assert re.search("carries|can't tell", str(error))  # noqa: PT017 - the other way out is the test
        crowded = any(2 * len(clue) - 1 > cells for clue, cells in lines_of(puzzle))
        assert form.picture or (puzzle.n_colours > 2 and not form.colours) or crowded
        return
    for name in ("", form.name):
        back = one(data, name)
        assert back.digest == puzzle.digest
        if form.picture:
            assert (back.rows, back.columns) == clues_of_goal(back.goal or ())


@given(puzzle=puzzles_of_grids(most=9))
@settings(max_examples=100, deadline=None)
def test_a_png_keeps_every_picture_whose_background_can_be_told(puzzle: Puzzle) -> None:
    """By trying: all pictures but those that show a white ink and no background."""
    goal = puzzle.goal or ()
    seen = {cell for row in goal for cell in row}
    white = any(puzzle.palette[cell].rgb == 0xFFFFFF for cell in seen if cell)
    form = format_named("png")
    assert form.write is not None
    if white and 0 not in seen:
        with pytest.raises(InvalidPuzzle, match="can't tell the background"):
            form.write([puzzle])
    else:
        assert one(form.write([puzzle])).digest == puzzle.digest


@pytest.mark.parametrize("name", [form.name for form in WRITERS if form.several])
def test_several_puzzles_keep_their_order(name: str) -> None:
    puzzles = [TINY, DOT, TINY.transposed(), TINY]
    found = read(encoded(content_of(puzzles, name)))
    assert [item.digest for item in found if isinstance(item, Puzzle)] == [puzzle.digest for puzzle in puzzles]
    assert [item.index for item in found] == [1, 2, 3, 4]
    assert len({item.name for item in found}) >= (1 if name == "penpa" else 4)


@pytest.mark.parametrize("name", [form.name for form in WRITERS if not form.several])
def test_a_second_puzzle_is_refused(name: str) -> None:
    with pytest.raises(InvalidPuzzle, match="carries exactly one puzzle a file, found 2"):
        content_of([TINY, TINY], name)


@pytest.mark.parametrize("name", [form.name for form in WRITERS if form.blots])
def test_blots_are_kept(name: str) -> None:
    puzzle = Puzzle(tuple(rows_of("? 1", "", "?", "2")), tuple(rows_of("1 ?", "?", "", "1", "1")))
    assert one(encoded(content_of([puzzle], name))).digest == puzzle.digest


@pytest.mark.parametrize("name", [form.name for form in WRITERS if form.picture])
def test_a_picture_format_wants_a_goal_that_obeys_the_clues(name: str) -> None:
    with pytest.raises(InvalidPuzzle, match="carries the picture, not the clues, found no goal"):
        content_of([replace(TINY, goal=None)], name)
    with pytest.raises(InvalidPuzzle, match="the goal breaks the clue of row 1: expected 1 2, found 0"):
        content_of([replace(TINY, goal=((0,) * 5,) * 4)], name)


def test_crlf_and_encodings_change_nothing_in_text_and_nothing_is_decoded_in_pictures() -> None:
    for form in WRITERS:
        content = content_of([TINY], form.name)
        if isinstance(content, str):
            for data in (
                content.replace("\n", "\r\n").encode(),
                content.encode("utf-16"),
                b"\xef\xbb\xbf" + content.encode(),
            ):
                assert one(data).digest == TINY.digest
        else:
            assert reading.content_and_format(content, "x.non", None)[0] is content


# Addresses.


@pytest.mark.parametrize(
    "address",
    [
        "https://puzz.link/p?nonogram/4/3/111i1g12h1g",
        "https://puzz.link/p?nonogram/4/3/111i1g12h1",
        "http://pzv.jp/p.html?nonogram/4/3/111i1g12h1g/",
        "https://pzprxs.vercel.app/p?type=editor&nonogram_edit/4/3/111i1g12h1g",
        "nonogram/4/3/111i1g12h1g",
        "p?nonogram/4/3/111i1g12h1g",
        "[InternetShortcut]\nIconIndex=0\nURL=https://puzz.link/p?nonogram/4/3/111i1g12h1g",
    ],
)
def test_addresses_of_all_hosts_are_read_columns_first_and_from_the_grid_outwards(address: str) -> None:
    puzzle = one(address + "\n")
    assert puzzle.rows == tuple(rows_of("2 1", "", "1"))
    assert puzzle.columns == tuple(rows_of("1 1", "1", "", "1"))


def test_an_address_may_stand_in_the_place_of_a_file() -> None:
    address = "https://puzz.link/p?nonogram/4/3/111i1g12h1g"
    (puzzle,) = parallel_nono.read(address)
    assert puzzle.rows == tuple(rows_of("2 1", "", "1"))
    assert (puzzle.name, puzzle.source) == ("address", address)
    assert [p.digest for p in parallel_nono.read([address, SAMPLES / "tiny.url"])] == [puzzle.digest, TINY.digest]
    for other in ("https://webpbn.com/1", "https://puzz.link/p?slither/5/5/g1b2c3"):
        (error,) = parallel_nono.read(other, errors="yield")
        assert isinstance(error, InvalidPuzzle)
        assert str(error).startswith(other)


def test_numbers_from_16_on_and_long_gaps_in_addresses() -> None:
    wide = Puzzle.of_grid([[1] * 100 + [0] + [1] * 17 + [0] + [1] * 3, [0] * 122])
    address = content_of([wide], "puzzlink")
    assert "3-11-64" in address
    assert "z" in address
    assert one(address).digest == wide.digest


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("https://puzz.link/p?slither/5/5/g1b2c3", "expected a nonogram, found another puzzle: `slither`"),
        ("https://puzz.link/p?nonogram/5", "expected an address such as"),
        ("https://puzz.link/p?nonogram/x/5/1", "expected width/height/clues, found `x`"),
        ("https://puzz.link/p?nonogram/2/2/1-1", "expected hex digits, `-` and two of them"),
        ("https://puzz.link/p?nonogram/2/2/1_1", "expected hex digits, `-` and two of them"),
        (
            "https://puzz.link/p?nonogram/2/2/11111",
            "expected the end after the slots of 2 columns and 2 rows, found `1`",
        ),
        ("https://puzz.link/p?nonogram/4/3/10g1", "expected `0` alone or lengths from 1, found `0 1`"),
        ("https://puzz.link/p?nonogram/999999999/1/1", "expected a width and a height from 1"),
        ("https://puzz.link/p?nonogram/0/1/", "expected a width and a height from 1"),
    ],
)
def test_a_broken_address_says_what_is_wrong(address: str, message: str) -> None:
    assert error_of(f"# comment\n{address}\n", "puzzlink").startswith("file:2: ")
    assert message in error_of(address, "puzzlink")


def test_addresses_have_labels_and_one_broken_one_takes_no_other_along() -> None:
    found = read((SAMPLES / "links.txt").read_bytes(), source="links.txt")
    assert [item.name for item in found] == ["links#1", "links#hook", "links#3", "Tiny"]
    assert "links.txt:4: expected a nonogram, found another puzzle: `slither`" in str(found[2])


def test_puzzles_that_have_no_room_in_an_address_are_refused() -> None:
    long = Puzzle.of_grid([[1] * 256])
    crowded = Puzzle(((Block(1),) * 4,), ((),) * 3)
    for name in ("puzzlink", "pzprv3"):
        with pytest.raises(InvalidPuzzle, match="at most 2 numbers a line"):
            content_of([crowded], name)
    with pytest.raises(InvalidPuzzle, match="up to 255, found `256`"):
        content_of([long], "puzzlink")
    assert one(content_of([long], "pzprv3")).digest == long.digest


def test_what_was_played_in_a_pzprv3_board_is_no_solution() -> None:
    puzzle = one((SAMPLES / "tiny.pzprv3").read_bytes())
    assert puzzle.goal is None
    assert one((SAMPLES / "tiny.pzprv3").read_text().replace("\n", "/")).digest == TINY.digest
    blots = one("pzprv3/nonogram/1/2/. -2 . /-2 . . /")
    assert blots.rows == ((Block(BLOT),),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pzprv3/nonogram/2/2/. 1 1 /1 . . /", "expected 3 lines of a board 2 high, found `2 lines`"),
        ("pzprv3\nnonogram\n2\n2\n. 1 1\n1 . .\n1 .\n", "file:7: expected 3 words of a board 2 wide, found `2 words`"),
        ("pzprv3/nonogram/2/2/. x 1 /1 . . /1 . . /", "expected block lengths up to 200,000, found `x`"),
        ("pzprv3/nonogram/1/2/. 1 . /. 1 . /. . . /", "expected 2 lines of a board 1 high, found `3 lines`"),
        ("pzprv3/nonogram/", "expected pzprv3/nonogram/HEIGHT/WIDTH/..."),
        ("pzprv3/sudoku/9/9/", "expected a nonogram, found another puzzle: `sudoku`"),
        ("pzprv3/nonogram/999999999/1/", "expected a width and a height from 1"),
    ],
)
def test_a_broken_board_says_what_is_wrong(text: str, message: str) -> None:
    assert message in error_of(text)


# Penpa.


def penpa(text: str) -> str:
    packer = zlib.compressobj(wbits=-15)
    data = base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode()
    return f"https://swaroopg92.github.io/penpa-edit/#m=edit&p={data}"


def board(numbers: str, head: str = "square,4,3,38", space: str = "[1,0,2,0]") -> str:
    """A board 2 x 2, one line above it and two columns to its left; 8 cells to a line, the border included."""
    return penpa(f"{head}\n{space}\nmode\n{{zR:{{z_:[]}},zN:{numbers},zS:zO}}\n")


def test_numbers_in_the_margin_of_a_penpa_board_are_clues() -> None:
    puzzle = one(
        board('{"20":[2,1,"1"],"21":["?",1,"1"],"27":["1",1,"1"],"34":["7",1,"1"],"35":["2",1,"1"],"36":["9",1,"1"]}')
    )
    assert puzzle.columns == tuple(rows_of("2", "?"))
    assert puzzle.rows == tuple(rows_of("1", "7 2"))
    assert puzzle.palette == BLACK_AND_WHITE


def test_a_gap_in_the_margin_ends_a_clue_and_zero_is_an_empty_line() -> None:
    puzzle = one(board('{"20":["1",1,"1"],"26":["5",1,"1"],"35":["0",1,"1"]}'))
    assert puzzle.rows == ((), ())
    assert puzzle.columns == tuple(rows_of("1", ""))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (board("{}"), "expected numbers in the space above and left of the board, found `none`"),
        (board('{"20":["x",1,"1"]}'), "expected block lengths up to 200,000, found `x`"),
        (board('{"20":["1",1,"1"]}', head="hex,4,3,38"), "expected Penpa data of a square board, found `hex,4,3,38`"),
        (board('{"20":["1",1,"1"]}', space="[9,0,2,0]"), "expected a width and a height from 1"),
        (board('{"20":["1",1,"1"]}', space="[1,0]"), "expected the space around the board"),
        (board("[1"), "expected JSON in the Penpa data"),
        (board("[1]"), "expected numbers `zN` in the layer of the setter"),
        (penpa("square"), "expected Penpa data of a square board"),
        ("https://x/#m=edit&p=!!!!", "expected Penpa data (base64 of deflate), found damaged ones"),
        ("https://x/#m=edit&p=////", "expected Penpa data (base64 of deflate), found damaged ones"),
        (board("{}")[:-40], "expected a whole Penpa address, found one whose data are cut off"),
        (penpa("square,4,3\n" + "0" * (20 << 20)), "whose data are of more than 16 MiB"),
    ],
)
def test_a_broken_penpa_address_says_what_is_wrong(address: str, message: str) -> None:
    assert message in error_of(address)


def test_a_penpa_address_keeps_title_and_author() -> None:
    puzzle = replace(TINY, name="One, two", metadata=(("author", "A, B"),))
    back = one(content_of([puzzle], "penpa"))
    assert (back.name, dict(back.metadata)["author"]) == ("One, two", "A, B")


# Pages.


def test_a_page_of_nonograms_gives_name_number_and_picture() -> None:
    puzzle = one((SAMPLES / "colour.page.html").read_bytes())
    assert puzzle.name == "Two flags & a sea"
    assert dict(puzzle.metadata) == {"id": "12345"}
    assert puzzle.goal == COLOUR.goal
    assert [colour.rgb for colour in puzzle.palette] == [0xFFFFFF, 0x0000FF, 0xFF0000]


@given(puzzle=puzzles_of_grids(most=12))
@settings(max_examples=100, deadline=None)
def test_the_array_means_the_picture_by_the_rules_as_they_stand(puzzle: Puzzle) -> None:
    """Decoded here once more, straight from the description."""
    array = eval(content_of([puzzle], "nonograms").removeprefix("var d=").rstrip(";\n"))  # our own output

    def f(x: list[int]) -> int:
        return x[0] % x[3] + x[1] % x[3] - x[2] % x[3]

    width, height, n = f(array[1]), f(array[2]), f(array[3])
    assert (width, height, n) == (puzzle.width, puzzle.height, puzzle.n_colours - 1)
    p = array[4]
    for ink, x in enumerate(array[5 : 5 + n], start=1):
        assert (x[0] - p[1]) << 16 | (x[1] - p[0]) << 8 | (x[2] - p[3]) == puzzle.palette[ink].rgb
    s, q = array[5 + n], array[6 + n]
    runs = array[7 + n :]
    assert len(runs) == (s[0] % s[3]) ** 2 + 2 * (s[1] % s[3]) + s[2] % s[3]
    grid = [[0] * width for _ in range(height)]
    for y in runs:
        for column in range(y[0] - q[0], y[0] - q[0] + y[1] - q[1]):
            grid[y[3] - q[3] - 1][column - 1] = y[2] - q[2]
    assert tuple(map(tuple, grid)) == puzzle.goal


GOOD = content_of([TINY], "nonograms")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("var d=[[7],[1,2,3]];", "expected four numbers, the width, in item 1 of the array"),
        ("var d=[[7],[1,2,3,0]];", "expected a divisor from 1 for the width in item 1"),
        (
            GOOD.replace("[14,30,4,42]", "[14,40,4,42]"),
            "expected a run within 5 columns, 4 rows and 1 colours in item 8",
        ),
        (GOOD.replace(",[17,30,4,45]]", "]"), "expected 5 runs from item 8 of the array on, found `4 runs`"),
        (GOOD.replace("[23,11,31,6]", "[999,11,31,6]"), "expected red, green and blue from 0 to 255 in item 5"),
        (GOOD.replace("[3001,1998,4994,997]", "[999999999,0,0,1000000000]"), "at most 250,000 cells"),
        (GOOD.replace("[2997,1998,4994,997]", "[999999999,0,0,1000000000]"), "expected colours, at least one"),
        (GOOD.replace("2020", "x"), "expected an array `[[...],...]` of numbers"),
        (GOOD.replace("2020", "1" * 5000), "expected an array `[[...],...]` of numbers"),
        ("var d=[[7]", "expected an array `[[...],...]` of numbers"),
        ("var d=[[[7]]]", "expected an array `[[...],...]` of numbers"),
    ],
)
def test_a_broken_array_says_what_is_wrong(text: str, message: str) -> None:
    assert message in error_of(text)
    assert "<html>no puzzle" not in error_of(text)


def test_more_runs_than_announced_are_a_warning() -> None:
    assert "left aside" in one(GOOD.replace("]];", "],[1,1,1,1]];")).warnings[0]


def test_a_page_of_puzzle_nonograms_has_columns_first() -> None:
    task = "var task = '1.1/1//1/2.1//1';"
    puzzle = one(f"<script>var puzzleWidth=4; {task}</script>")
    assert puzzle.rows == tuple(rows_of("2 1", "", "1"))
    square = one("<script>var task = '2/1/1/2';</script>")
    assert "square" in square.warnings[0]
    assert "expected a `puzzleWidth`" in error_of(f"<script>{task}</script>")
    assert "expected 9 column clues, then row clues" in error_of(f"<script>var puzzleWidth = 9; {task}</script>")
    assert "expected clues `var task" in error_of("<script>var task = 'x/y'</script>")
    assert "expected block lengths up to 200,000, found `q`" in error_of("<script>var task = '1/q'</script>")


# JCROSS.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "2\n1 1\n1 0\n1 0\n1 1\n1 0\n",
            "expected the clue of column 1 of puzzle 2, ended by 0, found `the end of the file`",
        ),
        ("1\n1 1\n1 0\n1 0\n7\n", "file:5: expected the end after 1 puzzles, found `7`"),
        ("1\n1 1\n1 x 0\n1 0\n", "expected the clue of row 1 of puzzle 1, ended by 0, found `x`"),
        ("1\n999999 1\n1 0\n", "expected a width and a height from 1"),
        ("999999999\n1 1\n1 0\n1 0\n", "expected the height of puzzle 2 of 999999999, found `the end of the file`"),
    ],
)
def test_broken_jcross_says_what_is_wrong(text: str, message: str) -> None:
    *_, error = read(text, "jcross")
    assert isinstance(error, InvalidPuzzle)
    assert message in str(error)


# ROFL and jap.


def test_the_bytes_of_rofl_are_exactly_these() -> None:
    picture = Puzzle.of_grid([[1, 2], [0, 1]], (WHITE, BLUE, RED))
    wanted = bytes.fromhex(
        "52 4f 46 4c"  # ROFL
        "02 02 02"  # width, height, colours
        "00 00 ff ff 00 00"  # blue, red
        "02 01 01 01 02"  # row 1: two groups, a blue cell, a red cell
        "01 01 01"  # row 2: a blue cell
        "01 01 01"  # column 1
        "02 01 02 01 01"  # column 2
    )
    assert content_of([picture], "rofl") == wanted
    assert one(wanted).digest == picture.digest
    assert one(wanted).palette[1:] == picture.palette[1:]


def test_every_cut_and_every_changed_byte_of_rofl_is_read_or_refused() -> None:
    data = content_of([COLOUR], "rofl")
    for cut in range(4, len(data)):
        assert "expected" in error_of(data[:cut])
    assert "1 more bytes" in error_of(data + b"\0")
    for place in range(4, len(data)):
        for value in (0, 1, 3, 255):
            changed = data[:place] + bytes([value]) + data[place + 1 :]
            (item,) = read(changed)
            assert isinstance(item, Puzzle) or "expected" in str(item)


def test_rofl_has_room_for_255_and_no_more() -> None:
    assert one(content_of([Puzzle.of_grid([[1] * 255])], "rofl")).width == 255
    for puzzle in (Puzzle.of_grid([[1] * 256]), Puzzle.of_grid([[0]] * 256)):
        with pytest.raises(InvalidPuzzle, match="carries at most 255"):
            content_of([puzzle], "rofl")


def test_broken_jap_says_what_is_wrong() -> None:
    data = (SAMPLES / "tiny.jap").read_bytes()
    assert "expected a goal of 20 cells" in error_of(data[:-1])
    assert "expected flags 00 or 80, found `c0" in error_of(data[:7] + b"\xc0" + data[8:])
    assert one(data[:7] + b"\0" + data[8:-20]).goal is None
    assert "expected a width and a height from 1" in error_of(data[:8] + b"\0" + data[9:])


# Pictures.


def picture(kind: str, mode: str, size: tuple[int, int], pixels: list[object], **more: object) -> bytes:
    image = Image.new(mode, size)
    image.putdata(pixels)
    out = io.BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


K, W, R, G = (0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 200, 0)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "PPM"])
def test_white_is_the_background_else_the_corner(kind: str) -> None:
    puzzle = one(picture(kind, "RGB", (2, 2), [R, W, K, R]))
    assert puzzle.goal == ((2, 0), (1, 2))  # from the darkest ink on
    assert [colour.name for colour in puzzle.palette] == ["white", "black", "red"]
    corner = one(picture(kind, "RGB", (2, 2), [G, R, K, G]))
    assert corner.goal == ((0, 2), (1, 0))
    assert corner.palette[0].rgb == 0x00C800
    assert "the colour of the corner" in corner.warnings[0]


def test_transparent_cells_are_the_background_and_white_is_an_ink_then() -> None:
    puzzle = one(picture("PNG", "RGBA", (2, 2), [(9, 9, 9, 127), (*W, 255), (*K, 128), (0, 0, 0, 0)]))
    assert puzzle.goal == ((0, 2), (1, 0))
    assert len({colour.rgb for colour in puzzle.palette}) == 3


@pytest.mark.parametrize(
    ("mode", "pixels"), [("1", [0, 255]), ("L", [0, 255]), ("LA", [(0, 255), (0, 0)]), ("I;16", [0, 65535])]
)
def test_grey_pictures_are_black_and_white(mode: str, pixels: list[object]) -> None:
    puzzle = one(picture("PNG", mode, (2, 1), pixels))
    assert (puzzle.palette, puzzle.goal) == (BLACK_AND_WHITE, ((1, 0),))


def test_a_picture_in_one_colour_is_all_ink_unless_it_is_white() -> None:
    assert one(picture("PNG", "RGB", (2, 1), [K, K])).goal == ((1, 1),)
    assert one(picture("PNG", "RGB", (2, 1), [W, W])).goal == ((0, 0),)


def test_too_many_colours_or_cells_point_elsewhere() -> None:
    many = [(8 * i, 0, 0) for i in range(31)] + [W]
    assert "expected at most 30 colours besides the background" in error_of(picture("PNG", "RGB", (32, 1), many))
    assert one(picture("PNG", "RGB", (31, 1), many[1:])).n_colours == 31
    for kind in ("PNG", "GIF", "BMP"):
        message = error_of(picture(kind, "L", (151, 1), [0] * 151))
        assert "expected a picture of 1 x 1 to 150 x 150 pixels" in message
        assert "`pnono from-image`" in message
    photo = io.BytesIO()
    Image.new("RGB", (8, 8)).save(photo, "JPEG")
    assert "found a JPEG picture: `pnono from-image` makes puzzles of it" in error_of(photo.getvalue())
    with pytest.raises(InvalidPuzzle, match="carries at most 150 x 150 cells and 30 inks"):
        content_of([Puzzle.of_grid([[1] * 151])], "png")


def test_an_enlarged_picture_is_read_as_it_is_with_a_warning() -> None:
    grid = [[(x * y) % 3 == 1 for x in range(8)] for y in range(6)]
    large = [[int(grid[y // 3][x // 3]) for x in range(24)] for y in range(18)]
    puzzle = one(content_of([Puzzle.of_grid(large)], "png"))
    assert puzzle.width == 24
    assert "enlarged 3 times" in puzzle.warnings[0]
    assert "enlarged 3 times" in one(content_of([Puzzle.of_grid(large)], "netpbm")).warnings[0]
    assert not one(content_of([Puzzle.of_grid([[1] * 10] * 10)], "png")).warnings[1:]


@pytest.mark.parametrize("kind", ["GIF", "PNG"])
def test_an_animation_gives_all_its_pictures(kind: str) -> None:
    frames = [Image.fromarray(np.array([row], np.uint8) * 255) for row in ([0, 1, 1], [1, 1, 0], [0, 0, 1])]
    out = io.BytesIO()
    frames[0].save(out, kind, save_all=True, append_images=frames[1:])
    found = read(out.getvalue())
    assert [puzzle.goal for puzzle in found] == [((1, 0, 0),), ((0, 0, 1),), ((1, 1, 0),)]
    assert [(puzzle.name, puzzle.index) for puzzle in found] == [("file#1", 1), ("file#2", 2), ("file#3", 3)]


def test_a_picture_that_claims_to_be_huge_makes_no_room() -> None:
    small = bytearray(content_of([TINY], "png"))
    one(content_of([TINY], "png"))  # what Pillow imports is not counted
    tracemalloc.start()
    try:
        for side in (151, 10_000, 60_000, 1 << 30):
            small[16:24] = side.to_bytes(4) * 2
            small[29:33] = zlib.crc32(small[12:29]).to_bytes(4)
            assert "150 x 150" in error_of(bytes(small))
        for head in (b"P4 999999999 999999999\n", b"P1 4000 4000\n", b"P6 100 100 255\n", b"P3 100 100 255\n1"):
            assert "expected" in error_of(head + b"\0")
        for text in (
            '/* XPM */ "999999999 1 1 1"',
            "nonogram/99999/99999/1",
            "var d=[[1],[999999999,0,0,1000000000],[1]]",
        ):
            assert "expected" in error_of(text, "xpm" if "XPM" in text else "puzzlink" if "/9" in text else "nonograms")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("data", "goal"),
    [
        (b"P1\n#c\n3 1 #d\n1 #e 1\n01", ((1, 0, 1),)),
        (b"P1 3 1 101", ((1, 0, 1),)),
        (b"P4\n9 2\n\xff\x80\x00\x80", ((1,) * 9, (0,) * 8 + (1,))),
        (b"P2 3 1 3 0 3 0", ((1, 0, 1),)),
        (b"P5 3 1 255\n\x00\xff\x00", ((1, 0, 1),)),
        (b"P5 3 1 65535\n\x00\x00\xff\xff\x00\x00", ((1, 0, 1),)),
        (b"P6 2 1 255\n\x00\x00\x00\xff\xff\xff", ((1, 0),)),
    ],
)
def test_all_kinds_of_netpbm_are_read(data: bytes, goal: object) -> None:
    puzzle = one(data)
    assert (puzzle.goal, puzzle.palette) == (goal, BLACK_AND_WHITE)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"P1\n2 2\n1 0\n1", "expected 4 pixels, 0 or 1, found `3 pixels`"),
        (b"P1\n2 2\n1 0\nx", "file:4: expected 0 and 1, found `x`"),
        (b"P4\n9 2\n\xff\x80\x00", "expected 4 bytes of 2 rows, found `3 bytes`"),
        (b"P2 2 1 3 0 4", "expected values up to 3, found `4`"),
        (b"P2 2 1 0 0 0", "expected a largest value from 1 to 65535, found `0`"),
        (b"P6 2 1 255\n\x00\x00", "expected 6 bytes of pixels, found `2 bytes`"),
        (b"P4\n0 2\n\xff", "expected a bitmap of 1 to 16,777,216 pixels"),
    ],
)
def test_broken_netpbm_says_what_is_wrong(data: bytes, message: str) -> None:
    assert message in error_of(data)


def test_what_follows_a_bitmap_is_an_error_of_its_own() -> None:
    first, second = read(b"P1 1 1 1\nP9 1 1")
    assert isinstance(first, Puzzle)
    assert "expected the head of picture 2" in str(second)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('/* XPM */ "2 1 1 1", "x c red"', "expected 1 colours and 1 rows, found `1 strings`"),
        ('/* XPM */ "2 1 1 1", "x c red", "xy"', "expected 2 pixels of 1 characters that stand for colours, found `y`"),
        ('/* XPM */ "2 1 1 1", "x c red", "x"', "expected 2 pixels of 1 characters"),
        ('/* XPM */ "2 1 1 1", "x c nonsense", "xx"', "expected a colour such as `c #ff0000`"),
        ('/* XPM */ "2 1", "x c red", "xx"', "expected `W H COLOURS CHARS`"),
        ("/* XPM */", "expected strings in quotes"),
    ],
)
def test_broken_xpm_says_what_is_wrong(text: str, message: str) -> None:
    assert message in error_of(text)


# In folders, on the command line, and under fire.


def test_a_folder_passes_pictures_by_and_a_named_one_is_a_puzzle(tmp_path: Path) -> None:
    for file in ("tiny.png", "tiny.gif", "tiny.bmp", "tiny.pbm", "tiny.rofl", "tiny.url", "tiny.js"):
        (tmp_path / file).write_bytes((SAMPLES / file).read_bytes())
    (tmp_path / "site.url").write_text("[InternetShortcut]\nURL=https://example.org/\n")
    skipped: list[str] = []
    found = [Path(source.name).name for source in sources([tmp_path], skipped.append)]
    assert found == ["tiny.js", "tiny.pbm", "tiny.rofl", "tiny.url"]
    assert [Path(name).name for name in skipped] == ["site.url", "tiny.bmp", "tiny.gif", "tiny.png"]
    assert [p.digest for p in parallel_nono.read([tmp_path / "tiny.png", f"{tmp_path}/*.gif"])] == [TINY.digest] * 2


def test_a_set_holds_pictures_and_texts_in_their_order() -> None:
    items = [(file, (SAMPLES / file).read_bytes()) for file in ("tiny.png", "tiny.nin", "tiny.rofl", "tiny.nin")]
    batch = reading.read_many([*items, ("broken.png", items[0][1][:40]), *items * 50])
    assert batch.column("digest").to_pylist() == [TINY.digest] * 4 + [""] + [TINY.digest] * 200
    assert "broken.png: expected a PNG picture, found a damaged one" in batch.column("error")[4].as_py()


def command(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main([str(argument) for argument in arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_convert_draws_the_goal_or_the_only_solution(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert command("convert", SAMPLES / "tiny.nin", tmp_path / "x.png") == 0
    assert one((tmp_path / "x.png").read_bytes()).digest == TINY.digest
    assert command("convert", tmp_path / "x.png", tmp_path / "x.nin") == 0
    assert (tmp_path / "x.nin").read_text().split() == (SAMPLES / "tiny.nin").read_text().split()
    capsysbinary.readouterr()
    assert command("convert", tmp_path / "x.png", "-", "--to", "rofl") == 0
    assert capsysbinary.readouterr().out == (SAMPLES / "tiny.rofl").read_bytes()
    assert command("convert", SAMPLES / "pair.pbm", f"{tmp_path}/all/", "--to", "gif") == 0
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["pair-0001.gif", "pair-0002.gif"]


def test_a_puzzle_with_two_solutions_is_no_picture_and_rofl_only_by_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "crossed.nin").write_text("2 2\n1\n1\n1\n1\n")
    for ending in ("png", "rofl"):
        assert command("convert", tmp_path / "crossed.nin", tmp_path / f"x.{ending}") == 3
        assert "stands for the one solution of a puzzle, found 'crossed' (multiple)" in capsys.readouterr().err
        assert not (tmp_path / f"x.{ending}").exists()
    assert command("convert", tmp_path / "crossed.nin", tmp_path / "x.rofl", "--force") == 0
    assert one((tmp_path / "x.rofl").read_bytes()).height == 2


@pytest.mark.slow
@given(st.sampled_from(sorted(EXPECTED)), st.randoms(use_true_random=False))
@settings(max_examples=400, deadline=None)
def test_a_damaged_file_is_read_or_refused(file: str, luck: random.Random) -> None:
    data = bytearray((SAMPLES / file).read_bytes())
    for _ in range(luck.choice((1, 1, 2, 6))):
        place = luck.randrange(len(data) + 1)
        kind = luck.randrange(4)
        if kind == 0:
            data[place : place + 1] = bytes([luck.randrange(256)])
        elif kind == 1:
            del data[place : place + luck.choice((1, 2, 20))]
        elif kind == 2:
            data[place:place] = luck.choice((b"999999999", b"-", b"[[", b"\xff\xff", b"?", b"0", b"/", b"\n"))
        else:
            data[place:place] = data[: luck.randrange(len(data) + 1)]
    for form in (None, format_named(EXPECTED[file][0])):
        try:
            content, warning, used = reading.content_and_format(bytes(data), "file", form)
        except InvalidPuzzle as error:
            assert str(error).startswith("file")  # noqa: PT017 - the other way out is below
            continue
        for item in reading._parsed(used, content, "file", warning):
            assert isinstance(item, Puzzle) or str(item).startswith("file")
