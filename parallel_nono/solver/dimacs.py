"""A puzzle as a DIMACS file for any SAT solver, and what such a solver prints, read back as a grid.

Written are `p cnf` files with comments that say what the variables mean. Read are the output of SAT competitions
(`s SATISFIABLE`, `v 1 -2 0`) and the result files of MiniSat (`SAT`, then the values), whichever way they are mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..kernels.board import OPEN_CELL
from ..kernels.encode import TRUE, Encoding
from ..kernels.known import known_planes
from ..kernels.plain_cnf import N_KINDS
from ..puzzle import Block, Clue, Grid, Puzzle, letter
from ..puzzleset import clues_of, set_of
from . import plain_cnf
from .formula import Formula
from .plain_cnf import MAX_LITERALS, TooLarge
from .sat import encoded

KINDS = (
    "rule 1: each block has a place",
    "rule 2: no block has two places",
    "rule 3: blocks keep their order and their distance",
    "rule 4: an inked cell is covered",
    "rule 5: a block inks the cells it covers",
    "cells of empty lines",
)
"""What the clauses of the plain encoding say, in the order of its counts."""

EXCLUDED = "solutions excluded"

SATISFIABLE, UNSATISFIABLE, UNKNOWN = "satisfiable", "unsatisfiable", "unknown"

VERDICTS = {
    **dict.fromkeys(("SATISFIABLE", "SAT"), SATISFIABLE),
    **dict.fromkeys(("UNSATISFIABLE", "UNSAT"), UNSATISFIABLE),
    **dict.fromkeys(("UNKNOWN", "INDETERMINATE", "INDET"), UNKNOWN),
}

CHATTER = ("|", "=", "WARNING")
"""How lines begin that are the statistics of MiniSat and Glucose; others of them have a colon."""


class InvalidOutput(ValueError):
    """What was read is no solver's output for this formula. The message says where, what was expected and found."""


class SolverOutput(NamedTuple):
    """What a solver says.

    verdict  SATISFIABLE, UNSATISFIABLE or UNKNOWN.
    values   int8[variables + 1]: 1 true, -1 false, 0 not said; place 0 is not used.
    """

    verdict: str
    values: np.ndarray


@dataclass(frozen=True, slots=True)
class Explained(Formula):
    """A formula with what people are told of it.

    encoding     its name.
    shape        height and width of the puzzle.
    kinds        how many clauses say what, by a few words for people.
    comments     what the variables mean, a line each.
    sized        all blocks have known lengths.
    """

    encoding: str
    shape: tuple[int, int]
    kinds: dict[str, int]
    comments: tuple[str, ...]
    sized: bool = True

    @property
    def cells(self) -> np.ndarray:
        """int32[height, width, colours], the literals."""
        return self.literals.reshape(*self.shape, -1)

    def excluding(self, grid: Grid) -> Explained:
        """With one more clause: not this solution.

        Its inked cells suffice where all solutions have equally many of each ink, as they do if all lengths are known.
        """
        colours = np.array(grid)
        rows, columns = np.nonzero((colours > 0) | (not self.sized))
        literals = self.cells[rows, columns, colours[rows, columns]]
        clause = -literals[np.abs(literals) != TRUE]
        clauses = np.concatenate([self.clauses, clause, np.zeros(1, np.int32)])
        return replace(self, clauses=clauses, kinds={**self.kinds, EXCLUDED: self.kinds.get(EXCLUDED, 0) + 1})


def plain_formula(puzzle: Puzzle, known: np.ndarray | None = None) -> Explained:
    """The five-rule encoding of a puzzle.

    known   uint16[cells], colour indices row by row, OPEN_CELL where nothing is known: clauses of one literal.
    Errors  plain_cnf.TooLarge; InvalidPuzzle if a block has no known length.
    """
    formula, counts = plain_cnf.plain_formula(clues_of(set_of([puzzle])), 0, known)
    kinds = dict(zip(KINDS, counts[:N_KINDS].tolist(), strict=True))
    if known is not None:
        kinds["cells known before"] = formula.n_clauses - sum(kinds.values())
    return _explained(formula, "plain", puzzle, kinds, _plain_comments(puzzle))


def _explained(
    formula: Formula, encoding: str, puzzle: Puzzle, kinds: dict[str, int], comments: Iterable[str]
) -> Explained:
    shape, sized = (puzzle.height, puzzle.width), not puzzle.has_blots
    return Explained(
        formula.clauses, formula.n_variables, formula.literals, encoding, shape, kinds, tuple(comments), sized
    )


