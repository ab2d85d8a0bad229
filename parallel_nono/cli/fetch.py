"""`pnono fetch`: puzzles from a web site by their numbers, only when asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..pictures.door import say
from .common import complain, counted
from .exits import Code, Failure, writing

if TYPE_CHECKING:
    from ..files.fetch import Site

POLITE_RATE = 1.0


def fetch(
    site: Annotated[str, typer.Argument(metavar="SITE", help="webpbn or nonograms.")],
    numbers: Annotated[list[str], typer.Argument(metavar="ID...", help="Numbers of puzzles and ranges such as 1-500.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the files; else fetched/SITE.")] = None,
    rate: Annotated[
        float, typer.Option(min=0.001, help="At most this many requests a second; above 1 only with --base-url.")
    ] = POLITE_RATE,
    retries: Annotated[int, typer.Option(min=0, help="How often a request is repeated if the site is busy.")] = 4,
    again: Annotated[bool, typer.Option("--again", help="Ask once more for what was missing or unreadable.")] = False,
    base_url: Annotated[str, typer.Option(metavar="URL", help="Another address for the site, such as a mirror.")] = "",
) -> None:
    """Get puzzles of a web site by their numbers and keep them as files that `pnono run` reads.

    The site gets one request at a time, at most one a second. If it is busy, the request is repeated after longer and
    longer pauses, or when the site says. Files that are there already are not requested again, so the same command
    continues after Ctrl-C. `manifest.jsonl` in the folder says where each file came from, and whose the puzzles are:
    not yours to publish.

    \b
    pnono fetch webpbn 1 16 65
    pnono fetch webpbn 1-500 --rate 0.2
    pnono fetch nonograms 9596 --out puzzles/
    pnono run fetched/webpbn/

    \b
    Exit codes: 0 all are there; 3 a puzzle is missing or can't be read; 69 the site can't be reached;
    74 the folder can't be written.
    """
    from ..files.fetch import Folder, Unreachable, is_address
    from ..files.fetch import fetch as fetch_all
    from ..puzzle import InvalidPuzzle

    place = _site(site)
    if rate > POLITE_RATE and not base_url:
        raise Failure(Code.USAGE, f"--rate: expected at most {POLITE_RATE:g} question a second, found {rate:g}")
    if base_url and not is_address(base_url):
        raise Failure(Code.USAGE, f"--base-url: expected an address such as https://example.org, found {base_url!r}")
    wanted = [_range(word) for word in numbers]
    path = out or Path("fetched", place.name)
    asked = there = lacking = 0
    try:
        with writing(path):
            folder = Folder(path, place, base_url or place.base_url)
            found = fetch_all(
                place, _each(wanted), folder, base_url=base_url, pause_s=1 / rate, retries=retries, again=again
            )
            for record, now in found:
                asked += now
                there += record.status == "fetched"
                if record.status != "fetched":
                    lacking += 1
                    complain(f"{place.name} {record.number}: {record.status}: {record.note}")
                elif now:
                    say(f"{path / record.file}: {record.note}")
    except (Unreachable, KeyboardInterrupt) as error:
        complain(f"{counted(there, 'puzzle')} in {path}; the same command goes on from here")
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Failure(Code.UNAVAILABLE, str(error)) from error
    except InvalidPuzzle as error:
        raise Failure(Code.USAGE, str(error)) from error
    say(f"{counted(there, 'puzzle')} in {path}, {asked:,} asked for now. {place.rights}")
    if lacking:
        raise typer.Exit(Code.INVALID)


def _site(name: str) -> Site:
    from ..files.fetch import SITES

    if name not in SITES:
        raise Failure(Code.USAGE, f"expected a site, {' or '.join(SITES)}, found {name!r}")
    return SITES[name]


def _range(word: str) -> range:
    """`16` and `1-500` as ranges."""
    first, dash, last = word.partition("-")
    last = last if dash else first
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in (first, last)):
        raise Failure(Code.USAGE, f"expected numbers and ranges such as 16 and 1-500, found {word!r}")
    if not 1 <= int(first) <= int(last):
        raise Failure(Code.USAGE, f"expected a range from 1 on that ascends, found {word!r}")
    return range(int(first), int(last) + 1)


def _each(ranges: list[range]) -> Iterator[int]:
    for numbers in ranges:
        yield from numbers
