"""Other people's solvers, run as programs: told one puzzle, held to the same limits, and never believed.

A definition is a TOML file that says which command to start (a list of words, no shell), in which format it wants the
puzzle, and how its output is to be read; those that come with the package are known by their names. A definition is
used only when the person at the command line names it.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter
from typing import IO, Any

from ..puzzle import LETTERS, Grid, InvalidPuzzle, Puzzle, letter
from .plans import toml_of

FOLDER = Path(__file__).parent.parent / "solvers"

CLAIMS = ("unique", "multiple", "contradiction", "solved", "stalled", "timeout")
"""What a program can say of a puzzle."""

INPUTS = ("stdin", "file")

MAX_OUTPUT = 64 << 20
"""Bytes that a program may write in all; one that writes more is killed."""

TICK_S = 0.02
"""How often it is asked whether a running program should end."""

WATCH_S = 0.2
"""How often its processes are weighed."""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

OPEN = -1


class InvalidProgram(ValueError):
    """There is no such definition, or its file is not one. The message says what was expected and what was found."""


class ProgramFailed(Exception):
    """The program can't be started, or does not solve the puzzle of the trial."""


@dataclass(frozen=True, slots=True)
class Program:
    """A definition.

    name      of its file; with the version what the column `solver` shows.
    about     a sentence for people;  install  how one gets it.
    command   words; `{python}` stands for the Python that runs us, `{file}` for the puzzle's file, `{seconds}` for the
              time it has.
    version   a command whose output has the version in it; () if there is none.
    format    the puzzle format that it reads;  input  `stdin` or `file`.
    colours, blots  whether it can do such puzzles; others are never given to it.
    environment     variables that it gets beside ours.
    row       regular expression; the lines of its output that match are rows of solutions, cells in group 1 if any.
    drop      characters between cells;  step  characters to a cell.
    cells     its way to write a cell -> `.` background, `#` or a letter the ink, `?` open; ours need not be listed.
    says      claim -> regular expression that is looked for in all its output;  exits  claim -> exit codes.
    """

    name: str
    command: tuple[str, ...]
    about: str = ""
    install: str = ""
    version: tuple[str, ...] = ()
    format: str = "json"
    input: str = "stdin"
    colours: bool = False
    blots: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    row: str = r"[.#?]+"
    drop: str = ""
    step: int = 1
    cells: tuple[tuple[str, str], ...] = ()
    says: tuple[tuple[str, str], ...] = ()
    exits: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: `ending` is `exited`, `late`, `memory`, `output` (too much of it) or `stopped`.

    seconds  wall;  cpu_s  of it and its children;  peak_mib  as far as it was seen, see `WATCH_S`.
    """

    ending: str
    code: int
    output: str
    errors: str
    seconds: float
    cpu_s: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Said:
    """What a program said of a puzzle: a claim of CLAIMS or "", and grids, -1 for an open cell."""

    claim: str
    grids: list[Grid] = field(default_factory=list)


def names() -> list[str]:
    """The definitions that come with the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_program(name_or_path: str | os.PathLike[str]) -> Program:
    """A shipped definition by its name, or one in a file by its path (anything with a slash, or that ends in `.toml`).

    Errors: InvalidProgram.
    """
    path = Path(name_or_path)
    if path.name == os.fspath(name_or_path) and path.suffix != ".toml":
        if path.name not in names():
            raise InvalidProgram(f"expected a TOML file or one of {', '.join(names())}, found `{path}`")
        path = FOLDER / f"{path.name}.toml"
    document = toml_of(path, InvalidProgram)
    expected = _expected(document)
    unknown = sorted(document.keys() - expected.keys())
    if unknown:
        raise InvalidProgram(f"{path}: expected the keys {', '.join(expected)}, found `{unknown[0]}`")
    for key, (what, holds) in expected.items():
        if not holds:
            raise InvalidProgram(f"{path}: {key}: expected {what}, found {document.get(key)!r}")
    return Program(path.stem, **{key: _frozen(value) for key, value in document.items()})


