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
from collections.abc import Callable
from functools import cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .cache import PACKAGE, SEAL_BYTES, folder_of, is_private, seal_of, sources_hash, tell
from .toolchain import environment, linker

PARTS: dict[str, tuple[str, ...]] = {
    "basics": ("kernels.survey", "kernels.canonical", "kernels.text", "checker.fast"),
    "parse": ("kernels.parse",),
    "xml": ("kernels.xml",),
    "json": ("kernels.json",),
    "solve": ("kernels.solve",),
    "narrow": ("kernels.narrow",),
    "colour": ("kernels.colour",),
    "search": ("kernels.probe", "kernels.search"),
    "wide": ("kernels.wide",),
    "lines": ("kernels.rounds", "kernels.lanes", "kernels.line"),
    "formula": ("kernels.belief", "kernels.encode", "kernels.known"),
    "cnf": ("kernels.plain_cnf",),
    "numcross": ("kinds.numcross.kernels",),
    "strikeout": ("kinds.strikeout.kernels", "kinds.strikeout.checker"),
    "replay": ("kernels.replay",),
    "ending": (),
}
"""Of each part the modules whose kernels are in it: those that Python calls, and function values."""

PART_OF = {module: part for part, modules in PARTS.items() for module in modules}

LIBRARY, BUILD, NUMBA = "library", "build", "numba"
"""How this process gets its machine code: all of it is there; what is missing is made; by Numba, here."""

WISH = "PNONO_KERNELS"
"""The variable of the environment that asks for one of them (`numba` or `library`); else it is found out."""

PACKAGED = PACKAGE / "native"
CPU_FACTS = Path("/proc/cpuinfo")

V3 = frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"})
"""What Linux calls the instructions of x86-64-v3 beyond those of its first processors that all of these have."""

V4_GFNI = V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "gfni"}
"""Those of x86-64-v4, and the one that turns bits around: since 2019 (Ice Lake) and 2022 (Zen 4)."""

LEVELS = {
    "x86-64-v4-gfni": ("x86_64", V4_GFNI),
    "x86-64-v3": ("x86_64", V3),
    "aarch64": ("aarch64", frozenset()),
}
"""The levels of processor that the library is made for: machine and instructions; the best of each machine first."""

GOOD_FACTS = 1 << 14
"""Bytes of CPU_FACTS that hold those of the first core."""


def key_of(function: Callable[..., Any]) -> str:
    """The name of a kernel in the library."""
    return f"{function.__module__.removeprefix('parallel_nono.')}.{function.__name__}"


def levels_of_processor() -> list[str]:
    """The levels whose code this processor runs, the best one first; or, where it has none, `native-` and a hash of
    its own: what is made for it is for no other."""
    machine = platform.machine()
    try:
        with open(CPU_FACTS, "rb") as file:
            facts = file.read(GOOD_FACTS).decode("ascii", "replace")
    except OSError:
        facts = ""
    flags = next((line for line in facts.split("\n") if line.startswith("flags")), "")
    has = set(flags.split())
    if found := [level for level, (kind, needs) in LEVELS.items() if kind == machine and needs <= has]:
        return found
    import hashlib

    return ["native-" + hashlib.blake2b((machine + flags).encode(), digest_size=4).hexdigest()]


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


class NoMachineCode(ImportError):
    """There is no library, and none may be made. The message says so."""


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
        levels = levels_of_processor()
        for level in levels:
            packaged = PACKAGED / file_name("all", level)
            if sound(packaged) and self._load_all(dict.fromkeys(PARTS, packaged)):
                self.level = level
                return LIBRARY
        self.level, self.folder = levels[0], folder_of("native")
        if self.folder is not None:
            here = {part: path for part in PARTS if sound(path := self.folder / file_name(part, self.level))}
            if self._load_all(here) and len(here) == len(PARTS):
                return LIBRARY
        if wish == LIBRARY:
            found = f"{WISH}={LIBRARY}: expected a library for {' or '.join(levels)}, found none that fits"
            raise NoMachineCode(found)
        return BUILD if self.folder and linker("ld.lld", "ld") and find_spec("numba") else NUMBA

    def _load_all(self, paths: dict[str, Path]) -> bool:
        try:
            self.modules = {part: _load(path, part) for part, path in paths.items()}
        except ImportError as error:
            tell(str(error))
            self.modules = {}
            return False
        return True

    def need(self, part: str) -> Any:
        """The module of a part, made if need be. Errors: ImportError if that fails."""
        if part not in self.modules:
            while _listeners:
                _listeners.pop()()
            waits.begin()
            try:
                self._make(part)
            finally:
                waits.end()
        return self.modules[part]

    def begin(self) -> Builder:
        """The process that makes all that is missing."""
        with self.lock:
            if self.builder is None:
                assert self.folder is not None
                missing = [each for each in PARTS if each not in self.modules]
                self.builder = Builder(self.folder, self.level, missing)
            return self.builder

    def _make(self, part: str) -> None:
        assert self.folder is not None
        path = self.folder / file_name(part, self.level)
        builder = self.begin()
        builder.wait(part)
        with self.lock:
            if part in self.modules:
                return
            if not sound(path):
                raise ImportError(f"{builder.why_not(part) or f'{path} was not made'}")
            self.modules[part] = _load(path, part)


