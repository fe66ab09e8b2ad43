"""Autotuned kernels of public repositories: is the best by simulation of all among those that are kept?

    python -m experiments.pruning.public CHECKOUTS TUTORIALS [--only NAME]

CHECKOUTS has BobMcDear+attorch and fla-org+flash-linear-attention, TUTORIALS is the folder of Triton's. Kernels and
configurations are taken as they are. Needs Triton, torch for the CPU and einops. Writes ``public.csv``.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
import time
import types
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import Any

import memsim
from experiments.pruning.matmul import matmul_arguments, simulated
from experiments.pruning.tutorials import definitions
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu

TABLE = Path(__file__).parent / "public.csv"
KEPT = 3


@dataclass(frozen=True)
class TunedLaunch:
    """An autotuned kernel and a launch of it.

    Attributes:
        tuned: Triton's autotuner.
        named: arguments by name.
        grid: as for a launch.
        configs: to choose from.
    """

    tuned: Any
    named: dict[str, Any]
    grid: Any
    configs: list[Any]


@dataclass(frozen=True)
class PrunedKernel:
    """How the prediction ranks one kernel's configurations.

    Attributes:
        kernel: its name in KERNELS.
        configs: that can be launched on the GPU.
        place: of the best configuration by simulation of whole launches, in the order of predictions, from 1.
        loss: how much slower the best of the kept ones is than the best of all, by simulation, percent.
        predict_seconds, simulate_seconds: processor time for all configurations.
    """

    kernel: str
    configs: int
    place: int
    loss: float
    predict_seconds: float
    simulate_seconds: float


def softmax(checkouts: Path, tutorials: Path, gpu: GPU) -> TunedLaunch:
    """attorch's softmax of 512 rows."""
    import torch

    rows, columns = 512, 1024
    tuned = _attorch(checkouts, "softmax_kernels").softmax_forward_kernel
    named = {name: torch.rand(rows, columns) for name in ("input_pointer", "output_pointer")}
    named |= {"batch_dim": rows, "feat_dim": columns, "neg": False, "log": False} | _strides(columns)
    return TunedLaunch(tuned, named, _rows, tuned.configs)


def layer_norm(checkouts: Path, tutorials: Path, gpu: GPU) -> TunedLaunch:
    """attorch's layer normalization of 512 rows."""
    import torch

    rows, columns = 512, 1024
    tuned = _attorch(checkouts, "layer_norm_kernels").layer_norm_forward_kernel
    named = {name: torch.rand(rows, columns) for name in ("input_pointer", "output_pointer")}
    named |= {name: torch.rand(columns) for name in ("weight_pointer", "bias_pointer")}
    named |= {name: torch.rand(rows) for name in ("mean_pointer", "inv_std_pointer")}
    named |= {"batch_dim": rows, "feat_dim": columns, "eps": 1e-5} | _strides(columns)
    named |= dict.fromkeys(("scale_by_weight", "add_bias", "save_stats"), True)
    return TunedLaunch(tuned, named, _rows, tuned.configs)


