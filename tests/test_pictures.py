"""Pictures in the terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import puzzles_of_grids

from parallel_nono.pictures.shades import NEAR, OPEN_SHADES, open_shade
from parallel_nono.pictures.terminal import colour_picture, differences, legend, printable, text_picture
from parallel_nono.puzzle import BLACK_AND_WHITE, Block, Colour, Grid, Puzzle, letter

STUCK = Puzzle(
    ((Block(1), Block(1)), (Block(2),), ()), ((Block(1),), (Block(1),), (Block(1),), (Block(1),)), name="stuck"
)
PARTIAL: Grid = ((-1,) * 4, (-1,) * 4, (0,) * 4)
FLAG = Puzzle.of_grid(
    ((1, 1, 2), (1, 2, 2), (0, 0, 3)),
    (
        Colour("white", ".", 0xFFFFFF),
        Colour("red", "r", 0xFF0000),
        Colour("orange", "o", 0xFF9900),
        Colour("", "n", 0x000080),
    ),
)
TALL = Puzzle.of_grid(((1, 1, 1),) * 12)


def plain(picture: str) -> list[str]:
    """The characters that a terminal shows."""
    return re.sub(r"\x1b\[[0-9;]*m", "", picture).split("\n")


def painted(line: str) -> list[tuple[str, int | None]]:
    """(character, ground) of each place of a painted line."""
    places: list[tuple[str, int | None]] = []
    ground: int | None = None
    for code, char in re.findall(r"\x1b\[([0-9;]*)m|(.)", line):
        if char:
            places.append((char, ground))
        elif code == "0":
            ground = None
        elif "48;2;" in code:
            red, green, blue = map(int, code.split("48;2;")[1].split(";")[:3])
            ground = red << 16 | green << 8 | blue
    return places


def test_letters_stand_beside_their_clues() -> None:
    assert text_picture(STUCK, PARTIAL) == "    1 1 1 1\n1 1 ? ? ? ?\n  2 ? ? ? ?\n    . . . ."


def test_clues_of_a_colour_puzzle_carry_letters_in_text() -> None:
    assert FLAG.goal is not None
    assert text_picture(FLAG, FLAG.goal).split("\n")[-3:] == ["2a 1b a  a  b", "1a 2b a  b  b", "   1c .  .  c"]


def test_numbers_of_two_digits_keep_a_space_between_them_in_text() -> None:
    assert TALL.goal is not None
    assert text_picture(TALL, TALL.goal).split("\n")[0] == "  12 12 12"


def test_without_clues_a_row_is_the_letters_and_nothing_else() -> None:
    assert FLAG.goal is not None
    assert text_picture(FLAG, FLAG.goal, clues=False) == "aab\nabb\n..c"


def test_marked_cells_carry_a_star_in_text() -> None:
    picture = text_picture(STUCK, PARTIAL, clues=False, marks={(0, 1), (2, 3)})
    assert picture == "? ?*? ?\n? ? ? ?\n. . . .*"


def test_cells_have_the_colours_of_the_palette() -> None:
    assert FLAG.goal is not None
    lines = colour_picture(FLAG, FLAG.goal, clues=False).split("\n")
    assert [[ground for _, ground in painted(line)[::2]] for line in lines] == [
        [FLAG.palette[cell].rgb for cell in row] for row in FLAG.goal
    ]


def test_open_cells_are_orange_with_a_question_mark() -> None:
    first, *_, last = colour_picture(STUCK, PARTIAL, clues=False).split("\n")
    assert painted(first) == [(" ", OPEN_SHADES[0]), ("?", OPEN_SHADES[0])] * 4
    assert painted(last) == [(" ", 0xFFFFFF)] * 8


def test_open_cells_stand_out_from_a_palette_with_orange() -> None:
    assert open_shade(FLAG.palette) != OPEN_SHADES[0]
    assert open_shade(STUCK.palette) == OPEN_SHADES[0]


def test_marked_cells_are_in_brackets_in_colour() -> None:
    assert plain(colour_picture(STUCK, PARTIAL, clues=False, marks={(2, 0), (2, 2)}))[2] == "[]  []  "


def test_half_blocks_show_two_rows_in_one_line() -> None:
    picture = colour_picture(TALL, ((0, 1, -1), (1, 0, 0), (1, 1, 1), *TALL.goal[3:]), width=4)  # type: ignore[index]
    lines = picture.split("\n")
    assert plain(picture) == ["▀▀▀"] * 6
    assert re.findall(r"38;2;(\d+;\d+;\d+)", lines[0]) == ["255;255;255", "0;0;0", "255;140;0"]
    assert [ground for _, ground in painted(lines[0])] == [0, 0xFFFFFF, 0xFFFFFF]


def test_an_odd_last_row_leaves_the_ground_of_the_terminal_alone() -> None:
    picture = colour_picture(Puzzle.of_grid(((1, 1, 1),)), ((1, 1, 1),), width=3)
    assert painted(picture) == [("▀", None)] * 3


def test_neighbouring_clues_of_two_digits_have_different_grounds() -> None:
    assert TALL.goal is not None
    clues = painted(colour_picture(TALL, TALL.goal).split("\n")[0])
    assert "".join(char for char, _ in clues).strip() == "121212"
    grounds = [ground for char, ground in clues if char == "1"]
    assert grounds[0] != grounds[1] != grounds[2]


@given(st.integers(0, 0xFFFFFF))
def test_writing_on_any_shade_can_be_read(shade: int) -> None:
    palette = (BLACK_AND_WHITE[0], Colour("ink", "i", shade), Colour("other", "o", 0))
    puzzle = Puzzle.of_grid(((1, 1),), palette)
    code = re.search(r"38;2;(\d+);\d+;\d+;48;2;(\d+);(\d+);(\d+)m2", colour_picture(puzzle, ((1, 1),)))
    assert code is not None
    ink, *ground = map(int, code.groups())

    def light(channels: list[int]) -> float:
        linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    one, other = sorted((light([ink] * 3), light(ground)))
    assert (other + 0.05) / (one + 0.05) >= 4.5, "WCAG 2, level AA"


@given(puzzles_of_grids(most=9), st.integers(9, 40), st.booleans(), st.booleans(), st.data())
def test_a_picture_never_wraps(puzzle: Puzzle, width: int, clues: bool, marked: bool, data: st.DataObject) -> None:
    grid = tuple(tuple(data.draw(st.sampled_from((cell, -1))) for cell in row) for row in puzzle.goal or ())
    marks = {(0, 0)} if marked else set()
    for picture in (text_picture, colour_picture):
        lines = plain(picture(puzzle, grid, width=width, clues=clues, marks=marks))
        assert max(map(len, lines)) <= max(width, len("columns 1-9:"))


@given(puzzles_of_grids(most=9), st.integers(1, 30))
def test_strips_keep_every_cell_in_its_place(puzzle: Puzzle, width: int) -> None:
    assert puzzle.goal is not None
    strips = re.split(r"columns .*:\n", text_picture(puzzle, puzzle.goal, width=width, clues=False))
    rows = zip(*(strip.strip("\n").split("\n") for strip in strips if strip), strict=True)
    letters = ["".join(letter(cell, puzzle.n_colours) for cell in row) for row in puzzle.goal]
    assert ["".join(parts) for parts in rows] == letters


@given(puzzles_of_grids(most=9))
def test_both_pictures_stand_at_the_same_clues(puzzle: Puzzle) -> None:
    assert puzzle.goal is not None
    numbers = [re.findall(r"\d+", line) for line in text_picture(puzzle, puzzle.goal, width=0).split("\n")]
    coloured = [re.findall(r"\d", line) for line in plain(colour_picture(puzzle, puzzle.goal, width=0))]
    assert coloured == numbers


def test_differences_are_the_cells_that_differ() -> None:
    assert differences(((1, 0), (0, 1)), ((0, 0), (0, 2))) == {(0, 0), (1, 1)}


def test_a_legend_names_the_inks_and_black_and_white_needs_none() -> None:
    assert legend(FLAG) == ". white, a red, b orange, c #000080"
    assert legend(STUCK) == ""


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "\x07", "\u202e", "\x9b31m"])
def test_a_name_cannot_command_the_terminal(text: str) -> None:
    assert all(char.isprintable() for char in printable(text))


def test_shades_for_open_cells_are_far_from_each_other() -> None:
    for place, shade in enumerate(OPEN_SHADES):
        for other in OPEN_SHADES[:place]:
            assert sum(abs((shade >> s & 255) - (other >> s & 255)) for s in (0, 8, 16)) > NEAR
