"""Lines mode: the same grids, rounds and visits for any number of workers, threads or processes, whatever happens."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import strategies
from console import pnono
from hypothesis import example, given, settings
from oracles import solved_grid
from processes import title

from parallel_nono.attempt import OUTCOMES, Limits
from parallel_nono.engine import engine
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.work import Work
from parallel_nono.generator import generate, generate_huge
from parallel_nono.kernels import lanes as kernels
from parallel_nono.kernels.board import OPEN
from parallel_nono.kinds import kind
from parallel_nono.lanes import coordinator, ready
from parallel_nono.lanes import run as lanes_run
from parallel_nono.lanes.arena import Arena, WorkArrays
from parallel_nono.lanes.auto import WhenWorthIt, with_lines
from parallel_nono.lanes.compiling import compile_lanes
from parallel_nono.lanes.coordinator import Coordinator
from parallel_nono.lanes.rounds import Phase, Rounds
from parallel_nono.lanes.shifts import Shifts
from parallel_nono.lanes.team import Threads
from parallel_nono.puzzle import Block, Puzzle
from parallel_nono.puzzleset import clues_of, plain_palette, set_of
from parallel_nono.solver import solve_set
from parallel_nono.solver.results import Propagated, Results

ONLY_LINES = Limits(plan=("line",))
IN_ROUNDS = Limits(plan=("line",), order="rounds")
COLUMNS = ("outcome", "stage", "n_solutions", "n_open", "n_open_lines", "n_rounds", "n_lines", "cells")


@pytest.fixture(scope="module")
def two() -> Iterator[Coordinator]:
    """A coordinator with two threads."""
    compile_lanes()
    found = Coordinator(Threads(2))
    yield found
    assert found.close(5.0)


def same(a: Results, b: Results, columns: tuple[str, ...] = COLUMNS) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in columns) and a.witness == b.witness


def solved(batch: pa.RecordBatch, coordinator: Coordinator, limits: Limits = ONLY_LINES) -> Propagated:
    """What a coordinator makes of the first puzzle of a set."""
    found: list[Propagated] = []

    class Note:
        takes = coordinator.takes

        def propagate(self, *arguments: Any) -> Propagated:
            found.append(coordinator.propagate(*arguments))
            return found[0]

    solve_set(batch, limits, lines=Note())
    return found[0]


@given(puzzle=strategies.puzzles() | strategies.blotted_puzzles())
@example(puzzle=Puzzle(((Block(1, 1),),), ((Block(1, 2),),), plain_palette(3)))  # no colour is left for the cell
@example(puzzle=Puzzle(((Block(2),), ()), ((Block(1),), (Block(1),))))
def test_every_small_puzzle_ends_as_with_rounds_on_one_thread(two: Coordinator, puzzle: Puzzle) -> None:
    batch = set_of([puzzle])
    alone, shared = solve_set(batch, IN_ROUNDS), solve_set(batch, IN_ROUNDS, lines=two)
    if "no colour" in shared.witness[0]:  # one thread names the row only
        assert alone.witness[0].split(":")[0] == shared.witness[0].split(",")[0]
        alone.witness = shared.witness
    assert same(alone, shared)
    swept, swept_alone = solve_set(batch, ONLY_LINES, lines=two), solve_set(batch, ONLY_LINES)
    assert same(swept, swept_alone)


@given(puzzle=strategies.puzzles())
@settings(max_examples=40)
def test_the_grid_is_that_of_the_plain_fixpoint(two: Coordinator, puzzle: Puzzle) -> None:
    found, plain = solve_set(set_of([puzzle]), ONLY_LINES, lines=two), solved_grid(puzzle)
    if plain is None:
        assert found.outcome[0] == OUTCOMES.index("contradiction")
        return
    cells = [next(iter(allowed)) if len(allowed) == 1 else 65535 for row in plain for allowed in row]
    assert found.cells[0].tolist() == cells


@pytest.mark.parametrize(
    ("kind", "size", "options"),
    [
        ("blobs", (130, 200), {}),
        ("noise", (70, 90), {"density": 75}),
        ("confetti", (40, 70), {"inks": 4}),
        ("blobs", (3, 1500), {}),
    ],
)
def test_one_to_eight_workers_make_the_same_planes_rounds_and_visits(
    kind: str, size: tuple[int, int], options: dict[str, int]
) -> None:
    batch = set_of([generate(kind, *size, seed=5, **options)])
    for limits in (IN_ROUNDS, ONLY_LINES):
        alone = solve_set(batch, limits)
        found = []
        for n_workers in (1, 2, 4, 8):
            coordinator = Coordinator(Threads(n_workers))
            found.append(solved(batch, coordinator, limits))
            assert coordinator.close(5.0)
        first = found[0]
        assert (first.n_rounds, first.n_lines) == (alone.n_rounds[0], alone.n_lines[0])
        for other in found[1:]:
            assert (first.n_rounds, first.n_lines, first.status) == (other.n_rounds, other.n_lines, other.status)
            assert np.array_equal(first.planes, other.planes)


def test_counts_of_the_survey_are_the_published_ones(shared: Path, two: Coordinator) -> None:
    import csv

    from parallel_nono.files.reading import read_many

    paths = sorted((shared / "data/wolter_survey/sample-simpson").glob("*.non"))
    batch = read_many([(path.name, path.read_bytes()) for path in paths])
    with (shared / "truth/fixpoints_survey.csv").open(newline="") as file:
        truth = {row["puzzle"]: row for row in csv.DictReader(file)}
    found = solve_set(batch, IN_ROUNDS, lines=two)
    fewer = solve_set(batch, ONLY_LINES, lines=two)
    for place, path in enumerate(paths):
        row = truth[path.stem]
        counts = found.n_rounds[place], found.n_lines[place], found.n_open[place]
        assert counts == tuple(int(row[c]) for c in ("rounds", "line_calls_rounds", "unknown_cells")), path.stem
    assert same(fewer, solve_set(batch, ONLY_LINES))
    assert np.array_equal(found.cells, fewer.cells)
    assert fewer.n_lines.sum() < found.n_lines.sum() / 3


def of_clues(rows: list[list[int]], columns: list[list[int]]) -> pa.RecordBatch:
    from parallel_nono.puzzle import Block

    clues = [[tuple(Block(length, 1) for length in clue) for clue in side] for side in (rows, columns)]
    return set_of([Puzzle(tuple(clues[0]), tuple(clues[1]))])


def test_a_cell_without_colours_after_a_merge_is_a_contradiction_with_its_row_and_column(two: Coordinator) -> None:
    found = solve_set(of_clues([[], [3], []], [[1], [], [2]]), IN_ROUNDS, lines=two)
    assert OUTCOMES[found.outcome[0]] == "contradiction"
    assert found.witness[0].startswith("row 2, column 2: ")
    assert (found.n_rounds[0], found.n_lines[0], found.n_solutions[0]) == (1, 6, 0)


def test_a_line_without_a_layout_is_named(two: Coordinator) -> None:
    batch = of_clues([[1, 1], [1, 1], [2], [1, 1]], [[1, 1], [1], [2], [2, 1]])
    alone, found = solve_set(batch, IN_ROUNDS), solve_set(batch, IN_ROUNDS, lines=two)
    assert OUTCOMES[found.outcome[0]] == "contradiction"
    assert found.witness == ["column 3: no arrangement agrees with the crossing lines"]
    assert same(alone, found, ("n_rounds", "n_lines"))


def test_what_lines_leave_open_goes_on_to_probes_search_and_sat(two: Coordinator) -> None:
    batch = set_of([generate("noise", 20, 20, seed=seed, density=55) for seed in range(30)])
    alone, found = solve_set(batch, Limits()), solve_set(batch, Limits(), lines=two)
    assert set(found.stage.tolist()) >= {1, 2, 3}
    assert same(alone, found, ("outcome", "stage", "n_solutions", "n_open", "n_open_lines", "exhausted"))


def test_the_order_of_rounds_changes_no_verdict_of_any_stage(two: Coordinator) -> None:
    batch = set_of([generate("noise", 15, 15, seed=seed, density=55) for seed in range(20)])
    alone, found = solve_set(batch, Limits()), solve_set(batch, Limits(order="rounds"), lines=two)
    assert same(alone, found, ("outcome", "stage", "n_solutions", "n_open"))


class Phases(Shifts):
    """Keeps every phase, and writes nothing down."""

    def __init__(self) -> None:
        self.noted: list[Phase] = []

    def note(self, phase: Phase) -> None:
        self.noted.append(phase)

    def tell(self, until: int, last: bool = False) -> None:
        pass


def test_while_one_puzzle_is_between_its_rounds_workers_are_at_another() -> None:
    from concurrent.futures import ThreadPoolExecutor

    batches = [set_of([generate("noise", 300, 300, seed=seed, density=92)]) for seed in range(2)]
    until = time.monotonic() + 120
    while time.monotonic() < until:  # on a machine with one free core one is mostly over before the other begins
        phases = Phases()
        coordinator = Coordinator(Threads(2), shifts=phases)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(partial(solve_set, limits=ONLY_LINES, lines=coordinator), batches))
        assert coordinator.close(5.0)
        solving = [phase for phase in phases.noted if phase.what == kernels.SOLVE and len(phase.jobs)]
        for number in (1, 2):
            mine = [phase for phase in solving if phase.puzzle == number]
            others = np.concatenate([phase.jobs for phase in solving if phase.puzzle != number])
            for before, after in pairwise(mine):
                over, begun = before.jobs[:, 2].max(), after.jobs[:, 1].min()
                assert over <= begun  # a phase begins when the one before is over
                gap = (others[:, 2] > over) & (others[:, 1] < begun)
                if gap.any() and before.n_round < after.n_round:
                    return
    raise AssertionError("no job of one puzzle between two rounds of the other")


def test_without_the_memory_nothing_is_begun_and_the_need_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes = Coordinator(Threads(1))
    monkeypatch.setattr(coordinator, "_free", lambda: 1 << 20)
    results = solve_set(generate_huge("noise", 2000, 2000), ONLY_LINES, lines=lanes)
    assert OUTCOMES[results.outcome[0]] == "stalled"
    assert results.witness[0].startswith("needs 0.0")
    assert results.witness[0].endswith("GiB of memory that workers share, 0.00 GiB are free")
    assert results.n_lines[0] == 0
    assert lanes.close(5.0)


def test_a_limit_and_a_stop_end_a_puzzle_between_two_lines() -> None:
    batch = generate_huge("noise", 3000, 3000, density=50)
    coordinator = Coordinator(Threads(2))
    began = time.monotonic()
    results = solve_set(batch, Limits(seconds=0.05, plan=("line",)), lines=coordinator)
    assert OUTCOMES[results.outcome[0]] == "timeout"
    stop = np.ones(1, np.int64)
    assert solve_set(batch, ONLY_LINES, stop, lines=coordinator).aborted
    assert time.monotonic() - began < 20
    assert coordinator.close(5.0)


def test_a_job_whose_worker_died_is_done_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = set_of([generate("blobs", 130, 200, seed=5)])
    clues = clues_of(batch)
    results = []
    for dies in (False, True):
        arena = Arena.of(clues, 0, 4096, 3, True)
        rounds = Rounds(arena, WorkArrays(arena, 2))
        worker = WorkArrays(arena, 0)
        rounds.begin()
        counts = []
        while True:
            n = rounds.plan(0, 330, False)
            if not n:
                break
            rounds.n_round += 1
            counts.append(n)
            rounds.solve_lines()
            results_of(rounds, worker, dies and rounds.n_round % 2 == 1)
            if not rounds.merge():
                break
            results_of(rounds, worker, dies and rounds.n_round % 2 == 0)
        results.append((counts, arena.lanes.planes.copy(), arena.lanes.states.copy()))
        arena.close()
    assert results[0][0] == results[1][0]
    assert np.array_equal(results[0][1], results[1][1])
    assert np.array_equal(results[0][2], results[1][2])


def results_of(rounds: Rounds, worker: WorkArrays, dies: bool) -> None:
    """One phase: `worker` takes the first job and is gone, or does everything."""
    lanes = rounds.arena.lanes
    if dies:
        lanes.control[kernels.BUSY] = 1
        lanes.control[kernels.TICKET] += 1  # it took a job, and never came back
        rounds._small = False
        WorkArrays(rounds.arena, 1).serve(1 << 20)
        assert not rounds.done()
        assert rounds.busy() == [0]
        rounds.bury(0)
        assert rounds.busy() == []
        assert not rounds.done()  # takes back what nobody has
        assert not rounds.done()  # hands it out again
    worker.serve(1 << 20)
    assert rounds.done()


@pytest.mark.slow
def test_another_process_finds_an_arena_by_its_number_and_nothing_stays_behind(tmp_path: Path) -> None:
    clues = clues_of(set_of([generate("blobs", 30, 70, seed=1)]))
    arena = Arena.of(clues, 0, 256, 2, True)
    code = (
        "import sys; from parallel_nono.lanes.arena import Arena\n"
        "arena = Arena.at(int(sys.argv[1]), int(sys.argv[2])); arena.lanes.planes[0] = 77\n"
        "print(arena.shape, int(arena.clues.lengths.sum()))"
    )
    command = [sys.executable, "-c", code, str(os.getpid()), str(arena.handle)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert output == f"{arena.shape} {int(clues.lengths.sum())}"
    assert arena.lanes.planes[0] == 77
    arena.close()
    with pytest.raises(OSError, match=r"No such file"):
        Arena.at(os.getpid(), 10_000)
    assert not list(Path("/dev/shm").glob("pnono*"))


def test_auto_leaves_small_puzzles_alone_and_stays_behind_when_work_travels() -> None:
    import pickle

    worth = WhenWorthIt(2, least=2000)
    assert not worth.takes(30, 30)
    assert worth.takes(50, 40)
    assert not WhenWorthIt(1).takes(20_000, 20_000)
    assert pickle.loads(pickle.dumps(worth)) is None
    batch = set_of([generate("blobs", 50, 60, seed=2)])
    assert same(solve_set(batch, IN_ROUNDS), solve_set(batch, IN_ROUNDS, lines=worth))
    assert worth.close(5.0)


# With Ray, and with several nodes: a driver process of its own for each.

DRIVER = """
import json, sys, threading, time
import numpy as np, psutil, pyarrow.parquet as pq
from parallel_nono.attempt import Limits
from parallel_nono.lanes import run as lines
from parallel_nono.engine.session import Pool, Session
from parallel_nono.solver import solve_set

