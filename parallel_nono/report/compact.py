"""Few files instead of many parts: the same rows, partitioned by host, checked before anything is replaced.

The new files are made beside the parts, read back, and compared with them: the rows of every host, in their order, by
number and by a digest over every value. Then the folders change places in one step where the system has such a step.
Whoever is killed before it leaves the parts as they were; after it, the files; between two renames `parquet.sweep`
puts it in order, and until then `parquet.parts` finds the files where they are.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..attempt import COLUMNS, schema
from ..engine.folder import Folder, OutputError, to_disk
from ..engine.parts import Digested
from .parquet import (
    ROW_GROUP,
    SCRATCH,
    WRITING,
    Lock,
    hashed,
    host_name,
    hosts,
    json_text,
    put_aside,
    read_facts,
    sessions,
    sweep,
)
from .parts import (
    COMPACTED,
    FACTS_KEY,
    HOSTS_KEY,
    SESSIONS_KEY,
    is_current,
    look,
    opened,
    part_name,
    parts,
    read_part,
)

FILE_ROWS, FILE_BYTES = 5_000_000, 512 << 20
"""A file of a host is closed at this size, and the next one begun."""

WAITING_BYTES = 256 << 20
"""Rows that wait for a row group to fill, of all hosts together; beyond it the largest goes to disk."""

PARTS = 32
"""A run with more parts than that compacts them by itself."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What `compact` did, or found that there was nothing to do: numbers of files, bytes and rows."""

    changed: bool
    n_before: int
    n_after: int
    bytes_before: int
    bytes_after: int
    n_rows: int


def compact(out: Path) -> Compacted:
    """Rewrite the rows of a run into as few files as its hosts need; nothing is done where that is so already.

    Errors   OutputError: no results, a damaged part, a run under way, no room; the parts are then as they were.
    """
    try:
        read_facts(out)  # says so if these are no results, or damaged ones
        with Lock(out):
            sweep(out)
            return _compact(out)
    except OutputError as error:
        raise OutputError(f"{out}: can't be compacted: {error}", writing=error.writing) from error
    except OSError as error:
        raise OutputError(
            f"{out}: can't be compacted: {error.strerror or error}; its parts are as they were", writing=True
        ) from error


def upkeep(out: Path) -> None:
    """Compact a run that has many parts, or some of an older version, before it goes on or after its end.

    Errors   OutputError as `compact`.
    """
    found = list(parts(out))
    if len(found) > PARTS or not all(is_current(out, part) for part in found):
        compact(out)


def _compact(out: Path) -> Compacted:
    old, strays = look(out)
    n_rows, size = sum(_n_rows(out, part) for part in old), _size(old)
    if not needs_compaction(out):
        return Compacted(False, len(old), len(old), size, size, n_rows)
    with Folder(out) as root, root.sub(SCRATCH, make=True) as scratch:
        if strays:
            put_aside(out, root, strays)
        try:
            with scratch.sub(COMPACTED[-1], make=True) as folder:
                new = _written(out, old, n_rows, folder)
                before, after = _content(out, old), _content(out, new)
                if before.digests() != after.digests():
                    raise OutputError(
                        f"{out}: what was written does not read back as it was; its parts are as they were"
                    )
                folder_to_disk(folder)
            _exchange(scratch, COMPACTED[-1], root, "rows")
            folder_to_disk(root)
            return Compacted(True, len(old), len(new), size, _size(parts(out)), n_rows)
        finally:
            if root.kind("rows"):
                root.remove_tree(SCRATCH)


def _written(out: Path, old: list[Path], n_rows: int, folder: Folder) -> list[Path]:
    """The rows of these parts as new ones in a folder."""
    metadata = {
        FACTS_KEY: json_text(read_facts(out)),
        SESSIONS_KEY: json_text(sessions(out)),
        HOSTS_KEY: json_text(hosts(out)),
    }
    with Files(folder, schema(metadata)) as files:
        for batch in _rows(out, old):
            for host, rows in by_host(batch):
                files.write(host, rows)
        if not n_rows:
            files.write("none", pa.RecordBatch.from_pylist([], schema()))
    return [folder.path / name for name in folder.names()]


def _content(out: Path, paths: list[Path]) -> Content:
    content = Content()
    for batch in _rows(out, paths):
        for host, rows in by_host(batch):
            content.add(host, rows)
    return content


def folder_to_disk(folder: Folder) -> None:
    folder.sync()


def needs_compaction(out: Path) -> bool:
    """Whether there are more files than hosts need, files with rows of several hosts, or files of an older version."""
    unfilled = Counter[str]()
    for part in parts(out):
        if not is_current(out, part):
            return True
        with opened(out, part) as file:
            names = set(file.read(["host"]).column("host").cast(pa.string()).to_pylist())
            n_rows = file.metadata.num_rows
        if len(names) > 1:
            return True
        if part.stat().st_size < FILE_BYTES and n_rows < FILE_ROWS:
            unfilled.update(names)
    return max(unfilled.values(), default=0) > 1


def _n_rows(out: Path, part: Path) -> int:
    with opened(out, part) as file:
        n: int = file.metadata.num_rows
    return n


