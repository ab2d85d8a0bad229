"""JSON to clues, called and limited as the kernels of parse are.

An object a puzzle, alone, in a list or under `puzzles`, with lists of lists of numbers, facts that are texts, and goals
that are lists of texts.
"""

from __future__ import annotations

from . import kernel
from .arrays import Int64s
from .scan import (
    BLANK,
    BLOCKS,
    CELLS,
    CHARS,
    CLOSE,
    CLOSE_LIST,
    COLON,
    COMMA,
    DOT,
    HASH,
    HEIGHT,
    LINES,
    MAX_LINE,
    NEWLINE,
    NINE,
    ONE,
    OPEN,
    OPEN_LIST,
    PUZZLES,
    QUOTE,
    TITLE,
    TITLE_END,
    WIDTH,
    ZERO,
    Found,
    Texts,
    begin,
    finish,
    goal_fits,
    is_word,
    keep,
    line_end,
    name_fact,
    number,
    past,
    past_gap,
    past_plain,
    plain_fact,
    rows_first,
    take_back,
    word,
)

MOST_DIGITS = 15
SMALL_L, SMALL_O, SMALL_W = 108, 111, 119
KEY_ROWS, KEY_COLUMNS, KEY_COLS, KEY_NAME, KEY_GOAL = map(word, ("rows", "columns", "cols", "name", "goal"))
ROW_CLUES, ROW_CLUES_2, COL_CLUES, COL_CLUES_2 = map(word, ("row_clues", "rowClues", "col_clues", "colClues"))
COLUMN_CLUES, COLUMN_CLUES_2, KEY_PUZZLES = map(word, ("column_clues", "columnClues", '"puzzles"'))
KEY_METADATA, KEY_TITLE, KEY_HEIGHT, KEY_WIDTH = map(word, ("metadata", "title", "height", "width"))
KEY_SOLUTION, KEY_PICTURE, KEY_PALETTE = map(word, ("solution", "picture", "palette"))
KEY_WARNINGS, KEY_CONTENT = map(word, ("warnings", "content"))
BEGINS_ROW, BEGINS_COL, BEGINS_VER, BEGINS_HOR = map(word, ("row", "col", "ver", "hor"))
NO_KEY, SIDE, NAME, PICTURE, METADATA, SIZE_HIGH, SIZE_WIDE, FACT = 0, 1, 3, 4, 5, 6, 7, 8
"""What a key of an object may be: SIDE of the rows, SIDE + 1 of the columns."""


@kernel(inner=True)
def _json_key(data, start, end):
    """What a key is: (kind, of which family), kind NO_KEY for one that is left to `parse`."""
    if is_word(data, start, end, KEY_ROWS):
        return SIDE, 0
    if is_word(data, start, end, KEY_COLUMNS) or is_word(data, start, end, KEY_COLS):
        return SIDE + 1, 0
    if is_word(data, start, end, ROW_CLUES):
        return SIDE, 1
    if is_word(data, start, end, COL_CLUES) or is_word(data, start, end, COLUMN_CLUES):
        return SIDE + 1, 1
    if is_word(data, start, end, ROW_CLUES_2):
        return SIDE, 2
    if is_word(data, start, end, COL_CLUES_2) or is_word(data, start, end, COLUMN_CLUES_2):
        return SIDE + 1, 2
    if is_word(data, start, end, KEY_NAME) or is_word(data, start, end, KEY_TITLE):
        return NAME, 0
    if is_word(data, start, end, KEY_GOAL):
        return PICTURE, 0
    if is_word(data, start, end, KEY_METADATA):
        return METADATA, 0
    if is_word(data, start, end, KEY_HEIGHT):
        return SIZE_HIGH, 0
    if is_word(data, start, end, KEY_WIDTH):
        return SIZE_WIDE, 0
    if past(data, start, end, BEGINS_ROW) >= 0 or past(data, start, end, BEGINS_COL) >= 0:
        return NO_KEY, 0
    if past(data, start, end, BEGINS_VER) >= 0 or past(data, start, end, BEGINS_HOR) >= 0:
        return NO_KEY, 0
    if is_word(data, start, end, KEY_SOLUTION) or is_word(data, start, end, KEY_PICTURE):
        return NO_KEY, 0
    if is_word(data, start, end, KEY_PALETTE) or is_word(data, start, end, KEY_WARNINGS):
        return NO_KEY, 0
    return (NO_KEY if is_word(data, start, end, KEY_CONTENT) else FACT), 0


