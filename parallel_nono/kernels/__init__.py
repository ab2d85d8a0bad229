"""Machine code: arrays and numbers in and out; no file, no object, no print.

Every kernel is declared by `kernel` below, in Python that Numba translates. Behind it stands the library, which was
made of the same sources ahead of time (native), or Numba itself, which keeps what it compiles on disk, in a folder
named after a hash of all kernel sources: by itself it keeps a caller's old machine code when a callee in another file
changes. Whoever calls a kernel sees no difference.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from threading import RLock
from typing import Any

from .arrays import Call
from .cache import folder_of, keep_sealed, numba
from .native import LIBRARY, NUMBA, Late, loaded, when_building


def when_compiling(say: Callable[[], None]) -> None:
    """Have `say` called once, by whichever thread begins to compile in this process, or has it done.

    Fetching code from disk is no compilation.
    """
    if loaded().mode != NUMBA:
        when_building(say)
        return
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
    """True when an earlier start left machine code behind, so that this one need not say it compiles.

    last  `module.function` of the kernel that is compiled after the others of its kind; "" where there is none.
    """
    if loaded().mode != NUMBA:
        return loaded().mode == LIBRARY
    folder = folder_of("kernels")
    return not last or (folder is not None and any(folder.glob(f"*/{last}-*.nbi")))


def compiles_here() -> bool:
    """True where Numba compiles in this process what is called first."""
    return loaded().mode == NUMBA


def is_ready(kernel: Any) -> bool:
    """True if a call of this kernel waits for no compiler: for those that have another way meanwhile."""
    if isinstance(kernel, Late):
        return not Late.broken and kernel.is_made()
    if getattr(kernel, "signatures", True):  # compiled, or nothing of Numba's
        return True
    function = kernel.py_func
    return is_compiled(f"{function.__module__.rpartition('.')[2]}.{function.__name__}")


@dataclass
class Registered:
    """A function that stands for machine code.

    how    makes Numba's object of it.
    given  what its module has under its name.
    call   of a function value: what it returns and takes.
    made   Numba's object, once there is one.
    inner  called by kernels only.
    """

    function: Callable[..., Any]
    how: Callable[[Callable[..., Any]], Any]
    given: Any = None
    call: Call | None = None
    made: Any = None
    inner: bool = True

    def numba(self) -> Any:
        """Numba's object."""
        with _lock:
            if self.made is None:
                self.made = self.how(self.function)
            return self.made


_registered: list[Registered] = []
_lock = RLock()
_state = {"numba": False}


def _register(registered: Registered) -> Any:
    """What a module gets under the name of such a function."""
    _registered.append(registered)
    mode = loaded().mode
    if mode == NUMBA or (registered.inner and _state["numba"]):
        registered.given = registered.numba()
    elif registered.inner:
        registered.given = registered.function
    elif registered.function.__module__.startswith("parallel_nono."):
        late = Late(registered.function, partial(_alone, registered))
        registered.given = late.get() if mode == LIBRARY else late
    else:  # a kernel of a test or a benchmark: it calls what only Numba has
        registered.given = _alone(registered)
    return registered.given


def _alone(registered: Registered) -> Any:
    """Numba's object, where the rest of the process has the library."""
    use_numba()
    return registered.numba()


def use_numba() -> None:
    """From now on have what kernels call as objects of Numba's, for kernels that are not in the library and for other
    devices. What Python calls, and has at hand, stays as it is."""
    with _lock:
        if _state["numba"] or loaded().mode == NUMBA:
            return
        _state["numba"] = True
        modules = [module for name, module in sys.modules.items() if name.startswith("parallel_nono.")]
        for registered in _registered:
            if registered.inner:
                given, made = registered.given, registered.numba()
                for module in modules:
                    for name, value in list(vars(module).items()):
                        if value is given:
                            setattr(module, name, made)


def kernel_functions(modules: Iterable[str]) -> list[Registered]:
    """The kernels of these modules that Python calls, and their function values."""
    wanted = {f"parallel_nono.{module}" for module in modules}
    return [each for each in _registered if not each.inner and each.function.__module__ in wanted]


def kernel(function: Callable[..., Any] | None = None, *, inner: bool = False, inline: bool = False) -> Any:
    """A pure function as machine code: releases the GIL, counts no references.

    What Python calls says by annotations what it takes (arrays).
    inner   called by kernels only: goes without the wrappers for Python and C, which take long to compile.
    inline  inner, and LLVM puts it into its callers: for the small functions of the innermost loops.
    """
    if function is None:
        return partial(kernel, inner=inner, inline=inline)
    how = partial(_dispatcher, inner=inner or inline, inline=inline)
    return _register(Registered(function, how, inner=inner or inline))


def _dispatcher(function: Callable[..., Any], inner: bool = False, inline: bool = False) -> Any:
    options = {**OPTIONS, "cache": False}  # Numba's own; ours is sealed
    if inline:
        options["forceinline"] = True
    if inner:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled = numba().njit(**options)(function)
    return keep_sealed(compiled) if OPTIONS["cache"] else compiled


def arithmetic(function: Callable[..., Any]) -> Any:
    """A plain function of numbers that kernels may call too, compiled with them; called from Python it stays plain."""
    return _register(Registered(function, _arithmetic))


def _arithmetic(function: Callable[..., Any]) -> Any:
    numba()
    from numba.extending import register_jitable

    return register_jitable(function)


def instruction(function: Callable[..., Any]) -> Any:
    """An instruction of the processor; the function of that name in instructions says what it is for LLVM."""
    return _register(Registered(function, _instruction))


def _instruction(function: Callable[..., Any]) -> Any:
    numba()
    from . import instructions

    return getattr(instructions, function.__name__)


def function_value(call: Call) -> Callable[[Callable[..., Any]], Any]:
    """A kernel as a function value, which other kernels take as an argument and call through its address.

    A call costs some nanoseconds, and the callee is compiled once: LLVM optimises what is called by name again in every
    module that calls it, and every family of puzzles would bring its own copy of all that calls its propagation.
    """

    def value(function: Callable[..., Any]) -> Any:
        return _register(Registered(function, partial(make_function_value, call), call=call, inner=False))

    return value


def make_function_value(call: Call, function: Callable[..., Any]) -> Any:
    """Numba's function value; emit has others."""
    if "no_cfunc_wrapper" in OPTIONS:
        return _dispatcher(function)
    numba()
    from numba.core.ccallback import CFunc

    from .signatures import numba_signature

    signature = numba_signature(call)
    options = {name: value for name, value in OPTIONS.items() if name != "cache"}
    value = CFunc(function, (signature.args, signature.return_type), locals={}, options=options)
    if OPTIONS["cache"]:
        keep_sealed(value)
    value.compile()
    return value
