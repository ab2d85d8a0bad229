"""The documents say what is so: their examples are run, their tables are held against the code."""

from __future__ import annotations

import ast
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import parallel_nono
from parallel_nono import cli
from parallel_nono.attempt import COLUMNS, OUTCOMES, STAGES
from parallel_nono.cli.exits import MEANINGS
from parallel_nono.solver.plans import load_plan
from parallel_nono.solver.plans import names as plan_names

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
}
README = PAGES["README.md"]


def examples(text: str) -> list[str]:
    """Every `$ command` of the consoles of a page, with what it prints."""
    consoles = re.findall(r"(?s)```console\n(.*?)```", text)
    return [part for console in consoles for part in re.split(r"(?m)^\$ ", console) if part]


EXAMPLES = [(name, example) for name, text in PAGES.items() for example in examples(text)]
FILES = [example for example in examples(PAGES["docs/commands/solve.md"]) if example.startswith("printf")]
"""What makes hook.non and crossed.non, which many pages use."""


def section(page: str, title: str) -> str:
    return re.split(r"(?m)^##+ ", PAGES[page].split(f"\n## {title}\n")[1])[0]


def table(page: str, title: str = "") -> dict[str, list[str]]:
    """The rows of the last table of a page, or of a section of it, by their first cells, code marks taken away."""
    text = section(page, title) if title else PAGES[page]
    last = re.findall(r"(?m)(?:^\|.*\|\n)+", text)[-1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in last.splitlines()]
    return {row[0].replace("`", ""): row[1:] for row in rows[2:]}


def timeless(text: str) -> str:
    """Without times and counts, and without what is said while the first start compiles."""
    text = re.sub(r"[\d,]+ (round|line|probe|branch|conflict)(es|s)?\b", r"N \1", text)
    text = re.sub(r"(?m)^pnono: compiling the solver.*\n", "", text)
    return re.sub(r"[\d.]+ (us|ms|s)\b", "TIME", text)


def printed_by(command: str, folder: Path) -> str:
    program = f'pnono() {{ {shlex.quote(sys.executable)} -m parallel_nono "$@"; }}\n{command}'
    return subprocess.run(
        ["bash", "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], str]:
    """What the examples print, run one after the other as a reader would, each page in a folder of its own."""
    outputs: dict[tuple[str, str], str] = {}
    folders: dict[str, Path] = {}
    for page, example in EXAMPLES:
        if page not in folders:
            folders[page] = tmp_path_factory.mktemp("page")
            for making in FILES:
                printed_by(making, folders[page])
        outputs[page, example] = printed_by(example.partition("\n")[0], folders[page])
    return outputs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "example"), EXAMPLES, ids=[f"{page}: {text.partition(chr(10))[0][:60]}" for page, text in EXAMPLES]
)
def test_examples_print_what_the_page_says(printed: dict[tuple[str, str], str], page: str, example: str) -> None:
    assert timeless(printed[page, example].rstrip()) == timeless(example.partition("\n")[2].rstrip())


def shell_commands() -> list[tuple[str, str]]:
    """(page, command) of every `pnono ...` in the shell blocks of the documents, without what follows a pipe."""
    found = []
    for page, text in PAGES.items():
        for block in re.findall(r"(?s)```sh\n(.*?)```", text):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                words = words[: min((words.index(end) for end in ("|", ">") if end in words), default=len(words))]
                if words[:1] == ["pnono"]:
                    found.append((page, shlex.join(words)))
    return sorted(set(found))


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command"), shell_commands())
def test_commands_of_the_documents_are_understood(
    page: str, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    _, name, *arguments = shlex.split(command)
    for file in arguments:  # options that ask for a file that is there
        if re.fullmatch(r"[\w.-]+/?[\w./-]*\.(toml|non|xml|parquet|sgt|strikeout|numcross|out|jpg|png|pbm)", file):
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "configs/run.toml", tmp_path / file)
    understood(name, arguments)


def test_there_are_enough_of_these() -> None:
    assert len(shell_commands()) > 60
    assert len(EXAMPLES) > 35


def understood(name: str, arguments: list[str]) -> None:
    command = cli.command().commands[name]
    if commands_of(command):
        command = command.commands[arguments.pop(0)]
    if "--config" in arguments:  # looks at the whole command line
        at = arguments.index("--config")
        del arguments[at : at + 2]
    with command.make_context(name, [*arguments]) as context:
        assert not context.args


def commands_of(command: Any) -> dict[str, Any]:
    """The commands under a command; most have none."""
    return getattr(command, "commands", {})


