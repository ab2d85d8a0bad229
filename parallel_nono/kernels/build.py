"""Makes the library: each part in a process of its own, on as many cores as there are.

    python -m parallel_nono.kernels.build FOLDER LEVEL PART...
    python -m parallel_nono.kernels.build FOLDER LEVEL,LEVEL all     one file of all parts for each level

It says what it does, a line each, for whoever waits: `begun PART`, `done PART SECONDS`, `failed PART REASON`. Whoever
waits may write the name of a part, which is made next. When the input ends, so does this process.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from . import emit, ending, kernel_functions
from .cache import seal_of
from .native import LEVELS, PARTS, file_name, key_of, sound
from .signatures import address_type, parameters_of
from .toolchain import environment, link, linker
from .wrap import Export, module_text


class Target(NamedTuple):
    """A level of processor for LLVM: machine, processor, further features, and the processor that code is best for."""

    triple: str
    processor: str
    features: str = ""
    best_for: str = ""


TARGETS = {
    "x86-64-v4-gfni": Target("x86_64-unknown-linux-gnu", "x86-64-v4", "+gfni", "znver4"),
    "x86-64-v3": Target("x86_64-unknown-linux-gnu", "x86-64-v3"),
    "aarch64": Target("aarch64-unknown-linux-gnu", "generic"),
}
"""The levels of native.LEVELS."""

REVERSE = """
declare <16 x i8> @llvm.x86.ssse3.pshuf.b.128(<16 x i8>, <16 x i8>)
declare i64 @llvm.bswap.i64(i64)

define internal i64 @reverse_bits(i64 %word) alwaysinline {{
  %pair = insertelement <2 x i64> zeroinitializer, i64 %word, i32 0
  %bytes = bitcast <2 x i64> %pair to <16 x i8>
  %low = and <16 x i8> %bytes, splat (i8 15)
  %high = lshr <16 x i8> %bytes, splat (i8 4)
  %up = call <16 x i8> @llvm.x86.ssse3.pshuf.b.128(<16 x i8> <{shifted}>, <16 x i8> %low)
  %down = call <16 x i8> @llvm.x86.ssse3.pshuf.b.128(<16 x i8> <{reversed}>, <16 x i8> %high)
  %both = or <16 x i8> %up, %down
  %words = bitcast <16 x i8> %both to <2 x i64>
  %turned = extractelement <2 x i64> %words, i32 0
  %result = call i64 @llvm.bswap.i64(i64 %turned)
  ret i64 %result
}}
"""
"""Bits in reverse where no instruction turns them around: half bytes by a table, then the bytes. Line kernels ask for
it at every block; by LLVM's own way, shifts and masks, coloured lines take half as long again."""

ORDER = (
    "basics",
    "solve",
    "narrow",
    "search",
    "wide",
    "colour",
    "formula",
    "parse",
    "numcross",
    "lines",
    "xml",
    "json",
    "cnf",
    "strikeout",
    "replay",
    "ending",
)
"""What most puzzles need comes first."""


def objects_of(part: str, levels: Sequence[str]) -> list[bytes]:
    """The object file of a part for each level, in a process that emit.prepare has prepared."""
    exports, kernels = [], []
    for module in PARTS[part]:
        import_module(f"parallel_nono.{module}")
    for registered in kernel_functions(PARTS[part]):
        call = registered.call
        parameters = {} if call else parameters_of(registered.function)
        takes = call.takes if call else tuple(parameters.values())
        made = emit.compiled(registered.numba(), tuple(map(address_type, takes)))
        kernels.append(made)
        key = key_of(registered.function)
        exports.append(Export(key, made.symbol, parameters, made.returns, made.returned, call))
    text = emit.together(kernels) + ending.CODE * (part == "ending")
    declared = emit.declared(text, [export.symbol for export in exports])
    text += module_text(part, exports, declared, text)
    return [_object(text, level) for level in levels]


