"""What is called instead of the C library's `_Exit` when a library wants to end our process (engine.divert).

It runs in a thread that may never have met Python, and that may be waited for by one that holds Python's lock, so it
is machine code that asks for nothing of Python's, written down as LLVM has it.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from .native import NUMBA, loaded

WAKE, ANSWER, OWNER, TEXT, BYTES = range(5)
"""Places in the state: the pipe to write a byte to, and the one to read the answer from; the process that is ours; the
address of what to say where no answer comes, and its length. A byte that is read goes to where the text begins."""

LOOKS, LOOK_US, UNAVAILABLE = 200, 10_000, 69
"""So often, so many microseconds apart, it looks for an answer; then it ends the process with that exit code."""

CODE = f"""
@ending.state = internal global [5 x i64] zeroinitializer
declare i64 @write(i32, ptr, i64)
declare i64 @read(i32, ptr, i64)
declare i32 @usleep(i32)
declare i32 @getpid()
declare void @_exit(i32)

define internal i64 @ending.fact(i64 %place) {{
  %at = getelementptr [5 x i64], ptr @ending.state, i64 0, i64 %place
  %fact = load i64, ptr %at
  ret i64 %fact
}}

define internal void @ending(i32 %code) {{
  %pid = call i32 @getpid()
  %owner.long = call i64 @ending.fact(i64 {OWNER})
  %owner = trunc i64 %owner.long to i32
  %ours = icmp eq i32 %pid, %owner
  br i1 %ours, label %wake, label %child
child:  ; that the library forked
  call void @_exit(i32 %code)
  unreachable
wake:
  %wake.long = call i64 @ending.fact(i64 {WAKE})
  %wake.pipe = trunc i64 %wake.long to i32
  %answer.long = call i64 @ending.fact(i64 {ANSWER})
  %answer.pipe = trunc i64 %answer.long to i32
  %text.long = call i64 @ending.fact(i64 {TEXT})
  %text = inttoptr i64 %text.long to ptr
  %bytes = call i64 @ending.fact(i64 {BYTES})
  %woken = call i64 @write(i32 %wake.pipe, ptr %text, i64 1)
  br label %look
look:
  %looked = phi i32 [ 0, %wake ], [ %looks, %again ]
  %slept = call i32 @usleep(i32 {LOOK_US})
  %got = call i64 @read(i32 %answer.pipe, ptr %text, i64 1)
  %heard = icmp eq i64 %got, 1
  br i1 %heard, label %sleep, label %again
again:
  %looks = add i32 %looked, 1
  %more = icmp slt i32 %looks, {LOOKS}
  br i1 %more, label %look, label %say
sleep:  ; for ever: Python says what there is to say
  %rested = call i32 @usleep(i32 1000000)
  br label %sleep
say:
  %said = call i64 @write(i32 2, ptr %text, i64 %bytes)
  call void @_exit(i32 {UNAVAILABLE})
  unreachable
}}
"""


@cache
def ending() -> tuple[int, Any]:
    """The address of the function (int32, an exit code, as its argument), and its state: five int64, to be filled.

    Errors: ImportError where neither the library has it nor LLVM is installed.
    """
    if loaded().mode == NUMBA:
        function, state = _by_llvm()
    else:
        function, state = loaded().need("ending").ending()
    return function, (ctypes.c_int64 * 5).from_address(state)


_kept: list[Any] = []


def _by_llvm() -> tuple[int, int]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(
        CODE.replace(" = internal global", " = global").replace("define internal void", "define void")
    )
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _kept.append(engine)
    return engine.get_function_address("ending"), engine.get_global_value_address("ending.state")
