"""Figure 12: the correlation of MPE with performance for smaller and smaller inputs of Laplace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

import memsim
from experiments.cumapz2011.programs import laplace
from experiments.cumapz2011.simulated import GPU, Version, VersionTime
from experiments.harness.parallel import mapped
from experiments.harness.study import AtMost, Claim, Setting
from memsim.models.cumapz import estimate

PROGRAM = "Laplace"
SIDES = (512, 1024, 2048, 4096)
STABLE = 0.001


def coefficients(setting: Setting, times: Mapping[Version, VersionTime]) -> dict[int, float]:
    """The correlation by side of the input, with the simulated performance at the usual side; quick: two sides."""
    sides = SIDES[: 2 if setting.quick else None]
    versions = [version for program, version in times if program == PROGRAM and version in laplace()]
    performance = [1 / times[PROGRAM, version].simulated for version in versions]
    asked = [(side, version) for side in sides for version in versions]
    mpe = np.reshape(mapped(_mpe, asked, setting.jobs, "sizes"), (len(sides), len(versions)))
    return {side: float(np.corrcoef(one, performance)[0, 1]) for side, one in zip(sides, mpe, strict=True)}


def _mpe(asked: tuple[int, str]) -> float:
    side, version = asked
    return estimate(laplace(side)[version], memsim.load_gpu(GPU)).mpe


def claims(found: Mapping[int, float]) -> Iterator[Claim]:
    """How far the coefficients are apart."""
    text = f"{PROGRAM}, side {min(found)} to {max(found)}: largest difference of the correlations of MPE"
    yield Claim(text, np.nan, max(found.values()) - min(found.values()),
                source="Kim and Shrivastava 2011, section 7, figure 12", aim=AtMost(STABLE))  # fmt: skip
