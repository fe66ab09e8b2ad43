"""The timed program: ``launches.py SOURCE KERNEL TIMES SIZE [SIZE ...]`` benchmarks a forward kernel.

SOURCE is Liger-Kernel's folder ``src``; ``-`` stands for a row normalization of ours. Shapes and types are those of
Liger-Kernel's own benchmarks. Each line of the file TIMES is ``SIZE MILLISECONDS``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

Call = Callable[[], Any]


def _function(kernel: str, name: str) -> Any:
    return getattr(importlib.import_module(f"liger_kernel.ops.{kernel}"), name)


def _layer_norm(columns: int) -> Call:
    import torch

    x = torch.empty((4096, columns), device="cuda")
    weight, bias = torch.empty(columns, device="cuda"), torch.empty(columns, device="cuda")
    apply = _function("layer_norm", "LigerLayerNormFunction").apply
    return lambda: apply(x, weight, bias, 1e-6)


def _rms_norm(columns: int) -> Call:
    import torch

    x = torch.empty((2048, columns), device="cuda", dtype=torch.bfloat16)
    weight = torch.empty(columns, device="cuda")
    apply = _function("rms_norm", "LigerRMSNormFunction").apply
    return lambda: apply(x, weight, 1e-6, 0.0, "llama")


def _rope(hidden: int, tokens: int) -> Call:
    import torch

    head = hidden // 32
    q, k = (
        torch.empty((1, tokens, heads, head), device="cuda", dtype=torch.bfloat16).transpose(1, 2) for heads in (32, 8)
    )
    cos, sin = (torch.empty((1, tokens, head), device="cuda", dtype=torch.bfloat16) for _ in range(2))
    apply = _function("rope", "LigerRopeFunction").apply
    return lambda: apply(q, k, cos, sin)


def _softmax(columns: int, dtype: str) -> Call:
    import torch

    x = torch.empty((2048, columns), device="cuda", dtype=getattr(torch, dtype))
    apply = _function("softmax", "LigerSoftmaxFunction").apply
    return lambda: apply(x)


CALLS: dict[str, Callable[[int], Call]] = {
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "rope, hidden size": lambda size: _rope(size, 2048),
    "rope, tokens": lambda size: _rope(8192, size),
    "softmax, float32": lambda size: _softmax(size, "float32"),
    "softmax, bfloat16": lambda size: _softmax(size, "bfloat16"),
}


def _own(columns: int) -> Call:
    import kernels
    import torch

    x, out = (torch.empty((256, columns), device="cuda") for _ in range(2))
    return lambda: kernels.normalized[(256,)](x, out, columns)


if __name__ == "__main__":
    source, kernel, times, *sizes = sys.argv[1:]
    sys.path.insert(0, source)
    from triton.testing import do_bench

    call = _own if source == "-" else CALLS[kernel]
    with open(times, "w") as file:
        for size in sizes:
            print(size, do_bench(call(int(size))), file=file)
