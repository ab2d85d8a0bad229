"""Packed puzzle sets: Parquet with the columns of `puzzleset.SCHEMA`, read by row groups and without parsing.

A packed file may come from anywhere, so what kernels rely on is checked, by whole columns: a row that breaks a rule
becomes a row with an `error`; a file that is no puzzle set is an InvalidPuzzle.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats.common.text import MAX_CELLS, MAX_INKS, MAX_LINE
from ..puzzle import BLOT, SURROGATE, InvalidPuzzle
from .paths import PARQUET_MAGIC, opened, readable
from .remote import is_remote, located, open_remote

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow.fs import FileSystem

ROW_GROUP = 4096
"""Puzzles of a row group, and of a batch."""

ROW_GROUP_BYTES = 64 << 20
"""A row group of larger puzzles is closed at this size."""

SHARE = 64
"""Puzzles that go to one of several files before it is the turn of the next."""

MAX_WAITING_BYTES = 1 << 30
"""Puzzles of all files that wait for their row groups to fill."""

MAX_GROUP_BYTES = 2 << 30
"""Unpacked bytes of a row group that is read: a small file may claim any size."""

KEY = b"pnono.puzzleset"


def write_packed(
    path: str | os.PathLike[str],
    batches: Iterable[pa.RecordBatch],
    row_group: int = ROW_GROUP,
    level: int = 3,
    shards: int = 1,
) -> int:
    """Write sets to one file, or to several that take puzzles in turn; returns the number of puzzles.

    path     of the file, or its address elsewhere (`s3://...`, see `remote`).
    shards   number of files; for more than one see `shard_paths`.
    The files appear under their names when all are complete: each is written beside its place as `.NAME.part-PID`,
    synced, renamed.
    Errors   OSError; InvalidPuzzle for an address that can't be reached; what `batches` raises. Nothing is left behind.
    """
    files: list[_File] = []
    total = 0
    try:
        for name in shard_paths(path, shards):
            files.append(_File(_target(name), row_group, level, MAX_WAITING_BYTES // shards))
        for number, piece in enumerate(_pieces(batches, row_group if shards == 1 else SHARE)):
            files[number % shards].add(piece)
            total += piece.num_rows
        for file in files:
            file.close()
        for file in files:
            file.target.keep()
    finally:
        for file in files:
            file.discard()
    return total


def shard_paths(path: str | os.PathLike[str], shards: int) -> list[str]:
    """`all.parquet`, or for 2 shards `all-00000-of-00002.parquet` and `all-00001-of-00002.parquet`."""
    path = os.fspath(path)
    if shards == 1:
        return [path]
    stem, ending = os.path.splitext(path)
    return [f"{stem}-{number:05}-of-{shards:05}{ending}" for number in range(shards)]


def _pieces(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """All puzzles, at most so many at a time."""
    from ..puzzleset import SCHEMA

    for batch in batches:
        batch = batch.cast(SCHEMA)
        for start in range(0, batch.num_rows, most):
            yield batch.slice(start, most)


class _File:
    """A packed set while it is written: rows wait until a row group is full, or larger than `max_bytes`."""

    def __init__(self, target: _Local | _Remote, row_group: int, level: int, max_bytes: int) -> None:
        import pyarrow.parquet as pq

        from ..puzzleset import SCHEMA

        self.target, self._row_group, self._max_bytes = target, row_group, min(max_bytes, ROW_GROUP_BYTES)
        self._writer = pq.ParquetWriter(target.file, SCHEMA, compression="zstd", compression_level=level)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._size = 0
        self._empty = True

    def add(self, piece: pa.RecordBatch) -> None:
        """Append puzzles, at most a row group of them."""
        room = self._row_group - self._rows
        if piece.num_rows > room:
            self.add(piece.slice(0, room))
            piece = piece.slice(room)
        self._waiting.append(piece)
        self._rows += piece.num_rows
        self._size += piece.nbytes
        if self._rows >= self._row_group or self._size >= self._max_bytes:
            self._write()

    def _write(self) -> None:
        import pyarrow as pa

        from ..puzzleset import SCHEMA

        self._writer.write_table(pa.Table.from_batches(self._waiting, SCHEMA), row_group_size=self._row_group)
        self._waiting, self._rows, self._size, self._empty = [], 0, 0, False

    def close(self) -> None:
        if self._waiting or self._empty:
            self._write()
        self._writer.close()
        self.target.close()

    def discard(self) -> None:
        """Remove what is not complete; nothing where `target` was kept."""
        with suppress(OSError, ValueError):  # after a failure only, and then it has been told
            self._writer.close()
        self.target.discard()


class _Local:
    """A file that is to appear under `path` once it is complete."""

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)
        self._folder, name = os.path.split(self._path)
        self._part = os.path.join(self._folder, f".{name}.part-{os.getpid()}")
        self.file: Any = open(self._part, "wb")  # noqa: SIM115 - closed by `close` or `discard`

    def close(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()

    def keep(self) -> None:
        os.replace(self._part, self._path)
        if hasattr(os, "O_DIRECTORY"):
            handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)  # the new name itself
            finally:
                os.close(handle)

    def discard(self) -> None:
        self.file.close()
        if os.path.exists(self._part):
            os.unlink(self._part)


class _Remote:
    """The same on another file system; object stores copy and delete where disks rename."""

    def __init__(self, system: FileSystem, path: str) -> None:
        self._system, self._path, self._kept = system, path, False
        folder, slash, name = path.rpartition("/")
        self._part = f"{folder}{slash}.{name}.part-{os.getpid()}"
        self.file: Any = system.open_output_stream(self._part)

    def close(self) -> None:
        self.file.close()

    def keep(self) -> None:
        self._system.move(self._part, self._path)
        self._kept = True

    def discard(self) -> None:
        if not self._kept:
            with suppress(OSError):  # it may never have come to be
                self.file.close()
                self._system.delete_file(self._part)


def _target(path: str) -> _Local | _Remote:
    from pyarrow.fs import LocalFileSystem

    if not is_remote(path):
        return _Local(path)
    system, inner = located(path)
    return _Local(inner) if isinstance(system, LocalFileSystem) else _Remote(system, inner)


def is_packed(where: str | bytes) -> bool:
    """True for a Parquet file (a path, or its bytes) that says it is a puzzle set."""
    try:
        with _open(where, "") as file:
            return KEY in (file.schema_arrow.metadata or {})
    except InvalidPuzzle:
        return False


def count_packed(where: str | bytes, name: str = "") -> int:
    """The number of puzzles, from the file's footer alone. Errors: InvalidPuzzle if it is no puzzle set."""
    with _open(where, name) as file:
        _check_schema(file, (), name or _title(where))
        return file.metadata.num_rows


