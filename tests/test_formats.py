"""Formats: every sample, every pair of formats, every message; no text brings a reader down."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mutations import lines_mutated, mutated, packed_like_parsed, read_from, sound
from strategies import blotted_puzzles, puzzles, puzzles_of_clues, puzzles_of_grids

from parallel_nono import formats
from parallel_nono.files import reading
from parallel_nono.files.writing import content_of
from parallel_nono.formats import FORMATS, Content, Format, format_named, recognise
from parallel_nono.formats.common.text import fits, labelled, stem
from parallel_nono.puzzle import BLACK_AND_WHITE, BLOT, Block, Colour, InvalidPuzzle, Puzzle
from parallel_nono.puzzleset import plain_palette, puzzles_of, set_of

SAMPLES = Path(__file__).parent / "samples"
TINY = Puzzle.of_grid([[1, 0, 1, 1, 0], [0] * 5, [1, 1, 1, 0, 0], [1, 0, 0, 1, 0]])
SQUARE = Puzzle.of_grid([row[:4] for row in TINY.goal or ()])
INKS = (BLACK_AND_WHITE[0], Colour("blue", "a", 0x0000FF), Colour("red", "b", 0xFF0000))
COLOUR = Puzzle.of_grid([[1, 0, 2, 2, 0], [0] * 5, [1, 1, 2, 0, 0], [2, 0, 0, 1, 0]], INKS)
FULL = Puzzle.of_grid([[1, 1, 1], [1, 0, 0]])
CROSSED = Puzzle.of_grid([[1, 0], [0, 1]])
BARE = replace(SQUARE, goal=None)
ERROR = None

EXPECTED: dict[str, tuple[str, list[Puzzle | None]]] = {
    "tiny.nin": ("nin", [TINY]),
    "tiny.nono": ("nono", [TINY]),
    "tiny.dataset.txt": ("dataset", [TINY]),
    "tiny.mk": ("mk", [TINY]),
    "tiny.cwd": ("cwd", [TINY]),
    "tiny.cwc": ("cwc", [TINY]),
    "colour.cwc": ("cwc", [COLOUR]),
    "tiny.sgt": ("sgt", [TINY]),
    "tiny.sav": ("sgtsave", [TINY]),
    "square.taai": ("taai", [SQUARE, Puzzle.of_grid([[1, 0], [0, 0]])]),
    "tiny.non": ("non", [TINY]),
    "colour.non": ("non", [COLOUR]),
    "nonny.non": ("non", [COLOUR]),
    "bundle.nonpack": ("non", [TINY, ERROR, TINY]),
    "tiny.pynonogram.non": ("pynonogram", [TINY]),
    "tiny.g": ("olsak", [TINY]),
    "colour.g": ("olsak", [COLOUR]),
    "tiny.xml": ("webpbn", [TINY]),
    "colour.xml": ("webpbn", [COLOUR, ERROR, TINY]),
    "tiny.nonogram": ("freenono", [TINY, ERROR, TINY]),
    "tiny.toml": ("nonogrid", [TINY]),
    "colour.toml": ("nonogrid", [COLOUR]),
    "tiny.ini": ("pynogram", [TINY]),
    "colour.ini": ("pynogram", [COLOUR]),
    "tiny.pzl": ("pzl", [TINY]),
    "colour.pzl": ("pzl", [COLOUR]),
    "tiny.json": ("json", [TINY]),
    "dataset.json": ("json", [TINY, TINY.transposed()]),
    "colour.json": ("json", [COLOUR, COLOUR, ERROR, TINY]),
    "tiny.csv": ("csv", [TINY, ERROR, TINY]),
    "colour.csv": ("csv", [COLOUR, TINY]),
    "tiny.keen.txt": ("keen", [TINY]),
    "tiny.ish.txt": ("ish", [TINY]),
    "tiny.syro.txt": ("syro", [TINY]),
    "tiny.faase.txt": ("faase", [TINY]),
    "nonogeek.faase.txt": ("faase", [TINY]),
    "tiny.makhorin.txt": ("makhorin", [TINY]),
    "tiny.bosch.lp": ("bosch", [TINY]),
    "tiny.asp.lp": ("asp", [TINY]),
    "tiny.dzn": ("dzn", [TINY]),
    "challenge.dzn": ("dzn", [TINY]),
    "ortools.dzn": ("dzn", [TINY]),
    "tiny.sgriddler": ("sgriddler", [TINY]),
    "board.sgriddler": ("sgriddler", [TINY]),
    "tiny.gno": ("gno", [TINY]),
    "tiny.picross.txt": ("picross", [TINY, ERROR, ERROR, TINY]),
    "full.letters.txt": ("rosetta", [FULL, CROSSED]),
    "tiny.01.txt": ("matrix", [TINY]),
    "tiny.nnv": ("matrix", [TINY]),
    "hashes.matrix": ("matrix", [TINY]),
}

SAME_LOOK = {"tiny.nono": "nin", "tiny.dataset.txt": "nin"}
"""Samples that content alone can't tell from a lookalike; all readings fit."""

WRITERS = [form for form in FORMATS if form.write]


def parsed(form: Format, text: Content, source: str = "x") -> list[Puzzle | InvalidPuzzle]:
    """What the format's own reader gives, an error of the whole file included."""
    return list(reading._parsed(form, text, source, ""))


def error_of(name: str, text: str) -> str:
    """The message for a text with one broken puzzle."""
    found = parsed(format_named(name), text, "file")
    assert len(found) == 1
    assert isinstance(found[0], InvalidPuzzle), found
    return str(found[0])


# Samples.


def test_the_folder_of_formats_holds_formats_and_nothing_else() -> None:
    folder = Path(formats.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} == {"__init__", *formats.MODULES}


def test_the_table_says_what_the_formats_say() -> None:
    forms = dict(zip(formats.MODULES, FORMATS, strict=True))
    assert {module: form.extensions for module, form in forms.items()} == formats.MODULES
    assert {module: form.first for module, form in forms.items() if form.binary} == formats.BINARY


