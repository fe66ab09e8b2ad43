"""Run the study: best possible and predicted time of every kernel, and copies next to bytes over bandwidth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import memsim
from experiments.best_possible.kernels import StudiedKernel, kernels
from experiments.gv100_launches.programs import downloads
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Outcome, Setting
from memsim.analysis.speed_of_light import speed_of_light
from memsim.gpu.config import GPU
from memsim.report.figure_style import BLUE, GREY, panels, styled, write
from memsim.support.errors import InputError
from memsim.support.progress import bar

WANTED = "How_to_optimize_in_GPU and SGEMM_CUDA"
GPUS = ("tesla-c2050", "tesla-v100", "a100", "h100", "rtx4090")
MEGABYTES = (64, 256, 1024)  # that a copy reads


@dataclass(frozen=True)
class Compared:
    """Times in milliseconds, and the component that needs the best possible one."""

    study: str
    name: str
    gpu: str
    best: float
    predicted: float
    limit: str


@dataclass(frozen=True)
class Copy:
    """A copy; times in milliseconds, without the launch.

    Attributes:
        read: MB.
        kept: share of its bytes that L2 may keep, so that they need not be written.
        by_bytes: all bytes, read and written, over the bandwidth of the data buses.
    """

    gpu: str
    read: int
    kept: float
    best: float
    by_bytes: float


def run(setting: Setting) -> Outcome:
    """All kernels and copies, one trial each."""
    listed = kernels(None if setting.quick else downloads(WANTED), setting.quick)
    few = 1 if setting.quick else None
    sizes = [(gpu, size) for gpu in GPUS[:few] for size in MEGABYTES[:few]]
    found: list[Compared] = []
    copies: list[Copy] = []
    with bar("kernels") as advance:
        for done, one in enumerate(listed):
            advance(done, len(listed) + len(sizes), one.name)
            if (row := compared(one)) is not None:
                found.append(row)
        for done, (gpu, size) in enumerate(sizes):
            advance(len(listed) + done, len(listed) + len(sizes), f"copy of {size} MB")
            copies.append(copied(gpu, size))
    _draw(found, setting.figures / "best_possible.png")
    return Outcome(_claims(found, copies), {"kernels": _table(found), "copies": _copies(copies)})


def compared(one: StudiedKernel) -> Compared | None:
    """The two times of a kernel; None of one that does not fit its GPU."""
    try:
        trace = one.trace()
    except InputError as error:
        print(f"{one.study}, {one.name}: left out: {error}", flush=True)
        return None
    result = memsim.simulate(trace, one.gpu, trials=1, jobs=1, settings=one.settings)
    bound = speed_of_light(result)
    assert bound is not None  # of a result that was made just now
    return Compared(one.study, one.name, one.gpu, bound.milliseconds, result.kernel_time.mean, bound.limit)


def copied(gpu: str, megabytes: int) -> Copy:
    """A copy of so many MB, of which two waves of blocks are replayed."""
    size, machine = megabytes << 20, memsim.load_gpu(gpu)
    trace = memsim.trace("stream", variant="copy", n=size // 8, gpu=gpu, blocks="2x")
    bound = speed_of_light(memsim.simulate(trace, gpu, trials=1, jobs=1))
    assert bound is not None
    best = bound.milliseconds - bound.launch_cycles * bound.ns_per_cycle / 1e6
    rate = bytes_per_ms(machine)
    kept = 1 - bound.dram_bytes / (2 * size)
    return Copy(gpu, megabytes, kept, best, 2 * size / rate)


def bytes_per_ms(gpu: GPU) -> float:
    """Bandwidth of all data buses: 32 bytes per burst and channel, with the burst in DRAM clocks."""
    return 32 * gpu.dram.channels * gpu.dram.clock_mhz * 1000 / gpu.dram.timing.burst


def _claims(found: Sequence[Compared], copies: Sequence[Copy]) -> list[Claim]:
    most = 100 * max(one.best / one.predicted for one in found)
    far = 100 * max(abs(one.best / one.by_bytes - 1) for one in copies)
    copied_text = f"copies of 64 MB and more: distance from all bytes over the bandwidth, largest of {len(copies)}"
    return [
        Claim(
            f"best possible over predicted time, largest of {len(found)} kernels",
            math.nan,
            most,
            unit="%",
            aim=AtMost(100),
        ),
        Claim(copied_text, math.nan, far, unit="%", aim=AtMost(3)),
    ]


def _table(found: Sequence[Compared]) -> str:
    rows = [
        [one.study, one.name, one.gpu, f"{one.best:.4g}", f"{one.predicted:.4g}",
         f"{100 * one.best / one.predicted:.0f}", one.limit]
        for one in found
    ]  # fmt: skip
    return markdown(["study", "kernel", "GPU", "best possible, ms", "predicted, ms", "share, %", "limited by"], rows)


def _copies(copies: Sequence[Copy]) -> str:
    rows = [
        [one.gpu, str(one.read), f"{one.by_bytes:.4f}", f"{one.best:.4f}",
         f"{100 * (one.best / one.by_bytes - 1):+.1f}", f"{100 * one.kept:.1f}"]
        for one in copies
    ]  # fmt: skip
    header = ["GPU", "read, MB", "bytes / bandwidth, ms", "best possible, ms", "difference, %", "L2 keeps, %"]
    return markdown(header, rows)


def _draw(found: Sequence[Compared], path: Path) -> None:
    """Best possible time by predicted time; no point may lie above the line."""
    with styled():
        figure, (axis,) = panels(1, 1, 4.6, 3.8)
        times = [one.predicted for one in found]
        axis.loglog([min(times), max(times)], [min(times), max(times)], color=GREY)
        axis.loglog(times, [one.best for one in found], "o", color=BLUE, markersize=4)
        axis.set(xlabel="predicted time, ms", ylabel="best possible time, ms", title="Best possible times")
        write(figure, path)
