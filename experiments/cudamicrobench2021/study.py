"""Fourteen pairs of a slow and a fast version: predicted speedups and times beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.cudamicrobench2021 import around, inside
from experiments.cudamicrobench2021.inside import Time
from experiments.papers.readme import markdown
from experiments.papers.scoreboard import significant
from experiments.papers.study import AtLeast, Claim, Outcome, Setting
from memsim.report.style import BLUE, ORANGE, panels, styled, write
from memsim.report.timeline import draw_timeline

REPOSITORY = "github.com/passlab/CUDAMicroBench, 59c4ca6"
TABLE_I = "Yi et al. 2021, table I"


def run(setting: Setting) -> Outcome:
    """All pairs."""
    times = inside.times(setting)
    densities = around.measured_densities()
    if setting.quick:
        densities = densities[::6]
    predicted = [
        (stride, *(around.access_density(stride, unified).microseconds / 1000 for unified in (False, True)))
        for stride, *_ in densities
    ]
    _draw_densities(densities, predicted, setting.figures / "unimem.png")
    draw_timeline(around.hd_overlap(1 << 20, True, 4), setting.figures / "overlap.png", "AXPY in four streams, V100")
    claims = [*_speedups(times), *_absolute(times), *_around(densities, predicted)]
    return Outcome(claims, {"inside": _table(times), "unimem": _density_table(densities, predicted)})


def _pairs(times: list[Time]) -> Iterator[tuple[Time, Time]]:
    slow = {(time.benchmark, time.n): time for time in times if time.version == "slow"}
    for time in times:
        if time.version == "fast":
            yield slow[time.benchmark, time.n], time


def _speedups(times: list[Time]) -> Iterator[Claim]:
    for slow, fast in _pairs(times):
        yield Claim(
            f"{slow.benchmark}, n {slow.n}: fast over slow",
            slow.measured / fast.measured,
            slow.predicted / fast.predicted,
            unit="x",
            source=f"{REPOSITORY}, times of a V100",
        )


def _absolute(times: list[Time]) -> Iterator[Claim]:
    for time in times:
        interval = time.result.kernel_time.interval()
        yield Claim(
            f"{time.benchmark}, n {time.n}: {time.version} version",
            time.measured,
            time.predicted,
            None if interval is None else (1000 * interval.low, 1000 * interval.high),
            "µs",
            f"{REPOSITORY}, nvprof on a V100",
        )


def _around(densities: list[tuple[int, float, float]], predicted: list[tuple[int, float, float]]) -> Iterator[Claim]:
    def over(slow: float, fast: float, claim: str, published: float, source: str) -> Claim:
        return Claim(claim, published, slow / fast, unit="x", source=source)

    yield over(
        around.hd_overlap(10_240_000, False, 1).microseconds,
        around.hd_overlap(10_240_000, False, 4).microseconds,
        "HDOverlap: asynchronous copies of pageable memory", 1.036, f"{TABLE_I}, best",
    )  # fmt: skip
    yield over(
        around.concurrent_kernels(1).microseconds, around.concurrent_kernels(8).microseconds,
        "Conkernels: eight streams over one", 7, f"{TABLE_I} and section III.C",
    )  # fmt: skip
    yield over(
        around.many_small_kernels(1000, 2.9, False).microseconds,
        around.many_small_kernels(1000, 2.9, True).microseconds,
        "TaskGraph: 1000 kernels of 2.9 µs", 3.8 / 3.4, "Gray, Getting Started with CUDA Graphs, NVIDIA 2019, V100",
    )  # fmt: skip
    yield over(
        around.sparse_transfer(1024, True).microseconds, around.sparse_transfer(1024, False).microseconds,
        "MiniTransfer: CSR of 1024 nonzeros over 10240 x 10240 floats", 190, f"{TABLE_I}, best",
    )  # fmt: skip
    gains = [(copied / unified, c / u) for (_, copied, unified), (_, c, u) in zip(densities, predicted, strict=True)]
    logs = [[math.log(gain) for gain in column] for column in zip(*gains, strict=True)]
    yield Claim(
        "UniMem: log-correlation of the gain over all strides", math.nan, _correlation(*logs), aim=AtLeast(0.9),
        source=f"{REPOSITORY}, UniMem on a V100",
    )  # fmt: skip


def _correlation(a: list[float], b: list[float]) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def _table(times: list[Time]) -> str:
    rows = [
        [slow.benchmark, f"{slow.n:,}", *(significant(value, 3) for value in (slow.measured, slow.predicted,
         fast.measured, fast.predicted, slow.measured / fast.measured, slow.predicted / fast.predicted))]
        for slow, fast in _pairs(times)
    ]  # fmt: skip
    headers = ["pair", "n", "slow µs", "ours", "fast µs", "ours", "gain", "ours"]
    return markdown(headers, rows)


def _density_table(densities: list[tuple[int, float, float]], predicted: list[tuple[int, float, float]]) -> str:
    rows = [
        [str(stride), *(f"{value:.1f}" for value in (copied, c, unified, u))]
        for (stride, copied, unified), (_, c, u) in zip(densities, predicted, strict=True)
    ]
    return markdown(["stride", "copied ms", "ours", "unified ms", "ours"], rows)


def _draw_densities(
    densities: list[tuple[int, float, float]], predicted: list[tuple[int, float, float]], path: Path
) -> None:
    with styled():
        figure, (axes,) = panels(1, 1, 5.5, 3.2)
        for column, name, colour in ((1, "x copied whole", BLUE), (2, "unified memory", ORANGE)):
            strides = [row[0] for row in densities]
            axes.plot(strides, [row[column] for row in densities], "o", ms=4, color=colour, label=f"{name}, measured")
            axes.plot(strides, [row[column] for row in predicted], color=colour, label=f"{name}, memsim")
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("stride between the floats that are read")
        axes.set_ylabel("ms")
        axes.set_title("512 MB to a V100, and a part of it read")
        axes.legend()
        write(figure, path)
