"""Random clues, lines, grids and puzzles for hypothesis; they shrink towards small, empty and black-white."""

from __future__ import annotations

from hypothesis import strategies as st

from parallel_nono.puzzle import BLACK_AND_WHITE, BLOT, Block, Clue, Colour, Grid, Palette, Puzzle, runs

MAX_COLOURS = 6


@st.composite
def palettes(draw: st.DrawFn, n_colours: int) -> Palette:
    """A palette with the background white; black and white has the usual names."""
    if n_colours == 2:
        return BLACK_AND_WHITE
    shades = draw(
        st.lists(st.integers(0, 0xFFFFFE), min_size=n_colours - 1, max_size=n_colours - 1, unique=True), "shades"
    )
    inks = (Colour(f"ink{i}", "abcdefghijklmnopqrstuvwxyz"[i], rgb) for i, rgb in enumerate(shades))
    return (BLACK_AND_WHITE[0], *inks)


def n_colours(most: int = MAX_COLOURS) -> st.SearchStrategy[int]:
    """Sizes of palettes, background included; half of them black and white."""
    return st.one_of(st.just(2), st.integers(2, most))


@st.composite
def clues(draw: st.DrawFn, n_cells: int, n_colours: int = 2, fits: bool = True) -> Clue:
    """A clue for a line of `n_cells`; with fits=False it may be a cell or two too long."""
    room = n_cells if fits else n_cells + 2
    blocks: list[Block] = []
    while room > 0 and draw(st.integers(0, 3)):
        colour = draw(st.integers(1, n_colours - 1))
        room -= bool(blocks) and blocks[-1].colour == colour
        if room <= 0:
            break
        blocks.append(Block(draw(st.integers(1, room)), colour))
        room -= blocks[-1].length
    return tuple(blocks)


@st.composite
def lines(
    draw: st.DrawFn, max_cells: int = 10, max_colours: int = MAX_COLOURS
) -> tuple[Clue, tuple[frozenset[int], ...], int]:
    """(clue, colours that each cell may take, number of colours): often with an arrangement left, sometimes without
    one."""
    colours = draw(n_colours(max_colours))
    n_cells = draw(st.integers(1, max_cells))
    one = st.integers(0, colours - 1)
    everything = frozenset(range(colours))
    some = st.one_of(st.just(everything), st.frozensets(one, min_size=1), st.frozensets(one))
    if draw(st.booleans()):
        cells = draw(st.lists(one, min_size=n_cells, max_size=n_cells))
        kept = draw(st.lists(st.one_of(st.just(everything), some), min_size=n_cells, max_size=n_cells))
        return runs(cells), tuple(k | {c} for k, c in zip(kept, cells, strict=True)), colours
    allowed = draw(st.lists(some, min_size=n_cells, max_size=n_cells))
    return draw(clues(n_cells, colours)), tuple(allowed), colours


@st.composite
def grids(draw: st.DrawFn, most: int = 6, colours: int | None = None) -> Grid:
    """Colour indices of a small picture, both orientations."""
    colours = draw(n_colours()) if colours is None else colours
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    cell = st.integers(0, colours - 1)
    return draw(st.tuples(*[st.tuples(*[cell] * width)] * height))


@st.composite
def puzzles_of_grids(draw: st.DrawFn, most: int = 6, max_colours: int = MAX_COLOURS) -> Puzzle:
    """Puzzles with at least one solution: the goal."""
    colours = draw(n_colours(max_colours))
    return Puzzle.of_grid(draw(grids(most, colours)), draw(palettes(colours)))


@st.composite
def puzzles_of_clues(draw: st.DrawFn, most: int = 6, max_colours: int = MAX_COLOURS, fits: bool = True) -> Puzzle:
    """Puzzles from random clues, hence mostly contradictory; with fits=False clues may exceed their lines."""
    colours = draw(n_colours(max_colours))
    height, width = draw(st.integers(1, most)), draw(st.integers(1, most))
    rows = st.tuples(*[clues(width, colours, fits)] * height)
    columns = st.tuples(*[clues(height, colours, fits)] * width)
    return Puzzle(draw(rows), draw(columns), draw(palettes(colours)))


@st.composite
def shuffled_puzzles(draw: st.DrawFn, most: int = 6, max_colours: int = MAX_COLOURS) -> Puzzle:
    """Clues of a picture with two columns exchanged: sums fit, a solution may or may not be left."""
    puzzle = draw(puzzles_of_grids(most, max_colours))
    columns = draw(st.permutations(puzzle.columns))
    return Puzzle(puzzle.rows, tuple(columns), puzzle.palette)


def puzzles(most: int = 6, max_colours: int = MAX_COLOURS) -> st.SearchStrategy[Puzzle]:
    """Puzzles with no, one or several solutions."""
    return st.one_of(
        puzzles_of_grids(most, max_colours),
        shuffled_puzzles(most, max_colours),
        puzzles_of_clues(most, max_colours),
        puzzles_of_clues(most, max_colours, fits=False),
    )


@st.composite
def blotted_clues(draw: st.DrawFn, clue: Clue) -> Clue:
    """A clue with some lengths hidden."""
    return tuple(Block(BLOT, block.colour) if draw(st.booleans()) else block for block in clue)


@st.composite
def blotted_lines(
    draw: st.DrawFn, max_cells: int = 9, max_colours: int = 4
) -> tuple[Clue, tuple[frozenset[int], ...], int]:
    """Lines as `lines` draws them, some lengths hidden."""
    clue, allowed, colours = draw(lines(max_cells, max_colours))
    return draw(blotted_clues(clue)), allowed, colours


@st.composite
def blotted_puzzles(draw: st.DrawFn, most: int = 5, max_colours: int = 4) -> Puzzle:
    """Puzzles with no, one or several solutions, some lengths hidden."""
    puzzle = draw(puzzles(most, max_colours))
    rows, columns = (st.tuples(*map(blotted_clues, clues)) for clues in (puzzle.rows, puzzle.columns))
    return Puzzle(draw(rows), draw(columns), puzzle.palette)