def group_rows(where: str | bytes, name: str = "") -> list[int]:
    """The number of puzzles in each row group. Errors: InvalidPuzzle if it is no puzzle set."""
    with _open(where, name) as file:
        _check_schema(file, (), name or _title(where))
        return [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]


def read_packed(
    where: str | bytes | os.PathLike[str],
    columns: Sequence[str] | None = None,
    name: str = "",
    groups: Sequence[int] | None = None,
) -> Iterator[pa.RecordBatch]:
    """The sets of a packed file, one row group after another; memory holds one at a time.

    where    a path, or the bytes of the file.
    columns  what to read; None: `puzzleset.RUN_COLUMNS`, all that a run needs.
    name     of the file, for messages.
    groups   the row groups to read, from 0; None: all.
    Errors   InvalidPuzzle if the file is damaged or no puzzle set of this version.
    """
    import pyarrow as pa

    from ..puzzleset import RUN_COLUMNS

    where = where if isinstance(where, bytes) else os.fspath(where)
    name = name or _title(where)
    wanted = list(columns or RUN_COLUMNS)
    with _open(where, name) as file:
        _check_schema(file, wanted, name)
        for group in range(file.num_row_groups) if groups is None else groups:
            size = file.metadata.row_group(group).total_byte_size
            if size > MAX_GROUP_BYTES:
                raise InvalidPuzzle(
                    f"{name}: expected row groups of at most {MAX_GROUP_BYTES >> 20} MiB, found {size >> 20} MiB "
                    f"in row group {group}"
                )
            try:
                for batch in file.iter_batches(ROW_GROUP, [group], wanted):
                    yield checked(batch.select(wanted), name)
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                raise InvalidPuzzle(
                    f"{name}: expected Parquet data, found a damaged row group {group} ({error})"
                ) from None


