"""A puzzle set: many puzzles as one Arrow record batch, whose buffers are the flat arrays that the kernels read.

This is the packed path: text formats are parsed into a set, a packed file *is* a set, and one puzzle is a set of one.
`Puzzle` objects are made from a set only where a person or a test looks at one. A puzzle that could not be read is a
row of its set too: its `error` says why, and it has no lines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .kernels.clues import Clues
from .puzzle import BLACK_AND_WHITE, Block, Clue, Colour, InvalidPuzzle, Palette, Puzzle

SET_VERSION = 1

COLOUR = pa.struct([("name", pa.string()), ("char", pa.string()), ("rgb", pa.uint32())])

SCHEMA = pa.schema(
    [
        pa.field("name", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("digest", pa.string(), nullable=False),
        pa.field("height", pa.int32(), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("n_colours", pa.int32(), nullable=False),
        # rows first, then columns: height + width lists; [] is an empty line, length 0 a blot
        pa.field("lengths", pa.list_(pa.list_(pa.int32())), nullable=False),
        pa.field("colours", pa.list_(pa.list_(pa.uint16())), nullable=False),
        # null: black and white
        pa.field("palette", pa.list_(COLOUR)),
        # colour indices row by row; null: the file has no goal
        pa.field("goal", pa.list_(pa.uint16())),
        pa.field("metadata", pa.string(), nullable=False),
        pa.field("warnings", pa.string(), nullable=False),
        pa.field("error", pa.string(), nullable=False),
    ],
    {"pnono.puzzleset": str(SET_VERSION)},
)

RUN_COLUMNS = tuple(name for name in SCHEMA.names if name not in ("palette", "goal"))
"""What a run reads of a packed file; palettes and goals stay on disk."""


def _numpy(array: pa.Array) -> np.ndarray:
    return array.to_numpy(zero_copy_only=True)


def _arrow(array: np.ndarray) -> pa.Array:
    """The numbers of an array as a column, not copied; `pa.array` would import numpy.ma to look for a mask."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(array.dtype), len(array), [None, pa.py_buffer(array)])


def clues_of(batch: pa.RecordBatch) -> Clues:
    """The flat arrays of a set (or of a slice of one), read-only."""
    lengths, colours = batch.column("lengths"), batch.column("colours")
    lines = _numpy(lengths.offsets)
    inner = lengths.values
    blocks = _numpy(inner.offsets)
    inner_colours = colours.values
    values, inks = _numpy(inner.values), _numpy(inner_colours.values)
    # A slice, or a batch from elsewhere, may keep its two lists at different places of their buffers.
    if not np.array_equal(blocks, _numpy(inner_colours.offsets)) or not np.array_equal(lines, _numpy(colours.offsets)):
        if not (
            np.array_equal(np.diff(lines), np.diff(_numpy(colours.offsets)))
            and np.array_equal(_trimmed(lengths)[0], _trimmed(colours)[0])
        ):
            raise InvalidPuzzle("expected `lengths` and `colours` of the same shape, found different ones")
        blocks, values = _trimmed(lengths)
        inks = _trimmed(colours)[1]
        lines = lines - lines[0]
    return Clues(
        _numpy(batch.column("height")),
        _numpy(batch.column("width")),
        _numpy(batch.column("n_colours")),
        lines,
        blocks,
        values,
        inks,
    ).sealed()


def _trimmed(lists: pa.ListArray) -> tuple[np.ndarray, np.ndarray]:
    """Offsets from 0 and values of the inner lists of a list of lists."""
    lines = _numpy(lists.offsets)
    inner = _numpy(lists.values.offsets)[lines[0] : lines[-1] + 1]
    return inner - inner[0], _numpy(lists.values.values)[inner[0] : inner[-1]]


