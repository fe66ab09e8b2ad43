"""Fourteen pairs of a slow and a fast version: predicted speedups and times, compared with the published ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from experiments.cudamicrobench2021 import around, efficiency, inside, mandelbrot, programs
from experiments.cudamicrobench2021.inside import Time
from experiments.gv100_launches.programs import downloads
from experiments.harness.readme import markdown
from experiments.harness.scoreboard import significant
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Setting, Within, WithinLog
from memsim.report.figure_style import BLUE, ORANGE, panels, styled, write
from memsim.report.timeline import draw_timeline

REPOSITORY = "github.com/passlab/CUDAMicroBench, 59c4ca6"
TABLE_I = "Yi et al. 2021, table I"
GAIN = 0.25  # relative error that a gain's logarithm may have
TIE = 1.005  # gain up to which two versions count as equally fast
TIME = 0.25  # and a time


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
    pictures = _mandelbrot(setting)
    claims = [
        *_with_order([*_table_one(times, densities, predicted, pictures)]),
        *_speedups(times),
        *_absolute(times),
        *efficiency.claims(None if setting.quick else downloads(programs.REPOSITORY)),
        *_around(densities, predicted),
    ]
    tables = {"inside": _table(times), "unimem": _density_table(densities, predicted), "table1": _summary(claims)}
    return Outcome(claims, tables)


def _mandelbrot(setting: Setting) -> dict[int, float]:
    """Side of the picture -> gain of dynamic parallelism."""
    sizes = (2000,) if setting.quick else (2000, 16000)
    sample = 200 if setting.quick else 1000
    return {size: mandelbrot.everywhere(size, sample) / mandelbrot.adaptive(size, 2) for size in sizes}


def _pairs(times: list[Time]) -> Iterator[tuple[Time, Time]]:
    slow = {(time.benchmark, time.gpu, time.n): time for time in times if time.version == "slow"}
    for time in times:
        if time.version == "fast":
            yield slow[time.benchmark, time.gpu, time.n], time


def _board(time: Time) -> str:
    return "" if time.gpu == "tesla-v100" else f", {time.gpu}"


def _speedups(times: list[Time]) -> Iterator[Claim]:
    for slow, fast in _pairs(times):
        if math.isnan(slow.measured):
            continue
        yield Claim(
            f"{slow.benchmark}, n {slow.n}{_board(slow)}: fast over slow",
            slow.measured / fast.measured,
            slow.predicted / fast.predicted,
            unit="x",
            source=f"{REPOSITORY}, times of a {slow.gpu}; memsim: {slow.traced}",
            aim=WithinLog(GAIN),
        )


def _absolute(times: list[Time]) -> Iterator[Claim]:
    for time in times:
        if math.isnan(time.measured):
            continue
        interval = time.result.kernel_time.interval()
        scale = 1000 * time.parts
        yield Claim(
            f"{time.benchmark}, n {time.n}{_board(time)}: {time.version} version",
            time.measured,
            time.predicted,
            None if interval is None else (scale * interval.low, scale * interval.high),
            "µs",
            f"{REPOSITORY}, times of a {time.gpu}; memsim: {time.traced}",
            aim=Within(TIME),
        )


def _around(densities: list[tuple[int, float, float]], predicted: list[tuple[int, float, float]]) -> Iterator[Claim]:
    rows = list(zip(densities, predicted, strict=True))
    gains = [(math.log(copied / unified), math.log(c / u)) for (_, copied, unified), (_, c, u) in rows]
    yield Claim(
        "UniMem: log-correlation of the gain over all strides", math.nan, float(np.corrcoef(gains, rowvar=False)[0, 1]),
        aim=AtLeast(0.9), source=f"{REPOSITORY}, UniMem on a V100",
    )  # fmt: skip
    errors = [abs(u / unified - 1) for (stride, _, unified), (_, _, u) in rows if stride not in around.FITTED_STRIDES]
    yield Claim(
        "UniMem: mean error of the unified times, at strides not fitted to", 0.0, 100 * _mean(errors), unit="%",
        source=f"{REPOSITORY}, UniMem on a V100", aim=AtMost(100 * TIME),
    )  # fmt: skip


def _table_one(
    times: list[Time],
    densities: list[tuple[int, float, float]],
    predicted: list[tuple[int, float, float]],
    pictures: dict[int, float],
) -> Iterator[Claim]:
    """Table I of the paper, row by row; of TaskGraph, which has no figure there, NVIDIA's."""

    def row(name: str, what: str, published: float, ours: float, source: str = TABLE_I) -> Claim:
        note = f"; memsim: {traced[name]}" if name in traced else ""
        return Claim(f"{name}: {what}", published, ours, unit="x", source=source + note, aim=WithinLog(GAIN))

    traced = {time.benchmark: time.traced for time in times}
    gains: dict[str, list[float]] = {}
    for slow, fast in _pairs(times):
        gains.setdefault(f"{slow.benchmark}{_board(slow)}", []).append(slow.predicted / fast.predicted)
    yield row("WarpDivRedux", "average", 1.1, _mean(gains["WarpDivRedux"]))
    for size, gain in pictures.items():
        if size == 16000:
            yield row("DynParallel", "best, 16000 x 16000 pixels, rtx3080", 3.26, gain)
        else:
            yield Claim(f"DynParallel: {size} x {size} pixels, rtx3080, must lose", math.nan, gain, unit="x",
                        source="Yi et al. 2021, section III.B", aim=AtMost(1))  # fmt: skip
    streams = [around.concurrent_kernels(count).microseconds for count in (1, 8)]
    yield row("Conkernels", "eight streams over one, average", 7, streams[0] / streams[1])
    steps = [around.many_small_kernels(1000, 2.9, graph).microseconds for graph in (False, True)]
    yield row("TaskGraph", "1000 kernels of 2.9 µs", 3.8 / 3.4, steps[0] / steps[1],
              "Gray, Getting Started with CUDA Graphs, NVIDIA 2019, V100")  # fmt: skip
    if "Shmem" in gains:
        yield row("Shmem", "average", 1.25, _mean(gains["Shmem"]))
    yield row("CoMem", "average (memsim: AXPY at its largest)", 18, max(gains["CoMem"]))
    yield row("MemAlign", "average", 1.1, _mean(gains["MemAlign"]))
    yield row("GSOverlap", "best, rtx3080", 1.04, _mean(gains["GSOverlap, rtx3080"]))
    whole = {
        time.version: around.reduction(time.predicted).microseconds for time in times if time.benchmark == "Shuffle"
    }
    yield row("Shuffle", "average, kernels alone", 1.25, _mean(gains["Shuffle"]))
    yield row("Shuffle", "average, with the host's part", 1.25, whole["slow"] / whole["fast"])
    yield row("BankRedux", "average", 1.3, _mean(gains["BankRedux"]))
    copies = [around.hd_overlap(10_240_000, False, count).microseconds for count in (1, 4)]
    yield row("HDOverlap", "asynchronous copies of pageable memory, best", 1.036, copies[0] / copies[1])
    yield row("ReadOnlyMem", "best, tesla-k80", 4.3, max(gains["ReadOnlyMem, tesla-k80"]))
    averaged = [copied / unified for stride, copied, unified in predicted if stride <= around.LARGEST_STRIDE]
    yield row("UniMem", "average over the strides up to 2^21", 3, _mean(averaged))
    transfers = [around.sparse_transfer(1024, dense).microseconds for dense in (True, False)]
    yield row("MiniTransfer", "CSR of 1024 nonzeros over 10240 x 10240 floats, best", 190, transfers[0] / transfers[1])


