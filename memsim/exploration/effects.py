"""Which choice decides: an analysis of variance of the logarithm of the modelled time, main effects only.

Times are products (so much traffic, times so much skew), hence logarithms. A model with one term a value of every
choice is fitted by least squares; a choice's share is what the fit loses without its terms, over all variance. With
every combination present these are the classical sums of squares, which add up (Montgomery, Design and Analysis of
Experiments, chapter 5); where some were rejected they need not. What is left over is the choices' interplay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memsim.exploration.model import ALIKE, FEWER, MEASURES, Modelled
from memsim.exploration.space import Chosen
from memsim.models.throughput import BusyPart

Choices = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Decision:
    """One step on the way from all versions to the best.

    Attributes:
        choice: that decides among the versions left.
        share: of the variance of log time among them, 0 to 1.
        best: its value in the best version.
        worst: its value with the most time.
        ratio: how many times longer the worst takes.
        limit: what the versions of the worst value mostly wait for.
        causes: what `limit` has more of with the worst value, as factors above 1.
        among: versions that are left before this step.
    """

    choice: str
    share: float
    best: Any
    worst: Any
    ratio: float
    limit: BusyPart
    causes: dict[str, float]
    among: int


def shares(versions: Sequence[Chosen], times: Sequence[float], choices: Choices) -> dict[str, float]:
    """Share of the variance of log time that each choice explains, 0 to 1.

    >>> two = [{"a": a, "b": b} for a in (1, 2) for b in (1, 2)]
    >>> {name: round(share, 2) for name, share in shares(two, [1, 2, 4, 8], {"a": (1, 2), "b": (1, 2)}).items()}
    {'a': 0.8, 'b': 0.2}
    """
    log = np.log(np.asarray(times, float))
    total = float(((log - log.mean()) ** 2).sum())
    if total <= 1e-12 * len(log):
        return dict.fromkeys(choices, 0.0)
    unexplained = _unexplained(versions, log, choices)
    without = {
        name: _unexplained(versions, log, {other: values for other, values in choices.items() if other != name})
        for name in choices
    }
    return {name: max(0.0, min(1.0, (rest - unexplained) / total)) for name, rest in without.items()}


def decisions(versions: Sequence[Chosen], models: Sequence[Modelled], choices: Choices, best: Chosen) -> list[Decision]:
    """The choices that decide on the way to `best`, each among the versions that share its values of those before."""
    left, open_, found = list(range(len(versions))), dict(choices), []
    while open_:
        times = [models[number].milliseconds for number in left]
        if max(times) <= ALIKE * min(times):
            break
        chosen = [versions[number] for number in left]
        explained = shares(chosen, times, open_)
        name = max(explained, key=lambda choice: explained[choice])
        decision = _decision(name, explained[name], chosen, [models[number] for number in left], open_, best[name])
        if decision.ratio > ALIKE:
            found.append(decision)
        open_.pop(name)
        left = [number for number in left if versions[number][name] == best[name]]
    return found


def _decision(
    name: str, share: float, versions: Sequence[Chosen], models: Sequence[Modelled], choices: Choices, best: Any
) -> Decision:
    effects = _effects(versions, [model.milliseconds for model in models], choices, name)
    worst = max(effects, key=lambda value: effects[value])
    limits = [model.limit for version, model in zip(versions, models, strict=True) if version[name] == worst]
    limit = max(dict.fromkeys(limits), key=limits.count)
    causes = {}
    for measure in MEASURES[limit]:
        of = _effects(versions, [model.measures[measure] for model in models], choices, name)
        factor = of[worst] / of[best]
        factor = 1 / factor if measure in FEWER else factor
        if factor > ALIKE:
            causes[measure] = factor
    return Decision(name, share, best, worst, effects[worst] / effects[best], limit, causes, len(versions))


def _effects(versions: Sequence[Chosen], amounts: Sequence[float], choices: Choices, name: str) -> dict[Any, float]:
    """By value of a choice, the factor on an amount, the other choices being equal."""
    terms, matrix = _terms(versions, choices)
    values = np.asarray(amounts, float)
    log = np.log(values if values.all() else values + 1)  # counts may be 0
    fitted = np.linalg.lstsq(matrix, log, rcond=None)[0]
    factors = {value: 1.0 for value in choices[name] if any(version[name] == value for version in versions)}
    return factors | {value: math.exp(fitted[k]) for k, (choice, value) in enumerate(terms) if choice == name}


def _terms(versions: Sequence[Chosen], choices: Choices) -> tuple[list[tuple[str, Any]], np.ndarray]:
    """The terms (choice, value) of the linear model, and its matrix of zeros and ones; the first is the constant.

    Of every choice, the first value that occurs is part of the constant.
    """
    terms: list[tuple[str, Any]] = [("", None)]
    for name, values in choices.items():
        present = [value for value in values if any(version[name] == value for version in versions)]
        terms += [(name, value) for value in present[1:]]
    matrix = np.array([[not name or version[name] == value for name, value in terms] for version in versions], float)
    return terms, matrix


def _unexplained(versions: Sequence[Chosen], log: np.ndarray, choices: Choices) -> float:
    """Sum of squares that the choices leave."""
    _, matrix = _terms(versions, choices)
    return float(((log - matrix @ np.linalg.lstsq(matrix, log, rcond=None)[0]) ** 2).sum())
