"""What the kernels share that read puzzles from bytes: numbers, clues, words, facts, goals.

A kernel reads many texts in one call. It takes what is ordinary and leaves a text with anything else in it to the
format's `parse`, which finds the words for what is wrong: what it has written of such a text is taken back. Texts are
UTF-8, or are not taken; lines end in "\\n", the last one perhaps with its text. Nothing is read beyond a text, and
nothing is as large as a size that a text only claims.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import kernel
from .arrays import ConstUInt8s, Int32s, Int64s, Int64Table, UInt8s, UInt16s

MAX_LINE = 200_000  # the same limits as in formats.common.text
MAX_CELLS = 400_000_000
NEWLINE, TAB, BLANK, QUOTE, HASH, DOLLAR, AMPERSAND, COMMA, DOT = 10, 9, 32, 34, 35, 36, 38, 44, 46
SLASH, ZERO, ONE, NINE, COLON, LESS, EQUALS, GREATER, BACKSLASH = 47, 48, 49, 57, 58, 60, 61, 62, 92
OPEN_LIST, CLOSE_LIST, SMALL_A, SMALL_X, SMALL_Z, OPEN, BAR, CLOSE, LAST = 91, 93, 97, 120, 122, 123, 124, 125, 126
MINUS, QUESTION, UNDERLINE = 45, 63, 95

OWNER, HEIGHT, WIDTH, TITLE, TITLE_END, LABEL, LABEL_END = range(7)
FACTS_END, CELLS_END, INKS, HEAD, HEAD_END, COLOURS, COLOURS_END = range(7, 14)
N_FIELDS = 14
"""What is said of a puzzle, a row of `Found.puzzles`: the text that it is from; its sizes; where its own name, and what
else tells it apart, stand in the data; where its facts and the cells of its goal end; its colours that are used, as
bits; where the colours are declared, in two parts."""

PUZZLES, LINES, BLOCKS, CELLS, CHARS, N_FACTS, N_OUT = range(7)
FIRST_FACT, MOST_FACTS = 8, 24
FIRST_INK, MOST_INKS = FIRST_FACT + 2 * MOST_FACTS, 60
FIRST_CHAR = FIRST_INK + 3 * MOST_INKS
SAVED = FIRST_CHAR + 128
N_ENDS = SAVED + N_OUT
DEFAULT_INK = N_OUT + 1
"""What `ends` holds: how much is found so far; then, of the puzzle at hand, where the names of its facts begin and end
in the data; where the names of its colours begin and end, with a character each; the colour that each character of
ASCII stands for, -1 for none; how much was found before the text at hand; the colour of blocks that name none."""


class Texts(NamedTuple):
    """What is read: text i is data[starts[i] : starts[i + 1]]; what follows the last one are words for the kernel."""

    data: ConstUInt8s
    starts: Int64s


class Found(NamedTuple):
    """What is found, each puzzle behind the other.

    puzzles   a row each, see OWNER and the others.
    counts    blocks of each line, rows first; then lengths and colours of all blocks.
    cells     goals, row by row, of those that have one.
    facts     what is told of the puzzles, as JSON objects in UTF-8.
    spare_counts, spare_lengths, spare_colours  of puzzles whose columns come first.
    """

    puzzles: Int64Table
    counts: Int32s
    lengths: Int32s
    colours: UInt16s
    cells: UInt16s
    facts: UInt8s
    spare_counts: Int32s
    spare_lengths: Int32s
    spare_colours: UInt16s


def word(text: str) -> np.ndarray:
    """A word as kernels compare it."""
    return np.frombuffer(text.encode("ascii"), np.uint8)


AMP, LT, GT, QUOT, APOS, COPY = map(word, ("&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&copy;"))
COPYRIGHT = 0xC2, 0xA9


@kernel(inline=True)
def keep(ends):
    """Remember how much is found so far, for a text that may have to be taken back."""
    for place in range(CHARS + 1):
        ends[SAVED + place] = ends[place]


@kernel(inline=True)
def take_back(ends):
    """Forget what was found of the text at hand."""
    for place in range(CHARS + 1):
        ends[place] = ends[SAVED + place]


@kernel(inline=True)
def clue(data, at, end, gap, other_gap, stop, lengths, n):
    """Read lengths up to `stop`, a line end or `end`.

    Returns (place of what ended it, blocks, zeros): blocks -1 when it is no clue; zeros 1 for a lone `0`.
    """
    value, count, zeros = -1, 0, 0
    while at < end:
        byte = data[at]
        if ZERO <= byte <= NINE:
            if value == 0:  # numbers that begin with 0 are as long as they like
                return at, -1, 0
            value = max(value, 0) * 10 + byte - ZERO
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
def number(data, at, end):
    """(place behind it, number) of digits; -1 where there are none, or one that begins with 0 or is too large."""
    first, value = at, 0
    while at < end and ZERO <= data[at] <= NINE and value <= MAX_LINE:
        value = value * 10 + data[at] - ZERO
        at += 1
    if at == first or value > MAX_LINE or (data[first] == ZERO and at > first + 1):
        return at, -1
    return at, value


@kernel(inline=True)
def past_gap(data, at, end):
    """The place behind blanks and line ends."""
    while at < end and (data[at] == BLANK or data[at] == NEWLINE or data[at] == TAB):
        at += 1
    return at


@kernel(inline=True)
def past_blanks(data, at, end):
    """The place behind blanks."""
    while at < end and (data[at] == BLANK or data[at] == TAB):
        at += 1
    return at


@kernel(inline=True)
def line_end(data, at, end):
    """Where the line ends that `at` is in."""
    while at < end and data[at] != NEWLINE:
        at += 1
    return at


@kernel(inline=True)
def past(data, at, end, wanted):
    """The place behind a word, or -1 where it does not stand."""
    if at < 0 or at + len(wanted) > end:
        return -1
    for i in range(len(wanted)):
        if data[at + i] != wanted[i]:
            return -1
    return at + len(wanted)


@kernel(inline=True)
def is_word(data, start, end, wanted):
    """True for a piece of the data that is a word."""
    return end - start == len(wanted) and past(data, start, end, wanted) == end


@kernel(inner=True)
def same(data, first, first_end, other, other_end):
    """True for two pieces of the data that are alike."""
    if first_end - first != other_end - other:
        return False
    for i in range(first_end - first):  # noqa: SIM110
        if data[first + i] != data[other + i]:
            return False
    return True


@kernel(inner=True)
def rows_first(columns, lines, found, ends):
    """Take over the lines of a puzzle whose columns come first, from the spare arrays."""
    n_lines, n_blocks = ends[LINES], ends[BLOCKS]
    from_counts, from_lengths, from_colours = found.spare_counts, found.spare_lengths, found.spare_colours
    in_columns = np.int64(0)
    for line in range(columns):
        in_columns += from_counts[line]
    blocks = in_columns
    for line in range(columns, lines):
        found.counts[n_lines + line - columns] = from_counts[line]
        blocks += from_counts[line]
    for line in range(columns):
        found.counts[n_lines + lines - columns + line] = from_counts[line]
    for block in range(in_columns, blocks):
        found.lengths[n_blocks + block - in_columns] = from_lengths[block]
        found.colours[n_blocks + block - in_columns] = from_colours[block]
    for block in range(in_columns):
        found.lengths[n_blocks + blocks - in_columns + block] = from_lengths[block]
        found.colours[n_blocks + blocks - in_columns + block] = from_colours[block]
    return blocks


@kernel(inline=True)
def begin(found, ends, text):
    """Open a puzzle: nothing is said of it yet."""
    n = ends[PUZZLES]
    for field in range(N_FIELDS):
        found.puzzles[n, field] = 0
    found.puzzles[n, OWNER] = text
    ends[N_FACTS] = 0
    ends[N_OUT] = ends[CHARS]


@kernel(inner=True)
def finish(found, ends, height, width, blocks):
    """Close a puzzle: its lines and blocks are in place. False if it is larger than puzzles are."""
    if height * width > MAX_CELLS:
        return False
    n = ends[PUZZLES]
    if ends[N_FACTS] > 0:
        found.facts[ends[N_OUT]] = CLOSE
        ends[CHARS] = ends[N_OUT] + 1
    puzzle = found.puzzles[n]
    puzzle[HEIGHT], puzzle[WIDTH] = height, width
    puzzle[FACTS_END], puzzle[CELLS_END] = ends[CHARS], ends[CELLS]
    ends[PUZZLES] = n + 1
    ends[LINES] += height + width
    ends[BLOCKS] += blocks
    return True


@kernel(inner=True)
def name_fact(data, start, end, found, ends):
    """Write the name of a fact, which stands in data[start:end] and holds no quotes. False if the puzzle has such a
    fact, or too many, or if there is no room."""
    n, at = ends[N_FACTS], ends[N_OUT]
    if n == MOST_FACTS or at + end - start + 16 > len(found.facts):
        return False
    for other in range(n):
        if same(data, start, end, ends[FIRST_FACT + 2 * other], ends[FIRST_FACT + 2 * other + 1]):
            return False
    ends[FIRST_FACT + 2 * n], ends[FIRST_FACT + 2 * n + 1] = start, end
    ends[N_FACTS] = n + 1
    facts = found.facts
    if n == 0:
        facts[at] = OPEN
        at += 1
    else:
        facts[at], facts[at + 1] = COMMA, BLANK
        at += 2
    facts[at] = QUOTE
    at += 1
    for i in range(start, end):
        facts[at] = data[i]
        at += 1
    facts[at], facts[at + 1], facts[at + 2] = QUOTE, COLON, BLANK
    ends[N_OUT] = at + 3
    return True


@kernel(inner=True)
def character(data, at, end):
    """(place behind an entity, its byte, of `&copy;` the first one), -1 first for one that is not known."""
    second = data[at + 1] if at + 1 < end else 0
    if second == 97:  # a
        to = past(data, at, end, AMP)
        return (to, AMPERSAND) if to >= 0 else (past(data, at, end, APOS), 39)
    if second == 108:  # l
        return past(data, at, end, LT), LESS
    if second == 103:  # g
        return past(data, at, end, GT), GREATER
    if second == 113:  # q
        return past(data, at, end, QUOT), QUOTE
    return past(data, at, end, COPY), COPYRIGHT[0]


@kernel(inline=True)
def put_character(facts, at, byte):
    """Write a character of a JSON text; returns the place behind it."""
    if byte == QUOTE or byte == BACKSLASH:  # noqa: SIM109
        facts[at] = BACKSLASH
        at += 1
    facts[at] = byte
    if byte == COPYRIGHT[0]:
        at += 1
        facts[at] = COPYRIGHT[1]
    return at + 1


@kernel(inner=True)
def plain_fact(data, start, end, entities, found, ends):
    """Write the text of a fact as it stands in data[start:end] (see past_plain), or with entities as what they stand
    for. False if one is not known, or if there is no room."""
    at, facts = ends[N_OUT], found.facts
    if at + end - start + 16 > len(facts):
        return False
    facts[at] = QUOTE
    at += 1
    while start < end:
        if data[start] == AMPERSAND and entities and not (start + 1 < end and data[start + 1] == BLANK):
            start, byte = character(data, start, end)
            if start < 0:
                return False
            at = put_character(facts, at, byte)
        else:
            facts[at] = data[start]
            start += 1
            at += 1
    facts[at] = QUOTE
    ends[N_OUT] = at + 1
    return True


@kernel(inner=True)
def past_wide(data, at, end):
    """The place behind a character of more than one byte; `at` for what is none, and for blanks, marks and the like.

    Taken are U+00A1 to U+07FF, U+2010 to U+205E and U+20A0 to U+CFFF with gaps, and U+1F000 to U+1FFFF.
    """
    first = np.int64(data[at])
    second = np.int64(data[at + 1]) if at + 1 < end else 0
    third = np.int64(data[at + 2]) if at + 2 < end else 0
    fourth = np.int64(data[at + 3]) if at + 3 < end else 0
    if second >> 6 != 2:
        return at
    if 0xC2 <= first <= 0xDF:
        return at if first == 0xC2 and (second <= 0xA0 or second == 0xAD) else at + 2
    if third >> 6 != 2:
        return at
    if 0xE2 <= first <= 0xEC:
        code = (first & 15) << 12 | (second & 63) << 6 | third & 63
        if 0x2010 <= code <= 0x2027 or 0x2030 <= code <= 0x205E or 0x20A0 <= code <= 0x2FFF or code > 0x3000:
            return at + 3
    return at + 4 if first == 0xF0 and second == 0x9F and fourth >> 6 == 2 else at


@kernel(inline=True)
def past_plain(data, at, end):
    """The place behind characters that are printable, no quotes and no backslash."""
    while at < end:
        byte = data[at]
        if byte > LAST:
            to = past_wide(data, at, end)
            if to == at:
                break
            at = to
        elif byte < BLANK or byte == QUOTE or byte == BACKSLASH:  # noqa: SIM109
            break
        else:
            at += 1
    return at


@kernel(inner=True)
def is_text(data, at, end):
    """True for UTF-8 that decoding leaves as it is."""
    while at < end:
        to = at + 1 if data[at] < 128 else past_wide(data, at, end)
        if to == at:
            return False
        at = to
    return True


@kernel(inner=True)
def shows(cells, start, step, n_cells, lengths, colours, block, count):
    """True if the line of cells that begins at `start` has these runs.

    Where runs end can't be foreseen, so no cell is a branch: every cell is looked at as if a run ended before it.
    """
    run, seen = 0, 0
    wrong = False
    colour = np.int64(0)
    for i in range(n_cells + 1):
        cell = np.int64(cells[start + i * step]) if i < n_cells else np.int64(0)
        ends = (cell != colour) & (colour != 0)
        at = block + min(seen, count)  # behind the last block there is room for another
        wrong |= ends & ((lengths[at] != run) | (colours[at] != colour))
        seen += ends
        run = run + 1 if cell == colour else 1
        colour = cell
    return seen == count and not wrong


@kernel(inner=True)
def goal_fits(found, ends, height, width):
    """True if the goal, the cells at ends[CELLS], has the runs of the clues, which are in place."""
    line, block, cell = ends[LINES], ends[BLOCKS], ends[CELLS]
    for i in range(height + width):
        count = np.int64(found.counts[line + i])
        if i < height:
            fine = shows(found.cells, cell + i * width, 1, width, found.lengths, found.colours, block, count)
        else:
            fine = shows(found.cells, cell + i - height, width, height, found.lengths, found.colours, block, count)
        if not fine:
            return False
        block += count
    return True


@kernel(inline=True)
def no_chars(ends):
    """No character stands for a colour."""
    for char in range(128):
        ends[FIRST_CHAR + char] = -1


@kernel(inner=True)
def only_used(found, ends, n_colours, blocks, cells):
    """Number the colours of a puzzle anew, without those that neither its blocks nor the cells of its goal have; these
    are behind what is found. Returns the colours that stay, as bits, the background among them."""
    first_block, first_cell = ends[BLOCKS], ends[CELLS]
    used = 1
    for block in range(first_block, first_block + blocks):
        used |= 1 << np.int64(found.colours[block])
    for cell in range(first_cell, first_cell + cells):
        used |= 1 << np.int64(found.cells[cell])
    if used == 1:
        used = 3
    if used + 1 == 1 << n_colours:
        return used
    n = 0
    for colour in range(n_colours):
        ends[FIRST_CHAR + colour] = n
        n += used >> colour & 1
    for block in range(first_block, first_block + blocks):
        found.colours[block] = ends[FIRST_CHAR + found.colours[block]]
    for cell in range(first_cell, first_cell + cells):
        found.cells[cell] = ends[FIRST_CHAR + found.cells[cell]]
    return used
