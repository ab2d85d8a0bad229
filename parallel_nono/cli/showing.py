"""The steps of a puzzle being solved, for both ways of `pnono watch`: a screen and plain lines."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from .exits import Code, Failure
from .solve import verdict

if TYPE_CHECKING:
    import numpy as np

    from ..attempt import Limits, Result
    from ..pictures.film import Film
    from ..puzzle import Puzzle


def sentence(result: Result) -> str:
    """The verdict in words."""
    from ..pictures.terminal import differences

    n = len(differences(*result.solutions[:2])) if len(result.solutions) > 1 else 0
    return verdict(result, n)


class Showing:
    """The steps of a solving, and beside them the solver itself, which is asked for the verdict.

    result   None until it is known.
    """

    def __init__(self, puzzle: Puzzle, limits: Limits) -> None:
        import numpy as np

        from ..pictures.film import Film

        self.puzzle, self.limits = puzzle, limits
        self.film: Film = Film(puzzle, "probe" in limits.plan.stages)
        self.result: Result | None = None
        self.error: BaseException | None = None
        self._told = False
        self._abort: np.ndarray = np.zeros(1, np.int64)
        self._thread = Thread(target=self._decide, daemon=True)
        self._thread.start()

    def _decide(self) -> None:
        from ..solver.single import solve_one

        try:
            result = solve_one(self.puzzle, self.limits, self._abort)
            self.result = None if self._abort[0] else result
        except BaseException as error:  # whoever watches raises it: this thread has no one to tell
            self.error = error
        self.film.heard()

    def wait(self) -> Result:
        """The verdict. Raises what went wrong."""
        self._thread.join()
        if self.error is not None:
            raise self.error
        if self.result is None:
            raise Failure(Code.UNDECIDED, "stopped")
        return self.result

    def told(self) -> None:
        """Once all is known: let the steps end with the only solution. May be asked again and again."""
        from ..attempt import Outcome

        if not self._told and self.result is not None and self.film.complete:
            self._told = True
            if self.result.outcome in (Outcome.UNIQUE, Outcome.SOLVED):
                self.film.tell(self.result.solutions[0])

    def stop(self) -> None:
        """End both."""
        self._abort[0] = 1
        self.film.stop()
