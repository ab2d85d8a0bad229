"""What the text formats share: messages, numbers, clues, sizes, names, and the refusals of writers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice, pairwise
from typing import Any

from ...puzzle import BLACK_AND_WHITE, BLOT, Block, Clue, Grid, InvalidPuzzle, Palette, Puzzle, runs, shows
from .. import PACKINGS, Parsed

MAX_LINE = 200_000
"""Cells of a line, and so the longest block."""

MAX_CELLS = 400_000_000
"""Cells of a grid."""

MAX_INKS = 65_535
"""Colours besides the background: they are kept as uint16."""

EMPTY_TEXTS = frozenset(
    ("0", "-", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2212", "[]", "[0]", "()", '""', "''")
)
"""How people write the clue of an empty line: as 0, with a hyphen, a dash or a minus sign, as an empty list or text."""

FOLDERS = re.compile(r"\\(?!x[0-9a-f]{2})")
"""What parts folders elsewhere; `\\xe9` is a byte of a name that is no UTF-8 (see `files.paths.readable`)."""

DIVIDER = re.compile(r"(?:={3,}|-{3,})\Z")
"""A line between two puzzles."""

CLUES = re.compile(r"[0-9?][0-9?, \t]*\Z")
"""A line of black clues."""

BLOT_TEXT = Block(BLOT).text
"""A length that the clue hides."""

MAX_SHOWN = 60
WORD = re.compile(r"\S+")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def shown(found: object) -> str:
    """What was found, cut to a readable length, without line breaks and what else moves a terminal."""
    text = CONTROL.sub(" ", str(found)[: 4 * MAX_SHOWN])
    return f"`{text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '...'}`"


def wrong(source: str, line: int, hope: str, found: object) -> InvalidPuzzle:
    """`SOURCE:LINE: expected HOPE, found FOUND`; line 0: the line means nothing."""
    place = f"{source}:{line}" if line else source
    return InvalidPuzzle(f"{place}: expected {hope}, found {shown(found)}")


def number(word: str, source: str, line: int, hope: str = "a length") -> int:
    """A non-negative number of at most nine digits."""
    if not (word.isascii() and word.isdigit()) or len(word) > 9:
        raise wrong(source, line, hope, word)
    return int(word)


def length_of(word: str, source: str, line: int) -> int:
    """The length of a block, or 0."""
    length = number(word, source, line, f"block lengths up to {MAX_LINE:,}")
    if length > MAX_LINE:
        raise wrong(source, line, f"block lengths up to {MAX_LINE:,}", word)
    return length


def says_empty(words: Sequence[str]) -> bool:
    """True for the words of a clue that are a sign for an empty line, such as `-` or `[ 0 ]`."""
    return len(words) < 4 and "".join(words) in EMPTY_TEXTS and (len(words) < 2 or words[0] in "[(")


def black_clue(words: Sequence[str], source: str, line: int) -> Clue:
    """Lengths in black, `?` for a blot; `0` or what else `says_empty` is an empty line, `0` beside others an error."""
    digits = "".join(words)
    if digits.isascii() and digits.isdigit() and "" not in words and len(max(words, key=len)) < 6:
        lengths = list(map(int, words))  # the usual case; below 100,000
    elif says_empty(words):
        return ()
    else:
        lengths = [length_of(word, source, line) for word in words if word != BLOT_TEXT]
    if 0 in lengths:
        if len(words) > 1:
            raise wrong(source, line, "`0` alone or lengths from 1", " ".join(words))
        return ()
    if len(lengths) < len(words):
        return tuple(Block(BLOT if word == BLOT_TEXT else int(word)) for word in words)
    return tuple(map(_black, lengths))


def coloured_clue(parts: Sequence[tuple[str, int]], source: str, line: int, text: str) -> Clue:
    """A clue of (length as text, colour) pairs, by the rules of `black_clue`. `text` is shown where it breaks them."""
    clue = []
    for word, colour in parts:
        length = BLOT if word == BLOT_TEXT else length_of(word, source, line)
        if length == 0 and word != BLOT_TEXT:
            if len(parts) > 1:
                raise wrong(source, line, "`0` alone or lengths from 1", text)
            return ()
        clue.append(Block(length, colour))
    return tuple(clue)


@lru_cache(1024)
def _black(length: int) -> Block:
    """Blocks in black, made once for each length: files hold them by the million."""
    return Block(length)


Lines = list[tuple[int, str]]
"""(number from 1, text) of lines of a file."""


def numbered(text: str) -> Lines:
    """The lines of a text, blanks at their ends stripped; nothing follows the last line end."""
    return [(place, line.strip()) for place, line in enumerate(text.removesuffix("\n").split("\n"), start=1)]


class Words:
    """The words of a text one after another, with the line of each for messages."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.words = WORD.finditer(text)
        self.at = 0
        self._line, self._counted = 1, 0

    def __iter__(self) -> Iterator[str]:
        for found in self.words:
            self.at = found.start()
            yield found[0]

    def next(self, hope: str) -> str:
        found = next(self.words, None)
        if found is None:
            raise wrong(self.source, 0, hope, "the end of the file")
        self.at = found.start()
        return found[0]

    def goes_on(self) -> bool:
        """Whether another word is left; `at` is its place then, and it is the next one."""
        found = next(self.words, None)
        if found is None:
            return False
        self.at = found.start()
        self.words = WORD.finditer(self.text, self.at)
        return True

    def number(self, hope: str) -> int:
        word = self.next(hope)
        if word.isascii() and word.isdigit() and len(word) < 7:
            return int(word)
        return number(word, self.source, self.line, hope)

    def numbers(self, n: int) -> list[int] | None:
        """The next `n` words, if all are numbers of at most six digits; else none of them is taken."""
        found = list(islice(self.words, n))
        texts = [match[0] for match in found]
        digits = "".join(texts)
        if len(found) == n and digits.isascii() and digits.isdigit() and len(max(texts, key=len)) < 7:
            self.at = found[-1].start()
            return list(map(int, texts))
        if found:
            self.words = WORD.finditer(self.text, found[0].start())
        return None

    def back_to(self, at: int) -> None:
        """Take no word behind the one that begins at a place."""
        self.words = WORD.finditer(self.text, at)
        self.at = at
        next(self.words)

    @property
    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line


