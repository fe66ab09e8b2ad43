"""What other readings of equations 1 and 6 would give on tables I to III."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt

import numpy as np

from experiments.harness.readme import markdown
from memsim.models.cumapz import Factors

Factor = Callable[[Factors, int], float]  # of a version's factors and its half-warps


def correlation(estimates: Sequence[float], milliseconds: Sequence[float]) -> float:
    """Of estimates of performance with measured performance, the reciprocal of time (section 6.1).

    >>> round(correlation([1, 2, 4], [8, 4, 2]), 6)
    1.0
    """
    return float(np.corrcoef(estimates, 1 / np.array(milliseconds))[0, 1])


def _conflicts(counted: Callable[[Factors], int]) -> Factor:
    """Half-warps over conflicts, 1 where there are none: equation 6 for one buffer."""
    return lambda found, half_warps: half_warps / counted(found) if found.shm_eff < 1 else 1.0


SHM_EFF: dict[str, Factor] = {
    "accesses / passes (memsim)": lambda found, _: found.shm_eff,
    "half-warps / passes (by the letter)": _conflicts(lambda found: found.counted.passes),
    "half-warps / accesses with a conflict": _conflicts(lambda found: found.counted.shared),
    "1": lambda found, _: 1.0,
}
# Bytes that fetches ask for, in place of those that are transferred, take what is unaligned out of equation 1.
DATA_REUSE: dict[str, Factor] = {
    "transferred (as printed)": lambda found, _: found.data_reuse,
    "asked for": lambda found, half_warps: found.counted.reused / (16 * half_warps) if found.counted.reused else 1.0,
}


def table(
    groups: Mapping[str, Sequence[tuple[Factors, float]]], pooled: Sequence[tuple[Factors, float]], half_warps: int
) -> str:
    """Correlations by reading, as Markdown.

    Args:
        groups: factors and measured milliseconds of each printed table.
        pooled: of all versions.
        half_warps: of the launch.
    """
    rows = []
    for reuse_name, reuse in DATA_REUSE.items():
        for shm_name, shm in SHM_EFF.items():

            def of(versions: Sequence[tuple[Factors, float]], reuse: Factor = reuse, shm: Factor = shm) -> float:
                return correlation(
                    [
                        found.mpe / found.data_reuse / sqrt(found.shm_eff)
                        * reuse(found, half_warps) * sqrt(shm(found, half_warps))
                        for found, _ in versions
                    ],
                    [measured for _, measured in versions],
                )  # fmt: skip

            found = [of(versions) for versions in groups.values()]
            rows.append([reuse_name, shm_name, *(f"{one:.3f}" for one in (*found, float(np.mean(found)), of(pooled)))])
    return markdown(["bytes of equation 1", "shm_eff", *groups, "mean", "pooled"], rows, left=2)
