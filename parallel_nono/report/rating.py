"""How hard a nonogram is, as a publisher prints it: 1.0 to 10.0, and the technique that it asks for.

Made of counts alone, never of times, so it is the same on every machine. `docs/rating.md` has the definition, the
reasons, and how well the order agrees with published times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log10

RATED = ("unique", "solved", "multiple")
"""Outcomes that have a solution; what is contradictory or undecided has no rating. What has several solutions has one,
so that such puzzles can be put in order, though nobody should print them."""


@dataclass(frozen=True, slots=True)
class Technique:
    """A band of the scale, 3.0 wide.

    words   for people.
    stages  that decide with this technique.
    counts  of these, together, the logarithm says how far up in the band.
    most    the count that is the upper end of the band.
    start   the lower end, in points.
    """

    name: str
    words: str
    stages: tuple[str, ...]
    counts: tuple[str, ...]
    most: int
    start: float


TECHNIQUES = (
    Technique("search", "trials within trials", ("search", "sat"), ("n_branches", "n_conflicts"), 100_000, 7.0),
    Technique("trials", "one trial at a time", ("probe",), ("n_probes",), 1_000, 4.0),
    Technique("lines", "lines alone", ("read", "line"), ("n_rounds",), 100, 1.0),
)
WIDTH = 3.0


@dataclass(frozen=True, slots=True)
class Rating:
    """points: 1.0 to 10.0, one decimal, cut and not rounded. technique: see `TECHNIQUES`."""

    points: float
    technique: Technique

    def __str__(self) -> str:
        return f"{self.points:.1f} of 10, {self.technique.words}"


def rate(stage: str, outcome: str, counts: Mapping[str, int]) -> Rating | None:
    """The rating of one attempt at a nonogram; None where there is nothing to rate. counts: as in `Result`."""
    if outcome not in RATED:
        return None
    technique = next((t for t in TECHNIQUES if stage in t.stages), None)
    if technique is None:
        return None
    count = max(1, sum(counts[name] for name in technique.counts))
    points = technique.start + WIDTH * min(1.0, log10(count) / log10(technique.most))
    return Rating(int(points * 10 + 1e-6) / 10, technique)  # 1e-6: binary fractions just below a tenth


def _case(value: str) -> str:
    """An expression of DuckDB that picks by stage; `value` is filled with the fields of each technique."""
    whens = " ".join(
        f"when stage in {t.stages} then "
        + value.format(name=t.name, start=t.start, count="+".join(t.counts), digits=log10(t.most))
        for t in TECHNIQUES
    )
    return f"case when kind = 'nonogram' and outcome in {RATED} then case {whens} end end".replace(",)", ")")


POINTS = _case(
    f"floor(10 * ({{start}} + {WIDTH} * least(1.0, log10(greatest({{count}}, 1)) / {{digits}})) + 1e-6) / 10"
)
"""The points of a row as an expression of DuckDB: the same as those of `rate`, null where there are none."""

TECHNIQUE = _case("'{name}'")
"""The name of the technique of a row, likewise."""
