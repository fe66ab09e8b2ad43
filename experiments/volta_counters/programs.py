"""The programs of the kernels that can be captured, unchanged, where the reader has downloaded them (see README.md)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import memsim
from experiments.gv100_launches.programs import Program, whole_launch
from experiments.volta_counters.inputs import make_inputs

WANTED = "cuda-samples and gpu-app-collection"
_SAMPLES = "cuda-samples/Samples"
_RODINIA = "gpu-app-collection/src/cuda/rodinia/3.1/cuda"
_PARBOIL = "gpu-app-collection/src/cuda/parboil"


def _sample(folder: str, *files: str, launch: int = 0, image: str = "") -> Program:
    files_below = [f"{_SAMPLES}/{folder}/{file}" for file in files]
    return Program(
        files_below, launch=launch, includes=["cuda-samples/Common"], make_inputs=partial(make_inputs, image)
    )


def _rodinia(folder: str, *files: str, arguments: str) -> Program:
    return Program(
        [f"{_RODINIA}/{folder}/{file}" for file in files], arguments, make_inputs=partial(make_inputs, arguments)
    )


def _parboil(name: str, *files: str, arguments: str, fast_math: bool = False) -> Program:
    own = [f"{_PARBOIL}/benchmarks/{name}/src/cuda/{file}" for file in files]
    return Program(
        [*own, f"{_PARBOIL}/common/src/parboil_cuda.c"],
        arguments,
        includes=[f"{_PARBOIL}/common/include"],
        fast_math=fast_math,
        make_inputs=partial(make_inputs, arguments),
    )


_TREE = _rodinia(
    "b+tree",
    "main.c",
    *(f"kernel/kernel_gpu_cuda_wrapper{which}.cu" for which in ("", "_2")),
    *(f"util/{file}" for file in ("timer/timer.c", "num/num.c", "cuda/cuda.cu")),
    arguments="file mil.txt command command.txt",
)
_MERGE_SORT = ("main.cpp", "mergeSort.cu", "mergeSort_host.cpp", "mergeSort_validate.cpp", "bitonic.cu")
_RUNS_OF_65536 = 6  # launches double the runs, from 1024 keys

_BACKPROP = Program(
    [f"{_RODINIA}/backprop/{file}" for file in ("backprop_cuda.cu", "backprop.c", "facetrain.c", "imagenet.c")], "65536"
)
_WALSH = _sample("5_Domain_Specific/fastWalshTransform", "fastWalshTransform.cu", "fastWalshTransform_gold.cpp")
_QUASI = _sample(
    "5_Domain_Specific/quasirandomGenerator",
    "quasirandomGenerator.cpp",
    "quasirandomGenerator_kernel.cu",
    "quasirandomGenerator_gold.cpp",
)
PROGRAMS = {
    "findRangeK": _TREE,
    "findK": _TREE,
    "bpnn_layerforward_CUDA": _BACKPROP,
    "bpnn_adjust_weights_cuda": _BACKPROP,
    "calculate_temp": Program([f"{_RODINIA}/hotspot/hotspot.cu"], "1024 2 2 temp_1024 power_1024 output.out"),
    "srad": Program([f"{_RODINIA}/srad/srad_v1/main.cu"], "1 0.5 502 458"),
    "mysgemmNT": _parboil(
        "sgemm", "main.cu", "io.cc", arguments="-i matrix1.txt,matrix2t.txt,matrix2t.txt -o matrix3.txt"
    ),
    "ComputeQ_GPU": _parboil(
        "mri-q", "main.cu", "file.cc", arguments="-i 64_64_64_dataset.bin -o q.out", fast_math=True
    ),
    "CUDAkernel2DCT": _sample(
        "2_Concepts_and_Techniques/dct8x8", "dct8x8.cu", "BmpUtil.cpp", "DCT8x8_Gold.cpp", image="teapot512.bmp"
    ),
    "fwtBatch2Kernel": _WALSH,
    "fwtBatch1Kernel": _WALSH,
    "histogram64Kernel": _sample(
        "2_Concepts_and_Techniques/histogram",
        "main.cpp",
        "histogram64.cu",
        "histogram256.cu",
        "histogram_gold.cpp",
    ),
    "mergeSortSharedKernel": _sample("0_Introduction/mergeSort", *_MERGE_SORT),
    "mergeElementaryIntervalsKernel": _sample("0_Introduction/mergeSort", *_MERGE_SORT, launch=_RUNS_OF_65536),
    "quasirandomGeneratorKernel": _QUASI,
    "inverseCNDKernel": _QUASI,
    "sobolGPU_kernel": _sample(
        "5_Domain_Specific/SobolQRNG", "sobol.cpp", "sobol_gpu.cu", "sobol_gold.cpp", "sobol_primitives.cpp"
    ),
}


def is_there(kernel: str, downloaded: Path) -> bool:
    """Whether the folder of the downloads has the program of a kernel."""
    return kernel in PROGRAMS and all((downloaded / file).is_file() for file in PROGRAMS[kernel].files)


def captured(kernel: str, downloaded: Path) -> memsim.Trace:
    """Trace the whole launch of a key of PROGRAMS, which runs in the current folder."""
    return whole_launch(PROGRAMS[kernel], kernel, downloaded)
