"""Number crosswords: words, search, checker, files and generator, held against plain enumeration."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import re
import zipfile
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from parallel_nono.attempt import OUTCOMES, STAGES, Limits, Outcome
from parallel_nono.cli import app
from parallel_nono.files.containers import Source
from parallel_nono.kinds import kind, texts
from parallel_nono.kinds.numcross import KIND, formats
from parallel_nono.kinds.numcross.formats import Crossword, parsed
from parallel_nono.kinds.numcross.generate import generated
from parallel_nono.kinds.numcross.rules import broken_rule, plain_words
from parallel_nono.kinds.numcross.search import ORDERS, Cells, Found, runs_of, solve_grid
from parallel_nono.kinds.numcross.words import Words, load_words, words_of

ENGLISH = Path(__file__).parent / "words/english.txt"
RUNNING = np.zeros(1, np.int64)
EVERY = Limits(count=1000)
SMALL = ((1, 2, 3), (2, 0, 4), (3, 4, 1))


@pytest.fixture(scope="module")
def english() -> Words:
    return load_words(str(ENGLISH), "skip", "skip")


def solved(cells: Cells, words: Words, order: str = "fewest", limits: Limits = EVERY, **given: str) -> Found:
    return solve_grid(
        cells, {int(number[1:]): letter for number, letter in given.items()}, words, order, limits, RUNNING
    )


def keys_by_trying_all(cells: Cells, letters: dict[int, str], words: list[str]) -> list[dict[int, str]]:
    """Every right key, by dealing out the letters in all ways."""
    names = sorted({number for row in cells for number in row if number})
    found = []
    for dealt in permutations(sorted(set("".join(words))), len(names)):
        key = dict(zip(names, dealt, strict=True))
        if any(key[number] != letter for number, letter in letters.items()):
            continue
        rows = ["".join(key.get(number, "#") for number in row) for row in cells]
        lines = [*rows, *map("".join, zip(*rows, strict=True))]
        placed = [word for line in lines for word in line.split("#") if len(word) > 1]
        if set(placed) <= set(words) and len(set(placed)) == len(placed):
            found.append(key)
    return found


cell_rows = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 4)] * width), min_size=1, max_size=3)
)
word_lists = st.lists(st.text("abcde", min_size=2, max_size=3), min_size=1, max_size=60, unique=True)


def test_lists_under_names_that_are_not_known_are_told() -> None:
    text = json.dumps({"grid": [[1, 2], [0, 1]], "givens": {"1": "a"}, "year": 1999})
    (puzzle,) = parsed(text.encode(), "x.json")
    assert isinstance(puzzle, Crossword)
    assert puzzle.warning == "`givens` is not read: left aside"
    assert puzzle.metadata == {"year": "1999"}


@pytest.mark.slow
@settings(max_examples=300)
@given(cell_rows, word_lists, st.dictionaries(st.integers(1, 4), st.sampled_from("abcde"), max_size=1))
def test_every_order_finds_the_solutions_of_plain_enumeration(
    rows: list[tuple[int, ...]], listed: list[str], letters: dict[int, str]
) -> None:
    cells = tuple(rows)
    numbers = {number for row in cells for number in row if number}
    if not numbers:
        return
    letters = {number: letter for number, letter in letters.items() if number in numbers}
    right = keys_by_trying_all(cells, letters, listed)
    expected = (Outcome.CONTRADICTION, Outcome.UNIQUE, Outcome.MULTIPLE)[min(len(right), 2)]
    words = words_of("\n".join(listed), "list")
    for order in ORDERS:
        found = solve_grid(cells, letters, words, order, EVERY, RUNNING)
        assert (found.outcome, found.n_solutions, found.exhausted) == (expected, len(right), True), order
        assert all(key in right for key in found.keys), order
        assert len(found.keys) == min(len(right), 2), order
        assert all(key[number] == letter for key in right for number, letter in found.known.items()), order


def test_only_propagation_leaves_the_rest_open() -> None:
    words = words_of("ab\nac\nba\nca", "list")
    found = solved(((1, 2),), words, limits=Limits(plan=("line",)))
    assert (found.outcome, found.stage, found.keys) == (Outcome.STALLED, "line", [])
    assert solved(((1, 2),), words, limits=Limits(plan=("line",)), n1="b").outcome is Outcome.UNIQUE


def test_one_solution_asked_is_solved_and_the_only_one_by_propagation_is_unique() -> None:
    words = words_of("ab\nac", "list")
    assert solved(((1, 2),), words, limits=Limits(solutions=1)).outcome is Outcome.SOLVED
    assert solved(((1, 2),), words, limits=Limits(solutions=1), n2="c").outcome is Outcome.UNIQUE


@pytest.mark.parametrize(
    ("cells", "letters", "why"),
    [
        (((1, 2), (0, 0), (1, 2)), {}, "row 1, column 1 across and row 3, column 1 across: the same numbers"),
        (((1, 1),), {}, "row 1, column 1 across: no word of its length and shape"),
        (((1, 2, 3, 4),), {}, "4 numbers, but the words have 3 letters"),
        (((1, 2),), {1: "a", 2: "a"}, "two numbers are given the same letter"),
        (((1, 2),), {1: "x"}, "the given letter x is in no word"),
    ],
)
def test_a_grid_that_cannot_be_is_told_why(cells: Cells, letters: dict[int, str], why: str) -> None:
    words = words_of("ab\nba\nabc", "list")
    for order in ORDERS:
        found = solve_grid(cells, letters, words, order, EVERY, RUNNING)
        assert (found.outcome, found.stage) == (Outcome.CONTRADICTION, "read")
        assert found.witness.startswith(why)


def test_a_cell_in_no_word_takes_any_letter_that_is_left() -> None:
    found = solved(((1, 2), (0, 0), (0, 3)), words_of("ab\ncd\nef", "list"), limits=Limits(count=100))
    assert found.n_solutions == 3 * 4


def test_alphabets_beyond_one_word_of_bits() -> None:
    """140 letters: the words of the solution use some of each 64."""
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 140)]
    stream = random.Random(1)
    listed = {"".join(stream.sample(letters, 3)) for _ in range(300)}
    listed |= {letters[0] + letters[70] + letters[139], letters[139] + letters[1] + letters[0]}
    cells = ((1, 2, 3), (0, 0, 4), (0, 0, 1))
    words = words_of("\n".join(listed), "list")
    right = [
        (first, second)
        for first in listed
        for second in listed
        if first[2] == second[0] and second[2] == first[0] and second[1] not in first
    ]
    for order in ORDERS:
        found = solved(cells, words, order)
        assert found.n_solutions == len(right) >= 1
        assert [key[number] for key in found.keys for number in (1, 2, 3, 4)][:4] in [
            [*first, second[1]] for first, second in right
        ]


def test_a_search_without_end_stops_in_time_and_when_told(english: Words) -> None:
    cells = tuple(tuple(row) for row in np.diag(range(1, 21)).tolist())
    found = solve_grid(cells, {}, english, "fewest", Limits(seconds=0.05, count=10**12), RUNNING)
    assert (found.outcome, found.exhausted) == (Outcome.MULTIPLE, False)
    assert found.line_s + found.search_s < 5
    for order in ORDERS:
        assert solve_grid(cells, {}, english, order, Limits(count=10**12), np.ones(1, np.int64)).aborted


# The article's puzzle.


def tenka1(shared: Path) -> Cells:
    text = (shared / "truth/numcross_tenka1.txt").read_text(encoding="utf-8")
    puzzle = next(iter(parsed(text.encode(), "tenka1")))
    assert isinstance(puzzle, Crossword)
    return puzzle.cells


@pytest.fixture(scope="module")
def debian(shared: Path) -> Words:
    return load_words(str(shared / "data/wordlists/american-english.gz"), "skip", "skip")


def test_the_article_has_the_words_that_it_says(debian: Words) -> None:
    assert len(debian) == 73_419


@pytest.mark.parametrize(
    ("order", "first", "every", "tried"),
    [
        ("length", 49, 52, 61_538),
        ("shape", 100, 105, 164_388),
        ("dynamic", 49, 50, 3_177_781),
        ("fewest", 0, 0, 79_754),
    ],
)
def test_the_article_and_its_orders(
    shared: Path, debian: Words, order: str, first: int, every: int, tried: int
) -> None:
    cells = tenka1(shared)
    assert len(runs_of(cells)) == 48
    one = solve_grid(cells, {}, debian, order, Limits(solutions=1), RUNNING)
    assert (one.counts["n_branches"], one.counts["n_probes"]) == (first, tried)
    both = solve_grid(cells, {}, debian, order, Limits(), RUNNING)
    assert (both.counts["n_branches"], both.outcome) == (every, Outcome.UNIQUE)
    assert "".join(both.keys[0][number] for number in range(1, 20)) == "primedoughnayscwtbl"
    assert both.line_s + both.search_s < 0.5  # 2 ms and 10 ms where nobody else works


def test_a_published_codeword_has_its_key(shared: Path) -> None:
    path = shared / "data/codeword/kaidoku.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    words = load_words(str(shared / "data/wordlists/american-english-huge.gz"), "skip", "skip")
    found = solve_grid(tuple(map(tuple, data["grid"])), {}, words, "fewest", Limits(), RUNNING)
    assert found.outcome is Outcome.UNIQUE
    assert found.keys[0] == {int(number): letter.lower() for number, letter in data["key"].items()}
    from_json, from_jpz = (
        next(iter(parsed(file.read_bytes(), file.name))) for file in (path, path.parent / "sample_puzzles/kaidoku.jpz")
    )
    assert isinstance(from_json, Crossword)
    assert isinstance(from_jpz, Crossword)
    assert from_json.digest() == from_jpz.digest()


def test_coded_samples_of_two_formats_are_one_puzzle(shared: Path) -> None:
    folder = shared / "data/codeword/src/commonTest/resources/coded"
    ipuz, jpz = (next(iter(parsed((folder / f"coded.{end}").read_bytes(), end))) for end in ("ipuz", "jpz"))
    assert isinstance(ipuz, Crossword)
    assert isinstance(jpz, Crossword)
    assert ipuz.cells == jpz.cells
    assert jpz.given == {4: "b", 19: "q"}
    assert ipuz.name == jpz.name == "Test title"


# Word lists.


@pytest.mark.parametrize("accents", ["skip", "strip", "keep"])
@pytest.mark.parametrize("marks", ["skip", "strip"])
def test_lists_are_read_as_plainly(accents: str, marks: str) -> None:
    text = (
        "Don't\ne-mail\n  caf\u00e9 \nnai\u0308ve\n\nA\nZebra\nzebra\n3rd\nStra\u00dfe\n\u0416\u0443\u043a\n"
        "\u0451\u0436\u0438\u043a\nad hoc\n" + "x" * 40 + "\nO\u2019Neill\n\u0394\u03ad\u03bd\u03c4\u03c1\u03bf\n"
        "fl\u00f8te\nC++\n\u30ab\u30fc\u30c9\n\t tab\u00a0\na\u0301b\u0327c\n\u1e9e\u0130x\nth.e\n-\n''\n"
    )
    words = words_of(text, "list", accents, marks)
    plain = plain_words(text, accents, marks)
    found = {"".join(words.alphabet[code] for code in row) for table in words.tables.values() for row in table.tolist()}
    assert found == plain
    assert len(words) == len(plain)
    assert "zebra" in plain
    assert "x" * 40 in plain
    assert ("dont" in plain) == (marks == "strip")
    assert ("cafe" in plain, "caf\u00e9" in plain) == (accents == "strip", accents == "keep")


@pytest.mark.slow
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=30))
def test_no_list_is_a_crash(lines: list[str]) -> None:
    text = "\n".join(lines).replace("\r", "\n")
    for accents, marks in (("skip", "skip"), ("strip", "strip"), ("keep", "strip")):
        plain = plain_words(text, accents, marks)
        if not plain:
            with pytest.raises(ValueError, match="expected words of two or more letters"):
                words_of(text, "list", accents, marks)
        else:
            assert len(words_of(text, "list", accents, marks)) == len(plain)


def test_words_stand_by_shape(english: Words) -> None:
    listed = [word for word in ENGLISH.read_text(encoding="utf-8").split() if len(word) == 4]
    for shape in ((1, 2, 3, 4), (1, 2, 2, 3), (1, 2, 1, 2), (1, 2, 3, 2), (1, 1, 1, 1)):
        found = ["".join(english.alphabet[c] for c in english.tables[4][at]) for at in english.of_shape(shape)]
        alike = [w for w in listed if [w.index(c) for c in w] == [shape.index(n) for n in shape]]
        assert found == sorted(alike)


def test_too_many_letters_are_refused() -> None:
    text = "\n".join(chr(0x4E00 + 2 * n) + chr(0x4E01 + 2 * n) for n in range(200))
    with pytest.raises(ValueError, match="at most 255 different letters, found 400"):
        words_of(text, "list")


# Files.


def read_one(text: str, source: str = "p.numcross") -> Crossword:
    (puzzle,) = parsed(text.encode(), source)
    assert isinstance(puzzle, Crossword), puzzle
    return puzzle


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("1 2 3\n2 0 4\n3 4 1\n4=X\n", "p.numcross"),
        ("# a comment\n; another\n\ntitle Small\n1,2,3\n2,#,4\n3\t4 1\ngiven 4 = x\n", "p.txt"),
        ("[grid]\n1 2 3\n2 . 4\n3 4 1\n[given]\n4=X\n[solution]  # as found\nABC\nB#X\n", "p.txt"),
        ('{"title": "Small", "grid": [[1, 2, 3], [2, 0, 4], ["3", "4", 1]], "given": {"4": "X"}}', "p.json"),
        ('[{"grid": [[1, 2, 3], [2, null, 4], [3, 4, 1]], "given": {"4": "x"}}]', "p.json"),
        (
            'ipuz({"version": "http://ipuz.org/v2", "kind": ["http://crosswordnexus.com/ipuz/coded#1"], "block": "B",'
            '"puzzle": [[1, 2, "3"], [{"cell": 2}, "B", {"cell": 4, "value": "X"}], [3, 4, 1]]})',
            "p.ipuz",
        ),
        (
            '<?xml version="1.0"?><crossword-compiler><rectangular-puzzle><metadata><title>Small</title></metadata>'
            '<coded><grid width="3" height="3"><cell x="1" y="1" number="1"/><cell x="2" y="1" number="2"/>'
            '<cell x="3" y="1" number="3"/><cell x="1" y="2" number="2"/><cell x="2" y="2" type="block"/>'
            '<cell x="3" y="2" number="4" hint="true" solution="X"/><cell x="1" y="3" number="3"/>'
            '<cell x="2" y="3" number="4"/><cell x="3" y="3" number="1"/></grid></coded></rectangular-puzzle>'
            "</crossword-compiler>",
            "p.jpz",
        ),
    ],
)
def test_every_format_reads_the_same_puzzle(text: str, source: str) -> None:
    puzzle = read_one(text, source)
    assert puzzle.cells == SMALL
    assert puzzle.given == {4: "x"}
    assert puzzle.name in ("p", "Small")
    again = read_one(formats.text_of(puzzle.cells, puzzle.given, puzzle.name))
    assert again.digest() == puzzle.digest()


def test_a_zipped_jpz_is_read() -> None:
    text = '<a><coded><grid width="2" height="1"><cell x="1" y="1" number="4"/></grid></coded></a>'
    files = {1: io.BytesIO(), 2: io.BytesIO()}
    for n, file in files.items():
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for place in range(n):
                archive.writestr(f"{place}.xml", text)
    (puzzle,) = parsed(files[1].getvalue(), "p.jpz")
    assert isinstance(puzzle, Crossword)
    assert puzzle.cells == ((4, 0),)
    assert formats.sniff(files[1].getvalue())
    for data, message in ((files[2].getvalue(), "one file"), (files[1].getvalue()[:50], "a damaged one")):
        (error,) = KIND.read([("p.jpz", data)]).column("error").to_pylist()
        assert message in error


def test_the_digest_does_not_depend_on_how_numbers_are_dealt() -> None:
    one, other, third = (read_one(text) for text in ("1 2 2\n", "7 3 3\n", "1 2 1\n"))
    assert one.digest() == other.digest() != third.digest()


@pytest.mark.parametrize(
    ("text", "source", "message"),
    [
        ("1 2 3\n1 2\n", "a.numcross", r"a\.numcross:2: expected 3 cells in every row, found `2 in row 2`"),
        ("1 2 x\n", "a.numcross", r"a\.numcross:1: expected a row of numbers"),
        ("1 2\n3=XY\n", "a.numcross", r"a\.numcross:2: expected letters such as|a\.numcross:2: expected one letter"),
        ("1 2\n3=X\n", "a.numcross", r"expected letters for numbers of the grid, found `one for 3`"),
        ("1 2\n2=5\n", "a.numcross", r"a\.numcross:2: expected one letter for a number, found `5`"),
        ("0 0\n", "a.numcross", r"expected numbers in the grid, found `blocks only`"),
        ("1 12345678901\n", "a.numcross", r"expected numbers of at most nine digits"),
        ('{"grid": [[1, 2], [1]]}', "a.json", r"a\.json: expected 2 cells in every row"),
        ('{"grid": [[1, -2]]}', "a.json", r"expected numbers of at most nine digits, found `-2`"),
        ('{"grid": [[1, true]]}', "a.json", r"expected numbers of at most nine digits, found `True`"),
        ('{"grid": 5}', "a.json", r"expected a grid: a list of rows, found `5`"),
        ('{"grid": [[1, 2], [', "a.json", r"a\.json:1: expected JSON, found a mistake"),
        ('{"grid": [[1, 2]], "given": {"1": "no"}}', "a.json", r"expected one letter for a number, found `no`"),
        ('{"words": [[1, 2], 3]}', "a.json", r"expected `grid`, a list of rows, or `words`"),
        ("[" * 100_000, "a.json", r"expected a row of numbers|brackets within brackets"),
        ('{"puzzle": [[1]], "kind": ["http://ipuz.org/sudoku#1"]}', "a.ipuz", r"expected a coded crossword"),
        ("<crossword-compiler><x></crossword-compiler>", "a.jpz", r"expected well-formed XML"),
        ("<crossword-compiler/>", "a.jpz", r"expected a coded crossword"),
        ('<a><coded><grid width="999999999" height="1"/></coded></a>', "a.jpz", r"expected a grid of at most 200"),
        ('<a><coded><grid width="2" height="1"><cell x="3" y="1" number="1"/></grid></coded></a>', "a.jpz", "inside"),
        (
            '<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;">]><a>&c;</a>',
            "a.jpz",
            r"expected a file without entity declarations",
        ),
        ("", "a.numcross", "found none|empty"),
    ],
)
def test_bad_input_has_one_clear_message(text: str, source: str, message: str) -> None:
    chunk = KIND.read([(source, text.encode())])
    assert chunk.num_rows == 1
    error = chunk.column("error")[0].as_py()
    assert re.search(message, error), error
    assert error.startswith(source)


def test_a_broken_puzzle_loses_nothing_else() -> None:
    text = "title One\n1 2\n\ntitle Two\n1 2 x\n3\n\ntitle Three\n2 1\n\n5 6\n"
    chunk = KIND.read([("many.numcross", text.encode())])
    assert chunk.column("name").to_pylist() == ["One", "Two", "Three", "many#4"]
    assert chunk.column("index").to_pylist() == [1, 2, 3, 4]
    assert [bool(error) for error in chunk.column("error").to_pylist()] == [False, True, False, False]
    assert "many.numcross:5" in chunk.column("error")[1].as_py()


def test_a_long_text_is_read_in_pieces_as_at_once(english: Words) -> None:
    text = "; many\n" + "".join(generated(3, 3, seed, english, "order") for seed in range(1, 21))
    text = text.replace("title numcross 3x3 7\n", "title wrong\n1 y\n")
    whole = KIND.read([("p.numcross", text.encode())])
    source = Source("p.numcross", len(text), data=text.encode())
    pieces = list(texts.batches(source, formats.text_chunk, formats.BEGINS, about=200))
    assert len(pieces) > 3
    assert [row for piece in pieces for row in piece.to_pylist()] == whole.to_pylist()
    assert sum(map(bool, whole.column("error").to_pylist())) == 1
    assert KIND.batches is not None
    assert [row for piece in KIND.batches(source) for row in piece.to_pylist()] == whole.to_pylist()


def test_words_without_a_grid_get_rows_of_their_own() -> None:
    assert read_one('{"words": [[1, 2, 3], [4, 5]]}', "p.json").cells == ((1, 2, 3), (0, 0, 0), (4, 5, 0))


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text('0123456789# .=ABtile\n<{["', max_size=120).map(str.encode))
def test_any_bytes_are_rows(data: bytes) -> None:
    chunk = KIND.read([("x", data)])
    assert chunk.num_rows >= 1
    for error, height in zip(chunk.column("error").to_pylist(), chunk.column("height").to_pylist(), strict=True):
        assert bool(error) == (height == 0)


# The kind.


def configured(**options: str):  # type: ignore[no-untyped-def]
    return kind("numcross", {"words": str(ENGLISH), **options})


def test_the_rows_of_a_chunk() -> None:
    numcross = configured()
    chunk = numcross.read([("a", b"1 2\n\n1 2 3 4 2 3 1\n\n1 2 3\n4 0 0\n5 6 7\n")])
    done = numcross.solve(chunk, Limits(), RUNNING)
    outcomes = [OUTCOMES[code] for code in done.columns["outcome"]]
    assert outcomes[1] is Outcome.CONTRADICTION
    assert done.columns["witness"][1].as_py().startswith("row 1, column 1 across: no word")
    assert STAGES[done.columns["stage"][1]] == "read"
    assert outcomes[2] is Outcome.MULTIPLE
    assert done.columns["solution"][2] != done.columns["second_solution"][2]
    assert numcross.check(chunk, done.solutions) == []


def test_the_checker_rejects_what_is_wrong() -> None:
    cells = ((1, 2, 3), (4, 0, 0), (5, 6, 7))
    words = frozenset(["cat", "cow", "wit", "cup"])
    key = dict(zip(range(1, 8), "CATOWIT", strict=True))

    def why(grid: str, key: dict[int, str] = key, given: dict[int, str] | None = None) -> str:
        return broken_rule(cells, given or {}, json.dumps({"grid": grid, "key": key}), words)

    fine = {**key, 7: "N"}
    assert broken_rule(cells, {}, json.dumps({"grid": "CAT/O##/WIN", "key": fine}), words | {"win"}) == ""
    assert why("CAT/O##/WIN", fine) == "win is no word"
    assert why("CAT/O##/WIN", fine, {1: "x"}) == "1 is C, though x was given"
    assert why("CAT/O##/WIT") == "two numbers share a letter"
    assert why("CAT/O##/WI") == "it has another size"
    assert why("CA#/O##/WIN").startswith("a block is no block")
    assert why("CAT/O##/WIN", {1: "C"}) == "its key is not that of its grid"
    assert broken_rule(
        ((1, 2), (0, 0), (1, 2)), {}, '{"grid": "AB/##/AB", "key": {"1": "A", "2": "B"}}', frozenset(["ab"])
    )
    assert broken_rule(((1, 1),), {}, '{"grid": "AB", "key": {"1": "A"}}', frozenset(["ab"])) == "1 is both A and B"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected a word list"),
        ({"words": "/nowhere/words"}, "can't be read"),
        ({"words": "/"}, "expected a word list, found the folder /"),
        ({"words": str(ENGLISH), "accents": "some"}, "accents: expected skip, strip, keep, found 'some'"),
        ({"words": str(ENGLISH), "order": "best"}, "order: expected fewest, length, shape, dynamic"),
        ({"words": str(ENGLISH), "size": "11"}, "size: expected ROWSxCOLUMNS such as 11x11, found '11'"),
        ({"words": str(ENGLISH), "font": str(ENGLISH)}, "font: expected a TrueType file"),
        ({"word": "x"}, "found 'word'"),
    ],
)
def test_wrong_options_are_told_before_any_work(options: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        kind("numcross", options)


def test_words_do_not_travel_with_the_kind() -> None:
    assert len(pickle.dumps(configured())) < 4000


# The generator.


@pytest.mark.parametrize("size", [(3, 3), (5, 5), (7, 7), (6, 9)])
def test_generated_puzzles_have_one_solution(english: Words, size: tuple[int, int]) -> None:
    made = [generated(*size, seed, english, numbers) for seed in (1, 2, 3) for numbers in ("order", "random")]
    assert made == [generated(*size, seed, english, numbers) for seed in (1, 2, 3) for numbers in ("order", "random")]
    numcross = configured()
    chunk = numcross.read([("g", "".join(made).encode())])
    assert chunk.num_rows == 6
    assert set(zip(chunk.column("height").to_pylist(), chunk.column("width").to_pylist(), strict=True)) == {size}
    for order in ("fewest", "length"):
        done = configured(order=order).solve(chunk, Limits(), RUNNING)
        assert [OUTCOMES[code] for code in done.columns["outcome"]] == [Outcome.UNIQUE] * 6
        assert numcross.check(chunk, done.solutions) == []


def test_numbers_in_order_count_up_as_they_appear(english: Words) -> None:
    puzzle = read_one(generated(7, 7, 5, english, "order"))
    numbers = [number for row in puzzle.cells for number in row if number]
    assert list(dict.fromkeys(numbers)) == list(range(1, puzzle.n_numbers + 1))


def test_no_puzzle_without_words(english: Words) -> None:
    with pytest.raises(ValueError, match="expected height and width from 3"):
        generated(2, 9, 1, english, "order")
    with pytest.raises(ValueError, match="found none in"):
        generated(5, 5, 1, words_of("ab\nbc", "list"), "order")


# The commands.


def invoke(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


def test_a_batch_from_generator_to_rows(tmp_path: Path) -> None:
    listed = tmp_path / "words.gz"
    listed.write_bytes(gzip.compress(ENGLISH.read_bytes()))
    file, out = tmp_path / "some.numcross", tmp_path / "out"
    assert invoke("generate", "numcross", str(file), "--count", "30", "--height", "7", "--width", "7", "--set",
                  f"words={listed}")[0] == 0  # fmt: skip
    file.write_text(file.read_text() + "title broken\n1 x\n")
    code, text = invoke("run", str(file), "--set", f"words={listed}", "--out", str(out), "--workers", "2", "-q")
    assert code == 0, text
    table = pq.read_table(out / "rows")
    outcomes = table.column("outcome").to_pylist()
    assert (outcomes.count("unique"), outcomes.count("invalid"), len(outcomes)) == (30, 1, 31)
    assert set(table.column("kind").to_pylist()) == {"numcross"}


def test_one_puzzle_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "cat.numcross"
    file.write_text("1 2 3\n4 0 0\n5 0 0\n1=C 2=A 3=T 5=W\n")
    code, text = invoke("solve", str(file), "--set", f"words={ENGLISH}")
    assert code == 0, text
    assert "C A T\nO # #\nW # #" in text
    assert "Unique" in text
    assert invoke("run", str(file))[0] == 2
