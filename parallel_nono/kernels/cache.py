"""Compiled code on disk: where it is kept, sealed against damage, and under which settings Numba makes it.

Nothing here decides what the compiled code is, so this file does not count for the hash that names the folder.

A file that is empty, cut, overwritten or another one's does not open its seal (a hash of its name and content): it
counts as not there, its kernel is compiled again, and whoever registered with `when_told` hears of it once.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ..extras import needed

PACKAGE = Path(__file__).parent.parent
SOURCES = sorted(
    path
    for pattern in ("kernels/*.py", "checker/*.py", "kinds/*/kernels.py", "kinds/*/checker.py")
    for path in PACKAGE.glob(pattern)
    if path != Path(__file__)
)

MONTH = 30 * 24 * 3600.0
SEAL_BYTES = 16

WITHOUT_EFFECT = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DISABLE_JIT", "NUMBA_THREADING_LAYER")
"""Settings of Numba that do not change the code it makes; each combination of the others has a folder of its own."""


@cache
def sources_hash() -> str:
    """Of the sources of all kernels."""
    digest = hashlib.blake2b(digest_size=8)
    for path in SOURCES:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def settings_hash() -> str:
    """Of all that decides what code Numba makes: the sources, and its settings in the environment."""
    digest = hashlib.blake2b(sources_hash().encode(), digest_size=8)
    for name, value in sorted(os.environ.items()):
        if name.startswith("NUMBA_") and name not in WITHOUT_EFFECT:
            digest.update(os.fsencode(f"{name}={value}") + b"\0")
    return digest.hexdigest()


def _usable(folder: Path, is_ours: bool) -> bool:
    """Make `folder` if need be; True when it is the user's alone and can be written: its files are unpickled.

    is_ours  nobody but us has a reason to put a link there, so a link is refused.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat() if is_ours else folder.stat()
    except OSError:
        return False
    if not stat.S_ISDIR(facts.st_mode):
        return False
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def is_private(facts: os.stat_result) -> bool:
    """True if only root, its owner and a group of our own may write what has these facts, and the owner is root or we.

    Packages are often writable for the user's own group, and whoever is in that could write our sources as well.
    """
    if facts.st_uid not in (0, os.getuid()) or facts.st_mode & stat.S_IWOTH:
        return False
    return not facts.st_mode & stat.S_IWGRP or facts.st_gid in (0, os.getgid())


@cache
def folder_of(what: str) -> Path | None:
    """Where compiled code of a kind is kept, or None when nothing can be written (then each start compiles).

    what  `kernels`, by Numba and under its settings; `native`, the library.
    """
    bases = []
    if os.environ.get("NUMBA_CACHE_DIR"):
        bases.append((Path(os.environ["NUMBA_CACHE_DIR"]), False))
    cache_home = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # a user without a home
        bases.append(((Path(cache_home) if cache_home else Path.home() / ".cache") / "pnono", False))
    # Everybody may write there, and the name can be guessed.
    user = os.getuid() if hasattr(os, "getuid") else "user"
    bases.append((Path(tempfile.gettempdir()) / f"pnono-cache-{user}", True))
    name = f"{what}-{settings_hash() if what == 'kernels' else sources_hash()}"
    base = next((base for base, ours in bases if _usable(base, ours) and _usable(base / name, True)), None)
    if base is None:
        return None
    _drop_old(base, keep=name)
    return base / name


def _drop_old(base: Path, keep: str) -> None:
    """Remove what other versions of the sources left behind, if nothing was added to it for a month."""
    for folder in (*base.glob("kernels-*"), *base.glob("native-*")):
        with contextlib.suppress(OSError):  # another process may be at it
            if folder.name != keep and folder.stat().st_mtime < time.time() - MONTH:
                shutil.rmtree(folder, ignore_errors=True)


# What there is to tell.

_untold: list[str] = []
_listeners: list[Callable[[str], None]] = []
_damaged: set[str] = set()


def when_told(say: Callable[[str], None]) -> None:
    """Have `say` called with each sentence about the cache or Numba's settings that a user should read; with those of
    before at once."""
    _listeners[:] = [say]
    while _untold:
        say(_untold.pop(0))


def tell(sentence: str) -> None:
    for say in _listeners:
        say(sentence)
    if not _listeners:
        _untold.append(sentence)


def _found_damage(path: str) -> None:
    folder = os.path.dirname(path)
    if folder not in _damaged:
        _damaged.add(folder)
        tell(f"{path}: damaged compiled code: compiling again what is damaged")


# Sealed files: what Numba writes, and behind it the seal, which Numba's reader does not get to.


