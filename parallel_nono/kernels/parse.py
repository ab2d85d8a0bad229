"""Lines of text to clues: the formats that come by the ten thousand. See scan for what these kernels have in common.

Each is called with the texts, with room for what is found, and with room for numbers (scan.N_ENDS); what it returns is
how many puzzles, lines, blocks, cells and characters of facts there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from . import compiles_here, is_ready, kernel
from .arrays import Int64s
from .scan import (
    BLANK,
    BLOCKS,
    CELLS,
    CHARS,
    COLON,
    COMMA,
    DOLLAR,
    DOT,
    EQUALS,
    FIRST_CHAR,
    HASH,
    HEAD,
    HEAD_END,
    HEIGHT,
    INKS,
    LABEL,
    LABEL_END,
    LAST,
    LINES,
    MAX_LINE,
    MINUS,
    MOST_INKS,
    N_ENDS,
    N_FIELDS,
    NEWLINE,
    NINE,
    ONE,
    PUZZLES,
    QUESTION,
    QUOTE,
    SLASH,
    SMALL_A,
    SMALL_X,
    SMALL_Z,
    TAB,
    TITLE,
    TITLE_END,
    UNDERLINE,
    WIDTH,
    ZERO,
    Found,
    Texts,
    begin,
    clue,
    finish,
    goal_fits,
    is_text,
    is_word,
    keep,
    line_end,
    name_fact,
    no_chars,
    number,
    only_used,
    past_blanks,
    past_plain,
    plain_fact,
    rows_first,
    take_back,
    word,
)

Kernel = Callable[[Texts, Found, np.ndarray], tuple[int, int, int, int, int]]

COMPILE_FROM = 1 << 20
"""Bytes of text for which Numba may as well compile: `parse` takes as long for them."""

MOST_LABEL = 80
MOST_DIGITS = 6
LEAST_DIVIDER = 4
ROWS, COLUMNS, TITLED, GOAL, HIGH, WIDE = map(word, ("rows", "columns", "title", "goal", "height", "width"))
COLOR, COLOUR, SAVED_GAME = map(word, ("color", "colour", "saved"))
DECLARED = 100, 68  # d, D
TRIDDLER = 116, 84  # t, T


def read_texts(one_kind: Kernel, texts: Sequence[bytes], least: int = 0, words: bytes = b"") -> tuple[bytes, Found]:
    """Run a kernel over texts; where it would have to be compiled first, nothing is found, and `parse` has them.

    least    bytes that the shortest puzzle takes; 0: a text holds one puzzle at most.
    words    what the kernel wants to have behind the texts.
    Returns  (the texts put together, what is found, each array as long as it must be).
    """
    joined = b"".join(texts) + words
    data = np.frombuffer(joined, np.uint8)
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=starts[1:])
    room = len(data) + len(texts) + 2  # a line takes a byte, or ends its text
    blocks = room // 2 + 2  # a block takes two, or ends its text
    rows = len(texts) + 1 + (len(data) // least if least else 0)
    found = Found(
        np.empty((rows, N_FIELDS), np.int64),
        np.empty(room, np.int32),
        np.empty(blocks, np.int32),
        np.empty(blocks, np.uint16),
        np.empty(room, np.uint16),
        np.empty(4 * room + 64, np.uint8),
        np.empty(room, np.int32),
        np.empty(blocks, np.int32),
        np.empty(blocks, np.uint16),
    )
    ends = np.zeros(N_ENDS, np.int64)
    n = n_lines = n_blocks = n_cells = n_chars = 0
    if is_ready(one_kind) or (compiles_here() and len(data) >= COMPILE_FROM):
        n, n_lines, n_blocks, n_cells, n_chars = one_kind(Texts(data, starts), found, ends)
    sizes = (n, n_lines, n_blocks, n_blocks, n_cells, n_chars, 0, 0, 0)
    return joined, Found(*(array[:size].copy() for array, size in zip(found, sizes, strict=True)))


@kernel(inline=True)
def _blank_to(data, at, end):
    """True if there is nothing but blanks and line ends."""
    while at < end:
        if data[at] != NEWLINE and data[at] != BLANK and data[at] != TAB:
            return False
        at += 1
    return True


@kernel(inner=True)
def _full_lines(data, at, end, wanted, counts, lengths, n_lines, n_blocks):
    """`wanted` lines with a clue each, none of them blank.

    Returns (the place behind them, the number of blocks so far), -1 for the place where they are not there.
    """
    for line in range(n_lines, n_lines + wanted):
        if at >= end:
            return -1, n_blocks
        at, count, zeros = clue(data, at, end, BLANK, TAB, NEWLINE, lengths, n_blocks)
        if count < 0 or (count == 0 and zeros == 0):
            return -1, n_blocks
        counts[line] = count
        n_blocks += count
        at += 1
    return at, n_blocks


@kernel(inline=True)
def _two_sizes(data, at, end):
    """(the place behind the line, two numbers) of a line that holds two, of up to six digits; -1 where it does not."""
    at = past_blanks(data, at, end)
    first_at = at
    at, first = number(data, at, end)
    gap = at
    at = past_blanks(data, at, end)
    second_at = at
    at, second = number(data, at, end)
    digits = max(gap - first_at, at - second_at)
    at = past_blanks(data, at, end)
    if first < 1 or second < 1 or gap == second_at or digits > MOST_DIGITS or at >= end or data[at] != NEWLINE:
        return -1, 0, 0
    return at + 1, first, second


@kernel
def nin(texts: Texts, found: Found, ends: Int64s):
    """`W H`, H rows, W columns, one line each, none blank."""
    data = texts.data
    for text in range(len(texts.starts) - 1):
        end = texts.starts[text + 1]
        at, width, height = _two_sizes(data, texts.starts[text], end)
        if at < 0:
            continue
        block = ends[BLOCKS]
        at, to = _full_lines(data, at, end, height + width, found.counts, found.lengths, ends[LINES], block)
        if at >= 0 and _blank_to(data, at, end):
            begin(found, ends, text)
            finish(found, ends, height, width, to - block)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]


@kernel
def mk(texts: Texts, found: Found, ends: Int64s):
    """`H W`, H rows, a line `#`, W columns, one line each, none blank."""
    data = texts.data
    for text in range(len(texts.starts) - 1):
        end = texts.starts[text + 1]
        at, height, width = _two_sizes(data, texts.starts[text], end)
        if at < 0:
            continue
        block, line = ends[BLOCKS], ends[LINES]
        at, to = _full_lines(data, at, end, height, found.counts, found.lengths, line, block)
        if at < 0 or at + 1 >= end or data[at] != HASH or data[at + 1] != NEWLINE:
            continue
        at, to = _full_lines(data, at + 2, end, width, found.counts, found.lengths, line + height, to)
        if at >= 0 and _blank_to(data, at, end):
            begin(found, ends, text)
            finish(found, ends, height, width, to - block)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]


@kernel(inner=True)
def _fits_square(counts, lengths, size):
    """True for `size` clues, half of them columns, whose sums agree and that have room in their lines."""
    half = size // 2
    total, place = 0, 0
    for i in range(size):
        cells = max(counts[i] - 1, 0)
        for _ in range(counts[i]):
            total += lengths[place] if i < half else -lengths[place]
            cells += lengths[place]
            place += 1
        if cells > half:
            return False
    return total == 0


@kernel(inner=True)
def _taai_puzzle(data, at, end, text, found, ends):
    """The puzzle whose `$` stands at a place. Returns where it ends, or -1."""
    begin(found, ends, text)
    puzzle = found.puzzles[ends[PUZZLES]]
    stop = line_end(data, at, end)
    puzzle[LABEL], puzzle[LABEL_END] = at + 1, stop
    if stop - at > MOST_LABEL or not is_text(data, at, stop):
        return -1
    at = stop + 1
    size, blocks, blank = 0, 0, 0
    while at < end and data[at] != DOLLAR:
        at, count, zeros = clue(data, at, end, BLANK, TAB, NEWLINE, found.spare_lengths, blocks)
        if count < 0:
            return -1
        found.spare_counts[size] = count
        blank = blank + 1 if count == 0 and zeros == 0 else 0
        size += 1
        blocks += count
        at += 1
    if blank > 1:  # clues, or the end of the file: `parse` tells what is in doubt
        return -1
    if size % 2 == 1 and blank:
        size -= 1
    half = size // 2
    if size == 0 or size % 2 == 1 or half > MAX_LINE or not _fits_square(found.spare_counts, found.spare_lengths, size):
        return -1
    blocks = rows_first(half, size, found, ends)
    return at if finish(found, ends, half, half, blocks) else -1


@kernel
def taai(texts: Texts, found: Found, ends: Int64s):
    """`$label`, then all columns, then as many rows; an empty line is a clue."""
    data = texts.data
    for text in range(len(texts.starts) - 1):
        at, end = texts.starts[text], texts.starts[text + 1]
        keep(ends)
        while 0 <= at < end:
            at = _taai_puzzle(data, at, end, text, found, ends) if data[at] == DOLLAR else -1
        if at < 0:
            take_back(ends)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]


@kernel(inner=True)
def _sgt_clues(data, at, end, wanted, found):
    """`wanted` clues such as `1.2`, the first one behind `:`, the others behind `/`. Returns where they end, or -1."""
    blocks = 0
    for i in range(wanted):
        if at >= end or (i and data[at] != SLASH):
            return -1
        first = at + 1
        at, count, _ = clue(data, first, end, DOT, DOT, SLASH, found.spare_lengths, blocks)
        if count < 0 or (at > first and (data[first] == DOT or data[at - 1] == DOT)):
            return -1
        for j in range(first + 1, at):
            if data[j] == DOT and data[j - 1] == DOT:
                return -1
        found.spare_counts[i] = count
        blocks += count
    return at


@kernel(inner=True)
def _sgt_puzzle(data, at, end, text, found, ends):
    """The puzzle whose line begins at a place. Returns where it ends, or -1."""
    begin(found, ends, text)
    puzzle = found.puzzles[ends[PUZZLES]]
    stop = line_end(data, at, end)
    tab = at
    while tab < stop and data[tab] != TAB:
        tab += 1
    if tab < stop:
        if not is_text(data, at, tab):
            return -1
        puzzle[LABEL], puzzle[LABEL_END] = at, tab
        at = tab + 1
    if at >= stop or data[at] == HASH:
        return -1
    at, width = number(data, at, stop)
    height = width
    if at < stop and data[at] == SMALL_X:
        at, height = number(data, at + 1, stop)
    if width < 1 or height < 1 or at >= stop or data[at] != COLON:
        return -1
    at = _sgt_clues(data, at, stop, width + height, found)
    if at < stop:
        return -1
    blocks = rows_first(width, width + height, found, ends)
    return stop + 1 if finish(found, ends, height, width, blocks) else -1


@kernel
def sgt(texts: Texts, found: Found, ends: Int64s):
    """Lines `[label TAB]WxH:1.1/1//...`, columns first."""
    data = texts.data
    for text in range(len(texts.starts) - 1):
        at, end = texts.starts[text], texts.starts[text + 1]
        keep(ends)
        while 0 <= at < end:
            if data[at] == NEWLINE:
                at += 1
            else:
                at = _sgt_puzzle(data, at, end, text, found, ends) if data[at] != HASH else -1
        if at < 0:
            take_back(ends)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]


@kernel(inner=True)
def _section(data, at, end, wanted, counts, lengths, n_lines, n_blocks):
    """The clues of a section of `.non`: a line each, blank lines and comments aside, up to another word.

    Returns (the place of that word, the number of blocks so far), -1 for the place where there are more or fewer.
    """
    line = 0
    while at < end:
        first = at
        while at < end and data[at] == BLANK:
            at += 1
        byte = data[at] if at < end else np.uint8(NEWLINE)
        if byte == NEWLINE:
            at += 1
        elif byte == HASH:
            at = line_end(data, at, end) + 1
            if not is_text(data, first, at - 1):
                return -1, n_blocks
        elif ZERO <= byte <= NINE:
            at, count, _ = clue(data, at, end, BLANK, COMMA, NEWLINE, lengths, n_blocks)
            if count < 0 or line == wanted:
                return -1, n_blocks
            counts[n_lines + line] = count
            line += 1
            n_blocks += count
            at += 1
        else:
            at = first
            break
    return at if line == wanted else -1, n_blocks


@kernel(inline=True)
def _non_key(data, at, end):
    """The place behind a word of small letters, `-` and `_` that begins with a letter."""
    first = at
    while at < end and (
        SMALL_A <= data[at] <= SMALL_Z or (at > first and (data[at] == MINUS or data[at] == UNDERLINE))
    ):
        at += 1
    return at


@kernel(inner=True)
def _non_size(data, start, end):
    """The number of a `width` or `height`; 0 for none that is taken."""
    at, size = number(data, start, end)
    return size if at == end and end - start < MOST_DIGITS and size > 0 else 0


@kernel(inner=True)
def _non_goal(data, at, end, height, width, found, ends):
    """Read a goal of digits; the clues are in place. True if all is well."""
    n, cell = end - at, ends[CELLS]
    if n != height * width:
        return False
    for i in range(n):
        byte = data[at + i]
        if byte != ZERO and byte != ONE:
            return False
        found.cells[cell + i] = byte - ZERO
    if not goal_fits(found, ends, height, width):
        return False
    ends[CELLS] = cell + n
    return True


@kernel(inner=True)
def _is_own(data, start, end):
    """True for a word that `.non` has a meaning for, but `title`."""
    size = end - start
    return (
        (size == 4 and (is_word(data, start, end, ROWS) or is_word(data, start, end, GOAL)))
        or (size == 5 and (is_word(data, start, end, WIDE) or is_word(data, start, end, COLOR)))
        or (size == 5 and is_word(data, start, end, SAVED_GAME))
        or (size == 6 and (is_word(data, start, end, HIGH) or is_word(data, start, end, COLOUR)))
        or is_word(data, start, end, COLUMNS)
    )


@kernel(inner=True)
def _non_comment(data, at, stop, found, ends):
    """A comment that may be a fact, `# key "text"`. False if it is neither that nor a plain comment."""
    quotes = False
    for i in range(at, stop):
        quotes = quotes or data[i] == QUOTE
    if not quotes:
        return is_text(data, at, stop)
    start = at + 2
    key_end = _non_key(data, start, stop)
    text = key_end + 2
    if key_end == start or text > stop - 1 or data[at + 1] != BLANK or data[key_end] != BLANK:
        return False
    if data[text - 1] != QUOTE or past_plain(data, text, stop) != stop - 1 or data[stop - 1] != QUOTE:
        return False
    if _is_own(data, start, key_end) or is_word(data, start, key_end, TITLED):
        return False
    return name_fact(data, start, key_end, found, ends) and plain_fact(data, text, stop - 1, True, found, ends)


@kernel(inline=True)
def _non_value(data, start, stop):
    """(where a value begins, where it ends, whether it is quoted) of the rest of a line; -1 where it is not plain."""
    first = start
    while start < stop and data[start] == BLANK:
        start += 1
    if start == first or start == stop or data[start] == HASH:  # noqa: SIM109
        return -1, -1, False
    if data[start] == QUOTE:
        last = stop - 1
        if last == start or data[last] != QUOTE or past_plain(data, start + 1, stop) != last:
            return -1, -1, True
        return start + 1, last, True
    if past_plain(data, start, stop) != stop:
        return -1, -1, False
    while data[stop - 1] == BLANK:
        stop -= 1
    return start, stop, False


@kernel(inner=True)
def _non_fact(data, key, key_end, start, stop, found, ends):
    """Keep a fact, which may be the title. True if all is well."""
    if is_word(data, key, key_end, TITLED):
        if start < stop and (data[start] == BLANK or data[stop - 1] == BLANK):
            return False
        puzzle = found.puzzles[ends[PUZZLES]]
        puzzle[TITLE], puzzle[TITLE_END] = start, stop
    elif _is_own(data, key, key_end):
        return False
    return name_fact(data, key, key_end, found, ends) and plain_fact(data, start, stop, True, found, ends)


@kernel(inner=True)
def _non_section(data, at, end, side, first, blocks, found, ends):
    """Read a section, 0 for rows and 1 for columns; `first` is the one that comes first. Returns as `_section`."""
    puzzle = found.puzzles[ends[PUZZLES]]
    wanted, before = puzzle[HEIGHT + side], puzzle[WIDTH - side]
    line = 0 if side == first else before
    if first == 1:
        return _section(data, at, end, wanted, found.spare_counts, found.spare_lengths, line, blocks)
    block = ends[BLOCKS]
    at, to = _section(data, at, end, wanted, found.counts, found.lengths, ends[LINES] + line, block + blocks)
    return at, to - block


@kernel(inner=True)
def _non_end(data, first, blocks, goal, goal_end, found, ends):
    """Close a puzzle whose sections are read. True if all is well."""
    puzzle = found.puzzles[ends[PUZZLES]]
    height, width = puzzle[HEIGHT], puzzle[WIDTH]
    if first == 1:
        rows_first(width, height + width, found, ends)
    for block in range(ends[BLOCKS], ends[BLOCKS] + blocks):
        found.colours[block] = 1
    if goal and not _non_goal(data, goal, goal_end, height, width, found, ends):
        return False
    return finish(found, ends, height, width, blocks)


@kernel(inline=True)
def _is_divider(data, at, stop):
    """True for a line of four `=` or more."""
    n = stop - at
    while at < stop and data[at] == EQUALS:
        at += 1
    return at == stop and n >= LEAST_DIVIDER


@kernel(inner=True)
def _non_puzzle(data, at, end, text, found, ends):
    """The puzzle that begins at a place. Returns where it ends, a divider included, or -1."""
    begin(found, ends, text)
    puzzle = found.puzzles[ends[PUZZLES]]
    first, seen, blocks = -1, 0, 0
    goal, goal_end = 0, 0
    while at < end:
        stop = line_end(data, at, end)
        key, key_end = at, _non_key(data, at, stop)
        at = stop + 1
        if stop == key:
            continue
        if data[key] == HASH:
            if not _non_comment(data, key, stop, found, ends):
                return -1
        elif data[key] == EQUALS:
            if not _is_divider(data, key, stop):
                return -1
            break
        elif key_end == key:
            return -1
        elif key_end == stop:
            side = 0 if is_word(data, key, stop, ROWS) else 1
            if (
                (side and not is_word(data, key, stop, COLUMNS))
                or seen >> side & 1
                or puzzle[HEIGHT] * puzzle[WIDTH] == 0
            ):
                return -1
            first = side if first < 0 else first
            seen |= 1 << side
            at, blocks = _non_section(data, at, end, side, first, blocks, found, ends)
            if at < 0:
                return -1
        else:
            start, last, quoted = _non_value(data, key_end, stop)
            side = 0 if is_word(data, key, key_end, HIGH) else 1
            if start < 0:
                return -1
            if side == 0 or is_word(data, key, key_end, WIDE):
                size = 0 if quoted else _non_size(data, start, last)
                if size == 0 or puzzle[HEIGHT + side] > 0:
                    return -1
                puzzle[HEIGHT + side] = size
            elif is_word(data, key, key_end, GOAL):
                if goal or not quoted:
                    return -1
                goal, goal_end = start, last
            elif not _non_fact(data, key, key_end, start, last, found, ends):
                return -1
    return at if seen == 3 and _non_end(data, first, blocks, goal, goal_end, found, ends) else -1


@kernel
def non(texts: Texts, found: Found, ends: Int64s):
    """`width`, `height`, facts, sections `rows` and `columns`, a goal; puzzles parted by `====`. Black and white."""
    data = texts.data
    for text in range(len(texts.starts) - 1):
        at, end = texts.starts[text], texts.starts[text + 1]
        keep(ends)
        while 0 <= at < end:
            at = _non_puzzle(data, at, end, text, found, ends)
        if at < 0:
            take_back(ends)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]


@kernel(inner=True)
def _olsak_ink(data, at, stop, n, ends):
    """A line that declares a colour, the n-th. Returns how many there are then, or -1."""
    at = past_blanks(data, at, stop)
    if at == stop:
        return n
    if at + 3 > stop or data[at + 1] != COLON or data[at] == COLON or data[at] < BLANK or data[at] > LAST:
        return -1
    suffix = np.int64(data[at])
    if suffix == ZERO:
        return n
    if ends[FIRST_CHAR + suffix] >= 0 or n + 1 == MOST_INKS or suffix == QUESTION or suffix == COMMA:  # noqa: SIM109
        return -1
    ends[FIRST_CHAR + suffix] = n + 1
    return n + 1


@kernel(inner=True)
def _past_colon(data, at, end):
    """The place behind a line that begins with `:`, or -1."""
    stop = line_end(data, at, end)
    return stop + 1 if at < end and is_text(data, at, stop) else -1


@kernel(inner=True)
def _olsak_head(data, at, end, found, ends):
    """The lines before the rows: words, then colours behind `#d`. Returns (where the rows begin, inks), or -1 first."""
    puzzle = found.puzzles[ends[PUZZLES]]
    no_chars(ends)
    n = 0
    while at < end and data[at] != COLON:
        stop = line_end(data, at, end)
        if not is_text(data, at, stop):
            return -1, 0
        if puzzle[HEAD] and at < stop:
            n = _olsak_ink(data, at, stop, n, ends)
            if n < 0:
                return -1, 0
        elif data[at] == HASH and at + 1 < stop:
            if data[at + 1] == TRIDDLER[0] or data[at + 1] == TRIDDLER[1]:
                return -1, 0
            if data[at + 1] == DECLARED[0] or data[at + 1] == DECLARED[1]:
                puzzle[HEAD] = stop + 1
        at = stop + 1
    if puzzle[HEAD]:
        puzzle[HEAD_END] = at
    if n == 0:
        ends[FIRST_CHAR + ONE] = 1
    return (-1 if puzzle[HEAD] and n == 0 else _past_colon(data, at, end)), max(n, 1)


@kernel(inner=True)
def _olsak_clue(data, at, stop, lengths, colours, n, ends):
    """Read lengths, each with the suffix of a colour. Returns the number of blocks, or -1."""
    count, zeros = 0, 0
    while at < stop:
        byte = data[at]
        if byte == BLANK or byte == TAB or byte == COMMA:  # noqa: SIM109
            at += 1
            continue
        at, length = number(data, at, stop)
        if length < 0:
            return -1
        suffix = np.int64(ONE)
        if at < stop and BLANK < data[at] <= LAST and data[at] != COMMA and not ZERO <= data[at] <= NINE:
            suffix = np.int64(data[at])
            at += 1
        if ends[FIRST_CHAR + suffix] < 0:
            return -1
        if length == 0:
            zeros += 1
        else:
            lengths[n + count] = length
            colours[n + count] = ends[FIRST_CHAR + suffix]
            count += 1
    return -1 if zeros > 1 or (zeros and count) else count


@kernel(inner=True)
def _olsak_side(data, at, end, first, blocks, found, ends):
    """Lines with a clue each, blank ones too, up to one that begins with `:`. Lines before that: `first`; blocks:
    `blocks`. Returns (place, lines so far, up to the last one with a clue, blocks so far), -1 first."""
    line, last = first, first
    block = ends[BLOCKS] + blocks
    while at < end and data[at] != COLON:
        stop = line_end(data, at, end)
        count = _olsak_clue(data, at, stop, found.lengths, found.colours, block, ends)
        if count < 0:
            return -1, 0, 0, 0
        found.counts[ends[LINES] + line] = count
        block += count
        line += 1
        if past_blanks(data, at, stop) < stop:
            last = line
        at = stop + 1
    return at, line, last, block - ends[BLOCKS]


@kernel(inner=True)
def _olsak_rest(data, at, end):
    """True for lines behind a puzzle that mean nothing."""
    if at < 0:
        return False
    while at < end:
        stop = line_end(data, at, end)
        if data[at] == COLON or not is_text(data, at, stop):
            return False
        if data[at] == HASH and at + 1 < stop and (data[at + 1] == TRIDDLER[0] or data[at + 1] == TRIDDLER[1]):
            return False
        at = stop + 1
    return True


@kernel(inner=True)
def _olsak_puzzle(data, at, end, text, found, ends):
    """The puzzle of a text. True if it is taken."""
    begin(found, ends, text)
    puzzle = found.puzzles[ends[PUZZLES]]
    at, n_inks = _olsak_head(data, at, end, found, ends)
    if at < 0:
        return False
    at, height, _, blocks = _olsak_side(data, at, end, 0, 0, found, ends)
    at = _past_colon(data, at, end) if at >= 0 else -1
    if at < 0:
        return False
    at, lines, full, blocks = _olsak_side(data, at, end, height, blocks, found, ends)
    if at < 0:
        return False
    if at >= end:
        lines = full  # the end of the file, not empty clues
    elif not _olsak_rest(data, _past_colon(data, at, end), end):
        return False
    width = lines - height
    if height < 1 or width < 1 or height > MAX_LINE or width > MAX_LINE:
        return False
    if puzzle[HEAD]:
        puzzle[INKS] = only_used(found, ends, n_inks + 1, blocks, 0)
    return finish(found, ends, height, width, blocks)


@kernel
def olsak(texts: Texts, found: Found, ends: Int64s):
    """Words, colours behind `#d`, `:`, rows, `:`, columns, `:`."""
    for text in range(len(texts.starts) - 1):
        keep(ends)
        if not _olsak_puzzle(texts.data, texts.starts[text], texts.starts[text + 1], text, found, ends):
            take_back(ends)
    return ends[PUZZLES], ends[LINES], ends[BLOCKS], ends[CELLS], ends[CHARS]
