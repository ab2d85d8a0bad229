"""Clusters of several nodes, and what breaks in a night: nodes, heads, drivers, disks, clocks, memory.

Every test runs in namespaces of its own (`unshare`): nothing listens outside, whatever is left behind ends with it, and
hosts can have networks, disks and clocks that may break. Where the system does not allow that, they are skipped.
"""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest
from processes import lives, title

pytestmark = [pytest.mark.ray, pytest.mark.slow]

HERE = Path(__file__).parent
INSIDE = "PNONO_TEST_INSIDE"
UNSHARE = ("unshare", "--net", "--pid", "--mount", "--fork", "--mount-proc")
BIN = Path(sys.executable).parent


def may_unshare() -> bool:
    """True where we may make namespaces with networks and mounts of their own."""
    command = (*UNSHARE, "sh", "-c", "ip link set lo up && mount -t tmpfs none /mnt && ip netns list")
    try:
        return subprocess.run(command, capture_output=True, timeout=20).returncode == 0
    except OSError:
        return False


def in_namespace(test: Callable[..., None]) -> Callable[..., None]:
    """The test, run by another pytest in namespaces of its own."""

    @functools.wraps(test)
    def wrapped(*arguments: Any, **named: Any) -> None:
        if os.environ.get(INSIDE):
            test(*arguments, **named)
            return
        if not may_unshare():
            pytest.skip("needs the right to make network, process and mount namespaces (root)")
        pytest_ = f"{sys.executable} -m pytest -n0 -q -x -p no:cacheprovider {__file__}::{test.__name__}"
        inner = f"ip link set lo up && exec {pytest_}"
        ended = subprocess.run(
            [*UNSHARE, "sh", "-c", inner], capture_output=True, text=True, timeout=300, env={**os.environ, INSIDE: "1"}
        )
        assert ended.returncode == 0, ended.stdout[-8000:] + ended.stderr[-2000:]

    return wrapped


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, as Ray needs it for sockets; in it a token, and `t` for temporary files."""
    path = Path(tempfile.mkdtemp(prefix="pn-", dir="/tmp"))
    (path / "t").mkdir()
    (path / "token").write_text("0123456789abcdef" * 4)
    (path / "token").chmod(0o600)
    yield path
    shutil.rmtree(path, ignore_errors=True)


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
        "RAY_USAGE_STATS_ENABLED": "0",
        # A dead node is noticed in seconds, not in half a minute.
        "RAY_health_check_initial_delay_ms": "1000",
        "RAY_health_check_period_ms": "500",
        "RAY_health_check_timeout_ms": "1000",
        "RAY_health_check_failure_threshold": "3",
        "PYTHONPATH": str(HERE),
        "TMPDIR": str(folder / "t"),
        **more,
    }


def pnono(folder: Path, *words: object, prefix: tuple[str, ...] = (), **more: str) -> subprocess.Popen[str]:
    """`pnono run --kind faults` as a process, in `folder`."""
    command = [*prefix, sys.executable, str(HERE / "faults_cli.py"), "run", *map(str, words), "--kind", "faults", "-q"]
    return subprocess.Popen(
        command, cwd=folder, env=environment(folder, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def ended(driver: subprocess.Popen[str], code: int = 0, seconds: float = 150.0) -> str:
    """What it said on standard error."""
    try:
        output, errors = driver.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        driver.kill()
        raise AssertionError(f"still running: {driver.communicate()[1]}") from None
    assert driver.returncode == code, errors
    assert output == ""
    assert "Traceback" not in errors
    return errors


def rows(out: Path) -> list[dict[str, Any]]:
    return [row for part in sorted((out / "rows").glob("*.parquet")) for row in pq.read_table(part).to_pylist()]


def verdicts(out: Path) -> dict[tuple[str, int], tuple[str, str]]:
    """Outcome and answer of every puzzle, of which each has one row."""
    found = rows(out)
    kept = {(row["source"], row["index"]): (row["outcome"], row["solution"]) for row in found}
    assert len(kept) == len(found), "some puzzle has more than one row"
    return kept


def wait_for_rows(out: Path, least: int, driver: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while sum(pq.read_metadata(part).num_rows for part in (out / "rows").glob("*.parquet")) < least:
        assert driver.poll() is None, driver.communicate()[1]
        assert time.monotonic() < deadline, "no rows came"
        time.sleep(0.1)


def write(folder: Path, *words: str, name: str = "puzzles.faults") -> int:
    """A file of puzzles for the kind `faults`; returns how many."""
    (folder / name).write_text("\n".join(words))
    return len(words)


def slow(n: int, seconds: float = 0.01) -> list[str]:
    return [f"slow:{seconds + k * 1e-9:.9f}" for k in range(n)]


def start_node(folder: Path, *words: str, prefix: tuple[str, ...] = (), **more: str) -> subprocess.Popen[bytes]:
    """`ray start --block`, and a moment until it answers."""
    command = [*prefix, str(BIN / "ray"), "start", "--block", "--num-gpus=0", *words]
    log = open(folder / f"node-{time.monotonic_ns()}.log", "wb")  # noqa: SIM115 - it lives as long as the node
    return subprocess.Popen(command, env=environment(folder, **more), stdout=log, stderr=log, cwd=folder)


def start_head(folder: Path, *words: str, prefix: tuple[str, ...] = (), **more: str) -> subprocess.Popen[bytes]:
    words = (
        "--head",
        "--port=6399",
        "--include-dashboard=false",
        "--object-store-memory=100000000",
        f"--temp-dir={folder / 'r'}",
        *words,
    )
    return start_node(folder, *words, prefix=prefix, **more)


def processes(name: str, root: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Processes of a node by the name of their program."""
    below = psutil.Process(root.pid).children(recursive=True)
    return [process for process in below if name in title(process, 1)]