def _object(text: str, level: str) -> bytes:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if level not in TARGETS:  # a processor that has no level is this one
        processor, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        target = Target(llvm.get_process_triple(), processor, features)
    else:
        target = TARGETS[level]
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.processor, features=target.features, opt=3, reloc="pic", codemodel="default"
    )
    text = emit.retargeted(text, target.triple, str(machine.target_data))
    if level == "x86-64-v3":
        text = emit.with_reverse(text, REVERSE)
    return emit.machine_code(text, machine, best_for=target.best_for)


def _say(*words: object) -> None:
    with suppress(OSError):  # whoever waited has gone
        sys.stdout.write(" ".join(map(str, words)) + "\n")
        sys.stdout.flush()


def build(folder: Path, levels: Sequence[str], parts: Sequence[str], whole: bool = False) -> int:
    """Make the parts in FOLDER, `native.file_name` each; how many failed.

    whole   one file of all parts for each level.
    """
    emit.prepare()
    import_module("parallel_nono.kernels.board")  # so that no child does it again

    waiting = sorted(parts, key=ORDER.index)
    running: dict[int, tuple[str, float]] = {}
    failed = 0
    while waiting or running:
        while waiting and len(running) < max(len(os.sched_getaffinity(0)), 1):
            part = next((each for each in reversed(_wanted) if each in waiting), waiting[0])
            waiting.remove(part)
            if not whole and all(sound(folder / file_name(part, level)) for level in levels):
                _say("done", part, "0.00")  # by another process
                continue
            _say("begun", part)
            running[_fork(part, levels, folder, whole)] = part, time.monotonic()
        if not running:
            continue
        pid, status = os.wait()
        part, began = running.pop(pid)
        if status:
            failed += 1
        else:
            _say("done", part, f"{time.monotonic() - began:.2f}")
    if whole and not failed:
        for level in levels:
            _sealed([_object_file(folder, part, level) for part in parts], folder / file_name("all", level), level)
    return failed


def _object_file(folder: Path, part: str, level: str) -> Path:
    return folder / f".{file_name(part, level)}.o"


def _one(part: str, levels: Sequence[str], folder: Path, whole: bool) -> None:
    for level, content in zip(levels, objects_of(part, levels), strict=True):
        path = _object_file(folder, part, level)
        path.write_bytes(content)
        if not whole:
            _sealed([path], folder / file_name(part, level), level)


def _sealed(objects: Sequence[Path], out: Path, level: str) -> None:
    """Link, and put the seal behind it; nobody ever sees half a file."""
    part = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        foreign = LEVELS[level][0] != os.uname().machine if level in LEVELS else False
        link(objects, part, linker("ld.lld") if foreign else linker("ld.lld", "ld"))
        content = part.read_bytes()
        part.write_bytes(content + seal_of(out.name, content))
        part.chmod(0o644)
        part.replace(out)
    finally:
        for path in (part, *objects):
            path.unlink(missing_ok=True)


def _fork(part: str, levels: Sequence[str], folder: Path, whole: bool) -> int:
    """Have a child make a part; its number."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        _one(part, levels, folder, whole)
        status = 0
    except Exception as error:  # told to whoever waits, in a line
        _say("failed", part, f"{type(error).__name__}: {error}".replace("\n", " "))
    finally:
        os._exit(status)


_wanted: list[str] = []
"""Parts that somebody waits for, the last one first."""


def _listen() -> None:
    """Until the input ends: then nobody needs what we do."""
    for line in sys.stdin:
        _wanted.append(line.strip())
    os.killpg(0, signal.SIGKILL)  # with the children; we lead a group of our own


def main() -> None:
    if os.environ.get("PNONO_KERNELS") != "numba":  # Numba reads its settings when it is imported
        command = [sys.executable, "-m", "parallel_nono.kernels.build", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=environment(), check=False).returncode)
    folder, levels, parts = Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    if parts == ["all"]:
        sys.exit(1 if build(folder, levels, list(PARTS), whole=True) else 0)
    if os.getpgrp() == os.getpid():
        threading.Thread(target=_listen, daemon=True).start()
    with open(folder / ".lock", "a") as lock:  # one at a time: the next one finds what this one made
        fcntl.flock(lock, fcntl.LOCK_EX)
        for left in folder.glob(".*-*"):  # by one that was killed
            left.unlink(missing_ok=True)
        failed = build(folder, levels, parts)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
