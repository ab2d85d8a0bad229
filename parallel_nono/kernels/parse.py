"""Digits to clues: the formats that come by the ten thousand, read from bytes.

The kernels take what is ordinary. A text with anything else in it is not marked in `done` and goes to the format's
`parse`, which finds the words for what is wrong. Bytes are ASCII, lines end in "\\n".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import kernel
from .arrays import ConstUInt8s, Int32s, Int32Table, Int64s, Int64Table

MAX_LINE = 200_000  # the same limit as formats.text.MAX_LINE
NEWLINE, TAB, BLANK, HASH, DOLLAR, COMMA, DOT, SLASH, COLON, SMALL_X = 10, 9, 32, 35, 36, 44, 46, 47, 58, 120

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def read_texts(one_kind: Callable[..., tuple[int, int, int]], texts: Sequence[str]) -> Arrays:
    """Run a kernel of this module over texts.

    Returns  owners int32[puzzles], heights, widths, labels int64[puzzles, 2] (from, to in the texts put together),
             counts int32[lines], lengths int32[blocks], as `formats.Packed` wants them.
    """
    data = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    room = len(data) + len(texts) + 2  # a line takes a byte or ends its text, a block takes a byte
    puzzles = np.empty((3, room // 3 + len(texts) + 1), np.int32)
    labels = np.empty((puzzles.shape[1], 2), np.int64)
    counts, lengths = np.empty(room, np.int32), np.empty(room, np.int32)
    spare_counts, spare_lengths = np.empty(room, np.int32), np.empty(room, np.int32)
    n, n_lines, n_blocks = one_kind(data, starts, puzzles, labels, counts, lengths, spare_counts, spare_lengths)
    owners, heights, widths = puzzles[:, :n].copy()
    return owners, heights, widths, labels[:n].copy(), counts[:n_lines].copy(), lengths[:n_blocks].copy()


@kernel(inline=True)
def _clue(data, at, end, gap, other_gap, stop, lengths, n):
    """Read lengths up to `stop`, a line end or `end`.

    Returns (place of what ended it, blocks, zeros): blocks -1 when it is no clue; zeros 1 for a lone `0`.
    """
    value, count, zeros = -1, 0, 0
    while at < end:
        byte = data[at]
        if 48 <= byte <= 57:
            value = max(value, 0) * 10 + byte - 48
            if value > MAX_LINE:
                return at, -1, 0
        else:
            if value > 0:
                lengths[n + count] = value
                count += 1
            elif value == 0:
                zeros += 1
            value = -1
            if byte == stop or byte == NEWLINE:  # noqa: SIM109
                break
            if byte != gap and byte != other_gap:
                return at, -1, 0
        at += 1
    if value > 0:
        lengths[n + count] = value
        count += 1
    elif value == 0:
        zeros += 1
    if zeros and (count or zeros > 1):
        return at, -1, 0
    return at, count, zeros


@kernel(inline=True)
def _rows_first(columns, lines, counts, lengths, n_lines, n_blocks, from_counts, from_lengths):
    """Copy the lines of a puzzle whose columns come first; returns its number of blocks."""
    in_columns = 0
    for line in range(columns):
        in_columns += from_counts[line]
    blocks = in_columns
    for line in range(columns, lines):
        counts[n_lines + line - columns] = from_counts[line]
        blocks += from_counts[line]
    for line in range(columns):
        counts[n_lines + lines - columns + line] = from_counts[line]
    for block in range(in_columns, blocks):
        lengths[n_blocks + block - in_columns] = from_lengths[block]
    for block in range(in_columns):
        lengths[n_blocks + blocks - in_columns + block] = from_lengths[block]
    return blocks


@kernel
def nin(
    data: ConstUInt8s,
    starts: Int64s,
    puzzles: Int32Table,
    labels: Int64Table,
    counts: Int32s,
    lengths: Int32s,
    spare_counts: Int32s,
    spare_lengths: Int32s,
):
    """`W H`, H rows, W columns, one line each, none blank. Returns (puzzles, lines, blocks)."""
    n, n_lines, n_blocks = 0, 0, 0
    for text in range(len(starts) - 1):
        at, end = starts[text], starts[text + 1]
        at, count, zeros = _clue(data, at, end, BLANK, TAB, NEWLINE, spare_lengths, 0)
        width, height = spare_lengths[0], spare_lengths[1]
        good = count == 2
        line, block = n_lines, n_blocks
        if good:
            for _ in range(height + width):
                at += 1
                if at >= end:
                    good = False
                    break
                at, count, zeros = _clue(data, at, end, BLANK, TAB, NEWLINE, lengths, block)
                if count < 0 or (count == 0 and zeros == 0):
                    good = False
                    break
                counts[line] = count
                line += 1
                block += count
        while good and at < end:
            good = data[at] == NEWLINE or data[at] == BLANK or data[at] == TAB
            at += 1
        if good:
            puzzles[0, n], puzzles[1, n], puzzles[2, n] = text, height, width
            labels[n, 0], labels[n, 1] = 0, 0
            n += 1
            n_lines, n_blocks = line, block
    return n, n_lines, n_blocks


@kernel
def taai(
    data: ConstUInt8s,
    starts: Int64s,
    puzzles: Int32Table,
    labels: Int64Table,
    counts: Int32s,
    lengths: Int32s,
    spare_counts: Int32s,
    spare_lengths: Int32s,
):
    """`$label`, then all columns, then as many rows; an empty line is a clue. Returns (puzzles, lines, blocks)."""
    n, n_lines, n_blocks = 0, 0, 0
    for text in range(len(starts) - 1):
        at, end = starts[text], starts[text + 1]
        m, line, block = n, n_lines, n_blocks
        good = at < end
        while good and at < end:
            if data[at] != DOLLAR:
                good = False
                break
            labels[m, 0] = at + 1
            while at < end and data[at] != NEWLINE:
                at += 1
            labels[m, 1] = at
            at += 1
            size, blocks, last_blank = 0, 0, False
            while at < end and data[at] != DOLLAR:
                at, count, zeros = _clue(data, at, end, BLANK, TAB, NEWLINE, spare_lengths, blocks)
                if count < 0:
                    good = False
                    break
                spare_counts[size] = count
                last_blank = count == 0 and zeros == 0
                size += 1
                blocks += count
                at += 1
            if size % 2 == 1 and last_blank:
                size -= 1
            half = size // 2
            if not good or size == 0 or size % 2 == 1 or half > MAX_LINE:
                good = False
                break
            total, place = 0, 0
            for i in range(size):
                cells = max(spare_counts[i] - 1, 0)
                for _ in range(spare_counts[i]):
                    total += spare_lengths[place] if i < half else -spare_lengths[place]
                    cells += spare_lengths[place]
                    place += 1
                if cells > half:
                    good = False
            if total != 0 or not good:
                good = False
                break
            blocks = _rows_first(half, size, counts, lengths, line, block, spare_counts, spare_lengths)
            puzzles[0, m], puzzles[1, m], puzzles[2, m] = text, half, half
            m += 1
            line += size
            block += blocks
        if good:
            n, n_lines, n_blocks = m, line, block
    return n, n_lines, n_blocks


@kernel(inline=True)
def _size(data, at, end):
    """A number from 1 to MAX_LINE; returns (place behind it, number), number 0 where there is none."""
    value = 0
    while at < end and 48 <= data[at] <= 57 and value <= MAX_LINE:
        value = value * 10 + data[at] - 48
        at += 1
    return at, value if value <= MAX_LINE else 0


@kernel
def sgt(
    data: ConstUInt8s,
    starts: Int64s,
    puzzles: Int32Table,
    labels: Int64Table,
    counts: Int32s,
    lengths: Int32s,
    spare_counts: Int32s,
    spare_lengths: Int32s,
):
    """Lines `[label TAB]WxH:1.1/1//...`, columns first. Returns (puzzles, lines, blocks)."""
    n, n_lines, n_blocks = 0, 0, 0
    for text in range(len(starts) - 1):
        at, end = starts[text], starts[text + 1]
        m, line, block = n, n_lines, n_blocks
        good = True
        while good and at < end:
            if data[at] == NEWLINE:
                at += 1
                continue
            if data[at] == HASH:
                good = False
                break
            labels[m, 0], labels[m, 1] = at, at
            ahead = at
            while ahead < end and data[ahead] != NEWLINE and data[ahead] != TAB:
                ahead += 1
            if ahead < end and data[ahead] == TAB:
                labels[m, 1] = ahead
                at = ahead + 1
            at, width = _size(data, at, end)
            height = width
            if at < end and data[at] == SMALL_X:
                at, height = _size(data, at + 1, end)
            if width == 0 or height == 0 or at >= end or data[at] != COLON:
                good = False
                break
            blocks = 0
            for i in range(width + height):
                if at >= end or (i and data[at] != SLASH):
                    good = False
                    break
                first = at + 1
                at, count, _ = _clue(data, first, end, DOT, DOT, SLASH, spare_lengths, blocks)
                if count < 0 or (at > first and (data[first] == DOT or data[at - 1] == DOT)):
                    good = False
                    break
                for j in range(first + 1, at):
                    if data[j] == DOT and data[j - 1] == DOT:
                        good = False
                spare_counts[i] = count
                blocks += count
            if not good or (at < end and data[at] != NEWLINE):
                good = False
                break
            lines = width + height
            _rows_first(width, lines, counts, lengths, line, block, spare_counts, spare_lengths)
            puzzles[0, m], puzzles[1, m], puzzles[2, m] = text, height, width
            m += 1
            line += lines
            block += blocks
            at += 1
        if good and m > n:
            n, n_lines, n_blocks = m, line, block
    return n, n_lines, n_blocks
