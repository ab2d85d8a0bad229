"""`pnono cnf`: puzzles as clauses for a SAT solver, and what the solver solutions as a picture."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ..pictures.door import put_bytes, say, show
from .common import (
    Colours,
    FormatName,
    Number,
    When,
    coloured,
    complain,
    counted,
    puzzles,
    say_if_compiling,
    standard_input,
    width,
)
from .exits import Code, Failure, writing

if TYPE_CHECKING:
    import numpy as np

    from ..puzzle import Grid, Puzzle
    from ..solver.dimacs import Explained, SolverOutput

STDIN = STDOUT = "-"


class Encoding(StrEnum):
    """How a puzzle becomes clauses."""

    PLAIN = "plain"
    ORDER = "order"


def cnf(
    source: Annotated[str, typer.Argument(metavar="FILE", help="File of the puzzle, or - for standard input.")],
    out: Annotated[
        str, typer.Option(metavar="CNF", help="Write the formula to this file, or - for standard output.")
    ] = "",
    solution: Annotated[str, typer.Option(metavar="OUTPUT", help="What a solver answered: a file, or -.")] = "",
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="OUTPUT", help="A known solution: ask for another one. May be repeated."),
    ] = None,
    encoding: Annotated[Encoding, typer.Option(help="Which clauses.")] = Encoding.PLAIN,
    lines: Annotated[bool, typer.Option("--lines", help="Put into the formula what rows and columns decide.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Solve it as it stands, with the log lines of apsnono.")] = False,
    seconds: Annotated[float, typer.Option(min=0.0, help="Time for one puzzle with --log.")] = 60.0,
    number: Number = 0,
    format_name: FormatName = "",
    colour: Colours = When.AUTO,
) -> None:
    """Write a puzzle as clauses for a SAT solver (DIMACS), or read back what the solver answered.

    Without --out, --solution and --log the size of the formula is shown.

    Encoding plain: a variable for each cell (and ink) and for each place of each block, and five rules; large, but
    published figures use it. Encoding order: the one that pnono's own solver uses, several times smaller.

    A solution is read from the output of a solver (`s SATISFIABLE`, `v` lines) or from a result file of MiniSat, and
    checked against the clues. Give the same --encoding and --lines as for --out: the variables are numbered by them.

    Run the solver yourself; only --log uses the one that comes with pnono (CaDiCaL).

    \b
    pnono cnf hook.non
    pnono cnf hook.non --out hook.cnf
    pnono cnf hook.non --solution hook.out
    pnono cnf hook.non --exclude hook.out --out second.cnf

    \b
    Exit codes: 0 written, or a right solution; 1 the solver found none, or a wrong one; 3 the puzzle or the solution
    can't be read, or the formula is too large; 4 the solver did not decide; 74 CNF can't be written.
    """
    from ..puzzle import InvalidPuzzle
    from ..solver.dimacs import InvalidOutput

    if sum(map(bool, (out, solution, log))) > 1:
        raise Failure(Code.USAGE, "expected one of --out, --solution and --log, found several")
    if log and (lines or exclude or encoding is not Encoding.PLAIN):
        raise Failure(Code.USAGE, "--log: expected the plain encoding as it stands, found other options")
    if [source, solution, *(exclude or [])].count(STDIN) > 1:
        raise Failure(Code.USAGE, "expected standard input for one file, found `-` several times")
    found = list(puzzles(source, format_name, number))
    if (out or solution or exclude) and len(found) > 1:
        raise Failure(Code.USAGE, f"{source}: expected one puzzle, found {len(found)}: choose with --number")
    say_if_compiling()
    code = Code.FINE
    for puzzle in found:
        if isinstance(puzzle, InvalidPuzzle):
            complain(puzzle)
            code = Code.INVALID
            continue
        try:
            done = _log(puzzle, seconds) if log else _do(puzzle, encoding, lines, exclude or [], solution, out, colour)
        except InvalidOutput as error:
            complain(error)
            done = Code.INVALID
        except InvalidPuzzle as error:  # it is one, but has no such formula
            complain(f"{puzzle.source}: {error}")
            done = Code.INVALID
        code = max(code, done)
    if code:
        raise typer.Exit(code)


def _do(
    puzzle: Puzzle, encoding: Encoding, lines: bool, exclude: list[str], solution: str, out: str, colour: When
) -> Code:
    """Build the formula and do with it what was asked."""
    formula = _formula(puzzle, encoding, lines)
    excluded = [_solution(formula, puzzle, place) for place in exclude]
    if solution:
        return _show(formula, puzzle, solution, excluded, coloured(colour))
    for grid in excluded:
        formula = formula.excluding(grid)
    if out:
        _write(formula, puzzle, out)
    else:
        _describe(formula, puzzle)
    return Code.FINE


def _name(puzzle: Puzzle) -> str:
    return puzzle.name or f"{puzzle.source} #{puzzle.index}"


def _formula(puzzle: Puzzle, encoding: Encoding, lines: bool) -> Explained:
    from ..solver.dimacs import order_formula, plain_formula

    known = _known(puzzle) if lines else None
    return plain_formula(puzzle, known) if encoding is Encoding.PLAIN else order_formula(puzzle, known)


def _known(puzzle: Puzzle) -> np.ndarray:
    """What rows and columns decide: uint16[cells], colour indices row by row, 65535 for an open cell."""
    from ..attempt import Limits, Plan
    from ..puzzleset import set_of
    from ..solver import solve_set

    return solve_set(set_of([puzzle]), Limits(plan=Plan(("line",)))).cells[0]


def _describe(formula: Explained, puzzle: Puzzle) -> None:
    sizes = (counted(formula.n_variables, "variable"), counted(formula.n_clauses, "clause"))
    say(f"{_name(puzzle)}: {formula.encoding}, {', '.join(sizes)}, {counted(formula.n_literals, 'literal')}")
    for kind, count in formula.kinds.items():
        if count:
            say(f"{count:>12,}  {kind}")


def _write(formula: Explained, puzzle: Puzzle, out: str) -> None:
    from ..solver.dimacs import dimacs

    parts = dimacs(formula, f"{_name(puzzle)}, {puzzle.height} x {puzzle.width}, {puzzle.n_colours} colours")
    if out == STDOUT:
        put_bytes(parts)
        return
    with writing(out), open(out, "wb") as file:
        file.writelines(parts)
    sizes = f"{counted(formula.n_variables, 'variable')}, {counted(formula.n_clauses, 'clause')}"
    say(f"{_name(puzzle)}: {formula.encoding}, {sizes} in {out}")


def _place(name: str) -> str:
    return "standard input" if name == STDIN else name


def _output(formula: Explained, name: str) -> SolverOutput:
    from ..solver.dimacs import read_output

    if name == STDIN:
        return read_output(standard_input(), _place(name), formula.n_variables)
    with open(name, encoding="utf-8", errors="replace") as file:
        return read_output(file, name, formula.n_variables)


def _solution(formula: Explained, puzzle: Puzzle, name: str) -> Grid:
    """The right solution that a solver gave. Errors: InvalidOutput, also for a wrong one."""
    from ..checker import check
    from ..solver.dimacs import SATISFIABLE, InvalidOutput, grid_of

    output, place = _output(formula, name), _place(name)
    if output.verdict != SATISFIABLE:
        raise InvalidOutput(f"{place}: expected a solution, found the verdict {output.verdict}")
    grid = grid_of(formula, output.values, place)
    verdict = check(puzzle, grid)
    if not verdict:
        hope = "a solution that obeys the clues"
        raise InvalidOutput(f"{place}: expected {hope}, found a wrong one: {verdict.complaint}")
    return grid


def _show(formula: Explained, puzzle: Puzzle, name: str, excluded: list[Grid], paint: bool) -> Code:
    """Print what a solver answered, and whether it is right."""
    from ..checker import Verdict, check
    from ..pictures.terminal import colour_picture, legend, text_picture
    from ..solver.dimacs import UNKNOWN, UNSATISFIABLE, grid_of

    output = _output(formula, name)
    if output.verdict == UNKNOWN:
        say(f"{_name(puzzle)}: undecided, says the solver; that proves nothing")
        return Code.UNDECIDED
    if output.verdict == UNSATISFIABLE:
        besides = f" but the {counted(len(excluded), 'solution')} excluded" if excluded else ""
        say(f"{_name(puzzle)}: no solution{besides}, says the solver")
        return Code.NO
    grid = grid_of(formula, output.values, _place(name))
    verdict = check(puzzle, grid)
    if verdict and grid in excluded:
        verdict = Verdict("it is one of those excluded")
    picture = colour_picture if paint else text_picture
    show(picture(puzzle, grid, width=width()))
    if legend(puzzle):
        show(legend(puzzle, colour=paint))
    say(f"{_name(puzzle)}: {verdict}")
    return Code.FINE if verdict else Code.NO


def _log(puzzle: Puzzle, seconds: float) -> Code:
    """Hand the plain clauses to CaDiCaL and print what apsnono would, times as the shell's `time` gives them."""
    from ..attempt import Limits
    from ..kernels.plain_cnf import N_KINDS, VARIABLES
    from ..puzzleset import clues_of, set_of
    from ..solver.plain_cnf import plain_counts, plain_problem
    from ..solver.sat import decide

    say(f"======== {puzzle.source} ========", "Start read data.", f"{1 + puzzle.height + puzzle.width} lines were read")
    clues, limits = clues_of(set_of([puzzle])), Limits(seconds, solutions=1)
    counts = plain_counts(clues, 0)
    say("Solver started.", f"vars = {counts[VARIABLES]} Clauses = {counts[:N_KINDS].sum()}", flush=True)
    began = (time.perf_counter(), *_cpu())
    problem = plain_problem(clues, 0, limits)
    if isinstance(problem, int):
        raise Failure(Code.UNDECIDED, f"the SAT solver needs about {problem:,} MiB, more than {limits.memory_mib:,}")
    found = decide(problem, limits, 1, 1, seconds, lambda: False)
    ended = (time.perf_counter(), *_cpu())
    none = found.exhausted and not found.found
    say("SATISFIABLE" if found.found else "UNSATISFIABLE" if none else "UNKNOWN")
    say("pnono finished.")
    for name, first, last in zip(("real", "user", "sys"), began, ended, strict=True):
        minutes, rest = divmod(last - first, 60)
        say(f"{name}    {minutes:.0f}m{rest:.3f}s")
    return Code.FINE if found.found else Code.NO if none else Code.UNDECIDED


def _cpu() -> tuple[float, float]:
    """Seconds of processor time, user and system, of this process and of those that it started."""
    import psutil

    here = psutil.Process()
    times = [here.cpu_times(), *(child.cpu_times() for child in here.children(recursive=True))]
    return sum(t.user + t.children_user for t in times), sum(t.system + t.children_system for t in times)