def _title(where: str | bytes) -> str:
    return readable(where) if isinstance(where, str) else "-"


def _open(where: str | bytes, name: str) -> pq.ParquetFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = name or _title(where)
    try:
        if isinstance(where, bytes):
            return pq.ParquetFile(io.BytesIO(where))
        if is_remote(where):
            return pq.ParquetFile(open_remote(where), pre_buffer=True)
        with opened(where) as file:
            if file.read(4) != PARQUET_MAGIC:
                raise InvalidPuzzle(f"{name}: expected a packed puzzle set (Parquet), found another kind of file")
        if not where.isascii() and SURROGATE.search(where):
            return pq.ParquetFile(pa.OSFile(os.fsencode(where)))  # a str is taken for UTF-8 there
        return pq.ParquetFile(where, memory_map=False)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InvalidPuzzle(f"{name}: expected a packed puzzle set, found a damaged Parquet file ({error})") from None


def _check_schema(file: pq.ParquetFile, wanted: Sequence[str], name: str) -> None:
    from ..puzzleset import SCHEMA, SET_VERSION

    schema = file.schema_arrow
    version = (schema.metadata or {}).get(KEY)
    if version is None:
        raise InvalidPuzzle(f"{name}: expected a packed puzzle set, found a Parquet file of something else")
    if version != str(SET_VERSION).encode():
        said = version[:20].decode("ascii", "replace")
        raise InvalidPuzzle(f"{name}: expected version {SET_VERSION} of packed puzzle sets, found {said!r}")
    for column in wanted:
        place = schema.get_field_index(column)
        if place < 0:
            raise InvalidPuzzle(f"{name}: expected a column `{column}`, found none")
        if not _same(schema.field(place).type, SCHEMA.field(column).type):
            raise InvalidPuzzle(
                f"{name}: expected `{column}` as {SCHEMA.field(column).type}, found {schema.field(place).type}"
            )


def _same(found: Any, wanted: Any) -> bool:
    """Equal types, the names of list items apart."""
    import pyarrow.types as kinds

    if kinds.is_list(found) and kinds.is_list(wanted):
        return _same(found.value_type, wanted.value_type)
    return found == wanted


