"""The other end of `prover`: a process that decides formulas. It needs python-sat and nothing of ours, nor numpy, which
would be four fifths of its start.

A SAT solver holds Python's lock while it works, can't be interrupted, and ends its process when memory runs out; here
that harms nobody. It reads questions from standard input and writes answers to standard output:

question  a line of JSON {"solver", "variables", "cells", "wanted", "until", "cpu_s", "text"}, then `text` bytes of
          DIMACS, `variables` bytes of phases (int8, 1 or -1; all 0: none are given), the variables of `cells` cells
          (int32), and as many bytes of roles.
answer    frames that begin with a letter: R, once, ready for questions, and the CPU seconds of the process so far
          (float64); A, the values of those variables, a byte each, for each solution found; C, now and then, the
          conflicts so far (int64) and the CPU seconds; E, those two and how it ended (a byte: E exhausted, W as many as
          wanted, L late).

Its arguments are the folders in which python-sat is.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import sys
from array import array
from collections.abc import Callable
from functools import cache
from time import monotonic, process_time
from typing import Any

if __name__ == "__main__":
    sys.path += sys.argv[1:]

import pysolvers
from pysat.solvers import Solver

SLICE, SLICE_S, MIN_SLICE = 20_000, 1.0, 100
"""Conflicts between two looks at the clock; fewer once less than SLICE_S seconds are left. Every look costs the solver
some of its rhythm."""

SMALL = 20_000
"""Formulas of fewer variables do better without chronological backtracking, which is for huge ones, and without
eliminating variables, of which there are no helpers here: two thirds of the conflicts (scripts/bench/README.md)."""

ONLY_TRUE, EITHER, NEVER = 0, 1, 2
"""Roles of variables, see kernels.encode."""


@cache
def reader(name: str) -> Callable[[Any, bytes], bytes | None] | None:
    """The solver's own DIMACS reader, where the library of python-sat shows it: (solver, text) -> complaint.

    It takes a quarter of the time of one call a clause.
    """
    space = f"CaDiCaL{name.removeprefix('cadical')}"
    inside, libc = ctypes.pythonapi, ctypes.CDLL(None)
    try:
        read = getattr(ctypes.CDLL(pysolvers.__file__), f"_ZN{len(space)}{space}6Solver11read_dimacsEP8_IO_FILEPKcRii")
        opened, closed = libc.fmemopen, libc.fclose
    except (AttributeError, OSError):
        return None
    read.restype = ctypes.c_char_p
    read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int]
    opened.restype, opened.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p]
    closed.argtypes = [ctypes.c_void_p]
    inside.PyCapsule_GetName.restype, inside.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    inside.PyCapsule_GetPointer.restype = ctypes.c_void_p
    inside.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

    def read_text(solver: Any, text: bytes) -> bytes | None:
        capsule = solver.solver.cadical
        file = opened(text, len(text), b"r")
        handle = inside.PyCapsule_GetPointer(capsule, inside.PyCapsule_GetName(capsule))
        complaint: bytes | None = read(handle, file, b"formula", ctypes.byref(ctypes.c_int(0)), 1)
        closed(file)
        return complaint

    return read_text


def load(solver: Any, name: str, text: bytes) -> None:
    """Hand a formula (DIMACS) to the solver."""
    read = reader(name)
    if read is None:
        for clause in text.split(b"\n")[1:-1]:
            solver.add_clause([int(literal) for literal in clause.split()[:-1]])
    elif complaint := read(solver, text):
        raise ValueError(f"{name} can't read a formula of ours: {complaint.decode()}")


def conflicts(solver: Any) -> int:
    """Conflicts so far."""
    return int((solver.accum_stats() or {}).get("conflicts", 0))


def how_far(solver: Any) -> bytes:
    """What frames say of it."""
    return struct.pack("<qd", conflicts(solver), process_time())


def decide(solver: Any, until: float, cpu_until: float, out: Any) -> bool | None:
    """True, False, or None when it is late, by the clock or by the CPU time of this process; says now and then on `out`
    how far it is."""
    parent = os.getppid()
    while (left := min(until - monotonic(), cpu_until - process_time())) > 0 and os.getppid() == parent:
        solver.conf_budget(max(MIN_SLICE, int(SLICE * min(1.0, left / SLICE_S))))
        verdict = solver.solve_limited()
        if verdict is not None:
            return bool(verdict)
        out.write(b"C" + how_far(solver))
        out.flush()
    return None


def answer(question: dict[str, Any], source: Any, out: Any) -> None:
    """Decide one formula; see above."""
    cpu_until = process_time() + question["cpu_s"]
    name, n_cells = question["solver"], question["cells"]
    text = source.read(question["text"])
    phases, cells = array("b", source.read(question["variables"])), array("i", source.read(4 * n_cells))
    roles = source.read(n_cells)
    until = question["until"]
    with Solver(name=name) as solver:
        if name.startswith("cadical") and question["variables"] < SMALL:
            solver.configure({"chrono": 0, "elim": 0})
        load(solver, name, text)
        if any(phases):
            solver.set_phases([phase * variable for variable, phase in enumerate(phases, start=1)])
        found, ending = 0, b"W"
        while found < question["wanted"]:
            verdict = decide(solver, until, cpu_until, out)
            if not verdict:
                ending = b"L" if verdict is None else b"E"
                break
            model = solver.get_model()
            values = [False, *(literal > 0 for literal in model)]
            values += [False] * (question["variables"] + 1 - len(values))  # the last ones may be in no clause
            true = [values[cell] for cell in cells]
            out.write(b"A" + bytes(true))
            out.flush()
            found += 1
            differs = [
                -cell if holds else cell
                for cell, role, holds in zip(cells, roles, true, strict=True)
                if role == EITHER or (holds and role == ONLY_TRUE)
            ]
            solver.add_clause(differs)
            solver.set_phases(model)
        out.write(b"E" + how_far(solver) + ending)
        out.flush()


def main() -> None:
    """Answer questions until there are no more."""
    source, out = sys.stdin.buffer, sys.stdout.buffer
    out.write(b"R" + struct.pack("<d", process_time()))
    out.flush()
    while line := source.readline():
        question = json.loads(line)
        answer(question, source, out)


if __name__ == "__main__":
    main()
