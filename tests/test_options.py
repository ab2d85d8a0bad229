"""Every option of every command arrives: with it, something else than without it leaves the rooms of the command line
and of the batch.

A command is called without and with the option, and all calls that its code makes into other rooms and libraries are
written down with their arguments. If nothing differs there, nor in what is printed or written, the option was lost.
Options that are read and checked but passed to nobody are lost too: calls within these two rooms do not count.
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer

from parallel_nono import cli, engine
from parallel_nono.batch import modes
from parallel_nono.batch.options import InvalidOption, RunOptions
from parallel_nono.cli import main, screen, watch
from parallel_nono.files import fetch

INSIDE = ("parallel_nono.cli", "parallel_nono.batch")
PLUMBING = (
    "importlib", "typing", "enum", "contextlib", "functools", "collections", "abc", "typer", "click", "pathlib", "re",
    "threading", "queue", "tomllib", "_", "dataclasses", "weakref", "posixpath", "genericpath", "copy",
)  # fmt: skip
EVERYWHERE = {"config", "debug"}
"""Of all commands at once; tests/test_cli.py tests them."""

HOOK = "3 3\n2\n1\n3\n2 1\n1 1\n1\n"
TWO = "2 2\n1\n1\n1\n1\n"
BOTH = '[{"rows": [[2], [1], [3]], "columns": [[2, 1], [1, 1], [1]]}, {"rows": [[1], [1]], "columns": [[1], [1]]}]'
Seen = dict[str, set[str]]


def leaves(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Plain values within a value, and where they stand."""
    if depth > 6:
        return
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, str | bytes | int | float | bool | complex | Path | range):
        yield path, repr(str(value) if isinstance(value, Path) else value)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            with contextlib.suppress(AttributeError):  # not set yet
                yield from leaves(getattr(value, field.name), f"{path}.{field.name}", depth + 1)
    elif isinstance(value, Mapping):
        for key in list(value)[:60]:
            yield from leaves(value[key], f"{path}[{key}]", depth + 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for place, each in enumerate(list(value)[:60]):
            yield from leaves(each, f"{path}[{place}]", depth + 1)
    elif isinstance(value, partial):
        yield from leaves((value.func, value.args, value.keywords), path, depth + 1)
    elif callable(value):
        yield path, getattr(value, "__qualname__", type(value).__qualname__)
    else:
        yield path, type(value).__qualname__


class Recorder:
    """What code of the command line calls elsewhere, in all threads, as plain values by place."""

    def __init__(self) -> None:
        self.seen: Seen = defaultdict(set)

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        if event != "call" or frame.f_back is None:
            return
        caller = frame.f_back.f_globals.get("__name__") or ""
        callee = frame.f_globals.get("__name__") or ""
        inner = callee.startswith(INSIDE) and callee != screen.__name__
        if not caller.startswith(INSIDE) or inner or callee.startswith(PLUMBING):
            return
        name = f"{callee}.{frame.f_code.co_qualname}"
        self.seen[name].add("called")
        for argument, value in frame.f_locals.items():
            for path, leaf in leaves(value, f"{name}({argument})"):
                self.seen[path].add(leaf)

    def __enter__(self) -> Recorder:
        threading.setprofile(self)
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


FIGURES = re.compile(r"\d[\d.,:]*")


def observed(words: list[str], home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Seen:
    """What a command does, in a folder of its own."""
    monkeypatch.chdir(home)
    (home / "hook.nin").write_text(HOOK)
    (home / "two.nin").write_text(TWO)
    (home / "solution.txt").write_text("##.\n#..\n###\n")
    (home / "icon.pbm").write_text("P1\n4 4\n1 0 0 1\n0 1 1 0\n1 1 1 1\n0 1 1 0\n")
    (home / "set.toml").write_text('[sets.one]\nkind = "blobs"\nout = "one.nin"\nheight = 5\nwidth = 5\n')
    (home / "lines.toml").write_text('stages = ["line"]\n')
    (home / "two.pbm").write_text("P1\n2 2\n1 0\n0 1\n")
    (home / "both.json").write_text(BOTH)
    (home / "said.txt").write_text("s SATISFIABLE\nv 1 -2 -3 4 0\n")
    before = set(home.rglob("*"))
    capsys.readouterr()
    with Recorder() as recorder, pytest.raises(SystemExit) as ended:
        main(words)
    printed = capsys.readouterr()
    seen = recorder.seen
    seen["code"].add(str(ended.value.code))
    for name, text in (("out", printed.out), ("err", printed.err)):
        seen[f"{name} lines"].update(FIGURES.sub("#", line) for line in text.splitlines())
    for path in set(home.rglob("*")) - before:
        seen["files"].add(FIGURES.sub("#", str(path.relative_to(home))))
    return {place: {value.replace(str(home), "HOME") for value in values} for place, values in seen.items()}


Case = tuple[list[str], dict[str, list[str]]]
RUN = ["run", "hook.nin", "two.nin", "--out", "out"]
COMMANDS: dict[str, Case] = {
    "run": (
        RUN,
        {
            "--workers": ["--workers", "2"], "--engine": ["--engine", "ray"], "--mode": ["--mode", "lines"],
            "--device": ["--mode", "lines", "--device", "cuda"], "--order": ["--mode", "lines", "--order", "rounds"],
            "--address": ["--address", "127.0.0.1:9"], "--insecure": ["--insecure"], "--shared-data": ["--shared-data"],
            "--kind": ["--kind", "null"], "--set": ["--kind", "strikeout", "--set", "solver=sorted"],
            "--out": ["--out", "elsewhere"], "--name": ["--name", "other"], "--resume": ["--resume"],
            "--format": ["--format", "csv"], "--plan": ["--plan", "lines.toml"], "--solver": ["--solver", "search"],
            "--seconds": ["--seconds", "7"], "--cpu-seconds": ["--cpu-seconds", "5"],
            "--memory": ["--memory", "77"], "--solutions": ["--solutions", "9"],
            "--count": ["--count", "99"], "--store-solutions": ["--no-store-solutions"], "--pictures": ["--pictures"],
            "--repeat": ["--repeat", "3"], "--pin": ["--pin"], "--calibrate": ["--calibrate"],
            "--worker-parts": ["--worker-parts"], "--quiet": ["--quiet"], "--live": ["--live"],
            "--timeline": ["--timeline", "trace.json"],
        },
    ),
    "report": (
        ["report", "ready"],
        {"--html": ["--html", "page.html"], "--format": ["--format", "json"], "--top": ["--top", "1"],
         "--rows": ["--rows", "csv"]},
    ),
    "compare": (
        ["compare", "ready", "ready"],
        {"--published": ["--published"], "--html": ["--html", "page.html"], "--format": ["--format", "md"],
         "--least": ["--least", "5"]},
    ),
    "compact": (["compact", "ready"], {}),
    "solve": (
        ["solve", "two.nin"],
        {
            "--solutions": ["--solutions", "1"], "--count": ["--count", "9"], "--plan": ["--plan", "lines.toml"],
            "--seconds": ["--seconds", "7"], "--cpu-seconds": ["--cpu-seconds", "5"],
            "--memory": ["--memory", "77"], "--workers": ["--workers", "2"],
            "--mode": ["--mode", "lines"], "--engine": ["--mode", "lines", "--engine", "ray"],
            "--device": ["--mode", "lines", "--device", "cuda"], "--order": ["--mode", "lines", "--order", "rounds"],
            "--number": ["--number", "2"], "--format": ["--format", "nin"], "--clues": ["--no-clues"],
            "--colour": ["--colour", "always"], "--picture": ["--picture", "x.png"],
            "--solutions-to": ["--solutions-to", "all.txt"], "--json": ["--json"], "--kind": ["--kind", "null"],
            "--set": ["--kind", "strikeout", "--set", "solver=sorted"],
        },
    ),
    "line": (["line", "1 1", "5"], {}),
    "check": (["check", "hook.nin", "solution.txt"], {"--number": ["--number", "2"], "--format": ["--format", "nin"]}),
    "convert": (
        ["convert", "hook.nin", "x.non"],
        {"--to": ["--to", "json"], "--from": ["--from", "nin"], "--force": ["--force"]},
    ),
    "pack": (["pack", "hook.nin", "set.parquet"], {"--shards": ["--shards", "2"], "--format": ["--format", "nin"]}),
    "unpack": (["unpack", "ready.parquet", "back.sgt"], {"--to": ["--to", "nin"]}),
    "generate": (
        ["generate", "blobs", "x.nin"],
        {
            "--height": ["--height", "5"], "--width": ["--width", "5"], "--seed": ["--seed", "5"],
            "--count": ["--count", "3"], "--set": ["--set", "density=0.4"], "--bulk": ["--bulk"],
            "--to": ["--to", "sgt"],
            "--manifest": ["--manifest", "set.toml"], "--out": ["--manifest", "set.toml", "--out", "there"],
        },
    ),
    "formats": (["formats"], {}),
    "draw": (
        ["draw", "hook.nin", "x.png"],
        {
            "--to": ["--to", "svg"], "--show": ["--show", "clues"], "--scale": ["--scale", "7"],
            "--clues": ["--no-clues"],
            "--lines": ["--no-lines"], "--every": ["--every", "round"], "--delay": ["--delay", "0.5"],
            "--hold": ["--hold", "0.5"], "--paper": ["--paper", "letter"], "--per-page": ["--per-page", "1"],
            "--solutions": ["--solutions"], "--plan": ["--plan", "lines.toml"], "--seconds": ["--seconds", "7"],
            "--number": ["--number", "2"], "--format": ["--format", "nin"],
        },
    ),
    "from-image": (
        ["from-image", "icon.pbm"],
        {
            "--out": ["--out", "x.non"], "--to": ["--out", "x.txt", "--to", "non"], "--size": ["--size", "3"],
            "--width": ["--width", "3"], "--height": ["--height", "3"], "--colours": ["--colours", "3"],
            "--method": ["--method", "median-cut"], "--threshold": ["--threshold", "9"], "--dither": ["--dither"],
            "--background": ["--background", "black"], "--trim": ["--trim"], "--aim": ["--aim", "lines"],
            "--tries": ["--tries", "5"], "--apply": ["--apply"], "--picture": ["--picture", "x.png"],
            "--seconds": ["--seconds", "7"], "--colour": ["--colour", "always"],
        },
    ),
    "lint": (
        ["lint", "two.nin"],
        {"--format": ["--format", "json"], "--grade": ["--grade", "error"], "--solve": ["--no-solve"],
         "--seconds": ["--seconds", "7"], "--from": ["--from", "nin"]},
    ),
    "cnf": (
        ["cnf", "two.nin"],
        {
            "--out": ["--out", "x.cnf"], "--solution": ["--solution", "said.txt"],
            "--exclude": ["--exclude", "said.txt"],
            "--encoding": ["--encoding", "order"], "--lines": ["--lines"], "--log": ["--log"],
            "--seconds": ["--seconds", "7"], "--number": ["--number", "2"], "--format": ["--format", "nin"],
            "--colour": ["--solution", "said.txt", "--colour", "always"],
        },
    ),
    "fetch": (
        ["fetch", "webpbn", "1"],
        {"--out": ["--out", "there"], "--rate": ["--rate", "0.5"], "--retries": ["--retries", "9"],
         "--again": ["--again"], "--base-url": ["--base-url", "https://example.org"]},
    ),
    "serve": (
        ["serve", "--port", "0"],
        {
            "--host": ["--host", "127.0.0.2"], "--port": ["--port", "18417"], "--token": ["--token", "a-long-token"],
            "--runs": ["--runs", "other"], "--workers": ["--workers", "3"], "--seconds": ["--seconds", "7"],
            "--cells": ["--cells", "77"], "--size": ["--size", "7"], "--memory": ["--memory", "777"],
        },
    ),
    "watch": (
        ["watch", "hook.nin"],
        {
            "--number": ["--number", "2"], "--every": ["--every", "round"], "--speed": ["--speed", "3"],
            "--paused": ["--paused"], "--plan": ["--plan", "lines.toml"], "--seconds": ["--seconds", "7"],
            "--clues": ["--no-clues"], "--colour": ["--colour", "always"], "--format": ["--format", "nin"],
        },
    ),
    "warm-up": (["warm-up"], {}),
    "web build": (["web", "build", "site"], {}),
}  # fmt: skip
SHOWS = {"--device": ["--mode", "lines"], "--order": ["--mode", "lines"], "--engine": ["--mode", "lines"]}
"""Options that ask for another one: what they are compared with has that one too."""
WITH = {
    ("generate", "--out"): ["--manifest", "set.toml"], ("run", "--set"): ["--kind", "strikeout"],
    ("solve", "--set"): ["--kind", "strikeout"], ("from-image", "--to"): ["--out", "x.txt"],
    ("cnf", "--colour"): ["--solution", "said.txt"], **{(c, o): w for c in ("solve",) for o, w in SHOWS.items()},
    ("run", "--device"): ["--mode", "lines"], ("run", "--order"): ["--mode", "lines"],
}  # fmt: skip


WORDS = {
    **{("draw", option): ["draw", "hook.nin", "x.gif"] for option in ("--every", "--delay", "--hold")},
    **{("draw", option): ["draw", "hook.nin", "x.pdf"] for option in ("--paper", "--per-page", "--solutions")},
    **{
        ("from-image", option): ["from-image", "two.pbm", "--out", "x.non"]
        for option in ("--aim", "--tries", "--apply")
    },
    ("solve", "--number"): ["solve", "both.json"],
    ("check", "--number"): ["check", "both.json", "solution.txt"],
    ("draw", "--number"): ["draw", "both.json", "x.png"],
    ("cnf", "--number"): ["cnf", "both.json"],
    ("watch", "--number"): ["watch", "both.json"],
    ("convert", "--force"): ["convert", "two.nin", "x.rofl"],
    ("cnf", "--seconds"): ["cnf", "two.nin", "--log"],
}
"""Commands of which an option is tried, where it means nothing for the usual one."""


def commands() -> dict[str, Any]:
    """Every command by the words that call it."""
    found: dict[str, Any] = {}
    for name, command in cli.command().commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"{name} {each}": c for each, c in inner.items()} if inner else {name: command}
    return found


def options(command: Any) -> set[str]:
    return {o.opts[0] for o in command.params if o.param_type_name == "option" and o.name not in EVERYWHERE}


def test_no_option_takes_a_number_without_end() -> None:
    """`nan` and `inf` pass every bound of typer's, and whoever makes them a whole number fails."""
    found = set()
    for name, command in cli.command().commands.items():
        for each in (command, *getattr(command, "commands", {}).values()):
            for option in each.params:
                if "float" not in option.type.name:
                    continue
                found.add((name, option.name))
                assert option.type.convert("7.5", option, None) == 7.5
                for word in ("nan", "inf", "-inf", "1e999"):
                    with pytest.raises(typer.BadParameter, match=f"{word}' is not|is not in the range"):
                        option.type.convert(word, option, None)
    assert found >= {(name, "seconds") for name in ("run", "solve", "lint", "draw", "serve", "cnf", "from-image")}
    for name in ("seconds", "cpu_seconds"):
        for number in (float("nan"), float("inf")):
            with pytest.raises(InvalidOption, match=rf"{name}: expected a .*number.*, found {number}"):
                RunOptions("in", **{name: number})


def test_the_table_has_every_option_of_every_command() -> None:
    assert {name: set(cases) for name, (_, cases) in COMMANDS.items()} == {
        name: options(command) for name, command in commands().items()
    }


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Ray, no network, no server, no screen, no linker: what would go there is only written down."""
    local = engine.engine("local")

    def rows(name: str, mode: str, work: Any, feed: Any, session: Any) -> Iterator[Any]:
        return local(work, feed, session)

    monkeypatch.setattr(modes, "rows", rows)
    import uvicorn

    from parallel_nono.lanes import run as lanes
    from parallel_nono.web import build

    def no_lines(session: Any, engine: str, device: str = "cpu") -> Any:
        raise engine_error("no lines here")

    engine_error = engine.EngineError
    monkeypatch.setattr(lanes, "lines_of", no_lines)
    monkeypatch.setattr(uvicorn.Server, "run", lambda self, sockets: [each.close() for each in sockets])
    monkeypatch.setattr(screen.Watcher, "run", lambda self: None)
    monkeypatch.setattr(watch, "_is_interactive", lambda source: True)
    monkeypatch.setattr(build, "is_made", lambda: True)
    monkeypatch.setattr(build, "write", lambda out: {build.MODULE: 1})

    def fetched(place: Any, numbers: Any, folder: Any, **more: Any) -> Iterator[Any]:
        yield from ()

    monkeypatch.setattr(fetch, "fetch", fetched)


CASES = [(name, option) for name, (_, cases) in COMMANDS.items() for option in cases]


@pytest.fixture(scope="module")
def usual() -> dict[tuple[str, ...], Seen]:
    """What was observed without an option, by the words of the command."""
    return {}


@pytest.mark.slow
@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(("name", "option"), CASES, ids=[f"{name} {option}" for name, option in CASES])
def test_an_option_arrives(
    name: str,
    option: str,
    usual: dict[tuple[str, ...], list[Seen]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    words, cases = COMMANDS[name]
    words = WORDS.get((name, option), words)
    plain = [*words, *WITH.get((name, option), [])]
    given = [*words, *cases[option]]
    if option == "--out" and name == "run":
        given = given[:-4] + given[-2:]
    if option == "--resume":
        plain, given = [*words, "--out", "ready"], [*words, "--out", "ready", "--resume"]
    if tuple(plain) not in usual:
        usual[tuple(plain)] = [seen_of(plain, tmp_path / f"plain{n}", monkeypatch, capsys) for n in range(3)]
    without = usual[tuple(plain)]
    with_it = seen_of(given, tmp_path / "given", monkeypatch, capsys)
    places = set(with_it).union(*without)
    noisy = {place for place in places if any(each.get(place) != without[0].get(place) for each in without)}
    new = {
        leaf
        for place in places - noisy - {"err lines"}
        for leaf in with_it.get(place, set()) ^ without[0].get(place, set())
    }
    new |= places - noisy - set(without[0]) - {"err lines"}
    assert new, f"{name} {option} changes nothing"
    token = AS.get((name, option), given[-1])
    if not token.startswith("--"):
        assert any(means(leaf, token) for leaf in new), f"{name} {option}: {token} does not arrive"


AS: dict[tuple[str, str], str] = {
    ("compare", "--format"): "as_markdown",
    ("solve", "--set"): "sorted",
    ("lint", "--grade"): "note",  # such lines go
    ("fetch", "--rate"): "2.0",  # seconds from one question to the next
    ("serve", "--size"): str(7 << 20),
    ("watch", "--every"): "True",  # by round
    **{(name, "--colour"): "colour_picture" for name in ("solve", "cnf")},
    **{(name, "--colour"): "True" for name in ("from-image", "watch")},
}
"""What arrives, where it is not the value itself."""


def means(leaf: str, token: str) -> bool:
    """True if a value is the one of the command line, or contains it."""
    with contextlib.suppress(ValueError):
        return float(leaf) == float(token)
    return token in leaf


def seen_of(words: list[str], home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Seen:
    home.mkdir()
    if "ready" in words or "ready.parquet" in words:
        monkeypatch.chdir(home)
        (home / "hook.nin").write_text(HOOK)
        (home / "two.nin").write_text(TWO)
        for made in (["run", "hook.nin", "two.nin", "--out", "ready", "-q"], ["pack", "hook.nin", "ready.parquet"]):
            with pytest.raises(SystemExit):
                main(made)
    return observed(words, home, monkeypatch, capsys)
