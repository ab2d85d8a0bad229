"""What is an extra may be missing: the main job goes on, and what needs it says in one sentence how to install it."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import parallel_nono
from parallel_nono.extras import EXTRAS, MissingExtra, missing, needed

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(parallel_nono.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HOOK = "3 3\n2\n1\n3\n3\n1 1\n1\n"
WITHOUT = f"""
import sys
from importlib.abc import MetaPathFinder

class Without(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {tuple(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Without())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in {tuple(EXTRAS)!r} else found(name, package)
sys.argv[0] = "pnono"
from parallel_nono.cli import entry
entry()
"""


def bare(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command in a process that finds none of the extras."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hook.nin").write_text(HOOK)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_the_main_job_needs_no_extra(folder: Path, workers: int) -> None:
    ended = bare("run", "hook.nin", "--workers", workers, "--out", "out", "--pictures", "--format", "csv", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "unique" in ended.stdout
    assert (folder / "out/rows.csv").read_text().count("\n") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("solve", "hook.nin"),
        ("solve", "hook.nin", "--picture", "x.png"),
        ("lint", "hook.nin"),
        ("convert", "hook.nin", "x.json"),
        ("draw", "hook.nin", "x.svg"),
        ("cnf", "hook.nin"),
        ("watch", "hook.nin"),
        ("pack", "hook.nin", "x.parquet"),
        ("generate", "blobs", "x.nin"),
        ("formats",),
    ],
    ids=lambda words: " ".join(words),
)
def test_the_other_commands_need_none(folder: Path, words: tuple[str, ...]) -> None:
    ended = bare(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "module"),
    [
        (("run", "hook.nin", "--engine", "ray"), "ray"),
        (("run", "hook.nin", "--engine", "ray", "--address", "127.0.0.1:9"), "ray"),
        (("run", "hook.nin", "--mode", "lines", "--engine", "ray"), "ray"),
        (("solve", "hook.nin", "--mode", "lines", "--engine", "ray"), "ray"),
        (("report", "out"), "duckdb"),
        (("compare", "out", "out"), "duckdb"),
        (("draw", "hook.nin", "x.pdf"), "reportlab"),
        (("solve", "hook.nin", "--picture", "x.pdf"), "reportlab"),
        (("serve", "--port", "0"), "uvicorn"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else words,
)
def test_a_missing_extra_is_one_sentence_that_names_it(folder: Path, words: tuple[str, ...], module: str) -> None:
    if "out" in words:
        assert bare("run", "hook.nin", "--out", "out", cwd=folder).returncode == 0
    ended = bare(*words, cwd=folder)
    (line,) = [line for line in ended.stderr.splitlines() if "compiling" not in line]
    assert line.startswith("pnono: ")
    assert line.endswith(missing(module)) or module == "uvicorn"
    assert f"pip install 'parallel_nono[{EXTRAS[module][0]}]'" in line
    assert ended.returncode == 69


def test_the_library_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "none_such", ("some", "tests"))
    with pytest.raises(MissingExtra, match=r"none_such is not installed, which tests need: pip install .*\[some\]"):
        needed("none_such")


def test_the_table_is_the_one_of_the_project() -> None:
    extras = PROJECT["optional-dependencies"]
    for module, (extra, purpose) in EXTRAS.items():
        assert any(requirement.startswith(module) for requirement in extras[extra]), module
        assert purpose
    (everything,) = extras["all"]
    assert set(everything.split("[")[1].rstrip("]").split(",")) == {extra for extra, _ in EXTRAS.values()}


def test_what_is_imported_is_a_dependency_or_an_extra() -> None:
    names = {"PIL": "pillow", "pysat": "python-sat", "pysolvers": "python-sat", "yaml": "", "llvmlite": "numba"}
    names["markupsafe"] = "jinja2"
    names |= {"picross_solver": "", "ziglang": ""}  # a program of configs/solvers; an extra that is run, not imported
    base = {requirement.partition(">")[0] for requirement in PROJECT["dependencies"]}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for module in {each.partition(".")[0] for each in modules} - sys.stdlib_module_names:
                assert names.get(module, module) in {*base, *EXTRAS, "", "parallel_nono"}, f"{path}: {module}"