def from_first_full(lines: Lines, source: str, wanted: str) -> Lines:
    """The lines from the first one with something in it on. Errors: InvalidPuzzle if there is none."""
    for place, (_, line) in enumerate(lines):
        if line:
            return lines[place:]
    raise wrong(source, 0, wanted, "an empty file")


def clue_lines(lines: Lines, wanted: int, source: str, what: str) -> Lines:
    """The `wanted` lines that hold clues.

    As many lines with something in them as wanted: blank lines are decoration. Fewer: the first lines as they stand,
    a blank one is an empty clue. Errors: InvalidPuzzle if neither gives the right number.
    """
    full = [line for line in lines if line[1]]
    if len(full) == wanted:
        return full
    if len(full) < wanted <= len(lines) and not any(text for _, text in lines[wanted:]):
        return lines[:wanted]
    line = full[wanted][0] if len(full) > wanted else lines[0][0] if lines else 0
    raise wrong(source, line, f"{wanted} lines of {what} clues", f"{len(full)} lines")


def next_clues(lines: Lines, start: int, wanted: int, source: str, what: str) -> tuple[Lines, int]:
    """(the `wanted` lines from `start` on that hold clues, where they end) of a text that may go on with more puzzles.

    Blank lines are decoration, unless the file ends before there are enough lines: see `clue_lines`.
    """
    found = lines[start : start + wanted]
    if len(found) == wanted and all(line for _, line in found):
        return found, start + wanted
    found = []
    for at in range(start, len(lines)):
        if lines[at][1]:
            found.append(lines[at])
            if len(found) == wanted:
                return found, at + 1
    return clue_lines(lines[start:], wanted, source, what), len(lines)