def seal_of(name: str, content: bytes) -> bytes:
    """The seal of a file of this name with this content."""
    return hashlib.blake2b(name.encode() + b"\0" + content, digest_size=SEAL_BYTES).digest()


def is_sound(path: str) -> bool:
    """True if the file is there and is what was written under its name; damage is told."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return False
    except OSError:
        data = b""
    content = data[:-SEAL_BYTES]
    sound = bool(content) and data[-SEAL_BYTES:] == seal_of(os.path.basename(path), content)
    if not sound:
        _found_damage(path)
    return sound


def drop_damaged() -> int:
    """Remove the files of the cache that are damaged, with the index that leads to them; returns how many."""
    kept = folder_of("kernels")
    paths = [] if kept is None else [*kept.glob("*/*.nbi"), *kept.glob("*/*.nbc")]
    damaged = [path for path in paths if not is_sound(str(path))]
    for path in damaged:
        index = path.with_suffix("").with_suffix(".nbi") if path.suffix == ".nbc" else path
        for each in {path, index}:
            _remove(each)
    return len(damaged)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # another process was quicker, or it is compiled over later
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


@cache
def _sealed_files() -> type:
    """Numba's files of one kernel, sealed. A class only when Numba is there to inherit from."""
    from numba.core.caching import IndexDataCacheFile

    class Sealed(IndexDataCacheFile):
        """An index of keys (signatures and processors), and for each a file of the key and its machine code."""

        def load(self, key: Any) -> Any:
            of, data = super().load(key) or (None, None)
            return data if of == key else None  # names are used again once an index is lost

        def save(self, key: Any, data: Any) -> None:
            super().save(key, (key, data))

        def _load_index(self) -> dict[Any, str]:
            return super()._load_index() if is_sound(self._index_path) else {}

        def _load_data(self, name: str) -> Any:
            return super()._load_data(name) if is_sound(self._data_path(name)) else None

        @contextlib.contextmanager
        def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
            """What can't be written (a full disk) is compiled again by the next process."""
            yield (buffer := io.BytesIO())
            content = buffer.getvalue()
            if os.path.isdir(filepath):
                _remove(Path(filepath))
            with contextlib.suppress(OSError), super()._open_for_write(filepath) as file:
                file.write(content + seal_of(os.path.basename(filepath), content))

    return Sealed


def keep_sealed(compiled: Any) -> Any:
    """Have Numba keep the code of this dispatcher or function value in sealed files."""
    if folder_of("kernels") is not None:
        compiled.enable_caching()
        files, kept = compiled._cache._cache_file, compiled._cache
        kept._cache_file = _sealed_files()(
            files._cache_path, files._index_name.removesuffix(".nbi"), files._source_stamp
        )
    return compiled


# Numba itself.


def _mend_settings() -> None:
    """Take out of the environment what Numba, or our kernels under it, can't work with."""
    threads = os.environ.get("NUMBA_NUM_THREADS")
    if threads is not None and not (threads.isascii() and threads.isdigit() and int(threads) > 0):
        del os.environ["NUMBA_NUM_THREADS"]
        tell(f"NUMBA_NUM_THREADS: expected a number above 0, found `{threads}`: it is ignored")
    without = os.environ.get("NUMBA_DISABLE_JIT", "0")
    if without not in ("", "0"):
        os.environ["NUMBA_DISABLE_JIT"] = "0"
        tell(f"NUMBA_DISABLE_JIT={without} is ignored: the solver is nothing without compilation")


@cache
def numba() -> Any:
    """Numba, told where to keep code. Imported with the first kernel: a driver whose workers solve needs none.

    Errors: MissingExtra; RuntimeError if this process imported Numba before and told it not to compile.
    """
    if "numba" not in sys.modules:
        _mend_settings()
        # It shows a whole traceback for each value that it can't read; what follows says so in a line.
        warnings.filterwarnings("ignore", "Environment variable 'NUMBA_", RuntimeWarning)
    numba = needed("numba")
    if any(name.startswith("NUMBA_") for name in os.environ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            numba.config._env_reloader.update(force=True)
        for name in re.findall(r"variable '(NUMBA_\w+)' is defined", "".join(str(each.message) for each in caught)):
            tell(f"{name}={os.environ.pop(name, '')}: Numba can't read that: it is ignored")
        numba.config.reload_config()  # now, and not when the next kernel is compiled
    if numba.config.DISABLE_JIT:
        raise RuntimeError("NUMBA_DISABLE_JIT: expected it unset: the solver is nothing without compilation")
    if (folder := folder_of("kernels")) is not None:
        numba.config.CACHE_DIR = str(folder)
    return numba
