"""The Ray engine, with real processes that die, hang and are killed: rows exactly once, and nobody left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest
from processes import lives, title

pytestmark = [pytest.mark.ray, pytest.mark.slow]

# A driver process of its own for each test: Ray keeps settings for the life of a process.
DRIVER = """
import json, os, sys, time
import psutil
import faults
from parallel_nono.attempt import Limits
from parallel_nono.cli.run import Signals
from parallel_nono.engine import engine
from parallel_nono.engine.feed import Feed
from parallel_nono.engine.session import Pool, Session
from parallel_nono.engine.work import Work

def main():
    options = json.loads(sys.argv[1])
    pieces = [(name, text.encode()) for name, text in options["texts"]]
    pool = Pool(options["workers"], insecure=options.get("insecure", False), address=options.get("address", ""))
    session = Session(pool)
    work = Work(faults.KIND, Limits(options["seconds"]), run="test")
    rows, seen = [], False
    with Signals(session.stop) as signals:
        for batch in engine(options["engine"])(work, Feed(iter(pieces), options["workers"]), session):
            rows += batch.select(["source", "index", "name", "outcome", "engine", "worker", "error"]).to_pylist()
            if batch.num_rows and not seen:
                seen = True
                print("first", flush=True)
                if options.get("look"):
                    children = psutil.Process().children(recursive=True)
                    sockets = [
                        [c.laddr.ip, c.laddr.port]
                        for child in children for c in child.net_connections("inet") if c.status == "LISTEN"
                    ]
                    rows.append({"sockets": sockets, "environment": {
                        name: os.environ.get(name) for name in
                        ("RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED", "RAY_AUTH_TOKEN_PATH")},
                        "token_mode": os.stat(os.environ["RAY_AUTH_TOKEN_PATH"]).st_mode & 0o777})
    print(json.dumps({"rows": rows, "engine": session.engine, "why": session.why, "code": signals.code}), flush=True)
    sys.exit(signals.code)

if __name__ == "__main__":
    main()
