"""Sobol indices (:mod:`memsim.analysis.sobol`) of an output over the fields of a study."""

from __future__ import annotations

from memsim.analysis.sobol import Indices, indices
from memsim.studies.result import StudyTrials
from memsim.support.errors import InputError


def of_study(study: StudyTrials, output: str, case: int = 0, where: object = "study") -> Indices:
    """The indices of an output over a study's fields; each point's value is the mean of its trials.

    Args:
        study: made with ``method = "saltelli"``.
        output: one of studies.result.OUTPUTS.
        case: kernel and GPU.
        where: what an error names.

    Raises:
        InputError: another design, or points that were not simulated.
    """
    names, points = study.fields, len(study.points)
    n, rest = divmod(points, len(names) + 2) if names else (0, 0)
    if rest or not n or not is_saltelli(study):
        raise InputError(where, "design.method", 'is not "saltelli", which the indices need')
    missing = [point for point in range(points) if (point, case) not in study.trials]
    if missing:
        problem = f"of {study.cases[case]} are not simulated, the first is {missing[0]}; finish it with --resume"
        raise InputError(where, f"{len(missing)} points", problem)
    values = study.means(output, case).reshape(len(names) + 2, n)
    return indices(output, names, values[0], values[1], values[2:])


def is_saltelli(study: StudyTrials) -> bool:
    """Whether the points are A, B, then A with each field of B: what ``method = "saltelli"`` makes."""
    names = study.fields
    n = len(study.points) // (len(names) + 2)
    a, b, mixed = study.points[:n], study.points[n : 2 * n], study.points[2 * n :]
    return all(point == a[k % n] | {names[k // n]: b[k % n][names[k // n]]} for k, point in enumerate(mixed))