def main():
    path, workers, kill, nodes = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    batch = pq.read_table(path).combine_chunks().to_batches()[0]
    cluster = None
    session = Session(Pool(workers))
    if nodes:
        import os
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        os.environ["RAY_AUTH_MODE"] = "disabled"
        from ray.cluster_utils import Cluster
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        others = [cluster.add_node(num_cpus=1) for _ in range(nodes - 1)]
        session = Session(Pool(workers, cluster.address, insecure=True))
    lanes = lines.coordinator(session, "ray")
    killed = []
    def killer():
        while not killed:
            time.sleep(0.02)
            if not lanes._propagations:
                continue
            time.sleep(float(kill.split(":")[1]))
            if kill.startswith("node"):
                pid = others[-1].all_processes["raylet"][0].process.pid
                psutil.Process(pid).kill()
                killed.append(pid)
                return
            for process in psutil.Process().children(recursive=True):
                if "Lane" in " ".join(process.cmdline()):
                    process.kill()
                    killed.append(process.pid)
                    return
    if kill != "no":
        threading.Thread(target=killer, daemon=True).start()
    results = solve_set(batch, Limits(plan=("line",), seconds=200), lines=lanes)
    found = {name: getattr(results, name).tolist() for name in ("outcome", "n_rounds", "n_lines", "n_open")}
    places = np.arange(results.cells.shape[1], dtype=np.uint64)
    found["cells"] = int(np.bitwise_xor.reduce(results.cells[0].astype(np.uint64) * places))
    found["killed"] = len(killed)
    until = time.monotonic() + 20  # Ray may hear of a death once the puzzle is done
    while kill.startswith("actor") and not lanes._team.n_lost and time.monotonic() < until:
        lanes._team.lost()
        time.sleep(0.05)
    found["lost"] = lanes._team.n_lost
    found["bytes"] = sum(spent.bytes for spent in lanes.spent.values())
    found["remotes"] = [remote.alive for remote in lanes._remotes]
    lanes.close(5.0)
    if cluster is not None:
        cluster.shutdown()
    print(json.dumps(found), flush=True)

