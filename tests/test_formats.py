"""Formats: every sample, every pair, every case of the collection of complaints; no text brings a reader down."""

from __future__ import annotations

import csv
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import puzzles, puzzles_of_clues, puzzles_of_grids

from parallel_nono.formats import FORMATS, Format, files, format_named, recognise
from parallel_nono.formats.decode import decode
from parallel_nono.formats.text import labelled, stem
from parallel_nono.puzzle import BLACK_AND_WHITE, Block, Colour, InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import plain_palette, puzzles_of, set_of

SAMPLES = Path(__file__).parent / "samples"
TINY = Puzzle.of_grid([[1, 0, 1, 1, 0], [0] * 5, [1, 1, 1, 0, 0], [1, 0, 0, 1, 0]])
SQUARE = Puzzle.of_grid([row[:4] for row in TINY.goal or ()])
INKS = (BLACK_AND_WHITE[0], Colour("blue", "a", 0x0000FF), Colour("red", "b", 0xFF0000))
COLOUR = Puzzle.of_grid([[1, 0, 2, 2, 0], [0] * 5, [1, 1, 2, 0, 0], [2, 0, 0, 1, 0]], INKS)
ERROR = None

EXPECTED: dict[str, tuple[str, list[Puzzle | None]]] = {
    "tiny.nin": ("nin", [TINY]),
    "tiny.mk": ("mk", [TINY]),
    "tiny.cwd": ("cwd", [TINY]),
    "tiny.sgt": ("sgt", [TINY]),
    "square.taai": ("taai", [SQUARE, Puzzle.of_grid([[1, 0], [0, 0]])]),
    "tiny.non": ("non", [TINY]),
    "tiny.pynonogram.non": ("non", [TINY]),
    "tiny.g": ("olsak", [TINY]),
    "tiny.xml": ("webpbn", [TINY]),
    "tiny.toml": ("nonogrid", [TINY]),
    "tiny.ini": ("pynogram", [TINY]),
    "tiny.pzl": ("pzl", [TINY]),
    "tiny.json": ("json", [TINY]),
    "colour.non": ("non", [COLOUR]),
    "nonny.non": ("non", [COLOUR]),
    "colour.g": ("olsak", [COLOUR]),
    "colour.xml": ("webpbn", [COLOUR, ERROR, TINY]),
    "colour.toml": ("nonogrid", [COLOUR]),
    "colour.ini": ("pynogram", [COLOUR]),
    "colour.pzl": ("pzl", [COLOUR]),
    "colour.json": ("json", [COLOUR, COLOUR, ERROR, TINY]),
    "bundle.nonpack": ("non", [TINY, ERROR, TINY]),
}

WRITERS = [form for form in FORMATS if form.write]


def parsed(form: Format, text: str, source: str = "x") -> list[Puzzle | InvalidPuzzle]:
    """What the format's own reader gives, an error of the whole file included."""
    return list(files._parsed(form, text, source, ""))


def error_of(name: str, text: str) -> str:
    """The message for a text with one broken puzzle."""
    found = parsed(format_named(name), text, "file")
    assert len(found) == 1
    assert isinstance(found[0], InvalidPuzzle), found
    return str(found[0])


# Samples.


