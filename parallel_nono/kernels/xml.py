"""webpbn's XML to clues, called and limited as the kernels of parse are.

The XML is the usual one, element for element: a `<puzzleset>` with facts and puzzles, in each facts, then colours, then
two `<clues>`, then perhaps a goal.
"""

from __future__ import annotations

import numpy as np

from . import kernel
from .arrays import Int64s
from .scan import (
    AMPERSAND,
    BAR,
    BLANK,
    BLOCKS,
    CELLS,
    CHARS,
    CLOSE_LIST,
    COLOURS,
    COLOURS_END,
    DEFAULT_INK,
    DOT,
    FIRST_CHAR,
    FIRST_INK,
    GREATER,
    HEAD,
    HEAD_END,
    INKS,
    LABEL,
    LABEL_END,
    LAST,
    LESS,
    LINES,
    MAX_LINE,
    MOST_INKS,
    N_OUT,
    NEWLINE,
    OPEN_LIST,
    PUZZLES,
    QUESTION,
    QUOTE,
    SLASH,
    TAB,
    TITLE,
    TITLE_END,
    Found,
    Texts,
    begin,
    character,
    finish,
    goal_fits,
    is_word,
    keep,
    name_fact,
    no_chars,
    number,
    only_used,
    past,
    past_gap,
    past_wide,
    put_character,
    rows_first,
    same,
    take_back,
    word,
)

NAMES = b"whiteblack"
"""What is to stand behind the texts of XML: the colours that need no declaration."""

WHITE, BLACK = word("white"), word("black")
XML, ENCODING, XML_END, DOCTYPE = map(word, ('<?xml version="1.0"', ' encoding="', "?>", '<!DOCTYPE pbn SYSTEM "'))
UTF_8, UTF_8_SMALL = word('UTF-8"'), word('utf-8"')
PUZZLESET, PUZZLESET_END, PUZZLE, PUZZLE_END = map(word, ("<puzzleset>", "</puzzleset>", "<puzzle", "</puzzle>"))
GRID, BACKGROUND, DEFAULT = map(word, (' type="grid"', ' backgroundcolor="', ' defaultcolor="'))
COLOR, CHAR, TAG_END, COLOR_END = map(word, ('<color name="', '" char="', '">', "</color>"))
CLUES, ROWS, COLUMNS, CLUES_END = map(word, ('<clues type="', 'rows">', 'columns">', "</clues>"))
LINE, LINE_END, LINE_EMPTY = map(word, ("<line>", "</line>", "<line/>"))
COUNT, COUNT_COLOR, COUNT_END = map(word, ("<count>", '<count color="', "</count>"))
GOAL, IMAGE, IMAGE_END, GOAL_END = map(word, ('<solution type="goal">', "<image>", "</image>", "</solution>"))
FACT_ID, FACT_TITLE, FACT_AUTHOR, FACT_AUTHORID = map(word, ("id", "title", "author", "authorid"))
FACT_SOURCE, FACT_COPYRIGHT, FACT_DESCRIPTION, FACT_NOTE = map(word, ("source", "copyright", "description", "note"))
MOST_HEAD = 3_900
"""Bytes before `<puzzleset>`: it is looked for in the first 4,000 (formats.webpbn.sniff)."""

UNDECLARED_BLACK = 88  # X


@kernel(inner=True)
def _is_fact(data, start, end):
    """True for the name of an element that is a fact."""
    return (
        is_word(data, start, end, FACT_ID)
        or is_word(data, start, end, FACT_TITLE)
        or is_word(data, start, end, FACT_AUTHOR)
        or is_word(data, start, end, FACT_AUTHORID)
        or is_word(data, start, end, FACT_SOURCE)
        or is_word(data, start, end, FACT_COPYRIGHT)
        or is_word(data, start, end, FACT_DESCRIPTION)
        or is_word(data, start, end, FACT_NOTE)
    )


@kernel(inner=True)
def _fact_text(data, at, end, found, ends):
    """Write the text of a fact up to the next tag: gaps as single blanks, entities as what they stand for. Returns the
    place of the tag, or -1."""
    facts, out = found.facts, ends[N_OUT]
    room = len(facts) - 16
    if out > room:
        return -1
    facts[out] = QUOTE
    out += 1
    first, gap = out, False
    while at < end and data[at] != LESS:
        byte = np.int64(data[at])
        at += 1
        if byte == BLANK or byte == NEWLINE or byte == TAB:  # noqa: SIM109
            gap = True
            continue
        if byte < BLANK or byte == GREATER or out > room:
            return -1
        if gap and out > first:
            facts[out] = BLANK
            out += 1
        gap = False
        if byte > LAST:
            to = past_wide(data, at - 1, end)
            if to < at:
                return -1
            for i in range(at - 1, to):
                facts[out] = data[i]
                out += 1
            at = to
            continue
        if byte == AMPERSAND:
            at, byte = character(data, at - 1, end)
            if at < 0:
                return -1
        out = put_character(facts, out, byte)
    facts[out] = QUOTE
    ends[N_OUT] = out + 1
    return at if at < end else -1


