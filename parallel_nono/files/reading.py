"""From files to puzzles: one by one (`read`), or as puzzle sets (`read_bytes`, `read_many`, `read_sources`, `batches`).

What can't be read never raises in the set functions: it is a row with an `error`, in its place among the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

from ..formats import (
    BINARY,
    Content,
    Format,
    Packed,
    could_be,
    format_named,
    only_named,
    recognise,
    recognise_bytes,
    unpacked_name,
)
from ..formats.common.decode import decode
from ..formats.common.text import MAX_LINE, fits, labelled, lengths, stem
from ..puzzle import InvalidPuzzle, Puzzle
from .containers import PEEK, Skipped, Source, sources
from .paths import PARQUET_MAGIC

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from ..puzzleset import SetBuilder

PACK_FROM = 16 << 10
"""Characters from which the compiled readers are used: for less, loading them costs more than they save."""

AT_ONCE = 4 << 20
"""Bytes of many texts that are read at once."""

PIECE = 1 << 20
"""Characters of a long text that are read at once."""

LONGEST_NUMBERS = 4 << 20
"""Bytes of a line of numbers: a row of MAX_LINE cells takes less."""

FORMAT_HINT = "`pnono formats` lists them; --format NAME forces one"

PHOTOS = ((b"\xff\xd8\xff", "JPEG"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"RIFF", "WebP"))
"""How pictures begin that don't keep single cells."""


ANY = "surrogatepass"
"""How text becomes bytes and text again, whatever is in it."""

BEGINNINGS = frozenset(sign.encode("latin-1") for sign in "".join(BINARY.values()) + "IM")
"""What binary formats and photos begin with, of those whose first byte is ASCII."""


def content_and_format(data: bytes, source: str, form: Format | None) -> tuple[Content, str, Format]:
    """(content, warning, format) of a file: text, or the bytes as they are where the format is a binary one.

    Errors: InvalidPuzzle if it is empty or of no known format.
    """
    if data[:4] == PARQUET_MAGIC:
        raise InvalidPuzzle(f"{source}: expected text, found a Parquet file")
    form = form or recognise_bytes(data)
    if form is not None and form.binary:
        return data, "", form
    for magic, title in PHOTOS:
        if data.startswith(magic):
            raise InvalidPuzzle(
                f"{source}: expected a picture with one pixel a cell, PNG, GIF, BMP, XPM or PBM, found a {title} "
                f"picture: `pnono from-image` makes puzzles of it"
            )
    _check_lines(data, source)
    text, warning = decode(data, source)
    if not text or text.isspace():
        raise InvalidPuzzle(f"{source}: expected a puzzle, found an empty file")
    if form is None:
        form = recognise(text if len(text) <= PEEK else text[: text.rfind("\n", 0, PEEK) + 1 or PEEK], source)
        if form is not None and form.lookalikes and not unpacked_name(source).endswith(form.extensions):
            form, doubt = _second_look(form, text, source)
            warning = "; ".join(filter(None, (warning, doubt)))
    if form is not None and form.binary:  # by its ending alone: let it say what is wrong
        return data, "", form
    if form is None:
        before = len(text) - len(text.lstrip())
        line = text.count("\n", 0, before) + 1
        start = text[before : before + 200].partition("\n")[0].strip()
        start = start[:60] + "..." if len(start) > 60 else start
        raise InvalidPuzzle(f"{source}:{line}: expected a known format ({FORMAT_HINT}), found `{start}`")
    return text, warning, form


def _check_lines(data: bytes, source: str) -> None:
    """Errors: InvalidPuzzle for a line of numbers that is longer than any clue and any row of cells can be."""
    at = 0
    while len(data) - at > LONGEST_NUMBERS:
        end = data.rfind(b"\n", at, at + LONGEST_NUMBERS)
        if end < 0:
            if not data[at : at + LONGEST_NUMBERS].translate(None, b"0123456789 \t,;"):
                line = data.count(b"\n", 0, at) + 1
                hope = f"a clue or a row of at most {MAX_LINE:,} cells"
                raise InvalidPuzzle(f"{source}:{line}: expected {hope}, found {LONGEST_NUMBERS >> 20} MiB of numbers")
            end = data.find(b"\n", at + LONGEST_NUMBERS)
            if end < 0:
                return
        at = end + 1


