"""Rows on disk: closed Parquet parts, run facts beside them, and the keys of what is already done.

    OUT/rows/part-HOST-00000-DIGEST.parquet  only closed parts ever appear here (see `parts`)
    OUT/run.json                       the run facts, which are in the metadata of every part too
    OUT/.tmp/                          parts while they are written; swept when a run starts or ends
    OUT/.lock                          who holds a lock on it may write; there only while somebody does
    OUT/aside/                         what was found among the parts and is none, or is damaged
    OUT/rejected-N.parquet             a puzzle whose solution the checker rejected (a packed set of one)

A part is closed every `PART_ROWS` rows, `PART_BYTES` bytes or `PART_S` seconds, so that is the most a crash can cost.
`compact` makes few files of many parts. What the columns mean is written in docs/schema.md.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..attempt import COLUMNS, schema
from ..engine.folder import Folder, OutputError
from ..engine.parts import Parts, invited, part_of, write_parquet
from ..engine.timing import stolen_s
from .parts import (
    COMPACTED,
    FACTS,
    FACTS_KEY,
    HOSTS_KEY,
    SESSION_KEY,
    all_told,
    batches,
    damaged,
    number_of,
    opened_rows,
    part_name,
    parts,
    written_facts,
)

__all__ = ["Keys", "Lock", "OutputError", "Writer", "batches", "export", "hosts", "parts", "read_facts", "sessions"]

PART_ROWS, PART_BYTES, PART_S = 50_000, 1 << 26, 10.0
RISING = ("index", "started", "clock_us")
OF_CHUNKS = ("chunk_s", "chunk_cpu_s", "chunk_mib", "load", "peak_mib", "calibration_s")
REPEATED = [field.name for field in schema() if not pa.types.is_floating(field.type) or field.name in OF_CHUNKS]
REPEATED = [name for name in REPEATED if name not in ("name", "digest", "solution", "second_solution", *RISING)]
"""Columns with few different values in a part; to look for such values in the others is wasted."""

ROW_GROUP = 100_000
WRITING = {
    "compression": "zstd",
    "write_page_checksum": True,
    "compression_level": 1,
    "use_dictionary": REPEATED,
    "column_encoding": dict.fromkeys(RISING, "DELTA_BINARY_PACKED"),
    # Least and greatest solutions help nobody, and finding them takes six times the memory of a huge one.
    "write_statistics": [name for name in COLUMNS if name not in ("solution", "second_solution")],
}


LOCK = ".lock"


class Lock:
    """The right to write into a folder of results; it ends with the process at the latest.

    Errors   OutputError if somebody else has it.
    """

    def __init__(self, out: Path) -> None:
        self._folder = Folder(out)
        try:
            self._file = self._taken()
        except BaseException:
            self._folder.close()
            raise

    def _taken(self) -> IO[bytes]:
        while True:
            file = self._folder.lockable(LOCK)
            if not _locked(file):
                file.close()
                message = (
                    f"{self._folder.path}: another pnono is writing there; wait for its end, or name another folder"
                )
                raise OutputError(message, writing=True)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), self._folder.stat(LOCK)):
                    return file
            file.close()  # its holder has just removed it

    def release(self) -> None:
        self._folder.remove(LOCK)
        self._file.close()
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _locked(file: IO[bytes]) -> bool:
    """Lock an open file; True also where the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


