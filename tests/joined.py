"""Several puzzles in one file, put together as people and programs do, and what any reader must make of that.

A joined file gives all its puzzles, in order. What can't be read is an error that names a place of the rest. Never may
puzzles be missing without a word, and never may two become a third.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from parallel_nono.files import reading
from parallel_nono.files.containers import Source
from parallel_nono.formats import Format, encoded
from parallel_nono.puzzle import BLACK_AND_WHITE, InvalidPuzzle, Puzzle, palette_of

SAMPLES = Path(__file__).parent / "samples"

A = Puzzle.of_grid([[int(c == "#") for c in row] for row in (".#.#.#.", "#.###.#", "######.", "#.....#", ".######")])
B = Puzzle.of_grid([[int(c == "#") for c in row] for row in ("#.#...", "##...#", ".#..#.", ".##.#.", "###.#.")])
A_AGAIN = Puzzle.of_grid(
    [[int(c == "#") for c in row] for row in ("##.#..#", "#..##.#", "######.", "#..#..#", ".##.###")]
)
SQUARE = Puzzle.of_grid([[int(c == "#") for c in row] for row in ("##.#", "#..#", ".###", "#.#.")])
SQUARE_AGAIN = Puzzle.of_grid([[int(c == "#") for c in row] for row in (".#.#", "####", ".#.#", "#.#.")])
RED = Puzzle.of_grid([[0, 1, 2, 1], [2, 2, 0, 1], [1, 0, 2, 0]], palette_of(3))
BLUE = Puzzle.of_grid([[2, 1, 0], [0, 1, 2], [1, 2, 0], [1, 1, 2]], palette_of(3))


def six(number: int) -> Puzzle:
    """A picture of 6 x 6 cells without an empty line, another one for each number."""
    rng = random.Random(number)
    return Puzzle.of_grid([[int(rng.random() < 0.6 or row == column) for column in range(6)] for row in range(6)])


GROUPS = {
    "two": (A, B),
    "two of one size": (A, A_AGAIN),
    "two squares": (SQUARE, SQUARE_AGAIN),
    "the same twice": (A, A),
    "twelve": tuple(map(six, range(12))),
    "two in colour": (RED, BLUE),
}


class Piece(NamedTuple):
    """A file of one puzzle: its bytes, and the digest of what it holds."""

    data: bytes
    digest: str


COMMENTS = {
    "non": "# more", "nonpack": "# more", "webpbn": "<!-- more -->", "freenono": "<!-- more -->", "xpm": "/* more */",
    "sgt": "# more", "puzzlink": "# more", "penpa": "# more", "picross": "# more", "dzn": "% more", "asp": "% more",
    "makhorin": "* more", "ish": "# more", "syro": "# more", "nonogrid": "# more", "pynogram": "; more",
    "gno": "# more", "olsak": "more",
}  # fmt: skip
"""A line that a format passes over, of those that have such lines."""

Way = Callable[[Sequence[bytes], str], tuple[bytes, list[int]] | None]
"""(files, name of the format) -> (all of them in one, where each of them ends in it); None: not for this format."""


def parted(gap: bytes, last: bytes = b"") -> Way:
    """Something between the files, and perhaps something else behind them."""

    def joined(pieces: Sequence[bytes], form: str) -> tuple[bytes, list[int]]:
        text, ends = b"", []
        for place, piece in enumerate(pieces):
            text += (gap if place else b"") + piece
            ends.append(len(text))
        return text + last, ends

    return joined


def changed(way: Way, change: Callable[[bytes], bytes]) -> Way:
    """Files that are changed before they are put together."""
    return lambda pieces, form: way([change(piece) for piece in pieces], form)


def unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def commented(pieces: Sequence[bytes], form: str) -> tuple[bytes, list[int]] | None:
    return parted(COMMENTS[form].encode() + b"\n")(pieces, form) if form in COMMENTS else None


TEXT_WAYS: dict[str, Way] = {
    "plain": parted(b""),
    "glued": changed(parted(b""), lambda data: data.rstrip(b"\n")),
    "line end": parted(b"\n"),
    "blank line": parted(b"\n\n"),
    "blank lines": parted(b"\n\n\n"),
    "line of blanks": parted(b" \t\n"),
    "====": parted(b"====\n"),
    "---": parted(b"---\n"),
    "wide ---": parted(b"\n----------\n\n"),
    "form feed": parted(b"\f\n"),
    "CRLF": changed(parted(b"\r\n"), lambda data: unix(data).replace(b"\n", b"\r\n")),
    "CR": changed(parted(b"\r"), lambda data: unix(data).replace(b"\n", b"\r")),
    "byte order marks": changed(parted(b""), lambda data: b"\xef\xbb\xbf" + data),
    "comment": commented,
    "heading": parted(b"Puzzle two\n"),
    "junk behind": parted(b"\n", b"and so on\n"),
    "numbers behind": parted(b"\n", b"\n3 3\n1\n"),
    "NULs behind": parted(b"\n", bytes(16)),
    "bytes behind": parted(b"\n", b"\xfe\x93\x81\n"),
    "end of file sign": parted(b"", b"\x1a"),
}
BINARY_WAYS: dict[str, Way] = {
    "plain": parted(b""),
    "line end": parted(b"\n"),
    "NULs": parted(bytes(5)),
    "====": parted(b"====\n"),
    "junk behind": parted(b"", b"and so on\n"),
    "NULs behind": parted(b"", bytes(16)),
    "bytes behind": parted(b"", b"\xfe\x93\x81"),
}


def ways(form: Format) -> dict[str, Way]:
    return BINARY_WAYS if form.binary else TEXT_WAYS


def pieces_of(form: Format, puzzles: Sequence[Puzzle]) -> list[Piece] | None:
    """Each puzzle as a file of its own; None where the format can't carry one of them."""
    if form.write is None:
        return None
    found = []
    for puzzle in puzzles:
        goal = puzzle.goal if form.picture else None
        name = "" if form.picture else "t"
        try:
            data = encoded(form.write([replace(puzzle, goal=goal, name=name)]))
        except InvalidPuzzle:
            return None
        found.append(Piece(data, only_digest(data, form.name)))
    return found


