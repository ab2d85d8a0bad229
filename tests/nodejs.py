"""The page as `pnono web build` makes it, and its scripts in node; tests are skipped where a tool is missing."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parallel_nono.kernels.toolchain import INSTALL, linker
from parallel_nono.puzzle import Puzzle
from parallel_nono.web import build

SCRIPT = Path(__file__).with_name("nodejs.js")


@cache
def page() -> tempfile.TemporaryDirectory[str]:
    """A folder with the page; it goes with the last who holds it."""
    folder = tempfile.TemporaryDirectory(prefix="pnono-page-")
    build.write(Path(folder.name))
    return folder


def page_or_skip() -> Path:
    """The folder of the page; the module in it is made when the kernels have changed, in half a minute."""
    if not linker("wasm-ld"):
        pytest.skip(f"needs a linker for WebAssembly: {INSTALL}")
    return Path(page().name)


def node(tasks: Iterable[dict[str, Any]]) -> list[Any]:
    """What each task gives, see nodejs.js; all in one process."""
    folder = page_or_skip()
    if not shutil.which("node"):
        pytest.skip("needs node (Debian and Ubuntu: apt install nodejs)")
    lines = "\n".join(map(json.dumps, tasks))
    ended = subprocess.run(
        ["node", str(SCRIPT), str(folder)], input=lines, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return [json.loads(line) for line in ended.stdout.splitlines()]


def as_task(puzzle: Puzzle) -> dict[str, Any]:
    """A puzzle as the scripts of the page hold it."""
    return {
        "height": puzzle.height,
        "width": puzzle.width,
        "rows": [[list(block) for block in clue] for clue in puzzle.rows],
        "columns": [[list(block) for block in clue] for clue in puzzle.columns],
        "palette": [{"name": colour.name, "rgb": colour.rgb} for colour in puzzle.palette],
    }
