"""From files to puzzles: one by one (`read`), or as puzzle sets (`read_bytes`, `read_many`, `read_sources`, `batches`).

What can't be read never raises in the set functions: it is a row with an `error`, in its place among the others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Literal, overload

from ..formats import Content, Format, Packed, could_be, format_named, recognise, recognise_bytes, unpacked_name
from ..formats.common.decode import decode
from ..formats.common.text import MAX_CELLS, MAX_LINE, fits, labelled, lengths, stem
from ..puzzle import BLACK_AND_WHITE, InvalidPuzzle, Puzzle
from .containers import PEEK, Skipped, Source, sources
from .paths import PARQUET_MAGIC

if TYPE_CHECKING:
    import pyarrow as pa

    from ..puzzleset import SetBuilder

PACK_FROM = 16 << 10
"""Characters from which the compiled readers are used: for less, loading them costs more than they save."""

PIECE = 1 << 20
"""Characters of a long text that are read at once."""

LONGEST_NUMBERS = 4 << 20
"""Bytes of a line of numbers: a row of MAX_LINE cells takes less."""

FORMAT_HINT = "`pnono formats` lists them; --format NAME forces one"

PHOTOS = ((b"\xff\xd8\xff", "JPEG"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"RIFF", "WebP"))
"""How pictures begin that don't keep single cells."""


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
    from ..puzzleset import SetBuilder

    forced = format_named(format) if format else None
    builder = SetBuilder()
    waiting: list[tuple[str, str]] = []  # (text, source) of one format, to be packed together
    packer: Format | None = None
    for source, data, error in items:
        try:
            if error:
                raise error
            text, warning, form = content_and_format(data, source, forced)
        except InvalidPuzzle as problem:
            _pack(builder, packer, waiting)
            builder.add_error(str(problem), source, 1, problem.name or stem(source))
            continue
        alone = form.pack is None or warning or not text.isascii()
        if form is not packer or alone:
            _pack(builder, packer, waiting)
            packer = form
        if alone or isinstance(text, bytes):
            _parse(builder, form, text, source, warning)
        else:
            waiting.append((text if text.endswith("\n") else text + "\n", source))
    _pack(builder, packer, waiting)
    return builder.finish()


def _parse(builder: SetBuilder, form: Format, text: Content, source: str, warning: str) -> None:
    for item in _parsed(form, text, source, warning):
        if isinstance(item, InvalidPuzzle):
            builder.add_error(str(item), source, item.index, item.name)
        else:
            builder.add(item)


def _pack(
    builder: SetBuilder, form: Format | None, waiting: list[tuple[str, str]], packed: Packed | None = None
) -> None:
    """Read the waiting texts with the compiled reader of their format, what it leaves with `parse`; clear the list.

    packed  what that reader made of them, where somebody has asked it.
    """
    import numpy as np

    if not waiting:
        return
    assert form is not None
    assert form.pack is not None
    if packed is None and sum(len(text) for text, _ in waiting) < PACK_FROM:
        for text, source in waiting:
            _parse(builder, form, text, source, "")
        waiting.clear()
        return
    packed = packed or form.pack([text for text, _ in waiting])
    cells = packed.heights.astype(np.int64) * packed.widths
    first = np.searchsorted(packed.owners, np.arange(len(waiting) + 1))
    lines = np.concatenate(([0], np.cumsum(packed.heights + packed.widths, dtype=np.int64)))
    blocks = np.concatenate(([0], np.cumsum(packed.counts, dtype=np.int64)))
    understood = np.diff(first) > 0
    if cells.size and cells.max() > MAX_CELLS:
        understood[packed.owners[cells > MAX_CELLS]] = False
    ends = [0, *(np.flatnonzero(np.diff(understood)) + 1).tolist(), len(waiting)]
    for start, end in pairwise(ends):
        if not understood[start]:
            for text, source in waiting[start:end]:
                _parse(builder, form, text, source, "")
            continue
        a, b = int(first[start]), int(first[end])
        owners = packed.owners[a:b].tolist()
        indexes = (np.arange(a, b) - first[packed.owners[a:b]] + 1).tolist()
        files = [source for _, source in waiting]
        if packed.labels is None:
            names = [stem(files[owner]) for owner in owners]
        else:
            alone = (np.diff(first) == 1).tolist()
            names = [
                labelled(files[owner], label, index, alone[owner])
                for owner, label, index in zip(owners, packed.labels[a:b], indexes, strict=True)
            ]
        at, to = lines[a], lines[b]
        builder.add_black_white(
            packed.heights[a:b].tolist(),
            packed.widths[a:b].tolist(),
            packed.counts[at:to],
            packed.lengths[blocks[at] : blocks[to]],
            names,
            "",
        )
        if packed.facts is not None:
            facts = packed.facts[a:b]
            builder.names[-len(owners) :] = [f.title or name for f, name in zip(facts, names, strict=True)]
            builder.metadata[-len(owners) :] = [fact.metadata for fact in facts]
            builder.palettes[-len(owners) :] = [fact.palette for fact in facts]
            builder.n_colours[-len(owners) :] = [len(fact.palette or BLACK_AND_WHITE) for fact in facts]
            builder.goals[-len(owners) :] = [fact.goal for fact in facts]
        if packed.colours is not None:
            builder.colours[-1] = packed.colours[blocks[at] : blocks[to]]
        builder.sources[-len(owners) :] = [files[owner] for owner in owners]
        builder.indexes[-len(owners) :] = indexes
    waiting.clear()


