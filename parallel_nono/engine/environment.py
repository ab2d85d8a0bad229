"""What Ray needs around it: settings made before its import, a secret, a short folder, and a quiet standard output."""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, current_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

import psutil

from . import ABANDONED, EngineError

if TYPE_CHECKING:
    from .local import Crew

UNWATCHED = {
    "RAY_enable_metrics_collection": "0",
    "RAY_enable_timeline": "0",
    "RAY_event_stats": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_debug_dump_period_milliseconds": "0",
    "RAY_memory_monitor_refresh_ms": "1000",
}
"""Ray's book-keeping for a dashboard that a run of our own does not have; in every process, every second."""


def prepare(address: str, insecure: bool) -> None:
    """Set the environment that Ray reads while it is imported. Errors: EngineError."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_SCHEDULER_EVENTS"] = "0"
    os.environ["RAY_DEDUP_LOGS"] = "0"
    if address:
        if "://" in address:
            why = "found an address of the Ray Client or of a dashboard (run `pnono` in the cluster: `ray job submit`)"
            raise EngineError(f"--address {address}: expected HOST:PORT or auto, {why}")
        home = Path.home() / ".ray" / "auth_token"
        has_token = any(os.environ.get(name) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")) or home.is_file()
        if not insecure and not (os.environ.get("RAY_AUTH_MODE") == "token" and has_token):
            raise EngineError(
                f"--address {address}: expected a cluster with token authentication (RAY_AUTH_MODE=token and a token "
                "in RAY_AUTH_TOKEN_PATH); whoever reaches an open one runs code on it; --insecure uses it all the same"
            )
        return
    wanted = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(_token_file()),
        # Undocumented, but it is what makes Ray listen on 127.0.0.1 alone.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }
    if "ray" in sys.modules and any(os.environ.get(name) != value for name, value in wanted.items()):
        raise EngineError("Ray was imported before the engine could switch on its authentication; import it later")
    os.environ.pop("RAY_AUTH_TOKEN", None)
    os.environ.pop("RAY_ADDRESS", None)
    os.environ |= wanted
    for name, value in UNWATCHED.items():
        os.environ.setdefault(name, value)


_token: Path | None = None


def _token_file() -> Path:
    """The secret of this process's own Ray, in a file that only we can read; Ray keeps it for the process's life."""
    global _token
    if _token is None:
        handle, name = tempfile.mkstemp(prefix=f"pnono-{os.getpid()}-{_space()}-token-", dir=_short_temp())
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
        _token = Path(name)
        atexit.register(_forget, _token, os.getpid())
    return _token


def _forget(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # not a child that inherited us
        path.unlink(missing_ok=True)


def _short_temp() -> str:
    """A folder for sockets, whose whole paths must stay below 107 characters."""
    usual = tempfile.gettempdir()
    return usual if len(usual) <= 24 or not os.access("/tmp", os.W_OK) else "/tmp"


def new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix=f"pnono-{os.getpid()}-{_space()}-", dir=_short_temp()))


def _space() -> str:
    """Which processes are numbered like this one: those of another container have other names for their leftovers.

    Short, as paths of sockets must be."""
    try:
        return f"{os.stat('/proc/self/ns/pid').st_ino & 0xFFF:x}"
    except OSError:  # not Linux: all of a machine are
        return "0"


def sweep() -> None:
    """Remove what killed drivers of ours left behind."""
    space = _space()
    for path in Path(_short_temp()).glob("pnono-*-*"):
        match = re.match(r"pnono-(\d+)-([0-9a-f]+)-", path.name)
        try:
            if not match or match[2] != space or psutil.pid_exists(int(match[1])) or path.lstat().st_uid != os.getuid():
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        except OSError:  # someone else was quicker
            continue


def connect(crew: Crew, folder: Path, store_bytes: int) -> Any:
    """The module `ray`, connected: to the cluster at `crew.address`, or to a Ray of our own with `crew.workers` places.

    folder       where our own Ray and its log live.
    store_bytes  the shared memory of our own Ray.
    Errors       EngineError, also when `crew.stop` was set meanwhile and Ray did not come up.
    """
    prepare(crew.address, crew.insecure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what its own dependencies have to say is not ours to show
        import ray

    Quiet.install(folder / "ray.log")
    options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": True}
    if not crew.address:
        options |= {
            "address": "local",
            "num_cpus": crew.workers,
            "num_gpus": 0,
            "include_dashboard": False,
            "object_store_memory": store_bytes,
            "_temp_dir": str(folder / "r"),
        }
    else:
        options["address"] = crew.address
    if "RAY_JOB_CONFIG_JSON_ENV_VAR" not in os.environ:  # else Ray knows the folder of the job, and it is not this one
        # Ray would put the current folder on the path of the workers, and so import a `numpy.py` that lies there.
        options["job_config"] = ray.job_config.JobConfig(_client_job=True)
    for attempts_left in (1, 0):
        try:
            with _own_signals():
                ray.init(**options)
            break
        except Exception as error:  # Ray raises many kinds; all mean that it is not there
            ray.shutdown()
            if not attempts_left or crew.address or crew.stop.is_set():
                place = f"the cluster at {crew.address}" if crew.address else "a local Ray"
                raise EngineError(f"{place} can't be used: {first_line(error)}") from error
    return ray


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray's library puts a handler of its own before ours, which prints a stack and may end in an abort; undo that.

    `signal.signal` is for the main thread only, so the system is asked.
    """
    import ctypes

    system = ctypes.CDLL(None)
    kept = {number: ctypes.create_string_buffer(512) for number in (signal.SIGTERM, signal.SIGINT)}  # struct sigaction
    for number, action in kept.items():
        system.sigaction(int(number), None, action)
    try:
        yield
    finally:
        for number, action in kept.items():
            system.sigaction(int(number), action, None)


def first_line(error: BaseException) -> str:
    """The kind of an error and the first line of what it says: Ray's go on for pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


HEAD_MOST_S = 10.0
"""So long the head of a cluster may be out of reach. After a minute Ray itself would end the process in mid-air."""


def watch_head(address: str, stop: Event, tell: Callable[[EngineError], None]) -> None:
    """Look after the head of the cluster at HOST:PORT until `stop` is set; `tell` once if it is gone."""
    host, _, port = address.rpartition(":")
    answered = monotonic()
    while not stop.wait(1.0):
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=2.0):
                answered = monotonic()
        except OSError as error:
            if monotonic() - answered > HEAD_MOST_S:
                why = f"the head of the cluster at {address} is gone: {first_line(error)}"
                ABANDONED.append(why)
                tell(EngineError(f"{why}; what was done is kept, and --resume goes on with it"))
                return


class Quiet:
    """Stands in for sys.stdout while Ray is up: what Ray's own threads print goes to a file, the rest passes."""

    _installed: Quiet | None = None

    def __init__(self, stream: TextIO, path: Path) -> None:
        self._stream = stream
        self._file = path.open("w", encoding="utf-8")

    def write(self, text: str) -> int:
        quiet = current_thread().name.startswith(("ray_", "pnono-cluster"))
        return (self._file if quiet else self._stream).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @classmethod
    def install(cls, path: Path) -> None:
        cls._installed = cls(sys.stdout, path)
        sys.stdout = cls._installed

    @classmethod
    def remove(cls) -> None:
        if cls._installed is not None:
            if sys.stdout is cls._installed:
                sys.stdout = cls._installed._stream
            cls._installed._file.close()
            cls._installed = None
