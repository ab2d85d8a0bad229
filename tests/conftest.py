"""Shared fixtures, how the tests are shared out, and what each costs.

`../shared` holds benchmark puzzles and right solutions that are not ours to ship.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
if UNCOMPILED:
    from uncompiled import NOT_SO, use_python

    use_python()

# The first compiled call takes seconds, so no example has a deadline. What decides if a change may land tries the same
# examples every time; a run by hand tries new ones.
settings.register_profile("pnono", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("pnono")

# A shell has what it starts in the background ignore Ctrl-C, and children inherit that: those that tests interrupt
# would not hear it. With a handler of ours, children have the default.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup
    signal.signal(signal.SIGHUP, lambda *_: None)

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of puzzles and truths beside the checkout; a test that needs it is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared beside the checkout (benchmark puzzles that are not ours to ship)")
    return SHARED


# Two processes share the tests (`-n 2`), file by file, and should end at the same time: what takes long comes first,
# and the tests of these files, all of them long and with nothing in common, are shared out one by one.

ONE_BY_ONE = ("test_cluster.py", "test_nodes.py")
RAY_S, SLOW_S, OTHER_S = 20.0, 2.0, 0.05
"""Seconds that a test may take, by its marks."""

FEW_EXAMPLES = 8
"""As kernels in plain Python are some hundred times slower."""

BROWSERS = {"browser", "chromium"}
"""Fixtures that take seconds to start and to end, whatever the test itself takes."""


def scope_of(nodeid: str) -> str:
    """What stays together: a file, or a test."""
    path = nodeid.split("::", 1)[0]
    return nodeid if Path(path).name in ONE_BY_ONE else path


def seconds_of(item: pytest.Item) -> float:
    return RAY_S if item.get_closest_marker("ray") else SLOW_S if item.get_closest_marker("slow") else OTHER_S


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if UNCOMPILED:
        left_out = [item for item in items if getattr(item, "originalname", "") in NOT_SO or "12.nin" in item.name]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    seconds: dict[str, float] = defaultdict(float)
    for item in items:
        if BROWSERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
        if UNCOMPILED and (drawn := getattr(getattr(item, "obj", None), "_hypothesis_internal_use_settings", None)):
            item.obj._hypothesis_internal_use_settings = settings(drawn, max_examples=FEW_EXAMPLES)
        seconds[scope_of(item.nodeid)] += seconds_of(item)
    place = {scope: at for at, scope in enumerate(in_turns(seconds))}
    items.sort(key=lambda item: place[scope_of(item.nodeid)])


def in_turns(seconds: dict[str, float]) -> list[str]:
    """Files, the longest first, and tests of clusters spread evenly between them: these mostly wait for processes of
    Ray, so that the other worker may as well compute. seconds: that each scope may take."""
    scopes = sorted(seconds, key=lambda scope: (-seconds[scope], scope))
    waiting = [scope for scope in scopes if "::" in scope]
    files = [scope for scope in scopes if "::" not in scope]
    found, done, total = [], 0.0, sum(seconds[scope] for scope in files)
    for scope in files:
        found += [scope]
        done += seconds[scope]
        while waiting and len(waiting) > (1 - done / total) * sum("::" in each for each in scopes):
            found += [waiting.pop(0)]
    return [*found, *waiting]


class LongFirst(LoadScopeScheduling):
    """By scope, in the order of the collection (--no-loadscope-reorder)."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LongFirst | None:
    return LongFirst(config, log) if config.getoption("dist") == "loadfile" else None


# What each test costs: processor time does not depend on who else uses the machine.


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "append to FILE for each test: its CPU seconds, those of the processes it started, wall seconds, its name"
    parser.addoption("--costs", metavar="FILE", help=text)


def _spent() -> tuple[float, ...]:
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return (*(usage.ru_utime + usage.ru_stime for usage in found), time.perf_counter())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = _spent()
    result = yield
    if path := item.config.getoption("--costs"):
        spent = (f"{after - then:.3f}" for after, then in zip(_spent(), before, strict=True))
        with open(path, "a", encoding="utf-8") as file:
            file.write("\t".join((*spent, item.nodeid)) + "\n")
    return result
