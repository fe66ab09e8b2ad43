"""All findings of a result, cause by cause.

The attributable share of a finding (its `excess`) is a share of the kernel's memory time: the avoidable part of an op's
waiting (of its sectors, for stores), of the load-store unit's time, or of the lanes. Replays predict what removing a
cause saves (why.gains). Without them the attributable share ranks, within an upper bound: the kernel cannot take less
time than the part of the GPU which is then the busiest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memsim.analysis.result import RunResult
from memsim.gpu.config import GPU, gpu_from_dict
from memsim.support.errors import InputError
from memsim.why.atomics import contended
from memsim.why.bottleneck import Bottleneck
from memsim.why.coalescing import scattered
from memsim.why.exchange import exchanged
from memsim.why.finding import LEAST_EXCESS, Cause, Finding
from memsim.why.lanes import conflicts, divergent
from memsim.why.parts import bound_by, busiest, busy
from memsim.why.regime import regime, too_few_warps
from memsim.why.reuse import evicted, left_to_caches
from memsim.why.site import Site, sites
from memsim.why.skew import skewed

_FEW = 10  # a place that costs less than a tenth of its cause's worst is not reported


def has_profiles(result: RunResult) -> bool:
    """Whether the result holds what findings rest on."""
    return "executed" in result.trials.about and all("profile" in op for op in result.trials.ops)


def find_bottlenecks(result: RunResult) -> list[Bottleneck]:
    """The causes worth reporting, each with its places, the largest attributable share first; nothing is replayed.

    Raises:
        InputError: the result is of a sample of blocks, or the file is of a version before 1.2 and does not hold what
            each op asks for.
    """
    if result.sampling is not None:
        raise InputError(
            "the result",
            "sample",
            "is of a sample of blocks, for which no causes are found; run the trace without --sample",
        )
    if not has_profiles(result):
        raise InputError("the results file", "ops.profile", "is missing; run the trace again with this version")
    gpu, parts, places = gpu_of(result), busy(result), []
    by_cause: dict[Cause, list[Finding]] = {}
    for site in sites(result, gpu):
        places.append(site)
        for one in _at(site, result, gpu):
            by_cause.setdefault(one.cause, []).append(one)
    if (of := regime(result, gpu)) and (few := list(too_few_warps(of, result, busiest(parts)[1]))):
        by_cause[Cause.few_warps] = few
    for one in bound_by(result, places):
        by_cause.setdefault(one.cause, []).append(one)
    groups = [_bounded(cause, group, parts) for cause, group in by_cause.items()]
    return sorted((one for one in groups if one.excess >= LEAST_EXCESS), key=Bottleneck.rank)


def _bounded(cause: Cause, group: list[Finding], parts: dict[str, float]) -> Bottleneck:
    """A cause's findings, the costliest first, within the upper bound."""
    left = {part: most - sum(one.saves.get(part, 0.0) for one in group) for part, most in parts.items()}
    bound = float(min(1.0, 1 - max(0.0, *left.values())))
    excess = min(1.0, sum(one.excess for one in group))
    scale = min(1.0, bound / max(sum(one.cost for one in group), 1e-9))
    ranked = sorted((replace(one, cost=one.cost * scale) for one in group), key=lambda one: -one.cost)
    reported = tuple(one for one in ranked if one.cost >= ranked[0].cost / _FEW)
    return Bottleneck(cause, reported, excess, bound)


def gpu_of(result: RunResult) -> GPU:
    """The GPU that was simulated."""
    return gpu_from_dict(result.trials.about["gpu"], "the results file, about.gpu")


def _at(site: Site, result: RunResult, gpu: GPU) -> Iterator[Finding]:
    yield from contended(site, result, gpu)
    yield from scattered(site)
    yield from conflicts(site, result, gpu)
    yield from exchanged(site, gpu)
    yield from divergent(site)
    yield from evicted(site, gpu)
    yield from left_to_caches(site)
    yield from skewed(site, gpu)
