"""Clues of puzzles that Python has cut out of their files: a section of rows and one of columns for each, from bytes.

The kernels take what is ordinary; a puzzle with anything else in it, or with a goal that breaks its clues, spoils its
file, which then goes to the format's `parse`. Bytes are ASCII, lines end in "\\n".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from . import kernel
from .arrays import Bools, ConstUInt8s, Int32s, Int64s, UInt16s
from .parse import BLANK, COMMA, MAX_LINE, NEWLINE, TAB, _clue

LINE, LINE_END, LINE_EMPTY = (np.frombuffer(tag, np.uint8) for tag in (b"<line>", b"</line>", b"<line/>"))
COUNT, COUNT_COLOUR, COLOUR_END, COUNT_END = (
    np.frombuffer(tag, np.uint8) for tag in (b"<count>", b'<count color="', b'">', b"</count>")
)


MAX_COLOUR = 65_535  # colours are uint16


class Texts(NamedTuple):
    """What is read: data[starts[i] : starts[i + 1]] is a section, cells likewise the goal of a puzzle."""

    data: ConstUInt8s
    starts: Int64s
    cells: ConstUInt8s
    cell_starts: Int64s


class Blocks(NamedTuple):
    """What is found: blocks of each line, then lengths and colours of all blocks."""

    counts: Int32s
    lengths: Int32s
    colours: UInt16s


def read_sections(
    sections: Sequence[str],
    heights: np.ndarray,
    widths: np.ndarray,
    owners: np.ndarray,
    goals: Sequence[str],
    xml: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Read two sections a puzzle, rows first.

    heights, widths, owners  int32[puzzles]; the lines that the sections must hold, the files that they are from.
    goals    a text of digits, the colour of each cell, row by row, for each puzzle; "": none.
    xml      sections of `<line>` elements, colours of counts as numbers, without one 1; else of a clue a line, numbers
             parted by commas or blanks, all of colour 1.
    Returns  (good bool[puzzles], counts int32[lines], lengths int32[blocks], colours uint16[blocks]); of files without
             a bad puzzle only.
    """
    data = np.frombuffer("".join(sections).encode("ascii"), np.uint8)
    starts = np.zeros(len(sections) + 1, np.int64)
    np.cumsum([len(section) for section in sections], out=starts[1:])
    cells = np.frombuffer("".join(goals).encode("ascii"), np.uint8)
    cell_starts = np.zeros(len(goals) + 1, np.int64)
    np.cumsum([len(goal) for goal in goals], out=cell_starts[1:])
    room = len(data) + len(sections) + 1  # a line takes a byte or ends its section, a block takes a byte
    found = Blocks(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint16))
    good = np.zeros(len(heights), np.bool_)
    texts = Texts(data, starts, cells, cell_starts)
    n_lines, n_blocks = _read(texts, heights, widths, owners, xml, found, good)
    return good, found.counts[:n_lines].copy(), found.lengths[:n_blocks].copy(), found.colours[:n_blocks].copy()


@kernel(inline=True)
def _past_blanks(data, at, end):
    while at < end and (data[at] == BLANK or data[at] == NEWLINE or data[at] == TAB):
        at += 1
    return at


@kernel(inline=True)
def _past(data, at, end, word):
    """The place behind `word`, or -1 where it does not stand."""
    if at < 0 or at + len(word) > end:
        return -1
    for i in range(len(word)):
        if data[at + i] != word[i]:
            return -1
    return at + len(word)


@kernel(inner=True)
def _number_lines(data, at, end, wanted, counts, lengths, colours, n_lines, n_blocks):
    """Clues a line each, blank lines aside. Returns the number of blocks so far, or -1."""
    line = 0
    while at < end:
        at, count, zeros = _clue(data, at, end, BLANK, COMMA, NEWLINE, lengths, n_blocks)
        at += 1
        if count == 0 and zeros == 0:
            continue
        if count < 0 or line == wanted:
            return -1
        counts[n_lines + line] = count
        line += 1
        for block in range(n_blocks, n_blocks + count):
            colours[block] = 1
        n_blocks += count
    return n_blocks if line == wanted else -1


