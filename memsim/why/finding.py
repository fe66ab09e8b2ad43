"""What a finding is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

LEAST_EXCESS = 0.03  # a cause with a smaller attributable share is not reported
JOINED_ACCESSES = 4  # shared-memory accesses that one wide access replaces


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
    Cause.latency: "keep more loads in flight: unroll loops, prefetch the next iteration's data, or raise the number "
    "of resident warps",
}


@dataclass(frozen=True)
class Finding:
    """One bottleneck.

    Attributes:
        cause: what is wrong.
        place: file and line, short.
        text: the accesses there, and what they do.
        array: that they access.
        excess: attributable share of the memory time, 0 to 1.
        cost: the same, scaled to the upper bound (see bottleneck.Bottleneck.bound).
        evidence: the numbers it rests on.
        advice: what to try.
        ops: numbers of the static ops there.
        saves: by part of the GPU (analysis.utilization), the share of the time in which it would be busy no more.
    """

    cause: Cause
    place: str
    text: str
    array: str
    excess: float
    cost: float
    evidence: str
    advice: str
    ops: tuple[int, ...] = ()
    saves: Mapping[str, float] = field(default_factory=dict)