@pytest.mark.parametrize("sample", ["tiny.nin", "tiny.non", "tiny.xml", "colour.xml", "tiny.g", "tiny.json"])
def test_a_file_named_after_its_format_is_read_without_the_others(sample: str) -> None:
    form, _ = EXPECTED[sample]
    code = (
        "import sys\nfrom parallel_nono import formats, read\n"
        f"assert list(read({str(SAMPLES / sample)!r}, errors='yield'))\n"
        "print(*[m for m in formats.MODULES if f'parallel_nono.formats.{m}' in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert form in ended.stdout.split()
    assert len(ended.stdout.split()) < 5


def test_there_is_a_sample_of_every_format() -> None:
    found = [reading.content_and_format(path.read_bytes(), path.name, None)[2].name for path in SAMPLES.iterdir()]
    assert set(found) == {form.name for form in FORMATS}
    assert {path.name for path in SAMPLES.iterdir()} >= set(EXPECTED)


@pytest.mark.parametrize("file", EXPECTED)
def test_a_sample_is_recognised_by_its_content_alone(file: str) -> None:
    form = recognise((SAMPLES / file).read_text("utf-8-sig"))
    assert form is not None
    assert form.name == SAME_LOOK.get(file, EXPECTED[file][0])


@pytest.mark.parametrize("file", EXPECTED)
def test_a_sample_gives_the_puzzles_that_it_shows(file: str) -> None:
    found = list(reading.read(SAMPLES / file, errors="yield"))
    wanted = EXPECTED[file][1]
    assert [p.digest if isinstance(p, Puzzle) else ERROR for p in found] == [p.digest if p else ERROR for p in wanted]
    for puzzle, right in zip(found, wanted, strict=True):
        if isinstance(puzzle, Puzzle) and right is not None and puzzle.goal is not None:
            assert puzzle.goal == right.goal or puzzle.n_colours > 2
            assert not puzzle.warnings


@pytest.mark.parametrize("file", EXPECTED)
def test_a_set_holds_the_same_puzzles_as_the_objects(file: str) -> None:
    found = list(reading.read(SAMPLES / file, errors="yield"))
    batch = reading.read_bytes((SAMPLES / file).read_bytes(), str(SAMPLES / file))
    assert [str(p) for p in puzzles_of(batch)] == [str(p) for p in found]


def test_names_facts_and_goals_are_kept_and_entities_decoded_once() -> None:
    (puzzle,) = reading.read(SAMPLES / "tiny.non")
    assert puzzle.name == "Tiny & small"
    assert dict(puzzle.metadata) == {
        "catalogue": "samples #1",
        "title": "Tiny & small",
        "by": "The parallel_nono authors",
        "license": "MIT",
    }
    (puzzle,) = reading.read(SAMPLES / "tiny.xml")
    assert (puzzle.name, dict(puzzle.metadata)["author"], puzzle.n_colours) == ("Tiny", "The parallel_nono authors", 2)


def test_a_puzzle_without_a_name_is_called_after_its_file() -> None:
    assert [p.name for p in reading.read(SAMPLES / "tiny.nin")] == ["tiny"]
    assert [p.name for p in reading.read(SAMPLES / "tiny.sgt")] == ["tiny#seed7"]
    assert [p.name for p in reading.read(SAMPLES / "square.taai")] == ["square#1", "square#2"]
    assert [p.index for p in reading.read(SAMPLES / "bundle.nonpack", errors="yield")] == [1, 2, 3]
    assert labelled("a/b.nin", "", 3, False) == "b#3"
    assert stem("a.tar/b/c.txt.gz") == "c"


# Writing and reading back.


LIMITS: dict[str, Callable[[Puzzle], bool]] = {
    "taai": lambda puzzle: puzzle.height == puzzle.width,
    "rosetta": lambda puzzle: all((*puzzle.rows, *puzzle.columns)),
}
"""What a format can't carry beside colours, blots and clues without a picture: small puzzles only."""


REFUSALS = {
    "gif": "the background", "png": "the background", "bmp": "the background", "xpm": "the background",
    "netpbm": "the background",
    "pzprv3": "numbers a line", "puzzlink": "numbers a line",
}  # fmt: skip
"""What a format may also refuse, and says."""


def carries(form: Format, puzzle: Puzzle) -> bool:
    if (puzzle.n_colours > 2 and not form.colours) or (puzzle.has_blots and not form.blots):
        return False
    if form.picture and (puzzle.goal is None or Puzzle.of_grid(puzzle.goal, puzzle.palette).digest != puzzle.digest):
        return False
    return LIMITS.get(form.name, lambda puzzle: True)(puzzle)


HIDDEN = (Block(BLOT),)


@pytest.mark.parametrize("form", WRITERS, ids=lambda form: form.name)
@given(puzzle=st.one_of(puzzles(most=5), puzzles_of_grids(most=5), blotted_puzzles(most=5)))
@example(puzzle=Puzzle((HIDDEN,), (HIDDEN,)))  # full stops at the end of an address
@example(puzzle=Puzzle((HIDDEN, ()), (HIDDEN, ())))  # a lone 0 beside an empty line
@example(puzzle=Puzzle.of_grid(((0,),)))
@example(puzzle=Puzzle.of_grid(((0, 0), (0, 0), (1, 0))))  # blank lines before the others
@settings(max_examples=40)
def test_what_is_written_is_read_back_as_the_same_puzzle(form: Format, puzzle: Puzzle) -> None:
    assert form.write is not None
    if not carries(form, puzzle):
        with pytest.raises(InvalidPuzzle, match="found"):
            form.write([puzzle])
        return
    if form.name == "taai" and not fits(puzzle.rows, puzzle.columns):
        return  # with sums that differ a set without sizes may be cut elsewhere
    try:
        content = form.write([puzzle])
    except InvalidPuzzle as refusal:
        if REFUSALS[form.name] in str(refusal):
            return
        raise
    (back,) = parsed(form, content)
    assert isinstance(back, Puzzle), back
    assert back.digest == puzzle.digest


BLOTTED = replace(
    TINY, rows=((Block(BLOT), Block(2)), *TINY.rows[1:]), columns=((Block(1), Block(BLOT)), *TINY.columns[1:])
)
PROOFS = (SQUARE, TINY, COLOUR, FULL, BLOTTED)


@pytest.mark.parametrize("first", WRITERS, ids=lambda form: form.name)
def test_every_pair_of_formats_carries_a_puzzle_across(first: Format) -> None:
    carried = [puzzle for puzzle in PROOFS if carries(first, puzzle)]
    assert carried
    for puzzle in carried:
        (here,) = parsed(first, content_of([puzzle], first.name), f"x{first.extensions[0]}")
        assert isinstance(here, Puzzle), here
        assert here.digest == puzzle.digest
        for second in WRITERS:
            if not carries(second, here):
                with pytest.raises(InvalidPuzzle, match="found"):
                    content_of([here], second.name)
                continue
            content = content_of([here], second.name)
            data = content if isinstance(content, bytes) else content.encode()
            (back,) = reading.read(data, second.name)
            assert back.digest == puzzle.digest, second.name
            source = f"x{second.extensions[0]}"
            assert reading.content_and_format(data, source, None)[2] is second


@pytest.mark.parametrize("form", WRITERS, ids=lambda form: form.name)
def test_what_is_written_is_recognised_by_its_content_or_doubted(form: Format) -> None:
    for puzzle in PROOFS:
        if carries(form, puzzle):
            content = content_of([puzzle], form.name)
            data = content if isinstance(content, bytes) else content.encode()
            _, warning, found = reading.content_and_format(data, "x", None)
            assert found is form or "could also be read" in warning or form.name in SHARED_TEXTS, (found.name, warning)


SHARED_TEXTS: tuple[str, ...] = ()
"""Formats whose files may be read as another one's, with the same result."""


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
    back = parsed(format_named("json"), content_of(whole, "json"))
    for puzzle, other in zip(whole, back, strict=True):
        assert isinstance(other, Puzzle)
        assert replace(other, name=puzzle.name) == puzzle
        assert other.name == puzzle.name or not puzzle.name.strip()


@pytest.mark.parametrize("name", ["webpbn", "non"])
@given(puzzle=puzzles_of_grids(most=5), title=TEXTS)
@settings(max_examples=40)
def test_goals_and_titles_survive_xml_and_non(name: str, puzzle: Puzzle, title: str) -> None:
    puzzle = replace(puzzle, name=title)
    (back,) = reading.read(content_of([puzzle], name).encode())
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
    (back,) = parsed(format_named(name), content_of([puzzle], name))
    assert isinstance(back, Puzzle), back
    assert (back.n_colours, back.digest) == (1337, puzzle.digest)


def test_a_writer_names_what_it_cannot_carry() -> None:
    with pytest.raises(InvalidPuzzle, match="no colours"):
        content_of([COLOUR], "nin")
    with pytest.raises(InvalidPuzzle, match="exactly one puzzle a file, found 2"):
        content_of([TINY, TINY], "mk")
    with pytest.raises(InvalidPuzzle, match="square"):
        content_of([TINY], "taai")
    with pytest.raises(InvalidPuzzle, match="at most 52 colours"):
        content_of([Puzzle.of_grid([list(range(60))], plain_palette(60))], "non")
    with pytest.raises(InvalidPuzzle, match="shade"):
        content_of([replace(COLOUR, palette=(INKS[0], INKS[1], Colour("blue too", "c", 0x0000FF)))], "pzl")
    with pytest.raises(InvalidPuzzle, match="expected a format among"):
        content_of([TINY], "nonsense")


@pytest.mark.parametrize("name", [form.name for form in WRITERS if form.several])
def test_formats_for_several_puzzles_keep_their_order(name: str) -> None:
    grids = [[[1, 0], [0, 1]], [[1, 1], [0, 1]], [[1, 0], [1, 1]], [[1, 1], [1, 1]]]
    several = [Puzzle.of_grid(grid) for grid in grids]
    back = parsed(format_named(name), content_of(several, name))
    assert [p.digest for p in back if isinstance(p, Puzzle)] == [p.digest for p in several]
    assert [p.index for p in back] == [1, 2, 3, 4]


# The compiled readers.


PACKERS = [form.name for form in FORMATS if form.pack]


@pytest.mark.slow
@pytest.mark.parametrize("name", PACKERS)
@given(found=st.lists(puzzles_of_grids(most=6, max_colours=4), min_size=1, max_size=4), seed=st.integers(0, 99))
@settings(max_examples=60)
def test_pack_gives_what_parse_gives(name: str, found: list[Puzzle], seed: int) -> None:
    form = format_named(name)
    assert form.pack
    found = [p for p in found if carries(form, p)][: 4 if form.several else 1]
    if not found:
        return
    text = content_of(found, name)
    rng = random.Random(seed)
    texts = [text]
    for _ in range(3):  # and of texts with something odd in them
        place = rng.randrange(len(text))
        texts.append(text[:place] + rng.choice('\n\n 0\t1.?/$x:#,<>&"') + text[place + rng.randrange(2) :])
    assert_packed_like_parsed(form, [text for text in texts if text.strip()])


def assert_packed_like_parsed(form: Format, texts: list[str]) -> None:
    packed_like_parsed([(f"f{i}.{form.name}", text.encode()) for i, text in enumerate(texts)], form.name)


@pytest.mark.parametrize("name", PACKERS)
def test_pack_gives_what_parse_gives_of_spoilt_texts(name: str) -> None:
    form, rng = format_named(name), random.Random(name)
    whole = [(SAMPLES / file).read_bytes() for file, (form_name, _) in EXPECTED.items() if form_name == name]
    whole += [content_of([puzzle], name).encode() for puzzle in PROOFS if carries(form, puzzle)]
    packed_like_parsed([(f"f{i}", mutated(rng.choice(whole), rng)) for i in range(600)], name)
    packed_like_parsed([(f"f{i}", lines_mutated(rng.choice(whole), rng)) for i in range(600)], name)


@pytest.mark.parametrize("name", PACKERS)
def test_the_compiled_reader_takes_files_as_they_are_written(name: str) -> None:
    form = format_named(name)
    assert form.pack
    facts = (("author", "A. Nobody"), ("copyright", "(c) 2026 by A. Nobody"))
    several = [replace(puzzle, name=f"a {n}", metadata=facts) for n, puzzle in enumerate((SQUARE, CROSSED, BARE))]
    several += [replace(COLOUR, name="c", metadata=facts)] if name in ("webpbn", "olsak") else []
    texts = [content_of([puzzle], name).encode() for puzzle in several]
    packed = form.pack([*texts[:1], b"", b"what is this", *texts[1:], texts[0].rstrip()])
    assert packed.owners.tolist() == [0, *range(3, len(several) + 3)]
    batch = reading.read_many([(f"f{form.extensions[0]}", text) for text in texts])
    assert batch.column("lengths").to_pylist() == set_of(several).column("lengths").to_pylist()
    if form.several:
        assert form.pack([content_of(several, name).encode()]).owners.tolist() == [0] * len(several)


@pytest.mark.parametrize("name", ["nin", "taai", "sgt"])
def test_pack_takes_the_ordinary_text_itself(name: str) -> None:
    form = format_named(name)
    assert form.pack
    text = content_of([SQUARE], name)
    packed = form.pack([text.encode(), b"what is this\n", text.encode()])
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


@pytest.mark.parametrize(
    "texts",
    [
        ["2 1\n1\n1\n#\n2\n", "2 1\n1\n1\n##\n2\n", "2 1\n1\n1\n# \n2\n", "2 1\n1\n1\n#x\n2\n", "2 1\n1\n1\n#\n2\n#\n"],
        [
            "2 1\n1\n\n#\n1\n",
            "2 1\n\n1\n1\n#\n2",
            "2 1\n1\n1\n2\n",
            "2 1\n1\n1\n#\n2\n2\n",
            "02 1\n1\n1\n#\n2\n",
            "2 1\n#\n",
        ],
        [
            "2  1 \n 1\n1 \n#\n2\n \n\n",
            "2 1\n1\n1\n#\n2\n2 1\n1\n1\n#\n2\n",
            "0000002 1\n1\n1\n#\n2\n",
            "2 1 1\n1\n1\n#\n2\n",
        ],
    ],
)
def test_odd_mk_texts_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("mk"), texts)


