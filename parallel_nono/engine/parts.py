"""Workers that write the rows of a lease themselves, so that the driver of many workers need not.

The rows of a large lease become a file in the scratch folder of the results; what travels is a thin batch of the
columns that the summary needs, with the path of that file in its metadata. The file counts once the driver has accepted
the lease and moved it among the results; files of leases that were lost are swept with the scratch folder, so every row
is there exactly once, whoever dies. Where the folder is not shared, rows travel as ever.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

LEASE_S = 5.0
"""Seconds of work in a lease whose rows its worker writes."""

LEAST_ROWS = 1000
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


def invited(folder: Path, metadata: dict[str, str], writing: dict[str, Any]) -> Parts:
    """Let workers write into a folder."""
    token = secrets.token_hex(8)
    (folder / TOKEN).write_text(token)
    return Parts(os.fspath(folder.absolute()), token, metadata, writing)


def written(parts: Parts, rows: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The rows of a lease as a file and a thin batch that names it; or as they are if they are few, or can't be written
    here."""
    if sum(batch.num_rows for batch in rows) < LEAST_ROWS:
        return rows
    folder = Path(parts.folder)
    path = folder / f"lease-{secrets.token_hex(8)}.parquet"
    table = pa.Table.from_batches(rows).unify_dictionaries()
    schema = table.schema.with_metadata({**(table.schema.metadata or {}), **parts.metadata})
    try:
        if (folder / TOKEN).read_text() != parts.token:
            return rows
        with open(path, "wb") as file:
            pq.write_table(table.cast(schema), file, **parts.writing)
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # no such folder on this host, or no room: the driver, which gets the rows, will tell
        with contextlib.suppress(OSError):
            path.unlink()
        return rows
    thin = table.select([name for name in THIN if name in table.column_names]).combine_chunks()
    (batch,) = thin.replace_schema_metadata({PART_KEY: os.fspath(path)}).to_batches()
    return [batch]


def part_of(rows: pa.RecordBatch) -> Path | None:
    """The file in which the whole rows of a thin batch are."""
    path = (rows.schema.metadata or {}).get(PART_KEY)
    return None if path is None else Path(os.fsdecode(path))