main()
"""


def drive(tmp_path: Path, batch: pa.RecordBatch, workers: int, kill: str = "no", nodes: int = 0) -> dict[str, Any]:
    """What a driver process finds; several nodes live in a network namespace of their own."""
    set_path, code = tmp_path / "set.parquet", tmp_path / "driver.py"
    pq.write_table(pa.Table.from_batches([batch]), set_path)
    code.write_text(DRIVER)
    command = [sys.executable, str(code), str(set_path), str(workers), kill, str(nodes)]
    if nodes:
        command = [
            "unshare",
            "-n",
            "-p",
            "-f",
            "--mount-proc",
            "sh",
            "-c",
            'ip link set lo up; exec "$@"',
            "sh",
            *command,
        ]
    output = subprocess.run(command, capture_output=True, text=True, timeout=280, cwd=tmp_path)
    assert output.returncode == 0, output.stderr[-3000:]
    found: dict[str, Any] = json.loads(output.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def large() -> tuple[pa.RecordBatch, dict[str, Any]]:
    """A puzzle of some tenths of a second, and what one thread makes of it."""
    batch = generate_huge("noise", 1200, 1200, seed=3, density=88)
    coordinator = Coordinator(Threads(1))
    results = solve_set(batch, ONLY_LINES, lines=coordinator)
    assert coordinator.close(5.0)
    places = np.arange(results.cells.shape[1], dtype=np.uint64)
    return batch, {
        **{name: getattr(results, name).tolist() for name in ("outcome", "n_rounds", "n_lines", "n_open")},
        "cells": int(np.bitwise_xor.reduce(results.cells[0].astype(np.uint64) * places)),
    }


@pytest.mark.ray
@pytest.mark.slow
def test_an_actor_killed_in_the_midst_of_its_jobs_changes_nothing(tmp_path: Path, large: Any) -> None:
    batch, truth = large
    for kill in ("no", "actor:0.05"):
        found = drive(tmp_path, batch, 2, kill)
        assert {name: found[name] for name in truth} == truth
        assert found["killed"] == found["lost"] == (kill != "no")


UNSHARE = ("unshare", "-n", "-p", "-f", "--mount-proc")
"""Network and processes of its own: nothing listens outside, and the system ends whatever is left."""


def can_unshare() -> bool:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "kill"), [(2, "no"), (3, "node:0.05")])
def test_over_several_nodes_only_changes_travel_and_a_lost_node_changes_nothing(
    tmp_path: Path, large: Any, nodes: int, kill: str
) -> None:
    if not can_unshare():
        pytest.skip("needs the right to make network namespaces (root), and the programs unshare and ip")
    batch, truth = large
    found = drive(tmp_path, batch, nodes, kill, nodes)
    assert {name: found[name] for name in truth} == truth
    assert len(found["remotes"]) == nodes - 1
    assert 0 < found["bytes"] < 4 * 2 * 2 * batch.column("height")[0].as_py() ** 2 // 8
    if kill != "no":
        assert found["remotes"].count(False) == 1


@pytest.mark.ray
@pytest.mark.slow
def test_a_run_in_lines_mode_has_the_rows_of_any_other(tmp_path: Path) -> None:
    from parallel_nono.cli import entry  # noqa: F401 - the command exists

    for n in range(3):
        (tmp_path / f"{n}.non").write_text(text_of(generate("blobs", 60, 80, seed=n)))
    (tmp_path / "broken.non").write_text("width 3\nheight x\n")
    found = []
    for name, mode in (("local", "puzzles"), ("local", "lines"), ("ray", "lines")):
        out = tmp_path / f"{name}-{mode}"
        command = [Path(sys.executable).with_name("pnono"), "run", str(tmp_path), "--out", out, "--mode", mode]
        process = subprocess.run(
            [*map(str, command), "--engine", name, "--workers", "2"], capture_output=True, text=True, timeout=200
        )
        assert process.returncode == 0, process.stderr
        assert not list(Path("/dev/shm").glob("pnono*"))
        table = pq.read_table(out / "rows").select(["source", "outcome", "stage", "n_solutions", "n_open", "solution"])
        found.append(sorted(json.dumps(row) for row in table.to_pylist() if row["source"].endswith(".non")))
        assert f"{mode} mode" in process.stdout or mode == "puzzles"
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 4


def text_of(puzzle: Puzzle) -> str:
    from parallel_nono.formats import format_named

    return str(format_named("non").write([puzzle]))


def children(process: psutil.Process) -> list[psutil.Process]:
    return process.children(recursive=True)


# What the rows say.


def rows_in_lines_mode(workers: int) -> list[dict[str, Any]]:
    """Rows of three puzzles by threads; what the coordinator spent is the figure to compare with."""
    batch = set_of([replace(generate("blobs", 90, 90, seed=seed), name=str(seed)) for seed in range(3)])
    session = Session(Pool(workers))
    batches = lanes_run.run(Work(kind("nonogram"), Limits()), Feed(iter([batch]), workers), session)
    return [row for rows in batches for row in rows.to_pylist()]


def test_cpu_of_a_shared_puzzle_is_that_of_all_its_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[float] = []
    land = Coordinator._land

    def landed(self: Coordinator, propagation: Any) -> None:
        land(self, propagation)
        spent.append((self.spent[propagation.number].lines + self.spent[propagation.number].merge) / 1e9)

    ready.compile_all()  # may solve a puzzle
    monkeypatch.setattr(lanes_run, "compile_all", lambda: None)
    monkeypatch.setattr(Coordinator, "_land", landed)
    rows = rows_in_lines_mode(2)
    assert len(rows) == len(spent) == 3
    for row in rows:
        assert (row["engine"], row["mode"], row["worker"]) == ("local", "lines", "2 threads")
        assert min(abs(row["cpu_s"] - each) for each in spent) <= row["solve_s"] - row["line_s"] + 1e-6
        assert row["cpu_s"] >= min(spent) > 0
        assert row["chunk_cpu_s"] >= row["cpu_s"] * 0.999
        assert 0 < row["peak_mib"] < 1e6


@pytest.mark.slow
def test_compiling_and_starting_are_nobodys_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In lines mode, and where a run turned to it by itself."""
    compile_all = ready.compile_all

    def slow() -> None:
        time.sleep(1.5)
        compile_all()

    monkeypatch.setattr(lanes_run, "compile_all", slow)
    rows = rows_in_lines_mode(2)
    worth = WhenWorthIt(2, least=1)
    work_ = with_lines(Work(kind("nonogram"), Limits()), worth)
    batch = set_of([generate("blobs", 90, 90, seed=9)])
    batches = engine("local")(work_, Feed(iter([batch]), 1), Session(Pool(1)))
    rows += [row for each in batches for row in each.to_pylist()]
    assert worth.close(5.0)
    assert [row["mode"] for row in rows] == ["lines"] * 4
    assert max(row["solve_s"] for row in rows) < 1.0


