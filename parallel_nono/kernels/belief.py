"""Belief propagation over lines: for every open cell and every start of a block, what the lines together lean to.

Each line weighs its arrangements by what the crossing lines say of its cells, exactly, and says in return how likely
each colour of each cell is (the message is its marginal divided by what it was told). A SAT solver that decides along
these leanings finds a solution sooner; they are guesses, so no verdict depends on them.

An arrangement's weight is the product of its cells' weights, which are scaled to 1 for the likeliest colour of a cell:
what underflows is an arrangement that nobody believes in.
Source  Pearl: Probabilistic Reasoning in Intelligent Systems (1988), ch. 4, for the messages; the sums over
        arrangements are the usual forward-backward recurrence over (block, cell).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernel
from .arrays import Float64s, Float64Table, Int8s, UInt64s
from .bits import U
from .board import blocks_of, board_of, line_at
from .clues import Clues
from .encode import TRUE, Encoding, may_be
from .layout import ROOT

LEAST, DAMPING, SETTLED = 1e-6, 0.3, 1e-3
"""No message is smaller; the share of the old one that stays; changes below that end the rounds."""


class Room(NamedTuple):
    """Room for messages, and for the longest line: `n` cells, `k` blocks, `slack` cells that no block fills.

    messages  float64[2, cells * n_colours], what rows and columns say of the colours of each cell.
    weights   float64[n_colours * n], of the cells of one line, by colour.
    shares    float64[n_colours * (n + 1)], marginals of its cells.
    before    float64[k * (slack + 1)], weight of everything before a block that starts at its t-th place.
    within    float64[k * (slack + 1)], weight of the block there and of everything behind it.
    """

    messages: Float64Table
    weights: Float64s
    shares: Float64s
    before: Float64s
    within: Float64s


@kernel(inner=True)
def weigh_line(board, n, first, k, room):
    """Sums over the arrangements of one line with room.weights: fills room.before, room.within.

    Place t of a block is its earliest start plus t. Returns the slack, or -1 when no arrangement has any weight.
    """
    weights, before, within = room.weights, room.before, room.within
    filled = np.int64(0)
    for j in range(k):
        filled += np.int64(board.lengths[U(first + j)])
        if j and board.colours[U(first + j)] == board.colours[U(first + j - 1)]:
            filled += 1
    slack = n - filled
    size = slack + 1
    # Forward: what is before each start.
    product = 1.0
    for t in range(size):
        before[U(t)] = product
        product *= weights[U(t)]
    earliest = np.int64(0)
    for j in range(k):
        length, colour = np.int64(board.lengths[U(first + j)]), np.int64(board.colours[U(first + j)])
        at, ink = j * size, colour * n
        for t in range(size):
            within[U(at + t)] = 1.0
        for i in range(length):
            for t in range(size):
                within[U(at + t)] *= weights[U(ink + earliest + t + i)]
        if j + 1 < k:
            joined = np.int64(board.colours[U(first + j + 1)]) == colour
            behind, total = earliest + length, 0.0
            for t in range(size):
                if t:
                    total *= weights[U(behind + t - 1)]
                total += before[U(at + t)] * within[U(at + t)]
                before[U(at + size + t)] = total * weights[U(behind + t)] if joined else total
            earliest += length + (1 if joined else 0)
    # Backward: each block with what is behind it.
    product = 1.0
    at, behind = (k - 1) * size, n - slack
    for t in range(slack, -1, -1):
        within[U(at + t)] *= product
        if t:
            product *= weights[U(behind + t - 1)]
    for j in range(k - 2, -1, -1):
        at = j * size
        joined = board.colours[U(first + j + 1)] == board.colours[U(first + j)]
        behind = earliest - (1 if joined else 0)  # of block j at its first place
        total = 0.0
        for t in range(slack, -1, -1):
            if t < slack:
                total *= weights[U(earliest + t)]
            total += within[U(at + size + t)]
            within[U(at + t)] *= total * weights[U(behind + t)] if joined else total
        earliest = behind - np.int64(board.lengths[U(first + j)])
    total = 0.0
    for t in range(size):
        total += before[U(t)] * within[U(t)]
    if not total > 0.0:
        return np.int64(-1)
    for j in range(k):
        for t in range(size):
            within[U(j * size + t)] *= before[U(j * size + t)] / total
    return slack


@kernel(inner=True)
def line_of(board, base, line):
    """(cells, its background plane, words of a plane, first cell, step between cells, first block, blocks)."""
    plane, size, n = line_at(board, base, line)
    first, k = blocks_of(board, line)
    if line < board.height:
        return n, plane, size, line * board.width, np.int64(1), first, k
    return n, plane, size, line - board.height, board.width, first, k


@kernel(inner=True)
def told(words, board, plane, line_words, n, cell, step, heard, room):
    """The weights of a line's cells from the messages of the crossing lines. False when all its cells are known."""
    n_colours, messages, weights = board.n_colours, room.messages, room.weights
    some = False
    for i in range(n):
        at, most, left = (cell + i * step) * n_colours, 0.0, 0
        for colour in range(n_colours):
            weight = 0.0
            if may_be(words, plane + colour * line_words, i):
                weight = messages[heard, U(at + colour)]
                left += 1
            weights[U(colour * n + i)] = weight
            most = max(most, weight)
        for colour in range(n_colours):
            weights[U(colour * n + i)] /= most
        some = some or left > 1
    return some


