"""Workers that write the rows of a lease themselves, so that the driver of many workers need not.

The rows of a large lease become a file in the scratch folder of the results; what travels is a thin batch of the
columns that the summary needs, with the name of that file in its metadata. The file counts once the driver has accepted
the lease and moved it among the results; files of leases that were lost are swept with the scratch folder, so every row
is there exactly once, whoever dies. Where the folder is not shared, rows travel as ever.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .folder import Folder, OutputError, to_disk

LEASE_S = 5.0
"""Seconds of work in a lease whose rows its worker writes."""

MIN_ROWS = 1000
"""Fewer rows than that travel: a file for them would cost more than they do."""

PART_KEY = b"pnono.part"
TOKEN = "token"

THIN = (
    *("name", "source", "index", "height", "width", "n_colours", "outcome", "stage"),
    *("solve_s", "cpu_s", "sat_s", "host", "worker", "warnings", "error"),
)
"""What `report.summary` and whoever watches the run look at."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Where and how workers write.

    folder    the scratch folder of the results, absolute.
    token     what the file TOKEN in it says; a folder of that name on another disk does not.
    metadata  of every part;  writing  arguments of `pyarrow.parquet.write_table`.
    """

    folder: str
    token: str
    metadata: dict[str, str] = field(default_factory=dict)
    writing: dict[str, Any] = field(default_factory=dict)


def invited(scratch: Folder, metadata: dict[str, str], writing: dict[str, Any]) -> Parts:
    """Let workers write into a folder."""
    token = secrets.token_hex(8)
    with scratch.replacing(TOKEN) as file:
        file.write(token.encode())
    return Parts(os.fspath(scratch.path.absolute()), token, metadata, writing)


LEASE = re.compile(r"lease-[0-9a-f]{16}-([0-9a-f]{16})\.parquet")
"""The name of a worker's file, and in it the digest of its bytes (`Digested`)."""


def written(parts: Parts, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The rows of a lease as a file and a thin batch that names it; or as they are if they are few, or can't be written
    here."""
    if sum(batch.num_rows for batch in rows) < MIN_ROWS:
        return rows
    path = Path(parts.folder)
    unfinished = f"lease-{secrets.token_hex(8)}"
    table = pa.Table.from_batches(rows).unify_dictionaries()
    schema = table.schema.with_metadata({**(table.schema.metadata or {}), **parts.metadata})
    try:
        with Folder(path.parent) as out, out.sub(path.name) as folder:
            if folder.content(TOKEN) != parts.token.encode():
                return rows
            try:
                digest = write_parquet(folder, unfinished, table.cast(schema), parts.writing)
            except OSError:
                with contextlib.suppress(OSError):
                    folder.remove(unfinished)
                raise
            name = f"{unfinished}-{digest}.parquet"
            folder.move(unfinished, folder, name)
    except (
        OSError,
        OutputError,
    ):  # no such folder on this host, or no room: the driver, which gets the rows, will tell
        return rows
    thin = table.select([name for name in THIN if name in table.column_names]).combine_chunks()
    (batch,) = thin.replace_schema_metadata({PART_KEY: name}).to_batches()
    return [batch]


def part_of(rows: pa.RecordBatch) -> tuple[str, str] | None:
    """The file in the scratch folder in which the whole rows of a thin batch are: its name, and its digest."""
    name = (rows.schema.metadata or {}).get(PART_KEY)
    match = name and LEASE.fullmatch(name.decode("ascii", "replace"))
    return (match[0], match[1]) if match else None


class Digested(io.RawIOBase):
    """Passes on what is written to a file, and keeps a digest of it; the file stays open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = new_hash()
        self._n = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        self._n += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._n

    def digest(self) -> str:
        """16 hex digits."""
        return self._hash.hexdigest()


def new_hash() -> Any:
    """The digest that stands in the name of a part."""
    return hashlib.blake2b(digest_size=8)


def write_parquet(folder: Folder, name: str, table: pa.Table, writing: dict[str, Any]) -> str:
    """A new file, on disk when this returns; the digest of its bytes. Errors as for `Folder.writer`."""
    with folder.writer(name) as file:
        digested = Digested(file)
        pq.write_table(table, digested, **writing)
        to_disk(file)
        return digested.digest()