class Writer:
    """Writes rows into a folder of results.

    out      the folder; made if need be. Without `resume` it must be empty or new.
    options  what decides the rows (inputs, limits, kind): a resumed run must have the same.
    facts    what else is worth knowing: versions, machine.
    session  what this start of the run says last (`sessions`), to be filled by whoever knows it.
    hosts    facts of the machines at work, likewise (`hosts`).
    compiling  seconds that a worker has waited for machine code, on average.
    Errors   OutputError with a sentence for people; the parts that are closed stay readable.
    """

    def __init__(
        self, out: Path, options: dict[str, Any], facts: dict[str, Any], host: str, resume: bool = False
    ) -> None:
        self.out = out
        self._open: list[Folder] = []
        self.options = json.loads(json.dumps(options))
        self.session: dict[str, Any] = {}
        self.compiling: Callable[[], float] = lambda: 0.0
        self.hosts: dict[str, dict[str, Any]] = {}
        self._named: set[str] = set()  # hosts that some part of this session tells of
        self._lock: Lock | None = None
        self._host = host_name(host)
        self._kept: list[pa.RecordBatch] = []
        self._kept_rows = self._kept_bytes = 0
        self._untold = False  # the session of parts that workers wrote, which do not have it
        self._since = self._began = monotonic()
        self._stolen = stolen_s()
        self.n_rows = 0
        try:
            if resume:
                _same_options(read_facts(out)["options"], self.options, out)
            elif out.exists() and any(out.iterdir()):
                raise OutputError(f"{out}: expected a new or empty folder, found files; resume or name another")
            out.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(out)
            self._folder = self._kept_open(Folder(out))
            sweep(out)
            self._rows = self._kept_open(self._folder.sub("rows", make=True))
            self._scratch = self._kept_open(self._folder.sub(SCRATCH, make=True))
            self._next = 1 + max(map(number_of, parts(out)), default=-1)
            before: dict[str, Any] = read_facts(out) if resume else {}
            kept: dict[str, Any] = {key: before[key] for key in ("run", "started") if key in before}
            self.facts: dict[str, Any] = {**facts, **kept, "options": self.options}
            self._write_facts()
        except BaseException as error:
            self._leave()
            if isinstance(error, OSError):
                raise self._trouble(error) from error
            raise

    def _kept_open(self, folder: Folder) -> Folder:
        """Until the end."""
        self._open.append(folder)
        return folder

    def _leave(self) -> None:
        if self._lock is not None:
            self._lock.release()
        for folder in self._open:
            folder.close()

    def invite(self) -> Parts:
        """For workers that write their rows themselves. `write` then moves their files among the results."""
        try:
            return invited(self._scratch, {FACTS_KEY: json_text(self.facts)}, {"row_group_size": ROW_GROUP, **WRITING})
        except OSError as error:
            raise self._trouble(error) from error

    def _adopt(self, part: tuple[str, str], n_rows: int) -> None:
        """Take the file of a worker, `(name, digest)`, among the results."""
        name, digest = part
        try:
            self._scratch.expect(name, "file", writing=True)
            self._scratch.move(name, self._rows, part_name(self._host, self._next, digest))
        except OSError as error:
            raise self._trouble(error) from error
        self._next += 1
        self.n_rows += n_rows
        self._untold = True
        self.session["worker_parts"] = self.session.get("worker_parts", 0) + 1

    def write(self, rows: pa.RecordBatch) -> None:
        """Keep rows, and close a part when it is time. An empty batch only looks at the clock."""
        part = part_of(rows)
        if part is not None:
            self._adopt(part, rows.num_rows)
        elif rows.num_rows:
            self._kept.append(rows)
            self._kept_rows += rows.num_rows
            self._kept_bytes += rows.nbytes
            self.n_rows += rows.num_rows
        full = self._kept_rows >= PART_ROWS or self._kept_bytes >= PART_BYTES
        if full or (self._kept and monotonic() - self._since >= PART_S):
            self.flush()

    def flush(self) -> None:
        """Close a part of all rows kept; one without rows if it must say that there are none, or how workers wrote."""
        if not self._kept and not self._untold and next(parts(self.out), None) is not None:
            return
        self.session["seconds"] = round(monotonic() - self._began, 3)
        if compiling := round(self.compiling(), 3):
            self.session["compiling_s"] = compiling
        self.session["stolen_s"] = round(stolen_s() - self._stolen, 3)
        metadata = {FACTS_KEY: json_text(self.facts), SESSION_KEY: json_text(self.session)}
        new = {host: facts for host, facts in self.hosts.items() if host not in self._named}
        if new:
            metadata[HOSTS_KEY] = json_text(new)
        table = pa.Table.from_batches(self._kept, schema()).unify_dictionaries()
        table = table.replace_schema_metadata(schema(metadata).metadata)
        unfinished = secrets.token_hex(8)
        try:
            digest = write_parquet(self._scratch, unfinished, table, {"row_group_size": ROW_GROUP, **WRITING})
            self._scratch.move(unfinished, self._rows, part_name(self._host, self._next, digest))
            self._rows.sync()
        except OSError as error:
            raise self._trouble(error) from error
        self._next += 1
        self._named |= new.keys()
        self._untold = False
        self._kept.clear()
        del table
        pa.default_memory_pool().release_unused()
        self._kept_rows = self._kept_bytes = 0
        self._since = monotonic()

    def reject(self, puzzle: pa.RecordBatch) -> Path:
        """Keep a puzzle whose solution was rejected, as a packed set that can be run again."""
        taken = self._folder.names()
        name = next(name for n in range(1, len(taken) + 2) if (name := f"rejected-{n}.parquet") not in taken)
        try:
            with self._folder.writer(name) as file:
                pq.write_table(pa.Table.from_batches([puzzle]), file)
        except OSError as error:
            raise self._trouble(error) from error
        return self.out / name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the last part, unless writing is what failed, and sweep."""
        try:
            if kind is None or not issubclass(kind, OutputError):
                self.flush()
                if self.hosts:
                    self._write_facts()
        finally:
            with suppress(OutputError, OSError):
                self._folder.remove_tree(SCRATCH)
            self._leave()

    def _write_facts(self) -> None:
        """Replace run.json."""
        facts = {**self.facts, "hosts": self.hosts} if self.hosts else self.facts
        try:
            with self._folder.replacing(FACTS, self._scratch) as file:
                file.write(json.dumps(facts, indent=2, ensure_ascii=False).encode() + b"\n")
        except OSError as error:
            raise self._trouble(error) from error

    def _trouble(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self.out}: can't write results: {error.strerror or error}; "
            f"what is in {self.out / 'rows'} stays readable",
            writing=True,
        )


def host_name(host: str) -> str:
    """As a part of a file name."""
    return re.sub(r"[^A-Za-z0-9_.-]", "-", host) or "host"


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


SCRATCH, ASIDE = ".tmp", "aside"


def sweep(out: Path) -> None:
    """Bring the folder into order after whoever was killed while writing; only who has the lock may."""
    scratch, compacted = COMPACTED
    with Folder(out) as root:
        if not root.expect("rows", "folder", writing=True) and root.expect(scratch, "folder", writing=True):
            with root.sub(scratch) as folder:
                if folder.expect(compacted, "folder", writing=True):
                    folder.move(compacted, root, "rows")
        root.remove_tree(scratch)


def mend(out: Path) -> list[str]:
    """Put damaged parts aside, so that their puzzles are solved again; a sentence for each.

    Errors   OutputError: no results, or a run under way.
    """
    try:
        run_facts(out)
        with Lock(out), Folder(out) as root:
            sweep(out)
            found = damaged(out)
            if not found:
                return []
            run_facts(out)
            put_aside(out, root, [part.name for part in found])
            where = out / ASIDE
            return [f"{each}; it is in {where} now, and its puzzles are solved again" for each in found.values()]
    except OSError as error:
        raise OutputError(f"{out}: can't write results: {error.strerror or error}", writing=True) from error


def put_aside(out: Path, root: Folder, names: Iterable[str]) -> None:
    """Move entries from among the parts into the folder ASIDE, each under a name that is free there."""
    with opened_rows(out) as rows, root.sub(ASIDE, make=True) as aside:
        assert rows is not None
        for name in names:
            n, free = 0, name
            while aside.kind(free):
                n, free = n + 1, f"{name}.{n + 1}"
            rows.move(name, aside, free)
        rows.sync()


def sessions(out: Path) -> list[dict[str, Any]]:
    """What each start of the run said last, oldest first: seconds, engine, why, skipped."""
    found: dict[str, dict[str, Any]] = {}
    for told in all_told(out):
        found |= {session.get("started", ""): session for session in told.sessions}
    return list(found.values())


def hosts(out: Path) -> dict[str, dict[str, Any]]:
    """Facts of every machine that worked, by its name: processor, cores, memory, system, versions."""
    found: dict[str, dict[str, Any]] = {}
    for told in all_told(out):
        found |= told.hosts
    return found


def read_facts(out: Path) -> dict[str, Any]:
    """The run facts, from the parts or from run.json.

    Errors   OutputError if `out` holds no results, or a part is damaged, or of another run.
    """
    facts = run_facts(out)
    complaints = list(damaged(out).values())
    if complaints:
        more = f" (and {len(complaints) - 1:,} more like that)" if len(complaints) > 1 else ""
        raise OutputError(complaints[0] + more)
    return facts


def run_facts(out: Path) -> dict[str, Any]:
    """The run facts as the first sound part or run.json tells them, whatever the other parts are like.

    Errors   OutputError if `out` holds no results.
    """
    complaint: OutputError | None = None
    try:
        for told in all_told(out):
            return told.facts
    except OutputError as error:
        complaint = error
    try:
        return written_facts(out)
    except OutputError as error:
        raise complaint or error from error
    except OSError as error:
        raise complaint or OutputError(
            f"{out}: expected a folder of results (OUT/rows/part-*.parquet), found none"
        ) from error


def _same_options(old: dict[str, Any], new: dict[str, Any], out: Path) -> None:
    def said(options: dict[str, Any], key: str) -> str:
        return repr(options[key]) if options.get(key) is not None else "not given"

    changed = [
        f"{key} was {said(old, key)}, is {said(new, key)}"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]
    if changed:
        raise OutputError(f"{out}: a run is resumed with the options it had: {'; '.join(changed)}")


class Keys:
    """What is already done: (source, index, digest) of every row as sorted 64-bit words, 8 bytes a row."""

    def __init__(self, out: Path) -> None:
        self.fill(batches(out, ["source", "index", "digest"]))

    def fill(self, rows: Iterable[pa.RecordBatch]) -> None:
        """Know the keys of these rows, and no others."""
        words, sources = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        for batch in rows:
            words.append(_words(batch))
            sources.append(np.unique(hashed(batch.column("source"))))
        self._words = np.sort(np.concatenate(words))
        self._sources = np.unique(np.concatenate(sources))

    def __len__(self) -> int:
        return len(self._words)

    def knows(self, source: str) -> bool:
        """True when some puzzle of that source is done."""
        return bool(_among(np.array([_hash(source)], np.uint64), self._sources)[0])

    def without_done(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a chunk of puzzles (or of results) that are not done."""
        done = _among(_words(batch), self._words)
        return batch.filter(pa.array(~done)) if done.any() else batch


