"""Makes the library: each part in a process of its own, on as many cores as there are.

    python -m parallel_nono.kernels.build FOLDER LEVEL PART...

It says what it does, a line each, for whoever waits: `begun PART`, `done PART SECONDS`, `failed PART REASON`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from . import emit

TRIPLES = {"x86-64-v3": ("x86_64-unknown-linux-gnu", "x86-64-v3"), "aarch64": ("aarch64-unknown-linux-gnu", "generic")}
"""Of each level that a library is made for: LLVM's names of the machine and its processor."""

SLOWEST_FIRST = ("wide", "narrow", "colour", "numcross", "search", "formula", "text", "strikeout", "solve")
"""So that all cores end at about the same time."""

INSTALL = "install binutils or LLVM's linker (Debian and Ubuntu: `apt install lld`), or the Python package `ziglang`"


class NotBuilt(RuntimeError):
    """A part can't be made here. The message says why."""


def linker(level: str = "") -> list[str]:
    """The command of a linker for shared libraries, or nothing where there is none.

    level  another machine's; "": of this one.
    """
    foreign = level == "aarch64" and os.uname().machine != "aarch64"
    names = ["ld.lld", *(f"ld.lld-{version}" for version in range(30, 12, -1))]
    found = next(filter(None, map(shutil.which, names)), None) or (None if foreign else shutil.which("ld"))
    if found:
        return [found]
    if find_spec("ziglang"):
        return [sys.executable, "-P", "-m", "ziglang", "ld.lld"]
    return []


def link(objects: Sequence[Path], out: Path, level: str) -> None:
    """One shared library of object files. Errors: NotBuilt."""
    command = linker(level)
    if not command:
        raise NotBuilt(f"no linker is here: {INSTALL}")
    options = ["-shared", "--strip-all", "--gc-sections", "-z", "noexecstack", "-z", "relro", "-z", "now"]
    ended = subprocess.run(
        [*command, *options, "-o", str(out), *map(str, objects)], capture_output=True, text=True, errors="replace"
    )
    if ended.returncode:
        said = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip()] or ["nothing said"]
        raise NotBuilt(f"linking failed (exit code {ended.returncode}): {said[-1].strip()}")


def object_of(part: str, level: str) -> bytes:
    """The object file of a part, in a process that emit.prepare has prepared."""
    import llvmlite.binding as llvm

    from . import kernel_functions
    from .native import PARTS, key_of
    from .signatures import address_type, parameters_of
    from .wrap import Export, module_text

    exports, kernels = [], []
    for module in PARTS[part]:
        import_module(f"parallel_nono.{module}")
    for registered in kernel_functions(PARTS[part]):
        parameters = parameters_of(registered.function) if registered.call is None else None
        takes = registered.call.takes if parameters is None else tuple(parameters.values())
        made = emit.compiled(registered.made, tuple(map(address_type, takes)))
        kernels.append(made)
        exports.append(
            Export(
                key_of(registered.function), made.symbol, parameters or {}, made.returns, made.returned, registered.call
            )
        )
    text = emit.together(kernels)
    declared = emit.declared(text, [export.symbol for export in exports])
    text += module_text(part, exports, declared, text)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if level in TRIPLES:
        triple, processor = TRIPLES[level]
        machine = llvm.Target.from_triple(triple).create_target_machine(
            cpu=processor, opt=3, reloc="pic", codemodel="default"
        )
        text = retargeted(text, triple, str(machine.target_data))
    else:
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=3,
            reloc="pic",
            codemodel="default",
        )
    return emit.machine_code(text, machine)


def retargeted(text: str, triple: str, layout: str) -> str:
    """A module's text for another machine of as many bits."""
    lines = [
        f'target triple = "{triple}"'
        if line.startswith("target triple")
        else f'target datalayout = "{layout}"'
        if line.startswith("target datalayout")
        else line
        for line in text.split("\n")
    ]
    return "\n".join(lines)


def _say(*words: object) -> None:
    print(*words, flush=True)


def build(folder: Path, level: str, parts: Sequence[str], whole: Path | None = None) -> int:
    """Make the parts in FOLDER, `native.file_name` each, or all of them in one file; how many failed.

    whole   that file.
    """
    emit.prepare()
    import_module("parallel_nono.kernels.board")  # so that no child does it again

    waiting = sorted(parts, key=lambda part: SLOWEST_FIRST.index(part) if part in SLOWEST_FIRST else 0)
    running: dict[int, tuple[str, float]] = {}
    failed = 0
    objects = {part: folder / f".{part}-{os.getpid()}.o" for part in parts}
    try:
        while waiting or running:
            while waiting and len(running) < max(len(os.sched_getaffinity(0)), 1):
                part = waiting.pop(0)
                _say("begun", part)
                running[_fork(part, level, objects[part], None if whole else folder)] = part, time.monotonic()
            pid, status = os.wait()
            part, began = running.pop(pid)
            if status:
                failed += 1
            else:
                _say("done", part, f"{time.monotonic() - began:.2f}")
        if whole and not failed:
            _sealed(list(objects.values()), whole, level)
    finally:
        for path in objects.values():
            path.unlink(missing_ok=True)
    return failed


def _one(part: str, level: str, path: Path, folder: Path | None) -> None:
    from .native import file_name

    path.write_bytes(object_of(part, level))
    if folder:
        _sealed([path], folder / file_name(part, level), level)


def _sealed(objects: Sequence[Path], out: Path, level: str) -> None:
    """Link, and put the seal behind it; nobody ever sees half a file."""
    from .cache import seal_of

    part = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        link(objects, part, level)
        content = part.read_bytes()
        part.write_bytes(content + seal_of(out.name, content))
        part.chmod(0o644)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)


def _fork(part: str, level: str, path: Path, folder: Path | None) -> int:
    """Have a child make a part; its number."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        _one(part, level, path, folder)
        status = 0
    except Exception as error:  # told to whoever waits, in a line
        _say("failed", part, f"{type(error).__name__}: {error}".replace("\n", " "))
    finally:
        os._exit(status)


def main() -> None:
    folder, level, *parts = sys.argv[1:]
    sys.exit(1 if build(Path(folder), level, parts) else 0)


if __name__ == "__main__":
    main()