def test_there_is_a_sample_of_every_format() -> None:
    assert {name for name, _ in EXPECTED.values()} == {form.name for form in FORMATS}
    assert {path.name for path in SAMPLES.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("file", EXPECTED)
def test_a_sample_is_recognised_by_its_content_alone(file: str) -> None:
    form = recognise((SAMPLES / file).read_text("utf-8"))
    assert form is not None
    assert form.name == EXPECTED[file][0]


@pytest.mark.parametrize("file", EXPECTED)
def test_a_sample_gives_the_puzzles_that_it_shows(file: str) -> None:
    found = list(files.read(SAMPLES / file, errors="yield"))
    wanted = EXPECTED[file][1]
    assert [p.digest if isinstance(p, Puzzle) else ERROR for p in found] == [p.digest if p else ERROR for p in wanted]
    for puzzle, right in zip(found, wanted, strict=True):
        if isinstance(puzzle, Puzzle) and right is not None and puzzle.goal is not None:
            assert puzzle.goal == right.goal or puzzle.n_colours > 2
            assert not puzzle.warnings


@pytest.mark.parametrize("file", EXPECTED)
def test_a_set_holds_the_same_puzzles_as_the_objects(file: str) -> None:
    found = list(files.read(SAMPLES / file, errors="yield"))
    batch = files.read_bytes((SAMPLES / file).read_bytes(), str(SAMPLES / file))
    assert [str(p) for p in puzzles_of(batch)] == [str(p) for p in found]


def test_names_facts_and_goals_are_kept_and_entities_decoded_once() -> None:
    (puzzle,) = files.read(SAMPLES / "tiny.non")
    assert puzzle.name == "Tiny & small"
    assert dict(puzzle.metadata) == {
        "catalogue": "samples #1",
        "title": "Tiny & small",
        "by": "The parallel_nono authors",
        "license": "MIT",
    }
    (puzzle,) = files.read(SAMPLES / "tiny.xml")
    assert (puzzle.name, dict(puzzle.metadata)["author"], puzzle.n_colours) == ("Tiny", "The parallel_nono authors", 2)


def test_a_puzzle_without_a_name_is_called_after_its_file() -> None:
    assert [p.name for p in files.read(SAMPLES / "tiny.nin")] == ["tiny"]
    assert [p.name for p in files.read(SAMPLES / "tiny.sgt")] == ["tiny#seed7"]
    assert [p.name for p in files.read(SAMPLES / "square.taai")] == ["square#1", "square#2"]
    assert [p.index for p in files.read(SAMPLES / "bundle.nonpack", errors="yield")] == [1, 2, 3]
    assert labelled("a/b.nin", "", 3, False) == "b#3"
    assert stem("a.tar/b/c.txt.gz") == "c"


# Writing and reading back.


def carries(form: Format, puzzle: Puzzle) -> bool:
    if puzzle.n_colours > 2 and not form.colours:
        return False
    return form.name != "taai" or puzzle.height == puzzle.width


@pytest.mark.parametrize("form", WRITERS, ids=lambda form: form.name)
@given(puzzle=puzzles(most=5))
@settings(max_examples=40)
def test_what_is_written_is_read_back_as_the_same_puzzle(form: Format, puzzle: Puzzle) -> None:
    assert form.write is not None
    if not carries(form, puzzle):
        with pytest.raises(InvalidPuzzle, match=r"found \d"):
            form.write([puzzle])
        return
    if form.name == "taai" and sum(b.length for c in puzzle.rows for b in c) != sum(
        b.length for c in puzzle.columns for b in c
    ):
        return  # with sums that differ a set without sizes may be cut elsewhere
    (back,) = parsed(form, form.write([puzzle]))
    assert isinstance(back, Puzzle), back
    assert back.digest == puzzle.digest


@pytest.mark.parametrize("first", WRITERS, ids=lambda form: form.name)
@pytest.mark.parametrize("second", WRITERS, ids=lambda form: form.name)
def test_every_pair_of_formats_carries_a_puzzle_across(first: Format, second: Format) -> None:
    for puzzle in (SQUARE, TINY, COLOUR):
        if carries(first, puzzle) and carries(second, puzzle):
            text = files.write(parsed(first, files.write([puzzle], first.name)), second.name)  # type: ignore[arg-type]
            (back,) = parsed(second, text)
            assert isinstance(back, Puzzle), back
            assert back.digest == puzzle.digest
            assert recognise(text) is second


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), max_size=12)


@given(
    st.lists(
        st.tuples(puzzles_of_grids(most=5), TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=3)), min_size=1, max_size=3
    )
)
@settings(max_examples=40)
def test_json_carries_everything_that_a_puzzle_has(found: list[tuple[Puzzle, str, dict[str, str]]]) -> None:
    whole = [
        replace(p, name=name, metadata=tuple(facts.items()), index=i, source="x", warnings=("one; two",) * (i % 2))
        for i, (p, name, facts) in enumerate(found, start=1)
    ]
    back = parsed(format_named("json"), files.write(whole, "json"))
    for puzzle, other in zip(whole, back, strict=True):
        assert isinstance(other, Puzzle)
        assert replace(other, name=puzzle.name) == puzzle
        assert other.name == puzzle.name or not puzzle.name.strip()