def _rows(out: Path, paths: Iterable[Path]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        yield from read_part(out, path)


def _size(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def by_host(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each host, in their order."""
    import pyarrow.compute as pc  # whoever only runs does without

    column = batch.column("host")
    names = pc.unique(column.cast(pa.string())).to_pylist()
    for name in names:
        yield name, batch if len(names) == 1 else batch.filter(pc.equal(column.cast(pa.string()), name))


class Content:
    """A digest of the rows of each host: every value of every column, in order, however they are cut into batches."""

    def __init__(self) -> None:
        self._hosts: dict[str, dict[str, Any]] = {}
        self._n_rows: dict[str, int] = {}

    def add(self, host: str, rows: pa.RecordBatch) -> None:
        columns = self._hosts.setdefault(host, {})
        self._n_rows[host] = self._n_rows.get(host, 0) + rows.num_rows
        for name in COLUMNS:
            for number, data in enumerate(_bytes_of(rows.column(name))):
                key = f"{name} {number}"
                if key not in columns:
                    columns[key] = hashlib.sha256()
                columns[key].update(data)

    def digests(self) -> dict[str, tuple[int, dict[str, str]]]:
        """Number of rows and digests of the columns, by host."""
        return {
            host: (self._n_rows[host], {key: value.hexdigest() for key, value in columns.items()})
            for host, columns in self._hosts.items()
        }


def _bytes_of(column: pa.Array) -> Iterator[Any]:
    """The values of a column as bytes: texts as their lengths and their letters, labels as a word for each."""
    if pa.types.is_dictionary(column.type):
        yield np.ascontiguousarray(hashed(column))
    elif pa.types.is_string(column.type):
        offsets = np.frombuffer(column.buffers()[1] or b"\0" * 4, np.int32)[column.offset :][: len(column) + 1]
        yield np.ascontiguousarray(np.diff(offsets))
        yield (column.buffers()[2] or pa.py_buffer(b""))[int(offsets[0]) : int(offsets[-1])]
    elif pa.types.is_boolean(column.type):
        yield np.ascontiguousarray(column.cast(pa.uint8()).to_numpy())
    else:
        yield np.ascontiguousarray(column.view(pa.int64() if column.type.bit_width == 64 else pa.int32()).to_numpy())


class Open:
    """A file that is being written, under a name that it has until it is whole."""

    def __init__(self, folder: Folder, schema: pa.Schema, number: int) -> None:
        self.name, self.number, self.n_rows = secrets.token_hex(8), number, 0
        self.file = folder.writer(self.name)
        self.digested = Digested(self.file)
        self.writer = pq.ParquetWriter(self.digested, schema, **WRITING)


class Files:
    """Files of one host each in a folder, with row groups as large as they should be.

    schema  of the rows; its metadata go into every file.
    """

    def __init__(self, folder: Folder, schema: pa.Schema) -> None:
        self._folder, self._schema = folder, schema
        self._waiting: dict[str, list[pa.RecordBatch]] = {}
        self._open: dict[str, Open] = {}
        self._n_files = 0

    def write(self, host: str, rows: pa.RecordBatch) -> None:
        self._waiting.setdefault(host, []).append(rows)
        if sum(batch.num_rows for batch in self._waiting[host]) >= ROW_GROUP:
            self._row_group(host)
        while sum(map(_bytes_of_batches, self._waiting.values())) > WAITING_BYTES:
            self._row_group(max(self._waiting, key=lambda one: _bytes_of_batches(self._waiting[one])))

    def _row_group(self, host: str) -> None:
        table = pa.Table.from_batches(self._waiting.pop(host)).unify_dictionaries().cast(self._schema)
        if host not in self._open:
            self._open[host] = Open(self._folder, self._schema, self._n_files)
            self._n_files += 1
        one = self._open[host]
        one.writer.write_table(table, row_group_size=max(1, table.num_rows))
        one.n_rows += table.num_rows
        if one.n_rows >= FILE_ROWS or one.digested.tell() >= FILE_BYTES:
            self._close(host)

    def _close(self, host: str) -> None:
        one = self._open.pop(host)
        one.writer.close()
        to_disk(one.file)
        one.file.close()
        self._folder.move(one.name, self._folder, part_name(host_name(host), one.number, one.digested.digest()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Finish all files, or leave them as they are after a failure."""
        try:
            if kind is None:
                for host in list(self._waiting):
                    self._row_group(host)
                for host in list(self._open):
                    self._close(host)
        finally:
            for one in self._open.values():
                with suppress(OSError, pa.ArrowException):
                    one.writer.close()
                with suppress(OSError):
                    one.file.close()


def _bytes_of_batches(batches: list[pa.RecordBatch]) -> int:
    return sum(batch.nbytes for batch in batches)


def _exchange(at: Folder, new: str, to: Folder, old: str) -> None:
    """Let two folders change places: in one step if the system can, else one after the other."""
    if _exchanged(at, new, to, old):
        return
    to.move(old, at, "replaced")
    at.move(new, to, old)


RENAME_EXCHANGE = 2


def _exchanged(at: Folder, one: str, to: Folder, other: str) -> bool:
    """Linux's renameat2; False where the system or the file system does not have it."""
    if sys.platform != "linux" or at.handle is None or to.handle is None:
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # an old C library
        return False
    rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return rename(at.handle, os.fsencode(one), to.handle, os.fsencode(other), RENAME_EXCHANGE) == 0
