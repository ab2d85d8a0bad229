"""Folders of results made by hand, for tests of what reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parallel_nono.attempt import schema
from parallel_nono.report.parquet import Writer
from parallel_nono.report.parts import NAME, digest_of

START = datetime(2026, 1, 1, tzinfo=UTC)


def row(**values: Any) -> dict[str, Any]:
    """One row of the results: a 5x5 puzzle that lines decide in a millisecond, but for `values`."""
    empty = {pa.string(): "", pa.int64(): 0, pa.int32(): 0, pa.bool_(): False, pa.float32(): 0.0}
    columns = {field.name: empty.get(field.type, "") for field in schema()}
    given = {
        "run": "test",
        "kind": "nonogram",
        "name": "some",
        "source": "folder/some.non",
        "index": 1,
        "digest": "d" * 32,
        "height": 5,
        "width": 5,
        "n_colours": 2,
        "outcome": "unique",
        "stage": "line",
        "n_rounds": 3,
        "n_lines": 12,
        "solve_s": 0.001,
        "repeats": 1,
        "core": -1,
        "host": "here",
        "worker": "1.0",
        "started": START,
    }
    assert not values.keys() - columns.keys()
    return {**columns, **given, **values}


def after(seconds: float) -> datetime:
    """A moment so many seconds after the first."""
    return START + timedelta(seconds=seconds)


def folder_of(out: Path, rows: list[dict[str, Any]], **facts: Any) -> Path:
    """A folder of results with these rows, as a run of 2 seconds on 2 workers would have left it."""
    with Writer(out, {"inputs": ["folder"], "seconds": 1.0}, {"run": out.name, **facts}, "here") as writer:
        writer.session = {"started": "2026-01-01", "engine": "local", "why": "asked for", "workers": 2}
        if rows:
            writer.write(pa.RecordBatch.from_pylist(rows, schema()))
    return out


def rewritten(part: Path, table: pa.Table) -> Path:
    """A part with other contents, under the name that these have."""
    pq.write_table(table, part)
    return renamed(part)


def renamed(part: Path) -> Path:
    """A part under the name that its contents have."""
    with part.open("rb") as file:
        digest = digest_of(file)
    match = NAME.fullmatch(part.name)
    assert match
    return part.rename(part.with_name(f"part-{match['host']}-{match['number']}-{digest}.parquet"))
