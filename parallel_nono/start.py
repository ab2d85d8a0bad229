"""What a process of our own does first, so that it starts fast."""

from __future__ import annotations

import gc
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any


class _NoPandas(MetaPathFinder):
    """Pandas is not found, though it may be there."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError("this process does without pandas", name=fullname)
        return None


def prepare() -> None:
    """Only for processes that are ours alone: the command line and the workers of a cluster.

    pyarrow imports pandas where it finds it, which takes longer than most runs; nothing here has a use for it. And
    imports make so many objects that looking for garbage among them takes a tenth of the start.
    """
    gc.set_threshold(100_000, 20, 50)
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas())
