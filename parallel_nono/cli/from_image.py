"""`pnono from-image`: pictures as puzzles, and what would make them good ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ..engine.waiting import patiently
from ..pictures.door import say, show
from .common import (
    Colours,
    When,
    check_paths,
    coloured,
    complain,
    counted,
    say_if_compiling,
    say_reading,
    say_skipped,
    width,
)
from .convert import STDOUT, write
from .draw import Album
from .exits import Code, Failure, code_of, writing
from .solve import verdict

if TYPE_CHECKING:
    from ..attempt import Limits, Result
    from ..files.containers import Source
    from ..pictures.repair import Repair
    from ..pictures.scan import Scan, Wish
    from ..puzzle import InvalidPuzzle, Puzzle

PACKED = ".parquet"
MAX_NAMED = 20


class Aim(StrEnum):
    """What the proposed changes are for."""

    UNIQUE = "unique"
    LINES = "lines"
    NONE = "none"


class Method(StrEnum):
    """How colours are reduced."""

    KMEANS = "k-means"
    MEDIANCUT = "median-cut"


def from_image(
    images: Annotated[
        list[str], typer.Argument(metavar="IMG...", help="PNG, GIF, BMP, PBM, PGM, PPM, JPEG, WebP; folders; or -.")
    ],
    out: Annotated[
        str, typer.Option(metavar="OUT", help="Write the puzzles: a file, a folder, -, or a packed set (.parquet).")
    ] = "",
    to: Annotated[str, typer.Option(metavar="NAME", help="Format of OUT; else by its ending.")] = "",
    size: Annotated[int, typer.Option(min=0, help="Cells of the longer side; 0: as it is, or 30 if over 150.")] = 0,
    columns: Annotated[int, typer.Option("--width", min=0, help="Cells of a row; 0: in proportion.")] = 0,
    rows: Annotated[int, typer.Option("--height", min=0, help="Cells of a column; 0: in proportion.")] = 0,
    colours: Annotated[
        int, typer.Option(min=0, max=31, help="With the background; 0: as they are if up to 12, else 2.")
    ] = 0,
    method: Annotated[Method, typer.Option(help="How colours are reduced.")] = Method.KMEANS,
    threshold: Annotated[
        int, typer.Option(min=-1, max=256, help="Darker (0-255) is black; -1: where light and dark part best.")
    ] = -1,
    dither: Annotated[bool, typer.Option("--dither", help="Spread the error of colours over neighbours.")] = False,
    background: Annotated[
        str, typer.Option(metavar="SHADE", help="The background: a name, #rrggbb, transparent, or auto.")
    ] = "auto",
    trim: Annotated[bool, typer.Option("--trim", help="Cut off the margin of one colour.")] = False,
    aim: Annotated[
        Aim, typer.Option(help="Propose changes: one solution only; solved by lines alone; no proposal.")
    ] = Aim.UNIQUE,
    tries: Annotated[
        int, typer.Option(min=1, help="Pictures to try in order of size; then four times as many greedily.")
    ] = 50_000,
    apply: Annotated[bool, typer.Option("--apply", help="Write the changed pictures to OUT.")] = False,
    picture: Annotated[
        str,
        typer.Option(
            metavar="OUT",
            help="Also draw the pictures; changed cells show the old colour below the new one. A file or folder.",
        ),
    ] = "",
    seconds: Annotated[float, typer.Option(min=0.0, help="Time to solve one puzzle.")] = 60.0,
    colour: Colours = When.AUTO,
) -> None:
    """Make puzzles from pictures, and say at once whether they are good ones.

    A small picture of few colours is taken as it is, one pixel a cell, even if it was enlarged. Other pictures are
    shrunk and reduced: to black and white, or to --colours. Transparent pixels are the background, else white ones,
    else those of the colour in the corner.

    If there are several solutions, the cells in which two of them differ are marked, and pnono looks
    for the fewest cells whose change leaves only one solution (--aim lines: one that lines alone find). Sets of changes
    are tried in order of size, so `fewer do not help` is proved. A picture that is too much for --tries, or open
    almost everywhere, is approached greedily.

    \b
    pnono from-image heart.png
    pnono from-image cat.jpg --size 25 --threshold 110 --out cat.non
    pnono from-image cat.jpg --colours 5 --aim lines --apply --out cat.xml --picture cat-puzzle.png
    pnono from-image pictures/ --size 20 --apply --out pack.parquet

    \b
    Exit codes: 0 each puzzle has one solution; 1 one has several; 3 a picture can't be read, or OUT can't carry a
    puzzle; 4 undecided; 74 OUT can't be written. Of several pictures the highest counts.
    """
    from ..attempt import Limits
    from ..pictures.scan import Wish

    wish = Wish(columns, rows, size, colours, method.value, threshold, dither, _background(background), trim)
    file = sys.stderr if out == STDOUT else sys.stdout
    maker = _Maker(wish, aim, tries, apply, Limits(seconds), coloured(colour), file)
    check_paths(images, _is_picture, "pictures")
    maker.album = Album.of_solutions(picture) if picture else None
    say_if_compiling()
    puzzles = maker.puzzles(images)
    if not out:
        for _ in puzzles:
            pass
    elif out.endswith(PACKED) and not to:
        _pack(puzzles, Path(out))
    else:
        write(puzzles, out, to)
    if maker.album:
        maker.album.finish(quiet=True)
    if maker.code:
        raise typer.Exit(maker.code)


def _background(text: str) -> int | None:
    from ..formats.common.picture import TRANSPARENT
    from ..formats.common.shades import shade

    if text == "auto":
        return None
    found = TRANSPARENT if text == "transparent" else shade(text)
    if found is None:
        raise Failure(
            Code.USAGE, f"--background: expected a name of a colour, #rrggbb, transparent or auto, found `{text}`"
        )
    return found


def _pack(puzzles: Iterable[Puzzle], out: Path) -> None:
    from ..files.packed import write_packed
    from ..puzzleset import set_of

    with writing(out):
        n = write_packed(out, (set_of([puzzle]) for puzzle in puzzles))
    say(f"{counted(n, 'puzzle')} in {out}")


def _files(images: Sequence[str]) -> Iterator[Source]:
    """The pictures, those of a folder or an archive by name; none of them is read yet."""
    from ..files import packing
    from ..files.containers import sources

    packing.Share.told = say_reading
    yield from sources(images, say_skipped, _is_picture)


def _is_picture(name: str, head: Callable[[], bytes]) -> bool:
    from ..pictures.scan import ENDINGS

    return name.endswith(ENDINGS)


class _Maker:
    """Makes puzzles of pictures, one after the other, and says what is to be said about each.

    code  the exit code so far.
    """

    def __init__(
        self, wish: Wish, aim: Aim, tries: int, apply: bool, limits: Limits, paint: bool, file: TextIO
    ) -> None:
        self.wish, self.aim, self.tries, self.apply, self.limits = wish, aim, tries, apply, limits
        self.paint, self.file = paint, file
        self.album: Album | None = None
        self.code = Code.FINE

    def puzzles(self, images: list[str]) -> Iterator[Puzzle]:
        from ..pictures.scan import scans
        from ..puzzle import InvalidPuzzle

        brief = len(images) > 1 or os.path.isdir(images[0])
        for source in _files(images):
            try:
                for made in scans(source.load(), source.name, self.wish):
                    if isinstance(made, InvalidPuzzle):
                        self._refused(made)
                    else:
                        yield self.looked_at(made, brief or made.puzzle.index > 1)
            except InvalidPuzzle as error:
                self._refused(error)

    def _refused(self, error: InvalidPuzzle) -> None:
        complain(error)
        self.code = max(self.code, Code.INVALID)

    def looked_at(self, made: Scan, brief: bool) -> Puzzle:
        """Solve a puzzle, say what became of it, propose changes; the puzzle, changed if that is wished."""
        from ..attempt import Outcome
        from ..pictures.sheets import Sheet, array_of
        from ..pictures.terminal import differences, legend
        from ..solver import solve

        puzzle = made.puzzle
        assert puzzle.goal is not None
        result: Result = patiently(solve, puzzle, self.limits)
        others = sorted((len(differences(puzzle.goal, one)), one) for one in result.solutions if one != puzzle.goal)
        size = f"{puzzle.width} x {puzzle.height}, {counted(puzzle.n_colours, 'colour')}"
        self.say(f"{puzzle.source}: {size} ({'; '.join(made.notes)})")
        for warning in puzzle.warnings:
            self.say(f"warning: {warning}")
        if not brief:
            self.show(puzzle, differences(puzzle.goal, others[0][1]) if others else set())
            if puzzle.n_colours > 2:
                show(legend(puzzle, colour=self.paint), self.file)
        self.say(self.verdict(result, others[0][0] if others else 0))
        code, cells = code_of(result.outcome), array_of(puzzle.goal)
        sheet = Sheet(puzzle, cells, array_of(others[0][1]) if others else None)
        good = result.outcome is Outcome.UNIQUE and (self.aim is not Aim.LINES or result.stage in ("read", "line"))
        changed = None if good or self.aim is Aim.NONE else self.proposed(made, brief)
        if changed is not None:
            sheet = Sheet(changed, array_of(changed.goal or ()), cells)
            if self.apply:
                puzzle, code = changed, Code.FINE
        self.code = max(self.code, code)
        if self.album:
            self.album.add(sheet)
        return puzzle

    def verdict(self, result: Result, n_differing: int) -> str:
        """The outcome as a sentence, with what it took."""
        from ..attempt import Outcome

        if result.outcome is not Outcome.MULTIPLE:
            sentence = verdict(result, 0)
        else:
            sentence = f"Ambiguous: another solution differs in {counted(n_differing, 'cell')}, which are marked."
        counts = ", ".join(counted(result.counts[f"n_{noun}s"], noun) for noun in ("round", "probe"))
        return f"{sentence} Stage {result.stage}; {counts}."

    def proposed(self, made: Scan, brief: bool) -> Puzzle | None:
        """Look for the fewest changes and say what they are; the changed puzzle, None if none was found."""
        from ..pictures.repair import changed, repair
        from ..pictures.sheets import array_of
        from ..puzzle import Puzzle

        puzzle = made.puzzle
        before = array_of(puzzle.goal or ())
        found: Repair = patiently(repair, before, puzzle.n_colours, self.aim.value, made.costs, self.tries)
        what = "lines alone find the only solution" if self.aim is Aim.LINES else "there is one solution only"
        if found.changes is None:
            least = f"; it takes {counted(found.least, 'change')} or more" if found.least else ""
            self.say(f"No proposal: {found.n_tried:,} pictures tried{least}.")
            return None
        bound = f", but not under {found.least}" if found.least > 1 else ""
        proof = "fewer do not help" if found.is_minimal else f"fewer may do{bound}"
        self.say(f"Proposal: change {counted(len(found.changes), 'cell')}, then {what}; {proof}.")
        for row, column, colour in found.changes[:MAX_NAMED]:
            old, new = (puzzle.palette[c].name for c in (before[row, column], colour))
            self.say(f"  row {row + 1}, column {column + 1}: {old} -> {new}")
        if len(found.changes) > MAX_NAMED:
            self.say(f"  and {len(found.changes) - MAX_NAMED} more")
        facts = {name: getattr(puzzle, name) for name in ("name", "source", "index", "metadata", "warnings")}
        better = Puzzle.of_grid(changed(before, found.changes).tolist(), puzzle.palette, **facts)
        if not brief:
            self.show(better, {(row, column) for row, column, _ in found.changes})
        return better

    def show(self, puzzle: Puzzle, marks: set[tuple[int, int]]) -> None:
        """The goal in the terminal."""
        from ..pictures.terminal import colour_picture, text_picture

        assert puzzle.goal is not None
        picture = colour_picture if self.paint else text_picture
        show(picture(puzzle, puzzle.goal, width=width(), marks=marks), self.file)

    def say(self, text: str) -> None:
        say(text, file=self.file)