def _second_look(form: Format, text: str, source: str) -> tuple[Format, str]:
    """(format, warning) for a text that could be `form` or one of its lookalikes, and whose name does not tell.

    The first reading whose sums and lengths fit is taken; others that fit and give another puzzle are a warning. Of
    several puzzles all must fit, and a reading that gives more of them without an error is the better one.
    """
    readings: list[tuple[Format, Puzzle]] = []
    best = (0, 0)
    whole = False
    for other in (form, *(format_named(name) for name in form.lookalikes)):
        found = list(_parsed(other, text, source, "")) if other is form or _may_be(other, text) else []
        puzzles = [item for item in found if isinstance(item, Puzzle)]
        whole = whole or (other is form and len(puzzles) == len(found))
        score = (len(puzzles) - len(found), len(puzzles))
        if puzzles and all(fits(puzzle.rows, puzzle.columns) for puzzle in puzzles) and (not readings or score >= best):
            readings = [*(readings if score == best else []), (other, puzzles[0])]
            best = score
    if not readings:
        return form, ""
    chosen, puzzle = readings[0]
    others = [reading for reading in readings[1:] if reading[1].digest != puzzle.digest]
    if others:
        told = "; ".join(f"as {_told(*reading)} (--format {reading[0].name})" for reading in others)
        return chosen, f"read as {_told(chosen, puzzle)}; the text could also be read {told}"
    if chosen is not form and whole:
        return chosen, f"read as {_told(chosen, puzzle)}; as {form.name} its sums or lengths don't fit"
    return chosen, ""


def _may_be(form: Format, text: str) -> bool:
    return could_be(form, text) or (form.begins is not None and form.begins(text))


def _told(form: Format, puzzle: Puzzle) -> str:
    """A reading in a few words."""
    return f"{form.name}, {puzzle.width} wide and {puzzle.height} high, first row {lengths(puzzle.rows[0])}"


Paths = str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str]]


@overload
def read(
    path: Paths,
    format: str | None = None,
    errors: Literal["raise"] = "raise",
    skipped: Callable[[Skipped], object] | None = None,
) -> Iterator[Puzzle]: ...


@overload
def read(
    path: Paths,
    format: str | None = None,
    *,
    errors: Literal["yield"],
    skipped: Callable[[Skipped], object] | None = None,
) -> Iterator[Puzzle | InvalidPuzzle]: ...


@overload
def read(
    path: Paths,
    format: str | None,
    errors: Literal["yield"],
    skipped: Callable[[Skipped], object] | None = None,
) -> Iterator[Puzzle | InvalidPuzzle]: ...


def read(
    path: Paths,
    format: str | None = None,
    errors: Literal["raise", "yield"] = "raise",
    skipped: Callable[[Skipped], object] | None = None,
) -> Iterator[Puzzle | InvalidPuzzle]:
    """The puzzles of a file, a folder, an archive, a glob, several of them, or of bytes, one by one.

    path     what to read; a folder and an archive give all puzzle files in them, in the order of their names.
    format   the name of a format, as `pnono formats` lists them; None: found by content, then by the file's ending.
    errors   "raise": InvalidPuzzle at the first broken puzzle; "yield": it comes in its place instead.
    skipped  called with each file that is passed by; see `containers.sources`.
    Errors   InvalidPuzzle, also for a file that is missing or empty; its message says where, what was expected, and
             what was found.

    >>> from parallel_nono import read
    >>> text = b"width 2\\nheight 2\\nrows\\n2\\n1\\ncolumns\\n2\\n1\\n"
    >>> [puzzle.rows for puzzle in read(text)]
    [((Block(length=2, colour=1),), (Block(length=1, colour=1),))]
    """
    form = format_named(format) if format else None
    for item in _read(path, form, skipped):
        if isinstance(item, InvalidPuzzle) and errors == "raise":
            raise item
        yield item


def puzzle_of_text(text: str | bytes, format: str | None = None) -> Puzzle:
    """The one puzzle of a text. Errors: InvalidPuzzle, also for several."""
    puzzle, *others = islice(read(text.encode() if isinstance(text, str) else text, format), 2)
    if others:
        raise InvalidPuzzle("expected one puzzle, found several: `read` gives them one by one")
    return replace(puzzle, name="" if puzzle.name == puzzle.source else puzzle.name, source="")