@pytest.mark.parametrize("name", ["webpbn", "non"])
@given(puzzle=puzzles_of_grids(most=5), title=TEXTS)
@settings(max_examples=40)
def test_goals_and_titles_survive_xml_and_non(name: str, puzzle: Puzzle, title: str) -> None:
    puzzle = replace(puzzle, name=title)
    (back,) = files.read(files.write([puzzle], name).encode())
    assert back.digest == puzzle.digest
    assert back.goal is not None
    assert not back.warnings
    assert back.name == " ".join(title.split()) or not title.strip()
    shades = [[puzzle.palette[cell].rgb for cell in row] for row in puzzle.goal or ()]
    assert [[back.palette[cell].rgb for cell in row] for row in back.goal] == shades


@pytest.mark.parametrize("name", ["webpbn", "json", "olsak", "nonogrid", "pynogram", "pzl"])
def test_a_palette_of_1337_colours_is_carried(name: str) -> None:
    cells = list(range(1, 1337)) + [0] * 4
    palette = plain_palette(1337)
    assert len({colour.rgb for colour in palette}) == 1337
    puzzle = Puzzle.of_grid([cells[i : i + 20] for i in range(0, 1340, 20)], palette)
    (back,) = parsed(format_named(name), files.write([puzzle], name))
    assert isinstance(back, Puzzle), back
    assert (back.n_colours, back.digest) == (1337, puzzle.digest)


def test_a_writer_names_what_it_cannot_carry() -> None:
    with pytest.raises(InvalidPuzzle, match="no colours"):
        files.write([COLOUR], "nin")
    with pytest.raises(InvalidPuzzle, match="exactly one puzzle a file, found 2"):
        files.write([TINY, TINY], "mk")
    with pytest.raises(InvalidPuzzle, match="square"):
        files.write([TINY], "taai")
    with pytest.raises(InvalidPuzzle, match="at most 52 colours"):
        files.write([Puzzle.of_grid([list(range(60))], plain_palette(60))], "non")
    with pytest.raises(InvalidPuzzle, match="shade"):
        files.write([replace(COLOUR, palette=(INKS[0], INKS[1], Colour("blue too", "c", 0x0000FF)))], "pzl")
    with pytest.raises(InvalidPuzzle, match="expected a format among"):
        files.write([TINY], "nonsense")


@pytest.mark.parametrize("name", [form.name for form in WRITERS if form.several])
def test_formats_for_several_puzzles_keep_their_order(name: str) -> None:
    grids = [[[1, 0], [0, 0]], [[1, 1], [0, 1]], [[0, 0], [0, 0]], [[1, 1], [1, 1]]]
    several = [Puzzle.of_grid(grid) for grid in grids]
    back = parsed(format_named(name), files.write(several, name))
    assert [p.digest for p in back if isinstance(p, Puzzle)] == [p.digest for p in several]
    assert [p.index for p in back] == [1, 2, 3, 4]


# The compiled readers.


