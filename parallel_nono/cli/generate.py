"""`pnono generate`: puzzles from seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..pictures.door import say
from .common import counted, settings
from .exits import Code, Failure, writing
from .kinds import generate_kind

if TYPE_CHECKING:
    import pyarrow as pa

    from ..puzzle import Puzzle

MAX_DRAWN = 1 << 22
"""Cells of a puzzle that is made as an object and keeps its picture as its goal."""


def generate(
    kind: Annotated[str, typer.Argument(metavar="[KIND]", help="What to draw; without it the kinds are listed.")] = "",
    out: Annotated[str, typer.Argument(metavar="[OUT]", help="A file, a folder, or - for standard output.")] = "-",
    height: Annotated[int, typer.Option(min=1, help="Rows.")] = 20,
    width: Annotated[int, typer.Option(min=1, help="Columns.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first puzzle; the others follow.")] = 1,
    count: Annotated[int, typer.Option(min=1, help="Number of puzzles.")] = 1,
    option: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the kind; may be repeated.")
    ] = None,
    bulk: Annotated[
        bool, typer.Option("--bulk", help="Into a packed set: thousands from each seed at once, without goals.")
    ] = False,
    to: Annotated[str, typer.Option(metavar="NAME", help="Format; else by the ending of OUT, or non.")] = "",
    manifest: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Make every file that this TOML file lists.")
    ] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Where the files of the manifest go; else beside it.")
    ] = None,
) -> None:
    """Make puzzles from seeds: the same command gives the same bytes on every machine.

    The goal is the picture that a puzzle was drawn from, where the format can keep it; it need not be the only
    solution. Puzzles of more than four million cells have no goal, and are written as .non or as a packed set
    (.parquet). --bulk draws 4,096 puzzles from every seed, forty times faster; they differ from those without --bulk.

    \b
    pnono generate
    pnono generate blobs blobs.non --height 15 --width 15 --seed 7
    pnono generate noise noise.sgt --count 100 --set density=60
    pnono generate blobs huge.parquet --height 20000 --width 20000 --set density=80 --set radius=1000
    pnono generate blobs million.parquet --count 1000000 --height 10 --width 10 --bulk
    pnono generate strikeout games.strikeout --count 5000 --width 40 --set crossed=30
    pnono generate --manifest datasets/manifest.toml --out datasets

    \b
    Exit codes: 0 made; 2 the kind, an option or the manifest is wrong; 74 the output can't be written.
    """
    from ..kinds import KINDS
    from ..puzzle import InvalidPuzzle

    if manifest is not None:
        from ..generator.manifest import write_manifest

        folder = out_folder or manifest.parent
        try:
            with writing(folder):
                written = write_manifest(manifest, folder)
        except InvalidPuzzle as error:
            raise Failure(Code.USAGE, str(error)) from error
        say(f"{counted(len(written), 'file')} in {folder}")
    elif not kind:
        _list_kinds()
    elif bulk:
        _generate_bulk(kind, height, width, range(seed, seed + count), _numbers(option or []), out)
    elif kind in KINDS:
        generate_kind(kind, out, range(seed, seed + count), height, width, option or [])
    else:
        _generate(kind, height, width, range(seed, seed + count), _numbers(option or []), out, to)


def _generate(kind: str, height: int, width: int, seeds: range, options: dict[str, int], out: str, to: str) -> None:
    from .convert import STDOUT, format_to_write, is_folder, write, write_sets

    if out.endswith(".parquet") and not to:
        from ..files.packed import write_packed

        with writing(out):
            packed = write_packed(out, _sets(kind, height, width, seeds, options))
        say(f"{counted(packed, 'puzzle')} in {out}")
        return
    to = to or ("non" if out == STDOUT else "")
    if height * width <= MAX_DRAWN:
        write(_puzzles(kind, height, width, seeds, options), out, to)
        return
    form = format_to_write(out, to)
    if form.write_sets is None or is_folder(out):
        raise Failure(
            Code.USAGE,
            f"{out}: expected one .non file or a packed set (.parquet) for puzzles of more than {MAX_DRAWN:,} cells, "
            f"found {form.name}{' in a folder' if is_folder(out) else ''}",
        )
    write_sets(_sets(kind, height, width, seeds, options), out, form)


def _generate_bulk(kind: str, height: int, width: int, seeds: range, options: dict[str, int], out: str) -> None:
    """A packed set of `len(seeds)` puzzles; every row group has a seed of its own, from the first of `seeds` on."""
    from ..files.packed import ROW_GROUP, write_packed
    from ..generator import generate_set
    from ..puzzle import InvalidPuzzle

    if not out.endswith(".parquet"):
        raise Failure(Code.USAGE, f"--bulk: expected a packed set (.parquet), found {out}")
    starts = range(0, len(seeds), ROW_GROUP)
    try:
        with writing(out):
            packed = write_packed(
                out,
                (
                    generate_set(
                        kind, min(ROW_GROUP, len(seeds) - start), height, width, seeds.start + n, start + 1, **options
                    )
                    for n, start in enumerate(starts)
                ),
            )
    except InvalidPuzzle as error:
        raise Failure(Code.USAGE, str(error)) from error
    say(f"{counted(packed, 'puzzle')} in {out}")


def _sets(kind: str, height: int, width: int, seeds: range, options: dict[str, int]) -> Iterator[pa.RecordBatch]:
    """The puzzles as sets; huge ones without goals."""
    from ..generator import generate_huge
    from ..puzzle import InvalidPuzzle
    from ..puzzleset import set_of

    if height * width <= MAX_DRAWN:
        for puzzle in _puzzles(kind, height, width, seeds, options):
            yield set_of([puzzle])
        return
    for index, seed in enumerate(seeds, start=1):
        try:
            yield generate_huge(kind, height, width, seed, index, **options)
        except InvalidPuzzle as error:
            raise Failure(Code.USAGE, str(error)) from error


def _puzzles(kind: str, height: int, width: int, seeds: range, options: dict[str, int]) -> Iterator[Puzzle]:
    from ..generator import generate
    from ..puzzle import InvalidPuzzle

    for index, seed in enumerate(seeds, start=1):
        try:
            yield replace(generate(kind, height, width, seed, **options), source=kind, index=index)
        except InvalidPuzzle as error:
            raise Failure(Code.USAGE, str(error)) from error


def _numbers(options: list[str]) -> dict[str, int]:
    """`density=60` as a name and a number."""
    numbers = {}
    for name, value in settings(options).items():
        if not value.isascii() or not value.isdecimal() or len(value) > 9:
            raise Failure(Code.USAGE, f"--set: expected NAME=NUMBER, found `{name}={value}`")
        numbers[name] = int(value)
    return numbers


def _list_kinds() -> None:
    from ..generator import GENERATORS
    from ..kinds import KINDS, bare

    for name, generator in GENERATORS.items():
        options = ", ".join(f"{option}={value}" for option, value in generator.options.items())
        say(f"{name:<15} {generator.title}{f' ({options})' if options else ''}")
    for name in KINDS:
        kind = bare(name)
        if kind.make:
            options = ", ".join(f"{option}={value}" for option, value in kind.makes.items())
            say(f"{name:<15} No nonogram: {kind.noun}s. ({options})")
