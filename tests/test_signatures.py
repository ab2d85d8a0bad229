"""No function of the package takes more than ten arguments; what belongs together is one tuple."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import parallel_nono

PACKAGE = Path(parallel_nono.__file__).parent
MOST = 10
OPTIONS = PACKAGE / "cli"
"""Here every option of a command is a parameter."""


def too_long(text: str) -> Iterator[tuple[int, str, int]]:
    """(line, name, parameters) of every function of a module that callers give more than MOST of them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            every = node.args
            names = [*every.posonlyargs, *every.args, *every.kwonlyargs, *filter(None, (every.vararg, every.kwarg))]
            n = sum(name.arg not in ("self", "cls") for name in names)
            if n > MOST:
                yield node.lineno, getattr(node, "name", "lambda"), n


def test_no_signature_is_over_ten_parameters() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {name} takes {n}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if OPTIONS not in path.parents
        for line, name, n in too_long(path.read_text(encoding="utf-8"))
    ]
    assert not found


@pytest.mark.parametrize(
    "text", ["def f(a, b, c, d, e, /, f, g, h, *, i, j, k): 0", "lambda a, b, c, d, e, f, g, h, i, *j, **k: 0"]
)
def test_every_parameter_counts(text: str) -> None:
    assert [n for _, _, n in too_long(text)] == [11]