@pytest.mark.parametrize("name", ["nin", "taai", "sgt"])
@given(found=st.lists(puzzles_of_grids(most=6, most_colours=2), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_pack_gives_what_parse_gives(name: str, found: list[Puzzle], seed: int) -> None:
    form = format_named(name)
    assert form.pack
    found = [p for p in found if carries(form, p)][: 4 if form.several else 1]
    if not found:
        return
    text = files.write(found, name)
    rng = random.Random(seed)
    texts = [text]
    for _ in range(3):  # and of texts with something odd in them
        place = rng.randrange(len(text))
        texts.append(text[:place] + rng.choice("\n\n 0\t1.?/$x:#,") + text[place + rng.randrange(2) :])
    assert_packed_like_parsed(form, [text for text in texts if text.strip()])


def assert_packed_like_parsed(form: Format, texts: list[str]) -> None:
    """Every text that the compiled reader takes is the same set of puzzles as `parse` gives."""
    batch = files.read_many([(f"f{i}.{form.name}", text.encode()) for i, text in enumerate(texts)], form.name)
    before, files.PACK_FROM = files.PACK_FROM, 0
    try:
        packed = files.read_many([(f"f{i}.{form.name}", text.encode()) for i, text in enumerate(texts)], form.name)
    finally:
        files.PACK_FROM = before
    assert packed.to_pylist() == batch.to_pylist()


@pytest.mark.parametrize("name", ["nin", "taai", "sgt"])
def test_pack_takes_the_ordinary_text_itself(name: str) -> None:
    form = format_named(name)
    assert form.pack
    text = files.write([SQUARE], name)
    packed = form.pack([text, "what is this\n", text])
    assert packed.owners.tolist() == [0, 2]
    assert packed.heights.tolist() == packed.widths.tolist() == [4, 4]
    batch = set_of([replace(SQUARE, goal=None)])
    assert packed.lengths.tolist() == 2 * batch.column("lengths").flatten().flatten().to_pylist()


@pytest.mark.parametrize(
    "texts",
    [
        ["2 2\n1\n\n1\n0\n", "2 2\n1\n0\n1\n0\n\n \n", "2 2\n1\n0\n1\n", "1 1\n200001\n1\n", "0 3\n", "1 1\n1\n1\n1\n"],
        ["1 1\n1\n1", "1\t1\n 1 \n1\t\n", "1 1\n0 0\n0\n", "1 1\n00\n0\n", "1 1\n1,\n1\n", "99999999999 1\n1\n1\n"],
    ],
)
def test_odd_nin_texts_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("nin"), texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["$1\n1\n\n1\n\n", "$1\n1\n\n1\n\n\n\n", "$a\n\n\n$b\n1\n1", "$\n1\n1\n", "$1\n$2\n1\n1\n", "1\n$1\n1\n1\n"],
        ["$1\n1\t1\n1\n", "$1\n1\n1\n1\n3\n1\n1\n1\n", "$1\n5\n5\n", "$x\n1 1\n0\n1\n1\n", "$1\n0\n0", "\n$1\n1\n1\n"],
    ],
)
def test_odd_taai_texts_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("taai"), texts)


@pytest.mark.parametrize(
    "texts",
    [
        [
            "1:1/1\n",
            "2:/1/1/\n\n",
            "a\t2x1:1/0/1\nb\t1x1:1/1",
            "2x2:1/1/1\n",
            "1x1:1./1\n",
            "1x1:.1/1\n",
            "3:1..1/1/1\n",
        ],
        ["1x1:1/1,a\n", "5x5#17\n", "# no\n1x1:1/1\n", "1x1:1/1 \n", " 1x1:1/1\n", "x\ty\t1x1:1/1\n", "1x99999999:1\n"],
    ],
)
def test_odd_game_ids_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("sgt"), texts)


