"""The library: machine code of all kernels, made ahead of time, loaded without Numba.

It comes with the package (a wheel), or is made when a kernel is first called (build) and kept in the user's cache.
Either way its name holds a hash of the sources that it was made of and the level of processor that it needs, and its
end a seal: what does not fit, is damaged, or can be written by others is never loaded.

A *part* is what is made, and waited for, by itself: a puzzle needs only those of its family. Where there is no library
and none can be made, or PNONO_KERNELS=numba, Numba compiles each kernel in this process when it is first called.
"""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .cache import PACKAGE, SEAL_BYTES, folder_of, is_private, seal_of, sources_hash, tell

PARTS: dict[str, tuple[str, ...]] = {
    "text": (
        "kernels.parse",
        "kernels.sections",
        "kernels.text",
        "kernels.fit",
        "kernels.canonical",
        "kernels.known",
        "checker.fast",
    ),
    "solve": ("kernels.solve",),
    "narrow": ("kernels.narrow",),
    "colour": ("kernels.colour",),
    "search": ("kernels.probe", "kernels.search"),
    "wide": ("kernels.wide", "kernels.rounds", "kernels.lanes", "kernels.line"),
    "formula": ("kernels.belief", "kernels.encode", "kernels.plain_cnf"),
    "numcross": ("kinds.numcross.kernels",),
    "strikeout": ("kinds.strikeout.kernels", "kinds.strikeout.checker"),
}
"""Of each part the modules whose kernels are in it: those that Python calls, and function values."""

PART_OF = {module: part for part, modules in PARTS.items() for module in modules}

LIBRARY, BUILD, NUMBA = "library", "build", "numba"
"""How this process gets its machine code: all of it is there; what is missing is made; by Numba, here."""

WISH = "PNONO_KERNELS"
"""The variable of the environment that asks for one of them (`numba` or `library`); else it is found out."""

PACKAGED = PACKAGE / "native"
CPU_FACTS = Path("/proc/cpuinfo")

V3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
"""What Linux calls the instructions of x86-64-v3 beyond those of its first processors that all of these have."""

GOOD_FACTS = 1 << 14
"""Bytes of CPU_FACTS that hold those of the first core."""


def key_of(function: Callable[..., Any]) -> str:
    """The name of a kernel in the library."""
    return f"{function.__module__.removeprefix('parallel_nono.')}.{function.__name__}"


def level_of_processor() -> str:
    """The level that code for this processor is made for: one that many have, or `native-` and a hash of its own."""
    machine = platform.machine()
    if machine in ("aarch64", "arm64"):
        return "aarch64"
    try:
        with open(CPU_FACTS, "rb") as file:
            facts = file.read(GOOD_FACTS).decode("ascii", "replace")
    except OSError:
        facts = ""
    flags = next((line for line in facts.split("\n") if line.startswith("flags")), "")
    if machine == "x86_64" and set(flags.split()) >= V3:
        return "x86-64-v3"
    import hashlib

    return "native-" + hashlib.blake2b((machine + flags).encode(), digest_size=4).hexdigest()


def file_name(part: str, level: str) -> str:
    """What the library, or a part of it, is called; `part` is `all` for one of all parts."""
    return f"{part}-{sources_hash()}-{level}.so"


def sound(path: Path) -> bool:
    """True if a file of the library may be loaded: nobody else can write it, and it is what was written; else why not
    is told, unless it is just not there."""
    try:
        with open(path, "rb") as file:
            facts, data = os.fstat(file.fileno()), file.read()
        folder = path.parent.stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        tell(f"{path}: {error.strerror}: it is not used")
        return False
    if not (is_private(facts) and is_private(folder) and stat.S_ISREG(facts.st_mode)):
        tell(f"{path}: others may write it: it is not used")
        return False
    content = data[:-SEAL_BYTES]
    if not content or data[-SEAL_BYTES:] != seal_of(path.name, content):
        tell(f"{path}: damaged: it is not used")
        return False
    return True


def _load(path: Path, part: str) -> Any:
    """The extension module of a part in a sound file. Errors: ImportError, also when NumPy's arrays are not as it
    expects."""
    name = f"pnono_{part}"
    loader = ExtensionFileLoader(name, str(path))
    spec = ModuleSpec(name, loader, origin=str(path))
    module = loader.create_module(spec)
    loader.exec_module(module)
    array = np.arange(3, dtype=np.int32)
    facts = (array.__array_interface__["data"][0], 1, 3, 4, ord("="), array.dtype.num, array.flags.num)
    if module.probe(array) != facts:
        raise ImportError(f"{path}: not made for NumPy {np.__version__}")
    return module


