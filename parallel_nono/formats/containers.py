"""Where puzzle files lie: folders, globs, standard input, .gz, .zip and .tar.*; one `Source` for each file.

Nothing is listed ahead: sources come one by one, so that a folder of a million files costs the names of one folder.
Caps hold against archives that unpack without end.
"""

from __future__ import annotations

import glob
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from ..puzzle import InvalidPuzzle
from . import format_of_extension, recognise
from .decode import decode

if TYPE_CHECKING:
    import gzip

MAX_BYTES = 512 << 20
"""Bytes of one file, unpacked."""

MAX_UNPACKED = 8 << 30
"""Bytes of all files of one archive, unpacked."""

MAX_MEMBERS = 1_000_000
"""Files of one archive."""

PEEK = 1 << 20
"""Bytes looked at to tell whether a file of a folder holds puzzles."""

ZIPS = (".zip",)
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
PACKED = (".parquet", ".pq")
SHARED = (".txt", ".xml", ".json", ".toml", ".ini", ".csv", ".html", ".js")
"""Endings that say nothing by themselves: in a folder the content decides."""

FOREIGN = (
    ".md", ".rst", ".py", ".pyc", ".go", ".rs", ".c", ".h", ".cpp", ".java", ".sh", ".lock", ".log", ".yaml", ".yml",
    ".pdf", ".png", ".svg", ".gif", ".jpg", ".jpeg", ".ico", ".out", ".metadata", ".cfg", ".jsonl",
)  # fmt: skip
"""Endings of files that lie beside puzzles; unless a format has the ending, a folder's walk passes by."""

FOREIGN_NAMES = ("readme", "license", "licence", "copying", "notice", "changelog", "authors", "source", "makefile")

PARQUET_MAGIC, GZIP_MAGIC, ZIP_MAGIC = b"PAR1", b"\x1f\x8b", b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Source:
    """One file of puzzles, wherever it lies. Small, and can be sent to another process.

    name    as reports show it: the path as given, or `archive.zip/member`, or `-`.
    size    bytes as it lies there, 0 where unknown.
    path    what to open; "" when `data` holds the bytes already.
    packed  a packed puzzle set (Parquet), not text.
    error   why it can't be read; `load` raises it.
    """

    name: str
    size: int = 0
    path: str = ""
    data: bytes | None = field(default=None, repr=False)
    packed: bool = False
    error: str = ""

    def load(self) -> bytes:
        """The bytes, unpacked. Errors: InvalidPuzzle if they can't be had or are too many."""
        if self.error:
            raise InvalidPuzzle(self.error)
        data = self.data
        if data is None:
            try:
                with open(self.path, "rb", buffering=0) as file:
                    if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and self.size <= MAX_BYTES:
                        data = file.readall()  # faster: no room for MAX_BYTES is made first
                    else:
                        data = _at_most(io.BufferedReader(file), self.name)
            except OSError as error:
                raise InvalidPuzzle(f"{self.name}: {_reason(error)}") from None
        return gunzip(data, self.name) if data[:2] == GZIP_MAGIC else data


def _reason(error: OSError) -> str:
    return f"can't be read: {error.strerror or error}"


def _at_most(file: IO[bytes] | gzip.GzipFile | io.BufferedReader, name: str, most: int | None = None) -> bytes:
    most = MAX_BYTES if most is None else most
    try:
        data = file.read(most + 1)
    except MemoryError:
        raise InvalidPuzzle(f"{name}: expected a file that fits in memory, found a larger one") from None
    if len(data) > most:
        raise InvalidPuzzle(f"{name}: expected at most {most >> 20} MiB of text, found more")
    return data


def gunzip(data: bytes, name: str) -> bytes:
    """Errors: InvalidPuzzle for damaged data or more than MAX_BYTES."""
    import gzip

    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return _at_most(file, name)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidPuzzle(f"{name}: expected gzip data, found a damaged file ({error})") from None


