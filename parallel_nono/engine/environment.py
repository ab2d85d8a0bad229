"""What Ray needs around it: settings made before its import, a secret, a short folder, and a quiet standard output."""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread, current_thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

import psutil

from ..extras import missing
from . import ABANDONED, EngineError
from .divert import divert, when_ending

if TYPE_CHECKING:
    from .session import Session

UNWATCHED = {
    "RAY_enable_metrics_collection": "0",
    "RAY_enable_timeline": "0",
    "RAY_event_stats": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_debug_dump_period_milliseconds": "0",
    "RAY_memory_monitor_refresh_ms": "1000",
}
"""Ray's book-keeping for a dashboard that a run of our own does not have; in every process, every second."""


ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):([0-9]{1,5})")

PROBE_S = 12.0
"""So long a cluster (with auto, all that come into question together) has to answer."""

INIT_S = 90.0
"""So long Ray has to start, or a cluster that answered has to take us in."""

PROBE = Path(__file__).with_name("probe.py")


def prepare(address: str, insecure: bool) -> None:
    """Set the environment that Ray reads while it is imported. Errors: EngineError."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_SCHEDULER_EVENTS"] = "0"
    os.environ["RAY_DEDUP_LOGS"] = "0"
    if address:
        if "://" in address:
            why = "found an address of the Ray Client or of a dashboard (run `pnono` in the cluster: `ray job submit`)"
            raise EngineError(f"--address {address}: expected HOST:PORT or auto, {why}")
        place = ADDRESS.fullmatch(address)
        if address != "auto" and not (place and 0 < int(place[2]) < 65536):
            raise EngineError(f"--address {address}: expected HOST:PORT or auto, found no port of 1 to 65535")
        home = Path.home() / ".ray" / "auth_token"
        has_token = any(os.environ.get(name) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")) or home.is_file()
        if not insecure and not (os.environ.get("RAY_AUTH_MODE") == "token" and has_token):
            raise EngineError(
                f"--address {address}: expected a cluster with token authentication (RAY_AUTH_MODE=token and a token "
                "in RAY_AUTH_TOKEN_PATH); anyone who reaches an open one can run code on it; --insecure uses it anyway"
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


def connect(session: Session, folder: Path, store_bytes: int, tell: Callable[[EngineError], None] | None = None) -> Any:
    """The module `ray`, connected: to the cluster at `session.pool.address`, or to a Ray of our own with
    `session.pool.workers` places.

    folder       where our own Ray and its log live.
    store_bytes  the shared memory of our own Ray.
    tell         called, by any thread, if Ray goes away later in a way that it can't be used or shut down any more.
    Errors       EngineError, also when `session.stop.asked` was set meanwhile and Ray did not come up.
    """
    if find_spec("ray") is None:
        raise EngineError(missing("ray"))
    prepare(session.pool.address, session.pool.insecure)
    address = reachable(session.pool.address, session.pool.insecure, session.stop.asked) if session.pool.address else ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what its own dependencies have to say is not ours to show
        import ray

    options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False, "configure_logging": True}
    if not address:
        options |= {
            "address": "local",
            "num_cpus": session.pool.workers,
            "num_gpus": 0,
            "include_dashboard": False,
            "object_store_memory": store_bytes,
            "_temp_dir": str(folder / "r"),
        }
    else:
        options["address"] = address
    if "RAY_JOB_CONFIG_JSON_ENV_VAR" not in os.environ:  # else Ray knows the folder of the job, and it is not this one
        # Ray would put the current folder on the path of the workers, and so import a `numpy.py` that lies there.
        options["job_config"] = ray.job_config.JobConfig(_client_job=True)
    place = f"the cluster at {session.pool.address}" if session.pool.address else "a local Ray"
    # It compiles a function, while Ray starts its processes.
    Thread(target=divert, args=(ray._raylet.__file__,), name="ray_divert", daemon=True).start()
    for attempts_left in (1, 0):
        Quiet.install(folder / "ray.log")
        try:
            _init(ray, options, place)
            break
        except EngineError:
            Quiet.remove()
            raise
        except Exception as error:  # Ray raises many kinds; all mean that it is not there
            disconnect(ray)
            if not attempts_left or session.pool.address or session.stop.asked.is_set():
                raise EngineError(f"{place} can't be used: {first_line(error)}") from error
    when_ending(lambda: _gone(f"{place} is gone: its process on this machine ended", tell))
    return ray


def _init(ray: Any, options: dict[str, Any], place: str) -> None:
    """`ray.init` in a thread that can be left behind. Errors: EngineError if it did not come back; what Ray raises.

    The thread stays until `disconnect`: processes that Ray starts end with the thread that started them.
    """
    outcome: SimpleQueue[BaseException | None] = SimpleQueue()
    over = Event()
    _over[:] = [over]

    def start() -> None:
        try:
            with _own_signals():
                ray.init(**options)
            outcome.put(None)
            over.wait()
        except BaseException as error:  # for the thread that waits
            outcome.put(error)

    when_ending(lambda: outcome.put(EngineError(f"{place} can't be used: its process on this machine ended")))
    Thread(target=start, name="ray_init", daemon=True).start()
    try:
        error = outcome.get(timeout=INIT_S)
    except Empty:
        error = EngineError(f"{place} can't be used: it did not take us in within {INIT_S:g} s")
    if isinstance(error, EngineError):  # the thread is still there, and Ray can't be shut down
        _gone(str(error), None)
    if error is not None:
        raise error


_over: list[Event] = []


def disconnect(ray: Any) -> None:
    """Undo `connect`; of a Ray that is gone nothing can be undone."""
    if ray.is_initialized() and not ABANDONED:
        ray.shutdown()
    Quiet.remove()
    for over in _over:
        over.set()


def _gone(why: str, tell: Callable[[EngineError], None] | None) -> None:
    """Ray is in a state that only the end of this process can mend."""
    ABANDONED.append(why)
    if tell is not None:
        tell(EngineError(f"{why}; what was done is kept, and --resume goes on with it"))


def reachable(address: str, insecure: bool, stop: Event) -> str:
    """HOST:PORT of a cluster that answers and takes our token. Errors: EngineError.

    address  HOST:PORT; or auto: RAY_ADDRESS, else a cluster that this user or root started on this machine. (Others'
             are not asked: they would get to see our token.)
    """
    until = monotonic() + PROBE_S
    if address != "auto":
        fault = _fault(address, insecure, until, stop)
        if fault:
            raise EngineError(f"--address {address}: {fault}")
        return address
    faults = []
    for place in _places():
        fault = _fault(place, insecure, until, stop)
        if not fault:
            return place
        faults.append(f"; {place}: {fault}")
    raise EngineError(f"--address auto: found no cluster of yours or root's here that takes us in{''.join(faults)}")


def _places() -> list[str]:
    """HOST:PORT of clusters that may be meant by `auto`."""
    named = os.environ.get("RAY_ADDRESS", "")
    if ADDRESS.fullmatch(named):
        return [named]
    found: list[str] = []
    for process in psutil.process_iter(["cmdline", "uids"]):
        words, uids = process.info["cmdline"] or [], process.info["uids"]
        if not words or Path(words[0]).name != "raylet" or not uids or uids.real not in (0, os.getuid()):
            continue
        found += [word.removeprefix("--gcs-address=") for word in words if word.startswith("--gcs-address=")]
    return [place for place in dict.fromkeys(found) if ADDRESS.fullmatch(place)]


def _fault(place: str, insecure: bool, until: float, stop: Event) -> str:
    """Why the cluster at HOST:PORT can't be used; "" if it can."""
    openly = {**os.environ, "RAY_AUTH_MODE": "disabled"}
    for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        openly.pop(name, None)
    told = _probed(place, openly, until, stop)
    if told == "open":
        if insecure:
            return ""
        return "it lets everybody in, and anyone who reaches it can run code on it; --insecure uses it anyway"
    if told == "locked":
        told = _probed(place, dict(os.environ), until, stop)
        if told == "open":
            return ""
        if told == "locked":
            return "it does not take our token (see RAY_AUTH_MODE, RAY_AUTH_TOKEN_PATH)"
    return f"no cluster answers there: {told.removeprefix('mute ')}"


def _probed(place: str, environment: dict[str, str], until: float, stop: Event) -> str:
    """What `probe` says."""
    command = [sys.executable, "-P", str(PROBE), place]
    probe = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    while not stop.is_set() and monotonic() < until:
        try:
            return probe.communicate(timeout=min(0.5, max(until - monotonic(), 0.0)))[0].strip() or "mute it ended"
        except subprocess.TimeoutExpired:
            continue
    probe.kill()
    probe.communicate()
    return "mute stopped" if stop.is_set() else f"mute nothing was said in {PROBE_S:g} s"


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


MAX_HEAD_S = 10.0
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
            if monotonic() - answered > MAX_HEAD_S:
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
