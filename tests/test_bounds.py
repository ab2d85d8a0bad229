"""No kernel reads or writes outside its arrays: a whole family of wrong solutions and crashes that no other test
sees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays() -> None:
    environment = {
        **os.environ,
        "NUMBA_BOUNDSCHECK": "1",
    }  # has a folder of compiled code of its own, for the next time
    process = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("bounds.py")), "1"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    # A function value can't raise: what it finds is printed on stderr.
    assert (process.stdout.strip(), process.stderr.strip(), process.returncode) == ("done", "", 0)
