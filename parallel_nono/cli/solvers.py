"""`--solver`: who solves, one of our plans or another program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common import parse_plan
from .exits import Code, Failure

if TYPE_CHECKING:
    from ..attempt import Limits
    from ..kinds import Kind


@dataclass(frozen=True, slots=True)
class Contender:
    """Who solves in a run.

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


def contenders(names: Sequence[str], plan: str, kind: Kind, limits: Limits) -> list[Contender]:
    """Those that `--solver` names, or ours alone; `limits` have the plan of `--plan`. Programs are tried first.

    Errors: Failure.
    """
    if not names:
        label = f"pnono {Path(plan).stem}" if kind.name == "nonogram" else "pnono"
        return [Contender(Path(plan).stem, label, kind, limits)]
    if kind.name != "nonogram":
        raise Failure(Code.USAGE, f"--solver: expected nonograms, found the kind {kind.name}")
    if plan != "default":
        raise Failure(Code.USAGE, "--solver: expected either --solver or --plan, found both")
    found = [_contender(name, kind, limits) for name in names]
    twice = [c.name for c in found if sum(c.name == other.name for other in found) > 1]
    if twice:
        raise Failure(Code.USAGE, f"--solver: expected each solver once, found `{twice[0]}` twice")
    return found


def _contender(name: str, kind: Kind, limits: Limits) -> Contender:
    from dataclasses import asdict

    from ..kinds.external import with_program
    from ..solver import external, plans

    if name in plans.names():
        return Contender(name, f"pnono {name}", kind, replace(limits, plan=parse_plan(name)))
    if Path(name).name == name and Path(name).suffix != ".toml" and name not in external.names():
        known = ", ".join([*external.names(), *plans.names()])
        raise Failure(Code.USAGE, f"--solver: expected a TOML file or one of {known}, found `{name}`")
    try:
        program = external.load_program(name)
    except external.InvalidProgram as error:
        raise Failure(Code.USAGE, f"--solver: {error}") from error
    try:
        facts = external.trial(program, limits.memory_mib)
    except external.ProgramFailed as error:
        raise Failure(Code.UNAVAILABLE, f"--solver: {error}") from error
    label = f"{program.name} {facts['version']}".strip()
    return Contender(program.name, label, with_program(kind, program), limits, facts, asdict(program))