@pytest.mark.parametrize(
    "texts",
    [
        [
            ":\n1\n:\n1\n:\n",
            ":\n1\n:\n1",
            ":\n\n1\n:\n1\n\n",
            ":\n1\n:\n1\n\n:\n",
            "words\n: a\n1\n: b\n1\n: c\n\n",
            ":\n:\n:\n",
        ],
        [
            "#d\n a:x red\n:\n1a\n:\n1a\n:\n",
            "#d\n a:x red\n:\n1\n:\n1\n:\n",
            "#D\n 1:x red\n 0:. #fff\n:\n1\n:\n1\n:\n",
        ],
        [
            "#d\n a:x red\n a:y blue\n:\n1a\n:\n1a\n:\n",
            "#d\n a:x nocolour\n:\n1a\n:\n1a\n",
            "#d\n a:x red/blue\n:\n1a\n:\n1a\n",
        ],
        [
            "#d\n a:x red\n b:y blue\n:\n1b1b\n:\n1b\n\n1b\n:\n",
            "#d\n:\n1\n:\n1\n",
            "#d\n 3:x red\n:\n13\n:\n1\n",
            "#t\n:\n1\n:\n1\n",
        ],
        [
            ":\n1\n:\n1\n:\n1\n",
            ":\n1\n:\n1\n: end\nwords\n\n#d\n",
            ":\n1\n:\n1\n:\n#T\n",
            ":\n1\n:\n1\n:\n:\n1\n:\n1\n:\n",
            ":\n0\n:\n,\n",
            ":\n1 , 1\n:\n1\n0\n1\n",
            ":\n1?\n:\n1\n",
            "BM\n:\n1\n:\n1\n",
        ],
        [
            "#d\n ?:x red\n:\n1?\n:\n1?\n",
            "#d\n ,:x red\n:\n1,\n:\n1,\n",
            ":\n1a\n:\n1a\n",
            ":\n-\n1\n:\n1\n",
            "#d\n a:  red\n:\n1a\n:\n1a\n",
        ],
    ],
)
def test_odd_olsak_texts_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("olsak"), texts)


