"""CuTe DSL: compiled functions run as they are, on a device that is not there; results are numpy's."""

from __future__ import annotations

import importlib.util

import pytest

import memsim
from memsim.support.errors import InputError
from memsim.trace.schema import Kind

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("cutlass") is None, reason="nvidia-cutlass-dsl is not installed (memsim[cute])"
)

PROGRAM = """
import numpy as np
import cutlass, cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack

@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, n: cutlass.Int32, TIMES: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    size, _, _ = cute.arch.block_dim()
    i = block * size + thread
    if i < n:
        c[i] = TIMES * a[i] + b[i]

@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, n: cutlass.Int32):
    add_kernel(a, b, c, n, 3).launch(grid=[cute.ceil_div(n, 256), 1, 1], block=[256, 1, 1])
"""

RUN = """
x, y, z = (np.random.rand(1000).astype("f4") for _ in range(3))
add(from_dlpack(x), from_dlpack(y), from_dlpack(z), 1000)
assert np.allclose(z, 3 * x + y)
compiled = cute.compile(add, *(from_dlpack(one).mark_layout_dynamic() for one in (x, y, z)), 1000)
compiled(from_dlpack(x), from_dlpack(x), from_dlpack(z), 500)
assert np.allclose(z[:500], 4 * x[:500]) and np.allclose(z[500:], (3 * x + y)[500:])
"""


def _program(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("gpu", "target"), [("a100", "sm_80"), ("h100", "sm_90")])
def test_a_program_runs_as_it_is_and_has_its_own_lines_and_names(tmp_path, gpu, target):
    captured = memsim.capture(_program(tmp_path, PROGRAM + RUN), out=tmp_path / "t", gpu=gpu, launch="all")
    assert captured.launches == {"add_kernel": 2}
    first, second = captured.traces
    assert first.launch.grid == (4, 1, 1) and second.launch.grid == (2, 1, 1) and first.launch.block == (256, 1, 1)
    assert {(first.arrays[op.array].name, op.kind, op.line) for op in first.ops} == {
        ("a", Kind.load, 13), ("b", Kind.load, 13), ("c", Kind.store, 13)
    }  # fmt: skip
    assert {op.file.rpartition("/")[2] for op in first.ops} == {"program.py"}
    assert first.parameters["compiled_for"].startswith(target)


def test_an_access_outside_is_one_line(tmp_path):
    outside = "\nx = np.ones(100, 'f4')\nadd(from_dlpack(x), from_dlpack(x), from_dlpack(x), 1000)\n"
    with pytest.raises(InputError, match=r"outside all arrays \(from .*program\.py:13\)"):
        memsim.capture(_program(tmp_path, PROGRAM + outside), out=tmp_path / "t.h5", gpu="a100")


def test_stop_ends_the_program(tmp_path):
    script = _program(tmp_path, PROGRAM + RUN + "raise SystemExit('not here')\n")
    assert memsim.capture(script, out=tmp_path / "t.h5", gpu="a100", stop=True).launches == {"add_kernel": 1}


TORCH = """
import torch
x = torch.rand(1000, device="cuda")
z = torch.zeros_like(x)
add(from_dlpack(x), from_dlpack(x), from_dlpack(z), 1000)
assert torch.allclose(z, 4 * x)
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed (memsim[torch])")
def test_tensors_of_torch(tmp_path):
    script = _program(tmp_path, PROGRAM + TORCH)
    assert memsim.capture(script, out=tmp_path / "t.h5", gpu="a100").launches == {"add_kernel": 1}