"""


def start(tmp_path: Path, **options: Any) -> subprocess.Popen[bytes]:
    """A driver; its last line of output is what it found."""
    options = {"workers": 2, "seconds": 5.0, "engine": "ray", **options}
    path = tmp_path / "driver.py"
    path.write_text(DRIVER)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen(
        [sys.executable, str(path), json.dumps(options)], stdout=subprocess.PIPE, env=environment, cwd=tmp_path
    )


def finish(driver: subprocess.Popen[bytes], seconds: float = 240.0) -> dict[str, Any]:
    output, _ = driver.communicate(timeout=seconds)
    assert driver.returncode == 0
    *first, last = output.decode().splitlines()
    assert first in ([], ["first"]), "only our own lines may be on standard output"
    answer: dict[str, Any] = json.loads(last)
    return answer


def outcomes(answer: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in answer["rows"]:
        found.setdefault(row["name"], set()).add(row["outcome"])
    return found


def once_each(answer: dict[str, Any]) -> Counter[tuple[str, int]]:
    counts = Counter((row["source"], row["index"]) for row in answer["rows"])
    assert set(counts.values()) <= {1}
    return counts


def descendants(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def all_gone(processes: list[psutil.Process], seconds: float = 5.0) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not list(filter(lives, alive))


def numbers(n: int, source: str) -> tuple[str, str]:
    return source, " ".join(map(str, range(n)))


def test_a_run_without_faults_has_every_row_once_and_listens_on_loopback_only_with_a_secret(tmp_path: Path) -> None:
    texts = [numbers(300, f"s{n}") for n in range(20)]
    driver = start(tmp_path, texts=texts, look=True)
    answer = finish(driver)
    look = next(row for row in answer["rows"] if "sockets" in row)
    answer["rows"].remove(look)
    assert len(once_each(answer)) == 6000
    assert {row["engine"] for row in answer["rows"]} == {"ray"}
    assert look["sockets"]
    assert {ip for ip, _ in look["sockets"]} <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
    assert look["environment"]["RAY_AUTH_MODE"] == "token"
    assert look["environment"]["RAY_USAGE_STATS_ENABLED"] == "0"
    assert look["token_mode"] == 0o600
    assert not Path(look["environment"]["RAY_AUTH_TOKEN_PATH"]).exists()
    assert answer["engine"] == "ray"


def test_puzzles_that_kill_their_worker_are_crashed_and_hurt_nobody(tmp_path: Path) -> None:
    texts = [
        *(numbers(100, f"s{n}") for n in range(10)),
        ("bad", "1 2 kill 3 4 segfault 5"),
        ("once", f"6 kill-once:{tmp_path / 'mark'} 7"),
        ("texts", "die while reading"),
        ("end", "8 raise 9"),
    ]
    answer = finish(start(tmp_path, texts=texts))
    found = outcomes(answer)
    once_each(answer)
    assert found.pop("kill") == {"crashed"}
    assert found.pop("segfault") == {"crashed"}
    assert found.pop("raise") == {"crashed"}
    assert found.pop("") == {"crashed"}
    assert set.union(*found.values()) == {"unique"}
    assert len(answer["rows"]) == 1000 + 7 + 3 + 1 + 3


def test_puzzles_that_overrun_are_timeouts_and_hurt_nobody(tmp_path: Path) -> None:
    texts = [*(numbers(100, f"s{n}") for n in range(5)), ("late", "1 endless 2 slow:1.5 hang 3")]
    answer = finish(start(tmp_path, texts=texts, seconds=2.0))
    found = outcomes(answer)
    once_each(answer)
    assert found.pop("endless") == {"timeout"}
    assert found.pop("hang") == {"timeout"}
    assert set.union(*found.values()) == {"unique"}
    assert len(answer["rows"]) == 506


def test_workers_killed_from_outside_lose_no_puzzle_and_blame_none(tmp_path: Path) -> None:
    texts = [(f"s{n}", " ".join(["slow:0.01"] * 20)) for n in range(60)]
    driver = start(tmp_path, texts=texts)
    assert driver.stdout is not None
    assert driver.stdout.readline() == b"first\n"
    for _ in range(2):
        workers = [p for p in descendants(driver) if "ray::Worker" in title(p, 1)]
        assert workers
        workers[0].send_signal(signal.SIGKILL)
        time.sleep(1.5)
    answer = finish(driver)
    assert len(once_each(answer)) == 1200
    assert set.union(*outcomes(answer).values()) == {"unique"}


@pytest.mark.parametrize(
    ("signals", "code"), [([signal.SIGINT], 130), ([signal.SIGINT] * 2, 130), ([signal.SIGTERM], 143)]
)
def test_a_signal_ends_the_run_and_leaves_no_process(tmp_path: Path, signals: list[signal.Signals], code: int) -> None:
    driver = start(tmp_path, texts=[numbers(50, "a"), *((f"s{n}", "endless") for n in range(8))], seconds=600.0)
    assert driver.stdout is not None
    assert driver.stdout.readline() == b"first\n"
    time.sleep(1)
    children = descendants(driver)
    assert children
    for number in signals:
        driver.send_signal(number)
        time.sleep(0.2)
    output, _ = driver.communicate(timeout=30)
    assert driver.returncode == code
    assert all_gone(children)
    assert len(once_each(json.loads(output.decode().splitlines()[-1]))) == 50


def test_a_signal_while_ray_starts_leaves_no_process(tmp_path: Path) -> None:
    driver = start(tmp_path, texts=[numbers(50, "a")])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not descendants(driver):
        time.sleep(0.05)
    children = descendants(driver)
    driver.send_signal(signal.SIGINT)
    children += descendants(driver)
    driver.communicate(timeout=30)
    assert driver.returncode == 130
    assert all_gone(children)


def test_what_waits_behind_a_long_puzzle_goes_to_a_worker_that_has_nothing(tmp_path: Path) -> None:
    texts = [(f"s{n}", f"slow:{seconds}") for n, seconds in enumerate((9, 0.3, 0.5, 0.2))]
    rows = finish(start(tmp_path, texts=texts, seconds=30.0))["rows"]
    assert [row["outcome"] for row in rows] == ["unique"] * 4
    assert rows[-1]["name"] == "slow:9"
    assert len({row["worker"] for row in rows[:-1]} - {rows[-1]["worker"]}) == 1
    assert rows[-1]["worker"] not in {row["worker"] for row in rows[:-1]}


def test_auto_hands_over_to_ray_when_much_is_left(tmp_path: Path) -> None:
    texts = [(f"s{n}", " ".join(["slow:0.02"] * 20)) for n in range(150)]
    answer = finish(start(tmp_path, texts=texts, engine="auto"))
    assert len(once_each(answer)) == 3000
    assert {row["engine"] for row in answer["rows"]} == {"local", "ray"}
    assert answer["engine"] == "ray"
    assert "of work for one core were left" in answer["why"]


def test_an_address_without_authentication_is_refused(tmp_path: Path) -> None:
    driver = start(tmp_path, texts=[numbers(3, "a")], address="127.0.0.1:1")
    driver.communicate(timeout=60)
    assert driver.returncode == 1


@pytest.fixture
def cluster() -> Iterator[tuple[str, dict[str, str]]]:
    """Address and environment of a running one-node cluster with token authentication, on loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="pn-", dir="/tmp"))  # short: the paths of sockets have a limit
    token = folder / "token"
    token.write_text("0123456789abcdef" * 4)
    token.chmod(0o600)
    environment = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": str(Path(__file__).parent),
    }
    ray = Path(sys.executable).with_name("ray")
    words = [ray, "start", "--head", "--block", f"--port={port}", "--num-cpus=3", "--include-dashboard=false"]
    head = subprocess.Popen(
        [*map(str, words), f"--temp-dir={folder / 'r'}"],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.2)
    time.sleep(3)
    yield f"127.0.0.1:{port}", environment
    children = psutil.Process(head.pid).children(recursive=True)
    for process in (*children, psutil.Process(head.pid)):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    head.wait()
    psutil.wait_procs(children, timeout=10)
    shutil.rmtree(folder, ignore_errors=True)