WIDE = (
    *("©", "é", "“x”", "猫", "😺", "\u00a0", "\u0085", "\u00ad", "\u2028", "\u3000", "\ufeff", "\u2009"),
    *("&copy;", "&eacute;", "a & b", "&amp"),
)
PLACES = ("title", "A.", "Nobody", ":", "4", "goal", "\n")


@pytest.mark.parametrize("name", PACKERS)
@pytest.mark.parametrize("codec", ["utf-8", "latin-1", "utf-16", "cp1252"])
def test_characters_beyond_ascii_are_read_alike(name: str, codec: str) -> None:
    facts = (("author", "A. Nobody"),)
    form = format_named(name)
    text = content_of([replace(SQUARE, name="title", metadata=facts)], name)
    text = text.replace("$1", "$title").replace("4x4:", "title\t4x4:")
    texts = [text.replace(old, wide + old) for wide in WIDE for old in PLACES]
    texts += [text.replace("title", f"title {wide}") for wide in WIDE]
    data = [text.encode(codec, "ignore") for text in texts]
    packed_like_parsed([(f"f{i}.{name}", one) for i, one in enumerate(data)], name)
    if codec == "utf-8" and "A. Nobody" in text:
        assert form.pack
        assert len(form.pack([text.replace("A. N", f"{wide} N").encode() for wide in WIDE[:5]]).owners) == 5


NON = "width 2\nheight 1\nrows\n2\ncolumns\n1\n1\n"


@pytest.mark.parametrize(
    "texts",
    [
        [
            NON,
            NON.rstrip(),
            f"title x\n{NON}",
            f'title "x"\n{NON}',
            f'title " x"\n{NON}',
            f'title ""\n{NON}',
            f"title\n{NON}",
        ],
        [
            f'{NON}goal "11"\n',
            f'{NON}goal "10"\n',
            f'{NON}goal "1"\n',
            f"{NON}goal 11\n",
            f'goal "11"\n{NON}',
            f'{NON}goal "1 1"',
        ],
        [
            f"# a comment\n{NON}",
            f'# by "me"\n{NON}',
            f'# title "me"\n{NON}',
            f'# by "me" \n{NON}',
            f'# "\n{NON}',
            f"#\n{NON}",
            f'# by ""\n{NON}',
        ],
        [
            f'by "a"\nby "b"\n{NON}',
            f'# by "a"\nby "b"\n{NON}',
            f"by a  \n{NON}",
            f"by #a\n{NON}",
            f'by "a" b\n{NON}',
            f"by a&amp;b\n{NON}",
        ],
        [
            f"{NON}====\n{NON}",
            f"{NON}===\n{NON}",
            f"{NON}=====\n{NON}",
            f"{NON}====\n",
            f"====\n{NON}",
            f"{NON}====\n\n====\n{NON}",
            NON + NON,
        ],
        [
            NON.replace("rows\n2", "rows\n\n2\n# x"),
            NON.replace("1\n1\n", "1,1\n1\n"),
            NON.replace("1\n1\n", "1\n\n"),
            NON.replace("2\nc", ",\nc"),
        ],
        [
            NON.replace("width 2", "width 02"),
            NON.replace("width 2", 'width "2"'),
            NON.replace("width 2", "width 2\nwidth 2"),
            NON.replace("rows", "row"),
        ],
        [
            NON.replace("rows", "rows "),
            NON.replace("rows", "Rows"),
            f" {NON}",
            f"\n\n{NON}",
            f"{NON} \n",
            f'{NON}by "x"\n',
            f'{NON}# by "x"\n',
            f"{NON}color a #f00\n",
        ],
        [
            "columns\n1\n1\nrows\n2\nwidth 2\nheight 1\n",
            "width 2\nheight 1\ncolumns\n1\n1\nrows\n2\n",
            f"saved x\n{NON}",
            f"x_-y z\n{NON}",
        ],
    ],
)
def test_odd_non_texts_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("non"), texts)


