"""Puzzles, packed sets, results and definitions are data: nothing in them is executed, unpickled or fetched; nothing
listens beyond this machine. docs/security.md says what follows from it for users."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import title

import parallel_nono
from parallel_nono.extras import EXTRAS

PACKAGE = Path(parallel_nono.__file__).parent
ROOT = PACKAGE.parent
MODULES = sorted(PACKAGE.rglob("*.py"))

UNPICKLING = (
    "pickle",
    "cPickle",
    "_pickle",
    "cloudpickle",
    "dill",
    "marshal",
    "shelve",
    "joblib",
    "yaml",
    "jsonpickle",
)
EXECUTING = ("eval", "exec", "compile", "__import__", "execfile")
UNPACKING = ("extractall", "extract", "unpack_archive")

STARTERS = {
    "engine/environment.py": "engine/probe.py, ours",
    "engine/hostinfo.py": "git, for the commit of a checkout",
    "kernels/build.py": "itself once more, with settings for Numba",
    "kernels/native.py": "kernels/build.py, ours",
    "kernels/toolchain.py": "linkers",
    "solver/external.py": "the program that --solver names",
    "solver/prover.py": "a SAT solver of ours",
    "web/serve/dispatch.py": "the worker of a web page, ours",
}
"""Who may start another program. A new one is a decision: it belongs here, with what it starts."""

CALLERS = {
    "files/fetch.py": "`pnono fetch`: sites that the user names",
    "engine/environment.py": "the standard output that Ray would spoil; Ray's own sockets",
    "engine/probe.py": "a cluster that --address names",
    "cli/serve.py": "listens, on loopback unless told otherwise",
    "web/serve/app.py": "the same",
    "web/serve/dispatch.py": "the same",
    "web/serve/patience.py": "the same",
}
"""Who may use the network."""


def walk(path: Path) -> Iterator[ast.AST]:
    yield from ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def place(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imported(path: Path) -> set[str]:
    """Top names of all absolute imports of a module, lazy ones too."""
    found = set()
    for node in walk(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return found


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in walk(path):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


# The source


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_nothing_is_unpickled_evaluated_or_run_through_a_shell(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & set(UNPICKLING)
    for name, call in calls(path):
        assert name not in EXECUTING, f"line {call.lineno}"
        assert name not in ("os.system", "os.popen", "os.startfile"), f"line {call.lineno}"
        assert not re.fullmatch(r"os\.(exec|spawn)[a-z]+", name), f"line {call.lineno}"
        assert name.split(".")[-1] not in UNPACKING or name.startswith("pc."), f"line {call.lineno}: writes where told"
        for keyword in call.keywords:
            value = ast.unparse(keyword.value)
            assert keyword.arg not in ("shell", "allow_pickle") or value == "False", f"line {call.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=place)
def test_modules_are_imported_by_fixed_names_only(path: Path) -> None:
    """What a name is made of comes from a table of ours, and lies in the package; or it is a library of `EXTRAS`."""
    if place(path) == "extras.py":
        return
    for name, call in calls(path):
        if name.endswith("import_module"):
            first = call.args[0]
            for choice in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                begin = choice.values[0] if isinstance(choice, ast.JoinedStr) else choice
                assert isinstance(begin, ast.Constant), f"line {call.lineno}"
                assert str(begin.value).startswith((".", "parallel_nono.")), f"line {call.lineno}"


def test_libraries_are_imported_by_fixed_names_only() -> None:
    for path in MODULES:
        for name, call in calls(path):
            if name.rpartition(".")[2] == "needed" and place(path) != "extras.py":
                (module,) = call.args
                assert isinstance(module, ast.Constant), f"{path}:{call.lineno}"
                assert module.value in EXTRAS, f"{path}:{call.lineno}"


@pytest.mark.slow
def test_only_these_start_programs() -> None:
    starting = {
        place(path)
        for path in MODULES
        if any(re.match(r"(asyncio\.)?(create_)?subprocess", name) for name in imported(path))
        or any("create_subprocess" in name for name, _ in calls(path))
    }
    assert starting <= set(STARTERS)


@pytest.mark.slow
def test_only_these_use_the_network() -> None:
    network = (
        "socket",
        "urllib.request",
        "http.client",
        "httpx",
        "requests",
        "aiohttp",
        "uvicorn",
        "ftplib",
        "smtplib",
    )
    calling = {place(path) for path in MODULES if any(name.startswith(network) for name in imported(path))}
    assert calling <= set(CALLERS)


@pytest.mark.slow
def test_only_ray_gets_objects_and_only_ours() -> None:
    """Ray pickles what it moves between driver and workers; nothing else of ours imports it."""
    users = {place(path) for path in MODULES if any(name.split(".")[0] == "ray" for name in imported(path))}
    assert all(user.startswith(("engine/", "lanes/")) for user in users)


# Files


class Trap:
    """Springs when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return (open, (str(self.path), "w"))


