"""Kernels of torch.compile: compiled in the captured program, and from the code that torch writes out."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from places import DATA

import memsim
from memsim.support.errors import InputError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
        reason="Triton or torch is not installed",
    ),
]

PROGRAM = """
import torch

@torch.compile
def scores(x, y):
    return torch.softmax(2 * x + y, dim=1)

x, y = torch.rand(32, 200, device="cuda"), torch.rand(32, 200, device="cuda")
found = scores(x, y)
assert found.is_cuda and torch.allclose(found.cpu(), torch.softmax(2 * x.cpu() + y.cpu(), dim=1))
"""


def test_a_compiled_function_launches_its_kernels(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    captured = memsim.capture(script, out=tmp_path / "t.h5", gpu="a100", to_end=True)
    assert len(captured.launches) == 1 and captured.trace.parameters["compiled_for"] == "sm_80"


def test_kernels_written_by_torch_are_tuned_and_run(tmp_path: Path) -> None:
    trace = memsim.capture(DATA / "ptx" / "written_out.py", out=tmp_path / "t.h5", gpu="a100").trace
    assert trace.kernel == "relu_of_sum" and len(trace.arrays) == 3


HALVES = """
import torch

x, y = (torch.randn(64, 96, 64, device="cuda", dtype=torch.float16, requires_grad=True) for _ in range(2))
products = [torch.bmm(x, y.transpose(1, 2)), torch.addmm(x[0, :, :1], x[0], y[0].T), x[0] @ y[0].T]
for one in products:
    assert one.is_cuda and one.dtype == torch.float16
exact = x[0].detach().cpu().double() @ y[0].detach().cpu().double().T
assert (products[2].detach().cpu() == exact.half()).float().mean() > 0.999
"""


def test_products_of_halves_add_in_single_precision(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(HALVES)
    with pytest.raises(InputError, match="launched no kernel"):  # it has run to its end
        memsim.capture(script, out=tmp_path / "t.h5", gpu="a100", to_end=True)
