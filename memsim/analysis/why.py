"""Why a kernel is slow: findings with their evidence, ranked by what they may cost.

A cost is a share of the kernel's memory time that would go if the finding were put right and nothing else changed: the
part of an op's waiting (of its sectors, for stores) that is in excess, or of the load-store unit's time, or of the
lanes. Costs of several findings do not add up. They rank; they do not predict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from memsim.analysis.conventions import Access, outcome_counts
from memsim.analysis.loads import array_name
from memsim.analysis.result import Result
from memsim.errors import InputError
from memsim.hierarchy.counters import Event, Level, Unit
from memsim.trace.profile import OpProfile

LEAST_COST = 0.03  # a finding below is not of weight
_MISALIGNED = 1.5  # scattered lanes ask for more than this times the least sectors
_LANES = 32


class Cause(StrEnum):
    """What is found."""

    scattered = "scattered lanes"
    misaligned = "misaligned warps"
    conflicts = "bank conflicts"
    divergence = "divergent lanes"
    evicted_l1 = "evicted from L1 before reuse"
    evicted_l2 = "evicted from L2 before reuse"
    reuse = "reuse left to the caches"


ADVICE = {
    Cause.scattered: "let neighbouring lanes access neighbouring elements: another share of the elements for each "
    "thread, another layout, or a detour through shared memory",
    Cause.misaligned: "begin a warp's elements at a multiple of 32 bytes: aligned allocation, padded rows",
    Cause.conflicts: "let the lanes of a warp fall into different banks: pad rows by a word, or stride by one",
    Cause.divergence: "let whole warps take a branch: choose by warp, not by lane",
    Cause.evicted_l1: "work on less at a time: smaller tiles, fewer resident blocks, a larger L1",
    Cause.evicted_l2: "let blocks that share data run near each other in time, or tile for L2",
    Cause.reuse: "keep in shared memory or registers what a block reads again",
}


@dataclass(frozen=True)
class Finding:
    """One bottleneck.

    Attributes:
        cause: what is wrong.
        place: file and line, short.
        text: the accesses there, and what they do.
        array: that they access.
        cost: share of the memory time that is in excess, 0 to 1.
        evidence: the numbers it rests on.
    """

    cause: Cause
    place: str
    text: str
    array: str
    cost: float
    evidence: str

    @property
    def advice(self) -> str:
        """What to try."""
        return ADVICE[self.cause]


@dataclass(frozen=True)
class _Site:
    """The ops of one source line on one array, of one kind, added up."""

    place: str
    text: str
    array: str
    weight: float  # share of all waiting, or of all sectors that go to L1
    issued: float  # share of the memory instructions
    profile: OpProfile
    dense_sectors: int  # that its instructions need at least; of a divergent one, what all its lanes would
    l1_fetched: float  # sectors that L1 asked L2 for, a trial
    l1_hit: float  # of its sectors
    dram_read: float  # sectors, a trial


def findings(result: Result) -> list[Finding]:
    """Findings of weight, the costliest first.

    Raises:
        InputError: the file is of version 1.0 and does not hold what each op asks for.
    """
    if any("profile" not in op for op in result.trials.ops):
        raise InputError("the results file", "ops.profile", "is missing; run the trace again with this version")
    gpu = result.trials.about["gpu"]
    found = [
        finding for site in _sites(result) for rule in _RULES for finding in rule(site, result, gpu)
    ]
    return sorted((one for one in found if one.cost >= LEAST_COST), key=lambda one: -one.cost)


def _sites(result: Result) -> Iterator[_Site]:
    trials = result.trials
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, op in enumerate(trials.ops):
        groups.setdefault((op["file"], op["line"], op["array"], op["kind"] == "store"), []).append(number)
    waited = trials.latency_sum.sum(axis=0) / max(1, trials.latency_sum.sum())
    profiles = [OpProfile(**op["profile"]) for op in trials.ops]
    sectors = sum(profile.sectors for profile in profiles)
    instructions = sum(profile.instructions for profile in profiles)
    counters = trials.counters.mean(axis=0)
    for ops in groups.values():
        first = trials.ops[ops[0]]
        total = OpProfile(*(sum(values) for values in zip(*(vars(profiles[op]).values() for op in ops), strict=True)))
        l1 = outcome_counts(counters[ops].sum(axis=0), Level.l1, Unit.sectors, (Access.read, Access.atomic))
        yield _Site(
            place=f"{first['file'].rsplit('/', 1)[-1]}:{first['line']}",
            text="; ".join(dict.fromkeys(f"{trials.ops[op]['kind']} {trials.ops[op]['text']}" for op in ops)),
            array=array_name(trials, first),
            weight=float(max(waited[ops].sum(), total.sectors / max(1, sectors))),
            issued=total.instructions / max(1, instructions),
            profile=total,
            dense_sectors=max(total.least_sectors, total.instructions * first["width"] * _diverges(total)),
            l1_fetched=float(l1[1] + l1[2]),
            l1_hit=float(l1[0] / l1.sum()) if l1.sum() else 0.0,
            dram_read=float(counters[ops, Level.dram, : Event.write_hit, Unit.sectors].sum()),
        )


def _finding(site: _Site, cause: Cause, cost: float, evidence: str) -> Iterator[Finding]:
    yield Finding(cause, site.place, site.text, site.array, float(cost), evidence)


def _scattered(site: _Site, result: Result, gpu: dict) -> Iterator[Finding]:
    of = site.profile
    if not of.transactions or of.sectors <= site.dense_sectors:
        return
    excess = of.sectors / site.dense_sectors
    cause = Cause.scattered if excess > _MISALIGNED else Cause.misaligned
    evidence = (
        f"{of.sectors / of.instructions:.1f} sectors a warp instruction, "
        f"{site.dense_sectors / of.instructions:.1f} would do"
    )
    yield from _finding(site, cause, site.weight * (1 - 1 / excess), evidence)


def _conflicts(site: _Site, result: Result, gpu: dict) -> Iterator[Finding]:
    of = site.profile
    if of.passes <= of.least_passes:
        return
    unit_cycles = result.cycles.mean * gpu["sm"]["count"]
    lost = (of.passes - of.least_passes) * gpu["sm"]["lookup_cycles"] / unit_cycles
    evidence = (
        f"{of.passes / of.instructions:.1f} passes a warp instruction, "
        f"{of.least_passes / of.instructions:.1f} would do"
    )
    yield from _finding(site, Cause.conflicts, min(1.0, lost), evidence)


def _diverges(of: OpProfile) -> bool:
    return of.lanes < 0.9 * _LANES * of.instructions


def _divergent(site: _Site, result: Result, gpu: dict) -> Iterator[Finding]:
    of = site.profile
    if not of.instructions or not of.transactions or not _diverges(of):
        return
    active = of.lanes / of.instructions
    evidence = f"{active:.1f} of {_LANES} lanes take part in a warp instruction"
    yield from _finding(site, Cause.divergence, site.issued * (1 - active / _LANES), evidence)


def _evicted(site: _Site, result: Result, gpu: dict) -> Iterator[Finding]:
    of = site.profile
    if not of.block_sectors:
        return
    if gpu["l1"]["enabled"] and site.l1_fetched > of.block_sectors:
        times = site.l1_fetched / of.block_sectors
        evidence = f"L1 fetches each sector {times:.1f} times for one block"
        yield from _finding(site, Cause.evicted_l1, site.weight * (1 - 1 / times), evidence)
    if gpu["l2"].get("enabled", True) and of.first_sectors and site.dram_read > of.first_sectors:
        times = site.dram_read / of.first_sectors
        evidence = f"main memory reads each sector {times:.1f} times"
        yield from _finding(site, Cause.evicted_l2, site.weight * (1 - 1 / times), evidence)


def _reused(site: _Site, result: Result, gpu: dict) -> Iterator[Finding]:
    asked = min(site.profile.sectors, site.dense_sectors)  # what scattered lanes ask for again is their own finding
    if not site.profile.block_sectors or asked <= site.profile.block_sectors:
        return
    times = asked / site.profile.block_sectors
    evidence = f"a block needs each sector {times:.1f} times and finds it in L1 in {site.l1_hit:.0%} of them"
    yield from _finding(site, Cause.reuse, site.weight * (1 - 1 / times) * (1 - site.l1_hit), evidence)


_RULES: tuple[Callable[[_Site, Result, dict], Iterator[Finding]], ...] = (
    _scattered, _conflicts, _divergent, _evicted, _reused,
)  # fmt: skip


def bandwidth_used(result: Result) -> float:
    """DRAM's bytes moved over what it could move at most in the same time."""
    gpu = result.trials.about["gpu"]
    dram, timing = gpu["dram"], gpu["dram"]["timing"]
    moved = sum(result.counters["dram"]["sectors"].values())
    microseconds = result.cycles.mean / gpu["sm"]["clock_mhz"]
    return moved * timing["burst"] / (dram["channels"] * dram["clock_mhz"] * microseconds)