def test_a_run_that_turns_to_lines_mode_says_so_of_the_puzzles_that_it_did() -> None:
    worth = WhenWorthIt(2, least=5000)
    batch = set_of([generate("blobs", size, size, seed=1) for size in (20, 90)])
    batches = engine("local")(
        with_lines(Work(kind("nonogram"), Limits()), worth), Feed(iter([batch]), 1), Session(Pool(1))
    )
    rows = {row["height"]: row for each in batches for row in each.to_pylist()}
    assert worth.close(5.0)
    assert {size: row["mode"] for size, row in rows.items()} == {20: "puzzles", 90: "lines"}
    assert rows[90]["worker"] == "2 threads"
    assert rows[20]["worker"].endswith(".0")


@pytest.mark.ray
@pytest.mark.slow
def test_actors_that_start_slowly_cost_no_puzzle_its_time(tmp_path: Path) -> None:
    (tmp_path / "in.non").write_text(text_of(generate("blobs", 90, 90, seed=1)))
    began = time.monotonic()
    pnono("run", "in.non", "--mode", "lines", "--engine", "ray", "--workers", 2, "--out", "out", cwd=tmp_path)
    took = time.monotonic() - began
    (row,) = pq.read_table(tmp_path / "out/rows").to_pylist()
    assert (row["engine"], row["mode"], row["worker"]) == ("ray", "lines", "2 actors")
    assert row["solve_s"] < took / 2  # Ray and its actors took the most
    assert row["peak_mib"] > 0


