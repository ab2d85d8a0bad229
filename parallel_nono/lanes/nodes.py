"""Lines mode over several nodes: no memory is shared there, so each node keeps a replica and only changes travel.

A leader on every other node holds the planes of each puzzle and a team of its own. In a round it is told what all other
nodes solved in the round before (words of planes that changed), merges them with its own, as everybody does, and
solves its share of the waiting lines; what these lost goes back. All replicas are the same after each merge.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kernels.clues import Clues
from .arena import Arena, WorkArrays
from .rounds import Delta, Rounds
from .team import READY_S, SLOTS, Actors

Share = tuple[np.ndarray, Delta, np.ndarray]
"""Lines, what they lost, their states."""


class Leader:
    """What runs on another node; an actor class once `ray.remote` has wrapped it."""

    def __init__(self, n_workers: int) -> None:
        import ray

        from ..start import prepare
        from .compiling import compile_lanes

        prepare()
        compile_lanes()
        self._ray = ray
        self._team = Actors(ray, n_workers, ray.get_runtime_context().get_node_id())
        self._team.await_ready(READY_S)
        self._puzzles: dict[int, tuple[int, Rounds]] = {}

    def hello(self) -> dict[str, str]:
        """Versions, as the driver's."""
        from ..engine.worker import VERSIONS

        return VERSIONS

    def open(self, puzzle: int, clues: Clues, scratch: int) -> None:
        """A new puzzle: everything is possible."""
        arena = Arena.of(clues, 0, scratch, self._team.n_workers + 1, True)
        rounds = Rounds(arena, WorkArrays(arena, self._team.n_workers), puzzle)
        rounds.begin()
        rounds.follow()
        slot = min(set(range(SLOTS)) - {slot for slot, _ in self._puzzles.values()})
        self._puzzles[puzzle] = slot, rounds
        self._team.show(slot, puzzle, arena)

    def solve_lines(self, puzzle: int, found: list[Share], lines: np.ndarray) -> tuple[Delta, np.ndarray, int]:
        """Merge what others found in the last round with what was found here; then solve these lines.

        Returns what they lost, their states, and the nanoseconds of CPU that the puzzle took here so far.
        """
        _, rounds = self._puzzles[puzzle]
        for share, delta, states in found:
            rounds.apply(delta, states, share)
        if rounds.merge():
            self._wait(rounds)
            rounds.merged()
        rounds.n_round += 1
        rounds.take(lines)
        if len(lines):
            rounds.solve_lines()
            self._wait(rounds)
        return *rounds.changes(lines), rounds.spent.lines + rounds.spent.merge

    def close(self, puzzle: int) -> None:
        """It is done."""
        slot, rounds = self._puzzles.pop(puzzle)
        self._team.hide(slot, puzzle)
        rounds.arena.close()

    def _wait(self, rounds: Rounds) -> None:
        looked = time.monotonic()
        while not rounds.done():
            if time.monotonic() - looked > 0.2:
                looked = time.monotonic()
                for number in self._team.lost():
                    for _, other in self._puzzles.values():
                        other.bury(number)
                    self._team.replace(number)
            time.sleep(rounds.nap())


@dataclass
class Remote:
    """A leader as the coordinator sees it.

    alive   False once its node, or it, was lost.
    cpu_ns  by puzzle, what it has said so far.
    """

    ray: Any
    leader: Any
    n_workers: int
    alive: bool = True
    cpu_ns: dict[int, int] = field(default_factory=dict)
    _asked: dict[int, Any] = field(default_factory=dict)
    _told: dict[int, list[Share]] = field(default_factory=dict)
    _mine: dict[int, np.ndarray] = field(default_factory=dict)

    def open(self, puzzle: int, arena: Arena) -> None:
        """Send a puzzle there."""
        self._told[puzzle] = []
        self.leader.open.remote(puzzle, arena.clues, arena.shape.scratch)

    def solve_lines(self, puzzle: int, lines: np.ndarray) -> None:
        """Have these lines solved, after telling what was found elsewhere."""
        self._asked[puzzle] = self.leader.solve_lines.remote(puzzle, self._told[puzzle], lines)
        self._told[puzzle], self._mine[puzzle] = [], lines

    def answered(self, puzzle: int) -> bool:
        """True when `answer` need not wait."""
        ready, _ = self.ray.wait([self._asked[puzzle]], timeout=0)
        return bool(ready)

    def answer(self, puzzle: int) -> tuple[Delta, np.ndarray] | None:
        """What these lines lost, and their states; None if the node is lost."""
        try:
            delta, states, self.cpu_ns[puzzle] = self.ray.get(self._asked.pop(puzzle))
        except self.ray.exceptions.RayTaskError:
            raise  # our own fault, not the node's
        except self.ray.exceptions.RayError:
            self.alive = False
            return None
        return Delta(*delta), states

    def tell(self, puzzle: int, share: Share) -> int:
        """What was found in this round by somebody; its own is left out. Returns the bytes that will travel."""
        if share[0] is self._mine.get(puzzle):
            return 0
        self._told[puzzle].append(share)
        return int(share[0].nbytes + share[1].n_bytes + share[2].nbytes)

    def forget(self, puzzle: int) -> None:
        """It is done."""
        known = self._told.pop(puzzle, None)
        self._asked.pop(puzzle, None)
        self._mine.pop(puzzle, None)
        self.cpu_ns.pop(puzzle, None)
        if known is not None and self.alive:
            self.leader.close.remote(puzzle)

    def close(self) -> None:
        """End the leader, and with it its workers."""
        self._told.clear()
        try:
            self.ray.kill(self.leader)
        except (self.ray.exceptions.RayError, ValueError):  # its node is gone
            self.alive = False


def remotes_of(ray: Any, here: str, n_workers: int) -> tuple[list[Remote], int]:
    """Leaders on the other nodes of the cluster, each with as many workers as its cores allow, until there are
    `n_workers` with those of this node; and how many those are. Errors: EngineError."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from ..engine import EngineError
    from ..engine.worker import VERSIONS

    cores = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]}
    n_here = min(n_workers, max(cores.pop(here, 0), 1))
    left, remotes = n_workers - n_here, []
    for node, n_cores in sorted(cores.items()):
        n = min(left, n_cores)
        if n <= 0:
            continue
        left -= n
        there = NodeAffinitySchedulingStrategy(node, soft=False)
        leader = ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0, scheduling_strategy=there)(Leader)
        remotes.append(Remote(ray, leader.remote(n), n))
    for remote in remotes:
        try:
            versions = ray.get(remote.leader.hello.remote())
        except ray.exceptions.RayError as error:
            raise EngineError(f"lines mode can't begin on another node: {type(error).__name__}") from error
        if versions != VERSIONS:
            raise EngineError(f"another node: expected {VERSIONS}, found {versions}")
    return remotes, n_here + left
