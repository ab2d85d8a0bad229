"""The one door for text that goes to a terminal, or to whoever reads the standard output.

Names, titles, paths and messages come from files of strangers. Nothing of them may move a cursor, colour or name a
window, turn the direction of writing, or be taken for markup. So nobody else prints (`tests/test_door.py`):

    say      lines of text          whatever is not printable becomes `�`
    show     pictures of ours       likewise, but our own colours pass
    say_json values                 what is not printable is escaped, so that nothing is lost
    put      contents of files      to a terminal like `say`; to a file or a pipe as they are, but for control
                                    characters, which no format has
    console  Rich                   text is never markup, and passes through the same door
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

INSTEAD = "�"
COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")
"""Escape sequences that choose colours, and nothing else."""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """One line: whatever can't be printed becomes `�`; so a name in a file can't move the cursor."""
    return text if text.isprintable() else "".join(char if char.isprintable() else INSTEAD for char in text)


def lines_of(text: str) -> str:
    """Several lines: likewise, but line feeds and tabs stay."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else INSTEAD for char in text)


def painted(text: str) -> str:
    """Several lines in which colours stay too."""
    pieces = COLOURS.split(text)
    return "".join(piece if place % 2 else lines_of(piece) for place, piece in enumerate(pieces))


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that can be printed: every character in it that can't is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def contents(text: str, *, terminal: bool) -> str:
    """The text of a file, for a terminal or for a program."""
    return lines_of(text.replace("\r\n", "\n")) if terminal else CONTROL.sub(INSTEAD, text)


# Printing.


def say(*lines: object, file: TextIO | None = None, flush: bool = False) -> None:
    """Print each of these on a line of its own, without anything that can't be printed."""
    _write("".join(f"{printable(str(line))}\n" for line in lines), file, flush)


def show(text: str, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a picture or a table that we made, of one line or several; our colours stay."""
    _write(f"{painted(text)}\n", file, flush)


def rendered(text: str, file: TextIO | None = None) -> None:
    """Print what a `console` made."""
    _write(painted(text), file, True)


def say_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON."""
    _write(f"{json_text(value, indent)}\n", None, False)


def put(text: str, file: TextIO | None = None) -> None:
    """Print the contents of a file as they are, as far as the door lets them through."""
    _write(contents(text, terminal=(file or sys.stdout).isatty()), file, False)


def put_bytes(data: Iterable[bytes]) -> None:
    """Print bytes for a program that reads them: what is no text is not for a terminal (see `is_text`)."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        put(b"".join(data).decode("utf-8", "replace"))
        return
    for piece in data:
        sys.stdout.buffer.write(piece)


def _write(text: str, file: TextIO | None, flush: bool) -> None:
    file = file or sys.stdout
    file.write(text)
    if flush:
        file.flush()


# Rich.


def console(file: TextIO | None = None, **more: Any) -> Console:
    """A console of Rich's through which text goes as `say` and `show` print it, and is never markup."""
    from rich.console import Console
    from rich.segment import Segment

    class Door(Console):
        def render(self, *arguments: Any, **others: Any) -> Iterable[Segment]:
            for segment in super().render(*arguments, **others):
                yield segment if segment.control else Segment(lines_of(segment.text), segment.style)

    return Door(file=file, markup=False, emoji=False, highlight=False, **more)
