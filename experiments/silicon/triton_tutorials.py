"""Kernels of Triton's tutorials on the GPU at hand; a program of its own, without memsim.

``triton_tutorials.py times TUTORIALS OUT.csv`` measures with ``triton.testing.do_bench``: the median, and the quantiles
of 20 and 80 %; of autotuned kernels also each configuration. ``triton_tutorials.py launches TUTORIALS`` launches each
kernel once, for a profiler.
"""

from __future__ import annotations

import csv
import importlib.util
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import torch
import triton

Row = dict[str, object]
CONFIGURATIONS = ((128, 64, 4, 4), (64, 32, 4, 4))  # of the product: rows, inner length, warps, stages


def load(folder: Path, name: str) -> ModuleType:
    """A tutorial without its own benchmarks, which begin where it makes a report."""
    text = (folder / f"{name}.py").read_text(encoding="utf-8").split("@triton.testing.perf_report")[0]
    place = Path(tempfile.gettempdir(), f"tutorial_{name.replace('-', '_')}.py")  # Triton reads a kernel's source again
    place.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[place.stem] = module
    spec.loader.exec_module(module)
    return module


def timed(case: str, call: Callable[[], object]) -> Row:
    """The time of a call."""
    return dict(zip(("case", "ms", "ms_20", "ms_80"), (case, *quantiles(call)), strict=True))


def quantiles(call: Callable[[], object]) -> list[float]:
    """Median and the quantiles of 20 and 80 %, milliseconds."""
    return triton.testing.do_bench(call, quantiles=[0.5, 0.2, 0.8])


def times(folder: Path) -> Iterator[Row]:
    """Vector addition, softmax, layer norm, products and attention."""
    add = load(folder, "01-vector-add")
    for power in range(12, 28):
        x, y = torch.rand(2**power, device="cuda"), torch.rand(2**power, device="cuda")
        yield timed(f"add {2**power}", lambda x=x, y=y: add.add(x, y))
    softmax = load(folder, "02-fused-softmax")
    for n in (256, 512, 781, 1024, 2048, 4096, 8192, 12544):
        x = torch.randn(4096, n, device="cuda")
        yield timed(f"softmax 4096x{n}", lambda x=x: softmax.softmax(x))
        yield timed(f"torch softmax 4096x{n}", lambda x=x: torch.softmax(x, axis=-1))
    norm = load(folder, "05-layer-norm")
    for n in (1024, 2048, 4096, 8192, 15872):
        x, w, b = layer(n)
        yield timed(f"layer_norm forward 4096x{n}", lambda x=x, w=w, b=b, n=n: norm.layer_norm(x, (n,), w, b, 1e-5))
        y, dy = norm.layer_norm(x, (n,), w, b, 1e-5), 0.1 * torch.randn_like(x)
        yield timed(f"layer_norm backward 4096x{n}", lambda y=y, dy=dy: y.backward(dy, retain_graph=True))
    product = load(folder, "03-matrix-multiplication")
    for n in (512, 1024, 2048, 4096):
        a, b = matrices(n)
        product.matmul(a, b)
        yield from configurations(f"matmul {n}", product.matmul_kernel)
        yield timed(f"matmul {n} best", lambda a=a, b=b: product.matmul(a, b))
        yield timed(f"torch matmul {n}", lambda a=a, b=b: torch.matmul(a, b))
    attention = load(folder, "06-fused-attention")
    for n in (1024, 2048, 4096):
        q, k, v = (torch.randn((1, 32, n, 64), dtype=torch.float16, device="cuda") for _ in range(3))
        attention.attention(q, k, v, True, 1.3, False)
        yield from configurations(f"attention {n}", attention._attn_fwd)
        yield timed(f"attention {n} best", lambda q=q, k=k, v=v: attention.attention(q, k, v, True, 1.3, False))


def configurations(case: str, kernel: triton.runtime.Autotuner) -> Iterator[Row]:
    """The times that the autotuner took of each configuration; none for one that does not run."""
    for config, found in kernel.configs_timings.items():
        values = found if isinstance(found, list) else [found]
        row: Row = {"case": case, "config": str(config).strip()}
        named = zip(("ms", "ms_20", "ms_80"), values, strict=False)
        yield row | {name: value for name, value in named if value != float("inf")}


def layer(n: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Input, weights and biases of a layer norm."""
    x = (-2.3 + 0.5 * torch.randn(4096, n, dtype=torch.float16, device="cuda")).requires_grad_(True)
    w, b = (torch.rand(n, dtype=torch.float16, device="cuda", requires_grad=True) for _ in range(2))
    return x, w, b


def matrices(n: int) -> list[torch.Tensor]:
    return [torch.randn(n, n, device="cuda", dtype=torch.float16) for _ in range(2)]


def launches(folder: Path) -> None:
    """Each kernel once per size."""
    add, softmax = load(folder, "01-vector-add"), load(folder, "02-fused-softmax")
    for power in (16, 20, 25):
        add.add(torch.rand(2**power, device="cuda"), torch.rand(2**power, device="cuda"))
    for n in (781, 1024, 4096):
        softmax.softmax(torch.randn(4096, n, device="cuda"))
    norm = load(folder, "05-layer-norm")
    for n in (1024, 8192):
        x, w, b = layer(n)
        norm.layer_norm(x, (n,), w, b, 1e-5).backward(0.1 * torch.randn_like(x))
    kernel = load(folder, "03-matrix-multiplication").matmul_kernel.fn
    for n in (1024, 2048):
        a, b = matrices(n)
        c = torch.empty((n, n), device="cuda", dtype=torch.float16)
        for rows, inner, warps, stages in CONFIGURATIONS:
            kernel[triton.cdiv(n, rows) * triton.cdiv(n, 128),](
                a, b, c, n, n, n, *a.stride(), *b.stride(), *c.stride(), BLOCK_SIZE_M=rows, BLOCK_SIZE_N=128,
                BLOCK_SIZE_K=inner, GROUP_SIZE_M=8, ACTIVATION="", num_warps=warps, num_stages=stages,
            )  # fmt: skip
    torch.cuda.synchronize()


def main(step: str, folder: str, out: str = "") -> None:
    if step == "launches":
        return launches(Path(folder))
    with open(out, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, ("case", "config", "ms", "ms_20", "ms_80"), lineterminator="\n")
        table.writeheader()
        for row in times(Path(folder)):
            table.writerow(row)


if __name__ == "__main__":
    main(*sys.argv[1:])
