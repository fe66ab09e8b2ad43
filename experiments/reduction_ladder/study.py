"""Run the study: times of eight reductions of 32 Mi floats on a V100, and of nine on an A100."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

import memsim
from experiments.gv100_launches.programs import downloads
from experiments.harness.ladder import draw
from experiments.harness.readme import markdown
from experiments.harness.study import AtLeast, AtMost, Claim, Outcome, Setting, Within
from experiments.reduction_ladder.programs import A100, DESCRIBED, NUMBERS, V100, Ladder, captured, described
from memsim.support.progress import bar

TRIALS, QUICK = 1, 1 << 20
Rows = dict[int, tuple[str, float, float]]  # step -> name, measured and our microseconds


def run(setting: Setting) -> Outcome:
    """All steps; those that are described where the programs are not downloaded, or quickly of fewer numbers."""
    v100, a100 = predicted(V100, setting), predicted(A100, setting)
    names = [f"v{step}" for step in v100]
    draw(names, [row[1] for row in v100.values()], [row[2] for row in v100.values()], "µs",
         setting.figures / "ladder.png")  # fmt: skip
    return Outcome(
        [*claims(v100), *claims(a100, A100, "A100, "), *mean_error(a100, A100)],
        {"ladder": table(v100), "a100": table(a100)},
    )


def predicted(ladder: Ladder, setting: Setting) -> Rows:
    """Each step of a ladder, as measured and as simulated."""
    folder = None if setting.quick else downloads("How_to_optimize_in_GPU and how-to-optim-algorithm-in-cuda")
    rows = {step: row for step, row in measured(ladder).items() if folder or step in DESCRIBED}
    numbers = QUICK if setting.quick else NUMBERS
    found: Rows = {}
    with bar(f"steps on {ladder.gpu}") as advance:
        for done, (step, (name, time)) in enumerate(rows.items()):
            advance(done, len(rows), name)
            trace = captured(ladder, step, folder) if folder else described(ladder, step, numbers)
            result = memsim.simulate(trace, ladder.gpu, trials=TRIALS, jobs=setting.jobs, settings=ladder.settings)
            found[step] = name, time, 1000 * result.kernel_time.mean * NUMBERS / numbers
    return found


def measured(ladder: Ladder = V100) -> dict[int, tuple[str, float]]:
    """Step -> its name and time in microseconds.

    >>> measured()[0]
    ('baseline', 804.0)
    """
    with Path(__file__).with_name(ladder.table).open(encoding="utf-8", newline="") as lines:
        return {int(row["step"]): (row["name"], float(row["us"])) for row in csv.DictReader(lines)}


def claims(found: Rows, ladder: Ladder = V100, gpu: str = "") -> Iterator[Claim]:
    """Each time, and their order.

    Args:
        gpu: that claims begin with.
    """
    for step, (name, time, ours) in found.items():
        yield Claim(f"{gpu}v{step}, {name}", time, ours, unit="µs", source=ladder.source, aim=Within(0.15))
    order = float(spearmanr([row[1] for row in found.values()], [row[2] for row in found.values()]).statistic)
    yield Claim(f"{gpu}rank correlation of the times", math.nan, order, source=ladder.source, aim=AtLeast(0.97))


def mean_error(found: Rows, ladder: Ladder) -> Iterator[Claim]:
    """The mean error over all steps, absolute and over that of the null model."""
    ours, null = (
        100 * float(np.mean([abs(time / row[1] - 1) for row in found.values() for time in [each(row)]]))
        for each in (lambda row: row[2], lambda row: ladder.null)
    )
    yield Claim(f"A100, mean absolute relative error of {len(found)} steps", math.nan, ours, unit="% of hardware's",
                source=ladder.source, aim=AtMost(12))  # fmt: skip
    yield Claim("A100, this error over that of the null model", math.nan, ours / null, unit="x",
                source=ladder.source, aim=AtMost(1))  # fmt: skip


def table(found: Rows) -> str:
    """A step a row."""
    rows = [[f"v{step}", name, f"{time:,.0f}", f"{ours:,.0f}", f"{100 * (ours / time - 1):+.1f}"]
            for step, (name, time, ours) in found.items()]  # fmt: skip
    return markdown(["step", "what is new", "µs, measured", "memsim", "%"], rows)
