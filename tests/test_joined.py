"""Files that hold several puzzles, in every format and put together in every way: all, or an error that says where.

The files are generated, see `joined`; what is particular to one format stands below.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import cache

import pytest
from conftest import SHARED
from joined import (
    A_AGAIN,
    BINARY_WAYS,
    GROUPS,
    TEXT_WAYS,
    A,
    B,
    Misread,
    check_joined,
    judge,
    one_picture,
    pieces_of,
    sample_pieces,
)  # fmt: skip
from PIL import Image

from parallel_nono.files import reading
from parallel_nono.files.writing import content_of
from parallel_nono.formats import FORMATS, Format
from parallel_nono.kinds.numcross import read as read_numcross
from parallel_nono.kinds.strikeout import read as read_strikeout
from parallel_nono.puzzle import BLACK_AND_WHITE, InvalidPuzzle, Puzzle

CASES = SHARED / "cases2"
WAYS = list(dict.fromkeys([*TEXT_WAYS, *BINARY_WAYS]))


def digests(data: str | bytes, name: str = "file", format: str | None = None) -> list[str]:
    """Digest, or error, of each row."""
    batch = reading.read_bytes(data if isinstance(data, bytes) else data.encode(), name, format)
    return [row["digest"] or row["error"] for row in batch.select(["digest", "error"]).to_pylist()]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@pytest.mark.parametrize("group", GROUPS)
def test_files_put_together_give_all_their_puzzles_or_say_where_they_do_not(form: Format, group: str) -> None:
    pieces = pieces_of(form, GROUPS[group])
    if pieces is None:
        pytest.skip(f"{form.name} can't hold these puzzles")
    for way in WAYS:
        if way in (BINARY_WAYS if form.binary else TEXT_WAYS) and not one_picture(form, GROUPS[group], way):
            check_joined(form, pieces, way)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_sample_twice_gives_two_puzzles_or_says_where_it_does_not(form: Format) -> None:
    for piece in sample_pieces(form):
        for way in BINARY_WAYS if form.binary else TEXT_WAYS:
            if not one_picture(form, (A, A), way):
                check_joined(form, [piece, piece], way)


def test_every_format_is_put_together_from_what_it_writes_or_from_samples() -> None:
    for form in FORMATS:
        written = [group for group, puzzles in GROUPS.items() if pieces_of(form, puzzles)]
        assert len(written) >= 2 or form.write is None, form.name
        assert written or list(sample_pieces(form)), form.name


SEVERAL = (
    "nin", "nono", "mk", "cwd", "cwc", "keen", "ish", "syro", "matrix", "xpm", "sgriddler", "sgtsave", "olsak", "dzn",
    "pynonogram", "rofl", "png", "gif", "bmp", "netpbm", "csv", "sgt", "taai", "rosetta", "picross", "pzprv3", "penpa",
    "puzzlink", "nonograms", "puzzle-nonograms",
)  # fmt: skip
"""Formats whose puzzles can follow one another: files put together with a blank line between are read whole."""


@pytest.mark.parametrize("name", SEVERAL)
def test_formats_that_can_be_cut_give_every_puzzle_and_no_error(name: str) -> None:
    (form,) = [form for form in FORMATS if form.name == name]
    binary = form.binary
    for group in ("two", "two of one size", "two squares", "twelve"):
        pieces = pieces_of(form, GROUPS[group])
        if pieces is None:
            continue
        data = (b"" if binary else b"\n").join(piece.data for piece in pieces)
        assert digests(data, f"file{form.extensions[0]}") == [piece.digest for piece in pieces]


def test_the_judge_of_these_tests_sees_what_is_missing_and_what_is_made_up() -> None:
    first, second = (content_of([puzzle], "nin").encode() for puzzle in (A, B))
    data, ends = first + second, [len(first), len(first + second)]
    wanted = [A.digest, B.digest]
    judge(reading.read_bytes(data, "joined.nin"), wanted, data, ends)
    for seen in (first, second, content_of([A_AGAIN], "nin").encode(), first + second + first):
        with pytest.raises(Misread):
            judge(reading.read_bytes(seen, "joined.nin"), wanted, data, ends)
    broken = first + second.replace(b"\n", b"\nx", 1)
    judge(reading.read_bytes(broken, "joined.nin"), wanted, data, ends)  # an error of line 15
    with pytest.raises(Misread, match="names a line from 13 to"):
        judge(reading.read_bytes(b"x\n" + first, "joined.nin", "nin"), wanted, data, ends)  # one of line 1


@pytest.mark.parametrize(
    "text", ["0110\n1001\n\n111\n010\n", "\n\n.##.\n#..#\n\n\n###\n.#.\n\n", "0110\n1001\n----\n111\n010\n"]
)
def test_blank_lines_part_pictures_in_characters(text: str) -> None:
    found = list(reading.read(text.encode()))
    assert [puzzle.goal for puzzle in found] == [((0, 1, 1, 0), (1, 0, 0, 1)), ((1, 1, 1), (0, 1, 0))]
    assert [(puzzle.name, puzzle.index) for puzzle in found] == [("-#1", 1), ("-#2", 2)]


def test_one_bad_picture_in_characters_takes_no_other_along() -> None:
    first, error, last = digests("01\n11\n\n01\n1\n\n11\n01\n", "file.01")
    assert "file.01:5: expected rows of one length, 2 cells, found `1 cells`" in error
    assert first != last


def test_blank_lines_that_are_no_ends_of_pictures_are_told() -> None:
    (spaced,) = reading.read(b"0110\n\n1001\n\n1111\n")
    assert spaced.height == 3
    assert spaced.warnings == ("line 2: blank lines between all rows are left aside",)
    (blanks,) = reading.read(b" X X\n\nXX X\n", format="matrix")
    assert blanks.goal == ((0, 1, 0, 1), (0, 0, 0, 0), (1, 1, 0, 1))
    assert blanks.warnings == ("line 2: a blank line is read as an empty row of the picture",)


def test_cells_that_look_like_a_divider_are_cells() -> None:
    (puzzle,) = reading.read(b"#--#\n----\n-##-\n", format="matrix")
    assert puzzle.goal == ((1, 0, 0, 1), (0, 0, 0, 0), (0, 1, 1, 0))


def test_pictures_of_0_and_1_with_a_blank_line_between_are_no_clues() -> None:
    (form,) = [form for form in FORMATS if form.name == "matrix"]
    for group in GROUPS.values():
        pieces = pieces_of(form, group)
        assert pieces is not None
        assert digests(b"\n".join(piece.data for piece in pieces)) == [piece.digest for piece in pieces]


def test_clues_with_a_blank_line_between_are_still_clues() -> None:
    (puzzle,) = reading.read(b"1\n11\n\n1\n1\n", format="keen")
    assert (puzzle.height, puzzle.width) == (2, 2)
    found = list(reading.read(b"10\n" * 10 + b"\n" + b"10\n" * 10))
    assert [(puzzle.height, puzzle.width) for puzzle in found] == [(10, 10)]


def test_a_copy_of_the_clues_of_a_nin_file_is_left_aside_with_its_line() -> None:
    text = content_of([A], "nin")
    (puzzle,) = reading.read((text + "\n" + text.partition("\n")[2]).encode(), format="nin")
    assert puzzle.digest == A.digest
    assert puzzle.warnings == ("line 15: 12 more lines, a copy of the clues, are left aside",)


def test_a_csv_file_may_have_heads_with_other_fields_in_its_middle() -> None:
    first = "id,rows,columns,author\n1,1/1,2,me\n"
    second = "title,width,height,columns,rows\nx,1,2,1,1/0\n"
    found = list(reading.read((first + second + first).encode(), format="csv"))
    assert [puzzle.digest for puzzle in found] == [found[0].digest, found[1].digest, found[0].digest]
    assert [puzzle.name for puzzle in found] == ["-#1", "x", "-#1"]
    assert dict(found[2].metadata) == {"id": "1", "author": "me"}


def test_width_columns_rows_without_a_height_do_not_run_into_another_puzzle() -> None:
    short = "7\n" + "\n".join(content_of([A], "nono").split("\n")[1:])
    assert digests(short, format="nono") == [A.digest]
    (error,) = digests(short + "\n" + short, format="nono")
    assert error == "file:15: expected the end after rows with as many cells as the columns, found `7`"


def test_names_and_facts_of_pynonogram_go_with_their_own_puzzle() -> None:
    text = "width:1\nheight:1\nrows:1\ncolumns:1\nauthor:me\n"
    (puzzle,) = reading.read(text.encode())
    assert dict(puzzle.metadata) == {"author": "me"}
    first, second = reading.read((text.replace("author:me\n", "solution:1\n") + "title:two\n" + text).encode())
    assert (first.name, second.name) == ("-#1", "two")
    (error,) = digests("width:1\nwidth:2\nheight:1\nrows:1\ncolumns:1\n", format="pynonogram")
    assert error == "file:2: expected each key once, found `width:2`"


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP"])
def test_what_follows_a_picture_and_is_none_is_named_by_its_byte(kind: str) -> None:
    data = content_of([A], kind.lower())
    first, error = digests(data + b"and so on", "a.x", kind.lower())
    assert first == A.digest
    assert f"9 more bytes, from byte {len(data) + 1} on" in error
    assert digests(data + bytes(9), "a.x") == [A.digest]


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA"])
def test_where_a_picture_ends_is_found_in_all_its_kinds(kind: str, mode: str) -> None:
    image = Image.new("RGB", (9, 4), "white")
    for x, y in ((0, 0), (3, 1), (4, 2), (8, 3)):
        image.putpixel((x, y), (0, 0, 0))
    out = io.BytesIO()
    image.convert(mode).save(out, kind, **({"comment": b"two"} if kind == "GIF" else {}))
    alone = digests(out.getvalue())
    assert len(alone) == 1
    assert digests(out.getvalue() * 3) == alone * 3


def test_a_frame_that_is_wrong_is_named() -> None:
    noise = Image.new("RGB", (8, 8), "white")
    for place in range(40):
        noise.putpixel((place % 8, place // 8), (place, 0, 0))
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(out, "PNG", save_all=True, append_images=[noise])
    first, error = digests(out.getvalue(), "a.png")
    assert error.startswith("a.png: picture 2: expected at most 30 colours")
    assert not first.startswith("a.png")


def test_byte_order_marks_and_what_fills_up_a_file_are_left_aside_and_told() -> None:
    text = content_of([A], "mk").encode()
    marked = b"\xef\xbb\xbf" + text
    found = list(reading.read(marked + marked + b"\x1a"))
    assert [puzzle.digest for puzzle in found] == [A.digest] * 2
    assert found[0].warnings == (
        "line 15: a byte order mark or the sign for the end of a file within the text is left aside",
    )
    (padded,) = reading.read(text + bytes(100))
    assert padded.digest == A.digest
    assert padded.warnings == ("line 15: 100 NULs at the end are left aside",)
    (error,) = digests(text + b"\0\0" + text, "a.mk")
    assert error == f"a.mk:15: expected text, found a NUL (byte {len(text) + 1})"


# The kinds' own formats.


NUMCROSS = "title One\n1 2 3\n4 0 5\n5=F\n\n", "title Two\n1 2\n2 1\n\n"
GAP = "\n", "\n\n", "====\n", "---\n", "; more\n"


@pytest.mark.parametrize("gap", ["", *GAP])
def test_number_crosswords_put_together_are_all_read_or_named(gap: str) -> None:
    batch = read_numcross([("a.txt", (NUMCROSS[0] + gap + NUMCROSS[1]).encode())])
    rows = batch.select(["name", "height", "error"]).to_pylist()
    sound = [(row["name"], row["height"]) for row in rows if not row["error"]]
    assert sound == [("One", 2), ("Two", 2)] or (
        ("Two", 2) in sound and any("a.txt:6: " in row["error"] for row in rows)
    )


def test_a_second_crossword_of_a_jpz_file_is_an_error_that_names_its_line() -> None:
    grid = '<grid width="2" height="1"><cell x="1" y="1" number="1"/><cell x="2" y="1" number="2"/></grid>'
    one = f"<crossword-compiler>\n<coded>\n{grid}\n</coded>\n</crossword-compiler>"
    assert read_numcross([("a.jpz", one.encode())]).column("error").to_pylist() == [""]
    two = one.replace("</coded>\n", f"</coded>\n<coded>\n{grid}\n</coded>\n")
    (error,) = read_numcross([("a.jpz", two.encode())]).column("error").to_pylist()
    assert error.startswith("a.jpz:5: expected one coded crossword")
    (error,) = read_numcross([("a.jpz", (one + "\n" + one).encode())]).column("error").to_pylist()
    assert error.startswith("a.jpz:6: ")


def test_json_and_ipuz_put_together_are_all_read_or_named() -> None:
    item = '{"grid": [[1, 2], [2, 1]]}'
    assert read_numcross([("a.json", f"{item}\n{item}\n".encode())]).column("error").to_pylist() == ["", ""]
    tall = item.replace(", [", ",\n [")
    (error,) = read_numcross([("a.json", f"{tall}\n{tall}\n".encode())]).column("error").to_pylist()
    assert error.startswith("a.json:3: ")


@pytest.mark.parametrize("gap", ["", "\n", "\n\n", "# more\n", "====\n", "---\n"])
def test_strips_put_together_are_all_read_or_named(gap: str) -> None:
    batch = read_strikeout([("a.txt", f"6 2\nOOOOOO\n{gap}4 1 OXOO\n".encode())])
    rows = batch.select(["width", "error"]).to_pylist()
    sound = [row["width"] for row in rows if not row["error"]]
    assert sound == [6, 4] or (sound == [4] and any("a.txt:3:" in row["error"] for row in rows))


# The collection of complaints.


def cases() -> Iterator[object]:
    if not CASES.is_dir():
        reason = "needs the folder ../shared beside the checkout (a collection of cases that is not ours to ship)"
        yield pytest.param({}, marks=pytest.mark.skip(reason=reason), id="none")
        return
    with (CASES / "expected.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["case"] == "C86":
                yield pytest.param(row, id=f"{row['file']}#{row['puzzle']}")


@cache
def puzzles_of(file: str) -> tuple[Puzzle | InvalidPuzzle, ...]:
    return tuple(reading.read(CASES / "files" / file, errors="yield"))


@pytest.mark.parametrize("row", list(cases()))
def test_a_case_of_two_puzzles_in_one_file_gives_both(row: dict[str, str]) -> None:
    found = puzzles_of(row["file"])
    goal = [[int(cell != ".") for cell in line] for line in row["solution"].split("/")]
    wanted = Puzzle.of_grid(goal, BLACK_AND_WHITE)
    assert len(found) == 2
    puzzle = found[int(row["puzzle"]) - 1]
    assert isinstance(puzzle, Puzzle)
    assert puzzle.digest == wanted.digest
