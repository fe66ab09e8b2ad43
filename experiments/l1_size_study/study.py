"""Which kernels want a large L1: Fermi's 48 KB instead of 16, Volta's 120 KB instead of 32."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import memsim
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, Claim, Interval, Outcome, Setting
from memsim.analysis.choices import Convention
from memsim.analysis.statistics import Sample
from memsim.report.figure_style import BLUE, GREY, VERMILION, panels, styled, write
from memsim.support import library
from memsim.support.errors import InputError

KB = 1 << 10
FERMI, VOLTA = "gtx480", "tesla-v100"
TRIALS = 4
WORTH = 0.02  # of the time: less than this a user would not notice
QUICK = ("saxpy", "transpose")
# A walk by one warp, whose time is its latency; and those whose waves take many times as long to replay as all others.
_SKIPPED = ("pointer_chase", "conv3d", "gemv", "histogram", "histogram64", "kmeans", "merge_sort", "mri_q")


@dataclass(frozen=True)
class Gain:
    """Time with the small L1 over time with the large one, of a kernel on a GPU.

    Attributes:
        ratio: its mean over trials, paired by their number; `interval` holds it with 95 %.
        hits: share of read requests that L1 serves, hits and merges, with the small and with the large.
    """

    kernel: str
    gpu: str
    ratio: float
    interval: Interval
    hits: tuple[float, float]

    @property
    def wants(self) -> bool:
        """Whether the whole interval says that the large one is worth it."""
        return self.interval[0] > 1 + WORTH

    @property
    def suffers(self) -> bool:
        return self.interval[1] < 1 - WORTH


def run(setting: Setting) -> Outcome:
    """All kernels of the library, a wave of blocks each."""
    names = QUICK if setting.quick else [name for name in library.names("traces", ".py") if name not in _SKIPPED]
    found = mapped(_gain, [(gpu, name) for gpu in (FERMI, VOLTA) for name in names], setting.jobs, "kernels")
    gains = sorted((gain for gain in found if gain is not None), key=lambda gain: -gain.ratio)
    _draw(gains, setting.figures / "gains.png")
    return Outcome(_claims(gains), {"gains": _table(gains)})


def study(gpu: str, kernel: str) -> memsim.Study:
    """Two points: the small L1 and the large one."""
    traced = {kernel: {"workload": kernel, "blocks": "1x"}}
    if gpu == FERMI:  # of 64 KB, the rest is shared memory; 32 sets of 4 ways or, with 48 KB, 64 of 6
        vary = {"l1.size_bytes": [16 * KB, 48 * KB]}
        follow = {"l1.ways": "4 if l1.size_bytes < 20000 else 6", "sm.shared_bytes": "65536 - l1.size_bytes"}
        return memsim.Study("l1_size_study", kernels=traced, gpus=gpu, vary=vary, follow=follow, trials=TRIALS, seed=1)
    # The most that shared memory may take, and the least; what a kernel needs comes first.
    vary = {"l1.reserved_bytes": [96 * KB, 8 * KB]}
    return memsim.Study("l1_size_study", kernels=traced, gpus=gpu, vary=vary, trials=TRIALS, seed=1)


def _gain(asked: tuple[str, str]) -> Gain | None:
    """None: a block of the kernel needs more shared memory than the large L1 leaves."""
    gpu, kernel = asked
    try:
        done = study(gpu, kernel).run()
    except InputError:
        return None
    times, hits = done.output("time_ms"), [_served(done.result(point)) for point in range(len(done.points))]
    sample = Sample(times[0] / times[1])
    low, high = sample.interval() or (sample.mean, sample.mean)
    return Gain(kernel, gpu, sample.mean, (low, high), (hits[0], hits[1]))


def _served(result: memsim.Result) -> float:
    """Share of L1's read requests that go no further: where blocks begin together, most find data on its way."""
    return memsim.Result(result.trials, Convention.traffic).l1_read.mean


def _claims(gains: list[Gain]) -> list[Claim]:
    claims = []
    for gpu, asked in ((FERMI, "48 KB of L1"), (VOLTA, "120 KB of L1")):
        of = [gain for gain in gains if gain.gpu == gpu]
        wanting = sum(gain.wants for gain in of)
        claims.append(
            Claim(f"{gpu}: kernels of {len(of)} faster by 2 % or more with {asked}", math.nan, wanting, unit="kernels",
                  aim=AtLeast(1))
        )  # fmt: skip
        largest = max(of, key=lambda gain: gain.ratio)
        name = f"{gpu}: largest gain with {asked} ({largest.kernel})"
        claims.append(Claim(name, math.nan, largest.ratio, interval=largest.interval, unit="times", aim=AtLeast(1.02)))
    return claims


def _table(gains: list[Gain]) -> str:
    rows = [
        [
            gain.gpu, gain.kernel, f"{gain.ratio:.3f}", f"{gain.interval[0]:.3f} to {gain.interval[1]:.3f}",
            *(f"{100 * hit:.1f}" if np.isfinite(hit) else "–" for hit in gain.hits),
        ]
        for gain in gains if abs(gain.ratio - 1) > WORTH / 2
    ]  # fmt: skip
    headers = ["board", "kernel", "time, small / large", "95 % interval", "L1 serves %, small", "L1 serves %, large"]
    return markdown(headers, rows)


def _draw(gains: list[Gain], path: Path) -> None:
    with styled():
        of = {gpu: [gain for gain in gains if gain.gpu == gpu][::-1] for gpu in (FERMI, VOLTA)}
        figure, axes = panels(1, 2, 8.0, 0.5 + 0.17 * max(map(len, of.values())))
        titles = (f"{FERMI}: 48 KB for 16", f"{VOLTA}: 120 KB for 32")
        for axis, title, some in zip(axes, titles, of.values(), strict=True):
            y = np.arange(len(some))
            colours = [BLUE if gain.wants else VERMILION if gain.suffers else GREY for gain in some]
            axis.barh(y, [100 * (gain.ratio - 1) for gain in some], color=colours, height=0.7)
            low, high = (np.array([100 * (gain.interval[k] - 1) for gain in some]) for k in (0, 1))
            axis.hlines(y, low, high, color="black", lw=0.8)
            axis.set_yticks(y, [gain.kernel for gain in some], fontsize=7)
            axis.set_xlabel("slower with the small L1, %")
            axis.set_title(title)
        write(figure, path)
