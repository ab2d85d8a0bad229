"""Plans: which stages run, and how far. A plan is a TOML file; the shipped ones are known by their names.

about = "Lines alone."
stages = ["line"]

Beside these two a file may set `probes`, `visits`, `encoding`, `hints` and `solvers`, see `attempt.Plan`.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..attempt import Plan

FOLDER = Path(__file__).parent.parent / "plans"


CHOICES = ("line", "probe", "search", "sat")
"""What a plan may name, in this order; the keys of `pipeline.STAGES`, which costs seconds to import uncompiled."""


class InvalidPlan(ValueError):
    """There is no such plan, or its file is not one. The message says what was expected and what was found."""


def names() -> list[str]:
    """The plans that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


RACERS = ("cadical153", "cadical195:free")
"""Solvers unlike enough that the better of the two saves a third of the time (scripts/bench/README.md)."""

SOLVERS = ("cadical153", "cadical195", "cadical300", "glucose4", "maplechrono", "minisat22")
"""What python-sat offers and we know to hold to conflict budgets."""

ENTRY = re.compile(rf"({'|'.join(SOLVERS)})(:[0-9]{{1,9}})?(:free)?")
"""What a plan may name, see attempt.Plan.solvers."""

ENCODINGS = ("order", "plain")


def toml_of(path: Path, invalid: type[ValueError]) -> dict[str, Any]:
    """The document in a TOML file. Errors: `invalid`, saying what was expected and found."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise invalid(f"{path}: can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise invalid(f"{path}: expected TOML, found something else: {error}") from error


def load_plan(name_or_path: str | os.PathLike[str]) -> Plan:
    """A shipped plan by its name, or one in a file by its path (anything with a dot or a slash).

    Errors: InvalidPlan.
    """
    name = os.fspath(name_or_path)
    path = Path(name)
    if path.name == name and not path.suffix:
        if name not in names():
            raise InvalidPlan(f"expected a TOML file or one of the plans {', '.join(names())}, found `{name}`")
        path = FOLDER / f"{name}.toml"
    document = toml_of(path, InvalidPlan)
    plan = Plan()
    expected: dict[str, tuple[str, bool]] = {"about": ("a sentence", isinstance(document.get("about", ""), str))}
    stages: Any = document.get("stages")
    solvers: Any = document.get("solvers", plan.solvers)
    order = f"line, then others in the order {', '.join(CHOICES)}"
    expected["stages"] = order, isinstance(stages, list) and _in_order(stages)
    for name in ("probes", "visits"):
        number = document.get(name, 0)
        expected[name] = "a whole number from 0 on", type(number) is int and number >= 0
    encoding = document.get("encoding", plan.encoding)
    expected["encoding"] = " or ".join(ENCODINGS), encoding in ENCODINGS
    expected["hints"] = "true or false", isinstance(document.get("hints", True), bool)
    expected["solvers"] = _solvers(solvers)
    unknown = sorted(document.keys() - expected.keys())
    if unknown:
        raise InvalidPlan(f"{path}: expected the keys {', '.join(expected)}, found `{unknown[0]}`")
    for key, (what, holds) in expected.items():
        if not holds:
            raise InvalidPlan(f"{path}: {key}: expected {what}, found {document.get(key)!r}")
    chosen: dict[str, Any] = {key: value for key, value in document.items() if key != "about"}
    return Plan(**chosen | {"stages": tuple(stages), "solvers": tuple(solvers)})


def racing(plan: Plan, workers: int) -> Plan:
    """The plan with `workers` solvers side by side: its own, a different one, then both again, shuffled."""
    field = [*plan.solvers, *(name for name in RACERS if name not in plan.solvers)]
    while len(field) < workers:
        seed = len(field) // 2
        field += [name.replace(":", f":{seed}:", 1) if ":" in name else f"{name}:{seed}" for name in RACERS]
    return replace(plan, solvers=tuple(field[: max(workers, len(plan.solvers))]))


def _solvers(names: object) -> tuple[str, bool]:
    """What is expected of the key `solvers`, and whether it is met."""
    expected = f"a list of {', '.join(SOLVERS)}, each alone or followed by `:SEED`, `:free` or both"
    return expected, isinstance(names, list | tuple) and bool(names) and all(ENTRY.fullmatch(str(n)) for n in names)


def _in_order(stages: list[Any]) -> bool:
    """Whether a plan begins with the first of CHOICES and goes on in their order, each at most once."""
    places = [CHOICES.index(str(name)) if name in CHOICES else -1 for name in stages]
    return places[:1] == [0] and places == sorted(set(places))