@kernel(inner=True)
def _xml_facts(data, at, end, found, ends):
    """Elements that are facts, and what else follows is not read. Returns the place behind them, or -1."""
    puzzle = found.puzzles[ends[PUZZLES]]
    at = past_gap(data, at, end)
    while at < end and data[at] == LESS:
        name = at + 1
        stop = name
        while stop < end and data[stop] != GREATER and data[stop] != BLANK:
            stop += 1
        if stop == end or not _is_fact(data, name, stop):
            break
        text = stop + 1
        if data[stop] != GREATER or not name_fact(data, name, stop, found, ends):
            return -1
        at = _fact_text(data, text, end, found, ends)
        behind = at + 3 + stop - name
        if at < 0 or behind > end or data[at + 1] != SLASH or not same(data, at + 2, behind - 1, name, stop):
            return -1
        if data[behind - 1] != GREATER:
            return -1
        if is_word(data, name, stop, FACT_TITLE):
            puzzle[TITLE], puzzle[TITLE_END] = past_gap(data, text, at), at
        elif is_word(data, name, stop, FACT_ID):
            puzzle[LABEL], puzzle[LABEL_END] = text, at
        at = past_gap(data, behind, end)
    return at


@kernel(inline=True)
def _past_value(data, at, end):
    """The place of the quotes that end the value of an attribute, or -1."""
    while at < end and BLANK <= data[at] <= LAST and data[at] != QUOTE:
        if data[at] == AMPERSAND or data[at] == LESS or data[at] == GREATER:
            return -1
        at += 1
    return at if at < end and data[at] == QUOTE else -1


@kernel(inline=True)
def _set_ink(ends, n, start, end, char):
    ends[FIRST_INK + 3 * n], ends[FIRST_INK + 3 * n + 1], ends[FIRST_INK + 3 * n + 2] = start, end, char


@kernel(inner=True)
def _ink(data, start, end, n, ends):
    """The place of a name among the first n colours, or -1."""
    for i in range(n):
        if same(data, start, end, ends[FIRST_INK + 3 * i], ends[FIRST_INK + 3 * i + 1]):
            return i
    return -1


@kernel(inner=True)
def _attributes(data, at, end, found, ends):
    """The attributes of a `<puzzle>`, which name its first two colours. Returns the place behind it, or -1."""
    puzzle = found.puzzles[ends[PUZZLES]]
    puzzle[HEAD] = at
    grid = past(data, at, end, GRID)
    at = grid if grid >= 0 else at
    names = len(data) - len(WHITE) - len(BLACK)
    _set_ink(ends, 0, names, names + len(WHITE), -1)
    _set_ink(ends, 1, names + len(WHITE), len(data), -1)
    for n in range(2):
        start = past(data, at, end, DEFAULT) if n else past(data, at, end, BACKGROUND)
        if start >= 0:
            stop = _past_value(data, start, end)
            if stop <= start:
                return -1
            _set_ink(ends, n, start, stop, -1)
            at = stop + 1
    puzzle[HEAD_END] = at
    one = same(data, ends[FIRST_INK], ends[FIRST_INK + 1], ends[FIRST_INK + 3], ends[FIRST_INK + 4])
    ends[DEFAULT_INK] = 0 if one else 1
    return -1 if at >= end or data[at] != GREATER else at + 1


@kernel(inner=True)
def _colours(data, at, end, found, ends):
    """`<color>` elements. Returns (the place behind them, how many colours there are with the first ones), or -1."""
    puzzle = found.puzzles[ends[PUZZLES]]
    puzzle[COLOURS] = at
    n = ends[DEFAULT_INK] + 1
    while True:
        name = past(data, at, end, COLOR)
        if name < 0:
            break
        name_end = _past_value(data, name, end)
        char = past(data, name_end, end, CHAR)
        char_end = _past_value(data, char, end) if char >= 0 else -1
        at = past(data, char_end, end, TAG_END)
        if name_end <= name or at < 0:
            return -1, 0
        while at < end and data[at] != LESS:
            if data[at] == AMPERSAND or data[at] == GREATER or data[at] < BLANK or data[at] > LAST:
                return -1, 0
            at += 1
        at = past(data, at, end, COLOR_END)
        place = _ink(data, name, name_end, n, ends)
        if at < 0 or n == MOST_INKS or (place >= 0 and ends[FIRST_INK + 3 * place + 2] != -1):
            return -1, 0
        known = np.int64(data[char]) if char_end == char + 1 else np.int64(0)
        _set_ink(ends, place if place >= 0 else n, name, name_end, known)
        n += place < 0
        at = past_gap(data, at, end)
    puzzle[COLOURS_END] = at
    return at, n


