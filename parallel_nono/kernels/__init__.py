"""Jitted code: arrays and numbers in and out; no file, no object, no print.

Every kernel is compiled by `kernel` below. The compiled code is kept on disk in a folder named after a hash of
all kernel sources: Numba alone keeps a caller's old machine code when a callee in another file changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .cache import CACHE_FOLDER, keep_sealed, numba


def when_compiling(say: Callable[[], None]) -> None:
    """Have `say` called once, by whichever thread begins to compile a kernel in this process.

    Fetching code from disk is no compilation.
    """
    numba()
    from numba.core import event

    class Once(event.Listener):
        """Says it at the first start of a compilation."""

        said = False

        def on_start(self, event: Any) -> None:
            said, self.said = self.said, True
            if not said:
                say()

        def on_end(self, event: Any) -> None:
            """Nothing to say."""

    event.register("numba:compile", Once())


OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,  # no reference counts: kernels allocate nothing
}


def is_compiled(last: str = "solve.solve") -> bool:
    """True when an earlier start left compiled kernels behind, so that this one need not say it compiles.

    last  `module.function` of the kernel that is compiled after the others of its kind; "" where there is none.
    """
    return not last or (CACHE_FOLDER is not None and any(CACHE_FOLDER.glob(f"*/{last}-*.nbi")))


def kernel(function: Callable[..., Any] | None = None, *, inner: bool = False, inline: bool = False) -> Any:
    """Compile a pure function: releases the GIL, counts no references, kept on disk.

    inner   called by kernels only: goes without the wrappers for Python and C, which take long to compile.
    inline  inner, and LLVM puts it into its callers: for the small functions of the innermost loops.
    """
    if function is None:
        return partial(kernel, inner=inner, inline=inline)
    options = {**OPTIONS, "cache": False}  # Numba's own; ours is sealed
    if inline:
        options["forceinline"] = True
    if inner or inline:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled = numba().njit(**options)(function)
    return keep_sealed(compiled) if OPTIONS["cache"] else compiled


def arithmetic(function: Callable[..., Any]) -> Any:
    """A plain function of numbers that kernels may call too, compiled with them; called from Python it stays plain."""
    numba()
    from numba.extending import register_jitable

    return register_jitable(function)


def function_value(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel as a function value, which other kernels take as an argument and call through its address.

    A call costs about 10 ns, and the callee is compiled once: LLVM optimises what is called by name again in every
    module that calls it, and every family of puzzles would bring its own copy of all that calls its propagation.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        numba()
        from numba.core.ccallback import CFunc
        from numba.core.sigutils import normalize_signature

        options = {name: value for name, value in OPTIONS.items() if name != "cache"}
        value = CFunc(function, normalize_signature(signature), locals={}, options=options)
        if OPTIONS["cache"]:
            keep_sealed(value)
        value.compile()
        return value

    return compiled