def _plain_comments(puzzle: Puzzle) -> Iterator[str]:
    inks = puzzle.n_colours - 1
    if inks == 1:
        yield f"cell in row r, column c, from 1: variable (r - 1) * {puzzle.width} + c, true: black"
    else:
        names = ", ".join(f"{letter(ink, puzzle.n_colours)} {ink}" for ink in range(1, inks + 1))
        yield f"cell in row r, column c has ink i: variable ((r - 1) * {puzzle.width} + c - 1) * {inks} + i; {names}"
    yield "blocks: first and last variable, true if the block begins at this cell, first and last"
    variable = puzzle.height * puzzle.width * inks + 1
    for line, clue, n in _lines(puzzle):
        starts = _earliest_starts(clue)
        places = n - starts[-1] - clue[-1].length + 1 if clue else 0
        for number, (block, start) in enumerate(zip(clue, starts, strict=True), start=1):
            if places < 1:
                yield f"{_block(puzzle, line, number, block)}: has no place"
                continue
            variables = f"{variable} to {variable + places - 1}"
            yield f"{_block(puzzle, line, number, block)}: {variables}, cell {start + 1} to {start + places}"
            variable += places


def _lines(puzzle: Puzzle) -> Iterator[tuple[str, Clue, int]]:
    """(name, clue, cells) of every line, rows first."""
    for number, clue in enumerate(puzzle.rows, start=1):
        yield f"row {number}", clue, puzzle.width
    for number, clue in enumerate(puzzle.columns, start=1):
        yield f"column {number}", clue, puzzle.height


def _earliest_starts(clue: Clue) -> list[int]:
    """Where the blocks of a clue begin, from 0, when all lie as far left as they can."""
    starts, free, before = [], 0, 0
    for length, colour in clue:
        start = free + (colour == before)
        starts.append(start)
        free, before = start + length, colour
    return starts


def _block(puzzle: Puzzle, line: str, number: int, block: Block) -> str:
    """`row 3, block 2 (4)`, in colour with the letter of its ink."""
    ink = "" if puzzle.n_colours == 2 else letter(block.colour, puzzle.n_colours)
    return f"{line}, block {number} ({block.text}{ink})"


def order_formula(puzzle: Puzzle, known: np.ndarray | None = None) -> Explained:
    """The lean order encoding of a puzzle (kernels.encode), from what is known of it; as `plain_formula`.

    Errors  plain_cnf.TooLarge.
    """
    clues = clues_of(set_of([puzzle]))
    cells = puzzle.height * puzzle.width
    said = np.full(cells, OPEN_CELL, np.uint16) if known is None else known
    words = np.zeros(known_planes(0, clues, said, np.zeros(0, np.uint64)), np.uint64)
    known_planes(0, clues, said, words)
    n_colours = max(puzzle.n_colours, 2)
    made = encoded(clues, 0, 0, words, MAX_LITERALS)
    if isinstance(made, int):
        raise TooLarge(f"expected an order encoding of at most {MAX_LITERALS:,} literals, found more than that")
    encoding, possible = made
    if not possible:
        formula = Formula(np.zeros(1, np.int32), 0, np.full((cells, n_colours), -TRUE, np.int32))
        return _explained(formula, "order", puzzle, {"a block has no place": 1}, ())
    _, variables, numbers = encoding.sizes.tolist()
    formula = Formula(encoding.flat[:numbers], variables, encoding.cells.reshape(cells, n_colours))
    kinds = {"cells, ladders, order, covers and gaps": formula.n_clauses}
    literals = formula.literals.reshape(puzzle.height, puzzle.width, n_colours)
    return _explained(formula, "order", puzzle, kinds, _order_comments(puzzle, literals, encoding))


def _order_comments(puzzle: Puzzle, literals: np.ndarray, encoding: Encoding) -> Iterator[str]:
    yield "open cells of a row: column, then literal:colour for each colour that is left"
    for row, line in enumerate(literals.tolist(), start=1):
        told = (
            f"{column} {' '.join(_told(puzzle, cell))}" for column, cell in enumerate(line, start=1) if TRUE not in cell
        )
        if text := ", ".join(told):
            yield f"row {row}: {text}"
    yield "blocks: variable:cell, true if the block begins at or before the cell"
    block = 0
    for line, clue, _ in _lines(puzzle):
        for number, one in enumerate(clue, start=1):
            first, last = encoding.starts[block : block + 2].tolist()
            places = encoding.places[first - 1 : last - 1].tolist()
            told = (f"{variable}:{place + 1}" for variable, place in enumerate(places, start=first))
            ends = " begins, then ends before it" if one.is_blot else ""
            if text := " ".join(told):
                yield f"{_block(puzzle, line, number, one)}{ends}: {text}"
            block += 1