XML = (
    '<puzzleset><puzzle><title>t</title><clues type="columns"><line><count>1</count></line></clues>'
    '<clues type="rows"><line><count>1</count></line></clues></puzzle></puzzleset>'
)
RED = '<color name="red" char="r">f00</color>'


@pytest.mark.parametrize(
    "texts",
    [
        [
            XML,
            f'<?xml version="1.0"?>{XML}',
            f'\n<?xml version="1.0"?>{XML}',
            f'<?xml version="1.0" encoding="latin-1"?>{XML}',
            f"{XML}x",
            f"{XML}\n",
        ],
        [
            XML.replace("<title>t</title>", text)
            for text in (
                "",
                "<title></title>",
                "<title>a &amp; b</title>",
                "<title> a\n b </title>",
                "<title>a]]></title>",
            )
        ],
        [
            XML.replace("<title>t</title>", text)
            for text in (
                "<id>7</id>",
                "<title>a</title><title>b</title>",
                "<Title>t</Title>",
                "<title>&copy;&quot;\\</title>",
            )
        ],
        [
            XML.replace("<title>t</title>", text)
            for text in (
                "<title>&#169;</title>",
                "<title>&eacute;</title>",
                "<title>&amp</title>",
                "<note>n</note>",
                "<titl>t</titl>",
            )
        ],
        [
            XML.replace("<puzzleset>", text)
            for text in (
                "<puzzleset><title>all</title>",
                "<puzzleset><author>a</author>",
                "<puzzleset>text",
                "<puzzleset><id>1</id>",
            )
        ],
        [
            XML.replace("<puzzle>", f"<puzzle{text}>")
            for text in (
                ' type="grid"',
                ' type="triddler"',
                ' backgroundcolor="x"',
                ' defaultcolor="red"',
                ' defaultcolor="white"',
                ' id="1"',
            )
        ],
        [
            XML.replace("<clues", text + "<clues", 1)
            for text in (
                RED,
                2 * RED,
                '<color name="white" char=" ">eee</color>',
                '<color name="black" char="">000</color>',
                '<color name="red" char="r">no</color>',
            )
        ],
        [
            XML.replace("<count>", text)
            for text in (
                '<count color="red">',
                '<count color="black">',
                '<count color="white">',
                "<count >",
                "<count> ",
                "<count>0",
                "<count>00000000001",
            )
        ],
        [
            XML.replace("<clues", RED + "<clues", 1).replace("<count>", '<count color="red">'),
            XML.replace("<line>", "<line/><line>"),
            XML.replace("<line>", "<line><!-- -->"),
        ],
        [
            XML.replace("</puzzle>", f'<solution type="goal"><image>{text}</image></solution></puzzle>')
            for text in ("|X|", "X", "|.|", "|XX|", "|X||X|", "| X |", "", "|X| |X|")
        ],
        [
            XML.replace("rows", "columns"),
            XML.replace("columns", "rows"),
            XML.replace("rows", "row"),
            XML.replace('<clues type="rows">', '<clues type="rows"> <line/> '),
            XML[:-1],
            XML[:90],
        ],
        [
            XML.replace("</puzzle>", "</puzzle>" + XML[11:-12]),
            XML.replace("</puzzle>", "</puzzle>" + XML[11:-12].replace("<title>t</title>", "<id>3</id>")),
        ],
    ],
)
def test_odd_xml_texts_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("webpbn"), texts)


JSON = '{"name": "n", "rows": [[2]], "columns": [[1], [1]]}'


@pytest.mark.parametrize(
    "texts",
    [
        [
            JSON,
            f"[{JSON}]",
            f"[{JSON}, {JSON}]",
            f"[{JSON},]",
            f'{{"puzzles": [{JSON}]}}',
            f'{{"puzzles": [{JSON}], "x": 1}}',
            f"{JSON}x",
            f"{JSON}\n{JSON}\n",
            f"{JSON} {JSON}",
        ],
        [
            JSON.replace("[[2]]", text)
            for text in (
                "[[2], []]",
                "[[2,0]]",
                "[[0]]",
                "[[0, 0]]",
                "[[02]]",
                "[[2 1]]",
                "[[2,]]",
                "[[-1]]",
                "[[2.0]]",
                "[[true]]",
                "[2]",
                "[]",
                '["2"]',
                "[[2]",
            )
        ],
        [JSON.replace('"rows"', f'"{text}"') for text in ("row", "row_clues", "ver", "Rows", "cols")]
        + [JSON.replace("columns", "cols"), JSON.replace('"columns"', '"column"')],
        [
            JSON.replace('"name": "n"', text)
            for text in (
                '"title": "n"',
                '"name": ""',
                '"name": " n"',
                '"name": "n", "title": "m"',
                '"name": 5',
                '"x": 5',
                '"x": -5',
                '"x": 05',
                '"x": "y"',
                '"x": null',
            )
        ],
        [
            JSON.replace('"name": "n"', text)
            for text in (
                '"width": 2',
                '"width": 3',
                '"height": 1, "width": 2',
                '"height": "9"',
                '"n_rows": 7',
                '"rowCount": 1',
                '"colour": 5',
                '"x": 5.5',
                '"x": [1]',
                '"x": 1e3',
            )
        ],
        [
            JSON.replace('"name": "n"', text)
            for text in (
                '"metadata": {}',
                '"metadata": {"by": "me"}, "x": "y"',
                '"x": "y", "metadata": {"x": "z"}',
                '"metadata": {"a": 5}',
                '"metadata": 5',
                '"x": "\\u00e9"',
            )
        ],
        [
            JSON.replace("]]}", f']], "goal": {text}}}')
            for text in ('["##"]', '["11"]', '["#."]', '["##", "##"]', '"##"', "[[1, 1]]", '["#"]', "null", "[]")
        ]
        + [JSON.replace("{", '{"goal": ["##"], ')],
        [
            JSON.replace("{", "{ \n").replace(":", " :\t").replace("[", "[ ").replace("]", " ]"),
            JSON.replace("}", ', "rows": [[2]]}'),
            JSON.replace("n", "n.jsonl:1", 1) + "\n" + JSON,
            JSON + "\n \n" + JSON,
        ],
        [JSON.replace('"n"', f'"{text}"') + "\n" + JSON for text in ("f0.json:1", "f0:1", "f1", "f0.json", "f0#1")]
        + [JSON.replace(",", ",\n") + "\n" + JSON],
    ],
)
def test_odd_json_texts_are_read_alike(texts: list[str]) -> None:
    assert_packed_like_parsed(format_named("json"), texts)


