"""Causes, findings, bottlenecks and gains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memsim.analysis.statistics import Interval, Sample

LEAST_SHARE = 0.03  # a cause with a smaller attributable share is not reported
MERGED_ACCESSES = 4  # shared-memory accesses that one wide access replaces


class Cause(StrEnum):
    """What is found; its section in docs/reference/findings.md has the same name."""

    contended = "contended atomics"
    scattered = "scattered lanes"
    misaligned = "misaligned warps"
    conflicts = "bank conflicts"
    exchange = "exchange through memory"
    copies = "copies by way of registers"
    divergence = "divergent lanes"
    evicted_l1 = "evicted from L1 before reuse"
    crowded_l1 = "crowded sets of L1"
    evicted_l2 = "evicted from L2 before reuse"
    reuse = "reuse left to the caches"
    channels = "crowded memory channels"
    slices = "crowded slices of L2"
    few_warps = "too few warps"
    barriers = "barriers of one warp"
    trees = "sums of few elements"
    shared_bound = "bound by shared memory"
    issue_bound = "bound by issue"
    tensor_bound = "bound by tensor cores"
    dram_bound = "bound by DRAM"
    l2_bound = "bound by L2"
    latency = "bound by latency"

    @property
    def section(self) -> str:
        """Where the documentation describes it.

        >>> Cause.slices.section
        'docs/reference/findings.md#crowded-slices-of-l2'
        """
        return f"docs/reference/findings.md#{self.lower().replace(' ', '-')}"


ADVICE = {
    Cause.contended: "add up before the atomic: in the warp (shuffles, __reduce_add_sync), then in shared memory, with "
    "one atomic per block; or spread the sums over several copies",
    Cause.scattered: "let neighbouring lanes access neighbouring elements: assign elements to threads differently, "
    "change the layout, or stage through shared memory",
    Cause.misaligned: "start each warp's elements at a multiple of 32 bytes: aligned allocations, padded rows",
    Cause.conflicts: "map the lanes of a warp to different banks: pad rows by one word, or use a stride of one",
    Cause.exchange: "pass values between lanes with shuffles, and between warps in shared memory",
    Cause.copies: "copy to shared memory asynchronously (cp.async, memcpy_async), which bypasses the registers",
    Cause.divergence: "make branches uniform within a warp: decide by warp, not by lane",
    Cause.evicted_l1: "reduce the working set: smaller tiles, fewer resident blocks, a larger L1",
    Cause.crowded_l1: "avoid strides that are large powers of two: pad rows by one line",
    Cause.evicted_l2: "schedule blocks that share data close together in time, or tile for L2",
    Cause.reuse: "keep data that a block reads again in shared memory or registers",
    Cause.channels: "let blocks that run at the same time access different channels: pad rows, or visit tiles along "
    "diagonals",
    Cause.slices: "spread data that all SMs read at the same time: use copies, another order, or shared memory",
    Cause.barriers: "let the last warp continue without block-wide barriers: __syncwarp, or shuffles instead of shared "
    "memory",
    Cause.trees: "let each thread add up several elements before the block's first barrier: fewer blocks with more "
    "elements each",
    Cause.shared_bound: "let each thread compute several results from registers, and use wider loads: four words at a "
    "time (float4)",
    Cause.issue_bound: "execute fewer instructions: unroll, hoist index arithmetic out of loops, use wider loads",
    Cause.tensor_bound: "the tensor cores are the limit: a narrower data type does more operations per cycle",
    Cause.dram_bound: "move fewer bytes: narrower data types, and one kernel for what several do, so that values "
    "between them stay in registers",
    Cause.l2_bound: "request fewer bytes: narrower data types, and reuse in registers or shared memory",
    Cause.latency: "keep more loads in flight: unroll loops, prefetch the next iteration's data, or raise the number "
    "of resident warps",
}


@dataclass(frozen=True)
class Finding:
    """A cause at one place in the source.

    Attributes:
        cause: what is wrong.
        location: file and line, short.
        text: the accesses there, and what they do.
        array: that they access.
        attributable_share: share of the memory time that it explains, 0 to 1.
        bounded_share: the same, scaled to the upper bound (see Bottleneck.upper_bound).
        evidence: the numbers it rests on.
        advice: what to try.
        ops: numbers of the static instructions there.
        removed_work: by component (analysis.utilization), the share of the time in which it would no longer be busy.
    """

    cause: Cause
    location: str
    text: str
    array: str
    attributable_share: float
    bounded_share: float
    evidence: str
    advice: str
    ops: tuple[int, ...] = ()
    removed_work: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Gain:
    """The share of the time that a replay of the transformed trace, or on the transformed GPU, saves.

    Attributes:
        transform: the change, in words that follow "with".
        share: of the kernel's time, trial by trial, each compared with the original trial of the same draws.
        upper_bound: share of the kernel's time that a replay without any waiting would save: the busiest component
            still has its work to do. Never less than the mean of `share`.
    """

    transform: str
    share: Sample
    upper_bound: float

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the mean, up to the bound; None of a single trial."""
        its = self.share.interval()
        return None if its is None else Interval(its.low, min(its.high, self.upper_bound))


@dataclass(frozen=True)
class Bottleneck:
    """A cause with all its findings and its gain.

    Attributes:
        cause: what is wrong.
        findings: where, the one with the largest share first.
        attributable_share: share of the memory time that the findings explain together, 0 to 1.
        upper_bound: share of the kernel's time that can be saved at most: the busiest component takes the rest. With a
            gain it is the replay's own; without one it is estimated from what each finding is hoped to save.
        gain: predicted by a replay; None: none was made, or no rule on a trace removes the cause.
    """

    cause: Cause
    findings: tuple[Finding, ...]
    attributable_share: float
    upper_bound: float
    gain: Gain | None = None

    def replayed(self, gain: Gain) -> Bottleneck:
        """The same cause with a replay's gain and its bound, to which the findings' shares are scaled."""
        scale = min(1.0, gain.upper_bound / max(sum(one.attributable_share for one in self.findings), 1e-9))
        findings = tuple(replace(one, bounded_share=one.attributable_share * max(scale, 0.0)) for one in self.findings)
        return replace(self, findings=findings, gain=gain, upper_bound=gain.upper_bound)

    @property
    def expected_saving(self) -> float:
        """The share of the time that it is expected to save: as predicted, else the attributable share within the
        bound."""
        return min(self.attributable_share, self.upper_bound) if self.gain is None else self.gain.share.mean

    def rank(self) -> tuple[int, float, int]:
        """A key that sorts: causes whose replay is faster, causes without a replay, components that move too much for
        any of these reasons, causes whose replay is hardly faster; each by its expected saving; among equals, root
        causes before their consequences."""
        if self.gain is None:
            rank = 2 if self.cause in (Cause.dram_bound, Cause.l2_bound) else 1
        else:
            rank = 0 if self.gain.share.mean >= LEAST_SHARE else 3
        return rank, -round(self.expected_saving, 2), list(Cause).index(self.cause)
