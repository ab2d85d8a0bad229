"""`pnono web build`: the solver as a page that needs no server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..pictures.door import say
from .exits import Code, Failure, writing

web = typer.Typer(name="web", rich_markup_mode=None, add_completion=False)


@web.callback()
def _group() -> None:
    """Make the page that solves puzzles in the browser.

    \b
    pnono web build site/
    """


@web.command()
def build(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the page, made if need be.")],
) -> None:
    """Write a page that solves nonograms in the browser, without a server: HTML, JavaScript, and the solver.

    The solver is the one of this program, its kernels translated to WebAssembly: the same verdicts and counts for
    puzzles of any size, black-white or in colour, by lines, probes and search (no SAT solver). Any web server or file
    host will do, and the page opens from disk too. The translation takes half a minute, once for each version,
    and needs LLVM's linker: `apt install lld`, or `pip install ziglang`, which has it.

    \b
    pnono web build site/
    python3 -m http.server --directory site/ --bind 127.0.0.1

    \b
    Exit codes: 0 it is written; 69 there is no linker; 74 the folder can't be written.
    """
    from ..kernels.toolchain import NoTool
    from ..web import build as page
    from .common import complain

    if not page.is_made():
        complain("translating the solver to WebAssembly: half a minute, only this first time")
    try:
        with writing(out):
            sizes = page.write(out)
    except NoTool as error:
        raise Failure(Code.UNAVAILABLE, str(error)) from error
    say(f"{len(sizes)} files in {out}, {sum(sizes.values()):,} bytes; the solver: {sizes[page.MODULE]:,}")
