"""The kernels as one WebAssembly module: the LLVM code that Numba makes of them, for another machine.

`kernels.browser` and all that it calls are compiled without Numba's own optimisation and without wrappers for Python,
put together, retargeted to wasm32, optimised there by LLVM and linked by LLVM's `wasm-ld`. The module imports nothing:
its clock, which kernels ask whether they are late, always shows 0, and whoever calls it decides how long to go on.

Retargeting happens in a process of its own (this file as a program): Numba must be told before its import that
the code is not for this processor, and LLVM ends a process in which it meets what it can't translate.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+mutable-globals,+sign-ext,+simd128"
"""What every browser has since 2023."""

INSTALL = "install LLVM's linker (Debian and Ubuntu: `apt install lld`) or the Python package `ziglang`, which has it"

NEUTRAL = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_OPT": "0",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "PYTHONHASHSEED": "0",
}
"""Numba makes plain code of no processor in particular, the same in every process."""

CLOCK = """
define internal i32 @clock_gettime(i32 %clock, ptr %time) {
  store i64 0, ptr %time
  %rest = getelementptr i8, ptr %time, i32 8
  store i64 0, ptr %rest
  ret i32 0
}
"""

REVERSE = """
declare <16 x i8> @llvm.wasm.swizzle(<16 x i8>, <16 x i8>)

define internal i64 @reverse_bits(i64 %word) alwaysinline {{
  %pair = insertelement <2 x i64> zeroinitializer, i64 %word, i32 0
  %bytes = bitcast <2 x i64> %pair to <16 x i8>
  %low = and <16 x i8> %bytes, splat (i8 15)
  %high = lshr <16 x i8> %bytes, splat (i8 4)
  %up = call <16 x i8> @llvm.wasm.swizzle(<16 x i8> <{shifted}>, <16 x i8> %low)
  %down = call <16 x i8> @llvm.wasm.swizzle(<16 x i8> <{reversed}>, <16 x i8> %high)
  %both = or <16 x i8> %up, %down
  %turned = shufflevector <16 x i8> %both, <16 x i8> %both, <16 x i32> <{order}>
  %words = bitcast <16 x i8> %turned to <2 x i64>
  %result = extractelement <2 x i64> %words, i32 0
  ret i64 %result
}}
"""
"""Bits in reverse, which WebAssembly has no instruction for: half bytes by a table, then the bytes. Line kernels ask
for it at every block; by LLVM's own way searches take 15 % longer and the module is a sixth larger."""

EXPORT = """
define void @{name}(i32 %workspace) {{
  %result = alloca i64
  %error = alloca ptr
  %status = call i32 @"{symbol}"(ptr %result, ptr %error, i32 %workspace)
  %failed = icmp ne i32 %status, 0
  br i1 %failed, label %fail, label %fine
fail:
  call void @llvm.trap()
  unreachable
fine:
  ret void
}}
"""


class NoModule(RuntimeError):
    """The module can't be made here. The message says what is missing, or what the tool said."""


def linker() -> list[str]:
    """The command of a linker for WebAssembly. Errors: NoModule that says how to get one."""
    names = ["wasm-ld", *(f"wasm-ld-{version}" for version in range(30, 12, -1))]
    found = next(filter(None, map(shutil.which, names)), None)
    if found:
        return [found]
    if find_spec("ziglang"):
        return [sys.executable, "-P", "-m", "ziglang", "wasm-ld"]
    raise NoModule(f"no linker for WebAssembly is here: {INSTALL}")


def kept() -> Path | None:
    """Where the module of the present kernels is kept; None where nothing can be."""
    from ..kernels.cache import CACHE_FOLDER

    recipe = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=8).hexdigest()
    return None if CACHE_FOLDER is None else CACHE_FOLDER / f"solver-{recipe}.wasm"


def module(fresh: bool = False) -> bytes:
    """The solver as a WebAssembly module; made once for each state of the kernels, which takes about half a minute.

    fresh   make it anew and keep nothing.
    Errors  NoModule.
    """
    place = None if fresh else kept()
    if place and place.exists():
        return place.read_bytes()
    made = _make()
    if place:
        part = place.with_suffix(f".{os.getpid()}")
        with suppress(OSError):  # then the next one makes it again
            part.write_bytes(made)
            part.replace(place)
    return made