def pnono(*words: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command as it is installed: the current folder is not on its path."""
    command = [sys.executable, "-P", "-m", "parallel_nono", *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, timeout=300, env={**os.environ, **environment}, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.slow
def test_a_pickle_in_the_metadata_of_a_packed_set_stays_closed(tmp_path: Path) -> None:
    """Old versions of Arrow unpickled extension types of Python when they read a schema (CVE-2023-47248)."""
    import pickle

    (tmp_path / "in.nin").write_text("2 1\n1\n1\n0\n")
    assert pnono("pack", "in.nin", "set.parquet", cwd=tmp_path).returncode == 0
    table = pq.read_table(tmp_path / "set.parquet")
    trap = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickle.dumps(Trap(tmp_path / "sprung")),
    }
    fields = [field.with_metadata(trap) if field.name == "name" else field for field in table.schema]
    table = table.cast(pa.schema(fields, table.schema.metadata))
    pq.write_table(table, tmp_path / "trap.parquet")
    assert b"ARROW:schema" in pq.read_metadata(tmp_path / "trap.parquet").metadata
    for words in (("run", "trap.parquet", "--out", "out"), ("convert", "trap.parquet", "-", "--to", "sgt")):
        pnono(*words, cwd=tmp_path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.slow
def test_pickles_and_programs_as_puzzles_are_rows_with_errors(tmp_path: Path) -> None:
    import pickle

    folder = tmp_path / "in"
    folder.mkdir()
    bomb = pickle.dumps(Trap(tmp_path / "sprung"))
    for ending in ("non", "json", "pbn", "png", "parquet", "rofl", "jap", "toml", "nin"):
        (folder / f"bomb.{ending}").write_bytes(bomb)
    (folder / "code.json").write_text('{"rows": "__import__(\'os\').system(\'touch sprung\')", "columns": [[1]]}')
    (folder / "code.csv").write_text("id,rows,columns\n1,=cmd|'/c touch sprung'!A0,1\n")
    done = pnono("run", folder, "--out", "out", cwd=tmp_path)
    assert done.returncode == 3
    assert not list(tmp_path.rglob("sprung"))
    assert set(pq.read_table(tmp_path / "out/rows")["outcome"].to_pylist()) == {"invalid"}


@pytest.mark.slow
def test_a_folder_of_puzzles_cannot_change_what_pnono_does(tmp_path: Path) -> None:
    """Plans, solvers and options come from the command line, never from where the puzzles lie."""
    (tmp_path / "one.nin").write_text("2 1\n1\n1\n0\n")
    for name in ("pnono.toml", "run.toml", "pyproject.toml", "configs/run.toml", "configs/plans/default.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('[run]\nplan = "lines-only"\nout = "elsewhere"\nstages = ["line"]\n')
    pnono("run", "one.nin", "--out", "out", cwd=tmp_path)
    assert not (tmp_path / "elsewhere").exists()
    assert pq.read_table(tmp_path / "out/rows")["outcome"].to_pylist() == ["unique"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs users")
def test_compiled_code_is_loaded_from_our_own_folder_only(tmp_path: Path) -> None:
    """What lies there is run, and Numba unpickles what is its own."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    script = "from parallel_nono.kernels import folder_of; print(folder_of('native'))"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(shared), "XDG_CACHE_HOME": str(tmp_path / "own")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip().startswith(str(tmp_path / "own" / "pnono"))


# Ray


@pytest.mark.ray
@pytest.mark.slow
def test_ray_listens_on_loopback_asks_for_a_token_and_imports_nothing_from_the_current_folder(tmp_path: Path) -> None:
    folder = tmp_path / "puzzles"
    folder.mkdir()
    for name in (
        "sitecustomize",
        "numpy",
        "numba",
        "pyarrow",
        "colorsys",
        "uvloop",
        "parallel_nono",
        "psutil",
        "typer",
    ):
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'a').write({name!r})\n")
    size = ("--count", 6, "--height", 60, "--width", 60, "--set", "density=50")
    assert pnono("generate", "noise", "hard.sgt", *size, cwd=folder).returncode == 0
    command = [sys.executable, "-P", "-m", "parallel_nono", "run", "hard.sgt", "--engine", "ray", "--workers", "2"]
    driver = subprocess.Popen([*command, "--seconds", "60", "--quiet", "--out", str(tmp_path / "out")], cwd=folder)
    try:
        family = _until_workers_are_up(driver)
        listening = [each for process in family for each in _listening(process)]
        assert len(listening) > 5
        assert {ip.removeprefix("::ffff:") for ip, _, _ in listening} <= {"127.0.0.1", "::1"}
        assert not [ip for ip, port, _ in listening if port == 8265], "the dashboard"
        for process in family:
            if process.is_running() and process.name() in ("gcs_server", "raylet"):
                environment = process.environ()
                assert environment["RAY_USAGE_STATS_ENABLED"] == "0"
                assert environment["RAY_AUTH_MODE"] == "token"
                assert "RAY_AUTH_TOKEN" not in environment, "the secret is in a file that only we can read"
                assert Path(environment["RAY_AUTH_TOKEN_PATH"]).stat().st_mode & 0o777 == 0o600
        (gcs,) = {port for _, port, name in listening if "gcs" in name}.intersection(_gcs_ports(family))
        assert _can_ask(gcs, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN_PATH=environment["RAY_AUTH_TOKEN_PATH"])
        assert not _can_ask(gcs, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN="0" * 64)
        assert not _can_ask(gcs, RAY_AUTH_MODE="disabled")
    finally:
        family = psutil.Process(driver.pid).children(recursive=True) if driver.poll() is None else []
        driver.terminate()
        driver.wait(timeout=60)
        for process in family:
            if process.is_running():
                process.kill()
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()


