"""`pnono formats`: what can be read and written."""

from __future__ import annotations

import typer


def formats() -> None:
    """List the file formats, what each can carry, and the endings by which it is known.

    Files are recognised by their content first, by their ending second; `.gz`, `.zip` and `.tar.*` are opened.

    \b
    pnono formats
    """
    import shutil
    import textwrap

    from ..formats import FORMATS

    width = shutil.get_terminal_size().columns
    indent = " " * 11

    def mark(able: object) -> str:
        return "yes" if able else "-"

    typer.echo(f"{'format':<10} read write colours several blots  endings")
    for form in sorted(FORMATS, key=lambda form: form.name):
        abilities = f"{mark(form.write):<5} {mark(form.colours):<7} {mark(form.several):<7} {mark(form.blots):<5}"
        typer.echo(f"{form.name:<10} yes  {abilities}  {' '.join(form.extensions)}")
        typer.echo(textwrap.fill(form.title, width, initial_indent=indent, subsequent_indent=indent))
