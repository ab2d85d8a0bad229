"""The instructions that bits names, as code of LLVM's: only Numba needs them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

I64 = ir.IntType(64)


def _word_instruction(name: str, zero_is_defined: bool = False) -> Callable[..., Any]:
    """An intrinsic uint64 -> uint64; with `zero_is_defined` the instruction takes that flag and 0 gives 64."""

    @intrinsic
    def instruction(typing_context, word):
        def code(context, builder, signature, arguments):
            parameters, values = [I64], [arguments[0]]
            if zero_is_defined:
                parameters.append(ir.IntType(1))
                values.append(ir.Constant(ir.IntType(1), 0))
            function = builder.module.declare_intrinsic(name, [I64], fnty=ir.FunctionType(I64, parameters))
            return builder.call(function, values)

        return types.uint64(types.uint64), code

    return instruction


reverse_bits = _word_instruction("llvm.bitreverse")
count_bits = _word_instruction("llvm.ctpop")
lowest_bit = _word_instruction("llvm.cttz", zero_is_defined=True)
leading_zeros = _word_instruction("llvm.ctlz", zero_is_defined=True)


def _clock(clock_id: int) -> Callable[..., Any]:
    """An intrinsic () -> int64 nanoseconds of a POSIX clock. The call is opaque to LLVM, so what another thread
    has stored is seen by the load that follows it."""

    @intrinsic
    def clock(typing_context):
        def code(context, builder, signature, arguments):
            timespec = ir.LiteralStructType([I64, I64])
            with builder.goto_entry_block():
                place = builder.alloca(timespec)
            function = ir.FunctionType(ir.IntType(32), [ir.IntType(32), timespec.as_pointer()])
            gettime = builder.module.globals.get("clock_gettime") or ir.Function(
                builder.module, function, name="clock_gettime"
            )
            builder.call(gettime, [ir.Constant(ir.IntType(32), clock_id), place])
            seconds = builder.extract_value(builder.load(place), 0)
            nanoseconds = builder.extract_value(builder.load(place), 1)
            return builder.add(builder.mul(seconds, ir.Constant(I64, 1_000_000_000)), nanoseconds)

        return types.int64(), code

    return clock


nanoseconds = _clock(time.CLOCK_MONOTONIC)
coarse_nanoseconds = _clock(6 if sys.platform == "linux" else time.CLOCK_MONOTONIC)
cpu_nanoseconds = _clock(getattr(time, "CLOCK_THREAD_CPUTIME_ID", time.CLOCK_MONOTONIC))


@intrinsic
def load_int64(typing_context, address):
    """The int64 at an address: how one thread sees what another one has stored."""

    def code(context, builder, signature, arguments):
        return builder.load_atomic(builder.inttoptr(arguments[0], I64.as_pointer()), "acquire", 8)

    return types.int64(types.int64), code


@intrinsic
def store_int64(typing_context, address, number):
    """Store an int64 at an address, after everything that this thread stored before it."""

    def code(context, builder, signature, arguments):
        place = builder.inttoptr(arguments[0], I64.as_pointer())
        builder.store_atomic(arguments[1], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@intrinsic
def fetch_add_int64(typing_context, address, number):
    """Add to the int64 at an address, and what it was before; no two threads or processes get the same."""

    def code(context, builder, signature, arguments):
        return builder.atomic_rmw("add", builder.inttoptr(arguments[0], I64.as_pointer()), arguments[1], "seq_cst")

    return types.int64(types.int64, types.int64), code


@intrinsic
def fence(typing_context):
    """What was stored before is stored before what comes after."""

    def code(context, builder, signature, arguments):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), code
