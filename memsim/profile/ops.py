"""The profile of a static op: all that is known of it before a replay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memsim.gpu.config import GPU, L1WritePolicy
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import Layout
from memsim.profile.contention import contention
from memsim.profile.demand import Columns, demand
from memsim.profile.exchange import copied, read_back
from memsim.profile.order import Order, interleaved
from memsim.profile.reuse import EVERY_SM, Distances, Level, distances, in_sets
from memsim.profile.skew import skew
from memsim.trace.coalescing_rules import SECTOR_BYTES, l1_serves
from memsim.trace.reader import Trace
from memsim.trace.schema import Kind, StaticOp
from memsim.trace.transactions import BYPASS_FLAG, Transactions

_ALLOCATES = (L1WritePolicy.write_allocate, L1WritePolicy.write_back)


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
        l1_distances: reuses by stack distance, see profile.reuse.Distances.
        l1_far: reuses after as many other lines as the L1 holds, or more.
        l1_late: reuses after the line left its set.
        l1_set_sectors, l1_busiest_set: sectors asked of that L1, and of the set that the op asks most.
        l2_uses, l2_distances, l2_far: the same of L2 and all SMs, an estimate for long traces; 0 without L2.
        slice_sectors, busiest_slice: sectors that reach L2, and those for the slice busiest at their time.
        channel_sectors, busiest_channel: that reach memory, and those for the channel busiest at their time.
        read_back: sectors of loads whose first use was a store of the same block.
        copied: of `instructions`, stores to shared memory of what was loaded just before.
        wavefronts: of the load-store unit, for the transactions; 0 in results of before these were counted.
        addresses: of atomics, distinct ones, instruction by instruction; 0 in results of before these were counted.
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


def profile(trace: Trace, execution: Execution) -> list[OpProfile]:
    """The profiles of a trace's static ops, as the trace runs on a GPU."""
    gpu, tx, where = execution.gpu, execution.transactions, execution.layout
    order = interleaved(tx, gpu.sm.count, execution.resident)
    columns = (
        demand(trace, tx, gpu)
        | _l1_reuse(trace, tx, gpu, order, where)
        | _l2_reuse(tx, gpu, order)
        | _skew(trace, tx, gpu, order, where)
        | contention(trace)
        | {"read_back": read_back(tx, order), "copied": copied(trace.ops, tx)}
    )
    return [OpProfile(**{name: values[op].tolist() for name, values in columns.items()}) for op in range(tx.n_ops)]


def bypasses_l1(op: StaticOp, gpu: GPU) -> bool:
    """Whether the op leaves no line in L1."""
    if op.kind is Kind.load:
        return not gpu.l1.enabled or not l1_serves(op, gpu)
    return not gpu.l1.enabled or op.kind is not Kind.store or gpu.l1.write_policy not in _ALLOCATES


def _l1_reuse(trace: Trace, tx: Transactions, gpu: GPU, order: Order, where: Layout) -> Columns:
    """Of one SM, in the middle of those that have most to do, so that it sees no border of the grid."""
    work = np.bincount(order.sms, tx.instructions["count"][order.instructions], minlength=1)
    most = np.flatnonzero(work >= 0.9 * work.max())
    l1, sm = gpu.l1, int(most[len(most) // 2])
    skips = np.array([bypasses_l1(op, gpu) for op in trace.ops], np.uint8)
    capacity = (l1.size_bytes - l1.reserved_bytes) // l1.line_bytes
    level = Level(sm, skips, BYPASS_FLAG, 1, l1.line_bytes // SECTOR_BYTES, capacity)
    sets = in_sets(tx, order, level, where.mapping["l1_set"], l1.ways)
    return _named("l1", distances(tx, order, level)) | {
        "l1_late": sets.late,
        "l1_set_sectors": sets.sectors,
        "l1_busiest_set": sets.busiest,
    }


def _l2_reuse(tx: Transactions, gpu: GPU, order: Order) -> Columns:
    l1, l2 = gpu.l1, gpu.l2
    skips = np.full(tx.n_ops, not l2.enabled, np.uint8)
    lines, sectors = l1.line_bytes // l2.line_bytes, l2.line_bytes // SECTOR_BYTES
    level = Level(EVERY_SM, skips, 0, lines, sectors, l2.size_bytes // l2.line_bytes)
    return _named("l2", distances(tx, order, level))


def _named(level: str, found: Distances) -> Columns:
    return {f"{level}_uses": found.uses, f"{level}_distances": found.histogram, f"{level}_far": found.far}


def _skew(trace: Trace, tx: Transactions, gpu: GPU, order: Order, where: Layout) -> Columns:
    back = gpu.l1.write_policy is L1WritePolicy.write_back
    served = np.array([not bypasses_l1(op, gpu) and (op.kind is Kind.load or back) for op in trace.ops], np.uint8)
    held = served, gpu.l1.size_bytes // gpu.l1.line_bytes if gpu.l1.enabled else 0
    shared = gpu.l2.size_bytes // gpu.l1.line_bytes if gpu.l2.enabled else 0
    ways_to = (gpu.l2.slices, gpu.l2.slice_interleave_bytes), (gpu.dram.channels, gpu.dram.interleave_bytes)
    slices = skew(tx, order, where.mapping["slice"], ways_to[0], held, 0)
    channels = skew(tx, order, where.mapping["channel"], ways_to[1], held, shared)
    return {
        "slice_sectors": slices.sectors,
        "busiest_slice": slices.busiest,
        "channel_sectors": channels.sectors,
        "busiest_channel": channels.busiest,
    }
