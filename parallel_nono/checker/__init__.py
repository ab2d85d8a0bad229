"""The rules once more, knowing nothing of the solver: `plain.py` in the plainest Python, `fast.py` for whole sets."""

from .plain import RejectedSolution, Verdict, check

__all__ = ["RejectedSolution", "Verdict", "check"]
