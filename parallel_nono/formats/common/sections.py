"""Fast reading of formats whose puzzles Python can cut into a section of rows and one of columns without reading them.

What is left to Python are facts; clues and goals are read by kernels.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...puzzle import BLACK_AND_WHITE, Palette
from .. import Facts, Packed


class Draft(NamedTuple):
    """A puzzle cut out of a text.

    rows, columns  its clues as they stand in the text, and how many there must be: `height`, `width`.
    title, label   its own name; what else tells it apart in its file. "": none.
    goal           the colour of each cell as a digit, row by row; "": none.
    palette        the colours that the text declares; those that are not used are left out later.
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
    from ...kernels.sections import read_sections

    owned = [(owner, draft) for owner, drafts in enumerate(texts) for draft in drafts or ()]
    owners = np.array([owner for owner, _ in owned], np.int32)
    drafts = [draft for _, draft in owned]
    heights = np.array([draft.height for draft in drafts], np.int32)
    widths = np.array([draft.width for draft in drafts], np.int32)
    clues = [section for draft in drafts for section in (draft.rows, draft.columns)]
    goals = [draft.goal for draft in drafts]
    good, counts, lengths, colours = read_sections(clues, heights, widths, owners, goals, xml)
    kept = [draft for draft, fine in zip(drafts, good.tolist(), strict=True) if fine]
    blocks = np.concatenate(([0], np.cumsum(counts)))
    starts = blocks[np.concatenate(([0], np.cumsum(heights[good] + widths[good])))].tolist()
    facts = [_facts(draft, colours[a:b]) for draft, (a, b) in zip(kept, pairwise(starts), strict=True)]
    return Packed(
        owners[good], heights[good], widths[good], counts, lengths, [draft.label for draft in kept], facts, colours
    )


def _facts(draft: Draft, colours: np.ndarray) -> Facts:
    """Facts for a set. Inks that nothing uses are left out, as by `text.used`; `colours`, of its blocks, is changed."""
    goal = np.frombuffer(draft.goal.encode("ascii"), np.uint8).astype(np.uint16) - ord("0") if draft.goal else None
    palette = draft.palette
    if len(palette) > 2:
        inks = {*np.unique(colours).tolist(), *np.unique([] if goal is None else goal).tolist()} - {0}
        used = [0, *sorted(inks or {1})]
        place = np.zeros(len(palette), np.uint16)
        place[used] = np.arange(len(used))
        colours[:] = place[colours]
        goal = None if goal is None else place[goal]
        palette = tuple(palette[colour] for colour in used)
    return Facts(
        draft.title,
        json.dumps(draft.metadata, ensure_ascii=False) if draft.metadata else "",
        None if palette == BLACK_AND_WHITE else [colour._asdict() for colour in palette],
        goal,
    )