def _make() -> bytes:
    from ..kernels.workspace import EXPORTS

    link = linker()
    with tempfile.TemporaryDirectory(prefix="pnono-wasm-") as folder:
        objects, out = Path(folder, "solver.o"), Path(folder, "solver.wasm")
        _tool([sys.executable, "-P", "-m", __name__, str(objects)], "compiling for WebAssembly", os.environ | NEUTRAL)
        exports = [f"--export={name}" for name in (*EXPORTS, "__heap_base")]
        options = ["--no-entry", "--strip-all", "--stack-first", "-z", "stack-size=65536"]
        _tool([*link, *options, *exports, str(objects), "-o", str(out)], "linking for WebAssembly", dict(os.environ))
        return out.read_bytes()


def _tool(command: list[str], what: str, environment: dict[str, str]) -> None:
    """Run a program. Errors: NoModule with the last line that it says."""
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    if ended.returncode:
        said = [line for line in (ended.stderr or ended.stdout).splitlines() if line.strip()] or ["nothing said"]
        raise NoModule(f"{what} failed (exit code {ended.returncode}): {said[-1].strip()}")


def _compiled() -> Iterator[tuple[str, str, str]]:
    """(name, LLVM symbol, LLVM code with all that it calls) of each export of kernels.browser."""
    from .. import kernels

    kernels.OPTIONS |= {"cache": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    kernels.function_value = lambda signature: kernels.kernel  # called by name, not by address

    from numba import types

    from ..kernels import browser
    from ..kernels.workspace import EXPORTS

    arguments = (types.int32,)
    for name in EXPORTS:
        dispatcher: Any = getattr(browser, name)
        dispatcher.compile(arguments)
        compiled = dispatcher.overloads[arguments]
        yield name, compiled.fndesc.llvm_func_name, compiled.library.get_llvm_str()


def _reverse() -> str:
    """The text of REVERSE with its tables."""
    halves = [int(f"{half:04b}"[::-1], 2) for half in range(16)]
    return REVERSE.format(
        shifted=", ".join(f"i8 {half << 4}" for half in halves),
        reversed=", ".join(f"i8 {half}" for half in halves),
        order=", ".join(f"i32 {place ^ 7}" for place in range(16)),
    )


def _together(parts: list[tuple[str, str, str]], layout: str) -> str:
    """One module of all parts, for wasm32: internal but for the exports, with its own clock."""
    import llvmlite.binding as llvm

    whole: Any = None
    for _, _, code in parts:
        parsed = llvm.parse_assembly(code)
        if whole is None:
            whole = parsed
        else:
            whole.link_in(parsed)
    text = str(whole)
    for pattern, replacement in (
        (r"^target datalayout = .*$", f'target datalayout = "{layout}"'),
        (r"^target triple = .*$", f'target triple = "{TRIPLE}"'),
        (r"^define (?:linkonce_odr )?", "define internal "),
        (r"= common global", "= internal global"),
        (r"^declare i32 @clock_gettime\(.*$", CLOCK),
        (r"^declare i64 @llvm\.bitreverse\.i64\(.*$", _reverse()),
        (r"@llvm\.bitreverse\.i64", "@reverse_bits"),
    ):
        text = re.sub(pattern, lambda _, new=replacement: new, text, flags=re.MULTILINE)  # type: ignore[misc]
    exports = [EXPORT.format(name=name, symbol=symbol) for name, symbol, _ in parts]
    return "".join([text, *exports, "declare void @llvm.trap()\n"])


def _object() -> bytes:
    """The object file for the linker."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    parts = list(_compiled())
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        opt=3, reloc="static", codemodel="default", features=FEATURES
    )
    whole = llvm.parse_assembly(_together(parts, str(machine.target_data)))
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False  # larger, not faster
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(whole, builder)
    return bytes(machine.emit_object(whole))


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(_object())
