"""Kernels as plain Python, for coverage: under `NUMBA_DISABLE_JIT=1` conftest calls `use_python` before it imports any.

Users can't have that: the package takes the variable out of the environment. Single instructions of the processor are
replaced by the same in Python.
"""

from __future__ import annotations

import ctypes
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def _word(function: Callable[[int], int]) -> Callable[[np.uint64], np.uint64]:
    return lambda word: np.uint64(function(int(word)))


def _at(address: int) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(int(address))


def _load(address: int) -> np.int64:
    return np.int64(_at(address).value)


def _store(address: int, number: int) -> None:
    _at(address).value = int(number)


def _fetch_add(address: int, number: int) -> np.int64:
    found = _load(address)
    _store(address, found + number)
    return found


INSTRUCTIONS: dict[str, Callable[..., Any]] = {
    "reverse_bits": _word(lambda word: int(f"{word:064b}"[::-1], 2)),
    "count_bits": _word(int.bit_count),
    "lowest_bit": _word(lambda word: (word & -word).bit_length() - 1 if word else 64),
    "leading_zeros": _word(lambda word: 64 - word.bit_length()),
    "nanoseconds": time.monotonic_ns,
    "coarse_nanoseconds": time.monotonic_ns,
    "cpu_nanoseconds": time.thread_time_ns,
    "load_int64": _load,
    "store_int64": _store,
    "fetch_add_int64": _fetch_add,
    "fence": lambda: None,
}


def use_python() -> None:
    """Have every kernel that is imported from now on stay the function that its source says."""
    os.environ.pop("NUMBA_DISABLE_JIT", None)
    from parallel_nono import kernels

    def kernel(function: Callable[..., Any] | None = None, **_: bool) -> Any:
        return function if function is not None else lambda function: function

    kernels.kernel = kernel
    kernels.function_value = lambda signature: lambda function: function
    from parallel_nono.kernels import bits

    for name, function in INSTRUCTIONS.items():
        assert hasattr(bits, name)
        setattr(bits, name, function)
    np.seterr(over="ignore")  # in plain Python words wrap around with a warning
    warnings.simplefilter("ignore", RuntimeWarning)
