"""The options of a batch run, each said once: its type, default, bounds, help, and whether it decides rows.

The options of `pnono run` (cli/run.py), the keys of `configs/run.toml` and `RunOptions(...)` are three views of this
table. A new option is a field here and a line in that file; `run.py` beside this one does what it says.
"""

from __future__ import annotations

import math
import os
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple


class EngineName(StrEnum):
    """Where to run."""

    AUTO = "auto"
    LOCAL = "local"
    RAY = "ray"


class Mode(StrEnum):
    """What workers share out."""

    AUTO = "auto"
    PUZZLES = "puzzles"
    LINES = "lines"


class Device(StrEnum):
    """What solves lines in lines mode."""

    CPU = "cpu"
    CUDA = "cuda"


class Order(StrEnum):
    """In which order lines are visited."""

    SWEEP = "sweep"
    ROUNDS = "rounds"


class RowFormat(StrEnum):
    """Parquet is always written; the others are one file more."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


class InvalidOption(ValueError):
    """Options that make no sense. options: which; `str` is `OPTION: expected ..., found ...`.

    >>> from parallel_nono import InvalidOption, RunOptions
    >>> try:
    ...     RunOptions("datasets/", workers=0)
    ... except InvalidOption as error:
    ...     print(error)
    workers: expected a whole number from 1 to 4096, found 0
    """

    def __init__(self, options: str | tuple[str, ...], message: str) -> None:
        self.options = (options,) if isinstance(options, str) else options
        self.message = message
        super().__init__(options, message)

    def __str__(self) -> str:
        return ": ".join([*filter(None, [", ".join(self.options)]), self.message])


@dataclass(frozen=True, slots=True)
class About:
    """What is known of an option beside its type and default.

    help      a sentence for people.
    decides   the rows depend on it: a run is resumed with the same.
    least, most   its bounds, both allowed; None: none.
    metavar   what its value is called; "" as its type is.
    short     a letter for the command line.
    off       it can be switched off there: `--no-NAME`.
    """

    help: str
    decides: bool = False
    least: float | None = None
    most: float | None = None
    metavar: str = ""
    short: str = ""
    off: bool = False


def option(default: Any, help: str, **about: Any) -> Any:
    return field(default=default, metadata={"about": About(help, **about)})


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What is asked of a batch run. Texts stand for enums, one path or solver for a tuple of one, a mapping for `set`.

    Errors   InvalidOption for a value of another type, or out of bounds.

    >>> from parallel_nono import RunOptions
    >>> RunOptions("datasets/", workers=8, out="runs/first").workers
    8
    """

    paths: tuple[str, ...] = option(
        (), "Files, folders, archives, globs, addresses (s3://...), or -.", decides=True, metavar="PATHS..."
    )
    workers: int = option(1, "Puzzles at a time; may exceed the cores.", least=1, most=4096)
    engine: EngineName = option(EngineName.AUTO, "local: threads; ray: processes; auto: threads, and Ray if it pays.")
    mode: Mode = option(Mode.AUTO, "puzzles: each worker takes whole puzzles; lines: all share one; auto: as it pays.")
    device: Device = option(Device.CPU, "What solves lines in lines mode.")
    order: Order = option(
        Order.SWEEP, "With --mode lines. rounds: rows and columns at once, the order of published counts.", decides=True
    )
    address: str = option("", "Use this Ray cluster; auto: the one on this machine.", metavar="HOST:PORT|auto")
    insecure: bool = option(False, "Use it even without token authentication.")
    shared_data: bool = option(False, "Workers open PATHS themselves; else their bytes are sent.")
    kind: str = option("", "Kind of puzzle; else by the endings of files, or nonogram.", decides=True, metavar="NAME")
    set: tuple[str, ...] = option((), "An option of the kind; may be repeated.", decides=True, metavar="NAME=VALUE")
    out: Path | None = option(None, "Folder for the results; else runs/NAME.", metavar="DIR")
    name: str = option("", "Name of the run; else made from the time and PATHS.")
    resume: bool = option(False, "Continue the run in DIR, with the same options; begin it if it is new.")
    format: RowFormat = option(RowFormat.PARQUET, "Besides Parquet, write DIR/rows.csv or DIR/rows.jsonl at the end.")
    plan: str = option(
        "default", "Stages to run: the name of a plan, or a TOML file.", decides=True, metavar="NAME|FILE"
    )
    solver: tuple[str, ...] = option(
        (),
        "Solve with this plan or program (configs/solvers) instead; several: in turn, each into DIR/NAME.",
        decides=True,
        metavar="NAME|FILE",
    )
    seconds: float = option(60.0, "Time for one puzzle.", decides=True, least=0.001)
    cpu_seconds: float = option(
        0.0,
        "CPU time for one puzzle, of its SAT solvers too: a limit that a busy machine hardly moves. 0: none.",
        decides=True,
        least=0.0,
    )
    memory: int = option(
        4096,
        "Most memory of a SAT solver; what needs more is `stalled`.",
        decides=True,
        least=16,
        metavar="MIB",
    )
    solutions: int = option(2, "Stop at this many solutions; 1 does not ask if it is unique.", decides=True, least=1)
    count: int = option(0, "Count the solutions, up to CAP.", decides=True, least=0, metavar="CAP")
    store_solutions: bool = option(True, "Keep the first two solutions in the rows.", decides=True, off=True)
    pictures: bool = option(False, "At the end, draw every solution into DIR/pictures/*.png.")
    repeat: int = option(1, "Solve every puzzle this many times; see `median_s`.", decides=True, least=1, most=1000)
    pin: bool = option(False, "Bind every worker to a core of its own.")
    calibrate: bool = option(False, "Run a calibration on every worker; --pin and --repeat do so too.")
    worker_parts: bool = option(False, "Ray workers write their rows into DIR, which all hosts must share.")
    timeline: Path | None = option(
        None, "Write what each worker did when, for ui.perfetto.dev (Chrome's trace format).", metavar="FILE"
    )
    live: bool = option(False, "Also show what each worker is doing, here and in `pnono serve`.")

    def __post_init__(self) -> None:
        for each in table():
            value = _converted(each, getattr(self, each.name))
            _check_bounds(each, value)
            object.__setattr__(self, each.name, value)
        check_seconds(self.seconds, self.cpu_seconds)
        if not self.paths:
            raise InvalidOption("paths", "expected at least one, found none")


