"""What solves in a run: one of our plans, or another program (`configs/solvers`), for puzzles of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import InvalidOption

if TYPE_CHECKING:
    from ..attempt import Limits, Plan
    from ..kinds import Kind


@dataclass(frozen=True, slots=True)
class Solver:
    """What solves in a run.

    name    of its plan or definition.
    label   what the column `solver` shows: `pnono PLAN`, or the program and its version.
    facts   of a program, for the run.
    definition  of a program, as it decides the rows; a run is resumed with the same.
    """

    name: str
    label: str
    kind: Kind
    limits: Limits
    facts: dict[str, Any] = field(default_factory=dict)
    definition: dict[str, Any] = field(default_factory=dict)


def chosen_plan(name: str) -> Plan:
    """The plan of that name or file. Errors: InvalidOption."""
    from ..solver.plans import InvalidPlan, load_plan

    try:
        return load_plan(name)
    except InvalidPlan as error:
        raise InvalidOption("plan", str(error)) from error


def settings_of(options: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` of each. Errors: InvalidOption."""
    found = {}
    for each in options:
        name, equals, value = each.partition("=")
        if not (name and equals):
            raise InvalidOption("set", f"expected NAME=VALUE, found `{each}`")
        found[name] = value
    return found


def chosen_kind(name: str, paths: Sequence[str], options: Sequence[str]) -> Kind:
    """The kind of that name, or the one that the endings of files tell, told these options. Errors: InvalidOption."""
    from ..kinds import KINDS, kind, kind_of

    name = name or kind_of(paths)
    try:
        return kind(name, settings_of(options))
    except InvalidOption:
        raise
    except ValueError as error:
        raise InvalidOption("set" if name in KINDS else "kind", str(error)) from error


def solvers_of(names: Sequence[str], plan: str, kind: Kind, limits: Limits) -> list[Solver]:
    """Those that the option `solver` names, or ours alone; `limits` have the plan of `plan`. Programs are tried first.

    Errors: InvalidOption; EngineError for a program that does not work here.
    """
    if not names:
        label = f"pnono {Path(plan).stem}" if kind.puzzle_sets else "pnono"
        return [Solver(Path(plan).stem, label, kind, limits)]
    if not kind.puzzle_sets:
        raise InvalidOption("solver", f"expected nonograms, found the kind {kind.name}")
    if plan != "default":
        raise InvalidOption("solver", "expected either --solver or --plan, found both")
    found = [_solver(name, kind, limits) for name in names]
    twice = [each.name for each in found if sum(each.name == other.name for other in found) > 1]
    if twice:
        raise InvalidOption("solver", f"expected each solver once, found `{twice[0]}` twice")
    return found


def _solver(name: str, kind: Kind, limits: Limits) -> Solver:
    from ..engine import EngineError
    from ..kinds.external import with_program
    from ..solver import external, plans

    if name in plans.names():
        return Solver(name, f"pnono {name}", kind, replace(limits, plan=chosen_plan(name)))
    if Path(name).name == name and Path(name).suffix != ".toml" and name not in external.names():
        known = ", ".join([*external.names(), *plans.names()])
        raise InvalidOption("solver", f"expected a TOML file or one of {known}, found `{name}`")
    try:
        program = external.load_program(name)
    except external.InvalidProgram as error:
        raise InvalidOption("solver", str(error)) from error
    try:
        facts = external.trial(program, limits.memory_mib)
    except external.ProgramFailed as error:
        raise EngineError(f"--solver: {error}") from error
    label = f"{program.name} {facts['version']}".strip()
    return Solver(program.name, label, with_program(kind, program), limits, facts, asdict(program))