def _listening(process: psutil.Process) -> list[tuple[str, int, str]]:
    """Address, port and program of each socket that it listens on; nothing once it has ended, as some of Ray's do."""
    with contextlib.suppress(psutil.NoSuchProcess):
        found = [each.laddr for each in process.net_connections("inet") if each.status == psutil.CONN_LISTEN]
        return [(address.ip, address.port, process.name()) for address in found]
    return []


def _until_workers_are_up(driver: subprocess.Popen[bytes]) -> list[psutil.Process]:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and driver.poll() is None:
        family = psutil.Process(driver.pid).children(recursive=True)
        titles = [title(process, 1) for process in family]
        if sum("ray::Worker" in title for title in titles) == 2:
            time.sleep(1)
            return family
        time.sleep(0.1)
    raise AssertionError("the workers did not come up")


def _gcs_ports(family: list[psutil.Process]) -> set[int]:
    """Where the others are told that Ray's head is."""
    lines = [title(process) for process in family]
    return {int(port) for line in lines for port in re.findall(r"--gcs[-_]address=\S+?:(\d+)", line)}


def _can_ask(port: int, **authentication: str) -> bool:
    """Whether another process on this machine gets a solution of Ray's head at a port."""
    script = (
        f"from ray._raylet import GcsClient; print('nodes', len(GcsClient('127.0.0.1:{port}').get_all_node_info(10)))"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment | authentication, timeout=90
    )
    return "nodes 1" in done.stdout