def _frozen(value: Any) -> Any:
    """Lists and tables as tuples."""
    if isinstance(value, dict):
        return tuple((key, _frozen(item)) for key, item in value.items())
    return tuple(value) if isinstance(value, list) else value


def _expected(document: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    """For each key what its value should be, and whether it is."""
    from ..formats import FORMATS

    writable = [form.name for form in FORMATS if form.write]

    def of(key: str, default: Any, holds: Callable[[Any], bool]) -> bool:
        return holds(document.get(key, default))

    def table(value: Any, holds: Callable[[str, Any], bool]) -> bool:
        return isinstance(value, dict) and all(holds(key, item) for key, item in value.items())

    def texts(*keys: str) -> dict[str, tuple[str, bool]]:
        return {key: ("a text", of(key, "", lambda v: isinstance(v, str))) for key in keys}

    given = document.get("input", INPUTS[0])
    told = given == "file"
    return {
        "command": (
            "a list of words" + (", `{file}` in one of them as the input is a file" if told else ""),
            of("command", None, _is_words) and (not told or any("{file}" in word for word in document["command"])),
        ),
        **texts("about", "install", "drop"),
        "version": ("a list of words", of("version", ["-"], _is_words)),
        "format": (f"one of {', '.join(writable)}", of("format", "json", lambda v: v in writable)),
        "input": (" or ".join(INPUTS), given in INPUTS),
        "colours": ("true or false", of("colours", True, lambda v: isinstance(v, bool))),
        "blots": ("true or false", of("blots", True, lambda v: isinstance(v, bool))),
        "environment": ("a table of texts", of("environment", {}, lambda v: table(v, lambda _, x: isinstance(x, str)))),
        "row": ("a regular expression", of("row", "", _is_pattern)),
        "step": ("a whole number from 1 on", of("step", 1, lambda v: type(v) is int and v > 0)),
        "cells": (
            "a table of `.`, `#`, `?` or ink letters",
            of(
                "cells",
                {},
                lambda v: table(v, lambda _, x: isinstance(x, str) and len(x) == 1 and x in "." + LETTERS + "?"),
            ),
        ),
        "says": (
            f"regular expressions for some of {', '.join(CLAIMS)}",
            of("says", {}, lambda v: table(v, lambda key, x: key in CLAIMS and _is_pattern(x))),
        ),
        "exits": (
            f"lists of exit codes for some of {', '.join(CLAIMS)}",
            of("exits", {}, lambda v: table(v, lambda key, x: key in CLAIMS and _is_codes(x))),
        ),
    }


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) and "\0" not in word for word in value)


def _is_codes(value: Any) -> bool:
    return isinstance(value, list) and all(type(code) is int for code in value)


def _is_pattern(value: Any) -> bool:
    try:
        re.compile(value)
    except (re.error, TypeError):
        return False
    return True


def text_for(program: Program, puzzle: Puzzle) -> bytes:
    """What the program is given. Errors: InvalidPuzzle saying what it, or its format, can't do."""
    from ..files.writing import content_of
    from ..formats import encoded

    if puzzle.n_colours > 2 and not program.colours:
        raise InvalidPuzzle(f"{program.name} does black and white only")
    if puzzle.has_blots and not program.blots:
        raise InvalidPuzzle(f"{program.name} does no blotted clues")
    return encoded(content_of([puzzle], program.format))


