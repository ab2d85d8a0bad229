"""The rules once more, knowing nothing of the solver: `plain.py` in the plainest Python, `fast.py` for whole sets."""

from .. import _make_callable
from .plain import check

__all__ = ["check"]


_make_callable(__name__)