def sample_pieces(form: Format) -> Iterator[Piece]:
    """Every sample of a format that holds one puzzle."""
    for path in sorted(SAMPLES.iterdir()):
        data = path.read_bytes()
        if reading.content_and_format(data, path.name, None)[2].name == form.name:
            batch = reading.read_bytes(data, path.name)
            if batch.num_rows == 1:
                yield Piece(data, batch.column("digest")[0].as_py())


def only_digest(data: bytes, format: str) -> str:
    (row,) = reading.read_bytes(data, "one", format).select(["digest", "error"]).to_pylist()
    assert row["digest"], row["error"]
    return str(row["digest"])


PLACE = re.compile(r"(?:\blines? |:)(\d+)\b|\b(?:byte|frame|picture|puzzle) (\d[\d,]*)")


class Misread(AssertionError):
    """A joined file of which something is missing or made up without a word."""


def judge(batch: pa.RecordBatch, digests: Sequence[str], data: bytes, ends: Sequence[int]) -> None:
    """Errors: Misread, unless a joined file gave all its puzzles or names a place of the rest.

    digests, ends  of each puzzle that was put into `data`, and where it ends there.
    """
    rows = batch.select(["digest", "error", "warnings", "height", "width"]).to_pylist()
    found = [row["digest"] for row in rows if row["digest"]]
    errors = [row["error"] for row in rows if row["error"]]
    shapes = [f"{row['width']}x{row['height']}" for row in rows if row["digest"]]
    if found == list(digests) and not errors:
        return
    left = iter(digests)
    sure = [row["digest"] for row in rows if row["digest"] and not PLACE.search(row["warnings"])]
    if not all(digest in left for digest in sure):
        raise Misread(f"gave {shapes}, of which some are none of those in the file; errors {errors}")
    if len(found) == len(digests):
        return  # all of them; the errors are about what else there is
    said = errors + [row["warnings"] for row in rows if row["warnings"]]
    if not said:
        raise Misread(f"gave {shapes} without a word about the rest")
    complete = 0
    while complete < len(found) and found[complete] == digests[complete]:
        complete += 1
    first = unix(data[: ends[max(complete, 1) - 1]].rstrip()).count(b"\n") + 1
    first = 1 if found and not complete else first
    last = unix(data).count(b"\n") + 1
    places = [match for words in said for match in PLACE.finditer(words.removeprefix("joined"))]
    if not found and all("expected a known format" in words for words in said):
        return  # nothing of it is read, and the name says nothing: no part of it is the rest of another
    if not any(match[2] or first <= int(match[1]) <= last for match in places):
        raise Misread(f"gave {shapes}; none of {said} names a line from {first} to {last}")


