"""The rules once more, knowing nothing of the solver: `plain.py` in the plainest Python, `fast.py` for whole sets."""

from .plain import check

__all__ = ["check"]
