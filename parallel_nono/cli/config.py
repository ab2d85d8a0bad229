"""`--config FILE.toml`: a section for each command, a key for each long option; the command line wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from .exits import Code, Failure

COMMON = ("config", "debug")
"""Options of the program itself: they stand before or after the command, and not in a file."""


def load(context: typer.Context, path: Path | None) -> Path | None:
    """Callback of `--config`: the values of the file become the defaults of the command.

    Errors: Failure naming the file, the section and the key for whatever is not an option or not of its type.
    """
    if path is None or context.resilient_parsing:
        return path
    root = context.find_root()
    commands: dict[str, Any] = root.command.commands  # type: ignore[attr-defined]
    defaults = {
        section: _section(f"{path}: [{section}]", commands[section], keys, context)
        for section, keys in _tables(path, sorted(commands)).items()
    }
    if context is root:
        context.default_map = defaults
    else:
        context.default_map = {**(context.default_map or {}), **defaults.get(context.info_name or "", {})}
    return path


def _tables(path: Path, known: list[str]) -> dict[str, dict[str, Any]]:
    import tomllib

    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(Code.USAGE, f"{path}: can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(Code.USAGE, f"{path}: expected TOML, found something else: {error}") from error
    for section, keys in document.items():
        if section not in known or not isinstance(keys, dict):
            raise Failure(Code.USAGE, f"{path}: expected sections named {_listed(known)}, found `{section}`")
    return document


def _section(place: str, command: Any, keys: dict[str, Any], context: typer.Context) -> dict[str, Any]:
    """Parameter names and values of one section, each tried against the type of its option."""
    options = {
        name.removeprefix("--"): option
        for option in command.params
        if option.param_type_name == "option" and option.name not in COMMON
        for name in option.opts
        if name.startswith("--")
    }
    values = {}
    for key, value in keys.items():
        if key not in options:
            raise Failure(Code.USAGE, f"{place}: unknown key `{key}`; known are {_listed(sorted(options)) or 'none'}")
        option = options[key]
        if isinstance(value, bool) != bool(option.is_flag) or isinstance(value, list) != bool(option.multiple):
            expected = "true or false" if option.is_flag else "a list" if option.multiple else "one value"
            raise Failure(Code.USAGE, f"{place}: `{key}`: expected {expected}, found {value!r}")
        try:
            option.process_value(context, value)
        except typer.BadParameter as error:
            why = error.message.rstrip(".")
            raise Failure(Code.USAGE, f"{place}: `{key}`: {why}; found {value!r}") from error
        values[option.name] = value
    return values


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
