"""Numba's types of what is annotated (see arrays), for whoever compiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

import numpy as np
from numba import types
from numba.core.datamodel import models
from numba.core.typing.templates import Signature
from numba.extending import lower_builtin, register_model

from .arrays import Array, Call, fact_of

NUMBERS = {int: types.int64, float: types.float64, bool: types.boolean, np.uint64: types.uint64}


class Address(types.Callable):
    """A kernel by its address, called as kernels call each other: what an argument of type Call is in the library.

    Numba's own function values hold an address for Python too, and what they call is called through one of C.
    """

    def __init__(self, call: Call) -> None:
        takes = tuple(map(address_type, call.takes))
        self.signature = Signature(numba_type(call.returns), takes, recvr=self)
        super().__init__(name=f"Address({takes})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Whatever it is called with: one signature."""
        return self.signature

    def get_call_signatures(self) -> Any:
        """The same, without keywords."""
        return [self.signature], False

    def get_impl_key(self, sig: Any) -> Any:
        """What its lowering is registered for."""
        return type(self)


register_model(Address)(models.OpaqueModel)


@lower_builtin(Address, types.VarArg(types.Any))
def _call_address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    address, *arguments = arguments
    takes = signature.args[-len(arguments) :]
    kind = context.call_conv.get_function_type(signature.return_type, takes)
    pointer = builder.bitcast(address, kind.as_pointer())
    status, value = context.call_conv.call_function(builder, pointer, signature.return_type, takes, arguments)
    with builder.if_then(status.is_error, likely=False):
        context.call_conv.return_status_propagate(builder, status)
    return value


def numba_type(annotation: Any) -> Any:
    """The type that an annotation stands for. Errors: TypeError for one that kernels do not take."""
    fact = fact_of(annotation)
    if isinstance(fact, Call):
        return types.FunctionType(numba_signature(fact))
    if isinstance(fact, Array):
        dtype = types.boolean if fact.dtype == "bool" else getattr(types, fact.dtype)
        return types.Array(dtype, fact.ndim, "C", readonly=fact.is_const)
    if annotation in NUMBERS:
        return NUMBERS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, tuple):
        fields = get_type_hints(annotation, include_extras=True)
        return types.NamedTuple([numba_type(field) for field in fields.values()], annotation)
    raise TypeError(f"expected an annotation of kernels.arrays, found {annotation!r}")


@cache
def address_type(annotation: Any) -> Any:
    """The same where kernels that are arguments are addresses."""
    fact = fact_of(annotation)
    return Address(fact) if isinstance(fact, Call) else numba_type(annotation)


def numba_signature(call: Call) -> Any:
    """What a function value returns and takes."""
    return numba_type(call.returns)(*map(numba_type, call.takes))


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a kernel's parameters, by name, in their order. Errors: TypeError where one has none."""
    hints = get_type_hints(function, include_extras=True)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if missing := [name for name in names if name not in hints]:
        raise TypeError(f"{function.__module__}.{function.__name__}: no annotation of {', '.join(missing)}")
    return {name: hints[name] for name in names}
