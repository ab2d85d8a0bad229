"""The results of a run, opened: what a notebook or a script wants of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..attempt import schema
from .parquet import read_facts, sessions
from .parts import batches, dataset
from .summary import Summary

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset


class Run:
    """The results in a folder, finished or not; nothing is kept in memory.

    out      the folder, as `pnono run --out` or `RunOptions(out=...)` named it.
    Errors   OutputError if it holds no results, or a damaged part.

    >>> import tempfile
    >>> from parallel_nono import Run, RunOptions, run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = run(RunOptions("datasets/icon.non", out=f"{folder}/first"))
    ...     Run(f"{folder}/first").rows(["name", "outcome"]).to_pylist()
    [{'name': 'icons 20x20 101', 'outcome': 'unique'}]
    """

    def __init__(self, out: str | os.PathLike[str]) -> None:
        self.out = Path(out)
        self.facts: dict[str, Any] = read_facts(self.out)

    def __repr__(self) -> str:
        return f"Run({str(self.out)!r})"

    @property
    def name(self) -> str:
        return str(self.facts.get("run", ""))

    @property
    def options(self) -> dict[str, Any]:
        """Those that decide the rows, as run.json has them."""
        return dict(self.facts["options"])

    def sessions(self) -> list[dict[str, Any]]:
        """What each start of the run said last: seconds, engine, why."""
        return sessions(self.out)

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows a part at a time; columns: names of `Attempt`, None for all."""
        return batches(self.out, columns)

    def rows(self, columns: list[str] | None = None) -> pa.Table:
        """All rows as one Arrow table (`.to_pandas()`, `polars.from_arrow(...)`)."""
        names = columns or schema().names
        empty = pa.schema([schema().field(name) for name in names])
        return pa.Table.from_batches(list(self.batches(columns)), empty).unify_dictionaries()

    def dataset(self) -> Dataset:
        """All rows as an Arrow dataset, for queries that need not read them all."""
        return dataset(self.out)

    def summary(self) -> Summary:
        """Counts and times."""
        return Summary.of(self.out)