def test_a_text_is_read_alike_under_every_name() -> None:
    texts = [(path.name, path.read_bytes()) for path in sorted(SAMPLES.iterdir())]
    texts += [(name, content_of([SQUARE], name).encode()) for name in PACKERS]
    endings = [ending for name in PACKERS for ending in format_named(name).extensions]
    items = [
        (f"{name}{ending}", data)
        for name, data in texts
        for ending in (*endings, "", ".txt", ".pynogram.non", ".freenono.xml", ".non.gz", ".png", ".NON")
    ]
    assert read_from(items, None, 0).equals(read_from(items, None, 1 << 60))


@pytest.mark.parametrize("size", ["200000", "200001", "999999999", "99999999999999999999", "0", "00"])
def test_sizes_that_a_text_only_claims_cost_nothing(size: str) -> None:
    texts = {
        "non": NON.replace("2", size),
        "nin": f"{size} {size}\n1\n1\n",
        "mk": f"{size} 1\n1\n#\n1\n",
        "olsak": f":\n{size}\n:\n{size} {size}\n",
        "taai": f"$1\n{size}\n{size}\n",
        "sgt": f"{size}x{size}:1/1\n",
        "webpbn": XML.replace("<count>1", f"<count>{size}"),
        "json": JSON.replace("2", size),
    }
    for name in PACKERS:
        assert_packed_like_parsed(format_named(name), [texts[name], 3 * texts[name]])


# Messages: where, what was expected, what was found.


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nin", "3 3\n1 0 1\n1\n1\n1\n1\n1\n", "file:2: expected `0` alone or lengths from 1, found `1 0 1`"),
        ("nin", "2 2\n1\n1\n1\n", r"file:2: expected 4 lines of row and column \(2 \+ 2\) clues, found `3 lines`"),
        ("nin", "999999999 1\n1\n", "file:1: expected a width and a height from 1 to 200,000"),
        ("nin", "2 x\n1\n", "file:1: expected the width and the height, found `x`"),
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
        ("json", '{"rows": [[true]], "columns": [[1]]}', "file: row 1: expected block lengths"),
        ("json", '{"rows": [[1]],\n "columns": [[1]}', "file:2: expected JSON, found a mistake: .*column 17"),
        ("json", "[" * 100_000, "expected JSON, found"),
        ("keen", "1\n1\n", "expected two blocks of clues with one blank line between them .*, found 1"),
        ("keen", "1\nx\n\n1\n", "file:2: expected block lengths up to 200,000, found `x`"),
        ("syro", "1 0\n1\n\n1 0\n", "file:2: expected a clue that ends with `0`, found `1`"),
        ("faase", "rows\n1\n", "expected a line `columns`, found `none`"),
        ("makhorin", "1\n&\n1\n&\n1\n", "file:5: expected the end after the second `&`, found `1`"),
        ("bosch", "number_of_rows: 1\nnumber_of_columns: 1\nrow_2 a 0 b\n", "file:3: expected `row_1` to `row_1`"),
        ("bosch", "number_of_rows: 1\nnumber_of_columns: 1\nrow_1 a 0 b\n", "found `no column_1`"),
        (
            "bosch",
            "number_of_rows: 1\nnumber_of_columns: 1\nrow_1 a 2 b 1",
            "expected 2 sizes of row_1, found `the end",
        ),
        ("asp", "#const w = 1.\n#const h = 1.\nrow_hint(2, 1, 1).\n", "expected rows from 1 to 1, found row 2"),
        ("asp", "row_hint(1, 1, 1).\nrow_hint(1, 1, 2).\n", "file:2: expected numbers from 1, each block once"),
        ("asp", "row_hint(1, 1).\n", "file:1: expected facts such as"),
        (
            "dzn",
            "rows = 2;\nrow_rules = [|1|];\ncol_rules = [|1|];\n",
            "file:2: expected 2 lines in `row_rules`, found `1`",
        ),
        ("dzn", "row_rules = array2d(1..1,1..2,[1]);\ncol_rules = [|1|];\n", "file:1: expected a table of lines"),
        ("cwc", "1\n1\n1\n1\n2\n1\n1\n", "file:5: expected colours from 1 to 1, found `2`"),
        ("cwc", "1\n1\n1\n1\n1 1\n1\n1\n", "file:5: expected 1 colours, as many as lengths in line 4, found `1 1`"),
        ("cwc", "1\n1\n0\n1\n1\n1\n1\n", "file:3: expected 1 to 65,535 colours, found `0`"),
        ("sgriddler", "MK Version 3.0\n\n1 1 #4 #7\n", "file:3: colours .* are not supported"),
        ("sgriddler", "MK Version 3.0\n\n1 1\n\n ?\n", "file:5: expected clues, or a finished board of 1 cells"),
        ("sgriddler", "MK Version 3.0\n\n1 1\n?\n", "file:4: expected a blank line, found `\\?`"),
        (
            "gno",
            "[Dimensions]\n1\n",
            "expected a section .Dimensions. with the rows, then the columns, found `1 lines`",
        ),
        ("gno", "[Dimensions]\n1\n1\n[Solution]\n3\n", "file:5: expected 1 cells, 1 empty and 2 filled, found `3`"),
        ("gno", "[Dimensions]\n1\n1\n[Row clues]\n1\n", "expected a section .Column clues. or a .Solution., found"),
        ("freenono", "<FreeNono></FreeNono>", "expected a <Nonogram>, found `none in the file`"),
        (
            "freenono",
            '<Nonogram width="2"><line>x</line></Nonogram>',
            "file:1: expected a picture of the width 2, found `1`",
        ),
        ("nono", "999999999 1\n1\n", "file:1: expected a width and a height from 1 to 200,000"),
        ("nono", "2 1\n1\n", r"file:2: expected 3 lines of column and row \(2 \+ 1\) clues, found `1 lines`"),
        ("sgtsave", "SAVEFILE:1:x\nGAME    :5:Mines\n", "file:2: expected a save of Pattern, found one of `Mines`"),
        ("sgtsave", "SAVEFILE:1:x\nGAME    :7:Pattern\nPARAMS  :3:2x2\n", "expected a line `DESC`, found `none`"),
        ("picross", "ROWS\n[ 1 ]\n", "file:1: expected `GRID name`.*, found `ROWS`"),
        ("picross", "GRID x\nROWS\n[ 1 x ]\n", "file:3: expected block lengths up to 200,000, found `x`"),
        ("csv", "rows,columns\n1/1,1-Jan\n", "file:2: expected clues in `columns`, found `a date, as a spreadsheet"),
        ("csv", "id,rows,columns\n1,1\n", "file:2: expected 3 fields parted by `,`, found `2`"),
        ("csv", "a,b\n", "file:1: expected a first line with the fields `rows` and `columns`"),
        ("csv", 'rows,columns\n"1,1\n', "file:3: expected CSV, found a mistake"),
        ("csv", "rows,columns,colours\n1a,1a,a:red\n", "file:2: expected colours such as `a:#0000ff b:#ff0000`"),
        ("rosetta", "A\nA\nA\n", "file:3: expected a line of row clues and a line of column clues"),
        ("rosetta", "a\nA\n", "file:1: expected letters from A .1. to Z .26., found `a`"),
        ("matrix", "01\n0\n", "file:2: expected rows of one length, 2 cells, found `1 cells`"),
        ("pynonogram", "width:1\nheight:1\nrows:1\n", "expected `width:`, .*found `no columns`"),
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


