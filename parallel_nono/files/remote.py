"""Files that lie elsewhere, such as `s3://bucket/set.parquet`: opened by pyarrow, or by fsspec where it is installed.

Only what a user names is ever looked at; keys and regions are those of the environment, as pyarrow and fsspec find
them. Pages of web sites are not files: `pnono fetch` asks for those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..puzzle import InvalidPuzzle

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

ARROW = ("file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")
"""Schemes that pyarrow opens by itself."""

FSSPEC = ("memory", "sftp", "ssh", "ftp", "webhdfs", "smb", "oss", "adl", "az", "r2")
"""Schemes that need fsspec, and mostly a package of its own beside it."""


def is_remote(path: str | bytes) -> bool:
    """True for `SCHEME://...` of a scheme in the tables above."""
    return isinstance(path, str) and path.partition("://")[0] in (*ARROW, *FSSPEC) and "://" in path


def located(address: str) -> tuple[FileSystem, str]:
    """The file system of an address, and the path in it.

    Errors   InvalidPuzzle with a sentence for people: no such scheme, no fsspec, no host or no credentials.
    """
    scheme, _, rest = address.partition("://")
    if scheme not in (*ARROW, *FSSPEC) or not rest or "::" in rest:
        raise InvalidPuzzle(f"{address}: expected an address {', '.join(ARROW)}://..., found another")
    return _arrow(address) if scheme in ARROW else _fsspec(address)


def _arrow(address: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem

    try:
        found: tuple[FileSystem, str] = FileSystem.from_uri(address)
    except Exception as error:  # ArrowInvalid, OSError, NotImplementedError, ...: whatever the service has to say
        raise InvalidPuzzle(f"{address}: can't be reached: {_first_line(error)}") from None
    return found


def _fsspec(address: str) -> tuple[FileSystem, str]:
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(address)
    except ImportError as error:
        raise InvalidPuzzle(f"{address}: needs a package that is not installed: {_first_line(error)}") from None
    except Exception as error:  # as above
        raise InvalidPuzzle(f"{address}: can't be reached: {_first_line(error)}") from None
    return PyFileSystem(FSSpecHandler(system)), path


def open_remote(address: str) -> Any:
    """The file as a seekable pyarrow file, to be closed. Errors: InvalidPuzzle, OSError."""
    system, path = located(address)
    return system.open_input_file(path)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
