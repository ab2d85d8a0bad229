"""README says what is so: its examples are run, its tables are held against the code."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
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
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLES = re.findall(r"(?s)```console\n(.*?)```", README)
EXAMPLES = [part for console in CONSOLES for part in re.split(r"(?m)^\$ ", console) if part]


def section(title: str) -> str:
    return re.split(r"(?m)^##+ ", README.split(f"\n## {title}\n")[1])[0]


def table(title: str) -> dict[str, list[str]]:
    """The rows of the last table of a section by their first cells, code marks taken away."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"(?m)^\|.*\|$", section(title))
    ]
    return {row[0].replace("`", ""): row[1:] for row in rows[2:]}


def timeless(text: str) -> str:
    """Without times and counts, and without what is said while the first start compiles."""
    text = re.sub(r"[\d,]+ (round|line|probe|branch|conflict)(es|s)?\b", r"N \1", text)
    text = re.sub(r"(?m)^pnono: compiling the solver.*\n", "", text)
    return re.sub(r"[\d.]+ (us|ms|s)\b", "TIME", text)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the examples print, run one after the other in one folder, as a reader would."""
    folder = tmp_path_factory.mktemp("readme")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    outputs = {}
    for example in EXAMPLES:
        command = example.partition("\n")[0]
        program = f'pnono() {{ {shlex.quote(sys.executable)} -m parallel_nono "$@"; }}\n{command}'
        ended = subprocess.run(
            ["bash", "-c", program],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        outputs[example] = ended.stdout
    return outputs


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.partition("\n")[0][:60])
def test_examples_of_the_readme_print_what_it_says(printed: dict[str, str], example: str) -> None:
    assert timeless(printed[example].rstrip()) == timeless(example.partition("\n")[2].rstrip())


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


@pytest.mark.parametrize("example", help_examples())
def test_examples_of_the_help_texts_are_understood(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words, _, output = example.partition("     ")
    _, name, *arguments = shlex.split(words)
    command = cli.command().commands[name]
    if commands_of(command):
        command = command.commands[arguments.pop(0)]
    with command.make_context(name, [*arguments]) as context:
        assert not context.args
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


def test_the_library_example_runs() -> None:
    code = re.search(r"(?s)```python\n(.*?)```", section("As a library"))
    assert code is not None
    ended = subprocess.run([sys.executable, "-c", code[1]], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("icons 20x20 101 ")


def test_the_test_command_of_the_readme_is_the_one_of_ci() -> None:
    commands = re.findall(r"(?m)^    (python3 -m venv .*)$", section("Start"))
    assert len(commands) == 2
    run, test = commands
    assert run.endswith(".venv/bin/pnono run --workers 8 datasets/")
    assert test.endswith(".venv/bin/pytest")
    assert f"\n{test} || exit\n" in (ROOT / ".ci/run").read_text()


def test_the_targets_of_make_that_the_readme_names_are_there() -> None:
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
    assert set(re.findall(r"`make ([a-z]+)`", README)) <= targets


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
@pytest.mark.parametrize("target", ["check", "test", "bench", "datasets"])
def test_what_make_would_run_is_there(target: str) -> None:
    ended = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True)
    for command in ended.stdout.splitlines():
        for word in shlex.split(command)[1:]:
            assert not word.startswith(("scripts/", "datasets/")) or (ROOT / word).exists(), command


def test_every_exit_code_is_documented() -> None:
    assert {int(code): row[0] for code, row in table("Exit codes").items()} == MEANINGS


def test_every_command_is_documented() -> None:
    for command in cli.command().commands:
        assert f"`pnono {command}" in section("Commands"), command


def test_every_format_is_documented_as_it_is() -> None:
    from parallel_nono.formats import FORMATS

    rows = table("Formats")
    assert set(rows) == {form.name for form in FORMATS}
    for form in FORMATS:
        endings, colours, blots, several, _ = rows[form.name]
        assert endings.replace("`", "").split() == list(form.extensions), form.name
        said = (colours == "yes", blots == "yes", several == "yes")
        assert said == (form.colours, form.blots, form.several), form.name
        assert form.write is not None or form.name == "jap", form.name


def test_every_outcome_and_stage_is_documented() -> None:
    assert list(table("Outcomes")) == list(map(str, OUTCOMES))
    for stage in STAGES:
        assert f"`{stage}` (" in section("Outcomes")


def test_every_column_is_documented_and_no_other() -> None:
    assert [column for names in table("Results") for column in names.split()] == list(COLUMNS)


def test_every_plan_is_documented_as_it_is() -> None:
    rows = table("Configuration")
    assert set(rows) == set(plan_names())
    for name, row in rows.items():
        assert tuple(row[0].split(", ")) == load_plan(name).stages


def test_the_plans_are_to_be_seen_in_configs() -> None:
    assert sorted(path.stem for path in (ROOT / "configs/plans").glob("*.toml")) == plan_names()


def test_every_name_of_the_library_is_documented() -> None:
    for name in parallel_nono.__all__:
        assert name == "__version__" or f"`{name}`" in section("As a library"), name


def test_the_version_has_an_entry_in_the_changelog() -> None:
    assert f"\n## {parallel_nono.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()