def test_triddlers_triangles_and_drafts_are_refused_by_name() -> None:
    assert "triddlers (`#t`, triangular cells) are not supported" in error_of("olsak", "#t\n: a\n1\n: b\n1\n")
    assert "triangles (cells of two colours) are not supported" in error_of("olsak", "#d\n  t:/  a/b\n: a\n1\n: b\n1\n")
    puzzle = "<puzzleset><puzzle{}>{}</puzzle></puzzleset>"
    assert "type `triddler` are not supported" in error_of("webpbn", puzzle.format(' type="triddler"', ""))
    half = '<color name="half" char="/">f00/00f</color>'
    assert "triangles (cells of two colours) are not supported" in error_of("webpbn", puzzle.format("", half))
    assert "Simpson's XML draft (<nonogram>) is not supported" in error_of("webpbn", '<nonogram matrix="x"/>')


def both(rows: str, columns: str) -> str:
    return f"{len(columns.split('/'))} {len(rows.split('/'))}\n" + f"{rows}/{columns}".replace("/", "\n") + "\n"


@pytest.mark.parametrize(
    ("text", "name", "warning"),
    [
        (
            both("2/0", "1/1"),
            "nin",
            "read as nin, 2 wide and 2 high, first row 2; .* as nono, .* first row 1 .--format nono",
        ),
        (both("1/1/1 1", "2 1/1"), "nin", ""),  # a clue of the columns-first reading does not fit
        ("3 2\n1\n1\n1\n1 1\n1\n", "nono", "read as nono, .*; as nin its sums or lengths don't fit"),
        ("3\n1\n1\n\n3\n1\n1\n", "keen", "as cwd its sums or lengths don't fit"),
        ("2\n2\n1\n1\n\n1\n1\n", "cwd", ""),
    ],
)
def test_what_could_be_read_in_two_ways_is_a_warning(text: str, name: str, warning: str) -> None:
    _, said, form = reading.content_and_format(text.encode(), "text", None)
    assert form.name == name
    assert re.search(warning, said) if warning else not said
    assert reading.content_and_format(text.encode(), f"x{form.extensions[0]}", None)[1] == ""
    assert reading.content_and_format(text.encode(), "text", form)[1] == ""


@pytest.mark.parametrize(
    "text",
    [
        "X XX\n\nXXX\nX  X\n",
        " 1 0 1 1\n 0 0 0 0\n 1 1 1 0\n 1 0 0 1\n",
        "x_xx\n____\nxxx_\nx__x\n",
        "1,0,1,1\n0,0,0,0\n1,1,1,0\n1,0,0,1",
    ],
)
def test_pictures_in_characters_are_read_with_and_without_blanks(text: str) -> None:
    (puzzle,) = parsed(format_named("matrix"), text)
    assert isinstance(puzzle, Puzzle), puzzle
    assert (puzzle.digest, puzzle.goal, puzzle.n_colours) == (SQUARE.digest, SQUARE.goal, 2)


def test_csv_carries_facts_and_long_clues() -> None:
    long = Puzzle.of_grid([[1] * 2048, [0] * 2048], name="long", metadata=(("author", "A. Nobody"), ("id", "x7")))
    back = parsed(format_named("csv"), content_of([TINY, long], "csv"))
    assert [p.digest for p in back if isinstance(p, Puzzle)] == [TINY.digest, long.digest]
    assert back[1].metadata == (("id", "x7"), ("author", "A. Nobody"))  # type: ignore[union-attr]


def test_sizes_that_facts_do_not_give_are_told() -> None:
    (puzzle,) = parsed(format_named("asp"), "row_hint(1, 1, 1). col_hint(2, 1, 1).\n")
    assert isinstance(puzzle, Puzzle)
    assert (puzzle.width, puzzle.height) == (2, 1)
    assert "2 wide and 1 high by the last lines with a fact" in puzzle.warnings[0]


def test_blank_lines_among_clues_without_sizes_are_told() -> None:
    for name, text in (("faase", "rows\n1\n\n1\ncolumns\n2\n"), ("makhorin", "1\n\n1\n&\n2\n")):
        (puzzle,) = parsed(format_named(name), text)
        assert isinstance(puzzle, Puzzle)
        assert "a blank line among the clues is left aside" in puzzle.warnings[0]


def test_relatives_of_columns_first_text_are_read_by_name() -> None:
    for text in ("2\n1\n2\n2\n2\n1\n", "2\n1\n2\n2\n1\n"):
        (puzzle,) = parsed(format_named("nono"), text)
        assert isinstance(puzzle, Puzzle)
        assert puzzle.digest == Puzzle.of_grid([[1, 1], [0, 1]]).digest


