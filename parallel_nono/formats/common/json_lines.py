"""JSON lines: an object a line, each read by itself; a line that can't be read costs no other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...puzzle import InvalidPuzzle, Puzzle
from .. import Parsed, unpacked_name
from .text import labelled, numbered, stem

ENDINGS = (".jsonl", ".ndjson")


def mistake(error: ValueError | RecursionError, source: str) -> InvalidPuzzle:
    """What to raise for an error of `json.loads`."""
    import json

    if isinstance(error, json.JSONDecodeError):
        place, what = f"{source}:{error.lineno}", f"a mistake: {error.msg} (column {error.colno})"
    elif isinstance(error, RecursionError):
        place, what = source, "brackets within brackets without end"
    else:  # a number of thousands of digits
        place, what = source, f"a mistake: {error}"
    return InvalidPuzzle(f"{place}: expected JSON, found {what}")


def is_lines(text: str, source: str) -> bool:
    """Whether a text that is no JSON as a whole is JSON line by line: by its name, or as every line is an object."""
    if unpacked_name(source).endswith(ENDINGS):
        return True
    lines = [line for _, line in numbered(text) if line]
    return len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines)


def parse(text: str, source: str, read: Callable[[str, str], Parsed]) -> Parsed:
    """The puzzles of all lines. read: reads one line, and calls the place that it is given the source."""
    index = 0
    for number, line in numbered(text):
        if not line:
            continue
        place = f"{source}:{number}"
        try:
            items = list(read(line, place))
        except InvalidPuzzle as error:
            items = [error]
        for item in items:
            index += 1
            own = labelled(source, "", index, False)
            name = own if item.name in ("", stem(place)) else item.name
            if isinstance(item, Puzzle):
                yield replace(item, source=source, name=name, index=index)
            else:
                message = str(item).replace(f"{place}:1:", f"{place}:", 1)  # a line has but one line
                yield InvalidPuzzle(message, name=name, index=index)
