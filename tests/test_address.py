"""Clusters that are dead, foreign, open or silent, and a Ray that dies while it starts: one sentence, soon, and 69."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from console import pnono

from parallel_nono.engine import EngineError, environment

HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"


@pytest.fixture
def silent() -> Iterator[str]:
    """HOST:PORT of somebody who takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--insecure"], []])
def test_a_dead_address_is_one_sentence(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "hook.non").write_text(HOOK)
    (tmp_path / "token").write_text("0123456789abcdef" * 2)
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(tmp_path / "token")}
    address = f"127.0.0.1:{free_port()}"
    began = time.monotonic()
    out = pnono(
        "run", "hook.non", "--engine", "ray", "--address", address, *words, cwd=tmp_path, code=69, **secret
    )  # fmt: skip
    assert time.monotonic() - began < 60
    assert out.stderr.splitlines() == [f"pnono: --address {address}: no cluster answers there: Connection refused"]


def test_an_address_that_says_nothing_is_given_up(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "PROBE_S", 2.0)
    began = time.monotonic()
    with pytest.raises(EngineError, match="no cluster answers there: nothing was said in 2 s"):
        environment.reachable(silent, True, Event())
    assert time.monotonic() - began < 30


def test_a_stop_ends_the_wait_for_an_address(silent: str) -> None:
    stop = Event()
    stop.set()
    began = time.monotonic()
    with pytest.raises(EngineError, match="stopped"):
        environment.reachable(silent, True, stop)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "address", ["host", "host:0", "host:65536", "host:port", ":6379", "a b:1", "::1:6379", "1:2:3"]
)
def test_an_address_that_is_none_is_refused_before_ray_is_imported(address: str) -> None:
    with pytest.raises(EngineError, match="expected HOST:PORT or auto"):
        environment.prepare(address, True)


@pytest.mark.parametrize("address", ["auto", "host:6379", "10.0.0.1:1", "[::1]:6379", "head.cluster.example:65535"])
def test_an_address_that_is_one_is_taken(address: str) -> None:
    environment.prepare(address, True)


Says = Callable[..., str]


def told(monkeypatch: pytest.MonkeyPatch, without_token: str, with_token: str) -> list[bool]:
    """Whether each question carried the token."""
    asked: list[bool] = []
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")

    def probed(place: str, variables: dict[str, str], until: float, stop: Event) -> str:
        asked.append("secret" in variables.values())
        return with_token if asked[-1] else without_token

    monkeypatch.setattr(environment, "_probed", probed)
    return asked


@pytest.mark.parametrize(
    ("without", "with_token", "insecure", "fault"),
    [
        ("locked", "open", False, ""),
        ("locked", "open", True, ""),
        ("locked", "locked", False, "does not take our token"),
        ("locked", "locked", True, "does not take our token"),
        ("open", "open", True, ""),
        ("open", "open", False, "lets everybody in"),
        ("mute Connection refused", "open", True, "no cluster answers there: Connection refused"),
    ],
)
def test_a_cluster_is_used_only_if_it_answers_and_has_our_token(
    without: str, with_token: str, insecure: bool, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = told(monkeypatch, without, with_token)
    found = environment._fault("127.0.0.1:6379", insecure, 0.0, Event())
    assert fault in found
    assert bool(found) == bool(fault)
    assert asked == [False, True][: 1 + (without == "locked")]  # who lets everybody in never sees the token


def raylet(uid: int, port: int) -> Any:
    words = ["/somewhere/raylet/raylet", "--node_ip_address=127.0.0.1", f"--gcs-address=127.0.0.1:{port}"]
    return SimpleNamespace(info={"cmdline": words, "uids": SimpleNamespace(real=uid)})


def test_auto_asks_no_cluster_of_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    others = os.getuid() + 4711
    gone = SimpleNamespace(info={"cmdline": None, "uids": None})
    running = [raylet(others, 1), raylet(os.getuid(), 2), raylet(0, 3), raylet(os.getuid(), 2), gone]
    monkeypatch.setattr(environment.psutil, "process_iter", lambda _: iter(running))
    assert environment._places() == ["127.0.0.1:2", "127.0.0.1:3"]
    monkeypatch.setattr(environment, "_probed", lambda place, *_: "locked" if place.endswith("2") else "mute dead")
    with pytest.raises(EngineError) as caught:
        environment.reachable("auto", True, Event())
    assert "127.0.0.1:2: it does not take our token" in str(caught.value)
    assert "127.0.0.1:3: no cluster answers there: dead" in str(caught.value)
    assert "127.0.0.1:1:" not in str(caught.value)
    monkeypatch.setattr(environment, "_probed", lambda place, *_: "open" if place.endswith("3") else "locked")
    assert environment.reachable("auto", True, Event()) == "127.0.0.1:3"
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert environment._places() == ["head:6379"]


DYING = """
import sys
import psutil
from parallel_nono.cli import main
from parallel_nono.engine import environment

def divert(library):
    from ray._private import worker  # Ray is imported, and about to start
    register = worker.connect

    def connect(*words, **named):
        for process in psutil.Process().children(recursive=True):
            if process.name() == "raylet":
                process.kill()
                process.wait()
        return register(*words, **named)

    worker.connect = connect
    return keep(library)

keep, environment.divert = environment.divert, divert
main(sys.argv[1:])
"""


@pytest.mark.ray
@pytest.mark.slow
def test_a_raylet_that_dies_while_we_register_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "hook.non").write_text(HOOK)
    done = dying(tmp_path, "run", "hook.non", "--engine", "ray", "-q")
    assert done.returncode == 69, done.stderr
    *_, line = done.stderr.splitlines()  # before it Ray's library has its say
    assert line.startswith("pnono: Ray's process on this machine ended while it took us in")
    assert "Traceback" not in done.stderr


def dying(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`pnono` whose raylet is killed before it registers."""
    (folder / "dying.py").write_text(DYING)
    return subprocess.run(
        [sys.executable, str(folder / "dying.py"), *words, "--out", "out"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


DIVERTED = """
import ctypes, os, sys, threading, time
import ray._raylet
from parallel_nono.engine import divert
assert divert.divert(ray._raylet.__file__)
told = []
divert.when_ending(lambda: told.append("told"))
place = dict(divert._calls(ray._raylet.__file__))[b"_Exit"]
of = ctypes.PYFUNCTYPE if sys.argv[1] == "locked" else ctypes.CFUNCTYPE  # the former keep Python's lock
end = of(None, ctypes.c_int)(ctypes.c_size_t.from_address(place).value)
threading.Thread(target=end, args=(1,), daemon=True).start()
time.sleep(1.0)
print(told, flush=True)
if os.fork() == 0:
    end(5)  # a child may end as it likes
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Ray's library stays as it is")
@pytest.mark.parametrize(("how", "code", "output"), [("free", 0, "['told']\n5\n"), ("locked", 69, "")])
def test_the_end_that_a_library_wants_comes_to_us(how: str, code: int, output: str) -> None:
    """A thread that may wait is parked, and the run goes on; with one that holds Python's lock the process ends."""
    done = subprocess.run(
        [sys.executable, "-c", DIVERTED, how], capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (code, output), done.stderr
    assert ("Ray's process on this machine ended" in done.stderr) == (how == "locked")
