"""How the package is built: setuptools, and the library of machine code where a wheel can have one.

A wheel for Linux on x86-64 or arm64 brings the library (parallel_nono.kernels.native), so it needs no Numba; what is
installed from a checkout with `pip install -e`, or on another machine, makes its machine code when it starts, and does.

    pip wheel .                         with the library, for this machine
    pip wheel . -C machine=aarch64      for arm64, made on any machine
    pip wheel . -C machine=none         without
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from setuptools import build_meta
from setuptools.build_meta import build_sdist, get_requires_for_build_sdist
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

NUMBA = "numba>=0.61"
"""What makes machine code."""


class Machine(NamedTuple):
    """What a library for it is made of, and what the wheel says: levels of parallel_nono.kernels.native, and the tag.
    The library asks of C's library what every version of it has."""

    levels: str
    tag: str


MACHINES = {
    "x86_64": Machine("x86-64-v4-gfni,x86-64-v3", "manylinux_2_17_x86_64"),
    "aarch64": Machine("aarch64", "manylinux_2_17_aarch64"),
}

NONE = "none"
"""Instead of a machine: a wheel without the library, or none at all (`pip install -e`)."""

CHOSEN = "PNONO_LIBRARY_MACHINE"
"""Setuptools runs commands in this process, but makes the objects itself: they read here what was chosen."""


def _choose(settings: dict[str, Any] | None) -> str:
    here = platform.machine() if sys.platform == "linux" else NONE
    machine = str((settings or {}).get("machine", here if here in MACHINES else NONE))
    if machine not in (*MACHINES, NONE):
        raise SystemExit(f"machine: expected one of {', '.join(MACHINES)} or none, found {machine}")
    os.environ[CHOSEN] = machine
    return machine


def _machine() -> Machine | None:
    return MACHINES.get(os.environ.get(CHOSEN, NONE))


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    machine = _choose(config_settings)
    if machine == NONE:
        return []
    linker = shutil.which("ld.lld") or (machine == platform.machine() and shutil.which("ld"))
    return [NUMBA, "numpy>=2.0", *([] if linker else ["ziglang>=0.13"])]


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    _choose(config_settings)
    return build_meta.prepare_metadata_for_build_wheel(metadata_directory)


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    _choose(config_settings)
    return build_meta.build_wheel(wheel_directory, None, metadata_directory)


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    return []


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    os.environ[CHOSEN] = NONE
    return build_meta.prepare_metadata_for_build_editable(metadata_directory)


def build_editable(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    os.environ[CHOSEN] = NONE
    return build_meta.build_editable(wheel_directory, None, metadata_directory)


class WithNumba(egg_info):
    """What is installed without the library depends on Numba."""

    def finalize_options(self) -> None:
        super().finalize_options()
        if _machine() is None and NUMBA not in self.distribution.install_requires:
            self.distribution.install_requires.append(NUMBA)


class WithLibrary(build_py):
    """The sources, and the library beside them."""

    def run(self) -> None:
        super().run()
        if machine := _machine():
            folder = Path(self.build_lib, "parallel_nono", "native").resolve()
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            # The library holds a hash of the sources that it is made of: those beside it.
            environment = os.environ | {"PYTHONPATH": str(folder.parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
            command = [sys.executable, "-m", "parallel_nono.kernels.build", str(folder), machine.levels, "all"]
            subprocess.run(command, env=environment, check=True)


class Tagged(bdist_wheel):
    """A wheel with the library is for one machine, and for every Python from 3.11 on."""

    def finalize_options(self) -> None:
        if _machine():
            self.distribution.has_ext_modules = lambda: True
        super().finalize_options()

    def get_tag(self) -> tuple[str, str, str]:
        machine = _machine()
        return ("cp311", "abi3", machine.tag) if machine else super().get_tag()
