"""The authors' programs, unchanged, where the reader has downloaded them (see README.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import memsim
from experiments.bandwidth.kernels import assembled
from memsim.api.arguments import trace_file
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx import DeviceMemory, PtxLaunch, trace_launch

REPOSITORY = "CUDAMicroBench"  # below the folder of downloads


@dataclass(frozen=True)
class Program:
    """The files of a pair's program below the repository, and the kernel of each version; n is its argument."""

    files: Sequence[str]
    slow: str
    fast: str


# WarpDivRedux's Makefile has nvcc's -G, without any optimization; the authors publish the PTX of that build.
DEBUG_BUILD = Program(
    ["WarpDivRedux/warpDivergenceTest_cudakernel.ptx"], "_Z14warpDivergencePfS_S_", "_Z16noWarpDivergencePfS_S_"
)
_DEBUG_BLOCK = 256  # threads, each of which reads a float of x and of y, and writes one of z
PROGRAMS = {
    "CoMem": Program(
        ["CoMem_AXPY/axpy_cuda.c", "CoMem_AXPY/axpy_cudakernel.cu"], "axpy_cudakernel_block", "axpy_cudakernel_cyclic"
    ),
    "BankRedux": Program(
        ["BankRedux/sum_cuda.c", "BankRedux/sum_cudakernel.cu"], "sum_cudakernel_bc", "sum_cudakernel"
    ),
    "Shmem": Program(["Shmem/mm_omp_cuda.c", "Shmem/mm_kernel.cu"], "global_block", "shared_block"),
}  # fmt: skip


def captured(benchmark: str, version: str, n: int, gpu: str, downloaded: Path | None) -> memsim.Trace | None:
    """Trace the whole launch of the program itself; None where it is not there, or not one of the programs here.

    Args:
        version: slow or fast.
        downloaded: the folder of the downloads.
    """
    program = PROGRAMS.get(benchmark)
    if downloaded is None or not (downloaded / REPOSITORY).is_dir():
        return None
    if benchmark == "WarpDivRedux":
        return _debug_build(DEBUG_BUILD.slow if version == "slow" else DEBUG_BUILD.fast, n, gpu, downloaded)
    if program is None:
        return None
    return memsim.capture(
        [downloaded / REPOSITORY / file for file in program.files],
        arguments=[str(n)],
        kernel=program.slow if version == "slow" else program.fast,
        blocks="all",
        gpu=gpu,
    ).trace


def _debug_build(kernel: str, n: int, gpu: str, downloaded: Path) -> memsim.Trace:
    """Trace a kernel of WarpDivRedux from the authors' PTX, assembled for the GPU."""
    memory = DeviceMemory()
    vectors = [memory.add(np.zeros(n, np.float32), name) for name in ("x", "y", "z")]
    ptx = (downloaded / REPOSITORY / DEBUG_BUILD.files[0]).read_text(encoding="utf-8")
    launch = PtxLaunch(ptx, kernel, (-(-n // _DEBUG_BLOCK), 1, 1), (_DEBUG_BLOCK, 1, 1), vectors)
    machine = load_gpu(gpu)
    return trace_launch(assembled(launch, machine), memory, Path(trace_file(None)), machine, blocks="all")
