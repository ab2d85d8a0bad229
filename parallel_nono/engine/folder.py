"""Folders of results may come from anywhere: what lies in one is reached through its handle, and no link is followed.

The folder itself is where its user says, and may be a link. Below it there are plain files and folders only: a link, a
pipe or a device there is refused with a sentence, and nothing waits for it. A new file never opens one that is there:
it is written under a name that nobody can guess, and takes its place when it is whole.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Self

NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
BINARY = getattr(os, "O_BINARY", 0)
HANDLES = hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd
"""Where the system can't open folders, paths stand in for handles; kinds are looked at all the same."""

KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class OutputError(Exception):
    """The folder of results can't be used; one sentence says why. `writing` is True when the disk is at fault.

    >>> from parallel_nono import OutputError, Run
    >>> try:
    ...     Run("datasets/")
    ... except OutputError as error:
    ...     print(error)
    datasets: expected a folder of results (OUT/rows/part-*.parquet), found none
    """

    def __init__(self, message: str, *, writing: bool = False) -> None:
        super().__init__(message)
        self.writing = writing


class Folder:
    """An open folder. Names are those of entries right in it.

    Errors   OSError as the system gives it; OutputError for what is neither a plain file nor a folder.
    """

    def __init__(self, path: Path, handle: int | None = None) -> None:
        self.path = path
        self._handle = handle
        if handle is None and HANDLES:
            self._handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        elif handle is None and not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _at(self, name: str) -> tuple[str, dict[str, Any]]:
        """How the system is told of an entry."""
        if not name or name in (".", "..") or "/" in name or os.sep in name or "\0" in name:
            raise ValueError(f"expected the name of an entry, found {name!r}")
        if not HANDLES:
            return os.path.join(self.path, name), {}
        assert self._handle is not None, "the folder is closed"
        return name, {"dir_fd": self._handle}

    def names(self) -> list[str]:
        """All entries, in order."""
        return sorted(os.listdir(self.path if self._handle is None else self._handle))

    def stat(self, name: str) -> os.stat_result:
        """Of the entry itself, whatever it points to."""
        place, where = self._at(name)
        return os.stat(place, follow_symlinks=False, **where)

    def kind(self, name: str) -> str:
        """`file`, `folder`, `link`, `pipe`, `socket`, `device`; "" if there is no such entry."""
        try:
            return KINDS.get(stat.S_IFMT(self.stat(name).st_mode), "device")
        except FileNotFoundError:
            return ""

    def expect(self, name: str, *kinds: str, writing: bool = False) -> str:
        """The kind of an entry. Errors: OutputError if it is there and none of `kinds`."""
        kind = self.kind(name)
        if kind and kind not in kinds:
            why = "; links in a folder of results are not followed" if kind == "link" else ""
            raise OutputError(f"{self.path / name}: expected a {kinds[0]}, found a {kind}{why}", writing=writing)
        return kind

    def _open(self, name: str, flags: int, kind: str, *, writing: bool) -> int:
        place, where = self._at(name)
        try:
            handle = os.open(place, flags | NO_LINK | BINARY, 0o666, **where)
        except OSError:
            self.expect(name, kind, writing=writing)
            raise
        if KINDS.get(stat.S_IFMT(os.fstat(handle).st_mode)) != kind:
            os.close(handle)
            self.expect(name, kind, writing=writing)
            raise OutputError(f"{self.path / name}: expected a {kind}, found something else", writing=writing)
        return handle

    def sub(self, name: str, *, make: bool = False) -> Folder:
        """A folder in this one; made if need be."""
        place, where = self._at(name)
        if make and not self.expect(name, "folder", writing=True):
            os.mkdir(place, **where)
        if not HANDLES:
            self.expect(name, "folder", writing=make)
            return Folder(self.path / name)
        return Folder(self.path / name, self._open(name, os.O_RDONLY | os.O_DIRECTORY, "folder", writing=make))

    def at(self, *names: str) -> Folder:
        """The folder that one comes to by `names`, one in the other."""
        folder = self.sub(names[0])
        if len(names) == 1:
            return folder
        with folder:
            return folder.at(*names[1:])

    def reader(self, name: str) -> IO[bytes]:
        """A plain file, to read."""
        return os.fdopen(self._open(name, os.O_RDONLY, "file", writing=False), "rb")

    def content(self, name: str, most: int = 64 << 20) -> bytes:
        """A small file. Errors: OutputError if it is large."""
        with self.reader(name) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise OutputError(f"{self.path / name}: expected at most {most >> 20} MiB, found more")
        return data

    def writer(self, name: str) -> IO[bytes]:
        """A new file. Errors: FileExistsError."""
        return os.fdopen(self._open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, "file", writing=True), "wb")

    def lockable(self, name: str) -> IO[bytes]:
        """A file to lock, made if need be; what is in it stays."""
        return os.fdopen(self._open(name, os.O_RDWR | os.O_CREAT, "file", writing=True), "r+b")

    @contextmanager
    def replacing(self, name: str, via: Folder | None = None, *, sync: bool = True) -> Iterator[IO[bytes]]:
        """A file that takes the place of `name` when the block ends well. via: where it is until then."""
        via = via or self
        hidden = f".{name}-{secrets.token_hex(8)}"
        self.expect(name, "file", writing=True)
        try:
            with via.writer(hidden) as file:
                yield file
                if sync:
                    to_disk(file)
            via.move(hidden, self, name)
        except BaseException:
            via.remove(hidden)
            raise

    def move(self, name: str, to: Folder, new_name: str) -> None:
        """Rename an entry; a plain file or an empty folder that has the new name is replaced."""
        to.expect(new_name, "file", "folder", writing=True)
        (place, source), (new_place, target) = self._at(name), to._at(new_name)
        handles = {"src_dir_fd": source["dir_fd"], "dst_dir_fd": target["dir_fd"]} if source else {}
        os.replace(place, new_place, **handles)

    def remove(self, name: str) -> None:
        """Remove a file, or whatever is no folder, if it is there; what a link points to stays."""
        place, where = self._at(name)
        with suppress(FileNotFoundError):
            os.unlink(place, **where)

    def remove_tree(self, name: str) -> None:
        """Remove a folder with all in it, if it is there, as far as that goes; no link is followed."""
        if self.expect(name, "folder", writing=True):
            place, where = self._at(name)
            shutil.rmtree(place, ignore_errors=True, **where)

    def sync(self) -> None:
        """Make what was made, renamed and removed here last."""
        if self._handle is not None:
            os.fsync(self._handle)

    @property
    def handle(self) -> int | None:
        """For calls of the system that no method has; None where the system has no handles."""
        return self._handle


def to_disk(file: Any) -> None:
    """Make what was written last."""
    file.flush()
    os.fsync(file.fileno())
