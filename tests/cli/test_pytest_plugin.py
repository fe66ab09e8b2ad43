"""The pytest plugin: its option, its fixture, and what tests can assert."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from compilers import needs_capture
from planted_defects import PROGRAM

WORKLOAD = """
import numpy as np
from memsim import Launch, workload

def copied(t, a, b):
    b[t.global_id] = a[t.global_id]

@workload
def copy(n: int = 1024) -> Launch:
    return Launch(copied, n // 256, 256, dict(a=np.zeros(n, np.float32), b=np.zeros(n, np.float32)))
"""
TESTS = """
import pytest
from kernels import copy

def test_a_workload(memsim):
    found = memsim.profile(copy, n=2048, gpu="tesla-c2050")
    assert found.kernel("copied").sectors_per_request == 4
    assert found.kernel().time == found.time > 0
    with pytest.raises(LookupError, match="other was requested; the program launched copied"):
        found.kernel("other")

def test_that_fails(memsim):
    assert memsim.profile(copy, gpu="tesla-c2050").time < 0

def test_a_local_function_is_refused(memsim):
    with pytest.raises(TypeError, match="must be at the top level of a module"):
        memsim.profile(lambda: None)
"""


def run(folder, *options):
    command = [sys.executable, "-m", "pytest", "-p", "memsim.pytest_plugin", "-p", "no:cacheprovider", "-rs", *options]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # installed, it would be loaded twice
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(WORKLOAD)
    (tmp_path / "test_kernels.py").write_text(TESTS)
    return tmp_path


@pytest.mark.slow
def test_without_option_tests_are_skipped(folder):
    done = run(folder)
    assert done.returncode == 0 and "3 skipped" in done.stdout and "give --memsim" in done.stdout


@pytest.mark.slow
def test_with_the_option_they_assert_figures(folder):
    done = run(folder, "--memsim")
    assert done.returncode == 1 and "1 failed, 2 passed" in done.stdout, done.stdout


@needs_capture
@pytest.mark.slow
def test_program_is_compared_with_baseline(tmp_path):
    (tmp_path / "kernels.cu").write_text(PROGRAM.read_text())
    update = [sys.executable, "-m", "memsim", "check", "--update", "kernels.cu", "--gpu", "a100"]
    subprocess.run(update, cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "test_kernels.py").write_text("""
def test_kernels(memsim):
    found = memsim.profile("kernels.cu")
    for kernel in found.kernels:
        assert kernel.time == memsim.baseline(kernel.kernel).time
    assert found.kernel("turn").bank_conflicts == 0
""")
    done = run(tmp_path, "--memsim", "--memsim-gpu", "a100")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


@needs_capture
@pytest.mark.slow
def test_function_that_launches_kernels_is_profiled(tmp_path):
    pytest.importorskip("numba.cuda")
    (tmp_path / "kernels.py").write_text("""
import numpy as np
from numba import cuda

@cuda.jit
def scale(out, a):
    i = cuda.grid(1)
    out[i] = 2 * a[i]

def launch(n, *, times):
    a, out = cuda.to_device(np.zeros(n, np.float32)), cuda.device_array(n, np.float32)
    for _ in range(times):
        scale[n // 256, 256](out, a)
    cuda.synchronize()
""")
    (tmp_path / "test_kernels.py").write_text("""
import kernels

def test_launches(memsim):
    (one,) = memsim.profile(kernels.launch, 4096, times=2, gpu="a100").kernels
    assert (one.launches, one.sectors_per_request) == (2, 4)
""")
    done = run(tmp_path, "--memsim")
    assert done.returncode == 0, done.stdout
