"""Kernels as LLVM code, put together, and from there machine code for a processor: what web.wasm and build share.

Numba translates; it neither optimises nor links nor loads anything here. LLVM optimises the whole once, where
everything but what is asked for from outside is internal.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Sequence
from typing import Any, NamedTuple


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
    from numba.core import codegen, types
    from numba.core.registry import cpu_target
    from numba.core.typing.context import BaseContext

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
    # What an operator makes of numbers is looked up for each of its places; it is always the same.
    known: dict[Any, Any] = {}
    numbers = (types.Number, types.Boolean, types.Literal, types.NoneType)
    resolve = BaseContext.resolve_function_type

    def resolve_once(self: Any, func: Any, args: Any, kws: Any) -> Any:
        operator = isinstance(func, types.Function | types.NumberClass)
        if kws or not operator or not all(isinstance(each, numbers) for each in args):
            return resolve(self, func, args, kws)
        found = known.get((func, args))
        if found is None:
            found = known[func, args] = resolve(self, func, args, kws)
        return found

    BaseContext.resolve_function_type = resolve_once
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


def together(kernels: Sequence[Compiled]) -> str:
    """One module of them all, in which everything is internal."""
    import llvmlite.binding as llvm

    whole: Any = None
    for code in dict.fromkeys(code for kernel in kernels for code in kernel.modules):
        parsed = llvm.parse_assembly(code)
        if whole is None:
            whole = parsed
        else:
            whole.link_in(parsed)
    if whole is None:
        return 'target datalayout = ""\ntarget triple = ""\n'
    text = re.sub(r"^define (?:linkonce_odr )?", "define internal ", str(whole), flags=re.MULTILINE)
    return text.replace("= common global", "= internal global")


def retargeted(text: str, triple: str, layout: str) -> str:
    """A module for another machine, whose names and layout of data are LLVM's."""
    text = re.sub(r"^target datalayout = .*$", f'target datalayout = "{layout}"', text, flags=re.MULTILINE)
    return re.sub(r"^target triple = .*$", f'target triple = "{triple}"', text, flags=re.MULTILINE)


def declared(text: str, symbols: Sequence[str]) -> dict[str, list[str]]:
    """How LLVM writes down the types of the arguments of each of these functions."""
    import llvmlite.binding as llvm

    whole = llvm.parse_assembly(text)
    return {symbol: [str(each.type) for each in whole.get_function(symbol).arguments] for symbol in symbols}


OUTSIDE = re.compile(r"llvm\.|Py|_Py_|(clock_gettime|mem(set|cpy|move|cmp)|strlen|write|read|usleep|getpid|_exit)$")
"""What code may ask of others: LLVM, Python, and the smallest part of C's library, which every process has."""


def with_reverse(text: str, reverse: str) -> str:
    """A module that turns bits around by a function of its own, `reverse_bits`, in place of LLVM's.

    reverse  its text; `{shifted}` and `{reversed}` become tables of half bytes in reverse, in the upper and lower half
             of a byte.
    """
    halves = [int(f"{half:04b}"[::-1], 2) for half in range(16)]
    tables = {
        "shifted": ", ".join(f"i8 {half << 4}" for half in halves),
        "reversed": ", ".join(f"i8 {half}" for half in halves),
    }
    own = reverse.format(**tables)
    text = re.sub(r"^declare i64 @llvm\.bitreverse\.i64\(.*$", lambda _: own, text, flags=re.MULTILINE)
    return text.replace("@llvm.bitreverse.i64", "@reverse_bits")


def machine_code(text: str, machine: Any, loops: bool = True, best_for: str = "") -> bytes:
    """The object file of a module for a machine of LLVM's (TargetMachine), optimised.

    loops     unroll them, and turn them and straight code into vector instructions.
    best_for  the processor that instructions are put in order for, if another one than `machine` has.
    Errors    RuntimeError if it asks for a function that nobody has.
    """
    import llvmlite.binding as llvm

    if best_for:
        tune = f' "tune-cpu"="{best_for}" {{'
        text = re.sub(r"^(define .*) \{$", lambda found: found[1] + tune, text, flags=re.MULTILINE)
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
