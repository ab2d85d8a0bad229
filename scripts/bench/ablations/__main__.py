"""Every trick of the articles switched on and off: counts, ratios of times taken in turns, and whether it pays.

    python scripts/bench/ablations                        everything, as Markdown (ten minutes or so)
    python scripts/bench/ablations --list                 the names
    python scripts/bench/ablations "dead lines" queue     some of them

Puzzles are our own; those of ../shared/data join where they are at hand. A ratio is time without the trick / time with
it: above 1 it pays. Counts are a line or a puzzle on average and the same on every machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import learning
import line_tricks
import probing
import propagation
import ranges
import sat
import small_tricks
from tools import Row, judged


class Ablation(NamedTuple):
    """without, with_: what is compared. source: the article that has the trick: I Izaron, P pynogram, A apsnono."""

    source: str
    without: str
    with_: str
    rows: Callable[[], Iterator[Row]]


ORDER = sat.variant(sat.order)
ORDER_AFTER_LINES = sat.variant(sat.order, "line")
ORDER_AFTER_PROBES = sat.variant(sat.order, "line", "probe")
HINTED = sat.variant(sat.hinted, "line", "probe")
PLAIN = sat.variant(sat.five_rules)

ABLATIONS: dict[str, Ablation] = {
    "prefix sums": Ablation("I", "looking at cells", "sums of blocked cells", lambda: line_tricks.trick("prefix sums")),
    "difference array": Ablation(
        "I", "marking cell by cell", "marking both ends", lambda: line_tricks.trick("difference array")
    ),
    "stamped memory": Ablation("I", "zeroed for each line", "hours", lambda: line_tricks.trick("stamped memory")),
    "memory layout": Ablation("I", "[cell][group]", "[group][cell]", lambda: line_tricks.trick("memory [group][cell]")),
    "memory": Ablation("I", "all states, from the end", "states on demand", line_tricks.memory_or_sweep),
    "words of bits": Ablation("-", "the programmes above", "the kernel on words", line_tricks.bits),
    "counting bits": Ablation("I", "a loop", "an instruction", small_tricks.counting),
    "finding bits": Ablation("I", "cell by cell", "an instruction", small_tricks.finding),
    "flags as bytes": Ablation("I", "flags as bits", "flags as bytes", small_tricks.flags),
    "range questions": Ablation("I", "looking at cells", "a structure", lambda: ranges.ranges(ranges.ASKING)),
    "range marks": Ablation("I", "marking cell by cell", "a structure", lambda: ranges.ranges(ranges.SETTING)),
    "dead lines": Ablation(
        "I", "rounds", "rounds without solved lines", lambda: propagation.compare("rounds", "rounds, dead lines")
    ),
    "queue": Ablation(
        "I, P", "rounds without solved lines", "a queue", lambda: propagation.compare("rounds, dead lines", "queue")
    ),
    "priority": Ablation("P", "a queue", "most news first", lambda: propagation.compare("queue", "priority")),
    "line cache, programme": Ablation("I, P", "no cache", "a cache", lambda: probing.line_cache(programme=True)),
    "line cache, words": Ablation("I, P", "no cache", "a cache", lambda: probing.line_cache(programme=False)),
    "frontier first": Ablation("P", "row by row", "beside known cells", lambda: probing.orders(probing.FRONTIER)),
    "neighbours first": Ablation(
        "P", "row by row", "by the number of known neighbours", lambda: probing.orders(probing.NEIGHBOURS)
    ),
    "known lines first": Ablation(
        "P", "row by row", "by what row and column know", lambda: probing.orders(probing.LEARNT)
    ),
    "stale probes skipped": Ablation("P", "all repeated", "only where a line has changed", probing.skipping),
    "rule 3 for neighbours": Ablation(
        "A",
        "all pairs of blocks",
        "neighbouring blocks",
        lambda: sat.compare(PLAIN, sat.variant(sat.neighbours), turned=False),
    ),
    "order encoding": Ablation("A", "pairwise", "order", lambda: sat.compare(PLAIN, ORDER, turned=False)),
    "lines before SAT": Ablation("P, A", "raw", "after lines", lambda: sat.compare(ORDER, ORDER_AFTER_LINES)),
    "probes before SAT": Ablation(
        "P", "after lines", "after probes", lambda: sat.compare(ORDER_AFTER_LINES, ORDER_AFTER_PROBES)
    ),
    "phases": Ablation("-", "none", "belief propagation", lambda: sat.compare(ORDER_AFTER_PROBES, HINTED)),
    "learning search, white first": Ablation("-", "CaDiCaL", "prototype", lambda: learning.learning("lcg")),
    "learning search, black first": Ablation("-", "CaDiCaL", "prototype", lambda: learning.learning("lcgp")),
    "second solution near the first": Ablation(
        "A", "phases left alone", "phases of the first", lambda: sat.compare(ORDER, ORDER, off_how={"guided": False})
    ),
    "exclusion by inked cells": Ablation(
        "A", "by all cells", "by inked cells", lambda: sat.compare(ORDER, ORDER, off_how={"all_cells": True})
    ),
}


def section(name: str, ablation: Ablation) -> Iterator[str]:
    """The part of the report about one trick."""
    yield f"### {name} ({ablation.source})\n"
    yield f"| on | {ablation.without} | {ablation.with_} | ratio | verdict |"
    yield "|---|---|---|---|---|"
    verdicts: dict[str, int] = {}
    for row in ablation.rows():
        yield f"| {' | '.join(row.cells())} |"
        verdict = judged(row.ratio)
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
    total = sum(verdicts.values())
    yield f"\n{', '.join(f'{verdict} on {n} of {total}' for verdict, n in sorted(verdicts.items()))}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of an ablation; without one all are run")
    parser.add_argument("--list", action="store_true", help="list the names")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in ABLATIONS]
    if unknown:
        parser.error(f"expected names among {', '.join(ABLATIONS)}, found {unknown[0]}")
    for name, ablation in ABLATIONS.items():
        if options.list:
            print(f"{name}: {ablation.without} / {ablation.with_}")
        elif not options.names or name in options.names:
            for line in section(name, ablation):
                print(line, flush=True)


if __name__ == "__main__":
    main()
