"""What a finding is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

LEAST_EXCESS = 0.03  # a cause with less in excess is not of weight


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
        """Where the documentation tells of it.

        >>> Cause.slices.section
        'docs/reference/findings.md#crowded-slices-of-l2'
        """
        return f"docs/reference/findings.md#{self.lower().replace(' ', '-')}"


ADVICE = {
    Cause.contended: "add up before the atomic: in the warp (shuffles, __reduce_add_sync), then in shared memory, and "
    "make one atomic a block; or spread the sums over copies",
    Cause.scattered: "let neighbouring lanes access neighbouring elements: another share of the elements for each "
    "thread, another layout, or a detour through shared memory",
    Cause.misaligned: "begin a warp's elements at a multiple of 32 bytes: aligned allocation, padded rows",
    Cause.conflicts: "let the lanes of a warp fall into different banks: pad rows by a word, or stride by one",
    Cause.exchange: "hand values from lane to lane by shuffles, and from warp to warp in shared memory",
    Cause.copies: "copy to shared memory asynchronously (cp.async, memcpy_async), past the registers",
    Cause.divergence: "let whole warps take a branch: choose by warp, not by lane",
    Cause.evicted_l1: "work on less at a time: smaller tiles, fewer resident blocks, a larger L1",
    Cause.crowded_l1: "avoid strides that are large powers of two: pad rows by a line",
    Cause.evicted_l2: "let blocks that share data run near each other in time, or tile for L2",
    Cause.reuse: "keep in shared memory or registers what a block reads again",
    Cause.channels: "let blocks that run together access different channels: pad rows, or take tiles along diagonals",
    Cause.slices: "spread what all SMs read at one time: copies, another order, or shared memory",
    Cause.barriers: "let the last warp go on without the block's barriers: __syncwarp, or shuffles in the place of "
    "shared memory",
    Cause.trees: "let each thread add up several elements before its block's first barrier: fewer blocks, of more each",
    Cause.shared_bound: "let each thread compute several results from what it has in registers, and load wider: four "
    "words at a time (float4)",
    Cause.issue_bound: "execute fewer instructions: unroll, hoist index arithmetic out of loops, load wider",
    Cause.tensor_bound: "nothing here: the tensor cores are busy; a narrower type does more a cycle",
    Cause.latency: "have more loads under way: unroll loops, load for the next iteration before this one computes, "
    "let more warps be resident",
}


@dataclass(frozen=True)
class Finding:
    """One bottleneck.

    Attributes:
        cause: what is wrong.
        place: file and line, short.
        text: the accesses there, and what they do.
        array: that they access.
        excess: share of the memory time that goes into it, 0 to 1.
        cost: the same, within what can be won at most (see explanation.Explanation.bound).
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
