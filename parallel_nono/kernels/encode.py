"""The lean order encoding: what is open in a puzzle as clauses of at most three literals, without helper variables.

Variables, numbered from 1:
  a cell    one variable where two colours are left (true: the later one of the palette), else one for each colour.
            They come first; cells that are known have none.
  a start   for each block j and each place d where it can begin, but for the last: `start_j <= d`.
  an end    the same for a block of unknown length: `end_j <= d`, where end_j is the first cell behind it. The end of a
            block of length n needs no variable: `end_j <= p` is `start_j <= p - n`.

Clauses of a line, where S(j, p) is the literal of `start_j <= p`, E(j, p) that of `end_j <= p`:
  ladder    S(j, d) -> S(j, d') for neighbouring places d < d';  the same for E;  E(j, p) -> S(j, p - 1)
  order     S(j + 1, p) -> E(j, p - sep), where sep is 1 between blocks of one colour and 0 between others
  cover     S(j, p) and not E(j, p) -> cell p has the colour of block j
  gap       E(j - 1, p) and not S(j, p) -> cell p is background, for j = 0..k

The places come from the planes as they stand, by exact reachability, so what is known costs nothing.
Source  Metodi, Codish: Compiling finite domain constraints to SAT with BEE, TPLP 12 (2012), for order variables of
        starts; the clauses without variables for covers and gaps are our own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernel
from .arrays import Int32s, Int64s, UInt8s, UInt64s
from .bits import U0, U1, U
from .board import blocks_of, board_of, line_at
from .clues import Clues
from .layout import ROOT

TRUE = np.int64(1) << 30
"""A literal that always holds; -TRUE never does."""

ONLY_TRUE, EITHER, NEVER = 0, 1, 2
"""How the variable of a cell takes part in `another solution than this one`: if it is true there; always; never."""


class Encoding(NamedTuple):
    """Room for a formula, and the formula in it.

    flat      int32, clauses one behind the other, each ended by 0 (a DIMACS stream).
    cells     int32[cells * n_colours], the literal of `cell has colour`, row by row; TRUE or -TRUE where that is known.
    role      uint8[variables of cells], by variable - 1: ONLY_TRUE, EITHER or NEVER.
    places    int32[variables], by variable - 1: the place that a variable of a block speaks of.
    starts    int32[blocks + 1], by block of the puzzle: its first variable; those of ends follow those of starts.
    sizes     int64[3]: variables of cells, variables, numbers in `flat`. What is larger than its room was not written.
    """

    flat: Int32s
    cells: Int32s
    role: UInt8s
    places: Int32s
    starts: Int32s
    sizes: Int64s


class EncodeWork(NamedTuple):
    """Room to work on the longest line: `n` cells, `k` blocks.

    start, end  uint8[k * (n + 1)], whether a block can begin at, or end before, a cell.
    flags       uint8[4 * (n + 2)]
    runs        int32[n + 2]
    literals    int32[2 * k * (n + 2)]: S(j, p) at j * (n + 2) + p + 1, then E(j, p) alike.
    """

    start: UInt8s
    end: UInt8s
    flags: UInt8s
    runs: Int32s
    literals: Int32s


@kernel(inline=True)
def may_be(words, plane, cell):
    """True while the cell may take the colour of this plane."""
    return (words[U(plane + (cell >> 6))] >> U(cell & 63)) & U1 != U0


@kernel(inner=True)
def put(flat, n, first, second, third):
    """Append a clause of at most three literals (-TRUE for none) to flat[:n] if it says anything; the new length."""
    if first == TRUE or second == TRUE or third == TRUE:
        return n
    if first == -second or first == -third or second == -third:
        return n
    room = n + 4 <= len(flat)
    if first != -TRUE:
        if room:
            flat[U(n)] = first
        n += 1
    if second != -TRUE and second != first:
        if room:
            flat[U(n)] = second
        n += 1
    if third != -TRUE and third != first and third != second:
        if room:
            flat[U(n)] = third
        n += 1
    if room:
        flat[U(n)] = 0
    return n + 1


@kernel(inner=True)
def cell_variables(words, board, base, encoding):
    """Literals and roles of all cells; the clauses `exactly one colour` where more than two are left.

    Solutions to clues without blots hold equally many cells of each ink: another one lacks ink where this one has some.
    """
    n_colours, width = board.n_colours, board.width
    flat, literals, role = encoding.flat, encoding.cells, encoding.role
    hides = False
    for j in range(board.block_starts[U(board.line)], board.block_starts[U(board.line + board.height + width)]):
        hides |= board.lengths[U(j)] == 0
    variable, n = 0, 0
    for r in range(board.height):
        for c in range(width):
            at, plane = (r * width + c) * n_colours, base + r * n_colours * board.row_words
            left = 0
            for colour in range(n_colours):
                left += may_be(words, plane + colour * board.row_words, c)
            known = np.int64(-1)
            for colour in range(n_colours):
                literal = -TRUE
                if may_be(words, plane + colour * board.row_words, c):
                    if left == 1:
                        literal = TRUE
                    elif left == 2:
                        if known < 0:
                            known = colour
                            variable += 1
                            literal = -variable
                        else:
                            literal = variable
                            if variable <= len(role):
                                role[U(variable - 1)] = EITHER if known > 0 or hides else ONLY_TRUE
                    else:
                        variable += 1
                        literal = variable
                        if variable <= len(role):
                            role[U(variable - 1)] = NEVER if colour == 0 and not hides else ONLY_TRUE
                literals[U(at + colour)] = literal
            if left > 2:
                room = n + left + 1 <= len(flat)
                for colour in range(n_colours):
                    if literals[U(at + colour)] != -TRUE:
                        if room:
                            flat[U(n)] = literals[U(at + colour)]
                        n += 1
                if room:
                    flat[U(n)] = 0
                n += 1
                for colour in range(n_colours):
                    for other in range(colour + 1, n_colours):
                        one, two = np.int64(literals[U(at + colour)]), np.int64(literals[U(at + other)])
                        n = put(flat, n, -one, -two, -TRUE)
    encoding.sizes[0], encoding.sizes[1], encoding.sizes[2] = variable, variable, n


@kernel(inner=True)
def find_places(words, board, plane, line_words, n, first, k, work):
    """Where each block can begin (work.start) and, for those of unknown length, end (work.end). False if some cannot.

    plane       of the background of the line in words; those of the inks follow, line_words apart.
    first, k    the blocks of the line.
    """
    start, end, runs = work.start, work.end, work.runs
    before, after = np.int64(0), n + 2  # the two halves of flags[: 2 * (n + 2)] take turns
    flags = work.flags
    flags[U(before)] = 1
    for i in range(1, n + 1):
        flags[U(before + i)] = flags[U(before + i - 1)] and may_be(words, plane, i - 1)
    for j in range(k):
        length, colour = np.int64(board.lengths[U(first + j)]), np.int64(board.colours[U(first + j)])
        ink, at = plane + colour * line_words, j * (n + 1)
        joined = j > 0 and np.int64(board.colours[U(first + j - 1)]) == colour
        start[U(at)] = flags[U(before)] and not joined
        for i in range(1, n + 1):
            if joined:
                start[U(at + i)] = flags[U(before + i - 1)] and may_be(words, plane, i - 1)
            else:
                start[U(at + i)] = flags[U(before + i)]
        run, alive = np.int64(0), False
        flags[U(after)] = 0
        end[U(at)] = 0
        for i in range(1, n + 1):
            if may_be(words, ink, i - 1):
                run += 1
                alive = alive or start[U(at + i - 1)] != 0
            else:
                run, alive = np.int64(0), False
            ended = alive if length == 0 else run >= length and start[U(at + i - length)] != 0
            end[U(at + i)] = ended
            flags[U(after + i)] = ended or (flags[U(after + i - 1)] and may_be(words, plane, i - 1))
        before, after = after, before
    # From the far end. `rest`: blocks after j fit behind cell i, background allowed first; `tail` the same, joined.
    rest, tail, begin = np.int64(0), n + 2, 2 * (n + 2)
    flags[U(rest + n)] = 1
    for i in range(n - 1, -1, -1):
        flags[U(rest + i)] = flags[U(rest + i + 1)] and may_be(words, plane, i)
    every = True
    for j in range(k - 1, -1, -1):
        length, colour = np.int64(board.lengths[U(first + j)]), np.int64(board.colours[U(first + j)])
        ink, at = plane + colour * line_words, j * (n + 1)
        joined = j + 1 < k and np.int64(board.colours[U(first + j + 1)]) == colour
        for i in range(n + 1):
            if joined:
                flags[U(tail + i)] = i < n and may_be(words, plane, i) and flags[U(rest + i + 1)] != 0
            else:
                flags[U(tail + i)] = flags[U(rest + i)]
        runs[U(n)] = 0
        flags[U(begin + n)] = 0
        some = False
        for i in range(n - 1, -1, -1):
            inked = may_be(words, ink, i)
            runs[U(i)] = runs[U(i + 1)] + 1 if inked else 0
            if length == 0:
                fits = inked and (flags[U(tail + i + 1)] != 0 or (flags[U(begin + i + 1)] != 0))
            else:
                fits = runs[U(i)] >= length and flags[U(tail + i + length)] != 0
            flags[U(begin + i)] = fits
            start[U(at + i)] = start[U(at + i)] and fits
            some = some or start[U(at + i)] != 0
        start[U(at + n)] = 0
        for i in range(n + 1):
            end[U(at + i)] = end[U(at + i)] and flags[U(tail + i)] != 0
        flags[U(rest + n)] = 0
        for i in range(n - 1, -1, -1):
            flags[U(rest + i)] = flags[U(begin + i)] or (may_be(words, plane, i) and flags[U(rest + i + 1)] != 0)
        every = every and some
    return every


@kernel(inner=True)
def ladder(flags, at, n, encoding, literals, to):
    """Order variables for the places flags[at:at+n+1]; their literals for p = -1..n go to literals[to:]."""
    last = np.int64(-1)
    for i in range(n + 1):
        if flags[U(at + i)]:
            last = i
    variable, length = encoding.sizes[1], encoding.sizes[2]
    current = -TRUE
    literals[U(to)] = current
    for i in range(n + 1):
        if flags[U(at + i)]:
            if i == last:
                current = TRUE
            else:
                variable += 1
                if variable <= len(encoding.places):
                    encoding.places[U(variable - 1)] = i
                if current != -TRUE:
                    length = put(encoding.flat, length, -current, variable, -TRUE)
                current = variable
        literals[U(to + i + 1)] = current
    encoding.sizes[1], encoding.sizes[2] = variable, length


@kernel(inner=True)
def encode_line(board, line, n, first, k, work, encoding):
    """The clauses of one line whose places are on the work."""
    flat, literals, step = encoding.flat, work.literals, n + 2
    ends = k * step
    is_row, width, n_colours = line < board.height, board.width, board.n_colours
    cell = line * width * n_colours if is_row else (line - board.height) * n_colours
    stride = n_colours if is_row else width * n_colours
    block = first - np.int64(board.block_starts[U(board.line)])
    for j in range(k):
        length = np.int64(board.lengths[U(first + j)])
        encoding.starts[U(block + j)] = encoding.sizes[1] + 1
        ladder(work.start, j * (n + 1), n, encoding, literals, j * step)
        if length == 0:
            ladder(work.end, j * (n + 1), n, encoding, literals, ends + j * step)
            size = encoding.sizes[2]
            for p in range(1, n + 1):
                if work.end[U(j * (n + 1) + p)]:
                    ended, begun = np.int64(literals[U(ends + j * step + p + 1)]), np.int64(literals[U(j * step + p)])
                    size = put(flat, size, -ended, begun, -TRUE)
            encoding.sizes[2] = size
        else:
            for p in range(-1, n + 1):
                begun = np.int64(literals[U(j * step + p - length + 1)]) if p >= length - 1 else -TRUE
                literals[U(ends + j * step + p + 1)] = begun
    size = encoding.sizes[2]
    for j in range(k):
        colour = np.int64(board.colours[U(first + j)])
        if j + 1 < k:
            sep = 1 if np.int64(board.colours[U(first + j + 1)]) == colour else 0
            for p in range(n):
                if work.start[U((j + 1) * (n + 1) + p)]:
                    after = np.int64(literals[U((j + 1) * step + p + 1)])
                    ended = np.int64(literals[U(ends + j * step + p - sep + 1)]) if p >= sep - 1 else -TRUE
                    size = put(flat, size, -after, ended, -TRUE)
        for p in range(n):
            begun = np.int64(literals[U(j * step + p + 1)])
            ended = np.int64(literals[U(ends + j * step + p + 1)])
            size = put(flat, size, -begun, ended, np.int64(encoding.cells[U(cell + p * stride + colour)]))
    for j in range(k + 1):
        for p in range(n):
            ended = np.int64(literals[U(ends + (j - 1) * step + p + 1)]) if j > 0 else TRUE
            begun = np.int64(literals[U(j * step + p + 1)]) if j < k else -TRUE
            size = put(flat, size, -ended, begun, np.int64(encoding.cells[U(cell + p * stride)]))
    encoding.sizes[2] = size


@kernel
def encode(place: int, clues: Clues, scratch_words: int, words: UInt64s, work: EncodeWork, encoding: Encoding):
    """Write the formula of puzzle `place` of a set, whose planes are the state ROOT in words; see board, solve.solve.

    Returns False when some block has no place: then there is no solution, and the formula means nothing.
    """
    board = board_of(place, clues, scratch_words)
    base = board.stack + ROOT * board.state_words
    cell_variables(words, board, base, encoding)
    for line in range(board.height + board.width):
        first, k = blocks_of(board, line)
        plane, line_words, n = line_at(board, base, line)
        if not find_places(words, board, plane, line_words, n, first, k, work):
            return False
        encode_line(board, line, n, first, k, work, encoding)
    last = np.int64(board.block_starts[U(board.line + board.height + board.width)])
    encoding.starts[U(last - np.int64(board.block_starts[U(board.line)]))] = encoding.sizes[1] + 1
    return True


@kernel
def join_variables(flat: Int32s, parents: Int32s):
    """Make parents[variable] (int32, at first itself) the least of all variables that clauses join with it."""
    first = np.int64(0)
    for i in range(len(flat)):
        variable = abs(np.int64(flat[U(i)]))
        if variable == 0 or first == 0:
            first = variable
            continue
        one, two = first, variable
        while parents[U(one)] != one:
            parents[U(one)] = parents[U(parents[U(one)])]
            one = np.int64(parents[U(one)])
        while parents[U(two)] != two:
            parents[U(two)] = parents[U(parents[U(two)])]
            two = np.int64(parents[U(two)])
        if one < two:
            parents[U(two)] = one
        else:
            parents[U(one)] = two
    for variable in range(len(parents)):  # parents are smaller, so one pass is enough
        parents[U(variable)] = parents[U(parents[U(variable)])]


DIGITS = 48
NEWLINE, BLANK, MINUS = 10, 32, 45


@kernel
def dimacs(flat: Int32s, n: int, text: UInt8s):
    """Clauses flat[:n] as DIMACS lines, written to text (uint8, at least 12 bytes a number); the bytes used."""
    at = 0
    for i in range(n):
        number = np.int64(flat[U(i)])
        if number < 0:
            text[U(at)] = MINUS
            at += 1
            number = -number
        digits, power = 1, np.int64(10)
        while power <= number:
            power *= 10
            digits += 1
        for place in range(digits - 1, -1, -1):
            text[U(at + place)] = DIGITS + number % 10
            number //= 10
        at += digits
        text[U(at)] = NEWLINE if flat[U(i)] == 0 else BLANK
        at += 1
    return at
