"""All findings of a result, cause by cause.

The attributable share of a finding (its `share`) is a share of the kernel's memory time: the avoidable part of an op's
waiting (of its sectors, for stores), of the load-store unit's time, or of the lanes. Replays predict what removing a
cause saves (why.gains). Without them the attributable share ranks, within an upper bound: the kernel cannot take less
time than the part of the GPU which is then the busiest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memsim.analysis.result import RunResult
from memsim.analysis.utilization import busiest_component, busy_shares
from memsim.gpu.config import GPU, gpu_from_dict
from memsim.support.errors import InputError
from memsim.why.atomics import find_contended_atomics
from memsim.why.finding import LEAST_SHARE, Bottleneck, Cause, Finding
from memsim.why.lanes import find_bank_conflicts, find_divergent_lanes, find_scattered_lanes
from memsim.why.limiter import find_limiting_component
from memsim.why.regime import find_too_few_warps, regime
from memsim.why.reuse import find_evictions, find_exchanges, find_repeated_requests
from memsim.why.skew import find_crowded_units
from memsim.why.source_access import SourceAccess, source_accesses

_FEW = 10  # a finding with less than a tenth of its cause's largest share is not reported


def has_profiles(result: RunResult) -> bool:
    """Whether the result holds what findings rest on."""
    return "executed" in result.trials.about and all("profile" in op for op in result.trials.ops)


def find_bottlenecks(result: RunResult) -> list[Bottleneck]:
    """The causes worth reporting, each with its findings, the largest attributable share first; nothing is replayed.

    Raises:
        InputError: the result is of a sample of blocks, or the file is of a version before 1.2 and does not hold what
            each op asks for.
    """
    if result.sampling is not None:
        raise InputError(
            "the result",
            "sample",
            "is a sample of blocks, for which causes cannot be found; run the trace without --sample",
        )
    if not has_profiles(result):
        raise InputError("the results file", "ops.profile", "is missing; run the trace again with this version")
    gpu, shares, accesses = gpu_of(result), busy_shares(result), []
    by_cause: dict[Cause, list[Finding]] = {}
    for access in source_accesses(result, gpu):
        accesses.append(access)
        for one in _findings_of(access, result, gpu):
            by_cause.setdefault(one.cause, []).append(one)
    if (of := regime(result, gpu)) and (few := list(find_too_few_warps(of, result, busiest_component(result)[1]))):
        by_cause[Cause.few_warps] = few
    for one in find_limiting_component(result, accesses):
        by_cause.setdefault(one.cause, []).append(one)
    groups = [_bounded(cause, group, shares) for cause, group in by_cause.items()]
    return sorted((one for one in groups if one.attributable_share >= LEAST_SHARE), key=Bottleneck.rank)


def _bounded(cause: Cause, group: list[Finding], shares: dict[str, float]) -> Bottleneck:
    """A cause's findings, the costliest first, within the upper bound."""
    left = {
        component: most - sum(one.removed_work.get(component, 0.0) for one in group)
        for component, most in shares.items()
    }
    upper_bound = float(min(1.0, 1 - max(0.0, *left.values())))
    share = min(1.0, sum(one.attributable_share for one in group))
    scale = min(1.0, upper_bound / max(sum(one.bounded_share for one in group), 1e-9))
    ranked = sorted(
        (replace(one, bounded_share=one.bounded_share * scale) for one in group), key=lambda one: -one.bounded_share
    )
    reported = tuple(one for one in ranked if one.bounded_share >= ranked[0].bounded_share / _FEW)
    return Bottleneck(cause, reported, share, upper_bound)


def gpu_of(result: RunResult) -> GPU:
    """The GPU that was simulated."""
    return gpu_from_dict(result.trials.about["gpu"], "the results file, about.gpu")


def _findings_of(access: SourceAccess, result: RunResult, gpu: GPU) -> Iterator[Finding]:
    yield from find_contended_atomics(access, result, gpu)
    yield from find_scattered_lanes(access)
    yield from find_bank_conflicts(access, result, gpu)
    yield from find_exchanges(access, gpu)
    yield from find_divergent_lanes(access)
    yield from find_evictions(access, gpu)
    yield from find_repeated_requests(access)
    yield from find_crowded_units(access, gpu)
