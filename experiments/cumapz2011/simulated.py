"""The eight programs of section 6.1 by simulation: does MPE follow the simulated performance, as the measured one?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

import memsim
from experiments.cumapz2011.described import described
from experiments.cumapz2011.programs import ORIGINALS, PROGRAMS
from experiments.harness.parallel import mapped
from experiments.harness.readme import markdown
from experiments.harness.study import Claim, Points, Setting
from memsim.models.cumapz import Factors

GPU = "tesla-c1060"
NEAR = 0.1  # how far a coefficient may be from the published one
# The coefficients of MPE with measured performance that section 6.1 prints; their mean is the abstract's 0.96.
PUBLISHED = {
    "Laplace": 0.99, "Wavelet": 0.92, "MatrixMul": 0.94, "Transpose": 0.97,
    "Gaussian": 0.95, "LUD": 0.97, "Hotspot": 0.96, "BackProp": 1.0,
}  # fmt: skip

Version = tuple[str, str]  # program and version


class VersionTime(NamedTuple):
    """Milliseconds of one version.

    Attributes:
        simulated: by simulation.
        mwp_cwp: by Hong and Kim's model, which counts the instructions of the code.
        executed: by the same model, from the instructions that warps execute.
    """

    simulated: float
    mwp_cwp: float
    executed: float


def times(setting: Setting) -> dict[Version, VersionTime]:
    """Times of all versions, and of the originals."""
    named = [(program, version) for program, build in PROGRAMS.items() for version in build()]
    versions = list(dict.fromkeys([*named, *ORIGINALS.items()]))
    found = mapped(_quick if setting.quick else _full, versions, setting.jobs, "versions")
    return dict(zip(versions, found, strict=True))


def _full(version: Version) -> VersionTime:
    return _time(version, "4x", 4)


def _quick(version: Version) -> VersionTime:
    return _time(version, "0.25x", 1)


def _time(version: Version, blocks: str, trials: int) -> VersionTime:
    program, name = version
    executed, counted = (
        memsim.trace(described, gpu=GPU, blocks=blocks, program=program, version=name, unrolled=True, static=static)
        for static in (False, True)
    )
    simulated = memsim.simulate(executed, GPU, trials=trials, jobs=1).kernel_time.mean
    return VersionTime(simulated, *(memsim.estimate(trace, GPU).milliseconds for trace in (counted, executed)))


def coefficients(factors: Mapping[Version, Factors], times: Mapping[Version, VersionTime]) -> dict[str, float]:
    """By program: the correlation of MPE with the reciprocal of time, over its versions."""
    found = {}
    for program in PUBLISHED:
        of_program = [one for one in factors if one[0] == program]
        performance = [1 / times[one].simulated for one in of_program]
        found[program] = float(np.corrcoef([factors[one].mpe for one in of_program], performance)[0, 1])
    return found


def claims(found: dict[str, float]) -> Iterator[Claim]:
    """A claim a program, and the mean, which is the paper's 0.96."""
    for program, published in PUBLISHED.items():
        yield Claim(f"correlation of MPE with simulated performance, {program}", published, found[program],
                    source="Kim and Shrivastava 2011, section 6.1: with measured performance",
                    aim=Points(NEAR))  # fmt: skip
    yield Claim("correlation of MPE with simulated performance, mean of the eight programs",
                float(np.mean(list(PUBLISHED.values()))), float(np.mean(list(found.values()))),
                source="Kim and Shrivastava 2011, section 7: with measured performance", aim=Points(NEAR))  # fmt: skip


def table(factors: Mapping[Version, Factors], times: Mapping[Version, VersionTime], found: dict[str, float]) -> str:
    """MPE and simulated time, both over the first version's, as Markdown."""
    rows = []
    for program, coefficient in found.items():
        of_program = [one for one in factors if one[0] == program]
        first = of_program[0]
        rows.append([
            program,
            "; ".join(name for _, name in of_program),
            ", ".join(f"{factors[one].mpe / factors[first].mpe:.3g}" for one in of_program),
            ", ".join(f"{times[first].simulated / times[one].simulated:.3g}" for one in of_program),
            f"{coefficient:.3f}",
            f"{PUBLISHED[program]:.2f}",
        ])  # fmt: skip
    heading = ["program", "versions", "MPE", "simulated performance", "correlation", "with measured (paper)"]
    return markdown(heading, rows, left=4)
