"""The profile of every static instruction: all that is known of it before a replay."""

from __future__ import annotations

import numpy as np

from memsim.gpu.choices import L1WritePolicy
from memsim.gpu.config import GPU
from memsim.hierarchy.execution import Execution
from memsim.hierarchy.mapping import AddressLayout
from memsim.profile.contention import contention
from memsim.profile.demand import Columns, demand
from memsim.profile.exchange import copied, read_back
from memsim.profile.op_profile import OpProfile
from memsim.profile.order import Order, interleaved
from memsim.profile.reuse import EVERY_SM, Distances, ReuseLevel, distances, in_sets
from memsim.profile.skew import skew
from memsim.trace.coalescing_rules import SECTOR_BYTES, l1_serves
from memsim.trace.reader import Trace
from memsim.trace.schema import OpKind, Space, StaticInstruction
from memsim.trace.transactions import BYPASS_FLAG, Transactions

_ALLOCATES = (L1WritePolicy.write_allocate, L1WritePolicy.write_back)


def profile(trace: Trace, execution: Execution) -> list[OpProfile]:
    """The profiles of a trace's static instructions, as the trace runs on a GPU."""
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


def bypasses_l1(op: StaticInstruction, gpu: GPU) -> bool:
    """Whether the op leaves no line in L1."""
    if op.kind is OpKind.load:
        return not gpu.l1.enabled or not l1_serves(op, gpu)
    return not gpu.l1.enabled or op.kind is not OpKind.store or _policy(op, gpu) not in _ALLOCATES


def _policy(op: StaticInstruction, gpu: GPU) -> L1WritePolicy:
    """The write policy of stores to the op's space."""
    return gpu.l1.policy_of_local if op.space is Space.local else gpu.l1.write_policy


def _l1_reuse(trace: Trace, tx: Transactions, gpu: GPU, order: Order, where: AddressLayout) -> Columns:
    """Of one SM, in the middle of those that have most to do, so that it sees no border of the grid."""
    work = np.bincount(order.sms, tx.instructions["count"][order.instructions], minlength=1)
    most = np.flatnonzero(work >= 0.9 * work.max())
    l1, sm = gpu.l1, int(most[len(most) // 2])
    skips = np.array([bypasses_l1(op, gpu) for op in trace.ops], np.uint8)
    capacity = (l1.size_bytes - l1.reserved_bytes) // l1.line_bytes
    level = ReuseLevel(sm, skips, BYPASS_FLAG, 1, l1.line_bytes // SECTOR_BYTES, capacity)
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
    level = ReuseLevel(EVERY_SM, skips, 0, lines, sectors, l2.size_bytes // l2.line_bytes)
    return _named("l2", distances(tx, order, level))


def _named(level: str, found: Distances) -> Columns:
    return {f"{level}_uses": found.uses, f"{level}_distances": found.histogram, f"{level}_far": found.far}


def _skew(trace: Trace, tx: Transactions, gpu: GPU, order: Order, where: AddressLayout) -> Columns:
    back = [op.kind is OpKind.load or _policy(op, gpu) is L1WritePolicy.write_back for op in trace.ops]
    served = np.array([not bypasses_l1(op, gpu) and kept for op, kept in zip(trace.ops, back, strict=True)], np.uint8)
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