def next_full(lines: Lines, start: int, divided: bool = True) -> int:
    """The first line from `start` on with something in it, dividers apart if `divided`; the end if there is none."""
    while start < len(lines) and (not lines[start][1] or (divided and DIVIDER.match(lines[start][1]))):
        start += 1
    return start


def n_first_full(lines: Lines, start: int, most: int) -> int:
    """How many lines from `start` on have something in them; counted up to one more than `most`."""
    return sum(1 for _ in islice((line for line in islice(lines, start, None) if line[1]), most + 1))


One = Callable[[Lines, int], tuple[Puzzle, int]]
"""(lines, where a puzzle begins) -> (the puzzle, where it ends)."""


def one_by_one(lines: Lines, source: str, read: One) -> Iterator[Puzzle | InvalidPuzzle]:
    """Puzzles one after another, of formats that tell how long each is; blank lines and dividers between them.

    What follows a puzzle and is none is an error of its own, that names its line.
    """
    at = next_full(lines, 0, divided=False)
    index = 0
    while not index or at < len(lines):
        index += 1
        try:
            puzzle, at = read(lines, at)
        except InvalidPuzzle as error:
            yield InvalidPuzzle(str(error), name=labelled(source, "", index, index == 1), index=index)
            return
        at = next_full(lines, at)
        alone = index == 1 and at == len(lines)
        yield puzzle if alone else replace(puzzle, name=labelled(source, "", index, False), index=index)


def first_fit(text: str, parse: Callable[[str, str], Parsed], n: int = 1) -> bool:
    """Whether a text begins with `n` puzzles whose sums and lengths fit, whatever follows them."""
    try:
        found = list(islice(parse(text, ""), n))
    except InvalidPuzzle:
        return False
    return len(found) == n and all(isinstance(item, Puzzle) and fits(item.rows, item.columns) for item in found)


def begins_with(head: re.Pattern[str], parse: Callable[[str, str], Parsed]) -> Callable[[str], bool]:
    """`Format.begins` of a format whose puzzles open with `head`: such a head, and a puzzle that fits."""
    return partial(_begins_with, head, parse)


def _begins_with(head: re.Pattern[str], parse: Callable[[str, str], Parsed], text: str) -> bool:
    return head.match(text) is not None and first_fit(text, parse)


NUMBERS_ALONE = re.compile(r"[0-9?, \t\n]*+\Z")
"""The rest of a text that has nothing but clues of lengths."""


def two_sizes(line: tuple[int, str], source: str, hope: str) -> tuple[int, int]:
    """The two numbers of a header such as `W H`."""
    words = line[1].split()
    if len(words) != 2:
        raise wrong(source, line[0], hope, line[1])
    return number(words[0], source, line[0], hope), number(words[1], source, line[0], hope)


def black_clues(lines: Lines, source: str) -> list[Clue]:
    """A clue a line; numbers parted by blanks, tabs or commas."""
    return [black_clue(text.replace(",", " ").split(), source, place) for place, text in lines]


def sizes(height: int, width: int, source: str, line: int = 0) -> None:
    """Errors: InvalidPuzzle for a grid that is empty or beyond the limits; nothing is allocated before."""
    if min(height, width) < 1 or max(height, width) > MAX_LINE or height * width > MAX_CELLS:
        raise wrong(
            source,
            line,
            f"a width and a height from 1 to {MAX_LINE:,} and at most {MAX_CELLS:,} cells",
            f"{width} wide and {height} high",
        )


