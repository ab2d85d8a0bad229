"""The parts of a run: which files of its folder they are, whether they are sound, and their rows.

A part is called `part-HOST-NUMBER-DIGEST.parquet`, and the digest is that of its bytes. So the folder is its own list:
a part is there whole, under its name, or not at all, whenever a writer is killed. What has another name, or the bytes
of another part, is no part and is not counted. A part whose bytes are not those of its name is damaged. Versions before
wrote names without a digest; such parts are read too, every page of them once to see that they are whole.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..attempt import COLUMNS, FORMERLY, SCHEMA_VERSION, schema
from ..engine.folder import Folder, OutputError
from ..engine.parts import new_hash
from .facts import facts_of, hosts_of, session_of, sessions_of

FACTS_KEY, SESSION_KEY, HOSTS_KEY = "pnono.run", "pnono.session", "pnono.hosts"
SESSIONS_KEY = "pnono.sessions"
"""In a compacted file: those of all parts that it was made of."""

READABLE = tuple(map(str, range(1, SCHEMA_VERSION + 1)))
"""Versions of the schema that are understood."""

FIRST = (
    *("run", "kind", "name", "source", "index", "digest", "height", "width", "n_colours", "outcome", "stage"),
    *("witness", "n_solutions", "exhausted", "n_open_lines", "n_open", "n_rounds", "n_lines", "n_probes", "n_branches"),
    *("n_depth", "n_conflicts", "read_s", "pack_s", "line_s", "probe_s", "search_s", "sat_s", "check_s", "solve_s"),
    *("queue_s", "cpu_s", "peak_mib", "engine", "host", "worker", "version", "started", "solution", "second_solution"),
    *("metadata", "warnings", "error"),
)
"""Columns of the first release: all parts have them. Others may be missing where an older version wrote."""

NAME = re.compile(r"part-(?P<host>.+)-(?P<number>[0-9]{5,12})(-(?P<digest>[0-9a-f]{16}))?\.parquet")
ROWS, FACTS = ("rows",), "run.json"
COMPACTED = (".tmp", "compacted")
"""Where a compaction makes its files; complete as soon as `rows` is gone."""


class Part(NamedTuple):
    """In the order in which parts were written. digest: "" in a name of before."""

    number: int
    name: str
    digest: str


def part_name(host: str, number: int, digest: str) -> str:
    return f"part-{host}-{number:05}-{digest}.parquet"


def number_of(part: Path) -> int:
    match = NAME.fullmatch(part.name)
    assert match, part
    return int(match["number"])


@contextmanager
def opened_rows(out: Path) -> Iterator[Folder | None]:
    """The folder that the parts are in; None if there is none."""
    try:
        root = Folder(out)
    except OSError:
        yield None
        return
    with root:
        # Where `rows` is not, a compaction was killed between two renames.
        place = ROWS if root.expect("rows", "folder") else COMPACTED
        try:
            folder = root.at(*place)
        except FileNotFoundError:
            yield None
            return
        with folder:
            yield folder


def look(out: Path) -> tuple[list[Path], dict[str, str]]:
    """The parts of a run, oldest first, and all else that lies among them, by name, with a sentence for each."""
    with opened_rows(out) as folder:
        if folder is None:
            return [], {}
        named: list[Part] = []
        strays: dict[str, str] = {}
        for name in folder.names():
            match = NAME.fullmatch(name)
            if match:
                named.append(Part(int(match["number"]), name, match["digest"] or ""))
            else:
                strays[name] = f"{folder.path / name}: this is no part of the run, so it is not counted"
        found: list[Path] = []
        copies: dict[str, str] = {}
        for part, digest in _with_digests(folder, sorted(named)):
            if digest and digest in copies:
                strays[part.name] = f"{folder.path / part.name}: a copy of {copies[digest]}, so it is not counted"
            else:
                found.append(folder.path / part.name)
                copies[digest] = part.name
        return found, strays


def _with_digests(folder: Folder, named: list[Part]) -> Iterator[tuple[Part, str]]:
    """Each part with the digest of its bytes; "" for one that differs from all others anyway."""
    sizes = {} if all(part.digest for part in named) else {part.name: folder.stat(part.name).st_size for part in named}
    often = Counter(sizes.values())
    for part in named:
        digest = part.digest
        if not digest and often[sizes[part.name]] > 1 and folder.kind(part.name) == "file":
            with folder.reader(part.name) as file:
                digest = digest_of(file)
        yield part, digest


def digest_of(file: IO[bytes]) -> str:
    """The digest of all bytes from here on."""
    hash = new_hash()
    while data := file.read(1 << 20):
        hash.update(data)
    digits: str = hash.hexdigest()
    return digits


def parts(out: Path) -> Iterator[Path]:
    """The parts of a folder of results, oldest first."""
    return iter(look(out)[0])


def strays(out: Path) -> list[str]:
    """A sentence for everything among the parts that is none."""
    return list(look(out)[1].values())


# Whether a part is sound.

_SOUND: set[tuple[int, ...]] = set()
"""Files that were found sound, as the system knows them, so that they are looked through once."""


@contextmanager
def opened(out: Path, part: Path) -> Iterator[pq.ParquetFile]:
    """A part, looked through when it is met first. Errors: OutputError naming what is wrong with it."""
    with reader(out, part) as file:
        try:
            status = os.fstat(file.fileno())
            known = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            if known not in _SOUND:
                _look_through(part, file)
                _SOUND.add(known)
            with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
                yield parquet
        except (OSError, pa.ArrowException, ValueError) as error:
            raise OutputError(
                f"{part}: expected a part of a run, found a damaged file ({first_line(error)})"
            ) from error


def reader(out: Path, part: Path) -> IO[bytes]:
    """The bytes of a part. Errors: OutputError; OSError if it has just gone."""
    names = part.relative_to(out).parts
    with Folder(out) as root, root.at(*names[:-1]) as folder:
        return folder.reader(names[-1])


def _look_through(part: Path, file: IO[bytes]) -> None:
    """Errors: OutputError; those of Arrow for a damaged file."""
    match = NAME.fullmatch(part.name)
    _check_version(part, file)
    if match and match["digest"]:
        file.seek(0)
        if digest_of(file) != match["digest"]:
            raise OutputError(
                f"{part}: expected a part of a run, found a damaged file (its bytes are not what they were)"
            )
    with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
        found = parquet.schema_arrow
        for field in schema():
            place = written_as(field.name, found.names)
            if place not in found.names:
                if field.name in FIRST:
                    raise OutputError(f"{part}: expected a part of a run, found one without the column `{field.name}`")
                continue
            kind = found.field(place).type
            if kind != field.type:
                raise OutputError(f"{part}: expected `{field.name}` as {_short(field.type)}, found {_short(kind)}")
        told(part, found.metadata or {})
        if not (match and match["digest"]):
            for group in range(parquet.num_row_groups):
                parquet.read_row_group(group)


def _check_version(part: Path, file: IO[bytes]) -> None:
    """First, since what else is in a part hangs on it."""
    metadata = pq.ParquetFile(file).schema_arrow.metadata or {}
    if FACTS_KEY.encode() not in metadata:
        raise OutputError(f"{part}: expected a part of a run, found a file without the facts of one")
    version = metadata.get(b"pnono.schema", b"?").decode("utf-8", "replace")
    if version not in READABLE:
        raise OutputError(f"{part}: expected results of version {READABLE[-1]}, found version {version}")


def _short(kind: pa.DataType) -> str:
    return "label" if pa.types.is_dictionary(kind) else str(kind)


def first_line(error: BaseException) -> str:
    """What an error of a library says, without the details that follow."""
    return str(error).strip().split("\n")[0][:200]


def n_rows(out: Path, part: Path) -> int:
    """What a part says of its size, without a look at its rows. Errors: OutputError."""
    with reader(out, part) as file:
        try:
            _check_version(part, file)
            n: int = pq.ParquetFile(file).metadata.num_rows
        except (OSError, pa.ArrowException, ValueError) as error:
            raise OutputError(
                f"{part}: expected a part of a run, found a damaged file ({first_line(error)})"
            ) from error
    return n


def damaged(out: Path) -> dict[Path, str]:
    """What is wrong with each part that is not sound, or not of this run."""
    found = {}
    mine = _identity(out)
    for part in parts(out):
        try:
            with opened(out, part) as file:
                facts = told(part, file.schema_arrow.metadata or {}).facts
        except (OutputError, OSError) as error:
            found[part] = str(error)
            continue
        mine = mine or _named(facts)
        if _named(facts) != mine:
            found[part] = f"{part}: expected a part of the run {mine[0]}, found one of {facts.get('run', '')}"
    return found


def _named(facts: dict[str, Any]) -> tuple[str, str]:
    """By what a run is known: its name, and when it began."""
    return facts.get("run", ""), facts.get("started", "")


def _identity(out: Path) -> tuple[str, str] | None:
    """That of the run, as run.json tells; None if it does not."""
    with suppress(OutputError, OSError):
        return _named(written_facts(out))
    return None


def written_facts(out: Path) -> dict[str, Any]:
    """What run.json says. Errors: OutputError; OSError if there is none."""
    with Folder(out) as folder:
        return facts_of(folder.content(FACTS), str(out / FACTS))


# What parts tell of the run.


class Told(NamedTuple):
    """The metadata of a part."""

    facts: dict[str, Any]
    sessions: list[dict[str, Any]]
    hosts: dict[str, dict[str, Any]]


def told(part: Path, metadata: dict[bytes, bytes]) -> Told:
    """Errors: OutputError naming what is not as it should be."""

    def of(key: str) -> tuple[bytes, str]:
        return metadata.get(key.encode(), b""), f"{part}: {key}"

    sessions, session, hosts = of(SESSIONS_KEY), of(SESSION_KEY), of(HOSTS_KEY)
    return Told(
        facts_of(*of(FACTS_KEY)),
        (sessions_of(*sessions) if sessions[0] else []) + ([session_of(*session)] if session[0] else []),
        hosts_of(*hosts) if hosts[0] else {},
    )


def all_told(out: Path) -> Iterator[Told]:
    """What each part says."""
    for part in parts(out):
        with opened(out, part) as file:
            yield told(part, file.schema_arrow.metadata or {})


# Rows.


def batches(out: Path, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """All rows of a folder of results, a part at a time; columns that an older version did not have are 0 or ""."""
    for part in parts(out):
        yield from read_part(out, part, columns)


def read_part(out: Path, part: Path, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of one part with the columns of today, a row group at a time."""
    wanted = columns or list(COLUMNS)
    with opened(out, part) as file:
        there = file.schema_arrow.names
        places = {name: written_as(name, there) for name in wanted}
        missing = [schema().field(name) for name in wanted if places[name] not in there]
        found = {place: name for name, place in places.items() if place in there}
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, list(found)).select(list(found)).rename_columns(list(found.values()))
            for field in missing:
                table = table.append_column(field, _default(field.type, table.num_rows))
            _check_values(part, table)
            columns_of_today = pa.schema([schema().field(name) for name in wanted])
            yield from pa.Table.from_arrays(table.select(wanted).columns, schema=columns_of_today).to_batches()


