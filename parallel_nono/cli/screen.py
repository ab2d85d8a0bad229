"""The screen of `pnono watch`, by Textual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Footer, Static

from ..kernels import when_compiling
from ..pictures.door import printable
from ..pictures.film import described
from ..pictures.terminal import clue_size, colour_picture, text_picture
from ..report.wording import duration
from .common import counted
from .showing import Showing, sentence

if TYPE_CHECKING:
    from textual.geometry import Size

    from ..attempt import Limits, Result
    from ..puzzle import Puzzle
    from ..solver.trace import Step

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 60.0, 120.0, 250.0, 500.0, 1000.0)
"""Steps a second."""

FRAMES = 20
"""Pictures a second at most, while it plays; faster steps are taken several at a time."""

LOOKS = ("clues", "cells", "half")
"""With clues; two characters a cell; two cells a character."""


class Board(Widget):
    """The part of the grid that the screen has room for."""

    DEFAULT_CSS = "Board { height: 1fr; }"

    def __init__(self, showing: Showing, clues: bool, paint: bool) -> None:
        super().__init__()
        self.showing, self.clues, self.paint = showing, clues, paint
        self.look = ""
        self.top = self.left = 0
        self.fresh: list[Step] = []
        self.is_whole = True
        self.told: tuple[int, int, bool] = 0, 0, True
        self.tell: Callable[[], None] = lambda: None
        """Called when another part of the grid is shown."""

    def usual_look(self, size: Size) -> str:
        """The largest in which all of the puzzle fits; else the smallest."""
        looks = LOOKS if self.clues else LOOKS[1:]
        return next((look for look in looks if self._fits(look, size)), looks[-1] if self.paint else "cells")

    def _fits(self, look: str, size: Size) -> bool:
        if look == "half" and not self.paint:
            return False
        rows, columns = self._room(look, size)
        return rows >= self.showing.puzzle.height and columns >= self.showing.puzzle.width

    def _room(self, look: str, size: Size) -> tuple[int, int]:
        """(rows, columns) of the grid that such a look has room for."""
        if look == "half":
            return max(2, 2 * size.height), max(1, size.width)
        wide, left, top = 2, 0, 0
        if look == "clues":
            left, top, wide = clue_size(self.showing.puzzle, coloured=self.paint)
        return max(1, size.height - top), max(1, (size.width - left) // wide)

    def moved(self, down: int, right: int) -> None:
        """Move the window by so many halves of its size."""
        rows, columns = self._room(self.look or self.usual_look(self.size), self.size)
        self.top, self.left = self.top + down * max(1, rows // 2), self.left + right * max(1, columns // 2)
        self.refresh()

    def render(self) -> Text:
        """The window as text in colours."""
        puzzle, cells = self.showing.puzzle, self.showing.film.cells
        look = self.look or self.usual_look(self.size)
        rows, columns = self._room(look, self.size)
        self.is_whole = rows >= puzzle.height and columns >= puzzle.width
        self.top = max(0, min(self.top, puzzle.height - rows))
        self.left = max(0, min(self.left, puzzle.width - columns))
        if self.told != (now := (self.top, self.left, self.is_whole)):
            self.told = now
            self.call_later(self.tell)
        down, across = slice(self.top, self.top + rows), slice(self.left, self.left + columns)
        part = cells[down, across]
        window = replace(puzzle, rows=puzzle.rows[down], columns=puzzle.columns[across], goal=None)
        marks = {
            (row - self.top, column - self.left)
            for step in self.fresh
            for row, column in zip(step.rows.tolist(), step.columns.tolist(), strict=True)
            if self.top <= row < self.top + len(part) and self.left <= column < self.left + part.shape[1]
        }
        picture = colour_picture if self.paint else text_picture
        if look == "half":
            text = picture(window, part.tolist(), width=window.width, clues=False)
        else:
            text = picture(window, part.tolist(), width=0, clues=look == "clues", marks=marks)
        return Text.from_ansi(text, no_wrap=True, end="")


class News(Message):
    """There are more steps, or the verdict, and the screen waits for them."""


class Watcher(App[None]):
    """Plays the steps. While there is nothing to play, nothing happens here until a key is pressed or News come.

    result   the verdict, once it is known.
    failure  what went wrong; raised by whoever ran this.
    """

    CSS = """
    #title { height: 1; text-style: bold; }
    #step, #verdict { height: 1; }
    """
    TITLE = "pnono watch"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "play/pause"),
        Binding("right,n", "step(1)", "on", key_display="→"),
        Binding("left,b", "step(-1)", "back", key_display="←"),
        Binding("plus,equals_sign", "faster(1)", "faster", key_display="+"),
        Binding("minus", "faster(-1)", "slower", key_display="-"),
        Binding("r", "rounds", "line/round"),
        Binding("z", "look", "size"),
        Binding("home", "ends(False)", "begin", show=False),
        Binding("end", "ends(True)", "end"),
        Binding("up,k", "move(-1, 0)", "up", show=False),
        Binding("down,j", "move(1, 0)", "down", show=False),
        Binding("h", "move(0, -1)", "left", show=False),
        Binding("l", "move(0, 1)", "right", show=False),
        Binding("q,ctrl+c,ctrl+q,escape", "quit", "quit", priority=True, key_display="q"),
    ]

    def __init__(
        self, puzzle: Puzzle, limits: Limits, by_round: bool, speed: float, paused: bool, clues: bool, paint: bool
    ) -> None:
        super().__init__()
        self.showing = Showing(puzzle, limits)
        self.by_round, self.playing = by_round, not paused
        self.place = min(range(len(SPEEDS)), key=lambda place: abs(SPEEDS[place] - speed))
        self.speed = speed
        self.board = Board(self.showing, clues, paint)
        self.board.tell = self.say
        self.heading = Static("", id="title", markup=False)
        self.told, self.ended = Static("", id="step", markup=False), Static("", id="verdict", markup=False)
        self.due = 0.0
        self.clock: Timer | None = None
        self.starving = False
        self.compiling = False
        when_compiling(self.compiles)
        self.failure: BaseException | None = None

    def compiles(self) -> None:
        """Called by the thread that compiles."""
        self.compiling = True
        self.heard()

    def heard(self) -> None:
        """Called by the threads that make the steps and find the verdict."""
        if self.starving:
            self.starving = False
            self.post_message(News())

    @property
    def result(self) -> Result | None:
        return self.showing.result

    def compose(self) -> ComposeResult:
        """Title, grid, what the step was, the verdict, keys."""
        yield self.heading
        yield self.board
        yield self.told
        yield self.ended
        yield Footer()

    def on_mount(self) -> None:
        self.clock = self.set_interval(1 / FRAMES, self.tick, pause=True)
        self.showing.film.heard = self.heard
        self.on_news()

    def on_news(self) -> None:
        """See what is new, and play on if there is something to play."""
        self.failure = self.showing.error or self.showing.film.error
        if self.failure is not None:
            self.exit()
            return
        self.starving = True  # before looking: what comes from here on is told
        self.showing.told()
        self.say()
        film = self.showing.film
        if self.clock is not None and self.playing and film.place < len(film.steps):
            self.starving = False
            self.clock.resume()

    def on_unmount(self) -> None:
        self.showing.stop()

    def tick(self) -> None:
        """A twentieth of a second went by."""
        film = self.showing.film
        self.due = min(self.due + self.speed / FRAMES, max(1.0, self.speed / FRAMES))
        fresh: list[Step] = []
        while self.playing and self.due >= 1.0:
            self.due -= 1.0
            taken = film.forward(self.by_round)
            if not taken:
                break
            fresh += taken
        if fresh:
            self.board.fresh = fresh
            self.board.refresh()
            self.say()
        if not self.playing or film.place == len(film.steps):
            if self.clock is not None:
                self.clock.pause()
            self.on_news()

    def say(self) -> None:
        """What the lines below the grid say."""
        film, board, puzzle = self.showing.film, self.board, self.showing.puzzle
        if film.place:
            what = described(puzzle, board.fresh or film.steps[film.place - 1 : film.place], counted)
        else:
            what = "the empty grid"
        more = "" if film.complete else "+"
        known = int((film.cells >= 0).sum())
        pace = f"{self.speed:g} {'rounds' if self.by_round else 'lines'} a second" if self.playing else "paused"
        window = "" if board.is_whole else f"; from row {board.top + 1}, column {board.left + 1}"
        title = printable(puzzle.name or puzzle.source)
        self.heading.update(f"{title}  {puzzle.height} x {puzzle.width}, {puzzle.n_colours} colours{window}")
        count = f"{known:,} of {film.cells.size:,} known"
        self.told.update(f"{film.place:,} of {len(film.steps):,}{more}: {what}; {count}; {pace}")
        self.ended.update(self.verdict())

    def verdict(self) -> str:
        """It is told when the last step is shown: who watches may want to guess."""
        film, result = self.showing.film, self.result
        if self.compiling and not film.steps:
            return "compiling the solver: some seconds, only this first time"
        if not film.complete or film.place < len(film.steps):
            return ""
        if result is None:
            return "lines and probes are through; the search goes on"
        return f"{sentence(result)} {duration(result.seconds['solve_s'])}"

    def action_play(self) -> None:
        """Play or pause; at the end, from the beginning."""
        if self.showing.film.at_end and not self.playing:
            self.action_ends(False)
        self.playing = not self.playing
        self.on_news()

    def action_step(self, by: int) -> None:
        """A step on or back."""
        film, self.playing = self.showing.film, False
        if by > 0:
            self.board.fresh = film.forward(self.by_round) or self.board.fresh
        else:
            film.back(self.by_round)
            self.board.fresh = [] if film.step is None else [film.step]
        self.board.refresh()
        self.on_news()

    def action_faster(self, by: int) -> None:
        """The next speed of the list."""
        self.place = max(0, min(len(SPEEDS) - 1, self.place + by))
        self.speed = SPEEDS[self.place]
        self.say()

    def action_rounds(self) -> None:
        """By line, or by round."""
        self.by_round = not self.by_round
        self.say()

    def action_look(self) -> None:
        """The next look of the list."""
        board = self.board
        looks = [look for look in LOOKS if board.paint or look != "half"]
        now = board.look or board.usual_look(board.size)
        board.look = looks[(looks.index(now) + 1) % len(looks)]
        board.refresh()

    def action_move(self, down: int, right: int) -> None:
        """Move a grid that does not fit."""
        self.board.moved(down, right)

    def action_ends(self, last: bool) -> None:
        """To the beginning, or to the last step there is."""
        film = self.showing.film
        while film.forward(True) if last else film.back(True):
            pass
        self.board.fresh = []
        self.board.refresh()
        self.on_news()