@kernel(inline=True)
def _json_text(data, at, end):
    """The place behind the quotes that end a plain text, or -1; its own begin at `at`."""
    if at >= end or data[at] != QUOTE:
        return -1
    at = past_plain(data, at + 1, end)
    return at + 1 if at < end and data[at] == QUOTE else -1


@kernel(inner=True)
def _json_side(data, at, end, counts, lengths, line, block):
    """A list of lists of lengths. Returns (the place behind it, lines, blocks), -1 first."""
    first_line, first_block = line, block
    at = past_gap(data, at + 1, end)
    while at < end and data[at] == OPEN_LIST:
        at = past_gap(data, at + 1, end)
        before, zeros = block, 0
        while at < end and data[at] != CLOSE_LIST:
            at, length = number(data, at, end)
            if length < 0:
                return -1, 0, 0
            if length:
                lengths[block] = length
                block += 1
            else:
                zeros += 1
            at = past_gap(data, at, end)
            if at < end and data[at] == COMMA:
                at = past_gap(data, at + 1, end)
                if at < end and data[at] == CLOSE_LIST:
                    return -1, 0, 0
            elif at < end and data[at] != CLOSE_LIST:
                return -1, 0, 0
        if zeros > 1 or (zeros and block > before):
            return -1, 0, 0
        counts[line] = block - before
        line += 1
        at = past_gap(data, at + 1, end)
        if at < end and data[at] == CLOSE_LIST:
            return at + 1, line - first_line, block - first_block
        if at >= end or data[at] != COMMA:
            return -1, 0, 0
        at = past_gap(data, at + 1, end)
    return -1, 0, 0


@kernel(inner=True)
def _json_goal(data, at, end, height, width, found, ends):
    """A list of rows such as "##.#". Returns the place behind it, or -1."""
    cell = ends[CELLS]
    if at >= end or data[at] != OPEN_LIST or width < 2 or height * width > end - at:
        return -1
    for row in range(height):
        at = past_gap(data, at + 1, end)
        if at + width + 1 >= end or data[at] != QUOTE or data[at + width + 1] != QUOTE:
            return -1
        for i in range(at + 1, at + width + 1):
            if data[i] != HASH and data[i] != DOT and data[i] != ZERO and data[i] != ONE:
                return -1
            found.cells[cell] = 1 if data[i] == HASH or data[i] == ONE else 0
            cell += 1
        at = past_gap(data, at + width + 2, end)
        if at >= end or data[at] != (COMMA if row < height - 1 else CLOSE_LIST):
            return -1
    return at + 1


@kernel(inner=True)
def _json_fact(data, key, key_end, at, end, found, ends):
    """A text or a number as a fact. Returns the place behind it, or -1."""
    stop = _json_text(data, at, end)
    start, last = at + 1, stop - 1
    if stop < 0:
        start = at
        while at < end and ZERO <= data[at] <= NINE:
            at += 1
        stop = last = at
        if start == stop or stop - start > MOST_DIGITS or (data[start] == ZERO and stop > start + 1) or stop >= end:
            return -1
        if data[stop] != COMMA and data[stop] != CLOSE and past_gap(data, stop, end) == stop:
            return -1
        for i in range(key, key_end - 1):
            if data[i] == SMALL_O and (data[i + 1] == SMALL_W or data[i + 1] == SMALL_L):  # rows, cols: a size
                return -1
    if not (name_fact(data, key, key_end, found, ends) and plain_fact(data, start, last, False, found, ends)):
        return -1
    return stop


