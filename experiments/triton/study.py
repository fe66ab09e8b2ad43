"""Triton kernels and their variants on three GPUs: sectors a request, passes of shared memory, hits, time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, Claim, Outcome, Setting
from memsim.gpu.presets import load_gpu
from memsim.report.style import BLUE, panels, styled, write
from memsim.trace.bits import popcounts
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.schema import Kind, Space, StaticOp

GPUS = ("a100", "h100", "rtx3080")
TRIALS = 2
SUMS, SUMS_BY_COLUMN = "sums, row-major", "sums, column-major"
ALIGNED, ODD = "softmax, 1024 columns", "softmax, 1023 columns"
ROWS, ODD_ROWS = "sums of rows, 2**16 columns", "sums of rows, 2**16 - 1 columns"
ROW_BY_ROW, GROUPED = "matmul, row by row", "matmul, groups of 8"


@dataclass(frozen=True)
class Found:
    """One variant on one GPU.

    Attributes:
        sectors: a load from global memory.
        passes: an access of shared memory, 1 without conflicts; nan where there is none.
        milliseconds: of the whole launch.
    """

    variant: str
    gpu: str
    sectors: float
    passes: float
    l1: float
    l2: float
    milliseconds: float


def run(setting: Setting) -> Outcome:
    """All variants on all GPUs."""
    gpus = GPUS[:1] if setting.quick else GPUS
    found = [_found(name, launch, gpu) for gpu in gpus for name, launch in _variants(setting.quick).items()]
    _draw(found, setting.figures / "times.png")
    return Outcome(_claims(found), {"variants": _table(found)})


def _variants(quick: bool) -> dict[str, Callable[[], None]]:
    """What launches each, on data of its own."""
    from experiments.triton import kernels

    rows, n = (256, 256) if quick else (1024, 1024)
    rng = np.random.default_rng(0)

    def sums(row_step: int, column_step: int) -> Callable[[], None]:
        x, out = rng.random(rows * 2048, np.float32), np.empty(2048, np.float32)
        return lambda: kernels.sums[(2048,)](x, out, rows, 2048, row_step, column_step, B=1024)

    def row_sums(columns: int) -> Callable[[], None]:
        x, out = np.zeros(rows * columns, np.float32), np.empty(rows, np.float32)
        return lambda: kernels.row_sums[(rows,)](x, out, columns, B=2048, num_warps=8)

    def softmax(columns: int) -> Callable[[], None]:
        x, out = (np.zeros(rows * columns, np.float32) for _ in range(2))
        return lambda: kernels.softmax[(rows,)](x, out, columns, columns, B=1024)

    def matmul(group: int) -> Callable[[], None]:
        a, b, c = (np.zeros((n, n), np.float16) for _ in range(3))
        return lambda: kernels.matmul[(n // 64 * n // 64,)](a, b, c, n, BM=64, BN=64, BK=32, GROUP=group)

    return {
        SUMS: sums(2048, 1),
        SUMS_BY_COLUMN: sums(1, rows),
        ROWS: row_sums(1 << (12 if quick else 16)),
        ODD_ROWS: row_sums((1 << (12 if quick else 16)) - 1),
        ALIGNED: softmax(1024),
        ODD: softmax(1023),
        ROW_BY_ROW: matmul(1),
        GROUPED: matmul(8 if not quick else 4),
    }


def _found(variant: str, launch: Callable[[], None], gpu: str) -> Found:
    with TemporaryDirectory() as folder:
        with memsim.capturing(gpu=gpu, out=Path(folder, "t.h5"), stop=True) as captured:
            launch()
        result = memsim.simulate(captured.trace, gpu=gpu, trials=TRIALS)
        sectors, passes = _requests(captured.trace, gpu)
    ratios = result.l1_read.mean, result.l2_read.mean
    return Found(variant, gpu, sectors, passes, *ratios, result.kernel_time.mean)


def _requests(trace: Trace, gpu: str) -> tuple[float, float]:
    """Sectors of a load from global memory, and passes of an access of shared memory, means over warp instructions."""
    made = coalesce(trace, load_gpu(gpu))
    rows, total = made.instructions, np.concatenate([[0], np.cumsum(popcounts(np.asarray(made.masks)))])
    sectors = total[rows["first"] + rows["count"]] - total[rows["first"]]

    def of(where: Callable[[StaticOp], bool]) -> np.ndarray:
        return np.isin(rows["op"], [k for k, one in enumerate(trace.ops) if where(one)])

    loads = of(lambda one: one.kind is Kind.load and one.space is Space.global_)
    shared = of(lambda one: one.space is Space.shared)
    return float(sectors[loads].mean()), float(rows["slots"][shared].mean()) if shared.any() else math.nan


def _claims(found: list[Found]) -> list[Claim]:
    claims = []
    for gpu in dict.fromkeys(one.gpu for one in found):
        times = {one.variant: one.milliseconds for one in found if one.gpu == gpu}
        ratios = (
            ("sums, row-major / column-major", times[SUMS] / times[SUMS_BY_COLUMN], AtLeast(1.1)),
            ("softmax, 1023 / 1024 columns", times[ODD] / times[ALIGNED], None),
            ("matmul, row by row / groups of 8", times[ROW_BY_ROW] / times[GROUPED], None),
        )
        slower = times[ODD_ROWS] / times[ROWS]
        what = "sums of rows, of a column less / aligned"
        claims.append(Claim(f"{gpu}: time of {what}", 3.38 / 2.69, slower, unit="x", source="pytorch/pytorch#119929"))
        claims += [Claim(f"{gpu}: time of {what}", math.nan, ratio, unit="x", aim=aim) for what, ratio, aim in ratios]
    return claims


def _table(found: list[Found]) -> str:
    rows = [
        [one.variant, one.gpu, f"{one.sectors:.2f}", "–" if math.isnan(one.passes) else f"{one.passes:.2f}",
         f"{100 * one.l1:.1f}", f"{100 * one.l2:.1f}", f"{one.milliseconds:.4f}"]
        for one in found
    ]  # fmt: skip
    headers = ["variant", "GPU", "sectors a load", "passes of shared", "L1 hits %", "L2 hits %", "ms"]
    return markdown(headers, rows, left=2)


def _draw(found: list[Found], path: Path) -> None:
    gpus = list(dict.fromkeys(one.gpu for one in found))
    with styled():
        figure, axes = panels(1, len(gpus), 3.2 * len(gpus), 2.6, sharey=True)
        for place, gpu in zip(axes, gpus, strict=True):
            of = [one for one in found if one.gpu == gpu]
            place.barh([one.variant for one in of], [one.milliseconds for one in of], color=BLUE)
            place.set_xlabel(f"ms on {gpu}")
        write(figure, path)
