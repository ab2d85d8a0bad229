"""The library against Numba's own code: the figures of kernels.py and lines.py, in turns; for the diary.

    python scripts/bench/library.py            both
    python scripts/bench/library.py lines      one of them
    python scripts/bench/library.py --rounds 5

Each figure is Numba's time by the library's, from processes that take turns: above 1 the library is faster.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
FIGURE = re.compile(r"(?:ours(?: mean)?|median)\s+([\d.]+)")


def figures(script: str, kernels: str) -> list[tuple[str, float]]:
    """(name, value) of each figure that a script prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PNONO_KERNELS"}
    if kernels:
        environment["PNONO_KERNELS"] = kernels
    done = subprocess.run(
        [sys.executable, str(HERE / script)], env=environment, capture_output=True, text=True, check=True
    )
    found = []
    for line in done.stdout.splitlines():
        for place, value in enumerate(FIGURE.findall(line)):
            found.append((" ".join(FIGURE.split(line)[0].split()) + f" {place}" * bool(place), float(value)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("scripts", nargs="*", default=["kernels", "lines"])
    options = parser.parse_args()
    for script in options.scripts:
        pairs: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for _ in range(options.rounds):
            for (name, numba), (_, library) in zip(
                figures(f"{script}.py", "numba"), figures(f"{script}.py", ""), strict=True
            ):
                pairs[name].append((numba, library))
        for name, values in pairs.items():
            ratio = statistics.median(numba / library for numba, library in values)
            print(f"{script:8s} {name:32s} {ratio:5.2f}   {values[0][0]:10.3f} {values[0][1]:10.3f}", flush=True)


if __name__ == "__main__":
    main()