# Messages: where, what was expected, what was found.


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nin", "3 3\n1 0 1\n1\n1\n1\n1\n1\n", "file:2: expected `0` alone or lengths from 1, found `1 0 1`"),
        ("nin", "2 2\n1\n1\n1\n", r"file:2: expected 4 lines of row and column \(2 \+ 2\) clues, found `3 lines`"),
        ("nin", "999999999 1\n1\n", "file:1: expected a width and a height from 1 to 200,000"),
        ("nin", "2 x\n1\n", "file:1: expected the width and the height, found `x`"),
        ("nin", "1 1\n?\n1\n", "file:2: expected plain numbers, found a blotted clue.*not supported yet"),
        ("nin", "1 1\n-1\n1\n", "file:2: expected block lengths up to 200,000, found `-1`"),
        ("nin", "1 1\n" + "9" * 5000 + "\n1\n", "file:2: expected block lengths up to 200,000, found `9999"),
        ("nin", "1 1\n١\n1\n", "file:2: expected block lengths"),
        ("mk", "2 1\n1\n1\n1\n", "expected one line `#` between rows and columns, found `0 of them`"),
        ("cwd", "2\n2\n1\n1\n1\n", "expected 2 lines of row clues, a blank line and 2 lines of column clues"),
        ("sgt", "5x5#1234\n", "file:1: expected a descriptive id .*seed only tells"),
        ("sgt", "2x2:1/1/1\n", "file:1: expected 2 column and 2 row clues, found `3 clues`"),
        ("taai", "$1\n1\n2\n4\n", "file:1: expected as many column as row clues"),
        ("olsak", "#t\n: a\n1\n: b\n1\n:\n", r"file:1: triddlers \(`#t`, triangular cells\) are not supported"),
        ("olsak", "#d\n  t:/  black/white  x\n: a\n1\n: b\n1\n:\n", "file:2: triangles .* are not supported"),
        ("olsak", "#d\n  a:a  red\n: a\n1\n: b\n1a\n:\n", "file:4: expected a colour among a behind each number"),
        ("olsak", ": a\n1\n", "file:1: expected a second line that starts with `:`"),
        ("webpbn", "<puzzleset></puzzleset>", "expected a <puzzle>, found `none in the file`"),
        ("webpbn", "<html></html>", "file:1: expected <puzzleset> or <puzzle>, found `<html>`"),
        ("webpbn", "<puzzleset><puzzle>", r"file:1: expected well-formed XML, found no element found \(column 20\)"),
        ("non", "width 1\nheight 1\nrows\n1\n", "expected a section `columns`, found none"),
        ("non", "height 1\nrows\n1\ncolumns\n1\n", "expected `width` and `height`, found no width"),
        ("non", "width 1\nheight 1\nrows\n1\ncolumns\n1\ngoal 11\n", "file:7: expected a goal of 1 cells"),
        ("non", "width 2\nheight 1\nrows\n1a\ncolumns\n1a\n0\ngoal b0\n", "expected a goal of the characters"),
        ("nonogrid", "[clues]\nrows = '1'\n", "expected `columns` in .clues. as a string, found `None`"),
        ("nonogrid", "[clues\n", "expected TOML, found a mistake: .*line 1"),
        ("pynogram", "[clues]\nrows = 1a\ncolumns = 1\n", "file:2: expected a colour among none, found `a`"),
        ("pynogram", "[clues]\nrows = 1\n", "expected `columns =` in a section .clues., found `rows`"),
        ("pzl", "1 1\n1 1\n2 1\n", "expected 2 lengths of column 1, found `the end of the file`"),
        ("pzl", "1\n#ff0000\n1 1\n1 1 0 0 0\n0\n", "file:4: expected a colour of the list at the top, found `0 0 0`"),
        (
            "json",
            '{"rows": [[-1]], "columns": [[1]]}',
            "file: row 1: expected block lengths from 0 to 200,000, found `-1`",
        ),
        ("json", '{"rows": [["one"]], "columns": [[1]]}', "file: row 1: expected a number, found `one`"),
        ("json", '{"rows": [[null]], "columns": [[1]]}', "file: row 1: .*blotted clue"),
        ("json", '{"rows": [[true]], "columns": [[1]]}', "file: row 1: expected block lengths"),
        ("json", '{"rows": [[1]],\n "columns": [[1]}', "file:2: expected JSON, found a mistake: .*column 17"),
        ("json", "[" * 100_000, "expected JSON, found"),
        ("json", '{"a": 1}', "expected clues under two names such as `rows` and `columns`, found `a`"),
        ("json", '{"rows": [[' + "1" * 5000 + ']], "columns": [[1]]}', "expected JSON, found a mistake|expected block"),
    ],
)
def test_a_message_says_where_what_was_expected_and_what_was_found(name: str, text: str, message: str) -> None:
    assert re.search(message, error_of(name, text))


XML = (
    '<?xml version="1.0"?>{dtd}<puzzleset><puzzle><title>{title}</title>'
    '<clues type="rows"><line><count>{n}</count></line></clues>'
    '<clues type="columns"><line><count>1</count></line></clues></puzzle></puzzleset>'
)