class Native:
    """The parts that this process has, and those that are being made."""

    def __init__(self) -> None:
        self.modules: dict[str, Any] = {}
        self.level = ""
        self.folder: Path | None = None
        self.mode = self._mode()
        self.builder: Builder | None = None
        self.lock = threading.RLock()

    def _mode(self) -> str:
        wish = os.environ.get(WISH, "")
        if wish not in ("", LIBRARY, NUMBA):
            tell(f"{WISH}={wish}: expected {LIBRARY} or {NUMBA}: it is ignored")
        supported = sys.platform == "linux" and platform.python_implementation() == "CPython" and sys.maxsize > 1 << 32
        if wish == NUMBA or not supported or (hasattr(sys, "_is_gil_enabled") and not sys._is_gil_enabled()):
            return NUMBA
        self.level = level_of_processor()
        packaged = PACKAGED / file_name("all", self.level)
        if sound(packaged):
            return self._load_all(dict.fromkeys(PARTS, packaged))
        if wish == LIBRARY:
            raise ImportError(
                f"{WISH}={LIBRARY}: expected a library for {self.level} in {PACKAGED}, found none that fits"
            )
        self.folder = folder_of("native")
        if self.folder is None:
            return NUMBA
        here = {part: path for part in PARTS if sound(path := self.folder / file_name(part, self.level))}
        mode = self._load_all(here)
        if mode == LIBRARY and len(here) < len(PARTS):
            from .build import linker

            return BUILD if linker() and find_spec("numba") else NUMBA
        return mode

    def _load_all(self, paths: dict[str, Path]) -> str:
        try:
            self.modules = {part: _load(path, part) for part, path in paths.items()}
        except ImportError as error:
            tell(str(error))
            self.modules = {}
            return NUMBA
        return LIBRARY

    def need(self, part: str) -> Any:
        """The module of a part, made if need be. Errors: ImportError if that fails."""
        if part not in self.modules:
            with self.lock:
                if self.builder is None:
                    assert self.folder is not None
                    missing = [each for each in PARTS if each not in self.modules]
                    self.builder = Builder(self.folder, self.level, [part, *(set(missing) - {part})])
                builder = self.builder
            builder.wait(part)
            with self.lock:
                if part not in self.modules:
                    assert self.folder is not None
                    path = self.folder / file_name(part, self.level)
                    if not sound(path):
                        raise ImportError(builder.failed.get(part) or builder.failed.get("") or f"{path} was not made")
                    self.modules[part] = _load(path, part)
        return self.modules[part]


_listeners: list[Callable[[], None]] = []


def when_building(say: Callable[[], None]) -> None:
    """Have `say` called once, when the first part is asked for that has to be made."""
    _listeners.append(say)


class Builder:
    """The process that makes parts; it ends with this one.

    done    parts that are made;  failed  why others are not ("": all of them).
    begun   when the parts at hand were begun, by `time.monotonic()`.
    """

    def __init__(self, folder: Path, level: str, parts: list[str]) -> None:
        from .emit import environment

        self.parts, self.began = parts, time.monotonic()
        self.done: set[str] = set()
        self.failed: dict[str, str] = {}
        self.begun: dict[str, float] = {}
        self._changed = threading.Condition()
        while _listeners:
            _listeners.pop()()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "parallel_nono.kernels.build", str(folder), level, *parts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            text=True,
            start_new_session=True,  # Ctrl-C is ours; it ends when its standard input does
        )
        threading.Thread(target=self._listen, name="pnono-builder", daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            what, part, *rest = line.rstrip("\n").split(" ", 2)
            with self._changed:
                if what == "begun":
                    self.begun[part] = time.monotonic()
                elif what == "done":
                    self.done.add(part)
                    self.begun.pop(part, None)
                elif what == "failed":
                    self.failed[part] = " ".join(rest)
                    self.begun.pop(part, None)
                self._changed.notify_all()
        code = self._process.wait()
        with self._changed:
            if len(self.done) + len(self.failed) < len(self.parts):
                self.failed[""] = f"compiling ended with exit code {code}"
            self._changed.notify_all()

    def wait(self, part: str) -> None:
        """Until the part is made, or can't be."""
        with self._changed:
            if part not in self.done | set(self.begun) and self._process.stdin is not None:
                try:
                    self._process.stdin.write(f"{part}\n")
                    self._process.stdin.flush()
                except OSError:  # it has ended; `failed` says so soon
                    pass
            while part not in self.done and not {part, ""} & set(self.failed):
                self._changed.wait(0.5)

    def describe(self) -> str:
        """`compiling (3 of 9 parts made, 12 s)`, or "" once all is made."""
        left = len(self.parts) - len(self.done) - len(self.failed)
        if left <= 0 or "" in self.failed:
            return ""
        return f"compiling ({len(self.done)} of {len(self.parts)} parts made, {time.monotonic() - self.began:.0f} s)"


class Late:
    """A kernel, or function value, of a part that was not made when it was first named."""

    def __init__(self, function: Callable[..., Any], fall_back: Callable[[], Any]) -> None:
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._key, self._part = key_of(function), PART_OF[function.__module__.removeprefix("parallel_nono.")]
        self._fall_back = fall_back
        self._value: Any = None

    def get(self) -> Any:
        """What the library has for it; made, or compiled by Numba where that fails."""
        if self._value is None:
            try:
                self._value = getattr(native().need(self._part), self._key)
            except ImportError as error:
                tell(f"{error}: Numba compiles in this process")
                self._value = self._fall_back()
        return self._value

    def __call__(self, *arguments: Any) -> Any:
        function = self._value or self.get()
        return function(*[each.get() if type(each) is Late else each for each in arguments])


@cache
def native() -> Native:
    """What this process has of the library."""
    return Native()


def prepare(parts: Iterable[str]) -> None:
    """Have these parts ready, before anybody's time is taken. Numba compiles when it is called, as ever."""
    if native().mode == BUILD:
        for part in parts:
            try:
                native().need(part)
            except ImportError:  # told when it is called
                return
