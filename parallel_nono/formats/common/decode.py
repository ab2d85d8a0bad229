"""Bytes to text: byte order marks, declared and guessed encodings, line ends."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

from ...puzzle import InvalidPuzzle

MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
DECLARED = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
TEXT_CODECS = re.compile(r"(utf-?8|utf-?16|us-?ascii|ascii|latin-?1|iso-?8859-\d+|(windows|cp)-?\d+|koi8-[ru]|"
                         r"shift[_-]?jis|euc-(jp|kr)|gb(k|2312|18030)|big5)\Z")  # fmt: skip
MARKED = re.compile("^[\ufeff\x1a]+", re.MULTILINE)
MANY_NULS = 0.3


def decode(data: bytes, source: str) -> tuple[str, str]:
    """(text, warning) of the bytes of a file; lines of the text end in "\\n".

    A byte order mark wins, then an XML declaration, then UTF-8; what is none of them is read as Windows-1252 with a
    warning. Marks and the old sign for the end of a file (Ctrl-Z) at the beginning of other lines, of files that were
    put together, are taken out and told; at the end of the file that sign and NULs are cut off. Errors: InvalidPuzzle
    for binary data.
    """
    text, warning = _decoded(data, source)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii() and text.lstrip()[:1] not in tuple("{[<"):  # there they may stand in a name
        text = text.replace("\u2028", "\n").replace("\u2029", "\n")
    if text[-1:] == "\x1a":
        text = text.rstrip("\x1a")
    mark = MARKED.search(text) if "\ufeff" in text or "\x1a" in text else None
    if mark:
        line = text.count("\n", 0, mark.start()) + 1
        said = f"line {line}: a byte order mark or the sign for the end of a file within the text is left aside"
        text, warning = MARKED.sub("", text), f"{warning}; {said}" if warning else said
    return text, warning


def _decoded(data: bytes, source: str) -> tuple[str, str]:
    if data.isascii() and b"\0" not in data:
        return data.decode("ascii"), ""
    for mark, codec in MARKS:
        if data.startswith(mark):
            return _with(codec, data[len(mark) :])
    nuls = data[:4096].count(b"\0")
    if nuls:
        for codec, high in (("utf-16-le", data[1:4096:2]), ("utf-16-be", data[0:4096:2])):
            if high.count(b"\0") == nuls > MANY_NULS * len(data[:4096]):
                return _with(codec, data)
    if b"\0" in data:
        return _padded(data, source)
    declared = DECLARED.match(data)
    if declared:
        codec = declared[1].decode("ascii").lower()
        if TEXT_CODECS.match(codec):
            with suppress(
                LookupError
            ):  # declared by the right pattern, yet unknown here: guess as if nothing were said
                return _with(codecs.lookup(codec).name, data)
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        warning = "not UTF-8: read as Windows-1252"
    try:
        return data.decode("cp1252"), warning
    except UnicodeDecodeError:
        return data.decode("latin-1"), "not UTF-8: read as Latin-1"


def _padded(data: bytes, source: str) -> tuple[str, str]:
    """`_decoded` of a text that NULs fill up. Errors: InvalidPuzzle where something follows them."""
    text = data.rstrip(b"\0")
    at = text.find(b"\0")
    place = text.count(b"\n", 0, max(at, 0)) + 1
    if not text.strip() or data[:1] == b"\0" or at in range(8):
        raise InvalidPuzzle(f"{source}: expected text, found binary data that starts with {data[:8].hex(' ')}")
    if at > 0:
        raise InvalidPuzzle(f"{source}:{place}: expected text, found a NUL (byte {at + 1:,})")
    found, warning = _decoded(text, source)
    line = found.count("\n") + 1
    left = f"line {line}: {len(data) - len(text)} NULs at the end are left aside"
    return found, f"{warning}; {left}" if warning else left


def _with(codec: str, data: bytes) -> tuple[str, str]:
    try:
        return data.decode(codec), ""
    except UnicodeDecodeError:
        return data.decode(codec, errors="replace"), f"some bytes are not {codec}: shown as U+FFFD"
