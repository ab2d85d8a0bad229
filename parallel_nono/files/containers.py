"""Where puzzle files lie: folders, globs, standard input, .gz and the like, .zip, .tar.*; one `Source` for each file.

Nothing is listed ahead: sources come one by one, so that a folder of a million files costs the names of one folder.
Caps hold against archives that unpack without end (`packing`). Only ordinary files are read: whatever could wait for
somebody else, a pipe or a device, is passed by. Names are made readable here (`readable`), and nowhere else.
"""

from __future__ import annotations

import glob
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Self

from ..formats import format_of_extension, recognise, unpacked_name
from ..formats.common.decode import decode
from ..puzzle import InvalidPuzzle
from . import packing
from .paths import PARQUET_MAGIC, opened, what_is
from .paths import exact as exact
from .paths import readable as readable
from .remote import is_remote, located, open_remote

MAX_BYTES = 512 << 20
"""Bytes of one file, unpacked."""

MAX_UNPACKED = 8 << 30
"""Bytes of all files of one archive, unpacked."""

MAX_MEMBERS = 1_000_000
"""Files of one archive."""

PEEK = 1 << 20
"""Bytes looked at to tell whether a file of a folder holds puzzles."""

ZIPS = (".zip",)
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst")
PACKED = (".parquet", ".pq")
SHARED = (".txt", ".xml", ".json", ".toml", ".ini", ".csv", ".html", ".htm", ".js", ".url", ".jsonl", ".ndjson")
"""Endings that say nothing by themselves: in a folder the content decides."""

FOREIGN = (
    ".md", ".rst", ".py", ".pyc", ".go", ".rs", ".c", ".h", ".cpp", ".java", ".sh", ".lock", ".log", ".yaml", ".yml",
    ".pdf", ".png", ".svg", ".gif", ".jpg", ".jpeg", ".ico", ".out", ".metadata", ".cfg",
)  # fmt: skip
"""Endings of files that lie beside puzzles; unless a format has the ending, a folder's walk passes by."""

PICTURES = (".png", ".gif", ".bmp")
"""Endings of pictures: a format each, but those that lie in a folder of puzzles are seldom puzzles themselves."""

FOREIGN_NAMES = ("readme", "license", "licence", "copying", "notice", "changelog", "authors", "source", "makefile")

BACKUP = re.compile(r".+(~|\.bak|\.orig)|#.+#", re.IGNORECASE)
"""Names of copies that editors leave beside a file; in a folder they are passed by."""

OPEN_FILES = re.compile(r"/dev/(stdin|fd/\d+)|/proc/self/fd/\d+")
"""Files that this process holds open, which may be pipes: `<(command)` of a shell."""

ZIP_MAGIC = b"PK\x03\x04"


Claims = Callable[[str, Callable[[], bytes]], bool]
"""(name, head) -> True for a file that a folder or an archive brought along and that holds puzzles.

name  in small letters, without folders.
head  gives the first `PEEK` bytes, unpacked; only to be called where the name does not tell. Errors: InvalidPuzzle.
"""


class Skipped(str):
    """The readable name of a file that was passed by.

    why  what it is (`a pipe`, `a backup copy`); "" where it just holds no puzzles.
    """

    why: str

    def __new__(cls, name: str, why: str = "") -> Self:
        self = super().__new__(cls, name)
        self.why = why
        return self

    @property
    def told(self) -> str:
        """With what it is."""
        return f"{self} ({self.why})" if self.why else str(self)


@dataclass(frozen=True, slots=True)
class RowRange:
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
    rows    of a packed set only these rows; None: all.
    """

    name: str
    size: int = 0
    path: str = ""
    data: bytes | None = field(default=None, repr=False)
    packed: bool = False
    error: str = ""
    rows: RowRange | None = None

    def load(self) -> bytes:
        """The bytes, unpacked. Errors: InvalidPuzzle if they can't be had or are too many."""
        if self.error:
            raise InvalidPuzzle(self.error)
        data = self.data
        if data is None:
            try:
                if is_remote(self.path):
                    return self._load_remote()
                with opened(self.path) as file:
                    data = file.read() if 0 < self.size <= packing.PIECE else _at_most(file, self.name)
            except OSError as error:
                raise InvalidPuzzle(f"{self.name}: {_reason(error)}") from None
        return packing.unpack(data, self.name, MAX_BYTES)

    def _load_remote(self) -> bytes:
        with open_remote(self.path) as file:
            if file.size() > MAX_BYTES:
                raise InvalidPuzzle(f"{self.name}: expected at most {MAX_BYTES >> 20} MiB of text, found more")
            data: bytes = _at_most(file, self.name)
        return packing.unpack(data, self.name, MAX_BYTES)


def _reason(error: OSError) -> str:
    return f"can't be read: {error.strerror or str(error).partition(chr(10))[0]}"


def _open(path: str) -> Any:
    """A file to read bytes from, here or elsewhere. Errors: OSError, InvalidPuzzle."""
    return open_remote(path) if is_remote(path) else opened(path)