def _with_order(rows: list[Claim]) -> list[Claim]:
    """The rows of table I, and how many of them gain as published; less than TIE is no gain."""
    gains = [row for row in rows if row.published > 1]
    right = sum(row.ours > TIE for row in gains)
    order = Claim("pairs of table I whose fast version is the faster one", len(gains), right, source=TABLE_I,
                  aim=AtLeast(len(gains)))  # fmt: skip
    return [*rows, order]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _summary(claims: list[Claim]) -> str:
    rows = [
        [
            claim.claim,
            "–" if math.isnan(claim.published) else significant(claim.published, 3),
            significant(claim.ours, 3),
        ]
        for claim in claims
        if "table I" in claim.source or "Gray" in claim.source or "section III" in claim.source
    ]
    return markdown(["pair", "table I", "memsim"], rows)


def _table(times: list[Time]) -> str:
    rows = []
    for slow, fast in _pairs(times):
        values = slow.measured, slow.predicted, fast.measured, fast.predicted
        gains = slow.measured / fast.measured, slow.predicted / fast.predicted
        shown = [significant(value, 3) for value in (*values, *gains)]
        rows.append([f"{slow.benchmark}{_board(slow)}", slow.traced, f"{slow.n:,}", *shown])
    headers = ["pair", "trace", "n", "slow µs", "memsim", "fast µs", "memsim", "gain", "memsim"]
    return markdown(headers, rows, 2)


def _density_table(densities: list[tuple[int, float, float]], predicted: list[tuple[int, float, float]]) -> str:
    rows = [
        [str(stride), *(f"{value:.1f}" for value in (copied, c, unified, u))]
        for (stride, copied, unified), (_, c, u) in zip(densities, predicted, strict=True)
    ]
    return markdown(["stride", "copied ms", "memsim", "unified ms", "memsim"], rows)


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
