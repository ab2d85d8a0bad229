"""From paths to pieces for the feed, read only as far as somebody asks; and how much is still unread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Protocol

import pyarrow as pa

from ..files import packing
from ..files.containers import RowRange, Skipped, Source
from ..files.remote import is_remote
from ..kinds import unread
from .feed import Piece, weight_of
from .work import Work

WHOLE_BYTES = 1 << 18
"""A text up to this size goes to a worker as it is; a longer one is read here, piece by piece, if its kind can."""

MAX_LISTED = 1_000_000
"""Files whose sizes are added up; beyond that nobody is told how much is left."""


class Finished(Protocol):
    """What an earlier run already did (`report.parquet.Keys`)."""

    def knows(self, source: str) -> bool: ...

    def without_done(self, batch: pa.RecordBatch) -> pa.RecordBatch: ...


class Inputs:
    """The puzzles under `paths` as pieces, once.

    paths     files, folders, archives, globs, `-`.
    finished  puzzles that need not be tried again.
    shared    True: workers open the same paths and addresses, so files and rows of packed sets go to them by name.
    told      called with each file that is passed by.
    skipped   files passed by, as they were met: the first hundred, and `n_skipped` of all.
    """

    def __init__(
        self,
        paths: Sequence[str],
        work: Work,
        finished: Finished | None = None,
        shared: bool = False,
        told: Callable[[Skipped], object] = str,
    ) -> None:
        self._paths, self._work, self._finished, self._shared = paths, work, finished, shared
        self._told = told
        self.skipped: list[str] = []
        self.n_skipped = 0
        self._total_bytes: int | None = None
        self._read_bytes = 0.0
        self._weight = 0
        Thread(target=self._add_up, daemon=True).start()

    def __iter__(self) -> Iterator[Piece]:
        packing.Share.of(self._work.limits.seconds)
        for piece in self._pieces():
            kept = self._unfinished(piece)
            if kept is not None:
                self._weight += weight_of(kept)
                yield kept

    def unread(self) -> float | None:
        """About how many puzzles were not given out yet, judged by bytes; None while too little is known."""
        if self._total_bytes is None or not self._read_bytes or not self._weight:
            return None
        left = max(0.0, self._total_bytes - self._read_bytes)
        return left * self._weight / self._read_bytes

    def _pieces(self) -> Iterator[Piece]:
        from ..files.containers import sources
        from ..puzzle import InvalidPuzzle

        kind = self._work.kind
        for source in sources(self._paths, self._skip, kind.claims):
            named = self._by_name(source) if self._shared and source.path else []
            if named:
                for piece in named:
                    self._read_bytes += source.size / len(named)
                    yield piece
                continue
            if kind.batches is not None and (source.packed or source.size > WHOLE_BYTES):
                share = _Share(source)
                given = 0.0
                for batch in kind.batches(source):
                    step = min(source.size - given, share(batch))
                    given += step
                    self._read_bytes += step
                    yield batch
                self._read_bytes += source.size - given
                continue
            self._read_bytes += source.size
            try:
                yield source.name, source.load()
            except InvalidPuzzle as error:
                yield unread(source.name, str(error))

    def _by_name(self, source: Source) -> list[Source]:
        """What workers read themselves of a file; nothing where that has to be done here: long texts go out a piece
        at a time, and what an earlier run began is looked through."""
        from ..files.packed import group_rows
        from ..puzzle import InvalidPuzzle

        path = source.path if is_remote(source.path) else os.path.abspath(source.path)
        source = replace(source, path=path)
        if not source.packed or self._work.kind.batches is None:
            begun = self._finished is not None and self._finished.knows(source.name)
            return [] if begun or (source.size > WHOLE_BYTES and self._work.kind.batches is not None) else [source]
        if self._finished is not None:
            return []
        try:
            rows = group_rows(path, source.name)
        except InvalidPuzzle:  # reading it here says so in a row
            return []
        return [replace(source, size=source.size // len(rows), rows=RowRange(g, 0, n)) for g, n in enumerate(rows) if n]

    def _unfinished(self, piece: Piece) -> Piece | None:
        if self._finished is None or isinstance(piece, Source):
            return piece
        if not isinstance(piece, pa.RecordBatch):
            if not self._finished.knows(piece[0]):
                return piece
            piece = self._work.kind.read([piece])
        left = self._finished.without_done(piece)
        return left if left.num_rows else None

    def _skip(self, name: Skipped) -> None:
        self._told(name)
        self.n_skipped += 1
        if len(self.skipped) < 100:
            self.skipped.append(name.told)

    def _add_up(self) -> None:
        """Bytes under all paths, while others already work. What can't be looked at counts nothing."""
        total = n_files = 0
        if any(is_remote(path) for path in self._paths):
            return
        for path in self._paths:
            for file in _files(Path(path)):
                n_files += 1
                if n_files > MAX_LISTED:
                    return
                try:
                    total += file.stat().st_size
                except OSError:
                    continue
        self._total_bytes = total


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for folder, below, names in os.walk(path):
        below[:] = [name for name in below if not name.startswith(".")]
        yield from (Path(folder, name) for name in names if not name.startswith("."))


class _Share:
    """How many bytes of its file a batch stands for: by rows where the file says how many it has, else a text piece."""

    def __init__(self, source: Source) -> None:
        self._per_row = 0.0
        if source.packed and source.path:
            from ..files.packed import count_packed
            from ..puzzle import InvalidPuzzle

            try:
                self._per_row = source.size / max(1, count_packed(source.path))
            except InvalidPuzzle:  # `batches` will say so in a row
                return

    def __call__(self, batch: pa.RecordBatch) -> float:
        from ..files.reading import PIECE

        return self._per_row * batch.num_rows or PIECE