@lru_cache(maxsize=512)
def stem(source: str, index: int = 0) -> str:
    """A name for a puzzle that has none: the file's name without folders and endings; `#index` if index is given."""
    name = (FOLDERS.sub("/", source) if "\\" in source else source).rstrip("/").rsplit("/", 1)[-1]
    for ending in (*PACKINGS, ".txt"):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    head, dot, tail = name.rpartition(".")
    if dot and head and tail.isalnum():
        name = head
    return f"{name}#{index}" if index else name


def labelled(source: str, label: str, index: int, alone: bool) -> str:
    """A name for a puzzle of a file with many: `FILE#LABEL`, or `FILE#INDEX`, or `FILE` for the only one."""
    if label and not label.isprintable():
        label = CONTROL.sub(" ", label)
    return f"{stem(source)}#{label or index}" if label or not alone else stem(source)


def make(
    rows: Sequence[Clue],
    columns: Sequence[Clue],
    source: str,
    *,
    palette: Palette = BLACK_AND_WHITE,
    name: str = "",
    index: int = 1,
    metadata: Sequence[tuple[str, str]] = (),
    goal: Grid | None = None,
    warnings: Sequence[str] = (),
) -> Puzzle:
    """A puzzle; what it refuses is told with its source. A goal that breaks the clues becomes a warning."""
    name = CONTROL.sub(" ", name) if name.strip() else stem(source)
    try:
        sizes(len(rows), len(columns), source)
        if len(palette) > MAX_INKS + 1:
            raise wrong(source, 0, f"at most {MAX_INKS:,} colours", len(palette))
        puzzle = Puzzle(
            tuple(rows), tuple(columns), palette, name, source, index, tuple(metadata), goal,
            tuple(warnings),
        )  # fmt: skip
    except InvalidPuzzle as error:
        message = str(error) if str(error).startswith(source) else f"{source}: {error}"
        raise InvalidPuzzle(message, name=name, index=index) from None
    doubt = goal_doubt(puzzle)
    return replace(puzzle, warnings=(*puzzle.warnings, doubt)) if doubt else puzzle


def goal_doubt(puzzle: Puzzle) -> str:
    """Where the goal breaks the clues, or ""."""
    if puzzle.goal is None:
        return ""
    for kind, clues, cells in (
        ("row", puzzle.rows, puzzle.goal),
        ("column", puzzle.columns, zip(*puzzle.goal, strict=True)),
    ):
        for place, (clue, line) in enumerate(zip(clues, cells, strict=True), start=1):
            if not shows(line, clue):
                wanted, seen = (lengths(c) for c in (clue, runs(line)))
                return f"the goal breaks the clue of {kind} {place}: expected {wanted}, found {seen}"
    return ""


def used(palette: Palette, rows: Sequence[Clue], columns: Sequence[Clue], goal: Grid | None) -> tuple[Any, ...]:
    """(palette, rows, columns, goal) without the inks that no clue and no goal cell uses: templates declare many."""
    inks = {block.colour for clue in (*rows, *columns) for block in clue}
    if goal is not None:
        inks.update(cell for row in goal for cell in row)
    kept = [0, *(c for c in range(1, len(palette)) if c in inks)]
    if len(kept) == 1:
        kept = [0, 1] if len(palette) > 1 else kept
    if len(kept) == len(palette):
        return palette, rows, columns, goal
    place = {old: new for new, old in enumerate(kept)}

    def turned(clues: Sequence[Clue]) -> tuple[Clue, ...]:
        return tuple(tuple(Block(b.length, place[b.colour]) for b in clue) for clue in clues)

    return (
        tuple(palette[old] for old in kept),
        turned(rows),
        turned(columns),
        None if goal is None else tuple(tuple(place[cell] for cell in row) for row in goal),
    )