class Waits:
    """How long the threads of this process have waited for parts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began: dict[int, float] = {}
        self._ended = 0.0

    def begin(self) -> None:
        """This thread waits."""
        with self._lock:
            self._began[threading.get_ident()] = time.monotonic()

    def end(self) -> None:
        """It goes on."""
        with self._lock:
            self._ended += time.monotonic() - self._began.pop(threading.get_ident())

    @property
    def seconds(self) -> float:
        """Of all threads together."""
        with self._lock:
            now = time.monotonic()
            return self._ended + sum(now - began for began in self._began.values())

    @property
    def now(self) -> bool:
        """Some thread waits."""
        return bool(self._began)


waits = Waits()


def compiling() -> str:
    """What is being compiled, while some thread waits for it; else ""."""
    builder = loaded().builder
    return builder.describe() if builder is not None and waits.now else ""


_listeners: list[Callable[[], None]] = []


def when_building(say: Callable[[], None]) -> None:
    """Have `say` called once, when a part is asked for next that has to be made."""
    if loaded().mode == BUILD and len(loaded().modules) < len(PARTS):
        _listeners.append(say)


class Builder:
    """The process that makes parts; it ends with this one.

    done    parts that are made;  failed  why others are not ("": all of them).
    begun   when the parts at hand were begun, by `time.monotonic()`.
    """

    def __init__(self, folder: Path, level: str, parts: list[str]) -> None:
        self.parts, self.began = parts, time.monotonic()
        self.done: set[str] = set()
        self.failed: dict[str, str] = {}
        self.begun: dict[str, float] = {}
        self._changed = threading.Condition()
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
            if part not in self.done | set(self.begun) | set(self.failed) and self._process.stdin is not None:
                try:
                    self._process.stdin.write(f"{part}\n")
                    self._process.stdin.flush()
                except OSError:  # it has ended; `failed` says so soon
                    pass
            while part not in self.done and not {part, ""} & set(self.failed):
                self._changed.wait(0.5)

    def why_not(self, part: str) -> str:
        """Why a part could not be made."""
        return self.failed.get(part) or self.failed.get("", "")

    @property
    def n_ready(self) -> int:
        """Parts that this process can have."""
        return len(PARTS) - len(self.parts) + len(self.done)

    @property
    def ended(self) -> bool:
        """There is nothing more to come."""
        return len(self.done) + len(self.failed) >= len(self.parts) or "" in self.failed

    @property
    def now(self) -> str:
        """`compiling wide and formula`."""
        with self._changed:
            return f"compiling {' and '.join(self.begun) or 'the solver'}"

    def describe(self) -> str:
        """`compiling wide and formula (5 of 14 parts are ready, 12 s)`."""
        seconds = time.monotonic() - self.began
        return f"{self.now} ({self.n_ready} of {len(PARTS)} parts are ready, {seconds:.0f} s)"


class Late:
    """A kernel, or function value, of a part that was not made when it was first named.

    Where some part can't be made, Numba compiles all that is asked for from then on: its function values and those of
    the library do not go together.
    """

    broken = False

    def __init__(self, function: Callable[..., Any], by_numba: Callable[[], Any]) -> None:
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._key, self._part = key_of(function), PART_OF[function.__module__.removeprefix("parallel_nono.")]
        self._by_numba = by_numba
        self._value: Any = None

    def get(self) -> Any:
        """What the library has for it; made, or compiled by Numba where that fails."""
        if self._value is None and not Late.broken:
            try:
                self._value = getattr(loaded().need(self._part), self._key)
            except ImportError as error:
                tell(f"{error}: Numba compiles in this process")
                Late.broken = True
        return self._by_numba() if Late.broken else self._value

    def is_made(self) -> bool:
        """True if it is had without waiting for whoever makes parts."""
        native = loaded()
        return self._part in native.modules or (native.builder is not None and self._part in native.builder.done)

    def __call__(self, *arguments: Any) -> Any:
        return self.get()(*[each.get() if type(each) is Late else each for each in arguments])


@cache
def loaded() -> Native:
    """What this process has of the library."""
    return Native()


def prepare(*parts: str) -> None:
    """Have these parts ready, before anybody's time is taken. Numba compiles when it is called, as ever."""
    if loaded().mode == BUILD:
        for part in parts:
            try:
                loaded().need(part)
            except ImportError:  # told when it is called
                return
