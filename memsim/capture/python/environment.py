"""What a Python program finds in its environment so that unpatched packages load memsim's CUDA libraries.

Every variable is documented by its package, and stands here with the reason for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memsim.capture.compilers import include_folders
from memsim.capture.dumped_ptx import DUMPED_PTX
from memsim.capture.program import prepended
from memsim.gpu.config import GPU
from memsim.support.cache import cache_folder

EMPTY_ARCHIVE = b"!<arch>\n"
NO_REPORTS = "MEMSIM_NO_REPORTS"  # functions of triton.testing.perf_report are not called: the times alone matter
CHILD = Path(__file__).parent / "child"  # sitecustomize.py, which Python runs at its start


def python_variables(variables: Mapping[str, str], libraries: Path, scratch: Path, gpu: GPU) -> dict[str, str]:
    """The variables that a Python program needs besides those of any program.

    Args:
        variables: of the environment so far; what the user set stays, except where a package would pass memsim by.
        libraries: the folder with libcuda.so.1 and the ``ptxas`` wrapper.
        scratch: a folder of this run, which is deleted after it.
        gpu: that packages compile for.
    """
    found = dict(variables)
    found["PYTHONPATH"] = prepended(str(CHILD), found.get("PYTHONPATH"))
    # torch's device is compiled once for each torch.
    found["MEMSIM_CHILD_CACHE"] = str(cache_folder("python"))
    found["PATH"] = prepended(str(_tools(scratch, gpu)), found.get("PATH"))
    linked = scratch / "lib"
    linked.mkdir(exist_ok=True)
    (linked / "libcuda.so").symlink_to(libraries / "libcuda.so.1")  # Triton 3.4 links its driver with -lcuda
    # torch.utils.cpp_extension links with the CUDA runtime, and with libraries of torch that its CPU build lacks.
    (linked / "libcudart.so").symlink_to(libraries / "libcudart.so.13")
    for name in ("c10_cuda", "torch_cuda"):
        (linked / f"lib{name}.a").write_bytes(EMPTY_ARCHIVE)
    # And it compiles with headers that a CPU build of torch, or a toolkit without NVIDIA's large libraries, lacks.
    headers = [found.get("CPLUS_INCLUDE_PATH"), *include_folders(), str(CHILD / "include")]
    found["CPLUS_INCLUDE_PATH"] = ":".join(one for one in headers if one)
    found["LIBRARY_PATH"] = prepended(f"{linked}:{libraries}", found.get("LIBRARY_PATH"))
    # What it builds here must not be found by a torch with a GPU. Building takes a minute, so it stays for later runs.
    found.setdefault("TORCH_EXTENSIONS_DIR", str(cache_folder("python") / "extensions"))
    found["NVCC_APPEND_FLAGS"] = f"{found.get('NVCC_APPEND_FLAGS', '')} -lineinfo".strip()  # for nvcc in the program
    found.update(_triton(libraries, scratch))
    found.update(_cupy(scratch))
    found.update(_others(scratch))
    return found


def _tools(scratch: Path, gpu: GPU) -> Path:
    """A folder with an ``nvidia-smi`` that lists the GPU: packages call it to see whether there is one."""
    folder = scratch / "bin"
    folder.mkdir(exist_ok=True)
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\necho 'GPU 0: memsim {gpu.name}'\n")
    tool.chmod(0o755)
    return folder


def _triton(libraries: Path, scratch: Path) -> dict[str, str]:
    """Triton: its driver links with libcuda, and hands over the machine code that ``ptxas`` makes."""
    return {
        "TRITON_LIBCUDA_PATH": str(libraries),  # it asks ldconfig otherwise, which does not know memsim's folder
        "TRITON_PTXAS_PATH": str(libraries / "memsim-ptxas"),  # adds the PTX to the machine code
        "TRITON_PTXAS_BLACKWELL_PATH": str(libraries / "memsim-ptxas-blackwell"),
        # Its profiler Proton loads NVIDIA's CUPTI from its own wheel otherwise.
        "TRITON_CUPTI_LIB_PATH": str(libraries),
        "TRITON_CUPTI_LIB_BLACKWELL_PATH": str(libraries),
        # Kernels in the user's cache lack the PTX, and timings found here must not stay.
        "TRITON_CACHE_DIR": str(scratch / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(scratch / "inductor"),
        "TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER": "0",  # a part of torch's CUDA build, which the CPU build lacks
    }


def _cupy(scratch: Path) -> dict[str, str]:
    """CuPy: NVRTC makes PTX instead of machine code, and its own kernels are taken instead of CUB's machine code."""
    return {"CUPY_COMPILE_WITH_PTX": "1", "CUPY_CACHE_DIR": str(scratch / "cupy"), "CUPY_ACCELERATORS": ""}


def _others(scratch: Path) -> dict[str, str]:
    """Warp and CuTe DSL: a cache of this run; CuTe DSL loads machine code, and keeps its PTX in a folder besides."""
    dump_folder = scratch / "cute"
    dump_folder.mkdir(exist_ok=True)
    return {
        "WARP_CACHE_PATH": str(scratch / "warp"),
        "CUTE_DSL_CACHE_DIR": str(scratch / "cute-cache"),
        "CUTE_DSL_KEEP": "ptx",
        "CUTE_DSL_DUMP_DIR": str(dump_folder),
        "CUTE_DSL_LINEINFO": "1",
        DUMPED_PTX: str(dump_folder),
    }
