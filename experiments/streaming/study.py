"""Bandwidth of four streaming kernels against occupancy, and times of copies by size, next to measured GPUs."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from matplotlib.ticker import NullFormatter

import memsim
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Outcome, Setting, Within
from experiments.streaming import repeated
from experiments.streaming.switches import PARTS, Settings, switched, table
from memsim.gpu.config import GPU
from memsim.gpu.presets import load_gpu, override
from memsim.report.figure_style import SERIES, panels, styled, write

KERNELS = {"init": 1, "read": 1, "scale": 2, "vector_triad": 4}  # doubles that a thread moves
MEASURED = Path(__file__).with_name("measured.csv")
SOURCE = "RRZE-HPC gpu-benches, gpu-stream, 1038c5d"
OCTAVES = 0.15  # mean of the errors' logarithms that is asked for: 11 %
_WAVES = 8, 24  # of blocks at least: the difference is without the start, when caches and memory are idle
_FILLINGS = 2, 4  # of L2 by each vector at least: the difference is without what stays there unwritten
_RESERVED = 1024  # bytes of shared memory that each block takes besides, from compute capability 8.0 on
_FEWEST = 16  # threads of an SM
_FEW_THREADS = 128  # of an SM: too slow for what L2 still holds to matter


@dataclass(frozen=True)
class Point:
    """One kernel at one occupancy: GB/s, measured and ours."""

    gpu: str
    block: int
    blocks_per_sm: int
    kernel: str
    measured: float
    ours: float

    @property
    def threads(self) -> int:
        """Of one SM."""
        return self.block * self.blocks_per_sm


def run(setting: Setting) -> Outcome:
    """All boards; a quick run takes a few points of one, and the switches of one loop."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if setting.quick:
        rows = [row for row in rows if row["gpu"] == "tesla-v100" and int(row["block"]) in (32, 112)]
    points = mapped(_point, [(row, kernel) for row in rows for kernel in KERNELS], setting.jobs, "points")
    _draw(points, setting.figures / "streaming.png")
    full = {row["gpu"]: row for row in rows if row["gpu"] in PARTS}  # the last of each board
    loops = list(KERNELS)[: 1 if setting.quick else None]
    switches = mapped(_switched, [(row, one) for row in full.values() for one in loops], setting.jobs, "switches")
    launches = mapped(repeated.simulated, repeated.rows(setting.quick), setting.jobs, "launches")
    tables = {"bandwidth": _table(points), "switches": table(switches), "repeated": repeated.table(launches)}
    return Outcome([*_claims(points), *repeated.claims(launches)], tables)


def _switched(asked: tuple[dict[str, str], str]) -> tuple[str, str, float, dict[str, float]]:
    """A loop's board, its name, and GB/s, measured and by setting."""
    row, kernel = asked
    settings = switched(row["gpu"], load_gpu(row["gpu"]).dram.clock_mhz)
    found = {name: _point(asked, changed).ours for name, changed in settings.items()}
    return row["gpu"], kernel, float(row[kernel]), found


def _point(asked: tuple[dict[str, str], str], changed: Settings = MappingProxyType({})) -> Point:
    row, kernel = asked
    block, resident = int(row["block"]), int(row["blocks_per_sm"])
    gpu = override(load_gpu(row["gpu"]), changed)
    wave = block * resident * gpu.sm.count
    in_l2 = gpu.l2.size_bytes / 8 / wave if block * resident > _FEW_THREADS else 0
    waves = [max(least, math.ceil(fillings * in_l2)) for least, fillings in zip(_WAVES, _FILLINGS, strict=True)]
    (n, time), (more, longer) = [(k * wave, _milliseconds(k * wave, kernel, block, resident, gpu)) for k in waves]
    ours = 8 * KERNELS[kernel] * (more - n) / (1e6 * (longer - time))
    return Point(row["gpu"], block, resident, kernel, float(row[kernel]), ours)


def _milliseconds(n: int, kernel: str, block: int, resident: int, gpu: GPU) -> float:
    """Of a whole launch, from its first block on; shared memory holds occupancy down, as in the benchmark."""
    shared = (gpu.sm.shared_bytes // resident - _RESERVED) // 1024 * 1024
    trace = memsim.trace("stream", blocks="all", gpu=gpu, n=n, variant=kernel, block=block, shared_bytes=shared)
    settings = {"stochastic.start_alignment": False}
    return memsim.simulate(trace, gpu=gpu, trials=1, seed=1, settings=settings).kernel_time.mean


def _claims(points: list[Point]) -> Iterator[Claim]:
    for gpu in dict.fromkeys(point.gpu for point in points):
        for kernel in KERNELS:
            of = [point for point in points if (point.gpu, point.kernel) == (gpu, kernel)]
            for point in (of[0], of[-1]):
                if not _is_fitted(point):
                    yield Claim(
                        f"{gpu}, {kernel}: {point.threads} threads per SM", point.measured, point.ours, unit="GB/s",
                        source=SOURCE, aim=Within(0.1),
                    )  # fmt: skip
            errors = [abs(math.log2(point.ours / point.measured)) for point in of]
            yield Claim(
                f"{gpu}, {kernel}: mean abs. log2 error", 0.0, float(np.mean(errors)), unit="octaves", source=SOURCE,
                aim=AtMost(OCTAVES),
            )  # fmt: skip


def _is_fitted(point: Point) -> bool:
    """Whether a number of the preset is what it is because of this point: it then tests nothing."""
    launch = point.kernel == "init" and point.threads == _FEWEST  # sm.launch_cycles
    queue = (point.gpu, point.kernel, point.threads) == ("a40", "scale", 1536)  # dram.write_queue, _high, _low
    return launch or queue


def _table(points: list[Point]) -> str:
    rows: dict[tuple[str, int, int], list[str]] = {}
    for point in points:
        row = rows.setdefault((point.gpu, point.block, point.blocks_per_sm), [])
        row += [f"{point.measured:.0f}", f"{point.ours:.0f}"]
    headers = ["GPU", "block", "blocks per SM", *(header for kernel in KERNELS for header in (kernel, "memsim"))]
    return markdown(headers, [[gpu, str(block), str(resident), *row] for (gpu, block, resident), row in rows.items()])


def _draw(points: list[Point], path: Path) -> None:
    gpus = list(dict.fromkeys(point.gpu for point in points))
    with styled():
        figure, all_axes = panels(1, len(gpus), 3.4 * len(gpus) + 0.6, 3.2)
        for axes, gpu in zip(all_axes, gpus, strict=True):
            for kernel, colour in zip(KERNELS, SERIES, strict=False):
                of = [point for point in points if (point.gpu, point.kernel) == (gpu, kernel)]
                threads = [point.threads for point in of]
                axes.plot(threads, [point.measured for point in of], "o", ms=3.5, color=colour)
                axes.plot(threads, [point.ours for point in of], color=colour, label=kernel)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel("threads per SM")
            axes.set_title(gpu)
        all_axes[0].set_ylabel("GB/s")
        all_axes[0].legend(title="dots measured, lines memsim", title_fontsize=8)
        write(figure, path)
