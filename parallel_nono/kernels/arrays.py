"""The types of what kernels take, as annotations: they are compiled for these, ahead of time, and take nothing else.

Numbers are `int` (int64), `float` (float64), `bool` and `np.uint64`; arrays lie in one piece, row by row; a NamedTuple
is its fields, one by one. Whatever begins with Const is only read, so that Arrow's buffers do.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_args, get_origin

import numpy as np


class Array(NamedTuple):
    """An array as a kernel takes it.

    dtype     its NumPy name;  ndim  1 or 2.
    is_const  only read.
    """

    dtype: str
    ndim: int = 1
    is_const: bool = False


class Call(NamedTuple):
    """A kernel that other kernels call through an argument: what it returns and takes, as annotations. Such an argument
    is `Annotated[Any, call]`."""

    returns: Any
    takes: tuple[Any, ...]


def fact_of(annotation: Any) -> Array | Call | None:
    """What an annotation says beyond its type."""
    if isinstance(annotation, Array | Call):
        return annotation
    facts = get_args(annotation) if get_origin(annotation) is Annotated else ()
    return next((fact for fact in facts if isinstance(fact, Array | Call)), None)


Bools = Annotated[np.ndarray, Array("bool")]
Int8s = Annotated[np.ndarray, Array("int8")]
Int16s = Annotated[np.ndarray, Array("int16")]
Int32s = Annotated[np.ndarray, Array("int32")]
Int64s = Annotated[np.ndarray, Array("int64")]
UInt8s = Annotated[np.ndarray, Array("uint8")]
UInt16s = Annotated[np.ndarray, Array("uint16")]
UInt32s = Annotated[np.ndarray, Array("uint32")]
UInt64s = Annotated[np.ndarray, Array("uint64")]
Float32s = Annotated[np.ndarray, Array("float32")]
Float64s = Annotated[np.ndarray, Array("float64")]

ConstBools = Annotated[np.ndarray, Array("bool", is_const=True)]
ConstInt32s = Annotated[np.ndarray, Array("int32", is_const=True)]
ConstInt64s = Annotated[np.ndarray, Array("int64", is_const=True)]
ConstUInt8s = Annotated[np.ndarray, Array("uint8", is_const=True)]
ConstUInt16s = Annotated[np.ndarray, Array("uint16", is_const=True)]
ConstUInt32s = Annotated[np.ndarray, Array("uint32", is_const=True)]
ConstUInt64s = Annotated[np.ndarray, Array("uint64", is_const=True)]

Int16Table = Annotated[np.ndarray, Array("int16", 2)]
Int32Table = Annotated[np.ndarray, Array("int32", 2)]
Int64Table = Annotated[np.ndarray, Array("int64", 2)]
UInt16Table = Annotated[np.ndarray, Array("uint16", 2)]
UInt64Table = Annotated[np.ndarray, Array("uint64", 2)]
Float64Table = Annotated[np.ndarray, Array("float64", 2)]