def goal_of_cells(cells: str, colours: dict[str, int], height: int, width: int, source: str, line: int) -> Grid:
    """The goal that one character a cell shows, row by row, all rows in one text.

    colours  colour index by character. Errors: InvalidPuzzle for a wrong number of cells or an unknown character.
    """
    if len(cells) != height * width:
        raise wrong(source, line, f"a goal of {height * width} cells ({width} x {height})", f"{len(cells)}")
    unknown = next((cell for cell in cells if cell not in colours), None)
    if unknown is not None:
        raise wrong(source, line, f"a goal of the characters {' '.join(colours)}", unknown)
    flat = [colours[cell] for cell in cells]
    return tuple(tuple(flat[start : start + width]) for start in range(0, height * width, width))


def run_lengths(cells: str) -> list[int]:
    """The lengths of the runs that are left of a text of 0 and 1: `11101` is 3, 1."""
    return [len(run) for run in cells.split("0") if run]


def fits(rows: Sequence[Clue], columns: Sequence[Clue]) -> bool:
    """False where sums or lengths show that clues can't be the rows and the columns of one puzzle."""
    for clues, room in ((rows, len(columns)), (columns, len(rows))):
        for clue in clues:
            gaps = sum(one.colour == next_.colour for one, next_ in pairwise(clue))
            if sum(max(block.length, 1) for block in clue) + gaps > room:
                return False
    return balanced(rows, columns)


def balanced(rows: Sequence[Clue], columns: Sequence[Clue]) -> bool:
    """False where rows and columns don't have as many cells of each colour."""
    sums: list[defaultdict[int, int]] = [defaultdict(int), defaultdict(int)]
    for cells, side in zip(sums, (rows, columns), strict=True):
        for clue in side:
            for length, colour in clue:
                if length == BLOT:
                    return True
                cells[colour] += length
    return sums[0] == sums[1]


def clues_of_goal(goal: Grid) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
    """Rows and columns that a picture shows."""
    return tuple(runs(row) for row in goal), tuple(runs(column) for column in zip(*goal, strict=True))


# What writers need.


def only_one(puzzles: Iterable[Puzzle], title: str) -> Puzzle:
    """The one puzzle of `puzzles`. Errors: InvalidPuzzle if there are none or several."""
    found = list(puzzles)
    if len(found) != 1:
        raise InvalidPuzzle(f"{title} carries exactly one puzzle a file, found {len(found)}")
    return found[0]


def only_black(puzzle: Puzzle, title: str) -> Puzzle:
    """Errors: InvalidPuzzle for a puzzle with more than one ink."""
    if puzzle.n_colours != 2:
        inks = ", ".join(colour.name for colour in puzzle.palette[1:6])
        raise InvalidPuzzle(
            f"{title} carries no colours, found {puzzle.n_colours - 1} inks ({inks}) in {puzzle.name!r}"
        )
    return puzzle


def only_picture(puzzle: Puzzle, title: str) -> Grid:
    """The goal, for a format that keeps the picture in place of the clues.

    Errors: InvalidPuzzle if there is none, or if its clues are not those of the puzzle.
    """
    if puzzle.goal is None:
        raise InvalidPuzzle(f"{title} carries the picture, not the clues, found no goal in {puzzle.name!r}")
    if (puzzle.rows, puzzle.columns) != clues_of_goal(puzzle.goal):
        doubt = goal_doubt(puzzle) or "blotted clues (`?`)"
        raise InvalidPuzzle(f"{title} carries the picture, not the clues, found in {puzzle.name!r}: {doubt}")
    return puzzle.goal


def lengths(clue: Clue, gap: str = " ", empty: str = "0") -> str:
    """`2 1`, or `0`."""
    return gap.join([block.text for block in clue]) or empty


def letters(n_colours: int, letters: str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") -> list[str]:
    """One short suffix for each colour of a palette, the background first: "", "a", "b", ... then "aa", "ab", ..."""
    found = [""]
    width = 1
    while len(found) < n_colours:
        for place in range(len(letters) ** width):
            word = ""
            for _ in range(width):
                place, digit = divmod(place, len(letters))
                word = letters[digit] + word
            found.append(word)
            if len(found) == n_colours:
                break
        width += 1
    return found
