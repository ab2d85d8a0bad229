"""Puzzles a second of reading alone, by format: `read_many` of texts in memory, a puzzle each, on one core.

    python scripts/bench/reading.py [FOLDER] [--puzzles N] [--rounds N] [--only NAME,NAME]

Generated pictures as our writers write them, with a goal, a title and facts where the format has them. `quick` is the
usual way, `parse` the careful one, on a tenth of the texts; the best of the rounds, taken in turns. `mixed` is all of
them, every text of another format than the one before it; then they are written into a folder, and read from there.
With a folder also all of its files. Another tree: PYTHONPATH=TREE, with its machine code made before.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from parallel_nono.files import reading
from parallel_nono.files.containers import sources
from parallel_nono.files.writing import content_of
from parallel_nono.puzzle import BLACK_AND_WHITE, Palette, Puzzle, palette_of

Items = list[tuple[str, bytes]]

KINDS: dict[str, tuple[str, int, int, int]] = {
    "non 25x20": ("non", 20, 25, 2),
    "nin 25x20": ("nin", 20, 25, 2),
    "mk 25x20": ("mk", 20, 25, 2),
    "olsak 25x20": ("olsak", 20, 25, 2),
    "olsak 25x20, 3 inks": ("olsak", 20, 25, 4),
    "json 25x20": ("json", 20, 25, 2),
    "taai 20x20": ("taai", 20, 20, 2),
    "sgt 25x20": ("sgt", 20, 25, 2),
    "webpbn 10x10": ("webpbn", 10, 10, 2),
    "webpbn 10x10, 3 inks": ("webpbn", 10, 10, 4),
    "webpbn 25x20": ("webpbn", 20, 25, 2),
}
"""Format, height, width, colours."""


def pictures(n: int, height: int, width: int, n_colours: int) -> Iterator[Puzzle]:
    """Blots of ink, of which a good half is filled."""
    rng = random.Random(1)
    palette: Palette = BLACK_AND_WHITE if n_colours == 2 else palette_of(n_colours)
    for number in range(n):
        grid = [[0] * width for _ in range(height)]
        for _ in range(height * width // 9):
            row, column, ink = rng.randrange(height), rng.randrange(width), rng.randrange(1, n_colours)
            for r in range(row, min(row + 3, height)):
                for c in range(column, min(column + 3, width)):
                    grid[r][c] = ink
        facts = (
            ("catalogue", f"number {number}"),
            ("by", "A. Nobody"),
            ("copyright", "(c) Copyright 2026 by A. Nobody"),
        )
        yield replace(Puzzle.of_grid(grid, palette), name=f"picture {number}", metadata=facts)


def items_of(name: str, n: int) -> Items:
    """Texts of a kind, with names."""
    form, height, width, n_colours = KINDS[name]
    found = pictures(n, height, width, n_colours)
    ending = {"olsak": ".g", "webpbn": ".xml"}.get(form, f".{form}")
    return [(f"folder/{i:06}{ending}", content_of([puzzle], form).encode()) for i, puzzle in enumerate(found)]


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call, those of the system among them."""
    start = time.process_time()
    call()
    return time.process_time() - start


def carefully(items: Items) -> None:
    """Read by `parse` alone."""
    before, reading.PACK_FROM = reading.PACK_FROM, 1 << 60
    try:
        reading.read_many(items)
    finally:
        reading.PACK_FROM = before


def measure(name: str, items: Items, rounds: int) -> str:
    """A row of the table."""
    few = items[: max(1, len(items) // 10)]
    reading.read_many(items)
    pairs = [
        (seconds(lambda: reading.read_many(items)) / len(items), seconds(lambda: carefully(few)) / len(few))
        for _ in range(rounds)
    ]
    quick, careful = (min(times) for times in zip(*pairs, strict=True))
    size = sum(len(data) for _, data in items) // len(items)
    return f"| {name} | {size:,} | {1 / quick:,.0f} | {1 / careful:,.0f} |"


def measure_folder(folder: Path, rounds: int) -> str:
    """The same of real files: in memory, and from the disk."""

    def from_disk() -> Items:
        return [(source.name, source.load()) for source in sources([folder]) if not source.packed]

    items = from_disk()
    n = reading.read_many(items).num_rows
    memory = min(seconds(lambda: reading.read_many(items)) for _ in range(rounds))
    disk = min(seconds(lambda: reading.read_many(from_disk())) for _ in range(rounds))
    return (
        f"{folder}: {len(items):,} files, {n:,} puzzles: {memory * 1e3:,.0f} ms in memory "
        f"({memory / len(items) * 1e3:.3f} ms a file), {disk * 1e3:,.0f} ms from disk ({disk / len(items) * 1e3:.3f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--puzzles", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", default=",".join(form for form, *_ in KINDS.values()), help="formats, parted by commas"
    )
    options = parser.parse_args()
    print("| texts | bytes | quick, puzzles/s | parse, puzzles/s |\n|---|---|---|---|")
    several = []
    for name, (form, *_) in KINDS.items():
        if form in options.only.split(","):
            several.append(items_of(name, options.puzzles))
            print(measure(name, several[-1], options.rounds), flush=True)
    mixed = [
        (f"{place}-{name}", data) for items in zip(*several, strict=True) for place, (name, data) in enumerate(items)
    ]
    print(measure("mixed", mixed, options.rounds), flush=True)
    with TemporaryDirectory() as folder:
        for place, (name, data) in enumerate(mixed[: 2 * options.puzzles]):
            (Path(folder) / f"{place:06}-{Path(name).name}").write_bytes(data)
        print(measure_folder(Path(folder), options.rounds))
    if options.folder:
        print(measure_folder(options.folder, options.rounds))


if __name__ == "__main__":
    main()
