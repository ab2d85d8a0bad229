"""The workspace: the numbers by which the host of kernels.browser asks and is answered; plain, so asking compiles
nothing.

The page learns the places from here.
"""

from __future__ import annotations

FIELDS = (
    # the puzzle
    *("height", "width", "n_colours", "no_line", "n_lines", "n_blocks"),
    # addresses: int32[lines + 1]; int32[blocks], 0 for a blot; uint16[blocks]; uint64[n_words]; int64[n_numbers];
    # uint16[2 + more, cells] for solutions; uint16[cells] for `look`; int64[2, n_colours] to count colours in
    *("blocks", "lengths", "colours", "words", "numbers", "cells", "view", "sums"),
    # what is asked
    *("levels", "stages", "wanted", "max_probes", "max_visits", "more"),
    # what `measure` says
    *("family", "scratch", "n_words", "n_numbers", "verdict", "needed", "there", "blotted"),
    # what `begin` and `go_on` say, as in solve.Outputs
    *("status", "stage", "found", "lined", "left", "start", "stop"),
    *("counts", *("",) * 7),
    *("times", *("",) * 4),
    *("order", "never"),
)
"""The numbers of the workspace, int64, in this order."""

PLACE = {name: place for place, name in enumerate(FIELDS) if name}

EXPORTS = ("measure", "begin", "go_on", "look", "line")
"""The functions of kernels.browser that can be called; each takes the address of the workspace."""

FAMILIES = ("narrow", "colour", "wide")
"""What shares a propagation, by the number that `measure` gives."""