@kernel(inner=True)
def _no_declaration_lacks(data, ends):
    """True if background and default are declared, or need not be."""
    for n in range(ends[DEFAULT_INK] + 1):
        start, end, char = ends[FIRST_INK + 3 * n], ends[FIRST_INK + 3 * n + 1], ends[FIRST_INK + 3 * n + 2]
        if char == -1:
            if not (is_word(data, start, end, BLACK) if n else is_word(data, start, end, WHITE)):
                return False
            ends[FIRST_INK + 3 * n + 2] = UNDECLARED_BLACK if n else DOT
    return True


@kernel(inner=True)
def _count(data, at, end, n, ends):
    """A `<count>`. Returns (the place behind it, its length, its colour), -1 first for one that is not taken."""
    inside = past(data, at, end, COUNT)
    colour = ends[DEFAULT_INK]
    if inside < 0:
        name = past(data, at, end, COUNT_COLOR)
        if name < 0:
            return -1, 0, 0
        name_end = name
        while name_end < end and data[name_end] != QUOTE:
            name_end += 1
        colour = _ink(data, name, name_end, n, ends)
        inside = past(data, name_end, end, TAG_END)
    inside, length = number(data, inside, end) if inside >= 0 else (end, -1)
    at = past(data, inside, end, COUNT_END)
    return (at if length > 0 and colour > 0 else -1), length, colour


@kernel(inner=True)
def _side(data, at, end, n, counts, lengths, colours, first, ends):
    """`<line>` elements and the end of `<clues>`; first: (lines, blocks) before them; n: colours.

    Returns (the place behind it, lines, blocks), -1 first.
    """
    line, block = first
    at = past_gap(data, at, end)
    while at + 1 < end and data[at] == LESS and data[at + 1] != SLASH:
        inside = past(data, at, end, LINE)
        at = past(data, at, end, LINE_EMPTY) if inside < 0 else inside
        before = block
        while inside >= 0:
            at = past_gap(data, at, end)
            if at + 1 < end and data[at + 1] == SLASH:
                at = past(data, at, end, LINE_END)
                break
            at, length, colour = _count(data, at, end, n, ends)
            if at < 0:
                break
            lengths[block], colours[block] = length, colour
            block += 1
        if at < 0:
            return -1, 0, 0
        counts[line] = block - before
        line += 1
        at = past_gap(data, at, end)
    return past(data, at, end, CLUES_END), line - first[0], block - first[1]


@kernel(inner=True)
def _clues(data, at, end, n, found, ends):
    """The two `<clues>`; the puzzle's lines are put in place. Returns (the place behind them, height, width, blocks),
    -1 first."""
    height, width, blocks = 0, 0, 0
    columns_first = False
    for turn in range(2):
        at = past(data, past_gap(data, at, end), end, CLUES)
        rows, columns = past(data, at, end, ROWS), past(data, at, end, COLUMNS)
        if turn == 0:
            columns_first = columns >= 0
        elif columns_first != (rows >= 0):
            return -1, 0, 0, 0
        at = max(rows, columns)
        if at < 0:
            return -1, 0, 0, 0
        before = height + width
        if columns_first:
            counts, lengths, colours = found.spare_counts, found.spare_lengths, found.spare_colours
            first = before, blocks
        else:
            counts, lengths, colours = found.counts, found.lengths, found.colours
            first = ends[LINES] + before, ends[BLOCKS] + blocks
        at, lines, more = _side(data, at, end, n, counts, lengths, colours, first, ends)
        if at < 0 or lines < 1 or lines > MAX_LINE:
            return -1, 0, 0, 0
        if rows >= 0:
            height = lines
        else:
            width = lines
        blocks += more
    if columns_first:
        rows_first(width, height + width, found, ends)
    return at, height, width, blocks


@kernel(inner=True)
def _name_chars(n, ends):
    """Have each colour found by its character. False if a goal can't be read by them."""
    no_chars(ends)
    for i in range(n):
        char = ends[FIRST_INK + 3 * i + 2]
        if char <= BLANK or char == OPEN_LIST or char == CLOSE_LIST or char == BAR or char == QUESTION:  # noqa: SIM109
            return False
        if ends[FIRST_CHAR + char] >= 0:
            return False
        ends[FIRST_CHAR + char] = i
    return True