def _read(
    path: Paths,
    form: Format | None,
    skipped: Callable[[Skipped], object] | None,
) -> Iterator[Puzzle | InvalidPuzzle]:
    if isinstance(path, bytes):
        found: Iterable[Source] = (Source("-", len(path), data=path, packed=path[:4] == PARQUET_MAGIC),)
    else:
        found = sources([path] if isinstance(path, str | os.PathLike) else path, skipped)
    for source in found:
        if source.packed:
            from ..puzzleset import SCHEMA, puzzles_of
            from .packed import read_packed

            try:
                for batch in read_packed(_opened(source), tuple(SCHEMA.names), source.name):
                    yield from puzzles_of(batch)
            except InvalidPuzzle as error:
                yield error
            continue
        try:
            text, warning, used = content_and_format(source.load(), source.name, form)
        except InvalidPuzzle as error:
            yield error
            continue
        yield from _parsed(used, text, source.name, warning)


def _opened(source: Source) -> str | bytes:
    return source.path if source.data is None else source.data


def _parsed(form: Format, text: Content, source: str, warning: str) -> Iterator[Puzzle | InvalidPuzzle]:
    """What `parse` gives, errors of the whole file as the last item, each with its place and a name."""
    index = 0
    try:
        for item in form.parse(text, source):
            index = (item.index if isinstance(item, InvalidPuzzle) and item.index else index + 1) or 1
            if isinstance(item, InvalidPuzzle):
                yield InvalidPuzzle(str(item), name=item.name or labelled(source, "", index, False), index=index)
            else:
                yield replace(item, warnings=(warning, *item.warnings)) if warning else item
    except InvalidPuzzle as error:
        index += 1
        yield InvalidPuzzle(str(error), name=error.name or labelled(source, "", index, index == 1), index=index)
    if not index:
        yield InvalidPuzzle(f"{source}: expected a puzzle, found none", name=stem(source), index=1)


def read_bytes(data: bytes, source: str, format: str | None = None) -> pa.RecordBatch:
    """The puzzle set of one file's bytes; `source` is its name."""
    return read_many([(source, data)], format)


def read_many(items: Iterable[tuple[str, bytes]], format: str | None = None) -> pa.RecordBatch:
    """One puzzle set of many files (name, bytes), in their order: the fast way for small files by the thousand."""
    return _read_many(((name, data, None) for name, data in items), format)


def read_sources(found: Iterable[Source], format: str | None = None) -> pa.RecordBatch:
    """One puzzle set of many sources of text, loaded here; what can't be loaded is a row too."""
    return _read_many(((source.name, *_loaded(source)) for source in found), format)


def _loaded(source: Source) -> tuple[bytes, InvalidPuzzle | None]:
    try:
        return source.load(), None
    except InvalidPuzzle as error:
        return b"", error


def _read_many(items: Iterable[tuple[str, bytes, InvalidPuzzle | None]], format: str | None) -> pa.RecordBatch:
    reader = _Reader(format_named(format) if format else None)
    for item in items:
        reader.add(*item)
    return reader.finish()


class _Waiting(NamedTuple):
    """A text that waits for the compiled reader of its format: its place among all, its name, its bytes."""

    place: int
    source: str
    data: bytes