@pytest.mark.parametrize(
    "form", [form for form in FORMATS if form.blots and not form.binary], ids=lambda form: form.name
)
def test_blots_are_carried_in_colour_too(form: Format) -> None:
    puzzle = BLOTTED
    if form.colours:
        puzzle = replace(COLOUR, rows=(tuple(Block(BLOT, b.colour) for b in COLOUR.rows[0]), *COLOUR.rows[1:]))
    (back,) = parsed(form, content_of([puzzle], form.name))
    assert isinstance(back, Puzzle), back
    assert back.has_blots
    assert back.digest == puzzle.digest


def test_truncated_xml_keeps_the_puzzles_before_the_cut() -> None:
    text = (SAMPLES / "colour.xml").read_text("utf-8")
    found = parsed(format_named("webpbn"), text[: text.index("<title>Goal only")])
    assert [type(p) for p in found] == [Puzzle, InvalidPuzzle, InvalidPuzzle]
    assert "expected well-formed XML" in str(found[-1])


def test_a_goal_that_breaks_the_clues_is_a_warning() -> None:
    (puzzle,) = parsed(format_named("non"), content_of([TINY], "non").replace('goal "10', 'goal "11'))
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
        '{"rowHints":[["2","1"],"-",["1"]],"colHints":["1 1","1","","1"]}',
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


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(path.name for path in SAMPLES.iterdir()))
def test_mutated_samples_never_raise(file: str) -> None:
    rng = random.Random(file)
    data = (SAMPLES / file).read_bytes()
    for _ in range(100):
        sound(mutated(data, rng), file)


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_huge_sizes_allocate_nothing(form: Format) -> None:
    sample = next(
        path for path in SAMPLES.iterdir() if reading.content_and_format(path.read_bytes(), path.name, None)[2] is form
    )
    data = sample.read_bytes()
    tracemalloc.start()
    try:
        for number in sorted(set(re.findall(rb"(?<![0-9#])[0-9]{1,3}(?![0-9])", data)))[:12]:
            for huge in (b"999999999", b"9" * 5000):
                sound(re.sub(rb"(?<![0-9#])" + number + rb"(?![0-9])", huge, data, count=1), "file", form.name)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)),
    st.sampled_from([f.name for f in FORMATS]),
)
@example(b"2 1\n2\n1\n1\n\x1a", "nin")  # the old sign for the end of a file
@example(b"2 1\n2\n1\n1\n" + b"\0" * 9, "nin")
@example(b"\xef\xbb\xbf2 1\n2\n\xef\xbb\xbf1\n1\n", "nin")
@example(b'{"rows": [null], "columns": [[]]}', "json")
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


LONG = 8_000
WITHIN = 4.0
"""Seconds of processor time; what takes time beyond its length takes many more."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "\n" * LONG,
        " " * LONG + "x",
        "[clues]\nrows = 1\ncolumns = 1\n[colors]\na = (blue)" + " " * LONG + "xx\n",
        '[colors]\ndefs = ["a = (blue)' + " " * LONG + 'xx"]\n[clues]\nrows="1"\ncolumns="1"\n',
        '{"rows": [["1' + " " * LONG + 'x y"]], "columns": [[1]]}',
        "width 3\nheight 3\ngoal " + "1\n" + "1" * LONG + "!\nrows\n",
        "$1\n1\t2\n3\n" + "\n" * LONG,
        "1 1\n" + "\n" * LONG,
        "3\n4\n1\n" + "\n" * LONG,
        ":\n" * LONG,
        "#" * LONG,
        "<puzzle>" * LONG,
        "&a;" * LONG,
        "200000 2000\n",
        "5:" + "/" * LONG,
        '{"rows": ' * LONG,
        "1 0\n" * LONG + "\n1 0\n",
        "rows = 1;\n" * LONG,
        "row_hint(" * LONG,
        "GRID x\nROWS\n" * LONG,
        "rows,columns\n" + '"1\n' * LONG,
        "A A\n" * LONG,
        "01\n" * LONG + "2",
        "MK Version\n" + "1 1\n" * LONG,
    ],
    ids=range(24),
)
def test_no_text_takes_time_beyond_its_length(text: str) -> None:
    for form in [form for form in FORMATS if not form.binary]:
        start = time.process_time()
        form.sniff(text)
        assert parsed(form, text)
        assert time.process_time() - start < WITHIN, form.name


# Real files.


def test_the_same_real_puzzle_has_one_digest_in_two_formats(shared: Path) -> None:
    def digest(name: str) -> str:
        (puzzle,) = reading.read(shared / "data" / name)
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


def real_files(shared: Path) -> Iterator[reading.Source]:
    yield from reading.sources([shared / "data"])


@pytest.mark.slow
def test_all_real_files_are_read(shared: Path) -> None:
    batches = [batch for source in real_files(shared) for batch in reading.batches(source)]
    errors = [text for batch in batches for text in batch.column("error").to_pylist() if text]
    assert sum(batch.num_rows for batch in batches) > 5800
    # triddlers, triangles, two files of solutions, and a file of faults
    assert all(re.search("not supported|a file of solutions|/invalid_input.txt:", text) for text in errors), errors
    assert len(errors) == 13


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["data", "cases", "cases2"])
def test_real_files_are_read_alike_by_compiled_readers(shared: Path, folder: str) -> None:
    items = [(source.name, source.load()) for source in reading.sources([shared / folder]) if not source.packed]
    assert len(items) > 10
    assert read_from(items, None, 0).equals(read_from(items, None, 1 << 60))
    for form in FORMATS:
        if form.pack:
            chosen = [(name, data) for name, data in items if name.endswith(form.extensions)]
            packed_like_parsed([item for item in chosen if len(item[1]) < 10_000], form.name)


def test_goals_of_real_files_obey_their_clues(shared: Path) -> None:
    goals = 0
    for folder in ("wolter_survey", "nonogram-db"):
        for puzzle in reading.read(shared / "data" / folder, errors="raise"):
            assert puzzle.goal is not None
            assert not puzzle.warnings, (puzzle.source, puzzle.warnings)
            goals += 1
    assert goals == 74


@pytest.mark.parametrize("name", ["nin", "taai", "sgt"])
@given(puzzle=puzzles_of_clues(most=6, max_colours=2, fits=False))
@settings(max_examples=60)
def test_contradictory_puzzles_are_packed_as_they_are_parsed(name: str, puzzle: Puzzle) -> None:
    form = format_named(name)
    if carries(form, puzzle):
        assert_packed_like_parsed(form, [content_of([puzzle], name)])
