"""`pnono draw`: puzzles, solutions and the steps of a solving as pictures; and the pictures of `solve` and `run`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..engine.waiting import patiently
from ..pictures.door import say
from ..pictures.names import file_name
from .common import FormatName, Number, complain, counted, parse_plan, puzzles, say_if_compiling
from .convert import save
from .exits import Code, Failure, writing

if TYPE_CHECKING:
    from ..attempt import Limits, Outcome, Result
    from ..pictures.frames import Frame
    from ..pictures.lattice import Look
    from ..pictures.sheets import Sheet
    from ..puzzle import Puzzle

MAX_FRAMES = 2000
"""Frames of a solving; of more, so many are shown."""

SMALLEST_CLUE_MM = 2.0
"""Cells whose clues are hard to read on paper."""


class Kind(StrEnum):
    """Files that a picture can become; the endings are the names."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"
    GIF = "gif"


class Show(StrEnum):
    """What is drawn; `auto`: steps into a GIF, puzzles into a PDF, else solutions."""

    AUTO = "auto"
    PUZZLE = "puzzle"
    SOLUTION = "solution"
    GOAL = "goal"
    STEPS = "steps"


class Every(StrEnum):
    """When there is a new picture of the solving."""

    ROUND = "round"
    LINE = "line"
    CELL = "cell"


class Paper(StrEnum):
    """Sizes of pages."""

    A4 = "a4"
    A3 = "a3"
    LETTER = "letter"


def draw(
    source: Annotated[str, typer.Argument(metavar="IN", help="A file, a folder, an archive, or - for standard input.")],
    out: Annotated[str, typer.Argument(metavar="OUT", help="A file, or a folder (one file a puzzle).")],
    to: Annotated[Kind | None, typer.Option(help="Kind of file; else by the ending of OUT, or png.")] = None,
    show: Annotated[
        Show, typer.Option(help="What to draw; auto: steps into a GIF, puzzles into a PDF, else solutions.")
    ] = Show.AUTO,
    scale: Annotated[int, typer.Option(min=0, max=1000, help="Pixels to a cell; 0: what fits a screen.")] = 0,
    clues: Annotated[bool, typer.Option(help="With the clues, where they can be read.")] = True,
    lines: Annotated[bool, typer.Option(help="With lines between the cells, every fifth one bold.")] = True,
    every: Annotated[Every, typer.Option(help="Steps: a picture after each of these.")] = Every.LINE,
    delay: Annotated[float, typer.Option(min=0.0, help="GIF: seconds that a picture stays.")] = 0.2,
    hold: Annotated[float, typer.Option(min=0.0, help="GIF: seconds that the last picture stays.")] = 2.0,
    paper: Annotated[Paper, typer.Option(help="PDF: size of the pages.")] = Paper.A4,
    per_page: Annotated[
        int, typer.Option(min=0, max=100, help="PDF: puzzles on a page; 0: as many as stay readable.")
    ] = 0,
    solutions: Annotated[bool, typer.Option(help="PDF of puzzles: with the solutions at the back.")] = False,
    plan: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="Stages of the solver: default, lines-only, fast, or a TOML file.")
    ] = "default",
    seconds: Annotated[float, typer.Option(min=0.0, help="Time to solve one puzzle.")] = 60.0,
    number: Number = 0,
    format_name: FormatName = "",
) -> None:
    """Draw the puzzles of IN: PNG, SVG, PDF to print, or the steps as an animated GIF.

    Open cells are orange. Where there are several solutions, a cell in which the first two differ shows both colours in
    a frame; so does, with --show goal, a cell in which the goal differs from the only solution.

    Steps go line by line in rounds, as people solve: every row and column against what the last round left. Where
    lines stall, cells are probed; what only a search can tell comes last. Into a folder goes one picture for each step.
    The same command gives the same bytes.

    \b
    pnono draw hook.non hook.png
    pnono draw hook.non hook.gif --every round --delay 0.5
    pnono draw hook.non steps/ --show steps
    pnono draw set.xml book.pdf --solutions --per-page 4
    pnono draw datasets/icon.non pictures/ --to svg --show puzzle
    pnono draw stuck.non stuck.png --plan lines-only
    pnono draw heart.non heart.png --scale 1 --no-clues

    \b
    Exit codes: 0 all drawn; 3 a puzzle can't be read, or can't be drawn like that; 74 OUT can't be written.
    """
    from ..attempt import Limits
    from ..pictures.lattice import Look
    from ..puzzle import InvalidPuzzle

    found = puzzles(source, format_name, number, seconds)
    album = Album(out, to, Look(clues, lines), scale)
    if show is Show.AUTO:
        show = {Kind.GIF: Show.STEPS, Kind.PDF: Show.PUZZLE}.get(album.kind, Show.SOLUTION)
    if (album.kind is Kind.GIF) != (show is Show.STEPS) and not (show is Show.STEPS and album.kind is Kind.PNG):
        raise Failure(
            Code.USAGE, f"expected steps as GIF or PNG, and nothing else as GIF, found {show} as {album.kind}"
        )
    if show is Show.STEPS and album.kind is Kind.PNG and not album.is_folder:
        raise Failure(Code.USAGE, f"{out}: expected a folder for the steps (`{out}/`)")
    album.book = Book(paper.value, per_page)
    limits = Limits(seconds, plan=parse_plan(plan))
    say_if_compiling()
    broken = False
    for puzzle in found:
        try:
            if isinstance(puzzle, InvalidPuzzle):
                raise puzzle
            album.check(puzzle)
            if show is Show.STEPS:
                album.add_steps(puzzle, _moments(puzzle, limits, every.value), delay, hold)
            else:
                sheet, note = _sheet(puzzle, show, limits)
                album.add(
                    sheet, _sheet(puzzle, Show.SOLUTION, limits)[0] if solutions and show is Show.PUZZLE else None
                )
                if note:
                    say(f"{sheet.title}: {note}")
        except InvalidPuzzle as error:
            complain(error)
            broken = True
    album.finish()
    if broken:
        raise typer.Exit(Code.INVALID)


