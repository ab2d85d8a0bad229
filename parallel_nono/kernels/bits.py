"""Words and clocks: single instructions that Python does not have; what they are for LLVM is in instructions.

Beware of Numba's typing: `uint64` with a Python int or an int64 turns into int64 (an arithmetic shift) or float64.
So kernels use the unsigned constants below and wrap every other number in `U`.
"""

from __future__ import annotations

import numpy as np

from . import instruction

U = np.uint64
U0, U1, U2, U4, U6, U8, U16, U32, U63, U64 = (U(n) for n in (0, 1, 2, 4, 6, 8, 16, 32, 63, 64))
FULL = U(0xFFFFFFFFFFFFFFFF)


@instruction
def reverse_bits(word):
    """The bits of a word, the last one first."""


@instruction
def count_bits(word):
    """How many bits of a word are set."""


@instruction
def lowest_bit(word):
    """The place of the lowest bit that is set; 64 for no bit."""


@instruction
def leading_zeros(word):
    """The bits above the highest one that is set; 64 for no bit."""


@instruction
def nanoseconds():
    """Wall nanoseconds, about 20 ns a call."""


@instruction
def coarse_nanoseconds():
    """The same clock to the last tick (4 ms), about 2 ns a call: for deadlines in inner loops."""


@instruction
def cpu_nanoseconds():
    """CPU nanoseconds of this thread (wall ones where there is no such clock), about 300 ns a call."""


@instruction
def load_int64(address):
    """The int64 at an address: how one thread sees what another one has stored."""


@instruction
def store_int64(address, number):
    """Store an int64 at an address, after everything that this thread stored before it."""


@instruction
def fetch_add_int64(address, number):
    """Add to the int64 at an address, and what it was before; no two threads or processes get the same."""


@instruction
def fence():
    """What was stored before is stored before what comes after."""