def test_xml_declares_no_entities_and_loads_no_dtd() -> None:
    def read(dtd: str, title: str = "x", n: str = "1") -> str:
        (found,) = parsed(format_named("webpbn"), XML.format(dtd=dtd, title=title, n=n))
        return str(found) if isinstance(found, InvalidPuzzle) else found.name

    bomb = '<!DOCTYPE p [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    assert "without entity declarations" in read(bomb, "&b;")
    assert "without entity declarations" in read('<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "&x;")
    assert "without entity declarations" in read('<!DOCTYPE p [<!ENTITY % x SYSTEM "http://127.0.0.1:9/"> %x;]>')
    outside = '<!DOCTYPE pbn SYSTEM "http://127.0.0.1:9/pbn-0.3.dtd">'
    assert read(outside, "Caf&eacute; &amp; &#233;&lt;") == "Café & é<"
    assert read("", "Caf&eacute;") == "Café"
    assert "blotted clue" in read("", n="0")
    assert "blotted clue" in read("", n="?")


def test_truncated_xml_keeps_the_puzzles_before_the_cut() -> None:
    text = (SAMPLES / "colour.xml").read_text("utf-8")
    found = parsed(format_named("webpbn"), text[: text.index("<title>Goal only")])
    assert [type(p) for p in found] == [Puzzle, InvalidPuzzle, InvalidPuzzle]
    assert "expected well-formed XML" in str(found[-1])


def test_a_goal_that_breaks_the_clues_is_a_warning() -> None:
    (puzzle,) = parsed(format_named("non"), files.write([TINY], "non").replace('goal "10', 'goal "11'))
    assert puzzle.warnings == ("the goal breaks the clue of row 1: expected 1 2, found 4",)  # type: ignore[union-attr]


def test_taai_finds_sizes_that_are_not_square_by_the_sums() -> None:
    tall = Puzzle.of_grid([[1, 1, 1, 1, 1], [1, 0, 0, 0, 1], [1, 1, 0, 1, 1]])
    clues = "\n".join("\t".join(str(b.length) for b in clue) for clue in (*tall.columns, *tall.rows))
    (puzzle,) = parsed(format_named("taai"), f"$1\n{clues}\n")
    assert isinstance(puzzle, Puzzle)
    assert puzzle.digest == tall.digest


def test_given_cells_of_a_game_id_are_left_aside_with_a_warning() -> None:
    (puzzle,) = parsed(format_named("sgt"), "2x1:1//1,Aa\n")
    assert isinstance(puzzle, Puzzle)
    assert puzzle.columns == ((Block(1),), ())
    assert "given cells" in puzzle.warnings[0]


@pytest.mark.parametrize(
    "item",
    [
        '{"rows":[[2,1],[],[1]],"columns":[[1,1],[1],[],[1]]}',
        '{"ver":[[2,1],[0],[1]],"hor":[[1,1],[1],[0],[1]]}',
        '{"rowHints":[["2","1"],null,["1"]],"colHints":["1 1","1","","1"]}',
        '{"rowsHints":[[2,1],[],[1]],"columnsHints":[[1,1],[1],[],[1]]}',
        '{"row":[[2,1],0,[1]],"column":[[1,1],1,0,1]}',
        '{"num_rows":3,"num_cols":4,"rows":["2 1","0","1"],"cols":["1 1","1","0","1"]}',
        '{"rows":"2 1\\n0\\n1","cols":"1 1/1/0/1"}',
        '{"rows":[[1,1,0,1],[0],[1]],"cols":[[1,0,1],[1],[0,0,0],[1]]}',
        '[{"rows":[[2,1],[],[1]],"columns":[[1,1],[1],[],[1]]}]',
        '{"goal":["##.#","....","#..."]}',
        '{"goal":[[1,1,0,1],[0,0,0,0],[1,0,0,0]]}',
        '{"solution":"1101/0000/1000"}',
        '{"rows":[[2,1],[],[1]],"columns":[[1,1],[1],[],[1]],"goal":"110100001000"}',
        '{"rows":[[2,1],[],[1]],"columns":[[1,1],[1],[],[1]],"goal":[1,1,0,1,0,0,0,0,1,0,0,0]}',
    ],
)
def test_json_is_read_in_its_usual_shapes(item: str) -> None:
    form = recognise(item)
    assert form is not None
    assert form.name == "json"
    (puzzle,) = parsed(form, item)
    assert isinstance(puzzle, Puzzle), puzzle
    assert puzzle.digest == Puzzle.of_grid([[1, 1, 0, 1], [0] * 4, [1, 0, 0, 0]]).digest
    assert puzzle.goal in (None, ((1, 1, 0, 1), (0,) * 4, (1, 0, 0, 0)))


# Anything may come.


def mutated(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(found) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            del found[place : place + rng.randrange(1, 30)]
        elif kind == 1:
            found[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 4)))
        elif kind == 2:
            found[place:place] = rng.choice([b"999999999", b"-1", b"?", b"\n\n", b"0", b"\0", b"[", b"<", b'"', b"a"])
        elif kind == 3:
            start = rng.randrange(len(found) + 1)
            found[place:place] = found[start : start + rng.randrange(1, 60)]
        else:
            found[place : place + 1] = bytes([rng.randrange(256)])
    return bytes(found)