@kernel(inner=True)
def tell(board, n, cell, step, first, k, slack, side, room):
    """New messages of a line whose starts are weighed; the largest change."""
    n_colours, messages, weights, shares = board.n_colours, room.messages, room.weights, room.shares
    for i in range(n_colours * (n + 1)):
        shares[U(i)] = 0.0
    earliest, size = np.int64(0), slack + 1
    for j in range(k):
        length, colour = np.int64(board.lengths[U(first + j)]), np.int64(board.colours[U(first + j)])
        if j and np.int64(board.colours[U(first + j - 1)]) == colour:
            earliest += 1
        at = colour * (n + 1) + earliest
        for t in range(size):
            share = room.within[U(j * size + t)]
            shares[U(at + t)] += share
            shares[U(at + t + length)] -= share
        earliest += length
    change = 0.0
    for colour in range(1, n_colours):
        total = 0.0
        for i in range(n):
            total += shares[U(colour * (n + 1) + i)]
            shares[U(colour * (n + 1) + i)] = max(total, 0.0)
            shares[U(i)] += max(total, 0.0)
    for i in range(n):
        shares[U(i)] = max(1.0 - shares[U(i)], 0.0)
    for i in range(n):
        total, at = 0.0, (cell + i * step) * n_colours
        for colour in range(n_colours):
            share = shares[U(colour * (n + 1) + i)] / max(weights[U(colour * n + i)], 1e-12)
            shares[U(colour * (n + 1) + i)] = share
            total += share
        if total > 0.0:
            for colour in range(n_colours):
                new = min(max(shares[U(colour * (n + 1) + i)] / total, LEAST), 1.0 - LEAST)
                old = messages[side, U(at + colour)]
                messages[side, U(at + colour)] = DAMPING * old + (1.0 - DAMPING) * new
                change = max(change, abs(new - old))
    return change


@kernel(inner=True)
def lean_starts(board, n, first, k, slack, room, encoding, phases):
    """Phases of the order variables of one line: start_j <= p leans to what is at least as likely as not."""
    earliest, size = np.int64(0), slack + 1
    for j in range(k):
        length, colour = np.int64(board.lengths[U(first + j)]), np.int64(board.colours[U(first + j)])
        if j and np.int64(board.colours[U(first + j - 1)]) == colour:
            earliest += 1
        block = first + j - np.int64(board.block_starts[U(board.line)])
        t, total = np.int64(0), 0.0
        for variable in range(encoding.starts[U(block)], encoding.starts[U(block + 1)]):
            place = np.int64(encoding.places[U(variable - 1)]) - earliest
            while t <= place and t < size:
                total += room.within[U(j * size + t)]
                t += 1
            phases[U(variable - 1)] = 1 if total >= 0.5 else -1
        earliest += length


@kernel
def believe(
    place: int,
    clues: Clues,
    scratch_words: int,
    words: UInt64s,
    encoding: Encoding,
    room: Room,
    rounds: int,
    phases: Int8s,
):
    """Phases (int8, 1 or -1, by variable - 1) of the formula of a puzzle (see encode.encode).

    rounds  at most; a line with a block of unknown length says nothing. Returns the rounds done.
    """
    board = board_of(place, clues, scratch_words)
    base = board.stack + ROOT * board.state_words
    messages = room.messages
    for i in range(board.height * board.width * board.n_colours):
        messages[0, U(i)] = 1.0 / board.n_colours
        messages[1, U(i)] = 1.0 / board.n_colours
    done = np.int64(0)
    while done < rounds:
        last = done == rounds - 1
        done += 1
        change = 0.0
        for line in range(board.height + board.width):
            n, plane, line_words, cell, step, first, k = line_of(board, base, line)
            side = np.int64(0) if line < board.height else np.int64(1)
            if not may_speak(board, first, k) or not told(
                words, board, plane, line_words, n, cell, step, 1 - side, room
            ):
                continue
            slack = weigh_line(board, n, first, k, room)
            if slack >= 0:
                change = max(change, tell(board, n, cell, step, first, k, slack, side, room))
                if last:
                    lean_starts(board, n, first, k, slack, room, encoding, phases)
        if change < SETTLED and not last:
            rounds = done + 1
    lean_cells(words, board, base, room, encoding, phases)
    return done


@kernel(inline=True)
def may_speak(board, first, k):
    """True when all blocks of a line have a length."""
    for j in range(first, first + k):
        if board.lengths[U(j)] == 0:
            return False
    return k > 0


@kernel(inner=True)
def lean_cells(words, board, base, room, encoding, phases):
    """Phases of the variables of cells: towards the likeliest colour."""
    messages, n_colours = room.messages, board.n_colours
    for cell in range(board.height * board.width):
        best, likeliest = -1.0, np.int64(-1)
        at = cell * n_colours
        for colour in range(n_colours):
            literal = np.int64(encoding.cells[U(at + colour)])
            belief = messages[0, U(at + colour)] * messages[1, U(at + colour)]
            if abs(literal) != TRUE and belief > best:
                best, likeliest = belief, colour
        for colour in range(n_colours):
            literal = np.int64(encoding.cells[U(at + colour)])
            if abs(literal) != TRUE:
                agrees = colour == likeliest
                if literal > 0:
                    phases[U(literal - 1)] = 1 if agrees else -1
