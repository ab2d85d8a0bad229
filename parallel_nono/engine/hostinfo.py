"""What is worth knowing about a machine and the versions on it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from .. import __version__

PACKAGES = ("numba", "llvmlite", "numpy", "pyarrow", "ray")


def here() -> dict[str, Any]:
    """Machine and versions of this host."""
    return {**machine(), "versions": versions()}


def machine() -> dict[str, Any]:
    """Model of the processor, cores, memory, system; strings and numbers only."""
    return {
        "host": platform.node(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mib": round(psutil.virtual_memory().total / 2**20),
        "system": platform.platform(),
    }


def versions() -> dict[str, str]:
    """Versions of pnono, Python and what the numbers depend on."""
    found = {"pnono": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def commit() -> str:
    """The git commit of the source tree that runs, with `+` if it has changes; "" outside a checkout."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""

    def git(*words: str) -> str:
        return subprocess.run(
            ("git", "-C", str(root), *words), capture_output=True, text=True, timeout=5, check=True
        ).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):  # no git, no commit yet, or not ours to read
        return ""


def _cpu_model() -> str:
    if sys.platform == "linux":
        try:
            for line in Path("/proc/cpuinfo").read_text().splitlines():
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
        except OSError:
            return platform.processor()
    return platform.processor() or platform.machine()
