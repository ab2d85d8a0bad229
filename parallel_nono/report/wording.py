"""How times and puzzles are called: apart from the summaries, which import Arrow's functions (25 ms)."""

from __future__ import annotations

from typing import Any


def duration(seconds: float) -> str:
    """A time with three digits and the unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us" if seconds < 999.5e-6 else "1 ms"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else "1 s"
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def title_of(row: dict[str, Any]) -> str:
    """Name and place of a puzzle; only the end of a long path, where files differ."""
    source = row["source"]
    place = f"{source.rsplit('/', 1)[-1]} #{row['index']}"
    stem = source.rsplit("/", 1)[-1].split(".")[0]
    known = row["name"] in ("", stem, f"{stem}#{row['index']}")
    return place if known else f"{row['name']}  ({place})"
