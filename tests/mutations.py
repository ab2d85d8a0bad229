"""Texts and bytes that are almost files of puzzles, and what any of them must do: parse or say what is wrong."""

from __future__ import annotations

import random

import pyarrow as pa

from parallel_nono.files import reading
from parallel_nono.formats import format_named
from parallel_nono.kernels.native import prepare
from parallel_nono.puzzleset import puzzles_of

prepare("parse", "xml", "json")  # else `parse` would read until they are there

ODD = (
    b"999999999", b"-1", b"?", b"\n", b"\n\n", b" ", b"\t", b"0", b"1", b"9", b"\0", b"[", b"]", b"<", b"/>", b'"',
    b"a",
    b",", b".", b"/", b":", b"#", b"$", b"|", b"=", b"&", b"%", b"\xc3\xa9", b"====\n", b"rows\n", b"columns\n",
    b"width 3\n", b'goal "1"\n', b"<line>", b"<line/>", b"</line>", b"<count>0</count>", b"]]>",
    b' color="red"', b' color="1"', b' color="77"', b"<image></image>",
    b"&amp;", b"&copy;", b"&eacute;", b"\\", b":\n", b"#d\n", b"  a:x  red\n", b"2a", b"{", b"}", b"[]", b"[0]", b"[1,",
    b'"name": "n", ', b'"height": 3, ', b'"x": "y",', b"null", b"# more\n", b'title "t"\n', b"color a #ff0000\n",
    b"<!-- -->", b"<title>t</title>", b"</puzzle>", b"GRID\n", b"\x0b", b"\xff\xfe",
    "©".encode(), "“é”".encode(), "猫".encode(), "😺".encode(), b"\xc2\xa0", b"\xc2\x85", b"\xe2\x80\xa8",
    b"\xe3\x80\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2", b"\xe2\x80", b"\xf0\x9f\x98", b"\xe9", b" & ", b"&amp",
    b"&copy ", b"&quot;",
)  # fmt: skip
"""Words that mean something in one format or another, and characters that mean trouble."""


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes of a file with a few things lost, put in, doubled or changed."""
    found = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(found) + 1)
        kind = rng.randrange(6)
        if kind == 0:
            del found[place : place + rng.randrange(1, 30)]
        elif kind == 1:
            found[place:place] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 4)))
        elif kind in (2, 3):
            found[place : place + rng.randrange(3)] = rng.choice(ODD)
        elif kind == 4:
            start = rng.randrange(len(found) + 1)
            found[place:place] = found[start : start + rng.randrange(1, 60)]
        else:
            found[place : place + 1] = bytes([rng.randrange(256)])
    return bytes(found)


def sound(data: bytes, name: str, format: str | None = None) -> tuple[int, int]:
    """(puzzles, errors) that any bytes give: at least one row, each a puzzle or an error that names the file."""
    batch = reading.read_bytes(data, name, format)
    rows = batch.select(["height", "width", "error", "digest", "index"]).to_pylist()
    assert rows
    for row in rows:
        assert bool(row["error"]) == (row["height"] == 0) == (row["digest"] == "")
        assert row["index"] >= 1
        assert not row["error"] or row["error"].startswith(name)
    assert len(list(puzzles_of(batch))) == len(rows)
    errors = sum(bool(row["error"]) for row in rows)
    return len(rows) - errors, errors


def lines_mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes of a file with lines lost, doubled, swapped or ended in another way, or put behind another copy."""
    lines = data.split(b"\n")
    kind, place, other = rng.randrange(9), rng.randrange(len(lines)), rng.randrange(len(lines))
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(other, lines[place])
    elif kind == 2:
        lines[place], lines[other] = lines[other], lines[place]
    elif kind == 3:
        lines[place] = lines[place][: rng.randrange(len(lines[place]) + 1)]
    elif kind == 4:
        lines[place] += rng.choice((b" ", b"\t", b"\r", b"\x0b", b"\x1a", b"\xc3\xa9", b"\0"))
    text = b"\n".join(lines)
    ends = {5: text.rstrip(), 6: text.replace(b"\n", b"\r\n"), 7: b"\xef\xbb\xbf" + text}
    joined = text + rng.choice((b"", b"\n", b"====\n", b",")) + data
    return ends.get(kind, joined if kind == 8 else text)


def packed_like_parsed(items: list[tuple[str, bytes]], format: str) -> None:
    """Every text that a compiled reader takes is the same set of puzzles as `parse` gives: by force, under a name with
    the format's ending, and under one that says nothing; among files of other formats, and alone."""
    form = format_named(format)
    ways: list[tuple[list[tuple[str, bytes]], str | None]] = [(items, format)]
    for ending in (form.extensions[0], ""):
        ways.append(([(name.partition(".")[0] + ending, data) for name, data in items], None))
    for texts, forced in ways:
        found = [read_from(texts, forced, least) for least in (0, 1 << 60)]
        if not found[0].equals(found[1]):
            assert found[0].to_pylist() == found[1].to_pylist()
    plain = [data for _, data in items if reading._is_plain(data)]
    assert form.pack is not None
    for owner in set(form.pack(plain).owners.tolist()):
        text = plain[owner].decode()
        assert form.sniff(text) or (form.begins is not None and form.begins(text)), text


def read_from(items: list[tuple[str, bytes]], format: str | None, least: int) -> pa.RecordBatch:
    """What is read where compiled readers are used from so many characters on."""
    before, reading.PACK_FROM = reading.PACK_FROM, least
    try:
        return reading.read_many(items, format)
    finally:
        reading.PACK_FROM = before
