"""Run the study: times of eight reductions of 32 Mi floats."""

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
from experiments.reduction_ladder.programs import DESCRIBED, GPU, NUMBERS, captured, described
from memsim.support.progress import bar

SOURCE = "Liu-xiandong/How_to_optimize_in_GPU, reduce, V100, by nsight"
TRIALS, QUICK = 1, 1 << 20
CLOCK = {"sm.clock_mhz": 1312}  # the measured GPU's, see README.md; the preset has another board's
Rows = dict[int, tuple[str, float, float]]  # step -> name, measured and our microseconds


def run(setting: Setting) -> Outcome:
    """All eight steps; those that are described where the programs are not downloaded, or quickly of fewer numbers."""
    folder = None if setting.quick else downloads("How_to_optimize_in_GPU")
    rows = {step: row for step, row in measured().items() if folder or step in DESCRIBED}
    numbers = QUICK if setting.quick else NUMBERS
    found: Rows = {}
    with bar("steps") as advance:
        for done, (step, (name, time)) in enumerate(rows.items()):
            advance(done, len(rows), name)
            trace = captured(step, folder) if folder else described(step, numbers)
            result = memsim.simulate(trace, GPU, trials=TRIALS, jobs=setting.jobs, settings=CLOCK)
            found[step] = name, time, 1000 * result.kernel_time.mean * NUMBERS / numbers
    names = [f"v{step}" for step in found]
    draw(names, [row[1] for row in found.values()], [row[2] for row in found.values()], "µs",
         setting.figures / "ladder.png")  # fmt: skip
    return Outcome(list(claims(found)), {"ladder": table(found)})


def measured() -> dict[int, tuple[str, float]]:
    """Step -> its name and time in microseconds.

    >>> measured()[0]
    ('baseline', 804.0)
    """
    with Path(__file__).with_name("measured.csv").open(encoding="utf-8", newline="") as lines:
        return {int(row["step"]): (row["name"], float(row["us"])) for row in csv.DictReader(lines)}


def claims(found: Rows) -> Iterator[Claim]:
    """Each time, and their order."""
    for step, (name, time, ours) in found.items():
        yield Claim(f"v{step}, {name}", time, ours, unit="µs", source=SOURCE, aim=Within(0.15))
    order = float(spearmanr([row[1] for row in found.values()], [row[2] for row in found.values()]).statistic)
    yield Claim("rank correlation of the times", math.nan, order, source=SOURCE, aim=AtLeast(0.97))


def table(found: Rows) -> str:
    """A step a row."""
    rows = [[f"v{step}", name, f"{time:,.0f}", f"{ours:,.0f}", f"{100 * (ours / time - 1):+.1f}"]
            for step, (name, time, ours) in found.items()]  # fmt: skip
    return markdown(["step", "what is new", "µs, measured", "memsim", "%"], rows)