def _sheet(puzzle: Puzzle, show: Show, limits: Limits) -> tuple[Sheet, str]:
    """What is drawn of a puzzle, and what is to be said about it. Errors: InvalidPuzzle if there is no such thing."""
    from ..attempt import Outcome
    from ..pictures.sheets import Sheet, array_of, decided
    from ..puzzle import InvalidPuzzle

    if show is Show.PUZZLE:
        return Sheet(puzzle), ""
    if show is Show.GOAL and puzzle.goal is None:
        raise InvalidPuzzle(f"{puzzle.source}: expected a goal in the file, found none in {puzzle.name!r}")
    sheet, outcome = patiently(decided, puzzle, limits)
    if show is Show.GOAL:
        assert puzzle.goal is not None
        only = sheet.cells if outcome is Outcome.UNIQUE else None
        sheet = Sheet(puzzle, array_of(puzzle.goal), only)
        return sheet, f"{counted(sheet.n_differing, 'cell')} of the goal are wrong" if sheet.n_differing else ""
    return sheet, _note(sheet, outcome)


def _note(sheet: Sheet, outcome: Outcome) -> str:
    """What a picture of a solution that is not the only one is to be said about."""
    from ..attempt import Outcome

    assert sheet.cells is not None
    n_open = counted(int((sheet.cells < 0).sum()), "cell")
    match outcome:
        case Outcome.MULTIPLE:
            return f"several solutions: the first two differ in {counted(sheet.n_differing, 'cell')}"
        case Outcome.CONTRADICTION:
            return f"no solution: {n_open} open"
        case Outcome.STALLED | Outcome.TIMEOUT:
            return f"{outcome}: {n_open} open"
        case _:
            return ""


def _moments(puzzle: Puzzle, limits: Limits, every: Any) -> Sequence[Frame]:
    """The frames of the solving; says so where they are too many to show all."""
    from ..attempt import Outcome
    from ..pictures.frames import frames, thinned
    from ..solver import solve
    from ..solver.trace import trace

    result = patiently(solve, puzzle, limits)
    solution = result.solutions[0] if result.outcome is Outcome.UNIQUE else None
    moments = list(frames(puzzle, trace(puzzle, solution, "probe" in limits.plan.stages), every))
    if len(moments) > MAX_FRAMES:
        say(f"{puzzle.name}: {MAX_FRAMES:,} of {len(moments):,} frames are kept")
    return thinned(moments, MAX_FRAMES)


class Book:
    """The puzzles of a PDF, which comes when all are there."""

    def __init__(self, paper: str = "a4", per_page: int = 0) -> None:
        self.paper, self.per_page = paper, per_page
        self.sheets: list[Sheet] = []
        self.solutions: list[Sheet] = []