def test_a_running_cluster_does_the_work_and_survives_it(
    tmp_path: Path, cluster: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, environment = cluster
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for _ in range(2):
        texts = [*(numbers(100, f"s{n}") for n in range(5)), ("bad", "1 kill 2 raise 3")]
        answer = finish(start(tmp_path, texts=texts, address=address))
        found = outcomes(answer)
        assert len(once_each(answer)) == 505
        assert found.pop("kill") == {"crashed"}
        assert found.pop("raise") == {"crashed"}
        assert set.union(*found.values()) == {"unique"}
        assert answer["why"] == f"asked for, at {address}"


def test_a_worker_imports_nothing_that_it_does_without(tmp_path: Path) -> None:
    """pyarrow would import pandas, which takes as long as the rest of a worker's start."""
    seen_by = tmp_path / "seen"
    (tmp_path / "pandas.py").write_text(f"import os\nprint(os.getpid(), file=open({str(seen_by)!r}, 'a'))\n")
    (tmp_path / "two.nin").write_text("2 2\n1\n1\n1\n1\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", "import pandas"], check=True, env=environment)
    words = ["run", "two.nin", "--engine", "ray", "--workers", "1", "--out", "out"]
    subprocess.run([sys.executable, "-m", "parallel_nono", *words], check=True, env=environment, cwd=tmp_path)
    (row,) = pq.read_table(tmp_path / "out/rows").to_pylist()
    seen = seen_by.read_text().split()
    assert seen
    assert row["engine"] == "ray"
    assert row["worker"].split(".")[0] not in seen