def batches(source: Source, format: str | None = None, about: int = PIECE) -> Iterator[pa.RecordBatch]:
    """The puzzle sets of one source: the row groups of a packed file; a long text piece by piece; else one set.

    Packed files give the columns `puzzleset.RUN_COLUMNS`, text gives all.
    """
    from ..puzzleset import RUN_COLUMNS, SetBuilder

    if source.packed:
        try:
            yield from _packed_rows(source, RUN_COLUMNS)
        except InvalidPuzzle as error:
            if source.span is None or source.span.start == 0:  # once for a row group
                builder = SetBuilder()
                builder.add_error(str(error), source.name, 1 + getattr(source.span, "group", 0), stem(source.name))
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
        builder = SetBuilder()
        if form.pack is None or warning or isinstance(text, bytes) or not text.isascii():
            _parse(builder, form, text, source.name, warning)
        else:
            _pack(builder, form, [(text, source.name)])
        yield builder.finish()
        return
    before = n_lines = 0
    for piece in _pieces(text, form.cut, about):
        builder = SetBuilder()
        if form.pack is None or not piece.isascii() or warning:
            _parse(builder, form, "\n" * n_lines + piece, source.name, warning)  # line numbers as in the whole file
        else:
            _pack_piece(builder, form, piece, source.name, n_lines)
        n = len(builder)
        if before:
            for place, index in enumerate(builder.indexes):
                if builder.names[place] in (labelled(source.name, "", index, False), stem(source.name)):
                    builder.names[place] = labelled(source.name, "", index + before, False)
                builder.indexes[place] = index + before
        before += n
        n_lines += piece.count("\n")
        if n:
            yield builder.finish()


def _packed_rows(source: Source, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """A packed set by row groups, or the rows of one of them that `source` stands for."""
    from .packed import read_packed

    if source.span is None:
        yield from read_packed(_opened(source), columns, source.name)
        return
    at, span = 0, source.span
    for batch in read_packed(_opened(source), columns, source.name, [span.group]):
        first, last = max(0, span.start - at), min(batch.num_rows, span.stop - at)
        if first < last:
            yield batch.slice(first, last - first)
        at += batch.num_rows


def _pack_piece(builder: SetBuilder, form: Format, piece: str, source: str, n_lines: int) -> None:
    assert form.pack is not None
    packed = form.pack([piece])
    if len(packed.owners):
        _pack(builder, form, [(piece, source)], packed)
    elif piece.strip():
        _parse(builder, form, "\n" * n_lines + piece, source, "")


def _pieces(text: str, cut: str, about: int) -> Iterator[str]:
    """Pieces of about `about` characters that begin where puzzles begin."""
    start = 0
    while start < len(text):
        end = text.find("\n" + cut, start + about)
        end = len(text) if end < 0 else end + 1
        yield text[start:end]
        start = end