def ask(
    program: Program,
    text: bytes,
    seconds: float,
    memory_mib: int,
    stopped: Callable[[], bool] = lambda: False,
    cpu_seconds: float = inf,
) -> Ended:
    """Start the program with a puzzle, in an empty folder of its own, and wait for its end; see `call`."""
    with tempfile.TemporaryDirectory(prefix="pnono-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "puzzle." + program.format)
        path.write_bytes(text)
        words = {"{python}": sys.executable, "{file}": str(path), "{seconds}": f"{seconds:g}"}
        command = [re.sub(r"\{(python|file|seconds)\}", lambda m: words[m[0]], word) for word in program.command]
        given = path if program.input == "stdin" else Path(os.devnull)
        return call(command, given, folder, dict(program.environment), seconds, memory_mib, stopped, cpu_seconds)


def call(
    command: Sequence[str],
    given: Path,
    folder: str,
    environment: Mapping[str, str],
    seconds: float,
    memory_mib: int,
    stopped: Callable[[], bool],
    cpu_seconds: float = inf,
) -> Ended:
    """Run a command until it ends, `seconds` are over, all its processes together hold more than `memory_mib` or have
    used `cpu_seconds`, it has written more than MAX_OUTPUT bytes, or `stopped()` is True. Nothing of it is left behind.

    given   its standard input.
    Errors  ProgramFailed if it can't be started.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}  # no tokens to strangers
    with given.open("rb") as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        began = perf_counter()
        try:
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=folder,
                env={**ours, **environment},
                start_new_session=True,  # a group of its own, to be killed at once; Ctrl-C is for us to hear
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ProgramFailed(f"`{command[0]}` can't be started: {reason}") from error
        _bound(process.pid, seconds)
        files = stdout.fileno(), stderr.fileno()
        ending, usage, weight = _watched(process, files, began + seconds, cpu_seconds, memory_mib, stopped)
        took = perf_counter() - began
        output, errors = _text(stdout), _text(stderr)
    return Ended(ending, process.returncode, output, errors, took, usage.ru_utime + usage.ru_stime, weight)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return ESCAPES.sub("", file.read(MAX_OUTPUT).decode(errors="replace"))


def _watched(
    process: subprocess.Popen[bytes],
    files: Sequence[int],
    deadline: float,
    cpu_seconds: float,
    memory_mib: int,
    stopped: Callable[[], bool],
) -> tuple[str, Any, float]:
    """Wait for a process and kill it if it must be: (ending, its resource usage, MiB)."""
    ends: SimpleQueue[tuple[int, int, Any]] = SimpleQueue()
    Thread(target=lambda: ends.put(os.wait4(process.pid, 0)), daemon=True).start()
    ending, cpu_s, weight, weighed, began = "exited", 0.0, 0.0, 0.0, perf_counter()
    while True:
        now = perf_counter()
        tick = min(max((now - began) / 10, TICK_S), WATCH_S)  # what has taken long is looked at less often
        try:
            _, status, usage = ends.get(timeout=max(0.0, min(tick, deadline - now)))
            break
        except Empty:
            now = perf_counter()
        if now - weighed > WATCH_S:
            mib, cpu_s = _weight(process.pid)
            weighed, weight = now, max(weight, mib)
        if stopped():
            ending = "stopped"
        elif now >= deadline or cpu_s >= cpu_seconds:
            ending = "late"
        elif weight > memory_mib:
            ending = "memory"
        elif sum(os.fstat(file).st_size for file in files) > MAX_OUTPUT:
            ending = "output"
        if ending != "exited":
            _kill(process.pid)
            _, status, usage = ends.get()
            break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # what it left behind
    process.returncode = os.waitstatus_to_exitcode(status)
    return ending, usage, weight


MOST_CPU_S = 1e9
"""The most that the system is asked to hold a program to."""


def _bound(pid: int, seconds: float) -> None:
    """Bounds that the system holds a program to even if we are gone: processor time, size of files, no core files."""
    if sys.platform != "linux":
        return
    import resource

    cpu = int(min(seconds * (os.cpu_count() or 1), MOST_CPU_S)) + 10
    bounds = ((resource.RLIMIT_CPU, cpu), (resource.RLIMIT_FSIZE, 2 * MAX_OUTPUT), (resource.RLIMIT_CORE, 0))
    for what, most in bounds:
        with contextlib.suppress(OSError, ValueError):  # it has ended already, or is bounded more tightly
            resource.prlimit(pid, what, (most, most))


def _family(pid: int) -> list[Any]:
    import psutil

    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _weight(pid: int) -> tuple[float, float]:
    """MiB that a process and its children hold, and CPU seconds that they, and children that have ended, have used."""
    import psutil

    total, cpu_s = 0, 0.0
    for process in _family(pid):
        with contextlib.suppress(psutil.Error):
            total += process.memory_info().rss
            cpu_s += sum(process.cpu_times()[:4])
    return total / 2**20, cpu_s


def _kill(pid: int) -> None:
    """End a process, its group, and children that made groups of their own."""
    import psutil

    family = _family(pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for process in family:
        with contextlib.suppress(psutil.Error):
            process.kill()


def understood(program: Program, ended: Ended, puzzle: Puzzle) -> Said:
    """What a program that came to its end said. Errors: ProgramFailed if it makes no sense."""
    claim = next((claim for claim, codes in program.exits if ended.code in codes), "")
    if ended.code and not claim:
        how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
        raise ProgramFailed(f"{program.name} ended with {how}{_last_words(ended)}")
    everything = f"{ended.output}\n{ended.errors}"
    claim = claim or next((claim for claim, pattern in program.says if re.search(pattern, everything, re.M)), "")
    grids = _grids(program, ended.output, puzzle)
    if not claim and not grids:
        raise ProgramFailed(f"{program.name} showed neither a solution nor a verdict{_last_words(ended)}")
    return Said(claim, grids)


def _last_words(ended: Ended) -> str:
    lines = (ended.errors.strip() or ended.output.strip()).splitlines()
    return f": {lines[-1].strip()[:200]}" if lines else ""


def _grids(program: Program, output: str, puzzle: Puzzle) -> list[Grid]:
    """The solutions in an output. A line of more or fewer cells than the puzzle has becomes such a row.

    Errors: ProgramFailed if a cell is none, or rows are missing.
    """
    row, drop = re.compile(program.row), str.maketrans("", "", program.drop)
    codes = {letter(colour, puzzle.n_colours): colour for colour in range(puzzle.n_colours)} | {"?": OPEN}
    theirs, step = dict(program.cells), program.step
    rows = []
    for line in output.splitlines():
        found = row.fullmatch(line)
        if not found:
            continue
        text = found[1 if row.groups else 0].translate(drop)
        cells = [text[at : at + step] for at in range(0, len(text), step)]
        strange = next((cell for cell in cells if theirs.get(cell, cell) not in codes), None)
        if strange is not None:
            raise ProgramFailed(f"{program.name}: expected cells in `{line[:80]}`, found {strange!r}")
        rows.append(tuple(codes[theirs.get(cell, cell)] for cell in cells))
    if len(rows) % puzzle.height:
        raise ProgramFailed(
            f"{program.name}: expected {puzzle.height} rows for each solution, found {len(rows)} in all"
        )
    return [tuple(rows[at : at + puzzle.height]) for at in range(0, len(rows), puzzle.height)]


TRIAL = Puzzle.of_grid(((1, 1, 0), (1, 0, 0), (1, 1, 1)), name="trial")
TRIAL_S = 60.0


def trial(program: Program, memory_mib: int) -> dict[str, Any]:
    """Put a puzzle of 3 x 3 to the program, so that what is missing is known before a thousand puzzles are.

    Returns facts for the run: name, version, command, and what that took, which is mostly the start of the program:
            start_s, and start_cpu_s of processor time.
    Errors  ProgramFailed.
    """
    from ..checker.plain import check

    try:
        ended = ask(program, text_for(program, TRIAL), TRIAL_S, memory_mib)
        if ended.ending != "exited":
            raise ProgramFailed(f"{program.name} did not end within the limits on a puzzle of 3 x 3 ({ended.ending})")
        grids = understood(program, ended, TRIAL).grids
        wrong = check(TRIAL, grids[0]).complaint if grids else "no solution"
        if wrong:
            raise ProgramFailed(f"{program.name} fails on a puzzle of 3 x 3: {wrong}{_last_words(ended)}")
    except ProgramFailed as error:
        raise ProgramFailed(f"{error}; to get it: {program.install}" if program.install else str(error)) from error
    facts = {
        "name": program.name,
        "version": "",
        "command": list(program.command),
        "start_s": round(ended.seconds, 4),
        "start_cpu_s": round(ended.cpu_s, 4),
    }
    if program.version:
        version = Program(program.name, program.version, environment=program.environment)
        said = ask(version, b"", TRIAL_S, memory_mib)
        number = re.search(r"\d[\w.+-]*", said.output + said.errors) if not said.code else None
        facts["version"] = number[0] if number else ""
    return facts