class _Reader:
    """Reads texts, those of one format together, and gives their puzzles in the order of the texts.

    A text whose name has the ending of one format goes to the compiled reader of that format as it is. What that takes
    is what `content_and_format` would have found: it is plain (`_is_plain`), so that decoding changes nothing; `sniff`
    or `begins` says yes, so that the ending decides. Everything else goes through `content_and_format`, and where that
    finds a format with a compiled reader, the text as decoded is offered again.
    """

    def __init__(self, forced: Format | None) -> None:
        from ..puzzleset import SetBuilder

        self.forced = forced
        self.n = 0
        self.builder = SetBuilder()
        self.places: list[int] = []  # of the rows of the builder
        self.sets: list[tuple[pa.RecordBatch, np.ndarray]] = []  # each with the places of its rows
        self.named: dict[str, list[_Waiting]] = {}  # by format: those that its name chose
        self.found: dict[str, list[_Waiting]] = {}  # those that `content_and_format` chose
        self.size = 0  # bytes that wait

    def add(self, source: str, data: bytes, error: InvalidPuzzle | None) -> None:
        """Read one text, now or later."""
        place = self.n
        self.n += 1
        form = self.forced or only_named(source)
        if error is None and form is not None and form.pack is not None and len(data) <= PEEK:
            self.named.setdefault(form.name, []).append(_Waiting(place, source, data))
            self.size += len(data)
        else:
            self.look(place, source, data, error)
        if self.size > AT_ONCE:
            self.flush()

    def look(self, place: int, source: str, data: bytes, error: InvalidPuzzle | None, refused: str = "") -> None:
        """Find out what a text is. refused: the format whose compiled reader did not take it, so that `parse` does."""
        try:
            if error:
                raise error
            text, warning, form = content_and_format(data, source, self.forced)
        except InvalidPuzzle as problem:
            self.builder.add_error(str(problem), source, 1, problem.name or stem(source))
            self.places.append(place)
            return
        if form.pack is None or warning or isinstance(text, bytes) or form.name == refused:
            self.parse(place, form, text, source, warning)
        else:
            self.found.setdefault(form.name, []).append(_Waiting(place, source, text.encode("utf-8", ANY)))
            self.size += len(text)

    def parse(self, place: int, form: Format, text: Content, source: str, warning: str) -> None:
        """Read a text with care."""
        _parse(self.builder, form, text, source, warning)
        self.places += [place] * (len(self.builder) - len(self.places))

    def flush(self) -> None:
        """Read all that waits."""
        few = self.size < PACK_FROM
        for name, waiting in self.named.items():
            plain = [] if few else [text for text in waiting if _is_plain(text.data)]
            taken = self.pack(name, plain)
            offered = {text.place for text in plain}
            for text in waiting:
                if text.place not in taken:
                    self.look(*text, None, name if text.place in offered else "")
        self.named.clear()
        for name, waiting in self.found.items():
            taken = set() if few else self.pack(name, waiting)
            for text in waiting:
                if text.place not in taken:
                    self.parse(text.place, format_named(name), text.data.decode("utf-8", ANY), text.source, "")
        self.found.clear()
        self.size = 0

    def pack(self, name: str, waiting: list[_Waiting]) -> set[int]:
        """Give texts to the compiled reader of their format; returns the places of those that it took."""
        import numpy as np

        form = format_named(name)
        assert form.pack is not None
        packed = form.pack([text.data for text in waiting]) if waiting else None
        if packed is None or not len(packed.owners):
            return set()
        places = np.array([text.place for text in waiting])[packed.owners]
        self.sets.append((_set_of(packed, [text.source for text in waiting]), places))
        return set(places.tolist())

    def finish(self) -> pa.RecordBatch:
        """The puzzles of all texts."""
        import numpy as np
        import pyarrow as pa

        self.flush()
        if len(self.builder) or not self.sets:
            self.sets.append((self.builder.finish(), np.array(self.places, np.int64)))
        places = np.concatenate([places for _, places in self.sets])
        if len(self.sets) == 1 and not np.any(np.diff(places) < 0):
            return self.sets[0][0]
        table = pa.Table.from_batches([batch for batch, _ in self.sets]).combine_chunks()
        (batch,) = table.take(pa.array(np.argsort(places, kind="stable"))).combine_chunks().to_batches()
        return batch


def _is_plain(data: bytes) -> bool:
    """True for bytes that are their own text if they are UTF-8, and that no binary format and no photo begins like."""
    return not (b"\r" in data or b"\0" in data or b"\x1a" in data or data[:1] in BEGINNINGS)


def _set_of(packed: Packed, files: Sequence[str]) -> pa.RecordBatch:
    """The set of what a compiled reader made of texts with these names."""
    import numpy as np
    import pyarrow as pa

    from ..puzzleset import COLOUR, Columns, goals_column, palettes_column, texts_column

    n = len(packed.owners)
    first = np.searchsorted(packed.owners, np.arange(len(files) + 1))
    indexes = np.arange(n) - first[packed.owners] + 1
    sources = [files[owner] for owner in packed.owners.tolist()]
    inks = packed.colours
    return Columns(
        _names(packed, sources, indexes.tolist(), (np.diff(first)[packed.owners] == 1).tolist()),
        sources,
        indexes,
        packed.heights,
        packed.widths,
        np.array(list(map(len, packed.palettes)) if packed.palettes else [2] * n, np.int32),
        packed.counts,
        packed.lengths,
        np.ones(len(packed.lengths), np.uint16) if inks is None else inks,
        palettes_column(packed.palettes) if packed.palettes else pa.nulls(n, pa.list_(COLOUR)),
        goals_column(*packed.goals) if packed.goals else pa.nulls(n, pa.list_(pa.uint16())),
        texts_column(*packed.facts) if packed.facts else pa.array([""] * n),
        [""] * n,
        [""] * n,
    ).batch()


