"""Plans: which stages run, in which order. A plan is a TOML file; the shipped ones are known by their names.

about = "Lines alone."
stages = ["line"]
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "plans"


CHOICES = ("line", "probe", "search")
"""What a plan may name, in this order; the keys of `pipeline.STAGES`, which costs seconds to import uncompiled."""


class InvalidPlan(ValueError):
    """There is no such plan, or its file is not one. The message says what was expected and what was found."""


def names() -> list[str]:
    """The plans that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_plan(name_or_path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The stages of a shipped plan by its name, or of a plan file by its path (anything with a dot or a slash).

    Errors: InvalidPlan.
    """
    name = os.fspath(name_or_path)
    path = Path(name)
    if path.name == name and not path.suffix:
        if name not in names():
            raise InvalidPlan(f"expected a TOML file or one of the plans {', '.join(names())}, found `{name}`")
        path = FOLDER / f"{name}.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidPlan(f"{path}: can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidPlan(f"{path}: expected TOML, found something else: {error}") from error
    unknown = sorted(document.keys() - {"about", "stages"})
    if unknown:
        raise InvalidPlan(f"{path}: expected the keys `about` and `stages`, found `{unknown[0]}`")
    stages = document.get("stages")
    if not isinstance(stages, list) or not _in_order(stages):
        order = ", ".join(CHOICES)
        raise InvalidPlan(f"{path}: stages: expected line, then others in the order {order}, found {stages!r}")
    return tuple(stages)


def _in_order(stages: list[object]) -> bool:
    """Whether a plan begins with the first of CHOICES and goes on in their order, each at most once."""
    places = [CHOICES.index(str(name)) if name in CHOICES else -1 for name in stages]
    return places[:1] == [0] and places == sorted(set(places))
