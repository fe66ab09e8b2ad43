"""The programs themselves, unchanged, where the reader has downloaded them (see README.md)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import memsim
from experiments.modern_counters.rows import CASES

ADD = "CudaProgramming/csrc/readWriteOffset.cu"
TRANSPOSE = "CudaProgramming/csrc/smemTranspose.cu"
SILU = ("cs599k/silu/CUDA/main.cu", "cs599k/silu/CUDA/silu.cu")
_CONVOLUTION = "hpca-gpu-memory-profiling"
CONVOLUTION = tuple(
    f"{_CONVOLUTION}/src/{name}" for name in ("main.cu", "utils.cu", "cpu_reference.cpp", "conv_kernels.cu")
)
_TENSORS = Path(__file__).with_name("include")  # in the place of PyTorch's


@dataclass(frozen=True)
class Program:
    """Where a kernel is launched: files and folders below the downloads' folder, and the run's arguments."""

    files: tuple[str, ...]
    kernel: str
    arguments: str = ""
    launch: int = 0
    includes: tuple[Path | str, ...] = ()
    definitions: tuple[str, ...] = ()


def _add(kernel: str, launch: int) -> Program:
    # CUDA 13 has removed the name that ends in _v2.
    renamed = ("cudaGetDeviceProperties_v2=cudaGetDeviceProperties",)
    return Program((ADD,), kernel, "0,11,128 512", launch, definitions=renamed)


def _convolution(kernel: str, variant: str) -> Program:
    arguments = f"--n=16 --h=2048 --w=2048 --k=11 --impl={variant} --iters=1"
    return Program(CONVOLUTION, kernel, arguments, includes=(f"{_CONVOLUTION}/include",))


PROGRAMS = {
    **{f"add {k}": _add("readOffset", n) for n, k in enumerate((0, 11, 128))},
    **{f"add {k} read-only": _add("readOnlyCache", n) for n, k in enumerate((0, 11, 128))},
    **{f"add {k} past L1": _add("readOffset", n) for n, k in enumerate((0, 11, 128))},
    **{
        case: Program((TRANSPOSE,), kernel, includes=(_TENSORS,))
        for case, kernel in (
            ("copy", "copyGmem"),
            ("transpose naive", "naiveGmem"),
            ("transpose shared", "transposeSmem"),
            ("transpose padded", "transposeSmemPad"),
            ("transpose unrolled", "transposeSmemUnrollPad"),
        )
    },
    "convolution by columns": _convolution("kernel_conv2d_baseline", "baseline"),
    "convolution by rows": _convolution("kernel_conv2d_variant_1", "variant1"),
    "convolution shared": _convolution("kernel_conv2d_variant2", "variant2"),
    "silu": Program(SILU, "silu_kernel", "--kernel 0"),
}


def captured(name: str, downloaded: Path) -> memsim.Trace:
    """Trace the launch of the program itself.

    Args:
        name: a key of PROGRAMS.
        downloaded: the folder of the downloads.
    """
    program, case = PROGRAMS[name], CASES[name]
    return memsim.capture(
        [downloaded / file for file in program.files],
        arguments=program.arguments.split(),
        kernel=program.kernel,
        launch=program.launch,
        blocks="all" if case.whole else None,
        includes=[downloaded / folder for folder in program.includes],
        definitions=program.definitions,
        gpu=case.gpu,
    ).trace
