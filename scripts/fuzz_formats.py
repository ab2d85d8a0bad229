"""Feed the readers what is almost a file: mutated samples, mutated files of random puzzles, words, random bytes.

    python scripts/fuzz_formats.py                       two minutes, all formats
    python scripts/fuzz_formats.py --seconds 3600 --seed 7 --format non --format webpbn

Every input must give puzzles or errors that name it, the same by compiled and by plain readers, within `--limit`
seconds of processor time and `--memory` MiB of address space beyond what the start took. The first input that does not
is written to `fuzz-failure.bin`, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import numpy as np
from mutations import ODD, mutated, packed_like_parsed, sound

from parallel_nono.files import reading
from parallel_nono.formats import FORMATS, Format, encoded
from parallel_nono.puzzle import BLACK_AND_WHITE, InvalidPuzzle, Puzzle, palette_of

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("", "A", "a b", 'x"y', "a & b <c>", "ä")


def random_puzzle(rng: random.Random, form: Format) -> Puzzle:
    """A small picture as a puzzle, now and then with a name, facts, colours, without a goal."""
    height, width = rng.randrange(1, 8), rng.randrange(1, 8)
    if form.name == "taai":
        width = height
    inks = rng.choice([1, 1, 2, 3]) if form.colours else 1
    grid = [[rng.choice([0, *range(1, inks + 1)]) for _ in range(width)] for _ in range(height)]
    palette = BLACK_AND_WHITE if inks == 1 else palette_of(inks + 1)
    puzzle = Puzzle.of_grid(grid, palette, name=rng.choice(NAMES))
    if rng.random() < 0.3:
        puzzle = replace(puzzle, metadata=(("author", "Q R"), ("license", "MIT")))
    return puzzle if form.picture or rng.random() < 0.6 else replace(puzzle, goal=None)


def written(rng: random.Random, form: Format, samples: Sequence[bytes]) -> bytes:
    """The bytes of a file of a format: a sample, or one just written."""
    if samples and (form.write is None or rng.random() < 0.4):
        return rng.choice(samples)
    assert form.write is not None
    for _ in range(20):
        try:
            return encoded(
                form.write([random_puzzle(rng, form) for _ in range(rng.choice([1, 1, 2]) if form.several else 1)])
            )
        except InvalidPuzzle:
            continue  # a picture that this format can't carry
    return rng.choice(samples)


def one_input(rng: random.Random, form: Format, samples: Sequence[bytes]) -> bytes:
    kind = rng.random()
    if kind < 0.06:
        return rng.randbytes(rng.randrange(200))
    if kind < 0.14:
        return b" ".join(rng.choices(ODD, k=rng.randrange(40)))
    data = written(rng, form, samples)
    return data if kind < 0.2 else mutated(data, rng)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=120.0, help="how long to go on")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--format", action="append", help="only these; may be repeated")
    options.add_argument("--limit", type=float, default=2.0, help="seconds of processor time for one input")
    options.add_argument("--memory", type=int, default=1024, help="MiB beyond what the start took")
    given = options.parse_args()

    samples: dict[str, list[bytes]] = {}
    for path in sorted((ROOT / "tests/samples").iterdir()):
        form = reading.content_and_format(path.read_bytes(), path.name, None)[2]
        samples.setdefault(form.name, []).append(path.read_bytes())
    forms = [form for form in FORMATS if not given.format or form.name in given.format]
    counts = {form.name: np.zeros(3, int) for form in forms}
    slowest = 0.0
    rng = random.Random(given.seed)
    for form in forms:
        sound(samples[form.name][0], "warm", form.name)  # imports and compiled code, before memory is capped
        if form.pack:
            packed_like_parsed([("warm", samples[form.name][0])], form.name)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (given.memory << 20), resource.RLIM_INFINITY))
    end = time.monotonic() + given.seconds
    while time.monotonic() < end:
        form = rng.choice(forms)
        data = one_input(rng, form, samples[form.name])
        start = time.process_time()
        try:
            for forced in (form.name, None):
                puzzles, errors = sound(data, "file", forced)
                counts[form.name] += (1, puzzles, errors)
            if form.pack:
                packed_like_parsed([("file", data)], form.name)
            took = time.process_time() - start
            assert took < given.limit, f"{took:.2f} s"
        except (Exception, MemoryError):
            Path("fuzz-failure.bin").write_bytes(data)
            traceback.print_exc()
            print(f"{form.name}: an input of {len(data)} bytes failed; it is in fuzz-failure.bin", file=sys.stderr)
            return 1
        slowest = max(slowest, took)
    total = sum(counts.values())
    print(f"{'format':<17} {'readings':>9} {'puzzles':>9} {'errors':>9}")
    for name, (n, puzzles, errors) in sorted(counts.items()):
        print(f"{name:<17} {n:>9,} {puzzles:>9,} {errors:>9,}")
    print(f"{'all':<17} {total[0]:>9,} {total[1]:>9,} {total[2]:>9,}   no failure; slowest input {slowest:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
