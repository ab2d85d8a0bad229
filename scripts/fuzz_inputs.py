"""Feed the readers files as they happen to people, in every format: several put together, with anything between; one
name misspelt; blanks, tabs and line ends added.

    python scripts/fuzz_inputs.py                          two minutes, all formats
    python scripts/fuzz_inputs.py --minutes 60 --seed 7 --format non --format xpm
    python scripts/fuzz_inputs.py --kind joined            one kind of input only

Every input must give all the puzzles that were put into it, or a message that names a place of the rest, or the name
that is misspelt; read by force, by its name and by its content, joined files compiled and piece by piece too. The first
input that does not is written to `fuzz-failure.bin`, and the exit code is 1. Mutated files and random bytes: see
fuzz_formats.py.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from joined import check_random_joined
from renamed import check_random_misspelt, check_random_padded

from parallel_nono.formats import FORMATS, Format

KINDS: dict[str, Callable[[random.Random, Format], bytes]] = {
    "joined": check_random_joined,
    "misspelt": check_random_misspelt,
    "padded": check_random_padded,
}
"""Each makes an input of a format, reads it and returns it. Errors: AssertionError, the input as its second part."""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--minutes", type=float, default=2.0, help="how long to go on")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--format", action="append", help="only these; may be repeated")
    options.add_argument("--kind", action="append", choices=list(KINDS), help="only these; may be repeated")
    given = options.parse_args()

    rng = random.Random(given.seed)
    forms = [form for form in FORMATS if not given.format or form.name in given.format]
    counts: Counter[str] = Counter()
    end = time.monotonic() + 60 * given.minutes
    while time.monotonic() < end:
        kind, form = rng.choice(given.kind or list(KINDS)), rng.choice(forms)
        try:
            KINDS[kind](rng, form)
        except Exception as error:
            traceback.print_exc()
            data = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], bytes) else b""
            Path("fuzz-failure.bin").write_bytes(data)
            print(f"{kind}, {form.name}: input {counts.total() + 1} failed; it is in fuzz-failure.bin", file=sys.stderr)
            return 1
        counts[f"{kind}, {form.name}"] += 1
    print(f"{'inputs':<30} {'read':>9}")
    for name, n in sorted(counts.items()):
        print(f"{name:<30} {n:>9,}")
    print(f"{'all':<30} {counts.total():>9,}   no failure")
    return 0


if __name__ == "__main__":
    sys.exit(main())