def _told(puzzle: Puzzle, cell: list[int]) -> Iterator[str]:
    """The colours that are left of a cell, with their literals."""
    for colour, literal in enumerate(cell):
        if literal != -TRUE:
            yield f"{literal}:{letter(colour, puzzle.n_colours)}"


def dimacs(formula: Explained, title: str) -> Iterator[bytes]:
    """The formula as the parts of a DIMACS file."""
    kinds = (f"{count} clauses: {kind}" for kind, count in formula.kinds.items() if count)
    comments = (title, f"encoding: {formula.encoding}", *kinds, *formula.comments)
    yield "".join(f"c {_printable(comment)}\n" for comment in comments).encode()
    yield from formula.dimacs()


def _printable(text: str) -> str:
    """Without control characters: a name can't end the comment that it stands in."""
    return "".join(char if char.isprintable() else " " for char in text)


def read_output(lines: Iterable[str], source: str, n_variables: int) -> SolverOutput:
    """What a solver printed, or wrote into a file, about a formula of so many variables.

    Errors  InvalidOutput naming the line; for a verdict SATISFIABLE without any value; for a text without a verdict,
            unless it has values: they speak for themselves.
    """
    values = np.zeros(n_variables + 1, np.int8)
    verdict, said = "", False
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0] == "c" or line.startswith(CHATTER) or " : " in line:
            continue
        word = words[1] if words[0] == "s" and len(words) == 2 else words[0]
        if word in VERDICTS and len(words) <= 2:
            if verdict not in ("", VERDICTS[word]):
                raise InvalidOutput(f"{source}:{number}: expected one verdict, found {verdict} and {word}")
            verdict = VERDICTS[word]
            continue
        said = True
        for word in words[words[0] == "v" :]:
            _take(word, values, f"{source}:{number}")
    if not verdict and not said:
        raise InvalidOutput(f"{source}: expected `s SATISFIABLE`, `SAT` or the like, found no verdict")
    if verdict == SATISFIABLE and n_variables and not said:
        raise InvalidOutput(f"{source}: expected values, as `v 1 -2 0` or in the line after SAT, found none")
    return SolverOutput(verdict or SATISFIABLE, values)


def _take(word: str, values: np.ndarray, place: str) -> None:
    """Note one literal of an assignment; 0 ends a line of them and says nothing."""
    digits = word.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        raise InvalidOutput(f"{place}: expected a verdict, `v` or literals, found `{word[:40]}`")
    variable = int(digits) if len(digits) < 12 else len(values)
    if variable >= len(values):
        raise InvalidOutput(
            f"{place}: expected variables from 1 to {len(values) - 1}, found {word[:40]}: is it about another formula?"
        )
    value = -1 if word.startswith("-") else 1
    if variable and values[variable] == -value:
        raise InvalidOutput(f"{place}: expected one value for variable {variable}, found both")
    if variable:
        values[variable] = value


def grid_of(formula: Explained, values: np.ndarray, source: str) -> Grid:
    """The grid that an assignment shows; values as in SolverOutput.

    Errors  InvalidOutput for a cell without a value, or with two inks.
    """
    inks = formula.cells[:, :, 1:]
    variables = np.abs(inks)
    constant = variables == TRUE
    said = np.sign(inks) * np.where(constant, 1, values[np.where(constant, 0, variables)])
    inked = said > 0
    missing = np.argwhere(~inked.any(axis=2) & (said == 0).any(axis=2))
    if len(missing):
        row, column = missing[0].tolist()
        variable = int(variables[row, column][said[row, column] == 0][0])
        others = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise InvalidOutput(
            f"{source}: expected a value for every cell, found none for row {row + 1}, column {column + 1} "
            f"(variable {variable}){others}: an assignment in part is no solution"
        )
    double = np.argwhere(inked.sum(axis=2) > 1)
    if len(double):
        row, column = double[0].tolist()
        raise InvalidOutput(f"{source}: expected one ink a cell, found two in row {row + 1}, column {column + 1}")
    colours = (inked * np.arange(1, inks.shape[2] + 1)).sum(axis=2)
    return tuple(map(tuple, colours.tolist()))