def sound(data: bytes, name: str, format: str | None = None) -> None:
    """Any bytes give at least one row, each a puzzle or an error that names the file; no exception."""
    batch = files.read_bytes(data, name, format)
    rows = batch.select(["height", "width", "error", "digest", "index"]).to_pylist()
    assert rows
    for row in rows:
        assert bool(row["error"]) == (row["height"] == 0) == (row["digest"] == "")
        assert row["index"] >= 1
        assert not row["error"] or row["error"].startswith(name)
    list(puzzles_of(batch))


@pytest.mark.parametrize("file", EXPECTED)
def test_mutated_samples_never_raise(file: str) -> None:
    rng = random.Random(file)
    data = (SAMPLES / file).read_bytes()
    for _ in range(300):
        sound(mutated(data, rng), file)


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)),
    st.sampled_from([f.name for f in FORMATS]),
)
@settings(max_examples=300)
def test_any_bytes_forced_into_any_format_never_raise(data: bytes, name: str) -> None:
    sound(data, "file", name)
    sound(data, "file")


@given(
    st.lists(
        st.sampled_from(
            [
                "0",
                "1",
                "12",
                "3a",
                "?",
                "\n",
                ":",
                "#",
                "$1",
                "5x5:",
                "/",
                ".",
                ",",
                "\t",
                "width",
                "rows",
                "columns",
                "4",
                "[clues]",
                "=",
                '"""',
                "{",
                "}",
                "[",
                "]",
                "<puzzle>",
                "|",
            ]
        ),
        max_size=40,
    ),
    st.sampled_from([f.name for f in FORMATS]),
)
@settings(max_examples=300)
def test_words_of_the_formats_in_any_order_never_raise(words: list[str], name: str) -> None:
    sound(" ".join(words).encode(), "file", name)


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 300_000,
        " " * 300_000 + "x",
        "[clues]\nrows = 1\ncolumns = 1\n[colors]\na = (blue)" + " " * 200_000 + "xx\n",
        '[colors]\ndefs = ["a = (blue)' + " " * 200_000 + 'xx"]\n[clues]\nrows="1"\ncolumns="1"\n',
        '{"rows": [["1' + " " * 200_000 + 'x y"]], "columns": [[1]]}',
        "width 3\nheight 3\ngoal " + "1\n" + "1" * 200_000 + "!\nrows\n",
        "$1\n1\n" + "\n" * 200_000,
        "$1\n1\t2\n3\n" + "\n" * 20_001,
        "1 1\n" + "\n" * 200_000,
        ":\n" * 20_000,
        "#" * 200_000,
        "<puzzle>" * 50_000,
        "&a;" * 100_000,
        "200000 2000\n",
        "5:" + "/" * 200_000,
        '{"rows": ' * 20_000,
        "\n" * 2_000_000 + "2 1\n1\n1\n0\n",
    ],
    ids=range(17),
)
def test_no_text_takes_time_beyond_its_length(text: str) -> None:
    for name in [None, *(form.name for form in FORMATS)]:
        sound(text.encode(), "file", name)


# The collection of complaints, and real files.

OURS = {
    "non": "non", "nonpack": "non", "pynonogram-non": "non", "nin": "nin", "mk": "mk", "olsak-g": "olsak",
    "pbn-xml": "webpbn", "cwd": "cwd", "taai": "taai", "sgt-id": "sgt", "toml": "nonogrid", "ini": "pynogram",
    "pzl": "pzl", "pzl-bw": "pzl", "json": "json",
}  # fmt: skip


def test_every_case_of_our_formats_is_read_right(shared: Path) -> None:
    cases = defaultdict(list)
    for row in csv.DictReader((shared / "cases/expected.csv").open(encoding="utf-8")):
        if row["format"] in OURS:
            cases[row["file"]].append(row)
    assert len(cases) > 60
    for file, rows in cases.items():
        path = shared / "cases/files" / file
        data = path.read_bytes()
        found = list(files.read(path, errors="yield"))
        form = recognise(decode(data, file)[0], file)
        assert form is not None, file
        assert form.name == OURS[rows[0]["format"]], file
        assert len(found) == len(rows), file
        for puzzle, row in zip(found, rows, strict=True):
            assert isinstance(puzzle, Puzzle) == (row["verdict"] != "error"), (file, puzzle)
            if isinstance(puzzle, InvalidPuzzle):
                assert str(puzzle).startswith(str(path)), puzzle
                continue
            for answer in row["solution"].split(" ; "):
                if answer and "(" not in answer:
                    assert obeys(puzzle, answer), (file, answer)


