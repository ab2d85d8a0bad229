"""Names of files as people see them, whatever bytes they are made of; and how an ordinary file is opened."""

from __future__ import annotations

import os
import re
import stat
from typing import IO

from ..puzzle import SURROGATE, sound

PARQUET_MAGIC = b"PAR1"
"""How a Parquet file begins."""

BYTE = re.compile(r"\\(?=x[0-9a-f]{2})")


def readable(path: str) -> str:
    """A path as people and results see it: what is no UTF-8 as `\\xe9`, the same in all locales.

    Bytes can be told from signs: a sign that looks like such a byte has its own backslash as `\\x5c` (but where that
    parts folders). So names that differ stay different, and `exact` gets the bytes back.
    """
    if path.isascii() or not SURROGATE.search(path):
        return path if "\\" not in path else _told_apart(path)
    try:
        data = os.fsencode(_told_apart(path))
    except UnicodeEncodeError:  # surrogates that no file name has
        return sound(path)
    return data.decode("utf-8", "backslashreplace")


def _told_apart(path: str) -> str:
    return path if os.sep == "\\" else BYTE.sub(r"\\x5c", path)


def exact(name: str) -> str:
    """The bytes that the system knows a readable name by, percent-encoded; "" where they are the name's own UTF-8."""
    from urllib.parse import quote_from_bytes

    if os.sep == "\\" or "\\x" not in name:
        return ""
    data = re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), name.encode())
    return quote_from_bytes(data, "/") if data != name.encode() else ""


def opened(path: str) -> IO[bytes]:
    """An ordinary file, opened without waiting for anybody. Errors: OSError, also for what is no ordinary file."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(0, f"expected an ordinary file, found {what_is(mode) or 'a folder'}", path)
    return open(handle, "rb")


def what_is(mode: int) -> str:
    """What a file is that is no ordinary one and no folder, by its mode; "" for those."""
    kinds = {
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "")
