"""Whatever files of strangers say, a terminal only gets text: no escapes, no markup, no change of direction."""

from __future__ import annotations

import ast
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import folder_of, row

import parallel_nono
from parallel_nono.cli import main
from parallel_nono.pictures import door

PACKAGE = Path(parallel_nono.__file__).parent
DOOR = "pictures/door.py"

EVIL = "\x1b]0;title\x07\x1b[31m\x9b2J\u202eabc\u2066\ud800[bold]x[/x] :smile: \r\x08\u200b"
"""Escapes of both kinds, a bell, directions, half a character, markup, an emoji code, a carriage return, no width."""

MARKUP = "[/x] [bold]name[/bold] [link=http://x]y[/link] [/]"


MOVES = re.compile(r"\x1b\[(\?25[lh]|2K|1A)|\r")
"""What the progress bar does to the cursor."""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def is_clean(text: str) -> bool:
    return all(char.isprintable() or char in "\n\t" for char in text)


@given(st.text(st.characters()))
def test_the_door_lets_nothing_through_that_is_not_text(text: str) -> None:
    for terminal in (True, False):
        found = door.contents(text, terminal=terminal)
        assert not door.CONTROL.search(found)
        assert is_clean(found) or not terminal
    file = io.StringIO()
    door.say(text, EVIL, file=file)
    assert is_clean(file.getvalue())
    assert file.getvalue().count("\n") == 2, "a name makes no lines"
    assert json.loads(door.json_text({"a": text})) == {"a": text}
    assert is_clean(door.json_text([text], 2))


@given(st.text(st.characters(), max_size=20))
def test_of_escapes_only_colours_pass_with_our_pictures(text: str) -> None:
    found = door.painted(f"\x1b[38;2;1;2;3m{text}\x1b[0m")
    assert found.startswith("\x1b[38;2;1;2;3m")
    assert is_clean(door.COLOURS.sub("", found))


def test_what_is_put_for_a_program_stays_as_it_is() -> None:
    text = "name א\u200fב \u00a0x\r\n\tend\n"
    assert door.contents(text, terminal=False) == text


@pytest.mark.parametrize("terminal", [False, True])
def test_text_in_a_console_is_no_markup_and_goes_through_the_door(terminal: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(EVIL, title=MARKUP)
    table.add_row(MARKUP)
    file = io.StringIO()
    console = door.console(file, force_terminal=terminal, width=200)
    for each in (EVIL, MARKUP, Text(EVIL, "red"), table):
        console.print(each)
    text = door.COLOURS.sub("", file.getvalue())
    assert is_clean(text)
    assert text.count(MARKUP) == 3
    assert ":smile:" in text


# The commands.


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and a puzzle from elsewhere in which every text that there is is hostile."""
    folder = tmp_path_factory.mktemp("foreign")
    names = ("name", "source", "outcome", "stage", "witness", "host", "worker", "solver", "error", "warnings")
    evil = EVIL.replace("\ud800", "")  # no file of ours has it
    rows = [row(**{**dict.fromkeys(names, evil + MARKUP), "outcome": outcome}) for outcome in ("unique", evil)]
    facts: dict[str, Any] = dict.fromkeys(("run", "started", "host", "cpu", "system", "commit"), evil + MARKUP)
    facts |= {"versions": {evil: evil}}
    run = folder_of(folder / "run", rows, **(facts | {"run": evil + MARKUP}))
    (run / "rows" / "odd\x1b[31m.parquet").write_bytes(b"")
    puzzle = {"rows": [[1]], "columns": [[1]], "title": evil, "author": evil, "metadata": {"by": evil, "author": evil}}
    (folder / "puzzle.json").write_text(json.dumps(puzzle))
    (folder / "name\x1b[31m.json").write_text(json.dumps(puzzle))
    (folder / "broken\x1b[31m.non").write_text(f"width 1\nheight {evil}\n")
    return folder


COMMANDS = (
    *(("report", "run", "--format", form) for form in ("text", "md", "csv", "json")),
    ("compare", "run", "run"),
    ("compare", "run", "run", "--format", "md"),
    ("compact", "run"),
    *(("convert", "puzzle.json", "-", "--to", form) for form in ("non", "json", "sgt", "nin", "webpbn")),
    ("solve", "puzzle.json"),
    ("solve", "puzzle.json", "--json"),
    ("solve", "."),
    ("lint", "."),
    ("lint", ".", "--format", "csv"),
    ("lint", ".", "--format", "json"),
    ("check", "puzzle.json"),
    ("watch", "puzzle.json"),
    ("cnf", "puzzle.json", "-"),
    ("draw", "puzzle.json", "out\x1b[31m.png"),
    ("run", ".", "--out", "out\x1b[31m"),
    ("no\x1b[31mcommand",),
    ("report", "no\x1b[31mrun"),
    ("solve", "puzzle.json", "--format", "no\x1b[31mformat"),
)


@pytest.mark.slow
@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: ascii(" ".join(words)))
def test_no_command_prints_what_is_not_text(
    foreign: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], terminal: bool
) -> None:
    monkeypatch.chdir(foreign)
    out, err = (Terminal(), Terminal()) if terminal else (io.StringIO(), io.StringIO())
    for name, file in (("stdout", out), ("stderr", err)):
        file.reconfigure = lambda **_: None  # type: ignore[union-attr]
        monkeypatch.setattr(sys, name, file)
    if terminal and words[0] == "watch":
        pytest.skip("on a terminal it is a screen")
    with pytest.raises(SystemExit) as ended:
        main([*words, *(["--resume"] if words[0] == "run" else [])])
    for text in (out.getvalue(), err.getvalue()):
        bare = door.COLOURS.sub("", text) if terminal else text
        if words[0] == "run" and terminal:
            bare = MOVES.sub("", bare)
        assert not door.CONTROL.search(bare), ascii(bare)
        assert is_clean(bare) or not terminal, ascii(bare)
    assert "internal error" not in err.getvalue(), err.getvalue()
    assert ended.value.code != 70


# The source.

PRINTING = ("print", "echo", "secho", "Console", "writelines")
STREAMS = ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")
BESIDE = {
    "solver/cadical.py": "speaks with us through a pipe",
    "engine/probe.py": "a process of its own that answers us through a pipe",
    "kernels/build.py": "tells whoever waits through a pipe",
    "engine/environment.py": "stands in for the standard output while Ray is up",
}
"""Who else writes to a standard stream, and why that is no text for a terminal."""


def printing(path: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            last = name.rsplit(".", 1)[-1]
            if last in PRINTING and not (last in ("print", "writelines") and "." in name):
                yield node.lineno
            if last in ("write", "writelines") and name.startswith(STREAMS):
                yield node.lineno


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nobody_prints_but_through_the_door(path: Path) -> None:
    place = path.relative_to(PACKAGE).as_posix()
    if place == DOOR or place in BESIDE:
        return
    assert not list(printing(path)), f"{place}: print through pictures/door.py"


@pytest.mark.parametrize(
    "text",
    [
        "print('x')",
        "typer.echo('x')",
        "Console()",
        "rich.console.Console(file=f)",
        "sys.stdout.write('x')",
        "sys.stderr.writelines(x)",
        "sys.stdout.buffer.write(b'x')",
    ],
)
def test_every_way_to_print_is_seen(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.py").write_text(text)
    assert list(printing(tmp_path / "x.py")) == [1]