def obeys(puzzle: Puzzle, answer: str) -> bool:
    """True if the clues are those of the picture, whatever letters it uses for the colours."""
    letters = sorted(set(answer) - {"/", "."})
    place = {letter: c for c, letter in enumerate([".", *letters])}
    # A line of one colour may leave a letter of the palette out, so digests, which rank by first use, are compared.
    shown = Puzzle.of_grid([[place[c] for c in row] for row in answer.split("/")], plain_palette(max(len(place), 2)))
    return shown.digest == puzzle.digest


def test_the_rosetta_puzzle_has_one_digest_in_all_formats(shared: Path) -> None:
    rows = csv.DictReader((shared / "cases/expected.csv").open(encoding="utf-8"))
    names = [row["file"] for row in rows if row["file"].startswith("rosetta/") and row["format"] in OURS]
    assert len(names) >= 13
    assert len({p.digest for name in names for p in files.read(shared / "cases/files" / name)}) == 1


def test_the_same_real_puzzle_has_one_digest_in_two_formats(shared: Path) -> None:
    def digest(name: str) -> str:
        (puzzle,) = files.read(shared / "data" / name)
        return puzzle.digest

    pairs = [
        (f"hard/{name}.nin", f"pynogram_examples/pynogram/examples/{name}.txt")
        for name in (
            "domino",
            "einstein",
            "football",
            "frans_faase",
            "lancaster",
            "MLP",
            "p",
            "smile",
            "teal",
            "winter",
            "xmas",
        )
    ]
    pairs += [
        ("hard/MLP.nin", "nonogrid/examples/MLP.toml"),
        ("hard/LalaFrogKK.nin", "pynogram_examples/pynogram/examples/LalaFrogKK.txt"),
        ("pynogram_examples/pynogram/examples/uk.txt", "nonogrid/examples/UK.toml"),
        ("pynogram_examples/pynogram/examples/hello.txt", "nonogrid/examples/hello.toml"),
        ("jwilk/data/data038.nin", "picross-solver/inputs/jwilk/jwilk-038-bike.non"),
        ("jwilk/data/data091.nin", "picross-solver/inputs/jwilk/jwilk-091-owl.non"),
        ("survey_colour/pbn47.g", "wolter_survey/color_xml/webpbn-color-00047.xml"),
        ("survey_colour/pbn220.g", "wolter_survey/color_xml/webpbn-color-00220.xml"),
        ("survey_colour/org9596.g", "survey_colour/org9596.pzl"),
    ]
    assert {pair: digest(pair[0]) == digest(pair[1]) for pair in pairs} == dict.fromkeys(pairs, True)


def real_files(shared: Path) -> Iterator[files.Source]:
    yield from files.sources([shared / "data"])


def test_all_real_files_are_read(shared: Path) -> None:
    batches = [batch for source in real_files(shared) for batch in files.batches(source)]
    errors = [text for batch in batches for text in batch.column("error").to_pylist() if text]
    assert sum(batch.num_rows for batch in batches) > 5700
    # triddlers, triangles, and two files of solutions
    assert all("not supported" in text or "a file of solutions" in text for text in errors), errors
    assert len(errors) == 11


def test_goals_of_real_files_obey_their_clues(shared: Path) -> None:
    goals = 0
    for folder in ("wolter_survey", "nonogram-db"):
        for puzzle in files.read(shared / "data" / folder, errors="raise"):
            assert puzzle.goal is not None
            assert not puzzle.warnings, (puzzle.source, puzzle.warnings)
            goals += 1
    assert goals == 72


@pytest.mark.parametrize("name", ["nin", "taai", "sgt"])
@given(puzzle=puzzles_of_clues(most=6, most_colours=2, fits=False))
@settings(max_examples=60)
def test_contradictory_puzzles_are_packed_as_they_are_parsed(name: str, puzzle: Puzzle) -> None:
    form = format_named(name)
    if carries(form, puzzle):
        assert_packed_like_parsed(form, [files.write([puzzle], name)])