@kernel(inner=True)
def _json_facts(data, at, end, found, ends):
    """An object of texts. Returns the place behind it, or -1."""
    if at >= end or data[at] != OPEN:
        return -1
    at = past_gap(data, at + 1, end)
    if at < end and data[at] == CLOSE:
        return at + 1
    while at < end:
        key, key_end = at + 1, _json_text(data, at, end) - 1
        at = past_gap(data, key_end + 1, end) if key_end > 0 else end
        if at >= end or data[at] != COLON:
            return -1
        at = past_gap(data, at + 1, end)
        stop = _json_text(data, at, end)
        if stop < 0 or not name_fact(data, key, key_end, found, ends):
            return -1
        if not plain_fact(data, at + 1, stop - 1, False, found, ends):
            return -1
        at = past_gap(data, stop, end)
        if at >= end or data[at] != COMMA:
            return at + 1 if at < end and data[at] == CLOSE else -1
        at = past_gap(data, at + 1, end)
    return -1


@kernel(inner=True)
def _json_name(data, start, end, found, ends):
    """Keep the name of a puzzle. False if it has one, or one with blanks around it."""
    puzzle = found.puzzles[ends[PUZZLES]]
    if puzzle[TITLE] or (start < end and (data[start] == BLANK or data[end - 1] == BLANK)):
        return False
    puzzle[TITLE], puzzle[TITLE_END] = start, end
    return True


@kernel(inner=True)
def _json_clues(data, at, end, side, first, blocks, found, ends):
    """The list of a side, 0 for rows and 1 for columns; `first` is the one that comes first, `blocks` how many that
    has. Returns (the place behind it, blocks of both), -1 first."""
    puzzle = found.puzzles[ends[PUZZLES]]
    line = puzzle[HEIGHT] + puzzle[WIDTH]
    if first == 1:
        at, lines, more = _json_side(data, at, end, found.spare_counts, found.spare_lengths, line, blocks)
    else:
        line, block = line + ends[LINES], blocks + ends[BLOCKS]
        at, lines, more = _json_side(data, at, end, found.counts, found.lengths, line, block)
    if at < 0 or puzzle[HEIGHT + side] or lines > MAX_LINE:
        return -1, 0
    puzzle[HEIGHT + side] = lines
    if puzzle[HEIGHT] and puzzle[WIDTH] and first == 1:
        rows_first(puzzle[WIDTH], puzzle[HEIGHT] + puzzle[WIDTH], found, ends)
    return at, blocks + more


@kernel(inner=True)
def _json_end(told, family, blocks, goal, found, ends):
    """Close a puzzle. told: height and width as it says them, 0 for none. True if all is well."""
    puzzle = found.puzzles[ends[PUZZLES]]
    height, width = puzzle[HEIGHT], puzzle[WIDTH]
    if not (height and width and family[0] == family[1]):
        return False
    if (told[0] and told[0] != height) or (told[1] and told[1] != width):
        return False
    for block in range(ends[BLOCKS], ends[BLOCKS] + blocks):
        found.colours[block] = 1
    if goal:
        if not goal_fits(found, ends, height, width):
            return False
        ends[CELLS] += height * width
    return finish(found, ends, height, width, blocks)


