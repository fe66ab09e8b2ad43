"""Run the study: rates of ten kernels for a product of two matrices of 4096 x 4096 floats."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

from scipy.stats import spearmanr

import memsim
from experiments.gv100_launches.programs import downloads
from experiments.harness.ladder import draw
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, Claim, Outcome, Setting, Within
from experiments.sgemm_ladder.programs import DESCRIBED, GPU, SIDE, captured, described
from memsim.support.progress import bar

SOURCE = "siboehm/SGEMM_CUDA, README, RTX A6000"
LENGTHS, QUICK = (256, 512), (8, 16)  # inner lengths that are simulated; of shorter ones starts and ends weigh too much
Rows = dict[int, tuple[str, float, float]]  # kernel -> name, measured and our GFLOP/s


def run(setting: Setting) -> Outcome:
    """All ten kernels; those that are described where the programs are not downloaded, or quickly."""
    folder = None if setting.quick else downloads("SGEMM_CUDA")
    rows = {kernel: row for kernel, row in measured().items() if folder or kernel in DESCRIBED}
    found: Rows = {}
    with bar("kernels") as advance:
        for done, (kernel, (name, rate)) in enumerate(rows.items()):
            advance(done, len(rows), name)
            found[kernel] = name, rate, 2e-9 * SIDE**3 / seconds(kernel, folder, QUICK if setting.quick else LENGTHS)
    names = [f"{kernel}" for kernel in found]
    draw(names, [row[1] for row in found.values()], [row[2] for row in found.values()], "GFLOP/s",
         setting.figures / "ladder.png")  # fmt: skip
    return Outcome(list(claims(found)), {"ladder": table(found)})


def measured() -> dict[int, tuple[str, float]]:
    """Kernel -> its name and rate.

    >>> measured()[10]
    ('warp tiling', 21779.0)
    """
    with Path(__file__).with_name("measured.csv").open(encoding="utf-8", newline="") as lines:
        return {int(row["kernel"]): (row["name"], float(row["gflops"])) for row in csv.DictReader(lines)}


def seconds(kernel: int, folder: Path | None, lengths: tuple[int, int]) -> float:
    """The time of a whole product, from two whose inner lengths are shorter: it grows by as much a step."""
    short, longer = (
        memsim.simulate(captured(kernel, k, folder) if folder else described(kernel, k), GPU, trials=1) for k in lengths
    )
    each = (longer.kernel_time.mean - short.kernel_time.mean) / (lengths[1] - lengths[0])
    return (longer.kernel_time.mean + each * (SIDE - lengths[1])) / 1000


def claims(found: Rows) -> Iterator[Claim]:
    """Each rate, and their order."""
    for kernel, (name, rate, ours) in found.items():
        yield Claim(f"{kernel}, {name}", rate, ours, unit="GFLOP/s", source=SOURCE, aim=Within(0.25))
    if len(found) > 2:
        order = float(spearmanr([row[1] for row in found.values()], [row[2] for row in found.values()]).statistic)
        yield Claim("rank correlation of the rates", math.nan, order, source=SOURCE, aim=AtLeast(0.97))


def table(found: Rows) -> str:
    """A kernel a row."""
    rows = [[str(kernel), name, f"{rate:,.0f}", f"{ours:,.0f}", f"{100 * (ours / rate - 1):+.1f}"]
            for kernel, (name, rate, ours) in found.items()]  # fmt: skip
    return markdown(["kernel", "what is new", "GFLOP/s, measured", "memsim", "%"], rows)