def wait_for_nodes(address: str, count: int, folder: Path, prefix: tuple[str, ...] = ()) -> None:
    """Until so many nodes have joined."""
    code = (
        "import ray, sys, time\n"
        "for _ in range(120):\n"
        "    try:\n"
        "        if not ray.is_initialized():\n"
        "            ray.init(address=sys.argv[1], logging_level='ERROR', log_to_driver=False)\n"
        "        if sum(node['Alive'] for node in ray.nodes()) >= int(sys.argv[2]): sys.exit(0)\n"
        "    except Exception: pass\n"
        "    time.sleep(0.5)\n"
        "sys.exit(1)\n"
    )
    command = [*prefix, sys.executable, "-c", code, address, str(count)]
    subprocess.run(command, env=environment(folder), check=True, timeout=90, capture_output=True)


RAYLETS = """
import json, os, signal, sys, time
from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, connect=False, head_node_args={"num_cpus": 1, "include_dashboard": False})
lost = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
sys.stdin.readline()
cluster.add_node(num_cpus=1)
print("joined", flush=True)
sys.stdin.readline()
os.kill(lost.all_processes["raylet"][0].process.pid, signal.SIGKILL)
print("lost", flush=True)
sys.stdin.readline()
"""


@in_namespace
def test_nodes_join_and_are_lost_and_every_puzzle_has_its_row(folder: Path) -> None:
    """Two raylets, then three, then the second one is killed."""
    nodes = subprocess.Popen(
        [sys.executable, "-c", RAYLETS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(folder),
    )
    assert nodes.stdin is not None
    assert nodes.stdout is not None
    n = write(folder, *slow(2200), "kill", "broken")
    address = next(line.strip() for line in nodes.stdout if ":" in line)
    driver = pnono(
        folder,
        "puzzles.faults",
        "--engine",
        "ray",
        "--address",
        address,
        "--workers",
        3,
        "--out",
        "out",
        "--seconds",
        5,
    )
    wait_for_rows(folder / "out", 200, driver)
    for said in ("joined", "lost"):
        nodes.stdin.write("\n")
        nodes.stdin.flush()
        assert said in nodes.stdout.readline()
        time.sleep(4 if said == "joined" else 0)
    ended(driver, code=70)  # a puzzle crashed
    nodes.kill()
    found = verdicts(folder / "out")
    assert len(found) == n
    assert sorted(outcome for outcome, _ in found.values() if outcome != "unique") == ["crashed", "invalid"]
    assert len({row["worker"] for row in rows(folder / "out")}) >= 4, "three workers and the driver's own row"


HOSTS = """
set -e
mkdir -p /run/netns; mount -t tmpfs none /run/netns
ip netns add a; ip netns add b
ip link add va netns a type veth peer name vb netns b
for host in a b; do ip -n $host link set lo up; ip -n $host link set v$host up; done
ip -n a addr add 10.77.0.1/24 dev va; ip -n b addr add 10.77.0.2/24 dev vb
"""
HOST_A = ("ip", "netns", "exec", "a")
HOST_B = (
    *("ip", "netns", "exec", "b", "unshare", "--uts", "--mount", "sh", "-c"),
    'hostname hostb; mount -t tmpfs none "$TMPDIR"; exec "$@"',
    "-",
)


@in_namespace
def test_another_host_that_shares_no_memory_works_and_dies_without_loss(folder: Path) -> None:
    """Two hosts with networks and temporary folders of their own; then the cable is cut for good."""
    subprocess.run(["bash", "-c", HOSTS], check=True)
    n = write(folder, *slow(1500), "kill", "endless", "hang", "raise")
    head = start_head(folder, "--num-cpus=0", "--node-ip-address=10.77.0.1", prefix=HOST_A)
    wait_for_nodes("10.77.0.1:6399", 1, folder, HOST_A)
    words = ("--address=10.77.0.1:6399", "--num-cpus=2", "--node-ip-address=10.77.0.2")
    start_node(folder, *words, prefix=HOST_B)
    wait_for_nodes("10.77.0.1:6399", 2, folder, HOST_A)
    options = ("--engine", "ray", "--address", "10.77.0.1:6399", "--workers", 2, "--out", "out", "--seconds", 2)
    driver = pnono(folder, "puzzles.faults", *options, prefix=HOST_A)
    wait_for_rows(folder / "out", 200, driver)
    assert {row["host"] for row in rows(folder / "out") if row["outcome"] == "unique"} == {"hostb"}
    # Another host joins, and the first one is gone.
    start_node(folder, "--address=10.77.0.1:6399", "--num-cpus=2", "--node-ip-address=10.77.0.1", prefix=HOST_A)
    wait_for_nodes("10.77.0.1:6399", 3, folder, HOST_A)
    subprocess.run(["ip", "-n", "b", "link", "set", "vb", "down"], check=True)
    ended(driver, code=70, seconds=200)  # a puzzle crashed
    found = verdicts(folder / "out")
    assert len(found) == n
    named = {row["name"]: row["outcome"] for row in rows(folder / "out") if not row["name"].startswith("slow")}
    assert named == {"kill": "crashed", "endless": "timeout", "hang": "timeout", "raise": "crashed"}
    assert {outcome for key, (outcome, _) in found.items() if key[1] <= 1500} == {"unique"}
    assert head.poll() is None


@in_namespace
def test_a_lost_head_is_one_sentence_and_the_run_goes_on_elsewhere(folder: Path) -> None:
    n = write(folder, *slow(1500))
    head = start_head(folder, "--num-cpus=2")
    wait_for_nodes("127.0.0.1:6399", 1, folder)
    options = ("--out", "out", "--seconds", 5, "--workers", 2)
    driver = pnono(folder, "puzzles.faults", "--engine", "ray", "--address", "127.0.0.1:6399", *options)
    wait_for_rows(folder / "out", 200, driver)
    for process in processes("gcs_server", head) + processes("raylet", head):
        process.send_signal(signal.SIGKILL)
    said = ended(driver, code=69, seconds=40)
    assert "the head of the cluster at 127.0.0.1:6399 is gone" in said.splitlines()[-1]
    kept = verdicts(folder / "out")
    assert 200 <= len(kept) < n
    ended(pnono(folder, "puzzles.faults", "--engine", "local", *options, "--resume"))
    found = verdicts(folder / "out")
    assert len(found) == n
    assert {outcome for outcome, _ in found.values()} == {"unique"}
    assert found.items() >= kept.items()


@in_namespace
def test_a_killed_driver_leaves_nobody_behind_and_its_run_goes_on(folder: Path) -> None:
    n = write(folder, *slow(1500), "kill")
    options = ("--engine", "ray", "--out", "out", "--seconds", 5, "--workers", 2)
    driver = pnono(folder, "puzzles.faults", *options)
    wait_for_rows(folder / "out", 200, driver)
    below = psutil.Process(driver.pid).children(recursive=True)
    workers = [process for process in below if "ray::Worker" in title(process, 1)]
    assert workers
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    _, alive = psutil.wait_procs(workers, timeout=40)
    assert not list(filter(lives, alive))
    kept = verdicts(folder / "out")
    assert 200 <= len(kept) < n
    ended(pnono(folder, "puzzles.faults", *options, "--resume"), code=70)  # a puzzle crashed
    found = verdicts(folder / "out")
    assert len(found) == n
    assert found.items() >= kept.items()
    assert [outcome for outcome, _ in found.values() if outcome != "unique"] == ["crashed"]
    assert not list((folder / "t").glob(f"pnono-{driver.pid}-*")), "the next run sweeps what was left behind"


@in_namespace
def test_a_full_disk_is_one_sentence_and_the_run_goes_on_when_there_is_room(folder: Path) -> None:
    n = write(folder, *slow(800))
    (folder / "disk").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60k", "none", folder / "disk"], check=True)
    options = ("--engine", "local", "--out", "disk/out", "--seconds", 5, "--workers", 2)
    said = ended(pnono(folder, "puzzles.faults", *options), code=74)
    assert "can't write results: No space left on device" in said.splitlines()[-1]
    kept = verdicts(folder / "disk/out")
    assert 0 < len(kept) < n
    subprocess.run(["mount", "-o", "remount,size=10m", folder / "disk"], check=True)
    ended(pnono(folder, "puzzles.faults", *options, "--resume"))
    found = verdicts(folder / "disk/out")
    assert len(found) == n
    assert found.items() >= kept.items()
    subprocess.run(["mount", "-o", "remount,ro", folder / "disk"], check=True)
    for words in (("disk/out", "--resume"), ("disk/new",)):
        said = ended(pnono(folder, "puzzles.faults", "--engine", "local", "--seconds", 5, "--out", *words), code=74)
        assert "can't write results: Read-only file system" in said
    assert verdicts(folder / "disk/out") == found


JUMPING = """
import sys, time
if any("faults_cli" in word or "default_worker" in word for word in getattr(sys, "orig_argv", [])):
    began, real = time.monotonic(), time.time
    # Another hour every half second: forwards, back, far back.
    time.time = lambda: real() + (0, 86400, -3600, -10**9)[int(2 * (time.monotonic() - began)) % 4]
"""


@in_namespace
def test_a_wall_clock_that_jumps_changes_nothing(folder: Path) -> None:
    write(folder, *slow(400), "endless", "slow:1.5", "kill")
    (folder / "jumping").mkdir()
    (folder / "jumping/sitecustomize.py").write_text(JUMPING)
    found = []
    for out, path in (("out-steady", str(HERE)), ("out-jumping", f"{folder / 'jumping'}:{HERE}")):
        words = ("puzzles.faults", "--engine", "ray", "--workers", 2, "--out", out, "--seconds", 2)
        ended(pnono(folder, *words, PYTHONPATH=path), code=70)  # a puzzle crashed
        found.append(verdicts(folder / out))
        for row in rows(folder / out):
            assert 0 <= row["solve_s"] < 30
            assert 0 <= row["queue_s"] < 30
    assert found[0] == found[1]


@in_namespace
def test_a_puzzle_that_eats_the_memory_costs_its_worker_and_no_other_puzzle(folder: Path) -> None:
    """Ray's memory monitor kills the worker; the threshold is above what is used now, also if others free 5 GiB."""
    memory = psutil.virtual_memory()
    if memory.available < 10 << 30:
        pytest.skip("needs 10 GiB of free memory")
    write(folder, *slow(300), "eat:8000", *slow(300, 0.02))
    threshold = 1 - (memory.available - (3 << 30)) / memory.total
    options = ("--engine", "ray", "--out", "out", "--seconds", 20, "--workers", 2)
    more = {"RAY_memory_usage_threshold": f"{threshold:.3f}", "RAY_memory_monitor_refresh_ms": "100"}
    ended(pnono(folder, "puzzles.faults", *options, **more), code=70)  # a puzzle crashed
    found = verdicts(folder / "out")
    assert len(found) == 601
    (crashed,) = (row for row in rows(folder / "out") if row["outcome"] != "unique")
    assert (crashed["name"], crashed["outcome"]) == ("eat:8000", "crashed")
    assert "memory" in crashed["error"].lower()


def test_what_runs_inside_is_said_outside() -> None:
    """The wrapper must fail when the test inside does."""
    code = "import test_nodes\n@test_nodes.in_namespace\ndef test_none() -> None: ...\ntest_none()"
    if not may_unshare():
        pytest.skip("needs the right to make namespaces (root)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=HERE)
    assert run.returncode == 1
    assert "AssertionError" in run.stderr
