"""Triton kernels in variants, compared with measured ratios of times: sectors, passes of shared memory, hits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import memsim
from experiments.harness.readme import markdown
from experiments.harness.study import Claim, Outcome, Setting
from experiments.triton.variants import PAIRS, Pair
from memsim.gpu.presets import load_gpu
from memsim.report.figure_style import BLUE, GREY, panels, styled, write
from memsim.trace.bits import popcounts
from memsim.trace.coalesce import coalesce
from memsim.trace.reader import Trace
from memsim.trace.schema import OpKind, Space, StaticInstruction

TRIALS = 2
PROGRAM = Path(__file__).with_name("launches.py")


@dataclass(frozen=True)
class Found:
    """One variant on one GPU.

    Attributes:
        sectors: a load or atomic of global memory.
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
    """All variants on all their GPUs; quick: small ones, on the A100 alone."""
    pairs = [replace(pair, gpus=("a100",)) for pair in PAIRS] if setting.quick else list(PAIRS)
    asked = dict.fromkeys((gpu, name) for pair in pairs for gpu in pair.gpus for name in (pair.slow, pair.fast))
    found = [_found(name, setting.quick, gpu) for gpu, name in asked]
    claims = _claims(found, pairs)
    _draw(claims, setting.figures / "ratios.png")
    return Outcome(claims, {"variants": _table(found)})


def _found(variant: str, quick: bool, gpu: str) -> Found:
    with TemporaryDirectory() as folder:
        arguments = [variant, "quick" if quick else "whole"]
        captured = memsim.capture(PROGRAM, arguments=arguments, gpu=gpu, out=Path(folder, "t.h5"))
        result = memsim.simulate(captured.trace, gpu=gpu, trials=TRIALS)
        sectors, passes = _requests(captured.trace, gpu)
    ratios = result.l1_read.mean, result.l2_read.mean
    return Found(variant, gpu, sectors, passes, *ratios, result.kernel_time.mean)


def _requests(trace: Trace, gpu: str) -> tuple[float, float]:
    """Sectors of a load or atomic of global memory, and passes of an access of shared memory: means over rows."""
    made = coalesce(trace, load_gpu(gpu))
    rows, total = made.instructions, np.concatenate([[0], np.cumsum(popcounts(np.asarray(made.masks)))])
    sectors = total[rows["first"] + rows["count"]] - total[rows["first"]]

    def of(where: Callable[[StaticInstruction], bool]) -> np.ndarray:
        return np.isin(rows["op"], [k for k, one in enumerate(trace.ops) if where(one)])

    asking = of(lambda one: one.kind is not OpKind.store and one.space is Space.global_)
    shared = of(lambda one: one.space is Space.shared)
    return float(sectors[asking].mean()), float(rows["slots"][shared].mean()) if shared.any() else math.nan


def _claims(found: list[Found], pairs: list[Pair]) -> list[Claim]:
    times = {(one.gpu, one.variant): one.milliseconds for one in found}
    return [
        Claim(
            f"{gpu}: time of {pair.what}",
            pair.published,
            times[gpu, pair.slow] / times[gpu, pair.fast],
            unit="x",
            source=pair.source,
            aim=pair.aim,
        )
        for pair in pairs
        for gpu in pair.gpus
    ]


def _table(found: list[Found]) -> str:
    rows = [
        [one.variant, one.gpu, f"{one.sectors:.2f}", "–" if math.isnan(one.passes) else f"{one.passes:.2f}",
         _percent(one.l1), _percent(one.l2), f"{one.milliseconds:.4f}"]
        for one in found
    ]  # fmt: skip
    headers = ["variant", "GPU", "sectors a load or atomic", "passes of shared", "L1 hits %", "L2 hits %", "ms"]
    return markdown(headers, rows, left=2)


def _percent(ratio: float) -> str:
    return "–" if math.isnan(ratio) else f"{100 * ratio:.1f}"


def _draw(claims: list[Claim], path: Path) -> None:
    rows = np.arange(len(claims))
    with styled():
        figure, (axes,) = panels(1, 1, 7.5, 1.1 + 0.22 * len(claims))
        axes.plot([one.published for one in claims], rows, "o", color=GREY, label="measured")
        axes.plot([one.ours for one in claims], rows, "D", color=BLUE, markersize=4, label="memsim")
        axes.set_yticks(rows, [one.claim.replace("time of ", "") for one in claims])
        axes.invert_yaxis()
        axes.set_xscale("log", base=2)
        axes.set_xlabel("time of the first variant over that of the second")
        figure.legend(loc="outside lower right", ncols=2)
        write(figure, path)
