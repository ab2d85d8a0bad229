"""Single instructions for words, and flags as bits or as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from tools import Row, alternate, number

from parallel_nono.kernels.bits import U0, U1, U, count_bits, lowest_bit

OPTIONS = {"nogil": True, "error_model": "numpy"}
N_WORDS = 100_000


@njit(**OPTIONS)
def count_by_loop(words, steps):
    """Set bits, one at a time."""
    total = 0
    for i in range(len(words)):
        word = words[i]
        while word:
            word &= word - U1
            total += 1
        steps[0] += 1
    return total


@njit(**OPTIONS)
def count_by_instruction(words, steps):
    """Set bits by one instruction a word."""
    total = 0
    for i in range(len(words)):
        total += np.int64(count_bits(words[i]))
        steps[0] += 1
    return total


@njit(**OPTIONS)
def find_by_loop(words, news, steps):
    """Note every set bit at its place, as propagation does; each cell of the line looked at."""
    for i in range(len(words)):
        for place in range(64):
            steps[0] += 1
            if (words[i] >> U(place)) & U1:
                news[place] ^= i
    return news[0] ^ news[63]


@njit(**OPTIONS)
def find_by_instruction(words, news, steps):
    """The same from one set bit to the next."""
    for i in range(len(words)):
        word = words[i]
        while word:
            news[lowest_bit(word)] ^= i
            word &= word - U1
            steps[0] += 1
    return news[0] ^ news[63]


@njit(**OPTIONS)
def flags_as_bits(lines, flags, steps):
    """Ask and set one flag after the other, 64 in a word."""
    total = 0
    for i in range(len(lines)):
        word, bit = lines[i] >> 6, U1 << U(lines[i] & 63)
        total += flags[word] & bit != U0
        flags[word] ^= bit
        steps[0] += 1
    return total


@njit(**OPTIONS)
def flags_as_bytes(lines, flags, steps):
    """The same with a byte for each flag."""
    total = 0
    for i in range(len(lines)):
        total += flags[lines[i]] != 0
        flags[lines[i]] ^= 1
        steps[0] += 1
    return total


def _rows(title: str, off: Any, on: Any, off_data: tuple[Any, ...], on_data: tuple[Any, ...]) -> Row:
    counted = []
    for call, data in ((off, off_data), (on, on_data)):
        steps = np.zeros(1, np.int64)
        counted.append((call(*(array.copy() for array in data), steps), int(steps[0])))
    assert counted[0][0] == counted[1][0], f"{title}: the solutions differ"
    steps = np.zeros(1, np.int64)
    times = alternate({"off": lambda: off(*off_data, steps), "on": lambda: on(*on_data, steps)})
    return Row(title, *(f"{number(n)} steps" for _, n in counted), times["off"] / times["on"])


def _words(bits: int) -> np.ndarray:
    """Random words with about so many bits set."""
    rng = np.random.RandomState(bits)
    chosen = rng.random_sample((N_WORDS, 64)) < bits / 64
    return np.packbits(chosen, axis=1, bitorder="little").view(np.uint64).ravel()


def counting() -> Iterator[Row]:
    for bits in (2, 8, 32):
        words = (_words(bits),)
        yield _rows(f"{bits} bits of 64", count_by_loop, count_by_instruction, words, words)


def finding() -> Iterator[Row]:
    for bits in (2, 8, 32):
        words = (_words(bits), np.zeros(64, np.int64))
        yield _rows(f"{bits} bits of 64", find_by_loop, find_by_instruction, words, words)


def flags() -> Iterator[Row]:
    for n in (50, 128, 2_000, 100_000):
        lines = np.random.RandomState(n).randint(0, n, N_WORDS)
        bits, bytes_ = np.zeros((n + 63) // 64, np.uint64), np.zeros(n, np.uint8)
        yield _rows(f"{n:,} lines", flags_as_bits, flags_as_bytes, (lines, bits), (lines, bytes_))
