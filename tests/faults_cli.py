"""`pnono` with the kind `faults`, and parts that are closed every second: what a whole run does when things break.

python faults_cli.py run puzzles.txt --kind faults ...
"""

from __future__ import annotations

import sys

import faults

from parallel_nono import kinds
from parallel_nono.cli import main
from parallel_nono.report import parquet

if __name__ == "__main__":
    parquet.PART_S = 1.0
    kinds.KINDS = {**kinds.KINDS, "faults": (".faults",)}
    sys.modules["parallel_nono.kinds.faults"] = faults
    main(sys.argv[1:])