@kernel(inner=True)
def _goal(data, at, end, height, width, found, ends):
    """The rows of a picture between bars, with the end of its element. Returns the place behind it, or -1."""
    cell = ends[CELLS]
    at = past_gap(data, at, end)
    for _ in range(height):
        if at + width + 2 >= end or data[at] != BAR or data[at + width + 1] != BAR:
            return -1
        for i in range(at + 1, at + width + 1):
            colour = ends[FIRST_CHAR + min(data[i], 127)]
            if colour < 0:
                return -1
            found.cells[cell] = colour
            cell += 1
        at += width + 2
        if data[at] != LESS and past_gap(data, at, end) == at:
            return -1
        at = past_gap(data, at, end)
    return past(data, at, end, IMAGE_END)


@kernel(inner=True)
def _xml_puzzle(data, at, end, common, found, ends):
    """The puzzle whose `<puzzle` is before a place; common: where facts of all puzzles begin, its owner.

    Returns the place behind it, or -1.
    """
    begin(found, ends, common[1])
    if _xml_facts(data, common[0], end, found, ends) < 0:
        return -1
    puzzle = found.puzzles[ends[PUZZLES]]
    puzzle[TITLE_END] = puzzle[TITLE] = puzzle[LABEL] = puzzle[LABEL_END] = 0  # those of the whole are none
    at = _attributes(data, at, end, found, ends)
    if at < 0:
        return -1
    at = _xml_facts(data, at, end, found, ends)
    if at < 0:
        return -1
    at, n = _colours(data, at, end, found, ends)
    if at < 0 or n < 2 or not _no_declaration_lacks(data, ends):
        return -1
    at, height, width, blocks = _clues(data, at, end, n, found, ends)
    if at < 0:
        return -1
    at = past_gap(data, at, end)
    goal = past(data, at, end, GOAL)
    cells = 0
    if goal >= 0:
        image = past(data, past_gap(data, goal, end), end, IMAGE)
        cells = height * width
        if image < 0 or cells > end - image or not _name_chars(n, ends):
            return -1
        at = _goal(data, image, end, height, width, found, ends)
        if at < 0 or not goal_fits(found, ends, height, width):
            return -1
        at = past(data, past_gap(data, at, end), end, GOAL_END)
        if at < 0:
            return -1
        at = past_gap(data, at, end)
    puzzle[INKS] = only_used(found, ends, n, blocks, cells)
    ends[CELLS] += cells
    at = past(data, at, end, PUZZLE_END)
    return at if at >= 0 and finish(found, ends, height, width, blocks) else -1


@kernel(inner=True)
def _xml_head(data, at, end):
    """The place behind `<puzzleset>`, or -1."""
    start = at
    declared = past(data, at, end, XML)
    if declared >= 0:
        encoding = past(data, declared, end, ENCODING)
        if encoding >= 0:
            declared = max(past(data, encoding, end, UTF_8), past(data, encoding, end, UTF_8_SMALL))
        at = past(data, declared, end, XML_END)
        if at < 0:
            return -1
    at = past_gap(data, at, end)
    doctype = past(data, at, end, DOCTYPE)
    if doctype >= 0:
        at = past(data, _past_value(data, doctype, end), end, TAG_END)
        if at < 0:
            return -1
    at = past(data, past_gap(data, at, end), end, PUZZLESET)
    return at if at - start < MOST_HEAD else -1


@kernel(inner=True)
def _webpbn(data, at, end, text, found, ends):
    """All puzzles of a text. True if they are taken."""
    first = _xml_head(data, at, end)
    if first < 0:
        return False
    begin(found, ends, text)
    at = _xml_facts(data, first, end, found, ends)
    n, untitled = ends[PUZZLES], False
    while True:
        behind = past(data, at, end, PUZZLE)
        if behind < 0:
            break
        puzzle = found.puzzles[ends[PUZZLES]]
        at = _xml_puzzle(data, behind, end, (first, text), found, ends)
        if at < 0:
            return False
        untitled = untitled or puzzle[TITLE] == puzzle[TITLE_END]
        at = past_gap(data, at, end)
    n = ends[PUZZLES] - n
    at = past(data, at, end, PUZZLESET_END)
    return n > 0 and not (untitled and n > 1) and at >= 0 and past_gap(data, at, end) == end


@kernel
def webpbn(texts: Texts, found: Found, ends: Int64s):
    """webpbn's XML; NAMES stand behind the texts."""
    for text in range(len(texts.starts) - 1):
        keep(ends)
        if not _webpbn(texts.data, texts.starts[text], texts.starts[text + 1], text, found, ends):
            take_back(ends)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]
