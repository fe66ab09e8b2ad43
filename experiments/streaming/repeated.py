"""Times of short launches, one behind the other: a copy of 64 KB to 64 MB, compared with gpu-small-kernels.

The benchmark copies back and forth between two vectors of doubles. Here each launch copies in the same direction, and
the third one counts: it finds in L2 what the launches before it left there.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import memsim
from experiments.harness.readme import markdown
from experiments.harness.study import AtMost, Claim, Within
from memsim.gpu.presets import load_gpu

MEASURED = Path(__file__).with_name("repeated.csv")
SOURCE = "RRZE-HPC gpu-benches, gpu-small-kernels, 1038c5d"
BLOCK = 256  # threads of the blocks whose times have aims
_MEGABYTE = 1 << 20
_SINGLE, _MEAN = 0.15, 0.1  # error of one time, mean of all times of a GPU that are not fitted
_LAUNCHES = 3


@dataclass(frozen=True)
class Launch:
    """A launch of `doubles` threads: microseconds, measured and ours."""

    gpu: str
    block: int
    doubles: int
    measured: float
    ours: float

    @property
    def moved_bytes(self) -> int:
        """Of both vectors."""
        return 16 * self.doubles

    @property
    def error(self) -> float:
        """Relative to the measured time."""
        return self.ours / self.measured - 1

    @property
    def is_fitted(self) -> bool:
        """Whether ``launch.idle_cycles`` is what it is because of such short launches."""
        return self.moved_bytes < _MEGABYTE


def rows(quick: bool) -> list[dict[str, str]]:
    """Of the file; a quick run takes the shortest launch of each GPU."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    return list({row["gpu"]: row for row in reversed(found)}.values()) if quick else found


def simulated(row: dict[str, str]) -> Launch:
    """A row, and the time of the same launch in memsim."""
    gpu, block, doubles = load_gpu(row["gpu"]), int(row["block"]), int(row["doubles"])
    whole = doubles // block * block
    trace = memsim.trace("stream", blocks="all", gpu=gpu, n=whole, variant="scale", block=block)
    settings = {"stochastic.start_alignment": False}
    last = memsim.simulate_program([trace] * _LAUNCHES, gpu=gpu, trials=1, seed=1, jobs=1, settings=settings)[-1]
    measured = 16 * doubles / (1e3 * float(row["gb_per_s"]))
    return Launch(row["gpu"], block, doubles, measured, 1e3 * last.kernel_time.mean)


def claims(launches: list[Launch]) -> Iterator[Claim]:
    """Each time of a launch of 1 MB and more in blocks of 256 threads, and the mean error of all of these sizes."""
    for gpu in dict.fromkeys(launch.gpu for launch in launches):
        of = [launch for launch in launches if launch.gpu == gpu and not launch.is_fitted]
        for launch in of:
            if launch.block == BLOCK:
                size = f"{launch.moved_bytes / _MEGABYTE:.0f} MB"
                yield Claim(
                    f"{gpu}, a copy of {size} behind another", launch.measured, launch.ours, unit="µs", source=SOURCE,
                    aim=Within(_SINGLE),
                )  # fmt: skip
        if of:
            yield Claim(
                f"{gpu}, copies behind another: mean absolute relative error", 0.0,
                float(np.mean([abs(launch.error) for launch in of])), source=SOURCE, aim=AtMost(_MEAN),
            )  # fmt: skip


def table(launches: list[Launch]) -> str:
    """The times by size, a column of each block's."""
    blocks = sorted({launch.block for launch in launches})
    lines: dict[tuple[str, int], dict[int, Launch]] = {}
    for launch in launches:
        lines.setdefault((launch.gpu, launch.doubles), {})[launch.block] = launch
    headers = ["GPU", "KB", *(header for block in blocks for header in (f"µs, blocks of {block}", "memsim", "%"))]
    return markdown(
        headers,
        [
            [gpu, f"{16 * doubles // 1024:,}", *(cell for block in blocks for cell in _cells(of.get(block)))]
            for (gpu, doubles), of in lines.items()
        ],
    )


def _cells(launch: Launch | None) -> list[str]:
    if launch is None:
        return ["", "", ""]
    return [f"{launch.measured:.2f}", f"{launch.ours:.2f}", f"{100 * launch.error:+.0f}"]
