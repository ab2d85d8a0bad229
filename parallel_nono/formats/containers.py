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
from typing import IO, TYPE_CHECKING, Any

from ..puzzle import InvalidPuzzle
from . import format_of_extension, recognise
from .decode import decode
from .remote import is_remote, located, open_remote

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
SHARED = (".txt", ".xml", ".json", ".toml", ".ini", ".csv", ".html", ".htm", ".js", ".url")
"""Endings that say nothing by themselves: in a folder the content decides."""

FOREIGN = (
    ".md", ".rst", ".py", ".pyc", ".go", ".rs", ".c", ".h", ".cpp", ".java", ".sh", ".lock", ".log", ".yaml", ".yml",
    ".pdf", ".png", ".svg", ".gif", ".jpg", ".jpeg", ".ico", ".out", ".metadata", ".cfg", ".jsonl",
)  # fmt: skip
"""Endings of files that lie beside puzzles; unless a format has the ending, a folder's walk passes by."""

PICTURES = (".png", ".gif", ".bmp")
"""Endings of pictures: a format each, but those that lie in a folder of puzzles are seldom puzzles themselves."""

FOREIGN_NAMES = ("readme", "license", "licence", "copying", "notice", "changelog", "authors", "source", "makefile")

PARQUET_MAGIC, GZIP_MAGIC, ZIP_MAGIC = b"PAR1", b"\x1f\x8b", b"PK\x03\x04"

Claims = Callable[[str, Callable[[], bytes]], bool]
"""(name, head) -> True for a file that a folder or an archive brought along and that holds puzzles.

name  in small letters, without folders.
head  gives the first `PEEK` bytes, unpacked; only to be called where the name does not tell. Errors: InvalidPuzzle.
"""


@dataclass(frozen=True, slots=True)
class Span:
    """Rows of one row group of a packed set, from `start` to before `stop`."""

    group: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Source:
    """One file of puzzles, wherever it lies. Small, and can be sent to another process.

    name    as reports show it: the path as given, or `archive.zip/member`, or `-`.
    size    bytes as it lies there, 0 where unknown.
    path    what to open, a path or an address; "" when `data` holds the bytes already.
    packed  a packed puzzle set (Parquet), not text.
    error   why it can't be read; `load` raises it.
    span    of a packed set only these rows; None: all.
    """

    name: str
    size: int = 0
    path: str = ""
    data: bytes | None = field(default=None, repr=False)
    packed: bool = False
    error: str = ""
    span: Span | None = None

    def load(self) -> bytes:
        """The bytes, unpacked. Errors: InvalidPuzzle if they can't be had or are too many."""
        if self.error:
            raise InvalidPuzzle(self.error)
        data = self.data
        if data is None:
            try:
                if is_remote(self.path):
                    return self._load_remote()
                with open(self.path, "rb", buffering=0) as file:
                    if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and self.size <= MAX_BYTES:
                        data = file.readall()  # faster: no room for MAX_BYTES is made first
                    else:
                        data = _at_most(io.BufferedReader(file), self.name)
            except OSError as error:
                raise InvalidPuzzle(f"{self.name}: {_reason(error)}") from None
        return gunzip(data, self.name) if data[:2] == GZIP_MAGIC else data

    def _load_remote(self) -> bytes:
        with open_remote(self.path) as file:
            if file.size() > MAX_BYTES:
                raise InvalidPuzzle(f"{self.name}: expected at most {MAX_BYTES >> 20} MiB of text, found more")
            data: bytes = file.read()
        return gunzip(data, self.name) if data[:2] == GZIP_MAGIC else data


def _reason(error: OSError) -> str:
    return f"can't be read: {error.strerror or str(error).partition(chr(10))[0]}"


def _open(path: str) -> Any:
    """A file to read bytes from, here or elsewhere. Errors: OSError, InvalidPuzzle."""
    return open_remote(path) if is_remote(path) else open(path, "rb")


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


@dataclass(frozen=True, slots=True)
class _Walk:
    """What holds for a whole walk: whom to tell of files that are passed by, and which are not."""

    note: Callable[[str], object]
    claims: Claims | None


def sources(
    paths: Iterable[str | os.PathLike[str]],
    skipped: Callable[[str], object] | None = None,
    claims: Claims | None = None,
) -> Iterator[Source]:
    """Every file of puzzles under `paths`, in the order given, folders by name.

    paths    files, folders, archives, globs, `-` for standard input, addresses of files elsewhere (`s3://...`), or
             addresses that hold a puzzle.
    skipped  called with the name of each file of a folder or archive that holds no puzzles (README, pictures, ...).
    claims   tells them apart; None: what holds nonograms, packed sets too.
    A file that is named itself is never skipped: what can't be read becomes a source whose `load` tells why.
    """
    walk = _Walk(skipped or (lambda name: None), claims)
    for given in paths:
        path = os.fspath(given)
        if path == "-":
            yield from _standard_input(walk)
        elif os.path.isdir(path):
            yield from _folder(path, walk)
        elif os.path.exists(path):
            yield from _named(path, walk)
        elif is_remote(path):
            yield from _remote(path, walk)
        elif "://" in path:
            yield _address(path)
        elif glob.has_magic(path):
            found = sorted(glob.glob(path, recursive=True))
            for name in found:
                yield from _folder(name, walk) if os.path.isdir(name) else _named(name, walk)
            if not found:
                yield Source(path, error=f"{path}: expected files that fit this pattern, found none")
        else:
            yield Source(path, error=f"{path}: expected a file or a folder, found nothing of that name")