class Option(NamedTuple):
    """A row of the table. kind: int, float, str, bool, Path, an enum, or tuple for a tuple of texts."""

    name: str
    kind: type
    default: Any
    about: About


@cache
def table() -> tuple[Option, ...]:
    """The options in their order."""
    hints = typing.get_type_hints(RunOptions)
    return tuple(_row(each, hints[each.name]) for each in fields(RunOptions))


def _row(each: Field[Any], hint: Any) -> Option:
    if isinstance(hint, types.UnionType):
        (hint,) = (arm for arm in typing.get_args(hint) if arm is not types.NoneType)
    return Option(each.name, typing.get_origin(hint) or hint, each.default, each.metadata["about"])


def _converted(each: Option, value: Any) -> Any:
    """A value as the table has it. Errors: InvalidOption."""
    kind = each.kind
    if kind is tuple:
        if isinstance(value, Mapping):
            return tuple(f"{name}={said}" for name, said in value.items())
        if isinstance(value, str | bytes | os.PathLike):
            value = (value,)
        values = value if isinstance(value, Iterable) else _not(each, value)
        return tuple(
            os.fsdecode(one) if isinstance(one, str | bytes | os.PathLike) else _not(each, one) for one in values
        )
    if value is None and each.default is None:
        return None
    if kind is Path:
        return Path(value) if isinstance(value, str | os.PathLike) else _not(each, value)
    if issubclass(kind, StrEnum):
        names = [str(one) for one in kind]
        if value not in names:
            raise InvalidOption(each.name, f"expected one of {', '.join(names)}, found {value!r}")
        return kind(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not kind:
        return _not(each, value)
    return value


NOUNS: dict[type, str] = {
    int: "a whole number", float: "a number", str: "a text", bool: "True or False", Path: "a path", tuple: "texts"
}  # fmt: skip


def _not(each: Option, value: Any) -> Any:
    raise InvalidOption(each.name, f"expected {NOUNS[each.kind]}, found {value!r}")


def _check_bounds(each: Option, value: Any) -> None:
    least, most = each.about.least, each.about.most
    if (least is not None and not value >= least) or (most is not None and not value <= most):
        bounds = f"from {least:g}" + (f" to {most:g}" if most is not None else " on")
        raise InvalidOption(each.name, f"expected {NOUNS[each.kind]} {bounds}, found {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidOption(each.name, f"expected a finite number, found {value!r}")


def check_seconds(seconds: float, cpu_seconds: float) -> None:
    """Errors: InvalidOption for a CPU time that the wall time cuts off however free the machine is."""
    if cpu_seconds > seconds:
        expected = f"expected at most the {seconds:g} s of --seconds, which is wall time and counts too"
        raise InvalidOption("cpu_seconds", f"{expected}, found {cpu_seconds:g}")


def check_mode(is_lines: bool, device: Device, order: Order) -> None:
    """Errors: InvalidOption where something is asked for that only lines mode has."""
    if not is_lines and device is not Device.CPU:
        raise InvalidOption(f"device {device}", "expected --mode lines")
    if not is_lines and order is not Order.SWEEP:
        raise InvalidOption(f"order {order}", "expected --mode lines")


def spelt(name: str) -> str:
    """An option as the command line writes it."""
    return name if name == "paths" else f"--{name.replace('_', '-')}"