def sources(
    paths: Iterable[str | os.PathLike[str]], skipped: Callable[[str], object] | None = None
) -> Iterator[Source]:
    """Every file of puzzles under `paths`, in the order given, folders by name.

    paths    files, folders, archives, globs, `-` for standard input.
    skipped  called with the name of each file of a folder or archive that holds no puzzles (README, pictures, ...).
    A file that is named itself is never skipped: what can't be read becomes a source whose `load` tells why.
    """
    note = skipped or (lambda name: None)
    for given in paths:
        path = os.fspath(given)
        if path == "-":
            yield from _standard_input()
        elif os.path.isdir(path):
            yield from _folder(path, note)
        elif os.path.exists(path):
            yield from _named(path, note)
        elif glob.has_magic(path):
            found = sorted(glob.glob(path, recursive=True))
            for name in found:
                yield from _folder(name, note) if os.path.isdir(name) else _named(name, note)
            if not found:
                yield Source(path, error=f"{path}: expected files that fit this pattern, found none")
        else:
            yield Source(path, error=f"{path}: expected a file or a folder, found nothing of that name")


def _standard_input() -> Iterator[Source]:
    try:
        data = _at_most(sys.stdin.buffer, "-")
    except InvalidPuzzle as error:
        yield Source("-", error=str(error))
        return
    if data[:4] == ZIP_MAGIC or _is_tar(data):
        yield from _archive("-", io.BytesIO(data), data[:4] == ZIP_MAGIC, lambda name: None)
    else:
        yield Source("-", len(data), data=data, packed=data[:4] == PARQUET_MAGIC)


def _is_tar(data: bytes) -> bool:
    return data[257:262] == b"ustar"


def _named(path: str, note: Callable[[str], object]) -> Iterator[Source]:
    """A file that the user named."""
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            head = file.read(512)
            if head[:4] == ZIP_MAGIC or _is_tar(head) or path.lower().endswith(TARS):
                file.seek(0)
                yield from _archive(path, file, head[:4] == ZIP_MAGIC, note)
                return
    except OSError as error:
        yield Source(path, error=f"{path}: {_reason(error)}")
        return
    yield Source(path, size, path, packed=head[:4] == PARQUET_MAGIC)


def _folder(path: str, note: Callable[[str], object]) -> Iterator[Source]:
    """All files below a folder, by name; hidden ones and linked folders are passed by."""
    waiting = [path]  # what is still to be looked at, the next one last
    while waiting:
        full = waiting.pop()
        try:
            facts = os.lstat(full) if full != path else os.stat(full)
            if stat.S_ISDIR(facts.st_mode):
                with os.scandir(full) as entries:
                    names = sorted(entry.name for entry in entries)
                seen = [name for name in names if not name.startswith(".") and name != "__pycache__"]
                waiting += [f"{full.rstrip('/')}/{name}" for name in reversed(seen)]
                continue
            if stat.S_ISLNK(facts.st_mode):
                facts = os.stat(full)
        except OSError as error:
            yield Source(full, error=f"{full}: {_reason(error)}")
            continue
        if not stat.S_ISREG(facts.st_mode):
            note(full)
        elif full.lower().endswith((*ZIPS, *TARS)):
            yield from _named(full, note)
        else:
            yield from _found(full, facts.st_size, None, note)


def _found(name: str, size: int, data: bytes | None, note: Callable[[str], object]) -> Iterator[Source]:
    """A file that a folder or an archive brought along: passed by unless its name or its content says puzzle."""
    path = name if data is None else ""
    base = name.rsplit("/", 1)[-1].lower()
    if base.endswith(PACKED):
        source = Source(name, size, path, data, packed=True)
        if _is_set(source):
            yield source
        else:
            note(name)
        return
    form = format_of_extension(base)
    if form is not None and not base.removesuffix(".gz").endswith(SHARED):
        yield Source(name, size, path, data)
        return
    if (form is None and base.endswith(FOREIGN)) or base.startswith(FOREIGN_NAMES):
        note(name)
        return
    try:
        if data is None:
            with open(path, "rb") as file:
                head = file.read(PEEK)
            if len(head) < PEEK:
                data, path = head, ""
        else:
            head = data[:PEEK]
    except OSError as error:
        yield Source(name, error=f"{name}: {_reason(error)}")
        return
    if _says_puzzle(head):
        yield Source(name, size, path, data)
    else:
        note(name)


