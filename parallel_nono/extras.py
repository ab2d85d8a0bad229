"""Libraries that not everybody needs, and the extra of `pip install` that each comes with."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

EXTRAS = {
    "numba": ("compile", "machine code for this processor, WebAssembly and CUDA"),
    "ray": ("ray", "workers in processes of their own and on clusters"),
    "duckdb": ("report", "reports and comparisons"),
    "jinja2": ("report", "reports and comparisons"),
    "reportlab": ("pdf", "PDF"),
    "textual": ("watch", "the terminal player"),
    "starlette": ("serve", "the local page"),
    "uvicorn": ("serve", "the local page"),
    "fsspec": ("remote", "addresses beyond those that pyarrow knows"),
}
"""Modules, the extra that installs each, and what it is for."""


class MissingExtra(ImportError):
    """A library that is not installed; the message says how to install it."""


def missing(module: str) -> str:
    """The sentence for a module of EXTRAS that can't be imported."""
    extra, purpose = EXTRAS[module]
    return f"{module} is not installed, which {purpose} need: pip install 'parallel_nono[{extra}]'"


def needed(module: str) -> ModuleType:
    """A module of EXTRAS, imported. Errors: MissingExtra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # it is there, and lacks something itself
            raise
        raise MissingExtra(missing(module), name=module) from error
