"""Kernels as LLVM code, put together, and from there machine code for a processor: what web.wasm and build share.

Numba translates; it neither optimises nor links nor loads anything here. LLVM optimises the whole once, where
everything but what is asked for from outside is internal.
"""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

NEUTRAL = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_OPT": "0",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "NUMBA_DISABLE_JIT": "0",
    "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",
    "PYTHONHASHSEED": "0",
    "PNONO_KERNELS": "numba",
}
"""The environment of a process that makes code: of no processor in particular, the same in every process."""


class Compiled(NamedTuple):
    """A kernel for given arguments: its name for LLVM, Numba's types of what it returns and takes, how LLVM writes the
    returned one down, and the code: of itself and of all that it calls, a text each."""

    symbol: str
    returns: Any
    returned: str
    modules: list[str]


def prepare() -> None:
    """Have this process translate only. It ends soon, so it never looks for garbage."""
    gc.disable()
    from numba.core import codegen
    from numba.core.registry import cpu_target

    from .. import kernels

    class Library(codegen.JITCodeLibrary):
        """The code of one kernel, which nobody runs here."""

        def finalize(self) -> None:
            self._raise_if_finalized()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        def _optimize_functions(self, ll_module: Any) -> None:
            ll_module.data_layout = self._codegen._data_layout

    generator = cpu_target.target_context.codegen()
    generator._library_class = Library
    generator.set_env = lambda name, environment: None
    # Without these a function value is a kernel like others, called by name or address as kernels call each other.
    kernels.OPTIONS |= {"cache": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def compiled(dispatcher: Any, arguments: tuple[Any, ...]) -> Compiled:
    """Translate a kernel for arguments of these types (Numba's)."""
    from numba import types
    from numba.core.registry import cpu_target

    dispatcher.compile(arguments)
    found = dispatcher.overloads[arguments]
    returns = types.unliteral(found.signature.return_type)
    waiting, seen = [found.library], [found.library]
    while waiting:
        new = [each for each in waiting.pop()._linking_libraries if each not in seen]
        seen += new
        waiting += new
    returned = str(cpu_target.target_context.get_data_type(returns)) if returns != types.none else "ptr"
    return Compiled(found.fndesc.llvm_func_name, returns, returned, [str(each._final_module) for each in seen])


def together(kernels: Sequence[Compiled], replaced: Sequence[tuple[str, str]] = ()) -> str:
    """One module of them all, in which everything is internal.

    replaced  (pattern, text) of whole lines that are other ones on the machine that the code is for.
    """
    import llvmlite.binding as llvm

    whole: Any = None
    for code in dict.fromkeys(code for kernel in kernels for code in kernel.modules):
        parsed = llvm.parse_assembly(code)
        if whole is None:
            whole = parsed
        else:
            whole.link_in(parsed)
    text = str(whole)
    for pattern, replacement in (
        *replaced,
        (r"^define (?:linkonce_odr )?", "define internal "),
        (r"= common global", "= internal global"),
    ):
        text = re.sub(pattern, lambda _, new=replacement: new, text, flags=re.MULTILINE)  # type: ignore[misc]
    return text


def declared(text: str, symbols: Sequence[str]) -> dict[str, list[str]]:
    """How LLVM writes down the types of the arguments of each of these functions."""
    import llvmlite.binding as llvm

    whole = llvm.parse_assembly(text)
    return {symbol: [str(each.type) for each in whole.get_function(symbol).arguments] for symbol in symbols}


OUTSIDE = re.compile(r"llvm\.|Py|_Py_|clock_gettime$|mem(set|cpy|move|cmp)$|strlen$")
"""What code may ask of others: LLVM, Python, and the smallest part of C's library, which every process has."""


def machine_code(text: str, machine: Any, loops: bool = True) -> bytes:
    """The object file of a module for a machine of LLVM's (TargetMachine), optimised.

    loops   unroll them, and turn them and straight code into vector instructions.
    Errors  RuntimeError if it asks for a function that nobody has.
    """
    import llvmlite.binding as llvm

    whole = llvm.parse_assembly(text)
    whole.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    if not loops:
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(whole, builder)
    if unknown := [each.name for each in whole.functions if each.is_declaration and not OUTSIDE.match(each.name)]:
        raise RuntimeError(f"code asks for {', '.join(unknown)}")
    return bytes(machine.emit_object(whole))


def environment() -> dict[str, str]:
    """Of a process that translates: this one's, without Numba's settings in it."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | NEUTRAL