def _at_most(file: Any, name: str, packed: int = 0) -> bytes:
    return packing.read_all(file, name, MAX_BYTES, packed)


@dataclass(frozen=True, slots=True)
class _Walk:
    """What holds for a whole walk: whom to tell of files that are passed by, and which are not."""

    tell: Callable[[Skipped], object]
    claims: Claims | None

    def note(self, path: str, why: str = "") -> None:
        """A file is passed by."""
        self.tell(Skipped(readable(path), why))


def sources(
    paths: Iterable[str | os.PathLike[str]],
    skipped: Callable[[Skipped], object] | None = None,
    claims: Claims | None = None,
) -> Iterator[Source]:
    """Every file of puzzles under `paths`, in the order given, folders by name.

    paths    files, folders, archives, globs, `-` for standard input, addresses of files elsewhere (`s3://...`), or
             addresses that hold a puzzle.
    skipped  called with the name (`Skipped`) of each file of a folder or archive that holds no puzzles (README,
             pictures, ...) or is a backup copy, and of each pipe, socket or device, wherever it was met.
    claims   tells files of a folder apart; None: what holds nonograms, packed sets too.
    An ordinary file that is named itself is never skipped: what can't be read becomes a source whose `load` tells why.
    """
    walk = _Walk(skipped or (lambda name: None), claims)
    for given in paths:
        path = os.fspath(given)
        if path == "-":
            yield from _standard_input(walk)
        elif OPEN_FILES.fullmatch(path):
            yield from _open_file(path, walk)
        elif os.path.isdir(path):
            yield from _folder(path, walk)
        elif os.path.exists(path):
            yield from _named(path, walk)
        elif is_remote(path):
            yield from _remote(path, walk)
        elif "://" in path:
            yield _address(path)
        elif glob.has_magic(path):
            yield from _matching(path, walk)
        else:
            yield _failed(path, f"expected a file or a folder, found {nothing_at(path)}")


def nothing_at(path: str) -> str:
    """What there is in place of a file or a folder."""
    return "a link that leads nowhere" if os.path.islink(path) else "nothing of that name"


def _failed(path: str, why: str) -> Source:
    """A source that can't be read."""
    name = readable(path)
    return Source(name, error=f"{name}: {why}")


def _matching(pattern: str, walk: _Walk) -> Iterator[Source]:
    found = sorted(glob.glob(pattern, recursive=True))
    for path in found:
        if os.path.isdir(path):
            yield from _folder(path, walk)
        elif BACKUP.fullmatch(os.path.basename(path)):
            walk.note(path, "a backup copy")
        else:
            yield from _named(path, walk)
    if not found:
        yield _failed(pattern, "expected files that fit this pattern, found none")


def _standard_input(walk: _Walk) -> Iterator[Source]:
    """Errors of the stream are told in its source."""
    if sys.stdin is None:
        yield Source("-", error="-: expected puzzles on standard input, found it closed")
        return
    yield from _stream("-", sys.stdin.buffer, walk)


def _open_file(path: str, walk: _Walk) -> Iterator[Source]:
    """A file that this process holds open; nobody has to come and open its other end."""
    try:
        with open(path, "rb") as file:
            if stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                walk.note(path, "a device")
            else:
                yield from _stream(path, file, walk)
    except OSError as error:
        yield _failed(path, _reason(error))


def _stream(name: str, file: Any, walk: _Walk) -> Iterator[Source]:
    """What comes out of a pipe: an archive, a packed set or a text."""
    try:
        data = _at_most(file, name)
    except InvalidPuzzle as error:
        yield Source(name, error=str(error))
        return
    except OSError as error:
        yield _failed(name, _reason(error))
        return
    if data[:4] == ZIP_MAGIC or _is_tar(data):
        yield from _archive(name, io.BytesIO(data), data[:4] == ZIP_MAGIC, _Walk(lambda name: None, walk.claims))
    else:
        yield Source(name, len(data), data=data, packed=data[:4] == PARQUET_MAGIC)


def _address(path: str) -> Source:
    """A puzzle that the address of a web page itself holds; no page is asked for."""
    name = readable(path)
    form = recognise(name)
    if form is not None and form.name in ("puzzlink", "penpa"):
        return Source(name, len(path), data=name.encode())
    hope = "expected a file, a folder or an address that holds a puzzle itself"
    return _failed(path, f"{hope}, found another (`pnono fetch` gets puzzles from web sites)")


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
                yield _failed(name, _reason(error))
                continue
            waiting += [below for below in found if not below.base_name.startswith(".")]
        elif name == address or name.lower().endswith((*ZIPS, *TARS)):
            yield from _named(name, walk, info.size)
        else:
            yield from _found(name, info.size, None, walk)