@pytest.mark.slow
def test_an_order_is_not_changed_under_way(tmp_path: Path) -> None:
    (tmp_path / "in.non").write_text(text_of(generate("blobs", 90, 90, seed=1)))
    words = ("run", "in.non", "--mode", "lines", "--workers", 2, "--out", "out")
    pnono(*words, "--order", "rounds", cwd=tmp_path)
    done = pnono(*words, "--resume", cwd=tmp_path, code=2)
    assert "order was 'rounds'" in done.stderr
    facts = json.loads((tmp_path / "out/run.json").read_text())
    assert facts["options"]["order"] == "rounds"


@pytest.mark.ray
@pytest.mark.slow
def test_a_driver_that_is_killed_leaves_neither_memory_nor_processes(tmp_path: Path, large: Any) -> None:
    batch, _ = large
    set_path, code = tmp_path / "set.parquet", tmp_path / "driver.py"
    pq.write_table(pa.Table.from_batches([batch] * 1), set_path)
    code.write_text(DRIVER.replace("batch = pq", "print('up', flush=True); batch = pq"))
    driver = subprocess.Popen([sys.executable, str(code), str(set_path), "2", "no", "0"], stdout=subprocess.PIPE)
    watched = psutil.Process(driver.pid)
    wait_for(lambda: any("Lane" in title(child) for child in children(watched)), 60)
    lanes = [child for child in children(watched) if "Lane" in title(child)]
    driver.kill()
    driver.wait()
    _, alive = psutil.wait_procs(lanes, timeout=10)
    assert not alive
    assert not list(Path("/dev/shm").glob("pnono*"))


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def hidden_once(condition: Callable[[], bool], hide: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """`hide`, once the condition holds: a puzzle of three rows would be gone before a worker looked."""

    def hidden(slot: int, puzzle: int) -> None:
        wait_for(condition, 10)
        hide(slot, puzzle)

    return hidden


def test_workers_without_a_puzzle_sleep_until_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from parallel_nono.lanes import team as team_module

    naps = []

    class Clock:
        monotonic = staticmethod(time.monotonic)

        @staticmethod
        def sleep(seconds: float) -> None:
            naps.append(seconds)
            time.sleep(seconds)

    monkeypatch.setattr(team_module, "time", Clock)
    lanes = Coordinator(team_module.Threads(2))
    deadline = time.monotonic() + 30
    while len(naps) < 2 * team_module.NAPS and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    before = len(naps)
    time.sleep(0.5)
    assert len(naps) == before
    monkeypatch.setattr(lanes._team, "hide", hidden_once(lambda: len(naps) > before, lanes._team.hide))
    clues = clues_of(set_of([Puzzle.of_grid(((1, 1, 0), (1, 0, 0), (1, 1, 1)))]))
    solved = lanes.propagate(clues, 0, 64, Limits(seconds=60), np.zeros(1, np.int64))
    assert solved.status == OPEN
    assert solved.n_lines > 0
    assert lanes.close(10.0)
