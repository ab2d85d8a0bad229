"""Give every command that reads a folder of results what is almost one: damaged bytes, odd facts, odd columns.

    python scripts/fuzz_results.py                       two minutes
    python scripts/fuzz_results.py --seconds 3600 --seed 7

Every command must end within a minute with an exit code that its help promises, and a resumed run must have a
row for every puzzle. The first folder that shows another end is kept, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import pyarrow as pa
import pyarrow.parquet as pq
from rows import renamed, rewritten

from parallel_nono.cli import main as pnono
from parallel_nono.report.parquet import batches
from parallel_nono.report.parts import parts

HOOK = "width 3\nheight 3\n\nrows\n2\n1\n3\n\ncolumns\n3\n1,1\n1\n"
N = 3
ODD: list[Any] = [None, True, -1, 0, float("inf"), float("nan"), 2**70, "", "x", "[/x]", "a:b", "\x1b[31m", "\u202e"]
ODD += [[], {}, [1], {"a": 1}, {"a": []}]
KEYS = (b"pnono.run", b"pnono.session", b"pnono.hosts", b"pnono.sessions", b"pnono.schema")
COMMANDS: tuple[tuple[tuple[str, ...], set[int]], ...] = (
    (("report", "run"), {0, 3}),
    (("report", "run", "--format", "csv", "--rows", "csv"), {0, 3}),
    (("report", "run", "--format", "json", "--rows", "jsonl"), {0, 3}),
    (("report", "run", "--html", "page.html"), {0, 3}),
    (("compare", "run", "run"), {0, 1, 3}),
    (("compact", "run"), {0, 3}),
    (("run", "in", "--out", "run", "--resume", "--engine", "local"), {0, 2}),
)


def command(*words: str) -> tuple[int, str]:
    """The exit code, and what stands on standard error."""
    streams = io.StringIO(), io.StringIO()
    for stream in streams:
        stream.reconfigure = lambda **_: None  # type: ignore[attr-defined]
    signal.alarm(60)
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            pnono(list(words))
        except SystemExit as ended:
            return int(ended.code or 0), streams[1].getvalue()
        finally:
            signal.alarm(0)
    return 0, streams[1].getvalue()


def sample(folder: Path) -> None:
    """A run of two parts, and one more puzzle among its inputs."""
    os.chdir(folder)
    Path("in").mkdir()
    for n in range(N):
        Path(f"in/{n}.non").write_text(HOOK)
        if n < N - 1:
            assert command("run", "in", "--out", "run", "--quiet", "--engine", "local", "--resume")[0] == 0


def odd(rng: random.Random, value: Any) -> Any:
    """A JSON value with something in it replaced or left out."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {name: each for name, each in value.items() if name != key}
        return {**value, key: odd(rng, value[key])}
    return rng.choice(ODD)


def bytes_changed(rng: random.Random, part: Path) -> None:
    data = bytearray(part.read_bytes())
    for _ in range(rng.choice((1, 1, 3, 50))):
        place = rng.randrange(rng.choice((0, max(0, len(data) - 2500))), len(data))
        data[place] = rng.randrange(256)
    part.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)
    name = rng.random()
    if name < 0.3:
        renamed(part)
    elif name < 0.6:  # as versions before wrote it
        part.rename(part.with_name(f"{part.stem.rpartition('-')[0]}.parquet"))


def facts_changed(rng: random.Random, part: Path) -> None:
    table = pq.read_table(part, partitioning=None)
    metadata, key = dict(table.schema.metadata), rng.choice(KEYS)
    text = json.dumps(odd(rng, json.loads(metadata.get(key, b"{}"))))
    rewritten(part, table.replace_schema_metadata({**metadata, key: text if rng.random() < 0.9 else "{"}))


def column_changed(rng: random.Random, part: Path) -> None:
    table = pq.read_table(part, partitioning=None)
    place = rng.randrange(table.num_columns)
    field = table.schema.field(place)
    if rng.random() < 0.2:
        rewritten(part, table.remove_column(place))
        return
    kind = rng.choice((field.type, pa.string(), pa.int8(), pa.float64()))
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    values: list[Any] = [None, 0, -1, 1, 2**31 - 1, 2**62, float("nan"), float("inf"), True, "", "\x1b[31m", "[/x]"]
    rng.shuffle(values)
    for value in values:
        with contextlib.suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            column = pa.array([value] * table.num_rows, plain)
            column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column
            rewritten(part, table.set_column(place, field.name, column))
            return


def run_json_changed(rng: random.Random, part: Path) -> None:
    path = part.parents[1] / "run.json"
    path.write_text(json.dumps(odd(rng, json.loads(path.read_text()))) if rng.random() < 0.8 else "{")
    if rng.random() < 0.5:
        shutil.rmtree(part.parent)


CHANGES: tuple[Callable[[random.Random, Path], None], ...] = (
    bytes_changed,
    facts_changed,
    column_changed,
    run_json_changed,
)


def complaint(words: tuple[str, ...], codes: set[int]) -> str:
    """What is wrong with the end of a command; "" if nothing."""
    try:
        code, said = command(*words)
    except BaseException as error:
        return f"{' '.join(words)}: {type(error).__name__}: {error}"
    if code not in codes:
        return f"{' '.join(words)}: {code}: {said[-300:]}"
    if words[0] == "run" and not code:
        found = Counter(name for rows in batches(Path("run"), ["source"]) for name in rows.column("source").to_pylist())
        if found.total() < N:  # not the names: these may be what was changed
            return f"{' '.join(words)}: rows of {dict(found)}"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, began, n = random.Random(options.seed), time.monotonic(), 0
    with tempfile.TemporaryDirectory() as scratch:
        base, work = Path(scratch, "base"), Path(scratch, "work")
        base.mkdir()
        sample(base)
        while time.monotonic() - began < options.seconds:
            os.chdir(scratch)
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(base, work)
            os.chdir(work)
            change = rng.choice(CHANGES)
            change(rng, rng.choice(list(parts(Path("run")))))
            before = Path(scratch, "before")
            shutil.rmtree(before, ignore_errors=True)
            shutil.copytree(work, before)
            n += 1
            for words, codes in COMMANDS:
                if said := complaint(words, codes):
                    kept = Path(tempfile.mkdtemp(prefix="fuzz-results-"))
                    shutil.copytree(before, kept, dirs_exist_ok=True)
                    print(f"{change.__name__}: {said}\nkept in {kept}")
                    return 1
    print(f"{n:,} folders, {n * len(COMMANDS):,} commands: all ended as their help says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