@kernel(inline=True)
def _number(data, at, end):
    """(place behind it, number) of digits; the number is 0, or beyond MAX_LINE, where it is none that is taken."""
    value = 0
    while at < end and 48 <= data[at] <= 57 and value <= MAX_LINE:
        value = value * 10 + data[at] - 48
        at += 1
    return at, value


@kernel(inner=True)
def _xml_lines(data, at, end, wanted, counts, lengths, colours, n_lines, n_blocks):
    """`<line>` elements with `<count>` elements. Returns the number of blocks so far, or -1."""
    line = 0
    at = _past_blanks(data, at, end)
    while at < end:
        if line == wanted:
            return -1
        count = 0
        inside = _past(data, at, end, LINE)
        at = _past(data, at, end, LINE_EMPTY) if inside < 0 else inside
        while inside >= 0:
            inside = _past_blanks(data, inside, end)
            at = _past(data, inside, end, LINE_END)
            if at >= 0:
                break
            plain = _past(data, inside, end, COUNT)
            colour = 1
            if plain < 0:
                inside = _past(data, inside, end, COUNT_COLOUR)
                if inside < 0:
                    return -1
                inside, colour = _number(data, inside, end)
                plain = _past(data, inside, end, COLOUR_END)
                if plain < 0 or colour == 0 or colour > MAX_COLOUR:
                    return -1
            inside, value = _number(data, plain, end)
            inside = _past(data, inside, end, COUNT_END)
            if inside < 0 or value == 0 or value > MAX_LINE:
                return -1
            lengths[n_blocks] = value
            colours[n_blocks] = colour
            n_blocks += 1
            count += 1
        if at < 0:
            return -1
        counts[n_lines + line] = count
        line += 1
        at = _past_blanks(data, at, end)
    return n_blocks if line == wanted else -1


@kernel(inner=True)
def _shows(cells, start, step, n_cells, lengths, colours, block, count):
    """True if the line of cells (48 background, 49 colour 1, ...) that begins at `start` has these runs."""
    run, found, colour = 0, 0, 0
    for i in range(n_cells + 1):
        cell = cells[start + i * step] - 48 if i < n_cells else 0
        if run and cell != colour:
            if found == count or lengths[block + found] != run or colours[block + found] != colour:
                return False
            found += 1
            run = 0
        if cell:
            run += 1
        colour = cell
    return found == count


@kernel
def _read(texts: Texts, heights: Int32s, widths: Int32s, owners: Int32s, xml: bool, found: Blocks, good: Bools):
    """Returns (lines, blocks)."""
    data, starts, cells, cell_starts = texts.data, texts.starts, texts.cells, texts.cell_starts
    counts, lengths, colours = found.counts, found.lengths, found.colours
    n_lines, n_blocks = 0, 0
    first, line_from, block_from = 0, 0, 0  # of the file that is being read
    spoilt = -1  # the last file with a bad puzzle
    for puzzle in range(len(heights)):
        if owners[puzzle] != owners[first]:
            first, line_from, block_from = puzzle, n_lines, n_blocks
        if owners[puzzle] == spoilt:
            continue
        line, block = n_lines, n_blocks
        height, width = heights[puzzle], widths[puzzle]
        for side in range(2):
            section = 2 * puzzle + side
            wanted = width if side else height
            start, end = starts[section], starts[section + 1]
            if block >= 0 and xml:
                block = _xml_lines(data, start, end, wanted, counts, lengths, colours, line, block)
            elif block >= 0:
                block = _number_lines(data, start, end, wanted, counts, lengths, colours, line, block)
            line += wanted
        if block >= 0 and cell_starts[puzzle] < cell_starts[puzzle + 1]:
            start, at = cell_starts[puzzle], n_blocks
            for i in range(height + width):
                count = counts[n_lines + i]
                if i < height:
                    fine = _shows(cells, start + i * width, 1, width, lengths, colours, at, count)
                else:
                    fine = _shows(cells, start + i - height, width, height, lengths, colours, at, count)
                if not fine:
                    block = -1
                    break
                at += count
        if block < 0:
            spoilt = owners[puzzle]
            good[first : puzzle + 1] = False
            n_lines, n_blocks = line_from, block_from
            continue
        good[puzzle] = True
        n_lines, n_blocks = line, block
    return n_lines, n_blocks
