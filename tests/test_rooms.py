"""The house rule: a room imports only rooms to its left. Read from the syntax trees, so lazy imports count too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import parallel_nono

PACKAGE = Path(parallel_nono.__file__).parent
ROOMS = (
    *(
        "start",
        "extras",
        "spans",
        "puzzle",
        "attempt",
        "kernels",
        "checker",
        "puzzleset",
        "formats",
        "files",
        "generator",
    ),
    *("solver", "pictures", "lint", "kinds", "engine", "lanes", "report", "batch", "web", "cli"),
)
FACE = ("", "__main__")
"""The package itself (its version and its lazy names) and its entry point: they may see every room."""

CONVENIENCES = {("puzzle.py", "files"), ("puzzle.py", "pictures"), ("puzzle.py", "report"), ("attempt.py", "report")}
"""What the rule makes an exception for: methods of `Puzzle` and `Result` that only hand on to a room further right
(`of_text`, `of_picture`, the pictures of a notebook). They import it when they are called, never before."""


def imports(tree: ast.AST, module: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(line, absolute name) of everything imported anywhere in a module, import_module("...") included.

    module  the parts of the package that the file is in: ("parallel_nono", "cli").
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module[: len(module) - node.level + 1] if node.level else ()
            source = ".".join((*base, *filter(None, [node.module])))
            yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            name = node.args[0]
            if isinstance(name, ast.Constant) and name.value.startswith("parallel_nono"):
                yield node.lineno, name.value


def lines_of(node: ast.FunctionDef) -> range:
    assert node.end_lineno is not None
    return range(node.lineno, node.end_lineno + 1)


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py").replace("__init__", "")


def rooms_imported(text: str, module: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    for line, name in imports(ast.parse(text), module):
        parts = name.split(".")
        if parts[0] == "parallel_nono" and len(parts) > 1 and parts[1] in ROOMS:
            yield line, parts[1]


MODULES = sorted(PACKAGE.rglob("*.py"))


def test_every_module_is_in_a_room() -> None:
    assert {room_of(path) for path in MODULES} <= {*ROOMS, *FACE}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_rooms_to_its_left(path: Path) -> None:
    room = room_of(path)
    if room in FACE:
        return
    module = ("parallel_nono", *path.relative_to(PACKAGE).parts[:-1])
    text = path.read_text(encoding="utf-8")
    called = {
        line for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) for line in lines_of(node)
    }
    for line, other in rooms_imported(text, module):
        if (path.relative_to(PACKAGE).as_posix(), other) in CONVENIENCES and line in called:
            continue
        assert ROOMS.index(other) <= ROOMS.index(room), f"{path}:{line}: {room} must not import {other}"


@pytest.mark.parametrize(
    "text",
    [
        "from ..cli import main",
        "from .. import cli",
        "import parallel_nono.cli.exits",
        "def f():\n    from ..cli.exits import Code",
        "if TYPE_CHECKING:\n    from parallel_nono.cli import exits",
        "import_module('parallel_nono.cli')",
    ],
)
def test_every_way_to_import_is_seen(text: str) -> None:
    assert [room for _, room in rooms_imported(text, ("parallel_nono", "formats"))] == ["cli"]


def test_names_of_the_package_itself_are_no_rooms() -> None:
    assert not list(rooms_imported("from .. import __version__\nimport parallel_nono", ("parallel_nono", "cli")))


# Circles.


def without_types(tree: ast.AST) -> ast.AST:
    """The tree without what only a type checker imports."""

    class Cut(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            self.generic_visit(node)
            return node.orelse if "TYPE_CHECKING" in ast.unparse(node.test) else node

    return Cut().visit(tree)


def circles(arrows: dict[str, set[str]]) -> list[set[str]]:
    """The modules that import each other, on whatever ways: sets of two or more."""

    def reached(start: str) -> set[str]:
        found, waiting = set[str](), [start]
        while waiting:
            new = arrows[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    ways = {module: reached(module) for module in arrows}
    return sorted({frozenset(b for b in ways[a] if a in ways[b]) for a in arrows if a in ways[a]}, key=sorted)


def arrows_of(texts: dict[str, str]) -> dict[str, set[str]]:
    """What each module imports, wherever it does so. texts: sources by names of modules; packages end in a dot."""
    names = {name.rstrip(".") for name in texts}
    found: dict[str, set[str]] = {}
    for name, text in texts.items():
        module = tuple(name.rstrip(".").split("."))
        within = module if name.endswith(".") else module[:-1]
        imported = {each for _, each in imports(without_types(ast.parse(text)), within)}
        known = {each if each in names else each.rpartition(".")[0] for each in imported}
        found[name.rstrip(".")] = (known & names) - {name.rstrip(".")}
    return found


def test_no_module_imports_itself_by_a_detour() -> None:
    texts = {}
    for path in MODULES:
        parts = ("parallel_nono", *path.relative_to(PACKAGE).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        texts[".".join(parts[:-1]) + "." if is_package else ".".join(parts)] = path.read_text(encoding="utf-8")
    arrows = arrows_of(texts)
    arrows["parallel_nono"] = set()  # the face: its version, and names that it fetches when they are asked for
    for module, room in CONVENIENCES:
        name = f"parallel_nono.{module.removesuffix('.py')}"
        arrows[name] = {other for other in arrows[name] if other.split(".")[1] != room}
    assert circles(arrows) == []


def test_a_circle_is_seen() -> None:
    texts = {
        "p.": "", "p.a": "from .b import x", "p.b": "def f():\n    from . import c", "p.c": "import p.a",
        "p.d": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .e import x", "p.e": "from . import d",
    }  # fmt: skip
    assert circles(arrows_of(texts)) == [{"p.a", "p.b", "p.c"}]