class SetBuilder:
    """Collects puzzles, and errors in their places, into one set.

    The columns are plain lists and arrays, so that a fast reader may extend them by whole files
    (`add_black_white`) and a careful one puzzle by puzzle (`add`, `add_error`).
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.sources: list[str] = []
        self.indexes: list[int] = []
        self.heights: list[int] = []
        self.widths: list[int] = []
        self.n_colours: list[int] = []
        self.palettes: list[list[dict[str, Any]] | None] = []
        self.goals: list[Sequence[int] | np.ndarray | None] = []
        self.metadata: list[str] = []
        self.warnings: list[str] = []
        self.errors: list[str] = []
        self.counts: list[np.ndarray] = []  # blocks of each line
        self.lengths: list[np.ndarray] = []
        self.colours: list[np.ndarray] = []

    def __len__(self) -> int:
        return len(self.sources)

    def add(self, puzzle: Puzzle) -> None:
        """Append one puzzle."""
        clues = (*puzzle.rows, *puzzle.columns)
        blocks = [block for clue in clues for block in clue]
        self._add_facts(puzzle.name, puzzle.source, puzzle.index, puzzle.height, puzzle.width, puzzle.n_colours)
        self.counts.append(np.array([len(clue) for clue in clues], np.int32))
        self.lengths.append(np.array([length for length, _ in blocks], np.int32))
        self.colours.append(np.array([colour for _, colour in blocks], np.uint16))
        self.palettes[-1] = None if puzzle.palette == BLACK_AND_WHITE else [c._asdict() for c in puzzle.palette]
        if puzzle.goal is not None:
            self.goals[-1] = [cell for row in puzzle.goal for cell in row]
        if puzzle.metadata:
            self.metadata[-1] = json.dumps(dict(puzzle.metadata), ensure_ascii=False)
        self.warnings[-1] = "; ".join(puzzle.warnings)

    def add_error(self, message: str, source: str, index: int = 1, name: str = "") -> None:
        """Append a puzzle that could not be read, in its place among the others of its file."""
        self._add_facts(name, source, index, 0, 0, 0)
        self.errors[-1] = message
        for column, kind in ((self.counts, np.int32), (self.lengths, np.int32), (self.colours, np.uint16)):
            column.append(np.zeros(0, kind))

    def add_black_white(
        self,
        heights: Sequence[int],
        widths: Sequence[int],
        counts: np.ndarray,
        lengths: np.ndarray,
        names: Sequence[str],
        source: str,
        first_index: int = 1,
    ) -> None:
        """Append many black-white puzzles of one source at once.

        counts   int32, blocks of each line, all puzzles after one another, rows first in each.
        lengths  int32, the blocks.
        """
        n = len(heights)
        self.names += names
        self.sources += [source] * n
        self.indexes += range(first_index, first_index + n)
        self.heights += heights
        self.widths += widths
        self.n_colours += [2] * n
        self.palettes += [None] * n
        self.goals += [None] * n
        for column in (self.metadata, self.warnings, self.errors):
            column += [""] * n
        self.counts.append(counts)
        self.lengths.append(lengths)
        self.colours.append(np.ones(len(lengths), np.uint16))

    def set_colours(self, palette: Palette, colours: np.ndarray) -> None:
        """The last puzzle has this palette; colours  uint16, of its blocks."""
        self.palettes[-1] = [colour._asdict() for colour in palette]
        self.n_colours[-1] = len(palette)
        self.colours[-1] = colours

    def _add_facts(self, name: str, source: str, index: int, height: int, width: int, n_colours: int) -> None:
        self.names.append(name)
        self.sources.append(source)
        self.indexes.append(index)
        self.heights.append(height)
        self.widths.append(width)
        self.n_colours.append(n_colours)
        self.palettes.append(None)
        self.goals.append(None)
        self.metadata.append("")
        self.warnings.append("")
        self.errors.append("")

    def finish(self) -> pa.RecordBatch:
        """The set, digests computed."""
        return Columns(
            self.names,
            self.sources,
            self.indexes,
            np.array(self.heights, np.int32),
            np.array(self.widths, np.int32),
            np.array(self.n_colours, np.int32),
            np.concatenate(self.counts) if self.counts else np.zeros(0, np.int32),
            np.concatenate(self.lengths) if self.lengths else np.zeros(0, np.int32),
            np.concatenate(self.colours) if self.colours else np.zeros(0, np.uint16),
            pa.array(self.palettes, pa.list_(COLOUR)),
            pa.array(self.goals, pa.list_(pa.uint16())),
            pa.array(self.metadata, pa.string()),
            self.warnings,
            self.errors,
        ).batch()


class Columns(NamedTuple):
    """What is in a set, but for the digests: lists, flat arrays (see SetBuilder) and columns of Arrow."""

    names: Sequence[str]
    sources: Sequence[str]
    indexes: Sequence[int]
    heights: np.ndarray
    widths: np.ndarray
    n_colours: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray
    colours: np.ndarray
    palettes: pa.Array
    goals: pa.Array
    metadata: pa.Array
    warnings: Sequence[str]
    errors: Sequence[str]

    def batch(self) -> pa.RecordBatch:
        """The set, digests computed."""
        lines, blocks = _offsets(self.heights + self.widths), _offsets(self.counts)
        heights, widths, n_colours = self.heights, self.widths, self.n_colours
        clues = Clues(heights, widths, n_colours, lines, blocks, self.lengths, self.colours)

        def nested(values: np.ndarray) -> pa.Array:
            inner = pa.ListArray.from_arrays(_arrow(blocks), _arrow(values))
            return pa.ListArray.from_arrays(_arrow(lines), inner)

        return pa.RecordBatch.from_arrays(
            [
                pa.array(self.names, pa.string()),
                pa.array(self.sources, pa.string()),
                pa.array(self.indexes, pa.int32()),
                pa.array(digests(clues), pa.string()),
                _arrow(heights),
                _arrow(widths),
                _arrow(n_colours),
                nested(self.lengths),
                nested(self.colours),
                self.palettes,
                self.goals,
                self.metadata,
                pa.array(self.warnings, pa.string()),
                pa.array(self.errors, pa.string()),
            ],
            schema=SCHEMA,
        )


def texts_column(ends: np.ndarray, text: np.ndarray) -> pa.Array:
    """A column of texts that lie one after another: int64[n] ends, uint8 UTF-8."""
    buffers = [None, pa.py_buffer(_from_zero(ends)), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), len(ends), buffers)


def has_text(texts: pa.StringArray) -> np.ndarray:
    """bool[n]: which of these are not empty. Without pyarrow.compute, which takes longer to import than most runs."""
    offsets = np.frombuffer(texts.buffers()[1] or b"\0\0\0\0", np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.diff(offsets) > 0


def goals_column(ends: np.ndarray, cells: np.ndarray) -> pa.Array:
    """A column of goals that lie one after another: int64[n] ends, uint16 cells; null where there is no cell."""
    offsets = _from_zero(ends)
    none = np.diff(offsets) == 0
    mask = pa.array(none) if none.any() else None
    return pa.ListArray.from_arrays(_arrow(offsets), _arrow(cells), mask=mask)


def palettes_column(palettes: Sequence[Palette]) -> pa.Array:
    """A column of palettes; the same ones, as objects, are made once. Null for black and white."""
    places: dict[int, int] = {}
    for palette in palettes:
        places.setdefault(id(palette), len(places))
    different = dict(zip(map(id, palettes), palettes, strict=True))
    made = [None if one == BLACK_AND_WHITE else [colour._asdict() for colour in one] for one in different.values()]
    column = pa.array(made, pa.list_(COLOUR))
    if len(made) == 1:  # as almost always; `take` loads pyarrow.compute
        return pa.repeat(column[0], len(palettes))
    return column.take(pa.array([places[id(palette)] for palette in palettes], pa.int32()))


def _from_zero(ends: np.ndarray) -> np.ndarray:
    return np.concatenate(([0], ends)).astype(np.int32)


def _offsets(counts: np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def set_of(puzzles: Iterable[Puzzle | InvalidPuzzle], source: str = "") -> pa.RecordBatch:
    """A set of these puzzles; an InvalidPuzzle among them becomes a row with its message."""
    builder = SetBuilder()
    for place, puzzle in enumerate(puzzles, start=1):
        if isinstance(puzzle, InvalidPuzzle):
            builder.add_error(str(puzzle), source, puzzle.index or place, puzzle.name)
        else:
            builder.add(puzzle)
    return builder.finish()


def puzzle_at(batch: pa.RecordBatch, place: int) -> Puzzle:
    """The puzzle in row `place` of a set as an object. Errors: InvalidPuzzle if that row is an error."""
    row = batch.slice(place, 1).to_pylist()[0]
    if row["error"]:
        raise InvalidPuzzle(row["error"], name=row["name"], index=row["index"])
    clues: list[Clue] = [
        tuple(Block(length, colour) for length, colour in zip(lengths, colours, strict=True))
        for lengths, colours in zip(row["lengths"], row["colours"], strict=True)
    ]
    height, width = row["height"], row["width"]
    name, source, metadata, palette = _facts_of(row)
    goal = row.get("goal")
    return Puzzle(
        tuple(clues[:height]),
        tuple(clues[height:]),
        palette,
        name,
        source,
        row["index"],
        metadata,
        None if goal is None else tuple(tuple(goal[r * width : (r + 1) * width]) for r in range(height)),
        tuple(row["warnings"].split("; ")) if row["warnings"] else (),
    )


def facts_at(batch: pa.RecordBatch, place: int) -> tuple[str, str, tuple[tuple[str, str], ...], Palette]:
    """Name, source, metadata and palette of the puzzle in row `place` of a set."""
    columns = [name for name in ("name", "source", "metadata", "n_colours", "palette") if name in batch.schema.names]
    return _facts_of(batch.select(columns).slice(place, 1).to_pylist()[0])


def _facts_of(row: dict[str, Any]) -> tuple[str, str, tuple[tuple[str, str], ...], Palette]:
    palette: Palette = BLACK_AND_WHITE
    if row.get("palette"):
        palette = tuple(Colour(**colour) for colour in row["palette"])
    elif row["n_colours"] != 2:
        palette = plain_palette(row["n_colours"])
    metadata = tuple(json.loads(row["metadata"]).items()) if row["metadata"] else ()
    return row["name"], row["source"], metadata, palette


def plain_palette(n_colours: int) -> Palette:
    """A palette for a set that was read without its palettes: right indices, made-up shades."""
    from .puzzle import letter

    inks = (Colour(f"colour {c}", letter(c, n_colours), c * 2654435761 % 0xE00000) for c in range(1, n_colours))
    return (BLACK_AND_WHITE[0], *inks)


def puzzles_of(batch: pa.RecordBatch) -> Iterator[Puzzle | InvalidPuzzle]:
    """Every row of a set as an object, errors as InvalidPuzzle (not raised)."""
    for place in range(batch.num_rows):
        try:
            yield puzzle_at(batch, place)
        except InvalidPuzzle as error:
            yield error


def digests(clues: Clues) -> list[str]:
    """The digest of every puzzle of a set, as `Puzzle.digest` computes it; "" for a row without lines."""
    from .kernels.canonical import canonical_words

    words, starts = canonical_words(clues)
    view = words.view(np.uint8).data
    bounds = (starts * 4).tolist()
    blake2b = hashlib.blake2b
    return [blake2b(view[a:b], digest_size=16).hexdigest() if a != b else "" for a, b in pairwise(bounds)]
