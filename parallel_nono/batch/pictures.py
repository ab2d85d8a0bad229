"""The solutions of a run as pictures, made from its rows and its inputs when it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from ..engine.folder import Folder, OutputError
from ..engine.waiting import patiently
from ..puzzle import InvalidPuzzle

if TYPE_CHECKING:
    from ..attempt import Limits

PICTURES = "pictures"


def draw_run(out: Path, paths: Sequence[str], limits: Limits, notice: Callable[[str], None], stop: Event) -> None:
    """The solutions of a run's rows as PNG in the folder `pictures` of its results, in the order of its inputs.

    The puzzles are read once more, as rows hold no shades; a puzzle without a solution shows what is known of it.
    Puzzles that can't be drawn go to `notice`; `stop`, once set, ends it between two puzzles. Errors: OutputError.
    """
    from ..files.reading import read
    from ..pictures.lattice import Look
    from ..pictures.names import file_name
    from ..pictures.raster import png
    from ..pictures.sheets import decided, sheet_of_texts

    stages = tuple(stage for stage in limits.plan.stages if stage in ("line", "probe"))
    guessless = replace(limits, plan=replace(limits.plan, stages=stages))
    solutions = dict(_solutions_of(out))
    taken: set[str] = set()
    look, place = Look(), out / PICTURES
    try:
        with Folder(out) as results, results.sub(PICTURES, make=True) as folder:
            for path in paths:
                for puzzle in read(path, errors="yield"):
                    if stop.is_set():
                        return
                    if isinstance(puzzle, InvalidPuzzle) or (puzzle.source, puzzle.index) not in solutions:
                        continue
                    texts = solutions[puzzle.source, puzzle.index]
                    try:
                        sheet = sheet_of_texts(puzzle, *texts) if texts[0] else patiently(decided, puzzle, guessless)[0]
                        data = png(sheet, look, 0)
                    except InvalidPuzzle as error:
                        notice(str(error))
                        continue
                    place = out / PICTURES / file_name(puzzle, ".png", taken)
                    with folder.replacing(place.name, sync=False) as file:
                        file.write(data)
    except OSError as error:
        raise OutputError(f"{place}: can't be written: {error.strerror or error}", writing=True) from error


def _solutions_of(out: Path) -> Iterator[tuple[tuple[str, int], tuple[str, str]]]:
    """((source, index), (solution, second solution)) of each row of a run."""
    from ..report.parts import batches

    names = ["source", "index", "solution", "second_solution"]
    for batch in batches(out, names):
        for source, index, *texts in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
            yield (source, index), (texts[0], texts[1])
