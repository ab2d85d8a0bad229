"""Generators: the same puzzles for ever, what each kind promises, and the files of `datasets/` byte by byte."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from itertools import product
from math import factorial
from pathlib import Path

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.attempt import OUTCOMES, STAGES, Limits
from parallel_nono.checker import check
from parallel_nono.files.containers import sources
from parallel_nono.files.reading import read
from parallel_nono.generator import GENERATORS, generate, generate_set, many
from parallel_nono.generator.fields import box_sum, brightest
from parallel_nono.generator.manifest import puzzles_of_files, texts_of, write_manifest
from parallel_nono.generator.many import lines_of
from parallel_nono.puzzle import InvalidPuzzle, Puzzle, runs
from parallel_nono.puzzleset import puzzles_of, set_of
from parallel_nono.solver import solve_set

DATASETS = Path(__file__).resolve().parents[1] / "datasets"

SIZES = {"domino": [(5, 5), (15, 15)], "permutation": [(1, 1), (7, 7)]}
OTHER_SIZES = [(4, 4), (5, 9), (31, 20)]

# First 12 digits of a hash over the puzzles of each kind: once published, a seed means the same picture for ever.
FROZEN = {
    "noise": "0a7c2b248d92",
    "blobs": "368a9173c9c2",
    "icons": "10900b7156fb",
    "glyphs": "4bb99865440d",
    "mazes": "b4a72571d1b2",
    "contours": "ebf6be18b512",
    "dither": "4fe7aef201e6",
    "regions": "adc9385db684",
    "patches": "9cacf4835c90",
    "coloured_blobs": "412f3cf44dea",
    "stripes": "4675e3c9953e",
    "sprites": "6a769004ad0d",
    "terraces": "10186c06728f",
    "confetti": "c97f9fda932a",
    "gaps": "6bc6cf2b2fea",
    "rainbow": "621cf61fc613",
    "domino": "04d5e9a235fa",
    "empty": "4da78e2d73f2",
    "full": "97c972f20cb8",
    "one_cell": "05e7c3f68132",
    "checkerboard": "5fd58e289ff1",
    "combs": "7740516e90c0",
    "permutation": "dac4ddda46a5",
    "mismatch": "265a9ae43478",
    "too_long": "2e592b98eb2d",
    "contradiction": "bca78bdab17b",
    "impasse": "a271f9d06abf",
    "shuffled": "6c162e457e1e",
}


def samples(kind: str) -> list[Puzzle]:
    return [generate(kind, h, w, seed) for h, w in SIZES.get(kind, OTHER_SIZES) for seed in (0, 1, 4_294_967_295)]


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_seed_means_the_same_puzzle_for_ever(kind: str) -> None:
    text = "".join(f"{p.name} {p.digest} {p.palette} {p.goal} {p.metadata}\n" for p in samples(kind))
    assert hashlib.blake2b(text.encode()).hexdigest()[:12] == FROZEN[kind]


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_generated_puzzle_has_its_size_a_name_and_a_licence_and_its_goal_obeys_it(kind: str) -> None:
    for puzzle, (height, width) in zip(
        samples(kind), [size for size in SIZES.get(kind, OTHER_SIZES) for _ in range(3)], strict=True
    ):
        assert (puzzle.height, puzzle.width) == (height, width)
        facts = dict(puzzle.metadata)
        assert puzzle.name == f"{kind} {height}x{width} {facts['seed']}"
        assert facts["generator"] == kind
        assert facts["license"] == "MIT"
        if puzzle.goal is not None:
            assert check(puzzle, puzzle.goal)


@pytest.mark.parametrize("kind", [kind for kind, generator in GENERATORS.items() if "inks" in generator.options])
@pytest.mark.parametrize("inks", [1, 2, 3, 12, 40])
def test_a_picture_uses_no_more_inks_than_asked(kind: str, inks: int) -> None:
    puzzle = generate(kind, 12, 17, 3, inks=inks)
    assert puzzle.n_colours == inks + 1
    assert len({colour.name for colour in puzzle.palette}) == inks + 1
    assert puzzle.goal is not None
    used = {cell for row in puzzle.goal for cell in row}
    assert used <= set(range(inks + 1))
    if kind == "rainbow":
        assert used == set(range(1, inks + 1))


@pytest.mark.parametrize("n_colours", [38, 64, 65, 70, 1338])
def test_a_palette_can_be_as_large_as_asked(n_colours: int) -> None:
    puzzle = generate("rainbow", 1 if n_colours < 100 else 7, n_colours - 1 if n_colours < 100 else 191, 0,
                      inks=n_colours - 1)  # fmt: skip
    assert len({block.colour for clue in puzzle.rows for block in clue}) == n_colours - 1
    assert len({colour.char for colour in puzzle.palette}) == n_colours


@pytest.mark.parametrize("n", range(3, 10))
def test_domino_is_the_published_family(shared: Path, n: int) -> None:
    numbers = [line.split() for line in (shared / "data" / "hard" / f"{n}-Dom.nin").read_text().split("\n")]
    width, height = map(int, numbers[0])
    lines = [[int(word) for word in line if word != "0"] for line in numbers[1 : 1 + height + width]]
    puzzle = generate("domino", 2 * n + 1, 2 * n + 1)
    assert [[block.length for block in clue] for clue in (*puzzle.rows, *puzzle.columns)] == lines
    assert (puzzle.height, puzzle.width) == (height, width)


@pytest.mark.parametrize("n", [3, 4])
def test_domino_has_one_solution_that_lines_do_not_find(n: int) -> None:
    puzzle = generate("domino", 2 * n + 1, 2 * n + 1)
    assert oracles.n_solutions(puzzle) == 1
    assert not oracles.is_line_solvable(puzzle)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99), st.integers(0, 100))
def test_a_set_has_the_clues_of_its_pictures_and_begins_with_the_single_puzzle(
    height: int, width: int, seed: int, density: int
) -> None:
    for kind in ("noise", "blobs"):
        long = list(puzzles_of(generate_set(kind, 5, height, width, seed, density=density)))
        single = generate(kind, height, width, seed, density=density)
        first = long[0]
        assert isinstance(first, Puzzle)
        assert (first.rows, first.columns) == (single.rows, single.columns)
        assert list(puzzles_of(generate_set(kind, 3, height, width, seed, density=density))) == long[:3]


@given(st.integers(0, 5), st.integers(1, 7), st.integers(1, 7), st.integers(0, 1 << 30))
def test_lines_of_many_pictures_are_their_runs(count: int, height: int, width: int, seed: int) -> None:
    cells = np.random.default_rng(seed).integers(0, 2 + seed % 3, (count, height, width), np.uint8)
    with pytest.MonkeyPatch.context() as patch:
        if seed % 2:
            patch.setattr(many, "_MAX_CELLS", seed % 100)  # a few lines at a time, as in huge pictures
        counts, lengths, colours = lines_of(cells)
    clues = [runs(line) for picture in cells.tolist() for line in (*picture, *zip(*picture, strict=True))]
    assert counts.tolist() == [len(clue) for clue in clues]
    assert lengths.tolist() == [block.length for clue in clues for block in clue]
    assert colours.tolist() == [block.colour for clue in clues for block in clue]


def test_sets_of_other_seeds_go_on_counting() -> None:
    batch = generate_set("noise", 4, 5, 5, seed=2, first_index=101)
    assert batch.column("index").to_pylist() == [101, 102, 103, 104]
    assert batch.column("digest").to_pylist() == [p.digest for p in puzzles_of(batch) if isinstance(p, Puzzle)]
    assert generate_set("noise", 0, 5, 5).num_rows == 0


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2), st.integers(0, 999))
def test_box_sums_are_sums_over_squares(height: int, width: int, radius: int, seed: int) -> None:
    field = np.random.default_rng(seed).integers(0, 100, (height + 2 * radius, width + 2 * radius))
    side = 2 * radius + 1
    expected = [[int(field[y : y + side, x : x + side].sum()) for x in range(width)] for y in range(height)]
    assert box_sum(field, radius).tolist() == expected


@pytest.mark.parametrize("percent", [0, 1, 30, 50, 100])
def test_blobs_have_the_density_asked_for(percent: int) -> None:
    field = np.random.default_rng(1).permutation(400).reshape(1, 20, 20)
    assert brightest(field, percent).sum() == 4 * percent


@pytest.mark.parametrize("symmetry", [1, 2, 3])
@pytest.mark.parametrize("size", [(12, 15), (20, 20)])
def test_icons_are_symmetric(symmetry: int, size: tuple[int, int]) -> None:
    goal = generate("icons", *size, 5, symmetry=symmetry).goal
    assert goal is not None
    mirrored = tuple(row[::-1] for row in goal)
    assert goal == {1: mirrored, 2: mirrored, 3: mirrored[::-1]}[symmetry]
    assert symmetry != 2 or goal == goal[::-1]


@pytest.mark.parametrize("seed", range(5))
def test_mazes_are_connected_and_have_no_loops(seed: int) -> None:
    goal = generate("mazes", 21, 31, seed).goal
    assert goal is not None
    free = {(y, x) for y, x in product(range(21), range(31)) if not goal[y][x]}
    doors = sum(((y + 1, x) in free) + ((y, x + 1) in free) for y, x in free)
    reached, edge = {(1, 1)}, [(1, 1)]
    while edge:
        y, x = edge.pop()
        near = {(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)} & free - reached
        reached |= near
        edge += near
    assert reached == free
    assert doors == len(free) - 1


@pytest.mark.parametrize(
    ("kind", "height", "width", "solutions"),
    [
        *[("permutation", n, n, factorial(n)) for n in (1, 2, 3, 4, 5)],
        *[("checkerboard", n, n, 1 if n % 2 else 2) for n in (2, 3, 4, 5, 6)],
        *[(kind, h, w, 1) for kind in ("empty", "full", "one_cell") for h, w in ((1, 1), (1, 5), (5, 1), (4, 3))],
        ("combs", 5, 6, 1),
        ("impasse", 4, 4, 0),
        ("impasse", 5, 6, 0),
        ("contradiction", 2, 2, 0),
        ("contradiction", 5, 4, 0),
        ("too_long", 4, 4, 0),
        ("rainbow", 3, 4, 1),
        ("gaps", 6, 6, 1),
    ],
)
def test_degenerate_puzzles_have_the_solutions_that_brute_force_counts(
    kind: str, height: int, width: int, solutions: int
) -> None:
    options = {"inks": 12} if kind == "rainbow" else {}
    assert oracles.n_solutions(generate(kind, height, width, **options)) == solutions


def test_an_impasse_is_not_seen_by_lines_but_a_contradiction_is() -> None:
    assert oracles.solved_grid(generate("impasse", 6, 5)) is not None
    assert oracles.solved_grid(generate("contradiction", 6, 5)) is None


def total(clues: tuple) -> int:
    return sum(block.length for clue in clues for block in clue)


@pytest.mark.parametrize("seed", range(20))
def test_careless_prints_are_wrong_in_the_way_they_say(seed: int) -> None:
    mismatch = generate("mismatch", 7, 9, seed)
    assert total(mismatch.rows) != total(mismatch.columns)
    for kind in ("shuffled", "too_long", "contradiction", "impasse"):
        puzzle = generate(kind, 7, 9, seed)
        assert total(puzzle.rows) == total(puzzle.columns)
    for kind in ("mismatch", "shuffled", "contradiction", "impasse"):
        puzzle = generate(kind, 7, 9, seed)
        assert all(sum(b.length + 1 for b in clue) <= puzzle.width + 1 for clue in puzzle.rows)
    assert sum(b.length + 1 for b in generate("too_long", 7, 9).rows[0]) - 1 > 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generate("blob", 5, 5), "expected a kind of puzzle (noise, blobs"),
        (lambda: generate("blobs", 0, 5), "blobs: expected height and width from 1, found 0 and 5"),
        (lambda: generate("blobs", 5, 5, -1), "blobs: expected a seed from 0 to 4294967295, found -1"),
        (lambda: generate("blobs", 5, 5, dense=3), "blobs: expected options among density, radius, found dense"),
        (lambda: generate("empty", 5, 5, dense=3), "empty: expected options among none, found dense"),
        (lambda: generate("noise", 5, 5, density=101), "noise: expected density from 0 to 100, found 101"),
        (lambda: generate("stripes", 5, 5, inks=0), "stripes: expected inks from 1 to 65000, found 0"),
        (lambda: generate("domino", 6, 6), "domino: expected height and width equal, odd and at least 5, found 6"),
        (lambda: generate("permutation", 6, 7), "permutation: expected height and width equal, found 6 and 7"),
        (lambda: generate("impasse", 3, 4), "impasse: expected height and width from 4, found 3 and 4"),
        (lambda: generate("contradiction", 1, 4), "contradiction: expected height and width from 2, found 1 and 4"),
        (lambda: generate("too_long", 1, 4), "too_long: expected a height of at least 2, found 1"),
        (lambda: generate_set("mazes", 5, 5, 5), "expected a kind that draws whole sets (noise, blobs), found mazes"),
    ],
)
def test_what_a_kind_cannot_make_is_said(call: object, message: str) -> None:
    with pytest.raises(InvalidPuzzle, match=re.escape(message)):
        call()  # type: ignore[operator]


def test_a_manifest_makes_its_files(tmp_path: Path) -> None:
    manifest = tmp_path / "m.toml"
    manifest.write_text(
        '[[file]]\nname = "a.nin"\nformat = "nin"\npuzzles = [{ kind = "blobs", height = 4, width = 6, seeds = 7 }]\n'
        '[[file]]\nname = "b.sgt"\nformat = "sgt"\npuzzles = [\n'
        '  { kind = "noise", height = 3, width = 3, seeds = "1-3, 9", density = 40 },\n'
        '  { kind = "full", height = 2, width = 2 },\n]\n'
    )
    paths = write_manifest(manifest, tmp_path / "out")
    assert [path.name for path in paths] == ["a.nin", "b.sgt"]
    assert paths[0].read_text().splitlines()[0] == "6 4"
    assert len(paths[1].read_text().split()) == 5
    assert [path.read_bytes() for path in paths] == [text.encode() for _, text in texts_of(manifest)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "expected a TOML file, found"),
        ("", "expected only [[file]] tables, found nothing"),
        ("a = 1", "expected only [[file]] tables, found a"),
        ("[[file]]", "file 1: expected a text for `name`, found None"),
        ('[[file]]\nname = "a"', "file 1: expected a text for `format`, found None"),
        ('[[file]]\nname = "../a"\nformat = "nin"', "file 1: expected a file name of its own without a folder"),
        ('[[file]]\nname = "a"\nformat = "nin"', "file 1 (a): expected name, format and a list `puzzles`, found None"),
        ('[[file]]\nname = "a"\nformat = "nin"\npuzzles = [{}]', "entry 1: expected a text for `kind`, found None"),
        ('[[file]]\nname = "a"\nformat = "x"\npuzzles = [{kind="full",height=1,width=1}]',
         "file 1 (a): expected a format among"),
        ('[[file]]\nname = "a"\nformat = "nin"\npuzzles = [{kind="full",height=1}]',
         "file 1 (a), entry 1: expected `height` and `width`, found height"),
        ('[[file]]\nname = "a"\nformat = "nin"\npuzzles = [{kind="full",height="1",width=1}]',
         "entry 1: expected a whole number for `height`, found '1'"),
        ('[[file]]\nname = "a"\nformat = "nin"\npuzzles = [{kind="full",height=1,width=1,seeds="1-"}]',
         "entry 1: expected seeds like `1-100, 250`, found '1-'"),
        ('[[file]]\nname = "a"\nformat = "nin"\npuzzles = [{kind="fall",height=1,width=1}]',
         "entry 1: expected a kind of puzzle"),
    ],
)  # fmt: skip
def test_a_broken_manifest_is_told_where_and_why(tmp_path: Path, text: str, message: str) -> None:
    manifest = tmp_path / "m.toml"
    manifest.write_text(text)
    with pytest.raises(InvalidPuzzle, match=re.escape(message)) as caught:
        write_manifest(manifest, tmp_path / "out")
    assert str(caught.value).startswith(str(manifest))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_every_byte_of_the_datasets_is_made_again_from_the_manifest(tmp_path: Path) -> None:
    made = write_manifest(DATASETS / "manifest.toml", tmp_path)
    kept = {path.name for path in DATASETS.iterdir()} - {"manifest.toml", "README.md"}
    assert {path.name for path in made} == kept
    for path in made:
        assert path.read_bytes() == (DATASETS / path.name).read_bytes(), f"{path.name} differs from its manifest"


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Puzzle]]:
    """The puzzles of the datasets by file."""
    return dict(puzzles_of_files(DATASETS / "manifest.toml"))


@pytest.mark.slow
def test_the_datasets_are_read_as_the_puzzles_that_were_drawn(drawn: dict[str, list[Puzzle]]) -> None:
    n = 0
    for name, puzzles in drawn.items():
        found = list(read(DATASETS / name))
        assert [puzzle.digest for puzzle in found] == [puzzle.digest for puzzle in puzzles], name
        assert [(p.height, p.width) for p in found] == [(p.height, p.width) for p in puzzles], name
        n += len(puzzles)
    assert n >= 2000
    assert f"{n:,} nonograms" in (DATASETS / "README.md").read_text()


@pytest.mark.slow
def test_the_datasets_are_mostly_line_solvable_with_a_share_of_ambiguous_and_contradictory_ones(
    drawn: dict[str, list[Puzzle]],
) -> None:
    results = solve_set(set_of(puzzle for puzzles in drawn.values() for puzzle in puzzles), Limits())
    outcomes = Counter(str(OUTCOMES[code]) for code in results.outcome)
    assert outcomes == {"unique": 2202, "multiple": 647, "contradiction": 57}
    assert np.mean(results.stage == STAGES.index("line")) > 0.7


@pytest.mark.slow
def test_a_walk_through_the_datasets_meets_the_puzzles_and_nothing_else(drawn: dict[str, list[Puzzle]]) -> None:
    skipped: list[str] = []
    names = {Path(source.name).name for source in sources([DATASETS], skipped.append)}
    assert names == set(drawn)
    assert {Path(name).name for name in skipped} == {"README.md", "manifest.toml"}


def test_a_set_of_generated_puzzles_keeps_names_and_metadata() -> None:
    puzzles = [generate("stripes", 4, 5, 1), generate("impasse", 4, 4)]
    assert list(puzzles_of(set_of(puzzles))) == puzzles
