"""What a finding is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LEAST_EXCESS = 0.03  # a cause with less in excess is not of weight


class Cause(StrEnum):
    """What is found."""

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


# Causes of main memory moving more than it must.
MOVES_LESS = (Cause.scattered, Cause.evicted_l1, Cause.crowded_l1, Cause.evicted_l2, Cause.reuse)

ADVICE = {
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
    Cause.few_warps: "let more warps be resident, or let each have more independent loads under way",
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
        cost: share of the kernel's time, 0 to 1: no more can be won by putting it right.
        evidence: the numbers it rests on.
    """

    cause: Cause
    place: str
    text: str
    array: str
    excess: float
    cost: float
    evidence: str

    @property
    def advice(self) -> str:
        """What to try."""
        return ADVICE[self.cause]
