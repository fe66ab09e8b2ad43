"""The profile of a static instruction, as results keep it: numbers that a reader has without any compiled loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OCTAVES = 32  # of a histogram of stack distances


@dataclass(frozen=True)
class OpProfile:
    """Sums over the traced warps; from `l1_uses` on over those that were followed, in the order of profile.order.

    Attributes:
        instructions: warp instructions.
        lanes: active lanes of all of them.
        transactions: that they make at L1; 0 in shared memory.
        sectors: of 32 bytes, that those ask for.
        least_sectors: that would do if each instruction's lanes were dense and aligned.
        first_sectors: sectors that nothing asked for before, in the order of the trace.
        block_sectors: the same, each block by itself.
        passes: of the load-store unit, of an access to shared or constant memory.
        least_passes: that would do without bank conflicts.
        coalesced, coalesced_transactions: instructions with as few transactions as their lanes allow, and those.
        l1_uses: of lines of one SM's L1, first ones too; 0 where L1 does not serve the op.
        l1_distances: reuses by stack distance, [OCTAVES], see profile.reuse.Distances.
        l1_far: reuses after as many other lines as the L1 holds, or more.
        l1_late: reuses after the line left its set.
        l1_set_sectors, l1_busiest_set: sectors asked of that L1, and of the set that the op asks most.
        l2_uses, l2_distances, l2_far: the same of L2 and all SMs, an estimate for long traces; 0 without L2.
        slice_sectors, busiest_slice: sectors that reach L2, and those for the slice busiest at their time.
        channel_sectors, busiest_channel: that reach memory, and those for the channel busiest at their time.
        read_back: sectors of loads whose first use was a store of the same block.
        copied: of `instructions`, stores to shared memory of what was loaded just before.
        wavefronts: of the load-store unit, for the transactions; 0 in results from before these were counted.
        addresses: of atomics, distinct ones, instruction by instruction; 0 in results from before these were counted.
        most_on_one: of atomics, the most lanes on one address, added over instructions.
        partial_sectors: of `sectors`, those that a store covers in part.
    """

    instructions: int
    lanes: int
    transactions: int
    sectors: int
    least_sectors: int
    first_sectors: int
    block_sectors: int
    passes: int
    least_passes: int
    coalesced: int
    coalesced_transactions: int
    l1_uses: int
    l1_distances: list[int]
    l1_far: int
    l1_late: int
    l1_set_sectors: int
    l1_busiest_set: int
    l2_uses: int
    l2_distances: list[int]
    l2_far: int
    slice_sectors: int
    busiest_slice: int
    channel_sectors: int
    busiest_channel: int
    read_back: int
    copied: int
    wavefronts: int = 0
    addresses: int = 0
    most_on_one: int = 0
    partial_sectors: int = 0

    def __add__(self, other: OpProfile) -> OpProfile:
        """The two ops taken as one."""
        mine, others = vars(self), vars(other)
        return OpProfile(**{name: _sum(value, others[name]) for name, value in mine.items()})


def _sum(one: Any, other: Any) -> Any:
    return [a + b for a, b in zip(one, other, strict=True)] if isinstance(one, list) else one + other
