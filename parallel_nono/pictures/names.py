"""Names of files that are made of puzzles."""

from __future__ import annotations

from pathlib import Path

from ..puzzle import Puzzle


def file_name(puzzle: Puzzle, ending: str, taken: set[str]) -> str:
    """A file name from the source and the place in it, one that no other puzzle took."""
    stem = Path(puzzle.source).name.split(".")[0] or "puzzle"
    stem = "".join(char if char.isalnum() or char in "-_" else "_" for char in stem)
    name, turn = f"{stem}-{puzzle.index:04}", 1
    while name in taken:
        turn += 1
        name = f"{stem}-{puzzle.index:04}-{turn}"
    taken.add(name)
    return name + ending