def l2_norm(checkouts: Path, tutorials: Path, gpu: GPU) -> TunedLaunch:
    """flash-linear-attention's L2 normalization of 4,096 rows."""
    import torch

    sys.path.insert(0, str(checkouts / "fla-org+flash-linear-attention"))
    rows, columns = 4096, 128
    tuned = importlib.import_module("fla.modules.l2norm").l2norm_fwd_kernel
    named: dict[str, Any] = {name: torch.rand(rows, columns) for name in ("x", "y")}
    named |= {"rstd": torch.rand(rows), "eps": 1e-6, "T": rows, "D": columns, "BD": columns, "NB": 2}
    return TunedLaunch(tuned, named, lambda meta: (-(-rows // meta["BT"]),), tuned.configs)


def attention(checkouts: Path, tutorials: Path, gpu: GPU) -> TunedLaunch:
    """The forward pass of the attention tutorial, with pointers as on GPUs before Hopper."""
    import torch

    batch, heads, context, columns = 1, 4, 256, 64
    names = definitions(tutorials / "06-fused-attention.py", {"NUM_STAGES_OPTIONS", "configs"}, gpu)
    named: dict[str, Any] = {
        f"desc_{one}": torch.rand(batch, heads, context, columns, dtype=torch.float16) for one in "qkvo"
    }
    named |= {"sm_scale": 0.5, "M": torch.zeros(batch, heads, context), "Z": batch, "H": heads, "N_CTX": context}
    named |= {"HEAD_DIM": columns, "FP8_OUTPUT": False, "STAGE": 1, "warp_specialize": False, "IS_HOPPER": False}
    tuned = names["_attn_fwd"]
    configs = names["prune_invalid_configs"](tuned.configs, {}, N_CTX=context, STAGE=1)
    fitting = [one for one in configs if one.kwargs["BLOCK_N"] <= columns]  # the kernel asserts it
    return TunedLaunch(tuned, named, lambda meta: (-(-context // meta["BLOCK_M"]), batch * heads), fitting)


def matmul(checkouts: Path, tutorials: Path, gpu: GPU) -> TunedLaunch:
    """The matrix multiplication tutorial, 256 by 256."""
    tuned = definitions(tutorials / "03-matrix-multiplication.py", set(), gpu)["matmul_kernel"]
    named, grid = matmul_arguments(256)
    return TunedLaunch(tuned, named, grid, tuned.configs)


KERNELS: dict[str, Callable[[Path, Path, GPU], TunedLaunch]] = {
    "attorch softmax": softmax,
    "attorch layer norm": layer_norm,
    "flash-linear-attention l2 norm": l2_norm,
    "tutorial 06 attention": attention,
    "tutorial 03 matmul": matmul,
}


def _attorch(checkouts: Path, module: str) -> Any:
    """A module of attorch, without the package's own imports, which need a GPU."""
    package = types.ModuleType("attorch")
    package.__path__ = [str(checkouts / "BobMcDear+attorch" / "attorch")]
    sys.modules.setdefault("attorch", package)
    return importlib.import_module(f"attorch.{module}")


def _strides(columns: int) -> dict[str, int]:
    return {f"{one}_{way}_stride": columns if way == "batch" else 1
            for one in ("input", "output") for way in ("batch", "feat")}  # fmt: skip


def _rows(meta: dict[str, Any]) -> tuple[int]:
    return (-(-meta["batch_dim"] // meta["BLOCK_SIZE_BATCH"]),)


def pruned(name: str, launch: TunedLaunch, gpu: GPU) -> PrunedKernel:
    """Rank the configurations, and simulate the whole launch in each."""
    begin = time.process_time()
    times = memsim.predicted_times(launch.configs, launch.named, gpu=gpu, kernel=launch.tuned.fn, grid=launch.grid)
    ranked, between = [config for config, predicted in times if predicted < inf], time.process_time()
    whole = [simulated(launch.tuned.fn, config, launch.named, gpu, launch.grid) for config in ranked]
    best = min(range(len(whole)), key=whole.__getitem__)
    for config, (_, predicted), full in zip(ranked, times, whole, strict=False):
        print(f"{predicted:.5f} {full:.5f} {config}")
    loss = 100 * (min(whole[:KEPT]) / whole[best] - 1)
    seconds = round(between - begin, 1), round(time.process_time() - between, 1)
    return PrunedKernel(name, len(ranked), best + 1, round(loss, 2), *seconds)


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("tutorials", type=Path)
    parser.add_argument("--gpu", default="rtx3060")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    gpu, known = load_gpu(given.gpu), dict[str, dict[str, Any]]()
    if given.out.exists():
        with given.out.open(newline="") as file:
            known = {row["kernel"]: row for row in csv.DictReader(file)}
    for name, made in KERNELS.items():
        if given.only in name:
            known[name] = asdict(pruned(name, made(given.checkouts, given.tutorials, gpu), gpu))
            print(known[name], flush=True)
            with given.out.open("w", newline="") as file:
                table = csv.DictWriter(file, [one.name for one in fields(PrunedKernel)], lineterminator="\n")
                table.writeheader()
                table.writerows(known[one] for one in KERNELS if one in known)


if __name__ == "__main__":
    main()
