"""Texts and bytes that are almost files of puzzles, and what any of them must do: parse or say what is wrong."""

from __future__ import annotations

import random

from parallel_nono.files import reading
from parallel_nono.puzzleset import puzzles_of

ODD = (
    b"999999999", b"-1", b"?", b"\n", b"\n\n", b" ", b"\t", b"0", b"1", b"9", b"\0", b"[", b"]", b"<", b"/>", b'"',
    b"a",
    b",", b".", b"/", b":", b"#", b"$", b"|", b"=", b"&", b"%", b"\xc3\xa9", b"====\n", b"rows\n", b"columns\n",
    b"width 3\n", b'goal "1"\n', b"<line>", b"<line/>", b"</line>", b"<count>0</count>", b"]]>",
    b' color="red"', b' color="1"', b' color="77"', b"<image></image>",
    b"<!-- -->", b"<title>t</title>", b"</puzzle>", b"GRID\n", b"\x0b", b"\xff\xfe",
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


def packed_like_parsed(items: list[tuple[str, bytes]], format: str) -> None:
    """Every text that a compiled reader takes is the same set of puzzles as `parse` gives."""
    found = []
    before = reading.PACK_FROM
    for least in (0, 1 << 60):
        reading.PACK_FROM = least
        try:
            found.append(reading.read_many(items, format))
        finally:
            reading.PACK_FROM = before
    if not found[0].equals(found[1]):
        assert found[0].to_pylist() == found[1].to_pylist()
