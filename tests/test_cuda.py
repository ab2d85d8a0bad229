"""Settling on a CUDA device: under Numba's simulator equal to the CPU, compiled for a device without one, refused."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parallel_nono.solver.cuda import unavailable

HERE = Path(__file__).parent


@pytest.mark.slow
def test_device_kernels_equal_those_of_the_cpu_under_the_simulator() -> None:
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}  # read when numba is imported
    done = subprocess.run(
        [sys.executable, HERE / "cuda_simulated.py"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    words = done.stdout.split()
    assert words[0] == "ok"
    assert int(words[1]) > 2500
    assert int(words[3]) > 20
    assert int(words[5]) >= 200


def test_without_a_device_one_sentence_says_so() -> None:
    code = "from parallel_nono.solver.cuda import unavailable; print(unavailable())"
    environment = os.environ | {"NUMBA_DISABLE_CUDA": "1"}
    environment.pop("NUMBA_ENABLE_CUDASIM", None)
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.startswith("no CUDA device here: ")
    assert said.stdout.count("\n") == 1
    assert "Traceback" not in said.stderr


@pytest.mark.slow
def test_kernels_compile_for_a_device() -> None:
    """To PTX: what the simulator takes need not be what the compiler takes."""
    cuda = pytest.importorskip("numba.cuda")
    from numba import types
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv.nvvm import NVVM, NvvmSupportError

    from parallel_nono.kernels.clues import Clues
    from parallel_nono.kernels.cuda import Batch, Task, merge_view, propagate_each, solve_lines

    try:
        NVVM()
    except NvvmSupportError:
        pytest.skip("the NVVM library of the CUDA toolkit is not installed")
    i64, words, numbers = types.int64, types.uint64[::1], types.int64[::1]
    int32s, flags = types.int32[::1], types.uint8[::1]
    task = types.NamedTuple([i64] * 8 + [flags, int32s, int32s, int32s], Task)
    solve = types.void(int32s, task, words, numbers, flags, int32s)
    merge = types.void(words, i64, i64, i64, i64, int32s)
    clues = types.NamedTuple([int32s] * 7, Clues)
    batch = types.NamedTuple([int32s, numbers, clues, int32s, *[i64] * 7], Batch)
    each = types.void(batch, words, numbers, types.int64[:, ::1])

    class Device:
        compute_capability = (9, 0)

    with pytest.MonkeyPatch.context() as patch:
        if unavailable():  # device functions are compiled for the device at hand, and there is none
            patch.setattr(dispatcher, "get_current_device", Device)
        for kernel, signature in ((solve_lines, solve), (merge_view, merge), (propagate_each, each)):
            ptx, _ = cuda.compile_ptx(kernel.py_func, signature, cc=Device.compute_capability)
            assert ".visible .entry" in ptx
            assert ".f64" not in ptx  # a word and a signed number make a float: none may
            if kernel is propagate_each:
                barriers = re.findall(r"^\s*(?:bar|barrier)\.(?:cta\.)?(\w+)", ptx, re.MULTILINE)
                assert sorted(barriers) == ["red", "red", "sync", "sync", "sync"]  # none copied into a branch
