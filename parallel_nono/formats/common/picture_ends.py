"""Where a picture ends in its file: what follows it, another picture perhaps, no library tells.

Each function takes the bytes of a file and where a picture begins in them, and returns where it ends; the end of the
file where it is cut off or damaged, so that its reader says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

PNG = b"\x89PNG\r\n\x1a\n"
TABLE = 0x80
"""The flag of a table of colours in a GIF; the three lowest bits tell its size."""


def png(data: bytes, start: int) -> int:
    """Behind the chunk IEND: chunks are four bytes length, four of a name, so many bytes and four of a checksum."""
    at = start + len(PNG)
    while at + 12 <= len(data):
        name = data[at + 4 : at + 8]
        at += 12 + int.from_bytes(data[at : at + 4])
        if name == b"IEND":
            return min(at, len(data))
    return len(data)


def gif(data: bytes, start: int) -> int:
    """Behind the trailer `3B`: a head, then extensions (`21`) and pictures (`2C`), which are blocks of bytes."""
    head = data[start : start + 13]
    if len(head) < 13:
        return len(data)
    at = start + 13 + _table(head[10])
    while at < len(data):
        sign = data[at]
        if sign == 0x3B:
            return at + 1
        if sign == 0x21:
            at = _blocks(data, at + 2)
        elif sign == 0x2C and at + 10 <= len(data):
            at = _blocks(data, at + 11 + _table(data[at + 9]))
        else:
            return len(data)
    return len(data)


def _table(flags: int) -> int:
    """Bytes of the table of colours that flags tell of."""
    return 3 << (flags & 7) + 1 if flags & TABLE else 0


def _blocks(data: bytes, at: int) -> int:
    """Behind a row of blocks: each a byte that tells its length, the last one empty."""
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return at + 1


def bmp(data: bytes, start: int) -> int:
    """By the size in the head; where that can't be, by where the pixels begin and how many bytes they take."""
    head = data[start : start + 54]
    if len(head) < 54:
        return len(data)
    size, first, head_size = (int.from_bytes(head[at : at + 4], "little") for at in (2, 10, 14))
    if head_size < 40:  # the old head of OS/2, with sides of two bytes
        width, height = (int.from_bytes(head[at : at + 2], "little") for at in (18, 20))
        bits, packed = int.from_bytes(head[24:26], "little"), 0
    else:
        width, height = (abs(int.from_bytes(head[at : at + 4], "little", signed=True)) for at in (18, 22))
        bits, packed = int.from_bytes(head[28:30], "little"), int.from_bytes(head[30:34], "little")
    least = first if packed in (1, 2) else first + (width * bits + 31) // 32 * 4 * height
    if packed in (1, 2) and size < first:
        return len(data)  # run lengths of unknown length
    return min(start + max(size, least), len(data))


ENDS: dict[str, Callable[[bytes, int], int]] = {"PNG": png, "GIF": gif, "BMP": bmp}
