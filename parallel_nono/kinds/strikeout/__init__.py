"""The crossing-out game: a strip of free (`O`) and crossed (`X`) cells; a move crosses K adjacent free cells, and who
cannot move loses. The solution says who wins, the Grundy value, and a winning first move.

Rows: `height` is 1, `width` is N, `outcome` is `solved`, `n_branches` counts positions (for Grundy values: how many
were needed). `solution` is a JSON object:

    winner  1, who moves first, or 2.
    grundy  the Grundy value of the strip; null from solvers that do without.
    move    the leftmost winning first move: the first of the K cells, from 1; null where there is none.
    period, period_from  of the Grundy values for this K, where that is proved by no more values than the game needs.
    solvers  with solver=all: what each of them took.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ...attempt import OUTCOMES, STAGES, Limits, Outcome
from .. import KINDS, Kind, Solved, usual_title
from .text import batches, holds_games, read
from .trials import LATE, SEARCHES, Trial, by_positions, by_values

SOLVERS = ("grundy", *SEARCHES)
OPTIONS = {
    "solver": f"one of {', '.join(SOLVERS)}; or all, which compares them",
    "cut": "yes or no: whether sorted and multiset leave a position when one of its moves wins",
}
SOLVED, STALLED, TIMEOUT = (OUTCOMES.index(o) for o in (Outcome.SOLVED, Outcome.STALLED, Outcome.TIMEOUT))
SHOWN = 72
"""Cells of a strip that are shown."""


def configure(options: dict[str, str]) -> Kind:
    """The kind with a solver. Errors: ValueError for one that there isn't."""
    solver, cut = options.get("solver", "grundy"), options.get("cut", "yes")
    if solver not in (*SOLVERS, "all"):
        raise ValueError(f"solver: expected {OPTIONS['solver']}; found {solver!r}")
    if cut not in ("yes", "no"):
        raise ValueError(f"cut: expected yes or no, found {cut!r}")
    return replace(KIND, solve=partial(solve, solvers=SOLVERS if solver == "all" else (solver,), cut=cut == "yes"))


def claims(name: str, head: Callable[[], bytes]) -> bool:
    """Files that are called so, and texts that begin with a game."""
    from ...formats import unpacked_name
    from ...formats.common.decode import decode

    return unpacked_name(name).endswith(KINDS["strikeout"]) or holds_games(decode(head(), name)[0])


def solve(
    chunk: pa.RecordBatch,
    limits: Limits,
    abort: np.ndarray,
    solvers: tuple[str, ...] = SOLVERS[:1],
    cut: bool = True,
) -> Solved:
    """All games of a chunk by each of the solvers; the first one's word is the solution.

    A solver has `limits.seconds` for a game; the table of Grundy values, for all games of one K together.
    """
    trials: list[list[Trial]] = [[] for _ in range(chunk.num_rows)]
    for name in solvers:
        judged = by_values(chunk, limits, abort) if name == "grundy" else by_positions(chunk, limits, abort, name, cut)
        for of_game, trial in zip(trials, judged, strict=True):
            of_game.append(trial)
    firsts = [of_game[0] for of_game in trials]
    stage = STAGES.index("table" if solvers[0] == "grundy" else "search")
    columns = {
        "outcome": np.array([SOLVED if t.verdict else TIMEOUT if t.why == LATE else STALLED for t in firsts], np.int8),
        "stage": np.full(len(trials), stage, np.int8),
        "n_solutions": np.array([t.verdict is not None for t in firsts], np.int64),
        "n_branches": np.array([t.verdict.n_states if t.verdict else 0 for t in firsts], np.int64),
        "solution": pa.array([_solution(of_game) for of_game in trials], pa.string()),
        "error": pa.array(["" if t.verdict or t.why == LATE else f"{t.solver}: {t.why}" for t in firsts], pa.string()),
        "solve_s": np.array([sum(t.seconds for t in of_game) for of_game in trials]),
    }
    finished = np.array([all(trial.why != LATE for trial in of_game) for of_game in trials], bool)
    return Solved(columns, trials, bool(abort[0]), finished)


