"""Extensions of torch that call functions of its CUDA libraries, which the CPU build lacks."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

import memsim

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (importlib.util.find_spec("torch") and shutil.which("nvcc") and shutil.which("ninja")),
        reason="torch, nvcc or ninja is not installed",
    ),
]

PROGRAM = """
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = r'''
#include <torch/types.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDABlas.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

__global__ void twice_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

torch::Tensor twice(torch::Tensor x, int64_t threads) {
    const c10::cuda::CUDAGuard guard(x.device());
    auto y = torch::empty_like(x);
    auto stream = at::cuda::getCurrentCUDAStream();
    cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
    cublasPointerMode_t mode;
    TORCH_CUDABLAS_CHECK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    TORCH_CUDABLAS_CHECK(cublasGetPointerMode(handle, &mode));
    TORCH_CHECK(mode == CUBLAS_POINTER_MODE_DEVICE && at::cuda::getCurrentCUDASparseHandle());
    TORCH_CHECK(at::cuda::getCurrentDeviceProperties()->multiProcessorCount == 128);
    TORCH_CHECK(stream != c10::cuda::getDefaultCUDAStream());
    int n = x.numel();
    twice_kernel<<<(n + 255) / 256, threads, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
'''

DECLARED = "torch::Tensor twice(torch::Tensor x, int64_t threads);"
module = load_inline("twice_of_memsim", cpp_sources=DECLARED, cuda_sources=SOURCE, functions=["twice"])
x = torch.randn(1000, device="cuda")
with torch.cuda.stream(torch.cuda.Stream()):
    assert torch.equal(module.twice(x, 256), 2 * x)
    try:
        module.twice(x, 5000)
    except RuntimeError as error:
        assert "invalid configuration argument" in str(error)
    else:
        raise SystemExit("a launch of 5000 threads was accepted")
"""


def test_streams_guards_and_checks_of_extensions(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    captured = memsim.capture(script, out=tmp_path / "t.h5", gpu="rtx4090", to_end=True)
    assert captured.launches == {"twice_kernel": 1}
