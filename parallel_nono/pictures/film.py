"""The solving of a puzzle as something to walk through: forward and back, by line or by round."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

import numpy as np

from ..puzzle import Grid, Puzzle, line_name
from ..solver.trace import Step, trace
from .sheets import OPEN


class Film:
    """Steps as they come, and the grid at one of them.

    steps  so far; a thread of its own makes them.
    place  how many of them are shown.
    cells  int32[height, width] at that place, colour indices or OPEN.
    heard  called by that thread after each step and at the end; whoever waits for more sets it.
    """

    def __init__(self, puzzle: Puzzle, probing: bool = True) -> None:
        self.puzzle = puzzle
        self.steps: list[Step] = []
        self.place = 0
        self.cells = np.full((puzzle.height, puzzle.width), OPEN, np.int32)
        self.heard: Callable[[], None] = _nobody
        self._done, self._stop = Event(), Event()
        self.error: BaseException | None = None
        self._thread = Thread(target=self._make, args=(probing,), daemon=True)
        self._thread.start()

    def _make(self, probing: bool) -> None:
        try:
            for step in trace(self.puzzle, probing=probing):
                self.steps.append(step)
                self.heard()
                if self._stop.is_set():
                    return
        except BaseException as error:  # whoever watches raises it: this thread has no one to tell
            self.error = error
        finally:
            self._done.set()
            self.heard()

    def stop(self) -> None:
        """No more steps."""
        self._stop.set()

    def wait(self) -> None:
        """Until all steps are there. Raises what went wrong."""
        self._done.wait()
        if self.error is not None:
            raise self.error

    @property
    def complete(self) -> bool:
        """All steps by lines and probes are there."""
        return self._done.is_set()

    @property
    def at_end(self) -> bool:
        """Nothing more will come."""
        return self.complete and self.place == len(self.steps)

    @property
    def step(self) -> Step | None:
        """The one that was last."""
        return self.steps[self.place - 1] if self.place else None

    def tell(self, solution: Grid) -> None:
        """Once `complete`: the only solution, as a last step for the cells that are open after the others."""
        cells = np.full_like(self.cells, OPEN)
        for step in self.steps:
            cells[step.rows, step.columns] = step.colours
        rows, columns = np.nonzero(cells == OPEN)
        if len(rows):
            last = self.steps[-1].round if self.steps else 1
            self.steps.append(Step("solution", last, -1, None, rows, columns, np.array(solution)[rows, columns]))

    def forward(self, by_round: bool = False) -> list[Step]:
        """A step on, or all of a round; the steps taken, none where there is none yet."""
        taken: list[Step] = []
        while self.place < len(self.steps):
            step = self.steps[self.place]
            if taken and not (by_round and _together(taken[-1], step)):
                break
            self.cells[step.rows, step.columns] = step.colours
            self.place += 1
            taken.append(step)
        return taken

    def back(self, by_round: bool = False) -> list[Step]:
        """A step back, or a round: each cell becomes known once, so it is open again. The steps taken back."""
        taken: list[Step] = []
        while self.place:
            step = self.steps[self.place - 1]
            if taken and not (by_round and _together(step, taken[-1])):
                break
            self.cells[step.rows, step.columns] = OPEN
            self.place -= 1
            taken.append(step)
        return taken


def _nobody() -> None:
    """Waits for more."""


def _together(one: Step, following: Step) -> bool:
    """Whether two steps belong to one round."""
    return one.by == following.by == "line" and one.round == following.round


def described(puzzle: Puzzle, steps: list[Step], counted: Callable[[int, str], str]) -> str:
    """What was learnt, in words; `counted` makes `2 cells` of 2 and `cell`."""
    first, last = steps[0], steps[-1]
    learnt = counted(sum(len(step.rows) for step in steps), "cell")

    line = line_name(last.line, puzzle.height)
    where = "" if last.cell is None else f"row {last.cell[0] + 1}, column {last.cell[1] + 1}"
    match last.by:
        case "line" if len(steps) > 1:
            return f"round {last.round}: {counted(len(steps), 'line')}, {learnt}"
        case "line":
            return f"at the start: {learnt}" if first.line < 0 else f"round {last.round}, {line}: {learnt}"
        case "probe":
            return f"probe of {where}: {learnt}"
        case "solution":
            return f"the rest, by search: {learnt}"
        case _:
            return f"contradiction in {line if last.line >= 0 else where}"
