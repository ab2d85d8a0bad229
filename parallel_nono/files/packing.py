"""Packed files (.gz, .xz, .bz2, .zst) as streams, and the bounds that hold while a stream is read: size, ratio, time.

Reading gets a share of the time that puzzles get: what one file or one member of an archive needs to be unpacked or to
arrive may take `TIMES` times the seconds of a puzzle, and at least `MIN_S`. It is told what takes longer than
`SLOW_S`.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from time import monotonic
from typing import IO, Any, cast

from ..puzzle import InvalidPuzzle

MIN_S, TIMES = 10.0, 10.0
"""Seconds for one file at least, and for each second that a puzzle may take."""

USUAL_S = 60.0
"""Seconds of a puzzle where nobody says any."""

MAX_RATIO, RATIO_FROM = 200, 64 << 20
"""Bytes that one packed byte may become, beyond so many unpacked ones: more is no text, but made to fill a memory."""

SLOW_S = 3.0
"""Seconds after which somebody is told that a file is still being read, and then again each time."""

PIECE = 1 << 20

MAGICS = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
"""How packed data begin."""

DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)
"""What is raised where packed data are damaged."""


class Share:
    """The share that reading has, in this process.

    seconds  for one file.
    told     called with a file's name, the bytes read of it and the seconds it took so far, every `SLOW_S` seconds.
    """

    seconds = max(MIN_S, TIMES * USUAL_S)
    told: Callable[[str, int, float], object] | None = None

    @classmethod
    def of(cls, puzzle_s: float) -> None:
        """From now on reading has the share that goes with so many seconds for a puzzle."""
        cls.seconds = max(MIN_S, TIMES * puzzle_s)


def packing_of(start: bytes) -> str:
    """How data that begin like this are packed: gzip, xz, bzip2 or zstd; "" if they are not."""
    return next((name for magic, name in MAGICS.items() if start.startswith(magic)), "")


def unpacked(file: Any, packing: str) -> IO[bytes]:
    """What a stream of packed data holds, as a stream. Reading from it raises one of DAMAGED."""
    if packing == "zstd":
        import pyarrow as pa

        stream: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
        return stream
    if packing == "xz":
        return lzma.LZMAFile(file)
    return cast(IO[bytes], bz2.BZ2File(file) if packing == "bzip2" else gzip.GzipFile(fileobj=file))


def check_size(name: str, size: int, most: int, packed: int) -> None:
    """Errors: InvalidPuzzle for more bytes than `most`, or more than MAX_RATIO for each of `packed` (0: not known)."""
    if size > most:
        raise InvalidPuzzle(f"{name}: expected at most {most >> 20} MiB of text, found more")
    if packed and size > max(RATIO_FROM, MAX_RATIO * packed):
        found = f"{size >> 20:,} MiB or more in {packed:,} bytes"
        raise InvalidPuzzle(f"{name}: expected at most {MAX_RATIO} bytes for each packed one, found {found}")


def read_all(file: Any, name: str, most: int, packed: int = 0) -> bytes:
    """All that a stream gives.

    most    bytes that it may be.
    packed  bytes that these came from, 0 where nothing was packed.
    Errors  InvalidPuzzle for more than that, for more than MAX_RATIO, and where it takes longer than its share.
    """
    began = said = monotonic()
    whole = io.BytesIO()
    try:
        while piece := file.read(PIECE):
            size = whole.tell() + len(piece)
            check_size(name, size, most, packed)
            whole.write(piece)
            now = monotonic()
            if now - began > Share.seconds:
                hope = f"a file that is read within {Share.seconds:g} s ({TIMES:g} times --seconds)"
                raise InvalidPuzzle(f"{name}: expected {hope}, found {size >> 20:,} MiB by then and more to come")
            if now - said > SLOW_S and Share.told is not None:
                said = now
                Share.told(name, size, now - began)
        return whole.getvalue()
    except MemoryError:
        raise InvalidPuzzle(f"{name}: expected a file that fits in memory, found a larger one") from None


def unpack(data: bytes, name: str, most: int) -> bytes:
    """The bytes as they were before they were packed; data that are not packed come back as they are.

    Errors  InvalidPuzzle for damaged data and as `read_all`.
    """
    packing = packing_of(data)
    if not packing:
        return data
    try:
        with unpacked(io.BytesIO(data), packing) as file:
            return read_all(file, name, most, len(data))
    except InvalidPuzzle:
        raise
    except DAMAGED as error:
        raise InvalidPuzzle(f"{name}: expected {packing} data, found a damaged file ({error})") from None


def unpacked_head(head: bytes, most: int) -> bytes:
    """The first `most` bytes of what a file holds that begins with `head`. Errors: InvalidPuzzle if damaged."""
    packing = packing_of(head)
    if not packing:
        return head
    found = io.BytesIO()
    try:
        file = unpacked(io.BytesIO(head), packing)
        while found.tell() < most and (piece := file.read(min(most, 1 << 13))):
            found.write(piece)
    except DAMAGED as error:
        if not found.tell():  # else only the end is missing, which nobody asked for
            raise InvalidPuzzle(str(error)) from None
    return found.getvalue()[:most]
