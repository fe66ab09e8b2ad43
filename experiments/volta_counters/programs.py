"""The programs of eleven of the kernels, unchanged, where the reader has downloaded them (see README.md)."""

from __future__ import annotations

from pathlib import Path

import memsim
from experiments.gv100_launches.programs import Program, whole_launch

WANTED = "cuda-samples and gpu-app-collection"
_SAMPLES = "cuda-samples/Samples"
_RODINIA = "gpu-app-collection/src/cuda/rodinia/3.1/cuda"


def _sample(folder: str, *files: str) -> Program:
    return Program([f"{_SAMPLES}/{folder}/{file}" for file in files], includes=["cuda-samples/Common"])


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
    "bpnn_layerforward_CUDA": _BACKPROP,
    "bpnn_adjust_weights_cuda": _BACKPROP,
    "calculate_temp": Program([f"{_RODINIA}/hotspot/hotspot.cu"], "1024 2 2 temp_1024 power_1024 output.out"),
    "srad": Program([f"{_RODINIA}/srad/srad_v1/main.cu"], "1 0.5 502 458"),
    "fwtBatch2Kernel": _WALSH,
    "fwtBatch1Kernel": _WALSH,
    "histogram64Kernel": _sample(
        "2_Concepts_and_Techniques/histogram",
        "main.cpp",
        "histogram64.cu",
        "histogram256.cu",
        "histogram_gold.cpp",
    ),
    "mergeSortSharedKernel": _sample(
        "0_Introduction/mergeSort",
        "main.cpp",
        "mergeSort.cu",
        "mergeSort_host.cpp",
        "mergeSort_validate.cpp",
        "bitonic.cu",
    ),
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
