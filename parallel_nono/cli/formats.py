"""`pnono formats`: what can be read and written."""

from __future__ import annotations

from ..pictures.door import say


def formats() -> None:
    """List the file formats, what each can carry, and the endings by which it is known.

    Files are recognised by their content first, by their ending second; `.gz`, `.zip` and `.tar.*` are opened. What a
    format can't carry (colours, blots, several puzzles in a file) is refused by name when it is written.

    \b
    pnono formats
    """
    import shutil
    import textwrap

    from ..formats import FORMATS

    forms = sorted(FORMATS, key=lambda form: form.name)
    wide = max(len(form.name) for form in forms)
    indent = " " * (wide + 1)

    def mark(able: object) -> str:
        return "yes" if able else "-"

    say(f"{'format':<{wide}} read write colours blots several keeps    endings")
    for form in forms:
        abilities = f"{mark(form.write):<5} {mark(form.colours):<7} {mark(form.blots):<5} {mark(form.several):<7}"
        keeps = "picture" if form.picture else "clues"
        say(f"{form.name:<{wide}} yes  {abilities} {keeps:<8} {' '.join(form.extensions)}")
        about = textwrap.fill(
            form.title, shutil.get_terminal_size().columns, initial_indent=indent, subsequent_indent=indent
        )
        say(about)
    say("A format that keeps the picture is written from the solution: of the file, or found by solving.")
