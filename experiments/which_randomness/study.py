"""Every workload of the library, small: its spread, and the part of it that each source of randomness makes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import memsim
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Outcome, Setting
from memsim.analysis.sobol import Indices
from memsim.report.figure_style import SERIES, panels, styled, write
from memsim.studies.sources import BySource
from memsim.support import library

GPU = "tesla-c2050"  # of the paper whose model this is
BLOCKS = "2x"  # of the resident threads: a full machine, and blocks that start when others end
# Workloads whose defaults take long to describe or to replay; the others are at their defaults.
SMALL: dict[str, dict[str, Any]] = {
    "atax": dict(rows=512, columns=512),
    "black_scholes": dict(n=1 << 17),
    "btree": dict(keys=100_000, queries=200),
    "conv3d": dict(n=64, planes=4),
    "fast_walsh": dict(n=1 << 17),
    "gemv": dict(rows=1024, columns=256),
    "histogram": dict(n=1 << 17),
    "histogram64": dict(n=1 << 19),
    "kmeans": dict(points=1 << 16),
    "lbm": dict(width=64, height=32, depth=16),
    "merge_intervals": dict(n=1 << 17),
    "merge_sort": dict(n=1 << 17),
    "mri_q": dict(voxels=1 << 14, samples=16),
    "pointer_chase": dict(bytes=1 << 16, grid=28, threads=32, lists=28),
    "quasirandom": dict(n=1 << 17),
    "sgemm": dict(m=256, n=256, k=32),
    "sobol": dict(points_a_dimension=8192, dimensions=8),
    "sparse_product": dict(nnz=256),
    "spmv": dict(rows=16384, nnz_per_row=16),
    "stencil": dict(n=128, planes=8),
    "svm": dict(n=2048, features=32),
    "tensor_gemm": dict(m=256, n=64, k=128),
    "transpose": dict(n=512),
}
OUTPUTS = {"l1_read": "L1 read", "l2_read": "L2 read", "l2_write": "L2 write", "cycles": "time"}
SOURCES = ("start_alignment", "warp_weights", "arbitration")
_QUICK = ("spmv", "saxpy", "transpose")
_MATTERS = 1e-4  # standard deviation of a ratio, or relative of the time, below which there is nothing to split
_SMALL_SPREAD = 1.0  # points: the paper's mean, section 5.2


def run(setting: Setting) -> Outcome:
    """All workloads; a quick run takes three, at few points."""
    names = _QUICK if setting.quick else tuple(library.names("traces", ".py"))
    found = dict(mapped(_split, [(name, 4 if setting.quick else 32) for name in names], setting.jobs, "workloads"))
    _draw(found, setting.figures / "sources.png")
    return Outcome(list(_claims(found)), {"spread": _table(found)})


def _split(asked: tuple[str, int]) -> tuple[str, BySource]:
    name, points = asked
    trace = memsim.trace(name, gpu=GPU, blocks=BLOCKS, **SMALL.get(name, {}))
    return name, memsim.sensitivity(trace, GPU, points=points, seed=1)


def spread(of: Indices) -> float:
    """Of one run: sd of a ratio in points, of the time in percent."""
    if math.isnan(of.sd):
        return math.nan
    return 100 * of.sd / (of.mean if of.output == "cycles" else 1.0)


def decides(of: Indices) -> tuple[str, float]:
    """The source with the largest total index, and that; nothing where there is no spread."""
    if not of.inputs or spread(of) < 100 * _MATTERS:
        return "", math.nan
    first = of.ranked[0]
    return first.name, first.total


def _claims(found: dict[str, BySource]) -> Iterator[Claim]:
    ratios = {(name, output): spread(one.outputs[output]) for name, one in found.items()
              for output in OUTPUTS if output != "cycles"}  # fmt: skip
    sds = np.array([sd for sd in ratios.values() if not math.isnan(sd)])
    source = "Baghsorkhi 2012, section 5.2"
    yield Claim("mean sd of the hit ratios", _SMALL_SPREAD, float(sds.mean()), unit="%", source=source,
                aim=AtMost(_SMALL_SPREAD))  # fmt: skip
    large = 100 * float((sds > _SMALL_SPREAD).mean())
    yield Claim("hit ratios whose sd is above one point", math.nan, large, unit="%", aim=AtMost(25))


def _table(found: dict[str, BySource]) -> str:
    rows = []
    for name, one in found.items():
        cells = [name]
        for output in OUTPUTS:
            of = one.outputs[output]
            source, total = decides(of)
            cells.append("" if math.isnan(spread(of)) else f"{spread(of):.2f}")
            if output != "l2_write":
                cells.append(f"{source} {100 * min(total, 1):.0f} %" if source else "")
        rows.append(cells)
    headers = ["workload", "L1 read sd", "by", "L2 read sd", "by", "L2 write sd", "time sd %", "by"]
    return markdown(headers, rows)


def _draw(found: dict[str, BySource], path: Path) -> None:
    """Parts of the variance, of the time and of the L2 read ratio; next to each name its standard deviation."""
    with styled():
        figure, axes = panels(1, 2, 10.5, 1.4 + 0.2 * len(found))
        for axis, output in zip(axes, ("cycles", "l2_read"), strict=True):
            names = [name for name, one in found.items() if decides(one.outputs[output])[0]]
            names.sort(key=lambda name: -spread(found[name].outputs[output]))
            left = np.zeros(len(names))
            for number, source in enumerate(SOURCES):
                parts = np.array([_part(found[name].outputs[output], source) for name in names])
                axis.barh(names, parts, 0.7, left, color=SERIES[number], label=source)
                left += parts
            for row, name in enumerate(names):
                axis.text(1.01, row, f"{spread(found[name].outputs[output]):.2f}", va="center", fontsize=7)
            axis.set(xlim=(0, 1.12), xlabel="part of the total indices; right: sd")
            axis.set_title("time, sd in %" if output == "cycles" else "L2 read ratio, sd in points")
            axis.tick_params(axis="y", labelsize=7)
            axis.invert_yaxis()
            axis.grid(axis="y", visible=False)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        write(figure, path)


def _part(of: Indices, source: str) -> float:
    """A source's total index, of the sum of all."""
    totals = {one.name: max(one.total, 0.0) for one in of.inputs}
    return totals.get(source, 0.0) / (sum(totals.values()) or 1.0)