def _among(words: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    if not len(ordered):
        return np.zeros(len(words), bool)
    return ordered[np.minimum(np.searchsorted(ordered, words), len(ordered) - 1)] == words


def _hash(text: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def hashed(column: pa.Array) -> np.ndarray:
    """A 64-bit word for every text of a column, each different text hashed once."""
    encoded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    words = np.array([_hash(text) for text in encoded.dictionary.to_pylist()], np.uint64)
    return words[encoded.indices.to_numpy()] if len(words) else np.zeros(len(column), np.uint64)


def _words(batch: pa.RecordBatch) -> np.ndarray:
    """Source, index and digest of every row mixed into one word (the finaliser of SplitMix64)."""
    word = hashed(batch.column("source")) + batch.column("index").to_numpy().astype(np.uint64) * np.uint64(
        0x9E3779B97F4A7C15
    )
    word = _mixed(word) ^ _digest_words(batch.column("digest"))
    return _mixed(word)


def _mixed(word: np.ndarray) -> np.ndarray:
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


NO_DIGEST = 0xA3B195354A39B70D


def _digest_words(column: pa.Array) -> np.ndarray:
    """The first 16 hex digits of every digest as a word; `NO_DIGEST` for a puzzle without one."""
    buffers = column.buffers()
    offsets = np.frombuffer(buffers[1], np.int32)[column.offset : column.offset + len(column) + 1]
    words = np.full(len(column), NO_DIGEST, np.uint64)
    full = np.flatnonzero(np.diff(offsets) >= 16)
    if len(full):
        digits = np.frombuffer(buffers[2], np.uint8)[offsets[full][:, None] + np.arange(16)].astype(np.uint64)
        values = np.where(digits >= ord("a"), digits - np.uint64(ord("a") - 10), digits - np.uint64(ord("0")))
        words[full] = (values << np.arange(60, -1, -4, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    return words


def export(out: Path, form: str) -> Path:
    """All rows once more as one file, OUT/rows.csv or OUT/rows.jsonl, written a part at a time and renamed into place.

    csv    a heading, then a line a row; text is quoted, times are ISO 8601 in UTC.
    jsonl  an object a row with the names of the columns.
    Errors OutputError.
    """
    name = f"rows.{form}"
    write = {"csv": _csv, "jsonl": _jsonl}[form]
    try:
        with Folder(out) as folder, folder.replacing(name) as file:
            for number, batch in enumerate(batches(out)):
                write(batch, file, number == 0)
            if not file.tell() and form == "csv":
                _csv(pa.RecordBatch.from_pylist([], schema=schema()), file, True)
    except OSError as error:
        raise OutputError(f"{out / name}: can't be written: {error.strerror or error}", writing=True) from error
    except (OverflowError, pa.ArrowException) as error:
        raise OutputError(f"{out / 'rows'}: expected values that {form} can hold, found others ({error})") from error
    return out / name


def _csv(batch: pa.RecordBatch, file: Any, heading: bool) -> None:
    from pyarrow import csv

    plain = pa.schema([pa.field(f.name, _plain(f.type)) for f in batch.schema])
    table = pa.Table.from_batches([batch]).cast(plain)
    csv.write_csv(table, file, csv.WriteOptions(include_header=heading))


def _plain(kind: pa.DataType) -> pa.DataType:
    """Without dictionaries, which CSV does not know."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _jsonl(batch: pa.RecordBatch, file: Any, _: bool) -> None:
    for start in range(0, batch.num_rows, 1000):
        for row in batch.slice(start, 1000).to_pylist():
            row["started"] = row["started"].isoformat()
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
