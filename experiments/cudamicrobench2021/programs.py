"""The authors' programs, unchanged, where the reader has downloaded them (see README.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import memsim

REPOSITORY = "CUDAMicroBench"  # below the folder of downloads


@dataclass(frozen=True)
class Program:
    """The files of a pair's program below the repository, and the kernel of each version; n is its argument."""

    files: Sequence[str]
    slow: str
    fast: str


PROGRAMS = {
    "WarpDivRedux": Program(
        ["WarpDivRedux/warpDivergenceTest_cuda.c", "WarpDivRedux/warpDivergenceTest_cudakernel.cu"],
        "warpDivergence", "noWarpDivergence",
    ),
    "CoMem": Program(
        ["CoMem_AXPY/axpy_cuda.c", "CoMem_AXPY/axpy_cudakernel.cu"], "axpy_cudakernel_block", "axpy_cudakernel_cyclic"
    ),
    "BankRedux": Program(
        ["BankRedux/sum_cuda.c", "BankRedux/sum_cudakernel.cu"], "sum_cudakernel_bc", "sum_cudakernel"
    ),
    "Shmem": Program(["Shmem/mm_omp_cuda.c", "Shmem/mm_kernel.cu"], "global_block", "shared_block"),
}  # fmt: skip


def captured(benchmark: str, version: str, n: int, gpu: str, downloaded: Path | None) -> memsim.Trace | None:
    """Trace the whole launch of the program itself; None where it is not there, or not one of PROGRAMS.

    Args:
        version: slow or fast.
        downloaded: the folder of the downloads.
    """
    program = PROGRAMS.get(benchmark)
    if program is None or downloaded is None or not (downloaded / REPOSITORY).is_dir():
        return None
    return memsim.capture(
        [downloaded / REPOSITORY / file for file in program.files],
        arguments=[str(n)],
        kernel=program.slow if version == "slow" else program.fast,
        blocks="all",
        gpu=gpu,
    ).trace