def checked(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    """The batch itself if all its rows are sound; else a copy whose unsound rows are errors.

    Errors: InvalidPuzzle if columns hold nulls or clues and colours are not of one shape.
    """
    import pyarrow as pa

    from ..puzzleset import SCHEMA, clues_of

    try:
        batch.validate(full=True)  # texts are UTF-8, offsets ascend
    except pa.ArrowException as error:
        raise InvalidPuzzle(f"{name}: expected sound columns, found damaged ones ({error})") from None
    for column in batch.schema.names:
        if not SCHEMA.field(column).nullable and _nulls(batch.column(column)):
            raise InvalidPuzzle(f"{name}: expected `{column}` without nulls, found some")
    batch = pa.RecordBatch.from_arrays(
        [batch.column(column) for column in batch.schema.names],
        schema=pa.schema([SCHEMA.field(column) for column in batch.schema.names], SCHEMA.metadata),
    )
    clues = clues_of(batch)
    bad = _unsound(batch, clues)
    return _mended(batch, bad, name) if bad.any() else batch


def _nulls(array: Any) -> int:
    """Nulls of a column at any depth."""
    import pyarrow.types as kinds

    inner = _nulls(array.flatten()) if kinds.is_list(array.type) else 0
    return array.null_count + inner


def _unsound(batch: pa.RecordBatch, clues: Any) -> np.ndarray:
    """bool[rows]: True where a row breaks what kernels rely on."""
    import pyarrow.compute as pc

    heights, widths = clues.heights.astype(np.int64), clues.widths.astype(np.int64)
    n_lines = np.diff(clues.line_starts).astype(np.int64)
    failed = np.asarray(pc.not_equal(batch.column("error"), ""))
    sound = (heights >= 1) & (widths >= 1) & (heights <= MAX_LINE) & (widths <= MAX_LINE)
    sound &= (n_lines == heights + widths) & (heights * widths <= MAX_CELLS)
    sound &= (clues.n_colours >= 2) & (clues.n_colours <= MAX_INKS + 1)
    bounds = clues.block_starts[clues.line_starts].astype(np.int64)  # where the blocks of each puzzle begin
    first, last = bounds[0], bounds[-1]
    lengths, colours = clues.lengths[first:last], clues.colours[first:last]
    most = np.repeat(clues.n_colours, np.diff(bounds))
    wrong = (lengths < BLOT) | (lengths > MAX_LINE) | (colours < 1) | (colours >= most)
    if wrong.any():
        sound &= np.diff(np.concatenate(([0], np.cumsum(wrong)))[bounds - first]) == 0
    if "palette" in batch.schema.names:
        sound &= _sound_palettes(batch.column("palette"), clues.n_colours)
        sound &= np.array([_is_object(text) for text in batch.column("metadata").to_pylist()], bool)
    if "goal" in batch.schema.names:
        sound &= _sound_goals(batch.column("goal"), heights * widths, clues.n_colours)
    empty = (heights == 0) & (widths == 0) & (n_lines == 0)
    return np.where(failed, ~empty, ~sound)


def _is_object(text: str) -> bool:
    """True for metadata as they should be: nothing, or a JSON object of texts."""
    if not text:
        return True
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(facts, dict) and all(isinstance(value, str) for value in facts.values())


def _sound_palettes(palettes: Any, n_colours: np.ndarray) -> np.ndarray:
    """bool[rows]: no palette and two colours, or a palette of the right size without holes."""
    given = np.asarray(palettes.is_valid())
    sizes = np.where(given, np.diff(palettes.offsets.to_numpy(zero_copy_only=True)), 2)
    flat = palettes.flatten()
    whole = flat.null_count == 0 and all(column.null_count == 0 for column in flat.flatten())
    return (sizes == n_colours) & (whole | ~given)


def _sound_goals(goals: Any, cells: np.ndarray, n_colours: np.ndarray) -> np.ndarray:
    given = np.asarray(goals.is_valid())
    sizes = np.where(given, np.diff(goals.offsets.to_numpy(zero_copy_only=True)), 0)
    sound = ~given | (sizes == cells)
    flat = goals.flatten().to_numpy(zero_copy_only=True)
    if len(flat) == sizes.sum():
        wrong = flat >= np.repeat(n_colours, sizes)
        if wrong.any():
            sound &= np.diff(np.concatenate(([0], np.cumsum(wrong)))[np.concatenate(([0], np.cumsum(sizes)))]) == 0
    return sound


def _mended(batch: pa.RecordBatch, bad: np.ndarray, name: str) -> pa.RecordBatch:
    from ..puzzleset import SetBuilder, puzzle_at

    builder = SetBuilder()
    facts = batch.select([c for c in ("name", "source", "index", "error") if c in batch.schema.names]).to_pylist()
    for row, broken in enumerate(bad.tolist()):
        fact = facts[row]
        place = (fact["source"], fact["index"], fact["name"])
        if broken:
            why = "expected a sound puzzle, found sizes, clues, colours or a goal that don't fit each other"
            builder.add_error(f"{name}: row {row} of its batch ({fact['name']}): {why}", *place)
        elif fact["error"]:
            builder.add_error(fact["error"], *place)
        else:
            try:
                builder.add(puzzle_at(batch, row))
            except InvalidPuzzle as error:
                builder.add_error(f"{name}: {error}", *place)
    return builder.finish().select(batch.schema.names)
