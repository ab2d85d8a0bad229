"""Keep Ray's library from ending our process.

When the raylet goes away, also while a driver registers with it, the library prints a line and calls `_Exit(1)`: no
handler runs, no sentence is said, and 1 means something else here. It calls it through its table of addresses of other
libraries' functions (an ELF object's global offset table), and there we write ours instead. Ours is compiled, as the
thread that waits for Ray may hold Python's lock: it wakes a thread of Python and, if that answers, never returns, so
that the thread that wanted to end everything is itself at an end. If Python can't answer, nothing can go on: then it
says why and ends the process with the exit code for an engine that can't work. Where the table can't be read (not
Linux, another processor) all stays as Ray has it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from collections.abc import Callable
from threading import Lock, Thread
from typing import Any

import numpy as np

from ..kernels.ending import ANSWER, BYTES, OWNER, TEXT, WAKE, ending

ENDINGS = (b"_Exit", b"exit", b"quick_exit")
"""Functions of the C library that end a process."""

STRINGS, SYMBOLS, PLT_BYTES, PLT_RELOCATIONS = 5, 6, 2, 23
"""Tags of an ELF object's dynamic section: DT_STRTAB, DT_SYMTAB, DT_PLTRELSZ, DT_JMPREL."""

LINK_MAP = 2
"""RTLD_DI_LINKMAP: what `dlinfo` is asked for."""

READ_WRITE = 3
MACHINES = ("x86_64", "aarch64")
"""Where glibc keeps absolute addresses in the dynamic section, and Ray has packages."""

SENTENCE = b"pnono: Ray's process on this machine ended while it took us in; what was done is kept for --resume\n"


class _LinkMap(ctypes.Structure):
    """The beginning of glibc's `struct link_map`."""

    _fields_ = (("base", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dynamic", ctypes.c_size_t))


_kept: list[Any] = []
"""What the table points to must stay."""

_once = Lock()

_tell: list[Callable[[], None]] = []


def when_ending(tell: Callable[[], None]) -> None:
    """Have `tell` called, by any thread, when Ray's library wants to end this process; instead of the one before."""
    _tell[:] = [tell]


def divert(library: str) -> bool:
    """Have the loaded library call ours instead of ENDINGS. False if there is nothing to divert; once is enough."""
    with _once:
        return bool(_kept) or _diverted(library)


def _diverted(library: str) -> bool:
    if sys.platform != "linux" or platform.machine() not in MACHINES:
        return False
    places = [place for name, place in _calls(library) if name in ENDINGS]
    if not places:
        return False
    woken, answered = os.pipe(), os.pipe()
    os.set_blocking(answered[0], False)
    try:
        address, state = ending()
    except ImportError:
        return False
    text = ctypes.create_string_buffer(SENTENCE, len(SENTENCE))
    _kept.append(text)
    state[WAKE], state[ANSWER], state[OWNER] = woken[1], answered[0], os.getpid()
    state[TEXT], state[BYTES] = ctypes.addressof(text), len(SENTENCE)
    Thread(target=_answer, args=(woken[0], answered[1]), name="ray_ending", daemon=True).start()
    system = ctypes.CDLL(None)
    for place in places:
        page = place & -mmap.PAGESIZE
        if system.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), READ_WRITE) == 0:
            ctypes.c_size_t.from_address(place).value = address
    return True


def _answer(woken: int, answered: int) -> None:
    while os.read(woken, 1):
        os.write(answered, SENTENCE[:1])  # it is read to where the sentence begins
        for tell in _tell:
            tell()


def _calls(library: str) -> list[tuple[bytes, int]]:
    """(name, where its address stands) of the functions that a loaded library calls in others."""
    loaded, link = ctypes.CDLL(library), ctypes.POINTER(_LinkMap)()
    if ctypes.CDLL(None).dlinfo(ctypes.c_void_p(loaded._handle), LINK_MAP, ctypes.byref(link)) != 0:
        return []
    base, tags, place = link.contents.base, {}, link.contents.dynamic
    while tag := ctypes.c_int64.from_address(place).value:
        tags[tag] = ctypes.c_size_t.from_address(place + 8).value
        place += 16
    if not {STRINGS, SYMBOLS, PLT_BYTES, PLT_RELOCATIONS} <= tags.keys():
        return []
    table = ctypes.string_at(tags[PLT_RELOCATIONS], tags[PLT_BYTES])
    relocations = np.frombuffer(table, np.uint64).reshape(-1, 3)
    found = []
    for offset, info, _ in relocations.tolist():
        symbol = tags[SYMBOLS] + 24 * (info >> 32)
        if ctypes.c_size_t.from_address(symbol + 8).value == 0:  # defined elsewhere
            name = ctypes.string_at(tags[STRINGS] + ctypes.c_uint32.from_address(symbol).value)
            found.append((name, base + offset))
    return found
