"""What kernels read of many texts at once, as `Packed`: the few words of it that Python makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...kernels.parse import Kernel, read_texts
from ...kernels.scan import (
    CELLS_END,
    COLOURS,
    COLOURS_END,
    FACTS_END,
    HEAD,
    HEAD_END,
    HEIGHT,
    INKS,
    LABEL,
    LABEL_END,
    OWNER,
    TITLE,
    TITLE_END,
    WIDTH,
)
from ...puzzle import BLACK_AND_WHITE, Palette
from .. import Packed

Declared = Callable[[str, str], Palette | None]
"""(where colours are declared, in two parts) -> all of them; None where `parse` has something to say about them."""


def pack(
    kernel: Kernel,
    texts: Sequence[bytes],
    least: int = 0,
    words: bytes = b"",
    labels: bool = False,
    facts: bool = False,
    said: Callable[[str], str] = str.strip,
    declared: Declared | None = None,
) -> Packed:
    """What a kernel makes of texts.

    least, words  as in `read_texts`.
    labels   the texts tell their puzzles apart;  facts: they may have titles, facts and goals.
    said     a title or a label, of how it stands in the text.
    declared  palettes, for a format that has them.
    """
    joined, found = read_texts(kernel, texts, least, words)
    palettes = None
    if declared is not None:
        palettes, fine = _palettes(joined, found.puzzles, declared)
        if not all(fine):
            spoilt = set(found.puzzles[~np.array(fine), OWNER].tolist())
            kept = [text if owner not in spoilt else b"" for owner, text in enumerate(texts)]
            return pack(kernel, kept, least, words, labels, facts, said, declared)
    puzzles = found.puzzles
    return Packed(
        puzzles[:, OWNER].astype(np.int32),
        puzzles[:, HEIGHT].astype(np.int32),
        puzzles[:, WIDTH].astype(np.int32),
        found.counts,
        found.lengths,
        None if declared is None else found.colours,
        _cut(joined, puzzles[:, TITLE], puzzles[:, TITLE_END], said) if facts else None,
        _cut(joined, puzzles[:, LABEL], puzzles[:, LABEL_END], said) if labels else None,
        (puzzles[:, FACTS_END], found.facts) if facts else None,
        (puzzles[:, CELLS_END], found.cells) if facts else None,
        palettes,
    )


def _cut(joined: bytes, starts: np.ndarray, ends: np.ndarray, said: Callable[[str], str]) -> list[str]:
    return [said(joined[a:b].decode()) if a < b else "" for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


def _palettes(joined: bytes, puzzles: np.ndarray, declared: Declared) -> tuple[list[Palette], list[bool]]:
    """The colours of each puzzle that are used, and whether they are sound."""
    fields = puzzles[:, [HEAD, HEAD_END, COLOURS, COLOURS_END, INKS]].tolist()
    made: dict[tuple[bytes, bytes, int], Palette | None] = {}
    palettes, fine = [], []
    for head, head_end, colours, colours_end, inks in fields:
        key = joined[head:head_end], joined[colours:colours_end], inks
        if key not in made:
            made[key] = _used(declared(key[0].decode(), key[1].decode()), inks) if inks else BLACK_AND_WHITE
        palette = made[key]
        fine.append(palette is not None)
        palettes.append(palette or BLACK_AND_WHITE)
    return palettes, fine


def _used(palette: Palette | None, inks: int) -> Palette | None:
    """The colours of a palette that are among `inks`, bits."""
    return palette and tuple(colour for place, colour in enumerate(palette) if inks >> place & 1)