class Album:
    """Pictures on their way to `out`: a file for one puzzle (a PDF takes all), or a folder with a file for each.

    to    the kind of file; None: as `out` ends, or PNG.
    keep  writes a file.
    """

    def __init__(
        self, out: str, to: Kind | None, look: Look, scale: int = 0, keep: Callable[[Path, bytes], None] = save
    ) -> None:
        self.keep = keep
        self.out, self.look, self.scale = out, look, scale
        self.is_folder = out.endswith(os.sep) or os.path.isdir(out)
        ending = Path(out).suffix[1:].lower()
        kinds = [kind.value for kind in Kind]
        if to is None and not self.is_folder and ending not in kinds:
            raise Failure(
                Code.USAGE, f"{out}: expected an ending or a --to of {', '.join(kinds)}, or a folder (`{out}/`)"
            )
        self.kind = to or (Kind.PNG if self.is_folder else Kind(ending))
        self.book = Book()
        self.taken: set[str] = set()
        self.written = 0
        if self.is_folder:
            with writing(out):
                Path(out).mkdir(parents=True, exist_ok=True)

    @classmethod
    def of_solutions(cls, out: str, keep: Callable[[Path, bytes], None] = save) -> Album:
        """An album that needs nothing but a place. Errors: Failure."""
        from ..pictures.lattice import Look

        album = cls(out, None, Look(), keep=keep)
        if album.kind is Kind.GIF:
            raise Failure(Code.USAGE, f"{out}: expected png, svg, pdf or a folder, found gif (see `pnono draw`)")
        return album

    def check(self, puzzle: Puzzle) -> None:
        """Before it is solved. Errors: InvalidPuzzle if a puzzle is too large for such a picture."""
        from ..pictures import pdf, raster, svg

        match self.kind:
            case Kind.PDF:
                pdf.check_size(puzzle)
            case Kind.SVG:
                svg.check_size(puzzle, self.look)
            case _:
                raster.fitted(puzzle, self.look, self.scale)

    def add(self, sheet: Sheet, solution: Sheet | None = None) -> None:
        """Draw one puzzle. Errors: InvalidPuzzle if it can't be drawn like that; Failure."""
        from ..pictures.raster import png
        from ..pictures.svg import svg

        self.check(sheet.puzzle)
        path = self._path(sheet.puzzle)
        if self.kind is Kind.PDF:
            self.book.sheets.append(sheet)
            self.book.solutions += [solution] if solution else []
            if self.is_folder:
                self._bind(path)
        else:
            painter: Callable[[Sheet, Look, int], bytes] = png if self.kind is Kind.PNG else svg
            self.keep(path, painter(sheet, self.look, self.scale))

    def add_result(self, puzzle: Puzzle, result: Result) -> None:
        """Draw what was found of a puzzle. Errors as for `add`."""
        from ..pictures.sheets import sheet_of_result

        self.add(sheet_of_result(puzzle, result))

    def add_steps(self, puzzle: Puzzle, moments: Sequence[Frame], delay: float, hold: float) -> None:
        """Draw one solving: an animation, or in a folder one PNG for each moment. Errors as for `add`."""
        from ..pictures.frames import gif, pngs

        if self.kind is Kind.GIF:
            self.keep(self._path(puzzle), gif(puzzle, moments, self.look, self.scale, delay, hold))
            return
        path = self._path(puzzle)
        for place, data in enumerate(pngs(puzzle, moments, self.look, self.scale)):
            self.keep(path.with_name(f"{path.stem}-step-{place:0{len(str(len(moments) - 1))}}.png"), data)

    def finish(self, quiet: bool = False) -> None:
        """Write what is still to be written, and say what there is now."""
        if self.book.sheets:
            self._bind(Path(self.out))
        if self.written and not quiet:
            say(f"{counted(self.written, 'puzzle')} in {self.out}")

    def _path(self, puzzle: Puzzle) -> Path:
        """The file for the next puzzle. Errors: Failure if a file for one puzzle has one."""
        if self.written and not self.is_folder and self.kind is not Kind.PDF:
            raise Failure(Code.USAGE, f"{self.out}: expected one puzzle for a file: choose with --number, or a folder")
        self.written += 1
        return Path(self.out, file_name(puzzle, f".{self.kind}", self.taken)) if self.is_folder else Path(self.out)

    def _bind(self, path: Path) -> None:
        from ..pictures.pdf import pdf

        book, self.book = self.book, Book(self.book.paper, self.book.per_page)
        title = book.sheets[0].title if len(book.sheets) == 1 else path.stem
        printed = pdf(book.sheets, book.solutions, self.look, book.paper, book.per_page, title)
        self.keep(path, printed.data)
        if 0 < printed.smallest_mm < SMALLEST_CLUE_MM:
            say(f"{path.name}: the clues are small, in cells of {printed.smallest_mm:.1f} mm")