@kernel(inner=True)
def _json_puzzle(data, at, end, text, found, ends):
    """The object that begins at a place. Returns the place behind it, or -1."""
    begin(found, ends, text)
    puzzle = found.puzzles[ends[PUZZLES]]
    first, blocks = -1, 0
    row_family, column_family, height, width = 0, 0, 0, 0
    goal, metadata = False, False
    at = past_gap(data, at + 1, end)
    while at < end:
        key, key_end = at + 1, _json_text(data, at, end) - 1
        at = past_gap(data, key_end + 1, end) if key_end > 0 else end
        if at >= end or data[at] != COLON:
            return -1
        at = past_gap(data, at + 1, end)
        if at >= end:
            return -1
        kind, family = _json_key(data, key, key_end)
        if kind == SIDE or kind == SIDE + 1:
            if data[at] != OPEN_LIST:
                return -1
            side = kind - SIDE
            first = side if first < 0 else first
            at, blocks = _json_clues(data, at, end, side, first, blocks, found, ends)
            row_family, column_family = (row_family, family) if side else (family, column_family)
        elif kind == NAME:
            start = at + 1
            at = _json_text(data, at, end)
            if at >= 0 and not _json_name(data, start, at - 1, found, ends):
                return -1
        elif kind == PICTURE:
            if goal or puzzle[HEIGHT] == 0 or puzzle[WIDTH] == 0:
                return -1
            goal = True
            at = _json_goal(data, at, end, puzzle[HEIGHT], puzzle[WIDTH], found, ends)
        elif kind == METADATA:
            if metadata:
                return -1
            metadata = True
            at = _json_facts(data, at, end, found, ends)
        elif kind == NO_KEY or metadata:
            return -1
        else:
            if kind != FACT and data[at] != QUOTE:
                _, size = number(data, at, end)
                if size <= 0:
                    return -1
                height, width = (size, width) if kind == SIZE_HIGH else (height, size)
            at = _json_fact(data, key, key_end, at, end, found, ends)
        if at < 0:
            return -1
        at = past_gap(data, at, end)
        if at >= end or data[at] != COMMA:
            break
        at = past_gap(data, at + 1, end)
    if at >= end or data[at] != CLOSE:
        return -1
    fine = _json_end((height, width), (row_family, column_family), blocks, goal, found, ends)
    return at + 1 if fine else -1


@kernel(inner=True)
def _json_list(data, at, end, text, found, ends):
    """The objects of a list that is open. Returns the place behind it, or -1."""
    at = past_gap(data, at, end)
    while at < end and data[at] == OPEN:
        at = _json_puzzle(data, at, end, text, found, ends)
        if at < 0:
            return -1
        at = past_gap(data, at, end)
        if at < end and data[at] == CLOSE_LIST:
            return at + 1
        if at >= end or data[at] != COMMA:
            return -1
        at = past_gap(data, at + 1, end)
    return -1


@kernel(inner=True)
def _json_lines(data, at, end, text, found, ends):
    """An object, or several, each in a line of its own. Returns the place behind them, or -1."""
    first = ends[PUZZLES]
    while at < end and data[at] == OPEN:
        start, puzzle = at, found.puzzles[ends[PUZZLES]]
        at = _json_puzzle(data, at, end, text, found, ends)
        if at < 0:
            return -1
        stop = at
        at = past_gap(data, at, end)
        if at < end or ends[PUZZLES] > first + 1:
            for i in range(start, stop):
                if data[i] == NEWLINE:
                    return -1
            for i in range(puzzle[TITLE], puzzle[TITLE_END]):
                if data[i] == COLON:  # it could look like the place of the line
                    return -1
            if at < end and line_end(data, stop, at) == at:
                return -1
    return at


@kernel(inner=True)
def _json_texts(data, at, end, text, found, ends):
    """All puzzles of a text. True if they are taken."""
    at = past_gap(data, at, end)
    if at >= end:
        return False
    if data[at] == OPEN_LIST:
        at = _json_list(data, at + 1, end, text, found, ends)
    elif data[at] == OPEN:
        inside = past(data, past_gap(data, at + 1, end), end, KEY_PUZZLES)
        if inside < 0:
            at = _json_lines(data, at, end, text, found, ends)
        else:
            inside = past_gap(data, inside, end)
            colon = inside < end and data[inside] == COLON
            inside = past_gap(data, inside + 1, end)
            if not colon or inside >= end or data[inside] != OPEN_LIST:
                return False
            at = _json_list(data, inside + 1, end, text, found, ends)
            at = past_gap(data, at, end) if at >= 0 else end
            at = at + 1 if at < end and data[at] == CLOSE else -1
    else:
        return False
    return at >= 0 and past_gap(data, at, end) == end


@kernel
def json(texts: Texts, found: Found, ends: Int64s):
    """JSON; black and white."""
    for text in range(len(texts.starts) - 1):
        keep(ends)
        if not _json_texts(texts.data, texts.starts[text], texts.starts[text + 1], text, found, ends):
            take_back(ends)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]
