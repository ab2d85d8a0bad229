"""The command as a person types it, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def pnono(*words: object, cwd: Path, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "parallel_nono", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done