def written_as(name: str, there: list[str]) -> str:
    """What a part with the columns `there` calls a column of today."""
    return name if name in there else FORMERLY.get(name, name)


def _check_values(part: Path, table: pa.Table) -> None:
    """Errors: OutputError for nulls, and for numbers that are not finite, which no part of ours has."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.null_count:
            raise OutputError(f"{part}: expected `{name}` without nulls, found some")
        if pa.types.is_floating(column.type) and not np.isfinite(column.to_numpy(zero_copy_only=False)).all():
            raise OutputError(f"{part}: expected `{name}` as numbers, found some that are not finite")


def _default(kind: pa.DataType, n: int) -> pa.Array:
    """A column that nobody measured."""
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), pa.array([""]))
    zero = pa.scalar("" if pa.types.is_string(kind) else 0)
    return pa.repeat(zero.cast(kind), n)


def is_current(out: Path, part: Path) -> bool:
    """False for a part that an older version wrote: it lacks columns, or its name the digest."""
    match = NAME.fullmatch(part.name)
    with opened(out, part) as file:
        return bool(match and match["digest"]) and set(COLUMNS) <= set(file.schema_arrow.names)


def dataset(out: Path) -> Any:
    """All rows as an Arrow dataset; a column that an older version did not write is null. Errors: OutputError.

    Parts of an older version, whose columns have other names, are held in memory; `compact` writes them anew.
    """
    from pyarrow import dataset as arrow
    from pyarrow.fs import PyFileSystem

    files = list(parts(out))
    if not files:
        return schema().empty_table()
    old = []
    for part in files:
        with opened(out, part) as file:
            if not set(FORMERLY) <= set(file.schema_arrow.names):
                old.append(part)
    form = arrow.ParquetFileFormat(
        default_fragment_scan_options=arrow.ParquetFragmentScanOptions(page_checksum_verification=True)
    )
    system = PyFileSystem(_reading(out))
    # Below the folder, as its own path may be no UTF-8, which Arrow takes for granted.
    fragments = [
        form.make_fragment(part.relative_to(out).as_posix(), filesystem=system) for part in files if part not in old
    ]
    current = arrow.FileSystemDataset(fragments, schema(), form, system)
    if not old:
        return current
    rows = pa.Table.from_batches([batch for part in old for batch in read_part(out, part)], schema())
    return arrow.UnionDataset(schema(), [arrow.InMemoryDataset(rows.unify_dictionaries()), current])


def _reading(out: Path) -> Any:
    """The parts of a run as a file system of Arrow's: it opens them when they are read, and nothing else."""
    from pyarrow import fs

    class Reading(fs.FileSystemHandler):
        def get_type_name(self) -> str:
            return "results"

        def normalize_path(self, path: str) -> str:
            return path

        def get_file_info(self, paths: list[str]) -> list[Any]:
            return [fs.FileInfo(path, fs.FileType.File) for path in paths]

        def open_input_file(self, path: str) -> Any:
            try:
                return pa.PythonFile(reader(out, out / path), mode="r")
            except OutputError as error:
                raise OSError(str(error)) from error

        open_input_stream = open_input_file

        def _refuse(self, *_: object, **__: object) -> Any:
            raise OSError("results are only read here")

        get_file_info_selector = create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = _refuse
        delete_file = move = copy_file = open_output_stream = open_append_stream = _refuse

    return Reading()
