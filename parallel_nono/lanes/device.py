"""Lines mode on another device: the planes of one puzzle at a time stay there from round to round."""

from __future__ import annotations

import numpy as np

from ..attempt import Limits
from ..engine import EngineError
from ..extras import needed
from ..kernels.board import CONTRADICTION, OPEN, SPENT
from ..kernels.clues import Clues
from ..solver.results import Propagated, no_arrangement

TEAM = "a CUDA device"


class Device:
    """The stage `line` by CUDA; `pipeline.Lines`. Errors: EngineError if there is no device; MissingExtra."""

    def __init__(self) -> None:
        needed("numba")
        from ..solver.cuda import unavailable

        if why := unavailable():
            raise EngineError(f"--device cuda: {why}")

    def takes(self, height: int, width: int) -> bool:
        """Every puzzle: whoever asks for a device gets it."""
        return True

    def propagate(self, clues: Clues, place: int, scratch: int, limits: Limits, stop: np.ndarray) -> Propagated:
        """See `pipeline.Lines`; lines are visited as in `order="rounds"`."""
        from ..solver.cuda import propagate

        nothing = np.empty(0, np.uint64)
        try:
            found = propagate(clues, place, limits.seconds, stop)
        except MemoryError as error:
            return Propagated(SPENT, nothing, witness=str(error), team=TEAM)
        witness = ""
        if found.verdict == CONTRADICTION:
            witness = no_arrangement(found.witness, int(clues.heights[place]))
        planes = found.planes if found.verdict == OPEN else nothing
        seconds = 0.0, found.lines_s + found.merge_s
        return Propagated(found.verdict, planes, found.n_rounds, found.n_lines, witness, seconds, team=TEAM)

    def close(self, seconds: float) -> bool:
        """Nothing is left running."""
        return True