def _named(path: str, walk: _Walk, size: int | None = None) -> Iterator[Source]:
    """A file that the user named."""
    try:
        if size is None:
            facts = os.stat(path)
            if what := what_is(facts.st_mode):
                walk.note(path, what)
                return
            size = facts.st_size
        with _open(path) as file:
            head = file.read(512)
            if head[:4] == ZIP_MAGIC or _is_tar(head) or path.lower().endswith(TARS):
                file.seek(0)
                yield from _archive(path, file, head[:4] == ZIP_MAGIC, walk)
                return
    except OSError as error:
        yield _failed(path, _reason(error))
        return
    yield Source(readable(path), size, path, packed=head[:4] == PARQUET_MAGIC)


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
            yield _failed(full, _reason(error))
            continue
        if not stat.S_ISREG(facts.st_mode):
            walk.note(full, what_is(facts.st_mode))
        elif BACKUP.fullmatch(os.path.basename(full)):
            walk.note(full, "a backup copy")
        elif full.lower().endswith((*ZIPS, *TARS)):
            yield from _named(full, walk)
        else:
            yield from _found(full, facts.st_size, None, walk)


def _found(path: str, size: int, data: bytes | None, walk: _Walk) -> Iterator[Source]:
    """A file that a folder or an archive brought along: passed by unless its name or its content says puzzle."""
    base = readable(path.rsplit("/", 1)[-1]).lower()
    where = path if data is None else ""
    if walk.claims is None and base.endswith(PACKED):
        source = Source(readable(path), size, where, data, packed=True)
        if _is_set(source):
            yield source
        else:
            walk.note(path)
        return
    begun = data

    def head() -> bytes:
        nonlocal begun
        if begun is None:
            with _open(path) as file:
                begun = file.read(PEEK)
        return packing.unpacked_head(begun[:PEEK], PEEK)

    try:
        claimed = (walk.claims or _holds_nonograms)(base, head)
    except InvalidPuzzle:
        claimed = False
    except OSError as error:
        yield _failed(path, _reason(error))
        return
    if not claimed:
        walk.note(path)
        return
    if begun is not None and data is None and len(begun) < PEEK:
        data = begun  # that was all of it
    yield Source(readable(path), size, where, data)


def _holds_nonograms(name: str, head: Callable[[], bytes]) -> bool:
    """Whether the name or the content says nonogram."""
    if name.endswith(PICTURES):
        return False
    form = format_of_extension(name)
    if form is not None and not unpacked_name(name).endswith(SHARED):
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
    path, name = name, readable(name)
    try:
        for member, data in _zip_members(name, file) if is_zip else _tar_members(name, file):
            full = f"{path}/{member}"
            members += 1
            total += len(data) if isinstance(data, bytes) else 0
            if members > MAX_MEMBERS or total > MAX_UNPACKED:
                limits = f"{MAX_MEMBERS:,} files and {MAX_UNPACKED >> 30} GiB"
                yield _failed(full, f"expected at most {limits} in an archive, found more")
                return
            if isinstance(data, InvalidPuzzle):
                given += 1
                yield Source(readable(full), error=str(data))
            elif member.lower().endswith((*ZIPS, *TARS)):
                given += 1
                yield _failed(full, "expected puzzles, found an archive within an archive")
            elif BACKUP.fullmatch(member.rsplit("/", 1)[-1]):
                walk.note(full, "a backup copy")
            elif any(part.startswith(".") and part.strip(".") for part in member.split("/")):
                walk.note(full)
            else:
                for source in _found(full, len(data), data, walk):
                    given += 1
                    yield source
    except (tarfile.TarError, zipfile.BadZipFile, RuntimeError, *packing.DAMAGED) as error:
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
            full = f"{name}/{readable(info.filename)}"
            if info.flag_bits & 1:
                yield info.filename, InvalidPuzzle(f"{full}: expected a readable member, found an encrypted one")
                continue
            try:
                packing.check_size(full, info.file_size, MAX_BYTES, info.compress_size)
                with archive.open(info) as member:
                    yield info.filename, _at_most(member, full, info.compress_size)
            except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
                yield info.filename, InvalidPuzzle(f"{full}: expected zip data, found a damaged member ({error})")
            except InvalidPuzzle as error:
                yield info.filename, error


def _tar_members(name: str, file: IO[bytes]) -> Iterator[tuple[str, bytes | InvalidPuzzle]]:
    import tarfile

    head, size = file.read(8), file.seek(0, io.SEEK_END)
    file.seek(0)
    if packing.packing_of(head) == "zstd":
        file = packing.unpacked(file, "zstd")
    with tarfile.open(fileobj=file, mode="r|*") as archive:  # a stream: nothing is unpacked ahead
        for info in archive:
            if not info.isreg():
                continue
            full = f"{name}/{readable(info.name)}"
            member = archive.extractfile(info)
            if member is None:
                continue
            if info.size > MAX_BYTES:
                raise tarfile.TarError(f"{full}: expected at most {MAX_BYTES >> 20} MiB, found {info.size >> 20} MiB")
            try:
                yield info.name, _at_most(member, full, size)
            except InvalidPuzzle as error:
                yield info.name, error
