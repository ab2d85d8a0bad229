"""What turns translated kernels into files, outside of this process: settings, and LLVM's linker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

NEUTRAL = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_OPT": "0",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",
    "PYTHONHASHSEED": "0",
    "PNONO_KERNELS": "numba",
}
"""The environment of a process that translates: to code of no processor in particular, the same in every process."""

INSTALL = "install LLVM's linker (Debian and Ubuntu: `apt install lld`) or the Python package `ziglang`, which has it"


class NoTool(RuntimeError):
    """Something can't be made here. The message says what is missing, or what the tool said."""


def environment() -> dict[str, str]:
    """This process's, with those settings and none of Numba's besides."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | NEUTRAL


def linker(kind: str, *others: str) -> list[str]:
    """The command of a linker, or nothing where there is none.

    kind    `ld.lld` for shared libraries or `wasm-ld`: LLVM's.
    others  what does as well, if it is here.
    """
    names = [kind, *(f"{kind}-{version}" for version in range(30, 12, -1)), *others]
    if found := next(filter(None, map(shutil.which, names)), None):
        return [found]
    return [sys.executable, "-P", "-m", "ziglang", kind] if find_spec("ziglang") else []


def run(command: Sequence[str], what: str, environment: dict[str, str] | None = None) -> None:
    """Run a program. Errors: NoTool with the last line that it says."""
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if ended.returncode:
        said = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip()] or ["nothing said"]
        raise NoTool(f"{what} failed (exit code {ended.returncode}): {said[-1].strip()}")


def link(objects: Sequence[Path], out: Path, linker: Sequence[str]) -> None:
    """One shared library of object files. Errors: NoTool."""
    if not linker:
        raise NoTool(f"no linker is here: {INSTALL}")
    options = ["-shared", "--strip-all", "--gc-sections", "-z", "noexecstack", "-z", "relro", "-z", "now"]
    run([*linker, *options, "-o", str(out), *map(str, objects)], "linking")
