"""Columns and small pictures as one compact text for a page: base64 of deflated bytes, without any mark of HTML."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...puzzle import LETTERS

KINDS: dict[str, Any] = {"u1": np.uint8, "i4": np.int32, "u4": np.uint32, "f4": np.float32, "f8": np.float64}


def pack(header: dict[str, Any], columns: dict[str, np.ndarray]) -> str:
    """A JSON header and columns of `KINDS`, little-endian, as the script of a page reads them.

    The header gets `columns`: name, kind, start and count of each; starts are multiples of 8 bytes.
    """
    names = {np.dtype(kind): name for name, kind in KINDS.items()}
    entries: list[list[Any]] = [[name, names[column.dtype], 0, len(column)] for name, column in columns.items()]

    def head() -> bytes:
        text = json.dumps({**header, "columns": entries}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8", "surrogatepass")

    # Starts are written with as many digits as they may need, so that the length of the header is known.
    room = len(head()) + 12 * len(entries)
    at = _aligned(4 + room)
    for entry, column in zip(entries, columns.values(), strict=True):
        entry[2] = at
        at = _aligned(at + column.nbytes)
    data = bytearray(at)
    text = head()
    data[:4] = len(text).to_bytes(4, "little")
    data[4 : 4 + len(text)] = text
    for (_, kind, start, _), column in zip(entries, columns.values(), strict=True):
        data[start : start + column.nbytes] = column.astype(np.dtype(KINDS[kind]).newbyteorder("<")).tobytes()
    return base64.b64encode(zlib.compress(bytes(data), 6)).decode()


def _aligned(at: int) -> int:
    return (at + 7) // 8 * 8


def pictures(
    solutions: Iterable[tuple[str, int, int, int]], side: int, max_bytes: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Small pictures of solutions: where each begins (one entry more than solutions), their bytes, and how many there
    are.

    solutions     text as in `Attempt.solution`, height, width, n_colours; a text of another size has no picture.
    side        a picture has at most so many cells to a side; of larger ones every second, third, ... cell is taken.
    max_bytes  from the picture on that would go beyond, there are none.
    Black and white is a bit a cell, first cell highest; other pictures are a byte a cell, the index of the colour.
    """
    starts, chunks, total, n = [0], [], 0, 0
    full = False
    for text, height, width, n_colours in solutions:
        picture = b"" if full else _picture(text, height, width, n_colours, side)
        if total + len(picture) > max_bytes:
            full, picture = True, b""
        total += len(picture)
        n += bool(picture)
        chunks.append(picture)
        starts.append(total)
    return np.array(starts, np.uint32), np.frombuffer(b"".join(chunks), np.uint8), n


def _picture(text: str, height: int, width: int, n_colours: int, side: int) -> bytes:
    if not height or len(text) != height * (width + 1) - 1:
        return b""
    step = -(-max(height, width) // side)
    letters = np.frombuffer(f"{text}/".encode("utf-32-le", "surrogatepass"), "<u4").reshape(height, width + 1)
    cells = letters[::step, :width:step]
    if n_colours == 2:
        return np.packbits(cells == ord("#")).tobytes()
    colours = np.where(cells < 128, _ASCII[cells & 127], cells - 0x100 + len(LETTERS))
    return np.minimum(colours, 255).astype(np.uint8).tobytes()


_ASCII = np.zeros(128, np.uint32)
"""The colour that an ASCII letter of a solution stands for."""
_ASCII[[ord(letter) for letter in LETTERS[1:]]] = np.arange(1, len(LETTERS))


def steps(values: Iterable[float]) -> str:
    """Heights from 0 to 1, one a unit of width, as the path of an SVG that is one high."""
    return "".join(_step(place, value) for place, value in enumerate(values) if value > 0)


def _step(place: int, value: float) -> str:
    return f"M{place} 1v{-min(1.0, value):.3g}h1V1z"
