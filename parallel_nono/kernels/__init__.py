"""Jitted code: arrays and numbers in and out; no file, no object, no print.

Every kernel is compiled by `kernel` below. The compiled code is kept on disk in a folder named after a hash of
all kernel sources: Numba alone keeps a caller's old machine code when a callee in another file changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

SOURCES = sorted(
    path for folder in (Path(__file__).parent, Path(__file__).parent.parent / "check") for path in folder.glob("*.py")
)


MONTH = 30 * 24 * 3600.0


def _sources_hash() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in SOURCES:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _usable(folder: Path) -> bool:
    """Make `folder` if need be; True when it is ours alone and can be written: its files are unpickled."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.stat()
    except OSError:
        return False
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _cache_folder() -> Path | None:
    """Where compiled code is kept, or None when nothing can be written (then each start compiles)."""
    bases = []
    if os.environ.get("NUMBA_CACHE_DIR"):
        bases.append(Path(os.environ["NUMBA_CACHE_DIR"]))
    cache_home = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(RuntimeError):  # a user without a home
        bases.append((Path(cache_home) if cache_home else Path.home() / ".cache") / "pnono")
    bases.append(Path(tempfile.gettempdir()) / f"pnono-cache-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    name = f"kernels-{_sources_hash()}"
    base = next((base for base in bases if _usable(base) and _usable(base / name)), None)
    if base is None:
        return None
    _drop_old(base, keep=name)
    return base / name


def _drop_old(base: Path, keep: str) -> None:
    """Remove what other versions of the sources left behind, if nothing was added to it for a month."""
    for folder in base.glob("kernels-*"):
        with contextlib.suppress(OSError):  # another process may be at it
            if folder.name != keep and folder.stat().st_mtime < time.time() - MONTH:
                shutil.rmtree(folder, ignore_errors=True)


CACHE_FOLDER = _cache_folder()


@cache
def _numba() -> Any:
    """Numba, told where to keep code. Imported with the first kernel: a driver whose workers solve needs none."""
    import numba

    if CACHE_FOLDER is not None:
        numba.config.CACHE_DIR = str(CACHE_FOLDER)
    return numba


def when_compiling(say: Callable[[], None]) -> None:
    """Have `say` called once, by whichever thread begins to compile a kernel in this process.

    Fetching code from disk is no compilation.
    """
    _numba()
    from numba.core import event

    class Once(event.Listener):
        """Says it at the first start of a compilation."""

        said = False

        def on_start(self, event: Any) -> None:
            said, self.said = self.said, True
            if not said:
                say()

        def on_end(self, event: Any) -> None:
            """Nothing to say."""

    event.register("numba:compile", Once())


OPTIONS: dict[str, Any] = {
    "nogil": True,
    "cache": CACHE_FOLDER is not None,
    "error_model": "numpy",
    "_nrt": False,  # no reference counts: kernels allocate nothing
}


def is_compiled(last: str = "solve.solve") -> bool:
    """True when an earlier start left compiled kernels behind, so that this one need not say it compiles.

    last  `module.function` of the kernel that is compiled after the others of its kind; "" where there is none.
    """
    return not last or (CACHE_FOLDER is not None and any(CACHE_FOLDER.glob(f"*/{last}-*.nbi")))


def kernel(function: Callable[..., Any] | None = None, *, inner: bool = False, inline: bool = False) -> Any:
    """Compile a pure function: releases the GIL, counts no references, kept on disk.

    inner   called by kernels only: goes without the wrappers for Python and C, which take long to compile.
    inline  inner, and LLVM puts it into its callers: for the small functions of the innermost loops.
    """
    options = dict(OPTIONS)
    if inline:
        options["forceinline"] = True
    if inner or inline:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiler = _numba().njit(**options)
    return compiler if function is None else compiler(function)


def function_value(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel as a function value, which other kernels take as an argument and call through its address.

    A call costs about 10 ns, and the callee is compiled once: LLVM optimises what is called by name again in every
    module that calls it, and every family of puzzles would bring its own copy of all that calls its propagation.
    """
    return _numba().cfunc(signature, **OPTIONS)