def help_examples() -> list[str]:
    """Every `pnono ...` of the help texts that stands in a pipe or a line of its own."""
    found = []
    commands = dict(cli.command().commands)
    commands |= {f"{name} {under}": c for name, group in commands.items() for under, c in commands_of(group).items()}
    for name, command in commands.items():
        lines = [part for line in (command.help or "").splitlines() for part in line.split("|")]
        found += [line.strip() for line in lines if line.strip().startswith(f"pnono {name}")]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("example", help_examples())
def test_examples_of_the_help_texts_are_understood(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words, _, output = example.partition("     ")
    _, name, *arguments = shlex.split(words)
    understood(name, arguments)
    if output:
        ended = subprocess.run(
            [sys.executable, "-m", "parallel_nono", *shlex.split(words)[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.stdout.strip() == output.strip(), ended.stderr


def test_every_command_has_an_example() -> None:
    assert {shlex.split(example)[1] for example in help_examples()} == set(cli.command().commands)


@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_documents_is_python(page: str) -> None:
    for code in re.findall(r"(?s)```python\n(.*?)```", PAGES[page]):
        ast.parse(code)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/library.md"])
def test_the_library_example_runs(page: str) -> None:
    code = re.search(r"(?s)```python\n(.*?)```", PAGES[page])
    assert code is not None
    ended = subprocess.run([sys.executable, "-c", code[1]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("icons 20x20 101 ")


@pytest.mark.parametrize("page", ["README.md", "docs/install.md"])
def test_the_test_command_is_the_one_of_ci(page: str) -> None:
    commands = re.findall(r"(?m)^    (python3 -m venv .*)$", PAGES[page])
    assert commands == [
        "python3 -m venv .venv && .venv/bin/pip install -e . && .venv/bin/pnono run --workers 8 datasets/",
        "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest",
    ]
    assert f"\n{commands[1]} || exit\n" in (ROOT / ".ci/run").read_text()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_that_are_there(page: str) -> None:
    text = re.sub(r"(?s)```.*?```", "", PAGES[page])
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target.replace("\n", "")).exists(), target


def test_the_targets_of_make_that_the_documents_name_are_there() -> None:
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
    told = {target for text in PAGES.values() for target in re.findall(r"`make ([a-z]+)`", text)}
    assert {"check", "test", "docs", "bench", "datasets"} <= told <= targets


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
@pytest.mark.parametrize("target", ["check", "test", "docs", "bench", "datasets"])
def test_what_make_would_run_is_there(target: str) -> None:
    ended = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True)
    for command in ended.stdout.splitlines():
        for word in shlex.split(command)[1:]:
            assert not word.startswith(("scripts/", "datasets/", "../")) or (ROOT / word).exists(), command
            assert not word.startswith(".."), command


MAKE_DOCS = runpy.run_path(str(ROOT / "scripts/make_docs.py"))


def test_what_is_made_from_the_code_is_as_the_code_has_it() -> None:
    """Else: `make docs`."""
    pages = MAKE_DOCS["pages"]()
    assert len(pages) > 20
    for path, text in pages.items():
        assert path.exists(), path
        assert path.read_text(encoding="utf-8") == text, path


@pytest.mark.slow
def test_every_option_of_every_command_is_in_its_reference() -> None:
    for name, command in MAKE_DOCS["commands"]().items():
        told = MAKE_DOCS["made"](f"reference {name}")
        for parameter in command.params:
            if parameter.name not in MAKE_DOCS["COMMON"]:
                for option in (*parameter.opts, *parameter.secondary_opts):
                    assert f"`{option}`" in told or f"`{(parameter.metavar or option.upper()).strip('[].')}`" in told, (
                        option
                    )


def test_every_command_has_exit_codes_in_its_reference() -> None:
    for name in MAKE_DOCS["commands"]():
        assert name == "formats" or "| exit code |" in MAKE_DOCS["made"](f"reference {name}"), name


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_every_page_is_in_the_menu_of_the_site(page: str) -> None:
    assert re.search(rf"(?m)^ +- {re.escape(page.removeprefix('docs/'))}$", (ROOT / "mkdocs.yml").read_text())


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]+)", page.read_text("utf-8"))
        loaded += re.findall(r"<link\b[^>]*\bhref=\"([^\"]+)", page.read_text("utf-8"))
        assert not [address for address in loaded if "//" in address], page


@pytest.mark.slow
def test_the_picture_of_the_readme_is_what_pnono_draws(tmp_path: Path) -> None:
    from PIL import Image

    drawn = tmp_path / "sprite.png"
    subprocess.run(
        [sys.executable, "-m", "parallel_nono", "draw", "datasets/sprite.g", drawn],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    with Image.open(drawn) as one, Image.open(DOCS / "images/sprite.png") as other:
        assert one.convert("RGB").tobytes() == other.convert("RGB").tobytes()


def test_every_dependency_is_in_the_page_that_says_what_it_weighs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = section("docs/install.md", "What it weighs")
    for requirement in project["dependencies"]:
        name = re.match(r"[\w-]+", requirement)
        assert name is not None
        assert f"`{name[0]}`" in told, requirement
    for extra in project["optional-dependencies"]:
        assert f"'.[{extra}]'" in section("docs/install.md", "Extras"), extra


def test_every_exit_code_is_documented() -> None:
    assert {int(code): row[0] for code, row in table("docs/exit-codes.md").items()} == MEANINGS


def test_every_command_is_documented() -> None:
    for command in cli.command().commands:
        assert f"`pnono {command}" in PAGES["docs/commands/index.md"], command


def test_every_format_is_documented_as_it_is() -> None:
    from parallel_nono.formats import FORMATS

    rows = table("docs/formats.md")
    assert set(rows) == {form.name for form in FORMATS}
    for form in FORMATS:
        endings, colours, blots, several, _ = rows[form.name]
        assert endings.replace("`", "").split() == list(form.extensions), form.name
        said = (colours == "yes", blots == "yes", several == "yes")
        assert said == (form.colours, form.blots, form.several), form.name
        assert form.write is not None or form.name == "jap", form.name


def test_every_kind_is_documented_as_it_is() -> None:
    from parallel_nono.kinds import KINDS, bare

    rows = {name: row for name, row in table_of_kinds().items() if name in KINDS}
    assert list(rows) == list(KINDS)
    for name, endings in KINDS.items():
        _, told, options = rows[name]
        assert told.replace("`", "").split() == list(endings)
        assert set(re.findall(r"`(\w+)`", options)) == set(bare(name).options), name


def table_of_kinds() -> dict[str, list[str]]:
    first = re.findall(r"(?m)(?:^\|.*\|\n)+", PAGES["docs/kinds.md"])[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in first.splitlines()]
    return {row[0].replace("`", ""): row[1:] for row in rows[2:]}


def test_every_outcome_and_stage_is_documented() -> None:
    assert list(table("docs/outcomes.md")) == list(map(str, OUTCOMES))
    for stage in STAGES:
        assert f"- `{stage}` (" in PAGES["docs/outcomes.md"]


def test_every_column_is_documented_and_no_other() -> None:
    assert [column for names in table("docs/results.md") for column in names.split()] == list(COLUMNS)


def test_every_plan_is_documented_as_it_is() -> None:
    rows = table("docs/configuration.md")
    assert set(rows) == set(plan_names())
    for name, row in rows.items():
        assert tuple(row[0].split(", ")) == load_plan(name).stages


def test_the_plans_are_to_be_seen_in_configs() -> None:
    assert sorted(path.stem for path in (ROOT / "configs/plans").glob("*.toml")) == plan_names()


def test_every_baseline_is_documented() -> None:
    assert set(table("docs/baselines.md")) == {path.stem for path in (ROOT / "configs/solvers").glob("*.toml")}


def test_every_room_is_documented_in_order() -> None:
    from test_rooms import ROOMS

    assert f"`{' → '.join(ROOMS)}`" in PAGES["docs/design.md"]
    rows = re.findall(r"(?m)^\| `(\w+)` \|", section("docs/design.md", "Rooms"))
    assert tuple(rows) == ROOMS


def test_every_name_of_the_library_is_documented() -> None:
    for name in parallel_nono.__all__:
        told = rf"(?m)^::: parallel_nono\.[\w.]*\b{name}$"
        assert name == "__version__" or re.search(told, PAGES["docs/library.md"]), name


def test_the_version_has_an_entry_in_the_changelog() -> None:
    assert re.search(
        rf"\n## \[?{re.escape(parallel_nono.__version__)}\]?( - \d{{4}}-\d\d-\d\d)?\n",
        (ROOT / "CHANGELOG.md").read_text(),
    )


def test_the_version_to_cite_is_that_of_the_package() -> None:
    assert f"\nversion: {parallel_nono.__version__}\n" in (ROOT / "CITATION.cff").read_text()
