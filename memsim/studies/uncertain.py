"""The error bar of the model: how uncertain numbers of a preset change the result, and which number matters most.

Numbers that a preset fitted or assumed (:mod:`memsim.gpu.uncertain_fields`) are varied: each alone, to both ends, for
what it does; and all together, in a Latin hypercube, for the error bar. All replays share their random numbers.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval, Sample
from memsim.gpu.config import GPU
from memsim.gpu.presets import Provenance, override
from memsim.gpu.uncertain_fields import Factor, factors, uncertain_choices
from memsim.montecarlo.run import simulate_each
from memsim.studies.result import outputs_of
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

UNCERTAINTY = 0.2  # a share; GPGPU-Sim's and Accel-Sim's numbers differ by as much from generation to generation
POINTS = 32


@dataclass(frozen=True)
class Effect:
    """What one factor does alone.

    Attributes:
        factor: which.
        low, high: output -> its mean at both ends.
        share: of the sum of all factors' variances of the time.
    """

    factor: Factor
    low: Mapping[str, float]
    high: Mapping[str, float]
    share: float


@dataclass(frozen=True)
class ModelError:
    """What is uncertain in the model of a GPU, for a kernel.

    Attributes:
        kernel, gpu: what was looked at.
        base: the preset's own outputs, one value a trial.
        factors: what was varied.
        effects: of each alone, the largest first; empty where only the error bar was asked for.
        points: output -> its mean at each point where all vary together.
        left: field -> why it was not varied, of numbers that are fitted or assumed.
        choices: fields that are fitted or assumed and no numbers.
        uncertainty: the default share.
    """

    kernel: str
    gpu: str
    base: Mapping[str, Sample]
    factors: tuple[Factor, ...]
    effects: tuple[Effect, ...]
    points: Mapping[str, np.ndarray]
    left: Mapping[str, str]
    choices: tuple[str, ...]
    uncertainty: float

    def interval(self, output: str) -> Interval | None:
        """Where 95 % of the points lie; None where the output does not exist."""
        values = self.points[output]
        if len(values) < 2 or not np.isfinite(values).all():
            return None
        low, high = np.quantile(values, [0.025, 0.975])
        return Interval(float(low), float(high))


Progress = Callable[[int, int], None]
_Means = Mapping[str, float]  # output -> its mean over trials


def uncertain(
    trace: Trace,
    gpu: GPU,
    provenance: Mapping[str, Provenance],
    *,
    uncertainty: float = UNCERTAINTY,
    points: int = POINTS,
    effects: bool = True,
    trials: int = 4,
    seed: int = 0,
    jobs: int = 1,
    convention: str = Convention.model,
    progress: Progress | None = None,
) -> ModelError:
    """Vary what is uncertain in a preset; arguments as for :func:`memsim.uncertainty`.

    Args:
        provenance: of the GPU's fields, which says what is uncertain.

    Raises:
        InputError: a number out of range, or a GPU of whose numbers none is fitted or assumed.
    """
    if not 0 < uncertainty < 1:
        raise InputError("sensitivity", "uncertainty", f"is {uncertainty}; give a share between 0 and 1, such as 0.2")
    if points < 2:
        raise InputError("sensitivity", "points", f"is {points}; give 2 or more")
    found, left = factors(gpu, provenance, uncertainty)
    if not found:
        raise InputError(gpu.name, "status", "is fitted or assumed for no number; there is nothing to vary")
    ends = [
        [gpu if end == factor.value else override(gpu, factor.settings(end)) for end in (factor.low, factor.high)]
        for factor in (found if effects else ())
    ]
    together = list(sample(gpu, found, points, seed))
    gpus = [gpu, *(one for pair in ends for one in pair), *together]
    replayed = simulate_each(trace, gpus, trials=trials, seed=seed, jobs=jobs, progress=progress)
    outputs = {one: outputs_of(RunResult(of, convention)) for one, of in replayed.items()}
    base = {name: Sample(values) for name, values in outputs[gpu].items()}
    means = {one: {name: Sample(values).mean for name, values in of.items()} for one, of in outputs.items()}
    separate = _effects(found, [(means[low], means[high]) for low, high in ends])
    values = {name: np.array([means[one][name] for one in together]) for name in base}
    choices = uncertain_choices(provenance)
    return ModelError(trace.kernel, gpu.name, base, found, separate, values, left, choices, uncertainty)


def sample(gpu: GPU, found: Sequence[Factor], points: int, seed: int) -> Iterator[GPU]:
    """GPUs at the points of a Latin hypercube over all factors; what cannot be together stays as it was."""
    from scipy.stats import qmc  # here: slow to import

    for row in qmc.LatinHypercube(len(found), rng=np.random.default_rng(seed)).random(points):
        chosen = [(factor, factor.settings(factor.at(float(share)))) for factor, share in zip(found, row, strict=True)]
        try:
            yield override(gpu, dict(ChainMap(*(of for _, of in chosen))))
        except InputError:
            yield override(gpu, dict(ChainMap(*(of for factor, of in chosen if not factor.steps))))


def _effects(found: Sequence[Factor], ends: Sequence[tuple[_Means, _Means]]) -> tuple[Effect, ...]:
    """Each factor alone at both ends (none where only the error bar is asked for), the largest part of the time's
    variance first.

    A number that is anywhere between both ends with equal chance has a twelfth of the square of their distance as its
    variance, and the time, if it follows in proportion, the same of the times' distance.
    """
    spread = np.array([(high["cycles"] - low["cycles"]) ** 2 for low, high in ends])
    shares = spread / spread.sum() if spread.sum() else spread
    made = [Effect(factor, *pair, float(share)) for factor, pair, share in zip(found, ends, shares, strict=False)]
    return tuple(sorted(made, key=lambda one: -one.share))
