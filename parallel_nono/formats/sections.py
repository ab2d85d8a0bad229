"""Fast reading of formats whose puzzles Python can cut into a section of rows and one of columns without reading them.

What is left to Python are facts; clues and goals are read by kernels.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..puzzle import BLACK_AND_WHITE, Palette
from . import Facts, Packed


class Draft(NamedTuple):
    """A black-white puzzle cut out of a text.

    rows, columns  its clues as they stand in the text, and how many there must be: `height`, `width`.
    title, label   its own name; what else tells it apart in its file. "": none.
    goal           cells `0` and `1`, row by row; "": none.
    """

    height: int
    width: int
    rows: str
    columns: str
    title: str
    label: str
    metadata: dict[str, str]
    goal: str
    palette: Palette = BLACK_AND_WHITE


def packed(texts: Iterable[Sequence[Draft] | None], xml: bool) -> Packed:
    """The puzzles of several texts at once; None for a text that is to be left aside.

    xml  clues are `<line>` elements, else lines of numbers.
    """
    from ..kernels.sections import read_sections

    owned = [(owner, draft) for owner, drafts in enumerate(texts) for draft in drafts or ()]
    owners = np.array([owner for owner, _ in owned], np.int32)
    drafts = [draft for _, draft in owned]
    heights = np.array([draft.height for draft in drafts], np.int32)
    widths = np.array([draft.width for draft in drafts], np.int32)
    clues = [section for draft in drafts for section in (draft.rows, draft.columns)]
    good, counts, lengths = read_sections(clues, heights, widths, owners, [draft.goal for draft in drafts], xml)
    kept = [draft for draft, fine in zip(drafts, good.tolist(), strict=True) if fine]
    return Packed(
        owners[good], heights[good], widths[good], counts, lengths, [draft.label for draft in kept],
        [_facts(draft) for draft in kept],
    )  # fmt: skip


def _facts(draft: Draft) -> Facts:
    goal = np.frombuffer(draft.goal.encode("ascii"), np.uint8) - ord("0") if draft.goal else None
    return Facts(
        draft.title,
        json.dumps(draft.metadata, ensure_ascii=False) if draft.metadata else "",
        None if draft.palette is BLACK_AND_WHITE else [colour._asdict() for colour in draft.palette],
        None if goal is None else goal.tolist(),
    )