def _names(packed: Packed, sources: Sequence[str], indexes: Sequence[int], alone: Sequence[bool]) -> list[str]:
    """What puzzles are called: by themselves, or after their files, the only one of its file just so."""
    titles, labels = packed.titles or [""] * len(sources), packed.labels or [""] * len(sources)
    return [
        title or labelled(source, label, index, one)
        for title, label, source, index, one in zip(titles, labels, sources, indexes, alone, strict=True)
    ]


def _parse(builder: SetBuilder, form: Format, text: Content, source: str, warning: str) -> None:
    for item in _parsed(form, text, source, warning):
        if isinstance(item, InvalidPuzzle):
            builder.add_error(str(item), source, item.index, item.name)
        else:
            builder.add(item)


def batches(source: Source, format: str | None = None, about: int = PIECE) -> Iterator[pa.RecordBatch]:
    """The puzzle sets of one source: the row groups of a packed file; a long text piece by piece; else one set.

    Packed files give the columns `puzzleset.RUN_COLUMNS`, text gives all.
    """
    from ..puzzleset import RUN_COLUMNS, SetBuilder

    if source.packed:
        try:
            yield from _packed_rows(source, RUN_COLUMNS)
        except InvalidPuzzle as error:
            if source.rows is None or source.rows.start == 0:  # once for a row group
                builder = SetBuilder()
                builder.add_error(str(error), source.name, 1 + getattr(source.rows, "group", 0), stem(source.name))
                yield builder.finish()
        return
    data, broken = _loaded(source)
    if len(data) <= 2 * about or broken:
        yield _read_many([(source.name, data, broken)], format)
        return
    try:
        text, warning, form = content_and_format(data, source.name, format_named(format) if format else None)
    except InvalidPuzzle as problem:
        yield _read_many([(source.name, b"", problem)], format)
        return
    del data
    if form.cut is None or isinstance(text, bytes):
        yield _read_piece(form, text, source.name, warning)
        return
    before = n_lines = 0
    for piece in _pieces(text, form.cut, about):
        batch = _read_piece(form, piece, source.name, warning, n_lines)
        yield from (_counted_on(batch, source.name, before),) if batch.num_rows else ()
        before += batch.num_rows
        n_lines += piece.count("\n")


def _read_piece(form: Format, text: Content, source: str, warning: str, n_lines: int = 0) -> pa.RecordBatch:
    """The set of a text, or of a piece of one before which there are so many lines."""
    from ..puzzleset import SetBuilder

    if isinstance(text, str) and form.pack is not None and not warning:
        packed = form.pack([text.encode("utf-8", ANY)])
        if len(packed.owners):
            return _set_of(packed, [source])
    builder = SetBuilder()
    if isinstance(text, bytes):
        _parse(builder, form, text, source, warning)
    elif text.strip() or form.pack is None:
        _parse(builder, form, "\n" * n_lines + text, source, warning)  # line numbers as in the whole file
    return builder.finish()


def _counted_on(batch: pa.RecordBatch, source: str, before: int) -> pa.RecordBatch:
    """The set of a piece of a text, of which so many puzzles are before it."""
    import pyarrow as pa

    if not before:
        return batch
    names, indexes = batch.column("name").to_pylist(), batch.column("index").to_pylist()
    numbers = [index + before for index in indexes]
    unnamed = [
        name in (labelled(source, "", index, False), stem(source)) for name, index in zip(names, indexes, strict=True)
    ]
    names = [
        labelled(source, "", number, False) if own else name
        for own, number, name in zip(unnamed, numbers, names, strict=True)
    ]
    columns = {"name": pa.array(names, pa.string()), "index": pa.array(numbers, pa.int32())}
    return pa.RecordBatch.from_arrays(
        [columns.get(name, batch.column(name)) for name in batch.schema.names], schema=batch.schema
    )


def _packed_rows(source: Source, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """A packed set by row groups, or the rows of one of them that `source` stands for."""
    from .packed import read_packed

    if source.rows is None:
        yield from read_packed(_opened(source), columns, source.name)
        return
    at, rows = 0, source.rows
    for batch in read_packed(_opened(source), columns, source.name, [rows.group]):
        first, last = max(0, rows.start - at), min(batch.num_rows, rows.stop - at)
        if first < last:
            yield batch.slice(first, last - first)
        at += batch.num_rows


def _pieces(text: str, cut: str, about: int) -> Iterator[str]:
    """Pieces of about `about` characters that begin where puzzles begin."""
    start = 0
    while start < len(text):
        end = text.find("\n" + cut, start + about)
        end = len(text) if end < 0 else end + 1
        yield text[start:end]
        start = end
