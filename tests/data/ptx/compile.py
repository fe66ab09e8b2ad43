"""Compiles the kernels beside to the PTX beside: ``python tests/data/ptx/compile.py`` (triton, numba-cuda, NVRTC)."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent
F16, F32, I32, I64 = "*fp16", "*fp32", "*i32", "*i64"
TILES = {"BM": 64, "BN": 64, "BK": 32}
# Kernel -> types of its arguments, constants, warps. Pointers and sizes that are multiples of 16 are said to be so.
TRITON = {
    "add": ([F32, F32, F32, "i32"], {"BLOCK": 512}, 4),
    "softmax": ([F32, F32, "i32:1", "i32:1"], {"BLOCK": 1024}, 4),
    "layer_norm": ([F16, F16, F32, F32, "i32:1", "fp32"], {"BLOCK": 512}, 4),
    "dropout": ([F32, F32, "i32", "fp32", "i32:1"], {"BLOCK": 512}, 4),
    "matmul": ([F16, F16, F16, "i32", "i32", "i32"], {**TILES, "GROUP": 4}, 4),
    "persistent": ([F16, F16, F16, "i32", "i32", "i32"], {**TILES, "PROGRAMS": 3}, 4),
    "grouped": ([I64, I32, "i32:1"], {**TILES, "PROGRAMS": 3}, 4),
    "attention": ([F16, F16, F16, F16, "i32", "fp32"], {"HEAD": 64, "BM": 64, "BN": 32}, 4),
}
TENSORS = {
    "persistent_tma": (
        ["tensordesc<fp16[64, 32]>", "tensordesc<fp16[32, 64]>", "tensordesc<fp16[64, 64]>", "i32", "i32", "i32"],
        {**TILES, "PROGRAMS": 3},
        4,
    )
}


def compile_triton(name: str, capability: int) -> str:
    """The PTX of a Triton kernel."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    sys.path.insert(0, str(HERE))
    kernels = importlib.import_module("triton_kernels")
    types, constants, warps = (TRITON | TENSORS)[name]
    function = getattr(kernels, name)
    signature = {
        **dict(zip(function.arg_names, (one.split(":")[0] for one in types), strict=False)),
        **dict.fromkeys(constants, "constexpr"),
    }
    aligned = {(i,): [["tt.divisibility", 16]] for i, one in enumerate(types) if one[0] == "*" or one == "i32"}
    source = ASTSource(function, signature, {(function.arg_names.index(k),): v for k, v in constants.items()}, aligned)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps}).asm["ptx"]


def compile_cuda(capability: int) -> str:
    """The PTX of all kernels of the CUDA C++ file."""
    folder = Path(importlib.util.find_spec("nvidia.cuda_nvrtc").submodule_search_locations[0])
    library = ctypes.CDLL(str(next((folder / "lib").glob("libnvrtc.so.*"))))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    text = (HERE / "cuda_kernels.cu").read_bytes()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text, b"cuda_kernels.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture=compute_{capability}".encode(), b"-lineinfo")
    assert library.nvrtcCompileProgram(program, 2, options) == 0
    library.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    library.nvrtcGetPTX(program, ptx)
    return ptx.value.decode()


def compile_numba(capability: int) -> str:
    """The PTX of the Numba kernel."""
    from numba import cuda, float32

    sys.path.insert(0, str(HERE))
    kernel = importlib.import_module("numba_kernels").stencil
    array = float32[:, ::1]
    options = {"device": False, "lineinfo": True, "cc": (capability // 10, capability % 10)}
    return cuda.compile_ptx(kernel, (array, array), **options)[0]


if __name__ == "__main__":
    folder = str(HERE.parents[2]) + "/"
    for capability in (80, 90):
        texts = {name: compile_triton(name, capability) for name in TRITON | (TENSORS if capability >= 90 else {})}
        texts |= {"cuda_kernels": compile_cuda(capability), "stencil": compile_numba(capability)}
        for name, text in texts.items():
            (HERE / f"{name}.sm_{capability}.ptx").write_text(text.replace(folder, "").rstrip("\0") + "\n")