def _solution(trials: list[Trial]) -> str:
    """The column `solution`."""
    verdict = trials[0].verdict
    if verdict is None:
        return ""
    facts: dict[str, Any] = {
        "winner": verdict.winner,
        "grundy": verdict.grundy if verdict.grundy >= 0 else None,
        "move": verdict.move + 1 if verdict.move >= 0 else None,
    }
    if verdict.period:
        facts |= {"period": verdict.period, "period_from": verdict.period_from}
    if len(trials) > 1:
        facts["solvers"] = {
            t.solver: ({"states": t.verdict.n_states} if t.verdict else {"refused": t.why}) | {"seconds": t.seconds}
            for t in trials
        }
    return json.dumps(facts, separators=(",", ":"))


def check(chunk: pa.RecordBatch, trials: list[list[Trial]]) -> list[tuple[int, str]]:
    """Every verdict of every solver by `check.strikeout`, which looks at the values of runs for itself."""
    from .checker import Claim, faults
    from .table import certificate

    strips, takes = (chunk.column(column).to_pylist() for column in ("strip", "take"))
    places, made = [], []
    for place, of_game in enumerate(trials):
        for trial in of_game:
            if trial.verdict:
                places.append(place)
                made.append(Claim(strips[place], takes[place], *trial.verdict[:3]))
    return [(places[claim], why) for claim, why in faults(made, certificate)]


def show(chunk: pa.RecordBatch, row: Mapping[str, Any]) -> list[str]:
    """The strip, the winner, the move on the strip, and what it took."""
    strip, take = (chunk.column(column)[0].as_py() for column in ("strip", "take"))
    lines = [usual_title(chunk, 0), _excerpt(strip)]
    if not row["solution"]:
        return [*lines, f"Not decided: {row['error'] or 'out of time'}."]
    solution = json.loads(row["solution"])
    value = "" if solution["grundy"] is None else f" Grundy value {solution['grundy']}."
    move = solution["move"]
    if move is None:
        lines.append(f"Player 2 wins: every first move loses.{value}")
    else:
        last = move + take - 1
        lines.append(
            f"Player 1 wins, for one by crossing {'cell' if take == 1 else 'cells'} {_span(move, last)}.{value}"
        )
        lines.append(_excerpt(strip[: move - 1] + "#" * take + strip[last:], move - 1))
    if "period" in solution:
        period = f"period {solution['period']:,} from runs of {solution['period_from']:,} cells on"
        lines.append(f"The Grundy values for K = {take} have {period} (proved).")
    for name, facts in solution.get("solvers", {}).items():
        found = facts.get("refused") or f"{facts['states']:,} positions"
        lines.append(f"  {name:<9}{facts['seconds']:>12.6f} s  {found}")
    return lines


def _span(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _excerpt(strip: str, around: int = 0) -> str:
    """A strip, or what is to be seen of a long one."""
    start = max(0, min(around - SHOWN // 2, len(strip) - SHOWN))
    shown = strip[start : start + SHOWN]
    return f"{'...' if start else ''}{shown}{'...' if start + SHOWN < len(strip) else ''}"


def make(height: int, width: int, seed: int, options: Mapping[str, str]) -> str:
    """A game of `width` cells. Errors: ValueError for options that are no numbers in their range."""
    from ...generator.fields import below, pick, random_of

    numbers = {}
    for name, most in (("take", 999_999_999), ("crossed", 100)):
        word = options[name]
        if not (word.isascii() and word.isdecimal() and int(word) <= most):
            raise ValueError(f"expected {name} from 0 to {most:,}, found {word!r}")
        numbers[name] = int(word)
    random = random_of("strikeout", 1, width, seed)
    take = numbers["take"] or pick(random, 1, min(10, max(1, width)))
    crossed = below(random, 100, width) < numbers["crossed"]
    return f"{width} {take}\n{''.join(np.where(crossed, 'X', 'O').tolist())}\n"


KIND = Kind(
    "strikeout",
    read,
    usual_title,
    solve,
    check,
    batches=batches,
    claims=claims,
    options=OPTIONS,
    configure=configure,
    compiled="strikeout.judge",
    show=show,
    make=make,
    makes={"take": "0", "crossed": "25"},
    noun="game",
)
