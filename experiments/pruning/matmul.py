"""The configurations of Triton's matrix multiplication tutorial: ``python -m experiments.pruning.matmul TUTORIAL``.

TUTORIAL is ``03-matrix-multiplication.py``; its kernel and configurations are taken as they are, its benchmark is not
run. Needs Triton and torch for the CPU.
"""

from __future__ import annotations

import argparse
import ast
import csv
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import memsim
from memsim.exploration.prune import _address, _launch
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu
from memsim.sources.ptx.memory import DeviceMemory
from memsim.sources.ptx.trace import trace_launch

TABLE = Path(__file__).parent / "matmul.csv"
_KEEP = 3


def definitions(tutorial: Path, gpu: GPU) -> dict[str, Any]:
    """What the tutorial defines, without its calls; its configurations for the GPU."""
    import triton
    from triton.backends.compiler import GPUTarget

    tree = ast.parse(tutorial.read_text())
    kept = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom | ast.FunctionDef)]
    kept = [one for one in kept if "perf_report" not in "".join(map(ast.unparse, getattr(one, "decorator_list", [])))]
    names: dict[str, Any] = {"__name__": "tutorial"}

    class Driver:
        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", int(gpu.compute_capability.replace(".", "")), 32)

    triton.runtime.driver.set_active(Driver())
    code = compile(ast.Module(kept, []), str(tutorial), "exec")
    exec(code, names)
    return names


def matmul_arguments(n: int) -> tuple[dict[str, Any], Callable[[dict[str, Any]], tuple[int]]]:
    """The kernel's arguments for matrices of n rows and columns in half precision, and its grid by configuration."""
    import torch

    named: dict[str, Any] = {name: torch.zeros((n, n), dtype=torch.float16) for name in ("a_ptr", "b_ptr", "c_ptr")}
    named |= {"M": n, "N": n, "K": n}
    named |= {f"stride_{one}": n if one in ("am", "bk", "cm") else 1 for one in ("am", "ak", "bk", "bn", "cm", "cn")}
    named["ACTIVATION"] = ""
    return named, lambda meta: (-(-n // meta["BLOCK_SIZE_M"]) * -(-n // meta["BLOCK_SIZE_N"]),)


def simulated(kernel: Any, config: Any, named: dict[str, Any], gpu: Any, grid: Any) -> float:
    """Milliseconds by a simulation of the whole launch."""
    memory = DeviceMemory()
    addresses = {name: _address(value, name, memory) for name, value in named.items()}
    launch = _launch(kernel, config, named, addresses, gpu, {"grid": grid})
    with TemporaryDirectory() as folder:
        trace = trace_launch(launch, memory, Path(folder) / "t.h5", gpu, "all")
        return float(memsim.simulate(trace, gpu, trials=3).kernel_time.mean)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tutorial", type=Path)
    parser.add_argument("--gpu", default="rtx3060")
    parser.add_argument("-n", type=int, default=512, help="rows and columns of the matrices")
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    gpu = load_gpu(given.gpu)
    tuned, (named, grid) = definitions(given.tutorial, gpu)["matmul_kernel"], matmul_arguments(given.n)
    begin = time.process_time()
    times = memsim.predicted_times(tuned.configs, named, gpu=gpu, kernel=tuned.fn, grid=grid)
    print(f"predicted {len(times)} configurations in {time.process_time() - begin:.0f} s of processor time", flush=True)
    rows = []
    for rank, (config, predicted) in enumerate(times):
        if predicted == inf:  # needs more shared memory than the GPU has, for example
            continue
        rows.append((str(config), f"{predicted:.5f}", f"{simulated(tuned.fn, config, named, gpu, grid):.5f}"))
        print(rank, *rows[-1], flush=True)
    with given.out.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("config", "predicted_ms", "simulated_ms"), *rows])
    best = min(range(len(rows)), key=lambda at: float(rows[at][2]))
    print(f"best by simulation of all: rank {best + 1} of {len(rows)} by prediction; kept are {_KEEP}")


if __name__ == "__main__":
    main()
