"""Readers refuse what they don't understand: misspelt names, stray text, added blanks, lost and padded clues."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import packed_like_parsed
from renamed import (
    Misread,
    Mutant,
    check_random_misspelt,
    check_random_padded,
    judge,
    misspelt,
    padded,
    rows_of,
)  # fmt: skip
from strategies import puzzles_of_grids
from test_formats import BLOTTED, COLOUR, FULL, SQUARE, TINY, carries, error_of, parsed

from parallel_nono.attempt import Limits, Outcome
from parallel_nono.files import reading
from parallel_nono.files.writing import content_of
from parallel_nono.formats import FORMATS, Format, encoded, format_named
from parallel_nono.formats.common.gaps import agree
from parallel_nono.formats.common.zeros import AS_PADDING, AS_RUNS, zeros_read
from parallel_nono.puzzle import Clue, InvalidPuzzle, Puzzle, runs
from parallel_nono.solver import solve

SAMPLES = Path(__file__).parent / "samples"
TEXTS = [form for form in FORMATS if not form.binary]
FACTS = (("author", "Somebody"), ("seed", "one"), ("copyright", "none"))
GAP = Puzzle.of_grid([[int(c == "#") for c in row] for row in ("#.#...", "##...#", "......", ".##.#.", "###.#.")])
"""Without its empty row and its empty column no grid has these clues."""


def only(name: str, text: str) -> Puzzle:
    (puzzle,) = parsed(format_named(name), text)
    assert isinstance(puzzle, Puzzle), puzzle
    return puzzle


# Names and blanks.


def sources() -> Iterator[object]:
    """(format, name of a file, its bytes): every sample, and what every writer makes of a few puzzles."""
    for path in sorted(SAMPLES.iterdir()):
        data = path.read_bytes()
        form = reading.content_and_format(data, path.name, None)[2]
        if not form.binary:
            yield pytest.param(form, path.name, data, id=path.name)
    for form in TEXTS:
        for place, puzzle in enumerate((SQUARE, COLOUR, BLOTTED, FULL)):
            if form.write and carries(form, puzzle):
                data = encoded(form.write([replace(puzzle, name="A name", metadata=FACTS)]))
                yield pytest.param(form, f"x{form.extensions[0]}", data, id=f"{form.name}-{place}")


@pytest.mark.slow
@pytest.mark.parametrize(("form", "name", "data"), list(sources()))
def test_a_misspelt_name_or_a_blank_never_makes_another_puzzle_in_silence(form: Format, name: str, data: bytes) -> None:
    mutants = [*misspelt(data, form), *padded(data, form)]
    assert len(mutants) > 10
    for forced in (None, form.name):
        before = rows_of(data, name, forced)
        for mutant in mutants:
            judge(mutant, before, rows_of(mutant.data, name, forced))
    if form.pack:
        packed_like_parsed([(name, mutant.data) for mutant in mutants], form.name)


@pytest.mark.parametrize("form", [form for form in TEXTS if re.search("[a-z]{3}", form.first) or not form.first])
def test_names_are_found_to_be_misspelt(form: Format) -> None:
    found = [
        mutant
        for path in SAMPLES.iterdir()
        if reading.content_and_format(path.read_bytes(), path.name, None)[2] is form
        for mutant in misspelt(path.read_bytes(), form)
    ]
    assert found or form.name in ("sgt", "matrix", "rosetta", "puzzlink", "penpa", "links"), form.name


def test_the_judge_knows_another_puzzle_when_it_sees_one() -> None:
    def rows(puzzle: Puzzle) -> list[dict[str, object]]:
        return rows_of(content_of([puzzle], "json").encode(), "x", "json")

    changed = Mutant("line 1: rowsx", ("rowsx", "rows"), b"")
    judge(changed, rows(TINY), rows(TINY))
    judge(changed, rows(TINY), rows(replace(SQUARE, warnings=("`rowsx` is not read",))))
    for other in (SQUARE, replace(TINY, goal=None)):
        with pytest.raises(Misread):
            judge(changed, rows(TINY), rows(other))
    with pytest.raises(Misread):
        judge(changed, rows(replace(TINY, metadata=FACTS)), rows(TINY))
    with pytest.raises(Misread):
        judge(changed, rows(TINY), [])


@pytest.mark.slow
@pytest.mark.parametrize("form", TEXTS, ids=lambda form: form.name)
def test_random_files_are_read_alike_with_names_misspelt_and_blanks_added(form: Format) -> None:
    rng = random.Random(form.name)
    for _ in range(20):
        check_random_misspelt(rng, form)
        check_random_padded(rng, form)


def test_scripts_of_pages_give_no_puzzle_the_size_of_another_and_tell_what_they_leave() -> None:
    def script(task: str, width: str, name: str = "task") -> str:
        return f"<script>\n{width}\nvar {name} = '{task}';\n</script>\n"

    wide, narrow = script("1/1/1/2", "var puzzleWidth = 3;"), script("1/1/1", "var puzzleWidth = 2;")
    sizes = [(p.width, p.height) for p in parsed(format_named("puzzle-nonograms"), wide + narrow)]  # type: ignore[union-attr]
    assert sizes == [(3, 1), (2, 1)]
    first, _ = parsed(format_named("puzzle-nonograms"), wide.replace("puzzleWidth", "puzzleWide") + narrow)
    assert isinstance(first, Puzzle)
    assert (first.width, "no puzzleWidth" in first.warnings[0]) == (2, True)
    for text in (script("1/1", "", "tusk") + wide, wide + script("1/1", "", "tusk")):
        assert re.match(r"line \d+: `tusk = '1/1'` is not `task`", only("puzzle-nonograms", text).warnings[0])
    array = content_of([SQUARE], "nonograms")
    for text in (array + array.replace("var d", "var e"), array.replace("var d", "let d") + array):
        assert re.match(r"line \d: the array `\w+ \w=\[\[7` is none of a puzzle", only("nonograms", text).warnings[0])


def test_blank_lines_at_the_end_of_a_set_are_no_clues_where_empty_lines_are_zeros() -> None:
    for text, size, told in (
        ("$1\n1\n0\n0\n1\n\n\n", 2, False),
        ("$1\n1\n\n\n1\n\n\n", 3, True),
        ("$1\n1\n\n\n1\n", 2, False),
    ):
        puzzle = only("taai", text)
        assert (puzzle.width, puzzle.height, bool(puzzle.warnings)) == (size, size, told)
        packed_like_parsed([("x", text.encode())], "taai")


def test_margins_and_strange_line_ends_are_told_or_mean_nothing() -> None:
    assert only("matrix", " X\n XX\n").warnings == (
        "every row begins with a blank: read as an empty column of the picture",
    )
    assert only("matrix", "X\n XX\n").warnings == ()
    assert "expected characters that can be seen, found `U+200B`" in error_of("matrix", "#.\n\u200b.\n")
    batch = reading.read_bytes("2 1\u20281\u20281\u20280".encode(), "x.nin")
    assert (batch.column("width")[0].as_py(), batch.column("height")[0].as_py()) == (2, 1)
    (named,) = reading.read('{"name": "a\u2028b", "rows": [[1]], "columns": [[1]]}'.encode())
    assert named.height == 1


# XML.


WEBPBN = """<puzzleset><puzzle{at}>{more}
<clues type="columns"{columns}><line><count>2</count></line><line><count{count}>1</count></line></clues>
<clues type="rows">
<line{line}>{inside}</line>
<line><count>1</count></line>
</clues></puzzle>{behind}</puzzleset>"""
WHOLE = {"inside": "<count>2</count>"}
PLAIN = dict.fromkeys(("at", "more", "columns", "count", "line", "behind"), "")


def webpbn(**parts: str) -> str:
    return WEBPBN.format(**{**PLAIN, **WHOLE, **parts})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"inside": "2"}, "file:4: expected <count> in <line>, found `text 2`"),
        ({"inside": "\n2"}, "file:5: expected <count> in <line>, found `text 2`"),
        ({"inside": "<count>2</count>,"}, "file:4: expected <count> in <line>, found `text ,`"),
        ({"inside": "<cell>2</cell>"}, "file:4: expected <count> in <line>, found `<cell>`"),
        ({"inside": "<b><count>2</count></b>"}, "file:4: expected <count> in <line>, found `<b>`"),
        ({"inside": "<count><b>2</b></count>"}, "file:4: expected text in <count>, found `<b>`"),
        ({"line": ' n="2"'}, "file:4: expected <count> in <line>, found `attribute n`"),
        ({"count": ' colour="red"'}, "file:2: expected text in <count>, found `attribute colour`"),
        ({"columns": ' size="2"'}, "file:2: expected <line> in <clues>, found `attribute size`"),
        ({"more": '<clues type="rows"><line/></clues>'}, 'file:3: expected one <clues type="rows">, found `a second'),
        ({"more": '<clues type="left"><line/></clues>'}, 'file:1: expected <clues type="rows"> or .*, found `left`'),
    ],
)
def test_what_is_no_clue_among_the_clues_of_xml_is_an_error(parts: dict[str, str], message: str) -> None:
    assert re.match(message, error_of("webpbn", webpbn(**parts)))


def test_what_is_not_known_elsewhere_in_xml_is_a_fact_or_a_warning() -> None:
    assert only("webpbn", webpbn()).warnings == ()
    assert (
        only("webpbn", webpbn(inside="\n <count> 2 </count><!-- two -->\n")).digest == only("webpbn", webpbn()).digest
    )
    said = only("webpbn", webpbn(at=' kind="grid" xmlns="urn:x"', more='<rating of="3">hard</rating><year>1999</year>'))
    assert dict(said.metadata) == {"year": "1999"}
    assert [text.split(" is not")[0] for text in said.warnings] == [
        "line 1: `attribute kind` in <puzzle>",
        "line 1: `<rating>` in <puzzle>",
    ]
    (puzzle, error) = parsed(format_named("webpbn"), webpbn(behind="<puzle><title>b</title></puzle>"), "file")
    assert isinstance(puzzle, Puzzle)
    assert str(error) == "file:6: expected <puzzle> in <puzzleset>, found `<puzle>`"


def test_a_broken_puzzle_of_xml_loses_no_other() -> None:
    text = webpbn(inside="2").replace("</puzzleset>", "") + webpbn().replace("<puzzleset>", "")
    assert [type(item) for item in parsed(format_named("webpbn"), text)] == [InvalidPuzzle, Puzzle]
    text = "<FreeNono><Nonogram><line>x</line><row>x</row></Nonogram><Nonogram><line>x</line></Nonogram></FreeNono>"
    broken, whole = parsed(format_named("freenono"), text, "file")
    assert "file:1: expected <line> in <nonogram>, found `<row>`" in str(broken)
    assert isinstance(whole, Puzzle)
    assert whole.height == 1


# Lists and objects.


def test_what_is_not_known_in_json_is_a_fact_or_a_warning() -> None:
    item = {"rows": [[1]], "columns": [[1]], "year": 1999, "marks": [1], "metadata": {"tags": ["a", "b"]}}
    puzzle = only("json", json.dumps(item))
    assert dict(puzzle.metadata) == {"year": "1999", "tags": '["a", "b"]'}
    assert puzzle.warnings == ("`marks` is not read: left aside",)
    (warning,) = only("json", json.dumps({"rows": [[1]], "columns": [[1]], "height": 2})).warnings
    assert warning == "`height` is 2, but there are 1 row clues"
    assert "`solution` is not read" in only("json", '{"goal": ["#", "."], "solution": ["#."]}').warnings[0]


def test_unknown_sections_and_keys_of_toml_and_ini_are_told() -> None:
    toml = '[clues]\nrows = "1"\ncolumns = "1"\nrow = "2"\n[colours]\na = 1\n'
    assert only("nonogrid", toml).warnings == ("`colours` is not known: left aside", "`row` is not known: left aside")
    ini = "[clues]\nrows = 1\ncolumns = 1\nrow = 2\n[colours]\na = 1\n"
    assert [warning.split(" is not")[0] for warning in only("pynogram", ini).warnings] == [
        "line 4: `row`",
        "line 5: a section `[colours]`",
    ]


@pytest.mark.parametrize(
    ("rows", "columns", "read", "warning"),
    [
        ([[1, 1], [0, 1], [1, 1]], [[0, 3], [0, 1], [1, 1]], ([[1, 1], [1], [1, 1]], [[3], [1], [1, 1]]), AS_PADDING),
        ([[1, 1], [1, 0], [1, 1]], [[3, 0], [1, 0], [1, 1]], ([[1, 1], [1], [1, 1]], [[3], [1], [1, 1]]), AS_PADDING),
        ([[1, 1], [0, 1]], [[0, 1], [1, 1]], ([[2], [1]], [[1], [2]]), AS_RUNS),  # 1 1 is too long for two cells
        ([[1, 0, 1], [1, 1]], [[1, 1], [0, 1], [1]], ([[1, 1], [2]], [[2], [1], [1]]), AS_RUNS),
        ([[0, 1, 1], [1, 1, 0], [1, 0, 0]], [[0, 1, 1], [1, 1, 0], [1, 0, 0]], ([[2], [2], [1]],) * 2, AS_RUNS),
        ([[2, 0, 1]], [[1], [1], [0], [1]], ([[2, 0, 1]], [[1], [1], [0], [1]]), ""),  # an error further on
        ([[0], [1]], [[0], [1]], ([[0], [1]], [[0], [1]]), ""),
        (["1 0 1"], [[1, 0]], (["1 0 1"], [[1, 0]]), ""),
    ],
)
def test_zeros_are_padding_or_runs_by_what_fits(
    rows: list[list[int]], columns: list[list[int]], read: tuple[list[list[int]], ...], warning: str
) -> None:
    found, said = zeros_read([rows, columns])
    assert (tuple(found), said) == (read, warning)


def test_zeros_that_could_be_either_are_clues_and_a_warning() -> None:
    three = [[1, 1], [0, 1], [1, 1]]
    found, said = zeros_read([three, three])
    assert found == [[[1, 1], [1], [1, 1]]] * 2
    assert "they could also be runs" in said
    picture = [[0, 0, 0], [0, 1, 1], [0, 1, 1]]
    assert zeros_read([picture, picture])[0] == [[[], [2], [2]]] * 2
    assert zeros_read([picture, picture], are_clues=True)[0] == [[[], [1, 1], [1, 1]]] * 2


@given(puzzle=puzzles_of_grids(most=7, max_colours=2), at_end=st.booleans())
@settings(max_examples=60)
def test_padded_clues_and_pictures_in_json_are_the_puzzle_or_told(puzzle: Puzzle, at_end: bool) -> None:
    sides = []
    for clues in (puzzle.rows, puzzle.columns):
        wide = max(map(len, clues))
        lines = [([b.length for b in clue], [0] * (wide - len(clue))) for clue in clues]
        sides.append([long + pad if at_end else pad + long for long, pad in lines])
    found = only("json", json.dumps({"rows": sides[0], "columns": sides[1]}))
    assert found.digest == puzzle.digest or found.warnings == (AS_RUNS,)
    found = only("json", json.dumps({"rowClues": sides[0], "colClues": sides[1]}))
    assert found.digest == puzzle.digest or not _could_be_padded(sides)
    assert puzzle.goal
    grid = [[list(row) for row in puzzle.goal], [list(column) for column in zip(*puzzle.goal, strict=True)]]
    found = only("json", json.dumps({"rows": grid[0], "columns": grid[1]}))
    if puzzle.width > 1 and puzzle.height > 1 and any(0 in row for row in grid[0]):
        assert found.digest == puzzle.digest


@pytest.mark.parametrize(
    ("rows", "columns", "wanted", "told"),
    [
        ("|1,1|0,1|1,1", "|1,1|0,1|1,1", [[1, 0, 1], [0, 1, 0], [1, 0, 1]], "could also be runs"),
        ("|1,1|0,1", "|0,1|1,1", [[1, 1], [0, 1]], AS_RUNS),
        ("|1,0,1|1,1,1", "|1,1|0,1|1,1", [[1, 0, 1], [1, 1, 1]], AS_RUNS),
        ("|1,1,-1|-1,-1,-1", "|1,-1|1,-1|-1,-1", [[1, 1, 0], [0, 0, 0]], ""),
    ],
)
def test_zeros_in_tables_of_minizinc_are_padding_or_runs(
    rows: str, columns: str, wanted: list[list[int]], told: str
) -> None:
    puzzle = only("dzn", f"rows = [{rows}|];\ncols = [{columns}|];\n")
    assert puzzle.digest == Puzzle.of_grid(wanted).digest
    assert (told in puzzle.warnings[0]) if told else not puzzle.warnings


def _could_be_padded(sides: list[list[list[int]]]) -> bool:
    return not all(n < 2 for side in sides for line in side for n in line) or not any(
        0 in line and any(line) for side in sides for line in side
    )


# Empty lines.


SIGNS = ("0", "-", "–", "—", "−", "[]", "[0]", "[ 0 ]", '""', "''")


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(
    "name", ["nin", "nono", "dataset", "mk", "cwd", "keen", "faase", "makhorin", "non", "olsak", "gno"]
)
def test_every_sign_of_an_empty_line_is_one(name: str, sign: str) -> None:
    form = format_named(name)
    assert form.write
    text = form.write([replace(GAP, goal=None, name="t")])
    lines = ["0" if name == "olsak" and not line else line for line in text.split("\n")]
    changed = "\n".join(sign if line == "0" else line for line in lines)
    assert changed.split("\n").count(sign) >= 2
    for puzzle in (only(name, changed), *reading.read(changed.encode(), name)):
        assert puzzle.digest == GAP.digest
    found = reading.content_and_format(changed.encode(), "x", None)[2]
    assert found is form or found.name in ("nin", "keen"), found.name
    batch = reading.read_bytes(changed.encode(), f"x{form.extensions[0]}")
    assert batch.column("digest")[0].as_py() == GAP.digest


@pytest.mark.parametrize("sign", [sign for sign in SIGNS if " " not in sign])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json", '{"rows": [[1], SIGN], "columns": [[1], SIGN]}'),
        ("json", '{"rows": [["1"], [SIGN]], "columns": ["1", SIGN]}'),
        ("json", '{"rows": "1/BARE", "columns": "1;BARE"}'),
        ("csv", "rows,columns\n1/BARE,1/BARE\n"),
        ("csv", "rows,columns,colours\n1a/BARE,1a/BARE,a:#000000\n"),
        ("pynonogram", "width:2\nheight:2\nrows:1 BARE\ncolumns:1 BARE\n"),
        ("pynogram", "[clues]\nrows =\n  1\n  BARE\ncolumns = 1, BARE\n"),
        ("nonogrid", '[clues]\nrows = """\n1\nBARE\n"""\ncolumns = ["1", SIGN]\n'),
        ("nonogrid", "[clues]\nrows = [[1], []]\ncolumns = [[1], [SIGN]]\n"),
        ("picross", "GRID t\nROWS\n[ 1 ]\n[ BARE ]\nCOLUMNS\n[ 1 ]\n[ ]\n"),
        ("sgt", "2x2:1/BARE/1/BARE\n"),
        ("puzzle-nonograms", "var task = '1//1/0';"),
    ],
)
def test_every_sign_of_an_empty_line_in_lists_is_one(name: str, text: str, sign: str) -> None:
    quoted = json.dumps(sign) if sign != '""' else sign
    if '"' in sign and "BARE" in text and name in ("csv", "json", "nonogrid"):
        return  # that would end a text of these formats
    puzzle = only(name, text.replace("SIGN", quoted).replace("BARE", sign))
    assert puzzle.digest == Puzzle.of_grid([[1, 0], [0, 0]]).digest


def test_no_sign_of_an_empty_line_stands_beside_numbers() -> None:
    for sign in ("-", "–", "[]"):
        assert "found" in error_of("nin", f"2 1\n1 {sign}\n1\n0\n")


@pytest.mark.parametrize("rows", ["[[1], null]", "[null]", '["1", null]'])
def test_null_for_a_whole_line_is_an_error_and_never_an_empty_line(rows: str) -> None:
    said = error_of("json", f'{{"rows": {rows}, "columns": [[1]]}}')
    assert re.match(r"file: row [12]: expected a clue such as .*, found `null`: .* not given is not supported", said)
    assert only("json", '{"rows": [[null]], "columns": [[1]]}').has_blots


# Blank lines among clues, where no sizes are told.


def with_blanks(name: str, sides: tuple[tuple[str, ...], tuple[str, ...]]) -> str:
    """A text of row and column clues; "" is a blank line."""
    rows, columns = ("\n".join(side) for side in sides)
    return {
        "faase": f"rows\n{rows}\ncolumns\n{columns}\n",
        "makhorin": f"{rows}\n&\n{columns}\n&\n",
        "nonogrid": f'[clues]\nrows = """\n{rows}\n"""\ncolumns = """\n{columns}\n"""\n',
        "pynogram": "[clues]\nrows =\n"
        + "".join(f"  {line}\n" for line in rows.split("\n"))
        + "\ncolumns =\n"
        + "".join(f"  {line}\n" for line in columns.split("\n")),
    }[name]


GAPLESS = ["faase", "makhorin", "nonogrid", "pynogram"]


@pytest.mark.parametrize("name", GAPLESS)
def test_a_blank_line_is_an_empty_line_where_only_that_agrees(name: str) -> None:
    sides = (("1 1", "2 1", "", "2 1", "3 1"), ("2 1", "1 2", "1 2", "", "2", "1"))
    puzzle = only(name, with_blanks(name, sides))
    assert puzzle.digest == GAP.digest
    assert re.search(r"^line \d+: a blank line among the clues is read as an empty line", puzzle.warnings[0])
    one_side = (("1 1", "2 1", "0", "2 1", "3 1"), sides[1])
    assert only(name, with_blanks(name, one_side)).digest == GAP.digest


@pytest.mark.parametrize("name", GAPLESS)
def test_a_blank_line_is_decoration_where_rows_and_columns_agree_without_it(name: str) -> None:
    puzzle = only(name, with_blanks(name, (("2", "", "2"), ("2", "2"))))
    assert puzzle.digest == Puzzle.of_grid([[1, 1], [1, 1]]).digest
    assert "is left aside" in puzzle.warnings[0]
    assert "there too" not in puzzle.warnings[0]
    puzzle = only(name, with_blanks(name, (("1", "", "1"), ("1", "1"))))
    assert puzzle.digest == Puzzle.of_grid([[1, 0], [0, 1]]).digest
    assert "agree with an empty line there too" in puzzle.warnings[0]
    assert only(name, with_blanks(name, (("1", "1"), ("1", "1")))).warnings == ()


def test_the_warning_names_the_line_of_the_file() -> None:
    for name, place in (("faase", 3), ("makhorin", 2), ("nonogrid", 4), ("pynogram", 4)):
        text = with_blanks(name, (("2", "", "2"), ("2", "2")))
        assert text.split("\n")[place - 1].strip() == ""
        assert only(name, text).warnings[0].startswith(f"line {place}: ")


@pytest.mark.slow
@given(puzzle=puzzles_of_grids(most=5, max_colours=3), at=st.integers(0, 5), clue=st.sampled_from([(), ((1, 1),)]))
@settings(max_examples=60)
def test_rows_and_columns_that_do_not_agree_have_no_solution(puzzle: Puzzle, at: int, clue: Clue) -> None:
    assert agree(puzzle.rows, puzzle.columns, puzzle.n_colours)
    rows = [*puzzle.rows]
    rows.insert(min(at, len(rows)), runs([colour for _, colour in clue]))
    if not agree(rows, puzzle.columns, puzzle.n_colours):
        other = replace(puzzle, rows=tuple(rows), goal=None)
        assert solve(other, Limits()).outcome == Outcome.CONTRADICTION


# Data sets.


DATA_SET = json.dumps(
    {
        "count": 2,
        "count_sol": 1,
        "name": "Nonogram",
        "data": {
            "1_2x3": {"problem": "2 3\n2\n1\n0\n2\n1", "solution": "2 3\nx x -\nx - -", "source": "s", "info": ""},
            "2_1x1": {"problem": "1 1\n1\n1", "source": ""},
        },
    }
)


def test_a_data_set_is_read_height_and_columns_first_with_its_solutions() -> None:
    first, second = reading.read(DATA_SET.encode())
    wanted = Puzzle.of_grid([[1, 1, 0], [1, 0, 0]])
    assert (first.digest, first.goal, first.name) == (wanted.digest, wanted.goal, "1_2x3")
    assert (first.metadata, first.warnings, second.goal) == ((("source", "s"),), (), None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x x -", "x - -", "the goal breaks the clue of row 1: expected 2, found 1"),
        ("x x -", "x x", "x: puzzle 1: expected a goal of 6 cells .*, found `5`"),
        ("x x -", "x o -", "x: puzzle 1: expected a goal of the characters .*, found `o`"),
        ('"2 3\\nx', '"3 2\\nx', "x: puzzle 1: expected a solution 3 wide and 2 high, found `one 2 wide and 3 high`"),
        ('"2 3\\n2', '"2 4\\n2', "x: puzzle 1:2: expected 6 lines of column and row .* clues, found `5 lines`"),
        ('"problem": "2', '"problems": "2', "x: puzzle 1: expected a `problem` as text, found `problems, solution"),
    ],
)
def test_what_is_wrong_in_a_data_set_is_told(old: str, new: str, message: str) -> None:
    assert old in DATA_SET
    first, second = parsed(format_named("json"), DATA_SET.replace(old, new, 1))
    assert re.search(message, first.warnings[0] if isinstance(first, Puzzle) else str(first))
    assert isinstance(second, Puzzle)


def test_a_text_that_could_be_rows_or_columns_first_is_told_unless_its_name_tells() -> None:
    text = b"2 3\n2\n1\n0\n2\n1\n"
    _, warning, form = reading.content_and_format(text, "x.txt", None)
    assert form.name == "nin"
    assert "as dataset, 3 wide and 2 high" in warning
    for name, right in (("x.nin", "nin"), ("x.dataset.txt", "dataset")):
        _, warning, form = reading.content_and_format(text, name, None)
        assert (form.name, warning) == (right, "")
    square = b"2 2\n1\n1\n1\n1\n"  # the same puzzle either way
    assert reading.content_and_format(square, "x.txt", None)[1] == ""


# Writers.


@pytest.mark.parametrize("form", [form for form in TEXTS if form.write], ids=lambda form: form.name)
def test_facts_that_a_format_does_not_know_are_comments_or_left_out(form: Format) -> None:
    plain = SQUARE if carries(form, SQUARE) else FULL
    puzzle = replace(plain, name="t", metadata=(("seed", "17"), ("author", "Q"), ("odd-key", "y")))
    assert form.write
    text = form.write([puzzle])
    (back,) = parsed(form, text)
    assert isinstance(back, Puzzle)
    assert back.digest == plain.digest
    if form.name in ("json", "csv"):  # their names of facts are open
        assert dict(back.metadata)["seed"] == "17"
        return
    lines = [line.strip() for line in text.split("\n")]
    assert not [line for line in lines if re.match(r"\W*(?:seed|odd-key)\b", line) and not line.startswith("#")]
    if form.name == "non":
        assert dict(back.metadata)["seed"] == "17"  # one that we read back