def _standard_input(walk: _Walk) -> Iterator[Source]:
    try:
        data = _at_most(sys.stdin.buffer, "-")
    except InvalidPuzzle as error:
        yield Source("-", error=str(error))
        return
    if data[:4] == ZIP_MAGIC or _is_tar(data):
        yield from _archive("-", io.BytesIO(data), data[:4] == ZIP_MAGIC, _Walk(lambda name: None, walk.claims))
    else:
        yield Source("-", len(data), data=data, packed=data[:4] == PARQUET_MAGIC)


def _address(path: str) -> Source:
    """A puzzle that the address of a web page itself holds; no page is asked for."""
    form = recognise(path)
    if form is not None and form.name in ("puzzlink", "penpa"):
        return Source(path, len(path), data=path.encode())
    hope = "expected a file, a folder or an address that holds a puzzle itself"
    return Source(path, error=f"{path}: {hope}, found another (`pnono fetch` gets puzzles from web sites)")


def _is_tar(data: bytes) -> bool:
    return data[257:262] == b"ustar"


def _remote(address: str, walk: _Walk) -> Iterator[Source]:
    """A file elsewhere, or all files below a folder there, by name; hidden ones are passed by."""
    from pyarrow.fs import FileSelector, FileType

    try:
        system, root = located(address)
        waiting = [system.get_file_info(root)]
    except (OSError, InvalidPuzzle) as error:
        why = str(error) if isinstance(error, InvalidPuzzle) else f"{address}: {_reason(error)}"
        yield Source(address, error=why)
        return
    if waiting[0].type == FileType.NotFound:
        yield Source(address, error=f"{address}: expected a file or a folder, found nothing of that name")
        return
    top = waiting[0].path.rstrip("/")
    while waiting:
        info = waiting.pop()
        name = address.rstrip("/") + info.path.rstrip("/")[len(top) :]
        if info.type == FileType.Directory:
            try:
                found = sorted(
                    system.get_file_info(FileSelector(info.path)), key=lambda below: below.path, reverse=True
                )
            except OSError as error:
                yield Source(name, error=f"{name}: {_reason(error)}")
                continue
            waiting += [below for below in found if not below.base_name.startswith(".")]
        elif name == address or name.lower().endswith((*ZIPS, *TARS)):
            yield from _named(name, walk, info.size)
        else:
            yield from _found(name, info.size, None, walk)


def _named(path: str, walk: _Walk, size: int | None = None) -> Iterator[Source]:
    """A file that the user named."""
    try:
        size = os.path.getsize(path) if size is None else size
        with _open(path) as file:
            head = file.read(512)
            if head[:4] == ZIP_MAGIC or _is_tar(head) or path.lower().endswith(TARS):
                file.seek(0)
                yield from _archive(path, file, head[:4] == ZIP_MAGIC, walk)
                return
    except OSError as error:
        yield Source(path, error=f"{path}: {_reason(error)}")
        return
    yield Source(path, size, path, packed=head[:4] == PARQUET_MAGIC)


def _folder(path: str, walk: _Walk) -> Iterator[Source]:
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
            walk.note(full)
        elif full.lower().endswith((*ZIPS, *TARS)):
            yield from _named(full, walk)
        else:
            yield from _found(full, facts.st_size, None, walk)


def _found(name: str, size: int, data: bytes | None, walk: _Walk) -> Iterator[Source]:
    """A file that a folder or an archive brought along: passed by unless its name or its content says puzzle."""
    base = name.rsplit("/", 1)[-1].lower()
    if walk.claims is None and base.endswith(PACKED):
        source = Source(name, size, name if data is None else "", data, packed=True)
        if _is_set(source):
            yield source
        else:
            walk.note(name)
        return
    begun = data

    def head() -> bytes:
        nonlocal begun
        if begun is None:
            with _open(name) as file:
                begun = file.read(PEEK)
        return _unpacked_head(begun[:PEEK])

    try:
        claimed = (walk.claims or _holds_nonograms)(base, head)
    except InvalidPuzzle:
        claimed = False
    except OSError as error:
        yield Source(name, error=f"{name}: {_reason(error)}")
        return
    if not claimed:
        walk.note(name)
        return
    if begun is not None and data is None and len(begun) < PEEK:
        data = begun  # that was all of it
    yield Source(name, size, name if data is None else "", data)


def _unpacked_head(head: bytes) -> bytes:
    """The first `PEEK` bytes of what a file holds. Errors: InvalidPuzzle for damaged data."""
    if head[:2] != GZIP_MAGIC:
        return head
    try:
        return zlib.decompressobj(31).decompress(head, PEEK)
    except zlib.error as error:
        raise InvalidPuzzle(str(error)) from None


def _holds_nonograms(name: str, head: Callable[[], bytes]) -> bool:
    """Whether the name or the content says nonogram."""
    if name.endswith(PICTURES):
        return False
    form = format_of_extension(name)
    if form is not None and not name.removesuffix(".gz").endswith(SHARED):
        return True
    if (form is None and name.endswith(FOREIGN)) or name.startswith(FOREIGN_NAMES):
        return False
    text, _ = decode(head(), "")
    return recognise(text) is not None


def _is_set(source: Source) -> bool:
    from .packed import is_packed

    return is_packed(source.path if source.data is None else source.data)


def _archive(name: str, file: IO[bytes], is_zip: bool, walk: _Walk) -> Iterator[Source]:
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
                walk.note(full)
            else:
                for source in _found(full, len(data), data, walk):
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
