"""Twelve numbers of two presets, each unsure by a fifth: total Sobol indices of the time of eight kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import memsim
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Outcome, Setting
from memsim.analysis.sobol import Indices
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, provenance
from memsim.report.figure_style import panels, styled, write
from memsim.studies.sobol import of_study

GPUS = ("tesla-v100", "h100")
# Small: a wave of blocks or less, whose replay takes some hundredths of a second.
KERNELS: dict[str, dict[str, Any]] = {
    "saxpy": {},
    "transpose": dict(n=256),
    "reduction": {},
    "stencil": dict(n=64, planes=8),
    "hotspot": {},
    "spmv": dict(rows=4096, nnz_per_row=16),
    "btree": dict(keys=100_000, queries=200),
    "neighbours": {},
}
SHARE = 0.2  # by which each number varies, whatever its status: what decides, not what is known
# Along the way of a request. Capacities go by ways, of which they have few; the queue's thresholds follow it.
NUMBERS = (
    "sm.launch_cycles", "sm.reply_bytes_per_cycle",
    "l1.hit_latency_cycles", "l1.mshrs", "l1.size_bytes",
    "l2.hit_latency_cycles", "l2.mshrs", "l2.size_bytes",
    "dram.latency_cycles", "dram.clock_mhz", "dram.queue", "dram.write_queue",
)  # fmt: skip
POINTS = 16
_QUICK = ("saxpy", "btree")
_UNCERTAIN = ("fitted", "assumed")
_DECIDES = 0.1  # of the variance: a number with less is not worth a measurement
_NOTHING = 1e-6  # relative sd of the time, below which there is nothing to split


@dataclass(frozen=True)
class Split:
    """The variance of one kernel's time on one GPU.

    Attributes:
        indices: by number of the preset.
    """

    gpu: str
    kernel: str
    indices: Indices

    @property
    def spread(self) -> float:
        """Standard deviation of the time over its mean."""
        return self.indices.sd / self.indices.mean

    @property
    def totals(self) -> dict[str, float]:
        """Total index of each number, at least 0; nan where nothing varies."""
        if not self.indices.inputs or self.spread < _NOTHING:
            return dict.fromkeys(NUMBERS, math.nan)
        return {one.name: max(one.total, 0.0) for one in self.indices.inputs}


def run(setting: Setting) -> Outcome:
    """All kernels on both GPUs; a quick run takes two, at few points."""
    kernels, points = (_QUICK, 2) if setting.quick else (tuple(KERNELS), POINTS)
    asked = [(gpu, kernel, points) for gpu in GPUS for kernel in kernels]
    found = mapped(split, asked, setting.jobs, "kernels")
    _draw(found, setting.figures / "totals.png")
    return Outcome(list(_claims(found)), {gpu: _table(gpu, found) for gpu in GPUS})


def study(gpu: str, kernel: str, points: int) -> memsim.Study:
    """The design: every number from a fifth below to a fifth above its value in the preset."""
    preset = load_gpu(gpu)
    return memsim.Study(
        "what_decides",
        kernels={kernel: {"workload": kernel, "parameters": KERNELS[kernel], "blocks": "1x"}},
        gpus=gpu,
        vary={name: values(preset, name) for name in NUMBERS},
        follow={
            "l1.ways": f"l1.size_bytes // {preset.l1.size_bytes // preset.l1.ways}",
            "l2.ways": f"l2.size_bytes // {preset.l2.size_bytes // preset.l2.ways}",
            "dram.write_high": f"dram.write_queue * {preset.dram.write_high} // {preset.dram.write_queue}",
            "dram.write_low": f"dram.write_queue * {preset.dram.write_low} // {preset.dram.write_queue}",
        },
        set={"l1.carve_outs": []},
        design={"method": "saltelli", "points": points, "seed": 1},
        trials=1,
        seed=1,
    )


def values(preset: GPU, name: str) -> Mapping[str, float] | list[int]:
    """What a number may be: anything within the share, or as many ways of a cache as that allows, at least one more
    and one less."""
    level, field = name.split(".")
    value = getattr(getattr(preset, level), field)
    if field == "size_bytes":
        ways = getattr(preset, level).ways
        far = max(int(SHARE * ways), 1)
        return [value // ways * count for count in range(ways - far, ways + far + 1)]
    return {"from": round(value * (1 - SHARE)), "to": round(value * (1 + SHARE))}


def split(asked: tuple[str, str, int]) -> Split:
    """One kernel on one GPU."""
    gpu, kernel, points = asked
    return Split(gpu, kernel, of_study(study(gpu, kernel, points).run(), "time_ms"))


def status(gpu: str, name: str) -> str:
    """Of a number in its preset."""
    return provenance(gpu)[name].status


def _claims(found: list[Split]) -> Iterator[Claim]:
    for gpu in GPUS:
        of = [one for one in found if one.gpu == gpu]
        unsure = [name for name in NUMBERS if status(gpu, name) in _UNCERTAIN]
        means = _means(of)
        first = max(unsure, key=lambda name: means[name])
        part = sum(means[name] for name in unsure) / (sum(means.values()) or 1.0)
        yield Claim(
            f"{gpu}: part of the total indices that is of fitted or assumed numbers", math.nan, 100 * part, unit="%",
            aim=AtMost(25),
        )  # fmt: skip
        name = f"{gpu}: mean total index of {first}, the first of those"
        yield Claim(name, math.nan, means[first], aim=AtMost(0.25))
        decided = sum(max(one.totals, key=lambda name: one.totals[name]) in unsure for one in of)
        name = f"{gpu}: kernels of {len(of)} that such a number decides most"
        yield Claim(name, math.nan, decided, unit="kernels", aim=AtMost(0))


def _means(found: list[Split]) -> dict[str, float]:
    """Mean total index of each number over the kernels whose time varies."""
    rows = [one.totals for one in found if one.indices.inputs]
    return {name: float(np.nanmean([row[name] for row in rows])) for name in NUMBERS}


def _table(gpu: str, found: list[Split]) -> str:
    of = [one for one in found if one.gpu == gpu]
    means = _means(of)
    rows = []
    for name in sorted(NUMBERS, key=lambda name: -means[name]):
        cells = [_shown(one.totals[name]) for one in of]
        rows.append([f"`{name}`", status(gpu, name), _shown(means[name]), *cells])
    rows.append(["sd of the time, %", "", "", *(f"{100 * one.spread:.1f}" for one in of)])
    return markdown(["number", "status", "mean", *(one.kernel for one in of)], rows, left=2)


def _shown(total: float) -> str:
    return f"{100 * total:.0f}" if total >= _DECIDES / 10 else ""


def _draw(found: list[Split], path: Path) -> None:
    """Total indices, a column a kernel and a row a number; the uncertain ones are marked."""
    with styled():
        figure, axes = panels(1, len(GPUS), 10.5, 4.6)
        for axis, gpu in zip(axes, GPUS, strict=True):
            of = [one for one in found if one.gpu == gpu]
            totals = np.array([[one.totals[name] for one in of] for name in NUMBERS])
            image = axis.imshow(totals, vmin=0, vmax=1, cmap="Blues", aspect="auto")
            for (row, column), total in np.ndenumerate(totals):
                if total >= _DECIDES:
                    shade = "white" if total > 0.55 else "black"
                    axis.text(column, row, f"{100 * total:.0f}", ha="center", va="center", fontsize=7, color=shade)
            axis.set_xticks(range(len(of)), [one.kernel for one in of], rotation=40, ha="right")
            axis.set_yticks(range(len(NUMBERS)), [_marked(gpu, name) for name in NUMBERS], fontsize=7)
            axis.set_title(f"{gpu} (* fitted or assumed)")
            axis.grid(False)
        figure.colorbar(image, ax=axes, label="total index of the time (numbers: %)")
        write(figure, path)


def _marked(gpu: str, name: str) -> str:
    return f"{name} *" if status(gpu, name) in _UNCERTAIN else name