def _says_puzzle(head: bytes) -> bool:
    try:
        if head[:2] == GZIP_MAGIC:
            head = zlib.decompressobj(31).decompress(head, PEEK)
        text, _ = decode(head, "")
    except (InvalidPuzzle, zlib.error):
        return False
    return recognise(text) is not None


def _is_set(source: Source) -> bool:
    from .packed import is_packed

    return is_packed(source.path if source.data is None else source.data)


def _archive(name: str, file: IO[bytes], is_zip: bool, note: Callable[[str], object]) -> Iterator[Source]:
    """The members of an archive that hold puzzles, as `archive/member`; nothing is written to disk."""
    import tarfile
    import zipfile

    total = members = given = 0
    try:
        for member, data in _zip_members(name, file) if is_zip else _tar_members(name, file):
            full = f"{name}/{member}"
            members += 1
            total += len(data) if isinstance(data, bytes) else 0
            if members > MAX_MEMBERS or total > MAX_UNPACKED:
                limits = f"{MAX_MEMBERS:,} files and {MAX_UNPACKED >> 30} GiB"
                yield Source(full, error=f"{full}: expected at most {limits} in an archive, found more")
                return
            if isinstance(data, InvalidPuzzle):
                given += 1
                yield Source(full, error=str(data))
            elif member.lower().endswith((*ZIPS, *TARS)):
                given += 1
                yield Source(full, error=f"{full}: expected puzzles, found an archive within an archive")
            elif any(part.startswith(".") and part.strip(".") for part in member.split("/")):
                note(full)
            else:
                for source in _found(full, len(data), data, note):
                    given += 1
                    yield source
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError) as error:
        # what zipfile and tarfile raise for damaged, encrypted and unknown archives
        given += 1
        yield Source(name, error=f"{name}: expected an archive, found a damaged one ({error})")
    except ImportError as error:
        given += 1
        yield Source(name, error=f"{name}: this Python can't unpack it ({error})")
    if not given:
        yield Source(name, error=f"{name}: expected puzzles in the archive, found none in {members} files")


def _zip_members(name: str, file: IO[bytes]) -> Iterator[tuple[str, bytes | InvalidPuzzle]]:
    import zipfile

    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            full = f"{name}/{info.filename}"
            if info.flag_bits & 1:
                yield info.filename, InvalidPuzzle(f"{full}: expected a readable member, found an encrypted one")
                continue
            try:
                with archive.open(info) as member:
                    yield info.filename, _at_most(member, full)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
                yield info.filename, InvalidPuzzle(f"{full}: expected zip data, found a damaged member ({error})")
            except InvalidPuzzle as error:
                yield info.filename, error


def _tar_members(name: str, file: IO[bytes]) -> Iterator[tuple[str, bytes | InvalidPuzzle]]:
    import tarfile

    with tarfile.open(fileobj=file, mode="r|*") as archive:  # a stream: nothing is unpacked ahead
        for info in archive:
            if not info.isreg():
                continue
            full = f"{name}/{info.name}"
            member = archive.extractfile(info)
            if member is None:
                continue
            if info.size > MAX_BYTES:
                raise tarfile.TarError(f"{full}: expected at most {MAX_BYTES >> 20} MiB, found {info.size >> 20} MiB")
            try:
                yield info.name, _at_most(member, full)
            except InvalidPuzzle as error:
                yield info.name, error
