"""The rules once more, knowing nothing of the solver: `plain.py` in the plainest Python, `fast.py` for whole sets."""

from .plain import Verdict, check

__all__ = ["Verdict", "check"]
