"""All findings of a result, ranked by what is at stake.

The excess of a finding is the share of the kernel's memory time that goes into it: the part of an op's waiting (of its
sectors, for stores) that is in excess, or of the load-store unit's time, or of the lanes. Its cost is no more than
that, and no more than memory allows: where memory already moves 90 % of what it could, only moving less wins more
than a tenth. Costs of several causes do not add up. They rank; they do not predict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memsim.analysis.result import Result
from memsim.analysis.utilization import bandwidth_used
from memsim.gpu.config import GPU, gpu_from_dict
from memsim.support.errors import InputError
from memsim.why.coalescing import scattered
from memsim.why.exchange import exchanged
from memsim.why.finding import LEAST_EXCESS, MOVES_LESS, Cause, Finding
from memsim.why.lanes import conflicts, divergent
from memsim.why.regime import regime, too_few_warps
from memsim.why.reuse import evicted, left_to_caches
from memsim.why.site import Site, sites
from memsim.why.skew import skewed

_FEW = 10  # a place with less than a tenth of what the worst of its cause costs is not told


def explained(result: Result) -> bool:
    """Whether the result holds what findings rest on."""
    return "executed" in result.trials.about and all("profile" in op for op in result.trials.ops)


def findings(result: Result) -> list[Finding]:
    """Findings of weight, cause by cause, the cause with most at stake first.

    Raises:
        InputError: the file is of a version before 1.2 and does not hold what each op asks for.
    """
    if not explained(result):
        raise InputError("the results file", "ops.profile", "is missing; run the trace again with this version")
    gpu, used = gpu_of(result), bandwidth_used(result)
    by_cause: dict[Cause, list[tuple[Finding, float]]] = {}
    for site in sites(result, gpu):
        for one in _at(site, result, gpu):
            by_cause.setdefault(one.cause, []).append((one, site.dram_excess))
    moved = max(1.0, sum(result.counters["dram"]["sectors"].values()))
    groups = [_bounded(cause, group, used, moved) for cause, group in by_cause.items()]
    if of := regime(result, gpu):
        groups.append(list(too_few_warps(of, result, used)))
    of_weight = [group for group in groups if sum(one.excess for one in group) >= LEAST_EXCESS]
    return [one for group in sorted(of_weight, key=_rank) for one in group if one.cost >= group[0].cost / _FEW]


def _rank(group: list[Finding]) -> tuple[float, int]:
    """What memory allows is often the same for several causes: of those, roots come before what follows from them."""
    return -round(at_stake(group), 2), list(Cause).index(group[0].cause)


def at_stake(group: list[Finding]) -> float:
    """Of findings of one cause, whose places are different ones."""
    return sum(one.cost for one in group)


def _bounded(cause: Cause, group: list[tuple[Finding, float]], used: float, moved: float) -> list[Finding]:
    """The findings of one cause, the costliest first, within what memory allows.

    Args:
        group: findings, each with the sectors of its place that memory moves in excess.
        used: memory's bandwidth that is used.
        moved: sectors that memory moves.
    """
    saved = min(1.0, sum(excess for _, excess in group) / moved) if cause in MOVES_LESS else 0.0
    most = max(0.0, 1 - used * (1 - saved))
    scale = min(1.0, most / max(at_stake([one for one, _ in group]), 1e-9))
    return sorted((replace(one, cost=one.cost * scale) for one, _ in group), key=lambda one: -one.cost)


def gpu_of(result: Result) -> GPU:
    """The GPU that was simulated."""
    return gpu_from_dict(result.trials.about["gpu"], "the results file, about.gpu")


def _at(site: Site, result: Result, gpu: GPU) -> Iterator[Finding]:
    yield from scattered(site)
    yield from conflicts(site, result, gpu)
    yield from exchanged(site, gpu)
    yield from divergent(site)
    yield from evicted(site, gpu)
    yield from left_to_caches(site)
    yield from skewed(site, gpu)
