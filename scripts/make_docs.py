"""Writes the parts of docs/ that the code decides: the reference of every command, their list, the exit codes.

    python scripts/make_docs.py            writes them
    python scripts/make_docs.py --check    writes nothing; ends with 1 and names the pages that would change

A page is written by hand but for what stands between `<!-- made: NAME -->` and `<!-- end -->`; those lines are made
from the command tree, so an option cannot be documented with a default or a name that it does not have. A command
without a page gets one.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from enum import Enum
from pathlib import Path
from typing import Any

from parallel_nono import cli
from parallel_nono.cli.exits import MEANINGS

DOCS = Path(__file__).resolve().parent.parent / "docs"
MADE = re.compile(r"(?s)<!-- made: ([a-z -]+) -->\n.*?<!-- end -->\n")
COMMON = ("config", "debug", "help")
"""Options that every command has: they stand in docs/commands/index.md, once."""


def commands() -> dict[str, Any]:
    """Every command by its name; those of a group by both names (`web build`)."""
    found = {}
    for name, command in cli.command().commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"{name} {under}": one for under, one in inner.items()} if inner else {name: command}
    return found


def page_of(name: str) -> str:
    return f"commands/{name.split()[0]}.md"


def paragraphs(command: Any) -> list[str]:
    return [part.strip() for part in re.split(r"\n\s*\n", (command.help or "").replace("\b", ""))]


def summary(command: Any) -> str:
    return " ".join(paragraphs(command)[0].split())


def cell(text: str) -> str:
    """Text as a cell of a table takes it."""
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


def code(text: str) -> str:
    return f"`{text}`".replace("|", r"\|")


def value(parameter: Any, hints: dict[str, Any]) -> str:
    """What an option takes: its metavar, its choices, or its type and range."""
    hint = hints.get(parameter.name)
    kind, more, *_ = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint, None)
    kinds = [kind, *typing.get_args(kind)]
    if bool in kinds:
        return ""
    if parameter.metavar:
        return code(parameter.metavar)
    for one in kinds:
        if isinstance(one, type) and issubclass(one, Enum):
            return ", ".join(code(str(choice.value)) for choice in one)
    least, most = getattr(more, "min", None), getattr(more, "max", None)
    bounds = f" from {least}" if least is not None else ""
    bounds += f" to {most}" if most is not None else ""
    if int in kinds:
        return f"a whole number{bounds}"
    if float in kinds:
        return f"a number{bounds}"
    return "a path" if Path in kinds else "a text"


def default(parameter: Any, hints: dict[str, Any]) -> str:
    found = parameter.default
    if parameter.required:
        return "required"
    if isinstance(found, bool):
        return "on" if found else "off"
    if isinstance(found, Enum):
        found = found.value
    return "" if found in (None, "", [], ()) or callable(found) else code(str(found))


def names(parameter: Any) -> str:
    return ", ".join(map(code, (*parameter.opts, *parameter.secondary_opts)))


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def usage(name: str, command: Any) -> str:
    words = ["pnono", name, "[OPTIONS]"]
    for parameter in command.params:
        if not parameter.opts[0].startswith("-"):
            word = (parameter.metavar or parameter.name.upper()).removesuffix("...").strip("[]")
            word += "..." if parameter.nargs == -1 else ""
            words.append(word if parameter.required else f"[{word}]")
    return " ".join(words)


def options(command: Any) -> list[str]:
    hints = typing.get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    arguments, found = [], []
    for parameter in command.params:
        text = [cell(parameter.help or ""), default(parameter, hints)]
        if not parameter.opts[0].startswith("-"):
            word = (parameter.metavar or parameter.name.upper()).removesuffix("...").strip("[]")
            arguments.append([code(word), *text])
        elif parameter.name not in COMMON and not getattr(parameter, "hidden", False):
            found.append([names(parameter), value(parameter, hints), text[1], text[0]])
    lines = ["", *table(["argument", "meaning", "default"], arguments)] if arguments else []
    return lines + (["", *table(["option", "takes", "default", "meaning"], found)] if found else [])


def exit_codes(command: Any) -> list[str]:
    """The list of a help text, `Exit codes: 0 fine; 3 not; 4 undecided. Of several the highest counts.`"""
    for part in paragraphs(command):
        *_, told = part.rpartition("Exit codes:")
        if told != part:
            codes, _, more = " ".join(told.split()).rstrip(".").partition(". ")
            rows = [item.split(" ", 1) for item in re.split(r"[;,]\s+(?=\d+ )", codes)]
            lines = ["", *table(["exit code", "meaning"], [[number, cell(text)] for number, text in rows])]
            return [*lines, "", f"{more}."] if more else lines
    return []


def reference(name: str) -> list[str]:
    command = commands()[name]
    lines = [f"## Reference: `pnono {name}`", "", summary(command), "", "```text", usage(name, command), "```"]
    lines += options(command)
    examples = [part for part in paragraphs(command) if re.match(r"(pnono|cat|python3) ", part)]
    for part in examples:
        lines += ["", "```sh", *(re.sub(r"( {3,})", r"\1# ", line.strip()) for line in part.splitlines()), "```"]
    return lines + exit_codes(command)


def list_of_commands() -> list[str]:
    rows = [
        [f"[{code(f'pnono {name}')}]({page_of(name).rpartition('/')[2]})", cell(summary(one))]
        for name, one in commands().items()
    ]
    return table(["command", "what it does"], rows)


def common_options() -> list[str]:
    group = cli.command()
    rows = [[names(one), cell(one.help or "")] for one in group.params]
    return table(["option", "meaning"], rows)


def made(name: str) -> str:
    """What stands in a place called `name`."""
    lines = {
        "commands": list_of_commands,
        "common options": common_options,
        "exit codes": lambda: table(["code", "meaning"], [[str(int(c)), cell(text)] for c, text in MEANINGS.items()]),
    }
    return "\n".join(lines[name]() if name in lines else reference(name.removeprefix("reference "))) + "\n"


def filled(text: str) -> str:
    """A page with its made parts as the code has them now."""
    return MADE.sub(lambda found: f"<!-- made: {found[1]} -->\n{made(found[1])}<!-- end -->\n", text)


def pages() -> dict[Path, str]:
    """Every page that has made parts, as it should be."""
    found = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    for name in commands():
        path = DOCS / page_of(name)
        found.setdefault(path, f"# {name.split()[0]}\n")
        if f"<!-- made: reference {name} -->" not in found[path]:
            found[path] += f"\n<!-- made: reference {name} -->\n<!-- end -->\n"
    return {path: filled(text) for path, text in found.items() if "<!-- made: " in text}


def main() -> None:
    changed = [(path, text) for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text]
    for path, text in changed:
        print(path.relative_to(DOCS.parent))
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    sys.exit(bool(changed) and "--check" in sys.argv)


if __name__ == "__main__":
    main()
