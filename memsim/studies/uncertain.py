"""The error bar of the model: how uncertain numbers of a preset change the result, and which number matters most.

Numbers that a preset fitted or assumed are varied by their stated uncertainty (``uncertainty`` next to ``value`` in the
TOML file, a share), or else by a default one: each alone, to both ends, for what it does; and all together, in a Latin
hypercube, for the error bar. Measured and documented numbers stay, and so do choices of a mechanism. All replays share
their random numbers.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np

from memsim.analysis.choices import Convention
from memsim.analysis.result import RunResult
from memsim.analysis.statistics import Interval, Sample
from memsim.gpu.components import COMPONENTS, absent_sections
from memsim.gpu.config import GPU
from memsim.gpu.presets import Provenance, override
from memsim.montecarlo.run import simulate_each
from memsim.studies.result import outputs_of
from memsim.support.errors import InputError
from memsim.trace.reader import Trace

UNCERTAINTY = 0.2  # a share; GPGPU-Sim's and Accel-Sim's numbers differ by as much from generation to generation
POINTS = 32
_STATUSES = ("fitted", "assumed")
_ELSEWHERE = ("stochastic.", "mwp_cwp.", "host.")  # what no replay reads, and what is random on purpose
_TOGETHER = (("dram.write_queue", "dram.write_high", "dram.write_low"),)  # thresholds move with what they are of
_DOUBLED = ("ways", "_bytes", "_entries")  # a neighbour of such a number is its half or its double
_COUNTED = ("slices", "channels", "banks")  # few values fit the sizes


@dataclass(frozen=True)
class Factor:
    """An uncertain number, or some that move together.

    Attributes:
        name: the field's, the first where there are more.
        fields: field -> its value in the preset.
        unit, status, source: of the first.
        low, high: values of the first at both ends; one may be the preset's own.
        steps: whether only the ends and the preset's value can be.
    """

    name: str
    fields: Mapping[str, float]
    unit: str
    status: str
    source: str
    low: float
    high: float
    steps: bool

    @property
    def value(self) -> float:
        """The preset's."""
        return self.fields[self.name]

    def settings(self, value: float) -> dict[str, object]:
        """The fields at a value of the first."""
        scaled = {name: of * value / self.value for name, of in self.fields.items()}
        return {name: _like(self.fields[name], of) for name, of in scaled.items()}

    def at(self, share: float) -> float:
        """The value at a share of the range, 0 to 1."""
        if self.steps:
            levels = sorted({self.low, self.value, self.high})
            return levels[min(int(share * len(levels)), len(levels) - 1)]
        return self.low + share * (self.high - self.low)


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
    choices = tuple(name for name, entry in _doubtful(provenance) if not _is_number(entry.value))
    return ModelError(trace.kernel, gpu.name, base, found, separate, values, left, choices, uncertainty)


def _doubtful(provenance: Mapping[str, Provenance]) -> Iterator[tuple[str, Provenance]]:
    kinds = {one.section: {one.chooser: provenance[name].value} for one in COMPONENTS
             if (name := f"{one.section}.{one.chooser}") in provenance}  # fmt: skip
    unread = (*_ELSEWHERE, *(f"{section}." for section in absent_sections(kinds)))
    for name, entry in provenance.items():
        if entry.status in _STATUSES and entry.value is not None and not name.startswith(unread):
            yield name, entry


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def factors(
    gpu: GPU, provenance: Mapping[str, Provenance], uncertainty: float
) -> tuple[tuple[Factor, ...], dict[str, str]]:
    """The uncertain numbers, and why others that are uncertain cannot be varied (field -> reason)."""
    values: Any = gpu.model_dump(mode="json")
    followers = {name: group for group in _TOGETHER for name in group[1:]}
    found, left = [], {}
    for name, entry in _doubtful(provenance):
        if not _is_number(entry.value) or (name in followers and followers[name][0] in provenance):
            continue
        group = next((names for names in _TOGETHER if names[0] == name), (name,))
        base: dict[str, float] = {field: reduce(getitem, field.split("."), values) for field in group}
        if not base[name]:
            left[name] = "is 0, and a share of that is nothing"
            continue
        share = entry.uncertainty or uncertainty
        steps = name.endswith(_DOUBLED + _COUNTED) and not name.endswith("per_cycle")
        factor = Factor(name, base, entry.unit, entry.status, entry.source, base[name], base[name], steps)
        ends = [_end(gpu, factor, sign * share) for sign in (-1, 1)]
        if ends[0] == ends[1]:
            left[name] = f"no value within {share:.0%} of {base[name]:g} can be" if not steps else "no other value fits"
        else:
            found.append(replace(factor, low=ends[0], high=ends[1]))
    return tuple(found), left


def _end(gpu: GPU, factor: Factor, share: float) -> float:
    """The farthest value that a GPU can have, up to `share` from the preset's; that itself where there is none."""
    value = factor.value
    if factor.name.endswith(_DOUBLED) and factor.steps:
        candidates: Sequence[float] = [value * 2 if share > 0 else value / 2]
    elif isinstance(value, int):
        far = int(np.trunc(value * abs(share) + 0.5)) * (1 if share > 0 else -1)
        candidates = range(value + far, value, -1 if share > 0 else 1)
    else:
        candidates = [value * (1 + share)]
    for candidate in candidates:
        if candidate == int(candidate) or not isinstance(value, int):
            try:
                override(gpu, factor.settings(candidate))
            except InputError:
                continue
            return _like(value, candidate)
    return value


def _like(value: float, changed: float) -> float:
    """A whole number stays one."""
    return round(changed) if isinstance(value, int) else changed


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
