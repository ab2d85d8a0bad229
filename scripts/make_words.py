"""Write parallel_nono/kernels/words.py: the narrow line kernel unrolled for lines of several words.

    python scripts/make_words.py            write the file
    python scripts/make_words.py --check    exit with 1 if the file is not what this script writes

A loop over the words of a plane costs three times as much as straight code, and Numba does not unroll it. So the
code is generated; change it here, never there. `solve_line_narrow` in narrow.py is the same algorithm on one word, with
the reasons.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "parallel_nono" / "kernels" / "words.py"
SIZES = (2, 3)
LEVELS = 7  # doublings: blocks of up to 64 cells

HEAD = '''"""Black-white lines of 65 to 192 cells, blocks of up to 64: `solve_line_narrow` for two and three words.

Written by scripts/make_words.py; change it there.
"""

from __future__ import annotations

from . import kernel
from .bits import FULL, U0, U1, U63, U, leading_zeros, reverse_bits

'''


class Source:
    """Lines of code with an indent."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.indent = "    "

    def __call__(self, text: str) -> None:
        self.lines.append(self.indent + text)


def solve_line(size: int) -> str:
    """The source of solve_line_SIZE."""
    every = range(size)
    fit, rev_fit, ends_by_level = 0, LEVELS * size, 2 * LEVELS * size
    ends_at = 3 * LEVELS * size
    out = Source()

    def mask(word: int) -> str:
        return "last" if word == size - 1 else "FULL"

    def right(name: str, word: int, shift: str) -> str:
        """Word `word` of name >> shift, shift below 64."""
        low = f"({name}{word} >> {shift})"
        return low if word + 1 == size else f"({low} | (({name}{word + 1} << U1) << (U63 - {shift})))"

    def left(name: str, word: int, shift: str) -> str:
        low = f"({name}{word} << {shift})"
        return low if word == 0 else f"({low} | (({name}{word - 1} >> U1) >> (U63 - {shift})))"

    def reverse(target: str, source: str) -> None:
        for word in every:
            text = f"(reverse_bits({source}{size - 1 - word}) >> turn)"
            if word + 1 < size:
                text += f" | ((reverse_bits({source}{size - 2 - word}) << U1) << (U63 - turn))"
            out(f"{target}{word} = {text}")

    def border(starts: str, gap: str, source: str) -> None:
        """starts: the cells where a block may begin behind the border's run of `source`; gap: that run."""
        for word in every:
            if word == 0:
                out(f"sum0 = {source}0 + U1")
                out("carry = U1 if sum0 == U0 else U0")
            else:
                out(f"sum{word} = {source}{word} + carry")
                out(f"carry = U1 if sum{word} < carry else U0")
            out(f"{starts}{word} = {source}{word} ^ sum{word}")
            out(f"{gap}{word} = {source}{word} & ~sum{word}")

    def flood(gap: str, source: str) -> None:
        """gap: the cells of `source` reached to the right from the seeds, by the carry."""
        for word in every:
            out(f"part = {source}{word} + seeds{word}")
            if word == 0:
                out(f"total, carry = part, U1 if part < {source}0 else U0")
            else:
                out("total = part + carry")
                out(f"carry = U1 if part < {source}{word} or total < part else U0")
            out(f"{gap}{word} = {source}{word} & ((total ^ {source}{word}) | seeds{word})")

    out.lines += [
        "@kernel(inner=True)",
        f"def solve_line_{size}(lengths, start, stop, n, words, planes, scratch):",
        '    """Keep what some arrangement of the blocks uses.',
        "",
        "    lengths[start:stop]  the blocks, of at most 64 cells; together with their gaps they fit `n` cells.",
        f"    n        cells, {64 * (size - 1) + 1} to {64 * size}.",
        f"    planes   where the {2 * size} words of the planes begin in words.",
        f"    scratch  where to work in words; the planes that remain stand there in the end, {2 * size} words.",
        "    Returns  False when there is no arrangement.",
        '    """',
    ]
    out(f"turn = U({64 * size}) - n")
    out("last = FULL >> turn")
    for word in every:
        out(f"white{word}, black{word} = words[planes + U({word})], words[planes + U({size + word})]")
    reverse("rev_black", "black")
    reverse("rev_white", "white")
    for level in range(LEVELS):
        for word in every:
            if level:
                shift = f"U({1 << (level - 1)})"
                out(f"black{word} &= {right('black', word, shift)}")
                out(f"rev_black{word} &= {right('rev_black', word, shift)}")
            out(f"words[scratch + U({fit + level * size + word})] = black{word}")
            out(f"words[scratch + U({rev_fit + level * size + word})] = rev_black{word}")
            out(f"words[scratch + U({ends_by_level + level * size + word})] = U0")
    border("starts", "first", "white")
    out("j = start")
    out("while j < stop:")
    out.indent = " " * 8
    out("length = U(lengths[j])")
    out("level = U63 - leading_zeros(length)")
    out("step, near = length - (U1 << level), length - U1")
    out(f"at = scratch + level * U({size})")
    for word in every:
        out(f"fits{word} = words[at + U({fit + word})]")
    for word in every:
        out(f"here{word} = starts{word} & fits{word} & {right('fits', word, 'step')}")
    out(f"at = scratch + U({ends_at}) + (j - start) * U({2 * size})")
    for word in every:
        out(f"ends{word} = {left('here', word, 'near')}")
        out(f"words[at + U({word})] = ends{word}")
    for word in every:
        out(f"seeds{word} = {left('ends', word, 'U1')} & white{word}")
    flood("gap", "white")
    for word in every:
        out(f"words[at + U({size + word})] = gap{word}")
        out(f"starts{word} = {left('gap', word, 'U1')}")
    out("j += U1")
    out.indent = "    "
    border("starts", "gap", "rev_white")
    for word in every:
        out(f"followed{word}, may{word} = U0, U0")
    out(f"followed{size - 1} = U1 << (U63 - turn)")
    out("while j > start:")
    out.indent = " " * 8
    out("j -= U1")
    out("length = U(lengths[j])")
    out("level = U63 - leading_zeros(length)")
    out("step, near = length - (U1 << level), length - U1")
    out(f"at = scratch + U({ends_at}) + (j - start) * U({2 * size})")
    reverse("back", "gap")
    for word in every:
        out(f"ends{word} = words[at + U({word})] & (followed{word} | {right('back', word, 'U1')})")
        out(f"may{word} |= words[at + U({size + word})] & back{word}")
        out(f"followed{word} = U0")
    out(f"at = scratch + level * U({size})")
    for word in every:
        out(f"words[at + U({ends_by_level + word})] |= ends{word} | {right('ends', word, 'step')}")
        out(f"fits{word} = words[at + U({rev_fit + word})]")
    for word in every:
        out(f"here{word} = starts{word} & fits{word} & {right('fits', word, 'step')}")
    for word in every:
        out(f"ends{word} = {left('here', word, 'near')}")
    for word in every:
        out(f"seeds{word} = {left('ends', word, 'U1')} & rev_white{word}")
    flood("gap", "rev_white")
    for word in every:
        out(f"starts{word} = {left('gap', word, 'U1')}")
    out.indent = "    "
    reverse("back", "gap")
    for word in every:
        out(f"may{word} |= first{word} & back{word}")
    out("if start == stop:")
    for word in every:
        out(f"    may{word} = first{word}")
    for word in every:
        out(f"ends{word} = words[scratch + U({ends_by_level + (LEVELS - 1) * size + word})]")
    for level in range(LEVELS - 2, -1, -1):
        for word in every:
            shift = f"U({1 << level})"
            at = ends_by_level + level * size + word
            out(f"ends{word} |= {right('ends', word, shift)} | words[scratch + U({at})]")
    for word in every:
        out(f"words[scratch + U({word})], words[scratch + U({size + word})] = may{word}, ends{word}")
    lost = " | ".join(f"({mask(word)} & ~(may{word} | ends{word}))" for word in every)
    out(f"return ({lost}) == U0")
    return "\n".join(out.lines)


def source() -> str:
    """The whole file, as the formatter leaves it."""
    text = HEAD + "\n\n".join(solve_line(size) for size in SIZES) + "\n"
    formatter = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(formatter, input=text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    text = source()
    if "--check" in sys.argv[1:]:
        return int(TARGET.read_text() != text)
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
