"""Figure 11: the version of each program that CuMAPz chooses, and the one that the model of Hong and Kim chooses.

CuMAPz chooses the largest MPE. Its equations say nothing of a version without a buffer, so where the authors added
buffers, it chooses among those. Hong and Kim's model (MWP/CWP, here in its version of ISCA 2009) chooses the least
time among all versions, from the instructions of the code: a load that a buffer serves in part counts as a load. As in
the paper, the fastest of versions that it cannot tell apart is its choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from experiments.cumapz2011.programs import ORIGINALS, UNBUFFERED
from experiments.cumapz2011.simulated import Version, VersionTime
from experiments.harness.readme import markdown
from experiments.harness.study import Claim, Points
from memsim.models.cumapz import Factors

ALIKE = 0.01  # by how much times of Hong and Kim's model may differ for versions that it cannot distinguish
PUBLISHED = 30.0  # %, mean of the programs
SOURCE = "Kim and Shrivastava 2011"
NEAR = 10.0  # points


@dataclass(frozen=True)
class Choice:
    """Of one program: versions, and their simulated milliseconds."""

    program: str
    original: str
    by_mwp_cwp: str
    by_executed: str
    by_mpe: str
    milliseconds: Mapping[str, float]

    @property
    def ratio(self) -> float:
        """The time of CuMAPz's choice over that of Hong and Kim's."""
        return self.milliseconds[self.by_mpe] / self.milliseconds[self.by_mwp_cwp]


def choices(factors: Mapping[Version, Factors], times: Mapping[Version, VersionTime]) -> list[Choice]:
    """The choices of both models in each program."""
    found = []
    for program, original in ORIGINALS.items():
        of_program = {version: time for (name, version), time in times.items() if name == program}
        simulated = {version: time.simulated for version, time in of_program.items()}
        by_mpe = max(
            (version for name, version in factors if name == program), key=lambda one: factors[program, one].mpe
        )
        by_code, by_executed = (
            _least(of_program, model) for model in (lambda one: one.mwp_cwp, lambda one: one.executed)
        )
        found.append(Choice(program, original, by_code, by_executed, by_mpe, simulated))
    return found


def _least(times: Mapping[str, VersionTime], model: Callable[[VersionTime], float]) -> str:
    """The fastest of the versions whose time by a model is the least, or as good as that."""
    least = min(map(model, times.values()))
    tied = [version for version, time in times.items() if model(time) <= (1 + ALIKE) * least]
    return min(tied, key=lambda version: times[version].simulated)


def claims(found: list[Choice]) -> Iterator[Claim]:
    """Where Hong and Kim's model wants no buffer, and the gain of CuMAPz's choice, as both sections state it."""
    rejected = sum(one.original == UNBUFFERED == one.by_mwp_cwp for one in found)
    yield Claim("programs with added buffers for which Hong and Kim's model chooses none", 2, rejected,
                source=f"{SOURCE}, section 6.2: all but MatrixMul and Transpose", aim=Points(0))  # fmt: skip
    ratios = np.array([one.ratio for one in found])
    for what, ours, section in (
        ("performance that CuMAPz's choice gains over", 1 / ratios - 1, "section 1"),
        ("time that CuMAPz's choice saves of", 1 - ratios, "section 6.2, figure 11"),
    ):
        yield Claim(f"{what} Hong and Kim's, simulated, mean of the programs", PUBLISHED, 100 * float(ours.mean()),
                    unit="%", source=f"{SOURCE}, {section}: measured", aim=Points(NEAR))  # fmt: skip


def table(found: list[Choice]) -> str:
    """The choices, and their simulated times over the original's, as Markdown."""
    rows = []
    for one in found:
        times = (one.milliseconds[version] / one.milliseconds[one.original] for version in (one.by_mwp_cwp, one.by_mpe))
        rows.append([one.program, one.original, one.by_mwp_cwp, one.by_executed, one.by_mpe,
                     *(f"{time:.2f}" for time in times)])  # fmt: skip
    headers = ["program", "original", "Hong and Kim's choice", "from executed instructions", "CuMAPz's choice",
               "time, Hong and Kim's / original", "CuMAPz's / original"]  # fmt: skip
    return markdown(headers, rows, left=5)
