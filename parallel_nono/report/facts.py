"""What a run says of itself, from run.json and from the metadata of its parts, checked once where it is read.

A folder of results may come from anywhere. Whoever asks for facts gets the types that are promised here, or a message
that names the file, the fact, what was expected and what was found. Facts that are not listed are kept as they are.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from ..engine.folder import OutputError

Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_word(value: Any) -> bool:
    return _is_text(value) and re.fullmatch(r"\w[\w -]{0,39}", value) is not None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_versions(value: Any) -> bool:
    return _is_object(value) and all(map(_is_text, value.values()))


def _is_hosts(value: Any) -> bool:
    return _is_object(value) and all(map(_is_object, value.values()))


TEXT, NUMBER, COUNT = (_is_text, "a text"), (_is_number, "a number that is not negative"), (_is_count, "a whole number")
TEXTS, WORD, OBJECT = (_is_texts, "a list of texts"), (_is_word, "a word"), (_is_object, "an object")

FACTS: dict[str, tuple[Check, str]] = {
    **dict.fromkeys(("run", "started", "host", "cpu", "system", "commit"), TEXT),
    **dict.fromkeys(("cores", "cores_usable"), COUNT),
    "memory_mib": NUMBER,
    "versions": (_is_versions, "an object of texts"),
    "noun": WORD,
    "options": OBJECT,
    "hosts": (_is_hosts, "an object of objects"),
}
OPTIONS: dict[str, tuple[Check, str]] = {
    "kind": TEXT,
    "inputs": TEXTS,
    **dict.fromkeys(("seconds", "cpu_seconds"), NUMBER),
    **dict.fromkeys(("solutions", "count", "memory_mib", "repeat"), COUNT),
}
FORMERLY = {"answers": "solutions", "store_answers": "store_solutions"}
"""Options that runs of version 1 of the schema had under another name."""

PLAN: dict[str, tuple[Check, str]] = {"stages": TEXTS}
SESSION: dict[str, tuple[Check, str]] = {
    **dict.fromkeys(("started", "engine", "why", "timeline"), TEXT),
    **dict.fromkeys(("seconds", "compiling_s", "stolen_s"), NUMBER),
    **dict.fromkeys(("workers", "n_skipped", "worker_parts"), COUNT),
    "skipped": TEXTS,
}
OPTIONAL = ("cpu", "commit", "system", "host", "memory_mib", "cores", "cores_usable")
"""Facts that a machine may not tell: null there says so."""

NAMES = {str: "a text", bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "an object"}


def facts_of(text: bytes, where: str) -> dict[str, Any]:
    """The run facts. where: begins every message. Errors: OutputError."""
    facts = _object(text, where)
    _check(facts, FACTS, where)
    if "options" not in facts:
        raise OutputError(f'{where}: expected the facts of a run, found none of its "options"')
    facts["options"] = {FORMERLY.get(name, name): value for name, value in facts["options"].items()}
    _check(facts["options"], OPTIONS, f"{where}: options")
    if isinstance(plan := facts["options"].get("plan"), dict):
        _check(plan, PLAN, f"{where}: options: plan")
    return facts


def session_of(value: bytes | Any, where: str) -> dict[str, Any]:
    """What a start of a run said last, as JSON or as the object itself. Errors: OutputError."""
    session: dict[str, Any] = _object(value, where) if isinstance(value, bytes) else value
    if not _is_object(session):
        raise OutputError(f"{where}: expected an object, found {shown(session)}")
    _check(session, SESSION, where)
    return session


def sessions_of(text: bytes, where: str) -> list[dict[str, Any]]:
    """Those of a compacted file. Errors: OutputError."""
    found = _json(text, where)
    if not isinstance(found, list):
        raise OutputError(f"{where}: expected a list, found {shown(found)}")
    return [session_of(each, where) for each in found]


def hosts_of(text: bytes, where: str) -> dict[str, dict[str, Any]]:
    """Facts of machines by their names. Errors: OutputError."""
    found = _object(text, where)
    _check({"hosts": found}, FACTS, where)
    return found


def _json(text: bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{where}: expected JSON, found {type(error).__name__}: {error}") from error


def _object(text: bytes, where: str) -> dict[str, Any]:
    found = _json(text, where)
    if not isinstance(found, dict):
        raise OutputError(f"{where}: expected an object, found {shown(found)}")
    return found


def _check(found: dict[str, Any], wanted: dict[str, tuple[Check, str]], where: str) -> None:
    for name, (is_right, expected) in wanted.items():
        if name not in found or (name in OPTIONAL and found[name] is None):
            continue
        if not is_right(found[name]):
            raise OutputError(f'{where}: "{name}": expected {expected}, found {shown(found[name])}')


def shown(value: Any) -> str:
    """A value as a message names it: `a text ("abc")`."""
    if value is None:
        return "null"
    text = json.dumps(value, ensure_ascii=True)
    return f"{NAMES.get(type(value), 'something else')} ({text if len(text) <= 60 else text[:57] + '...'})"
