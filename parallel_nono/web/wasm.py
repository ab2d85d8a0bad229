"""The kernels as one WebAssembly module: the LLVM code that Numba makes of them, for another machine.

`kernels.browser` and all that it calls are translated as for the library (kernels.emit), retargeted to wasm32,
optimised there by LLVM and linked by LLVM's `wasm-ld`. The module imports nothing: its clock, which kernels ask whether
they are late, always shows 0, and whoever calls it decides how long to go on.

Retargeting happens in a process of its own (this file as a program): Numba must be told before its import that
the code is not for this processor, and LLVM ends a process in which it meets what it can't translate.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from ..extras import needed
from ..kernels import emit
from ..kernels.cache import folder_of
from ..kernels.toolchain import INSTALL, NoTool, environment, linker, run
from ..kernels.workspace import EXPORTS

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+mutable-globals,+sign-ext,+simd128"
"""What every browser has since 2023."""

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
  %turned = shufflevector <16 x i8> %both, <16 x i8> %both, <16 x i32> <
    i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0,
    i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8>
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


def kept() -> Path | None:
    """Where the module of the present kernels is kept; None where nothing can be."""
    folder = folder_of("native")
    recipe = hashlib.blake2b(Path(__file__).read_bytes(), digest_size=8).hexdigest()
    return None if folder is None else folder / f"solver-{recipe}.wasm"


def module(fresh: bool = False) -> bytes:
    """The solver as a WebAssembly module; made once for each state of the kernels, which takes about half a minute.

    fresh   make it anew and keep nothing.
    Errors  NoTool; MissingExtra.
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
    link = linker("wasm-ld")
    if not link:
        raise NoTool(f"no linker for WebAssembly is here: {INSTALL}")
    needed("numba")
    with tempfile.TemporaryDirectory(prefix="pnono-wasm-") as folder:
        objects, out = Path(folder, "solver.o"), Path(folder, "solver.wasm")
        run([sys.executable, "-P", "-m", __name__, str(objects)], "compiling for WebAssembly", environment())
        exports = [f"--export={name}" for name in (*EXPORTS, "__heap_base")]
        options = ["--no-entry", "--strip-all", "--stack-first", "-z", "stack-size=65536"]
        run([*link, *options, *exports, str(objects), "-o", str(out)], "linking for WebAssembly")
        return out.read_bytes()


def _object() -> bytes:
    """The object file for the linker."""
    import llvmlite.binding as llvm
    from numba import types

    emit.prepare()
    from ..kernels import browser

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        opt=3, reloc="static", codemodel="default", features=FEATURES
    )
    kernels = [emit.compiled(getattr(browser, name), (types.int32,)) for name in EXPORTS]
    text = emit.retargeted(emit.together(kernels), TRIPLE, str(machine.target_data))
    text = re.sub(r"^declare i32 @clock_gettime\(.*$", lambda _: CLOCK, text, flags=re.MULTILINE)
    text = emit.with_reverse(text, REVERSE)
    exports = [EXPORT.format(name=name, symbol=kernel.symbol) for name, kernel in zip(EXPORTS, kernels, strict=True)]
    text = "".join([text, *exports, "declare void @llvm.trap()\n"])
    return emit.machine_code(text, machine, loops=False)  # unrolled and in vectors they are larger, not faster


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(_object())