def readings(data: bytes, form: Format, pieces: Sequence[Piece]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """(how, puzzle set) of bytes read by force, by name and by content; at once, packed and piece by piece.

    Content is left out where it doesn't tell even of each of the files that were put together.
    """
    for name in ("joined", f"joined{form.extensions[0]}", "joined.txt"):
        forced = form.name if name == "joined" else None
        if not all(tells(piece, name, forced) for piece in pieces):
            continue
        yield name, reading.read_bytes(data, name, forced)
        if form.pack:
            yield f"{name}, compiled", compiled(data, name, forced)
        if form.cut is not None:
            yield f"{name}, piece by piece", in_pieces(data, name, forced)


@cache
def tells(piece: Piece, name: str, forced: str | None) -> bool:
    """Whether a file of one puzzle is read as what it is."""
    return reading.read_bytes(piece.data, name, forced).column("digest").to_pylist() == [piece.digest]


def compiled(data: bytes, name: str, forced: str | None) -> pa.RecordBatch:
    """What the compiled readers make of bytes, however few."""
    before, reading.PACK_FROM = reading.PACK_FROM, 0
    try:
        return reading.read_bytes(data, name, forced)
    finally:
        reading.PACK_FROM = before


def in_pieces(data: bytes, name: str, forced: str | None) -> pa.RecordBatch:
    """What is read of a long file; here a piece is a few lines."""
    found = list(reading.batches(Source(name, len(data), data=data), forced, about=40))
    columns = ["digest", "error", "warnings", "height", "width"]
    table = pa.Table.from_batches([batch.select(columns) for batch in found]).combine_chunks()
    return table.to_batches()[0]


def one_picture(form: Format, puzzles: Sequence[Puzzle], way: str) -> bool:
    """Whether rows of one length follow one another with nothing between: that is a larger picture by the format."""
    ways = ("plain", "glued", "byte order marks", "end of file sign")
    return form.name == "matrix" and way in ways and len({puzzle.width for puzzle in puzzles}) == 1


def check_joined(form: Format, pieces: Sequence[Piece], way: str) -> None:
    """Put files together in one of the ways and read them in all. Errors: Misread, which says in which."""
    made = ways(form)[way]([piece.data for piece in pieces], form.name)
    if made is None:
        return
    data, ends = made
    for how, batch in readings(data, form, tuple(pieces)):
        try:
            judge(batch, [piece.digest for piece in pieces], data, ends)
        except Misread as error:
            raise Misread(f"{form.name}, {way}, {how}: {error}") from None


GAPS = (
    b"", b"", b"\n", b"\n\n", b"\n\n\n", b" \n", b"\t\n", b"====\n", b"=====\n\n", b"---\n", b"\n-----\n", b"\f\n",
    b"\r\n", b"\xef\xbb\xbf", b"Puzzle\n", b"# x\n", b"* x\n", b"\xfe\n", b"\x1a",
)  # fmt: skip
NUMBERS = b"\n0\n", b"\n1 1\n"
"""Between files of a format that tells how many clues there are."""

BINARY_GAPS = b"", b"", b"", b"\n", b"\r\n", b"\0", bytes(7), b"====\n", b"x", b"\xfe\x93"


def random_pieces(rng: random.Random, form: Format) -> list[Piece]:
    """Two to five files of a format, written or samples; none where it was bad luck."""
    samples = list(sample_pieces(form))
    found: list[Piece] = []
    for _ in range(rng.randrange(2, 6)):
        if form.write is None or (samples and rng.random() < 0.1):
            found.append(rng.choice(samples))
            continue
        height, width = rng.randrange(3, 10), rng.randrange(3, 10)
        if form.name == "taai" or rng.random() < 0.2:
            width = height
        inks = rng.choice([1, 1, 2, 3]) if form.colours else 1
        share = rng.choice([0.3, 0.5, 0.7])
        grid = [
            [rng.randrange(1, inks + 1) if rng.random() < share else 0 for _ in range(width)] for _ in range(height)
        ]
        palette = BLACK_AND_WHITE if inks == 1 else palette_of(inks + 1)
        found += pieces_of(form, [Puzzle.of_grid(grid, palette)]) or []
    return found


def random_joined(rng: random.Random, form: Format) -> tuple[bytes, list[Piece], list[int]]:
    """(files put together with anything between and behind them, those files, where each ends)."""
    gaps = BINARY_GAPS if form.binary else GAPS
    if not form.binary and form.name not in ("taai", "keen", "ish", "syro", "faase", "makhorin", "matrix"):
        gaps += NUMBERS
    usual = rng.choice(gaps)  # mostly the same between all
    data, ends, pieces = b"", [], random_pieces(rng, form)
    for piece in pieces:
        gap = usual if rng.random() < 0.8 else rng.choice(gaps)
        if form.name == "matrix" and not gap.strip(b"\xef\xbb\xbf"):
            gap = b"\n"  # without anything between it could be one larger picture
        content = piece.data.rstrip(b"\n") if not form.binary and rng.random() < 0.03 else piece.data
        data += (gap if ends else b"") + content
        ends.append(len(data))
    return data + (rng.choice(gaps) if rng.random() < 0.2 else b""), pieces, ends


def check_random_joined(rng: random.Random, form: Format) -> bytes:
    """Read files put together at random; returns what was read. Errors: Misread, with the bytes as its second part."""
    data, pieces, ends = random_joined(rng, form)
    for how, batch in readings(data, form, tuple(pieces)):
        try:
            judge(batch, [piece.digest for piece in pieces], data, ends)
        except Misread as error:
            raise Misread(f"{form.name}, {how}: {error}", data) from None
    return data
